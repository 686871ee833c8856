"""The doctor finds what was left out among all parts of the rule's and the function's text."""

import numpy as np
import pytest

from rulelab.checking import doctor

from .written_rules import corrected, judged


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over."""
    monkeypatch.setattr(doctor.Strict, "raises", True)


LACKING = {  # the function and its rule with a mistake, what it is called, and what the correction has
    "a constant of the module": (
        "SCALE = 1.7\ndef f(x, a):\n    return np.sin(SCALE * x) / a\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x, a):\n"
        "    def back(y_bar):\n        slope = np.cos(SCALE * x) / a\n"
        "        return rl.NoTangent(), y_bar * slope, -y_bar * np.sin(SCALE * x) / a**2\n"
        "    return f(x, a), back\n",
        "factor",
        "slope * SCALE",
    ),
    "an item of a dict": (
        "def f(x, p):\n    return x**2 / p['w'] + x * p['h']\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: float, p: dict):\n"
        "    def back(y_bar):\n"
        "        p_bar = {'w': -y_bar * x**2 / p['w']**2, 'h': y_bar * x}\n"
        "        return rl.NoTangent(), y_bar * 2 * x / p['w'], rl.Tangent(dict, p_bar)\n"
        "    return f(x, p), back\n",
        "lacks_term",
        "p['h']",
    ),
    "a function of the same thing": (
        "def f(x, k):\n    return np.sum(k * np.cosh(x))\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: np.ndarray, k: float):\n"
        "    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * k * np.sin(x), y_bar * np.sum(np.cosh(x))\n"
        "    return f(x, k), back\n",
        "other_function",
        "sinh",
    ),
    "what a loop carries": (
        "def f(x, a):\n    s = 0.0\n    for v in x:\n        s = a * s * v + np.sin(v)\n    return s\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: np.ndarray, a: float):\n"
        "    n, s = len(x), 0.0\n    before = np.zeros(n)\n"
        "    for i in range(n):\n        before[i] = s\n        s = a * s * x[i] + np.sin(x[i])\n"
        "    def back(y_bar):\n        x_bar, a_bar, s_bar = np.zeros(n), 0.0, y_bar\n"
        "        for i in range(n - 1, -1, -1):\n"
        "            x_bar[i] = s_bar * np.cos(x[i])\n"
        "            a_bar += s_bar * before[i] * x[i]\n            s_bar = a * s_bar * x[i]\n"
        "        return rl.NoTangent(), x_bar, a_bar\n    return s, back\n",
        "lacks_term",
        "a * before[i]",
    ),
    "the keywords of another call": (
        "def f(x):\n    e = np.exp(x)\n    return e / np.sum(e, axis=-1, keepdims=True)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: np.ndarray):\n    p = f(x)\n"
        "    def back(y_bar):\n        return rl.NoTangent(), p * (y_bar - np.sum(y_bar * p))\n"
        "    return p, back\n",
        "wrong_axis",
        "",
    ),
    "a product in a sum": (
        "def f(V, x):\n    return 0.5 * np.sum((V.T @ x) ** 2 - (V.T**2) @ x**2)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(V: np.ndarray, x: np.ndarray):\n    s = V.T @ x\n"
        "    def f_pullback(y_bar):\n        V_bar = np.outer(x, s) - V * x[:, None] ** 2\n"
        "        return rl.NoTangent(), y_bar * V_bar, y_bar * (V @ s)\n"
        "    return 0.5 * np.sum(s**2 - (V.T**2) @ x**2), f_pullback\n",
        "lacks_term",
        "** 2",
    ),
}
GIVEN = {
    "an item of a dict": (1.3, {"w": 0.7, "h": 2.1}),
    "the keywords of another call": (np.ones((2, 3)) * [0.1, 0.5, 0.9],),
}


@pytest.mark.parametrize("case", LACKING)
def test_what_was_left_out_is_found_in_the_texts(case):
    """By the numbers alone; and a correction is right at all points of another check."""
    text, mistake, has = LACKING[case]
    given = GIVEN.get(case, ())
    first = judged(text, *given).diagnoses[0]
    assert first.mistake == mistake
    assert has in first.diff, first
    assert not has or judged(corrected(text, first.diff), *given).verdict == "right"


def test_a_missing_sum_is_taken_as_beside():
    """The module's own helper also keeps axes of length 1, which the drawn points may not have."""
    text = (
        "def f(X, gain, offset):\n    '''gain and offset broadcast to X.'''\n    return X * gain + offset\n"
        "def sum_to(grad, shape):\n    while grad.ndim > len(shape):\n        grad = grad.sum(axis=0)\n"
        "    ones = tuple(k for k, size in enumerate(shape) if size == 1)\n"
        "    return grad.sum(axis=ones, keepdims=True)\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(X: np.ndarray, gain: np.ndarray, offset: np.ndarray):\n    def back(y_bar):\n"
        "        gain_bar = y_bar * X\n        offset_bar = sum_to(y_bar.copy(), offset.shape)\n"
        "        return rl.NoTangent(), sum_to(y_bar * gain, X.shape), gain_bar, offset_bar\n"
        "    return X * gain + offset, back\n"
    )
    first = judged(text).diagnoses[0]
    assert first.mistake == "broadcast_sum"
    assert "+        gain_bar = sum_to(y_bar * X, gain.shape)" in first.diff
