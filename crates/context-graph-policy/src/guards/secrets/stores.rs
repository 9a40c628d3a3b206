//! Commands that print a stored credential, or what the environment holds.

/// Programs that print the environment, or a credential out of it, by a language or an option of their own.
pub(super) fn shows_variables(name: &str, words: &[&str]) -> bool {
    match (name, words) {
        ("ps", [flags, ..]) => {
            // Behind the dash `e` means every process, without it the environment of each.
            !flags.starts_with('-')
                && flags.len() < 8
                && flags.contains('e')
                && flags.chars().all(char::is_alphabetic)
        }
        ("jq" | "gojq", _) if words.iter().any(|word| word.contains(".Config.Env")) => true,
        ("jq" | "gojq", _) => words.iter().any(|word| {
            let program = word.trim();
            matches!(program, "env" | "$ENV" | "env|." | "$ENV|.")
                || ["env.", "$ENV."].iter().any(|lead| {
                    program.strip_prefix(lead).is_some_and(context_graph_secrets::names_credential)
                })
        }),
        ("awk" | "gawk" | "mawk", [program, ..]) => {
            let looked_up =
                program.split("ENVIRON[").skip(1).map(|rest| rest.split(']').next().unwrap_or(""));
            looked_up.map(|key| key.trim_matches('"')).any(|key| {
                context_graph_secrets::names_credential(key)
                    || key.len() < 3 && program.contains(" in ENVIRON")
            })
        }
        ("docker" | "podman", ["inspect", ..]) => words.iter().any(|word| word.contains(".Config.Env")),
        ("systemctl", ["show", ..]) => words.iter().any(|word| word.ends_with("Environment")),
        ("gcore", [_, ..])
        | ("python" | "python3" | "manage.py", [.., "diffsettings"])
        | ("php", ["-i", ..]) => true,
        ("rails", ["runner" | "r", code, ..]) => {
            code.contains(".credentials") || code.contains("secret_key_base")
        }
        ("php", [script, "tinker", ..]) if script.ends_with("artisan") => {
            words.iter().any(|word| word.contains("config(") || word.contains("env("))
        }
        ("php", [script, "config:show" | "env:decrypt", ..]) => script.ends_with("artisan"),
        ("stripe", ["config", ..]) => words.contains(&"--list"),
        ("dotenv" | "dotenv-cli", ["-p" | "get", name, ..]) | ("launchctl", ["getenv", name, ..]) => {
            context_graph_secrets::names_credential(name)
        }
        _ => false,
    }
}

/// Commands that print a stored credential.
pub(super) fn shows_store(name: &str, words: &[&str]) -> bool {
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
        | (
            "az",
            ["account", "get-access-token", ..]
            | ["keyvault", "secret", "show", ..]
            | ["acr", "credential", "show", ..]
            | ["storage", "account", "keys", "list", ..]
            | ["webapp", "config", "appsettings", "list", ..],
        )
        | ("op", ["read" | "item", ..])
        | ("vault", ["read" | "kv" | "print" | "login", ..])
        | (
            "aws",
            ["secretsmanager", "get-secret-value" | "batch-get-secret-value", ..]
            | ["sts", "get-session-token" | "assume-role", ..]
            | ["configure", "export-credentials", ..]
            | ["kms", "decrypt", ..]
            | ["iam", "create-access-key", ..]
            | ["lambda", "get-function-configuration" | "get-function", ..]
            | ["ecr" | "ecr-public" | "codeartifact", "get-login-password" | "get-authorization-token", ..],
        )
        | ("bw", ["list", ..])
        | ("rclone", ["config", "show" | "dump", ..])
        | ("systemctl", ["show-environment", ..])
        | ("rails", ["credentials:show" | "credentials:edit", ..])
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
        | ("fly" | "flyctl", ["auth" | "tokens", "token" | "create", ..])
        | ("supabase", ["projects", "api-keys", ..])
        | ("oc", ["whoami", "-t" | "--show-token", ..])
        | ("cmdkey", ["/list", ..])
        | ("wg", ["showconf", ..] | ["show", _, "private-key", ..])
        | ("nmcli", ["-s" | "--show-secrets", ..])
        | ("kubectl" | "oc", ["create", "token", ..]) => true,
        _ => shows_by_option(name, words),
    }
}

/// Commands that print a stored credential when they are asked in a certain way.
fn shows_by_option(name: &str, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match (name, words) {
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
        ("ssh-keygen", _) => has("-y") || has("-p"),
        ("gdb", _) => {
            words.iter().any(|word| word.starts_with("dump memory") || word.starts_with("generate-core"))
        }
        ("npm", ["token", ..]) => !has("revoke"),
        ("terraform" | "tofu", ["output", ..]) => {
            has("-json")
                || words
                    .iter()
                    .any(|word| ["secret", "password", "token"].iter().any(|part| word.contains(part)))
        }
        _ => false,
    }
}

/// Commands that print settings, credentials among them: harmless to look through, unless for those.
pub(super) fn prints_settings(name: &str, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match (name, words) {
        ("make" | "gmake", _) => words.iter().any(|word| {
            *word == "--print-data-base"
                || word.starts_with('-') && !word.starts_with("--") && word.contains('p')
        }),
        ("pip" | "pip3" | "npm" | "yarn" | "poetry" | "composer", ["config", ..]) => {
            has("list") || has("ls") || has("--list") || has("debug")
        }
        ("docker" | "podman", ["compose", ..]) | ("docker-compose", _) => has("config"),
        ("docker" | "podman", ["inspect", ..])
        | ("systemctl", ["show" | "cat", ..])
        | ("terraform" | "tofu", ["show" | "state", ..])
        | ("git", ["config", "-l" | "--list", ..])
        | ("history" | "fc", _)
        | ("set" | "declare" | "export", [])
        | ("kubectl" | "oc", ["describe", ..])
        | ("heroku" | "fly" | "railway" | "vercel", ["config" | "variables" | "env", ..]) => true,
        _ => false,
    }
}
