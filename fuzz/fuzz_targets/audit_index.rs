//! Any file in place of a segment of the audit index is read or counts as missing; whatever a table says in it can be
//! asked for.
#![no_main]

use std::collections::HashSet;
use std::fs;

use context_graph_core::audit::{Needle, Outcome};
use context_graph_fuzz::{empty_folder, number, take};
use context_graph_storage::StateFolder;
use context_graph_storage::audit_index::{AuditIndex, Built, Filter, Stamp, grams};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

const STAMP: Stamp = Stamp { last_seq: 1, first_stored_ms: 2 };

/// A segment whose directory checks out.
fn segment(pieces: &[u8], directory: &[u8]) -> Vec<u8> {
    let mut file = [pieces, directory].concat();
    for word in [pieces.len() as u64, directory.len() as u64, xxh3_64(directory)] {
        file.extend(word.to_le_bytes());
    }
    file.extend(b"cgaudit\x01");
    file
}

/// A segment with one session, whose table and signature are any bytes.
fn with_table(mut rest: &[u8]) -> Vec<u8> {
    let length = number(&mut rest) as usize % 64;
    let signature = take(&mut rest, length);
    let pieces = [rest, signature].concat();
    let table = (0_u64, rest.len() as u32, xxh3_64(rest));
    let grams = (rest.len() as u64, signature.len() as u32, xxh3_64(signature));
    let stored = ("s", STAMP.last_seq, STAMP.first_stored_ms, table, grams);
    segment(&pieces, &postcard::to_stdvec(&[stored][..]).expect("numbers can be written"))
}

fn ask(index: &AuditIndex) {
    let Some(table) = index.table("s", STAMP) else { return };
    let one = |text: &str| vec![text.to_owned()];
    let filter = Filter {
        tools: one("B*"),
        events: one("PreToolUse"),
        agents: one("main"),
        verdicts: one("deny"),
        outcomes: Outcome::ALL.to_vec(),
        rules: one("guard"),
        paths: one("src/*.rs"),
        since_ms: Some(0),
        until_ms: Some(i64::MAX),
    };
    let filters = [
        Filter::default(),
        Filter { events: filter.events.clone(), ..Filter::default() },
        Filter { rules: filter.rules.clone(), ..Filter::default() },
        Filter { paths: filter.paths.clone(), ..Filter::default() },
        filter,
    ];
    let matchers: Vec<_> = filters.iter().filter_map(|filter| filter.on(&table)).collect();
    for row in table.rows() {
        let _ = matchers.iter().filter(|matcher| matcher.matches(row)).count();
        let _ = (row.at_ms(), row.first_seq(), row.batch_seq(), row.is_call(), row.name(), row.subject());
        let _ = (row.agent_id(), row.agent_kind(), row.verdict(), row.outcome(), row.evidence());
        let _ =
            (row.permission_asked(), row.deferrals(), row.duration_ms(), row.between_ms(), row.tool_use_id());
        let _ = (
            row.rules().count(),
            row.paths().count(),
            row.parts().map(|part| part.event.len()).sum::<usize>(),
        );
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let [kind] = take(&mut rest, 1) else { return };
    let project = empty_folder();
    let folder = StateFolder::open_or_create(&project, None).expect("an empty folder");
    let index = folder.path().join("index");
    fs::create_dir_all(&index).expect("a folder");
    let file = match kind % 3 {
        0 => rest.to_vec(),
        1 => with_table(rest),
        _ => {
            let length = number(&mut rest) as usize % 4096;
            segment(take(&mut rest, length), rest)
        }
    };
    fs::write(index.join("1.tables"), file).expect("a file");
    let mut index = AuditIndex::open(&folder);
    ask(&index);
    if let Some(signature) = index.grams("s", STAMP) {
        let _ = grams::may_contain(&signature, &Needle::new("needle"));
    }
    // The damaged segment is taken into the next one.
    index.keep("t", STAMP, Built::of("t", &[]));
    index.save(&HashSet::from(["s", "t"])).expect("an index can always be written");
    let index = AuditIndex::open(&folder);
    assert!(index.table("t", STAMP).is_some_and(|table| table.is_empty()));
    ask(&index);
});
