"""Forward mode and second derivatives over the corpus: right, or refused by a typed error."""

import copy
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.everyday import PROGRAMS  # noqa: E402
from corpus.forward import along, along_by_differences, direction, forward_withgradient  # noqa: E402
from corpus.harness import all_cases, derivative, flat, same  # noqa: E402
from corpus.program_orders import SECOND, WORKS  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls.pushing import Push  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402

CASES = all_cases()
ids = [case.name for case in CASES]

# What forward mode refuses today, and why. These lists may only become shorter.
REFUSED_FORWARDS = {
    "syntax.starred_displays": "varies is the key of a dict or an item of a set",
    "syntax.set_comprehension_that_is_counted": "varies is the key of a dict or an item of a set",
    "iterators.consumers_of_iterators": "mean(map)",
}
REFUSED_TWICE = {
    **REFUSED_FORWARDS,
    "heap.post_init": "Signature.bind",
    "iterators.reversed_views": "cannot be differentiated backwards",
    "protocols.properties": "object.__setattr__",  # by which a cached property is kept
}


def is_single(x):
    return getattr(x, "dtype", None) == np.float32


@pytest.mark.parametrize("case", CASES, ids=ids)
@pytest.mark.every(31)
def test_forward_is_reverse_is_finite_differences(case):
    """One pushforward for each coordinate gives the gradient, and the value, at every point."""
    if case.name in REFUSED_FORWARDS:
        with pytest.raises(RuleLabError) as refused:
            for args in case.points:
                forward_withgradient(
                    case.function, *copy.deepcopy(args), active=case.active(args), **case.kwargs
                )
        assert REFUSED_FORWARDS[case.name] in str(refused.value)
        return
    for args in case.points:
        active = case.active(args)
        value, forward = forward_withgradient(case.function, *args, active=active, **case.kwargs)
        _, reverse = rl.withgradient(case.function, *copy.deepcopy(args), **case.kwargs)
        if active:
            assert same(value, case.function(*copy.deepcopy(args), **case.kwargs))
        for i in active:
            wanted = flat(reverse[i], args[i])
            rtol = 1e-5 if is_single(args[i]) else 1e-9
            np.testing.assert_allclose(flat(forward[i]), wanted, rtol=rtol, atol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=ids)
@pytest.mark.every(139)  # the whole takes a minute
def test_second_derivatives(case):
    """The derivative of the gradient along a direction, against differences of gradients."""
    args = case.points[0]
    active = case.active(args)
    if not active:
        pytest.skip("no argument to differentiate by")
    dots = direction(args, active)
    if case.name in REFUSED_TWICE:
        with pytest.raises(RuleLabError) as refused:
            along(case.function, args, active, dots, case.kwargs)
        assert REFUSED_TWICE[case.name] in str(refused.value)
        return
    found = along(case.function, args, active, dots, case.kwargs)
    h = 1e-2 if any(map(is_single, args)) else 1e-5
    wanted, error = along_by_differences(case.function, args, active, dots, case.kwargs, h)
    scale = max(1.0, np.abs(wanted).max(initial=0.0))
    assert np.max(np.abs(found - wanted), initial=0.0) <= 1e-5 * scale + 10 * error + (
        1e-2 if h > 1e-3 else 0
    )


ORDINARY = [case for case in CASES if case.name.startswith("ordinary.") and case.active(case.points[0])]


@pytest.mark.parametrize("case", ORDINARY, ids=[case.name for case in ORDINARY])
@pytest.mark.every(29)
def test_every_way_to_a_second_derivative(case):
    """Each mode over each gives the derivative of the gradient along a direction, or its component there."""
    args = case.points[0]
    active = case.active(args)
    dots = direction(args, active)
    wanted, error = along_by_differences(case.function, args, active, dots, case.kwargs)
    along_itself = np.concatenate([flat(dots[i]) for i in active]) @ wanted
    scale = max(1.0, np.abs(wanted).max(initial=0.0))
    for way in SECOND:
        found = WORKS[way](case.function, args, dots)
        right = wanted if way != "forward over forward" else along_itself
        assert np.max(np.abs(found - right)) <= 1e-5 * scale + 10 * error, way


UNREFUSED = [case for case in CASES if case.name not in REFUSED_TWICE and case.active(case.points[0])]


@pytest.mark.parametrize("case", UNREFUSED, ids=[case.name for case in UNREFUSED])
@pytest.mark.every(191)
def test_what_the_result_does_not_need_stops_nothing(case):
    """A call whose result is thrown away changes no second derivative, and is not refused."""
    args = case.points[0]
    active = case.active(args)
    dots, f, words = direction(args, active), case.function, case.kwargs

    def cubes(*xs):
        f(*xs, **words)
        return cubed(xs)

    def cubed(x):
        if isinstance(x, dict):
            x = list(x.values())
        if isinstance(x, (list, tuple)):
            return sum([cubed(part) for part in x])
        return np.sum(x**3) if isinstance(x, np.ndarray) else x**3 if type(x) in (int, float) else 0.0

    found = along(cubes, args, active, dots, {})
    wanted = [6 * flat(args[i]) * flat(dots[i]) for i in active]
    assert np.allclose(found, np.concatenate(wanted), rtol=1e-5)


def test_few_second_derivatives_are_refused():
    """At least nine in ten of the corpus are worked out."""
    assert len(REFUSED_TWICE) <= 0.1 * len(CASES) and len(REFUSED_FORWARDS) <= 0.03 * len(CASES)


# -- everyday programs, in both modes and all pairs of them --------------------------------------------------


