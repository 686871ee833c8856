"""Rules for functions of matrices of `scipy.linalg`: the exponential, the logarithm, roots, circular and
hyperbolic functions.

For a function `f` of matrices that is given by its values, `f([[a, e], [0, a]])` has the derivative of `f` at
`a` along `e` in its corner (Mathias 1996; Higham 2008, theorem 3.6). It is its own transpose up to order:
`tr(h L(a, e)) = tr(L(a, h) e)`, so `ā = L(a, ȳᴴ)ᴴ`.
"""

import numpy as np

from ..tangents.zeros import NoTangent
from .array_likes import dense, is_zero, like_argument, refuse
from .given_values import as_given, for_lapack, lapack_kind
from .linalg_products import adjoint
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_functions", rounds=True)


def size_for(a, e):
    """A number by which to divide `e`, so that it is no larger than `a`: the algorithms scale by both."""
    largest = np.max(np.abs(e), initial=0.0)
    if largest == 0 or not np.isfinite(largest):
        return 1.0
    return largest / max(float(np.max(np.abs(a), initial=0.0)), 1e-3)


TABLE.non_differentiable(size_for)


def along(function, a, e):
    """The derivative of a function of matrices at `a` (…, n, n) along `e`, as a corner of a value; a number
    is a matrix, too.
    """
    a, e = np.atleast_2d(for_lapack(a)), np.atleast_2d(for_lapack(e))
    n, size = np.shape(a)[-1], size_for(a, e)
    upper = np.concatenate([a, e / size], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return size * function(np.concatenate([upper, lower], axis=-2))[..., :n, n:]


def state_function_of_matrices(target):
    """Both rules of a function of one square matrix."""

    @TABLE.rrule(target, leading=1)
    def of_matrix_rrule(A):
        y = target(A)

        def of_matrix_pullback(y_bar):
            a_bar = adjoint(along(target, A, adjoint(np.asarray(y_bar))))
            return NoTangent(), like_argument(A, np.reshape(a_bar, np.shape(A)))

        return y, of_matrix_pullback

    @TABLE.frule(target)
    def of_matrix_frule(tangents, A):
        return target(A), along(target, A, dense(A, tangents[1]))


for _function in (
    linalg.expm, linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm,
):  # fmt: skip
    state_function_of_matrices(_function)


# -- roots and logarithms: some versions take options --------------------------------------------------------


def _check_plain(what, options):
    if options:
        refuse(f"{what} with {', '.join(map(str, options))} is not differentiated", "leave the options out")


@TABLE.rrule(linalg.logm, leading=1)
def logm_rrule(A, *options, **named):
    """As of the others."""
    _check_plain("scipy.linalg.logm", [*options, *named])
    y = linalg.logm(A)

    def logm_pullback(y_bar):
        a_bar = adjoint(along(linalg.logm, np.asarray(A), adjoint(np.asarray(y_bar))))
        return NoTangent(), like_argument(A, a_bar)

    return y, logm_pullback


@TABLE.frule(linalg.logm)
def logm_frule(tangents, A, *options, **named):
    _check_plain("scipy.linalg.logm", [*options, *named])
    return linalg.logm(A), along(linalg.logm, np.asarray(A), dense(A, tangents[1]))


@TABLE.rrule(linalg.sqrtm, leading=1)
def sqrtm_rrule(A, *options, **named):
    """`y y = a`: `y ẏ + ẏ y = ȧ`, Sylvester's equation; so `yᴴ ā + ā yᴴ = ȳ`."""
    _check_plain("scipy.linalg.sqrtm", [*options, *named])
    y = linalg.sqrtm(A)
    _check_root(A, y)

    def sqrtm_pullback(y_bar):
        return NoTangent(), like_argument(A, _halved(adjoint(y), np.asarray(y_bar)))

    return y, sqrtm_pullback


@TABLE.frule(linalg.sqrtm)
def sqrtm_frule(tangents, A, *options, **named):
    _check_plain("scipy.linalg.sqrtm", [*options, *named])
    y = linalg.sqrtm(A)
    _check_root(A, y)
    return y, _halved(y, dense(A, tangents[1]))


def _halved(y, q):
    """The solution of `y x + x y = q`; of no matrices at all SciPy finds none."""
    return linalg.solve_sylvester(y, y, q) if np.size(y) else q


def _check_root(a, y):
    """Refuse a root of a singular matrix, which has no derivative, and what is no root, as SciPy gives for
    numbers.
    """
    if np.ndim(a) < 2:
        refuse(f"scipy.linalg.sqrtm of an array with {np.ndim(a)} axes is not differentiated",
               "make it a matrix: np.atleast_2d(a)")
    if not y.size:
        return
    values = np.linalg.svd(y, compute_uv=False) if np.all(np.isfinite(y)) else np.zeros((1, 1))
    rounding = np.sqrt(np.finfo(values.dtype).eps * np.shape(y)[-1])
    if not np.all(values[..., -1] > rounding * values[..., 0]):
        refuse("scipy.linalg.sqrtm of a singular matrix has no derivative")
    off = np.max(np.abs(y @ y - a), axis=(-2, -1))
    if not np.all(off <= rounding * values[..., 0] ** 2):
        refuse("scipy.linalg.sqrtm gives no square root here: the square of its result is a different matrix")


TABLE.non_differentiable(_check_root)


@TABLE.rrule(linalg.fractional_matrix_power, leading=2)
def fractional_matrix_power_rrule(A, t):
    """By the matrix as of the others, by the exponent `log(a) y`."""
    y = linalg.fractional_matrix_power(A, t)

    def fractional_matrix_power_pullback(y_bar):
        a, y_bar = np.asarray(A), np.asarray(y_bar)
        a_bar = adjoint(along(lambda x: linalg.fractional_matrix_power(x, t), a, adjoint(y_bar)))
        t_bar = np.real(np.sum(np.conj(linalg.logm(a) @ y) * y_bar)) if np.size(a) else 0.0
        return NoTangent(), like_argument(A, a_bar), t_bar

    return y, fractional_matrix_power_pullback


@TABLE.frule(linalg.fractional_matrix_power)
def fractional_matrix_power_frule(tangents, A, t):
    y, a = linalg.fractional_matrix_power(A, t), np.asarray(A)
    y_dot = along(lambda x: linalg.fractional_matrix_power(x, t), a, dense(A, tangents[1]))
    if np.size(a) and not is_zero(tangents[2]):
        y_dot = y_dot + tangents[2] * (linalg.logm(a) @ y)
    return y, y_dot


@TABLE.stands_in(linalg.expm_frechet)
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    both = _frechet(A, E, method, check_finite)
    value, moved = both
    a, e = np.asarray(A), np.asarray(E)
    kind = lapack_kind(np.result_type(a, e, float))
    whole = np.broadcast_shapes(np.shape(a), np.shape(e))  # a stack of one is a stack of the other
    a, e = np.broadcast_to(np.asarray(a, kind), whole), np.broadcast_to(np.asarray(e, kind), whole)
    moved = as_given(moved, along(linalg.expm, a, e))
    if not compute_expm:
        return moved
    value = as_given(value, linalg.expm(a))
    return [value, moved] if isinstance(both, list) else (value, moved)  # SciPy 1.17 has a list for stacks


def _frechet(A, E, method, check_finite):
    return linalg.expm_frechet(A, E, method, True, check_finite)


TABLE.non_differentiable(_frechet)
