"""The notebook on structs, implicit parameters and second derivatives, run from top to bottom."""

import re

import pytest

from .ran import NUMBER, check_clean, check_stored

pytestmark = pytest.mark.slow  # a whole notebook; the first one is run with the suite

FILE = "notebooks/06-structs-and-second-derivatives.ipynb"


def off_by(ran, cell):
    """Every difference that a cell shows."""
    found = re.findall(r"off by (\S+)", ran.text(cell))
    assert found, cell
    return [float(number) for number in found]


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


@pytest.mark.parametrize(
    "cell",
    [
        "callable-by-x",
        "changing-counter",
        "second-nested",
        "jacobian-products",
        "hessian-check",
        "mutation-forward",
        "mutation-buffer",
    ],
)
def test_every_number_is_what_it_should_be(ran, cell):
    """By finite differences, or by the formula."""
    assert max(off_by(ran, cell)) < 1e-7


def test_the_gradient_has_the_fields_of_the_object(ran):
    """None for the name of the layer; the nested ones inside it."""
    shown = ran.text("dense")
    assert shown.startswith("Dense(w=") and "name=None" in shown
    assert "'b':" in ran.text("nested-model")


def test_the_caller_sees_the_change(ran):
    """The object took ten steps."""
    assert "the caller sees: 10 steps" in ran.text("changing-counter")


@pytest.mark.parametrize("cell", ["training-explicit", "training-implicit"])
def test_training_fits_the_sine(ran, cell):
    """The error falls at each line that is shown, to about that of the noise."""
    lines = filter(None, ran.text(cell).splitlines())  # what is printed comes in several pieces
    values = [float(line.split()[-1]) for line in lines]
    assert len(values) == 5 and values == sorted(values, reverse=True) and values[-1] < 0.006


def test_both_styles_end_at_the_same_parameters(ran):
    """They do the same arithmetic."""
    assert ran.text("training-same").strip() == "the same parameters: True"


def test_the_magics_show_matrices(ran):
    """`%jacobian` and `%hessian`, beside what the functions give."""
    assert "1.755" in ran.text("jacobian-magic") and "-0.958" in ran.text("jacobian-magic")
    assert "1330" in ran.text("hessian-magic") and "200" in ran.text("hessian-magic")
    numbers = [float(n) for n in NUMBER.findall(ran.text("jacobian-check"))]
    assert numbers[0] == pytest.approx(2.0) and numbers[1] == 2.0
    assert "reverse over reverse agrees: True" in ran.text("hessian-check")


def test_newton_and_conjugate_gradients_arrive(ran):
    """At (1, 1), and where the gradient is zero."""
    assert ran.text("newton").strip().endswith("minimum at [1. 1.]")
    assert ran.number("hvp") < 1e-8


def test_the_marks_do_what_they_say(ran):
    """Clipped at one; a constant divisor; the same numbers with less memory."""
    assert "clipped: [0.004 1.    1.   ]" in ran.text("marks-hook")
    assert "[0.125 0.25  0.5  ]" in ran.text("marks-ignore") and "equal: True" in ran.text("marks-ignore")


def test_the_write_is_refused_with_its_line(ran):
    """And the calls that lead there."""
    shown = ran.text("mutation-refused")
    assert shown.startswith("MutationError: Mutating arrays is not supported") and "g_inner" in shown
