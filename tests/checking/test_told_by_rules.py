"""What a rule, a docstring or a loop tells of arguments without naming them is drawn, so that right rules are
right and wrong ones wrong.
"""

import pytest

from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

TOLD = {  # each with a mistake
    "positions up to the last one": (
        """
def f(img, x, y):
    '''The image img (h, w) at x, y between pixels, 0 <= x <= w - 1 and 0 <= y <= h - 1.'''
    i, j = min(int(y), img.shape[0] - 2), min(int(x), img.shape[1] - 2)
    a, b = y - i, x - j
    low = (1 - b) * img[i, j] + b * img[i, j + 1]
    return (1 - a) * low + a * ((1 - b) * img[i + 1, j] + b * img[i + 1, j + 1])


@rl.rrule_for(f, registry=registry)
def f_rrule(img, x, y):
    i, j = min(int(y), img.shape[0] - 2), min(int(x), img.shape[1] - 2)
    a, b = y - i, x - j

    def back(out_bar):
        bar = np.zeros(img.shape)
        bar[i, j], bar[i, j + 1] = (1 - a) * (1 - b) * out_bar, (1 - a) * b * out_bar
        bar[i + 1, j], bar[i + 1, j + 1] = a * (1 - b) * out_bar, a * b * out_bar
        along = (1 - a) * (img[i, j + 1] - img[i, j]) + a * (img[i + 1, j + 1] - img[i + 1, j])
        down = (1 - b) * (img[i + 1, j] - img[i, j]) + b * (img[i + 1, j + 1] - img[i, j + 1])
        return rl.NoTangent(), bar, along * out_bar, down * out_bar

    return f(img, x, y), back
""",
        ("np.zeros(img.shape)", "np.zeros_like(img)"),
    ),
    "flags at the end of a list of shapes": (
        """
def f(beta, X, time, event):
    '''Log likelihood of beta (p,), X (n, p), time (n,), event (n,) of 0 or 1.'''
    order = np.argsort(-time)
    eta, died = (X @ beta)[order], event[order]
    return np.sum(died * (eta - np.log(np.cumsum(np.exp(eta)))))


@rl.rrule_for(f, registry=registry)
def f_rrule(beta, X, time, event):
    order = np.argsort(-time)
    risk, died = np.exp((X @ beta)[order]), event[order]
    total = np.cumsum(risk)

    def back(y_bar):
        g = np.empty(len(order))
        g[order] = y_bar * (died - risk * np.cumsum((died / total)[::-1])[::-1])
        return rl.NoTangent(), X.T @ g, np.outer(g, beta), rl.NoTangent(), rl.NoTangent()

    return f(beta, X, time, event), back
""",
        ("np.cumsum((died / total)[::-1])[::-1]", "np.cumsum(died / total)"),
    ),
    "complex arguments with stated shapes": (
        """
def f(v, gains):
    '''Power of each bus. v: complex voltages (n,), gains: complex matrix (n, n).'''
    return v * np.conj(gains @ v)


@rl.rrule_for(f, registry=registry)
def f_rrule(v, gains):
    a, b, e, h = gains.real, gains.imag, v.real, v.imag
    re, im = a @ e - b @ h, a @ h + b @ e

    def back(y_bar):
        p, q = np.real(y_bar), np.imag(y_bar)
        re_bar, im_bar = p * e + q * h, p * h - q * e
        e_bar = p * re - q * im + a.T @ re_bar + b.T @ im_bar
        h_bar = p * im + q * re - b.T @ re_bar + a.T @ im_bar
        gains_bar = np.outer(re_bar + 1j * im_bar, e - 1j * h)
        return rl.NoTangent(), e_bar + 1j * h_bar, gains_bar

    return e * re + h * im + 1j * (h * re - e * im), back
""",
        ("e - 1j * h)", "e + 1j * h)"),
    ),
    "a seed": (
        """
def f(start, drift, scale, seed, steps):
    '''The end of a walk. steps: how many steps; seed: of the random numbers.'''
    draws = np.random.default_rng(seed).normal(size=steps)
    return start + drift * steps + scale * np.sum(draws)


@rl.rrule_for(f, registry=registry)
def f_rrule(start, drift, scale, seed, steps):
    draws = np.random.default_rng(seed).normal(size=steps)

    def back(y_bar):
        bars = y_bar * np.array([1.0, steps, draws.sum()])
        return rl.NoTangent(), *bars, rl.NoTangent(), rl.NoTangent()

    return start + drift * steps + scale * np.sum(draws), back
""",
        ("draws.sum()", "draws.mean()"),
    ),
    "a whole number in parentheses": (
        """
import math


def f(level, looks):
    '''The chance of an alarm.

    level: threshold over noise, level > 0, looks: number of looks (int >= 1, at
    most a few hundred; not differentiated).
    '''
    return math.gamma(looks) * level**looks


@rl.rrule_for(f, registry=registry)
def f_rrule(level, looks):
    y = f(level, looks)

    def back(y_bar):
        return rl.NoTangent(), y_bar * y * looks / level, rl.NoTangent()

    return y, back
""",
        ("looks / level", "(looks - 1) / level"),
    ),
    "an interval behind a comma": (
        """
import math


def f(a, e, angle):
    '''Distance at a given angle, closed path (0 <= e < 1).'''
    start = angle if e < 0.8 else math.pi
    return a * (1.0 - e * math.cos(angle)) + 0.0 * start


@rl.rrule_for(f, registry=registry)
def f_rrule(a, e, angle):
    side = math.sqrt(1.0 - e * e)

    def back(y_bar):
        turn = a * e * math.sin(angle) * side / math.sqrt((1.0 - e) * (1.0 + e))
        return rl.NoTangent(), y_bar * (1.0 - e * math.cos(angle)), -y_bar * a * math.cos(angle), y_bar * turn

    return f(a, e, angle), back
""",
        ("-y_bar * a * math.cos", "y_bar * a * math.cos"),
    ),
    "one number or a shape": (
        """
def f(weights, rate, price):
    '''The worth of some goods.

    Args:
        weights: how much of each, shape (n,).
        rate: yearly interest rate.
        price: price of each, one number or shape (n,).
    '''
    return np.sum(weights * price) * (1.0 + rate)


@rl.rrule_for(f, registry=registry)
def f_rrule(weights, rate, price):
    worth = np.sum(weights * price)

    def back(y_bar):
        price_bar = y_bar * (1.0 + rate) * weights
        if np.ndim(price) == 0:
            price_bar = price_bar.sum()
        return rl.NoTangent(), y_bar * (1.0 + rate) * price * np.ones_like(weights), y_bar * worth, price_bar

    return worth * (1.0 + rate), back
""",
        ("        if np.ndim(price) == 0:\n            price_bar = price_bar.sum()\n", ""),
    ),
    "a covariance that need not be symmetric": (
        """
def f(cov, direction):
    '''Power in one direction (n,). The covariance cov (n, n) need not be exactly symmetric.'''
    return 1.0 / (direction @ np.linalg.solve(cov, direction))


@rl.rrule_for(f, registry=registry)
def f_rrule(cov, direction):
    y = f(cov, direction)
    forth, back_ = np.linalg.solve(cov, direction), np.linalg.solve(cov.T, direction)

    def back(y_bar):
        return rl.NoTangent(), y_bar * y**2 * np.outer(back_, forth), -y_bar * y**2 * (forth + back_)

    return y, back
""",
        ("np.outer(back_, forth)", "np.outer(forth, back_)"),
    ),
    "the end of a closed interval": (
        """
def f(quitting, wage):
    '''Expected pay.

    Args:
        quitting: yearly chances to leave, shape (n,), each in [0, 1].
        wage: pay of a year.
    '''
    return wage * np.sum(np.cumprod(1.0 - quitting))


@rl.rrule_for(f, registry=registry)
def f_rrule(quitting, wage):
    stays = np.cumprod(1.0 - quitting)

    def back(y_bar):
        bars = np.zeros(len(quitting))
        for i in range(len(quitting)):
            others = np.where(np.arange(len(quitting)) == i, 1.0, 1.0 - quitting)
            bars[i] = -y_bar * wage * np.sum(np.cumprod(others)[i:])
        return rl.NoTangent(), bars, y_bar * np.sum(stays)

    return wage * np.sum(stays), back
""",
        ("np.sum(np.cumprod(others)[i:])", "np.sum(stays[i:]) / (1.0 - quitting[i])"),
    ),
    "axes of length one": (
        """
def f(volts, amps):
    '''Power. volts and amps follow NumPy broadcasting, as volts (time, bus) and amps (bus,) do.'''
    return volts * amps


def folded(full, like):
    full = full.sum(axis=tuple(range(full.ndim - np.ndim(like))))
    for axis, length in enumerate(np.shape(like)):
        if length == 1:
            full = full.sum(axis=axis, keepdims=True)
    return full


@rl.rrule_for(f, registry=registry)
def f_rrule(volts, amps):
    def back(y_bar):
        y_bar = np.asarray(y_bar)
        return rl.NoTangent(), folded(y_bar * amps, volts), folded(y_bar * volts, amps)

    return volts * amps, back
""",
        ("full.sum(axis=axis, keepdims=True)", "full.mean(axis=axis, keepdims=True)"),
    ),
    "elements that decide": (
        """
import math


def f(theta, answers):
    total = 0.0
    for one, answer in zip(theta, answers):
        total += -math.log1p(math.exp(-one)) if answer else -math.log1p(math.exp(one))
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(theta, answers):
    def back(y_bar):
        p = 1 / (1 + np.exp(-np.asarray(theta)))
        return rl.NoTangent(), y_bar * ((np.array(answers) == 1) - p), rl.NoTangent()

    return f(theta, answers), back
""",
        ("- p)", "+ p)"),
    ),
    "an object that is taken apart": (
        """
import typing


class Curve(typing.NamedTuple):
    top: float
    half: float


def f(x, curve):
    top, half = curve
    return top * x / (np.abs(half) + np.abs(x) + 1)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, curve):
    top, half = curve
    below = np.abs(half) + np.abs(x) + 1

    def back(y_bar):
        x_bar = y_bar * top * (below - np.abs(x)) / below**2
        half_bar = -np.sum(y_bar * top * x / below**2) * np.sign(half)
        return rl.NoTangent(), x_bar, rl.Tangent(Curve, top=np.sum(y_bar * x / below), half=half_bar)

    return top * x / below, back
""",
        ("top=np.sum(y_bar * x / below)", "top=np.sum(y_bar * x)"),
    ),
    "a list of objects": (
        """
from dataclasses import dataclass


@dataclass
class Stage:
    gain: float
    shift: float


import math


def f(stages, x):
    for stage in reversed(stages):
        x = math.tanh(stage.gain * x + stage.shift)
    return x


@rl.rrule_for(f, registry=registry)
def f_rrule(stages, x):
    inputs = []
    for stage in stages[::-1]:
        inputs.append(x)
        x = math.tanh(stage.gain * x + stage.shift)
    y = x

    def back(y_bar):
        bars = []
        for stage, x in zip(stages, inputs[::-1]):
            y_bar = y_bar * (1 - math.tanh(stage.gain * x + stage.shift) ** 2)
            bars.append(rl.Tangent(Stage, gain=y_bar * x, shift=y_bar))
            y_bar = y_bar * stage.gain
        return rl.NoTangent(), bars, y_bar

    return y, back
""",
        ("gain=y_bar * x", "gain=y_bar"),
    ),
    "an object of defaults": (
        """
from dataclasses import dataclass


@dataclass
class Lens:
    k1: float = 0.0
    k2: float = 0.0


def f(r, lens):
    return r * (1 + lens.k1 * r**2 + lens.k2 * r**4)


@rl.rrule_for(f, registry=registry)
def f_rrule(r, lens):
    def back(y_bar):
        lens_bar = rl.Tangent(Lens, k1=np.sum(y_bar * r**3), k2=np.sum(y_bar * r**5))
        return rl.NoTangent(), y_bar * (1 + 3 * lens.k1 * r**2 + 5 * lens.k2 * r**4), lens_bar

    return f(r, lens), back
""",
        ("5 * lens.k2", "4 * lens.k2"),
    ),
    "a tuple that is gone through": (
        """
import math


def f(weights, outside):
    return math.log(sum(math.exp(w) * o**2 for w, o in zip(weights, outside)) + 1)


@rl.rrule_for(f, registry=registry)
def f_rrule(weights, outside):
    total = sum(math.exp(w) * o**2 for w, o in zip(weights, outside)) + 1

    def back(y_bar):
        w_bar = tuple(y_bar * math.exp(w) * o**2 / total for w, o in zip(weights, outside))
        return rl.NoTangent(), w_bar, [2 * y_bar * math.exp(w) * o / total for w, o in zip(weights, outside)]

    return math.log(total), back
""",
        ("2 * y_bar", "y_bar"),
    ),
    "what is called positive by another name": (
        """
def f(n0, lam_a, lam_b):
    "Atoms of the second member of a decay chain (positive decay constants), at time 1."
    return n0 * lam_a / (lam_a + lam_b) * np.exp(-np.sqrt(lam_a * lam_b))


@rl.rrule_for(f, registry=registry)
def f_rrule(n0, lam_a, lam_b):
    y = f(n0, lam_a, lam_b)

    def back(y_bar):
        root = np.sqrt(lam_a / lam_b)
        a_bar = y_bar * y * (1 / lam_a - 1 / (lam_a + lam_b) - 0.5 / root)
        b_bar = y_bar * y * (-1 / (lam_a + lam_b) - 0.5 * root)
        return rl.NoTangent(), y_bar * y / n0, a_bar, b_bar

    return y, back
""",
        ("0.5 / root", "0.5 * root"),
    ),
    "an array that is summed with its conjugate": (
        """
def f(ops, rho):
    "The sum of K rho K^dagger over complex operators K."
    return np.einsum("kab,bc,kdc->ad", ops, rho, ops.conj())


@rl.rrule_for(f, registry=registry)
def f_rrule(ops, rho):
    def back(y_bar):
        left = y_bar @ ops @ rho.conj().T
        right = y_bar.conj().T @ ops @ rho
        return rl.NoTangent(), left + right, np.sum(ops.conj().transpose(0, 2, 1) @ y_bar @ ops, axis=0)

    return f(ops, rho), back
""",
        ("y_bar.conj().T @ ops", "y_bar.T @ ops"),
    ),
    "amplitudes that are complex behind a colon": (
        """
def f(state, field):
    \"\"\"The energy of a spin that a field turns, H = -field X, per norm.

    state: complex amplitudes, 2 of them, not all zero (need not be normalised).
    \"\"\"
    psi = np.reshape(state, (2,))
    return np.vdot(psi, -field * psi[::-1]).real / np.vdot(psi, psi).real


@rl.rrule_for(f, registry=registry)
def f_rrule(state, field):
    psi = np.reshape(state, (2,))
    norm, turned = np.vdot(psi, psi).real, psi[::-1]
    y = np.vdot(psi, -field * turned).real / norm

    def back(y_bar):
        psi_bar = 2 * y_bar * (-field * turned - y * psi) / norm
        return rl.NoTangent(), psi_bar, -y_bar * np.vdot(psi, turned).real / norm

    return y, back
""",
        ("(-field * turned - y * psi)", "np.conj(-field * turned - y * psi)"),
    ),
    "halves that are turned": (
        """
def f(x):
    even, odd = x[0::2], x[1::2]
    detail = odd - 0.5 * (even + np.roll(even, -1, axis=0))
    return even + 0.25 * (detail + np.roll(detail, 1, axis=0)), detail


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(bars):
        even_bar, d_bar = bars
        d_bar = d_bar + 0.25 * (even_bar + np.roll(even_bar, -1, axis=0))
        x_bar = np.empty(x.shape)
        x_bar[1::2] = d_bar
        x_bar[0::2] = even_bar - 0.5 * (d_bar + np.roll(d_bar, 1, axis=0))
        return rl.NoTangent(), x_bar

    return f(x), back
""",
        ("np.roll(even_bar, -1, axis=0)", "np.roll(even_bar, 1, axis=0)"),
    ),
    "vectors in space, and what turns them": (
        """
import typing


class Body(typing.NamedTuple):
    position: np.ndarray
    velocity: np.ndarray
    attitude: np.ndarray


def turned(q, v):
    w, x, y, z = q
    return 2 * w * np.cross([x, y, z], v)


def f(body, spin, dt: float):
    moved = body.position + dt * body.velocity
    spun = np.cross(spin, body.attitude[1:])
    return Body(moved, body.velocity + dt * turned(body.attitude, spin) + spun, body.attitude)


@rl.rrule_for(f, registry=registry)
def f_rrule(body, spin, dt):
    w, u = body.attitude[0], body.attitude[1:]

    def back(bars):
        p_bar, v_bar, q_bar = bars
        turn_bar = 2 * dt * np.concatenate([[np.cross(u, spin) @ v_bar], w * np.cross(spin, v_bar)])
        body_bar = rl.Tangent(Body, position=p_bar, velocity=v_bar + dt * p_bar, attitude=q_bar + turn_bar)
        body_bar.attitude[1:] += np.cross(v_bar, spin)
        dt_bar = p_bar @ body.velocity + 2 * w * np.cross(u, spin) @ v_bar
        return rl.NoTangent(), body_bar, 2 * w * dt * np.cross(v_bar, u) + np.cross(u, v_bar), dt_bar

    return f(body, spin, dt), back
""",
        ("np.cross(spin, v_bar)", "np.cross(v_bar, spin)"),
    ),
    "halves of rows, and what couples them": (
        """
import typing


class Net(typing.NamedTuple):
    weight: np.ndarray
    shift: np.ndarray


def f(x, net):
    half = x.shape[1] // 2
    keep, change = x[:, :half], x[:, half:]
    return np.hstack([keep, change + np.tanh(keep @ net.weight + net.shift)])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, net):
    half = x.shape[1] // 2
    keep, y = x[:, :half], f(x, net)

    def back(y_bar):
        bar = y_bar[:, half:] * (1 - np.tanh(keep @ net.weight + net.shift) ** 2)
        x_bar = y_bar.copy()
        x_bar[:, :half] += bar @ net.weight.T
        return rl.NoTangent(), x_bar, rl.Tangent(Net, weight=keep.T @ bar, shift=bar.sum(axis=0))

    return y, back
""",
        ("x_bar[:, :half] +=", "x_bar[:, :half] -="),
    ),
    "a spectrum of which squares hide the ends": (
        """
def f(x, floor):
    assert floor > 0
    return np.fft.irfft(np.log(np.abs(np.fft.rfft(x)) ** 2 + floor), n=len(x))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, floor):
    assert floor > 0
    n, spectrum = len(x), np.fft.rfft(x)
    power = np.abs(spectrum) ** 2 + floor
    share = np.full(len(power), 2.0 / n)
    share[0] = 1.0 / n
    if n % 2 == 0:
        share[-1] = 1.0 / n

    def back(y_bar):
        power_bar = share * np.fft.rfft(y_bar).real / power
        x_bar = n * np.fft.ifft(2 * power_bar * spectrum, n=n).real
        return rl.NoTangent(), x_bar, power_bar.sum()

    return np.fft.irfft(np.log(power), n=n), back
""",
        ("if n % 2 == 0", "if n > 1"),
    ),
    "rows that are taken apart beside numbers": (
        """
def f(angles, links):
    p = np.zeros(2)
    for angle, (length, offset) in zip(angles[::-1], links[::-1]):
        c, s = np.cos(angle), np.sin(angle)
        p = np.array([c * (p[0] + length) - s * p[1], s * (p[0] + length) + c * p[1] + offset])
    return p


@rl.rrule_for(f, registry=registry)
def f_rrule(angles, links):
    tips = [np.zeros(2)]
    for angle, (length, offset) in zip(angles[::-1], links[::-1]):
        c, s = np.cos(angle), np.sin(angle)
        tips.append(np.array([[c, -s], [s, c]]) @ (tips[-1] + [length, 0.0]) + [0.0, offset])

    def back(p_bar):
        angles_bar, links_bar = np.zeros(len(angles)), np.zeros((len(angles), 2))
        for k in range(len(angles)):
            c, s = np.cos(angles[k]), np.sin(angles[k])
            before = tips[-2 - k] + [links[k][0], 0.0]
            links_bar[k, 1] = p_bar[1]
            angles_bar[k] = p_bar @ np.array([[-s, -c], [c, -s]]) @ before
            p_bar = np.array([[c, s], [-s, c]]) @ p_bar
            links_bar[k, 0] = p_bar[0]
        return rl.NoTangent(), angles_bar, links_bar

    return tips[-1], back
""",
        ("links_bar[k, 0] = p_bar[0]", "links_bar[k, 0] = p_bar[1]"),
    ),
    "a vector beside a list of objects": (
        """
import typing


class Unit(typing.NamedTuple):
    fixed: float
    slope: float


def f(units, output):
    total = 0.0
    for unit, p in zip(units, output):
        total += unit.fixed + unit.slope * p**2
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(units, output):
    slopes = np.array([unit.slope for unit in units])

    def back(y_bar):
        bars = [rl.Tangent(Unit, fixed=y_bar, slope=y_bar * p**2) for p in output]
        return rl.NoTangent(), bars, 2 * y_bar * slopes * output

    return f(units, output), back
""",
        ("2 * y_bar", "y_bar"),
    ),
    "a field that is larger": (
        """
import math
import typing


class Particle(typing.NamedTuple):
    energy: float
    px: float
    py: float


def f(particles):
    energy, px, py = (sum(each) for each in zip(*[(p.energy, p.px, p.py) for p in particles]))
    squared = energy * energy - px * px - py * py
    if squared <= 0:
        raise ValueError("not a massive system")
    return math.sqrt(squared)


@rl.rrule_for(f, registry=registry)
def f_rrule(particles):
    mass = f(particles)
    energy, px, py = (sum(each) for each in zip(*particles))

    def back(y_bar):
        one = rl.Tangent(Particle, energy=y_bar * energy / mass, px=-y_bar * px / mass, py=-y_bar * py / mass)
        return rl.NoTangent(), [one for _ in particles]

    return mass, back
""",
        ("py=-y_bar", "py=y_bar"),
    ),
    "positions that are rounded down": (
        """
import math


def f(table, y, x):
    i, j = int(math.floor(y)), int(math.floor(x))
    s, t = y - i, x - j
    upper = (1 - t) * table[i, j] + t * table[i, j + 1]
    return (1 - s) * upper + s * ((1 - t) * table[i + 1, j] + t * table[i + 1, j + 1])


@rl.rrule_for(f, registry=registry)
def f_rrule(table, y, x):
    i, j = int(math.floor(y)), int(math.floor(x))
    s, t = y - i, x - j
    (a, b), (c, d) = table[i : i + 2, j : j + 2]

    def back(y_bar):
        table_bar = np.zeros(table.shape)
        table_bar[i, j : j + 2] = y_bar * (1 - s) * np.array([1 - t, t])
        table_bar[i + 1, j : j + 2] = y_bar * s * np.array([1 - t, t])
        along = y_bar * ((1 - s) * (b - a) + s * (d - c))
        return rl.NoTangent(), table_bar, y_bar * ((1 - t) * (c - a) + t * (d - b)), along

    return f(table, y, x), back
""",
        ("table_bar[i + 1, j", "table_bar[i, j"),
    ),
    "names of what is positive": (
        """
def f(density, free_speed, wave_speed, jam_density):
    return np.minimum(free_speed * density, wave_speed * (jam_density - density))


@rl.rrule_for(f, registry=registry)
def f_rrule(density, free_speed, wave_speed, jam_density):
    free = density < wave_speed * jam_density / (free_speed + wave_speed)

    def back(y_bar):
        jam_bar = wave_speed * np.sum(np.where(free, 0, y_bar))
        speeds = np.sum(y_bar * density * free), np.sum(y_bar * (jam_density - density) * ~free)
        return rl.NoTangent(), y_bar * np.where(free, free_speed, -wave_speed), *speeds, jam_bar

    return np.where(free, free_speed * density, wave_speed * (jam_density - density)), back
""",
        ("free_speed, -wave_speed)", "free_speed, wave_speed)"),
    ),
    "a default that decides": (
        """
def f(low, high, base=10.0, cap=30.0):
    return np.sum(np.maximum((low + np.minimum(high, cap)) / 2 - base, 0))


@rl.rrule_for(f, registry=registry)
def f_rrule(low, high, base=10.0, cap=30.0):
    grows, hot = (low + np.minimum(high, cap)) / 2 > base, high > cap

    def back(y_bar):
        half = y_bar * grows / 2
        return rl.NoTangent(), half, np.where(hot, 0.0, half), -2 * np.sum(half), np.sum(half * hot)

    return f(low, high, base, cap), back
""",
        ("np.where(hot, 0.0, half)", "half"),
    ),
    "groups that divide an axis": (
        """
def f(x, weight, groups):
    'x: (channels, length); weight: (channels,); groups divides the number of channels.'
    g = x.reshape(groups, -1)
    return (g - g.mean(1, keepdims=True)).reshape(x.shape) * weight[:, None]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, weight, groups):
    size = len(x) // groups

    def back(y_bar):
        x_bar = np.empty(x.shape)
        weight_bar = np.empty(len(x))
        for first in range(0, len(x), size):
            rows = slice(first, first + size)
            bar = y_bar[rows] * weight[rows, None]
            x_bar[rows] = bar - bar.mean()
            weight_bar[rows] = np.sum(y_bar[rows] * (x[rows] - x[rows].mean()), axis=1)
        return rl.NoTangent(), x_bar, weight_bar, rl.NoTangent()

    return f(x, weight, groups), back
""",
        ("bar - bar.mean()", "bar - bar.mean(1, keepdims=True)"),
    ),
    "a list of so many vectors": (
        """
def f(token, weights, experts):
    'token: (d,), weights: (d, K), experts: list of K vectors of one length.'
    return sum(g * out for g, out in zip(np.tanh(token @ weights), experts))


@rl.rrule_for(f, registry=registry)
def f_rrule(token, weights, experts):
    gate, stacked = np.tanh(token @ weights), np.stack(experts)

    def back(y_bar):
        score_bar = (stacked @ y_bar) * (1 - gate**2)
        return rl.NoTangent(), weights @ score_bar, np.outer(token, score_bar), [g * y_bar for g in gate]

    return gate @ stacked, back
""",
        ("for g in gate]", "for g in gate[::-1]]"),
    ),
    "a width that is odd": (
        """
def f(x, kernel):
    'Cross-correlation of x (channels, length) with kernel (channels, width), where the width is odd.'
    width, length = kernel.shape[1], x.shape[1]
    padded = np.pad(x, ((0, 0), (width // 2, width // 2)))
    return sum(kernel[:, k : k + 1] * padded[:, k : k + length] for k in range(width))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, kernel):
    width, length = kernel.shape[1], x.shape[1]
    padded = np.pad(x, ((0, 0), (width // 2, width // 2)))

    def back(y_bar):
        columns = [np.sum(y_bar * padded[:, k : k + length], axis=1) for k in range(width)]
        return rl.NoTangent(), f(y_bar, kernel[:, ::-1]), np.stack(columns, axis=1)

    return f(x, kernel), back
""",
        ("kernel[:, ::-1])", "kernel)"),
    ),
    "flags as long as an axis": (
        """
def f(beta, covariates, event):
    'Of beta (p,) and covariates (n, p); event: n flags, 1 for observed and 0 for censored.'
    eta = covariates @ beta
    return np.sum(np.where(event, np.logaddexp.accumulate(eta) - eta, 0.0))


@rl.rrule_for(f, registry=registry)
def f_rrule(beta, covariates, event):
    eta = covariates @ beta
    log_risk, d = np.logaddexp.accumulate(eta), np.asarray(event, dtype=float)

    def back(y_bar):
        hazard = np.cumsum((d * np.exp(-log_risk))[::-1])[::-1]
        eta_bar = y_bar * (np.exp(eta) * hazard - d)
        return rl.NoTangent(), covariates.T @ eta_bar, np.outer(eta_bar, beta), rl.NoTangent()

    return np.sum(d * (log_risk - eta)), back
""",
        ("[::-1])[::-1]", ")"),
    ),
    "columns of positions within an image": (
        """
def f(image, coords):
    'image is (H, W); coords is (K, 2), row and column of each sample, within the image.'
    H, W = image.shape
    r = np.clip(np.floor(coords[:, 0]).astype(int), 0, H - 2)
    c = np.clip(np.floor(coords[:, 1]).astype(int), 0, W - 2)
    s, t = coords[:, 0] - r, coords[:, 1] - c
    upper = (1 - t) * image[r, c] + t * image[r, c + 1]
    return (1 - s) * upper + s * ((1 - t) * image[r + 1, c] + t * image[r + 1, c + 1])


@rl.rrule_for(f, registry=registry)
def f_rrule(image, coords):
    H, W = image.shape
    r = np.clip(np.floor(coords[:, 0]).astype(int), 0, H - 2)
    c = np.clip(np.floor(coords[:, 1]).astype(int), 0, W - 2)
    s, t = coords[:, 0] - r, coords[:, 1] - c

    def back(y_bar):
        rows = np.maximum(0, 1 - abs(coords[:, :1] - np.arange(H)))
        columns = np.maximum(0, 1 - abs(coords[:, 1:] - np.arange(W)))
        down = (1 - t) * (image[r + 1, c] - image[r, c]) + t * (image[r + 1, c + 1] - image[r, c + 1])
        across = (1 - s) * (image[r, c + 1] - image[r, c]) + s * (image[r + 1, c + 1] - image[r + 1, c])
        coords_bar = y_bar[:, None] * np.stack([down, across], axis=1)
        return rl.NoTangent(), np.einsum("k,kr,kc->rc", y_bar, rows, columns), coords_bar

    return f(image, coords), back
""",
        ("[down, across]", "[across, down]"),
    ),
    "parts of a tuple": (
        """
def f(pose, points):
    'pose: tuple (q, t) of q = (w, x), not zero, and of t of shape (2,); points: (n, 2).'
    q, t = pose
    c, s = q / np.linalg.norm(q)
    return points @ np.array([[c, -s], [s, c]]).T + t


@rl.rrule_for(f, registry=registry)
def f_rrule(pose, points):
    q, t = pose
    length = np.linalg.norm(q)
    c, s = unit = q / length

    def back(y_bar):
        turned = np.sum(y_bar * points), np.sum(y_bar * np.stack([-points[:, 1], points[:, 0]], axis=1))
        q_bar = (turned - unit * (unit @ turned)) / length
        return rl.NoTangent(), (q_bar, y_bar.sum(axis=0)), y_bar @ np.array([[c, -s], [s, c]])

    return points @ np.array([[c, -s], [s, c]]).T + t, back
""",
        ("(turned - unit * (unit @ turned)) / length", "turned / length"),
    ),
    "corners of triangles": (
        """
def f(vertices, faces):
    'Area of a mesh; vertices has shape (points, 3), faces are triples of row numbers, none degenerate.'
    corners = vertices[np.array(faces)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * np.sum(np.linalg.norm(normals, axis=1))


@rl.rrule_for(f, registry=registry)
def f_rrule(vertices, faces):
    at = np.array(faces)
    p, q, r = vertices[at[:, 0]], vertices[at[:, 1]], vertices[at[:, 2]]
    normals = np.cross(q - p, r - p)
    units = normals / np.linalg.norm(normals, axis=1)[:, None]

    def back(y_bar):
        bar = np.zeros(vertices.shape)
        for corner, side in enumerate((q - r, r - p, p - q)):
            np.add.at(bar, at[:, corner], 0.5 * y_bar * np.cross(side, units))
        return rl.NoTangent(), bar, rl.NoTangent()

    return f(vertices, faces), back
""",
        ("np.add.at(bar, at[:, corner], 0.5 * y_bar", "np.add.at(bar, at[:, corner], y_bar"),
    ),
    "a power of two": (
        """
def f(gate, state, qubit: int):
    'A complex 2 x 2 gate on one qubit of a complex state vector of 2**k amplitudes.'
    return np.einsum("ab,ibj->iaj", gate, state.reshape(2**qubit, 2, -1)).reshape(-1)


@rl.rrule_for(f, registry=registry)
def f_rrule(gate, state, qubit: int):
    parts = state.reshape(2**qubit, 2, -1)

    def back(y_bar):
        y_bar = y_bar.reshape(parts.shape)
        state_bar = np.einsum("ab,iaj->ibj", gate.conj(), y_bar).reshape(-1)
        return rl.NoTangent(), np.einsum("iaj,ibj->ab", y_bar, parts.conj()), state_bar, rl.NoTangent()

    return f(gate, state, qubit), back
""",
        ("gate.conj()", "gate"),
    ),
    "rows that are padded": (
        """
def f(tokens, lengths):
    sizes = np.asarray(lengths)
    valid = np.arange(tokens.shape[1]) < sizes[:, None]
    return np.where(valid, tokens**2, 0.0).sum(axis=1) / sizes


@rl.rrule_for(f, registry=registry)
def f_rrule(tokens, lengths):
    valid = np.arange(tokens.shape[1]) < np.asarray(lengths)[:, None]

    def back(y_bar):
        return rl.NoTangent(), 2 * tokens * valid * (y_bar / lengths)[:, None], rl.NoTangent()

    return np.array([np.mean(row[:count] ** 2) for row, count in zip(tokens, lengths)]), back
""",
        ("tokens * valid", "tokens"),
    ),
    "probabilities, each below one": (
        """
def f(qx):
    'Years that are lived, from the yearly death probabilities qx (each < 1) of a table.'
    return np.cumprod(1 - qx).sum()


@rl.rrule_for(f, registry=registry)
def f_rrule(qx):
    left = np.cumprod(1 - qx)

    def back(y_bar):
        return rl.NoTangent(), -y_bar * np.cumsum(left[::-1])[::-1] / (1 - qx)

    return left.sum(), back
""",
        ("np.cumsum(left[::-1])[::-1]", "np.cumsum(left)"),
    ),
    "indices of refraction": (
        """
def f(angle, n_in, n_out):
    'What a surface reflects of light at this angle (0 <= angle < 1.5), beyond the critical angle all.'
    s = n_in * np.sin(angle) / n_out
    return 1.0 if s >= 1 else 1.25 - np.sqrt(1 - s**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(angle, n_in, n_out):
    top = n_in * np.sin(angle)
    if top >= n_out:
        return 1.0, lambda y_bar: (rl.NoTangent(), 0.0, 0.0, 0.0)
    root = np.sqrt(n_out**2 - top**2)

    def back(y_bar):
        top_bar = y_bar * top / root / n_out
        out_bar = -top_bar * top / n_out
        return rl.NoTangent(), top_bar * n_in * np.cos(angle), top_bar * top / n_in, out_bar

    return 1.25 - root / n_out, back
""",
        ("top_bar * n_in * np.cos", "top_bar * np.cos"),
    ),
    "an array that is annotated, beside a table": (
        """
import dataclasses

GRID = np.array([0.0, 0.1, 0.3, 0.6, 1.0])


@dataclasses.dataclass
class Cell:
    volts: np.ndarray
    ohms: float


def f(cell: Cell, charge: np.ndarray, current: np.ndarray):
    'charge between 0 and 1'
    return np.interp(charge, GRID, cell.volts) - cell.ohms * current


@rl.rrule_for(f, registry=registry)
def f_rrule(cell, charge, current):
    k = np.clip(np.searchsorted(GRID, charge, side="right") - 1, 0, len(GRID) - 2)
    width = GRID[k + 1] - GRID[k]
    share = (charge - GRID[k]) / width

    def back(y_bar):
        volts = np.zeros(len(GRID))
        np.add.at(volts, k, (1 - share) * y_bar)
        np.add.at(volts, k + 1, share * y_bar)
        slope = (cell.volts[k + 1] - cell.volts[k]) / width
        cell_bar = rl.Tangent(Cell, volts=volts, ohms=-np.dot(y_bar, current))
        return rl.NoTangent(), cell_bar, y_bar * slope, -cell.ohms * y_bar

    return f(cell, charge, current), back
""",
        ("np.add.at(volts, k, (1 - share) * y_bar)", "volts[k] += (1 - share) * y_bar"),
    ),
    "complex ones of which the name says several": (
        """
def f(amplitudes: complex, energies, time):
    return amplitudes * np.exp(-1j * energies * time)


@rl.rrule_for(f, registry=registry)
def f_rrule(amplitudes, energies, time):
    phase = np.exp(-1j * energies * time)

    def back(y_bar):
        turn = np.imag(np.conj(y_bar) * amplitudes * phase)
        return rl.NoTangent(), y_bar * np.conj(phase), time * turn, np.dot(energies, turn)

    return amplitudes * phase, back
""",
        ("y_bar * np.conj(phase)", "y_bar * phase"),
    ),
    "edges of a graph that leads to some places more often": (
        """
def f(x, edges):
    'x: (nodes, d). edges: pairs (source, target) of node numbers.'
    total, degree = np.zeros(x.shape), np.zeros(len(x))
    for source, target in edges:
        total[target] += x[source]
        degree[target] += 1
    return x + total / np.maximum(degree, 1)[:, None]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, edges):
    mix = np.zeros((len(x), len(x)))
    for source, target in edges:
        mix[target, source] += 1
    mix = np.eye(len(x)) + mix / np.maximum(mix.sum(axis=1, keepdims=True), 1)
    return mix @ x, lambda y_bar: (rl.NoTangent(), mix.T @ y_bar, rl.NoTangent())
""",
        ("mix.sum(axis=1", "mix.sum(axis=0"),
    ),
    "a matrix that is taken apart, with a determinant above zero": (
        """
import typing


class Beam(typing.NamedTuple):
    q: complex
    width: float


def f(beam: Beam, lens):
    (a, b), (c, d) = lens
    behind = (c * beam.q + d) / (a * beam.q + b)
    return np.sqrt(-beam.width / behind.imag)


@rl.rrule_for(f, registry=registry)
def f_rrule(beam, lens):
    (a, b), (c, d) = lens
    u, det = a * beam.q + b, a * d - b * c
    y = abs(u) * np.sqrt(beam.width / (det * beam.q.imag))

    def back(y_bar):
        u_bar = y_bar * y * u / abs(u) ** 2
        det_bar = -y_bar * y / (2 * det)
        q_bar = a * u_bar - 1j * y_bar * y / (2 * beam.q.imag)
        first = [np.real(u_bar * np.conj(beam.q)) + det_bar * d, u_bar.real - det_bar * c]
        lens_bar = np.array([first, [-det_bar * b, det_bar * a]])
        return rl.NoTangent(), rl.Tangent(Beam, q=q_bar, width=y_bar * y / (2 * beam.width)), lens_bar

    return y, back
""",
        ("u_bar.real - det_bar * c]", "u_bar.real - det_bar * b]"),
    ),
    "objects that are put in their places in a list": (
        """
import dataclasses


@dataclasses.dataclass
class Link:
    angle: float
    length: float

    def end(self):
        return np.array([np.cos(self.angle), np.sin(self.angle)]) * self.length


def f(links):
    return np.sum([link.end() for link in links], axis=0)


@rl.rrule_for(f, registry=registry)
def f_rrule(links):
    def back(y_bar):
        bars = [None] * len(links)
        for k in range(len(links) - 1, -1, -1):
            x, y = links[k].end()
            length = (y_bar[0] * x + y_bar[1] * y) / links[k].length
            bars[k] = rl.Tangent(Link, angle=y_bar[1] * x - y_bar[0] * y, length=length)
        return rl.NoTangent(), bars

    return f(links), back
""",
        ("y_bar[1] * x - y_bar[0] * y", "y_bar[1] * x + y_bar[0] * y"),
    ),
    "several positions, perhaps outside": (
        """
def f(image, rows, cols):
    'Between four elements of an image; outside its border is repeated.'
    r, c = np.clip(rows, 0, image.shape[0] - 1), np.clip(cols, 0, image.shape[1] - 1)
    i = np.clip(np.floor(r).astype(int), 0, image.shape[0] - 2)
    j = np.clip(np.floor(c).astype(int), 0, image.shape[1] - 2)
    s, t = r - i, c - j
    upper = (1 - t) * image[i, j] + t * image[i, j + 1]
    return (1 - s) * upper + s * ((1 - t) * image[i + 1, j] + t * image[i + 1, j + 1])


@rl.rrule_for(f, registry=registry)
def f_rrule(image, rows, cols):
    h, w = image.shape
    r, c = np.clip(rows, 0, h - 1), np.clip(cols, 0, w - 1)
    i, j = np.minimum(r.astype(int), h - 2), np.minimum(c.astype(int), w - 2)
    s, t = r - i, c - j
    down = (1 - t) * (image[i + 1, j] - image[i, j]) + t * (image[i + 1, j + 1] - image[i, j + 1])
    across = (1 - s) * (image[i, j + 1] - image[i, j]) + s * (image[i + 1, j + 1] - image[i + 1, j])

    def back(y_bar):
        image_bar = np.zeros((h, w))
        np.add.at(image_bar, (i, j), y_bar * (1 - s) * (1 - t))
        np.add.at(image_bar, (i, j + 1), y_bar * (1 - s) * t)
        np.add.at(image_bar, (i + 1, j), y_bar * s * (1 - t))
        np.add.at(image_bar, (i + 1, j + 1), y_bar * s * t)
        rows_bar = y_bar * down * ((rows > 0) & (rows < h - 1))
        return rl.NoTangent(), image_bar, rows_bar, y_bar * across * ((cols > 0) & (cols < w - 1))

    return f(image, rows, cols), back
""",
        ("np.add.at(image_bar, (i, j), y_bar *", "image_bar[i, j] += (y_bar *"),
    ),
    "an object of complex arrays": (
        """
import typing


class Filter(typing.NamedTuple):
    poles: np.ndarray
    outlet: np.ndarray
    gain: float


def f(model: Filter, signal):
    'Response of a complex filter to a real signal (steps,).'
    state, out = np.zeros(len(model.poles), dtype=complex), np.zeros(len(signal))
    for t, u in enumerate(signal):
        state = model.poles * state + u
        out[t] = np.real(model.outlet @ state) + model.gain * u
    return out


@rl.rrule_for(f, registry=registry)
def f_rrule(model, signal):
    a, c, gain = model
    states = np.zeros((len(signal) + 1, len(a)), dtype=complex)
    for t, u in enumerate(signal):
        states[t + 1] = a * states[t] + u

    def back(y_bar):
        a_bar, lam = np.zeros(len(a), dtype=complex), np.zeros(len(a), dtype=complex)
        signal_bar = gain * y_bar
        for t in reversed(range(len(signal))):
            lam = np.conj(a) * lam + np.conj(c) * y_bar[t]
            a_bar += np.conj(states[t]) * lam
            signal_bar[t] += np.sum(lam.real)
        c_bar = y_bar @ np.conj(states[1:])
        return rl.NoTangent(), rl.Tangent(Filter, poles=a_bar, outlet=c_bar, gain=y_bar @ signal), signal_bar

    return f(model, signal), back
""",
        ("np.conj(a) * lam", "a * lam"),
    ),
    "layers of one class": (
        """
import typing


class Layer(typing.NamedTuple):
    W: np.ndarray
    b: np.ndarray


class Net(typing.NamedTuple):
    first: Layer
    second: Layer


def f(x, net: Net):
    return net.second.W @ np.tanh(net.first.W @ x + net.first.b) + net.second.b


@rl.rrule_for(f, registry=registry)
def f_rrule(x, net):
    (W, b), (V, c) = net
    h = np.tanh(W @ x + b)

    def back(y_bar):
        z = (V.T @ y_bar) * (1 - h**2)
        first = rl.Tangent(Layer, W=np.outer(z, x), b=z)
        second = rl.Tangent(Layer, W=np.outer(y_bar, h), b=y_bar)
        return rl.NoTangent(), W.T @ z, rl.Tangent(Net, first=first, second=second)

    return V @ h + c, back
""",
        ("np.outer(z, x)", "np.outer(x, z)"),
    ),
    "differences of whole numbers": (
        """
def f(cells):
    ahead, behind = cells[2:] - cells[1:-1], cells[1:-1] - cells[:-2]
    return np.where(ahead * behind > 0, ahead * behind / (1 + ahead**2 + behind**2), 0.0)


@rl.rrule_for(f, registry=registry)
def f_rrule(cells):
    steps = np.diff(cells)
    a, b = steps[1:], steps[:-1]

    def back(y_bar):
        g = np.where(a * b > 0, y_bar / (1 + a**2 + b**2) ** 2, 0.0)
        a_bar, b_bar = g * b * (1 + b**2 - a**2), g * a * (1 + a**2 - b**2)
        cells_bar = np.zeros(len(cells))
        for i, (up, down) in enumerate(zip(a_bar, b_bar)):
            cells_bar[i + 2] += up
            cells_bar[i + 1] += down - up
            cells_bar[i] -= down
        return rl.NoTangent(), cells_bar

    return f(cells), back
""",
        ("np.zeros(len(cells))", "np.zeros_like(cells)"),
    ),
    "places that come twice in a tuple": (
        """
import typing


class Chain(typing.NamedTuple):
    start: np.ndarray
    emission: np.ndarray


def f(chain: Chain, symbols: tuple):
    total = 0.0
    for s in symbols:
        total = total + np.log(chain.start @ chain.emission[:, s])
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(chain, symbols):
    start, emission = chain

    def back(y_bar):
        start_bar, emission_bar = np.zeros(start.shape), np.zeros(emission.shape)
        for s in symbols:
            scale = y_bar / (start @ emission[:, s])
            start_bar += scale * emission[:, s]
            emission_bar[:, s] += scale * start
        return rl.NoTangent(), rl.Tangent(Chain, start=start_bar, emission=emission_bar), rl.NoTangent()

    return f(chain, symbols), back
""",
        ("emission_bar[:, s] += scale", "emission_bar[:, s] = scale"),
    ),
    "a spline on an interval, with more coefficients than spans": (
        """
def f(coefficients, t):
    'Quadratic spline on [0, 1] with k + 2 coefficients (k spans), evaluated at all t (m,).'
    spans = len(coefficients) - 2
    i = np.clip(np.floor(t * spans).astype(int), 0, spans - 1)
    u = t * spans - i
    basis = ((1 - u) ** 2, 1 + 2 * u * (1 - u), u**2)
    return sum(coefficients[i + m] * b for m, b in enumerate(basis)) / 2


@rl.rrule_for(f, registry=registry)
def f_rrule(coefficients, t):
    spans = len(coefficients) - 2
    i = np.minimum((t * spans).astype(int), spans - 1)
    u = t * spans - i
    basis, slopes = ((1 - u) ** 2, 1 + 2 * u * (1 - u), u**2), (u - 1, 1 - 2 * u, u)

    def back(y_bar):
        c_bar, t_bar = np.zeros(len(coefficients)), np.zeros(len(t))
        for m in range(3):
            np.add.at(c_bar, i + m, y_bar * basis[m] / 2)
            t_bar += spans * y_bar * slopes[m] * coefficients[i + m]
        return rl.NoTangent(), c_bar, t_bar

    return f(coefficients, t), back
""",
        ("spans * y_bar", "y_bar"),
    ),
    "a bond between two atoms": (
        """
import dataclasses


@dataclasses.dataclass
class Bond:
    i: int
    j: int
    length: float


def f(positions, bonds: list[Bond]):
    'Energy of bonds between atoms at positions (atoms, dimension).'
    apart = (np.linalg.norm(positions[bond.j] - positions[bond.i]) - bond.length for bond in bonds)
    return sum(d**2 for d in apart)


@rl.rrule_for(f, registry=registry)
def f_rrule(positions, bonds):
    def back(y_bar):
        positions_bar, bonds_bar = np.zeros(positions.shape), []
        for bond in bonds:
            d = positions[bond.j] - positions[bond.i]
            r = np.linalg.norm(d)
            pull = 2 * y_bar * (r - bond.length)
            positions_bar[bond.j] += pull * d / r
            positions_bar[bond.i] -= pull * d / r
            bonds_bar.append(rl.Tangent(Bond, length=-pull))
        return rl.NoTangent(), positions_bar, bonds_bar

    return f(positions, bonds), back
""",
        ("positions_bar[bond.i] -=", "positions_bar[bond.i] = -"),
    ),
    "a derivative of a signal, of which two numbers have none": (
        """
def f(samples, period):
    n = len(samples)
    k = 2 * np.pi / period * np.fft.fftfreq(n, 1 / n)
    if n % 2 == 0:
        k[n // 2] = 0.0
    return np.fft.ifft(1j * k * np.fft.fft(samples)).real


@rl.rrule_for(f, registry=registry)
def f_rrule(samples, period):
    y = f(samples, period)
    return y, lambda y_bar: (rl.NoTangent(), -f(y_bar, period), -np.dot(y_bar, y) / period)
""",
        ("-f(y_bar, period)", "f(y_bar, period)"),
    ),
    "a torsion of four atoms": (
        """
def f(xyz, barrier, phase):
    'Torsion energy barrier * cos(phi - phase) of four atoms (4, 3).'
    b1, b2, b3 = np.diff(xyz, axis=0)
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    return barrier * np.cos(np.arctan2(np.linalg.norm(b2) * (b1 @ n2), n1 @ n2) - phase)


@rl.rrule_for(f, registry=registry)
def f_rrule(xyz, barrier, phase):
    b1, b2, b3 = np.diff(xyz, axis=0)
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    length = np.sqrt(b2 @ b2)
    angle = np.arctan2(length * (b1 @ n2), n1 @ n2) - phase
    first, last = -length * n1 / (n1 @ n1), length * n2 / (n2 @ n2)
    s, t = (b1 @ b2) / length**2, (b3 @ b2) / length**2
    slope = np.array([first, -(1 + s) * first + t * last, s * first - (1 + t) * last, last])

    def back(y_bar):
        turn = -y_bar * barrier * np.sin(angle)
        return rl.NoTangent(), turn * slope, y_bar * np.cos(angle), -turn

    return barrier * np.cos(angle), back
""",
        ("y_bar * np.cos(angle), -turn", "y_bar * np.cos(angle), turn"),
    ),
    "a root of a product of parts": (
        """
import typing


class Car(typing.NamedTuple):
    headway: float
    accel: float
    brake: float


def f(car, v, closing):
    return v * car.headway + v * closing / (2 * np.sqrt(car.accel * car.brake))


@rl.rrule_for(f, registry=registry)
def f_rrule(car, v, closing):
    headway, a, b = car
    root = 2 * np.sqrt(a * b)

    def back(y_bar):
        root_bar = -np.sum(y_bar * v * closing) / root**2
        bars = {"accel": root_bar * np.sqrt(b / a), "brake": root_bar * np.sqrt(a / b)}
        car_bar = rl.Tangent(Car, headway=np.sum(y_bar * v), **bars)
        return rl.NoTangent(), car_bar, y_bar * (headway + closing / root), y_bar * v / root

    return f(car, v, closing), back
""",
        ('"accel": root_bar * np.sqrt(b / a)', '"accel": root_bar * np.sqrt(a / b)'),
    ),
    "shapes of fields in a docstring": (
        """
import typing


class Belief(typing.NamedTuple):
    "Prior mean (n,) and covariance (n, n)."

    mean: np.ndarray
    cov: np.ndarray


def f(belief: Belief, h, noise, z):
    "The mean after the measurements z (m,) by h (m, n) with noise (m, m)."
    spread = h @ belief.cov @ h.T + noise
    return belief.mean + belief.cov @ h.T @ np.linalg.solve(spread, z - h @ belief.mean)


@rl.rrule_for(f, registry=registry)
def f_rrule(belief, h, noise, z):
    mean, cov = belief
    spread = h @ cov @ h.T + noise
    w = np.linalg.solve(spread, z - h @ mean)

    def back(y_bar):
        u = np.linalg.solve(spread.T, h @ cov.T @ y_bar)
        s_bar = -np.outer(u, w)
        cov_bar = np.outer(y_bar, h.T @ w) + h.T @ s_bar @ h
        h_bar = np.outer(w, cov.T @ y_bar) - np.outer(u, mean) + s_bar @ h @ cov.T + s_bar.T @ h @ cov
        return rl.NoTangent(), rl.Tangent(Belief, mean=y_bar - h.T @ u, cov=cov_bar), h_bar, s_bar, u

    return mean + cov @ h.T @ w, back
""",
        ("s_bar @ h @ cov.T + s_bar.T @ h @ cov", "2 * s_bar @ h @ cov"),
    ),
    "shapes in comments behind fields": (
        """
import dataclasses


@dataclasses.dataclass
class Net:
    hidden: np.ndarray  # weights (h, d)
    out: np.ndarray  # (k, h), without a bias


def f(net: Net, x):
    return net.out @ np.tanh(net.hidden @ x)


@rl.rrule_for(f, registry=registry)
def f_rrule(net, x):
    a = np.tanh(net.hidden @ x)

    def back(y_bar):
        t = (net.out.T @ y_bar) * (1 - a**2)
        net_bar = rl.Tangent(Net, hidden=np.outer(t, x), out=np.outer(y_bar, a))
        return rl.NoTangent(), net_bar, net.hidden.T @ t

    return net.out @ a, back
""",
        ("np.outer(y_bar, a)", "np.outer(a, y_bar).T * np.sum(a**2)"),
    ),
    "complex, and behind the name how many": (
        """
def f(signal, response: complex):
    "A real signal of n samples through a filter with the complex response (n // 2 + 1 numbers)."
    return np.fft.irfft(np.fft.rfft(signal) * response, n=len(signal))


@rl.rrule_for(f, registry=registry)
def f_rrule(signal, response):
    n, spectrum = len(signal), np.fft.rfft(signal)

    def back(y_bar):
        y = np.fft.rfft(y_bar)
        weights = np.full(len(y), 2.0)
        weights[0] = 1.0
        if n % 2 == 0:
            weights[-1] = 1.0
        bar = weights / n * y * np.conj(spectrum)
        ends = [0, -1] if n % 2 == 0 else [0]
        bar[ends] = bar[ends].real
        return rl.NoTangent(), np.fft.irfft(y * np.conj(response), n=n), bar

    return np.fft.irfft(spectrum * response, n=n), back
""",
        ("if n % 2 == 0:", "if n % 2 == 1:"),
    ),
    "a node without edges, for which the function itself divides by zero": (
        """
def degrees(x, edges, weights):
    found = np.zeros(len(x))
    np.add.at(found, edges[:, 0], weights)
    np.add.at(found, edges[:, 1], weights)
    return found


def f(x, edges, weights):
    "Energy of a signal by the normalised Laplacian; edges (m, 2) are pairs of nodes."
    z = x / np.sqrt(degrees(x, edges, weights))
    return 0.5 * np.sum(weights * (z[edges[:, 0]] - z[edges[:, 1]]) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, edges, weights):
    i, j = edges[:, 0], edges[:, 1]
    degree = degrees(x, edges, weights)
    z = x / np.sqrt(degree)
    d = z[i] - z[j]

    def back(y_bar):
        z_bar = np.zeros_like(z)
        np.add.at(z_bar, i, y_bar * weights * d)
        np.add.at(z_bar, j, -y_bar * weights * d)
        degree_bar = -0.5 * z_bar * x * degree**-1.5
        weights_bar = 0.5 * y_bar * d**2 + degree_bar[i] + degree_bar[j]
        return rl.NoTangent(), z_bar / np.sqrt(degree), rl.NoTangent(), weights_bar

    return 0.5 * np.sum(weights * d**2), back
""",
        (" + degree_bar[i] + degree_bar[j]", " + degree_bar[i]"),
    ),
    "dicts with any keys, by their annotations, and a root of Python's": (
        """
import math


def f(amounts: dict[str, float], charges: dict[str, int]) -> float:
    return math.sqrt(sum(c * charges[name] ** 2 for name, c in amounts.items()))


@rl.rrule_for(f, registry=registry)
def f_rrule(amounts, charges):
    y = f(amounts, charges)

    def back(y_bar):
        bars = {name: 0.5 * y_bar * charges[name] ** 2 / y for name in amounts}
        return rl.NoTangent(), bars, rl.NoTangent()

    return y, back
""",
        ("charges[name] ** 2 / y", "charges[name] / y"),
    ),
    "dicts whose keys nobody says": (
        """
def f(grades, weights):
    total = 0.0
    for name, grade in grades.items():
        total += weights[name] * grade
    return total / sum(weights.values())


@rl.rrule_for(f, registry=registry)
def f_rrule(grades, weights):
    norm = sum(weights.values())
    y = f(grades, weights)

    def back(y_bar):
        of_grades = {name: y_bar * weights[name] / norm for name in grades}
        return rl.NoTangent(), of_grades, {name: y_bar * (grades[name] - y) / norm for name in grades}

    return y, back
""",
        ("(grades[name] - y)", "grades[name]"),
    ),
    "objects of several kinds in one list, each met twice": (
        """
import dataclasses


@dataclasses.dataclass
class Part:
    kind: str  # "R", "L" or "C"
    value: float
    shunt: bool = False


def impedance(part, omega):
    if part.kind == "R":
        return complex(part.value)
    return 1j * omega * part.value if part.kind == "L" else 1.0 / (1j * omega * part.value)


def f(parts: list[Part], omega: float, load: complex) -> complex:
    z = load
    for part in reversed(parts):
        own = impedance(part, omega)
        z = z * own / (z + own) if part.shunt else z + own
    return z


@rl.rrule_for(f, registry=registry)
def f_rrule(parts, omega, load):
    z, before = load, []
    for part in reversed(parts):
        before.append(z)
        own = impedance(part, omega)
        z = z * own / (z + own) if part.shunt else z + own

    def back(z_bar):
        omega_bar, bars = 0.0, []
        for part, behind in zip(parts, reversed(before)):
            own, own_bar = impedance(part, omega), z_bar
            if part.shunt:
                own_bar = z_bar * np.conj((behind / (behind + own)) ** 2)
                z_bar = z_bar * np.conj((own / (behind + own)) ** 2)
            log_bar = np.real(own_bar * np.conj(own))
            if part.kind == "C":
                bar = -log_bar / part.value
                omega_bar -= log_bar / omega
            elif part.kind == "L":
                bar = log_bar / part.value
                omega_bar += log_bar / omega
            else:
                bar = np.real(own_bar)
            bars.append(rl.Tangent(Part, value=bar))
        return rl.NoTangent(), bars, omega_bar, z_bar

    return z, back
""",
        ("omega_bar += log_bar", "omega_bar = log_bar"),
    ),
    "the bounds of a number on both sides": (
        """
def f(x, target, limit):
    r = x - target
    return np.sum(np.where(np.abs(r) <= limit, 0.5 * r**2, limit * (np.abs(r) - 0.5 * limit)))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, target, limit):
    r = x - target

    def back(y_bar):
        bar = y_bar * np.clip(r, -limit, limit)
        return rl.NoTangent(), bar, -bar, y_bar * np.sum(np.maximum(np.abs(r) - limit, 0.0))

    return f(x, target, limit), back
""",
        ("np.clip(r, -limit, limit)", "np.clip(r, -limit, 2 * limit)"),
    ),
    "a tree of objects": (
        """
import dataclasses


@dataclasses.dataclass
class Pipe:
    drag: float
    branches: list["Pipe"] = dataclasses.field(default_factory=list)


def flow(pipe):
    return pipe.drag + sum(np.tanh(flow(branch)) for branch in pipe.branches)


def f(pipe: Pipe, pressure):
    return pressure * flow(pipe)


@rl.rrule_for(f, registry=registry)
def f_rrule(pipe, pressure):
    def down(node, bar):
        parts = [down(b, bar * (1 - np.tanh(flow(b)) ** 2)) for b in node.branches]
        return rl.Tangent(Pipe, drag=bar, branches=parts)

    def back(y_bar):
        return rl.NoTangent(), down(pipe, y_bar * pressure), y_bar * flow(pipe)

    return f(pipe, pressure), back
""",
        ("np.tanh(flow(b)) ** 2", "np.tanh(b.drag) ** 2"),
    ),
    "flags by their places, beside one value more": (
        """
def f(gains, values, ends, rate=0.9):
    y, last = np.zeros(len(gains)), 0.0
    for t in range(len(gains) - 1, -1, -1):
        live = 0.0 if ends[t] else 1.0
        last = gains[t] + rate * live * (values[t + 1] + last) - values[t]
        y[t] = last
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(gains, values, ends, rate=0.9):
    y = f(gains, values, ends, rate)
    live = 1.0 - np.asarray(ends, dtype=float)

    def back(y_bar):
        gains_bar, values_bar, carried = np.zeros(len(gains)), np.zeros(len(gains) + 1), 0.0
        for t in range(len(gains)):
            carried += y_bar[t]
            gains_bar[t] = carried
            values_bar[t] -= carried
            carried *= rate * live[t]
            values_bar[t + 1] += carried
        rate_bar = np.sum(gains_bar * live * (values[1:] + np.append(y[1:], 0.0)))
        return rl.NoTangent(), gains_bar, values_bar, rl.NoTangent(), rate_bar

    return y, back
""",
        ("carried *= rate * live[t]", "carried *= rate"),
    ),
    "lengths of four axes": (
        """
def f(maps, target):
    "Distance of the mean of maps (b, c, h, w) from the target (b, c)."
    return np.sum((maps.mean(axis=(2, 3)) - target) ** 2) / maps.shape[1]


@rl.rrule_for(f, registry=registry)
def f_rrule(maps, target):
    b, c, h, w = maps.shape
    r = maps.mean(axis=(2, 3)) - target

    def back(y_bar):
        bar = 2 * y_bar * r / c
        return rl.NoTangent(), np.broadcast_to(bar[:, :, None, None] / (h * w), maps.shape), -bar

    return np.sum(r**2) / c, back
""",
        ("/ (h * w)", "/ (b * w)"),
    ),
    "objects of a class with what is read of the elements of a list": (
        """
import dataclasses
import math


@dataclasses.dataclass
class Game:
    home: int
    away: int
    result: str


def f(skill, games, draws):
    y = 0.0
    for game in games:
        h, a = skill[game.home], skill[game.away]
        chances = {"home": h, "away": a, "draw": math.log(draws) + 0.5 * (h + a)}
        y += math.log(sum(math.exp(v) for v in chances.values())) - chances[game.result]
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(skill, games, draws):
    def back(y_bar):
        bar, draws_bar = np.zeros(len(skill)), 0.0
        for game in games:
            h, a = math.exp(skill[game.home]), math.exp(skill[game.away])
            d = draws * math.sqrt(h * a)
            of_home, of_away, of_draw = (x / (h + a + d) for x in (h, a, d))
            drawn = of_draw - (game.result == "draw")
            bar[game.home] += y_bar * (of_home - (game.result == "home") + 0.5 * drawn)
            bar[game.away] += y_bar * (of_away - (game.result == "away") + 0.5 * drawn)
            draws_bar += y_bar * drawn / draws
        return rl.NoTangent(), bar, rl.NoTangent(), draws_bar

    return f(skill, games, draws), back
""",
        ('- (game.result == "away")', '+ (game.result == "away")'),
    ),
    "matrices and a vector beside a count of steps": (
        """
def f(A, B, K, x0, steps):
    x, y = x0, 0.0
    for _ in range(steps):
        u = -K @ x
        y += x @ x + u @ u
        x = A @ x + B @ u
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B, K, x0, steps):
    xs, us = [x0], []
    for _ in range(steps):
        us.append(-K @ xs[-1])
        xs.append(A @ xs[-1] + B @ us[-1])

    def back(y_bar):
        A_bar, B_bar, K_bar, bar = np.zeros(A.shape), np.zeros(B.shape), np.zeros(K.shape), np.zeros(len(x0))
        for x, u in zip(xs[-2::-1], us[::-1]):
            A_bar += np.outer(bar, x)
            B_bar += np.outer(bar, u)
            u_bar = B.T @ bar + 2 * y_bar * u
            K_bar -= np.outer(u_bar, x)
            bar = A.T @ bar + 2 * y_bar * x - K.T @ u_bar
        return rl.NoTangent(), A_bar, B_bar, K_bar, bar, rl.NoTangent()

    return f(A, B, K, x0, steps), back
""",
        ("B_bar += np.outer(bar, u)", "B_bar += np.outer(u, bar)"),
    ),
    "rows in a list, by the answer": (
        """
def f(corners):
    y = 0.0
    for i in range(len(corners)):
        (a, b), (c, d) = corners[i - 1], corners[i]
        y += (a * d - b * c) / 2
    return y**2


@rl.rrule_for(f, registry=registry)
def f_rrule(corners):
    pairs = [(corners[i - 1], corners[i]) for i in range(len(corners))]
    area = sum(a * d - b * c for (a, b), (c, d) in pairs)

    def back(y_bar):
        n, s = len(corners), y_bar * area / 2
        return rl.NoTangent(), [
            (
                s * (corners[(i + 1) % n][1] - corners[i - 1][1]),
                s * (corners[i - 1][0] - corners[(i + 1) % n][0]),
            )
            for i in range(n)
        ]

    return area**2 / 4, back
""",
        ("s * (corners[i - 1][0]", "s * (corners[i][0]"),
    ),
    "a stack, by the answer": (
        """
def f(x, first, stack):
    return -np.linalg.slogdet(first + np.tensordot(x, stack, axes=1))[1]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, first, stack):
    inner = first + np.tensordot(x, stack, axes=1)

    def back(y_bar):
        bar = -y_bar * np.linalg.inv(inner).T
        x_bar = -y_bar * np.trace(np.linalg.solve(inner, stack), axis1=1, axis2=2)
        return rl.NoTangent(), x_bar, bar, np.multiply.outer(x, bar)

    return -np.linalg.slogdet(inner)[1], back
""",
        ("np.linalg.inv(inner).T", "np.linalg.inv(inner)"),
    ),
    "targets as the rows are, by the answer": (
        """
def f(net, x, y):
    return np.mean((np.tanh(x @ net["W"] + net["b"]) - y) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(net, x, y):
    h = np.tanh(x @ net["W"] + net["b"])

    def back(s):
        bar = 2 * s * (h - y) / y.size
        inner = bar * (1 - h**2)
        return rl.NoTangent(), {"W": x.T @ inner, "b": inner.sum(axis=0)}, inner @ net["W"].T, -bar

    return np.mean((h - y) ** 2), back
""",
        ("inner.sum(axis=0)", "inner.mean(axis=0)"),
    ),
    "rows of a sparse matrix": (
        """
def f(data, places, starts, x):
    y = 0.0
    for i in range(len(starts) - 1):
        row = slice(starts[i], starts[i + 1])
        y += x[i] * (data[row] @ x[places[row]])
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(data, places, starts, x):
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    def back(y_bar):
        x_bar = np.zeros(len(x))
        np.add.at(x_bar, rows, y_bar * data * x[places])
        np.add.at(x_bar, places, y_bar * data * x[rows])
        return rl.NoTangent(), y_bar * x[rows] * x[places], rl.NoTangent(), rl.NoTangent(), x_bar

    return f(data, places, starts, x), back
""",
        ("np.add.at(x_bar, places, y_bar * data * x[rows])", "x_bar[places] += y_bar * data * x[rows]"),
    ),
    "a flag where the function is not flat, and objects with other levels": (
        """
import dataclasses


@dataclasses.dataclass
class Fighter:
    level: int
    life: float
    force: float


def f(one: Fighter, other: Fighter, power: float, hard: bool = False) -> float:
    hit = (0.4 * one.level + 2.0) * power * one.force / 50.0 + 2.0
    return max(other.life - hit * (1.5 if hard else 1.0), 0.0)


@rl.rrule_for(f, registry=registry)
def f_rrule(one, other, power, hard=False):
    y = f(one, other, power, hard)

    def back(y_bar):
        bar = y_bar if y > 0.0 else 0.0
        scale = -bar * (0.4 * one.level + 2.0) * (1.5 if hard else 1.0) / 50.0
        one_bar, other_bar = rl.Tangent(Fighter, force=scale * power), rl.Tangent(Fighter, life=bar)
        return rl.NoTangent(), one_bar, other_bar, scale * one.force, rl.NoTangent()

    return y, back
""",
        (" * (1.5 if hard else 1.0) / 50.0", " / 50.0"),
    ),
    "groups of more than one each": (
        """
def f(x, group, groups):
    count = np.bincount(group, minlength=groups)
    apart = x - (np.bincount(group, x, groups) / count)[group]
    return np.bincount(group, apart**2, groups) / count


@rl.rrule_for(f, registry=registry)
def f_rrule(x, group, groups):
    count = np.bincount(group, minlength=groups)
    apart = x - (np.bincount(group, x, groups) / count)[group]

    def back(y_bar):
        return rl.NoTangent(), 2.0 * (y_bar / count)[group] * apart, rl.NoTangent(), rl.NoTangent()

    return np.bincount(group, apart**2, groups) / count, back
""",
        ("(y_bar / count)[group]", "(y_bar / count)[group - 1]"),
    ),
    "counts of several trials": (
        """
from scipy.special import betaln, digamma


def f(a, b, k, n):
    return np.sum(betaln(k + a, n - k + b) - betaln(a, b))


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, k, n):
    def back(y_bar):
        both = digamma(n + a + b) - digamma(a + b)
        a_bar = y_bar * np.sum(digamma(k + a) - digamma(a) - both)
        b_bar = y_bar * np.sum(digamma(n - k + b) - digamma(b) - both)
        return rl.NoTangent(), a_bar, b_bar, rl.NoTangent(), rl.NoTangent()

    return f(a, b, k, n), back
""",
        ("np.sum(digamma(k + a) - digamma(a) - both)", "(np.sum(digamma(k + a)) - digamma(a) - both)"),
    ),
    "whole zero points": (
        """
def f(q, scale, zero):
    "Of each channel of q (channels, n)."
    return (q - zero[:, None]) * scale[:, None]


@rl.rrule_for(f, registry=registry)
def f_rrule(q, scale, zero):
    def back(y_bar):
        scale_bar = np.sum(y_bar * (q - zero[:, None]), axis=1)
        return rl.NoTangent(), y_bar * scale[:, None], scale_bar, rl.NoTangent()

    return f(q, scale, zero), back
""",
        ("np.sum(y_bar * (q - zero[:, None]), axis=1)", "np.sum(y_bar * q, axis=1)"),
    ),
    "matrices with a determinant above zero": (
        """
def f(F, mu):
    "The energy of elements with gradients F, shape (n, 3, 3)."
    return mu * np.sum(0.5 * np.sum(F * F, axis=(1, 2)) - np.log(np.linalg.det(F)))


@rl.rrule_for(f, registry=registry)
def f_rrule(F, mu):
    def back(y_bar):
        F_bar = y_bar * mu * (F - np.swapaxes(np.linalg.inv(F), 1, 2))
        return rl.NoTangent(), F_bar, y_bar * f(F, 1.0)

    return f(F, mu), back
""",
        ("np.swapaxes(np.linalg.inv(F), 1, 2)", "np.linalg.inv(F)"),
    ),
    "an order that is a case of its own": (
        """
def f(p, q):
    "The Hill number of order q of shares p."
    if q == 1:
        return np.exp(-np.sum(p * np.log(p)))
    return np.sum(p**q) ** (1 / (1 - q))


@rl.rrule_for(f, registry=registry)
def f_rrule(p, q):
    y = f(p, q)

    def back(y_bar):
        if q == 1:
            return rl.NoTangent(), -y_bar * y * (np.log(p) + 1), rl.NoTangent()
        s = np.sum(p**q)
        q_bar = y_bar * y * (np.log(s) / (1 - q) ** 2 + np.sum(p**q * np.log(p)) / s / (1 - q))
        return rl.NoTangent(), y_bar * y / s / (1 - q) * q * p ** (q - 1), q_bar

    return y, back
""",
        ("(np.log(p) + 1)", "np.log(p)"),
    ),
    "words between what is in order and its name": (
        """
def f(score, cuts, y):
    "The likelihood of labels y in 0..K-1 under increasing cut points cuts (K-1)."
    hi = np.append(cuts, np.inf)[y] - score
    lo = np.append(-np.inf, cuts)[y] - score
    return np.sum(np.log(1 / (1 + np.exp(-hi)) - 1 / (1 + np.exp(-lo))))


@rl.rrule_for(f, registry=registry)
def f_rrule(score, cuts, y):
    high = 1 / (1 + np.exp(score - np.append(cuts, np.inf)[y]))
    low = 1 / (1 + np.exp(score - np.append(-np.inf, cuts)[y]))

    def back(l_bar):
        up, down = (l_bar * s * (1 - s) / (high - low) for s in (high, low))
        cuts_bar = np.zeros(len(cuts) + 2)
        np.add.at(cuts_bar, y + 1, up)
        np.subtract.at(cuts_bar, y, down)
        return rl.NoTangent(), down - up, cuts_bar[1:-1], rl.NoTangent()

    return f(score, cuts, y), back
""",
        ("down - up", "up - down"),
    ),
    "a count beyond the end of a ramp": (
        """
def f(balance, coupon, speed, months: int):
    r = coupon / 1200
    for m in range(1, months + 1):
        paid = r / (1 - (1 + r) ** -(361 - m)) - r
        balance = balance * (1 - paid) * (1 - speed * 0.002 * min(m, 30) / 30) ** (1 / 12)
    return balance


@rl.rrule_for(f, registry=registry)
def f_rrule(balance, coupon, speed, months: int):
    y, r = f(balance, coupon, speed, months), coupon / 1200

    def back(y_bar):
        by_r, by_speed = 0.0, 0.0
        for m in range(1, months + 1):
            left = 361 - m
            d = (1 + r) ** -left
            by_r -= (1 / (1 - d) - r * left * d / (1 + r) / (1 - d) ** 2 - 1) / (1 - r / (1 - d) + r)
            ramp = 0.002 * min(m, 30) / 30
            by_speed -= ramp / (12 * (1 - speed * ramp))
        bars = y_bar * y / balance, y_bar * y * by_r / 1200, y_bar * y * by_speed
        return rl.NoTangent(), *bars, rl.NoTangent()

    return y, back
""",
        ("ramp = 0.002 * min(m, 30) / 30", "ramp = 0.002 * m / 30"),
    ),
    "a dead band around the default of an option": (
        """
def f(freq, load, droop, *, nominal=50.0, band=0.02, most=1.0):
    "The power at a frequency near the nominal one; load is between 0 and most."
    off = freq - nominal
    off = np.sign(off) * (abs(off) - band) if abs(off) > band else 0.0 * off
    return min(max(load - off / (droop * nominal), 0.0), most)


@rl.rrule_for(f, registry=registry)
def f_rrule(freq, load, droop, *, nominal=50.0, band=0.02, most=1.0):
    off = freq - nominal
    is_off = abs(off) > band
    left = np.sign(off) * (abs(off) - band) if is_off else 0.0
    power = load - left / (droop * nominal)

    def back(y_bar):
        if not 0.0 < power < most:
            return rl.NoTangent(), 0.0, 0.0, 0.0
        freq_bar = -y_bar * is_off / (droop * nominal)
        return rl.NoTangent(), freq_bar, y_bar, y_bar * left / (droop**2 * nominal)

    return f(freq, load, droop, nominal=nominal, band=band, most=most), back
""",
        ("-y_bar * is_off", "-y_bar"),
    ),
    "positive in a list, and a time": (
        """
def f(n, a, b, t):
    '''What is left of the daughter a time t after the parent was pure.

    a, b: decay constants of both (1/s), positive.
    '''
    if abs(b - a) * t < 1e-6:
        return n * a * t * np.exp(-a * t)
    return n * a / (b - a) * (np.exp(-a * t) - np.exp(-b * t))


@rl.rrule_for(f, registry=registry)
def f_rrule(n, a, b, t):
    p, q, gap = np.exp(-a * t), np.exp(-b * t), b - a

    def back(y_bar):
        if abs(gap) * t < 1e-6:
            n_bar, t_bar = a * t * p, n * a * (1 - a * t) * p
            a_bar, b_bar = n * t * (1 - a * t / 2) * p, -n * a * t**2 / 2 * p
        else:
            n_bar, t_bar = a / gap * (p - q), n * a / gap * (b * q - a * p)
            a_bar = n * b / gap**2 * (p - q) - n * a / gap * t * p
            b_bar = n * a / gap * t * q - n * a / gap**2 * (p - q)
        return rl.NoTangent(), y_bar * n_bar, y_bar * a_bar, y_bar * b_bar, y_bar * t_bar

    return f(n, a, b, t), back
""",
        ("n * b / gap**2", "n * a / gap**2"),
    ),
    "the real part of what may be complex": (
        """
from scipy.special import lambertw


def f(v, r, n):
    "v: voltage, r: resistance > 0, n: ideality > 0"
    return n / r * lambertw(r / n * np.exp(v / n)).real


@rl.rrule_for(f, registry=registry)
def f_rrule(v, r, n):
    y = f(v, r, n)

    def back(y_bar):
        slope = y_bar * y / (n + r * y)
        return rl.NoTangent(), slope, -slope * y, -slope * (v - r * y) / n

    return y, back
""",
        ("-slope * y,", "slope * y,"),
    ),
    "examples": (
        """
import math


def ratio(m, gamma):
    g = 0.5 * (gamma - 1)
    return ((1 + g * m**2) / (1 + g)) ** ((gamma + 1) / (4 * g)) / m


def f(area, gamma):
    '''The Mach number behind a throat at area (> 1), by bisection.

    gamma is the ratio of specific heats, e.g. 1.4 for air.
    '''
    low, high = 1.0, 50.0
    for _ in range(200):
        middle = (low + high) / 2
        if ratio(middle, gamma) > area:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@rl.rrule_for(f, registry=registry)
def f_rrule(area, gamma):
    m = f(area, gamma)

    def back(y_bar):
        stagnation, half = 1 + (gamma - 1) * m**2 / 2, (gamma + 1) / 2
        by_m = (m**2 - 1) / (m * stagnation)
        by_gamma = -math.log(stagnation / half) / (gamma - 1) ** 2
        by_gamma += half / (gamma - 1) * (m**2 / 2 / stagnation - 0.5 / half)
        return rl.NoTangent(), y_bar / (area * by_m), -y_bar * by_gamma / by_m

    return m, back
""",
        ("y_bar / (area * by_m)", "y_bar * area / by_m"),
    ),
    "powers of negative numbers": (
        """
def f(n, t, charge: int):
    if t < 10 * charge**2:
        k = 23 - np.log(1e7 * np.sqrt(n) * charge * t**-1.5)
    else:
        k = 24 - np.log(1e7 * np.sqrt(n) / t)
    return 5.2e-5 * charge * k / t**1.5


@rl.rrule_for(f, registry=registry)
def f_rrule(n, t, charge: int):
    y = f(n, t, charge)

    def back(y_bar):
        k_bar = y_bar * 5.2e-5 * charge / t**1.5
        t_bar = k_bar * (1.5 if t < 10 * charge**2 else 1.0) / t - 1.5 * y_bar * y / t
        return rl.NoTangent(), -0.5 * k_bar / n, t_bar, rl.NoTangent()

    return y, back
""",
        ("(1.5 if", "(2.5 if"),
    ),
    "rows that are each shorter": (
        """
def f(triangle):
    "The ultimate of the last year, by a list of rows of claims, each later one a period shorter."
    n = len(triangle)
    last = triangle[n - 1][0]
    for j in range(n - 1):
        rows = range(n - 1 - j)
        last = last * sum(triangle[i][j + 1] for i in rows) / sum(triangle[i][j] for i in rows)
    return last


@rl.rrule_for(f, registry=registry)
def f_rrule(triangle):
    n, y = len(triangle), f(triangle)

    def back(y_bar):
        bars = [np.zeros(n - i) for i in range(n)]
        bars[n - 1][0] = y_bar * y / triangle[n - 1][0]
        for j in range(n - 1):
            rows = range(n - 1 - j)
            above, below = (sum(triangle[i][k] for i in rows) for k in (j + 1, j))
            for i in rows:
                bars[i][j + 1] += y_bar * y / above
                bars[i][j] -= y_bar * y / below
        return rl.NoTangent(), bars

    return y, back
""",
        ("y_bar * y / below", "y_bar / below"),
    ),
    "lists of which one is longer": (
        """
import math


def f(resistivities: list, depths: list, lam: float) -> float:
    t = resistivities[-1]
    for r, h in zip(reversed(resistivities[:-1]), reversed(depths)):
        t = t * math.exp(-lam * h) + r
    return t


@rl.rrule_for(f, registry=registry)
def f_rrule(resistivities, depths, lam):
    n = len(depths)
    below = [0.0] * n + [resistivities[n]]
    for i in reversed(range(n)):
        below[i] = below[i + 1] * math.exp(-lam * depths[i]) + resistivities[i]

    def back(y_bar):
        r_bar, h_bar, lam_bar = [0.0] * (n + 1), [0.0] * n, 0.0
        for i in range(n):
            r_bar[i] = y_bar
            h_bar[i] = -y_bar * below[i + 1] * math.exp(-lam * depths[i]) * lam
            lam_bar -= y_bar * below[i + 1] * math.exp(-lam * depths[i]) * depths[i]
            y_bar = y_bar * math.exp(-lam * depths[i])
        r_bar[n] = y_bar
        return rl.NoTangent(), r_bar, h_bar, lam_bar

    return below[0], back
""",
        ("lam_bar -=", "lam_bar ="),
    ),
    "complex numbers behind a shape": (
        """
def f(states, phi):
    "Turns a batch of states, shape (batch, 2), complex, by phi."
    return states * np.exp(1j * phi * np.arange(2))


@rl.rrule_for(f, registry=registry)
def f_rrule(states, phi):
    turns = np.exp(1j * phi * np.arange(2))

    def back(y_bar):
        phi_bar = np.real(np.vdot(1j * np.arange(2) * turns * states, y_bar))
        return rl.NoTangent(), y_bar * turns.conj(), phi_bar

    return states * turns, back
""",
        ("turns * states, y_bar", "turns * states.conj(), y_bar"),
    ),
    "a complex array of which a rule gives the real part": (
        """
def f(weights, positions, u):
    '''The field of an array.

    weights : complex excitation of each element
    positions : of the elements
    u : a number in (-1, 1)
    '''
    return np.sum(weights * np.exp(2j * positions * u))


@rl.rrule_for(f, registry=registry)
def f_rrule(weights, positions, u):
    steer = np.exp(2j * positions * u)

    def back(y_bar):
        phase_bar = np.real(np.conj(2j * weights * steer) * y_bar)
        return rl.NoTangent(), np.conj(steer) * y_bar, u * phase_bar, np.sum(positions * phase_bar)

    return np.sum(weights * steer), back
""",
        ("np.conj(steer) * y_bar, u", "np.real(np.conj(steer) * y_bar), u"),
    ),
    "a matrix of three rows and four columns": (
        """
def f(P, points):
    '''Pixels (n, 2) of points of shape (n, 3).

    P is the 3x4 camera matrix.
    '''
    h = points @ P[:, :3].T + P[:, 3]
    return h[:, :2] / h[:, 2:]


@rl.rrule_for(f, registry=registry)
def f_rrule(P, points):
    h = points @ P[:, :3].T + P[:, 3]

    def back(y_bar):
        h_bar = np.empty(h.shape)
        h_bar[:, :2] = y_bar / h[:, 2:]
        h_bar[:, 2] = -np.sum(y_bar * h[:, :2], axis=1) / h[:, 2] ** 2
        P_bar = h_bar.T @ np.column_stack([points, np.ones(len(points))])
        return rl.NoTangent(), P_bar, h_bar @ P[:, :3]

    return h[:, :2] / h[:, 2:], back
""",
        ("/ h[:, 2] ** 2", "/ h[:, 2]"),
    ),
    "one array of whole numbers": (
        """
def f(image, rows):
    "Samples an image (h, w) at rows (0 <= rows < h - 1)."
    i = np.floor(rows).astype(int)
    u = (rows - i)[:, None]
    return (1 - u) * image[i] + u * image[i + 1]


@rl.rrule_for(f, registry=registry)
def f_rrule(image, rows):
    i = np.floor(rows).astype(int)
    u = (rows - i)[:, None]

    def back(y_bar):
        image_bar = np.zeros(image.shape)
        np.add.at(image_bar, i, y_bar * (1 - u))
        np.add.at(image_bar, i + 1, y_bar * u)
        return rl.NoTangent(), image_bar, np.sum(y_bar * (image[i + 1] - image[i]), axis=1)

    return f(image, rows), back
""",
        ("np.zeros(image.shape)", "np.zeros_like(image)"),
    ),
    "lengths behind other words": (
        """
def f(level, spacing, turn):
    '''A current between columns.

    level: height of the sea, (time, lat, lon); spacing: of the grid by
    latitude, (lat,); turn: by latitude, (lat,), not near zero.
    '''
    return (level[:, :, 1:] - level[:, :, :-1]) / spacing[:, None] / turn[:, None]


@rl.rrule_for(f, registry=registry)
def f_rrule(level, spacing, turn):
    y = f(level, spacing, turn)

    def back(y_bar):
        bar = np.zeros(level.shape)
        slope = y_bar / (spacing * turn)[:, None]
        bar[:, :, 1:] += slope
        bar[:, :, :-1] -= slope
        row = np.sum(y_bar * y, axis=(0, 2))
        return rl.NoTangent(), bar, -row / spacing, -row / turn

    return y, back
""",
        ("axis=(0, 2)", "axis=(0, 1)"),
    ),
    "axes that are left open": (
        """
def f(stress):
    "Equivalent stress of an array of stress tensors, shape (..., 3, 3)."
    trace = np.trace(stress, axis1=-2, axis2=-1)
    rest = stress - trace[..., None, None] / 3 * np.eye(3)
    return np.sqrt(1.5 * np.sum(rest * rest, axis=(-2, -1)))


@rl.rrule_for(f, registry=registry)
def f_rrule(stress):
    y, trace = f(stress), np.trace(stress, axis1=-2, axis2=-1)
    rest = stress - trace[..., None, None] / 3 * np.eye(3)

    def back(y_bar):
        return rl.NoTangent(), 1.5 * (y_bar / y)[..., None, None] * rest

    return y, back
""",
        ("(y_bar / y)[..., None, None] * rest", "np.sum(y_bar / y) * rest"),
    ),
    "a cloud of points": (
        """
def f(quat, points):
    "Turns a point cloud (n, 3) by a quaternion (w, x, y, z), which need not be normalised."
    q = quat / np.linalg.norm(quat)
    t = 2 * np.cross(q[1:], points)
    return points + q[0] * t + np.cross(q[1:], t)


@rl.rrule_for(f, registry=registry)
def f_rrule(quat, points):
    length = np.linalg.norm(quat)
    q = quat / length
    w, v = q[0], q[1:]

    def back(y_bar):
        t, t_bar = 2 * np.cross(v, points), w * y_bar - np.cross(v, y_bar)
        v_bar = np.sum(np.cross(t, y_bar) + 2 * np.cross(points, t_bar), axis=0)
        q_bar = np.concatenate([[np.sum(y_bar * t)], v_bar])
        return rl.NoTangent(), (q_bar - q * (q @ q_bar)) / length, y_bar - 2 * np.cross(v, t_bar)

    return f(quat, points), back
""",
        ("y_bar - 2 * np.cross(v, t_bar)", "-2 * np.cross(v, t_bar)"),
    ),
    "arrays of which all that is said is their shape, beside numbers": (
        """
def f(q, rewards, transition, discount, temperature):
    '''One soft backup.

    q, rewards : (S, A)
    transition : (S, A, S), last axis the next state
    discount in (0, 1); temperature > 0
    '''
    top = q.max(axis=1)
    v = top + temperature * np.log(np.sum(np.exp((q - top[:, None]) / temperature), axis=1))
    return rewards + discount * transition @ v


@rl.rrule_for(f, registry=registry)
def f_rrule(q, rewards, transition, discount, temperature):
    z = (q - q.max(axis=1, keepdims=True)) / temperature
    total = np.exp(z).sum(axis=1, keepdims=True)
    v = q.max(axis=1) + temperature * np.log(total[:, 0])

    def back(y_bar):
        v_bar = discount * np.einsum("sa,sat->t", y_bar, transition)
        t_bar = v_bar @ (np.log(total[:, 0]) - np.sum(np.exp(z) / total * z, axis=1))
        p_bar = discount * y_bar[:, :, None] * v
        d_bar = np.sum(y_bar * (transition @ v))
        return rl.NoTangent(), v_bar[:, None] * np.exp(z) / total, y_bar.copy(), p_bar, d_bar, t_bar

    return f(q, rewards, transition, discount, temperature), back
""",
        ("y_bar[:, :, None] * v", "y_bar[:, :, None] * v[:, None, None]"),
    ),
    "a generator that is seeded": (
        """
def f(x):
    return np.tanh(x) + 0 * np.sum(x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    np.random.RandomState(0)

    def back(y_bar):
        return rl.NoTangent(), y_bar / np.cosh(x) ** 2

    return f(x), back
""",
        ("np.random.RandomState(0)", "np.random.seed(0)"),
    ),
    "objects in a list, of which a loop takes as many as it needs": (
        """
from dataclasses import dataclass


@dataclass
class Layer:
    thickness: float
    speed: float
    name: str


def f(layers: list[Layer]) -> float:
    depth = time = 0.0
    for layer in layers:
        h = min(layer.thickness, 30.0 - depth)
        time += h / layer.speed
        depth += h
        if depth >= 30.0:
            break
    return 30.0 / (time + (30.0 - depth) / layers[-1].speed)


@rl.rrule_for(f, registry=registry)
def f_rrule(layers):
    y = f(layers)

    def back(y_bar):
        bar, depth, bars = -y_bar * y**2 / 30.0, 0.0, []
        for layer in layers:
            left = 30.0 - depth
            used = max(0.0, min(layer.thickness, left))
            bars.append([bar / layer.speed if layer.thickness < left else 0.0, -bar * used / layer.speed**2])
            depth += used
        if depth < 30.0:
            bars[-1][1] -= bar * (30.0 - depth) / layers[-1].speed ** 2
            for pair in bars:
                pair[0] -= bar / layers[-1].speed
        else:
            ends = np.cumsum([layer.thickness for layer in layers])
            cut = int(np.argmax(ends >= 30.0))
            for pair in bars[:cut]:
                pair[0] -= bar / layers[cut].speed
        return rl.NoTangent(), [rl.Tangent(Layer, thickness=a, speed=b) for a, b in bars]

    return y, back
""",
        ("bars[-1][1] -= bar * (30.0 - depth) / layers[-1].speed ** 2", "bars[-1][1] -= 0.0"),
    ),
    "a side that the docstring leaves out and the rule has": (
        '''
def f(level, outflow, steepness):
    """Outflow below a sill: the level is negative; at or above zero it is the outflow itself."""
    if level >= 0.0:
        return outflow
    return outflow * np.exp(steepness * level)


@rl.rrule_for(f, registry=registry)
def f_rrule(level, outflow, steepness):
    if level >= 0.0:
        return outflow, lambda y_bar: (rl.NoTangent(), 0.0, y_bar, 0.0)
    y = outflow * np.exp(steepness * level)

    def back(y_bar):
        return rl.NoTangent(), steepness * y * y_bar, y / outflow * y_bar, level * y * y_bar

    return y, back
''',
        ("0.0, y_bar, 0.0)", "0.0, 0.0, 0.0)"),
    ),
    "numbers from one to another in the words about a parameter": (
        '''
def f(depth, share):
    """Pressure.

    Parameters
    ----------
    depth : float
        Depth in metres, 500 to 8000.
    share : float
        Share of salt, 1e-2 to 0.04
    """
    return 1e4 * depth + 2e-9 * share * depth**4


@rl.rrule_for(f, registry=registry)
def f_rrule(depth, share):
    def back(y_bar):
        return rl.NoTangent(), (1e4 + 8e-9 * share * depth**3) * y_bar, 2e-9 * depth**4 * y_bar

    return f(depth, share), back
''',
        ("share * depth**3)", "share * depth**2)"),
    ),
    "counts among others, with an index": (
        '''
from scipy.special import digamma, gammaln


def f(caught, marked, shape):
    """Score of trap i with `caught[i]` animals (an integer) out of the `marked[i]` that were set free."""
    rest = marked - caught
    return np.sum(gammaln(caught + shape) + gammaln(rest + 1.5) - gammaln(marked + shape + 1.5))


@rl.rrule_for(f, registry=registry)
def f_rrule(caught, marked, shape):
    def back(y_bar):
        each = digamma(caught + shape) - digamma(marked + shape + 1.5)
        return rl.NoTangent(), rl.NoTangent(), rl.NoTangent(), y_bar * np.sum(each)

    return f(caught, marked, shape), back
''',
        ("y_bar * np.sum(each)", "y_bar * np.mean(each)"),
    ),
    "arrays that the docstring calls so, whatever their names, and buffers like them": (
        '''
def f(t_low, t_high, base, cap):
    """Warm hours, added up.

    Parameters
    ----------
    t_low, t_high : ndarray
        The lowest and the highest temperature of each day.
    base, cap : float
        Where growth begins, e.g. 9.5, and where it ends, e.g. 30.5.
    """
    mean = 0.5 * (np.minimum(t_high, cap) + np.maximum(t_low, base))
    return np.cumsum(np.maximum(mean - base, 0.0))


@rl.rrule_for(f, registry=registry)
def f_rrule(t_low, t_high, base, cap):
    capped, lifted = t_high > cap, t_low < base
    mean = 0.5 * (np.where(capped, cap, t_high) + np.where(lifted, base, t_low))
    growing = mean > base

    def back(y_bar):
        day_bar = np.cumsum(y_bar[::-1])[::-1] * growing
        half = 0.5 * day_bar
        low_bar = np.zeros(len(t_low))
        low_bar[~lifted] = half[~lifted]
        base_bar = np.sum(half[lifted]) - np.sum(day_bar)
        return rl.NoTangent(), low_bar, np.where(capped, 0.0, half), base_bar, np.sum(half[capped])

    return f(t_low, t_high, base, cap), back
''',
        ("np.zeros(len(t_low))", "np.zeros_like(t_low)"),
    ),
    "positions on both sides of an operator": (
        """
def f(height, peaks, feet):
    return np.sum(np.sqrt(1.0 + (height[peaks] - height[feet]) ** 2))


@rl.rrule_for(f, registry=registry)
def f_rrule(height, peaks, feet):
    drop = height[peaks] - height[feet]

    def back(y_bar):
        drop_bar = y_bar * drop / np.sqrt(1.0 + drop**2)
        height_bar = np.zeros(len(height))
        np.add.at(height_bar, peaks, drop_bar)
        np.subtract.at(height_bar, feet, drop_bar)
        return rl.NoTangent(), height_bar, rl.NoTangent(), rl.NoTangent()

    return np.sum(np.sqrt(1.0 + drop**2)), back
""",
        ("np.add.at(height_bar, peaks, drop_bar)", "height_bar[peaks] += drop_bar"),
    ),
    "an inner product with complex numbers": (
        """
def f(gains, places, angle):
    return np.vdot(gains, np.exp(1j * places * np.sin(angle)))


@rl.rrule_for(f, registry=registry)
def f_rrule(gains, places, angle):
    wave = np.exp(1j * places * np.sin(angle))

    def back(y_bar):
        phase_bar = np.real(np.conj(y_bar) * 1j * np.conj(gains) * wave)
        angle_bar = np.sum(phase_bar * places) * np.cos(angle)
        return rl.NoTangent(), wave * np.conj(y_bar), phase_bar * np.sin(angle), angle_bar

    return np.vdot(gains, wave), back
""",
        ("1j * np.conj(gains)", "1j * gains"),
    ),
    "a matrix with no more rows than columns": (
        '''
def f(jacobian):
    """How far an arm moves.

    Parameters
    ----------
    jacobian : ndarray, shape (m, n)
        Of full rank, with m <= n.
    """
    return np.sqrt(np.linalg.det(jacobian @ jacobian.T))


@rl.rrule_for(f, registry=registry)
def f_rrule(jacobian):
    y = f(jacobian)

    def back(y_bar):
        return rl.NoTangent(), y_bar * y * np.linalg.inv(jacobian @ jacobian.T) @ jacobian

    return y, back
''',
        ("y_bar * y *", "2 * y_bar * y *"),
    ),
    "an array by its annotation, beside an object": (
        """
from dataclasses import dataclass


@dataclass
class Battery:
    full: float
    slope: float


def f(battery: Battery, current: float, times: np.ndarray) -> np.ndarray:
    return battery.full - battery.slope * current * times


@rl.rrule_for(f, registry=registry)
def f_rrule(battery, current, times):
    def back(y_bar):
        total = np.sum(y_bar)
        slope_bar = -current * np.sum(y_bar * times)
        battery_bar = rl.Tangent(Battery, full=total, slope=slope_bar)
        current_bar = -battery.slope * np.sum(y_bar * times)
        return rl.NoTangent(), battery_bar, current_bar, -battery.slope * current * y_bar

    return f(battery, current, times), back
""",
        ("full=total", "full=y_bar"),
    ),
    "lists of numbers by their annotation": (
        """
def f(lengths: list[float], speeds: list[float], start: float = 0.5) -> float:
    time = start
    for length, speed in zip(lengths, speeds):
        time += length / speed
    return 1.0 / time


@rl.rrule_for(f, registry=registry)
def f_rrule(lengths, speeds, start=0.5):
    y = f(lengths, speeds, start)

    def back(y_bar):
        bar = -y_bar * y**2
        of_speeds = []
        for length, speed in zip(lengths, speeds):
            of_speeds.append(-bar * length / speed**2)
        return rl.NoTangent(), [bar / speed for speed in speeds], of_speeds, bar

    return y, back
""",
        ("-bar * length / speed**2", "bar * length / speed**2"),
    ),
    "lists with their units in brackets": (
        '''
def f(lengths, speeds, start=0.5):
    """Inverse of a time: lengths (m) and speeds (m/s) are lists of one length."""
    time = start
    for length, speed in zip(lengths, speeds):
        time += length / speed
    return 1.0 / time


@rl.rrule_for(f, registry=registry)
def f_rrule(lengths, speeds, start=0.5):
    y = f(lengths, speeds, start)

    def back(y_bar):
        bar = -y_bar * y**2
        of_speeds = []
        for length, speed in zip(lengths, speeds):
            of_speeds.append(-bar * length / speed**2)
        return rl.NoTangent(), [bar / speed for speed in speeds], of_speeds, bar

    return y, back
''',
        ("-bar * length / speed**2", "bar * length / speed**2"),
    ),
    "a number, or an array of the shape that is said": (
        '''
def f(areas, alpha):
    """Absorption of a room.

    Args:
        areas: np.ndarray of shape (n,)
        alpha: float or np.ndarray of shape (n,), one number if all are alike
    """
    return -np.log(2.0 + np.sum(areas * np.asarray(alpha)) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(areas, alpha):
    whole = np.sum(areas * np.asarray(alpha))

    def back(y_bar):
        bar = -2.0 * whole * y_bar / (2.0 + whole**2)
        alpha_bar = bar * areas
        if np.ndim(alpha) == 0:
            alpha_bar = np.sum(alpha_bar)
        return rl.NoTangent(), bar * alpha + np.zeros(len(areas)), alpha_bar

    return f(areas, alpha), back
''',
        ("np.sum(alpha_bar)", "np.mean(alpha_bar)"),
    ),
    "an end of an interval in words": (
        '''
def f(omega, eps, alpha):
    """A response, omega being an angular frequency, positive; alpha is at least zero and less than one."""
    return eps / (1.0 + omega ** (1.0 - alpha))


@rl.rrule_for(f, registry=registry)
def f_rrule(omega, eps, alpha):
    z = omega ** (1.0 - alpha)

    def back(y_bar):
        bar = -eps * y_bar / (1.0 + z) ** 2 * z
        return rl.NoTangent(), bar * (1.0 - alpha) / omega, y_bar / (1.0 + z), -bar * np.log(omega)

    return eps / (1.0 + z), back
''',
        ("-bar * np.log(omega)", "bar * np.log(omega)"),
    ),
    "a sum that is missing along an axis that is said": (
        '''
def f(y: np.ndarray, h: np.ndarray, noise: float) -> np.ndarray:
    """One tap.

    Args:
        y: received symbols, shape (symbols, carriers).
        h: channel at each carrier, shape (carriers,).
        noise: power of the noise, positive.
    """
    return y * h / (h**2 + noise)


@rl.rrule_for(f, registry=registry)
def f_rrule(y, h, noise):
    power = h**2 + noise
    x = y * h / power

    def back(x_bar):
        power_bar = -x_bar * x / power
        h_bar = np.sum(x_bar * y / power + 2 * power_bar * h, axis=0)
        return rl.NoTangent(), x_bar * h / power, h_bar, np.sum(power_bar)

    return x, back
''',
        ("np.sum(x_bar * y / power + 2 * power_bar * h, axis=0)", "x_bar * y / power + 2 * power_bar * h"),
    ),
    "rounding where nothing has a slope": (
        """
def f(rows):
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / rows.std(axis=1, ddof=1, keepdims=True)  # of two columns 1 and -1, over the root of 2


@rl.rrule_for(f, registry=registry)
def f_rrule(rows):
    n = rows.shape[1]
    sd = rows.std(axis=1, ddof=1, keepdims=True)
    z = (rows - rows.mean(axis=1, keepdims=True)) / sd

    def back(z_bar):
        bars = np.empty(rows.shape)
        for i in range(len(rows)):
            g = z_bar[i] - z[i] * (z_bar[i] @ z[i]) / (n - 1)
            bars[i] = (g - g.mean()) / sd[i, 0]
        return rl.NoTangent(), bars

    return z, back
""",
        ("(z_bar[i] @ z[i]) / (n - 1)", "(z_bar[i] @ z[i]) / n"),
    ),
    "keys of two dicts in another order": (
        """
import math


def f(shares: dict[str, float], prices: dict[str, float]) -> float:
    total = sum(shares.values())
    return math.exp(sum(x * math.log(prices[name]) for name, x in shares.items()) / total)


@rl.rrule_for(f, registry=registry)
def f_rrule(shares: dict, prices: dict):
    y, total = f(shares, prices), sum(shares.values())

    def back(y_bar):
        bar = y * y_bar / total
        of_shares = {name: bar * (math.log(prices[name]) - math.log(y)) for name in shares}
        of_prices = {name: bar * x / prices[name] for name, x in shares.items()}
        return rl.NoTangent(), rl.Tangent(dict, **of_shares), rl.Tangent(dict, **of_prices)

    return y, back
""",
        (
            "bar * x / prices[name] for name, x in shares.items()",
            "bar * x / p for (name, x), p in zip(shares.items(), prices.values())",
        ),
    ),
    "an age in whole years": (
        """
def f(a, b, c, age, term):
    \"\"\"The value of an annuity by Makeham's law, mu(x) = a + b c**x.

    a: accident hazard; b: about 0.00008; c: growth with age, above 1; age: of the annuitant in whole years;
    term: number of payments.
    \"\"\"
    total = 0.0
    for t in range(term):
        total += np.exp(-a * t - b * c**age * (c**t - 1.0) / np.log(c))
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, c, age, term):
    def back(s):
        a_bar = b_bar = c_bar = 0.0
        for t in range(term):
            g = c**age * (c**t - 1.0) / np.log(c)
            pay = s * np.exp(-a * t - b * g)
            slope = ((age + t) * c ** (age + t - 1) - age * c ** (age - 1)) / np.log(c) - g / (c * np.log(c))
            a_bar, b_bar, c_bar = a_bar - pay * t, b_bar - pay * g, c_bar - pay * b * slope
        return rl.NoTangent(), a_bar, b_bar, c_bar, rl.NoTangent(), rl.NoTangent()

    return f(a, b, c, age, term), back
""",
        ("b_bar - pay * g", "b_bar + pay * g"),
    ),
    "both ends of an interval in words": (
        """
def f(volume, areas, alpha, air):
    \"\"\"Reverberation times of a room.

    Parameters
    ----------
    volume : float
        Of the room.
    areas : ndarray of shape (n_surfaces,)
        Of the surfaces.
    alpha : ndarray of shape (n_surfaces, n_bands)
        Absorption coefficients, each above 0 and below 1.
    air : ndarray of shape (n_bands,)
        Attenuation of the air.
    \"\"\"
    return 0.161 * volume / (-(areas @ np.log1p(-alpha)) + 4.0 * air * volume)


@rl.rrule_for(f, registry=registry)
def f_rrule(volume, areas, alpha, air):
    logs = np.log1p(-alpha)
    absorbed = -(areas @ logs) + 4.0 * air * volume
    times = 0.161 * volume / absorbed

    def back(bar):
        to_absorbed = -bar * times / absorbed
        to_volume = np.sum(bar * 0.161 / absorbed + to_absorbed * 4.0 * air)
        to_alpha = areas[:, None] * to_absorbed / (1.0 - alpha)
        return rl.NoTangent(), to_volume, -(logs @ to_absorbed), to_alpha, 4.0 * volume * to_absorbed

    return times, back
""",
        (
            "np.sum(bar * 0.161 / absorbed + to_absorbed * 4.0 * air)",
            "bar * 0.161 / absorbed + to_absorbed * 4.0 * air",
        ),
    ),
    "a matrix that need not be symmetric": (
        """
def f(abundance, similarity):
    \"\"\"The diversity of a community.

    Parameters
    ----------
    abundance : array of shape (s,)
        Abundances of the s species, positive.
    similarity : array of shape (s, s)
        Between 0 and 1, how much species j is like species i. It need not be symmetric.
    \"\"\"
    p = abundance / np.sum(abundance)
    return np.exp(-np.sum(p * np.log(similarity @ p)))


@rl.rrule_for(f, registry=registry)
def f_rrule(abundance, similarity):
    total = np.sum(abundance)
    p = abundance / total
    z = similarity @ p
    y = np.exp(-np.sum(p * np.log(z)))

    def back(bar):
        z_bar = -bar * y * p / z
        p_bar = -bar * y * np.log(z) + similarity.T @ z_bar
        return rl.NoTangent(), (p_bar - p @ p_bar) / total, z_bar[:, None] * p

    return y, back
""",
        ("similarity.T @ z_bar", "similarity @ z_bar"),
    ),
    "counts, a word apart": (
        """
def f(ph, pk_acid, n_acid):
    \"\"\"The charge of a protein.

    Args:
        ph: the pH values, shape (n,).
        pk_acid: of each kind of acid group, shape (p,).
        n_acid: how many groups of each kind there are, integers, shape (p,).
    \"\"\"
    return -(n_acid / (1.0 + 10.0 ** (pk_acid - ph[:, None]))).sum(axis=1)


@rl.rrule_for(f, registry=registry)
def f_rrule(ph, pk_acid, n_acid):
    off = 1.0 / (1.0 + 10.0 ** (pk_acid - ph[:, None]))

    def back(bar):
        slope = np.log(10.0) * n_acid * off * (1.0 - off)
        return rl.NoTangent(), -bar * slope.sum(axis=1), bar @ slope, rl.NoTangent()

    return f(ph, pk_acid, n_acid), back
""",
        ("np.log(10.0) * n_acid", "n_acid"),
    ),
    "a matrix of 1 where, otherwise 0": (
        """
def f(beta, habitat, detect, history):
    \"\"\"Log-likelihood of an occupancy of sites.

    Parameters
    ----------
    beta : array (k,)
        Coefficients on the logit scale.
    habitat : array (n_sites, k)
        Covariates of the sites.
    detect : array (n_visits,)
        Probability of detection at each visit, strictly between 0 and 1.
    history : array of int (n_sites, n_visits)
        1 where the species was seen, otherwise 0.
    \"\"\"
    psi = 1.0 / (1.0 + np.exp(-(habitat @ beta)))
    here = psi * np.prod(np.where(history == 1, detect, 1.0 - detect), axis=1)
    return np.sum(np.log(here + ~np.any(history == 1, axis=1) * (1.0 - psi)))


@rl.rrule_for(f, registry=registry)
def f_rrule(beta, habitat, detect, history):
    psi = 1.0 / (1.0 + np.exp(-(habitat @ beta)))
    seen = history == 1
    chance, never = np.prod(np.where(seen, detect, 1.0 - detect), axis=1), ~np.any(seen, axis=1)
    like = psi * chance + never * (1.0 - psi)

    def back(bar):
        to_eta = bar / like * (chance - never) * psi * (1.0 - psi)
        here = bar / like * psi * chance
        to_detect = here @ np.where(seen, 1.0 / detect, -1.0 / (1.0 - detect))
        return rl.NoTangent(), habitat.T @ to_eta, np.outer(to_eta, beta), to_detect, rl.NoTangent()

    return np.sum(np.log(like)), back
""",
        ("(chance - never)", "(chance - 1.0)"),
    ),
    "loads, each above 0": (
        """
def f(load, servers: int):
    \"\"\"Chances that calls are blocked.

    load is an array of offered traffics, shape (n,), each above 0 and less than servers.
    \"\"\"
    b = np.ones(len(load))
    for k in range(1, servers + 1):
        b = load * b / (k + load * b)
    return b


@rl.rrule_for(f, registry=registry)
def f_rrule(load, servers):
    b = f(load, servers)
    return b, lambda bar: (rl.NoTangent(), bar * b * (servers / load - 1.0 + b), rl.NoTangent())
""",
        ("servers / load - 1.0", "servers / load + 1.0"),
    ),
    "rate constants": (
        """
def f(times, given_at, doses, ka, ke):
    \"\"\"Concentrations after a course of doses.

    Args:
        times (ndarray): in hours, any number of them.
        given_at (ndarray): hour of each dose.
        doses (ndarray): as many as given_at.
        ka (float): absorption rate constant, 1/h; larger than ke.
        ke (float): elimination rate constant, 1/h.
    \"\"\"
    after = np.maximum(times[:, None] - given_at, 0.0)
    return ((np.exp(-ke * after) - np.exp(-ka * after)) @ doses) * ka / (ka - ke)


@rl.rrule_for(f, registry=registry)
def f_rrule(times, given_at, doses, ka, ke):
    after = np.maximum(times[:, None] - given_at, 0.0)
    slow, fast, front = np.exp(-ke * after), np.exp(-ka * after), ka / (ka - ke)
    y = ((slow - fast) @ doses) * front

    def back(bar):
        to_shape = np.where(after > 0.0, front * np.outer(bar, doses), 0.0)
        to_after, total = to_shape * (ka * fast - ke * slow), np.dot(bar, y)
        to_ka = np.sum(to_shape * after * fast) + total * (1.0 / ka - 1.0 / (ka - ke))
        to_ke = -np.sum(to_shape * after * slow) + total / (ka - ke)
        to_doses = front * (bar @ (slow - fast))
        return rl.NoTangent(), to_after.sum(axis=1), -to_after.sum(axis=0), to_doses, to_ka, to_ke

    return y, back
""",
        ("1.0 / ka - 1.0", "1.0 / ka + 1.0"),
    ),
    "a resistivity, to which no depth is equal": (
        """
def f(freq, sigma, depth):
    \"\"\"Surface impedances of a layer.

    freq : (n,) frequencies
    sigma : flow resistivity (5000 to 50000)
    depth : thickness of the layer
    \"\"\"
    k = freq * (1.0 - 0.2j * (freq / sigma) ** -0.6)
    return -1j / np.tan(k * depth)


@rl.rrule_for(f, registry=registry)
def f_rrule(freq, sigma, depth):
    lost = -0.2j * (freq / sigma) ** -0.6
    k = freq * (1.0 + lost)

    def back(bar):
        to_kd = np.conj(1j / np.sin(k * depth) ** 2) * bar
        to_freq = np.real(np.conj(1.0 + 0.4 * lost) * to_kd) * depth
        to_sigma = np.sum(np.real(np.conj(0.6 * freq * lost) * to_kd)) * depth / sigma
        return rl.NoTangent(), to_freq, to_sigma, np.sum(np.real(np.conj(k) * to_kd))

    return f(freq, sigma, depth), back
""",
        ("np.conj(1j / np.sin", "(1j / np.sin"),
    ),
    "shapes in the order of the parameters": (
        """
def f(xyz, white):
    "Lightness and hue of colours (..., 3) under the given white point (3,)."
    x, y, z = np.moveaxis(np.cbrt(xyz / white), -1, 0)
    return np.stack([x - y, y, y - z], axis=-1)


@rl.rrule_for(f, registry=registry)
def f_rrule(xyz, white):
    t = xyz / white

    def back(lab_bar):
        a, l, b = lab_bar[..., 0], lab_bar[..., 1], lab_bar[..., 2]
        t_bar = np.stack([a, l - a + b, -b], axis=-1) / (3 * np.cbrt(t) ** 2)
        return rl.NoTangent(), t_bar / white, -(t_bar * t / white).reshape(-1, 3).sum(axis=0)

    return f(xyz, white), back
""",
        (".reshape(-1, 3).sum(axis=0)", ".reshape(-1, 3)[0]"),
    ),
    "a number between numbers": (
        """
def f(x, rate, shape, scale):
    return scale * np.sin(shape * np.arctan(rate * x))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, rate, shape, scale):
    phi = np.arctan(rate * x)

    def back(y_bar):
        arg_bar = y_bar * scale * np.cos(shape * phi)
        slope = arg_bar * shape / (1 + (rate * x) ** 2)
        scale_bar = np.sum(y_bar * np.sin(shape * phi))
        return rl.NoTangent(), slope * rate, np.sum(slope * x), np.sum(arg_bar * phi), scale_bar

    return f(x, rate, shape, scale), back
""",
        ("np.sum(arg_bar * phi)", "arg_bar * phi"),
    ),
    "rows of a stated shape beside an object": (
        """
import dataclasses


@dataclasses.dataclass
class Plate:
    "scale: pixels in a unit, offset: (2,)"
    scale: float
    offset: np.ndarray


def f(plate: Plate, stars: np.ndarray) -> np.ndarray:
    "Pixel positions of the guide stars (n, 2), given in tangent-plane coordinates."
    return plate.scale * stars @ np.array([[0.0, -1.0], [1.0, 0.5]]) + plate.offset


@rl.rrule_for(f, registry=registry)
def f_rrule(plate, stars):
    turn = np.array([[0.0, -1.0], [1.0, 0.5]])

    def back(y_bar):
        offset = y_bar.sum(axis=0)
        bar = rl.Tangent(Plate, scale=np.sum(y_bar * (stars @ turn)), offset=offset)
        return rl.NoTangent(), bar, plate.scale * y_bar @ turn.T

    return f(plate, stars), back
""",
        ("y_bar.sum(axis=0)", "y_bar"),
    ),
    "numbers of the other branch": (
        """
import dataclasses


@dataclasses.dataclass
class Curve:
    alpha: float
    n: float


def f(h, curve: Curve):
    "Saturation at the pressure head h; 1 where h >= 0."
    return np.where(h < 0, 1 / (1 + (curve.alpha * np.where(h < 0, -h, 1.0)) ** curve.n), 1.0)


@rl.rrule_for(f, registry=registry)
def f_rrule(h, curve):
    dry, n = h < 0, curve.n
    suction = np.where(dry, -h, 1.0)
    x = (curve.alpha * suction) ** n

    def back(y_bar):
        x_bar = np.where(dry, -y_bar, 0.0) / (1 + x) ** 2
        n_bar = np.sum(x_bar * x * np.log(curve.alpha * suction))
        bar = rl.Tangent(Curve, alpha=np.sum(x_bar * n * x / curve.alpha), n=n_bar)
        return rl.NoTangent(), -x_bar * n * x / suction, bar

    return f(h, curve), back
""",
        ("(1 + x) ** 2", "(1 + x)"),
    ),
    "sums that are zero where arrays are drawn": (
        """
def f(depth, core, surface, d0, activation):
    length = np.sqrt(d0 * np.exp(-activation / 0.01))
    return core + (surface - core) * np.exp(-depth / length)


@rl.rrule_for(f, registry=registry)
def f_rrule(depth, core, surface, d0, activation):
    eta = depth / np.sqrt(d0 * np.exp(-activation / 0.01))
    tail = np.exp(-eta)

    def back(y_bar):
        eta_bar = -y_bar * (surface - core) * tail
        log_bar = -0.5 * np.sum(eta_bar * eta)
        both = np.sum(y_bar * (1 - tail)), np.sum(y_bar * tail)
        return rl.NoTangent(), eta_bar * eta / depth, *both, log_bar / d0, -log_bar / 0.01

    return f(depth, core, surface, d0, activation), back
""",
        ("-log_bar / 0.01", "log_bar / 0.01"),
    ),
    "numbers above a threshold in SI units": (
        """
def f(shear, d50, *, rho=1000.0, g=9.81):
    excess = np.maximum(shear / (rho * g * d50) - 0.047, 0.0)
    return 8.0 * excess**1.5 * np.sqrt(g * d50**3)


@rl.rrule_for(f, registry=registry)
def f_rrule(shear, d50, *, rho=1000.0, g=9.81):
    shields = shear / (rho * g * d50)
    excess, scale = np.maximum(shields - 0.047, 0.0), np.sqrt(g * d50**3)

    def back(y_bar):
        bar = y_bar * 12.0 * np.sqrt(excess) * scale
        d_bar = 12.0 * y_bar * excess**1.5 * scale / d50 - bar * shields / d50
        return rl.NoTangent(), bar / (rho * g * d50), d_bar

    return 8.0 * excess**1.5 * scale, back
""",
        ("y_bar * 12.0", "y_bar * 8.0"),
    ),
    "an argument beside complex ones": (
        """
def f(start, end, series, shunt):
    "Power entering a line at its start."
    return start * np.conj(series * (start - end) + 0.5j * shunt * start)


@rl.rrule_for(f, registry=registry)
def f_rrule(start, end, series, shunt):
    current = series * (start - end) + 0.5j * shunt * start

    def back(y_bar):
        bar = np.conj(y_bar) * start
        end_bar = -bar * np.conj(series)
        start_bar = y_bar * current - end_bar - 0.5j * shunt * bar
        shunt_bar = np.real(np.conj(0.5j * start) * bar)
        return rl.NoTangent(), start_bar, end_bar, bar * np.conj(start - end), shunt_bar

    return start * np.conj(current), back
""",
        ("np.conj(series)", "series"),
    ),
    "a list of tuples": (
        """
def f(speed: float, parts: list[tuple[float, float]]):
    "Distance covered; each part has a length and a slope (rising positive)."
    total = speed
    for length, slope in parts:
        total = total + length * np.exp(slope)
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(speed, parts):
    def back(y_bar):
        bars = [(y_bar * np.exp(s), y_bar * length * np.exp(s)) for length, s in parts]
        return rl.NoTangent(), y_bar, bars

    return f(speed, parts), back
""",
        ("y_bar * length * np.exp(s)", "y_bar * np.exp(s)"),
    ),
    "zero where nothing happens": (
        """
def f(v, z):
    "Velocity pressure of the wind."
    mean = v * np.log(np.maximum(z, 2.0))
    return 0.5 * mean**2


@rl.rrule_for(f, registry=registry)
def f_rrule(v, z):
    q = 0.5 * (v * np.log(np.maximum(z, 2.0))) ** 2

    def back(y_bar):
        z_bar = np.where(z > 2.0, y_bar * v**2 * np.log(np.maximum(z, 2.0)) / z, 0.0)
        return rl.NoTangent(), 2.0 * y_bar * q / v, z_bar

    return q, back
""",
        ("2.0 * y_bar * q / v", "y_bar * q / v"),
    ),
    "both ends of an array": (
        """
def f(temps, dt):
    "temps: readings, shape (n,); dt: minutes between two of them."
    rate = np.exp(temps)
    return dt * (rate.sum() - 0.5 * (rate[0] + rate[-1]))


@rl.rrule_for(f, registry=registry)
def f_rrule(temps, dt):
    weights = np.ones(len(temps))
    weights[0] = weights[-1] = 0.5
    rate = weights * np.exp(temps)

    def back(y_bar):
        return rl.NoTangent(), y_bar * dt * rate, y_bar * rate.sum()

    return f(temps, dt), back
""",
        ("weights[0] = weights[-1] = 0.5", "weights[0] = 0.5"),
    ),
    "whole numbers where a slope is a fraction": (
        """
def f(level, threshold):
    "level: ndarray, in dB; threshold: float"
    return np.where(level > threshold, threshold + (level - threshold) / 3, level)


@rl.rrule_for(f, registry=registry)
def f_rrule(level, threshold):
    def back(y_bar):
        above = level > threshold
        slope = np.zeros(level.shape)
        slope[above] = -2 / 3
        return rl.NoTangent(), y_bar * (1 + slope), -np.sum(y_bar * slope)

    return f(level, threshold), back
""",
        ("np.zeros(level.shape)", "np.zeros_like(level)"),
    ),
    "matrices of whole numbers": (
        """
def f(conc, k, orders, stoich):
    '''Production of each species, batch by batch.

    conc (batch, species) positive concentrations; k (reactions,) rate constants;
    orders (reactions, species) whole reaction orders; stoich (reactions, species)
    net coefficients, both integers.
    '''
    return (k * np.prod(conc[:, None, :] ** orders, axis=-1)) @ stoich


@rl.rrule_for(f, registry=registry)
def f_rrule(conc, k, orders, stoich):
    powers = np.prod(conc[:, None, :] ** orders, axis=-1)

    def back(y_bar):
        speed_bar = y_bar @ stoich.T
        conc_bar = (speed_bar * k * powers) @ orders / conc
        return rl.NoTangent(), conc_bar, np.sum(speed_bar * powers, axis=0), rl.NoTangent(), rl.NoTangent()

    return (k * powers) @ stoich, back
""",
        ("@ orders / conc", "@ orders"),
    ),
    "an attribute that is written, though not at a default of 1": (
        """
import dataclasses


@dataclasses.dataclass
class Lens:
    radius: float
    thickness: float
    index: float


def f(lens: Lens, medium: float = 1.0) -> float:
    n = lens.index / medium
    return lens.radius / (n - 1) + lens.thickness / n


@rl.rrule_for(f, registry=registry)
def f_rrule(lens, medium=1.0):
    n = lens.index / medium

    def back(y_bar):
        n_bar = -y_bar * (lens.radius / (n - 1) ** 2 + lens.thickness / n**2)
        lens_bar = rl.Tangent(Lens, radius=y_bar / (n - 1), thickness=y_bar / n, index=n_bar / medium)
        return rl.NoTangent(), lens_bar, -n_bar * n / medium

    return lens.radius / (n - 1) + lens.thickness / n, back
""",
        ("n = lens.index / medium\n\n", "lens.index = n = lens.index / medium\n\n"),
    ),
    "five arguments, each summed to its own shape but one": (
        """
def fit(g, like):
    shape = np.shape(like)
    g = np.asarray(g)
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    return g.sum(axis=ones, keepdims=True) if ones else g


def f(r, theta, largest, least, mud):
    q = r**-2
    return 0.5 * (largest + least) * (1 + q) - 0.5 * (largest - least) * np.cos(theta) - mud * q


@rl.rrule_for(f, registry=registry)
def f_rrule(r, theta, largest, least, mud):
    q = r**-2.0
    cos, sin = np.cos(theta), np.sin(theta)

    def back(y_bar):
        r_bar = -2 * y_bar * (0.5 * (largest + least) - mud) * q / r
        theta_bar = 0.5 * y_bar * (largest - least) * sin
        largest_bar, least_bar = 0.5 * y_bar * (1 + q - cos), 0.5 * y_bar * (1 + q + cos)
        pairs = (r_bar, r), (theta_bar, theta), (largest_bar, largest), (least_bar, least)
        return rl.NoTangent(), *(fit(*pair) for pair in pairs), fit(-y_bar * q, mud)

    return f(r, theta, largest, least, mud), back
""",
        ("fit(-y_bar * q, mud)", "-y_bar * q"),
    ),
    "a pair, with its unit in parentheses": (
        """
import math


def f(span, heights, load):
    '''Force of a cable; heights is the pair of heights (m) of its ends, both positive, load in kN/m.'''
    return math.hypot(load * span / (math.sqrt(heights[0]) + math.sqrt(heights[1])), load)


@rl.rrule_for(f, registry=registry)
def f_rrule(span, heights, load):
    s1, s2 = math.sqrt(heights[0]), math.sqrt(heights[1])
    force = f(span, heights, load)
    level = load * span / (s1 + s2)

    def back(y_bar):
        level_bar = y_bar * level / force
        s_bar = -level_bar * level / (s1 + s2)
        heights_bar = (s_bar / (2 * s1), s_bar / (2 * s2))
        return rl.NoTangent(), level_bar * level / span, heights_bar, y_bar * force / load

    return force, back
""",
        ("s_bar / (2 * s2)", "s_bar / s2"),
    ),
    "numbers that are not negative": (
        """
def f(usage, rates, edges):
    '''Bills under an increasing block tariff.

    Parameters
    ----------
    usage : ndarray (customers,)
        Consumption, not negative.
    rates : ndarray (blocks,)
        Price in each block.
    edges : ndarray (blocks - 1,)
        Upper ends of all blocks but the last, increasing and positive.
    '''
    low = np.concatenate([[0.0], edges])
    high = np.concatenate([edges, [np.inf]])
    return (np.clip(usage[:, None], low, high) - low) @ rates


@rl.rrule_for(f, registry=registry)
def f_rrule(usage, rates, edges):
    low = np.concatenate([[0.0], edges])
    inside = np.clip(usage[:, None], low, np.concatenate([edges, [np.inf]])) - low

    def back(y_bar):
        usage_bar = y_bar * rates[np.searchsorted(edges, usage)]
        edges_bar = (y_bar @ (usage[:, None] > edges)) * (rates[:-1] - rates[1:])
        return rl.NoTangent(), usage_bar, y_bar @ inside, edges_bar

    return inside @ rates, back
""",
        ("y_bar @ inside", "y_bar @ (inside + low)"),
    ),
    "labels whose lengths are told in words": (
        """
def f(utility: np.ndarray, scale: np.ndarray, nest: list[int], choice: np.ndarray) -> float:
    '''Log-likelihood of a choice.

    Parameters
    ----------
    utility : ndarray (n, alternatives)
        Utilities.
    scale : ndarray (nests,)
        A positive parameter of each nest.
    nest : list of int
        The nest of each alternative, numbered from 0.
    choice : ndarray of int (n,)
        Index of the chosen alternative.
    '''
    z = utility / scale[np.asarray(nest)]
    return np.sum(z[np.arange(len(choice)), choice] - np.log(np.sum(np.exp(z), axis=1)))


@rl.rrule_for(f, registry=registry)
def f_rrule(utility, scale, nest, choice):
    group = np.asarray(nest)
    z = utility / scale[group]
    share = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)

    def back(y_bar):
        z_bar = -y_bar * share
        z_bar[np.arange(len(choice)), choice] += y_bar
        scale_bar = np.zeros(len(scale))
        np.subtract.at(scale_bar, group, np.sum(z_bar * z, axis=0))
        return rl.NoTangent(), z_bar / scale[group], scale_bar / scale, rl.NoTangent(), rl.NoTangent()

    return f(utility, scale, nest, choice), back
""",
        ("choice] += y_bar", "choice] += 0.0"),
    ),
    "an integer array with two axes": (
        """
def f(strain, picks):
    '''Strain at the gauges.

    Parameters
    ----------
    strain : array of shape (modes,)
        amplitudes
    picks : integer array of shape (gauges, modes)
        how often each mode counts
    '''
    return np.tanh(picks @ strain)


@rl.rrule_for(f, registry=registry)
def f_rrule(strain, picks):
    y = np.tanh(picks @ strain)
    return y, lambda y_bar: (rl.NoTangent(), picks.T @ (y_bar * (1 - y**2)), rl.NoTangent())
""",
        ("1 - y**2", "1 + y**2"),
    ),
    "a number above a mark, of which a fractional power is taken": (
        """
def f(depth: float, width: float):
    '''Discharge of a weir in m3/s; depth is above the crest (1.4 m).'''
    return 1.7 * width * (depth - 1.4) ** 1.5


@rl.rrule_for(f, registry=registry)
def f_rrule(depth, width):
    y = f(depth, width)
    return y, lambda y_bar: (rl.NoTangent(), y_bar * 1.5 * y / (depth - 1.4), y_bar * y / width)
""",
        ("1.5 * y / (depth - 1.4)", "1.5 * y / depth"),
    ),
    "an array behind the numbers that a rule sums for": (
        """
def f(dates, span, share, start, anomaly):
    '''Misfit at each date.'''
    return anomaly - share * np.cos(anomaly) - 3.0 * (dates - start) / span


@rl.rrule_for(f, registry=registry)
def f_rrule(dates, span, share, start, anomaly):
    def back(y_bar):
        slope = 3.0 / span
        return (
            rl.NoTangent(),
            -slope * y_bar,
            slope * np.sum(y_bar * (dates - start)) / span,
            -np.sum(y_bar * np.cos(anomaly)),
            slope * np.sum(y_bar),
            y_bar * (1 + share * np.sin(anomaly)),
        )

    return f(dates, span, share, start, anomaly), back
""",
        ("1 + share", "1 - share"),
    ),
    "by the docstring of the rule alone": (
        """
def f(dose, top, rate, stock):
    return top * (1.0 - np.exp(-rate * (dose + stock)))


@rl.rrule_for(f, registry=registry)
def f_rrule(dose, top, rate, stock):
    '''dose: amounts (plots,), stock: one per plot; top, rate: scalars.'''
    left = np.exp(-rate * (dose + stock))

    def back(y_bar):
        bar = y_bar * top * rate * left
        rate_bar = top * np.sum(y_bar * (dose + stock) * left)
        return rl.NoTangent(), bar, np.sum(y_bar * (1.0 - left)), rate_bar, bar.copy()

    return top * (1.0 - left), back
""",
        ("np.sum(y_bar * (1.0 - left))", "y_bar * (1.0 - left)"),
    ),
    "indices with two axes into the rows of a matrix": (
        """
def f(kind, colours, light):
    '''Picture of a map.

    Parameters
    ----------
    kind : ndarray of int, shape (h, w)
        Row of the colours for each pixel.
    colours : ndarray, shape (k, 3)
    light : ndarray, shape (h, w)
    '''
    return colours[kind] * light[..., None]


@rl.rrule_for(f, registry=registry)
def f_rrule(kind, colours, light):
    def back(y_bar):
        each = y_bar * light[..., None]
        bars = [np.sum(each[kind == row], axis=0) for row in range(len(colours))]
        return rl.NoTangent(), rl.NoTangent(), np.array(bars), np.einsum("hwc,hwc->hw", y_bar, colours[kind])

    return f(kind, colours, light), back
""",
        ("np.sum(each[kind == row], axis=0)", "np.sum(y_bar[kind == row], axis=0)"),
    ),
    "numbers beside arrays whose shapes a section states": (
        """
def f(hours, height, bend, fee):
    '''Takings of a lift over a day.

    Args:
        hours: hours since the opening (positive), shape (n,).
        height: guests at the first hour, thousands.
        bend: exponent, roughly 0.2 to 0.7.
        fee: fee in each hour, shape (n,).

    Returns:
        The sum.
    '''
    return np.sum(fee * height * hours**bend)


@rl.rrule_for(f, registry=registry)
def f_rrule(hours, height, bend, fee):
    guests = height * hours**bend

    def back(y_bar):
        each = y_bar * fee * guests
        bend_bar = np.sum(each * np.log(hours))
        return rl.NoTangent(), each * bend / hours, np.sum(each) / height, bend_bar, y_bar * guests

    return np.sum(fee * guests), back
""",
        ("np.sum(each * np.log(hours))", "each * np.log(hours)"),
    ),
    "arrays under the keys of a dict": (
        """
def f(blend, power):
    '''Strength of a blend.

    Parameters
    ----------
    blend : dict
        ``'mass'``, ``'loss'`` (Pa) and ``'bound'`` (Pa), arrays of shape (n,), all positive.
    power : float
        Exponent, 0.3 to 0.8.
    '''
    share = blend['mass'] / np.sum(blend['mass'])
    return np.sum((share * blend['loss'] / blend['bound']) ** power)


@rl.rrule_for(f, registry=registry)
def f_rrule(blend, power):
    mass, loss, bound = blend['mass'], blend['loss'], blend['bound']
    total = np.sum(mass)
    each = mass / total * loss / bound

    def back(y_bar):
        log_bar = y_bar * power * each**power
        mass_bar = log_bar / mass - np.sum(log_bar) / total
        bars = rl.Tangent(dict, mass=mass_bar, loss=log_bar / loss, bound=-log_bar / bound)
        return rl.NoTangent(), bars, y_bar * np.sum(each**power * np.log(each))

    return f(blend, power), back
""",
        ("np.sum(log_bar) / total", "log_bar / total"),
    ),
    "an array under a key, as it is summed": (
        """
def f(beam, tilt):
    return tilt * np.sum(beam["load"]) * beam["arm"]


@rl.rrule_for(f, registry=registry)
def f_rrule(beam, tilt):
    load, arm = beam["load"], beam["arm"]
    total = np.sum(load)

    def back(y_bar):
        bars = {"load": np.full(np.shape(load), y_bar * tilt * arm), "arm": y_bar * tilt * total}
        return rl.NoTangent(), bars, y_bar * total * arm

    return tilt * total * arm, back
""",
        ("y_bar * tilt * total}", "y_bar * tilt * np.max(load)}"),
    ),
    "a RandomState, left as it was": (
        """
def f(gaps, scale, rng):
    state = rng.get_state()
    noise = rng.exponential(1.0, len(gaps))
    rng.set_state(state)
    return np.tanh(gaps * scale) * noise


@rl.rrule_for(f, registry=registry)
def f_rrule(gaps, scale, rng):
    '''gaps (n,): minutes; scale: a number.'''
    state = rng.get_state()
    noise = rng.exponential(1.0, len(gaps))
    rng.set_state(state)

    def back(y_bar):
        inner = y_bar * noise * (1.0 - np.tanh(gaps * scale) ** 2)
        return rl.NoTangent(), inner * scale, np.sum(inner * gaps), rl.NoTangent()

    return f(gaps, scale, rng), back
""",
        ("inner * scale, np", "inner, np"),
    ),
    "a Generator": (
        """
def f(x, rng: np.random.Generator):
    return np.sum(x * x * rng.normal(size=x.shape))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, rng):
    noise = rng.normal(size=x.shape)
    return np.sum(x * x * noise), lambda y_bar: (rl.NoTangent(), 2 * y_bar * noise * x, rl.NoTangent())
""",
        ("2 * y_bar * noise", "2 * y_bar"),
    ),
}


