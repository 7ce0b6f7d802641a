// Written after the rules, from what services say of their tokens and from files as people have them, to see
// what the rules make of shapes that they were not written for.
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
  SecretSample out{line.group, "held out", "", {}};
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
    {"held out: services", "EASYPOST=EZAK{{a54}}"},
    {"held out: services", "curl https://api.easypost.test -u EZTK{{a54}}:"},
    {"held out: services", "duffel_live_{{u43}}"},
    {"held out: services", "export DUFFEL=duffel_test_{{u43}}"},
    {"held out: services", "using shippo_live_{{x40}} for rates"},
    {"held out: services", "readme: rdme_{{i70}}"},
    {"held out: services", "ico-{{a32}}"},
    {"held out: services", "frame: fio-u-{{u64}}"},
    {"held out: services", "tk-us-{{u48}}"},
    {"held out: services", "s-s4t2ud-{{x64}}"},
    {"held out: services", "oc login --token=sha256~{{u43}} --server=https://api.host.test:6443"},
    {"held out: services", "Authorization: Bearer sha256~{{u43}}"},
    {"held out: services", "sm_aat_{{a16}}"},
    {"held out: services", "dnkey-{{U26}}-{{U52}}"},
    {"held out: services", "x-api-key: API-{{U26}}"},
    {"held out: services", "pat.{a22}.{x24}.{{a20}}"},
    {"held out: services", "TRELLO=ATTA{{x72}}"},
    {"held out: services", "pdl_live_apikey_{l10}{d4}_{{a22}}_{{a3}}"},
    {"held out: services", "together: tgp_v1_{{u43}}"},
    {"held out: services", "csk-{{i48}}"},
    {"held out: services", "jina_{{a60}}"},
    {"held out: services", "e2b_{{x40}}"},
    {"held out: services", "firecrawl key fc-{{x32}}"},
    {"held out: services", "posthog personal phx_{{a43}}"},
    {"held out: services", "neon: napi_{{i64}}"},
    {"held out: services", "signkey-prod-{{x64}}"},
    {"held out: services", "trigger.dev uses tr_prod_{{a20}} here"},
    {"held out: services", "axiom ingest xaat-{{@}}"},
    {"held out: services", "LOGFIRE=pylf_v1_us_{{a43}}"},
    {"held out: services", "HONEY=hcaik_{{i58}}"},
    {"held out: services", "YANDEX=AQVN{{u35}}"},
    {"held out: services", "clickhouse 4b1d{{a38}}"},
    {"held out: services", "https://{{x32}}@o{d6}.ingest.sentry.io/{d7}"},
    {"held out: services", "cloudinary://{d15}:{{u27}}@demo"},
    {"held out: services", "maxmind {a6}_{{a29}}_mmk"},
    {"held out: services", "mollie live_{{a30}}"},
    {"held out: services", "FB=EAAM{{a120}}"},
    {"held out: services", "sk-svcacct-{{u74}}T3BlbkFJ{{u74}}"},
    {"held out: services", "sk-lf-{{@}}"},
    {"held out: services", "sk_prod_{{u40}}"},
    {"held out: services", "ghu_{{a36}}"},
    {"held out: services", "ghs_{d6}_{{a60}}.{{u80}}.{{u40}}"},
    {"held out: services", "glptt-{{x40}}"},
    {"held out: services", "gltok: glimt-{{u25}}"},
    {"held out: services", "xoxe.xoxp-1-{{a146}}"},
    {"held out: services", "xoxc-{d12}-{d12}-{d12}-{{x64}}"},
    {"held out: services", "hooks.slack.com/services/T{U9}/B{U9}/{{a24}}"},
    {"held out: services", "https://discord.com/api/webhooks/{d18}/{{u68}}"},
    {"held out: services", "dp.st.prd_api.{{a43}}"},
    {"held out: services", "hvb.{{u120}}"},
    {"held out: services", "VAULT_TOKEN=s.{{a24}}"},
    {"held out: services", "AccountKey={{b86}}==;EndpointSuffix=core.windows.net"},
    {"held out: services",
     "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={{b43}}="},
    {"held out: services", "https://x.blob.core.windows.net/c?sv=2023&sp=r&sig={{a20}}%2B{{a20}}%3D"},
    {"held out: services", "sq0idp-{{u22}}"},
    {"held out: services", "SG.{{u22}}.{{u43}}"},
    {"held out: services", "AGE-SECRET-KEY-1{{U58}}"},
    {"held out: services", "tskey-auth-{a12}CNTRL-{{a32}}"},
    {"held out: services", "lsv2_pt_{{x32}}_{{x10}}"},
    {"held out: services", "pcsk_{a5}_{{a63}}"},
    {"held out: services", "bb_live_{{u27}}"},
    {"held out: services", "nk-{u40} is none that we know, but NOMIC_API_KEY=nk-{{u40}} is"},
};

