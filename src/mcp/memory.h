// The memory that the tools ask: operations by name. `cairn mcp` implements it with the daemon, tests with
// fakes.
#pragma once

#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cairn::mcp {

class Memory {
 public:
  virtual ~Memory() = default;

  // Runs one operation (ops/operation.h). `waiting` is called about five times a second while it runs; when
  // it returns false the call is given up and fails with `canceled`.
  virtual Result<Json> call(std::string_view operation, const Json& args,
                            const std::function<bool()>& waiting) = 0;
};

}  // namespace cairn::mcp
