//! Events of other agents, and the replies to them. The payloads have the structure of recorded ones.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use context_graph_events::agents::{self, Agent, Caller, Surroundings};
use context_graph_events::claude_code::{PreToolUseReply, StopReply};
use context_graph_events::{DecodeError, Event, EventName, HookReply as _, Outcome, ReplyBody, Verb};
use serde_json::{Map, Value, json};

const FILES: [(&str, Agent); 12] = [
    ("codex", Agent::Codex),
    ("copilot", Agent::Copilot),
    ("copilot-claude", Agent::Copilot),
    ("gemini", Agent::Gemini),
    ("qwen", Agent::Qwen),
    ("cursor", Agent::Cursor),
    ("droid", Agent::Droid),
    ("goose", Agent::Goose),
    ("cline", Agent::Cline),
    ("opencode", Agent::Opencode),
    ("pi", Agent::Pi),
    ("amp", Agent::Amp),
];

fn cases(file: &str) -> Vec<(String, Map<String, Value>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents").join(format!("{file}.json"));
    let all: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let case = |value: Value| {
        let name = value["case"].as_str().unwrap().to_owned();
        (name, value["payload"].as_object().unwrap().clone())
    };
    all.into_iter().map(case).collect()
}

fn bare() -> Surroundings<'static> {
    Surroundings { variable: &|_| None, machine: &|| "here".to_owned() }
}

fn read(object: &Map<String, Value>) -> (Result<Event, DecodeError>, Caller) {
    let mut caller = agents::detect(object, bare()).unwrap();
    (agents::parse(object.clone(), &mut caller, bare()), caller)
}

fn call(file: &str) -> (Event, Caller) {
    let named = |case: &str| matches!(case, "PreToolUse" | "preToolUse" | "BeforeTool");
    let (_, object) = cases(file).into_iter().find(|(case, _)| named(case)).unwrap();
    let (event, caller) = read(&object);
    (event.unwrap(), caller)
}

fn fields(reply: PreToolUseReply) -> ReplyBody {
    reply.into_body()
}

#[test]
fn every_payload_is_known_by_its_sender_and_read() {
    for (file, agent) in FILES {
        for (case, object) in cases(file) {
            let (event, caller) = read(&object);
            assert_eq!(caller.agent, Some(agent), "{file} {case}");
            let event = event.unwrap_or_else(|error| panic!("{file} {case}: {error}"));
            let prefix = format!("{agent}-");
            assert!(event.session_id().starts_with(&prefix), "{file} {case}: {}", event.session_id());
            assert_eq!(Agent::of_session(event.session_id()), agent);
            if let Some(id) =
                event.tool_use_id().filter(|_| event.known_name() != Some(EventName::PermissionRequest))
            {
                assert!(!id.is_empty(), "{file} {case}");
            }
        }
    }
}

#[test]
fn claude_codes_own_payloads_have_no_other_sender() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    // Every variable is set, as if inherited from an agent that started Claude Code.
    let inherited = Surroundings { variable: &|_| Some("1".to_owned()), machine: &|| "here".to_owned() };
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            let object: Map<String, Value> = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            assert_eq!(agents::detect(&object, bare()), None, "{}", file.display());
            assert_eq!(agents::detect(&object, inherited), None, "{}", file.display());
            seen += 1;
        }
    }
    assert!(seen > 20);
}

#[test]
fn the_environment_tells_apart_what_payloads_do_not() {
    let object = json!({"hook_event_name": "SessionStart", "session_id": "s", "timestamp": "t", "cwd": "/w",
        "transcript_path": "/elsewhere/t.jsonl", "source": "startup"});
    let object = object.as_object().unwrap();
    let told = |name: &'static str, value: &'static str| {
        let variable = move |asked: &str| (asked == name).then(|| value.to_owned());
        agents::detect(object, Surroundings { variable: &variable, machine: &String::new })
            .map(|caller| caller.agent)
    };
    assert_eq!(told("QWEN_CODE_SESSION_ID", "s"), Some(Some(Agent::Qwen)));
    assert_eq!(told("GEMINI_SESSION_ID", "s"), Some(Some(Agent::Gemini)));
    assert_eq!(told("COPILOT_CLI", "1"), Some(Some(Agent::Copilot)));
    assert_eq!(told("GEMINI_SESSION_ID", "of a session around this one"), None);
    assert_eq!(told("HOME", "/h"), None);
}

