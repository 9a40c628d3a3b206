//! Calls and other events for the pages.

use std::ops::ControlFlow;

use context_graph_core::audit::{Entry, SessionRef, correlate};
use context_graph_core::session::EventRecord;
use context_graph_storage::sessions::decode_record;
use context_graph_storage::store::{EntryRow, Filter};
use context_graph_web::{Asked, ChainState, EntryDetail, EntryLine, Said};

use super::place::{Opened, Place, locked};
use crate::commands::audit::filter_args::{FilterArgs, outcome};
use crate::commands::audit::show::find;
use crate::commands::failure::Failure;
use crate::commands::span::SpanArgs;

/// An entry for a list.
fn line(row: EntryRow) -> EntryLine {
    let agent = row.agent_id.as_ref().map(|id| {
        let kind = row.agent_kind.as_deref().filter(|kind| !kind.is_empty());
        Said::from(kind.unwrap_or(id))
    });
    EntryLine {
        session_id: row.session_id,
        seq: row.seq,
        at_ms: row.at_ms,
        is_call: row.is_call,
        name: row.name.into(),
        agent,
        verdict: row.verdict,
        rules: row.rules,
        outcome: row.outcome,
        evidence: row.evidence,
        took_ms: row.duration_ms.or(row.between_ms),
        subject: row.subject.into(),
    }
}

/// Turns a page's query into the filter that the command line uses.
fn filter(opened: &Opened, asked: &Asked) -> Result<Filter, Failure> {
    let words = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let outcomes = asked.outcome.iter().map(|name| outcome(name).map_err(Failure::usage));
    let args = FilterArgs {
        session: asked.session.clone(),
        tool: if asked.calls_only && asked.tool.is_empty() {
            vec!["*".to_owned()]
        } else {
            asked.tool.clone()
        },
        client: Vec::new(),
        agent: asked.agent.clone(),
        event: asked.event.clone(),
        verdict: asked.verdict.clone(),
        outcome: outcomes.collect::<Result<_, _>>()?,
        rule: asked.rule.clone(),
        path: asked.path.clone(),
        text: asked.text.clone(),
        span: SpanArgs { since: words(&asked.since), until: words(&asked.until) },
    };
    let mut filter = args.understand(&opened.shelf)?;
    filter.since_ms = filter.since_ms.max(asked.since_ms);
    if let Some((before_ms, _)) = asked.before {
        filter.until_ms = Some(filter.until_ms.map_or(before_ms, |until| until.min(before_ms)));
    }
    Ok(filter)
}

/// Matching entries, newest first. One more than `limit` shows that there are more.
pub(super) fn listed(opened: &Opened, asked: &Asked, limit: usize) -> Result<Vec<EntryLine>, Failure> {
    let skipped = asked.before.map_or(0, |(_, skipped)| skipped);
    let found =
        opened.trail().entries(&filter(opened, asked)?, limit.saturating_add(skipped).saturating_add(1))?;
    Ok(found.into_iter().rev().map(line).collect())
}

/// A session's entries whose first record is in this range, oldest first.
pub(super) fn story(opened: &Opened, id: &str, first: u64, last: u64) -> Result<Vec<EntryLine>, Failure> {
    let filter =
        Filter { sessions: Some(vec![id.to_owned()]), seqs: Some((first, last)), ..Filter::default() };
    let mut found = opened.trail().entries(&filter, usize::MAX)?;
    found.sort_by_key(|row| (row.seq, row.place));
    Ok(found.into_iter().map(line).collect())
}

/// The newest entry of a session, or its newest call.
pub(super) fn newest_of(opened: &Opened, id: &str, is_call: bool) -> Result<Option<EntryLine>, Failure> {
    let tools = if is_call { vec!["*".to_owned()] } else { Vec::new() };
    let filter = Filter { sessions: Some(vec![id.to_owned()]), tools, ..Filter::default() };
    Ok(opened.trail().entries(&filter, 1)?.pop().map(line))
}

/// Whether a subagent of this kind acted in a session.
pub(super) fn has_agent(opened: &Opened, id: &str, kind: &str) -> Result<bool, Failure> {
    let agents = vec![kind.to_owned()];
    let filter = Filter { sessions: Some(vec![id.to_owned()]), agents, ..Filter::default() };
    Ok(!opened.trail().entries(&filter, 1)?.is_empty())
}

/// The whole entry that a record belongs to.
pub(super) fn whole(place: &Place, opened: &Opened, id: &str, seq: u64) -> Result<EntryDetail, Failure> {
    // Any record of a call identifies it.
    let seq = opened.trail().call_of(id, seq)?.unwrap_or(seq);
    let filter = Filter { sessions: Some(vec![id.to_owned()]), seqs: Some((seq, seq)), ..Filter::default() };
    let mut rows = opened.trail().entries(&filter, usize::MAX)?;
    let entry = match rows.pop() {
        // The records of one call are enough, unless only a batch mentions it.
        Some(row) if rows.is_empty() && row.place == 0 => of_row(opened, id, &row)?,
        _ => None,
    };
    let entry = match entry {
        Some(entry) => entry,
        None => find::by_number(&opened.shelf, id, seq)?,
    };
    let chain = chain(place, opened, id, entry.seqs().last().copied().unwrap_or(seq))?;
    Ok(EntryDetail { entry, chain })
}

/// Builds an entry from its own records. Its outcome may come from other records; the row has it.
fn of_row(opened: &Opened, id: &str, row: &EntryRow) -> Result<Option<Entry>, Failure> {
    let view = opened.shelf.view(id)?;
    let project = view.session.state.project.clone();
    let mut records: Vec<(u64, EventRecord)> = Vec::new();
    for &seq in &row.seqs {
        if let Some(at) = seq.checked_sub(view.stored_records + 1) {
            let record = usize::try_from(at).ok().and_then(|at| view.unfolded.get(at));
            records.extend(record.cloned().map(|record| (seq, record)));
        } else if let Some(store) = &opened.shelf.store {
            store.visit_log(id, seq, &mut |entry| {
                let record = entry.content.and_then(|content| decode_record(content.bytes).ok());
                records.extend(record.filter(|_| entry.seq == seq).map(|record| (seq, record)));
                ControlFlow::Break(())
            })?;
        }
    }
    let origin = SessionRef { session_id: id, project: &project };
    let mut entries = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
    let mut entry = if entries.len() == 1 { entries.pop() } else { None };
    if let (Some(Entry::Call(call)), Some(outcome), Some(evidence)) = (&mut entry, row.outcome, row.evidence)
    {
        (call.outcome, call.evidence) = (outcome, evidence);
    }
    Ok(entry)
}

/// Whether the chain that contains a record is unbroken.
fn chain(place: &Place, opened: &Opened, id: &str, seq: u64) -> Result<ChainState, Failure> {
    let Some(store) = &opened.shelf.store else { return Ok(ChainState::Waiting) };
    let stored = store.session(id)?.map_or(0, |entry| entry.last_seq);
    if seq > stored {
        return Ok(ChainState::Waiting);
    }
    let known = locked(&place.chains).get(id).filter(|(records, _)| *records == stored).cloned();
    let found = if let Some((_, found)) = known {
        found
    } else {
        let found = store.chain_break(id)?;
        locked(&place.chains).insert(id.to_owned(), (stored, found.clone()));
        found
    };
    Ok(found.map_or(ChainState::Holds, |found| {
        let place = found.seq.map(|seq| format!("record {seq}: ")).unwrap_or_default();
        ChainState::Broken(format!("{place}{}", found.what))
    }))
}
