"""Finite differences of functions of structures: the witness of the tests of structs.

A structure is taken apart into its real numbers and built anew from others; nothing here asks the package for
a derivative. Objects are copied without their constructor, since a field may be set by `__post_init__`.
"""

from __future__ import annotations

import copy

import numpy as np

STEP = 1e-5


def attributes(x):
    """The instance attributes of an object by name, in slots or not."""
    found = dict(getattr(x, "__dict__", {}))
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(x, name):
                found[name] = getattr(x, name)
    return found


def is_object(x):
    """Whether `x` is an object of a class of somebody's, whose attributes are its parts."""
    return type(x).__module__ != "builtins" and not callable(getattr(x, "__code__", None))


def built(x, change):
    """`x` with `change(number)` for each of its numbers, arrays included; bools and text stay."""
    if isinstance(x, np.ndarray):
        return (
            np.array([change(v) for v in x.ravel().tolist()]).reshape(x.shape) if x.dtype.kind in "fc" else x
        )
    if isinstance(x, bool) or x is None or isinstance(x, (str, type, np.ufunc)):
        return x
    if isinstance(x, (int, float, complex, np.number)):
        return change(x)
    if isinstance(x, tuple):
        parts = [built(part, change) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, list):
        return type(x)([built(part, change) for part in x])
    if isinstance(x, dict):
        return type(x)({key: built(part, change) for key, part in x.items()})
    if callable(x) and not attributes(x):
        return x
    new = copy.copy(x)
    for name, part in attributes(x).items():
        object.__setattr__(new, name, built(part, change))
    return new


def numbers(x):
    """The numbers of a structure, in order."""
    found = []
    built(x, lambda v: (found.append(v), v)[1])
    return found


def moved(x, position, by):
    """`x` with its number at `position` moved."""
    count = iter(range(len(numbers(x))))
    return built(x, lambda v: v + by if next(count) == position else v)


def slopes(f, x):
    """∂f/∂ each number of `x`, by central differences of the fourth order; f gets a fresh copy each time."""
    found = []
    for position, v in enumerate(numbers(x)):
        h = STEP * max(1.0, abs(v)) * 20

        def at(by, position=position):
            return f(moved(x, position, by))

        found.append((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h))
    return found


def flattened(g, x):
    """The numbers of a gradient `g` for the structure `x`; zeros where it is None."""
    if g is None:
        return [0.0] * len(numbers(x))
    if isinstance(x, np.ndarray):
        return np.asarray(g).ravel().tolist() if x.dtype.kind in "fc" else []
    if isinstance(x, bool) or x is None or isinstance(x, (str, type)):
        return []
    if isinstance(x, (int, float, complex, np.number)):
        return [g]
    if isinstance(x, (tuple, list)):
        assert len(g) == len(x)
        return [n for part, of in zip(g, x, strict=True) for n in flattened(part, of)]
    if isinstance(x, dict):
        return [n for key, of in x.items() for n in flattened(g[key], of)]
    return [n for name, of in attributes(x).items() for n in flattened(getattr(g, name), of)]


def check(gradient, f, *args, wrt=None, tolerance=1e-6):
    """Compare `gradient(f, *args)` with finite differences at every argument in `wrt` (default: all)."""
    found = gradient(f, *copy.deepcopy(args))
    for k in range(len(args)) if wrt is None else wrt:

        def of_one(x, k=k):
            given = list(copy.deepcopy(args))
            given[k] = x
            return f(*given)

        wanted = slopes(of_one, args[k])
        np.testing.assert_allclose(flattened(found[k], args[k]), wanted, rtol=tolerance, atol=tolerance)
    return found
