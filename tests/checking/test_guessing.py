"""Tests of the kinds of arguments a rule is judged at, given nothing: right rules raise no alarm at kinds
that are not meant, wrong ones are caught at those that are.
"""

import math
import typing

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.arguments.guesser import NoInputsError, is_about_numbers

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()
special = pytest.importorskip("scipy.special")


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


def packet(x, k, s):
    return np.tanh(k * x) * np.exp(-(x**2) / (2 * s**2))


def packet_with(total):
    def rule(x, k, s):
        t, g = np.tanh(k * x), np.exp(-(x**2) / (2 * s**2))

        def pullback(y_bar):
            t_bar, y = (1 - t**2) * g * y_bar, t * g
            x_bar = k * t_bar - y * x / s**2 * y_bar
            return NO, x_bar, total(x * t_bar), np.sum(y * x**2 / s**3 * y_bar)

        return t * g, pullback

    return rule


def entropy(n, R):
    return -R * np.sum(n * np.log(n / np.sum(n)))


def entropy_with(last):
    """Of one amount there is no entropy, whatever `R` is."""

    def rule(n, R):
        logs = np.log(n / np.sum(n))
        return entropy(n, R), lambda y_bar: (NO, -R * logs * y_bar, last(-np.sum(n * logs) * y_bar))

    return rule


def geometric_mean(x):
    return np.exp(np.mean(np.log(x), axis=0))


def geometric_mean_with(count):
    def rule(x):
        y = geometric_mean(x)
        return y, lambda y_bar: (NO, y * y_bar / (count(x) * x))

    return rule


def penalised(w, A, b, lam):
    return 0.5 * np.sum((A @ w - b) ** 2) + 0.5 * lam * np.sum(w**2)


def penalised_with(factor):
    def rule(w, A, b, lam):
        r = A @ w - b

        def pullback(y_bar):
            w_bar = (A.T @ r + lam * w) * y_bar
            return NO, w_bar, np.outer(r, w) * y_bar, -r * y_bar, factor * (w @ w) * y_bar

        return penalised(w, A, b, lam), pullback

    return rule


def summed_by(x, seg, w):
    out = np.zeros(3)
    np.add.at(out, seg, w * x)
    return out


def summed_by_with(order):
    def rule(x, seg, w):
        def pullback(y_bar):
            each = y_bar[order(seg)]
            return NO, w * each, NO, x * each

        return summed_by(x, seg, w), pullback

    return rule


def projected(x, W, b):
    return x @ W.T + b


def projected_with(turn):
    """What is turned the wrong way round runs for square matrices alone."""

    def rule(x, W, b):
        return projected(x, W, b), lambda y_bar: (NO, y_bar @ turn(W), y_bar.T @ x, y_bar.sum(axis=0))

    return rule


def roughness(x):
    return np.sum((x[1:] - x[:-1]) ** 2)


def roughness_with(dtype):
    def rule(x):
        def pullback(y_bar):
            x_bar, d = np.zeros(x.shape, dtype), 2 * (x[1:] - x[:-1]) * y_bar
            x_bar[1:] += d
            x_bar[:-1] -= d
            return NO, x_bar

        return roughness(x), pullback

    return rule


def decibels(z):
    return 20 * np.log10(np.abs(z))


def decibels_with(buffer):
    def rule(z):
        def pullback(y_bar):
            z_bar = buffer(z)
            z_bar[...] = 20 / np.log(10) * y_bar * z / np.abs(z) ** 2
            return NO, z_bar

        return decibels(z), pullback

    return rule


def power_along(x, axis=-1):
    return np.mean(x**2, axis=axis)


def power_along_with(axis_of):
    def rule(x, axis=-1):
        def pullback(y_bar):
            return NO, 2 * x * np.expand_dims(y_bar, axis) / x.shape[axis_of(axis)], NO

        return power_along(x, axis), pullback

    return rule


def totals(x, axis):
    return np.sum(x**2, axis=axis)


def totals_with(factor):
    return lambda x, axis: (
        totals(x, axis),
        lambda y_bar: (NO, factor * x * np.expand_dims(y_bar, axis), NO),
    )


