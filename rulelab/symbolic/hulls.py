"""The distance of a point from the convex hull of a few others, by non-negative least squares."""

from __future__ import annotations

import numpy as np

ENOUGH = 1e-12  # a gradient of the least-squares problem below this counts as zero


def from_hull(points, point):
    """(distance, way): the distance of `point` from the convex hull of the rows of `points`, and the vector
    that leads from it to the nearest point of the hull.

    >>> distance, way = from_hull([[0.0], [1.0]], [3.0])
    >>> float(round(distance, 6)), way.round(6).tolist()
    (2.0, [-2.0])
    >>> from_hull([[0.0, 1.0], [1.0, 0.0]], [0.5, 0.5])[0] < 1e-9
    True
    """
    away = np.asarray(points, dtype=float) - np.asarray(point, dtype=float)
    scale = np.abs(away).max(initial=0.0)
    if scale == 0 or not away.shape[1]:
        return 0.0, np.zeros(away.shape[1])
    # Weights for which the differences sum to zero and the weights to one: they exist if the point is inside;
    # otherwise the solution, divided by its sum, gives the weights of the nearest point.
    matrix = np.vstack([away.T / scale, np.ones(len(away))])
    weights = non_negative_least_squares(matrix, np.eye(len(matrix))[-1])
    way = weights @ (away / scale) / weights.sum()
    return float(scale * np.linalg.norm(way)), scale * way


def non_negative_least_squares(matrix, target):
    """The x >= 0 that minimizes the distance of `matrix @ x` from `target`, by the active-set method of
    Lawson and Hanson.
    """
    count = matrix.shape[1]
    x, free = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(3 * count):
        gradient = matrix.T @ (target - matrix @ x)
        gradient[free] = -np.inf
        if gradient.max() <= ENOUGH:
            break
        free[gradient.argmax()] = True
        while True:
            trial = np.zeros(count)
            trial[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
            blocked = free & (trial <= 0)
            if not blocked.any():
                break
            reach = np.min(x[blocked] / np.maximum(x[blocked] - trial[blocked], np.finfo(float).tiny))
            x = x + reach * (trial - x)
            free &= x > ENOUGH
            x[~free] = 0
        x = trial
    return x
