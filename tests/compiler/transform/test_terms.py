"""A sum subtracts where a term is negative, and the numbers stay the same to the last bit."""

import itertools

import numpy as np
import pytest

from rulelab.compiler.transform.terms import is_primary, signed

NUMBERS = (0.0, -0.0, 1.0, -3.7, 1e-320, 1e308, np.inf)
NEGATIVE = (
    *("-x", "-x * y", "-x / y * x", "(-x) / y", "((-x) / y) * (x + y)"),
    *("(-x * y)", "-x ** 2 * y", "-(x + y)"),
)
OTHERS = (
    *("x", "x * -y", "-x + y", "-x @ y", "-x // y", "-x % y", "(-x) ** 2", "(-x)[0] * y", "(-x).T"),
    *("((-x) + y) * x", "(-x) * y + x", "-x if x else y", "f(-x) * y", "(-x, y)", "-part(x, 'a b')"),
)


@pytest.mark.parametrize("term", NEGATIVE)
def test_a_negative_product_is_subtracted(term):
    """`a + -x * y` and `a - x * y` are the same number, also of zeros, the greatest and the smallest."""
    sign, rest = signed(term)
    assert sign == "-"
    with np.errstate(all="ignore"):
        for a, x, y in itertools.product(map(np.float64, NUMBERS), repeat=3):
            names = {"a": a, "x": x, "y": y}
            before, after = eval(f"a + {term}", names), eval(f"a - {rest}", names)
            assert np.array_equal(before, after, equal_nan=True)
            assert np.isnan(before) or np.signbit(before) == np.signbit(after)


@pytest.mark.parametrize("term", OTHERS)
def test_the_sign_of_a_part_is_not_that_of_all(term):
    """What is no product, or what nobody can tell without a parser, is added as it is."""
    assert signed(term) == ("+", term)


@pytest.mark.parametrize("text, expected", [("x", True), ("f(x + 1)[0]", True), ("x + 1", False)])
def test_an_operand_is_told_by_its_text(text, expected):
    """A name, with what is called or taken of it, needs no brackets around it."""
    assert is_primary(text) is expected
