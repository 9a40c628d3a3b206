//! The dashboard as its user starts it, with data from real hooks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use common::Place;
use serde_json::{Value, json};

/// A running dashboard, with the cookie to use it.
struct Dashboard {
    process: Child,
    port: u16,
    cookie: String,
}

impl Dashboard {
    fn open(place: &Place, more: &[&str]) -> Self {
        Self::start(place.command(&[&["dashboard", "--no-open"], more].concat()))
    }

    fn start(mut command: Command) -> Self {
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/?token=").unwrap_or_else(|| panic!("{line}"));
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        let mut dashboard = Self { process, port, cookie: String::new() };
        let welcome = dashboard.ask(&format!("/?token={token}")).1;
        let cookie = welcome.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
        dashboard.cookie = format!("Cookie: {cookie}\r\n");
        dashboard
    }

    /// The status and the whole response.
    fn ask(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (port, cookie) = (self.port, &self.cookie);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n{cookie}\r\n")
            .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    fn page(&self, path: &str) -> String {
        let (status, answer) = self.ask(path);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn send(place: &Place, session: &str, name: &str, own: Value) {
    let mut event = json!({"hook_event_name": name, "session_id": session, "transcript_path": "", "cwd": place.project()});
    event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    let run = place.send(&["hooks", "event", "--stdin"], event.to_string());
    assert_eq!(run.code, 0, "{run:?}");
}

fn call(place: &Place, session: &str, id: &str, tool: &str, input: Value, result: Option<&str>) {
    send(place, session, "PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}));
    if let Some(result) = result {
        let response = json!({"content": result});
        let own =
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": response});
        send(place, session, "PostToolUse", own);
    }
}

/// A finished session with a denied call and a file, and a running session.
fn play(place: &Place) {
    let file = place.project().join("src/parser.rs");
    send(place, "first-session", "SessionStart", json!({"source": "startup", "model": "a-model"}));
    send(place, "first-session", "UserPromptSubmit", json!({"prompt": "Mend the parser of numbers"}));
    call(place, "first-session", "call-1", "Read", json!({"file_path": file}), Some("fn parse() {}"));
    call(place, "first-session", "call-2", "Bash", json!({"command": "git push --force origin main"}), None);
    send(place, "first-session", "Stop", json!({"stop_hook_active": false}));
    send(place, "first-session", "SessionEnd", json!({"reason": "other"}));
    send(place, "second-session", "SessionStart", json!({"source": "startup"}));
    send(place, "second-session", "UserPromptSubmit", json!({"prompt": "Write the release notes"}));
    call(place, "second-session", "call-3", "Grep", json!({"pattern": "Unreleased"}), Some("CHANGELOG.md"));
}

#[test]
fn every_page_tells_what_is_on_record() {
    let place = Place::without_upkeep();
    play(&place);
    let dashboard = Dashboard::open(&place, &[]);
    let now = dashboard.page("/");
    assert!(now.contains("Write the release notes") && now.contains("git push --force"), "{now}");
    let sessions = dashboard.page("/sessions");
    assert!(sessions.contains("Mend the parser of numbers") && sessions.contains("a-model"), "{sessions}");
    let running = dashboard.page("/sessions?state=running");
    assert!(running.contains("release notes") && !running.contains("Mend the parser"), "{running}");
    for (path, says) in [
        ("/sessions/first-session", "Time axis"),
        ("/sessions/first-se", "src/parser.rs"),
        ("/sessions/first-session/3", "chain holds"),
        ("/sessions/second-session/3", "in the journal"),
        ("/sessions/first-session/spark.svg", "</svg>"),
        ("/calls", "--tool &#39;*&#39;"),
        ("/calls?outcome=denied", "git push --force"),
        ("/calls?text=RELEASE%20notes&calls=0", "audit log --text &#39;RELEASE notes&#39;"),
        ("/calls?path=parser.rs", "src/parser.rs"),
        ("/guard", "destructive-git/force-push"),
        ("/guard/first-session/5", "[[exceptions]]"),
        ("/files", "parser.rs"),
        ("/health", "UserPromptSubmit"),
    ] {
        let page = dashboard.page(path);
        assert!(page.contains(says), "{path} does not say {says}: {page}");
    }
    for path in ["/sessions/nobody", "/sessions/first-session/999"] {
        assert_eq!(dashboard.ask(path).0, if path.ends_with("999") { 400 } else { 404 }, "{path}");
    }
}

#[test]
fn denied_calls_are_counted_alike_on_every_page() {
    let place = Place::without_upkeep();
    // One call was denied by a rule. Another was denied by the user in an imported session, where no rule of ours
    // decided.
    play(&place);
    let newest: Value = serde_json::from_str(&place.run(&["session", "status", "--json"]).stdout).unwrap();
    let newest_ms = newest["updated_ms"].as_i64().unwrap();
    let at = |minutes: i64| {
        chrono::DateTime::from_timestamp_millis(newest_ms - minutes * 60_000).unwrap().to_rfc3339()
    };
    let line = |minutes, kind: &str, content: Value| {
        json!({"type": kind, "sessionId": "0198c1de-0000-7000-8000-000000000001", "cwd": place.project(), "timestamp": at(minutes),
            "message": {"role": kind, "content": content}})
        .to_string()
    };
    let lines = [
        line(9, "user", json!("push it")),
        line(
            8,
            "assistant",
            json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git push"}}]),
        ),
        line(
            7,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true,
            "content": "The user doesn't want to proceed with this tool use."}]),
        ),
    ];
    let folder = place.home().join(".claude/projects/some");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("0198c1de-0000-7000-8000-000000000001.jsonl"), lines.join("\n")).unwrap();
    let imported = place.run(&["import"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    let stats: Value = serde_json::from_str(&place.run(&["audit", "stats", "--json"]).stdout).unwrap();
    assert_eq!(stats["outcomes"]["denied"], 2, "{stats}");
    let dashboard = Dashboard::open(&place, &[]);
    let words = |path: &str| {
        let page = dashboard.page(path);
        let parts = page.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
        parts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    let (now, guard) = (words("/"), words("/guard?since=1d"));
    assert!(now.contains("0 failed, 2 denied"), "{now}");
    assert!(guard.contains("2 calls denied"), "{guard}");
}

#[test]
fn what_happens_while_it_is_open_is_on_the_next_page() {
    let place = Place::without_upkeep();
    let dashboard = Dashboard::open(&place, &[]);
    assert!(dashboard.page("/").contains("No sessions yet"));
    play(&place);
    assert!(dashboard.page("/").contains("Write the release notes"));
    call(&place, "second-session", "call-4", "Bash", json!({"command": "echo what-is-new"}), Some("ok"));
    assert!(dashboard.page("/calls").contains("what-is-new"));
    assert!(dashboard.page("/sessions/second-session").contains("what-is-new"));
    send(&place, "second-session", "SessionEnd", json!({"reason": "other"}));
    assert!(!dashboard.page("/").contains("class=\"card\""));
}

#[test]
fn pages_of_calls_lead_through_all_of_them_once() {
    let place = Place::without_upkeep();
    send(&place, "long", "SessionStart", json!({"source": "startup"}));
    for number in 0..130 {
        call(
            &place,
            "long",
            &format!("call-{number}"),
            "Bash",
            json!({"command": format!("echo number-{number}-")}),
            None,
        );
    }
    let dashboard = Dashboard::open(&place, &[]);
    let (mut path, mut seen) = ("/calls".to_owned(), Vec::new());
    for _ in 0..5 {
        let page = dashboard.page(&path);
        seen.extend(
            page.split("number-").skip(1).filter_map(|rest| rest.split('-').next()?.parse::<u32>().ok()),
        );
        match page.split("rel=\"next\"").next().and_then(|before| before.rsplit("href=\"").next()) {
            Some(next) if page.contains("rel=\"next\"") => {
                path = next.split('"').next().unwrap().replace("&amp;", "&");
            }
            _ => break,
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..130).collect::<Vec<u32>>());
}

#[test]
fn all_projects_are_shown_together() {
    let place = Place::without_upkeep();
    play(&place);
    let other = place.project().parent().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    let mut hook = place.command(&["hooks", "event", "--stdin"]);
    hook.env("CLAUDE_PROJECT_DIR", &other).current_dir(&other);
    let event = json!({"hook_event_name": "SessionStart", "session_id": "elsewhere", "transcript_path": "", "cwd": other,
        "source": "startup", "model": "another-model"});
    assert_eq!(common::send(hook, event.to_string().as_bytes()).code, 0);
    let dashboard = Dashboard::open(&place, &["--all"]);
    let sessions = dashboard.page("/sessions");
    assert!(sessions.contains("Mend the parser") && sessions.contains("another-model"), "{sessions}");
    let other = other.canonicalize().unwrap();
    let only = dashboard.page(&format!("/sessions?project={}", other.display()));
    assert!(!only.contains("Mend the parser") && only.contains("another-model"), "{only}");
    assert_eq!(dashboard.ask("/sessions/elsewhere").0, 200);
}

#[test]
fn a_report_is_one_file_that_loads_and_runs_nothing() {
    let place = Place::without_upkeep();
    play(&place);
    let file = place.project().join("session.html");
    let run = place.run(&["audit", "report", "first-session", "--html", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("Mend the parser of numbers") && page.contains("git push --force"), "{page}");
    assert!(
        page.contains("default-src 'none'; style-src 'unsafe-inline'") && !page.contains("<script"),
        "{page}"
    );
    for loaded in [" src=", "<link", "url(", " href="] {
        assert!(!page.contains(loaded), "{loaded}");
    }
    let again = place.run(&["audit", "report", "first-session", "--html", file.to_str().unwrap()]);
    assert_eq!(again.code, 1, "{again:?}");
    let missing = place.run(&["audit", "report", "nobody", "--html", "x.html", "--json"]);
    assert!(missing.code == 1 && missing.stdout.contains("session_not_found"), "{missing:?}");
}

#[test]
fn a_record_that_was_changed_is_shown_as_such() {
    let place = Place::without_upkeep();
    play(&place);
    let store = place.project().join(".context-graph/data/context-graph.db");
    let changed = rusqlite::Connection::open(store).unwrap().execute(
        "UPDATE blocks SET content = substr(content, 1, length(content) - 1) || x'00'
         WHERE session = (SELECT number FROM sessions WHERE session_id = 'first-session')",
        [],
    );
    assert!(changed.unwrap() > 0);
    let dashboard = Dashboard::open(&place, &[]);
    let (_, page) = dashboard.ask("/sessions/first-session/2");
    assert!(
        page.contains("chain is broken") || page.contains("unreadable") || page.contains("no record"),
        "{page}"
    );
    dashboard.page("/health?verify=1");
    for _ in 0..100 {
        let page = dashboard.page("/health");
        if page.contains("does not hold") {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the verification does not say that the record was changed");
}

#[test]
fn who_has_looked_all_the_time_sees_what_a_fresh_look_sees() {
    let place = Place::without_upkeep();
    let watching = Dashboard::open(&place, &[]);
    let steps: [fn(&Place); 9] = [
        |place| play(place),
        |place| call(place, "second-session", "d1", "Bash", json!({"command": "echo one"}), None),
        |place| send(place, "second-session", "Stop", json!({"stop_hook_active": false})),
        |place| {
            send(place, "second-session", "UserPromptSubmit", json!({"prompt": "And now the second part"}));
        },
        |place| call(place, "second-session", "d2", "Edit", json!({"file_path": "/x.rs"}), Some("edited")),
        |place| {
            send(place, "first-session", "UserPromptSubmit", json!({"prompt": "Once more from the start"}));
        },
        |place| call(place, "first-session", "d3", "Bash", json!({"command": "cargo test"}), Some("ok")),
        |place| send(place, "second-session", "SessionEnd", json!({"reason": "other"})),
        |place| call(place, "first-session", "d4", "Bash", json!({"command": "git push --force"}), None),
    ];
    let body = |dashboard: &Dashboard, path: &str| {
        dashboard.page(path).split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap()
    };
    for (number, step) in steps.iter().enumerate() {
        step(&place);
        let fresh = Dashboard::open(&place, &[]);
        for path in [
            "/calls?calls=0",
            "/sessions",
            "/sessions/second-session",
            "/sessions/first-session",
            "/guard",
            "/files",
        ] {
            assert_eq!(body(&watching, path), body(&fresh, path), "{path} after step {number}");
        }
    }
}

#[test]
fn the_pages_name_other_clients_and_list_the_sessions_of_one() {
    let place = Place::without_upkeep();
    for (id, more) in [("a1", json!({})), ("c1", json!({"turn_id": "t1"}))] {
        let mut call = json!({"hook_event_name": "PreToolUse", "session_id": id, "transcript_path": "/t",
            "cwd": place.project(), "tool_name": "Bash", "tool_input": {"command": "echo"}, "tool_use_id": "u"});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(place.send(&["hooks", "event"], call.to_string()).code, 0);
        call["hook_event_name"] = "PostToolUse".into();
        call["tool_response"] = "done".into();
        assert_eq!(place.send(&["hooks", "event"], call.to_string()).code, 0);
    }
    let dashboard = Dashboard::open(&place, &[]);
    let all = dashboard.page("/sessions");
    assert!(all.contains("/sessions/codex-c1") && all.contains("/sessions/a1"), "{all}");
    let one = dashboard.page("/sessions?agent=codex");
    assert!(one.contains("/sessions/codex-c1") && !one.contains("/sessions/a1"), "{one}");
    assert!(one.contains("<span class=\"client\">Codex</span>"), "{one}");
    assert!(dashboard.page("/sessions/codex-c1").contains("<span class=\"client\">Codex</span>"));
    assert!(!dashboard.page("/sessions/a1").contains("class=\"client\""));
    assert!(dashboard.page("/sessions/codex-c1/1").contains("<dt>client</dt><dd>Codex</dd>"));
}

#[test]
fn sessions_from_before_a_project_was_moved_are_found_by_its_new_place() {
    let place = Place::without_upkeep();
    play(&place);
    let moved = place.project().with_file_name("moved");
    std::fs::rename(place.project(), &moved).unwrap();
    let mut command = place.command(&["dashboard", "--no-open"]);
    command.env("CLAUDE_PROJECT_DIR", &moved).current_dir(&moved);
    let sessions = Dashboard::start(command).page(&format!("/sessions?project={}", moved.display()));
    assert!(sessions.contains("Mend the parser") && sessions.contains("release notes"), "{sessions}");
}

#[test]
fn projects_that_share_a_database_are_told_apart() {
    let place = Place::without_upkeep();
    let [one, two] = ["one", "two"].map(|name| place.project().with_file_name(name));
    let command = |root: &Path, args: &[&str]| {
        let mut command = place.command(args);
        command.env("CLAUDE_PROJECT_DIR", root).current_dir(root);
        command.env("CONTEXT_GRAPH_DB_PATH", place.home().join("shared"));
        command
    };
    for (root, session) in [(&one, "s1"), (&two, "s2")] {
        std::fs::create_dir(root).unwrap();
        let file = json!({"file_path": root.join("src/main.rs")});
        let reset = json!({"command": "git reset --hard origin/main"});
        for (name, own) in [
            ("UserPromptSubmit", json!({"prompt": "draw the map"})),
            ("PreToolUse", json!({"tool_name": "Read", "tool_input": file, "tool_use_id": "t1"})),
            ("PreToolUse", json!({"tool_name": "Bash", "tool_input": reset, "tool_use_id": "t2"})),
        ] {
            let mut event =
                json!({"hook_event_name": name, "session_id": session, "transcript_path": "", "cwd": root});
            event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
            let run = common::send(command(root, &["hooks", "event"]), event.to_string().as_bytes());
            assert_eq!(run.code, 0, "{run:?}");
        }
    }
    // One of the sessions is in the store, the other only in its journal.
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s1", "transcript_path": "", "cwd": one, "reason": "other"});
    common::send(command(&one, &["hooks", "event"]), end.to_string().as_bytes());
    let allow = ["policy", "allow", "destructive-git/reset-hard", "--yes"];
    let allowed = common::send(command(&one, &allow), b"");
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let dashboard = Dashboard::start(command(&one, &["dashboard", "--no-open", "--all-projects"]));
    let sessions = dashboard.page("/sessions");
    for root in [&one, &two] {
        assert!(sessions.contains(&format!("value=\"{}\"", root.display())), "{root:?}: {sessions}");
    }
    let files = dashboard.page("/files");
    assert!(files.contains("one%2Fsrc%2Fmain.rs") && files.contains("two%2Fsrc%2Fmain.rs"), "{files}");
    let through = "let it through now";
    let [of_one, of_two] = ["/guard/s1/3", "/guard/s2/3"].map(|path| dashboard.page(path));
    assert!(of_one.contains(through) && !of_two.contains(through), "{of_one} {of_two}");
}
