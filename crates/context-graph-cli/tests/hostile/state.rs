//! State from a checkout, or added by git later, is not accepted.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::Place;
use crate::stage::*;

/// A project that was cloned with somebody else's state.
fn cloned(make: impl Fn(&Place)) -> Place {
    let attacker = Place::new();
    make(&attacker);
    let victim = Place::new();
    copy(&state(&attacker), &state(&victim));
    victim
}

#[test]
fn a_cloned_store_says_nothing_to_the_model_and_is_moved_aside_untouched() {
    let victim = cloned(|attacker| whole_session(attacker, "theirs"));
    let before = names(&state(&victim).join("data"));
    let run = hook(&victim, &start("mine"));
    assert_eq!((run.code, &run.json()["error_code"]), (2, &"corruption".into()), "{run:?}");
    assert!(!run.stdout.contains("approved") && !run.stdout.contains("theirs"), "{run:?}");
    assert!(run.json()["error"].as_str().unwrap().contains("maintain --adopt"), "{run:?}");
    assert_eq!(names(&aside(&victim).join("data")), before, "as it was");
    // It is reported once, and the work continues.
    assert_eq!(hook(&victim, &prompt("mine", "hello")).succeeded().get("notices"), None);
    hook(&victim, &stop("mine")).succeeded();
    hook(&victim, &end("mine")).succeeded();
    assert_eq!(victim.run(&["audit", "verify"]).code, 0);
    let list = victim.run(&["session", "list"]);
    assert!(list.stdout.contains("mine") && !list.stdout.contains("theirs"), "{list:?}");
    let adopt = victim.run(&["maintain", "--adopt", "--yes"]);
    assert!(adopt.code == 1 && adopt.stdout.contains("not made by you"), "{adopt:?}");
}

#[test]
fn a_cloned_journal_and_cache_say_nothing_whichever_event_comes_first() {
    for first in [start("s"), prompt("s", "hi"), bash("s", "ls"), stop("s"), end("s")] {
        let victim = cloned(|attacker| open_session(attacker, "s"));
        let run = hook(&victim, &first);
        assert!(!run.stdout.contains("approved"), "{run:?}");
        hook(&victim, &prompt("s", "and now?"));
        let story = victim.run(&["session", "show", "s"]);
        assert!(!story.stdout.contains("approved"), "{story:?}");
        let injected = victim.run(&["consciousness", "inject"]);
        assert!(!injected.stdout.contains("approved"), "{injected:?}");
    }
}

#[test]
fn an_agents_question_with_another_home_moves_no_state_away() {
    let place = Place::new();
    whole_session(&place, "mine");
    let before = names(&state(&place));
    let elsewhere = place.home().with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for verb in [&["audit", "log"][..], &["session", "list"], &["doctor"], &["audit", "verify"]] {
        let mut asked = place.command(verb);
        asked.env("HOME", &elsewhere).env("CLAUDECODE", "1");
        let run = crate::common::send(asked, b"");
        assert!(!run.stdout.contains("mine"), "{run:?}");
        assert_eq!(names(&state(&place)), before, "{verb:?}: {run:?}");
    }
    assert!(place.run(&["session", "list"]).stdout.contains("mine"));
}

