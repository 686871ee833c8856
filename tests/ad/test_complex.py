"""Complex numbers as in ChainRules, x̄ = ∂/∂Re + i ∂/∂Im, against differences along both axes."""

import cmath

import numpy as np
import pytest

import rulelab as rl

from ..differences import gradient_by_differences

RNG = np.random.default_rng(0)
Z = RNG.standard_normal(3) + 1j * RNG.standard_normal(3)
M = RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3)) + 2 * np.eye(3)
X = RNG.standard_normal(3)
PROGRAMS = []


def program(*args):
    """Put the decorated real function into the table, to be differentiated at these arguments."""

    def register(f):
        PROGRAMS.append(pytest.param(f, args, id=f.__name__))
        return f

    return register


@program(Z)
def conjugates(z):
    return np.imag(np.sum(np.exp(z) * np.conj(z))) + np.sum(z.conj() * z).real


@program(Z)
def absolute_values(z):
    return np.sum(np.abs(z) ** 2) + np.sum(abs(z))


@program(Z)
def angles(z):
    return np.sum(np.angle(z) * np.arange(3))


@program(Z)
def real_and_imaginary_parts(z):
    return np.sum(z.real * z.imag) + np.real(np.sum(z**3)) + np.imag(z[0] * z[1])


@program(Z)
def elementary_functions(z):
    return np.sum(np.sin(z) * np.cosh(z) + np.tanh(z) + np.sqrt(z) + np.log(z)).real


@program(Z)
def powers(z):
    return (z**2.5).sum().imag + (2.0**z).sum().real + (z ** z[::-1]).sum().real


@program(M, Z)
def matrix_products(m, z):
    return np.abs(np.sum(m @ z)) + (z.conj() @ m @ z).real + np.vdot(z, m @ z).imag


@program(M, Z)
def einstein_sums(m, z):
    return np.abs(np.einsum("ij,j->i", m, z)).sum() + np.einsum("ii", m).real


@program(M, Z)
def solutions(m, z):
    return np.abs(np.linalg.solve(m, z)).sum()


@program(M)
def inverses(m):
    return np.abs(np.linalg.inv(m)).sum()


@program(M)
def determinants(m):
    return np.abs(np.linalg.det(m)) + np.linalg.det(m).imag + np.linalg.slogdet(m)[1]


@program(M)
def norms_and_singular_values(m):
    return np.linalg.norm(m) + np.sum(np.linalg.svd(m)[1] * np.arange(3))


@program(M)
def eigenvalues_of_a_hermitian_matrix(m):
    return np.sum(np.linalg.eigvalsh(m + m.conj().T) * np.arange(3))


@program(X)
def spectrum_of_a_real_signal(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(3)) + np.sum(np.abs(np.fft.rfft(x)))


@program(Z)
def spectrum_of_a_complex_signal(z):
    return np.sum(np.abs(np.fft.ifft(z) * z))


@program(Z, X)
def real_and_complex_arrays(z, x):
    return np.sum(z * x).imag + np.sum(np.exp(1j * x) * z).real + np.sum(np.where(x > 0, z, x)).real


@program(Z, X)
def joined_arrays(z, x):
    return np.sum(np.concatenate([z, x]) * np.arange(6)).imag + np.stack([z, z * x]).sum().real


@program(1.5 + 0.5j)
def python_numbers(z):
    return abs(z) ** 2 + (z * z).real + z.imag * z.conjugate().real


@program(1.5 + 0.5j)
def functions_of_cmath(z):
    return cmath.exp(z).real + cmath.log(z).imag + cmath.sqrt(z).real + cmath.phase(z) + cmath.polar(z)[0]


@program(2.0, 1.0 + 1.0j)
def real_and_complex_numbers(x, z):
    return (x**z).real + (z**x).imag + (complex(x, x * x) * z).real + abs(x * 1j)


@program(2.0, 1.0)
def a_loop_over_complex_numbers(x, y):
    z = x + 1j * y
    w = z
    for _ in range(3):
        w = w * w + z
    return w.real**2 + w.imag**2


@program(Z)
def elements_in_a_loop(z):
    s = 0j
    for k in range(3):
        s += z[k] * z[k - 1].conjugate()
    return abs(s)


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_the_gradient_has_both_directions(f, args):
    """∂f/∂Re + i ∂f/∂Im for a complex argument, ∂f/∂x, and nothing imaginary, for a real one."""
    found = rl.gradient(f, *args)
    for k, x in enumerate(args):
        wanted = gradient_by_differences(lambda v, k=k: f(*args[:k], v, *args[k + 1 :]), x, 1e-5)
        np.testing.assert_allclose(found[k], wanted, rtol=1e-6, atol=1e-8)
        assert type(found[k]) is type(x) and np.asarray(found[k]).dtype == np.asarray(x).dtype


HOLOMORPHIC = [
    lambda z: np.exp(z),
    lambda z: z**3 + 2j * z,
    cmath.sin,
    lambda z: 1 / (z + 1),
    np.sqrt,
]
OTHERS = [lambda z: z * z.conjugate() + z, np.conj, lambda z: z.real + 0j, lambda z: abs(z) * z]


@pytest.mark.parametrize("f", HOLOMORPHIC + OTHERS)
def test_two_pullbacks_give_the_jacobian(f):
    """With f = u + iv: back(1) holds the slopes of u, back(1j) those of v, each along both axes."""
    z = 0.7 - 0.4j
    y, back = rl.pullback(f, z)
    assert y == f(z)
    jacobian = [[back(seed)[0].real, back(seed)[0].imag] for seed in (1.0, 1j)]
    parts = [gradient_by_differences(lambda v, part=part: part(f(v)), z, 1e-5) for part in (np.real, np.imag)]
    np.testing.assert_allclose(jacobian, [[d.real, d.imag] for d in parts], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", HOLOMORPHIC)
def test_the_pullback_of_a_holomorphic_function_is_one_product(f):
    """back(ȳ) = conj(f') ȳ."""
    z = 0.7 - 0.4j
    _, back = rl.pullback(f, z)
    slope = back(1.0)[0].conjugate()
    assert back(1j)[0] == pytest.approx(1j * slope.conjugate())
    assert back(2 - 3j)[0] == pytest.approx((2 - 3j) * slope.conjugate())


def test_structures_keep_real_and_complex_apart():
    """The gradient of a real part of a dict is real, that of a complex part complex."""
    (found,) = rl.gradient(lambda d: np.abs(np.sum(d["z"] * d["x"])), {"z": Z, "x": 2.0})
    assert found["z"].dtype == complex and type(found["x"]) is float


def test_a_complex_result_has_no_gradient():
    """Said in words; its real or imaginary part has one."""
    with pytest.raises(rl.ScalarOutputError, match="complex"):
        rl.gradient(lambda z: z * z, 1j)


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_the_width_stays(kind):
    """A complex64 gets a complex64."""
    (of_number,) = rl.gradient(lambda z: abs(z * z), kind(1 + 2j))
    (of_array,) = rl.gradient(lambda z: np.sum(np.abs(z * z)), Z.astype(kind))
    assert type(of_number) is kind and of_array.dtype == kind
    np.testing.assert_allclose(of_number, 2 * (1 + 2j), rtol=1e-5)
