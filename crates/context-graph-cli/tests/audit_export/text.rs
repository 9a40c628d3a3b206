//! JSON lines and CSV.

use serde_json::{Value, json};

use crate::stage::{CALLS, EVENTS, NASTY, OPEN, SECRET, SESSION, export, lines, played};

/// The line of a call.
fn call<'a>(lines: &'a [Value], id: &str) -> &'a Value {
    lines.iter().find(|line| line["tool_use_id"] == id).unwrap_or_else(|| panic!("no {id} in {lines:#?}"))
}

/// The names of an object's fields, in the order in which they are written.
fn fields(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut rest = line;
    while let Some(at) = rest.find(['{', '}', '[', ']', '"']) {
        let c = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match c {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {
                let mut end = rest.find('"').unwrap();
                while rest[..end].ends_with('\\') && !rest[..end].ends_with("\\\\") {
                    end += 1 + rest[end + 1..].find('"').unwrap();
                }
                let text = &rest[..end];
                rest = &rest[end + 1..];
                if depth == 1 && rest.starts_with(':') {
                    names.push(text.to_owned());
                }
            }
        }
    }
    names
}

#[test]
fn each_call_and_each_event_is_one_line() {
    let place = played();
    let lines = lines(&export(&place, &[]));
    assert_eq!(lines.iter().filter(|line| line["kind"] == "call").count(), CALLS as usize, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line["kind"] == "event").count(), EVENTS as usize, "{lines:#?}");
    let outcomes: Vec<_> = [
        "toolu_0123456789abcdefghij01",
        "t-fail",
        "t-deny",
        "toolu_0123456789abcdefghij02",
        "t-mcp",
        "t-open",
    ]
    .map(|id| call(&lines, id)["outcome"].clone())
    .into();
    assert_eq!(json!(outcomes), json!(["success", "failure", "denied", "success", "success", "unanswered"]));
    let denied = call(&lines, "t-deny");
    assert_eq!(denied["verdict"], "deny");
    assert!(denied["decided"][0]["rules"][0].is_string(), "{denied}");
    assert_eq!(call(&lines, "t-fail")["duration_ms"], 192);
    assert_eq!(call(&lines, "toolu_0123456789abcdefghij02")["agent_type"], "general-purpose");
    assert_eq!(call(&lines, "t-mcp")["mcp_server"], "demo");
    assert_eq!((&lines[0]["session_id"], &lines[0]["event"]), (&json!(SESSION), &json!("SessionStart")));
    assert_eq!(lines.last().unwrap()["session_id"], OPEN, "the oldest session comes first");
}

#[test]
fn fields_stand_in_the_documented_order() {
    let docs = include_str!("../../../../docs/audit-export.md");
    let part = docs.split("## JSON lines").nth(1).unwrap().split("\n## ").next().unwrap();
    let documented: Vec<&str> =
        part.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let place = played();
    let run = export(&place, &[]);
    let mut seen = Vec::new();
    for line in run.stdout.lines() {
        let fields = fields(line);
        let places: Vec<_> = fields
            .iter()
            .map(|field| {
                documented.iter().position(|name| name == field).unwrap_or_else(|| panic!("{field}"))
            })
            .collect();
        assert!(places.is_sorted(), "{fields:?}");
        seen.extend(fields);
    }
    for name in documented {
        // These calls have no batch.
        assert!(
            name == "batch_seq" || seen.iter().any(|field| field == name),
            "{name} is documented and never written"
        );
    }
}

