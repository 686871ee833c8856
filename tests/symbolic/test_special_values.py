"""Quick series have all the digits that mpmath has."""

import pytest

from rulelab.symbolic import special_values
from rulelab.symbolic.scalars import CONTEXT

NUMBERS = ["1e-60", "0.3", "2.404825557695773", "17"]


def is_exact(found, expected):
    return abs(found - expected) <= CONTEXT.mpf(10) ** (5 - CONTEXT.dps) * abs(expected)


@pytest.mark.parametrize("name", ["bessely", "besselk"])
def test_bessel_functions_of_whole_orders(name):
    """Of the second kind, of negative orders too, beside a zero, near 0 and where they are small."""
    with CONTEXT.workdps(60):
        for text in NUMBERS:
            for order in (0, 1, -1, 5):
                x = CONTEXT.mpf(text)
                expected = getattr(CONTEXT, name)(order, x)
                assert is_exact(getattr(special_values, name)(CONTEXT.mpf(order), x), expected)


def test_tails_of_the_gamma_function():
    """Where they are nearly one, and where they are tiny."""
    for text in NUMBERS:
        x = CONTEXT.mpf(text)
        expected = CONTEXT.gammainc(CONTEXT.mpf("2.3"), x, CONTEXT.inf, regularized=True)
        assert is_exact(special_values.gammaincc(CONTEXT.mpf("2.3"), x), expected)


def test_gauss_function_left_of_minus_one_half():
    """On both sides of where the transformation begins and ends."""
    for x in ("-0.49", "-0.51", "-3.99", "-4.01"):
        given = [CONTEXT.mpf(t) for t in ("0.7", "1.6", "2.1", x)]
        assert is_exact(special_values.hyp2f1(*given), CONTEXT.hyp2f1(*given))


def test_the_amplitude_is_continuous():
    """Past a quarter, a half and a whole turn it goes on growing."""
    m = CONTEXT.mpf("0.7")
    for phase in ("-7", "0.5", "1.6", "3.3", "6.4", "20"):
        phase = CONTEXT.mpf(phase)
        assert is_exact(special_values.jacobi_am(CONTEXT.ellipf(phase, m), m), phase)
    assert is_exact(special_values.jacobi_am(CONTEXT.mpf(2), CONTEXT.mpf(1)), 2 * half_of_gudermannian(2))


def half_of_gudermannian(u):
    """Half of the Gudermannian."""
    return CONTEXT.atan(CONTEXT.tanh(CONTEXT.mpf(u) / 2))
