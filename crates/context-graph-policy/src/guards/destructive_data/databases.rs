//! Databases: statements that delete data, from a client, a framework or a pipe.

use std::collections::HashSet;

use super::containers::takes_listed;
use super::{Case, comments, for_tests};
use crate::effects::{Run, Text};
use crate::programs::Invocation;

/// Programs that take statements.
const DATABASE_CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlite",
    "mongosh",
    "mongo",
    "clickhouse-client",
    "clickhouse",
    "cqlsh",
    "duckdb",
    "sqlcmd",
    "usql",
    "pgcli",
    "mycli",
    "cockroach",
    "influx",
    "bq",
    "snowsql",
    "trino",
    "presto",
    "presto-cli",
    "spark-sql",
    "hive",
    "beeline",
    "impala-shell",
    "turso",
    "libsql",
    "sqlplus",
    "isql",
    "dbconsole",
    "dbshell",
    "wrangler",
    "sql",
];

/// Whether a statement that deletes data is sent to a database.
pub(super) fn drops_database(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    let run = call.run;
    let words = || run.args.iter().map(ToString::to_string);
    // Only here a `#` begins a comment, and a backslash escapes a quote.
    let is_mysql = matches!(run.name.as_str(), "mysql" | "mariadb" | "mycli");
    let fed = || run.stdin.as_deref().is_some_and(|sql| deletes_data(sql, is_mysql));
    match run.name.as_str() {
        // The server's own protocol, sent to it directly.
        "nc" | "ncat" | "netcat" | "telnet" | "socat" => run.stdin.as_deref().is_some_and(|text| {
            let text = text.to_ascii_lowercase();
            text.contains("flushall") || text.contains("flushdb") || text.contains("flush_all")
        }),
        name if DATABASE_CLIENTS.contains(&name) => {
            !for_tests::is_temporary(case, call)
                && (words().any(|word| deletes_data(&word, is_mysql)) || name != "sql" && fed())
        }
        "rails" | "rake" => words().any(|word| matches!(word.as_str(), "dbconsole" | "db")) && fed(),
        "prisma" => words().any(|word| word == "execute") && fed(),
        "manage.py" | "django-admin" => words().any(|word| word == "dbshell") && fed(),
        // Frameworks whose program is a file in the project.
        "python" | "python3" => framework(case, run, "manage.py"),
        "php" => framework(case, run, "artisan") || framework(case, run, "console"),
        _ => false,
    }
}

/// Whether one client builds statements that delete data and another runs them:
/// `psql -c "select 'drop table '…" | psql`. Alone, the first only prints them.
pub(super) fn makes_statements(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    let is_client = |run: &Run| DATABASE_CLIENTS.contains(&run.name.as_str());
    let words = |run: &Run| run.args.iter().map(ToString::to_string).collect::<Vec<_>>();
    let made = |word: &String| {
        let upper = word.to_ascii_uppercase();
        let quoted = upper.split('\'').skip(1).step_by(2);
        let deletes =
            |part: &str| ["DROP ", "TRUNCATE ", "DELETE FROM "].iter().any(|verb| part.contains(verb));
        upper.contains("SELECT") && quoted.into_iter().any(deletes)
    };
    let runs_given = |run: &Run| {
        run.args.iter().any(Text::has_hole)
            || !words(run).iter().any(|word| word.to_ascii_uppercase().contains("SELECT"))
    };
    is_client(call.run)
        && words(call.run).iter().any(made)
        && case.runs().any(|other| !std::ptr::eq(other, call.run) && is_client(other) && runs_given(other))
}

/// `python manage.py flush`, `php artisan migrate:fresh`: the row named after the file describes its arguments.
fn framework(case: &Case<'_>, run: &Run, file: &str) -> bool {
    let at = run.args.iter().position(|arg| arg.file_name().known() == file);
    let Some(at) = at else { return false };
    let inner = Run { name: file.to_owned(), args: run.args[at + 1..].to_vec(), ..run.clone() };
    let call = crate::programs::read(&inner, crate::programs::known(file));
    call.stopped().next().is_some() || drops_database(case, &call)
}

/// Whether text for a database client contains statements that delete data.
fn deletes_data(sql: &str, is_mysql: bool) -> bool {
    // Databases differ in what begins a line comment, so the text is checked with and without such comments. `MySQL`
    // can be told not to read backslashes as escapes.
    let upper = sql.to_ascii_uppercase();
    let marks: &[&str] = if is_mysql { &["--", "#"] } else { &["--"] };
    let readings = [(&[][..], false), (marks, false), (&[], true), (marks, true)];
    let readings = &readings[..if is_mysql && upper.contains('\\') { 4 } else { 2 }];
    readings.iter().any(|(marks, escapes)| are_deleting(&flattened(&upper, marks, *escapes)))
}

