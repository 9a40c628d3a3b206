//! What happens, as it happens: pages are told that there is something new, and ask for themselves again.

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

/// How often is looked whether something is new, while somebody watches.
const PAUSE: Duration = Duration::from_millis(700);

/// Tells all who watch that something is new.
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
    /// Whether somebody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Looks for what is new for as long as the program runs; only while somebody watches.
    pub(crate) async fn look(self: Arc<Self>, records: Arc<dyn Records>) {
        loop {
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

/// A stream of one word each time something is new.
pub(crate) async fn stream(State(site): State<Site>) -> impl IntoResponse {
    let receiver = site.pulse.sender.subscribe();
    let events = stream::unfold(receiver, |mut receiver| async move {
        receiver.changed().await.ok()?;
        let now = *receiver.borrow_and_update();
        Some((Ok::<_, Infallible>(Event::default().event("new").data(now.to_string())), receiver))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(20)))
}
