// Secrets in different places: patches and listings of .env files and keys, JSON, values of any length.
#include <gtest/gtest.h>

#include "base/text.h"
#include "gate/corpus_random.h"
#include "gate/gate.h"
#include "unit/gate_cleaned.h"

namespace cairn::gate {
namespace {

using test::Random;

TEST(EnvFiles, AreKnownByTheirNames) {
  for (const char* name : {".env", "a/.env", ".env.local", "prod.ENV", ".env*", ".env.*", "/x/.envrc"})
    EXPECT_TRUE(is_env_file(name)) << name;
  for (const char* name :
       {".env.example", "a/sample.env", ".env.default", ".environment", "env", ".env.dist"})
    EXPECT_FALSE(is_env_file(name)) << name;
  EXPECT_TRUE(is_env_file(".env.distribution"));
}

TEST(EnvFiles, TheirLinesAreKnownInAPatchAndAListing) {
  for (const char* line :
       {"+MYSTERY=zK4!pQ9w", "-MYSTERY=zK4!pQ9w", "     1\u2192MYSTERY=zK4!pQ9w", "12:MYSTERY=zK4!pQ9w",
        "  3 \u2502 export MYSTERY='zK4!pQ9w'", "config/.env:12:MYSTERY=zK4!pQ9w", "+ MYSTERY = zK4!pQ9w"})
    EXPECT_EQ(cleaned(line, true).find("zK4!pQ9w"), std::string::npos) << line;
}

TEST(EnvFiles, TheTextItselfMaySayWhichLinesAreOfOne) {
  const std::string out = cleaned(
      "diff --git a/main.c b/main.c\n--- a/main.c\n+++ b/main.c\n+MYSTERY=aK4!pQ9w\n"
      "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-MYSTERY=oP9!xxkd\n+MYSTERY=zK4!pQ9w\n"
      "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n+MYSTERY=bK4!pQ9w\n"
      "==> prod/.env <==\nMYSTERY=cK4!pQ9w\n==> notes <==\nMYSTERY=dK4!pQ9w\n"
      "./.env:3:MYSTERY=eK4!pQ9w\n./notes:3:MYSTERY=fK4!pQ9w\n");
  for (const char* hidden : {"oP9!xxkd", "zK4!pQ9w", "cK4!pQ9w", "eK4!pQ9w"})
    EXPECT_EQ(out.find(hidden), std::string::npos) << hidden << "\n" << out;
  for (const char* kept : {"aK4!pQ9w", "bK4!pQ9w", "dK4!pQ9w", "fK4!pQ9w"})
    EXPECT_NE(out.find(kept), std::string::npos) << kept << "\n" << out;
}

TEST(LongSecrets, AreRemovedWhole) {
  for (const std::size_t length : {900u, 1100u, 2000u, 5000u, 50'000u}) {
    const std::string value = Random(length).of(test::kAlnum, length);
    for (const std::string& text :
         {"Authorization: Bearer " + value, "AWS_SESSION_TOKEN=" + value,
          "\"access_token\": \"" + value + "\"", "Authorization: Negotiate " + value,
          "Cookie: session=" + value + "; a=b"}) {
      const std::string out = cleaned("before " + text + "\nand after");
      EXPECT_EQ(out.find(value.substr(value.size() - 12)), std::string::npos) << text.substr(0, 30) << length;
      EXPECT_NE(out.find("before "), std::string::npos);
      EXPECT_TRUE(out.ends_with("\nand after")) << out.substr(0, 200);
    }
    Json json = Json::object({{"access_token", value}});
    EXPECT_EQ(secrets().remove(json), 1u) << length;
    EXPECT_EQ(json.dump().find(value.substr(value.size() - 12)), std::string::npos);
  }
}

TEST(LongSecrets, OfManyCookiesEachGoes) {
  Random random(7);
  std::string text = "Cookie: ";
  std::vector<std::string> values;
  for (int i = 0; i < 200; ++i) {
    values.push_back(random.of(test::kAlnum, 40));
    text += "c" + std::to_string(i) + "=" + values.back() + "; ";
  }
  const std::string out = cleaned(text);
  for (const std::string& value : values) EXPECT_EQ(out.find(value), std::string::npos) << value;
}

TEST(PrivateKeys, AreRemovedFromAnyListing) {
  Random random(11);
  std::vector<std::string> key = {"-----BEGIN RSA PRIV" + std::string("ATE KEY-----")};
  for (int i = 0; i < 12; ++i) key.push_back(random.of(test::kBase64, 64));
  key.push_back("-----END RSA PRIV" + std::string("ATE KEY-----"));
  using Prefix = std::string (*)(int);
  const Prefix prefixes[] = {
      [](int n) { return std::string(n < 10 ? "     " : "    ") + std::to_string(n) + "\u2192"; },
      [](int n) { return std::to_string(n) + ":"; },
      [](int n) { return "keys/id_rsa:" + std::to_string(n) + ":"; },
      [](int) { return std::string("keys/id_rsa:"); },
      [](int n) { return "  " + std::to_string(n) + " \u2502 "; },
      [](int n) { return "2026-11-16T09:00:" + std::to_string(10 + n) + ".1234567Z "; },
      [](int n) {
        return "8f3a1b" + std::to_string(n) + "c (Dev 2026-01-01 10:00:00 +0100 " + std::to_string(n) + ") ";
      },
      [](int n) { return std::string(n == 1 ? "echo " : ""); },
  };
  for (const Prefix prefix : prefixes) {
    std::string text = "first line\n";
    for (std::size_t i = 0; i < key.size(); ++i) text += prefix(static_cast<int>(i) + 1) + key[i] + "\n";
    const std::string out = cleaned(text + "last line\n");
    for (const std::string& line : key) EXPECT_EQ(out.find(line.substr(0, 20)), std::string::npos) << out;
    EXPECT_TRUE(out.starts_with("first line\n")) << out;
    EXPECT_TRUE(out.ends_with("last line\n")) << out;
  }
  std::string page;
  for (const std::string& line : key) page += line + "<br/>";
  EXPECT_EQ(cleaned(page).find(key[5]), std::string::npos);
}

TEST(JsonSecrets, AreKnownByTheNameBesideOrAroundThem) {
  const std::string value = Random(3).of(test::kAlnum, 32), typed =
                                                                "Granite@58"
                                                                "13!";
  for (const std::string& secret : {value, typed})
    for (Json json : {
             Json::array({Json::object({{"name", "DB_PASSWORD"}, {"value", secret}})}),
             Json::object({{"value", secret}, {"name", "DB_PASSWORD"}}),
             Json::object({{"Key", "db.password"}, {"Value", secret}}),
             Json::object({{"password", Json::array({secret})}}),
             Json::object({{"password", Json::object({{"value", secret}})}}),
             Json::array({"DB_PASSWORD", secret}),
         }) {
      EXPECT_EQ(secrets().remove(json), 1u) << json.dump();
      EXPECT_EQ(json.dump().find(secret), std::string::npos) << json.dump();
    }
  for (Json json : {Json::object({{"name", "Authorization"}, {"value", "Bearer " + value}}),
                    Json::object({{"name", "Cookie"}, {"value", "sid=" + value + "; theme=dark"}}),
                    Json::object({{"Cookie", "theme=dark; sid=" + value}})}) {
    EXPECT_EQ(secrets().remove(json), 1u) << json.dump();
    EXPECT_EQ(json.dump().find(value), std::string::npos) << json.dump();
  }
}

TEST(JsonSecrets, TheWholeValueOfAMemberIsReplaced) {
  const std::string word = "Granite" + std::string("!2024");
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"password", "Pä" + word},
                                    {"password", word + "ü!x"},
                                    {"password", word + "\nSecond!7"},
                                    {"SSHPASS", word + " sshpass -e ssh a@b"},
                                    {"pat", Random(8).of(test::kAlnum, 52)},
                                    {"azurePat", Random(9).of(test::kAlnum, 52)},
                                    {"Client Key", Random(10).of(test::kAlnum, 40)}}) {
    Json json = Json::object({{name, value}});
    EXPECT_EQ(secrets().remove(json), 1u) << name;
    for (const std::string& part : {value.substr(0, 8), value.substr(2, 8)})
      EXPECT_EQ(json.dump().find(part), std::string::npos) << json.dump();
    EXPECT_EQ(json.dump().find("Second"), std::string::npos) << json.dump();
  }
}

