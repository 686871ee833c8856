"""Objects that hold a function: partial, cached, vectorized, getters."""

import functools
import operator

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.memory.operands import carries
from rulelab.errors import ForeignCallError, NotDifferentiableError


def scaled(c, x, *, p=1.0):
    return c * x**p


# --- partial ---


def test_a_partial_asked_for_itself():
    """Its own arguments are constants, those given are differentiated."""
    assert rl.gradient(functools.partial(scaled, 2.0, p=3.0), 2.0) == (24.0,)


def test_a_partial_given_as_an_argument_is_a_constant():
    """As any function given as an argument."""
    assert rl.gradient(lambda f, x: f(x), functools.partial(scaled, 2.0), 3.0) == (None, 2.0)


def test_a_partial_that_holds_values_that_vary():
    """The values it was made with get their cotangents, also where a call overrides a keyword."""

    def twice(c, p):
        f = functools.partial(scaled, c, p=p)
        return f(2.0) + f(3.0, p=2.0)

    value, (c_bar, p_bar) = rl.withgradient(twice, 1.5, 2.0)
    assert value == twice(1.5, 2.0) and c_bar == 4.0 + 9.0
    assert p_bar == pytest.approx(1.5 * 4.0 * np.log(2.0))


def test_a_partial_carries_what_it_holds():
    """A foreign call with one is refused only if it holds a number."""
    assert carries(functools.partial(scaled, 1.0)) and not carries(functools.partial(len))
    with pytest.raises(ForeignCallError):
        rl.gradient(lambda c: np.apply_over_axes(functools.partial(scaled, c), [1.0], [0]), 2.0)


def test_a_wrong_call_of_a_partial():
    """The error is that of the function it holds."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        rl.gradient(lambda c: functools.partial(scaled, c)(1.0, q=2.0), 1.0)


# --- cached functions ---


@pytest.mark.usefixtures("run_once")
def test_a_cache_sees_no_value_that_varies():
    """The function behind it is differentiated; nothing is read from the cache and nothing put there."""

    @functools.lru_cache
    def squared(x):
        return x * x

    squared.cache_clear()
    assert rl.gradient(lambda x: squared(x) + squared(2.0), 3.0) == (6.0,)
    assert squared.cache_info().currsize <= 1 and rl.gradient(squared, 3.0) == (6.0,)

    def unused(x):
        squared(x)
        return x

    before = squared.cache_info().currsize
    assert rl.gradient(unused, 7.0) == (1.0,) and squared.cache_info().currsize == before


class Model:
    def __init__(self, w):
        self.w = w

    @functools.lru_cache  # noqa: B019 (what people write)
    def at(self, x):
        return self.w * x * x


def test_a_cached_method():
    """The object gets its cotangent too."""
    value, (m_bar, x_bar) = rl.withgradient(lambda m, x: m.at(x), Model(3.0), 2.0)
    assert value == 12.0 and m_bar.w == 4.0 and x_bar == 12.0


# --- vectorize ---


def test_vectorize_hands_over_python_numbers_and_broadcasts():
    """Value, type and shape as NumPy's; each argument's cotangent in its shape."""
    f = np.vectorize(lambda x, y: x * y + (x if isinstance(x, float) else 100.0))
    a, b = np.array([[1.0], [2.0]]), np.array([3.0, 4.0, 5.0])
    value, (a_bar, b_bar) = rl.withgradient(lambda a, b: np.sum(f(a, b) ** 2), a, b)
    assert value == np.sum(f(a, b) ** 2)
    np.testing.assert_allclose(a_bar, np.sum(2 * (a * b + a) * (b + 1), axis=1, keepdims=True))
    np.testing.assert_allclose(b_bar, np.sum(2 * (a * b + a) * a, axis=0))


def test_vectorize_captures():
    """What the function captures gets its cotangent."""
    assert rl.gradient(lambda k: np.sum(np.vectorize(lambda x: x * k)(np.array([1.0, 2.0]))), 3.0) == (3.0,)


@pytest.mark.parametrize(
    ("f", "found"),
    [
        (lambda a: np.sum(np.vectorize(lambda v: 0 if v < 2 else v * 1.5)(a)), "truncates floats"),
        (lambda a: np.sum(np.vectorize(lambda v: (v, v))(a)[0]), "several results"),
        (lambda a: np.sum(np.vectorize(np.sum, signature="(n)->()")(a)), "signature"),
    ],
)
def test_what_vectorize_does_not_take(f, found):
    """Refused with a way around, at the author's line."""
    with pytest.raises(NotDifferentiableError, match=found) as caught:
        rl.gradient(f, np.array([1.0, 2.0]))
    assert caught.value.fixes and caught.value.place.function == "<lambda>"


