//! Tools of MCP servers: a tool's name says what it does, its fields say to what.

mod commands;
mod fields;
mod outward;
mod stores;

use std::borrow::Cow;

use commands::{command_of_program, forced_reference, git_tool, run_fields};
use fields::{collect, levels, outer_folder, working_folder};
use outward::outward;
use serde_json::Value;
use stores::{container, remove_named, send_statements};

use super::path::arrived;
use super::shell::Shell;
use super::{Access, Text, Unknown, agent_settings};

/// How many values of a tool's input are checked.
const MAX_VALUES: usize = 256;

const READING: &[&str] = &[
    "read", "get", "list", "search", "view", "cat", "stat", "find", "show", "info", "exists", "tree", "open",
    "load", "head", "tail", "grep", "glob",
];

const WRITING: &[&str] = &[
    "write",
    "edit",
    "create",
    "append",
    "update",
    "replace",
    "insert",
    "save",
    "put",
    "patch",
    "set",
    "copy",
    "modify",
    "apply",
    "overwrite",
    "upload",
    "download",
    "add",
    "str",
];

const REMOVING: &[&str] = &[
    "delete", "remove", "rm", "unlink", "trash", "rmdir", "move", "rename", "mv", "clean", "purge",
    "cleanup", "wipe", "erase", "prune", "destroy", "shred", "empty", "clear",
];

/// Fields that say what a tool does if its name does not.
const DEEDS: &[&str] = &["action", "operation", "op", "method", "verb"];

/// Words that mark a tool or its server as one for files.
const FILES: &[&str] = &[
    "fs",
    "file",
    "files",
    "filesystem",
    "directory",
    "folder",
    "dir",
    "path",
    "editor",
    "commander",
    "workspace",
    "disk",
];

/// A tool of an MCP server, or an unknown one of the client: its name says what it does, its fields say to
/// what.
pub(super) fn call(shell: &mut Shell<'_>, tool: &str, name: &str, input: &Value) {
    let levels = levels(input);
    let deeds = levels.iter().flat_map(|level| DEEDS.iter().filter_map(|field| level.get(field)?.as_str()));
    let words: Vec<String> = words_of(name);
    let deeds: Vec<String> = deeds.flat_map(words_of).collect();
    let all: Vec<String> = words_of(tool);
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let outer = outer_folder(input, &levels);
    if let Some(folder) = outer {
        let folder = arrived(&shell.home_expanded(&Text::from(folder)), shell.cwd(), shell.base.fs);
        shell.set_cwd(folder);
    }
    for level in &levels {
        let saved = shell.cwd().clone();
        // The folder of the whole call is already set. A step's own folder applies only to that step.
        if let Some(folder) = working_folder(level).filter(|own| outer != Some(*own)) {
            let folder = arrived(&shell.home_expanded(&Text::from(folder)), shell.cwd(), shell.base.fs);
            shell.set_cwd(folder);
        }
        run_fields(shell, &all, &words, level);
        send_statements(shell, &all, level);
        git_tool(shell, &all, &words, level);
        command_of_program(shell, &all, level);
        shell.set_cwd(saved);
    }
    if any(&["patch", "diff", "apply", "edit"]) {
        patches(shell, tool, input, 0);
    }
    let branch = input.get("branch").and_then(Value::as_str).unwrap_or("main");
    let own_branch = words.iter().any(|word| word == "branch") && !crate::config::protects_by_default(branch);
    forced_reference(shell, &words, input);
    container(shell, tool, &all, input);
    // Only paths count: what is deleted by a number usually belongs to the server.
    let does = |known: &[&str]| any(known) || deeds.iter().any(|word| known.contains(&word.as_str()));
    let access = if does(REMOVING) {
        Access::Delete
    } else if does(WRITING) {
        Access::Write
    } else if any(READING) {
        Access::Read
    } else {
        Access::Mention
    };
    outward(shell, tool, &words, access, input);
    // Metadata of a file, not its content.
    if access == Access::Read
        && any(&["info", "stat", "exists", "metadata"])
        && !any(&["read", "view", "cat"])
    {
        return;
    }
    let mut left = MAX_VALUES;
    let mut paths = Vec::new();
    let keeps_files = all.iter().any(|word| FILES.contains(&word.as_str()));
    if access == Access::Delete || access == Access::Write && keeps_files {
        fields::unnamed(input, &mut paths, &mut { MAX_VALUES });
        paths.retain(|(_, path)| keeps_files || is_of_concern(shell, path));
    }
    for level in levels.iter().enumerate().filter(|(at, level)| *at == 0 || matches!(level, Cow::Owned(_))) {
        collect(level.1, &mut paths, &mut left);
    }
    if left == 0 {
        shell.unknown(Unknown::Opaque(tool.to_owned()));
    }
    if !own_branch {
        remove_named(shell, tool, &all, &words, input, !tool.starts_with("mcp__") || !paths.is_empty());
    }
    // A tool that uploads and gets no content sends a file of ours.
    let sends = any(&["upload"]) && !levels.iter().any(|level| fields::has_content(level));
    for (key, path) in paths {
        let access =
            if sends && access == Access::Write && !is_destination(&key) { Access::Read } else { access };
        touch(shell, tool, &words, access, &key, &path);
    }
}

