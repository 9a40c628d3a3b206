//! The hosts that code talks to.

use super::literals::{outside_strings, statements, string_literals};
use super::{Scan, has};
use crate::effects::is_this_machine;
use crate::effects::tools::host_of;

/// How many hosts of one piece of code are looked at.
const MAX_HOSTS: usize = 16;

fn names_this_machine(host: &str) -> bool {
    is_this_machine(&host_of(host))
}

/// Adds the hosts that are new. A host on this machine is only added to an empty list, so that such hosts leave room
/// for others.
pub(super) fn add(known: &mut Vec<String>, hosts: Vec<String>) {
    for host in hosts {
        let is_new = !known.contains(&host) && (known.is_empty() || !names_this_machine(&host));
        if known.len() < MAX_HOSTS && is_new {
            known.push(host);
        }
    }
}

/// The strings that name a host. An address inside a sentence does not count: the code does not connect to it.
pub(super) fn named(literals: &[String]) -> Vec<String> {
    let is_address = |text: &&String| match text.trim_start().split_once("://") {
        Some((scheme, _)) => !scheme.contains(char::is_whitespace),
        None => matches!(text.as_str(), "127.0.0.1" | "localhost"),
    };
    literals.iter().filter(is_address).cloned().collect()
}

impl Scan<'_> {
    /// All hosts that the code names. Used for a statement that sends something but names no host. An empty string
    /// means an unknown host.
    pub(super) fn all_hosts(&self) -> Vec<String> {
        let all = named(&string_literals(self.code));
        if all.is_empty() { vec![String::new()] } else { all }
    }

    /// Whether the code makes connections, and each names this machine. Such code is usually a test of a server.
    pub(super) fn talks_only_to_this_machine(&self) -> bool {
        let connects = |text: &&str| {
            let low = outside_strings(text);
            // A file of SQLite is no host.
            let low = low.replace("sqlite3.connect(", "");
            has(&low, &["connect(", "connection(", "fsockopen(", "bind("])
        };
        // A helper may get the host from its caller, so a statement without one does not count.
        let connecting = statements(self.code).into_iter().filter(connects);
        let named: Vec<String> = connecting.flat_map(|text| self.read(text).operands).collect();
        // A server at these is open to others.
        let is_here = |host: &String| names_this_machine(host) && !matches!(host.as_str(), "0.0.0.0" | "::");
        named.iter().any(is_here) && named.iter().all(|host| is_here(host) || !host.contains(['.', ':']))
    }
}
