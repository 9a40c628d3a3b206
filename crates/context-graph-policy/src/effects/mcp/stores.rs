//! Tools for databases, clouds and containers: the statements they send, what they delete, what they get.

use serde_json::Value;

use super::strings;
use crate::effects::shell::Shell;
use crate::effects::{Privilege, Text, is_this_machine, tools};

/// Words that mark a tool or its server as one for databases.
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

/// Verbs that destroy something.
const DESTROYING: &[&str] = &["delete", "destroy", "drop", "purge", "wipe", "terminate", "truncate", "erase"];

/// Things that are lost for good when a tool deletes them.
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

/// Things that are deleted every day: pieces of text or of a session, and the tool's own state. `branch` is in `LOST`
/// too. If the tool's name has `delete` and `branch`, `LOST` wins and the user is asked. If the verb is only in a
/// field of the input, the loss counts as small.
const SMALL: &[&str] = &[
    "comment",
    "draft",
    "label",
    "reaction",
    "memory",
    "memories",
    "entity",
    "entities",
    "relation",
    "relations",
    "observation",
    "observations",
    "todo",
    "tab",
    "cell",
    "cells",
    "line",
    "lines",
    "breakpoint",
    "bookmark",
    "highlight",
    "row",
    "element",
    "node",
    "symbol",
    "text",
    "checklist",
    "thought",
    "note",
    "cookie",
    "cookies",
    "session",
    "cache",
    "branch",
    "file",
    "files",
    "path",
    "directory",
    "folder",
    "task",
];

/// Hands database statements to the rule that judges those of command-line clients.
pub(super) fn send_statements(shell: &mut Shell<'_>, words: &[String], input: &Value) {
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
    if database && verb(&["flushall", "flushdb", "flush"]) {
        args.push(Text::lit("flushall()"));
    }
    if database && verb(&["delete"]) && verb(&["many"]) && matches_all(input) {
        args.push(Text::lit("deleteMany({})"));
    }
    if !args.is_empty() {
        shell.note_run("sql", args);
    }
}

/// Whether a filter matches everything.
fn matches_all(input: &Value) -> bool {
    input.get("filter").is_none_or(|filter| filter.as_object().is_some_and(serde_json::Map::is_empty))
}

/// A tool that deletes something, as its name says.
pub(super) fn remove_named(
    shell: &mut Shell<'_>,
    tool: &str,
    all: &[String],
    words: &[String],
    input: &Value,
    has_paths: bool,
) {
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
        "empty",
    ]);
    let lost = words.iter().any(|word| LOST.contains(&word.strip_suffix('s').unwrap_or(word)));
    // For these servers the verb alone is enough.
    let whole = all.iter().any(|word| matches!(word.as_str(), "terraform" | "tofu" | "pulumi"));
    let prunes = (any(&["prune"]) || input.get("action").and_then(Value::as_str) == Some("prune"))
        && (any(&["system", "volume", "volumes"]) || is_true(input, &["volumes", "all_volumes"]))
        || any(&["down"]) && is_true(input, &["volumes", "remove_volumes", "removeVolumes"]);
    // Deleting anything else on a server is asked about too, except what is small or easily made again.
    let destroys = any(DESTROYING) && !any(SMALL);
    let asked = tool.starts_with("mcp__")
        && (is_destructive_by_fields(words, input)
            || !has_paths && is_verb_given(all, input)
            || changes_access(words, input));
    if asked
        || prunes
        || destroys && !has_paths
        || removes && (lost || whole || any(&["kubectl", "helm", "docker"]))
    {
        shell.note_run("mcp-delete", vec![Text::lit(tool)]);
    }
}

fn is_true(input: &Value, fields: &[&str]) -> bool {
    fields.iter().any(|field| input.get(*field).and_then(Value::as_bool) == Some(true))
}

/// A field or a name that makes a tool destroy something, stop everything that runs, cancel a subscription, empty
/// the trash or pay money back.
fn is_destructive_by_fields(words: &[String], input: &Value) -> bool {
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let destroys = is_true(
        input,
        &["destroy", "purge", "wipe", "delete_all", "deleteAll", "drop_all", "force_destroy", "forceDestroy"],
    );
    let stops = any(&["scale", "resize"])
        && ["replicas", "count", "size", "desired_count", "desiredCount"]
            .iter()
            .any(|field| input.get(*field).and_then(Value::as_i64) == Some(0));
    let ends = any(&["cancel"]) && any(&["subscription", "subscriptions"])
        || any(&["empty"]) && any(&["trash", "bin"])
        || any(&["create", "issue", "send"]) && any(&["refund", "payout"]);
    destroys && !any(&["plan", "preview", "search", "get", "list", "validate"]) || stops || ends
}

/// `{"action": "terminate"}`, `{"method": "DELETE", "url": …}`: the verb is in a field, not in the tool's name.
fn is_verb_given(all: &[String], input: &Value) -> bool {
    let given = |fields: &[&str]| fields.iter().find_map(|field| input.get(*field).and_then(Value::as_str));
    let small = all.iter().any(|word| SMALL.contains(&word.as_str()));
    let ends =
        |verb: &str| super::words_of(verb).first().is_some_and(|verb| DESTROYING.contains(&verb.as_str()));
    let requested = given(&["method", "http_method"])
        .is_some_and(|method| method.eq_ignore_ascii_case("delete"))
        && given(&["url", "uri", "endpoint", "path"])
            .is_some_and(|url| !is_this_machine(&tools::host_of(url)));
    let acts = given(&["action", "operation", "verb", "subcommand"]).is_some_and(ends);
    requested || acts && !small && !all.iter().any(|word| word == "git")
}

/// A repository becomes public, or read-only.
fn changes_access(words: &[String], input: &Value) -> bool {
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let opened = input.get("private").and_then(Value::as_bool) == Some(false)
        || input.get("visibility").and_then(Value::as_str) == Some("public");
    let of_repository = any(&["repository", "repo", "project"]);
    of_repository
        && (any(&["archive"])
            || any(&["update", "edit", "set", "change"]) && (opened || is_true(input, &["archived"])))
}

/// A container that its fields give full access to the machine.
pub(super) fn container(shell: &mut Shell<'_>, tool: &str, words: &[String], input: &Value) {
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
        shell.out.privileges.push(Privilege::Container(tool.to_owned()));
    }
}
