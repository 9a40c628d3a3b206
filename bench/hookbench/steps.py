"""Running a process one instruction at a time, to see everything that it runs.

It takes seconds a process. Valgrind is faster, but cannot map a file as large as the database may grow, so it does not
see the hooks that open it.
"""
import ctypes
import os

PTRACE_TRACEME, PTRACE_PEEKUSER, PTRACE_SINGLESTEP = 0, 3, 9
ADDR_NO_RANDOMIZE = 0x0040000
# Where the address of the next instruction is, in what x86-64 lets a tracer see.
RIP = 16 * 8

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def addresses(case, here):
    """The addresses of the instructions that a process runs, each once, in the order in which they are met."""
    # On one processor the two take turns; on two they would have to wake each other, which takes far longer.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    pid = os.fork()
    if pid == 0:
        become(case, here)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise SystemExit(f"{case.name} cannot be observed: is ptrace allowed here?")
    met = {}
    while os.WIFSTOPPED(status):
        met.setdefault(libc.ptrace(PTRACE_PEEKUSER, pid, RIP, None))
        # A signal is not passed on: the timer that ends a late hook would end this one.
        libc.ptrace(PTRACE_SINGLESTEP, pid, None, None)
        _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit(f"{case.name}: {' '.join(case.argv)} < {case.stdin} ended with {status}")
    return list(met)


def become(case, here):
    """Turns this process into the observed one."""
    try:
        # The same addresses each time: how memory is aligned decides how it is copied.
        libc.personality(ADDR_NO_RANDOMIZE)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(os.open(case.stdin, os.O_RDONLY), 0)
        os.dup2(null, 1)
        os.dup2(null, 2)
        libc.ptrace(PTRACE_TRACEME, 0, None, None)
        os.execve(case.argv[0], case.argv, here.environment)
    finally:
        os._exit(127)
