//! Prints the story: 80 columns, with colours only on a terminal.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::failure::CommandResult;
use crate::cost::Costs;
use crate::summary::counted;
use crate::{Environment, table, terminal};

/// The widest line.
const WIDTH: usize = 78;
/// The width of the left column with its spaces.
const LEFT: usize = 9;
/// How long the reader gets for a line and for a scene.
const LINE: Duration = Duration::from_millis(70);
const SCENE: Duration = Duration::from_millis(450);
/// After this time there are no pauses, so that it ends in time on a busy machine.
const PAUSES_END: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, Copy)]
enum Tone {
    Plain,
    Quiet,
    Strong,
    Good,
    Watchful,
    Bad,
}

impl Tone {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Quiet => Some("2"),
            Self::Strong => Some("1"),
            Self::Good => Some("32"),
            Self::Watchful => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}

/// Prints what happens as it happens.
#[derive(Debug)]
pub(super) struct Story {
    fast: bool,
    colour: bool,
    scenes: usize,
    /// The prefix that is removed from paths.
    prefix: String,
    outcome: CommandResult,
    started: Instant,
}

impl Story {
    pub(super) fn new(fast: bool, project: &Path) -> Self {
        let colour = std::io::stdout().is_terminal() && Environment::welcomes_colour();
        let prefix = format!("{}{}", project.display(), std::path::MAIN_SEPARATOR);
        Self { fast, colour, scenes: 0, prefix, outcome: Ok(()), started: Instant::now() }
    }

    /// Whether printing succeeded.
    pub(super) fn outcome(self) -> CommandResult {
        self.outcome
    }

    pub(super) fn title(&mut self) {
        self.line(&[
            (Tone::Strong, "context-graph"),
            (Tone::Plain, ": a session, and a hook process for each of its events"),
        ]);
        self.line(&[]);
    }

    pub(super) fn scene(&mut self, title: &str) {
        self.pause(SCENE);
        self.scenes += 1;
        self.line(&[]);
        self.line(&[(Tone::Strong, &format!("{}. {title}", self.scenes))]);
    }

    pub(super) fn prompt(&mut self, words: &str) {
        for (number, row) in wrapped(words, WIDTH - LEFT).into_iter().enumerate() {
            self.row(if number == 0 { "you" } else { "" }, Tone::Strong, &[(Tone::Plain, &row)]);
        }
    }

    /// A call that was made, and the state of the session after it.
    pub(super) fn call(&mut self, tool: &str, shown: &str, result: &str, answer: &Value) {
        let continuity = answer["ic_classification"]["value"].as_f64().unwrap_or(1.0);
        let tone = match continuity {
            good if good >= 0.9 => Tone::Good,
            fair if fair >= 0.7 => Tone::Plain,
            low if low >= 0.5 => Tone::Watchful,
            _ => Tone::Bad,
        };
        let shown = cut(shown, 44);
        let gap = " ".repeat(45 - shown.chars().count());
        let bar = bar(continuity);
        self.row(
            tool,
            Tone::Quiet,
            &[
                (Tone::Plain, &shown),
                (Tone::Plain, &gap),
                (Tone::Bad, &format!("{result:8}")),
                (tone, &bar),
                (tone, &format!(" {continuity:.2}")),
            ],
        );
    }

    pub(super) fn denied(&mut self, tool: &str, shown: &str, reason: &str) {
        self.row(tool, Tone::Quiet, &[(Tone::Plain, &cut(shown, WIDTH - LEFT))]);
        let reason = reason.replace(&self.prefix, "");
        for (number, row) in wrapped(&reason, WIDTH - LEFT).into_iter().enumerate() {
            self.row(if number == 0 { "denied" } else { "" }, Tone::Bad, &[(Tone::Plain, &row)]);
        }
    }

