//! The beginning of a stored session: its work, without the much larger memory of its views.

use serde::Deserialize;

use super::{Counters, FoundBy, Work};
use crate::gwt::forecast::Forecaster;
use crate::gwt::lifecycle::Lifecycle;
use crate::gwt::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};

/// The first fields of a [`Session`](super::Session), in the same order.
#[derive(Debug, Deserialize)]
pub struct SessionBeginning {
    _snapshot: SessionIdentitySnapshot,
    _lifecycle: Lifecycle,
    /// The project's root.
    pub project: String,
    _texts: (String, String, String),
    _times: (i64, i64, Option<i64>),
    _end_reason: Option<String>,
    _link: (Option<FoundBy>, Option<[f32; KURAMOTO_N]>),
    _counters: Counters,
    _forecaster: Forecaster,
    /// What it has done.
    pub work: Work,
}
