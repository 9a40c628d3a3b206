//! The clients: where they are, how they are configured for the scripted model, and how they are started.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::lab::Lab;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    Codex,
    Copilot,
    Gemini,
}

impl Client {
    pub const ALL: [Self; 3] = [Self::Codex, Self::Copilot, Self::Gemini];

    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
        }
    }

    /// Why it cannot be run; `None` if it can.
    pub fn missing(self) -> Option<String> {
        if node().is_none() {
            return Some("node is not installed".to_owned());
        }
        let is_there = self.program().exists();
        (!is_there).then(|| format!("{} is not installed: tests/agents/install-agents", self.name()))
    }

    fn program(self) -> PathBuf {
        installed().join("node_modules/.bin").join(self.name())
    }

    /// The file that `init` writes, below the user's home.
    pub fn file(self) -> &'static str {
        match self {
            Self::Codex => ".codex/hooks.json",
            Self::Copilot => ".copilot/hooks/context-graph.json",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    /// Writes the settings that a user would have before `init`.
    pub fn prepare(self, lab: &Lab) {
        let port = lab.model.port;
        match self {
            Self::Codex => lab.write_home(
                ".codex/config.toml",
                &format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"loop\"\ncheck_for_update_on_startup = false\n\
                     [model_providers.loop]\nname = \"loop\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"LOOP_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\
                     [projects.{}]\ntrust_level = \"trusted\"\n",
                    json!(lab.project())
                ),
            ),
            Self::Copilot => {}
            Self::Gemini => {
                let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"},
                    "folderTrust": {"enabled": false}}, "general": {"enableAutoUpdate": false},
                    "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
                    "model": {"name": "gemini-2.5-pro"}});
                lab.write_home(self.file(), &format!("{settings:#}\n"));
            }
        }
    }

    /// A command that runs the client with a prompt. Every tool is allowed, so that only our hooks can deny a
    /// call.
    pub fn command(self, lab: &Lab, prompt: &str) -> Command {
        let mut command = Command::new(self.program());
        let node = node().unwrap();
        let url = format!("http://127.0.0.1:{}", lab.model.port);
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", node.display()))
            .env("HOME", lab.home())
            .env("TERM", "dumb")
            // Without this variable, bash reads the user's profile.
            .env("SHLVL", "1")
            // Gives hooks more time: their speed is measured elsewhere.
            .env("CONTEXT_GRAPH_TEST_PATIENCE", "1")
            .current_dir(lab.project());
        match self {
            Self::Codex => command
                .args(["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", prompt])
                .env("LOOP_KEY", "dummy"),
            Self::Copilot => command
                .args(["-p", prompt, "--allow-all-tools"])
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_AUTO_UPDATE", "false")
                // All tests share what the client unpacks on its first start.
                .env("COPILOT_CACHE_HOME", installed().join("cache"))
                .env("COPILOT_PKG_CACHE_HOME", installed().join("cache"))
                .env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"))
                .env("COPILOT_PROVIDER_API_KEY", "dummy")
                .env("COPILOT_MODEL", "gpt-5"),
            Self::Gemini => command
                .args(["--approval-mode", "yolo", "-p", prompt])
                .env("GEMINI_API_KEY", "dummy")
                .env("GOOGLE_GEMINI_BASE_URL", url)
                .env("GEMINI_CLI_NO_RELAUNCH", "true")
                .env("NO_COLOR", "1"),
        };
        command
    }
}

/// Where the clients are installed.
fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/agents")
}

/// The folder with `node`, which starts all of them.
fn node() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).find(|folder| folder.join("node").is_file())
}
