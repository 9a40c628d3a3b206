//! Shared helpers of the tests.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::allow_attributes,
    reason = "each test file uses its part of this, and a test may panic"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use context_graph_storage::live::{self, FoldPlan, Folded, JournalEntry};
use context_graph_storage::safe_open::Folder;
use context_graph_storage::store::SessionQuery;
use context_graph_storage::{
    FoldBatch, LiveSession, LogRecord, Position, Quarantine, Seal, SessionLock, StorageError, Store,
    StoreOptions,
};

/// A folder with a store and live sessions.
pub struct Place {
    pub folder: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Place {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { folder: temporary.path().to_path_buf(), _temporary: Some(temporary) }
    }

    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), _temporary: None }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn live(&self) -> PathBuf {
        self.folder.join("live")
    }

    pub fn quarantine(&self) -> PathBuf {
        self.folder.join("quarantine")
    }

    pub fn store(&self) -> Store {
        patiently(|| Store::open(&StoreOptions::new(self.data(), 0)))
    }

    pub fn session(&self, id: &str) -> LiveSession {
        self.try_session(id).unwrap()
    }

    pub fn try_session(&self, id: &str) -> Result<LiveSession, StorageError> {
        let quarantine = Quarantine::new(self.quarantine());
        LiveSession::new(Arc::new(self.live_folder()), id, quarantine, &Seal::new([7; 32]))
    }

    pub fn live_folder(&self) -> Folder {
        Folder::open(&self.folder).unwrap().folder_or_create("live").unwrap().0
    }

    pub fn quarantined(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.quarantine()) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn snapshot(id: &str, timestamp_ms: i64) -> SessionIdentitySnapshot {
    SessionIdentitySnapshot::with_timestamp(id, timestamp_ms)
}

pub fn record(call: Option<&str>, bytes: &[u8]) -> LogRecord {
    LogRecord { tool_use_id: call.map(str::to_owned), bytes: bytes.to_vec(), source: None }
}

/// Repeats until the store is not busy.
fn patiently<T>(ask: impl Fn() -> Result<T, StorageError>) -> T {
    loop {
        match ask() {
            Err(StorageError::Busy { .. }) => {}
            answer => return answer.unwrap(),
        }
    }
}

/// The state to continue from, as the hooks find it: the live one, else the stored one. It is the number of
/// applied entries, so that an entry applied twice or never is noticed.
pub fn load(lock: &mut SessionLock<'_>, store: &Store) -> (Option<Position>, u64) {
    if let Some(state) = lock.read_state().unwrap() {
        return (Some(state.applied), number(state.payload()));
    }
    match patiently(|| store.session(lock.session_id())) {
        Some(session) => {
            let stored = patiently(|| store.state(lock.session_id()));
            (session.folded_to, stored.map_or(0, |bytes| number(&bytes)))
        }
        None => (None, 0),
    }
}

/// Folds as the hooks do: if the store is busy, the fold happens later.
pub fn fold(lock: &mut SessionLock<'_>, store: &Store, now_ms: i64) -> Folded {
    loop {
        match try_fold(lock, store, now_ms) {
            Err(StorageError::Busy { .. }) => {}
            done => return done.unwrap(),
        }
    }
}

fn try_fold(lock: &mut SessionLock<'_>, store: &Store, now_ms: i64) -> Result<Folded, StorageError> {
    let (applied, mut count) = load(lock, store);
    let id = lock.session_id().to_owned();
    live::fold(lock, store, applied, None, |entries, fresh, _| {
        count += fresh.len() as u64;
        let record = |entry: &JournalEntry<'_>| LogRecord {
            tool_use_id: Some("call".into()),
            bytes: entry.payload.to_vec(),
            source: Some(entry.end),
        };
        let live = count.to_le_bytes().to_vec();
        let batch = FoldBatch {
            state: Some(live.clone()),
            records: entries.iter().map(record).collect(),
            ..FoldBatch::of(snapshot(&id, now_ms))
        };
        Ok(FoldPlan { batch, live })
    })
}

/// Steps the session by one event, as the hooks do.
pub fn step(session: &LiveSession, store: &Store, payload: &[u8]) {
    let mut lock = session.lock().unwrap();
    let (applied, count) = load(&mut lock, store);
    lock.append(payload).unwrap();
    let tail = lock.entries_since(applied).unwrap();
    let count = count + tail.entries().len() as u64;
    lock.write_state(tail.end(), &count.to_le_bytes()).unwrap();
}

/// The whole content of a store, as text.
pub fn dump(store: &Store) -> String {
    let mut text = String::new();
    for session in store.list_sessions(&SessionQuery::default()).unwrap() {
        let id = &session.session_id;
        let snapshot = store.snapshot(id).unwrap();
        let state = store.state(id).unwrap().map(|state| state.len());
        let log = store.log(id, 0, usize::MAX).unwrap();
        writeln!(text, "{session:?} {snapshot:?} {state:?} {log:?}").unwrap();
    }
    text
}

/// The payloads in the journal.
pub fn journal(session: &LiveSession) -> Vec<String> {
    let tail = session.lock().unwrap().entries_since(None).unwrap();
    tail.entries().map(|entry| String::from_utf8_lossy(entry.payload).into_owned()).collect()
}

pub fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// All log records of a session as text.
pub fn log(store: &Store, id: &str) -> Vec<String> {
    let records = store.log(id, 0, usize::MAX).unwrap();
    records.into_iter().map(|record| String::from_utf8(record.bytes.expect("intact")).unwrap()).collect()
}

/// Starts this test executable again to do `work`; the test with that name must call [`is_worker`].
pub fn worker(test: &str, arguments: &[&str]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env("STORAGE_TEST_WORK", arguments.join("\n"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The work that this process was started for, if it is a worker.
pub fn work() -> Option<Vec<String>> {
    #[expect(clippy::disallowed_methods, reason = "the test talks to its own child")]
    let work = std::env::var("STORAGE_TEST_WORK").ok()?;
    Some(work.split('\n').map(str::to_owned).collect())
}

/// A small deterministic source of randomness.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}
