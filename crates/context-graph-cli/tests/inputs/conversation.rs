//! The conversation before a prompt: stored without its secrets, and used as evidence of the purpose.

use serde_json::{Value, json};

use crate::common::Place;
use crate::{envelope, native, show};

#[test]
fn the_conversation_before_a_prompt_is_kept_without_its_secrets() {
    let place = Place::new();
    let secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    let long = "word ".repeat(20_000);
    let mut context = vec![json!({"role": "assistant", "content": long}); 20];
    context.push(json!({"role": "user", "content": format!("use {secret} for the zebrafish import")}));
    let data = json!({"prompt": "go on with that", "context": context});
    place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).succeeded();
    let exported = place.run(&["session", "export", "s"]).stdout;
    assert!(exported.contains("zebrafish") && exported.contains("go on with that"), "{exported}");
    assert!(!exported.contains(secret), "a secret of the conversation is stored");
    assert!(exported.len() < 100_000, "{}", exported.len());
}

#[test]
fn work_that_the_conversation_asked_for_is_on_task() {
    let ic_after = |context: Value| {
        let place = Place::new();
        let data = json!({"prompt": "yes please", "context": context});
        place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).succeeded();
        let read = |path: &str| {
            json!({"tool_name": "Read", "tool_input": {"file_path": path},
                "tool_response": {"file": {"content": format!("fn tokenize() {{}} // {path}")}}})
        };
        for at in 0..12 {
            let call = envelope("post_tool_use", &read(&format!("src/lexer/part{at}.rs")));
            place.send(&["hooks", "post-tool"], call).succeeded();
        }
        for at in 0..4 {
            let mut call = read(&format!("billing/invoices/ledger{at}.py"));
            call["tool_response"] =
                json!({"file": {"content": "def settle_invoice(customer): refund(customer)"}});
            place.send(&["hooks", "post-tool"], envelope("post_tool_use", &call)).succeeded();
        }
        show(&place)["ic"]["value"].as_f64().unwrap()
    };
    let talk = "then settle each customer invoice in billing/invoices/ledger1.py and refund";
    let nothing = ic_after(json!([]));
    let asked = ic_after(json!([{"role": "user", "content": talk}]));
    let said = ic_after(json!([{"role": "assistant", "content": talk}]));
    assert!(asked > nothing && said > nothing, "{asked} {said} {nothing}");
    assert!(asked >= said, "the user's words weigh most: {asked} {said}");
}

#[test]
fn a_message_without_role_or_content_is_a_parse_error_that_names_it() {
    let place = Place::new();
    let good = json!({"role": "user", "content": "hi"});
    for (bad, field) in [
        (json!({"role": "", "content": "x"}), "payload.data.context[1].role"),
        (json!({"role": "user", "content": ""}), "payload.data.context[1].content"),
        (json!({"content": "x"}), "payload.data.context[1].role"),
        (json!({"role": "user"}), "payload.data.context[1].content"),
        (json!({"role": 3, "content": "x"}), "payload.data.context[1].role"),
    ] {
        let data = json!({"prompt": "p", "context": [good, bad]});
        let error =
            place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).failed("parse");
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn what_the_user_asked_for_before_is_the_purpose_of_a_prompt_that_goes_on() {
    let place = Place::new();
    let context = json!([
        {"role": "user", "content": "mend the zebrafish importer"},
        {"role": "assistant", "content": "shall I change the parser?"},
        {"role": "user", "content": "only the tokenizer"},
    ]);
    let prompt = envelope("user_prompt_submit", &json!({"prompt": "go on", "context": context}));
    place.send(&["hooks", "prompt-submit"], &prompt).succeeded();
    let told = place.run(&["consciousness", "inject", "s"]).stdout;
    assert!(told.contains("The first request was: \"mend the zebrafish importer\""), "{told}");
    assert!(told.contains("The user asked: \"only the tokenizer\""), "{told}");
    assert!(!told.contains("shall I"), "{told}");
    let why = place.run(&["session", "show", "s", "--explain"]).stdout;
    assert!(why.contains("the purpose: \"mend the zebrafish importer\""), "{why}");
    // Sending the same conversation again adds nothing.
    place.send(&["hooks", "prompt-submit"], &prompt).succeeded();
    let again = place.run(&["consciousness", "inject", "s"]).stdout;
    assert_eq!(again.matches("only the tokenizer").count(), 1, "{again}");
}

#[test]
fn of_a_message_before_a_prompt_as_much_is_kept_for_good_as_of_any_text() {
    let place = Place::new();
    let content = format!("{}{}", "a".repeat(1400), "z".repeat(600));
    let data = json!({"prompt": "go on", "context": [{"role": "assistant", "content": content}]});
    place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).succeeded();
    let exported = place.run(&["session", "export", "s"]).stdout;
    let (head, tail) = ("a".repeat(512), "z".repeat(192));
    assert!(exported.contains(&head) && exported.contains(&tail), "{exported}");
    assert!(!exported.contains(&"a".repeat(600)) && !exported.contains(&"z".repeat(300)), "{exported}");
}

#[test]
fn the_clients_form_is_held_to_the_same_messages() {
    let place = Place::new();
    for (context, field) in [
        (json!([{"role": "", "content": "x"}]), "context[0].role"),
        (json!([{"role": "user", "content": " "}]), "context[0].content"),
        (json!("talk"), "context"),
    ] {
        let event = native("UserPromptSubmit", json!({"prompt": "p", "context": context}));
        let error = place.send(&["hooks", "event"], event).failed("parse");
        assert!(error.contains(&format!("`{field}`")), "{error}");
    }
    let event = native("UserPromptSubmit", json!({"prompt": "p", "context": null}));
    place.send(&["hooks", "event"], event).succeeded();
}
