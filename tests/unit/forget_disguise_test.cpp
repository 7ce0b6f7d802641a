// What was forgotten is recognised in every disguise that says the same, and nothing else is.
#include <gtest/gtest.h>

#include "base/squeeze.h"
#include "forget/tombstones.h"
#include "gate/forgotten.h"
#include "gate/gate.h"
#include "store/walk.h"
#include "support/engine_fixture.h"

namespace cairn::gate {
namespace {

const std::string kKey(32, 'k');

Forgotten with(std::string_view text, std::size_t at_least = 12) {
  Forgotten forgotten(kKey);
  for (const Tombstone& tombstone : forgotten.of_text(text, at_least)) forgotten.add(tombstone);
  return forgotten;
}

std::string without(const Forgotten& forgotten, std::string text) {
  forgotten.remove(text);
  return text;
}

struct Attack {
  const char* name;
  const char* text;
};
class Disguise : public testing::TestWithParam<Attack> {};

// All of them say "the staging password is Hunter2 Winter".
TEST_P(Disguise, IsStillForgotten) {
  const Forgotten forgotten = with("the staging password is Hunter2 Winter");
  const std::string left = without(forgotten, std::string("before ") + GetParam().text + " after");
  EXPECT_EQ(left, "before [forgotten] after") << GetParam().text;
}

const std::vector<Attack> kAttacks = {
    {"plain", "the staging password is Hunter2 Winter"},
    {"upper", "THE STAGING PASSWORD IS HUNTER2 WINTER"},
    {"lower", "the staging password is hunter2 winter"},
    {"mixed_case", "tHe StAgInG pAsSwOrD iS hUnTeR2 wInTeR"},
    {"two_blanks", "the  staging  password  is  Hunter2  Winter"},
    {"tabs", "the\tstaging\tpassword\tis\tHunter2\tWinter"},
    {"lines", "the staging\npassword is\nHunter2 Winter"},
    {"crlf", "the staging\r\npassword is\r\nHunter2 Winter"},
    {"no_blanks", "thestagingpasswordisHunter2Winter"},
    {"no_break_space", "the staging password is Hunter2 Winter"},
    {"wide_space", "the　staging　password　is　Hunter2　Winter"},
    {"hyphens", "the-staging-password-is-Hunter2-Winter"},
    {"underscores", "the_staging_password_is_Hunter2_Winter"},
    {"markdown", "the **staging** `password` is _Hunter2_ Winter"},
    {"quotes", "the \"staging\" password is 'Hunter2' Winter"},
    {"zero_width", "the sta\u200bging pass\u200bword is Hun\u200bter2 Winter"},
    {"joiner", "the sta\u200dging pass\u200dword is Hunter2 Winter"},
    {"soft_hyphen", "the sta\u00adging pass\u00adword is Hunter2 Winter"},
    {"bom", "the staging pass\ufeffword is Hunter2 Winter"},
    {"bidi", "the staging \u202epassword\u202c is Hunter2 Winter"},
    {"word_joiner", "the staging pass\u2060word is Hunter2 Winter"},
    {"accents", "thé stàging pâsswörd is Hünter2 Wìnter"},
    {"combining", "the sta\u0301ging pa\u0308ssword is Hunter2 Winter"},
    {"full_width", "ｔｈｅ ｓｔａｇｉｎｇ ｐａｓｓｗｏｒｄ ｉｓ Ｈｕｎｔｅｒ２ Ｗｉｎｔｅｒ"},
    {"mathematical", "the 𝐬𝐭𝐚𝐠𝐢𝐧𝐠 𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝 is 𝐇𝐮𝐧𝐭𝐞𝐫𝟐 Winter"},
    {"circled", "the staging ⓟⓐⓢⓢⓦⓞⓡⓓ is Hunter2 Winter"},
    {"cyrillic", "the stаging раsswоrd is Нuntеr2 Winter"},
    {"greek", "the stαging pαsswοrd is Hunter2 Winter"},
    {"zero_for_o", "the staging passw0rd is Hunter2 Winter"},
    {"one_for_i", "the stag1ng password 1s Hunter2 W1nter"},
    {"l_for_i", "the staglng password ls Hunter2 Wlnter"},
    {"ligature", "the ſtaging paſſword is Hunter2 Winter"},
    {"json_escapes", "the staging\\npassword is\\tHunter2 Winter"},
    {"unicode_escapes", "the staging p\\u0061ssword is Hunter2 Winter"},
    {"per_cent", "the%20staging%20password%20is%20Hunter2%20Winter"},
};

INSTANTIATE_TEST_SUITE_P(Forgotten, Disguise, testing::ValuesIn(kAttacks),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Forgotten, HasThirtyDisguises) {
  EXPECT_GE(kAttacks.size(), 30u);
}

// Every disguise comes by a prompt, an answer and a tool call, and by hand; then everything is made again.
TEST(Forgotten, NoDisguiseBringsItBackInAStore) {
  using test::must;
  test::Machine m;
  test::Chat chat;
  must(m.open());
  const auto run = [&](std::string_view name, Json args) { return m.run(name, std::move(args)); };
  const auto here = [&](const std::string& text) {
    return Json::object({{"cwd", chat.cwd}, {"text", text}});
  };
  must(run("remember", here("the staging password is Hunter2 Winter")));
  const std::string exported(must(run("export", Json::object({{"all", true}})))["text"].as_string());
  must(run("forget", Json::object({{"cwd", chat.cwd}, {"ids", Json::array({"O1"})}})));
  must(m.drain());
  m.tell(chat.start());
  for (const Attack& attack : kAttacks) {
    const std::string text = attack.text;
    EXPECT_FALSE(run("remember", here(text)).ok()) << attack.name;
    m.deliver(chat.prompt("please note that " + text));
    m.deliver(chat.ran("echo '" + text + "'", attack.name));
    m.tell(chat.stop("I noted that " + text + "."));
  }
  const Forgotten forgotten = must(forget::load_forgotten(m.db(), m.engine->key(), 1));
  const auto expect_none = [&](const char* after) {
    std::int64_t texts = 0;
    must(store::walk_texts(m.db(), [&](const store::StoredText& stored) {
      ++texts;
      if (stored.table != "meta" && !forgotten.find(stored.text).empty())
        ADD_FAILURE() << after << ": " << stored.table << "." << stored.column << ": "
                      << stored.text.substr(0, 200);
    }));
    EXPECT_GT(texts, 100);
  };
  expect_none("stored");
  must(run("reindex", Json::object()));
  must(run("redistil", Json::object({{"all", true}, {"provider", "builtin"}})));
  must(m.drain());
  expect_none("reindex and redistil");
  must(m.open());
  m.put_file("/home/dev/old.json", exported);
  must(run("import.cairn", Json::object({{"file", "/home/dev/old.json"}})));
  must(m.drain());
  expect_none("restart and import");
  m.clock.advance(std::chrono::hours(24 * 200));
  must(m.engine->tick());
  must(m.drain());
  expect_none("retention");
  EXPECT_FALSE(run("remember", here("the staging password is Hunter2 Winter")).ok());
}

TEST(Forgotten, LeavesAParaphraseAndOtherSentencesAlone) {
  const Forgotten forgotten = with("the staging password is Hunter2 Winter");
  for (const char* text : {"Hunter2 Winter opens staging", "the staging server is down", "password rules",
                           "the production password is unknown", ""})
    EXPECT_EQ(without(forgotten, text), text);
}

TEST(Forgotten, FindsACopyThatWasCut) {
  const std::string said =
      "Please deploy the quokka service to the staging cluster with the new certificate, and then tell the "
      "team "
      "that the rollout of wombat 7 is finished and that the numbat jobs may run again.";
  const Forgotten forgotten = with(said);
  for (const std::size_t size : {60u, 90u, 130u}) {
    const std::string left = without(forgotten, "request: " + said.substr(0, size) + "…");
    EXPECT_EQ(left.find("quokka"), std::string::npos) << left;
    EXPECT_LT(left.size(), 40u) << left;
  }
}

TEST(Forgotten, AShortTextIsRemovedAsWholeWordsOnly) {
  const Forgotten forgotten = with("quokka-17", 4);
  EXPECT_EQ(without(forgotten, "the QUOKKA 17 is here"), "the [forgotten] is here");
  EXPECT_EQ(without(forgotten, "the quokka-170 is here"), "the quokka-170 is here");
}

TEST(Forgotten, ATextThatIsTooShortOnlyKeepsAnEqualRecordFromComingBack) {
  const Forgotten forgotten = with("use tabs");
  EXPECT_EQ(without(forgotten, "we use tabs here"), "we use tabs here");
  EXPECT_TRUE(forgotten.is_whole("Use  TABS."));
  EXPECT_FALSE(forgotten.is_whole("use tabs always"));
}

TEST(Forgotten, ASecretIsFoundWithItsPunctuationAndInsideAWord) {
  Forgotten forgotten(kKey);
  for (const Tombstone& tombstone : forgotten.of_secret("p@$$w0rd!Longer")) forgotten.add(tombstone);
  EXPECT_EQ(without(forgotten, "x=p@$$w0rd!Longer;"), "x=[forgotten];");
  EXPECT_EQ(without(forgotten, "x=pw0rdLonger;"), "x=pw0rdLonger;");
}

TEST(Forgotten, AnotherKeyKnowsNothing) {
  const Forgotten forgotten = with("the staging password is Hunter2 Winter");
  Forgotten other(std::string(32, 'x'));
  for (const Tombstone& tombstone : forgotten.of_text("the staging password is Hunter2 Winter", 12))
    other.add(tombstone);
  const std::string text = "the staging password is Hunter2 Winter";
  EXPECT_EQ(without(other, text), text);
}

TEST(Forgotten, TheGateRemovesItOnEveryWayAndRefusesAForgottenSession) {
  auto forgotten = std::make_shared<Forgotten>(kKey);
  for (const Tombstone& tombstone : forgotten->of_text("the wombat contract of 2031", 12))
    forgotten->add(tombstone);
  forgotten->add(forgotten->of_session("a-host", "abc"));
  Rules rules;
  rules.secrets.key = kKey;
  rules.forgotten = forgotten;
  const Gate gate(rules);
  EXPECT_EQ(gate.clean("see The Wombat  Contract of 2031!", Way::model), "see [forgotten]!");
  event::Event event;
  event.host = "a-host";
  event.session.value = "abd";
  event.kind = event::Kind::prompt;
  event.prompt = "read the wombat contract of 2031";
  event.tool_response = Json::object({{"out", "THE WOMBAT CONTRACT OF 2031"}});
  const auto verdict = gate.pass(event, 1000);
  const auto* passed = std::get_if<Gate::Passed>(&verdict);
  ASSERT_NE(passed, nullptr);
  EXPECT_EQ(passed->event->prompt, "read [forgotten]");
  EXPECT_EQ(passed->event->tool_response["out"].as_string(), "[forgotten]");
  event.session.value = "abc";
  EXPECT_TRUE(std::holds_alternative<Refusal>(gate.pass(event, 1000)));
}

}  // namespace
}  // namespace cairn::gate
