//! Finds the files and folders that a call or a result names.
//!
//! A path is identified by its file name, by folder plus file name, and by pairs of its folders. So an absolute
//! path, one relative to the project and one from another folder match in the parts they share.

use super::terms::{Term, TermKind, pair, term};

/// How many folders of one path are kept, the nearest to the file first.
const MAX_FOLDERS: usize = 5;

/// How much of a path is kept as written, in bytes: its end says most.
const MAX_WRITTEN: usize = 72;

/// File name extensions, sorted. `level.quantity` is no file, so only known extensions count.
#[rustfmt::skip]
const EXTENSIONS: &[&str] = &[
    "astro", "bash", "bat", "bin", "c", "cc", "cfg", "cjs", "clj", "conf", "cpp", "cs", "cshtml", "csproj",
    "css", "csv", "cts", "dart", "db", "diff", "dockerfile", "env", "erl", "ex", "exs", "fs", "gif", "go",
    "gradle", "graphql", "groovy", "h", "hpp", "hs", "htm", "html", "ico", "ini", "ipynb", "java", "jpeg",
    "jpg", "js", "json", "jsonc", "jsonl", "jsx", "kt", "kts", "less", "lock", "log", "lua", "m", "map",
    "md", "mdx", "mjs", "mod", "mts", "nix", "patch", "pdf", "php", "pl", "plist", "png", "prisma",
    "properties", "proto", "ps1", "py", "pyi", "r", "razor", "rb", "resx", "rs", "rst", "sass", "scala",
    "scss", "sh", "sln", "slnx", "sol", "sql", "sqlite", "sum", "svelte", "svg", "swift", "tar", "tex",
    "tf", "toml", "tpl", "ts", "tsv", "tsx", "txt", "vue", "wasm", "webp", "xaml", "xml", "yaml", "yml",
    "zig", "zip", "zsh",
];

/// A file or folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilePlace {
    /// The last name together with its folder.
    pub file: Term,
    /// The last name alone.
    pub name: Term,
    /// Folders, each together with its parent, nearest first.
    pub folders: Vec<Term>,
    /// The extension; 0 if there is none.
    pub extension: Term,
    /// The end of the path as written.
    pub written: String,
}

impl FilePlace {
    /// The place that a path names.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let names: Vec<&str> = path
            .split(['/', '\\'])
            .filter(|name| !name.is_empty() && !matches!(*name, "." | ".." | "~"))
            .collect();
        let (&name, folders) = names.split_last()?;
        let above = folders.last().copied().unwrap_or("");
        let extension = match name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() && (1..=10).contains(&ending.len()) => {
                term(TermKind::Extension, ending)
            }
            _ => 0,
        };
        let folders = (0..folders.len())
            .rev()
            .take(MAX_FOLDERS)
            .map(|at| pair(TermKind::Folder, if at == 0 { "" } else { folders[at - 1] }, folders[at]))
            .collect();
        let written = path[path.ceil_char_boundary(path.len().saturating_sub(MAX_WRITTEN))..].to_owned();
        Some(Self {
            file: pair(TermKind::File, above, name),
            name: term(TermKind::FileName, name),
            folders,
            extension,
            written,
        })
    }

    /// All terms of the place.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Term> {
        [self.file, self.name, self.extension]
            .into_iter()
            .filter(|&t| t != 0)
            .chain(self.folders.iter().copied())
    }
}

/// The places that a text names, each once, at most `max`. Paths below `cwd` become relative to it.
pub(crate) fn places(text: &str, cwd: &str, max: usize) -> Vec<FilePlace> {
    let mut found: Vec<FilePlace> = Vec::new();
    for run in named(text) {
        if found.len() >= max {
            break;
        }
        let inside =
            run.strip_prefix(cwd).filter(|rest| !cwd.is_empty() && rest.starts_with('/')).unwrap_or(run);
        if let Some(place) = FilePlace::of(inside)
            && !found.iter().any(|known| known.file == place.file)
        {
            found.push(place);
        }
    }
    found
}

