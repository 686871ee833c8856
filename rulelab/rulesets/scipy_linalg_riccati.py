"""Rules for Riccati's equations of `scipy.linalg`, by the implicit function theorem.

With the gain `k` and the closed loop `l = a - b k`, what moves the equation by `w` moves the solution by that
of Lyapunov's equation

    lᴴ ẋ e + eᴴ ẋ l + w = 0        of the continuous one,
    lᴴ ẋ l - eᴴ ẋ e + w = 0        of the discrete one,

`w = q̇ + kᴴ ṙ k + h + hᴴ`, where `h` has what `a`, `b`, `e` and `s` move. The solution that SciPy gives is the
one that makes the loop stable, so these have one solution.
"""

from typing import Any, NamedTuple

import numpy as np

from ..tangents.zeros import NoTangent
from .array_likes import dense
from .given_values import for_lapack
from .linalg_factorisations import hermitian_part
from .linalg_products import adjoint
from .scipy_linalg_equations import like, of_one_kind
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_riccati", rounds=True)


def matrix(x):
    """A matrix, which SciPy also makes of a number and of a vector."""
    x = for_lapack(x)
    return x if np.ndim(x) > 1 else np.reshape(x, (1, np.size(x)))


def in_form_of(x, bar):
    """The cotangent of an argument from that of the matrix that it was taken for."""
    shape = np.shape(x)
    return like(x, bar if len(shape) > 1 else np.reshape(like(matrix(x), bar), shape))


class Loop(NamedTuple):
    """The solution, the gain, what is left of `a` with it, and `e`, which may be None."""

    x: Any
    gain: Any
    left: Any
    e: Any

    def divided(self):
        """`l e⁻¹`."""
        return self.left if self.e is None else adjoint(np.linalg.solve(adjoint(self.e), adjoint(self.left)))

    def between(self, w):
        """`e⁻ᴴ w e⁻¹`."""
        return w if self.e is None else _twice(adjoint(self.e), w)

    def around(self, w):
        """`e⁻¹ w e⁻ᴴ`."""
        return w if self.e is None else _twice(self.e, w)

    def by_e(self, x):
        """`x e`."""
        return x if self.e is None else x @ self.e


def _twice(e, w):
    return adjoint(np.linalg.solve(e, adjoint(np.linalg.solve(e, w))))


def moved(loop, tangents, args, by_loop, by_e):
    """`w`; the slopes of the equation by what stands beside `ẋ` on its left are `by_loop` and `by_e`."""
    (_, a_dot, b_dot, q_dot, r_dot, *rest), (a, b, q, r, e, s) = tangents, args
    k = loop.gain
    step = matrix(dense(a, a_dot)) - matrix(dense(b, b_dot)) @ k
    half = by_loop @ step
    if e is not None:
        half = half + by_e @ matrix(dense(e, rest[0]))
    if s is not None:
        half = half - matrix(dense(s, rest[1])) @ k
    w = matrix(dense(q, q_dot)) + adjoint(k) @ matrix(dense(r, r_dot)) @ k
    return hermitian_part(w + 2 * half)


def cotangents(loop, p, args, by_loop, by_e):
    """Those of all matrices from that of `w`."""
    a, b, q, r, e, s = args
    k, p = loop.gain, hermitian_part(p)
    a_bar = 2 * adjoint(by_loop) @ p
    e_bar = NoTangent() if e is None else in_form_of(e, 2 * adjoint(by_e) @ p)
    s_bar = NoTangent() if s is None else in_form_of(s, -2 * p @ adjoint(k))
    return (
        NoTangent(),
        in_form_of(a, a_bar),
        in_form_of(b, -a_bar @ adjoint(k)),
        in_form_of(q, p),
        in_form_of(r, k @ p @ adjoint(k)),
        e_bar,
        s_bar,
    )


# -- continuous ----------------------------------------------------------------------------------------------


