//! Continuity over a session, computed by replaying its records. The results are kept, so that only new
//! records are replayed.

use context_graph_core::session::{Curve, Playback};
use context_graph_storage::sessions::{SessionView, decode_record};
use std::ops::ControlFlow;

use super::place::{Place, locked};
use crate::commands::failure::Failure;
use crate::commands::session::Shelf;

/// How many curves are kept; a point is a few bytes.
const MOST: usize = 300;
/// How many replayed sessions are kept, so that a replay can continue. A replayed session needs much more memory than
/// a curve.
const MOST_GOING_ON: usize = 8;

/// How many records may be replayed while a page waits.
const AT_ONCE: u64 = 1500;

/// A curve that was computed before.
pub(super) struct Kept {
    last_seq: u64,
    curve: Curve,
    /// The replayed session, if it has not ended.
    playback: Option<Playback>,
}

/// The curve of a session.
pub(super) fn curve(place: &Place, shelf: &Shelf, id: &str) -> Result<Curve, Failure> {
    let view = shelf.view(id)?;
    let records = view.stored_records + view.unfolded.len() as u64;
    let kept = locked(&place.curves).remove(id);
    if let Some(kept) = kept.filter(|kept| kept.last_seq <= records) {
        if kept.last_seq == records {
            let curve = kept.curve.clone();
            keep(place, id, kept);
            return Ok(curve);
        }
        if let Some(playback) = kept.playback {
            return go_on(place, shelf, id, playback, view);
        }
    }
    let playback = Playback::new(id, &view.session.state.project);
    go_on(place, shelf, id, playback, view)
}

/// The curve as last computed; `None` if it was never computed.
pub(super) fn drawn(place: &Place, id: &str) -> Option<Curve> {
    locked(&place.curves).get(id).map(|kept| kept.curve.clone())
}

/// Whether a session has too many new records for a page to wait for them.
pub(super) fn is_long(place: &Place, shelf: &Shelf, id: &str) -> Result<bool, Failure> {
    let view = shelf.view(id)?;
    let records = view.stored_records + view.unfolded.len() as u64;
    let drawn = locked(&place.curves).get(id).map_or(0, |kept| kept.last_seq);
    Ok(records.saturating_sub(drawn) > AT_ONCE)
}

/// Replays the new records.
fn go_on(
    place: &Place,
    shelf: &Shelf,
    id: &str,
    mut playback: Playback,
    view: SessionView,
) -> Result<Curve, Failure> {
    if let Some(store) = &shelf.store {
        store.visit_log(id, playback.last_seq + 1, &mut |entry| {
            let record = entry.content.and_then(|content| decode_record(content.bytes).ok());
            match record {
                Some(record) => playback.play(entry.seq, &record),
                None => playback.last_seq = entry.seq,
            }
            ControlFlow::Continue(())
        })?;
    }
    for (seq, record) in (view.stored_records + 1..).zip(&view.unfolded) {
        if seq > playback.last_seq {
            playback.play(seq, record);
        }
    }
    let curve = playback.curve.clone();
    let goes_on = view.session.state.ended_ms.is_none();
    let last_seq = view.stored_records + view.unfolded.len() as u64;
    keep(place, id, Kept { last_seq, curve: curve.clone(), playback: goes_on.then_some(playback) });
    Ok(curve)
}

fn keep(place: &Place, id: &str, kept: Kept) {
    let mut curves = locked(&place.curves);
    if curves.len() >= MOST {
        curves.clear();
    }
    let going_on = curves.values().filter(|kept| kept.playback.is_some()).count();
    if kept.playback.is_some() && going_on >= MOST_GOING_ON {
        curves.values_mut().for_each(|kept| kept.playback = None);
    }
    curves.insert(id.to_owned(), kept);
}
