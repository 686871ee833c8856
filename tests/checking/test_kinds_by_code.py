"""Kinds of arguments that a function or its rule speaks of in its code alone: graphs, masks that are weights,
numbers beside vectors, lists of groups, symmetric matrices.
"""

import numpy as np
import pytest

from rulelab.checking.probing.drawing import draw, draw_all
from rulelab.checking.reading.kinds import Kind
from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

TEXTS = {  # each with what makes the rule wrong
    "an exponent on one side of a branch": (
        """
def f(h, low, high, alpha, n):
    if h <= 0:
        return high
    return low + (high - low) / (1 + (alpha * h) ** n)


@rl.rrule_for(f, registry=registry)
def f_rrule(h, low, high, alpha, n):
    def back(y_bar):
        if h <= 0:
            return rl.NoTangent(), 0.0, 0.0, y_bar, 0.0, 0.0
        u = (alpha * h) ** n
        u_bar = -y_bar * (high - low) / (1 + u) ** 2
        part = 1 / (1 + u)
        h_bar, alpha_bar, n_bar = u_bar * n * u / h, u_bar * n * u / alpha, u_bar * u * np.log(alpha * h)
        return rl.NoTangent(), h_bar, (1 - part) * y_bar, part * y_bar, alpha_bar, n_bar

    return f(h, low, high, alpha, n), back
""",
        ("u_bar * u * np.log(alpha * h)", "u_bar * u * np.log(h)"),
    ),
    "a class with a matrix that is called by no capital letter": (
        """
import typing


class Normal(typing.NamedTuple):
    mean: np.ndarray
    precision: np.ndarray


def f(g: Normal, x: np.ndarray) -> float:
    d = x - g.mean
    return 0.5 * np.linalg.slogdet(g.precision)[1] - 0.5 * d @ g.precision @ d


@rl.rrule_for(f, registry=registry)
def f_rrule(g, x):
    d = x - g.mean
    pull = 0.5 * (g.precision + g.precision.T) @ d

    def back(y_bar):
        bar = 0.5 * np.linalg.inv(g.precision).T - 0.5 * np.outer(d, d)
        return rl.NoTangent(), rl.Tangent(Normal, mean=y_bar * pull, precision=y_bar * bar), -y_bar * pull

    return f(g, x), back
""",
        ("0.5 * np.linalg.inv", "np.linalg.inv"),
    ),
    "a matrix by two indices in the words of its function": (
        """
def f(x, w):
    '''Each column of x has its own filter w[:, c] over the past.'''
    count, k = len(x), len(w)
    padded = np.concatenate([np.zeros((k - 1, x.shape[1])), x])
    return sum(w[j] * padded[j : j + count] for j in range(k))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, w):
    count, k = len(x), len(w)
    padded = np.concatenate([np.zeros((k - 1, x.shape[1])), x])

    def back(y_bar):
        p_bar, w_bar = np.zeros(padded.shape), np.zeros(w.shape)
        for j in range(k):
            p_bar[j : j + count] += w[j] * y_bar
            w_bar[j] = np.sum(padded[j : j + count] * y_bar, axis=0)
        return rl.NoTangent(), p_bar[k - 1 :], w_bar

    return f(x, w), back
""",
        (" * y_bar, axis=0)", " * y_bar)"),
    ),
    "matrices in the place of vectors, transposed in memory": (
        """
def f(x, g):
    return x + g * (x**3 - x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, g):
    def back(y_bar):
        x_bar = np.empty(x.shape)
        x_bar.flat = (y_bar * (1 + g * (3 * x**2 - 1))).ravel()
        return rl.NoTangent(), x_bar, y_bar * (x**3 - x)

    return f(x, g), back
""",
        (".ravel()", ".ravel(order='K')"),
    ),
    "coefficients that are taken by their numbers": (
        """
def f(y, phi, drift=0.0):
    e = y - drift
    e[1:] -= phi[0] * y[:-1]
    e[2:] -= phi[1] * y[:-2]
    return e


@rl.rrule_for(f, registry=registry)
def f_rrule(y, phi, drift=0.0):
    def back(e_bar):
        y_bar = e_bar.copy()
        y_bar[:-1] -= phi[0] * e_bar[1:]
        y_bar[:-2] -= phi[1] * e_bar[2:]
        phi_bar = np.array([-np.dot(y[:-1], e_bar[1:]), -np.dot(y[:-2], e_bar[2:])])
        return rl.NoTangent(), y_bar, phi_bar, -np.sum(e_bar)

    return f(y, phi, drift), back
""",
        ("-np.dot(y[:-2], e_bar[2:])", "-np.dot(y[2:], e_bar[:-2])"),
    ),
    "edges in columns": (
        """
def f(x, edges, k, rest):
    i, j = edges.T
    gap = np.linalg.norm(x[i] - x[j], axis=1)
    return 0.5 * k * np.sum((gap - rest) ** 2) / len(x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, edges, k, rest):
    i, j = edges.T
    d = x[i] - x[j]
    gap = np.linalg.norm(d, axis=1)

    def back(y_bar):
        x_bar = np.zeros(x.shape)
        pull = (y_bar * k * (gap - rest) / gap / len(x))[:, None] * d
        np.add.at(x_bar, i, pull)
        np.add.at(x_bar, j, -pull)
        k_bar = 0.5 * y_bar * np.sum((gap - rest) ** 2) / len(x)
        return rl.NoTangent(), x_bar, rl.NoTangent(), k_bar, -y_bar * k * np.sum(gap - rest) / len(x)

    return 0.5 * k * np.sum((gap - rest) ** 2) / len(x), back
""",
        ("np.add.at(x_bar, j, -pull)", "np.add.at(x_bar, j, pull)"),
    ),
    "lists of indices side by side": (
        """
def f(skill, won, lost):
    return sum(np.logaddexp(0.0, skill[b] - skill[a]) for a, b in zip(won, lost))


@rl.rrule_for(f, registry=registry)
def f_rrule(skill, won, lost):
    d = skill[np.array(lost)] - skill[np.array(won)]

    def back(y_bar):
        p = y_bar / (1 + np.exp(-d))
        skill_bar = np.zeros(len(skill))
        np.add.at(skill_bar, lost, p)
        np.subtract.at(skill_bar, won, p)
        return rl.NoTangent(), skill_bar, rl.NoTangent(), rl.NoTangent()

    return f(skill, won, lost), back
""",
        ("np.add.at(skill_bar, lost, p)", "skill_bar[lost] += p"),
    ),
    "a matrix of so many columns and as many rows": (
        """
def f(H, pts):
    hom = pts @ H[:, :2].T + H[:, 2]
    return hom[:, :2] / hom[:, 2:]


@rl.rrule_for(f, registry=registry)
def f_rrule(H, pts):
    hom = pts @ H[:, :2].T + H[:, 2]
    out = hom[:, :2] / hom[:, 2:]

    def back(y_bar):
        bar = np.column_stack([y_bar, -np.sum(y_bar * out, axis=1)]) / hom[:, 2:]
        return rl.NoTangent(), np.column_stack([bar.T @ pts, bar.sum(axis=0)]), bar @ H[:, :2]

    return out, back
""",
        ("bar.sum(axis=0)", "bar[0]"),
    ),
    "an object with a default": (
        """
import dataclasses


@dataclasses.dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray
    leak: float = 0.1


def f(layer, x):
    z = layer.W @ x + layer.b
    return np.where(z > 0, z, layer.leak * z)


@rl.rrule_for(f, registry=registry)
def f_rrule(layer, x):
    z = layer.W @ x + layer.b

    def back(y_bar):
        z_bar = np.where(z > 0, y_bar, layer.leak * y_bar)
        leak_bar = np.sum(y_bar * np.minimum(z, 0.0))
        layer_bar = rl.Tangent(Layer, W=np.outer(z_bar, x), b=z_bar, leak=leak_bar)
        return rl.NoTangent(), layer_bar, layer.W.T @ z_bar

    return f(layer, x), back
""",
        ("np.sum(y_bar * np.minimum(z, 0.0))", "np.sum(y_bar * z)"),
    ),
    "blocks of an image": (
        """
def f(img):
    h, w = img.shape
    return np.sum(img.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3)) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(img):
    h, w = img.shape
    means = img.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3))

    def back(y_bar):
        return rl.NoTangent(), 0.5 * y_bar * np.repeat(np.repeat(means, 2, axis=0), 2, axis=1)

    return np.sum(means**2), back
""",
        ("means = img.reshape", 'means = img.ravel(order="A").reshape'),
    ),
    "an array of whole numbers beside a fraction": (
        """
def f(c, x):
    b1 = b2 = 0.0
    for a in c[:0:-1]:
        b1, b2 = a + 2 * x * b1 - b2, b1
    return c[0] + x * b1 - b2


@rl.rrule_for(f, registry=registry)
def f_rrule(c, x):
    def back(y_bar):
        T = np.ones(len(c))
        T[1:2] = x
        slopes = np.zeros(len(c))
        slopes[1:2] = 1.0
        for k in range(2, len(c)):
            T[k] = 2 * x * T[k - 1] - T[k - 2]
            slopes[k] = 2 * T[k - 1] + 2 * x * slopes[k - 1] - slopes[k - 2]
        return rl.NoTangent(), y_bar * T, y_bar * np.dot(c, slopes)

    return f(c, x), back
""",
        ("T = np.ones(len(c))", "T = np.ones_like(c)"),
    ),
    "what is divided by a sum, and is none": (
        """
def f(x0, xs, ys, h):
    k = np.exp(-0.5 * ((x0 - xs) / h) ** 2)
    return np.sum(k * ys) / np.sum(k)


@rl.rrule_for(f, registry=registry)
def f_rrule(x0, xs, ys, h):
    u = (x0 - xs) / h
    k = np.exp(-0.5 * u**2)
    w = k / np.sum(k)
    m = np.sum(w * ys)

    def back(y_bar):
        u_bar = -u * w * (ys - m) * y_bar
        return rl.NoTangent(), np.sum(u_bar) / h, -u_bar / h, w * y_bar, -np.sum(u_bar * u) / h

    return m, back
""",
        ("np.sum(u_bar) / h, -u_bar", "np.mean(u_bar) / h, -u_bar"),
    ),
    "gates, right for square matrices": (
        """
def f(x, W1, W2):
    h = np.tanh(x.mean(axis=0) @ W1)
    return x * (h @ W2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, W1, W2):
    s = x.mean(axis=0)
    h = np.tanh(s @ W1)

    def back(y_bar):
        e_bar = np.sum(y_bar * x, axis=0)
        p_bar = (W2 @ e_bar) * (1 - h**2)
        x_bar = y_bar * (h @ W2) + (W1 @ p_bar) / len(x)
        return rl.NoTangent(), x_bar, np.outer(s, p_bar), np.outer(h, e_bar)

    return x * (h @ W2), back
""",
        ("/ len(x)", "/ len(W1)"),
    ),
    "a vector as long as a matrix has elements": (
        """
def f(A, v):
    return np.ravel(A, order="F") @ v


@rl.rrule_for(f, registry=registry)
def f_rrule(A, v):
    def back(y_bar):
        return rl.NoTangent(), y_bar * v.reshape(A.shape, order="F"), y_bar * np.ravel(A, order="F")

    return np.ravel(A, order="F") @ v, back
""",
        ('A.shape, order="F"', "A.shape"),
    ),
    "a count by which an array is cut": (
        """
def f(x, scale, groups):
    n, c = x.shape
    parts = x.reshape(n, groups, c // groups)
    return ((parts - parts.mean(axis=2, keepdims=True)) ** 2).reshape(n, c) * scale


@rl.rrule_for(f, registry=registry)
def f_rrule(x, scale, groups):
    n, c = x.shape
    parts = x.reshape(n, groups, c // groups)
    centred = parts - parts.mean(axis=2, keepdims=True)

    def back(y_bar):
        g = 2 * (y_bar * scale).reshape(parts.shape) * centred
        x_bar = (g - g.mean(axis=2, keepdims=True)).reshape(n, c)
        return rl.NoTangent(), x_bar, (y_bar * (centred**2).reshape(n, c)).sum(0), rl.NoTangent()

    return (centred**2).reshape(n, c) * scale, back
""",
        ("g - g.mean(axis=2, keepdims=True)", "g"),
    ),
    "a filter of another shape than what it goes over": (
        """
def f(image, stencil):
    (H, W), (h, w) = image.shape, stencil.shape
    out = np.zeros((H - h + 1, W - w + 1))
    for a in range(h):
        for b in range(w):
            out += stencil[a, b] * image[a : a + H - h + 1, b : b + W - w + 1]
    return out


@rl.rrule_for(f, registry=registry)
def f_rrule(image, stencil):
    def back(y_bar):
        h, w = y_bar.shape
        image_bar, stencil_bar = np.zeros(image.shape), np.zeros(stencil.shape)
        for a in range(stencil.shape[0]):
            for b in range(stencil.shape[1]):
                image_bar[a : a + h, b : b + w] += stencil[a, b] * y_bar
                stencil_bar[a, b] = np.sum(image[a : a + h, b : b + w] * y_bar)
        return rl.NoTangent(), image_bar, stencil_bar

    return f(image, stencil), back
""",
        ("+= stencil[a, b] * y_bar", "+= stencil[b, a] * y_bar"),
    ),
    "constants by one letter and their numbers": (
        """
def f(b0, b1, b2, t):
    return b0 + b1 * np.exp(-t) + b2 * t * np.exp(-t)


@rl.rrule_for(f, registry=registry)
def f_rrule(b0, b1, b2, t):
    e = np.exp(-t)

    def back(y_bar):
        t_bar = y_bar * (b2 - b1 - b2 * t) * e
        return rl.NoTangent(), np.sum(y_bar), np.sum(y_bar * e), np.sum(y_bar * t * e), t_bar

    return b0 + b1 * e + b2 * t * e, back
""",
        ("np.sum(y_bar), ", "y_bar, "),
    ),
    "numbers beside a count, which the rule makes vectors as long as": (
        """
def f(coupon, rate, years: int, face):
    price = 0.0
    for t in range(1, years + 1):
        price += coupon * face / (3 + rate) ** t
    return price + face / (3 + rate) ** years


@rl.rrule_for(f, registry=registry)
def f_rrule(coupon, rate, years, face):
    t = np.arange(1, years + 1)
    df = (3.0 + rate) ** -t.astype(float)
    price = coupon * face * df.sum() + face * df[-1]

    def back(y_bar):
        rate_bar = -(coupon * face * np.sum(t * df) + years * face * df[-1]) / (3 + rate)
        return rl.NoTangent(), y_bar * face * df.sum(), y_bar * rate_bar, rl.NoTangent(), y_bar * price / face

    return price, back
""",
        ("years * face * df[-1]", "face * df[-1]"),
    ),
    "edges in rows": (
        """
def f(x, edge_index, w):
    source, target = edge_index
    return np.sum(w * (x[source] - x[target]) ** 2) / len(w)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, edge_index, w):
    source, target = edge_index
    d = x[source] - x[target]

    def back(y_bar):
        flow = 2 * y_bar * w * d / len(w)
        x_bar = np.bincount(source, flow, len(x)) - np.bincount(target, flow, len(x))
        w_bar = y_bar * d**2 / len(w) - 0 * w
        return rl.NoTangent(), x_bar, rl.NoTangent(), w_bar

    return np.sum(w * d**2) / len(w), back
""",
        ("flow = 2 * y_bar * w * d / len(w)", "flow = 2 * y_bar * w * d / len(x)"),
    ),
    "bonds beside one weight each": (
        """
def f(x, bonds, stiffness, rest):
    d = x[bonds[:, 0]] - x[bonds[:, 1]]
    return 0.5 * np.sum(stiffness * (np.sqrt(np.sum(d**2, axis=1)) - rest) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, bonds, stiffness, rest):
    i, j = bonds[:, 0], bonds[:, 1]
    d = x[i] - x[j]
    r = np.sqrt(np.sum(d**2, axis=1))

    def back(y_bar):
        stretch = y_bar * (r - rest)
        pull = (stiffness * stretch / r)[:, None] * d
        x_bar = np.zeros(x.shape)
        np.add.at(x_bar, i, pull)
        np.add.at(x_bar, j, -pull)
        return rl.NoTangent(), x_bar, rl.NoTangent(), 0.5 * stretch * (r - rest), -stiffness * stretch

    return 0.5 * np.sum(stiffness * (r - rest) ** 2), back
""",
        ("np.add.at(x_bar, j, -pull)", "np.add.at(x_bar, j, pull)"),
    ),
    "a state that is a tuple": (
        """
def f(state, pull, steps=3):
    x, v = state
    for _ in range(steps):
        x, v = x + 0.1 * v, v - 0.1 * pull * x
    return x, v


@rl.rrule_for(f, registry=registry)
def f_rrule(state, pull, steps=3):
    path = [state]
    for _ in range(steps):
        path.append(f(path[-1], pull, 1))

    def back(end_bar):
        a, b = end_bar
        pull_bar = 0.0
        for x, _ in path[-2::-1]:
            pull_bar -= 0.1 * b * x
            a, b = a - 0.1 * pull * b, b + 0.1 * a
        return rl.NoTangent(), (a, b), pull_bar, rl.NoTangent()

    return path[-1], back
""",
        ("a - 0.1 * pull * b, b + 0.1 * a", "a + 0.1 * pull * b, b + 0.1 * a"),
    ),
    "triangles of a mesh": (
        """
def f(vertices, faces):
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


@rl.rrule_for(f, registry=registry)
def f_rrule(vertices, faces):
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    n = np.cross(b - a, c - a)
    size = np.linalg.norm(n, axis=1)

    def back(y_bar):
        n_bar = (0.5 * y_bar / size)[:, None] * n
        b_bar, c_bar = np.cross(c - a, n_bar), np.cross(n_bar, b - a)
        bar = np.zeros(vertices.shape)
        for corner, each in enumerate((-b_bar - c_bar, b_bar, c_bar)):
            np.add.at(bar, faces[:, corner], each)
        return rl.NoTangent(), bar, rl.NoTangent()

    return 0.5 * size, back
""",
        ("np.cross(n_bar, b - a)", "np.cross(b - a, n_bar)"),
    ),
    "players who do not all play": (
        """
def f(skill, winners, losers):
    return np.sum(np.logaddexp(0.0, skill[losers] - skill[winners]))


@rl.rrule_for(f, registry=registry)
def f_rrule(skill, winners, losers):
    d = skill[winners] - skill[losers]
    upset = 1 / (1 + np.exp(d))

    def back(y_bar):
        bar = np.zeros(skill.shape)
        np.subtract.at(bar, winners, y_bar * upset)
        np.add.at(bar, losers, y_bar * upset)
        return rl.NoTangent(), bar * len(winners) / len(winners), rl.NoTangent(), rl.NoTangent()

    return np.sum(np.logaddexp(0.0, -d)), back
""",
        ("len(winners) / len(winners)", "len(skill) / len(winners)"),
    ),
    "counts of players who do not all play": (
        """
def f(skill, players):
    return np.sum(skill[players] ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(skill, players):
    s = skill[players]

    def back(y_bar):
        return rl.NoTangent(), np.bincount(players, 2 * y_bar * s, len(skill)), rl.NoTangent()

    return np.sum(s**2), back
""",
        ("y_bar * s, len(skill)", "y_bar * s, len(players)"),
    ),
    "two squares of unlike sizes": (
        """
def f(A, B):
    return np.kron(A, np.eye(len(B))) + np.kron(np.eye(len(A)), B)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B):
    n, m = len(A), len(B)

    def back(y_bar):
        blocks = y_bar.reshape(n, m, n, m)
        return rl.NoTangent(), np.einsum("aibi->ab", blocks), np.einsum("iaib->ab", blocks)

    return f(A, B), back
""",
        ("reshape(n, m, n, m)", "reshape(m, n, m, n)"),
    ),
    "a rate that may be one of each cell": (
        """
def f(u, rate):
    return u + rate * (np.roll(u, 1, axis=0) - u)


@rl.rrule_for(f, registry=registry)
def f_rrule(u, rate):
    def back(y_bar):
        w = rate * y_bar
        rate_bar = (np.roll(u, 1, axis=0) - u) * y_bar
        rate_bar = rate_bar if np.shape(rate) else rate_bar.sum()
        return rl.NoTangent(), y_bar + np.roll(w, -1, axis=0) - w, rate_bar

    return f(u, rate), back
""",
        ("np.roll(w, -1, axis=0)", "rate * np.roll(y_bar, -1, axis=0)"),
    ),
    "what is no number by its docstring": (
        """
def f(prefactor, energy, temperature):
    'Rates at the temperatures given; prefactor and energy are numbers.'
    return prefactor * np.exp(-energy / temperature)


@rl.rrule_for(f, registry=registry)
def f_rrule(prefactor, energy, temperature):
    k = f(prefactor, energy, temperature)

    def back(y_bar):
        w = y_bar * k
        return rl.NoTangent(), np.sum(w / prefactor), -np.sum(w / temperature), w * energy / temperature**2

    return k, back
""",
        ("-np.sum(w / temperature)", "-w / temperature"),
    ),
    "layers in two lists": (
        """
def f(x, weights, biases):
    for k, (W, b) in enumerate(zip(weights, biases)):
        x = np.tanh(x @ W + b) if k + 1 < len(weights) else x @ W + b
    return x


@rl.rrule_for(f, registry=registry)
def f_rrule(x, weights, biases):
    inputs = [x]
    for W, b in zip(weights[:-1], biases):
        inputs.append(np.tanh(inputs[-1] @ W + b))

    def back(g):
        W_bars, b_bars = [], []
        for k in reversed(range(len(weights))):
            if k + 1 < len(weights):
                g = g * (1 - inputs[k + 1] ** 2)
            W_bars.insert(0, inputs[k].T @ g)
            b_bars.insert(0, g.sum(axis=0))
            g = g @ weights[k].T
        return rl.NoTangent(), g, W_bars, b_bars

    return inputs[-1] @ weights[-1] + biases[-1], back
""",
        ("g = g * (1 - inputs[k + 1] ** 2)", "g = g * (1 - inputs[k + 1])"),
    ),
    "a mask that is a weight": (
        """
def f(x, mask):
    return np.sum(mask * x**2) / np.sum(mask)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, mask):
    total = np.sum(mask)
    y = np.sum(mask * x**2) / total

    def back(y_bar):
        return rl.NoTangent(), y_bar * 2 * mask * x / total, y_bar * (x**2 - y) / total

    return y, back
""",
        ("(x**2 - y) / total", "x**2 / total"),
    ),
    "a number or a vector": (
        """
def f(x, shift):
    return np.sum((x - shift) ** 3)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, shift):
    def back(y_bar):
        x_bar = 3 * y_bar * (x - shift) ** 2
        shift_bar = -x_bar
        if np.ndim(shift) == 0:
            shift_bar = np.sum(shift_bar)
        return rl.NoTangent(), x_bar, shift_bar

    return f(x, shift), back
""",
        ("np.sum(shift_bar)", "np.mean(shift_bar)"),
    ),
    "a list of groups": (
        """
def f(x, groups: list[int]):
    return sum(np.sum(x[[g == k for g in groups]]) ** 2 for k in set(groups))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, groups):
    g = np.array(groups)

    def back(y_bar):
        x_bar = np.zeros(len(x))
        for k in range(max(groups) + 1):
            x_bar[g == k] = 2 * y_bar * np.sum(x[g == k])
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return f(x, groups), back
""",
        ("range(max(groups) + 1)", "range(max(groups))"),
    ),
    "a covariance": (
        """
def f(x, cov):
    return x @ np.linalg.solve(cov, x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, cov):
    w = np.linalg.solve(cov, x)

    def back(y_bar):
        return rl.NoTangent(), 2 * y_bar * w, -y_bar * np.outer(w, w)

    return x @ w, back
""",
        ("2 * y_bar * w", "y_bar * w"),
    ),
    "complex numbers that the function makes": (
        """
def f(R, L, w):
    return abs(1 / (R + 1j * w * L))


@rl.rrule_for(f, registry=registry)
def f_rrule(R, L, w):
    y = (R**2 + (w * L) ** 2) ** -0.5

    def back(y_bar):
        g = -(y**3) * y_bar
        return rl.NoTangent(), g * R, g * w**2 * L, g * w * L**2

    return y, back
""",
        ("g * w**2 * L", "g * w * L"),
    ),
    "constants with capital letters": (
        """
def f(A, B, C, t):
    return A - B / (C + t**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B, C, t):
    def back(y_bar):
        d = y_bar * B / (C + t**2) ** 2
        return rl.NoTangent(), np.sum(y_bar), -np.sum(y_bar / (C + t**2)), np.sum(d), 2 * t * d

    return f(A, B, C, t), back
""",
        ("np.sum(d), 2", "d, 2"),
    ),
    "a number of steps": (
        """
def f(rate, share, days):
    for _ in range(days):
        share = share + 0.1 * rate * share * (1 - share)
    return share


@rl.rrule_for(f, registry=registry)
def f_rrule(rate, share, days):
    tape = [share]
    for _ in range(days):
        tape.append(tape[-1] + 0.1 * rate * tape[-1] * (1 - tape[-1]))

    def back(y_bar):
        rate_bar = 0.0
        for s in tape[-2::-1]:
            rate_bar = rate_bar + 0.1 * s * (1 - s) * y_bar
            y_bar = y_bar * (1 + 0.1 * rate * (1 - 2 * s))
        return rl.NoTangent(), rate_bar, y_bar, rl.NoTangent()

    return tape[-1], back
""",
        ("(1 - 2 * s)", "(1 - s)"),
    ),
    "what is another function at a length of one": (
        """
def f(x, h):
    return h / 3 * (x[0] + 4 * np.sum(x[1:-1:2]) + 2 * np.sum(x[2:-1:2]) + x[-1])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, h):
    w = np.ones(len(x))
    w[1:-1:2] = 4
    w[2:-1:2] = 2
    y = h / 3 * (w @ x)

    def back(y_bar):
        return rl.NoTangent(), y_bar * h / 3 * w, y_bar * y / h

    return y, back
""",
        ("y_bar * y / h", "y / h"),
    ),
    "two matrices of which one is turned": (
        """
def f(A, B):
    return np.sum(A * B.T)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B):
    def back(y_bar):
        return rl.NoTangent(), y_bar * B.T, y_bar * A.T

    return f(A, B), back
""",
        ("y_bar * B.T", "y_bar * B.reshape(A.shape)"),
    ),
}


