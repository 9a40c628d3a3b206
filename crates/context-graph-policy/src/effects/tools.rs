//! The client's tools and those of MCP servers, mapped to effects.

use serde_json::Value;

use super::path::Places;
use super::shell::Shell;
use super::{Access, Cargo, Effects, Text, Unknown};

/// A tool's input lacks what the tool cannot do without.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("input of {tool}: `{field}` is missing or not a string")]
pub struct InputError {
    /// The tool.
    pub tool: String,
    /// The field.
    pub field: &'static str,
}

/// Values of an MCP tool's input looked at.
const MAX_VALUES: usize = 256;

/// What a tool call would do.
pub(crate) fn of_tool_call(
    tool: &str,
    input: &Value,
    cwd: &str,
    project: &str,
    places: Places<'_>,
) -> Result<Effects, InputError> {
    let mut shell = Shell::new(places, project, cwd);
    let text = |field: &'static str| {
        input.get(field).and_then(Value::as_str).ok_or_else(|| InputError { tool: tool.to_owned(), field })
    };
    if let Some(field) = needed(tool)
        && input.get(field).is_none()
    {
        // The client turns such a call away before any hook hears of it. Should a newer client have renamed the
        // field, the tool is looked at as one we do not know.
        mcp(&mut shell, tool, tool, input);
        return Ok(shell.out);
    }
    match tool {
        "Bash" | "bash" | "Monitor" => {
            let flow = shell.script(text("command")?);
            shell.settle(&flow);
        }
        "PowerShell" | "powershell" => super::powershell::script(&mut shell, text("command")?),
        "Read" | "NotebookRead" => {
            let field = if tool == "Read" { "file_path" } else { "notebook_path" };
            shell.touch(Access::Read, &literal(text(field)?), tool);
        }
        "Write" | "Edit" | "MultiEdit" => shell.touch(Access::Write, &literal(text("file_path")?), tool),
        "NotebookEdit" => shell.touch(Access::Write, &literal(text("notebook_path")?), tool),
        "Grep" => grep(&mut shell, input),
        "WebFetch" => {
            let host = host_of(text("url")?);
            shell.send(host, Cargo::Nothing, tool);
        }
        // Names of files are no content, and what an agent or a search is asked is not done by asking.
        "LS" | "Glob" | "WebSearch" | "Agent" | "Task" | "TodoWrite" | "Skill" | "AskUserQuestion"
        | "ExitPlanMode" | "EnterPlanMode" => {}
        _ => match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((_, name)) => mcp(&mut shell, tool, name, input),
            None => mcp(&mut shell, tool, tool, input),
        },
    }
    Ok(shell.out)
}

/// The field without which a tool of the client's does nothing.
fn needed(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" | "bash" | "Monitor" | "PowerShell" | "powershell" => "command",
        "Read" | "Write" | "Edit" | "MultiEdit" => "file_path",
        "NotebookRead" | "NotebookEdit" => "notebook_path",
        "WebFetch" => "url",
        _ => return None,
    })
}

/// The host of an address.
pub(super) fn host_of(url: &str) -> Text {
    super::programs::host_of(&Text::from(url))
}

/// A tool's path is taken as it stands: no globs, but `~` is read by some tools.
fn literal(path: &str) -> Text {
    Text::from(path)
}

/// Searching a folder shows whatever is in it; naming one file in it, by path or by glob, is reading that file.
fn grep(shell: &mut Shell<'_>, input: &Value) {
    let path = input.get("path").and_then(Value::as_str).unwrap_or(".");
    let shows = input.get("output_mode").and_then(Value::as_str) == Some("content");
    let access = if shows { Access::Read } else { Access::Search };
    shell.touch_all(access, &literal(path), "Grep", true);
    if let (true, Some(glob)) = (shows, input.get("glob").and_then(Value::as_str)) {
        let mut target = Text::from(path);
        target.push_str("/");
        target.push_globbed(glob.rsplit('/').next().unwrap_or(glob));
        shell.touch(Access::Read, &target, "Grep");
    }
}

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
const RUNNING: &[&str] =
    &["execute", "exec", "run", "shell", "bash", "command", "terminal", "cmd", "process", "powershell"];

/// A tool of an MCP server, or one of the client's we do not know: its name says what it does, its fields to what.
fn mcp(shell: &mut Shell<'_>, tool: &str, name: &str, input: &Value) {
    let words: Vec<String> = words_of(name);
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if any(RUNNING) {
        for field in ["command", "cmd", "script", "commandLine", "command_line", "code", "input"] {
            if let Some(command) = input.get(field).and_then(Value::as_str) {
                if words.iter().any(|word| matches!(word.as_str(), "python" | "code" | "js" | "javascript")) {
                    super::inline::scan(shell, "python", command, &[]);
                } else {
                    let mut line = command.to_owned();
                    for arg in input
                        .get("args")
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                    {
                        line.push_str(" '");
                        line.push_str(&arg.replace('\'', "'\\''"));
                        line.push('\'');
                    }
                    let flow = shell.script(&line);
                    shell.settle(&flow);
                }
            }
        }
    }
    let access = if any(REMOVING) {
        Access::Delete
    } else if any(WRITING) {
        Access::Write
    } else if any(READING) {
        Access::Read
    } else {
        Access::Mention
    };
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
        let target = literal(&path);
        let destination = ["dest", "to", "target", "new"]
            .iter()
            .any(|word| words_of(&key).iter().any(|part| part.starts_with(word)));
        let source = ["source", "src", "from", "old"]
            .iter()
            .any(|word| words_of(&key).iter().any(|part| part == word));
        match access {
            Access::Delete if destination => shell.touch(Access::Write, &target, tool),
            Access::Delete => {
                shell.touch_all(Access::Delete, &target, tool, true);
                if source {
                    shell.touch(Access::Read, &target, tool);
                }
            }
            Access::Write if source => shell.touch(Access::Read, &target, tool),
            other => shell.touch(other, &target, tool),
        }
    }
}

/// The words of a name in any of the usual spellings.
fn words_of(name: &str) -> Vec<String> {
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
