//! Files that are not edited, with the position of the error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_settings::{
    PlanOptions, SettingsError, Undo, UndoError, decode, default_plan, install, uninstall,
};

fn refused(text: &str) -> SettingsError {
    let plan = default_plan("context-graph", None, &PlanOptions::default());
    install(Some(text), &plan).expect_err(text)
}

#[test]
fn what_is_not_json_is_refused_with_line_and_column() {
    for (text, line, column, words) in [
        ("{\n  // note\n}", 2, 3, "comments are not JSON"),
        ("{\r\n  \"a\": 1 /* note */\r\n}", 2, 10, "comments are not JSON"),
        ("{\n  \"a\": 1,\n}", 2, 9, "a comma with nothing after it"),
        ("{\"a\": [1, 2,]}", 1, 12, "a comma with nothing after it"),
        ("{\r\r\"a\": 1, \"\\u0061\": 2}", 3, 9, "the key \"a\" is there twice"),
        ("\u{feff}{a: 1}", 1, 2, "a key in double quotes"),
        ("{\"ü\": 'x'}", 1, 7, "found '\\'' where a value should be"),
        ("{\"a\": 1", 1, 8, "the file ends where"),
        ("{} {}", 1, 4, "the end of the file should be"),
        ("{\"a\": \"x\n\"}", 1, 7, "does not end on its line"),
        ("{\"a\": \"\\x\"}", 1, 8, "a backslash"),
        ("{\"a\": \"\\u12é4\"}", 1, 8, "four hexadecimal digits"),
        ("{\"a\": \"\u{1}\"}", 1, 8, "a control character"),
        ("{\"a\": 01}", 1, 7, "not a number"),
        ("{\"a\": NaN}", 1, 7, "found 'N'"),
        ("<<<<<<< HEAD\n{}", 1, 1, "found '<'"),
    ] {
        let error = refused(text);
        assert_eq!((error.place().line, error.place().column), (line, column), "{text:?}: {error}");
        assert!(error.to_string().contains(words), "{text:?}: {error}");
        assert!(matches!(error, SettingsError::Syntax { .. }));
        assert_eq!(uninstall(text, None).unwrap_err(), error);
    }
}

#[test]
fn nesting_is_bounded() {
    assert!(refused(&"[".repeat(100_000)).to_string().contains("nested deeper"));
}

#[test]
fn what_would_have_to_be_overwritten_is_refused() {
    for (text, words) in [
        ("[]", "line 1, column 1: the settings should be an object, but is an array"),
        ("\n null", "line 2, column 2: the settings should be an object, but is null"),
        ("{\"hooks\": []}", "line 1, column 11: `hooks` should be an object, but is an array"),
        (
            "{\"hooks\":\n{\"Stop\": {}}}",
            "line 2, column 10: `hooks.Stop` should be an array, but is an object",
        ),
    ] {
        let error = refused(text).to_string();
        assert!(error.starts_with(words), "{error}");
    }
}

#[test]
fn taking_out_is_content_with_shapes_it_does_not_know() {
    for text in [
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": 1}}",
        "{\"hooks\": {\"Stop\": [[], {\"hooks\": 1}]}}",
        "",
        "\u{feff} ",
    ] {
        let edited = uninstall(text, None).unwrap();
        assert_eq!((edited.text.as_deref(), edited.changes), (Some(text), vec![]));
    }
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    assert_eq!(decode(b"{}").unwrap(), "{}");
    let error = decode(b"{\n \"a\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 4: not UTF-8; save the file as UTF-8 and try again");
}

#[test]
fn a_record_that_cannot_be_read_is_told_from_one_of_the_future() {
    assert_eq!(Undo::from_json("{"), Err(UndoError::Unreadable));
    assert_eq!(Undo::from_json("{\"version\":1}"), Err(UndoError::Unreadable));
    assert_eq!(Undo::from_json("{\"version\":9}"), Err(UndoError::Version(9)));
}
