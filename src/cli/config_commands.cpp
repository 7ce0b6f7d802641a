#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "ops/settings.h"
#include "ops/settings_table.h"

namespace cairn::cli {

namespace {

std::string_view type_name(ops::Setting::Type type) {
  using Type = ops::Setting::Type;
  switch (type) {
    case Type::text: return "text";
    case Type::choice: return "choice";
    case Type::integer: return "integer";
    case Type::decimal: return "decimal";
    case Type::flag: return "flag";
    case Type::list: return "list";
  }
  return "";
}

Json setting_json(const ops::Settings& settings, const ops::Setting& setting) {
  static const ops::Settings kDefaults = ops::Settings::defaults();
  Json choices;
  if (!setting.choices.empty())
    for (const std::string_view choice : split(setting.choices, '|')) choices.push(choice);
  return Json::object({{"key", setting.key},
                       {"value", settings.json(setting.key)},
                       {"origin", settings.origin(setting.key)},
                       {"default", kDefaults.json(setting.key)},
                       {"type", type_name(setting.type)},
                       {"choices", choices},
                       {"meaning", setting.meaning}});
}

std::string value_text(const Json& value) {
  std::string text;
  if (!value.is_array()) return value.dump();
  for (const Json& item : value.items()) text += (text.empty() ? "" : ", ") + item.dump();
  return "[" + text + "]";
}

// `hook.sync = "disk"  # config.toml, default "process"`
std::string setting_line(const Screen& screen, const Json& setting) {
  const bool changed = setting["origin"].as_string() != "default";
  std::string origin = fmt::format("# {}", setting["origin"].as_string());
  if (changed) origin += ", default " + value_text(setting["default"]);
  return fmt::format(
      "{} = {}  {}\n", screen.paint(Style::bold, setting["key"].as_string()),
      screen.paint(changed ? Style::accent : Style::plain, shown_line(value_text(setting["value"]))),
      screen.paint(Style::dim, shown_line(origin)));
}

Result<const ops::Setting*> setting_of(std::string_view key) {
  if (const ops::Setting* setting = ops::find_setting(key)) return setting;
  return Error{Code::invalid, ops::unknown_key(key) + " `cairn config list` shows them all"};
}

Json problems_json(const ops::Settings& settings) {
  Json list = Json::array();
  for (const auto& problem : settings.problems())
    list.push(Json::object({{"key", problem.key}, {"message", problem.message}}));
  return list;
}

void note_problems(const Shell& shell, const ops::Settings& settings) {
  for (const auto& problem : settings.problems())
    shell.note(
        fmt::format("config: {}: the default is used until `cairn config set` fixes it", problem.message));
}

}  // namespace

Result<int> config_get(Shell& shell) {
  const ops::Setting* setting = TRY(setting_of(shell.args()["key"].as_string()));
  const ops::Settings settings = ops::Settings::load(shell.disk(), shell.home());
  const Json value = setting_json(settings, *setting);
  if (shell.json())
    shell.print_json(value);
  else
    shell.print(setting_line(shell.screen(), value));
  return 0;
}

Result<int> config_set(Shell& shell) {
  const std::string key = text_of(shell.args()["key"]);
  TRY(ops::set_setting(shell.disk(), shell.home(), key, text_of(shell.args()["value"])));
  // A running daemon applies it at once; others read it when they start.
  if (auto client = Client::connect(shell.home(), shell.clock()))
    ignore(client->call("reload", Json::object()));  // if that fails, it reads the file within a minute
  const ops::Settings settings = ops::Settings::load(shell.disk(), shell.home());
  const Json value = setting_json(settings, *TRY(setting_of(key)));
  if (shell.json())
    shell.print_json(value);
  else
    shell.print(setting_line(shell.screen(), value));
  if (const std::string origin = settings.origin(key); origin.starts_with("environment"))
    shell.note(fmt::format("config: {} is written, but {} wins: unset it", key, origin));
  return 0;
}

Result<int> config_list(Shell& shell) {
  const ops::Settings settings = ops::Settings::load(shell.disk(), shell.home());
  if (shell.json()) {
    Json list = Json::array();
    for (const ops::Setting& setting : ops::all_settings()) list.push(setting_json(settings, setting));
    shell.print_json(Json::object(
        {{"file", shell.home().config_file}, {"settings", list}, {"problems", problems_json(settings)}}));
    return 0;
  }
  const Screen& screen = shell.screen();
  shell.print(screen.paint(Style::dim, fmt::format("# {}", shown_line(shell.home().config_file))) + "\n");
  for (const ops::Setting& setting : ops::all_settings()) {
    std::string meaning(setting.meaning);
    if (setting.type == ops::Setting::Type::choice) meaning += fmt::format(" ({})", setting.choices);
    shell.print("\n" + screen.paint(Style::dim, "# " + meaning) + "\n" +
                setting_line(screen, setting_json(settings, setting)));
  }
  note_problems(shell, settings);
  return 0;
}

Result<int> config_validate(Shell& shell) {
  const ops::Settings settings = ops::Settings::load(shell.disk(), shell.home());
  if (shell.json())
    shell.print_json(
        Json::object({{"file", shell.home().config_file}, {"problems", problems_json(settings)}}));
  else if (settings.problems().empty())
    shell.print(fmt::format("{}: all settings are valid\n", shown_line(shell.home().config_file)));
  else
    note_problems(shell, settings);
  return settings.problems().empty() ? 0 : 2;
}

}  // namespace cairn::cli
