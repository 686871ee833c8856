"""On floats an overflow never goes unseen: NumPy's numbers then compute, and warn as they do."""

import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.array_programs import function_of  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls import fused, on_floats  # noqa: E402
from rulelab.compiler.calls.cache import DEFAULT  # noqa: E402

F = np.float64
BIG, SMALL = F(1e200), F(1e-200)
pytestmark = pytest.mark.usefixtures("as_users_run_it")


@pytest.fixture
def texts(monkeypatch):
    """The texts of the passes on floats that were made."""
    found, compile_pass = [], on_floats.compile_pass

    def noting(*args, **options):
        quick = compile_pass(*args, **options)
        if options["on_floats"]:
            found.append(quick.text)
        return quick

    for module in (on_floats, fused):
        monkeypatch.setattr(module, "compile_pass", noting)
    return found


def refuse_floats(monkeypatch):
    """Let no pass be made on floats, nor one for both sweeps."""

    def refused(*args, **options):
        raise on_floats.NotOnFloats

    for module in (on_floats, fused):
        monkeypatch.setattr(module, "compile_pass", refused)


def asked(f, args, seed, times=6):
    """What `pullback` and its pullback give or raise, several times, with the warnings of each time."""
    DEFAULT.drop_passes()
    found = []
    for number in range(times):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                y, back = rl.pullback(f, *args)
                told = y, back(seed), back(seed)
            except Exception as error:
                told = type(error), str(error)
        if number:  # the first is compared with the function, which warns as well
            found.append((repr(told), sorted(str(warning.message) for warning in caught)))
    return found


def both(monkeypatch, f, args, seed=1.0):
    """The same on floats, where they serve, and with NumPy's numbers."""
    quick = asked(f, args, seed)
    with monkeypatch.context() as patch:
        refuse_floats(patch)
        return quick, asked(f, args, seed)


HIDING = [
    "return 1.0 / (x * x)",
    "return y / (x * x + 1.0)",
    "return math.exp(-(x * x)) * y",
    "return y * 2.0 if x * x > 1.0 else y",
    "t = x * x\nif y > 0.0:\n    return y\nreturn t * y",
    "t = x * x\nif y > 0.0:\n    u = t * y\nelse:\n    u = t / y\nreturn y / u",
    "t = 0.0\nfor k in range(3):\n    t = x * x * k\nreturn y",
    "t = y\nfor k in range(3):\n    t = t * x\n    if t > 1e300:\n        t = y\nreturn t",
    "t = y\nk = 0\nwhile t < 1e300 and k < 4:\n    t = t * x\n    k = k + 1\nreturn 1.0 / t",
    "t = x * x\nu = t - t\nreturn y",
    "t = x * x * x\nt = t / (t * t)\nreturn t * y",
    "t = x * x - x * x\nreturn y",
    "return x / y / x / x",
    "return y / x / x",
    "return math.sqrt(x * x + y * y)",
    "return math.tanh(x * x) * y",
    "return math.atan(x * x) * y",
    "return (x * x) ** 2 * y",
    "return (y, 1.0 / (x * x))",
    "return (y / (x * x), x)",
    "u = x * y\nreturn (u * 1e-300) * (u * 1e300)",
    "return math.log(x * x) * y",
    "return abs(x * x) - y",
    "return y ** 2 / x ** 2",
]


PAIRS = [
    *((BIG, F(2.0)), (F(-1e200), F(3.0)), (F(1.5), F(0.5)), (SMALL, SMALL), (F(0.0), F(1.0))),
    *((F(np.inf), F(1.0)), (F(np.nan), F(1.0)), (BIG, 2.0), (1e200, F(2.0))),
]


@pytest.mark.every(13)
@pytest.mark.parametrize("body", HIDING)
@pytest.mark.parametrize("x, y", PAIRS)
def test_value_kinds_and_warnings_are_those_of_numpys_numbers(monkeypatch, body, x, y):
    """Whatever a number that is not finite disappears in."""
    f = function_of(body, "x, y", math=math)
    seed = (1.0, 0.5) if "return (y" in body else 1.0
    found, wanted = both(monkeypatch, f, (x, y), seed)
    assert found == wanted


