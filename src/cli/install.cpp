#include "cli/install.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/ids.h"
#include "base/text.h"

// A change is planned first (InstallPlan: the file's bytes before and after), so that it can be shown, and
// then applied only if the file still is what the plan was made from. A crash leaves the old file or the new
// one: it is written under another name, synced and renamed.

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = 8 << 20;  // far above any settings file

std::string backup_of(const std::string& file) {
  return file + ".cairn-backup";
}

std::string created_mark_of(const std::string& file) {
  return file + ".cairn-created";
}

Result<std::optional<std::string>> read_if_there(os::Disk& disk, const std::string& path) {
  auto bytes = os::read_file(disk, path, kMaxFile);
  if (bytes) return std::optional(std::move(bytes).value());
  if (bytes.error().code == Code::not_found) return std::optional<std::string>();
  return std::move(bytes).error();
}

Result<InstallPlan> plan_for(os::Disk& disk, const std::string& file) {
  InstallPlan plan;
  plan.settings_file = file;
  std::optional<std::string> bytes = TRY(read_if_there(disk, file));
  plan.existed = bytes.has_value();
  plan.before = std::move(bytes).value_or("");
  return plan;
}

// The file at the end of a chain of symbolic links, which need not exist.
std::string behind_links(std::string path) {
  std::error_code error;
  for (int i = 0; i < 40 && fs::is_symlink(path, error); ++i) {  // 40, as the kernel: links may form a cycle
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = (fs::path(path).parent_path() / target).string();
  }
  return path;
}

std::string directory_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

// Writes `temporary` and renames it to `target`, with that file's owner and mode.
Status write_beside(os::Disk& disk, const std::string& temporary, const std::string& target,
                    std::string_view bytes) {
  {
    const auto file = TRY(disk.open(temporary, os::Open::create_new));
    TRY(file->write_at(0, bytes));
    TRY(file->sync());
  }
  struct stat st {};
  if (::stat(target.c_str(), &st) == 0) {
    // Only root can give a file away; anyone else already owns it.
    if (::chown(temporary.c_str(), st.st_uid, st.st_gid) != 0 && ::geteuid() == 0)
      return errno_error("keep the owner", errno);
    if (::chmod(temporary.c_str(), st.st_mode & 07777) != 0) return errno_error("keep the mode", errno);
  }
  TRY(disk.rename(temporary, target));
  return disk.sync_dir(directory_of(target));
}

Status write_settings(os::Disk& disk, const std::string& target, std::string_view bytes) {
  const std::string temporary = target + ".cairn-" + random_hex(6);
  Status written = write_beside(disk, temporary, target, bytes);
  if (!written) ignore(disk.remove(temporary));
  return written;
}

Status remove_if_there(os::Disk& disk, const std::string& path) {
  Status removed = disk.remove(path);
  if (!removed && removed.error().code == Code::not_found) return {};
  return removed;
}

Status keep_backup(os::Disk& disk, const InstallPlan& plan) {
  // Only the first install: later the file has our entries, and the copy that exists is the original one.
  if (!plan.is_first || plan.whole) return {};
  const std::string backup = backup_of(plan.settings_file), mark = created_mark_of(plan.settings_file);
  TRY(os::replace_file(disk, plan.existed ? backup : mark, plan.before));
  return remove_if_there(disk, plan.existed ? mark : backup);
}

Status remove_backup(os::Disk& disk, const std::string& file) {
  TRY(remove_if_there(disk, backup_of(file)));
  return remove_if_there(disk, created_mark_of(file));
}

// Removes the file's parent directories as long as they are empty, up to the host's own directory: its name
// begins with a dot, or it is in .config.
void remove_empty_directories(const std::string& file) {
  std::error_code error;
  for (fs::path directory = fs::path(file).parent_path();
       directory.has_relative_path() && !directory.filename().string().starts_with('.') &&
       directory.parent_path().filename() != ".config" && fs::remove(directory, error);)
    directory = directory.parent_path();
}

Status write_plan(os::Disk& disk, const InstallPlan& plan) {
  const std::string target = behind_links(plan.settings_file);
  if (plan.removes) {
    TRY(disk.remove(target));
    TRY(disk.sync_dir(directory_of(target)));
    if (plan.whole) remove_empty_directories(target);
    return {};
  }
  if (!plan.uninstall) {
    TRY(os::make_dirs(disk, directory_of(plan.settings_file)));
    TRY(os::make_dirs(disk, directory_of(target)));
    TRY(keep_backup(disk, plan));  // before the file changes
  }
  return write_settings(disk, target, plan.after);
}

}  // namespace

Status write_file(os::Disk& disk, const std::string& path, std::string_view bytes) {
  const std::string target = behind_links(path);
  TRY(os::make_dirs(disk, directory_of(target)));
  return write_settings(disk, target, bytes);
}

Result<InstallPlan> plan_install(const host::Entries& ours, os::Disk& disk, const std::string& settings_file,
                                 const host::HookProgram& program) {
  const std::string name(ours.program_name());
  if (!program.path.starts_with('/') || !program.path.ends_with("/" + name) || !is_utf8(program.path))
    return Error{Code::invalid, fmt::format("{} is not the absolute path of a {}", program.path, name)};
  InstallPlan plan = TRY(plan_for(disk, settings_file));
  plan.is_first = ours.count(plan.before) == 0;
  plan.whole = ours.is_ours_alone();
  plan.after = TRY(ours.with_ours(plan.before, program).in(settings_file));
  return plan;
}

Result<InstallPlan> plan_uninstall(const host::Entries& ours, os::Disk& disk,
                                   const std::string& settings_file) {
  InstallPlan plan = TRY(plan_for(disk, settings_file));
  plan.uninstall = true;
  plan.after = plan.before;
  plan.whole = ours.is_ours_alone();
  if (plan.whole) {
    plan.removes = ours.count(plan.before) > 0;
    if (plan.removes) plan.after.clear();
    return plan;
  }
  const auto program = TRY(ours.program_in(plan.before).in(settings_file));

  // Whether the file is exactly `original` with our entries: then no one has changed it since the install,
  // and uninstall restores every byte.
  const auto gives_this = [&](const std::string& original) {
    const auto again = program ? ours.with_ours(original, *program) : Result<std::string>(std::string());
    return program && again && *again == plan.before;
  };
  auto original = read_if_there(disk, backup_of(settings_file)).value_or({});
  if (original && ours.count(*original) > 0) original.reset();  // it is not the state before the install
  if (original && gives_this(*original)) {
    plan.after = *original;
  } else if (disk.stat(created_mark_of(settings_file)) && gives_this("")) {
    plan.after.clear();
    plan.removes = true;
  } else {
    plan.after = TRY(ours.without_ours(plan.before, original).in(settings_file));
  }
  return plan;
}

Status apply_install(os::Disk& disk, const InstallPlan& plan) {
  const std::string& file = plan.settings_file;
  const InstallPlan now = TRY(plan_for(disk, file));
  if (now.existed != plan.existed || now.before != plan.before)
    return Error{Code::busy, file + ": changed while we were looking at it; run the command again"};
  if (plan.changes()) {
    Status written = write_plan(disk, plan);
    if (!written && written.error().code == Code::denied)
      return Error{Code::denied,
                   fmt::format("{} cannot be written ({}); make it and its directory writable for you, or "
                               "run the command as its owner",
                               file, written.error().message)};
    if (!written) return std::move(written).in(file);
  }
  // After the file is written: until then the copy is needed to plan again.
  return plan.uninstall ? remove_backup(disk, file) : Status();
}

}  // namespace cairn::cli
