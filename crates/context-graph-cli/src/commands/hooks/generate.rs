//! `hooks generate-config`: writes the five hooks as scripts, and the settings that name them.
//!
//! `context-graph init` needs no scripts and covers every event. The scripts are for people who want to add
//! to them.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use clap::{Args, ValueEnum};
use context_graph_events::envelope::HookEventType;
use context_graph_settings::{AgentClient, Change, HookEntry, Missing, OnFailure, Plan, PlannedHook, diff};
use context_graph_storage::safe_open::{self, Share};

use serde_json::json;

use super::budget;
use crate::commands::doctor;
use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::commands::init::{AgentChoice, PORTABLE, agents, changes, install_unasked, planned};
use crate::error_code::ErrorCode;
use crate::settings_file::Scope;
use crate::summary::counted;
use crate::{Environment, table, terminal};

/// The text that marks a generated script.
pub(crate) const SIGNATURE: &str = "Made by `context-graph hooks generate-config`";

/// `hooks generate-config`
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "\
`--hooks` takes events of Claude Code. Each script calls our hook for its event:
  --hooks             event             script                 calls
  session-start       SessionStart      session_start.sh       context-graph hooks session-start
  pre-tool-use        PreToolUse        pre_tool_use.sh        context-graph hooks pre-tool
  post-tool-use       PostToolUse       post_tool_use.sh       context-graph hooks post-tool
  user-prompt-submit  UserPromptSubmit  user_prompt_submit.sh  context-graph hooks prompt-submit
  session-end         SessionEnd        session_end.sh         context-graph hooks session-end

`context-graph init` registers all events without a script; this is for those who want a script to add to.

No path of this machine is written: a team can commit the scripts and the settings. Where `context-graph` is not on the PATH, work goes on \
without it, and a session's start says how to install it.

Examples:
  context-graph hooks generate-config                                   the five, for bash
  context-graph hooks generate-config --hooks pre-tool-use --shell fish
  context-graph hooks generate-config --absolute                        for this machine alone
  context-graph hooks generate-config --agent codex                     print what Codex wants in .codex/hooks.json")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub struct GenerateConfigArgs {
    /// Where the scripts go
    #[arg(long, default_value = ".claude/hooks", value_name = "DIR")]
    pub output_dir: PathBuf,

    /// Print the settings file of another agent instead, as `init --agent AGENT --shared` writes a new one
    #[arg(long, value_enum, value_name = "AGENT", conflicts_with_all = ["output_dir", "force", "hooks", "shell", "yes"])]
    pub(crate) agent: Option<AgentChoice>,

    /// Overwrite scripts that are there
    #[arg(long)]
    pub force: bool,

    /// Which hooks [default: all five]
    #[arg(long, value_delimiter = ',', value_name = "HOOK,…")]
    pub hooks: Option<Vec<HookType>>,

    /// For which shell
    #[arg(long, value_enum, default_value_t, value_name = "SHELL")]
    pub shell: ShellType,

    /// Name scripts and binary by their full paths on this machine, instead of from the project's folder and the PATH
    #[arg(long)]
    pub absolute: bool,

    /// Block tool calls on machines that do not have the program, instead of going on without it
    #[arg(long)]
    pub require: bool,

    /// Do not ask; without a terminal nobody is asked
    #[arg(long, short)]
    pub yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// The hooks that have a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookType {
    SessionStart,
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    SessionEnd,
}

/// The shells that scripts are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ShellType {
    #[default]
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl HookType {
    const ALL: [Self; 5] =
        [Self::SessionStart, Self::PreToolUse, Self::PostToolUse, Self::UserPromptSubmit, Self::SessionEnd];

    const fn event(self) -> HookEventType {
        match self {
            Self::SessionStart => HookEventType::SessionStart,
            Self::PreToolUse => HookEventType::PreToolUse,
            Self::PostToolUse => HookEventType::PostToolUse,
            Self::UserPromptSubmit => HookEventType::UserPromptSubmit,
            Self::SessionEnd => HookEventType::SessionEnd,
        }
    }

    const fn arguments(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start --stdin",
            Self::PreToolUse => "pre-tool --stdin --fast-path",
            Self::PostToolUse => "post-tool --stdin",
            Self::UserPromptSubmit => "prompt-submit --stdin",
            Self::SessionEnd => "session-end --stdin --generate-summary",
        }
    }
}

