//! Redirections, and the files that one command writes, fetches and then runs.

use super::ast::{Redirect, RedirectKind};
use super::eval::Shell;
use super::flow::Flow;
use crate::effects::path::absolute;
use crate::effects::{Access, Cargo, Disclosure, Text};

impl Shell<'_> {
    pub(super) fn redirected(&mut self, redirects: &[Redirect], stdin: &Flow) -> Flow {
        let mut input = stdin.clone();
        for redirect in redirects {
            match &redirect.kind {
                RedirectKind::Read(word) | RedirectKind::ReadWrite(word) => {
                    let path = self.joined_path(word);
                    if let Some(flow) = self.descriptor(&path) {
                        input = flow;
                        continue;
                    }
                    let known = self.content_of(&path);
                    self.touch(Access::Read, &path, "<");
                    if self.network_device(&path, &Flow::default()) {
                        input = Flow { network: true, piped: true, ..Flow::default() };
                    } else {
                        input =
                            Flow { text: known.map(Text::lit), file: true, piped: true, ..Flow::default() };
                    }
                }
                RedirectKind::HereDoc(slot) => {
                    let text = slot.get().map(|word| self.joined(word)).unwrap_or_default();
                    input = Flow::text(text);
                }
                RedirectKind::HereString(word) => {
                    let text = self.joined(word);
                    input = Flow::text(text);
                }
                _ => {}
            }
        }
        input
    }

    pub(super) fn redirect_out(&mut self, redirects: &[Redirect], flow: &mut Flow) {
        for redirect in redirects {
            let (word, append) = match &redirect.kind {
                RedirectKind::Write(word) => (word, false),
                RedirectKind::Append(word) => (word, true),
                RedirectKind::Duplicate(word) => {
                    let plain = super::word::plain_text(word);
                    if plain
                        .is_some_and(|text| text.trim_end_matches('-').bytes().all(|c| c.is_ascii_digit()))
                    {
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
            self.touch(Access::Write, &path, ">");
            if flow.network {
                self.download(&path);
            }
            if redirect.fd.is_none_or(|fd| fd == 1) {
                self.remember(&path, flow.literal().map(str::to_owned), append);
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
        self.send(host, flow.cargo().max(Cargo::Shell), "/dev/tcp");
        true
    }

    pub(crate) fn remember(&mut self, path: &Text, content: Option<String>, append: bool) {
        let path = absolute(path, self.cwd());
        let Some(path) = path.literal() else { return };
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

    /// A file gets its content from the network.
    pub(crate) fn download(&mut self, path: &Text) {
        let path = absolute(path, self.cwd());
        self.downloaded.extend(path.literal().map(str::to_owned));
    }

    /// Whether this command fetched the file itself.
    pub(crate) fn is_downloaded(&self, path: &Text) -> bool {
        if self.downloaded.is_empty() {
            return false;
        }
        let path = absolute(path, self.cwd());
        path.literal().is_some_and(|path| self.downloaded.iter().any(|known| known == path))
    }

    /// What this command itself has put into a file.
    pub(crate) fn content_of(&self, path: &Text) -> Option<String> {
        if self.written.is_empty() {
            return None;
        }
        let path = absolute(path, self.cwd());
        self.written.get(path.literal()?).cloned()
    }
}
