//! Command lines that git runs: the values of settings, and remote helpers.

use crate::effects::shell::{Flow, Shell};
use crate::effects::{Text, Unknown};
use crate::programs::Invocation;

impl Shell<'_> {
    /// A remote helper that is a command line: `ext::sh -c …`.
    pub(super) fn remote_helpers(&mut self, call: &Invocation<'_>) {
        for word in call.words.iter().filter_map(|word| word.strip_prefix("ext::")) {
            self.run(helper_words(&word.to_string()), Vec::new(), &Flow::default());
        }
    }

    /// Settings whose value git runs.
    pub(super) fn git_setting(&mut self, name: &str, value: &Text) {
        let Some(text) = value.literal() else { return };
        let runs = matches!(
            name,
            "core.sshcommand"
                | "core.pager"
                | "core.editor"
                | "core.fsmonitor"
                | "sequence.editor"
                | "diff.external"
                | "core.askpass"
                | "credential.helper"
                | "core.gitproxy"
                | "gpg.program"
        ) || name.starts_with("filter.")
            || name.starts_with("pager.")
            || [
                ".cmd",
                ".command",
                ".program",
                ".uploadpack",
                ".receivepack",
                ".textconv",
                ".driver",
                "hook",
                ".helper",
                ".editor",
            ]
            .iter()
            .any(|end| name.ends_with(end));
        if let Some(script) = text.strip_prefix('!') {
            self.script(script);
        } else if name.starts_with("filter.") && text.contains(' ') {
            // A filter reads the files.
            self.script_fed(text, &Flow { file: true, piped: true, ..Flow::default() });
        } else if runs && text != "true" && text != "false" && text.contains(' ') {
            self.script(text);
        } else if runs && text.starts_with("./") {
            self.runs_file(value, "", &[]);
        } else if runs && ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| text.starts_with(folder)) {
            self.unknown(Unknown::Opaque(format!("git would run {text}")));
        }
    }
}

/// The words of a remote helper's command line. A blank within a word has a percent sign before it.
fn helper_words(line: &str) -> Vec<Text> {
    line.replace("% ", "\0")
        .split_whitespace()
        .map(|word| Text::from(word.replace('\0', " ").as_str()))
        .collect()
}
