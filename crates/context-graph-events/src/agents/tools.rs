//! What agents call their tools, and what we call them.

use serde_json::Value;

/// A tool of ours, with the names that agents use for it and for its fields.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) ours: &'static str,
    theirs: &'static [&'static str],
    /// Fields: theirs, ours.
    fields: &'static [(&'static str, &'static str)],
}

const PATH: [(&str, &str); 5] = [
    ("path", "file_path"),
    ("absolute_path", "file_path"),
    ("filePath", "file_path"),
    ("target_file", "file_path"),
    ("filename", "file_path"),
];

const TOOLS: &[Tool] = &[
    Tool {
        ours: "Bash",
        theirs: &[
            "Bash",
            "bash",
            "shell",
            "Shell",
            "local_shell",
            "exec_command",
            "run_shell_command",
            "Execute",
            "execute_command",
            "run_commands",
            "run_in_terminal",
            "run_terminal_cmd",
            "developer__shell",
            "shell_command",
        ],
        fields: &[("cmd", "command"), ("commands", "command"), ("script", "command")],
    },
    Tool { ours: "PowerShell", theirs: &["powershell", "PowerShell"], fields: &[("cmd", "command")] },
    Tool {
        ours: "Write",
        theirs: &["Write", "write", "write_file", "Create", "create", "create_file", "write_to_file"],
        fields: &[
            PATH[0],
            PATH[1],
            PATH[2],
            PATH[3],
            PATH[4],
            ("file_text", "content"),
            ("contents", "content"),
        ],
    },
    Tool {
        ours: "Edit",
        theirs: &[
            "Edit",
            "edit",
            "replace",
            "edit_file",
            "str_replace",
            "str_replace_editor",
            "replace_in_file",
            "replace_string_in_file",
            "insert_edit_into_file",
            "search_replace",
            "editor",
            "developer__text_editor",
        ],
        fields: &[
            PATH[0],
            PATH[1],
            PATH[2],
            PATH[3],
            PATH[4],
            ("old_str", "old_string"),
            ("oldString", "old_string"),
            ("new_str", "new_string"),
            ("newString", "new_string"),
        ],
    },
    Tool { ours: "Read", theirs: &["Read", "read", "read_file", "view", "view_file"], fields: &PATH },
    Tool {
        ours: "apply_patch",
        theirs: &["apply_patch", "ApplyPatch", "applypatch", "patch"],
        fields: &[("input", "command"), ("patch", "command"), ("patchText", "command")],
    },
    Tool {
        ours: "Grep",
        theirs: &["Grep", "grep", "grep_search", "search_file_content", "rg"],
        fields: &[("dir_path", "path"), ("include", "glob")],
    },
    Tool { ours: "Glob", theirs: &["Glob", "glob", "find_files"], fields: &[("dir_path", "path")] },
    Tool { ours: "LS", theirs: &["LS", "list_directory", "list_dir", "ls"], fields: &[("dir_path", "path")] },
    Tool { ours: "WebFetch", theirs: &["WebFetch", "web_fetch", "webfetch", "FetchUrl"], fields: &[] },
    Tool {
        ours: "WebSearch",
        theirs: &["WebSearch", "web_search", "google_web_search", "websearch"],
        fields: &[],
    },
    Tool { ours: "Task", theirs: &["Task", "task", "agent"], fields: &[] },
    Tool { ours: "Agent", theirs: &["Agent", "spawn_agent"], fields: &[] },
    Tool {
        ours: "TodoWrite",
        theirs: &["TodoWrite", "todo_write", "update_plan", "update_todo"],
        fields: &[],
    },
];

/// The tool that agents call by this name.
pub(super) fn find(native: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.theirs.contains(&native))
}

/// Gives the fields of a tool's input our names; returns the renamed fields as pairs (our name, the agent's name). A
/// command that came as a list of words becomes the line that a shell would run.
pub(super) fn rename(input: &mut Value, tool: &Tool) -> Vec<(&'static str, &'static str)> {
    let Value::Object(input) = input else { return Vec::new() };
    let mut renamed = Vec::new();
    for (theirs, ours) in tool.fields {
        if !input.contains_key(*ours)
            && let Some(value) = input.remove(*theirs)
        {
            input.insert((*ours).to_owned(), value);
            renamed.push((*ours, *theirs));
        }
    }
    let are_lines = renamed.contains(&("command", "commands"));
    if let Some(Value::Array(words)) = input.get("command")
        && let Some(words) = words.iter().map(Value::as_str).collect::<Option<Vec<_>>>()
    {
        let line = if are_lines { words.join("\n") } else { line(&words) };
        input.insert("command".to_owned(), line.into());
    }
    renamed
}

/// The line that a shell would run for these words. If the words start a shell with a script, it is that script.
fn line(words: &[&str]) -> String {
    if let [shell, option, script] = words
        && ["sh", "bash", "zsh"].contains(&shell.rsplit('/').next().unwrap_or(shell))
        && ["-c", "-lc", "-ic", "-lic"].contains(option)
    {
        return (*script).to_owned();
    }
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The beginnings of a line with the exit code, in outputs of commands.
const EXIT_CODES: [&str; 4] =
    ["completed with exit code ", "Process exited with code ", "Exit Code: ", "Exit code: "];
/// How many bytes at the end of an output are searched.
const END: usize = 400;

/// Whether the text of a result says that the command failed, if no other field does.
pub(super) fn tells_of_failure(response: &Value) -> bool {
    let kind = ["resultType", "result_type"].iter().find_map(|key| response.get(*key)?.as_str());
    if kind.is_some_and(|kind| kind != "success") || response.get("isError") == Some(&Value::Bool(true)) {
        return true;
    }
    let exit = ["exitCode", "exit_code"].iter().find_map(|key| response.get(*key)?.as_i64());
    let keys = ["textResultForLlm", "text_result_for_llm", "llmContent"];
    let text = response.as_str().or_else(|| keys.iter().find_map(|key| response.get(*key)?.as_str()));
    exit.is_some_and(|code| code != 0)
        || text.is_some_and(|text| exit_code(text).is_some_and(|code| code != 0))
}

/// The exit code at the end of an output. A command can print such a line too, but the client's comes after it.
fn exit_code(text: &str) -> Option<i64> {
    let from = (text.len().saturating_sub(END)..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let end = &text[from..];
    let (at, words) = EXIT_CODES.iter().filter_map(|words| Some((end.rfind(words)?, words))).max()?;
    let digits = end[at + words.len()..].split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    digits.parse().ok()
}
