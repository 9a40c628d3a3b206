//! The fixes that are safe to make: each keeps a backup of what it changes, only tightens permissions, or creates
//! a missing file.

use std::path::Path;

use context_graph_storage::safe_open::Folder;

use super::Patient;
use super::check_result::{CheckResult, Fix};
use crate::commands::failure::Failure;
use crate::commands::init;
use crate::error_code::ErrorCode;

/// Makes every safe fix once, and reports what was done.
pub(super) fn mend(patient: &Patient, results: &[CheckResult]) -> Result<Vec<String>, Failure> {
    let mut done: Vec<&Fix> = Vec::new();
    let mut told = Vec::new();
    for mend in results.iter().filter_map(|result| result.mend.as_ref()) {
        if done.contains(&mend) {
            continue;
        }
        done.push(mend);
        told.push(make(patient, mend)?);
    }
    Ok(told)
}

fn make(patient: &Patient, mend: &Fix) -> Result<String, Failure> {
    match mend {
        Fix::Install(scope) => {
            let file =
                init::bring_up_to_date(&patient.environment, *scope, &patient.program()?, patient.version())?;
            Ok(format!("the hooks in {}", file.display()))
        }
        Fix::Agent(agent, scope) => {
            let file = init::agents::bring_up_to_date(&patient.environment, *agent, *scope)?;
            Ok(format!("the hooks in {}", file.display()))
        }
        Fix::Close(folder) => {
            let closed = Folder::open(folder).and_then(|folder| folder.close_to_others());
            closed.map_err(|error| failed(folder, &error))?;
            Ok(format!("{} is closed to others", folder.display()))
        }
        Fix::Ignore(file) => {
            let folder = file.parent().unwrap_or(file);
            let written = Folder::open(folder).and_then(|folder| folder.replace(".gitignore", b"*\n"));
            written.map_err(|error| failed(file, &error))?;
            Ok(format!("wrote {}", file.display()))
        }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot change {}: {error}", path.display()))
        .with_next_step("check who owns it")
}
