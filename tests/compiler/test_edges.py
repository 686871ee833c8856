"""The quick ways where arithmetic has its edges: whatever kind of number comes, the generic passes' answer.

Single and half precision, whole and complex numbers, arrays without dimensions and without items, numbers
that divide by zero, overflow or are none, under each of NumPy's settings for floating-point errors.
"""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.array_programs import function_of  # noqa: E402
from corpus.guards import MOST_APART, Shown, furthest, generic, shown  # noqa: E402

pytestmark = pytest.mark.usefixtures("as_users_run_it")

# One operation after the other, each line a program of an array.
ARRAYS = (
    "return np.sum(x * x / (1 + x))",
    "return np.sum(1.0 / x - x / 3)",
    "return np.sum((x - 0.5) ** 2)",
    "return np.sum(x ** 3 + x ** -1.0)",
    "return np.sum(np.exp(x) * np.sin(x))",
    "return np.sum(np.log(x) + np.sqrt(x))",
    "return np.sum(np.abs(x) * np.sign(x.real))",
    "return np.sum(np.where(x.real > 0, x.real, 0.0) * x.imag + x.real)",
    "return np.sum(np.maximum(x, 0.5) + np.hypot(x, 2))",
    "y = x * 2\ny[...] = y * x\nreturn np.sum(y)",
    "return x @ x",
    "t = np.tanh(x)\nreturn np.sum(t * t * x.dtype.type(2))",
    "return np.sum(x * np.arange(x.size).reshape(x.shape))",
    "return np.sum(-x / x.size + np.float32(2) * x)",
)
REDUCTIONS = (
    "return np.sum(x)",
    "return x.mean() * x.sum()",
    "return np.max(x) - np.min(x)",
    "return np.prod(x)",
    "return np.var(x) + np.std(x)",
    "m = np.max(x)\nreturn m + np.log(np.sum(np.exp(x - m)))",
    "return np.sum(np.sum(x, axis=-1) ** 2)",
    "return np.sum(x / np.sum(x, keepdims=True))",
    "return np.sum(np.cumsum(x) * x)",
    "return np.linalg.norm(x)",
    "return np.mean(x, dtype=np.float32)",
    "return sum(x)",
    "return max(x) * min(x)",
)
LOOPS = (
    "return sum(v * v for v in x)",
    "return sum([1.0 / v for v in x])",
    "return sum(v * v for v in x if v > 0)",
    "return sum([math.exp(v) for v in x if v.real < 1.0])",
    "s = 0.0\nfor v in x:\n    s += v * v / 3\nreturn s",
    "s = 0.0\nfor i in range(len(x)):\n    s = s + math.log(x[i]) * x[i]\nreturn s",
    "s = 1\nfor i in range(len(x)):\n    if x[i] > 0:\n        s = s * x[i]\nreturn s",
    "kept = []\nfor v in x:\n    if v != 0:\n        kept.append(2 / v)\nreturn sum(kept)",
    "kept = [v * v for v in x]\nreturn kept[0] / kept[-1]",
    "return sum(map(abs, x))",
    "return sum(map(lambda v: v ** 2 / (v + 1), x))",
    "return sum(filter(lambda v: v > 0, x))",
    "return sum(v * w for v, w in zip(x, x[1:]))",
    "s = x[0]\nfor _ in range(9):\n    s = s * s\nreturn s",
    "s = x[0]\nwhile 0.1 < abs(s) < 1e9:\n    s = s / 2\nreturn s * 3",
    "return math.fsum(x) + math.prod(x)",
    "return math.sqrt(sum(math.pow(v, 2) for v in x))",
)
UFUNCS = (
    "return np.add.reduce(x) * np.multiply.reduce(x)",
    "return np.maximum.reduce(x) - np.minimum.reduce(x)",
    "return np.sum(np.add.accumulate(x) * x)",
    "return np.sum(np.multiply.accumulate(x))",
    "return np.sum(np.multiply.outer(x, x))",
    "return np.sum(np.subtract.outer(x, 2 * x) ** 2)",
    "return np.sum(np.add.reduceat(x, [0, 1]) ** 2)",
    "return np.logaddexp.reduce(x)",
    "u = np.exp\nreturn np.sum(u(x))",
    "u, v = np.multiply, np.divide\nreturn np.sum(v(u(x, x), x))",
    "for u in (np.sin, np.sqrt, np.reciprocal):\n    x = u(x)\nreturn np.sum(x)",
    "u = np.log if x.size > 1 else np.exp\nreturn np.sum(u(x))",
    "u = {'root': np.sqrt}['root']\nreturn np.sum(u(x, dtype=x.dtype))",
    "u = np.add.reduce\nreturn u(x * x)",
)
# Of a list: its parts are the parameters of a pass.
LISTS = (
    "return sum(v * v for v in x)",
    "return x[0] / x[1] + x[-1]",
    "s = 0.0\nfor v in x:\n    s = s + v * v / 3\nreturn s",
    "return sum([1 / v for v in x if v != 0])",
    "return np.sum(np.array(x) ** 2)",
    "a, b, *rest = x\nreturn a * b + sum(rest)",
    "s = 1.0\nfor i in range(len(x)):\n    s = s * x[i]\nreturn s",
    "return max(x) - min(x)",
    "return sum(math.sqrt(v) for v in x)",
)
PROGRAMS = {
    f"{kind}: {body}": body
    for kind, bodies in (("array", ARRAYS), ("reduction", REDUCTIONS), ("loop", LOOPS), ("ufunc", UFUNCS))
    for body in bodies
}
PLAIN = [0.5, 2.0, 1.25]
POINTS = {
    "double": np.array(PLAIN),
    "single": np.array(PLAIN, np.float32),
    "half": np.array(PLAIN, np.float16),
    "whole": np.array([1, 2, 3]),
    "short whole": np.array([100, 2, 120], np.int8),
    "whole without sign": np.array([1, 2, 3], np.uint8),
    "true or false": np.array([True, False, True]),
    "complex": np.array([0.5 + 1j, 2.0, -1j]),
    "single complex": np.array([0.5 + 1j, 2.0, -1j], np.complex64),
    "without dimensions": np.array(0.75),
    "single without dimensions": np.array(0.75, np.float32),
    "whole without dimensions": np.array(3),
    "empty": np.zeros(0),
    "single and empty": np.zeros(0, np.float32),
    "one item": np.array([0.75]),
    "zeros": np.array([0.0, -0.0, 0.0]),
    "single zeros": np.array([0.0, -0.0, 1.0], np.float32),
    "a zero among others": np.array([0.5, 0.0, 2.0]),
    "whole zeros": np.array([0, 2, 0]),
    "negative": np.array([-0.5, -2.0, -1.0]),
    "large": np.array([1e200, 2.0, -1e308]),
    "single and large": np.array([1e30, 2.0, -3e38], np.float32),
    "small": np.array([5e-324, 1e-310, 1e-200]),
    "infinite": np.array([np.inf, 1.0, -np.inf]),
    "no number": np.array([np.nan, 1.0, 2.0]),
    "of two dimensions": np.array([[0.5, 2.0], [0.0, -1.0]]),
    "single, of two dimensions": np.array([[0.5, 2.0], [0.0, -1.0]], np.float32),
}
NUMBERS = {
    "doubles": float,
    "singles": np.float32,
    "NumPy's doubles": np.float64,
    "whole": lambda v: int(2 * v),
    "NumPy's whole": lambda v: np.int64(2 * v),
    "complex": lambda v: complex(v, 1.0),
    "NumPy's complex": lambda v: np.complex64(complex(v, 1.0)),
    "arrays without dimensions": np.array,
    "with zeros": lambda v: v if v > 0.1 else 0.0,
    "NumPy's with zeros": lambda v: np.float64(v if v > 0.1 else 0.0),
    "large": lambda v: 1e200 * v,
    "NumPy's large": lambda v: np.float64(1e200 * v),
    "singles and large": lambda v: np.float32(3e38 * v),
    "negative": lambda v: -v,
    "no numbers": lambda v: math.nan,
}
MIXED = {"mixed": [0.5, np.float32(2.0), 3, np.array(1.5)], "nothing": []}
LENGTHS = (1, 3, 70, 300)
SETTINGS = ("warn", "ignore", "raise")
CALLS = 4  # the first compiles, later ones take quicker ways


