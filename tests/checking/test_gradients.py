"""`grad_check` judges any gradient: right, wrong with the number that is furthest off, or inconclusive."""

import json

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import (
    GradientCheck,
    InconclusiveCheckError,
    RuleCheck,
    WrongGradientError,
    grad_check,
    test_gradient,
)
from rulelab.checking.testing.gradients import gradient_checking

Y = np.array([1.0, 2.0, 3.0])


def wrongly(x):
    """A function whose rule is off by a factor of 2 in one element."""
    return float(np.sum(x**2))


@rl.rrule_for(wrongly)
def wrongly_rrule(x):
    def wrongly_pullback(y_bar):
        x_bar = 2 * x * y_bar
        x_bar[1] *= 2
        return rl.NoTangent(), x_bar

    return wrongly(x), wrongly_pullback


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: x**3, (2.0,)),
        (lambda x, y: np.sum(np.exp(x) * y), (Y, Y)),
        (lambda x: np.sum(x**2), (np.arange(1.0, 200.0),)),
        (lambda z: np.abs(z) ** 2, (1.0 + 2.0j,)),
        (lambda p: p["a"] * np.sum(p["b"]), ({"a": 2.0, "b": Y},)),
        (lambda x: np.sum(x) * 3, (Y.astype(np.float32),)),
        (lambda x, k: np.sum(x[k:]), (Y, 1)),
        (lambda x, name: x * len(name), (2.0, "three")),
    ],
)
def test_right_gradients(f, args):
    """Of numbers, arrays small and large, complex numbers, structures, beside arguments that have none."""
    found = grad_check(f, *args)
    assert found.verdict == "right" and isinstance(found, GradientCheck) and isinstance(found, RuleCheck)
    assert found.points[0].origin == "given" and len(found.points) > 1


def test_an_integer_that_is_computed_with_is_moved():
    """As `rl.gradient` differentiates it; one that is used as an index is not."""
    found = grad_check(lambda n: n * n, 3)
    assert found and [check.name for check in found.checks] == [
        "gradient with respect to n",
        "random direction",
    ]
    assert [check.name for check in grad_check(lambda x, k: x[k], Y, 1).checks][
        0
    ] == "gradient with respect to x"


def test_a_wrong_gradient_shows_the_worst_element():
    """With both numbers and the error bar, and the rule of the author that took part."""

    def loss(x):
        return 3.0 * wrongly(x)

    found = grad_check(loss, Y)
    assert found.verdict == "wrong" and not found
    assert found.worst.worst.name == "x[1]"
    assert found.worst.worst.found == pytest.approx(24.0) and found.worst.worst.expected == pytest.approx(
        12.0
    )
    assert len(found.rules) == 1 and "wrongly_rrule" in found.rules[0]
    text = str(found)
    assert text.startswith("The gradient of loss is wrong: the gradient with respect to x is wrong.")
    assert "gradient with respect to x[1]: the AD gives 24, differences 12 ± " in text
    assert json.loads(found.to_json())["rules"] == list(found.rules)


def test_of_many_numbers_a_wrong_one_is_found_in_random_directions():
    """Above 64 numbers the gradient is asked in directions only."""
    assert grad_check(wrongly, np.arange(1.0, 301.0)).verdict == "wrong"


def test_a_function_with_noise_is_inconclusive():
    """No two differences agree: nothing is claimed."""
    rng = np.random.default_rng(0)

    def noisy(x):
        return x * x + rl.ignore_derivatives(lambda: float(rng.normal()))

    assert grad_check(noisy, 2.0).verdict != "right"


def test_nothing_to_move_is_inconclusive():
    """A test that could not fail does not pass."""
    found = grad_check(lambda name: 2.0 * len(name), "abc")
    assert found.verdict == "inconclusive" and "no argument is a number" in found.sentence
    with pytest.raises(InconclusiveCheckError):
        test_gradient(lambda name: 2.0 * len(name), "abc")


def test_what_the_gradient_refuses_is_refused_in_its_words():
    """Arrays of outputs, and functions that cannot be differentiated."""
    with pytest.raises(rl.ScalarOutputError, match="Perhaps you wanted jacobian"):
        grad_check(lambda x: x * 2, Y)

    def writes(x):
        x[0] = 1.0
        return np.sum(x)

    with pytest.raises(rl.MutationError):
        grad_check(writes, Y)


def test_an_error_of_the_function_is_its_own():
    """At the given point it is raised; points near it at which there is no value are left out."""
    with pytest.raises(ZeroDivisionError):
        grad_check(lambda x: 1.0 / x, 0.0)
    found = grad_check(lambda x: np.sum(np.sqrt(x)), np.full(6, 2.0))
    assert found.verdict == "right" and "left out" in str(found)


def test_arguments_are_left_as_they_are():
    """Also where the function keeps what it is given."""
    x, kept = Y.copy(), []

    def f(x):
        rl.ignore_derivatives(lambda: kept.append(x))
        return np.sum(x * x)

    grad_check(f, x)
    assert kept and np.array_equal(x, Y) and not any(np.shares_memory(x, k) for k in kept)


def test_keywords_are_constants():
    """They are handed on as they are."""
    assert grad_check(lambda x, *, k: k * x**2, 3.0, fkwargs={"k": 2.0})


def test_the_tester_passes_or_raises_with_the_report():
    """It is an AssertionError, so that pytest shows it as a failed test."""
    assert test_gradient(lambda x: x * x, 2.0).verdict == "right"
    assert test_gradient.__test__ is False
    with pytest.raises(AssertionError, match="The gradient of wrongly is wrong") as caught:
        test_gradient(wrongly, Y)
    assert isinstance(caught.value, WrongGradientError) and caught.value.report.verdict == "wrong"
    assert "the AD gives" in str(caught.value)


def test_the_same_seed_looks_at_the_same_points():
    """And another at others."""
    points = [grad_check(lambda x: x**2, 2.0, seed=seed).points for seed in (1, 1, 2)]
    assert points[0] == points[1] != points[2]


def test_a_check_in_pieces_has_a_report_at_any_moment():
    """Stopped, it is not right; it says at how many points it was."""
    check = gradient_checking(lambda x: x**2, 2.0)
    pieces = check.pieces()
    first = next(pieces)
    assert (first.done, first.total) == (1, 4)
    found = check.result(interrupted=True)
    assert found.verdict == "inconclusive" and "stopped after 1 point, at which it is right" in found.sentence
