//! The binary as a person uses it, on a pseudo-terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::{Place, Run, pty};

/// After this time, the program counts as hung.
const LIMIT: Duration = Duration::from_mins(1);

/// A program on its own terminal.
pub struct OnTerminal {
    child: Child,
    keyboard: File,
    shown: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

impl Place {
    /// Starts the binary on a terminal with this many columns.
    pub fn on_terminal(&self, args: &[&str], columns: u16) -> OnTerminal {
        let mut command = self.command(args);
        command.env("TERM", "xterm-256color");
        OnTerminal::start(command, columns)
    }
}

impl OnTerminal {
    pub fn start(mut command: Command, columns: u16) -> Self {
        let (keyboard, terminal) = pty::open(40, columns);
        let side = || Stdio::from(terminal.try_clone().unwrap());
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        // Our copy of the terminal must be closed, or we never see the program end.
        drop((command, terminal));
        let mut screen = keyboard.try_clone().unwrap();
        let (send, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = screen.read(&mut buffer) {
                if send.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, shown, seen: String::new() }
    }

    /// Waits until this text is on the screen.
    pub fn expect(&mut self, text: &str) -> &mut Self {
        while !self.seen.contains(text) {
            let more = self.shown.recv_timeout(LIMIT);
            let more = more.unwrap_or_else(|_| panic!("no {text:?} in {}", self.seen));
            self.seen += &String::from_utf8_lossy(&more);
        }
        self
    }

    pub fn press(&mut self, keys: &str) -> &mut Self {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Sends Ctrl-C.
    pub fn interrupt(&mut self) -> &mut Self {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        self
    }

    /// Waits for the end. Everything that was shown is in stdout.
    pub fn end(mut self) -> Run {
        while let Ok(more) = self.shown.recv_timeout(LIMIT) {
            self.seen += &String::from_utf8_lossy(&more);
        }
        let status = self.child.wait().unwrap();
        Run {
            code: status.code().unwrap_or(-1),
            stdout: self.seen.replace("\r\n", "\n"),
            stderr: String::new(),
        }
    }
}
