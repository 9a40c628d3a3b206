//! Compares the user's copy of the heads with the store, and with our notes about what we wrote to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use context_graph_storage::store::{Break, Tombstone};

use crate::commands::failure::Failure;
use crate::commands::session::Shelf;
use crate::config::Config;
use crate::error_code::ErrorCode;
use crate::heads::{self, Head};
use crate::trust::ProjectFiles;
use crate::{Environment, terminal};

/// A file of heads, limited to one project.
pub(super) struct HeadsCopy {
    file: PathBuf,
    /// The newest head of each session; it covers the older ones.
    newest: Vec<Head>,
    /// How far each session has come according to the file, including sessions of other projects that share the store.
    reached: HashMap<String, u64>,
    count: usize,
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
        if known && !file.exists() {
            return Ok(Some(Self { file, newest: Vec::new(), reached: HashMap::new(), count: 0 }));
        }
        let all = heads::read(&file).map_err(|problem| {
            Failure::new(ErrorCode::Corruption, format!("the noted heads cannot be read: {problem}"))
                .with_next_step("--heads names another file; without audit.heads_file none is compared")
        })?;
        if all.is_empty() && !known {
            // We never write an empty file, so somebody emptied it.
            return Err(Failure::new(
                ErrorCode::Corruption,
                format!("the records were changed or are incomplete: {} is empty", file.display()),
            )
            .with_next_step(
                "compare with a backup of it; once you know what happened to it, confirm it with `audit verify --acknowledge`",
            ));
        }
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let root = real(root);
        let reached = newest(all.clone()).into_iter().map(|head| (head.session_id, head.seq)).collect();
        let own: Vec<Head> = all.into_iter().filter(|head| real(Path::new(&head.project)) == root).collect();
        let count = own.len();
        Ok(Some(Self { file, newest: newest(own), reached, count }))
    }

    /// How many heads the file has for the project.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The first head that does not match the store, or that we wrote and is now missing.
    pub(super) fn compare(&self, from: &Shelf, tombstones: &[Tombstone]) -> Result<Option<Break>, Failure> {
        for head in &self.newest {
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
        let missing = from
            .sessions
            .copied_heads(&self.file)
            .into_iter()
            .find(|(id, seq)| self.reached(id).is_none_or(|reached| reached < *seq));
        Ok(missing.map(|(id, seq)| Break {
            session_id: Some(id),
            seq: Some(seq),
            what: format!("its head is missing from {}", self.file.display()),
        }))
    }

    /// Accepts what is missing in the file, because the user knows about it.
    pub(super) fn acknowledge(&self, from: &Shelf) {
        for (id, seq) in from.sessions.copied_heads(&self.file) {
            let reached = self.reached(&id).unwrap_or(0);
            if reached < seq {
                from.sessions.note_copied_head(&self.file, &id, reached);
            }
        }
    }

    fn reached(&self, session_id: &str) -> Option<u64> {
        self.reached.get(session_id).copied()
    }
}

/// The newest head of each session, sorted by time.
fn newest(heads: Vec<Head>) -> Vec<Head> {
    let mut newest: HashMap<String, Head> = HashMap::new();
    for head in heads {
        match newest.get(&head.session_id) {
            Some(known) if known.at_ms > head.at_ms => {}
            _ => drop(newest.insert(head.session_id.clone(), head)),
        }
    }
    let mut newest: Vec<Head> = newest.into_values().collect();
    newest.sort_by_key(|head| head.at_ms);
    newest
}
