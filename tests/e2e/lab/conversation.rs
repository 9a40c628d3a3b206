//! The client driven by a program: messages and requests on stdin while the session stays open.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::run::{Run, TELL_ALL, parsed};
use super::trace::Trace;
use super::{Lab, wait_until};

/// An open session. If it is dropped before it has ended, the client is killed.
pub struct Conversation<'a> {
    lab: &'a Lab,
    client: Child,
    stdin: Option<ChildStdin>,
    lines: Arc<Mutex<Vec<Value>>>,
    reader: Option<JoinHandle<()>>,
    log: PathBuf,
    requests: usize,
}

impl Lab {
    /// Opens a session that stays open until it is ended.
    pub fn converse(&self, args: &[&str]) -> Conversation<'_> {
        let (mut command, log) =
            self.client(&[&TELL_ALL[..], &["--input-format", "stream-json"], args].concat());
        let mut client =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = Arc::<Mutex<Vec<Value>>>::default();
        let (out, shared) = (client.stdout.take().unwrap(), Arc::clone(&lines));
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                shared.lock().unwrap().extend(parsed(&line));
            }
        });
        let stdin = client.stdin.take();
        Conversation { lab: self, client, stdin, lines, reader: Some(reader), log, requests: 0 }
    }
}

impl Conversation<'_> {
    /// Sends a message and waits until the turn is over.
    pub fn say(&mut self, text: &str) {
        let before = self.count(|line| line["type"] == "result");
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
        self.wait_for("the end of the turn", |line| line["type"] == "result", before + 1);
    }

    /// Sends a message and does not wait.
    pub fn begin(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    /// Sends a control request to the client and returns its response.
    pub fn request(&mut self, request: &Value) -> Value {
        self.requests += 1;
        let id = format!("request-{}", self.requests);
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
        let is_answer = |line: &Value| line["response"]["request_id"] == id.as_str();
        self.wait_for("the answer to a request", is_answer, 1);
        self.lines.lock().unwrap().iter().find(|line| is_answer(line)).unwrap()["response"].clone()
    }

    /// Closes the session and returns its results.
    pub fn end(mut self) -> Run {
        self.stdin = None;
        let client = &mut self.client;
        wait_until("the end of the client", || client.try_wait().unwrap().is_some());
        self.left()
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn count(&self, is_one: impl Fn(&Value) -> bool) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| is_one(line)).count()
    }

    fn wait_for(&self, what: &str, is_one: impl Fn(&Value) -> bool, times: usize) {
        wait_until(what, || self.count(&is_one) >= times);
    }

    fn left(&mut self) -> Run {
        let status = self.client.wait().unwrap();
        let mut stderr = String::new();
        if let Some(mut pipe) = self.client.stderr.take() {
            let _ = pipe.read_to_string(&mut stderr);
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        let lines = std::mem::take(&mut *self.lines.lock().unwrap());
        let run = Run { code: status.code(), lines, stderr, trace: Trace::read(&self.log) };
        self.lab.note(run.described("a conversation"));
        run
    }
}

impl Drop for Conversation<'_> {
    fn drop(&mut self) {
        if self.reader.is_some() {
            let _ = self.client.kill();
            self.left();
        }
    }
}
