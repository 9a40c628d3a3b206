//! The folder a command runs in: where it goes, where it returns to, and whether it got there.

use super::ast::Node;
use super::eval::Shell;
use super::flow::Flow;
use crate::effects::{FileKind, Origin, Run, Text};

impl Shell<'_> {
    pub(crate) fn cwd(&self) -> &Text {
        &self.frame.cwd
    }

    pub(crate) fn set_cwd(&mut self, cwd: Text) {
        self.frame.cwd = cwd;
    }

    /// Changes to a folder and remembers the previous one.
    pub(crate) fn move_to(&mut self, folder: Text) {
        self.frame.came_from = Some(std::mem::replace(&mut self.frame.cwd, folder));
    }

    /// `pushd`: remembers the current folder.
    pub(crate) fn leave_folder(&mut self) {
        if self.frame.left.len() < 16 {
            self.frame.left.push(self.frame.cwd.clone());
        }
    }

    /// `popd`: returns to the last remembered folder.
    pub(crate) fn return_to_folder(&mut self) {
        let folder = self.frame.left.pop().unwrap_or_else(|| Text::hole(Origin::Output));
        self.move_to(folder);
    }

    /// The folder that `cd -` returns to.
    pub(crate) fn came_from(&self) -> Text {
        self.frame.came_from.clone().unwrap_or_else(|| Text::hole(Origin::Output))
    }

    /// If a `cd` may have failed or not have run, walks the rest a second time in the previous folder.
    pub(super) fn stay(&mut self, item: &Node, before: (Text, Vec<Text>), rest: &[Node]) {
        let changed = self.frame.cwd != before.0 || self.frame.positional != before.1;
        if !changed || self.stays || !matches!(rest.first(), Some(next) if !matches!(next, Node::Maybe(_))) {
            return;
        }
        let is_sure =
            !super::loops::may_not_run(item) && (self.frame.cwd == before.0 || self.is_there(&before.0));
        if is_sure {
            return;
        }
        self.stays = true;
        let saved = self.frame.clone();
        (self.frame.cwd, self.frame.positional) = before;
        for item in rest {
            self.node(item, &Flow::default());
        }
        self.frame = saved;
        self.stays = false;
    }

    /// Whether the new folder exists, or this command seems to create it. Folders that are not below the
    /// previous one are assumed to exist.
    fn is_there(&self, from: &Text) -> bool {
        let (Some(to), Some(from)) = (self.frame.cwd.literal(), from.literal()) else { return true };
        let Some(below) = to.strip_prefix(from).and_then(|below| below.strip_prefix('/')) else {
            return true;
        };
        let name = below.rsplit('/').next().unwrap_or(below);
        let made = |run: &Run| run.name != "cd" && run.args.iter().any(|arg| arg.prefix().contains(name));
        matches!(self.base.fs.kind(to), Some(FileKind::Folder | FileKind::Link(_)))
            || self.base.fs.kind(from).is_none()
            || self.out.runs.iter().any(made)
            || self.out.paths.iter().any(|effect| effect.target.path.prefix().starts_with(to))
    }
}