CASES = [
    (packet, packet_with, np.sum, lambda x: x),
    (entropy, entropy_with, lambda bar: bar, lambda bar: NO),
    (geometric_mean, geometric_mean_with, lambda x: x.shape[0], np.size),
    (penalised, penalised_with, 0.5, 1.0),
    (summed_by, summed_by_with, lambda seg: seg, np.sort),
    (projected, projected_with, lambda W: W, np.transpose),
    (roughness, roughness_with, float, int),
    (decibels, decibels_with, lambda z: 0.0 * z, lambda z: np.zeros(z.shape)),
    (power_along, power_along_with, lambda axis: axis, lambda axis: -1),
    (totals, totals_with, 2, 1),
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


@pytest.mark.every(17, slow=True)
@pytest.mark.parametrize("f, made, right, wrong", CASES, ids=NAMES)
def test_a_right_rule_is_judged_where_it_is_meant_to_be_used(f, made, right, wrong):
    report = judged(f, made(right))
    assert report.verdict == "right", str(report)


@pytest.mark.every(17)
@pytest.mark.parametrize("f, made, right, wrong", CASES[::-1], ids=NAMES[::-1])  # the other half of them
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


@pytest.mark.slow
def test_what_is_off_far_away_alone_condemns_no_rule():
    """A quadrature of many periods is no integral any more: the rule of the integral is right elsewhere."""

    def rule(a, b):
        return integral(a, b), lambda y_bar: (NO, -y_bar * np.sin(a), y_bar * np.sin(b))

    report = judged(integral, rule)
    assert report.verdict == "inconclusive"
    assert "right at ordinary numbers, but not far from them" in report.sentence


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
    assert "not right for (x: a matrix), which may not be intended" in str(report)


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


@pytest.mark.slow
def test_vectors_are_asked_where_arguments_of_one_rank_alone_are_taken():
    """A convolution does not broadcast, and of numbers it is a product, of which many mistakes are right."""
    signal = pytest.importorskip("scipy.signal")

    def blurred(x, h):
        return signal.convolve(x, h)

    def rule_with(turned):
        def blurred_rrule(x, h):
            def back(y_bar):
                return NO, turned(y_bar, h, mode="valid"), signal.correlate(y_bar, x, mode="valid")

            return blurred(x, h), back

        return blurred_rrule

    assert judged(blurred, rule_with(signal.correlate)).verdict == "right"
    assert judged(blurred, rule_with(signal.convolve)).verdict == "wrong"

    def length(a, b):  # of numbers that it stacks, which are no signals
        return np.sqrt(np.array([a, b]) @ np.array([a, b]))

    def length_rrule(a, b):
        y = length(a, b)
        return y, lambda y_bar: (NO, y_bar * a / y, y_bar * b / y)

    assert judged(length, length_rrule).verdict == "right"


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
    assert "its cotangent, which belongs to the caller" in str(report)


@pytest.mark.slow
@pytest.mark.diagnosed
def test_a_correction_is_right_for_numbers_beside_vectors_too():
    """With a vector in the place of `beta` no sum is asked for, and one must not be taken away."""

    def smooth(x, beta):
        return np.logaddexp(0.0, beta * x) / beta

    def rule(x, beta):
        s, y = 1 / (1 + np.exp(-beta * x)), smooth(x, beta)
        return y, lambda y_bar: (NO, y_bar * s * beta, np.sum(y_bar * (x * s - y)) / beta)

    report = judged(smooth, rule)
    assert report.verdict == "wrong"
    lines = [line for d in report.diagnoses for line in d.diff.splitlines()]
    made = [line for line in lines if line.startswith("+") and not line.startswith("+++")]
    assert all("np.sum" in line for line in made)


def affine(signal, gain, offset):
    return gain * signal + offset


def affine_with(total):
    def rule(signal, gain, offset):
        bars = lambda y_bar: (NO, gain * y_bar, np.sum(y_bar * signal), total(y_bar))
        return affine(signal, gain, offset), bars

    return rule


def test_a_sum_that_is_missing_for_one_of_several_numbers_is_seen():
    """Where others are summed, and the names speak of numbers."""
    assert judged(affine, affine_with(np.sum)).verdict == "right"
    assert judged(affine, affine_with(lambda bar: bar)).verdict == "wrong"


def pulled(x, x_ref, k, c):
    return c - k * (x - x_ref)


def decayed(w, grad, rate, decay):
    return (1 - decay) * w - rate * grad


def step(w, g, rate):
    return w - rate * g


def weighted(x, k, s):
    return s * k + x


def contrast(a, b, t):
    return t * a * b


def drawn(mu, sigma, e, t):
    return mu + t * sigma * e


@pytest.mark.every(2, slow=True)
@pytest.mark.parametrize(
    "f, rule",
    [
        (step, lambda w, g, rate: (step(w, g, rate), lambda y: (NO, y, -rate * y, -np.sum(g * y)))),
        (weighted, lambda x, k, s: (weighted(x, k, s), lambda y: (NO, y, s * y, np.sum(k * y)))),
        (contrast, lambda a, b, t: (t * a * b, lambda y: (NO, t * b * y, t * a * y, np.sum(a * b * y)))),
        (
            drawn,
            lambda mu, sigma, e, t: (
                drawn(mu, sigma, e, t),
                lambda y: (NO, y, t * e * y, t * sigma * y, np.sum(sigma * e * y)),
            ),
        ),
        (
            pulled,
            lambda x, x_ref, k, c: (
                pulled(x, x_ref, k, c),
                lambda y: (NO, -k * y, k * y, np.sum((x_ref - x) * y), np.sum(y)),
            ),
        ),
        (
            decayed,
            lambda w, grad, rate, decay: (
                decayed(w, grad, rate, decay),
                lambda y: (NO, (1 - decay) * y, -rate * y, -np.sum(grad * y), -np.sum(w * y)),
            ),
        ),
    ],
    ids=["step", "weighted", "contrast", "drawn", "a reference", "two arrays"],
)
def test_arrays_of_one_length_beside_a_number_that_is_summed_are_no_mistake(f, rule):
    report = judged(f, rule)
    assert report.verdict == "right", str(report)


def test_a_rule_for_three_axes_alone_is_not_condemned_for_what_it_raises_at_fewer():
    def scaled(x, gain):
        return x * gain

    def rule(x, gain):
        return scaled(x, gain), lambda y_bar: (NO, y_bar * gain, np.sum(y_bar * x, axis=(0, 1)))

    assert judged(scaled, rule).verdict != "wrong"


def test_what_is_real_by_intent_may_be_kept_in_a_real_buffer():
    """`z` may be a score as well as a complex number."""

    def hinge(z):
        return np.sum(np.abs(1 - z))

    def rule(z):
        def pullback(y_bar):
            z_bar = np.zeros(np.shape(z))
            z_bar[...] = np.where(1 - z > 0, -1.0, 1.0) * y_bar
            return NO, z_bar

        return hinge(z), pullback

    assert judged(hinge, rule).verdict == "right"


def shoelace(P):
    x, y = P[:, 0], P[:, 1]
    return 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)


