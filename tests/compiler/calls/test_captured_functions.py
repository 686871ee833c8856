"""Captured functions of the author's, whose texts stand in a pass: whatever changes counts at once."""

import functools
import gc
import linecache
import sys
import traceback
import types
import weakref
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import DEFAULT
from rulelab.compiler.calls.captured import told_by_texts
from rulelab.compiler.calls.entries import KEPT

from .changing import make_changing

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

pytestmark = pytest.mark.usefixtures("as_users_run_it")

V = np.array([0.5, -1.0, 2.0])
SCALE = 1.0


def make(act):
    def f(x):
        return np.sum(act(x))

    return f


def derivatives(f, x):
    """The gradient by every way, each several times: they must be one."""
    found = []
    for _ in range(4):
        found.append(rl.gradient(f, x)[0])
        found.append(rl.withgradient(f, x).grad[0])
        found.append(rl.pullback(f, x)[1](1.0)[0])
    basis = np.eye(len(x)) if isinstance(x, np.ndarray) else [1.0]
    for _ in range(2):
        found.append(np.array([rl.pushforward(f, x)(e) for e in basis]))
    return found


def assert_derivative(f, x, wanted):
    for found in derivatives(f, x):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def in_a_module(text, name="<other module>", **names):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    made = dict(names)
    exec(compile(text, name, "exec"), made)
    return made


# --- what it is for -----------------------------------------------------------------------------------------


def test_its_text_stands_in_the_pass():
    def make(a, Y):
        def model(w):
            return np.tanh(a * w)

        def f(w):
            return np.sum((model(w) - Y) ** 2)

        return f

    text = rl.adjoint_source(make(2.0, V), V)
    assert "a_1 * w" in text and "_at(" not in text
    assert "__closure__" in text and "pull_" not in text


def test_it_is_found_again_at_once_and_goes_without_the_collector():
    def outer(X):
        def model(w):
            return X * w

        return lambda w: np.sum(model(w) ** 2)

    data = V.copy()
    held, f = weakref.ref(data), outer(data)
    assert_derivative(f, V, 2 * V**3)
    assert f.__dict__[KEPT].of_one(f, V) is not None
    gc.collect()
    gc.disable()
    try:
        f = outer(data)
        assert_derivative(f, V, 2 * V**3)
        del f, data
        assert held() is None
    finally:
        gc.enable()


def test_functions_made_again_share_their_pass():
    def outer(k, Y):
        def model(w, shift=Y):
            return k * w + shift

        return lambda w: np.sum(model(w) ** 2)

    rng = np.random.default_rng(0)
    for number in range(3):
        f = outer(2.0, V)
        for _ in range(3):
            rl.gradient(f, V)
    count = len(DEFAULT)
    for number in range(30):
        k, Y = float(rng.random()), rng.random(3)
        for _ in range(1 + number % 4):
            np.testing.assert_allclose(rl.gradient(outer(k, Y), V)[0], 2 * k * (k * V + Y))
    assert len(DEFAULT) == count


# --- what changes -------------------------------------------------------------------------------------------


def test_another_function_in_the_cell():
    f, change = make_changing(lambda x: x**2)
    for act, slope in (
        (lambda x: x**2, lambda x: 2 * x),
        (lambda x: x**3, lambda x: 3 * x**2),
        (np.sin, np.cos),
        (lambda x: 2.0 * x, lambda x: np.full_like(x, 2.0)),
        (lambda x: x**2, lambda x: 2 * x),
    ):
        change(act)
        assert_derivative(f, V, slope(V))


def test_another_function_of_the_same_text():
    def scaled(k):
        return lambda x: k * x * x

    f, change = make_changing(scaled(1.0))
    for k in (1.0, 2.0, 3, V, np.float32(0.5), np.float64(4.0), np.array([[1.0], [2.0]])):
        change(scaled(k))
        wanted = 2 * np.broadcast_to(k, np.broadcast_shapes(np.shape(k), V.shape)) * V
        assert_derivative(f, V, wanted.sum(0) if wanted.ndim > 1 else wanted)


def test_another_code():
    def act(x):
        return x**2

    def other(x):
        return x**3

    f = make(act)
    assert_derivative(f, V, 2 * V)
    act.__code__ = other.__code__
    assert_derivative(f, V, 3 * V**2)


