"""The skeleton of a rule is Python that compiles, with every argument in its place."""

import math

import numpy as np
import pytest

from rulelab.rules.stub import rule_stub


def f(x, y, *rest, scale=1.0, **options):
    return x


class Bar:
    def method(self, x):
        return x


@pytest.mark.parametrize("target", [f, np.sin, math.hypot, Bar.method, Bar, print, lambda y, out: y, len])
def test_every_stub_compiles(target):
    """Functions, ufuncs, C functions, methods, classes, lambdas."""
    compile(rule_stub(target), "stub", "exec")
    magic, body = rule_stub(target, magic=True).split("\n", 1)
    assert magic.startswith("%%rrule ")
    compile(body, "stub", "exec")


def test_a_stub_has_one_cotangent_for_each_positional_argument():
    """The function's own first, then one for each parameter, one for each item of *rest; keywords get
    none.
    """
    text = rule_stub(f)
    assert "def f_rrule(x, y, *rest, scale, **options):" in text
    assert "out = f(x, y, *rest, scale=scale, **options)" in text
    assert "return rl.NoTangent(), x_bar, y_bar, *rest_bar" in text
    assert "def f_pullback(out_bar):" in text


def test_targets_are_spelled_as_where_the_rule_will_stand():
    """A library function by its module, or as the caller spells it."""
    assert rule_stub(math.hypot).startswith("@rl.rrule_for(math.hypot)")
    assert rule_stub(np.sin, name="np.sin", magic=True).startswith("%%rrule np.sin\ndef sin_rrule(")


def test_the_stub_of_a_ufunc_has_its_inputs():
    """A rule gets what is passed by position; `out=` and the like are no inputs."""
    stub = rule_stub(np.arctan2, name="np.arctan2")
    assert "def arctan2_rrule(x1, x2):" in stub and "y = np.arctan2(x1, x2)" in stub
