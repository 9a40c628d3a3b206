//! A disk that sometimes is full or read-only, if we may mount one; otherwise a folder that loses its
//! permissions.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::chance::Chance;

pub(crate) struct Disk {
    folder: tempfile::TempDir,
    project: PathBuf,
    mounted: bool,
    filled: AtomicU64,
    read_only: AtomicU64,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        fs::create_dir(&disk).unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", "size=192m", "soak", disk.to_str().unwrap()]);
        let project = disk.join("project");
        fs::create_dir(&project).unwrap();
        Self { folder, project, mounted, filled: AtomicU64::new(0), read_only: AtomicU64::new(0) }
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Causes faults from time to time until the end.
    pub(crate) fn misbehave(&self, over: &AtomicBool) {
        let mut chance = Chance::new(99);
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(200 + chance.below(600)));
            let lasts = Duration::from_millis(5 + chance.below(40));
            if chance.below(2) == 0 {
                self.fill_up(lasts);
            } else {
                self.turn_read_only(lasts);
            }
        }
    }

    fn fill_up(&self, lasts: Duration) {
        if !self.mounted {
            return;
        }
        let ballast = self.project.join("ballast");
        let mut file = fs::File::create(&ballast).unwrap();
        // Until the disk is full.
        let _ = std::io::copy(&mut std::io::repeat(1), &mut file);
        self.filled.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(lasts);
        let _ = fs::remove_file(&ballast);
    }

    fn turn_read_only(&self, lasts: Duration) {
        let disk = self.folder.path().join("disk");
        let state = self.project.join(".context-graph/live");
        // Remounting fails while a file is open for writing. That does no harm.
        let done = if self.mounted {
            mount(&["-o", "remount,ro", disk.to_str().unwrap()])
        } else {
            fs::set_permissions(&state, Permissions::from_mode(0o500)).is_ok()
        };
        if done {
            self.read_only.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(lasts);
        }
        self.behave();
    }

    /// Ends all faults.
    pub(crate) fn behave(&self) {
        let disk = self.folder.path().join("disk");
        if self.mounted {
            assert!(mount(&["-o", "remount,rw", disk.to_str().unwrap()]));
        } else {
            let state = self.project.join(".context-graph/live");
            let _ = fs::set_permissions(state, Permissions::from_mode(0o700));
        }
    }

    pub(crate) fn told(&self) -> String {
        let kind = if self.mounted { "" } else { " (without the right to mount: permissions only)" };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        format!("{} times full, {} times read-only{kind}", count(&self.filled), count(&self.read_only))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg("-l").arg(self.folder.path().join("disk")).status();
        }
    }
}

fn mount(args: &[&str]) -> bool {
    let mut command = Command::new("mount");
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
