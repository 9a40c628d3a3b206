//! `xargs` and `parallel`: programs that take arguments from a pipe.

use crate::effects::shell::{Flow, Shell};
use crate::effects::{Origin, Piece, Run, Text, Unknown};
use crate::programs::Invocation;

impl Shell<'_> {
    /// `xargs command`: the command gets the piped words as arguments.
    pub(super) fn xargs(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let run = call.run;
        let mut rest: Vec<Text> = call.command().to_vec();
        let mut listed = None;
        if let Some(at) = rest.iter().position(|arg| matches!(arg.literal(), Some(":::" | ":::+"))) {
            let fed: Vec<Text> = rest.split_off(at).into_iter().skip(1).collect();
            if rest.is_empty() {
                // Without a command, each input line is a command.
                for script in &fed {
                    self.script_text(script, &Flow::default(), "parallel");
                }
                return Flow::default();
            }
            listed = Some(fed);
        }
        // With `-I`, `-0` or `-d` a whole line or record is one argument.
        let whole = run.name == "parallel" || call.has_any(&["-I", "-i", "-0", "-d", "-L"]);
        let fed = listed.unwrap_or_else(|| self.fed_words(stdin, whole));
        let braces = || "{}".to_owned();
        let placeholder = if call.has_any(&["-I", "-i"]) {
            let given = call.value("-I").or_else(|| call.value("-i")).map(|text| text.known().to_owned());
            Some(given.filter(|mark| !mark.is_empty()).unwrap_or_else(braces))
        } else {
            (run.name == "parallel").then(braces)
        };
        // A single word with spaces is a shell line.
        if let ("parallel", [line]) = (run.name.as_str(), rest.as_slice())
            && line.known().contains(' ')
        {
            for value in fed.iter().take(16) {
                let mark = placeholder.as_deref().unwrap_or("{}");
                let mut script = replaced(line, mark, value);
                if !line.known().contains(mark) {
                    script.push_str(" ");
                    script.extend(value);
                }
                self.script_text(&script, &Flow::default(), "parallel");
            }
            return Flow::default();
        }
        if rest.is_empty() {
            if run.name != "parallel" {
                return Flow { file: stdin.file, ..stdin.clone() };
            }
            for script in fed {
                self.script_text(&script, &Flow::default(), "parallel");
            }
            return Flow::default();
        }
        self.clean_listed(&rest);
        // The server that sends the list chooses what is removed.
        let removes = ["rm", "unlink", "shred", "rmdir", "trash"];
        if stdin.network && rest.first().is_some_and(|program| removes.contains(&program.known())) {
            self.unknown(Unknown::DeleteTarget(Text::hole(Origin::Output)));
        }
        let mut flow = Flow::default();
        if let Some(mark) =
            placeholder.filter(|mark| rest.iter().any(|arg| arg.known().contains(mark.as_str())))
        {
            for value in &fed {
                let argv = rest.iter().map(|arg| replaced(arg, &mark, value)).collect();
                flow = self.run(argv, run.assigns.clone(), &Flow::default());
            }
        } else if !fed.is_empty()
            && rest.first().is_some_and(|program| super::variables::is_shell(program.known()))
        {
            // The script's `$0` or `$1` is each value in turn.
            for value in fed.into_iter().take(16) {
                let argv = rest.iter().cloned().chain([value]).collect();
                flow = self.run(argv, run.assigns.clone(), &Flow::default());
            }
        } else {
            rest.extend(fed);
            flow = self.run(rest, run.assigns.clone(), &Flow::default());
        }
        flow
    }

    /// The words on standard input, as far as they are known. With `whole`, a line or record is one word.
    fn fed_words(&self, stdin: &Flow, whole: bool) -> Vec<Text> {
        match stdin.literal() {
            Some(text) => {
                let cut = |c: char| c == '\0' || c == '\n' || (!whole && c.is_whitespace());
                let mut words = text.split(cut).filter(|word| !word.is_empty());
                let mut fed: Vec<Text> = words.by_ref().take(64).map(Text::lit).collect();
                if words.next().is_some() {
                    fed.push(Text::hole(Origin::Output));
                }
                fed
            }
            None if stdin.decoded => vec![Text::hole(Origin::Computed)],
            None => {
                let mut found = self.out_found();
                match &stdin.text {
                    Some(text) => found.extend(lines_of(text)),
                    None => found.push(stdin.clone().into_value()),
                }
                found
            }
        }
    }

    /// `git ls-files --others | xargs rm` has the effect of `git clean`.
    fn clean_listed(&mut self, command: &[Text]) {
        let removes = matches!(command.first().map(Text::known), Some("rm" | "unlink" | "shred" | "trash"));
        let Some(last) = self.out.runs.last().filter(|run| removes && run.name == "git").cloned() else {
            return;
        };
        let listing = self.known.read(&last);
        if listing.word(0) != "ls-files" || !listing.has("--others") {
            return;
        }
        let kind = if listing.has("--ignored") { "-fdX" } else { "-fd" };
        let folder = listing.operands().first().map(|folder| (*folder).clone());
        let words = ["git", "clean", kind].map(Text::lit).into_iter().chain(folder).collect();
        self.run(words, Vec::new(), &Flow::default());
    }

    /// What the `find` or `ls` before the pipe prints, as patterns.
    fn out_found(&self) -> Vec<Text> {
        let passes =
            |run: &&Run| !matches!(run.name.as_str(), "grep" | "sort" | "head" | "uniq" | "tail" | "rg");
        let Some(last) = self.out.runs.iter().rev().find(passes) else { return Vec::new() };
        // After `head` or a search, the list is no longer complete.
        let whole =
            self.out.runs.iter().rev().take_while(|run| !passes(run)).all(|run| match run.name.as_str() {
                "sort" | "uniq" => true,
                "grep" | "rg" => self.known.read(run).has("-v"),
                _ => false,
            });
        match last.name.as_str() {
            "find" | "fd" => {
                let found = super::find::reported(&self.known.read(last));
                let inside = found.as_ref().filter(|_| whole).and_then(super::find::contents);
                found.into_iter().chain(inside).collect()
            }
            "ls" => {
                let call = self.known.read(last);
                let named = call.operands();
                let mut all = Text::default();
                all.push_globbed("./*");
                let all = (named.is_empty() && whole).then_some(all);
                named.iter().map(|name| (*name).clone()).chain(all).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Splits text with patterns at line and word ends.
fn lines_of(text: &Text) -> Vec<Text> {
    let mut lines = vec![Text::default()];
    for piece in &text.0 {
        match piece {
            Piece::Lit(known) => {
                for (index, part) in known.split(['\n', '\0', ' ']).enumerate() {
                    if index > 0 {
                        lines.push(Text::default());
                    }
                    if let Some(last) = lines.last_mut() {
                        last.push_str(part);
                    }
                }
            }
            other => {
                if let Some(last) = lines.last_mut() {
                    last.push(other.clone());
                }
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.truncate(64);
    lines
}

/// The argument with every `mark` replaced by the value.
pub(super) fn replaced(arg: &Text, mark: &str, value: &Text) -> Text {
    let Some(text) = arg.literal() else { return arg.clone() };
    let mut out = Text::default();
    for (index, part) in text.split(mark).enumerate() {
        if index > 0 {
            out.extend(value);
        }
        out.push_str(part);
    }
    out
}
