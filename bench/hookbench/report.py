"""Figures from measurements, as a table and as JSON."""
import statistics

# What a hook may cost, as a multiple of what /bin/true costs (docs/performance.md).
TARGETS = {
    "pre-tool": 1.0,
    "post-tool": 1.1,
    "prompt-submit": 1.05,
    "session-start": 1.9,
    "stop": 3.5,
    "statusline": 0.9,
}
# How large the 95th percentile may be, as a multiple of the hook's own median.
TAIL_TARGET = 1.5
CROWD_TARGET = 3.0
# What a call of another agent may cost, as a multiple of one of Claude Code.
AGENTS_TARGET = 1.1


def figures(times, yardstick):
    """Median and 95th percentile in microseconds; the median also as a multiple of the yardstick's median, the percentile
    also as a multiple of the hook's own median."""
    base = statistics.median(times[yardstick])
    return {
        name: {
            "median_us": round(statistics.median(values) / 1e3, 1),
            "p95_us": round(p95(values) / 1e3, 1),
            "ratio": round(statistics.median(values) / base, 3),
            "p95_of_median": round(p95(values) / statistics.median(values), 3),
        }
        for name, values in times.items()
    }


def p95(values):
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def table(costs, memory):
    """The figures for people."""
    yield f"{'':26}{'median':>10}{'p95':>10}{'× true':>9}{'p95/med':>9}{'memory':>10}  target"
    for name, cost in costs.items():
        held = memory.get(name)
        size = f"{held / 2**20:.1f} MB" if held else ""
        yield (f"{name:26}{cost['median_us']:>7.0f} µs{cost['p95_us']:>7.0f} µs{cost['ratio']:>9.2f}"
               f"{cost['p95_of_median']:>9.2f}{size:>10}  {verdict(name, cost)}")


def verdict(name, cost):
    """Whether a hook meets its targets, in words."""
    if name not in TARGETS:
        return ""
    missed = [word for word, over in (
        ("median", cost["ratio"] > TARGETS[name]),
        ("p95", cost["p95_of_median"] > TAIL_TARGET),
    ) if over]
    return f"≤ {TARGETS[name]}, p95 ≤ {TAIL_TARGET} medians: " + (" and ".join(missed) + " MISSED" if missed else "kept")


def crowd(slowest, yardstick):
    """The median of the slowest of many at once, in microseconds, and as a multiple of the yardstick's."""
    base = statistics.median(slowest[yardstick])
    return {
        name: {"slowest_us": round(statistics.median(values) / 1e3, 1), "ratio": round(statistics.median(values) / base, 3)}
        for name, values in slowest.items()
    }
