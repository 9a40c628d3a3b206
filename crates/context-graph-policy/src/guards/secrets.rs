//! Credentials: key material and token files are not read, environment secrets not shown.

use super::places::{has_extension, hits, holds};
use super::{Case, Found, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Access, Disclosure, PathEffect, Run, Target, Text};

static KEY: Rule = Rule::deny("secrets/read-key", Severity::Critical);
static ENV_FILE: Rule = Rule::ask("secrets/read-env-file", Severity::High);
static SHOW: Rule = Rule::ask("secrets/show-credential", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "secrets",
    purpose: "key material is not read, credentials are not shown",
    rules: &[&KEY, &ENV_FILE, &SHOW],
    check,
};

/// Keys and tokens of the user and the machine.
const KEYS: &[&str] = &[
    "~/.ssh/*",
    "~/.ssh/id_*",
    "~/.ssh/*.pem",
    "~/.ssh/*.key",
    "**/id_rsa",
    "**/id_dsa",
    "**/id_ecdsa",
    "**/id_ed25519",
    "**/id_*_sk",
    "~/.gnupg/**",
    "~/.aws/credentials",
    "~/.aws/sso/**",
    "~/.aws/cli/cache/**",
    "~/.config/glab-cli/config.yml",
    "~/.m2/settings.xml",
    "~/.bitcoin/wallet.dat",
    "~/.config/solana/id.json",
    "~/.config/Signal/config.json",
    "~/.config/gcloud/**",
    "~/.azure/**",
    "~/.kube/config",
    "~/.docker/config.json",
    "**/.netrc",
    "**/.git-credentials",
    "~/.config/git/credentials",
    "~/.config/gh/hosts.yml",
    "~/.npmrc",
    "~/.pypirc",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "~/.gem/credentials",
    "~/.claude/.credentials.json",
    "~/.vault-token",
    "~/.password-store/**",
    "**/.pgpass",
    "~/.my.cnf",
    "~/.terraform.d/credentials.tfrc.json",
    "~/.config/op/**",
    "~/Library/Keychains/**",
    "~/.local/share/keyrings/**",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssh/ssh_host_*_key",
    "/proc/*/environ",
    "**/*.kdbx",
    "**/.htpasswd",
    "/var/run/secrets/**",
    "/run/secrets/**",
    "~/.config/hub",
    "~/.s3cfg",
    "~/.boto",
    "~/.config/rclone/rclone.conf",
    "**/cookies.sqlite",
    "**/Login Data",
    "~/.codex/auth.json",
    "/root/.ssh/**",
    "/root/.aws/**",
    "/root/.bash_history",
    "~/.bash_history",
    "~/.zsh_history",
    "~/.netrc",
    "~/.config/anthropic/**",
    "~/.anthropic/**",
    "~/.config/openai/**",
    "~/.oci/**",
    "~/.terraformrc",
    "~/.composer/auth.json",
    "~/.subversion/auth/**",
    "/etc/krb5.keytab",
    "**/logins.json",
    "**/key4.db",
    "~/.cache/huggingface/token",
    "~/.huggingface/token",
    "~/.config/doctl/config.yaml",
    "~/.pulumi/credentials.json",
    "~/.config/stripe/config.toml",
    "~/.supabase/access-token",
    "~/.databrickscfg",
    "~/.config/sops/age/keys.txt",
    "~/.fly/config.yml",
    "~/.railway/config.json",
    "~/.local/share/com.vercel.cli/auth.json",
];

/// Folders that hold nothing but keys: searching or copying them is reading keys.
const KEY_FOLDERS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".config/gcloud", ".config/gh", ".azure", ".kube", ".password-store"];

/// A project's own secret files.
pub(super) const SECRET_FILES: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "**/*.env",
    "**/.envrc.local",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/*.keystore",
    "**/*.ppk",
    "**/credentials.json",
    "**/service-account*.json",
    "**/service_account*.json",
    "**/secrets.yml",
    "**/secrets.yaml",
    "**/secrets.json",
    "**/secrets.toml",
    "**/master.key",
    "**/*_rsa",
    "**/kubeconfig",
    "**/.dockercfg",
    "**/.secrets",
    "**/.vault-token",
    "**/client_secret*.json",
    "**/terraform.tfvars",
    "**/*.tfstate",
    "**/.dev.vars",
];

