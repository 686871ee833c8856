"""Spherical harmonics, `scipy.special.sph_harm_y`, by both angles.

The slope by `theta` is that of the ladder operators of angular momentum: half the harmonic of the order above
less half the one below, each with its weight and phase. Nothing is divided by the sine of `theta`, so the
poles are no special points, and since these are harmonics again, all orders follow. Outside of [0, pi] SciPy
takes the size of the sine: there the slope has the opposite sign, and at the poles it is that of the inside.
"""

import numpy as np

from .array_likes import refuse
from .scipy_rows import WHOLE, SpecialTable, special

TABLE = SpecialTable("scipy_harmonics")


def harmonic(n, m, theta, phi):
    return special.sph_harm_y(n, m, theta, phi)


def raising(n, m):
    """The weight of the harmonic of the order above; there is none above `n`, where SciPy gives 0."""
    return np.sqrt(np.maximum((np.subtract(n, m)) * (np.add(n, m) + 1.0), 0.0))


def partials(out, n, m, theta, phi):
    """By degree and order none: they are whole numbers."""
    turn = np.cos(phi) + 1j * np.sin(phi)
    above = raising(n, m) * harmonic(n, np.add(m, 1), theta, phi) * np.conj(turn)
    below = raising(n, np.negative(m)) * harmonic(n, np.subtract(m, 1), theta, phi) * turn
    side = np.where(np.sin(theta) < 0, -0.5, 0.5)
    return WHOLE, WHOLE, side * (above - below), 1j * np.multiply(m, out)


TABLE.scalar(harmonic, partials)


def is_harmonic(function, *args, **words):
    """Whether it is this function that is called: SciPy has others of the same class."""
    return function is special.sph_harm_y


KIND = type(special.sph_harm_y)

if special.sph_harm_y is not None:

    @TABLE.stands_in(KIND.__call__, only=is_harmonic)
    def sph_harm_y(function, n, m, theta, phi, *, diff_n=0):
        if diff_n:
            refuse("scipy.special.sph_harm_y with diff_n is not differentiated",
                   "leave it out: it has its derivatives here")
        return harmonic(n, m, theta, phi)


TABLE.non_differentiable(raising, is_harmonic)
