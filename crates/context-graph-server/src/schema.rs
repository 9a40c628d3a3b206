//! Creates the tables and checks their version.

use crate::db::{Connection, DbError, Pool, Result};
use crate::{given, keys, word_index};

/// The version of the tables.
pub const FORMAT: i64 = 4;
const SCHEMA: &str = include_str!("schema.sql");
/// The migrations from each version to the next, beginning with the first.
const UPGRADES: [&str; 3] = [
    "ALTER TABLE tenants ADD COLUMN policy_key BYTEA;
    CREATE TABLE policies (tenant BIGINT NOT NULL, number BIGINT NOT NULL, etag TEXT NOT NULL, content BYTEA NOT NULL,
        published_ms BIGINT NOT NULL, PRIMARY KEY (tenant, number));",
    "CREATE TABLE words (tenant BIGINT NOT NULL, member BIGINT NOT NULL, machine BIGINT NOT NULL, born BIGINT NOT NULL,
        session BIGINT NOT NULL, first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL, first_ms BIGINT NOT NULL,
        last_ms BIGINT NOT NULL, letters SMALLINT[], PRIMARY KEY (tenant, session, first_seq, born)) /* by time */;
    CREATE INDEX words_by_time ON words (tenant, last_ms);
    CREATE INDEX words_by_letters ON words USING gin (letters);",
    "DROP TABLE words;
    CREATE TABLE words (tenant BIGINT NOT NULL, member BIGINT NOT NULL, machine BIGINT NOT NULL, born BIGINT NOT NULL,
        session BIGINT NOT NULL, first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL, first_ms BIGINT NOT NULL,
        last_ms BIGINT NOT NULL, parts INTEGER[], PRIMARY KEY (tenant, session, first_seq, born)) /* by time */;
    CREATE INDEX words_by_time ON words (tenant, last_ms);
    CREATE INDEX words_by_parts ON words USING gin (parts);
    CREATE INDEX calls_by_tool ON calls (tenant, tool, at_ms);
    CREATE INDEX calls_by_outcome ON calls (tenant, outcome, at_ms) WHERE outcome <> 'success';
    CREATE TABLE tools (tenant BIGINT NOT NULL, tool TEXT NOT NULL, PRIMARY KEY (tenant, tool));
    INSERT INTO tools SELECT DISTINCT tenant, tool FROM calls;
    CREATE TABLE changes (number BIGINT NOT NULL PRIMARY KEY, tenant BIGINT NOT NULL, member BIGINT NOT NULL,
        whom TEXT NOT NULL, at_ms BIGINT NOT NULL, what TEXT NOT NULL, is_done BIGINT NOT NULL);
    CREATE INDEX changes_by_time ON changes (tenant, at_ms);
    CREATE TABLE turned_away (at_ms BIGINT NOT NULL, source TEXT NOT NULL, kind TEXT NOT NULL, number BIGINT NOT NULL,
        PRIMARY KEY (at_ms, source, kind));",
];
/// The version since which the search index has its current form.
const WORDS: i64 = 4;

/// The tables that were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundTables {
    /// No tables.
    Nothing,
    /// Tables of this version.
    Version(i64),
}

/// The version of the existing tables.
pub fn found(connection: &mut dyn Connection) -> Result<FoundTables> {
    match connection.one("SELECT value FROM meta WHERE name = 'format'", &[]) {
        Ok(Some(row)) => Ok(row.text(0).parse().map_or(FoundTables::Nothing, FoundTables::Version)),
        Ok(None) | Err(DbError::NoTable(_)) => Ok(FoundTables::Nothing),
        Err(error) => Err(error),
    }
}

/// Creates the tables if there are none, and upgrades those of an older version. A database with a newer version is refused
/// and not changed.
pub fn migrate(pool: &Pool, partitioned: bool, now_ms: i64) -> Result<FoundTables> {
    let before = pool.with(found)?;
    match before {
        FoundTables::Version(version) if version > FORMAT => {
            return Err(DbError::Refused(format!(
                "its tables have version {version}, and this program knows version {FORMAT}: update the program"
            )));
        }
        FoundTables::Version(FORMAT) => return Ok(before),
        FoundTables::Version(version) => {
            upgrade(pool, version)?;
            return Ok(before);
        }
        FoundTables::Nothing => {}
    }
    let never_again = |_: &DbError| false;
    pool.transaction(never_again, |connection| {
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
    // Connections opened earlier do not know how the tables are partitioned.
    pool.forget_idle();
    Ok(before)
}

/// Runs all migrations from a version to this one, or none of them.
fn upgrade(pool: &Pool, from: i64) -> Result<()> {
    pool.forget_idle();
    let done = usize::try_from(from - 1).unwrap_or(usize::MAX);
    pool.transaction(
        |_: &DbError| false,
        |connection| {
            // If another process was faster, there is nothing to do.
            let sql = "UPDATE meta SET value = $1 WHERE name = 'format' AND value = $2";
            if connection.execute(sql, given![FORMAT.to_string(), from.to_string()])? == 0 {
                return Ok(());
            }
            if pool.is_postgres() {
                // Upgrading large tables takes longer than any query may.
                connection.batch("SET LOCAL statement_timeout = 0")?;
            }
            let partitions = connection.one("SELECT value FROM meta WHERE name = 'partitions'", &[])?;
            let partitioned = partitions.is_some_and(|row| row.text(0) == "month");
            for step in UPGRADES.iter().skip(done) {
                connection.batch(&connection.schema(step, partitioned))?;
            }
            if from < WORDS {
                word_index::learn_all(connection)?;
            }
            Ok(())
        },
    )?;
    // Connections opened earlier still assume partitions of tables that the upgrade has dropped.
    pool.forget_idle();
    Ok(())
}

/// A unique number that grows with time: the time, then random bits.
pub fn number(now_ms: i64) -> Result<i64> {
    let random = keys::random().map_err(|error| DbError::Refused(error.to_string()))?;
    let chance = i64::from(u32::from_le_bytes([random[0], random[1], random[2], 0]) & 0xF_FFFF);
    Ok((now_ms.max(0) << 20 | chance) & i64::MAX)
}
