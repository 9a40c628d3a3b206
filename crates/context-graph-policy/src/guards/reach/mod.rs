//! Which of our own files `find` reaches: its tests are applied to the files that exist.

use super::places::is_within;
use super::{Case, listed, untracked};
use crate::effects::path::arrived;
use crate::effects::{Access, FileKind, FileSystem, Run, Text, agent_settings};

/// How many names of one of our folders are checked.
const MAX_NAMES: usize = 64;

/// A file or folder that must stay.
pub(super) struct Ours {
    pub(super) path: String,
    pub(super) is_folder: bool,
}

/// The first of our own files that a run would select and change or remove.
pub(super) fn reached(case: &Case<'_>, run: &Run) -> Option<Ours> {
    match run.name.as_str() {
        "find" | "gfind" | "bfs" => {
            // Files that `find` only reports may be changed by the command it runs, or by the next one in the
            // pipe.
            let changes = changes_what_is_found(case);
            if !changes && !run.has("-delete") {
                return None;
            }
            let find = Find::of(run, case.ctx.fs);
            ours(case).into_iter().find(|ours| find.removes(ours) || changes && find.reports(ours))
        }
        "git" | "hub" => untracked::taken(case, run).or_else(|| listed::named(case, &case.known.read(run))),
        _ => listed::named(case, &case.known.read(run)),
    }
}

/// Whether the call changes something whose path is only known when the command runs.
pub(super) fn changes_what_is_found(case: &Case<'_>) -> bool {
    case.effects.paths.iter().any(|effect| {
        matches!(effect.access, Access::Write | Access::Delete | Access::Permissions)
            && effect.target.path.has_hole()
    })
}

/// Our existing files: the state, the user's own folder, the settings that call us, and our program.
pub(super) fn ours(case: &Case<'_>) -> Vec<Ours> {
    let fs = case.ctx.fs;
    let (project, home) = (case.ctx.project.trim_end_matches('/'), case.ctx.home.trim_end_matches('/'));
    let mut found = Vec::new();
    let mut add = |path: String| match fs.kind(&path) {
        Some(FileKind::Folder) => {
            found.push(Ours { path, is_folder: true });
            true
        }
        Some(_) => {
            found.push(Ours { path, is_folder: false });
            false
        }
        None => false,
    };
    for folder in [format!("{project}/.context-graph"), format!("{home}/.config/context-graph")] {
        if !add(folder.clone()) {
            continue;
        }
        for name in fs.names(&folder, MAX_NAMES) {
            let inner = format!("{folder}/{name}");
            if add(inner.clone()) {
                for name in fs.names(&inner, MAX_NAMES) {
                    add(format!("{inner}/{name}"));
                }
            }
        }
    }
    for file in agent_settings::settings() {
        add(format!("{project}/{file}"));
        add(format!("{home}/{file}"));
    }
    add("/etc/claude-code/managed-settings.json".to_owned());
    fs.program().map(add);
    found
}

/// A call of `find`: its start folders and its tests.
struct Find<'r> {
    starts: Vec<(String, String)>,
    tests: Vec<&'r str>,
    depth: (usize, usize),
    prunes: bool,
}

impl<'r> Find<'r> {
    fn of(run: &'r Run, fs: &dyn FileSystem) -> Self {
        let words: Vec<&str> = run.args.iter().map(Text::known).collect();
        let begin = words.iter().position(|word| !matches!(*word, "-L" | "-H" | "-P")).unwrap_or(words.len());
        let end = words[begin..].iter().position(|word| word.starts_with(['-', '(', '!', ')']));
        let end = end.map_or(words.len(), |end| begin + end);
        let place = |start: &str| arrived(&Text::lit(start), &run.cwd, fs).known().to_owned();
        let mut starts: Vec<&str> = words[begin..end].to_vec();
        if starts.is_empty() {
            starts.push(".");
        }
        let tests = words[end..].to_vec();
        let bound = |option: &str| {
            let at = tests.iter().position(|word| *word == option)?;
            tests.get(at + 1)?.parse().ok()
        };
        Self {
            starts: starts.iter().map(|start| ((*start).to_owned(), place(start))).collect(),
            depth: (bound("-mindepth").unwrap_or(0), bound("-maxdepth").unwrap_or(usize::MAX)),
            // With `-depth`, `-prune` has no effect.
            prunes: !tests.contains(&"-depth"),
            tests,
        }
    }

    fn removes(&self, ours: &Ours) -> bool {
        self.tries(ours, |trial| trial.removed)
    }

    fn reports(&self, ours: &Ours) -> bool {
        self.tries(ours, |trial| trial.acted)
    }

    fn tries(&self, ours: &Ours, outcome: fn(&Trial<'_>) -> bool) -> bool {
        self.starts.iter().any(|(written, start)| {
            if !is_within(&ours.path, start) {
                return false;
            }
            let below = ours.path[start.trim_end_matches('/').len()..].trim_start_matches('/');
            let names: Vec<&str> = below.split('/').filter(|name| !name.is_empty()).collect();
            let at = |count: usize, is_folder: bool| {
                let mut path = written.trim_end_matches('/').to_owned();
                names[..count].iter().for_each(|name| path.extend(["/", *name]));
                Trial::new(&self.tests, path, is_folder).done()
            };
            let passed_over = self.prunes && (0..names.len()).any(|count| at(count, true).pruned);
            (self.depth.0..=self.depth.1).contains(&names.len())
                && !passed_over
                && outcome(&at(names.len(), ours.is_folder))
        })
    }
}

/// The tests of a `find`, applied to one path.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
struct Trial<'t> {
    tests: &'t [&'t str],
    at: usize,
    path: String,
    is_folder: bool,
    pruned: bool,
    acted: bool,
    removed: bool,
    has_action: bool,
}