def shoelace_with(columns):
    def rule(P):
        x, y = P[:, 0], P[:, 1]
        x_bar = 0.5 * (np.roll(y, -1) - np.roll(y, 1))
        y_bar = 0.5 * (np.roll(x, 1) - np.roll(x, -1))
        return shoelace(P), lambda bar: (NO, bar * np.stack([x_bar, y_bar][::columns], axis=1))

    return rule


def projection(X, y):
    return np.linalg.solve(X.T @ X, X.T @ y)


def projection_with(residual):
    def rule(X, y):
        G, b = X.T @ X, projection(X, y)

        def pullback(b_bar):
            u = np.linalg.solve(G, b_bar)
            return NO, np.outer(residual(y, X @ b), u) - np.outer(X @ u, b), X @ u

        return b, pullback

    return rule


def aerofoil(z, c):
    return z + c**2 / z


def aerofoil_with(conj):
    def rule(z, c):
        def pullback(w_bar):
            return NO, conj(1 - c**2 / z**2) * w_bar, np.sum(np.real(np.conj(2 * c / z) * w_bar))

        return aerofoil(z, c), pullback

    return rule


def log_shares(x, axis=-1):
    z = x - np.max(x, axis=axis, keepdims=True)
    return z - np.log(np.sum(np.exp(z), axis=axis, keepdims=True))


def log_shares_with(summed):
    def rule(x, axis=-1):
        y = log_shares(x, axis)

        def pullback(y_bar):
            return NO, y_bar - np.exp(y) * np.sum(y_bar, axis=summed(axis), keepdims=True), NO

        return y, pullback

    return rule


AS_MEANT = [
    (shoelace, shoelace_with, 1, -1),  # of two points there is no area
    (projection, projection_with, np.subtract, lambda y, fitted: 0 * y),  # nor of two equations a residual
    (aerofoil, aerofoil_with, np.conj, lambda s: s),  # one argument is complex, the other is not
    (log_shares, log_shares_with, lambda axis: axis, lambda axis: 0),  # matrices at ordinary numbers, too
]


@pytest.mark.every(5)
@pytest.mark.parametrize("f, made, right, wrong", AS_MEANT, ids=[f.__name__ for f, *_ in AS_MEANT])
def test_what_is_right_by_chance_for_some_shapes_is_judged_at_others(f, made, right, wrong):
    assert judged(f, made(right)).verdict == "right"
    assert judged(f, made(wrong), depth="quick").verdict == "wrong"


def impedance(R, L, w):
    return R + 1j * w * L


def impedance_with(part):
    def rule(R, L, w):
        def pullback(bar):
            return NO, np.real(bar), w * part(bar), L * part(bar)

        return impedance(R, L, w), pullback

    return rule


@pytest.mark.slow
def test_what_makes_complex_numbers_of_real_ones_is_not_asked_for_complex_ones():
    assert judged(impedance, impedance_with(np.imag)).verdict == "right"
    assert judged(impedance, impedance_with(np.real), depth="quick").verdict == "wrong"


# --- what a function is not meant for -----------------------------------------------------------------------


