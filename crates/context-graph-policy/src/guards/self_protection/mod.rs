//! Our own state and configuration, and the client's settings that call us. Whoever can change these can switch
//! the guard off, so every tool and every way to write is checked.

mod yaml_head;

use context_graph_events::quoted;

use super::places::{has_extension, hits, is_within};
use super::settings_here::{are_agents_used, holds_settings, is_another, replaces_folder};
use super::{Case, Findings, Guard, Rule, own_verbs, reach, switched_off, voice};
use crate::decision::Severity;
use crate::effects::path::absolute_str;
use crate::effects::{Access, NamedPlaces, PathEffect, Target, Text, agent_settings};
use crate::programs::{Given, Invocation, Role, lists};
use crate::scripts::written_texts;

static STATE: Rule = Rule::deny("self-protection/state", Severity::Critical);
static POLICY: Rule = Rule::ask("self-protection/policy", Severity::Critical);
static TRUST: Rule = Rule::deny("self-protection/trust", Severity::Critical);
static SETTINGS: Rule = Rule::ask("self-protection/client-settings", Severity::Critical);
static SWITCH: Rule = Rule::ask("self-protection/switch-off", Severity::Critical);
static PROCESS: Rule = Rule::deny("self-protection/process", Severity::Critical);
static TRANSCRIPT: Rule = Rule::ask("self-protection/transcript", Severity::Critical);
static VOICE: Rule = Rule::ask("self-protection/voice", Severity::Critical);
pub(super) static VERB: Rule = Rule::deny("self-protection/verb", Severity::Critical);

pub(super) static GUARD: Guard = Guard {
    id: "self-protection",
    purpose: "our state, our configuration and the agent's hook settings stay as they are",
    rules: &[&STATE, &POLICY, &TRUST, &SETTINGS, &SWITCH, &PROCESS, &TRANSCRIPT, &VOICE, &VERB],
    check,
};

const POLICY_FILES: &[&str] = &[
    "./.context-graph/policy.toml",
    "./.context-graph/policies",
    "./.context-graph/policies/**",
    "./.context-graph/policies/*.rego",
    "~/.config/context-graph",
    "~/.config/context-graph/**",
    "~/.local/share/context-graph/**",
    "~/.local/state/context-graph/**",
    "**/context-graph/policy.toml",
];
/// In any folder, because a variable can move the user's configuration out of the home folder.
const TRUST_FILES: &[&str] = &["**/context-graph/trust", "**/context-graph/trust/**"];
/// The user's secret, the heads of the chains and the team's policy: only our program has a reason to change these.
const PRIVATE_FILES: &[&str] = &["**/context-graph/private", "**/context-graph/private/**"];
/// The folder that contains the trust and private files.
const OWN_FOLDER: &[&str] = &["~/.config/context-graph"];
/// The conversation of a session. A client that resumes the session trusts this file, and so does `import`.
const TRANSCRIPTS: &[&str] = &[
    "~/.claude/projects/**/*.jsonl",
    "~/.claude/history.jsonl",
    "~/.codex/sessions/**/*.jsonl",
    "~/.gemini/tmp/*/chats/*.json",
];
/// Chain heads are stored outside the project, in a file with this ending.
const STATE_FILES: &[&str] = &["**/.context-graph", "**/.context-graph/**", "**/*heads.jsonl"];
const SETTINGS_FILES: &[&str] = &[
    "**/.claude/settings.json",
    "**/.claude/settings*",
    "~/.claude/hooks",
    "~/.claude/hooks/**",
    "./.claude/hooks",
    "./.claude/hooks/**",
    "~/.claude.json",
    "~/.claude/session-env/**",
    "~/.claude/plugins/**",
    "~/.claude/shell-snapshots/**",
    "~/.claude/local/**",
    "~/.claude/*.json",
    "~/.claude/*.sh",
    "~/.claude/*.py",
    "~/.claude/*.js",
    "~/.claude/*.mjs",
    "~/.local/share/claude/**",
    "**/@anthropic-ai/claude-code/**",
    "/etc/claude-code/**",
    "/Library/Application Support/ClaudeCode/**",
    "C:/ProgramData/ClaudeCode/**",
    "C:/Program Files/ClaudeCode/**",
];

