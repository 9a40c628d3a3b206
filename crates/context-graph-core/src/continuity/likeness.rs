//! How alike two sessions are, by the words and files of their prompts and calls.
//!
//! Sessions of one project share most of their words. So a word weighs more the fewer sessions have it. Without
//! the project's everyday words, the task is what remains.

use std::collections::BTreeMap;

use super::Continuity;
use super::terms::Term;
use crate::gwt::numeric::{ln, narrow, unit};

/// The weight of a word that every session has. It is small but not zero, so two sessions without a rare word
/// still have a likeness.
const LEAST: f64 = 0.05;

impl Continuity {
    /// The cosine of two sessions' words and files, in `[0, 1]`. Each is weighted by its rarity among the two
    /// sessions and `around`, the project's sessions of about that time. `None` if one of the two has no terms.
    pub fn likeness(&self, other: &Self, around: &[&Self]) -> Option<f32> {
        let all: Vec<Counts> = [self, other]
            .into_iter()
            .chain(around.iter().copied())
            .map(|session| session.memory.words_and_places())
            .collect();
        let squared =
            |counts: &Counts| counts.iter().map(|(&term, &n)| product(&all, term, n, n)).sum::<f64>();
        let (one, two) = (&all[0], &all[1]);
        let shared: f64 =
            one.iter().filter_map(|(&term, &n)| Some(product(&all, term, n, *two.get(&term)?))).sum();
        let norms = (squared(one) * squared(two)).sqrt();
        (norms > 0.0).then(|| unit(narrow(shared / norms)))
    }
}

type Counts = BTreeMap<Term, u32>;

/// What a term adds to the product of two sessions: one had it in `n` events, the other in `m`.
fn product(all: &[Counts], term: Term, n: u32, m: u32) -> f64 {
    let having = all.iter().filter(|counts| counts.contains_key(&term)).count();
    let rarity = ln((number(all.len()) + 1.0) / number(having.max(1))).max(LEAST);
    weight(n) * weight(m) * rarity * rarity
}

/// A word seen in many events weighs more, but less than in proportion.
fn weight(events: u32) -> f64 {
    1.0 + ln(f64::from(events.max(1)))
}

fn number(sessions: usize) -> f64 {
    f64::from(u32::try_from(sessions).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use context_graph_events::Event;
    use serde_json::{Value, json};

    use super::*;

    /// A session with one prompt and reads of some files.
    fn session(prompt: &str, files: &[&str]) -> Continuity {
        let mut session = Continuity::default();
        let asked = json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt});
        let reads = files.iter().map(|file| {
            json!({"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "toolu_1",
                "tool_input": {"file_path": format!("/p/{file}")}, "tool_response": {"content": "fn main"}})
        });
        for mut payload in std::iter::once(asked).chain(reads) {
            let common = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p"});
            payload.as_object_mut().unwrap().extend(common.as_object().unwrap().clone());
            let Value::Object(payload) = payload else { unreachable!() };
            session.observe(&Event::from_object(payload).unwrap(), 1);
        }
        session
    }

    #[test]
    fn the_same_task_is_more_alike_than_another_one_of_the_project() {
        let first = session("speed up the parser of invoices", &["src/invoice/parser.rs", "src/lib.rs"]);
        let second =
            session("the invoice parser still drops totals", &["src/invoice/parser.rs", "src/main.rs"]);
        let other = session("write a cookbook for the deployment", &["docs/deploy.md", "src/lib.rs"]);
        let (same, another) =
            (first.likeness(&second, &[&other]).unwrap(), first.likeness(&other, &[&second]).unwrap());
        assert!(same > 2.0 * another, "{same} {another}");
    }

    #[test]
    fn what_every_session_has_hardly_counts() {
        let (one, two) = (session("alpha", &["src/lib.rs"]), session("beta", &["src/lib.rs"]));
        let many: Vec<_> = ["gamma", "delta", "epsilon"].map(|word| session(word, &["src/lib.rs"])).into();
        let around: Vec<_> = many.iter().collect();
        assert!(one.likeness(&two, &around).unwrap() < one.likeness(&two, &[]).unwrap());
    }

    #[test]
    fn a_session_is_wholly_like_itself_and_nothing_is_like_an_empty_one() {
        let one = session("alpha beta", &["src/lib.rs"]);
        assert!((one.likeness(&one, &[]).unwrap() - 1.0).abs() < 1e-6);
        assert_eq!(one.likeness(&Continuity::default(), &[]), None);
    }
}
