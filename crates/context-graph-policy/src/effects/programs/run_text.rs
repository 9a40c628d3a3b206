//! Text, files and streams that are run as scripts.

use crate::effects::path::absolute;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Text};
use crate::programs::lists;

impl Shell<'_> {
    /// Text that is run as a script.
    pub(super) fn script_text(&mut self, script: &Text, stdin: &Flow, by: &str) -> Flow {
        if let Some(known) = script.literal() {
            return self.script_fed(known, stdin);
        }
        if script.has_origin(Origin::Computed) {
            self.unknown(crate::effects::Unknown::Decoded);
            return Flow::default();
        }
        // Replaces unknown values by a placeholder, so that the text around them can still be parsed.
        let mut readable = String::new();
        for piece in &script.0 {
            match piece {
                crate::effects::Piece::Lit(text) => readable.push_str(text),
                crate::effects::Piece::Star => readable.push('*'),
                crate::effects::Piece::One => readable.push('?'),
                crate::effects::Piece::Hole(Origin::Below) => {
                    self.set("__below", Text::hole(Origin::Below));
                    readable.push_str("${__below}");
                }
                crate::effects::Piece::Hole(_) => readable.push_str("$__unknown"),
            }
        }
        if script.is_blank() {
            // `eval "$(ssh-agent -s)"` and similar: output of a known program.
            let trusted = script.has_origin(Origin::Output) && by == "eval" && self.evaluates_known_tool();
            if !trusted {
                self.unknown(crate::effects::Unknown::Piped(by.to_owned()));
            }
            return Flow::default();
        }
        self.script_fed(&readable, stdin)
    }

    /// Whether the command just walked is one whose output is meant for `eval`.
    fn evaluates_known_tool(&self) -> bool {
        let Some(last) = self.out.runs.last() else { return false };
        lists::EVALUATED.contains(&last.name.as_str())
    }

    /// A file that is run as a script. If this command wrote the file, its content is walked.
    pub(super) fn run_file(&mut self, file: &Text, argv: &[Text], stdin: &Flow, by: &str) {
        if let Some(flow) = self.descriptor(file) {
            self.run_stream(&flow, by);
            return;
        }
        // Any other descriptor counts as standard input: the command itself opened it, whatever its number.
        let open = |path: &str| {
            path == "-"
                || path == "/dev/stdin"
                || path.starts_with("/proc/self/fd/")
                || path.starts_with("/proc/thread-self/fd/")
                || path.starts_with("/dev/fd/")
        };
        if file.literal().is_some_and(open) {
            self.run_stream(stdin, by);
            return;
        }
        self.touch(Access::Execute, file, by);
        self.run_tainted(file, by);
        self.run_unpacked(file);
        if let Some(script) = self.content_like(file) {
            self.script_with(&script, argv.to_vec(), stdin);
        } else {
            self.runs_file(file, "sh", &[]);
        }
        if file.has_origin(Origin::Computed) {
            self.unknown(crate::effects::Unknown::Program(file.clone()));
        }
    }

    /// Notes a file that existed before and is run now.
    pub(crate) fn runs_file(&mut self, file: &Text, by: &str, parts: &[&str]) {
        let path = absolute(&self.home_expanded(file), self.cwd());
        let Some(path) = path.literal().filter(|_| self.remote == 0 && self.out.scripts.len() < 8) else {
            return;
        };
        // A copy has the content of its origin.
        let origin = self.origin_of(path);
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        self.out.scripts.push(crate::effects::Script {
            path: origin.unwrap_or_else(|| path.to_owned()),
            by: by.to_owned(),
            parts,
            unasked: false,
        });
    }

    /// The output of the process substitution behind this path.
    pub(crate) fn descriptor(&self, path: &Text) -> Option<Flow> {
        let path = path.literal()?;
        let folders = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];
        let number: u32 = folders.iter().find_map(|folder| path.strip_prefix(folder))?.parse().ok()?;
        if let Some((_, flow)) = self.opened.iter().rev().find(|(known, _)| *known == number) {
            return Some(flow.clone());
        }
        self.descriptors.get(usize::try_from(number).ok()?.checked_sub(63)?).cloned()
    }

    /// Text from a pipe that is run as a script.
    pub(super) fn run_stream(&mut self, stream: &Flow, by: &str) -> Flow {
        use crate::effects::Unknown;
        if stream.network {
            self.unknown(Unknown::Downloaded(by.to_owned()));
        } else if let (Some(text), false) = (&stream.text, stream.decoded) {
            let text = text.clone();
            return self.script_text(&text, &Flow::default(), by);
        } else if stream.decoded {
            self.unknown(Unknown::Decoded);
        } else if stream.file {
            for file in self.files_fed(stream) {
                self.runs_file(&file, "sh", &[]);
            }
        }
        if stream.piped
            && stream.text.is_none()
            && !stream.network
            && !stream.decoded
            && (!stream.file || picks_out(&stream.from))
        {
            self.unknown(Unknown::Piped(if stream.from.is_empty() {
                by.to_owned()
            } else {
                stream.from.clone()
            }));
        }
        Flow { piped: true, from: by.to_owned(), ..Flow::default() }
    }
}

/// Programs that transform a file: their output is not the file's content.
fn picks_out(program: &str) -> bool {
    lists::PICKS_OUT.contains(&program)
}
