//! Asks about what the tables list as dangerous, and has one rule for programs without a description.

use context_graph_events::quoted;
use context_graph_events::safe_text::tame;

use super::destructive_data::{
    CLOUD, CONTAINER, DATABASE, is_composed_for_tests, is_for_tests, is_one_pod, is_passing_scan,
    is_request_here, removes_finished,
};
use super::destructive_git::is_put_aside;
use super::destructive_system::{DISK, is_on_file};
use super::secrets::{SHOW, is_passed_on};
use super::{Case, Findings, GUARDS, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Access, Text};
use crate::programs::row::{ProgramStop, Reach, TAUGHT as TAUGHT_ID};
use crate::programs::{Invocation, Row, known};

static TAUGHT: Rule = Rule::ask(TAUGHT_ID, Severity::High);
static DESTROYS: Rule = Rule::ask("programs/destroys", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "programs",
    purpose: "programs do not destroy data without a question",
    rules: &[&TAUGHT, &DESTROYS],
    check,
};

/// Verbs that destroy something.
const VERBS: &[&str] = &[
    "delete",
    "destroy",
    "purge",
    "drop",
    "wipe",
    "revoke",
    "reset",
    "rm",
    "remove",
    "erase",
    "nuke",
    "terminate",
    "unregister",
    "deregister",
    "undeploy",
    "unpublish",
    "decommission",
    "truncate",
    "obliterate",
    "disable",
    "del",
    "teardown",
    "shred",
    "rmdir",
    "rmr",
    "deleteall",
    "uninstall",
];

fn check(case: &Case<'_>, found: &mut Findings) {
    for call in &case.calls {
        let mut stops: Vec<&ProgramStop> = call.stopped().collect();
        let added = case.known.added(&call.run.name);
        if let Some(row) = added.filter(|row| call.rows.first().is_none_or(|read| !std::ptr::eq(*read, *row)))
        {
            stops.extend(call.stopped_by(&row.stops));
        }
        let mut said = false;
        for stop in stops {
            said |= report(case, call, stop, found);
        }
        if !said && destroys(case, call, added) {
            let rule = if known(&call.run.name).is_some() { &CLOUD } else { &DESTROYS };
            found.add(rule, quoted!("`{}` would destroy something beyond the project.", call.shown()));
        }
    }
}

/// Reports what a table says, unless the target is temporary or otherwise excused.
fn report(case: &Case<'_>, call: &Invocation<'_>, stop: &ProgramStop, found: &mut Findings) -> bool {
    let Some(rule) = rule_of(&stop.rule) else { return false };
    if is_excused(case, call, rule) {
        return true;
    }
    let says = if stop.says.is_empty() { consequence(rule.id) } else { stop.says.as_ref() };
    found.add(rule, format!("{} {}.", quoted!("`{}`", call.shown()), tame(says, 200)));
    true
}

fn rule_of(id: &str) -> Option<&'static Rule> {
    GUARDS.iter().flat_map(|guard| guard.rules).find(|rule| rule.id == id).copied()
}

/// Whether the call is excused: for example, it only affects test data, temporary files or a disk image.
fn is_excused(case: &Case<'_>, call: &Invocation<'_>, rule: &Rule) -> bool {
    if std::ptr::eq(rule, &raw const DATABASE) {
        is_for_tests(call) || is_passing_scan(case, call.run)
    } else if std::ptr::eq(rule, &raw const CONTAINER) {
        removes_finished(case, call) || is_composed_for_tests(call) || is_one_pod(call)
    } else if std::ptr::eq(rule, &raw const DISK) {
        is_on_file(case, call)
    } else if std::ptr::eq(rule, &raw const CLOUD) {
        is_request_here(call)
    } else if std::ptr::eq(rule, &raw const SHOW) {
        is_passed_on(case, call)
    } else {
        rule.id.starts_with("destructive-git/") && call.run.name == "git" && is_put_aside(case, call)
    }
}