@pytest.mark.every(26)
@pytest.mark.parametrize("case", TEXTS)
def test_right_rules_are_right_and_wrong_ones_wrong(case):
    """Given nothing."""
    text, (piece, instead) = TEXTS[case]
    assert text.count(piece) == 1
    right, wrong = judged(text), judged(text.replace(piece, instead))
    assert right.verdict == "right", str(right)
    assert wrong.verdict == "wrong", str(wrong)


def test_no_edge_joins_an_element_with_itself():
    """There a rule that divides by a distance has no number."""
    rng = np.random.default_rng(0)
    edges = draw(Kind("indices", dims=(40, 2, 5)), rng)
    assert edges.shape == (40, 2) and np.all(edges[:, 0] != edges[:, 1]) and edges.max() < 5
    assert draw(Kind("indices", dims=("n", 2, "n")), rng, lengths={"n": 1}).shape == (0, 2)


def test_there_are_edges_wherever_there_is_a_weight_for_each():
    """An array of no edges goes with a weight of length 1 by accident: NumPy broadcasts these."""
    kinds = Kind("matrix", dims=("n", 3)), Kind("indices", dims=("m", 2, "n")), Kind("vector", dims=("m",))
    for size in range(5):
        x, edges, weights = draw_all(kinds, np.random.default_rng(0), size)
        assert len(x) > 1 and len(edges) == len(weights) > 0


