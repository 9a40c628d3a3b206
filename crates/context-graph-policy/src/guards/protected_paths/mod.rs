//! Paths that must not be changed, or not even read: the configured lists, and paths that belong to no project.

use context_graph_events::quoted;

use super::places::{hits, hits_configured, holds_configured, is_configured_folder, is_passing, is_within};
use super::secrets::{is_key, is_secret_file};
use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Access, FileKind, PathEffect, Target, Text};

static READ_ONLY: Rule = Rule::deny("protected-paths/read-only", Severity::High);
static NO_READ: Rule = Rule::deny("protected-paths/no-read", Severity::High);
static SECRET_WRITE: Rule = Rule::ask("protected-paths/secret-file", Severity::High);
static SYSTEM: Rule = Rule::ask("protected-paths/system", Severity::High);
static STARTUP: Rule = Rule::ask("protected-paths/startup-file", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "protected-paths",
    purpose: "configured paths, files of secrets, start-up files and the system stay as they are",
    rules: &[&READ_ONLY, &NO_READ, &SECRET_WRITE, &SYSTEM, &STARTUP],
    check,
};

/// Files that run at every start of a shell or session, or that let others in.
const STARTUP_FILES: &[&str] = &[
    "~/.bashrc",
    "~/.bash_profile",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.bash_login",
    "~/.bash_logout",
    "~/.ssh/**",
    "~/.gitconfig",
    "~/.config/git/**",
    "~/.config/fish/**",
    "~/.config/autostart/**",
    "~/Library/LaunchAgents/**",
    "~/.config/systemd/**",
    "/etc/cron*/**",
    "/etc/crontab",
    "/var/spool/cron/**",
    "/etc/profile.d/**",
    "~/.pam_environment",
    "~/.inputrc",
    "~/.vimrc",
    "~/.npmrc",
    "~/.cargo/config.toml",
    "~/.aws/**",
    "~/.kube/config",
    "~/.docker/config.json",
    "~/.bash_aliases",
    "~/.zlogin",
    "~/.zlogout",
    "~/.xprofile",
    "~/.xsession",
    "~/.config/environment.d/**",
    "~/.config/nvim/init.*",
    "~/.tmux.conf",
    "~/.pip/pip.conf",
    "~/.config/pip/pip.conf",
    "~/.condarc",
    "~/.pythonrc",
    "~/.irbrc",
    "~/.pryrc",
    "~/.gdbinit",
    "~/.lldbinit",
    "~/.psqlrc",
    "~/.sqliterc",
    "~/.screenrc",
    "~/.curlrc",
    "~/.wgetrc",
    "~/.hgrc",
    "~/.emacs",
    "~/.emacs.d/init.el",
    "~/.Rprofile",
    "~/.yarnrc",
    "~/.yarnrc.yml",
    "~/.cargo/env",
    "~/.cargo/config",
    "~/.oh-my-zsh/**",
    "~/.config/nushell/**",
    "~/.config/powershell/**",
    "~/.config/direnv/**",
    "~/.config/mise/**",
    "~/.vim/plugin/**",
    "~/.config/nvim/plugin/**",
    "~/.config/nvim/lua/**",
    "~/.gradle/init.gradle",
    "~/.gradle/init.d/**",
    "~/.config/i3/config",
    "~/.config/sway/config",
    "~/.config/hypr/**",
    "~/.config/kitty/kitty.conf",
    "~/.config/zed/settings.json",
    // What other agents and editors run or may do without asking.
    "**/.codex/config.toml",
    "~/.gemini/settings.json",
    "**/.cursor/hooks.json",
    "**/.codex/hooks.json",
    "~/.config/opencode/opencode.json",
    "~/.local/lib/python*/site-packages/*.pth",
    "**/.mcp.json",
    "**/.cursor/mcp.json",
    "**/.vscode/mcp.json",
    "**/claude_desktop_config.json",
    "~/.config/Code/User/settings.json",
    "~/Library/Application Support/Code/User/settings.json",
    "**/usercustomize.py",
    "**/sitecustomize.py",
];

