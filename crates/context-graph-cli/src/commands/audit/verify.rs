//! `audit verify`

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_storage::Store;
use context_graph_storage::sessions::Loss;
use context_graph_storage::store::{Break, Chain, ChainReport, Tombstone};
use serde_json::{Value, json};

use super::progress::Progress;
use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::commands::session::{PlaceArgs, Shelf};
use crate::config::Config;
use crate::heads::{self, Head};
use crate::summary::counted;
use crate::trust::ProjectFiles;
use crate::{Environment, clock, table, terminal, time};

/// Check that the record is as it was written: every page, every record, every chain, every journal
///
/// Each session's records are a hash chain. Whatever was changed, taken out or added behind the store's back does not
/// fit, and the first place is named. How far each session had come is written down in your own folder too: what was
/// removed or rolled back is missed there. Sessions that were forgotten or pruned left a tombstone and are no break.
///
/// Events that were lost from a journal are on record themselves: they are named until you say that you know of them.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 it holds, 2 it does not.\n\nExamples:\n  \
                        context-graph audit verify\n  \
                        context-graph audit verify --acknowledge\n  \
                        context-graph audit verify --heads ~/heads.jsonl --json")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Compare with the heads written down in this file [default: the configuration's `audit.heads_file`]
    #[arg(long, value_name = "FILE")]
    heads: Option<PathBuf>,

    /// Say that you know of the losses that it names: that goes on record, and from then on they are no failure
    #[arg(long)]
    acknowledge: bool,
}

/// All that was found.
struct Findings {
    chains: ChainReport,
    tombstones: Vec<Tombstone>,
    /// Records that are in a journal still, and not chained yet.
    waiting: u64,
    heads: usize,
    losses: Vec<Loss>,
    first_break: Option<Break>,
}

pub(super) fn run(args: &VerifyArgs, environment: &Environment) -> Outcome {
    let heads = heads_to_compare(args, environment)?;
    let shelf = Shelf::open(&args.place, environment)?;
    let mut findings = look(&shelf, &heads)?;
    if args.acknowledge && acknowledge(&shelf, &findings.losses)? {
        // What was said goes on record, and is read back from there.
        findings = look(&Shelf::open(&args.place, environment)?, &heads)?;
    }
    if args.place.json {
        table::print_json(&as_json(&findings))?;
    } else {
        table::print_lines(told(&findings))?;
    }
    match findings.first_break {
        None => Ok(()),
        Some(found) => {
            Err(Failure::new(ErrorCode::Corruption, format!("the record does not hold: {}", line(&found)))
                .with_next_step(next_step(&findings.losses)))
        }
    }
}

fn next_step(losses: &[Loss]) -> &'static str {
    if losses.iter().any(|loss| !loss.is_acknowledged) {
        "see what is left of it in quarantine; once you know, `audit verify --acknowledge` says so"
    } else {
        "compare with a backup of .context-graph; what is there can still be read with `audit log`"
    }
}

/// Puts it on record that the user knows of losses; whether there were any to know of.
fn acknowledge(shelf: &Shelf, losses: &[Loss]) -> Result<bool, Failure> {
    let mut ids: Vec<&str> =
        losses.iter().filter(|loss| !loss.is_acknowledged).map(|loss| loss.session_id.as_str()).collect();
    ids.dedup();
    for id in &ids {
        shelf.sessions.acknowledge_losses(id, clock::now_ms())?;
    }
    Ok(!ids.is_empty())
}

