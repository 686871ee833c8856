"""Lengths that a docstring gives in words of its own: of two, one may have to be the larger; a section may
have them in what it says of a parameter. What is gone through side by side is as long.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.reading.usage import shapes_said

from .rules import registry_with
from .written_rules import judged as judged_by_text

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def judged(f, rule):
    return rule_check(f, registry=registry_with(f, rule))


def windows(series, taps):
    """Each window of the series (channels, steps), weighted by the taps (channels, width)."""
    seen = np.lib.stride_tricks.sliding_window_view(series, taps.shape[1], axis=1)
    return np.einsum("csw,cw->s", seen, taps)


def matched(image, stamp):
    """How well a stamp (p, q) fits at each place of an image (h, w)."""
    seen = np.lib.stride_tricks.sliding_window_view(image, stamp.shape)
    return np.einsum("hwpq,pq->hw", seen, stamp)


def windows_with(adds):
    def rule(series, taps):
        width = taps.shape[1]

        def pullback(y_bar):
            series_bar, taps_bar = np.zeros(series.shape), np.zeros(taps.shape)
            for s in range(len(y_bar)):
                there = slice(s, s + width)
                series_bar[:, there] = adds * series_bar[:, there] + y_bar[s] * taps
                taps_bar += y_bar[s] * series[:, there]
            return NO, series_bar, taps_bar

        return windows(series, taps), pullback

    return rule


def matched_with(adds):
    def rule(image, stamp):
        p, q = stamp.shape

        def pullback(y_bar):
            image_bar, stamp_bar = np.zeros(image.shape), np.zeros(stamp.shape)
            for i, j in np.ndindex(y_bar.shape):
                there = slice(i, i + p), slice(j, j + q)
                image_bar[there] = adds * image_bar[there] + y_bar[i, j] * stamp
                stamp_bar += y_bar[i, j] * image[there]
            return NO, image_bar, stamp_bar

        return matched(image, stamp), pullback

    return rule


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize(("f", "rule_with"), [(windows, windows_with), (matched, matched_with)])
def test_of_two_lengths_that_are_said_one_may_have_to_be_the_larger(f, rule_with):
    """Of a window as long as what it moves along there is one, and nothing overlaps."""
    right = judged(f, rule_with(1))
    assert right.verdict == "right", right
    assert judged(f, rule_with(0)).verdict == "wrong"


def curve(points, t, steps, labels):
    """Points on a line through others.

    Args:
        points (array): what it goes through, shape (k, d).
        t (np.ndarray, shape (n,)): where.
        steps: sizes of each, shape (m, n) or (n,).
        labels (array of int): classes, shape (m,).
    """
    return np.interp(t, np.arange(len(points)), points[:, 0])


def test_a_section_gives_lengths_in_what_it_says_of_a_parameter():
    assert dict(shapes_said(curve)) == {"points": ("k", "d"), "t": ("n",)}


def flow(level, pipes, widths):
    total = 0.0
    for (i, j), width in zip(pipes, widths):
        total = total + width * (level[i] - level[j]) ** 2
    return total


def flow_with(sign):
    def rule(level, pipes, widths):
        drops = np.array([level[i] - level[j] for i, j in pipes])

        def pullback(y_bar):
            level_bar = np.zeros(len(level))
            for (i, j), width, drop in zip(pipes, widths, drops):
                level_bar[i] += 2 * width * drop * y_bar
                level_bar[j] += sign * 2 * width * drop * y_bar
            return NO, level_bar, NO, drops**2 * y_bar

        return flow(level, pipes, widths), pullback

    return rule


@pytest.mark.slow
def test_what_a_function_goes_through_side_by_side_is_as_long():
    """Of a longer one the rest would be left out, and no rule is for that."""
    report = judged(flow, flow_with(-1))
    assert report.verdict == "right", report
    assert judged(flow, flow_with(1)).verdict == "wrong"


ECHOED = '''
def f(x, h):
    """An echo.

    Parameters
    ----------
    x : (n,) array
    h : (m,) array

    Returns
    -------
    {returns}
    """
    return np.convolve(x, h)[: len(x)]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, h):
    n, m = len(x), len(h)

    def back(y_bar):
        x_bar = np.convolve(y_bar[::-1], h)[:n][::-1]
        return rl.NoTangent(), x_bar, np.array([y_bar[k:] @ x[: {end}] for k in range(m)])

    return f(x, h), back
'''


@pytest.mark.slow
@pytest.mark.parametrize(("returns", "end", "verdict"), [
    ("(n,) array", "max(n - k, 0)", "right"), ("(n,) array", "n - k", "wrong"),
    ("array", "n - k", "right"),  # the longer of the two may be meant to be `x`
])  # fmt: skip
def test_a_rule_that_raises_where_the_value_has_the_length_that_is_said_is_wrong(returns, end, verdict):
    assert judged_by_text(ECHOED.format(returns=returns, end=end)).verdict == verdict


MIXED = '''
def f(front, back, cover):
    """Mixes two images of shape (h, w, colours), by a cover of shape (h, w)."""
    return cover[:, :, None] * front + (1 - cover)[:, :, None] * back


@rl.rrule_for(f, registry=registry)
def f_rrule(front, back, cover):
    a = cover[:, :, None]

    def mixed_back(y_bar):
        cover_bar = np.sum(y_bar * (front - back), axis={axis})
        return rl.NoTangent(), a * y_bar, (1 - a) * y_bar, cover_bar.reshape(cover.shape)

    return a * front + (1 - a) * back, mixed_back
'''
CORNERS = '''
def f(corners):
    """Area of a triangle from the (3, 2) array of its corners."""
    (a, b), (c, d) = corners[1] - corners[0], corners[2] - corners[0]
    return 0.5 * (a * d - b * c)


@rl.rrule_for(f, registry=registry)
def f_rrule(corners):
    (a, b), (c, d) = corners[1] - corners[0], corners[2] - corners[0]

    def back(y_bar):
        second, third = 0.5 * y_bar * np.array([d, -c]), 0.5 * y_bar * np.array([-b, {axis}])
        return rl.NoTangent(), np.array([-second - third, second, third])

    return 0.5 * (a * d - b * c), back
'''


@pytest.mark.slow
@pytest.mark.parametrize(("text", "right", "wrong"), [(MIXED, "2", "0"), (CORNERS, "a", "-a")])
def test_shapes_are_read_in_front_of_a_name_and_of_all_that_have_none(text, right, wrong):
    """Square matrices, which the function takes as well, are not what is meant."""
    assert judged_by_text(text.format(axis=right)).verdict == "right"
    assert judged_by_text(text.format(axis=wrong)).verdict == "wrong"


def test_so_many_arrays_as_are_said_have_to_be_left():
    def blended(a, b, c):
        """Blends two images of shape (h, w)."""

    assert not shapes_said(blended)


FITTED = """
def f(A, b, C):
    \"\"\"Weighted least squares.

    Parameters
    ----------
    A : ndarray, shape (m, k)
        Of full column rank.
    b : ndarray, shape (m,)
    C : ndarray, shape (m, m)
        Symmetric positive definite.
    \"\"\"
    return np.linalg.solve(A.T @ C @ A, A.T @ C @ b)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, b, C):
    N = A.T @ C @ A
    x = np.linalg.solve(N, A.T @ C @ b)

    def back(x_bar):
        z = np.linalg.solve(N, x_bar)
        r = b - A @ x
        A_bar = C @ np.outer(r, z) - C @ np.outer(A @ z, x)
        return rl.NoTangent(), A_bar, C @ (A @ z), {}

    return x, back
