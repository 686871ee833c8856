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
    """Of a subclass nothing is; of a foreign byte order, a half precision or no dimension only that it is
    numeric.
    """
    assert type_of(V.view(Sub)) == ANY
    for value in (V.astype(">f8"), V.astype(np.float16), np.array(1.0), np.float32(1.0), 1j):
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
