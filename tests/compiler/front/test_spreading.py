"""Functions with `*args` whose items are parameters of their own: nothing but the text and the time tells."""

import copy
import math
import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import passes
from rulelab.compiler.calls.cache import DEFAULT
from rulelab.compiler.front.spreading import MOST

X = np.array([1.0, -2.0, 3.0])
F = np.float64
pytestmark = pytest.mark.usefixtures("as_users_run_it")


class Length(float):
    """A float of the author's."""


def weighed(a, *xs):
    p, q, r = xs
    return a * p + q * math.sin(r)


def first_and_last(*xs):
    return xs[0] * xs[-1]


def by_branch(a, *xs):
    if a > 0.0:
        return a * xs[0]
    p, q = xs
    return p * q


def one_ignored(a, *xs):
    p, _, r = xs
    return a * p * r


def unread(a, *xs):
    return a * 2.0


def whole(a, *xs):
    return a * sum(xs) + len(xs) * xs[0]


def handed_on(a, *xs):
    return weighed(a, *xs)


def twice(*xs):
    p, q = xs
    p, q = q, p * q
    return p * q + xs[0]


def captured(a, *xs):
    def inner(t):
        return t * xs[0]

    return inner(a) + xs[1]


def matrices(*xs):
    a, b = xs
    return np.sum(a @ b)


def called(x, *fs):
    f, scale = fs
    return f(x) * scale


def appended(*xs):
    items, x = xs
    items.append(x)
    return items[0] * x


def written(*xs):
    a, b = xs
    a[0] = 5.0
    return np.sum(a * b)


def too_few(*xs):
    p, q = xs
    return p * q


def no_such(*xs):
    return xs[7]


def named_badly(*xs):
    p, q = xs
    unused = xs  # noqa: F841
    return p * q


CASES = [
    (weighed, (2.0, 3.0, 4.0, 0.5)),
    (weighed, (F(2.0), 3.0, F(4.0), 0.5)),
    (weighed, (2, 3, 4, 1)),
    (weighed, (2.0, np.float32(3.0), 4.0, 0.5)),
    (weighed, (2.0, Length(3.0), 4.0, 0.5)),
    (weighed, (2.0, True, 4.0, 0.5)),
    (first_and_last, (2.0, 3.0, 4.0)),
    (first_and_last, (2.0,)),
    (first_and_last, (X.sum(), "unused", None, 4.0)),
    (one_ignored, (1.0, 2.0, 3.0, 4.0)),
    (unread, (1.0, 2.0, 3.0)),
    (unread, (1.0,)),
    (whole, (1.0, 2.0, 3.0)),
    (handed_on, (2.0, 3.0, 4.0, 0.5)),
    (twice, (2.0, 3.0)),
    (captured, (2.0, 3.0, 4.0)),
    (matrices, (np.ones((2, 3)), np.ones((3, 2)))),
    (called, (2.0, np.sin, 3.0)),
    (called, (2.0, lambda t: t * t, 3.0)),
    (appended, ([1.0, 2.0], 3.0)),
    (written, (X.copy(), X)),
    (too_few, (1.0, 2.0, 3.0)),
    (too_few, (1.0,)),
    (no_such, (1.0, 2.0)),
    (named_badly, (2.0, 3.0)),
    (first_and_last, tuple(float(k) for k in range(1, MOST + 5))),
]


def asked(f, args):
    """What gradient and pullback give or raise, three times each, with the warnings."""
    DEFAULT.drop_passes()
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for ask in (rl.gradient, lambda f, *args: rl.pullback(f, *args)[1](1.0)):
            for _ in range(3):
                try:
                    found.append(ask(f, *copy.deepcopy(args)))
                except Exception as error:
                    found.append((type(error), str(error)))
    return found, [(warning.category, str(warning.message)) for warning in caught]


