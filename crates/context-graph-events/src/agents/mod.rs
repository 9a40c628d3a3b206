//! The coding agents whose hooks reach us. One folder each, with what it says and what it may be told; what they say
//! becomes one of Claude Code's events, because there is one model of a session.

use std::fmt;

macro_rules! agents {
    ($( $(#[$meta:meta])* $agent:ident = $name:literal, $title:literal; )*) => {
        /// A coding agent that runs hooks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum Agent {
            $( $(#[$meta])* $agent, )*
        }

        impl Agent {
            /// All agents, in the order in which they are listed to people.
            pub const ALL: [Self; [$( $name ),*].len()] = [$( Self::$agent ),*];

            /// The name on command lines, in records and in exports.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$agent => $name, )* }
            }

            /// The product's own name, for people.
            pub const fn title(self) -> &'static str {
                match self { $( Self::$agent => $title, )* }
            }

            /// The agent of this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $( $name => Some(Self::$agent), )* _ => None }
            }
        }
    };
}

agents! {
    /// Anthropic's client, whose events are the model for all others.
    #[default]
    ClaudeCode = "claude-code", "Claude Code";
    /// A client of its own, in Rust, with Claude's event names.
    Codex = "codex", "Codex";
    /// GitHub's command-line client and cloud agent.
    Copilot = "copilot", "Copilot CLI";
    /// Google's client.
    Gemini = "gemini", "Gemini CLI";
    /// Alibaba's client, a descendant of Gemini CLI with Claude's event names.
    Qwen = "qwen", "Qwen Code";
    /// The editor, its command-line client and its SDK.
    Cursor = "cursor", "Cursor";
    /// Factory's client.
    Droid = "droid", "Factory Droid";
    /// Block's client.
    Goose = "goose", "Goose";
    /// A client with plugins, reached by a bridge of ours.
    Opencode = "opencode", "opencode";
    /// A client with extensions, reached by a bridge of ours.
    Pi = "pi", "Pi";
    /// A client that cannot refuse one call: it is recorded and told context.
    Cline = "cline", "Cline";
    /// A client with plugins, reached by a bridge of ours.
    Amp = "amp", "Amp";
    /// Known by its documents alone.
    Kiro = "kiro", "Kiro";
    /// Known by its documents alone.
    Windsurf = "windsurf", "Windsurf";
    /// The editor's own agent. Known by its documents alone.
    VsCode = "vscode", "VS Code";
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_agent() {
        for agent in Agent::ALL {
            assert_eq!(Agent::parse(agent.name()), Some(agent));
        }
        assert_eq!(Agent::parse("Codex"), None);
        assert_eq!(Agent::default(), Agent::ClaudeCode);
    }
}
