//! What a policy sees as `input`.
//!
//! The event as the client sent it, with the fields that users of Cupcake expect. `tool_input.command` of
//! `Bash` has its whitespace normalised outside quotes (the typed text is `original_command`). `Write` also has
//! its content as `tool_input.new_string`. A file tool has `resolved_file_path`, `original_file_path` and
//! `is_symlink`; `MultiEdit` has them in each edit that names a file. Policies that use `params`, an older name
//! of the tool's input, find it there. Further fields: `affected_parent_directories`, `signals`,
//! `builtin_config`, `effects`, `session`.

use context_graph_events::EventName;
use serde_json::{Map, Value, json};

use crate::Context;
use crate::effects::path::{PathBase, Target};
use crate::effects::{FileKind, Text};

/// What the event itself does not contain.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Additions {
    /// What the call would do, as [`super::effects_view`] shows it.
    pub effects: Value,
    /// The session: identity continuity, level, looping, counts.
    pub session: Value,
    /// Answers of signals, by name.
    pub signals: Map<String, Value>,
    /// Configuration of policies, by name.
    pub builtin_config: Map<String, Value>,
    /// Paths that the call changes or removes with everything below, from [`super::affected_directories`].
    pub affected_directories: Vec<String>,
}

/// A policy's input, and the part that a policy can change, as the client sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    value: Value,
    /// The field that can be changed: the tool's input, or the result of a finished call.
    changeable: &'static str,
    original: Map<String, Value>,
}

impl Input {
    /// Adds fields to an event's JSON object.
    pub fn new(event: &Map<String, Value>, additions: Additions, ctx: &Context<'_>) -> Self {
        let mut whole = event.clone();
        let object = |name: &str| event.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let original = object("tool_input");
        let tool = event.get("tool_name").and_then(Value::as_str).unwrap_or("");
        let cwd = event.get("cwd").and_then(Value::as_str).filter(|cwd| !cwd.is_empty()).unwrap_or(ctx.cwd);

        let mut tool_input = original.clone();
        if tool == "Bash"
            && let Some(Value::String(command)) = tool_input.get_mut("command")
        {
            let tidy = normalized(command);
            whole.insert("original_command".to_owned(), json!(std::mem::replace(command, tidy)));
        }
        if tool == "Write"
            && let Some(content) = tool_input.get("content").cloned()
        {
            tool_input.insert("new_string".to_owned(), content);
        }
        if let Some(Value::Array(edits)) = tool_input.get_mut("edits") {
            for edit in edits.iter_mut().filter_map(Value::as_object_mut) {
                if let Some(path) = edit.get("file_path").and_then(Value::as_str).map(str::to_owned) {
                    resolve(edit, &path, cwd, ctx);
                }
            }
        }
        let named = ["file_path", "path", "notebook_path"].into_iter().find_map(|key| original.get(key));
        if let Some(path) = named.and_then(Value::as_str) {
            resolve(&mut whole, path, cwd, ctx);
        }
        if whole.contains_key("tool_input") && !original.is_empty() {
            whole.insert("tool_input".to_owned(), Value::Object(tool_input));
        }
        whole.insert("affected_parent_directories".to_owned(), json!(additions.affected_directories));
        whole.insert("signals".to_owned(), Value::Object(additions.signals));
        whole.insert("builtin_config".to_owned(), Value::Object(additions.builtin_config));
        whole.insert("effects".to_owned(), additions.effects);
        whole.insert("session".to_owned(), additions.session);
        let mut input = Self { value: Value::Object(whole), changeable: "tool_input", original };
        if input.is_of(EventName::PostToolUse) {
            input.changeable = "tool_response";
            input.original = object(input.changeable);
        }
        input
    }

    /// Whether this is the input about such an event.
    pub(super) fn is_of(&self, event: EventName) -> bool {
        self.value.get("hook_event_name").is_some_and(|name| name == event.as_str())
    }

    /// The whole input.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The whole input with the tool's input also under its old name, unless the event has a field of that
    /// name.
    pub(super) fn with_params(&self) -> Value {
        let mut value = self.value.clone();
        if let (Value::Object(whole), Some(params)) = (&mut value, self.value.get("tool_input")) {
            whole.entry("params").or_insert_with(|| params.clone());
        }
        value
    }

    /// The tool's input, or its result, with a policy's changes. What the policy only copied from its enriched
    /// input is not a change, so the client gets back what it sent.
    pub(super) fn with_changes(&self, changes: &Map<String, Value>) -> Map<String, Value> {
        let enriched = self.value.get(self.changeable).and_then(Value::as_object);
        let mut whole = self.original.clone();
        for (key, value) in changes {
            if enriched.and_then(|enriched| enriched.get(key)) != Some(value) {
                whole.insert(key.clone(), value.clone());
            }
        }
        whole
    }
}

fn resolve(into: &mut Map<String, Value>, path: &str, cwd: &str, ctx: &Context<'_>) {
    let places = PathBase { home: ctx.home, fs: ctx.fs };
    let target = Target::new(&Text::lit(path), &Text::lit(cwd), places);
    let absolute = target.literal().unwrap_or(path);
    let resolved = target.real.first().map_or(absolute, String::as_str);
    into.insert("is_symlink".to_owned(), json!(matches!(ctx.fs.kind(absolute), Some(FileKind::Link(_)))));
    into.insert("resolved_file_path".to_owned(), json!(resolved));
    into.insert("original_file_path".to_owned(), json!(path));
}

/// The command with every whitespace sequence outside quotes as one space, trimmed.
pub fn normalized(command: &str) -> String {
    let mut tidy = String::with_capacity(command.len());
    let mut quote = None;
    let mut escaped = false;
    for c in command.trim().chars() {
        let literal = escaped || quote.is_some();
        if c.is_whitespace() && !literal {
            if !tidy.ends_with(' ') {
                tidy.push(' ');
            }
            continue;
        }
        tidy.push(c);
        match quote {
            _ if escaped => escaped = false,
            _ if c == '\\' && quote != Some('\'') => escaped = true,
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
    }
    tidy
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whitespace_is_one_space_outside_quotes() {
        for (typed, tidy) in [
            ("  rm\t-rf \n x  ", "rm -rf x"),
            ("echo  'a  b'  \"c  d\"", "echo 'a  b' \"c  d\""),
            (r"echo \'a  b\'  c", r"echo \'a b\' c"),
            (r#"echo "a \"  b"  c"#, r#"echo "a \"  b" c"#),
        ] {
            assert_eq!(normalized(typed), tidy);
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(command in "[a '\"\\t\\n\\\\]{0,24}") {
            let once = normalized(&command);
            prop_assert_eq!(normalized(&once), once);
        }
    }
}