/// Folders with the user's settings and keys. If one is moved away, programs no longer find them.
const OWN_FOLDERS: &[&str] = &["~/.ssh", "~/.gnupg", "~/.aws", "~/.kube", "~/.config"];

/// Programs that everything else calls. A file with such a name that is found first would replace them.
const CALLED: &[&str] = &[
    "git",
    "ls",
    "cat",
    "rm",
    "cp",
    "mv",
    "grep",
    "find",
    "sudo",
    "su",
    "ssh",
    "scp",
    "sh",
    "bash",
    "zsh",
    "env",
    "curl",
    "wget",
    "gpg",
    "claude",
    "node",
    "context-graph",
];

/// Files that only an administrator should change. `lists::SYSTEM_FOLDERS` are the folders that nobody should remove.
const SYSTEM_FILES: &[&str] = &[
    "/etc/**",
    "/usr/**",
    "/bin/**",
    "/sbin/**",
    "/lib/**",
    "/lib64/**",
    "/boot/**",
    "/sys/**",
    "/proc/**",
    "/System/**",
    "/Library/**",
    "/Applications/**",
    "/var/lib/**",
    "/var/spool/**",
    "/root/**",
    "C:/Windows/**",
];

fn check(case: &Case<'_>, found: &mut Findings) {
    for effect in &case.effects.paths {
        let target = &effect.target;
        let changes = matches!(effect.access, Access::Write | Access::Delete | Access::Permissions);
        let shown = || target.path.to_string();
        let configured = |list: &[String]| {
            list.iter().any(|pattern| {
                hits_configured(target, pattern, case.ctx)
                    || (reaches_into(effect) && is_configured_folder(target, pattern, case.ctx))
                    || (takes_along(effect) && holds_configured(target, pattern, case.ctx))
            })
        };
        if changes && configured(&case.config.read_only) {
            found.add_at(
                &READ_ONLY,
                shown(),
                quoted!("`{}` would change `{}`, which is read-only here.", effect.by, shown()),
            );
        }
        if effect.access != Access::Execute && configured(&case.config.no_read) {
            found.add_at(
                &NO_READ,
                shown(),
                quoted!("`{}` would touch `{}`, which is off limits here.", effect.by, shown()),
            );
        }
        if !changes
            || effect.access == Access::Permissions && (effect.by == "touch" || is_kept_private(case, effect))
        {
            continue;
        }
        let any = |patterns: &[&str]| patterns.iter().any(|pattern| hits(target, pattern, case.ctx));
        let temporary = target.literal().is_some_and(|path| is_passing(path, case.ctx));
        if effect.access != Access::Permissions
            && !temporary
            && !is_new_from_template(case, effect)
            && (is_secret_file(target, case) || is_key(target, case))
        {
            found.add_at(
                &SECRET_WRITE,
                shown(),
                quoted!("`{}` would change a file of secrets (`{}`).", effect.by, shown()),
            );
        } else if any(STARTUP_FILES)
            || effect.access == Access::Delete && any(OWN_FOLDERS)
            || shadows_program(case, effect)
        {
            found.add_at(
                &STARTUP,
                shown(),
                quoted!("`{}` would change what runs at every start (`{}`).", effect.by, shown()),
            );
        } else if any(SYSTEM_FILES) && !is_own(case, known_part(target)) || unpacks_at_root(effect) {
            found.add_at(
                &SYSTEM,
                shown(),
                quoted!("`{}` would change the system (`{}`).", effect.by, shown()),
            );
        }
    }
}

/// Files that programs expect to be closed to others.
const PRIVATE: &[&str] =
    &["~/.ssh", "~/.ssh/**", "~/.gnupg", "~/.gnupg/**", "~/.aws/**", "~/.kube/**", "~/.netrc", "~/.pgpass"];

