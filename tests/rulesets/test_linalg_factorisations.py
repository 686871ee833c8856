"""The rules for solving, inverting and factorising matrices."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.linalg_factorisations import TABLE, adjugate
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import ZeroTangent

from ..differences import gradient_by_differences


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


def rrule(target, *args, **kwargs):
    return rule_at(registry_of(TABLE), target, args, "rrule").function(*args, **kwargs)


def of_parts(y, **parts):
    return Tangent(type(y), **parts)


def test_the_determinant_of_a_singular_matrix_has_a_derivative():
    """Cofactors are finite where the inverse is not."""
    x = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(adjugate(x, np.float64(0.0)), [[4, -2], [-2, 1]], atol=1e-12)
    np.testing.assert_allclose(cotangents(TABLE, np.linalg.det, x)[0], [[4, -2], [-2, 1]], atol=1e-12)


def test_the_logarithm_of_a_singular_determinant_is_refused():
    """log|det| of a singular matrix is -inf and has no derivative."""
    with pytest.raises(NotDifferentiableError, match="singular"):
        rrule(np.linalg.slogdet, np.ones((2, 2)))


def test_only_the_triangle_that_is_read_gets_a_cotangent():
    """NumPy reads one triangle of a Hermitian matrix; the other has derivative zero."""
    x = np.array([[4.0, 1.0], [1.0, 3.0]])
    assert cotangents(TABLE, np.linalg.cholesky, x)[0][0, 1] == 0.0
    assert cotangents(TABLE, np.linalg.cholesky, x, upper=True)[0][1, 0] == 0.0
    assert cotangents(TABLE, np.linalg.eigvalsh, x, "U", seed=[1.0, 2.0])[0][1, 0] == 0.0


def test_vectors_of_equal_eigenvalues_are_refused_only_if_asked_for():
    """Degenerate spectra: the values are fine, the vectors raise."""
    y, pullback = rrule(np.linalg.eigh, np.eye(2))
    np.testing.assert_allclose(pullback(of_parts(y, eigenvalues=np.ones(2)))[1], np.eye(2))
    with pytest.raises(NotDifferentiableError, match="coincide"):
        pullback(of_parts(y, eigenvectors=np.array([[1.0, 2.0], [3.0, 4.0]])))
    y, pullback = rrule(np.linalg.svd, np.eye(2))
    np.testing.assert_allclose(pullback(of_parts(y, S=np.ones(2)))[1], np.eye(2))
    with pytest.raises(NotDifferentiableError, match="coincide"):
        pullback(of_parts(y, U=np.array([[1.0, 2.0], [3.0, 4.0]])))


def test_zero_over_zero_is_refused_not_taken_as_zero():
    """`v diag(w) vᵀ` has a derivative at equal eigenvalues, but not through w and v: an error."""
    x, seed = np.diag([1.0, 1.0, 3.0]), np.array([[1.0, 0.5, 0.25], [0.5, 2.0, 0.0], [0.25, 0.0, 3.0]])
    y, pullback = rrule(np.linalg.eigh, x)
    w, v = y
    with pytest.raises(NotDifferentiableError, match="coincide"):
        pullback(of_parts(y, eigenvalues=np.diagonal(v.T @ seed @ v), eigenvectors=2 * seed @ v * w))


def of_the_spectrum(split, g):
    """`sum(C * g(a))` by way of the values and vectors."""
    c = np.array([[1.0, 2.0], [0.3, -1.0]])

    def f(a):
        if split is np.linalg.svd:
            u, s, vh = split(a, full_matrices=False)
            return np.sum(c[:, : a.shape[1]] * ((u * g(s)) @ vh))
        w, v = split(a)
        return np.real(np.sum(c * ((v * g(w)) @ np.linalg.inv(v))))  # from NumPy 2.5 on eig is always complex
    return f


@pytest.mark.parametrize("split", [np.linalg.eigh, np.linalg.eig, np.linalg.svd])
def test_vectors_count_though_their_factor_is_zero(split):
    """At the identity `(v * (w - 1)) @ v.T` is `a - 1`, and the cotangent of v is 0."""
    with pytest.raises(NotDifferentiableError, match="coincide"):
        rl.gradient(of_the_spectrum(split, lambda w: w - 1.0), np.eye(2))


def test_vectors_count_though_their_singular_value_is_zero():
    """`(u * s) @ vh` is the matrix; at 0 a matrix that is not square has no vectors."""
    with pytest.raises(NotDifferentiableError, match="singular value is zero"):
        rl.gradient(of_the_spectrum(np.linalg.svd, lambda s: s), np.zeros((2, 1)))


VALUES = {
    "eigvalsh": np.linalg.eigvalsh, "svdvals": np.linalg.svdvals,
    "eigvals": lambda a: np.linalg.eigvals(a).real,
    "svd": lambda a: np.linalg.svd(a, compute_uv=False)}
SECOND = {
    "forward over reverse": lambda f, a, d: rl.pushforward(lambda a: rl.gradient(f, a)[0], a)(d),
    "reverse over forward": lambda f, a, d: rl.gradient(lambda a: rl.pushforward(f, a)(d), a)[0],
    "reverse over reverse": lambda f, a, d: rl.gradient(lambda a: np.sum(rl.gradient(f, a)[0] * d), a)[0],
    "forward over forward": lambda f, a, d: rl.pushforward(lambda a: rl.pushforward(f, a)(d), a)(d)}


@pytest.mark.parametrize("order", SECOND)
@pytest.mark.parametrize("name", VALUES)
def test_second_derivatives_of_smooth_results_of_values_that_coincide_are_refused(name, order):
    """`sum((values - 1)**2)` at the identity is `sum((a - 1)**2)`, with slopes 0: a Hessian of zeros off the
    diagonal would be wrong.
    """
    f = lambda a: np.sum((VALUES[name](a) - 1.0) ** 2)
    with pytest.raises(NotDifferentiableError, match="coincide"):
        SECOND[order](f, np.eye(2), np.array([[1.0, 2.0], [2.0, -3.0]]))


@pytest.mark.parametrize("shape", [(2, 2), (3, 1), (1, 3)])
def test_second_derivatives_of_smooth_results_of_values_that_are_zero_are_refused(shape):
    """The sum of the cosines is smooth at 0, and by the values it has slope 0."""
    with pytest.raises(NotDifferentiableError, match="coincide|singular value is zero"):
        rl.hessian(lambda a: np.sum(np.cos(np.linalg.svdvals(a))), np.zeros(shape))


def test_directions_that_do_not_mix_vectors_have_second_derivatives():
    """Along the matrix itself the values move, and their vectors stay."""
    a = np.diag([1.0, 1.0, 3.0])
    f = lambda t: np.sum((np.linalg.eigvalsh(t * a) - 1.0) ** 2)
    assert rl.gradient(lambda t: rl.gradient(f, t)[0], 1.0)[0] == pytest.approx(2 * (1 + 1 + 9))


def test_a_simple_eigenvalue_beside_equal_ones_keeps_its_vector():
    """Only the vectors of the equal eigenvalues are refused."""
    x = np.diag([1.0, 1.0, 3.0])
    y, pullback = rrule(np.linalg.eigh, x)
    v_bar = np.zeros((3, 3))
    v_bar[0, 2] = np.sign(y[1][2, 2])
    np.testing.assert_allclose(pullback(of_parts(y, eigenvectors=v_bar))[1][2, 0], 0.5)


def test_arbitrary_vectors_of_a_full_svd_are_refused():
    """The extra columns of full_matrices=True are LAPACK's choice; the singular values are not."""
    x = np.arange(6.0).reshape(3, 2) ** 1.5
    y, pullback = rrule(np.linalg.svd, x)
    assert pullback(of_parts(y, S=np.ones(2)))[1].shape == (3, 2)
    with pytest.raises(NotDifferentiableError, match="full_matrices=False"):
        pullback(of_parts(y, U=np.ones((3, 3))))


