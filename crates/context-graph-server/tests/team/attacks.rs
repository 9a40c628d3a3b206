//! What attackers may try.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use context_graph_server::Patience;
use context_graph_server::client::Client;
use context_graph_server::members::{self, Role};
use context_graph_web::Records as _;

use crate::machine::{Machine, why};
use crate::{Team, now_ms, serve_as};

pub(crate) fn others(team: &Team) {
    let invitation = members::invite(&team.pool, "team", "zoe", None, 60_000, now_ms()).unwrap();
    let stranger = Client::new(&team.url, None, "").unwrap();
    assert!(stranger.join(&invitation, "laptop", &eve_key()).is_ok());
    assert!(stranger.join(&invitation, "laptop", &eve_key()).is_err(), "an invitation is used once");
    assert!(stranger.join("invite_0", "laptop", &eve_key()).is_err());
    let late = members::invite(&team.pool, "team", "zoe", None, -1, now_ms()).unwrap();
    assert!(stranger.join(&late, "laptop", &eve_key()).is_err(), "an old invitation is none");
    let ada = Machine::join(team, "ada", Role::Member);
    let eve = Machine::join(team, "eve", Role::Member);
    let far = Machine::join_team(team, "other", "mallory", Role::Admin);
    ada.push("s", (1, 10)).unwrap();
    for thief in [&eve, &far] {
        // Ada's push with another token, another machine's number, and another key.
        let stolen = ada.made("s", 1, (1, 20), "");
        assert!(why(thief.client().push(&stolen)).contains("signature"), "a push is its machine's");
        assert_eq!(thief.client().standing("s").unwrap(), None, "others' sessions are not told of");
        assert!(thief.client().standings().unwrap().is_empty());
        assert_eq!(thief.forget("s", 1).unwrap(), 0, "nobody forgets for others");
    }
    assert_eq!(team.count("SELECT count(*) FROM events"), 10);
    let kept = team.count("SELECT count(*) FROM refused WHERE why LIKE 'the signature%'");
    assert_eq!(kept, 2, "each try is on record, with whose it was");
    for token in ["", "machine_", "machine_00", "person_x", "' OR 1=1 --"] {
        let nobody = Machine { token: token.to_owned(), key: eve_key(), ..ada.again(&team.url) };
        assert!(why(nobody.push("s", (1, 2))).contains("token"), "{token}");
    }
    members::revoke(&team.pool, "team", "ada", now_ms()).unwrap();
    assert!(why(ada.push("s", (11, 12))).contains("revoked"), "who was removed is not let in");
}

fn eve_key() -> context_graph_server::keys::SigningKey {
    context_graph_server::keys::SigningKey::from_seed(&[7; 32]).unwrap()
}

pub(crate) fn altered(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    let good = ada.made("s", 1, (1, 40), "");
    let mut altered = Vec::new();
    let mut with = |change: &dyn Fn(&mut context_graph_server::wire::Push)| {
        let mut push = good.clone();
        change(&mut push);
        altered.push(push);
    };
    with(&|push| push.session_id.push('t'));
    with(&|push| push.ordinal = 2);
    with(&|push| push.head.records = 41);
    with(&|push| push.head.link[0] ^= 1);
    with(&|push| push.head.local[0] ^= 1);
    with(&|push| push.signature[3] ^= 1);
    with(&|push| push.signature.clear());
    with(&|push| push.blocks[0].1[80] ^= 1);
    with(&|push| push.blocks[0].0 = 2);
    with(&|push| push.blocks.push((99, vec![1; 200])));
    for push in &altered {
        let answer = why(ada.client().push(push));
        assert!(answer.contains("refused"), "{answer}");
    }
    // A correctly signed head that the records do not lead to.
    let mut forged = good.clone();
    forged.head.link[5] ^= 1;
    forged.signature =
        ada.key.sign(&context_graph_server::wire::Push::signed(ada.number, "s", 1, &forged.head));
    assert!(why(ada.client().push(&forged)).contains("head"), "a forged head is refused");
    for what in ["the signature%", "the head%", "a block%"] {
        let sql =
            format!("SELECT count(*) FROM refused WHERE why LIKE '{what}' AND machine = {}", ada.number);
        assert!(team.count(&sql) > 0, "{what} is on record");
    }
    assert_eq!(team.count("SELECT count(*) FROM events"), 0);
    for (head, status) in [
        ("POST /v1/push HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n", "411"),
        ("POST /v1/push HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n", "413"),
    ] {
        assert!(
            raw(team, &format!("{head}authorization: Bearer {}\r\n\r\n", ada.token)).contains(status),
            "{status}"
        );
    }
    on_record(team, "too large", 2);
    assert!(raw(team, "POST /v1/join HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").contains("400"));
    assert!(ada.client().push(&good).is_ok());
}

