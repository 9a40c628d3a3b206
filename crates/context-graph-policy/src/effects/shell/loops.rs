//! Loops: which ones never end, which can be left, and which start ever more processes.

use std::collections::BTreeMap;

use super::ast::{Node, Simple};
use super::eval::{MAX_VALUES, Shell};
use super::flow::{Flow, merge};
use super::word::plain_text;
use crate::effects::{Origin, Text};

/// How many iterations of a loop are walked.
const MAX_TURNS: usize = 64;

/// Whether a condition is always true: `while true`, `until false`.
pub(super) fn always(test: &Node, until: bool) -> bool {
    let wanted: &[&str] = if until { &["false"] } else { &["true", ":"] };
    match test {
        Node::Seq(items) => matches!(items.as_slice(), [only] if always(only, until)),
        Node::Simple(simple) => {
            simple.words.len() == 1 && name_of(simple).is_some_and(|name| wanted.contains(&name.as_str()))
        }
        _ => false,
    }
}

fn name_of(simple: &Simple) -> Option<String> {
    simple.words.first().and_then(|word| plain_text(word))
}

/// Whether every iteration of a body starts a background process and neither waits, pauses nor ends. Only commands
/// that surely run between the last process of an iteration and the first of the next can prevent that. `wait` does
/// not wait for disowned processes.
pub(super) fn piles_up(body: &Node) -> bool {
    let items = match body {
        Node::Group(inner, _) => return piles_up(inner),
        Node::Seq(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let (Some(first), Some(last)) = (items.iter().position(starts), items.iter().rposition(starts)) else {
        return false;
    };
    let is_disowned = items.iter().any(|item| is_named(item, &["disown"]));
    let before = items[..first].iter().any(holds_up) && !is_disowned;
    !before && !items[last + 1..].iter().any(holds_up)
}

fn is_named(node: &Node, names: &[&str]) -> bool {
    matches!(node, Node::Simple(simple) if name_of(simple).is_some_and(|name| names.contains(&name.as_str())))
}

fn starts(node: &Node) -> bool {
    match node {
        Node::Background(_) => true,
        Node::Seq(items) => items.iter().any(starts),
        Node::Group(inner, _) | Node::Maybe(inner) => starts(inner),
        _ => false,
    }
}

fn holds_up(node: &Node) -> bool {
    match node {
        Node::Simple(_) => is_named(node, &["wait", "break", "exit", "return", "sleep", "read"]),
        Node::Seq(items) => items.iter().any(holds_up),
        Node::Group(inner, _) => holds_up(inner),
        _ => false,
    }
}

/// Whether a loop can be left early.
pub(super) fn leaves(body: &Node) -> bool {
    match body {
        Node::Simple(simple) => name_of(simple).is_some_and(|name| name == "break"),
        Node::Seq(items) | Node::Branches(items) => items.iter().any(leaves),
        Node::Group(inner, _) | Node::Maybe(inner) | Node::Endless(inner) => leaves(inner),
        _ => false,
    }
}

impl Shell<'_> {
    /// Walks a `for` loop, one iteration for each value.
    pub(super) fn turns(&mut self, name: &str, values: Vec<Text>, body: &Node, input: &Flow) -> Flow {
        let mut merged = Flow::default();
        let values = few_numbers(values);
        let many = values.len() > MAX_TURNS;
        // If the loop can be left, the values set in any iteration may remain.
        let leaves = leaves(body);
        for value in values.into_iter().take(MAX_TURNS) {
            let before = leaves.then(|| self.frame.vars.clone());
            self.frame.vars.insert(name.to_owned(), vec![value]);
            merged = merge(merged, self.node(body, input));
            if let Some(mut before) = before {
                before.remove(name);
                self.keep_alternatives(&before);
            }
        }
        if many {
            self.frame.vars.insert(name.to_owned(), vec![Text::hole(Origin::Output)]);
            merged = merge(merged, self.node(body, input));
        }
        merged
    }

    /// After commands that may not have run, a variable can have its old or its new value.
    pub(super) fn keep_alternatives(&mut self, before: &BTreeMap<String, Vec<Text>>) {
        for (name, values) in &mut self.frame.vars {
            let Some(old) = before.get(name) else { continue };
            for value in old {
                if values.contains(value) {
                    continue;
                }
                if values.len() >= MAX_VALUES {
                    values.pop();
                    values.push(Text::hole(Origin::Output));
                } else {
                    values.push(value.clone());
                }
            }
        }
    }
}

/// Whether a change to the shell depends on another command: `[ -d x ] && cd x`, and loops.
pub(super) fn may_not_run(node: &Node) -> bool {
    let goes = |first: &Node| {
        matches!(first, Node::Simple(simple)
            if simple.words.first().and_then(|word| plain_text(word)).is_some_and(|name| name == "cd"))
    };
    match node {
        Node::Maybe(_) => true,
        Node::Group(inner, _) => may_not_run(inner),
        Node::Seq(items) => match items.split_first() {
            Some((first, rest)) => !rest.is_empty() && rest.iter().all(may_not_run) && !goes(first),
            None => false,
        },
        _ => false,
    }
}

/// A few numbers are enough: a loop over `{1..500}` does the same each time.
fn few_numbers(mut values: Vec<Text>) -> Vec<Text> {
    let is_number = |value: &Text| {
        value.literal().is_some_and(|text| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()))
    };
    if values.len() > 3 && values.iter().all(is_number) {
        values.truncate(3);
    }
    values
}
