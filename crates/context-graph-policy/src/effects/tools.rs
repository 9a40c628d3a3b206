//! Maps the client's tools and those of MCP servers to effects.

use serde_json::Value;

use super::mcp::call as mcp;
use super::path::PathBase;
use super::shell::Shell;
use super::{Access, Effects, Origin, Piece, SentKind, Text, Unknown};
use crate::programs::KnownPrograms;

/// A tool's input lacks a required field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("input of {tool}: `{field}` is missing or not a string")]
pub struct InputError {
    /// The tool.
    pub tool: String,
    /// The field.
    pub field: &'static str,
}

/// What a tool call would do.
pub(crate) fn of_tool_call<'a>(
    tool: &str,
    input: &Value,
    cwd: &str,
    project: &'a str,
    base: PathBase<'a>,
    known: KnownPrograms<'a>,
) -> Result<Effects, InputError> {
    let mut shell = Shell::new(base, project, cwd, known);
    let text = |field: &'static str| {
        input.get(field).and_then(Value::as_str).ok_or_else(|| InputError { tool: tool.to_owned(), field })
    };
    if let Some(field) = needed(tool)
        && input.get(field).is_none()
    {
        without_field(&mut shell, tool, field, input);
        return Ok(shell.out);
    }
    match tool {
        "Bash" | "bash" | "Monitor" => {
            begin_in(&mut shell, input);
            let flow = shell.script(text("command")?);
            shell.end_pipeline(&flow);
            shell.out.made = std::mem::take(&mut shell.written).into_iter().collect();
        }
        "PowerShell" | "powershell" => {
            begin_in(&mut shell, input);
            super::powershell::script(&mut shell, text("command")?);
        }
        "Read" | "NotebookRead" => {
            let field = if tool == "Read" { "file_path" } else { "notebook_path" };
            shell.touch(Access::Read, &literal(text(field)?), tool);
        }
        "Write" | "Edit" | "MultiEdit" => shell.touch(Access::Write, &literal(text("file_path")?), tool),
        "apply_patch" => shell.patch_text(text("command")?, tool),
        "NotebookEdit" => shell.touch(Access::Write, &literal(text("notebook_path")?), tool),
        "Grep" => grep(&mut shell, input),
        "WebFetch" => {
            let url = text("url")?;
            let kind = if context_graph_secrets::holds_secret(url) {
                SentKind::Credential
            } else {
                SentKind::Nothing
            };
            shell.send(host_of(url), kind, tool);
            if let Some(path) = url.strip_prefix("file://") {
                shell.touch(Access::Read, &literal(path), tool);
            }
        }
        "WebSearch" => {
            if input.get("query").and_then(Value::as_str).is_some_and(context_graph_secrets::holds_secret) {
                shell.send(Text::lit("a search engine"), SentKind::Credential, tool);
            }
        }
        // The client's own tool for changing its settings.
        "Config" if input.get("value").is_some() => {
            let setting = input.get("setting").and_then(Value::as_str).unwrap_or("").to_ascii_lowercase();
            if ["hook", "permission", "env", "plugin", "setting", "sandbox"]
                .iter()
                .any(|word| setting.contains(word))
            {
                shell.touch(Access::Write, &literal("~/.claude/settings.json"), tool);
            }
        }
        // Names of files are not content, and asking an agent or a person does nothing by itself.
        "LS" | "Glob" | "Agent" | "Task" | "TodoWrite" | "Skill" | "AskUserQuestion" | "ExitPlanMode"
        | "EnterPlanMode" => {}
        _ => match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((_, name)) => mcp(&mut shell, tool, name, input),
            None => mcp(&mut shell, tool, tool, input),
        },
    }
    Ok(shell.out)
}

