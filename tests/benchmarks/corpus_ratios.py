"""The gradients of the corpus, in times of the programs themselves.

Its programs were written to be right or wrong, not quick or slow: no row here has a goal, but together they
say what any code may cost. A gradient is to take 6 times its program in the median and 15 times at the worst,
where the program takes 5 µs; of shorter ones 6 times in the median, after the 2 µs of a call.
"""

import copy
import statistics
import sys
import time
from pathlib import Path

from contest import block, calibrated

TESTS = Path(__file__).resolve().parents[1]
LONG = 5e-6  # seconds of a program that is not a short one
CALL = 2e-6  # those of a call of `gradient`, which count for short ones
GOALS = {"5 µs and more": (6.0, 15.0), "shorter, but for a call": (6.0, None)}  # the median and the worst
ROUNDS, LEAST = 7, 5e-4


def cases():
    """{name: (function, arguments, keywords)} at the first point of each case."""
    sys.path.insert(0, str(TESTS))
    from corpus.harness import all_cases

    return {case.name: (case.function, case.points[0], case.kwargs) for case in all_cases()}


def seconds(calls, clock):
    """The least time of each call in a few blocks, taken in turn: what slows the machine slows all."""
    loops = [calibrated(call, clock, LEAST)[0] for call in calls]
    rounds = [[block(call, n, clock) for call, n in zip(calls, loops)] for _ in range(ROUNDS)]
    return tuple(map(min, zip(*rounds)))


class Changed(Exception):
    """A program changes its arguments: the next call would be another one."""


def measured(f, args, kwargs, clock=time.process_time):
    """(seconds of the program, of its gradient)."""
    from corpus.harness import same

    import rulelab as rl

    before = copy.deepcopy((args, kwargs))
    f(*args, **kwargs)
    if not same((args, kwargs), before):
        raise Changed
    return seconds((lambda: f(*args, **kwargs), lambda: rl.gradient(f, *args, **kwargs)), clock)


def records(names=()):
    """One record for each program: its time and the ratio, or why there is none."""
    found = []
    for name, (f, args, kwargs) in cases().items():
        if names and not any(part in name for part in names):
            continue
        try:
            plain, gradient = measured(f, args, kwargs)
        except Exception as error:  # such a one cannot be run again and again
            found.append({"name": name, "failure": type(error).__name__})
        else:
            found.append({"name": name, "seconds": plain, "to_plain": gradient / plain})
    return found


def summary(found):
    """{kind: how many, the median and the worst ratio, whose that is}, of long programs and of short ones."""
    timed = [one for one in found if "seconds" in one]
    short = [one for one in timed if one["seconds"] < LONG]
    kinds = {
        "5 µs and more": [one for one in timed if one["seconds"] >= LONG],
        "shorter": short,
        "shorter, but for a call": [
            one | {"to_plain": max(0.0, one["to_plain"] - CALL / one["seconds"])} for one in short
        ],
    }
    return {
        kind: {
            "programs": len(some),
            "median": statistics.median(one["to_plain"] for one in some),
            "worst": max(one["to_plain"] for one in some),
            "whose": max(some, key=lambda one: one["to_plain"])["name"],
        }
        for kind, some in kinds.items()
        if some
    }


def table(found):
    """The summary beside the goals, and all ratios, the worst first, as text."""
    from report import digits, time_text
    from tabulate import tabulate

    kinds = [
        [
            kind,
            one["programs"],
            *_beside(one["median"], one["worst"], GOALS.get(kind, (None, None))),
            one["whose"],
        ]
        for kind, one in summary(found).items()
    ]
    timed = sorted((one for one in found if "seconds" in one), key=lambda one: -one["to_plain"])
    lines = [[one["name"], time_text(one["seconds"]), digits(one["to_plain"])] for one in timed]
    failed = [one["name"] for one in found if "failure" in one]
    return "\n\n".join(
        [
            tabulate(kinds, headers=["programs of", "number", "median", "worst", ""], disable_numparse=True),
            tabulate(lines, headers=["program", "plain", "P"], disable_numparse=True),
            f"{len(failed)} could not be run again and again: {', '.join(failed) or 'none'}",
        ]
    )


def _beside(median, worst, goals):
    """The two numbers as text, each with its goal, if there is one."""
    from report import digits

    texts = [digits(number) for number in (median, worst)]
    return [text if goal is None else f"{text} ({digits(goal)})" for text, goal in zip(texts, goals)]
