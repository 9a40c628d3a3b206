//! Whether a command does the same as one that is excepted, however it is written.

use serde_json::Value;

use super::Case;
use crate::effects::{Effects, PathEffect, Run, Text};
use crate::programs::KnownPrograms;

/// Options that change what a program prints and nothing else.
const ONLY_PRINT: [&str; 3] = ["--quiet", "--verbose", "--progress"];

/// Whether the command of a call does the same as another command in its place. If anything about either is
/// unknown, it does not.
pub(super) fn does_the_same(case: &Case<'_>, command: &str) -> bool {
    if case.command.is_empty() {
        return false;
    }
    let Some(mut input) = case.input.as_object().cloned() else { return false };
    input.insert("command".to_owned(), Value::from(command));
    let other = crate::effects_under(case.config, case.tool, &Value::Object(input), case.ctx);
    other.is_ok_and(|other| is_same(case.effects, &other, case.known))
}

fn is_same(one: &Effects, other: &Effects, known: KnownPrograms<'_>) -> bool {
    let seen = |effects: &Effects| {
        effects.unknowns.is_empty()
            && effects.paths.iter().all(|effect| !effect.target.path.has_hole())
            && effects.sends.iter().all(|send| !send.host.has_hole())
            && effects
                .runs
                .iter()
                .all(|run| !run.cwd.has_hole() && run.args.iter().all(|arg| !arg.has_hole()))
    };
    seen(one)
        && seen(other)
        && one.sends == other.sends
        && one.privileges == other.privileges
        && one.disclosures == other.disclosures
        && one.scripts == other.scripts
        && one.made == other.made
        && one.fork_bomb == other.fork_bomb
        && one.paths.len() == other.paths.len()
        && one.paths.iter().zip(&other.paths).all(|(one, other)| is_same_path(one, other))
        && one.runs.len() == other.runs.len()
        && one.runs.iter().zip(&other.runs).all(|(run, twin)| {
            let surroundings =
                |run: &Run| (run.name.clone(), run.assigns.clone(), run.stdin.clone(), run.cwd.clone());
            let reads_alike =
                || read(run, one, known).is_some_and(|words| read(twin, other, known) == Some(words));
            surroundings(run) == surroundings(twin) && (run.args == twin.args || reads_alike())
        })
}

/// As `PartialEq`, except for how the path was written.
fn is_same_path(one: &PathEffect, other: &PathEffect) -> bool {
    let PathEffect { access, target, recursive, by, from_template } = one;
    (access, recursive, by, from_template)
        == (&other.access, &other.recursive, &other.by, &other.from_template)
        && (&target.path, &target.real) == (&other.target.path, &other.target.real)
}

/// Options by their full names, and operands.
type Read = (Vec<(String, Vec<String>)>, Vec<String>, Option<usize>);

/// A program's arguments in normal form: the same for every spelling and order of options, and for every way to write a path.
fn read(run: &Run, effects: &Effects, known: KnownPrograms<'_>) -> Option<Read> {
    let call = known.read(run);
    // What is not described, or runs another command, is compared word by word.
    if call.rows.is_empty() || call.rest.is_some() || call.given.iter().any(|given| given.option.is_none()) {
        return None;
    }
    let meant = |word: &Text| {
        let path = effects.paths.iter().map(|effect| &effect.target).find(|target| target.written == *word);
        path.map_or(word, |target| &target.path).to_string()
    };
    let mut given: Vec<(String, Vec<String>)> = call
        .given
        .iter()
        .filter(|given| !ONLY_PRINT.contains(&given.name.as_str()))
        .map(|given| (given.name.clone(), given.values.iter().map(meant).collect()))
        .collect();
    given.sort();
    given.dedup();
    let words = call.words.iter().map(|word| meant(word)).collect();
    Some((given, words, call.dashes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Verdict;
    use crate::config::{Exception, PolicyConfig};
    use crate::guards::testing::decide_with;

    fn passes(rule: &str, excepted: &str, command: &str) -> bool {
        let exception = Exception {
            rule: rule.to_owned(),
            path: None,
            command: Some(excepted.to_owned()),
            reason: "the release does this".to_owned(),
        };
        let config = PolicyConfig { exceptions: vec![exception], ..PolicyConfig::default() };
        *decide_with(config, "Bash", &json!({ "command": command })).verdict() == Verdict::None
    }

    #[test]
    fn an_exception_holds_for_what_a_command_does_however_it_is_spelt() {
        for (rule, excepted, others) in [
            (
                "destructive-git/force-push",
                "git push --force origin main",
                &[
                    "git push -f origin main",
                    "git push origin main --force",
                    "git  push -fq 'origin' main",
                    "git push --forc origin main",
                ][..],
            ),
            (
                "destructive-files/git-folder",
                "rm -rf .git",
                &["rm -fr .git/", "rm -r --force ./.git", "rm -rf /proj/app/.git"],
            ),
            ("destructive-git/reset-hard", "git reset --hard origin/main", &["git reset origin/main --hard"]),
        ] {
            assert!(passes(rule, excepted, excepted), "{excepted}");
            for other in others {
                assert!(passes(rule, excepted, other), "{excepted}: {other}");
            }
        }
    }

    #[test]
    fn an_exception_does_not_hold_for_a_command_that_does_something_else() {
        for (rule, excepted, others) in [
            (
                "destructive-git/force-push",
                "git push --force origin main",
                &[
                    "git push --force origin release main",
                    "git push --force upstream main",
                    "git push --force ./origin main",
                    "git push --force --no-verify origin main",
                    "git push --force --mirror origin main",
                    "git push --force origin $BRANCH",
                    "git push --force origin main && git push --force other main",
                    "cd /proj && git push --force origin main",
                    "git -C /other push --force origin main",
                    "GIT_DIR=/other git push --force origin main",
                ][..],
            ),
            (
                "destructive-files/git-folder",
                "rm -rf .git",
                &["rm -rf .git src/.git", "rm -rf sub/.git", "rm -rf .gi?"],
            ),
        ] {
            for other in others {
                assert!(!passes(rule, excepted, other), "{excepted}: {other}");
            }
        }
    }
}