def rotated(v, k, angle: float):
    return v * np.cos(angle) + np.cross(k, v) * np.sin(angle) + k * np.dot(k, v) * (1 - np.cos(angle))


def rotated_with(turn):
    def rule(v, k, angle):
        c, s, kv = np.cos(angle), np.sin(angle), np.dot(k, v)

        def pullback(y_bar):
            ky = np.dot(k, y_bar)
            v_bar = c * y_bar + s * turn(y_bar, k) + (1 - c) * ky * k
            k_bar = s * np.cross(v, y_bar) + (1 - c) * (kv * y_bar + ky * v)
            return NO, v_bar, k_bar, np.dot(y_bar, -s * v + c * np.cross(k, v) + s * kv * k)

        return rotated(v, k, angle), pullback

    return rule


def largest_mean(x, k: int):
    return np.mean(np.sort(x)[len(x) - k :])


def largest_mean_with(share):
    def rule(x, k):
        picked = np.argsort(x)[len(x) - k :]

        def pullback(y_bar):
            x_bar = np.zeros(len(x))
            x_bar[picked] = share(y_bar, k)
            return NO, x_bar, NO

        return largest_mean(x, k), pullback

    return rule


def epidemic(state, beta: float):
    S, I, R = state["S"], state["I"], state["R"]  # noqa: E741
    return beta * S * I / (S + I + R)


def epidemic_with(sign):
    def rule(state, beta):
        S, I, R = state["S"], state["I"], state["R"]  # noqa: E741
        N = S + I + R
        y = beta * S * I / N

        def pullback(y_bar):
            N_bar = sign * y / N * y_bar
            bars = {"S": beta * I / N * y_bar + N_bar, "I": beta * S / N * y_bar + N_bar, "R": N_bar}
            return NO, bars, S * I / N * y_bar

        return y, pullback

    return rule


def hazard(eta, event):
    return np.sum(event * (eta - np.log(np.cumsum(np.exp(eta)))))


def hazard_with(factor):
    def rule(eta, event):
        risk = np.cumsum(np.exp(eta))

        def pullback(y_bar):
            weight = np.cumsum((event / risk)[::-1])[::-1]
            return NO, y_bar * (event - factor * np.exp(eta) * weight), NO

        return hazard(eta, event), pullback

    return rule


def lifetimes(times, events, X, beta, shape):
    z = shape * (np.log(times) - X @ beta)
    return np.sum(np.exp(z) - events * (np.log(shape) + z - np.log(times)))


def lifetimes_with(factor):
    def rule(times, events, X, beta, shape):
        lin = np.log(times) - X @ beta
        z = shape * lin

        def pullback(y_bar):
            z_bar = y_bar * (np.exp(z) - events)
            t_bar = (shape * z_bar + y_bar * events) / times
            e_bar = -y_bar * (np.log(shape) + z - np.log(times))
            eta_bar = -shape * z_bar
            s_bar = z_bar @ lin - factor * y_bar * np.sum(events) / shape
            return NO, t_bar, e_bar, np.outer(eta_bar, beta), X.T @ eta_bar, s_bar

        return np.sum(np.exp(z) - events * (np.log(shape) + z - np.log(times))), pullback

    return rule


@pytest.mark.slow
def test_a_number_beside_many_arrays_is_one_where_the_rule_is_right_for_it():
    """Of five arguments not all mixtures are tried, and lengths that the text tells say nothing of it."""
    right, wrong = (registry_with(lifetimes, lifetimes_with(factor)) for factor in (1, 2))
    assert rule_check(lifetimes, registry=right).verdict == "right"
    assert rule_check(lifetimes, registry=wrong, depth="quick").verdict == "wrong"


@pytest.mark.every(2, slow=True)
@pytest.mark.parametrize(
    "f, right, wrong",
    [
        (rotated, rotated_with(np.cross), rotated_with(lambda a, b: np.cross(b, a))),
        (largest_mean, largest_mean_with(lambda y, k: y / k), largest_mean_with(lambda y, k: y)),
        (epidemic, epidemic_with(-1), epidemic_with(1)),
        (hazard, hazard_with(1), hazard_with(2)),
    ],
    ids=["crossed", "counted", "named like a matrix", "flags"],
)
def test_arguments_that_a_function_is_not_meant_for_condemn_no_rule(f, right, wrong):
    """`np.cross` warns of vectors of two, a count is no larger than what is counted, `R` of a dict is a
    matrix only where matrices are multiplied, and the flags of events are no numbers that vary.
    """
    assert judged(f, right).verdict == "right", str(judged(f, right))
    assert judged(f, wrong, depth="quick").verdict == "wrong"


def test_a_right_rule_for_vectors_of_three_is_not_asked_at_two_where_the_function_warns():
    rng = np.random.default_rng(3)
    report = judged(rotated, rotated_with(np.cross), rng.normal(size=3), rng.normal(size=3), 0.4)
    assert report.verdict == "right", str(report)


