//! Evaluates the Rego policies and the signals that they need.

use std::cell::LazyCell;
use std::path::Path;
use std::time::Duration;

use context_graph_events::Event;
use serde_json::{Map, Value};

use super::{FILE, Rules, Whose};
use crate::Effects;
use crate::rego::signals::Signalled;
use crate::rego::{self, Additions, Evaluation, Input, PolicySet, RegoError, RegoErrorKind};
use crate::trust::untrusted;

/// The data that policies see. It is built once for all policies, and only if there is a policy for the event or one
/// with an error.
pub(super) struct Material {
    /// The event.
    pub(super) object: Map<String, Value>,
    /// What they may know about the session.
    pub(super) session: Value,
    /// What the call would do, if the event is about one.
    pub(super) effects: Option<Effects>,
}

impl Rules {
    /// Runs Rego policies for the event.
    pub(super) fn consult(
        &self,
        policies: &PolicySet,
        whose: Whose,
        event: &Event,
        material: &LazyCell<Material, impl FnOnce() -> Material>,
    ) -> Option<Evaluation> {
        let (name, tool) = (event.name(), event.tool_name());
        let nothing = policies.routed(name, tool).is_empty();
        if nothing && policies.errors().is_empty() {
            return None;
        }
        let Material { object, session, effects } = &**material;
        let Signalled { values, missing } = self.signals(policies, event, object);
        let additions = Additions {
            session: session.clone(),
            signals: values,
            builtin_config: self.config().builtin_config.clone().into_iter().collect(),
            affected_directories: effects.as_ref().map(rego::affected_directories).unwrap_or_default(),
            effects: effects.as_ref().map(rego::effects_view).unwrap_or_default(),
        };
        let input = Input::new(object, additions, &self.context());
        let limits = self.host.limits(event);
        let mut evaluation = policies.evaluate_on(name, tool, &input, limits, self.host.prepare());
        if whose == Whose::Project && !self.standing.is_in_force() {
            evaluation.decision = untrusted::tightened(event.known_name(), &evaluation.decision);
            // Without its signal, a policy may allow what it should refuse.
            for name in missing.iter().filter(|name| self.withheld.contains(name)) {
                let what =
                    format!("asks for the signal `{name}`, which is not run before the project is trusted");
                let kind = RegoErrorKind::Evaluate(what);
                evaluation.errors.push(RegoError { file: FILE.to_owned(), line: None, kind });
            }
        }
        for name in missing {
            let note = format!("a policy asks for the signal `{name}`, which is not configured");
            evaluation.decision = evaluation.decision.with_note(note);
        }
        Some(evaluation)
    }

    /// How long an event's policies may wait besides their own time: for their signals, which run in parallel,
    /// and for a processor.
    pub fn longest_wait(&self, event: &Event) -> Duration {
        let (name, tool) = (event.name(), event.tool_name());
        let of = |policies: &PolicySet| {
            if policies.routed(name, tool).is_empty() {
                return Duration::ZERO;
            }
            let wanted = policies.signals(name, tool);
            let configured = self.config().signals.iter();
            let times = configured.filter(|signal| wanted.contains(signal.name.as_str()));
            let longest = times.map(|signal| signal.timeout_ms).max().unwrap_or(0);
            Duration::from_millis(longest) + rego::WITHHELD
        };
        [self.policies(), self.team_policies()].into_iter().flatten().map(of).sum()
    }

    fn signals(&self, policies: &PolicySet, event: &Event, object: &Map<String, Value>) -> Signalled {
        let wanted = policies.signals(event.name(), event.tool_name());
        if wanted.is_empty() {
            return Signalled::default();
        }
        let bytes = serde_json::to_vec(object).unwrap_or_default();
        let root = Path::new(&self.folders.project);
        rego::signals::run(&self.config().signals, wanted, &bytes, |signal, event| {
            self.host.run_signal(signal, root, event)
        })
    }
}
