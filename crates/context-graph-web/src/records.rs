//! The queries of the pages. Any store of sessions can answer them: the local one, or a team's.
//!
//! The queries block, so the pages run them on threads that may wait. All text from an agent, a repository or a
//! person is [`Said`], which can only be shown safely.
//!
//! One file, because it is one interface: [`Records`] and the types of its questions and answers.

use context_graph_core::audit::{Entry, Evidence, Outcome};
use context_graph_core::gwt::ic_monitor::ICLevel;
use context_graph_core::session::Curve;

use crate::said::Said;

/// Why a query failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The thing that was asked for does not exist.
    #[error("{0}")]
    NotThere(String),
    /// The query makes no sense.
    #[error("{0}")]
    Asked(String),
    /// The store could not answer.
    #[error("{0}")]
    Failed(String),
}

/// An answer of the store.
pub type QueryResult<T> = Result<T, Trouble>;

/// A session in a list.
#[derive(Debug, Clone)]
pub struct SessionLine {
    /// Its id.
    pub id: String,
    /// What it is about, usually the first request.
    pub title: Said,
    /// The project's root.
    pub project: Said,
    /// The branch it worked on, if known.
    pub branch: Option<Said>,
    /// The model, if the client named it.
    pub model: Option<Said>,
    /// Its state, as one word.
    pub state: String,
    /// Whether it is still running.
    pub is_running: bool,
    /// How it ended.
    pub ended: Option<Said>,
    /// The time of its first event.
    pub started_ms: i64,
    /// The time of its newest event.
    pub updated_ms: i64,
    /// How long it lasted.
    pub duration_ms: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that were denied.
    pub denied: u64,
    /// Files that its calls named.
    pub files: u64,
    /// Continuity now.
    pub continuity: f32,
    /// The level of that continuity.
    pub level: ICLevel,
    /// The session that it continues.
    pub previous: Option<String>,
    /// The number of its last record.
    pub records: u64,
}

/// Which sessions to list; empty fields match all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionsAsked {
    /// Of this project.
    pub project: String,
    /// On this branch.
    pub branch: String,
    /// Of this client, by this model or with a subagent of this kind.
    pub agent: String,
    /// In this state: `running`, `ended`, `low` (low continuity) or `denied` (with denied calls).
    pub state: String,
    /// Not before this time.
    pub since_ms: Option<i64>,
    /// Before this session, the last of the previous page.
    pub before: Option<(i64, String)>,
    /// At most this many.
    pub limit: usize,
}

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// Its items.
    pub items: Vec<T>,
    /// Whether more follow.
    pub has_more: bool,
}

/// The values that filters can have.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Projects.
    pub projects: Vec<String>,
}

/// Which entries to list. If a kind has several values, one of them must match. The names are those of `audit log`'s
/// options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Sessions, by their ids or prefixes of them.
    pub session: Vec<String>,
    /// Tools.
    pub tool: Vec<String>,
    /// Subagents, or `main`.
    pub agent: Vec<String>,
    /// Events.
    pub event: Vec<String>,
    /// Verdicts.
    pub verdict: Vec<String>,
    /// Outcomes.
    pub outcome: Vec<String>,
    /// Rules.
    pub rule: Vec<String>,
    /// Parts of paths.
    pub path: Vec<String>,
    /// Words in the text.
    pub text: Vec<String>,
    /// The start, as a person wrote it.
    pub since: String,
    /// The end, as a person wrote it.
    pub until: String,
    /// Not before this time, set by a page instead of a person.
    pub since_ms: Option<i64>,
    /// Only tool calls.
    pub calls_only: bool,
    /// Before this: the time of the last shown entry, and how many entries of that time were shown.
    pub before: Option<(i64, usize)>,
}

/// A call or another event in a list.
#[derive(Debug, Clone)]
pub struct EntryLine {
    /// Its session.
    pub session_id: String,
    /// The number of its first record.
    pub seq: u64,
    /// Its start.
    pub at_ms: i64,
    /// Whether it is a tool call.
    pub is_call: bool,
    /// The tool, or the event's name.
    pub name: Said,
    /// The type or id of the subagent; `None` for the main thread.
    pub agent: Option<Said>,
    /// The decision about it.
    pub verdict: Option<String>,
    /// The rules behind the decision.
    pub rules: Vec<String>,
    /// The outcome of a call.
    pub outcome: Option<Outcome>,
    /// How the outcome is known.
    pub evidence: Option<Evidence>,
    /// How long it took.
    pub took_ms: Option<u64>,
    /// Its subject, as one line.
    pub subject: Said,
}

