"""The points at which a rule is asked are those where something may happen."""

from fractions import Fraction

import numpy as np

from rulelab.symbolic import boundary, prove
from rulelab.symbolic.scalars import Trace
from rulelab.symbolic.special_points import MAX_POINTS, linear_form, special_points
from rulelab.tangents.zeros import NoTangent


def points_of(monkeypatch, f, slopes, **options):
    """The points that were tried for a right rule of `f`."""
    found = []

    def noting(names, visits):
        found.extend(special_points(names, visits))
        return found

    monkeypatch.setattr(boundary, "special_points", noting)
    monkeypatch.delattr("os.fork")  # so that the check runs here
    prove(f, lambda *xs: (f(*xs), lambda b: (NoTangent(), *(s(b, *xs) for s in slopes))), **options)
    return found


def test_numbers_are_tried_at_zero_one_and_where_they_are_compared(monkeypatch):
    """0, 1 and -1 are tried, the constant of a comparison, and where two arguments tie."""

    def f(x, z):
        return (x if 2 * x < z + 1 else 3 * x) + (z if z > 0.7 else 2 * z)

    slopes = (
        lambda b, x, z: b * (1.0 if 2 * x < z + 1 else 3.0),
        lambda b, x, z: b * (1.0 if z > 0.7 else 2.0),
    )
    found = points_of(monkeypatch, f, slopes)
    assert {Fraction(0), Fraction(1), Fraction(-1)} <= {x for x, _ in found}
    assert any(z == Fraction(7, 10) for _, z in found)
    assert any(2 * x == z + 1 for x, z in found)
    assert len(found) == len(set(found)) <= MAX_POINTS


def test_arrays_are_tried_with_zeros_and_ties(monkeypatch):
    """All zeros, one zero, all equal, and the largest twice."""
    slopes = (lambda b, a: b * np.eye(len(a))[np.argmax(a)],)
    found = points_of(monkeypatch, lambda a: np.max(a), slopes, at=np.array([1.0, 3.0, 2.0]))
    entries = {tuple(map(float, a.entries)) for (a,) in found}
    assert {(0, 0, 0), (0, 3, 2), (1, 1, 1), (1, 3, 3)} <= entries


def test_floats_hold_the_points_exactly(monkeypatch):
    """A tie of fractions is a tie of floats, so the plain run sees it too."""
    slopes = (lambda b, a: b * np.eye(len(a))[np.argmax(a)],)
    for (a,) in points_of(monkeypatch, lambda a: np.max(a), slopes):
        assert all(Fraction(float(v)) == v for v in a.entries)


def test_linear_forms_are_seen_through_arithmetic():
    """Sums, differences and multiples are followed; what is not linear has no form."""
    trace = Trace()
    x, z = trace.argument("x", Fraction(1, 2)), trace.argument("z", Fraction(3))
    assert linear_form((2 * x - z) / 4 + 1) == {"x": Fraction(1, 2), "z": Fraction(-1, 4), None: Fraction(1)}
    assert linear_form(-(x - x)) == {}
    assert linear_form(x * z) is None and linear_form(1 / x) is None and linear_form(x**2) is None
