//! The files that agents touched, as a heat map on a tree.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::query::{days, one};
use crate::layout::{Tab, counted, empty, heading, number, page};
use crate::link;
use crate::records::{FileLine, QueryResult, Records};
use crate::said::Said;
use crate::time;

/// How many days to look back by default.
const DAYS: i64 = 30;
/// How many levels of folders are open, and how many files of a folder are shown.
const OPEN_LEVELS: usize = 2;
const FILES: usize = 100;
/// How many files are shown in total, the most touched first.
const MOST: usize = 600;

/// A folder and its content.
#[derive(Default)]
struct Folder<'a> {
    folders: BTreeMap<&'a str, Folder<'a>>,
    files: Vec<(&'a str, &'a FileLine)>,
    calls: u64,
    edits: u64,
}

impl<'a> Folder<'a> {
    fn put(&mut self, path: &'a str, line: &'a FileLine) {
        self.calls += line.calls;
        self.edits += line.edits;
        match path.split_once('/') {
            Some((folder, rest)) if !rest.is_empty() => {
                self.folders.entry(folder).or_default().put(rest, line);
            }
            _ => self.files.push((path, line)),
        }
    }

    /// The folder itself, or the first one below with more than one entry, and its path.
    fn first_choice(&self, name: &str) -> (String, &Self) {
        let (mut way, mut folder) = (format!("{name}/"), self);
        while let (Some((name, inner)), 1, true) =
            (folder.folders.iter().next(), folder.folders.len(), folder.files.is_empty())
        {
            way.push_str(name);
            way.push('/');
            folder = inner;
        }
        (way, folder)
    }
}

/// The page.
pub(crate) fn show(records: &dyn Records, pairs: &[(String, String)], now_ms: i64) -> QueryResult<Markup> {
    let back = days(one(pairs, "since")).unwrap_or(DAYS);
    let files = records.files(now_ms - back * 86_400_000)?;
    let mut root = Folder::default();
    for line in files.iter().take(MOST) {
        root.put(line.path.raw(), line);
    }
    let most = files.iter().map(|line| line.calls).max().unwrap_or(1).max(1);
    let body = html! {
        (heading(html! { "Files" }, html! {
            nav.choice aria-label="How far back" {
                @for (choice, name) in [(1, "day"), (7, "week"), (30, "30 days"), (365, "year")] {
                    a href={ "/files?since=" (choice) "d" } aria-current=[(choice == back).then_some("true")] { (name) }
                }
            }
        }))
        div #files data-live {
            @if files.is_empty() {
                (empty("No file was touched", html! { "In the last " (back) " days no call named a file." }))
            } @else {
                p.meta { (counted(files.len() as u64, "file", "files")) " named by " (counted(root.calls, "call", "calls")) ", " (number(root.edits)) " of them to change it."
                    @if files.len() > MOST { " The " (MOST) " most touched are shown." } }
                section.panel { div.tree { (children(&root, 0, most, now_ms)) } }
            }
        }
    };
    Ok(page(Tab::Files, "Files", body))
}

fn children(folder: &Folder<'_>, level: usize, most: u64, now_ms: i64) -> Markup {
    let mut folders: Vec<_> = folder.folders.iter().collect();
    folders.sort_by_key(|(name, inner)| (std::cmp::Reverse(inner.calls), **name));
    let mut files: Vec<_> = folder.files.iter().collect();
    files.sort_by_key(|(name, line)| (std::cmp::Reverse(line.calls), *name));
    html! {
        ul {
            @for (name, inner) in folders {
                @let (way, inner) = inner.first_choice(name);
                li.folder {
                    details open[level < OPEN_LEVELS] {
                        summary { span.name { (Said::new(way).short(120)) } span.muted { (number(inner.calls)) } }
                        (children(inner, level + 1, most, now_ms))
                    }
                }
            }
            @for (name, line) in files.iter().take(FILES) { (file(name, line, most, now_ms)) }
            @if files.len() > FILES { li.muted { "and " (files.len() - FILES) " more" } }
        }
    }
}

fn file(name: &str, line: &FileLine, most: u64, now_ms: i64) -> Markup {
    // Five steps, on a logarithmic scale, because a few files are touched far more often than the rest.
    let share = (line.calls as f64).ln_1p() / (most as f64).ln_1p();
    let heat = (share * 5.0).ceil().clamp(1.0, 5.0) as u8;
    html! {
        li.file {
            a.name href=(link::with("/calls", [("path", line.path.raw())])) { (Said::new(name).short(120)) }
            span class={ "heat h" (heat) } title={ (counted(line.calls, "call", "calls")) ", " (number(line.edits)) " to change it" } { (number(line.calls)) }
            span.edits { @if line.edits > 0 { (counted(line.edits, "edit", "edits")) } }
            span.muted { (counted(line.sessions, "session", "sessions")) }
            span.muted { (time::at(line.last_ms, now_ms)) }
        }
    }
}
