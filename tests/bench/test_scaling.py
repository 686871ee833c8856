"""Times against N: three lines, their growth, and in words what is missing."""

import json

import numpy as np
import pytest

from rulelab.bench.scaling import SIZES, Scaling, ScalingLine, ScalingRun, scaling
from rulelab.errors import MeasurementError, MutationError


class TimedAD:
    """An AD on a simulated clock: a gradient takes twenty times as long, with a rule twice."""

    def __init__(self, refuses=()):
        self.refuses = refuses

    def gradient(self, f, n):
        if f.__name__ in self.refuses:
            raise MutationError("Mutating arrays is not supported")
        for _ in range(2 if f.__name__.endswith("_cr") else 20):
            f(n)
        return (None,)


def functions(clock, power=1.0, each=1e-7):
    def loss(n):
        clock.taking(each * n**power)()
        return 1.0

    def loss_cr(n):
        return loss(n)

    return loss, loss_cr


def scaled(clock, power=1.0, sizes=(10, 100, 1000), each=1e-7, ad=None, make=lambda n: (n,), **options):
    options.setdefault("rounds", 2)
    return scaling(*functions(clock, power, each), make, sizes, clock=clock, ad=ad or TimedAD(), **options)


def test_three_lines_with_their_times(steady):
    """The plain function, its gradient, and the gradient with the rule, at every size."""
    found = scaled(steady)
    assert [line.name for line in found.lines] == [
        "loss itself, no gradient",
        "gradient of loss",
        "gradient of loss_cr",
    ]
    assert all(line.sizes == (10, 100, 1000) for line in found.lines)
    plain, ad, rule = (np.array(line.minima) for line in found.lines)
    assert np.allclose(plain, [1e-6, 1e-5, 1e-4]) and np.allclose(ad, 20 * plain)
    assert np.allclose(rule, 2 * plain) and np.allclose(found.lines[0].medians, plain)


@pytest.mark.parametrize("power", [0.0, 1.0, 1.5, 3.0])
def test_the_exponent_is_the_power(steady, power):
    """Of a time that is a power of N."""
    for line in scaled(steady, power, sizes=(8, 4, 16, 2), each=1e-5).lines:
        assert line.sizes == (2, 4, 8, 16) and abs(line.exponent - power) < 1e-6


def test_what_every_call_costs_does_not_hide_the_growth():
    """Only the upper half is fitted."""
    sizes = (1, 2, 4, 8, 10**4, 10**5, 10**6, 10**7)
    times = tuple(1e-3 + 1e-6 * n for n in sizes)
    assert abs(ScalingLine("f", sizes, times, times).exponent - 1.0) < 0.1
    assert np.isnan(ScalingLine("f", (5,), (1.0,), (1.0,)).exponent)


def test_a_refused_function_has_no_line_and_says_why(steady):
    """The others have theirs."""
    found = scaled(steady, ad=TimedAD(refuses=("loss",)))
    plain, ad, rule = found.lines
    assert ad.sizes == () and len(plain.sizes) == len(rule.sizes) == 3
    reason = "loss has no gradient without a rule (MutationError: Mutating arrays is not supported)."
    assert ad.refused == reason and str(found).count(reason) == 1


def test_sizes_of_its_own_end_where_a_call_takes_too_long(steady):
    """And the report says where, and what to do."""
    found = scaled(steady, power=2.0, sizes=None, each=1e-8)
    assert found.sizes == SIZES[: SIZES.index(1000) + 1]
    assert "Ended at N = 1,000: a call takes 200 ms there; give sizes to go further." in str(found)
    assert scaled(steady, sizes=None, each=1e-6).sizes == SIZES
    assert scaled(steady, power=2.0, sizes=(10, 1000, 2000), each=1e-8).sizes == (10, 1000, 2000)


def test_the_limit_of_time_ends_it(steady):
    """After the size in which it is spent, in words."""
    found = scaled(steady, each=1e-4, seconds=0.01, sizes=(10, 20, 30))
    assert found.sizes == (10,) and "Stopped at N = 10, at the limit of 0.01 s." in str(found)


def test_ctrl_c_keeps_the_sizes_there_are(steady):
    """Those that are whole, and how many were wanted."""

    def make(n):
        if n == 30:
            raise KeyboardInterrupt
        return (n,)

    found = scaled(steady, sizes=(10, 20, 30, 40), make=make)
    assert found.interrupted and found.sizes == (10, 20)
    assert "Stopped after 2 of 4 sizes." in str(found)


def test_an_error_at_a_later_size_loses_nothing(steady):
    """The sizes before it are there, with the error in words; at the first size it is the caller's."""

    def make(n):
        if n == 30:
            raise MemoryError("Unable to allocate")
        return (n,)

    found = scaled(steady, sizes=(10, 30), make=make)
    assert found.sizes == (10,) and "Ended before N = 30: MemoryError: Unable to allocate" in str(found)
    with pytest.raises(MemoryError):
        scaled(steady, sizes=(30, 40), make=make)


@pytest.mark.parametrize(
    "made, said",
    [
        (np.ones(3), "must return the tuple of arguments, but returned an object of class ndarray"),
        (None, "must return the tuple of arguments, but returned None"),
        ([1.0], "must return the tuple of arguments, but returned an object of class list"),
    ],
)
def test_a_generator_that_gives_no_tuple_is_told(steady, made, said):
    """In one line and with what to write."""
    with pytest.raises(MeasurementError, match=said):
        scaled(steady, make=lambda n: made)


@pytest.mark.parametrize("sizes", [[], [0, 1], [1.5], 10, ["a"]])
def test_sizes_are_whole_numbers_from_one_on(steady, sizes):
    """Anything else is refused before anything runs."""
    with pytest.raises(MeasurementError, match="^sizes must be "):
        scaled(steady, sizes=sizes)


def test_a_generator_may_give_keywords():
    """As a pair of a tuple and a dict."""

    def scaled_sum(x, *, weight):
        return weight * float(x.sum())

    found = scaling(scaled_sum, scaled_sum, lambda n: ((np.ones(n),), {"weight": 2.0}), [4, 8], rounds=1)
    assert found.sizes == (4, 8) and [len(line.sizes) for line in found.lines] == [2, 2, 2]


def test_what_the_function_writes_into_does_not_reach_the_gradients():
    """A function that changes its argument changes a copy of its own."""

    def grown(x):
        x[0] = 2.0
        return float(x[0])

    def kept(x):
        if x[0] != 1.0:
            raise ValueError("somebody wrote into the argument")
        return float(x[0])

    found = scaling(grown, kept, lambda n: (np.ones(n),), [2, 3], rounds=1)
    assert found.lines[1].refused is not None and found.lines[2].sizes == (2, 3)


def test_every_face_is_there(steady):
    """Text, HTML, Markdown, LaTeX; and JSON that comes back equal."""
    found = scaled(steady, ad=TimedAD(refuses=("loss",)))
    assert "1 µs, 1 µs" in str(found) and "N^1.00" in str(found)
    assert "<caption>Growth in the upper half of the sizes</caption>" in found._repr_html_()
    assert r"\toprule" in found.to_latex() and "| N" in found.to_markdown()
    assert Scaling.from_dict(json.loads(found.to_json())) == found


def test_nothing_runs_before_the_first_piece(steady):
    """Making the run is free of the functions' effects."""

    def never(*args):
        raise AssertionError("ran")

    assert ScalingRun(never, never, never, clock=steady).result().sizes == ()
