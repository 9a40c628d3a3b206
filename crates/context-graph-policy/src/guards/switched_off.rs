//! Runs that switch the guard off, stop it, or start a client without it.

use super::{Case, untracked};
use crate::effects::path::{arrived, is_within};
use crate::effects::{Run, Text};

/// Whether a run disables the guard or the hooks that call it.
pub(super) fn is_switched_off(case: &Case<'_>, run: &Run) -> bool {
    if moves_settings(run) {
        return true;
    }
    match run.name.as_str() {
        "claude" | "claude-code" => starts_unguarded(case, run),
        // Files in a repository may have come with it, so the user's own folder would no longer count as the
        // user's.
        "git" => {
            let call = case.known.read(run);
            let home = case.ctx.home.trim_end_matches('/');
            untracked::init_target(&call, home, case.ctx.fs).is_some_and(|place| is_within(home, &place))
        }
        "mkdir" => {
            let call = case.known.read(run);
            let places = call.operands().iter().map(|word| arrived(word, &run.cwd, case.ctx.fs));
            let mut places = places.filter_map(|place| place.literal().map(str::to_owned));
            places
                .any(|place| place.strip_suffix("/.git").is_some_and(|place| is_within(case.ctx.home, place)))
        }
        "pkill" | "killall" => mentions(run, "context-graph") || run.has("claude"),
        "kill" => run.args.iter().any(Text::has_hole) && case.runs().any(|run| looks_up_guard(case, run)),
        "cargo" | "brew" | "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "pipx" | "uv" | "apt"
        | "apt-get" | "dpkg" | "dnf" | "rpm" | "pacman" | "mise" | "asdf" | "nix-env" | "nix" | "port"
        | "volta" => replaces_program(run),
        name => UNASKED.iter().any(|(client, options)| {
            *client == name && run.args.iter().any(|arg| options.contains(&arg.known()))
        }),
    }
}

/// Whether an argument contains this text.
fn mentions(run: &Run, text: &str) -> bool {
    run.args.iter().any(|arg| arg.to_string().contains(text))
}

/// Whether Claude Code is started or configured so that it does not call the guard.
fn starts_unguarded(case: &Case<'_>, run: &Run) -> bool {
    let has = |text: &str| mentions(run, text);
    let changes = run.arg(0) == "config" && !matches!(run.arg(1), "get" | "list" | "ls" | "");
    let without_us = matches!(run.arg(0), "plugin" | "mcp" | "plugins") && has("context-graph");
    // In another folder this project's hooks are not called.
    let elsewhere = (run.has("-p") || run.has("--print"))
        && run.cwd.literal().is_some_and(|folder| !is_within(folder, case.ctx.project));
    changes
        || without_us
        || elsewhere
        || has("disableAllHooks")
        || has("\"hooks\"")
        || has("dangerously-skip-permissions")
        || has("bypassPermissions")
        || brings_settings(run)
        || has("--setting-sources")
        || run.has("--bare")
}