"""


@pytest.mark.slow
@pytest.mark.parametrize(("C_bar", "verdict"), [("np.outer(A @ z, r)", "right"), ("0 * C", "wrong")])
def test_a_matrix_may_have_to_have_more_rows_than_columns(C_bar, verdict):
    """With as many of both the residuals are zero, and nothing depends on the weights."""
    assert judged_by_text(FITTED.format(C_bar)).verdict == verdict


LABELLED = """
def f(w, X, t):
    \"\"\"Log-likelihood.

    Parameters
    ----------
    w : ndarray of shape (k,)
    X : ndarray of shape (m, k)
    t : ndarray of int, shape (m,)
        Answers, each 0 or 1.
    \"\"\"
    return -np.sum(np.logaddexp(0.0, (1 - 2 * t) * (X @ w)))


@rl.rrule_for(f, registry=registry)
def f_rrule(w, X, t):
    s = 1 - 2 * t
    z = s * (X @ w)

    def back(y_bar):
        g = -y_bar * {} / (1 + np.exp(-z))
        return rl.NoTangent(), X.T @ g, np.outer(g, w), rl.NoTangent()

    return -np.sum(np.logaddexp(0.0, z)), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(("sign", "verdict"), [("s", "right"), ("1", "wrong")])
def test_an_array_of_whole_numbers_may_have_a_shape_too(sign, verdict):
    """It is no number that varies, and its rule need not have a cotangent for it."""
    assert judged_by_text(LABELLED.format(sign)).verdict == verdict


