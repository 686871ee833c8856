"""What is kept out of the result has no part in the derivative, whatever its slope."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.array_programs import function_of  # noqa: E402
from corpus.guards import generic  # noqa: E402

import rulelab as rl  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("as_users_run_it"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
# Of x, which is 0, and y, which is 1: something without a finite slope there, that the result has no part in.
STEEP = [
    "math.sqrt(x)",
    "x ** 0.5",
    "np.sqrt(x)",
    "math.asin(y)",
    "math.hypot(x, x)",
    "np.log(x)",
    "np.cbrt(x)",
]
LEFT_OUT = {
    "a branch": "if x > 0.0:\n    return r\nreturn 3.0 * x + y",
    "a branch before": "s = 3.0 * x + y\nif x > 0.0:\n    s = r\nreturn s",
    "one arm": "s = 3.0 * x + y\nif x > 0.0:\n    s = s + r * y\nreturn s",
    "a branch in a loop": "s = 3.0 * x + y\nfor k in range(3):\n    if x > k:\n        s = s + r\nreturn s",
    "no turn of a loop": "s = 3.0 * x + y\nfor k in range(int(x)):\n    s = s + r\nreturn s",
    "a sum behind it": "t = 2.0 * r + x\nif x > 0.0:\n    return t\nreturn 3.0 * x + y",
    "an item": "items = [r, 3.0 * x + y]\nreturn items[1]",
    "a deleted item": "items = [r, 3.0 * x + y]\ndel items[0]\nreturn items[0]",
    "a popped item": "items = [3.0 * x + y, r]\nitems.pop()\nreturn items[0]",
    "a tuple": "pair = (r, 3.0 * x + y)\nreturn pair[1]",
    "a dict": "d = {'r': r, 's': 3.0 * x + y}\nreturn d['s']",
    "a loop over items": "s = y\nfor k, v in enumerate([r, 3 * x]):\n    if k:\n        s = s + v\nreturn s",
    "another function's branch": "return chosen(r, 3.0 * x + y, x)",
    "another function's loop": "return chosen_in_a_loop(r, 3.0 * x + y, x)",
    "an answer that nobody reads": "both(r, x)\nreturn 3.0 * x + y",
}


def chosen(a, b, x):
    if x > 0.0:
        return a
    return b


def chosen_in_a_loop(a, b, x):
    for _ in range(3):
        if x > 0.0:
            b = a
    return b


def both(a, b):
    return a, b


@pytest.mark.every(5)
@pytest.mark.parametrize("way", LEFT_OUT)
@pytest.mark.parametrize("steep", STEEP)
@pytest.mark.parametrize("of_numpy", [False, True])
def test_what_is_left_out_of_the_result_has_no_part_in_the_gradient(steep, way, of_numpy):
    """Zero times its slope would be no number."""
    if of_numpy and "asin" in steep:
        steep = steep.replace("math.asin", "np.arcsin")
    f = function_of(f"r = {steep}\n{LEFT_OUT[way]}", "x, y", math=math, **HELPERS)
    x, y = (np.float64(0.0), np.float64(1.0)) if of_numpy else (0.0, 1.0)
    if of_numpy is False and steep == "np.log(x)":
        x = np.float64(0.0)
    for _ in range(3):
        assert rl.gradient(f, x, y) == (3.0, 1.0)


HELPERS = {"chosen": chosen, "chosen_in_a_loop": chosen_in_a_loop, "both": both}


@pytest.mark.every(3)
@pytest.mark.parametrize("way", [way for way in LEFT_OUT if "item" not in way])
@pytest.mark.parametrize(
    "steep", ["np.sum(np.sqrt(v))", "np.linalg.norm(v)", "np.sqrt(v[0])", "np.sqrt(v @ v)"]
)
def test_so_it_is_of_numbers_made_of_arrays(steep, way):
    """The same as operation by operation."""
    f = function_of(f"x, y = v[0], v[1]\nr = {steep}\n{LEFT_OUT[way]}", "v", math=math, **HELPERS)
    v = np.array([0.0, 1.0, 0.0])
    with generic():
        wanted = rl.gradient(f, v)[0]
    for _ in range(3):
        np.testing.assert_array_equal(rl.gradient(f, v)[0], wanted)


@pytest.mark.parametrize("power", [2.0, 0.5])
def test_a_zero_that_flows_is_no_nothing(power):
    """What is multiplied by zero has a part in the result: its infinite slope is not hidden."""
    f = function_of("r = np.sqrt(x)\nif x >= 0.0:\n    return r * 0.0\nreturn x", "x")
    assert math.isnan(rl.gradient(f, np.float64(0.0))[0])
