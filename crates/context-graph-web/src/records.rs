//! What the pages ask. Whoever has a store of sessions answers it: the local one, or that of a team.
//!
//! The questions block: the pages ask them on threads that may wait. All text that came from an agent, a repository or a
//! person is [`Said`], which can only be shown harmless.

use context_graph_core::audit::{Entry, Evidence, Outcome};
use context_graph_core::gwt::ic_monitor::ICLevel;
use context_graph_core::session::Curve;

use crate::said::Said;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// What was asked about is not there.
    #[error("{0}")]
    NotThere(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Asked(String),
    /// The store could not answer.
    #[error("{0}")]
    Failed(String),
}

/// An answer of the store.
pub type Answer<T> = Result<T, Trouble>;

/// A session in a list.
#[derive(Debug, Clone)]
pub struct SessionLine {
    /// Its id.
    pub id: String,
    /// What it is about: the first request.
    pub title: Said,
    /// The project's root.
    pub project: Said,
    /// The branch it worked on, where that is known.
    pub branch: Option<Said>,
    /// The model, where the client said so.
    pub model: Option<Said>,
    /// Where it stands, in a word.
    pub state: String,
    /// Whether it goes on.
    pub is_running: bool,
    /// How it ended.
    pub ended: Option<Said>,
    /// When its first event came.
    pub started_ms: i64,
    /// When its newest event came.
    pub updated_ms: i64,
    /// How long it lasted.
    pub duration_ms: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that were stopped.
    pub stops: u64,
    /// Files that were named.
    pub files: u64,
    /// Continuity now.
    pub continuity: f32,
    /// What that means.
    pub level: ICLevel,
    /// The session that it continues.
    pub previous: Option<String>,
    /// The number of its last record.
    pub records: u64,
}

/// Which sessions to list; what is empty fits all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionsAsked {
    /// Of this project.
    pub project: String,
    /// On this branch.
    pub branch: String,
    /// By this model or with a subagent of this kind.
    pub agent: String,
    /// In this state: `running`, `ended`, `low` for those whose continuity is low.
    pub state: String,
    /// Not older than this.
    pub since_ms: Option<i64>,
    /// Older than this one: the last of the page before.
    pub before: Option<(i64, String)>,
    /// At most this many.
    pub limit: usize,
}

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Whether there is more behind it.
    pub has_more: bool,
}

/// What the filters can be set to.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Projects.
    pub projects: Vec<String>,
}

/// Which entries to list; of several values of one kind any will do. The names are those of `audit log`'s options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Sessions, by their ids or the beginning of one.
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
    /// Words.
    pub text: Vec<String>,
    /// From when, as a person wrote it.
    pub since: String,
    /// Until when.
    pub until: String,
    /// Not older than this, where a page says so and not a person.
    pub since_ms: Option<i64>,
    /// Tool calls alone.
    pub calls_only: bool,
    /// Older than this: the time of the last that was shown, and how many of that time were.
    pub before: Option<(i64, usize)>,
}

/// A call or another event in a list.
#[derive(Debug, Clone)]
pub struct EntryLine {
    /// Its session.
    pub session_id: String,
    /// The number of its first record.
    pub seq: u64,
    /// When it began.
    pub at_ms: i64,
    /// Whether it is a tool call.
    pub is_call: bool,
    /// The tool, or the event's name.
    pub name: Said,
    /// The kind or id of the subagent that acted; none on the main thread.
    pub agent: Option<Said>,
    /// What was decided.
    pub verdict: Option<String>,
    /// The rules behind that.
    pub rules: Vec<String>,
    /// What became of a call.
    pub outcome: Option<Outcome>,
    /// How that is known.
    pub evidence: Option<Evidence>,
    /// How long it took.
    pub took_ms: Option<u64>,
    /// What it was about, in a line.
    pub subject: Said,
}

