"""Tests of refutations that show no mistake of a rule."""

import math

import numpy as np

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
