//! The real Claude Code client with our binary on its hooks, in a place of its own.
//!
//! It gets an empty environment, a fresh home, a dummy key and the scripted model's address: nothing of the machine's
//! own configuration, and nobody else to talk to.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripted_model::{Script, ScriptedModel, Turn};

/// The events that get a hook: all but the one that would replace the client's own `git worktree`.
const EVENTS: [&str; 32] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
];

/// Where the client is, or why it is not to be had.
pub fn find() -> Result<PathBuf, String> {
    let named = std::env::var_os("CLAUDE_BIN").map(PathBuf::from);
    let installed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/claude-code/node_modules/@anthropic-ai/claude-code/bin/claude.exe");
    named
        .into_iter()
        .chain([installed])
        .find(|path| path.is_file())
        .ok_or_else(|| "the client is not installed; run tests/e2e/install-client".to_owned())
}

/// A project with the client's hooks set, and a scripted model.
pub struct Lab {
    folder: TempDir,
    client: PathBuf,
    model: ScriptedModel,
    /// Further variables for the client, which hands them on to its hooks.
    pub env: Vec<(&'static str, &'static str)>,
}

/// What a run of the client left.
#[derive(Debug)]
pub struct ClientRun {
    pub code: Option<i32>,
    pub lines: Vec<Value>,
    pub stderr: String,
}

impl Lab {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with_script(Script { turns: turns.into_iter().collect(), ..Script::default() })
    }

    pub fn with_script(script: Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "tmp"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let hook = json!({"type": "command", "command": binary(), "args": ["hooks", "event"], "timeout": 30});
        let hooks: serde_json::Map<String, Value> =
            EVENTS.iter().map(|event| ((*event).to_owned(), json!([{"hooks": [hook]}]))).collect();
        let settings = folder.path().join("settings.json");
        std::fs::write(settings, json!({"hooks": hooks}).to_string()).unwrap();
        Self { client: find().unwrap(), model: ScriptedModel::start(script), folder, env: Vec::new() }
    }

    /// The same project with this script, for one that needs to know the project's folder.
    pub fn play(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.model = ScriptedModel::start(Script { turns: turns.into_iter().collect(), ..Script::default() });
        self
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Types a prompt into the client's print mode, with our hooks given on its command line, and waits for it to end.
    pub fn prompt(&self, prompt: &str, args: &[&str]) -> ClientRun {
        let settings = self.folder.path().join("settings.json");
        self.prompt_as_installed(prompt, &[&["--settings", settings.to_str().unwrap()], args].concat())
    }

    /// The same with whatever hooks the project's own settings have.
    pub fn prompt_as_installed(&self, prompt: &str, args: &[&str]) -> ClientRun {
        let home = self.folder.path().join("home");
        let tmp = self.folder.path().join("tmp");
        let mut child = Command::new(&self.client)
            .args(["-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"])
            .args(args)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("TMPDIR", &tmp)
            .env("CLAUDE_CODE_TMPDIR", &tmp)
            .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", self.model.port))
            .env("ANTHROPIC_API_KEY", "dummy-key")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .envs(self.env.iter().copied())
            .current_dir(self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        let output = wait(child, Duration::from_secs(90));
        let stdout = String::from_utf8_lossy(&output.stdout);
        ClientRun {
            code: output.status.code(),
            lines: stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Everything the model was sent, as text.
    pub fn model_saw(&self) -> String {
        self.model.requests().iter().map(|body| body["messages"].to_string()).collect::<Vec<_>>().join("\n")
    }

    /// The bodies of all requests to the model so far.
    pub fn requests(&self) -> Vec<Value> {
        self.model.requests()
    }

    /// Runs a command of ours in the project.
    pub fn ours(&self, args: &[&str]) -> String {
        let output = Command::new(binary())
            .args(args)
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("CLAUDE_PROJECT_DIR", self.project())
            .current_dir(self.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, as JSON.
    pub fn ours_json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ours(args)).unwrap()
    }
}

impl ClientRun {
    /// The run went well and the client found nothing wrong with any hook.
    pub fn assert_clean(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        for hook in self.hooks() {
            assert_eq!(hook["outcome"], "success", "{hook}");
            assert_eq!(hook["exit_code"], 0, "{hook}");
        }
        assert!(!self.stderr.to_lowercase().contains("hook"), "{}", self.stderr);
        self
    }

    /// The client's own report on each hook.
    pub fn hooks(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(|line| line["subtype"] == "hook_response")
    }

    /// How often the client fired a hook on this event.
    pub fn fired(&self, event: &str) -> usize {
        self.hooks().filter(|hook| hook["hook_event"] == event).count()
    }

    pub fn session_id(&self) -> String {
        let line = self.lines.iter().find(|line| line["session_id"].is_string()).unwrap();
        line["session_id"].as_str().unwrap().to_owned()
    }
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_context-graph")
}

fn wait(child: std::process::Child, limit: Duration) -> std::process::Output {
    let started = Instant::now();
    // The output is read by threads of `wait_with_output`; a client that hangs is ended from here.
    let id = child.id();
    let watcher = std::thread::spawn(move || child.wait_with_output().unwrap());
    while !watcher.is_finished() {
        if started.elapsed() > limit {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    watcher.join().unwrap()
}
