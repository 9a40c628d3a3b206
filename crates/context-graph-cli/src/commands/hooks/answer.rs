//! The answer: one object on stdout with our fields and the client's.

use std::io::IsTerminal;
use std::time::Instant;

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICMonitor;
use context_graph_core::session::Ruling;
use context_graph_events::agents::{self, AgentAnswer, Caller};
use context_graph_events::claude_code::PreToolUseReply;
use context_graph_events::safe_text::tame;
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

/// The answer of a hook that ran out of resources. A constant, because there may be no memory to build an answer.
/// A tool call is answered with "ask".
pub(super) const STARVED_CALL: &[u8] = br#"{"success":false,"error":"Internal error: the process ran out of memory, stack or processor time","execution_time_ms":0,"error_code":"internal","ruling":{"verdict":"ask","rules":["policy/error"],"reason":"The guard could not decide: \"Internal error: the process ran out of memory, stack or processor time\"."},"systemMessage":"context-graph: The guard could not decide: \"Internal error: the process ran out of memory, stack or processor time\".","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"The guard could not decide: \"Internal error: the process ran out of memory, stack or processor time\"."}}
"#;
/// The same for an event that needs no decision.
pub(super) const STARVED: &[u8] = br#"{"success":false,"error":"Internal error: the process ran out of memory, stack or processor time","execution_time_ms":0,"error_code":"internal"}
"#;
/// The answer of a hook that reaches its timeout before a decision. The parts are joined only if that happens.
pub(super) const LATE: &[Part] = &[
    Part::Text(br#"{"success":false,"error":"Hook timeout after "#),
    Part::Budget,
    Part::Text(br#"ms","execution_time_ms":"#),
    Part::End,
    Part::Text(b",\"error_code\":\"timeout\"}\n"),
];
/// The same for a tool call, which is answered with "ask".
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
/// The longest notice, in characters.
const NOTICE: usize = 600;

/// The answer of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Our own fields.
    pub output: HookOutput,
    /// The client's fields.
    pub reply: ReplyBody,
    /// How the process ends.
    pub status: ExitStatus,
    /// A hint for people, printed with the error.
    pub hint: Option<&'static str>,
}

impl Answer {
    /// Success without a reply to the client.
    pub fn nothing_to_say() -> Self {
        Self::with_reply(ReplyBody::Fields(Map::new()))
    }

    /// Success with this reply to the client.
    pub fn with_reply(reply: ReplyBody) -> Self {
        Self {
            output: HookOutput { success: true, ..HookOutput::default() },
            reply,
            status: ExitStatus::Success,
            hint: None,
        }
    }

    /// Failure without a reply to the client.
    pub fn failure(error: &HookError) -> Self {
        Self::nothing_to_say().but_failed(error)
    }

    /// The same answer, but the hook failed at something after its decision. The reply to the client stays.
    #[must_use]
    pub fn but_failed(mut self, error: &HookError) -> Self {
        self.output.success = false;
        self.output.error = Some(error.to_string());
        self.output.error_code = Some(error.error_code());
        self.status = error.exit_status();
        self.hint = error.hint();
        self
    }

    /// The same answer, for a call that was decided but could not be recorded. The exit code is still 0: if a hook
    /// fails, the client may block the call, whatever the answer says, so a full disk would stop all work. Damaged
    /// data is still reported by its exit code. The user is told every time, so that calls cannot go unrecorded
    /// unnoticed.
    #[must_use]
    pub fn but_unrecorded(self, error: &HookError) -> Self {
        let mut answer = self.but_failed(error);
        answer.tell(&tame(&format!("this call is not on record: {error}"), NOTICE));
        if answer.status == ExitStatus::Error {
            answer.status = ExitStatus::Success;
        }
        answer
    }

    /// Failure at a tool call, answered with "ask". Otherwise a failure would let the call pass.
    pub fn failure_as_ask(error: &HookError) -> Self {
        let reason = context_graph_policy::could_not_decide(error);
        let reply =
            PreToolUseReply::ask(reason.clone()).with_system_message(format!("context-graph: {reason}"));
        let mut answer = Self::with_reply(reply.into_body()).but_failed(error);
        answer.output.ruling =
            Some(Ruling { verdict: "ask".to_owned(), rules: vec!["policy/error".to_owned()], reason });
        answer
    }

    /// The same answer with the state of the session and what there is to say about it.
    #[must_use]
    pub(super) fn with_recorded(mut self, recorded: Remembered) -> Self {
        let Remembered { snapshot, injection, notices, warning, summary, refused_previous, put_aside } =
            recorded;
        let output = &mut self.output;
        output.context_injection = injection;
        if let Some(snapshot) = snapshot {
            output.consciousness_state = Some(ConsciousnessState::from_snapshot(&snapshot));
            output.ic_classification = Some(ICMonitor::of(&snapshot).classification());
        }
        output.session_summary = summary;
        output.notices.extend(notices);
        if let Some(error) = refused_previous {
            let code = error.error_code();
            output.error_code = Some(code);
            output.notices.push(format!("{code}: {error}; this session starts without a previous session"));
        }
        if let Some(warning) = warning {
            self.tell(warning);
        }
        match put_aside {
            Some(error) => self.but_failed(&error),
            None => self,
        }
    }

    /// Tells the user, once per session, that the project's files are not trusted. If the event does not use
    /// the files, trust is checked only at session start.
    pub(super) fn tell_of_trust(&mut self, context: &HookContext<'_>, session_id: &str, starts: bool) {
        let files = &context.files;
        let standing = if starts { Some(files.standing()) } else { files.standing_if_known() };
        let Some((standing, words)) = standing.and_then(|standing| Some((standing, trust::words(standing)?)))
        else {
            return;
        };
        let can_be_told = matches!(self.reply, ReplyBody::Fields(_));
        if can_be_told && told::note_if_news(files.folder(), session_id, standing).unwrap_or(starts) {
            self.tell(words);
        }
    }

    /// Tells the user something in one line, if the client can show it.
    fn tell(&mut self, words: &str) {
        if let ReplyBody::Fields(fields) = &mut self.reply {
            let line = format!("context-graph: {words}");
            let more = fields.get("systemMessage").and_then(Value::as_str);
            let message = more.map_or_else(|| line.clone(), |more| format!("{line}\n{more}"));
            fields.insert("systemMessage".to_owned(), message.into());
        }
        self.output.notices.push(words.to_owned());
    }

    /// The bytes of the answer.
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
        // Serializing can only fail for map keys that are not strings, and there are none.
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

/// The answer of a hook that failed: "ask" with `fails_as_ask`, which is for tool calls.
pub(super) fn failed_hook(error: &HookError, fails_as_ask: bool) -> Answer {
    if fails_as_ask { Answer::failure_as_ask(error) } else { Answer::failure(error) }
}

/// Our fields and the client's in one object. The client ignores fields that it does not know.
#[derive(Serialize)]
struct OneObject<'a> {
    #[serde(flatten)]
    output: &'a HookOutput,
    #[serde(flatten)]
    client: &'a Map<String, Value>,
}

/// Adds the time taken and writes the answer: JSON for Claude Code or the dialect of another agent (`caller`), and
/// for a failure a line for people.
pub(super) fn give(
    mut answer: Answer,
    caller: Option<&Caller>,
    format: OutputFormat,
    started: Instant,
) -> ExitStatus {
    if let Some(caller) = caller {
        let theirs = agents::render(caller, &answer.reply);
        // If nothing was denied, stderr is free: the error is printed there, for people.
        if let (Some(error), true) = (&answer.output.error, theirs.stderr.is_empty()) {
            terminal::complain(error);
        }
        return give_theirs(&theirs);
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

/// Writes an answer for an agent other than Claude Code.
fn give_theirs(answer: &AgentAnswer) -> ExitStatus {
    terminal::print(answer.stdout.as_bytes());
    terminal::note(&answer.stderr);
    match answer.exit {
        0 => ExitStatus::Success,
        2 => ExitStatus::DamageOrDenial,
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
        assert_eq!(parsed(STARVED_CALL), parsed(&written(Answer::failure_as_ask(&error))));
        assert_eq!(parsed(STARVED), parsed(&written(Answer::failure(&error))));
        for (parts, is_call) in [(LATE, false), (LATE_CALL, true)] {
            for budget_ms in [0, 7, 100, super::super::budget::DEFAULT_MS, u64::MAX] {
                let mut late = failed_hook(&HookError::Timeout(budget_ms), is_call);
                late.output.execution_time_ms = budget_ms / 2;
                let template = Late::Template { parts, budget_ms, end_ms: budget_ms / 2 };
                assert_eq!(parsed(&template.to_vec()), parsed(&written(late)));
            }
        }
    }
}
