//! What goes to the team: records that it does not have yet, in the shared form.

use std::ops::ControlFlow;
use std::time::Duration;

use context_graph_core::session::{EventRecord, Session};
use context_graph_server::client::{Client, ClientError};
use context_graph_server::keys::unhex;
use context_graph_server::wire::{About, CopyHead, Head, Packer, Push};
use context_graph_storage::sessions::{decode_record, encode_record};
use context_graph_storage::store::{Chain, SessionQuery, Store};
use context_graph_storage::{LogRecord, StorageError};

use super::marks::{Marks, PushMark};
use super::membership::Membership;
use super::{failure, forgetting, reduce};
use crate::commands::failure::Failure;
use crate::commands::session::Shelf;
use crate::config::Share;
use crate::summary::{self, counted};
use crate::{table, terminal};

/// The pauses before each new attempt.
const PAUSES: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3)];
/// After how many sessions the marks are saved. Sessions without a mark are asked about again.
const MARK_EVERY: u64 = 50;

/// What was sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) records: u64,
    pub(super) sessions: u64,
    pub(super) forgotten: u64,
    pub(super) refused: Vec<String>,
}

impl Sent {
    pub(super) fn add(&mut self, more: Self) {
        self.records += more.records;
        self.sessions += more.sessions;
        self.forgotten += more.forgotten;
        self.refused.extend(more.refused);
    }
}

/// The sessions with records to push: id, ordinal, and number of records.
fn fresh(shelf: &Shelf, store: &Store, marks: &Marks) -> Result<Vec<(String, u64, u64)>, Failure> {
    let mut found = Vec::new();
    let mut all = Vec::new();
    // If several projects share a store, only this project's sessions: each project has its own setting of what is shared.
    let query = SessionQuery { project: shelf.only.clone(), ..SessionQuery::default() };
    store.visit_sessions(&query, &mut |entry| {
        all.push((entry.session_id, entry.last_seq));
        ControlFlow::Continue(())
    })?;
    for (id, records) in all {
        let ordinal = store.ordinal(&id)?.unwrap_or_default();
        let is_there = |mark: &PushMark| mark.ordinal == ordinal && mark.records == records;
        if records > 0 && !marks.all.get(&id).is_some_and(is_there) {
            found.push((id, ordinal, records));
        }
    }
    Ok(found)
}

/// How many records of how many sessions are not pushed yet.
pub(super) fn waiting(shelf: &Shelf, marks: &Marks) -> Result<(u64, u64), Failure> {
    let Some(store) = &shelf.store else { return Ok((0, 0)) };
    let fresh = fresh(shelf, store, marks)?;
    let pushed = |id: &str| marks.all.get(id).map_or(0, |mark| mark.records);
    let records = fresh.iter().map(|(id, _, records)| records.saturating_sub(pushed(id))).sum();
    Ok((records, fresh.len() as u64))
}

/// A record in the form that is shared.
fn form(membership: &Membership, share: Share, record: EventRecord) -> EventRecord {
    if share == Share::Full { record } else { reduce::reduce(&record, &|path| membership.fingerprint(path)) }
}

/// Prints what a push would send, one record per line, and sends nothing. With `as_json` the counts are printed later.
pub(super) fn show(
    membership: &Membership,
    shelf: &Shelf,
    marks: &Marks,
    share: Share,
    as_json: bool,
) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let Some(store) = shelf.store.as_ref().filter(|_| share != Share::Nothing) else {
        terminal::note("nothing would be sent\n");
        return Ok(sent);
    };
    for (id, _, records) in fresh(shelf, store, marks)? {
        let from = marks.all.get(&id).map_or(0, |mark| mark.records);
        let from = if from < records { from } else { 0 };
        let mut lines = Vec::new();
        store.visit_log(&id, from + 1, &mut |entry| {
            if let Some(record) = entry.content.and_then(|content| decode_record(content.bytes).ok()) {
                let record = form(membership, share, record);
                lines.push(format!(
                    "{id}:{} {}",
                    entry.seq,
                    serde_json::to_string(&record).unwrap_or_default()
                ));
            }
            ControlFlow::Continue(())
        })?;
        sent.records += lines.len() as u64;
        sent.sessions += 1;
        if !as_json {
            table::print_lines(lines)?;
        }
    }
    terminal::note(&format!(
        "{} of {} would be sent\n",
        counted(sent.records, "record", "records"),
        counted(sent.sessions, "session", "sessions")
    ));
    Ok(sent)
}

