// What resembles the lines of fifth_corpus.cpp: written beside them, to see that the rules follow the
// structure and not the sample. All of these were missed before.
#include <string>

#include "gate/corpus_lines.h"

namespace cairn::test {

namespace {

constexpr Line kProvider[] = {
    {"fifth, alike: provider", "const client = new Mistral('{{a32}}')"},
    {"fifth, alike: provider", "deepgram = DeepgramClient(\"{{x40}}\")"},
    {"fifth, alike: provider", "client = Together(\"{{x64}}\")"},
    {"fifth, alike: provider", "co = Cohere::Client.new(\"{{a40}}\")"},
    {"fifth, alike: provider", "newsapi = NewsApiClient('{{x32}}')"},
    {"fifth, alike: provider", "const client = require('twilio')('AC{x32}', '{{x32}}');"},
    {"fifth, alike: provider", "client = Client(\"AC{x32}\", \"{{x32}}\")"},
    {"fifth, alike: provider", "Twilio.init(\"AC{x32}\", \"{{x32}}\");"},
    {"fifth, alike: provider", "client = MailjetClient('{x32}', '{{x32}}')"},
    {"fifth, alike: provider", "auth=('{x32}', '{{x32}}')"},
    {"fifth, alike: provider", "const index = algoliasearch(\"{U10}\", \"{{x32}}\").initIndex(\"p\")"},
    {"fifth, alike: provider", "g = Github(\"{{x40}}\")"},
    {"fifth, alike: provider", "bot.run(\"{{u59}}\")"},
    {"fifth, alike: provider", "client.start('{{a59}}')"},
    {"fifth, alike: provider", "rollbar.init('{{x32}}', 'production')"},
    {"fifth, alike: provider", "Bugsnag.start('{{x32}}')"},
    {"fifth, alike: provider", "mixpanel.init(\"{{x32}}\")"},
    {"fifth, alike: provider", "dropbox.Dropbox('{{u64}}')"},
    {"fifth, alike: provider", "Segment.Analytics(\"{{a32}}\")"},
    {"fifth, alike: provider", "analytics = Analytics('{{a32}}')"},
    {"fifth, alike: provider", "amplitude.init('{{x32}}')"},
    {"fifth, alike: provider", "https://events.pagerduty.com/integration/{{x32}}/enqueue"},
    {"fifth, alike: provider", "https://hooks.zapier.com/hooks/catch/{d8}/{{i6}}"},
    {"fifth, alike: provider", "https://hook.eu1.make.com/{{i32}}"},
    {"fifth, alike: provider", "https://open.feishu.cn/open-apis/bot/v2/hook/{{@}}"},
    {"fifth, alike: provider", "https://outlook.office.com/webhook/{@}@{@}/IncomingWebhook/{{x32}}/{@}"},
    {"fifth, alike: provider", "https://hc-ping.com/{{@}}"},
    {"fifth, alike: provider", "https://mattermost.acme.io/hooks/{{i26}}"},
    {"fifth, alike: provider", "curl -u \"{{x40}}:\" https://api.acme.io"},
    {"fifth, alike: provider", "curl --user \":{{a52}}\" https://dev.azure.com/acme"},
    {"fifth, alike: provider", "curl --user {{a40}}:x https://acme.freshdesk.com/api"},
    {"fifth, alike: provider", "curl -u {{a40}}:X https://acme.freshdesk.com/api/v2/tickets"},
    {"fifth, alike: provider", "codecov -t {{@}}"},
    {"fifth, alike: provider", "fly secrets set API={{a40}}"},
    {"fifth, alike: provider",
     "aws ssm put-parameter --name /prod/db/password --type SecureString --value '{{w1}}'"},
    {"fifth, alike: provider", "vault login {{a26}}"},
    {"fifth, alike: provider", "vault operator unseal {{b43}}="},
    {"fifth, alike: provider", "bw unlock '{{w1}}'"},
    {"fifth, alike: provider", "bw login me@acme.io {{w1}}"},
    {"fifth, alike: provider", "https://mainnet.infura.io/v3/{{x32}}"},
    {"fifth, alike: provider", "https://eth-mainnet.g.alchemy.com/v2/{{u32}}"},
    {"fifth, alike: provider", "https://rpc.ankr.com/eth/{{x64}}"},
    {"fifth, alike: provider", "const wallet = new ethers.Wallet(\"0x{{x64}}\", provider)"},
    {"fifth, alike: provider", "const wallet = new ethers.Wallet(\"{{x64}}\")"},
};

constexpr Line kEnv[] = {
    {"fifth, alike: env", "PGPASS={{w1}}"},
    {"fifth, alike: env", "set -gx OPENAI_KEY {{a40}}"},
};

constexpr Line kConfig[] = {
    {"fifth, alike: config", "  auth_pass {{l8}}"},
    {"fifth, alike: config", "masterauth {{l16}}"},
    {"fifth, alike: config", "requirepass {{l12}}"},
    {"fifth, alike: config", "bindpw {{w1}}"},
    {"fifth, alike: config", "rootpw {{w1}}"},
    {"fifth, alike: config", "username admin password 0 {{w1}}"},
    {"fifth, alike: config",
     "\"Parameters\": [{}\"ParameterKey\": \"DBPassword\", \"ParameterValue\": \"{{w1}}\"}]"},
    {"fifth, alike: config", "\"Authentication\": {} \"Jwt\": {} \"Key\": \"{{a40}}\" } }"},
    {"fifth, alike: config", "\"Jwt\": {} \"Key\": \"{{a48}}\", \"Issuer\": \"acme\" }"},
};

constexpr Line kCode[] = {
    {"fifth, alike: code", "imap.login('me@acme.io', '{{w1}}')"},
    {"fifth, alike: code", "ftp.login(\"upload\", \"{{w1}}\")"},
    {"fifth, alike: code", "ftp = ftplib.FTP('ftp.acme.io', 'upload', '{{w1}}')"},
    {"fifth, alike: code", "conn = pymysql.connect(\"db\", \"root\", \"{{w1}}\", \"shop\")"},
    {"fifth, alike: code", "conn = MySQLdb.connect('localhost', 'app', '{{w1}}', 'app')"},
    {"fifth, alike: code", "$db = mysqli_connect(\"localhost\", \"root\", \"{{w1}}\", \"shop\");"},
    {"fifth, alike: code", "$mysqli = new mysqli('db', 'app', '{{w1}}', 'shop');"},
    {"fifth, alike: code", "$link = mysql_connect('localhost', 'app', '{{w1}}');"},
    {"fifth, alike: code", "$dbh = DBI->connect(\"dbi:mysql:shop\", \"root\", \"{{w1}}\");"},
    {"fifth, alike: code", "my $dbh = DBI->connect($dsn, 'app', '{{w1}}', {} RaiseError => 1 });"},
    {"fifth, alike: code", "Connection c = DriverManager.getConnection(url, \"app\", \"{{w1}}\");"},
    {"fifth, alike: code", "DriverManager.getConnection(\"jdbc:mysql://db/shop\", \"root\", \"{{w1}}\")"},
    {"fifth, alike: code", "new BasicAWSCredentials(\"AKIA{216}\", \"{{b40}}\")"},
    {"fifth, alike: code", "AwsBasicCredentials.create(\"AKIA{216}\", \"{{b40}}\")"},
    {"fifth, alike: code", "http.basic_auth 'admin', '{{w1}}'"},
    {"fifth, alike: code", "smtp.PlainAuth(\"\", \"noreply@acme.io\", \"{{w1}}\", \"smtp.acme.io\")"},
    {"fifth, alike: code", "server.login('me@gmail.com', '{{l16}}')"},
    {"fifth, alike: code", "mail.Authenticate(\"me\", \"{{w1}}\");"},
    {"fifth, alike: code", "client.connect(\"10.0.0.5\", 22, \"deploy\", \"{{w1}}\")"},
    {"fifth, alike: code", "Net::SMTP.start('smtp', 587, 'acme.io', 'bot', '{{w1}}', :plain)"},
    {"fifth, alike: code", "User.objects.create_superuser('admin', 'a@acme.io', '{{w1}}')"},
    {"fifth, alike: code", "jwt.verify(token, '{{a32}}')"},
    {"fifth, alike: code", "jwt.encode(payload, \"{{a32}}\", algorithm=\"HS256\")"},
    {"fifth, alike: code", "jwt.decode(token, '{{a32}}', algorithms=['HS256'])"},
    {"fifth, alike: code", "const t = jsonwebtoken.sign(payload, \"{{a24}}\")"},
    {"fifth, alike: code", "JWT.encode(payload, '{{a32}}', 'HS256')"},
    {"fifth, alike: code", "crypto.createHmac('sha256', '{{a32}}')"},
    {"fifth, alike: code", "crypto.createHmac(\"sha256\", \"{{w1}}\").update(body)"},
    {"fifth, alike: code", "hmac.new(b\"{{a32}}\", msg, hashlib.sha256)"},
    {"fifth, alike: code", "hmac.New(sha256.New, []byte(\"{{a32}}\"))"},
    {"fifth, alike: code", "hash_hmac('sha256', $data, '{{a32}}')"},
    {"fifth, alike: code", "OpenSSL::HMAC.hexdigest('sha256', '{{a32}}', data)"},
    {"fifth, alike: code", "CryptoJS.AES.encrypt(text, \"{{a16}}\")"},
    {"fifth, alike: code", "crypto.createCipheriv('aes-256-cbc', '{{a32}}', iv)"},
    {"fifth, alike: code", "Fernet(b'{{u43}}=')"},
    {"fifth, alike: code", "Fernet(\"{{u43}}=\")"},
    {"fifth, alike: code", "f = Fernet('{{u43}}=')"},
    {"fifth, alike: code", "AES.new(b\"{{a16}}\", AES.MODE_CBC, iv)"},
    {"fifth, alike: code", "aes.NewCipher([]byte(\"{{a32}}\"))"},
    {"fifth, alike: code", "new SecretKeySpec(\"{{a16}}\".getBytes(), \"AES\")"},
    {"fifth, alike: code", "Keys.hmacShaKeyFor(\"{{a40}}\".getBytes())"},
    {"fifth, alike: code", "Algorithm.HMAC256(\"{{a32}}\")"},
    {"fifth, alike: code", "new SymmetricSecurityKey(Encoding.UTF8.GetBytes(\"{{a32}}\"))"},
    {"fifth, alike: code", "openssl_encrypt($data, 'aes-256-cbc', '{{a32}}', 0, $iv)"},
    {"fifth, alike: code", "cookieParser('{{a24}}')"},
    {"fifth, alike: code", "app.use(cookieParser(\"{{a24}}\"))"},
    {"fifth, alike: code", "URLSafeTimedSerializer('{{a32}}')"},
    {"fifth, alike: code", "r = redis.Redis('cache', 6379, 0, '{{a24}}')"},
    {"fifth, alike: code", "neo4j.auth.basic(\"neo4j\", \"{{w1}}\")"},
    {"fifth, alike: code", "cluster = PlainTextAuthProvider('cassandra', '{{w1}}')"},
    {"fifth, alike: code", "client.username_pw_set(\"sensor\", \"{{w1}}\")"},
    {"fifth, alike: code", "WiFi.begin(\"AcmeGuest\", \"{{w1}}\");"},
    {"fifth, alike: code", "WiFi.begin(ssid, \"{{w1}}\");"},
    {"fifth, alike: code", "ldap.simple_bind_s(\"cn=admin,dc=acme\", \"{{w1}}\")"},
    {"fifth, alike: code", "l.Bind(\"cn=admin,dc=acme,dc=io\", \"{{w1}}\")"},
    {"fifth, alike: code", "ldap_bind($c, \"cn=admin\", \"{{w1}}\")"},
    {"fifth, alike: code", "smb = SMBConnection('ops', '{{w1}}', 'pc', 'nas')"},
    {"fifth, alike: code", "oracledb.connect(\"scott\", \"{{w1}}\", \"db/orcl\")"},
    {"fifth, alike: code", "cx_Oracle.connect('scott/{{w1}}@db:1521/orcl')"},
    {"fifth, alike: code", "tweepy.OAuthHandler(\"{a25}\", \"{{a50}}\")"},
    {"fifth, alike: code", "auth.set_access_token(\"{d10}-{{a40}}\", \"{{a45}}\")"},
    {"fifth, alike: code", "OAuth1(\"{a25}\", \"{{a50}}\", \"{{a50}}\", \"{{a45}}\")"},
    {"fifth, alike: code", "Credentials.basic(\"admin\", \"{{w1}}\")"},
    {"fifth, alike: code", "OkHttp: Credentials.basic(\"me\", \"{{a16}}\")"},
    {"fifth, alike: code", "\"Basic \" + btoa(\"admin:{{w1}}\")"},
    {"fifth, alike: code", "btoa('ops:{{w1}}')"},
    {"fifth, alike: code", "base64.b64encode(b\"admin:{{w1}}\")"},
    {"fifth, alike: code", "Buffer.from(\"api:{{a36}}\").toString(\"base64\")"},
    {"fifth, alike: code", "let secret = Data(\"{{a32}}\".utf8)"},
    {"fifth, alike: code", "String pass = new String(\"{{w1}}\");"},
    {"fifth, alike: code", "SecureString pw = ConvertTo(\"{{w1}}\")"},
    {"fifth, alike: code", "key = \"AKIA\" + \"{{216}}\""},
    {"fifth, alike: code", "token = \"ghp_\" + \"{{a36}}\""},
    {"fifth, alike: code", "const k = 'sk-ant-' + '{{u95}}';"},
    {"fifth, alike: code", "token = \"ghp_\" \"{{a36}}\""},
    {"fifth, alike: code", "auth = \"Bearer \" + \"{{a40}}\""},
    {"fifth, alike: code", "headers['Authorization'] = 'Bearer ' + '{{a40}}'"},
    {"fifth, alike: code", "url = \"https://api.acme.io?token=\" + \"{{a32}}\""},
    {"fifth, alike: code", "String url = \"jdbc:postgresql://db/app?user=app&password=\" + \"{{w1}}\";"},
    {"fifth, alike: code", "EXEC sp_addlogin 'app', '{{w1}}';"},
    {"fifth, alike: code", "SELECT pgp_sym_encrypt(x, '{{w1}}')"},
};

constexpr Line kShell[] = {
    {"fifth, alike: shell", "rdesktop -u admin -p {{w1}} 10.0.0.4"},
    {"fifth, alike: shell", "psexec \\\\pc -u admin -p {{w1}} cmd"},
    {"fifth, alike: shell", "plink -pw {{w1}} root@10.0.0.4"},
    {"fifth, alike: shell", "pscp -pw {{w1}} a root@10.0.0.4:/"},
    {"fifth, alike: shell", "sshpass -p{{w1}} ssh a@b"},
    {"fifth, alike: shell", "SSHPASS={{w1}} sshpass -e ssh a@b"},
    {"fifth, alike: shell", "expect -c 'send \"{{w1}}\\r\"'"},
    {"fifth, alike: shell", "send \"{{w1}}\\r\""},
    {"fifth, alike: shell", "openssl enc -aes-256-cbc -k {{w1}} -in a -out b"},
    {"fifth, alike: shell", "kubectl create secret generic x --from-literal=k={{a40}}"},
    {"fifth, alike: shell", "ldapadd -w{{w1}} -D x"},
    {"fifth, alike: shell", "sqlcmd -S x -U sa -P{{w1}}"},
    {"fifth, alike: shell", "impdp system/{{w1}} dumpfile=x"},
    {"fifth, alike: shell", "useradd -p {{w1}} deploy"},
    {"fifth, alike: shell", "kinit me@ACME.IO <<< '{{w1}}'"},
    {"fifth, alike: shell", "echo {{w1}} | kinit admin"},
    {"fifth, alike: shell", "echo '{{w1}}' | cryptsetup luksOpen /dev/sdb1 x"},
    {"fifth, alike: shell", "echo {{w1}} | gh auth login"},
    {"fifth, alike: shell", "poetry config http-basic.acme me {{w1}}"},
    {"fifth, alike: shell", "xcrun notarytool submit --password {{l4}}-{{l4}}-{{l4}}-{{l4}}"},
    {"fifth, alike: shell", "steghide extract -sf a -p {{w1}}"},
    {"fifth, alike: shell", "tar cz x | openssl enc -k {{a16}} -out y"},
};

constexpr Line kLog[] = {
    {"fifth, alike: log", "New password for user elastic: {{a20}}"},
    {"fifth, alike: log", "Password (hex): {{x32}}"},
    {"fifth, alike: log", "password........: {{w1}}"},
    {"fifth, alike: log", "Invitation link: https://x/invite?code={{a32}}"},
    {"fifth, alike: log", "K10{{x64}}::server:{{x32}}"},
};

constexpr Line kUrl[] = {
    {"fifth, alike: url", "https://x.io/cb?code={{a40}}&state=abc"},
    {"fifth, alike: url", "https://x.io/a?hmac={{x64}}"},
    {"fifth, alike: url", "https://x.io/a?k={{a32}}"},
    {"fifth, alike: url", "https://x.io/verify/{{a64}}"},
    {"fifth, alike: url", "https://x.io/reset/{{u43}}"},
    {"fifth, alike: url", "https://x.io/password/reset/{{x64}}"},
    {"fifth, alike: url", "https://x.io/invite/{{a32}}"},
    {"fifth, alike: url", "https://x.io/magic?token_hash={{x56}}"},
};

constexpr Line kProse[] = {
    {"fifth, alike: prose", "pw is {{w1}}"},
    {"fifth, alike: prose", "login is admin/{{w1}}"},
    {"fifth, alike: prose", "log in as root / {{w1}}"},
    {"fifth, alike: prose", "you can sign in with demo@acme.io / {{w1}}"},
    {"fifth, alike: prose", "admin:{{w1}} works on the router"},
    {"fifth, alike: prose", "the root pw on db1 is {{w1}}"},
    {"fifth, alike: prose", "root password on db1 is {{w1}}"},
    {"fifth, alike: prose", "the password for the staging db is {{w1}}"},
    {"fifth, alike: prose", "password for staging: {{w1}}"},
    {"fifth, alike: prose", "password of the nas is now {{w1}}"},
    {"fifth, alike: prose", "just type {{w1}} when it asks for the password"},
    {"fifth, alike: prose", "enter {{w1}} as the password"},
    {"fifth, alike: prose", "use {{w1}} as password"},
    {"fifth, alike: prose", "{{w1}} is the wifi password"},
    {"fifth, alike: prose", "{{w1}} is the root password"},
    {"fifth, alike: prose", "try {{w1}} for the password"},
    {"fifth, alike: prose", "here is the key: {{a40}}"},
    {"fifth, alike: prose", "here is my openai key {{a48}}"},
    {"fifth, alike: prose", "the api key for maps is {{a39}}"},
    {"fifth, alike: prose", "The secret for the webhook is {{a32}}."},
    {"fifth, alike: prose", "mon mot de passe c'est {{w1}}"},
    {"fifth, alike: prose", "la contraseña es {{w1}}"},
    {"fifth, alike: prose", "Zugangsdaten: admin / {{w1}}"},
    {"fifth, alike: prose", "a senha é {{w1}}"},
    {"fifth, alike: prose", "la password è {{w1}}"},
    {"fifth, alike: prose", "密码是 {{w1}}"},
    {"fifth, alike: prose", "パスワードは {{w1}} です"},
    {"fifth, alike: prose", "lösenordet är {{w1}}"},
    {"fifth, alike: prose", "salasana on {{w1}}"},
    {"fifth, alike: prose", "şifre: {{w1}}"},
    {"fifth, alike: prose", "heslo: {{w1}}"},
    {"fifth, alike: prose", "jelszó: {{w1}}"},
    {"fifth, alike: prose", "adgangskode: {{w1}}"},
    {"fifth, alike: prose", "passord: {{w1}}"},
    {"fifth, alike: prose", "parolă: {{w1}}"},
    {"fifth, alike: prose", "mật khẩu: {{w1}}"},
    {"fifth, alike: prose", "passphrase for the key is {{w1}}"},
    {"fifth, alike: prose", "log in with ops and {{w1}}"},
    {"fifth, alike: prose", "my login: ops, {{w1}}"},
    {"fifth, alike: prose", "ssh root@10.0.0.4 (pw {{w1}})"},
    {"fifth, alike: prose", "PIN/PW {{w1}}"},
};

constexpr Line kEscaped[] = {
    {"fifth, alike: escaped", "<add key=\"pw\" value=\"a&lt;{{a14}}\" />"},
    {"fifth, alike: escaped", "password=\"x&quot;{{a14}}\""},
    {"fifth, alike: escaped", "password: \"a\\\"{{a14}}\""},
    {"fifth, alike: escaped", "password=ab%26{{a14}}"},
    {"fifth, alike: escaped", "postgres://app:ab%2F{{a14}}@db/x"},
    {"fifth, alike: escaped", "cGFzc3dvcmQ9{{a24}}"},
    {"fifth, alike: escaped", "cGFzc3dvcmQ6I{{a24}}=="},
    {"fifth, alike: escaped", "VE9LRU49{{a32}}"},
    {"fifth, alike: escaped", "\"data\": \"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tC{{b300}}\""},
    {"fifth, alike: escaped", "ssh_key: LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0K{{b200}}"},
    {"fifth, alike: escaped", "echo YWRtaW46{{a24}} | base64 -d"},
    {"fifth, alike: escaped", "<password><![CDATA[{{w1}}]]></password>"},
};

constexpr Line kKeys[] = {
    {"fifth, alike: keys",
     "{}\"kty\":\"RSA\",\"n\":\"{u342}\",\"e\":\"AQAB\",\"d\":\"{{u342}}\",\"p\":\"{{u171}}\",\"q\":\"{{u171}"
     "}\"}"},
    {"fifth, alike: keys", "{}\"kty\":\"oct\",\"k\":\"{{u43}}\",\"alg\":\"HS256\"}"},
    {"fifth, alike: keys", "{}\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"{{u43}}\",\"x\":\"{u43}\"}"},
    {"fifth, alike: keys", "{}\n  \"kty\": \"EC\",\n  \"d\": \"{{u43}}\",\n  \"crv\": \"P-256\"\n}"},
    {"fifth, alike: keys", "{}\"alg\":\"A256GCM\",\"k\":\"{{u43}}\",\"kty\":\"oct\"}"},
    {"fifth, alike: keys",
     "<RSAKeyValue><Modulus>{b100}</Modulus><Exponent>AQAB</Exponent><P>{{b60}}=</P><Q>{{b60}}=</"
     "Q><D>{{b120}}=</D></RSAKeyValue>"},
    {"fifth, alike: keys", "xprv9s21ZrQH143K{{a96}}"},
    {"fifth, alike: keys", "nsec1{{i58}}"},
    {"fifth, alike: keys",
     "-----BEGIN OpenVPN Static key V1-----\n{{x32}}\n{{x32}}\n{{x32}}\n-----END OpenVPN Static key V1-----"},
    {"fifth, alike: keys", "\"keys\":[{}\"d\":\"{{u43}}\",\"kty\":\"EC\"}]"},
};

constexpr Line kDiff[] = {
    {"fifth, alike: diff", "+  auth_pass {{l8}}"},
    {"fifth, alike: diff", "+client = Client(\"{{a40}}\")"},
    {"fifth, alike: diff", "+    requirepass {{l12}}"},
    {"fifth, alike: diff", "-    conn = connect('db', 'app', '{{w1}}')"},
    {"fifth, alike: diff", "+    smtp.login('a@b.io', '{{w1}}')"},
};

constexpr Line kFiles[] = {
    {"fifth, alike: files", "{}\"gitlab-token\": {}\"gitlab.com\": \"{{u20}}\"}}"},
};

}  // namespace

std::vector<SecretSample> fifth_alike(std::uint64_t seed) {
  Lot lot(seed);
  std::vector<SecretSample> out;
  const auto add = [&](const auto& lines) {
    for (const Line& line : lines) out.push_back(sample(lot, line));
  };
  add(kProvider), add(kEnv), add(kConfig), add(kCode), add(kShell), add(kLog), add(kUrl), add(kProse),
      add(kEscaped), add(kKeys), add(kDiff), add(kFiles);
  return out;
}

}  // namespace cairn::test
