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


PHOTON = """
def photon(frequency: float):
    return 6.62607015e-34 * frequency, 299792458.0 / frequency

@rl.rrule_for(photon, registry=registry)
def photon_rrule(frequency):
    def photon_pullback(bars):
        energy_bar, length_bar = bars
        return rl.NoTangent(), SLOPE * energy_bar - 299792458.0 / frequency**2 * length_bar
    return (VALUE, 299792458.0 / frequency), photon_pullback
"""
ENERGY = "6.62607015e-34 * frequency"


@pytest.mark.parametrize(
    "slope, value, verdict",
    [
        ("6.62607015e-34", ENERGY, "right"),
        ("2 * 6.62607015e-34", ENERGY, "wrong"),
        ("6.62607015e-34", f"{ENERGY}**2", "wrong"),
    ],
)
def test_a_small_part_of_a_value_has_roundings_of_its_own_size(slope, value, verdict):
    """An energy in joules beside a length in metres: what is rounding of the one is all of the other."""
    text = PHOTON.replace("SLOPE", slope).replace("VALUE", value)
    assert judged(text, name="photon", depth="quick").verdict == verdict


def test_a_part_that_is_small_at_all_points_hides_no_slope():
    """A factor 2 in `1e-6 * sin(x)` beside `1e10 * x**2` was taken for lost digits."""
    text = """
def f(x):
    return 1e10 * x**2, 1e-6 * np.sin(x)

@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    return f(x), lambda bars: (rl.NoTangent(), 2e10 * x * bars[0] + FACTOR * np.cos(x) * bars[1])
"""
    assert judged(text.replace("FACTOR", "1e-6"), 0.7).verdict == "right"
    assert judged(text.replace("FACTOR", "2e-6"), 0.7).verdict == "wrong"


def test_a_value_that_is_nothing_but_rounding_is_no_other_value():
    """A sum of deviations is zero; what is left of it depends on the order of the sum."""
    text = """
def f(x):
    return np.sum(x - np.mean(x)), np.sum(x**2)

@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    return (0.0, np.sum(x**2)), lambda bars: (rl.NoTangent(), 2 * x * bars[1])
"""
    assert judged(text, depth="quick").verdict == "right"
