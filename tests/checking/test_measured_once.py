"""What a check has measured is known where it comes back to the same numbers, and nowhere else."""

import dataclasses

import numpy as np
import pytest

from rulelab.checking.calling.subjects import Subject
from rulelab.checking.probing.probes import Point, truth_at


def counted():
    """A function of a vector and a number, with the arguments of each of its calls."""
    calls = []

    def f(x, k):
        calls.append((x, k))
        return np.sum(np.copysign(x * x, x)) * k

    return Subject("f", f, names=("x", "k")), calls


def measured(subject, point):
    return truth_at(subject, point, np.random.default_rng(0)).slopes


X = np.array([0.7, -1.3, 2.1])
GAPS = np.repeat(X, 2)[::2]


@pytest.mark.parametrize("again", [(X.copy(), 3.0), (GAPS, 3.0), (X.astype(np.float64)[::-1][::-1], 3.0)])
def test_the_same_numbers_are_measured_once(again):
    subject, calls = counted()
    before = measured(subject, Point((X, 3.0)))
    first = len(calls)
    after = measured(subject, Point(again))
    assert len(calls) - first < first / 5
    np.testing.assert_array_equal(before.value, after.value)
    np.testing.assert_array_equal(before.error, after.error)
    np.testing.assert_allclose(after.value, [[*(6.0 * np.abs(X)), np.sum(X * np.abs(X))]], rtol=1e-9)


@pytest.mark.parametrize(
    "other",
    [
        Point((X + np.spacing(X), 3.0)),
        Point((X, np.float64(3.0))),
        Point((X, 4.0)),
        Point((X, 3)),
        Point((X, 3.0), constant=frozenset([1])),
        Point((X, 3.0), bounds=((-9.0, 9.0), (0.0, 4.0))),
        Point((X[None], 3.0)),
    ],
)
def test_other_numbers_kinds_and_limits_are_measured_anew(other):
    subject, calls = counted()
    measured(subject, Point((X, 3.0)))
    first = len(calls)
    found = measured(subject, other)
    assert len(calls) - first > first / 2
    alone = measured(counted()[0], other)
    np.testing.assert_array_equal(found.value, alone.value)
    np.testing.assert_array_equal(found.error, alone.error)


def test_the_sign_of_zero_is_a_number_of_its_own():
    subject, calls = counted()
    measured(subject, Point((np.array([0.0, 1.0]), 3.0)))
    first = len(calls)
    measured(subject, Point((np.array([-0.0, 1.0]), 3.0)))
    assert len(calls) - first > first / 2


def test_another_function_is_measured_anew():
    subject, _ = counted()
    point = Point((X, 3.0))
    measured(subject, point)
    other = dataclasses.replace(subject, primal=lambda x, k: np.sum(x) * k)
    np.testing.assert_allclose(measured(other, point).value, [[3.0, 3.0, 3.0, np.sum(X)]], rtol=1e-9)


def test_one_check_knows_nothing_of_another():
    assert counted()[0].jacobians is not counted()[0].jacobians