def test_other_defaults():
    def act(x, k=2.0, square=False, p=1):
        y = x * x if square else x
        return k * y**p

    f = make(act)
    assert_derivative(f, V, np.full(3, 2.0))
    for defaults, wanted in (
        ((3.0, False, 1), np.full(3, 3.0)),
        ((3.0, True, 1), 6 * V),
        ((3.0, 1, 1.0), 6 * V),
        ((3.0, 0, True), np.full(3, 3.0)),
        ((V, False, 3), 3 * V**3),
        ((V, False, 2.0), 2 * V**2),
        ((2.0, None, 1), np.full(3, 2.0)),
    ):
        act.__defaults__ = defaults
        assert_derivative(f, V, wanted)
    act.__defaults__ = (1.0,)  # that of the last parameter
    with pytest.raises(TypeError):
        rl.gradient(f, V)


def test_other_defaults_by_keyword():
    def act(x, *, k=2.0, axis=None):
        return k * np.sum(x * x, axis=axis)

    f = make(act)
    X = np.stack([V, 2 * V])
    for words, k in (({"k": 3.0}, 3.0), ({"axis": 0}, 3.0), ({"axis": 1, "k": 2}, 2), ({"axis": None}, 2)):
        for name, value in words.items():
            act.__kwdefaults__[name] = value
        for _ in range(4):
            np.testing.assert_allclose(rl.gradient(f, X)[0], 2 * k * X)
    act.__kwdefaults__ = {"k": 5.0, "axis": None}
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, X)[0], 10 * X)
    for lacking in (None, {"k": 5.0}, {"k": 5.0, "other": None}):
        act.__kwdefaults__ = lacking
        with pytest.raises(TypeError):
            rl.gradient(f, X)


@pytest.mark.parametrize("by_keyword", [False, True])
def test_other_defaults_that_the_text_reads_as_literals(by_keyword):
    """A number that chooses what is done, and a function that does it: not read anew at each call."""

    def act(x, power=1, g=np.sin):
        return g(x**power)

    def act_by_keyword(x, *, power=1, g=np.sin):
        return g(x**power)

    act = act_by_keyword if by_keyword else act
    f = make(act)
    assert_derivative(f, V, np.cos(V))
    for power, g, wanted in (
        (2, np.sin, 2 * V * np.cos(V**2)),
        (2, np.cos, -2 * V * np.sin(V**2)),
        (2, lambda x: x, 2 * V),
        (2, lambda x: 3.0 * x, 6 * V),
        (1, np.exp, np.exp(V)),
    ):
        if by_keyword:
            act.__kwdefaults__ = {"power": power, "g": g}
        else:
            act.__defaults__ = (power, g)
        assert_derivative(f, V, wanted)


def test_a_default_that_gets_another_shape():
    k = np.array([1.0, 2.0, 3.0])

    def act(x, k=k):
        return k * x

    f = make(act)
    assert_derivative(f, V, k)
    k.shape = (3, 1)
    assert_derivative(f, V, np.full(3, 6.0))


def test_a_rule_for_it():
    def act(x):
        return x * x

    f = make(act)
    assert_derivative(f, V, 2 * V)
    rl.rrule_for(act)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, V)[0], 7.0)
        np.testing.assert_allclose(rl.withgradient(f, V).grad[0], 7.0)
    np.testing.assert_allclose(rl.gradient(make(act), V)[0], 7.0)
    rl.remove_rule(act)
    assert_derivative(f, V, 2 * V)


def test_a_rule_for_what_it_captures_in_turn():
    def outer():
        def inner(x):
            return x * x

        def act(x):
            return 3.0 * inner(x)

        return inner, make(act)

    inner, f = outer()
    assert_derivative(f, V, 6 * V)
    rl.rrule_for(inner)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, V)[0], 21.0)
    _, other = outer()
    assert_derivative(other, V, 6 * V)
    rl.remove_rule(inner)
    assert_derivative(f, V, 6 * V)


def test_a_rule_for_one_of_two_functions_of_the_same_text():
    def made(ruled):
        def act(x):
            return x * x

        if ruled:
            rl.rrule_for(act)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
        return act

    plain, ruled = made(False), made(True)
    f, change = make_changing(plain)
    for _ in range(3):
        change(plain)
        assert_derivative(f, V, 2 * V)
        change(ruled)
        for _ in range(3):
            np.testing.assert_allclose(rl.gradient(f, V)[0], 7.0)
            np.testing.assert_allclose(rl.gradient(make(ruled), V)[0], 7.0)
            np.testing.assert_allclose(rl.gradient(make(plain), V)[0], 2 * V)