def test_parts_that_nobody_used():
    """A factorisation of which one part is used needs no cotangent for the others."""
    x = np.array([[2.0, 1.0], [0.5, 1.5], [1.0, -1.0]])
    y, pullback = rrule(np.linalg.qr, x)
    q_only, r_only = pullback(of_parts(y, Q=np.ones((3, 2))))[1], pullback(of_parts(y, R=np.ones((2, 2))))[1]
    both = pullback(of_parts(y, Q=np.ones((3, 2)), R=np.ones((2, 2))))[1]
    np.testing.assert_allclose(q_only + r_only, both)
    y, pullback = rrule(np.linalg.slogdet, x[:2])
    assert pullback(of_parts(y, sign=1.0))[1] is ZeroTangent()


@pytest.mark.parametrize("call", [
    lambda: rrule(np.linalg.qr, np.ones((2, 3))), lambda: rrule(np.linalg.qr, np.eye(2), "complete"),
    lambda: rrule(np.linalg.qr, np.eye(2) + 1j), lambda: rrule(np.linalg.pinv, np.eye(2), 0.5),
    lambda: rrule(np.linalg.svd, np.eye(2), hermitian=True)])
def test_what_is_not_covered_is_refused(call):
    """A call the rules do not cover raises the typed error instead of giving a number."""
    with pytest.raises(NotDifferentiableError):
        call()


