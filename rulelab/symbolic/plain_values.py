"""Values in the form that the author's code uses: arguments as floats, flat results, and cotangents in the
form of the results.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings

import numpy as np

from ..errors import an
from ..tangents import thunks, zeros
from ..tangents.missing import NotImplementedTangent
from ..tangents.structural import Tangent
from .cells import Array, ComplexNumber, Static
from .outcomes import Settled
from .verdicts import Refuted, Unsupported

SAME_PROGRAM = 1e-9  # relative difference between a plain and a traced run


@contextlib.contextmanager
def without_warnings_or_output():
    """Context for running the author's code without warnings and without output."""
    with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def plain_argument(value):
    """A sample of one argument as the function gets it: floats, or the value that is held fixed."""
    if isinstance(value, Static):
        return value.value
    if isinstance(value, Array):
        number = complex if value.is_complex else float
        return np.array([number(v) for v in value.entries], number).reshape(value.shape)
    return complex(value) if isinstance(value, ComplexNumber) else float(value)


# --- results ------------------------------------------------------------------------------------------------


def parts_that_move(y):
    """The results that have a cotangent: in a tuple or list, those that are not ints."""
    if not isinstance(y, (tuple, list)):
        return [y]
    return [part for item in y for part in parts_that_move(item) if np.asarray(part).dtype.kind not in "iub"]


def flat_floats(value):
    """The numbers in a plain result as one vector of floats."""
    parts = [_as_floats(np.asarray(part)) for part in parts_that_move(value)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _as_floats(array):
    """The entries as floats; complex ones as pairs."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array, complex).ravel().view(float)
    return np.asarray(array, float).ravel()


def entries_of(value):
    """The entries of an array in C order, traced or not; for a single number, itself."""
    if not isinstance(value, np.ndarray):
        return [value]
    return value.view(np.ndarray).ravel().tolist()


def are_complex(y):
    """For each number in a plain result, whether it is complex."""
    kinds = [np.asarray(part).dtype.kind == "c" for part in parts_that_move(y)]
    return [k for k, part in zip(kinds, parts_that_move(y), strict=True) for _ in range(np.size(part))]


def are_close_results(a, b):
    """Whether two plain results can come from the same program: same shape, and equal to nine digits."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    return bool(
        np.all(np.abs(a - b) <= SAME_PROGRAM * (1 + np.abs(b))) or np.array_equal(a, b, equal_nan=True)
    )


def moved_by_rounding(arguments):
    """Yield the plain arguments after a rounding error: each float, or array of floats, changed in the last
    digit, in a few ways.
    """
    arguments = list(arguments)
    for factor in (1 - 2.0**-52, 1 + 2.0**-52, 1 + 2.0**-51):
        yield [value * factor if _is_float(value) else value for value in arguments]


def _is_float(value):
    return isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f"


# --- cotangents ---------------------------------------------------------------------------------------------


def seed_like(y, numbers):
    """A cotangent in the form of the result `y`; `numbers(shape)` returns that of one array or number."""
    if not isinstance(y, (tuple, list)):
        return numbers(np.shape(y))
    moves = [isinstance(item, (tuple, list)) or np.asarray(item).dtype.kind not in "iub" for item in y]
    return Tangent(
        type(y), *[seed_like(i, numbers) if m else zeros.NoTangent() for i, m in zip(y, moves, strict=True)]
    )


def numbers_in(shape, numbers):
    """The next items of the iterator `numbers` as an array of this shape, or as a single number."""
    if shape == ():
        return next(numbers)
    return np.array([next(numbers) for _ in range(math.prod(shape))]).reshape(shape)


def padded_cotangents(question, cotangents, count):
    """What a pullback returned, padded for arguments that the rule does not cover; it must be one cotangent
    for the function and `count` for its arguments.
    """
    if not isinstance(cotangents, tuple):
        raise Settled(
            Refuted("arity", f"the pullback must return a tuple, not {an(type(cotangents).__name__)}")
        )
    if question.leading is not None:
        cotangents = (*cotangents, *(zeros.NoTangent(),) * count)[: count + 1]
    if len(cotangents) != count + 1:
        raise Settled(
            Refuted(
                "arity",
                f"the pullback returned {len(cotangents)} cotangents; {count + 1} are needed: "
                "one for the function itself, then one for each argument",
            )
        )
    return cotangents


def argument_cotangents(returned, sample, underived=None):
    """The cotangents of the arguments, with thunks evaluated; those of arguments that are held fixed are
    ignored. With a list `underived`, cotangents that the rule marks as not derived are ignored too, and their
    positions are added to the list.
    """
    cotangents = []
    for i, (cotangent, value) in enumerate(zip(returned[1:], sample, strict=True)):
        cotangent = zeros.NoTangent() if isinstance(value, Static) else thunks.unthunk(cotangent)
        if underived is not None and isinstance(cotangent, NotImplementedTangent):
            cotangent = zeros.NoTangent()
            underived.append(i)
        cotangents.append(cotangent)
    return cotangents


def is_zero(cotangent):
    """Whether a cotangent is one of the zero objects, which stand for any shape."""
    return isinstance(cotangent, zeros.AbstractZero)


def plain_number(cotangent):
    """A cotangent as an array of floats or complex numbers."""
    if is_zero(cotangent):
        return np.float64(0.0)
    try:
        cotangent = np.asarray(cotangent)
        return np.asarray(cotangent, complex if cotangent.dtype.kind == "c" else float)
    except (TypeError, ValueError) as raised:
        raise Settled(Unsupported(f"a cotangent of type {type(cotangent).__name__}")) from raised


def first_changed(arguments, fresh, names):
    """The name of the first array among `arguments` that differs from the one in `fresh`; else None.

    A rule must not change its arguments, however right its numbers are.
    """
    for i, (given, as_it_was) in enumerate(zip(arguments, fresh, strict=True)):
        if isinstance(given, np.ndarray) and not np.array_equal(given, as_it_was, equal_nan=True):
            return names[i] if i < len(names) else f"argument {i + 1}"
    return None
