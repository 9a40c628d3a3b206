//! Merges a plan into a settings file.

use std::collections::BTreeMap;

use crate::change::{Change, Edited, Note};
use crate::error::{SettingsError, TextPosition};
use crate::form::{Form, Nesting, Wanted, Wish};
use crate::json::editor::{Editor, Step};
use crate::json::item::Item;
use crate::json::layout::{Splice, newline_of};
use crate::json::node::{Hop, Node, NodeKind};
use crate::json::parse::{bom_len, is_blank};
use crate::ours::{self, FoundHook, every_or, in_usual_folder};
use crate::plan::{Plan, StatusLine};
use crate::undo::{Before, Fingerprint, Undo};
use crate::uninstall::take_out;

/// The key that some clients need beside the hooks.
pub(crate) const VERSION: &str = "version";

/// Merges a plan into the text of a settings file. `text` is `None` if there is no file.
///
/// Entries that match the plan stay. Our entries that differ are changed in place, missing ones are appended,
/// and our entries that are not planned are removed. Nothing else is touched. Scripts in `.claude/hooks/` with
/// the names of the generated ones count as ours; see [`install_where`].
pub fn install(text: Option<&str>, plan: &Plan) -> Result<Edited, SettingsError> {
    install_where(text, plan, &in_usual_folder)
}

/// Like [`install`], but `generated` decides whether a script with the name of a generated one really is one.
/// Only a caller that can read the script knows.
pub fn install_where(
    text: Option<&str>,
    plan: &Plan,
    generated: &dyn Fn(&str) -> bool,
) -> Result<Edited, SettingsError> {
    merge(text, &Wish::from(plan), generated)
}

/// Merges the wanted hooks into a client's file.
pub(crate) fn merge(
    text: Option<&str>,
    wish: &Wish<'_>,
    generated: &dyn Fn(&str) -> bool,
) -> Result<Edited, SettingsError> {
    let before = text.unwrap_or("");
    let mut changes = Vec::new();
    let mut notes = Vec::new();
    let (origin, begun, steps) = begin(text);
    if origin != Before::Settings {
        if wish.hooks.is_empty() && wish.status_line.is_none() {
            // An empty plan creates no file.
            let undo = undo_of(origin, before, before, Vec::new(), BTreeMap::new());
            return Ok(Edited { text: text.map(str::to_owned), changes, notes, undo: Some(undo) });
        }
        changes.push(Change::Begun);
    }
    let mut editor = Editor::new(begun, steps)?;
    check_shape(&editor, wish)?;
    let empty = empty_containers(&editor, wish);
    let programs = ours::programs(editor.root(), wish.form, generated);

    if let Some(version) = wish.version.filter(|_| editor.root().get(VERSION).is_none()) {
        editor.append(&[], Some(VERSION), &Item::Number(version))?;
    }
    for (hook, there) in matched(&editor, wish, generated) {
        match there {
            Some(found) => update(&mut editor, hook, &found, &mut changes)?,
            None => add(&mut editor, wish.form, hook, &mut changes)?,
        }
    }
    // Last, so that an object or array that is still needed is not emptied and keeps its place.
    remove_unplanned(&mut editor, wish, generated, &mut changes)?;
    if let Some(line) = wish.status_line {
        set_status_line(&mut editor, line, &programs, &mut changes, &mut notes)?;
    }

    let (text, steps) = editor.finish();
    let undo = undo_of(origin, before, &text, steps, empty);
    Ok(Edited { text: Some(text), changes, notes, undo: Some(undo) })
}

fn undo_of(
    origin: Before,
    before: &str,
    after: &str,
    steps: Vec<Step>,
    empty: BTreeMap<String, String>,
) -> Undo {
    Undo { origin, from: Fingerprint::of(before), result: Fingerprint::of(after), steps, empty }
}

/// The text to start with: an empty object if there is none.
fn begin(text: Option<&str>) -> (Before, String, Vec<Step>) {
    let origin = match text {
        None => Before::Missing,
        Some(text) if is_blank(text) => Before::Blank(text.to_owned()),
        Some(text) => return (Before::Settings, text.to_owned(), Vec::new()),
    };
    let mut text = text.unwrap_or("").to_owned();
    let object = format!("{{}}{}", newline_of(&text));
    let splice = Splice { range: bom_len(&text)..text.len(), insert: object };
    let step = Step::make(&mut text, &splice);
    (origin, text, vec![step])
}

/// Rejects a file in which the plan would have to overwrite something.
fn check_shape(editor: &Editor, wish: &Wish<'_>) -> Result<(), SettingsError> {
    let wrong = |node: &Node, path: String, expected| SettingsError::Shape {
        place: TextPosition::of(editor.text(), node.span.start),
        path,
        expected,
        found: node.kind_name(),
    };
    let root = editor.root();
    if !matches!(root.kind, NodeKind::Object(_)) {
        return Err(wrong(root, String::new(), "an object"));
    }
    let Some(hooks) = root.get("hooks") else { return Ok(()) };
    if !matches!(hooks.kind, NodeKind::Object(_)) {
        return Err(wrong(hooks, "hooks".to_owned(), "an object"));
    }
    for hook in &wish.hooks {
        if let Some(groups) = hooks.get(hook.event)
            && !matches!(groups.kind, NodeKind::Array(_))
        {
            return Err(wrong(groups, format!("hooks.{}", hook.event), "an array"));
        }
    }
    Ok(())
}

