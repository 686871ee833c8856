"""The doctor finds what was left out among all parts of the rule's and the function's text."""

import linecache

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import doctor
from rulelab.checking.testers import rule_check
from rulelab.rules.registry import Registry

SCALE = 1.7
LACKING = {
    "a constant of the module": (
        "def f(x, a):\n    return np.sin(SCALE * x) / a\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x, a):\n"
        "    def back(y_bar):\n        slope = np.cos(SCALE * x) / a\n"
        "        return rl.NoTangent(), y_bar * slope, -y_bar * np.sin(SCALE * x) / a**2\n"
        "    return f(x, a), back\n",
        "factor",
    ),
    "an item of a dict": (
        "def f(x, p):\n    return x**2 / p['w'] + x * p['h']\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: float, p: dict):\n"
        "    def back(y_bar):\n"
        "        p_bar = {'w': -y_bar * x**2 / p['w']**2, 'h': y_bar * x}\n"
        "        return rl.NoTangent(), y_bar * 2 * x / p['w'], rl.Tangent(dict, p_bar)\n"
        "    return f(x, p), back\n",
        "lacks_term",
    ),
    "a function of the same thing": (
        "def f(x, k):\n    return np.sum(k * np.cosh(x))\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: np.ndarray, k: float):\n"
        "    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * k * np.sin(x), y_bar * np.sum(np.cosh(x))\n"
        "    return f(x, k), back\n",
        "other_function",
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
    ),
    "the keywords of another call": (
        "def f(x):\n    e = np.exp(x)\n    return e / np.sum(e, axis=-1, keepdims=True)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x: np.ndarray):\n    p = f(x)\n"
        "    def back(y_bar):\n        return rl.NoTangent(), p * (y_bar - np.sum(y_bar * p))\n"
        "    return p, back\n",
        "wrong_axis",
    ),
}


@pytest.mark.parametrize("case", LACKING)
def test_what_was_left_out_is_found_in_the_texts(case, monkeypatch):
    monkeypatch.setattr(doctor.Strict, "raises", True)
    text, mistake = LACKING[case]
    filename = f"<grafts {case}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = {"np": np, "rl": rl, "registry": Registry(), "SCALE": SCALE, "__name__": "written"}
    exec(compile(text, filename, "exec"), made)
    given = {
        "an item of a dict": (1.3, {"w": 0.7, "h": 2.1}),
        "the keywords of another call": (np.ones((2, 3)) * [0.1, 0.5, 0.9],),
    }
    diagnosis = rule_check(made["f"], *given.get(case, ()), registry=made["registry"]).diagnoses[0]
    assert diagnosis.mistake == mistake
