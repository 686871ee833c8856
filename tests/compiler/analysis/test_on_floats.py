"""Where `gradient` reads numbers of arrays as Python's own floats, nothing but the time tells."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.array_programs import function_of  # noqa: E402
from corpus.harness import all_cases  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls import fused, on_floats  # noqa: E402
from rulelab.compiler.calls.cache import DEFAULT  # noqa: E402

X, Y = np.array([0.3, -0.4, 0.9, 1.3]), np.array([0.0, 1.0, 2.0, 3.0])
pytestmark = pytest.mark.usefixtures("as_users_run_it")


@pytest.fixture
def tried(monkeypatch):
    """Whether each pass that was asked for on floats was made."""
    made, compile_pass = [], on_floats.compile_pass

    def noting(*args, **options):
        if not options["on_floats"]:
            return compile_pass(*args, **options)
        made.append(False)
        quick = compile_pass(*args, **options)
        made[-1] = True
        return quick

    for module in (on_floats, fused):
        monkeypatch.setattr(module, "compile_pass", noting)
    return made


def several(f, args, times=6):
    """What `times` calls of `gradient` give or raise, and the kinds of their warnings."""
    DEFAULT.drop_passes()
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(times):
            try:
                found.append(rl.gradient(f, *args))
            except Exception as error:
                found.append((type(error), str(error)))
    return found, [(warning.category, str(warning.message)) for warning in caught]


def refuse_floats(monkeypatch):
    """Let no pass be made on floats, nor one for both sweeps."""

    def refused(*args, **options):
        raise on_floats.NotOnFloats

    for module in (on_floats, fused):
        monkeypatch.setattr(module, "compile_pass", refused)


def both(monkeypatch, f, *args):
    """The same with floats where they serve, and with NumPy's numbers."""
    quick = several(f, args)
    with monkeypatch.context() as patch:
        refuse_floats(patch)
        return quick, several(f, args)


def assert_equal(found, expected):
    """Bit by bit, and of the same types."""
    if isinstance(found, (tuple, list)):
        assert len(found) == len(expected)
        for x, y in zip(found, expected):
            assert_equal(x, y)
    elif isinstance(found, np.ndarray):
        np.testing.assert_array_equal(found, expected, strict=True)
    else:
        assert type(found) is type(expected)
        assert found == expected or (found != found and expected != expected)


def looped(step, start="0.0", count=4):
    """A loop over the items of two arrays."""
    lines = [f"s = {start}", f"for i in range({count}):", *(f"    {line}" for line in step.split("; "))]
    return function_of("\n".join([*lines, "return s"]), "x, y")


COMPUTES = [
    "s = s + x[i] * y[i] - x[i] / (y[i] + 2.0)",
    "s = s + np.sqrt(x[i] * x[i]) + np.exp(-x[i])",
    "s = s + abs(x[i]) * y[i]",
    "s = s + x[-i] * y[i - 4]",
    "s = s + -x[i] ** 3",
    "s += x[i]; s *= 1.5",
    "s = s + x[i] * (y[i] > 1.0)",
    "t = x[i] - y[i]; s = s + t * t if t > 0.0 else s - t",
    "s = s + x[i] * i",
    "s = s + (0.1 + x[i] * x[i]) ** y[i]",
    "s = s + abs(x[i]) ** 1.5 * abs(x[i]) ** -0.5",
    "s = s + float(x[i]) * float(y[i])",
]


@pytest.mark.parametrize("step", COMPUTES)
def test_the_gradient_is_bitwise_that_of_numpys_numbers(monkeypatch, tried, step):
    (found, warned), (expected, expected_warned) = both(monkeypatch, looped(step), X, Y)
    assert_equal(found, expected)
    assert warned == expected_warned


def test_some_of_these_are_on_floats(monkeypatch, tried):
    """Else nothing would be tested here."""
    for step in COMPUTES:
        several(looped(step), (X, Y))
    assert tried.count(True) >= 3


