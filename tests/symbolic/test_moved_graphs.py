"""A graph with its arguments moved gives what the code gives there, or says that it does not know."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic import tracing
from rulelab.symbolic.cells import Array
from rulelab.symbolic.moved_graphs import Difference, MovedGraph
from rulelab.symbolic.questions import Question
from rulelab.symbolic.scalars import CONTEXT, Decision, Trace
from rulelab.symbolic.tracing import flat_numbers, is_equivalent_to_code, trace_primal
from rulelab.symbolic.work_counter import WorkCounter

STEP = CONTEXT.mpf(10) ** -30
X = Array((Fraction(3, 2), Fraction(-1, 3), Fraction(2, 7)), (3,))
A = Array((Fraction(5), Fraction(1), Fraction(1, 2), Fraction(3)), (2, 2))
HALF, THIRD = Fraction(1, 2), Fraction(7, 3)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def horner(x):
    y = 0.0
    for c in (2.0, -1.0, 0.25):
        y = y * x + c
    return abs(y) ** 1.5


def by_whole_parts(x):
    return (x * 7) % 2 + round(3 * x) * x


TOLD = [
    (softmax, (X,)),
    (horner, (THIRD,)),
    (by_whole_parts, (THIRD,)),
    (lambda x, y: np.arctan2(x, y) * np.hypot(x, y), (HALF, THIRD)),
    (lambda x, y: y**x + x**3 / y, (HALF, THIRD)),
    (lambda x: math.gamma(x) + math.erf(x), (THIRD,)),
    (lambda a: np.linalg.det(a) * np.linalg.inv(a), (A,)),
    (lambda x: np.sort(x)[::-1].cumsum(), (X,)),
    (lambda x: x / (x - x + 1.0) + 0.0 * x, (X,)),
]


def traced(f, sample):
    names = tuple("abcd"[: len(sample)])
    question = Question(f, None, None, names)
    trace, _, _, leaves, y = trace_primal(question, sample)
    return question, trace, MovedGraph(trace, leaves, flat_numbers(trace, y))


@pytest.mark.parametrize(("f", "sample"), TOLD)
def test_a_graph_gives_to_the_last_digit_what_the_code_gives(f, sample):
    """A leaf alone, and all leaves at once."""
    question, trace, moving = traced(f, sample)
    count = len(moving.leaves)
    alone = [{i: side} for i in range(count) for side in (STEP, -STEP)]
    for by in (*alone, dict.fromkeys(range(count), STEP)):
        run, *_, y = trace_primal(question, sample, by)
        told = moving.moved(by)
        assert told == [number.shadow for number in flat_numbers(run, y)] and run.path() == trace.path()
    assert is_equivalent_to_code(moving, question, sample, trace.path(), None)


def in_between(x, y):
    try:
        return 1 / (x - y)
    except ZeroDivisionError:
        return 0.0 * x


def at_a_pole(x):
    try:
        return math.gamma(x)
    except ValueError:
        return x


@pytest.mark.parametrize(
    ("f", "sample"),
    [
        (in_between, (HALF, HALF)),
        (in_between, (Fraction(0), Fraction(0))),
        (at_a_pole, (Fraction(-2),)),
        (lambda x: math.frexp(x)[0], (THIRD,)),
    ],
)
def test_a_graph_does_not_tell_what_no_decision_says(f, sample):
    """An exception that the code catches, or the parts of a float: the code has to be run."""
    _, _, moving = traced(f, sample)
    assert moving.moved({0: STEP}) is None


def test_a_graph_does_not_tell_beyond_its_cell():
    _, _, moving = traced(lambda x: x * 2 if x < 1 else x * 3, (HALF,))
    assert moving.moved({0: CONTEXT.mpf(0.25)}) == [1.5]
    assert moving.moved({0: CONTEXT.mpf(1)}) is None


def test_a_graph_does_not_speak_for_code_that_counts_its_calls():
    """It is another function at each call, of which the graph is one."""
    calls = itertools.count(1)

    def f(x):
        return next(calls) * np.sum(x * x)

    question, trace, moving = traced(f, (X,))
    assert moving.moved({0: STEP}) is not None
    assert not is_equivalent_to_code(moving, question, (X,), trace.path(), None)


def test_a_proof_runs_the_code_as_often_for_many_numbers_as_for_few(monkeypatch):
    counts = []
    original = tracing.trace_primal

    def counted(*args, **kwargs):
        counts[-1] += 1
        return original(*args, **kwargs)

    monkeypatch.setattr(tracing, "trace_primal", counted)
    for n in (3, 12):
        counts.append(0)
        sample = (Array(tuple(Fraction(k + 2, 7) for k in range(n)), (n,)),)
        question, trace, moving = traced(lambda x: np.sum(np.sin(x) * x), sample)
        seed = [Trace().constant(1)]
        assert is_equivalent_to_code(moving, question, sample, trace.path(), None)
        slopes = tracing.difference_quotients(
            question, sample, moving.leaves, seed, trace.path(), moving=moving
        )
        exact = [math.sin(x) + x * math.cos(x) for x in map(float, sample[0].entries)]
        assert np.allclose([float(one) for one in slopes], exact, rtol=1e-14)
    assert counts == [1, 1]


@pytest.mark.parametrize(("x", "sign"), [(5, 1), (Fraction(1, 4), -1), (3, 0), (-2, 0)])
def test_the_sign_of_what_is_compared(x, sign):
    """It is 0 for equal sides, to the digits that rounding leaves, and where there is no real number."""
    trace = Trace()
    root = trace.argument("x", Fraction(2)) ** 0.5
    difference = Difference(Decision(root * root + root, ">", 3 + trace.constant(3) ** 0.5, True))
    assert difference.is_at_once
    assert difference.sign({"x": CONTEXT.mpf(x.numerator) / x.denominator}) == sign


@pytest.mark.parametrize(("f", "sample"), [(softmax, (X,)), (horner, (THIRD,))])
def test_as_much_work_is_counted_as_if_the_code_was_run(f, sample):
    """What is left out for too much work is the same, whichever of them gives the quotients."""
    used = []
    for is_told in (False, True):
        question, trace, moving = traced(f, sample)
        moving.is_told = is_told
        seeds = [Trace().constant(1)] * len(moving.y)
        work = WorkCounter()
        graph = moving if is_equivalent_to_code(moving, question, sample, trace.path(), None) else None
        assert (graph is not None) == is_told
        tracing.difference_quotients(question, sample, moving.leaves, seeds, trace.path(), moving=graph)
        used.append(work.used())
    assert used[0] == used[1] > 0
