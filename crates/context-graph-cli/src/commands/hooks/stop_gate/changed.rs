//! What a session has changed: by editing tools, by shell commands whose effects can be seen, and, where shell commands
//! ran whose effects cannot, by what has changed on disk since the session began.

use std::path::{Path, PathBuf};

use context_graph_core::session::{EventRecord, Session};
use context_graph_events::{CallOutcome, Event};
use context_graph_policy::Effects;
use context_graph_policy::config::StopGate;
use context_graph_policy::effects::{Access, Origin, PathEffect, Piece, Text, glob};

/// Most names looked at on disk.
const MAX_NAMES: usize = 50_000;
/// Folders whose content is made by tools and no work of a session's.
const SKIPPED: [&str; 6] = [".git", ".context-graph", "node_modules", "target", ".venv", "__pycache__"];

/// What a session has changed.
#[derive(Debug, Default)]
pub(in super::super) struct Changes {
    roots: Roots,
    /// Files that editing tools changed, below the root.
    edited: Vec<String>,
    /// Paths that other calls wrote or removed, below the root, and whether with all they hold.
    touched: Vec<(Text, bool)>,
    /// Since when changes on disk count; `None` if no other call was made.
    since_ms: Option<i64>,
}

impl Changes {
    /// What the session itself knows, if it is known.
    pub(in super::super) fn of(session: Option<&Session>, root: &Path) -> Self {
        let roots = Roots::of(root);
        let files = session.into_iter().flat_map(|session| session.state.work.files.iter());
        let written = files.filter(|file| file.writes > 0);
        let edited = written.map(|file| roots.followed_below(&file.path)).collect();
        Self { roots, edited, ..Self::default() }
    }

    /// Adds what calls did, from their records: a session remembers the latest of its edits, its records all.
    pub(in super::super) fn with_calls<'a>(
        mut self,
        session: &Session,
        records: impl IntoIterator<Item = &'a EventRecord>,
        effects: impl Fn(&Event) -> Option<Effects>,
    ) -> Self {
        for record in records {
            let Ok(event) = record.event() else { continue };
            let tool = event.tool_name().unwrap_or("");
            let can_do_more_than_it_says = matches!(tool, "Bash" | "PowerShell") || tool.starts_with("mcp__");
            match event.outcome() {
                Some(CallOutcome::Success) => {}
                // A command that failed or was stopped may have written something before.
                Some(_) if can_do_more_than_it_says => {}
                _ => continue,
            }
            if can_do_more_than_it_says {
                self.since_ms = Some(session.state.started_ms);
            }
            let effects = effects(&event).unwrap_or_default();
            for effect in effects.paths.iter().filter(|effect| is_change(effect)) {
                for place in effect.target.places() {
                    self.touched.push((Text::lit(self.roots.below(place)), effect.recursive));
                }
                if effect.target.literal().is_none() {
                    self.touched.push((self.roots.text_below(&effect.target.path), effect.recursive));
                }
            }
        }
        self
    }

    /// The gates that these changes have to pass. Gates without a pattern always are.
    pub(in super::super) fn due<'a>(&self, gates: &'a [StopGate]) -> Vec<&'a StopGate> {
        gates.iter().filter(|gate| gate.when_changed.is_empty() || self.concern(&gate.when_changed)).collect()
    }

    fn concern(&self, patterns: &[String]) -> bool {
        let is_named = |path: &str| patterns.iter().any(|pattern| glob::matches(pattern, path));
        let is_touched = |(text, recursive): &(Text, bool)| {
            patterns.iter().any(|pattern| glob::overlaps(pattern, text))
                || (*recursive && patterns.iter().any(|pattern| glob::overlaps(pattern, &all_in(text))))
        };
        self.edited.iter().any(|path| is_named(path))
            || self.touched.iter().any(is_touched)
            || self.since_ms.is_some_and(|since| changed_on_disk(&self.roots.named, since, is_named))
    }
}

fn is_change(effect: &PathEffect) -> bool {
    matches!(effect.access, Access::Write | Access::Delete)
}

/// The project's folder as it is named, and as it is found when links are followed: paths come in both ways.
#[derive(Debug, Default)]
struct Roots {
    named: PathBuf,
    real: PathBuf,
}

impl Roots {
    fn of(root: &Path) -> Self {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        Self { named: root.to_path_buf(), real }
    }

    fn try_below<'a>(&self, path: &'a str) -> Option<&'a str> {
        below(&self.named, path).or_else(|| below(&self.real, path))
    }

    /// The path from the root, where it is below it.
    fn below<'a>(&self, path: &'a str) -> &'a str {
        self.try_below(path).unwrap_or(path)
    }

    /// The same, of a file that may be named through a link. The file itself may be gone by now.
    fn followed_below(&self, path: &str) -> String {
        if let Some(rest) = self.try_below(path) {
            return rest.to_owned();
        }
        let followed = || {
            let file = Path::new(path);
            let folder = file.parent()?.canonicalize().ok()?;
            let file = folder.join(file.file_name()?);
            below(&self.real, file.to_str()?).map(str::to_owned)
        };
        followed().unwrap_or_else(|| path.to_owned())
    }

    fn text_below(&self, text: &Text) -> Text {
        let mut text = text.clone();
        if let Some(Piece::Lit(first)) = text.0.first_mut() {
            *first = self.below(first).to_owned();
        }
        text
    }
}

fn below<'a>(root: &Path, path: &'a str) -> Option<&'a str> {
    let rest = root.to_str().and_then(|root| path.strip_prefix(root));
    rest.filter(|rest| rest.starts_with('/')).map(|rest| rest.trim_start_matches('/'))
}

/// Anything below a folder.
fn all_in(folder: &Text) -> Text {
    let mut text = folder.clone();
    text.0.push(Piece::Lit("/".to_owned()));
    text.0.push(Piece::Hole(Origin::Below));
    text
}

/// Whether a file that is meant has changed since then. A rename and a copy that keeps its old date count too, and so does
/// a tree with more names than are looked at: what was not seen may have changed.
fn changed_on_disk(root: &Path, since_ms: i64, is_meant: impl Fn(&str) -> bool) -> bool {
    let mut folders = vec![root.to_path_buf()];
    let mut left = MAX_NAMES;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            left -= 1;
            if left == 0 {
                return true;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                if !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                    folders.push(path);
                }
            } else if path.to_str().is_some_and(|path| is_meant(below(root, path).unwrap_or(path)))
                && changed_ms(&entry).is_some_and(|changed| changed >= since_ms)
            {
                return true;
            }
        }
    }
    false
}

#[cfg(unix)]
fn changed_ms(entry: &std::fs::DirEntry) -> Option<i64> {
    use std::os::unix::fs::MetadataExt as _;
    let found = entry.metadata().ok()?;
    Some(found.ctime().saturating_mul(1000) + found.ctime_nsec() / 1_000_000)
}

#[cfg(not(unix))]
fn changed_ms(entry: &std::fs::DirEntry) -> Option<i64> {
    let modified = entry.metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}
