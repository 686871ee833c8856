"""Python functions that stand in for the matrices that `scipy.linalg` makes of vectors: Toeplitz, Hankel,
circulant, companion, block diagonal ones and their kin.

Each entry of such a matrix is one of the given numbers, or 0. Which one, the function itself says of the
numbers 1, 2, 3, …
"""

import numpy as np

from .array_likes import refuse
from .given_values import unmoved
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_shapes", rounds=True)


def _numbers(first, like):
    """The numbers from `first` on, in the shape of another array."""
    return np.reshape(np.arange(first, first + np.size(like), dtype=float), np.shape(like))


def sources(make, *vectors):
    """For each entry of `make(*vectors)` the place of its number among all numbers, from 1 on; 0 for none."""
    first, numbers = 1, []
    for vector in vectors:
        numbers.append(_numbers(first, vector))
        first += np.size(vector)
    return np.asarray(make(*numbers)).astype(int)


TABLE.non_differentiable(sources)


def selected(source, *vectors):
    """The entries of these places, each of one of the vectors."""
    flat = [np.ravel(vector) for vector in vectors]
    return np.concatenate([np.zeros(1, flat[0].dtype), *flat])[source]


def vector_of(x, what):
    """A vector, which a number is, too; other arrays are refused, which not all versions take alike."""
    x = np.atleast_1d(np.asarray(x))
    if x.ndim > 1:
        refuse(f"scipy.linalg.{what} of an array with {x.ndim} axes is not differentiated",
               "call it for each row, or use np.ravel")
    return x


@TABLE.stands_in(linalg.toeplitz)
def toeplitz(c, r=None):
    c = vector_of(c, "toeplitz")
    r = np.conj(c) if r is None else vector_of(r, "toeplitz")
    return selected(sources(linalg.toeplitz, c, r), c, r)


@TABLE.stands_in(linalg.hankel)
def hankel(c, r=None):
    c = vector_of(c, "hankel")
    if r is None:
        return selected(sources(linalg.hankel, c), c)
    r = vector_of(r, "hankel")
    return selected(sources(linalg.hankel, c, r), c, r)


@TABLE.stands_in(linalg.circulant)
def circulant(c):
    c = vector_of(c, "circulant")
    return selected(sources(linalg.circulant, c), c)


@TABLE.stands_in(linalg.convolution_matrix)
def convolution_matrix(a, n, mode="full"):
    a = vector_of(a, "convolution_matrix")
    return selected(sources(lambda x: linalg.convolution_matrix(x, n, mode), a), a)


@TABLE.stands_in(linalg.leslie)
def leslie(f, s):
    f, s = vector_of(f, "leslie"), vector_of(s, "leslie")
    return selected(sources(linalg.leslie, f, s), f, s)


@TABLE.stands_in(linalg.diagsvd)
def diagsvd(s, M, N):
    s = vector_of(s, "diagsvd")
    return selected(sources(lambda x: linalg.diagsvd(x, M, N), s), s)


@TABLE.stands_in(linalg.block_diag, rest=0)
def block_diag(arrs=()):
    if len(arrs) == 0:
        return linalg.block_diag()
    blocks = [np.atleast_2d(np.asarray(x)) for x in arrs]
    if max([x.ndim for x in blocks]) > 2:
        refuse("scipy.linalg.block_diag of stacks of matrices is not differentiated",
               "call it for each matrix")
    return selected(sources(linalg.block_diag, *blocks), *blocks)


def _companion_sources(make, count):
    """As `sources`, of a matrix that has -a[k] / a[0] in it, and ones: 1 for a one, k + 1 for that."""
    return np.asarray(make(np.concatenate([[1.0], -np.arange(2.0, count + 1)]))).astype(int)


TABLE.non_differentiable(_companion_sources)


def _companion_of(make, a, what):
    a = vector_of(a, what)
    if np.size(a) == 0:
        return unmoved(make, a)
    make(a)  # which raises what SciPy has to say of `a`
    rest = -a[1:] / (1.0 * a[0])
    return np.concatenate([np.array([0.0, 1.0], rest.dtype), rest])[_companion_sources(make, len(a))]


@TABLE.stands_in(linalg.companion)
def companion(a):
    return _companion_of(_companion, a, "companion")


@TABLE.stands_in(linalg.fiedler_companion)
def fiedler_companion(a):
    return _companion_of(_fiedler_companion, a, "fiedler_companion")


def _companion(a):
    return linalg.companion(a)


def _fiedler_companion(a):
    return linalg.fiedler_companion(a)


TABLE.non_differentiable(_companion, _fiedler_companion)


@TABLE.stands_in(linalg.fiedler)
def fiedler(a):
    a = vector_of(a, "fiedler")
    if np.size(a) < 2:
        return unmoved(linalg.fiedler, a)
    return np.abs(a[:, None] - a[None, :])


@TABLE.stands_in(linalg.khatri_rao)
def khatri_rao(a, b):
    a, b = np.asarray(a), np.asarray(b)
    _check_khatri_rao(a, b)
    products = a[..., :, None, :] * b[..., None, :, :]
    return np.reshape(products, (np.shape(a)[0] * np.shape(b)[0], np.shape(a)[1]))


def _check_khatri_rao(a, b):
    linalg.khatri_rao(a, b)
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        refuse("scipy.linalg.khatri_rao of stacks of matrices is not differentiated",
               "call it for each matrix")


TABLE.non_differentiable(_check_khatri_rao)


def diagonals_of_toeplitz(bar, n):
    """The cotangents of the first column and row of a Toeplitz matrix, from that of the matrix: the sums of
    its diagonals.
    """
    columns, there = _skewed(n)
    sums = np.sum(np.where(there, bar[np.arange(n)[:, None], columns], 0), axis=0)
    return sums[n - 1 :: -1], np.concatenate([np.zeros(1, bar.dtype), sums[n:]])


def _skewed(n):
    """For each row, and each of the 2 n - 1 diagonals from the lowest up: the column where they meet."""
    columns = np.arange(2 * n - 1)[None, :] - (n - 1 - np.arange(n))[:, None]
    there = (columns >= 0) & (columns < n)
    return np.where(there, columns, 0), there


TABLE.non_differentiable(_skewed)
