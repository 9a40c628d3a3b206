"""Counting a process's instructions with callgrind, which comes to the same on a busy machine and on an idle one."""
import os
import re
import shutil
import subprocess


def available():
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


# Under valgrind a hook is some fifty times slower, so on a busy machine its own time limit may end it.
ATTEMPTS = 8


def count(case, here):
    """How many instructions a process takes; none if it never came to its end in time."""
    for _ in range(ATTEMPTS):
        with open(case.stdin, "rb") as stdin:
            done = subprocess.run(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *case.argv],
                stdin=stdin, env=here.environment, capture_output=True, text=True, check=False)
        counted = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode == 0 and counted:
            return int(counted[1])
        if "time was over" not in done.stderr:
            raise SystemExit(f"{case.name} did not run under callgrind (exit code {done.returncode}):\n{done.stderr}")
    return None
