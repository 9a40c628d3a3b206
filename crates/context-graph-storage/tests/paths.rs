//! The location of state, and which paths are refused. The tests of links and modes are only for Unix: on Windows not
//! everybody may make links.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "a test that is left out says so"))]

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;

use context_graph_storage::{FoldBatch, StateFolder, StorageError, UserFolder};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn project(&self) -> PathBuf {
        let project = self.path("project");
        fs::create_dir_all(&project).unwrap();
        project
    }
}

/// The message for a refused path: the path, the problem, the next step.
#[track_caller]
fn refusal(root: &Path, db_path: Option<&Path>) -> String {
    let opened = open(root, db_path).and_then(|state| state.open_store(1).map(drop));
    let error = opened.unwrap_err();
    assert!(matches!(error, StorageError::Path { .. }), "{error:?}");
    error.to_string()
}

/// Opens a state folder as a user whose home is next to the project.
fn open(root: &Path, db_path: Option<&Path>) -> Result<StateFolder, StorageError> {
    StateFolder::open_or_create(root, db_path, &user(root))
}

fn user(root: &Path) -> UserFolder {
    UserFolder::new(root.parent().unwrap().join("private"))
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Everything but what a team may commit.
const IGNORED: &str = "# What a team may commit; the rest is the state of one user.\n*\n!/policy.toml\n!/config.toml\n\
    !/policies/\n!/policies/**\n!/signals/\n!/signals/**\n!/actions/\n!/actions/**\n";

#[test]
fn the_root_is_the_named_one_else_the_nearest_marked_one_else_the_start() {
    let folder = Folder::new();
    let deep = folder.path("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(StateFolder::locate(None, &deep), deep);
    fs::create_dir(folder.path("a/.git")).unwrap();
    assert_eq!(StateFolder::locate(None, &deep), folder.path("a"));
    fs::create_dir(folder.path("a/b/.context-graph")).unwrap();
    assert_eq!(StateFolder::locate(None, &deep), folder.path("a/b"));
    // In a worktree `.git` is a file.
    fs::write(folder.path("a/b/c/.git"), "gitdir: elsewhere").unwrap();
    assert_eq!(StateFolder::locate(None, &deep), deep);
    let named = folder.path("named");
    assert_eq!(StateFolder::locate(Some(&named), &deep), named);
    assert_eq!(StateFolder::locate(Some(Path::new("")), &deep), deep);
}

#[test]
fn the_folder_is_created_for_its_owner_and_hidden_from_git() {
    let folder = Folder::new();
    let project = folder.project();
    let state = open(&project, None).unwrap();
    assert_eq!(state.path(), project.join(".context-graph"));
    #[cfg(unix)]
    assert_eq!(mode(state.path()), 0o700);
    assert_eq!(fs::read_to_string(state.path().join(".gitignore")).unwrap(), IGNORED);
    assert_eq!(state.database(), project.join(".context-graph/data"));
    let store = state.open_store(1).unwrap();
    store.commit_fold(&FoldBatch::of(snapshot())).unwrap();
    #[cfg(unix)]
    assert_eq!((mode(&state.database()), mode(&state.database().join("context-graph.db"))), (0o700, 0o600));
    state.session("s").unwrap().append_without_lock(b"x").unwrap();
    assert_eq!(state.live_sessions().unwrap()[0].0, "s");
    drop(store);
    let again = open(&project, None).unwrap();
    assert_eq!(again.open_store(1).unwrap().stats().unwrap().sessions, 1);
    assert_eq!(again.root(), project);
}

fn snapshot() -> context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot {
    context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot::with_timestamp("s", 1)
}

#[test]
fn many_processes_may_create_it_at_once() {
    let folder = Folder::new();
    let project = folder.project();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| open(&project, None).unwrap());
        }
    });
    assert_eq!(fs::read_to_string(project.join(".context-graph/.gitignore")).unwrap(), IGNORED);
}

