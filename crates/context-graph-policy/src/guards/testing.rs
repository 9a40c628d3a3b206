//! What the guards' tests share.

use serde_json::{Value, json};

use crate::effects::{FileKind, ListedFileSystem};
use crate::{Context, Decision, Guards, PolicyConfig, guards};

pub(crate) fn decide_with(config: PolicyConfig, tool: &str, input: &Value) -> Decision {
    let fs = ListedFileSystem::default()
        .with("/proj", FileKind::Folder)
        .with("/proj/app", FileKind::Folder)
        .with("/proj/app/notes", FileKind::Link(".env".into()))
        .with("/proj/app/link", FileKind::Link(".claude/settings.json".into()));
    let ctx = Context { home: "/home/dev", project: "/proj/app", cwd: "/proj/app", fs: &fs };
    let guards = Guards::new(config);
    let effects = guards.effects(tool, input, &ctx).unwrap();
    guards::check(guards.config(), &ctx, tool, input, &effects)
}

/// The rules that stop a shell command.
pub(crate) fn rules(command: &str) -> Vec<String> {
    rules_of("Bash", &json!({ "command": command }))
}

/// The rules that stop a tool call.
pub(crate) fn rules_of(tool: &str, input: &Value) -> Vec<String> {
    decide_with(PolicyConfig::default(), tool, input).findings().map(|finding| finding.rule.clone()).collect()
}

/// Checks that each command is stopped by the rule named with it.
pub(crate) fn stops(cases: &[(&str, &str)]) {
    for (command, rule) in cases {
        let found = rules(command);
        assert!(found.iter().any(|id| id == rule), "{command}: {found:?} lacks {rule}");
    }
}

/// Checks that no guard stops these commands.
pub(crate) fn passes(commands: &[&str]) {
    for command in commands {
        let found = rules(command);
        assert!(found.is_empty(), "{command}: {found:?}");
    }
}