def test_another_derivative_of_it():
    """What a function is marked with, as the gradient of another is: here one of the same value."""

    def other(x):
        return x**3 / 2.0

    def act(x):
        return x * x

    f = make(act)
    assert_derivative(f, 2.0, 4.0)
    act.differentiated_as = other
    for _ in range(3):
        assert rl.gradient(f, 2.0)[0] == pytest.approx(6.0)


def test_what_it_captures_in_turn():
    def outer(k, g):
        def act(x):
            return k * g(x)

        def change(other_k, other_g):
            nonlocal k, g
            k, g = other_k, other_g

        def delete():
            nonlocal k
            del k

        return make(act), change, delete

    f, change, delete = outer(2.0, lambda x: x * x)
    for k, g, slope in (
        (2.0, lambda x: x * x, lambda x: 2 * x),
        (3.0, lambda x: x * x, lambda x: 2 * x),
        (V, lambda x: x * x, lambda x: 2 * x),
        (V, np.sin, np.cos),
        (2, lambda x: x**3, lambda x: 3 * x * x),
    ):
        change(k, g)
        assert_derivative(f, V, k * slope(V))
    delete()
    for _ in range(2):
        with pytest.raises(NameError):
            rl.gradient(f, V)


def test_an_array_that_it_captures_is_refilled():
    data = V.copy()

    def act(x):
        return data * x

    f = make(act)
    assert_derivative(f, V, V)
    data[:] = 3.0
    assert_derivative(f, V, np.full(3, 3.0))
    _, back = rl.pullback(f, V)
    data[0] = 4.0
    with pytest.raises(rl.errors.MutatedAfterCaptureError):
        back(1.0)


def test_globals_that_it_reads():
    text = "K = 2.0\ndef helper(x):\n    return x * x\ndef act(x):\n    return K * helper(x)\n"
    text += "def make(act):\n    return lambda x: act(x) + 0.0\n"
    names = in_a_module(text, "<globals of a captured function>")
    f = names["make"](names["act"])
    assert_derivative(f, 3.0, 12.0)
    names["K"] = 3
    assert_derivative(f, 3.0, 18.0)
    names["helper"] = np.sin
    assert_derivative(f, 3.0, 3 * np.cos(3.0))


def test_globals_of_another_module():
    """Where its names mean something else."""
    text = "K = 2.0\ndef act(x):\n    return K * x\n"
    here = in_a_module(text + "def make(act):\n    return lambda x: act(x) + K\n", "<here>")
    there = in_a_module(text, "<there>")
    there["K"] = 5.0
    for act, wanted in ((here["act"], 2.0), (there["act"], 5.0), (here["act"], 2.0)):
        assert_derivative(here["make"](act), 3.0, wanted)


def test_texts_that_are_equal_in_two_namespaces():
    """Code objects with equal contents are equal, and these functions are of the same place."""
    text = "def act(x):\n    return K * x\ndef make(act):\n    return lambda x: act(x) * 1.0\n"
    for _ in range(2):
        for k in (2.0, 3.0):
            names = in_a_module(text, "<the same place>", K=k)
            assert_derivative(names["make"](names["act"]), 3.0, k)


# --- what it may be -----------------------------------------------------------------------------------------


def test_second_order():
    def outer(k):
        def act(x):
            return k * x**3

        def g(x):
            return rl.gradient(lambda t: act(t) * act(t), x)[0]

        return make(act), g

    f, g = outer(2.0)
    for _ in range(3):
        np.testing.assert_allclose(rl.hessian(f, V), np.diag(12 * V))
        assert rl.gradient(g, 1.5)[0] == pytest.approx(4 * 30 * 1.5**4)
        assert rl.pushforward(g, 1.5)(1.0) == pytest.approx(4 * 30 * 1.5**4)


def test_what_varies_may_be_captured():
    """Cotangents of what is captured, in both modes, where the same functions were constants before."""

    def outer(k):
        def act(x):
            return k * x * x

        return make(act)

    assert_derivative(outer(2.0), V, 4 * V)

    def both(k):
        return outer(k)(V) + outer(2.0 * k)(V)

    assert_derivative(both, 3.0, 3 * np.sum(V * V))
    assert_derivative(both, V, 3 * V * V)

    def of_default(k):
        def act(x, k=k):
            return k * x

        return make(act)(V)

    assert_derivative(of_default, 3.0, np.sum(V))