#[test]
fn the_accounts_state_stays_where_it_is_when_a_hook_is_given_another_home() {
    let place = Place::new();
    whole_session(&place, "mine");
    let before = names(&state(&place));
    let elsewhere = place.home().with_file_name("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mut hooked = place.command(&["hooks", "event"]);
    hooked.env("HOME", &elsewhere).env("CONTEXT_GRAPH_TEST_ACCOUNT", place.home());
    let run = crate::common::send(hooked, bash("other", "rm -rf /usr").as_bytes());
    assert!(run.stdout.contains("deny"), "it still decides: {run:?}");
    assert_eq!(names(&state(&place)), before, "{run:?}");
}

#[test]
fn looking_at_a_clone_shows_nothing_of_it_either() {
    for verb in [
        &["session", "list"][..],
        &["session", "show"],
        &["consciousness", "brief"],
        &["consciousness", "inject"],
        &["audit", "log"],
        &["audit", "search", "approved"],
        &["maintain"],
        &["statusline"],
    ] {
        let victim = cloned(|attacker| {
            whole_session(attacker, "theirs");
            open_session(attacker, "open");
        });
        let run = victim.run(verb);
        assert!(!run.stdout.contains("theirs") && !run.stdout.contains("approved"), "{verb:?} {run:?}");
    }
}

#[test]
fn journals_and_caches_that_git_puts_into_a_marked_folder_are_not_believed() {
    let attacker = Place::new();
    open_session(&attacker, "s");
    for name in ["s.journal", "s.state"] {
        let victim = Place::new();
        hook(&victim, &start("s")).succeeded();
        fs::copy(state(&attacker).join("live").join(name), state(&victim).join("live").join(name)).unwrap();
        let run = hook(&victim, &prompt("s", "mine"));
        assert!(!run.stdout.contains("approved"), "{run:?}");
        let injected = victim.run(&["consciousness", "inject", "s"]);
        assert!(!injected.stdout.contains("approved"), "{injected:?}");
        let story = victim.run(&["session", "show", "s"]);
        assert!(!story.stdout.contains("approved") && story.stdout.contains("mine"), "{story:?}");
    }
}

#[test]
fn a_mark_of_another_place_is_no_mark_here() {
    // Not even the user's own: the repository may have it from a backup.
    let place = Place::new();
    whole_session(&place, "s");
    let copied = place.project().parent().unwrap().join("copied");
    copy(&place.project(), &copied);
    let mut command = place.command(&["session", "list"]);
    command.env("CLAUDE_PROJECT_DIR", &copied).current_dir(&copied);
    let run = crate::common::send(command, b"");
    assert!(!run.stdout.contains(" s "), "{run:?}");
    assert!(names(&copied.join(".context-graph")).iter().any(|name| name.starts_with("aside-")));
}

#[test]
fn a_copied_project_keeps_its_sessions_after_a_look_and_a_moved_one_without() {
    let place = Place::new();
    whole_session(&place, "before");
    let beside = |name: &str| place.project().parent().unwrap().join(name);
    let at = |folder: &std::path::Path, args: &[&str]| {
        let mut command = place.command(args);
        command.env("CLAUDE_PROJECT_DIR", folder).current_dir(folder);
        crate::common::send(command, b"")
    };
    copy(&place.project(), &beside("copied"));
    at(&beside("copied"), &["session", "list"]);
    let look = at(&beside("copied"), &["maintain", "--adopt"]);
    assert!(look.code == 1 && look.stdout.contains("made by you in"), "{look:?}");
    let adopted = at(&beside("copied"), &["maintain", "--adopt", "--yes"]);
    assert_eq!(adopted.code, 0, "{adopted:?}");
    let list = at(&beside("copied"), &["session", "list"]);
    assert!(list.stdout.contains("before"), "{list:?}");
    fs::rename(place.project(), beside("moved")).unwrap();
    let list = at(&beside("moved"), &["session", "list"]);
    assert!(list.stdout.contains("before"), "{list:?}");
}

#[test]
fn without_a_home_in_the_environment_the_accounts_own_counts_and_a_secret_in_the_project_never() {
    let place = Place::new();
    let mut command = place.command(&["hooks", "event"]);
    command.env("XDG_CONFIG_HOME", place.project().join("config"));
    let run = crate::common::send(command, start("s").as_bytes());
    assert!(run.json()["error"].as_str().unwrap().contains("in the project or in a repository"), "{run:?}");
    assert!(!place.project().join("config").exists());
    // The decision about a call still stands.
    let mut command = place.command(&["hooks", "event"]);
    command.env("XDG_CONFIG_HOME", place.project().join("config"));
    let run = crate::common::send(command, bash("s", "rm -rf /usr").as_bytes());
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
}

#[test]
fn nothing_is_readable_by_others_whatever_the_umask() {
    let place = Place::new();
    fs::create_dir(state(&place)).unwrap();
    fs::set_permissions(state(&place), fs::Permissions::from_mode(0o777)).unwrap();
    for event in [start("s"), prompt("s", "hi"), bash("s", "ls"), stop("s"), prompt("s", "more")] {
        let binary = env!("CARGO_BIN_EXE_context-graph");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("umask 000; exec {binary} hooks event")]);
        let prepared = place.command(&[]);
        command.env_clear().current_dir(place.project());
        for (key, value) in prepared.get_envs() {
            command.env(key, value.unwrap());
        }
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        crate::common::send(command, event.as_bytes()).succeeded();
    }
    let home = place.project().parent().unwrap().join("home/.config/context-graph");
    for folder in [state(&place), home] {
        let mode = fs::metadata(&folder).unwrap().permissions().mode() & 0o077;
        assert_eq!(mode, 0, "{}", folder.display());
    }
}

