#include "hook/home.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/hash.h"
#include "os/owner.h"

namespace cairn::hook {

static std::string variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Home Home::at(std::string directory) {
  std::string config = directory + "/config.toml";
  return {std::move(directory), std::move(config)};
}

Result<Home> Home::from_environment() {
  std::string cairn_home = variable("CAIRN_HOME");
  if (cairn_home.starts_with('/')) return at(std::move(cairn_home));
  if (!cairn_home.empty())
    return Error{Code::invalid, "CAIRN_HOME is not an absolute path: set it to one, or unset it"};

  const std::string home = variable("HOME");
  if (!home.starts_with('/'))
    return Error{Code::invalid, "HOME is not an absolute path: set it, or set CAIRN_HOME"};
  std::string data = variable("XDG_DATA_HOME"), config = variable("XDG_CONFIG_HOME");
  if (!data.starts_with('/')) data = home + "/.local/share";
  if (!config.starts_with('/')) config = home + "/.config";
  return Home{data + "/cairn", config + "/cairn/config.toml"};
}

static Status check_directory(const std::string& path) {
  Status own = os::own_directory(path);
  return !own && own.error().code == Code::not_found ? Status() : own;
}

std::string Home::failed_outside() const {
  return "/dev/shm/cairn-" + std::to_string(geteuid()) + "-" + to_hex(checksum(data)) + ".failed";
}

bool Home::creates(std::string_view name) {
  if (name.ends_with(".new")) name.remove_suffix(4);
  for (const std::string_view known : kHomeNames) {
    const std::size_t star = known.find('*');
    if (star == std::string_view::npos) {
      if (name == known) return true;
      continue;
    }
    const std::string_view begin = known.substr(0, star), end = known.substr(star + 1);
    if (name.size() < begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end)) continue;
    const std::string_view rest = name.substr(begin.size(), name.size() - begin.size() - end.size());
    if (end.empty() || (!rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos))
      return true;
  }
  return false;
}

Status Home::check_inbox() const {
  for (const char* part : {"", "/inbox", "/inbox/tmp", "/inbox/new"}) TRY(check_directory(data + part));
  return {};
}

Status Home::check() const {
  TRY(check_inbox());
  for (const char* part : {"/inbox/cur", "/inbox/bad", "/logs"}) TRY(check_directory(data + part));
  const std::string db = database();
  for (const std::string& file : {db, db + "-wal", db + "-shm", db + ".state", lock(), start(), socket(),
                                  flags(), key(), failed(), log_file(), log_file() + ".1"})
    TRY(os::own_file(file));
  return {};
}

}  // namespace cairn::hook
