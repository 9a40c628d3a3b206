//! Can what the user has configured be used?

use super::Patient;
use super::finding::Finding;
use crate::commands::policy;
use crate::commands::policy::unenforced::{self, Missing};
use crate::config::Config;
use crate::guard::{Guard, POLICIES};

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
    findings.extend(not_enforced(patient));
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

/// What an import left out. A record that cannot be read is among the problems of the policies.
fn not_enforced(patient: &Patient) -> Vec<Finding> {
    let missing = unenforced::read(&patient.environment).unwrap_or_default();
    let finding = |missing: &Missing| {
        let what = format!("{} of {} is not enforced: {}", missing.what, missing.from, missing.why);
        let fix = format!(
            "mend it and import {} again, write the rule yourself, or take its entry out of {POLICIES}/{}",
            missing.from,
            unenforced::FILE
        );
        Finding::warning("policy", what, fix)
    };
    missing.iter().map(finding).collect()
}
