//! Files whose names the command does not show: from archives, other repositories, copied folders and the
//! network.
//!
//! Most of them are harmless. What matters is whether one replaces a file that calls the guard or that the
//! guard owns. So only those paths are checked: in the folder that is copied, and among the names in the
//! archive.

use crate::effects::members::{MAX_ARCHIVE, Members, members};
use crate::effects::path::{absolute, absolute_str, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, Target, Text, agent_settings};

/// How many source folders are checked for one pattern.
const MAX_SOURCES: usize = 64;

/// Paths below the project and below the home folder.
const KEPT: &[&str] = &[".claude/hooks", ".context-graph"];
/// Paths below the home folder only.
const KEPT_AT_HOME: &[&str] = &[".claude.json", ".config/context-graph"];

impl Shell<'_> {
    /// The paths that must not be overwritten.
    pub(crate) fn kept(&self) -> Vec<String> {
        let below = |root: &str, name: &str| format!("{}/{name}", root.trim_end_matches('/'));
        let home = self.base.home;
        let names = || agent_settings::CLAUDE_SETTINGS.into_iter().chain(KEPT.iter().copied());
        let mut kept: Vec<String> = names().map(|name| below(self.project, name)).collect();
        let has_home = !home.is_empty() && home != self.project;
        if has_home {
            kept.extend(names().chain(KEPT_AT_HOME.iter().copied()).map(|name| below(home, name)));
        }
        kept.extend(agent_settings::of_other_agents().map(|name| below(self.project, name)));
        if has_home {
            kept.extend(agent_settings::of_other_agents().map(|name| below(home, name)));
        }
        kept
    }

    /// The folder's absolute path, if it is known and on this machine.
    fn folder_of(&self, folder: &Text) -> Option<String> {
        let folder = absolute(&self.home_expanded(folder), self.cwd());
        folder.literal().filter(|_| self.remote == 0).map(str::to_owned)
    }

    /// A folder is copied. With `into`, its contents go directly into the destination; without, the folder
    /// itself does.
    pub(crate) fn bring_folder(&mut self, source: &Text, destination: &Text, into: bool, by: &str) {
        let Some(root) = self.folder_of(destination) else { return };
        let source = self.home_expanded(source);
        let sources = Target::new(&source, self.cwd(), self.base);
        let mut taken = Vec::new();
        // The source is only known by its name, so it may hold any of our files.
        if sources.path.has_hole()
            && !into
            && let Some(name) = sources.path.file_name().literal()
        {
            let place = absolute_str(name, &root);
            taken.extend(self.kept().into_iter().filter(|kept| is_within(kept, &place)));
        }
        for source in sources.places().take(MAX_SOURCES) {
            let name = source.rsplit('/').next().unwrap_or(source);
            // A destination that does not exist yet becomes the copy itself instead of holding it.
            let root = if into || self.base.fs.kind(&root).is_none() {
                root.clone()
            } else {
                absolute_str(name, &root)
            };
            for kept in self.kept().into_iter().filter(|kept| is_within(kept, &root)) {
                let theirs = format!("{source}{}", &kept[root.trim_end_matches('/').len()..]);
                if self.base.fs.kind(&theirs).is_some() || self.is_made(&theirs) {
                    taken.push(kept);
                }
            }
        }
        for kept in taken {
            self.touch(Access::Write, &Text::lit(kept), by);
        }
    }

    /// Whether this command writes the file, or copies a folder that holds it.
    fn is_made(&self, file: &str) -> bool {
        let copied = |(copy, origin): &(String, String)| {
            is_within(file, copy) && self.base.fs.kind(&format!("{origin}{}", &file[copy.len()..])).is_some()
        };
        self.written.contains_key(file) || self.copies.iter().any(copied)
    }

    /// What an earlier part of this command put into the archive: the source path, and the name in the archive.
    fn packed_before(&self, archive: &Text) -> Vec<(Text, Text)> {
        let Some(archive) = self.folder_of(archive) else { return Vec::new() };
        let is_it = |file: &Text, run: &Run| absolute(file, &run.cwd).literal() == Some(archive.as_str());
        let mut packed = Vec::new();
        for run in self.out.runs.iter().take(MAX_SOURCES) {
            let call = self.known.read(run);
            let members = match run.name.as_str() {
                "tar" | "gtar" | "bsdtar"
                    if call.has_any(&["--create", "--append", "--update"])
                        && call.value("--file").is_some_and(|file| is_it(file, run)) =>
                {
                    call.operands()
                }
                "zip" if call.operands().first().is_some_and(|file| is_it(file, run)) => {
                    &call.operands()[1..]
                }
                _ => continue,
            };
            let folder =
                call.value("-C").map_or_else(|| run.cwd.clone(), |folder| absolute(folder, &run.cwd));
            packed.extend(members.iter().map(|member| (absolute(member, &folder), (*member).clone())));
        }
        packed
    }

    /// Files with these names arrive in a folder.
    pub(super) fn bring_named<'n>(&mut self, folder: &Text, names: impl Iterator<Item = &'n str>, by: &str) {
        let Some(root) = self.folder_of(folder) else { return };
        let kept = self.kept();
        let taken: Vec<String> = names
            .map(|name| absolute_str(name, &root))
            .filter(|place| kept.iter().any(|kept| is_within(place, kept)))
            .take(MAX_SOURCES)
            .collect();
        for place in taken {
            self.touch(Access::Write, &Text::lit(place), by);
        }
    }

    /// Files arrive in a folder, but their names cannot be seen. In a project this is normal. It is not normal in a
    /// settings folder, nor in the home folder if there are folders among the files.
    pub(crate) fn bring_unnamed(&mut self, folder: &Text, with_folders: bool, by: &str) {
        let Some(root) = self.folder_of(folder) else { return };
        let home = self.base.home.trim_end_matches('/');
        let holds_settings = |kept: &str| {
            let (parent, name) = kept.rsplit_once('/').unwrap_or_default();
            is_within(&root, kept)
                || parent == root && name.starts_with("settings")
                || with_folders
                    && is_within(kept, &root)
                    && (root == home || root == format!("{home}/.config"))
        };
        if let Some(kept) = self.kept().into_iter().find(|kept| holds_settings(kept)) {
            let place = if is_within(&root, &kept) { root } else { kept };
            self.touch(Access::Write, &Text::lit(place), by);
        }
    }

    /// An archive is unpacked. `strip` is the number of leading folders that its names lose.
    pub(crate) fn unpack(
        &mut self,
        by: &str,
        archive: Option<&Text>,
        folder: &Text,
        strip: usize,
        stdin: &Flow,
    ) {
        let Some(root) = self.folder_of(folder) else { return };
        if !self
            .kept()
            .iter()
            .any(|kept| is_within(kept, &root) || is_within(&root, kept) || parent_of(kept) == root)
        {
            return;
        }
        let files: Vec<Text> = match archive {
            Some(file) => self.files_read(&[file], stdin),
            None => self.files_fed(stdin),
        };
        let mut seen = false;
        for file in &files {
            let Some(Members { names, whole }) =
                self.read_file(file, MAX_ARCHIVE).and_then(|bytes| members(&bytes))
            else {
                continue;
            };
            seen |= whole;
            let names = names.iter().filter_map(|name| stripped(name, strip));
            self.bring_named(folder, names, by);
        }
        for (source, member) in archive.map(|file| self.packed_before(file)).unwrap_or_default() {
            let place = absolute(&member, &Text::lit(root.as_str()));
            self.bring_folder(&source, &place, true, by);
        }
        // `tar c … | tar x` is another way to copy a folder.
        if stdin.archive && archive.is_none_or(|file| file.known() == "-") {
            for folder_packed in self.folders_packed() {
                seen = true;
                self.bring_folder(&folder_packed, folder, true, by);
            }
            for part in self.parts_archived() {
                let mut place = folder.clone();
                place.push_str("/");
                place.extend(&part);
                self.bring_unnamed(&place, false, by);
                self.bring_named(folder, part.literal().into_iter(), by);
            }
        }
        if !seen {
            self.bring_unnamed(folder, true, by);
        }
    }

    /// The paths that the `git archive` before the pipe packs.
    fn parts_archived(&self) -> Vec<Text> {
        let Some(run) = self.out.runs.iter().rev().find(|run| run.name == "git") else { return Vec::new() };
        let call = self.known.read(run);
        let words = if call.word(0) == "archive" { call.operands() } else { &[] };
        words.iter().skip(1).map(|word| (*word).clone()).collect()
    }

    /// The folders that the `tar` before the pipe packs.
    fn folders_packed(&self) -> Vec<Text> {
        let packs = |run: &&Run| matches!(run.name.as_str(), "tar" | "gtar" | "bsdtar");
        let Some(run) = self.out.runs.iter().rev().find(packs) else { return Vec::new() };
        vec![self.known.read(run).value("-C").cloned().unwrap_or_else(|| Text::lit("."))]
    }

    /// The files that a word means: one file, or all that match its pattern.
    fn files_meant(&self, file: &Text) -> Vec<Text> {
        if file.literal().is_some() || file.has_hole() {
            return vec![file.clone()];
        }
        let target = Target::new(&self.home_expanded(file), self.cwd(), self.base);
        target.places().take(MAX_SOURCES).map(Text::lit).collect()
    }

    /// The files among words that may be patterns; without words, the files that standard input comes from.
    pub(super) fn files_read(&self, files: &[&Text], stdin: &Flow) -> Vec<Text> {
        if files.is_empty() {
            return self.files_fed(stdin);
        }
        let mut found = Vec::new();
        for file in files {
            match self.descriptor(file) {
                Some(flow) if flow.text.is_none() => found.extend(self.files_fed(&flow)),
                None if matches!(file.known(), "-" | "/dev/stdin") => found.extend(self.files_fed(stdin)),
                _ => found.extend(self.files_meant(file)),
            }
        }
        found
    }

    /// The content of a file: what this command wrote there, or what is on disk. Reads at most `most` bytes and
    /// one more.
    pub(super) fn read_file(&self, file: &Text, most: usize) -> Option<Vec<u8>> {
        if let Some(flow) = self.descriptor(file) {
            return flow.literal().map(|text| text.as_bytes().to_vec());
        }
        if let Some(text) = self.content_of(file) {
            return Some(text.into_bytes());
        }
        let path = self.folder_of(file)?;
        let origin = self.copies.iter().rev().find(|(copy, _)| *copy == path).map(|(_, origin)| origin);
        self.base.fs.content(origin.unwrap_or(&path), most)
    }

    /// The files whose content may arrive on standard input.
    pub(super) fn files_fed(&self, stdin: &Flow) -> Vec<Text> {
        if !stdin.piped || stdin.text.is_some() || !stdin.file {
            return Vec::new();
        }
        let reads = self.out.paths.iter().rev().filter(|effect| effect.access == Access::Read);
        reads.filter_map(|effect| effect.target.literal()).take(4).map(Text::lit).collect()
    }
}

fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The name without its first `count` folders; `None` if nothing is left.
pub(super) fn stripped(name: &str, count: usize) -> Option<&str> {
    (0..count).try_fold(name, |name, _| name.split_once('/').map(|(_, rest)| rest.trim_start_matches('/')))
}
