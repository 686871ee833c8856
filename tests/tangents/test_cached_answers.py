"""A cached function that runs again for a derivative must return what the cache would."""

import functools

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ForeignCallError
from rulelab.tangents.cached_answers import check_same

from ..differences import gradient_by_differences


def of_a_changed_list(x):
    held = [x]

    @functools.cache
    def twice(k):
        return held[0] * k

    first = twice(2.0 * x)
    held[0] = x * x
    return first * twice(2.0 * x)


def of_a_list_that_grows(x):
    @functools.cache
    def made(k):
        return [x * k]

    made(2).append(x * x)
    return made(2)[0] * len(made(2))


class Length(float):
    pass


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    @functools.cache
    def times(self, k):
        return self.scale * k


def of_an_object_that_changes(x):
    scaled = Scaled(x)
    first = scaled.times(2.0)
    scaled.scale = x * x
    return first * scaled.times(2.0)


@pytest.mark.parametrize("f", [of_a_changed_list, of_a_list_that_grows, of_an_object_that_changes])
def test_what_the_cache_would_answer_otherwise_is_right_or_refused(f):
    """In both modes, and again, as the first call is compared with the plain function and later ones not."""
    wanted = gradient_by_differences(lambda x: f(float(x)), 1.3)
    for ask in (lambda: rl.gradient(f, 1.3)[0], lambda: rl.pushforward(f, 1.3)(1.0)):
        for _ in range(2):
            try:
                slope = ask()
            except rl.NotDifferentiableError as error:
                assert "same arguments" in str(error)
            else:
                assert slope == pytest.approx(wanted, rel=1e-6)


def of_lists_and_arrays(x):
    @functools.cache
    def powers(n):
        return [x**k for k in range(n)], np.arange(n) * x, {"n": x}

    @functools.cache
    def sums(n):
        return x if n == 0 else powers(n)[0][1] + np.sum(powers(n)[1]) + powers(n)[2]["n"]

    return sum(sums(n) for n in (2, 3, 4, 3, 2)) ** 2


def test_a_function_that_returns_the_same_is_followed():
    """Lists, arrays and dicts are compared by their contents: (3 + 5 + 8 + 5 + 3) x."""
    assert rl.gradient(of_lists_and_arrays, 2.0)[0] == pytest.approx(2 * 24**2 * 2.0)
    assert rl.pushforward(of_lists_and_arrays, 2.0)(1.0) == pytest.approx(2 * 24**2 * 2.0)


def of_two_closures(x, y):
    count = [0]

    @functools.cache
    def made(k):
        count[0] += 1
        n = count[0]
        return lambda t: n * t * k

    return made(x)(1.0) + made(y)(1.0)


def of_two_defaults(x, y):
    count = [0]

    @functools.cache
    def made(k):
        count[0] += 1
        return lambda t, n=count[0]: n * t * k

    return made(x)(1.0) + made(y)(1.0)


def of_two_partials(x, y):
    count = [0]

    @functools.cache
    def made(k):
        count[0] += 1
        return functools.partial(lambda n, t: n * t * k, count[0])

    return made(x)(1.0) + made(y)(1.0)


def of_a_closure_with_state(x, y):
    @functools.cache
    def made(k):
        held = [0.0]

        def step():
            held[0] = held[0] + k
            return held[0]

        return step

    made(x)()
    return made(y)()


def of_a_closure_that_counts(x, y):
    @functools.cache
    def made(k):
        n = 0.0

        def step():
            nonlocal n
            n = n + k
            return n

        return step

    made(x)()
    return made(y)()


def of_a_list_changed_later(x, y):
    @functools.cache
    def made(k):
        return [k]

    a, b = made(x), made(y)
    a[0] = a[0] * 3.0
    return b[0] * x


def of_an_object_changed_later(x, y):
    @functools.cache
    def made(k):
        return Scaled(k)

    a, b = made(x), made(y)
    a.scale = a.scale * 3.0
    return b.scale * x


def of_a_log(x, y):
    log = []

    def note():
        log.append(1.0)

    @functools.cache
    def squared(k):
        note()
        return k * k

    return (squared(x) + squared(y)) * len(log)


OF_TWO_VARIABLES = [
    *(of_two_closures, of_two_defaults, of_two_partials, of_a_closure_with_state, of_a_closure_that_counts),
    *(of_a_list_changed_later, of_an_object_changed_later, of_a_log),
]


@pytest.mark.parametrize("f", OF_TWO_VARIABLES)
def test_what_differs_for_equal_variables_is_refused(f):
    """Python calls the function once for two equal numbers, whose derivatives need a call each."""
    asked = [lambda: rl.gradient(f, 2.0, 2.0), lambda: rl.pushforward(f, 2.0, 2.0)(1.0, 0.0)]
    for ask in asked:
        for _ in range(2):
            with pytest.raises(rl.NotDifferentiableError, match="same arguments"):
                ask()


def of_an_array_changed_later(x, y):
    @functools.cache
    def made(k):
        return np.array([k, 1.0])

    a, b = made(x), made(y)
    a[0] = a[0] * 3.0
    return b[0] * x


LOG = []


@functools.cache
def logged(k):
    LOG.append(1.0)
    return k * k


def of_a_global_log(x, y):
    return (logged(x) + logged(y)) * len(LOG)


@pytest.mark.parametrize("f", [of_an_array_changed_later, of_a_global_log])
def test_arrays_and_globals_are_refused_in_forward_mode(f):
    """Reverse mode refuses the writes themselves."""
    with pytest.raises(rl.MutationError):
        rl.gradient(f, 2.0, 2.0)
    with pytest.raises(rl.NotDifferentiableError, match="same arguments"):
        rl.pushforward(f, 2.0, 2.0)(1.0, 0.0)


