//! Links, pipes and devices where we read and write.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::common::{Place, each};
use crate::stage::*;

/// A file and a folder of the user that no repository may reach.
struct Victim {
    file: PathBuf,
    folder: PathBuf,
}

impl Victim {
    fn of(place: &Place) -> Self {
        let home = place.project().parent().unwrap().join("home");
        let victim = Self { file: home.join("zshrc"), folder: home.join("ssh") };
        fs::write(&victim.file, "mine").unwrap();
        fs::create_dir(&victim.folder).unwrap();
        fs::write(victim.folder.join("id_ed25519"), "key").unwrap();
        victim
    }

    fn is_unharmed(&self) {
        assert_eq!(fs::read_to_string(&self.file).unwrap(), "mine");
        assert_eq!(names(&self.folder), ["id_ed25519"]);
        assert_eq!(fs::read_to_string(self.folder.join("id_ed25519")).unwrap(), "key");
    }
}

/// Runs everything that writes, and ignores how it ends.
fn work_in(place: &Place) {
    for event in [start("s"), prompt("s", "hi"), bash("s", "ls"), stop("s"), end("s"), start("id_ed25519")] {
        hook(place, &event);
    }
    for verb in [
        &["maintain"][..],
        &["audit", "log"],
        &["audit", "search", "hi"],
        &["audit", "verify"],
        &["session", "forget", "id_ed25519", "--yes"],
        &["session", "forget", "../../home/ssh/id_ed25519", "--yes"],
        &["session", "prune", "--older-than", "0d", "--yes"],
        &["doctor"],
        &["init", "--yes"],
        &["uninstall", "--yes"],
        &["uninstall", "--purge", "--yes"],
    ] {
        place.run(verb);
    }
}

/// The names that may exist in a state folder.
const STATE: [&str; 15] = [
    ".gitignore",
    "mark",
    "mark.lock",
    "maintained",
    "key",
    "data",
    "live",
    "quarantine",
    "index",
    "install",
    "live/s.journal",
    "live/s.state",
    "live/untold",
    "install/settings.json.undo",
    "install/settings.local.json.undo",
];

/// The names that may exist in the database's folder.
const DATABASE: [&str; 6] = [
    "data/lock.mdb",
    "data/data.mdb",
    "data/context-graph.db",
    "data/context-graph.db-journal",
    "data/suspicious",
    "index/lock",
];

/// Puts a link with each of these names into the state folder of a used or a new project, works there, and checks
/// that nothing was written through them.
fn lead_nowhere(names: impl IntoIterator<Item = &'static str>, is_worked_in: bool) {
    let names: Vec<&str> = names.into_iter().collect();
    each(&names, |name| {
        for to_folder in [false, true] {
            let place = Place::new();
            let victim = Victim::of(&place);
            if is_worked_in {
                hook(&place, &start("s")).succeeded();
            }
            let link = state(&place).join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&link);
            let _ = fs::remove_dir_all(&link);
            symlink(if to_folder { &victim.folder } else { &victim.file }, &link).unwrap();
            work_in(&place);
            victim.is_unharmed();
        }
    });
}

#[test]
fn links_in_the_state_folder_lead_nowhere() {
    lead_nowhere(STATE.into_iter().chain(DATABASE), false);
}

#[test]
fn links_that_are_put_in_later_lead_nowhere_either() {
    lead_nowhere(STATE, true);
}

#[test]
fn a_pipe_or_a_device_in_place_of_a_file_holds_nobody_up() {
    for name in ["mark", "mark.lock", ".gitignore", "live/s.journal", "live/s.state", "live/untold"] {
        for device in [false, true] {
            let place = Place::new();
            hook(&place, &start("s")).succeeded();
            let path = state(&place).join(name);
            let _ = fs::remove_file(&path);
            if device {
                symlink("/dev/zero", &path).unwrap();
            } else {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            }
            let run = hook(&place, &bash("s", "rm -rf /usr"));
            assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{name} {run:?}");
            let run = hook(&place, &start("t"));
            assert!(run.json()["error_code"] != "timeout", "{name} {run:?}");
        }
    }
}

