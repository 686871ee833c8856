"""Zero, where a function does something special and is smooth: a rule that has no number there is wrong."""

import numpy as np
import pytest

from rulelab.checking.at_zero import slopes_at, special_at_zero
from rulelab.checking.probes import Point

from .written_rules import judged, rule

SMOOTH = {
    "a square with its sign": ("v * abs(v)", "2 * abs(v) * y_bar", "2 * v**2 / np.sqrt(v**2) * y_bar", "v"),
    "a power of a norm": ("np.linalg.norm(x)**4", "4 * np.linalg.norm(x)**2 * x * y_bar",
                          "4 * np.linalg.norm(x)**3 * (x / np.linalg.norm(x)) * y_bar", "x"),
    "a cube of a size": ("np.abs(x)**3", "3 * x * np.abs(x) * y_bar", "3 * np.abs(x)**3 / x * y_bar", "x"),
    "a smooth size": ("np.sqrt(x**2 + 0.1)", "y_bar * x / y", "y_bar * (y - 0.1 / y) / x", "x"),
    "a product": ("np.prod(x)", "y_bar * np.array([np.prod(np.delete(x, i)) for i in range(len(x))])",
                  "y_bar * y / x", "x"),
    "a factor": ("a * np.sum(np.cos(x))", "y_bar * np.sum(np.cos(x)), -y_bar * a * np.sin(x)",
                 "y_bar * y / a, -y_bar * a * np.sin(x)", "a, x"),
    "a product of differences from one": (
        "np.cumprod(1.0 - x)[-1]",
        "-y_bar * np.array([np.prod(np.delete(1.0 - x, i)) for i in range(len(x))])",
        "-y_bar * y / (1.0 - x)", "x"),
    "sin(x) / x": ("np.sinc(x)",
                   "y_bar * np.where(x == 0, 0.0, (np.cos(np.pi * x) - y) / np.where(x == 0, 1.0, x))",
                   "y_bar * (np.cos(np.pi * x) - y) / x", "x"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "right", "wrong", "name"), SMOOTH.values(), ids=SMOOTH)
def test_a_rule_without_a_number_at_zero_is_wrong_where_the_derivative_is_one(f, right, wrong, name):
    """It is shown where, and what the derivative is; a rule that has it is right."""
    assert judged(rule(f, right, name)).verdict == "right"
    report = judged(rule(f, wrong, name))
    assert report.verdict == "wrong" and not report.diagnoses[0].diff
    assert report.diagnoses[0].mistake == "not_finite" and report.diagnoses[0].place is not None


def test_a_division_by_zero_that_python_refuses_is_one_as_well():
    report = judged(rule("v * abs(v)", "2 * v**2 / abs(v) * y_bar", "v"))
    assert report.verdict == "wrong" and "ZeroDivisionError at v = 0" in report.sentence


NO_DERIVATIVE = {
    "a size": ("np.abs(x)", "y_bar * x / np.abs(x)", "x"),
    "a norm": ("np.linalg.norm(x)", "y_bar * x / y", "x"),
    "a root": ("np.sqrt(np.abs(x))", "y_bar * np.sign(x) / (2 * y)", "x"),
    "a factor by which the function divides": ("np.abs(x) / a", "-y_bar * y / a, y_bar * np.sign(x) / a",
                                               "a, x"),
    "an end of what it is for": ("np.log(x) * np.maximum(x, 1.0)",
                                 "y_bar * (np.maximum(x, 1.0) / x + np.log(x) * (x > 1))", "x"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "bar", "names"), NO_DERIVATIVE.values(), ids=NO_DERIVATIVE)
def test_a_rule_without_a_number_where_there_is_no_derivative_is_not_condemned(f, bar, names):
    """At a kink, at a pole, and where a function does nothing special about zero there is nothing to miss."""
    assert judged(rule(f, bar, names)).verdict == "right"


def test_a_slope_is_known_where_both_sides_agree():
    """Of `v * abs(v)` to the digits of a step, of a kink not at all."""
    (found,) = slopes_at(lambda v: v * abs(v) + 3 * v, Point((0.0,)), 0)
    assert found[0] == 0 and abs(found[1] - 3) < 1e-9
    assert not list(slopes_at(np.abs, Point((0.0,)), 0))
    assert not list(slopes_at(np.sqrt, Point((0.0,)), 0))


def test_what_is_special_is_followed_through_names():
    def f(rho, v, w, area):
        speed = np.abs(v)
        return rho * v * speed * np.sqrt(w**2 + 1.0) / area if area > 1 else 0.0

    assert special_at_zero(f) == {"v", "w"}