fn check(case: &Case<'_>, found: &mut Findings) {
    for effect in &case.effects.paths {
        by_path(case, effect, found);
    }
    for effect in case.effects.paths.iter().filter(|effect| encloses_home(case, effect)) {
        let shown = effect.target.path.to_string();
        found.add_at(
            &SWITCH,
            shown.as_str(),
            quoted!("`{}` would make your home a part of a repository (`{}`).", effect.by, shown),
        );
    }
    for call in &case.calls {
        by_program(case, call, found);
    }
    for (path, text) in written_texts(case.tool, case.input, case.effects) {
        if brings_hooks(path, text) {
            found.add_at(&SETTINGS, path, quoted!("`{}` would bring hooks that the client runs.", path));
        }
    }
}

/// Whether a file of an agent or a skill registers hooks in its head.
fn brings_hooks(path: &str, text: &str) -> bool {
    let place = absolute_str(path, "/");
    let is_own = ["/.claude/agents/", "/.claude/skills/", "/.claude/commands/"]
        .iter()
        .any(|folder| place.contains(folder));
    if !is_own || !place.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("md")) {
        return false;
    }
    // YAML ends a line at a lone `\r`, too.
    let text = text.trim_start_matches('\u{feff}').replace('\r', "\n");
    match text.strip_prefix("---") {
        Some(head) => yaml_head::names_hooks(head.split("\n---").next().unwrap_or(head)),
        // An edit may add the key without the lines around it.
        None => text.lines().any(yaml_head::is_hooks),
    }
}

/// An effect on a file of ours, or on one that calls us.
fn by_path(case: &Case<'_>, effect: &PathEffect, found: &mut Findings) {
    let target = &effect.target;
    match effect.access {
        Access::Write | Access::Delete | Access::Permissions => {}
        Access::Mention if !reads_only(&effect.by) => {}
        // A link lets the file be changed under another name.
        Access::Read if matches!(effect.by.as_str(), "ln" | "link") => {}
        _ => return,
    }
    let any = |patterns: &[&str]| patterns.iter().any(|pattern| hits(target, pattern, case.ctx));
    let shown = target.path.to_string();
    if let Some((rule, what)) = case.ctx.fs.named_places().and_then(|named| in_named(named, effect)) {
        let by = quoted!("`{}` would change", effect.by);
        found.add_at(rule, shown.as_str(), format!("{by} {what} ({}).", quoted!("`{}`", shown)));
        return;
    }
    let goes_along = matches!(effect.access, Access::Delete | Access::Permissions);
    if any(TRUST_FILES) || shown.contains("/context-graph/trust/") {
        found.add_at(
            &TRUST,
            shown.as_str(),
            quoted!("`{}` would change what the user has trusted (`{}`).", effect.by, shown),
        );
    } else if any(PRIVATE_FILES) || goes_along && any(OWN_FOLDER) {
        found.add_at(
            &STATE,
            shown.as_str(),
            quoted!("`{}` would change the guard's private files (`{}`).", effect.by, shown),
        );
    } else if any(POLICY_FILES) {
        found.add_at(
            &POLICY,
            shown.as_str(),
            quoted!("`{}` would change the guard's own configuration (`{}`).", effect.by, shown),
        );
    } else if any(STATE_FILES) || is_heads_file(case, target) {
        found.add_at(
            &STATE,
            shown.as_str(),
            quoted!("`{}` would change the guard's own records (`{}`).", effect.by, shown),
        );
    } else if any(TRANSCRIPTS) {
        found.add_at(
            &TRANSCRIPT,
            shown.as_str(),
            quoted!("`{}` would change what was said in a session (`{}`).", effect.by, shown),
        );
    } else if (any(SETTINGS_FILES)
        || (any(lists::AGENT_SETTINGS) || any(lists::AGENT_CODE)) && are_agents_used(case))
        && !is_another(case, target)
        || shuts_out(case, effect)
        || target.places().any(|place| is_installed(case, place))
        || takes_program(case, effect)
        || effect.access == Access::Read
            && effect.recursive
            && target.places().any(|place| place.ends_with("/.claude"))
        || ((effect.access == Access::Delete
            || effect.recursive
            || effect.by == "cp" && target.literal().is_some_and(|place| replaces_folder(case, place))
            || effect.access != Access::Read && matches!(effect.by.as_str(), "ln" | "link"))
            && holds_settings(case, target))
    {
        found.add_at(
            &SETTINGS,
            shown.as_str(),
            quoted!("`{}` would change the settings that call the guard (`{}`).", effect.by, shown),
        );
    }
}

