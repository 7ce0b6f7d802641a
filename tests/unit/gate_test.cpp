#include "gate/gate.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "base/text.h"

namespace cairn::gate {
namespace {

using event::Event;
using event::Kind;

constexpr std::size_t kMax = 1000;

Event tool(std::string name, Json input) {
  Event event;
  event.kind = Kind::tool;
  event.name = "PostToolUse";
  event.cwd = "/home/dev/code/proj";
  event.tool_name = std::move(name);
  event.tool_input = std::move(input);
  return event;
}

Event prompt(std::string text) {
  Event event;
  event.kind = Kind::prompt;
  event.cwd = "/home/dev/code/proj";
  event.prompt = std::move(text);
  return event;
}

// The reason of the refusal, or nothing when the event came in.
std::string refused(const Rules& rules, Event event) {
  const auto result = Gate(rules).pass(std::move(event), kMax);
  const auto* refusal = std::get_if<Refusal>(&result);
  return refusal ? refusal->outcome + ": " + refusal->reason : "";
}

Gate::Passed passed(Event event, std::size_t max = kMax) {
  auto result = Gate(Rules{}).pass(std::move(event), max);
  return std::get<Gate::Passed>(std::move(result));
}

TEST(Gate, CleansEveryField) {
  const std::string secret = "x <private>s3cret</private>";
  Event event = tool("Write", Json::object({{"content", secret}, {secret, 1}}));
  event.prompt = event.last_assistant_message = event.error = event.reason = secret;
  event.tool_response = Json::object({{"lines", Json::array({"a", secret})}});
  event.extra = Json::object({{"deep", Json::array({Json::object({{"er", secret}})})}});
  const Gate::Passed out = passed(event);
  EXPECT_TRUE(out.redacted);
  for (const std::string& text :
       {out.event->prompt, out.event->last_assistant_message, out.event->error, out.event->reason})
    EXPECT_EQ(text, "x [private]");
  for (const Json* value : {&out.event->tool_input, &out.event->tool_response, &out.event->extra}) {
    EXPECT_EQ(value->dump().find("s3cret"), std::string::npos);
    EXPECT_NE(value->dump().find("[private]"), std::string::npos);
  }
}

TEST(Gate, LeavesAnOrdinaryEventAsItIs) {
  const Event event = tool("Bash", Json::object({{"command", "ls"}}));
  const Gate::Passed out = passed(event);
  EXPECT_FALSE(out.redacted);
  EXPECT_FALSE(out.is_private);
  EXPECT_EQ(out.event->tool_input, event.tool_input);
}

TEST(Gate, MutesAPromptThatIsWhollyPrivate) {
  EXPECT_TRUE(passed(prompt(" <private>all</private>\n<private>of it</private>")).is_private);
  EXPECT_TRUE(passed(prompt("<private>unclosed")).is_private);
  EXPECT_TRUE(passed(prompt("\x1b[0m<private>coloured</private>\x1b[0m")).is_private);
  for (const char* blank : {"\u00a0", "\ufeff", "\u200b", "\u3000", "\u2028", "\u0085", "\u2003\u2060",
                            "\u2800", "\x1b", "\u3164"})
    EXPECT_TRUE(
        passed(prompt(blank + std::string("<private>x</private>") + blank + "<private>y</private>" + blank))
            .is_private)
        << blank;
  EXPECT_FALSE(passed(prompt("\u00a0<private>x</private>.")).is_private);
  EXPECT_FALSE(passed(prompt("<private>x</private>\u00e9")).is_private);
  EXPECT_FALSE(passed(prompt("fix <private>x</private>")).is_private);
  EXPECT_FALSE(passed(prompt("")).is_private);
  EXPECT_FALSE(passed(prompt("[private]")).is_private);
}

TEST(Gate, CutsLongFieldsAfterTheRemoval) {
  const std::string secret = "<private>" + std::string(5000, 's') + "</private>";
  Event event =
      tool("Write", Json::object({{"content", secret + "short"}, {"long", std::string(5000, 'x')}}));
  event.prompt = std::string(5000, 'p');
  const Gate::Passed out = passed(event, 100);
  EXPECT_EQ(out.event->tool_input["content"].as_string(), "[private]short");
  EXPECT_EQ(out.event->tool_input["long"].as_string(), cut(std::string(5000, 'x'), 100));
  EXPECT_LE(out.event->prompt.size(), 100u);
}

TEST(Gate, SkipsToolsByName) {
  const Rules rules{{"Read", "mcp__*"}, {}};
  EXPECT_EQ(refused(rules, tool("Read", {})), "skipped: capture.skip_tools \"Read\"");
  EXPECT_EQ(refused(rules, tool("mcp__db__query", {})), "skipped: capture.skip_tools \"mcp__*\"");
  EXPECT_EQ(refused(rules, tool("Write", {})), "");
  Event asked = tool("Read", {});  // PermissionRequest has the whole call
  asked.kind = Kind::other;
  EXPECT_EQ(refused(rules, asked), "skipped: capture.skip_tools \"Read\"");
}

TEST(Gate, ExcludesByEveryPathAToolTouches) {
  const Rules rules{{}, {"**/.env", "*.pem", "/secret/**", "keys/*.txt"}};
  const auto with = [&](const char* key, const char* path) {
    return refused(rules, tool("T", Json::object({{key, path}})));
  };
  EXPECT_EQ(with("file_path", "/home/dev/.env"), "skipped: capture.exclude \"**/.env\"");
  EXPECT_EQ(with("notebook_path", "a.pem"), "skipped: capture.exclude \"*.pem\"");
  EXPECT_NE(with("path", "/secret"), "");
  EXPECT_NE(with("path", "/secret/a/b"), "");
  EXPECT_NE(with("path", "../../../../secret/a"), "");
  EXPECT_NE(with("path", "keys/a.txt"), "");
  EXPECT_NE(with("filePath", "x/./../.env"), "");
  EXPECT_EQ(with("file_path", "/home/dev/.envrc"), "");
  EXPECT_EQ(with("content", "/home/dev/.env"), "");
  EXPECT_NE(
      refused(rules,
              tool("T", Json::object({{"edits", Json::array({Json::object({{"file_path", ".env"}})})}}))),
      "");
}

TEST(Gate, APatternThatNamesADirectoryCoversWhatIsBelow) {
  const Rules rules{{}, {"/home/dev/work", "vault"}};
  EXPECT_NE(refused(rules, tool("Read", Json::object({{"file_path", "/home/dev/work/a/b.c"}}))), "");
  EXPECT_NE(refused(rules, tool("Read", Json::object({{"file_path", "/x/vault/a"}}))), "");
  EXPECT_EQ(refused(rules, tool("Read", Json::object({{"file_path", "/home/dev/workshop"}}))), "");
}

TEST(Gate, ExcludesByWordsOfACommand) {
  const Rules rules{{}, {"**/.env", "/secret/**"}};
  const auto run = [&](const char* command) {
    return refused(rules, tool("Bash", Json::object({{"command", command}})));
  };
  for (const char* command : {"cat .env", "cat '.env'", "FILE=.env sh x", "tee <.env", "x>.env",
                              "cat ./a/../.env|wc", "ls /secret"})
    EXPECT_NE(run(command), "") << command;
  for (const char* command : {"cat env", "echo environment", ""}) EXPECT_EQ(run(command), "") << command;
}

Rules vault_rules() {
  Rules rules;
  rules.exclude = {"/home/dev/vault/**"};
  rules.home = "/home/dev";
  return rules;
}

TEST(Gate, ExcludesAPathHoweverACommandSpellsIt) {
  const auto run = [](const char* command) {
    return refused(vault_rules(), tool("Bash", Json::object({{"command", command}})));
  };
  for (const char* command : {"cat ~/vault/a",
                              "cat ~dev/vault/a",
                              "cat $HOME/vault/a",
                              "cat ${HOME}/vault/a",
                              "cat \"$HOME\"/vault/a",
                              "cat '/home/dev/vault/a'",
                              "cat /home/dev/va\\ult/a",
                              "cat /home/dev/\"vault\"/a",
                              "wc --file=/home/dev/vault/a",
                              "wc </home/dev/vault/a",
                              "echo x>>/home/dev/vault/a",
                              "cd .. && cd .. && cat vault/a",
                              "cd ../..; cat vault/a",
                              "cd; cat vault/a",
                              "cd && cat ./vault/a",
                              "cd ~ && cat vault/a",
                              "cd /home/dev/vault; cat a",
                              "bash -c 'cd /home/dev && cat vault/a'",
                              "git -C ../.. show HEAD:vault/a",
                              "pushd $HOME; cat vault/a",
                              "D=/home/dev; cat $D/vault/a",
                              "D=../..; cat ${D}/vault/a",
                              "cat file:///home/dev/vault/a",
                              "echo don't; cd ../..; cat vault/a",
                              "cat $PWD/../../vault/a",
                              "cat $(pwd)/../../vault/a",
                              "cat /home/dev/v*t/a",
                              "cat /home/dev/{vault,x}/a",
                              "cat /home/dev/vaul[t]/a",
                              "python3 -c \"open('/home/dev/vault/a')\"",
                              "ls /home/dev/vault",
                              "cat /home//dev/./x/../vault/a",
                              "cd ../.. && grep -r x vault"})
    EXPECT_NE(run(command), "") << command;
  for (const char* command :
       {"cat vault/a", "cat /home/dev/vaulted/a", "cd ../.. && ls", "cat ~/other/vault", "echo vault", "ls *",
        "grep -r 'x.*' .", "curl https://example.org/home/dev/vault/a", "cat /srv/home/dev/vault/a",
        "cat ~other/vault/a", "find /home -name '*.c'"})
    EXPECT_EQ(run(command), "") << command;
}

TEST(Gate, ExcludesAPathWithBlanks) {
  Rules rules = vault_rules();
  rules.exclude = {"~/my vault/**"};
  for (const Json& input :
       {Json::object({{"command", "cat '/home/dev/my vault/a'"}}),
        Json::object({{"command", "cat ~/my\\ vault/a"}}),
        Json::object({{"command", Json::array({"cat", "/home/dev/my vault/a"})}}),
        Json::object({{"uri", "file:///home/dev/my%20vault/a"}}), Json::object({{"x", "../../my vault/a"}})})
    EXPECT_NE(refused(rules, tool("T", input)), "") << input.dump();
  EXPECT_EQ(refused(rules, tool("Bash", Json::object({{"command", "cat ~/my house/vault/a"}}))), "");
}

TEST(Gate, ExcludesAPathUnderAnyNameAndInAnyDepth) {
  for (const char* key : {"uri", "file", "filename", "absolute_path", "target_file", "relative_path",
                          "directory", "source", "cmd", "paths", "pattern", "query", "input"}) {
    const Json path("/home/dev/vault/a");
    EXPECT_NE(refused(vault_rules(), tool("T", Json::object({{key, path}}))), "") << key;
    EXPECT_NE(
        refused(vault_rules(), tool("T", Json::object({{key, Json::array({Json::object({{"x", path}})})}}))),
        "")
        << key;
  }
  EXPECT_NE(refused(vault_rules(), tool("T", Json::object({{"/home/dev/vault/a", 1}}))), "");
  EXPECT_NE(refused(vault_rules(),
                    tool("shell", Json::object({{"command", Json::array({"bash", "-lc", "cat vault/a"})},
                                                {"workdir", "/home/dev"}}))),
            "");
  EXPECT_NE(refused(vault_rules(),
                    tool("apply_patch",
                         Json::object({{"input", "*** Begin Patch\n*** Update File: ../../vault/a\n"}}))),
            "");
}

TEST(Gate, ExcludesAResultThatNamesThePath) {
  const auto answer = [](Json response) {
    Event event = tool("Grep", Json::object({{"pattern", "x"}}));
    event.tool_response = std::move(response);
    return refused(vault_rules(), event);
  };
  EXPECT_NE(answer(Json::object({{"filenames", Json::array({"src/a.c", "/home/dev/vault/a"})}})), "");
  EXPECT_NE(answer(Json::object({{"mode", "content"}, {"content", "src/a.c:1:x\n../../vault/a:3:x = 1\n"}})),
            "");
  EXPECT_NE(answer(Json::object({{"stdout", "ok\n/home/dev/vault/a:3:x\n"}})), "");
  EXPECT_NE(answer(Json::array({Json::object({{"type", "text"}, {"text", "in `~/vault/a`"}})})), "");
  EXPECT_EQ(answer(Json::object({{"stdout", "the vault of /home/dev is shut\nvault/a\n"}})), "");
  Event failed = tool("Bash", Json::object({{"command", "make"}}));
  failed.kind = Kind::tool_failure;
  failed.error = "cat: /home/dev/vault/a: Permission denied";
  EXPECT_NE(refused(vault_rules(), failed), "");
  Event from_above = tool("Bash", Json::object({{"command", "cd ../.. && grep -rl x ."}}));
  from_above.tool_response = Json::object({{"stdout", "./code/a\n./vault/a\n"}});
  EXPECT_NE(refused(vault_rules(), from_above), "");
}

TEST(Gate, TextOfAnotherFileMayMentionAnExcludedPath) {
  const std::string text = "copy /home/dev/vault/a by hand";
  Event event = tool("Write", Json::object({{"file_path", "README.md"}, {"content", text}}));
  event.tool_response = Json::object({{"filePath", "README.md"},
                                      {"content", text},
                                      {"originalFile", text},
                                      {"structuredPatch", Json::array({text})}});
  EXPECT_EQ(refused(vault_rules(), event), "");
  event.tool_input =
      Json::object({{"file_path", "README.md"},
                    {"edits", Json::array({Json::object({{"old_string", text}, {"new_string", text}})})}});
  EXPECT_EQ(refused(vault_rules(), event), "");
  event.tool_response = Json::object(
      {{"type", "text"}, {"file", Json::object({{"filePath", "README.md"}, {"content", text}})}});
  EXPECT_EQ(refused(vault_rules(), event), "");
  event.tool_response = Json::object({{"type", "text"}, {"content", text}});
  EXPECT_NE(refused(vault_rules(), event), "") << "this text names no file that it is of";
}

// Whether four times the text takes about four times as much of the processor: the best of a few tries.
bool is_linear(const std::function<double(std::size_t)>& seconds) {
  double small = 1e9, large = 1e9;
  for (int i = 0; i < 6; ++i) {
    small = std::min(small, seconds(20'000));
    large = std::min(large, seconds(80'000));
    if (large < 0.05 + 8 * small) return true;
  }
  return false;
}

// Each is what some part of the reading could be made to read again and again.
TEST(Gate, LooksForPathsInLinearTime) {
  Rules rules = vault_rules();
  rules.exclude.insert(rules.exclude.end(), {"**/vault/x", "*.pem", "/home/dev/work/*"});
  const auto repeated = [](std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
  };
  const auto seconds = [&](std::string_view piece, std::size_t bytes) {
    Event event = tool("Bash", Json::object({{"command", repeated(piece, bytes)}}));
    event.tool_response = Json::object({{"stdout", repeated(piece, bytes)}});
    const std::clock_t begin = std::clock();
    EXPECT_EQ(refused(rules, std::move(event)), "") << piece;
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  for (const char* piece : {"cd a;",
                            "cd ..;",
                            "vaulted/",
                            "/vaulted",
                            "{a,",
                            "x{a,b} ",
                            "/home/dev/v*d/",
                            "'\"",
                            "\\",
                            "$D/",
                            "${",
                            "a=/b ",
                            "~",
                            "[",
                            "%41",
                            "file://",
                            "http://x ",
                            "the vaulted of a ",
                            "\n",
                            ":",
                            "/home/dev/work"}) {
    EXPECT_TRUE(is_linear([&](std::size_t bytes) { return seconds(piece, bytes); })) << piece;
  }
}

TEST(Gate, KeepsNothingFromAnExcludedDirectory) {
  const Rules rules{{}, {"/home/dev/code/**"}};
  EXPECT_NE(refused(rules, tool("Bash", Json::object({{"command", "ls"}}))), "");
  EXPECT_NE(refused(rules, prompt("what is in here?")), "");
  Event elsewhere = prompt("hello");
  elsewhere.cwd = "/home/dev/other";
  EXPECT_EQ(refused(rules, elsewhere), "");
  elsewhere.project_dir = "/home/dev/code/proj";
  EXPECT_NE(refused(rules, elsewhere), "") << "a session of the project that only looks elsewhere";
}

TEST(Gate, ExcludesAChangedFile) {
  Event event;
  event.kind = Kind::other;
  event.name = "FileChanged";
  event.extra = Json::object({{"file_path", "/home/dev/.env"}});
  EXPECT_NE(refused(Rules{{}, {".env"}}, event), "");
}

TEST(Gate, UnexpectedShapesAreHarmless) {
  for (const Json& shape : {Json(), Json("text"), Json(3), Json::array({1, "x"}),
                            Json::object({{"file_path", 3}, {"command", Json::array()}})}) {
    Event event = tool("Bash", shape);
    event.tool_response = shape;
    event.extra = shape;
    EXPECT_EQ(refused(Rules{{"Read"}, {".env"}}, event), "");
  }
}

TEST(Gate, LeavesTheIdsAndPathsOfHostsAlone) {
  const Gate gate{Rules{}};
  for (const char* id :
       {"", "11111111-aaaa-4bbb-8ccc-000000000001", "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "toolu_01A09q90qw90lq917835lq9", "toolu_vrtx_01SgVbqcVJmFQPFQWbtbP1Qw",
        "call_ZKTbXyS5Zb6rHSMFT1pS3kDl", "a1b2c3d4", "agent-a8f3c2e", "claude-code",
        "0199f7a2c3d4e5f60718293a4b5c6d7e", "cairn-0199f7a2-c3d4-7e5f-8607-18293a4b5c6d",
        "notes-0199f7a2-c3d4-7e5f-8607-18293a4b5c6d", "session_1", "srvtoolu_01WYG3ziw53XMcoyKL4XcZmE", "t1"})
    EXPECT_EQ(gate.id(id), id);
  Event event = prompt("hello");
  event.name = "UserPromptSubmit";
  event.agent_type = "general-purpose";
  event.tool_name = "mcp__db__query";
  for (const char* path :
       {"/home/dev/code/proj", "/tmp/tmp.QxFYI54H6y/a",
        "/nix/store/5rh1sq8bx3f7m2kqv0zy9w4n6d1c8l0p-hello-2.12",
        "/home/dev/.claude/projects/-home-dev-code-proj/3f2504e0-4f89-41d3-9a0c-0305e82c3301.jsonl",
        "/home/dev/password-store", "/home/dev/token", "/home/dev/api_key/x",
        "/home/dev/.cache/bazel/_bazel_dev/0199f7a2c3d4e5f60718293a4b5c6d7e/execroot",
        "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T", "/home/dev/Müller/проект"}) {
    event.cwd = event.project_dir = event.transcript_path = path;
    Event cleaned = event;
    gate.clean_envelope(cleaned);
    EXPECT_EQ(cleaned.cwd + cleaned.project_dir + cleaned.transcript_path, std::string(path) + path + path);
    EXPECT_EQ(cleaned.name + *cleaned.tool_name + *cleaned.agent_type,
              "UserPromptSubmitmcp__db__querygeneral-purpose");
  }
}

TEST(Gate, CleansWhatStandsAroundAnEvent) {
  const std::string token = "ghp_" + std::string("a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
  for (const std::string& text : std::vector<std::string>{token, "<private>zebra</private>", "a b", "zebra\n",
                                                          std::string(5000, 'z')}) {
    Event event = tool("T " + text, {});
    event.session.value = event.host = event.boot_id = text;
    event.cwd = event.project_dir = event.transcript_path = "/home/dev/" + text;
    event.name = text;
    event.prompt_id = event.agent_id = event.agent_type = event.tool_use_id = text;
    const Gate::Passed out = passed(event);
    const Event& e = *out.event;
    for (const std::string& id : {e.session.value, e.host, *e.prompt_id, *e.agent_id, *e.tool_use_id}) {
      EXPECT_EQ(id, Gate(Rules{}).id(text)) << "the same for the same";
      EXPECT_NE(id, text);
      EXPECT_EQ(id, Gate(Rules{}).id(id)) << "and stays it";
    }
    for (const std::string& kept :
         {e.cwd, e.project_dir, e.transcript_path, e.name, *e.tool_name, *e.agent_type}) {
      EXPECT_LE(kept.size(), 4096u);
      EXPECT_EQ(kept.find("<private>"), std::string::npos);
      EXPECT_EQ(kept.find(token), std::string::npos);
    }
  }
  EXPECT_NE(Gate(Rules{}).id("a b"), Gate(Rules{}).id("ab c"));
}

TEST(Gate, CleansOneText) {
  EXPECT_EQ(Gate(Rules{}).clean("a <private>b</private>", Way::remember), "a [private]");
}

std::string without_own(std::string pattern, std::string text) {
  Secrets(SecretOptions{{"own=" + pattern}, {}, ""}).remove(text);
  return text;
}

TEST(OwnSecrets, AreFoundInLinearTimeWhateverThePatternLooksFor) {
  const auto seconds = [](std::size_t bytes) {
    const std::clock_t begin = std::clock();
    EXPECT_EQ(without_own("x+y|x", std::string(bytes, 'x')).find('x'), std::string::npos);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_TRUE(is_linear(seconds));
}

TEST(OwnSecrets, AreFoundOverTheBordersOfPieces) {
  const std::string secret = "HK-0123456789abcdef01234567";
  for (std::size_t at = 8192 - 30; at < 8192 + 3; ++at) {
    const std::string text = std::string(at, '.') + secret + std::string(40'000, '.');
    EXPECT_EQ(without_own("HK-[0-9a-f]{24}", text).find("HK"), std::string::npos) << at;
  }
  const std::string longer = "BEGIN" + std::string(7000, 'z') + "END";
  const std::string text = std::string(8000, '.') + longer + std::string(40'000, '.');
  EXPECT_EQ(without_own("BEGINz*END", text).find('z'), std::string::npos);
}

TEST(OwnSecrets, AreEachMarkedAsLongAsTheyAreNotTooMany) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "HK-" + std::to_string(1000 + i) + " and more, ";
  const std::string cleaned = without_own("HK-[0-9]{4}", text);
  EXPECT_EQ(cleaned.find("HK-"), std::string::npos);
  std::size_t kept = 0;
  for (std::size_t at = 0; (at = cleaned.find(" and more, ", at)) != std::string::npos; ++at) ++kept;
  EXPECT_EQ(kept, 200u);
}

TEST(TouchedPaths, AreAbsoluteSortedAndUnique) {
  Event event = tool("Edit", Json::object({{"file_path", "b.txt"}, {"path", "/a/../c"}}));
  event.tool_response = Json::object({{"filePath", "/home/dev/code/proj/b.txt"}});
  EXPECT_EQ(touched_paths(event), (std::vector<std::string>{"/c", "/home/dev/code/proj/b.txt"}));
}

}  // namespace
}  // namespace cairn::gate