#[test]
fn tools_and_their_fields_have_our_names() {
    for (file, _) in FILES.iter().filter(|(file, _)| *file != "cline") {
        let (event, _) = call(file);
        let Event::PreToolUse(call) = event else { panic!("{file}") };
        assert_eq!(call.tool_name, "Bash", "{file}");
        assert!(call.get_command().is_some(), "{file}");
    }
    for (file, case) in [
        ("gemini", "BeforeTool.write_file"),
        ("droid", "PreToolUse.Create"),
        ("copilot", "preToolUse.create"),
        ("qwen", "PreToolUse.write_file"),
        ("opencode", "PreToolUse.write"),
    ] {
        let (_, object) = cases(file).into_iter().find(|(name, _)| name == case).unwrap();
        let Event::PreToolUse(call) = read(&object).0.unwrap() else { panic!("{file}") };
        assert_eq!(call.tool_name, "Write", "{file}");
        assert_eq!(call.get_file_path().as_deref(), Some("/home/ada/orchard/pears.txt"), "{file}");
    }
    let (_, object) = cases("gemini").into_iter().find(|(name, _)| name == "BeforeTool.mcp").unwrap();
    assert_eq!(read(&object).0.unwrap().tool_name(), Some("mcp__demo__write_note"));
}

#[test]
fn a_command_in_words_is_the_line_that_a_shell_would_run() {
    let line = |command: Value| {
        let object = json!({"event": "PreToolUse", "session_id": "s", "matcher_context": "shell",
            "tool_name": "shell", "tool_input": {"command": command}});
        let Event::PreToolUse(call) = read(object.as_object().unwrap()).0.unwrap() else { panic!() };
        call.get_command().unwrap()
    };
    assert_eq!(line(json!(["bash", "-lc", "rm -rf x"])), "rm -rf x");
    assert_eq!(line(json!(["rm", "-rf", "it's"])), r"'rm' '-rf' 'it'\''s'");
}

#[test]
fn equal_calls_have_equal_derived_ids_and_say_so() {
    for file in ["gemini", "copilot", "copilot-claude", "droid"] {
        let (event, _) = call(file);
        let id = event.tool_use_id().unwrap().to_owned();
        assert!(agents::is_derived(&id), "{file}: {id}");
        assert_eq!(call(file).0.tool_use_id(), Some(id.as_str()));
        assert_eq!(event.into_object()["derived"], true);
    }
    assert!(!agents::is_derived(call("codex").0.tool_use_id().unwrap()));
}

#[test]
fn a_failure_that_only_the_output_tells_is_one() {
    for (file, case) in [
        ("copilot", "postToolUse.failed-command"),
        ("gemini", "AfterTool.failed-command"),
        ("gemini", "AfterTool.error"),
        ("qwen", "PostToolUseFailure"),
        ("cursor", "postToolUseFailure"),
        ("goose", "PostToolUseFailure"),
    ] {
        let (_, object) = cases(file).into_iter().find(|(name, _)| name == case).unwrap();
        assert_eq!(read(&object).0.unwrap().outcome(), Some(Outcome::Failure), "{file} {case}");
    }
    for (file, case) in [("copilot", "postToolUse"), ("gemini", "AfterTool"), ("droid", "PostToolUse")] {
        let (_, object) = cases(file).into_iter().find(|(name, _)| name == case).unwrap();
        assert_eq!(read(&object).0.unwrap().outcome(), Some(Outcome::Success), "{file} {case}");
    }
}

