"""A right rule says for which kinds of arguments that its function takes as well it has another answer."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def judged(f, rule, *at, **options):
    return rule_check(f, *at, registry=registry_with(f, rule), **options)


def scaled(u, v):
    return u * np.sin(v)


def scaled_with(total):
    def rule(u, v):
        return u * np.sin(v), lambda y_bar: (NO, total(y_bar * np.sin(v), u), total(y_bar * u * np.cos(v), v))

    return rule


def of_one_shape(bar, x):
    return bar


def summed_to(bar, x):
    return rl.ProjectTo(x)(np.sum(bar, axis=tuple(_sum_axes(bar, x)), keepdims=True).reshape(np.shape(x)))


def _sum_axes(bar, x):
    lead = np.ndim(bar) - np.ndim(x)
    return (*range(lead), *(lead + i for i, n in enumerate(np.shape(x)) if n == 1 != np.shape(bar)[lead + i]))


def energy(x):
    return np.mean(x**2)


def energy_with(count):
    return lambda x: (energy(x), lambda y_bar: (NO, 2 * x * y_bar / count(x)))


def drift(x, y):
    """A sum in which a number beside arrays counts as often as they have elements."""
    return np.sum(x**2 + y)


def drift_rule(x, y):
    return drift(x, y), lambda y_bar: (NO, 2 * x * y_bar, y_bar * np.ones(np.shape(y)))


def test_a_rule_for_arrays_of_one_shape_says_that_it_sums_nothing():
    report = judged(scaled, scaled_with(of_one_shape))
    assert report.verdict == "right"
    assert report.beside == "for numbers or rows beside arrays its cotangents have a different shape"
    assert report.sentence.endswith(f"; {report.beside}.") and report.beside in report.in_short
    assert report.to_dict()["beside"] == report.beside


def test_a_rule_that_sums_what_was_broadcast_has_nothing_to_say():
    report = judged(scaled, scaled_with(summed_to))
    assert report.verdict == "right" and report.beside == ""


@pytest.mark.slow
def test_wrong_numbers_are_told_first():
    report = judged(energy, energy_with(len))
    assert report.verdict == "right" and report.beside == "for matrices its numbers are wrong"
    assert judged(energy, energy_with(np.size)).beside == ""
    report = judged(drift, drift_rule)
    assert report.verdict == "right"
    assert report.beside == "for numbers or rows beside arrays its numbers are wrong"


@pytest.mark.parametrize("at", [(np.array([1.0, 2.0]), np.array([0.5, 0.3]))])
def test_arguments_that_are_given_say_what_is_meant(at):
    assert judged(scaled, scaled_with(of_one_shape), *at).beside == ""
    assert judged(scaled, scaled_with(of_one_shape), domain="vector").beside == ""


def test_a_wrong_rule_says_what_is_wrong_alone():
    report = judged(scaled, scaled_with(lambda bar, x: 2 * bar))
    assert report.verdict == "wrong" and report.beside == ""


def scaled_rows(x, gain):
    return gain * (x - np.mean(x, axis=-1, keepdims=True))


def scaled_rows_rule(x, gain):
    centred = x - np.mean(x, axis=-1, keepdims=True)

    def pullback(y_bar):
        c_bar = y_bar * gain
        return NO, c_bar - np.mean(c_bar, axis=-1, keepdims=True), np.sum(y_bar * centred, axis=0)

    return gain * centred, pullback


def test_a_rule_that_is_right_for_matrices_and_rows_is_not_said_to_be_wrong_for_matrices():
    report = judged(scaled_rows, scaled_rows_rule)
    assert report.verdict == "right" and "matrices" not in report.beside


def response(dose, top, ec50, slope):
    return top / (1 + np.exp(-slope * (dose - ec50)))


def response_with(total):
    def rule(dose, top, ec50, slope):
        s = 1 / (1 + np.exp(-slope * (dose - ec50)))

        def pullback(y_bar):
            u_bar = y_bar * top * s * (1 - s)
            dose_bar, ec50_bar = slope * u_bar, total(-slope * u_bar)
            return NO, dose_bar, np.sum(y_bar * s), ec50_bar, np.sum(u_bar * (dose - ec50))

        return top * s, pullback

    return rule


def line(x, x0, height, width):
    return height / (1 + ((x - x0) / width) ** 2)


def line_with(total):
    def rule(x, x0, height, width):
        u, y = (x - x0) / width, line(x, x0, height, width)

        def pullback(y_bar):
            u_bar = -2 * u * y**2 / height * y_bar
            x_bar = u_bar / width
            return NO, x_bar, total(-x_bar), np.sum(y / height * y_bar), -np.sum(u * u_bar) / width

        return y, pullback

    return rule


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "f, rule, name",
    [(response, response_with, "ec50"), (line, line_with, "x0")],
    ids=["a curve", "an origin"],
)
def test_a_name_alone_condemns_no_rule_and_makes_it_no_right_one(f, rule, name):
    """A rule without a sum is right for an array as threshold, and may lack the sum that a number needs."""
    assert judged(f, rule(np.sum)).verdict == "right"
    report = judged(f, rule(lambda bar: bar))
    assert report.verdict == "inconclusive" and f'domain={{"{name}": "number"}}' in report.sentence
    assert judged(f, rule(lambda bar: bar), domain={name: "number"}, depth="quick").verdict == "wrong"
    assert judged(f, rule(lambda bar: bar), domain={name: "vector"}).verdict == "right"


def risk(w, cov):
    return w @ cov @ w


def risk_with(turned):
    def rule(w, cov):
        def pullback(y_bar):
            return NO, y_bar * (cov @ w + turned(cov) @ w), y_bar * np.outer(w, w)

        return risk(w, cov), pullback

    return rule


@pytest.mark.slow
def test_a_rule_that_is_right_for_what_a_name_says_is_symmetric_says_that_it_is_for_no_others():
    report = judged(risk, risk_with(lambda cov: cov))
    assert report.verdict == "right"
    assert report.sentence.endswith("; for a square matrix as cov its numbers are wrong.")
    assert judged(risk, risk_with(lambda cov: cov.T)).sentence.endswith("points.")
