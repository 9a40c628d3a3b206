//! An isolated place to run the real binary in.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "a module of several test programs, each of which uses its own part"
)]

pub mod answers;
#[cfg(unix)]
pub mod pty;
#[cfg(unix)]
pub mod team;
#[cfg(unix)]
pub mod terminal;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;

/// The standard library needs this function to start a process in another folder with `posix_spawn`. Without it,
/// it forks, which takes longer than many of the commands here. It looks the function up at run time, and a static
/// program only contains it if something refers to it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[used]
static STARTS_WITHOUT_A_COPY: unsafe extern "C" fn(
    *mut libc::posix_spawn_file_actions_t,
    *const libc::c_char,
) -> libc::c_int = libc::posix_spawn_file_actions_addchdir_np;

/// A project folder and a home, and nothing else.
pub struct Place {
    folder: TempDir,
}

#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    /// A place where no upkeep starts by itself, so that a test can change files directly.
    pub fn without_upkeep() -> Self {
        let place = Self::new();
        let state = place.project().join(".context-graph");
        std::fs::create_dir(&state).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        // As if an upkeep had just been done.
        std::fs::write(state.join("maintained"), "\n").unwrap();
        place
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_context-graph"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("CONTEXT_GRAPH_TEST_ALONE", "1")
            .env("CLAUDE_PROJECT_DIR", self.project())
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Writes a policy of the project, and trusts it.
    pub fn rego(&self, name: &str, text: &str) {
        self.trusted_file(&format!("policies/{name}"), text);
    }

    /// Writes a file into the state folder, as a checkout could.
    pub fn foreign_file(&self, name: &str, text: &str) {
        let path = self.project().join(".context-graph").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a file into the state folder, and trusts what is there.
    pub fn trusted_file(&self, name: &str, text: &str) {
        self.foreign_file(name, text);
        self.trust();
    }

    /// Trusts the project's files as they are.
    pub fn trust(&self) {
        let run = self.run(&["trust", "--yes"]);
        assert_eq!(run.code, 0, "{run:?}");
    }

    /// Runs with an empty stdin.
    pub fn run(&self, args: &[&str]) -> Run {
        let run = finish(self.command(args).output().unwrap());
        answers::check(args, &run);
        run
    }

    /// Runs with this on stdin.
    pub fn send(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Run {
        let run = send(self.command(args), stdin.as_ref());
        answers::check(args, &run);
        run
    }
}

/// Creates a program file with a shell, which gets `stdin`. If this process wrote the file itself, a process that
/// another test starts at that moment would inherit the open file, and the system refuses to run a file that is
/// open for writing.
#[cfg(unix)]
fn make_program(path: &Path, how: &str, stdin: &[u8]) {
    let mut shell = Command::new("sh");
    shell.args(["-c", how]).arg(path).arg(env!("CARGO_BIN_EXE_context-graph"));
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = send(shell, stdin);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Writes a script that is going to be run.
#[cfg(unix)]
pub fn write_program(path: &Path, text: &str) {
    make_program(path, r#"mkdir -p "${0%/*}" && cat > "$0" && chmod 755 "$0""#, text.as_bytes());
}

/// Puts a copy of our program there.
#[cfg(unix)]
pub fn copy_program(path: &Path) {
    make_program(path, r#"mkdir -p "${0%/*}" && cp "$1" "$0""#, b"");
}

/// Runs each case, several at once: they mostly wait for processes and for the disk.
pub fn each<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(case);
                }
            });
        }
    });
}

/// Runs a prepared command with this on stdin.
pub fn send(mut command: Command, stdin: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // The child may answer without reading everything.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    finish(child.wait_with_output().unwrap())
}

fn finish(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// The JSON object on stdout.
    pub fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e} in stdout of {self:?}"));
        assert!(value.is_object(), "{self:?}");
        assert!(!has_null(&value), "a null in {self:?}");
        value
    }

    pub fn succeeded(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        let json = self.json();
        assert_eq!(json["success"], true, "{self:?}");
        json
    }

    /// Checks for exit code 1, the reason as JSON, and one line for people.
    pub fn failed(&self, code: &str) -> String {
        assert_eq!(self.code, 1, "{self:?}");
        let json = self.json();
        assert_eq!(json["error_code"], code, "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        // Hooks answer in their own format.
        let words = if json["success"] == false { &json["error"] } else { &json["message"] };
        words.as_str().unwrap().to_owned()
    }
}

pub fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

/// The client's recorded payloads.
pub fn recorded() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../context-graph-events/tests/payloads");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("variants")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|e| e == "json") && !name.starts_with("statusLine") {
                files.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}
