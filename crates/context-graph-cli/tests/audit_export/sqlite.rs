//! The database, with the queries from the docs.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};

use crate::common::Place;
use crate::stage::{CALLS, EVENTS, SECRET, export, played};

fn exported(place: &Place, args: &[&str]) -> (PathBuf, Connection) {
    let path = place.project().join("audit.db");
    let all: Vec<&str> = ["--format", "sqlite", "--output", path.to_str().unwrap()]
        .into_iter()
        .chain(args.iter().copied())
        .collect();
    export(place, &all);
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    (path, connection)
}

fn count(connection: &Connection, of: &str) -> u32 {
    connection.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn the_query_in_the_help_is_answered() {
    let place = played();
    let help = place.run(&["audit", "export", "--help"]).stdout;
    let (_, example) = help.split_once("sqlite3 audit.db '").unwrap();
    let (query, _) = example.split_once('\'').unwrap();
    let (_, connection) = exported(&place, &[]);
    let mut statement = connection.prepare(query).unwrap();
    assert!(statement.query([]).unwrap().next().unwrap().is_some(), "{query}");
}

#[test]
fn the_tables_hold_what_happened() {
    let place = played();
    let (path, connection) = exported(&place, &[]);
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    assert_eq!(connection.query_row("PRAGMA user_version", [], |row| row.get(0)), Ok(1));
    let counts = ["v_sessions", "v_calls", "events WHERE call IS NULL"].map(|of| count(&connection, of));
    assert_eq!(counts, [2, CALLS, EVENTS]);
    let ended =
        ["failure", "denied"].map(|so| count(&connection, &format!("v_calls WHERE outcome = '{so}'")));
    assert_eq!(ended, [1, 1]);
    assert!(count(&connection, "decisions") >= 1 && count(&connection, "files") >= 1);
    let asked = "SELECT verdict, rule FROM v_decisions WHERE outcome = 'denied'";
    let (verdict, rule): (String, String) =
        connection.query_row(asked, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(verdict == "deny" && !rule.is_empty(), "{verdict} {rule}");
    let bytes = std::fs::read(path).unwrap();
    assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
}

#[test]
fn a_choice_of_calls_takes_their_sessions_along_and_no_others() {
    let place = played();
    let (_, connection) = exported(&place, &["--outcome", "failure"]);
    let counts = ["sessions", "calls", "events WHERE call IS NULL"].map(|of| count(&connection, of));
    assert_eq!(counts, [1, 1, 0]);
}

#[test]
fn every_query_of_the_docs_answers() {
    let docs = include_str!("../../../../docs/store.md");
    let queries: Vec<&str> =
        docs.split("```sql\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(queries.len() >= 8, "the docs have {} queries", queries.len());
    let place = played();
    let (_, connection) = exported(&place, &[]);
    for query in queries {
        let mut statement = connection.prepare(query).unwrap_or_else(|error| panic!("{error} in {query}"));
        let rows = statement.query_map([], |_| Ok(())).unwrap().collect::<Result<Vec<()>, _>>().unwrap();
        assert!(!rows.is_empty(), "no answer to {query}");
    }
}

#[test]
fn every_column_of_a_view_is_in_the_docs_and_the_other_way_round() {
    let docs = include_str!("../../../../docs/store.md");
    let place = played();
    let (_, connection) = exported(&place, &[]);
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'view'").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for name in names {
        let row = docs.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("the docs do not tell of {name}"));
        let documented: Vec<&str> =
            row.rsplit('|').nth(1).unwrap().split(',').map(|c| c.trim().trim_matches('`')).collect();
        let mut columns =
            connection.prepare(&format!("SELECT name FROM pragma_table_info('{name}')")).unwrap();
        let columns: Vec<String> =
            columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(documented, columns, "{name}");
    }
}
