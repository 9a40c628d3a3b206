//! What a PowerShell command lists for the next one in the pipe, and what that one removes.

use super::read::{operands, slashed, with_places};
use crate::effects::path::{absolute, is_within};
use crate::effects::shell::Shell;
use crate::effects::{Access, Text, Unknown};

/// Files and folders that pass through a pipe.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    /// The folder they are in.
    pub(super) folder: Text,
    /// Whether only some of the folder's content is meant.
    pub(super) narrowed: bool,
}

impl Listing {
    /// What a command lists.
    pub(super) fn of(words: &[Text]) -> Option<Self> {
        let (first, args) = words.split_first()?;
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
        let folder = operands(args).into_iter().next().unwrap_or_else(|| Text::lit("."));
        Some(Self { folder, narrowed })
    }

    /// What remains after a command that selects or sorts; `None` if the pipe ends.
    pub(super) fn through(self, words: &[Text]) -> Option<Self> {
        let first = words.first()?;
        let name = first.known().to_ascii_lowercase();
        let picks = matches!(name.as_str(), "where-object" | "where" | "?" | "select-object" | "select")
            || first.has_hole();
        let passes = matches!(name.as_str(), "sort-object" | "sort" | "foreach-object" | "foreach" | "%");
        (picks || passes).then_some(Self { narrowed: self.narrowed || picks, ..self })
    }

    /// Removes some of a folder's content. In the project and in temporary folders that is everyday work.
    pub(super) fn remove_found(&self, shell: &mut Shell<'_>) {
        let place = absolute(&shell.home_expanded(&self.folder), shell.cwd());
        let is_drive = self.folder.prefix().get(1..3).is_some_and(|drive| drive.starts_with(':'));
        // The home folder may itself be in a temporary folder.
        let is_passing = |place: &str| {
            ["/tmp", "/var/tmp"].iter().any(|folder| is_within(place, folder))
                && !(shell.places.home.len() > 1 && is_within(place, shell.places.home))
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
    lower.starts_with(['$', '(']) && lower.contains(".delete(") && !lower.contains("]::")
}

/// Reports the deletion of those objects.
pub(super) fn delete(shell: &mut Shell<'_>, listed: Option<&Listing>, statement: &str) {
    let inner = statement.trim().strip_prefix('(').and_then(|rest| rest.split(')').next());
    let named = inner.and_then(|inner| inner.split_whitespace().nth(1)).map(|path| with_places(path, shell));
    match (named, listed) {
        (Some(path), _) => {
            let path = slashed(&Text::from(path.trim_matches(['"', '\''])));
            shell.touch_all(Access::Delete, &path, "PowerShell", true);
        }
        (None, Some(listing)) => listing.remove_found(shell),
        (None, None) => shell.unknown(Unknown::DeleteTarget(Text::lit(statement.trim()))),
    }
}
