"""Slopes of special functions and relations between neighbours hold, by mpmath."""

import mpmath
import pytest
import sympy as sp

from rulelab.symbolic import transcendents
from rulelab.symbolic.functions import ELEMENTARY
from rulelab.symbolic.scalars import CONTEXT
from rulelab.symbolic.zerotest import field_zero

POINTS = {
    "elliptic_k": ["0.3"],
    "elliptic_e": ["0.7", "0.3"],
    "elliptic_f": ["0.7", "0.3"],
    "jacobi_am": ["0.7", "0.3"],
    "zeta": ["2.3", "0.7"],
    "expint": ["3", "0.7"],
    "betainc": ["2.3", "1.4", "0.3"],
    "hyp1f1": ["0.7", "1.6", "-0.4"],
    "hyperu": ["0.7", "1.6", "0.4"],
    "polygamma": ["2", "0.7"],
    "hyp2f1": ["0.7", "1.6", "2.3", "-0.7"],
}
OF_ONE = {"LambertW", "Ei", "Si", "Ci", "Shi", "Chi", "fresnels", "fresnelc", "erfi", "spence"}
OF_ONE |= {"airyai", "airybi", "airyaiprime", "airybiprime"}


def point(name):
    return [CONTEXT.mpf(x) for x in POINTS.get(name, ["0.7"] if name in OF_ONE else ["2.3", "0.7"])]


def number(expr, symbols, at):
    """The value of a SymPy expression where its symbols are these numbers, to 40 digits."""
    places = {s: sp.Float(CONTEXT.nstr(x, 60), 60) for s, x in zip(symbols, at, strict=True)}
    return CONTEXT.mpf(str(expr.evalf(45, subs=places)))


def is_near(found, expected):
    return abs(found - expected) <= CONTEXT.mpf(10) ** -35 * max(1, abs(expected))


@pytest.mark.every(3)
@pytest.mark.parametrize("name", transcendents.IN_SYMPY)
def test_closed_slopes_are_the_difference_quotients(name):
    """By each argument for which there is one; by the last one there is always."""
    at = point(name)
    symbols, slopes = transcendents.slopes_of(transcendents.IN_SYMPY[name], len(at))
    assert slopes[-1] is not None
    step = CONTEXT.mpf(10) ** -25
    for i, slope in enumerate(slopes):
        if slope is None:
            continue
        ends = [[x + sign * step * (i == j) for j, x in enumerate(at)] for sign in (1, -1)]
        above, below = (ELEMENTARY[name].evaluate(*xs) for xs in ends)
        assert is_near(number(slope, symbols, at), (above - below) / (2 * step))


@pytest.mark.parametrize("kind", transcendents._NEIGHBOURS)
def test_neighbours_are_related_as_the_table_says(kind):
    """From below and from above."""
    at = [CONTEXT.mpf("3.7")] if kind is sp.gamma else point("expint" if kind is sp.expint else kind.__name__)
    for step in transcendents._NEIGHBOURS[kind][1:]:
        symbols, expr = transcendents.written_out(step, len(at))
        assert is_near(number(expr, symbols, at), number(kind(*symbols), symbols, at))


@pytest.mark.parametrize("kind, order", transcendents._ANOTHER)
def test_what_is_another_function(kind, order):
    """At each order, or at the one that is named."""
    step = transcendents._ANOTHER[kind, order]
    at = [CONTEXT.mpf("0.7") if order is None else CONTEXT.mpf(order), CONTEXT.mpf("1.3")]
    at = at[:1] if kind is sp.gamma else at
    if (kind, order) == (transcendents.gammainc, 0):  # a limit
        at[0] = CONTEXT.mpf(10) ** -40
    symbols, expr = transcendents.written_out(step, len(at))
    assert is_near(number(expr, symbols, at), number(kind(*symbols), symbols, at))


def test_a_relation_is_found_by_the_zero_test_and_a_near_miss_is_none():
    """Three neighbours of a Bessel function; with another factor, or another sign, it is no identity."""
    v, x = sp.symbols("v x")
    three = sp.besselj(v - 1, x) + sp.besselj(v + 1, x)
    assert field_zero(three - 2 * v / x * sp.besselj(v, x))
    assert not field_zero(three - v / x * sp.besselj(v, x))
    assert not field_zero(three + 2 * v / x * sp.besselj(v, x))
    assert not field_zero(three - 2 * v / x * sp.bessely(v, x))
    assert field_zero(sp.exp(sp.LambertW(x)) * sp.LambertW(x) - x)


def test_values_are_not_those_of_mpmaths_functions_of_the_same_names():
    """mpmath's `gammainc` and `betainc` are not regularised: SymPy would take them by their names."""
    value = transcendents.gammainc(sp.Rational(5, 2), sp.Integer(2)).evalf(20)
    assert abs(value - mpmath.gammainc(2.5, 0, 2, regularized=True)) < 1e-14
    value = transcendents.betainc(sp.Integer(2), sp.Integer(3), sp.Rational(1, 3)).evalf(20)
    assert abs(value - mpmath.betainc(2, 3, 0, mpmath.mpf(1) / 3, regularized=True)) < 1e-14