/// The existing empty objects and arrays that may get a new entry.
fn empty_containers(editor: &Editor, wish: &Wish<'_>) -> BTreeMap<String, String> {
    let root = editor.root();
    let hooks = root.get("hooks");
    let events = wish.hooks.iter().map(|hook| {
        let event = hook.event;
        (format!("hooks.{event}"), hooks.and_then(|hooks| hooks.get(event)))
    });
    [(String::new(), Some(root)), ("hooks".to_owned(), hooks)]
        .into_iter()
        .chain(events)
        .filter_map(|(path, node)| Some((path, node?)))
        .filter(|(_, node)| node.children().is_empty())
        .map(|(path, node)| (path, editor.text().get(node.inside()).unwrap_or("").to_owned()))
        .collect()
}

/// Each planned hook, with our existing hook for the same event and matcher, if there is one.
fn matched<'a>(
    editor: &Editor,
    wish: &'a Wish<'a>,
    generated: &dyn Fn(&str) -> bool,
) -> Vec<(&'a Wanted<'a>, Option<FoundHook>)> {
    let mut there = ours::in_tree(editor.root(), wish.form, generated);
    wish.hooks
        .iter()
        .map(|hook| {
            let place = there.iter().position(|found| {
                found.event == hook.event && found.matcher.as_deref() == every_or(hook.matcher)
            });
            (hook, place.map(|place| there.remove(place)))
        })
        .collect()
}

fn remove_unplanned(
    editor: &mut Editor,
    wish: &Wish<'_>,
    generated: &dyn Fn(&str) -> bool,
    changes: &mut Vec<Change>,
) -> Result<(), SettingsError> {
    loop {
        let planned: Vec<_> =
            matched(editor, wish, generated).into_iter().filter_map(|(_, found)| found).collect();
        let unplanned = ours::in_tree(editor.root(), wish.form, generated)
            .into_iter()
            .find(|found| !planned.contains(found));
        let Some(found) = unplanned else { return Ok(()) };
        take_out(editor, &found, &BTreeMap::new())?;
        changes.push(Change::HookRemoved { event: found.event });
    }
}

fn update(
    editor: &mut Editor,
    hook: &Wanted<'_>,
    found: &FoundHook,
    changes: &mut Vec<Change>,
) -> Result<(), SettingsError> {
    let mut keys = Vec::new();
    for (key, item) in &hook.members {
        match (item, editor.root().at(&found.path()).and_then(|entry| entry.get(key))) {
            (Some(item), Some(there)) if item.equals(there, editor.text()) => continue,
            (Some(item), _) => editor.set(&found.path(), key, item)?,
            (None, Some(_)) => editor.remove_key(&found.path(), key, "")?,
            (None, None) => continue,
        }
        keys.push(*key);
    }
    if !keys.is_empty() {
        changes.push(Change::HookUpdated { event: found.event.clone(), keys });
    }
    Ok(())
}

fn add(
    editor: &mut Editor,
    form: Form,
    hook: &Wanted<'_>,
    changes: &mut Vec<Change>,
) -> Result<(), SettingsError> {
    let event = hook.event;
    let one = match form.nesting {
        Nesting::Groups => hook.group(),
        Nesting::Flat => hook.entry(),
    };
    let groups = || Item::List(vec![one.clone()]);
    match editor.root().get("hooks") {
        None => editor.append(&[], Some("hooks"), &Item::Object(vec![(event, groups())]))?,
        Some(hooks) if hooks.get(event).is_none() => {
            editor.append(&[Hop::Key("hooks")], Some(event), &groups())?;
        }
        Some(_) => editor.append(&[Hop::Key("hooks"), Hop::Key(event)], None, &one)?,
    }
    changes.push(Change::HookAdded { event: event.to_owned() });
    Ok(())
}

fn set_status_line(
    editor: &mut Editor,
    line: &StatusLine,
    programs: &[String],
    changes: &mut Vec<Change>,
    notes: &mut Vec<Note>,
) -> Result<(), SettingsError> {
    let Some(there) = editor.root().get("statusLine") else {
        changes.push(Change::StatusLineAdded);
        return editor.append(&[], Some("statusLine"), &Item::Object(line.members()));
    };
    if !ours::is_our_status_line(there, programs) {
        let command = there.get("command").and_then(Node::as_text).map(str::to_owned);
        notes.push(Note::StatusLineTaken { command });
        return Ok(());
    }
    let mut differs = false;
    for (key, item) in line.members() {
        let there = editor.root().get("statusLine").and_then(|there| there.get(key));
        if !there.is_some_and(|there| item.equals(there, editor.text())) {
            editor.set(&[Hop::Key("statusLine")], key, &item)?;
            differs = true;
        }
    }
    changes.extend(differs.then_some(Change::StatusLineUpdated));
    Ok(())
}
