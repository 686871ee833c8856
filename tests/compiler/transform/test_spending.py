"""Where both sweeps are one function, what it writes over is what nobody else has and nobody reads again."""

import itertools
import re
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.array_programs import BODIES, POINT, function_of, random_program, random_shapes  # noqa: E402
from corpus.held_arrays import LAYOUTS, SHARED_COTANGENTS, STILL_HELD, X, laid_out, program  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls import fused  # noqa: E402
from rulelab.compiler.calls.cache import Cache  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("as_users_run_it"),
    pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero", "ignore:overflow"),
]
ARRAYS = [program("z = np.sin(x)\ny = x * 3.0", body) for body in SHARED_COTANGENTS.values()]
ARRAYS += [program("z = x * 2.0", body) for body in STILL_HELD.values()]


def found_by(gradient, f, x):
    try:
        return gradient(f, x)[0]
    except (rl.RuleLabError, ValueError, IndexError) as error:
        return type(error)


def by_pullback(f, x):
    return rl.pullback(f, x, cache=Cache())[1](1.0)


def assert_alike(f, x):
    """The third gradient, and the fourth, are what the two sweeps give one after the other."""
    before, wanted = x.copy(), found_by(by_pullback, f, x)
    for number in range(4):
        found = found_by(rl.gradient, f, x)
        if isinstance(wanted, type) or isinstance(found, type):
            assert found == wanted
        else:
            np.testing.assert_array_equal(found, wanted, f"call {number}")
    np.testing.assert_array_equal(x, before)


def written(monkeypatch, f, *args):
    """The text of the fused pass of a call."""
    texts = []

    def compiling(*given, **options):
        made = compile_pass(*given, **options)
        texts.append(made.text)
        return made

    compile_pass = fused.compile_pass
    with monkeypatch.context() as patch:
        patch.setattr(fused, "compile_pass", compiling)
        rl.gradient(f, *args)
        rl.gradient(f, *args)
    return texts[-1]


@pytest.mark.every(3)
@pytest.mark.parametrize("f", ARRAYS)
def test_a_gradient_is_bitwise_that_of_the_two_sweeps(f):
    assert_alike(f, X.copy())


@pytest.mark.every(13)
@pytest.mark.parametrize("body", itertools.chain(*BODIES.values()))
def test_so_it_is_of_each_program_on_arrays(body):
    assert_alike(function_of(body), X.copy())


@pytest.mark.every(3)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "body",
    [
        "w = np.exp(x - row)\nq = w * row - x\nreturn np.sum(q * w / (1.0 + w))",
        "w = x * column + row\nv = np.tanh(w)\nreturn np.sum(v * v * column)",
        "z = x.sum(axis=1, keepdims=True)\nu = np.exp(z * row - x)\nreturn np.sum(u / (2.0 + u * u))",
    ],
)
def test_arrays_may_lie_in_memory_in_any_way(layout, body):
    x = laid_out(layout)
    row, column = np.linspace(0.5, 1.5, x.shape[1]), np.linspace(0.2, 1.0, x.shape[0])[:, None]
    assert_alike(function_of(body, row=row, column=column), x)


def test_the_last_product_that_reads_an_array_takes_its_memory(monkeypatch):
    def f(x):
        e = np.exp(x)
        return np.log(np.sum(e))

    assert "np_multiply(" in (text := written(monkeypatch, f, X)) and "out=e)" in text


def test_what_a_view_shows_is_not_written_to(monkeypatch):
    f = program("z = x * 2.0", STILL_HELD["a slice"])
    assert "out=z" not in written(monkeypatch, f, X)


def test_numbers_and_smaller_arrays_take_no_product(monkeypatch):
    def f(x):
        row = x[0] + 1.0
        return np.sum(row * x * x)

    assert "out=row" not in written(monkeypatch, f, np.ones((3, 4)))


def test_arrays_may_be_called_like_options_and_attributes():
    body = """
shape = np.exp(x)
axis = shape * x
out = np.sum(axis[None] * shape, axis=0)
y_bar = out * 2.0
keepdims = y_bar.sum(axis=0, keepdims=True)
return np.sum(keepdims * shape) + np.max(y_bar, axis=0)
"""
    assert_alike(function_of(body), X.copy())


def test_a_gradient_holds_less_than_a_pullback():
    def f(x, a):
        u = np.tanh(x * a)
        v = np.exp(-u * u)
        return np.sum(u * v + np.sin(x))

    x, a = np.random.default_rng(0).normal(size=(2, 100_000))

    def peak(call):
        call()
        call()
        tracemalloc.start()
        call()
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held

    of_gradient = peak(lambda: rl.gradient(f, x, a))
    of_pullback = peak(lambda: rl.pullback(f, x, a)[1](1.0))
    assert of_gradient <= of_pullback - x.nbytes


@pytest.mark.every(17)
@pytest.mark.parametrize("make", [random_program, random_shapes])
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_are_alike(make, seed):
    assert_alike(function_of(make(seed)), POINT.copy())


