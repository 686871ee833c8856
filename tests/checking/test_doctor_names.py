"""What a mistake is called is what its author would say of the line, where a correction of it is right."""

import ast
import re

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import doctor
from rulelab.checking.doctor.counterparts import transposed_terms
from rulelab.rules.registry import Registry

from .written_rules import corrected, judged


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over."""
    monkeypatch.setattr(doctor.Strict, "raises", True)


R = "@rl.rrule_for(f, registry=registry)\ndef f_rrule"
CALLED = {  # the function and its rule with a mistake, what it is called, what its words and the diff have
    "in a rule that counts its calls": (
        "CALLS = {'back': 0}\ndef f(x, k):\n    return k * np.sum(np.sin(x[1:]) * x[:-1])\n"
        f"{R}(x: np.ndarray, k: float):\n    def back(y_bar):\n        CALLS['back'] += 1\n"
        "        x_bar = np.zeros(len(x))\n        x_bar[:-1] += y_bar * k * np.sin(x[1:])\n"
        "        x_bar[:-1] += y_bar * k * np.cos(x[1:]) * x[:-1]\n"
        "        return rl.NoTangent(), x_bar, y_bar * np.sum(np.sin(x[1:]) * x[:-1])\n"
        "    return f(x, k), back\n",
        "wrong_element",
        "`[1:]` belongs",
        "x_bar[1:] += y_bar * k * np.cos",
    ),
    "beside what has no end as a sequence": (
        "def f(x):\n    return np.sum(x * np.r_[0.0, x[:-1]])\n"
        f"{R}(x: np.ndarray):\n    before, joined = np.r_[0.0, x[:-1]], np.r_\n    join = np.r_\n"
        "    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * (before - join[x[1:], 0.0])\n"
        "    return np.sum(x * joined[0.0, x[:-1]]), back\n",
        "sign",
        "where `before + join",
        "before + join[x[1:], 0.0]",
    ),
    "a transposition beside a number": (
        "def f(U, V):\n    return np.sum(U * V) ** 2 / len(U)\n"
        f"{R}(U: np.ndarray, V: np.ndarray):\n    both = np.sum(U * V)\n    def back(y_bar):\n"
        "        c = 2 * both / len(U) * y_bar\n        return rl.NoTangent(), c * V, c * U.T\n"
        "    return both**2 / len(U), back\n",
        "transposed",
        "gives the transpose of the derivative",
        "(c * U.T).T",
    ),
    "a conjugate beside what is complex alone": (
        "def f(w, z, t):\n    return np.abs(np.sum(w * z * np.exp(-1j * t * np.arange(len(z))))) ** 2\n"
        f"{R}(w, z, t):\n    k = np.arange(len(z))\n    turn = np.exp(-1j * t * k)\n"
        "    s = np.sum(w * z * turn)\n    def back(p_bar):\n        s_bar = 2 * p_bar * s\n"
        "        w_bar = np.real(s_bar * z * turn)\n"
        "        t_bar = np.imag(np.conj(s_bar) * np.sum(k * w * z * turn))\n"
        "        return rl.NoTangent(), w_bar, s_bar * w * np.conj(turn), t_bar\n"
        "    return abs(s) ** 2, back\n",
        "conjugate",
        "where `np.conj(s_bar)` belongs",
        "np.real(np.conj(s_bar) * z * turn)",
    ),
    "a second name of an array that is added to": (
        "def f(x, p):\n    w = 1 + x[:, 0] ** 2\n    return np.sum((x - p) ** 2 / w[:, None])\n"
        f"{R}(x, p):\n    w = 1 + x[:, 0] ** 2\n    d = x - p\n    def back(y_bar):\n"
        "        d_bar = 2 * y_bar * d / w[:, None]\n        x_bar = d_bar\n"
        "        x_bar[:, 0] -= 2 * y_bar * x[:, 0] * np.sum(d**2, axis=1) / w**2\n"
        "        return rl.NoTangent(), x_bar, -d_bar\n    return f(x, p), back\n",
        "overwrites",
        "uses one array under two names",
        "x_bar = d_bar.copy()",
    ),
    "the conjugate of all factors but the cotangent": (
        "def f(g: float, z: complex):\n    return g * z**2 / (z**2 + 2 * g)\n"
        f"{R}(g: float, z: complex):\n    d = z**2 + 2 * g\n    y = g * z**2 / d\n    def back(y_bar):\n"
        "        d_bar = -y_bar * y / d\n        g_bar = np.real(y_bar * np.conj(z**2 / d) + 2 * d_bar)\n"
        "        return rl.NoTangent(), g_bar, y_bar * np.conj(2 * g * z / d) + d_bar * np.conj(2 * z)\n"
        "    return y, back\n",
        "conjugate",
        "`-y_bar * np.conj(y / d)` belongs",
        "d_bar = -y_bar * np.conj(y / d)",
    ),
    "a matrix that is transposed in two products": (
        "def f(A, t, v):\n    Q = A * t\n    return (np.eye(3) + Q + Q @ Q / 2) @ v\n"
        f"{R}(A, t, v):\n    Q = A * t\n    P = np.eye(3) + Q + Q @ Q / 2\n    def back(y_bar):\n"
        "        P_bar = np.outer(y_bar, v)\n        Q_bar = P_bar + (P_bar @ Q + Q @ P_bar) / 2\n"
        "        return rl.NoTangent(), t * Q_bar, np.sum(Q_bar * A), P.T @ y_bar\n"
        "    return P @ v, back\n",
        "transposed",
        "has `Q` where `Q.T` belongs",
        "(P_bar @ Q.T + Q.T @ P_bar)",
    ),
    "what scales a sum": (
        "def f(x, k):\n    return 0.5 * k * np.sum((np.roll(x, -1, axis=0) - x) ** 2)\n"
        f"{R}(x, k):\n    d = np.roll(x, -1, axis=0) - x\n    def back(y_bar):\n"
        "        d_bar = k * y_bar * d\n        x_bar = np.roll(d_bar, -1, axis=0) - d_bar\n"
        "        return rl.NoTangent(), x_bar, 0.5 * y_bar * np.sum(d**2)\n    return f(x, k), back\n",
        "sign",
        "has `-1` where `1` belongs",
        "np.roll(d_bar, 1, axis=0)",
    ),
    "the mean of what is summed": (
        "def f(x, a, w):\n    return w * np.sum(np.log(x**2 + 1 + a**2))\n"
        f"{R}(x, a, w):\n    s = x**2 + 1 + a**2\n    def back(y_bar):\n        g = w * y_bar / s\n"
        "        a_bar = 2 * a * np.mean(g)\n"
        "        return rl.NoTangent(), 2 * x * g, a_bar, y_bar * np.sum(np.log(s))\n"
        "    return w * np.sum(np.log(s)), back\n",
        "factor",
        "off by a factor",
        "2 * a * np.sum(g)",
    ),
    "a limit that is left out": (
        "def f(v, k):\n    top = 0.8\n    if v <= top:\n        return k * np.exp(v)\n"
        "    return k * np.exp(top) * (1 + v - top)\n"
        f"{R}(v: float, k: float):\n    c = v\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * k * np.exp(c), y_bar * np.exp(c) * (1 + v - c)\n"
        "    return f(v, k), back\n",
        "branch",
        "wrong where v > 0.8",
        "c = min(v, 0.8)",
    ),
    "all that there are for those that count": (
        "def f(x, y, valid):\n    return np.mean((x - y)[valid] ** 2)\n"
        f"{R}(x, y, valid):\n    keep = np.array(valid)\n    def back(y_bar):\n"
        "        g = 2 * y_bar * np.where(keep, x - y, 0.0) / len(x)\n"
        "        return rl.NoTangent(), g, -g, rl.NoTangent()\n    return f(x, y, valid), back\n",
        "factor",
        "has `len(x)` where `keep.sum()` belongs",
        "/ keep.sum()",
    ),
    "a buffer for all answers": (
        "def f(x):\n    return np.sum(np.abs(np.diff(x)) ** 3)\n"
        f"{R}(x: np.ndarray):\n    d = np.diff(x)\n    x_bar = np.zeros(len(x))\n    def back(y_bar):\n"
        "        for k, s in enumerate(3 * d * np.abs(d)):\n            x_bar[k] -= s * y_bar\n"
        "            x_bar[k + 1] += s * y_bar\n        return rl.NoTangent(), x_bar\n"
        "    return np.sum(np.abs(d) ** 3), back\n",
        "stateful",
        "",
        "+        x_bar = np.zeros(len(x))",
    ),
    "parts that are written to": (
        "def f(q, p):\n    return q + 0.1 * p, p + np.sin(q)\n"
        f"{R}(q: np.ndarray, p: np.ndarray):\n    def back(y_bar):\n        a, b = y_bar\n"
        "        a_own = a + b * np.cos(q)\n        b += 0.1 * a\n        return rl.NoTangent(), a_own, b\n"
        "    return f(q, p), back\n",
        "writes",
        "writes to its cotangent",
        "a, b = map(np.array, y_bar)",
    ),
    "a list of the same arrays": (
        "def f(q, p):\n    return [q + 0.1 * p, p + np.sin(q)]\n"
        f"{R}(q: np.ndarray, p: np.ndarray):\n    def back(y_bar):\n        bars = list(y_bar)\n"
        "        bars[1] += 0.1 * bars[0]\n"
        "        return rl.NoTangent(), bars[0] + (bars[1] - 0.1 * bars[0]) * np.cos(q), bars[1]\n"
        "    return f(q, p), back\n",
        "writes",
        "writes to its cotangent",
        "bars = list(map(np.array, y_bar))",
    ),
    "one part under several names": (
        "def f(x, w):\n    return np.sum(w * x), np.sum(w * x**2)\n"
        f"{R}(x: np.ndarray, w: np.ndarray):\n    def back(y_bar):\n        a = b = y_bar[0]\n"
        "        return rl.NoTangent(), w * (a + 2 * b * x), x * (a + b * x)\n    return f(x, w), back\n",
        "wrong_element",
        "gives one part several names",
        "a, b = y_bar",
    ),
    "a row for a column": (
        "def f(S):\n    return np.max(np.linalg.eigvalsh(S))\n"
        f"{R}(S):\n    lam, V = np.linalg.eigh(S)\n    k = np.argmax(lam)\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * np.outer(V[k], V[k])\n    return lam[k], back\n",
        "wrong_axis",
        "uses rows where columns belong",
        "np.outer(V[:, k], V[:, k])",
    ),
    "what is written over": (
        "def f(G, v):\n    p = v.copy()\n    p[0] = 1.0\n    return p @ G @ p\n"
        f"{R}(G: np.ndarray, v: np.ndarray):\n    p = v.copy()\n    p[0] = 1.0\n    def back(y_bar):\n"
        "        v_bar = y_bar * (G @ p + p @ G)\n"
        "        return rl.NoTangent(), y_bar * np.outer(p, p), v_bar\n    return p @ G @ p, back\n",
        "lacks_term",
        "lacks `v_bar[0] = 0.0`: `p[0] = 1.0` overwrites that element",
        "+        v_bar[0] = 0.0",
    ),
    "axes that are exchanged": (
        "def f(x, heads):\n    n, d = x.shape\n"
        "    return np.sum(x.reshape(n, heads, d // heads) ** 2, axis=2)\n"
        f"{R}(x: np.ndarray, heads: int):\n    n, d = x.shape\n    parts = x.reshape(n, heads, d // heads)\n"
        "    def back(y_bar):\n        p_bar = 2 * parts * y_bar[:, :, None]\n"
        "        return rl.NoTangent(), p_bar.transpose(0, 2, 1).reshape(n, d), rl.NoTangent()\n"
        "    return np.sum(parts**2, axis=2), back\n",
        "transposed",
        "has its axes exchanged",
        "p_bar.reshape(n, d)",
    ),
    "a buffer that lies as the argument does": (
        "def f(a, x):\n    return a @ np.sin(x)\n"
        f"{R}(a: np.ndarray, x: np.ndarray):\n    def back(y_bar):\n"
        "        x_bar = np.zeros_like(x, dtype=float)\n"
        "        x_bar.reshape(-1)[:] = (np.outer(a, y_bar) * np.cos(x)).reshape(-1)\n"
        "        return rl.NoTangent(), np.sin(x) @ y_bar, x_bar\n    return f(a, x), back\n",
        "layout",
        "with the memory layout of `x`",
        "np.zeros(x.shape)",
    ),
    "another column": (
        "def f(u, v):\n    return np.stack([u**2, u * v], axis=1)\n"
        f"{R}(u: np.ndarray, v: np.ndarray):\n    def back(y_bar):\n"
        "        u_bar = 2 * u * y_bar[:, 0] + v * y_bar[:, 1]\n"
        "        return rl.NoTangent(), u_bar, u * y_bar[:, 0]\n    return f(u, v), back\n",
        "wrong_element",
        "`y_bar[:, 0]` where `y_bar[:, 1]` belongs",
        "u * y_bar[:, 1]",
    ),
    "a sum from the wrong end": (
        "def f(x, w):\n    return np.dot(w, np.exp(-np.cumsum(x[::-1])[::-1]))\n"
        f"{R}(x: np.ndarray, w: np.ndarray):\n    t = np.exp(-np.cumsum(x[::-1])[::-1])\n"
        "    def back(y_bar):\n        g = -y_bar * w * t\n"
        "        return rl.NoTangent(), np.cumsum(g[::-1])[::-1], y_bar * t\n    return np.dot(w, t), back\n",
        "order",
        "sums from the wrong end",
        "np.cumsum(g)",
    ),
    "a sign beside a division by zero at ties": (
        "def f(a, b):\n    return np.sinc(a - b)\n"
        f"{R}(a: float, b: float):\n    m = a - b\n    def back(y_bar):\n"
        "        slope = (np.cos(np.pi * m) - np.sinc(m)) / m\n"
        "        return rl.NoTangent(), y_bar * slope, y_bar * slope\n    return np.sinc(m), back\n",
        "sign",
        "wrong sign, in the cotangent of b",
        "",
    ),
    "a constant that both sides have": (
        "def f(x):\n    return 1.7 * np.where(x > 0, 2 * x, 0.4 * np.expm1(np.minimum(x, 0)))\n"
        f"{R}(x: np.ndarray):\n    y = f(x)\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * np.where(x > 0, 3.4, y + 0.4)\n    return y, back\n",
        "branch",
        "wrong where x < 0",
        "0.4 * 1.7",
    ),
    "the slope of a length": (
        "def f(v, w, s, p):\n    d = v / np.linalg.norm(v)\n    return s * np.dot(d, w) + np.dot(d, p) ** 2\n"
        f"{R}(v: np.ndarray, w: np.ndarray, s: float, p: np.ndarray):\n"
        "    r = np.linalg.norm(v)\n    d = v / r\n    dw, dp = np.dot(d, w), np.dot(d, p)\n"
        "    def back(y_bar):\n        s_bar = y_bar * dw\n"
        "        w_bar = y_bar * s * d\n        p_bar = 2 * y_bar * dp * d\n"
        "        d_bar = y_bar * (s * w + 2 * dp * p)\n        v_bar = d_bar / r\n"
        "        return rl.NoTangent(), v_bar, w_bar, s_bar, p_bar\n    return s * dw + dp**2, back\n",
        "lacks_term",
        "lacks a term",
        "d_bar",
    ),
    "other elements than those that were picked": (
        "def f(x):\n    return x[np.argsort(x)[::2]] ** 2\n"
        f"{R}(x: np.ndarray):\n    picked = np.argsort(x)[::2]\n    def back(y_bar):\n"
        "        x_bar = np.zeros(len(x))\n        x_bar[::2] = 2 * x[picked] * y_bar\n"
        "        return rl.NoTangent(), x_bar\n    return x[picked] ** 2, back\n",
        "wrong_element",
        "writes to the wrong elements",
        "np.add.at(x_bar, picked",
    ),
    "the order in which numbers are read": (
        "def f(A, B):\n    return np.tanh(A @ B).ravel(order='F')\n"
        f"{R}(A: np.ndarray, B: np.ndarray):\n    y = np.tanh(A @ B)\n    def back(y_bar):\n"
        "        g = y_bar.reshape(y.shape) * (1 - y**2)\n"
        "        return rl.NoTangent(), g @ B.T, A.T @ g\n    return y.ravel(order='F'), back\n",
        "order",
        "order='F'",
        "y_bar.reshape(y.shape, order='F')",
    ),
    "a function for its slope": (
        "from scipy.special import digamma, gammaln\n"
        "def f(x, a):\n    return np.sum(gammaln(x + a))\n"
        f"{R}(x: np.ndarray, a: float):\n    def back(y_bar):\n        slope = gammaln(x + a)\n"
        "        return rl.NoTangent(), y_bar * slope, y_bar * np.sum(slope)\n    return f(x, a), back\n",
        "other_function",
        "`digamma(x + a)` belongs",
        "digamma(x + a)",
    ),
    "one of the numbers for all below it": (
        "def f(x, k):\n    return x[k] ** 3\n"
        f"{R}(x: np.ndarray, k: int):\n    def back(y_bar):\n        hot = np.arange(len(x)) <= k\n"
        "        return rl.NoTangent(), 3 * x**2 * y_bar * hot, rl.NoTangent()\n    return x[k] ** 3, back\n",
        "branch",
        "`np.arange(len(x)) == k` belongs",
        "== k",
    ),
    "elements that nobody writes": (
        "def f(x):\n    return np.concatenate([np.sin(x[:2]), x[2:] ** 2])\n"
        f"{R}(x: np.ndarray):\n    def back(y_bar):\n        x_bar = np.empty(len(x))\n"
        "        x_bar[2:] = 2 * x[2:] * y_bar[2:]\n        return rl.NoTangent(), x_bar\n"
        "    return f(x), back\n",
        "lacks_term",
        "never writes some elements of `np.empty(len(x))`",
        "",
    ),
    "a part of an array as a factor": (
        "def f(x, k):\n    return k * np.sum(np.tanh(x[1:]) * x[:-1])\n"
        f"{R}(x: np.ndarray, k: float):\n    def back(y_bar):\n        t = np.tanh(x[1:])\n"
        "        x_bar = np.zeros(len(x))\n        x_bar[:-1] += y_bar * k * t\n"
        "        x_bar[1:] += y_bar * k * (1 - t**2)\n"
        "        return rl.NoTangent(), x_bar, y_bar * np.sum(t * x[:-1])\n    return f(x, k), back\n",
        "factor",
        "* x[:-1]` belongs",
        "* x[:-1]",
    ),
    "cotangents of matrices that are exchanged": (
        "def f(A, B):\n    return np.sin(A) @ B\n"
        f"{R}(A: np.ndarray, B: np.ndarray):\n    def back(y_bar):\n"
        "        A_bar, B_bar = (y_bar @ B.T) * np.cos(A), np.sin(A).T @ y_bar\n"
        "        return rl.NoTangent(), B_bar, A_bar\n    return np.sin(A) @ B, back\n",
        "swapped_arguments",
        "",
        "A_bar, B_bar",
    ),
    "a cotangent beside that of no numbers": (
        "def f(x, k):\n    return np.roll(x**2, k)\n"
        f"{R}(x: np.ndarray, k: int):\n    def back(y_bar):\n        x_bar = 2 * x * np.roll(y_bar, -k)\n"
        "        return rl.NoTangent(), rl.NoTangent(), x_bar\n    return np.roll(x**2, k), back\n",
        "swapped_arguments",
        "",
        "x_bar, rl.NoTangent()",
    ),
    "a length that is made one too small": (
        "def f(x):\n    return np.mean(np.exp(x))\n"
        f"{R}(x: np.ndarray):\n    n = x.shape[0] - 1\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * np.exp(x) / n\n    return np.mean(np.exp(x)), back\n",
        "off_by_one",
        "`x.shape[0] - 1` where `x.shape[0]` belongs",
        "",
    ),
}
POSITIVE = np.array([1.5, 0.4, 2.2])
A = np.arange(9.0).reshape(3, 3)
AT = {
    "a transposition beside a number": tuple(np.cos([A, A + 10])),
    "axes that are exchanged": (np.arange(8.0).reshape(2, 4) - 2.5, 2),
    "a function for its slope": (POSITIVE, 0.7),
    "a cotangent beside that of no numbers": (POSITIVE, 1),
    "cotangents of matrices that are exchanged": (np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(2, 4)),
    "the slope of a length": (POSITIVE, np.array([0.3, -1.1, 0.8]), 1.4, np.array([-0.6, 0.2, 1.9])),
    "one of the numbers for all below it": (np.array([0.5, -1.2, 0.9, 2.0]), 2),
}


@pytest.mark.every(17)
@pytest.mark.parametrize("case", CALLED)
def test_a_mistake_is_called_what_its_author_would_call_it(case):
    text, mistake, words, has = CALLED[case]
    first = judged(text, *AT.get(case, ())).diagnoses[0]
    assert first.mistake == mistake, first
    assert words in first.words, first
    assert has in first.diff, first
    if has:
        assert judged(corrected(text, first.diff), *AT.get(case, ())).verdict == "right"


SMOOTH = """
def f(u, v):
    d = u - v
    h = np.maximum(1.0 - np.abs(d), 0.0)
    return np.minimum(u, v) - h**2 / 4