#[test]
fn a_database_may_be_named_inside_and_outside_the_project() {
    let folder = Folder::new();
    let project = folder.project();
    let database = |path: &Path| {
        let state = open(&project, Some(path)).unwrap();
        state.open_store(1).unwrap();
        state.database()
    };
    assert_eq!(database(Path::new("deep/er/db")), project.join("deep/er/db"));
    assert_eq!(database(Path::new("./x/../db")), project.join("db"));
    let outside = folder.path("outside/db");
    assert_eq!(database(&outside), outside);
    assert!(outside.join("context-graph.db").exists());
    // A link within the project does not lead out of it, and neither does one above an absolute path.
    #[cfg(unix)]
    {
        symlink(project.join("db"), project.join("link")).unwrap();
        database(Path::new("link"));
        symlink(folder.path("outside"), folder.path("alias")).unwrap();
        database(&folder.path("alias/other"));
    }
}

#[test]
fn a_path_that_leads_out_of_the_project_is_refused() {
    let folder = Folder::new();
    let project = folder.project();
    for path in ["..", "../db", "a/../../db", "a/b/../../../project2/db"] {
        let text = refusal(&project, Some(Path::new(path)));
        assert_eq!(
            text,
            format!("{path}: it leads out of the project; name a folder inside, or an absolute path")
        );
    }
    let absolute = project.join("../elsewhere/db");
    let text = refusal(&project, Some(&absolute));
    assert!(text.ends_with("it contains `..`; write the path without `..`"), "{text}");
    assert!(refusal(&project, Some(Path::new(""))).contains("name a folder"));
    assert!(!folder.path("db").exists() && !folder.path("elsewhere").exists());
}

