"""The exceptions a rule raises at guessed arguments: whether the arguments or the rule are to blame."""

from __future__ import annotations

import dis
import itertools
import re
import traceback
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import RuleShapeError

NOT_WRITTEN_FOR = (TypeError, ValueError, AttributeError, IndexError)
"""What a rule raises at an argument of a kind it was not written for."""
REFUSALS = (*NOT_WRITTEN_FOR, RuleShapeError)
"""The same, or what is raised where a cotangent does not have the shape of its argument."""


def is_own_fault(error: Exception | None, args: tuple) -> bool:
    """Whether a rule would raise this at any arguments: a name is misspelled, its own or that of a module's
    attribute; a variable is updated before it has a value; a function does not know a keyword; a cotangent
    that is not an array is modified in place; or floats are written to a buffer of integers that the rule has
    made.

    Anything else may be due to the rank, length or class of an argument, which we have guessed.
    """
    text = str(error)
    if casts_to_integers(error):
        return all(_is_of_floats(x) for x in args)
    if isinstance(error, AttributeError):
        return text.startswith("module ")
    if isinstance(error, UnboundLocalError):
        return _is_only_updated(error)
    is_of_types = isinstance(error, TypeError) and any(words in text for words in _WHATEVER)
    return type(error) is NameError or is_of_types


_WHATEVER = ("unexpected keyword argument", "'Tangent' object does not support item assignment")


def _is_only_updated(error: UnboundLocalError) -> bool:
    """Whether a function updates a name by `+=` and the like, and assigns it nowhere else: the author meant
    the variable of the enclosing function, which needs a `nonlocal`.
    """
    code = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    found = re.search(r"'(\w+)'", str(error))  # the exception has no name as an attribute
    operations = list(dis.get_instructions(code))
    before = [
        one for one, store in itertools.pairwise(operations)
        if store.opname.startswith("STORE_FAST") and found and found[1] in np.atleast_1d(store.argval)
    ]  # fmt: skip
    updates = [one.opname == "BINARY_OP" and one.argrepr.endswith("=") for one in before]
    return bool(updates) and all(updates)


def casts_to_integers(error: Exception | None) -> bool:
    """Whether NumPy refuses to write floats to a buffer of integers."""
    text = str(error)
    return isinstance(error, TypeError) and text.startswith("Cannot cast ufunc") and _INTO_INTEGERS in text


def makes_buffers_like(codes: Iterable[types.CodeType]) -> bool:
    """Whether some code makes a buffer with the dtype of an array, whatever is written to it later. An
    in-place change of a computed array, as `d = a - b; d -= box * wraps`, raises an exception that says it
    needs floats, and no wrong number can result.
    """
    return any(not _BUFFERS.isdisjoint(code.co_names) for code in codes)


_BUFFERS = frozenset(("zeros_like", "empty_like", "ones_like", "full_like", "copy", "dtype"))
_INTO_INTEGERS = "output from dtype('float64') to dtype('int"


def _is_of_floats(x: Any) -> bool:
    """Whether an argument contains only floats: others may be meant as masks and indices."""
    return x.dtype.kind == "f" if isinstance(x, np.ndarray) else type(x) is float


_OF_SHAPES = ("broadcast", "shape", "dimension", "mismatch", "aligned", "out of bounds")


def is_about_shapes(error: Exception | None) -> bool:
    """Whether NumPy refuses arrays because of their shapes, or an index because of their lengths."""
    return isinstance(error, (ValueError, IndexError)) and any(word in str(error) for word in _OF_SHAPES)


def is_raised_by(error: BaseException, own: frozenset[types.CodeType]) -> bool:
    """Whether the exception was raised by a `raise` statement in one of these codes."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code not in own:
        return False
    steps = dis.get_instructions(trace.tb_frame.f_code)
    return any(step.offset == trace.tb_lasti and step.opname in _RAISING for step in steps)


def is_of_domain(error: BaseException) -> bool:
    """Whether a function of `math` is not defined at a number, as a root of a negative one."""
    words = str(error)  # from Python 3.14 on, the message says what is expected
    return isinstance(error, ValueError) and (words == "math domain error" or words.startswith("expected a "))


_RAISING = ("RAISE_VARARGS", "RERAISE")
