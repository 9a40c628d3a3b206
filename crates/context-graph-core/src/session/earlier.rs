//! Sessions in older storage formats.

use serde::Deserialize;

use super::recent::RecentCalls;
use super::work::{FileTouched, Files, Requests, Uses, Work};
use super::{Counters, Dream, FoundBy, Session, SessionEnd, SessionState};
use crate::continuity::{Continuity, Loop};
use crate::gwt::lifecycle::Lifecycle;
use crate::gwt::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};

/// A session in a format without the times of each use. The first formats lack the last fields.
#[derive(Debug, Deserialize)]
pub struct EarlierSession {
    snapshot: SessionIdentitySnapshot,
    state: EarlierState,
}

#[derive(Debug, Deserialize)]
struct EarlierState {
    lifecycle: Lifecycle,
    project: String,
    transcript_path: String,
    cwd: String,
    model: String,
    started_ms: i64,
    updated_ms: i64,
    ended_ms: Option<i64>,
    end_reason: Option<String>,
    link_origin: Option<FoundBy>,
    previous_purpose: Option<[f32; KURAMOTO_N]>,
    counters: Counters,
    /// The forecast of continuity.
    _forecaster: (f32, f32),
    work: EarlierWork,
    continuity: Continuity,
    looping: Option<Loop>,
    last_dream: Option<Dream>,
    unlogged_dream: Option<Dream>,
    end: Option<SessionEnd>,
    recent_calls: RecentCalls,
}

#[derive(Debug, Deserialize)]
struct EarlierWork {
    purpose: String,
    asked_since: Vec<String>,
    files: Vec<EarlierFile>,
    _failing: Vec<(String, String, String, u32)>,
    _last_actions: Vec<(String, u32)>,
    _decisions: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct EarlierFile {
    path: String,
    reads: u32,
    writes: u32,
    /// The number of the event that touched it last.
    last: u64,
}

impl EarlierWork {
    fn into_work(self, folder: &str, counters: &Counters) -> Work {
        let calls = u32::try_from(counters.calls()).unwrap_or(u32::MAX);
        let events = counters.events.max(1);
        let files = self.files.into_iter().map(|file| {
            let at = u32::try_from(file.last.saturating_mul(u64::from(calls)) / events).unwrap_or(calls);
            let uses = Uses::counted(file.reads.saturating_add(file.writes), at.min(calls));
            FileTouched { path: file.path, writes: file.writes, uses }
        });
        let requests = Requests {
            first: self.purpose,
            newest: self.asked_since.into_iter().next_back().unwrap_or_default(),
            rules: Vec::new(),
        };
        let folder = if calls > 0 { folder.to_owned() } else { String::new() };
        Work { folder, calls, requests, files: Files::of(files), ..Work::default() }
    }
}

impl From<EarlierSession> for Session {
    fn from(EarlierSession { snapshot, state }: EarlierSession) -> Self {
        let work = state.work.into_work(&state.cwd, &state.counters);
        let state = SessionState {
            lifecycle: state.lifecycle,
            project: state.project,
            transcript_path: state.transcript_path,
            cwd: state.cwd,
            model: state.model,
            started_ms: state.started_ms,
            updated_ms: state.updated_ms,
            ended_ms: state.ended_ms,
            end_reason: state.end_reason,
            link_origin: state.link_origin,
            previous_purpose: state.previous_purpose,
            counters: state.counters,
            work,
            continuity: state.continuity,
            looping: state.looping,
            last_dream: state.last_dream,
            unlogged_dream: state.unlogged_dream,
            end: state.end,
            recent_calls: state.recent_calls,
            ..SessionState::default()
        };
        Self { snapshot, state }
    }
}
