#include <functional>

#include "gate/corpus_random.h"
#include "gate/secret_corpus.h"

namespace cairn::test {

namespace {

using Make = std::function<std::string(Random&)>;

std::string word(Random& random) {
  static const std::vector<std::string> kWords = {
      "user",   "order",  "cache",    "render", "buffer",  "index",  "value",  "parse",  "commit", "branch",
      "server", "client", "config",   "layout", "widget",  "handle", "stream", "result", "filter", "module",
      "policy", "worker", "engine",   "schema", "format",  "update", "delete", "create", "select", "report",
      "token",  "secret", "password", "key",    "session", "cookie", "login",  "access", "public", "private"};
  return random.one(kWords);
}

std::string camel(Random& random, std::size_t words) {
  std::string out = word(random);
  for (std::size_t i = 1; i < words; ++i) {
    std::string next = word(random);
    next[0] = static_cast<char>(next[0] - 32);
    out += next;
  }
  return out;
}

std::string snake(Random& random, std::size_t words, char separator = '_') {
  std::string out = word(random);
  for (std::size_t i = 1; i < words; ++i) out += separator + word(random);
  return out;
}

std::string version(Random& random) {
  return std::to_string(random.below(20)) + "." + std::to_string(random.below(30)) + "." +
         std::to_string(random.below(40));
}

std::vector<std::pair<std::string, Make>> hashes() {
  return {
      {"hashes", [](Random& l) { return "commit " + l.of(kHex, 40) + "\nAuthor: dev\n"; }},
      {"hashes", [](Random& l) { return l.of(kHex, 64) + "  dist/app-" + version(l) + ".tar.gz"; }},
      {"hashes", [](Random& l) { return "md5: " + l.of(kHex, 32); }},
      {"hashes", [](Random& l) { return "ETag: \"" + l.of(kHex, 32) + "\""; }},
      {"hashes", [](Random& l) { return "sha256:" + l.of(kHex, 64); }},
      {"hashes", [](Random& l) { return "index " + l.of(kHex, 7) + ".." + l.of(kHex, 7) + " 100644"; }},
      {"hashes", [](Random& l) { return "FROM node:20@sha256:" + l.of(kHex, 64); }},
      {"UUIDs", [](Random& l) { return "\"id\": \"" + l.uuid() + "\","; }},
      {"UUIDs", [](Random& l) { return "request_id=" + l.uuid() + " took 12ms"; }},
      {"UUIDs", [](Random& l) { return "session " + l.uuid() + " ended"; }},
      {"lock files",
       [](Random& l) { return "      \"integrity\": \"sha512-" + l.of(kBase64, 86) + "==\","; }},
      {"lock files",
       [](Random& l) {
         return "      \"resolved\": \"https://registry.npmjs.org/" + snake(l, 2, '-') + "/-/" +
                snake(l, 2, '-') + "-" + version(l) + ".tgz\",";
       }},
      {"lock files",
       [](Random& l) {
         return snake(l, 2, '-') + "@^" + version(l) + ":\n  version \"" + version(l) +
                "\"\n  resolved \"https://registry.yarnpkg.com/x#" + l.of(kHex, 40) +
                "\"\n  integrity sha512-" + l.of(kBase64, 86) + "==";
       }},
      {"lock files",
       [](Random& l) {
         return "github.com/dev/" + snake(l, 2, '-') + " v" + version(l) + " h1:" + l.of(kBase64, 43) + "=";
       }},
      {"lock files",
       [](Random& l) {
         return "name = \"" + snake(l, 2, '-') + "\"\nversion = \"" + version(l) + "\"\nchecksum = \"" +
                l.of(kHex, 64) + "\"";
       }},
      {"lock files",
       [](Random& l) {
         return snake(l, 1) + "==" + version(l) + " \\\n    --hash=sha256:" + l.of(kHex, 64);
       }},
  };
}

std::vector<std::pair<std::string, Make>> code() {
  return {
      {"source",
       [](Random& l) {
         return "const " + camel(l, 2) + " = " + camel(l, 2) + "." + camel(l, 2) + "(" + word(l) + ");";
       }},
      {"source", [](Random& l) { return "const token = get" + camel(l, 2) + "(request);"; }},
      {"source", [](Random& l) { return "password: " + camel(l, 2) + ".password,"; }},
      {"source",
       [](Random&) {
         return std::string("def login(user: str, password: str, token: Optional[str] = None) -> Session:");
       }},
      {"source", [](Random& l) { return "secret = os.environ[\"" + snake(l, 3) + "\"]"; }},
      {"source", [](Random& l) { return "apiKey: process.env." + camel(l, 3) + ","; }},
      {"source",
       [](Random& l) { return "if (token === '" + word(l) + "') { return " + camel(l, 3) + "; }"; }},
      {"source",
       [](Random& l) { return "max_tokens=" + std::to_string(l.below(9000)) + ", temperature=0.2"; }},
      {"source",
       [](Random& l) {
         return "import { " + camel(l, 2) + ", " + camel(l, 3) + " } from './" + snake(l, 2, '-') + "/" +
                camel(l, 2) + "';";
       }},
      {"source",
       [](Random& l) {
         return "<input type=\"password\" name=\"password\" id=\"" + snake(l, 2, '-') +
                "\" autocomplete=\"current-password\">";
       }},
      {"source",
       [](Random& l) {
         return "ALTER TABLE " + word(l) +
                "s ADD COLUMN password_hash VARCHAR(255), ADD COLUMN api_key_id BIGINT;";
       }},
      {"source", [](Random& l) { return "self." + snake(l, 2) + "_token = " + snake(l, 3) + "_token"; }},
      {"source",
       [](Random& l) {
         return "key={" + camel(l, 2) + "." + word(l) + "} primary_key=\"" + snake(l, 2) + "\"";
       }},
      {"source",
       [](Random& l) {
         return "secretName: " + snake(l, 3, '-') + "-tls\ntokenUrl: https://host.test/oauth/token";
       }},
      {"source",
       [](Random& l) {
         return "func (s *" + camel(l, 2) + ") Token(ctx context.Context) (*oauth2.Token, error) {";
       }},
      {"source", [](Random& l) { return "password = getpass.getpass(\"" + word(l) + " password: \")"; }},
      {"source", [](Random& l) { return "assert response.json()[\"token\"] == " + snake(l, 2) + ".token"; }},
      {"source",
       [](Random& l) {
         return "#" + snake(l, 2, '-') + "{color:#" + l.of(kHex, 6) + ";background:#" + l.of(kHex, 6) +
                "}.sk-" + snake(l, 3, '-') + "-indicator{margin:0}";
       }},
      {"minified",
       [](Random& l) {
         return "!function(e,t){\"object\"==typeof exports?module.exports=t():e." + l.of(kLower, 2) +
                "=t()}(this,function(){var n=" + l.of(kDigits, 3) + ",r=n>>2,i=e[r^" + l.of(kDigits, 2) +
                "];return{key:i,token:r}});";
       }},
      {"minified",
       [](Random& l) {
         return "a." + l.of(kLower, 1) + "=function(t){return t.pass?t.pass(" + l.of(kDigits, 2) +
                "):e.secret||n[" + l.of(kDigits, 1) + "]},b.key=c;";
       }},
      {"minified",
       [](Random& l) {
         return "//# sourceMappingURL=data:application/json;base64," +
                base64_of("{\"version\":3,\"sources\":[\"src/" + snake(l, 2) + ".ts\"],\"names\":[\"" +
                          camel(l, 2) + "\"],\"mappings\":\"AAAA," + l.of(kBase64, 30) + "\"}");
       }},
      {"paths",
       [](Random& l) {
         return "/home/dev/code/" + snake(l, 2, '-') + "/src/" + snake(l, 2) + "/" + camel(l, 2) +
                ".test.ts:" + std::to_string(l.below(900)) + ":" + std::to_string(l.below(80));
       }},
      {"paths",
       [](Random& l) { return "PWD=/home/dev/code/" + snake(l, 2, '-') + "\nOLDPWD=/home/dev/" + word(l); }},
      {"paths",
       [](Random& l) {
         return "private_key_path: /etc/ssl/" + word(l) + "/server.key\ntoken_file = ~/.config/" + word(l) +
                "/token";
       }},
      {"paths",
       [](Random& l) {
         return "https://host.test/api/v1/" + word(l) + "/" + std::to_string(l.below(100000)) +
                "?page=2&sort_key=" + word(l) + "&limit=50";
       }},
  };
}

std::vector<std::pair<std::string, Make>> texts() {
  return {
      {"placeholders", [](Random& l) { return snake(l, 2) + "_API_KEY=your-" + word(l) + "-key-here"; }},
      {"placeholders", [](Random&) { return std::string("aws_access_key_id = AKIAIOSFODNN7") + "EXAMPLE"; }},
      {"placeholders", [](Random& l) { return "password: <your-" + word(l) + "-password>"; }},
      {"placeholders", [](Random& l) { return "TOKEN=${" + snake(l, 2) + "_TOKEN}"; }},
      {"placeholders",
       [](Random&) { return std::string("OPENAI_API_KEY=sk-") + "xxxxxxxxxxxxxxxxxxxxxxxx"; }},
      {"placeholders", [](Random& l) { return "password: {{ ." + camel(l, 2) + ".password }}"; }},
      {"placeholders", [](Random&) { return std::string("secret: changeme  # change me"); }},
      {"placeholders", [](Random& l) { return "postgres://user:password@localhost:5432/" + word(l); }},
      {"placeholders", [](Random& l) { return "https://$USER:$TOKEN@host.test/" + word(l) + ".git"; }},
      {"placeholders", [](Random& l) { return "GITHUB_TOKEN: ${{ secrets." + snake(l, 2) + " }}"; }},
      {"placeholders", [](Random&) { return std::string("Authorization: Bearer <token>"); }},
      {"placeholders", [](Random& l) { return "api_key = \"" + std::string(l.between(8, 40), '*') + "\""; }},
      {"prose",
       [](Random& l) {
         return "The " + word(l) + " must send its token with every " + word(l) +
                "; the password is never logged.";
       }},
      {"prose",
       [](Random& l) {
         return "password: must be at least " + std::to_string(l.between(8, 20)) + " characters long";
       }},
      {"prose",
       [](Random& l) {
         return "Rotate the secret key every " + std::to_string(l.between(2, 90)) + " days, see docs/" +
                snake(l, 2, '-') + ".md.";
       }},
      {"prose",
       [](Random& l) {
         return "fix(" + word(l) + "): keep the session cookie when the " + word(l) + " token is renewed (#" +
                std::to_string(l.below(9999)) + ")";
       }},
      {"prose",
       [](Random& l) {
         return "{\"password\": \"Passwort\", \"login\": \"Anmelden\", \"token_expired\": \"" + word(l) +
                " ist abgelaufen\"}";
       }},
      {"prose",
       [](Random& l) {
         return "Total tokens: " + std::to_string(l.below(1000000)) +
                ", cached: " + std::to_string(l.below(1000));
       }},
      {"test fixtures",
       [](Random& l) {
         return "expect(login('dev', 'password')).toEqual({ token: '" + word(l) + "-token' });";
       }},
      {"test fixtures",
       [](Random& l) {
         return "user = User(name='" + word(l) + "', password='secret', api_key='test-key')";
       }},
      {"test fixtures", [](Random&) { return std::string("cookie: name=value; theme=dark"); }},
      {"test fixtures",
       [](Random& l) { return "mock.token = 'fake-token-" + std::to_string(l.below(100)) + "'"; }},
      {"public keys",
       [](Random& l) { return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + l.of(kBase64, 43) + " dev@host"; }},
      {"public keys",
       [](Random& l) {
         return "-----BEGIN CERTIFICATE-----\nMIID" + l.of(kBase64, 60) + "\n" + l.of(kBase64, 64) +
                "\n-----END CERTIFICATE-----";
       }},
      {"public keys",
       [](Random& l) {
         return "-----BEGIN PUBLIC KEY-----\n" + l.of(kBase64, 64) + "\n-----END PUBLIC KEY-----";
       }},
      {"binary text",
       [](Random& l) { return "url(data:image/png;base64,iVBORw0KGgo" + l.of(kBase64, 200) + "==)"; }},
      {"binary text", [](Random& l) { return "data:font/woff2;base64,d09GMgABAAAA" + l.of(kBase64, 160); }},
      {"numbers",
       [](Random& l) {
         return "id=" + l.of(kDigits, 18) + " ts=17" + l.of(kDigits, 11) + " ip=10.0." +
                std::to_string(l.below(255)) + ".7";
       }},
      {"numbers",
       [](Random& l) {
         return "2026-03-1" + l.of(kDigits, 1) + "T1" + l.of(kDigits, 1) + ":2" + l.of(kDigits, 1) +
                ":00.000Z GET /" + word(l) + " 200 " + l.of(kDigits, 4);
       }},
      {"base64 of text",
       [](Random& l) {
         return "greeting: " +
                base64_of("hello " + word(l) + ", this is " + snake(l, 4, ' ') + " and nothing else.");
       }},
      {"cloud names",
       [](Random& l) {
         return "arn:aws:iam::" + l.of(kDigits, 12) + ":role/" + snake(l, 3, '-') +
                "\nsecretArn: arn:aws:secretsmanager:eu-west-1:" + l.of(kDigits, 12) + ":secret:" + word(l);
       }},
      {"cloud names",
       [](Random& l) {
         return "ami-0" + l.of(kHex, 16) + " vpc-0" + l.of(kHex, 16) + " i-0" + l.of(kHex, 16);
       }},
  };
}

}  // namespace

std::vector<BenignSample> benign_samples(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<std::pair<std::string, Make>> makers = hashes();
  for (const auto& more : {code(), texts()}) makers.insert(makers.end(), more.begin(), more.end());
  std::vector<BenignSample> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [group, make] = makers[i % makers.size()];
    out.push_back({group, make(random)});
  }
  return out;
}

}  // namespace cairn::test
