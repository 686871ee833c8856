"""The check of calls of library functions, by whatever answers for them: a rule or a Python function in
their place.

The gradient and the tangent of a call, along drawn directions, against differences of order eight of the
library's own function; second derivatives against differences of the tangent. The directions move all
arguments that vary at once, so that no wrong entry survives but by chance.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from rule_points import at_path, inner, leaves, moved, put_at, widen_all

import rulelab as rl

WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
STEP = 4e-3


class Call(NamedTuple):
    """A function of the arguments that vary, and these; what else the library is handed is written in it."""

    name: str
    function: Any
    args: tuple

    def __str__(self):
        return self.name


def call(name, function, *args):
    return Call(name, function, args)


def given(function, **words):
    """A function with these keywords."""
    return lambda *args: function(*args, **words)


def takes_stacks():
    """Whether this SciPy's linear algebra takes stacks of matrices throughout."""
    linalg = pytest.importorskip("scipy.linalg")
    try:
        return linalg.solve_sylvester(*[np.stack([np.eye(2)] * 2)] * 3).shape == (2, 2, 2)
    except ValueError:
        return False


def function_of(one):
    """The name of the library's function, with which that of a call begins."""
    return one.name.split()[0]


def first_of_each(calls):
    """One call of each function, which is checked with the suite."""
    found = {}
    for one in calls:
        found.setdefault(function_of(one), one)
    return list(found.values())


def further(calls):
    """The other calls, of which the suite checks some."""
    first = {id(one) for one in first_of_each(calls)}
    return [one for one in calls if id(one) not in first]


def parts(value):
    """The numbers and arrays of a result, in order."""
    return [np.asarray(leaf) for _, leaf in leaves(value) if np.asarray(leaf).dtype.kind in "fc"]


def drawn(like, rng):
    """A random value of the form of another: real where it is."""
    x = rng.normal(size=np.shape(like))
    if np.iscomplexobj(like):
        x = x + 1j * rng.normal(size=np.shape(like))
    return np.asarray(x, np.asarray(like).dtype) if np.asarray(like).dtype.kind in "fc" else np.asarray(x)


def direction(args, rng):
    """One for the arguments, in their form."""
    found = args
    for path, leaf in list(leaves(args)):
        if np.asarray(leaf).dtype.kind in "fc":
            found = put_at(found, path, drawn(leaf, rng) if np.ndim(leaf) else drawn(leaf, rng)[()])
    return found


def shifted(args, along, step):
    """The arguments in double precision, moved along a direction."""
    args = widen_all(args)
    for path, leaf in list(leaves(args)):
        if np.asarray(leaf).dtype.kind in "fc":
            args = put_at(args, path, moved(leaf, step * np.asarray(at_path(along, path))))
    return args


def difference(f, args, along, step=STEP):
    """The derivative of `f`, which gives one vector, along a direction: differences of order eight."""
    total = 0.0
    for k, weight in enumerate(WEIGHTS, 1):
        ahead, behind = f(*shifted(args, along, k * step)), f(*shifted(args, along, -k * step))
        total = total + weight * (ahead - behind) / step
    return total


AROUND = np.exp(2j * np.pi * np.arange(16) / 16)
RADIUS = 1e-2


def on_a_circle(one, along, order=1):
    """The derivative of a call along a direction, once or twice, by Cauchy's integral around the arguments
    (Lyness and Moler 1967), which has all digits but a few; None where SciPy's function takes no complex
    numbers in the place of these, or is not analytic, as what conjugates or compares them.
    """
    args = widen_all(one.args)
    try:
        values = np.stack([flat(one.function(*_turned(args, along, RADIUS * z))) for z in AROUND])
    except (TypeError, ValueError, np.exceptions.ComplexWarning):
        return None
    slope, other = (np.mean(values * z[:, None], axis=0) / RADIUS for z in (1 / AROUND, AROUND))
    if np.max(np.abs(other), initial=0.0) >= 1e-9 * (1 + np.max(np.abs(slope), initial=0.0)):
        return None
    return slope if order == 1 else 2 * np.mean(values / AROUND[:, None] ** 2, axis=0) / RADIUS**2


