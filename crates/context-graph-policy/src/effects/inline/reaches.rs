//! Code that reaches what it does not name: through a walk over a folder, out of an archive, or by a lock.

use super::has;
use super::literals::string_literals;
use super::words::DELETES;
use crate::effects::path::{absolute_str, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Text, glob};

/// Ways to go through all that a folder holds, with what is hidden in it.
const WALKS: &[&str] = &[
    "os.walk(",
    ".walk(",
    "rglob(",
    "file::find",
    "find.find(",
    "finddepth(",
    "recursive: true",
    "recursive:true",
    "fnm_dotmatch",
    "include_hidden",
    "walkdir",
];
/// Ways to change a file besides removing it.
const CHANGES: &[&str] = &[
    "truncate",
    "write_text",
    "write_bytes",
    "writefile",
    "os.chmod",
    "chmodsync",
    "os.rename",
    "os.replace",
    "renamesync",
];
/// Signs that only some of it is meant.
const PICKS: &[&str] = &[
    "if ", "if(", "endswith", "suffix", "fnmatch", "filter(", "unless ", "&&", " ? ", "match(", "in (", "=~",
    "grep",
];

/// A walk over a folder that changes all it comes by takes along what is ours there.
pub(super) fn walk(shell: &mut Shell<'_>, bare: &str, code: &str) {
    let removes = has(bare, DELETES);
    if !has(bare, WALKS) || !(removes || has(bare, CHANGES)) || has(bare, PICKS) {
        return;
    }
    let literals = string_literals(code);
    let pattern = literals.iter().find(|text| text.contains('*'));
    let name = pattern.map_or("*", |pattern| pattern.rsplit('/').next().unwrap_or(pattern));
    let is_folder = |text: &&String| {
        matches!(text.as_str(), "." | ".." | "~") || text.contains('/') && !text.contains('*')
    };
    let from = literals
        .iter()
        .find(is_folder)
        .or_else(|| literals.iter().find(|text| text.len() > 2 && !text.contains('*')));
    let from = shell.home_expanded(&Text::from(from.map_or(".", String::as_str)));
    let Some(cwd) = shell.cwd().literal() else { return };
    let root = absolute_str(from.known(), cwd);
    let reached = shell.kept().into_iter().find(|kept| {
        let own_name = kept.rsplit('/').next().unwrap_or(kept);
        is_within(kept, &root) && glob::matches(name, own_name) && shell.places.fs.kind(kept).is_some()
    });
    if let Some(kept) = reached {
        let access = if removes { Access::Delete } else { Access::Write };
        shell.touch(access, &Text::lit(kept), "inline code");
    }
}

/// An archive that code unpacks.
pub(super) fn unpack(shell: &mut Shell<'_>, low: &str, targets: &[Text], code: &str) {
    if !has(low, &["extractall", "unpack_archive"]) {
        return;
    }
    let is_archive =
        |text: &str| [".zip", ".tar", ".tgz", ".gz", ".whl", ".jar"].iter().any(|end| text.ends_with(end));
    let here = Text::lit(".");
    let folder = targets.iter().find(|target| !is_archive(target.known())).unwrap_or(&here);
    let archive = string_literals(code).into_iter().find(|text| is_archive(text)).map(Text::lit);
    shell.unpack("inline code", archive.as_ref(), folder, 0, &Flow::default());
}

/// A lock that code holds: whoever else wants the file waits.
pub(super) fn lock(shell: &mut Shell<'_>, bare: &str, code: &str) {
    if has(bare, &["flock(", "lockf(", "flocksync("]) {
        for path in string_literals(code).iter().filter(|text| text.contains(['/', '.'])) {
            shell.touch(Access::Mention, &Text::from(path.as_str()), "inline code");
        }
    }
}
