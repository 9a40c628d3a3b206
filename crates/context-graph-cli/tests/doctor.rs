//! `doctor` on a healthy installation, and on installations with a planted fault.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use common::{Place, Run, copy_program, each, write_program};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_context-graph");

/// An installation for `doctor` to examine.
struct Patient {
    place: Place,
}

impl Patient {
    fn new() -> Self {
        let place = Place::new();
        std::fs::create_dir(place.project().join(".git")).unwrap();
        std::fs::create_dir(place.project().join("bin")).unwrap();
        let patient = Self { place };
        patient.client("2.1.325");
        let run = patient.run(&["init", "--yes"]);
        assert_eq!(run.code, 0, "{run:?}");
        patient
    }

    fn project(&self) -> PathBuf {
        self.place.project()
    }

    fn home(&self) -> PathBuf {
        self.project().join("../home").canonicalize().unwrap()
    }

    fn settings(&self) -> PathBuf {
        self.project().join(".claude/settings.local.json")
    }

    fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.project().join("bin").display())
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = self.place.command(args);
        common::send(
            {
                command.env("PATH", self.path());
                command
            },
            b"",
        )
    }

    /// Puts a client of this version on the `PATH`.
    fn client(&self, version: &str) {
        self.script("bin/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        write_program(&path, text);
        path
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Changes the project's settings.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut settings: Value = serde_json::from_str(&read(&self.settings())).unwrap();
        change(&mut settings);
        std::fs::write(self.settings(), format!("{settings:#}")).unwrap();
    }

    fn edit_guard(&self, change: impl FnOnce(&mut Value)) {
        self.edit(|settings| change(&mut settings["hooks"]["PreToolUse"][0]["hooks"][0]));
    }

    /// Replaces the program in all our commands.
    fn run_instead(&self, program: &Path) {
        let text = read(&self.settings());
        let old = serde_json::from_str::<Value>(&text).unwrap();
        let old = old["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
        std::fs::write(self.settings(), text.replace(old, program.to_str().unwrap())).unwrap();
    }

    /// The settings that a team commits; `hooks generate-config` writes them.
    fn shared_settings(&self) -> PathBuf {
        self.project().join(".claude/settings.json")
    }

    /// Moves the project's settings to the user, because `doctor` does not run what a project names.
    fn register_for_the_user(&self) {
        let own = self.home().join(".claude/settings.json");
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        let there = [self.settings(), self.shared_settings()].into_iter().find(|path| path.exists());
        std::fs::rename(there.unwrap(), own).unwrap();
    }

    fn diagnosis(&self) -> Diagnosis {
        let run = self.run(&["doctor", "--json"]);
        Diagnosis {
            code: run.code,
            value: serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run:?}")),
        }
    }

    fn event(&self, event: Value) -> Run {
        self.place.send(&["hooks", "event"], event.to_string())
    }
}

struct Diagnosis {
    code: i32,
    value: Value,
}

impl Diagnosis {
    fn results(&self) -> Vec<&Value> {
        self.value["checks"].as_array().unwrap().iter().filter(|it| it["level"] != "ok").collect()
    }

