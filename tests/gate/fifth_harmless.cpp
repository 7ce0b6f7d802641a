// What resembles the lines of fifth_alike.cpp and hides nothing.
#include <string>

#include "gate/corpus_lines.h"

namespace cairn::test {

namespace {

constexpr Line kHarmless[] = {
    {"fifth, alike", "use PBKDF2WithHmacSHA256 for the password"},
    {"fifth, alike", "use PBKDF2WithHmacSHA256 for the password."},
    {"fifth, alike", "we use AES256GCMPKCS5Padding1 when the password is set"},
    {"fifth, alike", "set PasswordAuthentication2 to no in sshd_config for the password"},
    {"fifth, alike", "ReactGA.initialize(\"UA-12345678-1\")"},
    {"fifth, alike", "gtag('config', 'G-A1B2C3D4E5')"},
    {"fifth, alike", "client = boto3.client(\"s3\", region_name=\"eu-central-1\")"},
    {"fifth, alike", "app.setup(\"v1.2.3-beta.4+build.5678\")"},
    {"fifth, alike", "new Worker(\"worker-a1b2c3d4.js\")"},
    {"fifth, alike", "connect(\"ws://localhost:3000/socket.io/?EIO=4\")"},
    {"fifth, alike", "await client.connect(\"mongodb://localhost:27017/test_2024\")"},
    {"fifth, alike", "change the password to use argon2id (m=65536,t=3,p=4)"},
    {"fifth, alike", "the token is valid until 2026-03-02T10:21:07+01:00"},
    {"fifth, alike", "the password was rotated on 2026-03-02T10:21:07Z"},
    {"fifth, alike", "the token is stored in localStorage[\"auth_v2\"]"},
    {"fifth, alike", "token is passed to verify_token2() in auth/session_v2.py"},
    {"fifth, alike", "login failed for user admin: Error#1045 (28000)"},
    {"fifth, alike", "login as admin: see README#login-2"},
    {"fifth, alike", "root:x:0:0:root:/root:/bin/bash"},
    {"fifth, alike", "root:docker:1000:1000"},
    {"fifth, alike", "chown root:www-data2 /var/www"},
    {"fifth, alike", "https://github.com/acme/admin/issues/1234#issuecomment-12345678"},
    {"fifth, alike", "admin/src/pages/Login.tsx:42:17"},
    {"fifth, alike", "admin/package@1.2.3"},
    {"fifth, alike", "git log --author=admin / --since=2024-01-01"},
    {"fifth, alike", "import {} login } from '@/api/auth@v2'"},
    {"fifth, alike", "creds, err := loader.Load(ctx, \"prod-eu-1\")"},
    {"fifth, alike", "credentials: include"},
    {"fifth, alike", "credentials and tokens: see https://docs.acme.io/auth#tokens-2"},
    {"fifth, alike", "sign in with Google or user@example.com / SSO"},
    {"fifth, alike", "login() {} return this.http.post('/api/v2/login#1', body) }"},
    {"fifth, alike", ".send(\"hello world 12345678\")"},
    {"fifth, alike", "send \"HELO mail01.acme.io\""},
    {"fifth, alike", "jwt.verify(token, key, {} algorithms: [\"ES256K1\"] })"},
    {"fifth, alike", "hmac.new(key, msg, \"sha3_512\")"},
    {"fifth, alike", "encrypt(\"plaintext1234!\", key)"},
    {"fifth, alike", "expect(encrypt(\"Hello_World_1234!\", key)).toBe(out)"},
    {"fifth, alike", "Algorithm.HMAC256(secretFromEnv)"},
    {"fifth, alike", "Serializer(\"application/vnd.acme.v2+json\")"},
    {"fifth, alike", "api(\"/v1/users/5f3a9c2e1b4d7f8a6c0e2b4d/profile\")"},
    {"fifth, alike", "api(\"GET\", \"users/{x24}\")"},
    {"fifth, alike", "setup(\"test-db-{x8}\")"},
    {"fifth, alike", "init(\"{@}\")"},
    {"fifth, alike", "const bot = new Bot(\"{@}\")"},
    {"fifth, alike", "Buffer.from(\"hello:world:12345\")"},
    {"fifth, alike", "btoa(\"user:pass\")"},
    {"fifth, alike", "btoa(\"width:100%;height:50%\")"},
    {"fifth, alike", "\"key\": \"{@}\""},
    {"fifth, alike", "cache key: node-modules-{x64}"},
    {"fifth, alike", "the key is {x40}"},
    {"fifth, alike", "key = \"user:{d8}:profile\""},
    {"fifth, alike", "primary key {a22}"},
    {"fifth, alike", "/p:Configuration=Release /p:Platform=\"Any CPU\""},
    {"fifth, alike", "pw = getpass.getpass()"},
    {"fifth, alike", "pw is empty"},
    {"fifth, alike", "if pw != pw2: raise ValueError(\"pw mismatch\")"},
    {"fifth, alike", "https://acme.io/hooks/github/v2"},
    {"fifth, alike", "https://acme.io/invite/team-backend-2024"},
    {"fifth, alike", "https://acme.io/verify/2024-05-14"},
    {"fifth, alike", "https://registry.npmjs.org/@acme/hooks/-/hooks-1.2.3.tgz"},
    {"fifth, alike", "https://acme.io/oauth/callback?code=4/P7q7W91&state=xyz"},
    {"fifth, alike", "https://acme.io/error?code=ERR_CONNECTION_REFUSED_2024"},
    {"fifth, alike", "https://www.youtube.com/watch?v=dQw4w9WgXcQ&k=abc"},
    {"fifth, alike", "mnemonic: the word for a short name of one machine code instruction used here"},
    {"fifth, alike", "password: required"},
    {"fifth, alike", "password: bcrypt"},
    {"fifth, alike", "password: encrypted"},
    {"fifth, alike", "password: passphrase"},
    {"fifth, alike", "password: strength"},
    {"fifth, alike", "--password sqlserver"},
    {"fifth, alike", "-storepass changeit"},
    {"fifth, alike", "spring.datasource.password=postgres"},
    {"fifth, alike", "login.password=schluessel"},
    {"fifth, alike", "<password>required</password>"},
    {"fifth, alike", "<Password type=\"string\">Text</Password>"},
    {"fifth, alike", "ssh -p 2222 dev@host.acme.io"},
    {"fifth, alike", "docker run -p 8080:80 -e A=b web"},
    {"fifth, alike", "nmap -p 1-65535 host"},
    {"fifth, alike", "openssl dgst -sha256 -hmac \"$SECRET\" f"},
    {"fifth, alike", "curl -k https://localhost:8443/healthz"},
    {"fifth, alike", "openssl s_client -k -connect host:443"},
    {"fifth, alike", "gh auth login --web"},
    {"fifth, alike", "echo done | cryptsetup status"},
    {"fifth, alike", "kubectl create secret generic x --from-literal=mode=production"},
    {"fifth, alike", "fly secrets set LOG_LEVEL=debug2"},
    {"fifth, alike", "bw unlock --raw"},
    {"fifth, alike", "vault login -method=oidc"},
    {"fifth, alike", "seal/unseal keys: 5 shares, threshold 3"},
};

}  // namespace

std::vector<BenignSample> fifth_harmless(std::uint64_t seed) {
  Lot lot(seed);
  std::vector<BenignSample> out;
  for (const Line& line : kHarmless) out.push_back({line.group, sample(lot, line).text});
  return out;
}

}  // namespace cairn::test
