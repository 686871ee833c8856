"""The rules for NumPy and Python against a second witness, which shares neither code nor rounding with NumPy,
nor a derivation with the rules: the functions themselves, of numbers with fifty digits.
"""

import heapq
import math
import warnings

import numpy as np
import pytest
from numpy.lib import scimath

pytest.importorskip("mpmath")

from exact_functions import DEFINITIONS  # noqa: E402
from exact_numbers import exact  # noqa: E402
from exact_oracle import Program, Unknown, check_first, check_second, forms_at, takes  # noqa: E402
from forms import REFUSED  # noqa: E402
from rule_points import Case, at_each, by_function  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.rulesets.catalogue import tables  # noqa: E402

FORMS = 4  # points of each function that are tried in every form
BEYOND = {(np.einsum, "empty")}  # NumPy reads beyond an array in which one letter has the lengths 0 and 3


def is_beyond(target, form):
    return any(target is function and form == name for function, name in BEYOND)


def varying_cases():
    """The points of all tables at which numbers vary."""
    every = [Case(table, "rrule", *point) for table in tables() for point in table.points]
    return by_function([case for case in every if Program(case.target, case.args, case.kwargs).places])


CASES = varying_cases()
_V, _M = np.array([1.3, 0.6, 1.9, 2.4]), np.array([[1.3, 0.6, 1.9], [0.7, 2.1, 1.2]])
_W = np.array([0.45, 0.85, 1.15])
CHAINED = (np.remainder, np.fmod, np.heaviside, np.floor_divide, np.float_power, np.hypot, np.logaddexp2,
           np.copysign, np.subtract, np.divide)  # fmt: skip
FURTHER = [
    *[(ufunc.outer, (_V, _W)) for ufunc in CHAINED],
    *[(ufunc.reduce, (_V,)) for ufunc in CHAINED],
    *[(ufunc.reduce, (_M, 1)) for ufunc in CHAINED],
    *[(ufunc.accumulate, (_V,)) for ufunc in (*CHAINED, np.power, np.arctan2)],
    *[(ufunc.reduceat, (_V, [0, 2])) for ufunc in (*CHAINED, np.power, np.arctan2)],
    *[(f, (_V,)) for f in (scimath.sqrt, scimath.log, scimath.log2, scimath.log10)],
    *[(f, (-_V,)) for f in (scimath.sqrt, scimath.log, scimath.log2, scimath.log10)],
    *[(f, (size * _V,)) for f in (scimath.arccos, scimath.arcsin) for size in (0.3, 0.9)],
    (scimath.arctanh, (_V,)), (scimath.logn, (2.5, -_V)), (scimath.power, (-_V, 2.5)),
    (np.union1d, (_V, _M)), (np.setxor1d, (_V, _W)), (np.unwrap, (3 * _V,)),
    (np.piecewise, (_V, [_V < 1, _V >= 1], [0.5, 2.5])), (np.apply_along_axis, (np.cumsum, 1, _M)),
    (np.linspace, (0.5, 2.5, 5)), (np.logspace, (0.5, 1.5, 4)), (np.geomspace, (0.5, 2.5, 4)),
    (math.fsum, ([0.5, 1.5],)), (math.prod, ([0.5, 1.5],)), (sum, ([0.5, 1.5],)), (sorted, ([2.5, 1.5],)),
    (max, (1.5, 2.5)), (min, ([1.5, 2.5],)), (divmod, (5.5, 2.25)), (pow, (1.5, 2.5)),
    (np.divmod, (_V, 0.45)), (np.i0, (_V,)), (np.real_if_close, (_V,)), (np.append, (_V, _M)),
    (heapq.nsmallest, (2, [1.5, 2.5, 0.5])), (heapq.nlargest, (2, [1.5, 2.5, 0.5])),
    (np.lib.stride_tricks.as_strided, (_V, (2, 2), (8, 8))),
]  # fmt: skip
"""Calls of what has no points in a table: stand-ins, and chains of functions that jump."""


def shown(call):
    target, args = call
    of = getattr(target, "__self__", None)
    return f"{getattr(of, '__name__', '')}.{target.__name__}{np.shape(args[0])}"


