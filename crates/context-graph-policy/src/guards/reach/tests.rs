use serde_json::json;

use super::*;
use crate::effects::ListedFileSystem;
use crate::{Context, Guards, guards};

fn rules(command: &str) -> Vec<String> {
    let folders = [
        "/home/dev/app/.context-graph",
        "/home/dev/app/.context-graph/data",
        "/home/dev/.config/context-graph",
    ];
    let files = [
        "/home/dev/app/.context-graph/guards.toml",
        "/home/dev/app/.context-graph/data/data.mdb",
        "/home/dev/app/.claude/settings.json",
        "/home/dev/.claude/settings.json",
        "/home/dev/.config/context-graph/trust.json",
    ];
    let fs = folders.iter().fold(ListedFileSystem::default(), |fs, path| fs.with(path, FileKind::Folder));
    let fs = files.iter().fold(fs, |fs, path| fs.with(path, FileKind::File));
    let ctx = Context { home: "/home/dev", project: "/home/dev/app", cwd: "/home/dev/app", fs: &fs };
    let guards = Guards::default();
    let input = json!({ "command": command });
    let effects = guards.effects("Bash", &input, &ctx).unwrap();
    let decision = guards::check(guards.config(), &ctx, "Bash", &input, &effects);
    decision.findings().map(|finding| finding.rule.clone()).filter(|rule| rule.starts_with("self-")).collect()
}

#[test]
fn what_is_picked_by_tests_is_known_to_be_ours() {
    for command in [
        "find . -path './.c*' -delete",
        "find . -path '*graph*' -type f -delete",
        "find . -name '*.mdb' -delete",
        "find . -iname '*.MDB' -exec rm {} +",
        "find . -name 'd?t?.m*' -exec shred -u {} \\;",
        "find /home/dev/app -maxdepth 2 -name 'guards.*' -delete",
        "find . -regex '.*/data\\.mdb' -delete",
        "find . -name '*.toml' | xargs sed -i s/deny/allow/",
        "find . -name 'settings*.json' -print0 | xargs -0 sed -i d",
        "find . ! -name '*.rs' -type f -delete",
        "find . -type f \\( -name '*.log' -o -name '*.mdb' \\) -delete",
        "find . -newer Cargo.toml -type f -delete",
        "find ~ -name 'trust.*' -delete",
        "find ~/.config -mindepth 2 -type f -exec truncate -s 0 {} +",
        "find . -name '*.mdb' -exec sh -c 'rm \"$1\"' _ {} \\;",
        "git clean -xdf -e node_modules",
        "git clean -fdX",
        "git clean -xdfe target",
        "git -C /home/dev clean -xdf app",
        "git clean -fx .context-graph",
        "git stash -a",
        "git stash push --all -m x",
    ] {
        assert!(!rules(command).is_empty(), "{command}");
    }
}

#[test]
fn what_is_picked_by_tests_and_is_not_ours_is_free() {
    for command in [
        "find . -name '*.pyc' -delete",
        "find . -name '*.mdb'",
        "find . -exec echo -delete \\; -print",
        "find . -name '*.toml' -exec cat {} +",
        "find . -name '*.toml' | xargs grep deny",
        "find . -type d -empty -delete",
        "find . -path ./.context-graph -prune -o -name '*.mdb' -exec rm {} +",
        "find src -type f -name '*.rs' -exec sed -i s/a/b/ {} +",
        "find . -not -path '*/.*' -type f -exec sed -i s/a/b/ {} +",
        "find . -maxdepth 1 -name '*.mdb' -delete",
        "find . -regex '.*\\.orig' -delete",
        "git clean -fd",
        "git clean -xdn",
        "git clean -xdf -e .context-graph",
        "git clean -xdf target",
        "git stash -u",
        "git stash show -p",
    ] {
        assert!(rules(command).is_empty(), "{command}: {:?}", rules(command));
    }
}
