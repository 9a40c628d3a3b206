//! Secrets that are recognised by their position or name.

use super::{ALNUM, BASE64, Dice, HEX, Positive, URL_SAFE};

/// Text with `§` in place of the secret.
#[rustfmt::skip]
const PASSWORDS: &[(&str, &str)] = &[
    ("database-url", "DATABASE_URL=postgres://app:§@db.internal:5432/shop"),
    ("database-url", "mongodb+srv://svc:§@cluster0.mongodb.test/?retryWrites=true"),
    ("database-url", "redis://:§@cache:6379/0"),
    ("database-url", "\"amqp://worker:§@mq:5672/%2f\""),
    ("database-url", "mysql2://root:§@127.0.0.1/shop_development"),
    ("database-url", "create_engine('postgresql+psycopg://app:§@db/shop')"),
    ("database-url", "sql.Open(\"mysql\", \"app:§@tcp(db:3306)/shop?parseTime=true\")"),
    ("url-password", "git clone https://deploy:§@git.internal/team/repo.git"),
    ("url-password", "export HTTPS_PROXY=http://proxy:§@10.0.0.9:3128"),
    ("url-password", "ftp://backup:§@files.internal/dump.tar.gz"),
    ("password", "Server=sql1;Database=shop;User Id=sa;Password=§;Encrypt=True"),
    ("password", "jdbc:mysql://db/shop?user=app&password=§&useSSL=true"),
    ("password", "DB_PASSWORD=§"),
    ("password", "export PGPASSWORD='§'; psql -h db"),
    ("password", "MYSQL_ROOT_PASSWORD: §\n"),
    ("password", "password = \"§\""),
    ("password", "password: '§'"),
    ("password", "  password: §\n  port: 5432"),
    ("password", "{\"username\": \"me\", \"password\": \"§\"}"),
    ("password", "\"{\\\"user\\\": \\\"me\\\", \\\"password\\\": \\\"§\\\"}\""),
    ("password", "spring.datasource.password=§"),
    ("password", "$db['password'] = '§';"),
    ("password", "let password: &str = \"§\";"),
    ("password", "const dbPassword: string = \"§\";"),
    ("password", "password => '§',"),
    ("password", "environment:\n  - POSTGRES_PASSWORD=§\n"),
    ("password", "- name: DB_PASSWORD\n  value: \"§\"\n"),
    ("password", "docker run -e MYSQL_PASSWORD=§ -d mysql:8"),
    ("password", "docker login -u me -p § registry.test"),
    ("password", "sshpass -p '§' ssh root@10.0.0.7"),
    ("password", "mysql -u root -p§ shop < dump.sql"),
    ("password", "mysqldump --user=root --password=§ shop"),
    ("password", "redis-cli -h cache -a § ping"),
    ("password", "mongosh -u admin -p § --authenticationDatabase admin"),
    ("password", "keytool -list -keystore app.jks -storepass §"),
    ("password", "openssl rsa -in key.pem -passin pass:§ -out plain.pem"),
    ("password", "gpg --batch --passphrase § -d file.gpg"),
    ("password", "sqlcmd -S db -U sa -P § -Q 'select 1'"),
    ("password", "ldapsearch -x -D cn=admin -w § -b dc=test"),
    ("basic-auth", "echo 'deploy:§' | sudo chpasswd"),
    ("basic-auth", "echo \"root:§\" | chpasswd -R /mnt"),
    ("basic-auth", "printf 'deploy:§' | chpasswd"),
    ("basic-auth", "chpasswd <<< 'deploy:§'"),
    ("password", "htpasswd -b .htpasswd admin §"),
    ("password", "htpasswd -cbB /etc/nginx/.htpasswd admin §"),
    ("password", "htpasswd -nb admin §"),
    ("password", "openssl enc -aes-256-cbc -d -in a.enc -k § -out a"),
    ("password", "vault login §"),
    ("password", "vault login -no-print §"),
    ("password", "vault login token=§"),
    ("password", "vault kv put secret/shop value=§"),
    ("password", "rclone config create box sftp host h user u pass §"),
    ("password", "cqlsh -u app -p § db.internal"),
    ("password", "mkpasswd § ab"),
    ("password", "gh secret set DB_PASSWORD --body §"),
    ("password", "gh secret set API_TOKEN -b §"),
    ("password", "echo § | docker login -u me --password-stdin registry.test"),
    ("password", "echo '§' | docker login ghcr.io -u me --password-stdin"),
    ("password", "printf %s \"§\" | podman login --password-stdin x"),
    ("password", "echo § | sudo -S apt-get update"),
    ("password", "echo \"§\" | helm registry login --password-stdin x"),
    ("password", "echo § | gh auth login --with-token"),
    ("password", "echo § | npm token create --x --password-stdin"),
    ("password", "passwd <<< §"),
    ("password", "sudo passwd deploy <<< '§'"),
    ("password", "echo -e '§\\n§' | passwd deploy"),
    ("basic-auth", "http -a admin:§ https://api.test/x"),
    ("basic-auth", "http --auth admin:§ GET api.test"),
    ("basic-auth", "xh -a admin:§ api.test"),
    ("password", "rabbitmqctl add_user app §"),
    ("password", "rabbitmqctl change_password app §"),
    ("password", "mc alias set prod https://s3.test AKIDLOCAL §"),
    ("password", "npm config set //registry.test/:_authToken §"),
    ("password", "net user bob § /add"),
    ("password", "net user bob §"),
    ("password", "useradd -m -p § deploy"),
    ("password", "usermod -p '§' deploy"),
    ("password", "mysqladmin -u root password §"),
    ("password", "ssh-keygen -t ed25519 -N § -f key"),
    ("password", "ssh-keygen -p -P § -N x -f key"),
    ("password", "nmcli dev wifi connect home password §"),
    ("password", "nmcli device wifi connect \"Cafe 1\" password '§'"),
    ("password", "wpa_passphrase home §"),
    ("basic-auth", "lftp -u me,§ sftp://host"),
    ("password", "ncftpget -u me -p § host . file"),
    ("password", "ncftpput -u me -p § host . file"),
    ("password", "xfreerdp /v:host /u:me /p:§"),
    ("password", "ipmitool -I lanplus -H bmc -U admin -P § power status"),
    ("password", "snmpwalk -v3 -u me -A § -l authPriv host"),
    ("password", "snmpget -v3 -u me -A x -X § host"),
    ("password", "kinit me <<< §"),
    ("password", "echo § | kinit me@TEST"),
    ("password", "cryptsetup luksOpen /dev/sdb1 x <<< §"),
    ("password", "7z x a.7z -p§"),
    ("password", "ansible-vault encrypt_string '§' --name db_password"),
    ("password", "aws configure set aws_secret_access_key §"),
    ("password", "doctl auth init -t §"),
    ("password", "twine upload -u __token__ -p § dist/*"),
    ("password", "poetry publish -u me -p §"),
    ("password", "poetry config pypi-token.pypi §"),
    ("password", "cargo login §"),
    ("password", "gem push --key § x"),
    ("password", "dotnet nuget push x.nupkg -k §"),
    ("password", "nuget setapikey §"),
    ("password", "az login --service-principal -u app --password § --tenant t"),
    ("password", "[\"--user\", \"me\", \"--password\", \"§\"]"),
    ("password", "CREATE USER app WITH PASSWORD '§';"),
    ("password", "CREATE USER 'app'@'%' IDENTIFIED BY '§';"),
    ("password", "my password is § and it does not work"),
    ("password", "kubectl create secret generic db --from-literal=password=§"),
    ("password", "<server><username>me</username><password>§</password></server>"),
    ("password", "  password2: §\n"),
    ("password", "auth: { user: 'me', pass: '§' }"),
    ("password", "<add key=\"Password\" value=\"§\" />"),
    ("password", "     3→DB_PASSWORD=§"),
    ("password", "+  password: '§'"),
    ("password", "$env:DB_PASSWORD = \"§\""),
    ("netrc", "machine api.test login me password §"),
    ("netrc", "machine api.test\n  login me\n  password §\n"),
    ("basic-auth", "curl -u admin:§ https://api.test/v1/users"),
    ("basic-auth", "curl --user 'admin:§' https://api.test/v1/users"),
];

