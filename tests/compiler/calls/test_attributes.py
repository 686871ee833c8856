"""What an attribute is, is told once: reverse and forward mode give the same derivative, or refuse."""

import types

import pytest

import rulelab as rl


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


READ = {
    "__dict__": lambda p: p.__dict__["x"] * p.y,
    "vars": lambda p: vars(p)["x"] * vars(p)["y"],
    "items": lambda p: sum([v * len(k) * p.x for k, v in vars(p).items()]),
    "two ways": lambda p: vars(p)["x"] * p.x + p.y,
}


@pytest.mark.parametrize("kind", [Point, lambda x, y: types.SimpleNamespace(x=x, y=y)])
@pytest.mark.parametrize("name", READ)
def test_the_dict_of_an_object_that_is_given(name, kind):
    """Its entries are the attributes: both modes follow what is read from it."""
    f, p, step = READ[name], kind(2.0, 3.0), 1e-6
    x_bar = rl.gradient(f, p)[0].x
    y_dot = rl.pushforward(lambda x: f(kind(x, 3.0)), 2.0)(1.0)
    difference = (f(kind(2.0 + step, 3.0)) - f(kind(2.0 - step, 3.0))) / (2 * step)
    assert x_bar == pytest.approx(difference, rel=1e-8) and y_dot == pytest.approx(difference, rel=1e-8)


def set_meanwhile(x):
    p = Point(x, 1.0)
    held = p.__dict__
    p.x = 3.0 * x
    return held["x"] * x


def by_vars(x):
    p = Point(x, 1.0)
    return vars(p)["x"] * x


def of_a_function(x):
    return len(vars(lambda: x)) + x


@pytest.mark.parametrize("f", [set_meanwhile, by_vars, of_a_function])
def test_the_dict_of_what_is_made_in_the_sweep_is_refused(f):
    """Attributes may be set after the dict was read, which shows in it; a function holds more than that."""
    with pytest.raises((rl.NotDifferentiableError, rl.ForeignCallError)):
        rl.gradient(f, 2.0)
