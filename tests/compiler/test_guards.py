"""Whatever was taken for granted, and ends between two calls: the answer is that of the generic passes.

The whole, each way with each program of the corpus, is `make guards`.
"""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.array_programs import function_of  # noqa: E402
from corpus.guards import WAYS, concerns, differences, generic, shown  # noqa: E402
from corpus.harness import all_cases  # noqa: E402

pytestmark = pytest.mark.usefixtures("as_users_run_it")


def differing_in(way, cases):
    """What is not the same, program by program, at each of its points."""
    found = {
        f"{case.name}, point {number}": differences(case.function, args, case.kwargs, way)
        for case in cases
        for number, args in enumerate(case.points)
    }
    return {name: words for name, words in found.items() if words}


def concerned(way):
    return [case for case in all_cases() if concerns(way, case.function)]


@pytest.mark.every(3)
@pytest.mark.parametrize("way", WAYS)
def test_a_sample_of_the_corpus_in_each_way(way):
    """Values, warnings, errors, prints and what is left behind are those of the generic passes."""
    cases, number = concerned(way), list(WAYS).index(way)
    assert not differing_in(way, [cases[number * 37 % len(cases)]])


@pytest.mark.campaign
@pytest.mark.parametrize("way", WAYS)
def test_the_corpus_in_each_way(way):
    """The same of every program that a way changes something for."""
    assert not differing_in(way, concerned(way))


# What else it does than compute, of x, an array of three: each of it may happen once.
EFFECTS = {
    "prints": "print('once')",
    "appends": "LOG.append(x[0])",
    "counts": "COUNT['runs'] += 1",
    "writes to an argument": "x[1] = x[0] * 2.0",
    "writes to a global": "STORE[0] += 1.0",
    "fills": "STORE.fill(STORE[0] + 1.0)",
    "pops": "LOG.pop()",
    "a helper that prints": "said(x[0])",
    "a helper that appends": "noted(x[0], LOG)",
    "a helper that writes": "written(x)",
}
STATES = {
    "as it is": "s = s + x[i] * x[i]",
    "divides": "s = s + 1.0 / x[i]",
    "overflows": "s = s + (x[i] * 1e200) ** 3",
    "takes a root": "s = s + math.sqrt(x[i])",
    "asks a helper": "s = s + scaled(x[i])",
}
POINTS = [[0.5, 0.3, 0.2], [0.0, 0.3, 0.2], [1e200, 1.0, -1.0], [-1.0, 1.0, math.nan]]


def said(x):
    print("once", x > 0.0)


def noted(x, log):
    log.append(x)


def written(x):
    x[1] = 2.0 * x[0]


def scaled(x):
    return 3.0 * x


HELPERS = {"said": said, "noted": noted, "written": written, "scaled": scaled, "math": math}


@pytest.mark.every(17)
@pytest.mark.parametrize("where", ["before", "in the loop", "after"])
@pytest.mark.parametrize("effect", EFFECTS)
def test_what_a_program_does_happens_once(effect, where):
    """In a program whose pass is left at any point, by an error as well."""
    does = EFFECTS[effect]
    for state in STATES.values():
        lines = ["s = 0.0", does, "for i in range(3):", f"    {state}", "return s"]
        if where == "in the loop":
            lines[1:4] = [*lines[2:4], f"    {does}"]
        elif where == "after":
            lines[1:4] = [*lines[2:4], does]
        names = {"LOG": [1.0] * 5, "COUNT": {"runs": 0}, "STORE": np.zeros(2)}
        f = function_of("\n".join(lines), "x", **HELPERS, **names)
        with generic():
            wanted = [shown(f, (np.array(x),)) for x in POINTS]
        for _ in range(3):
            shown(f, (np.array(POINTS[0]),))
        for x, once in zip(POINTS, wanted):
            for _ in range(3):
                assert_alike(shown(f, (np.array(x),)), once)


def assert_alike(found, wanted):
    assert (found.raised, found.printed) == (wanted.raised, wanted.printed)
    np.testing.assert_equal(found.left, wanted.left)
    np.testing.assert_equal(found.given, wanted.given)
