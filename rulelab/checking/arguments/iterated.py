"""Whether a function that repeats a step a fixed number of times, as Newton's method does, has converged by
then: a rule for the root that it seeks is not a rule for a number on the way to it.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...rules.registry import Registry
from ..calling.plain_calls import value_of
from ..calling.subjects import authors_of
from ..measuring.vectors import to_vec
from ..reading.constants import with_integer
from ..reading.texts import defaults_of, names_with_defaults, text_of

FEWEST = 8
"""The smallest number of repetitions of a step that may be meant to converge."""
RTOL, OF_LARGEST = 1e-12, 1e-14
"""By how much the value may change with more steps: its slopes are further from those of the limit, and must
agree within the tolerance of a check. For several numbers, also relative to the largest."""


class Iterated:
    """A function with a loop of equal steps, and the same function with more of them."""

    def __init__(self, f: Callable, longer: Callable) -> None:
        self.f, self.longer = f, longer
        usual, more = defaults_of(f), defaults_of(longer)
        names = f.__code__.co_varnames[: f.__code__.co_argcount]
        self.steps = {i: usual[name] for i, name in enumerate(names) if usual.get(name) != more.get(name)}

    def has_ended(self, args: tuple, kwargs: Mapping[str, Any], y: Any = None) -> bool:
        """Whether more steps leave the value at some arguments unchanged; True where there is no value."""
        usual = [i for i, steps in self.steps.items() if i < len(args) and args[i] == steps]
        args = args[: min(usual, default=len(args))]  # without the number of steps, if it is the default
        try:
            y = value_of(self.f, args, kwargs) if y is None else y
        except Exception:
            return True
        try:
            with np.errstate(all="ignore"):
                before, after = to_vec(y)[0], to_vec(value_of(self.longer, args, kwargs))[0]
        except Exception:
            return False
        if not np.all(np.isfinite(after)):
            return np.array_equal(before, after, equal_nan=True)
        allowed = OF_LARGEST * np.max(np.abs(after), initial=0.0)  # a decay to zero never ends
        return before.shape == after.shape and bool(np.allclose(before, after, RTOL, allowed))


def iteration_of(f: Callable, registry: Registry) -> Iterated | None:
    """A function that converges in a loop, its own or that of a helper, if its rules have no loop: they are
    then for the limit. None for any other function.

    >>> def root(a):
    ...     x = 1.0
    ...     for _ in range(50):
    ...         x = 0.5 * (x + a / x)
    ...     return x
    >>> found = Iterated(root, with_more_steps(root))
    >>> found.has_ended((2.0,), {}), found.has_ended((-2.0,), {})
    (True, False)
    """
    authors = authors_of(f, registry)
    if not authors or any(map(_loops, authors)):
        return None
    longer = with_more_steps(f)
    return None if longer is None else Iterated(f, longer)


def _loops(author: Callable) -> bool:
    node, _ = text_of(author)
    return node is None or any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(node))


def with_more_steps(f: Callable) -> Callable | None:
    """The function with more repetitions of the step that it, or a helper which it calls by name, repeats;
    None where there is no such loop.
    """
    if not isinstance(f, types.FunctionType):
        return None
    own = _longer(f)
    if own is not None:
        return own
    space = f.__globals__
    for name in f.__code__.co_names:
        helper = space.get(name)
        if isinstance(helper, types.FunctionType) and helper.__globals__ is space and helper is not f:
            longer = _longer(helper)
            if longer is not None:
                return _remade(f, space={**space, name: longer})
    return None


def _longer(f: types.FunctionType) -> Callable | None:
    node, _ = text_of(f)
    for times in _repetitions(node) if node is not None else ():
        if isinstance(times, ast.Constant):
            count: Any = times.value
            alike = [n for n in ast.walk(node) if isinstance(n, ast.Constant) and n.value == count]  # type: ignore[arg-type]
            if len(alike) == 1 and _is_many(count):
                return _remade(f, code=with_integer(f.__code__, count, _more(count)))
        elif isinstance(times, ast.Name):
            if _is_many(f.__globals__.get(times.id)) and times.id in f.__code__.co_names:
                return _remade(f, space={**f.__globals__, times.id: _more(f.__globals__[times.id])})
            defaults = defaults_of(f)
            if _is_many(defaults.get(times.id)):
                return _remade(f, defaults={**defaults, times.id: _more(defaults[times.id])})
    return None


def _repetitions(node: ast.AST) -> Iterator[ast.expr]:
    """The counts of loops that repeat a step which does not read the loop index and continues from its own
    result.
    """
    for loop in ast.walk(node):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        of = loop.iter
        if not isinstance(of, ast.Call) or getattr(of.func, "id", "") != "range" or len(of.args) != 1:
            continue
        inside = [n for part in loop.body for n in ast.walk(part) if isinstance(n, ast.Name)]
        read = {n.id for n in inside if isinstance(n.ctx, ast.Load)}
        stored = {n.id for n in inside if isinstance(n.ctx, ast.Store)}
        if loop.target.id not in read and read & stored:
            yield of.args[0]


def _is_many(times: Any) -> bool:
    return type(times) is int and times >= FEWEST


def _more(times: int) -> int:
    """More steps, by an odd number: a value that alternates is noticed."""
    return times + (times | 1)


def _remade(
    f: types.FunctionType,
    code: types.CodeType | None = None,
    space: dict[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Callable:
    """The function with other code, other global names, or other defaults."""
    known = defaults_of(f) if defaults is None else defaults
    made = types.FunctionType(
        f.__code__ if code is None else code,
        f.__globals__ if space is None else space,
        f.__name__,
        None,
        f.__closure__,
    )
    made.__defaults__ = tuple(known[name] for name in names_with_defaults(f)) or None
    made.__kwdefaults__ = {name: known[name] for name in f.__kwdefaults__ or {}} or None
    return made
