//! Typed inputs of the client's common tools. The input of an unknown tool is kept unchanged.

use serde::Serialize;
use serde_json::{Number, Value};

use crate::decode::DecodeError;
use crate::fields::FieldType;

record! {
    /// A shell command.
    BashInput {
        /// The command line.
        required command: String,
        /// What it is for, in the model's words.
        optional description: String,
        /// A limit in milliseconds.
        optional timeout: Number,
        /// Whether it runs in the background.
        optional run_in_background: bool,
    }
}

record! {
    /// Reading a file.
    ReadInput {
        /// The file.
        required file_path: String,
        /// The first line.
        optional offset: Number,
        /// How many lines.
        optional limit: Number,
    }
}

record! {
    /// Writing a whole file.
    WriteInput {
        /// The file.
        required file_path: String,
        /// The whole content.
        required content: String,
    }
}

record! {
    /// Replacing a piece of a file.
    EditInput {
        /// The file.
        required file_path: String,
        /// The text to replace.
        required old_string: String,
        /// The new text.
        required new_string: String,
        /// Replace all occurrences; otherwise the text must be unique.
        optional replace_all: bool,
    }
}

record! {
    /// One of several replacements.
    EditStep {
        /// The text to replace.
        required old_string: String,
        /// The new text.
        required new_string: String,
        /// Replace all occurrences; otherwise the text must be unique.
        optional replace_all: bool,
    }
}

record! {
    /// Several replacements in one file.
    MultiEditInput {
        /// The file.
        required file_path: String,
        /// The replacements, in order.
        required edits: Vec<EditStep>,
    }
}

record! {
    /// Changing a cell of a notebook.
    NotebookEditInput {
        /// The notebook.
        required notebook_path: String,
        /// The new content of the cell.
        required new_source: String,
        /// Which cell.
        optional cell_id: String,
        /// `code` or `markdown`.
        optional cell_type: String,
        /// `replace`, `insert` or `delete`.
        optional edit_mode: String,
    }
}

record! {
    /// Finding files by name.
    GlobInput {
        /// The pattern.
        required pattern: String,
        /// Where to look.
        optional path: String,
    }
}

record! {
    /// Finding text in files.
    GrepInput {
        /// The pattern.
        required pattern: String,
        /// Where to look.
        optional path: String,
        /// Which files.
        optional glob: String,
        /// `content`, `files_with_matches` or `count`.
        optional output_mode: String,
    }
}

record! {
    /// Fetching a web page.
    WebFetchInput {
        /// The page's URL.
        required url: String,
        /// The question about the page.
        optional prompt: String,
    }
}

record! {
    /// Searching the web.
    WebSearchInput {
        /// The search query.
        required query: String,
        /// Only these domains.
        optional allowed_domains: Vec<String>,
        /// Not these domains.
        optional blocked_domains: Vec<String>,
    }
}

record! {
    /// Starting a subagent.
    AgentInput {
        /// Its task.
        required prompt: String,
        /// The task in a few words.
        optional description: String,
        /// Which kind of agent.
        optional subagent_type: String,
        /// Whether it runs in the background.
        optional run_in_background: bool,
    }
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpInput {
    /// The server, as configured.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// Its input, unchanged.
    pub input: Value,
}

/// A tool's input, typed where we know the tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// See [`BashInput`].
    Bash(BashInput),
    /// See [`ReadInput`].
    Read(ReadInput),
    /// See [`WriteInput`].
    Write(WriteInput),
    /// See [`EditInput`].
    Edit(EditInput),
    /// See [`MultiEditInput`].
    MultiEdit(MultiEditInput),
    /// See [`NotebookEditInput`].
    NotebookEdit(NotebookEditInput),
    /// See [`GlobInput`].
    Glob(GlobInput),
    /// See [`GrepInput`].
    Grep(GrepInput),
    /// See [`WebFetchInput`].
    WebFetch(WebFetchInput),
    /// See [`WebSearchInput`].
    WebSearch(WebSearchInput),
    /// See [`AgentInput`].
    Agent(AgentInput),
    /// See [`McpInput`].
    Mcp(McpInput),
    /// A tool this version does not know.
    Other(Value),
}

