"""Arrays without axes as arguments: typed as other arrays are, though NumPy gives numbers for them."""

import copy
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutationError

C, V, Z = np.array([[1.0], [2.0]]), np.array([1.0, 2.0, 3.0]), np.array(1.25)


def looped(z):
    total = z
    for v in V:
        total = total * z + v
    return total


def in_place(z):
    x = V * z
    x -= z
    x *= z
    return np.sum(x)


def kept(z):
    held = {"a": z, "b": [z, z * z]}
    return held["a"] * held["b"][1]


def chosen(z):
    t = z if z > 0.4 else V[0]
    while t < 3:
        t = t * 2
    return t * z


PROGRAMS = [
    *(looped, in_place, kept, chosen),
    lambda z: z,
    lambda z: z.T * z.real,
    lambda z: 1.0 - z / 2 + 2 / z - (-z) + abs(z),
    lambda z: z**2 + z**-1 + z**0.5 + 2.0**z + z**z,
    lambda z: np.sum(C * z + V / z - z * C) * z,
    lambda z: np.sum((V - z) ** 2) * Z,
    lambda z: z @ V if z.ndim else np.dot(z, V).sum() + np.outer(z, V).sum(),
    lambda z: np.exp(z) * np.sin(z) + np.hypot(z, V).sum() + math.exp(z),
    lambda z: np.maximum(z, 0.2) * np.minimum(V, z).sum() + max(z, 0.1) * min(z, V[0]),
    lambda z: np.sum(z) + z.sum() * z.mean() + np.max(z) * z.min() + z.prod() + np.prod(z),
    lambda z: z[()] * z[...] + z[None][0] + np.sum(z[None, None] * V),
    lambda z: z.reshape(1)[0] * np.reshape(z, (1, 1)).sum() + np.ravel(z).sum() + z.flatten()[0],
    lambda z: np.stack([z, z * z]).sum() + np.array([z, 2.0 * z, 1.0]).prod() + np.append(V, z).sum(),
    lambda z: np.where(z > 0, z, 1.0) * np.where(V > 1.5, z, V).sum() + np.clip(V, z, 2.0).sum(),
    lambda z: z.copy() * copy.copy(z) + np.array(z) * np.asarray(z) + float(z) * z.item(),
    lambda z: np.full(3, z).sum() * np.broadcast_to(z, (3,)).sum() + np.tile(z, 3).sum(),
    lambda z: np.einsum("i,->", V, z) + np.sum(V.astype(np.float32) * z) + np.sum(np.arange(3) + z),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_slopes_are_those_of_a_number(f):
    """As differences of the function have them; what a gradient gives is a new array without axes."""
    for x in (0.5, 0.7):
        z = np.array(x)
        step = 1e-6
        wanted = (float(f(np.array(x + step))) - float(f(np.array(x - step)))) / (2 * step)
        for _ in range(3):  # as it is compiled, and as it is called at once
            (found,) = rl.gradient(f, z)
            assert type(found) is np.ndarray and found.shape == () and found.dtype == float
            assert found.flags.writeable and not np.shares_memory(found, z)
            np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)
        along = rl.pushforward(f, z)(np.array(1.0))
        np.testing.assert_allclose(along, wanted, rtol=1e-7, atol=1e-8)
        assert z == x


@pytest.mark.parametrize("f", PROGRAMS)
def test_so_are_second_derivatives(f):
    step = 1e-6
    above, below = (rl.gradient(f, np.array(0.5 + h))[0] for h in (step, -step))
    np.testing.assert_allclose(rl.hessian(f, np.array(0.5)), [[(above - below) / (2 * step)]], 1e-7, 1e-8)


def test_what_is_no_array_with_axes_is_said_as_python_says_it():
    for f in (lambda z: len(z) * z, lambda z: z[0], lambda z: [v for v in z][0], lambda z: z @ V):
        with pytest.raises((TypeError, IndexError, ValueError)) as pythons:
            f(np.array(0.5))
        with pytest.raises(type(pythons.value)):
            rl.gradient(f, np.array(0.5))


def test_a_write_to_it_is_refused():
    def doubled(z):
        z *= 2.0
        return z

    z = np.array(0.5)
    with pytest.raises(MutationError):
        rl.gradient(doubled, z)
    assert z == 0.5
