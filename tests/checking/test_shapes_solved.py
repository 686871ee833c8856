"""Lengths of a dict's entries, solved from the products in a function's text."""

import time
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.reading import shapes_solved as module
from rulelab.checking.reading.shapes_solved import shapes_solved, solved_together

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def lstm(p, h, c, x):
    i = sigmoid(p["Wi"] @ x + p["Ui"] @ h + p["bi"])
    f = sigmoid(p["Wf"] @ x + p["Uf"] @ h + p["bf"])
    return f * c + i * np.tanh(p["Wc"] @ x + p["Uc"] @ h)


def two_layers(x, p):
    return np.maximum(x @ p["W1"] + p["b1"], 0) @ p["W2"] + p["b2"]


def quadratic(p, x):
    return x @ p["Q"] @ x + p["c"] @ x + p["r"]


def residual(p, x):
    h = np.tanh(np.dot(p["W"], x) + p["b"])
    return x + p["V"].dot(h)


def turned(p, x):
    return p["W"].T @ x


def scaled(p, x):
    return p["a"] * np.exp(-p["k"] * x)


def of_vectors(p, x):
    return p["w"] @ x + p["b"]


SOLVED = {
    lstm: {
        **{"Wi": "nm", "Wf": "nm", "Wc": "nm", "Ui": "np", "Uf": "np", "Uc": "np", "bi": "n", "bf": "n"},
        **{"x": "m", "h": "p"},
    },
    two_layers: {"W1": "nm", "b1": "m", "W2": "mp", "b2": "p", "x": "n"},
    quadratic: {"Q": "nn", "c": "n", "r": "", "x": "n"},
    residual: {"W": "nm", "b": "n", "V": "mn", "x": "m"},
    turned: {"W": "mn", "x": "m"},
    scaled: {},
    of_vectors: {},
}


def made_of_itself(W, x):
    for _ in range(60):
        x = x * x * np.tanh(W @ x) - x * x + x
    return x


def in_many_lines(W, x):
    a = W @ x
    c = a * a * a
    d = c * c * c
    e = d * d * d
    g = e * e * e
    h = g * g * g
    i = h * h * h
    j = i * i * i
    k = j * j * j
    return k * k * k


@pytest.mark.parametrize(
    ("f", "dims"),
    [(made_of_itself, {}), (in_many_lines, {"W": "nm", "x": "m"})],
)
def test_what_is_made_of_the_same_many_times_is_read_once(f, dims):
    """A name is read once, however often and within how many others it stands: not three times as often with
    each line.
    """
    began = time.process_time()
    found = next(solved_together(f), {})
    assert {name: "".join(kind.dims) for name, kind in found.items()} == dims
    assert time.process_time() - began < 1


@pytest.mark.parametrize("f", SOLVED, ids=lambda f: f.__name__)
def test_lengths_are_solved(f):
    """Each letter is one length, in all arguments; what the text does not tell is left to be guessed."""
    found = {}
    for name, kinds in shapes_solved(f).items():
        parts = kinds[0].parts or ((name, kinds[0]),)
        found |= {key: "".join(map(str, kind.dims)) for key, kind in parts}
    assert found == SOLVED[f]


def recurrent(x, h, Wx, Wh, b):
    return 0.7 * h + 0.3 * np.tanh(Wx @ x + Wh @ h + b)


def correlated(S, mu, eps):
    return mu + np.linalg.cholesky(S) @ eps


def observed(A, C, K, state, y):
    return A @ state + K @ (y - C @ state)


def low_rank(u, v, x):
    return u.T @ (v @ x)


def whitened(M, x):
    return np.linalg.solve(M, x) @ x


def gated(g, x, h):
    return np.tanh(g.w @ x + g.u @ h + g.b)


def along(w, x):
    return w @ x


TOGETHER = {
    recurrent: {"Wx": "nm", "x": "m", "Wh": "nn", "h": "n", "b": "n"},
    correlated: {"S": "nn", "eps": "n", "mu": "n"},
    observed: {"A": "nm", "state": "m", "C": "pm", "K": "np", "y": "p"},
    low_rank: {"v": "nm", "x": "m", "u": "np"},
    whitened: {"M": "nn", "x": "n"},
    gated: {"w": "nm", "u": "np", "b": "n", "x": "m", "h": "p"},
    along: {"w": "nm", "x": "m"},
}


@pytest.mark.parametrize("f", TOGETHER, ids=lambda f: f.__name__)
def test_lengths_of_all_parameters_are_solved_together(f):
    """By their names, or with a matrix on the left of each product: one of the readings has these lengths."""
    wanted = _alike(TOGETHER[f])
    assert wanted in [_alike(read) for read in _readings(f)]


def _readings(f):
    for kinds in solved_together(f):
        parts = [part for name, kind in kinds.items() for part in kind.parts or ((name, kind),)]
        yield {name: "".join(map(str, kind.dims)) for name, kind in parts}


def _alike(lengths):
    """The lengths with letters in the order in which they come, the names in that of the alphabet."""
    seen = "".join(letters for _, letters in sorted(lengths.items()))
    order = {letter: number for number, letter in enumerate(dict.fromkeys(seen))}
    return {name: [order[letter] for letter in letters] for name, letters in lengths.items()}


def beside_each_other(h, x, W, b):
    joined = np.concatenate([h, x])
    return h + np.tanh(W @ joined + b)


