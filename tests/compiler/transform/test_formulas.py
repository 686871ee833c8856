"""Derivatives that are written out are those of the rules: the same numbers, warnings and errors as where
every operation asks for its rule at run time, and what differences say.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "rulesets"))

from corpus.array_programs import BODIES, POINT, function_of, random_program  # noqa: E402
from differences import gradient_by_differences  # noqa: E402
from rule_points import at_each, by_function, cases, rule_at  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls.cache import Cache  # noqa: E402
from rulelab.compiler.calls.sites import Sites  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rulesets.catalogue import tables  # noqa: E402

ALL = [(kind, body) for kind, bodies in BODIES.items() for body in bodies]
POINTS = (POINT, -1.3 * POINT[::-1], np.array([1.0, 1.0, -2.0, 1.0]))


def outcome(call):
    """What a call gives or raises, and the kinds of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as error:
            found = error
    return found, {(warning.category, str(warning.message).partition(" ")[0]) for warning in caught}


def both_ways(monkeypatch, call):
    """The outcomes of `call(cache)` with formulas, and with rules asked at run time."""
    by_formula = outcome(lambda: call(Cache()))
    with monkeypatch.context() as patch:
        patch.setattr(Sites, "stated_rule", lambda self, op: None)
        by_rule = outcome(lambda: call(Cache()))
    return by_formula, by_rule


def numbers(found):
    """The arrays and numbers of a result, in order."""
    if isinstance(found, (tuple, list)):
        return [x for part in found for x in numbers(part)]
    return [found]


def assert_alike(found, expected, tolerance=1e-13):
    """The same error, or the same numbers in the same arrays."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        assert (type(found), str(found)) == (type(expected), str(expected))
        return
    assert len(numbers(found)) == len(numbers(expected))
    for x, y in zip(numbers(found), numbers(expected)):
        assert type(x) is type(y)
        if x is not None:
            assert np.shape(x) == np.shape(y)
            assert np.asarray(x).dtype == np.asarray(y).dtype
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def assert_as_by_rules(monkeypatch, f, *args):
    """The value and the gradient, by formulas and by rules."""
    (found, warned), (expected, expected_warned) = both_ways(
        monkeypatch, lambda cache: tuple(rl.withgradient(f, *args, cache=cache))
    )
    assert_alike(found, expected)
    assert warned == expected_warned
    return found


@pytest.mark.parametrize("body", [body for _, body in ALL], ids=[kind for kind, _ in ALL])
def test_the_gradient_is_that_of_the_rules(monkeypatch, body):
    for x in POINTS:
        assert_as_by_rules(monkeypatch, function_of(body), x)


NO_WITNESS = ("nothing and infinity", "whole numbers, truth values and short floats")


@pytest.mark.parametrize("body", [body for kind, body in ALL if kind not in NO_WITNESS])
def test_the_gradient_is_that_of_differences(body):
    f = function_of(body)
    try:
        (found,) = rl.gradient(f, POINT)
    except (rl.RuleLabError, ValueError):  # refused, or no value at all
        return
    np.testing.assert_allclose(found, gradient_by_differences(f, POINT), rtol=1e-5, atol=1e-6)


@pytest.mark.every(7)
@pytest.mark.parametrize("body", [body for kind, body in ALL if kind != "nothing and infinity"])
def test_second_derivatives_are_those_of_the_rules(monkeypatch, body):
    """In both orders of the modes."""
    f, direction = function_of(body), np.array([0.3, -1.0, 0.5, 2.0])

    def second(cache):
        along = rl.hvp(f, POINT, direction)
        return [along, rl.hessian_reverse(f, POINT) @ direction, rl.hessian(f, POINT) @ direction]

    (found, _), (expected, _) = both_ways(monkeypatch, second)
    assert_alike(found, expected, 1e-11)


def judge_random(monkeypatch, seed):
    """A random program against its rules and against differences."""
    body = random_program(seed)
    f = function_of(body)
    found = assert_as_by_rules(monkeypatch, f, POINT)
    assert not isinstance(found, Exception), f"{found}\n{body}"
    np.testing.assert_allclose(
        found[1][0], gradient_by_differences(f, POINT), rtol=1e-4, atol=1e-5, err_msg=body
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(monkeypatch, seed):
    judge_random(monkeypatch, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(40, 1000))
def test_random_programs_at_length(monkeypatch, seed):
    judge_random(monkeypatch, seed)


def written_out(fact):
    """The check points of the rules that state partials or cotangents, function by function."""
    found = []
    for case in (case for table in tables() for case in cases(table) if case.mode == "rrule"):
        rule = rule_at(DEFAULT, case.target, case.args, "rrule")
        if rule is not None and getattr(rule, fact) and any(map(is_float, case.args)):
            found.append(case)
    return by_function(found)


def is_float(x):
    return isinstance(x, float) or (type(x) is np.ndarray and x.dtype == np.float64)


def call_of(case):
    """A function that makes the call of a check point, and its arguments."""
    given = [f"x{k}" for k in range(len(case.args))]
    words = [f"{key}={key}_" for key in case.kwargs]
    parameters = ", ".join([*given, *(f"{key}_" for key in case.kwargs)])
    call = function_of(f"return target({', '.join([*given, *words])})", parameters, target=case.target)
    return call, (*case.args, *case.kwargs.values())


@pytest.mark.parametrize("fact", ["partials", "cotangents"])
def test_cotangents_are_those_of_the_rule_at_its_check_points(monkeypatch, fact):
    """Of random ones, and of zero objects, which stay such."""

    def judge(case):
        f, args = call_of(case)

        def cotangents(cache):
            y, back = rl.pullback(f, *args, cache=cache)
            random = np.random.default_rng(7)
            seed = random.normal(size=y.shape) if isinstance(y, np.ndarray) else float(random.normal())
            return y, back(seed), back(rl.ZeroTangent())

        (found, _), (expected, _) = both_ways(monkeypatch, cotangents)
        assert_alike(found, expected)

    for points in written_out(fact):
        at_each(points, judge)
