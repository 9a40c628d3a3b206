//! The figures, defined as in the benchmark of the built binary.

use std::fmt;

use context_graph_core::gwt::fusion::{Model, smooth};

use crate::cases::{Kind, Played, TAIL};

/// Calls at a session's start that are not evaluated.
pub(crate) const WARM: usize = 12;

/// A case with the IC at each tool result.
pub(crate) struct Measured {
    /// What the tail is.
    pub kind: Kind,
    /// The project of the beginning.
    pub project: String,
    /// The IC at each tool result.
    pub ic: Vec<f32>,
    looping: Vec<bool>,
}

/// The ICs that a model computes for a case.
pub(crate) fn judge(case: &Played, model: &Model) -> Measured {
    let mut smoothed = None;
    let ic = case.vectors.iter().map(|vector| {
        let next = smooth(smoothed, model.score(vector));
        smoothed = Some(next);
        model.ic(next)
    });
    Measured {
        kind: case.kind,
        project: case.project.clone(),
        ic: ic.collect(),
        looping: case.looping.clone(),
    }
}

impl Measured {
    /// The part of the values that belongs to the tail.
    pub(crate) fn tail(&self) -> &[f32] {
        &self.ic[self.ic.len().saturating_sub(TAIL)..]
    }
}

/// The probability that a drifted value is below a steady one; ties count half.
pub(crate) fn auroc(drifted: &[f32], steady: &[f32]) -> f64 {
    let mut sorted = steady.to_vec();
    sorted.sort_by(f32::total_cmp);
    let wins: f64 = drifted
        .iter()
        .map(|value| {
            let (below, upto) =
                (sorted.partition_point(|s| s < value), sorted.partition_point(|s| s <= value));
            (sorted.len() - upto) as f64 + 0.5 * (upto - below) as f64
        })
        .sum();
    wins / (drifted.len() as f64 * sorted.len() as f64)
}

/// How often a flag changes to true.
pub(crate) fn onsets(flags: impl IntoIterator<Item = bool>) -> usize {
    flags.into_iter().fold((0, false), |(count, before), flag| (count + usize::from(flag && !before), flag)).0
}

/// All figures of one run.
pub(crate) struct Figures {
    drift: Vec<(&'static str, f64, f64, f64, f64)>,
    alarms: [f64; 2],
    loops: f64,
    false_loops: f64,
    healthy: f64,
    below: [f64; 2],
}

/// Figures of judged cases.
pub(crate) fn figures(judged: &[Measured]) -> Figures {
    let of = |kind: Kind| judged.iter().filter(move |case| case.kind == kind);
    let tails = |kind: Kind| -> Vec<f32> { of(kind).flat_map(|case| case.tail().to_vec()).collect() };
    let steady = tails(Kind::On);
    let calls: usize = of(Kind::On).map(|case| case.ic.len() - WARM).sum();
    let per_hundred = |count: usize| 100.0 * count as f64 / calls as f64;
    let work = || of(Kind::On).flat_map(|case| case.ic[WARM..].iter().copied());

    let drift = [("cross", Kind::Cross), ("same", Kind::Same)].map(|(name, kind)| {
        let at_five = |kind: Kind| -> Vec<f32> { of(kind).map(|case| case.tail()[4]).collect() };
        let caught = |below: f32| {
            let hits = of(kind).filter(|case| case.tail()[..10].iter().any(|&ic| ic < below)).count();
            100.0 * hits as f64 / of(kind).count() as f64
        };
        let whole = auroc(&tails(kind), &steady);
        (name, whole, auroc(&at_five(kind), &at_five(Kind::On)), caught(0.7), caught(0.5))
    });
    let alarms = [0.7, 0.5].map(|below| {
        per_hundred(of(Kind::On).map(|case| onsets(case.ic[WARM..].iter().map(|&ic| ic < below))).sum())
    });
    let loops = of(Kind::Loop).filter(|case| case.looping[case.looping.len() - TAIL..][..5].contains(&true));
    Figures {
        drift: drift.to_vec(),
        alarms,
        loops: 100.0 * loops.count() as f64 / of(Kind::Loop).count() as f64,
        false_loops: per_hundred(of(Kind::On).map(|case| onsets(case.looping[WARM..].to_vec())).sum()),
        healthy: per_hundred(work().filter(|&ic| ic >= 0.92).count()),
        below: [0.7, 0.5].map(|below| per_hundred(work().filter(|&ic| ic < below).count())),
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, whole, at_five, low, critical) in &self.drift {
            writeln!(
                f,
                "{name:6} AUROC {whole:.4}, at the fifth call {at_five:.4}; within 10 calls below 0.7 {low:.1} %, below 0.5 {critical:.1} %"
            )?;
        }
        writeln!(
            f,
            "false alarms per 100 on-task calls: {:.3} at 0.7, {:.3} at 0.5",
            self.alarms[0], self.alarms[1]
        )?;
        writeln!(
            f,
            "on task: {:.1} % of calls at 0.92 or above, {:.1} % below 0.7, {:.2} % below 0.5",
            self.healthy, self.below[0], self.below[1]
        )?;
        write!(
            f,
            "loops reported within 5 repeats {:.1} %, false reports per 100 on-task calls {:.3}",
            self.loops, self.false_loops
        )
    }
}
