"""A gradient by one function for both sweeps: what it gives, raises, warns of and does is as by two."""

import math
import os
import sys
import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.calls.entries import KEPT
from rulelab.compiler.calls.reading import adjoint_source
from rulelab.compiler.memory.support import are_finite

X = np.array([0.3, -1.2, 0.7, 1.9])
pytestmark = pytest.mark.usefixtures("as_users_run_it")


def fused_passes(f):
    """The fused passes that a function has so far."""
    known = f.__dict__.get(KEPT)
    return {id(entry.fused) for entry in known.entries.values() if entry.fused} if known else set()


def settled(f, *args, **options):
    """What the calls of `gradient` give that open the quick ways."""
    return [rl.gradient(f, *args, **options) for _ in range(4)]


def by_pullback(f, *args):
    return rl.pullback(f, *args, cache=Cache())[1](1.0)


def of_array(x):
    return np.sum(np.exp(x) * x)


def of_two(x, a):
    return np.sum(x * a) / np.sum(np.exp(a))


def of_many(x, a, b, name, flag=True):
    return np.sum(np.tanh(x * a) + b) if flag else a


def of_numbers(r, x, steps=5):
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def of_items(x):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(x[i]) * x[i]
    return total


def of_branches(x, a):
    y = x * a
    if x[0] > 0:
        y = np.exp(y)
    for i in range(3):
        y = y * 0.5 + a
    return np.mean(y)


def of_axes(x, axis):
    lengths = np.sqrt(x.sum(axis=(0, 2)) ** 2) + np.mean(x, (1, 2), keepdims=True).prod()
    return np.sum(lengths) * x.prod(axis=axis).sum() + np.trace(x[0]) * x[:, 0].trace()


def of_matrices(x, v):
    return np.sum(x @ v) + np.sum(x.T @ (x @ v)) * np.sum(v @ x.T)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (of_array, (X,)),
        (of_axes, (np.sin(np.arange(24.0)).reshape(2, 3, 4), 1)),
        (of_axes, (np.sin(np.arange(8.0)).reshape(2, 2, 2), -1)),
        (of_matrices, (np.sin(np.arange(8.0)).reshape(2, 4), X)),
        (of_two, (X, X + 3.0)),
        (of_two, (X, 2.0)),
        (of_many, (X, 2.0, X, "name")),
        (of_many, (X, 2.0, 1, "name")),
        (of_numbers, (3.1, 0.3)),
        (of_numbers, (np.float64(3.1), 0.3)),
        (of_items, (X,)),
        (of_branches, (X, 2.0)),
        (of_branches, (-X, 2.0)),
    ],
)
def test_each_way_of_gradient_gives_what_the_two_sweeps_give(f, args):
    wanted = by_pullback(f, *args)
    for found in settled(f, *args):
        for entry, other in zip(found, wanted, strict=True):
            assert type(entry) is type(other)
            np.testing.assert_array_equal(entry, other)
    assert fused_passes(f)
    y, found = rl.withgradient(f, *args)
    assert type(y) is type(f(*args)) and y == f(*args)
    for chosen in (0, (1, 0)) if len(args) > 1 else (0,):
        for one in settled(f, *args, argnums=chosen):
            picked = [wanted[number] for number in (chosen if isinstance(chosen, tuple) else (chosen,))]
            for entry, other in zip(one, picked, strict=True):
                np.testing.assert_array_equal(entry, other)


def test_entries_are_new_arrays_that_nobody_else_has():
    def f(x, a):
        return np.sum(x + a)

    x, a = X.copy(), X * 2.0
    for x_bar, a_bar in (*settled(f, x, a), by_pullback(f, x, a)):
        x_bar += 1.0
        np.testing.assert_array_equal(a_bar, np.ones(4))
        assert x_bar.base is None and a_bar.base is None
    np.testing.assert_array_equal(a, X * 2.0)


def test_an_error_of_the_authors_is_theirs_in_each_call():
    def f(x, i):
        return np.sum(np.exp(x)) * x[i]

    settled(f, X, 1)
    for _ in range(3):
        with pytest.raises(IndexError, match="index 9 is out of bounds") as caught:
            rl.gradient(f, X, 9)
    assert caught.traceback[-1].lineno == f.__code__.co_firstlineno


@pytest.mark.parametrize("f", [of_array, of_items])
def test_warnings_come_as_from_the_two_sweeps(f):
    def told(ask):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = ask()
        return [str(one.message) for one in seen], found[0]

    settled(f, X)
    x = np.array([1.0, 1e200, 700.0]) if f is of_array else np.array([1.0, 709.7])
    wanted, bars = told(lambda: rl.pullback(f, x)[1](1.0))
    assert wanted
    for _ in range(4):
        found, entry = told(lambda: rl.gradient(f, x))
        assert found == wanted
        np.testing.assert_array_equal(entry, bars)


