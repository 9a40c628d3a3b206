//! `context-graph hooks …`: one event in, one answer out.
//!
//! Every hook takes the same road: read stdin or flags ([`input`]), handle the event (a file each), print one
//! object ([`answer`]). Exit codes: 0 success, 1 error, 2 damaged data; the client would take any other use of 2 as
//! a refusal.

pub mod answer;
pub mod args;
pub mod error;
mod event;
pub(crate) mod fast_args;
mod flow;
pub(crate) mod generate;
mod inject;
pub mod input;
mod judge;
mod post_tool;
mod pre_tool;
mod prompt_submit;
pub mod schema;
mod session_end;
mod session_start;
mod stop_gate;
mod types;

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use context_graph_events::claude_code::DEFAULT_BUDGET_MS;
use context_graph_policy::rego::evaluate::THREAD;

pub use types::{
    ConsciousnessState, ConversationMessage, HookEventType, HookInput, HookOutput, HookPayload,
    ICClassification, ICLevel, JohariQuadrant, SessionEndStatus, StatedError,
};

use answer::Answer;
use args::{CommonArgs, HookCommand};
use error::HookError;
use input::Incoming;
use judge::Judged;

use crate::trust::ProjectFiles;
use crate::{Environment, ExitStatus, actions, crash, terminal, timings, upkeep, watchdog};

/// What a hook has to go by: its surroundings, and when it was started.
#[derive(Debug)]
pub(crate) struct Host<'a> {
    /// The surroundings.
    pub environment: &'a Environment,
    /// When the process was started.
    pub started: Instant,
    files: OnceCell<ProjectFiles<'a>>,
}

impl<'a> Host<'a> {
    /// A hook of a process that was started at this moment.
    pub(crate) fn new(environment: &'a Environment, started: Instant) -> Self {
        Self { environment, started, files: OnceCell::new() }
    }

    /// What the project's files say.
    fn files(&self) -> &ProjectFiles<'a> {
        self.files.get_or_init(|| ProjectFiles::of(self.environment))
    }
}

/// Answers one event and says how the process ends.
pub(crate) fn run(command: HookCommand, host: &Host<'_>) -> ExitStatus {
    crash::survive_limits();
    UNDECIDED.store(matches!(command, HookCommand::PreTool(_)), Ordering::Relaxed);
    expect_starvation();
    announce_panics();
    let CommonArgs { format, timings: timed, .. } = *common(&command);
    let db_path = common(&command).db_path.clone();
    if timed {
        timings::want();
    }
    host.watch(budget_ms(&command));
    let answered = match command {
        HookCommand::SessionStart(args) => session_start::answer(args, host),
        HookCommand::PreTool(args) => pre_tool::answer(args, host),
        HookCommand::PostTool(args) => post_tool::answer(args, host),
        HookCommand::PromptSubmit(args) => prompt_submit::answer(args, host),
        HookCommand::SessionEnd(args) => session_end::answer(args, host),
        HookCommand::Event(args) => event::answer(args, host),
    };
    watchdog::disarm();
    let answer = answered.unwrap_or_else(|error| failed(&error));
    let status = answer::give(answer, format, host.started);
    timings::passed("write");
    if let Some(told) = timings::told() {
        terminal::note(&told);
    }
    actions::start_if_wanted(host.environment, db_path.as_deref());
    upkeep::start_if_wanted(host.environment, db_path.as_deref());
    status
}

/// Whether a tool call waits to be decided about: then a failure of any kind asks instead of letting it pass.
static UNDECIDED: AtomicBool = AtomicBool::new(false);

/// Prepares for limits that leave no room for an answer.
fn expect_starvation() {
    let answer = if UNDECIDED.load(Ordering::Relaxed) { answer::STARVED_CALL } else { answer::STARVED };
    crash::arm(answer, error::OUT_OF_RESOURCES);
}

fn failed(error: &HookError) -> Answer {
    if UNDECIDED.load(Ordering::Relaxed) { Answer::undecided(error) } else { Answer::failure(error) }
}

