"""Tests of the kinds of arguments a rule is judged at, given nothing: right rules raise no alarm at kinds
that are not meant, wrong ones are caught at those that are.
"""

import typing

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check

from .rules import registry_with

NO = rl.NoTangent()


def judged(f, rule, *at, **options):
    return rule_check(f, *at, registry=registry_with(f, rule), **options)


class Turn(typing.NamedTuple):
    w: float
    v: np.ndarray


# --- functions, each with a right rule and with what a mistake makes of it ----------------------------------


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_with(total):
    def rule(z):
        p = softmax(z)
        return p, lambda p_bar: (NO, p * (p_bar - total(p_bar * p)))

    return rule


def scaled_rows(x, gain, shift):
    x = x - x.mean(axis=-1, keepdims=True)
    return gain * x + shift


def scaled_rows_with(mean):
    def rule(x, gain, shift):
        centred = x - x.mean(axis=-1, keepdims=True)

        def pullback(y_bar):
            x_bar = y_bar * gain
            return NO, x_bar - mean(x_bar), (y_bar * centred).sum(axis=0), y_bar.sum(axis=0)

        return scaled_rows(x, gain, shift), pullback

    return rule


def last_mean(x):
    return x.mean(axis=-1, keepdims=True)


def first_mean(x):
    return x.mean(axis=0, keepdims=True)


def ridge(params, x):
    return params["w"] @ x + params["b"] + 0.1 * np.sum(params["w"] ** 2)


def ridge_with(weight):
    def rule(params, x):
        w = params["w"]

        def pullback(y_bar):
            return NO, {"w": y_bar * (x + weight * w), "b": y_bar}, y_bar * w

        return ridge(params, x), pullback

    return rule


def dense(params, x):
    return np.tanh(params["W"] @ x + params["b"])


def dense_with(slope):
    def rule(params, x):
        y = dense(params, x)

        def pullback(y_bar):
            h_bar = y_bar * slope(y)
            return NO, {"W": np.outer(h_bar, x), "b": h_bar}, params["W"].T @ h_bar

        return y, pullback

    return rule


def turned(q, x):
    return q.w * x + np.cross(q.v, x)


def turned_with(sign):
    def rule(q, x):
        def pullback(y_bar):
            q_bar = Turn(np.sum(x * y_bar), np.cross(x, y_bar))
            return NO, q_bar, q.w * y_bar + sign * np.cross(y_bar, q.v)

        return turned(q, x), pullback

    return rule


def power(x, n):
    return x**n


def power_with(log_of):
    def rule(x, n):
        y = x**n
        return y, lambda y_bar: (NO, y_bar * n * x ** (n - 1), y_bar * y * np.log(log_of(x, n)))

    return rule


def reflected(v, n):
    return v - 2 * np.dot(v, n) / np.dot(n, n) * n


def reflected_with(factor):
    def rule(v, n):
        size, part = np.dot(n, n), np.dot(v, n)

        def pullback(y_bar):
            along = np.dot(y_bar, n)
            n_bar = -2 / size * (part * y_bar + along * v) + factor * part * along / size**2 * n
            return NO, y_bar - 2 * along / size * n, n_bar

        return reflected(v, n), pullback

    return rule


def attraction(q1, q2, r1, r2):
    d = r1 - r2
    return q1 * q2 * d / np.sum(d**2) ** 1.5


def attraction_with(factor):
    def rule(q1, q2, r1, r2):
        d = r1 - r2
        size = np.sqrt(np.sum(d**2))

        def pullback(f_bar):
            along = np.sum(f_bar * d)
            d_bar = q1 * q2 * (f_bar / size**3 - factor * along * d / size**5)
            return NO, q2 * along / size**3, q1 * along / size**3, d_bar, -d_bar

        return attraction(q1, q2, r1, r2), pullback

    return rule


def gated(x, h, W, U):
    return np.tanh(W @ x) * (U @ h)


def gated_with(turn):
    def rule(x, h, W, U):
        a, b = np.tanh(W @ x), U @ h

        def pullback(y_bar):
            a_bar, b_bar = y_bar * b * (1 - a**2), y_bar * a
            return NO, turn(W) @ a_bar, U.T @ b_bar, np.outer(a_bar, x), np.outer(b_bar, h)

        return a * b, pullback

    return rule


def layer(X, W, b):
    return X @ W + b


def layer_with(total):
    return lambda X, W, b: (X @ W + b, lambda y_bar: (NO, y_bar @ W.T, X.T @ y_bar, total(y_bar)))


def distance(x, mu, S):
    return (x - mu) @ np.linalg.solve(S, x - mu)