_RE, _IM = (np.random.default_rng(5).normal(size=(3, 3, 3)) for _ in range(2))
_FIXED, _LINEAR, _BENT = _RE + 1j * _IM
_WEIGHTS = np.random.default_rng(6).normal(size=(3, 3))


def moving(t):
    """A complex matrix that moves with two numbers."""
    return _FIXED + t[0] * _LINEAR + np.sin(t[1]) * _BENT


def hermitian(t):
    return moving(t) + np.conj(moving(t).T)


def sizes_of_eigh(t):
    return np.sum(np.abs(np.linalg.eigh(hermitian(t))[1]) * _WEIGHTS)


def projector_of_eigh(t):
    w, v = np.linalg.eigh(hermitian(t), "U")
    return np.real(np.sum((v * np.array([1.0, 2.0, -1.0]) * w) @ np.conj(v.T) * _LINEAR))


def turned_vector_of_eigh(t):
    v = np.linalg.eigh(hermitian(t))[1][:, 0]
    return np.real(v[1] * np.abs(v[2]) / v[2])


def polar_factor_of_svd(t):
    u, s, vh = np.linalg.svd(moving(t))
    return np.real(np.sum((u * np.array([1.0, 2.0, -1.0])) @ vh * _BENT))


def sizes_of_a_tall_svd(t):
    u, s, vh = np.linalg.svd(moving(t)[:, :2], full_matrices=False)
    return np.sum(np.abs(u) * _WEIGHTS[:, :2]) + np.sum(np.abs(vh) * s)


def sizes_of_eig(t):
    w, v = np.linalg.eig(moving(t))
    return np.sum(np.abs(v) * np.abs(w))


