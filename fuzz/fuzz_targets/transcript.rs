//! Any transcript is replayed. Lines that cannot be replayed are skipped.
#![no_main]

use context_graph_cli::commands::replay;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let told = replay::tell_transcript(bytes);
    assert!(!told.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{told:?}");
});
