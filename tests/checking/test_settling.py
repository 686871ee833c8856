"""Tests of what condemns no rule: numbers that nobody gave, at which a function has a value by chance."""

import numpy as np
import pytest

from .written_rules import judged, rule

pytestmark = pytest.mark.usefixtures("without_diagnoses")

SHARED = """
def f(x, total):
    t = 0.0
    while True:
        step = (total - np.sum(x * t)) / np.sum(x)
        t = t + step
        if abs(step) < 1e-12:
            return t


@rl.rrule_for(f, registry=registry)
def f_rrule(x, total):
    whole = {whole}

    def back(y_bar):
        return rl.NoTangent(), np.full(x.shape, {factor} * y_bar * total / whole**2), y_bar / whole

    return f(x, total), back
"""
MEAN = """
def f(widths, loads, q={q}):
    return np.sum(loads * widths**q) ** (1 / q)


@rl.rrule_for(f, registry=registry)
def f_rrule(widths, loads, q={q}):
    total = np.sum(loads * widths**q)
    y = total ** (1 / q)

    def back(y_bar):
        total_bar = y_bar * y / (q * total)
        widths_bar = {widths_bar}
        q_bar = total_bar * np.sum(loads * widths**q * np.log(widths)) - y_bar * y * np.log(total) / q**2
        return rl.NoTangent(), widths_bar, total_bar * widths**q, q_bar

    return y, back
"""
BY_THE_MEAN = "y_bar * loads * (y / widths) ** (1 - q)"
"""What it is for a total that is positive, as it has to be for all `q` but `1 / 2`, `1 / 4`, ..."""

SQUARES = """
def f(x, p=2.0):
    return np.sum(x**p)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, p=2.0):
    def back(y_bar):
        return rl.NoTangent(), y_bar * p * np.{size}(x) ** (p - 1), y_bar * np.sum(x**p * np.log(np.abs(x)))

    return np.sum(x**p), back
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("whole", "factor", "verdict"),
    [("np.sum(x)", "-1", "right"), ("np.sum(np.abs(x))", "-1", "inconclusive"), ("np.sum(x)", "1", "wrong")],
)
def test_signs_are_compared_with_those_of_given_arrays_at_other_lengths_too(whole, factor, verdict):
    """What a loop comes to is asked for longer arrays, too, whose numbers are in no given one's place."""
    report = judged(SHARED.format(whole=whole, factor=factor), np.array([0.5, 1.0, 2.0]), 3.0)
    assert report.verdict == verdict


def test_a_negative_number_that_one_value_of_a_default_allows_condemns_no_rule():
    """The square of a negative total is a number, and its power 1 / 0.51 is none."""
    report = judged(MEAN.format(q=0.5, widths_bar=BY_THE_MEAN))
    assert report.verdict == "inconclusive" and "for q = 0.5, and none for" in report.sentence


def test_what_stands_beside_a_default_is_asked_where_positive_arguments_are_given_too():
    args = (np.array([0.7, 1.2, 2.1]), np.array([0.4, 1.1, 0.3]))
    report = judged(MEAN.format(q=0.5, widths_bar=BY_THE_MEAN), *args)
    assert report.verdict == "inconclusive" and "for q = 0.5, and none for" in report.sentence


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", ["2 * " + BY_THE_MEAN, BY_THE_MEAN.replace("(1 - q)", "q * (2 - q)")])
def test_what_is_wrong_for_positive_numbers_is_wrong(wrong):
    assert judged(MEAN.format(q=0.5, widths_bar=wrong)).verdict == "wrong"


@pytest.mark.slow
def test_a_power_by_default_that_is_whole_is_meant_for_negative_numbers():
    """There is no power 2.02 of them, but who writes 2.0 means squares."""
    assert judged(SQUARES.format(size="abs")).verdict == "wrong"
    assert judged(SQUARES.format(size="asarray")).verdict == "right"


