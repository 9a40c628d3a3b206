//! Runs the packages for an event, in limited time.
//!
//! All packages share one engine, so that common helpers are parsed once. A package that fails there is tried
//! again alone: an error in one package must not affect the others.
//!
//! One thread does the work, never the caller's. More threads gain little on an idle machine and lose much on a
//! busy one, because the caller waits for the slowest. The engine's clock stops a rule that loops. It also counts
//! time in which the thread got no processor; if that was the reason, the package runs again. Work that the engine
//! cannot interrupt (a parse that explodes, one huge built-in call) is abandoned when the time is over, and its
//! thread ends with the process. The stack is large because the depth of the engine's recursion depends on the
//! policy's text; only the used part takes memory.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::collect::{self, SetValue};
use super::engine::{Loaded, millis};
use super::error::{RegoError, RegoErrorKind};
use super::input::Input;
use super::set::{PolicySet, Source};
use super::time::ThreadTime;
use crate::decision::Decision;

/// The name of the thread that runs policies.
pub const THREAD: &str = "rego";

const STACK: usize = 64 << 20;

/// Runs the given work, with whatever must happen before and after.
pub type Around = fn(&mut dyn FnMut());

/// The limits for the policies of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time for all of them, including parsing. Time in which a busy machine does not run them does not count.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_millis(60) }
    }
}

/// How long one package took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The package.
    pub package: String,
    /// The file that represents it.
    pub file: String,
    /// How long it ran. Work that packages share counts for the first.
    pub took: Duration,
}

/// The result of the policies.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// The decision of all policies that ran.
    pub decision: Decision,
    /// The others: bad files and headers, and policies that failed or were stopped.
    pub errors: Vec<RegoError>,
    /// How long each package took, by name.
    pub timings: Vec<Timing>,
}

struct Job {
    package: String,
    file: String,
    files: Vec<Source>,
}

struct JobResult {
    job: usize,
    result: Result<Vec<(&'static str, Value)>, RegoError>,
    took: Duration,
}

impl PolicySet {
    /// Runs the packages for an event.
    pub fn evaluate(&self, event: &str, tool: Option<&str>, input: &Input, limits: Limits) -> Evaluation {
        self.evaluate_on(event, tool, input, limits, |work| work())
    }

    /// The same, with `around` called on the worker thread. A chain of rules can overflow any stack, and the
    /// caller must be prepared for that.
    pub fn evaluate_on(
        &self,
        event: &str,
        tool: Option<&str>,
        input: &Input,
        limits: Limits,
        around: Around,
    ) -> Evaluation {
        let mut evaluation = Evaluation { errors: self.errors().to_vec(), ..Evaluation::default() };
        let jobs: Vec<Job> = self
            .units_for(event, tool)
            .map(|unit| Job {
                package: unit.package.clone(),
                file: unit.file.to_string(),
                files: self.files_of(&unit.package),
            })
            .collect();
        if jobs.is_empty() {
            return evaluation;
        }
        let mut waiting: Vec<Option<(String, String)>> =
            jobs.iter().map(|job| Some((job.package.clone(), job.file.clone()))).collect();
        let reads_params = |job: &Job| job.files.iter().any(|file| file.text.contains("input.params"));
        let value = if jobs.iter().any(reads_params) { input.with_params() } else { input.value().clone() };
        let time = Arc::new(ThreadTime::new(limits.time));
        let answers = run_apart(jobs, value, Arc::clone(&time), around);
        // The engine should stop first, because it can say where.
        let slack = limits.time / 8 + Duration::from_millis(5);
        let mut values = Vec::new();
        let end = loop {
            let answer = match answers.recv_timeout(time.left() + slack) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) if !time.left().is_zero() => continue,
                Err(end) => break end,
            };
            let Some((package, file)) = waiting.get_mut(answer.job).and_then(Option::take) else { continue };
            match answer.result {
                Ok(sets) => {
                    let value_of = |(verb, value)| SetValue { file: file.clone(), verb, value };
                    values.extend(sets.into_iter().map(value_of));
                }
                // Several packages may share one broken helper.
                Err(error) if evaluation.errors.contains(&error) => {}
                Err(error) => evaluation.errors.push(error),
            }
            evaluation.timings.push(Timing { package, file, took: answer.took });
        };
        let unanswered = match end {
            RecvTimeoutError::Timeout => RegoErrorKind::TimeLimit(millis(limits.time)),
            RecvTimeoutError::Disconnected => {
                RegoErrorKind::Evaluate("the engine ended before it had an answer".to_owned())
            }
        };
        let silent = waiting.into_iter().flatten();
        evaluation.errors.extend(silent.map(|(_, file)| RegoError::new(&file, None, unanswered.clone())));
        evaluation.timings.sort_by(|a, b| a.package.cmp(&b.package));
        let (decision, errors) = collect::collect(values, input);
        evaluation.decision = decision;
        evaluation.errors.extend(errors);
        evaluation
    }
}

/// Runs the jobs in order on a separate thread. The channel closes when all are done.
fn run_apart(
    jobs: Vec<Job>,
    input: Value,
    time: Arc<ThreadTime>,
    around: Around,
) -> mpsc::Receiver<JobResult> {
    let (sender, receiver) = mpsc::channel();
    let run_all = move || {
        let mut started = Instant::now();
        time.measure_this_thread();
        let input = regorus::Value::from(input);
        let mut shared = Loaded::new(distinct(&jobs), &input);
        for (at, job) in jobs.iter().enumerate() {
            let result = run(job, &mut shared, &input, &time);
            if sender.send(JobResult { job: at, result, took: started.elapsed() }).is_err() {
                return;
            }
            started = Instant::now();
        }
        // Nobody needs to wait for the parsed data to be freed.
        drop(sender);
    };
    // Taken out of the option, so that everything it owns is dropped with it.
    let mut run_all = Some(run_all);
    let run = move || around(&mut || run_all.take().into_iter().for_each(|run_all| run_all()));
    // If the thread did not start or ended early, its sender is dropped and the caller notices.
    let _ = thread::Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn(run);
    receiver
}

/// Each file once.
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
        // An engine that was stopped inside a rule treats the next call of that rule as recursion, so each try
        // gets a new one.
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

/// Whether a policy was stopped because the machine did not run it.
fn is_unjust(error: &RegoError, time: &ThreadTime) -> bool {
    matches!(error.kind, RegoErrorKind::TimeLimit(_)) && time.was_withheld()
}
