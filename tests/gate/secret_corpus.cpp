#include "gate/secret_corpus.h"

#include <functional>

#include "gate/corpus_random.h"

namespace cairn::test {

std::string base64_of(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kBase64[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

namespace {

struct Shape {
  std::string group;
  std::string name;  // what it is called where it is set
  std::function<std::string(Random&)> make;
};

// prefix, alphabet, length
Shape token(std::string group, std::string name, std::string prefix, std::string_view alphabet,
            std::size_t length) {
  return {std::move(group), std::move(name),
          [prefix, alphabet, length](Random& random) { return prefix + random.of(alphabet, length); }};
}

std::vector<Shape> service_shapes() {
  return {
      token("cloud", "AWS_ACCESS_KEY_ID", "AKIA", kBase32, 16),
      token("cloud", "AWS_ACCESS_KEY_ID", "ASIA", kBase32, 16),
      token("cloud", "GOOGLE_API_KEY", "AIza", kUrlSafe, 35),
      token("cloud", "GOOGLE_TOKEN", "ya29.", kUrlSafe, 120),
      token("cloud", "GOOGLE_CLIENT_SECRET", "GOCSPX-", kUrlSafe, 28),
      {"cloud", "AZURE_CLIENT_SECRET",
       [](Random& l) { return l.of(kAlnum, 3) + "8Q~" + l.of(kUrlSafe, 34); }},
      token("cloud", "DO_TOKEN", "dop_v1_", kHex, 64),
      token("cloud", "DATABRICKS", "dapi", kHex, 32),
      token("cloud", "VERCEL", "vcp_", kAlnum, 40),
      token("cloud", "NETLIFY", "nfp_", kAlnum, 40),
      token("code hosting", "GITHUB_TOKEN", "ghp_", kAlnum, 36),
      token("code hosting", "GITHUB_TOKEN", "ghs_", kAlnum, 36),
      token("code hosting", "GH_PAT", "github_pat_", kAlnum, 82),
      token("code hosting", "GITLAB_TOKEN", "glpat-", kUrlSafe, 20),
      token("code hosting", "RUNNER", "glrt-", kUrlSafe, 20),
      token("code hosting", "BITBUCKET", "ATBB", kAlnum, 32),
      token("code hosting", "ATLASSIAN", "ATATT3xFfGF0", kUrlSafe, 180),
      token("code hosting", "VAULT", "hvs.", kUrlSafe, 90),
      {"code hosting", "TFE", [](Random& l) { return l.of(kAlnum, 14) + ".atlasv1." + l.of(kUrlSafe, 67); }},
      {"chat", "SLACK",
       [](Random& l) {
         return "xoxb-" + l.of(kDigits, 12) + "-" + l.of(kDigits, 12) + "-" + l.of(kAlnum, 24);
       }},
      {"chat", "SLACK_APP",
       [](Random& l) {
         return "xapp-1-A" + l.of(kUpperDigits, 10) + "-" + l.of(kDigits, 13) + "-" + l.of(kHex, 64);
       }},
      {"chat", "DISCORD",
       [](Random& l) {
         return "MT" + l.of(kAlnum, 24) + "." + l.of(kUrlSafe, 6) + "." + l.of(kUrlSafe, 38);
       }},
      {"chat", "TELEGRAM", [](Random& l) { return "7" + l.of(kDigits, 9) + ":AA" + l.of(kUrlSafe, 33); }},
      {"chat", "SENDGRID", [](Random& l) { return "SG." + l.of(kUrlSafe, 22) + "." + l.of(kUrlSafe, 43); }},
      token("chat", "TWILIO", "SK", kHex, 32),
      token("chat", "MAILGUN", "key-", kHex, 32),
      {"chat", "MAILCHIMP", [](Random& l) { return l.of(kHex, 32) + "-us1" + l.of(kDigits, 1); }},
      token("payment", "STRIPE", "sk_live_", kAlnum, 24),
      token("payment", "STRIPE", "sk_test_", kAlnum, 99),
      token("payment", "STRIPE_HOOK", "whsec_", kAlnum, 32),
      token("payment", "SHOPIFY", "shpat_", kHex, 32),
      token("payment", "SQUARE", "sq0csp-", kUrlSafe, 43),
      token("payment", "RAZORPAY", "rzp_live_", kAlnum, 14),
      token("model providers", "OPENAI", "sk-", kAlnum, 48),
      token("model providers", "OPENAI", "sk-proj-", kUrlSafe, 150),
      token("model providers", "ANTHROPIC", "sk-ant-api03-", kUrlSafe, 95),
      token("model providers", "OPENROUTER", "sk-or-v1-", kHex, 64),
      token("model providers", "HF", "hf_", kAlnum, 34),
      token("model providers", "GROQ", "gsk_", kAlnum, 52),
      token("model providers", "REPLICATE", "r8_", kAlnum, 37),
      token("registries", "NPM", "npm_", kAlnum, 36),
      token("registries", "PYPI", "pypi-AgEIcHlwaS5vcmc", kUrlSafe, 140),
      token("registries", "GEM", "rubygems_", kHex, 48),
      token("registries", "DOCKER", "dckr_pat_", kUrlSafe, 27),
      token("registries", "NUGET", "oy2", kBase36, 43),
      token("tools", "LINEAR", "lin_api_", kAlnum, 40),
      token("tools", "NOTION", "ntn_", kAlnum, 46),
      token("tools", "FIGMA", "figd_", kUrlSafe, 40),
      token("tools", "SENTRY", "sntrys_", kBase64, 90),
      token("tools", "GRAFANA", "glc_", kBase64, 60),
      {"tools", "POSTMAN", [](Random& l) { return "PMAK-" + l.of(kHex, 24) + "-" + l.of(kHex, 34); }},
      token("tools", "NEWRELIC", "NRAK-", kUpperDigits, 27),
      token("tools", "AGE", "AGE-SECRET-KEY-1", kUpperDigits, 58),
      {"tokens by form", "JWT",
       [](Random& l) {
         return base64_of("{\"alg\":\"HS256\",\"typ\":\"JWT\"}").substr(0, 36) + "." + "eyJ" +
                l.of(kUrlSafe, 80) + "." + l.of(kUrlSafe, 43);
       }},
  };
}

// Kinds that are recognised only by a name.
std::vector<Shape> named_shapes() {
  return {
      {"names", "AWS_SECRET_ACCESS_KEY", [](Random& l) { return l.of(kBase64, 40); }},
      {"names", "api_key", [](Random& l) { return l.of(kHex, 32); }},
      {"names", "clientSecret", [](Random& l) { return l.of(kUrlSafe, 40); }},
      {"names", "HEROKU_API_KEY", [](Random& l) { return l.uuid(); }},
      {"names", "access_token", [](Random& l) { return l.of(kAlnum, 64); }},
      {"names", "SECRET_KEY_BASE", [](Random& l) { return l.of(kHex, 128); }},
      {"names", "DB_PASSWORD", [](Random& l) { return l.of(kTyped, l.between(10, 24)); }},
      {"names", "authToken", [](Random& l) { return l.of(kBase36, 24); }},
      {"names", "encryption-key", [](Random& l) { return l.of(kBase64, 43) + "="; }},
      {"names", "SESSION_SECRET", [](Random& l) { return l.of(kAlnum, 32); }},
      {"names", "x-api-key", [](Random& l) { return l.of(kAlnum, 40); }},
  };
}

std::string private_key(Random& random, const std::string& algorithm, const std::string& line_break) {
  std::string out = "-----BEGIN " + algorithm + "PRIV" + "ATE KEY-----" + line_break;
  const std::size_t lines = random.between(6, 25);
  for (std::size_t i = 0; i < lines; ++i) out += random.of(kBase64, 64) + line_break;
  return out + random.of(kBase64, 30) + "==" + line_break + "-----END " + algorithm + "PRIV" + "ATE KEY-----";
}

std::string json_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string url_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = kUrlSafe.find(c) != std::string_view::npos || c == '.' || c == '~';
    out += plain ? std::string(1, c)
                 : "%" + std::string(1, "0123456789ABCDEF"[static_cast<unsigned char>(c) >> 4]) +
                       "0123456789ABCDEF"[c & 15];
  }
  return out;
}

struct Surrounding {
  std::string name;
  std::function<std::string(const std::string& name, const std::string& secret)> put;
};

std::vector<Surrounding> surroundings() {
  using S = const std::string&;
  return {
      {"a line of .env", [](S n, S s) { return "PORT=3000\n" + n + "=" + s + "\nDEBUG=true\n"; }},
      {"shell: export", [](S n, S s) { return "$ export " + n + "=\"" + s + "\"\n$ npm run deploy\n"; }},
      {"JSON", [](S n, S s) { return "{\n  \"port\": 1,\n  \"" + n + "\": \"" + s + "\"\n}"; }},
      {"JSON in JSON",
       [](S n, S s) {
         return json_escaped("{\"body\": \"" + json_escaped("{\"" + n + "\": \"" + s + "\", \"ok\": true}") +
                             "\"}");
       }},
      {"YAML", [](S n, S s) { return "env:\n  - name: " + n + "\n    value: \"" + s + "\"\nreplicas: 2\n"; }},
      {"YAML, plain", [](S n, S s) { return "service:\n  " + n + ": " + s + "\n  port: 80\n"; }},
      {"a diff",
       [](S n, S s) {
         return "@@ -1,3 +1,3 @@\n def connect():\n-    " + n + " = \"" + s + "\"\n+    pass\n";
       }},
      {"source", [](S n, S s) { return "const " + n + " = '" + s + "';\nfetch(url);\n"; }},
      {"URL-encoded",
       [](S n, S s) {
         return "POST /login?next=%2Fhome&" + url_encoded(n + "=" + s + "&x=1") + " HTTP/1.1";
       }},
      {"a coloured terminal",
       [](S n, S s) { return "\x1b[32m" + n + "\x1b[0m=\x1b[1;33m" + s + "\x1b[0m\n"; }},
      {"base64 of a .env",
       [](S n, S s) {
         return "apiVersion: v1\ndata:\n  app.env: " + base64_of("PORT=3000\n" + n + "=" + s + "\n") + "\n";
       }},
      {"HTML", [](S n, S s) { return "<code>{&quot;" + n + "&quot;:&quot;" + s + "&quot;}</code>"; }},
  };
}

std::vector<Surrounding> bare_surroundings() {
  using S = const std::string&;
  return {
      {"a sentence", [](S, S s) { return "I used " + s + " and it works now."; }},
      {"an argument", [](S, S s) { return "deploy --with " + s + " --region eu\n"; }},
      {"a log", [](S, S s) { return "2026-01-02T03:04:05Z INFO [auth] header=" + s + " status=200\n"; }},
      {"a header",
       [](S, S s) { return "curl -H 'Authorization: Bearer " + s + "' https://api.host.test/v1\n"; }},
  };
}

void add_other_forms(Random& random, std::vector<SecretSample>& out) {
  const auto add = [&](std::string group, std::string where, std::string text,
                       std::vector<std::string> parts) {
    out.push_back({std::move(group), std::move(where), std::move(text), std::move(parts)});
  };
  for (const char* algorithm : {"RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED ", "DSA "}) {
    const std::string plain = private_key(random, algorithm, "\n");
    const auto lines_of = [](const std::string& key, std::size_t at) {
      return key.substr(key.find('\n') + 1 + at * 65, 64);
    };
    add("private keys", "a file", "cat key\n" + plain + "\n$ ", {lines_of(plain, 0), lines_of(plain, 3)});
    add("private keys", "JSON", "{\"private_key\": \"" + json_escaped(plain) + "\\n\"}",
        {lines_of(plain, 0), lines_of(plain, 4)});
    add("private keys", "JSON in JSON", json_escaped("{\"k\":\"" + json_escaped(plain) + "\"}"),
        {lines_of(plain, 1), lines_of(plain, 5)});
    std::string diff;
    for (std::size_t at = 0; at < plain.size();) {
      const std::size_t end = std::min(plain.find('\n', at), plain.size());
      diff += "+" + plain.substr(at, end - at) + "\n";
      at = end + 1;
    }
    add("private keys", "a diff", "--- /dev/null\n+++ b/id\n" + diff,
        {lines_of(plain, 0), lines_of(plain, 2)});
    add("private keys", "cut off", plain.substr(0, 400), {lines_of(plain, 0), lines_of(plain, 3)});
    add("private keys", "begun earlier", plain.substr(plain.find('\n') + 1 + 65),
        {lines_of(plain, 1), lines_of(plain, 3)});
    add("private keys", "base64", "client-key-data: " + base64_of(plain), {base64_of(plain).substr(120, 60)});
  }
  for (const char* scheme : {"postgres", "postgresql+asyncpg", "mysql", "mongodb+srv", "redis", "amqps",
                             "mssql", "https", "ftp", "smtp"}) {
    const std::string password = random.of(kUrlSafe, random.between(8, 24));
    const std::string url = std::string(scheme) + "://app:" + password + "@db.host.test:5432/main?ssl=true";
    add("addresses", "a line of .env", "DATABASE_URL=" + url + "\n", {password});
    add("addresses", "JSON", "{\\\"url\\\": \\\"" + url + "\\\"}", {password});
    add("addresses", "URL-encoded", "next=" + url_encoded(url), {password});
    add("addresses", "a log", "connecting to " + url + " ...", {password});
  }
  for (int i = 0; i < 10; ++i) {
    const std::string id = random.of(kAlnum, 32), pass = random.of(kTyped, 14),
                      name = "u" + random.of(kLower, 6);
    add("headers", "Cookie", "> Cookie: theme=dark; sessionid=" + id + "; lang=en\r\n", {id});
    add("headers", "Set-Cookie", "< Set-Cookie: sid=" + id + "; Path=/; HttpOnly\n", {id});
    const std::string basic = base64_of(name + ":" + pass);
    add("headers", "Authorization: Basic", "Authorization: Basic " + basic + "\n", {basic});
    add("headers", "Authorization in code", "headers: { 'Authorization': 'Token " + id + "' }", {id});
    add("headers", "X-Api-Key", "-H \"X-Api-Key: " + id + "\"", {id});
    const std::string typed = random.of(kAlnum, 12) + "!7";
    add("command lines", "curl -u", "curl -u " + name + ":" + typed + " https://host.test/", {typed});
    add("command lines", "--password", "tool login --password " + typed + " --user " + name, {typed});
    add("command lines", "mysql -p", "mysql -u root -p" + random.of(kAlnum, 12) + " app", {});
    out.back().parts = {out.back().text.substr(16, 12)};
    add("configuration", ".netrc", "machine host.test login " + name + " password " + id + "\n", {id});
    add("configuration", ".npmrc", "//registry.host.test/:_authToken=" + id + "\n", {id});
    add("configuration", "ADO", "Server=db;User Id=sa;Password=" + typed + ";Encrypt=true", {typed});
    add("configuration", "XML", "<add key=\"x\"/><password>" + typed + "</password>", {typed});
    add("configuration", "storage", "AccountName=a;AccountKey=" + random.of(kBase64, 86) + "==;Endpoint=x",
        {});
    out.back().parts = {out.back().text.substr(25, 86)};
  }
}

// A token in two lines.
void add_broken(Random& random, const std::vector<Shape>& shapes, std::vector<SecretSample>& out) {
  for (const Shape& shape : shapes) {
    const std::string secret = shape.make(random);
    const std::size_t half = secret.size() / 2;
    const std::string first = secret.substr(0, half), second = secret.substr(half);
    if (half < 10 || shape.name == "MAILCHIMP" || shape.name == "TFE" || shape.name == "TELEGRAM" ||
        shape.name == "AZURE_CLIENT_SECRET" || shape.name == "JWT")
      continue;
    out.push_back({shape.group,
                   "two strings",
                   "key = \"" + first + "\" +\n      \"" + second + "\";\n",
                   {first, second}});
    out.push_back({shape.group,
                   "two lines of a shell",
                   "curl --with " + first + "\\\n" + second + " x\n",
                   {first, second}});
  }
}

}  // namespace

std::vector<SecretSample> secret_samples(std::uint64_t seed) {
  Random random(seed);
  std::vector<SecretSample> out;
  for (const Shape& shape : service_shapes())
    for (const auto& list : {surroundings(), bare_surroundings()})
      for (const Surrounding& around : list) {
        const std::string secret = shape.make(random);
        out.push_back({shape.group, around.name, around.put(shape.name, secret), {secret}});
      }
  for (int round = 0; round < 6; ++round)
    for (const Shape& shape : named_shapes())
      for (const Surrounding& around : surroundings()) {
        const std::string secret = shape.make(random);
        out.push_back({shape.group, around.name, around.put(shape.name, secret), {secret}});
      }
  for (SecretSample& sample : out) {  // what base64 shows of them
    if (sample.surrounding == "base64 of a .env")
      sample.parts = {sample.text.substr(sample.text.size() - 30, 20)};
    if (sample.surrounding == "URL-encoded") sample.parts = {url_encoded(sample.parts[0])};
  }
  add_other_forms(random, out);
  add_broken(random, service_shapes(), out);
  return out;
}

std::vector<SecretSample> one_of_each(std::uint64_t seed) {
  Random random(seed);
  std::vector<SecretSample> out;
  for (const auto& shapes : {service_shapes(), named_shapes()})
    for (const Shape& shape : shapes) {
      const std::string secret = shape.make(random);
      out.push_back({shape.group, "a line of .env", shape.name + "=" + secret, {secret}});
    }
  const std::string key = private_key(random, "RSA ", "\n");
  out.push_back({"private keys", "a file", key, {key.substr(40, 60), key.substr(240, 60)}});
  const std::string password = random.of(kUrlSafe, 20);
  out.push_back({"addresses",
                 "a line of .env",
                 "DATABASE_URL=postgres://app:" + password + "@db.host.test/x",
                 {password}});
  return out;
}

}  // namespace cairn::test