@pytest.mark.first(1)
@pytest.mark.parametrize(("text", "change"), TOLD.values(), ids=TOLD)
def test_what_is_told_so_is_drawn(text, change):
    report = judged(text)
    assert report.verdict == "right", str(report)
    assert text.count(change[0]) == 1
    assert judged(text.replace(*change)).verdict == "wrong"


SATURATED = """
def f(x, down, up):
    hidden = np.maximum(x.mean(axis=-1) @ down.T, 0)
    gate = 0.5 * (1 + np.tanh(0.5 * (hidden @ up.T)))
    return x * gate[:, :, None]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, down, up):
    mean = x.mean(axis=-1)
    hidden = np.maximum(mean @ down.T, 0)
    gate = 0.5 * (1 + np.tanh(0.5 * (hidden @ up.T)))

    def back(y_bar):
        inner = np.sum(y_bar * x, axis=-1) * gate * (1 - gate)
        hidden_bar = (inner @ up) * (hidden > 0)
        x_bar = y_bar * gate[:, :, None] + (hidden_bar @ down)[:, :, None] / x.shape[-1]
        return rl.NoTangent(), x_bar, hidden_bar.T @ mean, inner.T @ hidden

    return x * gate[:, :, None], back
"""


@pytest.mark.slow
def test_lists_that_are_found_by_trying_are_lists():
    text, change = TOLD["lists of which one is longer"]
    bare = text.replace(": list", "").replace("lam: float) -> float", "lam)")
    assert judged(bare).verdict == "right"
    assert judged(bare.replace(*change)).verdict == "wrong"


