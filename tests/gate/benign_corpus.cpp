#include <functional>

#include "gate/corpus_random.h"
#include "gate/secret_corpus.h"

namespace cairn::test {

namespace {

using Make = std::function<std::string(Lot&)>;

std::string word(Lot& lot) {
  static const std::vector<std::string> kWords = {
      "user",   "order",  "cache",    "render", "buffer",  "index",  "value",  "parse",  "commit", "branch",
      "server", "client", "config",   "layout", "widget",  "handle", "stream", "result", "filter", "module",
      "policy", "worker", "engine",   "schema", "format",  "update", "delete", "create", "select", "report",
      "token",  "secret", "password", "key",    "session", "cookie", "login",  "access", "public", "private"};
  return lot.one(kWords);
}

std::string camel(Lot& lot, std::size_t words) {
  std::string out = word(lot);
  for (std::size_t i = 1; i < words; ++i) {
    std::string next = word(lot);
    next[0] = static_cast<char>(next[0] - 32);
    out += next;
  }
  return out;
}

std::string snake(Lot& lot, std::size_t words, char separator = '_') {
  std::string out = word(lot);
  for (std::size_t i = 1; i < words; ++i) out += separator + word(lot);
  return out;
}

std::string version(Lot& lot) {
  return std::to_string(lot.below(20)) + "." + std::to_string(lot.below(30)) + "." +
         std::to_string(lot.below(40));
}

std::vector<std::pair<std::string, Make>> hashes() {
  return {
      {"hashes", [](Lot& l) { return "commit " + l.of(kHex, 40) + "\nAuthor: dev\n"; }},
      {"hashes", [](Lot& l) { return l.of(kHex, 64) + "  dist/app-" + version(l) + ".tar.gz"; }},
      {"hashes", [](Lot& l) { return "md5: " + l.of(kHex, 32); }},
      {"hashes", [](Lot& l) { return "ETag: \"" + l.of(kHex, 32) + "\""; }},
      {"hashes", [](Lot& l) { return "sha256:" + l.of(kHex, 64); }},
      {"hashes", [](Lot& l) { return "index " + l.of(kHex, 7) + ".." + l.of(kHex, 7) + " 100644"; }},
      {"hashes", [](Lot& l) { return "FROM node:20@sha256:" + l.of(kHex, 64); }},
      {"UUIDs", [](Lot& l) { return "\"id\": \"" + l.uuid() + "\","; }},
      {"UUIDs", [](Lot& l) { return "request_id=" + l.uuid() + " took 12ms"; }},
      {"UUIDs", [](Lot& l) { return "session " + l.uuid() + " ended"; }},
      {"lock files", [](Lot& l) { return "      \"integrity\": \"sha512-" + l.of(kBase64, 86) + "==\","; }},
      {"lock files",
       [](Lot& l) {
         return "      \"resolved\": \"https://registry.npmjs.org/" + snake(l, 2, '-') + "/-/" +
                snake(l, 2, '-') + "-" + version(l) + ".tgz\",";
       }},
      {"lock files",
       [](Lot& l) {
         return snake(l, 2, '-') + "@^" + version(l) + ":\n  version \"" + version(l) +
                "\"\n  resolved \"https://registry.yarnpkg.com/x#" + l.of(kHex, 40) +
                "\"\n  integrity sha512-" + l.of(kBase64, 86) + "==";
       }},
      {"lock files",
       [](Lot& l) {
         return "github.com/dev/" + snake(l, 2, '-') + " v" + version(l) + " h1:" + l.of(kBase64, 43) + "=";
       }},
      {"lock files",
       [](Lot& l) {
         return "name = \"" + snake(l, 2, '-') + "\"\nversion = \"" + version(l) + "\"\nchecksum = \"" +
                l.of(kHex, 64) + "\"";
       }},
      {"lock files",
       [](Lot& l) { return snake(l, 1) + "==" + version(l) + " \\\n    --hash=sha256:" + l.of(kHex, 64); }},
  };
}

std::vector<std::pair<std::string, Make>> code() {
  return {
      {"source",
       [](Lot& l) {
         return "const " + camel(l, 2) + " = " + camel(l, 2) + "." + camel(l, 2) + "(" + word(l) + ");";
       }},
      {"source", [](Lot& l) { return "const token = get" + camel(l, 2) + "(request);"; }},
      {"source", [](Lot& l) { return "password: " + camel(l, 2) + ".password,"; }},
      {"source",
       [](Lot&) {
         return std::string("def login(user: str, password: str, token: Optional[str] = None) -> Session:");
       }},
      {"source", [](Lot& l) { return "secret = os.environ[\"" + snake(l, 3) + "\"]"; }},
      {"source", [](Lot& l) { return "apiKey: process.env." + camel(l, 3) + ","; }},
      {"source", [](Lot& l) { return "if (token === '" + word(l) + "') { return " + camel(l, 3) + "; }"; }},
      {"source", [](Lot& l) { return "max_tokens=" + std::to_string(l.below(9000)) + ", temperature=0.2"; }},
      {"source",
       [](Lot& l) {
         return "import { " + camel(l, 2) + ", " + camel(l, 3) + " } from './" + snake(l, 2, '-') + "/" +
                camel(l, 2) + "';";
       }},
      {"source",
       [](Lot& l) {
         return "<input type=\"password\" name=\"password\" id=\"" + snake(l, 2, '-') +
                "\" autocomplete=\"current-password\">";
       }},
      {"source",
       [](Lot& l) {
         return "ALTER TABLE " + word(l) +
                "s ADD COLUMN password_hash VARCHAR(255), ADD COLUMN api_key_id BIGINT;";
       }},
      {"source", [](Lot& l) { return "self." + snake(l, 2) + "_token = " + snake(l, 3) + "_token"; }},
      {"source",
       [](Lot& l) {
         return "key={" + camel(l, 2) + "." + word(l) + "} primary_key=\"" + snake(l, 2) + "\"";
       }},
      {"source",
       [](Lot& l) {
         return "secretName: " + snake(l, 3, '-') + "-tls\ntokenUrl: https://host.test/oauth/token";
       }},
      {"source",
       [](Lot& l) {
         return "func (s *" + camel(l, 2) + ") Token(ctx context.Context) (*oauth2.Token, error) {";
       }},
      {"source", [](Lot& l) { return "password = getpass.getpass(\"" + word(l) + " password: \")"; }},
      {"source", [](Lot& l) { return "assert response.json()[\"token\"] == " + snake(l, 2) + ".token"; }},
      {"source",
       [](Lot& l) {
         return "#" + snake(l, 2, '-') + "{color:#" + l.of(kHex, 6) + ";background:#" + l.of(kHex, 6) +
                "}.sk-" + snake(l, 3, '-') + "-indicator{margin:0}";
       }},
      {"minified",
       [](Lot& l) {
         return "!function(e,t){\"object\"==typeof exports?module.exports=t():e." + l.of(kLower, 2) +
                "=t()}(this,function(){var n=" + l.of(kDigits, 3) + ",r=n>>2,i=e[r^" + l.of(kDigits, 2) +
                "];return{key:i,token:r}});";
       }},
      {"minified",
       [](Lot& l) {
         return "a." + l.of(kLower, 1) + "=function(t){return t.pass?t.pass(" + l.of(kDigits, 2) +
                "):e.secret||n[" + l.of(kDigits, 1) + "]},b.key=c;";
       }},
      {"minified",
       [](Lot& l) {
         return "//# sourceMappingURL=data:application/json;base64," +
                base64_of("{\"version\":3,\"sources\":[\"src/" + snake(l, 2) + ".ts\"],\"names\":[\"" +
                          camel(l, 2) + "\"],\"mappings\":\"AAAA," + l.of(kBase64, 30) + "\"}");
       }},
      {"paths",
       [](Lot& l) {
         return "/home/dev/code/" + snake(l, 2, '-') + "/src/" + snake(l, 2) + "/" + camel(l, 2) +
                ".test.ts:" + std::to_string(l.below(900)) + ":" + std::to_string(l.below(80));
       }},
      {"paths",
       [](Lot& l) { return "PWD=/home/dev/code/" + snake(l, 2, '-') + "\nOLDPWD=/home/dev/" + word(l); }},
      {"paths",
       [](Lot& l) {
         return "private_key_path: /etc/ssl/" + word(l) + "/server.key\ntoken_file = ~/.config/" + word(l) +
                "/token";
       }},
      {"paths",
       [](Lot& l) {
         return "https://host.test/api/v1/" + word(l) + "/" + std::to_string(l.below(100000)) +
                "?page=2&sort_key=" + word(l) + "&limit=50";
       }},
  };
}

std::vector<std::pair<std::string, Make>> texts() {
  return {
      {"placeholders", [](Lot& l) { return snake(l, 2) + "_API_KEY=your-" + word(l) + "-key-here"; }},
      {"placeholders", [](Lot&) { return std::string("aws_access_key_id = AKIAIOSFODNN7") + "EXAMPLE"; }},
      {"placeholders", [](Lot& l) { return "password: <your-" + word(l) + "-password>"; }},
      {"placeholders", [](Lot& l) { return "TOKEN=${" + snake(l, 2) + "_TOKEN}"; }},
      {"placeholders", [](Lot&) { return std::string("OPENAI_API_KEY=sk-") + "xxxxxxxxxxxxxxxxxxxxxxxx"; }},
      {"placeholders", [](Lot& l) { return "password: {{ ." + camel(l, 2) + ".password }}"; }},
      {"placeholders", [](Lot&) { return std::string("secret: changeme  # change me"); }},
      {"placeholders", [](Lot& l) { return "postgres://user:password@localhost:5432/" + word(l); }},
      {"placeholders", [](Lot& l) { return "https://$USER:$TOKEN@host.test/" + word(l) + ".git"; }},
      {"placeholders", [](Lot& l) { return "GITHUB_TOKEN: ${{ secrets." + snake(l, 2) + " }}"; }},
      {"placeholders", [](Lot&) { return std::string("Authorization: Bearer <token>"); }},
      {"placeholders", [](Lot& l) { return "api_key = \"" + std::string(l.between(8, 40), '*') + "\""; }},
      {"prose",
       [](Lot& l) {
         return "The " + word(l) + " must send its token with every " + word(l) +
                "; the password is never logged.";
       }},
      {"prose",
       [](Lot& l) {
         return "password: must be at least " + std::to_string(l.between(8, 20)) + " characters long";
       }},
      {"prose",
       [](Lot& l) {
         return "Rotate the secret key every " + std::to_string(l.between(2, 90)) + " days, see docs/" +
                snake(l, 2, '-') + ".md.";
       }},
      {"prose",
       [](Lot& l) {
         return "fix(" + word(l) + "): keep the session cookie when the " + word(l) + " token is renewed (#" +
                std::to_string(l.below(9999)) + ")";
       }},
      {"prose",
       [](Lot& l) {
         return "{\"password\": \"Passwort\", \"login\": \"Anmelden\", \"token_expired\": \"" + word(l) +
                " ist abgelaufen\"}";
       }},
      {"prose",
       [](Lot& l) {
         return "Total tokens: " + std::to_string(l.below(1000000)) +
                ", cached: " + std::to_string(l.below(1000));
       }},
      {"test fixtures",
       [](Lot& l) {
         return "expect(login('dev', 'password')).toEqual({ token: '" + word(l) + "-token' });";
       }},
      {"test fixtures",
       [](Lot& l) { return "user = User(name='" + word(l) + "', password='secret', api_key='test-key')"; }},
      {"test fixtures", [](Lot&) { return std::string("cookie: name=value; theme=dark"); }},
      {"test fixtures",
       [](Lot& l) { return "mock.token = 'fake-token-" + std::to_string(l.below(100)) + "'"; }},
      {"public keys",
       [](Lot& l) { return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + l.of(kBase64, 43) + " dev@host"; }},
      {"public keys",
       [](Lot& l) {
         return "-----BEGIN CERTIFICATE-----\nMIID" + l.of(kBase64, 60) + "\n" + l.of(kBase64, 64) +
                "\n-----END CERTIFICATE-----";
       }},
      {"public keys",
       [](Lot& l) {
         return "-----BEGIN PUBLIC KEY-----\n" + l.of(kBase64, 64) + "\n-----END PUBLIC KEY-----";
       }},
      {"binary text",
       [](Lot& l) { return "url(data:image/png;base64,iVBORw0KGgo" + l.of(kBase64, 200) + "==)"; }},
      {"binary text", [](Lot& l) { return "data:font/woff2;base64,d09GMgABAAAA" + l.of(kBase64, 160); }},
      {"numbers",
       [](Lot& l) {
         return "id=" + l.of(kDigits, 18) + " ts=17" + l.of(kDigits, 11) + " ip=10.0." +
                std::to_string(l.below(255)) + ".7";
       }},
      {"numbers",
       [](Lot& l) {
         return "2026-03-1" + l.of(kDigits, 1) + "T1" + l.of(kDigits, 1) + ":2" + l.of(kDigits, 1) +
                ":00.000Z GET /" + word(l) + " 200 " + l.of(kDigits, 4);
       }},
      {"base64 of text",
       [](Lot& l) {
         return "greeting: " +
                base64_of("hello " + word(l) + ", this is " + snake(l, 4, ' ') + " and nothing else.");
       }},
      {"cloud names",
       [](Lot& l) {
         return "arn:aws:iam::" + l.of(kDigits, 12) + ":role/" + snake(l, 3, '-') +
                "\nsecretArn: arn:aws:secretsmanager:eu-west-1:" + l.of(kDigits, 12) + ":secret:" + word(l);
       }},
      {"cloud names",
       [](Lot& l) { return "ami-0" + l.of(kHex, 16) + " vpc-0" + l.of(kHex, 16) + " i-0" + l.of(kHex, 16); }},
  };
}

}  // namespace

std::vector<BenignSample> benign_samples(std::uint64_t seed, std::size_t count) {
  Lot lot(seed);
  std::vector<std::pair<std::string, Make>> makers = hashes();
  for (const auto& more : {code(), texts()}) makers.insert(makers.end(), more.begin(), more.end());
  std::vector<BenignSample> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [group, make] = makers[i % makers.size()];
    out.push_back({group, make(lot)});
  }
  return out;
}

}  // namespace cairn::test
