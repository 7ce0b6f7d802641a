#include "gate/telling_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "gate/char_runs.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kLongest = 128;  // letters of a name that are looked at

// secretAccessKey, SECRET_ACCESS_KEY, secret-access-key: secret access key.
class Words {
 public:
  explicit Words(std::string_view name) {
    std::size_t size = 0;
    bool open = false;
    for (std::size_t i = 0; i < name.size() && size < kLongest; ++i) {
      const bool upper = name[i] >= 'A' && name[i] <= 'Z';
      const bool after_lower = i > 0 && is(Chars::lower, name[i - 1]);
      const bool letter = is(Chars::alnum, name[i]);
      if (!letter || (upper && after_lower)) open = false;
      if (!letter) continue;
      if (!open) starts_[count_++] = static_cast<std::uint8_t>(size);
      open = true;
      letters_[size++] = static_cast<char>(upper ? name[i] + ('a' - 'A') : name[i]);
    }
    joined_ = std::string_view(letters_.data(), size);
  }
  Words(const Words&) = delete;

  std::size_t count() const { return count_; }
  std::string_view joined() const { return joined_; }
  std::string_view last() const { return joined_.substr(starts_[count_ - 1]); }
  std::string_view before_last() const {
    return joined_.substr(starts_[count_ - 2], starts_[count_ - 1] - starts_[count_ - 2]);
  }
  void drop_last() { joined_ = joined_.substr(0, starts_[--count_]); }

 private:
  // Not zeroed: this is made for every name of a text.
  std::array<char, kLongest> letters_;
  std::array<std::uint8_t, kLongest> starts_;
  std::size_t count_ = 0;
  std::string_view joined_;
};

// Words that say nothing about what the name stands for.
constexpr auto kNeutral = std::to_array<std::string_view>(
    {"value",   "val",       "str",     "string",     "text", "base64",      "b64",       "raw",
     "plain",   "plaintext", "prod",    "production", "dev",  "development", "staging",   "stage",
     "test",    "testing",   "live",    "old",        "new",  "primary",     "secondary", "main",
     "default", "current",   "base",    "env",        "var",  "encoded",     "hex",       "local",
     "a",       "b",         "sandbox", "master1"});
constexpr auto kPasswords = std::to_array<std::string_view>(
    {"password",   "passwd",    "passwort",    "passphrase", "passcode",   "pwd",      "pass",
     "pw",         "pswd",      "requirepass", "psk",        "masterauth", "secret",   "dbpass",
     "userpass",   "mysqlpass", "contrasena",  "motdepasse", "passe",      "kennwort", "senha",
     "wachtwoord", "haslo",     "parola",      "secreta"});
constexpr auto kTokens = std::to_array<std::string_view>(
    {"token", "apikey", "credential", "credentials", "creds", "auth", "authorization", "bearer", "jwt", "sid",
     "otp", "totp", "pat", "secrets", "accesstoken", "authtoken"});
constexpr auto kWeak =
    std::to_array<std::string_view>({"tokens", "salt", "pepper", "signature", "sig", "dsn"});
constexpr auto kKeysThatAreNone = std::to_array<std::string_view>(
    {"public", "pub",         "primary", "foreign", "cache",   "sort",        "partition",   "object",
     "row",    "group",       "lookup",  "hash",    "index",   "map",         "dict",        "json",
     "unique", "s3",          "bucket",  "routing", "msg",     "message",     "i18n",        "locale",
     "event",  "query",       "hot",     "arrow",   "enter",   "return",      "any",         "item",
     "node",   "edge",        "list",    "table",   "column",  "field",       "feature",     "flag",
     "config", "setting",     "header",  "param",   "react",   "translation", "idempotency", "registry",
     "ssh",    "publishable", "dedup",   "build",   "content", "checksum",    "file",        "blob",
     "image",  "asset",       "trie",    "dedupe"});
constexpr auto kSecretKeys = std::to_array<std::string_view>(
    {"api",         "access",  "secret",    "private",      "auth",    "signing", "encryption",
     "master",      "service", "shared",    "account",      "license", "admin",   "write",
     "deploy",      "client",  "app",       "application",  "session", "jwt",     "hmac",
     "crypto",      "root",    "webhook",   "subscription", "storage", "host",    "consumer",
     "server",      "cipher",  "aes",       "decryption",   "vault",   "token",   "security",
     "integration", "ingest",  "ingestion", "project",      "user"});

// What a word says of the name that it ends, or of the `key` behind it.
enum Meaning : std::uint8_t { neutral = 1, password = 2, token = 4, weak = 8, no_key = 16, secret_key = 32 };

// The words above by their meaning, in a table of our own: a look-up costs less than the comparisons.
class Dictionary {
 public:
  Dictionary() {
    const auto add = [&](const auto& list, Meaning meaning) {
      for (const std::string_view word : list) {
        Entry& entry = entries_[place(word)];
        entry.word = word;
        entry.meaning = static_cast<std::uint8_t>(entry.meaning | meaning);
      }
    };
    add(kNeutral, neutral);
    add(kPasswords, password);
    add(kTokens, token);
    add(kWeak, weak);
    add(kKeysThatAreNone, no_key);
    add(kSecretKeys, secret_key);
  }
  // Bits of Meaning.
  unsigned meaning(std::string_view word) const { return entries_[place(word)].meaning; }

