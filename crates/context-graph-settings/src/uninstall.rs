//! Removes everything of ours from a settings file.

use std::collections::BTreeMap;

use crate::change::{Change, Edited};
use crate::error::{SettingsError, TextPosition};
use crate::form::{Form, Nesting};
use crate::install::VERSION;
use crate::json::editor::Editor;
use crate::json::node::NodeKind;
use crate::json::parse::is_blank;
use crate::ours::{self, FoundHook, in_usual_folder};
use crate::undo::{Before, Undo};

/// Removes everything of ours from the text of a settings file.
///
/// With the [`Undo`] of the installation, and if nothing else has changed since, the result is the original, byte
/// for byte; `None` means that there was no file. Otherwise our entries are removed, together with groups,
/// arrays and objects that contain nothing else, except those that existed before according to `undo`.
pub fn uninstall(text: &str, undo: Option<&Undo>) -> Result<Edited, SettingsError> {
    uninstall_where(text, undo, &in_usual_folder)
}

/// Like [`uninstall`], but `generated` decides whether a script with the name of a generated one really is one.
/// Only a caller that can read the script knows.
pub fn uninstall_where(
    text: &str,
    undo: Option<&Undo>,
    generated: &dyn Fn(&str) -> bool,
) -> Result<Edited, SettingsError> {
    take_all_out(text, undo, Form::CLAUDE_CODE, generated)
}

/// Removes everything of ours from a client's file.
pub(crate) fn take_all_out(
    text: &str,
    undo: Option<&Undo>,
    form: Form,
    generated: &dyn Fn(&str) -> bool,
) -> Result<Edited, SettingsError> {
    let mut changes = Vec::new();
    let edited = |text, changes| Ok(Edited { text, changes, notes: Vec::new(), undo: None });

    // The restored text may still contain our hooks, from an installation that left no undo. So continue with it.
    let before = undo.and_then(|undo| undo.revert(text)).filter(|before| before != text);
    if let Some(before) = &before {
        if undo.is_some_and(|undo| undo.origin == Before::Missing) && before.is_empty() {
            return edited(None, vec![Change::FileRemoved]);
        }
        changes.push(Change::Restored);
    }
    let text = before.as_deref().unwrap_or(text);
    if is_blank(text) {
        return edited(Some(text.to_owned()), changes);
    }

    let mut editor = Editor::new(text.to_owned(), Vec::new())?;
    let root = editor.root();
    if !matches!(root.kind, NodeKind::Object(_)) {
        let place = TextPosition::of(text, root.span.start);
        let found = root.kind_name();
        return Err(SettingsError::Shape { place, path: String::new(), expected: "an object", found });
    }
    let nothing = BTreeMap::new();
    let empty = undo.map_or(&nothing, |undo| &undo.empty);
    let restored = changes.len();
    let programs = ours::programs(editor.root(), form, generated);
    while let Some(found) = ours::in_tree(editor.root(), form, generated).into_iter().next() {
        take_out(&mut editor, &found, empty)?;
        changes.push(Change::HookRemoved { event: found.event });
    }
    if editor.root().get("statusLine").is_some_and(|line| ours::is_our_status_line(line, &programs)) {
        editor.remove_key(&[], "statusLine", inside(empty, ""))?;
        changes.push(Change::StatusLineRemoved);
    }

    let emptied = changes.len() > restored
        && editor.root().members().iter().all(|member| form.has_version && member.key == VERSION);
    let (text, _) = editor.finish();
    match undo.map(|undo| &undo.origin) {
        Some(Before::Missing) if emptied => {
            changes.push(Change::FileRemoved);
            edited(None, changes)
        }
        Some(Before::Blank(blank)) if emptied => edited(Some(blank.clone()), changes),
        _ => edited(Some(text), changes),
    }
}

/// Removes a hook, and all containers that are then empty. Those in `empty` stay, empty as they were.
pub(crate) fn take_out(
    editor: &mut Editor,
    found: &FoundHook,
    empty: &BTreeMap<String, String>,
) -> Result<(), SettingsError> {
    let path = found.path();
    let [hooks, groups, entries] = [1, 2, 4].map(|length| path.get(..length).unwrap_or(&path));
    let is_only =
        |editor: &Editor, path| editor.root().at(path).is_some_and(|node| node.children().len() == 1);

    if found.nesting == Nesting::Groups && !is_only(editor, entries) {
        return editor.remove(entries, found.entry, "");
    }
    let array = format!("hooks.{}", found.event);
    if !is_only(editor, groups) || empty.contains_key(&array) {
        return editor.remove(groups, found.group, inside(empty, &array));
    }
    if !is_only(editor, hooks) || empty.contains_key("hooks") {
        return editor.remove_key(hooks, &found.event, inside(empty, "hooks"));
    }
    editor.remove_key(&[], "hooks", inside(empty, ""))
}

fn inside<'a>(empty: &'a BTreeMap<String, String>, path: &str) -> &'a str {
    empty.get(path).map_or("", String::as_str)
}
