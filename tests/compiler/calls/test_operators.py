"""An operator on objects of the author's runs the methods that Python runs, in its order, in both modes."""

import numpy as np
import pytest

import rulelab as rl


class Tenfold(float):
    """A number whose class goes before that of plain numbers, since it inherits from it."""

    def __radd__(self, other):
        return other * 10.0

    def __rmul__(self, other):
        return other + 10.0 * other


class Declining(float):
    """A number whose method leaves the sum to the class that it inherits from."""

    def __radd__(self, other):
        return NotImplemented


class DecliningFirst(float):
    def __add__(self, other):
        return NotImplemented


class ByKind:
    """What tells Python's numbers, which it is handed, from those of NumPy, which stand in the program."""

    def __radd__(self, other):
        return other * (3.0 if type(other) is float else 5.0)


class Inheriting(ByKind):
    def __radd__(self, other):
        return other * 7.0

    def __add__(self, other):
        return other * 2.0


PROGRAMS = {
    "reflected of a subclass": (lambda x: x + Tenfold(1.0), 2.0),
    "reflected of a subclass, times": (lambda x: x * x * Tenfold(1.0), 2.0),
    "declined by a subclass": (lambda x: x * x + Declining(1.0), 2.0),
    "declined from the left": (lambda x: DecliningFirst(1.0) + x * x, 2.0),
    "a number of NumPy's": (lambda x: np.float64(x * x) + ByKind(), 2.0),
    "an item": (lambda x: x[1] + ByKind(), np.array([1.0, 2.0])),
    "of a subclass of the author's": (lambda x: x + Inheriting(), 2.0),
    "from the left": (lambda x: Inheriting() + x * x, 2.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_are_asked_in_pythons_order(name):
    """Gradient and pushforward are those of the value that Python computes, by differences."""
    f, x = PROGRAMS[name]
    step = 1e-6 * (1.0 if isinstance(x, float) else np.array([0.0, 1.0]))
    slope = (f(x + step) - f(x - step)) / 2e-6
    assert np.sum(rl.gradient(f, x)[0]) == pytest.approx(slope, rel=1e-6)
    x_dot = 1.0 if isinstance(x, float) else np.array([0.0, 1.0])
    assert rl.pushforward(f, x)(x_dot) == pytest.approx(slope, rel=1e-6)


class Bare:
    """What has no operators."""

    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Bare(x) + 1.0,
        lambda x: 2.0 * Bare(x),
        lambda x: -Bare(x),
        lambda x: -{1: x},
        lambda x: Bare(x)[0],
    ],
)
def test_what_no_class_answers_is_pythons_own_error(f):
    """It is the program that is wrong, in both modes."""
    with pytest.raises(TypeError):
        f(2.0)
    for ask in (lambda: rl.gradient(f, 2.0), lambda: rl.pushforward(f, 2.0)(1.0)):
        with pytest.raises(TypeError):
            ask()