def of_pure_closures(x, y):
    @functools.cache
    def made(k):
        return lambda t: t * k

    return made(x)(2.0) * made(y)(1.0)


def test_closures_that_only_read_are_followed_in_forward_mode():
    """2 x y, at equal x and y. In reverse mode the second function would be another one."""
    with pytest.raises(rl.NotDifferentiableError, match="new object"):
        rl.gradient(of_pure_closures, 3.0, 3.0)
    assert rl.pushforward(of_pure_closures, 3.0, 3.0)(1.0, 0.0) == 6.0


@functools.cache
def made(n):
    return [float(n)]


def test_a_cached_constant_is_the_one_in_the_cache():
    """The object is the same at each call, in both modes."""

    def f(x):
        return x * (2.0 if made(2) is made(2) else 3.0)

    assert rl.gradient(f, 1.0) == (2.0,)
    assert rl.pushforward(f, 1.0)(1.0) == 2.0


def test_what_is_printed_once_for_each_key_is_not_repeated(capsys):
    """In reverse mode nothing says that two equal numbers are the same variable; in forward mode the tangents
    do.
    """

    @functools.cache
    def held(k):
        print("held")
        return k * k

    def f(x, y):
        return held(x) * held(y)

    for ask in (lambda: rl.gradient(f, 1.3, 1.3), lambda: rl.pushforward(f, 1.3, 1.3)(1.0, 0.5)):
        for _ in range(2):
            with pytest.raises(rl.NotDifferentiableError, match="changes something when it runs again"):
                ask()
    capsys.readouterr()
    assert rl.gradient(f, 1.3, 0.7) == pytest.approx((2 * 1.3 * 0.7**2, 2 * 0.7 * 1.3**2))
    assert rl.pushforward(lambda x: held(x) * held(x), 1.3)(1.0) == pytest.approx(4 * 1.3**3)


WARM = [(1.3, np.float64(1.3)), (np.float64(1.3), 1.3), (2, 2.0), (2.0, np.float64(2.0))]


@pytest.mark.parametrize("first, now", WARM)
def test_a_cache_that_was_filled_with_an_equal_key_of_another_type_changes_nothing(first, now):
    """Python answers from the cache, with a number of the first key's type. The derivative is the same."""

    @functools.cache
    def squared(k):
        return k * k

    def f(x):
        return squared(x) * 3

    def in_a_list(x):
        return [squared(x)]

    squared(first)
    assert rl.gradient(f, now) == (6 * now,)
    assert rl.pushforward(f, now)(1.0) == 6 * now
    assert rl.hessian(f, now) == 6.0
    assert rl.pullback(in_a_list, now)[1]([1.0]) == (2 * now,)


def test_a_cache_that_was_filled_with_another_answer_is_refused():
    """The type of its key decides about the value, or what it reads has changed since."""
    scale = [2.0]

    @functools.cache
    def scaled(k):
        return k * (scale[0] if isinstance(k, np.float64) else 5.0)

    def f(x):
        return scaled(x)

    scaled(1.3)
    for ask in (rl.gradient, rl.hessian):
        with pytest.raises(rl.NotDifferentiableError, match="cache that was filled before"):
            ask(f, np.float64(1.3))
    scaled(np.float64(0.5))
    scale[0] = 3.0
    with pytest.raises(rl.NotDifferentiableError, match="cache that was filled before"):
        rl.gradient(f, np.float64(0.5))
    scaled.cache_clear()
    assert rl.gradient(f, np.float64(0.5)) == (3.0,)


@pytest.mark.parametrize(
    "first, second, same",
    [
        (1.0, 1.0, True),
        (float("nan"), float("nan"), True),
        (1.0, 1, False),
        ((1.0, [2.0]), (1.0, [2.0]), True),
        ({"a": 1.0}, {"a": 2.0}, False),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0]), np.array([1.0], np.float32), False),
        (Scaled(1.0), Scaled(1.0), True),
        (Scaled(1.0), Scaled(2.0), False),
        (iter([1.0]), iter([1.0]), False),
        (Length(1.0), Length(1.0), True),
        (Length(1.0), Length(2.0), False),
        (functools.partial(max, 1.0), functools.partial(max, 1.0), True),
        (functools.partial(max, 1.0), functools.partial(max, 2.0), False),
        (Scaled(1.0).times, Scaled(2.0).times, False),
    ],
)
def test_contents_are_compared(first, second, same):
    """Each by its kind; what cannot be looked at is not the same."""
    if same:
        check_same(made, first, second)
        return
    with pytest.raises(rl.NotDifferentiableError, match="cached function made"):
        check_same(made, first, second)


@functools.cache
def asked_about(x):
    return x * x


def emptied(x):
    asked_about.cache_clear()
    return asked_about(x) + asked_about.cache_info().currsize * x


def counted(x):
    asked_about(x)
    return asked_about(x) + asked_about.cache_info().hits * x


@pytest.mark.parametrize("f", [emptied, counted])
def test_what_a_cache_counts_is_refused(f):
    """It counts the calls of a plain run: a derivative makes others, and keeps their answers elsewhere."""
    for derivative in (lambda: rl.gradient(f, 1.5), lambda: rl.pushforward(f, 1.5)(1.0)):
        with pytest.raises(ForeignCallError, match="a different number of times"):
            derivative()
