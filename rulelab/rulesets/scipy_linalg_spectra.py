"""Rules for eigenvalues and singular values of `scipy.linalg`, of pairs of Hermitian matrices too.

The formulas are those of NumPy's functions; the vectors are those that SciPy gives.
"""

import numpy as np

from ..tangents.forms import laid_out
from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import dense, is_zero, like_argument, refuse
from .given_values import check_all_finite, for_lapack, unmoved
from .linalg_factorisations import (
    along_vectors,
    columns_in_use,
    diagonal_of,
    eigenpairs,
    from_triangle,
    hermitian_part,
    off_diagonal,
    onto_triangle,
    over_gaps,
    settled,
    svd_cotangent,
    svd_tangents,
    svd_values_tangent,
    svd_vectors_wanted,
    turn_cotangent,
)
from .linalg_phases import check_phases, have_phases, of_any_phase
from .linalg_products import adjoint
from .numpy_reductions import singular_triples, singular_values_and_vectors
from .scipy_linalg_shapes import vector_of
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_spectra", rounds=True)


# -- singular values -----------------------------------------------------------------------------------------


@TABLE.rrule(linalg.svd, leading=1)
def svd_rrule(
    a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"
):
    """As that of NumPy's: where values coincide that of their vectors is refused."""
    y = linalg.svd(a, full_matrices, compute_uv, check_finite=check_finite, lapack_driver=lapack_driver)
    u, s, vh = singular_values_and_vectors(for_lapack(a))
    if compute_uv and y[0].shape == u.shape and y[2].shape == vh.shape:
        u, s, vh = y

    def svd_pullback(y_bar):
        u_bar, s_bar, vh_bar = y_bar if compute_uv else (ZeroTangent(), y_bar, ZeroTangent())
        if not svd_vectors_wanted(a, full_matrices, u_bar, vh_bar):
            u_bar = vh_bar = ZeroTangent()
        if np.iscomplexobj(u):
            v_bar = vh_bar if is_zero(vh_bar) else adjoint(vh_bar)
            check_phases((u, adjoint(vh)), (u_bar, v_bar), "scipy.linalg.svd")
        a_bar = svd_cotangent(u, s, vh, u_bar, s_bar, vh_bar, s_bar)
        return NoTangent(), like_argument(a, a_bar + turn_cotangent(u, s, vh, u_bar))

    return y, svd_pullback


