"""Rules for solving and inverting with `scipy.linalg`, which reads of a matrix what its structure needs.

The matrix `m` that SciPy sees in `a` is linear in `a`: `y = m⁻¹ b` has `ẏ = m⁻¹ (ḃ - ṁ y)`, `b̄ = m⁻ᴴ ȳ` and
`m̄ = -b̄ yᴴ`, as for NumPy's functions; what is not read of `a` has the cotangent 0.
"""

import numpy as np

from ..tangents.forms import laid_out
from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import dense, is_zero, like_argument, refuse
from .given_values import for_lapack
from .linalg_factorisations import (
    LeastSquares,
    adjugate,
    det_slopes,
    diagonal_of,
    from_triangle,
    hermitian_part,
    onto_triangle,
    pinv_bar,
    pinv_dot,
    svd_values_tangent,
)
from .linalg_products import adjoint
from .numpy_reductions import (
    norm_kind,
    norm_tangent,
    norm_with_pullback,
    singular_triples,
    singular_values_and_vectors,
)
from .scipy_optional import LibraryTable, default_of, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_solving", rounds=True)


# -- what is seen of a matrix --------------------------------------------------------------------------------

_STRUCTURES = {
    None: "whole",
    "gen": "whole",
    "general": "whole",
    "banded": "whole",
    "sym": "symmetric",
    "symmetric": "symmetric",
    "her": "hermitian",
    "hermitian": "hermitian",
    "pos": "hermitian",
    "positive definite": "hermitian",
    "diagonal": "diagonal",
    "tridiagonal": "tridiagonal",
    "lower triangular": "lower",
    "upper triangular": "upper",
}


def structure_of(assume_a, what):
    """The structure that a word of SciPy's stands for."""
    if assume_a not in _STRUCTURES:
        refuse(f"{what} with assume_a={assume_a!r} is not differentiated", "leave assume_a out")
    return _STRUCTURES[assume_a]


TABLE.non_differentiable(structure_of)


def structured_matrix(a, structure, lower):
    """The matrices that SciPy sees in `a` (…, n, n).

    >>> structured_matrix(np.array([[1.0, 2.0], [3.0, 4.0]]), "symmetric", True)
    array([[1., 3.],
           [3., 4.]])
    """
    if structure == "whole":
        return a
    if structure == "hermitian":
        return from_triangle(a, lower)
    if structure == "symmetric":
        return np.tril(a) + np.tril(a, -1).mT if lower else np.triu(a) + np.triu(a, 1).mT
    if structure == "diagonal":
        return diagonal_of(np.diagonal(a, axis1=-2, axis2=-1))
    if structure == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    return np.tril(a) if structure == "lower" else np.triu(a)


def structured_cotangent(bar, structure, lower):
    """The cotangent of `a` from that of `structured_matrix(a, …)`: the transposed map."""
    if structure == "hermitian":
        return onto_triangle(hermitian_part(bar), lower)
    if structure == "symmetric":
        both = bar + bar.mT
        half = diagonal_of(np.diagonal(bar, axis1=-2, axis2=-1))
        return (np.tril(both) if lower else np.triu(both)) - half
    return structured_matrix(bar, structure, lower)


def columns_of(x, b):
    """`x` with an axis for columns, if `b` is a vector."""
    return x[..., None] if np.ndim(b) == 1 else x


def without_columns(x, b):
    return x[..., 0] if np.ndim(b) == 1 else x


# -- solve ---------------------------------------------------------------------------------------------------


_ASSUMED = default_of(linalg.solve, "assume_a")


def solved_against(a, y_bar, assume_a, lower, transposed):
    """`m⁻ᴴ ȳ` for the matrix `m` that SciPy sees in `a`, or its transpose."""
    structure = structure_of(assume_a, "scipy.linalg.solve")
    if structure == "hermitian":
        return linalg.solve(a, y_bar, lower=lower, assume_a=assume_a)
    if structure == "symmetric":
        return np.conj(linalg.solve(a, np.conj(y_bar), lower=lower, assume_a=assume_a))
    if structure == "lower" or structure == "upper":
        m = structured_matrix(a, structure, lower)
        return linalg.solve_triangular(m, y_bar, trans=0 if transposed else 2, lower=structure == "lower")
    m = np.conj(a) if transposed else adjoint(a)
    return linalg.solve(m, y_bar, assume_a=assume_a)


