"""Where right rules lose digits: regions, causes and better formulas that are known from the textbooks."""

import json
import math

import numpy as np
import pytest

from rulelab.errors import RuleError
from rulelab.symbolic import scan_stability


def rule_of(f, slope):
    """A rule of one argument with the derivative `slope(y, x)`."""

    def rule(x):
        y = f(x)
        return y, lambda y_bar: (None, slope(y, x) * y_bar)

    return rule


def tanh(x):
    return math.tanh(x)


def logistic(x):
    return 1 / (1 + math.exp(-x))


def logistic_of_arrays(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0.0, x)


def arcsin(x):
    return math.asin(x)


def expm1(x):
    return math.expm1(x)


def gap(x):
    return x - math.sin(x)


def root(x):
    return math.sqrt(x * x + 1)


def log1p(x):
    return math.log1p(x)


def tan(z):
    return np.tan(z)


def naive_hypot(a, b):
    return math.sqrt(a * a + b * b)


BAD = {
    "tanh": (tanh, lambda y, x: 1 - y * y, 20.0, "cancellation in 1 - y * y", "exp(-2 * math.fabs(x))"),
    "logistic": (
        logistic,
        lambda y, x: y * (1 - y),
        30.0,
        "cancellation in 1 - y",
        "math.exp(-math.fabs(x))",
    ),
    "logistic overflows": (
        logistic_of_arrays,
        lambda y, x: np.exp(-x) / (1 + np.exp(-x)) ** 2,
        -800.0,
        "overflow in exp(-x)",
        "1 / (np.exp(x) + 2 + np.exp(-x))",
    ),
    "softplus": (
        softplus,
        lambda y, x: np.exp(x) / (1 + np.exp(x)),
        800.0,
        "overflow in exp(x)",
        "1 / (1 + np.exp(-x))",
    ),
    "arcsin": (
        arcsin,
        lambda y, x: 1 / math.sqrt(1 - x * x),
        1 - 1e-9,
        "cancellation in 1 - x * x",
        "(1 - x)",
    ),
    "expm1": (expm1, lambda y, x: y + 1, -30.0, "cancellation in y + 1", "math.exp(x)"),
    "gap": (gap, lambda y, x: 1 - math.cos(x), 1e-5, "cancellation in 1 - cos(x)", "math.sin(0.5 * x)**2"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_formula_is_found_with_its_cause_and_a_better_one(name):
    """The region holds the number the textbook names, and the better formula is measured."""
    f, slope, x, cause, better = BAD[name]
    report = scan_stability(f, rule_of(f, slope))
    assert not report
    found = [r for r in report.regions if float(r.low) <= x <= float(r.high)]
    assert found and found[0].cause == cause and found[0].ulps > 1e3
    (proposed,) = report.better
    assert better in proposed.formula
    assert proposed.bits < 1.0 < proposed.bits_before and proposed.worst < 10


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (root, lambda y, x: x / y),
        (log1p, lambda y, x: 1 / (1 + x)),
        (tanh, lambda y, x: 4 * math.exp(-2 * abs(x)) / (1 + math.exp(-2 * abs(x))) ** 2),
        (math.sin, lambda y, x: math.cos(x)),
    ],
)
def test_a_good_formula_is_called_good(f, slope):
    """A few ulps, at hundreds of inputs."""
    report = scan_stability(f, rule_of(f, slope))
    assert report and report.points > 150 and report.worst < 10 and "ulps off at" in str(report)


def test_in_the_complex_plane():
    """1 + tan(z)**2 is 1 - 1 for large imaginary parts; one over the square of the cosine is not."""
    report = scan_stability(tan, rule_of(tan, lambda y, z: np.conj(1 + y * y)), plane=True)
    assert {r.cause for r in report.regions} == {"cancellation in y * y + 1"}
    assert complex(report.regions[0].worst).imag != 0
    assert report.better and "np.cos(z)" in report.better[0].formula


def test_each_argument_in_turn():
    """Of two arguments each is scanned for its own cotangent."""

    def rule(a, b):
        y = naive_hypot(a, b)
        return y, lambda y_bar: (None, a / y * y_bar, (y - a * a / y) / b * y_bar)

    report = scan_stability(naive_hypot, rule)
    assert {r.argument for r in report.regions} == {"b"} and report.points > 500


def test_a_wrong_rule_without_rounding_errors_is_not_its_business():
    """`prove` says that it is wrong; this scan asks how well the code is worked out."""
    assert scan_stability(root, rule_of(root, lambda y, x: x + 1e-3 * x))


def test_what_cannot_be_scanned_is_refused():
    """Arrays, two complex arguments, code that cannot be followed."""
    with pytest.raises(RuleError, match="numbers"):
        scan_stability(np.sum, rule_of(np.sum, lambda y, x: x), at=(np.ones(3),))
    with pytest.raises(RuleError, match="one argument"):
        scan_stability(naive_hypot, lambda a, b: None, plane=True)
    with pytest.raises(RuleError, match="followed: C call"):
        scan_stability(math.sin, rule_of(math.sin, lambda y, x: __import__("time").time() * x))


def test_the_report_has_its_faces():
    """Text, HTML without script, JSON."""
    report = scan_stability(tanh, rule_of(tanh, lambda y, x: 1 - y * y))
    assert "no digit is right" in str(report) and "cancellation in 1 - y * y" in report._repr_html_()
    assert "<script" not in report._repr_html_() and report.to_latex() and report.to_markdown()
    assert json.loads(report.to_json())["regions"][0]["cause"] == "cancellation in 1 - y * y"
