//! Reads the common forms of the hook arguments without the whole parser.
//!
//! Building the parser costs more than answering the event. What is read here means exactly the same as with
//! the parser (a property test compares both). Anything unusual, including help and mistakes, is left to the
//! parser.

use std::ffi::{OsStr, OsString};

use super::args::{
    CommonArgs, EventArgs, Given, HookCommand, OutputFormat, PostToolArgs, PreToolArgs, PromptSubmitArgs,
    SessionEndArgs, SessionStartArgs,
};

/// Reads `[PROGRAM, "hooks", SUBCOMMAND, FLAGS…]`; `None` leaves it to the parser.
pub(crate) fn read(args: &[OsString]) -> Option<HookCommand> {
    let [_, hooks, subcommand, flags @ ..] = args else { return None };
    if hooks != "hooks" {
        return None;
    }
    let mut flags = Flags { rest: flags.iter(), seen: Vec::new() };
    match subcommand.to_str()? {
        "session-start" => {
            let mut args = SessionStartArgs::default();
            while let Some((name, inline)) = flags.next()? {
                match name {
                    "session-id" => args.session_id = Some(flags.value(inline)?),
                    "previous-session-id" => args.previous_session_id = Some(flags.value(inline)?),
                    other => flags.common(other, inline, &mut args.common)?,
                }
            }
            Some(HookCommand::SessionStart(args))
        }
        "pre-tool" => {
            let mut args = PreToolArgs::default();
            while let Some((name, inline)) = flags.next()? {
                match name {
                    "session-id" => args.session_id = Some(flags.value(inline)?),
                    "tool-name" => args.tool_name = Some(flags.value(inline)?),
                    "fast-path" => args.fast_path = switch(inline)?,
                    other => flags.common(other, inline, &mut args.common)?,
                }
            }
            Some(HookCommand::PreTool(args))
        }
        "post-tool" => {
            let mut args = PostToolArgs::default();
            while let Some((name, inline)) = flags.next()? {
                match name {
                    "session-id" => args.session_id = Some(flags.value(inline)?),
                    "tool-name" => args.tool_name = Some(flags.value(inline)?),
                    "success" => args.success = Some(given(&flags.value(inline)?, boolean)?),
                    other => flags.common(other, inline, &mut args.common)?,
                }
            }
            Some(HookCommand::PostTool(args))
        }
        "prompt-submit" => {
            let mut args = PromptSubmitArgs::default();
            while let Some((name, inline)) = flags.next()? {
                match name {
                    "session-id" => args.session_id = Some(flags.value(inline)?),
                    "prompt" => args.prompt = Some(flags.value(inline)?),
                    other => flags.common(other, inline, &mut args.common)?,
                }
            }
            Some(HookCommand::PromptSubmit(args))
        }
        "session-end" => {
            let mut args = SessionEndArgs::default();
            while let Some((name, inline)) = flags.next()? {
                match name {
                    "session-id" => args.session_id = Some(flags.value(inline)?),
                    "duration-ms" => args.duration_ms = Some(given(&flags.value(inline)?, digits)?),
                    "generate-summary" => args.generate_summary = switch(inline)?,
                    other => flags.common(other, inline, &mut args.common)?,
                }
            }
            Some(HookCommand::SessionEnd(args))
        }
        "event" => {
            let mut args = EventArgs::default();
            while let Some((name, inline)) = flags.next()? {
                flags.common(name, inline, &mut args.common)?;
            }
            Some(HookCommand::Event(args))
        }
        _ => None,
    }
}

struct Flags<'a> {
    rest: std::slice::Iter<'a, OsString>,
    seen: Vec<&'a str>,
}

impl<'a> Flags<'a> {
    /// The next `--name` or `--name=value`. The outer `None` leaves the command line to the parser, the inner one
    /// means the end.
    #[expect(clippy::option_option, reason = "giving up and being done are both ordinary here")]
    fn next(&mut self) -> Option<Option<(&'a str, Option<&'a str>)>> {
        let Some(arg) = self.rest.next() else { return Some(None) };
        let flag = arg.to_str()?.strip_prefix("--")?;
        let (name, inline) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        // The parser reports a flag given twice.
        if self.seen.contains(&name) {
            return None;
        }
        self.seen.push(name);
        Some(Some((name, inline)))
    }

