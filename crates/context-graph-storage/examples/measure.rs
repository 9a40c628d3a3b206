//! The cost of the hook path on this disk: `cargo run --release --example measure -- FOLDER [SESSIONS]`.
//!
//! Fills a store in FOLDER with SESSIONS sessions of ten records each, then prints the median and the 95th percentile
//! of each operation.
#![expect(clippy::print_stdout, reason = "it is what the example is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use context_graph_storage::store::SessionQuery;
use context_graph_storage::{FoldBatch, LogRecord, StateFolder, UserFolder};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder")?);
    let sessions: u32 = arguments.next().map_or(Ok(10), |count| count.parse())?;
    std::fs::create_dir_all(&folder)?;
    let place = StateFolder::open_or_create(&folder, None, &user(&folder))?;
    fill(&place, sessions)?;
    let stats = place.open_store(0)?.stats()?;
    println!("{sessions} sessions, {} records, {} bytes on disk", stats.records, stats.disk_bytes);
    live(&place)?;
    store(&place, &folder)
}

fn user(folder: &Path) -> UserFolder {
    UserFolder::new(folder.join("private"))
}

/// The cost of the events of a live session; no database is involved.
fn live(place: &StateFolder) -> Outcome<()> {
    let event = vec![b'e'; 600];
    let state = vec![7; 16 << 10];
    let session = place.session("measured")?;
    measure("append_without_lock, 600 bytes", 3000, || Ok(session.append_without_lock(&event)?))?;
    measure("step: lock, read state 16 KB, append, write state", 3000, || {
        let mut lock = session.lock()?;
        let applied = lock.read_state()?.map(|state| state.applied);
        lock.append(&event)?;
        let end = lock.entries_since(applied)?.end();
        Ok(lock.write_state(end, &state)?)
    })?;
    measure("read_state_unlocked, 16 KB", 3000, || Ok(session.read_state_unlocked()?))?;
    measure("open_or_create the state folder", 3000, || {
        Ok(StateFolder::open_or_create(place.root(), None, &user(place.root()))?)
    })?;
    session.remove()?;
    Ok(())
}

/// The cost of a sync point.
fn store(place: &StateFolder, folder: &Path) -> Outcome<()> {
    let mut round = 0;
    measure("open the store and close it", 300, || Ok(place.open_store(0)?))?;
    measure("open, commit_fold of 50 records, close", 200, || {
        round += 1;
        Ok(place.open_store(0)?.commit_fold(&batch("measured", round, 50))?)
    })?;
    let store = place.open_store(0)?;
    measure("commit_fold of 50 records", 200, || {
        round += 1;
        Ok(store.commit_fold(&batch("measured", round, 50))?)
    })?;
    measure("commit_fold of one record", 200, || {
        round += 1;
        Ok(store.commit_fold(&batch("measured", round, 1))?)
    })?;
    measure("commit_fold of a new session with one record", 200, || {
        round += 1;
        let id = format!(
            "{:016x}-{:?}",
            round.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed()),
            Instant::now()
        );
        let mut batch =
            batch(&id.replace(|letter: char| !letter.is_ascii_alphanumeric(), ""), round + (1 << 40), 1);
        batch.records[0].tool_use_id = None;
        Ok(store.commit_fold(&batch)?)
    })?;
    measure("latest_of_project", 1000, || Ok(store.latest_of_project("project 3", None)?))?;
    measure("find_calls", 1000, || Ok(store.find_calls("toolu_measured_7_3")?))?;
    let newest = SessionQuery { limit: Some(50), ..SessionQuery::default() };
    measure("list_sessions, the newest 50", 300, || Ok(store.list_sessions(&newest)?))?;
    measure("check everything", 3, || match store.check()?.first_problem {
        Some((key, problem)) => Err(format!("{key} {problem}").into()),
        None => Ok(()),
    })?;
    let synced = std::fs::File::create(folder.join("probe"))?;
    measure("for comparison: write and fdatasync 4 KB", 200, || {
        std::io::Write::write_all(&mut &synced, &[1; 4096])?;
        Ok(synced.sync_data()?)
    })
}

fn fill(place: &StateFolder, sessions: u32) -> Outcome<()> {
    let store = place.open_store(0)?;
    for number in 0..sessions {
        let id = format!("{number:08x}-0000-7000-8000-000000000000");
        if store.session(&id)?.is_none() {
            store.commit_fold(&batch(&id, i64::from(number), 10))?;
        }
    }
    Ok(())
}

fn batch(id: &str, round: i64, records: usize) -> FoldBatch {
    let mut snapshot = SessionIdentitySnapshot::with_timestamp(id, 1_700_000_000_000 + round);
    (0..10).for_each(|_| snapshot.append_to_trajectory([0.5; 13]));
    let record = |seq| LogRecord {
        tool_use_id: Some(format!("toolu_{id}_{round}_{seq}")),
        bytes: vec![b'r'; 300],
        source: None,
    };
    FoldBatch {
        state: Some(vec![7; 2000]),
        records: (0..records).map(record).collect(),
        project: Some(format!("project {}", round % 50)),
        ..FoldBatch::of(snapshot)
    }
}

fn measure<T>(name: &str, rounds: usize, mut work: impl FnMut() -> Outcome<T>) -> Outcome<()> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!("{:9.1} µs {:9.1} µs  {name}", micros(times[rounds / 2]), micros(times[rounds * 95 / 100]));
    Ok(())
}
