//! Sessions, axes, rules and files.

use context_graph_core::audit::{Outcome, in_words};
use context_graph_core::gwt::ic_monitor::{IC_WARNING_THRESHOLD, ICLevel};
use context_graph_core::session::EDITORS;
use context_graph_events::agents::Agent;
use context_graph_web::{
    Activity, Axis, AxisCall, AxisEvent, AxisTurn, Bin, FileLine, HookCost, Injection, Page, QueryResult,
    RuleLine, Running, Said, SessionLine, SessionsAsked,
};

use super::conditions::{Conditions, literal};
use super::{Found, TeamRecords};
use crate::db::{Row, Value};
use crate::given;

/// Calls are counted one by one up to here; more are counted by session.
const MOST_CALLS: i64 = 20_000;
/// Rules are counted in this many of the newest calls with each verdict.
const RULE_CALLS: i64 = 2000;
/// A session without events for this long is over.
const RUNS_FOR_MS: i64 = 3_600_000;
/// Hooks are counted in this many of the newest sessions.
const COST_SESSIONS: i64 = 20;
/// At most this many of their hooks.
const COST_HOOKS: i64 = 10_000;
/// A session's page shows this many of its first calls, events and turns.
const MOST_ON_AXIS: i64 = 10_000;
/// Files are counted in this many of the newest calls.
const FILE_CALLS: i64 = 2000;

const LINE: &str = "s.session_id, s.machine, s.title, s.project, s.model, s.lifecycle, s.ended, s.previous_id, s.started_ms,
    s.updated_ms, s.ended_ms, s.continuity, s.prompts, s.calls, s.failures, s.stops, s.files, s.records, m.name";
const FROM: &str = "FROM sessions s JOIN members m ON m.tenant = s.tenant AND m.member = s.member";

fn line(row: &Row, now_ms: i64) -> SessionLine {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a continuity was a smaller number before it was stored"
    )]
    let continuity = row.real(11) as f32;
    let name = |id: &str| format!("{id}@{}", row.int(1));
    let some = |at: usize| Some(row.text(at)).filter(|text| !text.is_empty()).map(Said::from);
    // The member's name comes first, because it matters most on a team's page.
    let title = format!(
        "{}: {}",
        row.text(18),
        if row.text(2).is_empty() { "(no text shared)" } else { row.text(2) }
    );
    SessionLine {
        id: name(row.text(0)),
        title: title.into(),
        project: row.text(3).into(),
        branch: None,
        model: some(4),
        state: row.text(5).to_owned(),
        is_running: row.some_int(10).is_none() && now_ms.saturating_sub(row.int(9)) < RUNS_FOR_MS,
        ended: some(6),
        started_ms: row.int(8),
        updated_ms: row.int(9),
        duration_ms: u64::try_from(row.int(9).saturating_sub(row.int(8))).unwrap_or_default(),
        prompts: row.count(12),
        calls: row.count(13),
        failures: row.count(14),
        denied: row.count(15),
        files: row.count(16),
        continuity,
        level: ICLevel::from_value(continuity),
        previous: row.some_text(7).map(name),
        records: row.count(17),
    }
}

pub(super) fn session(records: &TeamRecords, found: &Found) -> QueryResult<SessionLine> {
    let sql = format!("SELECT {LINE} {FROM} WHERE s.number = $1");
    let row = records.ask(|connection| connection.one(&sql, given![found.number]))?;
    let missing = || context_graph_web::Trouble::NotThere(format!("no session `{}`", found.name()));
    row.map(|row| line(&row, (records.now_ms)())).ok_or_else(missing)
}

