"""A duel says who is faster when that can be known, and that it cannot tell when not."""

import json
import math

import numpy as np
import pytest

from rulelab.bench.duel import (
    Duel,
    DuelRun,
    GradientDuel,
    Timings,
    duel,
    gradient_duel,
    interval_of_median,
    measure,
)
from rulelab.bench.first import first_gradient
from rulelab.bench.profile import Profiling, profile
from rulelab.bench.rounds import BLOCKS
from rulelab.bench.scaling import scaling
from rulelab.errors import MeasurementError, MutationError, NotDifferentiableError, ScalarOutputError
from rulelab.notebook import lab

UNSTEADY = {
    "steady": {},
    "noisy": {"noise": 0.05},
    "drifting": {"noise": 0.01, "drift": 0.05},
    "held up": {"noise": 0.01, "bursts": 0.1},
    "everything": {"noise": 0.05, "drift": 0.03, "bursts": 0.05},
}


@pytest.fixture
def fought(simulated):
    """A duel on a simulated machine: `fought(seed, a, b, noise=…)`, with a and b in seconds."""

    def fight(seed, a, b, rounds=60, **unsteady):
        clock = simulated(seed, **unsteady)
        rng = np.random.default_rng(seed)
        return duel(clock.taking(a), clock.taking(b), clock=clock, rng=rng, rounds=rounds)

    return fight


@pytest.mark.parametrize("machine", UNSTEADY)
@pytest.mark.parametrize("seconds", [6e-4, 2e-2])
@pytest.mark.every(11)
def test_equal_functions_are_not_told_apart(fought, machine, seconds):
    """On any of these machines, two equal functions get "cannot tell" in 19 of 20 duels."""
    verdicts = [fought(seed, seconds, seconds, **UNSTEADY[machine]).verdict for seed in range(20)]
    assert verdicts.count("cannot tell") >= 19


@pytest.mark.parametrize("machine", UNSTEADY)
@pytest.mark.parametrize("seconds", [6e-4, 2e-2])
@pytest.mark.every(11)
def test_a_tenth_more_is_seen(fought, machine, seconds):
    """The other is "faster" in 19 of 20 duels, and the ratio is 1.1 within a few per cent."""
    found = [fought(seed, 1.1 * seconds, seconds, **UNSTEADY[machine]) for seed in range(20)]
    assert [one.verdict for one in found].count("faster") >= 19
    assert all(1.05 < one.ratio < 1.15 for one in found)


def test_what_cannot_be_known_is_not_claimed(fought):
    """On a machine that doubles and halves its speed at every call the interval is wide, and no verdict."""
    found = fought(0, 1.1e-2, 1e-2, noise=0.7, rounds=20)
    assert found.verdict == "cannot tell" and found.interval[1] / found.interval[0] > 1.2


def test_why_there_is_no_verdict_beside_an_interval_above_one(fought):
    """Two per cent may come from the position of code in memory, however narrow the interval is."""
    found = fought(0, 1.02e-2, 1e-2, noise=0.001)
    assert found.verdict == "cannot tell" and found.interval[0] > 1.0
    assert "faster: they differ by less than 4%" in str(found)
    assert "less than" not in str(fought(0, 1.1e-2, 1e-2, noise=0.7, rounds=20))


def test_a_result_is_the_same_each_time_it_is_asked_for(simulated):
    """The bootstrap draws the same samples again."""
    clock = simulated(noise=0.1)
    measured = DuelRun(clock.taking(1e-3), clock.taking(1e-3), clock=clock, rng=np.random.default_rng(0))
    for _ in measured.pieces():
        pass
    assert measured.result() == measured.result()


def test_a_first_look_ends_in_time(steady):
    """With a limit the rounds so far are the result, which says so."""
    found = duel(steady.taking(1e-3), steady.taking(2e-3), clock=steady, seconds=0.1, rounds=1000)
    assert 5 < len(found.ratios) < 20 and not found.interrupted
    assert f"Stopped after {len(found.ratios)} of 1,000 rounds, at the limit of 0.1 s." in str(found)


