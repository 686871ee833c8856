"""Each function of SciPy that has a rule is looked at by two witnesses that share no derivation with it, and
in every form that SciPy takes: complex numbers as well.
"""

import numpy as np
import pytest

pytest.importorskip("scipy.stats")
pytest.importorskip("mpmath")

from forms import arrays_at  # noqa: E402
from implicit_slopes import agree  # noqa: E402
from library_calls import check_on_a_circle, check_orders_on_a_circle  # noqa: E402
from scipy_witnesses import (  # noqa: E402
    CIRCLE,
    SOLUTIONS,
    calls_of,
    has_complex,
    names,
    of_complex,
    of_complex_row,
    row_of_special,
    solution_of,
    stated_name,
    witnesses,
)
from special_rows import TABLES, check_orders, name_of_row  # noqa: E402
from stats_rows import ROWS  # noqa: E402

NAMES = names()
ROWS_OF_SPECIAL = [row for table in TABLES.values() for row in table.rows.values()]
AROUND = [pair for pair in NAMES if CIRCLE in witnesses(*pair)]
OF_FUNCTIONS = "its arguments are functions: arrays are parameters of theirs"
OF_NUMBERS = "it takes numbers alone"
WITHOUT_ARRAYS = dict.fromkeys(
    [("scipy.integrate" if name.startswith(("quad", "dbl", "tpl", "fixed_q", "solve", "odeint")) else
      "scipy.optimize", name) for name in SOLUTIONS],
    OF_FUNCTIONS,
) | dict.fromkeys(
    [
        ("scipy.fft", "fftfreq"),
        ("scipy.fft", "rfftfreq"),
        ("scipy.signal", "savgol_coeffs"),
        *[("scipy.signal.windows", name) for name in
          ("exponential", "gaussian", "general_gaussian", "general_hamming", "kaiser")],
    ],
    OF_NUMBERS,
)  # fmt: skip
BY_SIZE = "it is scaled by the size of a number: there is no complex derivative"
OF_TWO = "the equations of its slopes are those of real numbers: real and imaginary part are two of these"
DROPPED = "SciPy drops imaginary parts, here or there"
REFUSED = {
    **dict.fromkeys([("scipy.special", name) for name in ("airye", "ive", "jve", "yve")], BY_SIZE),
    ("scipy.integrate", "solve_ivp"): OF_TWO,
    ("scipy.optimize", "fixed_point"): OF_TWO,
    ("scipy.optimize", "minimize_scalar"): OF_TWO,
    ("scipy.optimize", "newton"): OF_TWO,
    **dict.fromkeys([("scipy.stats", name) for name in ROWS], DROPPED),
    ("scipy.stats", "multivariate_normal"): DROPPED,
    ("scipy.stats", "dirichlet"): DROPPED,
    ("scipy.stats", "median_abs_deviation"): "complex numbers have no order in which one is in the middle",
}
"""What takes complex numbers, or does not say that it takes none, and is refused for a reason."""


def shown(pair):
    return ".".join(pair)


def test_all_names_are_looked_at():
    """None is forgotten: a name is an elementwise function, has calls, or is that of a solver."""
    assert len(NAMES) >= 390
    lost = [
        shown(pair)
        for pair in NAMES
        if row_of_special(*pair) is None and not calls_of(*pair) and pair[1] not in SOLUTIONS
    ]
    assert lost == []


def test_each_has_two_witnesses():
    """Differences of high order, and mpmath, a definition or an integral around the arguments."""
    assert {shown(pair): found for pair in NAMES if len(found := witnesses(*pair)) < 2} == {}


@pytest.mark.every(12)
@pytest.mark.parametrize("pair", AROUND, ids=shown)
def test_an_integral_around_is_a_witness(pair):
    """Where there is no definition to compare with, the function is analytic, and the integral agrees."""
    assert any(check_on_a_circle(one) for one in calls_of(*pair))


@pytest.mark.every(24)
@pytest.mark.parametrize("pair", AROUND, ids=shown)
def test_an_integral_around_is_a_witness_of_the_second_order(pair):
    """In all orders of two modes."""
    assert any(check_orders_on_a_circle(one) for one in calls_of(*pair))


@pytest.mark.every(24)
@pytest.mark.parametrize("row", ROWS_OF_SPECIAL, ids=name_of_row)
def test_all_orders_of_elementwise_functions_agree(row):
    """One of them is compared with mpmath, beside the slopes of each table."""
    check_orders(row)


@pytest.mark.every(9)
@pytest.mark.parametrize("name", SOLUTIONS)
def test_solutions_agree_with_differences(name):
    """Beside their definitions: integrals, trajectories, roots and minima by all of their parameters."""
    solve, _, (args,), _, within = SOLUTIONS[name]

    def f(a):
        y = solve(a)
        return np.sum(np.cos(np.arange(1.0, 1.0 + np.size(y))) * y)

    assert agree(f, args, 0.02, max(1e-6, 10 * within))


def test_each_is_called_with_arrays():
    """Which the forms make of: short, strided, empty, without an axis, complex."""
    without = [
        pair
        for pair in NAMES
        if row_of_special(*pair) is None and not any(arrays_at(one.args) for one in calls_of(*pair))
    ]
    assert set(without) == set(WITHOUT_ARRAYS)


@pytest.mark.every(40)
@pytest.mark.parametrize("pair", NAMES, ids=shown)
def test_complex_numbers_are_right_or_refused(pair):
    """Where SciPy takes them: in both modes as differences say, or refused for a reason that is stated."""
    row, ones = row_of_special(*pair), calls_of(*pair)
    if pair[1] in SOLUTIONS and not ones:
        ones = [solution_of(pair[1])]
    ones = sorted(ones, key=lambda one: not has_complex(one))[:3]
    found = {of_complex_row(row)} if row is not None else {of_complex(one) for one in ones}
    if pair[0] == "scipy.stats":
        pair = pair[0], stated_name(*pair)
    if "right" not in found:
        assert ("refused" in found) <= (pair in REFUSED), "a refusal without a reason"


def test_what_is_refused_is_known():
    """By the names of functions with a rule."""
    known = {(module, stated_name(module, name)) for module, name in NAMES}
    assert set(REFUSED) <= known