/// All details of a call or another event.
#[derive(Debug, Clone)]
pub struct EntryDetail {
    /// Everything recorded about it.
    pub entry: Entry,
    /// Whether the session's hash chain is valid. Records in a journal are not chained yet.
    pub chain: ChainState,
}

/// Whether records are unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainState {
    /// The chain is valid from the first record to the end.
    Holds,
    /// The chain is broken, and where.
    Broken(String),
    /// The records are in a journal and will be chained when the turn ends.
    Waiting,
}

/// A call on the time axis.
#[derive(Debug, Clone)]
pub struct AxisCall {
    /// The number of its first record.
    pub seq: u64,
    /// Its start.
    pub at_ms: i64,
    /// The time of its result.
    pub ended_ms: Option<i64>,
    /// The tool.
    pub tool: Said,
    /// Its lane: the subagent, or `None` for the main thread.
    pub agent: Option<(String, Said)>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The decision before it ran.
    pub verdict: Option<String>,
    /// Its subject.
    pub subject: Said,
}

/// An event on the time axis.
#[derive(Debug, Clone)]
pub struct AxisEvent {
    /// The number of its record.
    pub seq: u64,
    /// Its time.
    pub at_ms: i64,
    /// The event's name.
    pub event: Said,
    /// The decision about it.
    pub verdict: Option<String>,
    /// Its subject.
    pub subject: Said,
}

/// A turn: from a prompt until the agent stopped.
#[derive(Debug, Clone)]
pub struct AxisTurn {
    /// The number of the prompt's record.
    pub seq: u64,
    /// The time of the prompt.
    pub at_ms: i64,
    /// Its end.
    pub ended_ms: Option<i64>,
    /// The prompt, as one line.
    pub prompt: Said,
}

/// A session on one time axis.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// Its calls.
    pub calls: Vec<AxisCall>,
    /// Its other events.
    pub events: Vec<AxisEvent>,
    /// Its turns.
    pub turns: Vec<AxisTurn>,
}

/// A running session.
#[derive(Debug, Clone)]
pub struct Running {
    /// The session.
    pub line: SessionLine,
    /// Its newest call.
    pub last: Option<EntryLine>,
    /// What it is waiting for, in a few words.
    pub waits_for: Option<Said>,
    /// What it repeats, and how often.
    pub looping: Option<(Said, u32)>,
}

/// The work in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that were denied.
    pub denied: u64,
}

/// The work, interval by interval.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    /// The start.
    pub since_ms: i64,
    /// The length of an interval.
    pub step_ms: i64,
    /// The intervals, oldest first.
    pub bins: Vec<Bin>,
}

/// Text that was added for the model or to a tool's input.
#[derive(Debug, Clone)]
pub struct Injection {
    /// The session.
    pub session_id: String,
    /// The number of the record.
    pub seq: u64,
    /// Its time.
    pub at_ms: i64,
    /// Its purpose.
    pub kind: &'static str,
    /// Its text.
    pub text: Said,
}

/// How often a rule denied calls or asked about them.
#[derive(Debug, Clone)]
pub struct RuleLine {
    /// The rule.
    pub rule: String,
    /// What it decided.
    pub verdict: String,
    /// How often.
    pub count: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// The last time.
    pub last_ms: i64,
}

/// Why a call was denied or asked about, by the current rules.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// What the call would do.
    pub effects: Vec<Said>,
    /// What the rules say: verdict, rule, reason.
    pub findings: Vec<(String, String, Said)>,
    /// The policy lines that would allow exactly this call, and their file.
    pub allow: Option<(String, Said)>,
    /// The command that adds these lines.
    pub command: String,
    /// Why no lines are offered.
    pub no_allow: Option<String>,
}

/// How often a file was touched.
#[derive(Debug, Clone)]
pub struct FileLine {
    /// Its path, relative to the project's root if it is there.
    pub path: Said,
    /// How many calls.
    pub calls: u64,
    /// How many of them changed it.
    pub edits: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// The last time.
    pub last_ms: i64,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// Everything is fine.
    Ok,
    /// It works, but there is something to know.
    Warning,
    /// It does not work.
    Broken,
}

