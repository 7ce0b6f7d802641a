#include "ops/mode.h"

#include <fmt/format.h>

#include <filesystem>

namespace cairn::ops {

// The name becomes a file name.
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
  const std::string path =
      (std::filesystem::path(home.config_file).parent_path() / "modes" / (name + ".toml")).string();
  const auto text = os::read_file(disk, path, kMaxFile);
  if (!text && text.error().code == Code::not_found)
    return Error{Code::not_found, fmt::format("agent.mode: there is no {}; `code` is used", path)};
  if (!text) return Error{text.error().code, "agent.mode: " + text.error().message};
  return distil::read_mode(*text, name).in("agent.mode");
}

}  // namespace cairn::ops
