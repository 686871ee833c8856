"""Traced numbers behave like the floats they stand for, and stop rather than forget what they depend on."""

import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic import scalars
from rulelab.symbolic.scalars import (
    CONTEXT,
    IRRATIONALS,
    CannotTrace,
    NoRealValue,
    Trace,
    recognised_constant,
)

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
]


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize(("a", "b"), [(2.5, 0.75), (2.5, -1.25), (7.0, 3.0)])
def test_operators_agree_with_floats(operation, a, b):
    """Every operator gives what it gives for floats, with the number on either side."""
    trace = Trace()
    x, y = trace.argument("x", Fraction(a)), trace.argument("y", Fraction(b))
    for left, right in ((x, y), (x, b), (a, y)):
        result = operation(left, right)
        assert float(getattr(result, "shadow", result)) == pytest.approx(operation(a, b), rel=1e-14)


def test_comparisons_are_decided_by_the_sample_and_written_down():
    """A branch goes the way it goes for the float, and the condition is kept."""
    trace = Trace()
    x = trace.argument("x", Fraction(3, 2))
    assert x > 1 and not x < 1 and x != 2
    assert [d.outcome for d in trace.decisions] == [True, False, True]


def test_a_tie_is_noticed():
    """A sample that sits on a kink is marked, so that nothing is concluded from it."""
    trace = Trace()
    assert not trace.argument("x", Fraction(0)) > 0
    assert trace.equal


def test_machine_numbers_are_refused():
    """C code that asks for a float stops the trace, even below `except Exception`."""
    trace = Trace()
    x = trace.argument("x", Fraction(1, 2))
    with pytest.raises(CannotTrace):
        try:
            math.sin(x)
        except Exception:
            pytest.fail("a handler of the author's must not see it")
    assert isinstance(trace.stop, CannotTrace)


def test_what_has_no_real_value_stops():
    """A power that turns complex is outside the check, a division by zero raises as it does for floats."""
    trace = Trace()
    x = trace.argument("x", Fraction(-2))
    with pytest.raises(NoRealValue):
        x**0.5
    with pytest.raises(ZeroDivisionError):
        1 / (x + 2)


def test_arrays_of_them_go_through_numpy():
    """Object arrays of traced numbers add, multiply and sum elementwise."""
    trace = Trace()
    x = trace.argument("x", Fraction(2))
    y = np.array([1.0, 3.0]) * x
    assert [float(v.shadow) for v in y] == [2.0, 6.0]
    assert float((y @ y).shadow) == 40.0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1 / 3, None),
        (0.1, None),
        (1e-5, None),
        (math.pi / 180, "pi"),
        (math.sqrt(math.pi), "sqrt(pi)"),
        (math.e, "E"),
        (1.7724538509055159, "sqrt(pi)"),
        (0.123456789012345678, None),
    ],
)
def test_constants_stand_for_what_was_meant(value, shown):
    """Floats become the exact number their author wrote: a fraction, or a well-known irrational with a
    note."""
    constant, note = recognised_constant(value)
    assert constant.name == shown
    assert float(constant.shadow()) == pytest.approx(value, rel=4e-16)
    assert (note is None) == (shown is None and value != 0.123456789012345678)


def test_what_the_runs_of_a_proof_share_is_worked_out_once(monkeypatch):
    """An irrational factor and an argument that stands still are met in each of some hundred runs."""
    scalars._irrational.cache_clear()
    scalars.quotient.cache_clear()
    worked_out = []
    monkeypatch.setitem(IRRATIONALS, "1/pi", lambda: worked_out.append(1) or 1 / CONTEXT.pi)
    for _ in range(3):
        made = scalars.Constant(Fraction(2), "1/pi").shadow()
        assert abs(made - 2 / CONTEXT.pi) < CONTEXT.mpf(10) ** -90
        x = Trace().argument("x", Fraction(22, 13))
        assert x.shadow == CONTEXT.mpf(22) / 13
    assert len(worked_out) == 1 and scalars.quotient.cache_info().hits >= 2
    with CONTEXT.workdps(20):
        scalars.Constant(Fraction(2), "1/pi").shadow()
    assert len(worked_out) == 2  # with other digits it is another number


def test_whether_a_traced_number_is_finite_is_not_asked_of_mpmath(monkeypatch):
    """Which takes ten times as long as reading it off the number, at each operation."""
    monkeypatch.setattr(CONTEXT, "isfinite", None)
    trace = Trace()
    assert (trace.argument("x", Fraction(1, 3)) * 3 + 0).shadow != 0
    assert all(scalars.is_finite(CONTEXT.mpf(x)) for x in ("0", "-2"))
    assert not any(scalars.is_finite(CONTEXT.mpf(x)) for x in ("inf", "-inf", "nan"))