#[test]
fn our_own_words_given_back_are_no_prompt_of_a_person() {
    let prompt = |text: &str| {
        let object = json!({"hook_event_name": "BeforeAgent", "session_id": "s", "timestamp": "t", "cwd": "/w",
            "transcript_path": "", "prompt": text});
        let Event::UserPromptSubmit(prompt) = read(object.as_object().unwrap()).0.unwrap() else { panic!() };
        prompt.is_machine_made()
    };
    assert!(!prompt("count the pears"));
    let (_, mut caller) = call("gemini");
    caller.event = Some(EventName::Stop);
    let held = agents::render(&caller, &StopReply::block("the tests must pass").into_body());
    assert_eq!(held.exit, 2);
    let reason: Value = serde_json::from_str(&held.stdout).unwrap();
    assert!(prompt(reason["reason"].as_str().unwrap()));
}

/// Whether the agent takes this answer as a refusal.
fn is_refused(agent: Agent, reply: &agents::AgentAnswer) -> bool {
    let object: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    let by_code = reply.exit == 2 && !reply.stderr.trim().is_empty();
    match agent {
        Agent::Cursor => reply.exit == 0 && object["permission"] == "deny",
        Agent::Gemini => by_code && object["decision"] == "deny",
        Agent::Goose => by_code && object["decision"] == "block",
        Agent::Copilot => by_code && object["permissionDecision"] == "deny",
        Agent::Cline => object["cancel"] == true,
        _ => by_code && object["hookSpecificOutput"]["permissionDecision"] == "deny",
    }
}

#[test]
fn a_refusal_holds_in_every_dialect_and_a_question_that_cannot_be_put_is_one() {
    for (file, agent) in FILES.iter().filter(|(file, _)| *file != "cline") {
        let (_, caller) = call(file);
        for (verdict, reply) in [
            ("deny", PreToolUseReply::deny("not this one")),
            ("halt", PreToolUseReply::halt("not this one")),
            ("empty", PreToolUseReply::deny("")),
        ] {
            let reply = agents::render(&caller, &fields(reply));
            assert!(is_refused(*agent, &reply), "{file} {verdict}: {reply:?}");
        }
        let asked = agents::render(&caller, &fields(PreToolUseReply::ask("may it?")));
        if agent.verbs(EventName::PreToolUse).contains(&Verb::Ask) {
            assert!(asked.exit == 0 && asked.stdout.contains("\"ask\""), "{file}: {asked:?}");
        } else {
            assert!(is_refused(*agent, &asked), "{file}: {asked:?}");
            assert!(asked.stdout.contains("needs your consent: may it?"), "{file}: {asked:?}");
        }
        let input = json!({"command": "true"}).as_object().cloned().unwrap();
        let changed = agents::render(&caller, &fields(PreToolUseReply::none().with_updated_input(input)));
        let can = agent.verbs(EventName::PreToolUse).contains(&Verb::Modify);
        assert_eq!(is_refused(*agent, &changed), !can, "{file}: {changed:?}");
        assert_eq!(changed.stdout.contains("\"true\""), can, "{file}: {changed:?}");
        let nothing = agents::render(&caller, &fields(PreToolUseReply::none()));
        assert_eq!((nothing.exit, nothing.stderr.as_str()), (0, ""), "{file}");
        match agent {
            Agent::Cursor => assert_eq!(nothing.stdout, "{\"permission\":\"allow\"}\n", "{file}"),
            _ => assert_eq!(nothing.stdout, "", "{file}"),
        }
    }
}

#[test]
fn codex_gets_no_field_that_it_does_not_know() {
    let (_, caller) = call("codex");
    let reply = PreToolUseReply::deny("no").with_context("mind").with_system_message("told");
    let reply = agents::render(&caller, &fields(reply));
    let object: Value = serde_json::from_str(&reply.stdout).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&object), ["hookSpecificOutput", "systemMessage"]);
    assert_eq!(
        keys(&object["hookSpecificOutput"]),
        ["additionalContext", "hookEventName", "permissionDecision", "permissionDecisionReason"]
    );
}