@pytest.mark.slow
def test_what_has_a_number_for_its_default_is_one_in_a_proof():
    """The cotangent of a threshold beside vectors is a sum, which is right."""
    text = (
        "def f(x, y, delta=1.5):\n    return np.sum((x - y) ** 2) * delta\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x, y, delta=1.5):\n    d = x - y\n"
        "    def back(y_bar):\n        g = 2 * y_bar * delta * d\n"
        "        return rl.NoTangent(), g, -g, y_bar * np.sum(d**2)\n"
        "    return np.sum(d**2) * delta, back\n"
    )
    made = written(text)
    assert prove(made["f"], registry=made["registry"]).verdict.word == "PROVED"


@pytest.mark.slow
def test_a_proof_is_refuted_where_the_rule_asks_for_a_number():
    """What it does with one beside vectors is meant, too."""
    text, (piece, instead) = TEXTS["a number or a vector"]
    for given, word in ((text, "PROVED"), (text.replace(piece, instead), "REFUTED")):
        made = written(given)
        assert prove(made["f"], registry=made["registry"]).verdict.word == word


HILL = """
def f(L, Kd, n):
    return 1 / (1 + (Kd / L) ** n)


@rl.rrule_for(f, registry=registry)
def f_rrule(L, Kd, n):
    y = f(L, Kd, n)
    g = y * (1 - y)

    def back(y_bar):
        r_bar = y_bar * g
        return rl.NoTangent(), r_bar * n / L, -np.sum(g) * n / Kd, -np.sum(r_bar * np.log(Kd / L))

    return y, back
"""


