"""Rules for solving, inverting and factorising matrices, by the formulas of matrix differential calculus."""

import numpy as np

from ..rules.formulas import strong_zero, together
from ..rules.rule_table import RuleTable
from ..tangents.forms import laid_out, no_change
from ..tangents.projection import unbroadcast
from ..tangents.thunks import Thunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import dense, is_zero, like_argument, refuse
from .linalg_phases import check_phases, have_phases, of_any_phase
from .linalg_products import adjoint, conjugated
from .numpy_reductions import check_values, product_of_others, singular_triples, singular_values_and_vectors

TABLE = RuleTable("linalg_factorisations", rounds=True)

_S = np.array([[2.0, 0.5, -1.0], [0.25, 1.5, 0.5], [0.1, -0.75, 1.0]])
_P = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]])
_TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])
_V = np.array([0.5, -1.0, 2.0])
_RANK_TWO = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
_STACK = np.stack([_S, _S.T + 1.0])
_S32, _Z = _S.astype(np.float32), _S + 1j * _S.T
_I = np.array([[2, 1], [1, 3]])


def diagonal_of(s):
    """The matrices with the vectors `s` (…, k) on their diagonals."""
    return s[..., None] * np.eye(s.shape[-1], dtype=s.dtype)


def _inverse(a, what):
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        refuse(f"{what} of a singular matrix has no derivative")


# -- det, slogdet --------------------------------------------------------------------------------------------

_FEW = 12  # rows of a matrix whose cofactors are computed one by one


def adjugate(a, det):
    """The transposed cofactors of `a` (…, n, n): `det a⁻¹` where the inverse has digits, else by their
    definition, or for many from the SVD.
    """
    if np.all(det != 0):
        inverse = np.linalg.inv(a)
        if keeps_digits(a, inverse):
            return np.asarray(det)[..., None, None] * inverse
    if np.shape(a)[-1] <= _FEW:
        return np.swapaxes(cofactors(a), -1, -2)
    u, s, vh = singular_values_and_vectors(a)
    others = product_of_others(s) * (np.linalg.det(u) * np.linalg.det(vh))[..., None]
    return (adjoint(vh) * others[..., None, :]) @ adjoint(u)


@TABLE.rrule(np.linalg.det, leading=1, points=[
    (_S,), (_STACK,), (_RANK_TWO,), (_Z,), (_S32,), (_I,), (np.stack([_RANK_TWO, _S]),), (np.zeros((2, 2)),),
    ([[1.0, 2.0], [3.0, 5.0]],)])
def det_rrule(a):
    """`ā = ȳ adj(a)ᴴ` (Jacobi's formula; Giles 2008, section 2.2.4), also for singular matrices."""
    y = np.linalg.det(a)

    def det_pullback(y_bar):
        return NoTangent(), like_argument(a,
                                          np.asarray(y_bar)[..., None,
                                                            None] * adjoint(adjugate(np.asarray(a), y)))
    return y, det_pullback


@TABLE.frule(np.linalg.det)
def det_frule(tangents, a):
    y = np.linalg.det(a)
    return y, np.sum(det_slopes(np.asarray(a), y) * dense(a, tangents[1]), axis=(-2, -1))


def det_slopes(x, det):
    """The derivatives of the determinants of `x` (…, n, n), in a form that has derivatives itself."""
    if np.all(det != 0):
        inverse = np.linalg.inv(x)
        if keeps_digits(x, inverse):
            return np.swapaxes(np.expand_dims(det, (-2, -1)) * inverse, -1, -2)
    return cofactors(x)


def keeps_digits(x, inverse):
    """Whether the derivatives of `det x⁻¹` have digits left: where a determinant is not 0 only by rounding,
    they are differences of products of its huge inverse.
    """
    size = np.linalg.norm(x, 1, axis=(-2, -1)) * np.linalg.norm(inverse, 1, axis=(-2, -1))
    return bool(np.all(size * np.sqrt(np.finfo(inverse.dtype).eps) < 1))


TABLE.non_differentiable(keeps_digits)