fn check(case: &Case<'_>, found: &mut Found) {
    for effect in &case.effects.paths {
        let target = &effect.target;
        match effect.access {
            Access::Read | Access::Search => {}
            Access::Mention if !may_be_handed(&effect.by) => {}
            _ => continue,
        }
        let shown = target.path.to_string();
        if is_key(target, case)
            || in_key_folder(target, case)
            || (gathers(effect) && holds_keys(effect, case))
        {
            found.add_at(&KEY, shown.as_str(), format!("`{}` would read key material ({shown}).", effect.by));
        } else if (effect.access != Access::Search || effect.by != "Grep") && is_secret_file(target, case) {
            found.add_at(
                &ENV_FILE,
                shown.as_str(),
                format!("`{}` would read a file of secrets ({shown}).", effect.by),
            );
        }
    }
    for disclosure in &case.effects.disclosures {
        let what = match disclosure {
            Disclosure::Environment => "all environment variables".to_owned(),
            Disclosure::Variable => "a variable that holds a credential".to_owned(),
            Disclosure::Store(command) => format!("what `{command}` keeps"),
        };
        found.add(&SHOW, format!("This would show {what}."));
    }
    for send in &case.effects.sends {
        // Machines in a cloud get their credentials from there.
        if matches!(send.host.known(), "169.254.169.254" | "metadata.google.internal" | "169.254.170.2") {
            found.add(&SHOW, format!("`{}` would ask the cloud for this machine's credentials.", send.by));
        }
    }
    for run in case.runs() {
        if searches_for_credentials(run, case) {
            found.add(&SHOW, format!("`{}` would look for credentials beyond the project.", run.name));
        }
        let words: Vec<&str> = run.args.iter().map(Text::known).collect();
        let words = super::destructive_data::after_globals(&run.name, words);
        if shows_store(&run.name, &words) || shows_variables(&run.name, &words) {
            found.add(
                &SHOW,
                format!("`{} {}` would show a credential.", run.name, words.first().unwrap_or(&"")),
            );
        }
    }
}

/// Whether a search for what credentials look like goes through home or the system.
fn searches_for_credentials(run: &Run, case: &Case<'_>) -> bool {
    if !matches!(run.name.as_str(), "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack") {
        return false;
    }
    let words: Vec<&Text> = run.args.iter().filter(|arg| !arg.prefix().starts_with('-')).collect();
    let Some((pattern, places)) = words.split_first() else { return false };
    let pattern = pattern.known().to_ascii_lowercase();
    let telling =
        ["private key", "akia", "password", "passwd", "secret", "token", "api_key", "apikey", "ghp_"];
    let broad = |place: &str| {
        let place = place.trim_end_matches('/');
        let home = case.ctx.home.trim_end_matches('/');
        matches!(place, "" | "~" | "/etc" | "/home" | "/root" | "/Users" | "~/.config")
            || place == home
            || place == format!("{home}/.config")
    };
    telling.iter().any(|word| pattern.contains(word))
        && places.iter().any(|place| place.literal().is_some_and(broad))
}

