//! Databases: what their clients, migration tools and frameworks are told to throw away.

use super::Case;
use crate::effects::Run;

pub(super) fn drops_database(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match run.name.as_str() {
        "influx" if has("delete") => true,
        // A server's own language, spoken to it directly.
        "nc" | "ncat" | "netcat" | "telnet" | "socat" => run.stdin.as_deref().is_some_and(|text| {
            let text = text.to_ascii_lowercase();
            text.contains("flushall") || text.contains("flushdb") || text.contains("flush_all")
        }),
        "sqlite3" | "sqlite" if words.iter().any(|word| word.trim_start().starts_with(".restore")) => true,
        "psql" if words.iter().any(|word| word.starts_with("\\o |") || word.starts_with("\\o|")) => true,
        "pg_restore" => words.iter().any(|word| matches!(*word, "--clean" | "-c")),
        "mongorestore" => has("--drop"),
        "flyway" => has("clean"),
        "liquibase" => words.iter().any(|word| matches!(*word, "drop-all" | "dropAll")),
        "gradle" | "gradlew" => has("flywayClean"),
        "mvn" | "mvnw" => words.iter().any(|word| matches!(*word, "flyway:clean" | "liquibase:dropAll")),
        "goose" => has("reset") || has("down-to") && has("0"),
        "atlas" => has("schema") && has("clean"),
        "hasura" => has("--down") && has("all") || has("metadata") && has("clear"),
        "sea-orm-cli" => has("migrate") && (has("fresh") || has("refresh") || has("reset")),
        "mikro-orm" => has("schema:drop") || has("schema:fresh"),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "mongosh" | "mongo" | "clickhouse-client"
        | "clickhouse" | "cqlsh" | "duckdb" | "sqlcmd" | "usql" | "pgcli" | "mycli" | "cockroach"
        | "influx" | "bq" | "snowsql" | "turso" | "libsql" | "sqlplus" | "isql" | "dbconsole" | "dbshell"
        | "wrangler" => {
            let passing = matches!(run.name.as_str(), "sqlite3" | "sqlite" | "duckdb")
                && words.iter().any(|word| *word == ":memory:" || word.starts_with("/tmp/"));
            let removed = run.name == "bq" && words.first() == Some(&"rm");
            !passing
                && (removed
                    || words.iter().any(|word| deletes_data(word))
                    || run.stdin.as_deref().is_some_and(deletes_data))
        }
        "sql" => words.iter().any(|word| deletes_data(word)),
        "dropdb" | "dropuser" => !words.iter().any(|word| word.contains("test") || word.contains("tmp")),
        "mysqladmin" | "drizzle-kit" | "dbmate" | "migrate" => has("drop"),
        "redis-cli" | "valkey-cli" => {
            words.iter().any(|word| {
                let low = word.to_ascii_lowercase();
                low.contains("flushall") || low.contains("flushdb") || low == "shutdown"
            }) || words.windows(2).any(|pair| {
                // The server then writes its data wherever it is told.
                pair[0].eq_ignore_ascii_case("set") && matches!(pair[1], "dir" | "dbfilename")
            }) || words.windows(2).any(|pair| {
                matches!(pair[0], "replicaof" | "REPLICAOF" | "slaveof" | "SLAVEOF")
                    && !pair[1].eq_ignore_ascii_case("no")
            }) || run.stdin.as_deref().is_some_and(|text| text.to_ascii_lowercase().contains("flush"))
                || words
                    .iter()
                    .any(|word| word.eq_ignore_ascii_case("del") || word.eq_ignore_ascii_case("unlink"))
                    && words.iter().any(|word| word.starts_with('…'))
        }
        "rails" | "rake" | "bin/rails"
            if run.assigns.iter().any(|(name, value)| name == "RAILS_ENV" && value.known() == "test") =>
        {
            false
        }
        "rails" | "rake" | "bin/rails" => words.iter().any(|word| {
            matches!(*word, "db:drop" | "db:reset" | "db:purge" | "db:drop:all" | "db:schema:load")
                || matches!(*word, "dbconsole" | "db") && run.stdin.as_deref().is_some_and(deletes_data)
                || word.contains(".delete_all")
                || word.contains(".destroy_all")
                || word.contains(".drop_table")
        }),
        "prisma" if has("execute") && run.stdin.as_deref().is_some_and(deletes_data) => true,
        "prisma" => (has("migrate") && has("reset")) || has("--force-reset") || has("--accept-data-loss"),
        "artisan" | "php" | "console" => words.iter().any(|word| {
            matches!(
                *word,
                "migrate:fresh"
                    | "migrate:reset"
                    | "migrate:refresh"
                    | "db:wipe"
                    | "doctrine:database:drop"
                    | "doctrine:schema:drop"
            )
        }),
        "python" | "python3" | "manage.py" => {
            (run.name == "manage.py" || words.iter().any(|word| word.ends_with("manage.py")))
                && (has("dbshell") && run.stdin.as_deref().is_some_and(deletes_data)
                    || words.iter().any(|word| word.contains(".objects.all().delete()"))
                    || has("flush")
                    || has("reset_db")
                    || has("sqlflush")
                    || has("migrate") && has("zero"))
        }
        "django-admin" => has("flush"),
        "alembic" => has("downgrade") && has("base") && !has("--sql"),
        "flask" => has("db") && has("downgrade") && has("base"),
        "supabase" => has("db") && has("reset"),
        "diesel" | "sqlx" => has("database") && (has("reset") || has("drop")),
        "typeorm" => has("schema:drop"),
        "sequelize" | "sequelize-cli" => words.iter().any(|word| word.starts_with("db:drop")),
        "dotnet" => has("ef") && has("database") && has("drop"),
        "mix" => words.iter().any(|word| matches!(*word, "ecto.drop" | "ecto.reset")),
        "knex" => has("migrate:rollback") && has("--all"),
        _ => empties_store(run, words),
    }
}