@TABLE.frule(linalg.svd)
def svd_frule(
    tangents,
    a,
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    a_dot = dense(a, tangents[1])
    if not compute_uv:
        u, s, vh = singular_triples(for_lapack(a))
        return s, laid_out(s, svd_values_tangent(u, s, vh, a_dot))
    svd_vectors_wanted(a, full_matrices, True, True)
    y = linalg.svd(a, full_matrices, check_finite=check_finite, lapack_driver=lapack_driver)
    u, s, vh = y
    u_dot, s_dot, vh_dot = svd_tangents(u, s, vh, a_dot)
    if np.iscomplexobj(u_dot):
        dots, vectors = (u_dot, adjoint(vh_dot)), (u, adjoint(vh))
        u_dot, v_dot = of_any_phase(dots, vectors, "scipy.linalg.svd")
        vh_dot = laid_out(vh, adjoint(v_dot))
    return y, (u_dot, s_dot, vh_dot)


@TABLE.rrule(linalg.svdvals, leading=1)
def svdvals_rrule(a, overwrite_a=False, check_finite=True):
    """`ā = u diag(s̄) vᴴ`."""
    check_all_finite(check_finite, a)
    u, s, vh = singular_values_and_vectors(for_lapack(a))

    def svdvals_pullback(s_bar):
        return NoTangent(), like_argument(a, (u * np.asarray(s_bar)[..., None, :]) @ vh)

    return s, svdvals_pullback


@TABLE.frule(linalg.svdvals)
def svdvals_frule(tangents, a, overwrite_a=False, check_finite=True):
    check_all_finite(check_finite, a)
    u, s, vh = singular_triples(for_lapack(a))
    return s, laid_out(s, svd_values_tangent(u, s, vh, dense(a, tangents[1])))


# -- eigenvalues of Hermitian matrices, and of pairs of them -------------------------------------------------


def hermitian_pencil(a, b, lower):
    """The eigenvalues and vectors of `a v = w b v`, `vᴴ b v = 1`, for formulas in which the phases of the
    vectors cancel; `b` may be None.
    """
    return linalg.eigh(a, b, lower=lower)


def pencil_cotangents(w, v, y_bar, counted, lower):
    """Those of `a` and `b`, on the triangle that is read. Vectors whose values have a cotangent in `counted`
    are in use.
    """
    w_bar, v_bar = y_bar
    values_bar = np.zeros_like(w) if is_zero(w_bar) else np.asarray(w_bar)
    inside, weights = diagonal_of(values_bar), diagonal_of(values_bar * w)
    if not is_zero(v_bar):
        turned = adjoint(v) @ np.asarray(v_bar)
        turns = over_gaps(off_diagonal(turned), w, columns_in_use(v_bar, counted), "eigh")
        inside = inside + turns
        lengths = diagonal_of(np.real(np.diagonal(turned, axis1=-2, axis2=-1)))
        weights = weights + turns * w[..., None, :] + 0.5 * lengths
    a_bar, b_bar = v @ inside @ adjoint(v), -v @ weights @ adjoint(v)
    return onto_triangle(hermitian_part(a_bar), lower), onto_triangle(hermitian_part(b_bar), lower)


def pencil_tangents(w, v, a_dot, b_dot):
    """Those of the values and vectors; `b_dot` is None where there is no `b`."""
    inside = adjoint(v) @ a_dot @ v
    if b_dot is None:
        w_dot = np.real(np.diagonal(inside, axis1=-2, axis2=-1))
        return w_dot, v @ over_gaps(off_diagonal(inside), w, np.ones(w.shape, bool), "eigh")
    weights = adjoint(v) @ b_dot @ v
    moved = inside - weights * w[..., None, :]
    lengths = diagonal_of(np.real(np.diagonal(weights, axis1=-2, axis2=-1)))
    turns = over_gaps(off_diagonal(moved), w, np.ones(w.shape, bool), "eigh")
    return np.real(np.diagonal(moved, axis1=-2, axis2=-1)), v @ (turns - 0.5 * lengths)


def _tangents_of_pair(tangents, a, b, lower):
    a_dot = from_triangle(dense(a, tangents[1]), lower)
    b_dot = None if b is None else from_triangle(dense(b, tangents[2]), lower)
    return a_dot, b_dot


def _second(b, b_bar):
    return NoTangent() if b is None else like_argument(b, unbroadcast(b_bar, np.asarray(b)))


@TABLE.rrule(hermitian_pencil, leading=2)
def hermitian_pencil_rrule(a, b, lower):
    w, v = hermitian_pencil(a, b, lower)

    def hermitian_pencil_pullback(y_bar):
        a_bar, b_bar = pencil_cotangents(w, v, y_bar, ZeroTangent(), lower)
        return NoTangent(), like_argument(a, unbroadcast(a_bar, np.asarray(a))), _second(b, b_bar)

    return (w, v), hermitian_pencil_pullback


@TABLE.frule(hermitian_pencil)
def hermitian_pencil_frule(tangents, a, b, lower):
    w, v = hermitian_pencil(a, b, lower)
    a_dot, b_dot = _tangents_of_pair(tangents, a, b, lower)
    return (w, v), pencil_tangents(w, v, a_dot, b_dot)


def _check_pencil(what, options):
    """Refuse the options by which another problem is meant, or a part of its solution."""
    for name, value, plain in options:
        if value is not plain and value != plain:
            refuse(f"scipy.linalg.{what} with {name}={value!r} is not differentiated", f"leave {name} out")


TABLE.non_differentiable(_check_pencil)


def _odd(type, subset_by_index, subset_by_value):
    return (
        ("type", type, 1),
        ("subset_by_index", subset_by_index, None),
        ("subset_by_value", subset_by_value, None),
    )


def _values_tangent(w, v, a_dot, b_dot):
    """Of the values alone, which have one where they coincide, too."""
    moved = a_dot @ v if b_dot is None else a_dot @ v - (b_dot @ v) * w[..., None, :]
    turns = adjoint(v) @ moved
    return settled(np.real(np.diagonal(turns, axis1=-2, axis2=-1)), w, turns, "eigvalsh")


def hermitian_pairs(a, b, lower, check_finite, driver):
    """The eigenvalues and vectors as `eigh` gives them, with phases that LAPACK chooses."""
    return linalg.eigh(a, b, lower=lower, check_finite=check_finite, driver=driver)


@TABLE.rrule(hermitian_pairs, leading=2)
def hermitian_pairs_rrule(a, b, lower, check_finite, driver):
    """`ā = v (diag(w̄) + F ∘ vᴴ v̄) vᴴ`, `F_ij = 1/(w_j - w_i)`; `b̄` has `-w_j` times that, and minus half of
    what lengthens the vectors (Giles 2008, section 3.1, for a pair). Vectors of values that coincide have no
    derivative, and a v̄ by which the phases of complex vectors would matter is refused.
    """
    w, v = hermitian_pairs(a, b, lower, check_finite, driver)

    def hermitian_pairs_pullback(y_bar):
        if np.iscomplexobj(v):
            check_phases((v,), (y_bar[1],), "scipy.linalg.eigh")
        a_bar, b_bar = pencil_cotangents(w, v, y_bar, y_bar[0], lower)
        return NoTangent(), like_argument(a, unbroadcast(a_bar, np.asarray(a))), _second(b, b_bar)

    return (w, v), hermitian_pairs_pullback


@TABLE.frule(hermitian_pairs)
def hermitian_pairs_frule(tangents, a, b, lower, check_finite, driver):
    a_dot, b_dot = _tangents_of_pair(tangents, a, b, lower)
    w, v = hermitian_pairs(a, b, lower, check_finite, driver)
    w_dot, v_dot = pencil_tangents(w, v, a_dot, b_dot)
    if np.iscomplexobj(v):
        (v_dot,) = of_any_phase((v_dot,), (v,), "scipy.linalg.eigh")
    return (w, v), (laid_out(w, w_dot), laid_out(v, v_dot))


def hermitian_values(a, b, lower, check_finite):
    """The eigenvalues alone, by way of the vectors, which their slopes need."""
    return linalg.eigh(a, b, lower=lower, check_finite=check_finite)[0]


@TABLE.rrule(hermitian_values, leading=2)
def hermitian_values_rrule(a, b, lower, check_finite):
    w, v = linalg.eigh(a, b, lower=lower, check_finite=check_finite)

    def hermitian_values_pullback(w_bar):
        a_bar, b_bar = pencil_cotangents(w, v, (w_bar, ZeroTangent()), w_bar, lower)
        return NoTangent(), like_argument(a, unbroadcast(a_bar, np.asarray(a))), _second(b, b_bar)

    return w, hermitian_values_pullback


@TABLE.frule(hermitian_values)
def hermitian_values_frule(tangents, a, b, lower, check_finite):
    w, v = hermitian_pencil(a, b, lower)
    a_dot, b_dot = _tangents_of_pair(tangents, a, b, lower)
    return w, laid_out(w, _values_tangent(w, v, a_dot, b_dot))


@TABLE.stands_in(linalg.eigh)
def eigh(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
    check_finite=True, subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    _check_pencil("eigh", _odd(type, subset_by_index, subset_by_value))
    if np.size(a) == 0 and b is not None:
        return unmoved(lambda x, y: linalg.eigh(x, y, lower=lower, eigvals_only=eigvals_only), a, b)
    if eigvals_only:
        return hermitian_values(a, b, lower, check_finite)
    return hermitian_pairs(a, b, lower, check_finite, driver)


@TABLE.stands_in(linalg.eigvalsh)
def eigvalsh(
    a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    _check_pencil("eigvalsh", _odd(type, subset_by_index, subset_by_value))
    if np.size(a) == 0 and b is not None:
        return unmoved(lambda x, y: linalg.eigvalsh(x, y, lower=lower), a, b)
    return hermitian_values(a, b, lower, check_finite)


def tridiagonal(d, e):
    """The matrix with these diagonals, of which the upper one is not read."""
    return np.diag(np.asarray(d)) + np.diag(np.asarray(e), -1)


@TABLE.stands_in(linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(
    d, e, select="a", select_range=None, check_finite=True, tol=0.0, lapack_driver="auto"
):
    d, e = vector_of(d, "eigvalsh_tridiagonal"), vector_of(e, "eigvalsh_tridiagonal")
    check_all_finite(check_finite, d, e)
    _check_pencil("eigvalsh_tridiagonal", (("select", select, "a"), ("tol", tol, 0.0)))
    return linalg.eigvalsh(tridiagonal(d, e))


# -- eigenvalues of general matrices -------------------------------------------------------------------------


def _check_general(what, b, homogeneous_eigvals, left=False, right=True):
    """Refuse a pair of matrices, and other results than the values and the right vectors."""
    given = (("b", b, None), ("homogeneous_eigvals", homogeneous_eigvals, False), ("left", left, False))
    for name, value, plain in (*given, ("right", right, True)):
        if value is not plain:
            refuse(f"scipy.linalg.{what} with {name}= is not differentiated", f"leave {name} out")


TABLE.non_differentiable(_check_general)


def _complex(w):
    """SciPy's values are complex, whatever they are."""
    return w if np.iscomplexobj(w) else w.astype(np.result_type(w.dtype, np.complex64))


def general_values(a):
    """The eigenvalues of a matrix with a basis of vectors."""
    return _complex(eigenpairs(a, "scipy.linalg.eigvals")[0])


@TABLE.rrule(general_values, leading=1)
def general_values_rrule(a):
    """`ā = v⁻ᴴ diag(w̄) vᴴ` (Giles 2008, section 3.1)."""
    w, v = eigenpairs(a, "scipy.linalg.eigvals")

    def general_values_pullback(w_bar):
        rows = np.asarray(w_bar)[..., None] * adjoint(v)
        return NoTangent(), like_argument(a, np.linalg.solve(adjoint(v), rows))

    return _complex(w), general_values_pullback


@TABLE.frule(general_values)
def general_values_frule(tangents, a):
    w, v = eigenpairs(a, "scipy.linalg.eigvals")
    turns = np.linalg.solve(v, dense(a, tangents[1]) @ v)
    w_dot = settled(np.diagonal(turns, axis1=-2, axis2=-1), w, turns, "eigvals")
    return _complex(w), _complex(laid_out(w, w_dot))


@TABLE.stands_in(linalg.eigvals)
def eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    _check_general("eigvals", b, homogeneous_eigvals)
    check_all_finite(check_finite, a)
    return general_values(for_lapack(a))


def general_pairs(a, check_finite):
    """The eigenvalues and right vectors as `eig` gives them."""
    eigenpairs(a, "scipy.linalg.eig")  # which refuses a matrix without a basis
    return linalg.eig(a, check_finite=check_finite)


@TABLE.rrule(general_pairs, leading=1)
def general_pairs_rrule(a, check_finite):
    """As that of NumPy's: the lengths of the vectors are 1, and their phases may not matter."""
    w, v = general_pairs(a, check_finite)

    def general_pairs_pullback(y_bar):
        w_bar, v_bar = y_bar
        inside = diagonal_of(np.zeros_like(w) if is_zero(w_bar) else np.asarray(w_bar))
        if not is_zero(v_bar):
            if have_phases(a, v):
                check_phases((v,), (np.asarray(v_bar),), "scipy.linalg.eig")
            turned = off_diagonal(adjoint(v) @ along_vectors(v, np.asarray(v_bar)))
            inside = inside + over_gaps(turned, np.conj(w), columns_in_use(v_bar, w_bar), "eig")
        return NoTangent(), like_argument(a, np.linalg.solve(adjoint(v), inside @ adjoint(v)))

    return (w, v), general_pairs_pullback


@TABLE.frule(general_pairs)
def general_pairs_frule(tangents, a, check_finite):
    w, v = general_pairs(a, check_finite)
    inside = np.linalg.solve(v, dense(a, tangents[1]) @ v)
    w_dot = np.diagonal(inside, axis1=-2, axis2=-1)
    v_dot = along_vectors(v, v @ over_gaps(off_diagonal(inside), w, np.ones(w.shape, bool), "eig"))
    if have_phases(a, v):
        (v_dot,) = of_any_phase((v_dot,), (v,), "scipy.linalg.eig")
    elif not np.iscomplexobj(v):
        v_dot = np.real(v_dot)
    return (w, v), (_complex(w_dot), v_dot)


@TABLE.stands_in(linalg.eig)
def eig(
    a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
    homogeneous_eigvals=False,
):  # fmt: skip
    _check_general("eig", b, homogeneous_eigvals, left, right)
    check_all_finite(check_finite, a)
    return general_pairs(for_lapack(a), check_finite)
