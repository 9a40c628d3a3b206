//! Code that reaches files without naming them: by walking a folder, unpacking an archive, or locking.

use super::code_words::DELETES;
use super::literals::string_literals;
use super::{INLINE, has};
use crate::effects::path::{absolute_str, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Text, glob};

/// Calls that walk a folder, including hidden files.
const WALKS: &[&str] = &[
    "os.walk(",
    ".walk(",
    "rglob(",
    "file::find",
    "find.find(",
    "finddepth(",
    "fnm_dotmatch",
    "include_hidden",
    "walkdir",
];
/// Calls that change a file without removing it.
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
/// Signs that only some files are selected.
const PICKS: &[&str] = &[
    "if ", "if(", "endswith", "suffix", "fnmatch", "filter(", "unless ", "&&", " ? ", "match(", "in (", "=~",
    "grep",
];

/// Library calls of `chmod` and `chown` are judged like the programs of the same names.
pub(super) fn permissions(shell: &mut Shell<'_>, text: &str, targets: &[Text]) {
    let mut numbers = text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| {
        let digits = word.strip_prefix("0o").unwrap_or(word);
        (!digits.is_empty() && digits.bytes().all(|c| (b'0'..=b'7').contains(&c))).then_some(digits)
    });
    let mode = numbers.next_back().unwrap_or("000");
    for target in targets {
        let words = vec![Text::lit("chmod"), Text::lit(mode), target.clone()];
        shell.quietly(|shell| shell.run(words, Vec::new(), &Flow::default()));
    }
}

/// A walk that changes every file in a folder also changes our own files there.
pub(super) fn walk(shell: &mut Shell<'_>, bare: &str, code: &str) {
    let removes = has(bare, DELETES);
    let lists_all = bare.contains("readdir") && has(bare, &["recursive: true", "recursive:true"]);
    if !(lists_all || has(bare, WALKS)) || !(removes || has(bare, CHANGES)) || has(bare, PICKS) {
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
        is_within(kept, &root) && glob::matches(name, own_name) && shell.base.fs.kind(kept).is_some()
    });
    if let Some(kept) = reached {
        let access = if removes { Access::Delete } else { Access::Write };
        shell.touch(access, &Text::lit(kept), INLINE);
    }
}

/// Notes an archive that code unpacks.
pub(super) fn unpack(shell: &mut Shell<'_>, low: &str, targets: &[Text], code: &str) {
    if !has(low, &["extractall", "unpack_archive"]) {
        return;
    }
    let is_archive =
        |text: &str| [".zip", ".tar", ".tgz", ".gz", ".whl", ".jar"].iter().any(|end| text.ends_with(end));
    let here = Text::lit(".");
    let folder = targets.iter().find(|target| !is_archive(target.known())).unwrap_or(&here);
    let archive = string_literals(code).into_iter().find(|text| is_archive(text)).map(Text::lit);
    shell.unpack(INLINE, archive.as_ref(), folder, 0, &Flow::default());
}

/// Notes a lock that code takes: others that want the file wait.
pub(super) fn lock(shell: &mut Shell<'_>, bare: &str, code: &str) {
    if has(bare, &["flock(", "flock ", "lockf(", "flocksync("]) {
        for path in string_literals(code).iter().filter(|text| text.contains(['/', '.'])) {
            // Perl puts the mode of `open` before the name.
            let path = path.trim_start_matches(['<', '>', '+', ' ']);
            shell.touch(Access::Mention, &Text::from(path), INLINE);
        }
    }
}