#[test]
fn what_is_chosen_is_exported_and_nothing_else() {
    let place = played();
    let ids = |args: &[&str]| -> Vec<String> {
        let lines = lines(&export(&place, args));
        let id = |line: &Value| line["tool_use_id"].as_str().or(line["event"].as_str()).unwrap().to_owned();
        lines.iter().map(id).collect()
    };
    assert_eq!(ids(&["--outcome", "failure,denied"]), ["t-fail", "t-deny"]);
    assert_eq!(ids(&["--tool", "mcp__*", "--tool", "Edit"]), ["t-mcp", "t-edit"]);
    assert_eq!(ids(&["--verdict", "deny"]), ["t-deny"]);
    assert_eq!(ids(&["--agent", "general-purpose", "--tool", "Bash"]), ["toolu_0123456789abcdefghij02"]);
    assert_eq!(ids(&["--event", "PostToolUseFailure,Stop"]), ["t-fail", "Stop"]);
    assert_eq!(ids(&["--session", &OPEN[..8]]), ["t-open"]);
    assert_eq!(
        ids(&["--session", OPEN, "--session", &SESSION[..6], "--event", "SessionEnd"]),
        ["SessionEnd"]
    );
    assert_eq!(ids(&["--path", "no/such", "--tool", "*"]), Vec::<String>::new());
    assert_eq!(ids(&["--text", "EXIT CODE 3"]), ["t-fail"]);
    assert_eq!(ids(&["--until", "2020-01-01"]), Vec::<String>::new());
    assert_eq!(ids(&["--since", "1h"]).len(), (CALLS + EVENTS) as usize);
    let all = lines(&export(&place, &[]));
    let rule = call(&all, "t-deny")["decided"][0]["rules"][0].as_str().unwrap().to_owned();
    assert_eq!(ids(&["--rule", &rule]), ["t-deny"]);
    let since = call(&all, "t-edit")["at"].as_str().unwrap();
    let newer = ids(&["--since", since]);
    assert!(newer.contains(&"t-edit".to_owned()) && !newer.contains(&"t-fail".to_owned()), "{newer:?}");
}

#[test]
fn no_format_tells_a_secret_or_drives_a_terminal() {
    let place = played();
    for format in ["jsonl", "csv", "otlp-json"] {
        let run = export(&place, &["--format", format]);
        assert!(!run.stdout.contains(SECRET), "{format}");
        assert!(run.stdout.contains("[redacted:"), "{format}");
        let allowed = |c: char| c == '\n' || (format == "csv" && c == '\r');
        assert_eq!(
            run.stdout.find(|c: char| c.is_control() && !allowed(c) || c == '\u{202e}'),
            None,
            "{format}"
        );
    }
    let lines = lines(&export(&place, &["--event", "UserPromptSubmit"]));
    let first = NASTY.lines().next().unwrap();
    assert_eq!(lines[0]["subject"], format!("{first}…"));
    assert_eq!(lines[0]["payload"]["prompt"], NASTY, "and nothing is lost");
}

/// A strict reader of RFC 4180.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![Vec::new()];
    let mut rest = text;
    while !rest.is_empty() {
        let cell = if let Some(quoted) = rest.strip_prefix('"') {
            let mut end = quoted.find('"').unwrap();
            while quoted[end + 1..].starts_with('"') {
                end += 2 + quoted[end + 2..].find('"').unwrap();
            }
            rest = &quoted[end + 1..];
            quoted[..end].replace("\"\"", "\"")
        } else {
            let end = rest.find([',', '\r', '\n', '"']).unwrap();
            let cell = rest[..end].to_owned();
            rest = &rest[end..];
            cell
        };
        rows.last_mut().unwrap().push(cell);
        if let Some(next) = rest.strip_prefix(',') {
            rest = next;
        } else {
            rest = rest.strip_prefix("\r\n").unwrap_or_else(|| panic!("no end of a row at {rest:.40}"));
            rows.push(Vec::new());
        }
    }
    assert!(rows.pop().unwrap().is_empty(), "the last row ends too");
    rows
}

#[test]
fn csv_has_the_documented_columns_and_a_row_for_each() {
    let docs = include_str!("../../../../docs/audit-export.md");
    let part = docs.split("## CSV").nth(1).unwrap().split("\n## ").next().unwrap();
    let documented: Vec<&str> =
        part.split("```").nth(1).unwrap().split([',', '\n', ' ']).filter(|c| !c.is_empty()).collect();
    let place = played();
    let rows = read_csv(&export(&place, &["--format", "csv"]).stdout);
    assert_eq!(rows[0], documented);
    assert_eq!(rows.len(), (1 + CALLS + EVENTS) as usize);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:#?}");
    let at = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    let denied = rows.iter().find(|row| row[at("tool_use_id")] == "t-deny").unwrap();
    assert_eq!((denied[at("outcome")].as_str(), denied[at("verdict")].as_str()), ("denied", "deny"));
    assert!(denied[at("asked")].contains("rm -rf /") && denied[at("executed")].is_empty(), "{denied:?}");
    let prompt = rows.iter().find(|row| row[at("event")] == "UserPromptSubmit").unwrap();
    assert!(prompt[at("subject")].starts_with("'=HYPERLINK(\"http://x\",\"a\")\\u{1b}[31m"), "{prompt:?}");
    for cell in rows.iter().flatten() {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "a spreadsheet would run {cell}");
    }
}
