#include "gate/telling_names.h"

#include <algorithm>
#include <array>

namespace cairn::gate {

namespace {

constexpr std::size_t kLongest = 128;  // letters of a name that are looked at

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}
template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// secretAccessKey, SECRET_ACCESS_KEY, secret-access-key: secret access key. At most the last eight words.
struct Words {
  std::array<char, kLongest> letters{};
  std::array<std::string_view, 8> list;
  std::size_t count = 0;
  std::string_view joined;

  explicit Words(std::string_view name) {
    std::array<std::size_t, kLongest> starts{};
    std::size_t size = 0, words = 0;
    bool open = false;
    for (std::size_t i = 0; i < name.size() && size < letters.size(); ++i) {
      const bool upper = name[i] >= 'A' && name[i] <= 'Z';
      const bool after_lower = i > 0 && ((name[i - 1] >= 'a' && name[i - 1] <= 'z') || is_digit(name[i - 1]));
      if (!is_alnum(name[i]) || (upper && after_lower)) open = false;
      if (!is_alnum(name[i])) continue;
      if (!open) starts[words++] = size;
      open = true;
      letters[size++] = static_cast<char>(upper ? name[i] + ('a' - 'A') : name[i]);
    }
    joined = std::string_view(letters.data(), size);
    for (std::size_t i = words - std::min(words, list.size()); i < words; ++i)
      list[count++] = joined.substr(starts[i], (i + 1 < words ? starts[i + 1] : size) - starts[i]);
  }
  Words(const Words&) = delete;
  void drop_last() {
    joined.remove_suffix(list[count - 1].size());
    --count;
  }
  std::string_view last(std::size_t before = 0) const { return list[count - 1 - before]; }
};

// Words that say nothing about what the name stands for.
constexpr auto kNeutral = std::to_array<std::string_view>(
    {"value",   "val",       "str",     "string",     "text", "base64",      "b64",       "raw",
     "plain",   "plaintext", "prod",    "production", "dev",  "development", "staging",   "stage",
     "test",    "testing",   "live",    "old",        "new",  "primary",     "secondary", "main",
     "default", "current",   "base",    "env",        "var",  "encoded",     "hex",       "local",
     "a",       "b",         "sandbox", "master1"});
constexpr auto kPasswords = std::to_array<std::string_view>(
    {"password", "passwd", "passwort", "passphrase", "passcode", "pwd", "pass", "pw", "pswd", "requirepass",
     "masterauth", "secret", "dbpass", "userpass", "mysqlpass", "contrasena", "motdepasse"});
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

bool ends_like_a_password(std::string_view joined) {
  for (const std::string_view end : {"password", "passwd", "passphrase", "secret", "pwd"})
    if (joined.ends_with(end)) return true;
  return false;
}

bool ends_like_a_token(std::string_view joined) {
  for (const std::string_view end :
       {"token", "apikey", "secretkey", "accesskey", "privatekey", "authkey", "masterkey", "encryptionkey",
        "signingkey", "sharedkey", "accountkey", "licensekey", "sessionkey", "connectionstring", "sessionid",
        "authorization"})
    if (joined.ends_with(end)) return true;
  return false;
}

}  // namespace

std::string_view kind_name(Strength strength) {
  return strength == Strength::password ? "password" : strength == Strength::token ? "token" : "key";
}

Strength strength_of(std::string_view name) {
  Words words(name);
  while (words.count > 1 &&
         (one_of(words.last(), kNeutral) || std::all_of(words.last().begin(), words.last().end(), is_digit)))
    words.drop_last();
  if (words.count == 0) return Strength::none;
  std::string_view last = words.last();
  while (last.size() > 4 && is_digit(last.back())) last.remove_suffix(1);
  if (one_of(last, kPasswords)) return Strength::password;
  if (one_of(last, kTokens)) return Strength::token;
  if (one_of(last, kWeak)) return Strength::weak;
  if (ends_like_a_password(last)) return Strength::password;
  if (ends_like_a_token(words.joined) || ends_like_a_token(last)) return Strength::token;
  if (last != "key" || words.count < 2) return Strength::none;
  if (one_of(words.last(1), kSecretKeys)) return Strength::token;
  return one_of(words.last(1), kKeysThatAreNone) ? Strength::none : Strength::weak;
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
                                                          "_pat",
                                                          "_pw"};
  return kLiterals;
}

}  // namespace cairn::gate
