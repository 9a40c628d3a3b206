//! Who owns the user's folder: settings in a checkout can name another place for it, and others may be able
//! to write to it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::common::{Place, send};
use crate::stage::*;

const LOOSE: &str =
    "[guards.destructive-files]\nenabled = false\n\n[guards.destructive-system]\nenabled = false\n";

/// The decision about a call that must never pass, with these variables in the environment.
fn decided(place: &Place, root: &Path, variables: &[(&str, &Path)]) -> String {
    let mut command = place.command(&["hooks", "event"]);
    command.env("CLAUDE_PROJECT_DIR", root).current_dir(root).envs(variables.iter().copied());
    let run = send(command, bash("s", "rm -rf /usr").as_bytes());
    run.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn a_configuration_folder_that_came_with_the_repository_loosens_nothing() {
    let place = Place::new();
    let app = place.project().join("pkg/app");
    fs::create_dir_all(&app).unwrap();
    fs::create_dir(place.project().join(".git")).unwrap();
    for folder in ["cfg", "home/.config"] {
        let folder = place.project().join(folder).join("context-graph");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("policy.toml"), LOOSE).unwrap();
        fs::set_permissions(folder.join("policy.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    }
    symlink(place.project(), place.home().join("current")).unwrap();
    let (cfg, home) = (place.project().join("cfg"), place.project().join("home"));
    let linked = place.home().join("current/cfg");
    let (by_cwd, home_by_cwd) =
        (Path::new("/proc/self/cwd/../../cfg"), Path::new("/proc/self/cwd/../../home"));
    for variables in [
        &[("XDG_CONFIG_HOME", cfg.as_path())][..],
        &[("XDG_CONFIG_HOME", by_cwd)],
        &[("XDG_CONFIG_HOME", linked.as_path())],
        &[("HOME", home.as_path())],
        &[("HOME", home_by_cwd)],
        &[("HOME", Path::new("/")), ("XDG_CONFIG_HOME", by_cwd)],
    ] {
        assert_eq!(decided(&place, &app, variables), "deny", "{variables:?}");
        // Our private folder is not created there either.
        let mut command = place.command(&["trust", "--list"]);
        command.env("CLAUDE_PROJECT_DIR", &app).current_dir(&app).envs(variables.iter().copied());
        send(command, b"");
        assert!(!cfg.join("context-graph/private").exists(), "{variables:?}");
        assert!(!home.join(".config/context-graph/private").exists(), "{variables:?}");
    }
    // A folder in another repository may have come with that one.
    let other = place.home().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    for folder in ["cfg", ".config"] {
        fs::create_dir_all(other.join(folder).join("context-graph")).unwrap();
        fs::write(other.join(folder).join("context-graph/policy.toml"), LOOSE).unwrap();
    }
    for variables in [[("XDG_CONFIG_HOME", other.join("cfg"))], [("HOME", other.clone())]] {
        let variables: Vec<(&str, &Path)> =
            variables.iter().map(|(name, path)| (*name, path.as_path())).collect();
        assert_eq!(decided(&place, &app, &variables), "deny", "{variables:?}");
    }
    // A folder of the user outside the project does count.
    let own = place.home().join(".config/context-graph");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("policy.toml"), LOOSE).unwrap();
    assert_ne!(decided(&place, &app, &[]), "deny");
}

#[test]
fn a_policy_of_the_users_that_others_may_write_to_loosens_nothing_and_is_told_of() {
    for mode in [0o666, 0o660, 0o620, 0o602] {
        let place = Place::new();
        let folder = place.home().join(".config/context-graph");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("policy.toml"), LOOSE).unwrap();
        fs::set_permissions(folder.join("policy.toml"), fs::Permissions::from_mode(mode)).unwrap();
        let run = hook(&place, &bash("s", "rm -rf /usr"));
        assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{mode:o} {run:?}");
        let run = hook(&place, &bash("s", "ls"));
        assert!(run.stdout.contains("chmod go-w"), "{mode:o} {run:?}");
        let run = place.run(&["policy", "check"]);
        assert!(run.stdout.contains("chmod go-w") || run.stderr.contains("chmod go-w"), "{run:?}");
        fs::set_permissions(folder.join("policy.toml"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_ne!(decided(&place, &place.project(), &[]), "deny");
    }
}

#[test]
fn a_policy_of_another_users_in_place_of_ones_own_loosens_nothing() {
    let place = Place::new();
    let folder = place.home().join(".config/context-graph");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("policy.toml");
    fs::write(
        &file,
        format!("{LOOSE}[[actions]]\nname = \"x\"\nevent = \"Stop\"\ncommand = \"touch ran\"\n"),
    )
    .unwrap();
    // Only root can change the owner of a file.
    if std::os::unix::fs::chown(&file, Some(12345), Some(12345)).is_err() {
        return;
    }
    let run = hook(&place, &bash("s", "rm -rf /usr"));
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
    hook(&place, &stop("s"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!place.project().join("ran").exists());
}

#[test]
fn ones_own_policy_is_written_for_oneself_alone() {
    let place = Place::new();
    assert_eq!(place.run(&["policy", "init", "--user"]).code, 0);
    let file = place.home().join(".config/context-graph/policy.toml");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_call_that_is_kept_off_the_record_is_told_of() {
    let place = Place::new();
    let project = place.home().join("project");
    fs::create_dir(&project).unwrap();
    let ask = || {
        let mut command = place.command(&["hooks", "event"]);
        command.env("CLAUDE_PROJECT_DIR", &project).current_dir(&project);
        send(command, bash("s", "ls").as_bytes())
    };
    ask().succeeded();
    // A `.git` in the folder above makes everything below it part of a repository.
    fs::write(place.home().join(".git"), "").unwrap();
    for _ in 0..2 {
        let run = ask();
        let told = run.json()["systemMessage"].as_str().unwrap_or_default().to_owned();
        assert!(run.code == 0 && told.contains("not on record"), "{run:?}");
    }
    fs::remove_file(place.home().join(".git")).unwrap();
    ask().succeeded();
}
