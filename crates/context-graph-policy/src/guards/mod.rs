//! The built-in rules. Each guard of [`GUARDS`] has a file or folder with a `GUARD`, checks [`Effects`] and has its own
//! tests. The other files are helpers, used by several guards or by one of them.
//!
//! A guard reports what it finds. This module decides whether the call is refused: it drops switched-off rules and
//! exceptions, and notes why. Verdicts are chosen so that ordinary work passes: `deny` for what ordinary work never
//! does, `ask` for what it sometimes does.

mod destructive_data;
mod destructive_files;
mod destructive_git;
mod destructive_system;
mod exfiltration;
mod exposure;
mod git_index;
mod hook_bypass;
mod listed;
pub mod own_verbs;
mod places;
mod privilege;
mod programs;
mod protected_paths;
mod reach;
mod same;
mod secrets;
mod self_protection;
mod settings_here;
mod sizes;
mod switched_off;
#[cfg(test)]
pub(crate) mod testing;
mod unknown;
mod untracked;
mod voice;

use serde_json::Value;

use crate::config::{GuardVerdict, PolicyConfig};
use crate::decision::{Decision, Severity, Verdict};
use crate::effects::path::{Roots, follow};
use crate::effects::{Effects, Origin, Piece, Run, runs_commands};
use crate::programs::{Invocation, KnownPrograms};
use crate::{Context, config};
pub(crate) use destructive_data::{MODES, is_framework};
pub(crate) use exfiltration::token_named;

/// A guard and its rules.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// The guard's id, the first part of its rules' ids.
    pub id: &'static str,
    /// Its purpose.
    pub purpose: &'static str,
    /// Its rules.
    pub rules: &'static [&'static Rule],
    check: fn(&Case<'_>, &mut Findings),
}

/// A built-in rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// `guard/rule`.
    pub id: &'static str,
    /// The default verdict.
    pub verdict: GuardVerdict,
    /// How severe it is.
    pub severity: Severity,
}

impl Rule {
    const fn deny(id: &'static str, severity: Severity) -> Self {
        Self { id, verdict: GuardVerdict::Deny, severity }
    }

    const fn ask(id: &'static str, severity: Severity) -> Self {
        Self { id, verdict: GuardVerdict::Ask, severity }
    }
}

/// All built-in guards.
pub static GUARDS: &[&Guard] = &[
    &self_protection::GUARD,
    &secrets::GUARD,
    &protected_paths::GUARD,
    &destructive_files::GUARD,
    &destructive_git::GUARD,
    &destructive_system::GUARD,
    &destructive_data::GUARD,
    &programs::GUARD,
    &hook_bypass::GUARD,
    &exfiltration::GUARD,
    &privilege::GUARD,
    &unknown::GUARD,
];

/// Whether a guard or rule has this id.
pub fn exists(id: &str) -> bool {
    GUARDS.iter().any(|guard| guard.id == id || guard.rules.iter().any(|rule| rule.id == id))
}

/// Whether a rule keeps agents from our own commands. Users are not told how to make an exception for it: that would let
/// agents run these commands, and users can run them themselves.
pub fn is_about_own_verbs(rule: &str) -> bool {
    rule == self_protection::VERB.id
}

/// What a guard checks.
pub(crate) struct Case<'a> {
    pub(crate) effects: &'a Effects,
    pub(crate) ctx: &'a Context<'a>,
    pub(crate) config: &'a PolicyConfig,
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) command: &'a str,
    /// The tables of known programs.
    pub(crate) known: KnownPrograms<'a>,
    /// The programs that do something, with their parsed arguments.
    pub(crate) calls: Vec<Invocation<'a>>,
}

impl<'a> Case<'a> {
    /// The programs that do something. Calls that only print help or a version are left out.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &'a Run> + use<'a> {
        let runs: Vec<&'a Run> = self.calls.iter().map(|call| call.run).collect();
        runs.into_iter()
    }
}

/// What the guards found.
#[derive(Default)]
pub(crate) struct Findings(Vec<RawFinding>);

/// What one rule found, before the configuration is applied to it.
struct RawFinding {
    rule: &'static Rule,
    reason: String,
    path: Option<String>,
}

