//! Prints results on stdout, for people and for programs.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::commands::failure::{CommandResult, Failure};
use crate::environment::Pager;
use crate::error_code::ErrorCode;
use crate::visible_json::visible;
use crate::{Environment, terminal};

/// Prints a table. On a narrow terminal, the widest column is shortened, then columns are dropped from the right; the
/// first one always stays whole.
pub(crate) fn print(heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> CommandResult {
    let droppable: Vec<&str> = heading.iter().skip(1).rev().copied().collect();
    print_dropping(heading, &droppable, "", rows)
}

/// Prints a table. On a narrow terminal, the widest column is shortened, then the `droppable` columns are dropped in
/// this order and named; then lines that are too wide are cut. The `hidden` column is never shown.
pub(crate) fn print_dropping(
    heading: &[&str],
    droppable: &[&str],
    hidden: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> CommandResult {
    page(&drawn_dropping(heading, droppable, hidden, rows))
}

/// A table as text, for output with more than one.
pub(crate) fn drawn(heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let droppable: Vec<&str> = heading.iter().skip(1).rev().copied().collect();
    drawn_dropping(heading, &droppable, "", rows)
}

/// The same, with the order in which columns are dropped.
pub(crate) fn drawn_dropping(
    heading: &[&str],
    droppable: &[&str],
    hidden: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    // Cells are measured as the terminal shows them: escaped as ASCII, one letter can take eight columns.
    let shown = |cell: &String| terminal::shown(&terminal::plain(cell, false)).into_owned();
    let plain = |row: Vec<String>| row.iter().map(shown).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().map(plain).collect();
    let width = terminal::width();
    let mut columns: Vec<usize> = (0..heading.len()).filter(|column| heading[*column] != hidden).collect();
    let mut lines = fitted(heading, &columns, &rows, width);
    let mut dropped = Vec::new();
    for gone in droppable {
        if !lines.iter().any(|line| width.is_some_and(|width| line.width() > width)) {
            break;
        }
        let before = columns.len();
        columns.retain(|column| heading[*column] != *gone);
        dropped.extend((columns.len() < before).then_some(*gone));
        lines = fitted(heading, &columns, &rows, width);
    }
    dropped.retain(|name| !name.is_empty());
    if !dropped.is_empty() && !rows.is_empty() {
        dropped.reverse();
        let more = format!("(not shown: {}; a wider terminal or --json has it)", dropped.join(", "));
        lines = lines.iter().map(|line| terminal::fit(line, width)).collect();
        lines.extend(terminal::wrapped(&more, width).lines().map(str::to_owned));
    }
    lines.iter().map(|line| terminal::fit(line, width) + "\n").collect()
}

/// A shortened cell keeps at least this many columns.
const SHORTEST: usize = 24;

/// The lines of a table. If they are too wide, the widest column except the first is shortened, if that
/// helps.
fn fitted(heading: &[&str], columns: &[usize], rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let lines = laid_out(heading, columns, rows);
    let widest = lines.iter().map(|line| line.width()).max().unwrap_or(0);
    let Some(over) = width.and_then(|width| widest.checked_sub(width)).filter(|over| *over > 0) else {
        return lines;
    };
    let width_of =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let column = columns.iter().skip(1).copied().max_by_key(|column| width_of(*column));
    let Some((column, room)) = column.and_then(|column| Some((column, width_of(column)?.checked_sub(over)?)))
    else {
        return lines;
    };
    if room < SHORTEST {
        return lines;
    }
    let shorten = |row: &Vec<String>| {
        let mut row = row.clone();
        if let Some(cell) = row.get_mut(column) {
            *cell = terminal::fit(cell, Some(room));
        }
        row
    };
    laid_out(heading, columns, &rows.iter().map(shorten).collect::<Vec<_>>())
}

fn laid_out(heading: &[&str], columns: &[usize], rows: &[Vec<String>]) -> Vec<String> {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_header(columns.iter().map(|column| heading[*column]));
    for row in rows {
        table.add_row(columns.iter().map(|column| row.get(*column).map_or("", String::as_str)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Lines, each made safe for a terminal.
pub(crate) fn print_lines<T: AsRef<str>>(them: impl IntoIterator<Item = T>) -> CommandResult {
    print_text(&lines(them))
}

/// The same as text.
pub(crate) fn lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> String {
    let (mut text, width) = (String::new(), terminal::width());
    for line in lines {
        text.push_str(&terminal::wrapped(&terminal::plain(line.as_ref(), false), width));
        text.push('\n');
    }
    text
}

/// The same for prose: indented lines are also broken between words. If the text is longer than the screen, it is shown
/// in a pager.
pub(crate) fn page_lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> CommandResult {
    let (mut text, width) = (String::new(), terminal::width());
    for line in lines {
        text.push_str(&terminal::folded(&terminal::plain(line.as_ref(), false), width));
        text.push('\n');
    }
    page(&text)
}

/// Prints our own text as it is. Foreign parts must already be safe for a terminal.
pub(crate) fn print_text(text: &str) -> CommandResult {
    written(terminal::print(terminal::shown(text).as_bytes()))
}

/// Prints our own text, with a pager if it is longer than the screen.
pub(crate) fn page(text: &str) -> CommandResult {
    page_with(text, Pager::AtBeginning)
}

/// The same for a list whose newest lines are at its end: that is where the reader begins.
pub(crate) fn page_from_end(text: &str) -> CommandResult {
    page_with(text, Pager::AtEnd)
}

fn page_with(text: &str, pager: Pager) -> CommandResult {
    if terminal::is_longer_than_the_screen(text) && through_pager(text, pager) {
        return Ok(());
    }
    print_text(text)
}

/// Shows our own text in a pager until the reader leaves.
pub(crate) fn read_at_leisure(text: &str) -> CommandResult {
    if through_pager(text, Pager::Stays) {
        return Ok(());
    }
    print_text(text)?;
    terminal::asked("Enter goes back");
    Ok(())
}

fn through_pager(text: &str, pager: Pager) -> bool {
    let Some(mut pager) = Environment::pager(pager) else { return false };
    let Ok(mut child) = pager.stdin(Stdio::piped()).spawn() else { return false };
    // A reader may leave before the end; that is no error.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(terminal::shown(text).as_bytes()));
    child.wait().is_ok()
}

pub(crate) fn print_json(value: &Value) -> CommandResult {
    written(terminal::print(visible(&format!("{value:#}\n")).as_bytes()))
}

/// JSON values, one per line.
pub(crate) fn print_json_lines(text: &str) -> CommandResult {
    written(terminal::print(visible(text).as_bytes()))
}

fn written(done: bool) -> CommandResult {
    if done {
        Ok(())
    } else {
        Err(Failure::new(ErrorCode::Storage, "the answer could not be written").answered())
    }
}
