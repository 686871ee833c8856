"""Tests of what is drawn by how a function uses its arguments: right rules are right, wrong ones caught."""

import dataclasses
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check

from .rules import pair_in, registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

special = pytest.importorskip("scipy.special")
NO = rl.NoTangent()
PAIRS = {}
pair = pair_in(PAIRS)


def decays(events, rate):
    """Log-likelihood of decays per interval; events are ints >= 0, and rate > 0."""
    return np.sum(events * np.log(rate) - rate)


@pair(decays)
def decays_with(wrong):
    def rule(events: np.ndarray, rate: float):
        def pullback(y_bar):
            return NO, NO, y_bar * (np.sum(events) / rate - (1 if wrong else events.size))

        return decays(events, rate), pullback

    return rule


def seen_share(x, mask):
    """The mean of each row where the mask holds."""
    return np.sum(np.where(mask, x, 0.0), axis=1) / np.maximum(mask.sum(axis=1), 1)


@pair(seen_share)
def seen_share_with(wrong):
    def rule(x: np.ndarray, mask: np.ndarray):
        count = np.maximum(mask.sum(axis=1), 1)

        def pullback(y_bar):
            return NO, mask * (y_bar if wrong else y_bar / count)[:, None], NO

        return seen_share(x, mask), pullback

    return rule


def through(weights, x):
    """A chain of matrices, with a sine behind each but the last."""
    for W in weights[:-1]:
        x = np.sin(W @ x)
    return weights[-1] @ x


@pair(through)
def through_with(wrong):
    def rule(weights: list, x: np.ndarray):
        inputs = [x]
        for W in weights[:-1]:
            inputs.append(np.sin(W @ inputs[-1]))

        def pullback(y_bar):
            bars, g = [None] * len(weights), y_bar
            for k in reversed(range(len(weights))):
                bars[k] = np.outer(inputs[k], g) if wrong else np.outer(g, inputs[k])
                g = weights[k].T @ g
                if k:
                    g = g * np.cos(weights[k - 1] @ inputs[k - 1])
            return NO, rl.Tangent(list, *bars), g

        return weights[-1] @ inputs[-1], pullback

    return rule


def steered(A, B, start, controls):
    """The last state of a linear system; a row of controls for each step."""
    x = start
    for u in controls:
        x = A @ x + B @ u
    return x


@pair(steered)
def steered_with(wrong):
    def rule(A: np.ndarray, B: np.ndarray, start: np.ndarray, controls: np.ndarray):
        xs = [start]
        for u in controls:
            xs.append(A @ xs[-1] + B @ u)

        def pullback(bar):
            A_bar, B_bar, controls_bar = (np.zeros(z.shape) for z in (A, B, controls))
            for t in reversed(range(len(controls))):
                A_bar += np.outer(bar, xs[t + 1 if wrong else t])
                B_bar += np.outer(bar, controls[t])
                controls_bar[t] = B.T @ bar
                bar = A.T @ bar
            return NO, A_bar, B_bar, bar, controls_bar

        return xs[-1].copy(), pullback

    return rule


def sifted(picture, stencil):
    """Sums of a picture under a stencil that is laid at each place inside."""
    m, n = stencil.shape
    rows, columns = picture.shape[0] - m + 1, picture.shape[1] - n + 1
    out = np.zeros((rows, columns))
    for i in range(m):
        for j in range(n):
            out += stencil[i, j] * picture[i : i + rows, j : j + columns]
    return out


@pair(sifted)
def sifted_with(wrong):
    def rule(picture: np.ndarray, stencil: np.ndarray):
        def pullback(out_bar):
            rows, columns = out_bar.shape
            picture_bar, stencil_bar = np.zeros(picture.shape), np.zeros(stencil.shape)
            for i in range(stencil.shape[0]):
                for j in range(stencil.shape[1]):
                    at = np.s_[i : i + rows, j : j + columns]
                    picture_bar[at] = stencil[i, j] * out_bar + (0 if wrong else picture_bar[at])
                    stencil_bar[i, j] = np.sum(picture[at] * out_bar)
            return NO, picture_bar, stencil_bar

        return sifted(picture, stencil), pullback

    return rule


