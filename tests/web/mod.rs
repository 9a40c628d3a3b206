//! The dashboard in a real browser. Each test is a scenario of `scenarios.mjs`, played by node.
//!
//! If Chromium, node or the packages are missing, each test is reported as ignored, with the reason.
//! `tests/web/install` installs Chromium and the packages.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};

use crate::harness::Test;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/web");
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/web");

/// What a scenario needs.
#[derive(Clone)]
struct Lab {
    chromium: PathBuf,
    browser: Arc<OnceLock<Browser>>,
}

/// One browser for all scenarios, because starting it takes longer than most of them. It ends when our process
/// ends and its standard input is closed.
struct Browser {
    address: String,
    _process: Child,
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
        let browser = Arc::default();
        chromium
            .map(|chromium| Self { chromium, browser })
            .ok_or_else(|| "chromium is not installed".to_owned())
    }

    fn node(&self, script: &str) -> Command {
        let mut node = Command::new("node");
        node.arg(Path::new(HERE).join(script))
            .env("CONTEXT_GRAPH_BIN", env!("CARGO_BIN_EXE_context-graph"))
            .env("WEB_MODULES", MODULES)
            .env("CHROMIUM", &self.chromium);
        node
    }

    fn serve(&self) -> Browser {
        let mut node = self.node("serve.mjs");
        let mut process = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(!address.is_empty(), "the browser did not start");
        Browser { address: address.trim().to_owned(), _process: process }
    }

    fn play(&self, scenario: &str) {
        let browser = self.browser.get_or_init(|| self.serve());
        let output = self.node("run.mjs").arg(scenario).env("BROWSER", &browser.address).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The names of the scenarios: what `scenarios.mjs` exports.
fn scenarios() -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(HERE).join("scenarios.mjs")).unwrap();
    let named = text.lines().filter_map(|line| line.strip_prefix("export const "));
    named.filter_map(|rest| rest.split(' ').next()).map(str::to_owned).collect()
}

/// The scenarios as tests.
pub fn all() -> Vec<Test> {
    let lab = Lab::find();
    let missing = lab.as_ref().err().cloned();
    let tests = scenarios().into_iter().map(|scenario| {
        let lab = lab.clone().ok();
        let name = format!("dashboard: {}", scenario.replace('_', " "));
        Test::new(name, move || lab.unwrap().play(&scenario)).unless(missing.clone())
    });
    tests.collect()
}
