"""The line of a mistake, and its correction, where what shows is far from what makes it."""

import numpy as np
import pytest

from .written_rules import corrected, judged

KEPT = """
def f(x, a):
    y, level = np.empty(len(x)), 0.0
    for t in range(len(x)):
        level = a * level + x[t]
        y[t] = level
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a):
    y = f(x, a)
    before = np.concatenate([[0.0], y[:-1]])
    flow = 0.0

    def back(y_bar):
        nonlocal flow
        x_bar = np.zeros(len(x))
        a_bar = 0.0
        for t in reversed(range(len(x))):
            flow += y_bar[t]
            x_bar[t] = flow
            a_bar += flow * before[t]
            flow *= a
        return rl.NoTangent(), x_bar, a_bar

    return y, back
"""

WRITTEN = """
def f(x, r):
    return np.exp(-x / r)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, r):
    y = np.exp(-x / r)

    def back(y_bar):
        g = y / r * y_bar
        np.multiply(x, g, out=x)
        return rl.NoTangent(), -g, np.sum(x) / r

    return y, back
"""

SHARED = """
def f(a, b, c):
    return np.sin(b - a) ** 2 + c


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, c):
    def back(y_bar):
        d = 2 * np.sin(2 * (b - a)) * y_bar
        return rl.NoTangent(), -d, d, y_bar

    return np.sin(b - a) ** 2 + c, back
"""

CONSTANT = """
def f(A):
    return np.mean(np.sum(A**2, axis=1) / 2 - np.sum(A, axis=1))


@rl.rrule_for(f, registry=registry)
def f_rrule(A):
    def back(y_bar):
        g = A * (y_bar / len(A)) - np.ones(A.shape)
        return rl.NoTangent(), g

    return f(A), back
"""

ROUNDED = """
def f(x, p):
    return (abs(x) + 1) ** (1 / p)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, p):
    y = (abs(x) + 1) ** (1 / p)

    def back(y_bar):
        x_bar = np.zeros_like(x)
        x_bar += (np.sign(x) * y / (p * (abs(x) + 1)) * y_bar).astype(x.dtype)
        return rl.NoTangent(), x_bar, -np.sum(y * np.log(abs(x) + 1) * y_bar) / p**2

    return y, back
"""

TURNED = """
def f(w, t):
    return np.sum(w * np.exp(1j * t))


@rl.rrule_for(f, registry=registry)
def f_rrule(w, t):
    e = np.exp(1j * t)

    def back(y_bar):
        return rl.NoTangent(), np.conj(e) * y_bar, np.real(1j * w * e * y_bar)

    return np.sum(w * e), back
"""

CLIPPED = """
def f(x, a):
    return np.clip(x, -a, a)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a):
    inside = np.abs(x) <= a

    def back(y_bar):
        return rl.NoTangent(), np.where(inside, y_bar, 0.0), np.sum(np.where(inside, 0.0, y_bar))

    return np.clip(x, -a, a), back
"""

FAR = """
def f(x, g):
    p = 1 / (1 + np.exp(-x))
    return -np.sum((1 - p) ** g * np.log(p))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, g):
    p = 1 / (1 + np.exp(-x))
    q = 1 - p
    logp = np.log(p)

    def back(y_bar):
        x_bar = (g * q**g * p * logp - q ** (g + 1)) * y_bar
        return rl.NoTangent(), x_bar, -np.sum(q**g * logp) * y_bar

    return -np.sum(q**g * logp), back
"""


def assert_named(text, mistake, line, *args):
    """The mistake, its line, and a correction with which the check finds nothing."""
    first = judged(text, *args).diagnoses[0]
    assert (first.mistake, first.place.text.strip().startswith(line)) == (mistake, True), first
    fixed = corrected(text, first.diff)
    assert fixed != text and judged(fixed, *args).verdict == "right", first.diff


@pytest.mark.slow
def test_what_is_kept_from_call_to_call_is_begun_by_the_pullback():
    """The line is where it begins, and there is no `nonlocal` any more; the rule mended raises no alarm."""
    assert_named(KEPT, "stateful", "flow = 0.0")


@pytest.mark.slow
def test_what_is_written_to_an_argument_gets_a_name_of_its_own():
    """`out=x` is the line, and what reads x afterwards reads the new name."""
    assert_named(WRITTEN, "writes", "np.multiply(x, g, out=x)")


@pytest.mark.slow
def test_a_factor_that_two_cotangents_share_is_corrected_once():
    assert_named(SHARED, "factor", "d = 2 * np.sin")


@pytest.mark.slow
def test_a_term_without_the_cotangent_takes_the_factor_beside_it():
    assert_named(CONSTANT, "additive_constant", "g = A * (y_bar / len(A)) - ")


@pytest.mark.slow
def test_a_buffer_of_integers_goes_with_the_cast_to_them():
    assert_named(ROUNDED, "dtype", "x_bar = np.zeros_like(x)")


@pytest.mark.slow
def test_a_real_angle_beside_complex_numbers_stays_real():
    """The correction is verified where the rule has a complex answer for the one and a real one for the
    other."""
    assert_named(TURNED, "conjugate", "return rl.NoTangent(), np.conj(e)")


@pytest.mark.slow
def test_the_sign_that_one_side_of_a_where_lacks():
    """Right above `a`, wrong below `-a`."""
    assert_named(CLIPPED, "sign", "return rl.NoTangent(), np.where(inside, y_bar, 0.0), np.sum")


@pytest.mark.slow
def test_a_correction_without_a_number_far_away_is_offered():
    """Where `1 - p` is 0 in floats its logarithm is none: that is left to be told of the corrected rule."""
    first = judged(FAR).diagnoses[0]
    assert "np.log(q)" in first.diff and first.place.text.strip().endswith("-np.sum(q**g * logp) * y_bar")
    again = corrected(FAR, first.diff)
    assert judged(again, np.array([0.5, -0.25, 1.5]), 1.5).verdict == "right"
    assert "nan or infinite at x = [80" in judged(again).sentence
