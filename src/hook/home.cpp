#include "hook/home.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/hash.h"
#include "os/owner.h"

namespace cairn::hook {

// The path in a variable, without slashes at its end: parts are appended as "/NAME". Empty: not set.
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
  // No fallback to the home below HOME: events would be stored where the user did not want them.
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

// A directory that does not exist is fine: it is created by us.
static Status check_directory(const std::string& path) {
  Status own = os::own_directory(path);
  return !own && own.error().code == Code::not_found ? Status() : own;
}

// Shared memory can be written even when every disk is full or read-only. It has files of all users and all
// their homes, so the name has the user's id and a hash of the home's path.
std::string Home::failed_outside() const {
  return "/dev/shm/cairn-" + std::to_string(geteuid()) + "-" + to_hex(checksum(data)) + ".failed";
}

bool Home::creates(std::string_view name) {
  // os::replace_file() writes NAME.new before it renames it. A crash may leave that file.
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
