//! Reads the output of a program in its own thread.

use std::io::{PipeReader, Read as _};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// Which part of the output is kept. The rest is read and dropped, so that the program is not blocked.
#[derive(Clone, Copy)]
pub(super) enum Keep {
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

/// A thread that reads a pipe to its end, and what it has read so far.
pub(super) struct Listener(Arc<Mutex<Vec<u8>>>);

impl Listener {
    /// Reads until the pipe ends, then drops `closed`.
    pub(super) fn start(mut pipe: PipeReader, keep: Keep, closed: mpsc::Sender<()>) -> Self {
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let into = heard.clone();
        thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                let Ok(mut kept) = into.lock() else { break };
                keep.add(&mut kept, &chunk[..count]);
            }
            drop(closed);
        });
        Self(heard)
    }

    /// What was kept so far.
    pub(super) fn heard(&self) -> String {
        self.0.lock().map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default()
    }
}
