//! Runs that speak in the user's name: they type where the user answers, or send prompts into a conversation.

use super::Case;
use crate::effects::{Origin, TERMINAL_INPUT, Text};
use crate::programs::Invocation;

const TYPES: &str = "it types into the terminal that the agent itself runs in";
const SENDS: &str = "it sends messages to the running client";
const CONTINUES: &str = "it sends prompts into a conversation that there is already";

/// How a run speaks in the user's name, if it does.
pub(super) fn speaks(case: &Case<'_>, call: &Invocation<'_>) -> Option<&'static str> {
    let run = call.run;
    let has = |words: &[&str]| run.args.iter().any(|arg| words.contains(&arg.prefix()));
    // Without a target, and with the one that the variable of the terminal names, it is the own one.
    let own = |options: &[&str], variable: &str| {
        let targets = || {
            run.args.iter().enumerate().filter_map(|(at, arg)| {
                let word = arg.prefix();
                let option = options.iter().find(|option| word.starts_with(**option))?;
                Some(if word.len() == option.len() { run.args.get(at + 1)? } else { arg })
            })
        };
        targets().next().is_none()
            || case.command.contains(variable) && targets().any(|target| target.has_origin(Origin::Variable))
    };
    let types = match run.name.as_str() {
        "tmux" => has(&["send-keys", "send", "paste-buffer", "pasteb"]) && own(&["-t"], "TMUX_PANE"),
        "screen" => has(&["stuff", "paste"]) && own(&["-S", "-p"], "STY"),
        "zellij" => has(&["write-chars", "write"]) && has(&["action"]) && !has(&["-s", "--session"]),
        "wezterm" => has(&["send-text"]) && own(&["--pane-id"], "WEZTERM_PANE"),
        "kitty" | "kitten" => has(&["send-text", "send-key"]) && own(&["-m", "--match"], "KITTY_WINDOW_ID"),
        TERMINAL_INPUT => true,
        _ => false,
    };
    // The client listens for messages from other sessions, and tells its shells where.
    let sends = matches!(run.name.as_str(), "nc" | "ncat" | "netcat" | "socat" | "curl" | "websocat")
        && run.args.iter().any(|arg| {
            arg.to_string().contains("/cc-socks/")
                || arg.has_origin(Origin::Variable) && case.command.contains("CLAUDE_CODE_MESSAGING")
        });
    let continues = matches!(run.name.as_str(), "claude" | "claude-code")
        && run.args.iter().map(Text::prefix).any(|arg| {
            matches!(arg, "-c" | "--continue" | "-r" | "--resume") || arg.starts_with("--resume=")
        })
        && (has(&["-p", "--print"]) || run.stdin.is_some())
        && !has(&["--fork-session"]);
    types.then_some(TYPES).or(sends.then_some(SENDS)).or_else(|| continues.then_some(CONTINUES))
}
