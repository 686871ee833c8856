"""The corpus: small functions of the kind people write, and how their gradients are checked.

A corpus module states a function and the arguments to try it at:

    @case((3.0,), (-2.0,))
    def square(x):
        return x * x

Every property test of the compiler runs over all of them. The witness is a Richardson table of central
differences of the function itself; nothing here asks the package for a derivative.
"""

import copy
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from corpus.features import FEATURES, MEANINGS

MODULES = (
    "bindings",
    "arithmetic",
    "branches",
    "loops",
    "calls",
    "indexing",
    "arrays",
    "containers",
    "handlers",
    "hygiene",
    "numerics",
    "numpy_names",
    "models",
    "heap",
    "syntax",
    "iterators",
    "higher_order",
    "protocols",
    "ordinary",
)
CASES: list["Case"] = []


@dataclass(frozen=True)
class Case:
    """One function, the argument tuples to try it at, and what is promised of each position.

    `wrt` are the positions compared with finite differences (default: every argument made of real numbers
    that are not ints); `inert` are the positions that get None; a position in neither is not looked at.
    `needs` are the constructs that wait for the compiler (features.py).
    """

    function: Callable
    made: tuple
    tolerance: float = 1e-7
    wrt: tuple | None = None
    inert: tuple = ()
    kwargs: dict = field(default_factory=dict)
    needs: frozenset = frozenset()

    @property
    def points(self):
        """The argument tuples, each time new: a function may change what it is given."""
        return copy.deepcopy(self.made)

    @property
    def name(self):
        return f"{self.function.__module__.rsplit('.', 1)[-1]}.{self.function.__name__}"

    def active(self, args):
        """The positions of `args` whose gradient is compared."""
        if self.wrt is not None:
            return self.wrt
        return tuple(i for i, a in enumerate(args) if i not in self.inert and is_real(a))


def case(*points, tolerance=1e-7, wrt=None, inert=(), needs=(), **kwargs):
    """Put the decorated function, unchanged, into the corpus."""
    if unknown := set(needs) - set(MEANINGS):
        raise ValueError(f"no such feature: {sorted(unknown)}")

    def register(function):
        CASES.append(Case(function, points, tolerance, wrt, inert, kwargs, frozenset(needs)))
        return function

    return register


def registered():
    """Every case, taken or waiting, in the order of the modules."""
    for module in MODULES:
        importlib.import_module(f"corpus.{module}")
    return list(CASES)


def all_cases():
    """Every case that the compiler is to take today, in the order of the modules."""
    return [case for case in registered() if case.needs <= FEATURES]


def waiting_cases():
    """The cases that need a construct which the compiler is not yet said to take."""
    return [case for case in registered() if not case.needs <= FEATURES]


def is_real(a):
    """Whether `a` is made of floats alone: what is differentiable without being told."""
    if isinstance(a, (list, tuple)):
        return len(a) > 0 and all(is_real(item) for item in a)
    if isinstance(a, dict):
        return len(a) > 0 and all(is_real(item) for item in a.values())
    if isinstance(a, np.ndarray):
        return a.dtype.kind == "f"
    return isinstance(a, (float, np.floating))


# --------------------------------------------------------------------------------------------------
# finite differences


def flat(value, like=None):
    """The real coordinates of a value; None inside one counts as zeros shaped as `like`."""
    if value is None:
        return np.zeros_like(flat(like))
    if isinstance(value, dict):
        value, like = list(value.values()), list(like.values()) if like is not None else None
    if isinstance(value, (list, tuple)):
        likes = like if like is not None else [None] * len(value)
        return np.concatenate([np.zeros(0)] + [flat(v, p) for v, p in zip(value, likes, strict=True)])
    return np.asarray(value, dtype=float).reshape(-1)


def rebuilt(value, coordinates):
    """A value of the structure of `value` with the given coordinates; ints become floats."""
    coordinates = iter(coordinates)

    def build(v):
        if isinstance(v, dict):
            return {key: build(item) for key, item in v.items()}
        if isinstance(v, tuple) and hasattr(v, "_fields"):
            return type(v)(*[build(item) for item in v])
        if isinstance(v, (list, tuple)):
            return type(v)([build(item) for item in v])
        if isinstance(v, np.ndarray):
            dtype = v.dtype if v.dtype.kind == "f" else float
            numbers = [next(coordinates) for _ in range(v.size)]
            return np.array(numbers, dtype=dtype).reshape(v.shape)
        number = next(coordinates)
        return type(v)(number) if isinstance(v, np.floating) else float(number)

    return build(value)


def derivative(g, t, h=0.02, levels=8, shrink=1.6):
    """(dg/dt, error estimate) by extrapolated central differences (Ridders, Adv. Eng. Softw. 4, 1982, 75)."""
    table = np.zeros((levels, levels))
    best, error = 0.0, np.inf
    for i in range(levels):
        step = (t + h) - t
        table[0, i] = (g(t + step) - g(t - step)) / (2 * step)
        factor = shrink**2
        for j in range(1, i + 1):
            table[j, i] = (factor * table[j - 1, i] - table[j - 1, i - 1]) / (factor - 1)
            factor *= shrink**2
            seen = max(abs(table[j, i] - table[j - 1, i]), abs(table[j, i] - table[j - 1, i - 1]))
            if seen <= error:
                best, error = table[j, i], seen
        if i and abs(table[i, i] - table[i - 1, i - 1]) >= 4 * error:
            break
        h /= shrink
    return best, error


