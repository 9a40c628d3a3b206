//! Receiving a request's body, within the limits of size, time and memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::places::Slot;
use super::{App, BODY_PATIENCE, Handled, HttpRefusal, STEP};

/// The length that a request announces.
pub(super) fn length(headers: &HeaderMap, most: usize) -> Handled<usize> {
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let length =
        length.ok_or_else(|| HttpRefusal::new(StatusCode::LENGTH_REQUIRED, "say how long the request is"))?;
    if length > most {
        return Err(HttpRefusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a request may have {most} bytes"),
        ));
    }
    Ok(length)
}

/// Waits for memory, at most [`BODY_PATIENCE`].
pub(super) async fn room(of: &Arc<Semaphore>, bytes: usize, all: usize) -> Handled<OwnedSemaphorePermit> {
    let steps = u32::try_from((bytes / STEP + 1).min(all)).unwrap_or(u32::MAX);
    let busy = || HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy");
    let waiting = Arc::clone(of).acquire_many_owned(steps);
    tokio::time::timeout(BODY_PATIENCE, waiting).await.ok().and_then(Result::ok).ok_or_else(busy)
}

impl App {
    /// Reads a body of a known length, within the limit of time.
    pub(super) async fn read(&self, headers: &HeaderMap, body: Body, most: usize) -> Handled<Bytes> {
        length(headers, most)?;
        let late = |_| HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time");
        let cut = |_| HttpRefusal::new(StatusCode::BAD_REQUEST, "the request was cut off");
        let reading = axum::body::to_bytes(body, most);
        tokio::time::timeout(self.patience().body, reading).await.map_err(late)?.map_err(cut)
    }

    /// Waits until the machine may push. Several of its processes may want to at the same time.
    pub(super) async fn place(&self, machine: i64) -> Handled<Slot<i64>> {
        let many =
            |_| HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, "this machine pushes too much at once");
        let waiting = async {
            loop {
                if let Some(place) = self.0.pushing.enter(machine) {
                    return place;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(BODY_PATIENCE, waiting).await.map_err(many)
    }
}
