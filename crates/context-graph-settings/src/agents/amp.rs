//! Amp: a plugin in TypeScript. The whole file is ours. It follows Amp's documentation of plugins and was never run in
//! Amp, because that needs an account.

use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, UserFile, bridge};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Amp,
    program: "amp",
    folder: ".config/amp",
    variable: None,
    user_file: UserFile::InFolder("plugins/context-graph.ts"),
    project_file: ".amp/plugins/context-graph.ts",
    kind: FileKind::Bridge(bridge::amp),
};
