"""What the code of a rule says about its arguments by what it returns, read and never run: a tuple of
cotangents means a tuple, and `Tangent(Point, …)` means a point.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from .anatomy import last_name
from .kinds import Kind
from .kinds_taken import fields_of, objects_with
from .lists_read import LISTS_OF_ARRAYS, sequence, tuples_of
from .loops_read import iterated_name, loops_in, side_by_side
from .texts import calls_in, identifier, text_of, unpacked_names, values_by_name


def tuples_answered(f: Callable, rule: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The tuples that a function unpacks and for which its rule returns a tuple of as many cotangents, or a
    `Tangent(tuple, …)`; and those it iterates over, if its rule makes a tuple.

    >>> def between(points):
    ...     p, q = points
    ...     return p * q
    >>> def between_rrule(points):
    ...     p, q = points
    ...     return p * q, lambda y_bar: (rl.NoTangent(), (q * y_bar, p * y_bar))
    >>> [str(kind) for kind in tuples_answered(between, between_rrule)["points"]]
    ['a tuple of arrays', 'a tuple of numbers', 'a tuple of arrays']
    """
    counts: dict[str, set[int]] = {}
    made: set[str] = set()
    for name, x_bar in _answers(f, rule):
        if isinstance(x_bar, ast.Tuple):
            counts.setdefault(name, set()).add(len(x_bar.elts))
        elif isinstance(x_bar, ast.Call) and last_name(x_bar.func) == "Tangent":
            if x_bar.args and identifier(x_bar.args[0]) == "tuple":
                counts.setdefault(name, set()).add(len(x_bar.args) - 1)
        elif isinstance(x_bar, ast.Call) and identifier(x_bar.func) == "tuple":
            made.add(name)
    forms = ("vector", "number", "matrix")
    return {
        **dict.fromkeys(made & _gone_through_in(f), tuples_of(3, ("number", "vector"))),
        **{
            name: tuples_of(len(parts), forms)
            for name, parts in unpacked_names(f).items()
            if len(parts) in counts.get(name, ())
        },
    }


def objects_answered(f: Callable, rule: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The objects, and lists of objects, for which a rule returns a `Tangent` of their class."""
    own, _ = text_of(rule)
    space, found = getattr(rule, "__globals__", {}), {}
    for name, x_bar in _answers(f, rule):
        appended = _appended_to(own, x_bar)
        calls = itertools.chain.from_iterable(map(calls_in, (x_bar, *appended)))
        made = (c.args[0] for c in calls if last_name(c.func) == "Tangent" and c.args)
        classes = [cls for cls in (space.get(identifier(one)) for one in made) if isinstance(cls, type)]
        objects = objects_with(dict.fromkeys(filter(fields_of, classes)), ())
        is_list = bool(appended) or isinstance(x_bar, _LISTS)
        if objects:
            found[name] = tuple(sequence(list, [kind] * 3) for kind in objects) if is_list else objects
    return found


def _appended_to(node: ast.AST | None, of: ast.expr) -> list[ast.expr]:
    """What is appended to a list that is created by this expression, or assigned to its elements."""
    assigned = [n for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Assign)]
    starts = {identifier(n.targets[0]) for n in assigned if n.value is of} - {""}
    calls = (c for c in calls_in(node) if isinstance(c.func, ast.Attribute) and c.func.attr == "append")
    added = [arg for c in calls if identifier(c.func.value) in starts for arg in c.args]  # type: ignore[attr-defined]
    put = ((n.targets[0], n.value) for n in assigned if isinstance(n.targets[0], ast.Subscript))
    return added + [value for place, value in put if identifier(place.value) in starts]


def _answers(f: Callable, rule: Callable) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function, each with the expression that its rule returns as its cotangent."""
    own, _ = text_of(rule)
    code = getattr(f, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    made = values_by_name(own) if own is not None else {}
    for n in ast.walk(own) if own is not None else ():
        if isinstance(n, ast.Tuple) and len(n.elts) == len(names) + 1:
            yield from ((name, made.get(identifier(x_bar), x_bar)) for name, x_bar in zip(names, n.elts[1:]))


def held_by_answers(f: Callable, rule: Callable) -> frozenset[str]:
    """The parameters of a function for which its rule always returns `NoTangent()`.

    >>> def power_rrule(x, n):
    ...     return x**n, lambda y_bar: (rl.NoTangent(), n * x ** (n - 1) * y_bar, rl.NoTangent())
    >>> sorted(held_by_answers(lambda x, n: x**n, power_rrule))
    ['n']
    """
    bars: dict[str, list[ast.expr]] = {}
    for name, x_bar in _answers(f, rule):
        bars.setdefault(name, []).append(x_bar)
    return frozenset(name for name, those in bars.items() if all(map(_is_no_tangent, those)))


def _is_no_tangent(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "NoTangent"


def lists_answered(f: Callable, rule: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The lists over which a function iterates and for which its rule returns a list of cotangents.

    >>> def doubled(parts):
    ...     return np.concatenate([2 * part for part in parts])
    >>> def doubled_rrule(parts):
    ...     return doubled(parts), lambda y_bar: (rl.NoTangent(), [2 * b for b in np.split(y_bar, 2)])
    >>> str(lists_answered(doubled, doubled_rrule)["parts"][0])
    'a list of arrays'
    """
    own, _ = text_of(rule)
    made = values_by_name(own) if own is not None else {}
    bars = ((name, made.get(iterated_name(x_bar) or "", x_bar)) for name, x_bar in _answers(f, rule))
    found = {name for name, x_bar in bars if isinstance(x_bar, _LISTS)}
    numbers = sequence(list, [Kind()] * 3)
    is_plain = _is_of_numbers(f) or not _names_numpy(f, rule)
    kinds = (numbers, *LISTS_OF_ARRAYS) if is_plain else (*LISTS_OF_ARRAYS, numbers)
    return dict.fromkeys(found & _gone_through_in(f), kinds)


def _gone_through_in(f: Callable) -> set[str | None]:
    """The names over which the loops of a function iterate."""
    return {iterated_name(of) for loop in loops_in(text_of(f)[0]) for _, of in side_by_side(loop)}


def _is_of_numbers(f: Callable) -> bool:
    """Whether a function calls functions of `math`: it is then written for numbers, not arrays."""
    called = (c.func for c in calls_in(text_of(f)[0]))
    return any(isinstance(one, ast.Attribute) and identifier(one.value) == "math" for one in called)


def _names_numpy(*functions: Callable) -> bool:
    """Whether the code of any of these uses NumPy: without it, arrays are only used as numbers are."""
    nodes = (node for f in functions for node in ast.walk(text_of(f)[0] or ast.Pass()))
    return any(identifier(node) in ("np", "numpy") for node in nodes)


_LISTS = (ast.List, ast.ListComp)
