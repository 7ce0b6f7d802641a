// scripts/check_layers fails for each rule that is broken, and for an exception that nothing needs.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace cairn {
namespace {

// A tree with the real script and two folders that keep every rule.
class LayersTest : public ::testing::Test {
 protected:
  LayersTest() {
    const std::string script = std::string(CAIRN_TESTS_DIR) + "/../scripts/check_layers";
    std::filesystem::create_directories(tree_ / "scripts");
    std::filesystem::copy(script, tree_ / "scripts/check_layers");
    write("scripts/layer_exceptions", "# none\n");
    write("src/base/text.h", "namespace cairn {}\n");
    write("src/ops/show.cpp", "#include \"base/text.h\"\n");
  }

  void write(const std::string& name, const std::string& text) { test::write_file(tree_ / name, text); }

  // What the script says; empty when every rule is kept.
  std::string complaint() {
    const test::Outcome ran = test::run({.argv = {tree_ / "scripts/check_layers"}});
    EXPECT_EQ(ran.ok(), ran.out.empty()) << ran.describe();
    return ran.out;
  }

  test::TempDir tree_;
};

struct Break {
  std::string rule, file, line, said;
};

const std::vector<Break> kBreaks = {
    {"order", "src/base/a.h", "#include \"ops/show.h\"", "points up"},
    {"order", "src/hook/a.cpp", "#include \"event/event.h\"", "hook includes only base and os"},
    {"order", "src/intake/a.h", "#include \"distil/words.h\"", "the only way into distil"},
    {"order", "src/attic/a.h", "int a;", "has no place in the order"},
    {"order", "src/ops/a.h", "#include \"attic/a.h\"", "is not in a folder"},
    {"host", "src/ops/a.cpp", "if (tool == \"Bash\") return;", "belongs to host/"},
    {"host", "src/daemon/a.cpp", "if (name == \"SessionStart\") return;", "belongs to host/"},
    {"host", "src/gate/a.cpp", "getenv(\"CLAUDE_PROJECT_DIR\");", "belongs to host/"},
    {"host", "src/cli/a.cpp", "home + \"/.claude/settings.json\";", "belongs to host/"},
    {"host", "src/context/a.cpp", "answer.set(\"additionalContext\", text);", "belongs to host/"},
    {"host", "src/event/a.h", "// as PostToolUse says it", "belongs to host/"},
    {"host", "src/store/a.h", "\"tool_name IN ('WebFetch', 'other')\"", "belongs to host/"},
    {"host", "src/ops/a.cpp", "\"skip_tools = [\\\"Bash\\\"]\"", "belongs to host/"},
    {"host", "src/agent/a.cpp", "if (host == \"cursor\") return;", "belongs to host/"},
    {"host", "src/daemon/a.cpp", "getenv(\"GEMINI_DIR\");", "belongs to host/"},
    {"host", "src/import/a.cpp", "// as Qwen Code writes it", "belongs to host/"},
    {"field", "src/intake/a.cpp", "if (step.response[\"interrupted\"].as_bool()) return;", "belong to host/"},
    {"field", "src/archive/a.cpp", "words(call.input[\"command\"].as_string());", "belong to host/"},
    {"field", "src/gate/a.cpp", "if (key == \"file_path\") return;", "belong to host/"},
    {"field", "src/cli/a.cpp", "event.tool_use_id = \"toolu_1\";", "belong to host/"},
    {"sql", "src/ops/a.cpp", "db.query(\"SELECT id FROM events\");", "belongs to store/"},
    {"sql", "src/cli/a.cpp", "db.run(\"UPDATE events SET kind = 1\");", "belongs to store/"},
    {"sql", "src/recall/a.cpp", "ROWS \"WHERE id = ?\"", "belongs to store/"},
    {"disk", "src/cli/a.cpp", "os::RealDisk disk;", "take an os::Disk&"},
    {"disk", "src/store/a.cpp", "std::ifstream file(path);", "take an os::Disk&"},
    {"disk", "src/intake/a.cpp", "if (fs::exists(path)) return;", "take an os::Disk&"},
    {"disk", "src/daemon/a.cpp", "if (access(path.c_str(), X_OK) == 0) return;", "take an os::Disk&"},
    {"disk", "src/daemon/a.cpp", "unlink(path.c_str());", "take an os::Disk&"},
    {"disk", "src/host/a.cpp", "return fs::absolute(path).string();", "take an os::Disk&"},
    {"base", "src/base/a.h", "struct Session;", "knows nothing of cairn"},
};

TEST_F(LayersTest, EachRuleThatIsBrokenIsNamedWithFileAndLine) {
  ASSERT_EQ(complaint(), "");
  for (const Break& b : kBreaks) {
    write(b.file, "\n" + b.line + "\n");
    const std::string said = complaint();
    EXPECT_NE(said.find(b.file + (b.file.find("attic") == std::string::npos ? ":2: " : ":1: ")),
              std::string::npos)
        << b.line << "\n"
        << said;
    EXPECT_NE(said.find(b.said), std::string::npos) << b.line << "\n" << said;
    std::filesystem::remove(tree_ / b.file);
  }
  EXPECT_EQ(complaint(), "");
}

TEST_F(LayersTest, WhereAThingBelongsItMayStand) {
  write("src/host/claude_code/a.cpp", "if (name == \"SessionStart\") return;\n");
  write("src/store/a.cpp", "db.query(\"SELECT id FROM events\");\n");
  write("src/os/a.cpp", "RealDisk disk;\n");
  write("src/host/b.cpp", "return response[\"interrupted\"].as_bool();\n");
  write("src/context/a.cpp", "step.error = step.response[\"error\"].as_string();\n");
  write("src/cli/a.cpp", "if (access(path.c_str(), X_OK) == 0) return;\n");
  write("src/hook/main.cpp", "os::RealDisk disk;\n");
  write("src/ops/a.cpp", "// SELECT id FROM events WHERE id = 1\n");
  EXPECT_EQ(complaint(), "");
}

TEST_F(LayersTest, AnExceptionAllowsOneRuleInOneFileAsLongAsItIsNeeded) {
  for (const Break& b : kBreaks) {
    write(b.file, b.line + "\n");
    write("scripts/layer_exceptions", b.rule + " " + b.file + " a reason\n");
    EXPECT_EQ(complaint(), "") << b.line;
    write("scripts/layer_exceptions", b.rule + " src/ops/other.cpp a reason\n");
    EXPECT_NE(complaint().find(b.file), std::string::npos) << b.line;
    write("scripts/layer_exceptions", b.rule + " " + b.file + " a reason\n");
    std::filesystem::remove(tree_ / b.file);
    EXPECT_NE(complaint().find("excuses nothing"), std::string::npos) << b.line;
  }
}

TEST_F(LayersTest, AnExceptionWithoutAReasonIsNone) {
  write("src/ops/a.cpp", "os::RealDisk disk;\n");
  write("scripts/layer_exceptions", "disk src/ops/a.cpp\n");
  EXPECT_NE(complaint().find("is not \"RULE FILE reason\""), std::string::npos);
}

}  // namespace
}  // namespace cairn