def kinds_in(value):
    """The type, dtype and shape of each number and array of an answer."""
    if isinstance(value, (list, tuple)):
        return [each for item in value for each in kinds_in(item)]
    return [(type(value).__name__, str(getattr(value, "dtype", "")), np.shape(value))]


def called(f, x):
    return f(x)


def asked(f, x, setting):
    """What gradient and withgradient show."""
    with np.errstate(all=setting):
        return [shown(f, (x,), ask=ask) for ask in (rl.gradient, rl.withgradient)]


def differences(body, points):
    """In words: where the first call, or a later one, says something else than the generic passes."""
    f = function_of(body, "x", math=math)
    cases = [(name, setting) for setting in SETTINGS for name in points]
    with generic():
        wanted = {(name, setting): asked(f, points[name], setting) for name, setting in cases}
    words = []
    for name, setting in cases:
        with np.errstate(all=setting):
            plain = shown(f, (points[name],), ask=called)
        for call in range(CALLS):
            for found, once in zip(asked(f, points[name], setting), wanted[name, setting]):
                words += [f"{name}, {setting}, call {call}: {each}" for each in differing(found, once, plain)]
    return words


def differing(found, wanted, plain):
    """In words, in what a quick way differs. It may leave out what is computed for nobody, so there may be
    fewer warnings than from the generic passes, but no others, and all that the program itself gives; and
    where such a warning is an error, there may be none. Where a value is not finite, which slope is infinite
    and which is none is not compared.
    """
    if found.raised != wanted.raised:
        if found.raised or plain.raised or not wanted.raised.startswith("FloatingPointError"):
            yield f"raised {found.raised or 'nothing'!r}, not {wanted.raised or 'nothing'!r}"
        return
    if found.raised:
        return
    if kinds_in(found.given) != kinds_in(wanted.given):
        yield f"gave {kinds_in(found.given)}, not {kinds_in(wanted.given)}"
    elif np.all(np.isfinite(plain.given)):
        apart = furthest(found.given, wanted.given)
        if apart is None or apart > MOST_APART:
            yield f"gave {found.given!r}, not {wanted.given!r}"
    told, generic_told, own = map(happened, (found, wanted, plain))
    if not own <= told <= generic_told:
        yield f"warned of {told}, not {generic_told}, where the program does of {own}"


