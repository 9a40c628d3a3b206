//! Databases, containers, clouds and package registries: deletions that no undo reaches.

use super::{Case, Found, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Run, Text};

static DATABASE: Rule = Rule::ask("destructive-data/database", Severity::High);
static CONTAINER: Rule = Rule::ask("destructive-data/container", Severity::High);
static CLOUD: Rule = Rule::ask("destructive-data/cloud", Severity::Critical);
static REGISTRY: Rule = Rule::ask("destructive-data/registry", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "destructive-data",
    purpose: "databases, volumes, cloud resources and published packages are not deleted unasked",
    rules: &[&DATABASE, &CONTAINER, &CLOUD, &REGISTRY],
    check,
};

fn check(case: &Case<'_>, found: &mut Found) {
    for run in case.runs() {
        let words: Vec<String> = run.args.iter().map(Text::to_string).collect();
        let words = after_globals(&run.name, words.iter().map(String::as_str).collect());
        let line = || format!("{} {}", run.name, words.iter().take(3).copied().collect::<Vec<_>>().join(" "));
        if drops_database(run, &words) && !is_for_tests(run, &words) {
            found.add(&DATABASE, format!("`{}` would delete data.", line()));
        } else if removes_containers(run, &words) && !removes_finished(case, &words) {
            found.add(&CONTAINER, format!("`{}` would delete containers, volumes or workloads.", line()));
        } else if removes_cloud(run, &words) || removes_kept(run, &words) {
            found.add(&CLOUD, format!("`{}` would delete cloud resources.", line()));
        } else if unpublishes(run, &words) {
            found.add(&REGISTRY, format!("`{}` would withdraw a published package.", line()));
        }
    }
}

/// Whether the database is one that tests make and drop.
fn is_for_tests(run: &Run, words: &[&str]) -> bool {
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
    let told = words.iter().any(|word| matches!(*word, "--env=test" | "--env=testing"));
    let client =
        matches!(run.name.as_str(), "psql" | "mysql" | "mariadb" | "sqlite3" | "mongosh" | "pg_restore");
    // A client can be told to go to another one.
    let switches =
        words.iter().any(|word| word.contains("\\c ") || word.to_ascii_uppercase().contains("USE "));
    environment || told || client && !switches && words.iter().any(|word| !word.contains(' ') && named(word))
}

/// Containers that have ended, asked for as such: nothing runs in them any more.
fn removes_finished(case: &Case<'_>, words: &[&str]) -> bool {
    let plain =
        words.first() == Some(&"rm") && !words.iter().any(|word| word.starts_with('-') && word.contains('v'));
    let finished = ["status=exited", "status=dead", "status=created"];
    plain
        && case.runs().any(|run| {
            run.arg(0) == "ps"
                && run.args.iter().any(|arg| finished.iter().any(|state| arg.known().ends_with(state)))
        })
}

/// One pod, which whatever started it starts again.
fn is_one_pod(run: &Run, words: &[&str]) -> bool {
    let mut names = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-n" | "--namespace" | "--context" => {
                rest.next();
            }
            "--all" | "--force" | "-l" | "--selector" | "-A" | "--all-namespaces" | "-f" => return false,
            word if word.starts_with("--selector") || word.starts_with("--field-selector") => return false,
            word if word.starts_with('-') => {}
            word => names.push(word),
        }
    }
    if run.args.iter().any(|arg| arg.to_string().contains("prod")) {
        return false;
    }
    match names.as_slice() {
        ["delete", "pod" | "pods" | "po", name] => !name.contains(['…', ',', '*']),
        ["delete", name] => name.starts_with("pod/") && !name.contains(['…', ',', '*']),
        _ => false,
    }
}