/// The statements in capital letters, without comments, strings and line breaks. `marks` begin the comment of a line.
pub(super) fn flattened(upper: &str, marks: &[&str], escapes: bool) -> String {
    // Text in quotes is data, unless it is run as a statement.
    let upper = comments::without(upper, marks, upper.contains("EXECUTE"), escapes);
    upper.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn are_deleting(flat: &str) -> bool {
    let flat = without_passing(flat);
    let whole = |statement: &str| {
        let all = statement.contains("DELETE FROM")
            || statement.trim_start().starts_with("UPDATE ") && statement.contains(" SET ");
        all && behind_where(statement).is_none_or(always_holds)
    };
    flat.split(';').any(whole)
        || (flat.contains("DROP ") && flat.contains(" CASCADE"))
        || [
            "DELETEMANY({ })",
            ".REMOVE({})",
            ".REMOVE({ })",
            "FLUSHALL(",
            "FLUSHDB(",
            "DROP_DATABASE(",
            "DROP_COLLECTION(",
            "DROP_ALL(",
            "DELETEMANY()",
            "UPDATEMANY({}",
            "UPDATEMANY({ }",
            "OBJECTS.ALL().DELETE(",
            ".QUERY.DELETE(",
            ">TRUNCATE(",
            "::TRUNCATE(",
            ".DELETE_ALL",
            ".DESTROY_ALL",
            "LO_EXPORT(",
            "LO_UNLINK(",
        ]
        .iter()
        .any(|call| flat.contains(call))
        || [
            "DROP TABLE",
            "DROP DATABASE",
            "DROP SCHEMA",
            "DROP USER",
            "DROP ROLE",
            "DROP COLUMN",
            "DROP OWNED",
            "DROP KEYSPACE",
            "DROP COLLECTION",
            "TRUNCATE ",
        ]
        .iter()
        .any(|words| flat.contains(words))
        || (flat.contains("ALTER USER ") || flat.contains("ALTER ROLE "))
            && (flat.contains(" PASSWORD") || flat.contains(" SUPERUSER"))
        // With these the server runs a program.
        || flat.contains(" TO PROGRAM ")
        || flat.contains(" FROM PROGRAM ")
        || flat.split(';').any(|one| one.contains("PG_TERMINATE_BACKEND(") && behind_where(one).is_none())
        || flat.contains("DROPDATABASE(")
        || flat.contains(".DROP(")
        || flat.contains("DELETEMANY({})")
}

/// What follows the word `WHERE`.
fn behind_where(statement: &str) -> Option<&str> {
    let is_apart = |c: Option<char>| {
        c.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '"' | '`')))
    };
    statement.match_indices("WHERE").find_map(|(at, word)| {
        let behind = &statement[at + word.len()..];
        let whole = is_apart(statement[..at].chars().next_back()) && is_apart(behind.chars().next());
        whole.then_some(behind)
    })
}

/// The statements without those that drop a table or database that the same text created before, or one with a
/// temporary name.
pub(super) fn without_passing(flat: &str) -> String {
    if !flat.contains("DROP ") {
        return flat.to_owned();
    }
    let mut made: HashSet<(&str, &str)> = HashSet::new();
    let kept = flat.split(';').filter(|statement| {
        let words: Vec<&str> = statement.split([' ', '(']).filter(|word| !word.is_empty()).collect();
        // PostgreSQL ends the connections first.
        let words = words.strip_suffix(&["WITH", "FORCE)"]).unwrap_or(&words);
        match words {
            // With `IF NOT EXISTS` it may be an older one.
            ["CREATE", kind @ ("TABLE" | "DATABASE"), name, ..]
            | ["CREATE", "TEMP" | "TEMPORARY", kind @ "TABLE", name, ..]
                if *name != "IF" =>
            {
                made.insert((kind, name.trim_matches(['`', '"'])));
                true
            }
            ["DROP", kind @ ("TABLE" | "DATABASE"), "IF", "EXISTS", name]
            | ["DROP", kind @ ("TABLE" | "DATABASE"), name] => {
                let name = name.trim_matches(['`', '"']);
                let for_a_while = name.ends_with("_TEST")
                    || ["TMP_", "TEMP_", "TEST_"].iter().any(|lead| name.starts_with(lead));
                !(for_a_while || made.contains(&(*kind, name)))
            }
            _ => true,
        }
    });
    kept.collect::<Vec<_>>().join(";")
}

/// Whether the removed keys come from a scan for cache, temporary or test names.
pub(in crate::guards) fn is_passing_scan(case: &Case<'_>, run: &Run) -> bool {
    let is_client = |run: &Run| matches!(run.name.as_str(), "redis-cli" | "valkey-cli");
    let lists = |other: &&Run| {
        is_client(other)
            && (other.has("--scan") || other.args.iter().any(|arg| arg.known().eq_ignore_ascii_case("keys")))
    };
    let passing = |word: &Text| {
        ["cache", "tmp", "test"].iter().any(|lead| word.known().trim_start_matches('*').starts_with(lead))
    };
    let is_passing = |other: &Run| {
        let told = |pair: &&[Text]| pair[0].known() == "--pattern";
        let mut patterns = other.args.windows(2).filter(told).map(|pair| &pair[1]).peekable();
        patterns.peek().is_some() && patterns.all(passing)
    };
    let mut listed = case.runs().take_while(|other| !std::ptr::eq(*other, run)).filter(lists).peekable();
    is_client(run)
        && takes_listed(run)
        && run.args.iter().any(|arg| arg.known().eq_ignore_ascii_case("del") || arg.known() == "unlink")
        && listed.peek().is_some()
        && listed.all(is_passing)
}

/// A condition that is always true: `1=1`, `true`, `id = id`.
fn always_holds(condition: &str) -> bool {
    let condition = condition.trim().trim_end_matches(['"', '\'', ')', ' ']);
    matches!(condition, "TRUE" | "1")
        || condition.split_once('=').is_some_and(|(left, right)| left.trim() == right.trim())
}
