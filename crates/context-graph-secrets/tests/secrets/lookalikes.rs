//! Texts that look like secrets but are not, written after the rules and without looking at them.

use super::{ALNUM, BASE64, CAPITAL, DIGITS, Dice, HEX, SMALL, URL_SAFE};

/// Texts with `§` for a random part, its alphabet and its length. A length of 0 means a UUID.
#[rustfmt::skip]
const DRAWN: &[(&str, &str, usize)] = &[
    ("git checkout §", HEX, 40), ("Merge commit '§' into main", HEX, 40), ("fixup! §", HEX, 7), ("index §..e69de29 100644", HEX, 7),
    ("HEAD is now at § Tidy", HEX, 9), ("ref: refs/pull/§/head", DIGITS, 4), ("tree §", HEX, 40), ("parent §", HEX, 40),
    ("uses: actions/checkout@§", HEX, 40), ("rev = \"§\"", HEX, 40), ("git+https://x.test/r.git?rev=§#1.0", HEX, 40),
    ("checksum = \"§\"", HEX, 64), ("sha256:§", HEX, 64), ("sha256sum: §  file", HEX, 64), ("digest: sha256:§", HEX, 64),
    ("\"integrity\": \"sha512-§==\"", BASE64, 86), ("integrity=\"sha384-§\"", BASE64, 64), ("\"sha1\": \"§\"", HEX, 40),
    ("md5: §", HEX, 32), ("ETag: \"§\"", HEX, 32), ("x-amz-request-id: §", CAPITAL, 16), ("x-request-id: §", "", 0),
    ("trace_id=§", HEX, 32), ("traceparent: 00-§-00f067aa0ba902b7-01", HEX, 32), ("span_id=§", HEX, 16), ("\"traceId\":\"§\"", HEX, 32),
    ("{\"id\":\"§\"}", "", 0), ("\"session_id\": \"§\"", "", 0), ("user_id = '§'", "", 0), ("DELETE FROM jobs WHERE id = '§'", "", 0),
    ("correlation-id: §", "", 0), ("tenant: §", "", 0), ("/subscriptions/§/resourceGroups/rg", "", 0), ("arn:aws:kms:eu-west-1:1:key/§", "", 0),
    ("client_id: §", "", 0), ("\"uuid\": \"§\"", "", 0), ("GUID: {§}", "", 0), ("projectId: \"§\"", "", 0), ("urn:uuid:§", "", 0),
    ("Request ID: §", "", 0), ("build §", "", 0), ("device §", "", 0), ("--run-id §", "", 0), ("/api/orders/§", "", 0),
    ("toolu_§", ALNUM, 24), ("msg_§", ALNUM, 24), ("req_§", ALNUM, 24), ("pi_§", ALNUM, 24), ("cus_§", ALNUM, 14), ("price_§", ALNUM, 24),
    ("evt_§", ALNUM, 24), ("prod_§", ALNUM, 14), ("chatcmpl-§", ALNUM, 29), ("file-§", ALNUM, 24), ("run_§", ALNUM, 24), ("asst_§", ALNUM, 24),
    ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA§ me@host", BASE64, 48), ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB§ me@host", BASE64, 340),
    ("-----BEGIN CERTIFICATE-----\n§\n-----END CERTIFICATE-----", BASE64, 64), ("-----BEGIN PUBLIC KEY-----\n§\n-----END PUBLIC KEY-----", BASE64, 64),
    ("public_key = \"§\"", BASE64, 43), ("PublicKey = §=", BASE64, 43), ("pubkey: §", HEX, 64), ("minisign public key §", BASE64, 56),
    ("data:image/png;base64,iVBORw0KGgo§", BASE64, 400), ("data:font/woff2;base64,d09GMgAB§", BASE64, 300), ("\"image\": \"/9j/4AAQSkZJRg§\"", BASE64, 500),
    ("//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz§", BASE64, 200), ("background:url(data:image/svg+xml;base64,PHN2Zy§)", BASE64, 200),
    ("chunk-§.js", HEX, 8), ("main.§.css", HEX, 20), ("assets/logo.§.svg", SMALL, 8), ("_next/static/§/_buildManifest.js", URL_SAFE, 21),
    ("/nix/store/§-glibc-2.38", SMALL, 32), ("layer §: Pull complete", HEX, 12), ("container §", HEX, 64), ("docker rm §", HEX, 12),
    ("pod/api-§-x7k2p Running", HEX, 10), ("deployment.apps/web-§", HEX, 9), ("job-§", SMALL, 5), ("i-§ running", HEX, 17), ("ami-§", HEX, 17),
    ("vpc-§", HEX, 17), ("subnet-§", HEX, 8), ("sg-§", HEX, 17), ("vol-§", HEX, 17), ("snap-§", HEX, 17), ("eni-§", HEX, 17), ("arn:aws:iam::§:role/x", DIGITS, 12),
    ("tx 0x§ mined", HEX, 64), ("contract 0x§", HEX, 40), ("block hash: 0x§", HEX, 64), ("\"blockhash\": \"§\"", ALNUM, 44), ("cid: Qm§", ALNUM, 44),
    ("bafybei§", SMALL, 52), ("nonce=\"§\"", ALNUM, 22), ("code_challenge=§", URL_SAFE, 43), ("state=§", HEX, 10), ("cursor=§", ALNUM, 40),
    ("next_page_token: §", ALNUM, 32), ("\"continuationToken\": \"§\"", ALNUM, 40), ("pageToken=§", ALNUM, 24), ("?v=§", ALNUM, 11), ("?t=§", DIGITS, 13),
    ("https://youtu.be/§", ALNUM, 11), ("https://docs.google.com/document/d/§/edit", URL_SAFE, 44), ("https://drive.google.com/file/d/§/view", URL_SAFE, 33),
    ("https://gist.github.com/me/§", HEX, 32), ("https://cdn.test/§.jpg", HEX, 32), ("https://s3.test/b/§/a.png", HEX, 40), ("https://x.test/a?utm_id=§", DIGITS, 14),
    ("cache_key: §", HEX, 64), ("cacheKey = \"§\"", HEX, 40), ("primary_key: §", DIGITS, 8), ("sort_key=§", HEX, 16), ("partitionKey: '§'", "", 0),
    ("idempotency_key: §", "", 0), ("Idempotency-Key: §", "", 0), ("foreign_key = §", DIGITS, 6), ("key: §", HEX, 40), ("<li key=\"§\">", "", 0), ("registry_key = §", HEX, 20),
    ("max_tokens: §", DIGITS, 4), ("token_count=§", DIGITS, 6), ("tokens: [§, 3, 5]", DIGITS, 5), ("pad_token_id = §", DIGITS, 5), ("token: §,", DIGITS, 3),
    ("password_hash_rounds = §", DIGITS, 2), ("password_min_length: §", DIGITS, 2), ("secret_version = §", DIGITS, 2), ("secretName: app-tls-§", HEX, 5),
    ("keyId: §", HEX, 16), ("kid: §", HEX, 40), ("\"kid\": \"§\"", ALNUM, 27), ("fingerprint: SHA256:§", BASE64, 43), ("thumbprint §", CAPITAL, 40),
    ("serial: §", HEX, 32), ("SN: §", CAPITAL, 12), ("IMEI §", DIGITS, 15), ("ISBN §", DIGITS, 13), ("MAC 00:1a:§", HEX, 2), ("version 1.2.3+§", HEX, 8),
    ("golang.org/x/net v0.0.0-20230101000000-§", HEX, 12), ("h1:§=", BASE64, 43), ("resolution: {integrity: sha512-§==}", BASE64, 86),
    ("  name = \"left-pad\"\n  source = \"registry+https://x.test/index\"\n  checksum = \"§\"", HEX, 64), ("yarn cache §", HEX, 40), ("bun.lockb hash: §", CAPITAL, 16),
    ("flags: 0x§", HEX, 8), ("addr 0x7fff§", HEX, 8), ("at 0x§ in main", HEX, 12), ("panic at §", HEX, 6), ("color: #§", HEX, 6), ("rgba(§)", DIGITS, 2),
    ("_ZN4core3fmt§E", HEX, 17), ("h§::h1", HEX, 16), ("window.__STATE__=\"§\"", HEX, 12), ("tmp/§/out", ALNUM, 10), ("/tmp/tmp.§", ALNUM, 10), ("snapshot-§.json", DIGITS, 10),
    ("\"signature\": \"§\"", BASE64, 86), ("\"hash\": \"§\"", HEX, 64), ("mtime=§", DIGITS, 19), ("Content-Length: §", DIGITS, 6), ("order §", CAPITAL, 10), ("coupon: §", CAPITAL, 8),
];

