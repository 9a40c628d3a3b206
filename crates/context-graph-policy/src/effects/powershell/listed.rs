//! What a PowerShell command lists for the next one in the pipe, and what that one changes or removes.

use super::has_flag;
use super::read::{operands, slashed, with_places};
use crate::effects::path::{absolute, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Piece, Text, Unknown};

/// Files and folders that pass through a pipe.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    /// The folder they are in.
    pub(super) folder: Text,
    /// Whether only some of the folder's content is listed.
    pub(super) narrowed: bool,
    /// The pattern that their names match.
    name: Option<String>,
    /// Whether folders below are listed too.
    deep: bool,
}

impl Listing {
    /// What a command lists, or the paths that are written into the pipe.
    pub(super) fn of(words: &[Text], statement: &str) -> Option<Self> {
        let (first, args) = words.split_first()?;
        let is_place = statement.trim().starts_with('$')
            && args.is_empty()
            && first.literal().is_some_and(|path| path.starts_with('/'));
        if is_place || statement.trim().starts_with(['"', '\'']) {
            return Some(Self { folder: slashed(first), narrowed: false, name: None, deep: true });
        }
        let name = first.known().to_ascii_lowercase();
        if !matches!(
            name.as_str(),
            "get-childitem" | "gci" | "ls" | "dir" | "get-item" | "gi" | "resolve-path"
        ) {
            return None;
        }
        // PowerShell accepts any unambiguous prefix of an option.
        let narrows = |option: &str| {
            let begins = |known: &str| known.starts_with(option);
            option.len() > 1
                && (["-include", "-exclude", "-name"].into_iter().any(begins)
                    || option.len() > 2 && begins("-filter"))
        };
        let narrowed = args.iter().any(|arg| narrows(&arg.known().to_ascii_lowercase()) || arg.has_glob());
        let picked = args.windows(2).find(|pair| {
            let option = pair[0].known().to_ascii_lowercase();
            option.len() > 2 && ["-include", "-filter"].iter().any(|known| known.starts_with(&option))
        });
        let named = operands(args).into_iter().next().unwrap_or_else(|| Text::lit("."));
        let (folder, last) = match named.to_string().rsplit_once('/') {
            _ if !named.has_glob() => (named, None),
            Some((folder, last)) => (Text::from(folder), Some(last.to_owned())),
            None => (Text::lit("."), Some(named.to_string())),
        };
        let name = picked.map(|pair| pair[1].to_string()).or(last);
        Some(Self {
            folder,
            narrowed,
            name,
            deep: has_flag(args, "-recurse") || args.iter().any(|arg| arg.known() == "-r"),
        })
    }

    /// What remains after a command that selects or sorts; `None` if the pipe ends.
    pub(super) fn through(self, words: &[Text]) -> Option<Self> {
        let first = words.first()?;
        let name = first.known().to_ascii_lowercase();
        let picks = matches!(name.as_str(), "where-object" | "where" | "?" | "select-object" | "select")
            || first.has_hole();
        let passes = matches!(name.as_str(), "sort-object" | "sort" | "foreach-object" | "foreach" | "%");
        // `? Name -like '.x*'`: only the names that match remain.
        let compares =
            |word: &Text| matches!(word.known().to_ascii_lowercase().as_str(), "-like" | "-eq" | "-ilike");
        let by_name = words.iter().any(|word| word.to_string().to_ascii_lowercase().ends_with("name"));
        let asked = words.windows(2).find(|pair| picks && by_name && compares(&pair[0]));
        let asked = asked.and_then(|pair| pair[1].literal()).map(str::to_owned);
        let name = self.name.or(asked);
        (picks || passes).then_some(Self { narrowed: self.narrowed || picks, name, ..self })
    }

    /// Changes or removes everything that is listed. A deep list with a name pattern is treated like the equivalent
    /// `find` command.
    pub(super) fn act(&self, shell: &mut Shell<'_>, access: Access, by: &str) {
        if let Some(name) = self.name.as_deref().filter(|_| self.deep) {
            let action: &[&str] = match access {
                Access::Delete => &["-delete"],
                Access::Read => &["-exec", "cat", "{}", "+"],
                _ => &["-exec", "truncate", "-s0", "{}", "+"],
            };
            let tests = [&["-name", name], action].concat();
            let start = [Text::lit("find"), self.folder.clone()].into_iter();
            shell.run(start.chain(tests.into_iter().map(Text::lit)).collect(), Vec::new(), &Flow::default());
        } else if let Some(name) = &self.name {
            shell.touch_all(access, &self.below(name), by, true);
        } else if !self.narrowed {
            shell.touch_all(access, &self.folder, by, true);
        }
        if access == Access::Delete && self.narrowed {
            self.remove_found(shell);
        }
    }

    /// Everything that is listed, as one pattern. For a selection, only the folder is known.
    pub(super) fn files(&self) -> Text {
        match &self.name {
            Some(name) if self.deep => self.below(&format!("**/{name}")),
            Some(name) => self.below(name),
            None if self.narrowed => {
                let mut files = self.below("");
                files.push(Piece::Hole(Origin::Output));
                files
            }
            None => self.folder.clone(),
        }
    }

    fn below(&self, pattern: &str) -> Text {
        let mut files = self.folder.clone();
        files.push_globbed(&format!("/{pattern}"));
        files
    }

    /// Reports the removal of some of a folder's content, except in the project and in temporary folders: there it is
    /// everyday work.
    fn remove_found(&self, shell: &mut Shell<'_>) {
        let place = absolute(&shell.home_expanded(&self.folder), shell.cwd());
        let is_drive = self.folder.prefix().get(1..3).is_some_and(|drive| drive.starts_with(':'));
        // The home folder may itself be in a temporary folder.
        let is_passing = |place: &str| {
            ["/tmp", "/var/tmp"].iter().any(|folder| is_within(place, folder))
                && !(shell.base.home.len() > 1 && is_within(place, shell.base.home))
        };
        let known = place.prefix();
        if !is_drive && (is_within(known, shell.project) || is_passing(known)) {
            return;
        }
        shell.unknown(Unknown::DeleteTarget(self.folder.clone()));
    }
}

/// Whether piped objects, or the object in parentheses, are told to delete themselves.
pub(super) fn deletes_itself(statement: &str) -> bool {
    let lower = statement.trim().to_ascii_lowercase();
    lower.starts_with(['$', '(', '[']) && [".delete(", ".moveto("].iter().any(|call| lower.contains(call))
}

/// Reports the deletion of those objects.
pub(super) fn delete(shell: &mut Shell<'_>, listed: Option<&Listing>, statement: &str) {
    let statement = &*with_places(statement, shell);
    let made = statement
        .trim()
        .to_ascii_lowercase()
        .find(".delete(")
        .map_or(statement, |at| &statement.trim()[..at]);
    let inner = made.trim_start_matches('(').trim_end_matches(')');
    let words = super::read::words(inner, shell);
    let mut named: Vec<Text> = words.get(1..).map(operands).unwrap_or_default();
    named.extend(super::super::inline::string_literals(made).into_iter().map(Text::lit));
    named.retain(|path| !path.is_blank());
    if named.is_empty() {
        match listed {
            Some(listing) => listing.act(shell, Access::Delete, "PowerShell"),
            None => shell.unknown(Unknown::DeleteTarget(Text::lit(statement.trim()))),
        }
    }
    for path in named {
        shell.touch_all(Access::Delete, &slashed(&path), "PowerShell", true);
    }
}
