//! Checks an action's matcher: it must be able to match a name of its event.

use context_graph_events::EventName;

use super::action::alternatives;
use super::{Action, ConfigError};
use crate::did_you_mean::meant;
use crate::effects::glob::MAX_PATTERN;
use crate::rego::lint::{TOOLS, WITH_TOOL};

/// What is wrong with the matcher of an action on this event, if anything.
pub(super) fn wrong_with_matcher(action: &Action, event: EventName) -> Option<ConfigError> {
    let matcher = action.matcher.as_ref()?;
    let why = if event.has_matcher() {
        alternatives(matcher).find_map(|name| wrong_with_name(name, event))?
    } else {
        format!("{event} has nothing to compare it with; leave it out")
    };
    Some(ConfigError::BadMatcher(matcher.clone(), why))
}

fn wrong_with_name(name: &str, event: EventName) -> Option<String> {
    if name.is_empty() || name.len() > MAX_PATTERN {
        return Some("one of its names is empty or too long".to_owned());
    }
    let (whose, can_have): (&str, fn(char) -> bool) = if matches_known_words(event) {
        (if WITH_TOOL.contains(&event) { "tool" } else { "value" }, is_of_word)
    } else if event == EventName::FileChanged {
        ("file", |c| c != '/')
    } else {
        return None;
    };
    if let Some(foreign) = name.chars().find(|c| *c != '*' && !can_have(*c)) {
        return Some(format!(
            "no {whose} of {event} has `{foreign}` in its name; `|` stands between names and `*` for any run of characters"
        ));
    }
    let is_plain = whose == "tool" && !name.contains('*') && !TOOLS.contains(&name);
    let meant = if is_plain { meant(name, &TOOLS) } else { String::new() };
    (!meant.is_empty()).then(|| format!("no tool is called `{name}`{meant}"))
}

/// Names of tools and of the client's own words consist of these characters.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Whether an event's matcher is compared with a tool or one of the client's own words. For other events it is
/// compared with names that users and servers choose.
pub(super) fn matches_known_words(event: EventName) -> bool {
    let is_clients = matches!(
        event,
        EventName::Notification
            | EventName::SessionStart
            | EventName::SessionEnd
            | EventName::StopFailure
            | EventName::PreCompact
            | EventName::PostCompact
            | EventName::Setup
            | EventName::ConfigChange
            | EventName::InstructionsLoaded
            | EventName::DirectoryAdded
    );
    is_clients || WITH_TOOL.contains(&event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nothing_can_have_is_found() {
        for (event, name, is_wrong) in [
            (EventName::PreToolUse, "Edit", false),
            (EventName::PreToolUse, "mcp__git*__push-all", false),
            (EventName::PreToolUse, "TaskCreate", false),
            (EventName::PreToolUse, "Edit(", true),
            (EventName::PreToolUse, "mcp__.*", true),
            (EventName::PreToolUse, "Bash(git *)", true),
            (EventName::PreToolUse, "edit", true),
            (EventName::SessionStart, "resume", false),
            (EventName::SessionStart, "^resume$", true),
            (EventName::FileChanged, "a (copy).env", false),
            (EventName::FileChanged, "src/.env", true),
            (EventName::SubagentStop, "review:security (strict)", false),
        ] {
            assert_eq!(wrong_with_name(name, event).is_some(), is_wrong, "{event} {name}");
        }
    }
}
