//! What should be in the settings, and what that would change there.

use std::path::{Path, PathBuf};

use context_graph_events::EventName;
use context_graph_policy::rules::Rules;
use context_graph_settings::{
    ClientVersion, Edited, Plan, PlanOptions, default_plan, install_where, missing_in,
};
use context_graph_storage::safe_open::read_regular;

use super::make_state_folder;
use crate::commands::failure::Failure;
use crate::commands::hooks::generate::SIGNATURE;
use crate::settings_file::{Scope, SettingsFile};
use crate::{Environment, clock, rules};

/// Upper limit for a script of ours.
const MAX_SCRIPT: u64 = 1 << 20;

/// What should be in the settings.
pub(crate) fn plan(
    environment: &Environment,
    program: &str,
    client: Option<ClientVersion>,
    options: &PlanOptions,
) -> Plan {
    let mut plan = default_plan(program, client, options);
    leave_time_for_gates(&mut plan, &rules::load(environment));
    plan
}

/// Updates the hooks in a settings file without asking, and returns the file's path.
pub(crate) fn bring_up_to_date(
    environment: &Environment,
    scope: Scope,
    program: &str,
    client: Option<ClientVersion>,
) -> Result<PathBuf, Failure> {
    let text = SettingsFile::new(environment, scope).read()?;
    let options = PlanOptions { missing: text.as_deref().and_then(missing_in), ..PlanOptions::default() };
    let plan = plan(environment, program, client, &options);
    install_unasked(environment, scope, &plan).map(|(path, _)| path)
}

/// Installs the plan into a settings file without asking. Returns the file's path and the changes.
pub(crate) fn install_unasked(
    environment: &Environment,
    scope: Scope,
    plan: &Plan,
) -> Result<(PathBuf, Edited), Failure> {
    let (file, before, edited) = planned(environment, scope, plan)?;
    if edited.text != before {
        make_state_folder(scope, environment)?;
        file.apply(before.as_deref(), &edited, clock::now_ms())?;
    }
    Ok((file.path().to_path_buf(), edited))
}

/// A settings file, its text, and what the plan would change.
pub(crate) fn planned(
    environment: &Environment,
    scope: Scope,
    plan: &Plan,
) -> Result<(SettingsFile, Option<String>, Edited), Failure> {
    let file = SettingsFile::new(environment, scope);
    let before = file.read()?;
    let edited = install_where(before.as_deref(), plan, &is_generated(environment.project_root()))
        .map_err(|error| file.refused(&error))?;
    Ok((file, before, edited))
}

/// The time limits of all gates together and of the longest signal, in seconds.
pub(super) fn gates_and_signals(rules: &Rules) -> (u64, u64) {
    let config = rules.config();
    let gates = config.stop_gates.iter().map(|gate| u64::from(gate.timeout_seconds)).sum();
    let signals: u64 = config.signals.iter().map(|signal| signal.timeout_ms).max().unwrap_or(0);
    (gates, signals.div_ceil(1000))
}

/// Extends the timeouts, because gates run during a `Stop`, and signals may run during any hook.
fn leave_time_for_gates(plan: &mut Plan, rules: &Rules) {
    let (gates, signals) = gates_and_signals(rules);
    if gates > 0 {
        for hook in plan.hooks.iter_mut().filter(|hook| hook.event == EventName::Stop) {
            hook.entry.timeout = hook.entry.timeout.saturating_add(gates);
            hook.entry.status_message =
                Some("context-graph: running the checks that must pass before stopping".to_owned());
        }
    }
    // Policies decide which events use signals, and policies change. So every hook gets the time.
    for hook in &mut plan.hooks {
        hook.entry.timeout = hook.entry.timeout.saturating_add(signals);
    }
}

/// Whether we generated a hook script: it carries our signature. In the default folder for scripts, a script
/// that calls us is enough.
pub(crate) fn is_generated(root: &Path) -> impl Fn(&str) -> bool + use<> {
    let root = root.to_path_buf();
    move |script: &str| {
        let path = root.join(script);
        let usual = path.parent().is_some_and(|folder| folder.ends_with(Path::new(".claude").join("hooks")));
        let sign = if usual { "context-graph hooks " } else { SIGNATURE };
        read_regular(&path, MAX_SCRIPT).is_ok_and(|text| String::from_utf8_lossy(&text).contains(sign))
    }
}
