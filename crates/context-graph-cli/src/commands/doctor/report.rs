//! Prints the findings, for people and for programs.

use std::io::IsTerminal as _;

use serde_json::{Value, json};

use super::finding::{CheckResult, Level};
use super::registration::NOT_INSTALLED;
use crate::commands::failure::CommandResult;
use crate::summary::counted;
use crate::{Environment, table, terminal};

/// Checks that passed share one line, unless `everything` is wanted.
pub(super) fn text(findings: &[CheckResult], mended: &[String], everything: bool) -> CommandResult {
    let colour = std::io::stdout().is_terminal() && Environment::welcomes_colour();
    let mut lines: Vec<String> = mended.iter().map(|done| line("fixed", Level::Ok, done, colour)).collect();
    for level in [Level::Broken, Level::Warning] {
        for finding in findings.iter().filter(|finding| finding.level == level) {
            lines.push(line(word(level), level, &finding.what, colour));
            lines.extend(finding.fix.iter().map(|fix| below(&format!("fix: {fix}"))));
        }
    }
    let fine: Vec<&CheckResult> = findings.iter().filter(|finding| finding.level == Level::Ok).collect();
    if everything {
        let told = |it: &&CheckResult| line("ok", Level::Ok, &format!("{}: {}", it.check, it.what), colour);
        lines.extend(fine.iter().map(told));
    } else if !fine.is_empty() {
        let mut names: Vec<&str> = fine.iter().map(|finding| finding.check).collect();
        names.dedup();
        lines.push(line("ok", Level::Ok, &names.join(", "), colour));
        lines.extend(fine.iter().filter(|it| it.check == "cost").map(|it| below(&it.what)));
    }
    if !is_not_installed(findings) {
        lines.push(ending(findings));
    }
    table::print_text(&lines.concat())
}

/// Whether the only problem is that nothing was installed: then one line is enough.
pub(super) fn is_not_installed(findings: &[CheckResult]) -> bool {
    let mut wrong = findings.iter().filter(|finding| finding.level != Level::Ok);
    wrong.next().is_some_and(|finding| finding.what == NOT_INSTALLED) && wrong.next().is_none()
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

fn ending(findings: &[CheckResult]) -> String {
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let mendable = findings.iter().filter(|finding| finding.mend.is_some()).count();
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
    findings: &[CheckResult],
    mended: &[String],
    project: &str,
    client: Option<String>,
) -> CommandResult {
    let checks: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let mut object = json!({"check": finding.check, "level": finding.level, "what": finding.what});
            if let Some(fix) = &finding.fix {
                object["fix"] = fix.as_str().into();
                object["fixable"] = finding.mend.is_some().into();
            }
            object
        })
        .collect();
    let ok = findings.iter().all(|finding| finding.level != Level::Broken);
    let mut object = json!({"ok": ok, "project": project, "checks": checks, "mended": mended});
    if let Some(client) = client {
        object["client"] = client.into();
    }
    table::print_json(&object)
}
