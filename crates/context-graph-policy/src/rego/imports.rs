//! Imports and names of other packages that lead nowhere.
//!
//! What is not there is undefined in Rego, and a rule that needs it never decides: a guard that lost its helper would be
//! open without a word. So an import that is used has to lead somewhere. One that is not used does no harm.

use regorus::Engine;
use regorus::unstable::{Import, Module, Rule, RuleHead};

use super::engine::name_of;
use super::error::{RegoError, RegoErrorKind};
use super::set::within;
use super::words::{Word, words};

/// Every import of the loaded files that is used and names nothing that is loaded.
pub(super) fn dangling(engine: &mut Engine) -> Vec<RegoError> {
    let modules = engine.get_modules();
    let mut found = Vec::new();
    for module in modules.iter() {
        for import in &module.imports {
            let Some(name) = import.refr.span().text().strip_prefix("data.") else { continue };
            if modules.iter().any(|other| leads_to(name, other)) {
                continue;
            }
            let span = &import.span;
            if is_used(span.source.contents(), alias_of(import)) {
                let what = format!("it imports `data.{name}`, and no file defines that");
                found.push(RegoError::new(span.source.file(), Some(span.line), RegoErrorKind::Compile(what)));
            }
        }
    }
    found
}

/// Every name in the loaded files that is meant to be of another package and is not there: file, line, name.
pub(super) fn unknown_names(engine: &mut Engine) -> Vec<(String, u32, String)> {
    let modules = engine.get_modules();
    let mut found = Vec::new();
    for module in modules.iter() {
        let imported = |alias: &str| {
            let import = module.imports.iter().find(|import| alias_of(import) == alias)?;
            import.refr.span().text().strip_prefix("data.")
        };
        let source = &module.package.span.source;
        let mut is_import = false;
        for (line, word) in words(source.contents()) {
            let Word::Name(path) = word else { continue };
            if std::mem::replace(&mut is_import, matches!(path, "import" | "as")) {
                continue;
            }
            let (first, rest) = path.split_once('.').unwrap_or((path, ""));
            let name = match imported(first) {
                _ if rest.is_empty() => continue,
                _ if first == "data" => rest.to_owned(),
                Some(package) => format!("{package}.{rest}"),
                None => continue,
            };
            if !modules.iter().any(|other| leads_to(&name, other)) {
                found.push((source.file().clone(), line, format!("data.{name}")));
            }
        }
    }
    found
}

/// What a file calls an import.
fn alias_of(import: &Import) -> &str {
    match &import.r#as {
        Some(alias) => alias.text(),
        None => {
            let name = import.refr.span().text();
            name.rsplit('.').next().unwrap_or(name)
        }
    }
}

/// Whether a name means a module, a tree that holds it, or a rule of it.
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

/// Whether a text uses a name otherwise than by importing it.
fn is_used(text: &str, alias: &str) -> bool {
    let mut is_import = false;
    words(text).into_iter().any(|(_, word)| {
        let Word::Name(path) = word else {
            is_import = false;
            return false;
        };
        let was_import = std::mem::replace(&mut is_import, matches!(path, "import" | "as"));
        !was_import && path.split('.').next() == Some(alias)
    })
}