# --- what equal or small shapes, defaults, single counts and single calls hide ------------------------------


def channels(x, scale, lift):
    return scale * x + lift


def channels_with(lifted):
    def rule(x, scale, lift):
        def pullback(y_bar):
            return NO, y_bar * scale, np.sum(y_bar * x, axis=0), lifted(y_bar)

        return channels(x, scale, lift), pullback

    return rule


def film(x, a, c):
    """The channels, scaled and moved: x is (batch, channels), a and c (channels)."""
    return a * x + c


def film_with(summed):
    def rule(x, a, c):
        def pullback(y_bar):
            return NO, y_bar * a, np.sum(y_bar * x, axis=0), summed(y_bar)

        return film(x, a, c), pullback

    return rule


def bell(x, mu, sigma):
    return np.exp(-(((x - mu) / sigma) ** 2) / 2)


def bell_with(total):
    def rule(x, mu, sigma):
        z = (x - mu) / sigma
        y = np.exp(-(z**2) / 2)

        def pullback(y_bar):
            g = y_bar * y * z / sigma
            return NO, -g, total(g), np.sum(g * z)

        return y, pullback

    return rule


def absorbed(light: float, strength: float, c: np.ndarray):
    return light * 10 ** (-strength * c)


def absorbed_with(total):
    def rule(light, strength, c):
        t = 10 ** (-strength * c)

        def pullback(y_bar):
            g = -np.log(10) * light * t * y_bar
            return NO, total(y_bar * t), np.sum(g * c), g * strength

        return light * t, pullback

    return rule


def spread(y, fitted):
    return np.mean((y - fitted) ** 2)


def spread_with(count):
    def rule(y, fitted):
        def pullback(bar):
            g = 2 * (y - fitted) * bar / count(y)
            return NO, g, -g

        return spread(y, fitted), pullback

    return rule


def block_mean(x, k):
    return x.reshape(-1, k).mean(axis=1)


def block_mean_with(spread_out):
    def rule(x, k):
        return block_mean(x, k), lambda y_bar: (NO, spread_out(y_bar, k) / k, NO)

    return rule


def largest(x, k):
    return np.sum(np.sort(x)[-k:])


def largest_with(order):
    def rule(x, k):
        def pullback(y_bar):
            x_bar = np.zeros(x.shape)
            x_bar[order(x)[-k:]] = y_bar
            return NO, x_bar, NO

        return largest(x, k), pullback

    return rule


def power_sum(x, p=2):
    return np.sum(np.abs(x) ** p)


def power_sum_with(slope):
    def rule(x, p=2):
        return power_sum(x, p), lambda y_bar: (NO, y_bar * slope(x, p), NO)

    return rule


def squares(x, *, mean=False):
    return np.mean(x**2) if mean else np.sum(x**2)


def squares_with(count):
    def rule(x, *, mean=False):
        return squares(x, mean=mean), lambda y_bar: (NO, 2 * x * y_bar / count(x, mean))

    return rule


def lens(n: float, r: float):
    return (n - 1) / r


def lens_with(n_bar):
    def rule(n, r):
        return lens(n, r), lambda y_bar: (NO, n_bar(y_bar / r), (1 - n) / r**2 * y_bar)

    return rule


def horner(c, x):
    y = 0.0
    for a in c:
        y = y * x + a
    return y


def horner_with(take):
    def rule(c, x):
        values, y = [], 0.0
        for a in c:
            values.append(y)
            y = y * x + a

        def pullback(y_bar):
            left, c_bar, x_bar = take(values), np.zeros(len(c)), 0.0
            for i in range(len(c) - 1, -1, -1):
                c_bar[i], x_bar, y_bar = y_bar, x_bar + left.pop() * y_bar, y_bar * x
            return NO, c_bar, x_bar

        return y, pullback

    return rule


def sampled(y, t):
    i = np.floor(t).astype(int)
    return (1 - (t - i)) * y[i] + (t - i) * y[i + 1]


def sampled_with(add):
    def rule(y, t):
        i = np.floor(t).astype(int)

        def pullback(bar):
            y_bar = np.zeros(len(y))
            add(y_bar, i, (1 - (t - i)) * bar)
            add(y_bar, i + 1, (t - i) * bar)
            return NO, y_bar, (y[i + 1] - y[i]) * bar

        return sampled(y, t), pullback

    return rule


def added_once(y_bar, i, bar):
    y_bar[i] += bar


def group_means(x, groups, n: int):
    total = np.zeros(n)
    np.add.at(total, groups, x)
    return total / np.bincount(groups, minlength=n)


def group_means_with(count):
    def rule(x, groups, n):
        sizes = count(groups, n)
        return group_means(x, groups, n), lambda bar: (NO, (bar / sizes)[groups], NO, NO)

    return rule