def test_a_matrix_of_vectors_that_are_joined_has_as_many_columns_as_both_are_long():
    found = next(solved_together(beside_each_other))
    assert {name: kind.dims for name, kind in found.items()} == {
        "h": ("n",),
        "x": ("m",),
        "W": ("n", "n+m"),
        "b": ("n",),
    }


# --- rules, right and with a mistake ------------------------------------------------------------------------


def cell(p, h, x):
    return np.tanh(p["U"] @ h + p["V"] @ x + p["b"])


def cell_with(v_bar):
    def rule(p, h, x):
        y = cell(p, h, x)

        def pullback(y_bar):
            a_bar = y_bar * (1 - y**2)
            p_bar = {"U": np.outer(a_bar, h), "V": v_bar(a_bar, x), "b": a_bar}
            return NO, p_bar, p["U"].T @ a_bar, p["V"].T @ a_bar

        return y, pullback

    return rule


def layer(x, p):
    return np.maximum(x @ p["W"] + p["b"], 0)


def layer_with(b_bar):
    def rule(x, p):
        y = layer(x, p)

        def pullback(y_bar):
            a_bar = y_bar * (y > 0)
            return NO, a_bar @ p["W"].T, {"W": x.T @ a_bar, "b": b_bar(a_bar)}

        return y, pullback

    return rule


def system(m, x, u):
    return m["A"] @ x + m["B"] @ u


def system_with(turn):
    def rule(m, x, u):
        def pullback(y_bar):
            m_bar = {"A": np.outer(y_bar, x), "B": np.outer(y_bar, u)}
            return NO, m_bar, turn(m["A"]) @ y_bar, m["B"].T @ y_bar

        return system(m, x, u), pullback

    return rule


RULES = {
    "outer product": (cell, cell_with(np.outer), cell_with(lambda a, x: np.outer(x, a).reshape(a.size, -1))),
    "entry forgotten": (cell, cell_with(np.outer), cell_with(lambda a, x: 0 * np.outer(a, x))),
    "mean for a sum": (layer, layer_with(lambda a: a.sum(axis=0)), layer_with(lambda a: a.mean(axis=0))),
    "transposition": (system, system_with(np.transpose), system_with(lambda a: a.T[::-1])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_rules_of_such_dicts_are_judged_given_nothing(name):
    """The right one is right, and the wrong one is wrong."""
    f, right, wrong = RULES[name]
    assert rule_check(f, registry=registry_with(f, right)).verdict == "right"
    assert rule_check(f, registry=registry_with(f, wrong)).verdict == "wrong"


def recurrent_with(turn):
    def rule(x, h, Wx, Wh, b):
        t = np.tanh(Wx @ x + Wh @ h + b)

        def pullback(y_bar):
            a_bar = 0.3 * y_bar * (1 - t**2)
            h_bar = 0.7 * y_bar + turn(Wh) @ a_bar
            return NO, Wx.T @ a_bar, h_bar, np.outer(a_bar, x), np.outer(a_bar, h), a_bar

        return 0.7 * h + 0.3 * t, pullback

    return rule


class Gate(NamedTuple):
    w: np.ndarray
    u: np.ndarray
    b: np.ndarray


def opened(g: Gate, x, h):
    return np.tanh(g.w @ x + g.u @ h + g.b)


def opened_with(w_bar):
    def rule(g: Gate, x, h):
        y = opened(g, x, h)

        def pullback(y_bar):
            a_bar = y_bar * (1 - y**2)
            g_bar = rl.Tangent(Gate, w=w_bar(a_bar, x), u=np.outer(a_bar, h), b=a_bar)
            return NO, g_bar, g.w.T @ a_bar, g.u.T @ a_bar

        return y, pullback

    return rule


def correlated_with(sign):
    def rule(S, mu, eps):
        L = np.linalg.cholesky(S)

        def pullback(y_bar):
            inner = np.tril(L.T @ np.tril(np.outer(y_bar, eps)))
            inner[np.diag_indices(len(L))] /= 2
            S_bar = np.linalg.solve(L.T, np.linalg.solve(L.T, inner).T)
            return NO, (S_bar + S_bar.T) / 2, y_bar.copy(), sign * (L.T @ y_bar)

        return mu + L @ eps, pullback

    return rule


OF_SEVERAL = {
    "recurrent": (recurrent, recurrent_with(np.transpose), recurrent_with(lambda W: W)),
    "opened": (opened, opened_with(np.outer), opened_with(lambda a, x: np.outer(a, x) / x.size)),
    "correlated": (correlated, correlated_with(1), correlated_with(-1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_SEVERAL)
def test_rules_of_products_of_several_parameters_are_judged_given_nothing(name):
    f, right, wrong = OF_SEVERAL[name]
    assert rule_check(f, registry=registry_with(f, right)).verdict == "right"
    assert rule_check(f, registry=registry_with(f, wrong), depth="quick").verdict == "wrong"


def test_a_name_made_of_names_is_read_once(monkeypatch):
    """Means of means of variances: each way to a number was gone anew, for seconds."""

    def similar(a, b, p):
        s = a @ b + p["c"]
        t = (s + s) * (s - s) + (s * s) / (s + s)
        u = (t + t) * (t - t) + (t * t) / (t + t)
        v = (u + u) * (u - u) + (u * u) / (u + u)
        w = (v + v) * (v - v) + (v * v) / (v + v)
        return (w + w) * (w - w) + (w * w) / (w + w)

    read, calls = module._Solver._read, []
    monkeypatch.setattr(module._Solver, "_read", lambda self, *args: calls.append(args) or read(self, *args))
    shapes_solved(similar)
    assert len(calls) < 2000
