//! `team`: joining a team, pushing sessions and fetching the policy. Hooks do none of this.

mod forgetting;
mod marks;
mod membership;
mod outgoing;
mod policy;
mod reduce;
mod verify;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use context_graph_server::client::{Client, ClientError};
use context_graph_server::keys::{SigningKey, random, unhex};
use context_graph_storage::store::SessionQuery;
use serde_json::json;

use super::failure::{CommandResult, Failure, refuse_to_agents};
use super::session::{PlaceArgs, Shelf};
use crate::config::{Config, Share};
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::trust::ProjectFiles;
use crate::{Environment, table, terminal};
use marks::Marks;
use membership::Membership;
pub(crate) use verify::{Compared, verify};

#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommands {
    Join(JoinArgs),
    /// Show the team, what is shared, and what waits to be pushed
    Status(PlaceArgs),
    Push(PushArgs),
    Pull(PullArgs),
    /// Leave the team: this machine's key and token are removed; what was pushed stays with the team
    Leave(LeaveArgs),
}

/// Join a team with an invitation
///
/// This machine gets its own key, and the public half is given to the server. From then on sessions are pushed by
/// `maintain`, after they have ended, as `team.share` allows.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  context-graph team join https://graph.example --invitation invite_…")]
pub(crate) struct JoinArgs {
    /// The server's address
    url: String,

    /// The invitation, as `context-graph server invite` printed it; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    invitation: String,

    /// The name of this machine there [default: the host's name]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,

    /// Trust the authorities in this PEM file instead of the public ones
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// Push what the team does not have yet
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  context-graph team push --dry-run      shows what would be sent\n  context-graph team push --all-projects"
)]
pub(crate) struct PushArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Every project of yours that has a record
    #[arg(long, alias = "all", conflicts_with_all = ["project", "db_path"])]
    all_projects: bool,

    /// Send nothing, and print each record as it would be sent
    #[arg(long)]
    dry_run: bool,
}

/// Fetch the team's policy
///
/// Its signature is checked with the key that this machine received when joining. From then on it is in force in every
/// project, and neither you nor a project can loosen it. If the new policy cannot be used, the last good one stays in
/// force. `maintain` does this too.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LeaveArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(command: &TeamCommands, environment: &Environment) -> CommandResult {
    match command {
        TeamCommands::Join(args) => {
            refuse_to_agents("join a team")?;
            join(args, environment)
        }
        TeamCommands::Status(args) => status(args, environment),
        TeamCommands::Push(args) => {
            if !args.dry_run {
                refuse_to_agents("push records")?;
            }
            push(args, environment)
        }
        TeamCommands::Pull(args) => {
            refuse_to_agents("change the team's policy here")?;
            policy::run(args.json, environment)
        }
        TeamCommands::Leave(args) => {
            refuse_to_agents("leave a team")?;
            leave(args, environment)
        }
    }
}

fn join(args: &JoinArgs, environment: &Environment) -> CommandResult {
    if let Some(known) = Membership::read(environment)? {
        return Err(Failure::usage(format!(
            "this machine is already in the team {} at {}",
            known.team, known.url
        ))
        .with_next_step("`context-graph team leave` first"));
    }
    let invitation = if args.invitation == "-" {
        let bytes = super::read_file_or_stdin(std::path::Path::new("-"))?;
        String::from_utf8_lossy(&bytes).trim().to_owned()
    } else {
        args.invitation.clone()
    };
    let seed =
        random().map_err(|error| Failure::new(ErrorCode::Internal, format!("no random bytes: {error}")))?;
    let key = SigningKey::from_seed(&seed)
        .ok_or_else(|| Failure::new(ErrorCode::Internal, "no key could be made"))?;
    let authorities = args.ca.as_ref().map(|path| environment.current_dir.join(path));
    let client = Client::new(&args.url, authorities.as_deref(), "").map_err(failure)?;
    let machine = args.machine.clone().unwrap_or_else(host_name);
    let joined = client.join(&invitation, &machine, &key).map_err(|error| match error {
        ClientError::Away(..) => Failure::new(ErrorCode::Storage, error.to_string())
            .with_next_step("check the address, and that the server is running"),
        other => failure(other),
    })?;
    let mut membership = Membership {
        url: args.url.trim_end_matches('/').to_owned(),
        authorities,
        machine: joined.machine,
        token: joined.token,
        team: joined.team,
        member: joined.member,
        seed,
        policy_key: joined.policy_key.as_deref().and_then(unhex),
        policy: None,
        policy_problem: None,
    };
    policy::begin(environment)?;
    membership.write(environment)?;
    let policy = match policy::pull(&mut membership, environment) {
        Ok(pulled) => pulled.to_string(),
        Err(failure) => format!("the team's policy is not in force here: {failure}"),
    };
    let share = share_of(environment);
    table::print_lines([
        format!(
            "joined the team \u{201c}{}\u{201d} as {}, with the machine {machine}",
            membership.team, membership.member
        ),
        policy,
        format!("shared: {} (`team.share` in your config.toml)", word(share)),
        "`context-graph team push --dry-run` shows what would be sent; `maintain` sends it after sessions"
            .to_owned(),
    ])
}

fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().trim().to_owned();
    #[cfg(not(unix))]
    let name = String::new();
    if name.is_empty() { "machine".to_owned() } else { name }
}

pub(super) fn failure(error: ClientError) -> Failure {
    match &error {
        ClientError::Away(..) => Failure::new(ErrorCode::Storage, error.to_string())
            .with_next_step("nothing is lost: the local record is pushed when the server can be reached"),
        ClientError::Usage(_) => Failure::usage(error.to_string()),
        ClientError::Refused(_) | ClientError::Push(_) => {
            Failure::new(ErrorCode::Validation, error.to_string())
        }
    }
}

fn word(share: Share) -> &'static str {
    match share {
        Share::Nothing => "nothing",
        Share::Metadata => "metadata",
        Share::Full => "full",
    }
}

/// What the project's and the user's configuration allow to share. Nothing if it cannot be read.
fn share_of(environment: &Environment) -> Share {
    Config::in_force(&ProjectFiles::of(environment)).map_or_else(
        |error| {
            terminal::complain(&format!("nothing is shared: {error}"));
            Share::Nothing
        },
        |config| config.team.share,
    )
}

fn membership(environment: &Environment) -> Result<Membership, Failure> {
    Membership::read(environment)?.ok_or_else(|| {
        Failure::usage("this machine is in no team")
            .with_next_step("`context-graph team join URL --invitation …`")
    })
}

fn status(args: &PlaceArgs, environment: &Environment) -> CommandResult {
    let environment = environment.in_project(args.project.as_deref());
    let Some(membership) = Membership::read(&environment)? else {
        if args.json {
            return table::print_json(&json!({"team": null}));
        }
        return table::print_lines(["this machine is in no team"]);
    };
    let share = share_of(&environment);
    let (waiting, sessions) = match Shelf::open(args, &environment) {
        Err(failure) if failure.is_nothing_there() => (0, 0),
        shelf => {
            let shelf = shelf?;
            outgoing::waiting(&shelf, &Marks::read(&environment, args.db_path.as_deref())?)?
        }
    };
    let reached = membership.client().map_err(failure)?.standings();
    if args.json {
        return table::print_json(&json!({
            "team": membership.team, "member": membership.member, "machine": membership.machine, "url": membership.url,
            "policy": membership.policy.as_ref().map(|policy| policy.number),
            "policy_problem": policy::problem(&membership, &environment), "share": word(share), "waiting_records": waiting, "waiting_sessions": sessions,
            "sessions_there": reached.as_ref().ok().map(Vec::len),
            "error": reached.as_ref().err().map(ToString::to_string),
        }));
    }
    let there = match &reached {
        Ok(there) => counted(there.len() as u64, "session there", "sessions there"),
        Err(error) => error.to_string(),
    };
    table::print_lines([
        format!("{} at {}, as {}: {there}", membership.team, membership.url, membership.member),
        policy::line(&membership, &environment),
        format!("shared from this project: {}", word(share)),
        format!(
            "{} of {} wait to be pushed",
            counted(waiting, "record", "records"),
            counted(sessions, "session", "sessions")
        ),
    ])
}

fn push(args: &PushArgs, environment: &Environment) -> CommandResult {
    let membership = membership(environment)?;
    let projects: Vec<Option<PathBuf>> = if args.all_projects {
        all_projects(args, environment)?.into_iter().map(Some).collect()
    } else {
        vec![args.place.project.clone()]
    };
    let mut sent = outgoing::Sent::default();
    for project in projects {
        let place = PlaceArgs {
            project: project.clone(),
            db_path: args.place.db_path.clone(),
            json: args.place.json,
        };
        let inner = environment.in_project(project.as_deref());
        sent.add(push_project(&membership, &place, &inner, args.dry_run)?);
    }
    tell(&sent, args)
}

