"""Functions of NumPy made of others: sets, functions of positions, counts, complex numbers at need."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ForeignCallError, NotDifferentiableError
from rulelab.rulesets.numpy_others import REFUSED

A, B = np.array([0.3, 1.2, 0.7, 1.2]), np.array([0.7, 2.1, 0.3])

CALLS = {
    "union1d": lambda a: np.union1d(a, B),
    "union1d of lists": lambda a: np.union1d([a[0], 5.0], [a[1] * 2]),
    "intersect1d": lambda a: np.intersect1d(a * 2, B * 2),
    "setxor1d": lambda a: np.setxor1d(a, B[1:]),
    "fromfunction": lambda a: np.fromfunction(lambda i, j: a[0] * i + a[1] * j**2, (2, 3)),
    "emath.sqrt": lambda a: np.real(np.emath.sqrt(a - 1) * (1 + 2j)),
    "emath.log": lambda a: np.real(np.emath.log(a - 1) * (1 + 2j)),
    "emath.log2": lambda a: np.emath.log2(a),
    "emath.log10": lambda a: np.imag(np.emath.log10(a - 1) * (1 + 2j)),
    "emath.arccos": lambda a: np.imag(np.emath.arccos(a) * (1 + 2j)),
    "emath.arcsin": lambda a: np.real(np.emath.arcsin(a / 2)),
    "emath.arctanh": lambda a: np.real(np.emath.arctanh(a) * (1 + 2j)),
    "emath.logn": lambda a: np.real(np.emath.logn(2.5, a - 1) * (1 + 2j)),
    "emath.power": lambda a: np.real(np.emath.power(a - 1, 1.5) * (1 + 2j)),
}


@pytest.mark.parametrize("name", CALLS)
def test_slopes_in_both_modes(name):
    """What the values of NumPy's function show, with the very value."""
    f, step = CALLS[name], 1e-6
    at = np.array([0.31, 1.2, 0.72, 1.4]) if name != "intersect1d" else A

    def total(a):
        return np.sum(f(a) * np.cos(np.arange(np.size(f(at))).reshape(np.shape(f(at))) + 1.0))

    y, (bar,) = rl.withgradient(total, at)
    assert y == total(at)
    assert rl.pushforward(total, at)(np.ones(4)) == pytest.approx(np.sum(bar), rel=1e-12)
    if name == "intersect1d":  # only values that are alike stay in it
        assert bar.tolist() == pytest.approx([2 * np.cos(1.0), 0.0, 2 * np.cos(2.0), 0.0])
        return
    for k, e in enumerate(np.eye(4) * step):
        assert bar[k] == pytest.approx((total(at + e) - total(at - e)) / (2 * step), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    "count",
    [
        lambda a: np.histogram2d(a, a, bins=3, range=[[0, 2], [0, 2]])[0],
        lambda a: np.histogramdd(np.stack([a, a], axis=1), bins=[np.arange(3.0), np.arange(3.0)])[0],
        lambda a: np.histogram_bin_edges(a, range=(0, 1)),
        lambda a: np.array(np.isfortran(a)),
    ],
)
def test_counts_between_given_edges_are_constant(count):
    """In both modes; with edges that are made of the data they are refused."""
    slope = rl.gradient(lambda a: np.sum(count(a) * 2.0 + a[0]), A)[0]
    assert slope.tolist() == [float(np.size(count(A))), 0.0, 0.0, 0.0]
    assert rl.pushforward(lambda a: np.sum(count(a)), A)(np.ones(4)) in (None, 0.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.histogram2d(a, a)[0],
        lambda a: np.histogramdd(a[:, None])[0],
        lambda a: np.histogram_bin_edges(a),
        lambda a: np.histogram2d(a, a, range=[[0, 2], [0, 2]], weights=a)[0],
        lambda a: np.intersect1d(a, B, return_indices=True)[0],
    ],
)
def test_what_depends_on_the_data_otherwise_is_refused(f):
    """By a typed error."""
    with pytest.raises(NotDifferentiableError, match=r"np\.|histogram"):
        rl.gradient(lambda a: np.sum(f(a)), A)


def test_what_is_refused_is_so_by_name():
    """A foreign call with its name, for each reason a different way out."""
    for name in ("poly", "kaiser", "asmatrix"):
        assert name in REFUSED
    with pytest.raises(ForeignCallError, match="poly"):
        rl.gradient(lambda a: np.sum(np.poly(a)), A)
    with pytest.raises(ForeignCallError, match="kaiser"):
        rl.gradient(lambda b: np.sum(np.kaiser(5, b)), 2.0)
