//! The dashboard in a real browser. Each test is a scenario of `scenarios.mjs`, played by node.
//!
//! Where Chromium, node or the packages are not installed each test is counted as ignored, with the reason;
//! `tests/web/install` installs them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, clippy::disallowed_methods, reason = "a program of its own")]

#[path = "../e2e/harness.rs"]
#[expect(unused_macros, unused_imports, reason = "the tests here are named by another file")]
mod harness;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use harness::Test;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/web");
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/web");

/// What it takes to play a scenario.
#[derive(Clone)]
struct Lab {
    chromium: PathBuf,
}

impl Lab {
    fn find() -> Result<Self, String> {
        if !Path::new(MODULES).join("node_modules/playwright-core").exists() {
            return Err("playwright-core is not installed: tests/web/install".to_owned());
        }
        if Command::new("node").arg("--version").output().is_err() {
            return Err("node is not installed".to_owned());
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let named = |name: &str| {
            std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.exists())
        };
        let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(named);
        chromium.map(|chromium| Self { chromium }).ok_or_else(|| "chromium is not installed".to_owned())
    }

    fn play(&self, scenario: &str) {
        let output = Command::new("node")
            .arg(Path::new(HERE).join("run.mjs"))
            .arg(scenario)
            .env("CONTEXT_GRAPH_BIN", env!("CARGO_BIN_EXE_context-graph"))
            .env("WEB_MODULES", MODULES)
            .env("CHROMIUM", &self.chromium)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The scenarios, by what their file exports.
fn scenarios() -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(HERE).join("scenarios.mjs")).unwrap();
    let named = text.lines().filter_map(|line| line.strip_prefix("export const "));
    named.filter_map(|rest| rest.split(' ').next()).map(str::to_owned).collect()
}

fn main() -> ExitCode {
    let lab = Lab::find();
    let missing = lab.as_ref().err().cloned();
    let tests = scenarios().into_iter().map(|scenario| {
        let lab = lab.clone().ok();
        let name = format!("dashboard: {}", scenario.replace('_', " "));
        Test::new(name, move || lab.unwrap().play(&scenario)).unless(missing.clone())
    });
    harness::run(tests).exit_code()
}
