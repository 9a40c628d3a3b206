//! The server's database.

use std::path::PathBuf;

use clap::Args;
use context_graph_server::db::{DatabaseAddress, Pool, Tls, address_problem};

use super::failure;
use crate::Environment;
use crate::commands::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct DatabaseArgs {
    /// PostgreSQL: `postgres://USER@HOST/NAME`, or `@FILE` for a file that holds it, so that no password is in the list of
    /// processes [default: an SQLite file]
    #[arg(long, value_name = "URL", global = true)]
    database: Option<String>,

    /// Trust the authorities in this PEM file for the connection to PostgreSQL
    #[arg(long, value_name = "FILE", global = true, requires = "database")]
    database_ca: Option<PathBuf>,

    /// The SQLite file [default: context-graph/server/team.db in your configuration's folder]
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "database")]
    sqlite: Option<PathBuf>,
}

impl DatabaseArgs {
    pub(super) fn pool(&self, environment: &Environment) -> Result<Pool, Failure> {
        self.place(environment).map(Pool::new)
    }

    /// These arguments again, as they were given, for another process.
    #[cfg(unix)]
    pub(super) fn as_args(&self) -> Vec<std::ffi::OsString> {
        let mut args: Vec<std::ffi::OsString> = Vec::new();
        for (name, value) in [
            ("--database", self.database.as_ref().map(Into::into)),
            ("--database-ca", self.database_ca.as_ref().map(Into::into)),
            ("--sqlite", self.sqlite.as_ref().map(Into::into)),
        ] {
            args.extend(value.into_iter().flat_map(|value| [name.into(), value]));
        }
        args
    }

    pub(super) fn place(&self, environment: &Environment) -> Result<DatabaseAddress, Failure> {
        if let Some(address) = &self.database {
            let address = match address.strip_prefix('@') {
                None => address.clone(),
                Some(file) => std::fs::read_to_string(environment.current_dir.join(file))
                    .map_err(|error| {
                        failure(format!("{file}: {error}"))
                            .with_next_step("`--database @FILE` reads the address from a file")
                    })?
                    .trim()
                    .to_owned(),
            };
            if let Some(problem) = address_problem(&address) {
                return Err(Failure::usage(format!("`--database` has no address of PostgreSQL: {problem}"))
                    .with_next_step("write postgres://USER@HOST/NAME"));
            }
            return Ok(DatabaseAddress::Postgres(address, Tls { authorities: self.database_ca.clone() }));
        }
        let path = if let Some(path) = &self.sqlite {
            environment.current_dir.join(path)
        } else {
            let folder = environment.config_home.join("context-graph").join("server");
            // The folder is private to its owner, which protects the files in it.
            let made = context_graph_storage::UserFolder::new(&folder).open()?;
            made.path().join("team.db")
        };
        Ok(DatabaseAddress::Sqlite(path))
    }
}
