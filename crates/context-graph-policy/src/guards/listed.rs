//! A program lists files and another one changes them (`grep -rl word . | xargs rm`): which of our own files are in the list?

use super::Case;
use super::reach::{Ours, can_fit, ours, wild};
use super::untracked::is_tracked;
use crate::effects::path::absolute;
use crate::effects::{Access, Origin, Run, Text};
use crate::programs::Invocation;

/// How many bytes of a settings file are searched.
const MAX_CONTENT: usize = 64 * 1024;

/// The first of our own files that a run would list for a command that changes or removes it.
pub(super) fn named(case: &Case<'_>, call: &Invocation<'_>) -> Option<Ours> {
    let list = List::of(call)?;
    if !changes_what_is_listed(case) {
        return None;
    }
    ours(case).into_iter().find(|ours| list.names(case, ours))
}

/// Whether a change has a target that comes from the output of a command.
pub(super) fn changes_what_is_listed(case: &Case<'_>) -> bool {
    let reads = case.runs().any(|run| matches!(run.name.as_str(), "read" | "mapfile" | "readarray"));
    case.effects.paths.iter().any(|effect| {
        let path = &effect.target.path;
        matches!(effect.access, Access::Write | Access::Delete | Access::Permissions)
            && ([Origin::Output, Origin::File, Origin::Below].iter().any(|from| path.has_origin(*from))
                || reads && path.has_origin(Origin::Variable))
    })
}

/// A list of files: where it starts, and which files there it contains.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
struct List {
    /// Absolute paths, which may be patterns.
    starts: Vec<String>,
    /// Everything below is listed too.
    deep: bool,
    /// Hidden files are skipped.
    no_hidden: bool,
    /// Files that git ignores are skipped.
    no_ignored: bool,
    /// Only files that git tracks.
    only_tracked: bool,
    /// A folder whose name fits is listed with all that is in it.
    whole_folders: bool,
    /// One of these patterns must match a file's name.
    only: Vec<String>,
    /// None of these patterns may match it.
    without: Vec<String>,
    /// What a file must contain.
    word: Option<String>,
}

impl List {
    fn of(call: &Invocation<'_>) -> Option<Self> {
        let lists = call.has_any(&["-l", "-L", "--files", "--files-without-match", "-g"]);
        let values = |name: &str| call.values(name).map(ToString::to_string).collect::<Vec<_>>();
        let mut operands: Vec<&Text> = call.operands().to_vec();
        let mut list = Self::default();
        match call.run.name.as_str() {
            "grep" | "egrep" | "fgrep" | "zgrep" | "ggrep" | "ugrep" | "rgrep" if lists => {
                list.deep = call.has_any(&["-r", "-R"]) || call.run.name == "rgrep";
                list.only = values("--include");
                list.without = [values("--exclude"), values("--exclude-dir")].concat();
                list.take_word(call, &mut operands);
            }
            "rg" | "ag" | "ack" if lists => {
                let unrestricted = call.run.args.iter().map(Text::known).filter(|arg| is_unrestricted(arg));
                let level: usize = unrestricted.map(|arg| arg.matches('u').count()).sum();
                list.deep = true;
                list.no_hidden = level < 2 && !call.has("--hidden");
                list.no_ignored = level < 1 && !call.has("--no-ignore");
                let (out, only): (Vec<_>, Vec<_>) =
                    values("-g").into_iter().partition(|glob| glob.starts_with('!'));
                list.without = out.iter().map(|glob| glob.trim_matches(['!', '/', '*']).to_owned()).collect();
                let kinds = values("-t").into_iter().map(|kind| format!("*.{kind}"));
                list.only = only.into_iter().chain(kinds).collect();
                if !call.has("--files") {
                    list.take_word(call, &mut operands);
                }
            }
            "fd" | "fdfind" => {
                list.deep = true;
                list.no_hidden = !call.has_any(&["-H", "-u"]);
                list.no_ignored = !call.has_any(&["-I", "-u"]);
                list.only = values("-e").into_iter().map(|ending| format!("*.{ending}")).collect();
                list.without = values("-E");
                list.whole_folders = !values("-t").iter().any(|kind| matches!(kind.as_str(), "f" | "file"));
                // The words after `-x` are a command.
                let is_own = |word: &Text| !commanded(call.run).iter().any(|inner| std::ptr::eq(inner, word));
                operands.retain(|word| is_own(word));
                if !operands.is_empty() {
                    list.only.extend(glob_of(&operands.remove(0).to_string()));
                }
            }
            "git" if call.word(0) == "grep" && lists => {
                list.deep = true;
                list.only_tracked = !call.has_any(&["--untracked", "--no-index"]);
                list.no_ignored = true;
                list.take_word(call, &mut operands);
            }
            "du" | "tree" => {
                list.deep = true;
                list.no_hidden = call.run.name == "tree" && !call.run.args.iter().any(is_all);
            }
            "stat" | "wc" | "file" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "b2sum" | "cksum"
            | "sum" | "shasum" | "realpath" | "readlink" | "compgen" | "ls" => {}
            _ => return None,
        }
        if operands.is_empty() && list.deep {
            list.starts.push(call.run.cwd.to_string());
        }
        list.starts.extend(operands.iter().map(|start| absolute(start, &call.run.cwd).to_string()));
        // `compgen` expands a quoted pattern itself.
        if call.run.name == "compgen" {
            let pattern = call.run.args.last();
            list.starts.extend(pattern.map(|glob| absolute(glob, &call.run.cwd).to_string()));
        }
        Some(list)
    }

