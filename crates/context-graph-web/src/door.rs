//! Access control: only this user, through this machine's loopback, from our own pages.
//!
//! The first address contains a random token. It becomes a cookie that pages of other sites cannot send and
//! scripts cannot read. `Host` and `Origin` are checked, so that no other name can lead here. Nothing may be
//! framed, loaded from elsewhere or cached by the browser.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The access control of one dashboard.
#[derive(Debug)]
pub(crate) struct Door {
    token: String,
    cookie: String,
    port: u16,
    last_visit: Mutex<Instant>,
}

impl Door {
    /// Creates one with its own secrets.
    pub(crate) fn new(port: u16) -> std::io::Result<Self> {
        Ok(Self { token: secret()?, cookie: secret()?, port, last_visit: Mutex::new(Instant::now()) })
    }

    /// The address that grants access.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The time of the last permitted request.
    pub(crate) fn last_visit(&self) -> Instant {
        self.last_visit.lock().map_or_else(|broken| *broken.into_inner(), |last| *last)
    }

    fn note_visit(&self) {
        if let Ok(mut last) = self.last_visit.lock() {
            *last = Instant::now();
        }
    }

    fn is_own_host(&self, host: &str) -> bool {
        host.rsplit_once(':').is_some_and(|(name, port)| {
            matches!(name, "127.0.0.1" | "localhost") && port.parse() == Ok(self.port)
        })
    }

    /// All ports of a host share their cookies, so each dashboard gives its cookie another name.
    fn cookie_name(&self) -> String {
        format!("context-graph-{}", self.port)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(known, value)| known == name && same(value, &self.cookie))
    }

    fn token_of(request: &Request) -> Option<&str> {
        let pairs = request.uri().query().unwrap_or("").split('&');
        pairs
            .filter_map(|pair| pair.split_once('='))
            .find(|(name, _)| *name == "token")
            .map(|(_, value)| value)
    }

    /// The answer instead of a page; `None` if the page may be shown.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or("");
        if !self.is_own_host(host) || hosts.next().is_some() {
            return Some(refuse(StatusCode::FORBIDDEN, "This is not the address of the dashboard.\n"));
        }
        let is_foreign = |origin: &HeaderValue| {
            let name = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            !name.is_some_and(|name| self.is_own_host(name))
        };
        if headers.get_all(header::ORIGIN).iter().any(is_foreign) {
            return Some(refuse(StatusCode::FORBIDDEN, "Requests from other sites are refused.\n"));
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Some(refuse(StatusCode::METHOD_NOT_ALLOWED, "The dashboard only reads.\n"));
        }
        if Self::token_of(request).is_some_and(|given| same(given, &self.token)) {
            self.note_visit();
            return Some(self.welcome());
        }
        let is_known = self.has_cookie(headers);
        if is_known {
            self.note_visit();
        }
        (!is_known).then(|| {
            let words = "Open the address that `context-graph dashboard` printed: it lets this browser in.\n";
            refuse(StatusCode::UNAUTHORIZED, words)
        })
    }

    /// Sets the cookie and continues to the first page. After a redirect the browser would still count the
    /// request as cross-site, if a link in another program led here, and would not send the cookie.
    fn welcome(&self) -> Response {
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.cookie);
        let words = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/\">\
                     <title>context-graph</title><a href=\"/\">To the dashboard</a></html>";
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::SET_COOKIE, &cookie)], words)
            .into_response()
    }
}

fn refuse(status: StatusCode, words: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], words).into_response()
}

/// Accepts or refuses a request, and tells the browser what it may do with the answer.
pub(crate) async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let mut response = match door.refusal(&request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    set_security_headers(headers);
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

/// Tells the browser what it may do with a page: load nothing from elsewhere, show it in no frame, keep no copy.
pub fn set_security_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// 256 random bits.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    let mut text = String::with_capacity(64);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Compares two secrets in constant time.
fn same(given: &str, own: &str) -> bool {
    let differ = given.bytes().zip(own.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    given.len() == own.len() && differ == 0
}