def test_functions_that_hold_themselves():
    def outer(k):
        def power(x, n):
            return k if n == 0 else x * power(x, n - 1)

        def act(x):
            return power(x, 3)

        return make(act), lambda x: power(x, 2) + k

    f, g = outer(2.0)
    assert_derivative(f, 2.0, 24.0)
    assert_derivative(g, 2.0, 8.0)


def test_composed_functions():
    def composed(f, g):
        def h(x):
            return f(g(x))

        return h

    square, sine = (lambda x: x * x), (lambda x: np.sin(x))
    two = composed(square, sine)
    three = composed(two, square)
    many = square
    for _ in range(8):
        many = composed(lambda x: 0.5 * x, composed(many, lambda x: x + 0.1))
    assert_derivative(two, 0.7, np.sin(1.4))
    assert_derivative(three, 0.7, np.sin(2 * 0.49) * 1.4)
    assert_derivative(many, 0.7, 0.5**8 * 2 * 1.5)


def test_containers_that_it_captures():
    def outer(table, items):
        def act(x):
            return table["k"] * x + items[0] * x

        return make(act)

    table, items = {"k": 2.0}, [3.0]
    f = outer(table, items)
    assert_derivative(f, V, np.full(3, 5.0))
    table["k"] = V
    items[0] = 1
    assert_derivative(f, V, V + 1)


def test_functions_that_keep_their_frame():
    def outer(k):
        def counted(x):
            nonlocal k
            k += 1.0
            return k * x

        def each(x):
            yield k * x

        return make(counted), make(lambda x: next(each(x)))

    counted, each = outer(1.0)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(each, V)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(counted, V)


def test_what_it_writes_to_is_refused():
    data = V.copy()

    def act(x):
        data[0] = 1.0
        return data * x

    f = make(act)
    for _ in range(3):
        with pytest.raises(rl.errors.MutationError):
            rl.gradient(f, V)
    assert np.array_equal(data, V)


def test_errors_have_its_lines():
    def act(x):
        if x > 0:
            raise ValueError("too large")
        return x * x

    f = make(act)
    assert rl.gradient(f, -1.0)[0] == -2.0
    for _ in range(4):
        rl.gradient(f, -1.0)
        with pytest.raises(ValueError, match="too large") as caught:
            rl.gradient(f, 1.0)
        lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert 'raise ValueError("too large")' in lines and "return np.sum(act(x))" in lines


def test_parameters_that_nobody_hands_in():
    W = V.copy()

    def act(x):
        return W * x

    def loss():
        return np.sum(act(V) ** 2)

    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(loss, rl.Params([W]))[W], 2 * W * V * V)
    f = make(act)
    assert_derivative(f, V, W)


def test_what_it_prints_is_printed_once(capsys):
    def act(x):
        print("called")
        return x * x

    f = make(act)
    for _ in range(4):
        rl.gradient(f, V)
        assert capsys.readouterr().out.count("called") == 1


def test_with_containers_among_the_arguments():
    def outer(k):
        def model(p, x):
            return np.tanh(k * p["w"] * x + p["b"])

        return lambda p: np.sum(model(p, V))

    for k in (2.0, 3.0, V):
        f = outer(k)
        for _ in range(5):
            found = rl.gradient(f, {"w": V, "b": 0.5})[0]
            slope = 1 - np.tanh(k * V * V + 0.5) ** 2
            np.testing.assert_allclose(found["w"], slope * k * V)
            np.testing.assert_allclose(found["b"], slope.sum())


def test_a_literal_of_another_class():
    def act(x, number=1):
        return x[number]

    f = make(act)
    assert_derivative(f, V, np.array([0.0, 1.0, 0.0]))
    act.__defaults__ = (True,)  # which takes all
    assert_derivative(f, V, np.ones(3))
    for number in (0, 2):
        act.__defaults__ = (number,)
        assert_derivative(f, V, np.eye(3)[number])


def test_a_variable_that_has_no_value_yet():
    def outer():
        def act(x):
            return k * x if x[0] > 1.0 else x

        f = make(act)
        assert_derivative(f, V, np.ones(3))
        k = 2.0
        assert_derivative(f, V + 1.0, np.full(3, 2.0))

    outer()


