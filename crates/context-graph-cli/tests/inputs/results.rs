//! The outcome of a call: given by flags, by the envelope or by the client, and the same for all commands.

use serde_json::{Value, json};

use crate::common::{Place, Run};
use crate::{envelope, outcomes, show};

pub(crate) fn done(response: &Value) -> String {
    envelope("post_tool_use", &json!({"tool_name": "Bash", "tool_input": {}, "tool_response": response}))
}

pub(crate) fn post(place: &Place, more: &[&str], event: &str) -> Run {
    place.send(&[&["hooks", "post-tool", "--stdin"], more].concat(), event)
}

/// One failed call, reported in different ways, is a failure for all commands.
fn is_one_failure(place: &Place, why: &str) {
    let shown = show(place);
    assert_eq!(shown["counters"]["calls_failed"], 1, "{why}: {shown}");
    assert_eq!(shown["counters"]["calls_succeeded"], 0, "{why}: {shown}");
    assert!(shown["events"].to_string().contains("failed: "), "{why}: {shown}");
    assert_eq!(outcomes(place), ["failure"], "{why}");
    let told = place.run(&["consciousness", "inject", "s"]);
    assert!(!told.stdout.contains("`make`") || told.stdout.contains("`make` (failed)"), "{why}: {told:?}");
    let export = place.run(&["audit", "export", "--format", "csv"]).stdout;
    assert!(export.contains("\"failure\"") && !export.contains("\"success\","), "{why}: {export}");
}

#[test]
fn a_call_that_the_flag_calls_failed_is_a_failure_everywhere() {
    let place = Place::new();
    let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Bash", "--success", "false"];
    place.run(&flags).succeeded();
    is_one_failure(&place, "the flag alone");

    let place = Place::new();
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": "x"}});
    place
        .send(&["hooks", "post-tool", "--success", "false", "--stdin"], envelope("post_tool_use", &call))
        .succeeded();
    is_one_failure(&place, "the flag with a result that does not say");
}

#[test]
fn a_failure_in_the_payload_is_a_failure_everywhere() {
    let input = json!({"command": "make"});
    for data in [
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {"success": false, "error": "no rule"}}),
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {"success": false}}),
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {}, "error": "no rule"}),
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {"success": true}, "error": ""}),
        json!({"tool_name": "Bash", "tool_output": null, "error": "no rule"}),
    ] {
        let place = Place::new();
        place.send(&["hooks", "post-tool", "--stdin"], envelope("post_tool_use", &data)).succeeded();
        is_one_failure(&place, &data.to_string());
    }
    let place = Place::new();
    let native = json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
        "tool_name": "Bash", "tool_input": input, "tool_use_id": "t", "tool_response": {"success": false}});
    place.send(&["hooks", "event"], native.to_string()).succeeded();
    is_one_failure(&place, "the client's own event");
}

#[test]
fn what_the_client_reports_as_done_is_not_taken_for_a_failure() {
    let place = Place::new();
    for (id, response) in [
        ("a", json!({"stdout": "error: 3 failed", "stderr": "warning", "interrupted": false})),
        ("b", json!({"type": "text", "file": {"content": "{\"success\": false}"}})),
        ("c", json!([{"type": "text", "text": "{\"error\": \"x\"}"}])),
        ("d", json!({"error": null, "isError": false})),
    ] {
        let native = json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
            "tool_name": "Bash", "tool_input": {}, "tool_use_id": id, "tool_response": response});
        place.send(&["hooks", "event"], native.to_string()).succeeded();
    }
    assert_eq!(show(&place)["counters"]["calls_succeeded"], 4);
    assert_eq!(outcomes(&place), ["success"; 4]);
}

