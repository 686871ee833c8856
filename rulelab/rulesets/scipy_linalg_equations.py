"""Rules for the matrix equations of `scipy.linalg`: Sylvester's and Lyapunov's.

Each is linear in its solution: the tangent solves the same equation with another right-hand side, the
cotangent of the right-hand side that with the adjoint matrices.
"""

import numpy as np

from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent
from .array_likes import dense, like_argument, refuse
from .given_values import lapack_kind
from .linalg_products import adjoint
from .scipy_optional import LibraryTable, optional

linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_linalg_equations", rounds=True)


def like(x, bar):
    """A cotangent in the form of the argument, summed over the stacks to which it was broadcast."""
    return like_argument(x, unbroadcast(bar, np.asarray(x)))


def of_one_kind(a, b, q):
    """These as arrays of one kind, real or complex: with both together SciPy reads blocks for numbers."""
    a, b, q = np.asarray(a), np.asarray(b), np.asarray(q)
    kind = np.result_type(a, b, q, np.float32)
    return a.astype(kind), b.astype(kind), q.astype(kind)


def check_solved(left, q, what, *given):
    """Refuse a solution that is none, as SciPy finds for real matrices with complex eigenvalues beside
    complex matrices.
    """
    size = np.max(np.abs(q), initial=0.0) + np.max(np.abs(left), initial=0.0)
    eps = max([np.finfo(lapack_kind(np.asarray(x).dtype)).eps for x in given])
    if not np.max(np.abs(left - q), initial=0.0) <= np.sqrt(eps) * size:
        refuse(
            f"{what} of both real and complex matrices is not differentiated here: what SciPy returns "
            "is not a solution",
            "make all matrices complex: a + 0j",
        )


def is_mixed(a, b, q):
    """Whether some of these are complex and some not."""
    return len({np.iscomplexobj(a), np.iscomplexobj(b), np.iscomplexobj(q)}) > 1


def _check_shapes(a, b, q):
    """Refuse what does not fit together, which SciPy answers with numbers of no meaning if there are none in
    one of the matrices.
    """
    sides = [np.shape(x)[-2:] for x in (a, b, q)]
    sizes = sides[2] if len(sides[2]) == 2 else (None, None)
    if sides[:2] != [(n, n) for n in sizes]:
        refuse(
            f"the shapes {', '.join(map(str, sides))} of the matrices are not those of a Sylvester equation",
            "give matrices of the shapes (m, m), (n, n) and (m, n)",
        )


TABLE.non_differentiable(check_solved, is_mixed, _check_shapes)


@TABLE.rrule(linalg.solve_sylvester, leading=3)
def solve_sylvester_rrule(a, b, q):
    """`a x + x b = q`: `aᴴ q̄ + q̄ bᴴ = x̄`, `ā = -q̄ xᴴ`, `b̄ = -xᴴ q̄`."""
    x = linalg.solve_sylvester(a, b, q)
    _check_shapes(a, b, q)
    if is_mixed(a, b, q):
        check_solved(a @ x + x @ b, q, "scipy.linalg.solve_sylvester", a, b, q)

    def solve_sylvester_pullback(x_bar):
        left, right, seed = of_one_kind(a, b, x_bar)
        q_bar = linalg.solve_sylvester(adjoint(left), adjoint(right), seed)
        return (
            NoTangent(),
            like(a, -q_bar @ adjoint(x)),
            like(b, -adjoint(x) @ q_bar),
            like(q, q_bar),
        )

    return x, solve_sylvester_pullback


@TABLE.frule(linalg.solve_sylvester)
def solve_sylvester_frule(tangents, a, b, q):
    x = linalg.solve_sylvester(a, b, q)
    _check_shapes(a, b, q)
    if is_mixed(a, b, q):
        check_solved(a @ x + x @ b, q, "scipy.linalg.solve_sylvester", a, b, q)
    rest = dense(q, tangents[3]) - dense(a, tangents[1]) @ x - x @ dense(b, tangents[2])
    left, right, moved = of_one_kind(a, b, rest)
    return x, linalg.solve_sylvester(left, right, moved)


@TABLE.rrule(linalg.solve_continuous_lyapunov, leading=2)
def solve_continuous_lyapunov_rrule(a, q):
    """`a x + x aᴴ = q`: `aᴴ q̄ + q̄ a = x̄`, `ā = -(q̄ xᴴ + q̄ᴴ x)`; numbers are matrices, too."""
    x, matrix = linalg.solve_continuous_lyapunov(a, q), np.atleast_2d(a)
    if is_mixed(a, a, q):
        check_solved(matrix @ x + x @ adjoint(matrix), q, "scipy.linalg.solve_continuous_lyapunov", a, q)

    def solve_continuous_lyapunov_pullback(x_bar):
        left, _, seed = of_one_kind(matrix, matrix, x_bar)
        q_bar = linalg.solve_continuous_lyapunov(adjoint(left), seed)
        a_bar = -(q_bar @ adjoint(x) + adjoint(q_bar) @ x)
        return NoTangent(), like(a, a_bar), like(q, q_bar)

    return x, solve_continuous_lyapunov_pullback


@TABLE.frule(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov_frule(tangents, a, q):
    x, matrix = linalg.solve_continuous_lyapunov(a, q), np.atleast_2d(a)
    if is_mixed(a, a, q):
        check_solved(matrix @ x + x @ adjoint(matrix), q, "scipy.linalg.solve_continuous_lyapunov", a, q)
    a_dot = np.atleast_2d(dense(a, tangents[1]))
    rest = dense(q, tangents[2]) - a_dot @ x - x @ adjoint(a_dot)
    left, _, moved = of_one_kind(matrix, matrix, rest)
    return x, linalg.solve_continuous_lyapunov(left, moved)


@TABLE.rrule(linalg.solve_discrete_lyapunov, leading=2)
def solve_discrete_lyapunov_rrule(a, q, method=None):
    """`a x aᴴ - x + q = 0`: `aᴴ q̄ a - q̄ + x̄ = 0`, `ā = q̄ a xᴴ + q̄ᴴ a x`."""
    x = linalg.solve_discrete_lyapunov(a, q, method)
    if is_mixed(a, a, q):
        check_solved(x - a @ x @ adjoint(np.asarray(a)), q, "scipy.linalg.solve_discrete_lyapunov", a, q)

    def solve_discrete_lyapunov_pullback(x_bar):
        matrix, _, seed = of_one_kind(a, a, x_bar)
        q_bar = linalg.solve_discrete_lyapunov(adjoint(matrix), seed, method)
        a_bar = q_bar @ matrix @ adjoint(x) + adjoint(q_bar) @ matrix @ x
        return NoTangent(), like(a, a_bar), like(q, q_bar)

    return x, solve_discrete_lyapunov_pullback


@TABLE.frule(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov_frule(tangents, a, q, method=None):
    x = linalg.solve_discrete_lyapunov(a, q, method)
    if is_mixed(a, a, q):
        check_solved(x - a @ x @ adjoint(np.asarray(a)), q, "scipy.linalg.solve_discrete_lyapunov", a, q)
    matrix, a_dot = np.asarray(a), dense(a, tangents[1])
    rest = dense(q, tangents[2]) + a_dot @ x @ adjoint(matrix) + matrix @ x @ adjoint(a_dot)
    left, _, moved = of_one_kind(a, a, rest)
    return x, linalg.solve_discrete_lyapunov(left, moved, method)
