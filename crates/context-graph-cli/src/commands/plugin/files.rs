//! The files of a plugin.

use context_graph_settings::{Plan, SettingsError, install};
use serde_json::{Value, json};

pub(super) const NAME: &str = "context-graph";
const DESCRIPTION: &str =
    "Keeps the thread of a session, guards every tool call by what it would do, and remembers every event";
const AUTHOR: &str = "The context-graph authors";

/// For people who install it.
pub(super) const README: &str = "# context-graph

One native program behind the hooks of Claude Code. It notices when a session drifts from what it was asked for or
repeats itself, gives the model back what compaction and restarts lost, denies tool calls that would destroy data for
good, and remembers every event with secrets taken out.

It needs no daemon, no interpreter and no network. What it remembers is in `.context-graph/` of the project. Use either
this plugin or `context-graph init`, not both: each event would be answered twice. `context-graph doctor` says whether
all is well.
";

/// `.claude-plugin/plugin.json`
pub(super) fn manifest() -> Value {
    json!({
        "name": NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "author": {"name": AUTHOR},
        "repository": env!("CARGO_PKG_REPOSITORY"),
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["hooks", "guard", "memory", "audit"],
    })
}

/// `.claude-plugin/marketplace.json`: lets the client install the folder directly.
pub(super) fn marketplace() -> Value {
    json!({
        "name": NAME,
        "description": DESCRIPTION,
        "owner": {"name": AUTHOR},
        "plugins": [{"name": NAME, "source": "./", "description": DESCRIPTION}],
    })
}

/// `hooks/hooks.json`: the hooks as in the settings, with a description.
pub(super) fn hooks(plan: &Plan) -> Result<Value, SettingsError> {
    let settings = install(None, plan)?.text.unwrap_or_default();
    let mut hooks: Value = serde_json::from_str(&settings).unwrap_or_default();
    hooks["description"] = DESCRIPTION.into();
    Ok(hooks)
}