/// Text with `§` in place of a random token.
#[rustfmt::skip]
const TOKENS: &[(&str, &str)] = &[
    ("token", "export DEPLOY_TOKEN=§"),
    ("token", "access_token: \"§\""),
    ("token", "?access_token=§&page=1"),
    ("token", "users:\n- name: admin\n  user:\n    token: §\n"),
    ("token", "gh auth login --with-token §"),
    ("token", "X-Auth-Token: §"),
    ("token", "PRIVATE-TOKEN: §"),
    ("npm", "//registry.npmjs.org/:_authToken=§ # npm"),
    ("key", "const apiKey = '§';"),
    ("key", "curl -H 'X-Api-Key: §' https://api.test"),
    ("key", "https://maps.test/api/geocode?address=x&api_key=§"),
    ("key", "API_KEY=\"§\""),
    ("key", "SECRET_KEY = '§'"),
    ("key", "the api key is §, keep it"),
    ("key", "--api-key § --region eu"),
    ("key", "{\"name\": \"STAGING_API_KEY\", \"value\": \"§\"}"),
    ("key", "ENCRYPTION_KEY=§\n"),
    ("key", "api_key: Some(\"§\".into())"),
    ("secret", "client_secret=§&grant_type=client_credentials"),
    ("secret", "JWT_SECRET=§"),
    ("secret", "clientSecret: \"§\","),
    ("secret", "webhook_secret = \"§\""),
    ("bearer", "Authorization: Bearer §"),
    ("bearer", "-H \"Authorization: Bearer §\""),
    ("bearer", "headers: { 'Authorization': 'Bearer §' }"),
    ("bearer", "{\"Authorization\": \"Bearer §\"}"),
    ("authorization", "Authorization: token §"),
    ("cookie", "Cookie: theme=dark; session=§; lang=en"),
    ("cookie", "Set-Cookie: sid=§; HttpOnly; Secure"),
    ("signed-url", "https://bucket.s3.test/file?X-Amz-Expires=300&X-Amz-Signature=§"),
    ("datadog", "DD_API_KEY=§"),
    ("cloudflare", "CLOUDFLARE_API_TOKEN=§"),
    ("twilio", "TWILIO_AUTH_TOKEN=§"),
];

