// The tables: schema.sql has them as they are now, the migrations say how older stores come to the same.
// Never edit an applied migration: add a new one, and change schema.sql to what it leads to.
#pragma once

#include <span>

#include "store/migrate.h"

namespace cairn::store {

std::span<const Migration> schema();

// schema.sql.
extern const std::string_view kSchemaNow;

}  // namespace cairn::store
