"""A matrix that has a limit of time is right as far as it goes, and nan beyond."""

from __future__ import annotations

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad.allowance import Allowance
from rulelab.ad.matrices import hessian_within, jacobian_within


class Clock:
    """A second passes with each look."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def f(x, z):
    return np.sin(x) * np.sum(x) + z**2


X, Z = np.array([1.0, 2.0, 3.0]), np.array([1 + 1j, 2.0, 3j])


@pytest.mark.parametrize("mode, parts", [("reverse", "rows"), ("forward", "columns")])
def test_what_is_there_is_right_and_the_rest_is_nan(mode, parts):
    """Of real and complex arguments, whichever way it goes."""
    whole = rl.jacobian(f, X, Z, mode=mode)
    allowance = Allowance(2.5, Clock())
    found = jacobian_within(allowance, f, (X, Z), {}, mode).grad
    assert allowance.is_partial and allowance.words.startswith("partial, at the limit of 2.5 s: 2 of ")
    assert f" {parts}; the others are nan" in allowance.words
    there = [(np.isfinite(part)) for part in found]
    for part, is_there, right in zip(found, there, whole, strict=True):
        assert np.array_equal(part[is_there], right[is_there])
    assert sum(np.any(is_there, axis=0 if parts == "columns" else 1).sum() for is_there in there) == (
        2 if parts == "columns" else 4
    )


def test_without_a_limit_it_is_the_whole():
    """And nothing is said."""
    allowance = Allowance(None)
    found = hessian_within(allowance, lambda x: np.sum(x**3), X, {}, None)
    assert np.array_equal(found, rl.hessian(lambda x: np.sum(x**3), X)) and allowance.words == ""


def test_what_is_not_holomorphic_is_refused_before_the_end_too():
    """A part that is nan hides no such thing in the others."""
    with pytest.raises(rl.NotDifferentiableError, match="not holomorphic"):
        jacobian_within(Allowance(2.5, Clock()), np.conj, (Z,), {}, "reverse")


def test_ctrl_c_keeps_the_parts_that_are_whole():
    """Before the first one there is nothing to keep."""
    calls = []

    def stopping(x):
        return x * x

    @rl.rrule_for(stopping)
    def stopping_rrule(x):
        def stopping_pullback(y_bar):
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return rl.NoTangent(), 2 * x * y_bar

        return x * x, stopping_pullback

    allowance = Allowance(None)
    (J,) = jacobian_within(allowance, stopping, (X,), {}, "reverse").grad
    assert allowance.interrupted and allowance.words == "partial, stopped: 2 of 3 rows; the others are nan"
    assert np.array_equal(J[:2], np.diag(2 * X)[:2]) and np.isnan(J[2]).all()
    calls[:] = [1, 1]
    with pytest.raises(KeyboardInterrupt):
        jacobian_within(Allowance(None), stopping, (X,), {}, "reverse")
    with pytest.raises(KeyboardInterrupt):
        calls[:] = [1, 1]
        rl.jacobian(stopping, X, mode="reverse")
