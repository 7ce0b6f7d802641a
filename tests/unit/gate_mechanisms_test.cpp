// What holds for every rule: how far a removal reaches, what the notation decides, what is known from before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gate/corpus_random.h"
#include "gate/gate.h"
#include "gate/private_text.h"
#include "gate/secrets.h"
#include "unit/gate_cleaned.h"

namespace cairn::gate {
namespace {

using test::Random;

TEST(SecretReach, ATokenGoesToItsEndWhicheverRuleFindsIt) {
  Random random(1);
  const std::vector<std::string> tokens = {
      "sk-" + std::string("proj-") + random.of(test::kUrlSafe, 156),
      "ATATT3" + std::string("xFfGF0") + random.of(test::kAlnum, 180),
      "ey" + std::string("J") + random.of(test::kAlnum, 40) + ".eyJ" + random.of(test::kAlnum, 90) + "." +
          random.of(test::kUrlSafe, 86),
      "gh" + std::string("p_") + random.of(test::kAlnum, 36),
      "github" + std::string("_pat_") + random.of(test::kAlnum, 82),
      "ya29" + std::string(".") + random.of(test::kUrlSafe, 180),
      "xox" + std::string("b-") + random.of(test::kDigits, 12) + "-" + random.of(test::kAlnum, 24)};
  for (const char* form :
       {"the api key for the demo is @@", "the token is @@ and nothing else",
        "curl -u a:@@ https://host.test/", "password: @@", "login(\"u\", \"@@\")", "mysql -u root -p@@ shop",
        "use @@ as the token", "TOKEN=@@", "the password for the staging db is @@", "<password>@@</password>",
        "https://u:@@@host.test/", "sshpass -p @@ ssh host", "--token @@", "Authorization: Bearer @@"})
    for (const std::string& token : tokens) {
      const std::string out = cleaned(filled(form, token));
      for (std::size_t at = 0; at + 12 <= token.size(); at += 4)
        ASSERT_EQ(out.find(token.substr(at, 12)), std::string::npos) << form << "\n"
                                                                     << token << "\n-> " << out;
    }
}

TEST(SecretReach, ARunThatIsTooLongToJudgeIsRemovedBesideATellingName) {
  for (const std::size_t length : {161u, 201u, 513u, 1025u, 5000u}) {
    const std::string value = Random(length).of(test::kAlnum, length);
    for (const char* form : {"secret: @@", "password=@@", "<password>@@</password>", "mysql -p@@ shop",
                             "login(\"u\", \"@@\")", "https://u:@@@host.test/", "sshpass -p @@ ssh host",
                             "\"password\": \"@@\"", "curl -u a:@@ https://host.test"}) {
      const std::string out = cleaned(filled(form, value));
      EXPECT_EQ(out.find(value.substr(length - 20)), std::string::npos) << form << " " << length;
      EXPECT_EQ(out.find(value.substr(0, 20)), std::string::npos) << form << " " << length;
    }
  }
}

TEST(SecretNotation, AnyValueInAPasswordNotationIsRemoved) {
  for (const char* form : {"sshpass -p @@ ssh root@host",
                           "mysql -u root -p@@ shop",
                           "curl -u admin:@@ https://host.test/",
                           "curl --user admin:@@ https://host.test/",
                           "htpasswd -b /etc/nginx/.htpasswd admin @@",
                           "htpasswd -bc .htpasswd admin @@",
                           "keytool -list -keystore a.jks -storepass @@",
                           "  POSTGRES_PASSWORD: @@",
                           "DB_PASSWORD=@@",
                           "spring.datasource.password=@@",
                           "MYSQL_ROOT_PASSWORD: \"@@\"",
                           "CREATE USER 'app'@'%' IDENTIFIED BY '@@';",
                           "ALTER USER app WITH PASSWORD '@@';",
                           "ALTER ROLE app PASSWORD '@@';",
                           "machine api.host.test login dev password @@",
                           "define('DB_PASSWORD', '@@');",
                           "define( 'DB_PASSWORD', \"@@\" );",
                           "psk=@@",
                           "psk=\"@@\"",
                           "rocommunity @@",
                           "snmp-server community @@ RO",
                           "<password>@@</password>",
                           "<Password>@@</Password>"}) {
    EXPECT_EQ(cleaned(filled(form, "sunshine")).find("sunshine"), std::string::npos) << form;
    for (const char* spared : {"${DB_PASS}", "changeme", "<your-password>", "$DB_PASS"}) {
      const std::string text = filled(form, spared);
      EXPECT_EQ(cleaned(text), text);
    }
  }
}

TEST(SecretNotation, BothPartsOfAKeyAndTheFormsThatToolsPrintAreRemoved) {
  Random random(3);
  const std::string id = "AKIA" + random.of(test::kBase32, 16), key = random.of(test::kBase64, 40);
  for (const char* between : {" / ", ":", " ", "\n", ", "}) {
    const std::string out = cleaned(id + between + key);
    EXPECT_EQ(out.find(key), std::string::npos) << out;
    EXPECT_EQ(out.find(id), std::string::npos) << out;
  }
  const std::string account = random.of(test::kBase64, 86) + "==", hex = random.of(test::kHex, 32),
                    word = "tR7#kq92LmPw";
  for (const std::string& text :
       {"{\"keyName\": \"key1\", \"permissions\": \"FULL\", \"value\": \"" + account + "\"}",
        "key1\tFULL\t" + account, "$ cat config/master.key\n" + hex, "config/master.key: " + hex,
        "random_password.db.result = \"" + word + "\"",
        "\"type\": \"random_password\", \"attributes\": {\"length\": 12, \"result\": \"" + word + "\"}",
        "NAME      TOKEN                                     AGE\nbuild     " + hex.substr(0, 30) +
            "    3d\n",
        "| NAME | TOKEN |\n|---|---|\n| build | " + hex + " |"})
    for (const std::string& part : {account, hex.substr(0, 30), word})
      EXPECT_EQ(cleaned(text).find(part), std::string::npos) << cleaned(text);
}

TEST(SecretNotation, AHeadingMayStandWhereItsLineIsTooLongToBeRead) {
  for (std::size_t before = 390; before < 410; ++before) {
    const std::string text = std::string(before, 'x') + "  TOKEN  NAME\na  b\n";
    EXPECT_EQ(cleaned(text), text);
  }
}

TEST(SecretSentences, LettersAndDigitsBesideATellingWordAreEnough) {
  for (const char* form :
       {"the admin password is @@", "The admin password is @@, please rotate it.",
        "change the password from @@", "the db password - @@", "wifi password \u2014 @@",
        "use @@ as the password for staging", "the login is admin / @@", "mein Passwort ist @@",
        "le mot de passe est @@", "la contrase\u00f1a es @@", "a senha \u00e9 @@",
        "\u043f\u0430\u0440\u043e\u043b\u044c: @@", "\u5bc6\u7801\u662f @@", "try with password @@ please",
        "set the password for user bob to @@"})
    for (const char* value : {"Kx9mPq2vLw", "hT7bNq22wx"})
      EXPECT_EQ(cleaned(filled(form, value)).find(value), std::string::npos) << form;
  EXPECT_EQ(cleaned("I changed the root password to sunshine99").find("sunshine99"), std::string::npos);
}

TEST(SecretStrings, AreJoinedBeforeTheyAreJudged) {
  for (const char* text : {"const password = \"Kx9m\" + \"Pq2vLw\";", "password = (\"Kx9m\"  \"Pq2vLw\")",
                           "password = \"Kx9m\" .\n    \"Pq2vLw\""}) {
    const std::string out = cleaned(text);
    EXPECT_EQ(out.find("Kx9m"), std::string::npos) << out;
    EXPECT_EQ(out.find("Pq2vLw"), std::string::npos) << out;
  }
}

TEST(SecretSearch, LeavesAloneWhatOnlyLooksLikeASecret) {
  for (const char* text :
       {"ssh -i ~/.ssh/prod_key deploy@web1.host.test",
        "ssh -i KEY user@host",
        "{\"password\":\"Passwort\"}",
        "\"login.password\": \"Wachtwoord\"",
        "LOGIN_PASSWORD: \"Passwort\"",
        "SENTRY_DSN=https://9f2c1d4e8b7a4f5e8d3c2b1a0f9e8d7c@o123456.ingest.sentry.io/4501234",
        "STRIPE_KEY=pk_live_51HxYzKLmNoPqRsTuVwXyZ0123",
        "token-service-2.14.0-SNAPSHOT-jar-with-dependencies.jar",
        "date -u +%Y-%m-%dT%H:%M:%SZ",
        "now=$(date -u +%H:%M:%S)",
        "github.com/acme/token v0.0.0-20240102150405-abcdef123456",
        "sharedKey = HKDF(secret, salt, info, 32)",
        "password_reset-d41d8cd98f00b204e9800998ecf8427e.html",
        "the token is valid until 2026-03-02T10:21:07+01:00",
        "the password hash is stored as argon2id",
        "the token is base64url encoded",
        "login.password=schluessel",
        "docker run -u 1000:1000 alpine",
        "this.password = password;",
        "DB_PASSWORD: z.string().min(8)",
        "the secret name is prod-db-credentials-v2",
        "--password is required"})
    EXPECT_EQ(cleaned(text), text);
}

TEST(SecretMarkers, AreNeverTakenForSecrets) {
  for (const char* form :
       {"password=@@", "the password is @@", "https://u:@@@host.test/", "Cookie: sid=@@", "-p @@",
        "curl -u a:@@ x", "\"token\": \"@@\"", "login(\"u\", \"@@\")", "<password>@@</password>",
        "PASSWORD '@@'", "Authorization: Bearer @@", "sshpass -p @@ ssh", "DB_PASSWORD: @@"})
    for (const char* marker :
         {"[secret:password:1a2b3c4d]", "[secret:github-token:0a9b8c7d]", "[secret:known:12345678]"}) {
      const std::string text = filled(form, marker);
      EXPECT_TRUE(secrets().find(text).empty()) << text;
      EXPECT_TRUE(secrets().find(text, true).empty()) << text;
    }
}

TEST(PrivateTags, EscapedTwiceOpenPrivateTextToo) {
  for (const char* text : {"a &amp;lt;private&amp;gt;zebra&amp;lt;/private&amp;gt; b",
                           "a &amp;amp;lt;private&amp;amp;gt;zebra", "a &amp;#60;private&amp;#62;zebra"})
    EXPECT_EQ(std::string(remove_private(text).of(text)).find("zebra"), std::string::npos) << text;
  const char* const plain = "a &amp;amp; b &amp;copy; c &amp;lt;b&amp;gt;";
  EXPECT_EQ(remove_private(plain).of(plain), plain);
}

event::Event tool_event(const std::string& command, const std::string& output) {
  event::Event event;
  event.kind = event::Kind::tool;
  event.tool_name = "Bash";
  event.tool_input = Json::object({{"command", command}});
  event.tool_response = Json::object({{"stdout", output}});
  return event;
}

TEST(KnownSecrets, FoundOnceAreRemovedFromAllOfTheEvent) {
  const Gate gate(Rules{{}, {}, SecretOptions{{}, {}, std::string(32, 'k')}, {}});
  auto result = gate.pass(
      tool_event("login hT7bNq22wx now", "connected, DB_PASSWORD=hT7bNq22wx, hT7bNq22wxy stays"), 1 << 20);
  const auto& passed = std::get<Gate::Passed>(result);
  EXPECT_EQ(passed.event->tool_input["command"].as_string().find("hT7bNq22wx"), std::string_view::npos);
  EXPECT_NE(passed.event->tool_response["stdout"].as_string().find("hT7bNq22wxy stays"),
            std::string_view::npos)
      << "another word that begins alike is not it";
  EXPECT_EQ(passed.secrets, 2u);
  ASSERT_EQ(passed.learned.size(), 1u);
}

TEST(KnownSecrets, AreRemovedFromLaterEventsOfTheSession) {
  const Gate gate(Rules{{}, {}, SecretOptions{{}, {}, std::string(32, 'k')}, {}});
  KnownSecrets session;
  auto first =
      gate.pass(tool_event("psql", "DB_PASSWORD=hT7bNq22wx and DB_PASSWORD=sunshine"), 1 << 20, &session);
  for (const KnownSecret& secret : std::get<Gate::Passed>(first).learned) session.add(secret);
  auto later = gate.pass(tool_event("echo 'hT7bNq22wx' | tool x:hT7bNq22wx@y sunshine", "\"hT7bNq22wx\""),
                         1 << 20, &session);
  const auto& passed = std::get<Gate::Passed>(later);
  EXPECT_EQ(passed.event->tool_input.dump().find("hT7bNq22wx"), std::string::npos)
      << passed.event->tool_input.dump();
  EXPECT_EQ(passed.event->tool_response.dump().find("hT7bNq22wx"), std::string::npos);
  EXPECT_NE(passed.event->tool_input.dump().find("sunshine"), std::string::npos) << "a word is left alone";
  EXPECT_TRUE(passed.learned.empty());
  auto other = gate.pass(tool_event("echo hT7bNq22wx", ""), 1 << 20);
  EXPECT_NE(std::get<Gate::Passed>(other).event->tool_input.dump().find("hT7bNq22wx"), std::string::npos)
      << "another session knows nothing of it";
}

TEST(Placeholders, AreReportedByPolicyExplain) {
  const std::string text = "PORT=8080\nAPI_KEY=changeme\nid: AKIAIOSFODNN7EXAMPLE\n";
  const std::vector<Finding> kept = placeholders(text);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(text.substr(kept[0].begin, kept[0].end - kept[0].begin), "changeme");
  EXPECT_EQ(text.substr(kept[1].begin, kept[1].end - kept[1].begin), "AKIAIOSFODNN7EXAMPLE");
}

}  // namespace
}  // namespace cairn::gate