def faded(x, *, rate=0.5):
    """The sum of x, each number counting less than the one before."""
    return np.sum(x * rate ** np.arange(len(x)))


@pair(faded)
def faded_with(wrong):
    def rule(x: np.ndarray, *, rate=0.5):
        def pullback(y_bar):
            return NO, y_bar * (0.5 if wrong else rate) ** np.arange(len(x))

        return faded(x, rate=rate), pullback

    return rule


def hops(x, window, hop: int = 1):
    """The energies of windowed pieces."""
    m = len(window)
    count = (len(x) - m) // hop + 1
    return np.array([np.sum(window * x[k * hop : k * hop + m] ** 2) for k in range(count)])


@pair(hops)
def hops_with(wrong):
    def rule(x: np.ndarray, window: np.ndarray, hop: int = 1):
        m = len(window)

        def pullback(e_bar):
            x_bar, window_bar = np.zeros(x.shape), np.zeros(m)
            for k, g in enumerate(e_bar):
                at = slice(k * hop, k * hop + m)
                x_bar[slice(k, k + m) if wrong else at] += 2 * g * window * x[at]
                window_bar += g * x[at] ** 2
            return NO, x_bar, window_bar, NO

        return hops(x, window, hop), pullback

    return rule


def aged(classes, births, survival, years: int):
    """Age classes after some years; survival has one entry less than the classes."""
    for _ in range(years):
        classes = np.concatenate([[births @ classes], survival * classes[:-1]])
    return classes


@pair(aged)
def aged_with(wrong):
    def rule(classes: np.ndarray, births: np.ndarray, survival: np.ndarray, years: int):
        states = [classes]
        for _ in range(years):
            p = states[-1]
            states.append(np.concatenate([[births @ p], survival * p[:-1]]))

        def pullback(bar):
            births_bar, survival_bar = np.zeros(births.shape), np.zeros(survival.shape)
            for p in states[-2::-1]:
                births_bar += bar[0] * p
                survival_bar += bar[1:] * p[:-1]
                before = bar[0] * births
                if wrong:
                    before[1:] += survival * bar[1:]
                else:
                    before[:-1] += survival * bar[1:]
                bar = before
            return NO, bar, births_bar, survival_bar, NO

        return states[-1].copy(), pullback

    return rule


def shares(amounts, groups, count: int):
    """The sum of the amounts of each group; groups are group numbers."""
    return np.bincount(groups, amounts, count)


@pair(shares)
def shares_with(wrong):
    def rule(amounts: np.ndarray, groups: np.ndarray, count: int):
        def pullback(bar):
            return NO, (bar / len(bar) if wrong else bar)[groups], NO, NO

        return np.bincount(groups, amounts, count), pullback

    return rule


def closeness_of(places, samples, width):
    """How near the samples are to each place, on a line."""
    return np.exp(-(((places[:, None] - samples) / width) ** 2)).mean(axis=1)


@pair(closeness_of)
def closeness_with(wrong):
    """Of matrices the mean is over another axis: right rules are for vectors."""

    def rule(places: np.ndarray, samples: np.ndarray, width: float):
        u = (places[:, None] - samples) / width
        near = np.exp(-(u**2)) / samples.size

        def pullback(y_bar):
            u_bar = -2 * y_bar[:, None] * near * u
            by_samples = u_bar.sum(axis=0) / width
            width_bar = -np.sum(u_bar * u) / width
            return NO, u_bar.sum(axis=1) / width, by_samples if wrong else -by_samples, width_bar

        return near.sum(axis=1), pullback

    return rule


def between(t, times, heights):
    """Straight lines between heights at times; beyond them the last height."""
    return np.interp(t, times, heights)


