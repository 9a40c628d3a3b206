//! The hosts that code talks to.

use super::literals::{outside_strings, statements, string_literals};
use super::{Scan, Statement, has};
use crate::effects::is_this_machine;
use crate::effects::tools::host_of;

/// How many hosts of one piece of code are looked at.
const MAX_HOSTS: usize = 16;

/// Adds the hosts that are new.
pub(super) fn add(known: &mut Vec<String>, hosts: Vec<String>) {
    for host in hosts {
        if known.len() < MAX_HOSTS && !known.contains(&host) {
            known.push(host);
        }
    }
}

/// What names a host among strings.
fn addresses(literals: &[String]) -> Vec<String> {
    let is_address =
        |text: &&String| text.contains("://") || matches!(text.as_str(), "127.0.0.1" | "localhost");
    literals.iter().filter(is_address).cloned().collect()
}

impl Scan<'_> {
    /// The hosts that a statement which sends may mean: those that it names, or else all that the code names. An
    /// empty one is not known.
    pub(super) fn hosts_of(&self, statement: &Statement<'_>) -> Vec<String> {
        let own = addresses(&statement.operands);
        let all = if own.is_empty() { addresses(&string_literals(self.code)) } else { own };
        if all.is_empty() { vec![String::new()] } else { all }
    }

    /// Whether the code makes connections, and each names this machine. Such code is usually a test of a server.
    pub(super) fn talks_to_itself(&self) -> bool {
        let connects = |text: &&str| {
            let low = outside_strings(text);
            has(&low, &["connect(", "connection(", "fsockopen(", "bind("])
        };
        let names_itself = |text: &str| {
            let mut named = self.read(text).operands.into_iter();
            named.any(|host| is_this_machine(&host_of(&host)))
        };
        let connecting: Vec<&str> = statements(self.code).into_iter().filter(connects).collect();
        !connecting.is_empty() && connecting.into_iter().all(names_itself)
    }
}