def continuous_loop(x, a, b, r, e, s):
    """`k = r⁻¹ (bᴴ x e + sᴴ)`."""
    a, b = matrix(a), matrix(b)
    rest = adjoint(b) @ (x if e is None else x @ matrix(e))
    if s is not None:
        rest = rest + adjoint(matrix(s))
    gain = np.linalg.solve(matrix(r), rest)
    return Loop(x, gain, a - b @ gain, None if e is None else matrix(e))


def continuous_sides(loop):
    """`h` is `eᴴ x (ȧ - ḃ k)` and `lᴴ x ė`."""
    return adjoint(loop.by_e(loop.x)), adjoint(loop.left) @ loop.x


@TABLE.rrule(linalg.solve_continuous_are, leading=6)
def solve_continuous_are_rrule(a, b, q, r, e=None, s=None, balanced=True):
    """`p`, the cotangent of `w`, is `-e⁻¹ y e⁻ᴴ`, where `n y + y nᴴ = x̄` for `n = l e⁻¹`."""
    x = linalg.solve_continuous_are(a, b, q, r, e, s, balanced)

    def solve_continuous_are_pullback(x_bar):
        loop = continuous_loop(x, a, b, r, e, s)
        n, _, seed = of_one_kind(loop.divided(), x, hermitian_part(np.asarray(x_bar)))
        p = -loop.around(linalg.solve_continuous_lyapunov(n, seed))
        return cotangents(loop, p, (a, b, q, r, e, s), *continuous_sides(loop))

    return x, solve_continuous_are_pullback


@TABLE.frule(linalg.solve_continuous_are)
def solve_continuous_are_frule(tangents, a, b, q, r, e=None, s=None, balanced=True):
    x = linalg.solve_continuous_are(a, b, q, r, e, s, balanced)
    loop = continuous_loop(x, a, b, r, e, s)
    w = moved(loop, tangents, (a, b, q, r, e, s), *continuous_sides(loop))
    n, _, w = of_one_kind(loop.divided(), x, loop.between(w))
    return x, linalg.solve_continuous_lyapunov(adjoint(n), -w)


# -- discrete ------------------------------------------------------------------------------------------------


def discrete_loop(x, a, b, r, e, s):
    """`k = (r + bᴴ x b)⁻¹ (bᴴ x a + sᴴ)`."""
    a, b = matrix(a), matrix(b)
    xb = x @ b
    rest = adjoint(xb) @ a
    if s is not None:
        rest = rest + adjoint(matrix(s))
    gain = np.linalg.solve(matrix(r) + adjoint(b) @ xb, rest)
    return Loop(x, gain, a - b @ gain, None if e is None else matrix(e))


def discrete_sides(loop):
    """`h` is `lᴴ x (ȧ - ḃ k)` and `-eᴴ x ė`."""
    return adjoint(loop.left) @ loop.x, -adjoint(loop.by_e(loop.x))


@TABLE.rrule(linalg.solve_discrete_are, leading=6)
def solve_discrete_are_rrule(a, b, q, r, e=None, s=None, balanced=True):
    """`p`, the cotangent of `w`, is `e⁻¹ y e⁻ᴴ`, where `n y nᴴ - y + x̄ = 0` for `n = l e⁻¹`."""
    x = linalg.solve_discrete_are(a, b, q, r, e, s, balanced)

    def solve_discrete_are_pullback(x_bar):
        loop = discrete_loop(x, a, b, r, e, s)
        n, _, seed = of_one_kind(loop.divided(), x, hermitian_part(np.asarray(x_bar)))
        p = loop.around(linalg.solve_discrete_lyapunov(n, seed))
        return cotangents(loop, p, (a, b, q, r, e, s), *discrete_sides(loop))

    return x, solve_discrete_are_pullback


@TABLE.frule(linalg.solve_discrete_are)
def solve_discrete_are_frule(tangents, a, b, q, r, e=None, s=None, balanced=True):
    x = linalg.solve_discrete_are(a, b, q, r, e, s, balanced)
    loop = discrete_loop(x, a, b, r, e, s)
    w = moved(loop, tangents, (a, b, q, r, e, s), *discrete_sides(loop))
    n, _, w = of_one_kind(loop.divided(), x, loop.between(w))
    return x, linalg.solve_discrete_lyapunov(adjoint(n), w)
