//! Databases: statements that delete data, from a client, a framework or a pipe.

use super::Case;
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
pub(super) fn drops_database(call: &Invocation<'_>) -> bool {
    let run = call.run;
    let words = || run.args.iter().map(ToString::to_string);
    let fed = || run.stdin.as_deref().is_some_and(deletes_data);
    match run.name.as_str() {
        // The server's own protocol, sent to it directly.
        "nc" | "ncat" | "netcat" | "telnet" | "socat" => run.stdin.as_deref().is_some_and(|text| {
            let text = text.to_ascii_lowercase();
            text.contains("flushall") || text.contains("flushdb") || text.contains("flush_all")
        }),
        name if DATABASE_CLIENTS.contains(&name) => {
            let passing = matches!(name, "sqlite3" | "sqlite" | "duckdb")
                && words().any(|word| word == ":memory:" || word.starts_with("/tmp/"));
            !passing && (words().any(|word| deletes_data(&word)) || name != "sql" && fed())
        }
        "rails" | "rake" => words().any(|word| matches!(word.as_str(), "dbconsole" | "db")) && fed(),
        "prisma" => words().any(|word| word == "execute") && fed(),
        "manage.py" | "django-admin" => words().any(|word| word == "dbshell") && fed(),
        // Frameworks whose program is a file in the project.
        "python" | "python3" => framework(run, "manage.py"),
        "php" => framework(run, "artisan") || framework(run, "console"),
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
fn framework(run: &Run, file: &str) -> bool {
    let at = run.args.iter().position(|arg| arg.file_name().known() == file);
    let Some(at) = at else { return false };
    let inner = Run { name: file.to_owned(), args: run.args[at + 1..].to_vec(), ..run.clone() };
    let call = crate::programs::read(&inner, crate::programs::known(file));
    call.stopped().next().is_some() || drops_database(&call)
}

/// Whether the database is one that tests create and drop.
pub(in crate::guards) fn is_for_tests(call: &Invocation<'_>) -> bool {
    let run = call.run;
    let words: Vec<&str> = run.args.iter().map(Text::known).collect();
    let named = |value: &str| {
        let value = value.split('?').next().unwrap_or(value);
        value.ends_with("_test")
            || value.ends_with("/test.db")
            || value == "test.db"
            || value.starts_with("tests/")
    };
    let environment = run.assigns.iter().any(|(name, value)| {
        let value = value.known();
        match name.as_str() {
            "MIX_ENV" | "NODE_ENV" | "APP_ENV" | "RAILS_ENV" | "RACK_ENV" => {
                matches!(value, "test" | "testing")
            }
            "DJANGO_SETTINGS_MODULE" => value.rsplit('.').next() == Some("test"),
            "DATABASE_URL" | "PGDATABASE" => named(value),
            _ => false,
        }
    });
    let told = words.iter().any(|word| {
        matches!(*word, "--env=test" | "--env=testing")
            || word.starts_with("--settings=") && word.rsplit('.').next() == Some("test")
    });
    let client =
        matches!(run.name.as_str(), "psql" | "mysql" | "mariadb" | "sqlite3" | "mongosh" | "pg_restore");
    // The client may switch to another database.
    let switches =
        words.iter().any(|word| word.contains("\\c ") || word.to_ascii_uppercase().contains("USE "));
    environment || told || client && !switches && words.iter().any(|word| !word.contains(' ') && named(word))
}

/// Whether text for a database client contains statements that delete data.
fn deletes_data(sql: &str) -> bool {
    let upper = without_comments(&sql.to_ascii_uppercase());
    // Text in quotes is data, unless it is run as a statement.
    let upper = if upper.contains("EXECUTE") { upper } else { without_strings(&upper) };
    let flat = upper.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = without_passing(&flat);
    let whole = |statement: &str| {
        let all = statement.contains("DELETE FROM")
            || statement.trim_start().starts_with("UPDATE ") && statement.contains(" SET ");
        all && statement.split_once("WHERE").is_none_or(|(_, condition)| always_holds(condition))
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
        || flat.split(';').any(|one| one.contains("PG_TERMINATE_BACKEND(") && !one.contains("WHERE"))
        || flat.contains("DROPDATABASE(")
        || flat.contains(".DROP(")
        || flat.contains("DELETEMANY({})")
}

/// The statements without drops of tables and databases that the same text creates or that are temporary by
/// name.
fn without_passing(flat: &str) -> String {
    if !flat.contains("DROP ") {
        return flat.to_owned();
    }
    let kept =
        flat.split(';').filter(|statement| {
            let words: Vec<&str> = statement.split(' ').filter(|word| !word.is_empty()).collect();
            let named = match words.as_slice() {
                ["DROP", "TABLE" | "DATABASE", "IF", "EXISTS", name]
                | ["DROP", "TABLE" | "DATABASE", name] => name.trim_matches(['`', '"']),
                _ => return true,
            };
            let made = flat.split("CREATE ").skip(1).any(|rest| {
                rest.split([' ', '(']).take(6).any(|word| word.trim_matches(['`', '"']) == named)
            });
            let for_a_while = named.ends_with("_TEST")
                || ["TMP_", "TEMP_", "TEST_"].iter().any(|lead| named.starts_with(lead));
            !(made || for_a_while)
        });
    kept.collect::<Vec<_>>().join(";")
}

/// Whether the removed keys come from a scan for cache, temporary or test names.
pub(in crate::guards) fn is_passing_scan(case: &Case<'_>, run: &Run) -> bool {
    let passing = |word: &str| {
        ["cache", "tmp", "test"].iter().any(|lead| word.trim_start_matches('*').starts_with(lead))
    };
    matches!(run.name.as_str(), "redis-cli" | "valkey-cli")
        && run.args.iter().any(|arg| arg.known().eq_ignore_ascii_case("del") || arg.known() == "unlink")
        && case.runs().any(|other| {
            other.has("--scan")
                && other
                    .args
                    .windows(2)
                    .any(|pair| pair[0].known() == "--pattern" && passing(pair[1].known()))
        })
}

/// A condition that is always true: `1=1`, `true`, `id = id`.
fn always_holds(condition: &str) -> bool {
    let condition = condition.trim().trim_end_matches(['"', '\'', ')', ' ']);
    matches!(condition, "TRUE" | "1")
        || condition.split_once('=').is_some_and(|(left, right)| left.trim() == right.trim())
}

/// The text without its strings in single quotes.
fn without_strings(sql: &str) -> String {
    sql.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

/// The text without `/* … */`, which separates and hides words.
fn without_comments(sql: &str) -> String {
    let mut out = String::new();
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}
