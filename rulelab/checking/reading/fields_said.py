"""The fields of an author's objects: the shapes that their class gives in its docstring or in comments after
the fields, and the words with which functions compare them.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping

from .kinds import are_lengths, lengths_in
from .texts import text_of
from .usage import shapes_in

_BEHIND_A_FIELD = re.compile(r"^ +(\w+) ?:[^#\n]*#([^\n]*)", re.MULTILINE)
"""A field, and the comment after it: `mean: np.ndarray # state (n,)`."""
_SHAPE = re.compile(r"[^#]*?\(([\w ,+*]+)\)")
_QUOTED = re.compile(r"\"(\w+)\"|'(\w+)'")
_NOTHING: Mapping[str, tuple[int | str, ...]] = types.MappingProxyType({})


def shapes_of_fields(cls: type, names: tuple[str, ...]) -> Mapping[str, tuple[int | str, ...]]:
    """The lengths of the arrays in these fields, where the source of the class gives them.

    >>> import typing
    >>> class Belief(typing.NamedTuple):
    ...     "Mean (n,) and covariance (n, n) of a state."
    ...     mean: np.ndarray
    ...     cov: np.ndarray
    >>> shapes_of_fields(Belief, ("mean", "cov"))
    {'mean': ('n',), 'cov': ('n', 'n')}
    """
    found = {}
    for name, comment in _comments(cls).items():
        shape = _SHAPE.match(comment)
        inside = shape[1] if shape else ""
        if name in names and "," in inside and are_lengths(map(str, lengths_in(inside))):
            found[name] = lengths_in(inside)
    return {**(shapes_in(cls, names) if cls.__doc__ else _NOTHING), **found}


def words_of_fields(functions: Iterable[Callable]) -> Mapping[str, tuple[str, ...]]:
    """The words with which functions compare attributes, by attribute name.

    >>> def impedance(element, omega):
    ...     if element.kind == "R":
    ...         return element.value
    ...     return omega * element.value if element.kind == "L" else 1 / (omega * element.value)
    >>> words_of_fields([impedance])
    {'kind': ('R', 'L')}
    """
    found: dict[str, dict[str, None]] = {}
    for f in functions:
        node, _ = text_of(f)
        for inner in ast.walk(node) if node is not None else ():
            if isinstance(inner, ast.Compare):
                compared = [inner.left, *inner.comparators]
                parts = [part for side in compared for part in ast.walk(side)]
            elif isinstance(inner, ast.Match):
                compared = [inner.subject]
                parts = [part for case in inner.cases for part in ast.walk(case.pattern)]
            else:
                continue
            words = [part.value for part in parts if isinstance(part, ast.Constant)]
            for name in (side.attr for side in compared if isinstance(side, ast.Attribute)):
                found.setdefault(name, {}).update(dict.fromkeys(w for w in words if isinstance(w, str)))
    return {name: tuple(words) for name, words in found.items() if words}


def words_behind_fields(cls: type) -> Mapping[str, tuple[str, ...]]:
    """The quoted words in the comments after the fields of a class: `kind: str # "R", "L" or "C"`."""
    quoted = {
        name: tuple(one or other for one, other in _QUOTED.findall(comment))
        for name, comment in _comments(cls).items()
    }
    return {name: words for name, words in quoted.items() if len(words) > 1}


@functools.lru_cache(64)  # to find the source of a class, its whole module is parsed
def _comments(cls: type) -> Mapping[str, str]:
    """The comments after the fields of a class; none where it has no source, as in a prompt."""
    try:
        text = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):
        return {}
    return dict(_BEHIND_A_FIELD.findall(text))
