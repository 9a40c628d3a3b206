//! Running another program: in time, with bounded output, and with nothing left behind.
//!
//! The one place that starts processes and waits for them. Gates, signals and questions to other programs differ only in
//! what they are fed and in which part of their output is worth keeping.

mod group;
mod output;

use std::io::{self, PipeReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use context_graph_policy::rego::{Signal, SignalOutcome};

use crate::interrupt;

pub(crate) use group::in_its_own_group;
use output::{Keep, Listener};

/// How much of a gate's output is kept: its end, where the failure is told.
const GATE_OUTPUT: usize = 16 * 1024;
/// How much of each of a signal's outputs is kept: its beginning, where the answer is.
const SIGNAL_OUTPUT: usize = 64 * 1024;
/// How much of each output of a program that was asked something is kept.
const REPLY_OUTPUT: usize = 1024 * 1024;
/// How long the last words of a command that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Shortest and longest pause between two looks at whether a command has ended.
const POLL: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this code; without one where a signal ended it.
    Exited(Option<i32>),
    /// It was killed when its time was over.
    TimedOut,
    /// It could not be started.
    NotStarted(String),
}

/// A shell command that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) end: End,
    /// The end of what it said, on both channels.
    pub(crate) output: String,
}

impl Ended {
    pub(crate) fn succeeded(&self) -> bool {
        self.end == End::Exited(Some(0))
    }
}

/// What a program said that was asked something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// How it ended.
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From the start to the end of the program, or until its time was over.
    pub(crate) took: Duration,
}

impl Reply {
    pub(crate) fn succeeded(&self) -> bool {
        self.end == End::Exited(Some(0))
    }
}

/// Runs a shell command in `folder`, with both of its channels as one.
pub(crate) fn run_shell(command: &str, folder: &Path, timeout: Duration) -> Ended {
    let mut command = shell(command);
    command.current_dir(folder);
    let one_for_both = || {
        let (reader, writer) = io::pipe()?;
        Ok((writer.try_clone()?.into(), writer.into(), vec![reader]))
    };
    let mut ran = run(command, timeout, &[], Keep::Last(GATE_OUTPUT), one_for_both);
    Ended { end: ran.end, output: ran.said.pop().unwrap_or_default() }
}

/// Runs a signal's command in `folder`, feeding it the event.
pub(crate) fn run_signal(signal: &Signal, folder: &Path, event: &[u8]) -> SignalOutcome {
    let mut command = shell(&signal.command);
    command.current_dir(folder);
    let reply = question(command, event, Duration::from_millis(signal.timeout_ms), SIGNAL_OUTPUT);
    match reply.end {
        End::Exited(code) => SignalOutcome::Ended { code, stdout: reply.stdout, stderr: reply.stderr },
        End::TimedOut => SignalOutcome::TimedOut { stdout: reply.stdout },
        End::NotStarted(error) => SignalOutcome::NotStarted(error),
    }
}

/// Asks a program one thing: stdin in, both outputs back.
pub(crate) fn ask(command: Command, stdin: &[u8], timeout: Duration) -> Reply {
    question(command, stdin, timeout, REPLY_OUTPUT)
}

/// What a program answers to `--version`; `None` if it fails.
pub(crate) fn version_of(program: &Path, timeout: Duration) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let reply = ask(command, &[], timeout);
    reply.succeeded().then(|| reply.stdout.trim().to_owned())
}

fn question(command: Command, stdin: &[u8], timeout: Duration, most: usize) -> Reply {
    let one_for_each = || {
        let ((out, stdout), (err, stderr)) = (io::pipe()?, io::pipe()?);
        Ok((stdout.into(), stderr.into(), vec![out, err]))
    };
    let mut ran = run(command, timeout, stdin, Keep::First(most), one_for_each);
    let stderr = ran.said.pop().unwrap_or_default();
    let stdout = ran.said.pop().unwrap_or_default();
    Reply { end: ran.end, stdout, stderr, took: ran.took }
}

/// A program that was run: how it ended, what it said on each of its pipes, and how long it took.
struct Ran {
    end: End,
    said: Vec<String>,
    took: Duration,
}

/// What a command writes to, and our ends of it.
type Channels = (Stdio, Stdio, Vec<PipeReader>);

/// Runs a program. At the timeout it is killed with everything that it started, and so is what it leaves behind.
fn run(
    command: Command,
    timeout: Duration,
    stdin: &[u8],
    keep: Keep,
    channels: impl FnOnce() -> io::Result<Channels>,
) -> Ran {
    let started = Instant::now();
    let (mut child, readers) = match start(command, !stdin.is_empty(), channels) {
        Ok(running) => running,
        Err(error) => {
            let end = End::NotStarted(error.to_string());
            return Ran { end, said: Vec::new(), took: started.elapsed() };
        }
    };
    // Feeding and reading go on beside each other: a full pipe in one direction must not stop the other. Nobody waits
    // for these threads; a descendant that left the group may keep a pipe open without end.
    if let Some(mut pipe) = child.stdin.take() {
        let stdin = stdin.to_vec();
        thread::spawn(move || pipe.write_all(&stdin));
    }
    let (closed, all_closed) = mpsc::channel();
    let listeners: Vec<Listener> =
        readers.into_iter().map(|pipe| Listener::start(pipe, keep, closed.clone())).collect();
    drop(closed);
    let status = wait(&mut child, started + timeout, &all_closed);
    let took = started.elapsed();
    // What it left running in the background must not outlive it.
    group::kill(child.id());
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    interrupt::ended(child.id());
    // Nothing is ever sent here: the channel ends when all pipes do.
    let _ = all_closed.recv_timeout(LAST_WORDS);
    let end = status.map_or(End::TimedOut, |status| End::Exited(status.code()));
    Ran { end, said: listeners.iter().map(Listener::heard).collect(), took }
}

fn start(
    mut command: Command,
    is_fed: bool,
    channels: impl FnOnce() -> io::Result<Channels>,
) -> io::Result<(Child, Vec<PipeReader>)> {
    let (stdout, stderr, readers) = channels()?;
    in_its_own_group(&mut command);
    command.stdin(if is_fed { Stdio::piped() } else { Stdio::null() });
    // The command's ends of the pipes go with `command`; held any longer, reading would never end.
    let child = interrupt::start(|| command.stdout(stdout).stderr(stderr).spawn())?;
    Ok((child, readers))
}

/// How the process ended, or nothing when the time is over first.
///
/// Outputs mostly end with the program that writes them, so it is looked at again as soon as they do: the time that it
/// took is then not that of a pause.
fn wait(child: &mut Child, until: Instant, all_closed: &mpsc::Receiver<()>) -> Option<ExitStatus> {
    let (shortest, longest) = POLL;
    let mut pause = shortest;
    let mut is_silent = false;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => {}
            _ => return None,
        }
        if is_silent {
            thread::sleep(pause);
        } else if all_closed.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
            (is_silent, pause) = (true, shortest);
            continue;
        }
        pause = (pause * 2).min(longest);
    }
}

/// A line for the system's shell.
pub(crate) fn shell(command: &str) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let mut shell = Command::new(program);
    shell.arg(flag).arg(command);
    shell
}

#[cfg(all(test, unix))]
#[path = "process/tests.rs"]
mod tests;