    /// Expects a result of this level with this text and this fix.
    fn assert_finds(&self, level: &str, what: &str, fix: &str) {
        let has =
            |it: &Value, key: &str, word: &str| it[key].as_str().is_some_and(|text| text.contains(word));
        let found = self
            .results()
            .into_iter()
            .any(|it| it["level"] == level && has(it, "what", what) && has(it, "fix", fix));
        assert!(found, "no {level} with `{what}` and fix `{fix}` in {:#}", self.value);
        let broken = self.results().iter().any(|it| it["level"] == "broken");
        assert_eq!(self.code, i32::from(broken), "{:#}", self.value);
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn stop(session: &str) -> Value {
    json!({"hook_event_name": "Stop", "session_id": session, "transcript_path": "", "cwd": "/", "stop_hook_active": false})
}

#[test]
fn a_healthy_installation_has_nothing_to_report() {
    let patient = Patient::new();
    let diagnosis = patient.diagnosis();
    assert!(diagnosis.results().is_empty(), "{:#}", diagnosis.value);
    assert_eq!((diagnosis.code, &diagnosis.value["client"]), (0, &json!("2.1.325")));
    assert!(
        !patient.project().join(".context-graph/live/context-graph-doctor.journal").exists(),
        "the trial left a trace"
    );
    let checks: Vec<&str> = diagnosis.value["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["check"].as_str().unwrap())
        .collect();
    for check in [
        "settings", "hooks", "events", "switches", "binary", "client", "trial", "guard", "cost", "evidence",
        "policy", "config", "disk", "state",
    ] {
        assert!(checks.contains(&check), "{check} is not among {checks:?}");
    }
    let run = patient.run(&["doctor"]);
    assert!(
        run.code == 0 && run.stdout.ends_with("All is well.\n") && !run.stdout.contains('\x1b'),
        "{run:?}"
    );
    assert!(run.stdout.lines().count() <= 5, "what is well is folded: {run:?}");
}

#[test]
fn a_used_installation_has_no_finding_either() {
    let patient = Patient::new();
    patient.event(stop("s1")).succeeded();
    let diagnosis = patient.diagnosis();
    assert!(diagnosis.results().is_empty(), "{:#}", diagnosis.value);
}

#[test]
fn a_look_leaves_nothing_behind() {
    let patient = Patient::new();
    let files = || {
        let private = patient.home().join(".config/context-graph/private");
        let names = |folder: &str| std::fs::read_dir(private.join(folder)).map_or(0, Iterator::count);
        (names("heads"), names("reached"))
    };
    let before = files();
    patient.diagnosis();
    assert_eq!(files(), before);
}

#[test]
fn a_shared_installation_is_tried_and_healthy() {
    let patient = Patient::new();
    std::os::unix::fs::symlink(BINARY, patient.project().join("bin/context-graph")).unwrap();
    assert_eq!(patient.run(&["uninstall", "--yes"]).code, 0);
    assert_eq!(patient.run(&["init", "--yes", "--shared"]).code, 0);
    let diagnosis = patient.diagnosis();
    assert!(diagnosis.results().is_empty(), "{:#}", diagnosis.value);
}

#[test]
fn shared_settings_need_the_program_on_the_path_and_writing_them_again_is_no_fix() {
    let patient = Patient::new();
    assert_eq!(patient.run(&["uninstall", "--yes"]).code, 0);
    assert_eq!(patient.run(&["init", "--yes", "--shared"]).code, 0);
    let diagnosis = patient.diagnosis();
    let results = diagnosis.results();
    let result = results.iter().find(|it| it["check"] == "binary").unwrap();
    let fix = result["fix"].as_str().unwrap();
    let folder = Path::new(BINARY).canonicalize().unwrap();
    assert!(fix.contains("PATH") && fix.contains(folder.parent().unwrap().to_str().unwrap()), "{fix}");
    assert!(!fix.contains("init"), "{fix}");
}

#[test]
fn a_portable_installation_is_as_healthy() {
    let patient = Patient::new();
    std::os::unix::fs::symlink(BINARY, patient.project().join("bin/context-graph")).unwrap();
    assert_eq!(patient.run(&["init", "--yes", "--portable"]).code, 0);
    let diagnosis = patient.diagnosis();
    assert!(diagnosis.results().is_empty(), "{:#}", diagnosis.value);
    patient.edit_guard(|it| it["timeout"] = json!(0));
    assert_eq!(patient.run(&["doctor", "--fix"]).code, 0);
    let settings: Value = serde_json::from_str(&read(&patient.settings())).unwrap();
    assert_eq!(
        settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "context-graph",
        "still by its name"
    );
}

#[test]
fn an_installation_of_scripts_is_as_healthy() {
    let patient = Patient::new();
    assert_eq!(patient.run(&["uninstall", "--yes"]).code, 0);
    assert_eq!(patient.run(&["hooks", "generate-config", "--absolute"]).code, 0);
    let is_healthy = || {
        let diagnosis = patient.diagnosis();
        assert!(diagnosis.results().iter().all(|it| it["check"] == "cost"), "{:#}", diagnosis.value);
    };
    is_healthy();
    std::os::unix::fs::symlink(BINARY, patient.project().join("bin/context-graph")).unwrap();
    assert_eq!(patient.run(&["hooks", "generate-config", "--force"]).code, 0);
    is_healthy();
}

/// A fault: its name, how to plant it, its level, and the expected text and fix.
type Fault = (&'static str, fn(&Patient), &'static str, &'static str, &'static str);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("nothing registered", |p| std::fs::write(p.settings(), "{}").unwrap(),
        "broken", "not installed", "context-graph init"),
    ("settings are not JSON", |p| std::fs::write(p.settings(), "{ \"hooks\": // x\n }").unwrap(),
        "broken", "cannot be used", "correct"),
    ("hooks is a list", |p| p.edit(|it| it["hooks"] = json!([])),
        "broken", "is not an object", "context-graph init"),
    ("the program is gone", |p| p.run_instead(Path::new("/nowhere/context-graph")),
        "broken", "does not exist", "context-graph init"),
    ("the program is not on the PATH", |p| p.run_instead(Path::new("context-graph")),
        "broken", "not on the PATH", "context-graph init"),
    ("the program may not be executed", |p| {
        let other = p.write("old/context-graph", "x");
        p.run_instead(&other);
    }, "broken", "may not be executed", "chmod +x"),
    ("another version", |p| {
        let other = p.script("old/context-graph", "#!/bin/sh\necho context-graph 0.0.1\n");
        p.run_instead(&other);
    }, "broken", "was not run", "context-graph init"),
    ("another program", |p| {
        let other = p.script("old/context-graph", "#!/bin/sh\necho hello\n");
        p.run_instead(&other);
    }, "broken", "was not run", "context-graph init"),
    ("a copy of this one", |p| {
        let copy = p.project().join("bin/context-graph");
        copy_program(&copy);
        p.run_instead(&copy);
    }, "warning", "and this is", "run doctor from there"),
    ("hooks are disabled by the user", |p| { p.write("../home/.claude/settings.json", "{\"disableAllHooks\": true}"); },
        "broken", "disableAllHooks", "set it to false"),
    ("hooks are disabled on this machine", |p| p.edit(|it| it["disableAllHooks"] = json!(true)),
        "broken", "disableAllHooks", "settings.local.json"),
    ("a matcher that matches nothing", |p| p.edit(|it| it["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash(rm *)")),
        "broken", "matches nothing", "removes `matcher`"),
    ("a matcher in lower case", |p| p.edit(|it| it["hooks"]["PreToolUse"][0]["matcher"] = json!("bash")),
        "broken", "capital", "removes `matcher`"),
    ("a matcher that narrows the guard", |p| p.edit(|it| it["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash")),
        "warning", "sees only calls that match", "removes `matcher`"),
    ("an event that no client knows", |p| p.edit(|it| it["hooks"]["PreToolUsed"] = json!([])),
        "warning", "PreToolUsed", "take PreToolUsed out"),
    ("an event that an old client stumbles over", |p| p.client("2.1.80"),
        "broken", "ignores all of", "update Claude Code"),
    ("a client before the form without a shell", |p| p.client("2.1.120"),
        "broken", "does not know `args`", "context-graph init"),
    ("a client that cannot fail closed", |p| p.client("2.1.290"),
        "warning", "does not know `onFailure`", "update Claude Code"),
    ("a client newer than known", |p| p.client("3.0.0"),
        "warning", "newer than", "update context-graph"),
    ("WorktreeCreate", |p| p.edit(|it| it["hooks"]["WorktreeCreate"] = it["hooks"]["Stop"].clone()),
        "broken", "replaces git", "removes the entry"),
    ("a timeout of nothing", |p| p.edit_guard(|it| it["timeout"] = json!(0)),
        "broken", "not a positive number", "context-graph init"),
    ("a timeout in words", |p| p.edit_guard(|it| it["timeout"] = json!("5")),
        "broken", "not a positive number", "context-graph init"),
    ("the guard fails open", |p| p.edit_guard(|it| { it.as_object_mut().unwrap().remove("onFailure"); }),
        "broken", "onFailure", "context-graph init"),
    ("the guard is not waited for", |p| p.edit_guard(|it| it["async"] = json!(true)),
        "broken", "async", "take `async` out"),
    ("the guard is asked sometimes", |p| p.edit_guard(|it| it["if"] = json!("Bash(rm *)")),
        "warning", "`if`", "take `if` out"),
    ("the guard is missing", |p| p.edit(|it| { it["hooks"].as_object_mut().unwrap().remove("PreToolUse"); }),
        "broken", "nothing is guarded", "context-graph init"),
    ("an event is missing", |p| p.edit(|it| { it["hooks"].as_object_mut().unwrap().remove("Stop"); }),
        "warning", "does not register Stop", "context-graph init"),
    ("twice, by name and by path", |p| {
        copy_program(&p.project().join("bin/context-graph"));
        assert_eq!(p.run(&["init", "--yes", "--user", "--portable"]).code, 0);
    }, "broken", "more than once", "context-graph uninstall"),
    ("twice, by settings and plugin", |p| {
        let hooks = read(&p.settings());
        p.write("../home/.claude/skills/cg/.claude-plugin/plugin.json", "{\"name\": \"cg\"}");
        p.write("../home/.claude/skills/cg/hooks/hooks.json", &hooks);
    }, "broken", "more than once", "context-graph uninstall"),
    ("twice, by settings and an installed plugin", |p| {
        let hooks = read(&p.settings());
        let folder = p.project().join("plugin");
        p.write("plugin/hooks/hooks.json", &hooks);
        p.write("../home/.claude/settings.json", "{\"enabledPlugins\": {\"cg@m\": true}}");
        let list = json!({"version": 2, "plugins": {"cg@m": [{"scope": "user", "installPath": folder}]}});
        p.write("../home/.claude/plugins/installed_plugins.json", &list.to_string());
    }, "broken", "more than once", "context-graph uninstall"),
    ("the folder is not trusted", |p| {
        let projects = json!({p.project().canonicalize().unwrap().to_str().unwrap(): {"hasTrustDialogAccepted": false}});
        p.write("../home/.claude.json", &json!({"projects": projects}).to_string());
    }, "warning", "does not trust", "say that you trust it"),
    ("a script that talks", |p| {
        let script = p.script(".claude/hooks/post_tool_use.sh", "");
        std::fs::remove_file(script).unwrap();
        assert_eq!(p.run(&["uninstall", "--yes"]).code, 0);
        assert_eq!(p.run(&["hooks", "generate-config", "--absolute"]).code, 0);
        let script = p.project().join(".claude/hooks/pre_tool_use.sh");
        std::fs::write(&script, read(&script).replace("\nexec", "\necho starting\nexec")).unwrap();
        p.register_for_the_user();
    }, "broken", "prints something besides", "by hand"),
    ("a script that dawdles", |p| {
        assert_eq!(p.run(&["uninstall", "--yes"]).code, 0);
        assert_eq!(p.run(&["hooks", "generate-config", "--absolute"]).code, 0);
        let script = p.project().join(".claude/hooks/pre_tool_use.sh");
        std::fs::write(&script, read(&script).replace("\nexec", "\nsleep 0.1\nexec")).unwrap();
        p.register_for_the_user();
    }, "warning", "a tool call waits", "context-graph init"),
    ("a hook that fails", |p| {
        assert_eq!(p.run(&["uninstall", "--yes"]).code, 0);
        assert_eq!(p.run(&["hooks", "generate-config", "--absolute"]).code, 0);
        let script = p.project().join(".claude/hooks/session_end.sh");
        std::fs::write(&script, read(&script).replace("\nexec", "\necho no >&2; exit 3\nexec")).unwrap();
        p.register_for_the_user();
    }, "broken", "ends with exit code 3: no", "by hand"),
    ("the last session shows failing hooks", |p| transcript(p, "hook_non_blocking_error"),
        "broken", "Claude Code notes", "start a new session"),
    ("the last session shows no hook", |p| transcript(p, "date"),
        "warning", "shows no hook of ours", "--bare"),
    ("a policy file with a mistake", |p| { p.write(".context-graph/policy.toml", "on_eror = \"ask\"\n"); },
        "broken", "on_eror", "policy check"),
    ("a Rego policy with a mistake", |p| {
        let routed = "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n";
        p.write(".context-graph/policies/a.rego", &format!("{routed}package a\n\nimport rego.v1\n\ndeny contains d if {{\n"));
    },
        "broken", "a.rego", "policy check"),
    ("a Rego policy without a route, with a mistake", |p| {
        p.write(".context-graph/policies/a.rego", "package a\n\nimport rego.v1\n\ndeny contains d if {\n");
    }, "broken", "a.rego", "policy check"),
    ("a policy that switches the guard off", |p| {
        p.write("../home/.config/context-graph/policy.toml",
            "[guards.\"destructive-files\"]\nverdict = \"ask\"\nreason = \"a test\"\n");
    }, "warning", "is not denied", "policy explain"),
    ("a configuration with a mistake", |p| { p.write(".context-graph/config.toml", "[inject]\nenabld = true\n"); },
        "broken", "enabld", "correct"),
    ("a state folder that others can read", |p| {
        std::fs::set_permissions(p.project().join(".context-graph"), std::fs::Permissions::from_mode(0o755)).unwrap();
    }, "warning", "open to others", "chmod 700"),
    ("a state folder that git would take", |p| std::fs::remove_file(p.project().join(".context-graph/.gitignore")).unwrap(),
        "warning", "could be committed", "write `*`"),
    ("a file in the place of the state folder", |p| {
        std::fs::remove_dir_all(p.project().join(".context-graph")).unwrap();
        p.write(".context-graph", "");
    }, "broken", "a folder is needed", "until then"),
    ("a damaged store", |p| {
        p.event(stop("s1")).succeeded();
        let data = p.project().join(".context-graph/data/context-graph.db");
        let length = std::fs::metadata(&data).unwrap().len();
        std::fs::write(&data, vec![0xA5; usize::try_from(length).unwrap()]).unwrap();
    }, "broken", "store", "move"),
    ("damage that was put aside", |p| { p.write(".context-graph/quarantine/piece", "x"); },
        "warning", "put aside", "look at them"),
];

fn transcript(patient: &Patient, kind: &str) {
    let root = patient.project().canonicalize().unwrap();
    let name: String =
        root.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let note = json!({"type": "attachment", "attachment": {"type": kind, "hookEvent": "PreToolUse", "exitCode": 1,
        "command": "/gone/context-graph hooks pre-tool --stdin", "stderr": "Failed with non-blocking status code: ENOENT"}});
    std::thread::sleep(std::time::Duration::from_millis(20));
    patient.write(
        &format!("../home/.claude/projects/{name}/11111111-2222-4333-8444-555555555555.jsonl"),
        &format!("{note}\n"),
    );
}

#[test]
fn each_planted_fault_is_found_and_its_fix_is_named() {
    each(FAULTS, |(name, plant, level, what, fix)| {
        let patient = Patient::new();
        plant(&patient);
        let diagnosis = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            patient.diagnosis().assert_finds(level, what, fix);
        }));
        assert!(diagnosis.is_ok(), "fault: {name}");
    });
    assert!(FAULTS.len() >= 15);
}

