//! The context of a hook: created once, after the command line is read, and passed down.

use std::cell::{Cell, OnceCell, RefCell};
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use context_graph_events::agents::{self, Caller};
use context_graph_events::{Event, EventName};
use context_graph_policy::rego::evaluate::THREAD;
use context_graph_policy::rules::Rules;
use context_graph_storage::sessions::Sessions;

use super::answer::{self, Answer};
use super::args::{CommonArgs, OutputFormat};
use super::budget;
use super::error::{self, HookError};
use super::input::{CallerStage, Incoming};
use crate::config::{Config, Sync};
use crate::timings::Timings;
use crate::trust::ProjectFiles;
use crate::watchdog::{self, Late};
use crate::{Environment, ExitStatus, actions, clock, crash, upkeep};

/// The project, its files and state, the time, the budget, and what is left to do after the answer.
#[derive(Debug)]
pub(crate) struct HookContext<'a> {
    /// The environment, with the project's root.
    pub(super) environment: &'a Environment,
    /// When the process was started.
    pub(super) started: Instant,
    /// The arguments that every hook has.
    pub(super) args: CommonArgs,
    /// The project's files, each read at most once.
    pub(super) files: ProjectFiles<'a>,
    /// Where the time goes.
    pub(super) timings: Timings,
    config: OnceCell<(Config, Option<String>)>,
    sessions: OnceCell<Sessions>,
    /// The time of the hook, see [`Self::now_ms`].
    now_ms: OnceCell<i64>,
    /// Whether the event is a tool call, or may be one. Then a failure before the decision, lateness, a panic or a
    /// crash is answered with "ask". A call that was decided but could not be recorded keeps its decision.
    fails_as_ask: Arc<AtomicBool>,
    /// The refusal or question that nothing may revert, once there is one. A panic is answered with it.
    final_answer: Arc<Mutex<Option<Answer>>>,
    /// The agent to answer, if it is not Claude Code.
    caller: Arc<Mutex<Option<Caller>>>,
    /// The event for which the answers for a timeout and a crash were prepared: whether it is a tool call, and its
    /// budget.
    prepared: Cell<Option<(bool, u64)>>,
    /// The event for the actions that start after the answer.
    handed_on: RefCell<Option<File>>,
    /// Whether a session has ended.
    ended: Cell<bool>,
    /// How long the payload took to arrive.
    arriving: Cell<Duration>,
}

impl<'a> HookContext<'a> {
    /// Creates the context for a process that started at this time.
    pub(crate) fn new(environment: &'a Environment, started: Instant, args: CommonArgs) -> Self {
        Self {
            environment,
            started,
            files: ProjectFiles::of(environment),
            timings: Timings::new(args.timings),
            args,
            config: OnceCell::new(),
            sessions: OnceCell::new(),
            now_ms: OnceCell::new(),
            fails_as_ask: Arc::default(),
            final_answer: Arc::default(),
            caller: Arc::default(),
            prepared: Cell::default(),
            handed_on: RefCell::default(),
            ended: Cell::default(),
            arriving: Cell::default(),
        }
    }

    /// The configuration in force, or the defaults if it cannot be used.
    pub(super) fn config(&self) -> &Config {
        &self.configured().0
    }

    fn configured(&self) -> &(Config, Option<String>) {
        self.config.get_or_init(|| match Config::in_force(&self.files) {
            Ok(config) => (config, None),
            Err(error) => (Config::default(), Some(error.to_string())),
        })
    }

    /// The time of the hook, in milliseconds since 1970. The clock is read once, at the first use.
    pub(super) fn now_ms(&self) -> i64 {
        *self.now_ms.get_or_init(clock::now_ms)
    }

    /// When an event happened: the sender's time, or the time of the hook.
    pub(super) fn time_of(&self, incoming: &Incoming) -> i64 {
        incoming.timestamp_ms.unwrap_or_else(|| self.now_ms())
    }

    /// The project's sessions. Their folder is opened and checked only once.
    pub(super) fn sessions(&self) -> Result<&Sessions, HookError> {
        if let Some(sessions) = self.sessions.get() {
            return Ok(sessions);
        }
        let sessions = self.environment.sessions(self.args.db_path.as_deref())?;
        Ok(self
            .sessions
            .get_or_init(|| sessions.until_exit().durable(self.config().storage.sync == Sync::EveryEvent)))
    }

