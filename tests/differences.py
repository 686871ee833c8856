"""Derivatives by finite differences of the function itself: the witness of tests, which knows no rule."""

import numpy as np


def gradient_by_differences(f, x, h=1e-6):
    """The derivative of `f` by each element of an array: central differences, each on an array of its own.

    Of a complex array it is ∂f/∂Re + i ∂f/∂Im, the gradient of a real function. A function with arrays for
    values has them stacked, element by element of `x`.
    """
    x = np.asarray(x)
    wide = x.astype(complex if np.iscomplexobj(x) else float)
    units = (1.0, 1j) if np.iscomplexobj(x) else (1.0,)

    def by(place):
        step = np.zeros_like(wide)
        step[place] = h
        return sum(unit * difference(lambda t: f((wide + t * unit * step)[()]), h) for unit in units)

    found = np.array([by(place) for place in np.ndindex(x.shape)])
    return found.reshape(x.shape + found.shape[1:])


def difference(g, h):
    """How much `g` changes from -1 to 1, over `2 h`: its central difference if it goes in steps of `h`."""
    return (g(1.0) - g(-1.0)) / (2 * h)
