//! Checks the server's answer to `/metrics` against the rules of Prometheus' text format.

use std::collections::{HashMap, HashSet};

use context_graph_server::members::Role;

use crate::Team;
use crate::machine::Machine;
use crate::managing::whole;

fn is_name(name: &str) -> bool {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || letter == ':';
    name.starts_with(is_first) && name.chars().all(|letter| is_first(letter) || letter.is_ascii_digit())
}

/// A name and its labels.
fn series(text: &str) -> (&str, Vec<(&str, &str)>) {
    let Some((name, rest)) = text.split_once('{') else { return (text, Vec::new()) };
    let labels = rest.strip_suffix('}').unwrap().split(',').map(|pair| {
        let (label, value) = pair.split_once('=').unwrap();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap();
        assert!(is_name(label) && !label.contains(':') && !label.starts_with("__"), "{label}");
        assert!(!value.contains(['"', '\\', '\n']), "nothing here has to be escaped: {value}");
        (label, value)
    });
    (name, labels.collect())
}

/// The values by series. Checks that every line follows the format.
fn scraped(url: &str) -> HashMap<String, u64> {
    let answer = whole(url, "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.to_lowercase().contains("\r\ncontent-type: text/plain; version=0.0.4"), "{head}");
    assert!(body.ends_with('\n') && !body.contains('\r'), "lines end in a line feed, and so does the last");
    let (mut values, mut typed, mut explained, mut current) =
        (HashMap::new(), HashSet::new(), HashSet::new(), String::new());
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, text) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && !text.is_empty() && explained.insert(name.to_owned()), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && ["counter", "gauge"].contains(&kind), "{line}");
            assert!(kind != "counter" || name.ends_with("_total"), "a counter's name says so: {line}");
            assert!(typed.insert(name.to_owned()), "one type for a name: {line}");
            assert!(explained.contains(name), "its help comes first: {line}");
            name.clone_into(&mut current);
            continue;
        }
        let (what, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series(what);
        assert!(is_name(name) && name == current, "samples follow their type: {line}");
        let labels: HashSet<&str> = labels.iter().map(|(label, _)| *label).collect();
        assert_eq!(labels.len(), what.matches('=').count(), "a label is there once: {line}");
        let value: u64 = value.parse().unwrap();
        assert!(values.insert(what.to_owned(), value).is_none(), "{line}");
    }
    assert_eq!(typed, explained);
    values
}

pub(crate) fn scrape(team: &Team) {
    let before = scraped(&team.url);
    let ada = Machine::join(team, "ada", Role::Member);
    ada.push("s", (1, 10)).unwrap();
    ada.push("s", (1, 10)).unwrap();
    assert!(ada.push("s", (20, 30)).is_err());
    whole(&team.url, "POST /v1/push HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    whole(
        &team.url,
        "POST /v1/join HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 99999999\r\n\r\n",
    );
    let after = scraped(&team.url);
    let grown = |name: &str| after[name] - before[name];
    assert_eq!(before.len(), after.len(), "series are there from the start");
    // The first scrape, which is counted only after its answer, one join, and two accepted pushes.
    assert_eq!(grown("context_graph_answers_total{status=\"2xx\"}"), 4);
    assert_eq!(grown("context_graph_answers_total{status=\"4xx\"}"), 3);
    assert_eq!(grown("context_graph_answers_total{status=\"5xx\"}"), 0);
    assert_eq!(grown("context_graph_pushes_taken_total"), 2);
    assert_eq!(grown("context_graph_pushes_not_taken_total"), 1);
    assert_eq!(grown("context_graph_turned_away_total{kind=\"too large\"}"), 1);
    assert_eq!(grown("context_graph_turned_away_total{kind=\"too frequent\"}"), 0);
}
