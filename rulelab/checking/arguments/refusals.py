"""What a rule raises at arguments that nobody gave: whether they or the rule are to blame."""

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
"""What a rule raises that gets an argument of a kind it was not written for."""
REFUSALS = (*NOT_WRITTEN_FOR, RuleShapeError)
"""The same, or what it raises where its answer has another shape than the argument."""


def is_own_fault(error: Exception | None, args: tuple) -> bool:
    """Whether a rule would raise this whatever it is asked at: a name is misspelled, of its own or of a
    module, or is updated where it has no value yet, a function does not know a keyword, a cotangent is to be
    changed in place that is none of arrays, or a buffer that it has made of integers is to hold floats.

    Anything else may be owing to the rank of an argument, its length or its class, of which ours are guesses.
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
    """Whether a function updates a name by `+=` and the like, and gives it no value anywhere: the author
    meant the variable of the function around it, which takes a `nonlocal`.
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
    """Whether NumPy refuses to put floats into a buffer of integers."""
    text = str(error)
    return isinstance(error, TypeError) and text.startswith("Cannot cast ufunc") and _INTO_INTEGERS in text


def makes_buffers_like(codes: Iterable[types.CodeType]) -> bool:
    """Whether some code makes a buffer of the dtype that an array has, whatever is to be put into it. What is
    changed in place where it was computed, as `d = a - b; d -= box * wraps`, says by its exception that it is
    for floats, and there is no number that could be wrong.
    """
    return any(not _BUFFERS.isdisjoint(code.co_names) for code in codes)


_BUFFERS = frozenset(("zeros_like", "empty_like", "ones_like", "full_like", "copy", "dtype"))
_INTO_INTEGERS = "output from dtype('float64') to dtype('int"


def _is_of_floats(x: Any) -> bool:
    """Whether there is nothing in an argument but floats: masks and indices may be meant by others."""
    return x.dtype.kind == "f" if isinstance(x, np.ndarray) else type(x) is float


_OF_SHAPES = ("broadcast", "shape", "dimension", "mismatch", "aligned", "out of bounds")


def is_about_shapes(error: Exception | None) -> bool:
    """Whether NumPy refuses arrays for their shapes, or an index for their lengths."""
    return isinstance(error, (ValueError, IndexError)) and any(word in str(error) for word in _OF_SHAPES)


def is_raised_by(error: BaseException, own: frozenset[types.CodeType]) -> bool:
    """Whether a `raise` in one of these codes has raised an exception."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code not in own:
        return False
    steps = dis.get_instructions(trace.tb_frame.f_code)
    return any(step.offset == trace.tb_lasti and step.opname in _RAISING for step in steps)


def is_of_domain(error: BaseException) -> bool:
    """Whether Python's own functions of numbers have no value at a number, as a root of a negative one."""
    words = str(error)  # from Python 3.14 on it says what is expected
    return isinstance(error, ValueError) and (words == "math domain error" or words.startswith("expected a "))


_RAISING = ("RAISE_VARARGS", "RERAISE")
