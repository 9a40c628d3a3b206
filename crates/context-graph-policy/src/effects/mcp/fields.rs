//! Which fields of a tool name files and folders, and which fields hold its input one level deeper.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::words_of;
use crate::effects::agent_settings;

/// Fields that hold the tool's input.
const INNER: &[&str] = &["params", "parameters", "arguments", "args", "input", "options", "payload", "task"];
/// How an address of a file on this machine begins.
const LOCAL: &str = "file://";
/// How many objects of a list are checked.
const MAX_ITEMS: usize = 32;
/// How deep the search for objects with a command goes.
const MAX_DEPTH: usize = 4;
/// Longer text is not parsed as an object.
const MAX_OBJECT: usize = 64 * 1024;

/// The levels of a tool's input: the input itself, the object that some servers put one level deeper (also as
/// JSON text), and the objects of a list.
pub(super) fn levels(input: &Value) -> Vec<Cow<'_, Value>> {
    let mut levels = vec![Cow::Borrowed(input)];
    for (key, value) in input.as_object().into_iter().flatten() {
        let is_inner = INNER.contains(&key.as_str());
        match value {
            Value::Object(_) if is_inner => levels.push(Cow::Borrowed(value)),
            Value::Object(_) => with_commands(value, &mut levels, 0),
            Value::String(text)
                if (is_inner || matches!(key.as_str(), "json" | "request" | "call"))
                    && text.len() <= MAX_OBJECT
                    && text.trim_start().starts_with('{') =>
            {
                let object = serde_json::from_str::<Map<String, Value>>(text);
                levels.extend(object.ok().map(|object| Cow::Owned(Value::Object(object))));
            }
            Value::Array(items) => {
                let objects = items.iter().filter(|item| item.is_object()).take(MAX_ITEMS);
                for object in objects {
                    levels.push(Cow::Borrowed(object));
                    // Calls of other tools: `{"tool": …, "parameters": {…}}`.
                    let inner = INNER.iter().filter_map(|field| object.get(field));
                    levels.extend(inner.filter(|inner| inner.is_object()).map(Cow::Borrowed));
                }
            }
            _ => {}
        }
    }
    levels
}

/// Adds the objects that hold a command, under any key and at any depth.
fn with_commands<'v>(value: &'v Value, levels: &mut Vec<Cow<'v, Value>>, depth: usize) {
    let Value::Object(fields) = value else { return };
    if depth > MAX_DEPTH || levels.len() > MAX_ITEMS {
        return;
    }
    if ["command", "cmd", "commands", "command_line", "cmdline", "argv"]
        .iter()
        .any(|key| fields.contains_key(*key))
    {
        levels.push(Cow::Borrowed(value));
    }
    fields.values().for_each(|inner| with_commands(inner, levels, depth + 1));
}

/// The tool's working folder.
pub(super) fn working_folder(input: &Value) -> Option<&str> {
    let is_named = |key: &str| {
        let words = words_of(key).concat();
        matches!(
            words.as_str(),
            "cwd" | "workdir" | "workingdir" | "workingdirectory" | "currentdir" | "currentdirectory"
        )
    };
    let fields = input.as_object()?.iter();
    fields
        .filter(|(key, _)| is_named(key))
        .find_map(|(_, value)| value.as_str())
        .filter(|text| !text.is_empty())
}

/// The working folder of the whole call. It is beside the tool's input or in it, but not in one of several steps.
pub(super) fn outer_folder<'v>(input: &'v Value, levels: &'v [Cow<'v, Value>]) -> Option<&'v str> {
    let inner = INNER.iter().filter_map(|field| input.get(field));
    let parsed = levels.iter().filter(|level| matches!(level, Cow::Owned(_))).map(AsRef::as_ref);
    std::iter::once(input).chain(inner).chain(parsed).find_map(working_folder)
}

/// Whether a field holds what a tool is to write: `content`, `fileContent`, `data_base64`, but not `content_type`.
pub(super) fn has_content(level: &Value) -> bool {
    let is_content = |word: &str| {
        matches!(word, "content" | "contents" | "data" | "body" | "text" | "base64" | "blob" | "bytes")
    };
    let is_kind = |word: &str| matches!(word, "file" | "raw" | "binary" | "string" | "encoded" | "new");
    level.as_object().into_iter().flatten().any(|(key, _)| {
        let words = words_of(key);
        // The last word says what it is: `body_file` names a file.
        words.last().is_some_and(|last| last != "file")
            && words.iter().any(|word| is_content(word))
            && words.iter().all(|word| is_content(word) || is_kind(word))
    })
}

