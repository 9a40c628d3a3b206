//! `policy check`

use serde_json::json;

use super::PlaceArgs;
use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::{Environment, table};

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> Outcome {
    let guard = args.guard(environment);
    let problems: Vec<String> = guard.trouble().iter().map(ToString::to_string).collect();
    if args.json {
        table::print_json(&json!({"ok": problems.is_empty(), "problems": problems}))?;
    } else if problems.is_empty() {
        table::print_lines(["the policy files are in order"])?;
    } else {
        table::print_lines(&problems)?;
    }
    match problems.len() {
        0 => Ok(()),
        n => Err(Failure::new(ErrorCode::Policy, format!("{n} policy files cannot be used"))
            .with_next_step("until they are mended every guarded call is asked about")),
    }
}