pub(super) fn sessions(records: &TeamRecords, asked: &SessionsAsked) -> QueryResult<Page<SessionLine>> {
    let now_ms = (records.now_ms)();
    let mut conditions = Conditions::visible(records, "s");
    let mut add = |condition: &str, value: Value| conditions.and(condition, value);
    if !asked.project.is_empty() {
        add("s.project = $?", asked.project.as_str().into());
    }
    if !asked.agent.is_empty() {
        let wanted = asked.agent.trim().to_lowercase();
        // Ids of other agents' sessions begin with the agent's name.
        if let Some(client) = Agent::parse(&wanted).filter(|agent| *agent != Agent::ClaudeCode) {
            add("s.session_id LIKE $?", format!("{client}-%").into());
        } else if Agent::parse(&wanted).is_some() {
            for other in Agent::ALL.into_iter().filter(|agent| *agent != Agent::ClaudeCode) {
                add("s.session_id NOT LIKE $?", format!("{other}-%").into());
            }
        } else {
            let holds = format!("%{}%", literal(&wanted));
            add(
                "(lower(s.model) LIKE $? ESCAPE '!' OR EXISTS (SELECT 1 FROM calls c WHERE c.tenant = s.tenant
                    AND c.session = s.number AND c.born = s.born AND lower(c.agent_type) LIKE $? ESCAPE '!'))",
                holds.into(),
            );
        }
    }
    if !asked.branch.is_empty() {
        // Branches are only in transcripts, which stay on their machines.
        add("1 = $?", 0_i64.into());
    }
    match asked.state.as_str() {
        "running" => add("s.ended_ms IS NULL AND s.updated_ms > $?", (now_ms - RUNS_FOR_MS).into()),
        "ended" => add("(s.ended_ms IS NOT NULL OR s.updated_ms <= $?)", (now_ms - RUNS_FOR_MS).into()),
        "low" => add("s.continuity < $?", IC_WARNING_THRESHOLD.into()),
        "denied" => add("s.stops > $?", 0_i64.into()),
        _ => {}
    }
    if let Some(since_ms) = asked.since_ms {
        add("s.updated_ms >= $?", since_ms.into());
    }
    if let Some((before_ms, name)) = &asked.before {
        add("s.updated_ms <= $?", (*before_ms).into());
        let (id, machine) = name.rsplit_once('@').unwrap_or((name, ""));
        let machine = machine.parse::<i64>().unwrap_or_default();
        // For sessions with the same time, only those that come after the last one shown.
        conditions.and_each(
            "(s.updated_ms < $? OR s.number < (SELECT l.number FROM sessions l WHERE l.session_id = $? AND l.machine = $?))",
            [Value::from(*before_ms), id.into(), machine.into()],
        );
    }
    let limit = i64::try_from(asked.limit).unwrap_or(i64::MAX - 1) + 1;
    let most = conditions.name(limit.into());
    let sql = format!(
        "SELECT {LINE} {FROM} WHERE {} ORDER BY s.updated_ms DESC, s.number DESC LIMIT {most}",
        conditions.sql
    );
    let rows = records.ask(|connection| connection.query(&sql, &conditions.given))?;
    let has_more = rows.len() > asked.limit;
    Ok(Page { items: rows.iter().take(asked.limit).map(|row| line(row, now_ms)).collect(), has_more })
}

pub(super) fn running(records: &TeamRecords) -> QueryResult<Vec<Running>> {
    let asked = SessionsAsked { state: "running".to_owned(), limit: 50, ..SessionsAsked::default() };
    let lines = sessions(records, &asked)?.items;
    Ok(lines.into_iter().map(|line| Running { line, last: None, waits_for: None, looping: None }).collect())
}

pub(super) fn axis(records: &TeamRecords, found: &Found) -> QueryResult<Axis> {
    let key = given![records.principal.tenant, found.number, found.born, MOST_ON_AXIS];
    let calls = records.ask(|connection| {
        connection.query(
            "SELECT seq, at_ms, ended_ms, tool, agent_id, agent_type, verdict, outcome, subject FROM calls
             WHERE tenant = $1 AND session = $2 AND born = $3 ORDER BY seq, place LIMIT $4",
            key,
        )
    })?;
    let events = records.ask(|connection| {
        connection.query(
            "SELECT seq, at_ms, event, verdict, subject FROM events
             WHERE tenant = $1 AND session = $2 AND born = $3 AND call IS NULL ORDER BY seq LIMIT $4",
            key,
        )
    })?;
    let turns = records.ask(|connection| {
        connection.query(
            "SELECT seq, at_ms, ended_ms, prompt FROM turns WHERE tenant = $1 AND session = $2 AND born = $3 ORDER BY seq LIMIT $4",
            key,
        )
    })?;
    let verdict = |row: &Row, at| row.some_text(at).map(str::to_owned);
    Ok(Axis {
        calls: calls
            .iter()
            .map(|row| AxisCall {
                seq: row.count(0),
                at_ms: row.int(1),
                ended_ms: row.some_int(2),
                tool: row.text(3).into(),
                agent: row.some_text(4).map(|id| (id.to_owned(), Said::from(row.some_text(5).unwrap_or(id)))),
                outcome: Outcome::parse(row.text(7)).unwrap_or(Outcome::Unanswered),
                verdict: verdict(row, 6),
                subject: row.text(8).into(),
            })
            .collect(),
        events: events
            .iter()
            .map(|row| AxisEvent {
                seq: row.count(0),
                at_ms: row.int(1),
                event: row.text(2).into(),
                verdict: verdict(row, 3),
                subject: in_words(row.text(2), row.text(4)).into(),
            })
            .collect(),
        turns: turns
            .iter()
            .map(|row| AxisTurn {
                seq: row.count(0),
                at_ms: row.int(1),
                ended_ms: row.some_int(2),
                prompt: row.text(3).into(),
            })
            .collect(),
    })
}

