//! Any bytes found on disk are read or refused.
#![no_main]

use context_graph_storage::{codec, sessions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(snapshot) = codec::decode(bytes) {
        let _ = codec::encode(&snapshot);
    }
    if let Ok(session) = sessions::decode_session(bytes) {
        let _ = session.digest(2000, "");
    }
    if let Ok(record) = sessions::decode_record(bytes) {
        let _ = record.for_the_log().event();
    }
});
