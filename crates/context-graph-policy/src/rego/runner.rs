//! Runs a signal's command on Unix: in a process group of its own that is killed as a whole when the time is over.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::signals::{Signal, SignalOutcome};

/// What is kept of each output; the rest is read and dropped, so that the command is not held up.
pub const MAX_OUTPUT: usize = 64 * 1024;

const POLL: Duration = Duration::from_millis(1);

/// Runs the command in a folder, feeding it the event.
pub fn run_in(folder: &Path, signal: &Signal, event: &[u8]) -> SignalOutcome {
    let end = Instant::now() + Duration::from_millis(signal.timeout_ms);
    let spawned = Command::new("sh")
        .arg("-c")
        .arg(&signal.command)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return SignalOutcome::NotStarted(error.to_string()),
    };
    // Feeding and reading go on beside each other: a full pipe in one direction must not stop the other. Nobody
    // waits for these threads; a descendant that left the group may hold a pipe open for ever.
    if let Some(mut stdin) = child.stdin.take() {
        let event = event.to_vec();
        thread::spawn(move || stdin.write_all(&event));
    }
    let (closed, outputs) = mpsc::channel();
    let stdout = child.stdout.take().map(|pipe| keep(pipe, closed.clone())).unwrap_or_default();
    let stderr = child.stderr.take().map(|pipe| keep(pipe, closed.clone())).unwrap_or_default();
    drop(closed);

    let status = wait(&mut child, end);
    // What was printed last may still be in the pipes, and a descendant may still print. Nothing is ever sent here:
    // the channel ends when both pipes do.
    if let Some(status) = status
        && outputs.recv_timeout(end.saturating_duration_since(Instant::now()))
            == Err(mpsc::RecvTimeoutError::Disconnected)
    {
        return SignalOutcome::Ended { code: status.code(), stdout: taken(&stdout), stderr: taken(&stderr) };
    }
    kill_group(&child);
    let _ = child.wait();
    SignalOutcome::TimedOut { stdout: taken(&stdout) }
}

/// How the process ended, or nothing when the time is over first.
fn wait(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => thread::sleep(pause),
            _ => return None,
        }
        pause = (pause * 2).min(POLL);
    }
}

type Kept = Arc<Mutex<Vec<u8>>>;

fn keep(mut pipe: impl Read + Send + 'static, closed: mpsc::Sender<()>) -> Kept {
    let kept = Kept::default();
    let into = kept.clone();
    thread::spawn(move || {
        let mut chunk = [0; 8192];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            let Ok(mut kept) = into.lock() else { break };
            let room = MAX_OUTPUT - kept.len().min(MAX_OUTPUT);
            kept.extend_from_slice(&chunk[..count.min(room)]);
        }
        drop(closed);
    });
    kept
}

fn taken(kept: &Kept) -> String {
    kept.lock().map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default()
}

#[expect(unsafe_code, reason = "a process group can only be signalled through libc")]
fn kill_group(leader: &Child) {
    if let Ok(group) = libc::pid_t::try_from(leader.id())
        && group > 1
    {
        // SAFETY: no memory is involved; the group is the one that was made for this child.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}
