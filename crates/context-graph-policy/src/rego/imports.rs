//! References to other packages that do not exist.
//!
//! In Rego a missing name is undefined, and a rule that needs it never decides: a guard without its helper
//! would silently stay open. Only the folder's files are below `data`, so they must define every name below `data`
//! that a policy uses. An unused import does no harm.

use regorus::Engine;

use super::engine::defines;
use super::error::{RegoError, RegoErrorKind};
use super::outline::Module;
use super::set::within;
use super::tokens::Token;

/// Files that use something from a package that is not loaded, each with the first such name.
pub(super) fn unresolved(engine: &Engine, modules: &[Module<'_>]) -> Vec<RegoError> {
    let leads_somewhere = |name: &str| modules.iter().any(|module| leads_to(engine, name, module));
    let missing = |module: &Module<'_>| {
        let (line, name) = used(module).find(|(_, name)| !leads_somewhere(name))?;
        let what = format!("nothing is called `data.{name}`: no file of the folder defines it");
        Some(RegoError::new(&module.source.path, Some(line), RegoErrorKind::Compile(what)))
    };
    modules.iter().filter_map(missing).collect()
}

/// Every name below `data` that a file uses, with its line.
fn used<'a>(module: &Module<'a>) -> impl Iterator<Item = (u32, String)> {
    let aliases: Vec<(&'a str, String)> =
        [("data", String::new())].into_iter().chain(module.imports()).collect();
    let mut is_import = false;
    module.tokens.iter().filter_map(move |(line, token)| {
        let Token::Name(path) = token else { return None };
        if std::mem::replace(&mut is_import, matches!(*path, "import" | "as")) {
            return None;
        }
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let (_, name) = aliases.iter().find(|(alias, _)| *alias == first)?;
        Some((*line, full(name, rest)?))
    })
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
fn leads_to(engine: &Engine, name: &str, module: &Module<'_>) -> bool {
    let package = module.source.package.as_str();
    if within(package, name) {
        return true;
    }
    let member = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('.'));
    let member = member.and_then(|rest| rest.split('.').next());
    member.is_some_and(|member| defines(engine, module.source, member))
}
