// The tables, as embedded migrations. An applied migration is never changed: a change is a new one.
#pragma once

#include <span>

#include "store/migrate.h"

namespace cairn::store {

std::span<const Migration> schema();

// The text of the migration "search".
extern const std::string_view kSearchIndex;

}  // namespace cairn::store