impl Findings {
    /// Adds a finding about the whole call.
    fn add(&mut self, rule: &'static Rule, reason: impl Into<String>) {
        self.0.push(RawFinding { rule, reason: reason.into(), path: None });
    }

    /// Adds a finding about a path.
    fn add_at(&mut self, rule: &'static Rule, path: impl Into<String>, reason: impl Into<String>) {
        self.0.push(RawFinding { rule, reason: reason.into(), path: Some(path.into()) });
    }
}

/// Runs all guards on one call.
pub(crate) fn check(
    config: &PolicyConfig,
    ctx: &Context<'_>,
    tool: &str,
    input: &Value,
    effects: &Effects,
) -> Decision {
    let command = input.get("command").and_then(Value::as_str).filter(|_| runs_commands(tool));
    let command = command.unwrap_or("").trim();
    let known = KnownPrograms::with(&config.programs);
    let calls = effects.runs.iter().map(|run| known.read(run)).filter(|call| !call.only_informs()).collect();
    let case = Case { effects, ctx, config, tool, input, command, known, calls };
    let mut found = Findings::default();
    for guard in GUARDS {
        (guard.check)(&case, &mut found);
    }
    found.0.into_iter().map(|finding| configured(&case, finding)).fold(Decision::none(), Decision::join)
}

/// Applies the configuration to a finding: switched off, excepted, or a decision.
fn configured(case: &Case<'_>, finding: RawFinding) -> Decision {
    let RawFinding { rule, reason, path } = finding;
    if !case.config.is_enabled(rule.id) {
        return Decision::none().with_note(format!("`{}` is switched off", rule.id));
    }
    if let Some(exception) =
        case.config.exceptions.iter().find(|exception| applies(exception, case, rule, path.as_deref()))
    {
        return Decision::none().with_note(format!("`{}` does not apply: {}", rule.id, exception.reason));
    }
    let verdict = match case.config.verdict(rule.id).unwrap_or(rule.verdict) {
        GuardVerdict::Ask => Verdict::Ask,
        GuardVerdict::Deny => Verdict::Deny,
    };
    Decision::of(verdict, rule.id, reason, rule.severity)
}

fn applies(exception: &config::Exception, case: &Case<'_>, rule: &Rule, path: Option<&str>) -> bool {
    let names = exception.rule == rule.id || rule.id.split('/').next() == Some(exception.rule.as_str());
    let at = match (&exception.path, path) {
        (Some(pattern), Some(path)) => covers(pattern, path, case),
        (Some(_), None) => false,
        (None, _) => true,
    };
    let with = |command: &String| command.trim() == case.command || same::does_the_same(case, command.trim());
    // An exception for a command covers the places that it names, not where a link leads in the meantime.
    let here = || exception.path.is_some() || path.is_none_or(|path| !leads_elsewhere(path, case));
    names && at && exception.command.as_ref().is_none_or(|command| with(command) && here())
}

/// Whether a link is on the way to a path, below the project or elsewhere. Links of the system itself (`/tmp` of macOS,
/// `/bin`) and those that lead to the project do not count.
fn leads_elsewhere(path: &str, case: &Case<'_>) -> bool {
    let ctx = case.ctx;
    let roots = Roots::new(ctx.project, ctx.home, ctx.fs);
    let is_moved = |place: &str| {
        follow(place, ctx.fs).is_some_and(|real| {
            let place = place.trim_end_matches('/');
            !real.ends_with(place) && roots.as_written(&real).is_none_or(|real| real != place)
        })
    };
    // The folder that a pattern is in, and what fits it.
    let folder =
        path.find(['*', '?', '[']).map_or(path, |at| path[..at].rsplit_once('/').map_or("", |(up, _)| up));
    let meant = case.effects.paths.iter().filter(|effect| effect.target.path.to_string() == path);
    is_moved(folder) || meant.flat_map(|effect| effect.target.places()).any(is_moved)
}

