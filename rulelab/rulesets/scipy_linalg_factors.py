"""Rules for the factorisations of `scipy.linalg` that are made by elimination and reflection: Cholesky's,
LU and QR, solving with them, and the polar factors.
"""

import numpy as np

from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import dense, is_zero, like_argument, refuse
from .given_values import check_all_finite, for_lapack, unmoved
from .linalg_factorisations import hermitian_part, lower_half
from .linalg_products import adjoint
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_factors", rounds=True)


# -- Cholesky's ----------------------------------------------------------------------------------------------


@TABLE.stands_in(linalg.cholesky)
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    check_all_finite(check_finite, a)
    return np.linalg.cholesky(np.atleast_2d(for_lapack(a)), upper=not lower)


def clears_the_other_triangle():
    """Whether `cho_factor` gives zeros there, as it does since SciPy 1.18; before, what was there stayed."""
    if linalg.cho_factor is None:
        return True
    return not linalg.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]), lower=True)[0][0, 1]


CLEARED = clears_the_other_triangle()


@TABLE.stands_in(linalg.cho_factor)
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    check_all_finite(check_finite, a)
    a = np.atleast_2d(for_lapack(a))
    factor = np.linalg.cholesky(a, upper=not lower)
    if CLEARED:
        return factor, lower
    return factor + (np.triu(a, 1) if lower else np.tril(a, -1)), lower


