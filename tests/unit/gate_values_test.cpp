// Which values count beside which names, and which do not.
#include <gtest/gtest.h>

#include "base/text.h"
#include "gate/corpus_random.h"
#include "gate/secrets.h"
#include "gate/secrets/values.h"
#include "unit/gate_cleaned.h"

namespace cairn::gate {
namespace {

void expect_found(std::initializer_list<std::string_view> forms, std::string_view value) {
  for (const std::string_view form : forms) {
    const std::string out = cleaned(filled(form, value));
    EXPECT_EQ(out.find(value), std::string::npos) << out;
    EXPECT_NE(out.find("[secret:"), std::string::npos) << out;
  }
}

void expect_left(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_EQ(cleaned(std::string(text)), text);
}

TEST(SecretValues, ThatAPersonChoseAreFoundWhereverALanguagePutsThem) {
  for (const std::string& value : {"Granite@" + std::string("5813!"), "maple$" + std::string("4471x")})
    expect_found(
        {"ALTER USER app WITH PASSWORD '@@';", "CREATE LOGIN x WITH PASSWORD = N'@@'",
         "#define WIFI_PASS \"@@\"", "var dbPassword = []byte(\"@@\")", "define( 'DB_PASSWORD',      '@@' );",
         "props.set(\"password\", \"@@\")", "env('DB_PASSWORD', '@@')",
         "const secret = process.env.SECRET || '@@';", "await page.getByLabel('Password').fill('@@');",
         "requests.get(url, auth=('dev', '@@'))", "[\"password\"]=>\n  string(12) \"@@\"",
         "DEBUG Config - password........\"@@\"", "keytool -list -storePassword @@ -v", "**Password:** @@",
         "the db password is @@, please rotate", "das Passwort lautet @@",
         "<setting name=\"Password\" as=\"String\"><value>@@</value></setting>",
         "\"db_password\": {\n  \"value\": \"@@\","},
        value);
}

TEST(SecretValues, OfCommandsAreFoundInOptionsArgumentsAndPipes) {
  for (const std::string& value : {"Granite@" + std::string("5813x"), "kT4" + std::string("mWq9ZbX2hLp")})
    expect_found({"keytool -list -storepass @@ -v",
                  "unzip -P @@ a.zip",
                  "7z x -p@@ a.7z",
                  "sqlcmd -S db -U sa -P '@@' -Q x",
                  "snowsql -a x -u dev -p @@",
                  "sudo docker exec db mysql -u root -p@@ shop",
                  "docker login -u dev -p @@ r.test",
                  "ssh-keygen -t ed25519 -N '@@'",
                  "http -a dev:@@ GET x.test",
                  "smbclient //nas/a -U 'dev%@@'",
                  "lftp -u dev,@@ sftp://h",
                  "net user ci @@ /add",
                  "net use Z: \\\\h\\s /user:dev @@",
                  "rabbitmqctl add_user app @@",
                  "htpasswd -bc f admin @@",
                  "echo '@@' | sudo -S ls",
                  "sudo -S <<< \"@@\" ls",
                  "echo \"dev:@@\" | chpasswd",
                  "echo @@ | docker login -u ci --password-stdin",
                  "ConvertTo-SecureString \"@@\" -AsPlainText",
                  "\"@@\" | ConvertTo-SecureString -AsPlainText",
                  "sqlplus scott/@@@//db:1521/ORCL",
                  "app:@@@tcp(127.0.0.1:3306)/shop",
                  "openssl rsa -in k.pem -passin pass:@@",
                  "CREATE USER 'a'@'%' IDENTIFIED BY '@@'"},
                 value);
  expect_left({"unzip -p a1.zip member2.txt", "mkdir -p build/release2", "docker run -p 8080:80 nginx2",
               "ssh -p 2222 dev@host7", "zip -r out2.zip dir1", "kubectl -n shop-prod1 get pods",
               "echo \"$PASS\" | sudo -S ls", "echo done2 | tee a", "mysql -u root -p shop2",
               "mysql -p < dump1.sql", "cp -a /srv/data2 /srv/data3", "http -a $USER:$PASS x.test",
               "net user administrator", "git@//host1", "./a.sh; mysql --version\ncp -p4 a1b2c3 d",
               "the row is identified by user2name"});
}

TEST(SecretValues, AreFoundBelowTheHeadingOfTheirColumn) {
  for (const std::string& value : {"Granite@" + std::string("5813x"), "9f8kT4mWq" + std::string("ZbX2hLp7")})
    expect_found({"id,email,password\n1,a@b.test,none\n2,c@d.test,@@\n",
                  "\"user\",\"password\"\n\"anna\",\"@@\"\n", "login\tpassword\tteam\nanna\t@@\tcore\n",
                  " id | password | email\n----+----------+------\n  1 | @@ | a@b\n(1 row)",
                  "+----+------+\n| id | api_secret |\n+----+------+\n| 1 | @@ |\n+----+------+\n",
                  "| user | **Password** |\n|---|:---|\n| anna | `@@` |\n"},
                 value);
  expect_left({"id,login,password\n1,anna,unchanged\n2,ben,none\n", "name,secret\nalpha,true\nbeta,false\n",
               "| Option | password |\n|---|---|\n| min | 12 |\n| hash | argon2id |\n",
               "use(user, password,\n    \"Sha256x!1\", other);\n", "login,password\nanna;Granite@5813x\n",
               "    'password_verify',\n    'password',\n    'ssh2_sftp_chmod',\n",
               "#define XXH3_initCustomSecret XXH3_initCustomSecret_avx512\n",
               "#define CKK_SECRET 0x00000010UL", "interface identified by %NL80211_ATTR_IFINDEX",
               "s/^\\s*(;\\s*)?\\@//;"});
  // The other columns are searched all the same.
  const std::string token = "gh" + std::string("p_") + "8fA2kd93Lm20xPq7Zt51Wb6RyU4nQw0sVh3J";
  const std::string out = cleaned("password,note\n" + token + "," + token + "\nGranite@5813x,b\n");
  EXPECT_EQ(out.find(token), std::string::npos) << out;
  EXPECT_EQ(out.find("Granite"), std::string::npos) << out;
}

TEST(SecretValues, AreFoundInPairsChangesAndOtherSpellings) {
  const std::string value = "Granite@" + std::string("5813x");
  expect_found({"credentials: admin:@@", "creds are admin:@@", "pw: @@", "~ password = \"old\" -> \"@@\"",
                "~ password = \"Maple!4711x\" -> \"@@\""},
               value);
  expect_found({"https://maps.test/api/js?key=@@&callback=init"},
               "8fA2kd93" + std::string("Lm20xPq7Zt51Wb6R"));
  expect_left({"https://host.test/list?key=created_at_desc_v2_of_items", "auth: scram:sha-256"});
  std::string wide;
  for (const char c : "DB_PASS=" + value) wide.append(1, c).append(1, '\0');
  EXPECT_NE(cleaned(wide).find("[secret:"), std::string::npos);
  const std::string apart = std::string("A=1\0DB_PASS=", 12) + value + std::string("\0HOME=/srv", 10);
  EXPECT_TRUE(cleaned(apart).ends_with(std::string("]\0HOME=/srv", 11))) << cleaned(apart);
}

TEST(SecretValues, OfSeveralWordsAreFoundWhenTheyMakeNoSentence) {
  for (const std::string& value :
       {"correct horse 7 " + std::string("battery!"), "purple monkey " + std::string("dishwasher 9"),
        "tseq ivmj " + std::string("gbqf wmii")})
    expect_found({"{\"password\": \"@@\"}", "DB_PASSWORD=\"@@\"", "passphrase = '@@'"}, value);
  expect_left({"\"password\": \"must be at least 8 characters\"", "\"password\": \"Enter your password!\"",
               "\"password\": \"Use 12+ characters\"", "\"password\": \"New password (min. 8)\"",
               "\"password\": \"Mot de passe 2\"", "\"password\": \"Password must contain 1 digit!\"",
               "password: \"correct horse 7", "\"secret\": \"the cat sat\""});
}

TEST(SecretValues, ThatOnlyBeginLikeAPlaceholderAreFound) {
  for (const std::string& value : {"my_Str0ng!" + std::string("Passw0rd#2024"),
                                   "fakeKx92!" + std::string("kd7"), "Your1Secret!" + std::string("99")}) {
    EXPECT_FALSE(is_placeholder(value)) << value;
    expect_found({"DB_PASSWORD=@@", "{\"password\": \"@@\"}", "postgres://app:@@@db/prod"}, value);
  }
  for (const char* value : {"my_password", "my-secret-pw", "your-256-bit-secret", "yourSecretKey123",
                            "fake_token_1", "replace-with-32-chars", "<your key>", "<paste"})
    EXPECT_TRUE(is_placeholder(value)) << value;
}

// Of 4,000 values; a random value may happen to be a word.
TEST(SecretValues, RandomOnesAreRarelyTakenForWords) {
  struct Form {
    std::string_view text, alphabet;
    std::size_t length;
    int most;
  };
  constexpr int kDraws = 4000;
  test::Random random(20261116);
  for (const Form& form :
       {Form{"password: @@", test::kAlnum, 12, 60}, Form{"--password=@@", test::kAlnum, 16, 30},
        Form{"token = \"@@\"", test::kAlnum, 20, 12}, Form{"the password is @@", test::kAlnum, 14, 130},
        Form{"secret: @@", test::kLower, 16, 110}, Form{"password=@@", test::kLower, 12, 450}}) {
    int missed = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::string value = random.of(form.alphabet, form.length);
      missed += cleaned(filled(form.text, value)).find(value) != std::string::npos ? 1 : 0;
    }
    EXPECT_LE(missed, form.most) << form.text;
  }
  expect_left({"password: kx-ecdhe-psk", "token = \"XMLHttpRequestEventTarget\"",
               "secret: kubernetes-dashboard-csrf", "the password is passwordEncoderBean",
               "token: nextjsHydrationBoundary", "api_key: asyncpgConnectionPool"});
}

TEST(SecretValues, ThatNameAPlaceOrAnAccountAreLeft) {
  const std::string drawn = "8fA2kd93" + std::string("Lm20xPq7Zt51Wb6R");
  for (const char* name : {"nextToken", "next_page_token", "NextContinuationToken", "pageToken",
                           "cursor_token", "CallSid", "Sec-WebSocket-Key", "GPG_KEY", "checksum/secret"})
    expect_left({std::string(name) + ": \"" + drawn + "\""});
  for (const char* name : {"token", "access_token", "SESSION_TOKEN", "sid", "api-key"})
    expect_found({std::string(name) + ": \"@@\""}, drawn);
  expect_left({"OLDPWD=/home/dev/x1y2z3", "SID=S-1-5-21-1004336348-1177238915-682003330-512",
               "token: 0x52908400098527886e0f7030069857d2e4169ee7",
               "'password' => 'required|string|min:8|confirmed',", "password: ${DB_PASSWORD:?must be set1}",
               "token := strings.TrimPrefix(h, \"Bearer \")"});
  expect_found({"MYSQL_PWD=@@", "PRIVATE_KEY=0x@@", "password: ${DB_PASSWORD:-@@}"}, drawn);
}

}  // namespace
}  // namespace cairn::gate
