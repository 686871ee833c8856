"""A call that fails by itself fails with Python's own error: it is no gap of ours, and no fault."""

import math

import numpy as np
import pytest

import rulelab as rl

ONES = np.ones(2)
FAILING = {
    "number plus text": (lambda x: x + "a", 1.5),
    "text times number": (lambda x: "a" * x, 1.5),
    "list plus tuple": (lambda x: [x] + (x,), 1.5),
    "list times float": (lambda x: [x] * x, 1.5),
    "power of text": (lambda x: x ** "a", 1.5),
    "bits of a float": (lambda x: x & 1.0, 1.5),
    "minus of a list": (lambda x: -[x], 1.5),
    "comparison with text": (lambda x: x < "a", 1.5),
    "matmul of numbers": (lambda x: x @ x, 1.5),
    "matmul of an array and a number": (lambda x: np.sum(x @ 2.0), ONES),
    "shapes": (lambda x: np.sum(x + np.ones(3)), ONES),
    "matmul of shapes": (lambda x: x @ np.ones(3), ONES),
    "index of a number": (lambda x: x[0], 1.5),
    "index by a number": (lambda x: np.arange(3)[x], 1.5),
    "index out of a list": (lambda x: [x][3], 1.5),
    "key that is missing": (lambda x: {"a": x}["b"], 1.5),
    "attribute of a number": (lambda x: x.nonsense, 1.5),
    "attribute of an array": (lambda x: x.nonsense, ONES),
    "attribute of a list": (lambda x: [x].nonsense, 1.5),
    "name in a module": (lambda x: np.nonsense(x), 1.5),
    "call of a number": (lambda x: x(2), 1.5),
    "length of a number": (lambda x: len(x) * x, 1.5),
    "float of a list": (lambda x: float([x]), 1.5),
    "absolute value of a list": (lambda x: abs([x]), 1.5),
    "divmod of text": (lambda x: divmod(x, "a"), 1.5),
    "root of two numbers": (lambda x: math.sqrt(x, x), 1.5),
    "root of a list": (lambda x: math.sqrt([x]), 1.5),
    "root below zero": (lambda x: math.sqrt(x - 2.0), 1.5),
    "hypot of text": (lambda x: math.hypot(x, "a"), 1.5),
    "ufunc of text": (lambda x: np.sin("a") * x, 1.5),
    "axis that is not there": (lambda x: np.sum(x, axis=3), ONES),
    "shape that does not fit": (lambda x: np.sum(np.reshape(x, (7,))), ONES),
    "sum of a number": (lambda x: sum(x), 1.5),
    "bits of floats": (lambda x: np.bitwise_and(x, x), 1.5),
}


@pytest.mark.parametrize("f, x", FAILING.values(), ids=FAILING)
def test_the_authors_own_error(f, x):
    """What fails in plain Python fails alike in every mode, so that the author looks at the right place."""
    with pytest.raises(Exception) as plain:  # noqa: B017
        f(x)
    for run in (
        lambda: rl.gradient(f, x),
        lambda: rl.pushforward(f, x)(x * 1.0),
        lambda: rl.hessian(f, x),
    ):
        with pytest.raises(type(plain.value)) as found:
            run()
        assert type(found.value) is type(plain.value)


def test_an_error_by_the_authors_own_code_is_not_provoked_twice():
    """What a refused call would do with an object of the author's is not tried out: it may have effects."""
    calls = []

    class Noisy:
        def __radd__(self, other):
            calls.append(other)
            raise TypeError("not this")

        __radd__.__signature__ = None

    with pytest.raises(Exception):  # noqa: B017
        rl.gradient(lambda x: x + Noisy(), 1.5)
    assert len(calls) <= 1
