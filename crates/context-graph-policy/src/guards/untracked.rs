//! Our own files that git takes because it does not track them: `git clean`, `git stash`, and lists of
//! untracked files.

use super::Case;
use super::git_index::Index;
use super::listed::changes_what_is_listed;
use super::places::is_within;
use super::reach::{Ours, changes_what_is_found, wild};
use crate::effects::path::{absolute_str, arrived};
use crate::effects::{FileSystem, Run, Text, agent_settings};
use crate::programs::Invocation;

/// The first of our own files that a run of git would take, or passes to a command that changes it.
pub(super) fn taken(case: &Case<'_>, run: &Run) -> Option<Ours> {
    let call = case.known.read(run);
    let sub = call.word(0);
    if let Some(state) = force_tracked(case, &call) {
        return Some(state);
    }
    // git's lists are only read if the subcommand can take untracked files.
    if sub == "stash"
        && matches!(call.word(1), "" | "push" | "save")
        && !call.words.iter().skip(2).any(|word| is_elsewhere(word.known()))
        && let Some(settings) = changed(case)
    {
        return Some(settings);
    }
    let is_concerned = match sub {
        "clean" => true,
        "stash" => stashes(case, &call, false),
        "ls-files" | "check-ignore" => changes_what_is_found(case),
        "sparse-checkout" => return left_out(case, &call),
        "status" => changes_what_is_listed(case),
        "pull" | "rebase" | "merge" if call.has("--autostash") => return changed(case),
        _ => false,
    };
    if !is_concerned {
        return None;
    }
    let folder = git_folder(&call, case.ctx.fs).known().to_owned();
    let untracked = Untracked::of(case);
    let is_taken = |ours: &Ours| {
        let ignored = untracked.ignores(&ours.path);
        match sub {
            "clean" => cleans(&call, &folder, &ours.path, ignored),
            "stash" => is_within(&ours.path, &folder) && stashes(case, &call, ignored),
            "status" => ignored == call.has("--ignored"),
            "ls-files" => lists(&call, &folder, &ours.path, ignored),
            _ => ignored,
        }
    };
    let taken = untracked.files.iter().position(is_taken)?;
    untracked.files.into_iter().nth(taken)
}

/// Our existing files that git does not track.
struct Untracked {
    files: Vec<Ours>,
    project: String,
    /// Patterns of files that git ignores.
    ignored: Vec<String>,
}

/// How many bytes of an ignore file, and of settings, are read.
const MAX_IGNORED: usize = 64 * 1024;
const MAX_SETTINGS: usize = 64 * 1024;

