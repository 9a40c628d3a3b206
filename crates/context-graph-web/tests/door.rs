//! Access control, over a real socket, and what the pages show if nothing is recorded.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use context_graph_core::session::Curve;
use context_graph_web::{
    Activity, Asked, Axis, Choices, EntryDetail, EntryLine, Explanation, FileLine, HealthCheck, HookCost,
    Injection, Loopback, Page, QueryResult, Records, RuleLine, Running, SessionLine, SessionsAsked, Site,
    StoreSize, Trouble, Verification,
};

/// A store with nothing in it.
struct Nothing;

fn missing<T>() -> QueryResult<T> {
    Err(Trouble::NotThere("no such session".to_owned()))
}

impl Records for Nothing {
    fn pulse(&self) -> u64 {
        0
    }
    fn choices(&self) -> QueryResult<Choices> {
        Ok(Choices::default())
    }
    fn sessions(&self, _: &SessionsAsked) -> QueryResult<Page<SessionLine>> {
        Ok(Page { items: Vec::new(), has_more: false })
    }
    fn session(&self, _: &str) -> QueryResult<SessionLine> {
        missing()
    }
    fn axis(&self, _: &str) -> QueryResult<Axis> {
        missing()
    }
    fn curve(&self, _: &str) -> QueryResult<Curve> {
        missing()
    }
    fn story(&self, _: &str, _: u64, _: u64) -> QueryResult<Vec<EntryLine>> {
        missing()
    }
    fn entries(&self, asked: &Asked, _: usize) -> QueryResult<Page<EntryLine>> {
        if asked.since == "soon" {
            return Err(Trouble::Asked("`soon` is not a time".to_owned()));
        }
        Ok(Page { items: Vec::new(), has_more: false })
    }
    fn entry(&self, _: &str, _: u64) -> QueryResult<EntryDetail> {
        missing()
    }
    fn running(&self) -> QueryResult<Vec<Running>> {
        Ok(Vec::new())
    }
    fn activity(&self, since_ms: i64, step_ms: i64, _: usize) -> QueryResult<Activity> {
        Ok(Activity { since_ms, step_ms, bins: Vec::new() })
    }
    fn injections(&self, _: usize) -> QueryResult<Vec<Injection>> {
        Ok(Vec::new())
    }
    fn rules(&self, _: i64) -> QueryResult<Vec<RuleLine>> {
        Ok(Vec::new())
    }
    fn explain(&self, _: &str, _: u64) -> QueryResult<Explanation> {
        missing()
    }
    fn files(&self, _: i64) -> QueryResult<Vec<FileLine>> {
        Ok(Vec::new())
    }
    fn health_checks(&self) -> QueryResult<Option<Vec<HealthCheck>>> {
        Ok(None)
    }
    fn hook_costs(&self) -> QueryResult<Vec<HookCost>> {
        Ok(Vec::new())
    }
    fn sizes(&self) -> QueryResult<Vec<StoreSize>> {
        Ok(Vec::new())
    }
    fn verification(&self, _: bool) -> QueryResult<Verification> {
        Err(Trouble::Failed("the disk is gone".to_owned()))
    }
}

const PAGES: [&str; 5] = ["/", "/sessions", "/calls", "/guard", "/files"];

/// A dashboard over an empty store. It runs until the test ends.
struct House {
    port: u16,
    token: String,
}

impl House {
    fn open() -> Self {
        let loopback = Loopback::bind(0).unwrap();
        let address = loopback.address();
        thread::spawn(move || loopback.run(&Site::new(Arc::new(Nothing), || 0), Duration::from_mins(10)));
        let (place, token) = address.split_once("/?token=").unwrap();
        let port = place.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { port, token: token.to_owned() }
    }