/// The path of a `file://` address.
pub(super) fn decoded(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let [first, tail @ ..] = rest {
        let code =
            tail.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Strings under keys that name paths, at any depth, with their keys.
pub(super) fn collect(input: &Value, out: &mut Vec<(String, String)>, left: &mut usize) {
    Collector { out, left }.value(input, false, None, 0);
}

/// Fields for text that is written, searched for or said. Their values are not paths, whatever they look like.
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "text",
    "body",
    "data",
    "old",
    "new",
    "message",
    "description",
    "title",
    "comment",
    "query",
    "pattern",
    "regex",
    "replacement",
    "patch",
    "diff",
    "code",
    "prompt",
    "value",
    "summary",
    "note",
    "notes",
    "command",
    "url",
];

/// Strings that must be paths, under any key of a tool that changes something: paths from the root or the home
/// folder, paths of our own files, and lists of names that form one of those.
pub(super) fn unnamed(input: &Value, out: &mut Vec<(String, String)>, left: &mut usize) {
    let is_path = |text: &str| {
        text.len() < 1024
            && !text.contains(['\n', ' '])
            && (text.starts_with('/') || text.starts_with('~') || agent_settings::is_near(text))
    };
    let Some(fields) = input.as_object() else { return };
    let has_relative = has_relative_path(fields);
    for (key, value) in fields {
        if *left == 0 {
            return;
        }
        *left -= 1;
        if is_path_key(key)
            || has_relative && is_base(key)
            || words_of(key).iter().any(|word| CONTENTS.contains(&word.as_str()))
        {
            continue;
        }
        match value {
            Value::String(text) if is_path(text) => out.push((String::new(), text.clone())),
            Value::Array(items) => {
                let parts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                let joined = parts.join("/");
                if agent_settings::is_near(&joined) && is_path(&joined) {
                    out.push((String::new(), joined));
                }
                let whole = parts.into_iter().filter(|part| is_path(part)).take(*left);
                out.extend(whole.map(|part| (String::new(), part.to_owned())));
            }
            Value::Object(_) => unnamed(value, out, left),
            _ => {}
        }
    }
}

struct Collector<'o> {
    out: &'o mut Vec<(String, String)>,
    left: &'o mut usize,
}

impl Collector<'_> {
    fn value(&mut self, value: &Value, named: bool, folder: Option<&str>, depth: u32) {
        if depth > 8 {
            *self.left = 0;
        }
        if *self.left == 0 {
            return;
        }
        *self.left -= 1;
        match value {
            Value::Object(map) => self.object(map, named, folder, depth),
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) if named || text.starts_with(LOCAL) => {
                            self.path("", text, folder);
                        }
                        Value::Object(_) | Value::Array(_) => self.value(item, named, folder, depth + 1),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, map: &Map<String, Value>, named: bool, around: Option<&str>, depth: u32) {
        let own = map.iter().find(|(key, value)| value.is_string() && is_folder_key(key));
        let folder = own.and_then(|(_, value)| value.as_str()).or(around);
        let has_relative = has_relative_path(map);
        for (key, value) in map {
            // In a table of files the keys are the names.
            if named && key.contains(['/', '.']) && !value.is_array() {
                self.path("", key, folder);
                continue;
            }
            let is_own = own.is_some_and(|(own, _)| own == key);
            if has_relative && is_base(key) {
                continue;
            }
            match value {
                Value::String(text) if is_path_key(key) || text.starts_with(LOCAL) => {
                    self.path(key, text, if is_own { around } else { folder });
                }
                Value::String(text) if is_name_key(key) && (named || folder.is_some()) => {
                    self.path(key, text, folder);
                }
                Value::Array(parts) if is_single(key) && parts.len() > 1 => {
                    let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                    self.path(key, &parts.join("/"), folder);
                    self.value(value, true, folder, depth + 1);
                }
                Value::Object(_) | Value::Array(_) => self.value(value, is_path_key(key), folder, depth + 1),
                _ => {}
            }
        }
    }

    /// Reports the path itself, and the path below the folder named beside it: only the tool knows which it
    /// means.
    fn path(&mut self, key: &str, path: &str, folder: Option<&str>) {
        if let Some(folder) = folder.filter(|_| !path.starts_with(['/', '~']) && !path.contains("://")) {
            self.out.push((key.to_owned(), format!("{}/{path}", folder.trim_end_matches('/'))));
        }
        if !is_name_key(key) {
            self.out.push((key.to_owned(), path.to_owned()));
        }
    }
}