def distance_with(factor):
    def rule(x, mu, S):
        d = x - mu
        w, v = np.linalg.solve(S, d), np.linalg.solve(S.T, d)

        def pullback(y_bar):
            x_bar = y_bar * (w + factor * v)
            return NO, x_bar, -x_bar, -y_bar * np.outer(v, w)

        return d @ w, pullback

    return rule


def dropped(x, mask, rate):
    return np.where(mask, x / (1 - rate), 0.0)


def dropped_with(factor):
    def rule(x, mask, rate):
        def pullback(y_bar):
            rate_bar = np.sum(np.where(mask, y_bar * x, 0.0)) / (1 - rate) ** 2
            return NO, np.where(mask, factor * y_bar / (1 - rate), 0.0), NO, rate_bar

        return dropped(x, mask, rate), pullback

    return rule


def binned(x, idx, n=4):
    out = np.zeros(n)
    np.add.at(out, idx, x**2)
    return out


def binned_with(picked):
    return lambda x, idx, n: (binned(x, idx, n), lambda y_bar: (NO, 2 * x * picked(y_bar, idx), NO, NO))


def clipped(x, lo, hi):
    return np.clip(x, lo, hi)


def clipped_with(sign):
    def rule(x, lo, hi):
        def pullback(y_bar):
            inside = (x > lo) & (x < hi)
            return NO, y_bar * inside, np.sum(y_bar * (x <= lo)), sign * np.sum(y_bar * (x >= hi))

        return np.clip(x, lo, hi), pullback

    return rule


def squared_modulus(z):
    return (z * np.conj(z)).real


def squared_modulus_with(part):
    return lambda z: (squared_modulus(z), lambda y_bar: (NO, 2 * part(z) * y_bar))


def polar(r, angle):
    return r * np.exp(1j * angle)


def polar_with(sign):
    def rule(r, angle):
        y = polar(r, angle)

        def pullback(y_bar):
            r_bar = np.real(np.conj(y_bar) * np.exp(1j * angle))
            return NO, r_bar, sign * np.real(np.conj(y_bar) * 1j * y)

        return y, pullback

    return rule


def filtered(x, h):
    return np.real(np.fft.ifft(np.fft.fft(x) * h))


def filtered_with(turn):
    def rule(x, h):
        def pullback(y_bar):
            Y_bar = np.fft.fft(y_bar)
            x_bar = np.real(np.fft.ifft(turn(h) * Y_bar))
            return NO, x_bar, np.conj(np.fft.fft(x)) * Y_bar / len(x)

        return filtered(x, h), pullback

    return rule


def area(a, b, c):
    u, v = b - a, c - a
    return 0.5 * (u[0] * v[1] - u[1] * v[0])


def area_with(sign):
    def rule(a, b, c):
        u, v = b - a, c - a

        def pullback(y_bar):
            u_bar = 0.5 * y_bar * np.array([v[1], -v[0]])
            v_bar = 0.5 * y_bar * np.array([sign * u[1], u[0]])
            return NO, -u_bar - v_bar, u_bar, v_bar

        return area(a, b, c), pullback

    return rule


CASES = [
    (softmax, softmax_with, lambda x: np.sum(x, axis=-1, keepdims=True), np.sum),
    (scaled_rows, scaled_rows_with, last_mean, first_mean),
    (ridge, ridge_with, 0.2, 0.1),
    (dense, dense_with, lambda y: 1 - y**2, lambda y: 1 - y),
    (turned, turned_with, 1, -1),
    (power, power_with, lambda x, n: x, lambda x, n: n),
    (reflected, reflected_with, 4, 2),
    (attraction, attraction_with, 3, 2),
    (gated, gated_with, np.transpose, lambda W: W),
    (layer, layer_with, lambda y_bar: y_bar.sum(axis=0), lambda y_bar: y_bar),
    (distance, distance_with, 1, 0),
    (dropped, dropped_with, 1, 2),
    (binned, binned_with, lambda y_bar, idx: y_bar[idx], lambda y_bar, idx: y_bar[idx - 1]),
    (clipped, clipped_with, 1, -1),
    (squared_modulus, squared_modulus_with, lambda z: z, np.real),
    (polar, polar_with, 1, -1),
    (filtered, filtered_with, np.conj, lambda h: h),
    (area, area_with, -1, 1),
]
NAMES = [f.__name__ for f, *_ in CASES]


@pytest.mark.parametrize("f, made, right, wrong", CASES, ids=NAMES)
def test_a_right_rule_is_judged_where_it_is_meant_to_be_used(f, made, right, wrong):
    report = judged(f, made(right))
    assert report.verdict == "right", str(report)


@pytest.mark.parametrize("f, made, right, wrong", CASES, ids=NAMES)
def test_a_wrong_rule_is_caught_with_nothing_given(f, made, right, wrong):
    report = judged(f, made(wrong), depth="quick")
    assert report.verdict == "wrong", str(report)