def reverse(f):
    return lambda x: rl.gradient(f, x)[0]


def forward(f):
    return lambda x: rl.pushforward(f, x)(1.0)


WORDS = {
    "D": (reverse,), "F": (forward,), "DD": (reverse, reverse), "DF": (reverse, forward),
    "FD": (forward, reverse), "FF": (forward, forward),
}  # fmt: skip
REFUSED_EVERYDAY = {
    **{("try2", word): "in an except block" for word in ("D", "DD", "DF", "FD")},
    **{("cache_in", word): "cache(function)" for word in ("D", "DD", "DF", "FD")},
    **{("fn_attr", word): "__call__" for word in WORDS},
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
@pytest.mark.every(59)
def test_everyday_programs(f, word):
    """Closures, defaults, recursion, methods, containers and the rest: right at orders one and two."""
    g = f
    for operator in reversed(WORDS[word]):
        g = operator(g)
    if (f.__name__, word) in REFUSED_EVERYDAY:
        with pytest.raises(RuleLabError) as refused:
            g(1.3)
        assert REFUSED_EVERYDAY[f.__name__, word] in str(refused.value)
        return
    witness = f if len(word) == 1 else WORDS[word][1](f)
    wanted, error = derivative(witness, 1.3)
    assert error <= 1e-6 * max(1.0, abs(wanted))
    assert abs(g(1.3) - wanted) <= 1e-6 * max(1.0, abs(wanted))


SQUARED_SIZES = [
    lambda x: np.fabs(x) * np.fabs(x),
    lambda x: math.fabs(x) * math.fabs(x),
    lambda x: np.hypot(x, 0.0) * np.hypot(x, 0.0),
]


@pytest.mark.parametrize("f", SQUARED_SIZES)
def test_the_size_of_a_number_is_not_looked_up_at_each_call(f, monkeypatch):
    """The absolute value of a number costs forward mode what its partial costs, and at the kink its second
    derivative is still not said to be 0.
    """
    asked = []
    program = Push.program
    monkeypatch.setattr(Push, "program", lambda push, call: asked.append(call[0]) or program(push, call))
    assert rl.pushforward(f, -0.7)(1.0) == pytest.approx(-1.4)
    assert asked == [f]
    assert rl.hessian(f, -0.7) == pytest.approx(2.0)
    assert np.isnan(rl.hessian(f, 0.0))


def tanh_until(v):
    s, n = v[0], 0
    while True:
        s = np.tanh(s * 1.62) + 0.1 * n
        n += 1
        if n > 3 or s > 9.0:
            break
    return s * v[1]


def copied_in_a_loop(v):
    s, kept = v[0], []
    for x in v:
        t = np.sin(s * x)
        u = t
        kept.append(u)
        s = u
    return s * sum(kept)


def copied_on_a_branch(v):
    s = v[1]
    for x in v:
        if x > 0.0:
            t = np.exp(s * x)
            u = t
            s = u * 1.0
            s = u + s * u
        else:
            s = x
    return s


@pytest.mark.parametrize("way", SECOND)
@pytest.mark.parametrize("f", [tanh_until, copied_in_a_loop, copied_on_a_branch])
def test_a_value_that_goes_by_several_names_keeps_the_one_that_is_read(f, way):
    """A copy of a copy is carried to the next iteration, and something else reads what they are copies of."""
    v, dots = np.array([0.3, 0.5, -0.2]), (np.array([1.0, -0.5, 2.0]),)
    wanted, error = along_by_differences(f, (v,), [0], dots, {})
    right = wanted if way != "forward over forward" else dots[0] @ wanted
    assert np.allclose(WORKS[way](f, (v,), dots), right, rtol=1e-5, atol=10 * error)


def test_a_ufunc_with_several_results_in_forward_mode():
    """Each result has a tangent, where the types are known and where they are not."""
    special = pytest.importorskip("scipy.special")
    f = lambda x: special.sici(x)[0] * special.airy(x)[1]
    slope = rl.gradient(f, 0.7)[0]
    assert rl.pushforward(f, 0.7)(1.0) == pytest.approx(slope, rel=1e-14)
    assert rl.pushforward(f, np.float64(0.7))(1.0) == pytest.approx(slope, rel=1e-14)
    assert rl.pushforward(f, 2)(1.0) == pytest.approx(rl.gradient(f, 2)[0], rel=1e-14)


def found_in_iterator(v):
    it = iter([v[0], v[1], v[0] * v[1], v[0] ** 3])
    is_there = v[1] in it
    return next(it) * (2.0 if is_there else 3.0)


def not_found_in_generator(v):
    it = (x * v[1] for x in v)
    is_missing = 100.0 not in it
    return next(it, v[0]) * (2.0 if is_missing else 3.0)


def found_in_reversed(v):
    it = reversed([v[0], v[1], v[0] * v[2]])
    return next(it) if v[1] not in it else next(it) * v[2]


@pytest.mark.parametrize("f", [found_in_iterator, not_found_in_generator, found_in_reversed])
def test_a_question_to_an_iterator_takes_the_tangents_of_its_items(f):
    """`x in iterator` reads items until one is found, and what follows is read from there."""
    v, dot = np.array([0.3, 0.5, -0.2]), np.array([1.0, -0.5, 2.0])
    wanted = (f(v + 1e-6 * dot) - f(v - 1e-6 * dot)) / 2e-6
    assert rl.pushforward(f, v)(dot) == pytest.approx(wanted, rel=1e-6)
    assert rl.gradient(f, v)[0] @ dot == pytest.approx(wanted, rel=1e-6)