def test_a_function_that_takes_half_the_time_is_faster(fought):
    """The verdict, the ratio and the interval agree."""
    found = fought(1, 2e-3, 1e-3, noise=0.05)
    assert found.verdict == "faster" and 1.8 < found.ratio < 2.2
    assert found.interval[0] < found.ratio < found.interval[1]
    assert fought(1, 1e-3, 2e-3, noise=0.05).verdict == "slower"


def test_the_rounds_are_mixed(steady):
    """Who goes first changes from round to round, and so does the order of all blocks."""
    order = []
    clock = steady

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
    assert f"Stopped after {len(found.ratios)} of 60 rounds." in str(found)


@pytest.mark.filterwarnings("error")
def test_a_clock_that_stands_still_tells_nothing():
    """Neither faster nor slower, and no warning of NumPy's."""
    for ratios in ((math.inf,) * 9, (1.0,) * 8 + (math.inf,)):
        interval = interval_of_median(ratios, np.random.default_rng(0))
        found = Duel(measure(lambda: 1, rounds=1), measure(lambda: 1, rounds=1), ratios, interval, 9)
        assert found.verdict == "cannot tell" and np.isnan(interval).all()


def test_rounds_may_be_an_integer_of_numpy():
    """The result is saved all the same; a fraction is refused."""
    assert json.loads(duel(lambda: 1, lambda: 1, rounds=np.int64(1)).to_json())["rounds_wanted"] == 1
    with pytest.raises(MeasurementError, match="whole number"):
        duel(lambda: 1, lambda: 1, rounds=2.5)


def test_an_interrupt_before_both_take_part_is_told():
    """There is a report at every moment."""
    run = DuelRun(lambda: 1, lambda: 1)
    run._rounds.contestants.pop()
    assert run.result(interrupted=True).verdict == "cannot tell"


