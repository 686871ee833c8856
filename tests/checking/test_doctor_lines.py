"""The line that is shown is that of the mistake, not one beside it where another change would do as well."""

import numpy as np
import pytest

from rulelab.checking import doctor
from rulelab.checking.calling.subjects import subject_of
from rulelab.checking.doctor.paths import omitted_path
from rulelab.checking.doctor.regions import may_be_option
from rulelab.checking.reading.anatomy import anatomy_of

from .written_rules import corrected, judged, written


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over."""
    monkeypatch.setattr(doctor.Strict, "raises", True)


R = "@rl.rrule_for(f, registry=registry)\ndef f_rrule"
X = np.array([0.7, -1.3, 2.1, 0.4])
M = np.array([[0.5, -1.2, 0.9], [2.0, 0.3, -0.7]])
LINES = {  # a function and its rule, the line that is right, the same with the mistake, arguments
    "an index that comes twice, beside others": (
        "PICKED = np.array([0, 1, 1, 2, 0])\ndef f(x):\n    return np.sin(x[:, PICKED])\n"
        f"{R}(x):\n    slope = np.cos(x[:, PICKED])\n    def back(y_bar):\n"
        "        x_bar = np.zeros(x.shape)\n"
        "        LINE\n        return rl.NoTangent(), x_bar\n    return f(x), back\n",
        "np.add.at(x_bar, (slice(None), PICKED), slope * y_bar)",
        "x_bar[:, PICKED] += slope * y_bar",
        (M,),
    ),
    "an index that comes twice, made by a call": (
        "def f(x, at):\n    return np.sum(x[at] ** 2, axis=1)\n"
        f"{R}(x, at):\n    def back(y_bar):\n        x_bar = np.zeros(len(x))\n"
        "        g = 2 * x[at] * y_bar[:, None]\n"
        "        LINE\n        return rl.NoTangent(), x_bar, rl.NoTangent()\n    return f(x, at), back\n",
        "np.add.at(x_bar, at.ravel(), g.ravel())",
        "x_bar[at.ravel()] = g.ravel()",
        (X, np.array([[0, 1], [1, 3], [2, 2]])),
    ),
    "what is written to a copy": (
        "def f(x, keep):\n    return np.sum(np.exp(x[keep]))\n"
        f"{R}(x, keep):\n    def back(y_bar):\n        x_bar = np.zeros(len(x))\n"
        "        LINE\n        return rl.NoTangent(), x_bar, rl.NoTangent()\n    return f(x, keep), back\n",
        "x_bar[keep] = y_bar * np.exp(x[keep])",
        "x_bar[keep][:] = y_bar * np.exp(x[keep])",
        (X, np.array([True, False, True, True])),
    ),
    "a factor of what is written beside another statement": (
        "def f(x):\n    return 0.5 * (x[1:] + x[:-1]) ** 3\n"
        f"{R}(x: np.ndarray):\n    s = x[1:] + x[:-1]\n    def back(y_bar):\n"
        "        g, x_bar = 3 * s**2 * y_bar, np.zeros(len(x))\n        x_bar[1:] += 0.5 * g\n"
        "        LINE\n        return rl.NoTangent(), x_bar\n    return 0.5 * s**3, back\n",
        "x_bar[:-1] += 0.5 * g",
        "x_bar[:-1] += g",
        (),
    ),
    "one line of an answer of several": (
        "def f(x, low, high):\n    return x * low**2 / high\n"
        f"{R}(x, low, high):\n    y = x * low**2 / high\n    def back(y_bar):\n"
        "        return (rl.NoTangent(),\n                y_bar * low**2 / high,\n"
        "                LINE\n                )\n    return y, back\n",
        "2 * x * low / high * y_bar, -y_bar * y / high",
        "-y_bar * y / high, 2 * x * low / high * y_bar",
        (0.7, 1.3, 2.1),
    ),
    "the inverses of many matrices": (
        "def f(F):\n    return np.sum(np.log(np.linalg.det(F)))\n"
        f"{R}(F):\n    def back(y_bar):\n"
        "        LINE\n        return rl.NoTangent(), y_bar * slope\n    return f(F), back\n",
        "slope = np.swapaxes(np.linalg.inv(F), 1, 2)",
        "slope = np.linalg.inv(F)",
        (np.eye(3) + np.stack([0.2 * M.T @ M, 0.1 * np.outer(M[0], M[1])]),),
    ),
    "two cotangents of one array": (
        "def f(x, y):\n    return np.sin(x) * np.exp(y)\n"
        f"{R}(x: float, y: float):\n    def back(z_bar):\n"
        "        both = z_bar * np.exp(y) * np.array([np.cos(x), np.sin(x)])\n        both = both * 1.0\n"
        "        LINE\n    return f(x, y), back\n",
        "return rl.NoTangent(), both[0], both[1]",
        "return rl.NoTangent(), both[1], both[0]",
        (),
    ),
    "what a loop goes through": (
        "def f(x, w):\n    return sum(w[k] * x[k : len(x) - len(w) + k + 1] for k in range(len(w)))\n"
        f"{R}(x, w):\n    n = len(x) - len(w) + 1\n    def back(y_bar):\n        x_bar = np.zeros(len(x))\n"
        "        LINE\n            x_bar[k : k + n] += c * y_bar\n"
        "        w_bar = np.array([np.dot(x[k : k + n], y_bar) for k in range(len(w))])\n"
        "        return rl.NoTangent(), x_bar, w_bar\n    return f(x, w), back\n",
        "for k, c in enumerate(w):",
        "for k, c in enumerate(w[::-1]):",
        (X, np.array([0.3, 1.1])),
    ),
    "a matrix that is turned where it is multiplied": (
        "def f(a, v):\n    return np.array([[np.cos(a), -a * a], [a, 1.0]]) @ v\n"
        f"{R}(a: float, v):\n    slope = np.array([[-np.sin(a), -2 * a], [1.0, 0.0]])\n    def back(y_bar):\n"
        "        J = np.array([[np.cos(a), -a * a], [a, 1.0]])\n"
        "        LINE\n        return rl.NoTangent(), y_bar @ slope @ v, v_bar\n    return f(a, v), back\n",
        "v_bar = J.T @ y_bar",
        "v_bar = J @ y_bar",
        (0.6, np.array([0.5, -1.7])),
    ),
    "a length that lacks an option": (
        "def f(x, ddof=0):\n    return np.sum((x - x.mean()) ** 2) / (x.size - ddof)\n"
        f"{R}(x: np.ndarray, ddof=0):\n    LINE\n    d = x - x.mean()\n    def back(y_bar):\n"
        "        return rl.NoTangent(), 2 * y_bar * d / n, rl.NoTangent()\n    return f(x, ddof), back\n",
        "n = x.size - ddof",
        "n = x.size",
        (),
    ),
    "a buffer that the answers share": (
        "def f(x, w):\n    return np.exp(x) * w\n"
        f"{R}(x, w):\n    y, work = np.exp(x) * w, np.empty(x.shape)\n    def back(y_bar):\n"
        "        LINE\n        x_bar *= w\n        w_bar = np.exp(x) * y_bar\n"
        "        return rl.NoTangent(), x_bar, w_bar\n    return y, back\n",
        "x_bar = np.multiply(np.exp(x), y_bar)",
        "x_bar = np.multiply(np.exp(x), y_bar, out=work)",
        (X, X + 1),
    ),
    "all of an array that is written to": (
        "def f(A, n=3):\n    return np.linalg.matrix_power(A, n)\n"
        f"{R}(A, n=3):\n    def back(y_bar):\n        A_bar, g = np.zeros(A.shape), y_bar\n"
        "        for _ in range(n):\n            A_bar = A.T @ A_bar + g\n            LINE\n"
        "        return rl.NoTangent(), A_bar, rl.NoTangent()\n    return f(A, n), back\n",
        "g = g @ A.T",
        "g[:] = g @ A.T",
        (M[:, :2],),
    ),
    "an end that is not treated apart": (
        "def f(x, a):\n    s = np.empty(len(x))\n    s[0] = x[0]\n    for t in range(1, len(x)):\n"
        "        s[t] = a * x[t] + (1 - a) * s[t - 1]\n    return s\n"
        f"{R}(x: np.ndarray, a: float):\n    s = f(x, a)\n    def back(y_bar):\n        g = np.array(y_bar)\n"
        "        for t in range(len(g) - 2, -1, -1):\n            g[t] += (1 - a) * g[t + 1]\n"
        "        a_bar = g[1:] @ (x[1:] - s[:-1])\n        LINE\n"
        "        return rl.NoTangent(), g, a_bar\n    return s, back\n",
        "g[1:] *= a",
        "g *= a",
        (),
    ),
    "what is written before it is set to zero": (
        "def f(x):\n    s, out = 0.0, np.empty(len(x))\n    for t in range(len(x)):\n"
        "        s = max(0.0, s + x[t])\n        out[t] = s\n    return out\n"
        f"{R}(x: np.ndarray):\n    out = f(x)\n    def back(y_bar):\n"
        "        x_bar, g = np.zeros(len(x)), 0.0\n"
        "        for t in reversed(range(len(x))):\n            g = g + y_bar[t]\n            LINE\n"
        "        return rl.NoTangent(), x_bar\n    return out, back\n",
        "if out[t] == 0:\n                g = 0.0\n            x_bar[t] = g",
        "x_bar[t] = g\n            if out[t] == 0:\n                g = 0.0",
        (),
    ),
}
OTHERS = {  # the same where no correction is offered
    "what a second call does not find any more": (
        "def f(x):\n    for _ in range(2):\n        x = np.sin(x)\n    return x\n"
        f"{R}(x: np.ndarray):\n    steps, y = [], x\n    for _ in range(2):\n        steps.append(y)\n"
        "        y = np.sin(y)\n    def back(y_bar):\n        g, at = y_bar, 2\n        while at:\n"
        "            LINE\n            at -= 1\n        return rl.NoTangent(), g\n    return y, back\n",
        "g = g * np.cos(steps[at - 1])",
        "g = g * np.cos(steps.pop())",
        (),
        "",
    ),
    "an array of another length than the argument": (
        "def f(x):\n    return np.sum(np.abs(np.fft.rfft(x)) ** 2)\n"
        f"{R}(x: np.ndarray):\n    n = len(x)\n    X = np.fft.rfft(x)\n    def back(y_bar):\n"
        "        w = np.ones(len(X))\n        w[1 : (n + 1) // 2] = 2\n"
        "        LINE\n        x_bar *= n * y_bar\n"
        "        return rl.NoTangent(), x_bar\n    return f(x), back\n",
        "x_bar = np.fft.irfft(2 * X / w, n)",
        "x_bar = np.fft.irfft(2 * X / w)",
        (X[:3],),
        "shape",
    ),
    "a cotangent on one side of a branch": (
        "def f(x, w):\n    if abs(x) >= 1:\n        return 0.0\n"
        "    return np.arctan(np.sqrt(1 - x * x) * w) / np.log1p(np.cosh(w))\n"
        f"{R}(x, w):\n    def back(y_bar):\n        if abs(x) >= 1:\n"
        "            return rl.NoTangent(), 0.0, 0.0\n"
        "        s, low = np.sqrt(1 - x * x), np.log1p(np.cosh(w))\n"
        "        g = y_bar / (1 + (s * w) ** 2) / low\n        x_bar = -g * w * x / s\n        LINE\n"
        "        return rl.NoTangent(), x_bar, w_bar\n    return f(x, w), back\n",
        "w_bar = g * s - y_bar * np.arctan(s * w) / low**2 * np.sinh(w) / (1 + np.cosh(w))",
        "w_bar = g * s",
        (),
        "branch",
    ),
    "a number that is none": (
        "def f(x, a):\n    return a * np.sinc(x / np.pi) ** 2\n"
        f"{R}(x: float, a: float):\n    s = np.sinc(x / np.pi)\n    def back(y_bar):\n"
        "        LINE\n        g = 2 * a * s * y_bar\n"
        "        return rl.NoTangent(), g * slope, y_bar * s**2\n    return a * s**2, back\n",
        "slope = (np.cos(x) - s) / x if x else 0.0",
        "slope = (np.cos(x) - s) / x",
        (),
        "",
    ),
}


def both(text, right, wrong, args):
    assert judged(text.replace("LINE", right), *args).verdict == "right"
    report = judged(text.replace("LINE", wrong), *args)
    assert report.verdict == "wrong"
    return report.diagnoses[0]


@pytest.mark.first(1)
@pytest.mark.parametrize("case", LINES)
def test_the_line_that_is_shown_is_that_of_the_mistake(case):
    text, right, wrong, args = LINES[case]
    first = both(text, right, wrong, args)
    assert first.place is not None and first.place.text.strip() == wrong.splitlines()[0], first
    assert "-" + first.place.text in first.diff.splitlines(), first.diff
    assert judged(corrected(text.replace("LINE", wrong), first.diff), *args).verdict == "right"


@pytest.mark.first(1)
@pytest.mark.parametrize("case", OTHERS)
def test_the_line_is_found_without_a_correction(case):
    text, right, wrong, args, mistake = OTHERS[case]
    first = both(text, right, wrong, args)
    assert first.mistake == mistake or not mistake, first
    if mistake == "shape":
        assert first.words == "its cotangent of x has shape (2,), but x has shape (3,)"
    assert first.place is not None and first.place.text.strip() == wrong, first


THROUGH = (
    "def f(x, w):\n    s = np.sin(x)\n    return np.sum(s * w)\n"
    f"{R}(x, w):\n    s = np.sin(x)\n    def back(y_bar):\n"
    "        s_bar = y_bar * w\n        x_bar = np.zeros(len(x))\n"
    "        FLOWS\n        return rl.NoTangent(), x_bar, y_bar * s\n    return f(x, w), back\n"
)


@pytest.mark.parametrize("flows", [
    "x_bar += s_bar", "x_bar[1:] -= s_bar[1:]", "np.add.at(x_bar, [0, 1], s_bar)",
    "x_bar, _ = divmod(s_bar, 2)",
    "for k, s in enumerate(s_bar): x_bar[k] = s",
])  # fmt: skip
def test_a_cotangent_that_is_added_or_written_has_reached_its_argument(flows):
    assert _left_out(THROUGH.replace("FLOWS", flows)) == ""
    assert _left_out(THROUGH.replace("FLOWS", "x_bar += y_bar")) == "s_bar"


def _left_out(text):
    made = written(text)
    subject, _ = subject_of(made["f"], (X, X), {}, registry=made["registry"])
    return omitted_path(anatomy_of(subject.rule, made["f"]), "x")


@pytest.mark.parametrize(("values", "are_options"), [
    ([2, 1, 3.0, None], True), ([0.3, 1, 0], True), ([2, 1.125, 0], False), ([2, 1j], False),
])  # fmt: skip
def test_numbers_of_every_size_are_no_options(values, are_options):
    """`wrong where a is 2 or 1.125` would tell nothing."""
    assert all(may_be_option(value, 0.3) for value in values) == are_options


@pytest.mark.slow
def test_no_branches_are_spoken_of_where_there_are_none():
    text = (
        "def f(p, t):\n    return np.diff(t) @ (p[1:] + p[:-1])\n"
        f"{R}(p: np.ndarray, t: np.ndarray):\n    d, w = np.diff(t), np.empty(len(t))\n"
        "    w[0], w[-1] = ENDS\n    w[1:-1] = d[1:] + d[:-1]\n    def back(y_bar):\n"
        "        s = (p[1:] + p[:-1]) * y_bar\n        t_bar = np.append(0.0, s) - np.append(s, 0.0)\n"
        "        return rl.NoTangent(), w * y_bar, t_bar\n    return f(p, t), back\n"
    )
    assert judged(text.replace("ENDS", "d[0], d[-1]")).verdict == "right"
    first = judged(text.replace("ENDS", "2 * d[0], 2 * d[-1]")).diagnoses[0]
    assert first.words.startswith("wrong for the first and last elements")
    assert first.diff or first.advice == "compare what the rule does there with what the function does"


NORMALISED = {
    "laid along the rows": (
        "def f(x):\n    w = np.exp(x)\n    return np.sum(w ** 2, axis=1) / np.sum(w, axis=1) ** 2\n"
        f"{R}(x):\n    w = np.exp(x)\n    total = np.sum(w, axis=1)\n"
        "    y = np.sum(w ** 2, axis=1) / total ** 2\n"
        "    def back(g):\n        p = LINE\n        x_bar = 2 * g[:, None] * p * (p - y[:, None])\n"
        "        return rl.NoTangent(), x_bar\n    return y, back\n",
        "w", "w / total[:, None]", (np.array([[0.3, -0.4, 1.1], [0.8, 0.2, -0.7]]),),
    ),
    "before a product": (
        "def f(x):\n    i = np.arange(len(x))\n    near = np.abs(i[:, None] - i) <= 1\n"
        "    return np.sum(np.log(near @ np.exp(x)))\n"
        f"{R}(x):\n    i = np.arange(len(x))\n    near = np.abs(i[:, None] - i) <= 1\n    w = np.exp(x)\n"
        "    total = near @ w\n    y = np.sum(np.log(total))\n    def back(g):\n        p = LINE\n"
        "        return rl.NoTangent(), g * np.ones(len(x)) @ p\n    return y, back\n",
        "near * w", "near * w / total[:, None]", (np.array([0.3, -0.4, 1.1, 0.8]),),
    ),
}  # fmt: skip
"""A sum that a rule computes for its value, and forgets where it makes the weights of its pullback."""


@pytest.mark.slow
@pytest.mark.parametrize("case", NORMALISED)
def test_weights_that_were_not_normalised_are_so_where_they_are_made(case):
    text, wrong, right, args = NORMALISED[case]
    assert judged(text.replace("LINE", right), *args).verdict == "right"
    report = judged(text.replace("LINE", wrong), *args)
    first = report.diagnoses[0]
    assert report.verdict == "wrong" and first.place.text.strip().endswith(f"= {wrong}"), first
    assert first.diff.splitlines()[-1].strip("+ ").endswith(f"= {right}"), first.diff


RAISING = {  # what raises within a rule of f(x) = sin(x)², the rule's body, the expression with the caret
    "a name that nobody has defined": (
        "    def back(y_bar):\n        g = 2 * np.sin(x) * slope(x)\n"
        "        return rl.NoTangent(), g * y_bar\n",
        "slope",
    ),
    "a part that is not there, in a long line": (
        "    kept = {}\n    def back(y_bar):\n"
        '        return rl.NoTangent(), 2 * np.sin(x) * kept["c"] * y_bar\n',
        'kept["c"]',
    ),
    "a name that a module does not have, in the rule itself": (
        "    slope = np.sin(x) * np.cosine(x)\n    def back(y_bar):\n"
        "        return rl.NoTangent(), 2 * slope * y_bar\n",
        "np.cosine",
    ),
    "a function within the rule": (
        "    def slope(x):\n        raise ValueError('not yet')\n    def back(y_bar):\n"
        "        return rl.NoTangent(), slope(x) * y_bar\n",
        "raise ValueError('not yet')",
    ),
}


@pytest.mark.parametrize("kind", RAISING)
def test_the_caret_of_an_exception_is_under_what_raised_it(kind):
    """Not under all of a cotangent, of which it may be a small part."""
    body, expression = RAISING[kind]
    text = f"def f(x):\n    return np.sin(x) ** 2\n{R}(x):\n{body}    return f(x), back\n"
    report = judged(text, X, depth="quick")
    place = report.diagnoses[0].place
    assert report.diagnoses[0].mistake == "raises"
    assert place.source()[place.column : place.end_column] == expression
