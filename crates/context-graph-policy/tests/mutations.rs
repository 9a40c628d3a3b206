//! The corpora's calls with changed options (cut, moved or emptied): deciding about them never panics.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use context_graph_events::Event;
use context_graph_policy::{Context, Guards, ListedFileSystem};
use serde_json::{Value, json};

/// How many changed forms of each call are tried.
const FORMS: usize = 4;

fn decides(guards: &Guards, tool: &str, command: &str) -> bool {
    let fs = ListedFileSystem::default();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/home/dev/app",
        "tool_name": tool, "tool_input": {"command": command}, "tool_use_id": "1",
    });
    let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
    let ctx = Context { home: "/home/dev", project: "/home/dev/app", cwd: "/home/dev/app", fs: &fs };
    catch_unwind(AssertUnwindSafe(|| guards.decide(&event, &ctx))).is_ok()
}

/// The shell command of each line of a corpus, also if it is in the input of a tool.
fn commands(corpus: &str) -> impl Iterator<Item = String> {
    let calls = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    calls.filter_map(|line| {
        let call = line.split_once('\t').map_or(line, |(_, call)| call).replace('␤', "\n");
        match call.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((_, input)) if input.starts_with('{') => {
                let input: Value = serde_json::from_str(input).unwrap();
                input.get("command").and_then(Value::as_str).map(str::to_owned)
            }
            Some((_, input)) if input.starts_with(['[', '"']) => None,
            _ => Some(call),
        }
    })
}

/// A small random generator with a fixed seed, so that failures can be reproduced.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count.max(1)
    }
}

/// The command with one word changed in one way.
fn changed(command: &str, dice: &mut Dice) -> String {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let at = dice.below(words.len());
    let word = words[at].clone();
    let boundaries: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    let cut = boundaries[dice.below(boundaries.len())];
    let (head, tail) = word.split_at(cut);
    let bare = word.replace('=', "");
    match dice.below(12) {
        0 => words.truncate(at + 1),
        1 => head.clone_into(&mut words[at]),
        2 => tail.clone_into(&mut words[at]),
        3 => words[at] = format!("{head}={tail}"),
        4 => words[at] = format!("{bare}="),
        5 => words[at] = format!("={bare}"),
        6 => "''".clone_into(&mut words[at]),
        7 => words[at] = format!("-{word}"),
        8 => words[at] = format!("{head}é{tail}"),
        9 => {
            // An option and its value as one word.
            let next = if at + 1 < words.len() { words.remove(at + 1) } else { String::new() };
            words[at] = format!("{word}={next}");
        }
        10 => {
            words.remove(at);
        }
        _ => words.insert(at, ["S=x", "env", "-", "--", "-S", "--=", "="][dice.below(7)].to_owned()),
    }
    words.join(" ")
}

#[test]
fn no_change_of_a_calls_options_makes_deciding_panic() {
    let guards = Guards::default();
    let mut dice = Dice(7);
    let mut panicked = Vec::new();
    let corpora = [include_str!("corpus/dangerous.txt"), include_str!("corpus/ordinary.txt")];
    for command in corpora.into_iter().flat_map(commands) {
        for _ in 0..FORMS {
            let form = changed(&command, &mut dice);
            let tool = if dice.below(16) == 0 { "PowerShell" } else { "Bash" };
            if !decides(&guards, tool, &form) {
                panicked.push(format!("{tool}: {form}"));
            }
        }
    }
    assert!(panicked.is_empty(), "{} panics:\n{}", panicked.len(), panicked.join("\n"));
}

#[test]
fn a_variable_for_env_that_begins_with_an_option_letter_is_a_variable() {
    let guards = Guards::default();
    for command in ["env SHELL=/bin/sh ls", "env S=1 ls", "env SS= ls", "env Sé=1 ls"] {
        assert!(decides(&guards, "Bash", command), "{command}");
    }
}
