"""A contest: several ways to one gradient, each checked before it is timed, then timed in turns.

Times are of the processor, of all threads of the process, which is pinned to one core: what other processes
do meanwhile is not in them.
"""

import ctypes
import gc
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

SINGLE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
LONG = 0.25  # seconds of a call of which also the trial counts as a round
WARMING = 3  # calls before any is timed
PLAIN, HAND = "plain", "by hand"


def one_thread():
    """Ask the linear-algebra libraries for one thread; counts only before NumPy is first imported."""
    for name in SINGLE_THREAD:
        os.environ[name] = "1"


def nothing_kept():
    """Ask tangent to keep no derivatives on disk: a first call is to be one."""
    os.environ["TANGENT_DISK_CACHE"] = "0"


def one_core():
    """Stay on the last core that this process may use, where a system can do that; how many there were."""
    if not hasattr(os, "sched_setaffinity"):
        return os.cpu_count()
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    return len(cores)


@dataclass(frozen=True)
class Contest:
    """One problem: the function, its gradient by hand or None, and the entrants: calls without arguments.

    `gap` tells how far an entrant's answer is from the right gradient, relative to the size of that; without
    one the gradient by hand is the right one.
    """

    name: str
    plain: Callable
    hand: Callable | None
    entrants: dict[str, Callable]
    tolerance: float = 1e-9
    gap: Callable | None = None


@dataclass
class Row:
    """What was measured of an entrant: seconds of a call in each round, of the first call; MB at its peak."""

    contest: str
    entrant: str
    samples: list[float] = field(default_factory=list)
    failure: str | None = None
    first: float | None = None
    megabytes: float | None = None

    @property
    def minimum(self):
        return min(self.samples)

    @property
    def median(self):
        return statistics.median(self.samples)


def disagreement(found, wanted):
    """The largest difference of two gradients, relative to the largest entry of the wanted one."""
    import numpy as np

    found = [np.asarray(g, dtype=float) for g in found if g is not None]
    wanted = [np.asarray(g, dtype=float) for g in wanted if g is not None]
    if len(found) != len(wanted) or any(f.shape != w.shape for f, w in zip(found, wanted)):
        return float("inf")
    scale = max(1e-300, *(float(np.max(np.abs(w))) for w in wanted))
    return max(float(np.max(np.abs(f - w))) for f, w in zip(found, wanted)) / scale


def words(error):
    """An error in one short line."""
    first = str(error).strip().splitlines()
    text = first[0] if first else ""
    text = text if len(text) <= 70 else text[:70].rsplit(" ", 1)[0] + " …"
    return f"{type(error).__name__}: {text}" if first else type(error).__name__


def verified(contest, clock=time.process_time):
    """({an entrant whose gradient is right: seconds of its first call}, {an entrant: why it is not})."""
    wanted = contest.hand() if contest.hand else None
    good, failures = {}, {}
    for name, call in contest.entrants.items():
        start = clock()
        try:
            answer = call()
            first = clock() - start
            gap = contest.gap(answer, call) if contest.gap else disagreement(answer, wanted)
        except Exception as error:  # a peer that cannot do a problem is a row of the table, not the end of it
            failures[name] = words(error)
            continue
        if gap <= contest.tolerance:
            good[name] = first
        else:
            failures[name] = f"WRONG by {gap:.1e}"
    return good, failures


def block(call, loops, clock):
    """Seconds per call in a block of calls."""
    turns = range(loops)
    start = clock()
    for _ in turns:
        call()
    return (clock() - start) / loops


def warmed(call, clock):
    """Some calls that are not timed: a system may compile once more when it sees that a call is repeated.

    Only the first call was made before. One that compiles would pass for a long one, and a block of calls
    would be made of it alone.
    """
    for _ in range(WARMING):
        if block(call, 1, clock) > LONG:
            return


def calibrated(call, clock, least):
    """How many calls make a block of at least `least` seconds, and the seconds of a call in it."""
    warmed(call, clock)
    loops = 1
    while True:
        spent = block(call, loops, clock) * loops
        if spent >= least:
            return loops, spent / loops
        loops = max(loops * 2, min(loops * 100, int(loops * 1.2 * least / max(spent, 1e-9))))


def in_turns(calls, rows, seconds, rounds, least, shuffle, clock):
    """All calls once a round, in random order; a slow one sits out when its share of the time is spent."""
    loops = {}
    for name, call in calls.items():
        loops[name], last = calibrated(call, clock, least)
        if last > LONG:
            rows[name].samples.append(last)
    order, spent, share = list(calls), dict.fromkeys(calls, 0.0), seconds / len(calls)
    for _ in range(rounds):
        shuffle.shuffle(order)
        for name in order:
            row = rows[name]
            if len(row.samples) < 3 or spent[name] < share:
                row.samples.append(block(calls[name], loops[name], clock))
                spent[name] += row.samples[-1] * loops[name]


def run(contest, seconds=6.0, rounds=25, least=2e-3, seed=0, clock=time.process_time):
    """The rows of a contest: the plain function, the gradient by hand, the entrants; who failed."""
    first, failures = verified(contest, clock)
    calls = {PLAIN: contest.plain, HAND: contest.hand} if contest.hand else {PLAIN: contest.plain}
    calls |= {name: contest.entrants[name] for name in first}
    rows = {name: Row(contest.name, name, first=first.get(name)) for name in calls}
    gc.collect()
    gc.freeze()
    try:
        in_turns(calls, rows, seconds, rounds, least, random.Random(seed), clock)
        for name, row in rows.items():
            row.megabytes = peak(calls[name])
    finally:
        gc.unfreeze()
    return [*rows.values(), *(Row(contest.name, name, failure=why) for name, why in failures.items())]


# --- memory ------------------------------------------------------------------------------------------------


def status(name):
    """A line of /proc/self/status, in MB of 1,000,000 bytes."""
    line = re.search(rf"^{name}:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(line[1]) * 1024 / 1e6


def peak(call):
    """MB that the process holds at the most during a call, beyond what it held before; None off Linux."""
    if sys.platform != "linux":
        return None
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed and kept would hide as much of what a call takes
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        before = status("VmRSS")
        call()
        return max(0.0, status("VmHWM") - before)
    except (OSError, AttributeError):
        return None
