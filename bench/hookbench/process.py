"""Starts a process and measures it."""
import ctypes
import os
import signal
import time

PTRACE_CONT, PTRACE_SEIZE, PTRACE_O_TRACEEXIT, PTRACE_EVENT_EXIT = 7, 0x4206, 0x40, 6


def urgent():
    """Sets real-time priority for us and our child processes, where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        return True
    except (PermissionError, AttributeError):
        return False


def start(case, environment, null, source):
    """The id of a new process, with `source` as its stdin."""
    return os.posix_spawn(case.argv[0], case.argv, environment, file_actions=[
        (os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])


def time_of(case, environment, null):
    """Nanoseconds from starting a process until its exit was waited for."""
    source = os.open(case.stdin, os.O_RDONLY)
    try:
        begin = time.perf_counter_ns()
        pid = start(case, environment, null, source)
        _, status = os.waitpid(pid, 0)
        end = time.perf_counter_ns()
    finally:
        os.close(source)
    if status:
        raise SystemExit(f"{case.name}: {' '.join(case.argv)} < {case.stdin} ended with {status}")
    for other in case.after:
        time_of(other, environment, null)
    return end - begin


def slowest_of(case, count, environment, null):
    """Nanoseconds of the slowest of `count` processes that were started at once."""
    sources = [os.open(case.stdin, os.O_RDONLY) for _ in range(count)]
    begun, slowest = {}, 0
    for source in sources:
        now = time.perf_counter_ns()
        begun[start(case, environment, null, source)] = now
    while begun:
        pid, _ = os.wait()
        slowest = max(slowest, time.perf_counter_ns() - begun.pop(pid))
    for source in sources:
        os.close(source)
    return slowest


def peak_memory(case, environment, null, stdin=None):
    """The peak memory of a process, in bytes; None where ptrace is not allowed.

    The figure from `wait` cannot be used: it includes the memory of the parent process. So the process is stopped at its
    exit, and its status is read then."""
    if stdin is None:
        with open(case.stdin, "rb") as file:
            stdin = file.read()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    source, feed = os.pipe()
    pid = start(case, environment, null, source)
    os.close(source)
    observed = libc.ptrace(PTRACE_SEIZE, pid, None, PTRACE_O_TRACEEXIT) == 0
    with open(feed, "wb") as file:
        file.write(stdin)
    peak = None
    while True:
        _, status = os.waitpid(pid, 0)
        if not os.WIFSTOPPED(status):
            break
        if status >> 8 == signal.SIGTRAP | PTRACE_EVENT_EXIT << 8:
            peak = held(pid)
        libc.ptrace(PTRACE_CONT, pid, None, None)
    for other in case.after:
        time_of(other, environment, null)
    return peak if observed else None


def held(pid):
    """The peak memory of a running process so far, in bytes."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        line = next(line for line in file if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
