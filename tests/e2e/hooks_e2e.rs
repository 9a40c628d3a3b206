//! The real clients with our hooks and a scripted model, and the dashboard in a real browser. One program, because most of
//! it waits: the tests of one part run while others wait.
//!
//! One module per promise for Claude Code; `agents` for the other clients, `web` for the dashboard. If a client or the
//! browser is not installed, its tests are reported as ignored. `tests/e2e/install-client`, `tests/agents/install-agents` and
//! `tests/web/install` install them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, clippy::disallowed_methods, reason = "a program of its own")]

mod acts;
#[path = "../agents/mod.rs"]
mod agents;
mod guards;
mod harness;
mod installs;
#[cfg(unix)]
mod interactive;
mod keeps_the_thread;
mod lab;
mod mcp_server;
mod model;
#[cfg(unix)]
#[path = "../../crates/context-graph-cli/tests/common/pty.rs"]
mod pty;
mod records;
#[cfg(unix)]
mod screen;
mod understands;
#[path = "../web/mod.rs"]
mod web;

use std::process::ExitCode;

use harness::Test;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(mcp_server::VERB) {
        mcp_server::serve();
        return ExitCode::SUCCESS;
    }
    let missing = lab::find().err();
    // Tests in a browser and on a terminal first: they wait, so the others run meanwhile.
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
    harness::run(web::all().into_iter().chain(with_client).chain(agents::all()).chain(without)).exit_code()
}
