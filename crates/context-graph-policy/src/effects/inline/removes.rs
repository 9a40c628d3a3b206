//! Statements that remove files.

use super::code_words::{DELETES, RECURSIVE, WALKS};
use super::literals::mentions;
use super::{INLINE, Scan, Statement, computed, has};
use crate::effects::shell::Shell;
use crate::effects::{Access, Text, Unknown};

impl Scan<'_> {
    pub(super) fn removing(&self, shell: &mut Shell<'_>, statement: &Statement<'_>) {
        let low = statement.low.as_str();
        let julia = self.language == "julia" && low.contains("rm(");
        let passed = statement.operands.iter().any(|text| text == "unlink" || text == "rimraf");
        let groovy = self.language == "groovy" && low.trim_start().starts_with("delete ");
        let removes = has(low, DELETES) || julia || groovy || passed || self.by_other_name(low, DELETES);
        if !removes && !self.renamed_delete {
            return;
        }
        let mut targets = statement.targets.clone();
        // What a walk through the project removes is judged as a whole.
        let walks = has(low, WALKS);
        if walks || low.contains("rglob(") && statement.operands.iter().any(|text| text.starts_with("*.")) {
            targets.retain(|target| !matches!(target.known(), "." | "./"));
        }
        let recursive = has(low, RECURSIVE) || groovy || self.renamed_delete || passed;
        if targets.is_empty() {
            targets.extend(computed::place(low).map(Text::lit));
        }
        if targets.is_empty()
            && recursive
            && !self.renamed_delete
            && !self.temporary.iter().any(|name| mentions(low, name))
            && !low.contains("def ")
            && !low.contains("function")
        {
            shell.unknown(Unknown::DeleteTarget(Text::from(statement.text.trim())));
        }
        for target in &targets {
            shell.touch_all(Access::Delete, target, INLINE, recursive);
        }
    }
}
