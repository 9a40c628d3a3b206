//! Statements that code sends to a database.

use super::literals::statements;
use crate::effects::Text;
use crate::effects::shell::Shell;

/// The calls that start programs, by the names that the code gives to the modules: `cp.exec(` after
/// `const cp = require('child_process')`.
pub(super) fn starts(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (module, call) in [("child_process", "exec("), ("subprocess", "run(")] {
        let bound = statements(code).into_iter().filter(|statement| statement.contains(module)).take(8);
        let names =
            bound.filter_map(|statement| match (statement.split_once(" as "), statement.split_once('=')) {
                (Some((_, name)), _) => name.split([' ', ',']).next(),
                (_, Some((name, _))) => name.split_whitespace().next_back(),
                _ => statement.trim_start().strip_prefix("import ")?.split_whitespace().next(),
            });
        let names = names.chain([module]).map(str::to_ascii_lowercase);
        found.extend(names.map(|name| format!("{name}.{call}")));
    }
    found
}

/// Hands database statements to the rule that judges those of command-line clients. `starts` are the calls of the code
/// that start programs instead.
pub(super) fn statements_for_database(
    shell: &mut Shell<'_>,
    low: &str,
    literals: &[String],
    code: &str,
    starts: &[String],
) {
    let sent = [".execute(", ".executescript(", ".query(", ".raw(", ".exec(", ".run("];
    let whole = [
        "flushall(",
        "flushdb(",
        "drop_database(",
        "dropdatabase(",
        "drop_collection(",
        "drop_all(",
        "deletemany()",
        "deletemany({})",
        "updatemany({}",
        "objects.all().delete(",
        ".query.delete(",
        "->truncate(",
        "::truncate(",
    ];
    let mut asked = starts.iter().fold(low.replace('"', "'"), |low, call| without(&low, call));
    if literals.iter().any(|text| text.trim_start_matches("node:") == "child_process") {
        asked = asked.replace("require('').exec(", "");
    }
    if !sent.iter().chain(&whole).any(|word| asked.contains(word)) {
        return;
    }
    if [":memory:", "/tmp/", "test.db", "_test"].iter().any(|word| code.contains(word)) {
        return;
    }
    let mut args: Vec<Text> = literals.iter().map(|text| Text::from(text.as_str())).collect();
    args.extend(whole.iter().filter(|word| low.contains(**word)).map(|word| Text::lit(*word)));
    shell.note_run("sql", args);
}

/// The code without a call, where that is not the end of a longer name.
fn without(low: &str, call: &str) -> String {
    let mut kept = String::with_capacity(low.len());
    let mut rest = low;
    while let Some((before, behind)) = rest.split_once(call) {
        kept.push_str(before);
        if kept.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            kept.push_str(call);
        }
        rest = behind;
    }
    kept + rest
}
