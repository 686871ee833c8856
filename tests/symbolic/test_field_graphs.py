"""The field knows the functional equations and derivatives of the functions, and proves nothing else."""

import math
from fractions import Fraction

import pytest

from rulelab.symbolic.field_graphs import is_identically_equal, is_identity
from rulelab.symbolic.functions import MATH
from rulelab.symbolic.scalars import Trace

F = {name: make(False) for name, make in MATH.items()}


def numbers(x=Fraction(3, 7), y=Fraction(5, 11)):
    trace = Trace()
    return trace.argument("x", x), trace.argument("y", y)


EQUAL = {
    "exp of a sum": lambda x, y: (F["exp"](x + y), F["exp"](x) * F["exp"](y)),
    "exp and log": lambda x, y: (F["exp"](2 * F["log"](x)), x * x),
    "log of a product": lambda x, y: (F["log"](x * y / x**3), F["log"](y) - 2 * F["log"](x)),
    "angles": lambda x, y: (F["sin"](2 * x), 2 * F["sin"](x) * F["cos"](x)),
    "hyperbolic": lambda x, y: (F["cosh"](x) ** 2 - F["sinh"](x) ** 2, x / x),
    "inverse hyperbolic": lambda x, y: (F["cosh"](F["asinh"](x)), F["sqrt"](1 + x * x)),
    "powers": lambda x, y: (x**y * x ** (1 - y), x + 0),
    "roots": lambda x, y: (F["sqrt"](x) * F["sqrt"](y), F["sqrt"](x * y)),
    "many roots": lambda x, y: (
        sum(F["sqrt"](x + k) ** 2 for k in range(12)),
        12 * x + 66,
    ),
    "powers of two": lambda x, y: (F["exp2"](x), F["exp"](x * 0.6931471805599453)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_expressions_are_known(name):
    """Two ways of writing one function are seen to be one, and a third that differs by a millionth is not."""
    left, right = EQUAL[name](*numbers())
    assert is_identically_equal(left, right)
    assert not is_identically_equal(left, right * Fraction(1_000_001, 1_000_000))
    assert not is_identically_equal(left, right + left.trace.argument("z", 1))


SLOPES = {
    "sin": lambda x: F["cos"](x),
    "cos": lambda x: -F["sin"](x),
    "tan": lambda x: 1 / F["cos"](x) ** 2,
    "exp": lambda x: F["exp"](x),
    "log": lambda x: 1 / x,
    "sqrt": lambda x: 1 / (2 * F["sqrt"](x)),
    "sinh": lambda x: F["cosh"](x),
    "cosh": lambda x: F["sinh"](x),
    "tanh": lambda x: 1 / F["cosh"](x) ** 2,
    "asin": lambda x: 1 / F["sqrt"](1 - x * x),
    "acos": lambda x: -1 / F["sqrt"](1 - x * x),
    "atan": lambda x: 1 / (1 + x * x),
    "asinh": lambda x: 1 / F["sqrt"](1 + x * x),
    "atanh": lambda x: 1 / (1 - x * x),
    "erf": lambda x: 2 / math.sqrt(math.pi) * F["exp"](-x * x),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_those_of_the_textbook(name):
    """The sweep backwards gives the derivative of each function, and no multiple of it."""
    x, w = numbers()
    y, slope = F[name](x), SLOPES[name](x)
    assert is_identity([x], [w], [y], [w * slope], [y])
    assert not is_identity([x], [w], [y], [2 * w * slope], [y])
    assert not is_identity([x], [w], [y], [-(w * slope)], [y])


def test_the_normal_distribution_is_differentiated():
    """Of a quotient by the square root of two, whose square is exact: erf(x / sqrt(2)) has exp(-x**2 / 2)."""
    x, w = numbers()
    y, slope = F["erf"](x / math.sqrt(2)), math.sqrt(2 / math.pi) * F["exp"](-x * x / 2)
    assert is_identity([x], [w], [y], [w * slope], [y])
    assert not is_identity([x], [w], [y], [2 * w * slope], [y])


def test_shared_parts_and_powers_are_differentiated():
    """A number used twice, and both arguments of a power, get their whole derivative."""
    (x, y), w = numbers(), Fraction(0)
    w = x.trace.argument("w", 2)
    z = x**y * x
    assert is_identity([x, y], [w], [z], [w * (y + 1) * x**y, w * z * F["log"](x)], [z])
    assert not is_identity([x, y], [w], [z], [w * y * x**y, w * z * F["log"](x)], [z])


def test_signs_of_the_sample_are_kept():
    """The root of a square is the number itself or its negative, as the cell has it."""
    x, y = numbers(x=Fraction(-3, 7))
    assert is_identically_equal(F["sqrt"](x * x), -x)
    assert is_identically_equal(F["sqrt"](y * y), y)
    assert not is_identically_equal(F["sqrt"](x * x), x)