/// Sends the new records.
pub(super) fn push(
    membership: &Membership,
    client: &Client,
    shelf: &Shelf,
    marks: &mut Marks,
    share: Share,
) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let Some(store) = &shelf.store else { return Ok(sent) };
    forgetting::forget(membership, client, store, marks, &mut sent)?;
    if share == Share::Nothing {
        return Ok(sent);
    }
    for (id, ordinal, _) in fresh(shelf, store, marks)? {
        let outcome = push_session(membership, client, shelf, &id, ordinal, share);
        match outcome {
            Ok((records, new)) => {
                marks.all.insert(id, PushMark { ordinal, records, acknowledged: client.acknowledged() });
                sent.records += new;
                sent.sessions += 1;
                if sent.sessions % MARK_EVERY == 0 {
                    marks.write()?;
                }
            }
            Err(Trouble::Refused(what)) => {
                terminal::complain(&what);
                sent.refused.push(what);
            }
            Err(Trouble::Other(trouble)) => {
                marks.write()?;
                return Err(trouble);
            }
        }
    }
    marks.write()?;
    Ok(sent)
}

/// Why a session was not pushed.
enum Trouble {
    /// The server has a different copy.
    Refused(String),
    /// Anything else. It would probably fail for the next session too.
    Other(Failure),
}

impl From<StorageError> for Trouble {
    fn from(error: StorageError) -> Self {
        Self::Other(error.into())
    }
}

impl From<Failure> for Trouble {
    fn from(error: Failure) -> Self {
        Self::Other(error)
    }
}

/// Tries again if the server cannot be reached. Records that arrived before are not stored twice, because the
/// server recognises them.
pub(super) fn patiently<T>(mut ask: impl FnMut() -> Result<T, ClientError>) -> Result<T, ClientError> {
    for pause in PAUSES {
        match ask() {
            Err(ClientError::Away(..)) => std::thread::sleep(pause),
            answer => return answer,
        }
    }
    ask()
}

/// The end of the server's copy, as bytes.
fn position(standing: Option<&CopyHead>, ordinal: u64, id: &str) -> (u64, Chain, Option<[u8; 32]>) {
    let link = |text: &str| unhex(text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    match standing.and_then(|standing| Some((standing, link(&standing.link)?))) {
        Some((standing, found)) => (standing.records, Chain::from(found), link(&standing.local)),
        None => (0, Chain::begin(ordinal, id), None),
    }
}

/// Pushes the records of a session that the server does not have. Returns how many it then has, and how many
/// of them are new.
fn push_session(
    membership: &Membership,
    client: &Client,
    shelf: &Shelf,
    id: &str,
    ordinal: u64,
    share: Share,
) -> Result<(u64, u64), Trouble> {
    let Some(store) = &shelf.store else { return Ok((0, 0)) };
    let standing = patiently(|| client.standing(id)).map_err(failure)?;
    let standing = standing.filter(|standing| standing.ordinal == ordinal);
    let (has, link, expected) = position(standing.as_ref(), ordinal, id);
    let session = shelf.view(id)?.session;
    let about = about(membership, &session, share);
    let mut out = Outgoing {
        membership,
        client,
        id,
        ordinal,
        share,
        about,
        packer: Packer::new(has, link),
        has,
        trouble: None,
    };
    let mut local = Chain::begin(ordinal, id);
    let (mut last, mut is_rewritten) = (0, false);
    store.visit_log(id, 1, &mut |entry| {
        let Some(content) = entry.content else {
            let what =
                format!("session {id}: record {} cannot be read, so nothing after it is pushed", entry.seq);
            out.trouble = Some(Trouble::Refused(what));
            return ControlFlow::Break(());
        };
        local = local.next(entry.seq, content.tool_use_id, content.bytes);
        last = entry.seq;
        is_rewritten = entry.seq == has && expected.is_some_and(|link| link != *local.as_bytes());
        match entry.seq {
            _ if is_rewritten => ControlFlow::Break(()),
            seq if seq <= has => ControlFlow::Continue(()),
            seq => out.add(seq, content.tool_use_id, content.bytes, local),
        }
    })?;
    if let Some(trouble) = out.trouble.take() {
        return Err(trouble);
    }
    if is_rewritten {
        show_rewritten(membership, client, store, id, ordinal, share, out.about);
        return Err(Trouble::Refused(format!(
            "session {id}: its first {has} records are not those that were pushed"
        )));
    }
    if last < has {
        return Err(Trouble::Refused(format!(
            "session {id}: the team has {has} records, and only {last} are here"
        )));
    }
    out.send(local)?;
    Ok((out.has, out.has.saturating_sub(has)))
}

/// Sends the start of a session that was changed after it was pushed. The server refuses it and keeps it as
/// evidence.
fn show_rewritten(
    membership: &Membership,
    client: &Client,
    store: &Store,
    id: &str,
    ordinal: u64,
    share: Share,
    about: About,
) {
    let packer = Packer::new(0, Chain::begin(ordinal, id));
    let mut out = Outgoing { membership, client, id, ordinal, share, about, packer, has: 0, trouble: None };
    let mut local = Chain::begin(ordinal, id);
    let walked = store.visit_log(id, 1, &mut |entry| {
        let Some(content) = entry.content else { return ControlFlow::Break(()) };
        local = local.next(entry.seq, content.tool_use_id, content.bytes);
        out.add(entry.seq, content.tool_use_id, content.bytes, local)
    });
    if walked.is_ok() && out.trouble.is_none() {
        // The refusal is expected.
        let _ = out.send(local);
    }
}

/// Records that are being sent.
struct Outgoing<'a> {
    membership: &'a Membership,
    client: &'a Client,
    id: &'a str,
    ordinal: u64,
    share: Share,
    about: About,
    packer: Packer,
    has: u64,
    trouble: Option<Trouble>,
}