GOES_THROUGH = [
    "for v in x:\n    s = s + v * v",
    "for v, w in zip(x, y):\n    s = s + (v - w) ** 2 / (2.0 + w)",
    "for v, w in zip(x[:2], y):\n    s = s + v * w",
    "for v, w in zip(y, range(2)):\n    s = s + v * w * x[0]",
    "for v in reversed(x):\n    s = s * v + v",
    "for v in reversed(x):\n    s = s * v + v\n    if s > 0.5:\n        break",
    "for v in x:\n    if v < 0.0:\n        break\n    s = s + np.sqrt(v)",
    "for i, v in enumerate(x, 1):\n    s = s + i * v * y[-i]",
    "for v in x:\n    for w in y:\n        s = s + v * w if v > w else s - v",
    "for v in x:\n    if v > 5.0:\n        s = s + v",
    "for v in x:\n    s = v",
    "for v in x[1:]:\n    s = s + v / y[0]",
    "for v in y:\n    s = s + x[1] / v",
    "for v in y:\n    s = s + np.log(v) * x[1]",
    "for i in range(len(x)):\n    for v in x:\n        s = s + v * x[i]",
    "for row in np.reshape(x, (2, 2)):\n    for v in row:\n        s = s * v + v",
]


@pytest.mark.parametrize("loop", GOES_THROUGH)
def test_so_is_that_of_a_loop_that_goes_through_an_array(monkeypatch, tried, loop):
    f = function_of(f"s = 0.0\n{loop}\nreturn s", "x, y")
    for x, y in ((X, Y), (X[::-1], Y + 1.0), (np.array([0.5, -0.0, 0.0, 7.0]), 2.0 * X)):
        (found, warned), (expected, expected_warned) = both(monkeypatch, f, x, y)
        assert_equal(found, expected)
        assert set(warned) == set(expected_warned)


def test_most_of_these_are_on_floats(tried):
    for loop in GOES_THROUGH:
        several(function_of(f"s = 0.0\n{loop}\nreturn s", "x, y"), (X, Y + 1.0))
    assert tried.count(True) >= 9


@pytest.mark.parametrize("size", [0, 1])
def test_so_is_that_of_a_short_array(monkeypatch, tried, size):
    f = function_of("s = 1.0\nfor v in x:\n    s = s + v * y\nreturn s", "x, y")
    (found, _), (expected, _) = both(monkeypatch, f, X[:size], 2.0)
    assert_equal(found, expected)


