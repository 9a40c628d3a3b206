//! The part of the page Health about the team's records: what was refused, who was turned away, who looked at
//! sessions and who changed members.

use context_graph_web::{Grade, HealthCheck, QueryResult};

use super::TeamRecords;
use crate::aside::MORE;
use crate::db::Row;
use crate::manage::FORGOTTEN;
use crate::members::Role;
use crate::{given, manage};

fn warning(what: String, fix: Option<&str>) -> HealthCheck {
    HealthCheck {
        grade: Grade::Warning,
        check: "record".to_owned(),
        what: what.into(),
        fix: fix.map(Into::into),
    }
}

/// Recently refused requests, for everybody who may see them, and who looked at whose sessions, for admins.
pub(super) fn checks(records: &TeamRecords) -> QueryResult<Vec<HealthCheck>> {
    let sql = format!(
        "SELECT m.name, c.name, r.session_id, r.why, r.records, r.has FROM refused r
         JOIN members m ON m.tenant = r.tenant AND m.member = r.member JOIN machines c ON c.machine = r.machine
         WHERE {} ORDER BY r.at_ms DESC LIMIT 50",
        records.visible("r")
    );
    let mut found: Vec<HealthCheck> = Vec::new();
    for row in records.ask(|connection| connection.query(&sql, &records.whose()))? {
        let [member, machine, session, why] = [0, 1, 2, 3].map(|at| row.text(at));
        if why == MORE {
            let more = row.int(5);
            found.push(warning(format!("{member} on {machine}: {more} more requests were refused"), None));
            continue;
        }
        let asked = format!("{member} asked for session {session} on {machine}: {why}");
        // A request without a head was not a push.
        if row.int(4) == 0 {
            found.push(warning(asked, None));
            continue;
        }
        let what = format!(
            "{member} on {machine}: session {session} was refused ({why}): it led to record {}, and {} are here",
            row.int(4),
            row.int(5)
        );
        let fix = "`context-graph audit verify --team` on that machine says what was changed there";
        found.push(warning(what, Some(fix)));
    }
    if found.is_empty() {
        let what = "every push continued the stored records".into();
        found.push(HealthCheck { grade: Grade::Ok, check: "record".to_owned(), what, fix: None });
    }
    if records.principal.role == Role::Admin {
        let looks = records.ask(|connection| {
            connection.query(
                "SELECT m.name, o.name, s.session_id FROM looks l
                 JOIN members m ON m.tenant = l.tenant AND m.member = l.member
                 JOIN members o ON o.tenant = l.tenant AND o.member = l.owner
                 LEFT JOIN sessions s ON s.number = l.session
                 WHERE l.tenant = $1 ORDER BY l.at_ms DESC LIMIT 50",
                given![records.principal.tenant],
            )
        })?;
        found.extend(turned_away(records)?);
        found.extend(changes(records)?);
        for row in looks {
            let what = format!("{} looked at {}'s session {}", row.text(0), row.text(1), row.text(2));
            found.push(HealthCheck {
                grade: Grade::Ok,
                check: "looks".to_owned(),
                what: what.into(),
                fix: None,
            });
        }
    }
    Ok(found)
}

fn noted(check: &str, what: String) -> HealthCheck {
    HealthCheck { grade: Grade::Ok, check: check.to_owned(), what: what.into(), fix: None }
}

/// What was changed about members on the pages, and who tried without being an admin.
fn changes(records: &TeamRecords) -> QueryResult<Vec<HealthCheck>> {
    let rows = records.ask(|connection| manage::newest(connection, records.principal.tenant, 20))?;
    let told = |row: &Row| {
        if row.text(2) == FORGOTTEN {
            noted("members", format!("{} had {} forgotten", row.text(1), row.text(3)))
        } else if row.int(4) == 1 {
            noted(
                "members",
                format!("{} on the page Members (/members): {} {}", row.text(1), row.text(3), row.text(2)),
            )
        } else {
            let what = format!("{} {}, and was refused", row.text(1), row.text(2));
            warning(what, None)
        }
    };
    Ok(rows.iter().map(told).collect())
}

/// Who was turned away in the last week. An address belongs to no team, so with several teams the operator
/// reads the table.
fn turned_away(records: &TeamRecords) -> QueryResult<Vec<HealthCheck>> {
    let since_ms = (records.now_ms)() - 7 * 86_400_000;
    let rows = records.ask(|connection| {
        connection.query(
            "SELECT source, kind, CAST(sum(number) AS BIGINT), max(at_ms) FROM turned_away
             WHERE at_ms >= $1 AND (SELECT count(*) FROM tenants) = 1
             GROUP BY source, kind ORDER BY 4 DESC, 1, 2 LIMIT 20",
            given![since_ms],
        )
    })?;
    let told = |row: &Row| {
        let last = chrono::DateTime::from_timestamp_millis(row.int(3)).unwrap_or_default();
        let requests = if row.int(2) == 1 { "request was" } else { "requests were" };
        warning(
            format!(
                "{} {requests} {} from {}, the last at {}",
                row.int(2),
                row.text(1),
                row.text(0),
                last.format("%Y-%m-%d %H:%M UTC")
            ),
            None,
        )
    };
    Ok(rows.iter().map(told).collect())
}