fn look(shelf: &Shelf, heads: &[Head]) -> Result<Findings, Failure> {
    let store = shelf.store.as_ref();
    let (mut chains, mut damaged, mut tombstones) = (ChainReport::default(), None, Vec::new());
    if let Some(store) = store {
        let check = store.check()?;
        let of = store.stats()?.records;
        let mut progress = Progress::new("following the chains");
        chains = store.verify_chains(&mut |done| progress.tell(done, of))?;
        progress.done();
        tombstones = store.tombstones()?;
        damaged = check.first_problem.map(|(key, what)| Break {
            session_id: None,
            seq: None,
            what: format!("{key}: {what}"),
        });
    }
    let stored = std::mem::take(&mut chains.losses);
    let (waiting, losses) = shelf.sessions.check_journals(store, stored)?;
    // A chain that breaks says more than the page or the key that it breaks on.
    let first_break = match chains.first_break.clone().or(damaged).or_else(|| lost(shelf, &losses)) {
        Some(found) => Some(found),
        None => outside(shelf, store, &tombstones, heads)?,
    };
    Ok(Findings { chains, tombstones, waiting, heads: heads.len(), losses, first_break })
}

/// The first loss that the user does not know of: on record, or else by what lies in quarantine.
fn lost(shelf: &Shelf, losses: &[Loss]) -> Option<Break> {
    if let Some(loss) = losses.iter().find(|loss| !loss.is_acknowledged) {
        return Some(Break { session_id: Some(loss.session_id.clone()), seq: loss.seq, what: of_loss(loss) });
    }
    let quarantine = shelf.sessions.folder().quarantine();
    let is_on_record = |name: &String| losses.iter().any(|loss| loss.what.pieces.contains(name));
    let (session, name) = quarantine.losses().into_iter().find(|(_, name)| !is_on_record(name))?;
    Some(Break {
        session_id: Some(session),
        seq: None,
        what: format!(
            "its journal was damaged, and what does not check out is in {}",
            quarantine.folder().join(name).display()
        ),
    })
}

fn of_loss(loss: &Loss) -> String {
    match loss.at_ms {
        Some(at_ms) => format!("{}, found out {}", loss.what, time::local(at_ms)),
        None => loss.what.to_string(),
    }
}

/// What is not as it was written down outside of the project: in the user's own folder, and where the user wants it.
fn outside(
    shelf: &Shelf,
    store: Option<&Store>,
    tombstones: &[Tombstone],
    heads: &[Head],
) -> Result<Option<Break>, Failure> {
    match shelf.sessions.check_heads(store)? {
        (_, Some(found)) => Ok(Some(found)),
        (_, None) => compare_heads(store, tombstones, heads),
    }
}

fn heads_to_compare(args: &VerifyArgs, environment: &Environment) -> Result<Vec<Head>, Failure> {
    let environment = environment.in_project(args.place.project.as_deref());
    let root = environment.project_root();
    let file = if let Some(file) = &args.heads {
        Some(file.clone())
    } else {
        let config = Config::in_force(&ProjectFiles::of(&environment))
            .map_err(|error| Failure::new(ErrorCode::Validation, error.to_string()))?;
        heads::place(&config.audit.heads_file, &environment.home, &root).map_err(Failure::usage)?
    };
    let Some(file) = file else { return Ok(Vec::new()) };
    let all = heads::read(&file).map_err(|problem| {
        Failure::new(
            ErrorCode::Corruption,
            format!("the heads that were written down cannot be read: {problem}"),
        )
        .with_next_step("--heads names another file; without audit.heads_file none is compared")
    })?;
    if all.is_empty() {
        // Nobody writes such a file, so somebody has emptied it.
        return Err(Failure::new(
            ErrorCode::Corruption,
            format!("the record does not hold: {} is empty", file.display()),
        )
        .with_next_step("compare with a backup of it; once it is removed, it is begun anew"));
    }
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let root = real(&root);
    Ok(all.into_iter().filter(|head| real(Path::new(&head.project)) == root).collect())
}