# --- getters ---


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda xs: operator.itemgetter(1)(xs) ** 2, [0.0, 4.0, 0.0]),
        (lambda xs: sum(operator.itemgetter(0, 2)(xs)), [1.0, 0.0, 1.0]),
        (lambda xs: sum(map(operator.itemgetter(0), [xs, xs])), [2.0, 0.0, 0.0]),
        (lambda xs: operator.methodcaller("copy")(xs)[2], [0.0, 0.0, 1.0]),
        (lambda xs: operator.call(sum, xs), [1.0, 1.0, 1.0]),
        (lambda xs: getattr(Model, "zz", xs[0]) * xs[1], [2.0, 1.0, 0.0]),
    ],
)
def test_getters(f, wanted):
    """The item, attribute or method itself."""
    (found,) = rl.gradient(f, [1.0, 2.0, 3.0])
    assert [v or 0.0 for v in found] == wanted


def test_attrgetter_through_a_path():
    """Names joined by dots, and several of them."""

    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

    pair = Pair(Model(2.0), Model(3.0))
    bar = rl.gradient(lambda p: np.prod(np.array(operator.attrgetter("left.w", "right.w")(p))), pair)[0]
    assert (bar.left.w, bar.right.w) == (3.0, 2.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: operator.itemgetter(0)(),
        lambda x: getattr(x),
        lambda x: getattr(x, "zz"),
        lambda x: x.zz(),
    ],
)
def test_wrong_calls(f):
    """Python's own errors."""
    with pytest.raises((TypeError, AttributeError)) as wanted:
        f(1.5)
    with pytest.raises((wanted.type, NotDifferentiableError)):
        rl.gradient(f, 1.5)


def test_making_a_vectorized_function_runs_nothing():
    """What it keeps is looked at where it is called."""
    seen = np.zeros(1)

    def writes(x):
        seen[0] += x
        return x

    def made_alone(v):
        np.vectorize(writes)
        return np.sum(v * v)

    def called(v):
        return np.sum(v * np.vectorize(writes)(v))

    for _ in range(3):
        np.testing.assert_array_equal(rl.gradient(made_alone, np.array([1.0, 2.0]))[0], [2.0, 4.0])
    assert seen[0] == 0.0
    with pytest.raises(rl.MutationError):
        rl.gradient(called, np.array([1.0, 2.0]))


def test_a_vectorized_function_of_several_kinds():
    """The handler of one element answers for those of the same kinds, and a rule that comes later counts."""

    def square(x):
        return x * x

    def f(v, k):
        return np.sum(np.vectorize(square)(v) * k)

    for _ in range(2):
        assert rl.gradient(f, np.array([1.0, 2.0]), 3.0)[0].tolist() == [6.0, 12.0]
        assert rl.gradient(f, np.array([1j, 2.0]).real, 3.0)[1] == 4.0
    rl.rrule_for(square)(lambda x: (square(x), lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)))
    try:
        assert rl.gradient(f, np.array([1.0, 2.0]), 3.0)[0].tolist() == [300.0, 300.0]
    finally:
        rl.remove_rule(square)
    assert rl.gradient(f, np.array([1.0, 2.0]), 3.0)[0].tolist() == [6.0, 12.0]
