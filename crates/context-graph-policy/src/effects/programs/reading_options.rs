//! Files that a program reads by an option or a function of its own language rather than by an operand.

use super::option_values;
use crate::effects::inline::string_literals;
use crate::effects::shell::Shell;
use crate::effects::{Access, Run, Text};

/// Functions and commands of database clients that read a file.
const SQL_READS: &[&str] =
    &["readfile(", "read_text(", "read_csv(", "read_blob(", "load_file(", "pg_read_file("];

impl Shell<'_> {
    /// Reports the files that are read without being an operand.
    pub(super) fn reading_options(&mut self, run: &Run) {
        match run.name.as_str() {
            "jq" | "gojq" => {
                for pair in run.args.windows(3) {
                    if matches!(pair[0].known(), "--rawfile" | "--slurpfile") {
                        self.touch(Access::Read, &pair[2], &run.name);
                    }
                }
            }
            // What is said to others may stand in a file.
            "gh" | "glab" if matches!(run.arg(0), "pr" | "issue" | "mr" | "discussion") => {
                for file in option_values(&run.args, "-F", "--body-file") {
                    self.touch(Access::Read, &file, &run.name);
                }
            }
            "date" => {
                for file in option_values(&run.args, "-f", "--file") {
                    self.touch(Access::Read, &file, &run.name);
                }
            }
            "sqlite3" | "sqlite" | "duckdb" | "mysql" | "mariadb" | "psql" => {
                for arg in run.args.iter().map(Text::known) {
                    self.statement_reads(arg, &run.name);
                }
            }
            _ => {}
        }
    }

    fn statement_reads(&mut self, statement: &str, by: &str) {
        let low = statement.to_ascii_lowercase();
        if SQL_READS.iter().any(|call| low.contains(call)) {
            for file in string_literals(statement) {
                self.touch(Access::Read, &Text::lit(file), by);
            }
        }
        let imported = low.trim_start().strip_prefix(".import ").map(str::trim_start);
        if let Some(file) = imported.and_then(|rest| rest.split_whitespace().next()) {
            self.touch(Access::Read, &Text::lit(file), by);
        }
    }
}
