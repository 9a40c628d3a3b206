//! What is special about PostgreSQL: COPY, partitions, row locks, the types of values.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use chrono::{Datelike as _, TimeZone as _, Utc};
use context_graph_storage::store::Field;
use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, NoTls, Statement};
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Bulk, Connection, DbError, Result, Row, Value};

/// How a connection to PostgreSQL is secured, if its address asks for TLS.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// The trusted certificates in PEM; `None` for the public ones.
    pub authorities: Option<PathBuf>,
}

struct Postgres {
    client: Client,
    statements: std::collections::HashMap<String, Statement>,
    /// Whether a transaction is open.
    is_busy: bool,
    used: Instant,
    /// Months that have their partitions; `None` if tables are not partitioned.
    months: Option<Vec<(i32, u32)>>,
}

/// A connection that was idle for this long is tested before it is used.
const TRY_AFTER: Duration = Duration::from_secs(1);
/// Partitioned tables.
pub(crate) const BY_TIME: [&str; 8] =
    ["blocks", "calls", "decisions", "events", "files", "injections", "turns", "words"];

/// What is wrong with an address, if anything is.
pub fn address_problem(address: &str) -> Option<String> {
    address.parse::<Config>().err().map(|error| message_of(&error))
}

/// Opens a connection of the client library.
pub(crate) fn raw(address: &str, tls: &Tls) -> Result<Client> {
    let mut config: Config =
        address.parse().map_err(|error: postgres::Error| DbError::Refused(message_of(&error)))?;
    config.connect_timeout(Duration::from_secs(10)).application_name("context-graph");
    config.keepalives_idle(Duration::from_secs(30));
    name_loopback(&mut config);
    let failed = |error: postgres::Error| match error.code() {
        Some(&SqlState::UNDEFINED_DATABASE) => DbError::NoDatabase(message_of(&error)),
        _ => DbError::Away(message_of(&error)),
    };
    if config.get_ssl_mode() == SslMode::Disable || is_local(&config) {
        config.connect(NoTls).map_err(failed)
    } else {
        config.connect(MakeRustlsConnect::new(trusting(tls)?)).map_err(failed)
    }
}

pub(super) fn open(address: &str, tls: &Tls) -> Result<Box<dyn Connection>> {
    let away = |error: postgres::Error| DbError::Away(message_of(&error));
    let mut client = raw(address, tls)?;
    // No page and no push needs longer; this limits how long we wait for a server that hangs.
    client
        .batch_execute("SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '60s'")
        .map_err(away)?;
    // What we acknowledge must be on the disk, even if the database is configured not to wait for that.
    let _ = client.batch_execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    );
    // Compiling a query (JIT) takes longer than running any of ours. An engine without JIT refuses the setting.
    let _ = client.batch_execute("SET jit = off");
    let is_partitioned = client
        .query_opt("SELECT value FROM meta WHERE name = 'partitions'", &[])
        .ok()
        .flatten()
        .is_some_and(|row| row.get::<_, String>(0) == "month");
    Ok(Box::new(Postgres {
        client,
        statements: std::collections::HashMap::new(),
        is_busy: false,
        used: Instant::now(),
        months: is_partitioned.then(Vec::new),
    }))
}

