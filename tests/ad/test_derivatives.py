"""The derivative operator."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleLabError


def cubed(x):
    return x**3


def test_the_derivative_is_a_function():
    """It may be called again and has a name."""
    slope = rl.derivative(cubed)
    assert (slope(2.0), slope(-1.0), slope(3)) == (12.0, 3.0, 27.0)
    assert slope.__name__ == "derivative_of_cubed"
    assert rl.derivative(math.sin)(0.3) == math.cos(0.3)


def test_nothing_depends_on_it():
    """0.0, not None: it is a number like others."""
    assert rl.derivative(lambda x: 2.0)(1.0) == 0.0


@pytest.mark.parametrize("x", [np.ones(2), "text", 1j, np.complex64(1), True, None])
def test_only_for_real_numbers(x):
    """Anything else is told of `gradient`."""
    with pytest.raises(RuleLabError, match="is a function of a real number"):
        rl.derivative(cubed)(x)


@pytest.mark.parametrize("n", [0, -1, 1.0, True, "2"])
def test_orders_are_positive_whole_numbers(n):
    """Told when the operator is applied, not when its result is."""
    with pytest.raises(RuleLabError, match="must be a positive integer"):
        rl.derivative(cubed, n)


@pytest.mark.every(2)
@pytest.mark.parametrize("n, wanted", [(2, 12.0), (3, 6.0), (4, 0.0)])
def test_higher_orders(n, wanted):
    """f'' and so on."""
    assert rl.derivative(cubed, n)(2.0) == pytest.approx(wanted)
    assert rl.derivative(rl.derivative(cubed))(2.0) == pytest.approx(12.0)
