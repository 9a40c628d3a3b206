//! What is put in front of the model, at which moment. Nothing while all is well.

use context_graph_core::gwt::lifecycle::Lifecycle;
use context_graph_core::session::{DreamCause, Session, StepReport};
use context_graph_events::Event;
use context_graph_events::claude_code::SessionSource;

use crate::config::Inject;

/// The moments at which something may be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    /// A session starts.
    Start(SessionSource),
    /// A prompt arrives.
    Prompt,
    /// A tool has run, or several.
    AfterTool,
    /// The conversation is about to be summarised.
    PreCompact,
    /// Nothing can be said.
    Other,
}

impl Moment {
    /// The moment of an event.
    pub(super) fn of(event: &Event) -> Self {
        match event {
            Event::SessionStart(start) => Self::Start(start.source.clone()),
            Event::UserPromptSubmit(_) => Self::Prompt,
            Event::PostToolUse(_) | Event::PostToolUseFailure(_) | Event::PostToolBatch(_) => Self::AfterTool,
            Event::PreCompact(_) => Self::PreCompact,
            _ => Self::Other,
        }
    }

    /// What to say, if anything.
    pub(super) fn words(
        &self,
        session: &Session,
        previous: Option<&Session>,
        report: &StepReport,
        settings: &Inject,
    ) -> Option<String> {
        if !settings.enabled {
            return None;
        }
        let max = settings.max_characters;
        match self {
            Self::Start(SessionSource::Startup | SessionSource::Clear) if settings.session_start => previous
                .filter(|previous| previous.state.lifecycle == Lifecycle::Ended)
                .and_then(|previous| previous.tell_successor(max)),
            Self::Start(SessionSource::Compact) if settings.after_compaction => session.tell_digest(max),
            Self::Start(SessionSource::Resume | SessionSource::Fork) if settings.resume => {
                let told = if session.state.counters.prompts > 0 { Some(session) } else { previous };
                told.map(Session::tell_state)
            }
            Self::Prompt if settings.prompt && session.is_below(settings.hint_below) => {
                session.tell_drift(max)
            }
            Self::AfterTool if settings.crisis => crisis(session, report, max),
            Self::PreCompact if settings.pre_compact => session.tell_summariser(max),
            _ => None,
        }
    }
}

/// At a crisis, once per dream: what repeats or what drifted, and then the digest.
fn crisis(session: &Session, report: &StepReport, max: usize) -> Option<String> {
    let dream = report.dream?;
    let first = match dream.cause {
        DreamCause::Loop => session.tell_loop(),
        DreamCause::Drift => {
            Some(format!("Continuity with the session's purpose has fallen to {:.2}.", dream.ic))
        }
        DreamCause::End => return None,
    };
    let first = first?;
    let digest = session.tell_digest(max.checked_sub(first.chars().count() + 1)?)?;
    Some(format!("{digest}\n{first}"))
}