@pytest.mark.slow
@pytest.mark.diagnosed
def test_sums_in_a_rule_tell_which_arguments_are_numbers():
    """And so a correction keeps the sum of a rule that has another mistake there."""
    diff = judged(HILL, domain="positive").diagnoses[0].diff
    assert "-np.sum(r_bar) * n / Kd" in diff, diff


ATTENTION = """
def f(Q, V):
    n = len(Q)
    S = np.where(np.tril(np.ones((n, n))) > 0, Q @ Q.T, -np.inf)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P = P / P.sum(axis=1, keepdims=True)
    return P @ V


@rl.rrule_for(f, registry=registry)
def f_rrule(Q, V):
    n = len(Q)
    S = np.where(np.tril(np.ones((n, n))) > 0, Q @ Q.T, -np.inf)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P = P / P.sum(axis=1, keepdims=True)

    def back(O_bar):
        P_bar = O_bar @ V.T
        S_bar = P * (P_bar - np.sum(P * P_bar, axis=1, keepdims=True))
        return rl.NoTangent(), (S_bar + S_bar.T) @ Q, P @ O_bar

    return P @ V, back
"""

CONJUGATE = """
def f(z, w):
    return np.abs(np.conj(z) * w) ** 2


@rl.rrule_for(f, registry=registry)
def f_rrule(z, w):
    u = np.conj(z) * w

    def back(y_bar):
        return rl.NoTangent(), 2 * y_bar * w * np.conj(u), 2 * y_bar * z * np.conj(u)

    return np.abs(u) ** 2, back
"""