def cofactors(a):
    """The cofactors of matrices (…, n, n) by their definition, which is a polynomial also where they are
    singular: the determinants of what is left without a row and a column, with signs.
    """
    n = np.shape(a)[-1]
    kept = np.array([[k for k in range(n) if k != gone] for gone in range(n)], int).reshape(n, n - 1)
    minors = a[..., kept[:, None, :, None], kept[None, :, None, :]]
    signs = (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    return signs * np.linalg.det(minors)


@TABLE.rrule(np.linalg.slogdet, leading=1, points=[(_S,), (_STACK,), (-_S,), (_Z,), (_I,)])
def slogdet_rrule(a):
    """`ā = (log|det|)̄ a⁻ᴴ`; the sign of a real matrix is locally constant, that of a complex one turns."""
    y = np.linalg.slogdet(a)
    inverse = _inverse(a, "slogdet")

    def slogdet_pullback(y_bar):
        sign_bar, log_bar = y_bar
        weight = ZeroTangent() if is_zero(log_bar) else np.asarray(log_bar)
        if np.iscomplexobj(inverse) and not is_zero(sign_bar):
            weight = weight + 1j * np.real(np.conj(sign_bar) * 1j * y.sign)
        if is_zero(weight):
            return NoTangent(), ZeroTangent()
        return NoTangent(), like_argument(a, np.asarray(weight)[..., None, None] * adjoint(inverse))
    return y, slogdet_pullback


@TABLE.frule(np.linalg.slogdet)
def slogdet_frule(tangents, a):
    y = np.linalg.slogdet(a)
    turn = np.sum(np.swapaxes(_inverse(a, "slogdet"), -1, -2) * dense(a, tangents[1]), axis=(-2, -1))
    sign_dot = 1j * y.sign * np.imag(turn) if np.iscomplexobj(turn) else no_change(y.sign)
    return y, type(y)(sign_dot, np.real(turn))


# -- inv, pinv, solve ----------------------------------------------------------------------------------------

@TABLE.rrule(np.linalg.inv, leading=1, points=[(_S,), (_STACK,), (_Z,), (_S32,), (_I,), (_S.T,)])
def inv_rrule(a):
    """`ā = -yᴴ ȳ yᴴ` (Giles 2008, section 2.2.3)."""
    y = np.linalg.inv(a)

    def inv_pullback(y_bar):
        return NoTangent(), like_argument(a, -adjoint(y) @ y_bar @ adjoint(y))
    return y, inv_pullback


@TABLE.frule(np.linalg.inv)
def inv_frule(tangents, a):
    y = np.linalg.inv(a)
    return y, -y @ dense(a, tangents[1]) @ y


def _check_pinv(options, named_options):
    if options or named_options:
        found = ", ".join([*map(repr, options), *named_options])
        refuse(f"np.linalg.pinv is not differentiated with {found}, which may lower the rank",
               "leave the cut-off at its default")


@TABLE.rrule(np.linalg.pinv, leading=1, points=[(_S,), (_TALL,), (_TALL.T,), (np.stack([_TALL,
    _TALL[::-1] + 1]),),
                                               (_TALL + 1j * _TALL[::-1] ** 2,)])
def pinv_rrule(a, *options, **named_options):
    """Golub & Pereyra 1973, theorem 4.3, transposed: exact as long as the rank does not change.

    With `p = pinv(a)`: `ā = -pᴴ ȳ pᴴ + (1 - a p) ȳᴴ p pᴴ + pᴴ p ȳᴴ (1 - p a)`.
    """
    _check_pinv(options, named_options)
    p = np.linalg.pinv(a)

    def pinv_pullback(y_bar):
        return NoTangent(), like_argument(a, pinv_bar(p, np.asarray(a), y_bar))
    return p, pinv_pullback


def pinv_bar(p, x, y_bar):
    """x̄ of the pseudoinverse `p` of `x`."""
    ph, y_bar_h = adjoint(p), adjoint(y_bar)
    left = y_bar_h @ p @ ph
    right = ph @ p @ y_bar_h
    return -ph @ y_bar @ ph + left - x @ (p @ left) + right - (right @ p) @ x


def pinv_dot(p, x, x_dot):
    """The tangent of the pseudoinverse `p` of `x`."""
    left, right = p @ adjoint(p) @ adjoint(x_dot), adjoint(x_dot) @ adjoint(p) @ p
    return -p @ x_dot @ p + left - (left @ x) @ p + right - p @ (x @ right)


@TABLE.frule(np.linalg.pinv)
def pinv_frule(tangents, a, *options, **named_options):
    _check_pinv(options, named_options)
    p = np.linalg.pinv(a)
    return p, pinv_dot(p, np.asarray(a), dense(a, tangents[1]))


@together
@strong_zero
def solve_bars(y_bar, result, a, b):
    """Those of real `a` and `b` for that of `np.linalg.solve(a, b)`."""
    columns_bar, columns = (y_bar[..., None], result[..., None]) if b.ndim == 1 else (y_bar, result)
    b_bar = np.linalg.solve(a.mT, columns_bar)
    shaped = b_bar[..., 0] if b.ndim == 1 else b_bar
    return unbroadcast(-b_bar @ columns.mT, a), unbroadcast(shaped, b)


@TABLE.rrule(np.linalg.solve, leading=2, cotangents=(solve_bars,), points=[
    (_S, _V), (_S, np.stack([_V, _V + 1], 1)), (_STACK, _V), (_STACK, _S), (_S, _STACK),
    (_STACK[:1], np.stack([_P, _S, _S])), (_Z, _V),
    (_S, _V + 1j), (_S32, _V.astype(np.float32)), (_I, [1.0, 2.0])])
def solve_rrule(a, b):
    """`b̄ = a⁻ᴴ ȳ`, `ā = -b̄ yᴴ` (Giles 2008, section 2.2.3); b with one axis is a vector, else matrices."""
    y = np.linalg.solve(a, b)

    def solve_pullback(y_bar):
        columns_bar = y_bar[..., None] if np.ndim(b) == 1 else y_bar
        columns = y[..., None] if np.ndim(b) == 1 else y
        b_bar = np.linalg.solve(adjoint(np.asarray(a)), columns_bar)
        a_bar = Thunk(lambda: like_argument(a, unbroadcast(-b_bar @ adjoint(columns), np.asarray(a))))
        shaped = unbroadcast(b_bar[..., 0] if np.ndim(b) == 1 else b_bar, np.asarray(b))
        return NoTangent(), a_bar, like_argument(b, shaped)
    return y, solve_pullback


@TABLE.frule(np.linalg.solve)
def solve_frule(tangents, a, b):
    y = np.linalg.solve(a, b)
    columns = y[..., None] if np.ndim(b) == 1 else y
    moved = -dense(a, tangents[1]) @ columns
    right = dense(b, tangents[2])
    y_dot = np.linalg.solve(a, moved + (right[..., None] if np.ndim(b) == 1 else right))
    return y, y_dot[..., 0] if np.ndim(b) == 1 else y_dot


# -- what reads one triangle of a Hermitian matrix -----------------------------------------------------------

def onto_triangle(h_bar, lower):
    """The cotangent of the triangle that LAPACK reads, from that of the whole Hermitian matrix.

    NumPy never looks at the other triangle, so its cotangent is zero and the one that is read counts double.

    >>> onto_triangle(np.array([[1.0, 2.0], [2.0, 3.0]]), lower=True)
    array([[1., 0.],
           [4., 3.]])
    """
    strict = np.tril(h_bar, -1) if lower else np.triu(h_bar, 1)
    return 2 * strict + diagonal_of(np.real(np.diagonal(h_bar, axis1=-2, axis2=-1)))


def from_triangle(a_dot, lower):
    """The tangent of the whole Hermitian matrix that LAPACK sees, from that of the triangle it reads."""
    strict = np.tril(a_dot, -1) if lower else np.triu(a_dot, 1)
    return strict + adjoint(strict) + diagonal_of(np.real(np.diagonal(a_dot, axis1=-2, axis2=-1)))


def hermitian_part(x):
    return 0.5 * (x + adjoint(x))


def lower_half(x):
    """The lower triangle with half of the diagonal: the Φ of Murray 2016."""
    return np.tril(x, -1) + 0.5 * diagonal_of(np.real(np.diagonal(x, axis1=-2, axis2=-1)))


@strong_zero
def cholesky_bar(y_bar, result, a):
    """The cotangent of a real matrix for that of its lower factor."""
    if result.ndim > 2:
        inside = hermitian_part(lower_half(result.mT @ np.tril(y_bar)))
        half = np.linalg.solve(result.mT, inside)
        return onto_triangle(np.linalg.solve(result.mT, half.mT).mT, lower=True)
    # The same for one matrix, written into a few arrays.
    lower, step = np.tril(result.T @ np.tril(y_bar)), len(result) + 1
    lower.flat[::step] *= 0.5
    inside = 0.5 * (lower + lower.T)
    half = np.linalg.solve(result.T, inside)
    a_bar = np.tril(np.linalg.solve(result.T, half.T).T)
    a_bar *= 2.0
    a_bar.flat[::step] *= 0.5
    return a_bar


@TABLE.rrule(np.linalg.cholesky, leading=1, cotangents=(cholesky_bar,), points=[
    (_P,), (np.stack([_P, 2 * _P + np.eye(3)]),), ((_P,), {"upper": True}),
    (_P + 0.25j * (np.tri(3) - np.tri(3).T),),
    ((_P + 0.25j * (np.tri(3) - np.tri(3).T),), {"upper": True}), (_P.astype(np.float32),), (_I,)])
def cholesky_rrule(a, /, *, upper=False):
    """`h̄ = L⁻ᴴ sym(Φ(Lᴴ L̄)) L⁻¹` (Murray 2016, arXiv:1602.07527, eq. 10), onto the triangle read."""
    y = np.linalg.cholesky(a, upper=upper)

    def cholesky_pullback(y_bar):
        factor, factor_bar = (adjoint(y), adjoint(y_bar)) if upper else (y, y_bar)
        inside = hermitian_part(lower_half(adjoint(factor) @ np.tril(factor_bar)))
        half = np.linalg.solve(adjoint(factor), inside)
        h_bar = adjoint(np.linalg.solve(adjoint(factor), adjoint(half)))
        return NoTangent(), like_argument(a, onto_triangle(h_bar, lower=not upper))
    return y, cholesky_pullback


@TABLE.frule(np.linalg.cholesky)
def cholesky_frule(tangents, a, /, *, upper=False):
    y = np.linalg.cholesky(a, upper=upper)
    factor = adjoint(y) if upper else y
    h_dot = from_triangle(dense(a, tangents[1]), lower=not upper)
    half = np.linalg.solve(factor, h_dot)
    y_dot = factor @ lower_half(adjoint(np.linalg.solve(factor, adjoint(half))))
    return y, laid_out(y, adjoint(y_dot) if upper else y_dot)


# -- eigenvalues and eigenvectors of Hermitian matrices ------------------------------------------------------

def over_gaps(numerators, values, in_use, what):
    """`numerators[i, j] / (values[j] - values[i])` off the diagonal.

    Where values coincide the vectors are undetermined and the quotient may be 0/0 with a limit that is not
    zero: it is refused for every vector that is `in_use` (…, k), and zero for the others.
    """
    gaps, equal = gaps_between(values)
    undetermined = equal & ~np.eye(gaps.shape[-1], dtype=bool) & in_use[..., None, :]
    if np.any(undetermined):
        refuse(f"the vectors of {what} have no derivative where two values coincide",
               "use the values only", "take values and vectors from two calls, if some vectors are not used",
               "write what you need as a function of the whole matrix")
    return np.where(equal, 0.0, numerators / np.where(equal, 1.0, gaps))


def gaps_between(values):
    """`values[j] - values[i]` as (…, k, k), and where that is nothing but rounding."""
    gaps = values[..., None, :] - values[..., :, None]
    scale = np.max(np.abs(values), initial=0.0)
    return gaps, np.abs(gaps) <= 8 * np.finfo(gaps.dtype).eps * scale


def columns_in_use(v_bar, w_bar):
    """Which vectors a result depends on: those with a cotangent, and those whose values have one.

    At the identity the cotangent of `v` in `(v * (w - 1)) @ v.T` is 0, and yet the vectors matter. Our own
    formulas, in which vectors with a cotangent 0 do not matter, pass a zero for `w_bar`.
    """
    in_use = np.any(v_bar != 0, axis=-2)
    return in_use if is_zero(w_bar) else in_use | (np.asarray(w_bar) != 0)


def settled(values_dot, values, turns, what):
    """The tangents of eigenvalues as they are; the change turns their vectors by `turns` over the gaps.

    Where values coincide and `turns` mixes their vectors, the derivative of these tangents is refused: it is
    made of second derivatives by each of the values, over gaps that are 0, which no first derivative tells.
    """
    return values_dot


@TABLE.rrule(settled, leading=4)
def settled_rrule(values_dot, values, turns, what):

    def settled_pullback(y_bar):
        if not is_zero(y_bar):
            check_unmixed(values, turns, what)
        return NoTangent(), y_bar, NoTangent(), NoTangent(), NoTangent()

    return values_dot, settled_pullback


@TABLE.frule(settled)
def settled_frule(tangents, values_dot, values, turns, what):
    check_unmixed(values, turns, what)
    return values_dot, tangents[1]


def check_unmixed(values, turns, what):
    """Refuse second derivatives by values that coincide, if `turns` (…, k, k) mixes their vectors."""
    _, equal = gaps_between(values)
    rounding = 8 * turns.shape[-1] * np.finfo(turns.dtype).eps
    mixed = np.abs(off_diagonal(turns)) > rounding * np.max(np.abs(turns), initial=0.0)
    if np.any(equal & (mixed | np.swapaxes(mixed, -2, -1))):
        refuse(f"second derivatives through {what} cannot be taken where two values coincide",
               "write the result as a function of the whole matrix, as np.sum(a**2) for np.sum(values**2)")


@TABLE.rrule(np.linalg.eigh, leading=1, points=[
    (_P,), (_P, "U"), (_S,), (np.stack([_P, _P[::-1, ::-1] + _S]),), (np.array([[2.0]]),)])
def eigh_rrule(a, UPLO="L"):
    """`h̄ = v (diag(w̄) + sym(F ∘ vᴴ v̄)) vᴴ`, `F_ij = 1/(w_j - w_i)` (Giles 2008, section 3.1).

    Then onto the triangle read. Where eigenvalues coincide their vectors have no derivative: refused if v̄
    holds anything in those columns. So is a v̄ by which the phases of complex vectors would matter.
    """
    y = np.linalg.eigh(a, UPLO)
    w, v = y

    def eigh_pullback(y_bar):
        if np.iscomplexobj(v):
            check_phases((v,), (y_bar[1],), "np.linalg.eigh")
        return NoTangent(), like_argument(a, _eigh_cotangent(w, v, y_bar, y_bar[0], UPLO))
    return y, eigh_pullback


def _eigh_cotangent(w, v, y_bar, counted, UPLO):
    w_bar, v_bar = y_bar
    inside = diagonal_of(np.zeros_like(w) if is_zero(w_bar) else np.asarray(w_bar))
    if not is_zero(v_bar):
        turned = adjoint(v) @ v_bar
        in_use = columns_in_use(v_bar, counted)
        inside = inside + over_gaps(0.5 * (turned - adjoint(turned)), w, in_use, "eigh")
    return onto_triangle(v @ inside @ adjoint(v), UPLO.upper() == "L")


@TABLE.frule(np.linalg.eigh)
def eigh_frule(tangents, a, UPLO="L"):
    y = np.linalg.eigh(a, UPLO)
    w, v = y.eigenvalues, y.eigenvectors
    inside = adjoint(v) @ from_triangle(dense(a, tangents[1]), UPLO.upper() == "L") @ v
    w_dot = np.real(np.diagonal(inside, axis1=-2, axis2=-1))
    v_dot = v @ over_gaps(off_diagonal(inside), w, np.ones(w.shape, bool), "eigh")
    if np.iscomplexobj(v):
        (v_dot,) = of_any_phase((v_dot,), (v,), "np.linalg.eigh")
    return y, type(y)(laid_out(w, w_dot), laid_out(v, v_dot))


@TABLE.rrule(np.linalg.eigvalsh, leading=1, points=[
    (_P,), (_P, "U"), (_S,), (np.stack([_P, 2 * _P]),), (_P + 0.25j * (np.tri(3) - np.tri(3).T),)])
def eigvalsh_rrule(a, UPLO="L"):
    """`h̄ = v diag(w̄) vᴴ`, onto the triangle read; where values coincide it is one of several."""
    w, v = np.linalg.eigh(a, UPLO)

    def eigvalsh_pullback(w_bar):
        return NoTangent(), like_argument(a, onto_triangle((v * w_bar[..., None, :]) @ adjoint(v),
                                                           UPLO.upper() == "L"))
    return w, eigvalsh_pullback


@TABLE.frule(np.linalg.eigvalsh)
def eigvalsh_frule(tangents, a, UPLO="L"):
    w, v = hermitian_pairs(a, UPLO)
    h_dot = from_triangle(dense(a, tangents[1]), UPLO.upper() == "L")
    turns = adjoint(v) @ h_dot @ v
    w_dot = np.real(np.diagonal(turns, axis1=-2, axis2=-1))
    return w, laid_out(w, settled(w_dot, w, turns, "eigvalsh"))


def hermitian_pairs(a, UPLO):
    """`np.linalg.eigh` for formulas in which the phases of the vectors cancel: those of complex ones are
    LAPACK's choice, and the derivative of such a formula does not depend on it.
    """
    w, v = np.linalg.eigh(a, UPLO)
    return w, v


@TABLE.rrule(hermitian_pairs, leading=1)
def hermitian_pairs_rrule(a, UPLO):
    w, v = np.linalg.eigh(a, UPLO)

    def hermitian_pairs_pullback(y_bar):
        return NoTangent(), like_argument(a, _eigh_cotangent(w, v, y_bar, ZeroTangent(), UPLO))

    return (w, v), hermitian_pairs_pullback


@TABLE.frule(hermitian_pairs)
def hermitian_pairs_frule(tangents, a, UPLO):
    w, v = hermitian_pairs(a, UPLO)
    inside = adjoint(v) @ from_triangle(dense(a, tangents[1]), UPLO.upper() == "L") @ v
    w_dot = np.real(np.diagonal(inside, axis1=-2, axis2=-1))
    v_dot = v @ over_gaps(off_diagonal(inside), w, np.ones(w.shape, bool), "eigh")
    return (w, v), (laid_out(w, w_dot), laid_out(v, v_dot))


# -- singular values -----------------------------------------------------------------------------------------

def svd_cotangent(u, s, vh, u_bar, s_bar, vh_bar, counted):
    """ā of the reduced SVD `a = u diag(s) vh` (Townsend 2016, "Differentiating the SVD", transposed).

    u (…, m, k), s (…, k), vh (…, k, n); any of the cotangents may be zero. Vectors whose values have a
    cotangent in `counted` are in use.
    """
    inside = diagonal_of(np.zeros_like(s) if is_zero(s_bar) else np.asarray(s_bar))
    outside = ZeroTangent()
    if not is_zero(u_bar):
        turned = adjoint(u) @ u_bar
        turns = over_gaps(turned - adjoint(turned), s * s, columns_in_use(u_bar, counted), "svd")
        inside = inside + turns * s[..., None, :]
        if u.shape[-2] > u.shape[-1]:
            outside = outside + over_values(u_bar - u @ turned, s, counted) @ vh
    if not is_zero(vh_bar):
        v_bar, v = adjoint(vh_bar), adjoint(vh)
        turned = vh @ v_bar
        turns = over_gaps(turned - adjoint(turned), s * s, columns_in_use(v_bar, counted), "svd")
        inside = inside + s[..., :, None] * turns
        if v.shape[-2] > v.shape[-1]:
            outside = outside + u @ adjoint(over_values(v_bar - v @ turned, s, counted))
    return u @ inside @ vh + outside


def over_values(columns, s, s_bar):
    """Columns divided by the singular values that belong to them; columns of zeros stay, if nothing depends
    on the value either.

    A value of which nothing but rounding is left counts as zero: its vectors are arbitrary.
    """
    largest = np.max(s, axis=-1, keepdims=True, initial=0.0)
    none = s <= np.finfo(s.dtype).eps * max(columns.shape[-2:]) * largest
    if np.any(none & columns_in_use(columns, s_bar)):
        refuse("the vectors of svd have no derivative where a singular value is zero", "use the values only")
    return columns / np.where(none, 1.0, s)[..., None, :]


def svd_vectors_wanted(a, full_matrices, u_bar, vh_bar):
    """Whether the cotangents of the vectors matter; refuses those that LAPACK chooses freely."""
    if is_zero(u_bar) and is_zero(vh_bar):
        return False
    if full_matrices and np.shape(a)[-1] != np.shape(a)[-2]:
        refuse("svd(full_matrices=True) of a matrix that is not square is not differentiated: the extra "
               "vectors are arbitrary",
               "pass full_matrices=False")
    return True


_SVD = [((_S,), {}), ((_TALL,), {"full_matrices": False}), ((_TALL.T,), {"full_matrices": False}),
        ((_S, False), {}),
        ((_TALL, False, False), {}), ((_TALL,), {"compute_uv": False}), ((_STACK,), {}),
        ((_TALL + 1j * _TALL[::-1],), {"compute_uv": False})]


@TABLE.rrule(np.linalg.svd, leading=1, points=_SVD)
def svd_rrule(a, full_matrices=True, compute_uv=True, hermitian=False):
    """The derivative of u, s, vh; where values coincide that of their vectors is refused."""
    y = np.linalg.svd(a, full_matrices, compute_uv, hermitian)
    u, s, vh = singular_values_and_vectors(a)
    if compute_uv and y[0].shape == u.shape and y[2].shape == vh.shape:
        u, s, vh = y

    def svd_pullback(y_bar):
        u_bar, s_bar, vh_bar = y_bar if compute_uv else (ZeroTangent(), y_bar, ZeroTangent())
        if not svd_vectors_wanted(a, full_matrices, u_bar, vh_bar):
            u_bar = vh_bar = ZeroTangent()
        if np.iscomplexobj(u):
            v_bar = vh_bar if is_zero(vh_bar) else adjoint(vh_bar)
            check_phases((u, adjoint(vh)), (u_bar, v_bar), "np.linalg.svd")
        a_bar = svd_cotangent(u, s, vh, u_bar, s_bar, vh_bar, s_bar)
        return NoTangent(), like_argument(a, a_bar + turn_cotangent(u, s, vh, u_bar))
    if hermitian:
        refuse("np.linalg.svd with hermitian=True is not differentiated",
               "leave hermitian out, or use np.linalg.eigh")
    return y, svd_pullback


@TABLE.frule(np.linalg.svd)
def svd_frule(tangents, a, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        refuse("np.linalg.svd with hermitian=True is not differentiated",
               "leave hermitian out, or use np.linalg.eigh")
    a_dot = dense(a, tangents[1])
    if not compute_uv:
        check_values(a)
        u, s, vh = singular_triples(a)
        return s, laid_out(s, svd_values_tangent(u, s, vh, a_dot))
    svd_vectors_wanted(a, full_matrices, True, True)
    y = np.linalg.svd(a, full_matrices)
    u_dot, s_dot, vh_dot = svd_tangents(y.U, y.S, y.Vh, a_dot)
    if np.iscomplexobj(u_dot):
        dots, vectors = (u_dot, adjoint(vh_dot)), (y.U, adjoint(y.Vh))
        u_dot, v_dot = of_any_phase(dots, vectors, "np.linalg.svd")
        vh_dot = laid_out(y.Vh, adjoint(v_dot))
    return y, type(y)(u_dot, s_dot, vh_dot)


def svd_tangents(u, s, vh, a_dot):
    """Those of u, s and vh of a reduced SVD; the phase of u against v is not free, and counts as one of u."""
    v, inside = adjoint(vh), adjoint(u) @ a_dot @ adjoint(vh)
    columns, rows, every = s[..., None, :], s[..., :, None], np.ones(s.shape, bool)
    u_dot = u @ over_gaps(off_diagonal(inside * columns + rows * adjoint(inside)), s * s, every, "svd")
    v_dot = v @ over_gaps(off_diagonal(rows * inside + adjoint(inside) * columns), s * s, every, "svd")
    if u.shape[-2] > u.shape[-1]:
        u_dot = u_dot + over_values(a_dot @ v - u @ inside, s, ZeroTangent())
    if v.shape[-2] > v.shape[-1]:
        v_dot = v_dot + over_values(adjoint(a_dot) @ u - v @ adjoint(inside), s, ZeroTangent())
    if np.iscomplexobj(u):
        turns = np.imag(np.sum(np.conj(u) * (a_dot @ v), axis=-2, keepdims=True))
        u_dot = u_dot + u * (1j * over_values(turns, s, ZeroTangent()))
    s_dot = svd_values_tangent(u, s, vh, a_dot)
    return laid_out(u, u_dot), laid_out(s, s_dot), laid_out(vh, adjoint(v_dot))


@TABLE.rrule(singular_triples, leading=1)
def singular_triples_rrule(a):
    """That of `svd`, for any phases."""
    u, s, vh = singular_triples(a)

    def singular_triples_pullback(y_bar):
        u_bar, s_bar, vh_bar = y_bar
        a_bar = svd_cotangent(u, s, vh, u_bar, s_bar, vh_bar, ZeroTangent())
        return NoTangent(), like_argument(a, a_bar + turn_cotangent(u, s, vh, u_bar))

    return (u, s, vh), singular_triples_pullback


def turn_cotangent(u, s, vh, u_bar):
    """What the phases of complex `u` against those of `v` add to ā."""
    if not np.iscomplexobj(u) or is_zero(u_bar):
        return 0.0
    turns = np.imag(np.sum(np.conj(u) * u_bar, axis=-2, keepdims=True))
    return (u * (1j * over_values(turns, s, ZeroTangent()))) @ vh


@TABLE.frule(singular_triples)
def singular_triples_frule(tangents, a):
    u, s, vh = singular_triples(a)
    a_dot = dense(a, tangents[1])
    return (u, s, vh), svd_tangents(u, s, vh, a_dot)


def svd_values_tangent(u, s, vh, a_dot):
    """`diag(uᴴ ȧ v)`."""
    inside = adjoint(u) @ a_dot @ adjoint(vh)
    s_dot = np.real(np.diagonal(inside, axis1=-2, axis2=-1))
    return settled(s_dot, *_with_a_value_zero(s, inside, u, vh, a_dot), "svd")


def _with_a_value_zero(s, inside, u, vh, a_dot):
    """The values and `uᴴ ȧ v`, and a value 0 more, for the vectors outside the spans of `u` and `vh`, if any:
    those of a value that is 0 turn into them.
    """
    rows, columns = a_dot @ adjoint(vh) - u @ inside, adjoint(u) @ a_dot - inside @ vh
    into, out_of = (np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=True)) for x, axis in
                    ((rows, -2), (columns, -1)))
    none = np.zeros_like(np.sum(into, axis=-1, keepdims=True))
    turns = np.concatenate([np.concatenate([inside, out_of], -1), np.concatenate([into, none], -1)], -2)
    return np.concatenate([s, none[..., 0]], -1), turns


