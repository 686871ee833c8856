"""Entropies, the logistic function, losses, Box-Cox transforms, powers: their slopes, and wrong ones."""

import numpy as np
import pytest

special = pytest.importorskip("scipy.special")

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

import rulelab as rl  # noqa: E402

ROWS = rows("scipy_logarithms")


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


@pytest.mark.every(3)
@pytest.mark.parametrize("row", ROWS, ids=name_of_row)
def test_ten_mistakes_are_caught(row):
    """A sign, a factor, a constant, another point: none passes the check of the slopes."""
    missed, none = missed_mistakes(row)
    assert not missed and len(none) <= most_that_are_none(row)


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (special.entr, -np.inf),
        (lambda x: special.xlogy(x, x), np.inf),
        (lambda x: special.gammainc(0.5, x), -np.inf),
    ],
)
def test_an_infinite_second_derivative_is_infinite_forwards_too(f, wanted):
    """Forward over forward, as in the other ways."""
    x, one = np.float64(0.0), np.float64(1.0)
    with np.errstate(all="ignore"):
        assert rl.pushforward(lambda x: rl.pushforward(f, x)(one), x)(one) == wanted
        assert rl.hessian(f, x) == wanted