/// Programs that print the environment, or a credential out of it, by a language or an option of their own.
fn shows_variables(name: &str, words: &[&str]) -> bool {
    match (name, words) {
        ("ps", [flags, ..]) => {
            // Behind the dash `e` means every process, without it the environment of each.
            !flags.starts_with('-')
                && flags.len() < 8
                && flags.contains('e')
                && flags.chars().all(char::is_alphabetic)
        }
        ("jq" | "gojq", _) => words.iter().any(|word| {
            let program = word.trim();
            matches!(program, "env" | "$ENV" | "env|." | "$ENV|.")
                || ["env.", "$ENV."]
                    .iter()
                    .any(|lead| program.strip_prefix(lead).is_some_and(crate::effects::names_credential))
        }),
        ("awk" | "gawk" | "mawk", [program, ..]) => {
            let looked_up =
                program.split("ENVIRON[").skip(1).map(|rest| rest.split(']').next().unwrap_or(""));
            looked_up.map(|key| key.trim_matches('"')).any(|key| {
                crate::effects::names_credential(key) || key.len() < 3 && program.contains(" in ENVIRON")
            })
        }
        ("docker" | "podman", ["inspect", ..]) => words.iter().any(|word| word.contains(".Config.Env")),
        ("stripe", ["config", ..]) => words.contains(&"--list"),
        ("dotenv" | "dotenv-cli", ["-p", name, ..]) => crate::effects::names_credential(name),
        ("php", ["-i", ..]) => true,
        _ => false,
    }
}

/// Commands that print a stored credential.
fn shows_store(name: &str, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match (name, words) {
        ("gh", ["auth", "token", ..])
        | ("git", ["credential", "fill", ..])
        | (
            "gcloud",
            ["auth", "print-access-token" | "print-identity-token", ..]
            | ["auth", "application-default", "print-access-token", ..]
            | ["secrets", "versions", "access", ..]
            | ["config", "config-helper", ..]
            | ["iam", "service-accounts", "keys", "create", ..],
        )
        | ("heroku", ["config" | "config:get" | "auth:token", ..])
        | ("doppler", ["secrets", ..])
        | ("infisical", ["secrets" | "export", ..])
        | ("az", ["account", "get-access-token", ..] | ["keyvault", "secret", "show", ..])
        | ("op", ["read" | "item", ..])
        | ("vault", ["read" | "kv" | "print" | "login", ..])
        | (
            "aws",
            ["secretsmanager", "get-secret-value" | "batch-get-secret-value", ..]
            | ["sts", "get-session-token" | "assume-role", ..]
            | ["configure", "export-credentials", ..]
            | ["iam", "create-access-key", ..],
        )
        | ("bw", ["list", ..])
        | ("rclone", ["config", "show" | "dump", ..])
        | ("systemctl", ["show-environment", ..])
        | ("rails", ["credentials:show", ..])
        | ("secret-tool", ["lookup", ..])
        | ("vercel", ["env", "pull", ..])
        | ("netlify", ["env:list" | "env:get", ..])
        | ("railway", ["variables", ..])
        | ("pass" | "gopass" | "lpass", ["show", ..])
        | ("bw" | "keyring", ["get", ..])
        | ("ansible-vault", ["view" | "decrypt", ..])
        | ("chamber", ["export" | "read" | "env", ..])
        | ("dotenvx", ["get" | "decrypt", ..])
        | ("terraform" | "tofu", ["state", "pull", ..])
        | ("firebase", ["login:ci", ..])
        | ("kubectl" | "oc", ["create", "token", ..]) => true,
        ("pass", [entry, ..]) => {
            !entry.starts_with('-')
                && !matches!(
                    *entry,
                    "ls" | "list"
                        | "find"
                        | "search"
                        | "init"
                        | "git"
                        | "help"
                        | "version"
                        | "insert"
                        | "generate"
                )
        }
        ("git", ["config", ..]) => words.iter().any(|word| word.ends_with("extraheader")) && words.len() == 3,
        ("sops", _) => has("-d") || has("--decrypt") || has("decrypt"),
        ("age" | "rage", _) => has("-d") || has("--decrypt"),
        ("npm" | "yarn", ["config", "get", key, ..]) => key.to_ascii_lowercase().contains("auth"),
        ("pulumi", _) => has("--show-secrets"),
        ("git", [helper, "get", ..]) if helper.starts_with("credential") => true,
        (helper, ["get", ..]) if helper.starts_with("docker-credential-") => true,
        ("gh", ["auth", "status", ..]) => has("--show-token") || has("-t"),
        ("aws", ["configure", "get", key, ..]) => key.contains("secret") || key.contains("token"),
        ("aws", ["ssm", parameters, ..]) if parameters.starts_with("get-parameter") => {
            has("--with-decryption")
        }
        ("security", [verb, ..]) => {
            verb.starts_with("find-")
                && words
                    .iter()
                    .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(['w', 'g']))
                || *verb == "dump-keychain"
                || *verb == "export"
        }
        ("kubectl" | "oc", ["get", kinds @ ..]) => {
            kinds.iter().any(|kind| kind.starts_with("secret"))
                && words.iter().any(|word| word.starts_with("-o") || word.contains("jsonpath"))
                && !words.iter().any(|word| {
                    matches!(*word, "name" | "-oname" | "-o=name" | "wide")
                        || word.contains("{.metadata.name}")
                        || word.ends_with("{.type}")
                })
        }
        ("kubectl" | "oc", ["config", "view", ..]) => has("--raw"),
        ("gpg" | "gpg2", _) => words
            .iter()
            .any(|word| word.starts_with("--export-secret") || matches!(*word, "-d" | "--decrypt")),
        ("ssh-keygen", _) => has("-y"),
        ("npm", ["token", ..]) => !has("revoke"),
        ("terraform" | "tofu", ["output", ..]) => {
            has("-json")
                || has("-raw")
                    && words.iter().any(|word| word.contains("secret") || word.contains("password"))
        }
        _ => false,
    }
}

