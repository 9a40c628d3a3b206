//! Statements that code sends to a database.

use crate::effects::Text;
use crate::effects::shell::Shell;

/// Hands database statements to the rule that judges those of command-line clients.
pub(super) fn statements_for_database(shell: &mut Shell<'_>, low: &str, literals: &[String], code: &str) {
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
    // Methods of the same names start programs.
    let programs = ["subprocess.run(", "sp.run(", "child_process.exec(", "cp.exec(", "require('').exec("];
    let asked = programs.iter().fold(low.replace('"', "'"), |low, call| low.replace(call, ""));
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
