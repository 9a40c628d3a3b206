//! Commands that write into a project or out of it: a link from the repository leads nowhere.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::Place;
use crate::stage::*;

/// A folder of the user beside the project, with a file in it.
fn victim(place: &Place) -> std::path::PathBuf {
    let folder = place.home().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("zshrc"), "mine").unwrap();
    folder
}

fn is_unharmed(folder: &std::path::Path) {
    assert_eq!(names(folder), ["zshrc"]);
    assert_eq!(fs::read_to_string(folder.join("zshrc")).unwrap(), "mine");
}

#[test]
fn generated_scripts_are_not_written_through_links() {
    for (link, to) in [
        (".claude", ""),
        (".claude/hooks", ""),
        (".claude/hooks/pre_tool_use.sh", "zshrc"),
        (".claude/hooks/pre_tool_use.sh", "new"),
    ] {
        for force in [&[][..], &["--force"]] {
            let place = Place::new();
            let mine = victim(&place);
            let at = place.project().join(link);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(mine.join(to), &at).unwrap();
            let run = place.run(&[&["hooks", "generate-config"], force].concat());
            is_unharmed(&mine);
            let is_replaced = !to.is_empty() && !force.is_empty();
            assert_eq!(run.code == 0, is_replaced, "{link} {force:?} {run:?}");
        }
    }
}

#[test]
fn an_import_is_not_written_through_links() {
    for (link, to) in
        [("policies", ""), ("signals", ""), ("policy.toml", "zshrc"), ("policies/mine.rego", "zshrc")]
    {
        for force in [&[][..], &["--force"]] {
            let place = Place::new();
            let mine = victim(&place);
            let cupcake = place.project().join(".cupcake");
            fs::create_dir_all(cupcake.join("policies/claude")).unwrap();
            fs::create_dir_all(cupcake.join("signals")).unwrap();
            fs::write(cupcake.join("signals/branch.sh"), "#!/bin/sh\necho main\n").unwrap();
            fs::write(
                cupcake.join("policies/mine.rego"),
                "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n\
                 #     required_signals: [\"branch\"]\n\
                 package cupcake.policies.mine\nimport rego.v1\ndeny contains d if { input.signals.branch == \"x\"; \
                 d := {\"rule_id\": \"A\", \"reason\": \"r\", \"severity\": \"LOW\"} }\n",
            )
            .unwrap();
            let at = state(&place).join(link);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(mine.join(to), &at).unwrap();
            let args = [&["policy", "import", cupcake.to_str().unwrap(), "--partial"], force].concat();
            let run = place.run(&args);
            is_unharmed(&mine);
            let is_replaced = !to.is_empty() && !force.is_empty();
            assert_eq!(run.code == 0, is_replaced, "{link} {force:?} {run:?}");
        }
    }
}

#[test]
fn an_import_takes_over_no_file_that_a_link_names() {
    let place = Place::new();
    let mine = victim(&place);
    let cupcake = place.project().join(".cupcake");
    fs::create_dir_all(cupcake.join("policies")).unwrap();
    symlink(&mine, cupcake.join("signals")).unwrap();
    symlink(mine.join("zshrc"), cupcake.join("rulebook.yml")).unwrap();
    place.run(&["policy", "import", cupcake.to_str().unwrap(), "--partial"]);
    is_unharmed(&mine);
    assert!(!state(&place).join("signals/zshrc").exists());
}

#[test]
fn a_plugin_is_not_written_through_links() {
    let place = Place::new();
    let mine = victim(&place);
    let plugin = place.project().join("plugin");
    fs::create_dir_all(plugin.join(".claude-plugin")).unwrap();
    fs::write(plugin.join(".claude-plugin/plugin.json"), "{\"name\": \"context-graph\"}").unwrap();
    symlink(mine.join("zshrc"), plugin.join("README.md")).unwrap();
    symlink(&mine, plugin.join("hooks")).unwrap();
    let run = place.run(&["plugin", "build", "plugin"]);
    assert_ne!(run.code, 0, "{run:?}");
    is_unharmed(&mine);
}

#[test]
fn a_fix_of_doctors_is_not_written_through_links() {
    let place = Place::new();
    let mine = victim(&place);
    hook(&place, &start("s")).succeeded();
    fs::remove_file(state(&place).join(".gitignore")).unwrap();
    symlink(mine.join("new"), state(&place).join(".gitignore")).unwrap();
    place.run(&["doctor", "--fix"]);
    is_unharmed(&mine);
}

#[test]
fn an_edited_note_of_an_installation_writes_nothing_into_the_settings() {
    let place = Place::new();
    let settings = place.project().join(".claude/settings.local.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{\n  \"model\": \"opus\"\n}\n").unwrap();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    let note = state(&place).join("install/settings.local.json.undo");
    let text = fs::read_to_string(&note).unwrap();
    // The fingerprint is not secret, so an attacker can compute a matching one.
    let theirs =
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"touch /tmp/x\"}]}]}}";
    let now = fs::read_to_string(&settings).unwrap();
    let print = |text: &str| {
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        serde_json::json!({"bytes": text.len(), "fnv1a": format!("{hash:016x}")})
    };
    let forged = serde_json::json!({
        "version": 1, "origin": "settings", "from": print(theirs), "result": print(&now),
        "steps": [[0, theirs, now]], "empty": {},
    });
    let tag = text.split_once('\n').map_or("", |(tag, _)| tag);
    for forged in [forged.to_string(), format!("{tag}\n{forged}")] {
        fs::write(&note, forged).unwrap();
        let run = place.run(&["uninstall", "--dry-run"]);
        assert!(!run.stdout.contains("touch /tmp/x"), "{run:?}");
        assert!(run.stderr.contains("was changed since we wrote it"), "{run:?}");
    }
    assert_eq!(place.run(&["uninstall", "--yes"]).code, 0);
    let left: serde_json::Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({"model": "opus"}));
}
