//! Databases that tests create and drop, and temporary ones.

use super::databases::{flattened, without_passing};
use crate::effects::Text;
use crate::effects::path::{absolute, absolute_str};
use crate::guards::Case;
use crate::guards::places::is_passing;
use crate::programs::Invocation;

/// Frameworks. They choose their database by their own variables and options.
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

/// Variables that choose a framework's database.
pub(crate) const MODES: &[&str] =
    &["MIX_ENV", "NODE_ENV", "APP_ENV", "RAILS_ENV", "RACK_ENV", "DJANGO_SETTINGS_MODULE"];

/// Whether the program is a framework.
pub(crate) fn is_framework(name: &str) -> bool {
    FRAMEWORKS.contains(&name)
}

/// Whether the database is one that tests create and drop.
pub(in crate::guards) fn is_for_tests(call: &Invocation<'_>) -> bool {
    if is_framework(&call.run.name) {
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
            // A `file:` address can name the file in other ways, so it is not treated as a path.
            let is_path = !file.prefix().starts_with("file:");
            matches!(file.known(), ":memory:" | "file::memory:")
                || is_path && place.literal().is_some_and(|path| is_passing(path, case.ctx))
        })
        && !goes_elsewhere(call)
}

/// Whether variables or options make a framework use its database for tests, and none names another one.
fn is_set_for_tests(call: &Invocation<'_>) -> bool {
    let values = |names: &'static [&'static str]| {
        let set = call
            .run
            .assigns
            .iter()
            .filter(|(name, value)| names.contains(&name.as_str()) && !value.is_empty());
        set.map(|(_, value)| value.to_string())
    };
    let is_last = |value: &str| matches!(value.rsplit('.').next(), Some("test" | "testing"));
    let args: Vec<String> = call.run.args.iter().map(ToString::to_string).collect();
    let names_mode = |name: &str| matches!(name, "--env" | "--environment" | "--settings");
    let told = args.iter().enumerate().filter_map(|(at, arg)| match arg.split_once('=') {
        Some((name, value)) => names_mode(name).then(|| value.to_owned()),
        None if names_mode(arg) => Some(args.get(at + 1).cloned().unwrap_or_default()),
        None => None,
    });
    let told = told.chain(call.value("--environment").map(ToString::to_string));
    let modes: Vec<String> = told.chain(values(MODES)).collect();
    let addresses: Vec<String> = values(&["DATABASE_URL"]).collect();
    // Without an address, the library for PostgreSQL takes the name of the database from here.
    let mut named = addresses.iter().cloned().chain(values(&["PGDATABASE"]));
    (!modes.is_empty() || named.any(|name| is_named_for_tests(&name)))
        && modes.iter().all(|mode| is_last(mode))
        && addresses.iter().all(|address| may_be_for_tests(address))
}

/// The databases that a command names for its client.
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
    are_named(value, |database| {
        let place = absolute_str(database, "/");
        place.ends_with("_test")
            || place.ends_with("/test.db")
            || !database.starts_with('/') && place.starts_with("/tests/")
    })
}

/// Whether this can be the test database of a framework that is set to use its test database: `test` must be a word
/// of the name.
fn may_be_for_tests(value: &str) -> bool {
    is_named_for_tests(value)
        || are_named(value, |database| {
            let name = database.rsplit('/').next().unwrap_or(database);
            let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| {
                matches!(word.trim_end_matches(|c: char| c.is_ascii_digit()), "test" | "tests" | "testdb")
            })
        })
}

/// Whether a name, file or address names databases, and all of them fit. If there are several names, clients use the
/// last one.
fn are_named(value: &str, fits: impl Fn(&str) -> bool) -> bool {
    // Names with percent-encoded characters do not fit, because such a character may end the name.
    let fits = |database: &str| fits(database) && !database.contains('%');
    if let Some((scheme, address)) = value.split_once("://") {
        let (address, query) = address.split_once(['?', '#']).unwrap_or((address, ""));
        let encodes = |pair: &str| pair.split('=').next().is_some_and(|key| key.contains('%'));
        let mut others = query.split('&').filter_map(|pair| pair.strip_prefix("dbname="));
        let path =
            if scheme.starts_with("sqlite") { Some(address) } else { address.split_once('/').map(|it| it.1) };
        return path.is_some_and(&fits) && others.all(&fits) && !query.split('&').any(encodes);
    }
    let value = ["sqlite:", "file:"].iter().find_map(|lead| value.strip_prefix(lead)).unwrap_or(value);
    if value.contains('=') && !value.contains('?') {
        let names = named_in(value);
        return !names.is_empty() && names.iter().all(|name| fits(name));
    }
    fits(value.split(['?', '#']).next().unwrap_or(value))
}

