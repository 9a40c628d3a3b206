//! The files that a project's last sessions worked on. The next session is likely to start with them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Work;
use super::digest::shown;
use crate::gwt::numeric::{ln, narrow};

/// How many sessions count.
pub const REMEMBERED_SESSIONS: usize = 10;
/// How many files are kept for the first prompt to choose from.
const KEPT: usize = 40;
/// How many are named at the start of a session, and with a prompt.
const NAMED: usize = 10;
const POINTED: usize = 6;
/// The extra weight of a file whose path contains a word of the prompt.
const WORD: f32 = 0.5;
/// Shorter words are ignored: they occur in every path.
const SHORTEST: usize = 4;

/// A file that sessions worked on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RememberedFile {
    /// Its path, relative to the project.
    pub path: String,
    /// Its weight.
    pub weight: f32,
}

/// The files of these sessions, newest session first, each with its project's root. A file weighs more with
/// more uses and in newer sessions.
pub fn remember<'a>(sessions: impl IntoIterator<Item = (&'a Work, &'a str)>) -> Vec<RememberedFile> {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for (age, (work, project)) in (1u32..).zip(sessions.into_iter().take(REMEMBERED_SESSIONS)) {
        for file in work.files.iter() {
            let path = shown(&file.path, project, &work.folder);
            let weight = (1.0 + ln(1.0 + f64::from(file.uses.count()))) / f64::from(age).sqrt();
            *weights.entry(path).or_default() += weight;
        }
    }
    let mut files: Vec<(String, f64)> = weights.into_iter().collect();
    files.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    files.truncate(KEPT);
    files.into_iter().map(|(path, weight)| RememberedFile { path, weight: narrow(weight) }).collect()
}

/// The files that are named at the start of a session.
pub(super) fn named(files: &[RememberedFile]) -> impl Iterator<Item = &str> {
    files.iter().take(NAMED).map(|file| file.path.as_str())
}

/// The files that a prompt's words point to, without those named at the start.
pub(super) fn pointed_to(files: &[RememberedFile], prompt: &str) -> Vec<String> {
    let prompt = prompt[..prompt.floor_char_boundary(4_000)].to_lowercase();
    let words: Vec<&str> = prompt
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORTEST)
        .collect();
    let hits = |path: &str| {
        let path = path.to_lowercase();
        let names = path.split(|c: char| !c.is_alphanumeric());
        u16::try_from(names.filter(|name| words.contains(name)).count()).unwrap_or(u16::MAX)
    };
    let mut ranked: Vec<(&RememberedFile, u16, f32)> = files
        .iter()
        .map(|file| (file, hits(&file.path)))
        .map(|(file, hits)| (file, hits, file.weight * (1.0 + WORD * f32::from(hits))))
        .collect();
    ranked.sort_by(|a, b| b.2.total_cmp(&a.2));
    let told: Vec<&str> = named(files).collect();
    let news =
        ranked.iter().take(NAMED).filter(|(file, hits, _)| *hits > 0 && !told.contains(&file.path.as_str()));
    news.take(POINTED).map(|(file, ..)| file.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(count: u16) -> Vec<RememberedFile> {
        let file =
            |n: u16| RememberedFile { path: format!("src/part{n}/mod.rs"), weight: 9.0 - f32::from(n) / 9.0 };
        (0..count).map(file).collect()
    }

    #[test]
    fn a_prompt_points_to_what_it_names_and_was_not_told() {
        let mut all = files(12);
        all.push(RememberedFile { path: "src/parser/lexer.rs".to_owned(), weight: 7.0 });
        assert_eq!(pointed_to(&all, "why does the Parser's lexer loop?"), ["src/parser/lexer.rs"]);
        assert_eq!(pointed_to(&all, "look at part1"), [""; 0], "it was told at the start");
        assert_eq!(pointed_to(&all, "go on"), [""; 0]);
    }
}
