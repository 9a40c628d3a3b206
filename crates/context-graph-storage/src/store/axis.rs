//! One session on a time axis, for its page: calls, other events and turns.

use rusqlite::Row;

use super::Store;
use crate::error::Result;

/// A call with its start and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisCallRow {
    /// The sequence number of its first record.
    pub seq: u64,
    /// When it began.
    pub at_ms: i64,
    /// The time of its answer.
    pub ended_ms: Option<i64>,
    /// The tool.
    pub tool: String,
    /// The id of the subagent; `None` on the main thread.
    pub agent_id: Option<String>,
    /// Its kind.
    pub agent_kind: Option<String>,
    /// What was decided before it could run.
    pub verdict: Option<String>,
    /// Its outcome.
    pub outcome: String,
    /// What it was about.
    pub subject: String,
}

/// An event at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisEventRow {
    /// The sequence number of its record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// Its name.
    pub event: String,
    /// What was decided about it.
    pub verdict: Option<String>,
    /// What it was about.
    pub subject: String,
}

/// A turn: from a prompt until the agent stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisTurnRow {
    /// The sequence number of the prompt's record.
    pub seq: u64,
    /// When it was asked.
    pub at_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// The prompt, in one line.
    pub prompt: String,
}

/// A session on a time axis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxisRows {
    /// Its calls, in order.
    pub calls: Vec<AxisCallRow>,
    /// Everything else.
    pub events: Vec<AxisEventRow>,
    /// Its turns.
    pub turns: Vec<AxisTurnRow>,
}

impl Store {
    /// A session on a time axis.
    pub fn axis(&self, session_id: &str) -> Result<AxisRows> {
        self.run(|store| {
            let own = "(SELECT number FROM sessions WHERE session_id = ?)";
            let mut calls = store.connection.prepare_cached(&format!(
                "SELECT seq, at_ms, ended_ms, tool, agent_id, agent_type, verdict, outcome, subject FROM calls
                 WHERE session = {own} ORDER BY seq, place"
            ))?;
            let calls = calls.query_map([session_id], call)?.collect::<rusqlite::Result<_>>()?;
            let mut events = store.connection.prepare_cached(&format!(
                "SELECT seq, at_ms, event, verdict, coalesce(subject, '') FROM events
                 WHERE session = {own} AND call IS NULL ORDER BY seq"
            ))?;
            let events = events.query_map([session_id], event)?.collect::<rusqlite::Result<_>>()?;
            let mut turns = store.connection.prepare_cached(&format!(
                "SELECT seq, at_ms, ended_ms, prompt FROM turns WHERE session = {own} ORDER BY seq"
            ))?;
            let turns = turns.query_map([session_id], turn)?.collect::<rusqlite::Result<_>>()?;
            Ok(AxisRows { calls, events, turns })
        })
    }
}

fn call(row: &Row<'_>) -> rusqlite::Result<AxisCallRow> {
    Ok(AxisCallRow {
        seq: row.get::<_, i64>(0)?.cast_unsigned(),
        at_ms: row.get(1)?,
        ended_ms: row.get(2)?,
        tool: row.get(3)?,
        agent_id: row.get(4)?,
        agent_kind: row.get(5)?,
        verdict: row.get(6)?,
        outcome: row.get(7)?,
        subject: row.get(8)?,
    })
}

fn event(row: &Row<'_>) -> rusqlite::Result<AxisEventRow> {
    Ok(AxisEventRow {
        seq: row.get::<_, i64>(0)?.cast_unsigned(),
        at_ms: row.get(1)?,
        event: row.get(2)?,
        verdict: row.get(3)?,
        subject: row.get(4)?,
    })
}

fn turn(row: &Row<'_>) -> rusqlite::Result<AxisTurnRow> {
    Ok(AxisTurnRow {
        seq: row.get::<_, i64>(0)?.cast_unsigned(),
        at_ms: row.get(1)?,
        ended_ms: row.get(2)?,
        prompt: row.get(3)?,
    })
}
