//! One question to another program: stdin in, both outputs back, in time. Nothing that it started is left behind.

use std::io::{self, Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::process::{in_its_own_group, kill_group};

/// How much of each output is kept.
const KEPT: u64 = 1024 * 1024;

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The exit code; none if the program was killed.
    pub(crate) code: Option<i32>,
    /// Whether it was killed for taking too long.
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From the start to the end of the process.
    pub(crate) took: Duration,
}

/// Runs a program with `stdin` and waits for it without polling, so that the time taken can be believed.
pub(crate) fn exchange(command: &mut Command, stdin: &[u8], timeout: Duration) -> io::Result<Reply> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    in_its_own_group(command);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let (mut input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (done, ended) = mpsc::channel::<()>();
    let id = child.id();
    let reply = std::thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let late = ended.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout);
            if late {
                kill_group(id);
            }
            late
        });
        let writer = scope.spawn(move || {
            // Who answers without reading everything is free to.
            input.as_mut().map_or(Ok(()), |input| input.write_all(stdin))
        });
        let errors = scope.spawn(move || read(errors));
        let stdout = read(output);
        let status = child.wait();
        let took = started.elapsed();
        // Dropping the sender ends the watch.
        drop(done);
        let _ = writer.join();
        let timed_out = watcher.join().unwrap_or(false);
        let stderr = errors.join().unwrap_or_default();
        status.map(|status| Reply { code: status.code(), timed_out, stdout, stderr, took })
    });
    // What was left in the background must not outlive the question.
    kill_group(id);
    reply
}

fn read(source: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(source) = source {
        let _ = source.take(KEPT).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, stdin: &str, ms: u64) -> Reply {
        exchange(Command::new("/bin/sh").args(["-c", script]), stdin.as_bytes(), Duration::from_millis(ms))
            .unwrap()
    }

    #[test]
    fn both_outputs_and_the_code_come_back() {
        let reply = shell("cat; echo err >&2; exit 4", "hello", 5000);
        assert_eq!((reply.stdout.as_str(), reply.stderr.as_str()), ("hello", "err\n"));
        assert_eq!((reply.code, reply.timed_out), (Some(4), false));
    }

    #[test]
    fn who_does_not_answer_is_ended() {
        let started = Instant::now();
        let reply = shell("sleep 60 & sleep 60", "", 200);
        assert!(reply.timed_out && reply.code.is_none() && started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn much_input_that_nobody_reads_and_much_output_do_not_block() {
        let reply = shell("yes | head -c 300000; exit 0", &"x".repeat(1_000_000), 10_000);
        assert_eq!((reply.code, reply.stdout.len()), (Some(0), 300_000));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let missing = exchange(&mut Command::new("/nowhere/at/all"), b"", Duration::from_secs(1));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
