//! Commands and code inside the strings of code.

use super::code_words::{DELETES, OPERATORS, RUNS, WRITES};
use super::fetched::is_module;
use super::literals::string_literals;
use super::names::filled_in;
use super::{plain, scan};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Text, Unknown};
use crate::guards::own_verbs::{is_own_name, use_of};

/// Commands in quotes of perl and ruby that are not string literals, and tcl's `exec`.
pub(super) fn bare_commands(shell: &mut Shell<'_>, code: &str) {
    for opening in ["qx(", "qx{", "qx/", "%x(", "%x{", "%x[", "qw(", "qw/"] {
        let closer = match opening.as_bytes().last() {
            Some(b'(') => ')',
            Some(b'{') => '}',
            Some(b'[') => ']',
            _ => '/',
        };
        for part in code.split(opening).skip(1).take(16) {
            let end = if closer == '/' { part.rfind(closer) } else { part.find(closer) };
            quiet_script(shell, &part[..end.unwrap_or(part.len())]);
        }
    }
    for line in code.lines().take(256) {
        if let Some(command) = line.trim_start().strip_prefix("exec ") {
            quiet_script(shell, command);
        }
    }
}

pub(super) fn scan_nested(shell: &mut Shell<'_>, language: &str, text: &str) {
    // Code inside a string of code. One level is scanned; deeper ones are unknown.
    let text = &*plain::plain(language, text);
    if text.contains(['(', '"']) && text.len() < 20_000 {
        let low = text.to_ascii_lowercase();
        if RUNS.iter().chain(OPERATORS).chain(DELETES).chain(WRITES).any(|word| low.contains(word)) {
            if low.contains("eval(") || low.contains("exec(") {
                shell.unknown(Unknown::Decoded);
            } else {
                scan(shell, language, text, &[]);
            }
        }
    }
}

/// The strings of a statement that runs something: each may be a command line, or all of them together.
pub(super) fn run_strings(shell: &mut Shell<'_>, list: &[String], all: &[String]) {
    let plausible = |text: &str| !text.is_empty() && text.len() < 8_000;
    for text in all.iter().filter(|text| plausible(text) && text.contains(' ')) {
        quiet_script(shell, text);
    }
    for text in all.iter().filter(|text| plausible(text)).take(16) {
        for value in all.iter().filter(|value| *value != text && plausible(value)).take(4) {
            for filled in filled_in(text, value) {
                quiet_script(shell, &filled);
            }
        }
    }
    let list = if list.iter().any(|text| plausible(text)) { list } else { all };
    let words: Vec<&str> =
        list.iter().map(String::as_str).filter(|text| plausible(text) && !is_module(text)).collect();
    if let Some(first @ ("env" | "printenv")) = words.first().copied().filter(|_| words.len() > 1) {
        // The following strings may be options of the call.
        quiet_script(shell, first);
    }
    if words.len() > 1 || words.first().is_some_and(|word| !word.contains(' ')) {
        let quoted: Vec<String> =
            words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        quiet_script(shell, &quoted.join(" "));
        for word in words.iter().filter(|word| matches!(**word, "rm" | "sudo" | "dd")) {
            let rest: Vec<String> = quoted
                .iter()
                .skip_while(|quoted| quoted[1..].strip_suffix('\'') != Some(word))
                .cloned()
                .collect();
            quiet_script(shell, &rest.join(" "));
        }
    }
}

/// Our own program in the strings of code that runs something. Its name and its arguments may be separate strings.
pub(super) fn own_program(shell: &mut Shell<'_>, code: &str) {
    if !code.contains("context-graph") {
        return;
    }
    let strings = string_literals(code);
    let is_ours = |text: &str| {
        !text.contains(char::is_whitespace) && is_own_name(text.rsplit('/').next().unwrap_or(text))
    };
    let Some(at) = strings.iter().position(|text| is_ours(text)) else { return };
    let is_verb = |text: &String| use_of(&[text.as_str()]).is_some() || GROUPS.contains(&text.as_str());
    let Some(first) = strings.iter().position(is_verb) else { return };
    let words = strings[first..].iter().enumerate().filter(|(index, _)| first + index != at);
    let words = words.map(|(_, word)| Text::lit(word.as_str()));
    shell.run(
        std::iter::once(Text::lit("context-graph")).chain(words).collect(),
        Vec::new(),
        &Flow::default(),
    );
}

/// Groups of our verbs. The name of a group alone is not a verb.
const GROUPS: &[&str] = &["audit", "config", "consciousness", "policy", "self", "session"];

/// Most strings are not commands, so one that cannot be parsed is not reported.
pub(super) fn quiet_script(shell: &mut Shell<'_>, text: &str) {
    // Parsing costs work too, and code can hold many strings.
    if shell.charge(1) {
        shell.quietly(|shell| {
            let flow = shell.script(text);
            shell.end_pipeline(&flow);
            flow
        });
    }
}
