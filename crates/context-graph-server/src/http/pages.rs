//! The pages for members: signing in with a token, and what each member may see.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use context_graph_web::Site;
use hyper_util::service::TowerToHyperService;
use maud::{DOCTYPE, Markup, html};

use super::{Address, App, HttpRefusal, members as managing};
use crate::db::Pool;
use crate::members::{self, Principal, Role};
use crate::records::TeamRecords;

const COOKIE: &str = "context-graph-team";
/// For how many members the pages are kept in memory.
const MOST: usize = 200;

/// The pages of each member.
pub(super) struct Pages {
    pool: Pool,
    now_ms: fn() -> i64,
    ready: Mutex<HashMap<(i64, i64, Role), Router>>,
}

impl Pages {
    pub(super) fn new(pool: Pool, now_ms: fn() -> i64) -> Self {
        Self { pool, now_ms, ready: Mutex::default() }
    }

    /// The pages that this member may see.
    fn of(&self, principal: &Principal) -> Router {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() > MOST {
            ready.clear();
        }
        let made = || {
            let records = TeamRecords::new(self.pool.clone(), principal.clone(), self.now_ms);
            Site::new(Arc::new(records), self.now_ms).watched_router()
        };
        ready.entry((principal.tenant, principal.member, principal.role)).or_insert_with(made).clone()
    }
}

/// Answers every path that has no other route.
pub(super) async fn show(
    State(app): State<App>,
    Extension(Address(address)): Extension<Address>,
    request: Request,
) -> Response {
    let mut response = answer(&app, address, request).await;
    context_graph_web::set_security_headers(response.headers_mut());
    response
}

async fn answer(app: &App, address: IpAddr, request: Request) -> Response {
    if !app.0.rates.is_within(&format!("page {address}"), 50.0, 300.0) {
        return (StatusCode::TOO_MANY_REQUESTS, "too many requests from this address\n").into_response();
    }
    if request.uri().path() == "/sign-in" && request.method() == Method::POST {
        return sign_in(app, address, request).await;
    }
    let is_managing = request.uri().path() == managing::PATH;
    let is_allowed = match *request.method() {
        Method::GET | Method::HEAD => true,
        Method::POST => is_managing,
        _ => false,
    };
    if !is_allowed {
        return (StatusCode::METHOD_NOT_ALLOWED, "the pages only read\n").into_response();
    }
    // Styles and icons are not secret, and the sign-in page needs them.
    let is_asset = request.uri().path().starts_with("/assets/") || request.uri().path() == "/favicon.ico";
    let principal = match cookie(request.headers()) {
        Some(token) => app.ask(move |pool, now_ms| members::of_token(pool, &token, now_ms)).await,
        None => Ok(None),
    };
    let principal = match principal {
        Ok(Some(principal)) if principal.machine.is_none() => principal,
        Ok(_) if is_asset => Principal {
            tenant: 0,
            member: 0,
            name: String::new(),
            role: Role::Member,
            machine: None,
            public_key: Vec::new(),
        },
        Ok(_) => return door(StatusCode::UNAUTHORIZED, None),
        Err(refused) => return refused.into_response(),
    };
    if is_managing {
        return managing::answer(app, principal, request).await;
    }
    let service = TowerToHyperService::new(app.0.pages.of(&principal));
    if is_asset {
        return match hyper::service::Service::call(&service, request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
    }
    let Some(own) = app.0.showing.enter(principal.member) else {
        return (StatusCode::TOO_MANY_REQUESTS, "too many pages at the same time\n").into_response();
    };
    let all = Arc::clone(&app.0.pages_at_once);
    // A page that nobody waits for any more is still built, so its place is kept until then.
    let made = tokio::spawn(async move {
        let _places = (own, all.acquire_owned().await);
        hyper::service::Service::call(&service, request).await
    });
    match made.await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The token in the cookie.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned());
    found.filter(|token| token.starts_with("person_"))
}

/// The sign-in page.
fn door(status: StatusCode, trouble: Option<&str>) -> Response {
    let main = html! {
        h1 { "context-graph" }
        @if let Some(trouble) = trouble { p role="alert" { (trouble) } }
        form method="post" action="/sign-in" {
            label for="token" { "Token" } " "
            input id="token" name="token" type="password" autocomplete="off" required autofocus;
            " " button type="submit" { "Sign in" }
        }
        p { "Whoever runs the server makes one: " code { "context-graph server members token NAME" } }
    };
    plain_page(status, "Sign in", &main)
}

/// A page of the server's own, without scripts.
pub(super) fn plain_page(status: StatusCode, title: &str, main: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · context-graph" }
                link rel="stylesheet" href="/assets/app.css";
            }
            body { main { (main) } }
        }
    };
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response()
}

async fn sign_in(app: &App, address: IpAddr, request: Request) -> Response {
    if !app.0.rates.is_within(&format!("sign in {address}"), 0.5, 20.0) {
        return door(StatusCode::TOO_MANY_REQUESTS, Some("Too many tries: wait a minute."));
    }
    // A form on another site could sign this browser in as somebody else.
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let is_own = origin.is_none_or(|origin| origin.split_once("://").is_some_and(|(_, name)| name == host));
    if !is_own {
        return door(StatusCode::FORBIDDEN, Some("Forms from other sites are rejected."));
    }
    let is_secure = origin.is_some_and(|origin| origin.starts_with("https://"));
    let (parts, body): (_, Body) = request.into_parts();
    let bytes = match app.read(&parts.headers, body, super::MAX_SMALL).await {
        Ok(bytes) => bytes,
        Err(HttpRefusal::Status(status, _) | HttpRefusal::Push(status, _)) => {
            return door(status, Some("That is not a token."));
        }
    };
    let given =
        std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_prefix("token=")).unwrap_or_default();
    let token = given.trim().to_owned();
    let kept = token.clone();
    let principal = app.ask(move |pool, now_ms| members::of_token(pool, &token, now_ms)).await;
    match principal {
        Ok(Some(principal)) if principal.machine.is_none() => {
            let secure = if is_secure { "; Secure" } else { "" };
            let cookie =
                format!("{COOKIE}={kept}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000{secure}");
            (StatusCode::SEE_OTHER, [(header::LOCATION, "/"), (header::SET_COOKIE, cookie.as_str())])
                .into_response()
        }
        Ok(_) => door(StatusCode::FORBIDDEN, Some("This token is not known, was revoked, or has expired.")),
        Err(refused) => refused.into_response(),
    }
}