HIDDEN = [
    # right for numbers alone, of which a sum over an axis is nothing
    (channels, channels_with, lambda g: g.sum(axis=0), lambda g: g.sum(axis=0, keepdims=True)),
    (film, film_with, lambda g: g.sum(axis=0), lambda g: g),  # right for a matrix `c`; the text says a vector
    (bell, bell_with, np.sum, lambda g: g),  # right for as many means as numbers, beside one deviation
    (absorbed, absorbed_with, np.sum, lambda g: g),  # right for vectors where the annotation says a number
    (block_mean, block_mean_with, np.repeat, np.tile),  # right for blocks of one number, and for one block
    (largest, largest_with, np.argsort, lambda x: np.arange(len(x))),  # right for the rows of a matrix
    (power_sum, power_sum_with, lambda x, p: p * np.abs(x) ** (p - 1) * np.sign(x), lambda x, p: 2 * x),
    (squares, squares_with, lambda x, mean: x.size if mean else 1, lambda x, mean: 1),  # right by default
    (lens, lens_with, lambda g: g, lambda g: NO),  # called as a count, and no count
    (sampled, sampled_with, np.add.at, added_once),  # right for one position, and for those apart
    # right where no two groups have more than one number
    (group_means, group_means_with, lambda g, n: np.bincount(g, minlength=n), lambda g, n: len(g) / n),
    (horner, horner_with, list, lambda values: values),  # right when it is called once
]


@pytest.mark.every(13, slow=True)
@pytest.mark.parametrize("f, made, right, wrong", HIDDEN, ids=[f.__name__ for f, *_ in HIDDEN])
def test_what_shapes_defaults_and_single_calls_hide_is_found(f, made, right, wrong):
    assert judged(f, made(right)).verdict == "right"
    assert judged(f, made(wrong)).verdict == "wrong"


def test_a_pullback_that_can_be_called_once_is_said_to_be_so():
    report = judged(horner, horner_with(lambda values: values))
    assert any("fails when it is called again" in finding.words for finding in report.findings)


@pytest.mark.slow
def test_a_rule_for_vectors_that_is_wrong_for_matrices_says_so():
    report = judged(spread, spread_with(len))
    assert report.verdict == "right"
    assert any("not right for matrices" in note for note in report.notes)
    assert not any("matrices" in note for note in judged(spread, spread_with(np.size)).notes)


def test_of_kinds_with_as_many_right_cotangents_those_are_likelier_at_which_all_arguments_are_alike():
    def steps(a, b):
        return (a[1:] - a[:-1]) * (b[1:] + b[:-1])

    def rule(a, b):
        def pullback(y_bar):
            a_bar, b_bar = np.zeros(a.shape), np.zeros(b.shape)
            g, h = y_bar * (b[1:] + b[:-1]), y_bar * (a[1:] - a[:-1])
            a_bar[1:] += g
            b_bar[1:] += h
            b_bar[:-1] += h
            return NO, a_bar, b_bar

        return steps(a, b), pullback

    report = judged(steps, rule, depth="quick")
    assert report.verdict == "wrong"
    assert any("a: a vector, b: a vector" in note for note in report.notes)


def test_a_default_keeps_its_sign():
    def soft(r, width=1.0):  # of a negative width it is another function
        return np.where(np.abs(r) <= width, r**2 / 2, width * (np.abs(r) - width / 2))

    def rule(r, width=1.0):
        def pullback(y_bar):
            beyond = np.where(np.abs(r) <= width, 0.0, np.abs(r) - width)
            return NO, y_bar * np.clip(r, -width, width), np.sum(y_bar * beyond)

        return soft(r, width), pullback

    assert judged(soft, rule).verdict == "right"


def test_arrays_in_a_dict_beside_a_float_condemn_no_rule():
    def moved(state, dt: float):
        return {"s": state["s"] - dt * state["i"], "i": state["i"] + dt * state["s"]}

    def rule(state, dt):
        def pullback(bar):
            s_bar, i_bar = bar["s"] + dt * bar["i"], bar["i"] - dt * bar["s"]
            return NO, {"s": s_bar, "i": i_bar}, bar["i"] * state["s"] - bar["s"] * state["i"]

        return moved(state, dt), pullback

    assert judged(moved, rule).verdict == "right"


def quadrature(a, b, n: int):
    """The mean of t**a * (1 - t)**b at n midpoints of the unit interval; a > 0, b > 0."""
    t = (np.arange(n) + 0.5) / n
    return np.mean(t**a * (1 - t) ** b)


def quadrature_with(factor):
    def rule(a, b, n):
        t = (np.arange(n) + 0.5) / n
        v = t**a * (1 - t) ** b

        def pullback(y_bar):
            return NO, y_bar * np.mean(v * np.log(t)), factor * y_bar * np.mean(v * np.log1p(-t)), NO

        return np.mean(v), pullback

    return rule


