"""What is claimed of a value before the pass runs holds of every value that can be there."""

import math
import operator

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.analysis.types import Types, type_of
from rulelab.compiler.base import ir
from rulelab.compiler.base.liveness import phis_of
from rulelab.rules.kinds import (
    ANY,
    F8,
    FLOAT,
    NUMERIC,
    Given,
    Known,
    is_real,
    join,
    signature_of,
    type_of_signature,
)
from rulelab.rules.results import result_of

from ...kinds_described import describes

V, M, IV = np.array([1.5, -0.5]), np.ones((2, 3)), np.arange(3)
VALUES = [
    0.5,
    -2.0,
    3,
    0,
    -2,
    True,
    np.float64(0.7),
    np.float64(-8.0),
    np.float32(0.5),
    np.int64(2),
    1 + 2j,
    V,
    M,
    IV,
    np.array(2.0),
    V.astype(np.float32),
    V.astype(">f8"),
    V > 0,
    "a",
    None,
    [1.0],
    (1.0, 2),
    np.sum,
    math,
    {},
]


class Sub(np.ndarray):
    """An array of another class."""


@pytest.mark.parametrize("value", [*VALUES, V.view(Sub)], ids=lambda v: type(v).__name__)
def test_values(value):
    """The type of a value, and the type of its signature, are true of it."""
    assert describes(type_of(value), value)
    assert describes(type_of_signature(signature_of(value)), value)


def test_what_is_not_claimed():
    """Of a subclass nothing is; of a foreign byte order, a half precision, or no dimension but with doubles
    only that it is numeric.
    """
    assert type_of(V.view(Sub)) == ANY
    for value in (V.astype(">f8"), V.astype(np.float16), np.array(1), np.float32(1.0), 1j):
        assert type_of(value) == NUMERIC
    assert type_of(np.array([[], None], object)) == ANY


def test_signatures():
    """Signatures tell apart what the compiled code depends on, and hold no value."""
    values = [
        1.0,
        1,
        True,
        np.float64(1.0),
        V,
        M,
        IV,
        V.astype(np.float32),
        (1.0,),
        (1.0, 1.0),
        (1,),
        [1.0],
        None,
        V.view(Sub),
    ]
    signatures = [signature_of(v) for v in values]
    assert len(set(signatures)) == len(values)
    assert signature_of(V) == signature_of(V + 1)


@pytest.mark.every(5)
@pytest.mark.parametrize("a", VALUES[:15], ids=repr)
@pytest.mark.parametrize("b", VALUES[:15], ids=repr)
def test_join(a, b):
    """The join of two types is true of both values."""
    joined = join(type_of(a), type_of(b))
    assert describes(joined, a) and describes(joined, b)
    assert joined == join(type_of(b), type_of(a))


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "lshift")
NUMBERS = [
    0.5,
    -8.0,
    3,
    -2,
    0,
    True,
    np.float64(0.7),
    np.float64(-8.0),
    V,
    M[:, :2],
    np.array([2, 1]),
    np.array(2.0),
]


class Recorder:
    """Types of one operation on parameters of given values."""

    def __init__(self, cells, text, **values):
        self.function = cells.lowered(text)
        self.types = Types(
            self.function,
            {n: type_of_signature(signature_of(v)) for n, v in values.items()},
            cells.find_global,
        )
        self.result = self.types(self.function.result)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(cells, name):
    """The type of `a op b` is true of the result, for every pair of numbers and arrays that has one."""
    symbol = {
        "add": "+",
        "sub": "-",
        "mul": "*",
        "truediv": "/",
        "floordiv": "//",
        "mod": "%",
        "pow": "**",
        "matmul": "@",
        "and_": "&",
        "lshift": "<<",
    }[name]
    text = f"def f(a, b):\n    return a {symbol} b\n"
    function = cells.lowered(text)
    for a in NUMBERS:
        for b in NUMBERS:
            try:
                with np.errstate(all="ignore"):
                    value = getattr(operator, name)(a, b)
            except (TypeError, ValueError, ZeroDivisionError):
                continue
            given = {n: type_of_signature(signature_of(v)) for n, v in (("a", a), ("b", b))}
            claim = Types(function, given, cells.find_global)(function.result)
            assert describes(claim, value), f"{a!r} {symbol} {b!r} gives {value!r}, claimed {claim}"