TABLE.non_differentiable(_with_a_value_zero)


def off_diagonal(x):
    return x * (1 - np.eye(x.shape[-1], dtype=x.dtype))


@TABLE.rrule(np.linalg.svdvals, leading=1, points=[(_S,), (_TALL,), (_STACK,)])
def svdvals_rrule(x):
    u, s, vh = singular_values_and_vectors(x)

    def svdvals_pullback(s_bar):
        return NoTangent(), like_argument(x, (u * s_bar[..., None, :]) @ vh)
    return s, svdvals_pullback


@TABLE.frule(np.linalg.svdvals)
def svdvals_frule(tangents, x):
    check_values(x)
    u, s, vh = singular_triples(x)
    return s, laid_out(s, svd_values_tangent(u, s, vh, dense(x, tangents[1])))


# -- qr ------------------------------------------------------------------------------------------------------

def _check_qr(a, mode):
    if mode not in ("reduced", "r"):
        refuse(f"np.linalg.qr with mode={mode!r} is not differentiated", "use mode='reduced'")
    if np.shape(a)[-2] < np.shape(a)[-1]:
        refuse("np.linalg.qr of a matrix with more columns than rows is not differentiated")
    if np.iscomplexobj(a):
        refuse("np.linalg.qr of a complex matrix is not differentiated")