def sizes_of_complex_vectors_of_a_real_matrix(t):
    w, v = np.linalg.eig(np.real(moving(t)))
    return np.sum(np.abs(v) * _WEIGHTS[0][:, None])


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "f",
    [
        sizes_of_eigh,
        projector_of_eigh,
        turned_vector_of_eigh,
        polar_factor_of_svd,
        sizes_of_a_tall_svd,
        sizes_of_eig,
        sizes_of_complex_vectors_of_a_real_matrix,
    ],
)
def test_what_does_not_depend_on_phases_has_first_and_second_derivatives(f):
    """Complex vectors may be used for what LAPACK's choice of their phases does not change."""
    t, h = np.array([0.3, 0.4]), 1e-4
    steps = h * np.eye(2)

    def bend(a, b):
        return (f(t + a + b) - f(t + a - b) - f(t - a + b) + f(t - a - b)) / (4 * h * h)

    slope = [(f(t + a) - f(t - a)) / (2 * h) for a in steps]
    bends = [[bend(a, b) for a in steps] for b in steps]
    def slopes_forwards(t):
        return np.stack([rl.pushforward(f, t)(unit) for unit in np.eye(2)])

    np.testing.assert_allclose(rl.gradient(f, t)[0], slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(slopes_forwards(t), slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(rl.gradient(lambda t: rl.forwarddiff(f, t), t)[0], slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(rl.hessian(f, t), bends, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(rl.hessian_reverse(f, t), bends, rtol=1e-5, atol=1e-5)
    twice = [rl.pushforward(slopes_forwards, t)(unit) for unit in np.eye(2)]
    np.testing.assert_allclose(twice, bends, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda t: np.angle(np.linalg.eigh(hermitian(t))[1][1, 0]),
        lambda t: np.imag(np.sum(np.linalg.eigh(hermitian(t))[1][:, 0])),
        lambda t: np.real(np.linalg.svd(moving(t))[0][1, 0]),
        lambda t: np.imag(np.sum(np.linalg.svd(moving(t))[2])),
        lambda t: np.imag(np.sum(np.linalg.eig(moving(t))[1])),
    ],
)
def test_what_depends_on_phases_is_refused(f):
    """They are LAPACK's choice, and so would be the derivative."""
    t = np.array([0.3, 0.4])
    for ask in (lambda: rl.gradient(f, t), lambda: rl.hessian(f, t), lambda: rl.pushforward(f, t)(t)):
        with pytest.raises(NotDifferentiableError, match="phases"):
            ask()


@pytest.mark.slow
def test_a_third_derivative_of_what_does_not_depend_on_phases():
    """Forwards thrice, and backwards around it, as differences of the second."""

    def f(t):
        v = np.linalg.eigh(hermitian(np.array([t, 0.4])))[1]
        return np.sum(np.real(v[:, None] * np.conj(v)) * np.real(_BENT)) * t

    def slope(f):
        return lambda t: rl.pushforward(f, t)(1.0)

    second, step = slope(slope(f)), 1e-4
    wanted = (second(0.3 + step) - second(0.3 - step)) / (2 * step)
    assert slope(second)(0.3) == pytest.approx(wanted, rel=1e-5)
    assert rl.gradient(second, 0.3)[0] == pytest.approx(wanted, rel=1e-5)


def test_forward_mode_of_vectors_without_digits_of_their_own():
    """What does not move at all, and single precision."""

    def length(t):
        v = np.linalg.eigh(hermitian(t))[1][:, 0]
        return np.imag(np.vdot(v, v))

    def single(t):
        a = hermitian(t).astype(np.complex64)
        return np.sum(np.abs(np.linalg.eigh(a)[1]) * _WEIGHTS.astype(np.float32))

    t = np.array([0.3, 0.4])
    assert rl.pushforward(length, t)(np.ones(2)) == 0.0
    assert rl.pushforward(lambda t: 5 * t[0] + length(t), t)(np.ones(2)) == 5.0
    wanted = rl.pushforward(sizes_of_eigh, t)(np.ones(2))
    assert rl.pushforward(single, t)(np.ones(2)) == pytest.approx(wanted, rel=1e-4)


def test_complex_vectors_of_coinciding_values_are_refused():
    """There they are not even defined up to their phases."""
    with pytest.raises(NotDifferentiableError, match="coincide"):
        rl.gradient(lambda t: np.sum(np.abs(np.linalg.eigh(np.eye(2) * (1 + 0j) * t)[1])[0]), 2.0)


def test_writing_to_the_solution_of_lstsq_does_not_reach_its_pullback():
    """What the caller does to the solution between the forward pass and `back` changes no derivative."""
    a, b = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]]), np.array([1.0, 2.0, -1.0])
    y, back = rl.pullback(np.linalg.lstsq, a, b, None)
    seed = (np.ones(2), np.ones(1), None, None)
    before = back(seed)[0]
    y[0][...] += 1.5
    np.testing.assert_array_equal(back(seed)[0], before)


_NEARLY_EQUAL = np.array([[1.0, 1.0], [1e-17, 3e-17]])  # on every processor; of equal columns, on some


