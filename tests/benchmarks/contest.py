"""A contest: several ways to one gradient, checked against the hand-written one, then timed in turns."""

import gc
import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

SINGLE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def one_thread():
    """Ask the linear-algebra libraries for one thread; counts only before NumPy is first imported."""
    for name in SINGLE_THREAD:
        os.environ[name] = "1"


@dataclass(frozen=True)
class Contest:
    """One problem: its primal, its hand-written gradient, and the entrants, each a call without arguments."""

    name: str
    primal: Callable
    hand: Callable
    entrants: dict[str, Callable]
    tolerance: float = 1e-9
    note: str = ""


@dataclass
class Row:
    """What was measured of one entrant, in seconds per call."""

    contest: str
    entrant: str
    samples: list[float] = field(default_factory=list)
    failure: str | None = None

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


def verified(contest):
    """(the entrants whose gradient is that of the hand, {entrant: why not} of the others)."""
    wanted, good, failures = contest.hand(), {}, {}
    for name, call in contest.entrants.items():
        try:
            gap = disagreement(call(), wanted)
        except Exception as error:  # a peer that cannot do a problem is a row of the table, not the end of it
            failures[name] = (
                f"{type(error).__name__}: {str(error).splitlines()[0][:70] if str(error) else ''}"
            )
            continue
        if gap <= contest.tolerance:
            good[name] = call
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


def calibrated(call, clock, least):
    """How many calls make a block of at least `least` seconds."""
    loops = 1
    while True:
        spent = block(call, loops, clock) * loops
        if spent >= least:
            return loops
        loops = max(loops * 2, min(loops * 100, int(loops * 1.2 * least / max(spent, 1e-9))))


def run(contest, seconds=4.0, rounds=15, least=2e-3, seed=0, clock=time.perf_counter):
    """The rows of a contest: all entrants once per round, in random order, until the time is spent."""
    good, failures = verified(contest)
    calls = {"primal": contest.primal, "hand": contest.hand, **good}
    rows = {name: Row(contest.name, name) for name in calls}
    order, shuffle = list(calls), random.Random(seed)
    gc.collect()
    gc.freeze()
    try:
        loops = {name: calibrated(call, clock, least) for name, call in calls.items()}
        start = clock()
        for done in range(rounds):
            shuffle.shuffle(order)
            for name in order:
                rows[name].samples.append(block(calls[name], loops[name], clock))
            if done >= 2 and clock() - start > seconds:
                break
    finally:
        gc.unfreeze()
    return [*rows.values(), *(Row(contest.name, name, failure=why) for name, why in failures.items())]
