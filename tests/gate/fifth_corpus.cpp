// Written by somebody who never saw the rules: what an examiner would try. What it found at first stands in
// docs/SECRETS.md; now it guards. Its harmless lines are in fifth_benign.cpp.
#include <string>

#include "gate/corpus_lines.h"

namespace cairn::test {

namespace {

constexpr Line kProvider[] = {
    {"fifth: provider", "export AWS_ACCESS_KEY_ID=AKIA{216}\nexport AWS_SECRET_ACCESS_KEY={{b40}}"},
    {"fifth: provider", "aws_session_token = IQoJb3JpZ2luX2VjE{{b240}}=="},
    {"fifth: provider", "    \"SecretAccessKey\": \"{{b40}}\","},
    {"fifth: provider", "AWS_BEARER_TOKEN_BEDROCK=ABSK{{b108}}="},
    {"fifth: provider", "const map = new google.maps.Map(el, {} key: \"AIza{{u35}}\" });"},
    {"fifth: provider", "GOOGLE_CLIENT_SECRET=GOCSPX-{{u28}}"},
    {"fifth: provider", "Authorization: Bearer ya29.{{u180}}"},
    {"fifth: provider",
     "DefaultEndpointsProtocol=https;AccountName=stprodweu01;AccountKey={{b86}}==;EndpointSuffix=core."
     "windows.net"},
    {"fifth: provider", "ARM_CLIENT_SECRET=\"{a3}8Q~{{u34}}\""},
    {"fifth: provider",
     "Endpoint=sb://orders-ns.servicebus.windows.net/"
     ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey={{b43}}="},
    {"fifth: provider", "AccountEndpoint=https://cosmos-prod.documents.azure.com:443/;AccountKey={{b86}}==;"},
    {"fifth: provider",
     "https://stprodweu01.blob.core.windows.net/backups/"
     "db.bak?sv=2022-11-02&se=2025-12-31T00%3A00%3A00Z&sr=b&sp=r&sig={{a40}}%2B{a2}%3D"},
    {"fifth: provider", "curl -u :{{i52}} https://dev.azure.com/contoso/_apis/projects?api-version=7.0"},
    {"fifth: provider", "GITHUB_TOKEN=ghp_{{a36}}"},
    {"fifth: provider", "gh auth login --with-token <<< github_pat_{{a22}}_{{a59}}"},
    {"fifth: provider", "git remote add origin https://oauth2:glpat-{{u20}}@gitlab.com/acme/infra.git"},
    {"fifth: provider", "gitlab-runner register --url https://gitlab.com --token glrt-{{u20}}"},
    {"fifth: provider",
     "helm upgrade --install agent gitlab/gitlab-agent --set config.token=glagent-{{u50}}"},
    {"fifth: provider", "BITBUCKET_APP_PASSWORD=ATBB{{a32}}"},
    {"fifth: provider", "JIRA_API_TOKEN=ATATT3xFfGF0{{u171}}={U8}"},
    {"fifth: provider", "SLACK_BOT_TOKEN=xoxb-{d12}-{d13}-{{a24}}"},
    {"fifth: provider", "slack_app_token: \"xapp-1-A{U10}-{d13}-{{x64}}\""},
    {"fifth: provider",
     "curl -X POST -H 'Content-type: application/json' --data '{}\"text\":\"deploy ok\"}' "
     "https://hooks.slack.com/services/T{U10}/B{U10}/{{a24}}"},
    {"fifth: provider", "client.login(\"MT{a22}.G{u5}.{{u38}}\")"},
    {"fifth: provider", "DISCORD_WEBHOOK=https://discord.com/api/webhooks/{d18}/{{u68}}"},
    {"fifth: provider", "bot = telebot.TeleBot(\"{d10}:AA{{u33}}\")"},
    {"fifth: provider", "https://acme.webhook.office.com/webhookb2/{@}@{@}/IncomingWebhook/{{x32}}/{@}"},
    {"fifth: provider", "stripe.api_key = \"sk_live_{{a24}}\""},
    {"fifth: provider", "endpointSecret := \"whsec_{{a32}}\""},
    {"fifth: provider", "TWILIO_ACCOUNT_SID=AC{x32}\nTWILIO_AUTH_TOKEN={{x32}}"},
    {"fifth: provider", "SENDGRID_API_KEY: SG.{{u22}}.{{u43}}"},
    {"fifth: provider", "MAILGUN_API_KEY=key-{{x32}}"},
    {"fifth: provider", "mailchimp.setConfig({} apiKey: '{{x32}}-us14', server: 'us14' });"},
    {"fifth: provider", "X-Postmark-Server-Token: {{@}}"},
    {"fifth: provider", "BREVO_KEY=xkeysib-{{x64}}-{{a16}}"},
    {"fifth: provider", "const resend = new Resend('re_{{a8}}_{{a24}}');"},
    {"fifth: provider", "OPENAI_API_KEY=sk-{{a20}}T3BlbkFJ{{a20}}"},
    {"fifth: provider", "openai.api_key = \"sk-proj-{{u74}}T3BlbkFJ{{u74}}\""},
    {"fifth: provider", "x-api-key: sk-ant-api03-{{u93}}AA"},
    {"fifth: provider", "\"CLAUDE_CODE_OAUTH_TOKEN\": \"sk-ant-oat01-{{u93}}AA\""},
    {"fifth: provider", "huggingface-cli login --token hf_{{a34}}"},
    {"fifth: provider", "REPLICATE_API_TOKEN=r8_{{a37}}"},
    {"fifth: provider", "groq_key = os.environ.get(\"GROQ_API_KEY\", \"gsk_{{a52}}\")"},
    {"fifth: provider", "\"Authorization\": \"Bearer pplx-{{a48}}\""},
    {"fifth: provider", "OPENROUTER_API_KEY=sk-or-v1-{{x64}}"},
    {"fifth: provider", "MISTRAL_API_KEY={{a32}}"},
    {"fifth: provider", "co = cohere.Client(\"{{a40}}\")"},
    {"fifth: provider", "pc = Pinecone(api_key=\"pcsk_{a6}_{{a63}}\")"},
    {"fifth: provider", "LANGCHAIN_API_KEY=lsv2_pt_{{x32}}_{{x10}}"},
    {"fifth: provider", "wandb.login(key=\"{{x40}}\")"},
    {"fifth: provider", "NVIDIA_API_KEY=nvapi-{{u64}}"},
    {"fifth: provider", "//registry.npmjs.org/:_authToken=npm_{{a36}}"},
    {"fifth: provider", "TWINE_PASSWORD=pypi-AgEIcHlwaS5vcmc{{u150}}"},
    {"fifth: provider", ":rubygems_api_key: rubygems_{{x48}}"},
    {"fifth: provider",
     "dotnet nuget push bin/Release/Acme.1.0.0.nupkg --api-key oy2{{i43}} --source "
     "https://api.nuget.org/v3/index.json"},
    {"fifth: provider", "cargo login cio{{a32}}"},
    {"fifth: provider", "echo dckr_pat_{{u27}} | docker login -u acmebot --password-stdin"},
    {"fifth: provider", "X-JFrog-Art-Api: AKCp{{a69}}"},
    {"fifth: provider", "CIRCLE_TOKEN=CCIPAT_{{a22}}_{{x40}}"},
    {"fifth: provider", "sonar-scanner -Dsonar.host.url=https://sonar.acme.io -Dsonar.token=sqp_{{x40}}"},
    {"fifth: provider", "SNYK_TOKEN={{@}}"},
    {"fifth: provider", "curl -u admin:11{{x32}} https://jenkins.acme.io/job/deploy/build"},
    {"fifth: provider", "PULUMI_ACCESS_TOKEN=pul-{{x40}}"},
    {"fifth: provider", "credentials \"app.terraform.io\" {}\n  token = \"{{a14}}.atlasv1.{{u67}}\"\n}"},
    {"fifth: provider", "DOPPLER_TOKEN=dp.st.prd.{{a43}}"},
    {"fifth: provider", "VAULT_TOKEN=hvs.{{u95}}"},
    {"fifth: provider", "export OP_SERVICE_ACCOUNT_TOKEN=ops_eyJ{{u250}}"},
    {"fifth: provider", "DD_API_KEY={{x32}}\nDD_APP_KEY={{x40}}"},
    {"fifth: provider", "NEW_RELIC_API_KEY=NRAK-{{U27}}"},
    {"fifth: provider", "NEW_RELIC_LICENSE_KEY={{x36}}NRAL"},
    {"fifth: provider", "SENTRY_AUTH_TOKEN=sntrys_eyJpYXQiOjE3{{b120}}_{{u43}}"},
    {"fifth: provider", "Authorization: Bearer glsa_{{a32}}_{x8}"},
    {"fifth: provider", "Authorization: Api-Token dt0c01.{U24}.{{U64}}"},
    {"fifth: provider", "Authorization: Token token=u+{{u18}}"},
    {"fifth: provider",
     "curl -k https://splunk.acme.io:8088/services/collector -H \"Authorization: Splunk {{@}}\" -d "
     "'{}\"event\":\"hi\"}'"},
    {"fifth: provider",
     "DATABASE_URL='mysql://a1b2c3:pscale_pw_{{u43}}@aws.connect.psdb.cloud/acme?sslaccept=strict'"},
    {"fifth: provider",
     "postgresql://neondb_owner:npg_{{a12}}@ep-cool-darkness-123456.us-east-2.aws.neon.tech/"
     "neondb?sslmode=require"},
    {"fifth: provider", "SUPABASE_ACCESS_TOKEN=sbp_{{x40}}"},
    {"fifth: provider",
     "databricks configure --host https://adb-123.4.azuredatabricks.net --token dapi{{x32}}-2"},
    {"fifth: provider", "AIRTABLE_PAT=pat{a14}.{{x64}}"},
    {"fifth: provider", "notion = Client(auth=\"secret_{{a43}}\")"},
    {"fifth: provider", "const client = algoliasearch('{U10}', '{{x32}}'); // admin key"},
    {"fifth: provider", "INFLUX_TOKEN={{u86}}=="},
    {"fifth: provider", "CONFLUENT_CLOUD_API_KEY={U16}\nCONFLUENT_CLOUD_API_SECRET={{b64}}"},
    {"fifth: provider", "CONTENTFUL_MANAGEMENT_TOKEN=CFPAT-{{u43}}"},
    {"fifth: provider", "CLOUDFLARE_API_TOKEN={{u40}}"},
    {"fifth: provider", "X-Auth-Email: ops@acme.io\nX-Auth-Key: {{x37}}"},
    {"fifth: provider", "doctl auth init -t dop_v1_{{x64}}"},
    {"fifth: provider", "provider \"hcloud\" {}\n  token = \"{{a64}}\"\n}"},
    {"fifth: provider", "HEROKU_API_KEY={{@}}"},
    {"fifth: provider", "NETLIFY_AUTH_TOKEN=nfp_{{a36}}"},
    {"fifth: provider", "vercel deploy --prod --token={{a24}}"},
    {"fifth: provider", "FLY_API_TOKEN=\"FlyV1 fm2_lJPE{{b200}}\""},
    {"fifth: provider", "aliyun configure set --access-key-id LTAI5t{a18} --access-key-secret {{a30}}"},
    {"fifth: provider", "TENCENTCLOUD_SECRET_ID=AKID{a32}\nTENCENTCLOUD_SECRET_KEY={{a32}}"},
    {"fifth: provider", "CLOUDINARY_URL=cloudinary://{d15}:{{u27}}@acme-media"},
    {"fifth: provider", "tailscale up --authkey tskey-auth-k{a9}CNTRL-{{a32}}"},
    {"fifth: provider", "ngrok config add-authtoken 2{{a26}}_{{a21}}"},
    {"fifth: provider", "Authorization: SSWS 00{{u40}}"},
    {"fifth: provider", "AUTH0_CLIENT_SECRET={{u64}}"},
    {"fifth: provider", "FACEBOOK_PAGE_TOKEN=EAA{{a180}}ZD"},
    {"fifth: provider", "TWITTER_BEARER_TOKEN=AAAAAAAAAAAAAAAAAAAAA{{a30}}%2B{{a40}}%3D{{a50}}"},
    {"fifth: provider", "dbx = dropbox.Dropbox(\"sl.B{{u130}}\")"},
    {"fifth: provider", "LINEAR_API_KEY=lin_api_{{a40}}"},
    {"fifth: provider", "asana.Client.access_token('1/{d16}:{{x32}}')"},
    {"fifth: provider", "X-Figma-Token: figd_{{u40}}"},
    {"fifth: provider", "HUBSPOT_PRIVATE_APP_TOKEN=pat-na1-{{@}}"},
    {"fifth: provider", "X-Shopify-Access-Token: shpat_{{x32}}"},
    {"fifth: provider", "SQUARE_ACCESS_TOKEN=EAAA{{u60}}"},
    {"fifth: provider", "\"client_id\": \"A{u79}\",\n\"client_secret\": \"E{{u79}}\""},
    {"fifth: provider", "RAZORPAY_KEY_ID=rzp_live_{a14}\nRAZORPAY_KEY_SECRET={{a24}}"},
    {"fifth: provider", "BINANCE_API_SECRET={{a64}}"},
    {"fifth: provider", "MAPBOX_TOKEN=sk.eyJ1IjoiYWNtZSIsImEiOiJj{{u40}}.{{u22}}"},
    {"fifth: provider", "LAUNCHDARKLY_SDK_KEY=sdk-{{@}}"},
    {"fifth: provider", "POSTHOG_PERSONAL_API_KEY=phx_{{a43}}"},
    {"fifth: provider", "\"x-api-key\": \"PMAK-{{x24}}-{{x34}}\""},
    {"fifth: provider", "src login -token=sgp_{{x16}}_{{x40}} https://sourcegraph.acme.io"},
    {"fifth: provider", "https://oapi.dingtalk.com/robot/send?access_token={{x64}}"},
    {"fifth: provider", "RECAPTCHA_SECRET_KEY=6L{{u38}}"},
};

constexpr Line kEnv[] = {
    {"fifth: env", "POSTGRES_PASSWORD={{w1}}"},
    {"fifth: env", "DB_PASS=\"{{w1}}\""},
    {"fifth: env", "export SECRET_KEY_BASE={{x128}}"},
    {"fifth: env", "JWT_SECRET={{a48}}"},
    {"fifth: env", "SMTP_PASSWORD='{{w1}}'"},
    {"fifth: env", "set REDIS_PASSWORD={{a24}}"},
    {"fifth: env", "$env:ADMIN_PASSWORD = \"{{w1}}\""},
    {"fifth: env", "NEXTAUTH_SECRET={{b43}}="},
    {"fifth: env", "MYSQL_ROOT_PASSWORD={{l11}}"},
    {"fifth: env", "ENCRYPTION_KEY=base64:{{b43}}="},
    {"fifth: env", "LDAP_BIND_PW={{w1}}   # service account"},
    {"fifth: env", "Environment=\"VAULT_UNSEAL_KEY={{b43}}=\""},
};

constexpr Line kConfig[] = {
    {"fifth: config", "spring.datasource.password={{w1}}"},
    {"fifth: config", "  password: \"{{w1}}\""},
    {"fifth: config", "db_password = \"{{w1}}\""},
    {"fifth: config", "master_password     = \"{{t18}}\""},
    {"fifth: config", "      - MONGO_INITDB_ROOT_PASSWORD={{w1}}"},
    {"fifth: config",
     "\"ConnectionStrings\": {} \"Default\": \"Server=sql01;Database=Shop;User "
     "Id=shop;Password={{w1}};TrustServerCertificate=true\" }"},
    {"fifth: config",
     "<add name=\"Main\" connectionString=\"Data Source=db1;Initial Catalog=crm;User "
     "ID=crm;Password={{w1}}\" providerName=\"System.Data.SqlClient\" />"},
    {"fifth: config",
     "<server><id>nexus</id><username>deploy</username><password>{{w1}}</password></server>"},
    {"fifth: config",
     "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: {{a22}}=="},
    {"fifth: config", "stringData:\n  api-token: {{a40}}"},
    {"fifth: config", "[smtp]\nhost = mail.acme.io\nuser = noreply\npassword = {{w1}}"},
    {"fifth: config",
     "production:\n  adapter: postgresql\n  username: app\n  password: {{w1}}\n  host: db.internal"},
    {"fifth: config", "    admin_password: {{w1}}\n    become: true"},
    {"fifth: config", "ansible_ssh_pass={{w1}}"},
    {"fifth: config", "requirepass {{a32}}"},
    {"fifth: config", "jwt:\n  signing-key: {{a64}}\n  expiry: 3600"},
    {"fifth: config", "\"auth\": {} \"user\": \"svc_ci\", \"pass\": \"{{w1}}\" }"},
    {"fifth: config", "hibernate.connection.password={{w1}}"},
    {"fifth: config", "session_secret: {{x64}}"},
    {"fifth: config", "oauth2:\n  client_id: portal\n  client_secret: {{@}}"},
};

constexpr Line kCode[] = {
    {"fifth: code", "password = \"{{w1}}\""},
    {"fifth: code", "const API_KEY = '{{a32}}';"},
    {"fifth: code", "private static final String PASSWORD = \"{{w1}}\";"},
    {"fifth: code", "var connStr = \"Host=localhost;Username=app;Password={{w1}};Database=app\";"},
    {"fifth: code",
     "db, err := sql.Open(\"postgres\", \"user=app password={{a16}} host=db sslmode=disable\")"},
    {"fifth: code", "$pdo = new PDO('mysql:host=db;dbname=shop', 'shop', '{{w1}}');"},
    {"fifth: code", "define('DB_PASSWORD', '{{w1}}');"},
    {"fifth: code", "conn = psycopg2.connect(host=\"db\", user=\"app\", password=\"{{w1}}\")"},
    {"fifth: code", "let client_secret: &str = \"{{a40}}\";"},
    {"fifth: code", "static const char *kWifiPassword = \"{{w1}}\";"},
    {"fifth: code", "app.use(session({} secret: '{{a20}}', resave: false }))"},
    {"fifth: code", "SECRET_KEY = 'django-insecure-{{a50}}'"},
    {"fifth: code", "val token = \"Bearer {{a40}}\""},
    {"fifth: code", "let apiKey = \"{{a32}}\" // TODO move to keychain"},
    {"fifth: code", "headers = {}\"Authorization\": \"Token {{x40}}\"}"},
    {"fifth: code", "jwt.sign({} sub: user.id }, '{{a32}}', {} expiresIn: '1h' })"},
    {"fifth: code", "smtp.login(\"noreply@acme.io\", \"{{w1}}\")"},
    {"fifth: code",
     "ActiveRecord::Base.establish_connection(adapter: 'mysql2', username: 'root', password: '{{w1}}')"},
    {"fifth: code", "ssh.connect('10.0.0.5', username='deploy', password='{{w1}}')"},
    {"fifth: code", "key = \"sk_live_\" + \"{{a24}}\""},
    {"fifth: code", "api_secret = (\"{{a20}}\"\n              \"{{a20}}\")"},
    {"fifth: code",
     "const transporter = nodemailer.createTransport({} host: 'smtp.acme.io', auth: {} user: 'bot', pass: "
     "'{{w1}}' } });"},
    {"fifth: code", "ALTER USER app WITH PASSWORD '{{w1}}';"},
    {"fifth: code", "CREATE USER 'report'@'%' IDENTIFIED BY '{{w1}}';"},
};

constexpr Line kShell[] = {
    {"fifth: shell", "mysql -u root -p{{a12}} shop < dump.sql"},
    {"fifth: shell", "PGPASSWORD={{a16}} psql -h db.acme.io -U app -c 'select 1'"},
    {"fifth: shell", "curl -u admin:{{a14}} https://grafana.acme.io/api/org"},
    {"fifth: shell", "curl -H \"Authorization: Bearer {{a40}}\" https://api.acme.io/v1/me"},
    {"fifth: shell", "docker run -d -e MYSQL_ROOT_PASSWORD={{a16}} mysql:8"},
    {"fifth: shell", "docker login registry.acme.io -u ci -p {{a20}}"},
    {"fifth: shell", "sshpass -p '{{w1}}' ssh deploy@10.0.0.5 uptime"},
    {"fifth: shell", "kubectl create secret generic db --from-literal=password='{{w1}}'"},
    {"fifth: shell", "redis-cli -h cache.acme.io -a {{a24}} ping"},
    {"fifth: shell",
     "helm install pg bitnami/postgresql \\\n  --set auth.postgresPassword={{a18}} \\\n  --set "
     "primary.persistence.size=8Gi"},
    {"fifth: shell", "echo '{{w1}}' | sudo -S systemctl restart nginx"},
    {"fifth: shell", "openssl pkcs12 -in cert.p12 -passin pass:{{a14}} -nodes"},
    {"fifth: shell", "az login --service-principal -u {@} -p {{u40}} --tenant {@}"},
    {"fifth: shell", "wget --user=build --password='{{w1}}' https://nexus.acme.io/repository/raw/a.tgz"},
    {"fifth: shell", "net user backup {{w1}} /add"},
    {"fifth: shell", "terraform apply -var=\"db_password={{a16}}\" -auto-approve"},
};

constexpr Line kLog[] = {
    {"fifth: log", "2024-05-14 10:21:07,331 DEBUG o.a.http.wire - >> \"Authorization: Basic {{a36}}==\""},
    {"fifth: log", "[debug] connecting with postgres://app:{{a16}}@db.internal:5432/app"},
    {"fifth: log", "INFO  login attempt user=admin password={{w1}} ip=10.1.2.3"},
    {"fifth: log",
     "{}\"level\":\"debug\",\"ts\":1715682067.1,\"msg\":\"request\",\"headers\":{}\"x-api-key\":\"{{a40}}\"}"
     "}"},
    {"fifth: log", "< Set-Cookie: sessionid={{i32}}; HttpOnly; Path=/; SameSite=Lax"},
    {"fifth: log", "> Cookie: csrftoken=abc; sessionid={{i32}}"},
    {"fifth: log",
     "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not connect: "
     "postgresql://svc:{{a18}}@10.2.0.4/crm"},
    {"fifth: log",
     "Error: Command failed: git clone https://x-access-token:ghs_{{a36}}@github.com/acme/app.git"},
    {"fifth: log", "+ export DEPLOY_TOKEN={{x40}}"},
    {"fifth: log", "Outputs:\n\ndb_endpoint = \"db.acme.io\"\ndb_master_password = \"{{a20}}\""},
    {"fifth: log", "generated root password: {{a12}}"},
    {"fifth: log", "Initial admin password: {{x32}}"},
};

constexpr Line kUrl[] = {
    {"fifth: url", "mongodb+srv://app:{{a16}}@cluster0.ab1cd.mongodb.net/shop?retryWrites=true"},
    {"fifth: url", "redis://:{{a32}}@redis-12345.c1.us-east-1-2.ec2.cloud.redislabs.com:12345"},
    {"fifth: url", "amqps://user:{{u32}}@rabbit.acme.io/vhost"},
    {"fifth: url", "https://deploy:{{a20}}@git.acme.io/team/app.git"},
    {"fifth: url", "https://api.openweathermap.org/data/2.5/weather?q=Paris&appid={{x32}}"},
    {"fifth: url", "GET /v1/export?format=csv&api_key={{a32}} HTTP/1.1"},
    {"fifth: url", "https://app.acme.io/reset-password?token={{u43}}"},
    {"fifth: url", "ftp://upload:{{a12}}@ftp.acme.io/incoming/"},
    {"fifth: url", "mysql+pymysql://root:{{a9}}%40{{a6}}@127.0.0.1:3306/shop"},
    {"fifth: url", "jdbc:postgresql://db:5432/app?user=app&password={{a16}}"},
    {"fifth: url", "https://hooks.zapier.com/hooks/catch/{d7}/{{i7}}/"},
};

constexpr Line kProse[] = {
    {"fifth: prose", "the password is {{w1}}"},
    {"fifth: prose", "ok so login with admin / {{w1}} and check the dashboard"},
    {"fifth: prose", "My API key is {{a32}}, can you test whether it works?"},
    {"fifth: prose", "use this token: {{x40}} to call the staging api"},
    {"fifth: prose", "the staging db creds: user app_rw, pw {{w1}}"},
    {"fifth: prose", "Please put {{w1}} in as the root password when it prompts"},
    {"fifth: prose", "Passwort: {{w1}}"},
    {"fifth: prose", "here's my aws secret key {{b40}} please configure the cli"},
    {"fifth: prose", "> wifi is AcmeGuest, pass: {{w1}}"},
    {"fifth: prose", "le mot de passe est {{w1}}"},
};

constexpr Line kEscaped[] = {
    {"fifth: escaped", "{}\"content\":\"DB_HOST=db\\nDB_PASSWORD={{a18}}\\nDB_PORT=5432\\n\"}"},
    {"fifth: escaped", "\"{}\\\"api_key\\\": \\\"{{a32}}\\\", \\\"region\\\": \\\"eu\\\"}\""},
    {"fifth: escaped", "body=grant_type%3Dpassword%26username%3Dadmin%26password%3D{{a14}}"},
    {"fifth: escaped",
     "\"private_key\": \"-----BEGIN PRIVATE "
     "KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC{{b32}}\\n{{b64}}\\n{{b64}}\\n-----END PRIVATE "
     "KEY-----\\n\","},
    {"fifth: escaped", "echo REJfUEFTU1dPUkQ9{{a40}}== | base64 -d > .env"},
    {"fifth: escaped", "<param name=\"password\">p&amp;{{a14}}</param>"},
    {"fifth: escaped", "\"stdout\": \"export STRIPE_KEY=\\\"sk_live_{{a24}}\\\"\\nexport PORT=3000\""},
    {"fifth: escaped", "Authorization%3A%20Bearer%20{{a40}}"},
};

constexpr Line kKeys[] = {
    {"fifth: keys",
     "-----BEGIN RSA PRIVATE "
     "KEY-----\nMIIEpAIBAAKCAQEA{{b48}}\n{{b64}}\n{{b64}}\n{{b64}}\n{{b38}}==\n-----END RSA PRIVATE "
     "KEY-----"},
    {"fifth: keys",
     "-----BEGIN OPENSSH PRIVATE "
     "KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n{{b70}}\n{{b70}}\n{{"
     "b70}}\n{{b40}}\n-----END OPENSSH PRIVATE KEY-----"},
    {"fifth: keys",
     "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGF{{b57}}\n{{b64}}\n{{b64}}\n=a1B2\n-----END PGP PRIVATE "
     "KEY BLOCK-----"},
    {"fifth: keys", "AGE-SECRET-KEY-1{{U58}}"},
    {"fifth: keys", "{}\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{u43}\",\"y\":\"{u43}\",\"d\":\"{{u43}}\"}"},
    {"fifth: keys",
     "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: deploy\nPublic-Lines: "
     "2\n{b64}\n{b16}\nPrivate-Lines: 1\n{{b47}}=\nPrivate-MAC: {x64}"},
    {"fifth: keys",
     "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NSIsInJvbGUiOiJhZG1pbiIsImV4cCI6MTkwMDAwMDAwMH0.{{"
     "u43}}"},
    {"fifth: keys", "[Interface]\nPrivateKey = {{b43}}=\nAddress = 10.8.0.2/24"},
    {"fifth: keys",
     "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI{{b55}}\n{{b64}}\n{{b38}}==\n-----END EC PRIVATE KEY-----"},
    {"fifth: keys", "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpN{{b300}}"},
};

constexpr Line kDiff[] = {
    {"fifth: diff", "-DB_PASSWORD=changeme\n+DB_PASSWORD={{w1}}"},
    {"fifth: diff", "+    token: glpat-{{u20}}"},
    {"fifth: diff", "-  api_key: \"{{a32}}\"\n+  api_key: ${}API_KEY}"},
    {"fifth: diff",
     "@@ -3,6 +3,7 @@ services:\n   environment:\n+    - JWT_SECRET={{a32}}\n     - PORT=8080"},
    {"fifth: diff", "+const stripe = require('stripe')('sk_live_{{a24}}');"},
    {"fifth: diff", "+        auth_pass {{l8}}"},
};

constexpr Line kFiles[] = {
    {"fifth: files", "machine github.com\n  login octo\n  password ghp_{{a36}}"},
    {"fifth: files", "db.acme.io:5432:app:app_rw:{{a16}}"},
    {"fifth: files", "[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmc{{u140}}"},
    {"fifth: files", "{}\"auths\":{}\"https://index.docker.io/v1/\":{}\"auth\":\"{{a36}}==\"}}}"},
    {"fifth: files", "users:\n- name: admin\n  user:\n    token: {{a32}}"},
    {"fifth: files", "admin:$apr1$a1b2c3d4${{a22}}"},
    {"fifth: files", "root:$6$rounds=5000$saltsalt${{a86}}:19000:0:99999:7:::"},
    {"fifth: files", "[default]\naws_access_key_id = AKIA{216}\naws_secret_access_key = {{b40}}"},
    {"fifth: files", "define( 'AUTH_KEY',         '{{a64}}' );"},
    {"fifth: files", "[client]\nuser=root\npassword={{w1}}"},
    {"fifth: files",
     "{}\"type\":\"service_account\",\"project_id\":\"acme\",\"private_key_id\":\"{x40}\",\"private_key\":\"-"
     "----BEGIN PRIVATE KEY-----\\nMIIEvAIBADANBg{{b50}}\\n{{b64}}\\n-----END PRIVATE "
     "KEY-----\\n\",\"client_email\":\"ci@acme.iam.gserviceaccount.com\"}"},
    {"fifth: files", "https://octo:ghp_{{a36}}@github.com"},
};

}  // namespace

std::vector<SecretSample> fifth_secrets(std::uint64_t seed) {
  return samples(seed, kProvider, kEnv, kConfig, kCode, kShell, kLog, kUrl, kProse, kEscaped, kKeys, kDiff,
                 kFiles);
}

}  // namespace cairn::test