pub(super) fn is_key(target: &Target, case: &Case<'_>) -> bool {
    let name = target.path.file_name().to_string();
    // The public half is public.
    if has_extension(&name, &["pub"])
        || ["known_hosts", "authorized_keys", "config"].iter().any(|open| name.starts_with(open))
    {
        return KEYS.iter().any(|pattern| *pattern != "~/.ssh/*" && hits(target, pattern, case.ctx))
            && !has_extension(&name, &["pub"]);
    }
    KEYS.iter().any(|pattern| hits(target, pattern, case.ctx))
}

/// Whether a file is one of a project's secrets. Templates and test material are not.
pub(super) fn is_secret_file(target: &Target, case: &Case<'_>) -> bool {
    let name = target.path.file_name().to_string().to_ascii_lowercase();
    let quiet = [
        "example", "sample", "template", "dist", "defaults", "test", "ci", "schema", "d.ts", "ts", "js",
        "mjs", "py", "md", "rs", "go", "tmpl", "tpl", "rb",
    ];
    let harmless_name = |name: &str| {
        name.split('.').skip(1).any(|part| quiet.contains(&part)) && !has_extension(name, &["pem"])
            || name.starts_with("example")
            || name.starts_with("sample")
            || name.starts_with("test.")
            || name == "cargo.env"
    };
    let links_elsewhere = !target.real.is_empty();
    if !links_elsewhere && harmless_name(&name) {
        return false;
    }
    if !links_elsewhere && name == "credentials.json" && target.path.known().contains("/fixtures/") {
        return false;
    }
    if has_extension(&name, &["pem", "key", "crt"]) {
        let path = target.path.to_string().to_ascii_lowercase();
        let public = [
            "cert",
            "chain",
            "public",
            "pub.",
            "ca.",
            "ca-",
            "fixture",
            "testdata",
            "/test",
            "example",
            "localhost",
            "node_modules",
            "site-packages",
            "/vendor/",
        ];
        if !links_elsewhere && !name.contains("priv") && public.iter().any(|word| path.contains(word)) {
            return false;
        }
    }
    SECRET_FILES.iter().any(|pattern| hits(target, pattern, case.ctx))
}

/// Something unnamed in a folder of keys, as `find` hands it on.
fn in_key_folder(target: &Target, case: &Case<'_>) -> bool {
    if target.literal().is_some() || !target.path.has_hole() {
        return false;
    }
    let home = case.ctx.home.trim_end_matches('/');
    let known = target.path.prefix();
    KEY_FOLDERS
        .iter()
        .any(|folder| super::places::is_within(known.trim_end_matches('/'), &format!("{home}/{folder}")))
}

fn gathers(effect: &PathEffect) -> bool {
    effect.recursive || effect.access == Access::Search
}

