"""What an author's class says of the arrays that its objects are made of: in its docstring, or in comments
behind its fields.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import types
from collections.abc import Mapping

from .kinds import are_lengths, lengths_in
from .usage import shapes_in

_BEHIND_A_FIELD = re.compile(r"^ +(\w+) ?:[^#\n]*#[^#\n]*?\(([\w ,+*]+)\)", re.MULTILINE)
"""A field, and a shape in the comment behind it: `mean: np.ndarray  # state (n,)`."""
_NOTHING: Mapping[str, tuple[int | str, ...]] = types.MappingProxyType({})


def shapes_of_fields(cls: type, names: tuple[str, ...]) -> Mapping[str, tuple[int | str, ...]]:
    """The lengths of the arrays in these fields, as far as the text of a class tells them.

    >>> import typing
    >>> class Belief(typing.NamedTuple):
    ...     "Mean (n,) and covariance (n, n) of a state."
    ...     mean: np.ndarray
    ...     cov: np.ndarray
    >>> shapes_of_fields(Belief, ("mean", "cov"))
    {'mean': ('n',), 'cov': ('n', 'n')}
    """
    found = {}
    for name, inside in _BEHIND_A_FIELD.findall(_source(cls)):
        lengths = lengths_in(inside)
        if name in names and "," in inside and are_lengths(map(str, lengths)):
            found[name] = lengths
    return {**(shapes_in(cls, names) if cls.__doc__ else _NOTHING), **found}


def _source(cls: type) -> str:
    """The text of a class; empty where it has none, as in a prompt."""
    try:
        return textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):
        return ""
