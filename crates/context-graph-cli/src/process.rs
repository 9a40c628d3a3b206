//! Running a command of the user's: in time, with bounded output, and with nothing left behind.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How much of a command's output is kept: its end, where the failure is told.
const KEPT: usize = 16 * 1024;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its exit code; none if it was killed or could not be started.
    pub(crate) code: Option<i32>,
    /// Whether it was killed for taking too long.
    pub(crate) timed_out: bool,
    /// The end of what it said, on both channels.
    pub(crate) output: String,
}

impl Ended {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs a shell command in `folder`. At the timeout it is killed with everything that it started.
pub(crate) fn run_shell(command: &str, folder: &Path, timeout: Duration) -> Ended {
    let (mut reader, writer) = match std::io::pipe() {
        Ok(pipe) => pipe,
        Err(error) => return Ended { code: None, timed_out: false, output: error.to_string() },
    };
    let mut shell = shell(command);
    in_its_own_group(&mut shell);
    shell.current_dir(folder).stdin(Stdio::null());
    let both = writer.try_clone().map(|clone| (Stdio::from(clone), Stdio::from(writer)));
    let started = both.and_then(|(out, err)| shell.stdout(out).stderr(err).spawn());
    // The command holds copies of the pipe's end; ours must go, or reading never ends.
    drop(shell);
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Ended { code: None, timed_out: false, output: error.to_string() },
    };
    let listener = std::thread::spawn(move || {
        let mut tail = Vec::new();
        let mut chunk = [0; 8192];
        while let Ok(read) = reader.read(&mut chunk) {
            if read == 0 {
                break;
            }
            tail.extend_from_slice(&chunk[..read]);
            if tail.len() > 2 * KEPT {
                tail.drain(..tail.len() - KEPT);
            }
        }
        tail
    });
    let (code, timed_out) = wait(&mut child, timeout);
    let tail = listener.join().unwrap_or_default();
    let kept = &tail[tail.len().saturating_sub(KEPT)..];
    Ended { code, timed_out, output: String::from_utf8_lossy(kept).into_owned() }
}

fn wait(child: &mut Child, timeout: Duration) -> (Option<i32>, bool) {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                // What it left running in the background must not keep the pipe open.
                kill_group(child.id());
                return (status.code(), false);
            }
            Ok(None) if started.elapsed() >= timeout => {
                kill_group(child.id());
                let _ = child.kill();
                let _ = child.wait();
                return (None, true);
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return (None, false),
        }
    }
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
    if let Ok(id) = libc::pid_t::try_from(leader) {
        // SAFETY: killing a process group touches no memory of ours; the group is the child's own.
        unsafe {
            libc::killpg(id, libc::SIGKILL);
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn kill_group(_leader: u32) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(command: &str, ms: u64) -> Ended {
        run_shell(command, Path::new("/"), Duration::from_millis(ms))
    }

    #[test]
    fn what_a_command_says_and_how_it_ends_is_told() {
        let ended = run("echo out; echo err >&2; exit 3", 5000);
        assert_eq!((ended.code, ended.timed_out), (Some(3), false));
        assert!(ended.output.contains("out") && ended.output.contains("err"));
        assert!(run("true", 5000).succeeded());
    }

    #[test]
    fn at_the_timeout_everything_it_started_is_killed() {
        let started = Instant::now();
        let ended = run("sleep 60 & sleep 60", 200);
        assert!(ended.timed_out && started.elapsed() < Duration::from_secs(10), "{ended:?}");
    }

    #[test]
    fn what_is_left_in_the_background_is_not_waited_for() {
        let started = Instant::now();
        assert!(run("sleep 60 & echo done", 5000).succeeded());
        assert!(started.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn endless_output_is_bounded() {
        let ended = run("yes | head -c 5000000; exit 1", 20_000);
        assert!(ended.output.len() <= KEPT && ended.code == Some(1));
    }
}