#[test]
fn what_is_safe_to_fix_is_fixed_and_can_be_undone() {
    let mended = [
        "the program is gone",
        "a matcher that matches nothing",
        "WorktreeCreate",
        "a timeout of nothing",
        "the guard fails open",
        "the guard is missing",
        "an event is missing",
        "a client before the form without a shell",
        "an event that an old client stumbles over",
        "a state folder that others can read",
        "a state folder that git would take",
    ];
    each(&mended, |name| {
        let patient = Patient::new();
        let (_, plant, ..) = FAULTS.iter().find(|fault| fault.0 == *name).unwrap();
        plant(&patient);
        let run = patient.run(&["doctor", "--fix", "--json"]);
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(!value["mended"].as_array().unwrap().is_empty(), "{name}: {value:#}");
        let left: Vec<&Value> =
            value["checks"].as_array().unwrap().iter().filter(|it| it["level"] == "broken").collect();
        assert!(left.is_empty() && run.code == 0, "{name}: {left:#?}");
        assert_eq!(patient.run(&["uninstall", "--yes"]).code, 0);
    });
}

#[test]
fn nothing_is_changed_without_being_told_to() {
    let patient = Patient::new();
    patient.edit_guard(|it| it["timeout"] = json!(0));
    let before = read(&patient.settings());
    let run = patient.run(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains("doctor --fix"), "{run:?}");
    assert_eq!(read(&patient.settings()), before);
}

