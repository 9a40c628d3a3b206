//! How the program is linked: what hooks run next to each other, and a start without what hooks do not need.

#![expect(clippy::disallowed_methods, reason = "cargo talks to a build script through the environment")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

/// The versions of glibc whose start takes the steps that ours takes: the first, one between and the last were read.
const READ_GLIBC: std::ops::RangeInclusive<u32> = 36..=43;

const OUR_START: &str = "-Wl,--wrap=__libc_start_main";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(quick_start)");
    for file in ["build.rs", "hook-order.ld", "start_probe.rs", "src/quick_start.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    // Whoever chose another linker than the one that comes with Rust or with C wants it, and it may not do all this.
    if !is("CARGO_CFG_TARGET_OS", "linux") || !ordinary_linker() {
        return;
    }
    if starts_without_glibc() {
        println!("cargo::rustc-cfg=quick_start");
        println!("cargo::rustc-link-arg-bins={OUR_START}");
    }
    // A build for debugging is laid out as it comes: linking it takes long enough.
    if is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}/hook-order.ld", variable("CARGO_MANIFEST_DIR"));
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn is(name: &str, value: &str) -> bool {
    variable(name) == value
}

fn ordinary_linker() -> bool {
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let named = env::var("RUSTC_LINKER").ok();
    named.is_none_or(|linker| linker.ends_with("cc"))
        && !flags.contains("linker=")
        && !flags.contains("fuse-ld=")
}

/// Whether a small program runs well that begins in `quick_start.rs`. It must be this machine's, to be run, and linked with
/// the C compiler's own library, to be like ours.
fn starts_without_glibc() -> bool {
    let fixed = variable("CARGO_ENCODED_RUSTFLAGS").contains("relocation-model=static");
    let statically = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if !is("TARGET", "x86_64-unknown-linux-gnu")
        || variable("HOST") != variable("TARGET")
        || env::var("RUSTC_LINKER").is_ok()
        || !fixed
        || !statically
    {
        return false;
    }
    if let Some(library) = glibc() {
        println!("cargo::rerun-if-changed={}", library.display());
    }
    let probe = Path::new(&variable("OUT_DIR")).join("start_probe");
    linked(&probe) && version_told_by(&probe).is_some_and(|version| READ_GLIBC.contains(&version))
}

/// Where the C compiler finds glibc: with another version the question has to be asked again.
fn glibc() -> Option<PathBuf> {
    let told = Command::new("cc").arg("-print-file-name=libc.a").output().ok()?;
    Path::new(String::from_utf8(told.stdout).ok()?.trim()).canonicalize().ok()
}

fn linked(probe: &Path) -> bool {
    Command::new(variable("RUSTC"))
        .args([
            "--edition=2024",
            "-Ctarget-feature=+crt-static",
            "-Crelocation-model=static",
            "start_probe.rs",
        ])
        .arg(format!("-Clink-arg={OUR_START}"))
        .arg(format!("--target={}", variable("TARGET")))
        .arg("-o")
        .arg(probe)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The number behind `2.` of the glibc that the probe found itself on; none if it failed, or did not come to an end.
fn version_told_by(probe: &Path) -> Option<u32> {
    let mut running = Command::new(probe)
        .args(["one", "two"])
        .env("PROBE", "three")
        .env_remove("GLIBC_TUNABLES")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begun = Instant::now();
    while running.try_wait().ok()?.is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            running.kill().ok()?;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let told = running.wait_with_output().ok()?;
    let version = String::from_utf8(told.stdout).ok()?;
    told.status.success().then(|| version.trim().strip_prefix("2.")?.parse().ok())?
}
