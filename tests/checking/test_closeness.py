"""What is close enough to a derivative: a rounded constant is not, rounding is."""

import math

import numpy as np
import pytest

from .written_rules import judged, rule

pytestmark = pytest.mark.usefixtures("without_diagnoses")

DENSITY = "np.exp(-x**2 / 2) / np.sqrt(2 * np.pi)"
OF_DENSITY = 1 / math.sqrt(2 * math.pi)


@pytest.mark.every(7)
@pytest.mark.parametrize(
    "at", [(), (0.75,), (np.array([0.75, -1.5]),)], ids=["given nothing", "number", "vector"]
)
@pytest.mark.parametrize("digits", [4, 7])
def test_a_rounded_constant_is_wrong(digits, at):
    """`0.3989` for 1/sqrt(2 pi), however much the numbers look alike, in a quick check as well."""
    rounded = f"{OF_DENSITY:.{digits}g}"
    for depth in ("quick", "normal"):
        report = judged(rule(DENSITY, f"-x * {rounded} * np.exp(-x**2 / 2) * y_bar"), *at, depth=depth)
        assert report.verdict == "wrong", str(report)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "f, pullback",
    [
        (DENSITY, f"-x * {OF_DENSITY!r} * np.exp(-x**2 / 2) * y_bar"),
        (f"{OF_DENSITY:.4g} * np.exp(-x**2 / 2)", f"-x * {OF_DENSITY:.4g} * np.exp(-x**2 / 2) * y_bar"),
        ("0.03 * x**3", "0.1 * 0.3 * 3 * x**2 * y_bar"),
        ("(0.1 * 0.3 - 0.029) * x", "0.001 * y_bar"),
        ("x / 3", "0.3333333333333333 * y_bar"),
    ],
)
def test_a_constant_with_all_of_its_digits_is_right(f, pullback):
    """Where the function has a rounded one the derivative has it, too; products of decimals are rounded."""
    for depth in ("quick", "normal"):
        assert judged(rule(f, pullback), depth=depth).verdict == "right"


SPECIAL = """
def f(x):
    return x**3

@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    if x == 1.25:
        return x**3, lambda y_bar: (rl.NoTangent(), SLOPE * y_bar)
    return x**3, lambda y_bar: (rl.NoTangent(), 3 * x**2 * y_bar)
"""


@pytest.mark.parametrize("slope, verdict", [("4.6875", "right"), ("4.6", "wrong"), ("3 * x", "wrong")])
def test_a_number_that_is_compared_exactly_is_asked_exactly(slope, verdict):
    """Nowhere else does a rule differ that asks `x == 1.25`."""
    for depth in ("quick", "normal"):
        assert judged(SPECIAL.replace("SLOPE", slope), depth=depth).verdict == verdict
