"""What a rule answers is compared number by number, with itself elsewhere and with differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.portability.answers import NotSingle, answer_at, apart, in_single, off_differences
from rulelab.rules.registry import Registry

from . import leaving_rules


@pytest.mark.parametrize("name", sorted({"energy", "power", "product", "softplus"} & set(leaving_rules.AT)))
def test_an_answer_is_what_differences_say(name):
    """Of structs, complex numbers and arrays; and a wrong number is seen."""
    f, args = getattr(leaving_rules, name), leaving_rules.AT[name]
    answer = answer_at(f, args)
    assert off_differences(f, args, {}, answer) < 1e-9
    wrong = type(answer)(answer.value, (answer.derivative[0] + 0.01, *answer.derivative[1:]), answer.judged)
    assert off_differences(f, args, {}, wrong) > 1e-4


def test_forward_answers_too():
    """For one tangent of all arguments."""
    pytest.importorskip("scipy.special")
    args = leaving_rules.AT["softplus"]
    answer = answer_at(leaving_rules.softplus, args, mode="frule")
    assert off_differences(leaving_rules.softplus, args, {}, answer, "frule") < 1e-9


def test_what_a_rule_holds_fixed_is_not_measured():
    """NoTangent for an argument says that it has no derivative here."""

    def scaled(x, k):
        return k * x

    registry = Registry()

    @rl.rrule_for(scaled, registry=registry)
    def scaled_rrule(x, k):
        return k * x, lambda y_bar: (rl.NoTangent(), k * y_bar, rl.NoTangent())

    answer = answer_at(scaled, (2.0, 3.0), registry=registry)
    assert answer.judged == (True, False) and off_differences(scaled, (2.0, 3.0), {}, answer) < 1e-9


def test_where_there_is_no_slope_nobody_can_say():
    """Outside the domain, differences find nothing."""

    def log(x):
        return math.log(x)

    registry = Registry()
    rl.scalar_rule(log, lambda out, x: 1 / x, registry=registry)
    answer = answer_at(log, (1.0,), registry=registry)
    assert math.isnan(off_differences(log, (-1.0,), {}, answer))


def test_numbers_are_apart_relative_to_the_largest():
    """What is not a number has to be the same; shapes too."""
    assert apart([1e-12, 1.0], [0.0, 1.0]) == 1e-12 and apart([0.0], [0.0]) == 0.0
    assert apart([math.inf, math.nan], [math.inf, math.nan]) == 0.0
    assert apart([math.inf], [-math.inf]) == apart([1.0], [math.nan]) == apart([1.0], [1.0, 2.0]) == math.inf


def test_single_precision_is_that_of_every_number():
    """Whole numbers and flags stay; what holds numbers and is no plain container has no such counterpart."""
    x, k, parts = in_single((np.ones(2), 3, {"z": 1j, "flag": True}))
    assert x.dtype == np.float32 and k == 3 and parts["z"].dtype == np.complex64 and parts["flag"] is True
    with pytest.raises(NotSingle, match="Spring"):
        in_single((leaving_rules.Spring(1.0),))


def test_a_slope_of_nothing_is_not_taken_for_rounding():
    """Nor rounding for a slope: steps have the slope 0, which differences see to the last digits."""

    def steps(x):
        return np.floor(x) + 0.0 * x

    registry = Registry()
    rl.scalar_rule(steps, lambda out, x: 0.0 * x, registry=registry)
    x = np.array([-2.25, 0.328125, 0.7])
    assert off_differences(steps, (x,), {}, answer_at(steps, (x,), registry=registry)) < 1e-9


def test_an_argument_that_is_meant_symmetric_is_moved_so():
    """Of a function that reads one triangle, both say the same among symmetric matrices alone."""

    def largest(a):
        return np.linalg.eigvalsh(a)[-1]

    registry = Registry()

    @rl.rrule_for(largest, registry=registry)
    def largest_rrule(a):
        w, v = np.linalg.eigh(a)
        return w[-1], lambda y_bar: (rl.NoTangent(), y_bar * np.outer(v[:, -1], v[:, -1]))

    a = np.array([[2.0, 0.5], [0.5, -1.0]])
    answer = answer_at(largest, (a,), registry=registry)
    assert off_differences(largest, (a,), {}, answer, symmetric=(0,)) < 1e-9
    assert off_differences(largest, (a,), {}, answer) > 1e-2
