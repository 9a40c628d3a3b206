//! Redirections, and files that the same command writes, fetches and then runs.

use super::ast::{Redirect, RedirectKind};
use super::eval::Shell;
use super::flow::Flow;
use crate::effects::path::absolute;
use crate::effects::{Access, Disclosure, SentKind, Text, Unknown};

/// How many open files are followed.
const MAX_OPENED: usize = 64;

impl Shell<'_> {
    pub(super) fn redirected(&mut self, redirects: &[Redirect], stdin: &Flow) -> Flow {
        let mut input = stdin.clone();
        for redirect in redirects {
            match &redirect.kind {
                RedirectKind::Read(word) | RedirectKind::ReadWrite(word) => {
                    let path = self.joined_path(word);
                    input = self.read_from(&path);
                }
                RedirectKind::HereDoc(slot) => {
                    let text = slot.get().map(|word| self.joined(word)).unwrap_or_default();
                    input = Flow::text(text);
                }
                RedirectKind::HereString(word) => {
                    let text = self.joined(word);
                    input = Flow::text(text);
                }
                RedirectKind::Duplicate(word) => {
                    let number = super::word::plain_text(word).and_then(|text| text.parse::<u32>().ok());
                    let opened = self.opened.iter().find(|(known, _)| Some(*known) == number);
                    if let Some((_, flow)) = opened {
                        input = flow.clone();
                    }
                    continue;
                }
                _ => continue,
            }
            if let Some(name) = &redirect.name {
                self.open_named(name, input.clone());
            }
            if let Some(number) = redirect.fd.filter(|number| *number > 2) {
                self.open(number, input.clone());
            }
        }
        input
    }

    /// What reading a file gives.
    fn read_from(&mut self, path: &Text) -> Flow {
        if let Some(flow) = self.descriptor(path) {
            return flow;
        }
        if path.literal() == Some("/dev/null") {
            return Flow::text(Text::default());
        }
        let known = self.content_of(path);
        self.touch(Access::Read, path, "<");
        if self.network_device(path, &Flow::default()) {
            return Flow { network: true, piped: true, ..Flow::default() };
        }
        let taint = self.taint_of(path);
        Flow {
            text: known.map(Text::lit),
            file: true,
            piped: true,
            network: taint == Some(Taint::Network),
            decoded: taint == Some(Taint::Decoded),
            ..Flow::default()
        }
    }

    /// `exec {name}<file`: the shell picks a number and sets the variable to it.
    fn open_named(&mut self, name: &str, flow: Flow) {
        let number = 10 + u32::try_from(self.opened.len()).unwrap_or(0);
        self.open(number, flow);
        self.set(name, Text::lit(number.to_string()));
    }

    /// Remembers what reading from a descriptor gives. With too many descriptors, the call is too large.
    fn open(&mut self, number: u32, flow: Flow) {
        if let Some(known) = self.opened.iter_mut().find(|(known, _)| *known == number) {
            known.1 = flow;
        } else if self.opened.len() < MAX_OPENED {
            self.opened.push((number, flow));
        } else {
            self.unknown(Unknown::TooLarge);
        }
    }

    /// Handles what a command writes to files. `by` is `: >` if it writes nothing, otherwise `>`.
    pub(super) fn redirect_out(&mut self, redirects: &[Redirect], flow: &mut Flow, by: &str) {
        for redirect in redirects {
            let (word, append) = match &redirect.kind {
                RedirectKind::Write(word) => (word, false),
                RedirectKind::Append(word) => (word, true),
                RedirectKind::ReadWrite(word) => {
                    // Open for both, so any descriptor can write to it. Devices are handled in `redirected`.
                    let path = self.joined_path(word);
                    if !path.prefix().starts_with("/dev/") {
                        self.touch(Access::Write, &path, ">");
                    }
                    continue;
                }
                RedirectKind::Duplicate(word) => {
                    let plain = super::word::plain_text(word);
                    if let Some(text) = &plain
                        && text.trim_end_matches('-').bytes().all(|c| c.is_ascii_digit())
                    {
                        let number = text.parse::<u32>().ok();
                        let file = self.outputs.iter().rev().find(|(known, _)| Some(*known) == number);
                        if let (Some((_, file)), true) = (file.cloned(), redirect.fd.is_none_or(|fd| fd == 1))
                        {
                            self.pour(&file, flow, true);
                        }
                        continue;
                    }
                    (word, false)
                }
                _ => continue,
            };
            let path = self.joined_path(word);
            if self.network_device(&path, flow) {
                continue;
            }
            self.feed(&path, flow);
            self.touch(Access::Write, &path, if append { ">>" } else { by });
            if let Some(number) = redirect.fd.filter(|number| *number > 2)
                && self.outputs.len() < MAX_OPENED
            {
                self.outputs.push((number, path.clone()));
            }
            if redirect.fd.is_none_or(|fd| fd == 1) {
                self.pour(&path, flow, append);
                if flow.environment && path.literal() != Some("/dev/null") {
                    self.disclose(Disclosure::Environment);
                }
                *flow = Flow::default();
            }
        }
    }

    /// `/dev/tcp/host/port`: bash opens a connection.
    fn network_device(&mut self, path: &Text, flow: &Flow) -> bool {
        let prefix = path.prefix();
        let Some(rest) = prefix.strip_prefix("/dev/tcp/").or_else(|| prefix.strip_prefix("/dev/udp/")) else {
            return false;
        };
        let host = Text::from(rest.split('/').next().unwrap_or(""));
        self.send(host, flow.sent_kind().max(SentKind::Shell), "/dev/tcp");
        true
    }

    pub(crate) fn remember(&mut self, path: &Text, content: Option<String>, append: bool) {
        let path = absolute(path, self.cwd());
        let Some(path) = path.literal() else { return };
        if !append {
            self.whole.remove(path);
            self.whole.extend(content.is_some().then(|| path.to_owned()));
        }
        match content {
            Some(content) if append => self.written.entry(path.to_owned()).or_default().push_str(&content),
            Some(content) => {
                self.written.insert(path.to_owned(), content);
            }
            None => {
                self.written.remove(path);
            }
        }
    }

    /// `> >(sh)`: another command reads what is written.
    pub(crate) fn feed(&mut self, path: &Text, flow: &Flow) {
        let number = path.literal().and_then(|path| path.strip_prefix("/dev/fd/")?.parse::<usize>().ok());
        let body = number.and_then(|number| self.substitutions.get(number.checked_sub(63)?)).cloned();
        if let Some(body) = body {
            self.process(&body, flow);
        }
    }

    /// A file gets the flow's text, if known, and everything suspicious about it.
    pub(crate) fn pour(&mut self, path: &Text, flow: &Flow, append: bool) {
        if flow.network {
            self.taint(path, Taint::Network);
        } else if flow.decoded {
            self.taint(path, Taint::Decoded);
        }
        self.remember(path, flow.literal().map(str::to_owned), append);
        if flow.file && flow.text.is_none() {
            let read = self.out.paths.iter().rev().find(|effect| effect.access == Access::Read);
            let origin = read.and_then(|effect| effect.target.literal()).map(Text::lit);
            if let Some(origin) = origin {
                self.copied(&origin, path);
            }
        }
    }

    /// For a copied file: what is known about its content is also known about the copy.
    pub(crate) fn carry_over(&mut self, source: &Text, destination: &Text) {
        let content =
            self.content_to_copy(source).or_else(|| self.descriptor(source)?.literal().map(str::to_owned));
        let taint = self.taint_of(source);
        self.copied(source, destination);
        if content.is_none() && taint.is_none() {
            return;
        }
        // A file copied into a folder keeps its name. Whether the destination is a folder is not always known.
        let mut within = destination.clone();
        within.push_str("/");
        within.extend(&source.file_name());
        for path in [destination, &within] {
            if content.is_some() {
                self.remember(path, content.clone(), false);
            }
            if let Some(taint) = taint {
                self.taint(path, taint);
            }
        }
    }

    /// Remembers where a copy's content comes from.
    fn copied(&mut self, source: &Text, destination: &Text) {
        let mut within = destination.clone();
        within.push_str("/");
        within.extend(&source.file_name());
        let full = |path: &Text| absolute(path, &self.frame.cwd).literal().map(str::to_owned);
        let (Some(origin), true) = (full(source), self.copies.len() < MAX_OPENED) else { return };
        let copies: Vec<String> = [destination, &within].into_iter().filter_map(full).collect();
        self.copies.extend(copies.into_iter().map(|copy| (copy, origin.clone())));
    }

    /// The file that this one was copied from, followed back through all copies.
    pub(crate) fn origin_of(&self, path: &str) -> Option<String> {
        let mut at: Option<&str> = None;
        for (copy, origin) in self.copies.iter().rev() {
            if copy == at.unwrap_or(path) {
                at = Some(origin);
            }
        }
        at.map(str::to_owned)
    }

    /// Marks a file whose content cannot be seen.
    pub(crate) fn taint(&mut self, path: &Text, taint: Taint) {
        let path = absolute(path, self.cwd());
        self.tainted.extend(path.literal().map(|path| (path.to_owned(), taint)));
    }

    /// Where this command got a file's hidden content from.
    pub(crate) fn taint_of(&self, path: &Text) -> Option<Taint> {
        if self.tainted.is_empty() {
            return None;
        }
        let path = absolute(path, self.cwd());
        let path = path.literal()?;
        self.tainted.iter().rev().find(|(known, _)| known == path).map(|(_, taint)| *taint)
    }

    /// Notes that a file with hidden content is run.
    pub(crate) fn run_tainted(&mut self, path: &Text, by: &str) {
        match self.taint_of(path) {
            Some(Taint::Network) => self.unknown(Unknown::Downloaded(by.to_owned())),
            Some(Taint::Decoded) => self.unknown(Unknown::Decoded),
            None => {}
        }
    }

    /// The content that this command wrote to a file.
    pub(crate) fn content_of(&self, path: &Text) -> Option<String> {
        if self.written.is_empty() {
            return None;
        }
        let path = absolute(path, self.cwd());
        self.written.get(path.literal()?).cloned()
    }

    /// The same for a file that is run. It may be named by a pattern or found through the search path.
    pub(crate) fn content_like(&self, path: &Text) -> Option<String> {
        if self.written.is_empty() {
            return None;
        }
        let bare = path.literal().filter(|name| !name.contains('/'));
        let place = absolute(path, self.cwd());
        let meant = |known: &str| match bare {
            Some(name) => known.rsplit('/').next() == Some(name),
            None => place.literal().is_none() && crate::effects::glob::overlaps(known, &place),
        };
        let found =
            || self.written.iter().find(|(known, _)| meant(known)).map(|(_, content)| content.clone());
        self.content_of(path).or_else(found)
    }

    /// The same for a file that is copied. A system program is treated as a script that calls it, so that a
    /// copy under another name is still recognised.
    pub(crate) fn content_to_copy(&self, path: &Text) -> Option<String> {
        self.content_of(path).or_else(|| {
            let path = path.literal().filter(|path| is_system_program(path))?;
            Some(format!("{CALLS_PROGRAM}{path} \"$@\""))
        })
    }

    /// Notes an installer from an archive that this command fetched.
    pub(crate) fn run_unpacked(&mut self, file: &Text) {
        let name = file.file_name();
        let installs = || ["install", "setup", "bootstrap"].iter().any(|word| name.known().starts_with(word));
        if self.unpacked && installs() {
            self.unknown(Unknown::Downloaded(name.to_string()));
        }
    }

    /// The script behind a program's name, if this command wrote it.
    pub(crate) fn script_behind(&self, word: &Text) -> Option<String> {
        if self.written.is_empty() {
            return None;
        }
        let name = word.literal()?;
        let content = self.content_of(word)?;
        // A name without a folder is found through the search path. There only a copy of a program counts.
        (name.contains('/') || content.starts_with(CALLS_PROGRAM)).then_some(content)
    }
}

/// The first word of the script that is used as the content of a system program.
const CALLS_PROGRAM: &str = "command ";

/// The origin of content that cannot be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taint {
    /// From the network.
    Network,
    /// From a decoder.
    Decoded,
}

fn is_system_program(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let known = ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
    (known.contains(&folder) || name == "context-graph")
        && !name.is_empty()
        && !name.contains(char::is_whitespace)
}
