//! Tables of an earlier version are upgraded to this version, and no row is lost.

use std::fmt::Write as _;

use context_graph_server::db::{DatabaseAddress, Pool, Tls, Value};
use context_graph_server::keys::SigningKey;
use context_graph_server::schema::{self, FoundTables};
use context_graph_web::{Asked, Records as _, Verification};

use crate::cluster::Cluster;
use crate::machine::Machine;
use crate::{Team, now_ms, pages, serve};

/// The data of servers of earlier versions. The second line of each file has the token of its machine.
const GOLDEN: [(i64, &str); 2] =
    [(1, include_str!("golden/version-1.sql")), (3, include_str!("golden/version-3.sql"))];
/// Tables that all versions have, and the fewest rows that an earlier version left in each.
const TABLES: [(&str, i64); 16] = [
    ("tenants", 1),
    ("members", 1),
    ("invitations", 1),
    ("machines", 1),
    ("tokens", 1),
    ("sessions", 2),
    ("blocks", 3),
    ("events", 92),
    ("calls", 45),
    ("decisions", 0),
    ("files", 45),
    ("turns", 2),
    ("injections", 0),
    ("tombstones", 1),
    ("refused", 1),
    ("looks", 0),
];

/// Fills an empty database as an earlier version did.
fn fill(pool: &Pool, golden: &str, partitioned: bool) {
    let (tables, rows) = golden.split_once("-- rows\n").unwrap();
    let by_time = match (pool.is_postgres(), partitioned) {
        (false, _) => "WITHOUT ROWID",
        (true, true) => "PARTITION BY RANGE (born)",
        (true, false) => "",
    };
    let mut tables = tables.replace("/* by time */", by_time);
    if !pool.is_postgres() {
        tables = tables.replace("SMALLINT[]", "BLOB");
        let lines: Vec<&str> = tables.lines().filter(|line| !line.contains("USING gin")).collect();
        tables = lines.join("\n");
    }
    let mut rows = rows.to_owned();
    if pool.is_postgres() {
        rows = rows.replace("X'", "'\\x");
    }
    if partitioned {
        rows = rows.replace("('partitions', 'none')", "('partitions', 'month')");
        for table in ["blocks", "calls", "decisions", "events", "files", "injections", "turns", "words"] {
            if !tables.contains(&format!("CREATE TABLE {table} ")) {
                continue;
            }
            // September 2026, when the sessions began.
            writeln!(tables, "CREATE TABLE {table}_2026_09 PARTITION OF {table} FOR VALUES FROM (1788220800000) TO (1790812800000);").unwrap();
        }
    }
    pool.with(|connection| connection.batch(&(tables + &rows))).unwrap();
    pool.forget_idle();
}

fn rows(pool: &Pool, table: &str, columns: &str) -> Vec<Vec<Value>> {
    let sql = format!("SELECT {columns} FROM {table} ORDER BY 1, 2, 3");
    pool.with(|connection| connection.query(&sql, &[])).unwrap().into_iter().map(|row| row.0).collect()
}

fn upgraded((version, golden): (i64, &str), place: DatabaseAddress, partitioned: bool) {
    let pool = Pool::new(place.clone());
    fill(&pool, golden, partitioned);
    assert_eq!(pool.with(schema::found).unwrap(), FoundTables::Version(version));
    // The table `tenants` has one more column than in version 1.
    let columns = |table: &str| if table == "tenants" { "tenant, name, created_ms" } else { "*" };
    let before: Vec<_> = TABLES.iter().map(|(table, _)| rows(&pool, table, columns(table))).collect();
    for ((table, count), rows) in TABLES.iter().zip(&before) {
        assert!(rows.len() >= usize::try_from(*count).unwrap(), "{table}");
    }
    assert_eq!(schema::migrate(&pool, true, now_ms()).unwrap(), FoundTables::Version(version));
    assert_eq!(pool.with(schema::found).unwrap(), FoundTables::Version(schema::FORMAT));
    for ((table, _), before) in TABLES.iter().zip(before) {
        assert_eq!(rows(&pool, table, columns(table)), before, "{table}");
    }
    assert_eq!(
        schema::migrate(&pool, true, now_ms()).unwrap(),
        FoundTables::Version(schema::FORMAT),
        "once is enough"
    );

    // The old records can be searched, and their machine can push more.
    let team = Team { url: serve(&place), pool, place, folder: tempfile::tempdir().unwrap() };
    let all = pages::everything(&team);
    let words = Asked { text: vec!["Golden Words".to_owned()], ..Asked::default() };
    assert_eq!(all.entries(&words, 100).unwrap().items.len(), 16);
    assert!(matches!(all.verification(true).unwrap(), Verification::Holds { records: 92, sessions: 2, .. }));
    let token = golden.lines().nth(1).unwrap().rsplit(' ').next().unwrap().to_owned();
    let number = team.count("SELECT machine FROM machines");
    let key = SigningKey::from_seed(&[5; 32]).unwrap();
    let ada = Machine { url: team.url.clone(), token, number, seed: [5; 32], key };
    assert_eq!(ada.push("s1", (62, 80)).unwrap(), 80);
    assert!(ada.push("s3", (1, 5)).is_err(), "what was forgotten stays so");
    assert_eq!(team.count("SELECT count(*) FROM events"), 92 + 19);
    assert_eq!(team.count("SELECT count(*) FROM words"), 3);
    let by_tool = Asked { tool: vec!["edit".to_owned()], ..Asked::default() };
    assert_eq!(all.entries(&by_tool, 100).unwrap().items.len(), 55);
}

pub(crate) fn of_sqlite() {
    for golden in GOLDEN {
        let folder = tempfile::tempdir().unwrap();
        upgraded(golden, DatabaseAddress::Sqlite(folder.path().join("team.db")), false);
    }
}

pub(crate) fn of_postgres(cluster: &Cluster) {
    for (golden, partitioned) in GOLDEN.into_iter().flat_map(|golden| [(golden, true), (golden, false)]) {
        upgraded(golden, DatabaseAddress::Postgres(cluster.new_database(), Tls::default()), partitioned);
    }
}
