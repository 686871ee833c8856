"""Arrays that have a tangent since a varying value might be written to them, while none is: constants, even
where a slope is infinite or does not exist, and at any order.
"""

import numpy as np
import pytest

import rulelab as rl

# Each makes a constant with a function that has an infinite slope there, or none.
CONSTANTS = {
    "remainders": "np.arange(6) % 2",
    "remainders of floats": "np.arange(6.0) % 2.0",
    "roots": "np.sqrt(np.arange(3.0))",
    "powers": "np.linspace(0.0, 1.0, 3) ** 0.5",
    "roots of float32": "np.sqrt(np.array([0, 1], dtype=np.float32))",
    "a root of an array without dimensions": "np.sqrt(np.array(0))",
    "a root of an item": "math.sqrt(np.zeros(2)[1]) + 1.0",
    "arcs": "np.arccos(np.ones(2))",
    "quotients": "np.arange(3.0) // 1.0",
}
# What makes the arrays of a function have tangents from the start.
WRITES = {
    "appended": "xs = []; xs.append(t); s = xs[0]",
    "filled": "b = np.zeros(2); b[0] = t; s = b[0]",
    "passed on": "s = put([t])[0]",
    "made by a loop": "b = np.zeros(3)\n    for i in range(3): b[i] = t * i\n    s = b[1]",
}
HEAD = """
import math
import numpy as np

def put(xs):
    xs.append(1.0)
    return xs

def same(x, n):
    return x if n == 0 else same(x, n - 1)
"""


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_has_no_slope_however_steep(constant, write, cells):
    """The same slope as where nothing is written, whichever comes first."""
    made, written = f"w = {CONSTANTS[constant]}", WRITES[write]
    for lines in (f"{made}\n    {written}", f"{written}\n    {made}"):
        f = cells.run(f"{HEAD}\ndef f(t):\n    {lines}\n    return np.sum(w * t) * s\n")["f"]
        assert rl.pushforward(f, 1.5)(1.0) == pytest.approx(2 * f(1.5) / 1.5, rel=1e-6)


@pytest.mark.parametrize("write", WRITES)
def test_a_constant_exponent_has_no_slope(write, cells):
    """The slope for the exponent of a negative number is NaN."""
    lines = f"k = np.arange(4.0)\n    {WRITES[write]}"
    f = cells.run(f"{HEAD}\ndef f(t):\n    {lines}\n    return np.sum((t - 4.0) ** k) + 0.0 * s\n")["f"]
    u = 1.5 - 4.0
    assert rl.pushforward(f, 1.5)(1.0) == pytest.approx(1 + 2 * u + 3 * u**2, rel=1e-12)


