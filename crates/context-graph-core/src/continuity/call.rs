//! A tool's call and result as bounded text.
//!
//! A result may be megabytes long. Only the head and the tail of each string are read, and only so many strings,
//! so the cost of an event does not grow with its size.

use context_graph_events::{Event, Outcome};
use serde::{Deserialize, Serialize};

use super::terms::fingerprint;
use crate::gwt::forecast::CallKind;

/// How many bytes are read from the head and the tail of one string in a call's input.
const INPUT_WINDOW: (usize, usize) = (2_000, 400);
/// The same for a result; its first lines say most.
const OUTPUT_WINDOW: (usize, usize) = (1_200, 300);
/// The same for a prompt.
const PROMPT_WINDOW: (usize, usize) = (6_000, 1_500);
/// How many strings of an input or a result are read, and how many values are visited.
const MAX_STRINGS: usize = 24;
const MAX_VALUES: usize = 400;
/// How much text of an input or a result is read in total.
const MAX_TEXT: usize = 5_000;

/// Fields of a result that repeat the input or hold a whole file beside the change.
const REPEATED: [&str; 5] = ["originalFile", "oldString", "newString", "structuredPatch", "oldTodos"];

/// Fields that name a call best, the best first.
const TITLES: [&str; 8] =
    ["command", "file_path", "notebook_path", "pattern", "url", "query", "path", "description"];

/// What a tool does, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Looks at something or for something.
    Look,
    /// Changes or makes a file.
    Change,
    /// Runs a command.
    Run,
    /// Anything else.
    Other,
}

impl Act {
    fn of(tool: &str) -> Self {
        let tool = tool.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
        if has(&["todo", "task", "plan", "agent"]) {
            Self::Other
        } else if has(&["grep", "search", "glob", "find", "list", "fetch", "read", "view"]) {
            Self::Look
        } else if has(&["edit", "patch", "replace", "write", "create", "delete"]) {
            Self::Change
        } else if has(&["bash", "exec", "command", "shell", "terminal"]) {
            Self::Run
        } else {
            Self::Other
        }
    }
}

/// A tool's call and result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallText {
    /// The tool.
    pub tool: String,
    /// What it does.
    pub act: Act,
    /// Whether the call failed, and not because the user interrupted it.
    pub failed: bool,
    /// Text of the input.
    pub input: String,
    /// Text of the result.
    pub output: String,
    /// Hash of tool and input, to tell whether two calls are the same.
    pub request: u64,
    /// Hash of the result. For a failure the digits are left out: they may be times and line numbers.
    pub result: u64,
    /// For an edit, hashes of the replaced and the new text.
    pub edit: Option<(u64, u64)>,
    /// The call in a few words.
    pub title: String,
}

impl CallText {
    /// The call whose result an event reports; `None` for any other event.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let (tool, input, response, error) = match event {
            // If the response is empty, the error next to it is the result.
            Event::PostToolUse(p) => {
                let error = event.call_error().filter(|_| p.tool_response.is_null());
                (&p.tool_name, &p.tool_input, Some(&p.tool_response), error)
            }
            Event::PostToolUseFailure(p) => (&p.tool_name, &p.tool_input, None, Some(p.error.as_str())),
            _ => return None,
        };
        // A call that is rejected again and again is a loop, too.
        let failed = matches!(event.outcome(), Some(Outcome::Failure | Outcome::Denied));

        let mut text = [String::new(), String::new()];
        let mut hash = [fingerprint(tool), 0];
        let mut edit = (None, None);
        let mut title = (usize::MAX, String::new());
        for (side, root) in [(0, Some(input)), (1, response)] {
            let (mut values, mut strings) = (0, 0);
            // A stack instead of recursion, so depth is bounded only by the number of values.
            let mut stack: Vec<_> = root.map(|value| ("", value)).into_iter().collect();
            while let Some((key, value)) = stack.pop() {
                values += 1;
                if values > MAX_VALUES || strings >= MAX_STRINGS || text[side].len() >= MAX_TEXT {
                    break;
                }
                if let Some(string) = value.as_str() {
                    strings += 1;
                    let seen = window(string, if side == 0 { INPUT_WINDOW } else { OUTPUT_WINDOW });
                    let print = fingerprint(&seen) ^ string.len() as u64;
                    hash[side] = chain(hash[side], print);
                    text[side].push_str(&seen);
                    text[side].push('\n');
                    if side == 0 {
                        match key {
                            "old_string" => edit.0 = Some(print),
                            "new_string" => edit.1 = Some(print),
                            _ => {}
                        }
                        let rank = TITLES.iter().position(|title| *title == key).unwrap_or(TITLES.len());
                        if rank < title.0 && !seen.trim().is_empty() {
                            title = (rank, one_line(&seen, 80));
                        }
                    }
                } else if let Some(map) = value.as_object() {
                    // Sorted by name, so the map's own order does not matter. No real result has more fields
                    // than are taken.
                    let fields = map.iter().take(MAX_VALUES).map(|(key, value)| (key.as_str(), value));
                    let mut fields: Vec<_> =
                        fields.filter(|(key, _)| side == 0 || !REPEATED.contains(key)).collect();
                    fields.sort_unstable_by(|a, b| b.0.cmp(a.0));
                    stack.extend(fields);
                } else if let Some(list) = value.as_array() {
                    stack.extend(list.iter().take(MAX_STRINGS).rev().map(|value| (key, value)));
                } else {
                    let number = value.as_i64().or(value.as_bool().map(i64::from)).unwrap_or(-1);
                    hash[side] = chain(hash[side], fingerprint(key) ^ number.cast_unsigned());
                }
            }
        }
        if let Some(error) = error {
            text[1] = window(error, OUTPUT_WINDOW);
            hash[1] = fingerprint(&text[1].replace(|c: char| c.is_ascii_digit(), ""));
        }

        let name = one_line(tool, 40);
        let [input, output] = text;
        Some(Self {
            tool: tool.clone(),
            act: Act::of(tool),
            failed,
            input,
            output,
            request: hash[0],
            result: hash[1],
            edit: edit.0.zip(edit.1),
            title: if title.1.is_empty() { name } else { format!("{name}: {}", title.1) },
        })
    }
}

impl CallText {
    /// The kind of call, for the forecast of the next one.
    pub(crate) fn kind(&self) -> CallKind {
        match self.act {
            _ if self.failed => CallKind::Failed,
            Act::Look => CallKind::Look,
            Act::Change => CallKind::Change,
            Act::Run => CallKind::Run,
            Act::Other => CallKind::Other,
        }
    }
}

/// The part of a prompt that is read.
pub(crate) fn prompt_text(prompt: &str) -> String {
    window(prompt, PROMPT_WINDOW)
}

/// Combines hashes; the order matters.
fn chain(hash: u64, next: u64) -> u64 {
    (hash.rotate_left(5) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Head and tail of a string, cut at character boundaries.
fn window(text: &str, (head, tail): (usize, usize)) -> String {
    if text.len() <= head + tail {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(head);
    let tail = text.ceil_char_boundary(text.len() - tail);
    format!("{}\n{}", &text[..head], &text[tail..])
}

/// At most `max` characters of a text, on one line, without control characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for c in text.chars().take(4 * max) {
        let c = if c.is_control() || c.is_whitespace() { ' ' } else { c };
        if c == ' ' && (line.is_empty() || line.ends_with(' ')) {
            continue;
        }
        if count == max {
            line.push('…');
            break;
        }
        line.push(c);
        count += 1;
    }
    line.truncate(line.trim_end().len());
    line
}