@pytest.mark.campaign
@pytest.mark.parametrize("make", [random_program, random_shapes])
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_many_random_programs_are_alike(make, seed):
    assert_alike(function_of(make(seed)), POINT.copy())


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1)])
def test_a_product_that_may_be_larger_asks_for_room(monkeypatch, shape):
    """Where an operand was perhaps repeated, the product takes its memory if it has the shape."""

    def f(a, b):
        u, v = np.sin(a), np.cos(b)
        return np.sum(u * v)

    a, b = np.linspace(0.1, 2.0, 12).reshape(3, 4), np.linspace(0.3, 1.0, int(np.prod(shape))).reshape(shape)
    wanted = rl.pullback(f, a, b, cache=Cache())[1](1.0)
    assert "multiply_over(" in written(monkeypatch, f, a, b)
    for _ in range(3):
        for found, each in zip(rl.gradient(f, a, b), wanted, strict=True):
            np.testing.assert_array_equal(found, each)


LOGITS = np.array([[0.5, -1.0, 2.0], [0.0, 0.0, -3.0], [1.5, 1.5, 1.5], [4.0, -2.0, 0.1]])


def picked(logits, columns):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -logp[np.arange(len(columns)), columns].mean()


def picked_by_rows(logits, rows, columns):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -logp[rows, columns].mean()


@pytest.mark.parametrize("columns", [[0, 2, 1, 1], [-1, 0, -3, 2], [2, 1], [1]], ids=str)
@pytest.mark.parametrize("width", [3, 1])
def test_one_of_each_row_is_what_it_is_of_any(columns, width):
    """An index by `np.arange` names each place once, another one may name it twice."""
    logits = LOGITS[:, :width].copy()
    columns = np.array(columns) if width > 1 else np.zeros(len(columns), int)
    wanted, _ = rl.gradient(picked_by_rows, logits, np.arange(len(columns)), columns, argnums=(0, 2))
    for _ in range(4):
        found, _ = rl.gradient(picked, logits, columns)
        np.testing.assert_array_equal(found, wanted)
    slopes = np.exp(logits - logits.max(1, keepdims=True))
    slopes /= slopes.sum(1, keepdims=True)
    expected = np.zeros(logits.shape)
    np.add.at(expected, (np.arange(len(columns)), columns), -1.0)
    expected[: len(columns)] += slopes[: len(columns)]
    np.testing.assert_allclose(wanted, expected / len(columns), atol=1e-12)


def test_rows_that_occur_twice_get_both():
    rows, columns = np.array([1, 1, 1, 0]), np.array([2, 2, 0, 1])

    def f(x, start, columns):
        return np.sum(x[np.arange(start)[rows], columns] * 2.0) + np.sum(x[np.arange(1), columns])

    def g(x):
        return np.sum(x[np.arange(-2, 2), np.array([1, 1, 1, 1])] ** 2)

    expected = np.zeros((2, 3))
    np.add.at(expected, (rows, columns), 2.0)
    np.add.at(expected, (np.zeros(4, int), columns), 1.0)
    for _ in range(4):
        np.testing.assert_array_equal(rl.gradient(f, LOGITS[:2], 2, columns)[0], expected)
        np.testing.assert_array_equal(rl.gradient(g, LOGITS[:2])[0][:, 1], 4.0 * LOGITS[:2, 1])


def test_rows_that_are_changed_may_occur_twice():
    """Where they have a name they may be, before the index is read; through the index nobody changes them."""

    def f(x, columns):
        rows = np.arange(2)
        rows[1] = 0
        return np.sum(x[rows, columns] * 2.0)

    def g(x, columns):
        index = (np.arange(2), columns)
        index[0][1] = 0
        return np.sum(x[index] * 2.0)

    for _ in range(3):
        found = rl.gradient(f, LOGITS[:2], np.array([1, 1]))[0]
        np.testing.assert_array_equal(found, [[0.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
        with pytest.raises(rl.MutationError):
            rl.gradient(g, LOGITS[:2], np.array([1, 1]))


def test_what_is_subtracted_at_extremes_is_not_negated(monkeypatch):
    def f(logits, columns):
        z = logits - logits.max(axis=1, keepdims=True)
        logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        return -logp[np.arange(len(columns)), columns].mean()

    text = written(monkeypatch, f, LOGITS, np.array([0, 2, 1, 1]))
    assert "max_bar_off(" in text and "rows_item_bar(" in text and "unbroadcast" not in text
    read = re.findall(r"(\w+) = \w+\.shape", text)
    assert all(len(re.findall(rf"\b{name}\b", text)) > 1 for name in read)


def test_half_a_square_is_neither_halved_nor_doubled(monkeypatch):
    def f(x, a):
        d = x * a
        return np.sum(0.25 * np.sum(d * d, axis=1))

    def g(x, a):
        d = x * a
        return np.sum(0.5 * np.sum(d * d, axis=1))

    x, a = LOGITS, np.array([0.5, 2.0, -1.0])
    assert "2.0" not in written(monkeypatch, g, x, a) and "2.0" in written(monkeypatch, f, x, a)
    for function, part in ((g, 1.0), (f, 0.5)):
        wanted = x * a * a, (x * x * a).sum(0)
        for found, each in zip(rl.gradient(function, x, a), wanted, strict=True):
            np.testing.assert_allclose(found, part * each, rtol=1e-14)
        assert_alike(lambda x, function=function: function(x, a), x.copy())
