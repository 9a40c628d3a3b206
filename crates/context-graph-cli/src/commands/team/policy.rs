//! Fetches the team's policy. Its signature is checked here, so that hooks need not do it.

use std::fmt;

use context_graph_policy::rules::Rules;
use context_graph_server::client::Fetched;
use context_graph_server::policy::opened;
use serde_json::json;

use super::membership::{KnownPolicy, Membership};
use super::{failure, membership};
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::team_policy::{Bundle, FILES, Note, TeamPolicy, file_name};
use crate::{Environment, rules, table};

/// The result of fetching.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pulled {
    Nothing,
    Same(u64),
    New(u64),
}

impl fmt::Display for Pulled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("the team has no policy"),
            Self::Same(number) => write!(f, "the team's policy {number} is in force, and is the newest"),
            Self::New(number) => write!(f, "the team's policy {number} is in force from now on"),
        }
    }
}

pub(super) fn run(as_json: bool, environment: &Environment) -> CommandResult {
    let mut membership = membership(environment)?;
    let pulled = pull(&mut membership, environment)?;
    if as_json {
        let number = membership.policy.map(|policy| policy.number);
        return table::print_json(&json!({"policy": number, "is_new": matches!(pulled, Pulled::New(_))}));
    }
    table::print_lines([pulled.to_string()])
}

/// What is wrong with the policy that should be in force here, or with the newest one.
pub(super) fn problem(membership: &Membership, environment: &Environment) -> Option<String> {
    let here = TeamPolicy::in_force(environment).and_then(|policy| policy.policy.err());
    here.or_else(|| membership.policy_problem.clone())
}

/// The state of the team's policy here, in a line.
pub(super) fn line(membership: &Membership, environment: &Environment) -> String {
    let is_lost = TeamPolicy::in_force(environment).is_some_and(|policy| policy.policy.is_err());
    let known = match &membership.policy {
        _ if is_lost => "policy: every call is asked about".to_owned(),
        None => "policy: none".to_owned(),
        Some(policy) => format!("policy: {} is in force", policy.number),
    };
    match problem(membership, environment) {
        None => known,
        Some(problem) => format!("{known}; {problem}"),
    }
}

/// Notes that a team was joined that has no policy so far.
pub(super) fn begin(environment: &Environment) -> Result<(), Failure> {
    Ok(environment.user_folder()?.set_note(&Note::NoPolicy.bytes())?)
}

/// Removes the policy, and the note that a team was joined.
pub(super) fn remove(environment: &Environment) -> Result<(), Failure> {
    let user = environment.user_folder()?;
    user.set_note(&[])?;
    clean(environment, None)
}

/// Removes policies other than this one.
fn clean(environment: &Environment, but: Option<&str>) -> Result<(), Failure> {
    let folder = environment.user_folder()?.open()?;
    let failed = |error: std::io::Error| Failure::new(ErrorCode::Storage, error.to_string());
    for name in folder.names().map_err(failed)? {
        let text = name.to_string_lossy();
        if text.starts_with(FILES) && Some(text.as_ref()) != but {
            folder.remove(&name).map_err(failed)?;
        }
    }
    Ok(())
}

/// Fetches the team's policy and puts it in force if it can be used. Otherwise the policy before it stays in force.
pub(super) fn pull(membership: &mut Membership, environment: &Environment) -> Result<Pulled, Failure> {
    let is_whole = TeamPolicy::in_force(environment).map(|policy| policy.number)
        == membership.policy.as_ref().map(|policy| Some(policy.number));
    let etag = membership.policy.as_ref().filter(|_| is_whole).map(|policy| policy.etag.as_str());
    let fetched = membership.client().and_then(|client| client.policy(etag)).map_err(failure)?;
    let outcome = take(membership, fetched, environment);
    let problem = outcome.as_ref().err().map(ToString::to_string);
    if problem != membership.policy_problem || matches!(outcome, Ok(Pulled::New(_))) {
        membership.policy_problem = problem;
        membership.write(environment)?;
    }
    outcome
}

fn take(membership: &mut Membership, fetched: Fetched, environment: &Environment) -> Result<Pulled, Failure> {
    let known = membership.policy.as_ref().map(|policy| policy.number);
    let refused = |why: String| {
        let stays = known.map(|number| format!("; policy {number} stays in force")).unwrap_or_default();
        let message = format!("the team's policy was refused: {why}{stays}");
        Failure::new(ErrorCode::Policy, message)
            .with_next_step("tell whoever runs the team's server; `team pull` tries again")
    };
    let (etag, content) = match (fetched, known) {
        (Fetched::Nothing, None) => {
            // The note may still say that it is not known whether there is a policy.
            begin(environment)?;
            return Ok(Pulled::Nothing);
        }
        (Fetched::Nothing, Some(_)) => return Err(refused("the server no longer has one".to_owned())),
        (Fetched::Same, number) => return Ok(Pulled::Same(number.unwrap_or_default())),
        (Fetched::New { etag, content }, _) => (etag, content),
    };
    let key = membership.policy_key.as_deref().ok_or_else(|| {
        refused(
            "this machine got no key for policies when it joined; leave the team and join again".to_owned(),
        )
    })?;
    let signed = opened(key, &content)
        .ok_or_else(|| refused("its signature does not match the key received when joining".to_owned()))?;
    let bundle = Bundle::read(signed).map_err(refused)?;
    if bundle.team != membership.team {
        return Err(refused("it is for another team".to_owned()));
    }
    let number = bundle.number;
    let is_again =
        membership.policy.as_ref().is_some_and(|known| known.number == number && known.etag == etag);
    if known.is_some_and(|known| number <= known) && !is_again {
        return Err(refused(format!("it is older than the one in force (number {number})")));
    }
    if let Some(problem) = problems(bundle, environment).into_iter().next() {
        return Err(refused(format!("this version cannot use it: {problem}")));
    }
    put_in_force(environment, &content)?;
    membership.policy = Some(KnownPolicy { number, etag });
    Ok(Pulled::New(number))
}

/// What is wrong with a policy, found by building rules from it.
fn problems(bundle: Bundle, environment: &Environment) -> Vec<String> {
    let layer = bundle.layer();
    let rules: Rules = rules::of_team(environment, &layer);
    rules.problems()
}

/// The file is written before the note, so that a hook always finds the policy that the note names.
fn put_in_force(environment: &Environment, content: &[u8]) -> Result<(), Failure> {
    let user = environment.user_folder()?;
    let hash = *blake3::hash(content).as_bytes();
    let name = file_name(&hash);
    let failed = |error: std::io::Error| Failure::new(ErrorCode::Storage, error.to_string());
    user.open()?.replace(&name, content).map_err(failed)?;
    user.set_note(&Note::InForce(hash).bytes())?;
    clean(environment, Some(&name))
}