@pytest.mark.parametrize(
    "a", [np.concatenate([_NEARLY_EQUAL, np.zeros((2, 2))]), np.stack([np.eye(2), _NEARLY_EQUAL])]
)
def test_qr_of_a_matrix_that_has_lost_its_rank_to_rounding_is_refused(a):
    """Its second column of q is made of rounding, and so would be the derivative."""
    assert 0 < np.abs(np.linalg.qr(a)[1][..., 1, 1]).min() < 1e-15

    def f(a):
        return np.sum(np.linalg.qr(a)[1])

    for differentiate in (rl.gradient, rl.hessian, lambda f, a: rl.pushforward(f, a)(np.ones_like(a))):
        with pytest.raises(NotDifferentiableError, match="without full column rank"):
            differentiate(f, a)


def of_two_ranks(x):
    """Of rank two, so the determinant is 0 for every x, and is mostly computed as some 1e-16."""
    return np.linalg.det(np.outer(x, [1.0, 2.0, 3.0]) + np.outer([1.0, 0.0, 1.0], x))


def test_a_determinant_that_is_zero_but_for_rounding_has_its_second_derivatives():
    """They are not those of a huge inverse, in any order of modes."""
    x, units = np.array([0.7, 1.3, 2.1]), np.eye(3)
    assert abs(of_two_ranks(x)) < 1e-12
    found = [rl.hessian(of_two_ranks, x), rl.hessian(of_two_ranks, x, mode="reverse")]
    slopes = [lambda y, v=v: rl.pushforward(of_two_ranks, y)(v) for v in units]
    found.append(np.array([rl.gradient(slope, x)[0] for slope in slopes]))
    found.append(np.array([[rl.pushforward(slope, x)(v) for v in units] for slope in slopes]))
    for hessian in found:
        assert np.allclose(hessian, 0, atol=1e-12)


OF_SINGULAR_VALUES = {
    "norm 2": lambda a: np.sum(np.linalg.norm(a, 2, axis=(-2, -1))),
    "norm -2": lambda a: np.sum(np.linalg.norm(a, -2, axis=(-2, -1))),
    "nuclear norm": lambda a: np.sum(np.linalg.norm(a, "nuc", axis=(-2, -1))),
    "cond": lambda a: np.sum(np.linalg.cond(a)),
    "cond -2": lambda a: np.sum(np.linalg.cond(a, -2)),
    "svdvals": lambda a: np.sum(np.linalg.svdvals(a)),
    "svd": lambda a: np.sum(np.linalg.svd(a, compute_uv=False)),
}


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (3, 2), (2, 3, 3)])
@pytest.mark.parametrize("name", OF_SINGULAR_VALUES)
def test_singular_values_of_a_matrix_with_an_infinite_entry(name, shape):
    """NaN in both modes, where older versions of LAPACK gave finite vectors or never returned. NumPy's own
    error where newer ones find no values.
    """
    f = OF_SINGULAR_VALUES[name]
    a = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) ** 2
    a[..., 0, 0] = np.inf
    with np.errstate(all="ignore"):
        try:
            assert not np.isfinite(f(a))
        except np.linalg.LinAlgError as raised:
            for ask in (rl.gradient, lambda f, a: rl.pushforward(f, a)(np.ones(shape))):
                with pytest.raises(np.linalg.LinAlgError, match=str(raised)):
                    ask(f, a)
            return
        assert np.all(np.isnan(rl.gradient(f, a)[0]))
        assert np.isnan(rl.pushforward(f, a)(np.ones(shape)))


def test_only_the_infinite_matrix_of_a_stack_has_no_slopes():
    a = np.array([[[np.inf, 1.0], [2.0, 3.0]], [[4.0, 1.0], [2.0, 3.0]]])
    with np.errstate(all="ignore"):
        (found,) = rl.gradient(lambda a: np.sum(np.linalg.cond(a)), a)
    assert np.all(np.isnan(found[0]))
    np.testing.assert_allclose(found[1], gradient_by_differences(np.linalg.cond, a[1]), rtol=1e-6)