def test_slopes_that_are_great_and_finite_warn_of_nothing():
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * 1e200
        return total

    def g(x, a):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * 1e200 - a[i] * 1e190
        return total

    x = np.array([0.1, -0.1])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for (found,) in settled(f, x):
            np.testing.assert_array_equal(found, [1e200, 1e200])
        for found, other in settled(g, x, x):
            np.testing.assert_array_equal([*found, *other], [1e200, 1e200, -1e190, -1e190])
    assert not seen


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_cotangent_that_is_not_finite_is_seen_whatever_stands_beside_it(bad):
    for other in (0.0, 1.0, -1.0, math.inf, -math.inf, math.nan):
        for pair in ((bad, other), (other, bad)):
            arrays = [np.array([1.0, x, 0.0]) for x in pair]
            assert not are_finite(tuple(arrays))
            assert not are_finite((1.0, np.ones(4), *arrays))
            assert not are_finite((*pair, np.ones(3)))
    assert are_finite((1.0, None, np.ones(3), np.zeros(3)))


def test_what_prints_prints_once_and_has_no_fused_pass(capsys):
    def f(x):
        print("called")
        return np.sum(x * x)

    settled(f, X)
    assert capsys.readouterr().out.count("called") <= 5  # the first value is compared with the function's
    assert not fused_passes(f)


STORED = np.zeros(4)


def test_what_writes_has_no_fused_pass():
    def f(x):
        np.add(STORED, 1.0, out=STORED)
        return np.sum(x * x)

    for _ in range(3):
        with pytest.raises(rl.MutationError):
            rl.gradient(f, X)
    assert not fused_passes(f) and not STORED.any()


def test_a_value_that_is_no_real_number_is_refused_as_ever():
    def f(x):
        return x * 2.0

    for _ in range(3):
        with pytest.raises(rl.ScalarOutputError):
            rl.gradient(f, X)


def test_a_slope_that_is_missing_is_refused_in_each_call():
    special = pytest.importorskip("scipy.special")

    def f(v, x):
        w = np.exp(v)
        return np.sum(special.jv(w, x) * w) + np.sum(w * w)

    for _ in range(4):
        with pytest.raises(rl.NotImplementedTangentError, match="the order of a Bessel function"):
            rl.gradient(f, np.ones(2), np.ones(2))
    for (found,) in settled(f, np.ones(2), np.ones(2), argnums=1):
        np.testing.assert_allclose(found, special.jvp(np.e, 1.0) * np.e)


def test_a_rule_counts_from_the_moment_it_is_defined():
    def part(x):
        return np.sum(x * x)

    def f(x):
        return part(x) + np.sum(x)

    np.testing.assert_array_equal(settled(f, X)[-1][0], 2.0 * X + 1.0)
    rl.rrule_for(part)(lambda x: (np.sum(x * x), lambda y_bar: (rl.NoTangent(), 5.0 * y_bar * x)))
    np.testing.assert_array_equal(settled(f, X)[-1][0], 5.0 * X + 1.0)


def test_a_global_that_changes_is_seen():
    names = {"np": np, "rate": 2.0, "__name__": "__main__"}
    f = function_with(names, "return np.sum(x * x) * rate")
    np.testing.assert_array_equal(settled(f, X)[-1][0], 2.0 * (2.0 * X))
    names["rate"] = 3.0
    np.testing.assert_array_equal(settled(f, X)[-1][0], 3.0 * (2.0 * X))
    names["np"] = type("Other", (), {"sum": staticmethod(lambda x: 7.0 * x[0])})
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [42.0 * X[0], 0.0, 0.0, 0.0])


def function_with(names, body):
    import linecache

    text = f"def program(x):\n    {body}\n"
    filename = "<program of a fused pass>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)
    return names["program"]


def test_values_are_compared_at_every_call_where_that_was_asked():
    settled(of_array, X)
    with rl.debug_mode(rules=False, compare=True):
        np.testing.assert_array_equal(rl.gradient(of_array, X)[0], by_pullback(of_array, X)[0])


def test_a_gradient_inside_of_a_gradient_is_as_ever():
    def slope(x):
        return np.sum(rl.gradient(of_array, x)[0])

    settled(of_array, X)
    for (found,) in settled(slope, X):
        np.testing.assert_allclose(found, np.exp(X) * (X + 2.0))


