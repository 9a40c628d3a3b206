//! `hooks generate-config`: the five hooks as scripts, and the settings that name them.
//!
//! `context-graph init` needs no scripts and covers every event; these are for those who want a script to add to.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use context_graph_settings::{Change, HookEntry, OnFailure, Plan, PlannedHook};

use super::error::ErrorCode;
use super::types::HookEventType;
use crate::commands::failure::{Failure, Outcome};
use crate::commands::init::install_unasked;
use crate::settings_file::Scope;
use crate::summary::counted;
use crate::{Environment, table};

/// How a generated script says what it is.
pub(crate) const SIGNATURE: &str = "Made by `context-graph hooks generate-config`";

/// `hooks generate-config`
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "\
What is named here is the client's event; each script calls the hook of ours for it:
  --hooks             event             script                 calls
  session-start       SessionStart      session_start.sh       context-graph hooks session-start
  pre-tool-use        PreToolUse        pre_tool_use.sh        context-graph hooks pre-tool
  post-tool-use       PostToolUse       post_tool_use.sh       context-graph hooks post-tool
  user-prompt-submit  UserPromptSubmit  user_prompt_submit.sh  context-graph hooks prompt-submit
  session-end         SessionEnd        session_end.sh         context-graph hooks session-end

`context-graph init` registers all events without a script; this is for those who want a script to add to.

Examples:
  context-graph hooks generate-config                                   the five, for bash
  context-graph hooks generate-config --hooks pre-tool-use --shell fish")]
pub struct GenerateConfigArgs {
    /// Where the scripts go
    #[arg(long, default_value = ".claude/hooks", value_name = "DIR")]
    pub output_dir: PathBuf,

    /// Overwrite scripts that are there
    #[arg(long)]
    pub force: bool,

    /// Which hooks [default: all five]
    #[arg(long, value_delimiter = ',', value_name = "HOOK,…")]
    pub hooks: Option<Vec<HookType>>,

    /// For which shell
    #[arg(long, value_enum, default_value_t, value_name = "SHELL")]
    pub shell: ShellType,
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

    /// A script that hands its stdin on and becomes the binary, or ends as it does.
    fn script(self, hook: HookType, binary: &str) -> String {
        let about = format!("# Claude Code hook: {}. {SIGNATURE}.", hook.event().event_name());
        let arguments = hook.arguments();
        let single = binary.replace('\'', r"'\''");
        match self {
            Self::Bash => format!("#!/usr/bin/env bash\n{about}\nexec '{single}' hooks {arguments}\n"),
            Self::Zsh => format!("#!/usr/bin/env zsh\n{about}\nexec '{single}' hooks {arguments}\n"),
            Self::Fish => {
                let quoted = binary.replace('\\', r"\\").replace('\'', r"\'");
                format!("#!/usr/bin/env fish\n{about}\nexec '{quoted}' hooks {arguments}\n")
            }
            Self::Powershell => {
                let quoted = binary.replace('\'', "''");
                format!(
                    "#!/usr/bin/env pwsh\n{about}\n$input | & '{quoted}' hooks {arguments}\nexit $LASTEXITCODE\n"
                )
            }
        }
    }
}

/// Writes the scripts and adds them to the project's settings.
pub(crate) fn run(args: &GenerateConfigArgs, environment: &Environment) -> Outcome {
    let root = environment.project_root();
    let folder = root.join(&args.output_dir);
    let binary = crate::commands::binary_path()?;
    let hooks = args.hooks.clone().unwrap_or_else(|| HookType::ALL.to_vec());
    let scripts: Vec<(HookType, PathBuf)> = hooks
        .iter()
        .map(|hook| (*hook, folder.join(format!("{}.{}", hook.event().as_str(), args.shell.extension()))))
        .collect();
    if let Some((_, there)) = scripts.iter().find(|(_, path)| path.exists() && !args.force) {
        return Err(Failure::new(
            ErrorCode::Usage,
            format!("{} is there already; nothing was written", there.display()),
        )
        .with_next_step("--force overwrites it"));
    }
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    for (hook, path) in &scripts {
        write_script(path, &args.shell.script(*hook, &binary)).map_err(|error| failed(path, &error))?;
    }
    let (file, edited) = install_unasked(environment, Scope::Project, &plan(&scripts, args.shell))?;
    let mut told = String::new();
    for (_, path) in &scripts {
        // Writing to a String cannot fail.
        let _ = writeln!(told, "wrote {}", path.display());
    }
    let _ = write!(told, "named in {}", file.display());
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

fn plan(scripts: &[(HookType, PathBuf)], shell: ShellType) -> Plan {
    let hooks = scripts
        .iter()
        .map(|(hook, path)| {
            let path = path.to_string_lossy().into_owned();
            let (command, args) = match shell {
                ShellType::Powershell => {
                    ("pwsh".to_owned(), vec!["-NoProfile".to_owned(), "-File".to_owned(), path])
                }
                _ => (path, Vec::new()),
            };
            let event = hook.event();
            PlannedHook {
                event: event.event_name(),
                matcher: None,
                entry: HookEntry {
                    command,
                    args: Some(args),
                    // A backstop behind our own budget.
                    timeout: (2 * event.timeout_ms() / 1000).max(5),
                    // A guard that could be passed by crashing it would be none.
                    on_failure: (*hook == HookType::PreToolUse).then_some(OnFailure::Block),
                    status_message: None,
                },
            }
        })
        .collect();
    Plan { hooks, status_line: None }
}

fn write_script(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(text.as_bytes())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
        .with_next_step("see that the folder is writable for you")
}
