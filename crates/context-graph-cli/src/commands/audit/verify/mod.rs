//! `audit verify`

mod copy;

use std::path::PathBuf;

use clap::Args;
use context_graph_storage::sessions::Loss;
use context_graph_storage::store::{Break, Chain, ChainReport, Tombstone};
use context_graph_storage::{StateFolder, Store};
use serde_json::{Value, json};

use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::commands::session::{PlaceArgs, ScopeArgs, Shelf};
use crate::commands::team::{Compared, verify as verify_team};
use crate::error_code::ErrorCode;
use crate::progress::Progress;
use crate::summary::counted;
use crate::{Environment, clock, table, terminal, time};
use copy::HeadsCopy;

/// Check that the records are as they were written: every page, record, chain and journal
///
/// Each session's records are a hash chain. Any change that context-graph did not make breaks it, and the first
/// broken place is named. How far each session had come is also stored in your own folder, so sessions that were
/// removed or rolled back are noticed. Sessions that were forgotten or pruned left a tombstone and are not errors.
///
/// Lost events of a journal are recorded too, and reported until you confirm them with --acknowledge.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 intact, 2 changed or incomplete.\n\nExamples:\n  \
                        context-graph audit verify\n  \
                        context-graph audit verify --all-projects\n  \
                        context-graph audit verify --acknowledge\n  \
                        context-graph audit verify --team\n  \
                        context-graph audit verify --heads ~/heads.jsonl --json")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Compare with the heads written down in this file [default: the configuration's `audit.heads_file`]
    #[arg(long, value_name = "FILE", conflicts_with = "all_projects")]
    heads: Option<PathBuf>,

    /// Confirm the reported losses. This is recorded, and they no longer count as errors
    #[arg(long, conflicts_with = "all_projects")]
    acknowledge: bool,

    /// Compare with what was pushed to the team, and name a record that was changed since
    #[arg(long, conflicts_with = "all_projects")]
    team: bool,
}

struct Verified {
    chains: ChainReport,
    tombstones: Vec<Tombstone>,
    /// Records that are still in a journal and not chained yet.
    waiting: u64,
    heads: usize,
    losses: Vec<Loss>,
    first_break: Option<Break>,
}

/// What was found in a project, and where the team's copy differs.
struct Checked {
    findings: Verified,
    team: Option<Compared>,
}

pub(super) fn run(args: &VerifyArgs, environment: &Environment) -> CommandResult {
    if args.acknowledge {
        refuse_to_agents("confirm losses")?;
    }
    let places = args.scope.places(environment)?;
    let [place] = places.as_slice() else { return each(&places, args, environment) };
    let checked = check(place, args, environment)?;
    if args.scope.place.json {
        table::print_json(&checked.as_json())?;
    } else {
        table::print_lines(checked.lines())?;
    }
    checked.failure().map_or(Ok(()), |failure| Err(failure.answered()))
}

/// Checks every project, even if one of them is broken.
fn each(places: &[PlaceArgs], args: &VerifyArgs, environment: &Environment) -> CommandResult {
    let (mut projects, mut failed) = (Vec::new(), None);
    for place in places {
        let project = place.project.as_deref().map(|root| root.to_string_lossy()).unwrap_or_default();
        let (object, lines, failure) = match check(place, args, environment) {
            Err(failure) if failure.is_nothing_there() => continue,
            Err(failure) => (
                json!({"holds": false, "error": failure.to_string()}),
                vec![failure.to_string()],
                Some(failure),
            ),
            Ok(checked) => (checked.as_json(), checked.lines(), checked.failure()),
        };
        failed = failed.or(failure);
        if args.scope.place.json {
            let mut object = object;
            object["project"] = json!(project);
            projects.push(object);
        } else {
            let lines = lines.iter().map(|line| format!("  {line}"));
            table::print_lines([project.into_owned()].into_iter().chain(lines))?;
        }
    }
    if args.scope.place.json {
        table::print_json(&json!({"holds": failed.is_none(), "projects": projects}))?;
    }
    failed.map_or(Ok(()), |failure| Err(failure.answered()))
}

