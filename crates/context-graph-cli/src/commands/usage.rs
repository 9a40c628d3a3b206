//! Mistakes on the command line: what is wrong, what was probably meant, and what to do next, in one style.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::time::Instant;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use super::{Cli, asks_for_json, hooks};
use crate::suggest::{nearest, slip_of};
use crate::{ExitStatus, help_text, terminal};

/// Help and version are answers; the rest are errors. They exit with 1, because the client takes 2 for a
/// denial.
pub(super) fn report(error: &clap::Error, args: &[OsString], started: Instant) -> ExitStatus {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let text = help_text::fitted(&error.render().to_string(), terminal::width());
        terminal::print(terminal::shown(&text).as_bytes());
        return ExitStatus::Success;
    }
    let words: Vec<&str> = args.iter().skip(1).filter_map(|arg| arg.to_str()).collect();
    let verb = verb_of(&words);
    let message = message(error, &verb);
    if words.first() == Some(&"hooks") {
        let failure = Failure::usage(message.as_str()).with_next_step(next_step(error, &words, &verb));
        terminal::complain(&failure.to_string());
        hooks::usage_failure(message, words.get(1) == Some(&"pre-tool"), started);
        return ExitStatus::Error;
    }
    let as_json = asks_for_json(args);
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !as_json {
        let text = help_text::fitted(&error.render().to_string(), terminal::width());
        terminal::note(&format!("{}\n", text.trim_end()));
        return Failure::usage(message).with_next_step("one of those above").report(false);
    }
    Failure::usage(message).with_next_step(next_step(error, &words, &verb)).report(as_json)
}

/// The verbs at the beginning of a command line that exist: `audit log`.
fn verb_of(words: &[&str]) -> String {
    let (mut at, mut known) = (Cli::command(), Vec::new());
    for word in words {
        let Some(next) = at.find_subcommand(word).cloned() else { break };
        known.push(*word);
        at = next;
    }
    known.join(" ")
}

/// What the parser knows about the mistake.
fn context_of(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join("`, `")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

/// What is wrong.
fn message(error: &clap::Error, verb: &str) -> String {
    let context = |kind| context_of(error, kind);
    let argument = || context(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = context(ContextKind::InvalidSubcommand).unwrap_or_default();
            if verb.is_empty() {
                format!("there is no command `{wrong}`")
            } else {
                format!("`{verb}` has no command `{wrong}`")
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => match verb {
            "" => "a command is missing".to_owned(),
            verb => format!("`{verb}` needs a command"),
        },
        ErrorKind::UnknownArgument if argument().starts_with('-') => {
            let of = if verb.is_empty() { String::new() } else { format!("`{verb}` has ") };
            format!("{of}no option `{}`", argument())
        }
        ErrorKind::UnknownArgument => format!("`{}` was not expected", argument()),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => match context(ContextKind::InvalidValue) {
            Some(value) => format!("`{}` cannot be `{value}`: {}", argument(), why(error)),
            None => format!("`{}` needs a value", argument()),
        },
        ErrorKind::MissingRequiredArgument => {
            let missing = argument();
            format!("`{missing}` {} missing", if missing.contains("`, `") { "are" } else { "is" })
        }
        ErrorKind::ArgumentConflict => match context(ContextKind::PriorArg) {
            Some(prior) if prior == argument() => format!("`{prior}` is given twice"),
            Some(prior) => format!("`{}` and `{prior}` cannot be given together", argument()),
            None => format!("`{}` cannot be given with the others", argument()),
        },
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".to_owned(),
        _ => {
            let said = error.render().to_string();
            said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    }
}

/// Why a value is refused.
fn why(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) {
        return format!("it is one of {}", valid.join(", "));
    }
    let Some(source) = error.source() else { return "it is not understood".to_owned() };
    if let Some(error) = source.downcast_ref::<ParseIntError>() {
        return match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "the number is too large".to_owned(),
            _ => "it is a whole number".to_owned(),
        };
    }
    if source.is::<ParseFloatError>() {
        return "it is a number".to_owned();
    }
    source.to_string()
}

/// What to do next: what was probably meant, or where to look.
fn next_step(error: &clap::Error, words: &[&str], verb: &str) -> String {
    let near = || {
        // The parser also suggests options that only share some letters.
        let wrong = context_of(error, ContextKind::InvalidArg).unwrap_or_default();
        let option = context_of(error, ContextKind::SuggestedArg)
            .filter(|near| slip_of(&wrong, [near.as_str()]).is_some() || near.starts_with(&wrong));
        let near = option.or_else(|| context_of(error, ContextKind::SuggestedValue));
        near.map(|near| format!("perhaps `{near}`?"))
    };
    if let Some(meant) = meant(words).or_else(near) {
        return meant;
    }
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some((_, where_from)) = WHERE_FROM.iter().find(|(of, _)| *of == verb)
    {
        return (*where_from).to_owned();
    }
    let verb = if verb.is_empty() { String::new() } else { format!("{verb} ") };
    match error.kind() {
        ErrorKind::ArgumentConflict => "leave one of them out".to_owned(),
        ErrorKind::InvalidSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("`context-graph {verb}--help` lists them")
        }
        _ => format!("`context-graph {verb}--help` says what it takes"),
    }
}

