//! Can what the user has configured be used?

use super::Patient;
use super::finding::Finding;
use crate::commands::policy;
use crate::config::Config;
use crate::guard::Guard;

/// Policy files, Rego policies, and the configuration.
pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    let mut findings: Vec<Finding> = policy::problems(
        &Guard::load(&patient.environment),
        &patient.environment,
    )
    .into_iter()
    .map(|problem| {
        let fix = "mend the file; until then every guarded call is decided as an error is, which asks. \
                       `context-graph policy check` looks again";
        Finding::broken("policy", problem, fix)
    })
    .collect();
    if findings.is_empty() {
        findings.push(Finding::ok("policy", "the policy files are in order"));
    }
    findings.push(match Config::read(&patient.environment.state_folder()) {
        Ok(_) => Finding::ok("config", "the configuration is in order"),
        Err(error) => Finding::broken(
            "config",
            error.to_string(),
            "mend the file; `context-graph config show` says what is in force",
        ),
    });
    findings
}