    /// Takes the searched text out of the operands.
    fn take_word(&mut self, call: &Invocation<'_>, operands: &mut Vec<&Text>) {
        let given = call.value("-e").map(ToString::to_string);
        let first = (given.is_none() && !call.has("-f") && !operands.is_empty()).then(|| operands.remove(0));
        // Most files and most lines do not match.
        if !call.has_any(&["-L", "--files-without-match", "-v", "-i"]) {
            self.word = given.or_else(|| first.and_then(|word| word.literal().map(str::to_owned)));
        }
    }

    fn names(&self, case: &Case<'_>, ours: &Ours) -> bool {
        let name = ours.path.rsplit('/').next().unwrap_or(&ours.path);
        let is_state = !ours.path.contains("/.claude/");
        let below = |start: &str| ours.path.get(start.trim_end_matches('/').len()..).unwrap_or_default();
        let is_passed_over = |start: &str| {
            let below = below(start);
            self.no_hidden && below.split('/').any(|part| part.starts_with('.'))
                || self.no_ignored && is_state && below.contains("context-graph")
        };
        let is_picked = |start: &str| {
            let fits = |glob: &String| {
                wild(glob, name) || self.whole_folders && below(start).split('/').any(|part| wild(glob, part))
            };
            self.only.is_empty() || self.only.iter().any(fits)
        };
        (!ours.is_folder || self.whole_folders)
            && (!self.only_tracked || is_tracked(case, &ours.path))
            && self
                .starts
                .iter()
                .any(|start| fits(start, &ours.path, self.deep) && !is_passed_over(start) && is_picked(start))
            && !self.without.iter().any(|glob| ours.path.split('/').any(|part| wild(glob, part)))
            && self.word.as_ref().is_none_or(|word| is_state || contains(case, ours, word))
    }
}

/// The words of the command that `fd` runs for what it finds.
fn commanded(run: &Run) -> &[Text] {
    let begins = |arg: &Text| matches!(arg.known(), "-x" | "-X" | "--exec" | "--exec-batch");
    run.args.iter().position(begins).map_or(&[], |at| &run.args[at..])
}

/// The glob for a regular expression that is a plain name with ends: `^\\.env$`. `None` if it is more than that.
fn glob_of(pattern: &str) -> Option<String> {
    let (from, to) = (pattern.starts_with('^'), pattern.ends_with('$'));
    let name = pattern.trim_start_matches('^').trim_end_matches('$').replace("\\.", ".");
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let star = |bound: bool| if bound { "" } else { "*" };
    plain.then(|| format!("{}{name}{}", star(from), star(to)))
}

/// Whether a settings file contains the searched text. Our records contain every command that was run,
/// including this one.
fn contains(case: &Case<'_>, ours: &Ours, word: &str) -> bool {
    let content = case.ctx.fs.content(&ours.path, MAX_CONTENT);
    content.is_none_or(|content| {
        let text = String::from_utf8_lossy(&content).into_owned();
        text.lines().any(|line| can_fit(word, line))
    })
}

/// Whether a path matches a pattern name by name, or is below a match. Patterns skip hidden names.
fn fits(pattern: &str, path: &str, deep: bool) -> bool {
    let (patterns, names) = (pattern.trim_end_matches('/').split('/'), path.split('/'));
    let (wanted, there) = (patterns.clone().count(), names.clone().count());
    let each = |(pattern, name): (&str, &str)| {
        wild(pattern, name) && (!name.starts_with('.') || pattern.starts_with('.'))
    };
    (if deep { wanted <= there } else { wanted == there }) && patterns.zip(names).all(each)
}

/// `-u`, `-uu` and the like.
fn is_unrestricted(arg: &str) -> bool {
    arg.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|c| c.is_ascii_lowercase()))
        && arg.contains('u')
        || arg == "--unrestricted"
}

/// A cluster of short options that contains `-a`.
fn is_all(arg: &Text) -> bool {
    arg.known().starts_with('-') && !arg.known().starts_with("--") && arg.known().contains('a')
}
