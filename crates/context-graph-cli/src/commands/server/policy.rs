//! The team's policy: signed with the policy key, and published.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use context_graph_server::db::Pool;
use context_graph_server::keys::{SigningKey, hex, random, unhex};
use context_graph_server::policy::{self, PublishError, SIGNATURE};
use context_graph_storage::UserFolder;
use context_graph_storage::safe_open::{self, Folder};

use super::{db_failure, failure};
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::policy::bundle_problems;
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::team_policy::Bundle;
use crate::{Environment, clock, table, time};

/// The name of the key's file.
const KEY: &str = "policy.key";

/// The key that signs policies.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// The file with the key that signs the team's policies; created if it is missing [default:
    /// context-graph/server/policy.key in your configuration's folder]
    #[arg(long, value_name = "FILE")]
    policy_key: Option<PathBuf>,
}

impl KeyArgs {
    /// Reads the key, or creates it.
    pub(super) fn open(&self, environment: &Environment) -> Result<SigningKey, Failure> {
        let (folder, name) = if let Some(path) = &self.policy_key {
            let path = environment.current_dir.join(path);
            let folder = path.parent().unwrap_or(&path).to_path_buf();
            let name = path.file_name().ok_or_else(|| Failure::usage("--policy-key names no file"))?;
            (
                Folder::open_any(&folder)
                    .map_err(|error| failure(format!("{}: {error}", folder.display())))?,
                name.to_owned(),
            )
        } else {
            let folder = environment.config_home.join("context-graph").join("server");
            (UserFolder::new(folder).open()?, KEY.into())
        };
        let path = folder.path().join(&name);
        let unusable = |error: &dyn std::fmt::Display| failure(format!("{}: {error}", path.display()));
        let seed = match safe_open::read_own(&path, 1024) {
            Ok(bytes) => {
                String::from_utf8(bytes).ok().and_then(|text| unhex(text.trim())).unwrap_or_default()
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let seed = random().map_err(|error| unusable(&error))?;
                let text = hex(&seed) + "\n";
                folder.replace(&name, text.as_bytes()).map_err(|error| unusable(&error))?;
                seed.to_vec()
            }
            Err(error) => return Err(unusable(&error)),
        };
        SigningKey::from_seed(&seed).ok_or_else(|| unusable(&"there is no key in it"))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommands {
    /// Sign the policy in a folder and publish it to the team's machines
    ///
    /// The folder has a `policy.toml` (guards, paths, programs, stop gates), `policies/` with Rego files, or both. On each machine
    /// it is one more layer, which neither the user nor a project can loosen. An empty `policy.toml` removes all its rules.
    Publish(PublishArgs),
    /// Show which policy the team has
    Show {
        /// The team
        #[arg(long, default_value = "team")]
        team: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// The folder
    folder: PathBuf,

    /// The team
    #[arg(long, default_value = "team")]
    team: String,

    /// The policy's number, instead of the next one. Needed after an older copy of the database was restored: machines
    /// refuse a policy whose number is not larger than the number of the one they have
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    number: Option<u64>,

    #[command(flatten)]
    key: KeyArgs,
}

pub(super) fn run(command: &PolicyCommands, pool: &Pool, environment: &Environment) -> CommandResult {
    match command {
        PolicyCommands::Publish(args) => publish(args, pool, environment),
        PolicyCommands::Show { team } => show(pool, team),
    }
}

fn publish(args: &PublishArgs, pool: &Pool, environment: &Environment) -> CommandResult {
    let folder = environment.current_dir.join(&args.folder);
    let refused = |problems: &[String]| {
        let first = problems.first().map(String::as_str).unwrap_or_default();
        let all = counted(problems.len() as u64, "problem", "problems");
        Failure::new(ErrorCode::Policy, format!("nothing was published, {all}: {first}"))
            .with_next_step("fix the files; machines would refuse them")
    };
    let make = Bundle::of_folder(&folder, &args.team).map_err(|problems| refused(&problems))?;
    let problems = bundle_problems(make(0, 0), environment);
    if !problems.is_empty() {
        return Err(refused(&problems));
    }
    let key = args.key.open(environment)?;
    let now_ms = clock::now_ms();
    let bundle = |number| make(number, now_ms).to_bytes();
    let published = policy::publish(pool, &args.team, &key, bundle, args.number, now_ms);
    let number = published.map_err(|error| match error {
        PublishError::OtherKey => {
            failure(error).with_next_step("--policy-key names the file with the key that they trust")
        }
        PublishError::NoTeam => no_team(failure(error)),
        PublishError::Older(_) => failure(error).with_next_step("omit --number, or give a larger one"),
        PublishError::Db(error) => db_failure(error),
    })?;
    table::print_lines([
        format!("published policy {number} of the team {}", args.team),
        "machines fetch it after a session, at most once an hour, or by `context-graph team pull`".to_owned(),
    ])
}

fn no_team(failure: Failure) -> Failure {
    failure.with_next_step("`context-graph server invite NAME --team TEAM` makes one")
}

fn show(pool: &Pool, team: &str) -> CommandResult {
    if !policy::is_team(pool, team).map_err(db_failure)? {
        return Err(no_team(failure(PublishError::NoTeam)));
    }
    let Some(newest) = policy::newest_of(pool, team).map_err(db_failure)? else {
        return table::print_lines([format!("the team {team} has no policy")]);
    };
    let bundle = Bundle::read(newest.content.get(SIGNATURE..).unwrap_or_default()).map_err(failure)?;
    let head = format!("policy {} of {team}, published {}", newest.number, time::local(bundle.published_ms));
    let files = bundle
        .files
        .iter()
        .map(|(path, text)| format!("  {path}, {}", counted(text.lines().count() as u64, "line", "lines")));
    table::print_lines(std::iter::once(head).chain(files))
}