    /// Sends a request with these header lines, and returns the whole response.
    fn ask(&self, first_line: &str, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        write!(stream, "{first_line} HTTP/1.1\r\nConnection: close\r\n{head}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    fn cookie(&self) -> String {
        let welcome = self.ask(&format!("GET /?token={}", self.token), &self.host());
        let line = welcome.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
        assert!(line.contains("; HttpOnly; SameSite=Strict; Path=/"), "{line}");
        let cookie = line.strip_prefix("set-cookie: ").unwrap().split(';').next().unwrap();
        assert!(!cookie.contains(&self.token), "the cookie is another secret than the address has");
        format!("{}Cookie: other=1; {cookie}\r\n", self.host())
    }
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_token_becomes_a_cookie_and_without_either_nobody_gets_in() {
    let house = House::open();
    let cookie = house.cookie();
    for path in PAGES.into_iter().chain(["/assets/app.js", "/pulse", "/nowhere", "/sessions/x/spark.svg"]) {
        assert_eq!(status(&house.ask(&format!("GET {path}"), &house.host())), 401, "{path}");
        let forged = format!("{}Cookie: context-graph-{}={}\r\n", house.host(), house.port, "0".repeat(64));
        assert_eq!(status(&house.ask(&format!("GET {path}"), &forged)), 401, "{path}");
    }
    for wrong in ["", "0", &house.token[1..], &format!("{}0", house.token)] {
        assert_eq!(status(&house.ask(&format!("GET /?token={wrong}"), &house.host())), 401, "{wrong}");
    }
    for path in PAGES {
        assert_eq!(status(&house.ask(&format!("GET {path}"), &cookie)), 200, "{path}");
    }
}

#[test]
fn other_names_and_other_sites_get_no_answer_even_with_the_cookie() {
    let house = House::open();
    let cookie = house.cookie();
    let own = house.host();
    let port = house.port;
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1:1",
        "",
    ] {
        let head = cookie.replace(own.trim_end(), &format!("Host: {host}"));
        assert_eq!(status(&house.ask("GET /", &head)), 403, "{host}");
        let token = format!("GET /?token={}", house.token);
        assert_eq!(status(&house.ask(&token, &head)), 403, "{host} with the token");
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1", &format!("http://evil.example:{port}")]
    {
        assert_eq!(status(&house.ask("GET /", &format!("{cookie}Origin: {origin}\r\n"))), 403, "{origin}");
    }
    let same = format!("{cookie}Origin: http://127.0.0.1:{port}\r\n");
    assert_eq!(status(&house.ask("GET /", &same)), 200);
    let twice = format!("{cookie}Host: evil.example\r\n");
    assert_ne!(status(&house.ask("GET /", &twice)), 200, "two hosts");
}

#[test]
fn nothing_can_be_changed_framed_kept_or_loaded_from_elsewhere() {
    let house = House::open();
    let cookie = house.cookie();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        for path in PAGES.into_iter().chain(["/health?verify=1", "/pulse"]) {
            let answer = house.ask(&format!("{method} {path}"), &format!("{cookie}Content-Length: 0\r\n"));
            assert_eq!(status(&answer), 405, "{method} {path}");
        }
    }
    for (path, head) in
        [("/", &cookie), ("/", &house.host()), ("/assets/app.js", &cookie), ("/nowhere", &cookie)]
    {
        let answer = house.ask(&format!("GET {path}"), head).to_lowercase();
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(answer.contains(line), "{path}: {line}\n{answer}");
        }
        assert!(!answer.contains("access-control-"), "{path}");
    }
}

#[test]
fn empty_pages_say_what_to_do_and_trouble_is_told() {
    let house = House::open();
    let cookie = house.cookie();
    for (path, code, says) in [
        ("/", 200, "context-graph init"),
        ("/sessions", 200, "No sessions yet"),
        ("/sessions?state=low", 200, "No session fits"),
        ("/calls", 200, "No matching calls"),
        ("/calls?since=soon", 400, "`soon` is not a time"),
        ("/guard", 200, "Nothing was denied or asked about"),
        ("/files", 200, "No file was touched"),
        ("/health", 503, "the disk is gone"),
        ("/sessions/none", 404, "no such session"),
        ("/sessions/none/7", 404, "no such session"),
        ("/sessions/none/notanumber", 400, ""),
        ("/nowhere", 404, "no page"),
    ] {
        let answer = house.ask(&format!("GET {path}"), &cookie);
        assert_eq!(status(&answer), code, "{path}: {answer}");
        assert!(answer.contains(says), "{path}: {answer}");
    }
}

#[test]
fn it_ends_when_nobody_has_visited_for_long_enough() {
    let loopback = Loopback::bind(0).unwrap();
    let began = Instant::now();
    loopback.run(&Site::new(Arc::new(Nothing), || 0), Duration::from_millis(300)).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(300) && began.elapsed() < Duration::from_secs(20));
}