/// The projects of this user. Those that share a database of the user's choice may have no folder of ours; the
/// database knows them. One whose folder is gone is named and left out: what it shared cannot be read any more.
fn all_projects(args: &PushArgs, environment: &Environment) -> Result<Vec<PathBuf>, Failure> {
    let mut roots = environment.known_projects(args.place.db_path.as_deref())?;
    if environment.shared_place(args.place.db_path.as_deref()).is_some() {
        let shelf = match Shelf::open(&args.place, environment) {
            Err(failure) if failure.is_nothing_there() => return Ok(roots),
            shelf => shelf?,
        };
        let sessions = shelf.store.map(|store| store.list_sessions(&SessionQuery::default()));
        let shared = sessions.transpose()?.unwrap_or_default().into_iter().filter_map(|row| row.project);
        roots.extend(shared.map(PathBuf::from));
        roots.sort();
        roots.dedup();
        roots.retain(|root| {
            let is_there = root.is_dir();
            if !is_there {
                terminal::complain(&format!("not pushed: {} is gone", root.display()));
            }
            is_there
        });
    }
    Ok(roots)
}

/// Pushes the new records of one project.
fn push_project(
    membership: &Membership,
    place: &PlaceArgs,
    environment: &Environment,
    dry_run: bool,
) -> Result<outgoing::Sent, Failure> {
    let shelf = match Shelf::open(place, environment) {
        Err(failure) if failure.is_nothing_there() => return Ok(outgoing::Sent::default()),
        shelf => shelf?,
    };
    let share = share_of(environment);
    if dry_run {
        let marks = Marks::read(environment, place.db_path.as_deref())?;
        return outgoing::show(membership, &shelf, &marks, share, place.json);
    }
    let client = membership.client().map_err(failure)?;
    if let Some(there) = client.pushed().map_err(failure)? {
        marks::compare(environment, there)?;
    }
    let mut marks = Marks::read(environment, place.db_path.as_deref())?;
    let sent = outgoing::push(membership, &client, &shelf, &mut marks, share);
    marks::acknowledge(environment, client.acknowledged())?;
    sent
}

/// Fetches the team's policy and pushes new records as a part of `maintain`. Errors are printed, and the next upkeep tries
/// again.
pub(crate) fn exchange_quietly(environment: &Environment, db_path: Option<&std::path::Path>) {
    let Ok(Some(mut membership)) = Membership::read(environment) else { return };
    if let Err(failure) = policy::pull(&mut membership, environment) {
        terminal::complain(&failure.to_string());
    }
    let place = PlaceArgs { project: None, db_path: db_path.map(std::path::Path::to_path_buf), json: false };
    match push_project(&membership, &place, environment, false) {
        Ok(sent) => sent.refused.iter().for_each(|what| terminal::complain(what)),
        Err(failure) => terminal::complain(&failure.to_string()),
    }
}

fn tell(sent: &outgoing::Sent, args: &PushArgs) -> CommandResult {
    if args.place.json {
        table::print_json(&json!({
            "records": sent.records, "sessions": sent.sessions, "forgotten": sent.forgotten, "refused": sent.refused,
        }))?;
    } else if !args.dry_run {
        let mut lines = vec![format!(
            "pushed {} of {}",
            counted(sent.records, "record", "records"),
            counted(sent.sessions, "session", "sessions")
        )];
        if sent.forgotten > 0 {
            lines.push(format!("also removed there: {}", counted(sent.forgotten, "session", "sessions")));
        }
        table::print_lines(lines)?;
    }
    match sent.refused.first() {
        None => Ok(()),
        Some(first) => Err(Failure::new(ErrorCode::Validation, first.clone())
            .with_next_step("`context-graph audit verify --team` says what was changed")
            .answered()),
    }
}

fn leave(args: &LeaveArgs, environment: &Environment) -> CommandResult {
    let membership = membership(environment)?;
    let asked = format!("Leave the team {} at {}?", membership.team, membership.url);
    if !terminal::agreed(args.yes, &asked) {
        return Err(Failure::usage("nothing was changed").with_next_step("--yes confirms without asking"));
    }
    Membership::remove(environment)?;
    table::print_lines([
        format!("left the team {}: this machine's key and token are gone", membership.team),
        "what was pushed stays with the team; an admin revokes the token there (`server members revoke`)"
            .to_owned(),
    ])
}