TEST(JsonSecrets, ANumberMayBeAPassword) {
  Json json =
      Json::object({{"password", 1737150727288}, {"password_changed_at", 1737150727288}, {"pwd", 12}});
  EXPECT_EQ(secrets().remove(json), 1u) << json.dump();
  EXPECT_NE(json.dump().find("\"password_changed_at\":1737150727288"), std::string::npos) << json.dump();
}

TEST(JsonSecrets, WhatIsTypedIntoAFieldForAPasswordIsOne) {
  Json json =
      Json::object({{"element", "Password input"}, {"ref", "e5"}, {"text", "Maple" + std::string("$2639x")}});
  EXPECT_EQ(secrets().remove(json), 1u) << json.dump();
}

TEST(SplitSecrets, AllPartsAreRemoved) {
  Random random(21);
  const std::string a = random.of(test::kAlnum, 20), b = random.of(test::kAlnum, 20);
  for (const std::string& text :
       {"TOKEN = \"ghp_" + a.substr(2) + "\" \\\n  \"" + b.substr(2) + "\"",
        "token = ('" + a + "'\n         '" + b + "')", "token: >-\n  " + a + "\n  " + b + "\nnext: value\n",
        "const k = \"sk-" + a + "\" + \"" + b + "\";", "apiKey = '" + a + "' . '" + b + "';",
        "api_key = \"" + a + "\"\n    \"" + b + "\""}) {
    const std::string out = cleaned(text);
    EXPECT_EQ(out.find(a.substr(4)), std::string::npos) << text << "\n" << out;
    EXPECT_EQ(out.find(b.substr(4)), std::string::npos) << text << "\n" << out;
  }
  EXPECT_TRUE(cleaned("token: >-\n  " + a + "\nnext: value2345\n").ends_with("\nnext: value2345\n"));
  EXPECT_NE(cleaned("token = \"" + a + "\" + \"and some words\"").find("some words"), std::string::npos);
}

TEST(JsonSecrets, WhatIsHarmlessStays) {
  for (const Json& json :
       {Json::object({{"name", "password"}, {"value", "must have at least 8 characters"}}),
        Json::object({{"name", "token"}, {"type", "string"}, {"value", ""}}),
        Json::object({{"key", "Content-Type"}, {"value", "application/json"}}),
        Json::object({{"name", "left-pad"}, {"data", "sha512-" + Random(4).of(test::kBase64, 86)}}),
        Json::array({"password", "required"}), Json::array({"token", "string"}),
        Json::object({{"password", Json::object({{"type", "string"}, {"default", ""}})}}),
        Json::object({{"tokens", Json::array({"import", "export", "const"})}}),
        Json::object({{"key", "src/app/main.ts"}, {"value", Random(5).of(test::kHex, 40)}})}) {
    Json copy = json;
    EXPECT_EQ(secrets().remove(copy), 0u) << copy.dump();
  }
}

}  // namespace
}  // namespace cairn::gate
