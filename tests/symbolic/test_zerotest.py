"""Identities are recognised, near-identities are not."""

import pytest
import sympy as sp

from rulelab.symbolic.zerotest import P, Q, field_zero, is_identically_zero

x, y, n = sp.symbols("x y n")

IDENTITIES = [
    sp.exp(x + y) - sp.exp(x) * sp.exp(y),
    sp.log(x * y) - sp.log(x) - sp.log(y),
    sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1,
    sp.sin(2 * x) - 2 * sp.sin(x) * sp.cos(x),
    sp.cos(x / 2) ** 2 - (1 + sp.cos(x)) / 2,
    sp.tanh(x) - (1 - sp.exp(-2 * x)) / (1 + sp.exp(-2 * x)),
    sp.sqrt(x**2 * y) - x * sp.sqrt(y),
    x**n * x ** (1 - n) - x,
    (x * y) ** n - x**n * y**n,
    sp.exp(n * sp.log(x)) - x**n,
    sp.exp(sp.log(x) / 2) - sp.sqrt(x),
    sp.erf((x + y) ** 2) - sp.erf(x**2 + 2 * x * y + y**2),
]


@pytest.mark.parametrize("identity", IDENTITIES)
def test_identities_are_proved_in_the_field(identity):
    """Functional equations of the elementary functions hold in the model."""
    assert field_zero(identity)


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("change", [sp.Rational(1, 10**20), x, sp.exp(-100 * x), sp.sin(x), sp.log(y)])
def test_what_is_not_zero_is_never_called_zero(identity, change):
    """However small the difference, it is seen."""
    assert not field_zero(identity + change)


def test_a_small_difference_survives_every_method():
    """The exact methods and SymPy's heuristics do not call a small difference zero either."""
    for identity in IDENTITIES[:4]:
        assert is_identically_zero(identity + sp.Rational(1, 10**20)) is None


def test_the_sign_of_a_cell_decides_roots():
    """sqrt(x**2) is x where x is positive and -x where it is negative."""
    assert is_identically_zero(sp.sqrt(x**2) - x)
    assert is_identically_zero(sp.sqrt(x**2) + x, negative=[x])
    assert not is_identically_zero(sp.sqrt(x**2) - x, negative=[x])


def test_roots_of_unknown_sign_are_not_decided():
    """sqrt((x - 1000)**2) is neither x - 1000 nor its negative everywhere."""
    assert not is_identically_zero(sp.sqrt((x - 1000) ** 2) - (x - 1000))
    assert not is_identically_zero(sp.sqrt((x - 1000) ** 2) + (x - 1000))


def test_the_modulus_is_a_safe_prime():
    """The error bound rests on p and (p - 1) / 2 being prime."""
    assert sp.isprime(P) and sp.isprime(Q) and P == 2 * Q + 1


T, A, B, C = sp.symbols("t a b c")


def over(integrand, lower, upper):
    return sp.Integral(integrand, (T, lower, upper))


@pytest.mark.parametrize(
    "expr",
    [
        over(sp.exp(T) + sp.sin(C * T), A, B) - over(sp.exp(T), A, B) - over(sp.sin(T * C), A, B),
        over(C * T**2, A, B) - C * over(T**2, A, B),
        over(sp.exp(T), A, B) + over(sp.exp(T), B, C) - over(sp.exp(T), A, C),
        over(sp.exp(T), A, B) + over(sp.exp(T), B, A),
        over(sp.exp(-T) * sp.sin(T) ** 2, 0, sp.oo) + over(sp.exp(-T) * sp.cos(T) ** 2, 0, sp.oo)
        - over(sp.exp(-T), 0, sp.oo),
    ],
)  # fmt: skip
def test_integrals_are_linear_in_the_field(expr):
    """Sums, constant factors, adjoining and reversed limits, an identity of the integrands."""
    assert field_zero(expr)


@pytest.mark.parametrize(
    "expr",
    [
        over(T, A, B) ** 2 - over(T**2, A, B) * over(1, A, B),
        over(T, A, B) * over(T**3, A, B) - over(T**2, A, B) ** 2,
        over(T, A, B) - over(T, A, C),
        over(T, A, B) - over(T, -B, -A),
        over(T * sp.exp(T), A, B) - B * over(sp.exp(T), A, B),
        over(sp.exp(T), 0, sp.oo) - over(sp.exp(T), 0, -sp.oo),
        sp.exp(over(T, A, B)) - over(sp.exp(T), A, B),
    ],
)
def test_what_integrals_are_not(expr):
    """Products of integrals, other limits, the variable taken out: none is an identity."""
    assert not field_zero(expr)


def test_an_integral_that_has_to_be_solved():
    """By SymPy, on its main branch."""
    solved = over(sp.exp(-C * T), 0, 1) - (1 - sp.exp(-C)) / C
    assert is_identically_zero(solved)[0] == "SymPy's integration"
    assert is_identically_zero(solved + C / 10**6) is None
