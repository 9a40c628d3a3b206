//! What tools fetch, attach and send to others.

use serde_json::Value;

use super::fields::decoded;
use super::{MAX_VALUES, strings};
use crate::effects::shell::Shell;
use crate::effects::{Access, Origin, SentKind, Text, is_metadata, tools};

/// What a tool fetches or attaches: local files by address, and the cloud's metadata address.
pub(super) fn outward(shell: &mut Shell<'_>, tool: &str, words: &[String], access: Access, input: &Value) {
    for field in ["url", "uri", "href", "address"] {
        let Some(url) = input.get(field).and_then(Value::as_str) else { continue };
        if let Some(path) = url.strip_prefix("file://").filter(|_| access != Access::Delete) {
            shell.touch(Access::Read, &Text::lit(decoded(path)), tool);
        }
        let host = tools::host_of(url);
        if is_metadata(&host) {
            shell.send(host, SentKind::Nothing, tool);
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
                    | "push"
            )
        });
    if says && carries_secret(input, &mut { MAX_VALUES }) {
        shell.send(Text::hole(Origin::Output), SentKind::Credential, tool);
    }
    for (_, value) in input.as_object().into_iter().flatten().filter(|_| sends) {
        // `@path` names a file, as in `curl` and many others.
        if let Some(path) = value.as_str().and_then(|text| text.strip_prefix('@'))
            && path.len() < 4096
            && path.contains('/')
        {
            shell.touch(Access::Read, &Text::from(path), tool);
        }
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

/// Whether any field contains a credential.
fn carries_secret(value: &Value, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::String(text) => context_graph_secrets::holds_secret(text),
        Value::Array(items) => items.iter().any(|item| carries_secret(item, left)),
        Value::Object(map) => map.values().any(|value| carries_secret(value, left)),
        _ => false,
    }
}
