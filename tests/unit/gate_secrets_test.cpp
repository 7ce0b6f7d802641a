#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "gate/corpus.h"
#include "gate/corpus_random.h"
#include "gate/gate.h"
#include "gate/plain_view.h"
#include "gate/secret_corpus.h"
#include "gate/secrets.h"
#include "gate/secrets/chars.h"
#include "gate/secrets/literals.h"
#include "unit/gate_cleaned.h"

namespace cairn::gate {
namespace {

using test::Random;

bool leaks(const std::vector<std::string>& parts, std::string_view out) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return out.find(part) != std::string_view::npos; });
}

struct Count {
  int all = 0, bad = 0;
};
using Counts = std::map<std::string, Count>;

// The samples of docs/SECRETS.md, which shows the same numbers.
constexpr std::uint64_t kSeed = 20260101;
constexpr std::size_t kBenign = 12'000;

void count(const std::string& carrier, std::string_view text, const std::vector<std::string>& secrets_in_it,
           Counts& counts) {
  static const bool kTell = std::getenv("CAIRN_TELL") != nullptr;
  const std::string out = cleaned(std::string(text));
  Count& sum = counts[carrier];
  ++sum.all;
  if (secrets_in_it.empty() ? out == text : !leaks(secrets_in_it, out)) return;
  ++sum.bad;
  if (kTell) ADD_FAILURE() << carrier << ": " << text << "\n-> " << out;
}

Counts measure_table(bool fresh, int rounds) {
  Counts counts;
  for (int round = 0; round < rounds; ++round)
    for (const test::CorpusText& text : test::corpus(kSeed + static_cast<unsigned>(round)))
      if ((text.list == test::kFreshList) == fresh) count(text.carrier, text.text, text.secrets, counts);
  return counts;
}

Counts measure_shapes(std::uint64_t seed) {
  Counts counts;
  for (const auto& sample : test::secret_samples(seed)) count("shapes", sample.text, sample.parts, counts);
  for (const auto& sample : test::benign_samples(seed, kBenign)) count("harmless", sample.text, {}, counts);
  return counts;
}

// At most so many in a thousand.
void expect_at_most(const Counts& counts, const std::string& carrier, int thousandths) {
  const Count& found = counts.at(carrier);
  EXPECT_LE(found.bad * 1000, found.all * thousandths) << carrier << ": " << found.bad << " of " << found.all;
}

TEST(SecretCorpus, ShapesAreFoundAndNothingElseIs) {
  const unsigned rounds = std::getenv("CAIRN_FULL") ? 20 : 2;
  for (unsigned round = 0; round < rounds; ++round) {
    const Counts counts = measure_shapes(kSeed + 1000 + round);
    EXPECT_GE(counts.at("shapes").all, 500);
    expect_at_most(counts, "shapes", 5);
    EXPECT_GE(counts.at("harmless").all, 10'000);
    expect_at_most(counts, "harmless", 1);
  }
}

TEST(SecretCorpus, TheTableIsFoundAndNothingElseIs) {
  const Counts counts = measure_table(false, 5);
  EXPECT_GE(counts.at("harmless").all, 5'000);
  expect_at_most(counts, "tokens", 20);
  expect_at_most(counts, "configuration", 20);
  expect_at_most(counts, "command lines", 20);
  expect_at_most(counts, "sentences", 60);
  expect_at_most(counts, "harmless", 1);
}

TEST(SecretCorpus, MayBeCutAnywhere) {
  std::vector<std::string> texts = {"a [secret", "a [secret:", "a [secret:token:0123456"};
  for (const test::CorpusText& sample : test::corpus(kSeed))
    if (!sample.secrets.empty()) texts.push_back(sample.text.substr(0, 300));
  for (const std::string& text : texts)
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const std::string out = cleaned(text.substr(0, size));
      EXPECT_LE(out.size(), size + 64 * (1 + size / 8)) << text.substr(0, size);
    }
}

std::string share(const Count& counted) {
  return fmt::format("{} of {} ({:.1f} %)", counted.bad, counted.all, 100.0 * counted.bad / counted.all);
}

TEST(SecretCorpus, StandsInTheDocumentationAsMeasured) {
  const Counts known = measure_table(false, 10), fresh = measure_table(true, 10);
  std::string now = "| carrier | texts that guided the rules | fresh list |\n|---|---:|---:|\n";
  for (const char* carrier : {"tokens", "configuration", "command lines", "sentences"})
    now += fmt::format("| {}: missed | {} | {} |\n", carrier, share(known.at(carrier)),
                       share(fresh.at(carrier)));
  now += fmt::format("| harmless: changed | {} | {} |\n", share(known.at("harmless")),
                     share(fresh.at("harmless")));
  const std::string path = std::string(CAIRN_TESTS_DIR) + "/../docs/SECRETS.md";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(now), std::string::npos) << path << " should say:\n" << now;
}