@TABLE.rrule(np.linalg.qr, leading=1, points=[
    (_S,), (_TALL,), (_STACK,), (_TALL, "r"), (np.stack([_TALL, _TALL + np.eye(4, 2)]), "reduced")])
def qr_rrule(a, mode="reduced"):
    """`ā = (q̄ + q copyltu(m)) r⁻ᵀ`, `m = r r̄ᵀ - q̄ᵀ q` (Walter & Lehmann 2010; Liao et al. 2019).

    a (…, m, n) with m ≥ n and of full rank; real.
    """
    _check_qr(a, mode)
    y = np.linalg.qr(a, mode)
    q, r = y if mode == "reduced" else np.linalg.qr(a)

    def qr_pullback(y_bar):
        q_bar, r_bar = y_bar if mode == "reduced" else (ZeroTangent(), y_bar)
        m, outer = ZeroTangent(), ZeroTangent()
        if not is_zero(r_bar):
            m = r @ adjoint(np.triu(r_bar))
        if not is_zero(q_bar):
            m, outer = m - adjoint(q_bar) @ q, q_bar
        if is_zero(m):
            return NoTangent(), ZeroTangent()
        below = np.tril(m)
        rhs = outer + q @ (below + adjoint(np.tril(m, -1)))
        return NoTangent(), like_argument(a, _right_divide(rhs, adjoint(r)))
    return y, qr_pullback


