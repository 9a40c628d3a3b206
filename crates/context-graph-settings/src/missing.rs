//! Hooks for settings that a team shares: some machines may not have the program.
//!
//! A hook that cannot be started would give an error at every tool call, or block every call. So the command
//! first checks that the program exists. It is a shell line, because only a shell can check that.

use context_graph_events::EventName;

use crate::json::node::Node;
use crate::json::parse::parse;

/// The program's name in shared settings, which contain no machine's path.
const PROGRAM: &str = "context-graph";
const LOOK: &str = "command -v context-graph >/dev/null 2>&1 || ";
const RUN: &str = "; exec ";

/// The message for a person without the program. It must not contain a quote or a backslash.
const INSTALL_MESSAGE: &str = "This repository guards and records tool calls with context-graph, and there is no program of that name \
                    on the PATH. Work goes on without it. To install it: https://github.com/context-graph/context-graph";
const REFUSED: &str = "This repository requires context-graph, and there is no program of that name on the PATH: tool calls \
                       are blocked until it is installed: https://github.com/context-graph/context-graph";

/// What happens on a machine that does not have the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Work continues. At the start of a session a message says how to install it.
    GoOn,
    /// Tool calls are blocked; the reason says how to install it.
    Block,
}

impl Missing {
    /// The reply to a session's start if the program is missing: JSON without a single quote.
    pub fn install_reply() -> String {
        format!("{{\"systemMessage\":\"{INSTALL_MESSAGE}\"}}")
    }

    /// The shell line for an event.
    pub(crate) fn line(self, event: EventName, arguments: &[&str]) -> String {
        format!("{LOOK}{}{RUN}{PROGRAM} {}", self.otherwise(event), arguments.join(" "))
    }

    /// The fallback that runs instead of the program.
    fn otherwise(self, event: EventName) -> String {
        match (self, event) {
            (Self::GoOn, EventName::SessionStart) => {
                format!("{{ echo '{}'; exit 0; }}", Self::install_reply())
            }
            (Self::Block, EventName::PreToolUse) => format!("{{ echo '{REFUSED}' >&2; exit 2; }}"),
            _ => "exit 0".to_owned(),
        }
    }
}

/// What the settings in a text say for machines without the program; `None` if they are for one machine only.
pub fn missing_in(text: &str) -> Option<Missing> {
    let root = parse(text).ok()?;
    let groups = root.get("hooks")?.get(EventName::PreToolUse.as_str())?.elements().iter();
    let entries = groups.flat_map(|group| group.get("hooks").map_or(&[][..], Node::elements));
    missing_in_lines(entries.filter_map(|entry| entry.get("command")?.as_text()))
}

/// The same, for the command lines of the guard.
pub(crate) fn missing_in_lines<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<Missing> {
    lines.find_map(|line| {
        let rest = line.strip_prefix(LOOK)?;
        let is_of = |missing: &Missing| rest.starts_with(&missing.otherwise(EventName::PreToolUse));
        [Missing::GoOn, Missing::Block].into_iter().find(is_of)
    })
}

/// The part of a line that runs the program, if the rest is exactly our check; else the whole line.
pub(crate) fn behind_check(line: &str) -> &str {
    let behind = |missing: Missing, event| {
        line.strip_prefix(LOOK)?.strip_prefix(missing.otherwise(event).as_str())?.strip_prefix(RUN)
    };
    let checks = [
        (Missing::GoOn, EventName::SessionStart),
        (Missing::Block, EventName::PreToolUse),
        (Missing::GoOn, EventName::Stop),
    ];
    checks.into_iter().find_map(|(missing, event)| behind(missing, event)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ours_is_known_and_one_that_does_more_is_not() {
        for missing in [Missing::GoOn, Missing::Block] {
            for event in EventName::ALL {
                let line = missing.line(event, &["hooks", "event", "--stdin"]);
                assert_eq!(behind_check(&line), "context-graph hooks event --stdin", "{line}");
            }
        }
        let more = format!("{LOOK}rm -rf /{RUN}context-graph hooks event --stdin");
        assert_eq!(behind_check(&more), more);
    }
}
