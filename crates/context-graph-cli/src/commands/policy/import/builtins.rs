//! What Cupcake knows of its builtins without being told: their names, and the signals it makes for them.

use serde_json::Value;

/// A builtin's name today, and the names it had.
pub(super) fn names_of(name: &str) -> Vec<&str> {
    match name {
        "claude_code_always_inject_on_prompt" | "always_inject_on_prompt" => {
            vec!["claude_code_always_inject_on_prompt", "always_inject_on_prompt"]
        }
        "claude_code_enforce_full_file_read" | "enforce_full_file_read" => {
            vec!["claude_code_enforce_full_file_read", "enforce_full_file_read"]
        }
        "global_file_lock" | "never_edit_files" => vec!["global_file_lock", "never_edit_files"],
        other => vec![other],
    }
}

/// The signals that Cupcake makes for a builtin: name, command, time.
pub(super) fn signals_of(policy: &str, config: &Value) -> Vec<(String, String, u64)> {
    let command = |value: &Value| value.get("command").and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| config.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    match names_of(policy)[0] {
        "claude_code_always_inject_on_prompt" => {
            let source = |(at, context): (usize, &Value)| {
                let name = format!("__builtin_prompt_context_{at}");
                let file = context.get("file").and_then(Value::as_str);
                match (command(context), file) {
                    (Some(command), _) => Some((name, command, 5_000)),
                    (None, Some(file)) => Some((name, format!("cat -- {}", quoted(file)), 2_000)),
                    (None, None) => None,
                }
            };
            list("context").iter().enumerate().filter_map(source).collect()
        }
        "git_pre_check" => list("checks")
            .iter()
            .enumerate()
            .filter_map(|(at, check)| Some((format!("__builtin_git_check_{at}"), command(check)?, 30_000)))
            .collect(),
        "post_edit_check" => {
            let checks = config.get("by_extension").and_then(Value::as_object).cloned().unwrap_or_default();
            let check = |(extension, check): (String, Value)| {
                Some((format!("__builtin_post_edit_{extension}"), command(&check)?, 10_000))
            };
            checks.into_iter().filter_map(check).collect()
        }
        _ => Vec::new(),
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A path as Cupcake takes it: a folder stands for all it holds, a bare name for every file so called.
pub(super) fn as_pattern(path: &str) -> String {
    match path.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None if !path.contains('/') => format!("**/{path}"),
        None => path.to_owned(),
    }
}