/// Waits until `wanted` requests of this kind are on record, and checks that they came from the loopback.
fn on_record(team: &Team, kind: &str, wanted: i64) {
    let sql =
        format!("SELECT CAST(coalesce(sum(number), 0) AS BIGINT) FROM turned_away WHERE kind = '{kind}'");
    let began = Instant::now();
    while team.count(&sql) < wanted && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(team.count(&sql), wanted, "{kind}");
    let told = format!("{:?}", crate::pages::everything(team).health_checks().unwrap().unwrap());
    assert!(told.contains(kind) && told.contains("127.0.0.1"), "{told}");
}

pub(crate) fn too_often(team: &Team) {
    let mut refused = 0;
    let ask = |url: &str, path: &str, from: &str| {
        let method = if path == "/healthz" { "GET" } else { "POST" };
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 9.9.9.9, {from}\r\ncontent-length: 0\r\n\r\n"
        );
        raw_to(url, &text)
    };
    let proxied = serve_as(&team.place, |serving| serving.is_behind_proxy = true);
    for (path, most) in [("/v1/join", 20), ("/sign-in", 20), ("/healthz", 100)] {
        let tries =
            |url: &str, from: &str| (0..most + 30).filter(|_| ask(url, path, from).contains(" 429 ")).count();
        let own = tries(&team.url, "1.1.1.1");
        assert!(own > 0, "{path}");
        assert!(
            ask(&team.url, path, "2.2.2.2").contains(" 429 "),
            "{path}: without a proxy anybody could claim to be another"
        );
        let by_proxy = tries(&proxied, "1.1.1.1");
        assert!(by_proxy > 0, "{path}");
        refused += own + 1 + by_proxy;
        assert!(!ask(&proxied, path, "2.2.2.2").contains(" 429 "), "{path}: others are answered");
    }
    on_record(team, "too frequent", refused.try_into().unwrap());
    assert!(team.count("SELECT count(*) FROM turned_away") <= 6, "two addresses, at most three minutes");
    assert!(team.count("SELECT count(*) FROM turned_away WHERE source = '1.1.1.1'") > 0);
}

/// One read, repeated if a signal interrupts it: the system does not do that for a stream with a timeout.
pub(crate) fn read_some(stream: &mut TcpStream, into: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.read(into) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// The server's response to these bytes; empty if it closes the connection.
fn raw(team: &Team, text: &str) -> String {
    raw_to(&team.url, text)
}

fn raw_to(url: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = [0; 2000];
    let read = read_some(&mut stream, &mut answer).unwrap_or(0);
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

pub(crate) fn text_is_text(team: &Team) {
    let nasty = "x'; DROP TABLE sessions; -- $1 ? \" \\ \u{0} % _";
    let ada = Machine::join(team, nasty.trim_end_matches(['\u{0}', ' ', '%', '_']), Role::Admin);
    let id = nasty.replace('\u{0}', "");
    let mut push = ada.made(&id, 1, (1, 21), nasty);
    for text in [
        &mut push.about.title,
        &mut push.about.project,
        &mut push.about.model,
        &mut push.about.lifecycle,
        &mut push.share,
    ] {
        nasty.clone_into(text);
    }
    assert_eq!(why(ada.client().push(&push)), "taken: 21");
    assert_eq!(team.count("SELECT count(*) FROM sessions"), 1);
    assert_eq!(ada.client().standing(&id).unwrap().unwrap().records, 21);
    assert_eq!(team.count("SELECT count(*) FROM files WHERE path LIKE '%DROP TABLE%'"), 10);
}

pub(crate) fn slow(team: &Team) {
    let usual = Patience::default();
    assert_eq!((usual.head, usual.body), (Duration::from_secs(10), Duration::from_secs(30)));
    let patience = Patience { head: Duration::from_secs(2), body: Duration::from_secs(6) };
    let url = serve_as(&team.place, |serving| serving.patience = patience);
    let began = Instant::now();
    let connect = || {
        let stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    };
    // The first sends a request and then waits, as browsers do. The second sends nothing. The third sends only the
    // beginning of its request.
    let (mut patient, _silent, mut endless) = (connect(), connect(), connect());
    patient.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    endless.write_all(b"POST /v1/join HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{").unwrap();
    let mut stream = connect();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost:").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let took = began.elapsed();
    assert!(took > Duration::from_secs(1) && took < Duration::from_secs(17), "{took:?}");
    assert!(
        raw_to(&url, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").contains("200 OK"),
        "others are answered"
    );
    let mut answer = [0; 100];
    let read = read_some(&mut endless, &mut answer).unwrap();
    assert!(String::from_utf8_lossy(&answer[..read]).starts_with("HTTP/1.1 408 "));
    assert!(began.elapsed() >= patience.body, "a body has its own limit");
    on_record(team, "too slow", 2);
}
