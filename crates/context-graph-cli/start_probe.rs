//! Run by the build script: a program that starts as ours would, and tells the version of glibc if all is well.

#[path = "src/quick_start.rs"]
mod quick_start;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::{env, fs, panic, process, thread};

unsafe extern "C" {
    safe fn gnu_get_libc_version() -> *const c_char;
}

thread_local!(static HERE: Cell<u32> = const { Cell::new(7) });

fn main() {
    assert_eq!(env::args().skip(1).collect::<Vec<_>>(), ["one", "two"], "the words");
    assert_eq!(env::var("PROBE").as_deref(), Ok("three"), "the environment");

    // Copies and fills of all sizes up to past the caches, overlapping too.
    for size in (0..300).chain([4095, 65_536, 1 << 20, 5 << 20]) {
        let from: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let mut to = vec![1; size + 9];
        to[9..].copy_from_slice(&from);
        to.copy_within(9.., 2);
        assert!(to[2..size + 2] == from[..], "a copy of {size} bytes");
        to.fill(3);
        assert!(to.iter().all(|&byte| byte == 3), "a fill of {size} bytes");
    }

    // Threads with variables of their own, a panic that is caught, an error number.
    let others: Vec<_> = (0..4)
        .map(|number| {
            thread::spawn(move || {
                HERE.set(number);
                fs::read("/nonexistent/file").unwrap_err().kind() == std::io::ErrorKind::NotFound
                    && HERE.get() == number
            })
        })
        .collect();
    assert!(others.into_iter().all(|other| other.join().unwrap()), "threads");
    assert_eq!(HERE.get(), 7, "a variable of this thread");
    panic::set_hook(Box::new(|_| {}));
    assert!(panic::catch_unwind(|| panic!("caught")).is_err(), "a panic");

    // What takes random numbers, numbers with points, and another process.
    let squares: HashMap<u32, f64> = (0..100).map(|n| (n, f64::from(n).sqrt())).collect();
    assert_eq!(format!("{:.4}", squares[&2]), "1.4142", "numbers");
    let child = process::Command::new("/bin/sh").args(["-c", "exit 3"]).status().unwrap();
    assert_eq!(child.code(), Some(3), "another process");

    let version = unsafe { CStr::from_ptr(gnu_get_libc_version()) };
    println!("{}", version.to_str().unwrap());
}
