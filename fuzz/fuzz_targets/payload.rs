//! Any bytes on stdin are understood or refused. What is understood can be written back and applied to a session.
#![no_main]

use context_graph_cli::commands::hooks::input;
use context_graph_core::session::{EventRecord, Session};
use context_graph_events::Event;
use context_graph_secrets::{Memory, Redactor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(incoming) = input::decode(bytes) else { return };
    let object = incoming.event.clone().into_object();
    assert_eq!(Event::from_object(object).as_ref(), Ok(&incoming.event));
    let (redactor, mut memory) = (Redactor::new([1; 32]), Memory::default());
    if let Ok((record, event)) = EventRecord::of(incoming.event, 1_700_000_000_000, &redactor, &mut memory) {
        let mut session = Session::new("s", "/p", 0);
        session.step(&record, &event);
        assert_eq!(session.snapshot.first_invalid_field(), None);
        let _ = session.tell_digest(2000, "");
    }
});