/// Whether a pattern covers a path and everything it leads to. A link that leads out of an excepted folder is not
/// excepted. Neither is a path that is not fully known.
fn covers(pattern: &str, path: &str, case: &Case<'_>) -> bool {
    let ctx = case.ctx;
    let roots = Roots::new(ctx.project, ctx.home, ctx.fs);
    let fits = |place: &str| {
        places::matches_configured(pattern, place, ctx)
            || roots.as_written(place).is_some_and(|place| places::matches_configured(pattern, &place, ctx))
    };
    let is_seen = |piece: &Piece| !matches!(piece, Piece::Hole(origin) if *origin != Origin::Below);
    fits(path)
        && follow(path, ctx.fs).is_none_or(|real| fits(&real))
        && case.effects.paths.iter().map(|effect| &effect.target).all(|target| {
            target.path.to_string() != path || target.path.0.iter().all(is_seen) && target.places().all(fits)
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::testing::decide_with;
    use super::{GUARDS, exists};
    use crate::config::{Exception, GuardConfig, GuardVerdict, PolicyConfig};
    use crate::{Decision, Verdict};

    const COMMAND: &str = "git reset --hard origin/main";

    fn decide(config: PolicyConfig) -> Decision {
        decide_with(config, "Bash", &json!({ "command": COMMAND }))
    }

    fn excepted(rule: &str, path: Option<&str>, command: Option<&str>) -> PolicyConfig {
        let exception = Exception {
            rule: rule.to_owned(),
            path: path.map(str::to_owned),
            command: command.map(str::to_owned),
            reason: "the release does this".to_owned(),
        };
        PolicyConfig { exceptions: vec![exception], ..PolicyConfig::default() }
    }

    #[test]
    fn ids_are_unique_and_begin_with_their_guard() {
        let mut ids: Vec<&str> =
            GUARDS.iter().flat_map(|guard| guard.rules.iter().map(|rule| rule.id)).collect();
        for guard in GUARDS {
            assert!(
                guard.rules.iter().all(|rule| rule.id.split('/').next() == Some(guard.id)),
                "{}",
                guard.id
            );
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert!(exists("secrets") && exists("secrets/read-key") && !exists("secrets/x"));
    }

    #[test]
    fn a_rule_can_be_switched_off_or_made_stricter() {
        let with = |guard: GuardConfig| PolicyConfig {
            guards: [("destructive-git/reset-hard".to_owned(), guard)].into(),
            ..PolicyConfig::default()
        };
        let off = decide(with(GuardConfig { enabled: Some(false), ..GuardConfig::default() }));
        assert_eq!(off.verdict(), &Verdict::None);
        assert!(off.notes().any(|note| note.contains("switched off")));
        let strict =
            decide(with(GuardConfig { verdict: Some(GuardVerdict::Deny), ..GuardConfig::default() }));
        assert_eq!(strict.verdict(), &Verdict::Deny);
    }

    #[test]
    fn an_exception_holds_where_it_says_and_keeps_its_reason() {
        let granted = decide(excepted("destructive-git/reset-hard", None, Some(COMMAND)));
        assert_eq!(granted.verdict(), &Verdict::None);
        assert!(granted.notes().any(|note| note.contains("the release does this")));
        let other = decide(excepted("destructive-git/reset-hard", None, Some("git reset --hard")));
        assert_eq!(other.verdict(), &Verdict::Ask);
        let read = |config| decide_with(config, "Read", &json!({"file_path": "/proj/app/ci/.env"}));
        assert_eq!(read(excepted("secrets", Some("ci/**"), None)).verdict(), &Verdict::None);
        assert_eq!(read(excepted("secrets", Some("web/**"), None)).verdict(), &Verdict::Ask);
        let skill =
            json!({"file_path": "/proj/app/.claude/skills/lint/SKILL.md", "content": "---\nhooks:\n---\n"});
        let write = |config| decide_with(config, "Write", &skill);
        let rule = "self-protection/client-settings";
        assert_eq!(write(excepted(rule, Some(".claude/skills/**"), None)).verdict(), &Verdict::None);
        assert_eq!(write(excepted(rule, Some(".claude/agents/**"), None)).verdict(), &Verdict::Ask);
    }
}
