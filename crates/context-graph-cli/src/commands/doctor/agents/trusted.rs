//! What the user must confirm in a client before it runs hooks. Without it, the clients skip the hooks silently.

use context_graph_events::agents::Agent;
use context_graph_settings::AgentClient;
use serde_json::Value;

use super::{Registered, codex};
use crate::Environment;
use crate::commands::doctor::check_result::CheckResult;
use crate::settings_file::{MAX_BYTES, Scope, SettingsFile};

/// The steps left after an installation, one per line.
pub(crate) fn steps_to_trust(
    environment: &Environment,
    client: &'static AgentClient,
    scope: Scope,
) -> Vec<String> {
    let mut steps = Vec::new();
    let file = SettingsFile::of_agent(environment, client, scope);
    if let Some(text) = file.read().ok().flatten().filter(|_| client.agent == Agent::Codex) {
        let (trusted, all) = codex::trusted(environment, &file, &text);
        if trusted < all {
            steps.push(format!(
                "Codex skips hooks that you have not trusted, without a message: {}",
                codex::STEPS
            ));
        }
    }
    if scope == Scope::Project && trusts_folder(environment, client) == Some(false) {
        steps.push(words(environment, client));
    }
    steps
}

/// Whether the client runs hooks in this folder.
pub(super) fn folder(registered: &Registered<'_>) -> Option<CheckResult> {
    let is_refused = registered.scope == Scope::Project
        && trusts_folder(registered.environment, registered.client) == Some(false);
    is_refused.then(|| {
        CheckResult::broken(
            registered.name(),
            words(registered.environment, registered.client),
            format!("start `{}` in the folder and say that you trust it", registered.client.program),
        )
    })
}

fn words(environment: &Environment, client: &AgentClient) -> String {
    format!(
        "{} does not trust {} and skips its hooks without a message",
        client.agent.title(),
        environment.project_root().display()
    )
}

/// Whether a client trusts the project's folder; `None` if it does not ask, or if that is not known.
fn trusts_folder(environment: &Environment, client: &AgentClient) -> Option<bool> {
    let folder = environment.agent_folder(client);
    let read = |name: &str| -> Option<Value> {
        let bytes = context_graph_storage::safe_open::read_regular(&folder.join(name), MAX_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok()
    };
    let root = environment.project_root();
    let place = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let is_in = |named: &str| place.starts_with(named) || root.starts_with(named);
    match client.agent {
        Agent::Codex => Some(codex::trusts_project(environment)),
        Agent::Copilot => {
            let config = read("config.json").unwrap_or_default();
            let named = config["trusted_folders"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Some(named.into_iter().any(is_in))
        }
        Agent::Gemini | Agent::Qwen => {
            let settings = read("settings.json").unwrap_or_default();
            if settings["security"]["folderTrust"]["enabled"] == false {
                return None;
            }
            let known = read("trustedFolders.json").unwrap_or_default();
            let mut trusted =
                known.as_object().into_iter().flatten().filter(|(_, said)| *said != "DO_NOT_TRUST");
            Some(trusted.any(|(named, _)| is_in(named)))
        }
        _ => None,
    }
}