#[test]
fn settings_that_are_a_link_out_of_the_project_are_not_edited() {
    for name in ["settings.json", "settings.local.json"] {
        let place = Place::new();
        let home = place.project().parent().unwrap().join("home");
        fs::create_dir_all(home.join(".docker")).unwrap();
        let theirs = home.join(".docker/config.json");
        fs::write(&theirs, "{\"auths\": {}}\n").unwrap();
        fs::create_dir(place.project().join(".claude")).unwrap();
        symlink(&theirs, place.project().join(".claude").join(name)).unwrap();
        let args: &[&str] =
            if name == "settings.json" { &["init", "--shared", "--yes"] } else { &["init", "--yes"] };
        let run = place.run(args);
        assert!(run.code == 1 && run.stderr.contains("leads out of the project"), "{run:?}");
        assert!(run.stderr.contains("remove the link"), "{run:?}");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "{\"auths\": {}}\n");
    }
    // The same for a link in place of the folder, and for a link to a missing file.
    for (link, target) in [(".claude", ".docker"), (".claude/settings.local.json", "new.json")] {
        let place = Place::new();
        let home = place.project().parent().unwrap().join("home");
        fs::create_dir_all(home.join(".docker")).unwrap();
        fs::create_dir_all(place.project().join(link).parent().unwrap()).unwrap();
        symlink(home.join(target), place.project().join(link)).unwrap();
        let run = place.run(&["init", "--yes"]);
        assert!(run.code == 1 && run.stderr.contains("is a link that leads out"), "{run:?}");
        assert!(names(&home.join(".docker")).is_empty() && !home.join("new.json").exists());
    }
}

#[test]
fn ones_own_settings_may_be_a_link_within_ones_home() {
    let place = Place::new();
    let home = place.project().parent().unwrap().join("home");
    fs::create_dir_all(home.join("dotfiles")).unwrap();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join("dotfiles/settings.json"), "{}\n").unwrap();
    symlink(home.join("dotfiles/settings.json"), home.join(".claude/settings.json")).unwrap();
    let run = place.run(&["init", "--user", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(home.join(".claude/settings.json").is_symlink());
    assert!(fs::read_to_string(home.join("dotfiles/settings.json")).unwrap().contains("hooks"));
}

#[test]
fn doctor_runs_nothing_that_a_project_names() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let trace = place.project().join("it-ran");
    let write = |name: &str, text: String| {
        let path = place.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let touch = format!(
        "#!/bin/sh\n# context-graph hooks event\ntouch {}\necho context-graph 9.9\n",
        trace.display()
    );
    let program = write("tools/context-graph", touch.clone());
    let script = write(".claude/hooks/pre_tool_use.sh", touch);
    let own = env!("CARGO_BIN_EXE_context-graph");
    for command in [
        serde_json::json!({"type": "command", "command": program, "args": ["hooks", "event", "--stdin"]}),
        serde_json::json!({"type": "command", "command": format!("{program} hooks event --stdin")}),
        serde_json::json!({"type": "command", "command": script}),
        serde_json::json!({"type": "command", "command": format!("{own} hooks event --stdin; touch {}", trace.display())}),
        serde_json::json!({"type": "command", "command": format!("{own} hooks event --stdin $(touch {})", trace.display())}),
    ] {
        let settings = serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [command]}]}});
        for name in ["settings.json", "settings.local.json"] {
            let path = place.project().join(".claude").join(name);
            fs::write(&path, settings.to_string()).unwrap();
            let run = place.run(&["doctor"]);
            assert!(!trace.exists(), "{settings} {run:?}");
            fs::remove_file(&path).unwrap();
        }
    }
}

/// If the state folder is a link, it could lead anywhere. Then nothing is stored, and every call is asked
/// about.
#[test]
fn a_state_folder_that_is_a_link_is_asked_about_and_told_of() {
    let place = Place::new();
    fs::create_dir(place.project().join("src")).unwrap();
    symlink("src", state(&place)).unwrap();
    let run = hook(&place, &bash("s", "ls"));
    let answer = run.json();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{run:?}");
    assert!(answer["systemMessage"].as_str().unwrap_or_default().contains("not on record"), "{run:?}");
    assert!(names(&place.project().join("src")).is_empty());
}