def test_too_few_rounds_give_no_verdict():
    """Stopped at once there is nothing to say, and it says that."""
    empty = Duel(
        Timings("call", 1, ()),
        Timings("call", 1, ()),
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
def test_a_handful_of_rounds_is_no_evidence(steady, rounds):
    """Fewer than eight rounds never give a verdict."""
    found = duel(steady.taking(9.0), steady.taking(1.0), clock=steady, rounds=rounds)
    assert found.verdict == "cannot tell" and len(found.ratios) == rounds


def test_the_table_shows_the_spread(fought):
    """Between which times the middle half of the blocks lies."""
    found = fought(0, 2e-3, 1e-3, noise=0.1)
    low, high = found.left.middle_half
    assert found.left.best < low < found.left.median < high < found.left.worst
    assert "middle half" in str(found) and " to 2." in str(found)


def test_what_the_function_writes_into_does_not_reach_the_gradients():
    """A function that changes its argument, timed beside the gradients, changes a copy of its own."""

    def grown(x):
        x[0] = 2.0
        return float(x[0])

    def kept(x):
        if x[0] != 1.0:
            raise ValueError("somebody wrote into the argument")
        return float(x[0])

    found = gradient_duel(grown, kept, np.ones(2), rounds=2)
    assert found.refused is not None and len(found.ratios) == 2


def test_keywords_like_those_of_the_duel_can_be_given():
    """The stepwise form takes the arguments apart."""

    def rated(x, rounds):
        return x * rounds

    run = GradientDuel(rated, rated, (2.0,), {"rounds": 3.0}, rounds=8)
    assert len(list(run.pieces())) > 8 and len(run.result().ratios) == 8


@pytest.mark.parametrize("given", [{"x": 2.0}, {}])
@pytest.mark.parametrize("measured", [gradient_duel, first_gradient, profile])
def test_a_gradient_by_nothing_is_not_timed(measured, given):
    """Without a positional argument there is no gradient, and no time of one."""
    functions = [lambda x=1.0: x * x] * (2 if measured is gradient_duel else 1)
    with pytest.raises(NotDifferentiableError, match="nothing to differentiate with respect to"):
        measured(*functions, **given)


@pytest.mark.parametrize(
    ("returned", "timed"),
    [
        (lambda x: 3.0 * x, "gradient of f"),
        (lambda x: x * np.ones(3), "value with pullback of f"),
        (lambda x: (x, 2.0 * x, "note"), "value with pullback of f"),
        (lambda x: {"a": x, "b": [x * x]}, "value with pullback of f"),
        (lambda x: x * (1.0 + 1.0j), "value with pullback of f"),
        (lambda x: np.complex128(x * 1.0j), "value with pullback of f"),
    ],
)
def test_what_is_timed_is_called_so(returned, timed):
    """A gradient is one of a real number; of anything else its value and pullback are timed."""
    returned.__name__ = "f"
    found = gradient_duel(returned, returned, 2.0, rounds=1)
    assert found.left.name == timed and found.refused is None
    against = scaling(returned, returned, lambda n: (2.0,), [1], rounds=1)
    assert against.lines[2].name == timed


@pytest.mark.parametrize("returned", [None, "text", ()])
def test_a_result_without_a_number_is_not_timed(returned):
    """As `gradient` refuses it."""
    with pytest.raises(ScalarOutputError):
        gradient_duel(lambda x: returned, lambda x: returned, 2.0)


def test_names_may_be_given():
    """For methods, lambdas and what else has no name of its own."""
    run = GradientDuel(lambda x: x * x, lambda x: x**2, (2.0,), rounds=1, names=("model.loss", "fast"))
    assert "gradient of model.loss" in run.result().sentence or not run.result().ratios
    for _ in run.pieces():
        pass
    found = run.result()
    names = [one.name for one in (found.left, found.right, *found.others)]
    assert names == ["gradient of model.loss", "gradient of fast", "model.loss itself, no gradient"]


def test_few_rounds_are_said_to_be_too_few(simulated):
    """The ratio is shown, and that too few rounds, not noise, are why it is no verdict."""
    clock = simulated()
    found = [duel(clock.taking(2e-3), clock.taking(1e-3), clock=clock, rounds=n) for n in (1, 5, 8)]
    words = "Too few rounds for a verdict on a and b: 8 are needed (ratio of the times 2.00x,"
    assert found[0].sentence.startswith(words)
    assert found[0].sentence.endswith(", 1 round).") and found[1].sentence.endswith(", 5 rounds).")
    assert found[1].verdict == "cannot tell" and found[2].verdict == "faster"


def test_many_rounds_are_grouped_by_thousands(simulated):
    """As all numbers of the reports are."""
    clock = simulated()
    found = duel(clock.taking(2e-3), clock.taking(1e-3), clock=clock, rounds=100_000, seconds=0.1)
    assert " of 100,000 rounds" in str(found)


def never():
    """A call that must not be made."""
    raise AssertionError("it ran")


@pytest.mark.parametrize(
    "measured",
    [
        lambda rounds: duel(never, never, rounds=rounds),
        lambda rounds: measure(never, rounds=rounds),
        lambda rounds: gradient_duel(never, never, 1.0, rounds=rounds),
        lambda rounds: scaling(never, never, never, rounds=rounds),
        lambda rounds: lab(never, never, (1.0,), rounds=rounds),
    ],
)
@pytest.mark.parametrize("rounds", [0, -3, 2.5, None, "ten"])
def test_rounds_are_whole_numbers_from_one_on(measured, rounds):
    """Anything else is told before anything runs."""
    with pytest.raises(MeasurementError, match="^rounds must be a whole number"):
        measured(rounds)


@pytest.mark.parametrize(
    "measured",
    [
        lambda seconds: duel(never, never, seconds=seconds),
        lambda seconds: gradient_duel(never, never, 1.0, seconds=seconds),
        lambda seconds: scaling(never, never, never, seconds=seconds),
        lambda seconds: profile(never, 1.0, seconds=seconds),
    ],
)
@pytest.mark.parametrize("seconds", [-1, float("nan"), "1"])
def test_seconds_are_a_number_that_is_not_negative(measured, seconds):
    """Anything else is told before anything runs."""
    with pytest.raises(MeasurementError, match="^seconds must be a number"):
        measured(seconds)


@pytest.mark.parametrize(
    "measured",
    [
        lambda args: GradientDuel(never, never, args),
        lambda args: Profiling(never, args, {}),
        lambda args: lab(never, never, args),
    ],
)
@pytest.mark.parametrize("args", [np.ones(3), 2.0, [2.0], "text"])
def test_arguments_are_a_tuple(measured, args):
    """An array is one argument; it is not taken for as many as it has numbers."""
    with pytest.raises(MeasurementError, match="must be a tuple, not an object of class"):
        measured(args)
