//! opencode: a plugin in JavaScript. The whole file is ours.

use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, UserFile, bridge};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Opencode,
    program: "opencode",
    folder: ".config/opencode",
    variable: Some(("XDG_CONFIG_HOME", "opencode")),
    user_file: UserFile::InFolder("plugin/context-graph.js"),
    project_file: ".opencode/plugin/context-graph.js",
    kind: FileKind::Bridge(bridge::opencode),
};
