// Steps of a turn, as tests of the distiller write them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "distil/turn.h"

namespace cairn::distil {

inline Step step(std::string tool, Json input, Json response = {}) {
  Step out;
  out.tool = std::move(tool);
  out.input = std::move(input);
  out.response = std::move(response);
  return out;
}

inline Step bash(std::string_view command, std::string_view output = "") {
  return step("Bash", Json::object({{"command", command}}),
              Json::object({{"stdout", output}, {"interrupted", false}}));
}

inline Step failed(Step of, std::string error) {
  of.outcome = Step::Outcome::failed;
  of.response = {};
  of.error = std::move(error);
  return of;
}

inline Step interrupted(Step of) {
  of.outcome = Step::Outcome::interrupted;
  return of;
}

inline Step edit(std::string_view path, Json patch_lines) {
  return step(
      "Edit", Json::object({{"file_path", path}, {"old_string", "a"}, {"new_string", "b"}}),
      Json::object({{"structuredPatch", Json::array({Json::object({{"lines", std::move(patch_lines)}})})}}));
}

inline Step create(std::string_view path, std::string_view content) {
  return step("Write", Json::object({{"file_path", path}, {"content", content}}),
              Json::object({{"type", "create"}, {"structuredPatch", Json::array()}}));
}

}  // namespace cairn::distil
