//! Databases that tests create and drop, and temporary ones.

use super::databases::{flattened, without_passing};
use crate::effects::Text;
use crate::effects::path::{absolute, absolute_str};
use crate::guards::Case;
use crate::guards::places::is_passing;
use crate::programs::Invocation;

/// Frameworks, which choose their database by variables and options of their own.
const FRAMEWORKS: &[&str] = &[
    "alembic",
    "artisan",
    "atlas",
    "bin/rails",
    "console",
    "dbmate",
    "diesel",
    "django-admin",
    "dotnet",
    "drizzle-kit",
    "flask",
    "goose",
    "gradle",
    "gradlew",
    "knex",
    "manage.py",
    "migrate",
    "mikro-orm",
    "mix",
    "mvn",
    "mvnw",
    "php",
    "prisma",
    "python",
    "python3",
    "rails",
    "rake",
    "sea-orm-cli",
    "sequelize",
    "sequelize-cli",
    "sqlx",
    "typeorm",
];

/// Whether the database is one that tests create and drop.
pub(in crate::guards) fn is_for_tests(call: &Invocation<'_>) -> bool {
    if FRAMEWORKS.contains(&call.run.name.as_str()) {
        return is_set_for_tests(call);
    }
    let databases = operands_of(call);
    !databases.is_empty() && databases.iter().all(|name| is_named_for_tests(name)) && !goes_elsewhere(call)
}

/// Whether all that a client opens is temporary: in memory, or a file in a temporary folder.
pub(super) fn is_temporary(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    matches!(call.run.name.as_str(), "sqlite3" | "sqlite" | "duckdb")
        && call.operands().first().is_some_and(|file| {
            let place = absolute(file, &call.run.cwd);
            file.known() == ":memory:" || place.literal().is_some_and(|path| is_passing(path, case.ctx))
        })
        && !goes_elsewhere(call)
}

/// Whether variables or options make a framework use its database for tests.
fn is_set_for_tests(call: &Invocation<'_>) -> bool {
    let set = |names: &[&str], fits: &dyn Fn(&str) -> bool| {
        call.run.assigns.iter().any(|(name, value)| names.contains(&name.as_str()) && fits(value.known()))
    };
    let is_last = |value: &str| value.rsplit('.').next() == Some("test");
    let told = call.run.args.iter().map(Text::known).any(|word| {
        matches!(word, "--env=test" | "--env=testing") || word.starts_with("--settings=") && is_last(word)
    });
    let contradicted = set(&["DATABASE_URL"], &|url| !url.is_empty() && !url.contains("test"));
    let chosen = set(&["MIX_ENV", "NODE_ENV", "APP_ENV", "RAILS_ENV", "RACK_ENV"], &|value| {
        matches!(value, "test" | "testing")
    }) || set(&["DJANGO_SETTINGS_MODULE"], &is_last);
    told || chosen && !contradicted || set(&["DATABASE_URL", "PGDATABASE"], &is_named_for_tests)
}

/// The databases that a client is told to use.
fn operands_of(call: &Invocation<'_>) -> Vec<String> {
    let operand = call.operands().first().copied();
    let mut named: Vec<&Text> = match call.run.name.as_str() {
        "psql" | "pg_restore" => call.values("--dbname").collect(),
        "mysql" | "mariadb" => call.values("--database").chain(operand).collect(),
        "sqlite3" | "mongosh" => operand.into_iter().collect(),
        _ => Vec::new(),
    };
    // The first operand of `psql` is the database only where no option names it.
    if call.run.name == "psql" && named.is_empty() {
        let set = call.run.assigns.iter().rev().find(|(name, _)| name == "PGDATABASE");
        named.extend(operand.or_else(|| set.map(|(_, value)| value)));
    }
    named.into_iter().map(|name| name.known().to_owned()).collect()
}

/// Whether the name, file or address of a database says that it is for tests.
fn is_named_for_tests(value: &str) -> bool {
    let value = value.split(['?', '#']).next().unwrap_or(value);
    let database = if let Some((_, address)) = value.split_once("://") {
        address.split_once('/').map_or("", |(_, path)| path)
    } else if value.contains('=') {
        value.split_whitespace().find_map(|pair| pair.strip_prefix("dbname=")).unwrap_or("")
    } else {
        value
    };
    let place = absolute_str(database, "/");
    place.ends_with("_test")
        || place.ends_with("/test.db")
        || !database.starts_with('/') && place.starts_with("/tests/")
}

/// Whether a client is told to open another database, or to drop one by its name.
fn goes_elsewhere(call: &Invocation<'_>) -> bool {
    let args = call.run.args.iter().map(ToString::to_string);
    args.chain(call.run.stdin.clone()).any(|text| {
        let upper = text.to_ascii_uppercase();
        ["\\C ", "\\CONNECT", "USE ", "ATTACH ", ".OPEN ", "GETSIBLINGDB("]
            .iter()
            .any(|word| upper.contains(word))
            || without_passing(&flattened(&upper)).contains("DROP DATABASE")
    })
}