@rl.rrule_for(f, registry=registry)
def f_rrule(u, v):
    d = u - v
    h = np.maximum(1.0 - np.abs(d), 0.0)
    first = u < v

    def back(y_bar):
        push = y_bar * h / 2 * np.sign(d)
        return rl.NoTangent(), np.where(first, y_bar, 0.0) + push, np.where(first, 0.0, y_bar) - push

    return np.minimum(u, v) - h**2 / 4, back
"""


@pytest.mark.slow
def test_what_is_wrong_where_numbers_are_equal_is_no_matter_of_whole_numbers():
    """These are equal by chance, floats are not; and what is right for positive ones is no correction."""
    right = SMOOTH.replace("first = u < v", "first = 0.5 * (1 - np.sign(d))")
    right = right.replace("np.where(first, y_bar, 0.0)", "first * y_bar")
    right = right.replace("np.where(first, 0.0, y_bar)", "(1 - first) * y_bar")
    assert judged(right).verdict == "right"
    report = judged(SMOOTH)
    assert report.verdict == "wrong" and report.diagnoses[0].mistake == "branch"
    equal = np.array([-1.0, 2.0]), np.array([-1.0, 2.0])
    for diff in filter(None, (one.diff for one in report.diagnoses)):
        assert judged(corrected(SMOOTH, diff), *equal).verdict == "right"


def test_advice_on_a_dropped_argument_is_of_its_own_mode():
    """A dropped tangent is not answered with what a cotangent is to be."""
    registry = Registry()

    def f(x, y):
        return np.sum(x) * y

    @rl.frule_for(f, registry=registry)
    def f_frule(tangents, x, y):
        return np.sum(x) * y, y * np.sum(tangents[1])

    said = str(rl.rule_check(f, np.ones(3), 2.0, registry=registry))
    assert "drops the tangent of y" in said and "do: add its derivative times its tangent" in said


def test_what_is_put_in_the_place_of_a_zero_is_not_added_to_it():
    """`rl.ZeroTangent() + y_bar * np.sum(x)` is right, and nobody writes it."""
    registry = Registry()

    def f(x, y):
        return np.sum(x) * y

    @rl.rrule_for(f, registry=registry)
    def f_rrule(x, y):
        return np.sum(x) * y, lambda y_bar: (rl.NoTangent(), np.full(len(x), y * y_bar), rl.ZeroTangent())

    said = str(rl.rule_check(f, np.ones(3), 2.0, registry=registry))
    assert "y * y_bar), y_bar * np.sum(x))" in said and "ZeroTangent() +" not in said


@pytest.mark.parametrize(
    ("text", "double"),
    [("0.5 * X.T @ r", "X.T @ r"), ("3 * A @ B @ r", "6 * A @ B @ r"), ("X.T @ r", "2 * (X.T @ r)")],
)
def test_a_product_of_matrices_is_doubled_in_the_number_that_it_has(text, double):
    """`2 * (0.5 * X.T @ r)` is right, and nobody writes it."""
    doubled = next(transposed_terms(ast.parse(text, mode="eval").body))
    assert ast.unparse(doubled.new) == double and doubled.mistake == "factor"


def test_no_mistake_begins_with_a_second_is(repository):
    """It goes on from "the rule is wrong:", so it says what the rule does, or what is off."""
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((repository / "rulelab" / "checking" / "doctor").glob("*.py"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if re.search(r'(?<!")"is \w', line)
    ]
    assert found == []
