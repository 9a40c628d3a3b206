//! How long queries about calls take over a large store:
//!
//!     cargo run --release --example audit_cost -- make FOLDER [SESSIONS] [RECORDS]
//!     cargo run --release --example audit_cost -- time FOLDER BINARY
//!
//! `make` fills the state folder of a project in FOLDER with made-up sessions. `time` runs the queries there, each
//! in its own process, and prints the fastest, the median and the slowest run.
#![expect(clippy::print_stdout, reason = "it is what the example is for")]

mod made_up;
mod timing;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use context_graph_core::session::Session;
use context_graph_storage::sessions::{encode_record, encode_session};
use context_graph_storage::{FoldBatch, LogRecord, StateFolder, UserFolder};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["make", folder, rest @ ..] => {
            let number = |at: usize, default: u64| rest.get(at).map_or(Ok(default), |text| text.parse());
            make(Path::new(folder), number(0, 5_000)?, number(1, 1_000_000)?)
        }
        ["time", folder, binary] => timing::run(Path::new(folder), Path::new(binary)),
        _ => Err("say `make FOLDER [SESSIONS] [RECORDS]` or `time FOLDER BINARY`".into()),
    }
}

/// Fills a store. The same numbers always make the same store.
fn make(folder: &Path, sessions: u64, records: u64) -> Outcome {
    std::fs::create_dir_all(folder)?;
    let place = StateFolder::open_or_create(
        folder,
        None,
        &UserFolder::new(folder.join(".config/context-graph/private")),
    )?;
    // No limit: upkeep must not remove sessions, and the store is larger than the default limit.
    std::fs::write(folder.join(".config/context-graph/config.toml"), "[retention]\nmax_size_mb = 0\n")?;
    let store = place.open_store(0)?;
    let started = Instant::now();
    let (mut made, mut bytes) = (0, 0);
    for number in 0..sessions {
        // Sessions differ in length; the last one takes the rest.
        let share = (records - made) / (sessions - number);
        let length = if number + 1 == sessions { share } else { share / 2 + share * (number % 11) / 10 };
        let told = made_up::session(number, sessions, length, folder);
        made += told.records.len() as u64;
        bytes += told.records.iter().map(|record| record.payload.len()).sum::<usize>();
        let mut session = Session::new(&told.id, folder.to_string_lossy(), told.started_ms);
        session.snapshot.timestamp_ms = told.ended_ms;
        session.state.updated_ms = told.ended_ms;
        session.state.ended_ms = Some(told.ended_ms);
        let mut log = Vec::with_capacity(told.records.len());
        for record in told.records {
            let record = record.for_the_log();
            let tool_use_id = record.tool_use_id.clone();
            log.push(LogRecord { tool_use_id, bytes: encode_record(&record)?, source: None });
        }
        let state = encode_session(&session)?;
        store.commit_fold(&FoldBatch {
            state: Some(state),
            records: log,
            project: Some(folder.to_string_lossy().into_owned()),
            duration_ms: Some(session.duration_ms()),
            ..FoldBatch::of(session.snapshot)
        })?;
    }
    let on_disk = store.stats()?.disk_bytes;
    println!(
        "{sessions} sessions, {made} records of {} bytes on average, {} MB on disk, in {:.0} s",
        bytes as u64 / made.max(1),
        on_disk >> 20,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}
