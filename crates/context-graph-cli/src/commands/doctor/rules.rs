//! Can the user's configuration be used?

use context_graph_policy::trust::Standing;

use super::Patient;
use super::check_result::CheckResult;
use crate::commands::policy;
use crate::commands::policy::unenforced::{self, Missing};
use crate::config::Config;
use crate::rules::{self, POLICIES};
use crate::trust::{self, ProjectFiles};

/// Policy files, Rego policies, and the configuration.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let mut results: Vec<CheckResult> = policy::problems(
        &rules::as_written(&patient.environment),
        &patient.environment,
    )
    .into_iter()
    .map(|problem| {
        let fix = "correct the file; until then every guarded call is treated as an error, which usually asks the user. \
                       `context-graph policy check` looks again";
        CheckResult::broken("policy", problem, fix)
    })
    .collect();
    if results.is_empty() {
        results.push(CheckResult::ok("policy", "the policy files are in order"));
    }
    results.extend(not_enforced(patient));
    let files = ProjectFiles::of(&patient.environment);
    results.push(trusted(&files));
    results.push(match Config::in_force(&files) {
        Ok(_) => CheckResult::ok("config", "the configuration is in order"),
        Err(error) => CheckResult::broken(
            "config",
            error.to_string(),
            "correct the file; `context-graph config show` says what is in force",
        ),
    });
    results
}

/// What an import could not translate. If its record cannot be read, the problems of the policies say so.
fn not_enforced(patient: &Patient) -> Vec<CheckResult> {
    let missing = unenforced::read(&patient.environment).unwrap_or_default();
    let result = |missing: &Missing| {
        let what = format!("{} of {} is not enforced: {}", missing.what, missing.from, missing.why);
        let fix = format!(
            "correct it and import {} again, write the rule yourself, or take its entry out of {POLICIES}/{}",
            missing.from,
            unenforced::FILE
        );
        CheckResult::warning("policy", what, fix)
    };
    missing.iter().map(result).collect()
}

/// Whether all of the project's files count in full.
fn trusted(files: &ProjectFiles<'_>) -> CheckResult {
    match (files.standing(), trust::words(files.standing())) {
        (_, Some(words)) => CheckResult::warning(
            "project trust",
            words,
            "look at what they would do with `context-graph trust`, and say yes if you want that",
        ),
        (Standing::Nothing, _) => {
            CheckResult::ok("project trust", "the project brings no policies or configuration")
        }
        _ => CheckResult::ok(
            "project trust",
            "the project's policies and configuration are those that you trusted",
        ),
    }
}
