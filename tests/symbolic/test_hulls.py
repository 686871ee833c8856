"""Distances from convex hulls are those of geometry."""

import numpy as np
import pytest

from rulelab.symbolic.hulls import from_hull, non_negative_least_squares


@pytest.mark.parametrize("seed", range(30))
def test_means_are_inside(seed):
    """A mean of points with any weights is inside their hull, also among many and in a plane."""
    rng = np.random.default_rng(seed)
    points = np.round(rng.normal(size=(rng.integers(1, 30), rng.integers(1, 7))), seed % 4)
    inside = rng.dirichlet(np.ones(len(points))) @ points
    assert from_hull(points, inside)[0] < 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_the_way_leads_to_the_nearest_point(seed):
    """From the end of the way no point of the hull is nearer: all of them are beyond its wall."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(1, 25), rng.integers(1, 6)))
    outside = 5 * rng.normal(size=points.shape[1])
    distance, way = from_hull(points, outside)
    assert distance == pytest.approx(np.linalg.norm(way))
    assert np.all((points - outside - way) @ way >= -1e-8 * (1 + distance) ** 2)


def test_huge_slopes_do_not_overflow():
    """Slopes of 1e205, as a high power has them, are compared by their relative distance."""
    assert from_hull([[8.2e205], [8.2e205]], [8.2e205 * (1 + 1e-12)])[0] < 1e195


def test_the_weights_are_those_of_least_squares_where_none_is_negative():
    """Without a bound that counts the answer is the ordinary least squares'."""
    rng = np.random.default_rng(1)
    matrix, weights = rng.normal(size=(9, 4)), np.array([0.5, 2.0, 0.1, 1.0])
    assert non_negative_least_squares(matrix, matrix @ weights) == pytest.approx(weights)
