//! `docs/reference/` matches the code. `UPDATE_REFERENCE=1 cargo test -p context-graph-cli --test reference`
//! writes it again.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and may be told to write"
)]

#[path = "reference/pages.rs"]
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use context_graph_cli::commands::hooks::schema as ours;
use context_graph_events::schema as theirs;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, expected).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        found == expected,
        "{path} is not what the code says; run UPDATE_REFERENCE=1 cargo test -p context-graph-cli --test reference"
    );
}

fn pretty(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).unwrap();
    text.push('\n');
    text
}

#[test]
fn the_published_schemas_are_current() {
    check("docs/reference/payloads.schema.json", &pretty(&theirs::payloads()));
    check("docs/reference/replies.schema.json", &pretty(&theirs::replies()));
    check("docs/reference/hook-output.schema.json", &pretty(&ours::hook_output()));
    check("docs/reference/hook-input.schema.json", &pretty(&ours::hook_input()));
    check("docs/reference/config.schema.json", &pretty(&context_graph_cli::config_schema()));
    check("docs/reference/policy.schema.json", &pretty(&context_graph_cli::policy_schema()));
}

#[test]
fn the_verb_table_is_current() {
    check("crates/context-graph-events/VERBS.md", &theirs::verb_table());
}

#[test]
fn the_generated_pages_of_the_manual_are_current() {
    check("docs/reference/commands.md", &pages::commands());
    check("docs/reference/configuration.md", &pages::configuration());
    check("docs/reference/rules.md", &pages::rules(&root()));
    check("docs/reference/programs.md", &pages::programs(&root()));
    check("docs/reference/events.md", &pages::events());
    check("docs/reference/store.md", &pages::store(&root()));
    check("docs/reference/README.md", &pages::schemas(&root()));
}

#[test]
fn the_published_schemas_are_valid_schemas() {
    let answers = fs::read_to_string(root().join("docs/reference/answers.schema.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let files = [context_graph_cli::config_schema(), context_graph_cli::policy_schema(), answers];
    let messages = [theirs::payloads(), theirs::replies(), ours::hook_output(), ours::hook_input()];
    for schema in messages.iter().chain(&files) {
        jsonschema::meta::validate(schema).unwrap();
    }
}