fn holds_keys(effect: &PathEffect, case: &Case<'_>) -> bool {
    let home = case.ctx.home.trim_end_matches('/');
    let whole = effect.access == Access::Read
        && matches!(
            effect.by.as_str(),
            "tar"
                | "zip"
                | "cp"
                | "rsync"
                | "scp"
                | "7z"
                | "gtar"
                | "bsdtar"
                | "aws"
                | "ditto"
                | "docker"
                | "podman"
        );
    KEY_FOLDERS.iter().any(|folder| {
        let folder = format!("{home}/{folder}");
        effect.target.places().any(|place| place == folder) || (whole && holds(&effect.target, &folder))
    })
}

/// Programs that take a file of secrets to use it, not to show it.
fn may_be_handed(by: &str) -> bool {
    matches!(
        by,
        "ssh"
            | "ssh-add"
            | "docker"
            | "podman"
            | "docker-compose"
            | "dotenv"
            | "direnv"
            | "test"
            | "chmod"
            | "touch"
            | "openssl"
            | "mkcert"
            | "certbot"
            | "node"
            | "bun"
            | "deno"
            | "python"
            | "python3"
            | "cargo"
            | "go"
            | "npm"
            | "pnpm"
            | "yarn"
            | "make"
            | "just"
            | "psql"
            | "terraform"
            | "tofu"
            | "kubectl"
            | "helm"
            | "ansible-playbook"
            | "gh"
            | "systemctl"
            | "java"
            | "mise"
            | "task"
            | "caddy"
            | "nginx"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{passes, rules_of, stops};

    #[test]
    fn reading_keys_is_met_in_every_disguise() {
        stops(&[
            ("base64 $HOME/.ssh/id_rsa", "secrets/read-key"),
            ("c\\at ~/.s''sh/id_ed25519", "secrets/read-key"),
            ("cat ~/.ss?/id_*", "secrets/read-key"),
            ("tar czf /tmp/x.tgz ~/.ssh", "secrets/read-key"),
            ("grep -r . ~/.aws", "secrets/read-key"),
            ("cat /proc/self/environ", "secrets/read-key"),
            ("python3 -c \"print(open('/etc/shadow').read())\"", "secrets/read-key"),
            ("xxd .env", "secrets/read-env-file"),
            ("cat notes", "secrets/read-env-file"),
            ("cat .e?v", "secrets/read-env-file"),
            ("while read l; do echo $l; done < .env", "secrets/read-env-file"),
            ("echo $AWS_SECRET_ACCESS_KEY", "secrets/show-credential"),
            ("printenv", "secrets/show-credential"),
            ("env | grep -i token", "secrets/show-credential"),
            ("gh auth token", "secrets/show-credential"),
            ("aws --profile prod secretsmanager get-secret-value --secret-id x", "secrets/show-credential"),
            ("docker exec app env", "secrets/show-credential"),
            ("jq -n env", "secrets/show-credential"),
            ("cat ~/.ssh/deploy_key", "secrets/read-key"),
        ]);
        assert_eq!(
            rules_of("Read", &json!({"file_path": "/proj/app/.env.production"})),
            ["secrets/read-env-file"]
        );
    }

    #[test]
    fn ordinary_names_are_not_secrets() {
        passes(&[
            "cat AUTHORS.md src/auth/mod.rs src/tokenizer.rs",
            "cat .env.example",
            "ls -la .env",
            "test -f .env && echo yes",
            "source .env",
            "docker compose --env-file .env up -d",
            "ssh -i ~/.ssh/id_rsa host uptime",
            "cat ~/.ssh/id_rsa.pub",
            "env | grep NODE_ENV",
            "env | cut -d= -f1",
            "docker exec app env | grep NODE_ENV",
            "cat ~/.ssh/config",
            "FOO=1 env BAR=2 cargo test",
            "grep -rn token src",
            "curl -H \"Authorization: Bearer $GITHUB_TOKEN\" https://api.github.com/user",
            "test -n \"$GITHUB_TOKEN\" && echo set",
        ]);
    }
}
