//! The client: its version, whether this program knows it, and whether it trusts the folder.

use std::path::Path;

use context_graph_settings::{EXEC_FORM_SINCE, NEWEST_KNOWN_CLIENT, ON_FAILURE_SINCE};
use context_graph_storage::safe_open::read_regular;
use serde_json::Value;

use super::Patient;
use super::check_result::{CheckResult, Fix};
use crate::client::words;

const CHECK: &str = "client";
/// The oldest client that we support.
const OLDEST: context_graph_settings::ClientVersion = (2, 0, 0);

/// Upper limit for the client's list of projects.
const MAX_KNOWN: u64 = 256 << 20;

/// Compares the client's version with the newest one that this program knows.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let Some(client) = &patient.client else {
        return vec![missing(patient)];
    };
    let (version, program) = (words(client.version), client.program.display());
    let exec = patient.ours().into_iter().find(|hook| hook.entry.get("args").is_some());
    vec![match client.version {
        old if old < OLDEST => CheckResult::broken(
            CHECK,
            format!("{program} is version {version}; hooks are written for {} and later", words(OLDEST)),
            "update Claude Code: `claude update`",
        ),
        old if old < EXEC_FORM_SINCE && exec.is_some() => {
            let what =
                format!("client {version} does not know `args` and would run the program without them");
            let result = CheckResult::broken(
                CHECK,
                what,
                "`context-graph init` writes what this Claude Code knows; or update Claude Code",
            );
            match exec.and_then(|hook| hook.source.scope()) {
                Some(scope) => result.fixed_by(Fix::Install(scope)),
                None => result,
            }
        }
        old if old < ON_FAILURE_SINCE => CheckResult::warning(
            CHECK,
            format!(
                "client {version} does not know `onFailure`: a guard that cannot start lets the call pass"
            ),
            format!("update Claude Code to {} or later", words(ON_FAILURE_SINCE)),
        ),
        new if new > NEWEST_KNOWN_CLIENT => CheckResult::warning(
            CHECK,
            format!(
                "client {version} is newer than {}, the newest tested version; unknown parts are kept and passed through",
                words(NEWEST_KNOWN_CLIENT)
            ),
            "update context-graph when there is a newer one",
        ),
        _ => CheckResult::ok(CHECK, format!("client {version}")),
    }]
}

/// Claude Code is not installed. That matters only if its settings contain our hooks; other agents do not
/// need it.
fn missing(patient: &Patient) -> CheckResult {
    let known = words(NEWEST_KNOWN_CLIENT);
    let what = format!(
        "Claude Code was not found, neither on the PATH nor where its installer puts it; assuming {known}"
    );
    if patient.ours().is_empty() {
        return CheckResult::ok(CHECK, what);
    }
    CheckResult::warning(
        CHECK,
        what,
        "install Claude Code, or put `claude` on the PATH; an editor with its own Claude Code also runs these hooks",
    )
}

/// An interactive client runs no hooks in a folder that is not trusted.
pub(super) fn trust(patient: &Patient) -> Vec<CheckResult> {
    let folder = patient.environment.client_folder();
    let beside = folder.join(".claude.json");
    let file = if beside.is_file() { beside } else { patient.environment.home.join(".claude.json") };
    let known: Option<Value> =
        read_regular(&file, MAX_KNOWN).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(projects) = known.as_ref().and_then(|it| it.get("projects")?.as_object()) else {
        return Vec::new();
    };
    let root = std::fs::canonicalize(&patient.root).unwrap_or_else(|_| patient.root.clone());
    let said = |folder: &Path| projects.get(folder.to_str()?)?.get("hasTrustDialogAccepted")?.as_bool();
    let trusted = root.ancestors().any(|folder| said(folder) == Some(true));
    if trusted || said(&root) != Some(false) {
        return vec![CheckResult::ok("trust", "Claude Code may run hooks in this folder")];
    }
    vec![CheckResult::warning(
        "trust",
        format!("Claude Code does not trust {}: an interactive session runs no hook there", root.display()),
        "start `claude` in the folder and say that you trust it",
    )]
}
