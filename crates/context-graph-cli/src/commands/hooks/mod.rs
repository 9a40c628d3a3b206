//! `context-graph hooks …`: one event in, one answer out.
//!
//! Every hook takes the same steps: `read` the event, decide about it (`decide`), record it (`remember`), and answer
//! it (`answer`). `run` is the frame: it reads and writes the answer; `respond` has the steps between. Exit codes: 0
//! success, 1 error, 2 damaged data. Claude Code blocks what it was about to do on 2, so no other error uses it.
//! Agents that read exit codes also get 2 for a denial.
//!
//! Words:
//! - A *payload* is what an event carries. The *envelope* is the other form of an event, for programs that wrap the client.
//! - An event comes in three wrappings: `Incoming` is what was read, `HookRequest` adds what the command line asks for, and
//!   in a step the storage crate gets it as an `Arrival`.
//! - An *injection* is text for the model that the session adds, *context* is text for the model that a policy adds.
//!   `HookContext` is something else: what one hook run needs.
//! - *Upkeep* is `context-graph maintain`, as a hook starts it after a session.
//! - A *signal* is a command whose output a policy asks for; those of Unix are in `unix_signals.rs`.

pub mod answer;
mod answer_decision;
mod any_event;
pub mod args;
mod budget;
mod context;
mod decide;
pub mod error;
pub(crate) mod fast_args;
pub(crate) mod generate;
mod inject;
pub mod input;
mod output;
mod post_tool;
mod pre_tool;
mod prompt_submit;
mod read;
mod remember;
pub mod schema;
mod session_end;
mod session_start;
mod stop_gate;
mod suspect;
mod types;

use std::time::Instant;

use context_graph_events::{Event, EventName};

pub use types::{
    ConsciousnessState, ConversationMessage, HookContract, HookEventType, HookInput, HookOutput, HookPayload,
    ICClassification, ICLevel, JohariQuadrant, NewEnvelope, SessionEndStatus, StatedError,
};

use answer::Answer;
use args::{CommonArgs, HookCommand};
use context::HookContext;
use decide::HookDecision;
use error::HookError;
use read::HookRequest;

use crate::{Environment, ExitStatus, crash, terminal, watchdog};

/// Answers one event and returns the exit status.
pub(crate) fn run(command: HookCommand, environment: &Environment, started: Instant) -> ExitStatus {
    let context = HookContext::new(environment, started, common(&command).clone());
    crash::survive_limits();
    context.prepare_fallback_answers(matches!(command, HookCommand::PreTool(_)), budget_ms(&command));
    context.answer_panics();

    let answered = read::request(command, &context).map(|request| respond(&context, request));

    watchdog::disarm();
    let answer = answered.unwrap_or_else(|error| context.failure_answer(&error));
    let caller = context.caller();
    let status = answer::give(answer, caller.as_ref(), context.args.format, context.own_start());
    context.timings.mark("write");
    if let Some(report) = context.timings.report() {
        terminal::note(&report);
    }
    context.start_what_comes_after();
    // The process ends now, so freeing memory would only cost time.
    std::mem::forget(context);
    status
}

/// Decides about an event, records it in its session, and builds the answer. Once something is refused, no
/// failure can revert it. If a call was allowed and the hook then times out, panics or crashes, the answer is "ask"
/// with exit code 1; a client with `onFailure: "block"` then blocks the call. One exception: with
/// `--fast-path=false`, which waits for other hooks of the session, a late record leaves the call allowed.
fn respond(context: &HookContext<'_>, request: HookRequest) -> Answer {
    let HookRequest { incoming, record_mode, disagreement, returns_id, returns_summary } = request;
    // An event that this version does not know may belong to no session.
    if incoming.event.known_name().is_none() && incoming.event.session_id().is_empty() {
        return Answer::nothing_to_say();
    }
    #[cfg(debug_assertions)]
    if matches!(incoming.event, Event::PreToolUse(_)) {
        context.environment.misbehave_if_asked("");
    }
    let session_id = incoming.event.session_id().to_owned();
    let starts = matches!(incoming.event, Event::SessionStart(_));

    let decided = HookDecision::of(context, &incoming);
    context.timings.mark("policy");
    let recorded = remember::event(context, incoming, &decided, record_mode);
    let mut answer = decided.answer_with(recorded);

    answer.tell_of_trust(context, &session_id, starts);
    answer.output.session_id = returns_id.then_some(session_id);
    if !returns_summary {
        answer.output.session_summary = None;
    }
    match disagreement {
        // The event was recorded anyway, so that a wrong flag cannot hide what happened.
        Some(error) => answer.but_failed(&error),
        None => answer,
    }
}

fn common(command: &HookCommand) -> &CommonArgs {
    match command {
        HookCommand::SessionStart(args) => &args.common,
        HookCommand::PreTool(args) => &args.common,
        HookCommand::PostTool(args) => &args.common,
        HookCommand::PromptSubmit(args) => &args.common,
        HookCommand::SessionEnd(args) => &args.common,
        HookCommand::Event(args) => &args.common,
    }
}

fn budget_ms(command: &HookCommand) -> u64 {
    match command {
        HookCommand::SessionStart(_) => budget::of(EventName::SessionStart),
        HookCommand::PreTool(_) => budget::of(EventName::PreToolUse),
        HookCommand::PostTool(_) => budget::of(EventName::PostToolUse),
        HookCommand::PromptSubmit(_) => budget::of(EventName::UserPromptSubmit),
        HookCommand::SessionEnd(_) => budget::of(EventName::SessionEnd),
        HookCommand::Event(_) => budget::DEFAULT_MS,
    }
}

/// Invalid arguments are answered on stdout too, because a hook's caller reads JSON there.
pub(crate) fn usage_failure(message: String, is_tool_call: bool, started: Instant) {
    let mut failure = answer::failed_hook(&HookError::Usage(message), is_tool_call);
    failure.output.execution_time_ms = answer::elapsed_ms(started);
    terminal::print(&failure.render(args::OutputFormat::JsonCompact, false));
}
