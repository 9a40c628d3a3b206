//! Prints the results, for people and for programs.

use std::io::IsTerminal as _;

use serde_json::{Value, json};

use super::check_result::{CheckResult, Level};
use super::registration::NOT_INSTALLED;
use crate::commands::failure::CommandResult;
use crate::summary::counted;
use crate::{Environment, table, terminal};

/// Checks that passed share one line, unless `everything` is wanted.
pub(super) fn text(results: &[CheckResult], mended: &[String], everything: bool) -> CommandResult {
    let colour = std::io::stdout().is_terminal() && Environment::welcomes_colour();
    let mut lines: Vec<String> = mended.iter().map(|done| line("fixed", Level::Ok, done, colour)).collect();
    for level in [Level::Broken, Level::Warning] {
        for result in results.iter().filter(|result| result.level == level) {
            lines.push(line(word(level), level, &result.what, colour));
            lines.extend(result.fix.iter().map(|fix| below(&format!("fix: {fix}"))));
        }
    }
    let fine: Vec<&CheckResult> = results.iter().filter(|result| result.level == Level::Ok).collect();
    if everything {
        let told = |it: &&CheckResult| line("ok", Level::Ok, &format!("{}: {}", it.check, it.what), colour);
        lines.extend(fine.iter().map(told));
    } else if !fine.is_empty() {
        let mut names: Vec<&str> = fine.iter().map(|result| result.check).collect();
        names.dedup();
        lines.push(line("ok", Level::Ok, &names.join(", "), colour));
        lines.extend(fine.iter().filter(|it| it.check == "cost").map(|it| below(&it.what)));
    }
    if !is_not_installed(results) {
        lines.push(ending(results));
    }
    table::print_text(&lines.concat())
}

/// Whether the only problem is that nothing was installed: then one line is enough.
pub(super) fn is_not_installed(results: &[CheckResult]) -> bool {
    let mut wrong = results.iter().filter(|result| result.level != Level::Ok);
    wrong.next().is_some_and(|result| result.what == NOT_INSTALLED) && wrong.next().is_none()
}

/// How wide the first word of a line is.
const WORD: usize = 9;

/// A line that belongs to the one above.
fn below(text: &str) -> String {
    format!("{:WORD$}{}\n", "", folded(text))
}

/// A text beside the first word, in lines that fit.
fn folded(text: &str) -> String {
    let width = terminal::width().map(|width| width.saturating_sub(WORD));
    terminal::wrapped(&terminal::plain(text, false), width).replace('\n', &format!("\n{:WORD$}", ""))
}

fn ending(results: &[CheckResult]) -> String {
    let count = |level| results.iter().filter(|result| result.level == level).count();
    let mendable = results.iter().filter(|result| result.mend.is_some()).count();
    let mend = match mendable {
        0 => String::new(),
        n => format!("; `context-graph doctor --fix` fixes {n} of them"),
    };
    let known = match count(Level::Warning) {
        0 => String::new(),
        n => counted(n, "warning", "warnings"),
    };
    match (count(Level::Broken), known.as_str()) {
        (0, "") => "\nAll is well.\n".to_owned(),
        (0, known) => format!("\nIt works; {known}{mend}.\n"),
        (broken, "") => format!("\n{broken} broken{mend}.\n"),
        (broken, known) => format!("\n{broken} broken, {known}{mend}.\n"),
    }
}

fn line(word: &str, level: Level, what: &str, colour: bool) -> String {
    let what = folded(what);
    if !colour {
        return format!("{word:WORD$}{what}\n");
    }
    let code = match level {
        Level::Ok => 32,
        Level::Warning => 33,
        Level::Broken => 31,
    };
    format!("\x1b[{code}m{word:WORD$}\x1b[0m{what}\n")
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Warning => "warning",
        Level::Broken => "broken",
    }
}

/// Everything as JSON.
pub(super) fn json(
    results: &[CheckResult],
    mended: &[String],
    project: &str,
    client: Option<String>,
) -> CommandResult {
    let checks: Vec<Value> = results
        .iter()
        .map(|result| {
            let mut object = json!({"check": result.check, "level": result.level, "what": result.what});
            if let Some(fix) = &result.fix {
                object["fix"] = fix.as_str().into();
                object["fixable"] = result.mend.is_some().into();
            }
            object
        })
        .collect();
    let ok = results.iter().all(|result| result.level != Level::Broken);
    let mut object = json!({"ok": ok, "project": project, "checks": checks, "mended": mended});
    if let Some(client) = client {
        object["client"] = client.into();
    }
    table::print_json(&object)
}
