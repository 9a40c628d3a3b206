//! Changes to members that admins make over HTTP. Each change is recorded with who made it, and so is each
//! attempt of a member who is not an admin.

use crate::db::{Connection, DbError, Pool, Result, Row};
use crate::given;
use crate::members::{Principal, Role, invite_to, remove_from};
use crate::schema::number;

/// How long an invitation that was made on the pages can be used.
const INVITATION_MS: i64 = 7 * 86_400_000;

/// A change that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A new member, or one more machine of a member.
    Invite {
        name: String,
        role: Option<Role>,
    },
    Role {
        name: String,
        role: Role,
    },
    /// A membership ends, with all its tokens.
    Remove {
        name: String,
    },
    /// One token ends.
    Revoke {
        token: i64,
    },
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManageError {
    #[error("only admins manage members")]
    Role,
    #[error("a member's name has 1 to 100 characters, and is not a number")]
    Name,
    #[error("no member or token `{0}` (it may have been removed)")]
    Nobody(String),
    #[error(
        "you cannot remove yourself or change your own role: ask another admin, or whoever runs the server"
    )]
    Own,
    #[error(
        "this team has no key for its policy yet: whoever runs the server makes it by `context-graph server invite`"
    )]
    NoKey,
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Whether this can be a member's name.
pub fn is_name(name: &str) -> bool {
    let is_number = name.parse::<i64>().is_ok();
    !name.trim().is_empty() && name.len() <= 100 && !name.chars().any(char::is_control) && !is_number
}

/// Makes a change. Returns an invitation, which is shown only once.
pub(crate) fn change(
    pool: &Pool,
    principal: &Principal,
    change: &Change,
    now_ms: i64,
) -> std::result::Result<Option<String>, ManageError> {
    if principal.role != Role::Admin || principal.machine.is_some() {
        note_try(pool, principal, "tried to change members", now_ms)?;
        return Err(ManageError::Role);
    }
    let is_conflict = |error: &ManageError| matches!(error, ManageError::Db(DbError::Conflict(_)));
    pool.transaction(is_conflict, |connection| {
        let (shown, whom, what) = make(connection, principal, change, now_ms)?;
        note(connection, principal, (&whom, &what, true), now_ms)?;
        Ok(shown)
    })
}

type Made = (Option<String>, String, String);

fn make(
    connection: &mut dyn Connection,
    principal: &Principal,
    change: &Change,
    now_ms: i64,
) -> std::result::Result<Made, ManageError> {
    let tenant = principal.tenant;
    let nobody = |who: &str| ManageError::Nobody(who.to_owned());
    let not_own = |name: &str| if name == principal.name { Err(ManageError::Own) } else { Ok(()) };
    match change {
        Change::Invite { name, role } => {
            if !is_name(name) {
                return Err(ManageError::Name);
            }
            if role.is_some_and(|role| role != principal.role) {
                not_own(name)?;
            }
            let key = connection.one("SELECT policy_key FROM tenants WHERE tenant = $1", given![tenant])?;
            if key.is_none_or(|row| row.bytes(0).is_empty()) {
                return Err(ManageError::NoKey);
            }
            let drawn = invite_to(connection, tenant, name, *role, INVITATION_MS, now_ms)?;
            let what =
                role.map_or_else(|| "invited".to_owned(), |role| format!("invited as {}", role.as_str()));
            Ok((Some(drawn), name.clone(), what))
        }
        Change::Role { name, role } => {
            not_own(name)?;
            let sql = "UPDATE members SET role = $1 WHERE tenant = $2 AND name = $3 AND revoked_ms IS NULL";
            let changed = connection.execute(sql, given![role.as_str(), tenant, name.as_str()])?;
            if changed == 0 {
                Err(nobody(name))
            } else {
                Ok((None, name.clone(), format!("made {}", role.as_str())))
            }
        }
        Change::Remove { name } => {
            not_own(name)?;
            let removed = remove_from(connection, tenant, name, now_ms)?;
            if removed == 0 { Err(nobody(name)) } else { Ok((None, name.clone(), "removed".to_owned())) }
        }
        Change::Revoke { token } => {
            let owner = connection.one(
                "SELECT m.name FROM tokens t JOIN members m ON m.tenant = t.tenant AND m.member = t.member
                 WHERE t.tenant = $1 AND t.number = $2",
                given![tenant, *token],
            )?;
            let sql =
                "UPDATE tokens SET revoked_ms = $1 WHERE tenant = $2 AND number = $3 AND revoked_ms IS NULL";
            let changed = connection.execute(sql, given![now_ms, tenant, *token])?;
            match owner {
                Some(row) if changed > 0 => {
                    Ok((None, row.text(0).to_owned(), format!("token {token} revoked")))
                }
                _ => Err(nobody(&token.to_string())),
            }
        }
    }
}

fn note(
    connection: &mut dyn Connection,
    principal: &Principal,
    (whom, what, is_done): (&str, &str, bool),
    now_ms: i64,
) -> Result<()> {
    let sql = "INSERT INTO changes (number, tenant, member, whom, at_ms, what, is_done) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let row =
        given![number(now_ms)?, principal.tenant, principal.member, whom, now_ms, what, i64::from(is_done)];
    connection.execute(sql, row).map(drop)
}

/// The `what` of a change that was a forgotten session.
pub(crate) const FORGOTTEN: &str = "forgotten";

/// Records that a member had a session forgotten, but not which session. Its content must be removed, but this fact may
/// stay.
pub(crate) fn note_forgotten(pool: &Pool, principal: &Principal, records: u64, now_ms: i64) -> Result<()> {
    // Stored in the column `whom`. For other changes, that column has the name of the member.
    let about = format!("a session of {records} {}", if records == 1 { "record" } else { "records" });
    pool.with(|connection| note(connection, principal, (&about, FORGOTTEN, true), now_ms))
}

/// Records an attempt of a member who is not an admin: one row for each member and kind.
pub(crate) fn note_try(pool: &Pool, principal: &Principal, what: &str, now_ms: i64) -> Result<()> {
    pool.with(|connection| {
        let again =
            "UPDATE changes SET at_ms = $1 WHERE tenant = $2 AND member = $3 AND what = $4 AND is_done = 0";
        if connection.execute(again, given![now_ms, principal.tenant, principal.member, what])? > 0 {
            return Ok(());
        }
        note(connection, principal, ("", what, false), now_ms)
    })
}

/// The newest changes and attempts: when, who, what, about whom.
pub(crate) fn newest(connection: &mut dyn Connection, tenant: i64, most: u64) -> Result<Vec<Row>> {
    connection.query(
        "SELECT c.at_ms, m.name, c.what, c.whom, c.is_done FROM changes c
         JOIN members m ON m.tenant = c.tenant AND m.member = c.member
         WHERE c.tenant = $1 ORDER BY c.at_ms DESC LIMIT $2",
        given![tenant, most],
    )
}