impl ToolInput {
    /// Reads a tool's input as its type. `Task` is the former name of `Agent`.
    pub fn read(tool_name: &str, input: &Value) -> Result<Self, DecodeError> {
        let value = input.clone();
        let read = match tool_name {
            "Bash" => BashInput::read(value).map(Self::Bash),
            "Read" => ReadInput::read(value).map(Self::Read),
            "Write" => WriteInput::read(value).map(Self::Write),
            "Edit" => EditInput::read(value).map(Self::Edit),
            "MultiEdit" => MultiEditInput::read(value).map(Self::MultiEdit),
            "NotebookEdit" => NotebookEditInput::read(value).map(Self::NotebookEdit),
            "Glob" => GlobInput::read(value).map(Self::Glob),
            "Grep" => GrepInput::read(value).map(Self::Grep),
            "WebFetch" => WebFetchInput::read(value).map(Self::WebFetch),
            "WebSearch" => WebSearchInput::read(value).map(Self::WebSearch),
            "Agent" | "Task" => AgentInput::read(value).map(Self::Agent),
            other => Ok(match mcp_parts(other) {
                Some((server, tool)) => {
                    Self::Mcp(McpInput { server: server.to_owned(), tool: tool.to_owned(), input: value })
                }
                None => Self::Other(value),
            }),
        };
        read.map_err(|e| e.inside("tool_input"))
    }

    /// Converts the input back to JSON.
    pub fn to_value(&self) -> Value {
        fn json(input: &impl Serialize) -> Value {
            // Serialization fails only for maps whose keys are not strings, and there are none.
            serde_json::to_value(input).unwrap_or(Value::Null)
        }
        match self {
            Self::Bash(input) => json(input),
            Self::Read(input) => json(input),
            Self::Write(input) => json(input),
            Self::Edit(input) => json(input),
            Self::MultiEdit(input) => json(input),
            Self::NotebookEdit(input) => json(input),
            Self::Glob(input) => json(input),
            Self::Grep(input) => json(input),
            Self::WebFetch(input) => json(input),
            Self::WebSearch(input) => json(input),
            Self::Agent(input) => json(input),
            Self::Mcp(mcp) => mcp.input.clone(),
            Self::Other(input) => input.clone(),
        }
    }
}

/// Server and tool from a name like `mcp__server__tool`.
pub fn mcp_parts(tool_name: &str) -> Option<(&str, &str)> {
    let (server, tool) = tool_name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_tools_are_typed_and_written_back_unchanged() {
        let cases = [
            ("Bash", json!({"command": "ls", "description": "d", "timeout": 5, "future": [1]})),
            ("Read", json!({"file_path": "/a", "offset": 3, "limit": 9})),
            ("Write", json!({"file_path": "/a", "content": "x"})),
            ("Edit", json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": false})),
            ("MultiEdit", json!({"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}]})),
            ("NotebookEdit", json!({"notebook_path": "/n.ipynb", "new_source": "1", "edit_mode": "insert"})),
            ("Glob", json!({"pattern": "**/*.rs"})),
            ("Grep", json!({"pattern": "fn", "path": "src", "-n": true})),
            ("WebFetch", json!({"url": "http://x", "prompt": "p"})),
            ("WebSearch", json!({"query": "q", "allowed_domains": ["a"]})),
            ("Agent", json!({"prompt": "p", "subagent_type": "general-purpose"})),
            ("mcp__demo__ok", json!({"x": "1"})),
            ("NewTool", json!({"anything": null})),
        ];
        for (tool, input) in cases {
            let typed = ToolInput::read(tool, &input).unwrap();
            assert_eq!(typed.to_value(), input, "{tool}");
            assert_eq!(matches!(typed, ToolInput::Other(_)), tool == "NewTool");
        }
    }

    #[test]
    fn an_input_that_does_not_fit_names_the_field() {
        let error = ToolInput::read("MultiEdit", &json!({"file_path": "/a", "edits": [{"old_string": 1}]}));
        assert_eq!(
            error.unwrap_err().to_string(),
            "field `tool_input.edits[0].old_string`: expected a string, found the number 1"
        );
    }

    #[test]
    fn mcp_names_split_at_the_first_separator() {
        assert_eq!(mcp_parts("mcp__demo__ok"), Some(("demo", "ok")));
        assert_eq!(mcp_parts("mcp__a__b__c"), Some(("a", "b__c")));
        assert_eq!(mcp_parts("mcp__demo"), None);
        assert_eq!(mcp_parts("Bash"), None);
    }
}
