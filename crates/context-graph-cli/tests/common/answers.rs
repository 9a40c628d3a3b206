//! Checks every answer to `--json` against `docs/reference/answers.schema.json`, in every test.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::Run;

/// The schema's name for failures.
const FAILURE: &str = "failure";

pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/answers.schema.json");
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    })
}

/// The commands that the schema describes.
pub fn verbs() -> Vec<String> {
    schema()["properties"].as_object().unwrap().keys().filter(|verb| *verb != FAILURE).cloned().collect()
}

/// Which of these commands this is.
pub fn verb<T: AsRef<str>>(args: &[T]) -> Option<String> {
    let words: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    let described = schema()["properties"].as_object().unwrap();
    [2, 1]
        .into_iter()
        .filter_map(|length| Some(words.get(..length)?.join(" ")))
        .find(|verb| described.contains_key(verb))
}

fn validator(verb: &str) -> &'static Validator {
    static ALL: OnceLock<HashMap<String, Validator>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let described = schema()["properties"].as_object().unwrap();
        let made = |(verb, inner): (&String, &Value)| {
            let whole = json!({"$ref": inner["$ref"], "$defs": schema()["$defs"]});
            let whole = if inner.get("$ref").is_some() {
                whole
            } else {
                let mut inner = inner.clone();
                inner["$defs"] = schema()["$defs"].clone();
                inner
            };
            (verb.clone(), jsonschema::validator_for(&whole).unwrap())
        };
        described.iter().map(made).collect()
    });
    &all[verb]
}

/// Whether this is a failure in the common format.
pub fn is_failure(run: &Run) -> bool {
    serde_json::from_str(&run.stdout).is_ok_and(|answer: Value| validator(FAILURE).is_valid(&answer))
}

/// Checks an answer against the schema, if it was asked for with `--json`.
pub fn check(args: &[&str], run: &Run) {
    let asked = args.iter().take_while(|arg| **arg != "--").any(|arg| *arg == "--json");
    let Some(verb) = verb(args).filter(|_| asked) else { return };
    // These write their own format to stdout, unless an output file is named.
    let is_format = verb.ends_with(" export") && !args.contains(&"--output");
    if is_failure(run) || is_format && run.code == 0 || run.stdout.is_empty() {
        return;
    }
    let parsed = |text: &str| -> Value {
        serde_json::from_str(text)
            .unwrap_or_else(|error| panic!("{error} in the answer to {args:?}: {run:?}"))
    };
    let answers: Vec<Value> = match verb.as_str() {
        "replay" => run.stdout.lines().map(parsed).collect(),
        _ => vec![parsed(&run.stdout)],
    };
    for answer in answers {
        if let Err(error) = validator(&verb).validate(&answer) {
            panic!("{args:?} is not answered as described: {error} at {} in {answer:#}", error.instance_path);
        }
    }
}
