//! The members of a team, their machines, and who may see what.

use crate::db::{Connection, DbError, Pool, Result, Row};
use crate::schema::number;
use crate::wire::{Join, Joined};
use crate::{given, keys};

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Sees their own sessions.
    Member,
    /// Sees the team's sessions.
    Lead,
    /// Sees the team's sessions, refused pushes and who looked at whose sessions, and manages members.
    Admin,
}

impl Role {
    /// The role with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Member, Self::Lead, Self::Admin].into_iter().find(|role| role.as_str() == name)
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Lead => "lead",
            Self::Admin => "admin",
        }
    }
}

/// An authenticated member or machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The team.
    pub tenant: i64,
    /// The member.
    pub member: i64,
    /// The member's name.
    pub name: String,
    /// What the member may do.
    pub role: Role,
    /// The machine, if the token belongs to one.
    pub machine: Option<i64>,
    /// The machine's public key.
    pub public_key: Vec<u8>,
}

/// The owner of a token; `None` if it is not valid any more.
pub fn of_token(pool: &Pool, token: &str, now_ms: i64) -> Result<Option<Principal>> {
    let hash = keys::hashed(token);
    pool.with(|connection| {
        let row = connection.one(
            "SELECT t.tenant, t.member, m.name, m.role, t.machine, c.public_key, t.used_ms
             FROM tokens t JOIN members m ON m.tenant = t.tenant AND m.member = t.member
             LEFT JOIN machines c ON c.machine = t.machine
             WHERE t.hash = $1 AND t.revoked_ms IS NULL AND m.revoked_ms IS NULL
                AND (t.expires_ms IS NULL OR t.expires_ms > $2)",
            given![hash.as_slice(), now_ms],
        )?;
        let Some(row) = row else { return Ok(None) };
        // A precision of one minute is enough.
        if row.int(6) < now_ms - 60_000 {
            connection.execute("UPDATE tokens SET used_ms = $1 WHERE hash = $2", given![now_ms, hash])?;
        }
        Ok(Some(principal(&row)))
    })
}

fn principal(row: &Row) -> Principal {
    Principal {
        tenant: row.int(0),
        member: row.int(1),
        name: row.text(2).to_owned(),
        role: Role::parse(row.text(3)).unwrap_or(Role::Member),
        machine: row.some_int(4),
        public_key: row.bytes(5).to_vec(),
    }
}

/// Invites a new member, or another machine of a member. Returns the invitation, which is shown only once.
pub fn invite(
    pool: &Pool,
    team: &str,
    name: &str,
    role: Option<Role>,
    lasts_ms: i64,
    now_ms: i64,
) -> Result<String> {
    let is_conflict = |error: &DbError| matches!(error, DbError::Conflict(_));
    pool.transaction(is_conflict, |connection| {
        let tenant = tenant(connection, team, now_ms)?;
        invite_to(connection, tenant, name, role, lasts_ms, now_ms)
    })
}

/// The same within a transaction, for the team with this number.
pub(crate) fn invite_to(
    connection: &mut dyn Connection,
    tenant: i64,
    name: &str,
    role: Option<Role>,
    lasts_ms: i64,
    now_ms: i64,
) -> Result<String> {
    let drawn = keys::token("invite").map_err(|error| DbError::Refused(error.to_string()))?;
    let known = "SELECT member, revoked_ms FROM members WHERE tenant = $1 AND name = $2";
    let member = if let Some(row) = connection.one(known, given![tenant, name])? {
        if row.some_int(1).is_some() {
            end_access(connection, tenant, row.int(0), now_ms)?;
        }
        let update = "UPDATE members SET role = coalesce($1, role), revoked_ms = NULL WHERE tenant = $2 AND member = $3";
        connection.execute(update, given![role.map(Role::as_str), tenant, row.int(0)])?;
        row.int(0)
    } else {
        let member = number(now_ms)?;
        connection.execute(
            "INSERT INTO members (tenant, member, name, role, created_ms) VALUES ($1, $2, $3, $4, $5)",
            given![tenant, member, name, role.unwrap_or(Role::Member).as_str(), now_ms],
        )?;
        member
    };
    connection.execute(
        "INSERT INTO invitations (hash, tenant, member, expires_ms) VALUES ($1, $2, $3, $4)",
        given![keys::hashed(&drawn), tenant, member, now_ms + lasts_ms],
    )?;
    Ok(drawn)
}

/// Ends a membership. Returns 1, or 0 if there is no such member.
pub(crate) fn remove_from(
    connection: &mut dyn Connection,
    tenant: i64,
    name: &str,
    now_ms: i64,
) -> Result<u64> {
    let sql = "SELECT member FROM members WHERE tenant = $1 AND name = $2 AND revoked_ms IS NULL";
    let Some(row) = connection.one(sql, given![tenant, name])? else { return Ok(0) };
    end_access(connection, tenant, row.int(0), now_ms)?;
    let sql = "UPDATE members SET revoked_ms = $1 WHERE tenant = $2 AND member = $3 AND revoked_ms IS NULL";
    connection.execute(sql, given![now_ms, tenant, row.int(0)])
}

