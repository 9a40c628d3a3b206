//! Making the tables, and knowing which version they are.

use crate::db::{Connection, DbError, Pool, Result};
use crate::given;
use crate::keys;

/// The version of the tables.
pub const FORMAT: i64 = 1;
const SCHEMA: &str = include_str!("schema.sql");

/// What was found before anything was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No tables.
    Nothing,
    /// Tables of this version.
    Version(i64),
}

/// The version of the tables that are there.
pub fn found(connection: &mut dyn Connection) -> Result<Found> {
    match connection.one("SELECT value FROM meta WHERE name = 'format'", &[]) {
        Ok(Some(row)) => Ok(row.text(0).parse().map_or(Found::Nothing, Found::Version)),
        Ok(None) | Err(DbError::Refused(_)) => Ok(Found::Nothing),
        Err(error) => Err(error),
    }
}

/// Makes the tables where there are none. A database of a newer version is refused and left as it is.
pub fn migrate(pool: &Pool, partitioned: bool, now_ms: i64) -> Result<Found> {
    let before = pool.with(found)?;
    match before {
        Found::Version(version) if version > FORMAT => {
            return Err(DbError::Refused(format!(
                "its tables have version {version}, and this program knows version {FORMAT}: update the program"
            )));
        }
        Found::Version(_) => return Ok(before),
        Found::Nothing => {}
    }
    let is_conflict = |_: &DbError| false;
    pool.transaction(is_conflict, |connection| {
        let text = connection.schema(SCHEMA, partitioned);
        connection.batch(&text)?;
        let partitions = if partitioned && pool.is_postgres() { "month" } else { "none" };
        for (name, value) in [("format", FORMAT.to_string()), ("partitions", partitions.to_owned())] {
            connection.execute("INSERT INTO meta (name, value) VALUES ($1, $2)", given![name, value])?;
        }
        let insert = "INSERT INTO tenants (tenant, name, created_ms) VALUES (1, 'team', $1)";
        connection.execute(insert, given![now_ms])?;
        Ok(())
    })?;
    // What was opened before does not know yet how tables are partitioned.
    pool.forget_idle();
    Ok(before)
}

/// A number that is larger than those of before, and that nobody else draws: the time, and chance behind it.
pub fn number(now_ms: i64) -> Result<i64> {
    let random = keys::random().map_err(|error| DbError::Refused(error.to_string()))?;
    let chance = i64::from(u32::from_le_bytes([random[0], random[1], random[2], 0]) & 0xF_FFFF);
    Ok((now_ms.max(0) << 20 | chance) & i64::MAX)
}