def test_vectors_that_are_as_long_as_a_count_by_chance_are_not_meant():
    assert judged(quadrature, quadrature_with(1.0))
    assert judged(quadrature, quadrature_with(2.0), depth="quick").verdict == "wrong"


def divergence(mu, logvar):
    """Of a normal distribution from the standard one, summed."""
    return -0.5 * np.sum(1 + logvar - mu**2 - np.exp(logvar))


def divergence_with(factor, less):
    def rule(mu, logvar):
        def pullback(bar):
            return NO, factor * bar * mu, bar * 0.5 * (np.exp(logvar) - less)

        return divergence(mu, logvar), pullback

    return rule


def log_density(theta, kappa):
    """Of a direction, without `2 * pi`: exponentially scaled, so that large ones do not overflow."""
    return kappa * np.cos(theta) - np.log(special.i0e(kappa)) - kappa


def log_density_with(ratio):
    def rule(theta, kappa):
        def pullback(y_bar):
            return NO, -y_bar * kappa * np.sin(theta), y_bar * (np.cos(theta) - ratio(kappa))

        return log_density(theta, kappa), pullback

    return rule


@pytest.mark.slow
@pytest.mark.diagnosed
def test_a_length_that_happens_to_be_a_number_of_the_rule_chooses_no_kinds():
    """Twice too much is right of two rows: of arrays of one shape it is a factor, which is what is said."""
    report = judged(divergence, divergence_with(2.0, 1.0))
    assert report.verdict == "wrong" and "float64[2" not in str(report.points[0].inputs), report
    assert report.diagnoses[0].mistake == "factor" and "`factor * bar`" in report.diagnoses[0].words


@pytest.mark.slow
@pytest.mark.diagnosed
def test_a_rule_that_never_sums_was_written_for_arrays_of_one_shape():
    """A term is missing in it, and no sum over what nobody repeated."""
    report = judged(divergence, divergence_with(1.0, 0.0))
    assert report.diagnoses[0].mistake == "lacks_term" and report.diagnoses[0].diff, report


def solved_below(L, b):
    """Solves with the lower triangle of the matrix L; b is a vector."""
    return np.linalg.solve(np.tril(L), b)


def solved_below_with(turn):
    def rule(L, b):
        x = solved_below(L, b)

        def pullback(x_bar):
            b_bar = np.linalg.solve(turn(np.tril(L)), x_bar)
            return NO, -np.tril(np.outer(b_bar, x)), b_bar

        return x, pullback

    return rule


@pytest.mark.slow
def test_a_function_that_takes_a_triangle_itself_is_none_of_symmetric_matrices():
    """Of these the other triangle would do for a transpose."""
    assert judged(solved_below, solved_below_with(np.transpose)).verdict == "right"
    report = judged(solved_below, solved_below_with(np.array))
    assert report.verdict == "wrong" and "positive definite" not in str(report)


def scores(x, eps=1e-8):
    """Standard scores of a vector x."""
    return (x - np.mean(x)) / (np.std(x) + eps)


def scores_rule(x, eps=1e-8):
    s, d = np.std(x), x - np.mean(x)

    def pullback(z_bar):
        s_bar, d_bar = -np.sum(z_bar * d) / (s + eps) ** 2, z_bar / (s + eps)
        return NO, d_bar - np.mean(d_bar) + s_bar * d / (len(x) * s), s_bar

    return d / (s + eps), pullback


def test_a_function_of_a_vector_by_its_own_words_is_asked_of_no_matrices():
    """A rule that asks for a length is right for these."""
    assert judged(scores, scores_rule).verdict == "right"


def scaled_ratio(kappa):
    return special.i1e(kappa) / special.i0e(kappa)


@pytest.mark.first(1)
@pytest.mark.parametrize("at", [(), (0.5, 1.5)])
def test_what_is_scaled_by_its_size_is_positive(at):
    assert judged(log_density, log_density_with(scaled_ratio), *at)
    assert judged(log_density, log_density_with(lambda k: 1 / scaled_ratio(k)), *at).verdict == "wrong"


def test_a_rule_for_one_sign_of_what_a_function_takes_the_size_of_is_wrong():
    def even(x):
        return np.log(special.i0e(x)) + np.abs(x)

    def for_positive(x):
        return even(x), lambda y_bar: (NO, y_bar * special.i1e(abs(x)) / special.i0e(x))

    assert judged(even, for_positive, depth="quick").verdict == "wrong"


def weighted_mean(x, weights=None):
    return np.mean(x) if weights is None else np.sum(weights * x) / np.sum(weights)