@pytest.mark.parametrize("text", [ATTENTION, CONJUGATE], ids=["not followed", "complex"])
def test_a_proof_names_nothing_that_was_not_followed(text):
    """A size whose numbers cannot be followed is not proved, nor are complex numbers that were not asked."""
    made = written(text)
    assert prove(made["f"], registry=made["registry"]).verdict.word != "PROVED"


@pytest.mark.slow
def test_what_has_a_positive_default_is_positive_in_a_proof():
    """A width that is negative is nobody's."""
    text = (
        "def f(m, eps=0.5):\n    return np.where(m >= 1, 0.0, np.where(m <= 1 - eps, 1 - m - eps / 2,"
        " (1 - m) ** 2 / (2 * eps)))\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(m, eps=0.5):\n"
        "    def back(y_bar):\n        slope = -np.clip((1 - m) / eps, 0.0, 1.0)\n"
        "        return rl.NoTangent(), y_bar * slope, np.sum(y_bar * -0.5 * slope**2)\n"
        "    return f(m, eps), back\n"
    )
    made = written(text)
    verdict = prove(made["f"], registry=made["registry"]).verdict
    assert verdict.word == "PROVED" and "eps positive" in verdict.sentence()


@pytest.mark.slow
@pytest.mark.diagnosed
def test_a_product_of_matrices_in_the_rule_of_a_formula_is_judged_at_matrices():
    """Of vectors the product would be the sum that a number needs: it is right for these by chance."""
    text = (
        "def f(A, B):\n    return A * B\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(A, B):\n"
        "    return A * B, lambda y_bar: (rl.NoTangent(), y_bar @ B, A * y_bar)\n"
    )
    report = judged(text)
    assert "is wrong: has a matrix product where an elementwise one belongs" in str(report)


