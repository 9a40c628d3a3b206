//! What is no longer accepted: refused pushes, and forgotten sessions.

use context_graph_storage::store::{TABLES, Tombstone};

use crate::db::{DbError, Pool};
use crate::given;
use crate::ingest::{COPY, PushError, copy_of};
use crate::members::Guest;
use crate::schema::number;
use crate::wire::Push;

/// How many refused pushes are kept per machine, and how much of each.
const MOST_ASIDE: i64 = 200;
const MOST_OF_EACH: usize = 1 << 20;

/// Keeps a refused push aside: one per session and reason, up to the limit of the machine.
pub(crate) fn put_aside(
    pool: &Pool,
    guest: &Guest,
    machine: i64,
    push: &Push,
    (why, has): (&str, u64),
    now_ms: i64,
) -> Result<(), DbError> {
    pool.with(|connection| {
        let key = given![machine, push.session_id.as_str(), why];
        let known = "SELECT 1 FROM refused WHERE machine = $1 AND session_id = $2 AND why = $3";
        if connection.one(known, key)?.is_some() {
            let again = "UPDATE refused SET at_ms = $4 WHERE machine = $1 AND session_id = $2 AND why = $3";
            let given = given![machine, push.session_id.as_str(), why, now_ms];
            return connection.execute(again, given).map(|_| ());
        }
        let of_machine = connection.one("SELECT count(*) FROM refused WHERE machine = $1", given![machine])?;
        if of_machine.is_some_and(|row| row.int(0) >= MOST_ASIDE) {
            return Ok(());
        }
        let content: Vec<u8> = push.blocks.iter().flat_map(|(_, bytes)| bytes).copied().take(MOST_OF_EACH).collect();
        connection.execute(
            "INSERT INTO refused (number, tenant, member, machine, session_id, at_ms, why, records, link, has, content)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            given![number(now_ms)?, guest.tenant, guest.member, machine, push.session_id.as_str(), now_ms, why, push.head.records, &push.head.link[..], has, content],
        )?;
        Ok(())
    })
}

/// Forgets a machine's session up to this ordinal and leaves a tombstone. Returns how many records there
/// were.
pub fn forget_by_id(
    pool: &Pool,
    tenant: i64,
    machine: i64,
    session_id: &str,
    ordinal: u64,
    now_ms: i64,
) -> Result<u64, PushError> {
    pool.transaction(PushError::is_conflict, |connection| {
        let locked = format!("{COPY}{}", connection.for_update());
        let copy = connection.one(&locked, given![machine, session_id])?.map(|row| copy_of(&row, session_id));
        let copy = copy.filter(|copy| copy.ordinal <= ordinal);
        let (records, link) = copy.as_ref().map_or((0, None), |copy| (copy.records, Some(copy.link.as_bytes().to_vec())));
        if let Some(copy) = &copy {
            for table in TABLES.iter().map(|table| table.name).chain(["blocks", "words"]) {
                let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND session = $2 AND born = $3");
                connection.execute(&sql, given![tenant, copy.number, copy.born])?;
            }
            connection.execute("DELETE FROM sessions WHERE number = $1", given![copy.number])?;
        }
        connection.execute(
            "DELETE FROM refused WHERE machine = $1 AND session_id = $2",
            given![machine, session_id],
        )?;
        connection.execute(
            "INSERT INTO tombstones (machine, fingerprint, tenant, ordinal, records, link, at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (machine, fingerprint) DO UPDATE SET at_ms = excluded.at_ms,
                ordinal = CASE WHEN excluded.ordinal > tombstones.ordinal THEN excluded.ordinal ELSE tombstones.ordinal END",
            given![machine, &Tombstone::fingerprint(session_id)[..], tenant, ordinal, records, link, now_ms],
        )?;
        Ok(records)
    })
}
