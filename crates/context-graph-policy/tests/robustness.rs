//! No input causes a panic, an endless loop or a long run time, and the user is asked about input that is too large.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use std::time::{Duration, Instant};

use context_graph_events::Event;
use context_graph_policy::{Context, Decision, Guards, ListedFileSystem, Verdict};
use proptest::prelude::*;
use serde_json::json;

fn decide(tool: &str, field: &str, text: &str) -> Decision {
    let fs = ListedFileSystem::default();
    let mut input = json!({});
    input[field] = text.into();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/p/app",
        "tool_name": tool, "tool_input": input, "tool_use_id": "1",
    });
    let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
    Guards::default()
        .decide(&event, &Context { home: "/home/dev", project: "/p/app", cwd: "/p/app", fs: &fs })
}

/// Pieces of text that mean something to a shell, in any order.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("rm "),
        Just("-rf "),
        Just("/"),
        Just("$("),
        Just(")"),
        Just("${x"),
        Just("}"),
        Just("`"),
        Just("'"),
        Just("\""),
        Just("$'"),
        Just("\\"),
        Just("{a,b"),
        Just("<<E\n"),
        Just("\nE\n"),
        Just("; "),
        Just(" && "),
        Just(" | "),
        Just("&"),
        Just("("),
        Just("(( "),
        Just("[["),
        Just(" ]]"),
        Just("if "),
        Just("then "),
        Just("fi "),
        Just("for x in "),
        Just("do "),
        Just("done "),
        Just("case x in "),
        Just("esac"),
        Just("é"),
        Just("[a"),
        Just("]"),
        Just("*"),
        Just("?"),
        Just("~"),
        Just(" > "),
        Just("< "),
        Just(">&2 "),
        Just("f() { "),
        Just("x="),
        Just("$x "),
        Just("eval "),
        Just("sh -c "),
        Just("xargs "),
        Just("find . -exec "),
        Just("{} + "),
        Just("python3 -c "),
        Just("#"),
        Just("${x:1:2}"),
        Just("${x##*/}"),
        Just("${x/a/b}"),
        Just("$((1+2))"),
        Just("\u{0}"),
        Just("\t"),
        Just("!"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_decided(text in ".{0,200}") {
        for tool in ["Bash", "PowerShell"] {
            decide(tool, "command", &text);
        }
        decide("Write", "file_path", &text);
    }

    #[test]
    fn any_shell_is_decided(text in shellish()) {
        decide("Bash", "command", &text);
        decide("Bash", "command", &format!("python3 -c \"{text}\""));
        decide("mcp__x__run_command", "command", &text);
    }
}

#[test]
fn what_is_too_much_is_asked_about_in_good_time() {
    let cases = [
        "a".repeat(300_000),
        "$(".repeat(10_000),
        "(".repeat(10_000),
        "{".repeat(100_000),
        format!("echo {}", "{a,b}".repeat(1_000)),
        format!("echo {}", "[".repeat(200_000)),
        format!("echo {}", "[/".repeat(100_000) + "]"),
        "bash -c ".repeat(1_000),
        format!("{}rm -rf /", "env ".repeat(20_000)),
        format!("a=xx; {} echo $a", "a=$a$a; ".repeat(60)),
        format!("f() {{ f \"$1$1\"; f \"$1$1\"; }}; f {}", "x".repeat(1_000)),
        format!("{} :", "for i in a b c d e f g h; do ".repeat(12)),
        format!("{} : {}", "for i in a b c d e f g h; do ".repeat(12), "; done".repeat(12)),
        (0..3_000).fold(String::new(), |line, n| line + &format!("v{n}=1 && ")) + "ls",
        format!("python3 -c \"{}\"", "a = 'x'; b(a); ".repeat(5_000)),
        format!("cat {}", "*/".repeat(1_000)),
        "`".repeat(9_999),
        "\"$(\"".repeat(5_000),
        "<<A ".repeat(2_000),
        "case x in ".repeat(2_000),
        format!("curl {} {}", "--resolve a:1:b ".repeat(1_500), "u ".repeat(6_000)),
        format!("no_proxy={} curl -x p {}", "a,".repeat(50_000), "u ".repeat(20_000)),
        (0..20_000).fold("curl -x p -H \"a: $GH_TOKEN\"".to_owned(), |line, n| line + &format!(" u{n}.com")),
        format!("x='{} eval \"$x\" {}'; eval \"$x\"", "(".repeat(30), ")".repeat(30)),
    ];
    let in_powershell = [
        format!("$a='xxxxxxxxxx'; {}", "$a=\"$a$a\"; ".repeat(60)),
        format!("$a='xxxxxxxxxx'; {}", "$a+=\"$a\"; ".repeat(60)),
        format!("$a='{}'; {}", "x".repeat(1_000), "$a;".repeat(20_000)),
        "\"$(".repeat(20_000),
        "@'\n".repeat(20_000),
    ];
    let in_bash = cases.into_iter().map(|case| ("Bash", case));
    for (tool, case) in in_bash.chain(in_powershell.map(|case| ("PowerShell", case))) {
        let start = Instant::now();
        let decision = decide(tool, "command", &case);
        let shown: String = case.chars().take(40).collect();
        // Every case ends far below this limit, even on a busy machine. Only a hang exceeds it.
        assert!(start.elapsed() < Duration::from_mins(1), "{shown} took {:?}", start.elapsed());
        if case.len() > 256 * 1024 {
            assert_eq!(decision.verdict(), &Verdict::Ask, "{shown}");
        }
    }
}

#[test]
fn a_field_of_the_wrong_type_is_an_error_that_asks() {
    let fs = ListedFileSystem::default();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/p/app",
        "tool_name": "Bash", "tool_input": {"command": 7}, "tool_use_id": "1",
    });
    let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
    let ctx = Context { home: "/home/dev", project: "/p/app", cwd: "/p/app", fs: &fs };
    let decision = Guards::default().decide(&event, &ctx);
    assert_eq!(decision.verdict(), &Verdict::Ask);
    assert!(decision.reason().contains("policy/error"));
}