/// Where to find the missing argument of a verb.
const WHERE_FROM: &[(&str, &str)] = &[
    ("audit show", "`context-graph audit log` shows the ids"),
    ("audit sql", "`context-graph audit sql --help` lists the views and their columns"),
    ("config set", "`context-graph config show` lists the keys"),
    ("policy allow", "a refusal names the rule; `context-graph policy list` shows all"),
    ("session forget", "`context-graph session list` shows the ids"),
];

/// What somebody probably meant by a verb or a flag that does not exist.
fn meant(words: &[&str]) -> Option<String> {
    let quoted = |words: &[&str]| format!("'{}'", words.join(" "));
    let command = match words {
        ["audit", "log", rest @ ..] if rest.contains(&"--denied") || rest.contains(&"--blocked") => {
            "audit log --outcome denied".to_owned()
        }
        ["audit", "log", rest @ ..] if rest.contains(&"--failed") => "audit log --outcome failure".to_owned(),
        ["audit", "log", rest @ ..] if rest.windows(2).any(|pair| pair == ["--limit", "all"]) => {
            "audit log --all".to_owned()
        }
        ["help", rest @ ..] => format!("help {}", slip(rest)?),
        ["import", rest @ ..] if rest.contains(&"--dry-run") => "replay".to_owned(),
        ["-v"] | ["version", ..] => "--version".to_owned(),
        ["config", "get", rest @ ..] => format!("config show {}", rest.join(" ")),
        ["remove", ..] => "uninstall".to_owned(),
        ["why" | "explain", id, ..] | ["policy", "explain" | "why", id, ..] if is_entry(id) => {
            format!("audit show {id}")
        }
        ["audit", "search" | "grep" | "find", rest @ ..] | ["search" | "grep" | "find", rest @ ..] => {
            format!("audit log --text {}", quoted(rest))
        }
        ["audit", "list" | "ls" | "tail", ..] | ["log" | "logs" | "history", ..] => "audit log".to_owned(),
        ["audit", "replay", ..] => "policy replay ~/.claude/projects".to_owned(),
        ["list" | "ls" | "sessions", ..] | ["session", "ls", ..] => "session list".to_owned(),
        ["status", ..] => "session status".to_owned(),
        ["stats", ..] => "audit stats".to_owned(),
        ["show", id, ..] => format!("session show {id}"),
        ["session", "delete" | "rm" | "remove", rest @ ..] => format!("session forget {}", rest.join(" ")),
        ["install", ..] => "init".to_owned(),
        ["explain", rest @ ..] | ["policy", "explain", rest @ ..]
            if rest.first().is_some_and(|word| !word.starts_with('-')) =>
        {
            format!("policy explain --command {}", quoted(rest))
        }
        words => slip(words)?,
    };
    Some(format!("perhaps `context-graph {command}`?"))
}

/// Whether a word names an entry of the log: the beginning of a session's id and a number, or a call's id.
fn is_entry(word: &str) -> bool {
    let is_numbered = |(_, number): (&str, &str)| number.parse::<u64>().is_ok();
    word.rsplit_once(':').is_some_and(is_numbered) || word.starts_with("toolu_")
}

/// The command line with the verb that is nearest to the first one that does not exist.
fn slip(words: &[&str]) -> Option<String> {
    let mut at = Cli::command();
    for (known, word) in words.iter().enumerate() {
        if let Some(next) = at.find_subcommand(word) {
            at = next.clone();
            continue;
        }
        let verbs = at.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name);
        return nearest(word, verbs).map(|nearest| [&words[..known], &[nearest]].concat().join(" "));
    }
    None
}
