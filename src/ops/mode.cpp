#include "ops/mode.h"

#include <fmt/format.h>

#include <filesystem>

namespace cairn::ops {

// The name becomes a file name: without this check "../x" would be read too.
static bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

Result<distil::Mode> load_mode(os::Disk& disk, const hook::Home& home, const std::string& name) {
  constexpr std::size_t kMaxFile = 1 << 20;
  if (name == "code") return distil::code_mode();
  if (!is_name(name))
    return Error{Code::invalid,
                 fmt::format("agent.mode: \"{}\" is not a name of letters, digits, '-' and '_'", name)};
  const std::filesystem::path modes = std::filesystem::path(home.config_file).parent_path() / "modes";
  const std::string path = (modes / (name + ".toml")).string();
  const auto text = os::read_file(disk, path, kMaxFile);
  if (!text && text.error().code == Code::not_found) {
    const auto json = os::read_file(disk, (modes / (name + ".json")).string(), kMaxFile);
    if (!json) return Error{Code::not_found, fmt::format("agent.mode: there is no {}; `code` is used", path)};
    // "code--de" changes some members of "code". A parent that cannot be read does not make the child
    // unusable.
    const std::size_t dashes = name.find("--");
    auto parent = dashes == std::string::npos ? Result<distil::Mode>(distil::code_mode())
                                              : load_mode(disk, home, name.substr(0, dashes));
    return distil::read_json_mode(*json, name, parent ? *parent : distil::code_mode()).in("agent.mode");
  }
  if (!text) return Error{text.error().code, "agent.mode: " + text.error().message};
  return distil::read_mode(*text, name).in("agent.mode");
}

}  // namespace cairn::ops
