//! Does the program that the settings name exist, and is it this one?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use context_graph_storage::safe_open;

use super::Patient;
use super::check_result::{CheckResult, Fix};
use super::permit;
use super::sources::Ours;
use crate::Environment;
use crate::paths::System;
use crate::process;
use crate::settings_file::Scope;

/// Upper limit for a program of ours.
const MAX_PROGRAM: u64 = 1 << 30;
const CHECK: &str = "binary";

/// Checks every program that our hooks name.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let mut seen = BTreeSet::new();
    let mut results: Vec<CheckResult> = patient
        .ours()
        .iter()
        .filter(|hook| hook.is_direct() && seen.insert(hook.words[0].clone()))
        .filter_map(|hook| program(patient, hook))
        .collect();
    if results.is_empty() && !seen.is_empty() {
        let names: Vec<&str> = seen.iter().map(String::as_str).collect();
        results.push(CheckResult::ok(CHECK, format!("{} is this program", names.join(" and "))));
    }
    results
}

/// How to put this program on the `PATH`.
fn put_on_the_path() -> String {
    match crate::commands::binary_path() {
        Ok(program) if Path::new(&program).file_name().is_some_and(|name| name == "context-graph") => {
            let folder = Path::new(&program).parent().unwrap_or_else(|| Path::new(""));
            format!(
                "put {} on the PATH that Claude Code is started with: `export PATH=\"$PATH:{}\"` in your shell's profile",
                folder.display(),
                folder.display()
            )
        }
        _ => "put the folder with `context-graph` on the PATH that Claude Code is started with".to_owned(),
    }
}

/// What is wrong with the program that a hook names; `None` if it is this one.
pub(super) fn program(patient: &Patient, hook: &Ours<'_>) -> Option<CheckResult> {
    let (name, file) = (&hook.words[0], hook.source.path.display());
    let scope = hook.source.scope();
    let fix = |scope: Option<Scope>| match scope {
        Some(scope) => format!("`context-graph init{}` registers this one", scope.flag()),
        None => "build the plugin again with this program: `context-graph plugin build DIR`".to_owned(),
    };
    let mended = |result: CheckResult| match scope {
        Some(scope) => result.fixed_by(Fix::Install(scope)),
        None => result,
    };
    let Some(path) = patient.resolve(name, hook) else {
        // Shared settings contain only the program's name, not a path on this machine. So writing them again would
        // change nothing.
        if is_bare(name) && scope == Some(Scope::Project) {
            let what = format!("`{name}` in {file} is not on the PATH: no hook can start");
            return Some(CheckResult::broken(CHECK, what, put_on_the_path()));
        }
        let what = if is_bare(name) {
            format!("`{name}` in {file} is not on the PATH: no hook can start")
        } else {
            format!("{name}, named in {file}, does not exist (perhaps an update moved it): no hook can start")
        };
        return Some(mended(CheckResult::broken(CHECK, what, fix(scope))));
    };
    if !is_executable(&path) {
        let what = format!("{} in {file} may not be executed: no hook can start", path.display());
        return Some(mended(CheckResult::broken(
            CHECK,
            what,
            format!("`chmod +x {}`, or {}", path.display(), fix(scope)),
        )));
    }
    let here = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
    if std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone()) == here {
        return None;
    }
    if !permit::is_the_users(hook.source) {
        return Some(named_by_the_project(hook, &path, &here, &fix(scope), &mended));
    }
    let version = version_of(&path);
    let own = concat!("context-graph ", env!("CARGO_PKG_VERSION"));
    Some(match version {
        Some(version) if version == own => CheckResult::warning(
            CHECK,
            format!("the hooks in {file} run {}, and this is {}", path.display(), here.display()),
            format!("run doctor from there, or {}", fix(scope)),
        ),
        Some(version) => mended(CheckResult::broken(
            CHECK,
            format!("the hooks in {file} run {} ({version}), and this is {own}", path.display()),
            fix(scope),
        )),
        None => mended(CheckResult::broken(
            CHECK,
            format!("{} in {file} is some other program, or a broken one", path.display()),
            fix(scope),
        )),
    })
}

/// A program that the project chose is not run, not even to identify it.
fn named_by_the_project(
    hook: &Ours<'_>,
    path: &Path,
    here: &Path,
    fix: &str,
    mended: &impl Fn(CheckResult) -> CheckResult,
) -> CheckResult {
    let file = hook.source.path.display();
    let what = format!("the hooks in {file} run {}, and this is {}", path.display(), here.display());
    let read = |path: &Path| safe_open::read_regular(path, MAX_PROGRAM);
    let is_copy = read(path).is_ok_and(|bytes| read(here).is_ok_and(|own| own == bytes));
    if is_copy {
        return CheckResult::warning(CHECK, what, format!("run doctor from there, or {fix}"));
    }
    let what = format!("{what}; that program was not run to identify it, because the project chose it");
    mended(CheckResult::broken(CHECK, what, fix.to_owned()))
}

pub(super) fn version_of(path: &Path) -> Option<String> {
    process::version_of(path, Duration::from_secs(5)).filter(|said| said.starts_with("context-graph "))
}

fn is_bare(name: &str) -> bool {
    !name.contains(['/', '\\'])
}

/// The file that a program name resolves to; `None` if there is none.
pub(super) fn resolve(name: &str, root: &Path, plugin_root: Option<&Path>) -> Option<PathBuf> {
    let name = expand(name, root, plugin_root);
    if is_bare(&name) {
        let names = System::here().program_names(&name);
        let folders = Environment::search_path().into_iter();
        return folders
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .find(|it| it.is_file());
    }
    let path = root.join(name);
    path.is_file().then_some(path)
}

/// Replaces the two variables that the client replaces.
pub(super) fn expand(text: &str, root: &Path, plugin_root: Option<&Path>) -> String {
    let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &root.to_string_lossy());
    if let Some(plugin_root) = plugin_root {
        text = text.replace("${CLAUDE_PLUGIN_ROOT}", &plugin_root.to_string_lossy());
    }
    text
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
