"""A duel says who is faster when that can be known, and that it cannot tell when not."""

import json

import numpy as np
import pytest

from rulelab.bench.duel import Duel, duel, gradient_duel, measure
from rulelab.bench.rounds import BLOCKS
from rulelab.errors import MutationError


class NoisyClock:
    """Time passes when a thunk says so, in a machine whose speed wanders and stumbles."""

    def __init__(self, seed):
        self.now, self.rng, self.speed = 0.0, np.random.default_rng(seed), 1.0

    def __call__(self):
        self.speed *= float(np.exp(0.05 * self.rng.standard_normal()))
        return self.now

    def taking(self, seconds):
        def thunk():
            stumble = 5.0 if self.rng.random() < 0.02 else 1.0
            self.now += seconds * self.speed * stumble * float(np.exp(0.05 * self.rng.standard_normal()))

        return thunk


def fought(seed, a, b, **options):
    clock = NoisyClock(seed)
    return duel(
        clock.taking(a), clock.taking(b), clock=clock, rng=np.random.default_rng(seed), rounds=40, **options
    )


def test_equal_functions_are_not_told_apart():
    """On a noisy machine, two equal functions get "cannot tell"."""
    verdicts = [fought(seed, 1e-3, 1e-3).verdict for seed in range(20)]
    assert verdicts.count("cannot tell") >= 19


def test_a_function_that_takes_half_the_time_is_faster():
    """The verdict, the ratio and the interval agree."""
    found = fought(1, 2e-3, 1e-3)
    assert found.verdict == "faster" and 1.8 < found.ratio < 2.2
    assert found.interval[0] < found.ratio < found.interval[1]
    assert fought(1, 1e-3, 2e-3).verdict == "slower"


def test_the_rounds_are_mixed():
    """Who goes first changes from round to round, and so does the order of all blocks."""
    order = []
    clock = NoisyClock(0)

    def contestant(name):
        tick = clock.taking(1e-3)

        def thunk():
            order.append(name)
            tick()

        return thunk

    duel(contestant("a"), contestant("b"), clock=clock, rng=np.random.default_rng(0), rounds=30)
    rounds = ["".join(order[-240:][i : i + 8]) for i in range(0, 240, 8)]
    assert {one[0] for one in rounds} == {"a", "b"} and len(set(rounds)) > 10
    assert all(sorted(one) == list("aaaabbbb") for one in rounds)


def test_ctrl_c_keeps_the_rounds_there_are():
    """What was measured before the interrupt is in the result, which says how far it got."""
    calls = iter(range(10_000))

    def stopping():
        if next(calls) == 100:
            raise KeyboardInterrupt

    ticks = iter(np.arange(1e6))
    found = duel(
        stopping,
        lambda: None,
        rounds=60,
        clock=lambda: 1e-3 * float(next(ticks)),
        rng=np.random.default_rng(0),
    )
    assert found.interrupted and 0 < len(found.ratios) < 60
    assert f"Interrupted after {len(found.ratios)} of 60 rounds." in str(found)


def test_too_few_rounds_give_no_verdict():
    """Stopped at once there is nothing to say, and it says that."""
    empty = Duel(
        measure(lambda: 1, rounds=0),
        measure(lambda: 1, rounds=0),
        (),
        (float("nan"),) * 2,
        60,
        interrupted=True,
    )
    assert empty.verdict == "cannot tell" and "Nothing measured" in str(empty)


def test_timings_have_the_names_of_timeit():
    """best, worst, average, stdev, timings, all_runs, repeat, loops."""
    found = measure(lambda: sum(range(50)), rounds=5)
    assert found.repeat == len(found.all_runs) == len(found.timings) == 5
    assert found.best <= found.median <= found.worst and found.average > 0 and found.stdev >= 0
    assert found.timings[0] == found.all_runs[0] / found.loops


class StandIn:
    """An AD that knows the gradient of one function and refuses the others."""

    @staticmethod
    def gradient(f, x):
        if f.__name__ == "refused":
            raise MutationError("Mutating arrays is not supported")
        f(x)
        return (2 * x,)

    @staticmethod
    def pullback(f, x):
        return f(x), lambda seed: (seed,)


def test_a_refused_function_is_timed_without_its_gradient():
    """Its plain call takes the place, and the result says why; the caller's array stays as it is."""

    def refused(x):
        x += 1
        return float(x.sum())

    def refused_cr(x):
        return float(x.sum())

    x = np.ones(3)
    found = gradient_duel(refused, refused_cr, x, ad=StandIn, rounds=8)
    assert found.left.name == "refused itself, no gradient"
    assert (
        found.refused
        == "refused has no gradient without a rule (MutationError: Mutating arrays is not supported)."
    )
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_the_result_can_be_saved():
    """Every number is in the JSON, with the machine it was measured on."""

    def square(x):
        return float(x @ x)

    found = gradient_duel(square, square, np.ones(3), ad=StandIn, rounds=8)
    saved = json.loads(found.to_json())
    assert saved["verdict"] == found.verdict and saved["environment"]["numpy"] == np.__version__
    assert len(saved["left"]["all_runs"]) == 8 * BLOCKS and [o["name"] for o in saved["others"]] == [
        "square itself, no gradient"
    ]
    assert "<caption>Time of one call</caption>" in found._repr_html_()


def test_functions_of_arrays_are_timed_by_their_pullbacks():
    """There is no gradient of an array; value and pullback are timed."""
    assert gradient_duel(np.copy, np.copy, np.ones(3), ad=StandIn, rounds=8).refused is None


@pytest.mark.parametrize("rounds", [1, 7])
def test_a_handful_of_rounds_is_no_evidence(rounds):
    """Fewer than eight rounds never give a verdict."""
    clock = NoisyClock(0)
    assert duel(clock.taking(9.0), clock.taking(1.0), clock=clock, rounds=rounds).verdict == "cannot tell"