def finite_differences(f, args, position, kwargs=None):
    """(gradient, error estimate) of scalar `f` in the coordinates of `args[position]`, both flat vectors."""
    kwargs = kwargs or {}
    centre = flat(args[position])
    gradient, errors = np.zeros(centre.size), np.zeros(centre.size)

    def along(k, t):
        moved = centre.copy()
        moved[k] = t
        fresh = [copy.deepcopy(a) for a in args]
        fresh[position] = rebuilt(args[position], moved)
        return float(f(*fresh, **copy.deepcopy(kwargs)))

    for k in range(centre.size):
        gradient[k], errors[k] = derivative(lambda t, k=k: along(k, t), centre[k])
    return gradient, errors


# --------------------------------------------------------------------------------------------------
# the promises


def same(a, b):
    """Whether two values are equal to the last bit, structure and types included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(p, q) for p, q in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
        )
    return bool(a == b) or (a != a and b != b)


def arrays_in(value):
    """Every array held by a value, containers searched."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [a for item in value for a in arrays_in(item)]
    return []


def assert_fits(x_bar, x, where):
    """A gradient entry has the shape, the dtype and the structure of its argument."""
    if isinstance(x, np.ndarray):
        assert isinstance(x_bar, np.ndarray), f"{where}: {type(x_bar).__name__} for an array"
        assert x_bar.shape == x.shape, f"{where}: shape {x_bar.shape} for {x.shape}"
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype(float)
        assert x_bar.dtype == dtype, f"{where}: dtype {x_bar.dtype} for {x.dtype}"
        assert x_bar.flags.writeable, f"{where}: the gradient is read-only"
    elif isinstance(x, dict):
        assert list(x_bar) == list(x), f"{where}: keys {list(x_bar)} for {list(x)}"
        for key in x:
            if x_bar[key] is not None:
                assert_fits(x_bar[key], x[key], f"{where}[{key!r}]")
    elif isinstance(x, (list, tuple)):
        assert len(x_bar) == len(x), f"{where}: {len(x_bar)} entries for {len(x)}"
        for k, (item_bar, item) in enumerate(zip(x_bar, x, strict=True)):
            if item_bar is not None:
                assert_fits(item_bar, item, f"{where}[{k}]")
    else:
        assert isinstance(x_bar, (float, np.floating)), f"{where}: {type(x_bar).__name__} for a number"


def assert_close(found, wanted, tolerance, where):
    """Equal within `tolerance`, relative to the largest entry or absolute below one."""
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    gap = float(np.max(np.abs(found - wanted), initial=0.0))
    assert gap <= tolerance * scale, (
        f"{where}: gradient {found}, finite differences {wanted}, off by {gap:.2e}"
    )


def check_point(case, args, withgradient, witness=True):
    """All promises at one argument tuple; gives the gradient for callers that compare runs."""
    f, kwargs = case.function, case.kwargs
    wanted = f(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    given = copy.deepcopy(args)
    value, gradient = withgradient(f, *given, **kwargs)
    assert same(given, args), f"{case.name}: the arguments were written to"
    assert same(value, wanted), f"{case.name}: value {value!r}, the function gives {wanted!r}"
    assert isinstance(gradient, tuple) and len(gradient) == len(args), f"{case.name}: entries of {gradient!r}"
    for i in case.inert:
        assert gradient[i] is None, f"{case.name}: argument {i} got {gradient[i]!r}, not None"
    for i in case.active(args):
        where = f"{case.name}{args!r}, argument {i}"
        assert gradient[i] is not None, f"{where}: None"
        assert_fits(gradient[i], args[i], where)
        if witness:
            numeric, error = finite_differences(f, args, i, kwargs)
            assert np.all(error <= case.tolerance * max(1.0, np.abs(numeric).max(initial=0.0))), (
                f"{where}: no witness"
            )
            assert_close(flat(gradient[i], args[i]), numeric, case.tolerance, where)
    held = arrays_in(list(given))
    mine = arrays_in(list(gradient))
    for k, a in enumerate(mine):
        assert not any(np.shares_memory(a, b) for b in held + mine[:k]), (
            f"{case.name}: a gradient is not fresh"
        )
    return gradient


def check(case, withgradient):
    """Every point, then again in the other order: nothing kept from one call may reach another."""
    first = [check_point(case, args, withgradient) for args in case.points]
    for args, before in zip(reversed(case.points), reversed(first), strict=True):
        again = check_point(case, args, withgradient, witness=False)
        assert same(again, before), f"{case.name}{args!r}: {before!r} at first, {again!r} the second time"
