//! The routes. Each of them only reads.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::Markup;

use crate::layout::Tab;
use crate::live::{self, Pulse};
use crate::pages;
use crate::pages::query::{Pairs, seen};
use crate::plot;
use crate::records::{QueryResult, Records, Trouble};

/// The pages for a set of records.
#[derive(Clone)]
pub struct Site {
    records: Arc<dyn Records>,
    now_ms: fn() -> i64,
    pub(crate) pulse: Arc<Pulse>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").finish_non_exhaustive()
    }
}

impl Site {
    /// Pages for these records; `now_ms` is the clock.
    pub fn new(records: Arc<dyn Records>, now_ms: fn() -> i64) -> Self {
        Self { records, now_ms, pulse: Arc::new(Pulse::default()) }
    }

    /// Its records.
    pub(crate) fn records(&self) -> Arc<dyn Records> {
        Arc::clone(&self.records)
    }

    /// Its routes. The caller decides who may see them.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/", get(now))
            .route("/sessions", get(sessions))
            .route("/sessions/{id}", get(session))
            .route("/sessions/{id}/spark.svg", get(spark))
            .route("/sessions/{id}/{seq}", get(entry))
            .route("/calls", get(calls))
            .route("/guard", get(guard))
            .route("/guard/{id}/{seq}", get(why))
            .route("/files", get(files))
            .route("/health", get(health))
            .route("/pulse", get(live::stream))
            .route(
                "/assets/app.css",
                get(|| async { asset("text/css; charset=utf-8", include_str!("../assets/app.css")) }),
            )
            .route(
                "/assets/app.js",
                get(|| async { asset("text/javascript; charset=utf-8", include_str!("../assets/app.js")) }),
            )
            .route(
                "/favicon.ico",
                get(|| async { asset("image/svg+xml", include_str!("../assets/icon.svg")) }),
            )
            .route(
                "/assets/icon.svg",
                get(|| async { asset("image/svg+xml", include_str!("../assets/icon.svg")) }),
            )
            .fallback(|| async {
                let trouble = Trouble::NotThere("There is no page at this address.".to_owned());
                (StatusCode::NOT_FOUND, page(pages::trouble(Tab::Now, &trouble)))
            })
            .with_state(self.clone())
    }

    /// The same for a server that has other routes too. Starts the live updates, which needs an async runtime.
    pub fn watched_router(&self) -> Router {
        tokio::spawn(Arc::clone(&self.pulse).look(self.records()));
        self.router()
    }

    /// Builds a page on a thread that may wait for the store.
    async fn page(
        self,
        tab: Tab,
        make: impl FnOnce(&dyn Records, i64) -> QueryResult<Markup> + Send + 'static,
    ) -> Response {
        match self.ask(make).await {
            Ok(markup) => page(markup),
            Err(trouble) => (status(&trouble), page(pages::trouble(tab, &trouble))).into_response(),
        }
    }

    async fn ask<T: Send + 'static>(
        self,
        ask: impl FnOnce(&dyn Records, i64) -> QueryResult<T> + Send + 'static,
    ) -> QueryResult<T> {
        let now_ms = (self.now_ms)();
        let asked = tokio::task::spawn_blocking(move || ask(self.records.as_ref(), now_ms)).await;
        asked.unwrap_or_else(|_| Err(Trouble::Failed("The page could not be made.".to_owned())))
    }
}

fn status(trouble: &Trouble) -> StatusCode {
    match trouble {
        Trouble::NotThere(_) => StatusCode::NOT_FOUND,
        Trouble::Asked(_) => StatusCode::BAD_REQUEST,
        Trouble::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn page(markup: Markup) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], markup.into_string()).into_response()
}

fn asset(kind: &'static str, content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], content).into_response()
}

async fn now(State(site): State<Site>) -> Response {
    site.page(Tab::Now, pages::now::show).await
}

async fn sessions(State(site): State<Site>, Query(pairs): Query<Pairs>) -> Response {
    site.page(Tab::Sessions, move |records, now_ms| pages::sessions::show(records, &seen(pairs), now_ms))
        .await
}

async fn session(State(site): State<Site>, Path(id): Path<String>, Query(pairs): Query<Pairs>) -> Response {
    site.page(Tab::Sessions, move |records, now_ms| pages::session::show(records, &id, &seen(pairs), now_ms))
        .await
}

async fn entry(State(site): State<Site>, Path((id, seq)): Path<(String, u64)>) -> Response {
    site.page(Tab::Sessions, move |records, _| pages::entry::show(records, &id, seq)).await
}

async fn spark(State(site): State<Site>, Path(id): Path<String>) -> Response {
    match site.ask(move |records, _| records.curve(&id)).await {
        Ok(curve) => ([(header::CONTENT_TYPE, "image/svg+xml")], plot::sparkline(&curve)).into_response(),
        Err(trouble) => status(&trouble).into_response(),
    }
}

async fn calls(State(site): State<Site>, Query(pairs): Query<Pairs>) -> Response {
    site.page(Tab::Calls, move |records, now_ms| pages::calls::show(records, &seen(pairs), now_ms)).await
}

async fn guard(State(site): State<Site>, Query(pairs): Query<Pairs>) -> Response {
    site.page(Tab::Guard, move |records, now_ms| pages::guard::show(records, &seen(pairs), now_ms)).await
}

async fn why(State(site): State<Site>, Path((id, seq)): Path<(String, u64)>) -> Response {
    site.page(Tab::Guard, move |records, _| pages::guard::explain(records, &id, seq)).await
}

async fn files(State(site): State<Site>, Query(pairs): Query<Pairs>) -> Response {
    site.page(Tab::Files, move |records, now_ms| pages::files::show(records, &seen(pairs), now_ms)).await
}

async fn health(State(site): State<Site>, Query(pairs): Query<Pairs>) -> Response {
    site.page(Tab::Health, move |records, now_ms| pages::health::show(records, &seen(pairs), now_ms)).await
}