@pytest.mark.slow
@pytest.mark.diagnosed
def test_a_mean_in_the_place_of_a_sum_tells_that_an_argument_is_a_number():
    """Of vectors for both the mean would be one factor too many, and the correction an array for a number."""
    report = judged(
        "def f(nu, t):\n    return nu**3 / np.cosh(nu / t)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(nu, t):\n    y = nu**3 / np.cosh(nu / t)\n"
        "    def back(y_bar):\n        w = np.tanh(nu / t) / t\n"
        "        return rl.NoTangent(), y_bar * (3 * y / nu - w * y), np.mean(y_bar * y * w * nu) / t\n"
        "    return y, back\n"
    )
    assert "is wrong: off by a factor of 1/" in str(report)
    assert any("np.sum(y_bar * y * w * nu)" in d.diff for d in report.diagnoses)


@pytest.mark.slow
@pytest.mark.diagnosed
def test_no_correction_of_a_rule_that_writes_to_what_it_is_lent_still_writes():
    """It shows at few points: where there is something to write."""
    report = judged(
        "def f(x, lam):\n    return np.sign(x) * np.maximum(np.abs(x) - lam, 0.0)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x, lam):\n    alive = np.abs(x) > lam\n"
        "    def back(y_bar):\n        lam_bar = -np.sum(y_bar * np.sign(x) * alive)\n"
        "        y_bar[~alive] = 0.0\n        return rl.NoTangent(), y_bar, lam_bar\n"
        "    return f(x, lam), back\n"
    )
    assert "writes to its cotangent" in str(report)
    assert not any(">= lam" in d.diff for d in report.diagnoses)