SHARES = """
import scipy.special as sps


def f(x, edges, k):
    \"\"\"Mean log chance of classes k, whole numbers up to len(edges), for real x and increasing edges.\"\"\"
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    return np.mean(np.log(sps.expit(ends[k + 1] - x) - sps.expit(ends[k] - x)))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, edges, k):
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    upper, lower = sps.expit(ends[k + 1] - x), sps.expit(ends[k] - x)

    def back(y_bar):
        share = y_bar / (len(x) * (upper - lower))
        above, below = share * upper * (1 - upper), -share * {}
        ends_bar = np.zeros(len(ends))
        np.add.at(ends_bar, k + 1, above)
        np.add.at(ends_bar, k, below)
        return rl.NoTangent(), -above - below, ends_bar[1:-1], rl.NoTangent()

    return f(x, edges, k), back
"""


@pytest.mark.slow
def test_nan_at_drawn_arguments_is_wrong_where_the_steps_of_the_function_have_a_derivative():
    """Below the first edge there is none but minus infinity: the function can do with it, and its own
    derivative, so a rule has to."""
    assert judged(SHARES.format("lower * (1 - lower)")).verdict == "right"
    report = judged(SHARES.format("lower**2 * np.exp(x - ends[k])"))
    assert report.verdict == "wrong" and "the rule gives nan" in str(report), report


CENSORED = """
def f(t, rate, dead):
    return np.sum(np.where(dead, rate * t - np.log(rate), rate * t))


@rl.rrule_for(f, registry=registry)
def f_rrule(t, rate, dead):
    def back(y_bar):
        return rl.NoTangent(), y_bar * rate * np.ones_like(t), y_bar * (np.sum(t) - {} / rate), rl.NoTangent()

    return f(t, rate, dead), back
"""


@pytest.mark.slow
def test_what_a_function_decides_by_is_flags_where_the_rule_holds_it_fixed():
    """All numbers but zero are true: at such a rule is right that counts all elements."""
    assert judged(CENSORED.format("np.sum(dead)")).verdict == "right"
    assert judged(CENSORED.format("len(t)")).verdict == "wrong"


ALONG = """
def f(x, *, axis=-1):
    return np.mean(x**4, axis=axis) ** 0.25


@rl.rrule_for(f, registry=registry)
def f_rrule(x, *, axis=-1):
    y = f(x, axis=axis)

    def back(y_bar):
        return rl.NoTangent(), np.expand_dims(y_bar / y**3, {0}) / x.shape[{0}] * x**3

    return y, back
"""


def test_what_a_rule_raises_for_another_axis_is_a_mistake():
    """It has an answer for such arrays along the last one, so it is for them."""
    assert judged(ALONG.format("axis")).verdict == "right"
    assert judged(ALONG.format("-1")).verdict == "wrong"


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "right"), (1.2, "wrong")])
def test_a_function_is_for_numbers_at_which_it_has_a_slope(factor, verdict):
    """Where it is next to nothing any rule is right, however usual the numbers are."""
    text = rule("np.exp(-BARRIER / T)", f"y_bar * {factor} * BARRIER * y / T**2", "T")
    assert judged(f"BARRIER = 5000.0\n{text}", domain={"T": "positive number"}).verdict == verdict


STEEP = """
import math


def f(hours, kelvin):
    "kelvin is positive"
    rate = math.exp(300 * (1.0 - 1.0 / kelvin))
    return hours / rate


@rl.rrule_for(f, registry=registry)
def f_rrule(hours, kelvin):
    rate = math.exp(300 * (1.0 - 1.0 / kelvin))
    y = hours / rate

    def back(y_bar):
        rate_bar = -y_bar * (y / rate)
        return rl.NoTangent(), y_bar / rate, rate_bar * rate * 300 / kelvin**2

    return y, back
"""


def test_products_that_leave_the_range_of_floats_are_lost_digits():
    """At some drawn numbers `y / rate` is zero or infinite, though the slope is neither; at others the rule
    is right, and a mistake shows.
    """
    right = judged(STEEP)
    assert right.verdict == "right" and "loses digits" in str(right), str(right)
    assert judged(STEEP.replace("rate * 300", "rate * 150")).verdict == "wrong"