@pair(between)
def between_with(wrong):
    def rule(t: np.ndarray, times: np.ndarray, heights: np.ndarray):
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        share = np.clip((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
        inside = (t >= times[0]) & (t < times[-1])
        slope = np.where(inside, (heights[k + 1] - heights[k]) / (times[k + 1] - times[k]), 0.0)

        def pullback(y_bar):
            times_bar, heights_bar = np.zeros(times.shape), np.zeros(heights.shape)
            np.add.at(heights_bar, k, y_bar * (1 - share))
            np.add.at(heights_bar, k if wrong else k + 1, y_bar * share)
            np.add.at(times_bar, k, -y_bar * slope * (1 - share))
            np.add.at(times_bar, k + 1, -y_bar * slope * share)
            return NO, y_bar * slope, times_bar, heights_bar

        return np.interp(t, times, heights), pullback

    return rule


def power_beside(z, level):
    """Squared distance of the powers from a level; z is complex."""
    return np.sum((np.abs(z) ** 2 - level) ** 2)


@pair(power_beside)
def power_beside_with(wrong):
    def rule(z: np.ndarray, level: np.ndarray):
        off = np.abs(z) ** 2 - level

        def pullback(y_bar):
            z_bar = 4 * y_bar * off * (np.conj(z) if wrong else z)
            return NO, z_bar, -2 * y_bar * off

        return np.sum(off**2), pullback

    return rule


def scaled_by(x, by):
    """x * by, broadcast against each other."""
    return x * by


@pair(scaled_by)
def scaled_by_with(wrong):
    def fitted(bar, like):
        while bar.ndim > np.ndim(like):
            bar = bar.mean(axis=0) if wrong else bar.sum(axis=0)
        axes = tuple(axis for axis, n in enumerate(np.shape(like)) if n == 1 < bar.shape[axis])
        return bar.sum(axis=axes, keepdims=True)

    def rule(x: np.ndarray, by: np.ndarray):
        def pullback(y_bar):
            return NO, fitted(y_bar * by, x), fitted(y_bar * x, by)

        return x * by, pullback

    return rule


def flow_over_weir(head, crest, width):
    depth = head - crest
    if depth <= 0:
        return 0.0  # a number, whatever the width is
    return 1.8 * width * depth**1.5


@pair(flow_over_weir)
def flow_over_weir_with(wrong):
    def rule(head, crest, width):
        depth = head - crest

        def pullback(q_bar):
            if depth <= 0:
                return NO, 0.0, 0.0, 0.0
            by_depth = 2.7 * width * depth**0.5 * q_bar
            return NO, by_depth, by_depth if wrong else -by_depth, 1.8 * depth**1.5 * q_bar

        return flow_over_weir(head, crest, width), pullback

    return rule


def centred_rows(x, gain, shift):
    return gain * (x - np.mean(x, axis=-1, keepdims=True)) + shift


@pair(centred_rows)
def centred_rows_with(wrong):
    def rule(x, gain, shift):
        centred = x - np.mean(x, axis=-1, keepdims=True)

        def pullback(y_bar):
            c_bar = y_bar * gain
            x_bar = c_bar - np.mean(c_bar, axis=-1, keepdims=True)
            scaled = x if wrong else centred
            return NO, x_bar, np.sum(y_bar * scaled, axis=0), np.sum(y_bar, axis=0)  # of a list a number

        return gain * centred + shift, pullback

    return rule


def node_polynomial(nodes, heights, at):
    """Value at one place of the polynomial through two points and more."""
    total = 0.0
    for i in range(len(nodes)):
        weight = 1.0
        for j in range(len(nodes)):
            if j != i:
                weight *= (at - nodes[j]) / (nodes[i] - nodes[j])
        total += weight * heights[i]
    return total


@pair(node_polynomial)
def node_polynomial_with(wrong):
    def weights(nodes, at):
        others = [[j for j in range(len(nodes)) if j != i] for i in range(len(nodes))]
        return np.array(
            [np.prod([(at - nodes[j]) / (nodes[i] - nodes[j]) for j in js]) for i, js in enumerate(others)]
        )

    def rule(nodes, heights, at):
        w, n = weights(nodes, at), len(nodes)

        def slope(place):
            return sum(
                heights[i]
                * sum(
                    np.prod([(place - nodes[j]) for j in range(n) if j not in (i, k)])
                    for k in range(n)
                    if k != i
                )
                / np.prod([nodes[i] - nodes[j] for j in range(n) if j != i])
                for i in range(n)
            )

        def pullback(y_bar):
            nodes_bar = np.array([-y_bar * w[i] * slope(nodes[i]) for i in range(n)])
            at_bar = y_bar * slope(at)
            return NO, nodes_bar, y_bar * w, -at_bar if wrong else at_bar

        return np.sum(w * heights), pullback

    return rule


def triangle_area(a, b, c):
    """Of a triangle in the plane, with its orientation."""
    u, v = b - a, c - a
    return (u[0] * v[1] - u[1] * v[0]) / 2


@pair(triangle_area)
def triangle_area_with(wrong):
    def rule(a, b, c):
        def turned(e):
            return np.array([e[1], -e[0]])

        def pullback(y_bar):
            a_bar, b_bar, c_bar = (y_bar / 2 * turned(e) for e in (b - c, c - a, a - b))
            return NO, a_bar, b_bar, 2 * c_bar if wrong else c_bar

        return triangle_area(a, b, c), pullback

    return rule


def log_beta_density(alpha, p):
    return np.sum((alpha - 1) * np.log(p)) - np.sum(alpha) ** 2


@pair(log_beta_density)
def log_beta_density_with(wrong):
    def rule(alpha, p):
        def pullback(y_bar):
            total = 2 * np.sum(alpha)
            return NO, y_bar * (np.log(p) + (total if wrong else -total)), y_bar * (alpha - 1) / p

        return log_beta_density(alpha, p), pullback

    return rule


def growing_days(daily, base, cap):
    return np.sum(np.clip(daily - base, 0, cap))


@pair(growing_days)
def growing_days_with(wrong):
    def rule(daily, base, cap):
        over = daily - base

        def pullback(y_bar):
            grows = (over > 0) & (over < cap)
            base_bar = y_bar * np.sum(grows)
            return NO, y_bar * grows, base_bar if wrong else -base_bar, y_bar * np.sum(over >= cap)

        return growing_days(daily, base, cap), pullback

    return rule


def pooled(tokens, mask):
    """Mean of the token vectors, weighted by a mask."""
    return (tokens * mask[:, None]).sum(axis=0) / np.maximum(mask.sum(), 1e-9)


@pair(pooled)
def pooled_with(wrong):
    def rule(tokens, mask):
        total = np.maximum(mask.sum(), 1e-9)
        mean = mask @ tokens / total

        def pullback(y_bar):
            off = tokens if wrong else tokens - mean
            return NO, np.outer(mask, y_bar) / total, off @ y_bar / total

        return mean, pullback

    return rule


def ionic_strength(c, z, scale):
    """Half the sum of concentrations; z are the (integer) charges."""
    return scale * np.sum(c * np.asarray(z) ** 2) / 2


@pair(ionic_strength)
def ionic_strength_with(wrong):
    def rule(c, z, scale):
        z2 = np.asarray(z) ** 2

        def pullback(y_bar):
            return NO, y_bar * scale * z2 / (1 if wrong else 2), NO, y_bar * np.sum(c * z2) / 2

        return ionic_strength(c, z, scale), pullback

    return rule


def swung(p: tuple[float, float, float], t):
    """A damped swing, with p = (height, damping, speed)."""
    height, damping, speed = p
    return height * np.exp(-damping * t) * np.cos(speed * t)


@pair(swung)
def swung_with(wrong):
    def rule(p, t):
        height, damping, speed = p
        fall = np.exp(-damping * t)
        c, s = np.cos(speed * t), np.sin(speed * t)

        def pullback(y_bar):
            by_speed = -np.sum(y_bar * height * fall * s * (1 if wrong else t))
            p_bar = (np.sum(y_bar * fall * c), -np.sum(y_bar * height * t * fall * c), by_speed)
            return NO, rl.Tangent(tuple, *p_bar), -y_bar * height * fall * (damping * c + speed * s)

        return height * fall * c, pullback

    return rule


def within_band(x, middle, width):
    return np.sum(np.clip(x, middle - width, middle + width) ** 2)


@pair(within_band)
def within_band_with(wrong):
    def rule(x, middle, width):
        below, above = x < middle - width, x > middle + width
        held = np.clip(x, middle - width, middle + width)

        def pullback(y_bar):
            bar = 2 * y_bar * held
            out = below | above
            by_width = np.sum(bar * above) - np.sum(bar * below)
            return NO, bar * ~out, np.sum(bar * out), -by_width if wrong else by_width

        return np.sum(held**2), pullback

    return rule


def time_of_cooling(start, end, room, rate):
    """Until a body has the temperature `end`, in a room that is colder."""
    return np.log((start - room) / (end - room)) / rate


@pair(time_of_cooling)
def time_of_cooling_with(wrong):
    def rule(start, end, room, rate):
        t = np.log((start - room) / (end - room)) / rate

        def pullback(t_bar):
            g = t_bar / rate
            by_start, by_end = g / (start - room), -g / (end - room)
            room_bar = by_start + by_end
            return NO, by_start, by_end, room_bar if wrong else -room_bar, -t_bar * t / rate

        return t, pullback

    return rule


def diode_current(v, saturation, series):
    return special.lambertw(saturation * series * np.exp(v)).real / series


@pair(diode_current)
def diode_current_with(wrong):
    def rule(v, saturation, series):
        w = special.lambertw(saturation * series * np.exp(v)).real

        def pullback(y_bar):
            g = y_bar * w / (1 + w) / series
            series_bar = g / series - y_bar * w / series**2
            return NO, g, g / saturation, -series_bar if wrong else series_bar

        return w / series, pullback

    return rule


def chance_below(mu, sigma, level):
    """For each forecast, with its mean and deviation, the logistic chance of a value below the level."""
    return 1 / (1 + np.exp((mu - level) / sigma))


@pair(chance_below)
def chance_below_with(wrong):
    def rule(mu, sigma, level):
        p = 1 / (1 + np.exp((mu - level) / sigma))

        def pullback(y_bar):
            g = y_bar * p * (1 - p) / sigma
            level_bar = np.mean(g) if wrong else np.sum(g)
            return NO, -g, g * (mu - level) / sigma, level_bar

        return p, pullback

    return rule


def gated(x):
    """The first half, gated by the second, along the last axis."""
    half = x.shape[-1] // 2
    return x[..., :half] * np.tanh(x[..., half:])


@pair(gated)
def gated_with(wrong):
    def rule(x):
        half = x.shape[-1] // 2
        gate = np.tanh(x[..., half:])

        def pullback(y_bar):
            bars = [y_bar * gate, y_bar * x[..., :half] * (1 - gate**2)]
            return NO, np.concatenate(bars, axis=0 if wrong else -1)  # of a vector both are right

        return x[..., :half] * gate, pullback

    return rule


def height_above(a, b, c):
    """Of c above the line through a and b, in the plane; signed by the side on which it is."""
    side = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return side / np.linalg.norm(b - a)


@pair(height_above)
def height_above_with(wrong):
    def turned(e):
        return np.array([e[1], -e[0]])

    def rule(a, b, c):
        y, far = height_above(a, b, c), np.linalg.norm(b - a)

        def pullback(y_bar):
            along = y * (b - a) / far**2
            a_bar, b_bar = turned(b - c) / far + along, turned(c - a) / far - along
            c_bar = turned(a - b) / far
            return NO, y_bar * a_bar, y_bar * b_bar, -y_bar * c_bar if wrong else y_bar * c_bar

        return y, pullback

    return rule


def saturated(u, limits: tuple):
    lo, hi = limits
    return np.minimum(np.maximum(u, lo), hi)


@pair(saturated)
def saturated_with(wrong):
    def rule(u, limits: tuple):
        lo, hi = limits

        def pullback(y_bar):
            below, above = np.where(u <= lo, y_bar, 0), np.where(u >= hi, y_bar, 0)
            lo_bar = np.mean(below) if wrong else np.sum(below)
            return NO, np.where((u > lo) & (u < hi), y_bar, 0.0), rl.Tangent(tuple, lo_bar, np.sum(above))

        return saturated(u, limits), pullback

    return rule


def log_length(t, ends: tuple):
    start, stop = ends
    return np.log(stop - start) * t


@pair(log_length)
def log_length_with(wrong):
    def rule(t, ends: tuple):
        start, stop = ends

        def pullback(y_bar):
            slope = np.sum(y_bar * t) / (stop - start)
            ends_bar = rl.Tangent(tuple, slope if wrong else -slope, slope)
            return NO, y_bar * np.log(stop - start), ends_bar

        return log_length(t, ends), pullback

    return rule


def gated_cell(c, gates):
    i, f, g = np.split(gates, 3)
    return f * c + i * g


@pair(gated_cell)
def gated_cell_with(wrong):
    def rule(c, gates):
        i, f, g = np.split(gates, 3)

        def pullback(y_bar):
            parts = [y_bar * c, y_bar * g, y_bar * i] if wrong else [y_bar * g, y_bar * c, y_bar * i]
            return NO, y_bar * f, np.concatenate(parts)

        return f * c + i * g, pullback

    return rule


def mass_action(k, c, orders):
    """Rates k_j * prod_i c_i ** orders[j][i]; the orders are whole numbers."""
    r = np.array(k, float)
    for j in range(len(k)):
        for i in range(len(c)):
            r[j] *= c[i] ** orders[j][i]
    return r


@pair(mass_action)
def mass_action_with(wrong):
    def rule(k, c, orders):
        r = mass_action(k, c, orders)

        def pullback(y_bar):
            c_bar = np.zeros(len(c))
            for j in range(len(k)):
                for i in range(len(c)):
                    rest = np.prod([c[m] ** orders[j][m] for m in range(len(c)) if m != i])
                    order = orders[j][i] - wrong
                    power = c[i] ** (orders[j][i] - 1) if orders[j][i] else 0.0
                    c_bar[i] += y_bar[j] * k[j] * rest * order * power
            return NO, y_bar * mass_action(np.ones(len(k)), c, orders), c_bar, NO

        return r, pullback

    return rule


def spline(P, t):
    m1, m2 = 0.5 * (P[2] - P[0]), 0.5 * (P[3] - P[1])
    return (1 - t) * P[1] + t * (1 - t) ** 2 * m1 + t * P[2] + t * t * (t - 1) * m2


@pair(spline)
def spline_with(wrong):
    """Four rows and no more: what a fifth would get, nobody has said."""

    def rule(P, t):
        def pullback(y_bar):
            h, k = t * (1 - t) ** 2 / 2, t * t * (t - 1) / 2
            P_bar = np.empty(P.shape)
            P_bar[0], P_bar[1] = -h * y_bar, (1 - t - k) * y_bar
            P_bar[2], P_bar[3] = (t + (k if wrong else h)) * y_bar, k * y_bar
            slope = (1 - t) * (1 - 3 * t) / 2 * (P[2] - P[0]) + t * (3 * t - 2) / 2 * (P[3] - P[1])
            return NO, P_bar, y_bar @ (P[2] - P[1] + slope)

        return spline(P, t), pullback

    return rule


def losses(load, z):
    line = np.cumsum(load[::-1])[::-1]
    return (z * np.sum(np.abs(line) ** 2)).real


@pair(losses)
def losses_with(wrong):
    """The cotangent of `z` is real as it is, whatever else is complex."""

    def rule(load: np.ndarray, z: complex):
        line = np.cumsum(load[::-1])[::-1]
        total = np.sum(np.abs(line) ** 2)

        def pullback(y_bar):
            line_bar = 2 * y_bar * np.real(z) * line
            return NO, np.cumsum(np.conj(line_bar) if wrong else line_bar), complex(y_bar * total)

        return (z * total).real, pullback

    return rule


def test_what_is_cut_into_parts_stays_so_many_times_as_long_as_what_was_given_beside_it():
    """Of other lengths apart a part of one number would be broadcast."""
    registry = registry_with(gated_cell, gated_cell_with(0))
    assert rule_check(gated_cell, np.array([0.5, -1.5]), np.arange(1.0, 7.0), registry=registry)


@pytest.mark.every(17)
@pytest.mark.parametrize("name", PAIRS)
def test_right_rules_are_right_and_wrong_ones_wrong_for_what_a_function_takes(name):
    """Nothing is given but the function and its rule."""
    f, rule_with = PAIRS[name]
    right, wrong = (rule_check(f, registry=registry_with(f, rule_with(which))) for which in (0, 1))
    assert (right.verdict, wrong.verdict) == ("right", "wrong")


def at_risk(eta, time, event):
    order = np.argsort(-time)
    e, d = eta[order], event[order]
    return np.sum(d * (e - np.log(np.cumsum(np.exp(e)))))


def at_risk_with(wrong):
    def rule(eta, time, event):
        order = np.argsort(-time)
        e, d = eta[order], event[order]
        risk = np.cumsum(np.exp(e))

        def pullback(y_bar):
            since = d / risk if wrong else (d / risk)[::-1]
            after = np.cumsum(since) if wrong else np.cumsum(since)[::-1]
            eta_bar = np.zeros(len(eta))
            eta_bar[order] = d - np.exp(e) * after
            return NO, y_bar * eta_bar, NO, NO

        return at_risk(eta, time, event), pullback

    return rule


@dataclasses.dataclass
class Spring:
    stiffness: float
    bump: float


def spring_force(spring: Spring, x: float) -> float:
    return -spring.stiffness * x - math.copysign(spring.bump * x**2, x)


def spring_force_with(wrong):
    def rule(spring, x):
        s = math.copysign(1.0, x)

        def pullback(y_bar):
            spring_bar = rl.Tangent(Spring, stiffness=-x * y_bar, bump=(s if wrong else -s) * x**2 * y_bar)
            return NO, spring_bar, -(spring.stiffness + 2 * spring.bump * abs(x)) * y_bar

        return spring_force(spring, x), pullback

    return rule


def directed(size, way):
    return np.copysign(size, way)


def directed_with(wrong):
    def rule(size, way):
        slope = np.sign(way) if wrong else np.sign(way) * np.sign(size)
        return np.copysign(size, way), lambda y_bar: (NO, y_bar * slope, 0.0 * y_bar * way)

    return rule


def heading(t):
    return np.array([np.cos(t), np.sin(t)])


def heading_with(wrong):
    def rule(t):
        s = 1.0 if wrong else -1.0
        return heading(t), lambda y_bar: (NO, np.sum(y_bar * np.array([s * np.sin(t), np.cos(t)])))

    return rule


@pytest.mark.every(2, slow=True)
@pytest.mark.parametrize(
    ("f", "rule_with"),
    [
        (spring_force, spring_force_with),
        (directed, directed_with),
        (heading, heading_with),
        (at_risk, at_risk_with),
    ],
)
def test_what_copysign_gives_a_sign_what_stacks_numbers_and_what_has_an_order(f, rule_with):
    """A factor of a size has no sign of its own, which a parameter alone may have; a rule that sums over what
    its function stacks is for a number; and what is put in order has several places.
    """
    right, wrong = (rule_check(f, registry=registry_with(f, rule_with(which))) for which in (0, 1))
    assert (right.verdict, wrong.verdict) == ("right", "wrong")


def test_whole_numbers_are_not_called_dropped():
    """The mistake is in the rate: that ints have no cotangent is none."""
    f, rule_with = PAIRS["decays"]
    report = rule_check(f, registry=registry_with(f, rule_with(1)))
    assert "events" not in str(report).splitlines()[0]


def focal_loss(p, t):
    q = np.where(t == 1, p, 1 - p)
    return -np.sum((1 - q) ** 2 * np.log(q))


def focal_loss_with(wrong):
    def rule(p, t):
        q = np.where(t == 1, p, 1 - p)

        def pullback(y_bar):
            q_bar = y_bar * (2 * (1 - q) * np.log(q) - (1 - q) ** 2 / q)
            return NO, q_bar if wrong else np.where(t == 1, q_bar, -q_bar), NO

        return focal_loss(p, t), pullback

    return rule


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", [False, True])
def test_what_is_compared_with_one_alone_is_a_label(wrong):
    """Labels do not vary, and next to one there is no other."""
    report = rule_check(focal_loss, registry=registry_with(focal_loss, focal_loss_with(wrong)))
    assert report.verdict == ("wrong" if wrong else "right"), report.sentence