#[test]
fn other_input_goes_back_in_the_agents_own_words() {
    let (_, object) = cases("copilot").into_iter().find(|(name, _)| name == "preToolUse.create").unwrap();
    let (_, caller) = read(&object);
    let input = json!({"file_path": "/w/a", "content": "x"}).as_object().cloned().unwrap();
    let reply = agents::render(&caller, &fields(PreToolUseReply::none().with_updated_input(input)));
    let object: Value = serde_json::from_str(&reply.stdout).unwrap();
    assert_eq!(object["modifiedArgs"], json!({"path": "/w/a", "file_text": "x"}));
}

#[test]
fn no_reply_says_what_its_row_does_not_have() {
    let context = |event: EventName| {
        json!({"hookSpecificOutput": {"hookEventName": event.as_str(),
        "additionalContext": "mind the gap", "permissionDecision": "ask", "updatedInput": {"command": "changed"}}})
    };
    for agent in Agent::ALL.into_iter().filter(|agent| agent.sheet().is_some()) {
        for event in EventName::ALL {
            let caller = Caller::asking(agent, event);
            let Value::Object(fields) = context(event) else { unreachable!() };
            let reply = agents::render(&caller, &ReplyBody::Fields(fields));
            let verbs = agent.verbs(event);
            for (verb, words) in
                [(Verb::AddContext, "mind the gap"), (Verb::Modify, "changed"), (Verb::Ask, "\"ask\"")]
            {
                assert!(verbs.contains(&verb) || !reply.stdout.contains(words), "{agent} {event}: {reply:?}");
            }
        }
    }
}

#[test]
fn who_is_not_known_and_asks_about_a_call_is_refused_for_everyone() {
    let object = json!({"tool": "shell", "args": {"command": "x"}});
    let (event, caller) = read(object.as_object().unwrap());
    assert!(event.is_err() && caller.agent.is_none());
    let reply = agents::render(&caller, &fields(PreToolUseReply::ask("why")));
    for agent in [Agent::Gemini, Agent::Copilot, Agent::Codex, Agent::Opencode] {
        let gemini = agent == Agent::Gemini;
        assert!(gemini || is_refused(agent, &reply), "{agent}: {reply:?}");
    }
    assert!(reply.stdout.contains("\"decision\":\"block\""));
}

#[test]
fn whatever_is_missing_or_mistyped_is_read_or_named() {
    for (file, _) in FILES {
        for (case, object) in cases(file) {
            for key in object.keys() {
                let mut missing = object.clone();
                missing.remove(key);
                let mut variants = vec![missing];
                for wrong in [Value::Null, json!(7), json!("x"), json!([]), json!({}), json!(true)] {
                    let mut mistyped = object.clone();
                    mistyped.insert(key.clone(), wrong);
                    variants.push(mistyped);
                }
                for variant in variants {
                    if let Some(mut caller) = agents::detect(&variant, bare()) {
                        let read = agents::parse(variant, &mut caller, bare());
                        let body = fields(PreToolUseReply::ask("unread"));
                        let reply = agents::render(&caller, &body);
                        // A call that cannot be read must get an answer: without one it would run.
                        let is_call = caller.event == Some(EventName::PreToolUse) || caller.agent.is_none();
                        assert!(!is_call || read.is_ok() || !reply.stdout.is_empty(), "{file} {case} {key}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_agent_can_be_told_that_a_call_is_denied() {
    use context_graph_events::{EventName, Verb};
    // Without such a verb a denial would be dropped, and the call would run.
    for agent in Agent::ALL.into_iter().filter(|agent| agent.sheet().is_some()) {
        let verbs = agent.verbs(EventName::PreToolUse);
        assert!(verbs.contains(&Verb::Deny) || verbs.contains(&Verb::Halt), "{agent}");
    }
}
