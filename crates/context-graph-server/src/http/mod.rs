//! The routes: for machines (`/v1/…`), for operators (`/healthz`, `/metrics`), and for pages.

mod body;
mod counts;
mod members;
mod pages;
mod places;
mod rate;
mod standings;
mod turned_away;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Extension, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::sync::Semaphore;

use crate::aside::{self, forget_by_id};
use crate::db::{DbError, Pool};
use crate::ingest::{PushError, take_in};
use crate::members::{JoinError, Principal, join as join_team, last_push, of_token};
use crate::serve::{Patience, network};
use crate::wire::{Forget, Join, MAX_PUSH, MAX_UNPACKED, Push, Refusal};
use crate::{keys, manage, policy, schema};
use body::{length, room};
use counts::Counts;
pub(crate) use places::Places;
use rate::Rates;
pub(crate) use turned_away::RejectionKind;
use turned_away::{STORED_EVERY, TurnedAway};

/// The time limits for receiving a request's body, unless configured otherwise, and for answering a request.
pub(crate) const BODY_PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(90);
/// The largest request other than a push.
const MAX_SMALL: usize = 16 << 10;
/// The memory limits of all pushes together, in steps of 64 KiB: while they arrive, and while they are stored.
const STEP: usize = 64 << 10;
const ARRIVING: usize = (64 << 20) / STEP;
const STORED: usize = (80 << 20) / STEP;
/// How many pushes of one machine are taken at the same time: a machine that sends slowly must not take all places.
const AT_ONCE: usize = 3;

/// How many pages are built at the same time, and how many of them for one member. Searches take seconds, and pushes need
/// the same threads.
const PAGES: usize = 8;
const PAGES_OF_MEMBER: usize = 6;

/// What all routes share.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

struct Inner {
    is_behind_proxy: bool,
    pool: Pool,
    patience: Patience,
    now_ms: fn() -> i64,
    rates: Rates,
    counts: Counts,
    turned_away: TurnedAway,
    arriving: Arc<Semaphore>,
    stored: Arc<Semaphore>,
    pushing: Places<i64>,
    showing: Places<i64>,
    pages_at_once: Arc<Semaphore>,
    pages: pages::Pages,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

/// A response with an error.
#[derive(Debug)]
pub(crate) enum HttpRefusal {
    Status(StatusCode, String),
    Push(StatusCode, Refusal),
}

impl HttpRefusal {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self::Status(status, message.into())
    }
}

impl From<DbError> for HttpRefusal {
    fn from(error: DbError) -> Self {
        let status = match error {
            DbError::Away(_) | DbError::NoDatabase(_) | DbError::Conflict(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            DbError::NoTable(_) | DbError::NoPartition(_) | DbError::Refused(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        // A database error may contain members' texts.
        Self::new(
            status,
            if status == StatusCode::SERVICE_UNAVAILABLE {
                "the database cannot be reached"
            } else {
                "the database refused"
            },
        )
    }
}

impl From<PushError> for HttpRefusal {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Db(error) => error.into(),
            PushError::Invalid(what) => Self::new(StatusCode::BAD_REQUEST, what),
            PushError::Refused(why, records) => {
                let message = error.to_string();
                Self::Push(StatusCode::CONFLICT, Refusal { why: why.to_owned(), message, records })
            }
        }
    }
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        match self {
            Self::Status(status, message) => {
                (status, Json(serde_json::json!({ "message": message }))).into_response()
            }
            Self::Push(status, refusal) => (status, Json(refusal)).into_response(),
        }
    }
}

type Handled<T> = Result<T, HttpRefusal>;

impl App {
    pub(crate) fn new(pool: Pool, is_behind_proxy: bool, patience: Patience, now_ms: fn() -> i64) -> Self {
        Self(Arc::new(Inner {
            is_behind_proxy,
            pages: pages::Pages::new(pool.clone(), now_ms),
            pool,
            patience,
            now_ms,
            rates: Rates::default(),
            counts: Counts::default(),
            turned_away: TurnedAway::default(),
            arriving: Arc::new(Semaphore::new(ARRIVING)),
            stored: Arc::new(Semaphore::new(STORED)),
            pushing: Places::new(AT_ONCE),
            showing: Places::new(PAGES_OF_MEMBER),
            pages_at_once: Arc::new(Semaphore::new(PAGES)),
        }))
    }