def happened(call):
    """What a call warned of, whichever of its operations did: overflow, underflow, an invalid value."""
    return {(kind, text.partition(" encountered in ")[0]) for kind, text in call.warned}


@pytest.mark.every(6, slow=True)
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_array_of_any_kind(program):
    """Values, types, shapes, warnings and errors of gradients are those of the generic passes."""
    assert not differences(PROGRAMS[program], POINTS)


@pytest.mark.every(7, slow=True)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("body", LISTS)
def test_a_list_of_numbers_of_any_kind(body, length):
    """Of one part up to hundreds, which passes take apart."""
    numbers = [((7 * k) % 10) / 10 for k in range(length)]
    assert not differences(body, MIXED | {name: list(map(make, numbers)) for name, make in NUMBERS.items()})


# Each of these differs from the answer of the generic passes by what a quick way could get wrong.
OVERFLOW = ("RuntimeWarning", "overflow encountered in exp")
RIGHT = {"given": (np.float32(1.5),), "raised": "", "warned": (OVERFLOW,)}
SPOILT = {
    "a number": {"given": (np.float32(1.25),)},
    "a dtype": {"given": (np.float64(1.5),)},
    "a type": {"given": (1.5,)},
    "a shape": {"given": (np.array([1.5], np.float32),)},
    "nothing": {"given": (None,)},
    "a warning left out": {"warned": ()},
    "a warning more": {"warned": (OVERFLOW, ("RuntimeWarning", "invalid value encountered in sin"))},
    "an error": {"raised": "FloatingPointError: overflow encountered in exp"},
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_what_would_be_wrong_is_seen(spoilt):
    """The comparison above says so for each of these, and says nothing of what is the same."""
    right = Shown(**RIGHT, printed="", left=None)
    plain = replace(right, given=np.float32(2.0))
    assert not list(differing(right, right, plain))
    assert list(differing(replace(right, **SPOILT[spoilt]), right, plain))
