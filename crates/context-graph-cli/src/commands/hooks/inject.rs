//! What is added to the model's context, and when. If all is well, nothing is.

use context_graph_core::gwt::lifecycle::Lifecycle;
use context_graph_core::session::{Session, StepReport};
use context_graph_events::Event;
use context_graph_events::agents::{Agent, sender};
use context_graph_events::claude_code::{CompactTrigger, SessionSource};
use context_graph_events::safe_text::shortened;

use crate::config::Inject;

/// The moments at which context may be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    /// A session starts.
    Start(SessionSource),
    /// A prompt arrives.
    Prompt,
    /// A tool has run.
    AfterTool,
    /// The conversation is about to be summarised.
    PreCompact,
    /// The same for an agent without an event after the compaction: the text is kept for its next event.
    Compacting,
    /// No context can be added.
    Other,
}

impl Moment {
    /// The moment of an event.
    pub(super) fn of(event: &Event) -> Self {
        match event {
            Event::SessionStart(start) => Self::Start(start.source.clone()),
            Event::UserPromptSubmit(_) => Self::Prompt,
            Event::PostToolUse(_) | Event::PostToolUseFailure(_) => Self::AfterTool,
            Event::PreCompact(compaction) => match sender(event) {
                None => Self::PreCompact,
                Some(agent) if agent.starts_after_compaction() => Self::Other,
                // Gemini CLI sends this event before every request.
                Some(Agent::Gemini) if compaction.trigger == CompactTrigger::Auto => Self::Other,
                Some(_) => Self::Compacting,
            },
            _ => Self::Other,
        }
    }

    /// What to say, if anything. `instructions` returns what the project already tells the model.
    pub(super) fn injection(
        &self,
        session: &Session,
        previous: Option<&Session>,
        report: &StepReport,
        settings: &Inject,
        instructions: impl Fn() -> String,
    ) -> Option<String> {
        if !settings.enabled {
            return None;
        }
        let max = settings.max_characters;
        match self {
            Self::Start(SessionSource::Startup | SessionSource::Clear) if settings.session_start => {
                previous.filter(|previous| previous.state.lifecycle == Lifecycle::Ended).and_then(
                    |previous| previous.tell_successor(max, &instructions(), &session.state.remembered),
                )
            }
            Self::Start(SessionSource::Compact) | Self::Compacting if settings.after_compaction => {
                session.tell_digest(max, &instructions())
            }
            Self::Start(SessionSource::Resume | SessionSource::Fork) if settings.resume => {
                let told = if session.state.counters.prompts > 0 { Some(session) } else { previous };
                told.map(Session::tell_state)
            }
            Self::Prompt if settings.prompt => Session::tell_pointed(&report.pointed, max),
            Self::AfterTool if settings.crisis => {
                report.alarm.and_then(|alarm| session.tell_alarm(alarm)).map(|line| shortened(&line, max))
            }
            Self::PreCompact if settings.pre_compact => session.tell_summariser(max),
            _ => None,
        }
    }
}