impl Untracked {
    fn of(case: &Case<'_>) -> Self {
        let fs = case.ctx.fs;
        let (project, home) = (case.ctx.project.trim_end_matches('/'), case.ctx.home.trim_end_matches('/'));
        // If the index cannot be read, the client's settings count as tracked, as in most projects.
        let index = Index::of(case);
        let is_kept = |name: &str| index.as_ref().is_none_or(|index| index.has(name));
        let mut files = vec![Ours { path: format!("{project}/.context-graph"), is_folder: true }];
        files.extend(
            agent_settings::settings()
                .map(|name| Ours { path: format!("{project}/{name}"), is_folder: false }),
        );
        files.retain(|ours| fs.kind(&ours.path).is_some());
        files.retain(|ours| ours.is_folder || !is_kept(&ours.path[project.len() + 1..]));
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

    /// Whether git ignores a file or a folder above it. Our state has its own ignore file.
    fn ignores(&self, path: &str) -> bool {
        let below = path[self.project.len()..].trim_start_matches('/');
        if below.starts_with(".context-graph") {
            return true;
        }
        let name = below.rsplit('/').next().unwrap_or(below);
        self.ignored.iter().any(|pattern| {
            let pattern = pattern.trim_start_matches("**/").trim_end_matches("/**").trim_end_matches("/*");
            let folder = below.split('/').next().unwrap_or(below);
            wild(pattern, below) || wild(pattern, name) || wild(pattern, folder)
        })
    }
}

/// Whether a word of `git stash push` names files that are not settings.
fn is_elsewhere(word: &str) -> bool {
    !matches!(word, "." | ":/" | "*" | "--") && !agent_settings::is_near(word)
}

/// Whether git tracks this file of the project.
pub(super) fn is_tracked(case: &Case<'_>, path: &str) -> bool {
    let name = path.strip_prefix(case.ctx.project.trim_end_matches('/')).map(|name| name.trim_matches('/'));
    name.zip(Index::of(case)).is_some_and(|(name, index)| index.has(name))
}

/// Settings that git would revert: local ones, which are at most staged, and those whose size differs from
/// the one in the index.
fn changed(case: &Case<'_>) -> Option<Ours> {
    let index = Index::of(case)?;
    let fs = case.ctx.fs;
    agent_settings::settings().find_map(|name| {
        let path = format!("{}/{name}", case.ctx.project.trim_end_matches('/'));
        fs.kind(&path)?;
        let staged = index.size_of(name)?;
        let differs = || fs.content(&path, MAX_SETTINGS).is_some_and(|content| content.len() != staged);
        (name.contains("local") || differs()).then_some(Ours { path, is_folder: false })
    })
}

/// Tracked settings that a sparse checkout would leave out.
fn left_out(case: &Case<'_>, call: &Invocation<'_>) -> Option<Ours> {
    let project = case.ctx.project.trim_end_matches('/');
    if !matches!(call.word(1), "set" | "init") {
        return None;
    }
    agent_settings::settings().find_map(|name| {
        let path = format!("{project}/{name}");
        case.ctx.fs.kind(&path)?;
        let folder = name.split('/').next().unwrap_or(name);
        let is_in = |word: &str| word.contains(folder) && !word.starts_with('!') || word == "/*";
        let is_out = |word: &str| word.trim_start_matches("!/").trim_start_matches('!').starts_with(folder);
        let is_named =
            named(call).any(is_in) && !named(call).any(|word| word.starts_with('!') && is_out(word));
        let is_kept = name == ".claude/settings.json" || is_tracked(case, &path);
        (!is_named && is_kept).then_some(Ours { path, is_folder: false })
    })
}

/// The words after the subcommand.
fn named<'c>(call: &'c Invocation<'_>) -> impl Iterator<Item = &'c str> {
    call.words.iter().skip(1).map(|word| word.known()).filter(|word| !word.is_empty())
}

/// Whether `git ls-files` lists an untracked file.
fn lists(call: &Invocation<'_>, folder: &str, ours: &str, ignored: bool) -> bool {
    let passes_over = call.has_any(&["--exclude-standard", "--exclude-per-directory", "--exclude-from"]);
    let is_meant = if named(call).next().is_none() {
        is_within(ours, folder)
    } else {
        named(call).any(|name| {
            let place = absolute_str(name, folder);
            is_within(ours, &place) || is_within(&place, ours) || wild(&place, ours)
        })
    };
    call.has("--others")
        && is_meant
        && if call.has("--ignored") { ignored } else { !(passes_over && ignored) }
}

/// The folder that git works in.
fn git_folder(call: &Invocation<'_>, fs: &dyn FileSystem) -> Text {
    let before =
        call.given.iter().filter(|given| given.name == "-C").filter_map(|given| given.values.first());
    before.fold(call.run.cwd.clone(), |cwd, folder| arrived(folder, &cwd, fs))
}

/// The folder where `git init` creates a repository, if it is known.
pub(super) fn init_target(call: &Invocation<'_>, home: &str, fs: &dyn FileSystem) -> Option<String> {
    if call.word(0) != "init" {
        return None;
    }
    let named = call.words.get(1).map_or(".", |word| word.known());
    let named = named.strip_prefix('~').map_or_else(|| named.to_owned(), |rest| format!("{home}{rest}"));
    arrived(&Text::lit(named), &git_folder(call, fs), fs).literal().map(str::to_owned)
}

/// Our files that a project may commit, because people write them.
const SHARED: &[&str] = &["policy.toml", "config.toml", "policies", "signals", "actions", ".gitignore"];

/// Our state, if git is forced to track it although it is ignored. git could then restore an older state of it.
fn force_tracked(case: &Case<'_>, call: &Invocation<'_>) -> Option<Ours> {
    let forced = match call.word(0) {
        "add" | "stage" => call.has("--force") && !call.is_quiet(),
        "update-index" => call.has("--add"),
        _ => false,
    };
    let elsewhere = call.value("--work-tree").into_iter();
    let assigned = call.run.assigns.iter().filter(|(name, _)| name == "GIT_WORK_TREE");
    let elsewhere = elsewhere.chain(assigned.map(|(_, value)| value));
    let fs = case.ctx.fs;
    let init_target = init_target(call, case.ctx.home.trim_end_matches('/'), fs);
    if !forced && init_target.is_none() && elsewhere.clone().next().is_none() {
        return None;
    }
    let state = format!("{}/.context-graph", case.ctx.project.trim_end_matches('/'));
    let is_shared = |place: &str| SHARED.iter().any(|name| is_within(place, &format!("{state}/{name}")));
    let folder = git_folder(call, fs);
    let place = |name: &Text| arrived(name, &folder, fs).known().to_owned();
    let takes = |name: &str| {
        let name = name.rsplit_once(')').filter(|_| name.starts_with(":(")).map_or(name, |(_, name)| name);
        let place = place(&Text::lit(name.trim_start_matches(":/")));
        is_within(&state, &place)
            || is_within(&place, &state) && !is_shared(&place)
            || wild(&place, &format!("{state}/data/context-graph.db"))
    };
    let adds = forced
        && (named(call).any(takes)
            || named(call).next().is_none() && call.has("--all")
            || call.has("--pathspec-from-file"));
    let is_inside = |place: &str| is_within(place, &state);
    let works_inside = elsewhere.map(place).any(|place| is_inside(&place));
    (adds || works_inside || init_target.is_some_and(|place| is_inside(&place)))
        .then_some(Ours { path: state, is_folder: true })
}

/// Whether `git clean` removes an untracked file: with `-x` every one, with `-X` the ignored ones, otherwise
/// the rest.
fn cleans(call: &Invocation<'_>, folder: &str, ours: &str, ignored: bool) -> bool {
    let is_kept = call.values("--exclude").any(|pattern| {
        let pattern = pattern.known().trim_matches('/');
        ours.split('/').any(|name| wild(pattern, name)) || wild(&format!("*/{pattern}"), ours)
    });
    let is_meant = if named(call).next().is_none() {
        call.has("-d") && is_within(ours, folder)
    } else {
        named(call).any(|name| {
            let place = absolute_str(name.trim_start_matches(":/"), folder);
            is_within(ours, &place) || is_within(&place, ours) || wild(&place, ours)
        })
    };
    let takes = call.has("-x") || call.has("-X") == ignored;
    call.has("--force") && takes && !call.is_quiet() && !is_kept && is_meant
}

/// `git stash -u` takes untracked files, `--all` also ignored ones. Files added just before are taken anyway.
fn stashes(case: &Case<'_>, call: &Invocation<'_>, ignored: bool) -> bool {
    let adds = |other: &Invocation<'_>| {
        let all = |word: &&Text| matches!(word.known(), "." | ":/" | "*") || word.known().contains(".claude");
        other.run.name == "git"
            && matches!(other.word(0), "add" | "stage")
            && (other.has("-A") || other.operands().iter().any(all))
    };
    matches!(call.word(1), "" | "push" | "save")
        && (call.has("--all") || !ignored && (call.has("--include-untracked") || case.calls.iter().any(adds)))
}