/// Whether a package manager removes the guard, puts another program in its place, or installs an old client.
fn replaces_program(run: &Run) -> bool {
    let removes =
        ["uninstall", "remove", "rm", "un", "r", "unlink", "purge", "-r", "-R", "-e", "-P", "--remove"];
    let is_old = |arg: &Text| {
        let version = arg.known().strip_prefix("@anthropic-ai/claude-code@");
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    // Another program of our name may come first on the search path.
    let is_ours = |arg: &Text| {
        let name = arg.known().split(['@', '=']).next().unwrap_or_default();
        name == "context-graph"
    };
    let installs = ["install", "i", "add", "global"];
    mentions(run, "context-graph") && run.args.iter().any(|arg| removes.contains(&arg.known()))
        || run.name != "cargo"
            && run.args.iter().any(is_ours)
            && run.args.iter().any(|arg| installs.contains(&arg.known()))
        || run.args.iter().any(is_old)
}

/// Variables that say where the client and the guard look for the user's files.
const USER_FILE_VARIABLES: &[&str] =
    &["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CONTEXT_GRAPH_DB_PATH", "HOME"];

/// Whether programs started later get another folder for the user's settings.
fn moves_settings(run: &Run) -> bool {
    let lasts = match run.name.as_str() {
        "systemctl" => run.has("set-environment"),
        "tmux" => ["set-environment", "setenv"].iter().any(|verb| run.has(verb)),
        "launchctl" => ["setenv", "config"].iter().any(|verb| run.has(verb)),
        "mise" => run.has("set"),
        "set" => run.args.iter().any(|arg| arg.prefix().starts_with('-') && arg.known().contains('U')),
        "screen" | "zellij" => run.has("setenv"),
        "setx" | "dbus-update-activation-environment" => true,
        _ => false,
    };
    lasts
        && run.args.iter().any(|arg| {
            let name = arg.prefix().split('=').next().unwrap_or_default();
            USER_FILE_VARIABLES.contains(&name)
        })
}

/// Other clients, and their options for never asking. No guard sees what they do then.
const UNASKED: &[(&str, &[&str])] = &[
    ("aider", &["--yes", "--yes-always"]),
    ("amp", &["--dangerously-allow-all"]),
    ("codex", &["--dangerously-bypass-approvals-and-sandbox", "--yolo"]),
    ("copilot", &["--allow-all-tools", "--allow-all", "--yolo"]),
    ("cursor-agent", &["-f", "--force", "--yolo"]),
    ("droid", &["--skip-permissions-unsafe"]),
    ("gemini", &["--yolo", "-y", "--approval-mode=yolo"]),
    ("qwen", &["--yolo", "-y", "--approval-mode=yolo"]),
];

/// Whether a program looks up processes of the guard or the client, usually for `kill`.
fn looks_up_guard(case: &Case<'_>, run: &Run) -> bool {
    let looks = match run.name.as_str() {
        "pidof" | "pgrep" => true,
        "grep" | "rg" | "awk" => case.runs().any(|run| run.name == "ps"),
        _ => false,
    };
    looks
        && run.args.iter().any(|arg| {
            let word = arg.known();
            word.contains("context-graph") || word == "claude"
        })
}

/// Whether a command names the client's process: the shell's parent, or the process in `CLAUDE_PID`.
pub(super) fn names_client(case: &Case<'_>) -> bool {
    ["$PPID", "${PPID}", "CLAUDE_PID"].iter().any(|process| case.command.contains(process))
}

/// Whether limits are set for another process, or a debugger is attached to the guard or the client.
pub(super) fn limits_or_traces(case: &Case<'_>, run: &Run) -> bool {
    let of_process = |arg: &Text| {
        let word = arg.prefix();
        word == "--pid" || word.starts_with("--pid=") || word.starts_with("-p") && !word.starts_with("--")
    };
    let attaches = run.args.iter().any(of_process) || run.has("attach");
    let is_aimed = || case.runs().any(|run| looks_up_guard(case, run)) || names_client(case);
    match run.name.as_str() {
        "cpulimit" => run.args.iter().any(of_process) && is_aimed(),
        "prlimit" => run.args.iter().take_while(|arg| arg.prefix().starts_with('-')).any(of_process),
        "gdb" | "lldb" | "strace" | "ltrace" | "rr" | "gcore" | "reptyr" | "dtruss" | "taskset" | "chrt"
        | "renice" | "ionice" => (attaches || matches!(run.name.as_str(), "gcore" | "renice")) && is_aimed(),
        _ => false,
    }
}

/// Whether `--settings` gives a client settings about hooks, or a file that we do not read.
fn brings_settings(run: &Run) -> bool {
    let attached = run.args.iter().filter_map(|arg| arg.strip_prefix("--settings="));
    let behind =
        run.args.windows(2).filter(|pair| pair[0].known() == "--settings").map(|pair| pair[1].clone());
    attached.chain(behind).any(|settings| {
        let text = settings.known();
        !text.trim_start().starts_with('{') || text.to_ascii_lowercase().contains("hooks")
    })
}

/// Whether names of hooks are replaced in files that only the run itself determines.
pub(super) fn rewrites_hooks(case: &Case<'_>, run: &Run) -> bool {
    let telling = ["PreToolUse", "PostToolUse", "\"hooks\"", "context-graph"];
    matches!(run.name.as_str(), "sed" | "gsed" | "perl")
        && run.args.iter().any(|arg| arg.prefix().starts_with("-i") || arg.prefix().starts_with("-pi"))
        && run.args.iter().any(|arg| telling.iter().any(|word| arg.known().contains(word)))
        && (run.args.iter().any(|arg| arg.has_hole() || arg.has_glob())
            || case.runs().any(|run| run.name == "xargs"))
}