/// Resolves `localhost` without a name server, because a static binary may have no working resolver.
fn name_loopback(config: &mut Config) {
    if config.get_hostaddrs().is_empty() && config.get_hosts() == [Host::Tcp("localhost".to_owned())] {
        config.hostaddr(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
}

/// Whether the connection stays on this machine.
fn is_local(config: &Config) -> bool {
    let is_loopback = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_ssl_mode() != SslMode::Require && config.get_hosts().iter().all(is_loopback)
}

fn trusting(tls: &Tls) -> Result<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    match &tls.authorities {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let unusable =
                |error: &dyn std::fmt::Display| DbError::Refused(format!("{}: {error}", path.display()));
            let found =
                rustls::pki_types::CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DbError::Refused(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The error message without the values of rows, because those are members' texts.
fn message_of(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(found) => format!("{} ({})", found.message(), found.code().code()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

fn failed(error: postgres::Error) -> DbError {
    let said = message_of(&error);
    match error.code() {
        Some(
            &(SqlState::UNIQUE_VIOLATION
            | SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::DUPLICATE_TABLE
            | SqlState::LOCK_NOT_AVAILABLE),
        ) => DbError::Conflict(said),
        Some(code)
            if code.code().starts_with("57")
                || code.code().starts_with("08")
                || *code == SqlState::READ_ONLY_SQL_TRANSACTION =>
        {
            DbError::Away(said)
        }
        // Our tables have no CHECK constraints, so this is a row without a partition.
        Some(&SqlState::CHECK_VIOLATION) => DbError::NoPartition(said),
        Some(&SqlState::UNDEFINED_TABLE) => DbError::NoTable(said),
        Some(_) => DbError::Refused(said),
        None if error.is_closed() => DbError::Away(said),
        None => match std::error::Error::source(&error) {
            Some(source) if source.is::<std::io::Error>() => DbError::Away(said),
            _ => DbError::Refused(said),
        },
    }
}

/// PostgreSQL cannot store a zero byte in text.
fn without_zero(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}").into() } else { text.into() }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Real(number) => number.to_sql(kind, out),
            Self::Text(text) => without_zero(text).as_ref().to_sql(kind, out),
            Self::Bytes(bytes) => bytes.as_slice().to_sql(kind, out),
            Self::Ints(numbers) => numbers.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn value(row: &postgres::Row, at: usize) -> Result<Value> {
    let kind = row.columns()[at].type_();
    let found = match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(at).map(|found| found.map(Value::Int)),
        Type::INT4 => {
            row.try_get::<_, Option<i32>>(at).map(|found| found.map(|number| Value::Int(number.into())))
        }
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(at).map(|found| found.map(Value::Real)),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at).map(|found| found.map(Value::Bytes)),
        _ => row.try_get::<_, Option<String>>(at).map(|found| found.map(Value::Text)),
    };
    Ok(found.map_err(failed)?.unwrap_or(Value::Null))
}

impl Postgres {
    fn prepared(&mut self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).map_err(failed)?;
        if self.statements.len() > 200 {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

fn references(given: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    given.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl Connection for Postgres {
    fn query(&mut self, sql: &str, given: &[Value]) -> Result<Vec<Row>> {
        let statement = self.prepared(sql)?;
        let rows = self.client.query(&statement, &references(given)).map_err(failed)?;
        rows.iter()
            .map(|row| (0..row.len()).map(|at| value(row, at)).collect::<Result<_>>().map(Row))
            .collect()
    }

    fn execute(&mut self, sql: &str, given: &[Value]) -> Result<u64> {
        let statement = self.prepared(sql)?;
        self.client.execute(&statement, &references(given)).map_err(failed)
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).map_err(failed)
    }

    fn begin(&mut self) -> Result<()> {
        self.is_busy = true;
        self.batch("BEGIN")
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")?;
        self.is_busy = false;
        Ok(())
    }

    fn rollback(&mut self) {
        if self.is_busy && self.client.batch_execute("ROLLBACK").is_ok() {
            self.is_busy = false;
        }
    }

    fn insert(&mut self, table: &str, columns: &str, rows: &Bulk) -> Result<()> {
        // The documented binary format of COPY: a header, then for each row the number of its fields, and
        // each field with its length before it.
        const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
        let sql = format!("COPY {table} ({columns}) FROM STDIN BINARY");
        let width = i16::try_from(rows.width()).unwrap_or(i16::MAX);
        let mut out = Vec::with_capacity(64 << 10);
        out.extend(HEADER);
        let mut writer = self.client.copy_in(&sql).map_err(failed)?;
        let broken = |error: std::io::Error| match error.downcast::<postgres::Error>() {
            Ok(error) => failed(error),
            Err(error) => DbError::Away(error.to_string()),
        };
        let mut fields = rows.fields();
        for _ in 0..rows.len() {
            out.extend(width.to_be_bytes());
            for field in fields.by_ref().take(rows.width()) {
                copied(&field, &mut out);
            }
            if out.len() >= 60 << 10 {
                writer.write_all(&out).map_err(broken)?;
                out.clear();
            }
        }
        out.extend((-1_i16).to_be_bytes());
        writer.write_all(&out).map_err(broken)?;
        writer.finish().map_err(failed).map(|_| ())
    }

    fn for_update(&self) -> &'static str {
        " FOR UPDATE"
    }

    fn finds_parts(&self) -> bool {
        true
    }

    fn query_by_index(&mut self, sql: &str, given: &[Value]) -> Result<Vec<Row>> {
        // With a few hundred thousand rows the planner prefers to read them all, which takes longer every
        // month. An engine without these settings refuses them, which does no harm outside a transaction.
        let _ = self
            .client
            .batch_execute("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off");
        let found = self.query(sql, given);
        let _ =
            self.client.batch_execute("RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin");
        found
    }

    fn make_room(&mut self, born_ms: i64) -> Result<()> {
        let Some(months) = &self.months else { return Ok(()) };
        let Some(born) = Utc.timestamp_millis_opt(born_ms).single() else { return Ok(()) };
        let (year, month) = (born.year(), born.month());
        if months.contains(&(year, month)) {
            return Ok(());
        }
        let first = |year, month| {
            Utc.with_ymd_and_hms(year, month, 1, 0, 0, 0).single().map_or(0, |at| at.timestamp_millis())
        };
        let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        for table in BY_TIME {
            let name = format!("{table}_{year:04}_{month:02}");
            // Creating a partition waits for all writers, so we first check whether it exists.
            if !self
                .query("SELECT 1 FROM pg_class WHERE relname = $1", crate::given![name.as_str()])?
                .is_empty()
            {
                continue;
            }
            let made = self.batch(&format!(
                "CREATE TABLE IF NOT EXISTS {name} PARTITION OF {table} FOR VALUES FROM ({}) TO ({})",
                first(year, month),
                first(next_year, next_month)
            ));
            match made {
                Ok(()) | Err(DbError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.months.get_or_insert_default().push((year, month));
        Ok(())
    }

    fn schema(&self, text: &str, partitioned: bool) -> String {
        text.replace("/* by time */", if partitioned { "PARTITION BY RANGE (born)" } else { "" })
    }

    fn size(&mut self) -> Result<u64> {
        match self.query("SELECT pg_database_size(current_database())", &[]) {
            Ok(rows) => Ok(rows.first().map_or(0, |row| row.count(0))),
            // Not every engine that speaks PostgreSQL's language has this function.
            Err(DbError::Refused(_)) => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn is_usable(&mut self) -> bool {
        if self.is_busy || self.client.is_closed() {
            return false;
        }
        let was_idle = self.used.elapsed() > TRY_AFTER;
        self.used = Instant::now();
        !was_idle || self.client.is_valid(Duration::from_secs(5)).is_ok()
    }
}

fn copied(field: &Field<'_>, out: &mut Vec<u8>) {
    let mut put = |bytes: &[u8]| {
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(bytes);
    };
    match field {
        Field::Null => put_null(out),
        Field::Number(number) => put(&number.to_be_bytes()),
        Field::Real(number) => put(&number.to_be_bytes()),
        Field::Text(text) => put(without_zero(text).as_bytes()),
        Field::Bytes(bytes) => put(bytes),
    }
}

fn put_null(out: &mut Vec<u8>) {
    out.extend((-1_i32).to_be_bytes());
}