#[test]
fn the_same_command_in_two_settings_files_is_run_once_and_so_is_no_fault() {
    let patient = Patient::new();
    std::fs::copy(patient.settings(), patient.shared_settings()).unwrap();
    assert!(patient.diagnosis().results().is_empty());
    assert!(patient.home().is_dir());
}

#[test]
fn a_process_that_a_hook_left_behind_cannot_hold_doctor_up() {
    let patient = Patient::new();
    // Leaves the hook's process group, but keeps the hook's stdout and stderr open.
    let script = |then: &str| format!("#!/bin/sh\n# context-graph hooks event\nsetsid sleep 40 &\n{then}\n");
    let guard = patient
        .script(".claude/hooks/pre_tool_use.sh", &script(&format!("exec {BINARY} hooks event --stdin")));
    let silent = patient.script(".claude/hooks/post_tool_use.sh", &script("sleep 40"));
    // `doctor` runs what the user registered, but not what a project names.
    assert_eq!(patient.run(&["uninstall", "--yes"]).code, 0);
    let hook = |script: &Path, timeout: u32| json!([{"hooks": [{"type": "command", "command": script, "timeout": timeout}]}]);
    let settings = json!({"hooks": {"PreToolUse": hook(&guard, 5), "PostToolUse": hook(&silent, 1)}});
    patient.write("../home/.claude/settings.json", &settings.to_string());
    let started = std::time::Instant::now();
    let diagnosis = patient.diagnosis();
    // The hook that never answers gets two tries of one second; the other one answers at once.
    assert!(started.elapsed().as_secs() < 30, "{:?}: {:#}", started.elapsed(), diagnosis.value);
    diagnosis.assert_finds("broken", "the hook for PostToolUse gives no answer within 1000 ms", "by hand");
}