/// A call or another event, whole.
#[derive(Debug, Clone)]
pub struct EntryDetail {
    /// Everything that is on record about it.
    pub entry: Entry,
    /// Whether the session's hash chain holds up to its records: none while they wait in a journal.
    pub chain: ChainState,
}

/// Whether records are as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainState {
    /// The chain holds from the first record to the end.
    Holds,
    /// It does not; where.
    Broken(String),
    /// The records wait in a journal, to be chained when the turn ends.
    Waiting,
}

/// A call on the time axis.
#[derive(Debug, Clone)]
pub struct AxisCall {
    /// The number of its first record.
    pub seq: u64,
    /// When it began.
    pub at_ms: i64,
    /// When its answer came.
    pub ended_ms: Option<i64>,
    /// The tool.
    pub tool: Said,
    /// Its lane: the subagent, or none for the main thread.
    pub agent: Option<(String, Said)>,
    /// What became of it.
    pub outcome: Outcome,
    /// What was decided before it could run.
    pub verdict: Option<String>,
    /// What it was about.
    pub subject: Said,
}

/// A moment on the time axis.
#[derive(Debug, Clone)]
pub struct AxisEvent {
    /// The number of its record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// The event's name.
    pub event: Said,
    /// What was decided about it.
    pub verdict: Option<String>,
    /// What it was about.
    pub subject: Said,
}

/// A prompt, until the agent stopped.
#[derive(Debug, Clone)]
pub struct AxisTurn {
    /// The number of the prompt's record.
    pub seq: u64,
    /// When it was asked.
    pub at_ms: i64,
    /// When it was over.
    pub ended_ms: Option<i64>,
    /// The prompt, in a line.
    pub prompt: Said,
}

/// A session on one time axis.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// Its calls.
    pub calls: Vec<AxisCall>,
    /// Everything else.
    pub events: Vec<AxisEvent>,
    /// Its turns.
    pub turns: Vec<AxisTurn>,
}

/// A session that goes on.
#[derive(Debug, Clone)]
pub struct Running {
    /// The session.
    pub line: SessionLine,
    /// Its newest call.
    pub last: Option<EntryLine>,
    /// What it waits for, in a few words.
    pub waits_for: Option<Said>,
    /// What repeats, and how often.
    pub looping: Option<(Said, u32)>,
}

/// What was done in a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that were stopped.
    pub stops: u64,
}

/// What was done, stretch by stretch.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    /// From when.
    pub since_ms: i64,
    /// How long a stretch is.
    pub step_ms: i64,
    /// The stretches, oldest first.
    pub bins: Vec<Bin>,
}

/// Something that was put before the model or a tool.
#[derive(Debug, Clone)]
pub struct Injection {
    /// The session.
    pub session_id: String,
    /// The number of the record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// What it was for.
    pub kind: &'static str,
    /// The words.
    pub text: Said,
}

/// How often a rule stopped something.
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
    /// When last.
    pub last_ms: i64,
}

/// Why a call was stopped, as the rules see it now.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// What the call would do.
    pub effects: Vec<Said>,
    /// What the rules say: verdict, rule, reason.
    pub findings: Vec<(String, String, Said)>,
    /// The lines of policy that would let this very call pass, and the file they belong into.
    pub allow: Option<(String, Said)>,
    /// The command that writes them.
    pub command: String,
    /// Why no such lines are offered.
    pub no_allow: Option<String>,
}

/// How often a file was touched.
#[derive(Debug, Clone)]
pub struct FileLine {
    /// Its path, below the project's root where it is there.
    pub path: Said,
    /// How often.
    pub calls: u64,
    /// How often to change it.
    pub edits: u64,
    /// By how many sessions.
    pub sessions: u64,
    /// When last.
    pub last_ms: i64,
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// As it should be.
    Ok,
    /// It works, and there is something to know.
    Warning,
    /// It does not do what it is there for.
    Broken,
}

