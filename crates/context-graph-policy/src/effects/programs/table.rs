//! Applies what the tables say about a program's options and operands.

use crate::effects::inline;
use crate::effects::path::arrived;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, SentKind, Text, Unknown};
use crate::programs::{Invocation, Role};

/// How many lines of a file are searched for commands.
const MAX_LINES: usize = 64;

impl Shell<'_> {
    /// Applies the roles of the values of a program's options.
    pub(super) fn option_roles(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let quiet = call.is_quiet();
        for given in &call.given {
            let roles = given.option.map_or(&[][..], |option| &option.takes);
            for (role, value) in roles.iter().zip(&given.values) {
                self.play(*role, value, call, quiet, stdin);
            }
        }
    }

    /// Applies the roles of the operands; false if the table has none.
    pub(super) fn described(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        if call.row().is_none_or(|row| row.operands.is_none() && row.forms.is_empty()) {
            return false;
        }
        let kinds = call.kinds();
        let operands = call.operands();
        let before = kinds.iter().take_while(|kind| !kind.many).count();
        let after = kinds.len().saturating_sub(before + 1);
        let quiet = call.is_quiet();
        for (at, operand) in operands.iter().enumerate() {
            let from_end = operands.len() - at;
            let kind = if at < before {
                kinds.get(at)
            } else if from_end <= after && operands.len() > before + after {
                kinds.get(kinds.len() - from_end)
            } else {
                kinds.get(before)
            };
            if let Some(kind) = kind {
                self.play(kind.role, operand, call, quiet, stdin);
            }
        }
        true
    }

    fn play(&mut self, role: Role, value: &Text, call: &Invocation<'_>, quiet: bool, stdin: &Flow) {
        // For git, the guards need to know the subcommand.
        let named = (call.run.name == "git").then(|| format!("git {}", call.word(0)));
        let by = named.as_deref().unwrap_or(&call.run.name);
        let changes =
            matches!(role, Role::Write | Role::Within | Role::Delete | Role::Tree | Role::Permissions);
        if quiet && changes {
            return;
        }
        // Several programs take `|command` where a file is expected.
        if let (Role::Read | Role::Write, Some(command)) = (role, value.strip_prefix("|")) {
            self.script_text(&command, stdin, by);
            return;
        }
        let recursive = || call.rows.iter().any(|row| row.recursive.iter().any(|terms| call.holds(terms)));
        match role {
            Role::Value | Role::Number | Role::Folder | Role::Command | Role::After => {}
            Role::Read => self.touch(Access::Read, value, by),
            Role::Gather => self.touch_all(Access::Read, value, by, true),
            Role::Send => {
                let fed = value.known() == "-";
                let kind = if fed {
                    stdin.sent_kind()
                } else if self.is_built(value) {
                    SentKind::Data
                } else {
                    SentKind::File
                };
                self.touch_all(Access::Read, value, by, true);
                self.send(Text::lit("another machine"), kind, by);
            }
            Role::Write => {
                self.touch(Access::Write, value, by);
                if matches!(by, "sort" | "uniq" | "tee" | "sponge") && stdin.piped {
                    self.pour(value, stdin, false);
                }
            }
            Role::Within => self.write_within(value, by),
            Role::Delete => self.delete(value, by, recursive()),
            // These programs expand patterns themselves.
            Role::Tree if value.known().contains('*') => {
                let mut globbed = Text::default();
                globbed.push_globbed(value.known());
                self.delete(&globbed, by, true);
            }
            Role::Tree => self.delete(value, by, true),
            Role::Permissions => self.touch_all(Access::Permissions, value, by, recursive()),
            Role::Execute => self.execute(value, by, stdin),
            Role::Setting => self.setting(value, stdin, by),
            Role::Mention => self.touch(Access::Mention, value, by),
            Role::Shell => {
                // Some programs mark a shell command with `!`.
                let script = value.strip_prefix("!");
                let flow = self.script_text(script.as_ref().unwrap_or(value), stdin, by);
                self.end_pipeline(&flow);
            }
            // In emacs adjacent strings are two strings, in most other languages one.
            Role::Code if by.starts_with("emacs") => {
                inline::scan(self, "emacs", &value.to_string().replace("\" \"", "\", \""), &[]);
            }
            Role::Code => inline::scan(self, by, &value.to_string(), &[]),
        }
    }

    /// A file that a program runs in its own language. Scans the content if this command wrote it.
    fn execute(&mut self, file: &Text, by: &str, stdin: &Flow) {
        self.touch(Access::Execute, file, by);
        self.run_tainted(file, by);
        let fed = matches!(file.known(), "-" | "/dev/stdin").then(|| stdin.clone());
        let content = match fed.or_else(|| self.descriptor(file)) {
            Some(flow) if flow.network => return self.unknown(Unknown::Downloaded(by.to_owned())),
            Some(flow) => flow.literal().map(str::to_owned),
            None => self.content_of(file),
        };
        let Some(content) = content else { return };
        inline::scan(self, by, &content, &[]);
        self.cmake_code(&content, by);
        for line in content.lines().take(MAX_LINES) {
            // A command may follow a keyword of the program: `ProxyCommand rm …`, `:!rm …`.
            let behind = line.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
            for line in [line, behind] {
                self.handed_line(&Text::lit(line.trim()));
            }
        }
    }

    /// A setting `name=value`: the value may be a command.
    fn setting(&mut self, setting: &Text, stdin: &Flow, by: &str) {
        let Some((_, value)) = setting.split_once('=') else { return };
        match value.strip_prefix("!") {
            Some(script) => {
                self.script_text(&script, stdin, by);
            }
            None => self.handed_line(&value),
        }
    }

    /// The folder that options such as `-C` make the program change to first.
    pub(super) fn goes_to(&self, call: &Invocation<'_>) -> Option<Text> {
        let mut place: Option<Text> = None;
        for given in &call.given {
            let is_folder = given.option.is_some_and(|option| option.takes.first() == Some(&Role::Folder));
            if let (true, Some(folder)) = (is_folder, given.values.first()) {
                let from = place.as_ref().unwrap_or_else(|| self.cwd());
                place = Some(arrived(&self.home_expanded(folder), from, self.base.fs));
            }
        }
        place
    }

    /// Runs the command of a wrapper. The table says where it starts.
    pub(super) fn wrapped(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        self.run_rest(call.command().iter().collect(), call.run, stdin)
    }
}