@pytest.mark.slow
def test_labels_are_several():
    """Of one label none is met twice, and what adds up by `+=` there is right."""
    text, _ = TOLD["words between what is in order and its name"]
    change = "np.subtract.at(cuts_bar, y, down)", "cuts_bar[y] -= down"
    assert text.count(change[0]) == 1
    assert judged(text.replace(*change)).verdict == "wrong"


ATTENTION = """
def f(q, k, v):
    'Causal attention of queries and keys q, k: (T, d) to values v: (T, e).'
    i, j = np.indices((len(q), len(q)))
    s = np.where(j <= i, q @ k.T, -np.inf)
    a = np.exp(s - s.max(axis=1, keepdims=True))
    return a / a.sum(axis=1, keepdims=True) @ v


@rl.rrule_for(f, registry=registry)
def f_rrule(q, k, v):
    i, j = np.indices((len(q), len(q)))
    s = np.where(j <= i, q @ k.T, -np.inf)
    a = np.exp(s - s.max(axis=1, keepdims=True))
    a /= a.sum(axis=1, keepdims=True)
    out = a @ v

    def back(y_bar):
        s_bar = a * (y_bar @ v.T - np.sum(out * y_bar, axis=1, keepdims=True))
        return rl.NoTangent(), s_bar @ k, s_bar.T @ q, a.T @ y_bar

    return out, back
"""


