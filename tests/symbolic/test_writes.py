"""A rule that changes what it was given is refuted, however right its numbers are."""

import numpy as np

from rulelab.symbolic import Proved, Refuted, prove
from rulelab.symbolic.plain_values import first_changed


def squares(x):
    return np.sum(x**2)


def test_a_rule_that_writes_to_its_argument_is_refuted():
    """What the caller holds would be quietly wrong."""

    def rule(x):
        y = np.sum(x**2)
        x *= 2
        return y, lambda y_bar: (None, y_bar * x)

    verdict = prove(squares, rule, at=(np.array([1.0, 2.0, 3.0]),)).verdict
    assert isinstance(verdict, Refuted) and verdict.kind == "effects"
    assert "writes to its argument x" in verdict.sentence()


def test_a_rule_that_writes_to_a_copy_may():
    """Work in place is no fault where nobody sees it."""

    def rule(x):
        doubled = x.copy()
        doubled *= 2
        return np.sum(x**2), lambda y_bar: (None, y_bar * doubled)

    assert isinstance(prove(squares, rule, at=(np.array([1.0, 2.0, 3.0]),)).verdict, Proved)


def test_the_first_changed_argument_is_named():
    """By its position where it has no name."""
    x, y = np.array([1.0, np.nan]), np.array([2.0])
    assert first_changed([x, y], [x.copy(), y.copy()], ("x",)) is None
    assert first_changed([x, y], [x.copy(), y + 1], ("x",)) == "argument 2"
    assert first_changed([x, y], [x + 1, y], ("x",)) == "x"
