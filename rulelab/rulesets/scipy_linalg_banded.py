"""Rules for systems of `scipy.linalg` whose matrices are given by their diagonals: banded, Toeplitz and
circulant ones.

The derivatives solve with the same diagonals, and are as cheap as the function. `ab[u + i - j, j]` is
`m[i, j]` for `u` diagonals above the main one; corners of `ab` that lie outside of `m` are not read.
"""

import numpy as np

from ..tangents.zeros import NoTangent
from .array_likes import dense, like_argument, refuse
from .given_values import check_all_finite, for_lapack, lapack_kind, unmoved
from .scipy_linalg_shapes import diagonals_of_toeplitz, vector_of
from .scipy_linalg_solving import columns_of, without_columns
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_banded", rounds=True)


# -- banded matrices -----------------------------------------------------------------------------------------


def places(lower, upper, n):
    """For each diagonal and row of a band matrix: where in `ab` its entry is, and whether there is one."""
    offsets = upper - np.arange(lower + upper + 1)[:, None]
    columns = np.arange(n)[None, :] + offsets
    there = (columns >= 0) & (columns < n)
    return np.where(there, columns, 0), there


TABLE.non_differentiable(places)


def by_rows(ab, lower, upper):
    """The diagonals, each entry at the number of its row: `m[i, i + d]` at `[u - d, i]`."""
    columns, there = places(lower, upper, np.shape(ab)[-1])
    return np.where(there, ab[np.arange(lower + upper + 1)[:, None], columns], 0)


def band_product(ab, x, lower, upper):
    """`m @ x` for the band matrix `m` and columns `x` (n, k)."""
    columns, _ = places(lower, upper, np.shape(ab)[-1])
    return np.sum(by_rows(ab, lower, upper)[:, :, None] * x[columns], axis=0)


def band_outer(x, y, lower, upper):
    """The diagonals of `x yᵀ` for columns (n, k), in the form of `ab`: its cotangent from that of `m`."""
    n = np.shape(x)[0]
    rows, there = places(upper, lower, n)  # of the transposed matrix
    products = np.sum(x[rows] * y[None, :, :], axis=-1)
    return np.where(there, products, 0)[::-1]


def band_transposed(ab, lower, upper):
    """The diagonals of `mᵀ`, with `upper` ones below."""
    return by_rows(ab, lower, upper)[::-1]


