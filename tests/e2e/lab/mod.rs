//! A project with our hooks, the real client, and a scripted model for the client.
//!
//! Each lab has its own folder. The client gets an empty environment, a fresh home, a dummy key and the address of
//! the scripted model, so it sees nothing of the machine's configuration and talks to nobody else.

mod audit;
mod client;
mod conversation;
mod record;
mod run;
#[cfg(unix)]
mod terminal;
mod trace;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness;
use crate::model::{Script, ScriptedModel, Turn};

pub use client::find;
use record::RecordedEvent;
pub use run::Run;
#[cfg(unix)]
pub use terminal::key;

/// How long anything may take before it counts as hung.
const LIMIT: Duration = Duration::from_mins(1);

/// The session id for tests that must name it.
pub const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// A project, the client and the model.
pub struct Lab {
    folder: TempDir,
    model: ScriptedModel,
    env: RefCell<Vec<(String, String)>>,
    /// Settings for the client's command line, in addition to the installed ones.
    settings: RefCell<Option<Value>>,
    starts: Cell<usize>,
    /// Notes about each run of the client, printed if the test fails.
    notes: RefCell<Vec<String>>,
}

impl Lab {
    /// A project with our hooks as `init` installs them.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with_script(Script::new(turns))
    }

    pub fn with_script(script: Script) -> Self {
        let lab = Self::without_hooks(script);
        lab.ours(&["init", "--yes"]);
        lab
    }

    /// A project without our hooks.
    pub fn without_hooks(script: Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "tmp"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let model = ScriptedModel::start();
        model.play(script);
        Self {
            folder,
            model,
            env: RefCell::default(),
            settings: RefCell::default(),
            starts: Cell::default(),
            notes: RefCell::default(),
        }
    }

    /// Replaces the model's script. For scripts that contain the project's path.
    pub fn play(&self, turns: impl IntoIterator<Item = Turn>) {
        self.play_script(Script::new(turns));
    }

    /// The same with side conversations.
    pub fn play_script(&self, script: Script) {
        self.model.play(script);
    }

    /// Sets a variable for the client, which passes it on to its hooks.
    pub fn set_env(&self, name: &str, value: &str) {
        self.env.borrow_mut().push((name.to_owned(), value.to_owned()));
    }

    /// Gives the client these settings on its command line, in addition to the installed ones.
    pub fn set_settings(&self, settings: Value) {
        *self.settings.borrow_mut() = Some(settings);
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// Writes a file of the project and returns its full path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    pub fn has(&self, name: &str) -> bool {
        self.project().join(name).exists()
    }

    /// Trusts the project's policies and configuration as they are.
    pub fn trust(&self) {
        self.ours(&["trust", "--yes"]);
    }

    /// Writes a policy in Rego for these events and trusts it. `rules` is the text after the package line.
    pub fn policy(&self, name: &str, events: &[&str], rules: &str) {
        let header = format!(
            "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: {}\n",
            serde_json::to_string(events).unwrap()
        );
        self.write(
            &format!(".context-graph/policies/{name}.rego"),
            &format!("{header}package policies.{name}\n\nimport rego.v1\n\n{rules}\n"),
        );
        self.trust();
    }

    /// The bodies of all requests to the model so far.
    pub fn requests(&self) -> Vec<Value> {
        self.model.requests()
    }

    /// Everything the model was sent, as text.
    pub fn model_saw(&self) -> String {
        let messages = self.requests().iter().map(|body| body["messages"].to_string()).collect::<Vec<_>>();
        messages.join("\n")
    }

    /// The last request to the model, as text.
    pub fn model_saw_last(&self) -> String {
        self.requests().last().map(|body| body["messages"].to_string()).unwrap_or_default()
    }

    /// Runs a command of ours in the project, which must succeed.
    pub fn ours(&self, args: &[&str]) -> String {
        let output = self.our_command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, as JSON.
    pub fn ours_json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ours(args)).unwrap()
    }

    /// A command of ours in the project.
    pub fn our_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(args)
            .env_clear()
            .env("HOME", self.folder().join("home"))
            .env("CLAUDE_PROJECT_DIR", self.project())
            .current_dir(self.project());
        command
    }

    /// Waits until this many events of this name are on record, in any session.
    pub fn wait_for_event(&self, event: &str, times: usize) {
        wait_until(&format!("{times} times {event}"), || self.whole_record().count(event) >= times);
    }

    fn note(&self, text: String) {
        self.notes.borrow_mut().push(text);
    }

    /// Changes the watched file until the client notices. There is no sign of when the client begins to watch, so
    /// one change may come too early.
    pub fn change_file_until_noticed(&self, name: &str) {
        let mut changes = 0;
        wait_until("the file's change to be noticed", || {
            changes += 1;
            self.write(name, &format!("change {changes}\n"));
            std::thread::sleep(Duration::from_millis(600));
            self.whole_record().count("FileChanged") > 0
        });
    }

    /// Changes the project's settings until the client notices.
    pub fn change_settings_until_noticed(&self) {
        const FILE: &str = ".claude/settings.local.json";
        let installed = std::fs::read_to_string(self.project().join(FILE)).unwrap();
        let mut settings: Value = serde_json::from_str(&installed).unwrap();
        let mut changes = 0;
        wait_until("the settings' change to be noticed", || {
            changes += 1;
            settings["env"] = json!({"CHANGE": changes.to_string()});
            self.write(FILE, &settings.to_string());
            std::thread::sleep(Duration::from_millis(1500));
            self.whole_record().count("ConfigChange") > 0
        });
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for note in self.notes.take() {
                harness::note(note);
            }
            let last = self.model_saw_last();
            let from = last.char_indices().rev().nth(2000).map_or(0, |(at, _)| at);
            harness::note(format!(
                "the model was sent {} requests, last: …{}",
                self.requests().len(),
                &last[from..]
            ));
        }
    }
}

/// Waits until the condition is true.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LIMIT, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_context-graph")
}