/// The consequence, for a stop without `says`.
fn consequence(rule: &str) -> &'static str {
    match rule {
        "destructive-data/database" => "would delete data",
        "destructive-data/container" => "would delete containers, volumes or workloads",
        "destructive-data/cloud" => "would delete stored data",
        "destructive-data/registry" => "would withdraw what is published",
        "destructive-system/disk" => "would change a disk",
        "destructive-system/machine" => "would change or stop the machine",
        "destructive-git/discard-changes" => "would throw changes away",
        "destructive-git/rewrite-history" => "would remove history",
        "secrets/show-credential" => "would show a credential",
        "exfiltration/exposure" => "would open this machine to others",
        "exfiltration/upload" => "would send files to others",
        "privilege/grant" => "would give others control of the machine",
        "hook-bypass/hook-file" => "would change the git hooks",
        _ => "needs your consent here",
    }
}

/// Whether an undescribed program, or one that works on remote data, is given a destructive verb.
fn destroys(case: &Case<'_>, call: &Invocation<'_>, added: Option<&Row>) -> bool {
    let name = call.run.name.as_str();
    let reach = call.rows.iter().rev().find_map(|row| row.reach).or_else(|| added.and_then(|row| row.reach));
    match (reach, known(name)) {
        (Some(Reach::Local), _) | (None, Some(_)) => return false,
        (Some(Reach::Outside), _) => {
            return !call.is_quiet() && call.words.iter().take(4).any(|word| is_verb(word.known()));
        }
        (None, None) => {}
    }
    // A script does what its project intends.
    let is_script =
        name.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "sh" | "py" | "js" | "ts" | "rb" | "pl"))
            || case.effects.paths.iter().any(|effect| effect.access == Access::Execute && effect.by == name);
    !is_script
        && !call.has_any(&["--dry-run", "--dryrun", "--help", "-h", "--whatif", "--simulate"])
        && (verb_of(call) || is_removing_cmdlet(name))
}

/// `Remove-EC2Instance`: the name of a PowerShell command contains the verb. Objects of the session itself are
/// no loss.
fn is_removing_cmdlet(name: &str) -> bool {
    const OWN: &[&str] = &[
        "alias",
        "breakpoint",
        "cimsession",
        "comobject",
        "event",
        "item",
        "job",
        "module",
        "package",
        "psbreakpoint",
        "psdrive",
        "psresource",
        "psreadlinekeyhandler",
        "pssession",
        "pssnapin",
        "script",
        "typedata",
        "variable",
    ];
    name.split_once('-').is_some_and(|(verb, noun)| {
        matches!(verb, "remove" | "revoke" | "unregister" | "uninstall")
            && noun.chars().all(|c| c.is_ascii_alphanumeric())
            && !OWN.contains(&noun)
    })
}

/// Whether one of the first words is a destructive verb. A word right after an option may be its value, so a
/// target must follow it.
fn verb_of(call: &Invocation<'_>) -> bool {
    let args = &call.run.args;
    let mut words = 0;
    for (at, arg) in args.iter().enumerate().take(8) {
        let text = arg.known();
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace) {
            continue;
        }
        let behind_option = at.checked_sub(1).is_some_and(|before| {
            let before = args[before].prefix();
            before.starts_with('-') && !before.contains('=')
        });
        if is_verb(text) && (!behind_option || words < 2 && args.get(at + 1).is_some_and(is_no_option)) {
            return true;
        }
        if !behind_option {
            words += 1;
        }
        if words == 3 {
            return false;
        }
    }
    false
}

fn is_no_option(arg: &Text) -> bool {
    !arg.prefix().starts_with('-')
}

/// `delete`, `delete-job`, `delete_user`, `apps:destroy`, `DeleteInstance`.
fn is_verb(word: &str) -> bool {
    if word.len() > 40 || word.contains(['/', '.', '=', '@']) {
        return false;
    }
    let whole = |part: &str| VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(part));
    let leads = |mark: char| word.split_once(mark).is_some_and(|(first, _)| whole(first));
    let second = word.char_indices().skip(1).find(|(_, c)| c.is_ascii_uppercase());
    let is_led =
        second.is_some_and(|(at, _)| word.bytes().all(|c| c.is_ascii_alphanumeric()) && whole(&word[..at]));
    whole(word)
        || is_led
        || leads('-')
        || leads('_')
        || leads(':')
        || word.rsplit_once([':', '-']).is_some_and(|(_, last)| whole(last))
}
