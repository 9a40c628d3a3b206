//! Installation and configuration: the plugin, the configuration in force, and what `init` prints.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::{Place, Run};
use context_graph_settings::{NEWEST_KNOWN_CLIENT, PlanOptions, default_plan};
use serde_json::{Value, json};

/// The project's local settings, which `init` writes.
const LOCAL: &str = ".claude/settings.local.json";

fn read(place: &Place, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(place.project().join(name)).unwrap()).unwrap()
}

#[test]
fn a_plugin_has_the_same_hooks_as_init() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    assert_eq!(place.run(&["plugin", "build", "plug"]).code, 0);
    let (plugin, settings) = (read(&place, "plug/hooks/hooks.json"), read(&place, LOCAL));
    assert_eq!(plugin["hooks"], settings["hooks"]);
    assert_eq!(read(&place, "plug/.claude-plugin/plugin.json")["name"], "context-graph");
    let readme = std::fs::read_to_string(place.project().join("plug/README.md")).unwrap();
    assert!(readme.split_whitespace().count() >= 40, "Claude Code's directory asks for forty words");
}

#[test]
fn a_home_that_is_not_taken_is_said_instead_of_writing_elsewhere() {
    let place = Place::new();
    for home in ["relative", "/tmp/a/../b"] {
        let output = place.command(&["init", "--user", "--yes"]).env("HOME", home).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("HOME is not a plain absolute path"),
            "{said}"
        );
    }
}

#[test]
fn a_plugin_can_be_built_again_but_not_over_something_else() {
    let place = Place::new();
    assert_eq!(place.run(&["plugin", "build", "plug"]).code, 0);
    assert_eq!(place.run(&["plugin", "build", "plug", "--portable"]).code, 0);
    assert_eq!(
        read(&place, "plug/hooks/hooks.json")["hooks"]["Stop"][0]["hooks"][0]["command"],
        "context-graph"
    );
    std::fs::create_dir(place.project().join("other")).unwrap();
    std::fs::write(place.project().join("other/file"), "x").unwrap();
    let run = place.run(&["plugin", "build", "other"]);
    assert!(run.code == 1 && run.stderr.contains("--force"), "{run:?}");
    assert!(!place.project().join("other/hooks").exists());
}

#[test]
fn a_bundled_plugin_answers_from_its_own_folder() {
    let place = Place::new();
    let run = place.run(&["plugin", "build", "plug", "--bundle", "--json"]);
    assert_eq!(run.json()["events"], 29, "{run:?}");
    let entry = &read(&place, "plug/hooks/hooks.json")["hooks"]["Stop"][0]["hooks"][0];
    let program = entry["command"]
        .as_str()
        .unwrap()
        .replace("${CLAUDE_PLUGIN_ROOT}", place.project().join("plug").to_str().unwrap());
    let mut command = std::process::Command::new(program);
    command.args(entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    command
        .env("CLAUDE_PROJECT_DIR", place.project())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let event = json!({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "/", "stop_hook_active": false});
    common::send(command, event.to_string().as_bytes()).succeeded();
}

/// The origin of a value in `config show`.
fn origin(list: &Value, key: &str) -> (Value, String) {
    let found = list
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["key"] == key)
        .unwrap_or_else(|| panic!("no {key} in {list:#}"));
    (found["value"].clone(), found["origin"].as_str().unwrap().to_owned())
}

