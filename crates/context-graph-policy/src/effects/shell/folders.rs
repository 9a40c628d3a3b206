//! The folder that a command runs in: where it goes, what it goes back to, and whether it got there.

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

    /// Goes to a folder, and keeps in mind which one it came from.
    pub(crate) fn move_to(&mut self, folder: Text) {
        self.frame.came_from = Some(std::mem::replace(&mut self.frame.cwd, folder));
    }

    /// `pushd`: the folder that is left is remembered.
    pub(crate) fn leave_folder(&mut self) {
        if self.frame.left.len() < 16 {
            self.frame.left.push(self.frame.cwd.clone());
        }
    }

    /// `popd`: goes back to the folder that was left last.
    pub(crate) fn return_to_folder(&mut self) {
        let folder = self.frame.left.pop().unwrap_or_else(|| Text::hole(Origin::Output));
        self.move_to(folder);
    }

    /// The folder that `cd -` goes back to.
    pub(crate) fn came_from(&self) -> Text {
        self.frame.came_from.clone().unwrap_or_else(|| Text::hole(Origin::Output))
    }

    /// Where a command may have failed to go to a folder, or not have run, what follows may happen in the folder before.
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

    /// Whether the folder that was gone to is there, or this very command seems to make it. Of folders that are named in full
    /// that is taken for granted.
    fn is_there(&self, from: &Text) -> bool {
        let (Some(to), Some(from)) = (self.frame.cwd.literal(), from.literal()) else { return true };
        let Some(below) = to.strip_prefix(from).and_then(|below| below.strip_prefix('/')) else {
            return true;
        };
        let name = below.rsplit('/').next().unwrap_or(below);
        let made = |run: &Run| run.name != "cd" && run.args.iter().any(|arg| arg.prefix().contains(name));
        matches!(self.places.fs.kind(to), Some(FileKind::Folder | FileKind::Link(_)))
            || self.places.fs.kind(from).is_none()
            || self.out.runs.iter().any(made)
            || self.out.paths.iter().any(|effect| effect.target.path.prefix().starts_with(to))
    }
}
