"""Elliptic, hypergeometric and zeta functions: their slopes, what is special about them, and wrong ones."""

import pytest

pytest.importorskip("scipy.special")

from special_rows import (  # noqa: E402
    check_curvatures,
    check_curvatures_of_mpmath,
    check_forms,
    check_modes,
    check_mpmath,
    check_slopes,
    missed_mistakes,
    most_that_are_none,
    name_of_row,
    rows,
)

ROWS = rows("scipy_elliptic")


@pytest.mark.parametrize("row", ROWS, ids=name_of_row)
def test_slopes_in_both_modes_and_of_all_forms(row):
    """Each slope is what the values of SciPy's function show, for numbers and arrays of any form."""
    check_slopes(row)
    check_modes(row)
    check_forms(row)


@pytest.mark.every(4)
@pytest.mark.parametrize("row", ROWS, ids=name_of_row)
def test_slopes_are_those_of_mpmath(row):
    """Each slope has ten digits of that of another implementation of the function."""
    check_mpmath(row)


@pytest.mark.every(5)
@pytest.mark.parametrize("row", ROWS, ids=name_of_row)
def test_second_derivatives(row):
    """The derivatives of the slopes are what the slopes show."""
    check_curvatures(row)


@pytest.mark.campaign
@pytest.mark.parametrize("row", ROWS, ids=name_of_row)
def test_second_derivatives_are_those_of_mpmath(row):
    """And those of another implementation."""
    check_curvatures_of_mpmath(row)


@pytest.mark.parametrize("row", ROWS, ids=name_of_row)
def test_ten_mistakes_are_caught(row):
    """A sign, a factor, a constant, another point: none passes the check of the slopes."""
    missed, none = missed_mistakes(row)
    assert not missed and len(none) <= most_that_are_none(row)