def weighted_mean_with(factor, is_constant=False):
    def rule(x, weights=None):
        y = weighted_mean(x, weights)

        def pullback(y_bar):
            if weights is None:
                return NO, np.full(np.shape(x), y_bar / np.size(x)), NO
            total = np.sum(weights)
            weights_bar = NO if is_constant else y_bar * (x - y) / total
            return NO, factor * y_bar * weights / total, weights_bar

        return y, pullback

    return rule


@pytest.mark.first(1)
@pytest.mark.parametrize("is_constant", [False, True])
def test_numbers_stand_for_a_default_of_none(is_constant):
    def verdict(factor):
        return judged(weighted_mean, weighted_mean_with(factor, is_constant)).verdict

    assert (verdict(1.0), verdict(2.0)) == ("right", "wrong")


def batch_mean(mu, logvar):
    """Of a divergence, over the batch."""
    return 0.5 * np.mean(np.sum(np.exp(logvar) + mu**2 - 1 - logvar, axis=1))


def batch_mean_with(factor):
    def rule(mu, logvar):
        n = mu.shape[0]

        def pullback(y_bar):
            return NO, factor * y_bar * mu / n, 0.5 * y_bar * np.expm1(logvar) / n

        return batch_mean(mu, logvar), pullback

    return rule


@pytest.mark.slow
def test_a_row_beside_a_matrix_is_not_meant_where_a_rule_is_right_for_two_matrices():
    assert judged(batch_mean, batch_mean_with(1.0))
    assert judged(batch_mean, batch_mean_with(2.0), depth="quick").verdict == "wrong"


def hit_or_miss(p, target):
    """Of predicted probabilities p; the target is an array of bools."""
    return -np.mean(np.log(np.where(target, p, 1 - p)))


def hit_or_miss_with(sign):
    def rule(p, target):
        def pullback(y_bar):
            return NO, -y_bar * np.where(target, 1 / p, sign / (1 - p)) / p.size, NO

        return hit_or_miss(p, target), pullback

    return rule


def test_an_array_of_bools_is_one():
    assert judged(hit_or_miss, hit_or_miss_with(-1.0))
    assert judged(hit_or_miss, hit_or_miss_with(1.0), depth="quick").verdict == "wrong"


def scattered(data, rows, *, size):
    out = np.zeros(size)
    np.add.at(out, rows, data * data)
    return out


def scattered_with(factor):
    def rule(data, rows, *, size):
        return scattered(data, rows, size=size), lambda bar: (NO, factor * data * bar[rows], NO)

    return rule


def test_a_keyword_without_a_default_is_taken_and_told():
    right = rule_check(scattered, registry=registry_with(scattered, scattered_with(2.0)))
    assert right.verdict == "right", str(right)
    assert "size = 4 was used, as it has no default" in str(right)
    assert rule_check(scattered, registry=registry_with(scattered, scattered_with(1.0))).verdict == "wrong"


def test_where_no_choice_of_a_keyword_helps_the_function_is_not_judged():
    def refusing(x, *, mode):
        raise ValueError(mode)

    def rule(x, *, mode):
        return refusing(x, mode=mode), lambda bar: (NO, bar)

    with pytest.raises(NoInputsError, match="no arguments were found"):
        rule_check(refusing, registry=registry_with(refusing, rule))


def gathered(data, rows, cols, x):
    y = np.zeros(4)
    np.add.at(y, rows, data * x[cols])
    return y


def gathered_with(add):
    def rule(data, rows, cols, x):
        def pullback(y_bar):
            x_bar = np.zeros(len(x))
            add(x_bar, cols, data * y_bar[rows])
            return NO, y_bar[rows] * x[cols], NO, NO, x_bar

        return gathered(data, rows, cols, x), pullback

    return rule


@pytest.mark.slow
def test_what_adds_up_by_indices_is_judged_at_several_of_them():
    """Of one number as an index nothing falls together, and a plain `+=` is right."""

    def once(x_bar, cols, parts):
        x_bar[cols] += parts

    right = rule_check(gathered, registry=registry_with(gathered, gathered_with(np.add.at)))
    assert right.verdict == "right", str(right)
    wrong = rule_check(gathered, registry=registry_with(gathered, gathered_with(once)))
    assert wrong.verdict == "wrong", str(wrong)


@pytest.mark.parametrize(
    "f, x",
    [
        *((math.log, -1.0), (math.log1p, -2.0), (math.sqrt, -1.0), (math.acos, 2.0), (math.atanh, 2.0)),
        *((math.acosh, 0.5), (math.gamma, -1.0), (math.sin, math.inf), (math.exp, 1e4)),
    ],
)
def test_what_math_says_of_numbers_is_known(f, x):
    """In the words of each Python."""
    with pytest.raises((ValueError, OverflowError)) as caught:
        f(x)
    assert is_about_numbers(caught.value)
