//! Types that several events share.

use serde_json::Value;

record! {
    /// The origin of an MCP tool.
    McpServerProvenance {
        /// The server's name.
        required name: String,
        /// How it was configured: `user`, `project`, `plugin`, … (an open set).
        required source: String,
    }
}

record! {
    /// A task that continues while the agent stops.
    BackgroundTaskSummary {
        /// The task's id.
        required id: String,
        /// `subagent`, `teammate`, …
        required kind = "type": String,
        /// `running`, …
        required status: String,
        /// At most 1,000 characters.
        required description: String,
        /// The shell command, if the task is one.
        optional command: String,
        /// The agent's type, if the task is one.
        optional agent_type: String,
        /// The MCP server, if the task uses one.
        optional server: String,
        /// The tool, if the task is one.
        optional tool: String,
        /// Its name, if it has one.
        optional name: String,
    }
}

record! {
    /// A prompt the session has scheduled for itself.
    SessionCronSummary {
        /// The schedule's id.
        required id: String,
        /// The schedule.
        required schedule: String,
        /// Whether it repeats.
        required recurring: bool,
        /// The prompt that will be sent.
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
    /// The result of a question to the user.
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
    /// The lifetime of the prompt cache.
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
        /// A default estimate.
        Default = "default",
    }
}

/// A text field of a tool's input.
pub(crate) fn input_text(input: &Value, key: &str) -> Option<String> {
    input.get(key)?.as_str().map(str::to_owned)
}

/// The path in a tool's input, whatever the tool calls it.
pub(crate) fn input_path(input: &Value) -> Option<String> {
    ["file_path", "notebook_path", "path"].iter().find_map(|key| input_text(input, key))
}

/// Helpers for events with a tool's input.
macro_rules! tool_input_helpers {
    () => {
        /// Whether the call uses this tool.
        pub fn is_tool(&self, name: &str) -> bool {
            self.tool_name == name
        }

        /// The command of a tool that runs one.
        pub fn get_command(&self) -> Option<String> {
            $crate::claude_code::shared::input_text(&self.tool_input, "command")
        }

        /// The path that the tool works on, if its input has one.
        pub fn get_file_path(&self) -> Option<String> {
            $crate::claude_code::shared::input_path(&self.tool_input)
        }

        /// The tool's input as a type of the caller's choice.
        pub fn parse_tool_input<T: ::serde::de::DeserializeOwned>(&self) -> Result<T, ::serde_json::Error> {
            T::deserialize(&self.tool_input)
        }

        /// The tool's input, typed if the tool is known.
        pub fn typed_input(&self) -> Result<$crate::tool_input::ToolInput, $crate::decode::DecodeError> {
            $crate::tool_input::ToolInput::read(&self.tool_name, &self.tool_input)
        }
    };
}

/// Helpers for events at which an agent wants to stop.
macro_rules! stop_helpers {
    () => {
        /// Whether the agent already continues because of a stop hook; holding it again could loop forever.
        pub fn should_allow_stop(&self) -> bool {
            self.stop_hook_active
        }

        /// Whether no stop hook has held the agent yet.
        pub fn is_first_attempt(&self) -> bool {
            !self.stop_hook_active
        }

        /// Whether something runs in the background.
        pub fn has_background_work(&self) -> bool {
            self.background_tasks.as_ref().is_some_and(|tasks| !tasks.is_empty())
        }
    };
}
