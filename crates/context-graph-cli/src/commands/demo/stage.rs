//! Where the session is played: its own project and home, and a process for every event.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use context_graph_storage::paths::{self, STATE_FOLDER};
use context_graph_storage::sessions::UPKEEP_STAMP;
use serde_json::{Value, json};

use crate::commands::failure::Failure;
use crate::cost::Costs;
use crate::error_code::ErrorCode;
use crate::process::{self, End, ProgramOutput};
use crate::scratch::Scratch;

const SESSION: &str = "demo";
/// Longer than any hook runs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The stage, and what was played on it so far.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    program: &'a str,
    project: PathBuf,
    home: PathBuf,
    /// The times of the hook before a tool call. Only this event, because times of different events cannot be
    /// compared.
    guard: Costs,
    hooks: usize,
    calls: usize,
}

impl<'a> Stage<'a> {
    pub(super) fn new(scratch: &Scratch<'_>, program: &'a str) -> Result<Self, Failure> {
        let (project, home) = (scratch.path().join("project"), scratch.path().join("home"));
        for folder in [project.join(".git"), project.join("src").join("parser"), home.clone()] {
            std::fs::create_dir_all(&folder)
                .map_err(|error| failed(&format!("{}: {error}", folder.display())))?;
        }
        // Marks the upkeep as just done. Otherwise the end of the session would start one, and it would outlive
        // the folder.
        let state = project.join(STATE_FOLDER);
        let noted = std::fs::create_dir(&state).and_then(|()| paths::touch(&state.join(UPKEEP_STAMP)));
        noted.map_err(|error| failed(&format!("{}: {error}", state.display())))?;
        Ok(Self { program, project, home, guard: Costs::default(), hooks: 0, calls: 0 })
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// The id of the next tool call.
    pub(super) fn next_id(&mut self) -> String {
        self.calls += 1;
        format!("call-{}", self.calls)
    }

    /// Sends an event to a new hook process and returns its answer.
    pub(super) fn event(&mut self, name: &str, own: Value) -> Result<Value, Failure> {
        let mut event = json!({
            "hook_event_name": name, "session_id": SESSION, "transcript_path": "", "cwd": self.project,
            "permission_mode": "default",
        });
        if let (Some(event), Value::Object(own)) = (event.as_object_mut(), own) {
            event.extend(own);
        }
        let reply = self.start(event.to_string().as_bytes());
        self.hooks += 1;
        if name == "PreToolUse" {
            self.guard.took(reply.took);
        }
        if !reply.succeeded() {
            let why = match &reply.end {
                End::Exited(_) => reply.stderr.trim(),
                End::TimedOut => "no answer in time",
                End::NotStarted(error) => error,
            };
            return Err(failed(&format!("{name}: {why}")));
        }
        // Output that is not JSON is plain text for the summariser.
        Ok(serde_json::from_str(&reply.stdout).unwrap_or_else(|_| json!({"context_injection": reply.stdout})))
    }

    /// Starts the program as the client starts a hook, without anything of the user.
    fn start(&self, event: &[u8]) -> ProgramOutput {
        let mut command = Command::new(self.program);
        command
            .args(["hooks", "event", "--stdin"])
            .env_clear()
            .env("HOME", &self.home)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .current_dir(&self.project);
        process::ask(command, event, PATIENCE)
    }

    /// How many hooks have run.
    pub(super) fn hooks(&self) -> usize {
        self.hooks
    }

    pub(super) fn guard(&self) -> &Costs {
        &self.guard
    }
}

fn failed(what: &str) -> Failure {
    Failure::new(ErrorCode::Internal, format!("the demo could not be played: {what}"))
        .with_next_step("--keep keeps the folder to look into")
}
