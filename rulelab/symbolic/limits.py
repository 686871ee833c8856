"""Constraints on the samples that an author may state: the sizes of arrays, and intervals of numbers."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..checking.reading.kinds import DomainError, kind_named
from ..errors import RuleLabError
from .cells import Array, Static, Symmetric, shape_of

FORMS = ("number", "vector", "matrix", "square", "positive definite")
WORDS = ("positive", "negative", "unit", *FORMS)
MOST = 32  # ways to choose which arguments are numbers and which arrays


# --- sizes --------------------------------------------------------------------------------------------------


def sized_specs(sizes: Any, held: Sequence) -> list[tuple]:
    """Return the specs to try for arrays of these sizes, likeliest first; `held` has a Static for each
    argument that is held fixed, else None.

    For the form of a size, see `prove`. If one size is for all arguments, each of them is an array at first;
    then some are numbers.

    >>> sized_specs([3, (2, 5)], [None])
    [(((3,),), ((2, 5),))]
    >>> sized_specs([((2, 3), 3), ((4, 2), 2)], [None, None])
    [(((2, 3), (3,)), ((4, 2), (2,)))]
    """
    free = sum(static is None for static in held)
    asked = [_size(one, free) for one in _listed(sizes)]
    if not free:
        raise _refused("all arguments are held fixed, and none has a size")
    patterns = [p for p in itertools.product((True, False), repeat=min(free, 8)) if any(p)][:MOST]
    patterns = [(*p, *[True] * (free - len(p))) for p in patterns]
    specs = (tuple(_filled(held, one, pattern) for one in asked) for pattern in patterns)
    return list(dict.fromkeys(specs))


def _listed(sizes):
    """The sizes as a list; a single length is one size."""
    listed = [sizes] if isinstance(sizes, int) else sizes
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise _refused(f"sizes must be a list such as [3, 5] or [(2, 3), (4, 2)], not {sizes!r}")
    return listed


def _size(one, free):
    """A shape for all arrays, in a list, or a tuple of shapes, one for each free argument."""
    if isinstance(one, tuple) and any(isinstance(part, tuple) for part in one):
        if len(one) != free:
            raise _refused(f"a size needs a shape for each argument that varies: {free}, not {len(one)}")
        return tuple(_shape(part) for part in one)
    shape = _shape(one)
    if not shape:
        raise _refused("one size for all arguments must be a length or a shape that is not empty")
    return [shape]


def _shape(part):
    try:
        shape = tuple(map(operator.index, part if isinstance(part, tuple) else (part,)))
    except TypeError:
        raise _refused(f"a size must be a length such as 3 or a shape such as (2, 3), not {part!r}") from None
    if any(length < 1 for length in shape):
        raise _refused(f"the lengths of a size must be at least 1, not {part!r}")
    return shape


def _filled(held, one, pattern):
    shapes = iter(one if isinstance(one, tuple) else [one[0] if array else () for array in pattern])
    return tuple(static if static is not None else next(shapes) or "scalar" for static in held)


def _refused(found):
    return RuleLabError(found, asked="a symbolic check at sizes of your choice")


# --- domains ------------------------------------------------------------------------------------------------


def domains(names: Sequence[str], held: Sequence, domain: Any) -> dict:
    """The kinds that a domain, as in `prove`, gives by parameter; DomainError if it makes no sense.

    >>> domains(("x", "y"), (None, None), {"y": (0, 1)})["y"].high
    1.0
    """
    free = [name for name, static in zip(names, held, strict=True) if static is None]
    if domain is None:
        return {}
    given = domain if isinstance(domain, Mapping) else dict.fromkeys(free, domain)
    for name in given:
        if name not in names:
            raise DomainError(f"there is no argument {name}, only {', '.join(names)}")
        if name not in free:
            raise DomainError(f"{name} is held fixed; a domain is for arguments that vary")
    kinds = {name: kind_named(words) for name, words in given.items()}
    for name, kind in kinds.items():
        if kind.dtype != "float64" or kind.form not in FORMS:
            raise DomainError(
                f"the symbolic check cannot choose arguments such as {kind}",
                fixes=(f"use (low, high) for {name}, or some of these words: {', '.join(WORDS)}",),
            )
    return kinds


def limits_of(names: Sequence[str], kinds: Mapping) -> tuple:
    """For each argument (low, high) as exact numbers, or None if it has no limits; () if none has."""
    limits = tuple(_interval(kinds[name]) if name in kinds else None for name in names)
    return limits if any(limits) else ()


def _interval(kind):
    if (kind.low, kind.high) == (-math.inf, math.inf):
        return None
    return tuple(end if math.isinf(end) else Fraction(repr(float(end))) for end in (kind.low, kind.high))


def of_forms(specs: Sequence[tuple], names: Sequence[str], kinds: Mapping) -> tuple | None:
    """The same specs, if the forms in a domain allow them; None otherwise."""
    formed = tuple(
        tuple(_of_form(kind, kinds.get(name)) for name, kind in zip(names, spec, strict=True))
        for spec in specs
    )
    return None if any(kind is None for spec in formed for kind in spec) else formed


def _of_form(kind, wanted):
    """The kind in the wanted form; None if it does not have this form. An interval allows any kind."""
    if wanted is None or wanted.form == "number":
        is_number = isinstance(kind, Static) or not shape_of(kind)
        return kind if wanted is None or not wanted.is_asked or is_number else None
    shape = shape_of(kind)
    square = len(shape) == 2 and shape[0] == shape[1]
    if wanted.form == "positive definite":
        return (kind if isinstance(kind, Symmetric) else Symmetric(shape[0])) if square else None
    fits = {"vector": len(shape) == 1, "matrix": len(shape) == 2, "square": square}[wanted.form]
    return kind if fits and not isinstance(kind, (Static, Symmetric)) else None


def is_inside_limits(sample: Sequence, limits: Sequence) -> bool:
    """Whether all numbers of a sample lie strictly between their limits."""
    return all(limit is None or _lies(value, limit) for value, limit in zip(sample, limits, strict=False))


def _lies(value, limit):
    if isinstance(value, Static):
        return True
    entries = value.entries if isinstance(value, Array) else (value,)
    return all(limit[0] < entry < limit[1] for entry in entries)


def limit_words(name: str, limit: tuple) -> str:
    """The interval of an argument in words.

    >>> limit_words("x", (0, math.inf)), limit_words("p", (0, Fraction(1, 2)))
    ('x positive', 'p between 0 and 0.5')
    """
    low, high = limit
    if low == -math.inf:
        return f"{name} negative" if high == 0 else f"{name} below {float(high):g}"
    if high == math.inf:
        return f"{name} positive" if low == 0 else f"{name} above {float(low):g}"
    return f"{name} between {float(low):g} and {float(high):g}"