/// The databases in `key=value key = 'a value'`, as `libpq` reads it.
fn named_in(settings: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = settings.trim_start();
    while let Some((key, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let quoted = behind.strip_prefix('\'');
        let (mut value, mut escaped, mut end) = (String::new(), false, behind.len());
        let inside = quoted.unwrap_or(behind);
        for (at, c) in inside.char_indices() {
            let ends = if quoted.is_some() { c == '\'' } else { c.is_whitespace() };
            if !escaped && ends {
                end = at + usize::from(quoted.is_some()) * 2;
                break;
            }
            escaped = !escaped && c == '\\';
            if !escaped {
                value.push(c);
            }
        }
        if key.trim() == "dbname" {
            found.push(value);
        }
        rest = behind.get(end..).unwrap_or_default().trim_start();
    }
    found
}

/// Whether the command makes a client open another database, or drop one by its name.
fn goes_elsewhere(call: &Invocation<'_>) -> bool {
    let args = call.run.args.iter().map(ToString::to_string);
    let is_mysql = matches!(call.run.name.as_str(), "mysql" | "mariadb");
    args.chain(call.run.stdin.clone()).any(|text| {
        let upper = text.to_ascii_uppercase();
        let goes = |flat: &str| {
            opens_another(flat)
                || is_mysql && (flat.contains("\\U ") || names_another(flat))
                || without_passing(flat).contains("DROP DATABASE")
        };
        goes(&flattened(&upper, &[], false)) || is_mysql && goes(&flattened(&upper, &[], true))
    })
}

/// Whether statements or commands of a client open another database.
fn opens_another(flat: &str) -> bool {
    let opens = ["\\C ", "\\CONNECT", "USE ", "USE(", "GETSIBLINGDB(", "GETDB(", "CONNECT("];
    let mut words = flat.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    opens.iter().any(|word| flat.contains(word))
        || words.any(|word| word == "ATTACH")
        // `sqlite3` takes the beginning of a command, too.
        || flat.split([' ', ';']).any(|word| matches!(word, ".O" | ".OP" | ".OPE" | ".OPEN"))
}

/// Whether a statement for `MySQL` changes a table of another database: `DROP TABLE prod.users`.
fn names_another(flat: &str) -> bool {
    let flat = flat.replace(" .", ".").replace(". ", ".");
    let is_another = |word: &&str| {
        let database = word.split_once('.').map(|(database, _)| database.trim_matches(['`', '(']));
        database.is_some_and(|database| {
            !database.is_empty() && !is_named_for_tests(&database.to_ascii_lowercase())
        })
    };
    flat.split(';').any(|statement| {
        let words: Vec<&str> = statement.split([' ', ',']).collect();
        let removes = matches!(words.iter().find(|word| !word.is_empty()), Some(&("DROP" | "TRUNCATE")));
        let leads = |word: &str| matches!(word, "FROM" | "UPDATE" | "JOIN" | "TABLE" | "INTO");
        removes && words.iter().any(is_another)
            || words.windows(2).any(|pair| leads(pair[0]) && is_another(&pair[1]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_database_must_be_for_tests() {
        for value in [
            "app_test",
            "dbname=app_test host=h",
            "host=h dbname = 'app_test'",
            "user='it\\'s' dbname=app_test",
            "postgres://u:…@h:5432/app_test?sslmode=disable",
            "tests/x.db",
            "db/test.db?mode=rw",
            "file:./test.db",
            "sqlite://db/test.db",
        ] {
            assert!(is_named_for_tests(value), "{value}");
        }
        for value in ["postgres://h/test", "mysql://u@h/test_app", "sqlite:test.sqlite3", "app-test2"] {
            assert!(may_be_for_tests(value) && !is_named_for_tests(value), "{value}");
        }
        for value in [
            "app",
            "",
            "…",
            "dbname=app_test dbname=prod",
            "application_name=' dbname=x_test ' dbname=prod",
            "application_name=' dbname=x_test '",
            "host='a\\' dbname=x_test ' dbname=prod",
            "postgres://h/app_test?dbname=prod",
            "postgres://h/app_test?%64bname=prod",
            "postgres://latest.example/prod",
            "file:prod.db%00_test",
            "postgres://test.example/latest",
        ] {
            assert!(!is_named_for_tests(value) && !may_be_for_tests(value), "{value}");
        }
    }
}
