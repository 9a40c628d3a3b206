//! Converts a reply for Claude Code into the caller's format.
//!
//! A refusal is written in every way that works: exit code 2, a reason on stderr and the agent's own JSON together,
//! unless its sheet says otherwise. A verdict that the agent would misread becomes a refusal. Policies' verdicts were
//! already fitted to the agent, so this is the second check.

use serde_json::{Map, Value, json};

use super::{Caller, OWN_WORDS};
use crate::claude_code::EventName;
use crate::reply::{ReplyBody, Verb};

/// What the process writes, and how it ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentAnswer {
    /// For the agent.
    pub stdout: String,
    /// For the agent if it refuses, else for people.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// What a reply says.
#[derive(Debug, Default)]
pub(crate) struct ReplyContent<'a> {
    /// The verdict, if the reply has one.
    pub(crate) verb: Option<Verb>,
    /// The reason; never empty in a refusal.
    pub(crate) reason: String,
    /// For the model.
    pub(crate) context: Option<&'a str>,
    /// The call's input, whole, with the agent's names of its fields.
    pub(crate) input: Option<Map<String, Value>>,
    /// For the user.
    pub(crate) message: Option<&'a str>,
}

/// The reason that is sent if a refusal has none: some agents ignore a refusal without a reason.
const NO_REASON: &str = "refused by context-graph";
/// The reason if the agent cannot change the input.
pub const NEEDS_OTHER_INPUT: &str = "may only run with other input, which this agent cannot be given";
/// The reason if the agent cannot ask the user.
pub const NEEDS_CONSENT: &str = "needs your consent";

impl ReplyContent<'_> {
    /// Whether it is a refusal.
    pub(crate) fn refuses(&self) -> bool {
        matches!(self.verb, Some(Verb::Halt | Verb::Deny | Verb::Block))
    }

    /// A refusal as most agents take it: this object, its reason on stderr and exit code 2.
    pub(crate) fn refusal(&self, object: Value) -> AgentAnswer {
        AgentAnswer { stdout: written(object), stderr: format!("{}\n", self.reason), exit: 2 }
    }

    /// An object and success.
    pub(crate) fn success(object: Value) -> AgentAnswer {
        AgentAnswer { stdout: written(object), ..AgentAnswer::default() }
    }

    /// The reply that Claude Code's descendants take: fields beside `hookSpecificOutput`, and those in it.
    pub(crate) fn claude_shaped(&self, event: EventName) -> Value {
        let mut specific = Map::new();
        let mut top = Map::new();
        match (self.verb, event) {
            (Some(Verb::Halt | Verb::Deny | Verb::Block), EventName::PreToolUse) => {
                specific.insert("permissionDecision".into(), "deny".into());
                specific.insert("permissionDecisionReason".into(), self.reason.as_str().into());
            }
            (Some(Verb::Halt | Verb::Deny | Verb::Block), EventName::PermissionRequest) => {
                specific.insert("decision".into(), json!({"behavior": "deny", "message": self.reason}));
            }
            (Some(Verb::Halt | Verb::Deny | Verb::Block), _) => {
                top.insert("decision".into(), "block".into());
                top.insert("reason".into(), self.reason.as_str().into());
            }
            (Some(Verb::Ask), _) => {
                specific.insert("permissionDecision".into(), "ask".into());
                specific.insert("permissionDecisionReason".into(), self.reason.as_str().into());
            }
            (Some(Verb::Allow), EventName::PermissionRequest) => {
                specific.insert("decision".into(), json!({"behavior": "allow"}));
            }
            (Some(Verb::Allow), _) => {
                specific.insert("permissionDecision".into(), "allow".into());
            }
            _ => {}
        }
        if let Some(input) = &self.input {
            specific.insert("permissionDecision".into(), "allow".into());
            specific.insert("updatedInput".into(), Value::Object(input.clone()));
        }
        if let Some(context) = self.context {
            specific.insert("additionalContext".into(), context.into());
        }
        if let Some(message) = self.message {
            top.insert("systemMessage".into(), message.into());
        }
        if !specific.is_empty() {
            specific.insert("hookEventName".into(), event.as_str().into());
            top.insert("hookSpecificOutput".into(), Value::Object(specific));
        }
        Value::Object(top)
    }
}

/// The reply of agents that use Claude Code's format.
pub(super) fn like_claude(content: &ReplyContent<'_>, caller: &Caller) -> AgentAnswer {
    let Some(event) = caller.event else { return AgentAnswer::default() };
    let object = content.claude_shaped(event);
    if content.refuses() { content.refusal(object) } else { ReplyContent::success(object) }
}

