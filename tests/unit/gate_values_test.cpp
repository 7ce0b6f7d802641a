// Which values count beside which names, and which do not.
#include <gtest/gtest.h>

#include "base/text.h"
#include "gate/secret_value.h"
#include "gate/secrets.h"

namespace cairn::gate {
namespace {

std::string cleaned(std::string text) {
  static const Secrets kSecrets(SecretOptions{{}, {}, std::string(32, 'k')});
  kSecrets.remove(text);
  return text;
}

// `form` with `value` where it says @.
std::string filled(std::string_view form, std::string_view value) {
  const std::size_t at = form.find("@@");
  return std::string(form.substr(0, at)).append(value).append(form.substr(at + 2));
}

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
