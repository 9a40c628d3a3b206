//! References to other packages that do not exist.
//!
//! In Rego a missing name is undefined, and a rule that needs it never decides: a guard without its helper
//! would silently stay open. Only the folder's files are below `data`, so everything that is used of it must be
//! in them. An unused import does no harm.

use regorus::Engine;
use regorus::unstable::{Import, Module, Rule, RuleHead};

use super::engine::name_of;
use super::error::{RegoError, RegoErrorKind};
use super::set::within;
use super::tokens::{Token, tokens};

/// Files that use something of a package that is not loaded: the first such name of each.
pub(super) fn unresolved(engine: &mut Engine) -> Vec<RegoError> {
    let modules = engine.get_modules();
    let leads_somewhere = |name: &str| modules.iter().any(|module| leads_to(name, module));
    let mut found = Vec::new();
    for module in modules {
        let source = &module.package.span.source;
        let names = Names { imports: &module.imports };
        // Searching for the names is faster than splitting a text into tokens, which is seldom needed.
        if !names.roughly(source.contents()).any(|name| !leads_somewhere(&name)) {
            continue;
        }
        if let Some((line, name)) = names.used(source.contents()).find(|(_, name)| !leads_somewhere(name)) {
            let what = format!("nothing is called `data.{name}`: no file of the folder defines it");
            found.push(RegoError::new(source.file(), Some(line), RegoErrorKind::Compile(what)));
        }
    }
    found
}

/// The names by which a file refers to what is below `data`.
struct Names<'a> {
    imports: &'a [Import],
}

impl<'a> Names<'a> {
    /// Each alias and its meaning: `data` itself, and each import.
    fn aliases(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let imported = self.imports.iter().filter_map(|import| {
            let name = import.refr.span().text().strip_prefix("data.")?;
            let alias = match &import.r#as {
                Some(alias) => alias.text(),
                None => name.rsplit('.').next().unwrap_or(name),
            };
            Some((alias, name))
        });
        [("data", "")].into_iter().chain(imported)
    }

    /// Every name that a text seems to use, possibly in a comment.
    fn roughly(&self, text: &'a str) -> impl Iterator<Item = String> {
        self.aliases().flat_map(move |(alias, name)| {
            let found = text.match_indices(alias).filter_map(move |(at, _)| {
                let is_part = text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
                let rest = &text[at + alias.len()..];
                let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
                let rest = &rest[..end.unwrap_or(rest.len())];
                (!is_part && (rest.is_empty() || rest.starts_with('.'))).then_some(rest)
            });
            found.filter_map(move |rest| full(name, rest.trim_matches('.')))
        })
    }

    /// Every name that a text uses, with its line.
    fn used(&self, text: &'a str) -> impl Iterator<Item = (u32, String)> {
        let mut is_import = false;
        tokens(text).into_iter().filter_map(move |(line, token)| {
            let Token::Name(path) = token else { return None };
            if std::mem::replace(&mut is_import, matches!(path, "import" | "as")) {
                return None;
            }
            let (first, rest) = path.split_once('.').unwrap_or((path, ""));
            let (_, name) = self.aliases().find(|(alias, _)| *alias == first)?;
            Some((line, full(name, rest)?))
        })
    }
}

/// A name below `data`; `None` for `data` itself, because its members can be computed.
fn full(name: &str, rest: &str) -> Option<String> {
    match (name, rest) {
        ("", "") => None,
        ("", one) | (one, "") => Some(one.to_owned()),
        _ => Some(format!("{name}.{rest}")),
    }
}

/// Whether a name means a module, a tree that contains it, or one of its rules.
fn leads_to(name: &str, module: &Module) -> bool {
    let package = module.package.refr.span().text();
    if within(package, name) {
        return true;
    }
    let member = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('.'));
    member.and_then(|rest| rest.split('.').next()).is_some_and(|member| defines(module, member))
}

/// Whether a module has a rule of this name.
fn defines(module: &Module, name: &str) -> bool {
    module.policy.iter().any(|rule| {
        let refr = match &**rule {
            Rule::Spec { head, .. } => match head {
                RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } | RuleHead::Func { refr, .. } => {
                    refr
                }
            },
            Rule::Default { refr, .. } => refr,
        };
        name_of(refr) == name
    })
}
