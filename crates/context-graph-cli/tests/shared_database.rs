//! Several projects with one database: what a command answers, removes or sends is about its own project.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and files are made old"
)]

mod common;

use std::path::{Path, PathBuf};

use common::team::{Server, joined, ok};
use common::{Place, Run};
use serde_json::{Value, json};

/// A project with a database that the user named.
struct Project<'p> {
    place: &'p Place,
    root: PathBuf,
    database: Option<PathBuf>,
}

impl<'p> Project<'p> {
    /// A project that shares its database with others of the same user.
    fn new(place: &'p Place, name: &str) -> Self {
        Self::with_database(place, name, Some(&place.home().join("shared")))
    }

    fn with_database(place: &'p Place, name: &str, database: Option<&Path>) -> Self {
        let root = place.project().with_file_name(name);
        std::fs::create_dir(&root).unwrap();
        Self { place, root, database: database.map(Path::to_path_buf) }
    }

    fn moved_to(self, name: &str) -> Self {
        let root = self.root.with_file_name(name);
        std::fs::rename(&self.root, &root).unwrap();
        Self { root, ..self }
    }

    fn try_run(&self, args: &[&str], stdin: &str) -> Run {
        let mut command = self.place.command(args);
        command.env("CLAUDE_PROJECT_DIR", &self.root).current_dir(&self.root);
        if let Some(database) = &self.database {
            command.env("CONTEXT_GRAPH_DB_PATH", database);
        }
        common::send(command, stdin.as_bytes())
    }

    fn run(&self, args: &[&str]) -> String {
        ok(self.try_run(args, ""))
    }

    /// Sends an event of a session.
    fn hook(&self, session: &str, event: &str, more: Value) {
        let mut payload =
            json!({"hook_event_name": event, "session_id": session, "transcript_path": "", "cwd": self.root});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ok(self.try_run(&["hooks", "event"], &payload.to_string()));
    }

    /// A session with a request and a call.
    fn worked(&self, session: &str, request: &str) {
        self.hook(session, "UserPromptSubmit", json!({ "prompt": request }));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "git reset --hard origin/main"}, "tool_use_id": session});
        self.hook(session, "PreToolUse", call);
    }

    fn ends(&self, session: &str) {
        self.hook(session, "SessionEnd", json!({"reason": "other"}));
    }

    fn titles(&self) -> String {
        self.run(&["session", "list"])
    }
}

#[test]
fn a_session_stays_with_its_project_whoever_stores_it() {
    let place = Place::without_upkeep();
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    one.worked("s1", "draw the map");
    two.worked("s2", "count the trees");
    // Upkeep puts away what has been silent for long.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(100);
    for file in std::fs::read_dir(place.home().join("shared/live")).unwrap() {
        let file = std::fs::File::options().write(true).open(file.unwrap().path()).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    assert!(two.run(&["maintain"]).contains("s1"));
    assert!(one.titles().contains("draw the map"), "{}", one.titles());
    assert!(!two.titles().contains("draw the map"), "{}", two.titles());
}

#[test]
fn only_sessions_of_the_project_are_pruned() {
    let place = Place::without_upkeep();
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    one.worked("s1", "draw the map");
    one.ends("s1");
    two.worked("s2", "count the trees");
    two.ends("s2");
    let prune = ["session", "prune", "--older-than", "2100-01-01", "--yes"];
    two.run(&prune);
    assert!(one.titles().contains("draw the map"));
    assert!(!two.titles().contains("count the trees"));
}

#[test]
fn an_exception_is_offered_for_a_call_of_the_project() {
    let place = Place::without_upkeep();
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    one.worked("s1", "draw the map");
    one.ends("s1");
    two.hook("s2", "UserPromptSubmit", json!({"prompt": "count the trees"}));
    let allow = |project: &Project<'_>| {
        project.try_run(&["policy", "allow", "destructive-git/reset-hard", "--dry-run"], "")
    };
    assert!(allow(&one).stdout.contains("git reset --hard origin/main"), "{:?}", allow(&one));
    assert!(!allow(&two).stdout.contains("origin/main"), "{:?}", allow(&two));
}

#[test]
fn the_copy_of_the_heads_is_compared_for_the_project_and_kept_for_the_others() {
    let place = Place::without_upkeep();
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    let copy = place.home().join("heads.jsonl");
    one.run(&["config", "set", "--user", "audit.heads_file", copy.to_str().unwrap()]);
    for (project, session) in [(&one, "s1"), (&two, "s2")] {
        project.worked(session, "draw the map");
        project.ends(session);
    }
    let verify =
        |project: &Project<'_>, more: &[&str]| project.try_run(&[&["audit", "verify"], more].concat(), "");
    assert_eq!(verify(&one, &[]).code, 0, "{:?}", verify(&one, &[]));
    assert_eq!(verify(&one, &["--acknowledge"]).code, 0);
    let others = std::fs::read_to_string(&copy).unwrap();
    let without = others.lines().filter(|line| !line.contains("s2")).map(|line| format!("{line}\n"));
    std::fs::write(&copy, without.collect::<String>()).unwrap();
    let found = verify(&two, &[]);
    assert!(found.code == 2 && found.stdout.contains("s2"), "{found:?}");
}

