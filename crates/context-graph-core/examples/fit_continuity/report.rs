//! Output besides the figures.

use std::fmt::Write;

use context_graph_core::continuity::VIEW_NAMES;
use context_graph_core::gwt::kuramoto::{DEFAULT_COUPLING, INITIAL_PHASES, advance, order_parameter};
use context_graph_core::gwt::session_identity::KURAMOTO_N;

use crate::cases::{Kind, Played, TAIL};
use crate::figures::{WARM, auroc};
use crate::fit::{Fitted, smoothed, threshold};

/// The AUROC of each view, smoothed like the score.
pub(crate) fn views_alone(played: &[Played]) {
    for view in 0..KURAMOTO_N {
        let tails = |kind: Kind| -> Vec<f32> {
            played
                .iter()
                .filter(|case| case.kind == kind)
                .flat_map(|case| {
                    let values = case.vectors.iter().scan(None, |before: &mut Option<f32>, vector| {
                        *before = Some(before.map_or(vector[view], |b| b + 0.35 * (vector[view] - b)));
                        *before
                    });
                    values.skip(case.vectors.len() - TAIL).collect::<Vec<_>>()
                })
                .collect()
        };
        let (on, cross, same) = (tails(Kind::On), tails(Kind::Cross), tails(Kind::Same));
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        println!(
            "{:24} {:.3} {:.3}   {:.2}  {:.2} {:.2}",
            VIEW_NAMES[view],
            auroc(&cross, &on),
            auroc(&same, &on),
            mean(&on),
            mean(&cross),
            mean(&same)
        );
    }
}

/// Weights by name.
pub(crate) fn weights(fitted: &Fitted) -> String {
    let weights =
        VIEW_NAMES.iter().zip(&fitted.model.weights).map(|(name, weight)| format!("{name} {weight:.3}"));
    format!("{}\nknots {:?}", weights.collect::<Vec<_>>().join(", "), fitted.model.knots)
}

/// How many drifts are found at each rate of false alarms.
pub(crate) fn frontier(played: &[Played], fitted: &Fitted) {
    let scores = |kind: Kind| -> Vec<Vec<f64>> {
        played.iter().filter(|case| case.kind == kind).map(|case| smoothed(case, &fitted.model)).collect()
    };
    let work: Vec<Vec<f64>> = scores(Kind::On).into_iter().map(|mut all| all.split_off(WARM)).collect();
    let mut sorted = work.concat();
    sorted.sort_by(f64::total_cmp);
    for allowed in [2.0, 1.5, 1.25, 1.0, 0.75, 0.5, 0.3, 0.2, 0.15, 0.1, 0.05] {
        let at = threshold(&work, &sorted, allowed);
        let caught = |kind: Kind| {
            let cases = scores(kind);
            let hits =
                cases.iter().filter(|case| case[case.len() - TAIL..][..10].iter().any(|&s| s < at)).count();
            100.0 * hits as f64 / cases.len() as f64
        };
        println!(
            "{allowed:5.2} per 100: score {at:.3}, cross {:.1} %, same {:.1} %",
            caught(Kind::Cross),
            caught(Kind::Same)
        );
    }
}

/// The order parameter on steady and drifting work.
pub(crate) fn synchrony(played: &[Played]) {
    for (name, kind) in [("on", Kind::On), ("cross", Kind::Cross), ("same", Kind::Same)] {
        let (mut sum, mut count) = (0.0, 0);
        for case in played.iter().filter(|case| case.kind == kind) {
            let mut phases = INITIAL_PHASES;
            for (at, vector) in case.vectors.iter().enumerate() {
                phases = advance(&phases, vector, DEFAULT_COUPLING);
                if at + 10 >= case.vectors.len() {
                    sum += order_parameter(&phases);
                    count += 1;
                }
            }
        }
        println!("{name:6} {:.3}", sum / f64::from(count));
    }
}

/// The constants as Rust source.
pub(crate) fn source(fitted: &Fitted) -> String {
    let mut out = String::from("// Written by `examples/fit_continuity`: fit again instead of editing.\n\n");
    let list = |values: &[f32]| values.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(", ");
    let arrays = [
        ("How much each view counts in the IC, E1 first.", "VIEW_WEIGHTS", &fitted.model.weights),
        (
            "The mean alignment of each view while a session keeps to its purpose, E1 first.",
            "USUAL",
            &fitted.usual,
        ),
    ];
    for (doc, name, values) in arrays {
        let _ = writeln!(out, "/// {doc}\npub const {name}: [f32; KURAMOTO_N] =\n    [{}];\n", list(values));
    }
    let knots =
        fitted.model.knots.iter().map(|(score, ic)| format!("({score:?}, {ic:?})")).collect::<Vec<_>>();
    let _ = writeln!(
        out,
        "/// Smoothed scores and the ICs that they stand for.\npub const KNOTS: [Knot; {}] =\n    [{}];",
        knots.len(),
        knots.join(", ")
    );
    out
}
