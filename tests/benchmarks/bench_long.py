"""Long computations: the time and memory of one gradient each, in a process of its own.

python tests/benchmarks/bench_long.py NAME     runs one of them and prints what it took, as JSON
"""

import json
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
STEPS = 1_000_000


class Limit(NamedTuple):
    """What a gradient may take: seconds, and MB beyond what there was before it; None for any."""

    seconds: float | None
    megabytes: float | None
    note: str


LIMITS = {
    "long loop": Limit(10.0, 400.0, "a scalar loop of 1,000,000 steps"),
    "long loop, checkpointed": Limit(None, 60.0, "the same in 1,000 blocks; in 2.5 times the time"),
    "deep recursion": Limit(None, None, "100,000 calls deep: right, or RecursionError"),
    "large array": Limit(None, 2010.0, "sum(x*x) on 1 GB; 2 GB, and 10 MB for the allocator"),
}  # fmt: skip


def steps(s, n):
    for _ in range(n):
        s = s * 0.999999 + 1e-6 * s * s
    return s


def long_loop(s, blocks, n):
    for _ in range(blocks):
        s = steps(s, n)
    return s


def long_loop_checkpointed(s, blocks, n):
    import rulelab as rl

    for _ in range(blocks):
        s = rl.checkpointed(steps, s, n)
    return s


def steps_bar(s, n):
    """The derivative of `steps` by hand, forwards: exact, and without memory."""
    s_dot = 1.0
    for _ in range(n):
        s_dot *= 0.999999 + 2e-6 * s
        s = s * 0.999999 + 1e-6 * s * s
    return s_dot


def deep(x, n):
    if n == 0:
        return x
    return deep(x, n - 1) * 1.00001


def large(x):
    import numpy as np

    return np.sum(x * x)


def run(name):
    """(seconds, MB, what came out) of one gradient: "right", "wrong" or the name of an error."""
    import numpy as np

    import rulelab as rl

    rl.debug_mode(compare=False)
    if name == "large array":
        rl.gradient(large, np.ones(5000))  # compiled
        x = np.ones(125_000_000)
        before = _peak()
        seconds, found = _timed(lambda: rl.gradient(large, x)[0])
        return (
            seconds,
            _peak() - before,
            _verdict(found.shape == x.shape and found.min() == found.max() == 2.0),
        )
    if name == "deep recursion":
        before = _peak()
        try:
            seconds, found = _timed(lambda: rl.gradient(deep, 2.0, 100_000)[0])
        except RecursionError:
            return float("nan"), _peak() - before, "RecursionError"
        return seconds, _peak() - before, _verdict(abs(found / 1.00001**100_000 - 1) < 1e-9)
    f = long_loop if name == "long loop" else long_loop_checkpointed
    rl.gradient(f, 0.5, 10, 10)  # compiled
    before = _peak()
    seconds, found = _timed(lambda: rl.gradient(f, 0.5, 1000, STEPS // 1000)[0])
    return seconds, _peak() - before, _verdict(abs(found / steps_bar(0.5, STEPS) - 1) < 1e-9)


def _verdict(right):
    return "right" if right else "wrong"


def _timed(call):
    start = time.process_time()  # not the wall's: other programs are none of it
    found = call()
    return time.process_time() - start, found


def _peak():
    """The most memory that the process has had, in MB of 1,000,000 bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux hands ru_maxrss of a large parent on to its children
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measured(name):
    """What a process of its own says of one computation: a dict, or its last words if it broke down."""
    command = [sys.executable, str(HERE / "bench_long.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return {"name": name, "outcome": f"exit {done.returncode}: {done.stderr.strip()[-80:]}"}
    return json.loads(done.stdout)


def verdict(record, plain_seconds=None):
    """Whether a record keeps its limits, in a word or two."""
    limit = LIMITS[record["name"]]
    if record["outcome"] not in ("right", "RecursionError"):
        return record["outcome"]
    missed = []
    if limit.seconds is not None and record["seconds"] > limit.seconds:
        missed.append("too slow")
    if limit.megabytes is not None and record["megabytes"] > limit.megabytes:
        missed.append("too much memory")
    if plain_seconds is not None and record["seconds"] > 2.5 * plain_seconds:
        missed.append("more than 2.5 times the time")
    return ", ".join([record["outcome"], *missed]) if missed else f"{record['outcome']}, within limits"


def records(names=()):
    """One record for each computation, with its verdict."""
    found, plain = [], None
    for name in LIMITS:
        if names and not any(name.startswith(start) for start in names):
            continue
        record = measured(name)
        plain = record.get("seconds") if name == "long loop" else plain
        record["verdict"] = verdict(record, plain if "checkpointed" in name else None)
        found.append(record)
    return found


def table(found):
    """The records as text."""
    from tabulate import tabulate

    rows = [
        [
            one["name"],
            LIMITS[one["name"]].note,
            f"{one['seconds']:.2f} s" if "seconds" in one else "",
            f"{one['megabytes']:.0f} MB" if "megabytes" in one else "",
            one["verdict"],
        ]
        for one in found
    ]
    heads = ["long computation", "", "time", "memory above", "verdict"]
    return tabulate(
        rows, headers=heads, disable_numparse=True, colalign=("left", "left", "right", "right", "left")
    )


def main(name):
    sys.path.insert(0, str(HERE.parents[1]))
    sys.setrecursionlimit(1_000_000)
    threading.stack_size(512 * 1024 * 1024)
    said = []
    thread = threading.Thread(target=lambda: said.append(run(name)))
    thread.start()
    thread.join()
    seconds, megabytes, outcome = said[0]
    print(json.dumps({"name": name, "seconds": seconds, "megabytes": megabytes, "outcome": outcome}))


if __name__ == "__main__":
    main(sys.argv[1])
