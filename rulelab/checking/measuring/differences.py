"""Gradients, products with Jacobians, and Jacobians of functions of any structure, by a method of
differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .copies import own_copies
from .difference_methods import FiniteDifferenceMethod, central_fdm, name_shown
from .vectors import cotangent_like, cotangent_vec, gradient_like, to_vec


def fd_gradient(
    f: Callable[..., Any],
    *args: Any,
    fdm: FiniteDifferenceMethod | None = None,
) -> tuple[Any, ...]:
    """The gradient of a scalar function by differences: one entry for each argument, of its structure.

    A complex argument gives d/dRe + i d/dIm.

    Parameters
    ----------
    f : callable
        A function that returns a real number. It is called with fresh copies of its arguments.
    *args
        Numbers, arrays and structures of them, as in `to_vec`.
    fdm : FiniteDifferenceMethod, optional
        The method, by default `central_fdm(5)`; its `domain` applies to each number.

    Returns
    -------
    tuple
        One entry for each argument; None for what has no derivative (text, integers).

    Raises
    ------
    TypeError
        Unless `f` returns a real number.

    Examples
    --------
    >>> w_bar, z_bar, _ = fd_gradient(lambda w, z, n: float(w @ w) + abs(z) ** n, np.ones(2), 3 + 4j, 2)
    >>> np.round(w_bar, 9), complex(round(z_bar.real, 9), round(z_bar.imag, 9))
    (array([2., 2.]), (6+8j))
    """

    def scalar(*moved: Any) -> float:
        y = f(*moved)
        if not isinstance(y, (int, float, np.number, np.ndarray)) or np.ndim(y) or np.iscomplexobj(y):
            raise TypeError(f"the function must return a real number, not {type(y).__name__}")
        return float(y)

    return _gradients(scalar, args, fdm)


def fd_vjp(
    f: Callable[..., Any],
    y_bar: Any,
    *args: Any,
    fdm: FiniteDifferenceMethod | None = None,
) -> tuple[Any, ...]:
    """The cotangents that the pullback of `f` at `args` maps `y_bar` to, by differences.

    Parameters
    ----------
    f : callable
        A function of numbers, arrays and structures of them.
    y_bar : object
        A cotangent of the result, in any form that `cotangent_vec` takes.
    *args
        The arguments.
    fdm : FiniteDifferenceMethod, optional
        The method, by default `central_fdm(5)`.

    Returns
    -------
    tuple
        One entry for each argument, as from `fd_gradient`.

    Raises
    ------
    ValueError
        If `y_bar` does not fit the result.

    Examples
    --------
    >>> (x_bar,) = fd_vjp(lambda x: (x[0] * x[1], x[0]), (1.0, 10.0), np.array([2.0, 3.0]))
    >>> np.round(x_bar, 9)
    array([13.,  2.])
    """
    seed = cotangent_vec(f(*own_copies(args)), y_bar, "the result")
    return _gradients(lambda *moved: float(seed @ to_vec(f(*moved))[0]), args, fdm)


def fd_jvp(
    f: Callable[..., Any],
    tangents: tuple[Any, ...],
    *args: Any,
    fdm: FiniteDifferenceMethod | None = None,
) -> Any:
    """The derivative of `f` at `args` in the direction of `tangents`, by differences.

    Parameters
    ----------
    f : callable
        A function of numbers, arrays and structures of them.
    tangents : tuple
        One for each argument, in any form that `cotangent_vec` takes.
    *args
        The arguments.
    fdm : FiniteDifferenceMethod, optional
        The method, by default `central_fdm(5)`. Its `domain` applies to the factor of the direction, which
        is 0 at `args`.

    Returns
    -------
    object
        The tangent of `f(*args)`: a number, an array, or a `Tangent`.

    Raises
    ------
    ValueError
        If there is not one tangent for each argument, or one does not fit.

    Examples
    --------
    >>> round(fd_jvp(lambda x, y: x * y, (1.0, 10.0), 2.0, 3.0), 9)
    23.0
    """
    if not isinstance(tangents, tuple) or len(tangents) != len(args):
        raise ValueError(f"tangents must be a tuple of {len(args)}, one for each argument")
    y = f(*own_copies(args))
    pairs = [(to_vec(x), cotangent_vec(x, x_dot)) for x, x_dot in zip(args, tangents)]

    def along(t: float) -> np.ndarray:
        return to_vec(f(*(back(vector + t * direction) for (vector, back), direction in pairs)))[0]

    return cotangent_like(y, np.asarray((fdm or central_fdm(5))(along, 0.0)))


def fd_jacobian(
    f: Callable[..., Any],
    *args: Any,
    fdm: FiniteDifferenceMethod | None = None,
) -> tuple[Any, ...]:
    """The Jacobian of `f` by differences, one matrix for each argument.

    Parameters
    ----------
    f : callable
        A function of numbers, arrays and structures of them.
    *args
        Its arguments.
    fdm : FiniteDifferenceMethod, optional
        The method, by default `central_fdm(5)`.

    Returns
    -------
    tuple
        Matrices of shape (len(to_vec(y)[0]), len(to_vec(x)[0])), with d y[k] / d x[i] at [k, i].

    Raises
    ------
    ValueError
        If an argument lies outside the domain of the method.

    Examples
    --------
    >>> (jacobian,) = fd_jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]), np.array([2.0, 3.0]))
    >>> np.round(jacobian, 9)
    array([[3., 2.],
           [0., 6.]])
    """
    size = to_vec(f(*own_copies(args)))[0].size
    vector_valued = lambda *moved: to_vec(f(*moved))[0]  # noqa: E731 (named for what it is)
    return tuple(
        np.stack(columns, axis=1) if columns else np.empty((size, 0))
        for columns in _by_entry(vector_valued, args, fdm)
    )


def _gradients(scalar: Callable, args: tuple, fdm: FiniteDifferenceMethod | None) -> tuple:
    rows = _by_entry(scalar, args, fdm)
    return tuple(gradient_like(x, np.array(row, dtype=float)) for x, row in zip(args, rows))


def _by_entry(f: Callable, args: tuple, fdm: FiniteDifferenceMethod | None) -> list[list[Any]]:
    """The derivatives of `f` with respect to each entry of the vector of each argument."""
    method = fdm or central_fdm(5)
    pairs = [to_vec(x) for x in args]

    def at(position: int, i: int) -> Callable[[float], Any]:
        def moved(number: float) -> Any:
            vectors = [vector.copy() for vector, _ in pairs]
            vectors[position][i] = number
            return f(*(back(vector) for vector, (_, back) in zip(vectors, pairs)))

        moved.__name__ = name_shown(f)
        return moved

    return [
        [method(at(position, i), float(vector[i])) for i in range(vector.size)]
        for position, (vector, _) in enumerate(pairs)
    ]
