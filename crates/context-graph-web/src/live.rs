//! Live updates: pages are told that there is something new and reload themselves.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream;
use tokio::sync::watch;

use crate::records::Records;
use crate::site::Site;

/// How often to check for something new while somebody watches.
const PAUSE: Duration = Duration::from_millis(700);

/// Tells all watchers that something is new.
#[derive(Debug)]
pub(crate) struct Pulse {
    sender: watch::Sender<u64>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { sender: watch::Sender::new(0) }
    }
}

impl Pulse {
    /// Whether somebody is watching.
    pub(crate) fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Checks for new records as long as there are pages, but only while somebody watches.
    pub(crate) async fn look(self: Arc<Self>, records: Arc<dyn Records>) {
        while Arc::strong_count(&self) > 1 {
            tokio::time::sleep(PAUSE).await;
            if !self.is_watched() {
                continue;
            }
            let records = Arc::clone(&records);
            if let Ok(now) = tokio::task::spawn_blocking(move || records.pulse()).await {
                self.sender.send_if_modified(|known| std::mem::replace(known, now) != now);
            }
        }
    }
}

/// A stream that sends one event whenever something is new.
pub(crate) async fn stream(State(site): State<Site>) -> impl IntoResponse {
    let receiver = site.pulse.sender.subscribe();
    let events = stream::unfold(receiver, |mut receiver| async move {
        receiver.changed().await.ok()?;
        let now = *receiver.borrow_and_update();
        Some((Ok::<_, Infallible>(Event::default().event("new").data(now.to_string())), receiver))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(20)))
}
