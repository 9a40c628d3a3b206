//! What git takes of ours by taking what it does not keep: `git clean`, `git stash`, and its lists of such files.

use super::Case;
use super::places::is_within;
use super::reach::{Ours, changes_what_is_found, wild};
use crate::effects::path::absolute_str;
use crate::effects::{Run, Text, git_subcommand};

/// The first thing of ours that a run of git would take along, or hands on to what changes it.
pub(super) fn taken(case: &Case<'_>, run: &Run) -> Option<Ours> {
    let (sub, rest) = git_subcommand(&run.args)?;
    // Lists of git's are read only where something is taken by them.
    let is_concerned = match sub {
        "clean" => true,
        "stash" => stashes(rest, false),
        "ls-files" | "check-ignore" => changes_what_is_found(case),
        "sparse-checkout" => return left_out(case, rest),
        "status" => has_option(rest, "--ignored") && changes_what_is_found(case),
        _ => false,
    };
    if !is_concerned {
        return None;
    }
    let folder = git_folder(run);
    let untracked = Untracked::of(case);
    let is_taken = |ours: &Ours| {
        let ignored = untracked.ignores(&ours.path);
        match sub {
            "clean" => cleans(rest, &folder, &ours.path, ignored),
            "stash" => is_within(&ours.path, &folder) && stashes(rest, ignored),
            "ls-files" => lists(rest, &folder, &ours.path, ignored),
            _ => ignored,
        }
    };
    let taken = untracked.files.iter().position(is_taken)?;
    untracked.files.into_iter().nth(taken)
}

/// What is there of ours that git does not keep.
struct Untracked {
    files: Vec<Ours>,
    project: String,
    /// Patterns of what git passes over.
    ignored: Vec<String>,
}

/// Bytes of git's list of files, and of a list of what it passes over, that are read.
const MAX_INDEX: usize = 16 * 1024 * 1024;
const MAX_IGNORED: usize = 64 * 1024;

impl Untracked {
    fn of(case: &Case<'_>) -> Self {
        let fs = case.ctx.fs;
        let (project, home) = (case.ctx.project.trim_end_matches('/'), case.ctx.home.trim_end_matches('/'));
        let index = fs.content(&format!("{project}/.git/index"), MAX_INDEX);
        // Where the list cannot be read, the client's settings count as kept: most projects keep them. The fourth kind of
        // list does not write names out.
        let is_kept = |name: &str| match &index {
            Some(index) if index.get(4..8) != Some(&[0, 0, 0, 4]) => {
                index.windows(name.len()).any(|part| part == name.as_bytes())
            }
            _ => true,
        };
        let mut files = vec![Ours { path: format!("{project}/.context-graph"), is_folder: true }];
        for name in [".claude/settings.json", ".claude/settings.local.json"] {
            if !is_kept(name) {
                files.push(Ours { path: format!("{project}/{name}"), is_folder: false });
            }
        }
        files.retain(|ours| fs.entry(&ours.path).is_some());
        let mut ignored = Vec::new();
        for list in [
            format!("{project}/.gitignore"),
            format!("{project}/.git/info/exclude"),
            format!("{project}/.claude/.gitignore"),
            format!("{home}/.config/git/ignore"),
            format!("{home}/.gitignore_global"),
            format!("{home}/.gitignore"),
        ] {
            let content =
                if files.iter().any(|ours| !ours.is_folder) { fs.content(&list, MAX_IGNORED) } else { None };
            let lines = String::from_utf8_lossy(&content.unwrap_or_default()).into_owned();
            ignored.extend(lines.lines().map(|line| line.trim().trim_matches('/').to_owned()));
        }
        ignored.retain(|pattern| !pattern.is_empty() && !pattern.starts_with(['#', '!']));
        Self { files, project: project.to_owned(), ignored }
    }

    /// Whether git passes over a file, or over a folder on the way to it. Our state brings a list of its own.
    fn ignores(&self, path: &str) -> bool {
        let below = path[self.project.len()..].trim_start_matches('/');
        if below.starts_with(".context-graph") {
            return true;
        }
        let name = below.rsplit('/').next().unwrap_or(below);
        self.ignored.iter().any(|pattern| {
            let pattern = pattern.trim_start_matches("**/").trim_end_matches("/**").trim_end_matches("/*");
            wild(pattern, below) || wild(pattern, name) || wild(pattern, ".claude")
        })
    }
}

