//! Our own state and configuration, and the client's settings that call us. Whoever can change these can switch the
//! guard off, so every tool is watched, and every way to write.

use context_graph_events::told;

use super::places::{hits, holds};
use super::{Case, Found, Guard, Rule, own_verbs};
use crate::decision::Severity;
use crate::effects::{Access, Run, Text};

static STATE: Rule = Rule::deny("self-protection/state", Severity::Critical);
static POLICY: Rule = Rule::ask("self-protection/policy", Severity::Critical);
static SETTINGS: Rule = Rule::ask("self-protection/client-settings", Severity::Critical);
static SWITCH: Rule = Rule::ask("self-protection/switch-off", Severity::Critical);
static VERB: Rule = Rule::deny("self-protection/verb", Severity::Critical);

pub(super) static GUARD: Guard = Guard {
    id: "self-protection",
    purpose: "our state, our configuration and the client's hook settings stay as they are",
    rules: &[&STATE, &POLICY, &SETTINGS, &SWITCH, &VERB],
    check,
};

const POLICY_FILES: &[&str] = &[
    "./.context-graph/policy.toml",
    "./.context-graph/policies",
    "./.context-graph/policies/**",
    "./.context-graph/policies/*.rego",
    "~/.config/context-graph",
    "~/.config/context-graph/**",
];
const STATE_FILES: &[&str] = &["**/.context-graph", "**/.context-graph/**"];
const SETTINGS_FILES: &[&str] = &[
    "**/.claude/settings.json",
    "**/.claude/settings.*.json",
    "**/.claude/settings*",
    "~/.claude/hooks",
    "~/.claude/hooks/**",
    "./.claude/hooks",
    "./.claude/hooks/**",
    "~/.claude.json",
    "/etc/claude-code/**",
    "/Library/Application Support/ClaudeCode/**",
    "C:/ProgramData/ClaudeCode/**",
    "C:/Program Files/ClaudeCode/**",
];

fn check(case: &Case<'_>, found: &mut Found) {
    for effect in &case.effects.paths {
        let target = &effect.target;
        match effect.access {
            Access::Write | Access::Delete | Access::Permissions => {}
            Access::Mention if !reads_only(&effect.by) => {}
            _ => continue,
        }
        let any = |patterns: &[&str]| patterns.iter().any(|pattern| hits(target, pattern, case.ctx));
        let shown = target.path.to_string();
        if any(POLICY_FILES) {
            found.add_at(
                &POLICY,
                shown.as_str(),
                told!("`{}` would change the guard's own configuration (`{}`).", effect.by, shown),
            );
        } else if any(STATE_FILES) {
            found.add_at(
                &STATE,
                shown.as_str(),
                told!("`{}` would change the guard's own records (`{}`).", effect.by, shown),
            );
        } else if any(SETTINGS_FILES)
            || target.places().any(|place| place.ends_with("/bin/context-graph"))
            || ((effect.access == Access::Delete
                || effect.recursive
                || effect.by == "cp" && target.literal().is_some_and(|place| replaces_folder(case, place))
                || matches!(effect.by.as_str(), "ln" | "link"))
                && holds_settings(case, target))
        {
            found.add_at(
                &SETTINGS,
                shown.as_str(),
                told!("`{}` would change the settings that call the guard (`{}`).", effect.by, shown),
            );
        }
    }
    for run in case.runs() {
        let has = |text: &str| run.args.iter().any(|arg| arg.to_string().contains(text));
        let off = match run.name.as_str() {
            "claude" => {
                let changes = run.arg(0) == "config" && !matches!(run.arg(1), "get" | "list" | "ls" | "");
                let without_us = matches!(run.arg(0), "plugin" | "mcp" | "plugins") && has("context-graph");
                let other = run.assigns.iter().any(|(name, _)| name == "CLAUDE_CONFIG_DIR");
                changes
                    || without_us
                    || other
                    || has("disableAllHooks")
                    || has("\"hooks\"")
                    || has("dangerously-skip-permissions")
                    || has("bypassPermissions")
                    || has("--setting-sources")
                    || run.has("--bare")
            }
            "pkill" | "killall" => has("context-graph") || run.has("claude"),
            "kill" => run.args.iter().any(Text::has_hole) && case.runs().any(looks_up_guard),
            "cargo" | "brew" | "npm" => has("uninstall") && has("context-graph"),
            _ => false,
        };
        if rewrites_hooks(run) {
            found.add(&SETTINGS, told!("`{}` would change hooks in files that cannot be seen.", run.name));
        }
        if off {
            found.add(&SWITCH, told!("`{}` would switch the guard off.", run.name));
        }
        if let Some(verb) = own_verbs::change(case, run) {
            found.add(
                &VERB,
                told!("`context-graph {}` is for the user's own terminal, not for an agent.", verb),
            );
        }
    }
}

