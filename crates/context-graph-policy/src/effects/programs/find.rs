//! `find` and `fd`: which files they reach, and what they do to them.

use super::xargs::replaced;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Piece, Run, Text};
use crate::programs::Invocation;

/// Placeholder name for files that `find` selects by age, size or owner.
pub(crate) const NARROWED: &str = "picked-by-find";

impl Shell<'_> {
    pub(super) fn find(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let run = call.run;
        match run.name.as_str() {
            "find" | "gfind" | "bfs" => {}
            "fd" | "fdfind" => {
                let at = run
                    .args
                    .iter()
                    .position(|arg| matches!(arg.known(), "-x" | "-X" | "--exec" | "--exec-batch"));
                if let (Some(at), Some(found)) = (at, reported(call)) {
                    self.run_on(&run.args[at + 1..], &found, stdin);
                    if let Some(inside) = contents(&found) {
                        self.run_on(&run.args[at + 1..], &inside, stdin);
                    }
                }
                return true;
            }
            _ => return false,
        }
        let found = reported_all(run);
        let mut at = 0;
        while at < run.args.len() {
            match run.args[at].known() {
                "-delete" => {
                    for target in &found {
                        self.delete(target, "find", true);
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let rest = &run.args[at + 1..];
                    let end =
                        rest.iter().position(|arg| matches!(arg.known(), ";" | "+")).unwrap_or(rest.len());
                    for file in self.found_here(run) {
                        self.run_on(&rest[..end], &file, stdin);
                    }
                    for target in &found {
                        self.run_on(&rest[..end], target, stdin);
                        if let Some(inside) = contents(target) {
                            self.run_on(&rest[..end], &inside, stdin);
                        }
                    }
                    at += end;
                }
                "-fprint" | "-fprintf" | "-fls" | "-fprint0" => {
                    if let Some(file) = run.args.get(at + 1) {
                        self.touch(Access::Write, file, "find");
                    }
                }
                _ => {}
            }
            at += 1;
        }
        true
    }

    /// Existing files with a searched name, directly in a start folder. Only their full path is known, so only these can
    /// be read.
    fn found_here(&self, run: &Run) -> Vec<Text> {
        let starts = run.args.iter().take_while(|arg| !arg.prefix().starts_with(['-', '(', '!']));
        let starts: Vec<&str> = starts.filter_map(Text::literal).collect();
        let starts = if starts.is_empty() { vec!["."] } else { starts };
        let asked = run.args.windows(2).filter(|pair| pair[0].known() == "-name");
        let names: Vec<&str> = asked.filter_map(|pair| pair[1].literal()).take(4).collect();
        let files =
            starts.iter().take(4).flat_map(|start| names.iter().map(move |name| format!("{start}/{name}")));
        files.filter(|file| self.is_file(file)).map(Text::lit).collect()
    }

    fn run_on(&mut self, command: &[Text], target: &Text, stdin: &Flow) {
        let mut argv: Vec<Text> = command.iter().map(|arg| replaced(arg, "{}", target)).collect();
        // `fd -x` appends the path if the command has no placeholder.
        if !command.iter().any(|arg| arg.known().contains("{}")) {
            argv.push(target.clone());
        }
        let flow = self.run(argv, Vec::new(), stdin);
        self.end_pipeline(&flow);
    }
}

/// Everything in a folder, for a search that reports the folder itself.
pub(super) fn contents(folder: &Text) -> Option<Text> {
    folder.literal()?;
    let mut inside = folder.clone();
    inside.push_str("/");
    inside.push(Piece::Hole(Origin::Below));
    Some(inside)
}

/// What the search reports for its first start folder.
pub(super) fn reported(call: &Invocation<'_>) -> Option<Text> {
    let run = call.run;
    if !run.name.starts_with("fd") {
        return reported_all(run).into_iter().next();
    }
    // The words after `-x` belong to the command.
    let ends = |arg: &Text| matches!(arg.known(), "-x" | "-X" | "--exec" | "--exec-batch");
    let until = run.args.iter().position(ends).unwrap_or(run.args.len());
    let searched = Run { args: run.args[..until].to_vec(), ..run.clone() };
    let call = crate::programs::read(&searched, call.rows.first().copied());
    let words = call.operands();
    let mut text = words.get(1).map_or_else(|| Text::lit("."), |start| (*start).clone());
    let pattern = words.first().map_or("", |pattern| pattern.known());
    if let Some(extension) = call.value("-e") {
        text.push_str("/");
        text.push(Piece::Hole(Origin::Below));
        text.push_globbed(&format!("/*.{}", extension.known()));
    } else if !matches!(pattern, "" | "." | ".*") {
        text.push_str("/");
        text.push(Piece::Hole(Origin::Below));
        text.push_str("/");
        // A pattern that is one whole name: `^\.env$`.
        let whole = pattern.trim_start_matches('^').trim_end_matches('$').replace("\\.", ".");
        text.push_globbed(if pattern.starts_with('^') { &whole } else { pattern });
    }
    Some(text)
}