fn is_path_key(key: &str) -> bool {
    const PATHS: &[&str] = &[
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filepath",
        "filenames",
        "source",
        "destination",
        "dest",
        "src",
        "uri",
        "target",
        "from",
        "to",
        "directory",
        "dir",
        "folder",
        "notebook",
        "location",
        "include",
    ];
    const OTHERS: &[&str] = &["content", "contents", "text", "type", "count", "limit"];
    let words = words_of(key);
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    any(PATHS) && !any(OTHERS)
}

/// Whether a key names the folder that relative names belong to.
fn is_folder_key(key: &str) -> bool {
    let words = words_of(key);
    let last = words.last().map_or("", String::as_str);
    matches!(last, "dir" | "directory" | "folder" | "root" | "parent" | "workdir" | "cwd")
        || matches!(words.concat().as_str(), "basepath" | "rootpath" | "parentpath")
}

/// Whether a key names a folder that a relative path beside it would belong to: then the folder itself is not meant.
fn is_base(key: &str) -> bool {
    is_folder_key(key) && !super::is_destination(key)
}

/// Whether one of the fields is a relative path.
fn has_relative_path(fields: &Map<String, Value>) -> bool {
    let is_relative = |value: &Value| {
        value.as_str().is_some_and(|path| !path.starts_with(['/', '~']) && !path.contains("://"))
    };
    fields.iter().any(|(key, value)| {
        let key = words_of(key).concat();
        matches!(key.trim_end_matches('s'), "path" | "file" | "filepath" | "filename" | "relativepath")
            && (is_relative(value) || value.as_array().is_some_and(|items| items.iter().any(is_relative)))
    })
}

/// Whether a key names a file only beside a folder or in a list of files.
fn is_name_key(key: &str) -> bool {
    key == "name"
}

/// Whether a key holds one path, split into its parts.
fn is_single(key: &str) -> bool {
    matches!(words_of(key).concat().as_str(), "path" | "filepath")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(input: &Value) -> Vec<String> {
        let (mut out, mut left) = (Vec::new(), 64);
        collect(input, &mut out, &mut left);
        out.into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn names_are_joined_with_the_folder_beside_them() {
        assert!(
            paths(&json!({"dir": ".claude", "name": "settings.json"}))
                .contains(&".claude/settings.json".into())
        );
        assert!(paths(&json!({"root": "/p", "files": [{"name": "a/b"}]})).contains(&"/p/a/b".into()));
        assert!(
            paths(&json!({"files": {".claude/settings.json": "{}"}}))
                .contains(&".claude/settings.json".into())
        );
        assert!(
            paths(&json!({"path": [".claude", "settings.json"]})).contains(&".claude/settings.json".into())
        );
        assert_eq!(paths(&json!({"name": "x", "path": "/a"})), ["/a"]);
        assert_eq!(paths(&json!({"name": "x", "title": "y"})), Vec::<String>::new());
    }

    #[test]
    fn addresses_are_decoded_and_what_is_none_stays() {
        assert_eq!(decoded("/p/%2eclaude/x%20y"), "/p/.claude/x y");
        assert_eq!(decoded("/p/100%/%zz%"), "/p/100%/%zz%");
    }

    #[test]
    fn what_is_given_is_found_one_level_down() {
        let input = json!({"arguments": "{\"command\":\"ls\"}", "steps": [{"command": "pwd"}], "note": "{}"});
        let levels = levels(&input);
        assert_eq!(levels.len(), 3);
        assert!(levels.iter().any(|level| level["command"] == "ls"));
        assert!(levels.iter().any(|level| level["command"] == "pwd"));
    }
}