    pub(crate) fn router(&self) -> Router {
        Router::new()
            .route("/healthz", get(healthz))
            .route("/metrics", get(metrics))
            .route("/v1/join", post(join))
            .route("/v1/push", post(push))
            .route("/v1/forget", post(forget))
            .route("/v1/machine", get(standings::machine))
            .route("/v1/standings", get(standings::all))
            .route("/v1/standing", get(standings::one))
            .route("/v1/policy", get(newest_policy))
            .fallback(pages::show)
            .layer(from_fn_with_state(self.clone(), bounded))
            .with_state(self.clone())
    }

    /// The address that a request is from; for IPv6, its network. A proxy appends it to what the request itself claims,
    /// so behind a proxy the last value counts.
    fn address(&self, request: &Request) -> IpAddr {
        let told = request.headers().get_all("x-forwarded-for").iter().next_back();
        let told = told.filter(|_| self.0.is_behind_proxy).and_then(|value| value.to_str().ok());
        let told = told.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let found = told.or_else(|| peer.map(|ConnectInfo(peer)| peer.ip()));
        network(found.unwrap_or(Ipv4Addr::UNSPECIFIED.into()))
    }

    pub(crate) fn patience(&self) -> Patience {
        self.0.patience
    }

    fn now_ms(&self) -> i64 {
        (self.0.now_ms)()
    }

    /// Records that a request was turned away.
    pub(crate) fn turn_away(&self, address: IpAddr, kind: RejectionKind) {
        self.0.counts.turned_away(kind);
        self.0.turned_away.note(address, kind, self.now_ms());
    }

    /// Stores who was turned away, at intervals.
    pub(crate) async fn keep_record(self) {
        loop {
            tokio::time::sleep(STORED_EVERY).await;
            self.store_record().await;
        }
    }

    /// Stores it once. What cannot be stored is tried again.
    pub(crate) async fn store_record(&self) {
        let app = self.clone();
        let _ = tokio::task::spawn_blocking(move || app.0.turned_away.store(&app.0.pool, app.now_ms())).await;
    }

    /// Runs a database call on a thread that may block.
    async fn ask<T: Send + 'static, E: Into<HttpRefusal> + Send + 'static>(
        &self,
        ask: impl FnOnce(&Pool, i64) -> Result<T, E> + Send + 'static,
    ) -> Handled<T> {
        let (pool, now_ms) = (self.0.pool.clone(), self.now_ms());
        let asked = tokio::task::spawn_blocking(move || ask(&pool, now_ms)).await;
        let broken =
            |_| HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be answered");
        asked.map_err(broken)?.map_err(Into::into)
    }

    /// The machine that a request's token belongs to.
    async fn machine(&self, headers: &HeaderMap) -> Handled<(Principal, i64)> {
        let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default().to_owned();
        let stranger = || {
            HttpRefusal::new(StatusCode::UNAUTHORIZED, "this machine's token is not known, or was revoked")
        };
        if !token.starts_with("machine_") {
            return Err(stranger());
        }
        let principal = self.ask(move |pool, now_ms| of_token(pool, &token, now_ms)).await?;
        let principal = principal.ok_or_else(stranger)?;
        let machine = principal.machine.ok_or_else(stranger)?;
        if !self.0.rates.is_within(&format!("machine {machine}"), 200.0, 1000.0) {
            return Err(HttpRefusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests from this machine",
            ));
        }
        Ok((principal, machine))
    }
}

/// Where a request is from.
#[derive(Debug, Clone, Copy)]
struct Address(IpAddr);

/// Limits the rate and the time of every request, and counts it. Its content is not logged.
async fn bounded(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let address = app.address(&request);
    request.extensions_mut().insert(Address(address));
    let is_stream = request.uri().path() == "/pulse";
    let response = if !app.0.rates.is_within(&format!("any {address}"), 2000.0, 10_000.0) {
        HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests from this address").into_response()
    } else if is_stream {
        next.run(request).await
    } else {
        let late = || HttpRefusal::new(StatusCode::GATEWAY_TIMEOUT, "it took too long").into_response();
        tokio::time::timeout(PATIENCE, next.run(request)).await.unwrap_or_else(|_| late())
    };
    app.0.counts.request(response.status());
    if let Some(kind) = RejectionKind::of(response.status()) {
        app.turn_away(address, kind);
    }
    response
}

async fn healthz(
    State(app): State<App>,
    Extension(Address(address)): Extension<Address>,
) -> Handled<&'static str> {
    if !app.0.rates.is_within(&format!("health {address}"), 10.0, 100.0) {
        return Err(HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests from this address"));
    }
    let found = app.ask(|pool, _| pool.with(schema::found)).await?;
    match found {
        schema::FoundTables::Version(schema::FORMAT) => Ok("ok\n"),
        _ => {
            Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "the tables are not those of this version"))
        }
    }
}