def _right_divide(x, r):
    """`x r⁻¹`; an `r` that is singular, as far as floats can tell, is refused."""
    check_full_rank(r)
    return adjoint(np.linalg.solve(adjoint(r), adjoint(x)))


def check_full_rank(r):
    """Refuse an `r` of whose smallest pivot nothing but rounding is left: `q` is arbitrary there."""
    pivots = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    rounding = np.finfo(pivots.dtype).eps * np.shape(r)[-1]
    if pivots.size and np.any(pivots <= rounding * np.max(pivots, -1, keepdims=True)):
        refuse("np.linalg.qr of a matrix without full column rank has no derivative")


TABLE.non_differentiable(check_full_rank)


@TABLE.frule(np.linalg.qr)
def qr_frule(tangents, a, mode="reduced"):
    _check_qr(a, mode)
    q, r = np.linalg.qr(a)
    a_dot = dense(a, tangents[1])
    inside = _right_divide(adjoint(q) @ a_dot, r)
    below = np.tril(inside, -1)
    r_dot = (inside - below + adjoint(below)) @ r
    if mode == "r":
        return r, laid_out(r, r_dot)
    y = np.linalg.qr(a)
    return y, type(y)(laid_out(q, _right_divide(a_dot - q @ r_dot, r)), laid_out(r, r_dot))


