//! `config set` and `config edit`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toml_edit::{DocumentMut, Item, Value};

use crate::commands::edited_file::{put_back, read, write};
use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::commands::project_folder;
use crate::config::{Config, FILE};
use crate::error_code::ErrorCode;
use crate::trust::{self, ProjectFiles};
use crate::{Environment, table, terminal};

/// Whose file.
#[derive(Debug, Clone, Args)]
struct FileArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    project: Option<PathBuf>,

    /// Your own file, for every project, instead of the project's
    #[arg(long)]
    user: bool,
}

/// Set a value in `config.toml`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "`context-graph config show` lists the keys, what they are and their defaults.\n\nExamples:\n  \
    context-graph config set inject.hint_below 0.6\n  \
    context-graph config set --user retention.max_age_days 90"
)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    file: FileArgs,

    /// The key: `inject.enabled`
    key: String,

    /// Its value
    value: String,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Open `config.toml` in your editor, and check it afterwards
#[derive(Debug, Clone, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    file: FileArgs,
}

impl FileArgs {
    fn path(&self, environment: &Environment) -> Result<PathBuf, Failure> {
        if !self.user {
            return Ok(environment.open_rules_folder()?.join(FILE));
        }
        let path = ProjectFiles::of(environment).users_config_path();
        // The user may have replaced the file with a link.
        Ok(std::fs::canonicalize(&path).unwrap_or(path))
    }
}

pub(super) fn set(args: &SetArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("change the configuration")?;
    let environment = environment.in_project(args.file.project.as_deref());
    let path = args.file.path(&environment)?;
    let mut document =
        read(&path)?.parse::<DocumentMut>().map_err(|error| unusable(&path, error.message()))?;
    let Some((section, key)) = args.key.split_once('.') else {
        return Err(Failure::usage(format!(
            "`{}` is not a key: a key has two parts, like `inject.enabled`",
            args.key
        ))
        .with_next_step("`context-graph config show` lists them"));
    };
    // If it is not a TOML value, it is a text without quotes.
    let value: Value = args.value.parse().unwrap_or_else(|_| Value::from(args.value.as_str()));
    let Some(table) = document.entry(section).or_insert(toml_edit::table()).as_table_like_mut() else {
        return Err(unusable(&path, &format!("`{section}` is not a table")));
    };
    table.insert(key, Item::Value(value));
    let text = document.to_string();
    Config::parse(&text).map_err(|problem| {
        // A line and a column mean nothing to somebody who typed a value.
        let (place, rest) = problem.split_once(": ").unwrap_or(("", &problem));
        let what = if place.starts_with("line ") { rest } else { &problem };
        Failure::new(ErrorCode::Validation, format!("{} = {}: {what}", args.key, args.value)).with_next_step(
            "`context-graph config show` lists the keys and their values; nothing was changed",
        )
    })?;
    let before = ProjectFiles::of(&environment).standing();
    write(&path, &text)?;
    let kept = if args.file.user { None } else { trust::keep(before, &environment) };
    if args.json {
        return table::print_json(
            &json!({"key": args.key, "value": args.value, "file": path, "notes": kept.into_iter().collect::<Vec<_>>()}),
        );
    }
    table::print_lines(
        [format!("{} = {} in {}", args.key, args.value, path.display())].into_iter().chain(kept),
    )
}

pub(super) fn edit(args: &EditArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("change the configuration")?;
    let environment = environment.in_project(args.file.project.as_deref());
    let path = args.file.path(&environment)?;
    let before = ProjectFiles::of(&environment).standing();
    let Some(mut editor) = Environment::editor(terminal::is_interactive()) else {
        return Err(Failure::usage("an editor needs a terminal")
            .with_next_step("`context-graph config set KEY VALUE` needs none"));
    };
    let there = read(&path)?;
    if there.is_empty() {
        write(&path, "# `context-graph config show` lists the keys, what they are and their defaults.\n")?;
    }
    editor.arg(&path);
    let mut ended = editor.status();
    // An invalid file would end the trust in all of the project's files.
    while ended.as_ref().is_ok_and(std::process::ExitStatus::success)
        && let Err(problem) = Config::parse(&read(&path)?)
    {
        if terminal::is_interactive() && terminal::agreed(false, &format!("{problem}. Edit it again?")) {
            ended = editor.status();
            continue;
        }
        put_back(&path, &there)?;
        return Err(unusable(&path, &problem));
    }
    if !ended.as_ref().is_ok_and(std::process::ExitStatus::success) {
        put_back(&path, &there)?;
        let how = ended.map_or_else(
            |error| format!("cannot be started: {error}"),
            |ended| format!("ended with {ended}"),
        );
        return Err(Failure::usage(format!("the editor {how}; nothing was changed"))
            .with_next_step("VISUAL or EDITOR names the editor"));
    }
    let kept = if args.file.user { None } else { trust::keep(before, &environment) };
    table::print_lines([format!("{} is in order", path.display())].into_iter().chain(kept))
}

fn unusable(path: &Path, problem: &str) -> Failure {
    Failure::new(ErrorCode::Validation, format!("{}: {problem}", path.display()))
        .with_next_step("`context-graph config show` lists the keys; nothing was changed")
}
