//! Settings files as people, editors and other tools' installers write them. None contains an entry of ours.

use std::collections::HashSet;

use proptest::prelude::*;

/// A value to write.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Raw(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// The layout of a file.
#[derive(Debug, Clone)]
pub(crate) enum Format {
    Compact,
    Spaced,
    Pretty {
        indent: &'static str,
        newline: &'static str,
    },
    /// White space everywhere, chosen by these numbers in turn.
    Chaos {
        newline: &'static str,
        numbers: Vec<u8>,
    },
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z]{1,8}",
        prop::sample::select(vec![
            "$schema",
            "env",
            "permissions",
            "model",
            "ключ",
            "a\\u0062c",
            "\\\"q\\\\",
            ""
        ])
        .prop_map(str::to_owned),
    ]
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-1.50e+10",
            "1E3",
            "5.0",
            "\"\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud800\"",
            "\"context-graph\"",
            "\"{[,:]}\"",
            "\"// no comment\"",
            "\"\\u0000\\/\"",
        ])
        .prop_map(str::to_owned),
        (-9999..9999_i64).prop_map(|n| n.to_string()),
        ".{0,10}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ]
    .prop_map(Json::Raw)
}

fn object(members: Vec<(String, Json)>) -> Json {
    let mut seen = HashSet::new();
    let decoded = |key: &str| serde_json::from_str::<String>(&format!("\"{key}\"")).unwrap();
    Json::Object(members.into_iter().filter(|(key, _)| seen.insert(decoded(key))).collect())
}

fn anything() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((key(), inner), 0..4).prop_map(object),
        ]
    })
}

fn raw(text: &str) -> Json {
    Json::Raw(text.to_owned())
}

/// Entries that are not ours, although some come close.
fn foreign_entry() -> impl Strategy<Value = Json> {
    let commands = vec![
        r#""npx prettier --write""#,
        r#""python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/pre_tool_use.py""#,
        r#""echo context-graph hooks event""#,
        r#""context-graph hooks event | tee log""#,
        r#""cat | /usr/bin/context-graph hooks event""#,
        r#""context-graph-too hooks event""#,
        r#""sh .claude/hooks/notification.sh""#,
        r#""FOO=1 .claude/hooks/session_start.sh""#,
        r#""my/.claude/hooks/session_start.sh extra""#,
        r#""~/bin/context-graph session list""#,
    ];
    prop_oneof![
        (prop::sample::select(commands), any::<bool>()).prop_map(|(command, timeout)| {
            let mut members =
                vec![("type".to_owned(), raw("\"command\"")), ("command".to_owned(), raw(command))];
            members.extend(timeout.then(|| ("timeout".to_owned(), raw("30"))));
            Json::Object(members)
        }),
        Just(Json::Object(vec![
            ("type".to_owned(), raw("\"command\"")),
            ("command".to_owned(), raw("\"/opt/context-graph\"")),
            ("args".to_owned(), Json::Array(vec![raw("\"session\""), raw("\"hooks\"")])),
        ])),
        Just(Json::Object(vec![
            ("type".to_owned(), raw("\"http\"")),
            ("url".to_owned(), raw("\"http://localhost:1/context-graph\"")),
        ])),
        anything(),
    ]
}

fn groups() -> impl Strategy<Value = Json> {
    let group = (
        prop::option::of(prop::sample::select(vec!["\"Bash\"", "\"*\"", "\"\"", "\"Edit|Write\""])),
        prop::collection::vec(foreign_entry(), 0..3),
    )
        .prop_map(|(matcher, entries)| {
            let matcher = matcher.map(|matcher| ("matcher".to_owned(), raw(matcher)));
            Json::Object(matcher.into_iter().chain([("hooks".to_owned(), Json::Array(entries))]).collect())
        });
    prop::collection::vec(prop_oneof![6 => group, 1 => anything()], 0..3).prop_map(Json::Array)
}

fn hooks() -> impl Strategy<Value = Json> {
    let events = prop::sample::select(vec![
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionStart",
        "SessionEnd",
        "MadeUp",
    ]);
    prop::collection::vec((events.prop_map(str::to_owned), groups()), 0..5).prop_map(object)
}

fn status_line() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Object(vec![
            ("type".to_owned(), raw("\"command\"")),
            ("command".to_owned(), raw("\"npx ccstatusline\"")),
        ])),
        anything(),
    ]
}