# What is drawn is moved and scaled: a function of what the same seed gives for the standard distribution.
DRAWS = {
    "normal": ((0.3, 1.7), "standard_normal", lambda z, loc, scale: loc + scale * z),
    "laplace": ((0.3, 1.7), "laplace", lambda z, loc, scale: loc + scale * z),
    "logistic": ((0.3, 1.7), "logistic", lambda z, loc, scale: loc + scale * z),
    "gumbel": ((0.3, 1.7), "gumbel", lambda z, loc, scale: loc + scale * z),
    "exponential": ((1.7,), "exponential", lambda z, scale: scale * z),
    "rayleigh": ((1.7,), "rayleigh", lambda z, scale: scale * z),
    "uniform": ((0.3, 1.7), "random", lambda z, low, high: low + (high - low) * z),
    "lognormal": ((0.3, 0.7), "standard_normal", lambda z, mean, sigma: np.exp(mean + sigma * z)),
}
SOURCES = {"Generator": np.random.default_rng, "RandomState": np.random.RandomState}


def drawing(source, name):
    """A function that draws four numbers with a seed, by the name of a method."""
    return lambda *of: getattr(source(3), name)(*of, size=4)


def quietly(check):
    """A check at points where NumPy warns."""

    def checked(case):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            check(case)

    return checked


def program(case):
    return Program(case.target, case.args, case.kwargs)


def first_order(case):
    check_first(program(case))


def both_orders(case):
    one = program(case)
    check_second(one, *check_first(one))


def all_forms(case):
    """What the function takes in a form is right in it, or refused."""
    failed = []
    for form, args in forms_at(case.args):
        one = Program(case.target, args, case.kwargs)
        try:
            if not is_beyond(case.target, form) and one.places and takes(one):
                check_first(one)
        except (Unknown, *REFUSED):
            continue  # that there are numbers of the usual form is asserted above
        except Exception as error:
            failed.append(f"{form}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


def test_no_table_is_left_out():
    """There is an exact number for each function with points, in each table."""
    assert len(CASES) >= 480 and sum(len(points.cases) for points in CASES) >= 3000


@pytest.mark.every(4)
@pytest.mark.parametrize("points", CASES, ids=str)
def test_both_modes_agree_with_exact_numbers(points):
    """The value, the tangent and the cotangents, to ten digits; of short floats to four."""
    at_each(points, quietly(first_order))


@pytest.mark.every(40, slow=True)
@pytest.mark.parametrize("points", CASES, ids=str)
def test_the_second_order_agrees_with_exact_numbers(points):
    """In all orders of two modes."""
    at_each(points, quietly(both_orders))


@pytest.mark.every(40, slow=True)
@pytest.mark.parametrize("points", CASES, ids=str)
def test_each_form_agrees_with_exact_numbers(points):
    """Short floats, gaps between numbers, none, no axis, one more axis, a stack, complex numbers."""
    few = points._replace(cases=points.cases[:FORMS])
    at_each(few, quietly(all_forms))


@pytest.mark.every(30, slow=True)
@pytest.mark.parametrize("call", FURTHER, ids=shown)
def test_what_has_no_points_agrees_with_exact_numbers(call):
    """In both modes and all orders of them."""
    quietly(both_orders)(Case(None, "rrule", *call, {}))


@pytest.mark.every(8)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", DRAWS)
def test_draws_agree_with_exact_numbers(source, name, monkeypatch):
    """They are functions of their parameters and of what was drawn."""
    args, standard, made = DRAWS[name]
    target, z = drawing(SOURCES[source], name), drawing(SOURCES[source], standard)()
    monkeypatch.setitem(DEFINITIONS, target, lambda *of: made(exact(z), *map(exact, of)))
    both_orders(Case(None, "rrule", target, args, {}))


@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-8, -1.0])
def test_a_wrong_rule_is_caught(factor):
    """Though it be wrong in the ninth digit."""

    def f(x):
        return np.sum(x * x * x)

    rl.rrule_for(f)(lambda x: (f(x), lambda y_bar: (rl.NoTangent(), factor * 3 * x * x * y_bar)))
    one = Program(f, (np.array([0.5, -1.25, 2.0]),), {})
    if factor == 1.0:
        check_first(one)
        return
    with pytest.raises(AssertionError):
        check_first(one)
