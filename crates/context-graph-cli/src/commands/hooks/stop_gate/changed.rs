//! What a session has changed: by editing tools, by shell commands with known effects and, if there were
//! commands with unknown effects, by what changed on disk since the session began.

use std::path::{Path, PathBuf};

use context_graph_core::session::{EventRecord, Session};
use context_graph_events::{Event, Outcome};
use context_graph_policy::Effects;
use context_graph_policy::config::StopGate;
use context_graph_policy::effects::{Access, Origin, PathEffect, Piece, Text, glob};

/// How many names on disk are checked at most.
const MAX_NAMES: usize = 50_000;
/// Folders with generated content, which is not the session's work.
const SKIPPED: [&str; 6] = [".git", ".context-graph", "node_modules", "target", ".venv", "__pycache__"];

/// What a session has changed.
#[derive(Debug, Default)]
pub(in super::super) struct Changes {
    roots: Roots,
    /// Files that editing tools changed, below the root.
    edited: Vec<String>,
    /// Paths below the root that other calls wrote or removed. The flag says whether everything in them is included.
    touched: Vec<(Text, bool)>,
    /// Since when changes on disk count; `None` if there was no call with unknown effects.
    since_ms: Option<i64>,
}

impl Changes {
    /// What the session itself knows, if there is one.
    pub(in super::super) fn of(session: Option<&Session>, root: &Path) -> Self {
        let roots = Roots::of(root);
        let files = session.into_iter().flat_map(|session| session.state.work.files.iter());
        let written = files.filter(|file| file.writes > 0);
        let edited = written.map(|file| roots.followed_below(&file.path)).collect();
        Self { roots, edited, ..Self::default() }
    }

    /// Adds the effects of calls from their records: the session keeps only its latest edits, the records
    /// have all.
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
                Some(Outcome::Success) => {}
                // A command that failed or was interrupted may have written something first. One that was denied did not run.
                Some(Outcome::Failure | Outcome::Interrupted) if can_do_more_than_it_says => {}
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

    /// The gates that apply to these changes. Gates without a pattern always apply.
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

/// The project's folder by its given path and by its real path, since paths come in both forms.
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

    /// The path relative to the root, if it is below it.
    fn below<'a>(&self, path: &'a str) -> &'a str {
        self.try_below(path).unwrap_or(path)
    }

    /// The same, with links in the folder resolved. The file itself may be gone.
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

/// Everything below a folder.
fn all_in(folder: &Text) -> Text {
    let mut text = folder.clone();
    text.0.push(Piece::Lit("/".to_owned()));
    text.0.push(Piece::Hole(Origin::Below));
    text
}

/// Whether a matching file has changed since then. This includes renames and copies that keep an old date. A
/// tree with too many names counts as changed, because not all of it was seen.
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
