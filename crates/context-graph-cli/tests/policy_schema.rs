//! The schema of policy files and the program agree: both accept and refuse the same files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::fs;

use common::Place;
use serde_json::Value;

fn is_valid(text: &str) -> bool {
    let value: Value = toml::from_str(text).unwrap();
    jsonschema::validator_for(&context_graph_cli::policy_schema()).unwrap().is_valid(&value)
}

fn is_in_order(text: &str) -> bool {
    let place = Place::new();
    place.foreign_file("policy.toml", text);
    place.run(&["policy", "check"]).code == 0
}

/// Checks that schema and program both accept the text, or both refuse it.
fn both_say(text: &str, good: bool) {
    assert_eq!((is_valid(text), is_in_order(text)), (good, good), "{text}");
}

#[test]
fn what_is_right_is_right_for_both() {
    for text in [
        "",
        "on_error = \"deny\"\nlock = true\n",
        "read_only = [\"a\"]\nno_read = [\"b/**\"]\nprotected_branches = [\"main\"]\n",
        "[guards.secrets]\nenabled = false\nverdict = \"ask\"\nreason = \"r\"\n[guards.\"secrets/read-key\"]\n",
        "[[exceptions]]\nrule = \"secrets\"\npath = \"x\"\ncommand = \"y\"\nreason = \"z\"\n",
        "[[stop_gates]]\nname = \"t\"\ncommand = \"true\"\nwhen_changed = [\"*.rs\"]\ntimeout_seconds = 3600\n",
        "[[signals]]\nname = \"s\"\ncommand = \"true\"\ntimeout_ms = 1\n",
        "[[actions]]\nname = \"a\"\nevent = \"Stop\"\ncommand = \"true\"\n",
        "[[actions]]\nevent = \"Stop\"\ncommand = \"true\"\n",
        "[[actions]]\nname = \"a\"\nevent = \"PreToolUse\"\nmatcher = \"Edit | mcp__*\"\ncommand = \"true\"\ntimeout_ms = 600000\n",
        "[programs.deployctl]\noptions = [\"-e --env=value\"]\noperands = \"value read*\"\n[[programs.deployctl.stops]]\nwhen = [\"drop\"]\n",
        "[[programs.git.stops]]\nrule = \"destructive-git/clean\"\nwhen = [\"x\"]\nsays = \"would y\"\n",
        "[builtin_config.anything]\nlist = [1, \"two\", {three = 4.5}]\n",
    ] {
        both_say(text, true);
    }
}

#[test]
fn what_is_wrong_is_wrong_for_both() {
    for text in [
        "on_eror = \"deny\"\n",
        "on_error = \"perhaps\"\n",
        "lock = 1\n",
        "read_only = [\"\"]\n",
        "read_only = \"a\"\n",
        "[guards.ghost]\nenabled = false\n",
        "[programs.x]\nopitons = []\n",
        "[programs.x]\noptions = [\"output\"]\n",
        "[programs.\"a b\"]\n",
        "[[programs.x.stops]]\nwhen = []\n",
        "[[programs.x.stops]]\nrule = \"no/such\"\nwhen = [\"y\"]\n",
        "[guards.secrets]\nverdict = \"allow\"\n",
        "[[exceptions]]\nrule = \"secrets\"\n",
        "[[exceptions]]\nrule = \"secrets\"\nreason = \" \"\n",
        "[[stop_gates]]\nname = \"t\"\n",
        "[[stop_gates]]\nname = \"t\"\ncommand = \"true\"\ntimeout_seconds = 0\n",
        "[[stop_gates]]\nname = \" \"\ncommand = \"true\"\n",
        "[[signals]]\nname = \"s\"\ncommand = \"true\"\ntimeout_ms = 600001\n",
        "[[actions]]\nname = \"a\"\ncommand = \"true\"\n",
        "[[actions]]\nname = \"a\"\nevent = \"Stopp\"\ncommand = \"true\"\n",
        "[[actions]]\nname = \"a\"\nevent = \"Stop\"\ncommand = \"\"\n",
        "[[actions]]\nname = \"a\"\nevent = \"Stop\"\ncommand = \"true\"\ntimeout_ms = 0\n",
        "[[actions]]\nname = \"a\"\nevent = \"Stop\"\nmatcher = \"Bash\"\ncommand = \"true\"\n",
        "[[actions]]\nname = \"a\"\nevent = \"PreToolUse\"\nmatcher = \"\"\ncommand = \"true\"\n",
        "[[actions]]\nname = \"a\"\nevent = \"PreToolUse\"\nmatcher = \"Bash||Edit\"\ncommand = \"true\"\n",
        "[[actions]]\nevent = \"PreToolUse\"\nmatcher = \"Edit(\"\ncommand = \"true\"\n",
        "[[actions]]\nname = \"\"\nevent = \"Stop\"\ncommand = \"true\"\n",
        "[[signals]]\nname = \"s\"\ncommand = \"\"\n",
    ] {
        both_say(text, false);
    }
}

#[test]
fn the_starter_and_what_it_shows_are_right() {
    let place = Place::new();
    assert_eq!(place.run(&["policy", "init"]).code, 0);
    let text = fs::read_to_string(place.project().join(".context-graph/policy.toml")).unwrap();
    both_say(&text, true);
    let shown = |line: &str| {
        line.strip_prefix("# ")
            .filter(|rest| rest.contains(" = ") || rest.starts_with('['))
            .map(str::to_owned)
    };
    let shown: Vec<String> = text.lines().filter_map(shown).collect();
    assert!(shown.len() > 10);
    both_say(&shown.join("\n"), true);
}

#[test]
fn what_import_writes_is_right() {
    for name in ["by_agent", "flat", "bakery"] {
        let place = Place::new();
        let folder = format!("{}/tests/cupcake/{name}", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(place.run(&["policy", "import", &folder, "--no-builtin-guards", "--partial"]).code, 0);
        let text = fs::read_to_string(place.project().join(".context-graph/policy.toml")).unwrap();
        assert!(is_valid(&text), "{text}");
    }
}