/// One check of the installation.
#[derive(Debug, Clone)]
pub struct HealthCheck {
    /// Its result.
    pub grade: Grade,
    /// What was checked.
    pub check: String,
    /// What was found.
    pub what: Said,
    /// What to do about it.
    pub fix: Option<Said>,
}

/// How long our hook took for an event, in microseconds.
#[derive(Debug, Clone)]
pub struct HookCost {
    /// The event.
    pub event: Said,
    /// How often it ran.
    pub runs: u64,
    /// The median.
    pub p50_us: u64,
    /// The 95th percentile.
    pub p95_us: u64,
    /// The maximum.
    pub max_us: u64,
}

/// How much is stored.
#[derive(Debug, Clone, Default)]
pub struct StoreSize {
    /// Where it is.
    pub place: Said,
    /// Sessions.
    pub sessions: u64,
    /// Records.
    pub records: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// The retention setting, in words.
    pub retention: String,
}

/// The progress of the verification of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// It was not requested.
    NotStarted,
    /// Records checked so far, and all records.
    Going(u64, u64),
    /// All records are valid.
    Holds {
        /// Checked records.
        records: u64,
        /// Checked sessions.
        sessions: u64,
        /// When it finished.
        at_ms: i64,
    },
    /// It failed, or could not run.
    Fails(String),
}

/// The queries of the pages.
pub trait Records: Send + Sync + 'static {
    /// A number that changes whenever something new is recorded. Must be cheap: it is queried about once a
    /// second.
    fn pulse(&self) -> u64;

    /// The values that filters can have.
    fn choices(&self) -> QueryResult<Choices>;

    /// Sessions, newest first.
    fn sessions(&self, asked: &SessionsAsked) -> QueryResult<Page<SessionLine>>;

    /// One session, by its id or a prefix of it.
    fn session(&self, id: &str) -> QueryResult<SessionLine>;

    /// A session on a time axis.
    fn axis(&self, id: &str) -> QueryResult<Axis>;

    /// A session's continuity.
    fn curve(&self, id: &str) -> QueryResult<Curve>;

    /// The same for a page that must not wait: `None` while it is being computed.
    fn curve_soon(&self, id: &str) -> QueryResult<Option<Curve>> {
        self.curve(id).map(Some)
    }

    /// A session's entries whose first record has a number from `first` to `last`, oldest first.
    fn story(&self, id: &str, first: u64, last: u64) -> QueryResult<Vec<EntryLine>>;

    /// Entries that match, newest first.
    fn entries(&self, asked: &Asked, limit: usize) -> QueryResult<Page<EntryLine>>;

    /// The entry that a record belongs to.
    fn entry(&self, session_id: &str, seq: u64) -> QueryResult<EntryDetail>;

    /// The running sessions.
    fn running(&self) -> QueryResult<Vec<Running>>;

    /// The work since a time, in `bins` intervals of `step_ms`.
    fn activity(&self, since_ms: i64, step_ms: i64, bins: usize) -> QueryResult<Activity>;

    /// The latest text added for models, newest first.
    fn injections(&self, limit: usize) -> QueryResult<Vec<Injection>>;

    /// The rules that denied something or asked about it since this time, the most frequent first.
    fn rules(&self, since_ms: i64) -> QueryResult<Vec<RuleLine>>;

    /// Why a call was denied or asked about, and what would allow it.
    fn explain(&self, session_id: &str, seq: u64) -> QueryResult<Explanation>;

    /// Files touched since this time, the most frequent first.
    fn files(&self, since_ms: i64) -> QueryResult<Vec<FileLine>>;

    /// The checks of the installation; `None` while they run.
    fn health_checks(&self) -> QueryResult<Option<Vec<HealthCheck>>>;

    /// The recent costs of our hooks, by event, the most frequent first.
    fn hook_costs(&self) -> QueryResult<Vec<HookCost>>;

    /// How much is stored.
    fn sizes(&self) -> QueryResult<Vec<StoreSize>>;

    /// The progress of the verification. Starts it if `begin` is true.
    fn verification(&self, begin: bool) -> QueryResult<Verification>;
}
