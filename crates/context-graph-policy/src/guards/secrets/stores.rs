//! Programs that print the environment, or a credential from it, by their own language or options. The tables
//! cover programs that print what they store.

use context_graph_secrets::names_credential;

use crate::effects::Text;
use crate::programs::Invocation;

/// Whether a program shows the environment, or a credential from it.
pub(super) fn shows_variables(call: &Invocation<'_>) -> bool {
    let words: Vec<&str> = call.run.args.iter().map(Text::known).collect();
    match (call.run.name.as_str(), words.as_slice()) {
        ("ps", [flags, ..]) => {
            // `ps -e` means every process; `ps e` shows each environment.
            !flags.starts_with('-')
                && flags.len() < 8
                && flags.contains('e')
                && flags.chars().all(char::is_alphabetic)
        }
        ("yq", _) => words.iter().any(|word| {
            let asked = word.split("env(").skip(1).map(|rest| rest.split(')').next().unwrap_or(""));
            asked.into_iter().any(names_credential)
        }),
        ("jq" | "gojq", _) => words.iter().any(|word| {
            let program = word.trim();
            program.contains(".Config.Env")
                || matches!(program, "env" | "$ENV" | "env|." | "$ENV|.")
                || ["env.", "$ENV."]
                    .iter()
                    .any(|lead| program.strip_prefix(lead).is_some_and(names_credential))
        }),
        ("awk" | "gawk" | "mawk", [program, ..]) => {
            let looked_up =
                program.split("ENVIRON[").skip(1).map(|rest| rest.split(']').next().unwrap_or(""));
            looked_up
                .map(|key| key.trim_matches('"'))
                .any(|key| names_credential(key) || key.len() < 3 && program.contains(" in ENVIRON"))
        }
        ("python" | "python3" | "manage.py", [.., "diffsettings"]) | ("php", ["-i", ..]) => true,
        ("php", [script, "tinker", ..]) if script.ends_with("artisan") => {
            words.iter().any(|word| word.contains("config(") || word.contains("env("))
        }
        ("php", [script, "config:show" | "env:decrypt", ..]) => script.ends_with("artisan"),
        ("dotenv" | "dotenv-cli", ["-p" | "get", name, ..]) | ("launchctl", ["getenv", name, ..]) => {
            names_credential(name)
        }
        ("git", ["config", ..]) => words.iter().any(|word| word.ends_with("extraheader")) && words.len() == 3,
        ("age" | "rage", _) => call.has("-d") || call.has("--decrypt"),
        ("gpg" | "gpg2", _) => call.given.iter().any(|given| {
            given.name.starts_with("--export-secret") || matches!(given.name.as_str(), "-d" | "--decrypt")
        }),
        ("ssh-keygen", _) => call.has("-y") || call.has("-p"),
        ("gdb", _) => {
            words.iter().any(|word| word.starts_with("dump memory") || word.starts_with("generate-core"))
        }
        _ => false,
    }
}

/// Commands that print settings, including credentials. Harmless unless the output is searched for those.
pub(super) fn prints_settings(call: &Invocation<'_>) -> bool {
    let words: Vec<&str> = call.words.iter().map(|word| word.known()).collect();
    let has = |word: &str| words.contains(&word);
    match (call.run.name.as_str(), words.as_slice()) {
        ("make" | "gmake", _) => call.has("-p"),
        ("pip" | "pip3" | "npm" | "yarn" | "poetry" | "composer", ["config", ..]) => {
            has("list") || has("ls") || call.has("--list") || has("debug")
        }
        ("git", ["config", ..]) => call.has("--list"),
        ("docker" | "podman", ["compose", ..]) | ("docker-compose", _) => has("config"),
        ("docker" | "podman", ["inspect", ..])
        | ("systemctl", ["show" | "cat", ..])
        | ("terraform" | "tofu", ["show" | "state", ..])
        | ("history" | "fc", _)
        | ("kubectl" | "oc", ["describe", ..])
        | ("heroku" | "fly" | "railway" | "vercel", ["config" | "variables" | "env", ..]) => true,
        ("set" | "declare" | "export", _) => call.run.args.is_empty(),
        _ => false,
    }
}
