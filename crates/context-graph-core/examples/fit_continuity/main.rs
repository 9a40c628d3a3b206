//! Fits the continuity model to sessions and reports its quality.
//!
//! ```text
//! cargo run --release --example fit_continuity -- DATA [--write crates/context-graph-core/data/continuity.rs]
//! ```
//!
//! `DATA` is a folder with `sessions.jsonl` (or `.jsonl.gz`, which needs `gzip`) and `cases.jsonl`. A case is
//! the beginning of a real session followed by its own continuation (`on`), by calls of another project
//! (`cross`) or of another task (`same`), or by one failing call repeated (`loop`). It prints the AUROC of each
//! view alone, the figures of the model fitted without the judged project, and those of the model fitted on
//! everything, with and without the checked-in constants.
#![expect(clippy::print_stdout, reason = "a report is what this program is for")]
#![expect(clippy::expect_used, clippy::panic, reason = "what is wrong with the data ends the run")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of events are small, and constants are written in single precision"
)]

mod cases;
mod figures;
mod fit;
mod likeness;
mod report;

use std::path::PathBuf;

use cases::{Played, load, sessions};
use context_graph_core::gwt::fusion::Model;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().expect("usage: fit_continuity DATA [--write FILE]"));
    let write = arguments.next().map(|flag| {
        assert_eq!(flag, "--write", "unknown argument");
        PathBuf::from(arguments.next().expect("--write needs a file"))
    });

    let sessions = sessions(&data);
    println!("likeness of sessions");
    likeness::print(&sessions);

    let played = load(&data, &sessions);
    println!(
        "{} cases\n\neach view alone (AUROC cross, same; usual alignment on task, in drift)",
        played.len()
    );
    report::views_alone(&played);

    let everything = fit::fit(&played.iter().collect::<Vec<_>>());
    println!("\nweights, fitted on everything\n{}", report::weights(&everything));
    println!("\nfrontier, fitted on everything: IC threshold by false alarms, and what it catches");
    report::frontier(&played, &everything);

    let mut judged = Vec::new();
    for project in projects(&played) {
        let others: Vec<&Played> = played.iter().filter(|case| !case.touches(project)).collect();
        let model = fit::fit(&others).model;
        judged.extend(
            played.iter().filter(|case| case.project == project).map(|case| figures::judge(case, &model)),
        );
    }
    println!("\ncross-validated, one project left out at a time\n{}", figures::figures(&judged));
    judged.retain(|case| played.iter().filter(|other| other.project == case.project).count() < 50);
    println!("\nthe same, projects of few cases only\n{}", figures::figures(&judged));
    for (name, model) in
        [("fitted on everything", everything.model.clone()), ("as built in", Model::built_in())]
    {
        let judged: Vec<_> = played.iter().map(|case| figures::judge(case, &model)).collect();
        println!("\n{name}\n{}", figures::figures(&judged));
    }
    println!("\nsynchrony of the oscillators (mean r over the last 10 calls)");
    report::synchrony(&played);

    if let Some(file) = write {
        std::fs::write(&file, report::source(&everything)).expect("cannot write the constants");
        println!("\nwrote {}", file.display());
    }
}

fn projects(played: &[Played]) -> Vec<&str> {
    let mut projects: Vec<&str> = played.iter().map(|case| case.project.as_str()).collect();
    projects.sort_unstable();
    projects.dedup();
    projects
}
