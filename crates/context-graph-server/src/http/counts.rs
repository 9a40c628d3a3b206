//! Counters for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::StatusCode;

/// Counts since the start of the process.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Responses by the first digit of their status.
    answers: [AtomicU64; 6],
    pushes: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    pub(super) fn request(&self, status: StatusCode) {
        if let Some(count) = self.answers.get(usize::from(status.as_u16() / 100)) {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn push(&self, is_taken: bool) {
        (if is_taken { &self.pushes } else { &self.refused }).fetch_add(1, Relaxed);
    }

    /// The counters in the format of Prometheus.
    pub(super) fn told(&self) -> String {
        let mut text = String::from("# TYPE context_graph_answers_total counter\n");
        for (digit, count) in self.answers.iter().enumerate().skip(1) {
            // Writing to a String cannot fail.
            let _ =
                writeln!(text, "context_graph_answers_total{{status=\"{digit}xx\"}} {}", count.load(Relaxed));
        }
        for (name, count) in [("pushes_taken", &self.pushes), ("pushes_not_taken", &self.refused)] {
            let _ = writeln!(
                text,
                "# TYPE context_graph_{name}_total counter\ncontext_graph_{name}_total {}",
                count.load(Relaxed)
            );
        }
        text
    }
}
