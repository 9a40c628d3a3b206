//! What happens when the user breaks off: programs that were started are ended, and a temporary folder or half a file does
//! not stay behind. Nobody listens before there is such a thing, and hooks never have one.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LISTENS: AtomicBool = AtomicBool::new(false);
static LEFT: Mutex<Left> = Mutex::new(Left { paths: Vec::new(), programs: Vec::new() });

/// What would be left behind.
struct Left {
    paths: Vec<PathBuf>,
    /// Each leads a group of its own.
    programs: Vec<u32>,
}

/// Something that is removed if the process is ended by a signal while this value lives.
#[derive(Debug)]
pub(crate) struct RemovedOnInterrupt(PathBuf);

impl RemovedOnInterrupt {
    pub(crate) fn new(path: &Path) -> Self {
        #[cfg(unix)]
        unix::listen();
        left().paths.push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for RemovedOnInterrupt {
    fn drop(&mut self) {
        left().paths.retain(|path| *path != self.0);
    }
}

/// Starts a program that is to be ended with this process. Once that has begun, no further one is started.
pub(crate) fn start(spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    if !LISTENS.load(Ordering::Relaxed) {
        return spawn();
    }
    let mut left = left();
    let child = spawn()?;
    left.programs.push(child.id());
    Ok(child)
}

/// A program has ended by itself.
pub(crate) fn ended(program: u32) {
    if LISTENS.load(Ordering::Relaxed) {
        left().programs.retain(|known| *known != program);
    }
}

fn left() -> MutexGuard<'static, Left> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
mod unix {
    use std::path::Path;
    use std::sync::Once;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use super::{LISTENS, left};

    /// How often, and after what pause, something is tried again that is not gone yet.
    const TRIES: usize = 50;
    const PAUSE: Duration = Duration::from_millis(10);

    /// Has a thread wait for the signals that end a process. Afterwards the signal does what it does, so that whoever
    /// started the process sees how it ended. Where that cannot be set up, all is as without it.
    pub(super) fn listen() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
            LISTENS.store(true, Ordering::Relaxed);
            std::thread::spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    // Held until the end: nothing new begins.
                    let left = left();
                    left.programs.iter().for_each(|program| end(*program));
                    left.paths.iter().for_each(|path| remove(path));
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            });
        });
    }

    /// Ends a program with all that it started. Whoever waits for it goes on waiting, and takes note of its end.
    fn end(program: u32) {
        let Some(group) = i32::try_from(program).ok().filter(|id| *id > 1).and_then(Pid::from_raw) else {
            return;
        };
        let _ = kill_process_group(group, Signal::KILL);
        for _ in 0..TRIES {
            if test_kill_process_group(group).is_err() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn remove(path: &Path) {
        for _ in 0..TRIES {
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            if removed.is_ok() || path.symlink_metadata().is_err() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}