def test_a_variable_that_is_rebound_meanwhile():
    def loss(x):
        k = 1.0

        def act(t):
            return k * t

        def bump():
            nonlocal k
            k = k + 1.0

        def g(t):
            first = act(t)
            bump()
            return first + 10.0 * act(t)

        return np.sum(g(x)) + np.sum(act(x))

    assert_derivative(loss, V, np.full(3, 1.0 + 20.0 + 2.0))


def test_equal_texts_of_two_files():
    """Their code objects are equal, but errors name the file."""
    names = in_a_module("def make(act):\n    return lambda x: act(x) * 1.0\n", "<of both>", np=np)
    text = "def act(x):\n    if x > 0:\n        raise ValueError(x)\n    return x * x\n"
    acts = []
    for file in ("<one file>", "<another file>"):
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), names)
        acts.append((file, names["act"]))
    assert acts[0][1].__code__ == acts[1][1].__code__
    for file, act in acts * 2:
        f = names["make"](act)
        for _ in range(3):
            assert rl.gradient(f, -1.0)[0] == -2.0
        with pytest.raises(ValueError) as caught:
            rl.gradient(f, 1.0)
        assert file in str([frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)])


def test_a_method_that_asks_its_class():
    class Base:
        def act(self, x):
            return 2.0 * x

    class Other(Base):
        def act(self, x):
            return super().act(x) + x

    def outer(act, thing):
        return lambda x: np.sum(act(thing, x))

    assert_derivative(outer(Other.__dict__["act"], Other()), V, np.full(3, 3.0))


def test_how_much_is_told():
    """Functions within functions, or without an end, are called."""

    def chain(act, count):
        for _ in range(count):
            act = (lambda act: lambda x: act(x) + 1.0)(act)
        return act

    def outer():
        def power(x, n):
            return x if n == 0 else x * power(x, n - 1)

        def other(x):
            return twin(x) if x.ndim else x

        def twin(x):
            return other(x)

        return (lambda x: power(x, 2)), (lambda x: other(x))

    def told(f):
        return len(told_by_texts(DEFAULT, f, (types.FunctionType,))[1])

    of_power, of_other = outer()
    assert [told(chain(np.sin, count)) for count in (2, 3, 5, 12)] == [1, 2, 4, 4]
    assert (told(of_power), told(of_other)) == (1, 2)
    assert_derivative(chain(lambda x: x * x, 12), 3.0, 6.0)


def test_what_is_no_constant_has_no_entries():
    def outer(items):
        def act(x):
            return items[0] * x

        return make(act)

    f = outer([2.0])
    assert_derivative(f, V, np.full(3, 2.0))
    assert not f.__dict__[KEPT].entries


# --- what is called through something -----------------------------------------------------------------------


def decorated(f):
    @functools.wraps(f)
    def g(*args, **words):
        return f(*args, **words)

    return g


def test_decorated_functions():
    def loss(x, k=2.0, *, p=2):
        return k * np.sum(x**p)

    f = decorated(decorated(loss))
    assert_derivative(f, V, 4 * V)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, V, 3.0)[0], 6 * V)
        np.testing.assert_allclose(rl.gradient(f, V, p=3)[0], 6 * V**2)
        np.testing.assert_allclose(rl.gradient(f, V, p=3, k=1.0)[0], 3 * V**2)
        assert rl.gradient(f, V, 3.0)[1] == pytest.approx(np.sum(V * V))
        with pytest.raises(TypeError):
            rl.gradient(f, V, 3.0, 4.0)
    assert f.__dict__[KEPT].of_one(f, V) is not None
    loss.__defaults__ = (5.0,)
    assert_derivative(f, V, 10 * V)
    rl.rrule_for(loss)(lambda x, k=5.0: (0.0, lambda y_bar: (rl.NoTangent(), np.full(3, 7.0), 0.0)))
    np.testing.assert_allclose(rl.gradient(f, V)[0], 7.0)
    rl.remove_rule(loss)
    assert_derivative(f, V, 10 * V)
    rl.rrule_for(f)(lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), np.full(3, 8.0))))
    np.testing.assert_allclose(rl.gradient(f, V)[0], 8.0)
    rl.remove_rule(f)
    assert_derivative(f, V, 10 * V)


