"""The author's functions run unchanged on traced numbers: helpers, closures, imports and handlers
included."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic.scalars import CannotTrace, Scalar, Trace
from rulelab.symbolic.swap import Swap

SCALE = 3.0
TABLE = {"sin": math.sin}


def helper(x, scale=SCALE):
    return scale * math.exp(x)


def uses_globals_and_helpers(x):
    return helper(x) + SCALE * np.cos(x) + TABLE["sin"](x)


def imports_inside(x):
    import math as m

    from numpy import tanh

    return m.log(x) + tanh(x)


def recursive(x, n=4):
    return x if n == 0 else math.sin(recursive(x, n - 1))


def closure(c):
    def inner(x):
        return c(x) ** 2

    return inner


def comprehension(x):
    return sum(math.sqrt(x + k) for k in range(3)) + float(x) + max(x, 0.1)


def array_writes(x):
    out = np.zeros(3)
    out[1:] += x
    return np.mean(out**2)


class Wave:
    def __init__(self, x):
        self.value = np.sin(np.asarray(x, float))

    @property
    def doubled(self):
        return 2 * math.exp(float(self.value))


UNIT = Wave(1.0)


def makes_objects(x):
    wave = Wave(x)
    return wave.doubled if isinstance(wave, Wave) and isinstance(UNIT, Wave) else x


class Model:
    scale = 2.0

    def __init__(self, w):
        self.w = w

    def act(self, t):
        return math.tanh(t) * self.scale

    def __call__(self, x):
        return self.act(self.w * x)


MODEL = Model(1.5)


def methods_of_objects(x):
    return MODEL.act(x) + MODEL(x) / MODEL.w if isinstance(MODEL, Model) else x


@functools.lru_cache
def cached(x):
    return x * x


@pytest.mark.parametrize(
    "f",
    [
        uses_globals_and_helpers,
        imports_inside,
        recursive,
        closure(math.sin),
        comprehension,
        array_writes,
        makes_objects,
        methods_of_objects,
        Model(0.5),
        cached,
        functools.partial(helper, scale=2.0),
        math.hypot,
        np.arctan,
    ],
)
def test_traced_values_are_those_of_the_plain_run(f):
    """Whatever the function is made of, its traced value is the float one and still depends on the
    argument."""
    trace = Trace()
    result = Swap(trace).value(f, "f")(trace.argument("x", Fraction(3, 4)))
    assert isinstance(result, Scalar) and not result.is_constant
    assert float(result.shadow) == pytest.approx(float(f(0.75)), rel=1e-12)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: eval("x"), "eval"),
        (lambda x: open("/dev/null"), "open"),
        (lambda x: np.linalg.svd(np.array([[x, 1.0]])), "linalg.svd"),
    ],
)
def test_unknown_calls_stop_and_are_named(f, name):
    """A call that traced numbers cannot follow is named, and nothing runs."""
    trace = Trace()
    with pytest.raises(CannotTrace, match=name):
        Swap(trace).value(f, "f")(trace.argument("x", Fraction(1)))


def test_the_authors_namespace_is_left_alone():
    """Globals that traced code assigns do not reach my module."""
    space = {"__builtins__": __builtins__}
    code = compile("def f(x):\n    global seen\n    seen = x\n    return x", "<cell>", "exec")
    exec(code, space)
    trace = Trace()
    Swap(trace).value(space["f"], "f")(trace.argument("x", Fraction(1)))
    assert "seen" not in space
