//! Credentials: keys and token files are not read, secrets in the environment are not shown.

mod files;
mod options;
mod stores;

use context_graph_events::quoted;

use super::places::{is_passing, is_within};
use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Access, Disclosure, Origin, PathEffect, Piece, Run, Text, git_settings, is_metadata};
use crate::programs::Invocation;
use files::{gathers, holds_keys, in_key_folder, may_be_handed};
pub(super) use files::{is_key, is_secret_file};
use stores::{prints_settings, shows_variables};

static KEY: Rule = Rule::deny("secrets/read-key", Severity::Critical);
static ENV_FILE: Rule = Rule::ask("secrets/read-env-file", Severity::High);
pub(super) static SHOW: Rule = Rule::ask("secrets/show-credential", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "secrets",
    purpose: "key material is not read, credentials are not shown",
    rules: &[&KEY, &ENV_FILE, &SHOW],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    for effect in &case.effects.paths {
        let target = &effect.target;
        match effect.access {
            Access::Read | Access::Search => {}
            Access::Mention if !may_be_handed(&effect.by) => {}
            // A program that runs such a file usually prints each line in an error message.
            Access::Execute if is_key(target, case) && !target.path.known().contains("/bin/") => {}
            _ => continue,
        }
        let shown = target.path.to_string();
        if is_key(target, case)
            || in_key_folder(target, case)
            || (gathers(effect) && holds_keys(effect, case))
        {
            found.add_at(
                &KEY,
                shown.as_str(),
                quoted!("`{}` would read key material (`{}`).", effect.by, shown),
            );
        } else if (effect.access != Access::Search || effect.by != "Grep")
            && (is_secret_file(target, case) || shows_all_dotted(effect, case))
        {
            found.add_at(
                &ENV_FILE,
                shown.as_str(),
                quoted!("`{}` would read a file of secrets (`{}`).", effect.by, shown),
            );
        }
    }
    for effect in case.effects.paths.iter().filter(|effect| shows_home(effect, case)) {
        found.add(&SHOW, quoted!("`{}` would show matches from the whole home folder.", effect.by));
    }
    for disclosure in &case.effects.disclosures {
        let reason = match disclosure {
            Disclosure::Environment => "This would show all environment variables.".to_owned(),
            Disclosure::Variable => "This would show a variable that holds a credential.".to_owned(),
            Disclosure::Store(command) => quoted!("This would show what `{}` keeps.", command),
        };
        found.add(&SHOW, reason);
    }
    for send in &case.effects.sends {
        if is_metadata(&send.host) {
            found.add(&SHOW, quoted!("`{}` would ask the cloud for this machine's credentials.", send.by));
        }
    }
    for call in &case.calls {
        let run = call.run;
        if adds_ignored(call) {
            found.add(&ENV_FILE, "`git add --force` of everything takes files of secrets along.");
        }
        if searches_for_credentials(run, case) || looks_into_settings(run, case) {
            found.add(&SHOW, quoted!("`{}` would look for credentials beyond the project.", run.name));
        }
        if let Some(key) = options::handed_key(case, call) {
            found.add_at(&KEY, key.as_str(), quoted!("`{}` would read key material (`{}`).", run.name, key));
        }
        if shows_variables(call) {
            found.add(&SHOW, quoted!("`{}` would show a credential.", call.shown()));
        }
    }
}

/// Whether the client's `Grep` shows matches from any file in a home folder or above.
fn shows_home(effect: &PathEffect, case: &Case<'_>) -> bool {
    let is_all = |place: &str| {
        (is_within(case.ctx.home, place) || is_a_home(place)) && !is_within(place, case.ctx.project)
    };
    effect.by == "Grep"
        && effect.access == Access::Read
        && effect.recursive
        && !case.ctx.home.is_empty()
        && effect.target.places().any(is_all)
}

/// Whether a folder is a user's home, or contains all homes.
fn is_a_home(place: &str) -> bool {
    let place = place.trim_end_matches('/');
    let holds_homes = |folder: &str| matches!(folder, "/home" | "/Users" | "/var/home");
    place == "/root"
        || holds_homes(place)
        || place.rsplit_once('/').is_some_and(|(folder, _)| holds_homes(folder))
}

/// `cat .*`: every hidden file, including those with secrets.
fn shows_all_dotted(effect: &PathEffect, case: &Case<'_>) -> bool {
    let path = &effect.target.path;
    if effect.access != Access::Read || !path.has_glob() {
        return false;
    }
    let name = path.file_name();
    let [Piece::Lit(dot), rest @ ..] = name.0.as_slice() else { return false };
    let folder = path.prefix().rsplit_once('/').map_or("", |(folder, _)| folder);
    dot == "."
        && !rest.is_empty()
        && rest.iter().all(|piece| matches!(piece, Piece::Star | Piece::One))
        && (folder == case.ctx.project.trim_end_matches('/') || folder == case.ctx.home.trim_end_matches('/'))
}

/// `git add -f .`: also adds ignored files.
fn adds_ignored(call: &Invocation<'_>) -> bool {
    let everything = |word: &&Text| matches!(word.known(), "." | "*" | ":/");
    call.run.name == "git"
        && matches!(call.word(0), "add" | "stage")
        && call.has("-f")
        && (call.has("-A") || call.words.iter().skip(1).any(everything))
}

