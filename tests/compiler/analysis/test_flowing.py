"""What certainly has a cotangent has one on every way that a function takes."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.analysis.flowing import flowed_to
from rulelab.compiler.analysis.types import Types
from rulelab.rules.kinds import FLOAT, INT

# The body of a function of numbers x and y and of a whole number n, and which of x and y are certain.
BODIES = {
    "return x * 2.0": "x",
    "return x + y": "xy",
    "s = x\nfor _ in range(n):\n    s = s * 0.5\nreturn s": "x",
    "s = x\nwhile s > 1.5:\n    s = 0.5 * (s + y / s)\nreturn s": "x",
    "s = x * y\nfor _ in range(n):\n    s = s + 1.0\nreturn s - y": "xy",
    "s = x\nfor _ in range(n):\n    for _ in range(n):\n        s = s - 0.5\nreturn s": "x",
    "s, t = x, y\nfor _ in range(n):\n    s = s + t\nreturn s": "x",
    "s, t = x, y\nfor _ in range(n):\n    s, t = t, s\nreturn s + t": "",
    # on some way nothing flows
    "s = x\nfor _ in range(n):\n    s = y\nreturn s": "",
    "s = 0.0\nfor _ in range(n):\n    s = s + x\nreturn s": "",
    "s = x\nfor k in range(n):\n    if k:\n        s = y\nreturn s": "",
    "s = x\nfor k in range(n):\n    s = 1.0\nreturn s": "",
    "if n:\n    return x\nreturn y": "",
    "s = x\nfor _ in range(n):\n    s = s * 0.5\nreturn y": "y",
    "return max(x, y)": "",
}


def text_of(body):
    return "def f(x, y, n):\n" + "\n".join(f"    {line}" for line in body.splitlines()) + "\n"


def certain_in(cells, body):
    function = cells.lowered(text_of(body))
    types = Types(function, {"x": FLOAT, "y": FLOAT, "n": INT}, cells.find_global)
    return flowed_to(function, types, lambda op: False)


@pytest.mark.parametrize("body", BODIES)
def test_what_is_certain(cells, body):
    """By the text alone, loops of no turn included."""
    assert certain_in(cells, body) & {"x", "y"} == set(BODIES[body])


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_what_is_certain_has_a_cotangent(cells, body, n):
    """In the sweeps that know of no kinds, where what nothing flowed to is None or a zero object."""
    f = cells.run(text_of(body))["f"]
    _, back = rl.pullback(lambda args: f(args[0], args[1], n), [3.0, 2.0])
    found = dict(zip("xy", back(1.0)[0] or (None, None)))
    assert all(found[name] for name in BODIES[body] if name in "xy")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_gradients_are_those_of_differences(cells, body, n):
    """With cotangents that start as numbers where they are certain, at each call."""
    f = cells.run(text_of(body))["f"]
    h = 1e-6
    of_x = (f(3.0 + h, 2.0, n) - f(3.0 - h, 2.0, n)) / (2 * h)
    of_y = (f(3.0, 2.0 + h, n) - f(3.0, 2.0 - h, n)) / (2 * h)
    for _ in range(3):
        found = [0.0 if x_bar is None else x_bar for x_bar in rl.gradient(f, 3.0, 2.0, n)[:2]]
        np.testing.assert_allclose(found, [of_x, of_y], rtol=1e-7, atol=1e-9)


def test_a_number_that_is_certain_hides_no_infinite_slope(cells):
    """What is kept out of the result by a branch keeps out its slope, beside a number that is certain."""
    cells.run("import math")
    body = "s, r = x, math.sqrt(y)\nfor _ in range(n):\n    s = s * 0.5\nif y > 0.0:\n    s = s + r\nreturn s"
    f = cells.run(text_of(body))["f"]
    for _ in range(3):
        assert rl.gradient(f, 3.0, 0.0, 1)[:2] == (0.5, 0.0)
    assert math.isclose(rl.gradient(f, 3.0, 4.0, 1)[1], 0.25)
