//! `server`: the team's server, and the commands for its administrator.

#[cfg(unix)]
mod bench;
mod database;
mod members;
mod policy;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use context_graph_server::db::{DatabaseAddress, DbError, Pool};
use context_graph_server::{Patience, Serving, schema};
use serde_json::json;

use super::failure::{CommandResult, Failure, refuse_to_agents};
use crate::error_code::ErrorCode;
use crate::{Environment, clock, table, terminal};
use database::DatabaseArgs;

/// Run a team's server
///
/// It takes in what machines push, and shows it to the team's members in the browser. Without `--database` everything is in
/// one SQLite file, so that trying it is one command.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = false,
    after_help = "Examples:\n  \
    context-graph server                                             on this machine, with a file\n  \
    context-graph server invite ada --role admin\n  \
    context-graph server --database postgres://… migrate\n  \
    context-graph server --database @/etc/context-graph/database run --listen 0.0.0.0:8750 --certificate c.pem --key k.pem"
)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    database: DatabaseArgs,

    #[command(subcommand)]
    command: Option<ServerCommands>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommands {
    Run(RunArgs),
    Migrate(MigrateArgs),
    /// Check whether the database can be reached and has this version's tables
    Check {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    Invite(members::InviteArgs),
    /// List members; create and revoke tokens
    Members {
        /// List them in JSON
        #[arg(long)]
        json: bool,

        /// What to do; without it, they are listed
        #[command(subcommand)]
        command: Option<members::MembersCommands>,
    },
    Forget(members::ForgetArgs),
    /// Publish a policy for the team's machines, or show the one that is in force
    #[command(subcommand)]
    Policy(policy::PolicyCommands),
    #[cfg(unix)]
    Bench(bench::BenchArgs),
}

/// Answer machines and browsers (the default)
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Where to listen; anything but the loopback needs a certificate, or a proxy that has one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8750")]
    listen: SocketAddr,

    /// The certificate and its chain, in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,

    /// The certificate's key, in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,

    /// Listen without TLS on more than the loopback, behind a proxy that has the certificate and names the sender of each
    /// request in `X-Forwarded-For`
    #[arg(long)]
    behind_proxy: bool,
}

/// Create the tables, or upgrade them to this version
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Do not partition tables by month: for engines that speak PostgreSQL without its partitions
    #[arg(long)]
    no_partitions: bool,
}

pub(crate) fn run(args: &ServerArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("run or change a team's server")?;
    let pool = args.database.pool(environment)?;
    let usual = RunArgs {
        listen: SocketAddr::from(([127, 0, 0, 1], 8750)),
        certificate: None,
        key: None,
        behind_proxy: false,
    };
    match args.command.as_ref() {
        None => return serve(&usual, pool),
        Some(ServerCommands::Run(args)) => return serve(args, pool),
        Some(ServerCommands::Migrate(args)) => return migrate(args, &pool),
        Some(ServerCommands::Check { json }) => return check(&args.database, *json, environment),
        #[cfg(unix)]
        Some(ServerCommands::Bench(bench)) => return bench::run(bench, &args.database, environment),
        Some(_) => ready(&pool)?,
    }
    match args.command.as_ref() {
        Some(ServerCommands::Invite(args)) => members::invite(args, &pool, environment),
        Some(ServerCommands::Members { json, command }) => members::run(command.as_ref(), *json, &pool),
        Some(ServerCommands::Forget(args)) => members::forget(args, &pool),
        Some(ServerCommands::Policy(command)) => policy::run(command, &pool, environment),
        _ => Ok(()),
    }
}

pub(super) fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::Storage, error.to_string())
}

/// What went wrong with the database, and what to do about it.
pub(super) fn db_failure(error: DbError) -> Failure {
    match error {
        DbError::NoDatabase(_) => failure(error).with_next_step("`createdb NAME` makes it"),
        DbError::Away(_) => failure(error).with_next_step(
            "check the address, and that the database is running; `server check` tries again",
        ),
        DbError::NoTable(_) => no_tables("the database"),
        DbError::Conflict(_) => failure(error).with_next_step("try again"),
        DbError::NoPartition(_) | DbError::Refused(_) => failure(error),
    }
}