# -- least squares -------------------------------------------------------------------------------------------

class LeastSquares:
    """What the derivative of `y = lstsq(a, b)` is made of, for a matrix of full rank.

    With `p = pinv(a)` and `r = b - a x` (Golub & Pereyra 1973, as for `pinv`):
    `ẋ = p (ḃ - ȧ x) + p pᴴ ȧᴴ r + (1 - p a) ȧᴴ pᴴ x`, and the sum of squares `|r|²` moves by
    `2 Re rᴴ (ḃ - ȧ x)`.
    """

    def __init__(self, y, a, b):
        self.y = y
        self.a, b = np.asarray(a), np.asarray(b)
        if self.y[2] < min(self.a.shape):
            refuse("lstsq of a matrix without full rank has no derivative")
        self.p = np.linalg.pinv(self.a)
        self.is_vector = b.ndim == 1
        # A copy: the solution is the caller's, who may write to it before the pullback is called.
        self.x, columns = self.columns(self.y[0].copy()), self.columns(b)
        self.r = columns - self.a @ self.x

    def columns(self, x):
        x = np.asarray(x)
        return x[:, None] if self.is_vector else x

    def like_b(self, columns):
        return columns[:, 0] if self.is_vector else columns

    def cotangents(self, x_bar, residuals_bar):
        a_bar, b_bar, p, x = ZeroTangent(), ZeroTangent(), self.p, self.x
        if not is_zero(x_bar):
            x_bar = self.columns(x_bar)
            b_bar = adjoint(p) @ x_bar
            outside = x_bar - p @ (self.a @ x_bar)
            a_bar = -b_bar @ adjoint(x) + self.r @ adjoint(p @ b_bar) + (adjoint(p) @ x) @ adjoint(outside)
        if not is_zero(residuals_bar) and np.size(residuals_bar):
            moved = 2 * self.r * residuals_bar
            a_bar, b_bar = a_bar - moved @ adjoint(x), b_bar + moved
        return a_bar, b_bar if is_zero(b_bar) else self.like_b(b_bar)

    def tangent(self, a_dot, b_dot):
        moved = self.columns(b_dot) - a_dot @ self.x
        p, turned = self.p, adjoint(a_dot) @ (adjoint(self.p) @ self.x)
        x_dot = p @ moved + p @ (adjoint(p) @ (adjoint(a_dot) @ self.r)) + turned - p @ (self.a @ turned)
        residuals_dot = 2 * np.real(np.sum(conjugated(self.r) * moved, axis=0))
        return self.like_b(x_dot), residuals_dot if self.y[1].size else np.zeros_like(self.y[1])


