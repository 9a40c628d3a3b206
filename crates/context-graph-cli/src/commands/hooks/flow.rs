//! What every hook does with its event: remember it, let the session take it in, say how the session stands.

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICClassification;
use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::EventRecord;
use context_graph_events::Event;
use context_graph_storage::sessions::{Arrival, Durability, Sessions, Stepped};

use super::Host;
use super::answer::Answer;
use super::args::CommonArgs;
use super::error::HookError;
use super::inject::Moment;
use super::input::Incoming;
use crate::config::{Config, Sync};
use crate::summary;

/// The project's sessions and how the user wants them.
struct Place {
    sessions: Sessions,
    config: Config,
    /// What is wrong with the configuration, if anything: the hook goes on with the defaults.
    complaint: Option<String>,
}

impl Host<'_> {
    fn place(&self, args: &CommonArgs) -> Result<Place, HookError> {
        let sessions = self.environment.sessions(args.db_path.as_deref())?;
        let (config, complaint) = match Config::read(sessions.folder().path()) {
            Ok(config) => (config, None),
            Err(error) => (Config::default(), Some(error.to_string())),
        };
        let sessions = sessions.durable(config.storage.sync == Sync::EveryEvent);
        Ok(Place { sessions, config, complaint })
    }

    fn took_us(&self) -> u32 {
        u32::try_from(self.started.elapsed().as_micros()).unwrap_or(u32::MAX)
    }
}

/// Remembers a tool call that is about to be made, and answers from what is at hand: no database, no waiting.
pub(super) fn remember(host: &Host<'_>, args: &CommonArgs, incoming: Incoming) -> Result<Answer, HookError> {
    let place = host.place(args)?;
    let at_ms = incoming.at_ms();
    let session_id = incoming.event.session_id().to_owned();
    let (mut record, _) = EventRecord::of(incoming.event, at_ms)?;
    record.took_us = host.took_us();
    let damage = place.sessions.append(&session_id, &record)?;
    let mut answer = Answer::nothing_to_say();
    if let Some(snapshot) = place.sessions.peek_identity(&session_id)? {
        describe(&mut answer, &snapshot);
    }
    answer.output.notices = damage.iter().map(ToString::to_string).chain(place.complaint).collect();
    Ok(answer)
}

/// Lets the session take an event in, and says what there is to say.
pub(super) fn answer(host: &Host<'_>, args: &CommonArgs, incoming: Incoming) -> Result<Answer, HookError> {
    let place = host.place(args)?;
    let at_ms = incoming.at_ms();
    let session_id = incoming.event.session_id().to_owned();
    let durability = Durability::of(&incoming.event);
    let moment = Moment::of(&incoming.event);
    let ends = matches!(incoming.event, Event::SessionEnd(_));
    let arrival = Arrival {
        event: incoming.event,
        at_ms,
        previous_session_id: incoming.previous_session_id,
        took_us: host.took_us(),
    };
    let Stepped { session, report, previous, damage } =
        place.sessions.step(&session_id, arrival, durability)?;

    let words = moment.words(&session, previous.as_ref(), &report, &place.config.inject);
    let mut answer = Answer::with_reply(moment.reply(words.as_ref()));
    answer.output.context_injection = words;
    describe(&mut answer, &session.snapshot);
    answer.output.session_summary = ends.then(|| summary::of(&session));
    answer.output.notices = damage.iter().map(ToString::to_string).chain(place.complaint).collect();
    if report.reopened {
        answer.output.notices.push(format!("session {session_id} had ended and is open again"));
    }
    Ok(answer)
}

fn describe(answer: &mut Answer, snapshot: &SessionIdentitySnapshot) {
    answer.output.consciousness_state = Some(ConsciousnessState::from_snapshot(snapshot));
    answer.output.ic_classification =
        Some(ICClassification::new(snapshot.last_ic, snapshot.crisis_threshold));
}