def same(a, b):
    """Whether two results are of the same kinds, and equal."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (a is b or np.array_equal(a, b))


@pytest.fixture
def as_tuples(monkeypatch):
    """What is asked while no tuple is taken apart."""

    def ask(f, args):
        with monkeypatch.context() as patch:
            patch.setattr(passes, "spread", lambda *asked: None)
            return asked(f, args)

    return ask


@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_gives_what_the_tuple_gives(as_tuples, f, args):
    """Cotangents, their kinds, refusals, Python's own errors."""
    found, wanted = asked(f, args), as_tuples(f, args)
    assert same(found[0], wanted[0]) and found[1] == wanted[1], (found, wanted)


def test_each_argument_is_a_parameter():
    """Named after the variable that it goes to; the author's tuple is in no line."""
    text = rl.adjoint_source(weighed, 2.0, 3.0, 4.0, 0.5)
    assert text.splitlines()[0] == "def weighed(a, p, q, r):"
    assert "xs" not in text
    assert rl.adjoint_source(whole, 2.0, 3.0).splitlines()[0] == "def whole(a, xs):"


def test_an_argument_that_is_not_asked_for_has_no_cotangent():
    """`argnums` goes by argument, also of those that `*args` takes."""
    wanted = rl.gradient(weighed, 2.0, 3.0, 4.0, 0.5)
    for _ in range(3):
        assert rl.gradient(weighed, 2.0, 3.0, 4.0, 0.5, argnums=(2, 0)) == (wanted[2], wanted[0])
        assert rl.gradient(weighed, 2.0, 3.0, 4.0, 0.5, argnums=3) == (wanted[3],)


@pytest.mark.parametrize("a", [1.0, -1.0])
def test_zeros_do_not_depend_on_the_branch(a):
    """As those of other parameters: there is a path, on the branch that was not taken."""

    def plain(a, p, q):
        if a > 0.0:
            return a * p
        return p * q

    for _ in range(3):
        assert rl.gradient(by_branch, a, 2.0, 3.0) == rl.gradient(plain, a, 2.0, 3.0)


def test_an_array_given_twice_gets_both_parts():
    """Two parameters may be one array."""

    def product(*xs):
        a, b = xs
        return np.sum(a * b * b)

    a_bar, b_bar = rl.gradient(product, X, X)
    assert np.array_equal(a_bar, X * X) and np.array_equal(b_bar, 2 * X * X)


def test_a_rule_for_the_function_counts_as_before():
    """From its definition on, and until it is removed."""

    def scaled(*xs):
        a, b = xs
        return a * b

    assert rl.gradient(scaled, 2.0, 3.0) == (3.0, 2.0)

    @rl.rrule_for(scaled)
    def scaled_rrule(*xs):
        return scaled(*xs), lambda y_bar: (rl.NoTangent(), 7.0 * y_bar, 8.0 * y_bar)

    for _ in range(3):
        assert rl.gradient(scaled, 2.0, 3.0) == (7.0, 8.0)


def test_code_that_is_exchanged_counts():
    """The passes are of the code, not of the name."""

    def product(*xs):
        a, b = xs
        return a * b

    def quotient(*xs):
        a, b = xs
        return a / b

    for _ in range(3):
        assert rl.pullback(product, 3.0, 2.0)[1](1.0) == (2.0, 3.0)
    product.__code__ = quotient.__code__
    for _ in range(3):
        assert rl.pullback(product, 3.0, 2.0)[1](1.0) == (0.5, -0.75)


def test_an_error_names_the_authors_line():
    """Where a parameter divides by zero."""

    def inverse(*xs):
        a, b = xs
        return a / b

    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as found:
            rl.pullback(inverse, 1.0, 0.0)
        assert found.traceback[-1].lineno + 1 == inverse.__code__.co_firstlineno + 2


def test_calls_in_a_function_go_one_by_one_as_well():
    """Of a captured function that is not taken in."""

    def outer(x):
        total = 0.0
        for k in range(3):
            total = total + twice(x * k, x)
        return total

    x = 1.5
    assert rl.gradient(outer, x)[0] == pytest.approx(sum(3 * k * x * x + k for k in range(3)))
