//! Records requests that were too large, too slow or too frequent: how many of each kind per minute, from
//! which address. The size is bounded, so that nobody can fill the disk with them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;

use crate::db::{DbError, Pool};
use crate::given;

const MINUTE_MS: i64 = 60_000;
/// How many rows a minute may have. Further addresses are counted together, under [`REST`].
const MOST: usize = 40;
const REST: &str = "others";
/// How many rows wait if the database cannot be reached.
const MOST_WAITING: usize = 2000;
/// How long rows are kept.
const KEPT_MS: i64 = 30 * 86_400_000;
/// How often they are stored.
pub(crate) const STORED_EVERY: Duration = Duration::from_secs(2);

/// What was wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RejectionKind {
    Large,
    Slow,
    Frequent,
}

impl RejectionKind {
    /// What a response says was wrong, if it is one of these.
    pub(super) fn of(status: StatusCode) -> Option<Self> {
        match status {
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::LENGTH_REQUIRED => Some(Self::Large),
            StatusCode::REQUEST_TIMEOUT => Some(Self::Slow),
            StatusCode::TOO_MANY_REQUESTS => Some(Self::Frequent),
            _ => None,
        }
    }

    pub(super) const ALL: [Self; 3] = [Self::Large, Self::Slow, Self::Frequent];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Large => "too large",
            Self::Slow => "too slow",
            Self::Frequent => "too frequent",
        }
    }
}

type Counted = BTreeMap<(i64, String, RejectionKind), u64>;

/// What is not stored yet.
#[derive(Debug, Default)]
pub(crate) struct TurnedAway(Mutex<Counted>);

impl TurnedAway {
    pub(crate) fn note(&self, source: IpAddr, kind: RejectionKind, now_ms: i64) {
        let at_ms = now_ms - now_ms.rem_euclid(MINUTE_MS);
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (at_ms, source.to_string(), kind);
        if !counted.contains_key(&key) {
            let of_minute = counted.range((at_ms, String::new(), RejectionKind::Large)..).count();
            if of_minute >= MOST {
                REST.clone_into(&mut key.1);
            }
        }
        *counted.entry(key).or_default() += 1;
        while counted.len() > MOST_WAITING {
            counted.pop_first();
        }
    }

    /// Adds what was noted to the stored counts of the same minutes. What cannot be stored waits.
    pub(crate) fn store(&self, pool: &Pool, now_ms: i64) -> Result<(), DbError> {
        let counted = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if counted.is_empty() {
            return Ok(());
        }
        let stored = pool.transaction(|_: &DbError| false, |connection| {
            connection.execute("DELETE FROM turned_away WHERE at_ms < $1", given![now_ms - KEPT_MS])?;
            for ((at_ms, source, kind), number) in &counted {
                let of_minute = "SELECT count(*) FROM turned_away WHERE at_ms = $1 AND NOT (source = $2 AND kind = $3)";
                let others = connection.one(of_minute, given![*at_ms, source.as_str(), kind.as_str()])?;
                let is_full = others.is_some_and(|row| row.count(0) >= MOST as u64);
                let source = if is_full { REST } else { source };
                connection.execute(
                    "INSERT INTO turned_away (at_ms, source, kind, number) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (at_ms, source, kind) DO UPDATE SET number = turned_away.number + excluded.number",
                    given![*at_ms, source, kind.as_str(), *number],
                )?;
            }
            Ok(())
        });
        if stored.is_err() {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for (key, number) in counted {
                *waiting.entry(key).or_default() += number;
            }
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_few_rows_whoever_asks() {
        let noted = TurnedAway::default();
        for last in 0..=255 {
            for kind in [RejectionKind::Large, RejectionKind::Frequent] {
                noted.note(IpAddr::from([10, 0, 0, last]), kind, 60_000 + i64::from(last));
            }
        }
        let counted = noted.0.into_inner().unwrap();
        assert!(counted.len() <= MOST + 3, "{}", counted.len());
        assert_eq!(counted.values().sum::<u64>(), 512, "each is counted");
        assert!(counted.keys().all(|(at_ms, _, _)| *at_ms == 60_000));
    }
}