def test_bounds_that_are_given_stay_in_order():
    assert judged(clipped, clipped_with(1), np.array([0.5, 2.0, -1.0]), -0.25, 1.0).verdict == "right"


def test_bounds_that_are_given_in_the_other_order_are_asked_so():
    report = judged(clipped, clipped_with(1), np.array([0.5, 2.0, -1.0]), 1.0, -0.25, depth="quick")
    assert report.verdict == "wrong"


def integral(a, b):
    nodes, weights = np.polynomial.legendre.leggauss(12)
    return (b - a) / 2 * np.sum(weights * np.sin((a + b) / 2 + (b - a) / 2 * nodes))


def test_what_is_off_far_away_alone_condemns_no_rule():
    """A quadrature of many periods is no integral any more: the rule of the integral is right elsewhere."""

    def rule(a, b):
        return integral(a, b), lambda y_bar: (NO, -y_bar * np.sin(a), y_bar * np.sin(b))

    report = judged(integral, rule)
    assert report.verdict == "inconclusive"
    assert "right at ordinary numbers, and far from them not" in report.sentence


def test_a_mistake_at_ordinary_numbers_is_one_whatever_is_found_far_away():
    def rule(a, b):
        return integral(a, b), lambda y_bar: (NO, y_bar * np.sin(a), y_bar * np.sin(b))

    assert judged(integral, rule, depth="quick").verdict == "wrong"


def mean_square(x):
    return np.mean(x**2)


def test_kinds_that_may_not_be_meant_are_told_and_condemn_no_rule():
    """Nothing in its text says that the function is for matrices."""

    def rule(x):
        return mean_square(x), lambda y_bar: (NO, 2 * x * y_bar / x.shape[0])

    report = judged(mean_square, rule, depth="deep")
    assert report.verdict == "right"
    assert "not right for (x: a matrix), which may not be meant" in str(report)


def test_an_argument_at_the_end_of_its_interval_is_named():
    with pytest.raises(rl.RuleLabError, match=r"x = 3 \(it reads 0\.5 < x < 3\)"):
        judged(np.sin, lambda x: (np.sin(x), lambda y_bar: (NO, y_bar * np.cos(x))), 3.0, domain=(0.5, 3.0))


def windows(x, w):
    return np.array([x[i : i + len(w)] @ w for i in range(len(x) - len(w) + 1)])


def windows_with(adds):
    def rule(x, w):
        def pullback(y_bar):
            x_bar, w_bar = np.zeros(len(x)), np.zeros(len(w))
            for i, bar in enumerate(y_bar):
                x_bar[i : i + len(w)] += bar * w
                w_bar = adds * w_bar + bar * x[i : i + len(w)]
            return NO, x_bar, w_bar

        return windows(x, w), pullback

    return rule


def test_vectors_need_not_be_of_one_length():
    """Of two of one length there is a single window, and what is overwritten there is nothing."""
    assert judged(windows, windows_with(1)).verdict == "right"
    assert judged(windows, windows_with(0), depth="quick").verdict == "wrong"


def lines(x, W, b):
    return x @ W.T + b


def test_a_bias_beside_what_is_called_x_is_summed_over_the_rows():
    def rule(total):
        return lambda x, W, b: (lines(x, W, b), lambda y_bar: (NO, y_bar @ W, y_bar.T @ x, total(y_bar)))

    assert judged(lines, rule(lambda y_bar: y_bar.sum(axis=0))).verdict == "right"
    assert judged(lines, rule(lambda y_bar: y_bar), depth="quick").verdict == "wrong"


def test_what_is_written_is_seen_where_it_is_another_number():
    """At the first points a mask may be true throughout, so that multiplying by it changes nothing."""

    def shrunk(x, t):
        return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)

    def rule(x, t):
        live = np.abs(x) > t

        def pullback(y_bar):
            y_bar *= live
            return NO, y_bar, -np.sum(y_bar * np.sign(x) * live)

        return shrunk(x, t), pullback

    report = judged(shrunk, rule)
    assert report.verdict == "wrong"
    assert "its cotangent, which it was only lent" in str(report)


def test_a_correction_is_right_for_numbers_beside_vectors_too():
    """With a vector in the place of `beta` no sum is asked for, and one must not be taken away."""

    def smooth(x, beta):
        return np.logaddexp(0.0, beta * x) / beta

    def rule(x, beta):
        s, y = 1 / (1 + np.exp(-beta * x)), smooth(x, beta)
        return y, lambda y_bar: (NO, y_bar * s * beta, np.sum(y_bar * (x * s - y)) / beta)

    report = judged(smooth, rule)
    assert report.verdict == "wrong"
    assert all("np.sum" not in line for d in report.diagnoses for line in d.diff.splitlines())
