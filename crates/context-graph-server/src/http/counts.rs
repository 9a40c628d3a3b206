//! Counters for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::StatusCode;

use super::turned_away::RejectionKind;

/// Counts since the start of the process.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Responses by the first digit of their status.
    answers: [AtomicU64; 6],
    pushes: AtomicU64,
    refused: AtomicU64,
    turned_away: [AtomicU64; RejectionKind::ALL.len()],
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

    pub(super) fn turned_away(&self, kind: RejectionKind) {
        self.turned_away[kind as usize].fetch_add(1, Relaxed);
    }

    /// The counters in the format of Prometheus.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut tell = |name: &str, help: &str, counts: &[(String, &AtomicU64)]| {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "# HELP context_graph_{name}_total {help}\n# TYPE context_graph_{name}_total counter"
            );
            for (label, count) in counts {
                let _ = writeln!(text, "context_graph_{name}_total{label} {}", count.load(Relaxed));
            }
        };
        let answers = self.answers.iter().enumerate().skip(1);
        let answers: Vec<_> =
            answers.map(|(digit, count)| (format!("{{status=\"{digit}xx\"}}"), count)).collect();
        tell("answers", "Responses by the first digit of their status.", &answers);
        tell("pushes_taken", "Pushes that were stored.", &[(String::new(), &self.pushes)]);
        tell(
            "pushes_not_taken",
            "Pushes that were refused, or could not be stored.",
            &[(String::new(), &self.refused)],
        );
        let kinds = RejectionKind::ALL.iter().zip(&self.turned_away);
        let kinds: Vec<_> =
            kinds.map(|(kind, count)| (format!("{{kind=\"{}\"}}", kind.as_str()), count)).collect();
        tell("turned_away", "Requests that were too large, too slow or too frequent.", &kinds);
        text
    }
}