/// Counts calls in intervals: each at its own time, or, if there are too many, all calls of a session at its
/// last event.
pub(super) fn activity(
    records: &TeamRecords,
    since_ms: i64,
    step_ms: i64,
    bins: usize,
) -> QueryResult<Activity> {
    let mut given = records.whose();
    given.extend([since_ms, step_ms.max(1), MOST_CALLS].map(Value::from));
    // The remainder is subtracted first, because some engines give a decimal when they divide integers.
    let bin = |at: &str| format!("CAST((({at} - $3) - ({at} - $3) % $4) / $4 AS BIGINT)");
    let sql = format!(
        "SELECT {}, count(*), CAST(sum(CASE WHEN x.outcome = 'failure' THEN 1 ELSE 0 END) AS BIGINT),
            CAST(sum(CASE WHEN x.outcome = 'denied' THEN 1 ELSE 0 END) AS BIGINT)
         FROM (SELECT c.at_ms, c.outcome FROM calls c WHERE {} AND c.at_ms >= $3 ORDER BY c.at_ms DESC LIMIT $5) x GROUP BY 1",
        bin("x.at_ms"),
        records.visible("c")
    );
    let mut rows = records.ask(|connection| connection.query(&sql, &given))?;
    if rows.iter().map(|row| row.int(1)).sum::<i64>() >= MOST_CALLS {
        given.truncate(4);
        let sql = format!(
            "SELECT {}, CAST(sum(s.calls) AS BIGINT), CAST(sum(s.failures) AS BIGINT), CAST(sum(s.stops) AS BIGINT)
             FROM sessions s WHERE {} AND s.updated_ms >= $3 GROUP BY 1",
            bin("s.updated_ms"),
            records.visible("s")
        );
        rows = records.ask(|connection| connection.query(&sql, &given))?;
    }
    let mut all = vec![Bin::default(); bins];
    for row in rows {
        if let Some(bin) = usize::try_from(row.int(0)).ok().and_then(|at| all.get_mut(at)) {
            *bin = Bin { calls: row.count(1), failures: row.count(2), denied: row.count(3) };
        }
    }
    Ok(Activity { since_ms, step_ms, bins: all })
}

pub(super) fn injections(records: &TeamRecords, limit: usize) -> QueryResult<Vec<Injection>> {
    let mut given = records.whose();
    given.push(i64::try_from(limit).unwrap_or(100).into());
    let sql = format!(
        "SELECT s.session_id, s.machine, i.seq, e.at_ms, i.kind, i.content, s.number, s.member
         FROM (SELECT s.number, s.member, s.tenant, s.born, s.session_id, s.machine FROM sessions s WHERE {} ORDER BY s.updated_ms DESC LIMIT 20) s
         JOIN injections i ON i.tenant = s.tenant AND i.session = s.number AND i.born = s.born
         JOIN events e ON e.tenant = i.tenant AND e.session = i.session AND e.born = i.born AND e.seq = i.seq
         ORDER BY e.at_ms DESC LIMIT $3",
        records.visible("s")
    );
    let rows = records.ask(|connection| connection.query_by_index(&sql, &given))?;
    records.note_looks(rows.iter().map(|row| (row.int(6), row.int(7))))?;
    let told = |row: &Row| Injection {
        session_id: format!("{}@{}", row.text(0), row.int(1)),
        seq: row.count(2),
        at_ms: row.int(3),
        kind: match row.text(4) {
            "previous_session" => "previous session",
            "input" => "input of a call",
            _ => "context of a rule",
        },
        text: row.text(5).into(),
    };
    Ok(rows.iter().map(told).collect())
}