/// For Prometheus. It contains only counts, no names.
async fn metrics(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.0.counts.text()).into_response()
}

async fn join(
    State(app): State<App>,
    Extension(Address(address)): Extension<Address>,
    headers: HeaderMap,
    body: Body,
) -> Handled<Json<crate::wire::Joined>> {
    if !app.0.rates.is_within(&format!("join {address}"), 0.5, 20.0) {
        return Err(HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, "too many tries from this address"));
    }
    let bytes = app.read(&headers, body, MAX_SMALL).await?;
    let asked: Join = serde_json::from_slice(&bytes)
        .map_err(|_| HttpRefusal::new(StatusCode::BAD_REQUEST, "this is not a request to join"))?;
    let joined = app.ask(move |pool, now_ms| Ok::<_, DbError>(join_team(pool, &asked, now_ms))).await?;
    joined.map(Json).map_err(|error| match error {
        JoinError::Db(error) => error.into(),
        JoinError::Invitation | JoinError::Key => HttpRefusal::new(StatusCode::FORBIDDEN, error.to_string()),
    })
}

async fn push(State(app): State<App>, headers: HeaderMap, body: Body) -> Handled<Json<serde_json::Value>> {
    let (principal, machine) = app.machine(&headers).await?;
    let place = app.place(machine).await?;
    // Three times the length: the received pieces, their contiguous copy, and what is decoded from it.
    let arriving = room(&app.0.arriving, length(&headers, MAX_PUSH)? * 3, ARRIVING).await?;
    let bytes = app.read(&headers, body, MAX_PUSH).await?;
    let asked: Push = postcard::from_bytes(&bytes).map_err(|_| {
        HttpRefusal::new(StatusCode::BAD_REQUEST, "this is not a push that this version can read")
    })?;
    drop(bytes);
    // Ten times the unpacked size, as measured: for records, entries, rows, words and the data on the way to the database.
    let stored = room(&app.0.stored, asked.announced().min(MAX_UNPACKED) * 10, STORED).await?;
    let taken = app
        .ask(move |pool, now_ms| {
            // The memory stays reserved until the records are stored, even if nobody waits for the answer any
            // more.
            let _held = (place, arriving, stored);
            let records = take_in(pool, &principal, &asked, now_ms)?;
            Ok::<_, PushError>((records, last_push(pool, machine)?))
        })
        .await;
    app.0.counts.push(taken.is_ok());
    taken.map(|(records, pushed)| Json(serde_json::json!({ "records": records, "pushed": pushed })))
}

async fn forget(State(app): State<App>, headers: HeaderMap, body: Body) -> Handled<Json<serde_json::Value>> {
    let (principal, machine) = app.machine(&headers).await?;
    let bytes = app.read(&headers, body, MAX_SMALL).await?;
    let asked: Forget = postcard::from_bytes(&bytes)
        .map_err(|_| HttpRefusal::new(StatusCode::BAD_REQUEST, "this is not a request to forget"))?;
    let signed = Forget::signed(machine, &asked.session_id, asked.ordinal);
    if !keys::is_signed(&principal.public_key, &signed, &asked.signature) {
        let why = "the signature is not that of this machine";
        app.ask(move |pool, now_ms| {
            aside::RefusedRequest::request(machine, &asked.session_id, why)
                .put_aside(pool, &principal, now_ms)
        })
        .await?;
        return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, why));
    }
    let gone = app
        .ask(move |pool, now_ms| {
            let gone =
                forget_by_id(pool, principal.tenant, machine, &asked.session_id, asked.ordinal, now_ms)?;
            if gone > 0 {
                manage::note_forgotten(pool, &principal, gone, now_ms)?;
            }
            Ok::<_, PushError>((gone, last_push(pool, machine)?))
        })
        .await?;
    Ok(Json(serde_json::json!({ "records": gone.0, "pushed": gone.1 })))
}

/// The team's newest policy, unless the machine has it already.
async fn newest_policy(State(app): State<App>, headers: HeaderMap) -> Handled<Response> {
    let (principal, _) = app.machine(&headers).await?;
    let newest = app.ask(move |pool, _| pool.with(|connection| policy::newest(connection, principal.tenant)));
    let Some(newest) = newest.await? else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let etag = format!("\"{}\"", newest.etag);
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    Ok(([(header::ETAG, etag)], newest.content).into_response())
}