/// The first head that the store does not bear out. Of each session the newest is followed: it covers those before it.
fn compare_heads(
    store: Option<&Store>,
    tombstones: &[Tombstone],
    heads: &[Head],
) -> Result<Option<Break>, Failure> {
    let mut newest: HashMap<&str, &Head> = HashMap::new();
    for head in heads {
        let known = newest.entry(&head.session_id).or_insert(head);
        if head.at_ms >= known.at_ms {
            *known = head;
        }
    }
    let mut newest: Vec<&Head> = newest.into_values().collect();
    newest.sort_by_key(|head| head.at_ms);
    for head in newest {
        let chain = store.map(|store| store.chain_at(&head.session_id, head.seq)).transpose()?.flatten();
        let fits = chain.is_some_and(|chain| chain.to_string() == head.link);
        let fingerprint = Tombstone::fingerprint(&head.session_id);
        if !fits && !tombstones.iter().any(|tombstone| tombstone.fingerprint == fingerprint) {
            return Ok(Some(Break {
                session_id: Some(head.session_id.clone()),
                seq: Some(head.seq),
                what: "the chain is not the one that was written down outside".to_owned(),
            }));
        }
    }
    Ok(None)
}

fn told(findings: &Findings) -> Vec<String> {
    let chains = &findings.chains;
    let mut lines = vec![format!(
        "{} of {} followed",
        counted(chains.records, "record", "records"),
        counted(chains.sessions, "session", "sessions")
    )];
    if findings.waiting > 0 {
        lines.push(format!(
            "{} in the journals of open sessions, to be chained when the turn ends",
            counted(findings.waiting, "more waits", "more wait")
        ));
    }
    if !findings.tombstones.is_empty() {
        let removed = counted(findings.tombstones.len(), "session was", "sessions were");
        lines.push(format!("{removed} removed and left a tombstone"));
    }
    if findings.heads > 0 {
        let heads = counted(findings.heads, "head", "heads");
        lines.push(format!("{heads} written down outside of the project compared"));
    }
    let known = findings.losses.iter().filter(|loss| loss.is_acknowledged);
    lines.extend(known.map(|loss| {
        let line = format!("known loss: session {}: {}", loss.session_id, of_loss(loss));
        terminal::plain(&line, false)
    }));
    lines.push(match &findings.first_break {
        None => "the record holds".to_owned(),
        Some(found) => format!("the record DOES NOT hold: {}", terminal::plain(&line(found), false)),
    });
    lines
}

fn line(found: &Break) -> String {
    let place = match (&found.session_id, found.seq) {
        (Some(id), Some(seq)) => format!("session {id}, record {seq}: "),
        (Some(id), None) => format!("session {id}: "),
        (None, Some(seq)) => format!("record {seq}: "),
        (None, None) => String::new(),
    };
    format!("{place}{}", found.what)
}

fn as_json(findings: &Findings) -> Value {
    let chains = &findings.chains;
    let tombstones: Vec<Value> = findings
        .tombstones
        .iter()
        .map(|gone| {
            json!({
                "number": gone.ordinal,
                "fingerprint": format!("{:032x}", u128::from_be_bytes(gone.fingerprint)),
                "records": gone.records,
                "head": gone.chain.map(|chain| Chain::from(chain).to_string()),
                "at_ms": gone.at_ms,
                "why": gone.why.as_str(),
            })
        })
        .collect();
    let losses: Vec<Value> = findings
        .losses
        .iter()
        .map(|loss| {
            json!({
                "session_id": loss.session_id,
                "record": loss.seq,
                "at_ms": loss.at_ms,
                "lost": loss.what.lost,
                "at_least": loss.what.at_least,
                "how": loss.what.how,
                "pieces": loss.what.pieces,
                "acknowledged": loss.is_acknowledged,
            })
        })
        .collect();
    json!({
        "holds": findings.first_break.is_none(),
        "sessions": chains.sessions,
        "records": chains.records,
        "waiting": findings.waiting,
        "heads_compared": findings.heads,
        "breaks": chains.breaks,
        "first_break": findings.first_break.as_ref().map(|found| {
            json!({"session_id": found.session_id, "record": found.seq, "what": found.what})
        }),
        "losses": losses,
        "tombstones": tombstones,
    })
}
