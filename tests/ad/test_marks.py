"""What an author marks as a constant is one, and everything else stays as it was."""

import numpy as np
import pytest

import rulelab as rl


def test_plain_value():
    """Outside of a derivative the mark does nothing; a function is called."""
    x = np.ones(3)
    assert rl.ignore_derivatives(x) is x
    assert rl.ignore_derivatives(lambda: 5.0) == 5.0


def test_constant_inside():
    """A marked factor is a constant, an unmarked one is not; the value stays."""
    assert rl.withgradient(lambda x: rl.ignore_derivatives(x) * x, 3.0) == (9.0, (3.0,))
    assert rl.withgradient(lambda x: x * x, 3.0) == (9.0, (6.0,))


def test_the_only_path():
    """Where every path is marked there is no gradient."""
    assert rl.gradient(lambda x: rl.ignore_derivatives(x) * 2.0, 3.0) == (None,)


def test_arrays_and_structures():
    """Arrays, lists and results of calls can be marked."""
    x = np.array([1.0, 2.0])
    assert rl.gradient(lambda x: (x / rl.ignore_derivatives(x.sum())).sum(), x)[0].tolist() == pytest.approx(
        [1 / 3, 1 / 3]
    )
    assert rl.gradient(lambda t: rl.ignore_derivatives(t)[0] * t[1], [2.0, 3.0]) == ([None, 2.0],)


def test_marked_computation():
    """A marked function runs and its value is used; what is inside may be what cannot be differentiated."""

    def lookup():
        table = {}
        exec("y = 4.0", table)
        return table["y"]

    assert rl.gradient(lambda x: x * rl.ignore_derivatives(lookup), 2.0) == (4.0,)


def test_what_captures_the_argument():
    """A marked closure may use the argument: its value counts, its derivative does not."""

    def f(x):
        scale = rl.ignore_derivatives(lambda: np.interp(x, [0.0, 4.0], [0.0, 8.0]))
        return scale * x

    assert rl.withgradient(f, 3.0) == (18.0, (6.0,))


def test_in_a_loop_and_a_helper():
    """The mark holds in loops and in functions that are called."""

    def helper(x):
        return rl.ignore_derivatives(x)

    def f(x):
        total = 0.0
        for k in range(3):
            total = total + helper(x * k) * x
        return total

    assert rl.gradient(f, 2.0) == (pytest.approx(0 + 2.0 + 4.0),)


def test_marked_argument_of_a_foreign_call():
    """A marked value may go where a differentiable one is refused."""
    with pytest.raises(rl.ForeignCallError):
        rl.gradient(lambda x: x * np.kaiser(1, x)[0], 1.5)
    assert rl.gradient(lambda x: x * np.kaiser(1, rl.ignore_derivatives(x))[0], 1.5) == (1.0,)
