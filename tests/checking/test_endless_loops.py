"""A function that goes on and on for some kinds of arguments is judged at others."""

import sys
import threading

import numpy as np
import pytest

from rulelab.checking.calling import endless_loops
from rulelab.checking.calling.endless_loops import EndlessError, raising_if_endless

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

TREE = """
def f(payoff, p, disc):
    v = payoff * 1.0
    while len(v) > 1:
        v = disc * (p * v[1:] + (1 - p) * v[:-1])
    return v[0]


@rl.rrule_for(f, registry=registry)
def f_rrule(payoff, p, disc):
    levels = [payoff * 1.0]
    while len(levels[-1]) > 1:
        v = levels[-1]
        levels.append(disc * (p * v[1:] + (1 - p) * v[:-1]))

    def back(y_bar):
        g = np.array([y_bar])
        p_bar = disc_bar = 0.0
        for v in levels[-2::-1]:
            disc_bar += g @ (p * v[1:] + (1 - p) * v[:-1])
            p_bar += disc * (g @ (v[1:] - v[:-1]))
            before = np.zeros(len(v))
            before[1:] += disc * p * g
            before[:-1] += disc * (1 - p) * g
            g = before
        return rl.NoTangent(), g, p_bar, disc_bar

    return levels[-1][0], back
"""


@pytest.mark.slow
@pytest.mark.parametrize("verdict", ["right", "wrong"])
def test_a_tree_is_judged_where_it_ends(verdict):
    """With a matrix for a probability its rows never become fewer."""
    spoilt = TREE.replace("p_bar += disc * (", "p_bar += (")
    assert judged(TREE if verdict == "right" else spoilt).verdict == verdict


def test_what_does_not_end_is_ended_and_nothing_is_left_behind():
    """By the lines that it runs, even if it catches all exceptions."""

    def forever():
        while True:
            try:
                pass
            except Exception:
                pass

    with pytest.raises(EndlessError, match="300 lines"), raising_if_endless(forever, 300):
        forever()
    assert sys.gettrace() is None


ANOMALY = """
def f(M, e):
    E = M
    while True:
        step = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - step
        if abs(step) < 1e-13:
            return E

@rl.rrule_for(f, registry=registry)
def f_rrule(M, e):
    E = f(M, e)
    def f_pullback(y_bar):
        E_bar = y_bar / (1 - e * np.cos(E))
        return rl.NoTangent(), E_bar, E_bar * np.sin(E)
    return E, f_pullback
"""


@pytest.mark.slow
def test_newtons_method_that_may_not_end_beside_where_it_does_is_judged():
    """Differences ask the function where nobody has: of eccentricities above one it goes round and round."""
    report = judged(ANOMALY)
    assert report.verdict == "right", report.sentence
    assert judged(ANOMALY.replace("E_bar * np.sin", "E_bar * np.cos")).verdict == "wrong"


def doubled(parts):
    for part in parts:
        parts.append(np.concatenate([part, part]))


def test_one_array_that_would_fill_the_memory_ends_it(monkeypatch):
    """No line counter sees it. What was allowed before is so again afterwards, in all threads."""
    allowed = endless_loops.resource.getrlimit(endless_loops.resource.RLIMIT_AS)
    monkeypatch.setattr(endless_loops, "MOST_AT_ONCE", 1 << 28)

    def widened(x):
        return np.zeros(len(x) << 27)  # a gigabyte

    def within():
        with pytest.raises(EndlessError, match="memory"), raising_if_endless(widened):
            with raising_if_endless(widened):
                pass
            widened([1.0])

    others = [threading.Thread(target=within) for _ in range(4)]
    for thread in others:
        thread.start()
    within()
    for thread in others:
        thread.join()
    assert endless_loops.resource.getrlimit(endless_loops.resource.RLIMIT_AS) == allowed


def test_what_doubles_in_each_round_is_ended_before_it_fills_the_memory(monkeypatch):
    """After some 20 rounds there are gigabytes of it, long before so many lines have run."""
    monkeypatch.setattr(endless_loops, "MOST_MORE", 50_000)
    with pytest.raises(EndlessError), raising_if_endless(doubled):
        doubled([np.zeros(1000)])


def test_what_raises_just_before_its_end_raises_that_alone():
    """The code that leaves a `with` is called while lines are still counted; none of it is the function's."""

    def raised():
        raise MemoryError

    for most in range(12):
        with pytest.raises((MemoryError, EndlessError)), raising_if_endless(raised, most):
            raised()
