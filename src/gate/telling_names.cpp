#include "gate/telling_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "gate/char_runs.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kLongest = 128;  // letters of a name that are looked at

// Letters and digits of a name, small, the last one in the lowest bits: sixteen of them are enough to tell
// words and endings, in two comparisons.
struct Letters {
  std::uint64_t low = 0, high = 0;
  std::size_t size = 0;  // with those that had no room

  constexpr void put_before(char c) {
    const std::uint64_t letter = static_cast<unsigned char>(c) | 0x20u;
    if (size < 8)
      low |= letter << 8 * size;
    else if (size < 16)
      high |= letter << 8 * (size - 8);
    ++size;
  }
};

constexpr Letters letters_of(std::string_view word) {
  Letters out;
  for (std::size_t i = word.size(); i > 0; --i) out.put_before(word[i - 1]);
  return out;
}

struct Word {
  std::string_view text;
  Letters letters;
};

// secretAccessKey, SECRET_ACCESS_KEY, secret-access-key: key, access, secret. From the end, because the last
// words of a name tell, and a name may be long.
class Words {
 public:
  explicit Words(std::string_view name) : name_(name) {
    if (name_.size() > kLongest) cut();
    skip_signs();
  }

  bool more() const { return !name_.empty(); }
  // `end` with the letters of the words that stand before it.
  Letters joined(Letters end) const {
    for (std::size_t i = name_.size(); i > 0 && end.size < 16; --i)
      if (is(Chars::alnum, name_[i - 1])) end.put_before(name_[i - 1]);
    return end;
  }
  Word next() {
    Word word;
    std::size_t begin = name_.size();
    do word.letters.put_before(name_[--begin]);
    while (begin > 0 && is(Chars::alnum, name_[begin - 1]) && !(is_upper(begin) && is_lower(begin - 1)));
    word.text = name_.substr(begin);
    name_.remove_suffix(name_.size() - begin);
    skip_signs();
    return word;
  }

 private:
  bool is_upper(std::size_t i) const { return name_[i] >= 'A' && name_[i] <= 'Z'; }
  bool is_lower(std::size_t i) const { return is(Chars::lower, name_[i]); }
  void skip_signs() {
    while (!name_.empty() && !is(Chars::alnum, name_.back())) name_.remove_suffix(1);
  }
  void cut() {
    std::size_t end = 0;
    for (std::size_t letters = 0; end < name_.size() && letters < kLongest; ++end)
      letters += is(Chars::alnum, name_[end]) ? 1 : 0;
    name_ = name_.substr(0, end);
  }
  std::string_view name_;
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
     "wachtwoord", "haslo",     "parola",      "secreta",    "passord",    "salasana", "heslo",
     "sifre",      "jelszo",    "adgangskode", "losenord",   "bindpw",     "rootpw",   "pgpass",
     "sshpass",    "smtppass",  "ftppass",     "adminpass",  "rootpass"});
constexpr auto kTokens = std::to_array<std::string_view>(
    {"token", "apikey", "credential", "credentials", "creds", "auth", "authorization", "bearer", "jwt", "sid",
     "otp", "totp", "pat", "secrets", "accesstoken", "authtoken"});
constexpr auto kWeak =
    std::to_array<std::string_view>({"tokens", "salt", "pepper", "signature", "sig", "dsn"});
