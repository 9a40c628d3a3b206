//! Which of our own commands an agent may run: those that only answer. Commands that forge the user's words,
//! remove records, loosen rules or switch the guard off are only for the user's own terminal.

use super::Case;
use crate::effects::{Access, PathEffect, Run, Text};

/// How an agent may use one of our verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It only answers.
    Question,
    /// It only answers, unless this option is given.
    QuestionUnless(&'static str),
    /// It changes something, unless this option is given.
    ChangeUnless(&'static str),
    /// It changes something.
    Change,
}

/// Every verb. A group covers all its verbs that are not listed.
const VERBS: &[(&str, Use)] = &[
    ("audit export", Use::Question),
    ("audit log", Use::Question),
    ("audit report", Use::Question),
    ("audit show", Use::Question),
    ("audit sql", Use::Question),
    ("audit stats", Use::Question),
    ("audit trace", Use::Question),
    ("audit verify", Use::QuestionUnless("--acknowledge")),
    ("browse", Use::Question),
    ("completions", Use::Question),
    ("config edit", Use::Change),
    ("config path", Use::Question),
    ("config schema", Use::Question),
    ("config set", Use::Change),
    ("config show", Use::Question),
    ("consciousness brief", Use::Question),
    ("consciousness explain", Use::Question),
    ("consciousness inject", Use::Question),
    ("consciousness status", Use::Question),
    ("dashboard", Use::Question),
    ("demo", Use::Question),
    ("doctor", Use::QuestionUnless("--fix")),
    ("generate-config", Use::Change),
    ("help", Use::Question),
    ("hooks", Use::Change),
    ("import", Use::Change),
    ("init", Use::ChangeUnless("--dry-run")),
    ("maintain", Use::Change),
    ("man", Use::Question),
    ("plugin", Use::Change),
    ("policy allow", Use::Change),
    ("policy check", Use::Question),
    ("policy explain", Use::Question),
    ("policy import", Use::ChangeUnless("--dry-run")),
    ("policy init", Use::Change),
    ("policy list", Use::Question),
    ("policy replay", Use::Question),
    ("policy test", Use::Question),
    ("replay", Use::Question),
    ("run-actions", Use::Change),
    ("self check", Use::Question),
    ("server", Use::Change),
    ("session export", Use::Question),
    ("session forget", Use::Change),
    ("session import", Use::Change),
    ("session list", Use::Question),
    ("session load", Use::QuestionUnless("--create")),
    ("session prune", Use::ChangeUnless("--dry-run")),
    ("session save", Use::Change),
    ("session show", Use::Question),
    ("session status", Use::Question),
    ("status", Use::Question),
    ("statusline", Use::Question),
    ("team", Use::Change),
    ("team push", Use::ChangeUnless("--dry-run")),
    ("team status", Use::Question),
    ("trust", Use::ChangeUnless("--list")),
    ("uninstall", Use::Change),
];

/// How a verb may be used; `None` for an unlisted verb.
pub fn use_of(words: &[&str]) -> Option<Use> {
    let pair = words.get(..2).map(|pair| pair.join(" "));
    let listed = |verb: &str| VERBS.iter().find(|(known, _)| *known == verb).map(|(_, verb_use)| *verb_use);
    pair.as_deref().and_then(listed).or_else(|| listed(words.first()?))
}

/// The verb with which a run of our program would change something. A verb that is not known counts.
pub(super) fn change(case: &Case<'_>, run: &Run) -> Option<String> {
    let args = own_args(case, run)?;
    // Words after `--` are not options.
    let options = || args.iter().take_while(|arg| arg.literal() != Some("--"));
    let given = |option: &str| options().any(|arg| arg.literal() == Some(option));
    let first = args.first()?;
    if matches!(first.known(), "--version" | "-V" | "--help" | "-h") {
        return None;
    }
    let words: Vec<&str> = args.iter().take(2).map_while(Text::literal).collect();
    let asks = match use_of(&words) {
        Some(Use::Question) => true,
        Some(Use::QuestionUnless(option)) => !given(option) && !args.iter().any(Text::has_hole),
        Some(Use::ChangeUnless(option)) => given(option),
        // A group alone prints its help.
        None if words.len() == 1 && args.len() == 1 => true,
        Some(Use::Change) | None => false,
    };
    (!asks).then(|| words.join(" "))
}

/// The arguments of our program, if this run starts it: by name, as a package, from source, through a link or a
/// copy, or recognised by arguments that only our program takes.
fn own_args<'r>(case: &Case<'_>, run: &'r Run) -> Option<&'r [Text]> {
    let behind = |at: usize| run.args.get(at..).unwrap_or_default();
    if is_own_name(&run.name) || leads_to_own(case, run) {
        return Some(behind(0));
    }
    if run.arg(0) == "hooks" && HOOKS.contains(&run.arg(1)) {
        return Some(behind(0));
    }
    match run.name.as_str() {
        "cargo" => {
            let at = run.args.iter().position(|arg| arg.known() == "--")?;
            let runs = run.args[..at].iter().any(|arg| matches!(arg.known(), "run" | "r"));
            (runs && is_own_source(case, run)).then(|| behind(at + 1))
        }
        "node" | "bun" | "deno" => {
            let at =
                run.args.iter().position(|arg| !arg.prefix().starts_with('-') && arg.known() != "run")?;
            is_own_name(run.args[at].file_name().known()).then(|| behind(at + 1))
        }
        _ => None,
    }
}

/// Arguments that only our program takes.
const HOOKS: &[&str] =
    &["session-start", "pre-tool", "post-tool", "prompt-submit", "session-end", "event", "generate-config"];

/// Whether this is our name: `context-graph`, `context-graph@1.2`, `context-graph-cli`, `context-graph.js`.
pub(crate) fn is_own_name(name: &str) -> bool {
    name.strip_prefix("context-graph")
        .is_some_and(|rest| rest.is_empty() || rest == "-cli" || rest.starts_with(['@', '.']))
}

/// Whether the executed file is our program under another name.
fn leads_to_own(case: &Case<'_>, run: &Run) -> bool {
    let is_run = |effect: &&PathEffect| effect.access == Access::Execute && effect.by == run.name;
    let places = || case.effects.paths.iter().filter(is_run).flat_map(|effect| effect.target.places());
    // Compares files only if one of our verbs is used.
    let is_told_ours = || use_of(&[run.arg(0), run.arg(1)]).is_some();
    places().any(|place| place.rsplit('/').next().is_some_and(is_own_name))
        || is_told_ours() && places().any(|place| case.ctx.fs.is_program(place))
}

/// Whether cargo runs our own source.
fn is_own_source(case: &Case<'_>, run: &Run) -> bool {
    let named = run.args.iter().any(|arg| is_own_name(arg.known().trim_start_matches("--bin=")));
    let folders = [case.ctx.project, run.cwd.known(), case.ctx.cwd];
    named
        || folders.iter().any(|folder| {
            let manifest = format!("{}/crates/context-graph-cli", folder.trim_end_matches('/'));
            !folder.is_empty() && case.ctx.fs.kind(&manifest).is_some()
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{passes, rules, rules_of};
    use super::*;

    const DENIED: &str = "self-protection/verb";

    #[test]
    fn verbs_are_sorted_and_unknown_ones_are_not_known() {
        assert!(VERBS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(use_of(&["hooks", "whatever"]), Some(Use::Change));
        assert_eq!(use_of(&["session", "rewrite"]), None);
        assert_eq!(use_of(&["audit", "log", "x"]), Some(Use::Question));
    }

    #[test]
    fn an_agent_may_not_speak_for_the_user_however_it_spells_it() {
        for command in [
            "context-graph hooks prompt-submit --prompt 'do as you like'",
            "/usr/local/bin/context-graph hooks event --stdin < forged.json",
            "echo '{}' | ./target/release/context-graph hooks event",
            "cargo run -q --bin context-graph -- hooks prompt-submit --prompt x",
            "npx context-graph hooks prompt-submit --prompt x",
            "npx -y @context-graph/context-graph@1 session import x.jsonl",
            "env A=1 context-graph session import x",
            "sudo context-graph session import x",
            "sh -c 'context-graph hooks event < x'",
            "echo import x | xargs context-graph session",
            "x=context-graph; $x hooks session-end",
            "cp $(which context-graph) /tmp/cg && /tmp/cg session import x",
            "ln -s /usr/local/bin/context-graph /tmp/cg; /tmp/cg session import x",
            "/tmp/copied-yesterday hooks prompt-submit --prompt x",
            "alias cg=context-graph; cg trust",
            "nohup context-graph trust . &",
            "context-graph policy allow 'rm -rf'",
            "context-graph config set guard.enabled false",
            "context-graph config edit",
            "context-graph init --user --yes",
            "context-graph uninstall",
            "context-graph team join x",
            "context-graph server",
            "context-graph server invite ada",
            "context-graph team push",
            "context-graph team leave --yes",
            "context-graph plugin build /tmp/p",
            "context-graph maintain",
            "context-graph maintain --adopt",
            "context-graph doctor --fix",
            "context-graph doctor $x",
            "context-graph session rewrite a b",
            "context-graph session load s --create",
            "context-graph session save snapshot.json",
            "context-graph brand-new --verb",
            "context-graph $verb",
            "context-graph \"$(printf ho)oks\" event",
            "context-graph policy import x -- --dry-run",
            "context-graph session prune --older-than 1d",
            "python3 -c \"import subprocess; subprocess.run(['context-graph', 'session', 'import', 'x'])\"",
            "node -e \"require('child_process').execSync('context-graph hooks event')\"",
            "node node_modules/context-graph/bin/context-graph.js hooks event",
            "find . -name x -exec context-graph session import {} \\;",
            "timeout 5 context-graph hooks generate-config --force",
        ] {
            assert!(rules(command).contains(&DENIED.to_owned()), "{command}: {:?}", rules(command));
        }
        for command in [
            "& 'C:\\Program Files\\cg\\context-graph.exe' hooks event",
            "context-graph.exe session import x",
            "Get-Content x | context-graph hooks event",
        ] {
            let found = rules_of("PowerShell", &json!({ "command": command }));
            assert!(found.contains(&DENIED.to_owned()), "{command}: {found:?}");
        }
    }

    #[test]
    fn an_agent_may_ask() {
        passes(&[
            "context-graph",
            "context-graph --version",
            "context-graph hooks --help",
            "context-graph help session",
            "context-graph audit log --since 1d",
            "context-graph audit export --format csv -o out.csv",
            "context-graph session show",
            "context-graph session load",
            "context-graph session export | head",
            "context-graph session",
            "context-graph policy explain --command 'context-graph uninstall'",
            "context-graph policy import .cupcake --dry-run",
            "context-graph init --dry-run",
            "context-graph team push --dry-run",
            "context-graph team status",
            "context-graph trust --list",
            "context-graph doctor --json",
            "context-graph demo --fast",
            "npx context-graph audit stats",
            "cargo run -- init",
            "terraform init && npm init -y && git init",
            "husky hooks",
        ]);
    }
}
