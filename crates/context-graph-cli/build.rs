//! Has the linker lay what hooks run next to each other (`hook-order.ld`, written by `bench/order`).

#![expect(clippy::disallowed_methods, reason = "cargo talks to a build script through the environment")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=hook-order.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // A build for debugging is laid out as it comes: linking it takes long enough.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") && linker_reads_scripts() {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/hook-order.ld");
    }
}

/// The linkers that come with Rust and with C compilers do. Others may not, and whoever chose one wants it.
fn linker_reads_scripts() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let named = env::var("RUSTC_LINKER").ok();
    named.is_none_or(|linker| linker.ends_with("cc"))
        && !flags.contains("linker=")
        && !flags.contains("fuse-ld=")
}
