//! Cleans up when the user interrupts us: ends the programs that we started and removes temporary folders and
//! half-written files. The signal listener starts with the first path to remove or text to print; hooks have
//! neither.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LISTENS: AtomicBool = AtomicBool::new(false);
static TO_CLEAN_UP: Mutex<ToCleanUp> =
    Mutex::new(ToCleanUp { paths: Vec::new(), programs: Vec::new(), words: None });

/// What has to be cleaned up.
struct ToCleanUp {
    paths: Vec<PathBuf>,
    /// Each is the leader of its own process group.
    programs: Vec<u32>,
    /// The text to print.
    words: Option<String>,
}

/// Prints this text if a signal ends the process from now on; `None` cancels that.
pub(crate) fn tell_on_interrupt(words: Option<String>) {
    #[cfg(unix)]
    unix::listen();
    to_clean_up().words = words;
}

/// A path that is removed if a signal ends the process while this value lives.
#[derive(Debug)]
pub(crate) struct RemovedOnInterrupt(PathBuf);

impl RemovedOnInterrupt {
    pub(crate) fn new(path: &Path) -> Self {
        #[cfg(unix)]
        unix::listen();
        to_clean_up().paths.push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for RemovedOnInterrupt {
    fn drop(&mut self) {
        to_clean_up().paths.retain(|path| *path != self.0);
    }
}

/// Starts a program. If the listener runs, a signal that ends this process also kills the program, and after that
/// signal no program is started any more.
pub(crate) fn start(spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    if !LISTENS.load(Ordering::Relaxed) {
        return spawn();
    }
    let mut list = to_clean_up();
    let child = spawn()?;
    list.programs.push(child.id());
    Ok(child)
}

/// Call this when a program has ended by itself.
pub(crate) fn ended(program: u32) {
    if LISTENS.load(Ordering::Relaxed) {
        to_clean_up().programs.retain(|known| *known != program);
    }
}

fn to_clean_up() -> MutexGuard<'static, ToCleanUp> {
    TO_CLEAN_UP.lock().unwrap_or_else(PoisonError::into_inner)
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

    use super::{LISTENS, to_clean_up};

    /// How often, and with what pause, we try again if something is not gone yet.
    const TRIES: usize = 50;
    const PAUSE: Duration = Duration::from_millis(10);

    /// Starts a thread that waits for the signals that end a process. After cleaning up, the signal has its
    /// usual effect, so that our parent process sees how we ended. If this cannot be set up, there is no
    /// clean-up.
    pub(super) fn listen() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
            LISTENS.store(true, Ordering::Relaxed);
            std::thread::spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    // The lock is held until the end, so that nothing new starts.
                    let list = to_clean_up();
                    list.programs.iter().for_each(|program| end(*program));
                    list.paths.iter().for_each(|path| remove(path));
                    if let Some(words) = &list.words {
                        crate::terminal::complain(words);
                    }
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            });
        });
    }

    /// Ends a program with everything that it started. The thread that waits for the program collects its
    /// exit status.
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
