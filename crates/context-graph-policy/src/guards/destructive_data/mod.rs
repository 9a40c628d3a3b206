//! Databases, containers, clouds and package registries: deletions that no undo reaches.

mod clouds;
mod containers;
mod databases;
mod forges;
mod grants;

use context_graph_events::told;

use super::{Case, Found, Guard, Rule};
use crate::decision::Severity;
use crate::effects::Text;
use clouds::{is_emulated, removes_cloud, removes_kept};
use containers::{is_composed_for_tests, removes_containers, removes_finished};
use databases::{drops_database, is_for_tests, is_passing_scan};
use forges::unpublishes;
use grants::gives_away;

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
        if drops_database(run, &words) && !is_for_tests(run, &words) && !is_passing_scan(case, run) {
            found.add(&DATABASE, told!("`{}` would delete data.", line()));
        } else if is_emulated(run) {
            // An emulator on this machine keeps nothing that matters.
        } else if removes_containers(run, &words)
            && !removes_finished(case, &words)
            && !is_composed_for_tests(&words)
        {
            found.add(&CONTAINER, told!("`{}` would delete containers, volumes or workloads.", line()));
        } else if gives_away(run, &words) {
            found.add(&CLOUD, told!("`{}` would give away power over what runs there.", line()));
        } else if removes_cloud(run, &words) || removes_kept(run, &words) {
            found.add(&CLOUD, told!("`{}` would delete cloud resources.", line()));
        } else if unpublishes(run, &words) {
            found.add(&REGISTRY, told!("`{}` would withdraw a published package.", line()));
        }
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
