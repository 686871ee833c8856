"""Forward mode of what is made of vectors that are defined up to phases only."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import NotDifferentiableError


def hermitian(t):
    return np.array([[1.0, t[0] + 1j * t[1]], [t[0] - 1j * t[1], 2.0]])


def sizes(t):
    return np.sum(np.abs(np.linalg.eigh(hermitian(t))[1]) * np.array([[1.0, 2.0], [-1.0, 4.0]]))


@pytest.mark.parametrize(
    "f",
    [
        lambda t: 1e9 * t[0] ** 2 + 1e-6 * np.imag(np.linalg.eigh(hermitian(t))[1][1, 0]),
        lambda t: 1e5 + 1e-9 * np.imag(np.linalg.eigh(hermitian(t))[1][1, 0]),
        lambda t: np.linalg.eigh(hermitian(t))[1],
        lambda t: [0.0, {"angle": np.angle(np.linalg.eigh(hermitian(t))[1][1, 0])}],
        lambda t: rl.pushforward(lambda t: np.angle(np.linalg.eigh(hermitian(t))[1][1, 0]), t)(np.ones(2)),
    ],
)
def test_forward_mode_sees_a_small_part_that_depends_on_phases(f):
    """Beside much that does not, in a part of a structure, and in a derivative."""
    with pytest.raises(NotDifferentiableError, match="depends on the phases"):
        rl.pushforward(f, np.array([0.3, 0.4]))(np.ones(2))


def test_forward_mode_leaves_what_is_written_to_as_it_is_after_one_run():
    """It runs again with vectors that turn; where the value is another then it cannot tell, and says so."""
    notes, count = [], np.zeros(1)

    def noted(t):
        notes.append(1)
        count[0] += 1
        return sizes(t)

    def written(t):
        t[0] = t[0] * 2
        return sizes(t)

    t = np.array([0.3, 0.4])
    rl.pushforward(noted, t)(np.ones(2))
    assert (len(notes), count[0]) == (1, 1)
    with pytest.raises(NotDifferentiableError, match="a different value when it runs again"):
        rl.pushforward(written, t)(np.ones(2))
    np.testing.assert_array_equal(t, [0.6, 0.4])


def test_a_function_that_fails_when_it_runs_again_is_refused():
    """What has run out cannot be asked for the phases."""

    def taken(t):
        return sizes(t) * next(numbers)

    numbers = iter([2.0])
    with pytest.raises(NotDifferentiableError, match="phases"):
        rl.pushforward(taken, np.array([0.3, 0.4]))(np.ones(2))


def test_vectors_without_phases_run_once():
    """Those of real matrices, and the values of complex ones."""
    runs = []

    def counted(t):
        runs.append(1)
        w, v = np.linalg.eigh(np.real(hermitian(t)))
        return np.sum(v[:, 0] ** 2 * w) + np.sum(np.linalg.eigvalsh(hermitian(t)) ** 2)

    rl.pushforward(counted, np.array([0.3, 0.4]))(np.ones(2))
    assert len(runs) == 1