TEST(Secrets, LeaveATypedMarkerThatIsTheSameForTheSameSecret) {
  const std::string token = "gh" + std::string("p_") + Random(1).of(test::kAlnum, 36);
  const std::string once = cleaned("push with " + token + ".");
  EXPECT_EQ(once.find("push with [secret:github-token:"), 0u) << once;
  EXPECT_EQ(once.size(), std::string("push with [secret:github-token:12345678].").size());
  const std::string print = once.substr(31, 8);
  EXPECT_EQ(secrets().fingerprint(token), print);
  EXPECT_NE(cleaned("{\\\"t\\\":\\\"" + token + "\\\"}").find(print), std::string::npos);
  EXPECT_NE(cleaned("a\n\x1b[31m" + token.substr(0, 9) + "\x1b[m" + token.substr(9)).find(print),
            std::string::npos);
  Secrets other(SecretOptions{{}, {}, std::string(32, 'o')});
  EXPECT_NE(other.fingerprint(token), print) << "it can be computed without the home's key";
}

TEST(Secrets, AreCalledByTheirShapeEvenBesideAName) {
  const std::string drawn = Random(2).of(test::kAlnum, 36);
  for (const std::string before : {"", "GITHUB_TOKEN=", "password: ", "Authorization: Bearer "}) {
    const std::string text = cleaned(before + "gh" + "p_" + drawn);
    EXPECT_TRUE(text.starts_with(before + "[secret:github-token:")) << text;
  }
  EXPECT_TRUE(cleaned("GITHUB_TOKEN=" + drawn).starts_with("GITHUB_TOKEN=[secret:token:"));
}

TEST(Secrets, AreCalledByTheirShapeUnderTheNameOfAMember) {
  const std::string drawn = Random(11).of(test::kAlnum, 60);
  const std::string github = "gh" + std::string("p_") + drawn.substr(0, 36),
                    model = "sk-" + std::string("ant-") + "api03-" + drawn;
  Json json = Json::object({{"token", github}, {"password", model}, {"authorization", "Bearer " + github}});
  EXPECT_EQ(secrets().remove(json), 3u);
  EXPECT_TRUE(json["token"].as_string().starts_with("[secret:github-token:")) << json.dump();
  EXPECT_TRUE(json["password"].as_string().starts_with("[secret:anthropic-key:")) << json.dump();
  EXPECT_TRUE(json["authorization"].as_string().starts_with("Bearer [secret:github-token:")) << json.dump();
}