impl ShellType {
    const fn extension(self) -> &'static str {
        match self {
            Self::Bash => "sh",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Powershell => "ps1",
        }
    }

    /// The interpreter of such a script, with the arguments before the script's name.
    const fn interpreter(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Bash => ("bash", &[]),
            Self::Zsh => ("zsh", &[]),
            Self::Fish => ("fish", &[]),
            Self::Powershell => ("pwsh", &["-NoProfile", "-File"]),
        }
    }

    /// A script that passes its stdin to the binary and ends with its exit code. A script that relies on the
    /// `PATH` first checks that the program is there, unless the program is required.
    fn script(self, hook: HookType, binary: &str, required: bool) -> String {
        let (interpreter, _) = self.interpreter();
        let about = format!("# Claude Code hook: {}. {SIGNATURE}.", hook.event().event_name());
        let (program, arguments) = (self.quoted(binary), hook.arguments());
        let run = match self {
            Self::Powershell => format!("$input | & {program} hooks {arguments}\nexit $LASTEXITCODE"),
            _ => format!("exec {program} hooks {arguments}"),
        };
        let check = if binary == PORTABLE && !required { self.check(hook) } else { String::new() };
        format!("#!/usr/bin/env {interpreter}\n{about}\n{check}{run}\n")
    }

    /// Continues without the program if it is missing. The start of a session says how to install it.
    fn check(self, hook: HookType) -> String {
        let message = match hook {
            HookType::SessionStart => format!("echo '{}'; ", Missing::install_reply()),
            _ => String::new(),
        };
        match self {
            Self::Bash | Self::Zsh => {
                format!("command -v {PORTABLE} >/dev/null 2>&1 || {{ {message}exit 0; }}\n")
            }
            Self::Fish => format!("command -q {PORTABLE}; or begin; {message}exit 0; end\n"),
            Self::Powershell => {
                format!(
                    "if (-not (Get-Command {PORTABLE} -ErrorAction SilentlyContinue)) {{ {message}exit 0 }}\n"
                )
            }
        }
    }

    /// A program as a quoted word of this shell.
    fn quoted(self, program: &str) -> String {
        let escaped = match self {
            _ if program == PORTABLE => return program.to_owned(),
            Self::Bash | Self::Zsh => program.replace('\'', r"'\''"),
            Self::Fish => program.replace('\\', r"\\").replace('\'', r"\'"),
            Self::Powershell => program.replace('\'', "''"),
        };
        format!("'{escaped}'")
    }
}

/// Whether a script is exactly the one that we generate for one of `programs`.
pub(crate) fn is_verbatim(text: &str, programs: &[&str]) -> bool {
    ShellType::value_variants().iter().any(|shell| {
        let mut scripts = HookType::ALL
            .iter()
            .flat_map(|hook| programs.iter().map(move |program| (*hook, program)))
            .flat_map(|(hook, program)| [true, false].map(|required| shell.script(hook, program, required)));
        scripts.any(|script| script == text)
    })
}

/// Writes the scripts and adds them to the project's settings.
pub(crate) fn run(args: &GenerateConfigArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("change the settings that call the guard")?;
    if let Some(choice) = args.agent {
        return print_for(choice, args, environment);
    }
    let root = environment.project_root();
    let folder = root.join(&args.output_dir);
    let binary = if args.absolute { crate::commands::path_for_settings()? } else { PORTABLE.to_owned() };
    let hooks = args.hooks.clone().unwrap_or_else(|| HookType::ALL.to_vec());
    let scripts: Vec<(HookType, PathBuf)> = hooks
        .iter()
        .map(|hook| (*hook, folder.join(format!("{}.{}", hook.event().as_str(), args.shell.extension()))))
        .collect();
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if let Some((_, there)) = scripts.iter().find(|(_, path)| is_there(path) && !args.force) {
        return Err(Failure::new(
            ErrorCode::Usage,
            format!("{} is there already; nothing was written", there.display()),
        )
        .with_next_step("--force overwrites it"));
    }
    let named = |path: &Path| if args.absolute { None } else { from_project(path, root) };
    let plan = plan(&scripts, args.shell, named);
    if !args.yes && !args.json && terminal::is_interactive() {
        ask(&scripts, &plan, environment)?;
    }
    let from = writing_from(root, &folder).map_err(|error| failed(&folder, &error))?;
    for (hook, path) in &scripts {
        let text = args.shell.script(*hook, &binary, args.require);
        let below = path.strip_prefix(from).unwrap_or(path);
        safe_open::write_below(from, below, text.as_bytes(), Share::Runners)
            .map_err(|error| failed(path, &error))?;
    }
    let (file, edited) = install_unasked(environment, Scope::Project, &plan)?;
    if args.json {
        let scripts: Vec<&Path> = scripts.iter().map(|(_, path)| path.as_path()).collect();
        let changes: Vec<String> = edited.changes.iter().map(ToString::to_string).collect();
        return table::print_json(&json!({"scripts": scripts, "file": file, "changes": changes}));
    }
    let mut told = String::new();
    for (_, path) in &scripts {
        // Writing to a String cannot fail.
        let _ = writeln!(told, "wrote {}", path.display());
    }
    let _ = write!(told, "named in {}", file.display());
    if !args.absolute && named(&folder).is_none() {
        let _ = write!(
            told,
            "\n{} is not in the project: the settings contain its full path, which does not exist on other machines",
            folder.display()
        );
    }
    if !args.absolute && !doctor::is_on_the_path(PORTABLE, root) {
        let until = if args.require { "every tool call is blocked" } else { "nothing is guarded" };
        terminal::complain(&format!(
            "`context-graph` is not on the PATH here: until it is, {until} (--absolute names it by its full path)"
        ));
    }
    let gone = edited.changes.iter().filter(|change| matches!(change, Change::HookRemoved { .. })).count();
    if gone > 0 {
        let _ = write!(
            told,
            "\n{} taken out; `context-graph init` puts back what it registers",
            counted(
                gone,
                "hook of ours that was registered otherwise was",
                "hooks of ours that were registered otherwise were"
            )
        );
    }
    table::print_lines(told.lines())
}