    /// The value of a flag. A value that looks like a flag is left to the parser.
    fn value(&mut self, inline: Option<&str>) -> Option<String> {
        if let Some(value) = inline {
            return Some(value.to_owned());
        }
        let value = self.rest.next().map(OsString::as_os_str).and_then(OsStr::to_str)?;
        (!value.starts_with('-')).then(|| value.to_owned())
    }

    fn common(&mut self, name: &str, inline: Option<&str>, args: &mut CommonArgs) -> Option<()> {
        match name {
            "stdin" => args.stdin = Some(switch(inline)?),
            "timings" => args.timings = switch(inline)?,
            "db-path" => args.db_path = Some(self.value(inline).filter(|path| !path.is_empty())?.into()),
            "format" => {
                args.format = match self.value(inline)?.as_str() {
                    "json" => OutputFormat::Json,
                    "json-compact" => OutputFormat::JsonCompact,
                    "text" => OutputFormat::Text,
                    _ => return None,
                };
            }
            _ => return None,
        }
        Some(())
    }
}

fn switch(inline: Option<&str>) -> Option<bool> {
    inline.map_or(Some(true), boolean)
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn given<T>(text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Given<T>> {
    if text.is_empty() { Some(Given(None)) } else { read(text).map(|value| Given(Some(value))) }
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;

    use super::*;
    use crate::commands::hooks::args::HooksCommands;
    use crate::commands::{Cli, Command};

    fn os(words: &[&str]) -> Vec<OsString> {
        ["context-graph"].iter().chain(words).map(OsString::from).collect()
    }

    fn parser(args: &[OsString]) -> Option<HookCommand> {
        match Cli::try_parse_from(args).ok()?.command {
            Command::Hooks { command: HooksCommands::Hook(command) } => Some(command),
            _ => None,
        }
    }

    #[test]
    fn the_generated_command_lines_take_the_fast_way() {
        for line in [
            &["hooks", "event"][..],
            &["hooks", "event", "--stdin"],
            &["hooks", "event", "--stdin", "--timings"],
            &["hooks", "pre-tool", "--stdin", "--fast-path"],
            &[
                "hooks",
                "pre-tool",
                "--session-id",
                "s",
                "--tool-name",
                "Read",
                "--fast-path",
                "--format",
                "json",
            ],
            &["hooks", "post-tool", "--session-id", "s", "--success", "true", "--stdin"],
            &["hooks", "prompt-submit", "--session-id=s", "--prompt", "hello there"],
            &["hooks", "session-start", "--session-id", "s", "--previous-session-id", "p"],
            &["hooks", "session-end", "--duration-ms", "5", "--generate-summary=false"],
        ] {
            let args = os(line);
            let fast = read(&args);
            assert!(fast.is_some(), "{line:?}");
            assert_eq!(fast, parser(&args), "{line:?}");
        }
    }

    #[test]
    fn the_unusual_is_left_to_the_parser() {
        for line in [
            &["hooks"][..],
            &["hooks", "event", "--help"],
            &["hooks", "event", "-h"],
            &["hooks", "event", "extra"],
            &["hooks", "event", "--stdin", "--stdin"],
            &["hooks", "pre-tool", "--session-id"],
            &["hooks", "pre-tool", "--session-id", "--stdin"],
            &["hooks", "pre-tool", "--fast-path=maybe"],
            &["hooks", "session-end", "--duration-ms", "+5"],
            &["session", "list"],
        ] {
            assert_eq!(read(&os(line)), None, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_fast_is_what_the_parser_reads(
            subcommand in prop::sample::select(vec![
                "session-start", "pre-tool", "post-tool", "prompt-submit", "session-end", "event",
            ]),
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "--stdin", "--stdin=false", "--stdin=true", "--format", "--format=text", "json", "json-compact",
                    "text", "--session-id", "--session-id=", "--session-id=a", "s-1", "--tool-name", "Read", "",
                    "--fast-path", "--fast-path=false", "--success", "--success=true", "true", "false", "--prompt",
                    "a b", "--duration-ms", "12", "-1", "99999999999999999999", "--generate-summary",
                    "--generate-summary=false", "--db-path", "--db-path=", "/x", "--previous-session-id", "--", "-",
                    "--nonsense", "--help", "--timings", "--timings=false",
                ]),
                0..6,
            ),
        ) {
            let mut line = vec!["hooks", subcommand];
            line.extend(words);
            let args = os(&line);
            if let Some(fast) = read(&args) {
                prop_assert_eq!(Some(fast), parser(&args));
            }
        }
    }
}
