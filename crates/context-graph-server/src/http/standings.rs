//! How far the server's copies of a machine's own sessions go.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::HeaderMap;

use super::{App, Handled};
use crate::members::last_push;
use crate::wire::CopyHead;
use crate::{given, keys};

/// How many sessions one answer has.
const STANDINGS: i64 = 1000;

const STANDING: &str =
    "SELECT session_id, ordinal, records, link, local_link FROM sessions WHERE machine = $1 AND records > 0";

fn copy_head(row: &crate::db::Row) -> CopyHead {
    CopyHead {
        session_id: row.text(0).to_owned(),
        ordinal: row.count(1),
        records: row.count(2),
        link: keys::hex(row.bytes(3)),
        local: keys::hex(row.bytes(4)),
    }
}

/// The number of the machine's last stored push or removal.
pub(super) async fn machine(State(app): State<App>, headers: HeaderMap) -> Handled<Json<serde_json::Value>> {
    let (_, machine) = app.machine(&headers).await?;
    let pushed = app.ask(move |pool, _| last_push(pool, machine)).await?;
    Ok(Json(serde_json::json!({ "pushed": pushed })))
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct After {
    #[serde(default)]
    after: String,
}

/// How far the server's copies of a machine's own sessions go, a thousand at a time.
pub(super) async fn all(
    State(app): State<App>,
    headers: HeaderMap,
    Query(asked): Query<After>,
) -> Handled<Json<Vec<CopyHead>>> {
    let (_, machine) = app.machine(&headers).await?;
    let found = app.ask(move |pool, _| {
        pool.with(|connection| {
            let sql = format!("{STANDING} AND session_id > $2 ORDER BY session_id LIMIT {STANDINGS}");
            connection.query(&sql, given![machine, asked.after])
        })
    });
    Ok(Json(found.await?.iter().map(copy_head).collect()))
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Of {
    session: String,
}

/// How far the server's copy of one of a machine's own sessions goes.
pub(super) async fn one(
    State(app): State<App>,
    headers: HeaderMap,
    Query(asked): Query<Of>,
) -> Handled<Json<Option<CopyHead>>> {
    let (_, machine) = app.machine(&headers).await?;
    let found = app.ask(move |pool, _| {
        pool.with(|connection| {
            connection.one(&format!("{STANDING} AND session_id = $2"), given![machine, asked.session])
        })
    });
    Ok(Json(found.await?.as_ref().map(copy_head)))
}