def _divided_pullback(a, b, y):
    """That of `y = b / a`, as SciPy has it for any matrix of one number, with an axis or without."""

    def divided_pullback(y_bar):
        b_bar = np.asarray(y_bar) / np.conj(np.ravel(a)[0])
        a_bar = np.reshape(-np.sum(b_bar * np.conj(y)), np.shape(a))
        return NoTangent(), like_argument(a, a_bar), like_argument(b, unbroadcast(b_bar, np.asarray(b)))

    return divided_pullback


def _divided_tangent(a, b, y, tangents):
    moved = np.ravel(dense(a, tangents[1]))[0] * y
    return (dense(b, tangents[2]) - moved) / np.ravel(a)[0]


@TABLE.rrule(linalg.solve, leading=2)
def solve_rrule(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=_ASSUMED,
    transposed=False,
):
    """For each `assume_a`; with `transposed=True` the matrix is `mᵀ`."""
    structure = structure_of(assume_a, "scipy.linalg.solve")
    y = linalg.solve(a, b, lower=lower, check_finite=check_finite, assume_a=assume_a, transposed=transposed)
    if np.size(a) == 1:
        return y, _divided_pullback(a, b, y)

    def solve_pullback(y_bar):
        x, columns = np.asarray(a), columns_of(y, b)
        b_bar = solved_against(x, columns_of(y_bar, b), assume_a, lower, transposed)
        m_bar = -columns @ b_bar.mT if transposed else -b_bar @ adjoint(columns)
        a_bar = unbroadcast(structured_cotangent(m_bar, structure, lower), x)
        shaped = unbroadcast(without_columns(b_bar, b), np.asarray(b))
        return NoTangent(), like_argument(a, a_bar), like_argument(b, shaped)

    return y, solve_pullback


@TABLE.frule(linalg.solve)
def solve_frule(
    tangents,
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=_ASSUMED,
    transposed=False,
):
    structure = structure_of(assume_a, "scipy.linalg.solve")
    y = linalg.solve(a, b, lower=lower, check_finite=check_finite, assume_a=assume_a, transposed=transposed)
    if np.size(a) == 1:
        return y, _divided_tangent(a, b, y, tangents)
    m_dot = structured_matrix(dense(a, tangents[1]), structure, lower)
    moved = (m_dot.mT if transposed else m_dot) @ columns_of(y, b)
    rest = columns_of(dense(b, tangents[2]), b) - moved
    y_dot = linalg.solve(a, rest, lower=lower, assume_a=assume_a, transposed=transposed)
    return y, without_columns(y_dot, b)


# -- solve_triangular ----------------------------------------------------------------------------------------


def _direction(trans):
    """0, 1 or 2: which of `m`, its transpose and its conjugate transpose is meant."""
    return {"N": 0, "T": 1, "C": 2}.get(trans, trans)


def _triangle(a, lower, unit_diagonal):
    """What is read of `a`."""
    if unit_diagonal:
        return np.tril(a, -1) if lower else np.triu(a, 1)
    return np.tril(a) if lower else np.triu(a)


TABLE.non_differentiable(_direction)


@TABLE.rrule(linalg.solve_triangular, leading=2)
def solve_triangular_rrule(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True
):
    """`m` is a triangle of `a`, without its diagonal if that is said to be of ones."""
    way = _direction(trans)
    y = linalg.solve_triangular(a, b, way, lower, unit_diagonal, check_finite=check_finite)

    def solve_triangular_pullback(y_bar):
        x, columns, y_columns = np.asarray(a), columns_of(y_bar, b), columns_of(y, b)
        if way == 0:
            b_bar = linalg.solve_triangular(x, columns, 2, lower, unit_diagonal)
            m_bar = -b_bar @ adjoint(y_columns)
        elif way == 1:
            b_bar = np.conj(linalg.solve_triangular(x, np.conj(columns), 0, lower, unit_diagonal))
            m_bar = -np.conj(y_columns) @ b_bar.mT
        else:
            b_bar = linalg.solve_triangular(x, columns, 0, lower, unit_diagonal)
            m_bar = -y_columns @ adjoint(b_bar)
        a_bar = unbroadcast(_triangle(m_bar, lower, unit_diagonal), x)
        shaped = unbroadcast(without_columns(b_bar, b), np.asarray(b))
        return NoTangent(), like_argument(a, a_bar), like_argument(b, shaped)

    return y, solve_triangular_pullback