pub(super) fn rules(records: &TeamRecords, since_ms: i64) -> QueryResult<Vec<RuleLine>> {
    let mut given = records.whose();
    given.extend([since_ms, RULE_CALLS].map(Value::from));
    let newest = ["halt", "deny", "block", "ask"].map(|verdict| {
        format!(
            "SELECT * FROM (SELECT c.tenant, c.session, c.born, c.seq, c.place, c.at_ms, c.verdict FROM calls c
             WHERE {} AND c.verdict = '{verdict}' AND c.at_ms >= $3 ORDER BY c.at_ms DESC LIMIT $4) v_{verdict}",
            records.visible("c")
        )
    });
    let sql = format!(
        "SELECT coalesce(d.rule, ''), x.verdict, count(*), count(DISTINCT x.session), max(x.at_ms)
         FROM ({}) x LEFT JOIN decisions d
            ON d.tenant = x.tenant AND d.session = x.session AND d.born = x.born AND d.seq = x.seq AND d.place = x.place
                AND d.counted = 1
         GROUP BY 1, 2 ORDER BY 3 DESC, 1 LIMIT 200",
        newest.join(" UNION ALL ")
    );
    let rows = records.ask(|connection| connection.query_by_index(&sql, &given))?;
    let told = |row: &Row| RuleLine {
        rule: row.text(0).to_owned(),
        verdict: row.text(1).to_owned(),
        count: row.count(2),
        sessions: row.count(3),
        last_ms: row.int(4),
    };
    Ok(rows.iter().map(told).collect())
}

pub(super) fn files(records: &TeamRecords, since_ms: i64) -> QueryResult<Vec<FileLine>> {
    let editors = EDITORS.map(|tool| format!("'{tool}'")).join(", ");
    let mut given = records.whose();
    given.extend([since_ms, FILE_CALLS].map(Value::from));
    let sql = format!(
        "SELECT f.path, count(*), CAST(sum(x.edits) AS BIGINT), count(DISTINCT x.session), max(x.at_ms)
         FROM (SELECT c.tenant, c.session, c.born, c.seq, c.place, c.at_ms, CASE WHEN c.tool IN ({editors}) THEN 1 ELSE 0 END AS edits
               FROM calls c WHERE {} AND c.at_ms >= $3 ORDER BY c.at_ms DESC LIMIT $4) x
         JOIN files f ON f.tenant = x.tenant AND f.session = x.session AND f.born = x.born AND f.seq = x.seq AND f.place = x.place
         GROUP BY f.path ORDER BY 2 DESC, 1 LIMIT 500",
        records.visible("c")
    );
    let rows = records.ask(|connection| connection.query_by_index(&sql, &given))?;
    let told = |row: &Row| FileLine {
        path: row.text(0).into(),
        calls: row.count(1),
        edits: row.count(2),
        sessions: row.count(3),
        last_ms: row.int(4),
    };
    Ok(rows.iter().map(told).collect())
}

pub(super) fn hook_costs(records: &TeamRecords) -> QueryResult<Vec<HookCost>> {
    let mut given = records.whose();
    given.extend([COST_SESSIONS, COST_HOOKS].map(Value::from));
    let sql = format!(
        "SELECT e.event, e.hook_us
         FROM (SELECT s.number, s.tenant, s.born FROM sessions s WHERE {} ORDER BY s.updated_ms DESC LIMIT $3) s
         JOIN events e ON e.tenant = s.tenant AND e.session = s.number AND e.born = s.born WHERE e.hook_us > 0 LIMIT $4",
        records.visible("s")
    );
    let mut by_event: std::collections::BTreeMap<String, Vec<u64>> = std::collections::BTreeMap::new();
    for row in records.ask(|connection| connection.query_by_index(&sql, &given))? {
        by_event.entry(row.text(0).to_owned()).or_default().push(row.count(1));
    }
    let cost = |(event, mut took): (String, Vec<u64>)| {
        took.sort_unstable();
        let at =
            |share: usize| took.get(took.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
        HookCost {
            event: event.into(),
            runs: took.len() as u64,
            p50_us: at(50),
            p95_us: at(95),
            max_us: at(100),
        }
    };
    let mut costs: Vec<HookCost> = by_event.into_iter().map(cost).collect();
    costs.sort_by_key(|cost| std::cmp::Reverse(cost.runs));
    Ok(costs)
}