impl<'t> Trial<'t> {
    fn new(tests: &'t [&'t str], path: String, is_folder: bool) -> Self {
        Self { tests, at: 0, path, is_folder, pruned: false, acted: false, removed: false, has_action: false }
    }

    fn done(mut self) -> Self {
        let fits = self.either(true, 0);
        // Without an action, `find` prints what matches.
        self.acted |= fits && !self.has_action;
        self
    }

    /// `a -o b`. If `a` decides the result, `b` is parsed but not applied.
    fn either(&mut self, live: bool, depth: u32) -> bool {
        let mut fits = self.all(live, depth);
        while matches!(self.peek(), Some("-o" | "-or" | ",")) {
            let list = self.peek() == Some(",");
            self.at += 1;
            let next = self.all(live && (list || !fits), depth);
            fits = if list { next } else { fits || next };
        }
        fits
    }

    fn all(&mut self, live: bool, depth: u32) -> bool {
        let mut fits = true;
        while let Some(word) = self.peek().filter(|word| !matches!(*word, "-o" | "-or" | ")" | ",")) {
            if matches!(word, "-a" | "-and") {
                self.at += 1;
                continue;
            }
            fits &= self.one(live && fits, depth);
        }
        fits
    }

    fn one(&mut self, live: bool, depth: u32) -> bool {
        let Some(word) = self.peek() else { return true };
        self.at += 1;
        match word {
            "!" | "-not" => !self.one(live, depth),
            "(" if depth < 32 => {
                let fits = self.either(live, depth + 1);
                self.at += usize::from(self.peek() == Some(")"));
                fits
            }
            "-prune" => {
                self.pruned |= live;
                true
            }
            "-delete" => {
                self.removed |= live;
                self.act(live)
            }
            "-print" | "-print0" | "-ls" => self.act(live),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                while self.next().is_some_and(|word| !matches!(word, ";" | "+")) {}
                self.act(live)
            }
            "-fprint" | "-fprint0" | "-fls" | "-printf" => {
                self.next();
                self.act(live)
            }
            "-fprintf" => {
                self.at += 2;
                self.act(live)
            }
            "-name" => self.next().is_none_or(|pattern| wild(pattern, self.name())),
            "-iname" => self.next().is_none_or(|pattern| wild_any_case(pattern, self.name())),
            "-path" | "-wholename" => self.next().is_none_or(|pattern| wild(pattern, &self.path)),
            "-ipath" | "-iwholename" => self.next().is_none_or(|pattern| wild_any_case(pattern, &self.path)),
            "-regex" | "-iregex" => self.next().is_none_or(|pattern| can_fit(pattern, &self.path)),
            "-type" => self.next().is_none_or(|kinds| kinds.contains(if self.is_folder { 'd' } else { 'f' })),
            // None of our files is empty or a link.
            "-empty" | "-false" => false,
            // These take no value and may match.
            "-true" | "-depth" | "-d" | "-mount" | "-xdev" | "-follow" | "-readable" | "-writable"
            | "-executable" | "-noleaf" | "-nouser" | "-nogroup" | "-daystart" | "-quit" | ")" => true,
            // All others take a value and may match.
            _ => {
                self.next();
                true
            }
        }
    }

    fn act(&mut self, live: bool) -> bool {
        self.acted |= live;
        self.has_action = true;
        true
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    fn peek(&self) -> Option<&'t str> {
        self.tests.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'t str> {
        let word = self.peek();
        self.at += 1;
        word
    }
}

fn wild_any_case(pattern: &str, text: &str) -> bool {
    wild(&pattern.to_ascii_lowercase(), &text.to_ascii_lowercase())
}

/// Whether a text matches a pattern in which `*` also matches slashes. A character class matches any character.
pub(super) fn wild(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        let (single, length) = match pattern.get(p) {
            Some(b'?') => (true, 1),
            Some(b'[') => {
                let end = pattern[p..].iter().skip(2).position(|c| *c == b']');
                end.map_or((text[t] == b'[', 1), |end| (true, end + 3))
            }
            Some(b'\\') => (pattern.get(p + 1) == Some(&text[t]), 2),
            Some(c) => (*c == text[t], 1),
            None => (false, 0),
        };
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if single {
            p += length;
            t += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, t) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == b'*')
}

/// Whether a path can match a regular expression: its plain words must occur in order.
pub(super) fn can_fit(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_end_matches('$').trim_start_matches('^').replace("\\.", ".");
    let mut rest = path;
    for word in pattern.split([']', '[', '(', ')', '|', '*', '+', '?', '{', '}', '\\']) {
        let word = word.trim_matches('.');
        if word.is_empty() || pattern.contains('|') {
            continue;
        }
        let Some(at) = rest.find(word) else { return false };
        rest = &rest[at + word.len()..];
    }
    true
}

#[cfg(test)]
mod tests;
