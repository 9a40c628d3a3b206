//! The real client with our hooks and a scripted model: do our hooks work, and does the client report no error?
//!
//! One module per promise. If the client is not installed, each test is reported as ignored.
//! `tests/e2e/install-client` installs the client.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, clippy::disallowed_methods, reason = "a program of its own")]

mod acts;
mod guards;
mod harness;
mod installs;
#[cfg(unix)]
mod interactive;
mod keeps_the_thread;
mod lab;
mod mcp_server;
mod model;
mod records;
#[cfg(unix)]
mod screen;
mod understands;

use std::process::ExitCode;

use harness::Test;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(mcp_server::VERB) {
        mcp_server::serve();
        return ExitCode::SUCCESS;
    }
    let missing = lab::find().err();
    // Tests on a terminal first: they wait after each key, so the others run meanwhile.
    let with_client = [
        #[cfg(unix)]
        interactive::all(),
        #[cfg(unix)]
        screen::all(),
        understands::all(),
        keeps_the_thread::all(),
        guards::all(),
        records::all(),
        acts::all(),
        installs::all(),
    ];
    let with_client = with_client.into_iter().flatten().map(|test| test.unless(missing.clone()));
    let without =
        [Test::new("understands: every event has its scenario", understands::every_event_is_provoked)];
    harness::run(with_client.chain(without)).exit_code()
}