fn no_tables(where_: &str) -> Failure {
    failure(format!("{where_} has no tables of a team server yet"))
        .with_next_step("`context-graph server --database … migrate` makes them")
}

/// Checks that the tables have this version. An SQLite file is upgraded first.
fn ready(pool: &Pool) -> CommandResult {
    if !pool.is_postgres() {
        schema::migrate(pool, false, clock::now_ms()).map_err(db_failure)?;
    }
    match pool.with(schema::found).map_err(db_failure)? {
        schema::FoundTables::Version(schema::FORMAT) => Ok(()),
        schema::FoundTables::Nothing => Err(no_tables("the database")),
        schema::FoundTables::Version(version) => Err(other_version(version)),
    }
}

fn other_version(version: i64) -> Failure {
    let known = schema::FORMAT;
    failure(format!("the tables have version {version}, and this program knows version {known}"))
        .with_next_step(if version < known {
            "`context-graph server --database … migrate` brings them to this version"
        } else {
            "update the program"
        })
}

fn serve(args: &RunArgs, pool: Pool) -> CommandResult {
    if !args.listen.ip().is_loopback() && args.certificate.is_none() && !args.behind_proxy {
        return Err(Failure::usage(format!(
            "{} can be reached by others, and there is no certificate",
            args.listen
        ))
        .with_next_step(
            "give --certificate and --key, or --behind-proxy if a proxy provides the certificate",
        ));
    }
    ready(&pool)?;
    let is_secure = args.certificate.is_some();
    let certificate = args.certificate.clone().zip(args.key.clone());
    let (listen, is_behind_proxy) = (args.listen, args.behind_proxy);
    let patience = Patience::default();
    let serving = Serving { listen, certificate, is_behind_proxy, pool, patience, now_ms: clock::now_ms };
    let listening = serving.bind().map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            failure(error).with_next_step("`run --listen ADDRESS:PORT` names another one")
        }
        _ => failure(error),
    })?;
    let address = listening.address().map_err(failure)?;
    table::print_lines([
        format!("{}://{address}", if is_secure { "https" } else { "http" }),
        "`context-graph server invite NAME` lets a machine in; `server members token NAME` lets a browser in"
            .to_owned(),
    ])?;
    listening.run().map_err(failure)?;
    terminal::note("the server has ended\n");
    Ok(())
}

fn migrate(args: &MigrateArgs, pool: &Pool) -> CommandResult {
    let before = schema::migrate(pool, !args.no_partitions, clock::now_ms()).map_err(db_failure)?;
    table::print_lines([match before {
        schema::FoundTables::Nothing => format!("made the tables, version {}", schema::FORMAT),
        schema::FoundTables::Version(schema::FORMAT) => {
            format!("nothing to do: the tables have version {}", schema::FORMAT)
        }
        schema::FoundTables::Version(version) => {
            format!("brought the tables from version {version} to version {}", schema::FORMAT)
        }
    }])
}

fn check(database: &DatabaseArgs, as_json: bool, environment: &Environment) -> CommandResult {
    let place = database.place(environment)?;
    if let DatabaseAddress::Sqlite(path) = &place
        && !path.exists()
    {
        return Err(failure(format!("{} is not there yet", path.display()))
            .with_next_step("`context-graph server` makes it, or `--database` names a PostgreSQL server"));
    }
    let pool = Pool::new(place);
    let found = pool.with(schema::found).map_err(db_failure)?;
    let kind = if pool.is_postgres() { "PostgreSQL" } else { "SQLite" };
    match found {
        schema::FoundTables::Version(schema::FORMAT) => {
            let size = pool.with(|connection| connection.size()).map_err(db_failure)?;
            if as_json {
                return table::print_json(
                    &json!({"database": kind, "version": schema::FORMAT, "bytes": size}),
                );
            }
            table::print_lines([format!("{kind}: tables of version {}, {size} bytes", schema::FORMAT)])
        }
        schema::FoundTables::Version(version) => Err(other_version(version)),
        schema::FoundTables::Nothing => Err(no_tables(kind)),
    }
}
