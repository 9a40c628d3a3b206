//! What somebody probably meant by a word that does not exist.

use context_graph_events::agents::Agent;

/// How many letters of a word may be wrong or swapped.
const SLIPS: usize = 2;
/// This many first letters are enough if only one word has them: `deny` for `denied`.
const BEGINNING: usize = 3;

/// The word that was probably mistyped; `None` if none is near. Ignores case.
pub(crate) fn slip_of<'w>(wrong: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let wrong = wrong.to_lowercase();
    let distance = |word: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &wrong);
    let (distance, near) =
        known.into_iter().map(|word| (distance(word), word)).min_by_key(|(far, _)| *far)?;
    (distance <= SLIPS && distance < wrong.chars().count().div_ceil(2)).then_some(near)
}

/// The same, or else the only word with the same first letters.
pub(crate) fn nearest<'w>(wrong: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let known: Vec<&str> = known.into_iter().collect();
    let begins_alike = || {
        let beginning: String = wrong.to_lowercase().chars().take(BEGINNING).collect();
        let mut same = known.iter().copied().filter(|word| word.starts_with(&beginning));
        let only = same.next().filter(|_| same.next().is_none());
        only.filter(|_| beginning.chars().count() == BEGINNING)
    };
    slip_of(wrong, known.iter().copied()).or_else(begins_alike)
}

/// The words to choose from, with the nearest one first if there is one.
pub(crate) fn choices(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known.iter().copied()) {
        Some(near) => format!("perhaps `{near}`? It is one of {}", known.join(", ")),
        None => format!("it is one of {}", known.join(", ")),
    }
}

/// Reads the name of an agent from a command line.
pub(crate) fn agent(name: &str) -> Result<Agent, String> {
    Agent::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Agent::ALL.iter().map(|agent| agent.name()).collect();
        choices(name, &names)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_or_another_form_of_a_word_is_recognised_and_nothing_else() {
        let known = ["success", "failure", "denied", "interrupted"];
        assert_eq!(nearest("sucess", known), Some("success"));
        assert_eq!(nearest("deny", known), Some("denied"));
        assert_eq!(nearest("Failed", known), Some("failure"));
        for strange in ["x", "", "blue", "de"] {
            assert_eq!(nearest(strange, known), None, "{strange}");
        }
        assert_eq!(choices("bad", &["one", "two"]), "it is one of one, two");
    }
}
