"""What a function hands on is seen where it is called."""

import importlib
import inspect
import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import central_fdm, check_vjp, grad_check, test_rrule
from rulelab.shown_options import shows_options_of

PARTS = ("", ".bench", ".checking", ".portability", ".symbolic", ".notebook")


def names_of(f):
    return list(inspect.signature(f).parameters)


def test_no_public_function_hides_its_options():
    """Where `**options` stand for names of ours, Tab offers those."""
    packages = [importlib.import_module(f"rulelab{part}") for part in PARTS]
    public = [getattr(package, name) for package in packages for name in package.__all__]
    functions = [one for one in public if isinstance(one, types.FunctionType)]
    assert len(functions) > 80
    assert [f.__qualname__ for f in functions if "options" in names_of(f)] == []


@pytest.mark.parametrize(
    ("f", "there", "missing"),
    [
        (rl.rule_check, "depth", "names"),
        (test_rrule, "seconds", "mode"),
        (grad_check, "points", "depth"),
        (check_vjp, "by", "registry"),
        (central_fdm, "max_range", "grid"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_what_is_shown_is_taken(f, there, missing):
    """And what is not taken is not shown."""
    assert there in names_of(f) and missing not in names_of(f) and "options" not in names_of(f)


def test_every_option_shown_is_taken_by_a_check():
    """With its default each of them changes nothing."""

    def square(x):
        return x * x

    def square_vjp(x):
        return x * x, lambda y_bar: 2 * x * y_bar

    calls = {test_rrule: (np.sin, 1.0), check_vjp: (square, square_vjp, 1.0), grad_check: (square, 1.0)}
    for f, args in calls.items():
        shown = inspect.signature(f).parameters
        defaults = {name: one.default for name, one in shown.items() if one.kind is one.KEYWORD_ONLY}
        assert f(*args, **defaults)


def test_an_option_of_ones_own_stands_for_that_of_the_other():
    """A name that a function has itself is shown once, as it has it."""

    def drawn(x, *, width=1.0, colour="black"):
        return x, width, colour

    @shows_options_of(drawn)
    def drawn_wide(x, width=2.0, **options):
        return drawn(x, width=width, **options)

    assert str(inspect.signature(drawn_wide)) == "(x, width=2.0, *, colour='black')"
    assert drawn_wide(1, colour="red") == (1, 2.0, "red")
