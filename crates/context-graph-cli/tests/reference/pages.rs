//! The generated pages of the manual: commands, configuration, rules, programs, events, store, schemas.

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

pub(crate) fn rules(root: &Path) -> String {
    let mut page = format!(
        "{NOTE}\n# Which rules does the guard have?\n\nAll of them are on. [Your own rules](../guides/rules.md) says how to change what they decide. \
         The examples are from the calls that the tests try.\n"
    );
    let corpus = root.join("crates/context-graph-policy/tests/corpus/dangerous.txt");
    let corpus = std::fs::read_to_string(corpus).unwrap();
    let rules: Value = serde_json::from_str(&said(&["policy", "list", "--json"])).unwrap();
    let mut guard = "";
    for rule in rules.as_array().unwrap() {
        let text = |key: &str| rule[key].as_str().unwrap();
        if text("guard") != guard {
            guard = text("guard");
            let purpose = text("purpose");
            let (first, rest) = purpose.split_at(1);
            write!(
                page,
                "\n## {guard}\n\n{}{rest}.\n\n| rule | decides | severity | for example |\n|---|---|---|---|\n",
                first.to_uppercase()
            )
            .unwrap();
        }
        let id = text("rule");
        let example = example(&corpus, id).map(|line| format!("`{}`", cell(line))).unwrap_or_default();
        writeln!(page, "| `{id}` | {} | {} | {example} |", text("default"), text("severity")).unwrap();
    }
    page
}

/// The first short command line of the corpus that a rule must deny or ask about.
fn example<'a>(corpus: &'a str, rule: &str) -> Option<&'a str> {
    let of_rule = corpus.lines().filter_map(|line| line.split_once('\t')).filter(|(id, _)| *id == rule);
    let is_plain =
        |line: &&str| line.len() <= 60 && !line.starts_with('@') && !line.contains(['␤', '`', '\t']);
    of_rule.map(|(_, line)| line).find(is_plain)
}

/// What the tables of programs describe, by file.
pub(crate) fn programs(root: &Path) -> String {
    let mut page = format!(
        "{NOTE}\n# Which programs does the guard know?\n\nOf these it knows what options and operands mean. Others are looked at for paths, \
         commands and verbs in their arguments; `[programs.NAME]` in a policy file teaches it one ([how](../guides/programs.md)).\n"
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

/// The tables of the store with their columns, and what `schema.sql` says of each.
pub(crate) fn store(root: &Path) -> String {
    let mut page = format!(
        "{NOTE}\n# Which tables does the store have?\n\n[The store](../store.md) says how to query it, and which views stay as they are. The tables \
         may change with a new format of the store. Times (`_ms`) are milliseconds since 1970 in UTC, `session` is `sessions.number`, `seq` \
         the number of a record in its session.\n"
    );
    let schema = root.join("crates/context-graph-storage/src/store/sql/schema.sql");
    let schema = std::fs::read_to_string(schema).unwrap();
    let mut remarks: Vec<&str> = Vec::new();
    let mut is_inside = false;
    for line in schema.lines().map(str::trim) {
        if let Some(remark) = line.strip_prefix("-- ") {
            remarks.push(remark);
            continue;
        }
        let remark = std::mem::take(&mut remarks).join(" ");
        if let Some(name) = line.strip_prefix("CREATE TABLE ").and_then(|rest| rest.strip_suffix(" (")) {
            assert!(!remark.is_empty(), "schema.sql does not say what a row of {name} is");
            write!(page, "\n## {name}\n\n{}\n\n| column | type | |\n|---|---|---|\n", cell(&remark)).unwrap();
            is_inside = true;
        } else if line.starts_with(')') {
            is_inside = false;
        } else if is_inside && !line.starts_with("PRIMARY KEY") {
            let (column, kind) = line.trim_end_matches(',').split_once(' ').unwrap();
            let may_miss = if kind.contains("NOT NULL") { "" } else { ", or none" };
            let kind = kind.split(" NOT NULL").next().unwrap().trim();
            writeln!(page, "| `{column}` | {kind}{may_miss} | {} |", cell(&remark)).unwrap();
        }
    }
    page
}

/// The list of schemas, by their own titles.
pub(crate) fn schemas(root: &Path) -> String {
    let mut page = format!(
        "{NOTE}\n# Which schemas are there?\n\nJSON Schema of everything that is read or answered. They come from the code, except the \
         one of answers, which the tests compare with every answer.\n\n| file | of what |\n|---|---|\n"
    );
    let folder = root.join("docs/reference");
    let files =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|name| name.ends_with(".schema.json")).collect();
    files.sort();
    for name in files {
        let schema: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join(&name)).unwrap()).unwrap();
        let text = |key: &str| schema[key].as_str().map(cell);
        let title = text("title").unwrap();
        let more = text("description").map(|more| format!(". {more}")).unwrap_or_default();
        writeln!(page, "| [{name}]({name}) | {title}{more} |").unwrap();
    }
    page.push_str(
        "\n`context-graph config schema` prints those of the two files that you write, for editors.\n",
    );
    page
}
