"""An operator in place does what NumPy's does: the same value, dtype, shape and error, in both modes."""

import itertools
import linecache

import numpy as np
import pytest

import rulelab as rl

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "<<"]
DTYPES = [np.int64, np.bool_, np.float32, np.float64, np.complex64, np.complex128]
SCALARS = [2, 2.0, 2j]
SHAPES = [((3,), (3,)), ((3,), (2, 3)), ((2, 3), (3,)), ((2, 2), (2, 2)), ((), ())]


def changed_in_place(operator):
    """A function that applies `operator` in place twice to an array of its own."""
    text = f"def f(a, b):\n    s = a.copy()\n    for _ in range(2):\n        s {operator}= b\n    return s\n"
    name = f"<in place {operator}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    found = {}
    exec(compile(text, name, "exec"), found)
    return found["f"]


def filled(dtype, shape):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def operands():
    for left, right, (one, other) in itertools.product(DTYPES, DTYPES, SHAPES):
        yield filled(left, one), filled(right, other)
    for left, right in itertools.product(DTYPES, SCALARS):
        yield filled(left, (3,)), right


def outcome(run):
    try:
        return run()
    except Exception as error:
        return error


def same(found, wanted):
    if isinstance(wanted, Exception):
        return type(found) is type(wanted)
    return type(found) is type(wanted) and found.dtype == wanted.dtype and np.array_equal(found, wanted)


@pytest.mark.every(11)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("operator", OPERATORS)
def test_value_dtype_and_error_are_those_of_numpy(operator):
    """For every pair of dtypes and shapes: float32 stays float32, and what NumPy refuses is its own error."""
    f = changed_in_place(operator)
    for a, b in operands():
        wanted = outcome(lambda: f(a, b))  # noqa: B023
        found = outcome(lambda: rl.pullback(f, a, b)[0])  # noqa: B023
        assert same(found, wanted), (a, b, found, wanted)


@pytest.mark.every(2)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("operator", ["+", "*", "**", "@"])
def test_errors_in_forward_mode(operator):
    """Forward mode gives NumPy's error where NumPy refuses, else a tangent of the value's shape and dtype."""
    f = changed_in_place(operator)
    for a, b in operands():
        if not all(np.asarray(x).dtype.kind in "if" for x in (a, b)):
            continue
        wanted = outcome(lambda: f(a, b))  # noqa: B023
        found = outcome(lambda: rl.pushforward(f, a, b)(a * 1.0, b * 1.0))  # noqa: B023
        if isinstance(wanted, Exception):
            assert type(found) is type(wanted), (a, b, found)
        elif wanted.dtype.kind == "f":
            assert np.shape(found) == wanted.shape and found.dtype == wanted.dtype, (a, b, found)
