"""Tests of refutations that show no mistake of a rule."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.symbolic import Refuted, prove


def power_at(samples, k):
    """|X_k|^2 by Goertzel's recursion."""
    w = 2 * math.cos(2 * math.pi * k / len(samples))
    s1 = s2 = 0.0
    for x in samples:
        s1, s2 = x + w * s1 - s2, s1
    return s1 * s1 + s2 * s2 - w * s1 * s2


def power_rule(factor):
    def rule(samples, k):
        def pullback(y_bar):
            phase = 2 * np.pi * k / len(samples) * np.arange(len(samples))
            c, s = np.cos(phase), np.sin(phase)
            return rl.NoTangent(), factor * y_bar * (c * (c @ samples) + s * (s @ samples)), rl.NoTangent()

        return power_at(samples, k), pullback

    return rule


def test_the_rounded_sine_of_pi_refutes_no_rule():
    """In floats it is 1.2e-16, and where the derivative is zero that is all there is."""
    samples = np.array([0.5, 0.5])
    assert not isinstance(prove(power_at, power_rule(2.0), at=(samples, 1)).verdict, Refuted)
    assert isinstance(prove(power_at, power_rule(2.01), at=(np.array([0.5, 0.75]), 1)).verdict, Refuted)


@pytest.mark.parametrize("held", [None, "mean", True])
def test_what_a_parameter_is_held_at_does_not_hide_what_the_function_is_for(held):
    """Scaled Bessel functions have another slope for negative arguments, for which this is not meant."""
    special = pytest.importorskip("scipy.special")

    def loglik(angles, kappa, how=None):
        """A von Mises law, kappa > 0."""
        return np.sum(kappa * (np.cos(angles) - 1.0) - np.log(special.i0e(kappa)))

    def rule(sign):
        def loglik_rrule(angles, kappa, how=None):
            def back(y_bar):
                ratio = sign * special.i1e(kappa) / special.i0e(kappa)
                kappa_bar = y_bar * np.sum(np.cos(angles) - ratio)
                return rl.NoTangent(), -y_bar * kappa * np.sin(angles), kappa_bar, rl.NoTangent()

            return loglik(angles, kappa, how), back

        loglik_rrule.__defaults__ = (held,)
        return loglik_rrule

    loglik.__defaults__ = (held,)
    verdict = prove(loglik, rule(1)).verdict
    assert verdict.word == "PROVED", verdict.sentence()
    assert prove(loglik, rule(-1)).verdict.word == "REFUTED"


def partial_likelihood(beta, X, time, event):
    eta = X @ beta
    total = 0.0
    for i in range(len(time)):
        if event[i]:
            at_risk = time >= time[i]
            total += eta[i] - np.log(np.sum(np.exp(eta[at_risk])))
    return total


def partial_likelihood_rule(drops):
    def rule(beta, X, time, event):
        eta = X @ beta
        slopes = np.zeros(len(eta))
        for i in np.flatnonzero(event):
            at_risk = time >= time[i]
            slopes[i] += 1.0
            slopes[at_risk] -= np.exp(eta[at_risk]) / np.sum(np.exp(eta[at_risk]))

        def pullback(y_bar):
            beta_bar, X_bar = y_bar * (X.T @ slopes), y_bar * np.outer(slopes, beta)
            if drops:
                return rl.NoTangent(), beta_bar, rl.NoTangent(), rl.NoTangent(), rl.NoTangent()
            return rl.NoTangent(), beta_bar, X_bar, rl.NoTangent(), rl.NoTangent()

        return partial_likelihood(beta, X, time, event), pullback

    return rule


def test_differences_do_not_agree_with_a_rule_that_drops_an_argument():
    """Comparisons decide each step of the loop, but an argument that is dropped varies, too."""
    rng = np.random.default_rng(7)
    at = np.array([0.4, -0.3]), rng.normal(size=(5, 2)), rng.exponential(size=5), np.array([1, 0, 1, 1, 0])
    right, wrong = (prove(partial_likelihood, partial_likelihood_rule(d), at=at) for d in (False, True))
    assert right.verdict.word == "PROVED"
    assert isinstance(wrong.verdict, Refuted)
    assert "zero" in wrong.verdict.reason
