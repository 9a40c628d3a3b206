//! Which projects a command is about.

use std::collections::BTreeMap;

use clap::Args;
use context_graph_storage::store::SessionRow;

use super::{PlaceArgs, Shelf};
use crate::commands::failure::Failure;
use crate::{Environment, summary, terminal};

/// Which projects, and how to answer.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ScopeArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// All projects of yours that have sessions, not only this one
    #[arg(long, conflicts_with = "project")]
    pub(crate) all_projects: bool,
}

impl ScopeArgs {
    /// The projects to query.
    pub(crate) fn places(&self, environment: &Environment) -> Result<Vec<PlaceArgs>, Failure> {
        if !self.all_projects || environment.shared_place(self.place.db_path.as_deref()).is_some() {
            return Ok(vec![self.place.clone()]);
        }
        let mut roots = environment.known_projects(self.place.db_path.as_deref())?;
        roots.push(environment.project_root().to_path_buf());
        roots.sort();
        roots.dedup();
        Ok(roots.into_iter().map(|root| PlaceArgs { project: Some(root), ..self.place.clone() }).collect())
    }

    /// Opens the chosen projects. With several, one that cannot be read is reported and left out.
    pub(crate) fn open(&self, environment: &Environment) -> Result<Shelves, Failure> {
        if !self.all_projects {
            return Shelf::open(&self.place, environment).map(|shelf| Shelves(vec![shelf]));
        }
        let mut shelves = Vec::new();
        for place in self.places(environment)? {
            match Shelf::open(&place, environment) {
                Ok(opened) => shelves.push(Shelf { only: None, ..opened }),
                Err(failure) if failure.is_nothing_there() => {}
                Err(failure) => terminal::complain(&format!("left out: {failure}")),
            }
        }
        if shelves.is_empty() { Err(Failure::no_sessions()) } else { Ok(Shelves(shelves)) }
    }
}

/// The sessions of the chosen projects, at least one.
pub(crate) struct Shelves(pub(crate) Vec<Shelf>);

/// The title and project shown next to an id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Label {
    pub(crate) title: String,
    pub(crate) project: String,
}

impl Shelves {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Shelf> {
        self.0.iter()
    }

    /// Whether the output must name the project.
    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1 || self.iter().any(|shelf| shelf.is_shared && shelf.only.is_none())
    }

    /// The session that was meant, with its shelf: by its id or the beginning of it, or the newest of all.
    pub(crate) fn find(mut self, wanted: Option<&str>) -> Result<(Shelf, String), Failure> {
        let (mut found, mut failed): (Option<(usize, SessionRow)>, _) = (None, None);
        for (at, shelf) in self.iter().enumerate() {
            match wanted {
                None => {
                    let newest = shelf.newest()?;
                    let is_newer = |entry: &SessionRow| {
                        found.as_ref().is_none_or(|(_, known)| known.timestamp_ms < entry.timestamp_ms)
                    };
                    found = newest.filter(is_newer).map(|entry| (at, entry)).or(found);
                }
                Some(_) => match shelf.find(wanted) {
                    Ok(id) => return Ok((self.0.swap_remove(at), id)),
                    Err(failure) => failed = Some(failure),
                },
            }
        }
        let (at, entry) = found.ok_or_else(|| failed.unwrap_or_else(Failure::no_sessions))?;
        Ok((self.0.swap_remove(at), entry.session_id))
    }

    /// Titles and projects of these sessions.
    pub(crate) fn labels<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, Label> {
        let mut labels = BTreeMap::new();
        for id in ids {
            if !labels.contains_key(id) {
                labels.insert(id.to_owned(), self.label(id));
            }
        }
        labels
    }

    fn label(&self, id: &str) -> Label {
        let mut found = self.iter().filter_map(|shelf| {
            let session = shelf.view(id).ok()?.session;
            Some(Label { title: session.title(), project: shelf.sessions.project_of(&session) })
        });
        found.next().unwrap_or_default()
    }

    /// A line for each of these sessions: its id as it is shown elsewhere, its title, and its project if there are
    /// several.
    pub(crate) fn legend(&self, labels: &BTreeMap<String, Label>) -> Vec<String> {
        let told = labels.iter().filter(|(_, label)| !label.title.is_empty() || self.are_several());
        told.map(|(id, label)| {
            let project = if self.are_several() { format!("  {}", label.project) } else { String::new() };
            terminal::plain(&format!("{}  {}{project}", summary::short_id(id), label.title), false)
        })
        .collect()
    }
}