constexpr Line kFiles[] = {
    {"held out: files", "machine api.host.test\n  login dev\n  password {{t14}}\n"},
    {"held out: files", "db.host.test:5432:app:app_user:{{a16}}\n"},
    {"held out: files", "db.host.test:6543:app:app_user:{{a16}}\n"},
    {"held out: files", "//registry.npmjs.org/:_authToken=npm_{{a36}}\nalways-auth=true\n"},
    {"held out: files", "//npm.host.test/:_password={{b24}}==\n//npm.host.test/:username=dev\n"},
    {"held out: files", "_auth={{b40}}==\nemail=dev@host.test\n"},
    {"held out: files", "[pypi]\n  username = __token__\n  password = pypi-AgEIcHlwaS5vcmc{{u150}}\n"},
    {"held out: files", "{}\"auths\":{}\"ghcr.io\":{}\"auth\":\"{{b44}}==\"}}}"},
    {"held out: files", "[default]\naws_access_key_id = AKIA{{216}}\naws_secret_access_key = {{b40}}\n"},
    {"held out: files", "[default]\naws_session_token={{b300}}==\nregion=eu-west-1\n"},
    {"held out: files", "apiVersion: v1\nkind: Secret\ndata:\n  password: {{b24}}==\n  username: YXBw\n"},
    {"held out: files", "apiVersion: v1\nkind: Secret\nstringData:\n  DB_PASSWORD: \"{{t16}}\"\n"},
    {"held out: files", "users:\n- name: dev\n  user:\n    token: {{u120}}\n"},
    {"held out: files", "variable \"db_password\" {}\n  default = \"{{t18}}\"\n}\n"},
    {"held out: files", "resource \"x\" \"y\" {}\n  master_password = \"{{a20}}\"\n  name = \"db\"\n}\n"},
    {"held out: files", "db_password = \"{{t18}}\"  # terraform.tfvars\n"},
    {"held out: files", "ENV DATABASE_PASSWORD={{a18}}\nRUN make\n"},
    {"held out: files", "ENV NPM_TOKEN {{a36}}\nRUN npm ci\n"},
    {"held out: files", "ARG GITHUB_TOKEN=ghp_{{a36}}\n"},
    {"held out: files", "    environment:\n      POSTGRES_PASSWORD: {{a16}}\n      POSTGRES_USER: app\n"},
    {"held out: files", "    environment:\n      - MYSQL_ROOT_PASSWORD={{t14}}\n"},
    {"held out: files", "spring.datasource.password={{a15}}\nspring.datasource.username=app\n"},
    {"held out: files", "<server><id>nexus</id><username>ci</username><password>{{t15}}</password></server>"},
    {"held out: files", "<add key=\"ApiKey\" value=\"{{a40}}\" />"},
    {"held out: files", "<add name=\"Db\" connectionString=\"Server=db;User Id=sa;Password={{a14}};\" />"},
    {"held out: files", "\"DefaultConnection\": \"Host=db;Username=app;Password={{a14}};Database=main\""},
    {"held out: files", "jdbc:postgresql://db.host.test/app?user=app&password={{a16}}&ssl=true"},
    {"held out: files", "jdbc:sqlserver://db.host.test;databaseName=app;user=sa;password={{a16}};"},
    {"held out: files", "[remote \"origin\"]\n\turl = https://dev:ghp_{{a36}}@github.com/dev/app.git\n"},
    {"held out: files", "https://oauth2:glpat-{{u20}}@gitlab.com/dev/app.git\n"},
    {"held out: files", "https://x-access-token:{{a40}}@github.com/dev/app\n"},
    {"held out: files", "secret_key_base: {{x128}}\n"},
    {"held out: files", "RAILS_MASTER_KEY={{x32}}\n"},
    {"held out: files", "SECRET_KEY = 'django-insecure-{{i50}}'\n"},
    {"held out: files", "define('AUTH_KEY', '{{t60}}');\n"},
    {"held out: files", "define( 'DB_PASSWORD', '{{a14}}' );\n"},
    {"held out: files", "APP_KEY=base64:{{b43}}=\n"},
    {"held out: files", "JWT_SECRET: {{a48}}\n"},
    {"held out: files", "requirepass {{a24}}\n"},
    {"held out: files", "bind_pw: \"{{t14}}\"\n"},
    {"held out: files", "smtp_pass = {{t14}}\n"},
    {"held out: files", "WIFI_PSK={{a20}}\n"},
    {"held out: files", "PrivateKey = {{b43}}=\nAddress = 10.0.0.2/32\n"},
    {"held out: files", "PresharedKey = {{b43}}=\n"},
    {"held out: files", "keystore.password={{a12}}\nkeystore.path=/etc/x.jks\n"},
    {"held out: files", "ansible_become_pass: {{t12}}\n"},
    {"held out: files", "credentials:\n  access_key: {{a20}}\n  secret_key: {{b40}}\n"},
    {"held out: files", "[client]\nuser=root\npassword=\"{{t14}}\"\n"},
    {"held out: files", "passphrase = \"{{a24}}\"\n"},
    {"held out: files", "HEROKU_API_KEY={{@}}\n"},
    {"held out: files", "SNYK_TOKEN={{@}}\n"},
    {"held out: files", "CODECOV_TOKEN: {{@}}\n"},
    {"held out: files", "DD_API_KEY={{x32}}\nDD_APP_KEY={{x40}}\n"},
    {"held out: files", "ALGOLIA_ADMIN_KEY: {{x32}}\n"},
    {"held out: files", "cohere_api_key = \"{{a40}}\"\n"},
    {"held out: files", "export MISTRAL_API_KEY={{a32}}\n"},
    {"held out: files", "TWITCH_CLIENT_SECRET={{i30}}\n"},
    {"held out: files", "ZENDESK_TOKEN = '{{a40}}'\n"},
    {"held out: files", "consumer_secret: '{{a50}}'\n"},
    {"held out: files", "SLACK_SIGNING_SECRET={{x32}}\n"},
};

