//! A project, a home and a scripted model for a client without any user's settings.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::clients::Client;
use super::model::{Model, Turn};
use crate::harness;

/// How long a client may take before it counts as hung.
const LIMIT: Duration = Duration::from_secs(90);

pub struct Lab {
    folder: TempDir,
    pub model: Model,
    client: Client,
}

impl Lab {
    /// A project and a home with the client's settings, and our hooks as `init` installs them.
    pub fn new(client: Client, turns: impl IntoIterator<Item = Turn>) -> Self {
        let lab = Self { folder: tempfile::tempdir().unwrap(), model: Model::start(turns), client };
        for folder in [lab.home(), lab.project().join(".git")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        lab.write("hello.txt", "hello\n");
        lab.write(".git/config", "");
        client.prepare(&lab);
        lab.ours(&["init", "--agent", client.name(), "--yes"]);
        lab.trust_hooks();
        lab
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        // The real path, because clients use that.
        std::fs::canonicalize(self.folder.path()).unwrap().join("project")
    }

    pub fn write(&self, name: &str, text: &str) {
        write_file(self.project().join(name), text);
    }

    pub fn write_home(&self, name: &str, text: &str) {
        write_file(self.home().join(name), text);
    }

    pub fn read_home(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.home().join(name)).ok()
    }

    pub fn has(&self, name: &str) -> bool {
        self.project().join(name).exists()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    /// Writes a policy of the project and trusts it.
    pub fn policy(&self, name: &str, text: &str) {
        self.write(&format!(".context-graph/{name}"), text);
        self.ours(&["trust", "--yes"]);
    }

    /// Runs a command of ours in the project, which must succeed.
    pub fn ours(&self, args: &[&str]) -> String {
        let output = self.our_command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn our_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_context-graph"));
        command.args(args).env_clear().env("HOME", self.home()).current_dir(self.project());
        command
    }

    /// The results of `doctor` that report something broken in this client.
    pub fn broken(&self) -> Vec<Value> {
        let output = self.our_command(&["doctor", "--json"]).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = said["checks"].as_array().unwrap().iter();
        checks.filter(|it| it["check"] == self.client.name() && it["level"] == "broken").cloned().collect()
    }

    /// Trusts our hooks as a user of Codex would: writes the hash of each hook to the configuration of Codex.
    fn trust_hooks(&self) {
        if self.client != Client::Codex {
            return;
        }
        assert_eq!(self.broken().len(), 1, "nobody has trusted them yet");
        let path = self.home().join(self.client.file());
        let hooks = context_graph_settings::codex_trust(
            &std::fs::canonicalize(&path).unwrap().to_string_lossy(),
            &std::fs::read_to_string(&path).unwrap(),
        );
        let mut config = self.read_home(".codex/config.toml").unwrap();
        for (key, hash) in hooks {
            let _ = write!(config, "[hooks.state.{}]\ntrusted_hash = {}\n", json!(key), json!(hash));
        }
        self.write_home(".codex/config.toml", &config);
    }

    /// Runs the client with a prompt and returns what it printed.
    pub fn prompt(&self, prompt: &str) -> String {
        let mut command = self.client.command(self, prompt);
        let out = self.folder.path().join("said");
        let said = std::fs::File::create(&out).unwrap();
        command.stdin(Stdio::null()).stdout(said.try_clone().unwrap()).stderr(said);
        let mut child = command.spawn().unwrap();
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > LIMIT {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{} hangs: {}", self.client.name(), std::fs::read_to_string(&out).unwrap());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        std::fs::read_to_string(&out).unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let said = std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
            harness::note(format!(
                "{} said: {}",
                self.client.name(),
                said.chars().take(4000).collect::<String>()
            ));
            harness::note(format!("the model was sent {} requests", self.model.requests().len()));
        }
    }
}

fn write_file(path: PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
