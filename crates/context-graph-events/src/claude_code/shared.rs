//! Types that several events share.

use serde_json::Value;

record! {
    /// Where an MCP tool comes from.
    McpServerProvenance {
        /// The server's name.
        required name: String,
        /// How it was configured: `user`, `project`, `plugin`, … (an open set).
        required source: String,
    }
}

record! {
    /// A task that goes on while the agent stops.
    BackgroundTaskSummary {
        /// The task's id.
        required id: String,
        /// `subagent`, `teammate`, …
        required kind = "type": String,
        /// `running`, …
        required status: String,
        /// At most 1,000 characters.
        required description: String,
        /// The shell command, if it is one.
        optional command: String,
        /// The agent's type, if it is one.
        optional agent_type: String,
        /// The MCP server, if it is one.
        optional server: String,
        /// The tool, if it is one.
        optional tool: String,
        /// A given name.
        optional name: String,
    }
}

record! {
    /// A prompt the session has scheduled for itself.
    SessionCronSummary {
        /// The schedule's id.
        required id: String,
        /// When.
        required schedule: String,
        /// Again and again, or once.
        required recurring: bool,
        /// What will be asked.
        required prompt: String,
    }
}

open_enum! {
    /// Who asked for compaction.
    CompactTrigger {
        /// The user, by `/compact`.
        Manual = "manual",
        /// The client, because the context is full.
        Auto = "auto",
    }
}

open_enum! {
    /// How an MCP server asks the user.
    ElicitationMode {
        /// A form.
        Form = "form",
        /// A page to open.
        Url = "url",
    }
}

open_enum! {
    /// What became of a question to the user.
    ElicitationAction {
        /// Answered.
        Accept = "accept",
        /// Refused.
        Decline = "decline",
        /// Dismissed.
        Cancel = "cancel",
    }
}

open_enum! {
    /// How long the prompt cache lives.
    CacheTtl {
        /// Five minutes.
        FiveMinutes = "5m",
        /// One hour.
        OneHour = "1h",
    }
}

open_enum! {
    /// Where a price estimate comes from.
    PricingSource {
        /// From settings.
        Configured = "configured",
        /// From the client's catalogue.
        Catalog = "catalog",
        /// A guess.
        Default = "default",
    }
}

/// A text field of a tool's input.
pub(crate) fn input_text(input: &Value, key: &str) -> Option<String> {
    input.get(key)?.as_str().map(str::to_owned)
}

/// The path a tool's input names, whatever the tool calls it.
pub(crate) fn input_path(input: &Value) -> Option<String> {
    ["file_path", "notebook_path", "path"].iter().find_map(|key| input_text(input, key))
}

/// Helpers of events that carry a tool's input.
macro_rules! tool_input_helpers {
    () => {
        /// Whether the call is of this tool.
        pub fn is_tool(&self, name: &str) -> bool {
            self.tool_name == name
        }

        /// The command of a tool that runs one.
        pub fn get_command(&self) -> Option<String> {
            $crate::claude_code::shared::input_text(&self.tool_input, "command")
        }

        /// The path that the tool works on, where its input names one.
        pub fn get_file_path(&self) -> Option<String> {
            $crate::claude_code::shared::input_path(&self.tool_input)
        }

        /// The tool's input as a type of the caller's.
        pub fn parse_tool_input<T: ::serde::de::DeserializeOwned>(&self) -> Result<T, ::serde_json::Error> {
            T::deserialize(&self.tool_input)
        }

        /// The tool's input, typed for the tools we know.
        pub fn typed_input(&self) -> Result<$crate::tool_input::ToolInput, $crate::decode::DecodeError> {
            $crate::tool_input::ToolInput::read(&self.tool_name, &self.tool_input)
        }
    };
}

/// Helpers of events at which an agent wants to stop.
macro_rules! stop_helpers {
    () => {
        /// Whether the agent already goes on because of a stop hook; holding it again could loop forever.
        pub fn should_allow_stop(&self) -> bool {
            self.stop_hook_active
        }

        /// Whether no stop hook has held the agent yet.
        pub fn is_first_attempt(&self) -> bool {
            !self.stop_hook_active
        }

        /// Whether something goes on in the background.
        pub fn has_background_work(&self) -> bool {
            self.background_tasks.as_ref().is_some_and(|tasks| !tasks.is_empty())
        }
    };
}
