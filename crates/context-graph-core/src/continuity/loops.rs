//! Finds loops: the same call failing the same way, the same failure whatever is tried, two calls in turn that
//! change nothing, an edit undone and redone.
//!
//! Repetition alone is no loop. Polling a build, running the tests after each change and reading file after
//! file all repeat, but something differs each time: the answer, the files or the call. So a loop needs the
//! same outcome and also a failure or a reversal. If the calls differ, it needs more repetitions.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::call::{Act, CallText};

/// How many newest events are compared.
const WINDOW: usize = 16;
/// This many equal failures of a call are a loop, if nothing was changed in between.
const FAILURES: u32 = 3;
/// The same if something was changed: each change may have been an attempt to fix it.
const FAILURES_WITH_CHANGES: u32 = 5;
/// This many equal failures of different calls are a loop.
const ALIKE: u32 = 5;
/// They are counted among this many newest calls. Typical causes: a wrong working folder, a file that was not
/// read first.
const AMONG: usize = 8;
/// Two alternating calls are a loop after this many rounds, if one of them fails.
const ROUNDS: usize = 3;
/// The same if both calls only read and give the same result each time. Commands do not count: they may be waiting
/// for something.
const IDLE_ROUNDS: usize = 4;
/// An edit is a loop at this many applications and reversals. Undoing once to see a test fail is good practice.
const FLIPS: u32 = 4;
/// A loop is over after this many events that are not part of it.
const PATIENCE: u8 = 3;

/// How a loop of different calls is described: the calls have no common title.
const WHATEVER: &str = "the same failure, whatever is tried";

/// What repeats, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// What repeats, in a few words.
    pub what: String,
    /// How many times so far.
    pub times: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    request: u64,
    result: u64,
    failed: bool,
    act: Act,
    /// Whether the result has content, so that an equal result means something.
    telling: bool,
    edit: Option<(u64, u64)>,
}

impl Step {
    fn same(self, other: Self) -> bool {
        self.request == other.request && self.result == other.result
    }

    /// Whether it may have changed something that the next attempt depends on.
    fn changes(self) -> bool {
        self.act == Act::Change && !self.failed
    }
}

/// The newest events, and the current loop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loops {
    recent: VecDeque<Step>,
    current: Option<Loop>,
    quiet: u8,
}

impl Loops {
    /// The session's current loop.
    pub(crate) fn current(&self) -> Option<&Loop> {
        self.current.as_ref()
    }

    /// How many of the newest events failed in a row.
    pub(crate) fn failures_in_a_row(&self) -> usize {
        self.recent.iter().rev().take_while(|step| step.failed).count()
    }

    /// Forgets everything: after a new prompt, the next call is a new attempt.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a tool's result.
    pub(crate) fn observe(&mut self, call: &CallText) {
        let step = Step {
            request: call.request,
            result: call.result,
            failed: call.failed,
            act: call.act,
            telling: if call.failed { says_why(&call.output) } else { !call.output.trim().is_empty() },
            edit: call.edit.filter(|_| !call.failed),
        };
        let broken = self
            .recent
            .iter()
            .rev()
            .find(|past| past.request == step.request)
            .is_some_and(|past| !past.same(step));
        self.recent.push_back(step);
        if self.recent.len() > WINDOW {
            self.recent.pop_front();
        }
        let found = self
            .failing()
            .map(|times| Loop { what: format!("the same failure of {}", call.title), times })
            .or_else(|| {
                self.erring().map(|times| Loop { what: format!("{WHATEVER}: {}", call.title), times })
            })
            .or_else(|| {
                self.flipping().map(|times| Loop {
                    what: format!("the same edit undone and redone: {}", call.title),
                    times,
                })
            })
            .or_else(|| {
                self.alternating()
                    .map(|times| Loop { what: format!("two calls in turn: {}", call.title), times })
            });
        if let Some(mut found) = found {
            // The window is bounded, so a loop that continues keeps its count.
            if let Some(before) = self.current.take()
                && (before.what == found.what
                    || [&before, &found].iter().all(|it| it.what.starts_with(WHATEVER)))
            {
                found.times = found.times.max(before.times.saturating_add(1));
            }
            self.current = Some(found);
            self.quiet = 0;
        } else if self.current.is_some() {
            self.quiet += 1;
            if broken || self.quiet >= PATIENCE {
                self.current = None;
                self.quiet = 0;
            }
        }
    }

    /// How often the newest call failed this way without any other outcome.
    fn failing(&self) -> Option<u32> {
        let newest = *self.recent.back().filter(|step| step.failed)?;
        let mut times = 0;
        let mut changed = false;
        let mut changed_since = false;
        for step in self.recent.iter().rev() {
            if step.same(newest) && step.failed {
                times += 1;
                changed |= changed_since;
                changed_since = false;
            } else if step.request == newest.request {
                break;
            } else {
                changed_since |= step.changes();
            }
        }
        (times >= if changed { FAILURES_WITH_CHANGES } else { FAILURES }).then_some(times)
    }

    /// How many of the newest calls failed as the newest did, whatever they asked for.
    fn erring(&self) -> Option<u32> {
        let newest = *self.recent.back().filter(|step| step.failed && step.telling)?;
        let alike = |step: &&Step| step.failed && step.result == newest.result;
        let times = self.recent.iter().rev().take(AMONG).filter(alike).count();
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        (times >= ALIKE).then_some(times)
    }

    /// How often the newest edit was applied or reverted, in turn.
    fn flipping(&self) -> Option<u32> {
        let (mut old, mut new) = self.recent.back()?.edit?;
        let mut times = 0;
        for edit in self.recent.iter().rev().filter_map(|step| step.edit) {
            if edit == (old, new) {
                times += 1;
                (old, new) = (new, old);
            }
        }
        (times >= FLIPS).then_some(times)
    }

    /// How many rounds of the same two calls with the same two outcomes there were.
    fn alternating(&self) -> Option<u32> {
        let mut back = self.recent.iter().rev();
        let (second, first) = (*back.next()?, *back.next()?);
        if second.same(first) {
            return None;
        }
        let turns = 2 + back
            .enumerate()
            .take_while(|(at, step)| step.same(if at % 2 == 0 { second } else { first }))
            .count();
        let stuck = first.failed || second.failed;
        let idle = [first, second].iter().all(|step| step.telling && step.act == Act::Look);
        let rounds = turns / 2;
        (rounds >= IDLE_ROUNDS && idle || rounds >= ROUNDS && stuck)
            .then(|| u32::try_from(rounds).unwrap_or(u32::MAX))
    }
}

/// Whether an error says more than that the call failed. A search without matches fails with a bare exit
/// status.
fn says_why(error: &str) -> bool {
    let rest = error.trim_start();
    let rest = rest.strip_prefix("Exit code").unwrap_or(rest);
    rest.chars().filter(|c| c.is_alphabetic()).take(12).count() >= 12
}
