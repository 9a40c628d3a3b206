"""Counting a process's instructions with callgrind, which comes to the same on a busy machine and on an idle one."""
import os
import re
import shutil
import subprocess


def available():
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def count(case, here):
    """How many instructions a process takes; none if its own time limit ended it, which comes on a busy machine: under
    valgrind a hook is some fifty times slower."""
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
