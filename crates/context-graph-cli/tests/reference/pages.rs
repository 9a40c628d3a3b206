//! The generated pages of the manual: commands, configuration, rules, programs, events.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use context_graph_events::schema as events_schema;
use serde_json::Value;

const NOTE: &str =
    "<!-- Generated: UPDATE_REFERENCE=1 cargo test -p context-graph-cli --test reference -->\n";

fn said(args: &[&str]) -> String {
    let empty = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_context-graph"));
    command.args(args).current_dir(empty.path()).env_clear().env("HOME", empty.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The help of a command and all its subcommands.
fn help(words: &[&str], page: &mut String) {
    let text = said(&[words, &["--help"]].concat());
    let title = if words.is_empty() { String::new() } else { format!(" {}", words.join(" ")) };
    write!(page, "\n## context-graph{title}\n\n```text\n{}\n```\n", text.trim_end()).unwrap();
    let verbs =
        text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs =
        verbs.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    for verb in verbs.filter(|verb| *verb != "help") {
        help(&[words, &[verb]].concat(), page);
    }
}

pub(crate) fn commands() -> String {
    let mut page = format!("{NOTE}\n# Which commands are there?\n");
    help(&[], &mut page);
    page
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

pub(crate) fn configuration() -> String {
    let mut page = format!(
        "{NOTE}\n# What can be set in config.toml?\n\n[Configuration](../configuration.md) says where the file lies and what goes before \
         what.\n\n| key | default | what it does |\n|---|---|---|\n"
    );
    let schema = context_graph_cli::config_schema();
    for (table, keys) in schema["properties"].as_object().unwrap() {
        for (key, said) in keys["properties"].as_object().into_iter().flatten() {
            let default =
                if said["default"].is_null() { "none".to_owned() } else { format!("`{}`", said["default"]) };
            let what = cell(said["description"].as_str().unwrap_or_default());
            writeln!(page, "| `{table}.{key}` | {default} | {what} |").unwrap();
        }
    }
    page
}

pub(crate) fn rules() -> String {
    let mut page = format!(
        "{NOTE}\n# Which rules does the guard have?\n\nAll of them are on. [The guard](../guard.md) says how to change what they decide.\n"
    );
    let rules: Value = serde_json::from_str(&said(&["policy", "list", "--json"])).unwrap();
    let mut guard = "";
    for rule in rules.as_array().unwrap() {
        let text = |key: &str| rule[key].as_str().unwrap();
        if text("guard") != guard {
            guard = text("guard");
            write!(
                page,
                "\n## {guard}\n\n{}.\n\n| rule | decides | severity |\n|---|---|---|\n",
                text("purpose")
            )
            .unwrap();
        }
        writeln!(page, "| `{}` | {} | {} |", text("rule"), text("default"), text("severity")).unwrap();
    }
    page
}

/// What the tables of programs describe, by file.
pub(crate) fn programs(root: &Path) -> String {
    let mut page = format!(
        "{NOTE}\n# Which programs does the guard know?\n\nOf these it knows what options and operands mean. Others are looked at for paths, \
         commands and verbs in their arguments; `[programs.NAME]` in a policy file teaches it one ([the guard](../guard.md)).\n"
    );
    let folder = root.join("crates/context-graph-policy/programs");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    for file in files {
        let table: BTreeMap<String, toml::Value> =
            toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let mut names: Vec<String> = Vec::new();
        for (name, row) in &table {
            names.push(name.clone());
            let also = row.get("also").and_then(toml::Value::as_array).into_iter().flatten();
            names.extend(also.filter_map(|name| Some(name.as_str()?.to_owned())));
        }
        names.sort();
        names.dedup();
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let title = file.file_stem().unwrap().to_string_lossy();
        write!(page, "\n## {title}\n\n{}\n", names.join(", ")).unwrap();
    }
    page
}

pub(crate) fn events() -> String {
    let mut page = format!(
        "{NOTE}\n# Which events are there, and what can be answered?\n\n{}\n## What each event says\n\nFields in brackets may be missing. \
         [payloads.schema.json](payloads.schema.json) has their types.\n\n| event | fields |\n|---|---|\n",
        events_schema::verb_table().trim_end()
    );
    let schema = events_schema::payloads();
    for (event, said) in schema["$defs"].as_object().unwrap() {
        let required: Vec<&str> =
            said["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields: Vec<String> = said["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(|field| {
                if required.contains(&field.as_str()) { format!("`{field}`") } else { format!("[`{field}`]") }
            })
            .collect();
        if context_graph_events::EventName::parse(event).is_some() {
            writeln!(page, "| `{event}` | {} |", fields.join(", ")).unwrap();
        }
    }
    page
}
