"""The witness of tests is right where the derivative is known."""

import numpy as np
import pytest

from .differences import gradient_by_differences

X = np.array([0.7, -1.2, 2.1])


def test_of_a_number_and_of_arrays():
    """Each element by itself, in the shape of what was given."""
    assert gradient_by_differences(np.exp, 0.5) == pytest.approx(np.exp(0.5), rel=1e-9)
    assert gradient_by_differences(lambda x: np.sum(x**3), X) == pytest.approx(3 * X**2, rel=1e-8)
    matrix = np.outer(X, X[:2])
    found = gradient_by_differences(lambda m: np.sum(np.sin(m)), matrix)
    assert found == pytest.approx(np.cos(matrix), abs=1e-9)


def test_of_a_complex_array():
    """By the real and by the imaginary part."""
    z = np.array([1 + 2j, -0.5j])
    assert gradient_by_differences(lambda z: np.sum(abs(z) ** 2), z) == pytest.approx(2 * z, abs=1e-8)


def test_values_that_are_arrays():
    """Stacked: the first axes are those of the argument."""
    found = gradient_by_differences(lambda x: x * np.array([2.0, 3.0, 4.0]), X)
    assert found == pytest.approx(np.diag([2.0, 3.0, 4.0]), abs=1e-8)


def test_a_function_that_writes_spoils_nothing():
    """Neither the array of the caller nor the next run."""

    def writing(x):
        x[0] = x[1] * x[1]
        return np.sum(x)

    x = X.copy()
    assert gradient_by_differences(writing, x) == pytest.approx([0.0, 2 * X[1] + 1, 1.0], abs=1e-8)
    assert np.array_equal(x, X)