_B = np.stack([_TALL[:, 0] ** 2, _TALL[:, 1] + 0.5], 1)


@TABLE.rrule(
    np.linalg.lstsq,
    leading=2,
    points=[
        (_TALL, _B[:, 0]),
        (_TALL, _B),
        (_TALL.T, _V[:2]),
        (_S, _V),
        (_TALL + 1j * _B, _B[:, 0]),
        (_TALL, _B * 1j),
        (_TALL.T, _B[:2], None),
        (_TALL, _B, 1e-12),
    ],
)
def lstsq_rrule(a, b, rcond=None):
    """The derivatives of the solution, of the residuals, and of the singular values; of full rank."""
    solved = LeastSquares(np.linalg.lstsq(a, b, rcond), a, b)

    def lstsq_pullback(y_bar):
        x_bar, residuals_bar, _, s_bar = y_bar
        a_bar, b_bar = solved.cotangents(x_bar, residuals_bar)
        if not is_zero(s_bar):
            u, _, vh = singular_values_and_vectors(a)
            a_bar = a_bar + (u * np.asarray(s_bar)) @ vh
        return (NoTangent(), a_bar if is_zero(a_bar) else like_argument(a, a_bar),
                b_bar if is_zero(b_bar) else like_argument(b, b_bar))
    return solved.y, lstsq_pullback


@TABLE.frule(np.linalg.lstsq)
def lstsq_frule(tangents, a, b, rcond=None):
    solved, a_dot = LeastSquares(np.linalg.lstsq(a, b, rcond), a, b), dense(a, tangents[1])
    x_dot, residuals_dot = solved.tangent(a_dot, dense(b, tangents[2]))
    u, s, vh = singular_triples(a)
    s_dot = svd_values_tangent(u, s, vh, a_dot)
    y = solved.y
    return y, (laid_out(y[0], x_dot), laid_out(y[1], residuals_dot), NoTangent(), laid_out(y[3], s_dot))


# -- eigenvalues of general matrices -------------------------------------------------------------------------

def _eigenbasis(a, what):
    """The eigenvalues, the right vectors, and the left ones as rows; a matrix without a basis is refused."""
    w, v = eigenpairs(a, what)
    return w, v, np.linalg.inv(v)


def eigenpairs(a, what):
    """`np.linalg.eig` for formulas in which the lengths and phases of the vectors cancel."""
    w, v = np.linalg.eig(a)
    if np.size(v) and np.max(np.linalg.cond(v)) > 1e12:
        refuse(f"{what} has no derivative at a matrix whose eigenvectors do not form a basis")
    return w, v


@TABLE.rrule(eigenpairs, leading=1)
def eigenpairs_rrule(a, what):
    w, v = eigenpairs(a, what)

    def eigenpairs_pullback(y_bar):
        w_bar, v_bar = y_bar
        inside = diagonal_of(np.zeros_like(w) if is_zero(w_bar) else np.asarray(w_bar))
        if not is_zero(v_bar):
            turned = off_diagonal(adjoint(v) @ np.asarray(v_bar))
            inside = inside + over_gaps(turned, np.conj(w), columns_in_use(v_bar, ZeroTangent()), what)
        return NoTangent(), like_argument(a, np.linalg.solve(adjoint(v), inside @ adjoint(v)))

    return (w, v), eigenpairs_pullback


@TABLE.frule(eigenpairs)
def eigenpairs_frule(tangents, a, what):
    w, v = eigenpairs(a, what)
    inside = np.linalg.solve(v, dense(a, tangents[1]) @ v)
    v_dot = v @ over_gaps(off_diagonal(inside), w, np.ones(w.shape, bool), what)
    return (w, v), (laid_out(w, np.diagonal(inside, axis1=-2, axis2=-1)), v_dot)


_G = np.array([[1.0, 2.0, 0.5], [0.25, 3.0, -1.0], [1.5, 0.5, -2.0]])
_TURN = np.array([[0.5, -2.0], [1.0, 0.25]])


@TABLE.rrule(
    np.linalg.eigvals, leading=1, points=[(_G,), (_TURN,), (np.stack([_G, _G.T + 1]),), (_G + 1j * _G.T,)]
)
def eigvals_rrule(a):
    """`ā = v⁻ᴴ diag(w̄) vᴴ` (Giles 2008, section 3.1)."""
    w, v, left = _eigenbasis(a, "np.linalg.eigvals")

    def eigvals_pullback(w_bar):
        return NoTangent(), like_argument(a, adjoint(left) @ (np.asarray(w_bar)[..., None] * adjoint(v)))
    return w, eigvals_pullback


@TABLE.frule(np.linalg.eigvals)
def eigvals_frule(tangents, a):
    w, v, left = _eigenbasis(a, "np.linalg.eigvals")
    turns = left @ dense(a, tangents[1]) @ v
    return w, laid_out(w, settled(np.diagonal(turns, axis1=-2, axis2=-1), w, turns, "eigvals"))


def along_vectors(v, v_bar):
    """`v̄` without what would only change the lengths of the vectors, which are 1, or turn them."""
    return v_bar - v * np.sum(conjugated(v) * v_bar, axis=-2, keepdims=True)


