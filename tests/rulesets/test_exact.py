"""The rules for NumPy and Python against a second witness, which shares neither code nor rounding with NumPy,
nor a derivation with the rules: the functions themselves, of numbers with fifty digits.
"""

import warnings

import numpy as np
import pytest

pytest.importorskip("mpmath")

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