/// Whether a program looks for the guard's processes, most often to hand them to `kill`.
fn looks_up_guard(run: &Run) -> bool {
    matches!(run.name.as_str(), "pidof" | "pgrep")
        && run.args.iter().any(|arg| arg.known().contains("context-graph"))
}

/// Whether names of hooks are replaced in files that only the run itself finds.
fn rewrites_hooks(run: &Run) -> bool {
    let telling = ["PreToolUse", "PostToolUse", "\"hooks\"", "context-graph hooks"];
    matches!(run.name.as_str(), "sed" | "gsed" | "perl")
        && run.args.iter().any(|arg| arg.prefix().starts_with("-i") || arg.prefix().starts_with("-pi"))
        && run.args.iter().any(|arg| telling.iter().any(|word| arg.known().contains(word)))
        && run.args.iter().any(Text::has_hole)
}

/// Whether a copy brings a whole folder of settings of its own: `cp -r elsewhere/.claude .`
fn replaces_folder(case: &Case<'_>, place: &str) -> bool {
    place.ends_with("/.claude")
        && case.effects.paths.iter().any(|effect| {
            effect.access == Access::Read
                && effect.by == "cp"
                && effect.recursive
                && effect.target.literal().is_some_and(|source| source.ends_with("/.claude"))
        })
}

/// Removing or moving a folder takes the settings in it along.
fn holds_settings(case: &Case<'_>, target: &crate::effects::Target) -> bool {
    let project = case.ctx.project.trim_end_matches('/');
    let home = case.ctx.home.trim_end_matches('/');
    [format!("{project}/.claude"), format!("{home}/.claude"), format!("{home}/.config/context-graph")]
        .iter()
        .any(|folder| holds(target, folder))
}

/// Programs that are handed a path and do not change it.
fn reads_only(by: &str) -> bool {
    matches!(
        by,
        "git add"
            | "git show"
            | "git diff"
            | "docker"
            | "podman"
            | "jsonlint"
            | "ajv"
            | "cargo"
            | "go"
            | "gh"
            | "claude"
            | "context-graph"
            | "check-jsonschema"
            | "ls"
            | "open"
            | "shellcheck"
            | "opa"
            | "regal"
            | "conftest"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{passes, rules_of, stops};

    #[test]
    fn every_way_to_write_is_met() {
        stops(&[
            ("rm -r $(printf .context)-graph", "self-protection/state"),
            ("echo x > .context-graph/data/log", "self-protection/state"),
            ("sed -i s/deny/allow/ .claude/settings.json", "self-protection/client-settings"),
            ("echo '{}' | tee ~/.claude/settings.json", "self-protection/client-settings"),
            ("echo > link", "self-protection/client-settings"),
            ("python3 -c \"open('.context-graph/policy.toml','w').write('')\"", "self-protection/policy"),
            ("mv .claude .c", "self-protection/client-settings"),
            ("cp evil.toml .context-graph/policy.toml", "self-protection/policy"),
            ("context-graph uninstall", "self-protection/verb"),
            ("claude config set hooks '{}'", "self-protection/switch-off"),
            ("ln -sfn /tmp/c .claude", "self-protection/client-settings"),
            ("rm $(which context-graph)", "self-protection/client-settings"),
        ]);
    }

    #[test]
    fn every_tool_is_met() {
        let found = rules_of(
            "mcp__files__write_file",
            &json!({"path": "/proj/app/.context-graph/policy.toml", "content": ""}),
        );
        assert_eq!(found, ["self-protection/policy"]);
        let found = rules_of(
            "Edit",
            &json!({"file_path": "/proj/app/.claude/settings.local.json", "old_string": "a", "new_string": "b"}),
        );
        assert_eq!(found, ["self-protection/client-settings"]);
    }

    #[test]
    fn reading_is_free_and_neighbours_are_not_meant() {
        passes(&[
            "cat .claude/settings.json",
            "jq .hooks .claude/settings.json",
            "ls .context-graph",
            "echo x > .claude/commands/review.md",
            "rm -rf .claude/skills/old",
            "jq . a.json > \"$f.json\"",
            "chmod 755 bin/*",
            "claude config list",
        ]);
    }
}
