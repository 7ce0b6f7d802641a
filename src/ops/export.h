// Shared by the operations that export and import.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "ops/operation.h"

namespace cairn::ops {

// Writes what is remembered as JSON, Markdown or HTML.
Result<Json> export_memory(World& world, const Args& args);
// The handler of `import.cairn`.
Result<Json> import_export(World& world, const Args& args);

// Adds an export to the audit log; through the writer where the caller only reads.
Status note_export(World& world, const std::string& to, const std::string& detail);

}  // namespace cairn::ops