/// Notes what a tool does with a path in its field `key`.
fn touch(shell: &mut Shell<'_>, tool: &str, words: &[String], access: Access, key: &str, path: &str) {
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let path = path.strip_prefix("file://").map_or_else(|| path.to_owned(), fields::decoded);
    if path.contains("://") || path.contains('\n') || path.len() > 4096 {
        return;
    }
    let target = Text::from(path.as_str());
    let destination = is_destination(key);
    let source =
        ["source", "src", "from", "old"].iter().any(|word| words_of(key).iter().any(|part| part == word));
    if destination
        && any(&["extract", "unzip", "unpack", "untar", "clone", "download", "copy", "sync", "mirror"])
    {
        shell.bring_unnamed(&target, true, tool);
    }
    match access {
        // Only moved files have a destination. The target of a deleting tool is deleted.
        Access::Delete if destination && any(&["move", "rename", "mv", "copy"]) => {
            shell.touch(Access::Write, &target, tool);
        }
        Access::Delete => {
            shell.touch_all(Access::Delete, &target, tool, true);
            if source {
                shell.touch(Access::Read, &target, tool);
            }
        }
        // A link lets the file be changed under another name.
        Access::Write if source && any(&["link", "symlink", "hardlink"]) => {
            shell.touch(Access::Read, &target, "ln");
        }
        // Copying a folder reads everything in it.
        Access::Write if source => {
            shell.touch_all(Access::Read, &target, tool, any(&["directory", "folder", "dir", "tree"]));
        }
        other => shell.touch(other, &target, tool),
    }
}

/// Whether a field names a destination.
fn is_destination(key: &str) -> bool {
    let begins = |part: &String| ["dest", "to", "target", "new"].iter().any(|word| part.starts_with(word));
    words_of(key).iter().any(begins)
}

/// Whether text from an unnamed field is a path that matters: it exists, or is among our own or the client's
/// files.
fn is_of_concern(shell: &Shell<'_>, path: &str) -> bool {
    let place = arrived(&shell.home_expanded(&Text::from(path)), shell.cwd(), shell.base.fs);
    let is_named =
        place.known().split('/').any(|name| name == ".context-graph" || agent_settings::is_folder(name));
    is_named || shell.base.fs.kind(place.known()).is_some()
}

/// Finds patches in a tool's fields, under any name.
fn patches(shell: &mut Shell<'_>, tool: &str, input: &Value, depth: u32) {
    let fields = input.as_object().into_iter().flat_map(|map| map.values());
    for value in fields.chain(input.as_array().into_iter().flatten()).take(MAX_VALUES) {
        match value {
            Value::String(text) if ["*** ", "+++ ", "diff --git "].iter().any(|mark| text.contains(mark)) => {
                shell.patch_text(text, tool);
            }
            Value::Object(_) | Value::Array(_) if depth < 3 => patches(shell, tool, value, depth + 1),
            _ => {}
        }
    }
}

/// The strings of a list, at most `MAX_VALUES`.
fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    Some(items.iter().take(MAX_VALUES).filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The words of a name in any usual spelling.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut raised = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        // `REPL` is one word, `executeSQL` is two.
        if c.is_uppercase() && !raised {
            words.push(String::new());
        }
        raised = c.is_uppercase();
        if let Some(last) = words.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
