//! Runs the packages an event is routed to, in limited time.
//!
//! All packages share one engine, so that common helpers are parsed once. One that fails in company is tried again by
//! itself: a mistake in one package must not take the others with it.
//!
//! One thread does the work, and never the caller's own. More than one gain little on an idle machine and lose much on
//! a busy one, where the slowest to get a processor is waited for. A rule that loops is stopped by the engine's clock, which
//! does not know whether the thread was let run: where it was not, the package is run again. What the engine does not look at
//! while it works (a parse that explodes, one huge built-in call) is left behind when the time is over,
//! and its thread ends with the process. Its stack is large because the engine recurses with the text of a policy;
//! only what is used of it is ever touched.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::collect::{self, Said};
use super::engine::{Loaded, millis};
use super::error::{RegoError, RegoErrorKind};
use super::input::Input;
use super::set::{PolicySet, Source};
use super::time::ThreadTime;
use crate::decision::Decision;

/// The name of the thread that runs policies.
pub const THREAD: &str = "rego";

const STACK: usize = 64 << 20;

/// Does the work that it is given, with whatever has to be done before and after.
pub type Around = fn(&mut dyn FnMut());

/// How far the policies of one event may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time for all of them, parsing included. Time in which a busy machine does not let them run does not count.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_millis(60) }
    }
}

/// What one package took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The package.
    pub package: String,
    /// The file that stands for it.
    pub file: String,
    /// Time for running it. What packages share is in the first one's.
    pub took: Duration,
}

/// What the policies said.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The decision of all that could be run.
    pub decision: Decision,
    /// What could not: bad files and headers, policies that failed or were stopped.
    pub errors: Vec<RegoError>,
    /// What each package took, by name.
    pub timings: Vec<Timing>,
}

struct Job {
    package: String,
    file: String,
    files: Vec<Source>,
}

struct Answer {
    job: usize,
    result: Result<Vec<(&'static str, Value)>, RegoError>,
    took: Duration,
}

impl PolicySet {
    /// Runs what an event is routed to.
    pub fn evaluate(&self, event: &str, tool: Option<&str>, input: &Input, limits: Limits) -> Outcome {
        self.evaluate_on(event, tool, input, limits, |work| work())
    }

    /// The same, with something done around it on the thread that does the work. A chain of rules can be longer than any
    /// stack, and what then becomes of the process is the caller's to prepare for.
    pub fn evaluate_on(
        &self,
        event: &str,
        tool: Option<&str>,
        input: &Input,
        limits: Limits,
        around: Around,
    ) -> Outcome {
        let mut outcome = Outcome { errors: self.errors().to_vec(), ..Outcome::default() };
        let jobs: Vec<Job> = self
            .units_for(event, tool)
            .map(|unit| Job {
                package: unit.package.clone(),
                file: unit.file.to_string(),
                files: self.files_of(&unit.package),
            })
            .collect();
        if jobs.is_empty() {
            return outcome;
        }
        let mut waiting: Vec<Option<(String, String)>> =
            jobs.iter().map(|job| Some((job.package.clone(), job.file.clone()))).collect();
        let reads_params = |job: &Job| job.files.iter().any(|file| file.text.contains("input.params"));
        let value = if jobs.iter().any(reads_params) { input.with_params() } else { input.value().clone() };
        let time = Arc::new(ThreadTime::new(limits.time));
        let answers = run_apart(jobs, value, Arc::clone(&time), around);
        // The engine stops itself first, so that it can say where.
        let slack = limits.time / 8 + Duration::from_millis(5);
        let mut said = Vec::new();
        let end = loop {
            let answer = match answers.recv_timeout(time.left() + slack) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) if !time.left().is_zero() => continue,
                Err(end) => break end,
            };
            let Some((package, file)) = waiting.get_mut(answer.job).and_then(Option::take) else { continue };
            match answer.result {
                Ok(sets) => {
                    let says = |(verb, value)| Said { file: file.clone(), verb, value };
                    said.extend(sets.into_iter().map(says));
                }
                // Several packages may share one broken helper.
                Err(error) if outcome.errors.contains(&error) => {}
                Err(error) => outcome.errors.push(error),
            }
            outcome.timings.push(Timing { package, file, took: answer.took });
        };
        let unanswered = match end {
            RecvTimeoutError::Timeout => RegoErrorKind::TimeLimit(millis(limits.time)),
            RecvTimeoutError::Disconnected => {
                RegoErrorKind::Evaluate("the engine ended before it had an answer".to_owned())
            }
        };
        let silent = waiting.into_iter().flatten();
        outcome.errors.extend(silent.map(|(_, file)| RegoError::new(&file, None, unanswered.clone())));
        outcome.timings.sort_by(|a, b| a.package.cmp(&b.package));
        let (decision, errors) = collect::collect(said, input);
        outcome.decision = decision;
        outcome.errors.extend(errors);
        outcome
    }
}

/// Runs the jobs one after the other on a thread of their own. The channel ends when all are done.
fn run_apart(jobs: Vec<Job>, input: Value, time: Arc<ThreadTime>, around: Around) -> mpsc::Receiver<Answer> {
    let (sender, receiver) = mpsc::channel();
    let run_all = move || {
        let mut started = Instant::now();
        time.is_of_this_thread();
        let input = regorus::Value::from(input);
        let mut shared = Loaded::new(distinct(&jobs), &input);
        for (at, job) in jobs.iter().enumerate() {
            let result = run(job, &mut shared, &input, &time);
            if sender.send(Answer { job: at, result, took: started.elapsed() }).is_err() {
                return;
            }
            started = Instant::now();
        }
        // Nobody has to wait until what was parsed is given back.
        drop(sender);
    };
    // Taken out, so that what the work owns goes with it.
    let mut run_all = Some(run_all);
    let run = move || around(&mut || run_all.take().into_iter().for_each(|run_all| run_all()));
    // A thread that is not there, or gone, has dropped its end of the channel; the caller notices.
    let _ = thread::Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn(run);
    receiver
}

/// Every file once.
fn distinct(jobs: &[Job]) -> Vec<&Source> {
    let mut files: Vec<&Source> = jobs.iter().flat_map(|job| &job.files).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    files
}

fn run(
    job: &Job,
    shared: &mut Loaded,
    input: &regorus::Value,
    time: &ThreadTime,
) -> Result<Vec<(&'static str, Value)>, RegoError> {
    let own = |error: &&RegoError| job.files.iter().any(|file| *file.path == error.file);
    if let Some(error) = shared.broken.iter().find(own) {
        return Err(error.clone());
    }
    if shared.recursion.is_none() {
        match shared.decisions(&job.package, time) {
            Err(error) if matches!(error.kind, RegoErrorKind::Evaluate(_)) || is_unjust(&error, time) => {}
            settled => return settled,
        }
    }
    loop {
        // An engine that was stopped in a rule takes the next call of that rule for one by itself, so each try has a new one.
        let mut alone = Loaded::new(&job.files, input);
        if let Some(error) = alone.recursion.take() {
            return Err(error);
        }
        match alone.decisions(&job.package, time) {
            Err(error) if is_unjust(&error, time) => {}
            settled => return settled,
        }
    }
}

/// Whether a policy was stopped because the machine did not let it run.
fn is_unjust(error: &RegoError, time: &ThreadTime) -> bool {
    matches!(error.kind, RegoErrorKind::TimeLimit(_)) && time.was_withheld()
}