TEST(Secrets, AreFoundBehindTextThatIsFullOfNamesAndBeginnings) {
  const std::string token = "gh" + std::string("p_") + Random(6).of(test::kAlnum, 36);
  for (const char* noise : {"token=token. ", "password: str = ", "sk-abcdef\n", "ghp_example-",
                            "key=", "--user=", "Private-Lines: 1\n", "mysql -p ", "sk-ant-\n"}) {
    std::string text;
    while (text.size() < 200'000) text += noise;
    const std::string ordinary = "\nsrc/store/queue.cpp:118: warning: comparison of integers\n";
    for (int i = 0; i < 100; ++i) text += ordinary;
    EXPECT_EQ(cleaned(text + "DB_PASSWORD=Tr0ub4dor&3x\nuse " + token + "\n").find(token), std::string::npos)
        << noise;
    EXPECT_EQ(cleaned(text + "DB_PASSWORD=Tr0ub4dor&3x\n").find("Tr0ub4dor"), std::string::npos) << noise;
  }
}

TEST(Secrets, AreFoundInOneLineOfAnySize) {
  const std::string token = "gh" + std::string("p_") + Random(8).of(test::kAlnum, 36);
  const std::size_t megabytes = std::getenv("CAIRN_FULL") ? 64 : 4;
  std::string line(megabytes << 20, 'x');
  line.replace(line.size() / 2, token.size() + 2, " " + token + " ");
  EXPECT_EQ(secrets().remove(line), 1u);
  Json fields = Json::array({});
  const int count = std::getenv("CAIRN_FULL") ? 1'000'000 : 50'000;
  for (int i = 0; i < count; ++i) fields.push(Json::object({{"k", std::to_string(i) + " is harmless"}}));
  fields.push(Json::object({{"k", token}}));
  EXPECT_EQ(secrets().remove(fields), 1u);
}

TEST(Secrets, ASecondPassChangesNothing) {
  for (const auto& sample : test::secret_samples(7)) {
    const std::string once = cleaned(sample.text);
    ASSERT_EQ(cleaned(once), once) << sample.text;
  }
}

TEST(Secrets, LeaveTheTextAroundThemAlone) {
  const std::string token = "npm" + std::string("_") + Random(2).of(test::kAlnum, 36);
  const std::string out = cleaned("a \\\"b\\\" %20 " + token + " \\n\\u0041 &amp; z");
  EXPECT_EQ(out.find("a \\\"b\\\" %20 [secret:npm-token:"), 0u) << out;
  EXPECT_TRUE(out.ends_with("] \\n\\u0041 &amp; z")) << out;
}

TEST(Secrets, AreFoundUnderTheNameOfAMember) {
  const std::string value = Random(3).of(test::kAlnum, 32);
  Json json = Json::object({{"env", Json::object({{"API_KEY", value}, {"PORT", "3000"}})},
                            {"args", Json::array({"--token", value, "--verbose"})},
                            {"token_count", "12"}});
  EXPECT_EQ(secrets().remove(json), 2u);
  EXPECT_EQ(json.dump().find(value), std::string::npos) << json.dump();
  EXPECT_NE(json.dump().find("\"PORT\":\"3000\""), std::string::npos);
  EXPECT_NE(json.dump().find("\"--token\",\"[secret:token:"), std::string::npos) << json.dump();
}

TEST(Secrets, BrokenOverTheLinesOfAPatchAreOneText) {
  Random random(4);
  Json lines = Json::array({" before", "+-----BEGIN RSA PRIV" + std::string("ATE KEY-----")});
  std::vector<std::string> body;
  for (int i = 0; i < 5; ++i) {
    body.push_back(random.of(test::kBase64, 64));
    lines.push("+" + body.back());
  }
  lines.push("+-----END RSA PRIV" + std::string("ATE KEY-----"));
  lines.push(" after");
  Json patch = Json::object({{"structuredPatch", Json::array({Json::object({{"lines", lines}})})}});
  EXPECT_EQ(secrets().remove(patch), 1u);
  const Json& left = patch["structuredPatch"].items()[0]["lines"];
  ASSERT_EQ(left.items().size(), lines.items().size());
  EXPECT_EQ(left.items().front().as_string(), " before");
  EXPECT_EQ(left.items().back().as_string(), " after");
  for (const std::string& line : body) EXPECT_EQ(patch.dump().find(line), std::string::npos) << patch.dump(1);
}

TEST(Secrets, EveryValueOfAnEnvFileCountsThatIsNotHarmless) {
  std::string text =
      "PORT=3000\nMODE=production\nHOST=db.host.test\nMYSTERY=zK4!pQ9w\nexport THING='q8Rt-55xLm'\n";
  EXPECT_EQ(Secrets(SecretOptions{}).remove(text, true), 2u) << text;
  EXPECT_EQ(text.find("zK4!pQ9w"), std::string::npos);
  EXPECT_EQ(text.find("q8Rt"), std::string::npos);
  EXPECT_EQ(text.find("PORT=3000\nMODE=production\nHOST=db.host.test\n"), 0u) << text;
}

TEST(Secrets, FollowTheRulesOfTheUser) {
  const std::string mine = "IK-" + Random(5).of(test::kHex, 24),
                    known = "ghp" + std::string("_") + std::string(30, 'a') + "b1C2d3";
  EXPECT_EQ(cleaned("x " + mine), "x " + mine);
  const Secrets own(
      SecretOptions{{"house-key=IK-[0-9a-f]{24}", "door=door ([0-9]{4})"}, {"ghp_a+b1C2d3"}, ""});
  std::string text = "x " + mine + ", door 1234, " + known;
  EXPECT_EQ(own.remove(text), 2u) << text;
  EXPECT_EQ(text.find("x [secret:house-key:"), 0u);
  EXPECT_NE(text.find("door [secret:door:"), std::string::npos) << text;
  EXPECT_NE(text.find(known), std::string::npos) << "what is allowed stays";
}

TEST(Secrets, SayWhatIsWrongWithAPattern) {
  EXPECT_EQ(wrong_pattern("a=b+", true), "");
  EXPECT_NE(wrong_pattern("a=b(", true), "");
  EXPECT_NE(wrong_pattern("b+", true), "");
  EXPECT_NE(wrong_pattern("A b=c", true), "");
  EXPECT_NE(wrong_pattern("a=.*", true), "") << "it would take everything";
  EXPECT_EQ(wrong_pattern("b+", false), "");
}

TEST(Secrets, AreRemovedByTheGateFromEveryField) {
  const auto samples = test::one_of_each(9);
  for (const auto& sample : samples) {
    event::Event event;
    event.kind = event::Kind::tool;
    event.tool_name = "Bash";
    const std::string& s = sample.text;
    event.prompt = event.last_assistant_message = event.error = event.reason = s;
    event.tool_input = Json::object({{"command", s}});
    event.tool_response = Json::object({{"stdout", s}, {"lines", Json::array({"a", s})}});
    event.extra = Json::object({{"deep", Json::array({Json::object({{"er", s}, {s, 1}})})}});
    auto result = Gate(Rules{}).pass(event, 1 << 20);
    const auto& passed = std::get<Gate::Passed>(result);
    const std::string all = passed.event->prompt + passed.event->last_assistant_message +
                            passed.event->error + passed.event->reason + passed.event->tool_input.dump() +
                            passed.event->tool_response.dump() + passed.event->extra.dump();
    EXPECT_FALSE(leaks(sample.parts, all)) << sample.group << ": " << all;
    EXPECT_EQ(passed.secrets, 9u) << sample.group;
  }
}

TEST(Secrets, AreRemovedWithoutCuttingACharacter) {
  const Secrets secrets(SecretOptions{});
  for (std::size_t before = 0; before < 4; ++before) {
    std::string text = "curl -u dev:h0uGt4" + std::string(before, 'x');
    for (int i = 0; i < 100; ++i) text += "\xef\xbf\xbd";
    text += " https://host.test/";
    EXPECT_EQ(secrets.remove(text), 1u);
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Literals, AreFoundWhereASimpleSearchFindsThem) {
  const std::vector<Literals::Literal> literals = {{"ab"},  {"aba", false}, {"abcabcabcab"}, {"a-1_b", false},
                                                   {"bca"}, {"Ba", false},  {"--a"},         {"1_"}};
  const Literals table(literals);
  Random random(10);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random.of("aAbBcC-_1!Q", random.between(0, 24));
    std::vector<std::pair<std::size_t, std::size_t>> found, wanted;
    table.each(text, [&](std::size_t index, std::size_t at) {
      found.emplace_back(at, index);
      return std::size_t{0};
    });
    for (std::size_t at = 0; at < text.size(); ++at)
      for (std::size_t i = 0; i < literals.size(); ++i) {
        const std::string_view rest = std::string_view(text).substr(at);
        if (literals[i].any_case ? starts_with_nocase(rest, literals[i].text)
                                 : rest.starts_with(literals[i].text))
          wanted.emplace_back(at, i);
      }
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, wanted) << text;
  }
}