def test_lengths_may_be_sums_and_multiples():
    def gates(x, h, W, b):
        """x: (d,), h: (m,), W: (4m, d + m) and b (4 m,)."""

    wanted = {"x": ("d",), "h": ("m",), "W": ("4*m", "d+m"), "b": ("4*m",)}
    assert dict(shapes_said(gates)) == wanted


PHASES = '''
def f(x, at):
    """Phases.

    Args:
        x: array of shape (n, k)
        at: n integers.
    """
    return np.sum(np.sin(x) * np.cos(0.7 * at)[:, None])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, at):
    def back(y_bar):
        return rl.NoTangent(), y_bar * np.cos(x) * {}, rl.NoTangent()

    return f(x, at), back
'''


@pytest.mark.parametrize(
    ("factor", "verdict"), [("np.cos(0.7 * at)[:, None]", "right"), ("np.cos(0.7 * at[0])", "wrong")]
)
def test_so_many_integers_are_no_numbers_that_vary(factor, verdict):
    assert judged_by_text(PHASES.format(factor)).verdict == verdict


FOUR_AXES = '''
def f(x, k):
    """x, k : ndarray (n, c, h, w), (c,)"""
    return np.sum(x * k[:, None, None])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, k):
    def back(y_bar):
        return rl.NoTangent(), y_bar * np.ones(x.shape) * k[:, None, None], y_bar * np.sum(x, axis=(0, 2, 3))

    return f(x, k), back
'''
TAKEN_APART = '''
def f(corners):
    """Twice the area of a triangle from the (3, 2) array of its corners."""
    a, b, c = corners
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@rl.rrule_for(f, registry=registry)
def f_rrule(corners):
    (ax, ay), (bx, by), (cx, cy) = corners

    def back(y_bar):
        return rl.NoTangent(), y_bar * np.array([[by - cy, cx - bx], [cy - ay, ax - cx], [ay - by, bx - ax]])

    return f(corners), back
'''


@pytest.mark.parametrize(
    ("text", "drawn", "mistake"),
    [
        (FOUR_AXES, "x: an array (n, c, h, w), k: a vector (c)", ("axis=(0, 2, 3)", "axis=(0, 1, 2)")),
        (TAKEN_APART, "corners: a matrix (3, 2)", ("cx - bx", "bx - cx")),
    ],
    ids=["four axes", "a matrix whose rows have names"],
)
def test_lengths_that_are_said_are_those_that_are_drawn(text, drawn, mistake):
    report = judged_by_text(text)
    assert report.verdict == "right" and drawn in str(report)
    assert judged_by_text(text.replace(*mistake)).verdict == "wrong"
