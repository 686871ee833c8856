"""A sample value of a type, to ask which rule such values have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...rules.kinds import (
    ANY,
    ELLIPSIS,
    I8,
    LIST,
    NONE,
    SLICE,
    STR,
    Array,
    Tuple,
    any_part,
    is_real,
)
from ..base import ir

NO_SAMPLE = object()
"""In place of a value where the type does not tell enough."""

# A boolean may be Python's or NumPy's: no single value represents both.
_OF_KIND = {STR: "", SLICE: slice(None), NONE: None, ELLIPSIS: Ellipsis}


def sample_of(kind: Any, atom: ir.Atom) -> Any:
    """A sample value for an operand of this type; NO_SAMPLE if other values of the type may have other rules.
    """
    if isinstance(atom, ir.Const):
        return atom.value
    if isinstance(kind, Array):
        return np.empty((1,) * kind.ndim, kind.dtype)
    if is_real(kind):
        return {"f8": np.float64(0.0), "int": 0}.get(kind.name, 0.0)
    if kind == I8:
        return np.int64(0)
    if kind == LIST:
        return []
    if isinstance(kind, Tuple):  # an object in it is checked, and asked once, at run time
        return NO_SAMPLE if any_part(kind, lambda part: part == ANY) else ()
    return _OF_KIND.get(kind, NO_SAMPLE)
