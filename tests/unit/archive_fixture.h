// A machine with one chat whose transcript is archived.
#pragma once

#include <gtest/gtest.h>

#include "ops/settings.h"
#include "unit/transcript_lines.h"

namespace cairn::test {

using Lines = std::vector<std::string>;

class ArchiveTest : public ::testing::Test {
 protected:
  Machine m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};

  void SetUp() override { must(m.open()); }
  void begin(std::string_view words = "make a parser") {
    m.tell(chat.start());
    m.tell(chat.prompt(words));
    transcript.prompt(words);
    transcript.save();
  }
  // The session ends and is resumed at once.
  void end(std::string_view reason = "other") {
    transcript.save();
    m.tell(chat.end(reason));
  }
  void end_again(std::string_view reason = "other") {
    m.tell(chat.start("resume"));
    end(reason);
  }
  void set(std::string_view key, std::string_view value) {
    must(ops::set_setting(m.disk, m.home, key, std::string(value)));
    m.engine->reload();
  }
  void minutes(int count) {
    m.clock.advance(std::chrono::minutes(count));
    must(m.engine->tick());
    must(m.drain());
  }
  Json backups(Json args = Json::object({{"all", true}})) {
    return must(m.run("backup.list", std::move(args)))["backups"];
  }
  std::int64_t count() { return m.number("SELECT count(*) FROM backups"); }
  Json verify() { return must(m.run("backup.verify", Json::object({{"all", true}}))); }
  // The text of a version.
  std::string restored(std::string_view id, std::optional<int> version = {}) {
    const std::string path = "/home/dev/restored-" + std::to_string(restored_++);
    Json args = Json::object({{"id", id}, {"to", path}});
    if (version) args.set("version", *version);
    must(m.run("backup.restore", args));
    return m.read(path);
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (std::string& name : m.disk.list(m.home.data + "/archive").value_or({}))
      if (name != "tmp") names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  int restored_ = 0;
};

}  // namespace cairn::test