/// Queues, caches and stores of keys: what their own tools empty.
fn empties_store(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match run.name.as_str() {
        "etcdctl" => has("del"),
        "consul" => has("delete"),
        "rabbitmqctl" => has("reset") || has("force_reset") || has("delete_vhost") || has("delete_queue"),
        "kafka-topics" | "kafka-topics.sh" => has("--delete"),
        "rabbitmqadmin" => has("delete") || has("purge"),
        "nats" => words.first() == Some(&"stream") && (has("rm") || has("purge")),
        "memcflush" | "pg_dropcluster" => true,
        _ => false,
    }
}

/// Whether the database is one that tests make and drop.
pub(super) fn is_for_tests(run: &Run, words: &[&str]) -> bool {
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
    // A client can be told to go to another one.
    let switches =
        words.iter().any(|word| word.contains("\\c ") || word.to_ascii_uppercase().contains("USE "));
    environment || told || client && !switches && words.iter().any(|word| !word.contains(' ') && named(word))
}

/// Statements that delete data, in text that a database client is given.
fn deletes_data(sql: &str) -> bool {
    let upper = without_comments(&sql.to_ascii_uppercase());
    // What stands in quotes is data, unless it is run as a statement itself.
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
        // The server itself runs a program then.
        || flat.contains(" TO PROGRAM ")
        || flat.contains(" FROM PROGRAM ")
        || flat.contains("DROPDATABASE(")
        || flat.contains(".DROP(")
        || flat.contains("DELETEMANY({})")
}

/// What is left when tables and databases that were made in the same text, or only for a while, are dropped again.
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

/// Whether keys are removed that a scan found under a name for what need not last.
pub(super) fn is_passing_scan(case: &Case<'_>, run: &Run) -> bool {
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

/// `1=1`, `true`, `id = id`: a condition that leaves nothing out.
fn always_holds(condition: &str) -> bool {
    let condition = condition.trim().trim_end_matches(['"', '\'', ')', ' ']);
    matches!(condition, "TRUE" | "1")
        || condition.split_once('=').is_some_and(|(left, right)| left.trim() == right.trim())
}

/// The text without what stands in single quotes.
fn without_strings(sql: &str) -> String {
    sql.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

/// `/* … */` separates words and hides them.
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
