//! The SQL of a query for entries: a filter as conditions, with their parameters.

use std::fmt::Write as _;

use context_graph_core::audit::CALL_EVENTS;
use context_graph_events::agents::Agent;
use rusqlite::types::Value;

use super::{Filter, Scope};

/// An SQL query with its parameters.
pub(super) struct Asked {
    pub(super) sql: String,
    pub(super) given: Vec<Value>,
}

impl Asked {
    /// `None` if nothing of this kind can match.
    pub(super) fn new(filter: &Filter, scope: &Scope<'_>, is_call: bool, limit: usize) -> Option<Self> {
        if !is_call && (!filter.tools.is_empty() || !filter.outcomes.is_empty()) {
            return None;
        }
        let of_calls = |event: &String| CALL_EVENTS.contains(&event.as_str());
        if is_call && !filter.events.is_empty() && !filter.events.iter().any(of_calls) {
            return None;
        }
        let columns = if is_call {
            "x.place, x.last_seq, x.tool, x.outcome, x.evidence, x.duration_ms, x.between_ms, x.permission_asked,
             x.deferrals"
        } else {
            "0, x.seq, x.event, NULL, NULL, NULL, NULL, 0, 0"
        };
        let (table, own) = if is_call { ("calls", "TRUE") } else { ("events", "x.call IS NULL") };
        // Named sessions have few rows: these are read and sorted. Otherwise the newest are read first.
        let by_time = if matches!(scope, Scope::AllBut(_) | Scope::Newest(_)) { "" } else { "+" };
        let mut asked = Self {
            sql: format!(
                "SELECT x.session, s.session_id, x.seq, x.at_ms, x.agent_id, x.agent_type, x.verdict, x.subject,
                    x.tool_use_id, {columns}
                 FROM {table} x CROSS JOIN sessions s WHERE s.number = x.session AND {own}"
            ),
            given: Vec::new(),
        };
        asked.place(scope, is_call);
        asked.conditions(filter, is_call, matches!(scope, Scope::Newest(_)));
        let _ = write!(
            asked.sql,
            " ORDER BY {by_time}x.at_ms DESC, x.session DESC, x.seq DESC LIMIT {}",
            i64::try_from(limit).unwrap_or(-1)
        );
        Some(asked)
    }

