//! Which files hold keys, tokens and a project's secrets.

use crate::effects::{Access, PathEffect, Target};
use crate::guards::Case;
use crate::guards::places::{has_extension, hits, holds, is_within};

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
    "~/.config/google-chrome/**",
    "~/.config/chromium/**",
    "~/.config/BraveSoftware/**",
    "~/.mozilla/firefox/**",
    "~/Library/Cookies/**",
    "~/Library/Application Support/Google/Chrome/**",
    "**/Cookies.binarycookies",
    "/proc/*/mem",
    "/etc/master.passwd",
    "/etc/security/opasswd",
    "/etc/wireguard/*",
    "/etc/openvpn/**",
    "/etc/letsencrypt/archive/**",
    "/etc/kubernetes/admin.conf",
    "/etc/rancher/k3s/k3s.yaml",
    "~/.config/gh-copilot/**",
    "~/.config/github-copilot/**",
    "~/.cursor/**/auth.json",
    "~/.gemini/oauth_creds.json",
    "~/.electrum/wallets/**",
    "~/.ethereum/keystore/**",
    "~/.gradle/gradle.properties",
    "~/.config/heroku/**",
    "~/.python_history",
    "~/.mysql_history",
    "~/.psql_history",
    "~/.node_repl_history",
    "~/.local/share/fish/fish_history",
];

/// Folders that hold nothing but keys: searching or copying them is reading keys.
const KEY_FOLDERS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".config/gcloud", ".config/gh", ".azure", ".kube", ".password-store"];

/// A project's own secret files.
const SECRET_FILES: &[&str] = &[
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

pub(in crate::guards) fn is_key(target: &Target, case: &Case<'_>) -> bool {
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
pub(in crate::guards) fn is_secret_file(target: &Target, case: &Case<'_>) -> bool {
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
        // What lies beside a certificate under the name of a key is the secret half of it.
        let certificate =
            !has_extension(&name, &["key"]) && ["cert", "chain"].iter().any(|word| path.contains(word));
        let public = [
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
        if !links_elsewhere
            && !name.contains("priv")
            && (certificate || public.iter().any(|word| path.contains(word)))
        {
            return false;
        }
    }
    SECRET_FILES.iter().any(|pattern| hits(target, pattern, case.ctx))
}

/// Something unnamed in a folder of keys, as `find` hands it on.
pub(super) fn in_key_folder(target: &Target, case: &Case<'_>) -> bool {
    if target.literal().is_some() || !target.path.has_hole() {
        return false;
    }
    let home = case.ctx.home.trim_end_matches('/');
    let known = target.path.prefix();
    KEY_FOLDERS.iter().any(|folder| is_within(known.trim_end_matches('/'), &format!("{home}/{folder}")))
}

pub(super) fn gathers(effect: &PathEffect) -> bool {
    effect.recursive || effect.access == Access::Search
}

pub(super) fn holds_keys(effect: &PathEffect, case: &Case<'_>) -> bool {
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
pub(super) fn may_be_handed(by: &str) -> bool {
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
