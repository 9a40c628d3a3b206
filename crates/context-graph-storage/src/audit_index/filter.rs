//! Which rows are asked for. Names are compared once per session and not once per row.

use context_graph_core::audit::Outcome;

use super::table::{NONE, Row, Table, field};

/// What is asked for. Of several values of one kind any will do; several kinds must all fit; an empty kind fits all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Tools; `mcp__github__*` stands for all that begin so.
    pub tools: Vec<String>,
    /// Events: of a call, any of those it is made of.
    pub events: Vec<String>,
    /// Subagents by their kind or id, or `main`.
    pub agents: Vec<String>,
    /// Verdicts.
    pub verdicts: Vec<String>,
    /// Outcomes.
    pub outcomes: Vec<Outcome>,
    /// Rules, or the beginning of one that ends in `*`, or the group before a slash.
    pub rules: Vec<String>,
    /// Parts of paths, or patterns with `*`.
    pub paths: Vec<String>,
    /// Not older than this.
    pub since_ms: Option<i64>,
    /// Not newer than this.
    pub until_ms: Option<i64>,
}

/// A filter made ready for one table.
#[derive(Debug)]
pub struct Matcher<'f> {
    filter: &'f Filter,
    tools: Option<Vec<u32>>,
    events: Option<Vec<u32>>,
    agents: Option<Vec<u32>>,
    /// Whether the main thread is asked for.
    main: bool,
    verdicts: Option<Vec<u32>>,
    rules: Option<Vec<u32>>,
    paths: Option<Vec<u32>>,
}

impl Filter {
    /// Makes it ready for a table; none where no row of it can fit.
    pub fn on(&self, table: &Table) -> Option<Matcher<'_>> {
        let main = self.agents.iter().any(|agent| agent == "main");
        let named = |wanted: &[String], fits: fn(&str, &str) -> bool| {
            (!wanted.is_empty()).then(|| {
                let names = table.names().filter(|(_, name)| wanted.iter().any(|wanted| fits(wanted, name)));
                names.map(|(number, _)| number).collect::<Vec<u32>>()
            })
        };
        let matcher = Matcher {
            filter: self,
            tools: named(&self.tools, name_fits),
            events: named(&self.events, same),
            agents: named(&self.agents, same),
            main,
            verdicts: named(&self.verdicts, same),
            rules: named(&self.rules, rule_fits),
            paths: (!self.paths.is_empty()).then(|| {
                let paths =
                    table.paths().filter(|(_, path)| self.paths.iter().any(|part| path_fits(part, path)));
                paths.map(|(number, _)| number).collect()
            }),
        };
        let hopeless = |found: &Option<Vec<u32>>| found.as_ref().is_some_and(Vec::is_empty);
        let none = [&matcher.tools, &matcher.events, &matcher.verdicts, &matcher.rules, &matcher.paths];
        let no_agent = hopeless(&matcher.agents) && !main;
        (!none.into_iter().any(hopeless) && !no_agent).then_some(matcher)
    }
}

impl Matcher<'_> {
    /// Whether a row of the table fits.
    pub fn matches(&self, row: Row<'_>) -> bool {
        let filter = self.filter;
        if filter.since_ms.is_some() || filter.until_ms.is_some() {
            let at_ms = row.at_ms();
            if filter.since_ms.is_some_and(|since| at_ms < since)
                || filter.until_ms.is_some_and(|until| at_ms > until)
            {
                return false;
            }
        }
        let names = |wanted: &Option<Vec<u32>>, field: usize| {
            wanted.as_ref().is_none_or(|wanted| wanted.contains(&row.name_number(field)))
        };
        if self.tools.is_some() && !(row.is_call() && names(&self.tools, field::NAME)) {
            return false;
        }
        if !names(&self.verdicts, field::VERDICT) {
            return false;
        }
        if !filter.outcomes.is_empty()
            && !row.outcome().is_some_and(|outcome| filter.outcomes.contains(&outcome))
        {
            return false;
        }
        if let Some(wanted) = &self.agents {
            let own = [row.name_number(field::AGENT_ID), row.name_number(field::AGENT_KIND)];
            let is_main = own[0] == NONE;
            if !(own.iter().any(|number| wanted.contains(number)) || self.main && is_main) {
                return false;
            }
        }
        self.events.as_ref().is_none_or(|wanted| row.event_numbers().any(|number| wanted.contains(&number)))
            && self
                .rules
                .as_ref()
                .is_none_or(|wanted| row.rule_numbers().any(|number| wanted.contains(&number)))
            && self
                .paths
                .as_ref()
                .is_none_or(|wanted| row.path_numbers().any(|number| wanted.contains(&number)))
    }
}

fn same(wanted: &str, name: &str) -> bool {
    wanted == name
}

fn name_fits(wanted: &str, name: &str) -> bool {
    wanted.strip_suffix('*').map_or(wanted == name, |beginning| name.starts_with(beginning))
}

fn rule_fits(wanted: &str, name: &str) -> bool {
    name_fits(wanted, name) || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))
}

/// A pattern fits the whole path or its end after a slash; anything else is looked for anywhere in it.
fn path_fits(wanted: &str, path: &str) -> bool {
    if !wanted.contains('*') {
        return path.contains(wanted);
    }
    let ends = std::iter::once(path).chain(path.match_indices('/').map(|(at, _)| &path[at + 1..]));
    ends.into_iter().any(|end| glob(wanted, end))
}

/// `*` stands for anything, slashes included.
fn glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_by_a_part_or_by_a_pattern() {
        for (wanted, path, fits) in [
            ("src", "/w/src/main.rs", true),
            ("main.rs", "/w/src/main.rs", true),
            ("*.rs", "/w/src/main.rs", true),
            ("src/*.rs", "/w/src/a/main.rs", true),
            ("src/*.py", "/w/src/main.rs", false),
            ("*.r", "/w/src/main.rs", false),
            ("w*main*", "/w/src/main.rs", true),
            ("docs", "/w/src/main.rs", false),
        ] {
            assert_eq!(path_fits(wanted, path), fits, "{wanted} {path}");
        }
    }

    #[test]
    fn names_fit_whole_by_their_beginning_and_rules_by_their_group() {
        assert!(name_fits("Bash", "Bash") && !name_fits("Bas", "Bash"));
        assert!(name_fits("mcp__git*", "mcp__github__x"));
        assert!(
            rule_fits("guard", "guard/rm")
                && rule_fits("guard/r*", "guard/rm")
                && !rule_fits("guar", "guard/rm")
        );
    }
}
