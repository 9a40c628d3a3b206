//! A team's server over a file, and machines that have joined it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use super::{Place, Run};

/// A server that is killed on drop.
pub struct Server {
    pub child: Child,
    pub url: String,
    /// `--database` and the address; nothing for a file.
    pub database: Vec<String>,
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
        Self::start_on(place, port, &[])
    }

    /// The same on this database.
    pub fn start_on(place: &Place, port: u16, database: &[String]) -> Self {
        let listen = format!("127.0.0.1:{port}");
        let mut command = place.command(&["server"]);
        command.args(database).args(["run", "--listen", &listen]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().to_owned(), database: database.to_vec() }
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
    let mut asked: Vec<&str> = vec!["server"];
    asked.extend(server.database.iter().map(String::as_str));
    asked.extend(["invite", name]);
    let invitation = ok(host.run(&asked));
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