/// Ends every token and every invitation of a member, so that none of them becomes valid again when the member is invited
/// again: the reason for a removal may be a stolen machine.
fn end_access(connection: &mut dyn Connection, tenant: i64, member: i64, now_ms: i64) -> Result<()> {
    let whose = given![now_ms, tenant, member];
    let tokens = "UPDATE tokens SET revoked_ms = $1 WHERE tenant = $2 AND member = $3 AND revoked_ms IS NULL";
    connection.execute(tokens, whose)?;
    let invitations = "UPDATE invitations SET expires_ms = $1 WHERE tenant = $2 AND member = $3 AND used_ms IS NULL AND expires_ms > $1";
    connection.execute(invitations, whose).map(drop)
}

fn tenant(connection: &mut dyn Connection, team: &str, now_ms: i64) -> Result<i64> {
    if let Some(row) = connection.one("SELECT tenant FROM tenants WHERE name = $1", given![team])? {
        return Ok(row.int(0));
    }
    let tenant = number(now_ms)?;
    connection.execute(
        "INSERT INTO tenants (tenant, name, created_ms) VALUES ($1, $2, $3)",
        given![tenant, team, now_ms],
    )?;
    Ok(tenant)
}

/// Why a machine could not join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The invitation does not exist, was used, or has expired.
    #[error("the invitation is not known, was used, or has expired")]
    Invitation,
    /// The key does not fit its signature, or the name is too long.
    #[error("the key does not fit its signature, or the machine's name is empty or too long")]
    Key,
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Adds a machine, once per invitation.
pub fn join(pool: &Pool, asked: &Join, now_ms: i64) -> std::result::Result<Joined, JoinError> {
    let key = keys::unhex(&asked.public_key).filter(|key| key.len() == 32).ok_or(JoinError::Key)?;
    let signature = keys::unhex(&asked.signature).ok_or(JoinError::Key)?;
    let is_named = !asked.machine.is_empty() && asked.machine.len() <= 200;
    if !is_named || !keys::is_signed(&key, &Join::signed(&asked.invitation), &signature) {
        return Err(JoinError::Key);
    }
    let is_conflict = |error: &JoinError| matches!(error, JoinError::Db(DbError::Conflict(_)));
    pool.transaction(is_conflict, |connection| {
        let hash = keys::hashed(&asked.invitation);
        // This update succeeds for only one machine; that one gets the invitation.
        let taken = connection.execute(
            "UPDATE invitations SET used_ms = $1 WHERE hash = $2 AND used_ms IS NULL AND expires_ms > $1",
            given![now_ms, hash.as_slice()],
        )?;
        if taken != 1 {
            return Err(JoinError::Invitation);
        }
        let row = connection.one(
            "SELECT i.tenant, i.member, m.name, t.name, t.policy_key FROM invitations i
             JOIN members m ON m.tenant = i.tenant AND m.member = i.member JOIN tenants t ON t.tenant = i.tenant
             WHERE i.hash = $1 AND m.revoked_ms IS NULL",
            given![hash],
        )?;
        let row = row.ok_or(JoinError::Invitation)?;
        let (tenant, member, machine) = (row.int(0), row.int(1), number(now_ms)?);
        connection.execute(
            "INSERT INTO machines (machine, tenant, member, name, public_key, created_ms) VALUES ($1, $2, $3, $4, $5, $6)",
            given![machine, tenant, member, asked.machine.as_str(), key.as_slice(), now_ms],
        )?;
        let drawn = new_token(connection, (tenant, member), Some(machine), None, now_ms)?;
        let (team, member) = (row.text(3).to_owned(), row.text(2).to_owned());
        let policy_key = Some(keys::hex(row.bytes(4))).filter(|key| !key.is_empty());
        Ok(Joined { machine, token: drawn, team, member, policy_key })
    })
}

/// Notes that a push or removal of a machine was stored, under a number that grows each time. A machine that has seen a
/// larger number knows that an older copy of the database was restored.
pub(crate) fn note_push(connection: &mut dyn Connection, machine: i64, now_ms: i64) -> Result<()> {
    let sql = "UPDATE machines SET pushed_ms = CASE WHEN pushed_ms >= $1 THEN pushed_ms + 1 ELSE $1 END WHERE machine = $2";
    connection.execute(sql, given![now_ms, machine]).map(drop)
}

