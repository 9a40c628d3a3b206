//! The client as a person uses it, on a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::trace::Trace;
use super::{Lab, wait_until};
use crate::pty;

/// Keys that have no letter.
pub mod key {
    pub const ENTER: &str = "\r";
    pub const ESCAPE: &str = "\x1b";
}

/// Texts that appear only in the answer of a hook.
const RAW: [&str; 5] =
    ["execution_time_ms", "\"success\":", "hookSpecificOutput", "additionalContext", "hook_event_name"];

/// The pause after each key, so that the client does not treat several as a paste.
const BETWEEN_KEYS: Duration = Duration::from_millis(300);

/// An interactive session. If it is dropped before it has ended, the client is killed.
pub struct Terminal<'a> {
    lab: &'a Lab,
    client: Child,
    master: File,
    shown: Arc<Mutex<Vec<u8>>>,
    /// The length of `shown` when the last line was entered.
    before: usize,
    log: PathBuf,
    ended: bool,
}

impl Lab {
    /// Starts the client on a terminal and waits until it accepts input.
    pub fn terminal(&self, args: &[&str]) -> Terminal<'_> {
        self.skip_onboarding();
        let (master, terminal) = pty::open(50, 160);
        let (mut command, log) = self.client(args);
        let stdio = || Stdio::from(terminal.try_clone().unwrap());
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        let client = command.spawn().unwrap();
        let shown = Arc::<Mutex<Vec<u8>>>::default();
        let (mut from, shared) = (master.try_clone().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                shared.lock().unwrap().extend(&buffer[..length]);
            }
        });
        let terminal = Terminal { lab: self, client, master, shown, before: 0, log, ended: false };
        terminal.wait_for_text("❯");
        terminal
    }

    /// Answers in advance what the client asks at its first start.
    fn skip_onboarding(&self) {
        let settled = json!({
            "hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5,
            "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
            "projects": {self.project().to_str().unwrap():
                {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
        });
        std::fs::write(self.folder().join("home/.claude.json"), settled.to_string()).unwrap();
    }
}

impl Terminal<'_> {
    /// Types a line and presses Enter.
    pub fn enter(&mut self, line: &str) {
        self.before = self.shown.lock().unwrap().len();
        self.press(line);
        self.press(key::ENTER);
    }

    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
        std::thread::sleep(BETWEEN_KEYS);
    }

    /// Presses keys, repeatedly, until a text is shown: a new dialog ignores keys for a moment.
    pub fn press_until(&mut self, keys: &str, text: &str) {
        let mut rounds = 0;
        wait_until(&format!("{text:?} on the screen"), || {
            if rounds % 40 == 0 {
                self.press(keys);
            }
            rounds += 1;
            self.has_shown(text)
        });
    }

    /// Waits until a text has been shown since the last line was entered.
    pub fn wait_for_text(&self, text: &str) {
        wait_until(&format!("{text:?} on the screen"), || self.has_shown(text));
    }

    /// Whether a text has been shown since the last line was entered. Blanks are ignored, because the client moves
    /// the cursor instead of printing them.
    fn has_shown(&self, text: &str) -> bool {
        let shown = plain(&self.shown.lock().unwrap()[self.before..]);
        without_blanks(&shown).contains(&without_blanks(text))
    }

    /// Everything that was shown, without escape sequences.
    pub fn shown(&self) -> String {
        plain(&self.shown.lock().unwrap())
    }

    /// Leaves the client, and asserts that it reports no problem with our hooks and showed no raw answer.
    pub fn leave(mut self) {
        self.enter("/exit");
        let mut was_asked = false;
        wait_until("the end of the client", || {
            // If background tasks are still running, the client asks before it stops them.
            if !was_asked && self.has_shown("Exit and stop tasks") {
                was_asked = true;
                self.press(key::ENTER);
            }
            self.client.try_wait().unwrap().is_some()
        });
        self.ended = true;
        self.note();
        Trace::read(&self.log).assert_clean();
        assert!(!self.shown().contains("hook error: context-graph"), "the user was shown a hook's error");
        let shown = without_blanks(&self.shown());
        for raw in RAW {
            assert!(!shown.contains(raw), "the user was shown a hook's answer: {raw}");
        }
    }

    fn note(&self) {
        let shown = self.shown();
        let from = shown.char_indices().rev().nth(3000).map_or(0, |(at, _)| at);
        self.lab.note(format!("the terminal showed: {}\ntrace:\n{}", &shown[from..], Trace::read(&self.log)));
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.client.kill();
            let _ = self.client.wait();
            self.note();
        }
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Terminal output without escape sequences.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            // Parameters, then one final letter.
            Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // A command for the terminal (OSC), up to a bell or the next escape.
            Some(']') => while chars.next().is_some_and(|c| c != '\x07' && c != '\\') {},
            _ => {}
        }
    }
    plain
}
