//! Fitting weights and knots.

use context_graph_core::gwt::fusion::{Model, smooth};
use context_graph_core::gwt::session_identity::KURAMOTO_N;

use crate::cases::{Kind, Played, TAIL};
use crate::figures::{WARM, onsets};

/// The ridge penalty on large weights. Two projects are most of the data, so weights should reflect what they
/// have in common.
const RIDGE: f64 = 0.02;
const STEPS: usize = 3_000;
/// The rates of false alarms per 100 on-task calls that the levels 0.7 and 0.5 are set for, on the fitted
/// sessions. They are lower than the target, because sessions of other projects will have more.
const ALARMS: [f64; 2] = [0.7, 0.07];

/// A model and the usual alignments on task.
pub(crate) struct Fitted {
    /// Weights and knots.
    pub model: Model,
    /// Mean alignment of each view on task.
    pub usual: [f32; KURAMOTO_N],
}

/// Fits weights, then knots.
pub(crate) fn fit(cases: &[&Played]) -> Fitted {
    let weights = weights(cases);
    let mut model = Model { weights, knots: vec![(0.0, 0.0), (1.0, 1.0)] };
    model.knots = knots(cases, &model);
    Fitted { model, usual: mean(cases).map(|usual| round(f64::from(usual))) }
}

fn tails<'a>(cases: &'a [&Played]) -> impl Iterator<Item = (&'a Played, &'a [f32; KURAMOTO_N])> {
    cases
        .iter()
        .filter(|case| case.kind != Kind::Loop)
        .flat_map(|case| case.vectors[case.vectors.len() - TAIL..].iter().map(|vector| (*case, vector)))
}

fn mean(cases: &[&Played]) -> [f32; KURAMOTO_N] {
    let on: Vec<_> = tails(cases).filter(|(case, _)| case.kind == Kind::On).collect();
    std::array::from_fn(|view| on.iter().map(|(_, v)| v[view]).sum::<f32>() / on.len() as f32)
}

/// Logistic regression of on-task against drift with weights that are never negative, by projected gradient.
///
/// Both kinds of drift have equal weight, and a project's weight is the square root of its number of cases.
fn weights(cases: &[&Played]) -> [f32; KURAMOTO_N] {
    let rows: Vec<_> = tails(cases).collect();
    let size = |kind: Kind, project: &str| {
        rows.iter().filter(|(case, _)| case.kind == kind && case.project == project).count() as f64
    };
    let mut cache: Vec<(Kind, &str, f64)> = Vec::new();
    let mut importance: Vec<f64> = rows
        .iter()
        .map(|(case, _)| {
            let known =
                cache.iter().find(|(kind, project, _)| *kind == case.kind && *project == case.project);
            let size = known.map_or_else(|| size(case.kind, &case.project), |known| known.2);
            if known.is_none() {
                cache.push((case.kind, &case.project, size));
            }
            1.0 / size.sqrt()
        })
        .collect();
    for (kind, share) in [(Kind::On, 0.5), (Kind::Cross, 0.25), (Kind::Same, 0.25)] {
        let of_kind: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].0.kind == kind).collect();
        let total: f64 = of_kind.iter().map(|&row| importance[row]).sum();
        for row in of_kind {
            importance[row] *= share / total;
        }
    }

    let center: [f64; KURAMOTO_N] = std::array::from_fn(|view| {
        rows.iter().zip(&importance).map(|((_, v), w)| w * f64::from(v[view])).sum()
    });
    let spread: [f64; KURAMOTO_N] = std::array::from_fn(|view| {
        let square =
            |(row, w): (&(_, &[f32; KURAMOTO_N]), &f64)| w * (f64::from(row.1[view]) - center[view]).powi(2);
        rows.iter().zip(&importance).map(square).sum::<f64>().sqrt().max(0.02)
    });
    let rows: Vec<(f64, [f64; KURAMOTO_N])> = rows
        .iter()
        .map(|(case, v)| {
            let steady = if case.kind == Kind::On { 1.0 } else { 0.0 };
            (steady, std::array::from_fn(|view| (f64::from(v[view]) - center[view]) / spread[view]))
        })
        .collect();

    let mut weights = [0.1; KURAMOTO_N];
    let mut bias = 0.0;
    for _ in 0..STEPS {
        let mut slope = [0.0; KURAMOTO_N];
        let mut bias_slope = 0.0;
        for ((steady, row), w) in rows.iter().zip(&importance) {
            let z: f64 = bias + row.iter().zip(&weights).map(|(x, weight)| x * weight).sum::<f64>();
            let error = w * (1.0 / (1.0 + (-z).exp()) - steady);
            bias_slope += error;
            slope.iter_mut().zip(row).for_each(|(slope, x)| *slope += error * x);
        }
        bias -= 0.3 * bias_slope;
        for (weight, slope) in weights.iter_mut().zip(slope) {
            *weight = (*weight - 0.3 * (slope + 2.0 * RIDGE * *weight)).max(0.0);
        }
    }
    let per_unit: [f64; KURAMOTO_N] = std::array::from_fn(|view| weights[view] / spread[view]);
    let total: f64 = per_unit.iter().sum();
    // A weight below one part in two hundred is noise.
    per_unit.map(|weight| round(if weight / total < 0.005 { 0.0 } else { weight / total }))
}

/// Chooses knots so that the levels have their meaning on on-task work.
fn knots(cases: &[&Played], model: &Model) -> Vec<(f32, f32)> {
    let work: Vec<Vec<f64>> = cases
        .iter()
        .filter(|case| case.kind == Kind::On)
        .map(|case| smoothed(case, model).split_off(WARM))
        .collect();
    let mut all: Vec<f64> = work.concat();
    all.sort_by(f64::total_cmp);
    let quantile = |q: f64| round(all[((all.len() - 1) as f64 * q) as usize]);
    let [low, critical] = ALARMS.map(|allowed| round(threshold(&work, &all, allowed)));
    let middle = quantile(0.45).max(low + 0.01);
    let knots = [
        (0.0, 0.0),
        (critical, 0.5),
        (low, 0.7),
        (middle, 0.92),
        (quantile(0.9).max(middle + 0.01), 0.98),
        (1.0, 1.0),
    ];
    knots.to_vec()
}

/// The smoothed score at each tool result of a case.
pub(crate) fn smoothed(case: &Played, model: &Model) -> Vec<f64> {
    case.vectors
        .iter()
        .scan(None, |before, vector| {
            *before = Some(smooth(*before, model.score(vector)));
            *before
        })
        .collect()
}

/// The highest score below which at most `allowed` alarms per 100 calls begin.
pub(crate) fn threshold(work: &[Vec<f64>], sorted: &[f64], allowed: f64) -> f64 {
    let mut best = sorted[0];
    for &candidate in sorted.iter().take(sorted.len() / 4) {
        let alarms: usize = work.iter().map(|scores| onsets(scores.iter().map(|&s| s < candidate))).sum();
        if 100.0 * alarms as f64 / sorted.len() as f64 > allowed {
            break;
        }
        best = candidate;
    }
    best
}

/// Rounds to four decimals, which is enough and keeps the constants readable.
fn round(x: f64) -> f32 {
    ((x * 1e4).round() / 1e4) as f32
}