constexpr Line kShown[] = {
    {"held out: shown", "$ curl -u dev:{{a16}} https://host.test/api\n"},
    {"held out: shown", "$ curl --user admin:{{t14}} https://host.test\n"},
    {"held out: shown", "$ curl -H \"PRIVATE-TOKEN: {{u20}}\" https://gitlab.host.test\n"},
    {"held out: shown", "$ curl -H 'X-Vault-Token: hvs.{{u24}}' $VAULT_ADDR\n"},
    {"held out: shown", "$ http POST host.test Authorization:\"Token {{x40}}\"\n"},
    {"held out: shown", "> Authorization: Basic {{b32}}==\r\n"},
    {"held out: shown", "> authorization: ApiKey {{b40}}==\r\n"},
    {"held out: shown", "< set-cookie: connect.sid=s%3A{{u32}}.{{a43}}; Path=/; HttpOnly\r\n"},
    {"held out: shown", "Cookie: JSESSIONID={{U32}}; theme=dark\n"},
    {"held out: shown", "Cookie: _gitlab_session={{x32}}\n"},
    {"held out: shown", "Cookie: __Secure-next-auth.session-token={{u60}}\n"},
    {"held out: shown", "GET /cb?code=4%2F0A{u10}&access_token=ya29.{{u120}} HTTP/1.1\n"},
    {"held out: shown", "GET /v1/x?api_key={{x32}}&q=1 HTTP/1.1\" 200\n"},
    {"held out: shown", "{}\"access_token\":\"{{a64}}\",\"expires_in\":3600}"},
    {"held out: shown", "{}\\\"refresh_token\\\":\\\"{{u64}}\\\",\\\"scope\\\":\\\"a\\\"}"},
    {"held out: shown", "{}\\\\\\\"client_secret\\\\\\\":\\\\\\\"{{u40}}\\\\\\\"}"},
    {"held out: shown", "id_token=eyJhbGciOiJSUzI1NiJ9.eyJ{{u90}}.{{u86}}\n"},
    {"held out: shown", "$ docker login -u dev -p {{a20}} ghcr.io\n"},
    {"held out: shown", "$ mysql -h db -u root -p{{a14}} app\n"},
    {"held out: shown", "$ PGPASSWORD={{a14}} psql -h db -U app\n"},
    {"held out: shown", "$ sshpass -p '{{t12}}' ssh dev@host\n"},
    {"held out: shown", "$ redis-cli -h cache -a {{a24}} ping\n"},
    {"held out: shown", "$ aws configure set aws_secret_access_key {{b40}}\n"},
    {"held out: shown", "$ gh secret set TOKEN --body {{a40}}\n"},
    {"held out: shown", "$ kubectl create secret generic db --from-literal=password={{a16}}\n"},
    {"held out: shown", "$ heroku config:set SECRET_KEY={{x64}}\n"},
    {"held out: shown", "$ vault kv put secret/app password={{t14}}\n"},
    {"held out: shown", "$ openssl enc -aes-256-cbc -pass pass:{{a16}} -in x\n"},
    {"held out: shown", "$ echo $X | docker login --password-stdin\n$ export REGISTRY_TOKEN={{b40}}\n"},
    {"held out: shown", "$ git remote -v\norigin\thttps://dev:{{a32}}@host.test/app.git (fetch)\n"},
    {"held out: shown", "$ wget --password={{t14}} --user=dev https://host.test/x\n"},
    {"held out: shown", "$ ldapsearch -D cn=admin -w {{a16}} -b dc=x\n"},
    {"held out: shown", "The root password is {{a16}} and the user is admin.\n"},
    {"held out: shown", "Your new API key: {{a40}}\nStore it safely.\n"},
    {"held out: shown", "Generated token: {{x64}}\n"},
    {"held out: shown", "Initial admin password: {{a20}}\n"},
    {"held out: shown", "Client secret:\n\n    {{u40}}\n"},
    {"held out: shown", "| DB_PASSWORD | {{a20}} | prod |\n"},
    {"held out: shown", "-  api_key: \"{{a32}}\"\n+  api_key: <%= ENV['KEY'] %>\n"},
    {"held out: shown", "- const stripe = new Stripe('sk_live_{{a24}}');\n"},
    {"held out: shown", "client = OpenAI(api_key=\"sk-proj-{{u120}}\")\n"},
    {"held out: shown", "axios.defaults.headers.common['Authorization'] = 'Bearer {{a40}}';\n"},
    {"held out: shown", "new Client({} user: 'app', password: '{{t14}}' })\n"},
    {"held out: shown", "conn = psycopg2.connect(user=\"app\", password=\"{{a14}}\", host=\"db\")\n"},
    {"held out: shown", "mongoose.connect('mongodb+srv://app:{{a16}}@c0.mongodb.net/app')\n"},
    {"held out: shown", "amqp://guest:{{a12}}@rabbit:5672/%2F\n"},
    {"held out: shown", "redis://:{{a24}}@cache:6379/0\n"},
    {"held out: shown", "next=postgres%3A%2F%2Fapp%3A{{a16}}%40db.host.test%2Fmain\n"},
    {"held out: shown", "Warning: using password {{t12}} on the command line\nPASSWORD={{t12}}\n"},
};