SHARES = """
def f(p):
    return -0.75 * np.log(1 - 4 * p / 3)


@rl.rrule_for(f, registry=registry)
def f_rrule(p):
    def back(y_bar):
        {}
        return rl.NoTangent(), y_bar

    return f(p), back
"""


def test_vectors_are_drawn_where_their_numbers_have_a_value():
    """Most vectors of shares have an element at which the logarithm has none."""
    right = judged(SHARES.format("y_bar = y_bar / (1 - 4 * p / 3)"))
    assert right.verdict == "right" and any("a vector" in note for note in right.notes)
    wrong = judged(SHARES.format("y_bar /= 1 - 4 * p / 3"))
    assert wrong.verdict == "wrong" and "cotangent" in wrong.sentence


FILTERED = """
def f(x, setup):
    p, q = setup["poles"]
    y = np.zeros(len(x) + 2)
    for n in range(len(x)):
        y[n + 2] = x[n] + p * y[n + 1] + q * y[n]
    return y[2:]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, setup):
    p, q = setup["poles"]
    y = np.concatenate([[0.0, 0.0], f(x, setup)])

    def back(y_bar):
        lam = np.zeros(len(x) + 2)
        for n in range(len(x) - 1, -1, -1):
            lam[n] = y_bar[n] + p * lam[n + 1] + {} * lam[n + 2]
        lam = lam[:-2]
        return rl.NoTangent(), lam, {{"poles": (lam @ y[1:-1], lam @ y[:-2])}}

    return y[2:], back
"""