@TABLE.frule(linalg.solve_triangular)
def solve_triangular_frule(
    tangents, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True
):
    way = _direction(trans)
    y = linalg.solve_triangular(a, b, way, lower, unit_diagonal, check_finite=check_finite)
    m_dot = _triangle(dense(a, tangents[1]), lower, unit_diagonal)
    if way != 0:
        m_dot = m_dot.mT if way == 1 else adjoint(m_dot)
    rest = columns_of(dense(b, tangents[2]), b) - m_dot @ columns_of(y, b)
    return y, without_columns(linalg.solve_triangular(a, rest, way, lower, unit_diagonal), b)


# -- inv, det, pinv, pinvh -----------------------------------------------------------------------------------


def _inverted(a, check_finite, assume_a, lower):
    """The inverse; older versions know of no structure."""
    if assume_a is None:
        return linalg.inv(a, check_finite=check_finite)
    if assume_a in ("diagonal", "tridiagonal", "banded"):
        refuse(f"scipy.linalg.inv with assume_a={assume_a!r} is not differentiated", "leave assume_a out")
    return linalg.inv(a, check_finite=check_finite, assume_a=assume_a, lower=lower)


@TABLE.rrule(linalg.inv, leading=1)
def inv_rrule(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """`m̄ = -yᴴ ȳ yᴴ` (Giles 2008, section 2.2.3)."""
    structure = structure_of(assume_a, "scipy.linalg.inv")
    y = _inverted(a, check_finite, assume_a, lower)

    def inv_pullback(y_bar):
        return NoTangent(), like_argument(
            a, structured_cotangent(-adjoint(y) @ y_bar @ adjoint(y), structure, lower)
        )

    return y, inv_pullback


@TABLE.frule(linalg.inv)
def inv_frule(tangents, a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    structure = structure_of(assume_a, "scipy.linalg.inv")
    y = _inverted(a, check_finite, assume_a, lower)
    return y, -y @ structured_matrix(dense(a, tangents[1]), structure, lower) @ y


@TABLE.rrule(linalg.det, leading=1)
def det_rrule(a, overwrite_a=False, check_finite=True):
    """By the cofactors, also for singular matrices."""
    y = linalg.det(a, check_finite=check_finite)

    def det_pullback(y_bar):
        return NoTangent(), like_argument(a, _stacked(y_bar) * adjoint(adjugate(for_lapack(a), y)))

    return y, det_pullback


def _stacked(numbers):
    """Numbers, one for each matrix, with two axes more."""
    return np.asarray(numbers)[..., None, None]


@TABLE.frule(linalg.det)
def det_frule(tangents, a, overwrite_a=False, check_finite=True):
    y = linalg.det(a, check_finite=check_finite)
    return y, np.sum(det_slopes(for_lapack(a), y) * dense(a, tangents[1]), axis=(-2, -1))


def _check_pinv(what, atol, rtol, return_rank):
    if atol is not None or rtol is not None:
        refuse(f"{what} is not differentiated with atol= or rtol=, which may lower the rank",
               "leave the cut-off at its default")
    if return_rank:
        refuse(f"{what} with return_rank=True is not differentiated",
               "use np.linalg.matrix_rank, which is constant")


@TABLE.rrule(linalg.pinv, leading=1)
def pinv_rrule(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """As that of NumPy's: exact as long as the rank does not change."""
    _check_pinv("scipy.linalg.pinv", atol, rtol, return_rank)
    p = linalg.pinv(a, check_finite=check_finite)

    def pinv_pullback(y_bar):
        return NoTangent(), like_argument(a, pinv_bar(p, np.asarray(a), y_bar))

    return p, pinv_pullback


@TABLE.frule(linalg.pinv)
def pinv_frule(tangents, a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    _check_pinv("scipy.linalg.pinv", atol, rtol, return_rank)
    p = linalg.pinv(a, check_finite=check_finite)
    return p, pinv_dot(p, np.asarray(a), dense(a, tangents[1]))


@TABLE.rrule(linalg.pinvh, leading=1)
def pinvh_rrule(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    """The same of a Hermitian matrix, of which one triangle is read."""
    _check_pinv("scipy.linalg.pinvh", atol, rtol, return_rank)
    p = linalg.pinvh(a, lower=lower, check_finite=check_finite)

    def pinvh_pullback(y_bar):
        bar = pinv_bar(p, from_triangle(np.asarray(a), lower), y_bar)
        return NoTangent(), like_argument(a, onto_triangle(hermitian_part(bar), lower))

    return p, pinvh_pullback


@TABLE.frule(linalg.pinvh)
def pinvh_frule(tangents, a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    _check_pinv("scipy.linalg.pinvh", atol, rtol, return_rank)
    p = linalg.pinvh(a, lower=lower, check_finite=check_finite)
    h_dot = from_triangle(dense(a, tangents[1]), lower)
    return p, pinv_dot(p, from_triangle(np.asarray(a), lower), h_dot)


# -- lstsq, norm ---------------------------------------------------------------------------------------------


@TABLE.rrule(linalg.lstsq, leading=2)
def lstsq_rrule(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    """As that of NumPy's, for a matrix of full rank."""
    if np.ndim(a) != 2 or np.ndim(b) > 2:
        refuse("scipy.linalg.lstsq of stacks of matrices is not differentiated", "call it for each matrix")
    y = linalg.lstsq(a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)
    x = for_lapack(a)
    solved = LeastSquares(y, x, for_lapack(b))

    def lstsq_pullback(y_bar):
        x_bar, residuals_bar, _, s_bar = y_bar
        a_bar, b_bar = solved.cotangents(x_bar, residuals_bar)
        if y[3] is not None and not is_zero(s_bar):
            u, _, vh = singular_values_and_vectors(x)
            a_bar = a_bar + (u * np.asarray(s_bar)) @ vh
        return (
            NoTangent(),
            a_bar if is_zero(a_bar) else like_argument(a, a_bar),
            b_bar if is_zero(b_bar) else like_argument(b, b_bar),
        )

    return y, lstsq_pullback


@TABLE.frule(linalg.lstsq)
def lstsq_frule(
    tangents, a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None
):
    if np.ndim(a) != 2 or np.ndim(b) > 2:
        refuse("scipy.linalg.lstsq of stacks of matrices is not differentiated", "call it for each matrix")
    y = linalg.lstsq(a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)
    x, a_dot = for_lapack(a), dense(a, tangents[1])
    solved = LeastSquares(y, x, for_lapack(b))
    x_dot, residuals_dot = solved.tangent(a_dot, dense(b, tangents[2]))
    x_dot, residuals_dot = laid_out(y[0], x_dot), np.reshape(residuals_dot, np.shape(y[1]))
    if y[3] is None:
        return y, (x_dot, residuals_dot, NoTangent(), NoTangent())
    u, s, vh = singular_triples(x)
    return y, (x_dot, residuals_dot, NoTangent(), laid_out(y[3], svd_values_tangent(u, s, vh, a_dot)))


@TABLE.rrule(linalg.norm, leading=1)
def norm_rrule(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """As that of NumPy's."""

    def nothing_moves_pullback(y_bar):
        return NoTangent(), ZeroTangent()

    y = linalg.norm(a, ord, axis, keepdims, check_finite)
    if np.size(a) == 0:
        return y, nothing_moves_pullback
    p, axes = norm_kind(np.ndim(a), ord, axis)
    return norm_with_pullback(a, y, p, axes)


@TABLE.frule(linalg.norm)
def norm_frule(tangents, a, ord=None, axis=None, keepdims=False, check_finite=True):
    y = linalg.norm(a, ord, axis, keepdims, check_finite)
    if np.size(a) == 0:
        return y, ZeroTangent()
    p, axes = norm_kind(np.ndim(a), ord, axis)
    return y, norm_tangent(a, tangents[1], y, p, axes)
