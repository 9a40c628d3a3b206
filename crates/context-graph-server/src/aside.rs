//! Keeps refused requests aside, and forgets sessions.

use context_graph_storage::store::{TABLES, Tombstone};

use crate::db::{Connection, DbError, Pool};
use crate::given;
use crate::ingest::{COPY, PushError, copy_of};
use crate::members::{Principal, note_push};
use crate::schema::number;
use crate::wire::Push;

/// How many refused requests are kept per member and machine, and how much of each.
const MOST_ASIDE: i64 = 200;
const MOST_OF_EACH: usize = 1 << 20;
/// The `why` of the row that counts refusals beyond the limit.
pub(crate) const MORE: &str = "more than are kept";

/// A request that was refused.
pub(crate) struct RefusedRequest<'a> {
    pub(crate) machine: i64,
    pub(crate) session_id: &'a str,
    pub(crate) why: &'a str,
    /// The head that it claims to lead to.
    pub(crate) head: (u64, &'a [u8]),
    /// How many records of the session are stored here.
    pub(crate) has: u64,
    pub(crate) content: Vec<u8>,
}

impl<'a> RefusedRequest<'a> {
    /// A push.
    pub(crate) fn push(machine: i64, push: &'a Push, why: &'a str, has: u64) -> Self {
        let content = push.blocks.iter().flat_map(|(_, bytes)| bytes).copied().take(MOST_OF_EACH).collect();
        let head = (push.head.records, &push.head.link[..]);
        Self { machine, session_id: &push.session_id, why, head, has, content }
    }

    /// A request without a push: to see another member's session, or, with a wrong signature, to forget a session.
    pub(crate) fn request(machine: i64, session_id: &'a str, why: &'a str) -> Self {
        Self { machine, session_id, why, head: (0, &[]), has: 0, content: Vec::new() }
    }

    /// Keeps it aside: one per session and reason, up to the limit of the member and machine.
    pub(crate) fn put_aside(self, pool: &Pool, principal: &Principal, now_ms: i64) -> Result<(), DbError> {
        let session_id: String = self.session_id.chars().take(200).collect();
        pool.with(|connection| {
            let again = "UPDATE refused SET at_ms = $4 WHERE machine = $1 AND session_id = $2 AND why = $3 AND member = $5";
            let known = given![self.machine, session_id.as_str(), self.why, now_ms, principal.member];
            if connection.execute(again, known)? > 0 {
                return Ok(());
            }
            let of_both = "SELECT count(*) FROM refused WHERE machine = $1 AND member = $2";
            let kept = connection.one(of_both, given![self.machine, principal.member])?;
            if kept.is_some_and(|row| row.int(0) >= MOST_ASIDE) {
                return more(connection, self.machine, principal, now_ms);
            }
            connection.execute(
                "INSERT INTO refused (number, tenant, member, machine, session_id, at_ms, why, records, link, has, content)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                given![number(now_ms)?, principal.tenant, principal.member, self.machine, session_id, now_ms, self.why, self.head.0, self.head.1, self.has, self.content],
            )?;
            Ok(())
        })
    }
}

/// Counts the refused requests beyond the limit in the column `has` of one row, so that nobody can hide requests by
/// filling the table.
fn more(
    connection: &mut dyn Connection,
    machine: i64,
    principal: &Principal,
    now_ms: i64,
) -> Result<(), DbError> {
    let again =
        "UPDATE refused SET at_ms = $4, has = has + 1 WHERE machine = $1 AND member = $2 AND why = $3";
    if connection.execute(again, given![machine, principal.member, MORE, now_ms])? > 0 {
        return Ok(());
    }
    connection.execute(
        "INSERT INTO refused (number, tenant, member, machine, session_id, at_ms, why, records, link, has)
         VALUES ($1, $2, $3, $4, '', $5, $6, 0, $7, 1)",
        given![number(now_ms)?, principal.tenant, principal.member, machine, now_ms, MORE, &[][..]],
    )?;
    Ok(())
}

/// Forgets a machine's session if its ordinal is at most this one, and leaves a tombstone. Returns how many records
/// there were.
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
        // The content is removed, but not the fact of the refusal: otherwise forgetting would remove the
        // trace of an attack.
        let emptied = "UPDATE refused SET content = NULL WHERE machine = $1 AND session_id = $2";
        connection.execute(emptied, given![machine, session_id])?;
        connection.execute(
            "INSERT INTO tombstones (machine, fingerprint, tenant, ordinal, records, link, at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (machine, fingerprint) DO UPDATE SET at_ms = excluded.at_ms,
                ordinal = CASE WHEN excluded.ordinal > tombstones.ordinal THEN excluded.ordinal ELSE tombstones.ordinal END",
            given![machine, &Tombstone::fingerprint(session_id)[..], tenant, ordinal, records, link, now_ms],
        )?;
        note_push(connection, machine, now_ms)?;
        Ok(records)
    })
}