#[test]
fn a_database_that_git_puts_into_a_marked_folder_is_not_believed() {
    let attacker = Place::new();
    whole_session(&attacker, "theirs");
    let victim = Place::new();
    whole_session(&victim, "mine");
    fs::remove_dir_all(state(&victim).join("data")).unwrap();
    copy(&state(&attacker).join("data"), &state(&victim).join("data"));
    rename_project(&victim, &attacker);
    let run = hook(&victim, &start("next"));
    assert!(!run.stdout.contains("approved"), "{run:?}");
    let injected = victim.run(&["consciousness", "inject"]);
    assert!(!injected.stdout.contains("approved"), "{injected:?}");
    let run = hook(&victim, &start("after"));
    assert!(!run.stdout.contains("approved"), "{run:?}");
}

/// Changes the rows of a database so that they seem to belong to the victim's project.
fn rename_project(victim: &Place, attacker: &Place) {
    let connection = rusqlite::Connection::open(state(victim).join("data/context-graph.db")).unwrap();
    let (to, from) = (victim.project(), attacker.project());
    connection
        .execute(
            "UPDATE sessions SET project = replace(project, ?1, ?2)",
            [from.to_str().unwrap(), to.to_str().unwrap()],
        )
        .unwrap();
}

#[test]
fn a_folder_of_another_user_further_up_decides_nothing() {
    let place = Place::new();
    let above = place.project();
    let project = above.join("deep/project");
    fs::create_dir_all(&project).unwrap();
    let theirs = above.join(".context-graph");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("policy.toml"), "[guards.destructive-files]\nenabled = false\n").unwrap();
    // Only root can change the owner of a folder.
    if std::os::unix::fs::chown(&theirs, Some(12345), Some(12345)).is_err() {
        return;
    }
    let mut command = place.command(&["hooks", "event"]);
    command.env_remove("CLAUDE_PROJECT_DIR").current_dir(&project);
    let run = crate::common::send(command, bash("s", "rm -rf /usr").as_bytes());
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
    assert_eq!(names(&theirs), ["policy.toml"], "nothing is written there");
    assert!(project.join(".context-graph").is_dir());
    // It is not used either if it is the project's own state folder.
    let run = hook(&place, &prompt("s", "hi"));
    assert!(run.failed("storage").contains("another user"), "{run:?}");
}

#[test]
fn a_folder_that_somebody_names_for_the_state_and_that_is_not_ours_stays_as_it_is() {
    let place = Place::new();
    let theirs = place.home().join("work");
    for name in ["data", "index", "live", "notes"] {
        fs::create_dir_all(theirs.join(name)).unwrap();
    }
    fs::write(theirs.join("key"), "mine").unwrap();
    let before = names(&theirs);
    let named = theirs.to_str().unwrap();
    let run = place.send(&["hooks", "session-start", "--stdin", "--db-path", named], start("s"));
    assert!(run.failed("storage").contains("did not create for you"), "{run:?}");
    let mut command = place.command(&["hooks", "event"]);
    command.env("CONTEXT_GRAPH_DB_PATH", &theirs);
    let run = crate::common::send(command, prompt("s", "hi").as_bytes());
    assert!(run.failed("storage").contains("name a folder that is empty"), "{run:?}");
    for verb in [&["maintain", "--db-path", named][..], &["audit", "verify", "--db-path", named]] {
        assert_ne!(place.run(verb).code, 0, "{verb:?}");
    }
    assert_eq!(names(&theirs), before);
    // An empty folder is accepted, and becomes ours.
    let own = place.home().join("own");
    fs::create_dir(&own).unwrap();
    for event in [start("s"), stop("s")] {
        place.send(&["hooks", "event", "--db-path", own.to_str().unwrap()], event).succeeded();
    }
    assert!(own.join("context-graph.db").exists());
}

#[test]
fn doctor_tries_no_hook_that_names_a_place_or_another_verb() {
    let place = Place::new();
    let theirs = place.home().join("work");
    let own = env!("CARGO_BIN_EXE_context-graph");
    let to = theirs.to_str().unwrap();
    for args in [
        &["hooks", "session-start", "--stdin", "--db-path", to][..],
        &["hooks", "event", "--db-path", to],
        &["hooks", "generate-config", "--force", "--output-dir", to],
    ] {
        for command in [
            serde_json::json!({"type": "command", "command": own, "args": args}),
            serde_json::json!({"type": "command", "command": format!("{own} {}", args.join(" "))}),
        ] {
            let settings = serde_json::json!({"hooks": {"SessionStart": [{"hooks": [command]}]}});
            fs::create_dir_all(place.project().join(".claude")).unwrap();
            fs::write(place.project().join(".claude/settings.json"), settings.to_string()).unwrap();
            let run = place.run(&["doctor"]);
            assert!(run.stdout.contains("was not tried"), "{args:?} {run:?}");
            assert!(!theirs.exists(), "{args:?}");
        }
    }
}
