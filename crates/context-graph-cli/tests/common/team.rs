//! A team's server over a file, and machines that have joined it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use super::{Place, Run};

/// A server that is killed on drop.
pub struct Server {
    pub child: Child,
    pub url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts it on this place's file, on a free port or on the given one.
    pub fn start(place: &Place, port: u16) -> Self {
        let listen = format!("127.0.0.1:{port}");
        let mut command = place.command(&["server", "run", "--listen", &listen]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().to_owned() }
    }

    pub fn port(&self) -> u16 {
        self.url.rsplit_once(':').unwrap().1.parse().unwrap()
    }
}

pub fn ok(run: Run) -> String {
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout
}

/// A machine of a member who has joined.
pub fn joined(host: &Place, server: &Server, name: &str) -> Place {
    let invitation = ok(host.run(&["server", "invite", name]));
    let place = Place::without_upkeep();
    let url = server.url.replace("127.0.0.1", "localhost");
    ok(place.run(&[
        "team",
        "join",
        &url,
        "--invitation",
        invitation.lines().next().unwrap(),
        "--machine",
        "laptop",
    ]));
    place
}