POWERED = function_of("s = x\nfor _ in range(3):\n    s = 0.5 * s ** p + x\nreturn s", "x, p")
POWERS = [1.5, 0.5, -0.5, 0.0, -0.0, 1.0, 3.0, -2.0, 2, 0, -1, 40.0, 400.0, 1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("x", [0.7, 1.0, 30.0, 1e-30, 1e30, 0.0, -0.0, -0.3, -2.0, 5e-324, np.inf, np.nan, 3])
def test_powers_of_pythons_floats_are_real_or_go_the_other_way(monkeypatch, tried, x, p):
    """A negative number with an exponent that is not whole has a complex power."""
    (found, warned), (expected, expected_warned) = both(monkeypatch, POWERED, x, p)
    for each, other in zip(found, expected, strict=True):
        if not isinstance(other[0], float):
            assert each == other
            continue
        assert list(map(type, each)) == list(map(type, other))
        np.testing.assert_array_max_ulp(np.array(each, float), np.array(other, float), 40)
        if 1e-20 < x < 1e20 and abs(p) <= 12:  # elsewhere NumPy has a way of its own
            assert_equal(each, other)
    assert warned == expected_warned


def test_powers_of_pythons_floats_are_computed_as_such(tried):
    several(POWERED, (0.7, 1.5))
    assert True in tried


@pytest.mark.every(12)
@pytest.mark.parametrize("part", range(12))
def test_the_gradients_of_the_corpus_are_bitwise_the_same(monkeypatch, tried, part):
    """Of those functions whose passes are on floats; nobody would see which."""
    for case in list(all_cases())[part::12]:
        for number, args in enumerate(case.points if not case.kwargs else ()):
            tried.clear()
            found, warned = several(case.function, args, 3)
            if True not in tried:
                continue
            with monkeypatch.context() as patch:
                refuse_floats(patch)
                expected, expected_warned = several(case.function, case.points[number], 3)
            assert_equal(found, expected)
            assert warned == expected_warned


@pytest.mark.parametrize(
    ("step", "count"),
    [
        ("s = s + x[i] / y[i]", 4),  # division by zero
        ("s = s + 1.0 / (1.0 + x[i] / y[i])", 4),  # which the value does not show
        ("s = s + x[i] * 1e200 * 1e200", 4),  # overflow
        ("s = s + (x[i] * 1e200) ** 3", 4),
        ("s = s + x[i] * y[i]", 5),  # no such item
        ("s = s + np.log(y[i]) * x[i]", 4),
        ("s = s + np.sqrt(-x[i])", 4),
    ],
)
def test_what_would_warn_or_raise_is_done_again_with_numpys_numbers(monkeypatch, tried, step, count):
    (found, warned), (expected, expected_warned) = both(monkeypatch, looped(step, count=count), X, Y)
    assert_equal(found, expected)
    assert set(warned) == set(expected_warned)


@pytest.mark.parametrize(
    "step",
    [
        "s = s + x[i] * np.random.normal()",
        "print('step'); s = s + x[i]",
        "np.add(STORE, 1.0, out=STORE); s = s + x[i]",
        "STORE.fill(i); s = s + x[i]",
        "LIST.append(i); s = s + x[i]",
        "STORE[0] = STORE[0] + 1.0; s = s + x[i]",
        "s = s + (x[i] if isinstance(x[i], np.float64) else 0.0)",
        "s = s + x[i] * len(repr(x[i]))",
        "s = s + x[i].item()",
        "s = s + x[i] // 0.7",
        "s = s + round(x[i], 1) * x[i]",
    ],
)
def test_what_does_more_than_compute_is_never_on_floats(tried, step):
    """It would be done twice where it has to be done again, or would see another type."""
    names = {"STORE": np.zeros(1), "LIST": []}
    lines = ["s = 0.0", "for i in range(4):", *(f"    {line}" for line in step.split("; ")), "return s"]
    several(function_of("\n".join(lines), "x, y", **names), (X, Y))
    assert True not in tried


def test_numpys_own_errors_are_those_of_its_numbers(monkeypatch, tried):
    """Where they are to be raised."""
    with np.errstate(all="raise"):
        (found, _), (expected, _) = both(monkeypatch, looped("s = s + np.log(y[i]) * x[i]"), X, Y)
    assert found == expected
    assert found[0][0] is FloatingPointError


def test_squares_are_products_and_right_to_the_last_place(monkeypatch, tried):
    """A product is rounded once; a power of the C library may be off by one in the last place."""
    f = looped("s = s + np.exp(x[i] ** 2 - y[i])")
    x = np.random.default_rng(0).normal(size=4)
    (found, _), (expected, _) = both(monkeypatch, f, x, Y)
    assert tried == [True]
    np.testing.assert_array_max_ulp(found[-1][0], expected[-1][0], 4)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(8.0)[::2],
        np.arange(8.0)[::-2],
        np.broadcast_to(np.array([0.7]), (4,)),
        np.arange(16.0).reshape(4, 4)[:, 1],
        X.astype(">f8"),
        X.astype(np.float32),
        np.arange(4),
        np.ma.array(X),
    ],
    ids=["apart", "backwards", "one number", "a column", "swapped", "short", "whole", "masked"],
)
def test_arrays_of_any_layout(monkeypatch, x):
    f = looped("s = s + x[i] * y[i] * x[i]")
    several(f, (X, Y))
    (found, _), (expected, _) = both(monkeypatch, f, x, Y)
    assert_equal(found, expected)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda m: m[::-1, ::-1]])
def test_matrices_of_any_layout(monkeypatch, tried, layout):
    f = function_of(
        "s = 0.0\nfor i in range(3):\n    for j in range(4):\n        s = s + x[i, -j] * x[i, j]\nreturn s"
    )
    (found, _), (expected, _) = both(monkeypatch, f, layout(np.arange(12.0).reshape(3, 4)))
    assert tried == [True]
    assert_equal(found, expected)


def test_the_arrays_are_not_held_after_the_gradient():
    """A view of one keeps it from being resized."""
    x, f = X.copy(), looped("s = s + x[i] * y[i]")
    several(f, (x, Y))
    x.resize(8, refcheck=False)
    assert x.shape == (8,)