/// The settings that git keeps and a choice of folders leaves out.
fn left_out(case: &Case<'_>, rest: &[Text]) -> Option<Ours> {
    let path = format!("{}/.claude/settings.json", case.ctx.project.trim_end_matches('/'));
    let chooses = matches!(rest.first().map(Text::known), Some("set" | "init"));
    let is_in = |word: &str| word.contains(".claude") && !word.starts_with('!') || word == "/*";
    let is_named = rest.iter().map(Text::known).any(is_in)
        && !rest.iter().any(|arg| arg.known().starts_with("!.claude"));
    (chooses && !is_named && case.ctx.fs.entry(&path).is_some()).then_some(Ours { path, is_folder: false })
}

fn has_option(rest: &[Text], option: &str) -> bool {
    rest.iter().any(|arg| arg.known() == option || arg.prefix().starts_with(&format!("{option}=")))
}

/// Whether `git ls-files` lists a file that git does not keep.
fn lists(rest: &[Text], folder: &str, ours: &str, ignored: bool) -> bool {
    let words = || rest.iter().map(Text::known).take_while(|word| *word != "--");
    let short = |letter| {
        words().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let others = short('o') || has_option(rest, "--others");
    let only_ignored = short('i') || has_option(rest, "--ignored");
    let passes_over = ["--exclude-standard", "--exclude-per-directory", "--exclude-from"]
        .iter()
        .any(|o| has_option(rest, o));
    let named: Vec<&str> =
        rest.iter().map(Text::known).filter(|word| !word.starts_with('-') && !word.is_empty()).collect();
    let is_meant = if named.is_empty() {
        is_within(ours, folder)
    } else {
        named.iter().any(|name| {
            let place = absolute_str(name, folder);
            is_within(ours, &place) || is_within(&place, ours) || wild(&place, ours)
        })
    };
    others && is_meant && if only_ignored { ignored } else { !(passes_over && ignored) }
}

/// The folder that git works in.
fn git_folder(run: &Run) -> String {
    let cwd = run.cwd.known();
    match run.args.as_slice() {
        [option, folder, ..] if option.known() == "-C" => absolute_str(folder.known(), cwd),
        _ => cwd.to_owned(),
    }
}

/// Whether `git clean` takes a file along that git does not keep: with `-x` all of them, with `-X` those it passes over, else
/// the others.
fn cleans(rest: &[Text], folder: &str, ours: &str, ignored: bool) -> bool {
    let (mut forced, mut all, mut only_ignored, mut folders, mut dry) = (false, false, false, false, false);
    let (mut kept, mut named) = (Vec::new(), Vec::new());
    let mut words = rest.iter().map(Text::known);
    let mut only_paths = false;
    while let Some(word) = words.next() {
        match word {
            _ if only_paths => named.push(word),
            "--" => only_paths = true,
            "--force" => forced = true,
            "--dry-run" => dry = true,
            "-e" | "--exclude" => kept.extend(words.next()),
            _ if word.starts_with("--exclude=") => kept.extend(word.strip_prefix("--exclude=")),
            _ if word.starts_with("--") => {}
            _ if word.starts_with('-') => {
                // `-xdfe pattern`, `-xdfepattern`.
                let (letters, pattern) =
                    word.split_once('e').map_or((word, None), |(head, tail)| (head, Some(tail)));
                forced |= letters.contains('f');
                all |= letters.contains('x');
                only_ignored |= letters.contains('X');
                folders |= letters.contains('d');
                dry |= letters.contains('n');
                match pattern {
                    Some("") => kept.extend(words.next()),
                    Some(pattern) => kept.push(pattern),
                    None => {}
                }
            }
            _ => named.push(word),
        }
    }
    let is_kept = kept.iter().any(|pattern| {
        let pattern = pattern.trim_matches('/');
        ours.split('/').any(|name| wild(pattern, name)) || wild(&format!("*/{pattern}"), ours)
    });
    let is_meant = if named.is_empty() {
        folders && is_within(ours, folder)
    } else {
        named.iter().any(|name| {
            let place = absolute_str(name.trim_start_matches(":/"), folder);
            is_within(ours, &place) || is_within(&place, ours) || wild(&place, ours)
        })
    };
    forced && (all || only_ignored == ignored) && !dry && !is_kept && is_meant
}

/// `git stash -u` takes files along that git does not keep, `--all` those too that it passes over.
fn stashes(rest: &[Text], ignored: bool) -> bool {
    let words = || rest.iter().map(Text::known).take_while(|word| *word != "--");
    words().find(|word| !word.starts_with('-')).is_none_or(|sub| matches!(sub, "push" | "save"))
        && words().any(|word| {
            let has = |long: &str, letter: char| {
                word == long || word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
            };
            has("--all", 'a') || !ignored && has("--include-untracked", 'u')
        })
}
