//! A simple command: its words, assignments and redirections, and the program it calls.

use super::ast::Simple;
use super::eval::{MAX_VALUES, Shell};
use super::flow::{Flow, merge};
use crate::effects::Text;

impl Shell<'_> {
    /// Walks a command once for each possible value of its variables.
    pub(super) fn simple(&mut self, simple: &Simple, stdin: &Flow) -> Flow {
        let mut result = Flow::default();
        self.choice = 0;
        self.most_choices = 1;
        let mut turn = 0;
        loop {
            self.choice = turn;
            let flow = self.simple_once(simple, stdin);
            result = if turn == 0 { flow } else { merge(result, flow) };
            turn += 1;
            if turn >= self.most_choices.min(MAX_VALUES) {
                self.choice = 0;
                return result;
            }
        }
    }

    fn simple_once(&mut self, simple: &Simple, stdin: &Flow) -> Flow {
        let fields: Vec<Text> = if let [word] = simple.words.as_slice() {
            self.fields(word)
        } else {
            simple.words.iter().flat_map(|word| self.fields(word)).collect()
        };
        let choices = self.most_choices;
        let declares = matches!(
            fields.first().map(Text::known),
            Some("declare" | "typeset" | "local" | "export" | "readonly")
        );
        let mut assigns = Vec::new();
        let mut given = Vec::new();
        for assign in &simple.assigns {
            let value = self.assigned(assign);
            if fields.is_empty() {
                self.assign(assign, value.clone());
            }
            assigns.push((assign.name.clone(), value.first().cloned().unwrap_or_default()));
            given.push((assign, value));
        }
        // All words are expanded before the first variable is set.
        if declares {
            self.declare_all(&fields, given);
        }
        let input = self.redirected(&simple.redirects, stdin);
        let empties = writes_nothing(&fields) && !stdin.piped && simple.redirects.len() == 1;
        let mut flow = if fields.is_empty() {
            if assigns.is_empty() { input } else { Flow::default() }
        } else if let Some(body) = fields[0].literal().and_then(|name| self.functions.get(name)).cloned() {
            self.run_hidden(&fields, &assigns, &input);
            self.call(&body, fields, &input)
        } else if let Some(meant) = self.alias_of(&fields[0]) {
            self.run_hidden(&fields, &assigns, &input);
            self.call_alias(&meant, fields, &input)
        } else {
            self.run(fields, assigns, &input)
        };
        self.most_choices = self.most_choices.max(choices);
        let by = if empties { ": >" } else { ">" };
        self.redirect_out(&simple.redirects, &mut flow, by);
        flow
    }
}

/// Whether a command prints nothing, so that a redirection empties the file.
fn writes_nothing(fields: &[Text]) -> bool {
    match fields {
        [] => true,
        [only] => matches!(only.known(), ":" | "true"),
        [cat, file] => cat.known() == "cat" && file.literal() == Some("/dev/null"),
        _ => false,
    }
}
