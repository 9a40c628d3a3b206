//! The client's tools and those of MCP servers, mapped to effects.

use serde_json::Value;

use super::mcp::call as mcp;
use super::path::Places;
use super::shell::Shell;
use super::{Access, Cargo, Effects, Text, Unknown};
use crate::programs::Known;

/// A tool's input lacks what the tool cannot do without.
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
    places: Places<'a>,
    known: Known<'a>,
) -> Result<Effects, InputError> {
    let mut shell = Shell::new(places, project, cwd, known);
    let text = |field: &'static str| {
        input.get(field).and_then(Value::as_str).ok_or_else(|| InputError { tool: tool.to_owned(), field })
    };
    if let Some(field) = needed(tool)
        && input.get(field).is_none()
    {
        // The client turns such a call away before any hook hears of it. Should a newer client have renamed the
        // field, the tool is looked at as one we do not know; what would run cannot be seen then.
        let mut lines = input.as_object().into_iter().flatten().filter(|(key, _)| *key != "description");
        if runs_commands(tool) && lines.clone().any(|(_, value)| value.is_string()) {
            for line in lines.by_ref().filter_map(|(_, value)| value.as_str()).take(8) {
                shell.quietly(|shell| shell.script(line));
            }
        } else if runs_commands(tool) || !input.is_object() {
            shell.unknown(Unknown::Foreign(format!("a call of {tool} without its `{field}`")));
        }
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
            let url = text("url")?;
            let cargo =
                if context_graph_secrets::holds_secret(url) { Cargo::Credential } else { Cargo::Nothing };
            shell.send(host_of(url), cargo, tool);
            if let Some(path) = url.strip_prefix("file://") {
                shell.touch(Access::Read, &literal(path), tool);
            }
        }
        "WebSearch" => {
            if input.get("query").and_then(Value::as_str).is_some_and(context_graph_secrets::holds_secret) {
                shell.send(Text::lit("a search engine"), Cargo::Credential, tool);
            }
        }
        // The client's own way to change its settings.
        "Config" if input.get("value").is_some() => {
            let setting = input.get("setting").and_then(Value::as_str).unwrap_or("").to_ascii_lowercase();
            if ["hook", "permission", "env", "plugin", "setting", "sandbox"]
                .iter()
                .any(|word| setting.contains(word))
            {
                shell.touch(Access::Write, &literal("~/.claude/settings.json"), tool);
            }
        }
        // Names of files are no content, and what an agent or a search is asked is not done by asking.
        "LS" | "Glob" | "Agent" | "Task" | "TodoWrite" | "Skill" | "AskUserQuestion" | "ExitPlanMode"
        | "EnterPlanMode" => {}
        _ => match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((_, name)) => mcp(&mut shell, tool, name, input),
            None => mcp(&mut shell, tool, tool, input),
        },
    }
    Ok(shell.out)
}

/// Whether a tool of the client's is one that runs commands.
fn runs_commands(tool: &str) -> bool {
    matches!(tool, "Bash" | "bash" | "Monitor" | "PowerShell" | "powershell")
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

/// `*.{a,b}` is both. Deeper ones stay as they are.
fn alternatives(glob: &str) -> Vec<String> {
    let braces = glob.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match braces {
        Some((before, (inner, behind))) => {
            inner.split(',').take(16).map(|one| format!("{before}{one}{behind}")).collect()
        }
        None => vec![glob.to_owned()],
    }
}

/// Searching a folder shows whatever is in it; naming one file in it, by path or by glob, is reading that file.
fn grep(shell: &mut Shell<'_>, input: &Value) {
    let path = input.get("path").and_then(Value::as_str).unwrap_or(".");
    let shows = input.get("output_mode").and_then(Value::as_str) == Some("content");
    let access = if shows { Access::Read } else { Access::Search };
    shell.touch_all(access, &literal(path), "Grep", true);
    let glob = input.get("glob").and_then(Value::as_str).filter(|_| shows);
    for glob in glob.into_iter().flat_map(alternatives) {
        let glob = glob.as_str();
        let mut target = Text::from(path);
        target.push_str("/");
        let mut whole = target.clone();
        target.push_globbed(glob.rsplit('/').next().unwrap_or(glob));
        shell.touch(Access::Read, &target, "Grep");
        if glob.contains('/') {
            whole.push_globbed(glob.trim_start_matches("**/"));
            shell.touch(Access::Read, &whole, "Grep");
        }
    }
}
