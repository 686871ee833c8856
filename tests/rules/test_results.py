"""What is claimed of the result of a function before it runs is true of what the function gives."""

import copy
import itertools
import operator

import numpy as np
import pytest

from rulelab.rules.kinds import (
    F8,
    FLOAT,
    INT,
    LIST,
    NONE,
    NUMERIC,
    STR,
    Given,
    Known,
    Tuple,
    join_all,
    signature_of,
    type_of_signature,
)
from rulelab.rules.results import known_functions, parts_of, result_of
from rulelab.rules.targets import name_of
from rulelab.rulesets.catalogue import tables

from ..kinds_described import describes

LITERALS = (int, float, bool, str, type(None), type(Ellipsis), slice)


def given_of(value, literal=True):
    """What a call is told of an argument, with or without its value where that could be a literal."""
    if isinstance(value, type):
        return Given(Known(value))
    if type(value) is list:
        return Given(LIST, items=tuple(given_of(item, literal) for item in value) if literal else None)
    kind = type_of_signature(signature_of(value))
    if type(value) is tuple:
        items = tuple(given_of(item, literal) for item in value)
        return Given(Tuple(tuple(item.kind for item in items)), items=items)
    if literal and isinstance(value, LITERALS):
        return Given(kind, value)
    return Given(kind)


def kind_of(value):
    """The same of an argument whose value is no literal."""
    return given_of(value, False)


def items_of(value):
    """The same where nothing but what each of its items is, is known of a list."""
    if type(value) is list:
        return Given(LIST, each=join_all(given_of(item).kind for item in value))
    return given_of(value)


def check(target, args, kwargs=None):
    """What is claimed of a call is true of its result, with its literals known and not."""
    kwargs = kwargs or {}
    try:
        value = target(*args, **kwargs)
    except Exception:
        return  # there is no result
    for given in (given_of, kind_of, items_of):
        words = {name: given(x) for name, x in kwargs.items()}
        claim = result_of(target, [given(x) for x in args], words)
        if claim == NUMERIC and any(x is None or isinstance(x, type) for x in args):
            continue  # what is made of nothing, or of a class, is its own affair
        parts = parts_of(target, [given(x) for x in args], words)
        assert parts is None or all(map(describes, parts, value)), parts
        said = f"{name_of(target)}{args}{kwargs} gives {type(value)} {value!r}, claimed {claim}"
        assert describes(claim, value), said


TABLES = {table.name: table for table in tables()}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", TABLES)
def test_check_points(name):
    """At each check point of the rules."""
    for target, args, kwargs in TABLES[name].points:
        check(target, copy.deepcopy(args), kwargs)


V, M = np.array([1.5, -0.5]), np.array([[0.5, 2.0], [1.0, -3.0]])
NUMBERS = (0.5, -2, 3, True, np.float64(0.7), np.int64(2), np.bool_(True), np.float32(0.5), 1 + 2j)
LONG = (2**63, 2**70, (2**70, 0.5))
ARRAYS = (
    V,
    M,
    np.ones((2, 2, 2)),
    np.array([1, 0]),
    np.array([[1, 0], [0, 1]]),
    V > 0,
    M > 0,
    V + 1j,
    M.astype("f4"),
    V.astype("f2"),
    V.astype(">f8"),
    np.empty(0),
    np.empty((0, 2)),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(2.0),
    np.array(2),
)
TUPLES = ((0.5, 2), (), (1, 0), ((0.5, 1.0), (2.0, 3.0)), (V, V + 1j))
OTHERS = (None, [0.5, 1.0], [V, V], [M, M], [1, True], [], [1, 2], float, int, "f4")
EVERYTHING = (*NUMBERS, *ARRAYS, *TUPLES, *OTHERS)
AXES = (None, 0, 1, -1, (0, 1), (), (1,), np.int64(0))
UFUNCS = [f for f in vars(np).values() if isinstance(f, np.ufunc)]
# Also of numbers beyond 64 bits; others take for ever with them.
WITH_LONG = [
    np.array,
    np.asarray,
    np.full,
    np.where,
    np.clip,
    np.float64,
    abs,
    max,
    sum,
    round,
    np.sum,
    np.add,
]
WITH_LONG += [np.exp, np.sqrt, np.maximum, np.less, operator.add, operator.mul, operator.lt]
DECOMPOSITIONS = [(getattr(np.linalg, name), "ab") for name in ("slogdet", "eigh", "svd", "qr")]
BINARY = [f for f in UFUNCS if (f.nin, f.nout, f.signature) == (2, 1, None)]
METHODS = {"outer": ["A", "B"], "accumulate": ["array", "axis"], "reduce": ["array", "axis", "keepdims"]}
METHODS["reduceat"] = ["array", "indices"]
FUNCTIONS = [*DECOMPOSITIONS, *known_functions(), *((f, "xyz"[: f.nin]) for f in UFUNCS)]
FUNCTIONS += [(getattr(f, name), METHODS[name]) for f in BINARY for name in METHODS]
NAMES = [f"{number}:{name_of(f)}" for number, (f, _) in enumerate(FUNCTIONS)]


@pytest.mark.every(43)
@pytest.mark.parametrize("target, parameters", FUNCTIONS, ids=NAMES)
@pytest.mark.filterwarnings("ignore")
def test_any_arguments(target, parameters):
    """Of each function that claims are made of, for whatever arguments it takes, an axis and what is kept of
    it among them.
    """
    given = (*EVERYTHING, *LONG) if target in WITH_LONG else EVERYTHING
    for x in given:
        check(target, (x,))
        if "axis" in parameters and "keepdims" not in parameters:
            for axis in AXES:
                check(target, (x,), {"axis": axis})
        elif "axis" in parameters and isinstance(x, (np.ndarray, list)):
            for axis, keeps in itertools.product(AXES, (True, False, 1)):
                check(target, (x,), {"axis": axis, "keepdims": keeps})
    if len(parameters) > 1:
        for pair in itertools.product(given[::3], given[1::2]):
            check(target, pair)


def test_methods_of_ufuncs():
    """What is claimed of them, and of what nothing is."""
    matrix, numbers = Given(type_of_signature(signature_of(M))), Given(type_of_signature(signature_of(V)))
    row = numbers.kind
    assert result_of(np.add.reduce, [numbers]) == F8
    assert result_of(np.maximum.reduce, [matrix]) == result_of(np.add.reduce, [matrix, Given(INT, 1)]) == row
    assert result_of(np.multiply.accumulate, [matrix]) == result_of(np.subtract.outer, [numbers, numbers])
    assert result_of(np.add.reduce, [matrix], {"axis": Given(NONE)}) == F8
    for words in ({"where": matrix}, {"initial": Given(FLOAT, 2.0)}, {"dtype": Given(STR, "f4")}):
        assert result_of(np.add.reduce, [matrix], words) == NUMERIC
    assert result_of(np.add.reduceat, [matrix, numbers]) == matrix.kind
    assert result_of(np.less.reduceat, [matrix, numbers]) == result_of(np.less.reduce, [matrix]) == NUMERIC
    assert result_of(np.add.reduce, []) == result_of(np.add.outer, [numbers, Given(FLOAT, 2.0)]) == NUMERIC
