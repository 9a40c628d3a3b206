//! Answers for people and programs on stdout.

use serde_json::Value;

use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::terminal;
use crate::visible_json::visible;

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
pub(crate) fn print_lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Outcome {
    let mut text = String::new();
    for line in lines {
        text.push_str(&terminal::plain(line.as_ref(), false));
        text.push('\n');
    }
    written(terminal::print(text.as_bytes()))
}

/// Text of our own, as it is: what comes from elsewhere has been made safe for a terminal.
pub(crate) fn print_text(text: &str) -> Outcome {
    written(terminal::print(text.as_bytes()))
}

/// One JSON value.
pub(crate) fn print_json(value: &Value) -> Outcome {
    written(terminal::print(visible(&format!("{value:#}\n")).as_bytes()))
}

/// JSON values, each on its line.
pub(crate) fn print_json_lines(text: &str) -> Outcome {
    written(terminal::print(visible(text).as_bytes()))
}

fn written(done: bool) -> Outcome {
    if done {
        Ok(())
    } else {
        Err(Failure::new(ErrorCode::Storage, "the answer could not be written").answered())
    }
}
