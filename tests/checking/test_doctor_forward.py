"""A forward rule is diagnosed as a reverse one is: the line of the mistake is named, and corrected."""

import numpy as np
import pytest

from rulelab.checking import doctor

from .written_rules import corrected, judged


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over."""
    monkeypatch.setattr(doctor.Strict, "raises", True)


SOFTPLUS = """
def f(x, a):
    return a * np.log1p(np.exp(x))


@rl.frule_for(f, registry=registry)
def f_frule(tangents, x, a):
    _, dx, da = tangents
    s = np.log1p(np.exp(x))
    by_x = a * dx / (1 + np.exp(-x))
    by_a = s * da
    return a * s, by_x + by_a
"""

SHARES = """
def f(x, c):
    return x / (c + np.sum(x**2))


@rl.frule_for(f, registry=registry)
def f_frule(tangents, x, c):
    _, dx, dc = tangents
    total = c + np.sum(x**2)
    y = x / total
    dt = 2 * np.sum(x * dx) + dc
    return y, (dx - y * dt) / total
"""

TURNED = """
def f(x, k):
    return np.sin(k * x)


@rl.frule_for(f, registry=registry)
def f_frule(tangents, x, k):
    _, dx, dk = tangents
    slope = np.cos(k * x)
    moved = k * dx + x * dk
    return np.sin(k * x), slope * moved
"""

MISTAKES = {  # the rule, the line that is right, the same with the mistake, and what that may be called
    "a factor on the way of one tangent": (SOFTPLUS, "by_x = a * dx", "by_x = dx", {"factor"}),
    "one of two factors": (SHARES, "dt = 2 * np.sum(x * dx) + dc", "dt = np.sum(x * dx) + dc", {"factor"}),
    "a term": (TURNED, "moved = k * dx + x * dk", "moved = k * dx", {"lacks_term", "dropped_argument"}),
    "a sign": (TURNED, "moved = k * dx + x * dk", "moved = k * dx - x * dk", {"sign"}),
    "a value given twice": (
        *(TURNED, "    slope = np.cos(k * x)\n", "    slope = np.cos(k * x)\n    slope = np.cos(x)\n"),
        {"overwrites", "other_function", "factor"},
    ),
}


@pytest.mark.slow
def test_a_factor_that_is_left_out_is_found_though_its_line_makes_a_number():
    """`dt` is a number, and what lacks is an array: it belongs beside `dt`, not into it."""
    args = (np.array([0.7, -1.2, 0.4]), 1.3)
    spoilt = SHARES.replace("(dx - y * dt)", "(dx - dt)")
    first = judged(spoilt, *args, mode="frule").diagnoses[0]
    assert first.mistake in ("factor", "lacks_term")
    assert judged(corrected(spoilt, first.diff), *args, mode="frule").verdict == "right"


UNREAD = """
def f(A, s):
    return np.linalg.slogdet(A)[1] - len(A) * np.log(s)


@rl.frule_for(f, registry=registry)
def f_frule(tangents, A, s):
    _, dA, ds = tangents
    return f(A, s), np.trace(np.linalg.solve(A, dA)) - len(A) * ds / s
"""


@pytest.mark.slow
def test_the_tangent_of_an_argument_that_is_dropped_is_put_back():
    args = (np.array([[1.5, 0.3], [-0.2, 0.9]]), 1.3)
    assert judged(UNREAD, *args, mode="frule").verdict == "right"
    spoilt = UNREAD.replace(" - len(A) * ds / s", "", 1)
    first = judged(spoilt, *args, mode="frule").diagnoses[0]
    assert judged(corrected(spoilt, first.diff), *args, mode="frule").verdict == "right"


@pytest.mark.first(1)
@pytest.mark.parametrize("what", MISTAKES)
def test_what_a_forward_rule_lacks_is_found_on_its_line(what):
    text, right, wrong, names = MISTAKES[what]
    args = (np.array([0.7, -1.2, 0.4]), 1.3)
    assert judged(text, *args, mode="frule").verdict == "right"
    spoilt = text.replace(right, wrong)
    first = judged(spoilt, *args, mode="frule").diagnoses[0]
    assert first.mistake in names
    assert wrong in first.place.text or first.place.text.strip() in wrong
    assert judged(corrected(spoilt, first.diff), *args, mode="frule").verdict == "right"
