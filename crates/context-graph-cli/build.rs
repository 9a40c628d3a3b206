//! Tells the linker to place the code that hooks run side by side (`hook-order.ld`).

#![expect(clippy::disallowed_methods, reason = "cargo talks to a build script through the environment")]

use std::env;

fn main() {
    for file in ["build.rs", "hook-order.ld"] {
        println!("cargo::rerun-if-changed={file}");
    }
    // Not for debug builds: ordering would only make linking slower.
    if variable("CARGO_CFG_TARGET_OS") == "linux" && variable("PROFILE") == "release" && ordinary_linker() {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}/hook-order.ld", variable("CARGO_MANIFEST_DIR"));
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Whether the default linker of Rust or C is used. Another linker may not support linker scripts.
fn ordinary_linker() -> bool {
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let named = env::var("RUSTC_LINKER").ok();
    named.is_none_or(|linker| linker.ends_with("cc"))
        && !flags.contains("linker=")
        && !flags.contains("fuse-ld=")
}
