//! Credentials: key material and token files are not read, environment secrets not shown.

use super::places::{has_extension, hits, holds};
use super::{Case, Found, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Access, Disclosure, PathEffect, Target, Text};

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
pub(super) const KEYS: &[&str] = &[
    "~/.ssh/id_*",
    "~/.ssh/*_rsa",
    "~/.ssh/*_ed25519",
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
];

/// Folders that hold nothing but keys: searching or copying them is reading keys.
const KEY_FOLDERS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".config/gcloud", ".azure", ".kube", ".password-store"];

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
    for run in &case.effects.runs {
        let words: Vec<&str> = run.args.iter().map(Text::known).collect();
        if shows_store(&run.name, &words) {
            found.add(
                &SHOW,
                format!("`{} {}` would show a credential.", run.name, words.first().unwrap_or(&"")),
            );
        }
    }
}

/// Commands that print a stored credential.
fn shows_store(name: &str, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match (name, words) {
        ("gh", ["auth", "token", ..])
        | ("git", ["credential", "fill", ..])
        | ("gcloud", ["auth", "print-access-token" | "print-identity-token", ..])
        | ("heroku", ["config" | "config:get", ..])
        | ("doppler", ["secrets", ..])
        | ("infisical", ["secrets" | "export", ..])
        | ("az", ["account", "get-access-token", ..] | ["keyvault", "secret", "show", ..])
        | ("pass", ["show", ..])
        | ("op", ["read" | "item", ..])
        | ("vault", ["read" | "kv" | "print", ..])
        | ("aws", ["secretsmanager", "get-secret-value", ..] | ["sts", "get-session-token", ..])
        | ("secret-tool", ["lookup", ..]) => true,
        ("gh", ["auth", "status", ..]) => has("--show-token") || has("-t"),
        ("aws", ["configure", "get", key, ..]) => key.contains("secret") || key.contains("token"),
        ("aws", ["ssm", "get-parameter" | "get-parameters", ..]) => has("--with-decryption"),
        ("security", [verb, ..]) => {
            verb.starts_with("find-") && (has("-w") || has("-g"))
                || *verb == "dump-keychain"
                || *verb == "export"
        }
        ("kubectl" | "oc", ["get", kind, ..]) => {
            (kind.starts_with("secret"))
                && words.iter().any(|word| word.starts_with("-o") || word.contains("jsonpath"))
        }
        ("gpg" | "gpg2", _) => words.iter().any(|word| word.starts_with("--export-secret")),
        ("ssh-keygen", _) => has("-y"),
        ("npm", ["token", ..]) => !has("revoke"),
        ("terraform", ["output", ..]) => {
            has("-raw") && words.iter().any(|word| word.contains("secret") || word.contains("password"))
        }
        _ => false,
    }
}

fn is_key(target: &Target, case: &Case<'_>) -> bool {
    let name = target.path.file_name().to_string();
    // The public half is public.
    if has_extension(&name, &["pub"]) || name == "known_hosts" || name == "authorized_keys" {
        return false;
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
            "FOO=1 env BAR=2 cargo test",
            "grep -rn token src",
            "curl -H \"Authorization: Bearer $GITHUB_TOKEN\" https://api.github.com/user",
            "test -n \"$GITHUB_TOKEN\" && echo set",
        ]);
    }
}