/// Fixed texts.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "API_KEY=your-api-key-here", "API_KEY=<your api key>", "TOKEN=${GITHUB_TOKEN}", "token: $CI_JOB_TOKEN", "password: ${{ secrets.DB_PASSWORD }}", "password: {{ vault_password }}",
    "PASSWORD=changeme", "password: password", "secret: mysecret", "SECRET_KEY = os.environ['SECRET_KEY']", "apiKey: process.env.API_KEY,", "api_key = config.get('api_key')",
    "const token = await getToken();", "let password = prompt('Password?');", "if (password === confirmPassword) {", "password: z.string().min(8),", "password = Column(String(255))",
    "token = tokenizer.next_token()", "secret := os.Getenv(\"SECRET\")", "TOKEN=\"$(gh auth token)\"", "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Bearer YOUR_TOKEN",
    "Authorization: Basic <credentials>", "curl -u user:password https://x.test", "postgres://user:password@localhost/db", "redis://:password@localhost", "mysql -u root -p", "--password-stdin",
    "passphrase: ask the owner of the key", "password: at least eight characters long", "The password: it must not be empty", "wrong password: please try again later", "Enter your password: ",
    "headers.set(\"Content-Type\", \"application/json\")", "map.put(\"token\", \"identifier\")", "f(\"password\", \"Password\")", "t('password', 'Passwort')", "expect(page.locator(\"password\", \"input\"))",
    "setToken(\"\")", "setPassword(\"password\")", "setApiKey(apiKey)", "withToken(token)", "getPassword(\"admin\")", "validate_password(\"short\")", "key: \"value\"", "Key=Value", "?key=name&page=2", "?key=user_settings",
    "?code=404", "?code=US-EAST-1", "key = \"some.translation.key.in.a.file\"", "key: 'components.button.primary.label'", "key=\"item-list-entry-number-42\"", "KEY = \"CONFIG_MAX_CONNECTIONS_PER_HOST\"",
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk_test_...", "AIza...",
    "hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "discord.com/api/webhooks/{id}/{token}", "https://hooks.zapier.com/hooks/catch/", "the prefix is ghp_ and then 36 characters", "sgp_ tokens are new",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----", "if line.startswith('-----BEGIN PRIVATE KEY-----'):", "s.getElementsByClassName('x')",
    "pat-na1-region", "live_reload_enabled_by_default_in_development", "test_that_the_parser_reads_all_of_the_given_input", "sandbox_environment_configuration_for_tests", "api_live.example", "sc_config.load_from_file", "ext_modules.compile",
    "t-test-results-for-the-second-run", "sl.a", "pa-lower", "as-is", "ak-cluster", "AGPA means grade", "AIDA is an opera", "class AROARunner", "GOOG closed higher", "SKIP", "api-gateway-service-production-deployment", "sdk-for-java-and-kotlin",
    "token string = \"\"", "password String = null", "tokenType string = \"Bearer\"", "storePassword \"\"", "the token \"foo\" was not expected", "unexpected token \"export\" in line 3", "the key \"name\" is missing", "password 'admin' is not allowed",
    "secret \"db-credentials\" not found", "kubectl create secret generic \"api-keys\"", "token \"identifier\" expected", "the secret 'database' exists", "auth \"none\"", "auth: basic", "auth: true", "auth_type = \"oauth2\"", "authMethod: 'saml'",
    "token:\n  type: string\n  required: true", "password:\n  - min: 8", "secret:\n  secretName: app", "credentials: same-origin", "credentials: 'include'", "<token>\n  <type>id</type>\n</token>", "<password></password>", "<key>CFBundleIdentifier</key>",
    "token <- lexer()", "password <- readline()", "x <- \"token\"", "TOKEN ?= default", "SECRET_NAME ::= app", "PASSWORD_FILE += /run/secrets/db", "NODE_AUTH_TOKEN: ${NODE_AUTH_TOKEN}", "passwords.txt", "token.rs", "src/secret/mod.rs",
    "use crate::token::Token;", "import { Token } from './token';", "class Password(models.Model):", "def test_password_is_required():", "SELECT password_hash FROM users", "ALTER TABLE users ADD COLUMN password text", "GRANT SELECT ON secrets TO app",
    "the quick brown fox jumps over the lazy dog", "internationalization and localization of authentication", "Floccinaucinihilipilification", "Donaudampfschifffahrtsgesellschaft", "xkcd.com/936", "strcspn, strpbrk, wcsncmp, vsnprintf", "rhythm syzygy",
    "mutex pthread_rwlock_trywrlock", "token: CancellationToken", "cancellationToken = cts.Token", "csrfToken: string", "public string ApiKey { get; set; }", "private readonly string _password;", "password?: string;", "token: Option<String>,",
    "api_key: Optional[str] = None", "\"password\": {\"type\": \"string\"}", "\"token\": null", "\"secret\": false", "\"apiKey\": \"\"", "'password' => 'required|string|min:8'", "password.length < 8", "token.split('.')", "secrets.token_hex(32)",
    "openssl rand -hex 32", "ssh-keygen -t ed25519", "gpg --gen-key", "aws sts get-caller-identity", "vault kv list secret/", "gh secret list", "docker secret ls", "kubectl get secrets", "az keyvault list", "echo $PASSWORD | wc -c",
];

/// The texts, with random parts from this seed.
pub(crate) fn texts(seed: u64) -> Vec<String> {
    let mut dice = Dice::new(seed + 51);
    let drawn = DRAWN.iter().map(|(text, alphabet, length)| {
        let draw = if *length == 0 { dice.uuid() } else { dice.draw(alphabet, *length) };
        text.replace('§', &draw)
    });
    drawn.chain(PLAIN.iter().map(|&text| text.to_owned())).collect()
}
