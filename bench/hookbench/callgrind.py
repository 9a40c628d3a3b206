"""Counts the instructions of a process with callgrind: unlike times, counts do not depend on load."""
import os
import re
import shutil
import signal
import subprocess
import tempfile


def available():
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def count(case, here):
    """How many instructions a process takes, and the addresses that it executed. SIGALRM is blocked, so that the hook's own
    time limit does not end it: under valgrind it is about fifty times slower."""
    with open(case.stdin, "rb") as stdin, tempfile.NamedTemporaryFile("r") as profile:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
             f"--callgrind-out-file={profile.name}", *case.argv],
            stdin=stdin, env=here.environment, capture_output=True, text=True, check=False,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM}))
        met = addresses(profile)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not counted:
        raise SystemExit(f"{case.name} did not run under callgrind (exit code {done.returncode}):\n{done.stderr}")
    return int(counted[1]), met


def addresses(profile):
    """The addresses of the instructions in a profile. Such a line begins with the address."""
    return {int(line.split(" ", 1)[0], 16) for line in profile if line.startswith("0x")}


def section(binary, name):
    """The addresses of a section of a program; None if it has no such section."""
    said = subprocess.run(["readelf", "-SW", binary], capture_output=True, text=True, check=False).stdout
    found = re.search(rf"\s{re.escape(name)}\s+PROGBITS\s+(\w+)\s+\w+\s+(\w+)", said)
    return found and range(int(found[1], 16), int(found[1], 16) + int(found[2], 16))
