"""What a function captures is what it would be as a global variable: the same gradients, and as quick."""

import gc
import inspect
import linecache
import sys
import textwrap
import types
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad.operator_arguments import PULLBACKS
from rulelab.compiler.calls.entries import KEPT

from .changing import make_changing

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from corpus.harness import all_cases, same  # noqa: E402

pytestmark = pytest.mark.usefixtures("as_users_run_it")

V = np.array([0.5, -1.0, 2.0])
X = np.arange(6.0).reshape(2, 3) / 5
NUMPYS = [case for case in all_cases() if "np" in case.function.__code__.co_names]


def captured_by(case):
    """The function of a case with NumPy in a captured variable; None where its text is no plain function."""
    f = case.function
    lines = textwrap.dedent(inspect.getsource(f)).splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith(f"def {f.__name__}(")), None)
    if f.__closure__ or start is None or any("global " in line for line in lines):
        return None
    body = [f"    {line}" for line in lines[start:]]
    text = "\n".join(["def make(np):", *body, f"    return {f.__name__}", ""])
    name = f"<captured {case.name}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    made = dict(f.__globals__)
    exec(compile(text, name, "exec"), made)
    return made["make"](np)


def gradients(f, *args, times=4, **kwargs):
    """Those of several calls, after which the quick ways are open, and the warnings of each."""
    found = []
    for _ in range(times):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            gradient = rl.gradient(f, *args, **kwargs)
        found.append((gradient, sorted(str(w.message) for w in told)))
    return found


@pytest.mark.parametrize("part", range(4))
def test_a_captured_module_is_as_a_global_one(part):
    compared = 0
    for case in NUMPYS[part::16]:
        if (f := captured_by(case)) is None:
            continue
        for point in case.points[:1]:
            wanted = rl.gradient(case.function, *point, **case.kwargs)
            for gradient, _ in gradients(f, *point, times=3, **case.kwargs):
                assert same(gradient, wanted), case.name
        compared += 1
    assert compared > 5


def test_what_it_computes_is_written_out():
    def make(np, X, k):
        def f(w):
            return k * np.sum(np.tanh(X @ w))

        return f

    text = rl.adjoint_source(make(np, X, 2.0), V)
    assert "X @ w" in text and "k * np.sum(" in text and "_at(" not in text


def test_it_is_found_again_at_once():
    def make(np, X):
        return lambda w: np.sum((X @ w) ** 2)

    f = make(np, X)
    wanted = 2 * X.T @ (X @ V)
    for gradient, _ in gradients(f, V):
        np.testing.assert_allclose(gradient[0], wanted, rtol=1e-14)
    assert f.__dict__[KEPT].entries and f.__dict__[KEPT].of_one(f, V) is not None


def test_what_is_called_in_place_of_a_call_is_found_again_too():
    """Where no global has the name of the captured module."""
    text = "def make(np):\n    return lambda xs: np.sum(np.fromiter((x * x for x in xs), float) ** 2)\n"
    linecache.cache["<fromiter>"] = (len(text), None, text.splitlines(True), "<fromiter>")
    made = {}
    exec(compile(text, "<fromiter>", "exec"), made)
    f = made["make"](np)
    for gradient, _ in gradients(f, V):
        np.testing.assert_allclose(gradient[0], 4 * V**3)
    assert f.__dict__[KEPT].of_one(f, V) is not None


def changing(value):
    """A function that captures the value, and what gives it another."""

    def f(x):
        return np.sum(value * x**3)

    def change(other):
        nonlocal value
        value = other

    return f, change


@pytest.mark.parametrize("other", [3.0, 2, np.array([1.0, 2.0, 3.0]), X, np.float32(2.5)])
def test_another_captured_value_counts(other):
    f, change = changing(2.0)
    gradients(f, V)
    for value in (other, np.array(4.0), 2.0):
        change(value)
        for gradient, _ in gradients(f, V):
            found = np.broadcast_to(value, np.broadcast_shapes(np.shape(value), V.shape))
            wanted = found * 3 * V**2
            np.testing.assert_allclose(gradient[0], wanted.sum(0) if wanted.ndim > 1 else wanted, rtol=1e-6)


def test_another_captured_function_counts():
    f, change = make_changing(np.sin)
    ways = [(np.sin, np.cos), (np.exp, np.exp), (lambda x: x**2, lambda x: 2 * x), (np.sin, np.cos)]
    for g, slope in ways:
        change(g)
        for gradient, _ in gradients(f, V):
            np.testing.assert_allclose(gradient[0], slope(V), rtol=1e-14)


def test_another_attribute_of_a_captured_module_counts():
    module = types.ModuleType("settings")
    module.shape = np.sin

    def make(module):
        return lambda x: np.sum(module.shape(x))

    f = make(module)
    np.testing.assert_allclose(gradients(f, V)[-1][0][0], np.cos(V), rtol=1e-14)
    module.shape = np.exp
    np.testing.assert_allclose(gradients(f, V)[-1][0][0], np.exp(V), rtol=1e-14)


def test_a_captured_variable_that_is_deleted():
    def make(k):
        def f(x):
            return k * x * x

        def delete():
            nonlocal k
            del k

        return f, delete

    f, delete = make(3.0)
    assert gradients(f, 2.0)[-1][0] == (12.0,)
    delete()
    for _ in range(2):
        with pytest.raises(NameError):
            rl.gradient(f, 2.0)


