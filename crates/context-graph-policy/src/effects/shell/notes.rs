//! What a walk records: touched paths, sent data, disclosures and unknowns.

use super::eval::Shell;
use super::flow::Flow;
use crate::effects::path::is_within;
use crate::effects::{Access, Disclosure, PathEffect, Run, Sending, SentKind, Target, Text, Unknown};
use crate::programs::lists;

/// How much of the call's work budget a path costs, and how much a pattern costs.
const PATH_WORK: usize = 8;
const PATTERN_WORK: usize = 150;

/// The folder of a container engine's named volumes.
pub(crate) const VOLUMES: &str = "/var/lib/docker/volumes/";

/// Whether a path is an open descriptor. Longer ones, such as `/dev/fd/../x`, are ordinary paths.
fn is_descriptor(path: &str) -> bool {
    path.strip_prefix("/dev/fd/")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

impl Shell<'_> {
    pub(crate) fn unknown(&mut self, unknown: Unknown) {
        if !self.out.unknowns.contains(&unknown) {
            self.out.unknowns.push(unknown);
        }
    }

    pub(crate) fn touch(&mut self, access: Access, written: &Text, by: &str) {
        self.touch_all(access, written, by, false);
    }

    pub(crate) fn touch_all(&mut self, access: Access, written: &Text, by: &str, recursive: bool) {
        let mut text = self.home_expanded(written);
        if text.prefix().starts_with('~')
            && let Some((home, rest)) = crate::effects::path::other_home_of(text.prefix(), self.base.home)
        {
            let mut theirs = Text::lit(format!("{home}{rest}"));
            text.0.iter().skip(1).for_each(|piece| theirs.push(piece.clone()));
            text = theirs;
        }
        if self.remote > 0 && !text.is_empty() {
            match self.mounted(&text) {
                Some(ours) => {
                    if access != Access::Delete && ours.prefix().starts_with(VOLUMES) {
                        return;
                    }
                    text = ours;
                }
                None if !self.matters_elsewhere(access, &text, recursive) => return,
                None => {}
            }
        }
        if text.is_empty() {
            return;
        }
        if matches!(
            text.literal(),
            Some("-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty")
        ) {
            return;
        }
        if text.literal().is_some_and(is_descriptor) {
            return;
        }
        // A path is looked up on disk and compared with every rule; a pattern is tried on many names.
        if !self.charge(if text.has_glob() { PATTERN_WORK } else { PATH_WORK }) {
            return;
        }
        let target = Target::new(&text, &self.frame.cwd, self.base);
        // This command wrote the content itself, so reading it shows nothing new.
        if access == Access::Read
            && !recursive
            && target.literal().is_some_and(|path| self.whole.contains(path))
        {
            return;
        }
        let linked = self.linked(&target.path);
        let linked = linked.map(|to| Target { written: text.clone(), path: to, real: Vec::new() });
        // What is run is the file that was copied there.
        let origin =
            target.literal().filter(|_| access == Access::Execute).and_then(|path| self.origin_of(path));
        let origin = origin.map(|from| Target { written: text, path: Text::lit(from), real: Vec::new() });
        self.out.paths.extend(linked.into_iter().chain(origin).chain([target]).map(|target| PathEffect {
            access,
            target,
            recursive,
            by: by.to_owned(),
            from_template: false,
        }));
    }

    /// Remembers a link that this command makes.
    pub(crate) fn link(&mut self, from: &Text, to: &Text) {
        let from = crate::effects::path::absolute(from, &self.frame.cwd);
        if let Some(from) = from.literal() {
            let to = crate::effects::path::absolute(&self.home_expanded(to), &self.frame.cwd);
            self.links.push((from.to_owned(), to));
        }
    }

    /// The target of a path through a link that this command made.
    fn linked(&self, path: &Text) -> Option<Text> {
        self.links.iter().find_map(|(link, to)| {
            let below = path.strip_prefix(link)?;
            if !below.is_empty() && !below.prefix().starts_with('/') {
                return None;
            }
            let mut place = to.clone();
            if !below.is_empty() {
                let below = if to.literal() == Some("/") { below.strip_prefix("/")? } else { below };
                place.extend(&below);
            }
            Some(place)
        })
    }

    /// Whether a path on another machine or in a container matters: because of its data or its secrets.
    fn matters_elsewhere(&self, access: Access, text: &Text, recursive: bool) -> bool {
        let path = crate::effects::path::absolute(text, &self.frame.cwd);
        let known = path.prefix();
        match access {
            Access::Read => text.literal().is_some(),
            Access::Delete if recursive => {
                let place = known.trim_end_matches('/');
                path.literal() == Some("/")
                    || lists::KEPT_ELSEWHERE
                        .iter()
                        .copied()
                        // Without a user the home folder is empty or `/`, which would contain every path.
                        .chain(Some(self.base.home).filter(|home| !matches!(*home, "" | "/")))
                        .any(|kept| is_within(place, kept))
            }
            _ => text.literal().is_some_and(|path| path == "/" || path == self.base.home),
        }
    }

    /// The local path of a path in a container, if it is in a mounted folder.
    fn mounted(&self, inside: &Text) -> Option<Text> {
        let path = crate::effects::path::absolute(inside, &self.frame.cwd);
        self.mounts.iter().rev().find_map(|(at, ours)| {
            let below = path.strip_prefix(at)?;
            if !at.ends_with('/') && !below.is_empty() && !below.prefix().starts_with('/') {
                return None;
            }
            let mut outside = ours.clone();
            outside.push_str("/");
            outside.extend(&below);
            Some(outside)
        })
    }

    /// Expands a tilde that is left in a word such as `of=~/x`.
    pub(crate) fn home_expanded(&self, text: &Text) -> Text {
        match crate::effects::path::home_of(text.prefix(), self.base.home) {
            Some((home, rest)) => {
                let mut out = Text::lit(home);
                out.push_str(rest);
                for piece in text.0.iter().skip(1) {
                    out.push(piece.clone());
                }
                out
            }
            None => text.clone(),
        }
    }

    /// Adds a run under a name that the rows of programs know, although no program runs.
    pub(crate) fn note_run(&mut self, name: &str, args: Vec<Text>) {
        let cwd = self.cwd().clone();
        self.out.runs.push(Run {
            name: name.to_owned(),
            args,
            assigns: Vec::new(),
            stdin: None,
            fed_by: String::new(),
            cwd,
        });
    }

    pub(crate) fn send(&mut self, host: Text, kind: SentKind, by: &str) {
        self.out.sends.push(Sending { host, kind, by: by.to_owned() });
    }

    /// Whatever reaches the end of a pipeline is shown.
    pub(crate) fn end_pipeline(&mut self, flow: &Flow) {
        if flow.environment {
            self.disclose(Disclosure::Environment);
        }
        if flow.has_credential() {
            self.disclose(Disclosure::Variable);
        }
    }

    pub(crate) fn disclose(&mut self, disclosure: Disclosure) {
        if !self.out.disclosures.contains(&disclosure) {
            self.out.disclosures.push(disclosure);
        }
    }
}