    /// What is wrong with the configuration or the state folder, if anything. The hook continues with the
    /// defaults or with a new folder.
    pub(super) fn complaint(&self) -> Option<String> {
        let aside = || {
            let path = self.sessions.get()?.folder().aside()?;
            Some(format!("state that you did not make here on this machine was moved to {}", path.display()))
        };
        self.configured().1.clone().or_else(aside)
    }

    /// Prepares the answers for a timeout and for a crash. `is_call` says whether the event is a tool call,
    /// `budget_ms` how long it may take. Signal handlers write them and may not allocate, so Claude Code's are
    /// constants and other agents' are rendered now.
    pub(super) fn prepare_fallback_answers(&self, is_call: bool, budget_ms: u64) {
        if self.prepared.replace(Some((is_call, budget_ms))) == Some((is_call, budget_ms)) {
            return;
        }
        self.fails_as_ask.store(is_call, Ordering::Relaxed);
        if let Some(caller) = self.caller() {
            let answer = answer::failed_hook(&HookError::OutOfResources, is_call);
            crash::arm_answer(agents::render(&caller, &answer.reply));
        } else {
            let answer = if is_call { answer::STARVED_CALL } else { answer::STARVED };
            crash::arm(answer, error::OUT_OF_RESOURCES);
        }
        self.watch(budget_ms);
    }

    /// The agent to answer, if it is not Claude Code.
    pub(super) fn caller(&self) -> Option<Caller> {
        self.caller.lock().ok()?.clone()
    }

    /// Notes which other agent sent the event, and at the second call also its event. From now on answers are in the
    /// agent's dialect. If the hook fails later, a call is answered as undecided.
    #[cold]
    pub(super) fn note_caller(&self, caller: &Caller, stage: CallerStage) {
        self.set_caller(Some(caller.clone()));
        let is_call = caller.agent.is_none()
            || caller.event == Some(EventName::PreToolUse)
            || caller.native_event.is_empty() && self.fails_as_ask();
        match stage {
            // The event is known in a moment.
            CallerStage::Guessed => self.fails_as_ask.store(is_call, Ordering::Relaxed),
            CallerStage::WithEvent => {
                self.prepare_fallback_answers(is_call, caller.event.map_or(budget::DEFAULT_MS, budget::of));
            }
        }
    }

    /// Corrects a wrong guess: a call that looked like another agent's while it arrived was Claude Code's.
    pub(super) fn forget_caller(&self) {
        if self.caller().is_some() {
            self.set_caller(None);
            self.prepare_fallback_answers(self.fails_as_ask(), budget::of(EventName::PreToolUse));
        }
    }

    fn set_caller(&self, caller: Option<Caller>) {
        if let Ok(mut known) = self.caller.lock() {
            *known = caller;
        }
        self.prepared.set(None);
    }

    /// Prepares this answer for a crash.
    pub(super) fn arm_crash(&self, answer: &Answer, complaint: &str) {
        match self.caller() {
            Some(caller) => crash::arm_answer(agents::render(&caller, &answer.reply)),
            None => crash::arm(answer.render(OutputFormat::JsonCompact, false), complaint),
        }
    }

    /// Whether a failure is answered with "ask", because the event is a tool call or may be one.
    pub(super) fn fails_as_ask(&self) -> bool {
        self.fails_as_ask.load(Ordering::Relaxed)
    }

    /// The answer of a hook that failed.
    pub(super) fn failure_answer(&self, error: &HookError) -> Answer {
        answer::failed_hook(error, self.fails_as_ask())
    }

    /// From now on, a panic is answered with this refusal or question.
    pub(super) fn answer_panics_with(&self, answer: Answer) {
        if let Ok(mut stands) = self.final_answer.lock() {
            *stands = Some(answer);
        }
    }

