"""Every function of the corpus: its value, its gradient, and what a call leaves behind."""

import ast
import inspect
import math
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import all_cases, check, derivative, finite_differences, flat  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.python_facts import EXPRESSIONS, STATEMENTS, Fate  # noqa: E402

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_gradient_is_that_of_the_function(case):
    """Gradient as by finite differences, the function's own value, nothing of the caller's written."""
    check(case, rl.withgradient)


@pytest.mark.every(11)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_pullback_scales_with_the_seed(case):
    """A pullback may be called again, and twice the seed gives twice the gradient."""
    args = case.points[0]
    _, back = rl.pullback(case.function, *args, **case.kwargs)
    once, again, doubled = back(1.0), back(1.0), back(2.0)
    for i in case.active(args):
        assert np.array_equal(flat(once[i], args[i]), flat(again[i], args[i]))
        np.testing.assert_allclose(
            flat(doubled[i], args[i]), 2.0 * flat(once[i], args[i]), rtol=1e-6, atol=1e-12
        )


def test_corpus_is_large_enough():
    """The corpus covers the constructs that the package promises to take."""
    assert len({case.name for case in CASES}) == len(CASES) >= 80


@pytest.mark.parametrize(
    "g, t, wanted",
    [
        (math.exp, 1.0, math.e),
        (math.sin, 0.3, math.cos(0.3)),
        (lambda t: t**9, 2.0, 9 * 2.0**8),
        (lambda t: 1 / t, 0.5, -4.0),
        (math.log, 20.0, 0.05),
        (lambda t: 0.0 * t, 1.0, 0.0),
    ],
)
def test_the_witness_is_sound(g, t, wanted):
    """The finite differences used as the witness are right to ten digits where the derivative is known."""
    found, error = derivative(g, t)
    assert abs(found - wanted) <= 1e-10 * max(1.0, abs(wanted))
    assert error <= 1e-8 * max(1.0, abs(wanted))


@pytest.mark.every(11)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_witness_can_judge_this_case(case):
    """The function runs at every point and its finite differences are sharp enough to judge the gradient."""
    for args in case.points:
        assert (
            np.isscalar(case.function(*args, **case.kwargs))
            or np.ndim(case.function(*args, **case.kwargs)) == 0
        )
        for i in case.active(args):
            numeric, error = finite_differences(case.function, args, i, case.kwargs)
            scale = max(1.0, np.abs(numeric).max(initial=0.0))
            assert np.all(error <= case.tolerance / 3 * scale), (args, i, numeric, error)


def nodes_of(case):
    """The kinds of statements and expressions in the text of a program."""
    try:
        text = textwrap.dedent(inspect.getsource(case.function))
    except (OSError, TypeError):
        return set()
    return {type(node) for node in ast.walk(ast.parse(text))}


def test_each_kind_of_node_that_is_differentiated_is_in_a_program():
    """Or its pass would be tried by nobody: one that the compiler learns needs a program first."""
    kinds = {**{kind: facts.fate for kind, facts in STATEMENTS.items()}, **EXPRESSIONS}
    missing = {kind for kind, fate in kinds.items() if fate is not Fate.REFUSED} - set().union(
        *map(nodes_of, CASES)
    )
    assert missing == set(), f"write a program of tests/corpus with {missing}"