    fn place(&mut self, scope: &Scope<'_>, is_call: bool) {
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let _ = match scope {
            Scope::AllBut([]) | Scope::Newest([]) => Ok(()),
            Scope::AllBut(numbers) | Scope::Newest(numbers) => {
                write!(self.sql, " AND x.session NOT IN ({})", list(numbers))
            }
            Scope::Sessions(numbers) => write!(self.sql, " AND x.session IN ({})", list(numbers)),
            Scope::Records(session, seqs) => {
                let seqs = seqs.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                if is_call {
                    write!(
                        self.sql,
                        " AND x.session = {session} AND x.place = 0 AND x.seq IN (SELECT call FROM events
                        WHERE session = {session} AND seq IN ({seqs}))"
                    )
                } else {
                    write!(self.sql, " AND x.session = {session} AND x.seq IN ({seqs})")
                }
            }
        };
    }

    fn conditions(&mut self, filter: &Filter, is_call: bool, is_among_newest: bool) {
        let (first, last) = filter.seqs.unzip();
        let number = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
        for (condition, moment) in [
            (" AND x.at_ms >= ?", filter.since_ms),
            (" AND x.at_ms <= ?", filter.until_ms),
            (" AND x.seq >= ?", first.map(number)),
            (" AND x.seq <= ?", last.map(number)),
        ] {
            if let Some(moment) = moment {
                self.sql.push_str(condition);
                self.given.push(moment.into());
            }
        }
        self.of_clients(&filter.clients);
        if let Some(project) = &filter.project {
            self.sql.push_str(" AND s.project = ?");
            self.given.push(project.clone().into());
        }
        let is_one_of =
            |column: &'static str| move |wanted: &str| (format!("{column} = ?"), wanted.to_owned());
        self.any(&filter.tools, |tool| ("x.tool GLOB ?".to_owned(), in_any_case(&name_pattern(tool))));
        let place = if is_call { "x.place" } else { "0" };
        let own = format!("y WHERE y.session = x.session AND y.seq = x.seq AND y.place = {place}");
        if is_call && is_among_newest {
            self.exists(&format!("decisions {own}"), &filter.verdicts, is_one_of("y.verdict"));
        } else if is_call {
            self.decided(&filter.verdicts);
        } else {
            self.any(&filter.verdicts, is_one_of("x.verdict"));
        }
        let outcomes: Vec<String> =
            filter.outcomes.iter().map(|outcome| outcome.as_str().to_owned()).collect();
        self.any(&outcomes, is_one_of("x.outcome"));
        self.any(&filter.agents, |agent| {
            let main = if agent == "main" { "x.agent_id IS NULL OR " } else { "" };
            (format!("({main}? IN (x.agent_id, x.agent_type))"), agent.to_owned())
        });
        if is_call {
            self.exists(
                "events y WHERE y.session = x.session AND y.seq BETWEEN x.seq AND x.last_seq AND y.call = x.seq",
                &filter.events,
                is_one_of("y.event"),
            );
        } else {
            self.any(&filter.events, is_one_of("x.event"));
            for event in &filter.without_events {
                self.sql.push_str(" AND x.event <> ?");
                self.given.push(event.clone().into());
            }
        }
        self.exists(&format!("decisions {own}"), &filter.rules, |rule| {
            let group = format!("{}/*", literal(rule));
            (format!("(y.rule GLOB ? OR y.rule GLOB '{}')", group.replace('\'', "''")), name_pattern(rule))
        });
        self.exists(&format!("files {own}"), &filter.paths, |path| {
            if path.contains('*') {
                let pattern = literal(path).replace("[*]", "*");
                let end = format!("*/{pattern}").replace('\'', "''");
                (format!("(y.path GLOB ? OR y.path GLOB '{end}')"), pattern)
            } else {
                ("instr(y.path, ?) > 0".to_owned(), path.to_owned())
            }
        });
    }

    /// Calls with one of these decisions, made before they ran or after. The verdict in a call's own row is
    /// only from before. There are far fewer decisions than calls, so they are read once, not call by call.
    fn decided(&mut self, verdicts: &[String]) {
        if verdicts.is_empty() {
            return;
        }
        let _ = write!(
            self.sql,
            " AND (x.session, x.seq, x.place) IN (SELECT session, seq, place FROM decisions WHERE verdict IN ({}))",
            vec!["?"; verdicts.len()].join(", ")
        );
        self.given.extend(verdicts.iter().cloned().map(Value::from));
    }

    /// Sessions of these clients. Ids of all but Claude Code's begin with the client's name.
    fn of_clients(&mut self, clients: &[Agent]) {
        if clients.is_empty() {
            return;
        }
        let begins = |agent: &Agent| format!("s.session_id GLOB '{agent}-*'");
        let conditions = clients.iter().map(|client| match client {
            Agent::ClaudeCode => {
                let others = Agent::ALL.iter().filter(|agent| **agent != Agent::ClaudeCode).map(begins);
                format!("NOT ({})", others.collect::<Vec<_>>().join(" OR "))
            }
            other => begins(other),
        });
        let _ = write!(self.sql, " AND ({})", conditions.collect::<Vec<_>>().join(" OR "));
    }

    fn any(&mut self, wanted: &[String], condition: impl Fn(&str) -> (String, String)) {
        if wanted.is_empty() {
            return;
        }
        let (conditions, given): (Vec<String>, Vec<String>) = wanted.iter().map(|one| condition(one)).unzip();
        let _ = write!(self.sql, " AND ({})", conditions.join(" OR "));
        self.given.extend(given.into_iter().map(Value::from));
    }

    fn exists(&mut self, from: &str, wanted: &[String], condition: impl Fn(&str) -> (String, String)) {
        if wanted.is_empty() {
            return;
        }
        let _ = write!(self.sql, " AND EXISTS (SELECT 1 FROM {from}");
        self.any(wanted, condition);
        self.sql.push(')');
    }
}

/// A name, or a prefix that ends in `*`.
fn name_pattern(name: &str) -> String {
    name.strip_suffix('*').map_or_else(|| literal(name), |beginning| format!("{}*", literal(beginning)))
}

/// A pattern that ignores case.
fn in_any_case(pattern: &str) -> String {
    let mut wide = String::with_capacity(4 * pattern.len());
    for letter in pattern.chars() {
        if letter.is_ascii_alphabetic() {
            let (small, capital) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            let _ = write!(wide, "[{small}{capital}]");
        } else {
            wide.push(letter);
        }
    }
    wide
}

/// A pattern that matches exactly this text.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[') {
            let _ = write!(pattern, "[{letter}]");
        } else {
            pattern.push(letter);
        }
    }
    pattern
}