impl Host<'_> {
    /// Has a timeout answered before `budget_ms` is spent, counted from the start of the process.
    fn watch(&self, budget_ms: u64) {
        // The last tenth is left for the answer to arrive in.
        let budget = Duration::from_millis(budget_ms - budget_ms / 10);
        self.arm(budget, failed(&HookError::Timeout(budget_ms)));
    }

    /// Has `answer` answer for a hook that is not done so long after the start of the process.
    fn watch_until(&self, end: Duration, answer: impl FnOnce(&HookError) -> Answer) {
        let end_ms = u64::try_from(end.as_millis()).unwrap_or(u64::MAX);
        self.arm(end, answer(&HookError::Timeout(end_ms)));
    }

    /// From here on neither being late (`end` after the start of the process) nor being brought down takes back what was
    /// decided.
    fn stand_by(&self, judged: &Judged<'_>, end: Duration) {
        self.watch_until(end, |error| judged.answer_failing(error));
        let answer = judged.answer_failing(&HookError::OutOfResources);
        crash::arm(answer.render(args::OutputFormat::JsonCompact, false), error::OUT_OF_RESOURCES);
    }

    fn arm(&self, end: Duration, mut timeout: Answer) {
        #[cfg(debug_assertions)]
        let end = end * Environment::patience();
        timeout.output.execution_time_ms = u64::try_from(end.as_millis()).unwrap_or(u64::MAX);
        let bytes = timeout.render(args::OutputFormat::JsonCompact, false);
        watchdog::arm(end.saturating_sub(self.started.elapsed()), bytes);
    }
}

/// The event on stdin, or the one that the flags describe.
fn incoming(
    common: &CommonArgs,
    from_flags: impl FnOnce() -> Result<HookInput, HookError>,
) -> Result<Incoming, HookError> {
    let bytes = input::read_stdin(common.stdin, |_, _| ())?;
    timings::passed("read");
    let incoming = match bytes {
        Some(bytes) => input::decode(&bytes),
        None => input::envelope(from_flags()?),
    };
    timings::passed("decode");
    incoming
}

fn common(command: &HookCommand) -> &CommonArgs {
    match command {
        HookCommand::SessionStart(args) => &args.common,
        HookCommand::PreTool(args) => &args.common,
        HookCommand::PostTool(args) => &args.common,
        HookCommand::PromptSubmit(args) => &args.common,
        HookCommand::SessionEnd(args) => &args.common,
        HookCommand::Event(args) => &args.common,
    }
}

fn budget_ms(command: &HookCommand) -> u64 {
    match command {
        HookCommand::SessionStart(_) => HookEventType::SessionStart.timeout_ms(),
        HookCommand::PreTool(_) => HookEventType::PreToolUse.timeout_ms(),
        HookCommand::PostTool(_) => HookEventType::PostToolUse.timeout_ms(),
        HookCommand::PromptSubmit(_) => HookEventType::UserPromptSubmit.timeout_ms(),
        HookCommand::SessionEnd(_) => HookEventType::SessionEnd.timeout_ms(),
        HookCommand::Event(_) => DEFAULT_BUDGET_MS,
    }
}

/// What a flag and stdin both say must be the same. A flag that is empty says nothing: scripts that take a field out
/// of the input with another program pass on what they did not find.
fn agree(name: &str, flag: Option<&str>, stdin: &str) -> Result<(), HookError> {
    match flag {
        Some(flag) if !flag.is_empty() && flag != stdin => Err(HookError::InvalidInput(format!(
            "--{name} is `{flag}`, but stdin says `{stdin}`: leave one out or make them agree"
        ))),
        _ => Ok(()),
    }
}

/// What a hook cannot do without when it is called with flags alone.
fn needed(name: &str, flag: Option<String>) -> Result<String, HookError> {
    flag.filter(|value| !value.is_empty()).ok_or_else(|| {
        HookError::Usage(format!("give --{name}, or send the event on stdin (an empty stdin has no event)"))
    })
}

/// A panic is answered like any other failure: one JSON object, exit 1, nothing else on stdout.
fn announce_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // A policy that makes its engine panic is one that does not end: the guards have yet to be heard.
        while std::thread::current().name() == Some(THREAD) {
            std::thread::park();
        }
        watchdog::disarm();
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let error = HookError::Internal(format!("panic at {place}"));
        leave(answer::give(failed(&error), args::OutputFormat::JsonCompact, Instant::now()));
    }));
}

#[expect(clippy::disallowed_methods, reason = "a panic hook has nobody to return to")]
fn leave(status: ExitStatus) -> ! {
    std::process::exit(i32::from(status as u8))
}

/// Arguments that make no sense are answered on stdout too: a hook's caller reads JSON there.
pub(crate) fn usage_failure(error: &clap::Error, is_tool_call: bool, started: Instant) {
    UNDECIDED.store(is_tool_call, Ordering::Relaxed);
    let text = error.render().to_string();
    let first_line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let mut failure = failed(&HookError::Usage(first_line.to_owned()));
    failure.output.execution_time_ms = answer::elapsed_ms(started);
    terminal::print(&failure.render(args::OutputFormat::JsonCompact, false));
}
