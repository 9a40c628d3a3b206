//! The members of the team: invitations, list, tokens, roles, and forgetting a session for a member.

use clap::{Args, Subcommand, ValueEnum};
use context_graph_server::db::Pool;
use context_graph_server::members::{self, Role};
use context_graph_server::{forget_by_id, given, is_name, policy};
use serde_json::{Value, json};

use super::db_failure;
use super::policy::KeyArgs;
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::{Environment, clock, table, terminal, time};

const DAY_MS: i64 = 86_400_000;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RoleArg {
    /// Sees own sessions
    Member,
    /// Sees the team's sessions
    Lead,
    /// Sees the team's sessions and who looked at what, and manages members
    Admin,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Member => Self::Member,
            RoleArg::Lead => Self::Lead,
            RoleArg::Admin => Self::Admin,
        }
    }
}

/// Invite a member, or one more machine of a member
#[derive(Debug, Args)]
pub(crate) struct InviteArgs {
    /// The member's name
    name: String,

    /// What the member may see [default: member; a known member keeps the role]
    #[arg(long, value_enum)]
    role: Option<RoleArg>,

    /// The team
    #[arg(long, default_value = "team")]
    team: String,

    /// How many days the invitation can be used
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(i64).range(1..=365))]
    days: i64,

    #[command(flatten)]
    key: KeyArgs,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MembersCommands {
    /// Make a token that lets a member's browser in
    Token {
        /// The member's name
        name: String,
        /// The team
        #[arg(long, default_value = "team")]
        team: String,
        /// How many days it lasts
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3650))]
        days: i64,
    },
    /// Revoke a token by its number, or a membership by the member's name
    Revoke {
        /// The token's number or the member's name
        who: String,
        /// The team
        #[arg(long, default_value = "team")]
        team: String,
    },
    /// Change what a member may see
    Role {
        /// The member's name
        name: String,
        /// What the member may see
        #[arg(value_enum)]
        role: RoleArg,
        /// The team
        #[arg(long, default_value = "team")]
        team: String,
    },
}

/// Remove a session for good, whoever pushed it
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The session, as the pages name it: ID@MACHINE
    session: String,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn invite(args: &InviteArgs, pool: &Pool, environment: &Environment) -> CommandResult {
    let name = args.name.trim();
    if !is_name(name) {
        return Err(Failure::usage("a member's name has 1 to 100 characters, and is not a number"));
    }
    let role = args.role.map(Role::from);
    let invitation = members::invite(pool, &args.team, name, role, args.days * DAY_MS, clock::now_ms())
        .map_err(db_failure)?;
    // Machines get the key when they join, so it must exist by then.
    if policy::key_of(pool, &args.team).map_err(db_failure)?.is_none() {
        let key = args.key.open(environment)?;
        policy::set_key(pool, &args.team, key.public()).map_err(db_failure)?;
    }
    if args.json {
        return table::print_json(
            &json!({"invitation": invitation, "team": args.team, "name": name, "days": args.days}),
        );
    }
    table::print_lines([
        invitation.clone(),
        format!(
            "for one machine of {name}, within {}, on that machine:",
            counted(args.days.unsigned_abs(), "day", "days")
        ),
        format!("  context-graph team join URL --invitation {invitation}"),
        "URL is where that machine reaches `server run`, such as https://HOST:PORT".to_owned(),
    ])
}

pub(super) fn run(command: Option<&MembersCommands>, as_json: bool, pool: &Pool) -> CommandResult {
    match command {
        None if as_json => list_json(pool),
        Some(_) if as_json => Err(Failure::usage("`--json` is for the list of members")
            .with_next_step("leave it out: a token is printed alone on its line")),
        None => list(pool),
        Some(MembersCommands::Token { name, team, days }) => {
            let token = members::browser_token(pool, team, name, days * DAY_MS, clock::now_ms())
                .map_err(db_failure)?;
            table::print_lines([token.ok_or_else(|| no_member(name))?])?;
            // On stderr, so that a script reads only the token on stdout.
            terminal::note("paste it on the server's first page, which asks for it; it is shown only now\n");
            Ok(())
        }
        Some(MembersCommands::Revoke { who, team }) => {
            let changed = members::revoke(pool, team, who, clock::now_ms()).map_err(db_failure)?;
            if changed == 0 {
                return Err(no_member(who));
            }
            table::print_lines([format!("{who} has no access any more")])
        }
        Some(MembersCommands::Role { name, role, team }) => {
            let role = Role::from(*role);
            if members::set_role(pool, team, name, role).map_err(db_failure)? == 0 {
                return Err(no_member(name));
            }
            table::print_lines([format!("{name} is {} now", role.as_str())])
        }
    }
}

fn no_member(name: &str) -> Failure {
    Failure::usage(format!("no member or token `{name}` (it may have been removed)"))
        .with_next_step("`context-graph server members` lists members and tokens")
}

fn list_json(pool: &Pool) -> CommandResult {
    let members = members::list(pool).map_err(db_failure)?;
    let told = members.into_iter().map(|member| {
        let tokens = member.tokens.into_iter().map(|(number, machine, used_ms, is_revoked)| {
            json!({"number": number, "machine": machine, "used_ms": used_ms, "revoked": is_revoked})
        });
        json!({"team": member.team, "name": member.name, "role": member.role, "revoked": member.is_revoked,
            "tokens": tokens.collect::<Vec<Value>>()})
    });
    table::print_json(&told.collect::<Vec<Value>>().into())
}

fn list(pool: &Pool) -> CommandResult {
    let mut lines = Vec::new();
    for member in members::list(pool).map_err(db_failure)? {
        let gone = if member.is_revoked { ", no access any more" } else { "" };
        lines.push(format!("{}: {} ({}{gone})", member.team, member.name, member.role));
        for (number, machine, used, is_revoked) in member.tokens {
            let what = machine.map_or_else(|| "browser".to_owned(), |name| format!("machine {name}"));
            let used = used.map_or_else(|| "never used".to_owned(), |at| format!("used {}", time::local(at)));
            lines.push(format!(
                "  token {number}: {what}, {used}{}",
                if is_revoked { ", revoked" } else { "" }
            ));
        }
    }
    if lines.is_empty() {
        lines.push("nobody yet: `context-graph server invite NAME`".to_owned());
    }
    table::print_lines(lines)
}

pub(super) fn forget(args: &ForgetArgs, pool: &Pool) -> CommandResult {
    let usage = || Failure::usage("name the session as the pages do: ID@MACHINE");
    let (id, machine) = args.session.rsplit_once('@').ok_or_else(usage)?;
    let machine: i64 = machine.parse().map_err(|_| usage())?;
    let row = pool
        .with(|connection| {
            connection.one(
                "SELECT tenant, ordinal FROM sessions WHERE machine = $1 AND session_id = $2",
                given![machine, id],
            )
        })
        .map_err(db_failure)?;
    let unknown = || {
        Failure::new(ErrorCode::SessionNotFound, format!("the team has no session `{}`", args.session))
            .with_next_step("the page Sessions names each: ID@MACHINE")
    };
    let row = row.ok_or_else(unknown)?;
    if !terminal::agreed(args.yes, &format!("Remove {} for good?", args.session)) {
        return Err(Failure::usage("nothing was removed").with_next_step("--yes confirms without asking"));
    }
    let records =
        forget_by_id(pool, row.int(0), machine, id, row.count(1), clock::now_ms()).map_err(super::failure)?;
    table::print_lines([format!("removed {}: {}", args.session, counted(records, "record", "records"))])
}