impl Outgoing<'_> {
    fn add(&mut self, seq: u64, tool_use_id: Option<&str>, bytes: &[u8], local: Chain) -> ControlFlow<()> {
        let record = decode_record(bytes).map(|record| form(self.membership, self.share, record));
        let encoded = match record.and_then(|record| encode_record(&record)) {
            Ok(encoded) => encoded,
            Err(error) => {
                self.trouble = Some(Trouble::Refused(format!("session {}: record {seq}: {error}", self.id)));
                return ControlFlow::Break(());
            }
        };
        self.packer.push(&LogRecord {
            tool_use_id: tool_use_id.map(str::to_owned),
            bytes: encoded,
            source: None,
        });
        if self.packer.is_full()
            && let Err(trouble) = self.send(local)
        {
            self.trouble = Some(trouble);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Sends the packed records.
    fn send(&mut self, local: Chain) -> Result<(), Trouble> {
        let packer = std::mem::replace(&mut self.packer, Packer::new(0, local));
        let (blocks, records, link) = packer.finish();
        self.packer = Packer::new(records, link);
        if blocks.is_empty() {
            return Ok(());
        }
        let head = Head { records, link: *link.as_bytes(), local: *local.as_bytes() };
        let signed = Push::signed(self.membership.machine, self.id, self.ordinal, &head);
        let push = Push {
            session_id: self.id.to_owned(),
            ordinal: self.ordinal,
            share: super::word(self.share).to_owned(),
            about: self.about.clone(),
            blocks,
            head,
            signature: self.membership.key()?.sign(&signed),
        };
        match patiently(|| self.client.push(&push)) {
            Ok(has) => {
                self.has = has.max(records);
                Ok(())
            }
            Err(ClientError::Push(refusal)) => {
                Err(Trouble::Refused(format!("session {}: {} ({})", self.id, refusal.message, refusal.why)))
            }
            // What the server cannot take, such as an event with millions of fields, must not hold other sessions
            // back. A revoked token has already failed at an earlier request.
            Err(ClientError::Refused(why)) => Err(Trouble::Refused(format!("session {}: {why}", self.id))),
            Err(error) => Err(Trouble::Other(failure(error))),
        }
    }
}

fn about(membership: &Membership, session: &Session, share: Share) -> About {
    let state = &session.state;
    let is_full = share == Share::Full;
    About {
        title: if is_full { session.title() } else { String::new() },
        project: if is_full { state.project.clone() } else { membership.fingerprint(&state.project) },
        model: state.model.clone(),
        lifecycle: state.lifecycle.to_string(),
        ended: summary::ended(session).filter(|_| is_full),
        previous: session.snapshot.previous_session_id.clone(),
        started_ms: state.started_ms,
        updated_ms: state.updated_ms,
        ended_ms: state.ended_ms,
        continuity: session.snapshot.last_ic,
    }
}
