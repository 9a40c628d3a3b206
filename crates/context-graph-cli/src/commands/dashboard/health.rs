//! Checks that take too long for a page: doctor's checks of the installation, and verifying the chains. Each
//! has its own thread, and pages show its progress.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use context_graph_web::{Grade, HealthCheck, Said, Verification};

use super::place::{Place, locked};
use crate::commands::audit::verify;
use crate::commands::doctor::check_result::{CheckResult, Level};
use crate::commands::{doctor, failure::Failure};
use crate::{Environment, clock};

/// How long results stay valid.
const FRESH: Duration = Duration::from_mins(1);

/// Running checks and their results.
#[derive(Default)]
pub(super) struct Health {
    checks: Arc<Mutex<Look>>,
    verification: Arc<Mutex<Option<Verification>>>,
}

#[derive(Default)]
struct Look {
    is_going: bool,
    found: Option<(Instant, Vec<HealthCheck>)>,
}

impl Health {
    /// Doctor's results for these projects; `None` during the first check.
    pub(super) fn checks(&self, places: &[Place]) -> Option<Vec<HealthCheck>> {
        let mut look = locked(&self.checks);
        let is_fresh = look.found.as_ref().is_some_and(|(at, _)| at.elapsed() < FRESH);
        if !is_fresh && !look.is_going {
            look.is_going = true;
            let environments: Vec<Environment> =
                places.iter().map(|place| place.environment.clone()).collect();
            let shared = Arc::clone(&self.checks);
            thread::spawn(move || {
                let found = environments.into_iter().flat_map(doctor::examined).map(health_check).collect();
                *locked(&shared) = Look { is_going: false, found: Some((Instant::now(), found)) };
            });
        }
        look.found.as_ref().map(|(_, found)| found.clone())
    }

    /// The state of the verification. Starts one if `begin` is set and none is running.
    pub(super) fn verification(&self, places: &Arc<Vec<Place>>, begin: bool) -> Verification {
        let mut state = locked(&self.verification);
        let is_going = matches!(*state, Some(Verification::Going(..)));
        let is_done = |state: &Verification| match state {
            // Reloading the page must not start another one at once.
            Verification::Holds { at_ms, .. } => clock::now_ms() - at_ms < 10_000,
            _ => false,
        };
        if begin && !is_going && !state.as_ref().is_some_and(is_done) {
            *state = Some(Verification::Going(0, 0));
            let (shared, places) = (Arc::clone(&self.verification), Arc::clone(places));
            thread::spawn(move || {
                let told = verify_all(&places, &mut |done, of| {
                    *locked(&shared) = Some(Verification::Going(done, of));
                });
                *locked(&shared) =
                    Some(told.unwrap_or_else(|failure| Verification::Fails(failure.to_string())));
            });
        }
        state.clone().unwrap_or(Verification::NotStarted)
    }
}

fn verify_all(places: &[Place], progress: &mut dyn FnMut(u64, u64)) -> Result<Verification, Failure> {
    let (mut records, mut sessions) = (0, 0);
    for place in places {
        let shelf = match place.open_apart() {
            Err(failure) if failure.is_nothing_there() => continue,
            shelf => shelf?,
        };
        let before = records;
        let (followed, of, broken) =
            verify::holds(&shelf, &place.environment, &mut |done, of| progress(before + done, before + of))?;
        if let Some(what) = broken {
            return Ok(Verification::Fails(what));
        }
        records += followed;
        sessions += of;
    }
    Ok(Verification::Holds { records, sessions, at_ms: clock::now_ms() })
}

fn health_check(result: CheckResult) -> HealthCheck {
    HealthCheck {
        grade: match result.level {
            Level::Ok => Grade::Ok,
            Level::Warning => Grade::Warning,
            Level::Broken => Grade::Broken,
        },
        check: result.check.to_owned(),
        what: result.what.into(),
        fix: result.fix.map(Said::from),
    }
}
