//! Answers for people and programs on stdout.

use serde_json::Value;

use crate::commands::failure::Outcome;
use crate::terminal;

/// Columns under a heading.
pub(crate) fn print(heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Outcome {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_header(heading.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(|cell| terminal::plain(cell, false)));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    print_lines(lines)
}

/// Lines, each made safe for a terminal.
#[expect(clippy::unnecessary_wraps, reason = "a command ends with its answer")]
pub(crate) fn print_lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Outcome {
    let mut text = String::new();
    for line in lines {
        text.push_str(&terminal::plain(line.as_ref(), false));
        text.push('\n');
    }
    terminal::print(text.as_bytes());
    Ok(())
}

/// One JSON value.
#[expect(clippy::unnecessary_wraps, reason = "a command ends with its answer")]
pub(crate) fn print_json(value: &Value) -> Outcome {
    terminal::print(format!("{value:#}\n").as_bytes());
    Ok(())
}