fn check(place: &PlaceArgs, args: &VerifyArgs, environment: &Environment) -> Result<Checked, Failure> {
    let inner = environment.in_project(place.project.as_deref());
    let copy = HeadsCopy::read(args.heads.as_deref(), args.acknowledge, &inner)?;
    let shelf = open(place, environment)?;
    let mut findings = look_and_tell(&shelf, copy.as_ref())?;
    if args.acknowledge {
        acknowledge(&shelf, &findings.losses, copy.as_ref())?;
        // Acknowledging changes the store, so look again.
        findings = look_and_tell(&open(place, environment)?, copy.as_ref())?;
    }
    let team = args.team.then(|| verify_team(place, &shelf, environment)).transpose()?;
    Ok(Checked { findings, team })
}

impl Checked {
    fn as_json(&self) -> Value {
        let mut object = as_json(&self.findings);
        if let Some(team) = &self.team {
            object["team"] = json!({"sessions": team.sessions, "first_break": team.first_break});
        }
        object
    }

    fn lines(&self) -> Vec<String> {
        let compared = self
            .team
            .as_ref()
            .map(|team| format!("compared with the team: {}", counted(team.sessions, "session", "sessions")));
        findings_lines(&self.findings).into_iter().chain(compared).collect()
    }

    fn failure(&self) -> Option<Failure> {
        let changed = self.team.as_ref().and_then(|team| team.first_break.clone());
        match &self.findings.first_break {
            None => changed.map(|changed| {
                Failure::new(ErrorCode::Corruption, changed).with_next_step(
                    "the team's copy was made earlier; the team lead can inspect it on the server",
                )
            }),
            Some(found) => Some(
                Failure::new(
                    ErrorCode::Corruption,
                    format!("the records were changed or are incomplete: {}", line(found)),
                )
                .with_next_step(next_step(&self.findings.losses)),
            ),
        }
    }
}

/// Opens the sessions to check. If the state of a known project is gone, it is created anew: then the check
/// reports what is missing, instead of "no sessions".
fn open(place: &PlaceArgs, environment: &Environment) -> Result<Shelf, Failure> {
    let inner = environment.in_project(place.project.as_deref());
    let state = inner.state_place(place.db_path.as_deref())?;
    if !state.exists() && StateFolder::is_known(&state, inner.user_folder()?)? {
        return Shelf::open_or_create(place, environment);
    }
    Shelf::open(place, environment)
}

fn next_step(losses: &[Loss]) -> &'static str {
    if losses.iter().any(|loss| !loss.is_acknowledged) {
        "see what is left of it in quarantine; then confirm that you know with `audit verify --acknowledge`"
    } else {
        "compare with a backup of .context-graph; what is there can still be read with `audit log`. Once you know what \
         happened to the missing data, confirm it with `audit verify --acknowledge`"
    }
}

/// Records that the user knows about the losses, so that missing data is not reported again.
fn acknowledge(shelf: &Shelf, losses: &[Loss], copy: Option<&HeadsCopy>) -> CommandResult {
    let mut ids: Vec<&str> =
        losses.iter().filter(|loss| !loss.is_acknowledged).map(|loss| loss.session_id.as_str()).collect();
    ids.dedup();
    for id in &ids {
        shelf.sessions.acknowledge_losses(id, clock::now_ms())?;
    }
    let store = shelf.store.as_ref();
    shelf.sessions.acknowledge_saved(store, losses, clock::now_ms())?;
    shelf.sessions.acknowledge_missing(store)?;
    if let Some(copy) = copy {
        copy.acknowledge(shelf)?;
    }
    Ok(())
}

fn look_and_tell(shelf: &Shelf, copy: Option<&HeadsCopy>) -> Result<Verified, Failure> {
    let mut progress = Progress::new("following the chains");
    look(shelf, copy, &mut |done, of| progress.tell(done, of))
}