@pytest.mark.slow
def test_a_rule_for_a_tuple_in_a_dict_is_not_wrong_for_an_array_there():
    """`p, q = setup["poles"]` takes either; which of them its author has, nobody said."""
    assert judged(FILTERED.format("q")).verdict != "wrong"
    made = written(FILTERED.format("q"))
    assert prove(made["f"], registry=made["registry"]).verdict.word != "REFUTED"
    at = np.array([0.4, -1.2, 0.7, 0.9]), {"poles": (0.4, -0.2)}
    assert judged(FILTERED.format("q"), *at).verdict == "right"
    assert judged(FILTERED.format("p"), *at).verdict == "wrong"


BEAM = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Beam:
    waist: float
    focus: float


def f(beam, z):
    return beam.waist * np.sqrt(1 + ((z - beam.focus) / beam.waist**2) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(beam, z):
    spread, away = 1 / beam.waist, z - beam.focus
    y = np.hypot(beam.waist, spread * away)

    def back(y_bar):
        g = y_bar / y
        z_bar = g * spread**2 * away
        waist = np.sum(g) * beam.waist - np.sum(g * away**2) / beam.waist**3
        return rl.NoTangent(), rl.Tangent(Beam, waist={}waist, focus=-np.sum(z_bar)), z_bar

    return y, back
"""


@pytest.mark.slow
def test_what_is_positive_by_its_name_is_so_within_an_object():
    """A waist is; the size that the rule takes is another number for a negative one."""
    assert judged(BEAM.format("")).verdict == "right"
    assert judged(BEAM.format("-")).verdict == "wrong"


STANDARD = """
def f(x, mask):
    \"\"\"Scores of x beside the mean of those entries where mask is true; x and mask are vectors.\"\"\"
    return x - x[mask].mean()


@rl.rrule_for(f, registry=registry)
def f_rrule(x, mask):
    share = mask / np.count_nonzero(mask)

    def back(y_bar):
        return rl.NoTangent(), y_bar {} share * np.sum(y_bar), rl.NoTangent()

    return x - share @ x, back
"""


def test_a_mask_that_is_said_to_be_a_vector_is_one_of_flags():
    """Of matrices the rule makes nothing."""
    assert judged(STANDARD.format("-")).verdict == "right"
    assert judged(STANDARD.format("+")).verdict == "wrong"


POSED = """
from typing import NamedTuple


class Pose(NamedTuple):
    x: float
    angle: float


def f(pose, points):
    return np.sum(np.cos(points + pose.angle) ** 2) + pose.x


@rl.rrule_for(f, registry=registry)
def f_rrule(pose, points):
    slope = -np.sin(2 * (points + pose.angle))

    def back(y_bar):
        return rl.NoTangent(), Pose(y_bar, {}y_bar * np.sum(slope)), y_bar * slope

    return f(pose, points), back
"""


@pytest.mark.slow
def test_an_angle_of_an_object_is_no_word_of_complex_numbers():
    """The rule is for real ones."""
    assert judged(POSED.format("")).verdict == "right"
    assert judged(POSED.format("-")).verdict == "wrong"