/// Something that was looked at.
#[derive(Debug, Clone)]
pub struct HealthFinding {
    /// How it is.
    pub grade: Grade,
    /// What was looked at.
    pub check: String,
    /// What was found.
    pub what: Said,
    /// What to do about it.
    pub fix: Option<Said>,
}

/// What our hook took at an event, in microseconds.
#[derive(Debug, Clone)]
pub struct HookCost {
    /// The event.
    pub event: Said,
    /// How often it ran.
    pub runs: u64,
    /// Half of them took no longer.
    pub p50_us: u64,
    /// All but one in twenty took no longer.
    pub p95_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// How much is stored.
#[derive(Debug, Clone, Default)]
pub struct StoreSize {
    /// Where.
    pub place: Said,
    /// Sessions.
    pub sessions: u64,
    /// Records.
    pub records: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// What retention says, in words.
    pub retention: String,
}

/// How far the verification of the record has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// Nobody has asked for it.
    NotStarted,
    /// So many records of so many are followed.
    Going(u64, u64),
    /// It holds: so many records of so many sessions, at this time.
    Holds {
        /// Records that were followed.
        records: u64,
        /// Sessions.
        sessions: u64,
        /// When it was done.
        at_ms: i64,
    },
    /// It does not hold, or could not be looked at.
    Fails(String),
}

/// What the pages ask.
pub trait Records: Send + Sync + 'static {
    /// A number that is another one whenever something new is on record. Cheap: it is asked every second.
    fn pulse(&self) -> u64;

    /// What the filters can be set to.
    fn choices(&self) -> Answer<Choices>;

    /// Sessions, newest first.
    fn sessions(&self, asked: &SessionsAsked) -> Answer<Page<SessionLine>>;

    /// One session, by its id or the beginning of one.
    fn session(&self, id: &str) -> Answer<SessionLine>;

    /// A session on a time axis.
    fn axis(&self, id: &str) -> Answer<Axis>;

    /// A session's continuity.
    fn curve(&self, id: &str) -> Answer<Curve>;

    /// The same for a page that must not wait: none while it is being drawn.
    fn curve_soon(&self, id: &str) -> Answer<Option<Curve>> {
        self.curve(id).map(Some)
    }

    /// A session's entries whose first record has a number from `first` to `last`, oldest first.
    fn story(&self, id: &str, first: u64, last: u64) -> Answer<Vec<EntryLine>>;

    /// Entries that fit, newest first.
    fn entries(&self, asked: &Asked, limit: usize) -> Answer<Page<EntryLine>>;

    /// The entry that a record belongs to.
    fn entry(&self, session_id: &str, seq: u64) -> Answer<EntryDetail>;

    /// The sessions that go on.
    fn running(&self) -> Answer<Vec<Running>>;

    /// What was done from a moment on, in so many stretches of this length.
    fn activity(&self, since_ms: i64, step_ms: i64, bins: usize) -> Answer<Activity>;

    /// What was put before models of late, newest first.
    fn injections(&self, limit: usize) -> Answer<Vec<Injection>>;

    /// The rules that stopped something since a moment, the most frequent first.
    fn rules(&self, since_ms: i64) -> Answer<Vec<RuleLine>>;

    /// Why a call was stopped, and what would let it pass.
    fn explain(&self, session_id: &str, seq: u64) -> Answer<Explanation>;

    /// Files that were touched since a moment, the most frequent first.
    fn files(&self, since_ms: i64) -> Answer<Vec<FileLine>>;

    /// What is to be known of the installation; none while it is being found out.
    fn findings(&self) -> Answer<Option<Vec<HealthFinding>>>;

    /// What our hooks cost of late, by event, the most frequent first.
    fn hook_costs(&self) -> Answer<Vec<HookCost>>;

    /// How much is stored.
    fn sizes(&self) -> Answer<Vec<StoreSize>>;

    /// How far the verification has come; begins it where that is asked for.
    fn verification(&self, begin: bool) -> Answer<Verification>;
}
