//! `server bench`: how fast records are stored, compared with a plain COPY of the same rows, and how fast pages are
//! answered.

mod asking;
mod load;

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use asking::{Asked, ask};
pub use load::{Load, Prepared};

use crate::client::{Client, ClientError};
use crate::db::{BY_TIME, DatabaseAddress, DbError, Pool, raw};

/// Pushes everything that was prepared, over this many connections at the same time. Returns how long it
/// took.
pub fn push(prepared: &Prepared, url: &str, pushers: usize) -> Result<Duration, ClientError> {
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let push = || -> Result<(), ClientError> {
        let client = Client::new(url, None, "")?;
        let clients: Vec<_> = prepared.tokens.iter().map(|token| client.with_token(token)).collect();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((machine, body)) =
                prepared.read(at).map_err(|error| ClientError::Usage(error.to_string()))?
            else {
                return Ok(());
            };
            clients[machine].push_bytes(&body)?;
        }
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..pushers.max(1)).map(|_| scope.spawn(push)).collect();
        let broken = || ClientError::Usage("a pusher ended unexpectedly".to_owned());
        all.into_iter().try_for_each(|one| one.join().map_err(|_| broken())?)
    })?;
    Ok(started.elapsed())
}

/// The result of a plain COPY of the stored rows.
#[derive(Debug, Clone, Copy)]
pub struct Copied {
    /// How many rows.
    pub rows: u64,
    /// How long writing them took.
    pub took: Duration,
    /// The size of the database before, in bytes.
    pub bytes: u64,
}

/// Copies the rows of all tables of records into tables with the same columns and indexes, by COPY from a file.
pub fn copy(place: &DatabaseAddress, folder: &Path) -> Result<Copied, DbError> {
    let DatabaseAddress::Postgres(address, tls) = place else {
        return Err(DbError::Refused("COPY needs PostgreSQL".to_owned()));
    };
    let failed = |error: postgres::Error| DbError::Refused(error.to_string());
    let broken = |error: io::Error| DbError::Refused(error.to_string());
    let mut client = raw(address, tls)?;
    client.batch_execute("SET statement_timeout = 0").map_err(failed)?;
    let size = client.query_one("SELECT pg_database_size(current_database())", &[]).map_err(failed)?;
    let mut copied = Copied { rows: 0, took: Duration::ZERO, bytes: size.get::<_, i64>(0).unsigned_abs() };
    let mut part = vec![0; 256 << 10];
    for table in BY_TIME {
        let path = folder.join("rows");
        let mut file = io::BufWriter::new(std::fs::File::create(&path).map_err(broken)?);
        // A partitioned table cannot be copied from by its name.
        let mut out =
            client.copy_out(&format!("COPY (SELECT * FROM {table}) TO STDOUT BINARY")).map_err(failed)?;
        io::copy(&mut out, &mut file).map_err(broken)?;
        drop(out);
        file.flush().map_err(broken)?;
        client
            .batch_execute(&format!("CREATE TABLE {COPY_OF}{table} (LIKE {table} INCLUDING ALL); CHECKPOINT"))
            .map_err(failed)?;
        let mut file = std::fs::File::open(&path).map_err(broken)?;
        let started = Instant::now();
        let mut into = client.copy_in(&format!("COPY {COPY_OF}{table} FROM STDIN BINARY")).map_err(failed)?;
        loop {
            let length = file.read(&mut part).map_err(broken)?;
            if length == 0 {
                break;
            }
            into.write_all(&part[..length]).map_err(broken)?;
        }
        copied.rows += into.finish().map_err(failed)?;
        copied.took += started.elapsed();
        client.batch_execute(&format!("DROP TABLE {COPY_OF}{table}")).map_err(failed)?;
        std::fs::remove_file(&path).map_err(broken)?;
    }
    Ok(copied)
}

const COPY_OF: &str = "copy_of_";

/// Removes copies that an interrupted run left.
fn remove_copies(pool: &Pool) -> Result<(), DbError> {
    pool.with(|connection| {
        BY_TIME
            .iter()
            .try_for_each(|table| connection.batch(&format!("DROP TABLE IF EXISTS {COPY_OF}{table}")))
    })
}

/// Removes all tables, including the copies.
pub fn remove(pool: &Pool) -> Result<(), DbError> {
    remove_copies(pool)?;
    let rest = [
        "meta",
        "tenants",
        "policies",
        "members",
        "invitations",
        "machines",
        "tokens",
        "sessions",
        "tombstones",
        "refused",
        "looks",
        "tools",
        "changes",
        "turned_away",
    ];
    pool.with(|connection| {
        let tables = BY_TIME.iter().chain(&rest);
        tables.into_iter().try_for_each(|table| connection.batch(&format!("DROP TABLE IF EXISTS {table}")))
    })
}
