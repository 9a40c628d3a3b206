//! Databases, containers, clouds and package registries: deletions that cannot be undone. The tables describe
//! the programs. This module reads what they cannot (SQL) and decides what is excused.

mod comments;
mod containers;
mod databases;
mod for_tests;

use context_graph_events::quoted;

use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{is_httpie, is_this_machine, reached_by};
use crate::programs::Invocation;
pub(super) use containers::{is_composed_for_tests, is_one_pod, removes_finished};
pub(super) use databases::is_passing_scan;
use databases::{drops_database, makes_statements};
pub(in crate::guards) use for_tests::is_for_tests;
pub(crate) use for_tests::{MODES, is_framework};

pub(super) static DATABASE: Rule = Rule::ask("destructive-data/database", Severity::High);
pub(super) static CONTAINER: Rule = Rule::ask("destructive-data/container", Severity::High);
pub(super) static CLOUD: Rule = Rule::ask("destructive-data/cloud", Severity::Critical);
static REGISTRY: Rule = Rule::ask("destructive-data/registry", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "destructive-data",
    purpose: "databases, volumes, cloud resources and published packages are not deleted unasked",
    rules: &[&DATABASE, &CONTAINER, &CLOUD, &REGISTRY],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    for call in &case.calls {
        if (drops_database(case, call) || makes_statements(case, call))
            && !is_for_tests(call)
            && !is_passing_scan(case, call.run)
        {
            found.add(&DATABASE, quoted!("`{}` would delete data.", call.shown()));
        } else if deletes_by_request(call) {
            found.add(&CLOUD, quoted!("`{}` asks a server to delete something.", call.shown()));
        }
    }
}

/// Whether a request goes to this machine only.
fn stays_here(call: &Invocation<'_>) -> bool {
    let hosts = reached_by(call);
    !hosts.is_empty() && hosts.iter().all(is_this_machine)
}

/// Whether what a table says about a request is excused, because it stays on this machine.
pub(super) fn is_request_here(call: &Invocation<'_>) -> bool {
    is_httpie(&call.run.name) && stays_here(call)
}

/// Whether an HTTP request deletes something on a server.
fn deletes_by_request(call: &Invocation<'_>) -> bool {
    if !matches!(call.run.name.as_str(), "curl" | "wget") {
        return false;
    }
    let words: Vec<String> = call.words.iter().map(ToString::to_string).collect();
    if words.iter().any(|word| word.contains("/_delete_by_query") || word.contains("/doDelete")) {
        return true;
    }
    let is_near = || stays_here(call);
    let told = |methods: &[&str]| {
        let mut given = ["-X", "--method"].iter().flat_map(|option| call.values(option));
        given.any(|method| methods.iter().any(|known| method.known().eq_ignore_ascii_case(known)))
    };
    let sends = || call.has_any(&["--data", "--data-raw", "--data-binary", "--json", "--post-data"]);
    if (told(&["post", "put", "patch"]) || sends()) && !is_near() && asks_to_end(call, &words) {
        return true;
    }
    let deletes = told(&["delete"]);
    // Deleting a whole store is asked about even on the local machine.
    let all = words.iter().any(|word| word.ends_with("/_all") || word.ends_with("/*"));
    deletes && (all || !is_near())
}

/// Whether a request without the method `DELETE` deletes something by its address or its body.
fn asks_to_end(call: &Invocation<'_>, words: &[String]) -> bool {
    let last = |url: &String| {
        let path = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
        let name = path.rsplit(['/', '.', ':']).next().unwrap_or_default().to_ascii_lowercase();
        let is_verb = matches!(
            name.as_str(),
            "delete"
                | "destroy"
                | "rebuild"
                | "terminate"
                | "poweroff"
                | "wipe"
                | "archive"
                | "batchdelete"
                | "deleteall"
        );
        // An address that ends in `/archive` usually names a folder, not a verb.
        url.contains("://") && is_verb && (name != "archive" || path.contains(".archive"))
    };
    let data = ["--data", "--data-raw", "--data-binary", "--json", "--post-data"];
    let says = |body: String| {
        let flat: String =
            body.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        [
            r#""type":"rebuild""#,
            r#""type":"power_off""#,
            r#""type":"restore""#,
            r#""type":"shutdown""#,
            r#""type":"destroy""#,
            r#""private":false"#,
            r#""visibility":"public""#,
            r#""archived":true"#,
            r#""purge_everything":true"#,
        ]
        .iter()
        .any(|said| flat.contains(said))
    };
    words.iter().any(last)
        || data.iter().flat_map(|option| call.values(option)).any(|body| says(body.to_string()))
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
