// The harmless lines beside fifth_corpus.cpp: an examiner's, and, written before the rules were mended by it,
// what resembles its secrets: calls, words of other languages, addresses, commands.
#include <string>

#include "gate/corpus_lines.h"

namespace cairn::test {

namespace {

constexpr Line kHash[] = {
    {"fifth: hash", "commit {x40}"},
    {"fifth: hash", "{x7} fix: rotate api token on logout (#214)"},
    {"fifth: hash", "index {x7}..{x7} 100644"},
    {"fifth: hash", "Merge: {x7} {x7}"},
    {"fifth: hash", "HEAD is now at {x8} Add password reset flow"},
    {"fifth: hash", "sha256:{x64}"},
    {"fifth: hash", "docker pull nginx@sha256:{x64}"},
    {"fifth: hash", "Digest: sha256:{x64}"},
    {"fifth: hash", "{x64}  acme-cli_1.4.2_linux_amd64.tar.gz"},
    {"fifth: hash", "MD5 (backup.tar) = {x32}"},
    {"fifth: hash", "From https://github.com/acme/app\n   {x7}..{x7}  main       -> origin/main"},
    {"fifth: hash", "git cherry-pick {x40}"},
    {"fifth: hash", "      - uses: actions/checkout@{x40} # v4.1.1"},
    {"fifth: hash", "pick {x7} refactor secret loader"},
    {"fifth: hash", "ETag: \"{x32}\""},
    {"fifth: hash", "ETag: W/\"5e-{b27}\""},
};

constexpr Line kId[] = {
    {"fifth: id", "request_id={@}"},
    {"fifth: id", "\"id\": \"{@}\","},
    {"fifth: id", "trace_id={x32} span_id={x16}"},
    {"fifth: id", "traceparent: 00-{x32}-{x16}-01"},
    {"fifth: id", "X-Request-Id: {x32}"},
    {"fifth: id", "\"correlationId\":\"{@}\""},
    {"fifth: id", "arn:aws:iam::{d12}:role/deploy-role"},
    {"fifth: id", "arn:aws:secretsmanager:eu-west-1:{d12}:secret:prod/db-{a6}"},
    {"fifth: id", "subscription /subscriptions/{@}/resourceGroups/rg-prod"},
    {"fifth: id", "vpc-{x17} subnet-{x17} sg-{x17}"},
    {"fifth: id", "i-{x17} running t3.medium"},
    {"fifth: id", "\"uid\": \"{@}\",\n\"resourceVersion\": \"{d8}\""},
    {"fifth: id", "pod/api-{x9}-{i5} 1/1 Running 0 3d"},
    {"fifth: id", "\"objectId\": \"{x24}\""},
    {"fifth: id", "tenant_id = \"{@}\""},
    {"fifth: id", "order #{d12} shipped, tracking 1Z{U16}"},
    {"fifth: id", "containerd://{x64}"},
    {"fifth: id", "customer: \"cus_{a14}\""},
    {"fifth: id", "\"payment_intent\": \"pi_{a24}\""},
    {"fifth: id", "<xs:element id=\"{@}\" type=\"Guid\"/>"},
};

constexpr Line kLock[] = {
    {"fifth: lock", "      \"integrity\": \"sha512-{b86}==\","},
    {"fifth: lock", "  resolved \"https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#{x40}\""},
    {"fifth: lock", "    resolution: {}integrity: sha512-{b86}==}"},
    {"fifth: lock", "checksum = \"{x64}\""},
    {"fifth: lock", "github.com/pkg/errors v0.9.1 h1:{b43}="},
    {"fifth: lock", "golang.org/x/sys v0.15.0/go.mod h1:{b43}="},
    {"fifth: lock", "    --hash=sha256:{x64} \\"},
    {"fifth: lock", "content-hash = \"{x64}\""},
    {"fifth: lock", "CHECKSUMS:\n  rails (7.1.2) sha256={x64}"},
    {"fifth: lock", "narHash = \"sha256-{b43}=\";"},
    {"fifth: lock", "  sha256 = \"0{i51}\";"},
    {"fifth: lock", "\"contentHash\": \"{b86}==\""},
    {"fifth: lock", "    hash: \"{x32}\""},
    {"fifth: lock", "  specifier: ^5.3.0\n  version: 5.3.3"},
    {"fifth: lock", "\"shasum\": \"{x40}\""},
};

constexpr Line kPlaceholder[] = {
    {"fifth: placeholder", "API_KEY=your-api-key-here"},
    {"fifth: placeholder", "OPENAI_API_KEY=sk-..."},
    {"fifth: placeholder", "DB_PASSWORD=changeme"},
    {"fifth: placeholder", "password: <your password>"},
    {"fifth: placeholder", "SECRET_KEY=${}SECRET_KEY}"},
    {"fifth: placeholder", "TOKEN=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"fifth: placeholder", "aws_access_key_id = AKIAIOSFODNN7EXAMPLE"},
    {"fifth: placeholder", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
    {"fifth: placeholder", "STRIPE_SECRET_KEY=sk_test_XXXXXXXXXXXXXXXXXXXXXXXX"},
    {"fifth: placeholder", "curl -H \"Authorization: Bearer $TOKEN\" https://api.acme.io/v1/me"},
    {"fifth: placeholder", "curl -H \"Authorization: Bearer <token>\" https://api.acme.io"},
    {"fifth: placeholder", "postgres://user:password@localhost:5432/db"},
    {"fifth: placeholder", "mysql -u root -p\"$MYSQL_ROOT_PASSWORD\" shop"},
    {"fifth: placeholder", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"fifth: placeholder", "\"password\": \"********\""},
    {"fifth: placeholder", "password=[REDACTED]"},
    {"fifth: placeholder", "JWT_SECRET="},
    {"fifth: placeholder", "api_key: \"{}{} .Values.apiKey }}\""},
    {"fifth: placeholder", "secret: {}{} vault_db_password }}"},
    {"fifth: placeholder", "https://<username>:<password>@git.acme.io/app.git"},
    {"fifth: placeholder", "mongodb+srv://<username>:<password>@cluster0.mongodb.net/test"},
    {"fifth: placeholder", "SLACK_WEBHOOK_URL=https://hooks.slack.com/services/XXX/YYY/ZZZ"},
    {"fifth: placeholder", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"},
    {"fifth: placeholder", "client_secret = var.client_secret"},
    {"fifth: placeholder", "PASSWORD=TODO"},
};

constexpr Line kDocs[] = {
    {"fifth: docs", "`AWS_SECRET_ACCESS_KEY` - the secret access key of the IAM user (required)"},
    {"fifth: docs", "| `DB_PASSWORD` | string | none | Password of the database user |"},
    {"fifth: docs", "Set the `OPENAI_API_KEY` environment variable before you start the server."},
    {"fifth: docs", "--password-stdin   Take the password from stdin"},
    {"fifth: docs", "-p, --password string   Password"},
    {"fifth: docs", "The token is valid for 3600 seconds and must be sent in the `Authorization` header."},
    {"fifth: docs", "A JWT consists of three parts separated by dots: header.payload.signature"},
    {"fifth: docs", "Passwords must be at least 12 characters long and contain a digit and a symbol."},
    {"fifth: docs", "To create a personal access token, open Settings > Developer settings > Tokens."},
    {"fifth: docs", "Access keys start with `AKIA`, temporary ones with `ASIA`."},
    {"fifth: docs", "GitHub tokens have the prefix `ghp_`, followed by 36 characters."},
    {"fifth: docs", "See RFC 6750 for bearer token usage."},
    {"fifth: docs", "## Managing secrets"},
    {"fifth: docs", "- [ ] rotate database password every 90 days"},
    {"fifth: docs", "Your password will expire in 14 days."},
    {"fifth: docs", "@param password the password in clear text, never null"},
    {"fifth: docs", ":param api_key: API key used to authenticate"},
    {"fifth: docs", "Usage: login [--user USER] [--token TOKEN]"},
    {"fifth: docs", "The private key is stored in /etc/ssl/private/server.key and owned by root."},
};

constexpr Line kCode[] = {
    {"fifth: code", "password = os.environ[\"DB_PASSWORD\"]"},
    {"fifth: code", "const apiKey = process.env.API_KEY;"},
    {"fifth: code", "private String password;"},
    {"fifth: code", "def authenticate(username: str, password: str) -> bool:"},
    {"fifth: code", "func (c *Client) SetToken(token string) {}"},
    {"fifth: code", "public string ClientSecret {} get; set; }"},
    {"fifth: code", "if (!password) throw new Error('password is required');"},
    {"fifth: code", "password = getpass.getpass(\"Password: \")"},
    {"fifth: code", "token = request.headers.get(\"Authorization\", \"\").removeprefix(\"Bearer \")"},
    {"fifth: code", "self.secret_key = secret_key"},
    {"fifth: code", "let token = localStorage.getItem('access_token');"},
    {"fifth: code", "password_hash = bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=12))"},
    {"fifth: code", "it('rejects an invalid password', async () => {}"},
    {"fifth: code", "def test_token_is_refreshed_when_expired(self):"},
    {"fifth: code", "assert response.json()[\"detail\"] == \"Invalid token\""},
    {"fifth: code", "val apiToken: String by lazy {} config.getString(\"api.token\") }"},
    {"fifth: code", "const PASSWORD_MIN_LENGTH = 12;"},
    {"fifth: code", "TOKEN_TYPE_REFRESH = \"refresh_token\""},
    {"fifth: code", "use secrecy::{}ExposeSecret, SecretString};"},
    {"fifth: code", "import {} getSecret } from './secrets';"},
    {"fifth: code", "interface Credentials {} username: string; password: string; }"},
    {"fifth: code", "type Secret struct {}\n    Password string `json:\"password\"`\n}"},
    {"fifth: code", "tokens = tokenizer.encode(text, add_special_tokens=False)"},
    {"fifth: code", "max_tokens=4096, temperature=0.2"},
    {"fifth: code", "$password = $_POST['password'];"},
    {"fifth: code", "SELECT id, password_hash FROM users WHERE email = $1"},
    {"fifth: code", "ALTER TABLE users ADD COLUMN password_reset_token varchar(64);"},
    {"fifth: code", "CREATE TABLE api_keys (id uuid PRIMARY KEY, key_hash bytea NOT NULL);"},
    {"fifth: code", "key = f\"user:{}user_id}:session\""},
    {"fifth: code", "map.put(\"password\", passwordField.getText());"},
    {"fifth: code", "PasswordAuthentication no"},
    {"fifth: code", "#define TOKEN_LEFT_PAREN 42"},
    {"fifth: code", "enum TokenKind {} Ident, Number, StringLiteral }"},
    {"fifth: code", "hmac.Equal(expectedMAC, messageMAC)"},
    {"fifth: code", "const uint32_t k[64] = {}0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5};"},
};

constexpr Line kConfig[] = {
    {"fifth: config",
     "        valueFrom:\n          secretKeyRef:\n            name: db-credentials\n            key: "
     "password"},
    {"fifth: config", "  secretName: acme-tls"},
    {"fifth: config", "      existingSecret: postgres-auth"},
    {"fifth: config", "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256"},
    {"fifth: config", "db_password: {}{} lookup('env', 'DB_PASSWORD') }}"},
    {"fifth: config", "password = data.aws_secretsmanager_secret_version.db.secret_string"},
    {"fifth: config", "  POSTGRES_PASSWORD_FILE: /run/secrets/pg_password"},
    {"fifth: config", "secrets:\n  db_password:\n    file: ./db_password.txt"},
    {"fifth: config", "ssl_certificate_key /etc/nginx/ssl/acme.key;"},
    {"fifth: config", "spring.datasource.password=${}DB_PASSWORD:}"},
    {"fifth: config", "\"passwordPolicy\": {} \"minLength\": 12, \"requireSymbols\": true }"},
    {"fifth: config", "access_token_lifetime: 15m"},
    {"fifth: config", "IdentityFile ~/.ssh/id_ed25519"},
    {"fifth: config", "variable \"db_password\" {}\n  type      = string\n  sensitive = true\n}"},
    {"fifth: config", "token_endpoint: https://auth.acme.io/oauth/token"},
    {"fifth: config", "auth_pass ${}KEEPALIVED_PASS}"},
    {"fifth: config", "requirepass %REDIS_PASSWORD%"},
    {"fifth: config", "password_hashing scrypt"},
    {"fifth: config", "auth_user_pass_verify script.sh"},
    {"fifth: config", "label.password=Password"},
    {"fifth: config", "error.password.short=Password too short"},
};

constexpr Line kCi[] = {
    {"fifth: ci", "          token: ${}{} secrets.GITHUB_TOKEN }}"},
    {"fifth: ci", "      env:\n        NPM_TOKEN: ${}{} secrets.NPM_TOKEN }}"},
    {"fifth: ci", "withCredentials([string(credentialsId: 'sonar-token', variable: 'SONAR_TOKEN')]) {}"},
    {"fifth: ci", "password: $(DOCKER_PASSWORD)"},
    {"fifth: ci", "Masked variable: ***"},
    {"fifth: ci", "echo \"::add-mask::$TOKEN\""},
    {"fifth: ci", "    - docker login -u $CI_REGISTRY_USER -p $CI_REGISTRY_PASSWORD $CI_REGISTRY"},
    {"fifth: ci", "key: ${}{} runner.os }}-node-${}{} hashFiles('**/package-lock.json') }}"},
    {"fifth: ci", "Cache restored from key: Linux-node-{x64}"},
    {"fifth: ci", " ---> {x12}"},
    {"fifth: ci", "Removing intermediate container {x12}"},
    {"fifth: ci", "#12 sha256:{x64} 31.36MB / 31.36MB 2.1s done"},
};

constexpr Line kWeb[] = {
    {"fifth: web",
     "<script src=\"https://cdn.acme.io/app.js\" integrity=\"sha384-{b64}\" "
     "crossorigin=\"anonymous\"></script>"},
    {"fifth: web",
     "<img "
     "src=\"data:image/"
     "png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+"
     "M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\">"},
    {"fifth: web",
     "<input type=\"password\" name=\"password\" placeholder=\"Enter your password\" "
     "autocomplete=\"current-password\">"},
    {"fifth: web", "<label for=\"password\">Password</label>"},
    {"fifth: web", "\"login.password.placeholder\": \"Your password\","},
    {"fifth: web", "\"forgot_password\": \"Forgot your password?\","},
    {"fifth: web", ".token.keyword{}color:#07a}.token.string{}color:#690}"},
    {"fifth: web", "background:#{x6};color:#{x6}"},
    {"fifth: web",
     "!function(e,t){}\"object\"==typeof exports&&\"undefined\"!=typeof "
     "module?module.exports=t():e.Vue=t()}(this,function(){}"},
    {"fifth: web", "//# sourceMappingURL=main.{x8}.chunk.js.map"},
    {"fifth: web", "/static/js/main.{x8}.js"},
    {"fifth: web",
     "<path d=\"M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm0 18c-4.41 "
     "0-8-3.59-8-8\"/>"},
    {"fifth: web", "Access-Control-Allow-Headers: Authorization, X-Api-Key"},
    {"fifth: web", "WWW-Authenticate: Bearer realm=\"acme\", error=\"invalid_token\""},
    {"fifth: web", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="},
};

constexpr Line kLog[] = {
    {"fifth: log", "2024-05-14T10:21:07Z INFO  token refreshed for user {d6}"},
    {"fifth: log", "Failed password for invalid user admin from 203.0.113.7 port 51122 ssh2"},
    {"fifth: log", "ERROR: password authentication failed for user \"app\""},
    {"fifth: log", "Accepted publickey for deploy from 10.0.0.7 port 50022 ssh2: ED25519 SHA256:{b43}"},
    {"fifth: log", "Invalid API key provided"},
    {"fifth: log", "401 Unauthorized: token expired"},
    {"fifth: log", "tokens used: prompt=1520 completion=310 total=1830"},
    {"fifth: log", "[ok] secret/db-credentials configured"},
    {"fifth: log", "00000010: 4865 6c6c 6f20 576f 726c 640a 0000 0000  Hello World....."},
    {"fifth: log", "inet6 fe80::{x4}:{x4}:{x4}:{x4}/64 scope link"},
    {"fifth: log", "2001:db8:85a3::8a2e:370:7334"},
    {"fifth: log", "0x7ffd{x8} in main () at main.c:42"},
};

constexpr Line kData[] = {
    {"fifth: data", "+49 30 {d8}"},
    {"fifth: data", "ISBN 978-3-16-148410-0"},
    {"fifth: data", "{d4}-{d2}-{d2}T{d2}:{d2}:{d2}Z"},
    {"fifth: data", "AAAAC3NzaC1lZDI1NTE5AAAAI{b43} deploy@acme"},
    {"fifth: data", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} jo@laptop"},
    {"fifth: data",
     "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{b28}\n{b58}==\n-----END PUBLIC "
     "KEY-----"},
    {"fifth: data", "github.com,140.82.121.4 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43}"},
    {"fifth: data", "\"coordinates\": [13.{d6}, 52.{d6}], \"zoom\": 12"},
};

constexpr Line kProse[] = {
    {"fifth: prose", "I forgot my password, how do I reset it?"},
    {"fifth: prose", "can you add a password field to the login form?"},
    {"fifth: prose", "the token count is too high, shorten the prompt"},
    {"fifth: prose", "rename the variable secret to clientSecret everywhere"},
    {"fifth: prose", "why does the password check fail when the user is null?"},
    {"fifth: prose", "never commit API keys; use the vault instead"},
    {"fifth: prose", "the key idea is to split the parser from the lexer"},
    {"fifth: prose", "the function takes a token and returns the user, see verify_token() in auth.py"},
};

constexpr Line kCalls[] = {
    {"fifth: calls", "login(\"user\", \"password\")"},
    {"fifth: calls", "smtp.login(settings.user, settings.password)"},
    {"fifth: calls", "client.login(process.env.DISCORD_TOKEN)"},
    {"fifth: calls", "await login(page, \"admin\", \"admin123\")"},
    {"fifth: calls", "conn = psycopg2.connect(dsn, connect_timeout=10)"},
    {"fifth: calls", "conn = sqlite3.connect(\"build-2024/cache_v2.db\")"},
    {"fifth: calls", "socket.connect(\"/var/run/docker.sock\")"},
    {"fifth: calls", "client.connect(\"broker1.acme.io:8883\", \"sensor-0042\")"},
    {"fifth: calls", "DriverManager.getConnection(\"jdbc:h2:mem:test1\", \"sa\", \"\")"},
    {"fifth: calls", "new PDO('mysql:host=db1;dbname=shop2', $user, $password)"},
    {"fifth: calls", "new NetworkCredential(user, password)"},
    {"fifth: calls", "jwt.verify(token, publicKey, {} algorithms: ['RS256'] })"},
    {"fifth: calls", "jwt.sign(payload, process.env.JWT_SECRET, {} expiresIn: '15m' })"},
    {"fifth: calls", "createHmac('sha256', secret).update(body).digest('hex')"},
    {"fifth: calls", "crypto.createCipheriv('aes-256-gcm', key, iv)"},
    {"fifth: calls", "Cipher.getInstance(\"AES/CBC/PKCS5Padding\")"},
    {"fifth: calls", "hashlib.sha256(b\"{a16}\").hexdigest()"},
    {"fifth: calls", "assertEquals(\"{x64}\", sha256(\"hello world\"));"},
    {"fifth: calls", "git(\"checkout\", \"{x40}\")"},
    {"fifth: calls", "git(\"diff\", \"{x40}\", \"{x40}\")"},
    {"fifth: calls", "get(\"/api/v1/users/{x24}\")"},
    {"fifth: calls", "Client(\"https://api-v2.acme.io/v1\")"},
    {"fifth: calls", "client = Client(\"tcp://10.0.0.{d1}:8786\")"},
    {"fifth: calls", "new ObjectId(\"{x24}\")"},
    {"fifth: calls", "UUID.fromString(\"{@}\")"},
    {"fifth: calls", "new PublicKey(\"{a44}\")"},
    {"fifth: calls", "uuid.UUID(\"{@}\")"},
    {"fifth: calls", "b64decode(\"{b64}\")"},
    {"fifth: calls", "screen.getByTestId(\"login-form-{i6}\")"},
    {"fifth: calls", "cy.get('[data-test=\"login-submit-2\"]').click()"},
    {"fifth: calls", "require('./chunk-{U8}.js')"},
    {"fifth: calls", "import('./assets/Login-{a8}.js')"},
    {"fifth: calls", "bytes.fromhex(\"{x64}\")"},
    {"fifth: calls", "logger.info(\"login ok\", \"request-{x8}\")"},
    {"fifth: calls", "app.init(\"web\", \"2024.11.1-rc2\")"},
    {"fifth: calls", "verify(mock, times(2)).login(anyString(), anyString());"},
    {"fifth: calls", "navigate(\"/login?next=/teams/42/settings\")"},
    {"fifth: calls", "authenticate(\"ldap\", \"ou=people,dc=acme2\")"},
    {"fifth: calls", "docker.login(registry, username, password)"},
    {"fifth: calls", "sign(\"RSA-SHA256\", data)"},
    {"fifth: calls", "bind(\"<Control-Key-1>\", \"select_tab_1\")"},
    {"fifth: calls", "begin(\"transaction_2024_01\")"},
    {"fifth: calls", "start(\"worker-12@host-3\")"},
};

constexpr Line kWords[] = {
    {"fifth: words", "\"password\": \"Contraseña\","},
    {"fifth: words", "\"login.password\": \"Mot de passe\""},
    {"fifth: words", "login.password=Adgangskode"},
    {"fifth: words", "\"passwordPlaceholder\": \"Zadejte heslo\""},
    {"fifth: words", "msgid \"Password\"\nmsgstr \"Jelszó\""},
    {"fifth: words", "password: 'Şifre',"},
    {"fifth: words", "<string name=\"password\">Salasana</string>"},
    {"fifth: words", "Passwort vergessen? Wir senden dir einen Link."},
    {"fifth: words", "le mot de passe est trop court (8 caractères minimum)"},
    {"fifth: words", "la contraseña es obligatoria"},
    {"fifth: words", "the password for the staging db is in the vault"},
    {"fifth: words", "the password is rotated every 90 days by job-2024a"},
    {"fifth: words", "log in as admin / operator to see it"},
    {"fifth: words", "sign in with Google / GitHub (OAuth2)"},
    {"fifth: words", "put the file in as the first argument of v2.1.0"},
    {"fifth: words", "use bcrypt2 as the password hash"},
    {"fifth: words", "the pw field is required; pw and pw2 must match"},
    {"fifth: words", "pw = await prompt('Password')"},
    {"fifth: words", "enter the 6-digit code as the password"},
    {"fifth: words", "{x40} is the commit with the password reset"},
    {"fifth: words", "release v2.14.0-beta3 is the one with the password fix"},
};

constexpr Line kAddresses[] = {
    {"fifth: addresses", "https://api.acme.io/items?page_token={u32}"},
    {"fifth: addresses", "https://cdn.acme.io/app.js?v={x32}"},
    {"fifth: addresses", "https://github.com/acme/app/blob/{x40}/src/hooks/useLogin2.ts"},
    {"fifth: addresses", "https://api.github.com/repos/acme/app/hooks/{d9}/deliveries"},
    {"fifth: addresses", "POST /hooks/deploy/v2/production"},
    {"fifth: addresses", "https://app.acme.io/reset-password/step-2"},
    {"fifth: addresses", "https://docs.acme.io/webhooks/events-v2"},
    {"fifth: addresses", "https://acme.io/verify/email?lang=de-DE"},
    {"fifth: addresses", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"},
    {"fifth: addresses", "https://app.acme.io/board?appid=crm-2024-eu"},
    {"fifth: addresses", "https://acme.io/coupon?code=SUMMER2024"},
    {"fifth: addresses", "https://host.acme.io:8443/@scope/pkg-2"},
};

constexpr Line kCommands[] = {
    {"fifth: commands", "INSERT INTO users (email, password_hash) VALUES ($1, $2)"},
    {"fifth: commands", "INSERT INTO passes (id, gate) VALUES ('{@}', 'north-2')"},
    {"fifth: commands", "a001 OK LOGIN me@acme.io completed at 2026-03-02T10:21:07Z"},
    {"fifth: commands", "S: 250-AUTH PLAIN LOGIN XOAUTH2"},
    {"fifth: commands", "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{b200}"},
    {"fifth: commands", "curl -u :$PAT https://dev.azure.com/acme"},
    {"fifth: commands", "curl -u \"$TOKEN:\" https://api.acme.io"},
    {"fifth: commands", "npx -p typescript@5 tsc --noEmit"},
    {"fifth: commands", "mkdir -p build-2024/out_v2"},
    {"fifth: commands", "docker run -p 127.0.0.1:8080:80 web"},
    {"fifth: commands", "cat key.pem | openssl enc -aes-256-cbc -k \"$PASS\""},
    {"fifth: commands", "ssh-keygen -p -f ~/.ssh/id_ed25519"},
};

constexpr Line kKeys[] = {
    {"fifth: keys", "{}\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{u43}\",\"y\":\"{u43}\",\"kid\":\"{x16}\"}"},
    {"fifth: keys", "{}\"kty\":\"RSA\",\"n\":\"{u342}\",\"e\":\"AQAB\",\"use\":\"sig\",\"alg\":\"RS256\"}"},
    {"fifth: keys", "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM{b200}"},
    {"fifth: keys", "Public-Lines: 2\n{b64}\n{b16}"},
    {"fifth: keys", "const name = \"sk_live_\" + suffix;"},
    {"fifth: keys", "\"token=\" + encodeURIComponent(token)"},
    {"fifth: keys", "'Bearer ' + accessToken"},
};

}  // namespace

std::vector<BenignSample> fifth_benign(std::uint64_t seed, int rounds) {
  Lot lot(seed);
  std::vector<BenignSample> out;
  const auto add = [&](const auto& lines) {
    for (const Line& line : lines) out.push_back({line.group, sample(lot, line).text});
  };
  for (int round = 0; round < rounds; ++round)
    add(kHash), add(kId), add(kLock), add(kPlaceholder), add(kDocs), add(kCode), add(kConfig), add(kCi),
        add(kWeb), add(kLog), add(kData), add(kProse), add(kCalls), add(kWords), add(kAddresses),
        add(kCommands), add(kKeys);
  return out;
}

}  // namespace cairn::test
