//! What a session would need to be told to go on where it was: facts, in few words.

use context_graph_events::words::shortened;

use super::Session;
use super::work::{FileTouched, Work, call};

/// The longest digest, in characters.
pub const DIGEST_MAX: usize = 2000;

/// How many files, failures and actions a digest names.
const FILES: usize = 10;
const FAILURES: usize = 5;

impl Session {
    /// The session in at most `max` characters, or nothing if there is nothing to tell.
    pub fn digest(&self, max: usize) -> Option<String> {
        let work = &self.state.work;
        if work.purpose.is_empty() && work.last_actions.is_empty() {
            return None;
        }
        let mut lines = Lines { text: String::new(), left: max };
        if !work.purpose.is_empty() {
            lines.add(&format!("The user asked: \"{}\"", work.purpose));
        }
        if !work.asked_since.is_empty() {
            lines.add(&format!("Then: \"{}\"", work.asked_since.join("\"; \"")));
        }
        if let Some(files) = files(work) {
            lines.add(&format!("Files touched: {files}"));
        }
        for failing in work.failing.iter().rev().take(FAILURES) {
            let times = if failing.times > 1 { format!(" {} times", failing.times) } else { String::new() };
            let call = call(&failing.tool, &failing.what);
            lines.add(&format!(
                "Failed{times} and not seen to succeed since: {call}, with \"{}\"",
                failing.how
            ));
        }
        if !work.decisions.is_empty() {
            lines.add(&format!("Decided: {}", work.decisions.join("; ")));
        }
        if !work.last_actions.is_empty() {
            let told: Vec<String> =
                work.last_actions.iter().map(|(action, times)| repeated(action, *times)).collect();
            lines.add(&format!("Last actions: {}", told.join(", ")));
        }
        (!lines.text.is_empty()).then_some(lines.text)
    }
}

/// The files that tell most: those changed, then those read, most often first.
fn files(work: &Work) -> Option<String> {
    let mut files: Vec<&FileTouched> = work.files.iter().collect();
    files.sort_by(|a, b| (b.writes, b.reads, b.last, &a.path).cmp(&(a.writes, a.reads, a.last, &b.path)));
    let told: Vec<String> = files.iter().take(FILES).map(|file| describe(file)).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn describe(file: &FileTouched) -> String {
    match (file.writes, file.reads) {
        (0, reads) => format!("`{}` (read {reads}×)", file.path),
        (writes, 0) => format!("`{}` (changed {writes}×)", file.path),
        (writes, reads) => format!("`{}` (changed {writes}×, read {reads}×)", file.path),
    }
}

fn repeated(action: &str, times: u32) -> String {
    if times > 1 { format!("{action} {times}×") } else { action.to_owned() }
}

/// Lines that fit. One that does not is cut at the end of what is left.
struct Lines {
    text: String,
    left: usize,
}

impl Lines {
    fn add(&mut self, line: &str) {
        let length = line.chars().count() + usize::from(!self.text.is_empty());
        if self.left < 40 {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if length <= self.left {
            self.text.push_str(line);
            self.left -= length;
        } else {
            self.text.push_str(&shortened(line, self.left - 1));
            self.left = 0;
        }
    }
}