constexpr auto kKeysThatAreNone = std::to_array<std::string_view>(
    {"public", "pub",         "primary", "foreign", "cache",     "sort",        "partition",   "object",
     "row",    "group",       "lookup",  "hash",    "index",     "map",         "dict",        "json",
     "unique", "s3",          "bucket",  "routing", "msg",       "message",     "i18n",        "locale",
     "event",  "query",       "hot",     "arrow",   "enter",     "return",      "any",         "item",
     "node",   "edge",        "list",    "table",   "column",    "field",       "feature",     "flag",
     "config", "setting",     "header",  "param",   "react",     "translation", "idempotency", "registry",
     "ssh",    "publishable", "dedup",   "build",   "content",   "checksum",    "file",        "blob",
     "image",  "asset",       "trie",    "dedupe",  "websocket", "socket",      "gpg",         "pgp",
     "site"});
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
  constexpr Dictionary() {
    const auto add = [&](const auto& list, Meaning meaning) {
      for (const std::string_view word : list) {
        const Letters letters = letters_of(word);
        Entry& entry = entries_[place(letters)];
        entry.low = letters.low;
        entry.high = letters.high;
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
  // Bits of Meaning. None of the words above is longer than what is compared.
  constexpr unsigned meaning(const Letters& word) const {
    return word.size <= 16 ? entries_[place(word)].meaning : 0u;
  }

 private:
  struct Entry {
    std::uint64_t low = 0, high = 0;
    std::uint8_t meaning = 0;
  };
  // Where it stands, or would stand.
  constexpr std::size_t place(const Letters& word) const {
    std::size_t at = (word.low * 0x9e3779b97f4a7c15u + word.high * 0xc2b2ae3d27d4eb4fu) >> 55;
    while (entries_[at].low != 0 && (entries_[at].low != word.low || entries_[at].high != word.high))
      at = (at + 1) % kSize;
    return at;
  }
  static constexpr std::size_t kSize = 512;
  std::array<Entry, kSize> entries_{};
};
constexpr Dictionary kDictionary;

// What names may end with.
template <std::size_t N>
class Endings {
 public:
  // Each of `list`, and `behind` behind it.
  constexpr explicit Endings(const std::array<std::string_view, N>& list, std::string_view behind = "") {
    for (std::size_t i = 0; i < N; ++i) {
      for (const std::string_view part : {behind, list[i]})
        for (std::size_t k = part.size(); k > 0; --k) {
          ends_[i].letters.put_before(part[k - 1]);
          ends_[i].mask.put_before('\xff');
        }
      last_ |= 1u << (ends_[i].letters.low & 31);
    }
  }
  bool end(const Letters& name) const {
    return (last_ >> (name.low & 31) & 1) != 0 &&
           std::any_of(ends_.begin(), ends_.end(), [&](const Ending& end) {
             return ((name.low ^ end.letters.low) & end.mask.low) == 0 &&
                    ((name.high ^ end.letters.high) & end.mask.high) == 0;
           });
  }

 private:
  struct Ending {
    Letters letters, mask;  // compared where the mask has bits
  };
  std::array<Ending, N> ends_;
  std::uint32_t last_ = 0;  // letters: most names end with none of them
};

bool ends_like_a_password(const Letters& word) {
  static constexpr Endings kEnds(std::to_array<std::string_view>(
      {"password", "passwd", "passphrase", "secret", "pwd", "storepass", "keypass"}));
  return kEnds.end(word);
}

// Whether it ends with `key`, at least.
bool is_key(const Letters& name) {
  return (name.low & 0xffffff) == letters_of("key").low;
}

bool ends_like_a_token(const Letters& name) {
  static constexpr Endings kEnds(std::to_array<std::string_view>(
      {"token", "connectionstring", "sessionid", "authorization", "clientkeydata"}));
  static constexpr Endings kKeys(
      std::to_array<std::string_view>({"api", "secret", "access", "private", "auth", "master", "encryption",
                                       "shared", "account", "license", "session"}),
      "key");
  return is_key(name) ? name.size > 3 && kKeys.end(name) : kEnds.end(name);
}

// `word` without the digits behind it, but four letters at least.
std::string_view without_number(std::string_view word) {
  while (word.size() > 4 && is_digit(word.back())) word.remove_suffix(1);
  return word;
}

// nextPageToken: where a list goes on. CallSid: a number, as ids are. Neither opens anything.
bool is_no_secret(std::string_view name) {
  static constexpr auto kPlaces = std::to_array<std::string_view>(
      {"next", "page", "continuation", "continue", "pagination", "cursor", "sync", "resume", "clientrequest",
       "client_request", "cancellation", "lock", "fencing", "scroll", "delta"});
  const char last = name.empty() ? '\0' : name.back();
  if (last == 'd') return name.size() > 3 && name.ends_with("Sid") && is(Chars::lower, name[name.size() - 4]);
  if ((last != 'n' && last != 'N') || !ends_with_nocase(name, "token")) return false;
  name.remove_suffix(5);
  while (!name.empty() && !is(Chars::alnum, name.back())) name.remove_suffix(1);
  // The page of a company has a token, too.
  if (ends_with_nocase(name, "facebook_page") || ends_with_nocase(name, "fb_page")) return false;
  return !name.empty() && std::any_of(kPlaces.begin(), kPlaces.end(),
                                      [&](std::string_view place) { return ends_with_nocase(name, place); });
}

}  // namespace

bool ends_with_nocase(std::string_view name, std::string_view end) {
  // Mostly the last letter tells.
  return name.size() >= end.size() && (name.back() | 0x20) == end.back() &&
         starts_with_nocase(name.substr(name.size() - end.size()), end);
}

std::string_view kind_name(Strength strength) {
  return strength == Strength::password ? "password" : strength == Strength::token ? "token" : "key";
}

Strength strength_of(std::string_view name) {
  Words words(name);
  if (!words.more()) return Strength::none;
  Word last = words.next();
  unsigned meaning = kDictionary.meaning(last.letters);
  while (words.more() &&
         ((meaning & neutral) != 0 || std::all_of(last.text.begin(), last.text.end(), is_digit))) {
    last = words.next();
    meaning = kDictionary.meaning(last.letters);
  }
  const std::string_view bare = without_number(last.text);
  const bool numbered = bare.size() < last.text.size();
  if (numbered) {
    last.letters = letters_of(bare);
    meaning = kDictionary.meaning(last.letters);
  }
  if ((meaning & password) != 0) return Strength::password;
  if ((meaning & token) != 0) return words.more() && is_no_secret(name) ? Strength::none : Strength::token;
  if ((meaning & weak) != 0) return Strength::weak;
  if (ends_like_a_password(last.letters)) return Strength::password;
  if (ends_like_a_token(numbered ? last.letters : words.joined(last.letters))) return Strength::token;
  if (bare.size() != 3 || !is_key(last.letters) || !words.more()) return Strength::none;
  const unsigned what_key = kDictionary.meaning(words.next().letters);
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
                                                          "salasana",
                                                          "heslo",
                                                          "sifre",
                                                          "jelszo",
                                                          "adgangskode",
                                                          "losenord",
                                                          "bindpw",
                                                          "rootpw",
                                                          "_pat",
                                                          "_pw",
                                                          "pw:",
                                                          "pw ",
                                                          "pw\"",
                                                          "pw="};
  return kLiterals;
}

const std::vector<std::string_view>& foreign_names() {
  static const std::vector<std::string_view> kNames = {
      "contrase\u00f1a",
      "l\u00f6senord",
      "has\u0142o",
      "\u043f\u0430\u0440\u043e\u043b\u044c",  // Russian
      "\u041f\u0430\u0440\u043e\u043b\u044c",
      "\u5bc6\u7801",
      "\u5bc6\u78bc",                                                  // Chinese
      "\u30d1\u30b9\u30ef\u30fc\u30c9",                                // Japanese
      "\ube44\ubc00\ubc88\ud638",                                      // Korean
      "\u53e3\u4ee4",                                                  // Chinese
      "\u015fifre",                                                    // Turkish
      "parol\u0103",                                                   // Romanian
      "jelsz\u00f3",                                                   // Hungarian
      "m\u1eadt kh\u1ea9u",                                            // Vietnamese
      "\u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2",                    // Greek
      "\u05e1\u05d9\u05e1\u05de\u05d4",                                // Hebrew
      "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631"  // Arabic
  };
  return kNames;
}

}  // namespace cairn::gate