/// The rule for an effect in a folder of ours, or of the client, that a variable names.
fn in_named(named: &NamedPlaces, effect: &PathEffect) -> Option<(&'static Rule, &'static str)> {
    let goes_along = effect.access == Access::Delete || effect.recursive;
    let is_in = |folder: &str| {
        effect.target.places().any(|place| is_within(place, folder) || goes_along && is_within(folder, place))
    };
    if named.state.as_deref().is_some_and(is_in) {
        return Some((&STATE, "the guard's own records"));
    }
    if let Some(own) = named.own.as_deref().filter(|own| is_in(own)) {
        let is_below = |name: &str| is_in(&format!("{own}/{name}"));
        return Some(match () {
            () if is_below("trust") => (&TRUST, "what the user has trusted"),
            () if is_below("private") => (&STATE, "the guard's private files"),
            () => (&POLICY, "the guard's own configuration"),
        });
    }
    let client = named.client.as_deref()?;
    let is_settings = |place: &str| {
        let below = place.strip_prefix(client).and_then(|below| below.strip_prefix('/'));
        below.is_some_and(|name| {
            name.starts_with("settings")
                || ["hooks", "plugins", "local"].iter().any(|folder| is_within(name, folder))
        }) || goes_along && is_within(client, place)
    };
    effect.target.places().any(is_settings).then_some((&SETTINGS, "the settings that call the guard"))
}

/// What a program would do to the guard.
fn by_program(case: &Case<'_>, call: &Invocation<'_>, found: &mut Findings) {
    let run = call.run;
    if switched_off::rewrites_hooks(case, run) {
        found.add(&SETTINGS, quoted!("`{}` would change hooks in files that cannot be seen.", run.name));
    }
    if let Some(named) = named_unread(case, call) {
        found.add_at(
            &SETTINGS,
            named.as_str(),
            quoted!("`{}` names `{}`; its use cannot be determined.", run.name, named),
        );
    }
    if switched_off::is_switched_off(case, run) {
        found.add(&SWITCH, quoted!("`{}` would switch the guard off.", run.name));
    }
    if switched_off::limits_or_traces(case, run) {
        found.add(&PROCESS, quoted!("`{}` would suspend or starve the guard or the client.", run.name));
    }
    if let Some(how) = voice::speaks(case, call) {
        found.add(&VOICE, format!("{}: {how}.", quoted!("`{}` would speak in the user's name", run.name)));
    }
    if let Some(ours) = reach::reached(case, run) {
        let is_settings = ours.path.contains("/.claude/") || agent_settings::is_settings(&ours.path);
        let rule = if is_settings { &SETTINGS } else { &STATE };
        found.add_at(
            rule,
            ours.path.as_str(),
            quoted!(
                "`{}` would change or remove what the guard needs (`{}`). Leave that out.",
                run.name,
                ours.path
            ),
        );
    }
    if let Some(verb) = own_verbs::change(case, run) {
        found.add(
            &VERB,
            quoted!("`context-graph {}` is for the user's own terminal, not for an agent.", verb),
        );
    }
}

/// A settings file inside an argument that no parser recognised: `dest=…`, `CREATE:…`, `%output{…}`.
fn named_unread(case: &Case<'_>, call: &Invocation<'_>) -> Option<String> {
    let ends = |c: char| c.is_whitespace() || "=:@,{}()[]<>|;\"'`".contains(c);
    // All these files have one of these in their names.
    let inner = |arg: &&Text| {
        arg.literal().is_some_and(|text| {
            text.contains(ends) && (text.contains(".json") || text.contains("context-graph."))
        })
    };
    let mut parts = call.run.args.iter().filter(inner).flat_map(|arg| arg.known().split(ends));
    let part = parts.find(|part| agent_settings::is_settings(part))?;
    // Code is scanned separately.
    let is_code = |given: &Given<'_>| given.option.is_some_and(|option| option.takes.contains(&Role::Code));
    let is_read = lists::MENTIONS.contains(&call.run.name.as_str()) || call.given.iter().any(is_code);
    let below = format!("/{}", part.trim_start_matches("./"));
    let is_seen = || {
        let mut paths = case.effects.paths.iter().map(|effect| effect.target.path.to_string());
        paths.any(|path| path == part || path.ends_with(&below))
    };
    (!is_read && !is_seen()).then(|| part.to_owned())
}