/// Whether the output goes directly to its consumer, or only names are shown.
pub(super) fn is_passed_on(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    if call.run.name == "git" && call.word(0) == "credential" {
        return asks_own_store(case, call);
    }
    let tells_password = call.words.iter().any(|word| word.known() == "get-login-password");
    let shows_names =
        |run: &Run| run.name == "jq" && run.args.iter().any(|arg| matches!(arg.known(), "keys" | "keys[]"));
    let logs_in = |run: &Run| run.has("--password-stdin");
    tells_password
        && (is_taken(case, call.run, &logs_in) || is_handed_on(case, "get-login-password", &logs_in))
        || call.word(0) == "output" && is_taken(case, call.run, &shows_names)
}

/// Whether the output of a run goes to a run that `takes` accepts, perhaps through programs that only cut the output.
fn is_taken(case: &Case<'_>, run: &Run, takes: &dyn Fn(&Run) -> bool) -> bool {
    let runs: Vec<&Run> = case.runs().collect();
    let Some(at) = runs.iter().position(|other| std::ptr::eq(*other, run)) else { return false };
    // If the same program runs several times, only the last of these runs feeds the next program.
    let mut rest = runs[at + 1..].iter();
    let next = rest.find(|other| other.fed_by == run.name || other.name == run.name);
    next.is_some_and(|next| {
        next.fed_by == run.name
            && (takes(next)
                || matches!(next.name.as_str(), "tr" | "head" | "cut") && is_taken(case, next, takes))
    })
}

/// Whether what a command prints is only put into a line or a variable, which nothing uses but a run that takes it:
/// `PW=$(aws ecr get-login-password); echo $PW | docker login --password-stdin`.
fn is_handed_on(case: &Case<'_>, verb: &str, takes: &dyn Fn(&Run) -> bool) -> bool {
    let runs: Vec<&Run> = case.runs().collect();
    let Some(at) = runs.iter().position(|run| run.has(verb)) else { return false };
    let rest = &runs[at + 1..];
    let Some(login) = rest.iter().find(|run| takes(run)) else { return false };
    let feeds = |at: usize| rest.get(at + 1).is_some_and(|next| next.fed_by == rest[at].name && takes(next));
    // The program that takes it gets other values, too: `docker push $TAG`.
    let shows =
        |run: &Run| run.name != login.name && run.args.iter().any(|arg| arg.has_origin(Origin::Output));
    is_substituted(case.command, verb) && (0..rest.len()).all(|at| !shows(rest[at]) || feeds(at))
}

/// Whether a word is only in substitutions.
fn is_substituted(command: &str, word: &str) -> bool {
    let (mut is_open, mut quotes) = (false, 0);
    let mut parts: Vec<&str> = command.split(word).collect();
    // What follows the last one does not matter.
    parts.pop();
    parts.into_iter().all(|before| {
        quotes += before.matches('`').count();
        is_open = match before.rfind("$(") {
            Some(open) => !before[open..].contains(')'),
            None => is_open && !before.contains(')'),
        };
        is_open || quotes % 2 == 1
    })
}

/// Whether git may only use credentials from a temporary file.
fn asks_own_store(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    let settings = git_settings(call);
    let helpers: Vec<&Text> =
        settings.iter().filter(|(name, _)| name == "credential.helper").map(|(_, value)| value).collect();
    let passes = |file: &Text| {
        file.has_origin(Origin::Temporary) || file.literal().is_some_and(|path| is_passing(path, case.ctx))
    };
    match helpers.split_first() {
        // An empty helper removes all that are set elsewhere.
        Some((none, own)) if none.is_empty() => {
            own.iter().all(|helper| helper.strip_prefix("store --file=").is_some_and(|file| passes(&file)))
        }
        _ => false,
    }
}

/// Words that occur in the names of credentials.
const TELLING: &[&str] = &[
    "private key",
    "akia",
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "ghp_",
    "credential",
    "_auth",
];

/// Whether the settings that another program prints are searched for credentials.
fn looks_into_settings(run: &Run, case: &Case<'_>) -> bool {
    if !matches!(run.name.as_str(), "grep" | "egrep" | "rg" | "awk" | "sed") {
        return false;
    }
    let mut words = run.args.iter().filter(|arg| !arg.prefix().starts_with('-'));
    let Some(pattern) = words.next().map(|word| word.known().to_ascii_lowercase()) else { return false };
    words.next().is_none()
        && TELLING.iter().any(|word| pattern.contains(word))
        && case.calls.iter().any(|other| {
            // `kubectl` prints the names of secrets, not their values.
            (other.run.name != "kubectl" || !pattern.contains("secret")) && prints_settings(other)
        })
}

/// Whether the home folder or the system is searched for credentials.
fn searches_for_credentials(run: &Run, case: &Case<'_>) -> bool {
    if !matches!(run.name.as_str(), "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack") {
        return false;
    }
    let words: Vec<&Text> = run.args.iter().filter(|arg| !arg.prefix().starts_with('-')).collect();
    let Some((pattern, places)) = words.split_first() else { return false };
    let pattern = pattern.known().to_ascii_lowercase();
    // Without git's ignore rules a search also reads files of secrets.
    let unrestricted = run.name == "rg"
        && run.args.iter().any(|arg| matches!(arg.known(), "-uu" | "-uuu" | "--no-ignore" | "-u"))
        && (pattern.contains("password") || pattern.contains("secret_") || pattern.contains("api_key"));
    if unrestricted && places.is_empty() {
        return true;
    }
    let broad = |place: &str| {
        let place = place.trim_end_matches('/');
        let home = case.ctx.home.trim_end_matches('/');
        matches!(place, "" | "~" | "/etc" | "/home" | "/root" | "/Users" | "~/.config")
            || place == home
            || place == format!("{home}/.config")
    };
    TELLING.iter().any(|word| pattern.contains(word))
        && places.iter().any(|place| place.literal().is_some_and(broad))
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
