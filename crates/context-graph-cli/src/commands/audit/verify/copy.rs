//! Compares the user's copy of the heads with the store, and with our notes about what we wrote to it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use context_graph_storage::store::{Break, Tombstone};

use crate::commands::failure::Failure;
use crate::commands::session::Shelf;
use crate::config::Config;
use crate::error_code::ErrorCode;
use crate::heads::{self, Head};
use crate::trust::ProjectFiles;
use crate::{Environment, terminal};

/// A file of heads, as seen from one project.
pub(super) struct HeadsCopy {
    file: PathBuf,
    root: PathBuf,
    heads: Vec<Head>,
}

impl HeadsCopy {
    /// Reads the `named` file, or the configured one; `None` if there is neither. A missing or empty file is
    /// an error, unless the loss is `known`.
    pub(super) fn read(
        named: Option<&Path>,
        known: bool,
        environment: &Environment,
    ) -> Result<Option<Self>, Failure> {
        let root = environment.project_root();
        let file = if let Some(file) = named {
            Some(file.to_path_buf())
        } else {
            let files = ProjectFiles::of(environment);
            match Config::in_force(&files) {
                Ok(config) => {
                    heads::place(&config.audit.heads_file, &environment.home, root).map_err(Failure::usage)?
                }
                // A file that came with a checkout must not keep the user from verifying.
                Err(error) if !files.standing().is_in_force() => {
                    terminal::complain(&format!("{error}; no copy of the heads is compared"));
                    None
                }
                Err(error) => return Err(Failure::new(ErrorCode::Validation, error.to_string())),
            }
        };
        let Some(file) = file else { return Ok(None) };
        let root = real(root);
        if known && !file.exists() {
            return Ok(Some(Self { file, root, heads: Vec::new() }));
        }
        let heads = heads::read(&file).map_err(|problem| {
            Failure::new(ErrorCode::Corruption, format!("the noted heads cannot be read: {problem}"))
                .with_next_step("--heads names another file; without audit.heads_file none is compared")
        })?;
        if heads.is_empty() && !known {
            // We never write an empty file, so somebody emptied it.
            return Err(Failure::new(
                ErrorCode::Corruption,
                format!("the records were changed or are incomplete: {} is empty", file.display()),
            )
            .with_next_step(
                "compare with a backup of it; once you know what happened to it, confirm it with `audit verify --acknowledge`",
            ));
        }
        Ok(Some(Self { file, root, heads }))
    }

    /// The heads to compare: those of the project, and others of sessions that are here. What a line says about its
    /// project does not decide alone, because whoever changes the file can change that, too.
    fn compared(&self, from: &Shelf) -> Result<Vec<&Head>, Failure> {
        let noted: HashSet<String> =
            from.sessions.copied_heads(&self.file).into_iter().map(|(id, _)| id).collect();
        let is_stored = |id: &str| from.store.as_ref().map_or(Ok(false), |store| store.knows(id));
        let mut places: HashMap<&str, (bool, bool)> = HashMap::new();
        let mut compared = Vec::new();
        for head in &self.heads {
            let (is_here, is_gone) = *places.entry(&head.project).or_insert_with(|| {
                let place = Path::new(&head.project);
                (real(place) == self.root, !place.exists())
            });
            // A project that was moved is still named by its old folder.
            let id = &head.session_id;
            if is_here || noted.contains(id) || is_gone && is_stored(id)? {
                compared.push(head);
            }
        }
        Ok(compared)
    }

    /// How many heads are compared.
    pub(super) fn count(&self, from: &Shelf) -> Result<usize, Failure> {
        Ok(self.compared(from)?.len())
    }

    /// The first head that does not match the store, or that we wrote and is now missing.
    pub(super) fn compare(&self, from: &Shelf, tombstones: &[Tombstone]) -> Result<Option<Break>, Failure> {
        let newest = newest(self.compared(from)?);
        for head in &newest {
            let chain = match &from.store {
                Some(store) => store.chain_at(&head.session_id, head.seq)?,
                None => None,
            };
            let fits = chain.is_some_and(|chain| chain.to_string() == head.link);
            let fingerprint = Tombstone::fingerprint(&head.session_id);
            if !fits && !tombstones.iter().any(|tombstone| tombstone.fingerprint == fingerprint) {
                return Ok(Some(Break {
                    session_id: Some(head.session_id.clone()),
                    seq: Some(head.seq),
                    what: "the hash chain does not match the head noted outside the project".to_owned(),
                }));
            }
        }
        let missing = self.missing(from, &newest).into_iter().next();
        Ok(missing.map(|(id, seq, _)| Break {
            session_id: Some(id),
            seq: Some(seq),
            what: format!("its head is missing from {}", self.file.display()),
        }))
    }

    /// Accepts what is missing in the file, because the user knows about it.
    pub(super) fn acknowledge(&self, from: &Shelf) -> Result<(), Failure> {
        for (id, _, reached) in self.missing(from, &newest(self.compared(from)?)) {
            from.sessions.note_copied_head(&self.file, &id, reached);
        }
        Ok(())
    }

    /// The sessions with which the file had come further: how far, and how far it comes now.
    fn missing(&self, from: &Shelf, newest: &[&Head]) -> Vec<(String, u64, u64)> {
        let reached: HashMap<&str, u64> =
            newest.iter().map(|head| (head.session_id.as_str(), head.seq)).collect();
        let noted = from.sessions.copied_heads(&self.file).into_iter();
        let both = noted.map(|(id, seq)| {
            let reached = reached.get(id.as_str()).copied().unwrap_or(0);
            (id, seq, reached)
        });
        both.filter(|(_, seq, reached)| reached < seq).collect()
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The newest head of each session, sorted by time; it covers the older ones.
fn newest(heads: Vec<&Head>) -> Vec<&Head> {
    let mut newest: HashMap<&str, &Head> = HashMap::new();
    for head in heads {
        match newest.get(head.session_id.as_str()) {
            Some(known) if known.at_ms > head.at_ms => {}
            _ => drop(newest.insert(&head.session_id, head)),
        }
    }
    let mut newest: Vec<&Head> = newest.into_values().collect();
    newest.sort_by_key(|head| head.at_ms);
    newest
}