@TABLE.stands_in(linalg.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    check_all_finite(check_finite, c, b)
    c, b = for_lapack(c), for_lapack(b)
    columns = b[:, None] if np.ndim(b) == 1 else b  # a vector for a stack of matrices, and not a row for each
    first = linalg.solve_triangular(c, columns, 0 if lower else 2, lower, check_finite=False)
    y = linalg.solve_triangular(c, first, 2 if lower else 0, lower, check_finite=False)
    return y[..., 0] if np.ndim(b) == 1 else y


def check_single(a, what):
    """Refuse stacks of matrices, which versions do not take alike."""
    if np.ndim(a) != 2:
        refuse(f"scipy.linalg.{what} of an array with {np.ndim(a)} axes is not differentiated",
               "call it for each matrix")


TABLE.non_differentiable(check_single)


# -- LU ------------------------------------------------------------------------------------------------------


def eliminated(a):
    """The order of the rows, and the factors `l` (m, k) and `u` (k, n) of `a[order] = l u`; where they have
    no derivative it is refused.
    """
    order, left, u = _ordered(a)
    size = min(np.shape(a))
    pivots = np.abs(np.diagonal(u)[:size])
    if size and np.any(pivots <= np.finfo(pivots.dtype).eps * np.max(pivots)):
        refuse("scipy.linalg.lu of a matrix without full rank has no derivative")
    return order, left, u


def _ordered(a):
    order, left, u = linalg.lu(a, p_indices=True)
    return np.argsort(order), left, u


@TABLE.rrule(eliminated, leading=1)
def eliminated_rrule(a):
    """`f̄ = tril(lᴴ l̄, -1) + triu(ū uᴴ)` and `ā = l⁻ᴴ f̄ u⁻ᴴ` of the square part; the rest is solved for."""
    order, left, u = eliminated(a)

    def eliminated_pullback(y_bar):
        _, l_bar, u_bar = y_bar
        l_bar = np.zeros_like(left) if is_zero(l_bar) else np.asarray(l_bar)
        u_bar = np.zeros_like(u) if is_zero(u_bar) else np.asarray(u_bar)
        return NoTangent(), like_argument(a, elimination_bar(left, u, l_bar, u_bar)[np.argsort(order)])

    return (order, left, u), eliminated_pullback


def elimination_bar(left, u, l_bar, u_bar):
    """The cotangent of `l u` from those of its factors, which may be tall or wide."""
    k = np.shape(left)[1]
    square_l, square_u = left[:k], u[:, :k]
    below = _times_inverse(l_bar[k:], square_u)
    beside = _adjoint_inverse_times(square_l, u_bar[:, k:])
    by_l = np.tril(adjoint(square_l) @ (l_bar[:k] - beside @ adjoint(u[:, k:])), -1)
    by_u = np.triu((u_bar[:, :k] - adjoint(left[k:]) @ below) @ adjoint(square_u))
    square = _times_inverse(_adjoint_inverse_times(square_l, by_l + by_u), square_u)
    if np.shape(left)[0] > k:
        return np.concatenate([square, below], axis=0)
    return np.concatenate([square, beside], axis=1)


def _times_inverse(x, u):
    """`x u⁻ᴴ` for an upper triangle."""
    return adjoint(linalg.solve_triangular(u, adjoint(x), 0, False))


def _adjoint_inverse_times(left, x):
    """`l⁻ᴴ x` for a lower triangle with ones on its diagonal."""
    return linalg.solve_triangular(left, x, 2, True, True)


@TABLE.frule(eliminated)
def eliminated_frule(tangents, a):
    order, left, u = eliminated(a)
    moved, k = dense(a, tangents[1])[order], np.shape(left)[1]
    square_l, square_u = left[:k], u[:, :k]
    inside = linalg.solve_triangular(square_l, moved[:k, :k], 0, True, True)
    inside = adjoint(linalg.solve_triangular(square_u, adjoint(inside), 2, False))
    l_dot, u_dot = square_l @ np.tril(inside, -1), np.triu(inside) @ square_u
    rest = moved[k:, :k] - left[k:] @ u_dot
    below = adjoint(linalg.solve_triangular(square_u, adjoint(rest), 2, False))
    beside = linalg.solve_triangular(square_l, moved[:k, k:] - l_dot @ u[:, k:], 0, True, True)
    return (order, left, u), (
        NoTangent(),
        np.concatenate([l_dot, below], axis=0),
        np.concatenate([u_dot, beside], axis=1),
    )


@TABLE.stands_in(linalg.lu)
def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    check_single(a, "lu")
    check_all_finite(check_finite, a)
    if np.size(a) == 0:
        return unmoved(lambda x: linalg.lu(x, permute_l, p_indices=p_indices), a)
    order, left, u = eliminated(np.asarray(a))
    back = np.argsort(order)
    if permute_l:
        return left[back], u
    if p_indices:
        return _indices_of(a), left, u
    return _permutation_of(a), left, u


def _indices_of(a):
    return linalg.lu(a, p_indices=True)[0]


def _permutation_of(a):
    return linalg.lu(a)[0]


def _pivots_of(a):
    return linalg.lu_factor(a)[1]


TABLE.non_differentiable(_indices_of, _permutation_of, _pivots_of)


@TABLE.stands_in(linalg.lu_factor)
def lu_factor(a, overwrite_a=False, check_finite=True):
    a = np.asarray(a)
    check_single(a, "lu_factor")
    check_all_finite(check_finite, a)
    if np.size(a) == 0:
        return unmoved(linalg.lu_factor, a)
    _, left, u = eliminated(a)
    k = np.shape(left)[1]
    m, n = np.shape(a)
    whole_l = left if k == n else np.concatenate([left, np.zeros((m, n - k), left.dtype)], axis=1)
    whole_u = u if k == m else np.concatenate([u, np.zeros((m - k, n), u.dtype)], axis=0)
    return np.tril(whole_l, -1) + whole_u, _pivots_of(a)


def _order_of_pivots(pivots):
    """The rows in the order into which their exchanges, one after another, bring them."""
    order = np.arange(len(pivots))
    for i, other in enumerate(pivots):
        order[i], order[other] = order[other], order[i]
    return order


TABLE.non_differentiable(_order_of_pivots)


@TABLE.stands_in(linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    check_single(lu, "lu_solve")
    check_all_finite(check_finite, b)
    if np.size(lu) == 0 or np.size(b) == 0:
        return unmoved(lambda x, y: linalg.lu_solve((x, pivots), y, trans), lu, b)
    order, b = _order_of_pivots(pivots), np.asarray(b)
    if trans == 0:
        first = linalg.solve_triangular(lu, _rows(b, order), 0, True, True)
        return linalg.solve_triangular(lu, first, 0, False)
    half = linalg.solve_triangular(lu, b, trans, False)
    return _rows(linalg.solve_triangular(lu, half, trans, True, True), np.argsort(order))


def _rows(b, order):
    """The rows of each matrix in an order, or the entries of a vector."""
    return b[order] if np.ndim(b) == 1 else b[..., order, :]


# -- QR ------------------------------------------------------------------------------------------------------


def reflected(a):
    """The reduced factors of a tall `a` (m, n) of full rank, the diagonal of `r` real as LAPACK leaves it."""
    q, r = linalg.qr(a, mode="economic")
    pivots = np.abs(np.diagonal(r))
    if pivots.size and np.any(pivots <= np.finfo(pivots.dtype).eps * np.shape(r)[-1] * np.max(pivots)):
        refuse("scipy.linalg.qr of a matrix without full column rank has no derivative")
    return q, r


@TABLE.rrule(reflected, leading=1)
def reflected_rrule(a):
    """`ā = (q̄ + q copyltu(m)) r⁻ᴴ`, `m = r r̄ᴴ - q̄ᴴ q` (Walter & Lehmann 2010; complex: Roberts & Roberts
    2020), where `copyltu` repeats the lower triangle above and leaves the diagonal real.
    """
    q, r = reflected(a)

    def reflected_pullback(y_bar):
        q_bar, r_bar = y_bar
        m, outer = ZeroTangent(), ZeroTangent()
        if not is_zero(r_bar):
            m = r @ adjoint(np.triu(r_bar))
        if not is_zero(q_bar):
            m, outer = m - adjoint(np.asarray(q_bar)) @ q, q_bar
        if is_zero(m):
            return NoTangent(), ZeroTangent()
        rhs = outer + q @ (2 * hermitian_part(lower_half(m)))
        return NoTangent(), like_argument(a, adjoint(linalg.solve_triangular(r, adjoint(rhs), 0, False)))

    return (q, r), reflected_pullback


@TABLE.frule(reflected)
def reflected_frule(tangents, a):
    q, r = reflected(a)
    moved = adjoint(linalg.solve_triangular(r, adjoint(dense(a, tangents[1])), 2, False))  # ȧ r⁻¹
    inside = adjoint(q) @ moved
    below = np.tril(inside, -1)
    turn = below - adjoint(below)
    if np.iscomplexobj(q):
        turn = turn + np.eye(np.shape(r)[0]) * (1j * np.imag(inside))
    return (q, r), (moved + q @ (turn - inside), (inside - turn) @ r)


def beyond(a, q):
    """What columns `q` has beyond those of `a`: they span the rest in a way that LAPACK chooses."""
    return linalg.qr(a)[0][:, np.shape(q)[1] :]


@TABLE.rrule(beyond, leading=2)
def beyond_rrule(a, q):
    def beyond_pullback(y_bar):
        if not is_zero(y_bar) and np.any(y_bar):
            refuse(
                "the columns of q beyond those of the matrix are not differentiated: LAPACK chooses them",
                "use mode='economic'",
            )
        return NoTangent(), ZeroTangent(), ZeroTangent()

    return beyond(a, q), beyond_pullback


@TABLE.frule(beyond)
def beyond_frule(tangents, a, q):
    refuse("the columns of q beyond those of the matrix are not differentiated: LAPACK chooses them",
           "use mode='economic'")


@TABLE.stands_in(linalg.qr)
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    a = for_lapack(a)
    check_single(a, "qr")
    check_all_finite(check_finite, a)
    if mode not in ("full", "r", "economic"):
        refuse(f"scipy.linalg.qr with mode={mode!r} is not differentiated", "use mode='economic'")
    if np.size(a) == 0:
        return unmoved(lambda x: linalg.qr(x, mode=mode, pivoting=pivoting), a)
    if pivoting:
        order = _order_of_columns(a)
        return (*_factors(a[:, order], mode), order)
    return _factors(a, mode)


def _order_of_columns(a):
    return linalg.qr(a, mode="r", pivoting=True)[1]


TABLE.non_differentiable(_order_of_columns)


def _factors(a, mode):
    m, n = np.shape(a)
    q, r = reflected(a[:, :m])
    if n > m:
        r = np.concatenate([r, adjoint(q) @ a[:, m:]], axis=1)
    if m > n and mode != "economic":
        r = np.concatenate([r, np.zeros((m - n, n), r.dtype)], axis=0)
        if mode == "full":
            return np.concatenate([q, beyond(a, q)], axis=1), r
    return (r,) if mode == "r" else (q, r)


# -- polar factors -------------------------------------------------------------------------------------------


def polar_right(a):
    """`a = u p` with `u` unitary and `p` positive definite, of a tall matrix of full rank."""
    u, p = linalg.polar(a)
    values = np.linalg.svd(p, compute_uv=False)
    if values.size and values[-1] <= np.finfo(values.dtype).eps * len(values) * values[0]:
        refuse("scipy.linalg.polar of a matrix without full rank has no derivative")
    return u, p


@TABLE.rrule(polar_right, leading=1)
def polar_right_rrule(a):
    """`p ṗ + ṗ p = ȧᴴ a + aᴴ ȧ` and `u̇ = (ȧ - u ṗ) p⁻¹`, transposed."""
    u, p = polar_right(a)

    def polar_right_pullback(y_bar):
        u_bar, p_bar = y_bar
        direct = (
            np.zeros_like(u) if is_zero(u_bar) else adjoint(np.linalg.solve(p, adjoint(np.asarray(u_bar))))
        )
        by_p = -adjoint(u) @ direct + (0.0 if is_zero(p_bar) else np.asarray(p_bar))
        inner = linalg.solve_sylvester(p, p, by_p)
        return NoTangent(), like_argument(a, direct + np.asarray(a) @ (inner + adjoint(inner)))

    return (u, p), polar_right_pullback


@TABLE.frule(polar_right)
def polar_right_frule(tangents, a):
    u, p = polar_right(a)
    x, a_dot = np.asarray(a), dense(a, tangents[1])
    p_dot = linalg.solve_sylvester(p, p, adjoint(a_dot) @ x + adjoint(x) @ a_dot)
    return (u, p), (adjoint(np.linalg.solve(p, adjoint(a_dot - u @ p_dot))), p_dot)


@TABLE.stands_in(linalg.polar)
def polar(a, side="right"):
    a = for_lapack(a)
    check_single(a, "polar")
    if side not in ("right", "left"):
        linalg.polar(a, side)  # which says what is wrong
    if side == "right":
        _check_long(a, side)
        return polar_right(a)
    _check_long(a.T, side)
    u, p = polar_right(adjoint(a))
    return adjoint(u), p


def _check_long(a, side):
    if a.shape[0] < a.shape[1]:
        refuse(
            f"scipy.linalg.polar with side={side!r} of a matrix of this shape has no derivative: its square "
            "has no inverse",
            "use the other side",
        )
