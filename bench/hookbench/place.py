"""A separate project for a measurement, with an environment that is the same everywhere."""
import contextlib
import os
import shutil
import tempfile


class Place:
    """Where measured processes run: a fresh project, the binary as an installed copy, and a fixed environment."""

    def __init__(self, folder):
        self.project = os.path.join(folder, "project")
        self.programs = os.path.join(folder, "bin")
        os.mkdir(self.project)
        os.mkdir(self.programs)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": self.project, "CLAUDE_PROJECT_DIR": self.project}

    def install(self, binary):
        """A copy of the binary. A linker writes its file in small pieces, and the page cache keeps them small; an
        installed file is written in one go, starts faster, and is what users run."""
        copy = os.path.join(self.programs, "context-graph")
        shutil.copyfile(binary, copy)
        os.chmod(copy, 0o755)
        return copy


@contextlib.contextmanager
def place():
    """A place in a temporary folder, which is removed afterwards. Its name has a fixed length, because longer paths cost time."""
    folder = tempfile.mkdtemp(prefix="hook-cost-")
    try:
        yield Place(folder)
    finally:
        shutil.rmtree(folder)
