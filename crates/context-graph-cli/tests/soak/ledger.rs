//! What happened to each event, and whether the records agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::binary;
use crate::sender::Event;

/// What the sender saw.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// The answer said that the event was recorded.
    Acknowledged,
    /// The answer said that it was not, with this exit code and reason.
    Refused(i32, String),
    /// Nobody read the answer.
    Unheard,
    /// There was no answer, or only a part of it.
    Lost(String),
    /// The answer reported a panic.
    Panicked(String),
}

#[derive(Default)]
pub(crate) struct Ledger {
    sent: HashMap<String, (String, Fate)>,
}

impl Ledger {
    pub(crate) fn note(&mut self, event: Event, fate: Fate) {
        self.sent.insert(event.mark, (event.session, fate));
    }

    /// How many events had each fate.
    pub(crate) fn told(&self) -> String {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (_, fate) in self.sent.values() {
            *counts.entry(format!("{fate:?}").chars().take(90).collect()).or_default() += 1;
        }
        let lines: Vec<String> = counts.iter().map(|(fate, count)| format!("  {count:>7} {fate}")).collect();
        lines.join("\n")
    }

    /// Compares with the records.
    pub(crate) fn settle(&self, project: &Path) {
        let mut panics = self.sent.values().filter(|(_, fate)| matches!(fate, Fate::Panicked(_)));
        assert_eq!(panics.next(), None, "a process panicked");
        let mut damage = self.sent.values().filter(|(_, fate)| matches!(fate, Fate::Refused(2, _)));
        assert_eq!(damage.next(), None, "nothing was damaged, yet a process said so");

        let verified = binary(project, &["audit", "verify", "--json"]).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));

        let mut problems = Vec::new();
        let sessions: BTreeSet<&String> = self.sent.values().map(|(session, _)| session).collect();
        let mut found: HashMap<String, u64> = HashMap::new();
        let mut records = 0;
        for session in sessions {
            let export = binary(project, &["session", "export", session]).output().unwrap();
            assert!(export.status.success(), "{session}: {}", String::from_utf8_lossy(&export.stderr));
            let text = String::from_utf8(export.stdout).unwrap();
            let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let head = lines.next().unwrap();
            let mut own = 0;
            for line in lines {
                own += 1;
                let payload = line["record"]["payload"].as_str().unwrap();
                // Records without a mark are our own, such as a dream.
                if let Some(at) = payload.find("mark-") {
                    *found.entry(payload[at..at + "mark-00000000-".len()].to_owned()).or_default() += 1;
                }
            }
            let counted = head["session"]["state"]["counters"]["events"].as_u64().unwrap();
            if counted != own {
                problems.push(format!("{session} counts {counted} events and has {own}"));
            }
            records += own;
        }
        for (mark, (session, fate)) in &self.sent {
            let times = found.remove(mark).unwrap_or(0);
            if times > 1 {
                problems.push(format!("{mark} of {session} is on record {times} times ({fate:?})"));
            }
            if *fate == Fate::Acknowledged && times == 0 {
                problems.push(format!("{mark} of {session} was acknowledged and is missing"));
            }
        }
        problems.extend(found.keys().map(|mark| format!("{mark} is on record and was never sent")));
        if let Some(keep) = std::env::var_os("SOAK_KEEP").filter(|_| !problems.is_empty()) {
            let copied = Command::new("cp").arg("-a").arg(project).arg(keep).status();
            println!("kept: {copied:?}");
        }
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
        println!("{records} records: 0 acknowledged events lost, 0 on record twice");
    }
}