/// Whether this is an installed program with our name, not one that the project builds. A virtual environment of the
/// project may be the first folder on the search path.
fn is_installed(case: &Case<'_>, place: &str) -> bool {
    (place.ends_with("/bin/context-graph") || place.ends_with("/.bin/context-graph"))
        && (!is_within(place, case.ctx.project)
            || [".venv/", "venv/", ".direnv/", "node_modules/"].iter().any(|folder| place.contains(folder))
            || case.ctx.fs.program().is_some_and(|ours| ours == place))
}

/// Whether the home folder would become part of a repository. Files in it may then have come with the
/// repository, so the user's own folder would no longer count as the user's.
fn encloses_home(case: &Case<'_>, effect: &PathEffect) -> bool {
    let makes = matches!(effect.access, Access::Write | Access::Permissions);
    makes
        && effect.target.places().any(|place| {
            place.strip_suffix("/.git").is_some_and(|folder| is_within(case.ctx.home, folder))
                && case.ctx.fs.kind(place).is_none()
        })
}

/// Whether the program that decides about calls is changed, or removed together with a folder.
fn takes_program(case: &Case<'_>, effect: &PathEffect) -> bool {
    let target = &effect.target;
    let goes_along = effect.access == Access::Delete || effect.recursive;
    let changes = matches!(effect.access, Access::Write | Access::Delete | Access::Permissions);
    // Looks up the program only for paths outside the project, or if a whole folder is affected.
    let is_near = |place: &str| is_within(place, case.ctx.project);
    if !changes || !goes_along && target.places().all(is_near) || target.places().next().is_none() {
        return false;
    }
    case.ctx.fs.program().is_some_and(|program| {
        target.places().any(|place| place == program || goes_along && is_within(&program, place))
    })
}

/// Whether a folder above our files is closed to its owner.
fn shuts_out(case: &Case<'_>, effect: &PathEffect) -> bool {
    let closes = |mode: &str| match u32::from_str_radix(mode, 8) {
        Ok(mode) => (mode >> 6) & 5 != 5,
        Err(_) => mode
            .split(',')
            .filter_map(|part| part.split_once(['-', '=']).map(|(who, what)| (part, who, what)))
            .any(|(part, who, what)| {
                let own = who.is_empty() || who.contains(['u', 'a']);
                own && if part.contains('=') { !what.contains('x') } else { what.contains(['x', 'r']) }
            }),
    };
    effect.access == Access::Permissions
        && effect.by == "chmod"
        && (holds_settings(case, &effect.target) || is_on_the_way(case, &effect.target))
        && case.runs().any(|run| {
            run.name == "chmod"
                && run.args.iter().map(Text::known).any(|mode| !mode.contains('/') && closes(mode))
        })
}

/// Whether our program is below a folder outside the project.
fn is_on_the_way(case: &Case<'_>, target: &Target) -> bool {
    let outside = target.places().any(|place| !is_within(place, case.ctx.project));
    outside
        && case
            .ctx
            .fs
            .program()
            .is_some_and(|program| target.places().any(|place| is_within(&program, place)))
}

/// The start of a line in the file of chain heads. The user chooses where it is.
const HEADS_BEGIN: &[u8] = b"{\"at_ms\":";

/// Whether a file outside the project holds chain heads. It may have any name that ends in `.jsonl`.
fn is_heads_file(case: &Case<'_>, target: &Target) -> bool {
    target.places().any(|place| {
        has_extension(place, &["jsonl"])
            && !is_within(place, case.ctx.project)
            && case.ctx.fs.content(place, 512).is_some_and(|content| {
                let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
                line.starts_with(HEADS_BEGIN) && line.windows(8).any(|part| part == b"\"head\":\"")
            })
    })
}

/// Programs that get a path but do not change it.
fn reads_only(by: &str) -> bool {
    lists::READS_ONLY.contains(&by)
}

#[cfg(test)]
mod tests;
