//! Checks every answer to `--json` against `docs/reference/answers.schema.json`, in every test.

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

/// The schema describes an object with a property for each command, so one validator is enough. One for each
/// command would hold the definitions fifty times, and a test process of 200 MB needs ten times as long to start
/// another process.
fn validate(verb: &str, answer: Value) -> Result<(), String> {
    static WHOLE: OnceLock<Validator> = OnceLock::new();
    let whole = WHOLE.get_or_init(|| jsonschema::validator_for(schema()).unwrap());
    let answer = json!({ verb: answer });
    whole.validate(&answer).map_err(|error| format!("{error} at {} in {answer:#}", error.instance_path()))
}

/// Whether this is a failure in the common format.
pub fn is_failure(run: &Run) -> bool {
    serde_json::from_str(&run.stdout).is_ok_and(|answer: Value| validate(FAILURE, answer).is_ok())
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
        validate(&verb, answer)
            .unwrap_or_else(|error| panic!("{args:?} is not answered as described: {error}"));
    }
}