def _turned(args, along, step):
    """The arguments, moved by a complex step along a direction."""
    for path, leaf in list(leaves(args)):
        if np.asarray(leaf).dtype.kind in "fc":
            there = np.asarray(leaf) + step * np.asarray(at_path(along, path))
            args = put_at(args, path, there if np.ndim(leaf) else there[()])
    return args


def check_on_a_circle(one, seed=3):
    """Both modes of a call against Cauchy's integral; whether there is one."""
    rng = np.random.default_rng(seed)
    f, args = one.function, widen_all(one.args)
    along = direction(args, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        wanted = on_a_circle(one, along)
    if wanted is None:
        return False
    y, back = rl.pullback(f, *args)
    if np.size(wanted) != np.size(flat(y)):
        return False  # complex sequences have longer spectra
    wanted = wanted if np.iscomplexobj(flat(y)) else wanted.real
    y_bar = seed_of(y, rng)
    bars = cotangents_at(args, back(y_bar))
    left = sum(inner(np.asarray(bar), at_path(along, path)) for path, bar in bars)
    close(left, inner(flat(y_bar), wanted), "pullback", 1e-10)
    close(flat_of_tangent(rl.pushforward(f, *args)(*along), y), wanted, "tangent", 1e-10)
    return True


def tolerance_of(args):
    """What short floats allow, or the differences."""
    short = any(np.asarray(leaf).dtype in (np.float32, np.complex64) for _, leaf in leaves(args))
    return 2e-3 if short else 1e-7


def flat(value):
    return np.concatenate([np.zeros(0), *[np.ravel(part) for part in parts(value)]])


def close(found, wanted, what, tolerance):
    scale = 1.0 + float(np.max(np.abs(wanted), initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def seed_of(y, rng):
    """A cotangent in the form of a result: nothing for what is not a number."""
    if isinstance(y, (tuple, list)):
        seeds = [seed_of(item, rng) for item in y]
        return tuple(seeds)
    if not list(leaves(y)) or np.asarray(y).dtype.kind not in "fc":
        return None
    drawn_one = drawn(y, rng)
    return drawn_one if np.ndim(y) else drawn_one[()]


def check_call(one, seed=3):
    """Both modes of a call, its value, and the kinds of its cotangents."""
    rng = np.random.default_rng(seed)
    f, args = one.function, one.args
    plain, tolerance = f(*args), tolerance_of(args)
    y, back = rl.pullback(f, *args)
    assert [p.shape for p in parts(y)] == [p.shape for p in parts(plain)]
    assert [p.dtype for p in parts(y)] == [p.dtype for p in parts(plain)], [p.dtype for p in parts(y)]
    close(flat(y), flat(plain), "value", min(tolerance, 1e-9) if tolerance < 1e-4 else 1e-4)
    y_bar = seed_of(y, rng)
    bars = back(y_bar)
    along = direction(args, rng)
    wanted = difference(lambda *xs: flat(f(*xs)), args, along)
    check_kinds(args, bars)
    left = sum(inner(np.asarray(bar), at_path(along, path)) for path, bar in cotangents_at(args, bars))
    close(left, inner(flat(y_bar), wanted), "pullback", tolerance)
    close(flat_of_tangent(rl.pushforward(f, *args)(*along), plain), wanted, "tangent", tolerance)


def flat_of_tangent(y_dot, y):
    """The tangents of what are numbers, as one vector."""
    if isinstance(y, (tuple, list)):
        vectors = [flat_of_tangent(dot, item) for dot, item in zip(y_dot, y, strict=True)]
        return np.concatenate([np.zeros(0), *vectors])
    if not parts(y):
        return np.zeros(0)
    return np.zeros(np.size(y)) if y_dot is None else np.ravel(y_dot)


def cotangents_at(args, bars):
    """Each cotangent of a leaf, where there is one."""
    for path, _ in leaves(args):
        bar = bars
        for key in path:
            bar = None if bar is None else bar[key]
        if bar is not None:
            yield path, bar


def check_kinds(args, bars):
    """A cotangent has the shape of its argument, and is real if that is."""
    for path, bar in cotangents_at(args, bars):
        leaf = np.asarray(at_path(args, path))
        assert np.shape(bar) == leaf.shape, (path, np.shape(bar), leaf.shape)
        if leaf.dtype.kind in "fc":
            assert np.asarray(bar).dtype.kind == leaf.dtype.kind, (path, np.asarray(bar).dtype)
            if leaf.ndim:
                assert np.asarray(bar).dtype == leaf.dtype, (path, np.asarray(bar).dtype)


def check_second_of_call(one, seed=5):
    """The gradient of the tangent along one direction, against differences of the tangent."""
    rng = np.random.default_rng(seed)
    args = one.args
    first, second = direction(args, rng), direction(args, rng)
    f = varying(one.function, args, first)
    y = f(*args)
    weights = [drawn(part, rng) for part in parts(y)]

    def tangent(*xs):
        return rl.pushforward(f, *xs)(*first)

    whole = np.concatenate([np.zeros(0), *[np.ravel(weight) for weight in weights]])

    def along(*xs):
        return np.array(inner(whole, flat_of_tangent(tangent(*xs), y)))

    _, back = rl.pullback(tangent, *args)
    bars = back(filled(y, iter(weights)))
    left = sum(inner(np.asarray(bar), at_path(second, path)) for path, bar in cotangents_at(args, bars))
    close(left, difference(along, args, second), "second derivative", 100 * tolerance_of(args))


def varying(f, args, along):
    """A function without those of its results that are constant."""
    y = f(*args)
    if not isinstance(y, tuple):
        return f
    dots = rl.pushforward(f, *args)(*along)
    kept = [i for i in range(len(y)) if dots[i] is not None and parts(y[i])]
    return f if len(kept) == len(y) else lambda *xs: tuple([f(*xs)[i] for i in kept])


def filled(y, values):
    """The values in the form of a result."""
    if isinstance(y, (tuple, list)):
        return tuple(filled(item, values) for item in y)
    value = next(values)
    return value if np.ndim(y) else value[()]


# -- the four orders of two modes ----------------------------------------------------------------------------


def orders(f, args, along, seed):
    """The second derivative of a function along a direction, weighed by a seed, in all orders of modes."""

    def tangent(*xs):
        return weighed(rl.pushforward(f, *xs)(*along), seed)

    def gradient(*xs):
        _, back = rl.pullback(f, *xs)
        return weighed(back(seed), along)

    asked = {
        "forward over forward": lambda: rl.pushforward(tangent, *args)(*along),
        "reverse over forward": lambda: paired(args, rl.pullback(tangent, *args)[1](1.0), along),
        "forward over reverse": lambda: rl.pushforward(gradient, *args)(*along),
        "reverse over reverse": lambda: paired(args, rl.pullback(gradient, *args)[1](1.0), along),
    }
    for name, ask in asked.items():
        found = ask()
        yield name, 0.0 if found is None else float(np.real(found))


def paired(args, bars, along):
    """The inner product of cotangents with a direction."""
    pairs = [(bar, at_path(along, path)) for path, bar in cotangents_at(args, bars)]
    return sum(inner(np.asarray(bar), dot) for bar, dot in pairs if dot is not None)


def weighed(dots, seed):
    """The real inner product of two structures of numbers, part by part."""
    if dots is None or seed is None:
        return 0.0
    if isinstance(seed, (tuple, list)):
        total = 0.0
        for i in range(len(seed)):
            total = total + weighed(dots[i], seed[i])
        return total
    if isinstance(seed, dict):
        total = 0.0
        for key in seed:
            total = total + weighed(dots[key], seed[key])
        return total
    return np.sum(np.real(np.conj(seed) * dots))


def check_orders_on_a_circle(one, seed=7):
    """All orders of two modes against Cauchy's integral; whether there is one."""
    rng = np.random.default_rng(seed)
    args = widen_all(one.args)
    along = direction(args, rng)
    f = varying(one.function, args, along)
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        wanted = on_a_circle(one._replace(function=f), along, 2)
    y = f(*args)
    if wanted is None or np.size(wanted) != np.size(flat(y)):
        return False
    y_bar = seed_of(y, rng)
    for name, found in orders(f, args, along, y_bar):
        close(found, inner(flat(y_bar), wanted if np.iscomplexobj(flat(y)) else wanted.real), name, 1e-7)
    return True
