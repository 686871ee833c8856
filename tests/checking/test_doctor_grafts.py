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


@pytest.mark.every(7)
@pytest.mark.parametrize("case", LACKING)
def test_what_was_left_out_is_found_in_the_texts(case):
    """By the numbers alone; and a correction is right at all points of another check."""
    text, mistake, has = LACKING[case]
    given = GIVEN.get(case, ())
    first = judged(text, *given).diagnoses[0]
    assert first.mistake == mistake
    assert has in first.diff, first
    assert not has or judged(corrected(text, first.diff), *given).verdict == "right"


@pytest.mark.slow
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


R = "@rl.rrule_for(f, registry=registry)\ndef f_rrule"
MISTAKEN = {  # the function and its rule with a mistake, what it is called, and what the correction has
    "a term with the slope of a function": (
        "def f(x, mu):\n    return np.log1p(mu * np.abs(x)) / np.log1p(mu)\n"
        f"{R}(x: np.ndarray, mu: float):\n    a, L = np.abs(x), np.log1p(mu)\n    y = np.log1p(mu * a) / L\n"
        "    def back(y_bar):\n        mu_bar = a / ((1 + mu * a) * L)\n"
        "        x_bar = y_bar * np.sign(x) * mu / ((1 + mu * a) * L)\n"
        "        return rl.NoTangent(), x_bar, np.sum(y_bar * mu_bar)\n"
        "    return y, back\n",
        "lacks_term",
        "1 + mu)",
    ),
    "an inner derivative": (
        "def f(x):\n    return np.sin(np.log1p(np.exp(x)))\n"
        f"{R}(x: np.ndarray):\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * np.cos(np.log1p(np.exp(x)))\n    return f(x), back\n",
        "factor",
        "1 + np.exp(x)",
    ),
    "a term for what is made alike": (
        "def f(u, eps):\n    dx, dy = np.diff(u, axis=1), np.diff(u, axis=0)\n"
        "    return np.sum(np.sqrt(dx**2 + eps)) + np.sum(np.sqrt(dy**2 + eps))\n"
        f"{R}(u: np.ndarray, eps: float):\n    dx, dy = np.diff(u, axis=1), np.diff(u, axis=0)\n"
        "    rx, ry = np.sqrt(dx**2 + eps), np.sqrt(dy**2 + eps)\n    def back(y_bar):\n"
        "        u_bar = np.zeros(u.shape)\n        u_bar[:, 1:] += dx / rx\n"
        "        u_bar[:, :-1] -= dx / rx\n"
        "        u_bar[1:] += dy / ry\n        u_bar[:-1] -= dy / ry\n"
        "        eps_bar = 0.5 * y_bar * np.sum(1 / rx)\n"
        "        return rl.NoTangent(), y_bar * u_bar, eps_bar\n"
        "    return np.sum(rx) + np.sum(ry), back\n",
        "lacks_term",
        "np.sum(1 / ry)",
    ),
    "a factor in each of two calls": (
        "def f(x, w):\n    t = np.arange(len(x))\n"
        "    return np.dot(x, np.cos(w * t)) ** 2 + np.dot(x, np.sin(w * t)) ** 2\n"
        f"{R}(x: np.ndarray, w: float):\n    t = np.arange(len(x))\n    c, s = np.cos(w * t), np.sin(w * t)\n"
        "    re, im = np.dot(x, c), np.dot(x, s)\n    def back(y_bar):\n"
        "        w_bar = 2 * y_bar * (im * np.dot(x, c) - re * np.dot(x, s))\n"
        "        x_bar = 2 * y_bar * (re * c + im * s)\n        return rl.NoTangent(), x_bar, w_bar\n"
        "    return re**2 + im**2, back\n",
        "factor",
        "* t",
    ),
    "two sequences gone through in the wrong order": (
        "def f(x, w):\n    s = 0.0\n    for v, u in zip(x, w):\n        s = s * u + v\n    return s\n"
        f"{R}(x: np.ndarray, w: np.ndarray):\n    before, s = [], 0.0\n    for v, u in zip(x, w):\n"
        "        before.append(s)\n        s = s * u + v\n    def back(y_bar):\n"
        "        x_bar, w_bar, g = [], [], y_bar\n"
        "        for b, u in zip(before, w):\n            x_bar.append(g)\n            w_bar.append(g * b)\n"
        "            g = g * u\n        return rl.NoTangent(), np.array(x_bar)[::-1], np.array(w_bar)[::-1]\n"
        "    return s, back\n",
        "order",
        "zip(before[::-1], w[::-1])",
    ),
    "a quotient of sums for the sum of quotients": (
        "def f(u, eps):\n    return np.sum(np.sqrt(u**2 + eps**2))\n"
        f"{R}(u: np.ndarray, eps: float):\n    s = np.sqrt(u**2 + eps**2)\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * u / s, y_bar * eps / np.sum(s)\n    return np.sum(s), back\n",
        "parentheses",
        "np.sum(",
    ),
    "the sum of a function for the function of a sum": (
        "def f(x):\n    return np.exp(np.sum(x)) - np.sum(np.exp(x))\n"
        f"{R}(x: np.ndarray):\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * (np.sum(np.exp(x)) - np.exp(x))\n    return f(x), back\n",
        "order",
        "np.exp(np.sum(x))",
    ),
    "something kept by a key that others have": (
        "def f(x):\n    return np.tanh(x)\nkept = {}\n"
        f"{R}(x: np.ndarray):\n    y = kept.setdefault(len(x), np.tanh(x))\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * (1 - y**2)\n    return np.tanh(x), back\n",
        "stateful",
        "y = np.tanh(x)",
    ),
    "all for what a mask picks": (
        "def f(x):\n    here = x > 0\n"
        "    return np.sum((x[here] - np.mean(x[here])) ** 2) if here.any() else 0.0\n"
        f"{R}(x: np.ndarray):\n    here = x > 0\n    def back(y_bar):\n        x_bar = np.zeros(len(x))\n"
        "        if here.any():\n            x_bar[here] = 2 * y_bar * (x[here] - np.mean(x))\n"
        "        return rl.NoTangent(), x_bar\n    return f(x), back\n",
        "wrong_element",
        "np.mean(x[here])",
    ),
    "each element with itself for that with the one before": (
        "def f(x, a):\n    s = 0.0\n    for v in x:\n        s = a * s + v\n    return s\n"
        f"{R}(x: np.ndarray, a: float):\n    n = len(x)\n    s = np.zeros(n)\n    for i in range(n):\n"
        "        s[i] = (a * s[i - 1] if i else 0.0) + x[i]\n    def back(y_bar):\n        g = np.zeros(n)\n"
        "        for i in range(n - 1, -1, -1):\n            g[i] = a * g[i + 1] if i < n - 1 else y_bar\n"
        "        return rl.NoTangent(), g, np.dot(g, s)\n    return s[-1] if n else 0.0, back\n",
        "off_by_one",
        "np.dot(g[1:], s[:-1])",
    ),
    "one array for two": (
        "def f(x, w):\n    return np.sum(x**2 * w)\n"
        f"{R}(x: np.ndarray, w: np.ndarray):\n    def back(y_bar):\n"
        "        x_bar = w_bar = np.empty(len(x))\n"
        "        x_bar[:] = 2 * y_bar * x * w\n        w_bar[:] = y_bar * x**2\n"
        "        return rl.NoTangent(), x_bar, w_bar\n    return np.sum(x**2 * w), back\n",
        "overwrites",
        "x_bar, w_bar =",
    ),
    "no copy of what was lent": (
        "def f(x):\n    return np.cumsum(x)\n"
        f"{R}(x: np.ndarray):\n    def back(y_bar):\n        g = np.asarray(y_bar)\n"
        "        for i in range(len(x) - 2, -1, -1):\n            g[i] += g[i + 1]\n"
        "        return rl.NoTangent(), g\n    return np.cumsum(x), back\n",
        "writes",
        "np.array(y_bar)",
    ),
    "a mask on both sides": (
        "def f(x):\n    y = np.where(x < 0, 0.0, x**2 * (3 - 2 * x))\n    return np.where(x > 1, 1.0, y)\n"
        f"{R}(x: np.ndarray):\n    def back(y_bar):\n"
        "        return rl.NoTangent(), y_bar * (6 * x * (1 - x))\n"
        "    return f(x), back\n",
        "branch",
        "np.where(",
    ),
    "a conjugate on the unit circle": (
        "def f(a, x, k):\n    return np.abs(np.sum(a * np.exp(1j * k * x))) ** 2\n"
        f"{R}(a: np.ndarray, x: np.ndarray, k: float):\n    e = np.exp(1j * k * x)\n    s = np.sum(a * e)\n"
        "    def back(y_bar):\n        s_bar = 2 * y_bar * s\n        phi_bar = np.real(1j * a * e * s_bar)\n"
        "        return rl.NoTangent(), np.real(np.conj(e) * s_bar), k * phi_bar, np.sum(x * phi_bar)\n"
        "    return np.abs(s) ** 2, back\n",
        "conjugate",
        "np.conj(1j * a * e)",
    ),
    "a running sum": (
        "def f(x, w):\n    return np.sum(np.log(1.0 + np.cumsum(x)) * w)\n"
        f"{R}(x: np.ndarray, w: np.ndarray):\n    c = 1.0 + np.cumsum(x)\n    def back(y_bar):\n"
        "        tail = y_bar * w / c\n        return rl.NoTangent(), tail, y_bar * np.log(c)\n"
        "    return np.sum(np.log(c) * w), back\n",
        "lacks_sum",
        "[::-1])[::-1]",
    ),
}
MISTAKEN |= {
    "a term without its cotangent": (
        "def f(x, a):\n    return np.sum(np.exp(a * x)) - len(x) * np.log(a)\n"
        f"{R}(x: np.ndarray, a: float):\n    e = np.exp(a * x)\n    def back(y_bar):\n"
        "        g = y_bar * e\n        return rl.NoTangent(), g * a, g @ x - len(x) / a\n"
        "    return f(x, a), back\n",
        "additive_constant",
        "y_bar * (len(x) / a)",
    ),
    "what is flat at most points": (
        "def f(a, b, k):\n    h = np.maximum(k - np.abs(a - b), 0.0) / k\n"
        "    return np.minimum(a, b) - h**2 * k / 4\n"
        f"{R}(a: float, b: float, k: float):\n    h = np.maximum(k - np.abs(a - b), 0.0) / k\n"
        "    s = np.sign(a - b)\n    def back(y_bar):\n        push = y_bar * h / 2 * s\n"
        "        return (rl.NoTangent(), 0.5 * (1 - s) * y_bar + push, 0.5 * (1 + s) * y_bar - push,\n"
        "                y_bar * (h**2 / 4))\n    return f(a, b, k), back\n",
        "lacks_term",
        "- 0.5 * h",
    ),
    "a factor beside an argument that no one number explains": (
        "def f(x, w):\n    return np.tanh(x / w) * np.cosh(x)\n"
        f"{R}(x: float, w: float):\n    t, c = np.tanh(x / w), np.cosh(x)\n    def back(y_bar):\n"
        "        u_bar = y_bar * c * (1 - t**2) * 2\n"
        "        return rl.NoTangent(), u_bar / w + y_bar * t * np.sinh(x), -u_bar * x / w**2\n"
        "    return t * c, back\n",
        "factor",
        "+        u_bar = y_bar * c * (1 - t**2)",
    ),
    "a column beside a matrix": (
        "def f(V, x):\n    return 0.5 * np.sum((x @ V) ** 2 - x**2 @ V**2)\n"
        f"{R}(V: np.ndarray, x: np.ndarray):\n    s = x @ V\n    def back(y_bar):\n"
        "        V_bar = np.outer(x, s)\n        x_bar = V @ s - x * np.sum(V**2, axis=1)\n"
        "        return rl.NoTangent(), y_bar * V_bar, y_bar * x_bar\n    return f(V, x), back\n",
        "lacks_term",
        "[:, None]",
    ),
    "what stands beside a cotangent without a number": (
        "def f(x, c, p):\n    return np.sum(x * (1 + (x / c) ** p))\n"
        f"{R}(x: np.ndarray, c: float, p: float):\n    r = x / c\n    def back(y_bar):\n"
        "        x_bar = y_bar * (1 + r**p)\n        c_bar = -y_bar * p * np.sum(r ** (p + 1))\n"
        "        return rl.NoTangent(), x_bar, c_bar, y_bar * np.sum(x * r**p * np.log(r))\n"
        "    return f(x, c, p), back\n",
        "factor",
        "(p + 1)",
    ),
}
POSITIVE = np.array([0.4, 1.3, 0.7])
AT = {
    "what stands beside a cotangent without a number": (np.array([-1.2, 0.4, 0.7]), 0.8, 2.0),
    "what is flat at most points": (0.3, 2.0, 1.0),
    "a term with the slope of a function": (np.array([0.4, -1.3, 0.7]), 1.5),
    "a running sum": (POSITIVE, np.array([1.2, -0.4, 2.0])),
}


