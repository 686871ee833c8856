"""Linear algebra on traced numbers: exact formulas, with pivots and signs decided by the shadows.

Determinants and inverses of up to three rows use cofactors, which involve no division; larger ones use
elimination. The choice of the pivot row does not change the result as a function, so it is not recorded as a
condition.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .complexes import Complex, log_of_size
from .functions import apply_elementary
from .scalars import CannotTrace, Scalar, first_trace, shadow_of

COFACTORS_UP_TO = 3


def _stacked(count):
    """Decorator that extends a function of square matrices (and `count - 1` further arguments) to stacks of
    them.
    """

    def decorated(function):
        @functools.wraps(function)
        def on_stacks(a, *others):
            a = _objects(a)
            if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
                raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
            if a.ndim == 2:
                return function(a, *others)
            return _joined([function(a[i], *others) for i in np.ndindex(a.shape[:-2])], a.shape[:-2])

        return on_stacks

    return decorated


def _objects(a):
    return np.asarray(a).view(np.ndarray).astype(object)


def _joined(parts, stack):
    """Join the results for the matrices of a stack into one array, or tuples of results into a tuple of
    arrays.
    """
    if isinstance(parts[0], tuple):
        return type(parts[0])(*[_joined([p[k] for p in parts], stack) for k in range(len(parts[0]))])
    inner = np.shape(parts[0])
    made = np.empty((len(parts), *inner), dtype=object)
    for i, part in enumerate(parts):
        made[i] = part
    return made.reshape(*stack, *inner)


def _minor(a, i, j):
    return np.delete(np.delete(a, i, 0), j, 1)


def _determinant(a):
    n = len(a)
    if n == 0:
        return 1.0
    if n <= COFACTORS_UP_TO:
        return a[0, 0] if n == 1 else sum(
            (-1) ** j * a[0, j] * _determinant(_minor(a, 0, j)) for j in range(n)
        )  # fmt: skip
    product = 1.0
    for row, column, pivot in _eliminated(a.copy(), n):
        product = product * (pivot if row == column else -pivot)
    return product


def _eliminated(a, columns):
    """Gaussian elimination in place: yields (row taken, column, pivot), and ends early for a singular
    matrix.
    """
    for k in range(columns):
        p = max(range(k, len(a)), key=lambda i: abs(shadow_of(a[i, k])))
        if p != k:
            a[[k, p]] = a[[p, k]]
        yield p, k, a[k, k]
        if shadow_of(a[k, k]) == 0:
            return
        for i in range(k + 1, len(a)):
            if not _is_plain_zero(a[i, k]):
                a[i] = a[i] - a[i, k] / a[k, k] * a[k]


def _is_plain_zero(x):
    return not isinstance(x, Scalar) and x == 0


def _inverse(a):
    n = len(a)
    if n > COFACTORS_UP_TO:
        return _solved(a, np.eye(n).astype(object))
    determinant = _determinant(a)
    if shadow_of(determinant) == 0:
        raise np.linalg.LinAlgError("Singular matrix")
    made = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        made[i, j] = (-1) ** (i + j) * _determinant(_minor(a, j, i)) / determinant
    return made


def _solved(a, b):
    """The solution x of `a @ x = b` for a matrix b of right-hand sides."""
    n = len(a)
    if n <= COFACTORS_UP_TO:
        return _inverse(a) @ b
    both = np.concatenate([a, b], axis=1)
    for _, _, pivot in _eliminated(both, n):
        if shadow_of(pivot) == 0:
            raise np.linalg.LinAlgError("Singular matrix")
    x = both[:, n:]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - both[k, k + 1 : n] @ x[k + 1 :]) / both[k, k]
    return x


@_stacked(1)
def det(a):
    return _determinant(a)


@_stacked(1)
def inv(a):
    return _inverse(a)


_SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))


@_stacked(1)
def slogdet(a):
    determinant = _determinant(a)
    if shadow_of(determinant) == 0:
        return _SlogdetResult(0.0, -np.inf)
    if not isinstance(determinant, Scalar):
        return _SlogdetResult(*np.linalg.slogdet(np.array([[determinant]], float)))
    if determinant.op == "complex":
        return _SlogdetResult(determinant / abs(determinant), log_of_size(determinant))
    if determinant > 0:
        return _SlogdetResult(1.0, apply_elementary("log", determinant, False))
    return _SlogdetResult(-1.0, apply_elementary("log", -determinant, False))


@_stacked(1)
def _cholesky(a):
    """The lower factor; like LAPACK's, it reads only the lower triangle."""
    n = len(a)
    factor = np.empty((n, n), dtype=object)
    factor[...] = 0.0
    for j in range(n):
        rest = a[j, j] - sum(factor[j, k] * factor[j, k] for k in range(j))
        if isinstance(rest, Complex):
            rest.trace.halt(CannotTrace("np.linalg.cholesky() of complex matrices"))
        if not rest > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        factor[j, j] = apply_elementary("sqrt", rest) if isinstance(rest, Scalar) else np.sqrt(rest)
        for i in range(j + 1, n):
            factor[i, j] = (a[i, j] - sum(factor[i, k] * factor[j, k] for k in range(j))) / factor[j, j]
    return factor


def cholesky(a, /, *, upper=False):
    if (trace := first_trace(a)) is not None:
        trace.for_symmetric = True
    a = _objects(a)
    return np.swapaxes(_cholesky(np.swapaxes(a, -1, -2)), -1, -2) if upper else _cholesky(a)


def solve(a, b):
    a, b = _objects(a), _objects(b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, stack + a.shape[-2:]), np.broadcast_to(b, stack + b.shape[-2:])
    x = _joined([_solved(a[i].copy(), b[i].copy()) for i in np.ndindex(stack)], stack)
    return x[..., 0] if vector else x


LINALG = {
    np.linalg.det: det,
    np.linalg.inv: inv,
    np.linalg.slogdet: slogdet,
    np.linalg.cholesky: cholesky,
    np.linalg.solve: solve,
}
