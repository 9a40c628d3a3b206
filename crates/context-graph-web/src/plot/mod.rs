//! Drawings as SVG. Widths are percentages, so that a drawing fits every screen while its text keeps its size.

mod axis;
mod bars;
mod scale;

use std::fmt::Write as _;

use context_graph_core::gwt::ic_monitor::{IC_CRITICAL_THRESHOLD, IC_WARNING_THRESHOLD};
use context_graph_core::session::Curve;
use maud::{Markup, PreEscaped, html};

pub(crate) use axis::session;
pub(crate) use bars::activity;
use scale::Scale;

/// A curve has no more points than a screen has columns.
const COLUMNS: usize = 600;
/// The inner width and height of a curve. It is stretched to fit.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// A colour that is visible on light and dark: a stand-alone drawing does not know the theme.
const COLOUR: &str = "#6d75f0";

/// The continuity of a session as a small curve, for a list.
pub(crate) fn sparkline(curve: &Curve) -> String {
    let values: Vec<f32> = curve.points.iter().map(|point| point.ic).collect();
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 120 28\" width=\"120\" height=\"28\" \
         preserveAspectRatio=\"none\">",
    );
    let y = |ic: f32| 2.0 + y_of(ic) / HEIGHT * 24.0;
    let _ = write!(
        svg,
        "<path d=\"M0 {0:.1}H120\" stroke=\"#c98a35\" stroke-dasharray=\"2 3\" opacity=\".5\"/>",
        y(IC_WARNING_THRESHOLD)
    );
    let columns = lowest_by_column(&values, 60);
    if !columns.is_empty() {
        let step = 120.0 / columns.len().max(2).saturating_sub(1) as f64;
        let mut path = String::new();
        for (at, ic) in columns.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if at == 0 { 'M' } else { 'L' }, at as f64 * step, y(*ic));
        }
        if columns.len() == 1 {
            let _ = write!(path, "H120");
        }
        let _ = write!(
            svg,
            "<path d=\"{path}V28H0Z\" fill=\"{COLOUR}\" opacity=\".12\"/>\
             <path d=\"{path}\" fill=\"none\" stroke=\"{COLOUR}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"/>"
        );
    }
    svg.push_str("</svg>");
    svg
}

/// The lowest value of each column, so that a drop is not lost where many calls share a pixel.
fn lowest_by_column(values: &[f32], columns: usize) -> Vec<f32> {
    let per_column = values.len().div_ceil(columns).max(1);
    values.chunks(per_column).map(|chunk| chunk.iter().copied().fold(1.0_f32, f32::min)).collect()
}

/// A curve by call, not by time, with its levels.
pub(crate) fn by_call(curve: &Curve, label: &str) -> Markup {
    let values: Vec<f32> = curve.points.iter().map(|point| point.ic).collect();
    let values = lowest_by_column(&values, COLUMNS);
    let step = WIDTH / values.len().max(2).saturating_sub(1) as f64;
    let points: Vec<(f64, f64)> =
        values.iter().enumerate().map(|(at, ic)| (at as f64 * step, y_of(*ic))).collect();
    html! {
        svg.curve role="img" aria-label=(label) viewBox="0 0 1000 100" preserveAspectRatio="none" {
            (levels())
            (line(&points))
        }
    }
}

/// Lower values are drawn at the bottom: they are all bad, and most sessions use the space above.
const FLOOR: f64 = 0.3;

/// The distance of a continuity value from the top of a curve.
fn y_of(ic: f32) -> f64 {
    ((1.0 - f64::from(ic)) / (1.0 - FLOOR)).clamp(0.0, 1.0) * HEIGHT
}

/// The warning and crisis levels behind a curve.
fn levels() -> Markup {
    let (warning, critical) = (y_of(IC_WARNING_THRESHOLD), y_of(IC_CRITICAL_THRESHOLD));
    html! {
        line.threshold.warning x1="0" x2="1000" y1=(number(warning)) y2=(number(warning)) {}
        line.threshold.critical x1="0" x2="1000" y1=(number(critical)) y2=(number(critical)) {}
    }
}

/// A line with the area below it.
fn line(points: &[(f64, f64)]) -> Markup {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return html! {} };
    let mut path = String::with_capacity(points.len() * 12);
    for (at, (x, y)) in points.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
    }
    if points.len() == 1 {
        let _ = write!(path, "H{WIDTH}");
    }
    let end = if points.len() == 1 { WIDTH } else { last.0 };
    let area = format!("{path}V{HEIGHT}H{:.1}Z", first.0.min(end));
    PreEscaped(format!("<path class=\"area\" d=\"{area}\"/><path class=\"line\" d=\"{path}\"/>"))
}

/// A number as an attribute.
fn number(value: f64) -> String {
    format!("{value:.1}")
}

/// A share of the width as an attribute.
fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use context_graph_core::session::CurvePoint;

    use super::*;

    fn curve(values: &[f32]) -> Curve {
        let mut curve = Curve::default();
        curve.points.extend(values.iter().map(|ic| CurvePoint { seq: 1, at_ms: 1, ic: *ic }));
        curve
    }

    #[test]
    fn a_fall_is_seen_however_many_calls_there_are() {
        let mut values = vec![0.95; 20_000];
        values[7_777] = 0.1;
        assert!(lowest_by_column(&values, COLUMNS).contains(&0.1));
        let drawn = by_call(&curve(&values), "continuity").into_string();
        assert!(drawn.len() < 20_000 && drawn.contains(" 100.0"), "{}", drawn.len());
    }

    #[test]
    fn a_session_of_no_or_one_call_has_a_drawing() {
        for values in [&[][..], &[0.5][..]] {
            assert!(sparkline(&curve(values)).ends_with("</svg>"));
            assert!(by_call(&curve(values), "x").into_string().contains("<svg"));
        }
    }
}
