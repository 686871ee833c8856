"""The checker itself: each kind of wrong rule is caught."""

import numpy as np
import pytest
from rule_points import cases, check

from rulelab.rules.rule_table import RuleTable
from rulelab.tangents.zeros import NoTangent, ZeroTangent

X, Y = np.array([0.3, -1.2]), np.array([2.0, 0.5])
KEPT = []


def product(x, y):
    return x * y


def right(x, y, y_bar):
    return NoTangent(), y * y_bar, x * y_bar


def overwrites(x, y, y_bar):
    y_bar *= 2.0
    return NoTangent(), y * y_bar / 2, x * y_bar / 2


def remembers(x, y, y_bar):
    KEPT.append(1)
    return NoTangent(), len(KEPT) * y * y_bar, x * y_bar


WRONG = {
    "factor": lambda x, y, s: (NoTangent(), 2 * y * s, x * s),
    "swapped": lambda x, y, s: (NoTangent(), x * s, y * s),
    "seed ignored": lambda x, y, s: (NoTangent(), 1.0 * y, 1.0 * x),
    "affine": lambda x, y, s: (NoTangent(), y * s + 1e-3, x * s),
    "no function cotangent": lambda x, y, s: (y * s, x * s),
    "zero": lambda x, y, s: (NoTangent(), ZeroTangent(), x * s),
    "dropped": lambda x, y, s: (NoTangent(), y * s, NoTangent()),
    "none": lambda x, y, s: (NoTangent(), y * s, None),
    "shape": lambda x, y, s: (NoTangent(), (y * s)[:, None], x * s),
    "complex": lambda x, y, s: (NoTangent(), y * s + 0j, x * s),
    "view of an argument": lambda x, y, s: (NoTangent(), y * s, x[:]),
    "one buffer twice": lambda x, y, s: (NoTangent(), s, s),
    "overwrites its seed": overwrites,
    "remembers": remembers,
}


def table_with(pull):
    table = RuleTable("wrong")

    @table.rrule(product, leading=2, points=[(X, Y)])
    def product_rrule(x, y):
        return x * y, lambda y_bar: pull(x, y, y_bar)

    return table


def test_a_right_rule_passes():
    """The checker has no complaint about the product rule."""
    for case in cases(table_with(right)):
        check(case)


@pytest.mark.parametrize("pull", WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_caught(pull):
    """Whatever is wrong with a rule, its check points say so."""
    with pytest.raises((AssertionError, ValueError)):
        for case in cases(table_with(pull)):
            check(case)


def test_a_rule_that_writes_its_arguments_is_caught():
    """Arguments are read-only while a rule runs."""
    table = RuleTable("wrong")

    @table.rrule(product, leading=2, points=[(X, Y)])
    def product_rrule(x, y):
        out = x * y
        x += 1.0
        return out, lambda y_bar: right(x - 1.0, y, y_bar)

    with pytest.raises(ValueError, match="read-only"):
        check(cases(table)[0])


def test_a_wrong_pushforward_is_caught():
    """Forward rules are held to the same numbers."""
    table = table_with(right)

    @table.frule(product)
    def product_frule(tangents, x, y):
        return x * y, tangents[1] * y

    with pytest.raises(AssertionError):
        for case in cases(table):
            check(case)


def test_a_kink_is_not_passed_over():
    """Where finite differences do not settle, the checker says so instead of passing."""
    table = RuleTable("kink")
    table.scalar(np.reciprocal, lambda out, x: 0.0, points=[(0.0,)])
    with pytest.raises(AssertionError, match="settle|primal|equal"):
        check(cases(table)[0])