/// Checks everything: the number of records and sessions, and the first problem.
pub(crate) fn holds(
    shelf: &Shelf,
    environment: &Environment,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(u64, u64, Option<String>), Failure> {
    let copy = HeadsCopy::read(None, false, environment)?;
    let findings = look(shelf, copy.as_ref(), progress)?;
    let chains = &findings.chains;
    Ok((chains.records, chains.sessions, findings.first_break.as_ref().map(line)))
}

fn look(
    shelf: &Shelf,
    copy: Option<&HeadsCopy>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified, Failure> {
    let store = shelf.store.as_ref();
    let (mut chains, mut damaged, mut tombstones) = (ChainReport::default(), None, Vec::new());
    if let Some(store) = store {
        let of = store.stats()?.records;
        let (check, followed) = store.verify(&mut |done| progress(done, of))?;
        chains = followed;
        tombstones = store.tombstones()?;
        damaged = check.first_problem.map(|(key, what)| Break {
            session_id: None,
            seq: None,
            what: format!("{key}: {what}"),
        });
    }
    let stored = std::mem::take(&mut chains.losses);
    let (waiting, losses) = shelf.sessions.check_journals(store, stored, clock::now_ms())?;
    // A broken chain tells more than the damaged page or key behind it.
    let first_break = match chains.first_break.clone().or(damaged).or_else(|| lost(shelf, &losses)) {
        Some(found) => Some(found),
        None => outside(shelf, store, &tombstones, copy)?,
    };
    let heads = copy.map_or(Ok(0), |copy| copy.count(shelf))?;
    Ok(Verified { chains, tombstones, waiting, heads, losses, first_break })
}

/// The first loss that the user has not acknowledged: on record, or found in quarantine.
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
            "its journal was damaged; the parts that do not match their checksums are in {}",
            quarantine.folder().join(name).display()
        ),
    })
}

fn of_loss(loss: &Loss) -> String {
    match loss.at_ms {
        Some(at_ms) => format!("{}, noticed {}", loss.what, time::local(at_ms)),
        None => loss.what.to_string(),
    }
}

/// The first difference to the heads kept outside the project: those in the user's own folder, then those in the
/// configured copy.
fn outside(
    shelf: &Shelf,
    store: Option<&Store>,
    tombstones: &[Tombstone],
    copy: Option<&HeadsCopy>,
) -> Result<Option<Break>, Failure> {
    match (shelf.sessions.check_heads(store)?, copy) {
        ((_, Some(found)), _) => Ok(Some(found)),
        ((_, None), Some(copy)) => copy.compare(shelf, tombstones),
        ((_, None), None) => Ok(None),
    }
}

fn findings_lines(findings: &Verified) -> Vec<String> {
    let chains = &findings.chains;
    let mut lines = vec![format!(
        "{} of {} followed",
        counted(chains.records, "record", "records"),
        counted(chains.sessions, "session", "sessions")
    )];
    if findings.waiting > 0 {
        lines.push(format!(
            "{} in the journals of open sessions, to be added to the hash chain at the end of the turn",
            counted(findings.waiting, "more waits", "more wait")
        ));
    }
    if !findings.tombstones.is_empty() {
        let removed = counted(findings.tombstones.len(), "session was", "sessions were");
        lines.push(format!("{removed} removed and left a tombstone"));
    }
    if findings.heads > 0 {
        let heads = counted(findings.heads, "head", "heads");
        lines.push(format!("{heads} outside the project compared"));
    }
    let known = findings.losses.iter().filter(|loss| loss.is_acknowledged);
    lines.extend(known.map(|loss| {
        let line = format!("known loss: session {}: {}", loss.session_id, of_loss(loss));
        terminal::plain(&line, false)
    }));
    lines.push(match &findings.first_break {
        None => "audit log intact".to_owned(),
        Some(found) => {
            format!("the records were CHANGED or are incomplete: {}", terminal::plain(&line(found), false))
        }
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

fn as_json(findings: &Verified) -> Value {
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