def test_a_rule_for_what_is_captured_counts():
    def helper(x):
        return np.sum(x * x)

    def make(helper, np):
        return lambda x: helper(np.exp(x))

    f = make(helper, np)
    np.testing.assert_allclose(gradients(f, V)[-1][0][0], 2 * np.exp(2 * V), rtol=1e-14)

    @rl.rrule_for(helper)
    def helper_rrule(x):
        return helper(x), lambda y_bar: (rl.NoTangent(), y_bar * np.full_like(x, 7.0))

    try:
        np.testing.assert_allclose(gradients(f, V)[-1][0][0], 7 * np.exp(V), rtol=1e-14)
    finally:
        rl.remove_rule(helper)


def test_what_is_captured_has_a_cotangent_where_it_is_asked_for():
    """Also where the function alone is called often, for whose arguments nothing of that is wanted."""

    def make(w):
        return lambda x: np.sum(w * x * x)

    inner = make(V)
    gradients(inner, V)

    def made_inside(w, x):
        return make(w)(x) + make(2 * w)(x)

    for _ in range(3):
        _, back = PULLBACKS.via_ad(inner, V)  # as a rule asks for it
        of_function, of_x = back(1.0)
        np.testing.assert_allclose(of_function["w"], V * V)
        np.testing.assert_allclose(of_x, 2 * V * V)
        np.testing.assert_allclose(rl.gradient(inner, V)[0], 2 * V * V)
        np.testing.assert_allclose(rl.gradient(made_inside, V, V)[0], 3 * V * V)


def test_what_is_captured_is_not_written_to():
    def make(np, X, b):
        def f(w):
            t = np.exp(X) * w
            t = t - b
            return np.sum(t * t * X) + np.sum(X * w) + np.sum(b)

        return f

    kept, b = X.copy(), V.copy()
    f = make(np, kept, b)
    first, *others = [gradient[0] for gradient, _ in gradients(f, V)]
    assert all(np.array_equal(first, other) for other in others)
    assert np.array_equal(kept, X) and np.array_equal(b, V)


def test_what_is_captured_goes_with_the_function():
    """Without the garbage collector, once all is compiled: nothing that is remembered holds it in a ring."""

    def make(X):
        return lambda w: np.sum((X @ w) ** 2)

    data = X.copy()
    held, f = weakref.ref(data), make(data)
    gradients(f, V)
    gc.collect()
    gc.disable()
    try:
        gradients(f, V)
        rl.pullback(f, V)
        assert f.__dict__[KEPT].entries
        del f, data
        assert held() is None
    finally:
        gc.enable()


def test_numbers_of_numpy_warn_as_they_do():
    """Where the sweeps would run on Python's floats, which raise instead."""

    def make(c, d):
        def f(x):
            s = 0.0
            for i in range(len(x)):
                s = s + c[i] * x[i] * x[i] / d
            return s

        return f

    def with_globals(c, d):
        text = inspect.getsource(make)
        body = textwrap.dedent(text.split("\n", 1)[1].rsplit("return f", 1)[0])
        made = {"c": c, "d": d}
        linecache.cache["<of globals>"] = (len(body), None, body.splitlines(True), "<of globals>")
        exec(compile(body, "<of globals>", "exec"), made)
        return made["f"]

    for c, d in ((V, 2.0), (V, 0.0), (V, np.float64(0.0)), (V * 1e200, 1e-200), (np.array([1, 2, 3]), 4.0)):
        with np.errstate(all="warn"):
            found = gradients(make(c, d), V, times=5)
            wanted = gradients(with_globals(c, d), V, times=5)
        for (gradient, told), (other, others_told) in zip(found, wanted):
            assert same(gradient, other) and set(told) == set(others_told)


def test_defaults_keywords_and_rest_beside_what_is_captured():
    def make(np, k):
        def f(x, p=2.0, *, scale=1.0):
            return k * scale * np.sum(x**p)

        def g(x, *others):
            return k * np.sum(x) * sum(others)

        return f, g

    f, g = make(np, 3.0)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, V)[0], 6 * V)
        np.testing.assert_allclose(rl.gradient(f, V, scale=2.0)[0], 12 * V)
        np.testing.assert_allclose(rl.gradient(f, V, 3.0)[0], 9 * V**2)
        assert rl.gradient(g, V, 2.0, 4.0)[1:] == (4.5, 4.5)


def test_containers_among_the_arguments():
    def make(np, X, k):
        return lambda p: k * np.sum(np.tanh(X @ p["w"] + p["b"]))

    def plain(p):
        return 2.0 * np.sum(np.tanh(X @ p["w"] + p["b"]))

    f, params = make(np, X, 2.0), {"w": V, "b": 0.5}
    for (found, _), (wanted, _) in zip(gradients(f, params, times=6), gradients(plain, params, times=6)):
        assert same(found, wanted)
    other = make(np, 2 * X, 3)
    np.testing.assert_allclose(
        rl.gradient(other, params)[0]["w"], 3 * (1 - np.tanh(2 * X @ V + 0.5) ** 2) @ (2 * X)
    )
