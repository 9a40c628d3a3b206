//! Keys in the value of an option without a description: `--from-file=~/.ssh/id_ed25519`, `-F body=@key`.
//!
//! No table holds every option that reads a file. The option's name shows whether it only uses a key
//! (`--key-file`, `--kubeconfig`, `-i`). Those are allowed.

use crate::effects::path::{PathBase, Target};
use crate::effects::{Text, path};
use crate::guards::Case;
use crate::programs::{Invocation, Role};

/// Parts of the names of options that use a key without showing it.
const USES: &[&str] = &[
    "key", "ident", "cred", "cert", "conf", "auth", "netrc", "profile", "login", "pass", "token", "secret",
    "agent", "tls", "ssl", "pem", "home", "dir", "root", "exclude", "ignore", "ssh",
];

/// The first key that a program is passed like this.
pub(super) fn handed_key(case: &Case<'_>, call: &Invocation<'_>) -> Option<String> {
    let places = PathBase { home: case.ctx.home, fs: case.ctx.fs };
    let undescribed = call.given.iter().filter(|given| {
        given
            .option
            .is_none_or(|option| option.takes.iter().all(|role| matches!(role, Role::Value | Role::Setting)))
            && !uses(&given.name)
    });
    let values = undescribed.flat_map(|given| given.values.iter().cloned().chain(attached(&given.name)));
    // `-F body=@key`, `X-Header:@key`: the mark is followed by a file, for any program.
    let marked = call.words.iter().filter_map(|word| behind_mark(word));
    for value in values.chain(marked) {
        let file = behind_mark(&value).unwrap_or(value);
        if !file.prefix().contains(['/', '.', '~']) || file.prefix().contains(char::is_whitespace) {
            continue;
        }
        let file = match path::home_of(file.prefix(), case.ctx.home) {
            Some((home, rest)) if file.literal().is_some() => Text::lit(format!("{home}{rest}")),
            _ => file,
        };
        let target = Target::new(&file, &call.run.cwd, places);
        if super::is_key(&target, case) {
            return Some(target.path.to_string());
        }
    }
    None
}

fn uses(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option).trim_start_matches('-').to_ascii_lowercase();
    name == "i" || name == "c" || USES.iter().any(|part| name.contains(part))
}

/// The value attached to an undescribed option.
fn attached(option: &str) -> Option<Text> {
    option.split_once('=').map(|(_, value)| Text::lit(value))
}

/// The file after an `@` at the start of a value: `@key`, `body=@key`, `X-Key:@key`.
fn behind_mark(value: &Text) -> Option<Text> {
    let text = value.literal()?;
    let at = text.find('@').filter(|at| *at == 0 || matches!(text.as_bytes()[at - 1], b'=' | b':'))?;
    Some(Text::lit(&text[at + 1..]))
}
