//! Environment variables that make a program run something.

use crate::effects::path::{absolute, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Origin, Piece, Text, Unknown};

impl Shell<'_> {
    /// What a variable makes a program do.
    pub(super) fn variable_for_program(&mut self, program: &str, variable: &str, value: &Text) {
        if value.is_empty() {
            return;
        }
        match variable {
            "GIT_SSH_COMMAND"
            | "GIT_EDITOR"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_PAGER"
            | "GIT_EXTERNAL_DIFF"
            | "PAGER"
            | "EDITOR"
            | "VISUAL"
            | "PROMPT_COMMAND"
            | "GIT_ASKPASS"
            | "LESSOPEN"
            | "MANPAGER"
            | "GIT_PROXY_COMMAND"
            | "BROWSER"
            | "FZF_DEFAULT_COMMAND"
            | "SUDO_ASKPASS"
            | "SSH_ASKPASS" => {
                if let Some(script) = value.literal() {
                    self.script(script.trim_start_matches('|'));
                }
            }
            // Build tools call these.
            "RUSTC_WRAPPER" | "RUSTC" | "CC" | "CXX" | "LD" | "AR" | "RUSTC_WORKSPACE_WRAPPER" => {
                self.handed_line(value);
            }
            "MAKEFLAGS" | "GNUMAKEFLAGS" | "LESS" | "MORE" => self.handed_line(value),
            "PERL5DB" => crate::effects::inline::scan(self, "perl", value.known(), &[]),
            // A shell reads this file first.
            "BASH_ENV" | "ENV" if is_shell(program) => self.run_file(value, &[], &Flow::default(), program),
            // With `-x`, a shell expands this before each command.
            "PS4" | "PS1" | "PS0" | "PS2" if value.prefix().contains(['$', '`']) => {
                self.script(&format!(": \"{}\"", value.known()));
            }
            "LD_PRELOAD" | "DYLD_INSERT_LIBRARIES" | "LD_AUDIT" if !self.are_installed(value) => {
                self.unknown(Unknown::Opaque(format!("{variable} puts code into another program")));
            }
            _ => {}
        }
    }

    /// Whether all libraries of a list are in a system folder. The rest of the list may be the variable's old value.
    fn are_installed(&self, list: &Text) -> bool {
        let installed = |library: &Text| {
            let place = absolute(library, self.cwd());
            let leads_up = place.to_string().split('/').any(|name| name == "..");
            !leads_up && LIBRARIES.iter().any(|folder| is_within(place.prefix(), folder))
        };
        let mut rest = Text::default();
        for piece in &list.0 {
            match piece {
                Piece::Lit(text) => rest.push_str(&text.replace(':', " ")),
                other => rest.push(other.clone()),
            }
        }
        let mut known = false;
        loop {
            let next = rest.split_once(' ');
            let (library, more) = next.map_or((rest, None), |(library, more)| (library, Some(more)));
            let is_old = library.is_empty() || library.is_blank() && library.has_origin(Origin::Variable);
            if !is_old && !installed(&library) {
                return false;
            }
            known |= !is_old;
            match more {
                Some(more) => rest = more,
                None => return known,
            }
        }
    }
}

/// Folders for installed libraries.
const LIBRARIES: &[&str] =
    &["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/lib", "/lib32", "/lib64", "/opt/homebrew"];

pub(super) fn is_shell(name: &str) -> bool {
    crate::programs::lists::SHELLS.contains(&name)
}
