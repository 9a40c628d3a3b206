//! Runs another program: with a timeout, with limited output, and with nothing left behind.
//!
//! Every program that a hook waits for runs here. Gates, signals and version queries differ only in their input
//! and in the part of the output that is kept.

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

/// How much of a gate's output is kept: its end, where the failure is reported.
const GATE_OUTPUT: usize = 16 * 1024;
/// How much of a signal's stdout and of its stderr is kept: the beginning, where the answer is.
const SIGNAL_OUTPUT: usize = 64 * 1024;
/// How much of stdout and of stderr is kept for other programs.
const REPLY_OUTPUT: usize = 1024 * 1024;
/// How long we wait for the last output of a command that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Shortest and longest pause between two checks whether a command has ended.
const POLL: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this exit code; `None` if a signal killed it.
    Exited(Option<i32>),
    /// It was killed at its timeout.
    TimedOut,
    /// It could not be started.
    NotStarted(String),
}

/// A shell command that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// The end of its output, stdout and stderr together.
    pub(crate) output: String,
}

impl Ended {
    pub(crate) fn succeeded(&self) -> bool {
        self.end == End::Exited(Some(0))
    }
}

/// The output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramOutput {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From the start to the end of the program, or to its timeout.
    pub(crate) took: Duration,
}

impl ProgramOutput {
    pub(crate) fn succeeded(&self) -> bool {
        self.end == End::Exited(Some(0))
    }
}

/// Runs a shell command in `folder`, with stdout and stderr in one pipe.
pub(crate) fn run_shell(command: &str, folder: &Path, timeout: Duration) -> Ended {
    let mut command = shell(command);
    command.current_dir(folder);
    let one_for_both = || {
        let (reader, writer) = io::pipe()?;
        Ok((writer.try_clone()?.into(), writer.into(), vec![reader]))
    };
    let mut ran = run(command, timeout, &[], Keep::Last(GATE_OUTPUT), one_for_both);
    Ended { end: ran.end, output: ran.outputs.pop().unwrap_or_default() }
}

/// Runs a signal's command in `folder`, with the event on stdin.
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

/// Runs a program with this stdin and returns its output.
pub(crate) fn ask(command: Command, stdin: &[u8], timeout: Duration) -> ProgramOutput {
    question(command, stdin, timeout, REPLY_OUTPUT)
}

/// What a program answers to `--version`; `None` if it fails.
pub(crate) fn version_of(program: &Path, timeout: Duration) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let reply = ask(command, &[], timeout);
    reply.succeeded().then(|| reply.stdout.trim().to_owned())
}

fn question(command: Command, stdin: &[u8], timeout: Duration, most: usize) -> ProgramOutput {
    let one_for_each = || {
        let ((out, stdout), (err, stderr)) = (io::pipe()?, io::pipe()?);
        Ok((stdout.into(), stderr.into(), vec![out, err]))
    };
    let mut ran = run(command, timeout, stdin, Keep::First(most), one_for_each);
    let stderr = ran.outputs.pop().unwrap_or_default();
    let stdout = ran.outputs.pop().unwrap_or_default();
    ProgramOutput { end: ran.end, stdout, stderr, took: ran.took }
}

/// A program that was run: how it ended, the output from each of its pipes, and how long it took.
struct Ran {
    end: End,
    outputs: Vec<String>,
    took: Duration,
}

/// The child's stdout and stderr, and our ends of the pipes.
type Channels = (Stdio, Stdio, Vec<PipeReader>);

/// Runs a program. At the timeout it is killed with everything that it started. What it leaves running in the
/// background is killed too.
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
            return Ran { end, outputs: Vec::new(), took: started.elapsed() };
        }
    };
    // Writing and reading happen in parallel: a full pipe in one direction must not block the other. We do
    // not join these threads, because a descendant that left the group may keep a pipe open forever.
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
    // Nothing may stay in the background.
    group::kill(child.id());
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    interrupt::ended(child.id());
    // Nothing is ever sent: the channel closes when all pipes are closed.
    let _ = all_closed.recv_timeout(LAST_WORDS);
    let end = status.map_or(End::TimedOut, |status| End::Exited(status.code()));
    Ran { end, outputs: listeners.iter().map(Listener::heard).collect(), took }
}

fn start(
    mut command: Command,
    is_fed: bool,
    channels: impl FnOnce() -> io::Result<Channels>,
) -> io::Result<(Child, Vec<PipeReader>)> {
    let (stdout, stderr, readers) = channels()?;
    in_its_own_group(&mut command);
    command.stdin(if is_fed { Stdio::piped() } else { Stdio::null() });
    // `command` owns the other ends of the pipes and drops them here. Otherwise reading would never end.
    let child = interrupt::start(|| command.stdout(stdout).stderr(stderr).spawn())?;
    Ok((child, readers))
}

/// How the process ended; `None` at the timeout.
///
/// Pipes usually close when their program ends, so we check again as soon as they do. Otherwise the measured
/// time would include a pause.
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

/// A command for the system's shell.
pub(crate) fn shell(command: &str) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let mut shell = Command::new(program);
    shell.arg(flag).arg(command);
    shell
}

#[cfg(all(test, unix))]
mod tests;