/// The settings themselves. The key `marker` is always there, unless there is no key at all.
pub(crate) fn settings() -> impl Strategy<Value = Json> {
    let members = (
        prop::collection::vec((key(), anything()), 0..4),
        prop::option::of(hooks()),
        prop::option::of(status_line()),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(mut members, hooks, line, at)| {
            members.push(("marker".to_owned(), raw("\"one\"")));
            let mut put = |key: &str, value: Option<Json>| {
                if let Some(value) = value {
                    members.insert(at.index(members.len() + 1), (key.to_owned(), value));
                }
            };
            put("hooks", hooks);
            put("statusLine", line);
            // Whatever keys were generated, these must have their meaning.
            object(members)
        });
    prop_oneof![12 => members, 1 => Just(Json::Object(Vec::new()))]
}

pub(crate) fn format() -> impl Strategy<Value = Format> {
    let newline = || prop::sample::select(vec!["\n", "\r\n", "\n", "\r"]);
    prop_oneof![
        Just(Format::Compact),
        Just(Format::Spaced),
        (prop::sample::select(vec!["  ", "    ", "\t", " ", ""]), newline())
            .prop_map(|(indent, newline)| Format::Pretty { indent, newline }),
        (newline(), prop::collection::vec(any::<u8>(), 1..40))
            .prop_map(|(newline, numbers)| Format::Chaos { newline, numbers }),
    ]
}

/// A whole file: with or without byte order mark and final line break, or blank, or missing.
pub(crate) fn file() -> impl Strategy<Value = Option<String>> {
    let ends = prop::sample::select(vec!["", "\n", "\r\n", "\n\n  ", " "]);
    let written = (settings(), format(), any::<bool>(), ends).prop_map(|(json, format, bom, end)| {
        Some(format!("{}{}{end}", if bom { "\u{feff}" } else { "" }, write(&json, &format)))
    });
    let blank = prop::sample::select(vec!["", "\n", " \t\r\n", "\u{feff}", "\u{feff}\r\n"]);
    prop_oneof![20 => written, 2 => blank.prop_map(|text| Some(text.to_owned())), 1 => Just(None)]
}

pub(crate) fn write(json: &Json, format: &Format) -> String {
    let mut writer = Writer { out: String::new(), format, turn: 0 };
    writer.value(json, 0);
    writer.out
}

struct Writer<'a> {
    out: String,
    format: &'a Format,
    turn: usize,
}

impl Writer<'_> {
    fn value(&mut self, json: &Json, depth: usize) {
        match json {
            Json::Raw(text) => self.out.push_str(text),
            Json::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.before_child(index, depth + 1);
                    self.value(item, depth + 1);
                }
                self.close(']', items.is_empty(), depth);
            }
            Json::Object(members) => {
                self.out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    self.before_child(index, depth + 1);
                    self.out.extend(['"'].into_iter().chain(key.chars()).chain(['"']));
                    self.chaos();
                    self.out.push_str(if matches!(self.format, Format::Compact | Format::Chaos { .. }) {
                        ":"
                    } else {
                        ": "
                    });
                    self.chaos();
                    self.value(value, depth + 1);
                }
                self.close('}', members.is_empty(), depth);
            }
        }
    }

    fn before_child(&mut self, index: usize, depth: usize) {
        if index > 0 {
            self.chaos();
            self.out.push(',');
        }
        match self.format {
            Format::Compact => {}
            Format::Spaced => self.out.push(' '),
            Format::Pretty { .. } => self.line(depth),
            Format::Chaos { .. } => self.chaos(),
        }
    }

    fn close(&mut self, bracket: char, empty: bool, depth: usize) {
        match self.format {
            Format::Compact => {}
            Format::Spaced => self.out.push(' '),
            Format::Pretty { .. } if empty => {}
            Format::Pretty { .. } => self.line(depth),
            Format::Chaos { .. } => self.chaos(),
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if let Format::Pretty { indent, newline } = self.format {
            self.out.push_str(newline);
            self.out.push_str(&indent.repeat(depth));
        }
    }

    fn chaos(&mut self) {
        if let Format::Chaos { newline, numbers } = self.format {
            let spaces = ["", "", " ", newline, "\t ", "  "];
            self.out.push_str(spaces[usize::from(numbers[self.turn % numbers.len()]) % spaces.len()]);
            self.turn += 1;
        }
    }
}
