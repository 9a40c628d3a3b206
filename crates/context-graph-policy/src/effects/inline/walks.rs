//! Code that walks a folder and removes or empties everything in it. The names are only known when the code runs, but
//! the starting folder is in the code.

use super::code_words::{DELETES, WALKS};
use super::{INLINE, Scan, computed, has};
use crate::effects::shell::Shell;
use crate::effects::{Access, Text};

/// Ways to empty a file. Code that writes something else may be repairing it.
const EMPTIES: &[&str] = &[
    "'w').close()",
    "\"w\").close()",
    "'wb').close()",
    "\"wb\").close()",
    "truncate(0)",
    "truncateSync(",
    "write_text('')",
    "write_text(\"\")",
];
/// Signs that only some files are selected.
const PICKS: &[&str] = &[
    "endswith",
    "suffix",
    "fnmatch",
    "filter(",
    "match(",
    "=~",
    "grep",
    ".test(",
    "includes(",
    "startswith",
];
/// Words of a condition, and the tests that tell files from folders.
const CONDITIONS: &[&str] = &["if ", "if(", "unless ", "&&", " ? "];
const KINDS: &[&str] = &[
    "isdirectory",
    "isfile",
    "is_file",
    "is_dir",
    "isdir",
    "islink",
    "is_link",
    "issymboliclink",
    "-f ",
    "-d ",
    "-f}",
    "-f)",
    "-f;",
    "-e ",
    "exists",
    "isdot",
    "file?",
    "directory?",
];
/// How much of the code around a condition is looked at.
const AROUND: usize = 48;

/// Notes the folders whose content is removed or emptied as a whole.
pub(super) fn emptied(shell: &mut Shell<'_>, scan: &Scan<'_>) {
    let bare = scan.bare.as_str();
    if !has(bare, WALKS) {
        return;
    }
    // `rmdir` only removes empty folders.
    let removes = has(&bare.replace("rmdir", ""), DELETES);
    if !(removes || has(scan.code, EMPTIES)) || has(bare, PICKS) || !takes_every_file(bare) {
        return;
    }
    let functions = functions(bare);
    let statements = super::literals::statements(scan.code);
    for text in statements.into_iter().filter(|text| text.len() < 4_000) {
        let statement = scan.read(text);
        let walks = has(&statement.low, WALKS);
        let calls = functions.iter().any(|name| is_called(&statement.low, &format!("{name}(")));
        if !walks && !calls {
            continue;
        }
        let is_root = |target: &&Text| {
            let path = target.known();
            path.starts_with(['/', '~', '.']) && !path.contains('*')
        };
        let mut roots: Vec<Text> = statement.targets.iter().filter(is_root).cloned().collect();
        if roots.is_empty() {
            roots.extend(computed::place(&statement.low).map(Text::lit));
        }
        for root in roots.iter().take(4) {
            shell.touch_all(Access::Delete, root, INLINE, true);
        }
    }
}

/// Whether no condition selects files by anything but their kind.
fn takes_every_file(bare: &str) -> bool {
    CONDITIONS.iter().flat_map(|word| bare.match_indices(word)).all(|(at, word)| {
        let (from, to) = if word == " ? " { (at.saturating_sub(AROUND), at) } else { (at, at + AROUND) };
        let from = (from..=at).find(|at| bare.is_char_boundary(*at)).unwrap_or(at);
        let to = (to..=to + 4).find(|at| bare.is_char_boundary(*at) || *at >= bare.len()).unwrap_or(to);
        has(&bare[from..to.min(bare.len())], KINDS)
    })
}

/// The functions that the code defines.
fn functions(bare: &str) -> Vec<&str> {
    ["function ", "def ", "sub ", "func "]
        .iter()
        .flat_map(|word| bare.split(word).skip(1).take(16))
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether a statement calls a function, and does not only define it.
fn is_called(low: &str, call: &str) -> bool {
    low.match_indices(call).any(|(at, _)| {
        let before = &low[..at];
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.') && !is_definition(before)
    })
}

/// Whether a name follows the word that begins its definition.
fn is_definition(before: &str) -> bool {
    ["function ", "def ", "sub ", "func "].iter().any(|word| before.ends_with(word))
}
