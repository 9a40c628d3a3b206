//! Runs that speak in the user's name: they type where the user answers, or send prompts into a conversation.

use super::Case;
use crate::effects::{Origin, TERMINAL_INPUT};
use crate::programs::Invocation;

const TYPES: &str = "it types into the terminal that the agent itself runs in";
const SENDS: &str = "it sends messages to the running client";
const CONTINUES: &str = "it sends prompts into an existing conversation";

/// Clients, and their words for going on with a conversation.
const CONTINUING: &[(&str, &[&str])] = &[
    ("claude", &["-c", "--continue", "-r", "--resume"]),
    ("claude-code", &["-c", "--continue", "-r", "--resume"]),
    ("codex", &["resume"]),
    ("copilot", &["--continue", "--resume"]),
    ("cursor-agent", &["resume", "--resume", "--continue"]),
    ("gemini", &["-r", "--resume"]),
    ("goose", &["-r", "--resume"]),
    ("opencode", &["-c", "--continue", "-s", "--session"]),
    ("pi", &["-c", "--continue", "-r", "--resume", "--session"]),
    ("qwen", &["-c", "--continue", "-r", "--resume"]),
];

/// How a run speaks in the user's name, if it does.
pub(super) fn speaks(case: &Case<'_>, call: &Invocation<'_>) -> Option<&'static str> {
    let run = call.run;
    let has = |words: &[&str]| run.args.iter().any(|arg| words.contains(&arg.prefix()));
    // Without a target, or with the target from the terminal's own variable (`TMUX_PANE`), the keys go to the agent's
    // own terminal.
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
    // The client listens for messages from other sessions. A variable in its shells says where.
    let sends = matches!(run.name.as_str(), "nc" | "ncat" | "netcat" | "socat" | "curl" | "websocat")
        && run.args.iter().any(|arg| {
            arg.to_string().contains("/cc-socks/")
                || arg.has_origin(Origin::Variable) && case.command.contains("CLAUDE_CODE_MESSAGING")
        });
    let goes_on = CONTINUING.iter().any(|(client, words)| *client == run.name && has(words));
    let by_id = || run.args.iter().any(|arg| arg.prefix().starts_with("--resume="));
    // Without these, Claude Code needs a terminal, so the user sees the prompt.
    let unseen = !run.name.starts_with("claude") || has(&["-p", "--print"]) || run.stdin.is_some();
    let continues =
        (goes_on || run.name.starts_with("claude") && by_id()) && unseen && !has(&["--fork-session"]);
    types.then_some(TYPES).or(sends.then_some(SENDS)).or_else(|| continues.then_some(CONTINUES))
}
