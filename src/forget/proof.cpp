// The files of the home: cleaning them, and the proof that no byte is left.
#include <algorithm>

#include "forget/job.h"

namespace cairn::forget {

namespace {

// Blocks overlap, so that a text across the end of one is found in the next.
constexpr std::size_t kBlock = 1u << 20, kOverlap = 64u << 10;
constexpr std::size_t kMaxFile = 256u << 20;

// All files below a directory.
void list_files(os::Disk& disk, const std::string& directory, std::vector<std::string>& files) {
  const auto names = disk.list(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    const auto stat = disk.stat(path);
    if (!stat) continue;
    // Sockets cannot be read, and locks hold no text.
    if (stat->is_dir)
      list_files(disk, path, files);
    else if (!name.ends_with(".sock") && !name.ends_with(".lock"))
      files.push_back(path);
  }
}

}  // namespace

// Quarantined events, the log and copies for imports are searched as plain text. What is found is overwritten
// in place: the daemon has its log open. A damaged store cannot be searched, so every one is deleted.
Result<bool> Job::files() {
  for (const std::string& directory : {home_ + "/inbox/bad", home_ + "/logs", home_ + "/imports"}) {
    const auto names = disk_.list(directory);
    if (!names) continue;
    for (const std::string& name : *names) {
      const std::string path = directory + "/" + name;
      const auto text = os::read_file(disk_, path, kMaxFile);
      // Larger, or not readable: if the text is in it, the proof finds it and says so.
      if (!text) continue;
      const auto spans = forgotten_.find(*text);
      if (spans.empty()) continue;
      auto file = TRY(disk_.open(path, os::Open::read_write));
      for (const auto& [begin, end] : spans) TRY(file->write_at(begin, std::string(end - begin, '*')));
      TRY(file->sync());
      count("files_changed", 1);
    }
  }
  const auto names = disk_.list(home_);
  for (const std::string& name : names ? *names : std::vector<std::string>())
    if (name.find(".damaged-") != std::string::npos) {
      const auto gone = disk_.remove(home_ + "/" + name);
      if (gone) count("damaged_stores_removed", 1);
    }
  TRY(to_phase(store::ForgetPhase::index));
  return true;
}

Result<bool> Job::prove_files() {
  if (forget_->position.empty()) {
    unproved_.clear();
    list_files(disk_, home_, unproved_);
    at_ = 0;
    // Marks that the list was made. It is only in memory, so load() clears it after a crash.
    forget_->position = "reading";
    return true;
  }
  const auto enough = time_is_up();
  while (!unproved_.empty() && !enough()) {
    const std::string& path = unproved_.back();
    const auto file = disk_.open(path, os::Open::read);
    std::string block(kBlock, '\0');
    // A file that is gone meanwhile counts as read.
    const std::size_t got = file ? (*file)->read_at(at_, block.data(), kBlock).value_or(0) : 0;
    block.resize(got);
    if (!block.empty()) {
      count("bytes_proved", static_cast<std::int64_t>(got));
      if (const auto spans = forgotten_.find(block); !spans.empty()) count("files_left", 1);
    }
    if (got < kBlock) {
      count("files_proved", 1);
      unproved_.pop_back();
      at_ = 0;
    } else {
      at_ += kBlock - kOverlap;
    }
  }
  if (!unproved_.empty()) return true;
  TRY(to_phase(store::ForgetPhase::report));
  return true;
}

}  // namespace cairn::forget
