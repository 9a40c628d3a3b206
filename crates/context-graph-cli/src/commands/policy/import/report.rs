//! Reports what an import did or would do.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::ImportArgs;
use super::plan::Plan;
use super::rulebook::Left;
use crate::commands::failure::CommandResult;
use crate::table;

/// Prints the result for each part of the folder.
pub(super) fn print(args: &ImportArgs, root: &Path, plan: &Plan, written: &[PathBuf]) -> CommandResult {
    let (lost, others): (Vec<&Left>, Vec<&Left>) = plan.left.iter().partition(|left| left.is_lost);
    if args.place.json {
        let listed = |left: Vec<&Left>| -> Vec<Value> {
            left.iter().map(|left| json!({"what": left.what, "why": left.why})).collect()
        };
        return table::print_json(&json!({
            "from": root, "dry_run": args.dry_run, "policies": plan.policies, "configured": plan.taken,
            "written": written, "not_enforced": listed(lost), "left": listed(others), "notes": plan.notes,
        }));
    }
    let mut lines = vec![format!("{}:", root.display())];
    lines.extend(plan.policies.iter().map(|policy| format!("  policy {policy}")));
    lines.extend(plan.taken.iter().map(|taken| format!("  {taken}")));
    for (heading, left) in [("not enforced:", lost), ("not imported, and not needed to decide:", others)] {
        if !left.is_empty() {
            lines.push(heading.to_owned());
            lines.extend(left.iter().map(|left| format!("  {}: {}", left.what, left.why)));
        }
    }
    lines.extend(plan.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(written.iter().map(|path| format!("wrote {}", path.display())));
    if args.dry_run {
        lines.push("nothing was written: this was a dry run".to_owned());
    }
    table::print_lines(lines)
}
