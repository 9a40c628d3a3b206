//! Environment variables that make a program run something.

use crate::effects::shell::{Flow, Shell};
use crate::effects::{Text, Unknown};

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
            "LD_PRELOAD" | "DYLD_INSERT_LIBRARIES" | "LD_AUDIT" => {
                let installed = ["/usr/lib", "/lib", "/opt/homebrew"];
                if !installed.iter().any(|folder| value.prefix().starts_with(folder)) {
                    self.unknown(Unknown::Opaque(format!("{variable} puts code into another program")));
                }
            }
            _ => {}
        }
    }
}

pub(super) fn is_shell(name: &str) -> bool {
    crate::programs::lists::SHELLS.contains(&name)
}
