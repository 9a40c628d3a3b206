//! The answer: one object on stdout with our fields and the client's.

use std::io::IsTerminal;
use std::time::Instant;

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICMonitor;
use context_graph_core::session::Ruling;
use context_graph_events::agents::{self, Caller, Reply};
use context_graph_events::claude_code::PreToolUseReply;
use context_graph_events::words::tame;
use context_graph_events::{HookReply, ReplyBody};
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::OutputFormat;
use super::context::HookContext;
use super::error::HookError;
use super::output::HookOutput;
use super::remember::Remembered;
use crate::trust::{self, told};
use crate::watchdog::Part;
use crate::{ExitStatus, terminal};

/// The answer of a hook that ran out of resources, written down beforehand: by then there may be no room to make it.
/// A tool call is asked about.
pub(super) const STARVED_CALL: &[u8] = br#"{"success":false,"error":"Internal error: the process ran out of memory, stack or processor time","execution_time_ms":0,"error_code":"internal","ruling":{"verdict":"ask","rules":["policy/error"],"reason":"The guard could not decide: \"Internal error: the process ran out of memory, stack or processor time\"."},"systemMessage":"context-graph: The guard could not decide: \"Internal error: the process ran out of memory, stack or processor time\".","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"The guard could not decide: \"Internal error: the process ran out of memory, stack or processor time\"."}}
"#;
/// The same for an event that nobody decides about.
pub(super) const STARVED: &[u8] = br#"{"success":false,"error":"Internal error: the process ran out of memory, stack or processor time","execution_time_ms":0,"error_code":"internal"}
"#;
/// The answer of a hook whose time is over while nothing is decided. It is only put together when that happens.
pub(super) const LATE: &[Part] = &[
    Part::Text(br#"{"success":false,"error":"Hook timeout after "#),
    Part::Budget,
    Part::Text(br#"ms","execution_time_ms":"#),
    Part::End,
    Part::Text(b",\"error_code\":\"timeout\"}\n"),
];
/// The same for a tool call, which is asked about.
pub(super) const LATE_CALL: &[Part] = &[
    Part::Text(br#"{"success":false,"error":"Hook timeout after "#),
    Part::Budget,
    Part::Text(br#"ms","execution_time_ms":"#),
    Part::End,
    Part::Text(br#","error_code":"timeout","ruling":{"verdict":"ask","rules":["policy/error"],"reason":"The guard could not decide: \"Hook timeout after "#),
    Part::Budget,
    Part::Text(br#"ms\"."},"systemMessage":"context-graph: The guard could not decide: \"Hook timeout after "#),
    Part::Budget,
    Part::Text(br#"ms\".","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"The guard could not decide: \"Hook timeout after "#),
    Part::Budget,
    Part::Text(b"ms\\\".\"}}\n"),
];
/// How much of a notice is told.
const NOTICE: usize = 600;

/// What a hook has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Our own fields.
    pub output: HookOutput,
    /// The client's.
    pub reply: ReplyBody,
    /// How the process ends.
    pub status: ExitStatus,
    /// What people are told beside the error.
    pub hint: Option<&'static str>,
}

impl Answer {
    /// Success, with nothing to tell the client.
    pub fn nothing_to_say() -> Self {
        Self::with_reply(ReplyBody::Fields(Map::new()))
    }

    /// Success, with this to tell the client.
    pub fn with_reply(reply: ReplyBody) -> Self {
        Self {
            output: HookOutput { success: true, ..HookOutput::default() },
            reply,
            status: ExitStatus::Success,
            hint: None,
        }
    }

    /// Failure, with nothing to tell the client.
    pub fn failure(error: &HookError) -> Self {
        Self::nothing_to_say().but_failed(error)
    }

    /// The same answer, from a hook that failed at something else: what it tells the client stands.
    #[must_use]
    pub fn but_failed(mut self, error: &HookError) -> Self {
        self.output.success = false;
        self.output.error = Some(error.to_string());
        self.output.error_code = Some(error.error_code());
        self.status = error.exit_status();
        self.hint = error.hint();
        self
    }

    /// The same answer about a call that was decided about and could not be remembered. It ends as if all had gone well:
    /// the client holds a failure against the call, whatever the answer says, so a full disk would stop all work.
    /// Damaged data is told all the same, and the user is told each time: what can keep calls off the record must not do
    /// it unseen.
    #[must_use]
    pub fn but_unrecorded(self, error: &HookError) -> Self {
        let mut answer = self.but_failed(error);
        answer.tell(&tame(&format!("this call is not on record: {error}"), NOTICE));
        if answer.status == ExitStatus::Error {
            answer.status = ExitStatus::Success;
        }
        answer
    }

    /// Failure over a tool call that nobody has decided about: the user is asked, because going on would be open by
    /// accident.
    pub fn undecided(error: &HookError) -> Self {
        let reason = context_graph_policy::unheard(error);
        let reply =
            PreToolUseReply::ask(reason.clone()).with_system_message(format!("context-graph: {reason}"));
        let mut answer = Self::with_reply(reply.into_body()).but_failed(error);
        answer.output.ruling =
            Some(Ruling { verdict: "ask".to_owned(), rules: vec!["policy/error".to_owned()], reason });
        answer
    }

    /// The same answer with what the session has to say, and how it stands.
    #[must_use]
    pub(super) fn with_what_was_remembered(mut self, remembered: Remembered) -> Self {
        let Remembered { snapshot, words, notices, told, summary, refused_previous, lost } = remembered;
        let output = &mut self.output;
        output.context_injection = words;
        if let Some(snapshot) = snapshot {
            output.consciousness_state = Some(ConsciousnessState::from_snapshot(&snapshot));
            output.ic_classification = Some(ICMonitor::of(&snapshot).classification());
        }
        output.session_summary = summary;
        output.notices.extend(notices);
        if let Some(error) = refused_previous {
            let code = error.error_code();
            output.error_code = Some(code);
            output.notices.push(format!("{code}: {error}; this session starts without one before it"));
        }
        if let Some(told) = told {
            self.tell(told);
        }
        match lost {
            Some(error) => self.but_failed(&error),
            None => self,
        }
    }

    /// Tells the user, once a session, that the project's files are not trusted. Where the event itself has no need to know
    /// that, a session's start finds it out.
    pub(super) fn tell_of_trust(&mut self, context: &HookContext<'_>, session_id: &str, starts: bool) {
        let files = &context.files;
        let standing = if starts { Some(files.standing()) } else { files.standing_if_known() };
        let Some((standing, words)) = standing.and_then(|standing| Some((standing, trust::words(standing)?)))
        else {
            return;
        };
        let can_be_told = matches!(self.reply, ReplyBody::Fields(_));
        if can_be_told && told::is_news(files.folder(), session_id, standing).unwrap_or(starts) {
            self.tell(words);
        }
    }

    /// Tells the user something, in a line, where the client shows such.
    fn tell(&mut self, words: &str) {
        if let ReplyBody::Fields(fields) = &mut self.reply {
            let line = format!("context-graph: {words}");
            let more = fields.get("systemMessage").and_then(Value::as_str);
            let message = more.map_or_else(|| line.clone(), |more| format!("{line}\n{more}"));
            fields.insert("systemMessage".to_owned(), message.into());
        }
        self.output.notices.push(words.to_owned());
    }

    /// The answer as it is written.
    pub fn render(&self, format: OutputFormat, to_terminal: bool) -> Vec<u8> {
        let fields = match &self.reply {
            ReplyBody::PlainText(text) => return text.clone().into_bytes(),
            ReplyBody::Fields(fields) => fields,
        };
        let object = OneObject { output: &self.output, client: fields };
        let written = match format {
            OutputFormat::Text => Ok(self.describe().into_bytes()),
            OutputFormat::Json if to_terminal => serde_json::to_vec_pretty(&object),
            OutputFormat::Json | OutputFormat::JsonCompact => serde_json::to_vec(&object),
        };
        // Only a map with keys that are not strings cannot be written, and there is none.
        let mut bytes = written.unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn describe(&self) -> String {
        use std::fmt::Write as _;

        let output = &self.output;
        let mut text = match (&output.error, output.error_code) {
            (Some(error), Some(code)) => format!("failed ({code}): {}", terminal::plain(error, false)),
            _ => "ok".to_owned(),
        };
        // Writing to a String cannot fail.
        if let Some(id) = &output.session_id {
            let _ = write!(text, "\nsession: {}", terminal::plain(id, false));
        }
        if let Some(ruling) = &output.ruling {
            let reason = terminal::plain(&ruling.reason, false);
            let _ = write!(text, "\n{} ({}): {reason}", ruling.verdict, ruling.rules.join(", "));
        }
        if let Some(ic) = &output.ic_classification {
            let _ = write!(text, "\ncontinuity: {:.2} ({})", ic.value, ic.level);
        }
        if let Some(context) = &output.context_injection {
            let _ = write!(text, "\ncontext given to the model:\n{}", terminal::plain(context, true));
        }
        if let Some(summary) = &output.session_summary {
            let _ = write!(text, "\n{}", terminal::plain(summary, true));
        }
        for notice in &output.notices {
            let _ = write!(text, "\nnote: {}", terminal::plain(notice, false));
        }
        let _ = write!(text, "\ntook {} ms", output.execution_time_ms);
        text
    }
}

/// The answer of a hook that failed. A tool call that nobody has decided about is asked about.
pub(super) fn failed(error: &HookError, is_undecided: bool) -> Answer {
    if is_undecided { Answer::undecided(error) } else { Answer::failure(error) }
}

/// Both halves in one object. The client ignores the fields it does not know, and so do readers of ours.
#[derive(Serialize)]
struct OneObject<'a> {
    #[serde(flatten)]
    output: &'a HookOutput,
    #[serde(flatten)]
    client: &'a Map<String, Value>,
}

/// Stamps the answer with the time taken and writes it: JSON for the caller and, for a failure, a line for people.
pub(super) fn give(
    mut answer: Answer,
    caller: Option<&Caller>,
    format: OutputFormat,
    started: Instant,
) -> ExitStatus {
    if let Some(caller) = caller {
        let reply = agents::render(caller, &answer.reply);
        // Where nothing is refused, what went wrong is for people.
        if let (Some(error), true) = (&answer.output.error, reply.stderr.is_empty()) {
            terminal::complain(error);
        }
        return give_theirs(&reply);
    }
    answer.output.execution_time_ms = elapsed_ms(started);
    for notice in &mut answer.output.notices {
        *notice = tame(notice, NOTICE);
    }
    let written = terminal::print(&answer.render(format, std::io::stdout().is_terminal()));
    if let Some(error) = &answer.output.error {
        match answer.hint {
            Some(hint) => terminal::complain(&format!("{error} ({hint})")),
            None => terminal::complain(error),
        }
    }
    if written { answer.status } else { ExitStatus::Error }
}

/// Writes a reply to another agent than Claude Code.
pub(super) fn give_theirs(reply: &Reply) -> ExitStatus {
    terminal::print(reply.stdout.as_bytes());
    terminal::note(&reply.stderr);
    match reply.exit {
        0 => ExitStatus::Success,
        2 => ExitStatus::Corruption,
        _ => ExitStatus::Error,
    }
}

pub(super) fn elapsed_ms(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::watchdog::Late;

    #[test]
    fn what_was_written_down_beforehand_is_what_would_be_written() {
        let written = |answer: Answer| answer.render(OutputFormat::JsonCompact, false);
        let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let error = HookError::OutOfResources;
        assert_eq!(parsed(STARVED_CALL), parsed(&written(Answer::undecided(&error))));
        assert_eq!(parsed(STARVED), parsed(&written(Answer::failure(&error))));
        for (parts, is_call) in [(LATE, false), (LATE_CALL, true)] {
            for budget_ms in [0, 7, 100, super::super::budget::DEFAULT_MS, u64::MAX] {
                let mut late = failed(&HookError::Timeout(budget_ms), is_call);
                late.output.execution_time_ms = budget_ms / 2;
                let told = Late::Told { parts, budget_ms, end_ms: budget_ms / 2 };
                assert_eq!(parsed(&told.to_vec()), parsed(&written(late)));
            }
        }
    }
}
