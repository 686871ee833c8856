"""A proof is of both sides of what a program decides by, expressions of its arguments included."""

from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic import prove
from rulelab.symbolic.far_sides import far_sides
from rulelab.symbolic.scalars import Decision, Trace


def shifted(x):
    x = x + 1200.0
    return 64 * x if x < 2300 else x * x


def shifted_with(slope):
    def rule(x):
        return shifted(x), lambda y_bar: (None, y_bar * (64 if x + 1200.0 < 2300 else slope * (x + 1200.0)))

    return rule


def by_a_number(v, d, mu):
    return 24 * mu * v * d if v * v * d * d < 4000 * mu * mu else v * v * d


def by_a_number_with(factor):
    def rule(v, d, mu):
        def pullback(y_bar):
            if v * v * d * d < 4000 * mu * mu:
                return None, y_bar * 24 * mu * d, y_bar * 24 * mu * v, y_bar * 24 * v * d
            return None, factor * y_bar * v * d, y_bar * v * v, 0.0

        return by_a_number(v, d, mu), pullback

    return rule


def summed(x):
    s = np.sum(x)
    return s * s if s < 500 else 1000 * s - 250000


def summed_with(slope):
    def rule(x):
        def pullback(y_bar):
            s = np.sum(x)
            return None, y_bar * (2 * s if s < 500 else 500 * slope) * np.ones(np.shape(x))

        return summed(x), pullback

    return rule


def levelled(x):
    z = 27 * x / (1960 + x)
    if z < 2:
        return 3 * z
    return z if z <= 20 else 2 * z - 20


def levelled_with(slope):
    """Behind one decision there is another, which a pole keeps apart for numbers of the other sign."""

    def rule(x):
        def pullback(y_bar):
            z = 27 * x / (1960 + x)
            factor = 3 if z < 2 else 1 if z <= 20 else slope if z < 21 else 2
            return None, y_bar * factor * 27 * 1960 / (1960 + x) ** 2

        return levelled(x), pullback

    return rule


def bent(x):
    z = 3 * x - 1
    return z if z < 2 else 2 * z - 2


def bent_with(slope):
    """Both sides are seen by samples of the usual sizes, and none lies between the two numbers."""

    def rule(x):
        def pullback(y_bar):
            z = 3 * x - 1
            return None, y_bar * (3 if z < 2 else 3 * slope if z < 2.03 else 6)

        return bent(x), pullback

    return rule


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("f", "rule_with"),
    [
        (shifted, shifted_with),
        (by_a_number, by_a_number_with),
        (summed, summed_with),
        (levelled, levelled_with),
        (bent, bent_with),
    ],
)
def test_a_rule_is_judged_beyond_what_is_decided_by_an_expression(f, rule_with):
    """A mistake on the far side was proved: no sample had been there."""
    assert prove(f, rule_with(2)).verdict.word == "PROVED"
    assert prove(f, rule_with(1)).verdict.word == "REFUTED"


class _Seen:
    """A visit as far as its sample goes, and that it has compared `x * y + 1200` with 2300."""

    def __init__(self, *sample):
        self.sample, self.trace = sample, Trace()
        x, y = map(self.trace.argument, "xy", sample)
        self.trace.decisions.append(Decision(x * y + 1200, "<", self.trace.constant(2300), sample[0] < 1000))


def test_samples_lie_on_the_other_side_close_to_the_border_and_far_from_it():
    """And on either side where both were seen far away, but once."""
    near, far = _Seen(Fraction(1), Fraction(2)), _Seen(Fraction(3000), Fraction(2))
    tried = set()
    (first, _), (second, _), *_ = far_sides(("x", "y"), [near], tried)
    assert 2 * first > 1100 and 1100 < 2 * second < 1101
    assert not list(far_sides(("x", "y"), [near, far], tried))
    close = [x for (x, _) in far_sides(("x", "y"), [near, far], set()) if abs(2 * x - 1100) < 2]
    assert {2 * x > 1100 for x in close} == {True, False}