@TABLE.rrule(linalg.solve_banded, leading=3)
def solve_banded_rrule(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """`b̄` from the system with `mᴴ`, `m̄ = -b̄ yᴴ` on the diagonals."""
    lower, upper = l_and_u
    y = linalg.solve_banded(l_and_u, ab, b, check_finite=check_finite)
    _check_single(ab, b, "solve_banded")

    def solve_banded_pullback(y_bar):
        x = np.asarray(ab)
        opposite = np.conj(band_transposed(x, lower, upper))
        b_bar = linalg.solve_banded((upper, lower), opposite, np.asarray(y_bar))
        ab_bar = -band_outer(columns_of(b_bar, b), np.conj(columns_of(y, b)), lower, upper)
        return NoTangent(), NoTangent(), like_argument(ab, ab_bar), like_argument(b, b_bar)

    return y, solve_banded_pullback


def _check_single(ab, b, what):
    if np.ndim(ab) != 2:
        refuse(f"scipy.linalg.{what} of a stack of matrices is not differentiated", "solve one at a time")
    _check_right_sides(b, what)


def _check_right_sides(b, what):
    """Which versions of SciPy read in different ways where they have more than two axes."""
    if np.ndim(b) > 2:
        refuse(f"scipy.linalg.{what} with a stack of right-hand sides is not differentiated",
               "solve for one right-hand side at a time")


TABLE.non_differentiable(_check_right_sides)


@TABLE.frule(linalg.solve_banded)
def solve_banded_frule(tangents, l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    lower, upper = l_and_u
    y = linalg.solve_banded(l_and_u, ab, b, check_finite=check_finite)
    _check_single(ab, b, "solve_banded")
    moved = band_product(dense(ab, tangents[2]), columns_of(y, b), lower, upper)
    return y, linalg.solve_banded(l_and_u, ab, dense(b, tangents[3]) - without_columns(moved, b))


def whole_band(ab, lower):
    """All diagonals of a Hermitian band matrix, of which those of one side are given."""
    if lower:
        main, below = np.real(ab[:1]), ab[1:]
        above = by_rows_of_half(below)
        return np.concatenate([np.conj(above)[::-1], main, below])
    main, above = np.real(ab[-1:]), ab[:-1]
    below = rows_of_half_upper(above)
    return np.concatenate([above, main, np.conj(below)[::-1]])


def by_rows_of_half(below):
    """Diagonals below the main one, moved to where those above it stand: `m[j + d, j]` to column `j + d`."""
    return _shifted(below, -1 - np.arange(np.shape(below)[0]))


def rows_of_half_upper(above):
    """Diagonals above the main one, moved to where those below it stand: `m[j - d, j]` to column `j - d`."""
    return _shifted(above, np.arange(np.shape(above)[0])[::-1] + 1)


def _shifted(rows, by):
    """Each row read from `by` places further on, 0 beyond its ends."""
    n = np.shape(rows)[-1]
    columns, there = _columns(n, by)
    return np.where(there, rows[np.arange(np.shape(rows)[0])[:, None], columns], 0)


def _columns(n, by):
    columns = np.arange(n)[None, :] + by[:, None]
    there = (columns >= 0) & (columns < n)
    return np.where(there, columns, 0), there


TABLE.non_differentiable(_columns)


@TABLE.rrule(linalg.solveh_banded, leading=2)
def solveh_banded_rrule(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    """The same of a positive definite matrix, of which the diagonals of one side are given."""
    y = linalg.solveh_banded(ab, b, lower=lower, check_finite=check_finite)
    _check_single(ab, b, "solveh_banded")

    def solveh_banded_pullback(y_bar):
        b_bar = linalg.solveh_banded(ab, np.asarray(y_bar), lower=lower)
        count = np.shape(ab)[0] - 1
        whole = _of_half(columns_of(b_bar, b), columns_of(y, b), count, lower)
        return NoTangent(), like_argument(ab, -whole), like_argument(b, b_bar)

    return y, solveh_banded_pullback


def _of_half(b_bar, y, count, lower):
    """The diagonals of one side of `b̄ yᴴ + y b̄ᴴ`, and of half of it the real main one."""
    below, above = (count, 0) if lower else (0, count)
    both = band_outer(b_bar, np.conj(y), below, above) + band_outer(y, np.conj(b_bar), below, above)
    main = 0 if lower else count
    halves = np.where(np.arange(count + 1) == main, 0.5, 1.0)[:, None]
    only_real = (np.arange(count + 1) == main)[:, None]
    return halves * np.where(only_real, np.real(both), both)


@TABLE.frule(linalg.solveh_banded)
def solveh_banded_frule(
    tangents, ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True
):
    y = linalg.solveh_banded(ab, b, lower=lower, check_finite=check_finite)
    _check_single(ab, b, "solveh_banded")
    count = np.shape(ab)[0] - 1
    whole = whole_band(dense(ab, tangents[1]), lower)
    moved = band_product(whole, columns_of(y, b), count, count)
    return y, linalg.solveh_banded(ab, dense(b, tangents[2]) - without_columns(moved, b), lower=lower)


def in_other_digits(y):
    """A value itself: it is made in another way than SciPy makes it, and its last digits differ."""
    return y


@TABLE.rrule(in_other_digits, leading=1)
def in_other_digits_rrule(y):
    return y, lambda y_bar: (NoTangent(), y_bar)


@TABLE.frule(in_other_digits)
def in_other_digits_frule(tangents, y):
    return y, tangents[1]


# -- Toeplitz matrices ---------------------------------------------------------------------------------------


def column_and_row(c_or_cr):
    """The first column and row of a Toeplitz matrix; of one vector it is Hermitian."""
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        return vector_of(c, "solve_toeplitz"), vector_of(r, "solve_toeplitz")
    c = vector_of(c_or_cr, "solve_toeplitz")
    return c, np.conj(c)


@TABLE.stands_in(linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, check_finite=True):
    c, r = column_and_row(c_or_cr)
    _check_right_sides(b, "solve_toeplitz")
    check_all_finite(check_finite, c, r, b)
    if np.size(b) == 0 or len(c) == 0:
        return unmoved(toeplitz_solution, c, r, b)
    return toeplitz_solution(c, r, np.asarray(b))


def toeplitz_solution(c, r, b):
    """`linalg.solve_toeplitz` with both vectors."""
    return linalg.solve_toeplitz((c, r), b)


@TABLE.rrule(toeplitz_solution, leading=3)
def toeplitz_solution_rrule(c, r, b):
    y = toeplitz_solution(c, r, b)

    def toeplitz_solution_pullback(y_bar):
        n = len(c)
        top = np.concatenate([c[:1], r[1:]])
        b_bar = toeplitz_solution(np.conj(top), np.conj(np.concatenate([c[:1], c[1:]])), y_bar)
        columns = np.reshape(b_bar, (n, -1))
        outer = -columns @ np.conj(np.reshape(y, (n, -1))).T
        c_bar, r_bar = diagonals_of_toeplitz(outer, n)
        return NoTangent(), like_argument(c, c_bar), like_argument(r, r_bar), like_argument(b, b_bar)

    return y, toeplitz_solution_pullback


@TABLE.frule(toeplitz_solution)
def toeplitz_solution_frule(tangents, c, r, b):
    y = toeplitz_solution(c, r, b)
    m_dot = linalg.toeplitz(dense(c, tangents[1]), dense(r, tangents[2]))
    moved = np.reshape(m_dot @ np.reshape(y, (len(c), -1)), np.shape(y))
    return y, toeplitz_solution(c, r, dense(b, tangents[3]) - moved)


@TABLE.stands_in(linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    c, r = column_and_row(c_or_cr)
    _check_right_sides(x, "matmul_toeplitz")
    check_all_finite(check_finite, c, r, x)
    x = for_lapack(x)
    if np.size(x) == 0 or len(c) == 0:
        return unmoved(lambda *given: linalg.matmul_toeplitz(given[:2], given[2]), c, r, x)
    columns, around = np.reshape(x, (np.shape(x)[0], x[:1].size)), np.concatenate([c, r[:0:-1]])
    kinds = (lapack_kind(np.result_type(part, float)) for part in (around, columns))  # as SciPy: in double
    around, columns = [np.asarray(part, kind) for part, kind in zip((around, columns), kinds)]
    length = len(c) + len(r) - 1
    if np.iscomplexobj(around) or np.iscomplexobj(columns):
        product = np.fft.ifft(
            np.fft.fft(around, axis=0)[:, None] * np.fft.fft(columns, length, axis=0), axis=0
        )
    else:
        spectrum = np.fft.rfft(around, axis=0)[:, None] * np.fft.rfft(columns, length, axis=0)
        product = np.fft.irfft(spectrum, length, axis=0)
    kept = in_other_digits(product[: len(c)])
    return kept[:, 0] if x.ndim == 1 else kept


# -- circulant matrices --------------------------------------------------------------------------------------


@TABLE.stands_in(linalg.solve_circulant)
def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    if singular != "raise" or tol is not None:
        refuse("scipy.linalg.solve_circulant with singular= or tol= is not differentiated",
               "leave them at their defaults")
    c, b = np.atleast_1d(c), np.atleast_1d(b)
    if np.size(c) == 0 or np.size(b) == 0:
        return unmoved(lambda x, y: linalg.solve_circulant(x, y, singular, tol, caxis, baxis, outaxis), c, b)
    _check_circulant(c, b, caxis, baxis)
    spectrum = np.fft.fft(np.moveaxis(c, caxis, -1), axis=-1)
    by = np.fft.fft(np.moveaxis(b, baxis, -1), axis=-1)
    x = in_other_digits(np.fft.ifft(by / spectrum, axis=-1))
    if not np.iscomplexobj(c) and not np.iscomplexobj(b):
        x = np.real(x)
    return np.moveaxis(x, -1, outaxis)


def _check_circulant(c, b, caxis, baxis):
    """SciPy's own errors: for a singular matrix, and for shapes that do not go together."""
    linalg.solve_circulant(c, b, caxis=caxis, baxis=baxis)


TABLE.non_differentiable(_check_circulant)
