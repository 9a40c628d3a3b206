//! The number of calls per interval.

use maud::{Markup, html};

use super::percent;
use crate::records::Activity;
use crate::time;

const HEIGHT: f64 = 72.0;

/// Calls per interval: successful, failed, denied.
pub(crate) fn activity(activity: &Activity) -> Markup {
    let most = activity.bins.iter().map(|bin| bin.calls).max().unwrap_or(0).max(1) as f64;
    let count = activity.bins.len().max(1) as f64;
    let total: u64 = activity.bins.iter().map(|bin| bin.calls).sum();
    html! {
        svg.activity role="img" height="96" width="100%"
            aria-label={ "Calls of the last 24 hours: " (total) " in all" } {
            line.axis x1="0" x2="100%" y1="72.5" y2="72.5" {}
            @for (at, bin) in activity.bins.iter().enumerate() {
                @let height = |value: u64| value as f64 / most * (HEIGHT - 4.0);
                @let (all, bad, denied) = (height(bin.calls), height(bin.failures), height(bin.denied));
                @let x = percent((at as f64 + 0.12) / count);
                @let width = percent(0.76 / count);
                @if bin.calls > 0 {
                    g {
                        title { (time::minute(activity.since_ms + at as i64 * activity.step_ms)) ": "
                            (bin.calls) " calls, " (bin.failures) " failed, " (bin.denied) " denied" }
                        rect.all x=(x) width=(width) y=(super::number(HEIGHT - all)) height=(super::number(all)) rx="1.5" {}
                        rect.failure x=(x) width=(width) y=(super::number(HEIGHT - bad)) height=(super::number(bad)) rx="1.5" {}
                        rect.denied x=(x) width=(width) y=(super::number(HEIGHT - bad - denied)) height=(super::number(denied)) rx="1.5" {}
                    }
                }
            }
            @for tick in 0..=6_i64 {
                @let share = tick as f64 / 6.0;
                @let moment = activity.since_ms + (share * activity.bins.len() as f64 * activity.step_ms as f64) as i64;
                text.tick x=(percent(share)) y="90"
                    text-anchor=(if tick == 0 { "start" } else if tick == 6 { "end" } else { "middle" }) {
                    (time::minute(moment))
                }
            }
        }
    }
}