 private:
  struct Entry {
    std::string_view word;
    std::uint8_t meaning = 0;
  };
  // Where it stands, or would stand.
  std::size_t place(std::string_view word) const {
    std::size_t at = word.size();
    for (const char c : word.substr(0, 16)) at = at * 31 + static_cast<unsigned char>(c);
    for (at %= kSize; !entries_[at].word.empty() && entries_[at].word != word;) at = (at + 1) % kSize;
    return at;
  }
  static constexpr std::size_t kSize = 1024;
  std::array<Entry, kSize> entries_;
};

unsigned meaning_of(std::string_view word) {
  static const Dictionary kDictionary;
  return kDictionary.meaning(word);
}

template <std::size_t N>
bool ends_with_one_of(std::string_view joined, const std::array<std::string_view, N>& list) {
  return !joined.empty() && std::any_of(list.begin(), list.end(), [&](std::string_view end) {
    return end.back() == joined.back() && joined.ends_with(end);
  });
}

bool ends_like_a_password(std::string_view joined) {
  static constexpr auto kEnds =
      std::to_array<std::string_view>({"password", "passwd", "passphrase", "secret", "pwd"});
  return ends_with_one_of(joined, kEnds);
}

bool ends_like_a_token(std::string_view joined) {
  static constexpr auto kEnds =
      std::to_array<std::string_view>({"token", "connectionstring", "sessionid", "authorization"});
  static constexpr auto kKeys =
      std::to_array<std::string_view>({"api", "secret", "access", "private", "auth", "master", "encryption",
                                       "signing", "shared", "account", "license", "session"});
  if (!joined.ends_with("key")) return ends_with_one_of(joined, kEnds);
  return ends_with_one_of(joined.substr(0, joined.size() - 3), kKeys);
}

}  // namespace

std::string_view kind_name(Strength strength) {
  return strength == Strength::password ? "password" : strength == Strength::token ? "token" : "key";
}

Strength strength_of(std::string_view name) {
  Words words(name);
  if (words.count() == 0) return Strength::none;
  unsigned meaning = meaning_of(words.last());
  while (words.count() > 1 &&
         ((meaning & neutral) != 0 || std::all_of(words.last().begin(), words.last().end(), is_digit))) {
    words.drop_last();
    meaning = meaning_of(words.last());
  }
  std::string_view last = words.last();
  if (last.size() > 4 && is_digit(last.back())) {
    while (last.size() > 4 && is_digit(last.back())) last.remove_suffix(1);
    meaning = meaning_of(last);
  }
  if ((meaning & password) != 0) return Strength::password;
  if ((meaning & token) != 0) return Strength::token;
  if ((meaning & weak) != 0) return Strength::weak;
  if (ends_like_a_password(last)) return Strength::password;
  if (ends_like_a_token(words.joined()) || ends_like_a_token(last)) return Strength::token;
  if (last != "key" || words.count() < 2) return Strength::none;
  const unsigned what_key = meaning_of(words.before_last());
  if ((what_key & secret_key) != 0) return Strength::token;
  return (what_key & no_key) != 0 ? Strength::none : Strength::weak;
}

const std::vector<std::string_view>& telling_literals() {
  static const std::vector<std::string_view> kLiterals = {"pass",
                                                          "pwd",
                                                          "secret",
                                                          "token",
                                                          "key",
                                                          "auth",
                                                          "cred",
                                                          "salt",
                                                          "cookie",
                                                          "bearer",
                                                          "jwt",
                                                          "sig",
                                                          "dsn",
                                                          "session",
                                                          "sid",
                                                          "otp",
                                                          "pepper",
                                                          "connectionstring",
                                                          "connection_string",
                                                          "contrasena",
                                                          "motdepasse",
                                                          "pswd",
                                                          "psk",
                                                          "kennwort",
                                                          "senha",
                                                          "wachtwoord",
                                                          "haslo",
                                                          "parola",
                                                          "_pat",
                                                          "_pw"};
  return kLiterals;
}

const std::vector<std::string_view>& foreign_names() {
  static const std::vector<std::string_view> kNames = {"contrase\u00f1a",
                                                       "l\u00f6senord",
                                                       "has\u0142o",
                                                       "\u043f\u0430\u0440\u043e\u043b\u044c",  // Russian
                                                       "\u041f\u0430\u0440\u043e\u043b\u044c",
                                                       "\u5bc6\u7801",
                                                       "\u5bc6\u78bc",                    // Chinese
                                                       "\u30d1\u30b9\u30ef\u30fc\u30c9",  // Japanese
                                                       "\ube44\ubc00\ubc88\ud638"};       // Korean
  return kNames;
}

}  // namespace cairn::gate
