//! Only admins can manage members on the page. Every change and every attempt of others is recorded.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use context_graph_server::client::Client;
use context_graph_server::keys::{SigningKey, random};
use context_graph_server::members::{self, Role};
use context_graph_server::policy;
use context_graph_web::Records as _;

use crate::machine::{Machine, why};
use crate::{Team, now_ms, pages};

/// The whole response to a request.
pub(crate) fn whole(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

struct Browser<'a> {
    team: &'a Team,
    token: String,
}

impl<'a> Browser<'a> {
    fn of(team: &'a Team, group: &str, name: &str) -> Self {
        let token = members::browser_token(&team.pool, group, name, 60_000, now_ms()).unwrap().unwrap();
        Self { team, token }
    }

    fn ask(&self, first: &str, headers: &str, body: &str) -> String {
        let cookie = &self.token;
        let length = body.len();
        let text = format!(
            "{first} HTTP/1.1\r\nhost: team.example\r\nconnection: close\r\ncookie: context-graph-team={cookie}\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        whole(&self.team.url, &text)
    }

    fn page(&self) -> String {
        self.ask("GET /members", "", "")
    }

    /// Sends a form of the page.
    fn send(&self, form: &str) -> String {
        self.ask("POST /members", "origin: https://team.example\r\n", form)
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

pub(crate) fn members_page(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    Machine::join(team, "bob", Role::Lead);
    Machine::join_team(team, "other", "eve", Role::Admin);
    pages::everything(team);
    let [adas, bobs] = ["ada", "bob"].map(|name| Browser::of(team, "team", name));
    let (owner, eve) = (Browser::of(team, "team", "owner"), Browser::of(team, "other", "eve"));
    let changes = |done: i64| team.count(&format!("SELECT count(*) FROM changes WHERE is_done = {done}"));

    // Members and leads are refused. Each member's attempts of one kind are recorded once.
    for _ in 0..3 {
        assert_eq!(status(&adas.page()), "403");
        assert_eq!(status(&bobs.send("change=role&name=bob&role=admin")), "403");
    }
    assert_eq!((changes(0), changes(1)), (2, 0));
    let nobody = Browser { team, token: "person_0".to_owned() };
    assert_eq!((status(&nobody.page()), status(&nobody.send("change=remove&name=ada"))), ("401", "401"));
    let machine = Browser { team, token: ada.token.clone() };
    assert_eq!(status(&machine.page()), "401", "a machine is no person");

    // Forms from other sites and forms without an origin are refused.
    for origin in ["", "origin: https://evil.example\r\n", "origin: null\r\n"] {
        assert_eq!(status(&owner.ask("POST /members", origin, "change=remove&name=ada")), "403", "{origin}");
    }
    assert_eq!(changes(1), 0);

    let page = owner.page();
    assert!(
        status(&page) == "200"
            && page.contains("ada")
            && page.contains("laptop")
            && !page.contains("<td>eve"),
        "{page}"
    );
    for (form, said) in [
        ("change=invite&name=zoe&role=lead", "no key"),
        ("change=invite&name=&role=lead", "1 to 100"),
        ("change=invite&name=zoe&role=king", "member, lead or admin"),
        ("change=role&name=owner&role=member", "yourself"),
        ("change=invite&name=owner&role=member", "yourself"),
        ("change=remove&name=owner", "yourself"),
        ("change=remove&name=nobody", "no member or token"),
        ("change=revoke&token=x", "number"),
        ("change=drop", "invite, role, remove or revoke"),
        ("", "invite, role, remove or revoke"),
    ] {
        let answer = owner.send(form);
        assert!(status(&answer) == "400" && answer.contains(said), "{form}: {answer}");
    }
    assert_eq!(changes(1), 0);

    policy::set_key(&team.pool, "team", &[1; 32]).unwrap();
    let answer = owner.send("change=invite&name=zo%C3%AB+%3Cb%3E&role=lead");
    assert!(answer.contains("zoë &lt;b&gt;") && !answer.contains("<b>"), "{answer}");
    let invitation: String = answer[answer.find("invite_").unwrap()..]
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect();
    let key = SigningKey::from_seed(&random().unwrap()).unwrap();
    let joined = Client::new(&team.url, None, "").unwrap().join(&invitation, "new", &key).unwrap();
    assert_eq!(joined.member, "zoë <b>");
    assert!(!owner.page().contains("invite_"), "an invitation is shown once");

    assert!(owner.send("change=role&name=ada&role=lead").contains("Changed."));
    assert_eq!(team.count("SELECT count(*) FROM members WHERE name = 'ada' AND role = 'lead'"), 1);
    let token = team.count(&format!("SELECT number FROM tokens WHERE machine = {}", ada.number));
    assert_eq!(status(&eve.send(&format!("change=revoke&token={token}"))), "400", "another team's token");
    assert_eq!(status(&eve.send("change=remove&name=ada")), "400", "another team's member");
    assert!(ada.push("s", (1, 10)).is_ok());
    assert!(owner.send(&format!("change=revoke&token={token}")).contains("revoked"));
    assert!(why(ada.push("s", (11, 12))).contains("revoked"));
    assert!(owner.send("change=remove&name=bob").contains("bob (removed)"));
    assert_eq!(status(&bobs.page()), "401");
    assert_eq!(changes(1), 4);
    let told = format!("{:?}", pages::everything(team).health_checks().unwrap().unwrap());
    for what in [
        "bob tried to change members, and was refused",
        "ada asked for members, and was refused",
        "owner on the page Members (/members): ada made lead",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
}