@pytest.mark.every(17, slow=True)
@pytest.mark.parametrize("case", MISTAKEN)
def test_what_is_easily_mistaken_is_named_and_corrected(case):
    """The words say the mistake that was made, and a correction is right at all points of another check."""
    text, mistake, has = MISTAKEN[case]
    first = judged(text, *AT.get(case, ())).diagnoses[0]
    assert first.mistake == mistake, first
    assert has in first.diff, first
    assert judged(corrected(text, first.diff), *AT.get(case, ())).verdict == "right"


def test_a_rule_that_is_refused_at_some_lengths_is_corrected_where_it_answers():
    """That it has no answer for odd lengths is another matter, and is told as well."""
    text = (
        "def f(x):\n    h = len(x) // 2\n    return x[:h] * np.exp(x[h:])\n"
        f"{R}(x: np.ndarray):\n    h = len(x) // 2\n    a, e = x[:h], np.exp(x[h:])\n    def back(y_bar):\n"
        "        return rl.NoTangent(), np.concatenate([y_bar * e, y_bar * e])\n    return a * e, back\n"
    )
    first = judged(text).diagnoses[0]
    assert first.mistake == "factor"
    assert "* a" in first.diff


@pytest.mark.slow
def test_a_square_answer_is_not_turned_where_the_array_need_not_be_square():
    """What is right for the lengths of a check alone is held against others that the function takes."""
    text = (
        "def f(x, k):\n    y = np.zeros((x.shape[0] - 1, x.shape[1] - 1))\n    for i in range(2):\n"
        "        for j in range(2):\n            y += k[i, j] * x[i : i + len(y), j : j + y.shape[1]]\n"
        "    return y\n"
        f"{R}(x: np.ndarray, k: np.ndarray):\n    y = f(x, k)\n    n, m = y.shape\n    def back(y_bar):\n"
        "        x_bar, k_bar = np.zeros(x.shape), np.zeros(k.shape)\n        for i in range(2):\n"
        "            for j in range(2):\n                x_bar[i : i + n, j : j + m] += k[j, i] * y_bar\n"
        "                k_bar[i, j] = np.sum(x[i : i + n, j : j + m] * y_bar)\n"
        "        return rl.NoTangent(), x_bar, k_bar\n    return y, back\n"
    )
    first = judged(text, np.arange(4.0).reshape(2, 2) ** 2, np.array([[1.0, 3.0], [-2.0, 0.5]])).diagnoses[0]
    assert "x_bar.T" not in first.diff


