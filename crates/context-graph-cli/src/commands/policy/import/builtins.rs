//! What Cupcake adds to its builtins by itself: their names, default values, and generated signals.

use serde_json::{Map, Value, json};

/// A builtin's current name and its older names.
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

/// Cupcake's default values for what a rulebook leaves out. Without them, a policy that reads such a value would never
/// decide.
pub(super) fn defaults_of(policy: &str) -> Map<String, Value> {
    let defaults = match names_of(policy)[0] {
        "global_file_lock" => json!({"message": "No file may be changed"}),
        "protected_paths" => json!({"message": "This path may be read and not changed", "paths": []}),
        "rulebook_security_guardrails" => {
            json!({"message": "These files must not be accessed", "protected_paths": [".cupcake/"]})
        }
        "git_block_no_verify" => json!({"message": "Git's hooks must run", "exceptions": []}),
        "system_protection" => json!({"message": "This path belongs to the system", "additional_paths": []}),
        "sensitive_data_protection" => {
            json!({"message": "This may hold secrets", "additional_patterns": []})
        }
        "cupcake_exec_protection" => json!({"message": "Cupcake may not be run", "allowed_commands": []}),
        "claude_code_enforce_full_file_read" => {
            json!({"message": "Read the whole file first", "max_lines": 2000})
        }
        _ => Value::Null,
    };
    match defaults {
        Value::Object(defaults) => defaults,
        _ => Map::new(),
    }
}

/// The signals that Cupcake generates for a builtin: name, command, timeout. Older policies read their
/// configuration from signals; those are generated if the policy names them.
pub(super) fn signals_of(
    policy: &str,
    config: &Map<String, Value>,
    text: &str,
) -> Vec<(String, String, u64)> {
    let command = |value: &Value| value.get("command").and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| config.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut signals: Vec<(String, String, u64)> = match names_of(policy)[0] {
        "claude_code_always_inject_on_prompt" => {
            let source = |(at, context): (usize, &Value)| {
                let name = format!("__builtin_prompt_context_{at}");
                let file = context.get("file").and_then(Value::as_str);
                match (context, command(context), file) {
                    (Value::String(_), ..) if text.contains("static_contexts") => None,
                    (Value::String(_), ..) => Some((name, says(context), 1_000)),
                    (_, Some(command), _) => Some((name, command, 5_000)),
                    (_, None, Some(file)) => Some((name, format!("cat -- {}", quoted(file)), 2_000)),
                    (_, None, None) => None,
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
    };
    for (key, name) in told_by_signals(names_of(policy)[0]) {
        let value = config.get(*key).filter(|_| text.contains(name));
        signals.extend(value.map(|value| ((*name).to_owned(), says(value), 1_000)));
    }
    signals
}

/// The configuration's keys and the signals that older policies read them from.
fn told_by_signals(builtin: &str) -> &'static [(&'static str, &'static str)] {
    match builtin {
        "protected_paths" => {
            &[("message", "__builtin_protected_paths_message"), ("paths", "__builtin_protected_paths_list")]
        }
        "rulebook_security_guardrails" => &[
            ("message", "__builtin_rulebook_protected_message"),
            ("protected_paths", "__builtin_rulebook_protected_paths"),
        ],
        "system_protection" => &[
            ("message", "__builtin_system_protection_message"),
            ("additional_paths", "__builtin_system_protection_paths"),
        ],
        "sensitive_data_protection" => &[
            ("message", "__builtin_sensitive_data_message"),
            ("additional_patterns", "__builtin_sensitive_data_patterns"),
        ],
        "cupcake_exec_protection" => &[
            ("message", "__builtin_cupcake_exec_message"),
            ("allowed_commands", "__builtin_cupcake_exec_allowed"),
        ],
        _ => &[],
    }
}

/// A command that prints a value as JSON.
fn says(value: &Value) -> String {
    format!("printf %s {}", quoted(&value.to_string()))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A path in Cupcake's sense: a folder means everything in it, a bare name means every file with that name.
pub(super) fn as_pattern(path: &str) -> String {
    match path.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None if !path.contains('/') => format!("**/{path}"),
        None => path.to_owned(),
    }
}