@TABLE.rrule(np.linalg.eig, leading=1, points=[(_G,), (np.stack([_G, _G.T + 2]),)])
def eig_rrule(a):
    """`ā = v⁻ᴴ (diag(w̄) + F ∘ vᴴ v̄) vᴴ`, `F_ij = 1/conj(w_j - w_i)`, v̄ without its parts along the vectors.

    A v̄ by which the phases of complex vectors would matter is refused: they are LAPACK's choice.
    """
    y = np.linalg.eig(a)
    _, v, left = _eigenbasis(a, "np.linalg.eig")

    def eig_pullback(y_bar):
        w_bar, v_bar = y_bar
        inside = diagonal_of(np.zeros_like(y[0]) if is_zero(w_bar) else np.asarray(w_bar))
        if not is_zero(v_bar):
            if have_phases(a, v):
                check_phases((v,), (np.asarray(v_bar),), "np.linalg.eig")
            turned = adjoint(v) @ along_vectors(v, np.asarray(v_bar))
            in_use = columns_in_use(v_bar, w_bar)
            inside = inside + over_gaps(off_diagonal(turned), np.conj(y[0]), in_use, "eig")
        return NoTangent(), like_argument(a, adjoint(left) @ inside @ adjoint(v))
    return y, eig_pullback


@TABLE.frule(np.linalg.eig)
def eig_frule(tangents, a):
    y = np.linalg.eig(a)
    w, v = y.eigenvalues, y.eigenvectors
    eigenpairs(a, "np.linalg.eig")  # which refuses a matrix without a basis
    inside = np.linalg.solve(v, dense(a, tangents[1]) @ v)
    w_dot = np.diagonal(inside, axis1=-2, axis2=-1)
    v_dot = along_vectors(v, v @ over_gaps(inside - diagonal_of(w_dot), w, np.ones(w.shape, bool), "eig"))
    if have_phases(a, v):
        (v_dot,) = of_any_phase((v_dot,), (v,), "np.linalg.eig")
    return y, type(y)(laid_out(w, w_dot), laid_out(v, v_dot))


# -- condition numbers, tensor forms -------------------------------------------------------------------------

def _check_cond(p):
    if p not in (None, 2, -2):
        refuse(f"np.linalg.cond with p={p!r} is not differentiated",
               "write np.linalg.norm(x, p) * np.linalg.norm(np.linalg.inv(x), p)")


def _cond_slope(x, p):
    """The derivative of the quotient of the largest and the smallest singular value (or its inverse)."""
    u, s, vh = singular_triples(x)
    top, low = (s[..., k, None, None] for k in (0, -1))
    first, last = (u[..., :, k, None] * vh[..., None, k, :] for k in (0, -1))
    if p == -2:
        return last / top - first * low / top**2
    return first / low - last * top / low**2


@TABLE.rrule(np.linalg.cond, leading=1, points=[(_S,), (_TALL,), (_STACK, 2), (_S, -2), (_Z,)])
def cond_rrule(x, p=None):
    """Of the two singular values that it is the quotient of."""
    _check_cond(p)

    def cond_pullback(y_bar):
        return NoTangent(), like_argument(x, np.asarray(y_bar)[..., None, None] * _cond_slope(x, p))
    return np.linalg.cond(x, p), cond_pullback


@TABLE.frule(np.linalg.cond)
def cond_frule(tangents, x, p=None):
    _check_cond(p)
    products = np.real(conjugated(_cond_slope(x, p)) * dense(x, tangents[1]))
    return np.linalg.cond(x, p), np.sum(products, axis=(-2, -1))


_FOUR = (np.eye(6) + 0.25 * np.sin(np.arange(36.0)).reshape(6, 6)).reshape(2, 3, 6)


@TABLE.rrule(np.linalg.tensorinv, leading=1, points=[(_FOUR,), (_FOUR.reshape(6, 3, 2), 1)])
def tensorinv_rrule(a, ind=2):
    """The inverse of the tensor as a matrix: `ā = -yᴴ ȳ yᴴ`."""
    y = np.linalg.tensorinv(a, ind)

    def tensorinv_pullback(y_bar):
        side = int(np.prod(np.shape(a)[ind:]))
        matrix, bar = np.reshape(y, (side, -1)), np.reshape(y_bar, (side, -1))
        return NoTangent(), like_argument(
            a, np.reshape(-adjoint(matrix) @ bar @ adjoint(matrix), np.shape(a))
        )

    return y, tensorinv_pullback


@TABLE.frule(np.linalg.tensorinv)
def tensorinv_frule(tangents, a, ind=2):
    y = np.linalg.tensorinv(a, ind)
    side = int(np.prod(np.shape(a)[ind:]))
    matrix = np.reshape(y, (side, -1))
    return y, np.reshape(-matrix @ np.reshape(dense(a, tangents[1]), (-1, side)) @ matrix, y.shape)


def _check_tensorsolve(axes):
    if axes is not None:
        refuse("np.linalg.tensorsolve with axes= is not differentiated", "use np.moveaxis first")


@TABLE.rrule(
    np.linalg.tensorsolve, leading=2, points=[(_FOUR, _B[:3].T.copy()), (_FOUR.reshape(6, 3, 2), _FOUR[0, 0])]
)
def tensorsolve_rrule(a, b, axes=None):
    """That of `solve` for the tensor as a matrix."""
    _check_tensorsolve(axes)
    y = np.linalg.tensorsolve(a, b)

    def tensorsolve_pullback(y_bar):
        matrix = np.reshape(a, (np.size(b), np.size(y)))
        b_bar = np.linalg.solve(adjoint(matrix), np.ravel(y_bar))
        a_bar = -np.outer(b_bar, conjugated(np.ravel(y)))
        return (NoTangent(), like_argument(a, np.reshape(a_bar, np.shape(a))),
                like_argument(b, np.reshape(b_bar, np.shape(b))))
    return y, tensorsolve_pullback


@TABLE.frule(np.linalg.tensorsolve)
def tensorsolve_frule(tangents, a, b, axes=None):
    _check_tensorsolve(axes)
    y = np.linalg.tensorsolve(a, b)
    matrix = np.reshape(a, (np.size(b), np.size(y)))
    moved = np.ravel(dense(b, tangents[2])) - np.reshape(dense(a, tangents[1]), matrix.shape) @ np.ravel(y)
    return y, np.reshape(np.linalg.solve(matrix, moved), y.shape)


TABLE.non_differentiable(np.linalg.matrix_rank)
