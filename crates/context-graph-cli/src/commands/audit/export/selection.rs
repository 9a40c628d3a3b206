//! Which of a session's entries are exported.

use std::collections::HashSet;

use context_graph_core::audit::Entry;
use context_graph_core::session::EventRecord;
use context_graph_storage::audit_index::{Built, Filter, Row};

use super::super::asked::Asked;

/// Whether nothing is left out of a session.
pub(super) fn is_everything(asked: &Asked) -> bool {
    let Filter { tools, events, agents, verdicts, outcomes, rules, paths, since_ms, until_ms } =
        &asked.filter;
    let names = [tools, events, agents, verdicts, rules, paths];
    asked.needles.is_empty()
        && names.into_iter().all(Vec::is_empty)
        && outcomes.is_empty()
        && since_ms.is_none()
        && until_ms.is_none()
}

/// Leaves only the entries that fit, as `audit log` would. They must have been told from these records.
pub(super) fn choose(
    asked: &Asked,
    session_id: &str,
    records: &[(u64, EventRecord)],
    entries: &mut Vec<Entry>,
) {
    let table = Built::of(session_id, records).into_table();
    let matcher = table.as_ref().and_then(|table| asked.filter.on(table));
    let (Some(table), Some(matcher)) = (&table, &matcher) else { return entries.clear() };
    let saying = saying(asked, records);
    let says =
        |row: Row<'_>| saying.as_ref().is_none_or(|seqs| row.parts().any(|part| seqs.contains(&part.seq)));
    // The table has a row for each entry, in the same order.
    let mut fits = table.rows().map(|row| matcher.matches(row) && says(row));
    entries.retain(|_| fits.next().unwrap_or(false));
}

/// The numbers of the records that say one of the words, where words are asked for.
fn saying(asked: &Asked, records: &[(u64, EventRecord)]) -> Option<HashSet<u64>> {
    let says = |record: &EventRecord| asked.needles.iter().any(|needle| needle.is_in(record));
    let seqs = || records.iter().filter(|(_, record)| says(record)).map(|(seq, _)| *seq).collect();
    (!asked.needles.is_empty()).then(seqs)
}
