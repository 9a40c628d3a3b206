//! Where the client is, and how it is started.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Lab;

/// The path of the client, or why there is none.
pub fn find() -> Result<PathBuf, String> {
    let named = std::env::var_os("CLAUDE_BIN").map(PathBuf::from);
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/claude-code/claude");
    named
        .into_iter()
        .chain([installed])
        .find(|path| path.is_file())
        .ok_or_else(|| "the client is not installed: tests/e2e/install-client".to_owned())
}

impl Lab {
    /// A command that starts the client in the project, and the path of its debug log.
    pub(super) fn client(&self, args: &[&str]) -> (Command, PathBuf) {
        let nth = self.starts.replace(self.starts.get() + 1);
        let log = self.folder().join(format!("client-{nth}.log"));
        let tmp = self.folder().join("tmp");
        let mut command = Command::new(find().unwrap());
        command.arg("--debug-file").arg(&log);
        if let Some(settings) = self.settings.borrow().as_ref() {
            command.arg("--settings").arg(settings.to_string());
        }
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder().join("home"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("TMPDIR", &tmp)
            .env("CLAUDE_CODE_TMPDIR", &tmp)
            .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", self.model.port))
            .env("ANTHROPIC_API_KEY", "dummy-key")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1")
            // Gives hooks more time: their speed is measured elsewhere.
            .env("CONTEXT_GRAPH_TEST_PATIENCE", "1")
            .envs(self.env.borrow().iter().map(|(name, value)| (name, value)))
            .current_dir(self.project());
        (command, log)
    }
}
