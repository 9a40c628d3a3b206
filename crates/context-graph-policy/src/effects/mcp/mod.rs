//! Tools of MCP servers: a tool's name says what it does, its fields to what.

mod commands;
mod outward;
mod stores;

use commands::{command_of_program, forced_reference, git_tool, run_fields};
use outward::outward;
use serde_json::Value;
use stores::{container, remove_named, send_statements};

use super::shell::Shell;
use super::{Access, Text, Unknown};

/// Values of a tool's input looked at.
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
    "add",
    "str",
];

const REMOVING: &[&str] =
    &["delete", "remove", "rm", "unlink", "trash", "rmdir", "move", "rename", "mv", "clean", "purge"];

/// A tool of an MCP server, or one of the client's we do not know: its name says what it does, its fields to what.
pub(super) fn call(shell: &mut Shell<'_>, tool: &str, name: &str, input: &Value) {
    let words: Vec<String> = words_of(name);
    let all: Vec<String> = words_of(tool);
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    // Some servers keep what a tool is given one level down.
    let inner = ["params", "parameters", "arguments", "args", "input", "options"]
        .iter()
        .filter_map(|field| input.get(*field))
        .filter(|value| value.is_object());
    for level in std::iter::once(input).chain(inner) {
        run_fields(shell, &all, &words, level);
        send_statements(shell, &all, level);
        git_tool(shell, &all, &words, level);
        command_of_program(shell, &all, level);
    }
    if any(&["patch", "diff", "apply", "edit"]) {
        patches(shell, tool, input, 0);
    }
    let branch = input.get("branch").and_then(Value::as_str).unwrap_or("main");
    let own_branch = words.iter().any(|word| word == "branch") && !crate::config::protects_by_default(branch);
    if !own_branch {
        remove_named(shell, tool, &all, &words);
    }
    outward(shell, tool, &words, input);
    forced_reference(shell, &words, input);
    container(shell, tool, &all, input);
    let access = if any(REMOVING) {
        Access::Delete
    } else if any(WRITING) {
        Access::Write
    } else if any(READING) {
        Access::Read
    } else {
        Access::Mention
    };
    // What a file is, without what it holds.
    if access == Access::Read
        && any(&["info", "stat", "exists", "metadata"])
        && !any(&["read", "view", "cat"])
    {
        return;
    }
    let mut left = MAX_VALUES;
    let mut paths = Vec::new();
    collect(input, false, &mut paths, &mut left, 0);
    if left == 0 {
        shell.unknown(Unknown::Foreign(tool.to_owned()));
    }
    for (key, path) in paths {
        let path = path.strip_prefix("file://").unwrap_or(&path).to_owned();
        if path.contains("://") || path.contains('\n') || path.len() > 4096 {
            continue;
        }
        let target = Text::from(path.as_str());
        let destination = ["dest", "to", "target", "new"]
            .iter()
            .any(|word| words_of(&key).iter().any(|part| part.starts_with(word)));
        let source = ["source", "src", "from", "old"]
            .iter()
            .any(|word| words_of(&key).iter().any(|part| part == word));
        if destination && any(&["extract", "unzip", "unpack", "untar", "clone", "download"]) {
            shell.bring_unnamed(&target, true, tool);
        }
        match access {
            Access::Delete if destination => shell.touch(Access::Write, &target, tool),
            Access::Delete => {
                shell.touch_all(Access::Delete, &target, tool, true);
                if source {
                    shell.touch(Access::Read, &target, tool);
                }
            }
            // Through another name the file can be changed unseen.
            Access::Write if source && any(&["link", "symlink", "hardlink"]) => {
                shell.touch(Access::Read, &target, "ln");
            }
            Access::Write if source => shell.touch(Access::Read, &target, tool),
            other => shell.touch(other, &target, tool),
        }
    }
}

/// Patches among a tool's fields, whatever they are called there.
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

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    Some(items.iter().take(MAX_VALUES).filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The words of a name in any of the usual spellings.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        if c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Strings under keys that name paths, at any depth.
fn collect(value: &Value, named: bool, out: &mut Vec<(String, String)>, left: &mut usize, depth: u32) {
    let is_path_key = |key: &str| {
        let words = words_of(key);
        words.iter().any(|word| {
            matches!(
                word.as_str(),
                "path"
                    | "paths"
                    | "file"
                    | "files"
                    | "filename"
                    | "filepath"
                    | "filenames"
                    | "source"
                    | "destination"
                    | "dest"
                    | "src"
                    | "uri"
                    | "target"
                    | "from"
                    | "to"
                    | "directory"
                    | "dir"
                    | "folder"
                    | "notebook"
                    | "location"
            )
        }) && !words
            .iter()
            .any(|word| matches!(word.as_str(), "content" | "contents" | "text" | "type" | "count" | "limit"))
    };
    if depth > 8 {
        *left = 0;
    }
    if *left == 0 {
        return;
    }
    *left -= 1;
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if is_path_key(key) => out.push((key.clone(), text.clone())),
                    Value::Object(_) | Value::Array(_) => {
                        collect(value, is_path_key(key), out, left, depth + 1);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) if named => out.push((String::new(), text.clone())),
                    Value::Object(_) | Value::Array(_) => collect(item, named, out, left, depth + 1),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