fn written(object: Value) -> String {
    match &object {
        Value::Object(fields) if fields.is_empty() => String::new(),
        _ => format!("{object}\n"),
    }
}

/// Converts a reply for Claude Code to the caller's dialect; for an unknown caller, to a reply that every client
/// understands.
pub fn render(caller: &Caller, body: &ReplyBody) -> AgentAnswer {
    let mut content = content_of(caller, body);
    match (caller.agent.and_then(super::Agent::sheet), caller.event) {
        (Some(sheet), Some(event)) => {
            fit(&mut content, caller.verbs(), event);
            if event == EventName::Stop && content.refuses() {
                // It may come back as a prompt.
                content.reason = format!("{OWN_WORDS}{}", content.reason);
            }
            (sheet.render)(&content, caller)
        }
        // An unknown agent or event gets no answer, unless it is refused or asked about.
        _ if !content.refuses() && content.verb != Some(Verb::Ask) => AgentAnswer::default(),
        _ => {
            fit(&mut content, &[Verb::Deny], EventName::PreToolUse);
            universal(&content)
        }
    }
}

/// A refusal that every client understands.
fn universal(content: &ReplyContent<'_>) -> AgentAnswer {
    let reason = &content.reason;
    content.refusal(json!({
        "decision": "block",
        "reason": reason,
        "permission": "deny",
        "user_message": reason,
        "agent_message": reason,
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    }))
}

/// Removes everything that the agent does not honour.
fn fit(content: &mut ReplyContent<'_>, verbs: &[Verb], event: EventName) {
    let is_call = matches!(event, EventName::PreToolUse | EventName::PermissionRequest);
    if content.verb == Some(Verb::Ask) && !verbs.contains(&Verb::Ask) {
        content.verb = Some(Verb::Deny);
        content.reason = format!("{NEEDS_CONSENT}: {}", content.reason);
    }
    if content.input.is_some() && !verbs.contains(&Verb::Modify) {
        content.input = None;
        // Running the call with its original input is what the policy wanted to prevent.
        if is_call {
            content.verb = Some(Verb::Deny);
            NEEDS_OTHER_INPUT.clone_into(&mut content.reason);
        }
    }
    let refusing = [Verb::Deny, Verb::Block, Verb::Halt];
    if content.refuses() {
        content.verb = refusing.into_iter().find(|verb| verbs.contains(verb));
        content.input = None;
        if content.reason.trim().is_empty() {
            NO_REASON.clone_into(&mut content.reason);
        }
    } else if content.verb.is_some_and(|verb| !verbs.contains(&verb)) {
        content.verb = None;
    }
    if !verbs.contains(&Verb::AddContext) {
        content.context = None;
    }
}

/// What a reply for Claude Code says.
fn content_of<'a>(caller: &Caller, body: &'a ReplyBody) -> ReplyContent<'a> {
    let fields = match body {
        ReplyBody::Fields(fields) => fields,
        ReplyBody::PlainText(text) => {
            return ReplyContent {
                context: Some(text.as_str()).filter(|text| !text.is_empty()),
                ..ReplyContent::default()
            };
        }
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let specific = |key: &str| fields.get("hookSpecificOutput").and_then(|inner| inner.get(key));
    let own = |key: &str| specific(key).and_then(Value::as_str);
    let nested = specific("decision");
    let behavior = nested.and_then(|nested| nested.get("behavior")).and_then(Value::as_str);
    let verb = match own("permissionDecision").or(behavior).or_else(|| text("decision")) {
        Some("deny") => Some(Verb::Deny),
        Some("ask" | "defer") => Some(Verb::Ask),
        Some("allow") => Some(Verb::Allow),
        Some("block") => Some(Verb::Block),
        _ if fields.get("continue") == Some(&Value::Bool(false)) => Some(Verb::Halt),
        _ => None,
    };
    let message = nested.and_then(|nested| nested.get("message")).and_then(Value::as_str);
    let reason =
        own("permissionDecisionReason").or(message).or_else(|| text("reason")).or_else(|| text("stopReason"));
    let input = specific("updatedInput").or_else(|| nested.and_then(|nested| nested.get("updatedInput")));
    let input = input.and_then(Value::as_object).map(|input| {
        let mut input = input.clone();
        for (ours, theirs) in &caller.renamed {
            if let Some(value) = input.remove(*ours) {
                input.insert((*theirs).to_owned(), value);
            }
        }
        input
    });
    ReplyContent {
        verb,
        reason: reason.unwrap_or_default().to_owned(),
        context: own("additionalContext"),
        input,
        message: text("systemMessage"),
    }
}
