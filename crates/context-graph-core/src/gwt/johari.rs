//! Johari window: consciousness and integration, each high or low.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::numeric::unit;
use super::session_identity::SessionIdentitySnapshot;

/// At or above this a measure is high.
pub const JOHARI_HIGH_THRESHOLD: f32 = 0.7;

/// Below this a measure is clearly low. It is part of the contract, for callers that describe a state; the
/// classification itself has no gap between low and high.
pub const JOHARI_LOW_THRESHOLD: f32 = 0.3;

/// A quadrant of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JohariQuadrant {
    /// Consciousness and integration are high.
    Open,
    /// Only integration is high.
    Blind,
    /// Only consciousness is high.
    Hidden,
    /// Neither is high, as in a new session.
    Unknown,
}

impl JohariQuadrant {
    /// The name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Blind => "blind",
            Self::Hidden => "hidden",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for JohariQuadrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Places a session in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JohariClassifier;

impl JohariClassifier {
    /// The quadrant of a snapshot. A measure that is not finite is not high.
    pub fn classify(snapshot: &SessionIdentitySnapshot) -> JohariQuadrant {
        let c = unit(snapshot.consciousness);
        let i = unit(snapshot.integration);

        match (c >= JOHARI_HIGH_THRESHOLD, i >= JOHARI_HIGH_THRESHOLD) {
            (true, true) => JohariQuadrant::Open,
            (false, true) => JohariQuadrant::Blind,
            (true, false) => JohariQuadrant::Hidden,
            (false, false) => JohariQuadrant::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quadrant(consciousness: f32, integration: f32) -> JohariQuadrant {
        let fresh = SessionIdentitySnapshot::new("s");
        JohariClassifier::classify(&SessionIdentitySnapshot { consciousness, integration, ..fresh })
    }

    #[test]
    fn the_threshold_itself_is_high() {
        let below = JOHARI_HIGH_THRESHOLD.next_down();
        assert_eq!(quadrant(0.7, 0.7), JohariQuadrant::Open);
        assert_eq!(quadrant(below, 0.7), JohariQuadrant::Blind);
        assert_eq!(quadrant(0.7, below), JohariQuadrant::Hidden);
        assert_eq!(quadrant(below, below), JohariQuadrant::Unknown);
    }

    #[test]
    fn what_is_not_a_number_is_not_high() {
        assert_eq!(quadrant(f32::NAN, f32::NAN), JohariQuadrant::Unknown);
        assert_eq!(quadrant(f32::INFINITY, 1.0), JohariQuadrant::Blind);
    }

    #[test]
    fn a_fresh_session_is_unknown() {
        assert_eq!(JohariClassifier::classify(&SessionIdentitySnapshot::new("s")), JohariQuadrant::Unknown);
    }

    #[test]
    fn a_quadrant_is_written_as_it_is_called() {
        let all =
            [JohariQuadrant::Open, JohariQuadrant::Blind, JohariQuadrant::Hidden, JohariQuadrant::Unknown];
        for quadrant in all {
            assert_eq!(serde_json::to_string(&quadrant).unwrap(), format!("\"{quadrant}\""));
        }
    }
}
