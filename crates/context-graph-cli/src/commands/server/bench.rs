//! `server bench`: how much load a database and this program can handle, measured where they run.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use clap::Args;
use context_graph_server::bench::{self, Asked, Load};
use context_graph_server::db::DatabaseAddress;
use context_graph_server::schema;
use serde_json::json;

use super::{DatabaseArgs, db_failure, failure};
use crate::commands::binary_path;
use crate::commands::failure::{CommandResult, Failure};
use crate::summary::counted;
use crate::{Environment, clock, table};

/// Measure how fast records are taken in, against a plain COPY of the same rows, and how fast pages are answered
///
/// It needs a PostgreSQL database without tables of ours, fills it through its own server on the loopback, and
/// removes everything afterwards.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  createdb bench\n  context-graph server --database postgres://localhost/bench bench --records 1000000 --sessions 1000\n  context-graph server --database @/etc/context-graph/database bench --pages-only"
)]
pub(crate) struct BenchArgs {
    /// How many records
    #[arg(long, default_value_t = 5_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,

    /// Of how many sessions
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    sessions: u64,

    /// From how many machines
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    machines: u64,

    /// How many push at the same time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pushers: u16,

    /// How often each query of the pages is run afterwards
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    ask: u16,

    /// Only run the queries of the pages, on the records that are in the database
    #[arg(long, conflicts_with_all = ["records", "sessions", "machines", "pushers", "scratch", "keep"])]
    pages_only: bool,

    /// The folder for the prepared pushes and rows [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,

    /// Leave the records in the database
    #[arg(long)]
    keep: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// A server process for the measurement, killed on drop.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(database: &DatabaseArgs) -> Result<Self, Failure> {
        let mut command = Command::new(binary_path()?);
        command.arg("server").args(database.as_args()).args(["run", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failure)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(failure)?;
        }
        let server = Self { child, url: line.trim().to_owned() };
        if server.url.is_empty() { Err(failure("the server did not start")) } else { Ok(server) }
    }

    /// Its peak memory in bytes; `None` if the system does not report it.
    fn peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates are shown with three digits")]
pub(super) fn run(args: &BenchArgs, database: &DatabaseArgs, environment: &Environment) -> CommandResult {
    let (pool, place) = (database.pool(environment)?, database.place(environment)?);
    if !matches!(place, DatabaseAddress::Postgres(..)) {
        return Err(Failure::usage("the comparison is with PostgreSQL's COPY")
            .with_next_step("--database postgres://…"));
    }
    if args.pages_only {
        super::ready(&pool)?;
        let asked = bench::ask(&pool, usize::from(args.ask), clock::now_ms).map_err(db_failure)?;
        return if args.json {
            table::print_json(&json!({ "pages": pages(&asked) }))
        } else {
            table::print_lines(lines(&asked))
        };
    }
    if pool.with(schema::found).map_err(db_failure)? != schema::FoundTables::Nothing {
        return Err(Failure::usage("the database has tables of a team already")
            .with_next_step("make an empty one: `createdb bench`"));
    }
    let scratch = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let folder = environment.current_dir.join(scratch);
    let now_ms = clock::now_ms();
    schema::migrate(&pool, true, now_ms).map_err(db_failure)?;
    let load =
        Load { records: args.records, sessions: args.sessions.min(args.records), machines: args.machines };
    let measured = (|| {
        let prepared = load.prepare(&pool, &folder, now_ms).map_err(failure)?;
        let server = Server::start(database)?;
        let pushed = bench::push(&prepared, &server.url, usize::from(args.pushers)).map_err(failure)?;
        let peak = server.peak();
        drop(server);
        pool.with(|connection| connection.batch("ANALYZE")).map_err(failure)?;
        let asked = bench::ask(&pool, usize::from(args.ask), clock::now_ms).map_err(failure)?;
        let copied = bench::copy(&place, &folder).map_err(failure)?;
        Ok::<_, Failure>((prepared.records, pushed, peak, asked, copied))
    })();
    if !args.keep {
        bench::remove(&pool).map_err(failure)?;
    }
    let (records, pushed, peak, asked, copied) = measured?;
    let rate = |count: u64, took: std::time::Duration| count as f64 / took.as_secs_f64();
    let (push_rate, copy_rate) = (rate(copied.rows, pushed), rate(copied.rows, copied.took));
    let ratio = push_rate / copy_rate;
    if args.json {
        return table::print_json(&json!({
            "records": records, "rows": copied.rows, "push_seconds": pushed.as_secs_f64(),
            "copy_seconds": copied.took.as_secs_f64(), "records_per_second": rate(records, pushed),
            "rows_per_second": push_rate, "copy_rows_per_second": copy_rate, "ratio": ratio,
            "server_peak_bytes": peak, "bytes": copied.bytes, "bytes_per_record": copied.bytes / records.max(1),
            "pages": pages(&asked),
        }));
    }
    let peak = peak.map_or_else(|| "not known".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    let mut lines = vec![
        format!(
            "pushed {} ({} rows) in {:.1} s: {:.0} records/s, {push_rate:.0} rows/s",
            counted(records, "record", "records"),
            copied.rows,
            pushed.as_secs_f64(),
            rate(records, pushed)
        ),
        format!(
            "COPY of the same rows: {:.1} s, {copy_rate:.0} rows/s; pushing has {ratio:.2} of that",
            copied.took.as_secs_f64()
        ),
        format!(
            "the server's peak memory: {peak}; {} bytes a record in the database",
            copied.bytes / records.max(1)
        ),
    ];
    lines.extend(self::lines(&asked));
    table::print_lines(lines)
}

fn ms(took: std::time::Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// How long each query took, for `--json`.
fn pages(asked: &[Asked]) -> Vec<serde_json::Value> {
    let told = |asked: &Asked| json!({"what": asked.what, "p50_ms": ms(asked.p50), "p95_ms": ms(asked.p95)});
    asked.iter().map(told).collect()
}

/// The same in lines.
fn lines(asked: &[Asked]) -> Vec<String> {
    let told =
        |asked: &Asked| format!("{}: p50 {:.1} ms, p95 {:.1} ms", asked.what, ms(asked.p50), ms(asked.p95));
    asked.iter().map(told).collect()
}