constexpr Line kHarmless[] = {
    {"held out: hashes", "Digest: sha256:{x64}\nStatus: Downloaded newer image for node:20\n"},
    {"held out: hashes", "{x12}   redis:7   \"docker-entrypoint.s…\"   2 hours ago\n"},
    {"held out: hashes", "[main {x7}] store: keep the token's place\n 2 files changed\n"},
    {"held out: hashes", "HEAD is now at {x9} lexer: count tokens\n"},
    {"held out: hashes", "object {x40}\ntype commit\ntag v1.2.3\n"},
    {"held out: hashes", "integrity sha384-{b64}\n"},
    {"held out: hashes",
     "<script src=\"a.js\" integrity=\"sha384-{b64}\" crossorigin=\"anonymous\"></script>"},
    {"held out: hashes", "  hash = \"sha256-{b43}=\";\n"},
    {"held out: hashes", "SHA256 ({l6}.tar.gz) = {x64}\n"},
    {"held out: hashes", "Cache key: linux-node-modules-{x64}\n"},
    {"held out: hashes", "cache-key: v1-deps-{x40}\n"},
    {"held out: hashes", "ETag: W/\"{x5}-{u27}\"\n"},
    {"held out: hashes", "build/assets/index-{u8}.js  142.31 kB │ gzip: 45.80 kB\n"},
    {"held out: hashes", "main.{x20}.chunk.css.map\n"},
    {"held out: hashes", "x-request-id: {@}\nx-amz-cf-id: {u54}==\n"},
    {"held out: hashes", "traceparent: 00-{x32}-{x16}-01\n"},
    {"held out: hashes", "fingerprint: SHA256:{b43} dev@host (ED25519)\n"},
    {"held out: hashes", "primary key fingerprint: {U4} {U4} {U4} {U4} {U4}\n"},
    {"held out: hashes", "public_key = \"{b43}=\"\n"},
    {"held out: hashes", "PublicKey = {b43}=\nAllowedIPs = 10.0.0.0/24\n"},
    {"held out: hashes", "checksum: {x64}\n"},
    {"held out: hashes", "content_hash: {x64}\nfile_key: uploads/{x32}.png\n"},
    {"held out: ids", "msg_{a24} toolu_{a24} req_{a24}\n"},
    {"held out: ids", "cus_{a14} pi_{a24} price_{a24} evt_{a24}\n"},
    {"held out: ids", "\"id\": \"chatcmpl-{a29}\", \"object\": \"chat.completion\"\n"},
    {"held out: ids", "run_{a24} completed in 3s (thread_{a24})\n"},
    {"held out: ids", "user_{a27} org_{a27}\n"},
    {"held out: ids", "\"sessionId\":\"{@}\",\"version\":\"2.1.0\"\n"},
    {"held out: ids", "\"tool_use_id\": \"toolu_{a24}\"\n"},
    {"held out: ids", "\"private_key_id\": \"{x40}\",\n"},
    {"held out: ids", "correlation_id={@} tenant={@}\n"},
    {"held out: ids", "primary_key={d12} sort_key=user#{d8}\n"},
    {"held out: ids", "partition key: {x16}\nrouting_key: orders.created\n"},
    {"held out: ids", "i-0{x16} sg-0{x16} subnet-0{x16} arn:aws:s3:::bucket-{l6}\n"},
    {"held out: ids", "projects/app-{d6}/secrets/db-password/versions/3\n"},
    {"held out: ids", "secretKeyRef:\n  name: db-credentials\n  key: password\n"},
    {"held out: ids", "imagePullSecrets:\n- name: registry-{l6}\n"},
    {"held out: ids", "kubernetes.io/service-account-token   3   12d\n"},
    {"held out: ids", "default-token-{l5}   kubernetes.io/service-account-token\n"},
    {"held out: ids", "GOOGLE_CLIENT_ID={d12}-{i32}.apps.googleusercontent.com\n"},
    {"held out: ids", "NEXT_PUBLIC_POSTHOG_HOST=https://eu.posthog.host.test\n"},
    {"held out: ids", "tracking UA-{d8}-1 G-{U10} GTM-{U7}\n"},
    {"held out: code", "token = parser.next()\n"},
    {"held out: code", "password: str\n    token: Optional[str] = None\n"},
    {"held out: code", "const token = await getToken({} audience, scope });\n"},
    {"held out: code", "if (!password || password.length < 8) throw new Error('password too short');\n"},
    {"held out: code", "let secret = std::env::var(\"APP_SECRET\").expect(\"APP_SECRET must be set\");\n"},
    {"held out: code", "api_key = os.getenv(\"OPENAI_API_KEY\")\n"},
    {"held out: code", "apiKey: import.meta.env.VITE_API_KEY,\n"},
    {"held out: code", "password = Rails.application.credentials.dig(:db, :password)\n"},
    {"held out: code", "SecretKeySpec key = new SecretKeySpec(keyBytes, \"AES\");\n"},
    {"held out: code", "auth := base64.StdEncoding.EncodeToString([]byte(user + \":\" + pass))\n"},
    {"held out: code", "$password = password_hash($_POST['password'], PASSWORD_DEFAULT);\n"},
    {"held out: code", "authorization: `Bearer ${}token}`,\n"},
    {"held out: code", "headers[\"Authorization\"] = f\"Bearer {}self._token}\"\n"},
    {"held out: code", "Token::Ident(name) => self.advance_token(TokenKind::Ident),\n"},
    {"held out: code", "  Token(kind=TokenKind.STRING, value='{l8}', line={d2})\n"},
    {"held out: code", "def authenticate(self, request, username=None, password=None, **kwargs):\n"},
    {"held out: code", "SELECT id, password_hash, api_key_id FROM users WHERE session_id = $1;\n"},
    {"held out: code", "key: Symbol.for('react.element'), password: null, token: undefined\n"},
    {"held out: code", "<input type=\"password\" id=\"new-password\" name=\"newPassword\" required>\n"},
    {"held out: code", "<label for=\"api-key\">API key</label><token-input key={}item.id} />\n"},
    {"held out: code", ".token.keyword{}color:#{x6}}.token.string{}color:#{x6}}\n"},
    {"held out: code", "#{x6};--color-secret-{l5}:#{x6}\n"},
    {"held out: code", "func NewTokenizer(r io.Reader, opts ...TokenOption) *Tokenizer {}\n"},
    {"held out: code", "export const SESSION_COOKIE_NAME = 'app.session-token';\n"},
    {"held out: code", "static const char *kSecretAttr = \"org.app.secret.attribute\";\n"},
    {"held out: code", "public static final String TOKEN_HEADER = \"X-Auth-Token\";\n"},
    {"held out: code", "assertThat(jwt.getToken()).isEqualTo(expectedToken);\n"},
    {"held out: code",
     "it('rejects an expired token', async () => {} await expect(verify(token)).rejects });\n"},
    {"held out: code", "key = hashlib.sha256(f\"{}user}:{}path}\".encode()).hexdigest()\n"},
    {"held out: code", "credentials: 'same-origin', mode: 'cors', keepalive: true\n"},
    {"held out: code", "secret: ${}{} secrets.DEPLOY_KEY }}\n"},
    {"held out: code", "with:\n  token: ${}{} github.token }}\n  password: ${}{} secrets.PYPI_TOKEN }}\n"},
    {"held out: code", "token: !reference [.vault, script]\npassword: !vault |\n"},
    {"held out: code", "password = data.vault_generic_secret.db.data[\"password\"]\n"},
    {"held out: code", "secret_id = aws_secretsmanager_secret.db.id\nkms_key_id = aws_kms_key.main.arn\n"},
    {"held out: code", "password: \"{}{} vault_db_password }}\"\n"},
    {"held out: code", "-e POSTGRES_PASSWORD=\"$POSTGRES_PASSWORD\" -e TOKEN=\"${}TOKEN}\"\n"},
    {"held out: code", "curl -H \"Authorization: Bearer $TOKEN\" -u \"$USER:$PASS\" https://host.test\n"},
    {"held out: code", "git clone https://${}GITHUB_TOKEN}@github.com/dev/app.git\n"},
    {"held out: placeholders", "API_KEY=<your-api-key>\nSECRET=xxxxxxxxxxxxxxxx\n"},
    {"held out: placeholders", "OPENAI_API_KEY=sk-...\nANTHROPIC_API_KEY=sk-ant-...\n"},
    {"held out: placeholders", "password: ********\ntoken: [REDACTED]\n"},
    {"held out: placeholders", "DATABASE_URL=postgres://user:password@localhost:5432/db\n"},
    {"held out: placeholders", "DATABASE_URL=postgresql://postgres:postgres@localhost/app\n"},
    {"held out: placeholders", "export TOKEN=YOUR_TOKEN_HERE PASSWORD=changeme\n"},
    {"held out: placeholders", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"},
    {"held out: placeholders", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"},
    {"held out: placeholders", "Authorization: Bearer YOUR_ACCESS_TOKEN\n"},
    {"held out: placeholders", "client_secret=INSERT_CLIENT_SECRET_HERE\n"},
    {"held out: placeholders", "password = \"test\"; secret = 'secret'; token = \"abc123\"\n"},
    {"held out: placeholders", "STRIPE_KEY=sk_test_XXXXXXXXXXXXXXXXXXXXXXXX\n"},
    {"held out: placeholders", "redis://:password@localhost:6379 amqp://guest:guest@localhost\n"},
    {"held out: placeholders", "mysql -u root -p app < dump.sql\n"},
    {"held out: placeholders", "docker run -p 8080:80 -e KEY=value image:{x7}\n"},
    {"held out: placeholders", "mkdir -p build/{l8} && ssh -p 2222 host\n"},
    {"held out: placeholders", "curl -u user:pass http://localhost:8080/\n"},
    {"held out: texts", "tokens: {d5} in, {d4} out; cache read {d6}\n"},
    {"held out: texts", "The access token expires after 3600 seconds and must be refreshed.\n"},
    {"held out: texts", "Enter password for user dev: \nPassword updated successfully.\n"},
    {"held out: texts", "error: invalid token '}' at line {d3}, column {d2}\n"},
    {"held out: texts", "SyntaxError: Unexpected token '<', \"<!doctype \"... is not valid JSON\n"},
    {"held out: texts",
     "fatal: could not read Password for 'https://github.com': terminal prompts disabled\n"},
    {"held out: texts", "Permission denied (publickey,password).\n"},
    {"held out: texts", "KeyError: 'session_token'\n  File \"/home/dev/app/auth.py\", line {d2}\n"},
    {"held out: texts", "auth.token.refresh=ok user.key.count={d3} secret.rotation.days=90\n"},
    {"held out: texts", "Author: dev <dev@host.test>\nDate:   Mon Mar 2 10:{d2}:{d2} 2026 +0100\n"},
    {"held out: texts", "PASS  src/auth/token.test.ts (5.{d3} s)\nFAIL  src/keys/secret-store.test.ts\n"},
    {"held out: texts", "  ✓ hashes the password with a salt ({d2} ms)\n"},
    {"held out: texts", "warning: unused variable: `session_key`\n  --> src/auth.rs:{d3}:9\n"},
    {"held out: texts", "npm WARN deprecated token-types@4.2.{d1}: use peek-readable\n"},
    {"held out: texts",
     "+ \"jsonwebtoken\": \"^9.0.{d1}\", \"cookie-parser\": \"~1.4.{d1}\", \"keytar\": \"7.9.0\"\n"},
    {"held out: texts",
     "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg==\n"},
    {"held out: texts", "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ{b300}\n"},
    {"held out: texts",
     "-----BEGIN CERTIFICATE REQUEST-----\n{b64}\n{b64}\n-----END CERTIFICATE REQUEST-----\n"},
    {"held out: texts",
     "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{b64}\n{b64}\n=aBcD\n-----END PGP PUBLIC KEY BLOCK-----\n"},
    {"held out: texts", "-----BEGIN PGP SIGNATURE-----\n\n{b64}\n{b64}\n-----END PGP SIGNATURE-----\n"},
    {"held out: texts", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{b360} dev@host\n"},
};

}  // namespace

std::vector<SecretSample> held_out_secrets(std::uint64_t seed) {
  Lot lot(seed);
  std::vector<SecretSample> out;
  for (const Line& line : kServices) out.push_back(sample(lot, line));
  for (const Line& line : kFiles) out.push_back(sample(lot, line));
  for (const Line& line : kShown) out.push_back(sample(lot, line));
  return out;
}

std::vector<BenignSample> held_out_benign(std::uint64_t seed, int rounds) {
  Lot lot(seed);
  std::vector<BenignSample> out;
  for (int round = 0; round < rounds; ++round)
    for (const Line& line : kHarmless) out.push_back({line.group, sample(lot, line).text});
  return out;
}

}  // namespace cairn::test
