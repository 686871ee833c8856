"""Tests of the `CALLS` of a module and of the mistakes in its `WRONG`, for modules that import them:
`conftest.py` gives each the calls of the module in which it is found.

A mistake is the name of a call, that of a function of the ruleset that the module tests, and another in its
place.
"""

import importlib

import pytest
from forms import faults_in_forms
from library_calls import check_call, check_on_a_circle, check_orders_on_a_circle, check_second_of_call
from numpy.linalg import LinAlgError

from rulelab.errors import RuleLabError


@pytest.mark.every(2)
def test_each_function_agrees_with_differences(first_call):
    """Forwards and backwards."""
    check_call(first_call)


@pytest.mark.every(30)
def test_further_calls_agree_with_differences(further_call):
    """Whatever the options, shapes and kinds of numbers."""
    check_call(further_call)


@pytest.mark.every(4)
def test_an_analytic_function_agrees_with_an_integral_around(first_call):
    """A second witness, to ten digits; of functions that are not analytic there is none of this kind."""
    check_on_a_circle(first_call)


@pytest.mark.every(12)
def test_all_orders_agree_with_an_integral_around(first_call):
    """Of two modes, to seven digits, where the function is analytic."""
    check_orders_on_a_circle(first_call)


@pytest.mark.every(40)
def test_second_derivatives(any_call):
    """The tangent, differentiated backwards."""
    check_second_of_call(any_call)


@pytest.mark.every(25)
def test_each_form_of_arrays(any_call):
    """Short floats, arrays that are strided, empty or without an axis, as far as SciPy takes them."""
    faults = list(faults_in_forms(any_call.function, any_call.args))
    assert not faults, "\n".join(faults)


@pytest.mark.every(2)
def test_a_mistake_is_caught(mistake, request, monkeypatch):
    """A wrong formula does not pass the check."""
    name, wrong, in_its_place = mistake
    ruleset = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    monkeypatch.setattr(importlib.import_module(f"rulelab.rulesets.{ruleset}"), wrong, in_its_place)
    with pytest.raises((AssertionError, RuleLabError, LinAlgError)):
        check_call(next(one for one in request.module.CALLS if one.name == name))