@pytest.mark.parametrize("exponent", ["2", "2.0", "0.5", "-1", "-2.0", "1/3", "0", "k", "True"])
@pytest.mark.parametrize("base", [2.0, -8.0, 3, -2, np.float64(-8.0), np.float64(2.0)], ids=repr)
def test_powers(cells, base, exponent):
    """A power that may be complex, or of ints a float, is not claimed to be a real of one kind."""
    found = Recorder(cells, f"k = 0.5\ndef f(a):\n    return a ** ({exponent})\n", a=base)
    with np.errstate(all="ignore"):
        assert describes(found.result, cells.names["f"](base)), found.result


EXPRESSIONS = [
    "x[0]",
    "x[1:]",
    "m[0]",
    "m[0, 1]",
    "m[:, 1]",
    "m[0, 1:]",
    "m[(0, 1)]",
    "x[i]",
    "m[i]",
    "m[x > 0]",
    "x[x > 0]",
    "m.T",
    "x.T",
    "m.shape",
    "m.shape[0]",
    "m.shape[i]",
    "x.size",
    "x.ndim",
    "x.sum()",
    "m.sum()",
    "m.sum(0)",
    "x.max()",
    "x.copy()",
    "x.dot(x)",
    "k.sum()",
    "-x",
    "+k",
    "-i",
    "not x[0]",
    "abs(x)",
    "abs(i)",
    "abs(a)",
    "np.sin(x)",
    "np.sin(a)",
    "np.sin(i)",
    "np.sum(x)",
    "np.sum(k)",
    "np.sum(m, axis=0)",
    "np.maximum(x, a)",
    "np.maximum(x, k[:2])",
    "math.sin(a)",
    "math.sin(i)",
    "math.floor(a)",
    "math.fabs(i)",
    "max(a, i)",
    "max(i, a)",
    "max(x)",
    "min(i, 2)",
    "float(i)",
    "float(a)",
    "int(a)",
    "len(x)",
    "a < i",
    "x < a",
    "i in (1, 2)",
    "x is x",
    "(a, i)[0]",
    "(a, i)[i]",
    "(a, a)[i]",
    "[a][0]",
    "f'{a}'",
    "a if i else i",
    "a and i",
    "x if i else m",
    "x @ x",
    "m @ m.T",
    "m @ x3",
    "k * 2",
    "k / 2",
    "k * a",
    "x * k[:2]",
    "np.mean(x)",
    "np.exp(k)",
    "np.floor(a)",
    "np.isnan(a)",
    "np.logical_and(x, x)",
    "math.pow(a, i)",
    "math.ldexp(a, i)",
    "math.log(i + 1)",
    "math.gcd(i, 2)",
    "math.copysign(i, a)",
    "math.isqrt(i)",
    "np.pi",
    "math.pi",
    "x[None]",
    "m[...]",
    "x[-1]",
    "k[0]",
    "x.argmax()",
    "math.inf",
    "np.add(a, i)",
    "np.add(i, i)",
    "np.float64(a)",
    "round(a)",
    "sum([a])",
    "x[np.array([0, 1])]",
    "m[:1, :1]",
    "x[:i]",
]


@pytest.mark.every(5)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(cells, expression):
    """The type of an expression of known arguments is true of its value."""
    values = {"x": V, "m": M, "k": IV, "x3": np.ones(3), "a": 0.25, "i": 1}
    cells.run("import numpy as np\nimport math\n")
    found = Recorder(cells, f"def f({', '.join(values)}):\n    return {expression}\n", **values)
    value = cells.names["f"](**values)
    assert describes(found.result, value), f"{value!r} claimed {found.result}"