/// Prints the file for another agent, and where it belongs.
fn print_for(choice: AgentChoice, args: &GenerateConfigArgs, environment: &Environment) -> CommandResult {
    let Some(client) = choice.agent().and_then(AgentClient::of) else {
        return Err(Failure::usage(
            "name one agent that is not Claude Code: without --agent, this is for Claude Code",
        ));
    };
    let missing = if args.require { Missing::Block } else { Missing::GoOn };
    let (program, missing) = if args.absolute {
        (crate::commands::path_for_settings()?, None)
    } else {
        (PORTABLE.to_owned(), Some(missing))
    };
    let edited = client
        .install(None, &agents::own_command(environment, &program, missing))
        .map_err(|error| Failure::new(ErrorCode::Usage, error.to_string()))?;
    terminal::complain(&format!(
        "for {} in a project, or {}",
        client.project_file,
        environment.agent_file(client).display()
    ));
    table::print_text(edited.text.as_deref().unwrap_or_default())
}

/// Shows what would be written, and asks.
fn ask(scripts: &[(HookType, PathBuf)], plan: &Plan, environment: &Environment) -> CommandResult {
    let (file, before, edited) = planned(environment, Scope::Project, plan)?;
    let scripts = scripts.iter().map(|(_, path)| {
        let verb = if path.symlink_metadata().is_ok() { "replace" } else { "write" };
        format!("{verb} {}", path.display())
    });
    let settings = file.path().display();
    let agreed = if edited.text == before {
        table::print_lines(scripts.chain([format!("{settings} stays as it is")]))?;
        terminal::agreed(false, "Write this?")
    } else {
        let find = changes::in_settings(environment.project_root());
        let changes = changes::lines(&find, before.as_deref(), &edited);
        table::print_lines(scripts.chain([format!("changes to {settings}:")]).chain(changes))?;
        let [before, after] = [&before, &edited.text].map(|text| text.as_deref().unwrap_or(""));
        terminal::agreed_to_lines(false, "Write this?", &diff(before, after))
    };
    if agreed { Ok(()) } else { Err(Failure::usage("nothing was changed")) }
}

/// A path below the project's folder, written with the client's variable for it, so that it is valid in every
/// clone.
fn from_project(path: &Path, root: &Path) -> Option<String> {
    let below = path.strip_prefix(root).ok()?;
    let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
    is_plain.then_some(format!("${{CLAUDE_PROJECT_DIR}}/{}", names?.join("/")))
}

fn plan(scripts: &[(HookType, PathBuf)], shell: ShellType, named: impl Fn(&Path) -> Option<String>) -> Plan {
    let (command, flags) = shell.interpreter();
    let hooks = scripts
        .iter()
        .map(|(hook, path)| {
            let path = named(path).unwrap_or_else(|| path.to_string_lossy().into_owned());
            // The interpreter is the command, not the script: a checkout can lose the executable bit, and the
            // client replaces the project's folder only in arguments.
            let args = flags.iter().map(|flag| (*flag).to_owned()).chain([path]).collect();
            let event = hook.event();
            PlannedHook {
                event: event.event_name(),
                matcher: None,
                entry: HookEntry {
                    command: command.to_owned(),
                    args: Some(args),
                    // A safety net behind our own budget.
                    timeout: (2 * budget::of_type(event) / 1000).max(5),
                    // Otherwise crashing the guard would let a call pass.
                    on_failure: (*hook == HookType::PreToolUse).then_some(OnFailure::Block),
                    status_message: None,
                },
            }
        })
        .collect();
    Plan { hooks, status_line: None }
}

/// The folder below which links are not followed. For a folder in the project this is the project's root, because
/// a checkout may have brought links. A folder elsewhere is the user's own choice.
fn writing_from<'a>(root: &'a Path, folder: &'a Path) -> std::io::Result<&'a Path> {
    let is_plain = |below: &Path| below.components().all(|part| matches!(part, Component::Normal(_)));
    if folder.strip_prefix(root).is_ok_and(is_plain) {
        return Ok(root);
    }
    std::fs::create_dir_all(folder)?;
    Ok(folder)
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
        .with_next_step("make sure that you can write to the folder")
}