@pytest.mark.slow
def test_a_correction_of_what_is_turned_is_right_for_complex_matrices():
    """Of vectors nothing tells which of two terms is conjugated."""
    text = (
        "def f(A):\n    return 0.5 * (A + A.conj().T)\n"
        f"{R}(A: np.ndarray):\n    def back(y_bar):\n"
        "        return rl.NoTangent(), 0.5 * (y_bar + y_bar.T)\n    return f(A), back\n"
    )
    first = judged(text).diagnoses[0]
    assert first.mistake == "conjugate"
    assert "y_bar + np.conj(y_bar).T" in first.diff or "y_bar + np.conj(y_bar.T)" in first.diff


@pytest.mark.slow
def test_a_correction_is_no_answer_of_another_shape_where_the_rule_had_one():
    """Of two vectors nothing tells that one is summed over the rows of a matrix in place of the other."""
    text = (
        "def f(x, slope):\n    return np.where(x > 0, x, slope * x)\n"
        f"{R}(x: np.ndarray, slope: np.ndarray):\n    pos = x > 0\n    def back(y_bar):\n"
        "        slope_bar = np.where(pos, 0.0, y_bar * x).sum() * np.ones(len(slope))\n"
        "        return rl.NoTangent(), np.where(pos, y_bar, slope * y_bar), slope_bar\n"
        "    return f(x, slope), back\n"
    )
    at = np.array([-0.4, 1.3, -0.7]), np.array([0.2, 0.5, 0.1])
    report = judged(text, *at)
    assert report.verdict == "wrong" and not any(one.diff for one in report.diagnoses)
