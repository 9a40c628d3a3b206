//! Tools of MCP servers: a tool's name says what it does, its fields to what.

use serde_json::Value;

use super::shell::{Flow, Shell};
use super::{Access, Run, Text, Unknown};

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
const RUNNING: &[&str] = &[
    "execute",
    "exec",
    "run",
    "shell",
    "bash",
    "command",
    "terminal",
    "cmd",
    "process",
    "powershell",
    "eval",
    "evaluate",
    "repl",
];

/// Fields that hold a command, whatever the tool is called.
const COMMAND_FIELDS: &[&str] = &[
    "command",
    "cmd",
    "script",
    "commandLine",
    "command_line",
    "code",
    "input",
    "argv",
    "shell",
    "cli_command",
    "source",
    "commands",
    "cell_source",
    "expression",
    "keys",
    "text",
];
/// Words by which a tool or its server is known to be one of a database.
const DATABASES: &[&str] = &[
    "db",
    "database",
    "sql",
    "postgres",
    "postgresql",
    "pg",
    "mysql",
    "mariadb",
    "sqlite",
    "supabase",
    "neon",
    "mssql",
    "clickhouse",
    "duckdb",
    "bigquery",
    "snowflake",
    "mongodb",
    "mongo",
    "redis",
    "prisma",
    "dbhub",
    "toolbox",
];
/// What a tool's name may say it takes away for good.
const LOST: &[&str] = &[
    "database",
    "table",
    "collection",
    "schema",
    "repository",
    "repo",
    "branch",
    "namespace",
    "bucket",
    "project",
    "stack",
    "instance",
    "cluster",
    "volume",
    "deployment",
    "index",
    "environment",
    "release",
    "secret",
];

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
    let branch = input.get("branch").and_then(Value::as_str).unwrap_or("main");
    let own_branch = words.iter().any(|word| word == "branch")
        && !matches!(branch, "main" | "master" | "develop" | "trunk" | "production" | "release");
    if !own_branch {
        remove_named(shell, tool, &words);
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

/// Commands in the fields of a tool: a line, or a list of words.
fn run_fields(shell: &mut Shell<'_>, all: &[String], words: &[String], input: &Value) {
    // What is typed into a terminal is run there; what is typed into a page is not.
    let typed = words.iter().any(|word| matches!(word.as_str(), "send" | "type" | "write"))
        && all.iter().any(|word| {
            matches!(
                word.as_str(),
                "terminal"
                    | "tmux"
                    | "shell"
                    | "console"
                    | "iterm"
                    | "iterm2"
                    | "screen"
                    | "pty"
                    | "ssh"
                    | "process"
            )
        });
    let runs = typed || words.iter().any(|word| RUNNING.contains(&word.as_str()));
    let is_code = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "python" | "code" | "js" | "javascript" | "cell" | "notebook" | "jupyter" | "node"
        )
    });
    for field in COMMAND_FIELDS {
        // Under these names other tools keep other things.
        if !runs && matches!(*field, "input" | "code" | "source" | "script" | "expression" | "keys")
            || !typed && *field == "text"
        {
            continue;
        }
        match input.get(*field) {
            Some(Value::String(code))
                if is_code || matches!(*field, "code" | "cell_source" | "expression") =>
            {
                super::inline::scan(shell, "python", code, &[]);
                // Cells take a shell's lines too, and some tools nothing else.
                for line in code.lines().take(64) {
                    let line = line.trim_start().trim_start_matches('!');
                    shell.quietly(|shell| shell.script(line));
                }
            }
            Some(Value::String(command)) => {
                let extra = ["args", "arguments", "argv"].iter().find_map(|name| strings(input.get(*name)?));
                let line = std::iter::once(command.clone())
                    .chain(extra.into_iter().flatten().map(|arg| quoted(&arg)));
                let line = line.collect::<Vec<_>>().join(" ");
                if runs && !typed {
                    let flow = shell.script(&line);
                    shell.settle(&flow);
                } else {
                    shell.quietly(|shell| shell.script(&line));
                }
            }
            Some(value) => {
                let Some(argv) = strings(value).filter(|argv| !argv.is_empty()) else { continue };
                if argv.len() == 1 || *field == "commands" {
                    for line in &argv {
                        shell.quietly(|shell| shell.script(line));
                    }
                } else {
                    let flow =
                        shell.run(argv.into_iter().map(Text::lit).collect(), Vec::new(), &Flow::default());
                    shell.settle(&flow);
                }
            }
            None => {}
        }
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    Some(items.iter().take(MAX_VALUES).filter_map(Value::as_str).map(str::to_owned).collect())
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Statements for a database, for the rule that looks at those of its clients.
fn send_statements(shell: &mut Shell<'_>, words: &[String], input: &Value) {
    let database = words.iter().any(|word| DATABASES.contains(&word.as_str()));
    let fields = ["sql", "query", "statement", "statements", "queries", "migration"];
    let mut args: Vec<Text> = Vec::new();
    for field in fields.iter().filter(|field| database || **field == "sql") {
        match input.get(*field) {
            Some(Value::String(text)) => args.push(Text::lit(text.as_str())),
            Some(other) => args.extend(strings(other).unwrap_or_default().into_iter().map(Text::lit)),
            None => {}
        }
    }
    let verb = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    if database
        && (verb(&["flushall", "flushdb", "flush"])
            || verb(&["delete"]) && verb(&["many"]) && matches_all(input))
    {
        args.push(Text::lit("flushall("));
    }
    if !args.is_empty() {
        let cwd = shell.cwd().clone();
        shell.out.runs.push(Run { name: "sql".to_owned(), args, assigns: Vec::new(), stdin: None, cwd });
    }
}

/// A filter that leaves nothing out.
fn matches_all(input: &Value) -> bool {
    input.get("filter").is_none_or(|filter| filter.as_object().is_some_and(serde_json::Map::is_empty))
}

/// A tool that is a git command by another road: its name is the subcommand, its fields the options.
fn git_tool(shell: &mut Shell<'_>, all: &[String], words: &[String], input: &Value) {
    if !all.iter().any(|word| word == "git") {
        return;
    }
    let known = [
        "push", "reset", "clean", "commit", "branch", "checkout", "restore", "stash", "rebase", "merge",
        "gc", "reflog", "switch", "rm", "tag", "worktree",
    ];
    let sub = words.iter().rev().find(|word| known.contains(&word.as_str())).cloned();
    let args =
        ["args", "arguments", "argv"].iter().find_map(|name| strings(input.get(*name)?)).unwrap_or_default();
    if sub.is_none() && args.is_empty() {
        return;
    }
    let mut command: Vec<Text> = vec![Text::lit("git")];
    command.extend(sub.map(Text::lit));
    let mut operands: Vec<Text> = Vec::new();
    for (key, value) in input.as_object().into_iter().flatten() {
        let option = words_of(key).join("-");
        match value {
            Value::Bool(true) => command.push(Text::lit(format!("--{option}"))),
            Value::String(text) if matches!(option.as_str(), "mode" | "type") => {
                command.push(Text::lit(format!("--{text}")));
            }
            Value::String(text) if option == "action" || option == "operation" => {
                let removes = text == "delete" && command.get(1).is_some_and(|sub| sub.known() == "branch");
                command.push(Text::lit(if removes { "-D" } else { text.as_str() }));
            }
            Value::String(text) if option == "remote" => operands.insert(0, Text::lit(text.as_str())),
            Value::String(text)
                if matches!(
                    option.as_str(),
                    "branch" | "name" | "ref" | "target" | "refspec" | "branch-name" | "commit"
                ) =>
            {
                operands.push(Text::lit(text.as_str()));
            }
            Value::Array(_) if matches!(option.as_str(), "paths" | "files" | "pathspec") => {
                operands.push(Text::lit("--"));
                operands.extend(strings(value).unwrap_or_default().into_iter().map(Text::lit));
            }
            _ => {}
        }
    }
    command.extend(args.into_iter().map(Text::lit));
    command.extend(operands);
    shell.run(command, Vec::new(), &Flow::default());
}

/// A tool whose very name is that something is gone afterwards.
fn remove_named(shell: &mut Shell<'_>, tool: &str, words: &[String]) {
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let removes = any(&[
        "delete",
        "remove",
        "drop",
        "destroy",
        "purge",
        "terminate",
        "wipe",
        "truncate",
        "reset",
        "uninstall",
    ]);
    if removes && (any(LOST) || any(&["kubectl", "helm", "terraform", "docker"])) {
        let cwd = shell.cwd().clone();
        shell.out.runs.push(Run {
            name: "mcp-delete".to_owned(),
            args: vec![Text::lit(tool)],
            assigns: Vec::new(),
            stdin: None,
            cwd,
        });
    }
}

/// Programs that tools are named after, where a field holds the program's subcommand.
const PROGRAMS: &[&str] = &[
    "kubectl",
    "terraform",
    "tofu",
    "helm",
    "docker",
    "aws",
    "gcloud",
    "az",
    "redis",
    "pulumi",
    "gh",
    "kubernetes",
];

/// A tool that is a program by another road: `{"command": "destroy"}` of a terraform tool.
fn command_of_program(shell: &mut Shell<'_>, words: &[String], input: &Value) {
    let Some(program) = words.iter().rev().find(|word| PROGRAMS.contains(&word.as_str())) else { return };
    let program = match program.as_str() {
        "kubernetes" => "kubectl",
        "redis" => "redis-cli",
        other => other,
    };
    let verb = ["command", "subcommand", "operation", "action", "verb"]
        .iter()
        .find_map(|field| input.get(*field).and_then(Value::as_str));
    let args =
        ["args", "arguments", "argv"].iter().find_map(|name| strings(input.get(*name)?)).unwrap_or_default();
    let line: Vec<String> =
        verb.into_iter().flat_map(str::split_whitespace).map(str::to_owned).chain(args).collect();
    if line.is_empty() || line.first().is_some_and(|first| first == program) {
        return;
    }
    let command: Vec<Text> =
        std::iter::once(Text::lit(program)).chain(line.into_iter().map(Text::lit)).collect();
    shell.quietly(|shell| shell.run(command, Vec::new(), &Flow::default()));
}

/// What a tool fetches or attaches: files of this machine by their address, and the cloud's own address.
fn outward(shell: &mut Shell<'_>, tool: &str, words: &[String], input: &Value) {
    for field in ["url", "uri", "href", "address"] {
        let Some(url) = input.get(field).and_then(Value::as_str) else { continue };
        if let Some(path) = url.strip_prefix("file://") {
            shell.touch(Access::Read, &Text::lit(path), tool);
        }
        let host = super::tools::host_of(url);
        if host.known().starts_with("169.254.") || host.known() == "metadata.google.internal" {
            shell.send(host, super::Cargo::Nothing, tool);
        }
    }
    let sends = words
        .iter()
        .any(|word| matches!(word.as_str(), "send" | "mail" | "email" | "upload" | "post" | "reply"));
    let says = sends
        || words.iter().any(|word| {
            matches!(
                word.as_str(),
                "fetch"
                    | "navigate"
                    | "goto"
                    | "issue"
                    | "comment"
                    | "message"
                    | "gist"
                    | "search"
                    | "request"
                    | "page"
            )
        });
    if says && carries_secret(input, &mut { MAX_VALUES }) {
        shell.send(Text::hole(super::Origin::Output), super::Cargo::Credential, tool);
    }
    let attached = ["attachments", "attachment", "files", "file_path", "file", "path"];
    for field in attached.iter().filter(|_| sends) {
        let listed = input.get(*field).and_then(strings).unwrap_or_default();
        let single = input.get(*field).and_then(Value::as_str).map(str::to_owned);
        for path in listed.into_iter().chain(single) {
            shell.touch(Access::Read, &Text::lit(path), tool);
        }
    }
}

/// A branch of a forge that is set to another commit whatever it pointed at: `update_ref` with `force`.
fn forced_reference(shell: &mut Shell<'_>, words: &[String], input: &Value) {
    let names = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let forced = input.get("force").and_then(Value::as_bool) == Some(true);
    if !(forced && names(&["ref", "reference", "branch"]) && names(&["update", "set", "move", "push"])) {
        return;
    }
    let branch =
        ["ref", "branch", "branch_name"].iter().find_map(|field| input.get(*field).and_then(Value::as_str));
    let branch = branch.unwrap_or("HEAD").trim_start_matches("refs/").trim_start_matches("heads/");
    let command = ["git", "push", "--force", "origin", branch].map(Text::lit);
    shell.run(command.to_vec(), Vec::new(), &Flow::default());
}

/// A container with the run of the machine, asked for by fields.
fn container(shell: &mut Shell<'_>, tool: &str, words: &[String], input: &Value) {
    if !words.iter().any(|word| matches!(word.as_str(), "docker" | "podman" | "container" | "containers")) {
        return;
    }
    let is_root = |mount: &str| mount == "/" || mount.starts_with("/:") || mount.contains("docker.sock");
    let mounts = ["volumes", "mounts", "binds"].iter().filter_map(|field| input.get(*field));
    let whole = mounts.into_iter().any(|value| match value {
        Value::Object(map) => map.keys().any(|key| is_root(key)),
        Value::Array(items) => items.iter().any(|item| {
            item.as_str().or_else(|| item.get("source").and_then(Value::as_str)).is_some_and(is_root)
        }),
        Value::String(text) => is_root(text),
        _ => false,
    });
    if whole || input.get("privileged").and_then(Value::as_bool) == Some(true) {
        shell.out.privileges.push(super::Privilege::Container(tool.to_owned()));
    }
}

/// Whether a credential is written out in any field.
fn carries_secret(value: &Value, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::String(text) => super::shapes::holds_secret(text),
        Value::Array(items) => items.iter().any(|item| carries_secret(item, left)),
        Value::Object(map) => map.values().any(|value| carries_secret(value, left)),
        _ => false,
    }
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