#[test]
#[cfg(unix)]
fn a_link_that_leads_outside_is_refused() {
    let folder = Folder::new();
    let project = folder.project();
    let outside = folder.path("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, project.join("link")).unwrap();
    for path in ["link", "link/db", "link/a/b"] {
        let text = refusal(&project, Some(Path::new(path)));
        assert!(text.contains("leads outside") && text.contains(outside.to_str().unwrap()), "{text}");
        assert!(refusal(&project, Some(&project.join(path))).contains("leads outside"));
    }
    symlink(folder.path("nowhere"), project.join("dangling")).unwrap();
    assert!(refusal(&project, Some(Path::new("dangling/db"))).contains("cannot be followed"));
    // An absolute path whose last part is a link to elsewhere.
    symlink(&outside, folder.path("far")).unwrap();
    fs::create_dir(folder.path("other")).unwrap();
    symlink(&outside, folder.path("other/db")).unwrap();
    assert!(refusal(&project, Some(&folder.path("other/db"))).contains("leads outside"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
#[cfg(unix)]
fn a_state_folder_that_is_a_link_is_refused() {
    for part in [".context-graph", ".context-graph/live", ".context-graph/data"] {
        let folder = Folder::new();
        let project = folder.project();
        let outside = folder.path("outside");
        fs::create_dir(&outside).unwrap();
        if part != ".context-graph" {
            open(&project, None).unwrap();
            fs::remove_dir_all(project.join(part)).unwrap();
        }
        symlink(&outside, project.join(part)).unwrap();
        let text = refusal(&project, None);
        assert!(text.contains("it is a link"), "{text}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
    // In a folder without a mark, a link is moved aside with everything else, and state goes to a new folder.
    for part in ["live", "data"] {
        let folder = Folder::new();
        let (project, outside) = (folder.project(), folder.path("outside"));
        fs::create_dir(&outside).unwrap();
        fs::create_dir(project.join(".context-graph")).unwrap();
        symlink(&outside, project.join(".context-graph").join(part)).unwrap();
        let state = open(&project, None).unwrap();
        assert!(state.aside().is_some());
        assert!(state.path().to_string_lossy().contains("/.context-graph/state-"), "{:?}", state.path());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
    // A link to the inside is refused as well: it could be a folder that another program uses.
    let folder = Folder::new();
    let project = folder.project();
    fs::create_dir(project.join("inside")).unwrap();
    symlink("inside", project.join(".context-graph")).unwrap();
    assert!(refusal(&project, None).contains("it is a link"));
}

#[test]
#[cfg(unix)]
fn what_was_opened_up_is_closed_again_and_git_is_told_again() {
    let folder = Folder::new();
    let project = folder.project();
    fs::create_dir(project.join(".context-graph")).unwrap();
    fs::set_permissions(project.join(".context-graph"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(project.join(".context-graph/.gitignore"), "!*\n").unwrap();
    let state = open(&project, None).unwrap();
    let ours = state.marked_path().to_path_buf();
    let ignore = || fs::read_to_string(ours.join(".gitignore")).unwrap();
    assert_eq!((mode(&ours), mode(state.path())), (0o700, 0o700));
    let text = ignore();
    assert!(text.starts_with("!*\n") && text.contains("\n/live/\n"), "{text}");
    // An ignore file that somebody brought may come back, so the state has one of its own.
    assert!(state.path() != ours);
    assert_eq!(fs::read_to_string(state.path().join(".gitignore")).unwrap(), "*\n");
    state.tidy().unwrap();
    assert_eq!(ignore(), text);
    // Anything that is not a file is replaced, and a link's target is left alone.
    fs::write(folder.path("victim"), "").unwrap();
    fs::remove_file(ours.join(".gitignore")).unwrap();
    symlink(folder.path("victim"), ours.join(".gitignore")).unwrap();
    state.tidy().unwrap();
    assert_eq!(ignore(), IGNORED);
    assert_eq!(fs::read_to_string(folder.path("victim")).unwrap(), "");
}

#[test]
fn an_ignore_file_of_an_earlier_version_is_replaced_without_an_alarm() {
    let folder = Folder::new();
    let project = folder.project();
    let state = open(&project, None).unwrap();
    fs::write(state.path().join(".gitignore"), "*\n").unwrap();
    assert!(!state.keep_ignored().unwrap(), "nothing could have been committed");
    assert_eq!(fs::read_to_string(state.path().join(".gitignore")).unwrap(), IGNORED);
}

#[test]
#[cfg(unix)]
fn a_data_file_that_is_a_link_is_not_followed() {
    let folder = Folder::new();
    let project = folder.project();
    let state = open(&project, None).unwrap();
    fs::create_dir_all(state.database()).unwrap();
    symlink(folder.path("victim"), state.database().join("context-graph.db")).unwrap();
    assert!(state.open_store(1).is_err());
    assert!(!folder.path("victim").exists());
}

#[test]
fn a_file_where_a_folder_is_needed_is_refused() {
    let folder = Folder::new();
    let project = folder.project();
    fs::write(project.join("file"), "").unwrap();
    let text = refusal(&project, Some(Path::new("file")));
    assert!(
        text.ends_with("it is a file, a folder is needed; move the file away or name another place"),
        "{text}"
    );
    let below = refusal(&project, Some(Path::new("file/db")));
    // Windows only says that there is nothing below a file.
    let problem = if cfg!(unix) { "cannot be inspected" } else { "cannot be created" };
    assert!(below.contains(problem) && below.contains("name another place"), "{below}");
    fs::write(project.join(".context-graph"), "").unwrap();
    assert!(refusal(&project, None).contains("it is a file"));
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_is_refused_with_what_to_do() {
    let folder = Folder::new();
    let project = folder.project();
    let Some(_protection) = ReadOnly::protect(&project) else { return };
    let text = refusal(&project, None);
    assert!(text.contains("cannot be created"), "{text}");
    assert!(
        text.ends_with("make sure that you can write to the folder above it, or name another place"),
        "{text}"
    );
    // A home that does not exist at all and cannot be made.
    fs::write(folder.path("home"), "").unwrap();
    assert!(refusal(&folder.path("home/me"), None).contains("cannot be"));
}

/// Makes a folder unwritable: by its mode or, for root who may ignore that, by mounting it read-only.
#[cfg(unix)]
struct ReadOnly {
    path: PathBuf,
    mounted: bool,
}

#[cfg(unix)]
impl ReadOnly {
    fn protect(path: &Path) -> Option<Self> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o500)).unwrap();
        if fs::create_dir(path.join("probe")).is_err() {
            return Some(Self { path: path.to_path_buf(), mounted: false });
        }
        fs::remove_dir(path.join("probe")).unwrap();
        let mount = |arguments: &[&str]| {
            let mut command = Command::new("mount");
            command.args(arguments).arg(path).output().is_ok_and(|output| output.status.success())
        };
        if !mount(&["--bind", path.to_str().unwrap()]) {
            println!("SKIPPED: this user ignores modes and may not mount");
            return None;
        }
        assert!(mount(&["-o", "remount,bind,ro"]));
        Some(Self { path: path.to_path_buf(), mounted: true })
    }
}

#[cfg(unix)]
impl Drop for ReadOnly {
    fn drop(&mut self) {
        if self.mounted {
            Command::new("umount").arg(&self.path).status().unwrap();
        } else {
            fs::set_permissions(&self.path, fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}
