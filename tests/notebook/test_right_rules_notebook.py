"""The fourth notebook, run from top to bottom: each wrong rule is named, each right one passes."""

import pytest

from .ran import check_clean, check_stored

FILE = "notebooks/04-is-this-rule-right.ipynb"
WRONG = {
    "addone-check": "is wrong: ignores its cotangent",
    "squared-printed": "Check: wrong: ignores its cotangent",
    "jclock-printed": "Check: wrong: off by a factor x",
    "transposed-check": "has something transposed",
    "product": "Check: wrong: has a product of matrices for an elementwise one",
    "swapped": "Check: wrong: swaps the cotangents of a and b",
    "sign": "Check: wrong: has the wrong sign, in the cotangent of b",
    "size": "Check: wrong: is made for one size",
    "branch": "Check: wrong: wrong where x < 0",
    "conjugate": "Check: wrong: lacks a conjugate",
    "term": "Check: wrong: lacks a term",
    "shared": "shares memory with A_bar",
    "repeated-check": "takes a mean where the axis along which it was repeated is to be summed",
    "gradient-wrong": "The gradient of wrong_loss is wrong",
    "tests-wrong": "is wrong: swaps the cotangents of a and b",
}
"""The cells of wrong rules, and what is said of each."""
RIGHT = ("addone-right", "squared-right", "jclock-right", "domain-check", "gradient-right")


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


@pytest.mark.parametrize("cell", WRONG)
def test_a_wrong_rule_is_named(ran, cell):
    """By its mistake, with the cell and the line of it."""
    assert WRONG[cell] in ran.text(cell)
    assert "cell In [" in ran.text(cell)


@pytest.mark.parametrize("cell", RIGHT)
def test_a_right_rule_passes(ran, cell):
    """The corrections of the printed rules among them."""
    assert "right at " in ran.text(cell)


def test_the_text_prints_what_the_wrong_rule_gives(ran):
    """Right with the cotangent 1, wrong inside of something else."""
    assert ran.text("addone-gradient") == "(array([1., 1., 1.]),)" == ran.text("addone-inside")


@pytest.mark.parametrize("cell", ["addone-check", "transposed-check", "repeated-check"])
def test_a_correction_that_was_tried_is_shown(ran, cell):
    """As a diff, in text and HTML."""
    assert "corrected, and right at every point of this check" in ran.text(cell)
    assert "rulelab-plus" in ran.html(cell)


def test_a_report_fits_on_a_screen(ran):
    """Each of those at length."""
    assert all(len(ran.text(cell).splitlines()) <= 30 for cell in ran.cells)