def test_claims_are_made(cells):
    """In a loop over an array the running sum of reals is known to be real: the point of it all."""
    cells.run("import numpy as np\n")
    found = Recorder(
        cells, "def f(x):\n    s = 0.0\n    for v in x:\n        s = s + v * v\n    return s\n", x=V
    )
    assert is_real(found.result)
    found = Recorder(cells, "def f(x, y):\n    return np.sum(np.exp(x) * y)\n", x=V, y=V)
    assert found.result == F8


@pytest.mark.parametrize(
    "body, values",
    [
        ("s = 0\nfor i in range(2):\n    s = s + x\nreturn s", {"x": V}),
        ("s = 0\nfor i in range(0):\n    s = s + x\nreturn s", {"x": V}),
        ("s = 1\nwhile s < 3:\n    s = s * x\nreturn s", {"x": 1.5}),
        ("a, b = 1, x\nfor i in range(3):\n    a, b = b, a\nreturn a", {"x": V}),
        ("s = None\nfor v in x:\n    s = v if s is None else s + v\nreturn s", {"x": V}),
        ("s = x\nfor i in range(2):\n    s = s[0] if i else s\nreturn s", {"x": V}),
        ("s = x\nif x[0] > 0:\n    s = 1\nelse:\n    s = 'a'\nreturn s", {"x": V}),
        ("try:\n    s = x[5]\nexcept IndexError:\n    s = 'none'\nreturn s", {"x": V}),
        ("t = (x, 1)\nfor i in range(2):\n    t = (t[1], t[0])\nreturn t", {"x": V}),
        ("t = ()\nfor i in range(3):\n    t = (t, i)\nreturn t", {"x": V}),
        ("for k, v in enumerate(x):\n    s = (k, v)\nreturn s", {"x": V}),
        ("for v in (1, 'a'):\n    s = v\nreturn s", {"x": V}),
        ("for v, w in zip(x, [1, 2]):\n    s = (v, w)\nreturn s", {"x": V}),
        ("s = [x, 1][0]\nreturn s", {"x": V}),
    ],
)
def test_joins(cells, body, values):
    """What a loop carries, or a branch or handler gives, has a type true of every value it takes."""
    text = f"def f({', '.join(values)}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    found = Recorder(cells, text, **values)
    assert describes(found.result, cells.names["f"](**values)), found.result


def test_no_fixed_point(cells):
    """A type that would grow for ever, a tuple in a tuple, is given up."""
    found = Recorder(
        cells, "def f(x):\n    t = x\n    for i in range(3):\n        t = (t, t)\n    return t\n", x=0.5
    )
    carried = [phi.target for s in ir.walk(found.function.body) for phi in phis_of(s)]
    assert any(found.types(name) == ANY for name in carried)


def test_authors_objects_are_not_taken_for_granted():
    """The author's functions and classes are no known objects: a pass must not keep them alive."""
    assert not isinstance(type_of(describes), Known)
    assert not isinstance(type_of(Sub), Known)
    assert isinstance(type_of(np.sin), Known) and isinstance(type_of(rl.gradient), Known)


def test_unhashable_callables():
    """A callable that cannot be hashed is no known one, and no error."""

    class Unhashable:
        __hash__ = None

    assert result_of(Unhashable(), [Given(FLOAT)]) == ANY