    /// Answers a panic like any other failure: one JSON object, exit 1, nothing else on stdout. An earlier refusal or
    /// question is written instead.
    pub(super) fn answer_panics(&self) {
        let (fails_as_ask, final_answer) = (Arc::clone(&self.fails_as_ask), Arc::clone(&self.final_answer));
        let caller = Arc::clone(&self.caller);
        std::panic::set_hook(Box::new(move |panic| {
            // If a policy makes its engine panic, it is treated like a policy that does not end: its thread waits
            // here, and the main thread continues without it after the timeout.
            while std::thread::current().name() == Some(THREAD) {
                std::thread::park();
            }
            watchdog::disarm();
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            let error = HookError::Internal(format!("panic at {place}"));
            // The panicking thread may hold these locks, so we do not wait for them.
            let answer = match final_answer.try_lock().ok().and_then(|mut stands| stands.take()) {
                Some(answer) => answer.but_failed(&error),
                None => answer::failed_hook(&error, fails_as_ask.load(Ordering::Relaxed)),
            };
            let caller = caller.try_lock().ok().and_then(|caller| caller.clone());
            leave(answer::give(answer, caller.as_ref(), OutputFormat::JsonCompact, Instant::now()));
        }));
    }

    /// Arms the watchdog to answer shortly before the budget is used up: the last tenth is left for writing the answer.
    /// The budget is counted from the start of the process.
    fn watch(&self, budget_ms: u64) {
        let end = extended_in_tests(budget::answer_by(Duration::from_millis(budget_ms)));
        if let Some(caller) = self.caller() {
            let answer = answer::failed_hook(&HookError::Timeout(budget_ms), self.fails_as_ask());
            return self.arm(end, Late::Rendered(agents::render(&caller, &answer.reply)));
        }
        let parts = if self.fails_as_ask() { answer::LATE_CALL } else { answer::LATE };
        self.arm(end, Late::Template { parts, budget_ms, end_ms: millis(end) });
    }

    /// Arms the watchdog with `answer` for this time after the start of the process. It is rendered now,
    /// because the timer's signal handler may not allocate.
    pub(super) fn watch_until(&self, end: Duration, answer: impl FnOnce(&HookError) -> Answer) {
        let mut answer = answer(&HookError::Timeout(millis(end)));
        let end = extended_in_tests(end);
        if let Some(caller) = self.caller() {
            return self.arm(end, Late::Rendered(agents::render(&caller, &answer.reply)));
        }
        answer.output.execution_time_ms = millis(end);
        let status = answer.status;
        self.arm(end, Late::Ready(answer.render(OutputFormat::JsonCompact, false), status));
    }

    fn arm(&self, end: Duration, late: Late) {
        watchdog::arm(end.saturating_sub(self.started.elapsed()), late);
    }

    /// Extends the time if the event's policies or their signals may take longer.
    pub(super) fn wait_for_policies(&self, rules: &Rules, event: &Event) {
        if !rules.longest_wait(event).is_zero() {
            self.watch(millis(time_for(rules, event)));
        }
    }

    /// How long the hook has taken so far, without the time of the gates and the time until the payload had
    /// arrived.
    pub(super) fn took_us(&self, waited: Duration) -> u32 {
        u32::try_from(self.own_start().elapsed().saturating_sub(waited).as_micros()).unwrap_or(u32::MAX)
    }

    /// Notes how long the payload took to arrive.
    pub(super) fn note_arrival(&self, took: Duration) {
        self.arriving.set(took);
    }

    /// The start of our own time: the start of the process plus the time until the payload had arrived.
    pub(super) fn own_start(&self) -> Instant {
        self.started + self.arriving.get()
    }

    /// Keeps the event for the actions that it starts.
    pub(super) fn hand_on(&self, event: &Event, at_ms: i64) {
        if let Ok(sessions) = self.sessions() {
            *self.handed_on.borrow_mut() = actions::handed_on(sessions, event, at_ms);
        }
    }

    /// Notes that a session ends, so that upkeep may be due.
    pub(super) fn note_end(&self) {
        self.ended.set(true);
    }

    /// Starts the background work.
    pub(super) fn start_what_comes_after(&self) {
        let db_path = self.args.db_path.as_deref();
        if let Some(event) = self.handed_on.take() {
            actions::start(self.environment, db_path, event);
        }
        if self.ended.get() {
            upkeep::start_if_due(self.environment, db_path);
        }
    }
}

/// The budget of an event, with the time for its policies.
pub(super) fn time_for(rules: &Rules, event: &Event) -> Duration {
    Duration::from_millis(budget::of_event(event)) + rules.longest_wait(event)
}

/// Tests that do not measure time get more time.
fn extended_in_tests(end: Duration) -> Duration {
    #[cfg(debug_assertions)]
    let end = end * Environment::test_slowdown();
    end
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a panic hook has nobody to return to")]
fn leave(status: ExitStatus) -> ! {
    std::process::exit(i32::from(status as u8))
}
