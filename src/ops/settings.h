// The settings: one table of key, type, default and meaning; values come from config.toml and the
// environment.
//
// A bad value never stops the daemon: the default is used, and `cairn config validate`, `status` and the log
// report it. Copyable; may be shared between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "hook/flags.h"
#include "hook/home.h"
#include "os/disk.h"

namespace cairn::ops {

struct Setting {
  enum class Type { text, choice, integer, decimal, flag, list };
  std::string_view key;  // "hook.sync"
  Type type;
  std::string_view fallback;      // as TOML: `"process"`, `120`, `[]`
  std::string_view choices;       // of a choice, or of each item of a list: "process|disk"
  std::int64_t min = 0, max = 0;  // of an integer or a decimal, inclusive
  std::string_view meaning;       // one line for `config list`
  // For a list: returns why an item is bad; empty when it is fine.
  std::string (*wrong)(std::string_view item) = nullptr;
};

// Every setting that has an effect in this version, in the order of `config list`.
const std::vector<Setting>& all_settings();
const Setting* find_setting(std::string_view key);

// What cairn does with documents by itself (the setting `automation`): nothing, suggest it, or do it.
enum class Automation { manual, hybrid, automatic };

class Settings {
 public:
  // Reads config.toml (absent is fine) and the variables CAIRN_SECTION_KEY, which win; an empty variable
  // counts as not set. Never fails; see problems().
  static Settings load(os::Disk& disk, const hook::Home& home);
  static Settings defaults();

  // The value of a known key of that type; text() also gives other types, as TOML.
  std::string text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double decimal(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;
  Json json(std::string_view key) const;
  // "default", "config.toml" or "environment CAIRN_HOOK_SYNC".
  std::string origin(std::string_view key) const;

  struct Problem {
    std::string key;      // "config.toml" for a file that is not TOML or cannot be read
    std::string message;  // "hook.sync: \"dsik\" is not one of process, disk"
  };
  const std::vector<Problem>& problems() const { return problems_; }

  Automation automation() const;
  hook::Flags hook_flags() const;

 private:
  struct Value {
    Json value;
    std::string origin;
  };
  const Value& of(std::string_view key) const;

  std::vector<Value> values_;  // in the order of all_settings()
  std::vector<Problem> problems_;
};

// Checks `value` (as typed: `disk`, `"disk"`, `120`, `["a","b"]`, `a,b`) and writes it to config.toml,
// keeping every other byte, comments too. Fails with `invalid` for an unknown key, a bad value or a file that
// is not TOML. Also rewrites hook.flags when hooks read the key.
Status set_setting(os::Disk& disk, const hook::Home& home, std::string_view key, std::string_view value);

}  // namespace cairn::ops