/// The number of the machine's last stored push or removal; 0 if there was none.
pub(crate) fn last_push(pool: &Pool, machine: i64) -> Result<i64> {
    let sql = "SELECT pushed_ms FROM machines WHERE machine = $1";
    let row = pool.with(|connection| connection.one(sql, given![machine]))?;
    Ok(row.map_or(0, |row| row.int(0)))
}

/// Creates a token for a member: for a machine, or for a browser.
pub fn new_token(
    connection: &mut dyn Connection,
    (tenant, member): (i64, i64),
    machine: Option<i64>,
    lasts_ms: Option<i64>,
    now_ms: i64,
) -> Result<String> {
    let drawn = keys::token(if machine.is_some() { "machine" } else { "person" });
    let drawn = drawn.map_err(|error| DbError::Refused(error.to_string()))?;
    connection.execute(
        "INSERT INTO tokens (hash, number, tenant, member, machine, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        given![keys::hashed(&drawn), number(now_ms)?, tenant, member, machine, now_ms, lasts_ms.map(|lasts| now_ms + lasts)],
    )?;
    Ok(drawn)
}

/// A token for the browser of the member with this name.
pub fn browser_token(
    pool: &Pool,
    team: &str,
    name: &str,
    lasts_ms: i64,
    now_ms: i64,
) -> Result<Option<String>> {
    pool.with(|connection| {
        let row = connection.one(
            "SELECT m.tenant, m.member FROM members m JOIN tenants t ON t.tenant = m.tenant
             WHERE t.name = $1 AND m.name = $2 AND m.revoked_ms IS NULL",
            given![team, name],
        )?;
        row.map(|row| new_token(connection, (row.int(0), row.int(1)), None, Some(lasts_ms), now_ms))
            .transpose()
    })
}

/// A member for lists.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The team.
    pub team: String,
    /// The name.
    pub name: String,
    /// The role.
    pub role: String,
    /// Whether the member was removed.
    pub is_revoked: bool,
    /// Tokens: number, the machine's name, last use, whether it was revoked.
    pub tokens: Vec<(i64, Option<String>, Option<i64>, bool)>,
}

/// All members with their tokens.
pub fn list(pool: &Pool) -> Result<Vec<Listed>> {
    list_of(pool, None)
}

/// Those of one team, or all.
pub(crate) fn list_of(pool: &Pool, tenant: Option<i64>) -> Result<Vec<Listed>> {
    pool.with(|connection| {
        let members = connection.query(
            "SELECT t.name, m.name, m.role, m.revoked_ms, m.tenant, m.member FROM members m
             JOIN tenants t ON t.tenant = m.tenant WHERE m.tenant = coalesce($1, m.tenant) ORDER BY t.name, m.name",
            given![tenant],
        )?;
        let mut listed = Vec::new();
        for row in members {
            let tokens = connection.query(
                "SELECT t.number, c.name, t.used_ms, t.revoked_ms FROM tokens t LEFT JOIN machines c ON c.machine = t.machine
                 WHERE t.tenant = $1 AND t.member = $2 ORDER BY t.number",
                given![row.int(4), row.int(5)],
            )?;
            let tokens = tokens
                .iter()
                .map(|token| {
                    let machine = token.some_text(1).map(str::to_owned);
                    (token.int(0), machine, token.some_int(2), token.some_int(3).is_some())
                })
                .collect();
            listed.push(Listed {
                team: row.text(0).to_owned(),
                name: row.text(1).to_owned(),
                role: row.text(2).to_owned(),
                is_revoked: row.some_int(3).is_some(),
                tokens,
            });
        }
        Ok(listed)
    })
}

/// Revokes a token by its number, or a member by name, with all their tokens.
pub fn revoke(pool: &Pool, team: &str, who: &str, now_ms: i64) -> Result<u64> {
    let is_conflict = |error: &DbError| matches!(error, DbError::Conflict(_));
    pool.transaction(is_conflict, |connection| {
        if let Ok(token) = who.parse::<i64>() {
            let sql = "UPDATE tokens SET revoked_ms = $1 WHERE number = $2 AND revoked_ms IS NULL
                AND tenant = (SELECT tenant FROM tenants WHERE name = $3)";
            return connection.execute(sql, given![now_ms, token, team]);
        }
        let Some(row) = connection.one("SELECT tenant FROM tenants WHERE name = $1", given![team])? else {
            return Ok(0);
        };
        remove_from(connection, row.int(0), who, now_ms)
    })
}

/// Changes a member's role.
pub fn set_role(pool: &Pool, team: &str, who: &str, role: Role) -> Result<u64> {
    pool.with(|connection| {
        connection.execute(
            "UPDATE members SET role = $1 WHERE name = $2 AND revoked_ms IS NULL
                AND tenant = (SELECT tenant FROM tenants WHERE name = $3)",
            given![role.as_str(), who, team],
        )
    })
}
