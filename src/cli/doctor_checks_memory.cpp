// Checks that nothing was lost, and shows what the next session would be given.
#include <fmt/format.h>

#include "archive/repair.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/obstacle.h"
#include "context/composer.h"
#include "distil/distil.h"
#include "event/provider_name.h"
#include "host/host.h"
#include "host/memory_agent.h"
#include "ops/backup.h"
#include "ops/operation.h"
#include "ops/provider.h"
#include "os/landlock.h"

namespace cairn::cli {

namespace {

constexpr std::string_view kMemoryGroup = "Memory";

Finding no_store() {
  return skipped("no store to look at");
}

// Distils a made-up turn; needs no store.
Finding check_builtin() {
  distil::Turn turn;
  turn.prompt = "Fix the lexer";
  distil::Step step;
  host::MadeCall call = host::default_host().edit_call("/home/dev/site/lexer.c", "a", "b");
  step.tool = std::move(call.tool);
  step.input = std::move(call.input);
  turn.steps.push_back(step);
  turn.last_answer = "The lexer reads wide words now.";
  turn.end = distil::Turn::End::stopped;
  turn.root = "/home/dev/site";
  const distil::Summary summary = distil::distil(turn).summary;
  if (summary.request.empty() || summary.completed.empty() || summary.files_edited.empty())
    return failed("the built-in distiller made no summary of a turn", "install cairn again: ./setup");
  return passed("builtin made a summary of a turn");
}

// Makes no call: that costs money. What is wrong with the last calls is among the problems of `status`.
Finding check_provider(Installation& here) {
  const Finding builtin = check_builtin();
  const agent::ProviderSettings settings = ops::provider_settings(here.settings);
  if (builtin.verdict != Verdict::pass || settings.provider == event::kBuiltin) return builtin;
  if (const auto ready = agent::check_setup(settings); !ready)
    return warned(fmt::format("{}: {}; builtin is used", settings.provider, ready.error().message),
                  "cairn agent test");
  std::string confined;
  if (host::find_memory_agent(settings.provider))
    confined =
        os::landlock_version() > 0 ? ", confined by Landlock" : ", not confined: the kernel has no Landlock";
  return passed(fmt::format("{} is set up{}; `cairn agent test` asks it", settings.provider, confined));
}

Finding check_ledger(Installation& here) {
  if (here.status.is_null()) return no_store();
  const Json& ledger = here.status["ledger"];
  const std::int64_t gap = ledger["gap"].as_int();
  const std::string text =
      fmt::format("{} delivered, {} read, gap {}", number_text(ledger["delivered"].as_int()),
                  number_text(ledger["taken_in"].as_int()), number_text(gap));
  return gap == 0 ? passed(text) : warned(text, "cairn process");
}

Finding check_problems(Installation& here) {
  if (here.status.is_null()) {
    // Hooks may have failed even before there was a store, if the disk was full.
    const std::string unwritten = unwritten_events(here.shell.disk(), here.shell.home());
    if (unwritten.empty()) return no_store();
    return warned(unwritten, "free some space, or make " + here.shell.home().data + " writable");
  }
  std::string text;
  for (const Json& problem : here.status["problems"].items())
    text += fmt::format("{}{}", text.empty() ? "" : "; ", problem.as_string());
  return text.empty() ? passed("nothing quarantined, nothing unwritten") : warned(text, "cairn logs");
}

Finding check_queue(Installation& here) {
  if (here.status.is_null()) return no_store();
  const Json& queue = here.status["queue"];
  const std::string text = fmt::format("{} pending, {} failed", number_text(queue["pending"].as_int()),
                                       number_text(queue["failed"].as_int()));
  return queue["failed"].as_int() == 0 ? passed(text) : warned(text, "cairn queue list --status failed");
}

Finding check_orphans(Installation& here) {
  if (!here.db) return no_store();
  const auto found = here.with_world([](ops::World& world) {
    return ops::run_operation("debug.sql", world, Json::object({{"name", "orphans"}}));
  });
  if (!found) return failed(found.error().message, "cairn debug sql orphans");
  const std::size_t count = (*found)["rows"].items().size();
  if (count > 0)
    return failed(fmt::format("{} observations belong to no session", count), "cairn debug sql orphans");
  return passed("every observation has its session");
}

Finding check_backups(Installation& here) {
  if (!here.db) return no_store();
  const auto defects = here.with_world([](ops::World& world) {
    return archive::find_defects(world.db, world.disk, ops::archive_of(world.home));
  });
  if (!defects) return failed(defects.error().message, "cairn backup verify --all");
  const std::int64_t unfinished = here.status["archive"]["failed"].as_int();
  const std::string text = backups_text(here.status["archive"]);
  // Only with a missing file lines may be lost. The other defects are files that no backup needs.
  for (const archive::Defect& defect : *defects)
    if (defect.kind == archive::Defect::Kind::missing)
      return failed(fmt::format("{}: {}", defect.file, defect.what), "cairn backup repair --apply");
  if (!defects->empty())
    return warned(fmt::format("{}: {}", defects->front().file, defects->front().what), "cairn backup repair");
  if (unfinished > 0) return warned(text, "cairn status");
  if (!here.settings.flag("archive.redact"))
    return warned(text + "; archive.redact is false: backups hold secrets and private text as they are",
                  "cairn config set archive.redact true");
  return passed(text);
}

// Composes the context as a start would, but writes no receipt.
Finding check_context(Installation& here) {
  if (!here.db) return no_store();
  const std::string directory = here.shell.directory();
  const auto composed = here.with_world([&](ops::World& world) -> Result<context::Composed> {
    context::Request request;
    request.project = TRY(ops::project_at(world, directory));
    request.budget_tokens = static_cast<std::size_t>(world.settings.integer("context.budget_tokens"));
    request.key = world.key;
    request.disk = &world.disk;
    return context::compose(world.db, request);
  });
  if (!composed && composed.error().code == Code::not_found) return skipped(composed.error().message);
  if (!composed) return failed(composed.error().message, "cairn logs");
  if (composed->text.empty()) return skipped("nothing to give to a session in " + directory);
  return passed(fmt::format("the next session in {} is given {} bytes, {} tokens: {}", directory,
                            number_text(static_cast<std::int64_t>(composed->text.size())),
                            number_text(static_cast<std::int64_t>(composed->tokens)),
                            fmt::join(composed->items, " ")));
}

}  // namespace

std::vector<Check> memory_checks() {
  return {{kMemoryGroup, "provider", check_provider}, {kMemoryGroup, "ledger", check_ledger},
          {kMemoryGroup, "problems", check_problems}, {kMemoryGroup, "queue", check_queue},
          {kMemoryGroup, "orphans", check_orphans},   {kMemoryGroup, "backups", check_backups},
          {kMemoryGroup, "context", check_context}};
}

}  // namespace cairn::cli
