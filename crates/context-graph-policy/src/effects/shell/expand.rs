//! Expands words to fields: braces, tildes, parameters, splitting and globs, in the shell's order.

use std::rc::Rc;

use super::ast::{Param, Part};
use super::braces::expand_braces;
use super::eval::Shell;
use super::flow::Flow;
use super::transform::{sliced, transformed};
use crate::effects::path::home_of;
use crate::effects::{Origin, Piece, Text, Unknown};

/// Fields under construction.
#[derive(Default)]
struct Fields {
    done: Vec<Text>,
    open: Option<Text>,
}

impl Fields {
    fn open(&mut self) -> &mut Text {
        self.open.get_or_insert_with(Text::default)
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }

    /// Splits unquoted text into fields and makes its globs active.
    fn split(&mut self, text: &Text, separators: &str) {
        for piece in &text.0 {
            match piece {
                Piece::Lit(known) => {
                    for (index, part) in known.split(|c| separators.contains(c)).enumerate() {
                        if index > 0 {
                            self.end();
                        }
                        if !part.is_empty() {
                            self.open().push_globbed(part);
                        }
                    }
                }
                other => self.open().push(other.clone()),
            }
        }
    }
}

impl Shell<'_> {
    /// The fields that a word becomes.
    pub(super) fn fields(&mut self, word: &[Part]) -> Vec<Text> {
        if let [Part::Bare(text)] = word
            && !text.contains(['{', '~', '*', '?', '['])
        {
            return vec![Text::lit(text.as_str())];
        }
        if word.iter().any(|part| matches!(part, Part::Bare(text) if text.contains('{'))) {
            let Some(words) = expand_braces(word.to_vec()) else {
                self.unknown(Unknown::TooLarge);
                return self.fields_of(word);
            };
            return words.iter().flat_map(|word| self.fields_of(word)).collect();
        }
        self.fields_of(word)
    }

    fn fields_of(&mut self, word: &[Part]) -> Vec<Text> {
        let separators = self.split_at.clone().unwrap_or_else(|| " \t\n".to_owned());
        let mut fields = Fields::default();
        for (index, part) in word.iter().enumerate() {
            match part {
                Part::Bare(text) => {
                    let text = match home_of(text, self.base.home) {
                        // A tilde directly before a quote or a parameter is an ordinary character.
                        Some((home, rest)) if index == 0 && (!rest.is_empty() || word.len() == 1) => {
                            fields.open().push_str(&home);
                            rest
                        }
                        // The current folder, and the previous one.
                        _ => match (text.strip_prefix("~+"), text.strip_prefix("~-")) {
                            (Some(rest), _) if index == 0 => {
                                fields.open().extend(self.cwd());
                                rest
                            }
                            (_, Some(rest)) if index == 0 && (rest.is_empty() || rest.starts_with('/')) => {
                                fields.open().extend(&self.came_from());
                                rest
                            }
                            _ => text,
                        },
                    };
                    fields.open().push_globbed(text);
                }
                Part::Quoted(text) => fields.open().push_str(text),
                Part::Param { param, quoted } => {
                    let mut values = self.parameter(param);
                    // `"$*"` is one word.
                    if *quoted && param.name == "*" && values.len() > 1 {
                        values = vec![joined_with_blanks(&values)];
                    }
                    let list = matches!(param.name.as_str(), "@" | "*") || param.index.is_some();
                    for (index, value) in values.iter().enumerate() {
                        if index > 0 {
                            fields.end();
                        }
                        if *quoted {
                            fields.open().extend(value);
                        } else {
                            fields.split(value, &separators);
                        }
                    }
                    if values.is_empty() && *quoted && !list {
                        fields.open();
                    }
                }
                Part::Output { body, quoted } => {
                    let value = self.output_of(body);
                    if *quoted { fields.open().extend(&value) } else { fields.split(&value, &separators) }
                }
                Part::Arithmetic(inner) => {
                    let value = self.arithmetic(inner);
                    fields.open().extend(&value);
                }
                Part::Process(body) => {
                    let flow = self.process(body, &Flow::default());
                    self.descriptors.push(flow);
                    self.substitutions.push(Rc::clone(body));
                    let path = format!("/dev/fd/{}", self.descriptors.len() + 62);
                    fields.open().push_str(&path);
                }
                Part::AnyName => fields.open().push(Piece::Star),
            }
        }
        fields.end();
        if self.stars_reach_hidden {
            let hidden: Vec<Text> = fields.done.iter().filter_map(Text::hidden).collect();
            fields.done.extend(hidden);
        }
        self.charge(fields.done.len());
        fields.done
    }

    /// The text of a word without splitting and globs.
    pub(super) fn joined(&mut self, word: &[Part]) -> Text {
        let mut out = Text::default();
        for (index, part) in word.iter().enumerate() {
            match part {
                Part::Bare(text) => match home_of(text, self.base.home) {
                    Some((home, rest)) if index == 0 && (!rest.is_empty() || word.len() == 1) => {
                        out.push_str(&home);
                        out.push_str(rest);
                    }
                    _ => out.push_str(text),
                },
                Part::Quoted(text) => out.push_str(text),
                Part::Param { param, .. } => {
                    for (index, value) in self.parameter(param).iter().enumerate() {
                        if index > 0 {
                            out.push_str(" ");
                        }
                        out.extend(value);
                    }
                }
                Part::Output { body, .. } => {
                    let value = self.output_of(body);
                    out.extend(&value);
                }
                Part::Arithmetic(inner) => {
                    let value = self.arithmetic(inner);
                    out.extend(&value);
                }
                Part::Process(_) | Part::AnyName => {
                    for field in self.fields_of(std::slice::from_ref(part)) {
                        out.extend(&field);
                    }
                }
            }
        }
        out
    }

    /// The path a redirection names.
    pub(super) fn joined_path(&mut self, word: &[Part]) -> Text {
        let mut fields = self.fields(word);
        if fields.len() == 1 { fields.pop().unwrap_or_default() } else { self.joined(word) }
    }

    fn arithmetic(&mut self, inner: &[Part]) -> Text {
        let text = self.joined(inner);
        self.counted(text.known());
        let sum = text.literal().and_then(|text| {
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let at = text.get(1..)?.find(['+', '-'])? + 1;
            let (left, right) = (text[..at].parse::<i64>().ok()?, text[at + 1..].parse::<i64>().ok()?);
            if text.as_bytes()[at] == b'+' { left.checked_add(right) } else { left.checked_sub(right) }
        });
        match sum {
            Some(sum) => Text::lit(sum.to_string()),
            None => Text::hole(Origin::Output),
        }
    }

    fn parameter(&mut self, param: &Param) -> Vec<Text> {
        let mut name = param.name.clone();
        if param.indirect {
            match self.lookup(&name).first().and_then(Text::literal) {
                Some(target) => target.clone_into(&mut name),
                None if param.index.is_some() => return vec![Text::hole(Origin::Output)],
                // The variable is unknown, so it may hold a credential.
                None => return vec![Text::hole(Origin::Credential)],
            }
        }
        let mut values = match &param.index {
            Some(index) => self.elements(&name, index),
            None => self.lookup(&name),
        };
        if param.length {
            let is_list = param.index.is_some() || matches!(name.as_str(), "@" | "*");
            return vec![length(&values, is_list)];
        }
        if param.evaluated {
            for value in &values {
                self.prompted(value);
            }
        }
        let unset = values.is_empty() || values.iter().all(Text::is_empty);
        let unknown = values.iter().any(Text::has_hole);
        match param.op.as_str() {
            ":-" | "-" | ":=" | "=" => {
                if unset || unknown {
                    let fallback = self.joined(&param.arg);
                    if unset && param.op.ends_with('=') {
                        self.set(&name, fallback.clone());
                    }
                    if unset || fallback.literal().is_some() { vec![fallback] } else { values }
                } else {
                    values
                }
            }
            ":+" | "+" => {
                if unset {
                    Vec::new()
                } else {
                    vec![self.joined(&param.arg)]
                }
            }
            "@" if super::word::plain_text(&param.arg).as_deref() == Some("P") => {
                for value in &values {
                    self.prompted(value);
                }
                vec![Text::hole(Origin::Computed)]
            }
            "@" if super::word::plain_text(&param.arg).as_deref() == Some("E") => unescaped(values),
            "" | ":?" | "?" | "@" | "*" => {
                if param.op.ends_with('?') && (unset || unknown) {
                    self.joined(&param.arg);
                }
                values
            }
            // Positional parameters start at 1, elements of an array at 0.
            ":" if matches!(name.as_str(), "@" | "*") => {
                let arg = self.joined(&param.arg);
                sliced(values, arg.known(), 1)
            }
            ":" if self.is_whole(param) => {
                let arg = self.joined(&param.arg);
                sliced(values, arg.known(), 0)
            }
            op => {
                let arg = self.joined(&param.arg);
                for value in &mut values {
                    *value = transformed(&name, value, op, &arg);
                }
                values
            }
        }
    }

    /// What a subscript selects from an array: one element, or all.
    fn elements(&mut self, name: &str, index: &[Part]) -> Vec<Text> {
        let index = self.joined(index);
        match (self.array(name).cloned(), index.literal()) {
            (Some(items), Some("@" | "*") | None) => items,
            (Some(items), Some(at)) => {
                // If it cannot be computed, it may be any of them.
                let Some(at) = self.computed_index(at) else { return items };
                let length = i64::try_from(items.len()).unwrap_or(0);
                let at = usize::try_from(if at < 0 { at + length } else { at }).unwrap_or(usize::MAX);
                items.into_iter().nth(at).into_iter().collect()
            }
            (None, _) => self.lookup(name),
        }
    }

    /// Whether a parameter refers to all elements of an array.
    fn is_whole(&mut self, param: &Param) -> bool {
        param.index.as_ref().is_some_and(|index| matches!(self.joined(index).literal(), Some("@" | "*")))
    }

    pub(super) fn lookup(&mut self, name: &str) -> Vec<Text> {
        let meant = if self.references.is_empty() { None } else { Some(self.meant(name)) };
        let name = meant.as_deref().unwrap_or(name);
        match name {
            "@" | "*" => return self.positional().get(1..).unwrap_or_default().to_vec(),
            "0" => return vec![self.positional().first().cloned().unwrap_or_else(|| Text::lit("bash"))],
            "?" => return vec![Text::lit("0")],
            "#" => return vec![Text::lit(self.positional().len().saturating_sub(1).to_string())],
            "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "PPID" | "UID" | "EUID" => {
                return vec![Text::lit("4711")];
            }
            "-" => return vec![Text::lit("hB")],
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            return self.positional().get(index).cloned().into_iter().collect();
        }
        if let Some(value) = self.variable(name) {
            return vec![value];
        }
        if let Some(items) = self.array(name) {
            return items.first().cloned().into_iter().collect();
        }
        if self.bare && name != "PWD" {
            return Vec::new();
        }
        vec![match name {
            "HOME" => Text::lit(self.base.home),
            "USER" | "LOGNAME" => Text::lit(self.base.home.rsplit('/').next().unwrap_or_default()),
            "PWD" => self.cwd().clone(),
            "OLDPWD" if self.frame.came_from.is_some() => self.frame.came_from.clone().unwrap_or_default(),
            "CLAUDE_PROJECT_DIR" | "INIT_CWD" => Text::lit(self.project),
            // Settings and scripts of the client. `CLAUDE_ENV_FILE` runs before every command of the session.
            "CLAUDE_CONFIG_DIR" => Text::lit(format!("{}/.claude", self.base.home)),
            "XDG_CONFIG_HOME" => Text::lit(format!("{}/.config", self.base.home)),
            "CLAUDE_ENV_FILE" => Text::lit(format!("{}/.claude/session-env/env.sh", self.base.home)),
            "TMPDIR" | "TMP" | "TEMP" => Text::lit("/tmp"),
            "IFS" => Text::lit(" \t\n"),
            "SHELL" | "BASH" => Text::lit("/bin/bash"),
            "EDITOR" | "VISUAL" => Text::lit("vi"),
            "PAGER" => Text::lit("less"),
            "CARGO" => Text::lit("cargo"),
            "PYTHON" | "PYTHON3" => Text::lit("python3"),
            "NODE" => Text::lit("node"),
            "MAKE" => Text::lit("make"),
            "CC" | "CXX" => Text::lit("cc"),
            // Temporary folders of CI runners.
            _ if ["TEMP", "TMP"].iter().any(|end| name.ends_with(end)) => Text::hole(Origin::Temporary),
            _ if context_graph_secrets::names_credential(name) => {
                Text::hole(crate::guards::token_named(name).map_or(Origin::Credential, Origin::Token))
            }
            _ => Text::hole(Origin::Variable),
        }]
    }
}

/// `${x@E}`: we do not evaluate the escapes, so a value that has some is unknown.
fn unescaped(values: Vec<Text>) -> Vec<Text> {
    let is_escaped = |value: &Text| value.literal().is_none_or(|text| text.contains('\\'));
    if values.iter().any(is_escaped) { vec![Text::hole(Origin::Computed)] } else { values }
}

/// `${#name}`: how many elements a list has, or how many characters a value.
fn length(values: &[Text], is_list: bool) -> Text {
    let length = match values {
        _ if is_list => Some(values.len()),
        [] => Some(0),
        [value, ..] => value.literal().map(|text| text.chars().count()),
    };
    length.map_or_else(|| Text::hole(Origin::Output), |length| Text::lit(length.to_string()))
}

fn joined_with_blanks(values: &[Text]) -> Text {
    let mut joined = Text::default();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            joined.push_str(" ");
        }
        joined.extend(value);
    }
    joined
}