TEST(Literals, CountWhereTheirSurroundingsFit) {
  const std::vector<Literals::Literal> literals = {
      {"ab", true, only(Chars::alnum)}, {"ab_", true, 0, only(Chars::digit)}, {"ab_cdefgh", true, 0, 0}};
  const Literals table(literals);
  const auto found = [&](std::string_view text) {
    std::string out;
    table.each(text, [&](std::size_t index, std::size_t at) {
      out += fmt::format("{}:{} ", at, index);
      return std::size_t{0};
    });
    return out;
  };
  EXPECT_EQ(found("ab -ab xab 1ab"), "0:0 4:0 ");
  EXPECT_EQ(found("xab_1 xab_x xab_"), "1:1 ");
  EXPECT_EQ(found("xab_cdefgh xab_cdefg"), "1:2 ");
}

TEST(Literals, AreNotLookedForWhereNothingIsWanted) {
  const Literals table({{"ab"}, {"bc"}});
  std::string out;
  table.each("abc abc abc abc abc", [&](std::size_t index, std::size_t at) {
    out += fmt::format("{}:{} ", at, index);
    return at == 4 ? std::size_t{13} : std::size_t{0};
  });
  EXPECT_EQ(out, "0:0 1:1 4:0 13:1 16:0 17:1 ");
}

TEST(CharRuns, BeginAndEndWhereASimpleReadingFindsThem) {
  Random random(12);
  for (int round = 0; round < 500; ++round) {
    const std::string text = random.of("aaaaaaa_-", random.between(1, 120));
    Runs runs(text);
    for (std::size_t at = random.below(9); at < text.size(); at += random.below(9)) {
      const Chars chars = random.below(2) == 0 ? Chars::alnum : Chars::word;
      std::size_t begin = at, end = at;
      while (begin > 0 && is(chars, text[begin - 1])) --begin;
      while (end < text.size() && is(chars, text[end])) ++end;
      if (random.below(2) == 0) {
        ASSERT_EQ(runs.end(chars, at), end) << text << at;
      } else {
        ASSERT_EQ(runs.begin(chars, at), begin) << text << at;
      }
    }
  }
}

TEST(PlainView, AnEscapeThatBreaksOffTakesNoHalfOfACharacter) {
  EXPECT_EQ(PlainView("\x1b[31mred\x1b[0m").text(), "red");
  EXPECT_EQ(PlainView("\x1b[1\xef\xbf\xbdx").text(), "\xef\xbf\xbdx");
  EXPECT_EQ(PlainView("x\x1b[1").text(), "x");
}

}  // namespace
}  // namespace cairn::gate