#[test]
fn only_the_project_that_shares_its_records_is_pushed() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let place = joined(&host, &server, "ada");
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    one.run(&["config", "set", "--user", "team.share", "full"]);
    two.run(&["config", "set", "team.share", "nothing"]);
    for (project, session, request) in [(&one, "s1", "draw the map"), (&two, "s2", "secret plans")] {
        project.worked(session, request);
        project.hook(session, "Stop", json!({"stop_hook_active": false}));
    }
    let shown = one.run(&["team", "push", "--dry-run"]);
    assert!(shown.contains("draw the map") && !shown.contains("secret plans"), "{shown}");
    let counted: Value = serde_json::from_str(&one.run(&["team", "push", "--dry-run", "--json"])).unwrap();
    assert_eq!(counted["sessions"], 1, "{counted}");
    // Also the project that has no folder of ours, because it only uses the database.
    let all = two.run(&["team", "push", "--dry-run", "--all-projects"]);
    assert!(all.contains("draw the map") && !all.contains("secret plans"), "{all}");
    assert!(one.run(&["team", "push"]).contains("of 1 session"));
    assert!(two.run(&["team", "push"]).contains("pushed 0 records"));
}

/// Changes every line of the copy of the heads.
fn forge(copy: &Path, change: impl Fn(&mut Value)) {
    let heads = std::fs::read_to_string(copy).unwrap();
    let forged = heads.lines().map(|line| {
        let mut head: Value = serde_json::from_str(line).unwrap();
        change(&mut head);
        format!("{head}\n")
    });
    std::fs::write(copy, forged.collect::<String>()).unwrap();
}

/// What `audit verify` finds: its exit code, and how many heads it compared.
fn verified(project: &Project<'_>, more: &[&str]) -> (i32, u64) {
    let run = project.try_run(&[&["audit", "verify", "--json"], more].concat(), "");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    (run.code, found["heads_compared"].as_u64().unwrap())
}

#[test]
fn a_head_is_compared_whatever_project_it_names() {
    let place = Place::without_upkeep();
    let one = Project::new(&place, "one");
    let copy = place.home().join("heads.jsonl");
    one.run(&["config", "set", "--user", "audit.heads_file", copy.to_str().unwrap()]);
    one.worked("s1", "draw the map");
    one.ends("s1");
    assert_eq!(verified(&one, &[]), (0, 1));
    forge(&copy, |head| head["project"] = json!("/elsewhere"));
    assert_eq!(verified(&one, &[]), (0, 1));
    forge(&copy, |head| head["head"] = json!("00"));
    assert_eq!(verified(&one, &[]), (2, 1));
}

#[test]
fn heads_from_before_a_project_was_moved_are_compared() {
    let place = Place::without_upkeep();
    let one = Project::with_database(&place, "one", None);
    let copy = place.home().join("heads.jsonl");
    one.run(&["config", "set", "--user", "audit.heads_file", copy.to_str().unwrap()]);
    one.worked("s1", "draw the map");
    one.ends("s1");
    let moved = one.moved_to("moved");
    // A copy at another place: what we noted about the file does not count for it.
    let backup = place.home().join("backup.jsonl");
    std::fs::copy(&copy, &backup).unwrap();
    let from_backup = ["--heads", backup.to_str().unwrap()];
    for more in [&[][..], &from_backup] {
        assert_eq!(verified(&moved, more), (0, 1), "{more:?}");
    }
    for file in [&copy, &backup] {
        forge(file, |head| head["head"] = json!("00"));
    }
    for more in [&[][..], &from_backup] {
        assert_eq!(verified(&moved, more), (2, 1), "{more:?}");
    }
}

#[test]
fn a_database_inside_the_project_belongs_to_it_alone() {
    let place = Place::without_upkeep();
    let inside = |name| Project::with_database(&place, name, Some(Path::new("state")));
    let (one, two) = (inside("one"), inside("two"));
    for (project, session, request) in [(&one, "s1", "draw the map"), (&two, "s2", "count the trees")] {
        project.worked(session, request);
        project.ends(session);
    }
    let all = two.run(&["session", "list", "--all-projects"]);
    assert!(all.contains("draw the map") && all.contains("count the trees"), "{all}");
    let moved = one.moved_to("moved");
    assert!(moved.titles().contains("draw the map"), "{}", moved.titles());
}

#[test]
fn a_session_counts_for_the_project_in_which_it_goes_on() {
    let place = Place::without_upkeep();
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    one.worked("s1", "draw the map");
    one.ends("s1");
    let counts_for = |here: &Project<'_>, not_here: &Project<'_>| {
        assert!(here.titles().contains("draw the map"), "{}", here.titles());
        assert!(!not_here.titles().contains("draw the map"), "{}", not_here.titles());
    };
    two.hook("s1", "Stop", json!({"stop_hook_active": false}));
    counts_for(&two, &one);
    two.ends("s1");
    counts_for(&two, &one);
    let exported = place.home().join("s1.jsonl");
    two.run(&["session", "export", "s1", "-o", exported.to_str().unwrap()]);
    one.run(&["session", "import", "--replace", exported.to_str().unwrap()]);
    counts_for(&one, &two);
}

#[test]
fn a_project_whose_folder_is_gone_is_named_and_not_pushed() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let place = joined(&host, &server, "ada");
    let (one, two) = (Project::new(&place, "one"), Project::new(&place, "two"));
    for (project, session, request) in [(&one, "s1", "draw the map"), (&two, "s2", "count the trees")] {
        project.worked(session, request);
        project.hook(session, "Stop", json!({"stop_hook_active": false}));
    }
    std::fs::remove_dir_all(&one.root).unwrap();
    let pushed = two.try_run(&["team", "push", "--all-projects"], "");
    assert!(pushed.code == 0 && pushed.stdout.contains("of 1 session"), "{pushed:?}");
    assert!(pushed.stderr.contains(one.root.to_str().unwrap()), "{pushed:?}");
}