/// The paths in a text, as written.
pub(crate) fn named(text: &str) -> impl Iterator<Item = &str> {
    runs(text).map(|run| run.trim_end_matches(['.', '-', '/', '\\'])).filter(|run| looks_like_path(run))
}

/// Splits a text into runs of path characters. An escaped line break, as in JSON text, ends a run.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | '~' | '@' | '+');
    text.split(move |c: char| !is_part(c)).flat_map(|run| {
        let mut rest = Some(run);
        std::iter::from_fn(move || {
            let run = rest?;
            let escape = run.match_indices('\\').map(|(at, _)| at).find(|&at| {
                // `\new` may be a folder, `\nNext` and `\n\n` are not.
                let mut after = run[at + 1..].chars();
                matches!(after.next(), Some('n' | 't' | 'r')) && !after.next().is_some_and(char::is_lowercase)
            });
            rest = escape.map(|at| &run[at + 2..]);
            Some(escape.map_or(run, |at| &run[..at]))
        })
    })
}

/// Whether a path ends with a known file extension.
pub(crate) fn is_file(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| EXTENSIONS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok())
}

/// Whether a run of path characters names a file or folder: it has a file's extension, or it has folders and is
/// not just `this/that`.
fn looks_like_path(run: &str) -> bool {
    if !(3..=260).contains(&run.len()) || !run.contains(|c: char| c.is_alphabetic()) {
        return false;
    }
    if run.starts_with("//") || run.starts_with('-') {
        return false;
    }
    let is_separator = |c: char| matches!(c, '/' | '\\');
    let is_file = is_file(run);
    let rooted = run.starts_with(['/', '\\', '~', '.']);
    let folders = run.trim_start_matches(['.', '/', '\\', '~']).matches(is_separator).count();
    let port = run
        .split(is_separator)
        .next()
        .is_some_and(|first| first.chars().all(|c| c.is_ascii_digit()) && !rooted);
    let plain = run.chars().all(|c| c.is_alphabetic() || is_separator(c));
    !port && (is_file || folders >= 2 || (folders == 1 && (rooted || !plain)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        places(text, "/home/u/project", 9).into_iter().map(|place| place.written).collect()
    }

    #[test]
    fn paths_are_found_in_text() {
        assert_eq!(written("cat src/main.rs | grep x > out.txt"), ["src/main.rs", "out.txt"]);
        assert_eq!(written("Read file: c:\\code\\app\\Startup.cs"), ["\\code\\app\\Startup.cs"]);
        assert_eq!(written("see lib.rs:41 and docs/a.md."), ["lib.rs", "docs/a.md"]);
        for none in [
            "e.g. 1.5 or v2.0 -- nothing...",
            "level.quantity and/or more",
            "https://a.example/b",
            "x:9090/v1",
        ] {
            assert_eq!(written(none), [""; 0]);
        }
        assert_eq!(written(r"one.\n\nTwo\n- src/new/next.rs"), ["src/new/next.rs"]);
    }

    #[test]
    fn extensions_are_sorted() {
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn a_path_below_the_working_folder_is_the_relative_one() {
        let of = |text: &str| places(text, "/home/u/project", 9);
        assert_eq!(of("/home/u/project/src/a.rs")[0].file, of("src/a.rs")[0].file);
        assert_eq!(of("/home/u/project/src/a.rs")[0].folders, of("src/a.rs")[0].folders);
    }

    #[test]
    fn neighbours_share_their_folder() {
        let of = |text: &str| FilePlace::of(text).unwrap();
        let (a, b) = (of("crates/core/src/a.rs"), of("crates/core/src/b.rs"));
        assert_eq!(a.folders, b.folders);
        assert_ne!(a.file, b.file);
        assert!(of("README.md").folders.is_empty());
        assert_eq!(FilePlace::of("../.."), None);
    }
}