#[test]
fn every_value_in_force_is_shown_with_where_it_comes_from() {
    let place = Place::new();
    place.foreign_file("config.toml", "[inject]\nhint_below = 0.6\n");
    place.trusted_file("policy.toml", "read_only = [\"LICENSE\"]\n");
    let user = place.project().join("../home/.config/context-graph");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("policy.toml"), "on_error = \"deny\"\n").unwrap();
    let show = |args: &[&str]| -> Value {
        let run = place.run(&[&["config", "show", "--json"], args].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let list = show(&[]);
    assert_eq!(origin(&list, "inject.hint_below"), (json!(0.6), "project_file".to_owned()));
    assert_eq!(origin(&list, "inject.crisis"), (json!(true), "default".to_owned()));
    let described = list.as_array().unwrap().iter().find(|it| it["key"] == "inject.hint_below").unwrap();
    assert!(
        described["description"].as_str().unwrap().contains("drift") && described["default"] == json!(0.5),
        "{described}"
    );
    assert_eq!(origin(&list, "continuity.crisis_below"), (json!(0.5), "default".to_owned()));
    assert_eq!(origin(&list, "policy.on_error"), (json!("deny"), "user_file".to_owned()));
    assert_eq!(origin(&list, "policy.read_only"), (json!(["LICENSE"]), "project_file".to_owned()));
    assert_eq!(origin(&list, "project").1, "environment");
    assert_eq!(origin(&list, "database").1, "default");
    let list = show(&["--db-path", "elsewhere", "--project", "."]);
    assert_eq!(
        (origin(&list, "database").1, origin(&list, "project").1),
        ("flag".to_owned(), "flag".to_owned())
    );
    let text = place.run(&["config", "show"]).stdout;
    assert!(text.contains("0.6") && text.contains("project file") && text.contains("user file"), "{text}");
}

#[cfg(unix)]
#[test]
fn every_setting_is_described_on_every_terminal_and_one_can_be_asked_about() {
    let place = Place::new();
    assert_eq!(place.run(&["config", "set", "inject.hint_below", "0.6"]).code, 0);
    let describes = "The model is told of drift";
    for columns in [60, 120, 200] {
        let shown = place.on_terminal(&["config", "show", "inject"], columns).end().stdout;
        assert!(shown.contains(describes) && shown.contains("default 0.5"), "{columns}: {shown}");
        assert!(!shown.contains("retention."), "{columns}: {shown}");
        let is_typed = |line: &&str| !line.contains("config.toml");
        let widest = shown.lines().filter(is_typed).map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns.into()), "{columns}: {shown}");
    }
    let one = place.run(&["config", "show", "inject.enabled"]);
    assert_eq!(one.stdout, "inject.enabled = true  (default)\n    Whether anything is added at all.\n");
    let list = place.run(&["config", "show", "inject.enabled", "--json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&list).unwrap().as_array().map(Vec::len), Some(1));
    let wrong = place.run(&["config", "show", "inject.enabld"]);
    assert!(wrong.code == 1 && wrong.stderr.contains("perhaps `inject.enabled`?"), "{wrong:?}");
}

#[test]
fn what_is_set_is_in_force_and_the_project_goes_before_the_user() {
    let place = Place::new();
    let show = |key: &str| {
        let run = place.run(&["config", "show", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        origin(&serde_json::from_str(&run.stdout).unwrap(), key)
    };
    let own = place.home().join(".config/context-graph/config.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "# mine\n[inject]\nhint_below = 0.4 # low\ncrisis = false\n").unwrap();
    assert_eq!(show("inject.hint_below"), (json!(0.4), "user_file".to_owned()));
    let run = place.run(&["config", "set", "--user", "inject.hint_below", "0.3"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = std::fs::read_to_string(&own).unwrap();
    assert!(
        text.starts_with("# mine\n[inject]\nhint_below = 0.3") && text.contains("crisis = false"),
        "{text}"
    );
    assert_eq!(place.run(&["config", "set", "inject.hint_below", "0.7"]).code, 0);
    assert_eq!(place.run(&["config", "set", "audit.heads_file", "~/heads"]).code, 0);
    assert_eq!(show("inject.hint_below"), (json!(0.7), "project_file".to_owned()));
    assert_eq!(show("audit.heads_file"), (json!("~/heads"), "project_file".to_owned()));
    assert_eq!(
        show("inject.crisis"),
        (json!(false), "user_file".to_owned()),
        "what the project leaves open is the user's"
    );
    for (key, value) in
        [("inject.hint", "1"), ("inject.hint_below", "7"), ("inject.enabled", "perhaps"), ("enabled", "true")]
    {
        assert_eq!(place.run(&["config", "set", key, value]).code, 1, "{key}");
    }
    assert_eq!(show("inject.hint_below").0, json!(0.7));
    let mut agent = place.command(&["config", "set", "inject.enabled", "false"]);
    agent.env("CLAUDECODE", "1");
    assert_eq!(common::send(agent, b"").code, 1);
    let run = place.run(&["config", "set", "inject.hint_below", "low"]);
    assert!(run.stderr.contains("inject.hint_below = low: ") && !run.stderr.contains("line "), "{run:?}");
    // A file with something else where the table belongs.
    let good = std::fs::read(&own).unwrap();
    std::fs::write(&own, "inject = 5\n").unwrap();
    let run = place.run(&["config", "set", "--user", "inject.enabled", "true"]);
    assert!(run.code == 1 && run.stderr.contains("`inject` is not a table"), "{run:?}");
    std::fs::write(&own, good).unwrap();
    // Without a terminal, only an editor that the user names is started.
    let run = place.run(&["config", "edit"]);
    assert!(run.code == 1 && run.stderr.contains("config set KEY VALUE"), "{run:?}");
    // An editor that fails changes nothing.
    let before = std::fs::read(&own).unwrap();
    let mut failing = place.command(&["config", "edit", "--user"]);
    failing.env("EDITOR", "sed -i s/0.3/0.9/;false").env("PATH", "/usr/bin:/bin");
    let run = common::send(failing, b"");
    assert!(run.code == 1 && run.stderr.contains("nothing was changed"), "{run:?}");
    assert_eq!(std::fs::read(&own).unwrap(), before);
    // The edited file is checked.
    let mut edit = place.command(&["config", "edit", "--user"]);
    edit.env("EDITOR", "sed -i s/0.3/9.0/").env("PATH", "/usr/bin:/bin");
    let run = common::send(edit, b"");
    assert!(run.code == 1 && run.stderr.contains("between 0 and 1"), "{run:?}");
}

#[test]
fn an_untrusted_project_loosens_nothing_that_the_user_set() {
    let place = Place::new();
    let own = place.home().join(".config/context-graph/config.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "[storage]\nsync = \"every_event\"\n[inject]\nenabled = false\n").unwrap();
    place.foreign_file("config.toml", "[storage]\nsync = \"turns\"\n[inject]\nenabled = true\n");
    let list: Value = serde_json::from_str(&place.run(&["config", "show", "--json"]).stdout).unwrap();
    assert_eq!(origin(&list, "storage.sync").0, json!("every_event"));
    assert_eq!(origin(&list, "inject.enabled").0, json!(false));
    place.trust();
    let list: Value = serde_json::from_str(&place.run(&["config", "show", "--json"]).stdout).unwrap();
    assert_eq!(origin(&list, "storage.sync").0, json!("turns"));
}

#[test]
fn a_configuration_with_a_mistake_is_shown_as_it_is_in_force_and_complained_about() {
    let place = Place::new();
    place.trusted_file("config.toml", "[inject]\nhint = 0.6\n");
    let run = place.run(&["config", "show", "--json"]);
    assert!(run.code == 1 && run.stderr.contains("line 2"), "{run:?}");
    let list: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(origin(&list, "inject.hint_below"), (json!(0.5), "default".to_owned()));
}

#[test]
fn the_files_and_the_schema_are_told() {
    let place = Place::new();
    let run = place.run(&["config", "path", "--json"]);
    let list: Value = serde_json::from_str(&run.stdout).unwrap();
    let config = list.as_array().unwrap().iter().find(|it| it["what"] == "configuration").unwrap();
    assert_eq!((&config["exists"], run.code), (&json!(false), 0));
    assert!(config["path"].as_str().unwrap().ends_with(".context-graph/config.toml"));
    assert!(place.run(&["config", "path"]).stdout.contains("managed-settings.json"));
    let schema: Value = serde_json::from_str(&place.run(&["config", "schema"]).stdout).unwrap();
    assert_eq!(schema, context_graph_cli::config_schema());
}

#[test]
fn init_says_which_events_it_leaves_out_and_why() {
    let place = Place::new();
    let run = place.run(&["init", "--dry-run"]);
    let plan = default_plan("x", Some(NEWEST_KNOWN_CLIENT), &PlanOptions::default());
    assert!(run.stdout.contains(&format!("{} of 33 events", plan.hooks.len())), "{run:?}");
    for (event, why) in [
        ("WorktreeCreate", "git"),
        ("MessageDisplay", "fires often"),
        ("FileChanged", "matcher"),
        ("InstructionsLoaded", "waits"),
    ] {
        assert!(
            run.stdout.lines().any(|line| line.trim().starts_with(event) && line.contains(why)),
            "{event}: {run:?}"
        );
    }
    let told = place.run(&["init", "--dry-run", "--json"]).json();
    assert_eq!(told["left_out"].as_object().unwrap().len(), 33 - plan.hooks.len());
}

#[test]
fn init_says_in_a_few_lines_what_changes_and_every_line_only_when_asked() {
    let place = Place::new();
    let settings = place.project().join(LOCAL);
    std::fs::create_dir(settings.parent().unwrap()).unwrap();
    let own = json!({"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}});
    let own = format!("{own:#}\n");
    std::fs::write(&settings, &own).unwrap();
    let events = default_plan("x", Some(NEWEST_KNOWN_CLIENT), &PlanOptions::default()).hooks.len();
    let every_line = |run: &Run| run.stdout.contains("\n+") && run.stdout.contains("@@");

    for all in [["init", "--dry-run"], ["init", "--diff"]] {
        assert!(every_line(&place.run(&all)), "{all:?}");
    }
    let run = place.run(&["init", "--yes"]);
    assert!(run.code == 0 && !every_line(&run) && run.stdout.lines().count() < 30, "{run:?}");
    for said in [
        settings.to_str().unwrap(),
        &format!("add {events} hooks for {events} events"),
        "leave alone: 1 other hook and 1 other setting",
        "--diff",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:?}");
    }
    let run = place.run(&["uninstall", "--yes"]);
    assert!(run.stdout.contains("byte for byte") && !every_line(&run), "{run:?}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), own);
}

#[test]
fn init_goes_by_the_version_of_the_client_that_it_finds() {
    let place = Place::new();
    let bin = place.project().join("../home/.local/bin");
    common::write_program(&bin.join("claude"), "#!/bin/sh\necho '2.1.60 (Claude Code)'\n");
    let run = place.run(&["init", "--yes"]);
    assert!(run.code == 0 && run.stdout.contains("Claude Code: 2.1.60\n"), "{run:?}");
    assert!(run.stdout.contains("Claude Code 2.1.60 does not know it; 2.1.118 does"), "{run:?}");
    let hooks = read(&place, LOCAL)["hooks"].clone();
    assert!(hooks.get("PostToolBatch").is_none() && hooks.get("PreToolUse").is_some());
    let entry = &hooks["PreToolUse"][0]["hooks"][0];
    assert!(
        entry.get("args").is_none()
            && entry["command"].as_str().unwrap().ends_with(" hooks pre-tool --stdin"),
        "{entry}"
    );
}

#[test]
fn init_asks_for_whom_and_takes_nothing_for_only_me() {
    for (answer, file) in [
        ("\n", LOCAL),
        ("me\n", LOCAL),
        ("e\n", ".claude/settings.json"),
        ("everybody\n", ".claude/settings.json"),
    ] {
        let place = Place::new();
        let mut init = place.on_terminal(&["init"], 120);
        init.expect("For everybody in this repository, or only for me?").press(answer);
        init.expect("Write this?").press("y\n");
        let run = init.end();
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("context-graph completions --help"), "{run:?}");
        let written: Vec<_> = std::fs::read_dir(place.project().join(".claude")).unwrap().collect();
        assert!(written.len() == 1 && place.project().join(file).is_file(), "{answer:?}: {run:?}");
        // Already installed: the question is not asked again.
        assert!(place.run(&["init"]).stdout.contains("nothing to do"));
    }
}

/// A failed edit creates no configuration file, and the project's files stay trusted.
#[test]
fn an_editor_that_fails_leaves_a_project_without_a_configuration_as_it_was() {
    let place = Place::new();
    assert_eq!(
        place
            .run(&["policy", "allow", "destructive-git/force-push", "--command", "git push -f", "--yes"])
            .code,
        0
    );
    let mut edit = place.command(&["config", "edit"]);
    edit.env("EDITOR", "false").env("PATH", "/usr/bin:/bin");
    let run = common::send(edit, b"");
    assert!(run.code == 1 && run.stderr.contains("nothing was changed"), "{run:?}");
    assert!(!place.project().join(".context-graph/config.toml").exists());
    let run = place.run(&["policy", "list"]);
    assert!(!run.stderr.contains("that you trusted"), "{run:?}");
}

#[test]
fn an_answer_that_is_neither_is_asked_for_again() {
    let place = Place::new();
    let mut init = place.on_terminal(&["init"], 120);
    init.expect("shown before anything is written").expect("only for me?").press("y\n");
    init.expect("please answer `everybody` or `me`").press("me\n");
    init.expect("Write this?").press("n\n");
    assert_eq!(init.end().code, 1);
}

#[test]
fn in_the_home_the_users_own_settings_are_not_taken_for_others() {
    let place = Place::new();
    let in_home = |args: &[&str]| {
        let mut command = place.command(args);
        command.current_dir(place.home()).env("CLAUDE_PROJECT_DIR", place.home());
        common::send(command, b"")
    };
    let run = in_home(&["init", "--user", "--yes"]);
    assert!(run.code == 0 && !run.stderr.contains("both would run"), "{run:?}");
    assert_eq!(in_home(&["uninstall", "--user", "--yes", "--purge"]).code, 0);
    let run = in_home(&["init", "--yes"]);
    assert!(run.code == 0 && run.stderr.contains("`context-graph init --user`"), "{run:?}");
}

/// Runs an event's command line as the client does.
fn run_line(place: &Place, event: &str, path: &str) -> Run {
    let hooks = read(place, ".claude/settings.json")["hooks"].clone();
    let line = hooks[event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &line]).env_clear().env("HOME", place.home()).env("PATH", path);
    command.env("CLAUDE_PROJECT_DIR", place.project());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let payload = match event {
        "PreToolUse" => {
            json!({"hook_event_name": event, "session_id": "s", "transcript_path": "", "cwd": "/",
            "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "tool_use_id": "t"})
        }
        _ => {
            json!({"hook_event_name": event, "session_id": "s", "transcript_path": "", "cwd": "/", "source": "startup"})
        }
    };
    common::send(command, payload.to_string().as_bytes())
}

#[test]
fn shared_settings_are_harmless_where_the_program_is_missing() {
    let place = Place::new();
    let run = place.run(&["init", "--yes", "--shared"]);
    assert!(run.code == 0 && run.stderr.contains("nothing is guarded"), "{run:?}");
    let text = std::fs::read_to_string(place.project().join(".claude/settings.json")).unwrap();
    assert!(!text.contains(env!("CARGO_BIN_EXE_context-graph")) && !text.contains("onFailure"), "{text}");
    let told = run_line(&place, "SessionStart", "/usr/bin:/bin");
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.json()["systemMessage"].as_str().unwrap().contains("https://"), "{told:?}");
    let silent = run_line(&place, "PreToolUse", "/usr/bin:/bin");
    assert_eq!((silent.code, &*silent.stdout, &*silent.stderr), (0, "", ""));
    // If the program is there, it guards.
    let bin = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_context-graph"), bin.path().join("context-graph"))
        .unwrap();
    let guarded = run_line(&place, "PreToolUse", &format!("{}:/usr/bin:/bin", bin.path().display()));
    assert_eq!(guarded.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    // The hooks are recognised: nothing to update, and they can be removed.
    assert!(place.run(&["init", "--yes"]).stdout.contains("nothing to do"));
    assert_eq!(place.run(&["uninstall", "--shared", "--yes"]).code, 0);
    assert!(!place.project().join(".claude").exists());
}

#[test]
fn whoever_requires_the_program_has_calls_blocked_where_it_is_missing() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes", "--require"]).code, 1, "only for shared settings");
    assert_eq!(place.run(&["init", "--yes", "--shared", "--require"]).code, 0);
    let entry = read(&place, ".claude/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0].clone();
    assert_eq!(entry["onFailure"], "block");
    let refused = run_line(&place, "PreToolUse", "/usr/bin:/bin");
    assert!(refused.code == 2 && refused.stderr.contains("https://"), "{refused:?}");
    assert_eq!(run_line(&place, "SessionStart", "/usr/bin:/bin").code, 0);
    // A later `init` does not loosen it.
    assert!(place.run(&["init", "--yes", "--shared"]).stdout.contains("nothing to do"));
}

#[test]
fn ones_own_settings_do_not_get_into_commits_unnoticed() {
    let place = Place::new();
    let git = |args: &[&str]| {
        let done =
            std::process::Command::new("git").args(args).current_dir(place.project()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    let init = |place: &Place| {
        let mut command = place.command(&["init", "--yes"]);
        command.env("PATH", "/usr/bin:/bin");
        common::send(command, b"")
    };
    let run = init(&place);
    assert!(run.code == 0 && run.stderr.contains(".git/info/exclude"), "{run:?}");
    assert_eq!(place.run(&["uninstall", "--yes"]).code, 0);
    std::fs::write(place.project().join(".git/info/exclude"), ".claude/settings.local.json\n").unwrap();
    let run = init(&place);
    assert!(run.code == 0 && !run.stderr.contains("exclude"), "{run:?}");
}

#[test]
fn rules_and_configuration_can_be_committed_and_state_cannot() {
    let place = Place::new();
    let git = |args: &[&str]| {
        let done =
            std::process::Command::new("git").args(args).current_dir(place.project()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    assert_eq!(place.run(&["policy", "init"]).code, 0);
    for file in ["config.toml", "policies/team/rule.rego", "signals/x.sh"] {
        place.foreign_file(file, "");
    }
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "transcript_path": "", "cwd": "/", "prompt": "hi"});
    place.send(&["hooks", "event"], event.to_string()).succeeded();
    let status = git(&["status", "--porcelain", "--untracked-files=all", ".context-graph"]);
    let mut taken: Vec<&str> =
        status.lines().filter_map(|line| line.strip_prefix("?? .context-graph/")).collect();
    taken.sort_unstable();
    assert_eq!(taken, ["config.toml", "policies/team/rule.rego", "policy.toml", "signals/x.sh"]);
}

#[test]
fn portable_settings_name_no_path_of_this_machine() {
    let place = Place::new();
    let run = place.run(&["init", "--yes", "--portable"]);
    assert!(run.code == 0 && run.stderr.contains("not on the PATH"), "{run:?}");
    let text = std::fs::read_to_string(place.project().join(LOCAL)).unwrap();
    assert!(text.contains("\"context-graph\"") && !text.contains('/'), "{text}");
}

#[test]
fn a_switch_that_turns_hooks_off_is_told_wherever_it_stands() {
    let place = Place::new();
    let user = place.project().join("../home/.claude");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("settings.json"), "{\"disableAllHooks\": true}").unwrap();
    let run = place.run(&["init", "--yes"]);
    assert!(run.code == 0 && run.stderr.contains("disableAllHooks"), "{run:?}");
    let copy = std::fs::read_dir(place.project().join(".context-graph/install")).unwrap();
    for file in copy {
        assert_eq!(
            file.unwrap().metadata().unwrap().permissions().mode() & 0o077,
            0,
            "a copy of settings is private"
        );
    }
}

#[test]
fn the_users_settings_are_where_the_client_looks_for_them() {
    let place = Place::new();
    let folder = place.project().join("elsewhere");
    let mut command = place.command(&["init", "--user", "--yes"]);
    command.env("CLAUDE_CONFIG_DIR", &folder);
    assert_eq!(common::send(command, b"").code, 0);
    assert!(folder.join("settings.json").is_file());
    assert!(!place.project().join("../home/.claude").exists());
}

#[test]
fn scripts_in_another_folder_are_known_again_and_fail_closed() {
    let place = Place::new();
    let generate = ["hooks", "generate-config", "--output-dir", "scripts"];
    assert_eq!(place.run(&generate).code, 0);
    assert_eq!(place.run(&[&generate[..], &["--force", "--shell", "zsh"]].concat()).code, 0);
    let groups = read(&place, ".claude/settings.json")["hooks"]["PreToolUse"].as_array().unwrap().clone();
    assert_eq!(groups.len(), 1, "one shell's scripts take the place of another's: {groups:?}");
    assert_eq!(groups[0]["hooks"][0]["onFailure"], "block");
    assert_eq!(place.run(&["uninstall", "--shared", "--yes"]).code, 0);
    assert!(!place.project().join(".claude").exists());
}

#[test]
fn what_init_registered_is_not_lost_without_a_word() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes", "--shared"]).code, 0);
    let run = place.run(&["hooks", "generate-config"]);
    assert!(run.stdout.contains("were taken out"), "{run:?}");
}

#[test]
fn generated_scripts_pass_shellcheck() {
    let there = std::process::Command::new("shellcheck").arg("--version").output().is_ok();
    if !there {
        println!("skipped: shellcheck is not installed");
        return;
    }
    let place = Place::new();
    for (shell, dialect) in [("bash", "bash"), ("zsh", "bash")] {
        assert_eq!(place.run(&["hooks", "generate-config", "--shell", shell, "--output-dir", shell]).code, 0);
        for script in std::fs::read_dir(place.project().join(shell)).unwrap() {
            let checked = std::process::Command::new("shellcheck")
                .args(["-s", dialect])
                .arg(script.unwrap().path())
                .output()
                .unwrap();
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
        }
    }
}