def softmax_loss(x, rows):
    z = x - x.max(axis=1, keepdims=True)
    logs = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logs[rows, 0]) + x.mean() * np.max(x, 0).sum() + np.min(z)


def python_of_numpy(call):
    """The functions of NumPy's own Python that a call runs."""
    found = []

    def on_event(frame, event, arg):
        if event == "call" and f"numpy{os.sep}" in frame.f_code.co_filename:
            found.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def test_reductions_of_arrays_run_no_python_of_numpy():
    x, rows = np.random.default_rng(0).random((3, 4)) + 0.5, np.array([0, 2, 1])
    gradients = settled(softmax_loss, x, rows)
    assert "_wrapreduction" in python_of_numpy(lambda: softmax_loss(x, rows))
    assert python_of_numpy(lambda: rl.gradient(softmax_loss, x, rows)) == []
    for found in gradients:
        assert found[0].tobytes() == gradients[0][0].tobytes()
    assert gradients[0][0].tobytes() == by_pullback(softmax_loss, x, rows)[0].tobytes()


@pytest.mark.parametrize(
    "f",
    [lambda x: np.sum(x, axis=2) * 1.0, lambda x: np.max(x[:0]) + np.sum(x), lambda x: x.mean(axis=3) * 2.0],
    ids=["sum", "max", "mean"],
)
def test_reductions_that_fail_say_so_in_numpys_words(f):
    wanted = pytest.raises(ValueError, f, X)
    for _ in range(4):
        found = pytest.raises(type(wanted.value), rl.gradient, f, X)
        assert str(found.value) == str(wanted.value)


def test_the_mean_of_nothing_warns_as_numpys_does():
    def mean(x):
        return np.mean(x) + x.sum()

    settled(mean, X)
    heard = []
    for call in (mean, lambda x: rl.gradient(mean, x)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call(np.zeros(0))
        heard.append([str(one.message) for one in told])
    assert "Mean of empty slice" in heard[0][0].strip(".") and set(heard[1]) >= set(heard[0])


def of_a_whole_number(n):
    return 3 * n**2 + 2 * n + 1


def of_both_kinds(x, n):
    return x * n + x / n


def sum_of_a_tuple(x, y):
    return sum((x * y, x, 2)) * y + sum([y, 1.0])


def test_whole_numbers():
    """Their gradients are floats, the value stays whole, and so it is in every call."""
    for _ in range(4):
        assert rl.withgradient(of_a_whole_number, 5) == (86, (32.0,))
        value, (slope,) = rl.withgradient(of_a_whole_number, -3)
        assert (value, slope, type(value), type(slope)) == (22, -16.0, int, float)
        assert rl.gradient(of_both_kinds, 2.0, 4) == (4.25, 1.875)
        with pytest.raises(OverflowError):
            rl.gradient(of_a_whole_number, 10**400)
    assert [type(entry) for entry in rl.gradient(of_both_kinds, 2.0, 4)] == [float, float]


def test_the_sum_of_a_tuple():
    for _ in range(4):
        x_bar, y_bar = rl.gradient(sum_of_a_tuple, 1.5, 2.0)
        assert (x_bar, y_bar) == (6.0, 10.5)
    assert "part(" not in adjoint_source(sum_of_a_tuple, 1.5, 2.0)


WEIGHTS = np.array([0.5, -1.0, 2.0])
OF_MIXED_DTYPES = {
    "a global": lambda x: (WEIGHTS * x * x).sum(),
    "a number of NumPy's": lambda x: np.sum(np.float64(3) * x * x),
    "an array made": lambda x: np.sum(np.arange(3.0) * x * x),
    "one factor": lambda x: np.sum(WEIGHTS * x),
    "two terms": lambda x: np.sum(x * WEIGHTS) + np.sum(np.exp(x)),
    "a product": lambda x: np.dot(WEIGHTS, x * x),
    "elements": lambda x: x[0] * x[1] * WEIGHTS[0],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.complex128, np.float16, np.int32])
@pytest.mark.parametrize("name", OF_MIXED_DTYPES)
def test_an_entry_has_the_dtype_of_its_argument_at_every_call(name, dtype):
    """Beside arrays of double precision, too; whole numbers have slopes of double precision."""
    f = OF_MIXED_DTYPES[name]

    def real(x):
        return np.real(f(x))

    x = np.array([1.0, 2.0, 3.0]).astype(dtype)
    found = [entry for (entry,) in settled(real if dtype is np.complex128 else f, x)]
    assert {entry.dtype for entry in found} == {x.dtype if x.dtype.kind in "fc" else np.dtype(float)}
    assert all(np.array_equal(entry, found[0]) for entry in found)
