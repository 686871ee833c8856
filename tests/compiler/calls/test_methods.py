"""A method is called with its object for its first argument, in both modes, however the class states it."""

import functools
import types

import numpy as np
import pytest

import rulelab as rl


class Line:
    scale = 2.0

    def __init__(self, slope):
        self.slope = slope
        self.stored = lambda y: y * slope

    def at(self, y, offset=0.0):
        return self.slope * y + offset

    at_four = functools.partialmethod(at, 4.0)
    above = functools.partialmethod(at, offset=3.0)

    @classmethod
    def scaled(cls, y):
        return y * cls.scale

    @staticmethod
    def square(y):
        return y * y

    @functools.singledispatchmethod
    def of_kind(self, y):
        return y * self.slope

    @of_kind.register
    def _(self, y: float):
        return y * y * self.slope

    def __call__(self, y, *, power=1):
        return self.slope * y**power


PROGRAMS = {
    "method": (lambda x: Line(x).at(x), 4.0),
    "keyword": (lambda x: Line(x).at(y=x, offset=x), 5.0),
    "partial method": (lambda x: Line(x).at_four(), 4.0),
    "partial method with a keyword": (lambda x: Line(x * x).at_four(offset=x), 17.0),
    "partial method given more": (lambda x: Line(x).above(x), 4.0),
    "class method": (lambda x: Line(x).scaled(x), 2.0),
    "static method": (lambda x: Line(x).square(x), 4.0),
    "by the class of an argument": (lambda x: Line(x).of_kind(x), 12.0),
    "by the class of another": (lambda x: Line(x).of_kind(3), 3.0),
    "of the class": (lambda x: Line.at(Line(x), x), 4.0),
    "the function behind it": (lambda x: Line(x).at.__func__(Line(x), x), 4.0),
    "the function behind a value": (lambda x, at=Line(3.0).at: at.__func__(Line(x), x, x), 5.0),
    "the function behind a class method": (lambda x: Line(x).scaled.__func__(Line, x), 2.0),
    "a stored function": (lambda x: Line(x).stored(x), 4.0),
    "a stored method": (lambda x: functools.partial(Line(x).at, x)(), 4.0),
    "the object itself": (lambda x: Line(x)(x, power=2), 12.0),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_have_the_same_slope_in_both_modes(name):
    """And in the second derivative, which is the difference of gradients."""
    f, slope = PROGRAMS[name]
    assert rl.gradient(f, 2.0)[0] == pytest.approx(slope)
    assert rl.pushforward(f, 2.0)(1.0) == pytest.approx(slope)
    step = 1e-5
    second = (rl.gradient(f, 2.0 + step)[0] - rl.gradient(f, 2.0 - step)[0]) / (2 * step)
    assert rl.hessian(f, 2.0) == pytest.approx(second, abs=1e-5)


class Keeper:
    """Methods by the names of those of arrays, which keep nothing of what they are given: here some do."""

    kept = None

    def dot(self, xs):
        self.kept = xs
        return xs[0] * xs[1]

    def sum(self, xs):
        self.kept = 0.0
        return xs

    def mean(self, xs):
        return xs[0] * 2.0

    def copy(self, xs):
        return xs * 3.0


def kept(x, keeper):
    xs = np.array([x, 2.0 * x])
    y = keeper.dot(xs)
    xs *= 2.0
    return y + np.sum(keeper.kept)


def kept_of_constants(x, keeper):
    xs = np.array([1.0, 2.0])
    y = keeper.dot(xs)
    xs *= 2.0
    return x * (y + np.sum(keeper.kept))


def given_back(x, keeper):
    xs = np.array([x, 2.0 * x])
    ys = keeper.sum(xs)
    xs *= 2.0
    return np.sum(ys)


def read(x, keeper):
    xs = np.array([x, 2.0 * x])
    y = keeper.mean(xs) + np.sum(keeper.copy(xs))
    xs *= 2.0
    return y + np.sum(xs)


@pytest.mark.parametrize("f", [kept, kept_of_constants, given_back, read])
def test_an_array_that_a_method_of_the_authors_may_have_kept(f):
    """Who holds it sees the change: the right number, or a MutationError at each call."""
    step = 1e-6
    difference = (f(1.5 + step, Keeper()) - f(1.5 - step, Keeper())) / (2 * step)
    assert rl.pushforward(lambda x: f(x, Keeper()), 1.5)(1.0) == pytest.approx(difference, rel=1e-8)
    for _ in range(2):
        if f is read:
            assert rl.gradient(lambda x: f(x, Keeper()), 1.5)[0] == pytest.approx(difference, rel=1e-8)
            continue
        with pytest.raises(rl.MutationError):
            rl.gradient(lambda x: f(x, Keeper()), 1.5)


@functools.singledispatch
def measured(x):
    return x * x


@measured.register
def _(x: list):
    return x[0] ** 3


def test_a_copy_of_a_dispatcher_chooses_by_its_closure():
    """It is the same code, without the attributes; and what else is put there says nothing."""
    code, closure = measured.__code__, measured.__closure__
    alike = types.FunctionType(code, measured.__globals__, "measured", None, closure)
    misleading = types.FunctionType(code, measured.__globals__, "measured", None, closure)
    misleading.dispatch = lambda kind: lambda x: 0.0
    for each in (alike, misleading):
        f = lambda x: each(x) + each([x])
        assert rl.gradient(f, 1.5) == (2 * 1.5 + 3 * 1.5**2,)
        assert rl.pushforward(f, 1.5)(1.0) == 2 * 1.5 + 3 * 1.5**2