/// A call without a field that its tool needs. The client rejects it before it calls a hook. A newer client may have
/// renamed the field, so the tool is treated as an unknown one.
fn without_field(shell: &mut Shell<'_>, tool: &str, field: &str, input: &Value) {
    let mut lines = input.as_object().into_iter().flatten().filter(|(key, _)| *key != "description");
    if runs_commands(tool) && lines.clone().any(|(_, value)| value.is_string()) {
        for line in lines.by_ref().filter_map(|(_, value)| value.as_str()).take(8) {
            shell.quietly(|shell| shell.script(line));
        }
    } else if runs_commands(tool) || !input.is_object() {
        shell.unknown(Unknown::Opaque(format!("a call of {tool} without its `{field}`")));
    }
    mcp(shell, tool, tool, input);
}

/// The fields in which agents name the folder that a command runs in.
const FOLDER_FIELDS: &[&str] = &[
    "cwd",
    "workdir",
    "dir_path",
    "directory",
    "working_directory",
    "workingDirectory",
    "working_dir",
    "dir",
];

/// Goes to the folder that the call names for its command.
fn begin_in(shell: &mut Shell<'_>, input: &Value) {
    let folder =
        FOLDER_FIELDS.iter().find_map(|field| input.get(field)?.as_str()).filter(|folder| !folder.is_empty());
    if let Some(folder) = folder {
        let folder = super::path::arrived(&shell.home_expanded(&literal(folder)), shell.cwd(), shell.base.fs);
        shell.set_cwd(folder);
    }
}

/// Whether a tool of the client runs commands.
pub(crate) fn runs_commands(tool: &str) -> bool {
    matches!(tool, "Bash" | "bash" | "Monitor" | "PowerShell" | "powershell")
}

/// The required field of a tool of the client.
fn needed(tool: &str) -> Option<&'static str> {
    if runs_commands(tool) {
        return Some("command");
    }
    Some(match tool {
        "apply_patch" => "command",
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

/// A tool's path is literal: no globs, but some tools expand `~`.
fn literal(path: &str) -> Text {
    Text::from(path)
}

/// How many patterns a pattern with braces may expand to.
const MAX_BRACES: usize = 64;

/// Searching a folder shows everything in it. Files named by a path or a pattern are read.
fn grep(shell: &mut Shell<'_>, input: &Value) {
    let path = input.get("path").and_then(Value::as_str).unwrap_or(".");
    let shows = input.get("output_mode").and_then(Value::as_str) == Some("content");
    shell.touch_all(Access::Search, &literal(path), "Grep", true);
    if !shows {
        return;
    }
    let is_narrowed = ["glob", "type"].iter().any(|field| input.get(*field).is_some());
    shell.touch_all(Access::Read, &literal(path), "Grep", !is_narrowed);
    let globs = input.get("glob").and_then(Value::as_str).unwrap_or_default();
    for glob in alternatives(globs).iter().filter(|glob| !glob.is_empty() && !glob.starts_with('!')) {
        let mut target = Text::from(path);
        // A pattern without a folder matches at any depth.
        let anywhere = if glob.contains('/') { "" } else { "**/" };
        for part in format!("{anywhere}{glob}").split('/') {
            target.push_str("/");
            match part {
                "**" => target.push(Piece::Hole(Origin::Below)),
                part => target.push_globbed(part),
            }
        }
        shell.touch(Access::Read, &target, "Grep");
    }
}

/// Expands the braces of a pattern.
fn alternatives(glob: &str) -> Vec<String> {
    let (mut done, mut todo) = (Vec::new(), vec![glob.to_owned()]);
    while let Some(glob) = todo.pop().filter(|_| done.len() + todo.len() < MAX_BRACES) {
        // The innermost group contains no other.
        let group = glob.find('}').and_then(|end| Some((glob[..end].rfind('{')?, end)));
        match group {
            Some((start, end)) => {
                let whole = |choice| format!("{}{choice}{}", &glob[..start], &glob[end + 1..]);
                todo.extend(glob[start + 1..end].split(',').map(whole));
            }
            None => done.push(glob),
        }
    }
    done
}
