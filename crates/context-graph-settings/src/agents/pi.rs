//! Pi: an extension in TypeScript. The whole file is ours.

use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, UserFile, bridge};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Pi,
    program: "pi",
    folder: ".pi/agent",
    variable: Some(("PI_CODING_AGENT_DIR", "")),
    user_file: UserFile::InFolder("extensions/context-graph.ts"),
    project_file: ".pi/extensions/context-graph.ts",
    kind: FileKind::Bridge(bridge::pi),
};