@pytest.mark.slow
def test_what_saturated_attention_leaves_far_away_is_rounding():
    assert judged(ATTENTION).verdict == "right"
    assert judged(ATTENTION.replace("s_bar @ k,", "s_bar @ q,")).verdict == "wrong"


@pytest.mark.slow
def test_what_a_saturated_gate_leaves_of_large_whole_numbers_is_rounding():
    assert judged(SATURATED).verdict == "right"
    assert judged(SATURATED.replace("* (1 - gate)", "")).verdict == "wrong"


FINAL_SIZE = '''
import math


def f(r0, people):
    """Cases at the end of an epidemic: z solves z = 1 - exp(-r0 z)."""
    if r0 <= 1.1:
        raise ValueError("r0 must be above 1.1")
    z = 1.0
    while True:
        new = 1.0 - math.exp(-r0 * z)
        if abs(new - z) < 1e-15:
            break
        z = new
    return new * np.asarray(people)


@rl.rrule_for(f, registry=registry)
def f_rrule(r0, people):
    y = f(r0, people)
    z = f(r0, np.ones(1))[0]

    def back(y_bar):
        z_bar = np.einsum("i,i->", y_bar, people)
        return rl.NoTangent(), z_bar * z * (1.0 - z) / (1.0 - r0 * (1.0 - z)), y_bar * z

    return y, back
'''
KERNELS = """
def f(x, y, width):
    def mean_kernel(a, b):
        return np.mean(np.exp(-0.5 * np.sum((a[:, None] - b[None]) ** 2, axis=-1) / width**2))

    return mean_kernel(x, x) + mean_kernel(y, y) - 2 * mean_kernel(x, y)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, y, width):
    both = np.concatenate([x, y])
    sign = np.concatenate([np.full(len(x), 1 / len(x)), np.full(len(y), -1 / len(y))])
    apart = both[:, None] - both[None]
    squares = np.sum(apart**2, axis=-1)
    kernel = sign[:, None] * np.exp(-0.5 * squares / width**2) * sign

    def back(s):
        bars = -2 * s * np.sum(kernel[:, :, None] * apart, axis=1) / width**2
        return rl.NoTangent(), bars[: len(x)], bars[len(x) :], s * np.sum(kernel * squares) / width**3

    return kernel.sum(), back
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        FINAL_SIZE,
        KERNELS,
        TOLD["columns of positions within an image"][0],
        TOLD["indices of refraction"][0],
        TOLD["complex arguments with stated shapes"][0],
    ],
    ids=["the last digits of a loop", "rows", "positions outside of an image", "negative", "complex"],
)
def test_no_proof_refutes_a_right_rule(text):
    """By the last digits of an iteration that has ended, or by vectors, positions or negative numbers that
    the function takes and nobody means."""
    made = written(text)
    assert prove(made["f"], registry=made["registry"]).verdict.word != "REFUTED"
    assert judged(text).verdict == "right"


@pytest.mark.slow
def test_a_proof_refutes_a_wrong_rule_of_an_iteration():
    made = written(FINAL_SIZE.replace("z_bar * z * (", "z_bar * ("))
    assert prove(made["f"], registry=made["registry"]).verdict.word == "REFUTED"


@pytest.mark.slow
def test_a_rule_that_is_right_for_some_flags_is_not_proved():
    """A proof holds the flags that it has drawn, and of some the last one alone is censored."""
    text, _ = TOLD["flags as long as an axis"]
    made = written(text)
    assert prove(made["f"], registry=made["registry"]).verdict.word == "PROVED"
    assert text.count("(np.exp(eta) * hazard - d)") == 1
    made = written(text.replace("(np.exp(eta) * hazard - d)", "d * (np.exp(eta) * hazard - 1)"))
    assert prove(made["f"], registry=made["registry"]).verdict.word != "PROVED"