/// Options before the subcommand, with their values, say where, not what.
pub(super) fn after_globals<'w>(name: &str, mut words: Vec<&'w str>) -> Vec<&'w str> {
    let names = ["aws", "gcloud", "az", "kubectl", "oc", "docker", "podman", "helm", "gh", "doctl"];
    if !names.contains(&name) {
        return words;
    }
    while words.first().is_some_and(|word| word.starts_with('-')) {
        let option = words.remove(0);
        let valued = matches!(
            option,
            "--profile"
                | "--region"
                | "--output"
                | "--endpoint-url"
                | "--context"
                | "--namespace"
                | "--project"
                | "--kubeconfig"
                | "--subscription"
                | "-n"
                | "-H"
        );
        if valued && !words.is_empty() {
            words.remove(0);
        }
    }
    words
}

/// Statements that delete data, in text that a database client is given.
fn deletes_data(sql: &str) -> bool {
    let upper = without_comments(&sql.to_ascii_uppercase());
    // What stands in quotes is data, unless it is run as a statement itself.
    let upper = if upper.contains("EXECUTE") { upper } else { without_strings(&upper) };
    let flat = upper.split_whitespace().collect::<Vec<_>>().join(" ");
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
        // The server itself runs a program then.
        || flat.contains(" TO PROGRAM ")
        || flat.contains(" FROM PROGRAM ")
        || flat.contains("DROPDATABASE(")
        || flat.contains(".DROP(")
        || flat.contains("DELETEMANY({})")
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

fn drops_database(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    match run.name.as_str() {
        "influx" if has("delete") => true,
        "pg_restore" => words.iter().any(|word| matches!(*word, "--clean" | "-c")),
        "mongorestore" => has("--drop"),
        "flyway" => has("clean"),
        "liquibase" => words.iter().any(|word| matches!(*word, "drop-all" | "dropAll")),
        "gradle" | "gradlew" => has("flywayClean"),
        "mvn" | "mvnw" => words.iter().any(|word| matches!(*word, "flyway:clean" | "liquibase:dropAll")),
        "goose" => has("reset") || has("down-to") && has("0"),
        "atlas" => has("schema") && has("clean"),
        "hasura" => has("--down") && has("all"),
        "mikro-orm" => has("schema:drop") || has("schema:fresh"),
        "nats" => words.first() == Some(&"stream") && (has("rm") || has("purge")),
        "rabbitmqadmin" => has("delete") || has("purge"),
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
        "etcdctl" => has("del"),
        "consul" => has("delete"),
        "rabbitmqctl" => has("reset") || has("force_reset") || has("delete_vhost") || has("delete_queue"),
        "kafka-topics" | "kafka-topics.sh" => has("--delete"),
        "dropdb" | "dropuser" => !words.iter().any(|word| word.contains("test") || word.contains("tmp")),
        "mysqladmin" | "drizzle-kit" | "dbmate" | "migrate" => has("drop"),
        "redis-cli" | "valkey-cli" => {
            words.iter().any(|word| {
                let low = word.to_ascii_lowercase();
                low.contains("flushall") || low.contains("flushdb") || low == "shutdown"
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
        }),
        "prisma" if has("execute") && run.stdin.as_deref().is_some_and(deletes_data) => true,
        "prisma" => (has("migrate") && has("reset")) || has("--force-reset") || has("--accept-data-loss"),
        "artisan" | "php" => words.iter().any(|word| {
            matches!(
                *word,
                "migrate:fresh"
                    | "migrate:reset"
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
        _ => false,
    }
}

fn removes_containers(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    match run.name.as_str() {
        "docker" | "podman" | "nerdctl" => match first {
            "system" => second == "prune" || second == "reset",
            "volume" => matches!(second, "rm" | "remove" | "prune"),
            "container" => {
                second == "prune"
                    || matches!(second, "rm" | "kill")
                        && words.iter().any(|word| word.starts_with('…') || *word == "--all")
            }
            "image" => {
                second == "prune" && (has("-a") || has("--all") || has("-af"))
                    || second == "rm" && words.iter().any(|word| word.starts_with('…'))
            }
            "pod" => {
                second == "rm" && words.iter().any(|word| matches!(*word, "-a" | "--all" | "-fa" | "-af"))
            }
            "rm" | "rmi" | "kill" => words
                .iter()
                .skip(1)
                .any(|word| word.starts_with('…') || matches!(*word, "-a" | "--all" | "-af" | "-fa")),
            "compose" => {
                has("down") && words.iter().any(|word| matches!(*word, "-v" | "--volumes" | "--rmi"))
                    || has("rm")
                        && words.iter().any(|word| {
                            word.starts_with('-') && !word.starts_with("--") && word.contains('v')
                        })
            }
            "stack" | "service" | "secret" | "config" => matches!(second, "rm" | "remove"),
            "swarm" => second == "leave" && (has("--force") || has("-f")),
            _ => false,
        },
        "docker-compose" => has("down") && (has("-v") || has("--volumes")),
        "kubectl" | "oc" | "k" => {
            let removes = has("delete") && !is_one_pod(run, words)
                || has("drain")
                || has("scale")
                    && (has("--replicas=0") || words.windows(2).any(|pair| pair == ["--replicas", "0"]))
                || has("replace") && has("--force")
                || has("apply") && has("--prune");
            removes && !words.iter().any(|word| word.starts_with("--dry-run") && *word != "--dry-run=none")
        }
        "flux" => first == "uninstall",
        "helm" => {
            words.iter().take(4).any(|word| matches!(*word, "uninstall" | "delete")) && !has("--dry-run")
        }
        "argocd" => has("delete"),
        "nomad" => has("stop") || has("purge"),
        _ => false,
    }
}

fn removes_cloud(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let any_delete = || {
        words
            .iter()
            .take(5)
            .any(|word| matches!(*word, "delete" | "destroy" | "remove" | "purge" | "terminate" | "rm"))
    };
    if has("--dry-run") || has("--dryrun") || has("--help") {
        return false;
    }
    match run.name.as_str() {
        "aws" => removes_from_aws(words),
        "gcloud" | "az" | "doctl" | "linode-cli" | "oci" | "ibmcloud" | "scw" | "hcloud" | "eksctl"
        | "firebase" | "vultr" | "supabase" | "neonctl" | "pscale" | "turso" | "cf" | "sam" | "amplify"
        | "eb" => {
            any_delete()
                || words.iter().any(|word| {
                    word.ends_with("-delete") || word.ends_with(":delete") || word.ends_with(":remove")
                })
        }
        "mcp-delete" => true,
        "gsutil" if has("rsync") && has("-d") => true,
        "gsutil" => matches!(first, "rm" | "rb") || has("rm") && (has("-r") || has("-R")),
        "terraform" | "tofu" | "terragrunt" => {
            first == "destroy"
                || (has("-destroy") && first != "plan")
                || first == "taint"
                || words.iter().any(|word| word.starts_with("-replace"))
                || (first == "state" && second == "rm")
                || (first == "workspace" && second == "delete")
                || (second == "destroy" && first.starts_with("-chdir"))
                || has("run-all") && has("destroy")
                || first == "destroy-all"
                || run.assigns.iter().any(|(name, value)| {
                    name.starts_with("TF_CLI_ARGS") && value.known().contains("-destroy")
                })
        }
        "pulumi" | "cdk" | "cdktf" | "sst" | "copilot" => {
            matches!(first, "destroy" | "down" | "remove")
                || (first == "stack" && second == "rm")
                || (first == "app" && second == "delete")
        }
        "serverless" | "sls" => first == "remove",
        "heroku" => words
            .iter()
            .any(|word| word.ends_with(":destroy") || word.ends_with(":delete") || *word == "pg:reset"),
        "fly" | "flyctl" => any_delete(),
        "vercel" | "netlify" | "wrangler" | "railway" | "render" => {
            matches!(first, "rm" | "remove" | "delete" | "down")
                || words.iter().any(|word| word.ends_with(":delete"))
                || matches!(second, "delete" | "rm")
                || words.get(2).is_some_and(|word| matches!(*word, "delete" | "rm"))
        }
        "gh" if forces_forge(words) => true,
        "glab" if first == "api" => words.iter().any(|word| word.eq_ignore_ascii_case("delete")),
        "gh" => {
            (matches!(first, "repo" | "release" | "secret" | "variable" | "cache")
                && second == "delete"
                && first != "cache")
                || (first == "api"
                    && words.windows(2).any(|pair| {
                        matches!(pair[0], "-X" | "--method") && pair[1].eq_ignore_ascii_case("delete")
                    }))
                || (first == "api"
                    && words.iter().any(|word| {
                        word.eq_ignore_ascii_case("-xdelete") || word.eq_ignore_ascii_case("--method=delete")
                    }))
                || (first == "repo" && matches!(second, "archive") && has("--yes"))
        }
        "glab" => second == "delete" && first == "repo",
        "vagrant" => first == "destroy",
        "http" | "https" | "xh" => {
            first.eq_ignore_ascii_case("delete")
                && !words.iter().any(|word| word.contains("localhost") || word.starts_with(':'))
        }
        "rclone" => matches!(first, "purge" | "delete" | "deletefile" | "rmdirs" | "cleanup"),
        "curl"
            if {
                words.windows(2).any(|pair| {
                    matches!(pair[0], "-X" | "--request") && pair[1].eq_ignore_ascii_case("delete")
                }) || words.iter().any(|word| word.eq_ignore_ascii_case("-xdelete"))
            } =>
        {
            // Everything in a store is more than an item of one's own server.
            let all = words.iter().any(|word| word.ends_with("/_all") || word.ends_with("/*"));
            all || !words.iter().any(|word| word.contains("localhost") || word.contains("127.0.0.1"))
        }
        _ => false,
    }
}

/// Whether a call to AWS takes something away, or gives too much.
fn removes_from_aws(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    (first == "s3"
        && (second == "rb"
            || (second == "rm" && has("--recursive"))
            || (second == "sync" && has("--delete"))))
        || (first == "s3" && second == "mv" && has("--recursive"))
        || opens_cloud(second, words)
        || [
            "delete-",
            "batch-delete-",
            "terminate-",
            "remove-",
            "deregister-",
            "purge-",
            "schedule-key-deletion",
            "stop-logging",
            "close-account",
        ]
        .iter()
        .any(|verb| second.starts_with(verb))
}

/// Whether a call to AWS gives everybody, or somebody, the run of an account or a store.
fn opens_cloud(verb: &str, words: &[&str]) -> bool {
    let any = |text: &str| words.iter().any(|word| word.contains(text));
    match verb {
        "put-bucket-acl" | "put-object-acl" => any("public-read"),
        "authorize-security-group-ingress" => {
            any("0.0.0.0/0") && (any("all") || any("-1") || words.contains(&"22"))
        }
        _ => verb.starts_with("attach-") && verb.ends_with("-policy") && any("AdministratorAccess"),
    }
}

/// Forges: what is made public, archived, merged past its checks or forced by their interface.
fn forces_forge(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let any = |text: &str| words.iter().any(|word| word.contains(text));
    match words {
        ["repo", "edit", ..] => has("public") || has("--visibility=public"),
        ["repo", "sync", ..] => has("--force"),
        ["pr", "merge", ..] => has("--admin"),
        ["repo", "archive", ..] | ["ssh-key" | "gpg-key", "add", ..] => true,
        ["api", ..] => {
            any("/git/refs/") && any("force=true")
                || any("mutation") && any("delete")
                || any("/collaborators/") && words.iter().any(|word| word.eq_ignore_ascii_case("put"))
        }
        _ => false,
    }
}

/// Backups, machines, images and whole clusters under tools of their own.
fn removes_kept(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    match run.name.as_str() {
        "s3cmd" | "mc" | "s5cmd" => {
            matches!(first, "rb" | "del" | "rm")
                && (has("--recursive")
                    || has("--force")
                    || has("-r")
                    || words.iter().any(|word| word.ends_with("/*")))
        }
        "restic" => has("forget") && has("--prune"),
        "borg" | "crane" | "skopeo" => first == "delete",
        "duplicity" => first.starts_with("remove-") && has("--force"),
        "velero" => has("delete"),
        "helmfile" | "virsh" => matches!(first, "destroy" | "undefine"),
        "aws-nuke" | "cloud-nuke" => true,
        "VBoxManage" => first == "unregistervm" && has("--delete"),
        "multipass" => first == "delete" && has("--all"),
        "istioctl" => first == "uninstall",
        _ => false,
    }
}

fn unpublishes(run: &Run, words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or("");
    if words.contains(&"--dry-run") {
        return false;
    }
    match run.name.as_str() {
        "npm" | "pnpm" | "yarn" => {
            matches!(first, "unpublish" | "deprecate")
                || (first == "npm" && words.contains(&"unpublish"))
                || (matches!(first, "dist-tag" | "owner") && words.contains(&"rm"))
                || (first == "owner" && words.contains(&"add"))
                || (first == "access" && words.contains(&"grant"))
        }
        "cargo" => {
            first == "yank" && !words.contains(&"--undo")
                || first == "owner" && (words.contains(&"--remove") || words.contains(&"--add"))
        }
        "gem" => {
            first == "yank"
                || first == "owner" && words.iter().any(|word| matches!(*word, "--remove" | "--add"))
        }
        "dotnet" | "nuget" => words.contains(&"delete") && (words.contains(&"nuget") || run.name == "nuget"),
        "hex" | "mix" => first == "hex.retire",
        "twine" | "pypi" => words.contains(&"delete") || words.contains(&"yank"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{passes, rules_of, stops};

    #[test]
    fn deletions_without_undo_are_asked_about() {
        stops(&[
            ("psql -c 'drop  table users'", "destructive-data/database"),
            ("echo 'DROP DATABASE app;' | mysql -u root", "destructive-data/database"),
            ("sqlite3 app.db 'DELETE FROM users;'", "destructive-data/database"),
            ("redis-cli FLUSHALL", "destructive-data/database"),
            ("npx prisma migrate reset --force", "destructive-data/database"),
            ("docker exec db psql -U x -c 'DROP SCHEMA public'", "destructive-data/database"),
            ("docker system prune -af --volumes", "destructive-data/container"),
            ("docker rm -f $(docker ps -aq)", "destructive-data/container"),
            ("kubectl delete ns prod", "destructive-data/container"),
            ("aws s3 rm s3://b --recursive", "destructive-data/cloud"),
            ("terraform destroy -auto-approve", "destructive-data/cloud"),
            ("gh repo delete o/r --yes", "destructive-data/cloud"),
            ("npm unpublish pkg --force", "destructive-data/registry"),
            ("cargo yank --version 1.0.0 x", "destructive-data/registry"),
            ("psql -c 'DELETE FROM users WHERE 1=1'", "destructive-data/database"),
            ("echo 'drop table x' > a.sql; psql -f a.sql", "destructive-data/database"),
            ("redis-cli --scan | xargs redis-cli del", "destructive-data/database"),
        ]);
        let found = rules_of("mcp__postgres__query", &json!({"sql": "DROP TABLE users"}));
        assert_eq!(found, ["destructive-data/database"]);
        let found = rules_of("mcp__github__delete_repository", &json!({"repo": "r"}));
        assert_eq!(found, ["destructive-data/cloud"]);
    }

    #[test]
    fn reading_and_building_are_fine() {
        passes(&[
            "psql -c 'select * from users where id = 1'",
            "grep -r \"DROP TABLE\" .",
            "docker compose down",
            "docker rm web",
            "docker build -t x .",
            "kubectl get pods",
            "aws s3 ls",
            "terraform plan",
            "gh pr view 3",
            "npm publish --dry-run",
            "curl -X DELETE http://localhost:3000/items/1",
            "sqlite3 :memory: 'drop table x'",
            "psql -c \"insert into log values ('drop table users')\"",
            "terraform plan -destroy",
            "kubectl delete --help",
        ]);
        assert!(rules_of("mcp__docs__search", &json!({"query": "DROP TABLE syntax"})).is_empty());
    }
}