/// `chmod 600 ~/.ssh/config`: only takes rights away from others, as `ssh` requires.
fn is_kept_private(case: &Case<'_>, effect: &PathEffect) -> bool {
    let is_own = PRIVATE.iter().any(|pattern| hits(&effect.target, pattern, case.ctx));
    if effect.by != "chmod" || !is_own {
        return false;
    }
    let mut modes = case.runs().filter(|run| run.name == "chmod").peekable();
    modes.peek().is_some()
        && modes
            .all(|run| matches!(run.arg(0), "600" | "0600" | "700" | "0700" | "400" | "go-rwx" | "og-rwx"))
}

/// Whether a file in the user's program folder, or in another folder of the search path, takes the name of a program that everything calls.
fn shadows_program(case: &Case<'_>, effect: &PathEffect) -> bool {
    let Some((folder, name)) = effect.target.literal().and_then(|path| path.rsplit_once('/')) else {
        return false;
    };
    // A link names its target, so it only counts if the target is in a folder that everybody can write to.
    let leads_astray = || {
        case.runs().any(|run| {
            let open = |arg: &Text| arg.literal().is_some_and(|path| is_passing(path, case.ctx));
            run.name == "ln" && run.args.iter().any(open)
        })
    };
    (if effect.by == "ln" { leads_astray() } else { CALLED.contains(&name) })
        && effect.access == Access::Write
        && (folder.strip_prefix(case.ctx.home.trim_end_matches('/')).is_some_and(|folder| {
            matches!(
                folder,
                "/.local/bin" | "/bin" | "/.bin" | "/.cargo/bin" | "/go/bin" | "/.bun/bin" | "/.deno/bin"
            )
        }) || case.ctx.fs.is_searched(folder)
            && !SYSTEM_FILES.iter().any(|pattern| hits(&effect.target, pattern, case.ctx)))
}

/// Whether an effect on a folder also affects its content, or gives another path to it.
fn reaches_into(effect: &PathEffect) -> bool {
    effect.recursive
        || matches!(effect.access, Access::Delete | Access::Search)
        || matches!(effect.by.as_str(), "ln" | "link")
}

/// Whether the whole tree is affected and no part can be excluded. Searching and packing can exclude parts.
fn takes_along(effect: &PathEffect) -> bool {
    effect.recursive
        && (effect.access == Access::Delete
            || (effect.access == Access::Read && matches!(effect.by.as_str(), "cp" | "ditto" | "scp")))
}

/// Whether this is a new `.env` made from the project's template, which has no secret yet, or a newly generated
/// key.
fn is_new_from_template(case: &Case<'_>, effect: &PathEffect) -> bool {
    let name = effect.target.path.file_name().to_string();
    let exists = effect
        .target
        .literal()
        .is_some_and(|path| matches!(case.ctx.fs.kind(path), Some(FileKind::File | FileKind::Link(_))));
    let made =
        matches!(effect.by.as_str(), "openssl" | "mkcert" | "certtool") && effect.access == Access::Write;
    !exists && (effect.from_template && name.starts_with(".env") || made && is_within_project(case, effect))
}

fn is_within_project(case: &Case<'_>, effect: &PathEffect) -> bool {
    effect.target.literal().is_some_and(|path| is_within(path, case.ctx.project))
}

/// Whether an archive is unpacked at the root of the system.
fn unpacks_at_root(effect: &PathEffect) -> bool {
    matches!(effect.by.as_str(), "tar" | "bsdtar" | "gtar" | "unzip")
        && effect.target.path.0.len() == 2
        && effect.target.path.prefix() == "/"
}

/// A path, or its known folder.
fn known_part(target: &Target) -> Option<&str> {
    target.literal().or_else(|| target.path.prefix().rsplit_once('/').map(|(folder, _)| folder))
}

fn is_own(case: &Case<'_>, path: Option<&str>) -> bool {
    // If root is the user, root's home is an ordinary home folder.
    let in_roots_home = |path: &str| is_within(path, "/root") && is_within(case.ctx.project, "/root");
    path.is_some_and(|path| {
        in_roots_home(path) || [case.ctx.project, case.ctx.home].iter().any(|own| is_within(path, own))
    })
}

#[cfg(test)]
mod tests;