#[test]
fn a_success_that_stdin_contradicts_is_refused() {
    let place = Place::new();
    let failed = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"success": false}});
    let went_well = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"success": true}});
    for (flag, data) in [("true", &failed), ("false", &went_well)] {
        let run = place.send(&["hooks", "post-tool", "--success", flag], envelope("post_tool_use", data));
        let error = run.failed("validation");
        assert!(error.contains("--success"), "{error}");
    }
    // An empty flag says nothing, and one that agrees changes nothing.
    for flag in ["", "false"] {
        place
            .send(&["hooks", "post-tool", "--success", flag], envelope("post_tool_use", &failed))
            .succeeded();
    }
    // The refused events are still recorded, as stdin reported them.
    assert_eq!(show(&place)["counters"]["calls_failed"], 3);
    assert_eq!(show(&place)["counters"]["calls_succeeded"], 1);
}

#[test]
fn the_same_failure_again_and_again_is_a_loop_however_it_is_told() {
    let place = Place::new();
    let data = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": null, "error": "no rule"});
    for _ in 0..3 {
        place.send(&["hooks", "post-tool"], envelope("post_tool_use", &data)).succeeded();
    }
    let told = place.send(&["hooks", "post-tool"], envelope("post_tool_use", &data)).succeeded();
    let text = format!("{told}{}", place.run(&["session", "show", "s", "--json"]).stdout);
    assert!(text.contains("repeated itself") || text.contains("the same failure"), "{text}");
}

#[test]
fn failures_by_flag_make_a_loop_and_successes_do_not() {
    let repeated = |success: &str| {
        let place = Place::new();
        let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Bash", "--success", success];
        for _ in 0..4 {
            place.run(&flags).succeeded();
        }
        show(&place)["counters"]["dreams"].clone()
    };
    assert_eq!((repeated("false"), repeated("true")), (json!(1), json!(0)));
}

#[test]
fn any_sign_of_failure_outweighs_every_sign_of_success() {
    for response in [
        json!({"success": true, "error": "x"}),
        json!({"success": true, "error": {"message": "x"}}),
        json!({"success": "false"}),
        json!({"success": 0}),
        json!({"is_error": "true"}),
        json!({"success": true, "isError": 1}),
    ] {
        let place = Place::new();
        post(&place, &[], &done(&response)).succeeded();
        assert_eq!(outcomes(&place), ["failure"], "{response}");
    }
    for response in [json!({"success": "true"}), json!({"success": 3}), json!({"success": 1, "error": ""})] {
        let place = Place::new();
        post(&place, &[], &done(&response)).succeeded();
        assert_eq!(outcomes(&place), ["success"], "{response}");
    }
}

#[test]
fn a_flag_that_stdin_contradicts_is_an_error_and_the_call_is_on_record_as_stdin_tells_it() {
    let older =
        envelope("post_tool_use", &json!({"tool_name": "Bash", "tool_output": "fine", "error": null}));
    for (flag, event, outcome) in [
        ("true", done(&json!({"interrupted": true})), "interrupted"),
        ("true", done(&json!({"success": false, "error": "no"})), "failure"),
        ("false", older, "success"),
    ] {
        let place = Place::new();
        let run = post(&place, &["--success", flag], &event);
        let error = run.failed("validation");
        assert!(error.contains("--success") && error.contains("on record"), "{error}");
        assert!(!run.stderr.contains("send the event again"), "it would be there twice: {run:?}");
        assert_eq!(outcomes(&place), [outcome], "{event}");
    }
}

#[test]
fn the_contracts_script_does_not_lose_a_call_that_failed_in_its_response() {
    // The contract's script word for word, except for `jq`, which may be missing:
    // `.payload.data.error == null` is true here.
    let place = Place::new();
    let run = place.send(
        &[
            "hooks",
            "post-tool",
            "--session-id",
            "s",
            "--tool-name",
            "Bash",
            "--success",
            "true",
            "--stdin",
            "--format",
            "json",
        ],
        done(&json!({"success": false, "error": "no"})),
    );
    run.failed("validation");
    assert_eq!(outcomes(&place), ["failure"]);
    let shown = place.run(&["session", "show", "s"]).stdout;
    assert!(shown.contains("Bash failed: no"), "{shown}");
}