    /// What the hook gave the model, if anything. Each line gets at most `rows` rows; the last one gets a few
    /// more, because it has the news.
    pub(super) fn injected(&mut self, answer: &Value, rows: usize) {
        let Some(words) = answer["context_injection"].as_str() else { return };
        self.row("", Tone::Plain, &[(Tone::Quiet, "the model is told:")]);
        let words = words.replace(&self.prefix, "");
        let mut lines = words.lines().peekable();
        while let Some(line) = lines.next() {
            let mut all = wrapped(line, WIDTH - LEFT - 2);
            let rows = if lines.peek().is_some() { rows } else { rows + 2 };
            if all.len() > rows {
                all.truncate(rows);
                if let Some(last) = all.last_mut() {
                    *last = format!("{}…", cut(last, WIDTH - LEFT - 3).trim_end_matches('…'));
                }
            }
            for row in all {
                self.row("", Tone::Plain, &[(Tone::Watchful, "│ "), (Tone::Plain, &row)]);
            }
        }
    }

    pub(super) fn ending(&mut self, hooks: usize, guard: &Costs, next: &str) {
        self.pause(SCENE);
        self.line(&[]);
        let hooks = counted(hooks, "hook", "hooks");
        self.line(&[(Tone::Plain, &format!("{hooks} ran; before a call: {}.", guard.summary()))]);
        self.line(&[(Tone::Plain, "In your own project:")]);
        self.line(&[(Tone::Strong, next)]);
    }

    pub(super) fn kept(&mut self, project: &Path, program: &str) {
        self.line(&[(Tone::Plain, &format!("The session is in {}", project.display()))]);
        // State is only accepted with the secret in the home of the user who made it, and the demo has its own
        // home.
        let home = project.with_file_name("home");
        let look = format!("HOME={} {program} session show --project {}", home.display(), project.display());
        self.line(&[(Tone::Quiet, &look)]);
    }

    fn row(&mut self, left: &str, tone: Tone, rest: &[(Tone, &str)]) {
        let left = format!("  {left:7}");
        let parts: Vec<(Tone, &str)> =
            [(tone, left.as_str())].into_iter().chain(rest.iter().copied()).collect();
        self.line(&parts);
        self.pause(LINE);
    }

    fn line(&mut self, parts: &[(Tone, &str)]) {
        let mut line = String::new();
        for (tone, text) in parts {
            let text = terminal::plain(text, false);
            match tone.code().filter(|_| self.colour) {
                Some(code) => line.push_str(&["\x1b[", code, "m", &text, "\x1b[0m"].concat()),
                None => line.push_str(&text),
            }
        }
        let line = if self.colour { line } else { line.trim_end().to_owned() };
        if self.outcome.is_ok() {
            self.outcome = table::print_text(&format!("{line}\n"));
        }
    }

    fn pause(&self, time: Duration) {
        if !self.fast && self.started.elapsed() < PAUSES_END {
            std::thread::sleep(time);
        }
    }
}

/// Ten marks; the value decides how many are filled.
fn bar(value: f64) -> String {
    let full = (1..=10).filter(|tenth| f64::from(*tenth) <= value * 10.0 + 0.5).count();
    ["■".repeat(full), "·".repeat(10 - full)].concat()
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

/// The text in rows of at most `width`, broken between words if possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split_whitespace() {
        let word = cut(word, width);
        let last = rows.last().map_or(0, |row| row.chars().count());
        let needed = word.chars().count() + usize::from(last > 0);
        match rows.last_mut() {
            Some(row) if last + needed <= width => {
                if last > 0 {
                    row.push(' ');
                }
                row.push_str(&word);
            }
            _ => rows.push(word),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_never_wider_than_asked() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("überlanges-wort x", 5), ["über…", "x"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn a_bar_has_ten_marks() {
        assert_eq!((bar(1.0), bar(0.0)), ("■".repeat(10), "·".repeat(10)));
        assert_eq!(bar(0.49), "■■■■■·····");
    }
}