fn put(text: &str, secret: &str) -> String {
    text.replace('§', secret)
}

/// Passwords chosen by people or generated by tools.
pub(crate) fn passwords(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 21);
    let mut positives = Vec::new();
    for (kind, text) in PASSWORDS {
        let chosen = ["hunter", "2"].concat();
        let stronger = ["Tr0ub4", "dor&3"].concat().replace('&', "_");
        for secret in [chosen, stronger, format!("k{}7", dice.draw(ALNUM, 18))] {
            positives.push(Positive { kind, text: put(text, &secret), secret });
        }
    }
    positives
}

/// Random tokens with names.
pub(crate) fn tokens(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 22);
    let mut positives = Vec::new();
    for (kind, text) in TOKENS {
        for secret in [dice.draw(HEX, 40), dice.draw(ALNUM, 32), format!("{}q", dice.draw(URL_SAFE, 43))] {
            positives.push(Positive { kind, text: put(text, &secret), secret });
        }
    }
    positives
}

/// Secrets with a special format.
pub(crate) fn others(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 23);
    let basic = Dice::base64(format!("deploy:{}", dice.draw(ALNUM, 20)).as_bytes());
    let docker = Dice::base64(format!("me:{}", dice.draw(ALNUM, 16)).as_bytes());
    let aws = || Dice::new(seed + 24).draw(BASE64, 40);
    let id = format!("AK{}{}", "IA", dice.draw(super::BASE32, 16));
    let storage = format!("{}==", dice.draw(BASE64, 86));
    let bus = format!("{}=", dice.draw(BASE64, 43));
    let uuid = dice.uuid();
    let dsn = dice.draw(HEX, 32);
    let of = |kind, before: &str, secret: &str, after: &str| Positive {
        kind,
        text: format!("{before}{secret}{after}"),
        secret: secret.to_owned(),
    };
    let account = "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=";
    vec![
        of("basic-auth", "Authorization: Basic ", &basic, "\r\nHost: api.test"),
        of("basic-auth", "'Authorization': 'Basic ", &basic, "'"),
        of("basic-auth", "the header Basic ", &basic, " was refused"),
        of("credential", "{\"auths\": {\"registry.test\": {\"auth\": \"", &docker, "\"}}}"),
        of("aws-secret-access-key", "aws_secret_access_key = ", &aws(), "\n"),
        of("aws-secret-access-key", "AWS_SECRET_ACCESS_KEY=", &aws(), " terraform apply"),
        of("aws-secret-access-key", "\"SecretAccessKey\": \"", &aws(), "\","),
        of("aws-secret-access-key", "aws configure set aws_secret_access_key ", &aws(), ""),
        of("aws-secret-access-key", &format!("deploy,{id},"), &aws(), "\n"),
        of("azure-storage-key", account, &storage, ";EndpointSuffix=core.windows.net"),
        of("azure-storage-key", "SharedAccessKeyName=Root;SharedAccessKey=", &bus, ""),
        of("azure-storage-key", "AZURE_STORAGE_KEY=", &storage, "\n"),
        of("heroku", "HEROKU_API_KEY=", &uuid, "\n"),
        of("sentry-dsn", "SENTRY_DSN=https://", &dsn, "@o42.ingest.sentry.io/4505"),
        of("url-password", "git remote add ci https://", &dsn, "@git.internal/a/b.git"),
    ]
}
