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

from corpus.array_programs import (  # noqa: E402
    BODIES,
    POINT,
    WEIGHTS,
    function_of,
    random_program,
    random_shapes,
)
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


@pytest.mark.every(29)
@pytest.mark.parametrize("body", [body for _, body in ALL], ids=[kind for kind, _ in ALL])
def test_the_gradient_is_that_of_the_rules(monkeypatch, body):
    for x in POINTS:
        assert_as_by_rules(monkeypatch, function_of(body), x)


NO_WITNESS = ("nothing and infinity", "whole numbers, truth values and short floats")


@pytest.mark.every(5)
@pytest.mark.parametrize("body", [body for kind, body in ALL if kind not in NO_WITNESS])
def test_the_gradient_is_that_of_differences(body):
    f = function_of(body)
    try:
        (found,) = rl.gradient(f, POINT)
    except (rl.RuleLabError, ValueError):  # refused, or no value at all
        return
    np.testing.assert_allclose(found, gradient_by_differences(f, POINT), rtol=1e-5, atol=1e-6)


@pytest.mark.every(79)
@pytest.mark.parametrize("body", [body for kind, body in ALL if kind != "nothing and infinity"])
def test_second_derivatives_are_those_of_the_rules(monkeypatch, body):
    """In both orders of the modes."""
    f, direction = function_of(body), np.array([0.3, -1.0, 0.5, 2.0])

    def second(cache):
        along = rl.hvp(f, POINT, direction)
        return [along, rl.hessian_reverse(f, POINT) @ direction, rl.hessian(f, POINT) @ direction]

    (found, _), (expected, _) = both_ways(monkeypatch, second)
    assert_alike(found, expected, 1e-11)


def judge_random(monkeypatch, body):
    """A random program against its rules and against differences."""
    f = function_of(body)
    try:
        f(POINT)
    except ValueError:  # the shapes do not meet
        return
    found = assert_as_by_rules(monkeypatch, f, POINT)
    assert not isinstance(found, Exception), f"{found}\n{body}"
    np.testing.assert_allclose(
        found[1][0], gradient_by_differences(f, POINT), rtol=1e-4, atol=1e-5, err_msg=body
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("make", [random_program, random_shapes])
@pytest.mark.parametrize("seed", range(20))
def test_random_programs(monkeypatch, make, seed):
    judge_random(monkeypatch, make(seed))


@pytest.mark.campaign
@pytest.mark.parametrize("make", [random_program, random_shapes])
@pytest.mark.parametrize("seed", range(20, 500))
def test_random_programs_at_length(monkeypatch, make, seed):
    judge_random(monkeypatch, make(seed))


# What an author's rule may give for the cotangent of its argument.
GIVEN = {
    "short": lambda y_bar, x: np.asarray(2 * y_bar).astype(np.float32)[()],
    "a list": lambda y_bar, x: np.asarray(2 * y_bar).tolist(),
    "one number repeated": lambda y_bar, x: np.broadcast_to(2.0, np.shape(x)),
    "zero": lambda y_bar, x: rl.ZeroTangent(),
    "none": lambda y_bar, x: rl.NoTangent(),
    "delayed": lambda y_bar, x: rl.Thunk(lambda: 2 * y_bar),
    "an axis more": lambda y_bar, x: np.asarray(2 * y_bar)[..., None],
    "complex": lambda y_bar, x: (2 * y_bar) * (1 + 1j),
    "whole": lambda y_bar, x: np.ones(np.shape(x), int),
}
BEFORE = [
    *(
        "x + WEIGHTS",
        "x * x",
        "WEIGHTS / x",
        "np.tanh(x)",
        "np.concatenate([x, WEIGHTS])",
        "np.array([x, x * 2])",
    ),
    *("np.array(x)", "np.outer(x, x).T", "np.outer(x, x).reshape(-1)", "np.sum(np.outer(x, x), axis=0)"),
    *("np.sum(x)", "np.max(np.outer(x, x), axis=0)", "np.min(x)", "np.mean(np.outer(x, x), axis=1)", "x @ x"),
    *(
        "np.outer(x, WEIGHTS) @ x",
        "np.dot(x, WEIGHTS)",
        "x[1:]",
        "x[1]",
        "x[[0, 0, 1]]",
        "np.where(x > 0, 1.0, x)",
    ),
    *(
        "np.abs(x)",
        "np.linalg.solve(np.eye(4) * 2 + np.outer(x, x), x)",
        "np.cumsum(x)",
        "np.maximum(x, 0.0)",
    ),
    *(
        "np.linalg.cholesky(np.outer(x, x) + np.eye(4))",
        "np.abs(x) ** 1.5",
        "x[:, None] * WEIGHTS",
        "x + x[0]",
    ),
]


@pytest.mark.every(2)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_whatever_an_authors_rule_gives_flows_through_formulas(monkeypatch, given):
    """As it flows through rules, which may be more particular."""

    def doubled(x):
        return x * 2.0

    @rl.rrule_for(doubled)
    def doubled_rrule(x):
        return x * 2.0, lambda y_bar: (rl.NoTangent(), given(y_bar, x))

    for text in BEFORE:
        body = f"y = {text}\nz = doubled(y)\nreturn np.sum(z) + np.sum(y * 2.0)"
        assert_as_by_rules(monkeypatch, function_of(body, doubled=doubled, WEIGHTS=WEIGHTS), POINT)


def test_what_is_not_implemented_says_so_through_every_formula():
    def halved(x):
        return x / 2.0

    @rl.rrule_for(halved)
    def halved_rrule(x):
        return x / 2.0, lambda y_bar: (rl.NoTangent(), rl.not_implemented("later"))

    for text in BEFORE:
        f = function_of(f"y = {text}\nreturn np.sum(halved(y)) + np.sum(y)", halved=halved)
        with pytest.raises((rl.NotImplementedTangentError, ValueError)) as caught:
            rl.gradient(f, POINT)
        error = caught.value  # NumPy says in its own words what it could not store, and why
        assert "later" in str(error if isinstance(error, rl.NotImplementedTangentError) else error.__cause__)


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


@pytest.mark.every(7)  # of each fact one part
@pytest.mark.parametrize("fact", ["partials", "cotangents"])
@pytest.mark.parametrize("part", range(3))
def test_cotangents_are_those_of_the_rule_at_its_check_points(monkeypatch, fact, part):
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

    for points in list(written_out(fact))[part::3]:
        at_each(points, judge)
