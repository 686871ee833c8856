"""Lengths of a dict's entries, solved from the products in a function's text."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.shapes_solved import shapes_solved

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


@pytest.mark.parametrize("f", SOLVED, ids=lambda f: f.__name__)
def test_lengths_are_solved(f):
    """Each letter is one length, in all arguments; what the text does not tell is left to be guessed."""
    found = {}
    for name, kinds in shapes_solved(f).items():
        parts = kinds[0].parts or ((name, kinds[0]),)
        found |= {key: "".join(map(str, kind.dims)) for key, kind in parts}
    assert found == SOLVED[f]


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


@pytest.mark.parametrize("name", RULES)
def test_rules_of_such_dicts_are_judged_given_nothing(name):
    """The right one is right, and the wrong one is wrong."""
    f, right, wrong = RULES[name]
    assert rule_check(f, registry=registry_with(f, right)).verdict == "right"
    assert rule_check(f, registry=registry_with(f, wrong)).verdict == "wrong"
