"""The workloads: our gradients of them, and those by hand, are those of the functions."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import right_gradients  # noqa: E402
import workloads  # noqa: E402
from corpus.harness import finite_differences, flat  # noqa: E402
from systems import OURS, PEERS, is_there, numbers  # noqa: E402

ALL = [*workloads.WORKLOADS, workloads.short("projectile")]
ONCE = {workload.f: workload.at_small_arguments() for workload in ALL}.values()
NAMES = [workload.f.__name__ for workload in ONCE]


def by_differences(workload):
    """The gradients, entry by entry, by extrapolated differences of the function."""
    if not workload.rows:
        return [finite_differences(workload.f, workload.arguments, i)[0] for i in workload.wrt]
    return [
        finite_differences(lambda *c, k=k: workload.f(*c)[k], args, i)[0]
        for args in workload.arguments
        for k in (0, 1)
        for i in workload.wrt
    ]


@pytest.mark.parametrize("workload", ONCE, ids=NAMES)
def test_our_gradient_is_that_of_the_function(workload):
    """At arguments that are small enough for a difference in each of their numbers."""
    found = OURS.entrant(workload)()
    for one, wanted in zip(found, by_differences(workload), strict=True):
        np.testing.assert_allclose(flat(one), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("workload", [w for w in ONCE if w.hand], ids=lambda w: w.f.__name__)
def test_the_gradient_by_hand_is_that_of_the_function(workload):
    """The others are compared with it before they are timed."""
    for one, wanted in zip(workload.by_hand()(), by_differences(workload), strict=True):
        np.testing.assert_allclose(flat(one), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("workload", ONCE, ids=NAMES)
def test_a_wrong_gradient_is_told_from_the_right_one(workload):
    """Where no gradient was written by hand, slopes along a few directions tell."""
    call, gap = OURS.entrant(workload), right_gradients.gap(workload)
    answer = [np.asarray(g, dtype=float) for g in call()]
    assert gap(answer, call) <= right_gradients.tolerance(workload)
    answer[-1] = answer[-1] + 1e-3 * max(float(np.max(np.abs(g))) for g in answer)
    assert gap(answer, call) > right_gradients.tolerance(workload)
    assert gap(answer[1:], call) == float("inf")


def test_all_our_entrants_agree():
    """The value beside the gradient, and the gradients of all arguments at once, change nothing."""
    for workload in ONCE:
        wanted = numbers(OURS.entrant(workload)(), None)
        for call in OURS.others(workload).values():
            for one, other in zip(numbers(call(), None), wanted, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.first(1)
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_has_the_right_gradient(peer):
    """Of what it can do at small arguments; more than half of them, where it is installed."""
    if not is_there(peer):
        pytest.skip("not installed")
    done = 0
    for workload in ONCE:
        try:
            call = peer.entrant(workload)
            answer = call()
        except Exception:  # as in a table, where it stands in its words
            continue
        done += 1
        gap = right_gradients.gap(workload)(answer, call)
        assert gap <= right_gradients.tolerance(workload), workload.name
    assert done > len(ONCE) / 2


def test_names_are_told_apart():
    """By its name a row is found in a stored run."""
    assert len({workload.name for workload in ALL}) == len(ALL)
