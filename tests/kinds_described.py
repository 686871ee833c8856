"""Whether what is claimed of a value before it runs is true of the value."""

import numpy as np

from rulelab.rules.kinds import (
    ANY,
    BOOL,
    CELL,
    DICT,
    ELLIPSIS,
    F8,
    FLOAT,
    FUNCTION,
    I8,
    INT,
    LIST,
    NONE,
    NUMERIC,
    REAL,
    SLICE,
    STR,
    Array,
    Known,
    Tuple,
)

CLASSES = {
    FLOAT: (float,),
    INT: (int,),
    BOOL: (bool, np.bool_),
    F8: (np.float64,),
    I8: (np.int64,),
    REAL: (float, int, np.float64),
    STR: (str,),
    NONE: (type(None),),
    LIST: (list,),
    DICT: (dict,),
    SLICE: (slice,),
    ELLIPSIS: (type(Ellipsis),),
}


def describes(kind, value):
    """Whether the claim is true of the value."""
    if kind == ANY:
        return True
    if isinstance(kind, Known):
        return kind.value is value
    if isinstance(kind, Array):
        exact = type(value) is np.ndarray and value.ndim == kind.ndim
        return exact and value.dtype == np.dtype(kind.dtype) and value.dtype.isnative
    if isinstance(kind, Tuple):
        fits = type(value) is tuple and len(value) == len(kind.items)
        return fits and all(map(describes, kind.items, value))
    if kind == NUMERIC:
        return holds_numbers(value)
    if kind == FUNCTION:
        return callable(value)
    assert kind != CELL
    return type(value) in CLASSES[kind]


def holds_numbers(value):
    """Whether a value is a number or an array, or a tuple of such."""
    if isinstance(value, tuple):
        return all(map(holds_numbers, value))
    return isinstance(value, (np.ndarray, np.generic, int, float, complex))