# Each changes a constant by constants, or makes it in a function that is not inlined.
CHANGED = {
    "a number written": "w = np.arange(3.0); w[0] = 0.0; w = np.sqrt(w)",
    "numbers written": "w = np.ones(3); w[1:] = np.zeros(2); w = np.sqrt(w)",
    "remainders in place": "w = np.arange(6.0); w %= 2.0",
    "powers in place": "w = np.arange(3.0); w **= 0.5",
    "a difference in place": "w = np.arange(3.0); w -= 1.0; w = np.sqrt(np.abs(w))",
    "a recursion": "w = root(np.arange(3.0), 2)",
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("changed", CHANGED)
def test_a_constant_that_constants_change_has_no_slope(changed, write, cells):
    root = "def root(w, n):\n    return np.sqrt(w) if n == 0 else root(w, n - 1)\n"
    made, written = CHANGED[changed], WRITES[write]
    for lines in (f"{made}\n    {written}", f"{written}\n    {made}"):
        f = cells.run(f"{HEAD}\n{root}\ndef f(t):\n    {lines}\n    return np.sum(w * t) * s\n")["f"]
        assert rl.pushforward(f, 1.5)(1.0) == pytest.approx(2 * f(1.5) / 1.5, rel=1e-6)


# The constant is written to, or what shares its memory is, at first or later: its tangent counts.
TOUCHED = [
    "w[1] = t; y = np.sqrt(w)[1]",
    "v = w[:2]; v[1] = t; y = np.sqrt(w)[1]",
    "v = w.reshape(1, 3).T; v[1] = t; y = math.sqrt(w[1])",
    "held = [w]; held[0][1] = t; y = (w ** 0.5)[1]",
    "held = {'w': w}; fill(held['w'], t); y = np.sqrt(w)[1]",
    "fill(w, t); y = np.sqrt(w)[1]",
    "np.multiply(t, np.ones(3), out=w); y = np.sqrt(w)[1]",
    "w = np.sqrt(w + 1.0); w[1] = t; y = np.sqrt(w)[1]",
    "u = w if t > 0 else w + 1.0; u[1] = t; y = np.sqrt(w)[1]",
    "for k in range(2): y = np.sqrt(w)[1]; w[1] = t",
    "y = np.sqrt(w)[1] + np.sqrt(w + 0.0)[1]; w += t; y = y + np.sqrt(w)[1]",
    "def inner(): w[1] = t\n    inner(); y = np.sqrt(w)[1]",
    "u = None\n    try: u = w; u = w[:9]\n    except ValueError: pass\n    u[1] = t; y = np.sqrt(w)[1]",
    "u = None\n    try: int('?')\n    except ValueError: u = w\n    u[1] = t; y = np.sqrt(w)[1]",
    "m = w.reshape(1, 3)\n    for row in m: row[1] = t\n    y = np.sqrt(w)[1]",
    "m = w.reshape(1, 3)\n    for k, row in enumerate(m): row[1] = t\n    y = np.sqrt(w)[1]",
    "u = same(w, 2); u[1] = t; y = np.sqrt(w)[1]",
    "u, k = same((w, 1), 2); u[1] = t; y = np.sqrt(w)[1]",
    "u = same({'w': w[:2]}, 2)['w']; u[1] = t; y = np.sqrt(w)[1]",
    "w[1] = 0.0; w[1] = t; w[0] = 0.0; y = np.sqrt(w)[1]",
    "v = w[:2]; v *= 0.0; w[1] = t; v += 0.0; y = np.sqrt(v)[1]",
    "v = np.zeros(3); v[1] = t; w[:] = v; y = np.sqrt(w)[1]",
    "v = np.zeros(3); w[:] = v; v[1] = t; w += v; y = np.sqrt(w)[1]",
    "m = w.reshape(1, 3); (row,) = m; row[1] = t; y = np.sqrt(w)[1]",
]


@pytest.mark.parametrize("lines", TOUCHED)
def test_what_is_written_to_a_constant_counts(lines, cells):
    """`y` is the root of `t` each time; zero times an infinite slope may be NaN, as the manual says."""
    fill = "def fill(w, t):\n    w[1] = t\n"
    f = cells.run(f"{HEAD}\n{fill}\ndef f(t):\n    w = np.zeros(3)\n    {lines}\n    return y\n")["f"]
    assert f(1.5) == np.sqrt(1.5)
    try:
        slope = rl.pushforward(f, 1.5)(1.0)
    except rl.RuleLabError:
        return
    assert slope == pytest.approx(0.5 / np.sqrt(1.5)) or np.isnan(slope)


@pytest.mark.parametrize("lines", TOUCHED)
def test_what_is_written_counts_where_its_tangent_is_zero(lines, cells):
    """The root of `t * t` has no slope at 0: never 0, as if nothing had been written."""
    fill = "def fill(w, t):\n    w[1] = t\n"
    text = f"{HEAD}\n{fill}\ndef f(t):\n    t = t * t; w = np.zeros(3)\n    {lines}\n    return y\n"
    f = cells.run(text)["f"]
    try:
        assert np.isnan(rl.pushforward(f, 0.0)(1.0))
    except rl.RuleLabError:
        pass


# -- in the tangent of a tangent -----------------------------------------------------------------------------


def slope(f):
    return lambda x: rl.pushforward(f, x)(1.0)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_has_no_slope_at_second_order(constant, write, cells):
    lines = f"w = {CONSTANTS[constant]}\n    {WRITES[write]}"
    f = cells.run(f"{HEAD}\ndef f(t):\n    {lines}\n    return np.sum(w * t) * s\n")["f"]
    assert slope(slope(f))(1.5) == pytest.approx(2 * f(1.5) / 1.5**2, rel=1e-6)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_has_no_slope_at_third_order(constant, cells):
    lines = f"w = {CONSTANTS[constant]}\n    {WRITES['filled']}"
    f = cells.run(f"{HEAD}\ndef f(t):\n    {lines}\n    return np.sum(w * t) * s * t\n")["f"]
    assert slope(slope(slope(f)))(1.5) == pytest.approx(6 * f(1.5) / 1.5**3, rel=1e-6)


@pytest.mark.parametrize("lines", TOUCHED)
def test_what_is_written_to_a_constant_counts_at_second_order(lines, cells):
    fill = "def fill(w, t):\n    w[1] = t\n"
    f = cells.run(f"{HEAD}\n{fill}\ndef f(t):\n    w = np.zeros(3)\n    {lines}\n    return y\n")["f"]
    try:
        second = slope(slope(f))(1.5)
    except rl.RuleLabError:
        return
    assert second == pytest.approx(-0.25 * 1.5**-1.5) or np.isnan(second)


# Each makes `w` from `y`, which does not vary in the inner derivative.
DEPENDING = [
    "w = np.array([y * y, 1.0])",
    "w = y * y * np.ones(2)",
    "w = np.zeros(2); w[0] = y * y",
    "v = np.zeros((1, 2)); u = v[0]; u[0] = y * y; w = v.T[:, 0]",
    "xs = [y * y * np.ones(2)]; w = xs[0]",
    "xs = []; xs.append(y * y); w = np.array([xs[0], 1.0])",
    "d = {}; d['y'] = y * y; w = d['y'] * np.ones(2)",
    "h = Held(); h.y = y * y; w = h.y * np.ones(2)",
    "h = Held(); setattr(h, 'y', y * np.ones(2)); w = h.y * h.y",
    "h = Held(); g = h; g.y = y * np.ones(2); w = np.multiply(h.y, h.y)",
    "w = (lambda: y * y * np.ones(2))()",
    "w = put([y * y])[0] * np.ones(2)",
    "w = np.zeros(2)\n    for k in range(2): w = w + y * y * k",
    "w = np.multiply(y, y) * np.ones(2) if y < 9 else np.ones(2)",
    "w = np.zeros(2); np.multiply(y, y * np.ones(2), out=w)",
    "w = np.zeros(2); w += y * y",
]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("lines", DEPENDING)
def test_what_varies_outside_alone_is_no_constant(lines, first, cells):
    """At 0 the root of `y * y` has no slope: never 0, which the zero tangent of a constant would give. The
    derivatives are right elsewhere, or refused.
    """
    write = "b = np.zeros(2); b[0] = x * x"
    body = f"{write}\n    {lines}" if first else f"{lines}\n    {write}"
    held = "class Held:\n    pass\n"
    f = cells.run(f"{HEAD}\n{held}\ndef f(x, y):\n    {body}\n    return np.sqrt(w)[0] * b[0]\n")["f"]
    inner = lambda y: slope(lambda x: f(x, y))(1.5)  # noqa: E731
    for y in (0.0, 1.7):
        try:
            found = slope(inner)(y)
        except rl.RuleLabError:
            continue
        wanted = (inner(y + 1e-6) - inner(y - 1e-6)) / 2e-6
        assert found == pytest.approx(wanted, abs=1e-6) if y else found is not None and not abs(found) < 1