/// The paths that `find` reports for each start folder: any depth, ending in the names it asks for. Without a
/// name it also reports the folder itself.
pub(super) fn reported_all(run: &Run) -> Vec<Text> {
    let mut starts: Vec<Text> = run
        .args
        .iter()
        .skip_while(|arg| matches!(arg.known(), "-L" | "-H" | "-P"))
        .take_while(|arg| !arg.prefix().starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    if starts.is_empty() {
        starts.push(Text::lit("."));
    }
    let or = |arg: &Text| matches!(arg.known(), "-o" | "-or");
    let either = run.args.iter().any(or);
    // `-prune -o` only says what is excluded.
    let or_anything = run.args.windows(2).any(|pair| or(&pair[1]) && pair[0].known() != "-prune");
    let mut names: Vec<String> = Vec::new();
    let mut path = None;
    let mut narrowed = false;
    let mut empty = run.args.last().is_some_and(|arg| arg.known() == "-empty");
    for (at, pair) in run.args.windows(2).enumerate() {
        match pair[0].known() {
            // An exclusion does not say what is selected.
            _ if is_left_out(run, at) => {}
            // The shell expands an unquoted pattern first, but usually nothing matches here and the pattern
            // stays as it is.
            "-name" | "-iname" => names.push(pair[1].to_string()),
            "-regex" | "-iregex" if by_ending(pair[1].known()).is_some() => {
                names.extend(by_ending(pair[1].known()));
            }
            "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" => path = Some(pair[1].known()),
            "-empty" => (narrowed, empty) = (true, true),
            "-size" if matches!(pair[1].known(), "0" | "0c") => (narrowed, empty) = (true, true),
            // Nearly every file is larger than zero.
            "-size" if pair[1].known().starts_with("+0") => {}
            "-mtime" | "-mmin" | "-newer" | "-size" | "-atime" | "-user" | "-perm" | "-ctime" => {
                narrowed = true;
            }
            _ => {}
        }
    }
    // With `-o`, other files may match too, so the tests narrow nothing.
    if or_anything {
        (narrowed, empty) = (false, false);
    }
    // If all names must match, one of them is enough; if any may match, each counts.
    if !either && names.len() > 1 {
        names.drain(..names.len() - 1);
    }
    let removes =
        run.args.iter().any(|arg| matches!(arg.known(), "-delete" | "rm" | "unlink" | "shred" | "mv"));
    names.retain(|name| !(matches!(name.as_str(), "*" | "*.*") || name == ".*" && removes));
    let most = if starts.len() > 8 { 1 } else { 8 };
    let mut endings: Vec<String> = names.iter().take(most).map(|name| ending(Some(name), path)).collect();
    if endings.is_empty() {
        endings.push(ending(None, path));
    }
    let reports = |mut start: Text, below: &str| {
        if below.is_empty() && !narrowed {
            return start;
        }
        start.push_str("/");
        start.push(Piece::Hole(Origin::Below));
        start.push_str("/");
        if below.is_empty() {
            start.push_str(if empty { "empty" } else { NARROWED });
        } else {
            start.push_globbed(below);
        }
        start
    };
    let each =
        |start: Text| endings.iter().map(move |below| reports(start.clone(), below)).collect::<Vec<_>>();
    starts.into_iter().flat_map(each).collect()
}

/// Whether a test says what is excluded: `! -name x`, `-path x -prune -o`.
fn is_left_out(run: &Run, at: usize) -> bool {
    let negated = at.checked_sub(1).is_some_and(|before| matches!(run.args[before].known(), "!" | "-not"));
    let pruned = run.args.get(at + 2..).is_some_and(|after| match after {
        [prune, or, ..] => prune.known() == "-prune" && or.known().starts_with("-o"),
        _ => false,
    });
    negated || pruned
}

/// The glob for a pattern such as `.*\.rs`.
fn by_ending(pattern: &str) -> Option<String> {
    let ending = pattern.strip_prefix(".*\\.")?.trim_end_matches('$');
    (!ending.is_empty() && ending.chars().all(char::is_alphanumeric)).then(|| format!("*.{ending}"))
}

/// The end of the reported paths: `-path` gives the folders, `-name` the name.
fn ending(name: Option<&str>, path: Option<&str>) -> String {
    let path = path.unwrap_or("");
    let open = path.ends_with('*');
    // `./` is the start folder. The dot of a hidden folder belongs to its name.
    let below = path.trim_start_matches(['*', '/']);
    let mut below = below.strip_prefix("./").unwrap_or(below).trim_start_matches(['*', '/']);
    while let Some(rest) = below.strip_prefix("../").or_else(|| below.strip_prefix("./")) {
        below = rest;
    }
    let folders = below.trim_end_matches(['*', '/']).to_owned();
    match (folders.is_empty() || folders == ".", name) {
        (true, name) => name.unwrap_or("").to_owned(),
        (false, Some(name)) if open => format!("{folders}/{name}"),
        (false, None) if open => format!("{folders}/*"),
        (false, _) => folders,
    }
}