#[test]
fn a_policy_sees_the_flags_word_in_the_response() {
    let place = Place::new();
    place.rego(
        "failed.rego",
        r#"# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PostToolUse"]
package cupcake.policies.failed

import rego.v1

add_context contains "the call failed" if input.tool_response.success == false
"#,
    );
    let told = |success: &str| {
        let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Bash", "--success", success];
        place.run(&flags).succeeded().to_string().contains("the call failed")
    };
    assert!(told("false") && !told("true"));
}

#[test]
fn what_was_decided_about_a_result_is_in_the_log_and_found() {
    let place = Place::new();
    place.rego(
        "after.rego",
        r#"# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse", "PostToolUse"]
package cupcake.policies.after

import rego.v1

ask contains {"rule_id": "BEFORE", "reason": "look", "severity": "LOW"} if {
    input.hook_event_name == "PreToolUse"
    contains(input.tool_input.command, "both")
}

block contains {"rule_id": "AFTER", "reason": "not that result", "severity": "HIGH"} if {
    input.hook_event_name == "PostToolUse"
    contains(input.tool_input.command, "seen")
}
"#,
    );
    let send = |name: &str, more: Value| {
        let mut event = json!({"hook_event_name": name, "session_id": "s", "transcript_path": "", "cwd": ""});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        place.send(&["hooks", "event"], event.to_string()).succeeded();
    };
    for (id, command) in [("none", "echo"), ("after", "echo seen"), ("both", "echo both seen")] {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
            "tool_response": {"stdout": "x"}});
        send("PreToolUse", call.clone());
        send("PostToolUse", call);
    }
    let log = |more: &[&str]| {
        let run = place.run(&[&["audit", "log", "--json", "--tool", "*"], more].concat());
        serde_json::from_str::<Vec<Value>>(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    };
    let ids = |more: &[&str]| log(more).iter().map(|call| call["tool_use_id"].clone()).collect::<Vec<_>>();
    let shown = place.run(&["audit", "show", "both", "--json"]).json();
    let [before, after] = [0, 1].map(|at: usize| shown["decided"][at]["rules"][0].as_str().unwrap());
    for folded in [false, true] {
        assert_eq!(ids(&["--verdict", "block"]), ["after", "both"], "folded: {folded}");
        assert_eq!(ids(&["--rule", after]), ["after", "both"]);
        assert_eq!(ids(&["--verdict", "ask"]), ["both"]);
        assert_eq!(ids(&["--rule", before]), ["both"]);
        assert_eq!(ids(&["--verdict", "ask,block"]), ["after", "both"]);
        let all = log(&[]);
        assert!(all.len() == 3 && all[0].get("verdict").is_none(), "{all:#?}");
        for call in &all[1..] {
            assert_eq!((&call["verdict"], &call["rules"]), (&json!("block"), &json!([after])), "{call}");
        }
        let text = place.run(&["audit", "log"]).stdout;
        assert_eq!(text.matches(&format!("[block: {after}]")).count(), 2, "{text}");
        send("SessionEnd", json!({"reason": "other"}));
    }
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_call_that_fails_counts_for_less_than_one_that_succeeds_and_a_run_of_them_for_less_still() {
    let measures = |success: &str, calls: usize| {
        let place = Place::new();
        let prompt = json!({"prompt": "mend the lexer in src/lexer"});
        place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &prompt)).succeeded();
        let mut last = Value::Null;
        for at in 0..calls {
            let call = json!({"tool_name": "Bash", "tool_input": {"command": format!("cargo test lexer::part{at}")},
                "tool_response": {"stdout": format!("src/lexer/part{at}.rs: done")}});
            last = post(&place, &["--success", success], &envelope("post_tool_use", &call)).succeeded();
        }
        (last["ic_classification"]["value"].as_f64().unwrap(), last["consciousness_state"].clone())
    };
    let ((good, calm), (bad, shaken)) = (measures("true", 12), measures("false", 12));
    assert!(bad < good - 0.01, "{bad} {good}");
    assert_ne!(calm, shaken);
    let (one, _) = measures("false", 1);
    assert!(one <= measures("true", 1).0 && bad < one, "{one} {bad}");
    assert!(bad >= 0.7, "failures on the purpose are no drift: {bad}");
}