def test_wrappers_that_do_more():
    """What comes after `*` and `**` is looked at, changed or kept."""

    def loss(*args, **words):
        return words.get("k", 2.0) * sum(np.sum(x * x) for x in args)

    seen = []

    def counting(f):
        def g(*args, **words):
            return len(args) * f(*args, **words)

        return g

    def changing(f):
        def g(*args, **words):
            words["k"] = 3.0
            return f(*args, **words)

        return g

    def adding(f):
        def g(x, *args, **words):
            return f(x, *args, k=4.0, **words) + f(*(x, *args), **words)

        return g

    def keeping(f):
        def g(*args, **words):
            seen.append(words)
            return f(*args, **words)

        return g

    def hidden(f):
        def g(*args, **words):
            return (lambda: f(*args, **words))()

        return g

    for wrapper, k in ((counting, 2.0), (changing, 3.0), (adding, 6.0), (hidden, 2.0)):
        f = wrapper(loss)
        for _ in range(4):
            np.testing.assert_allclose(rl.gradient(f, V)[0], 2 * k * V)
            np.testing.assert_allclose(rl.pushforward(f, V)(V), 2 * k * np.sum(V * V))
            both = rl.gradient(f, V, 2 * V)
            more = 2 if wrapper is counting else 1
            np.testing.assert_allclose(both[0], 2 * more * k * V)
            np.testing.assert_allclose(both[1], 4 * more * k * V)
    for _ in range(3):
        with pytest.raises(rl.RuleLabError):
            rl.gradient(keeping(loss), V)
    assert seen == []


def test_partials():
    def loss(x, k, *, p=2, shift=0.0):
        return np.sum(k * x**p) + shift

    f = functools.partial(loss, p=2)
    g = functools.partial(loss, V, p=3)
    for _ in range(4):
        found = rl.gradient(f, V, 2.0)
        np.testing.assert_allclose(found[0], 4 * V)
        assert found[1] == pytest.approx(np.sum(V * V))
        np.testing.assert_allclose(rl.gradient(f, V, 2.0, argnums=0)[0], 4 * V)
        assert rl.gradient(f, V, 2.0, argnums=-1)[0] == pytest.approx(np.sum(V * V))
        np.testing.assert_allclose(rl.gradient(f, V, 2.0, p=3)[0], 6 * V**2)
        np.testing.assert_allclose(rl.gradient(f, V, k=3.0)[0], 6 * V)
        assert len(rl.gradient(g, 2.0)) == 1
        assert rl.gradient(g, 2.0)[0] == pytest.approx(np.sum(V**3))
        value, (of_k,) = rl.withgradient(g, 2.0, shift=1.0)
        assert value == pytest.approx(2 * np.sum(V**3) + 1.0) and of_k == pytest.approx(np.sum(V**3))
        with pytest.raises(TypeError):
            rl.gradient(g, 2.0, 3.0)
        with pytest.raises(TypeError):
            rl.gradient(g, 2.0, x=3.0)
    h = functools.partial(loss, 2 * V, p=3)  # of other values, and then of other kinds
    assert rl.gradient(h, 2.0)[0] == pytest.approx(8 * np.sum(V**3))
    h = functools.partial(loss, 2.0, p=V)
    assert rl.gradient(h, 2.0)[0] == pytest.approx(np.sum(2.0**V))
    rl.rrule_for(loss)(lambda x, k, *, p=2: (0.0, lambda y_bar: (rl.NoTangent(), np.full(3, 7.0), 8.0)))
    np.testing.assert_allclose(rl.gradient(f, V, 2.0)[0], 7.0)
    assert rl.gradient(g, 2.0)[0] == 8.0
    rl.remove_rule(loss)
    np.testing.assert_allclose(rl.gradient(f, V, 2.0)[0], 4 * V)


def test_a_partial_has_no_rule_of_its_own():
    """So its gradient is that of the function in it."""
    with pytest.raises(rl.errors.RuleRegistrationError):
        rl.rrule_for(functools.partial(np.sum, axis=0))(lambda x: (x, lambda y_bar: (rl.NoTangent(), y_bar)))


def test_what_a_wrapped_function_leaves_alone():
    """It is on no path, as where the function is called itself."""

    def first(x, y):
        return x * 1.0

    for _ in range(3):
        assert rl.gradient(decorated(first), 2.0, 3.0) == rl.gradient(first, 2.0, 3.0) == (1.0, None)
