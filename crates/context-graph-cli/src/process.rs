//! Running a command of the user's: in time, with bounded output, and with nothing left behind.
//!
//! The one place that starts processes. Gates, signals and questions to other programs differ only in what they are fed
//! and in which part of their output is worth keeping.

use std::io::{PipeReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{io, thread};

use context_graph_policy::rego::{Signal, SignalOutcome};

/// How much of a gate's output is kept: its end, where the failure is told.
const GATE_OUTPUT: usize = 16 * 1024;
/// How much of each of a signal's outputs is kept: its beginning, where the answer is.
const SIGNAL_OUTPUT: usize = 64 * 1024;
/// How long the last words of a command that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Longest pause between two looks at whether a command has ended.
const POLL: Duration = Duration::from_millis(2);

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

/// A command that was run.
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

/// Runs a shell command in `folder`, with both of its channels as one.
pub(crate) fn run_shell(command: &str, folder: &Path, timeout: Duration) -> Ended {
    let channels = || {
        let (reader, writer) = io::pipe()?;
        Ok((writer.try_clone()?.into(), writer.into(), vec![reader]))
    };
    let (end, mut said) = run(command, folder, timeout, &[], Keep::Last(GATE_OUTPUT), channels);
    Ended { end, output: said.pop().unwrap_or_default() }
}

/// Runs a signal's command in `folder`, feeding it the event.
pub(crate) fn run_signal(signal: &Signal, folder: &Path, event: &[u8]) -> SignalOutcome {
    let channels = || {
        let ((out, stdout), (err, stderr)) = (io::pipe()?, io::pipe()?);
        Ok((stdout.into(), stderr.into(), vec![out, err]))
    };
    let timeout = Duration::from_millis(signal.timeout_ms);
    let (end, mut said) = run(&signal.command, folder, timeout, event, Keep::First(SIGNAL_OUTPUT), channels);
    let stderr = said.pop().unwrap_or_default();
    let stdout = said.pop().unwrap_or_default();
    match end {
        End::Exited(code) => SignalOutcome::Ended { code, stdout, stderr },
        End::TimedOut => SignalOutcome::TimedOut { stdout },
        End::NotStarted(error) => SignalOutcome::NotStarted(error),
    }
}

/// What a command writes to, and our ends of it.
type Channels = (Stdio, Stdio, Vec<PipeReader>);

/// Runs a command. At the timeout it is killed with everything that it started, and so is what it leaves behind.
fn run(
    command: &str,
    folder: &Path,
    timeout: Duration,
    stdin: &[u8],
    keep: Keep,
    channels: impl FnOnce() -> io::Result<Channels>,
) -> (End, Vec<String>) {
    let until = Instant::now() + timeout;
    let (mut child, readers) = match start(command, folder, !stdin.is_empty(), channels) {
        Ok(started) => started,
        Err(error) => return (End::NotStarted(error.to_string()), Vec::new()),
    };
    // Feeding and reading go on beside each other: a full pipe in one direction must not stop the other. Nobody waits
    // for these threads; a descendant that left the group may hold a pipe open for ever.
    if let Some(mut pipe) = child.stdin.take() {
        let stdin = stdin.to_vec();
        thread::spawn(move || pipe.write_all(&stdin));
    }
    let (closed, all_closed) = mpsc::channel();
    let kept: Vec<Kept> = readers.into_iter().map(|pipe| listen(pipe, keep, closed.clone())).collect();
    drop(closed);
    let status = wait(&mut child, until);
    // What it left running in the background must not outlive it.
    kill_group(child.id());
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    // Nothing is ever sent here: the channel ends when all pipes do.
    let _ = all_closed.recv_timeout(LAST_WORDS);
    let end = status.map_or(End::TimedOut, |status| End::Exited(status.code()));
    (end, kept.iter().map(taken).collect())
}

fn start(
    command: &str,
    folder: &Path,
    is_fed: bool,
    channels: impl FnOnce() -> io::Result<Channels>,
) -> io::Result<(Child, Vec<PipeReader>)> {
    let (stdout, stderr, readers) = channels()?;
    // The command's ends of the pipes go with `shell`; held any longer, reading would never end.
    let mut shell = shell(command);
    in_its_own_group(&mut shell);
    shell.current_dir(folder).stdin(if is_fed { Stdio::piped() } else { Stdio::null() });
    let child = shell.stdout(stdout).stderr(stderr).spawn()?;
    Ok((child, readers))
}

/// How the process ended, or nothing when the time is over first.
fn wait(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => thread::sleep(pause),
            _ => return None,
        }
        pause = (pause * 2).min(POLL);
    }
}

/// Which part of an output is kept. The rest is read and dropped, so that the command is not held up.
#[derive(Clone, Copy)]
enum Keep {
    First(usize),
    Last(usize),
}

impl Keep {
    fn add(self, kept: &mut Vec<u8>, chunk: &[u8]) {
        match self {
            Self::First(most) => {
                let room = most.saturating_sub(kept.len()).min(chunk.len());
                kept.extend_from_slice(&chunk[..room]);
            }
            Self::Last(most) => {
                kept.extend_from_slice(chunk);
                kept.drain(..kept.len().saturating_sub(most));
            }
        }
    }
}

type Kept = Arc<Mutex<Vec<u8>>>;

fn listen(mut pipe: PipeReader, keep: Keep, closed: mpsc::Sender<()>) -> Kept {
    let kept = Kept::default();
    let into = kept.clone();
    thread::spawn(move || {
        let mut chunk = [0; 8192];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            let Ok(mut kept) = into.lock() else { break };
            keep.add(&mut kept, &chunk[..count]);
        }
        drop(closed);
    });
    kept
}

fn taken(kept: &Kept) -> String {
    kept.lock().map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default()
}

/// A line for the system's shell.
pub(crate) fn shell(command: &str) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let mut shell = Command::new(program);
    shell.arg(flag).arg(command);
    shell
}

/// Has a program and all that it starts be one group, which can be ended as a whole.
#[cfg(unix)]
pub(crate) fn in_its_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
pub(crate) fn in_its_own_group(_command: &mut Command) {}

/// Ends the group of a program that was started in one of its own.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a whole group of processes can only be killed by way of libc")]
pub(crate) fn kill_group(leader: u32) {
    if let Ok(id) = libc::pid_t::try_from(leader)
        && id > 1
    {
        // SAFETY: killing a process group touches no memory of ours; the group is the child's own.
        unsafe {
            libc::killpg(id, libc::SIGKILL);
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn kill_group(_leader: u32) {}

#[cfg(all(test, unix))]
#[path = "process/tests.rs"]
mod tests;
