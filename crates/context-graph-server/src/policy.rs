//! The team's policy: signed bundles. Only the newest one counts. Only the machines read the content of a bundle.
//!
//! The private key is not in the database, because it would let a reader of a backup run commands on every machine of
//! the team. The public key is in the database; a machine gets it when it joins.

use crate::db::{Connection, DbError, Pool, Result, Row};
use crate::given;
use crate::keys::{SigningKey, hex, is_signed};

/// The length of the signature before a bundle, in bytes.
pub const SIGNATURE: usize = 64;

/// A policy as machines get it: the signature, then what was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its number.
    pub number: u64,
    /// Its identifier for `If-None-Match`.
    pub etag: String,
    /// Signature and bundle.
    pub content: Vec<u8>,
}

/// Why a policy was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The team's machines know another key.
    #[error("the machines of this team trust another key than this one")]
    OtherKey,
    /// There is no such team.
    #[error("there is no team of this name")]
    NoTeam,
    /// The number that was asked for is not larger than the newest one.
    #[error("the newest policy has the number {0} already")]
    Older(u64),
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

fn signed(bundle: &[u8]) -> Vec<u8> {
    [b"context-graph policy 1", bundle].concat()
}

/// The bundle after a signature, if the private half of this key made the signature.
pub fn opened<'a>(public: &[u8], content: &'a [u8]) -> Option<&'a [u8]> {
    let (signature, bundle) = content.split_at_checked(SIGNATURE)?;
    is_signed(public, &signed(bundle), signature).then_some(bundle)
}

/// A bundle with its signature in front.
pub fn sealed(key: &SigningKey, bundle: &[u8]) -> Vec<u8> {
    [key.sign(&signed(bundle)), bundle.to_vec()].concat()
}

/// The public key of a team's policies, once one was made.
pub fn key_of(pool: &Pool, team: &str) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT policy_key FROM tenants WHERE name = $1";
    let row = pool.with(|connection| connection.one(sql, given![team]))?;
    Ok(row.map(|row| row.bytes(0).to_vec()).filter(|key| !key.is_empty()))
}

/// Sets the public key of a team that has none yet.
pub fn set_key(pool: &Pool, team: &str, public: &[u8]) -> Result<()> {
    let sql = "UPDATE tenants SET policy_key = $1 WHERE name = $2 AND policy_key IS NULL";
    pool.with(|connection| connection.execute(sql, given![public, team])).map(drop)
}

/// Publishes a policy. `make` gets the new number: the next one, or `wanted`. Returns it.
pub fn publish(
    pool: &Pool,
    team: &str,
    key: &SigningKey,
    make: impl Fn(u64) -> Vec<u8>,
    wanted: Option<u64>,
    now_ms: i64,
) -> std::result::Result<u64, PublishError> {
    set_key(pool, team, key.public())?;
    let is_conflict = |error: &PublishError| matches!(error, PublishError::Db(DbError::Conflict(_)));
    pool.transaction(is_conflict, |connection| {
        let sql =
            format!("SELECT tenant, policy_key FROM tenants WHERE name = $1{}", connection.for_update());
        let row = connection.one(&sql, given![team])?.ok_or(PublishError::NoTeam)?;
        if row.bytes(1) != key.public() {
            return Err(PublishError::OtherKey);
        }
        let newest = newest(connection, row.int(0))?.map_or(0, |newest| newest.number);
        let number = wanted.unwrap_or(newest + 1);
        if number <= newest {
            return Err(PublishError::Older(newest));
        }
        let content = sealed(key, &make(number));
        let etag = hex(&blake3::hash(&content).as_bytes()[..16]);
        connection.execute(
            "INSERT INTO policies (tenant, number, etag, content, published_ms) VALUES ($1, $2, $3, $4, $5)",
            given![row.int(0), number, etag, content, now_ms],
        )?;
        Ok(number)
    })
}

/// The newest policy of a team.
pub fn newest(connection: &mut dyn Connection, tenant: i64) -> Result<Option<Published>> {
    let sql = "SELECT number, etag, content FROM policies WHERE tenant = $1 ORDER BY number DESC LIMIT 1";
    let told = |row: Row| Published {
        number: row.count(0),
        etag: row.text(1).to_owned(),
        content: row.bytes(2).to_vec(),
    };
    Ok(connection.one(sql, given![tenant])?.map(told))
}

/// Whether there is a team of this name.
pub fn is_team(pool: &Pool, team: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM tenants WHERE name = $1";
    Ok(pool.with(|connection| connection.one(sql, given![team]))?.is_some())
}

/// The newest policy of the team of this name.
pub fn newest_of(pool: &Pool, team: &str) -> Result<Option<Published>> {
    pool.with(|connection| {
        let row = connection.one("SELECT tenant FROM tenants WHERE name = $1", given![team])?;
        row.map_or(Ok(None), |row| newest(connection, row.int(0)))
    })
}
