//! Whose process this is, and whether an agent started it.

use std::path::{Component, Path, PathBuf};

use super::Environment;

impl Environment {
    /// Whether this command is run by an agent: the client marks the shells that it starts for one.
    #[expect(
        clippy::disallowed_methods,
        reason = "only this module reads the environment; commands for the user alone call this"
    )]
    pub(crate) fn is_run_by_an_agent() -> bool {
        let is_marked = std::env::var_os(AGENTS_MARK).is_some_and(|value| !value.is_empty());
        is_marked || is_below_an_agent()
    }

    /// Whether an agent started the client that this hook answers. Prompts of such a client come from the agent,
    /// not from a person.
    #[expect(
        clippy::disallowed_methods,
        reason = "only this module reads the environment; only prompts need this"
    )]
    pub(crate) fn is_client_run_by_an_agent() -> bool {
        let client = std::env::var_os("CLAUDE_PID").and_then(|process| process.to_str()?.parse().ok());
        client.is_some_and(is_agents_or_below)
    }
}

/// The variable that the client sets in its agent's shells.
const AGENTS_MARK: &str = "CLAUDECODE";
/// How many parent processes are checked.
#[cfg(target_os = "linux")]
const MAX_ABOVE: usize = 64;

/// Whether a parent of this process was started with the agent's mark.
#[cfg(target_os = "linux")]
fn is_below_an_agent() -> bool {
    !is_tested_alone() && is_agents_or_below(std::os::unix::process::parent_id())
}

/// Whether a process or one of its parents was started with the agent's mark. A script can remove the mark from its
/// own environment, but not from the one that the kernel recorded when the script was started.
#[cfg(target_os = "linux")]
fn is_agents_or_below(process: u32) -> bool {
    let upwards = std::iter::successors(Some(process), |process| {
        // The process name in parentheses may itself contain a `)`, so we search for the last one.
        let about = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        about.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    });
    let checked = if is_tested_alone() { 1 } else { MAX_ABOVE };
    upwards.take_while(|process| *process > 0).take(checked).any(was_started_by_an_agent)
}

/// Whether a test has switched off the check of parent processes, because an agent may be running the test.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "a test switch")]
fn is_tested_alone() -> bool {
    cfg!(debug_assertions) && std::env::var_os("CONTEXT_GRAPH_TEST_ALONE").is_some()
}

/// Whether a process was started with the agent's mark.
#[cfg(target_os = "linux")]
fn was_started_by_an_agent(process: u32) -> bool {
    let is_mark = |variable: &[u8]| {
        let value = variable.strip_prefix(AGENTS_MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        value.is_some_and(|value| !value.is_empty())
    };
    let started_with = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    started_with.split(|byte| *byte == 0).any(is_mark)
}

#[cfg(not(target_os = "linux"))]
fn is_below_an_agent() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn is_agents_or_below(_process: u32) -> bool {
    false
}

/// Whether a path means the same place for every process. Settings in a checkout can name a home for our
/// process, but they do not know where the checkout is: they can only use paths that depend on the process
/// (`/proc/self/cwd`, `..`).
pub(crate) fn is_settled(path: &Path) -> bool {
    let passing = ["/proc", "/dev"].iter().any(|root| path.starts_with(root));
    path.is_absolute() && !passing && !path.components().any(|part| part == Component::ParentDir)
}

/// The account's home in the system's user database, whatever `HOME` says.
#[cfg(target_os = "linux")]
pub(crate) fn home_of_the_account() -> Option<PathBuf> {
    #[cfg(debug_assertions)]
    #[expect(clippy::disallowed_methods, reason = "a test switch")]
    if let Some(home) = std::env::var_os("CONTEXT_GRAPH_TEST_ACCOUNT") {
        return Some(home.into());
    }
    let user = rustix::process::getuid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    fields
        .filter(|fields| fields.get(2) == Some(&user.as_str()))
        .find_map(|fields| fields.get(5).map(PathBuf::from))
        .filter(|home| home.is_absolute())
}

/// The same for systems that do not keep accounts in a file.
#[cfg(all(unix, not(target_os = "linux")))]
#[expect(unsafe_code, reason = "accounts are only available through libc")]
pub(crate) fn home_of_the_account() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    let mut text = vec![0; 16 * 1024];
    let mut account = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    // SAFETY: the system writes the account to `account` and its strings to `text`, and knows how long `text`
    // is. `found` is null or points to the account.
    let home = unsafe {
        let (text, length) = (text.as_mut_ptr(), text.len());
        let failed = libc::getpwuid_r(libc::getuid(), account.as_mut_ptr(), text, length, &raw mut found);
        if failed != 0 || found.is_null() || (*found).pw_dir.is_null() {
            return None;
        }
        std::ffi::CStr::from_ptr((*found).pw_dir).to_bytes().to_vec()
    };
    Some(PathBuf::from(std::ffi::OsString::from_vec(home))).filter(|home| home.is_absolute())
}

#[cfg(not(unix))]
pub(crate) fn home_of_the_account() -> Option<PathBuf> {
    None
}
