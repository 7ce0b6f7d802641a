// Written after the first rules, from what services say of their tokens and from files as people have them,
// to see what rules make of shapes that they were not written for. They were mended by it since: now it
// guards.
#include <string>

#include "gate/corpus_random.h"
#include "gate/secret_corpus.h"

namespace cairn::test {

namespace {

// Everything between two braces of a line is drawn by lot: {a32} is 32 letters and digits, see `drawn`. What
// stands in double braces is drawn and is the secret.
struct Line {
  const char* group;
  const char* text;
};

std::string_view alphabet(char letter) {
  switch (letter) {
    case 'd': return kDigits;
    case 'x': return kHex;
    case 'l': return kLower;
    case 'U': return kUpperDigits;
    case '2': return kBase32;
    case 'i': return kBase36;
    case 'u': return kUrlSafe;
    case 'b': return kBase64;
    case 't': return kTyped;
    default: return kAlnum;
  }
}

std::string drawn(Lot& lot, std::string_view what) {
  if (what == "@") return lot.uuid();
  return lot.of(alphabet(what[0]), std::stoul(std::string(what.substr(1))));
}

SecretSample sample(Lot& lot, const Line& line) {
  SecretSample out{line.group, "second", "", {}};
  for (std::string_view rest = line.text; !rest.empty();) {
    const std::size_t open = rest.find('{');
    out.text += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const bool secret = rest.substr(open).starts_with("{{");
    const std::size_t begin = open + (secret ? 2 : 1), close = rest.find('}', begin);
    const std::string value = close == begin ? "{" : drawn(lot, rest.substr(begin, close - begin));
    out.text += value;
    if (secret) out.parts.push_back(value);
    rest.remove_prefix(close + (secret ? 2 : 1));
  }
  return out;
}

constexpr Line kServices[] = {
    {"second: services", "EASYPOST=EZAK{{a54}}"},
    {"second: services", "curl https://api.easypost.test -u EZTK{{a54}}:"},
    {"second: services", "duffel_live_{{u43}}"},
    {"second: services", "export DUFFEL=duffel_test_{{u43}}"},
    {"second: services", "using shippo_live_{{x40}} for rates"},
    {"second: services", "readme: rdme_{{i70}}"},
    {"second: services", "ico-{{a32}}"},
    {"second: services", "frame: fio-u-{{u64}}"},
    {"second: services", "tk-us-{{u48}}"},
    {"second: services", "s-s4t2ud-{{x64}}"},
    {"second: services", "oc login --token=sha256~{{u43}} --server=https://api.host.test:6443"},
    {"second: services", "Authorization: Bearer sha256~{{u43}}"},
    {"second: services", "sm_aat_{{a16}}"},
    {"second: services", "dnkey-{{U26}}-{{U52}}"},
    {"second: services", "x-api-key: API-{{U26}}"},
    {"second: services", "pat.{a22}.{x24}.{{a20}}"},
    {"second: services", "TRELLO=ATTA{{x72}}"},
    {"second: services", "pdl_live_apikey_{l10}{d4}_{{a22}}_{{a3}}"},
    {"second: services", "together: tgp_v1_{{u43}}"},
    {"second: services", "csk-{{i48}}"},
    {"second: services", "jina_{{a60}}"},
    {"second: services", "e2b_{{x40}}"},
    {"second: services", "firecrawl key fc-{{x32}}"},
    {"second: services", "posthog personal phx_{{a43}}"},
    {"second: services", "neon: napi_{{i64}}"},
    {"second: services", "signkey-prod-{{x64}}"},
    {"second: services", "trigger.dev uses tr_prod_{{a20}} here"},
    {"second: services", "axiom ingest xaat-{{@}}"},
    {"second: services", "LOGFIRE=pylf_v1_us_{{a43}}"},
    {"second: services", "HONEY=hcaik_{{i58}}"},
    {"second: services", "YANDEX=AQVN{{u35}}"},
    {"second: services", "clickhouse 4b1d{{a38}}"},
    {"second: services", "https://{{x32}}@o{d6}.ingest.sentry.io/{d7}"},
    {"second: services", "cloudinary://{d15}:{{u27}}@demo"},
    {"second: services", "maxmind {a6}_{{a29}}_mmk"},
    {"second: services", "mollie live_{{a30}}"},
    {"second: services", "FB=EAAM{{a120}}"},
    {"second: services", "sk-svcacct-{{u74}}T3BlbkFJ{{u74}}"},
    {"second: services", "sk-lf-{{@}}"},
    {"second: services", "sk_prod_{{u40}}"},
    {"second: services", "ghu_{{a36}}"},
    {"second: services", "ghs_{d6}_{{a60}}.{{u80}}.{{u40}}"},
    {"second: services", "glptt-{{x40}}"},
    {"second: services", "gltok: glimt-{{u25}}"},
    {"second: services", "xoxe.xoxp-1-{{a146}}"},
    {"second: services", "xoxc-{d12}-{d12}-{d12}-{{x64}}"},
    {"second: services", "hooks.slack.com/services/T{U9}/B{U9}/{{a24}}"},
    {"second: services", "https://discord.com/api/webhooks/{d18}/{{u68}}"},
    {"second: services", "dp.st.prd_api.{{a43}}"},
    {"second: services", "hvb.{{u120}}"},
    {"second: services", "VAULT_TOKEN=s.{{a24}}"},
    {"second: services", "AccountKey={{b86}}==;EndpointSuffix=core.windows.net"},
    {"second: services",
     "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={{b43}}="},
    {"second: services", "https://x.blob.core.windows.net/c?sv=2023&sp=r&sig={{a20}}%2B{{a20}}%3D"},
    {"second: services", "sq0idp-{{u22}}"},
    {"second: services", "SG.{{u22}}.{{u43}}"},
    {"second: services", "AGE-SECRET-KEY-1{{U58}}"},
    {"second: services", "tskey-auth-{a12}CNTRL-{{a32}}"},
    {"second: services", "lsv2_pt_{{x32}}_{{x10}}"},
    {"second: services", "pcsk_{a5}_{{a63}}"},
    {"second: services", "bb_live_{{u27}}"},
    {"second: services", "nk-{u40} is none that we know, but NOMIC_API_KEY=nk-{{u40}} is"},
};

constexpr Line kFiles[] = {
    {"second: files", "machine api.host.test\n  login dev\n  password {{t14}}\n"},
    {"second: files", "db.host.test:5432:app:app_user:{{a16}}\n"},
    {"second: files", "db.host.test:6543:app:app_user:{{a16}}\n"},
    {"second: files", "//registry.npmjs.org/:_authToken=npm_{{a36}}\nalways-auth=true\n"},
    {"second: files", "//npm.host.test/:_password={{b24}}==\n//npm.host.test/:username=dev\n"},
    {"second: files", "_auth={{b40}}==\nemail=dev@host.test\n"},
    {"second: files", "[pypi]\n  username = __token__\n  password = pypi-AgEIcHlwaS5vcmc{{u150}}\n"},
    {"second: files", "{}\"auths\":{}\"ghcr.io\":{}\"auth\":\"{{b44}}==\"}}}"},
    {"second: files", "[default]\naws_access_key_id = AKIA{{216}}\naws_secret_access_key = {{b40}}\n"},
    {"second: files", "[default]\naws_session_token={{b300}}==\nregion=eu-west-1\n"},
    {"second: files", "apiVersion: v1\nkind: Secret\ndata:\n  password: {{b24}}==\n  username: YXBw\n"},
    {"second: files", "apiVersion: v1\nkind: Secret\nstringData:\n  DB_PASSWORD: \"{{t16}}\"\n"},
    {"second: files", "users:\n- name: dev\n  user:\n    token: {{u120}}\n"},
    {"second: files", "variable \"db_password\" {}\n  default = \"{{t18}}\"\n}\n"},
    {"second: files", "resource \"x\" \"y\" {}\n  master_password = \"{{a20}}\"\n  name = \"db\"\n}\n"},
    {"second: files", "db_password = \"{{t18}}\"  # terraform.tfvars\n"},
    {"second: files", "ENV DATABASE_PASSWORD={{a18}}\nRUN make\n"},
    {"second: files", "ENV NPM_TOKEN {{a36}}\nRUN npm ci\n"},
    {"second: files", "ARG GITHUB_TOKEN=ghp_{{a36}}\n"},
    {"second: files", "    environment:\n      POSTGRES_PASSWORD: {{a16}}\n      POSTGRES_USER: app\n"},
    {"second: files", "    environment:\n      - MYSQL_ROOT_PASSWORD={{t14}}\n"},
    {"second: files", "spring.datasource.password={{a15}}\nspring.datasource.username=app\n"},
    {"second: files", "<server><id>nexus</id><username>ci</username><password>{{t15}}</password></server>"},
    {"second: files", "<add key=\"ApiKey\" value=\"{{a40}}\" />"},
    {"second: files", "<add name=\"Db\" connectionString=\"Server=db;User Id=sa;Password={{a14}};\" />"},
    {"second: files", "\"DefaultConnection\": \"Host=db;Username=app;Password={{a14}};Database=main\""},
    {"second: files", "jdbc:postgresql://db.host.test/app?user=app&password={{a16}}&ssl=true"},
    {"second: files", "jdbc:sqlserver://db.host.test;databaseName=app;user=sa;password={{a16}};"},
    {"second: files", "[remote \"origin\"]\n\turl = https://dev:ghp_{{a36}}@github.com/dev/app.git\n"},
    {"second: files", "https://oauth2:glpat-{{u20}}@gitlab.com/dev/app.git\n"},
    {"second: files", "https://x-access-token:{{a40}}@github.com/dev/app\n"},
    {"second: files", "secret_key_base: {{x128}}\n"},
    {"second: files", "RAILS_MASTER_KEY={{x32}}\n"},
    {"second: files", "SECRET_KEY = 'django-insecure-{{i50}}'\n"},
    {"second: files", "define('AUTH_KEY', '{{t60}}');\n"},
    {"second: files", "define( 'DB_PASSWORD', '{{a14}}' );\n"},
    {"second: files", "APP_KEY=base64:{{b43}}=\n"},
    {"second: files", "JWT_SECRET: {{a48}}\n"},
    {"second: files", "requirepass {{a24}}\n"},
    {"second: files", "bind_pw: \"{{t14}}\"\n"},
    {"second: files", "smtp_pass = {{t14}}\n"},
    {"second: files", "WIFI_PSK={{a20}}\n"},
    {"second: files", "PrivateKey = {{b43}}=\nAddress = 10.0.0.2/32\n"},
    {"second: files", "PresharedKey = {{b43}}=\n"},
    {"second: files", "keystore.password={{a12}}\nkeystore.path=/etc/x.jks\n"},
    {"second: files", "ansible_become_pass: {{t12}}\n"},
    {"second: files", "credentials:\n  access_key: {{a20}}\n  secret_key: {{b40}}\n"},
    {"second: files", "[client]\nuser=root\npassword=\"{{t14}}\"\n"},
    {"second: files", "passphrase = \"{{a24}}\"\n"},
    {"second: files", "HEROKU_API_KEY={{@}}\n"},
    {"second: files", "SNYK_TOKEN={{@}}\n"},
    {"second: files", "CODECOV_TOKEN: {{@}}\n"},
    {"second: files", "DD_API_KEY={{x32}}\nDD_APP_KEY={{x40}}\n"},
    {"second: files", "ALGOLIA_ADMIN_KEY: {{x32}}\n"},
    {"second: files", "cohere_api_key = \"{{a40}}\"\n"},
    {"second: files", "export MISTRAL_API_KEY={{a32}}\n"},
    {"second: files", "TWITCH_CLIENT_SECRET={{i30}}\n"},
    {"second: files", "ZENDESK_TOKEN = '{{a40}}'\n"},
    {"second: files", "consumer_secret: '{{a50}}'\n"},
    {"second: files", "SLACK_SIGNING_SECRET={{x32}}\n"},
};

constexpr Line kShown[] = {
    {"second: shown", "$ curl -u dev:{{a16}} https://host.test/api\n"},
    {"second: shown", "$ curl --user admin:{{t14}} https://host.test\n"},
    {"second: shown", "$ curl -H \"PRIVATE-TOKEN: {{u20}}\" https://gitlab.host.test\n"},
    {"second: shown", "$ curl -H 'X-Vault-Token: hvs.{{u24}}' $VAULT_ADDR\n"},
    {"second: shown", "$ http POST host.test Authorization:\"Token {{x40}}\"\n"},
    {"second: shown", "> Authorization: Basic {{b32}}==\r\n"},
    {"second: shown", "> authorization: ApiKey {{b40}}==\r\n"},
    {"second: shown", "< set-cookie: connect.sid=s%3A{{u32}}.{{a43}}; Path=/; HttpOnly\r\n"},
    {"second: shown", "Cookie: JSESSIONID={{U32}}; theme=dark\n"},
    {"second: shown", "Cookie: _gitlab_session={{x32}}\n"},
    {"second: shown", "Cookie: __Secure-next-auth.session-token={{u60}}\n"},
    {"second: shown", "GET /cb?code=4%2F0A{u10}&access_token=ya29.{{u120}} HTTP/1.1\n"},
    {"second: shown", "GET /v1/x?api_key={{x32}}&q=1 HTTP/1.1\" 200\n"},
    {"second: shown", "{}\"access_token\":\"{{a64}}\",\"expires_in\":3600}"},
    {"second: shown", "{}\\\"refresh_token\\\":\\\"{{u64}}\\\",\\\"scope\\\":\\\"a\\\"}"},
    {"second: shown", "{}\\\\\\\"client_secret\\\\\\\":\\\\\\\"{{u40}}\\\\\\\"}"},
    {"second: shown", "id_token=eyJhbGciOiJSUzI1NiJ9.eyJ{{u90}}.{{u86}}\n"},
    {"second: shown", "$ docker login -u dev -p {{a20}} ghcr.io\n"},
    {"second: shown", "$ mysql -h db -u root -p{{a14}} app\n"},
    {"second: shown", "$ PGPASSWORD={{a14}} psql -h db -U app\n"},
    {"second: shown", "$ sshpass -p '{{t12}}' ssh dev@host\n"},
    {"second: shown", "$ redis-cli -h cache -a {{a24}} ping\n"},
    {"second: shown", "$ aws configure set aws_secret_access_key {{b40}}\n"},
    {"second: shown", "$ gh secret set TOKEN --body {{a40}}\n"},
    {"second: shown", "$ kubectl create secret generic db --from-literal=password={{a16}}\n"},
    {"second: shown", "$ heroku config:set SECRET_KEY={{x64}}\n"},
    {"second: shown", "$ vault kv put secret/app password={{t14}}\n"},
    {"second: shown", "$ openssl enc -aes-256-cbc -pass pass:{{a16}} -in x\n"},
    {"second: shown", "$ echo $X | docker login --password-stdin\n$ export REGISTRY_TOKEN={{b40}}\n"},
    {"second: shown", "$ git remote -v\norigin\thttps://dev:{{a32}}@host.test/app.git (fetch)\n"},
    {"second: shown", "$ wget --password={{t14}} --user=dev https://host.test/x\n"},
    {"second: shown", "$ ldapsearch -D cn=admin -w {{a16}} -b dc=x\n"},
    {"second: shown", "The root password is {{a16}} and the user is admin.\n"},
    {"second: shown", "Your new API key: {{a40}}\nStore it safely.\n"},
    {"second: shown", "Generated token: {{x64}}\n"},
    {"second: shown", "Initial admin password: {{a20}}\n"},
    {"second: shown", "Client secret:\n\n    {{u40}}\n"},
    {"second: shown", "| DB_PASSWORD | {{a20}} | prod |\n"},
    {"second: shown", "-  api_key: \"{{a32}}\"\n+  api_key: <%= ENV['KEY'] %>\n"},
    {"second: shown", "- const stripe = new Stripe('sk_live_{{a24}}');\n"},
    {"second: shown", "client = OpenAI(api_key=\"sk-proj-{{u120}}\")\n"},
    {"second: shown", "axios.defaults.headers.common['Authorization'] = 'Bearer {{a40}}';\n"},
    {"second: shown", "new Client({} user: 'app', password: '{{t14}}' })\n"},
    {"second: shown", "conn = psycopg2.connect(user=\"app\", password=\"{{a14}}\", host=\"db\")\n"},
    {"second: shown", "mongoose.connect('mongodb+srv://app:{{a16}}@c0.mongodb.net/app')\n"},
    {"second: shown", "amqp://guest:{{a12}}@rabbit:5672/%2F\n"},
    {"second: shown", "redis://:{{a24}}@cache:6379/0\n"},
    {"second: shown", "next=postgres%3A%2F%2Fapp%3A{{a16}}%40db.host.test%2Fmain\n"},
    {"second: shown", "Warning: using password {{t12}} on the command line\nPASSWORD={{t12}}\n"},
};

constexpr Line kHarmless[] = {
    {"second: hashes", "Digest: sha256:{x64}\nStatus: Downloaded newer image for node:20\n"},
    {"second: hashes", "{x12}   redis:7   \"docker-entrypoint.s…\"   2 hours ago\n"},
    {"second: hashes", "[main {x7}] store: keep the token's place\n 2 files changed\n"},
    {"second: hashes", "HEAD is now at {x9} lexer: count tokens\n"},
    {"second: hashes", "object {x40}\ntype commit\ntag v1.2.3\n"},
    {"second: hashes", "integrity sha384-{b64}\n"},
    {"second: hashes", "<script src=\"a.js\" integrity=\"sha384-{b64}\" crossorigin=\"anonymous\"></script>"},
    {"second: hashes", "  hash = \"sha256-{b43}=\";\n"},
    {"second: hashes", "SHA256 ({l6}.tar.gz) = {x64}\n"},
    {"second: hashes", "Cache key: linux-node-modules-{x64}\n"},
    {"second: hashes", "cache-key: v1-deps-{x40}\n"},
    {"second: hashes", "ETag: W/\"{x5}-{u27}\"\n"},
    {"second: hashes", "build/assets/index-{u8}.js  142.31 kB │ gzip: 45.80 kB\n"},
    {"second: hashes", "main.{x20}.chunk.css.map\n"},
    {"second: hashes", "x-request-id: {@}\nx-amz-cf-id: {u54}==\n"},
    {"second: hashes", "traceparent: 00-{x32}-{x16}-01\n"},
    {"second: hashes", "fingerprint: SHA256:{b43} dev@host (ED25519)\n"},
    {"second: hashes", "primary key fingerprint: {U4} {U4} {U4} {U4} {U4}\n"},
    {"second: hashes", "public_key = \"{b43}=\"\n"},
    {"second: hashes", "PublicKey = {b43}=\nAllowedIPs = 10.0.0.0/24\n"},
    {"second: hashes", "checksum: {x64}\n"},
    {"second: hashes", "content_hash: {x64}\nfile_key: uploads/{x32}.png\n"},
    {"second: ids", "msg_{a24} toolu_{a24} req_{a24}\n"},
    {"second: ids", "cus_{a14} pi_{a24} price_{a24} evt_{a24}\n"},
    {"second: ids", "\"id\": \"chatcmpl-{a29}\", \"object\": \"chat.completion\"\n"},
    {"second: ids", "run_{a24} completed in 3s (thread_{a24})\n"},
    {"second: ids", "user_{a27} org_{a27}\n"},
    {"second: ids", "\"sessionId\":\"{@}\",\"version\":\"2.1.0\"\n"},
    {"second: ids", "\"tool_use_id\": \"toolu_{a24}\"\n"},
    {"second: ids", "\"private_key_id\": \"{x40}\",\n"},
    {"second: ids", "correlation_id={@} tenant={@}\n"},
    {"second: ids", "primary_key={d12} sort_key=user#{d8}\n"},
    {"second: ids", "partition key: {x16}\nrouting_key: orders.created\n"},
    {"second: ids", "i-0{x16} sg-0{x16} subnet-0{x16} arn:aws:s3:::bucket-{l6}\n"},
    {"second: ids", "projects/app-{d6}/secrets/db-password/versions/3\n"},
    {"second: ids", "secretKeyRef:\n  name: db-credentials\n  key: password\n"},
    {"second: ids", "imagePullSecrets:\n- name: registry-{l6}\n"},
    {"second: ids", "kubernetes.io/service-account-token   3   12d\n"},
    {"second: ids", "default-token-{l5}   kubernetes.io/service-account-token\n"},
    {"second: ids", "GOOGLE_CLIENT_ID={d12}-{i32}.apps.googleusercontent.com\n"},
    {"second: ids", "NEXT_PUBLIC_POSTHOG_HOST=https://eu.posthog.host.test\n"},
    {"second: ids", "tracking UA-{d8}-1 G-{U10} GTM-{U7}\n"},
    {"second: code", "token = parser.next()\n"},
    {"second: code", "password: str\n    token: Optional[str] = None\n"},
    {"second: code", "const token = await getToken({} audience, scope });\n"},
    {"second: code", "if (!password || password.length < 8) throw new Error('password too short');\n"},
    {"second: code", "let secret = std::env::var(\"APP_SECRET\").expect(\"APP_SECRET must be set\");\n"},
    {"second: code", "api_key = os.getenv(\"OPENAI_API_KEY\")\n"},
    {"second: code", "apiKey: import.meta.env.VITE_API_KEY,\n"},
    {"second: code", "password = Rails.application.credentials.dig(:db, :password)\n"},
    {"second: code", "SecretKeySpec key = new SecretKeySpec(keyBytes, \"AES\");\n"},
    {"second: code", "auth := base64.StdEncoding.EncodeToString([]byte(user + \":\" + pass))\n"},
    {"second: code", "$password = password_hash($_POST['password'], PASSWORD_DEFAULT);\n"},
    {"second: code", "authorization: `Bearer ${}token}`,\n"},
    {"second: code", "headers[\"Authorization\"] = f\"Bearer {}self._token}\"\n"},
    {"second: code", "Token::Ident(name) => self.advance_token(TokenKind::Ident),\n"},
    {"second: code", "  Token(kind=TokenKind.STRING, value='{l8}', line={d2})\n"},
    {"second: code", "def authenticate(self, request, username=None, password=None, **kwargs):\n"},
    {"second: code", "SELECT id, password_hash, api_key_id FROM users WHERE session_id = $1;\n"},
    {"second: code", "key: Symbol.for('react.element'), password: null, token: undefined\n"},
    {"second: code", "<input type=\"password\" id=\"new-password\" name=\"newPassword\" required>\n"},
    {"second: code", "<label for=\"api-key\">API key</label><token-input key={}item.id} />\n"},
    {"second: code", ".token.keyword{}color:#{x6}}.token.string{}color:#{x6}}\n"},
    {"second: code", "#{x6};--color-secret-{l5}:#{x6}\n"},
    {"second: code", "func NewTokenizer(r io.Reader, opts ...TokenOption) *Tokenizer {}\n"},
    {"second: code", "export const SESSION_COOKIE_NAME = 'app.session-token';\n"},
    {"second: code", "static const char *kSecretAttr = \"org.app.secret.attribute\";\n"},
    {"second: code", "public static final String TOKEN_HEADER = \"X-Auth-Token\";\n"},
    {"second: code", "assertThat(jwt.getToken()).isEqualTo(expectedToken);\n"},
    {"second: code",
     "it('rejects an expired token', async () => {} await expect(verify(token)).rejects });\n"},
    {"second: code", "key = hashlib.sha256(f\"{}user}:{}path}\".encode()).hexdigest()\n"},
    {"second: code", "credentials: 'same-origin', mode: 'cors', keepalive: true\n"},
    {"second: code", "secret: ${}{} secrets.DEPLOY_KEY }}\n"},
    {"second: code", "with:\n  token: ${}{} github.token }}\n  password: ${}{} secrets.PYPI_TOKEN }}\n"},
    {"second: code", "token: !reference [.vault, script]\npassword: !vault |\n"},
    {"second: code", "password = data.vault_generic_secret.db.data[\"password\"]\n"},
    {"second: code", "secret_id = aws_secretsmanager_secret.db.id\nkms_key_id = aws_kms_key.main.arn\n"},
    {"second: code", "password: \"{}{} vault_db_password }}\"\n"},
    {"second: code", "-e POSTGRES_PASSWORD=\"$POSTGRES_PASSWORD\" -e TOKEN=\"${}TOKEN}\"\n"},
    {"second: code", "curl -H \"Authorization: Bearer $TOKEN\" -u \"$USER:$PASS\" https://host.test\n"},
    {"second: code", "git clone https://${}GITHUB_TOKEN}@github.com/dev/app.git\n"},
    {"second: placeholders", "API_KEY=<your-api-key>\nSECRET=xxxxxxxxxxxxxxxx\n"},
    {"second: placeholders", "OPENAI_API_KEY=sk-...\nANTHROPIC_API_KEY=sk-ant-...\n"},
    {"second: placeholders", "password: ********\ntoken: [REDACTED]\n"},
    {"second: placeholders", "DATABASE_URL=postgres://user:password@localhost:5432/db\n"},
    {"second: placeholders", "DATABASE_URL=postgresql://postgres:postgres@localhost/app\n"},
    {"second: placeholders", "export TOKEN=YOUR_TOKEN_HERE PASSWORD=changeme\n"},
    {"second: placeholders", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"},
    {"second: placeholders", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"},
    {"second: placeholders", "Authorization: Bearer YOUR_ACCESS_TOKEN\n"},
    {"second: placeholders", "client_secret=INSERT_CLIENT_SECRET_HERE\n"},
    {"second: placeholders", "password = \"test\"; secret = 'secret'; token = \"abc123\"\n"},
    {"second: placeholders", "STRIPE_KEY=sk_test_XXXXXXXXXXXXXXXXXXXXXXXX\n"},
    {"second: placeholders", "redis://:password@localhost:6379 amqp://guest:guest@localhost\n"},
    {"second: placeholders", "mysql -u root -p app < dump.sql\n"},
    {"second: placeholders", "docker run -p 8080:80 -e KEY=value image:{x7}\n"},
    {"second: placeholders", "mkdir -p build/{l8} && ssh -p 2222 host\n"},
    {"second: placeholders", "curl -u user:pass http://localhost:8080/\n"},
    {"second: texts", "tokens: {d5} in, {d4} out; cache read {d6}\n"},
    {"second: texts", "The access token expires after 3600 seconds and must be refreshed.\n"},
    {"second: texts", "Enter password for user dev: \nPassword updated successfully.\n"},
    {"second: texts", "error: invalid token '}' at line {d3}, column {d2}\n"},
    {"second: texts", "SyntaxError: Unexpected token '<', \"<!doctype \"... is not valid JSON\n"},
    {"second: texts", "fatal: could not read Password for 'https://github.com': terminal prompts disabled\n"},
    {"second: texts", "Permission denied (publickey,password).\n"},
    {"second: texts", "KeyError: 'session_token'\n  File \"/home/dev/app/auth.py\", line {d2}\n"},
    {"second: texts", "auth.token.refresh=ok user.key.count={d3} secret.rotation.days=90\n"},
    {"second: texts", "Author: dev <dev@host.test>\nDate:   Mon Mar 2 10:{d2}:{d2} 2026 +0100\n"},
    {"second: texts", "PASS  src/auth/token.test.ts (5.{d3} s)\nFAIL  src/keys/secret-store.test.ts\n"},
    {"second: texts", "  ✓ hashes the password with a salt ({d2} ms)\n"},
    {"second: texts", "warning: unused variable: `session_key`\n  --> src/auth.rs:{d3}:9\n"},
    {"second: texts", "npm WARN deprecated token-types@4.2.{d1}: use peek-readable\n"},
    {"second: texts",
     "+ \"jsonwebtoken\": \"^9.0.{d1}\", \"cookie-parser\": \"~1.4.{d1}\", \"keytar\": \"7.9.0\"\n"},
    {"second: texts",
     "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg==\n"},
    {"second: texts", "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ{b300}\n"},
    {"second: texts",
     "-----BEGIN CERTIFICATE REQUEST-----\n{b64}\n{b64}\n-----END CERTIFICATE REQUEST-----\n"},
    {"second: texts",
     "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{b64}\n{b64}\n=aBcD\n-----END PGP PUBLIC KEY BLOCK-----\n"},
    {"second: texts", "-----BEGIN PGP SIGNATURE-----\n\n{b64}\n{b64}\n-----END PGP SIGNATURE-----\n"},
    {"second: texts", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{b360} dev@host\n"},
};

}  // namespace

std::vector<SecretSample> second_secrets(std::uint64_t seed) {
  Lot lot(seed);
  std::vector<SecretSample> out;
  for (const Line& line : kServices) out.push_back(sample(lot, line));
  for (const Line& line : kFiles) out.push_back(sample(lot, line));
  for (const Line& line : kShown) out.push_back(sample(lot, line));
  return out;
}

std::vector<BenignSample> second_benign(std::uint64_t seed, int rounds) {
  Lot lot(seed);
  std::vector<BenignSample> out;
  for (int round = 0; round < rounds; ++round)
    for (const Line& line : kHarmless) out.push_back({line.group, sample(lot, line).text});
  return out;
}

}  // namespace cairn::test
