//! Programs that copy files to and from buckets, shares and drop boxes.

use crate::effects::path::{absolute, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, SentKind, Text};
use crate::programs::{Invocation, lists};

impl Shell<'_> {
    /// Reports what an upload sends, and what a download writes; false if the command is neither. Also true for a dry
    /// run, which has nothing to report.
    pub(super) fn uploaded(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let run = call.run;
        let words = &call.words;
        let at = |index: usize| words.get(index).map_or("", |word| word.known());
        let (skip, copies) = match run.name.as_str() {
            "aws" if at(0) == "s3" => (2, matches!(at(1), "cp" | "sync" | "mv")),
            "aws" if at(0) == "s3api" && at(1) == "put-object" => (usize::MAX, true),
            "gcloud" if at(0) == "storage" => (2, matches!(at(1), "cp" | "mv" | "rsync")),
            "gsutil" => (1, matches!(at(0), "cp" | "mv" | "rsync")),
            "az" if at(0) == "storage" => {
                (usize::MAX, words.iter().any(|word| word.known().starts_with("upload")))
            }
            "azcopy" => (1, matches!(at(0), "copy" | "cp" | "sync")),
            "s3cmd" | "s5cmd" | "mc" => (1, matches!(at(0), "put" | "cp" | "sync" | "mirror" | "mv")),
            "b2" => (1, at(0).contains("upload") || at(0) == "sync"),
            "ffsend" => (1, at(0) == "upload"),
            "ncftpput" | "transfer" => (0, true),
            "tftp" | "smbclient" => {
                let puts = run.args.iter().any(|arg| {
                    let text = arg.to_string();
                    text == "put" || text.starts_with("put ") || text.contains("; put ")
                });
                (usize::MAX, puts)
            }
            _ => return false,
        };
        if !copies || call.is_quiet() || call.has_any(&["--dryrun", "--dry-run"]) {
            return copies;
        }
        let files: Vec<Text> = if skip == usize::MAX {
            ["--file", "--body", "--source"].iter().flat_map(|option| call.values(option)).cloned().collect()
        } else {
            let given = words.get(skip..).unwrap_or_default();
            let (last, sources) =
                given.split_last().map_or((None, given), |(last, rest)| (Some(*last), rest));
            if last.is_some_and(|last| {
                !is_elsewhere(last) && run.name != "ncftpput" && !sources.is_empty() && run.name != "b2"
            }) {
                // A download writes a local file.
                if let (Some(last), true) = (last, sources.iter().any(|source| is_elsewhere(source))) {
                    self.touch(Access::Write, last, &run.name);
                    return true;
                }
            }
            let all = if sources.is_empty() { given } else { sources };
            all.iter().filter(|word| !is_elsewhere(word)).map(|word| (*word).clone()).collect()
        };
        let host = words.last().map_or_else(Text::default, |last| (*last).clone());
        let mut kind = SentKind::Nothing;
        for file in &files {
            if file.known() == "-" {
                kind = kind.max(stdin.sent_kind());
                continue;
            }
            self.touch_all(Access::Read, file, &run.name, true);
            kind = kind.max(if self.is_built(file) { SentKind::Data } else { SentKind::File });
        }
        if skip == usize::MAX && files.is_empty() {
            kind = SentKind::File;
        }
        self.send(host, kind, &run.name);
        true
    }

    /// Whether a file is in one of the project's build folders.
    pub(super) fn is_built(&self, file: &Text) -> bool {
        let path = absolute(file, self.cwd());
        let path = path.prefix();
        is_within(path, self.project)
            && path[self.project.trim_end_matches('/').len()..]
                .split('/')
                .any(|name| lists::BUILT.contains(&name))
    }
}

/// Whether a word is an address in a store, not a local file.
fn is_elsewhere(word: &Text) -> bool {
    let text = word.to_string();
    text.contains("://") || text.ends_with(".amazonaws.com")
}