@pytest.mark.every(3)
@pytest.mark.parametrize("body", HIDING)
def test_the_same_of_items_in_a_loop(monkeypatch, body):
    """Where `gradient` reads arrays."""
    if "return (y" in body:
        return
    lines = [f"    {line}" for line in body.replace("return", "s = s +").splitlines()]
    if any("return" in line for line in body.splitlines()[:-1]):
        return
    text = ["s = 0.0", "for i in range(2):", "    x, y = a[i], b[i]", *lines, "return s"]
    f = function_of("\n".join(text), "a, b", math=math)

    def gradients():
        DEFAULT.drop_passes()
        found = []
        for number in range(6):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    told = rl.gradient(f, np.array([1e200, 2.0]), np.array([2.0, 3.0]))
                except Exception as error:
                    told = type(error), str(error)
            if number:
                found.append((repr(told), sorted(str(warning.message) for warning in caught)))
        return found

    quick = gradients()
    with monkeypatch.context() as patch:
        refuse_floats(patch)
        assert quick == gradients()


@pytest.mark.parametrize(
    "body, looks",
    [
        ("return x * y - x / 3.0", 0),
        ("t = x * y\nif y > 0.0:\n    u = t + x\nelse:\n    u = t * x\nreturn u", 0),
        ("return x / (x * y + 1.0)", 1),
        ("t = x * y\nif t > 1.0:\n    return t\nreturn x", 1),
    ],
)
def test_one_looks_where_nothing_else_shows_it_and_nowhere_else(texts, body, looks):
    """What is looked at shows what it was made of."""
    asked(function_of(body, "x, y"), (F(1.5), F(2.5)), 1.0, 3)
    assert texts[-1].count("raise FloatingPointError") == looks, texts[-1]


@pytest.mark.parametrize(
    "turn, looks", [("t = t * x + y", 0), ("t = 1.0 / (t * x)", 2), ("t = t + 1.0 / x", 0), ("t = x * y", 1)]
)
def test_the_same_of_loops(texts, turn, looks):
    """What one turn hands to the next is shown by the last one, if each turn shows it."""
    f = function_of(f"t = 1.0\nfor i in range(2):\n    x, y = a[i], b[i]\n    {turn}\nreturn t", "a, b")
    for _ in range(3):
        rl.gradient(f, np.array([2.0, 3.0]), np.array([0.5, 1.5]))
    assert texts[-1].count("raise FloatingPointError") == looks, texts[-1]


def test_numbers_of_numpys_in_a_loop(texts):
    """`gradient` takes these as floats as well, and gives such as they are."""
    f = function_of("for k in range(5):\n    x = y * x * (1.0 - x)\nreturn x", "x, y")
    wanted = rl.gradient(f, 0.3, 3.5)
    for _ in range(4):
        found = rl.gradient(f, F(0.3), F(3.5))
        assert found == wanted and list(map(type, found)) == [F, F]
    assert len(texts) == 1


def test_an_overflow_in_the_reverse_sweep_alone(monkeypatch):
    """The value is finite, a cotangent is not."""
    f = function_of("return (x * 1e-200) * (y * 1e-200)", "x, y")
    for seed in (1e300, 1.0):
        found, wanted = both(monkeypatch, f, (F(1e250), F(1e250)), seed)
        assert found == wanted


def test_who_asks_for_errors_gets_them(monkeypatch):
    """`np.errstate(over="raise")`."""
    f = function_of("return y / (x * x)", "x, y")
    with np.errstate(all="raise"):
        found, wanted = both(monkeypatch, f, (BIG, F(1.0)))
    assert found == wanted and "FloatingPointError" in found[0][0]


def test_after_a_few_misses_numpys_numbers_compute_at_once(texts):
    """And the results stay right where they would have served."""
    f = function_of("return y / (x * x)", "x, y")
    f_big, f_one = (BIG, F(1.0)), (F(2.0), F(1.0))
    wanted = rl.gradient(f, *f_one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3 * on_floats.MOST_MISSES):
            assert rl.pullback(f, *f_big)[1](1.0)[1] == 0.0
    for _ in range(3):
        assert rl.pullback(f, *f_one)[1](1.0) == wanted
    assert len(texts) == 1