MSE = """
def f(y, yh):
    total = 0.0
    for i in range(len(y)):
        total += (y[i] - yh[i]) ** 2
    return total / len(y)
"""
LOGISTIC = """
def f(r, x):
    for _ in range(1000):
        x = r * x * (1.0 - x)
    return x
"""
NEWTON = """
def f(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x
"""
LOGSUMEXP = """
def f(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))
"""
CROSS_ENTROPY = """
def f(logits, labels):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()
"""
NETWORK = """
def f(W1, b1, W2, b2, X, Y):
    h = np.tanh(X @ W1 + b1)
    d = h @ W2 + b2 - Y
    return np.sum(d * d) / X.shape[0]
"""
CHAIN = """
def f(x, a, b, c):
    u = np.tanh(x * a + b)
    t = u * u
    w = u * np.exp(-t) + c * np.sin(x)
    return np.sum(w * w / (1.0 + t))
"""
MIXTURE = """
def f(alpha, mu, q, l, x, scatter, gamma, m):
    k, d = mu.shape
    diagonal, log_det = np.exp(q), np.sum(q, axis=1)
    lower = np.reshape(l @ scatter, (k, d, d))
    centred = x[None, :, :] - mu[:, None, :]
    scaled = diagonal[:, None, :] * centred + centred @ lower.swapaxes(1, 2)
    inner = (alpha + log_det)[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
    top = np.max(inner, axis=0)
    likelihood = np.sum(np.log(np.sum(np.exp(inner - top), axis=0)) + top)
    prior = 0.5 * gamma * gamma * (np.sum(diagonal * diagonal) + np.sum(l * l)) - m * np.sum(log_det)
    return likelihood - len(x) * np.log(np.sum(np.exp(alpha))) - prior
"""
REPROJECTION = """
def f(f0, f1, *c):
    r0, r1, r2, focal, k1, x0, x1, x2, w = c
    sq = r0 * r0 + r1 * r1 + r2 * r2
    if sq != 0.0:
        angle = math.sqrt(sq)
        co, si = math.cos(angle), math.sin(angle)
        y0 = x0 * co + (r1 * x2 - r2 * x1) * si / angle
        y1 = x1 * co + (r2 * x0 - r0 * x2) * si / angle
    else:
        y0, y1 = x0 + r1 * x2 - r2 * x1, x1 + r2 * x0 - r0 * x2
    u, v = y0 / x2, y1 / x2
    scale = (1.0 + k1 * (u * u + v * v)) * focal
    return w * (u * scale - f0), w * (v * scale - f1)
"""
CELL_OF_LSTM = """
def f(weight, bias, hidden, memory, x, h):
    gates = np.concatenate((x, hidden, x, hidden)) * weight + bias
    forget, ingate = 1.0 / (1.0 + np.exp(-gates[:h])), 1.0 / (1.0 + np.exp(-gates[h : 2 * h]))
    memory = memory * forget + ingate * np.tanh(gates[3 * h :])
    return np.tanh(memory), memory
"""
PENDULUM = """
def f(theta, y0, dt, steps):
    y = y0
    for _ in range(steps):
        k1 = np.array([y[1], -theta[0] * np.sin(y[0]) - theta[1] * y[1]])
        z = y + dt / 2 * k1
        k2 = np.array([z[1], -theta[0] * np.sin(z[0]) - theta[1] * z[1]])
        y = y + dt / 6 * (k1 + 2 * k2)
    return np.sum((y - np.array([0.2, 0.1])) ** 2)
"""
GAUSSIAN_PROCESS = """
def f(params, X, y):
    ell, sf, sn = np.exp(params)
    d2 = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = sf**2 * np.exp(-0.5 * d2 / ell**2) + sn**2 * np.eye(len(y))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ a + np.sum(np.log(np.diag(L))) + 0.5 * len(y) * np.log(2 * np.pi)
"""
ATTENTION = """
def f(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = np.einsum("bid,bjd->bij", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, -1, keepdims=True)
    out = np.matmul(weights, v).transpose(0, 2, 1).reshape(x.shape[0], -1)
    return np.where(out > 0, out, 0.01 * out).mean(axis=0).sum()
"""
DETERMINANT = """
def f(a, x):
    sign, log_det = np.linalg.slogdet(a)
    values, vectors = np.linalg.eigh(a @ a.T)
    return log_det * sign + np.sum(values * (vectors @ x) ** 2) + np.linalg.svd(a)[1][0]
"""
COMPREHENSIONS = """
def f(x, m):
    squares = np.array([v * v for v in x if v > 0.0])
    rows = np.stack([np.tanh(row) for row in m])
    return squares.sum() + rows.sum(axis=0).sum() + sum([v * 2.0 for v in x]) + max([np.sum(r) for r in m])
"""
R = np.ones
WORKLOADS = {
    "mse": (MSE, (R(3), R(3))),
    "logistic": (LOGISTIC, (3.5, 0.3)),
    "newton": (NEWTON, (2.0,)),
    "logsumexp": (LOGSUMEXP, (R(3),)),
    "cross-entropy": (CROSS_ENTROPY, (R((4, 3)), np.array([0, 1, 2, 0]))),
    "network": (NETWORK, (R((3, 4)), R(4), R((4, 2)), R(2), R((5, 3)), R((5, 2)))),
    "chain": (CHAIN, (R((3, 3)), R(3), R((3, 1)), 0.7)),
    "mixture": (MIXTURE, (R(2), R((2, 3)), R((2, 3)), R((2, 3)), R((5, 3)), R((3, 9)), 1.0, 0)),
    "reprojection": (REPROJECTION, tuple(0.1 * k for k in range(1, 12))),
    "lstm": (CELL_OF_LSTM, (R(8), R(8), R(2), R(2), R(2), 2)),
    "pendulum": (PENDULUM, (R(2), R(2), 0.01, 3)),
    "gaussian process": (GAUSSIAN_PROCESS, (R(3), R((4, 2)) * np.arange(4.0)[:, None], R(4))),
    "comprehensions": (COMPREHENSIONS, (R(3), R((2, 2)))),
    "determinant": (DETERMINANT, (np.eye(3), R(3))),
    "attention": (ATTENTION, (R((2, 4, 3)), R((3, 5)), R((3, 5)), R((3, 5)))),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_natural_code_is_known_all_the_way(cells, name):
    """Of code as people write it, on arrays and numbers, nothing that is computed is of unknown kind."""
    text, values = WORKLOADS[name]
    cells.run("import numpy as np\nimport math\n")
    function = cells.lowered(text)
    code = cells.names["f"].__code__
    given = values if len(function.parameters) == len(values) else (*values[: code.co_argcount],)
    rest = () if len(given) == len(values) else (tuple(values[code.co_argcount :]),)
    kinds = [type_of_signature(signature_of(x)) for x in (*given, *rest)]
    types = Types(function, dict(zip(function.parameters, kinds, strict=True)), cells.find_global)
    tuples = ("slogdet", "eigh", "svd")  # named ones, of which the parts are known
    lets = [s for s in ir.lets(function.body) if getattr(s.op, "method", "") not in tuples]
    lets = [s for s in lets if not isinstance(s.op, ir.Unpack)]
    unknown = {s.target: s.op for s in lets if types(s.target) in (ANY, NUMERIC)}
    assert unknown == {}
    assert describes(types(function.result), cells.names["f"](*values))


@pytest.mark.parametrize(
    "body",
    [
        "a = [v * v for v in x]\nb = a\nb.append('one')\nreturn np.array(a)",
        "a = [v * v for v in x]\nchange(a)\nreturn np.array(a)",
        "a = [x, x]\na[0] = 1\nreturn np.array(a[0])",
        "t = ([1.0, 2.0], [3.0, 4.0])\nt[0].clear()\nt[1].clear()\nreturn np.sum(t, axis=1)",
        "t = ([1.0, 2.0],)\nt[0].append('one')\nreturn np.array(t)",
        "a = [1.0, 2.0]\nb = a\nb[0] = 'one'\nreturn np.array(b)",
        "a = [v * v for v in x]\nb = a\nb[0] = 'one'\nreturn np.array(b)",
        "a = [x, x]\nb = [a, a]\na.append(x)\nreturn np.array(b)",
        "a = []\nfor v in x:\n    a.append(v)\n    if len(a) == 2:\n        a[0] = 'one'\nreturn np.array(a)",
    ],
)
def test_lists_that_others_see(cells, body):
    """Of a list that is read by more than the call that takes it, nothing is claimed that a change undoes."""
    cells.run("import numpy as np\ndef change(a):\n    a[:] = ['one', 'two']\n")
    found = Recorder(cells, "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()), x=V)
    assert describes(found.result, cells.names["f"](V)), found.result
