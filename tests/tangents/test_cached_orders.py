"""Cached functions in both modes and the four orders of second derivatives: right, or a typed error.

What a cached function does is done once for each key, and what it returned is one object.
"""

import functools

import numpy as np
import pytest

import rulelab as rl


class Counted:
    def __init__(self, x):
        self.x, self.n = x, 0

    @functools.cache
    def times(self, k):
        self.n += 1
        return self.x * k

    @functools.cache
    def part(self, k):
        return Counted(self.x * k)


def method_that_counts(x, y):
    held = Counted(x * y)
    total = held.times(2) + held.times(2) * y
    return total * held.n


def method_that_counts_unused(x, y):
    held = Counted(x)
    held.times(2)
    held.times(3)
    held.times(2)
    return held.n * x * y * y


def counting_with_a_traced_key(x, y):
    held = Counted(x)
    return held.times(y) * held.times(y) * held.n


def object_that_is_changed(x, y):
    held = Counted(x)
    held.part(2).x = y * y
    return held.part(2).x * x


def list_read_and_changed(x, y):
    held = [x]

    @functools.cache
    def f(n):
        return held[0] * n

    first = f(2)
    held[0] = y
    return first * f(2)


def list_changed_before_the_first_call(x, y):
    held = [x]

    @functools.cache
    def f(n):
        return held[0] * n

    held[0] = y * y
    return f(2) * x


def variable_bound_again(x, y):
    held = x

    @functools.cache
    def f(n):
        return held * n

    first = f(2)
    held = y
    return first * f(2) * y


def variable_that_counts(x, y):
    count = 0

    @functools.cache
    def f(n):
        nonlocal count
        count += 1
        return x * n

    total = f(2) * f(2) * f(3)
    return total * count * y


def log_of_values(x, y):
    log = []

    @functools.cache
    def f(n):
        log.append(x * n)
        return y * n

    f(2), f(2), f(3)
    return sum(log) * len(log) * f(2)


def list_that_grows(x, y):
    @functools.cache
    def f(n):
        return [x * n]

    f(2).append(y)
    return f(2)[0] * f(2)[-1] * len(f(2))


def list_under_two_names(x, y):
    @functools.cache
    def f(n):
        return [x * n, y]

    a, b = f(2), f(2)
    a[0] = y * y
    return b[0] * a[1] * x


def list_with_a_traced_key(x, y):
    @functools.cache
    def f(k):
        return [k, k * x]

    a, b = f(y), f(y)
    a[0] = x * x
    return b[0] * b[1]


def list_in_a_tuple(x, y):
    @functools.cache
    def f(n):
        return x * n, [y, x]

    f(3)[1].append(x * y)
    f(3)[1][0] = x**3
    return sum(f(3)[1]) * f(3)[0]


def state_with_a_traced_key(x, y):
    held = [x]

    @functools.cache
    def f(k):
        return held[0] * k

    first = f(y)
    held[0] = x * y
    return first * f(y)


def evicted(x, y):
    held = [x]

    @functools.lru_cache(1)
    def f(n):
        return held[0] * n

    first = f(2)
    held[0] = y
    return first * f(2) * f(3) * f(2)


def by_type(x, y):
    count = [0]

    @functools.lru_cache(maxsize=None, typed=True)
    def f(a):
        count[0] += 1
        return x * a

    return f(2) * f(2.0) * f(2) * f(True) * f(1) * count[0] * y


def without_types(x, y):
    count = [0]

    @functools.lru_cache
    def f(a):
        count[0] += 1
        return x * a

    return f(2) * f(2.0) * f(2) * f(True) * f(1) * count[0] * y


def cleared(x, y):
    held = [x]

    @functools.cache
    def f(n):
        return held[0] * n

    first = f(2)
    held[0] = y
    f.cache_clear()
    return first * f(2)


def within_a_derivative(x, y):
    def g(a):
        held = Counted(a)
        return held.times(2) * held.times(2) * held.n * y * y

    return rl.gradient(g, x)[0]


def within_a_tangent(x, y):
    def g(a):
        held = Counted(a)
        return held.times(2) * held.times(2) * held.n * y * y

    return rl.pushforward(g, 0.6)(1.0) * x


def within_a_checkpoint(x, y):
    def g(a):
        held = Counted(a)
        return held.times(2) * held.times(2) * held.n

    return rl.checkpointed(g, x) * y


STATEFUL = [
    *(method_that_counts, method_that_counts_unused, counting_with_a_traced_key, object_that_is_changed),
    *(list_read_and_changed, list_changed_before_the_first_call, variable_bound_again, variable_that_counts),
    *(log_of_values, list_that_grows, list_under_two_names, list_with_a_traced_key, list_in_a_tuple),
    *(state_with_a_traced_key, evicted, by_type, without_types, cleared),
    *(within_a_derivative, within_a_tangent, within_a_checkpoint),
]


def recursion(x, y):
    @functools.cache
    def f(n):
        return (x, y)[n] if n < 2 else f(n - 1) + f(n - 2) * x

    return f(8)


def recursion_by_name(x, y):
    def f(n):
        return (x, y)[n] if n < 2 else g(n - 1) + g(n - 2) * x

    g = functools.lru_cache(maxsize=3)(f)
    return g(8)


@functools.cache
def chebyshev(n, x):
    return (1.0, x)[n] if n < 2 else 2 * x * chebyshev(n - 1, x) - chebyshev(n - 2, x)


def recursion_with_traced_keys(x, y):
    return chebyshev(6, x) * chebyshev(5, y) + chebyshev(6, x)


@functools.lru_cache(maxsize=None)
def binomial(n, k):
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


def binomials(x, y):
    return sum(binomial(6, k) * x**k * y ** (6 - k) * k for k in range(7))


def table(x, y):
    a, b = [x, y, x * y], [y, x, 1.0]

    @functools.cache
    def f(i, j):
        if i == 0 or j == 0:
            return 0.0
        return (a[i - 1] - b[j - 1]) ** 2 + min(f(i - 1, j), f(i, j - 1), f(i - 1, j - 1))

    return f(3, 3) + f(2, 2)


def arrays(x, y):
    @functools.cache
    def f(n):
        return np.arange(n) * x

    return np.sum(f(4) ** 2) * f(4)[2] * y


def equal_keys_of_two_variables(x, y):
    @functools.cache
    def f(a):
        return a**3

    return f(x) * f(y) * x


def asked_before(x, y):
    @functools.cache
    def f(a):
        return a * x

    if f(y) > 100.0 or int(f(2)) > 100:
        return x
    return f(y) * f(2) * f(y)


def of_partials(x, y):
    f = functools.cache(functools.partial(lambda c, n: c * n, x))
    return f(2) * f(2) * y


PURE = [
    *(recursion, recursion_by_name, recursion_with_traced_keys, binomials, table, arrays),
    *(equal_keys_of_two_variables, asked_before, of_partials),
]


def reverse(f):
    return lambda x, y: rl.gradient(f, x, y)


def forward(f):
    return lambda x, y: tuple(rl.pushforward(f, x, y)(*unit) for unit in ((1.0, 0.0), (0.0, 1.0)))


def second(outer, inner):
    def slopes(f):
        parts = [outer(lambda x, y, k=k: inner(f)(x, y)[k]) for k in range(2)]
        return lambda x, y: [part(x, y) for part in parts]

    return slopes


def first_by_differences(f, x, y):
    h = 1e-5
    return (f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)


def second_by_differences(f, x, y):
    h = 1e-4

    def at(i, j):
        return float(f(x + h * i, y + h * j))

    mixed = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h)
    return [
        [(at(1, 0) - 2 * at(0, 0) + at(-1, 0)) / h**2, mixed],
        [mixed, (at(0, 1) - 2 * at(0, 0) + at(0, -1)) / h**2],
    ]


ORDERS = {
    "reverse": (reverse, first_by_differences),
    "forward": (forward, first_by_differences),
    "reverse over reverse": (second(reverse, reverse), second_by_differences),
    "reverse over forward": (second(reverse, forward), second_by_differences),
    "forward over reverse": (second(forward, reverse), second_by_differences),
    "forward over forward": (second(forward, forward), second_by_differences),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("f", [*STATEFUL, *PURE])
def test_a_cached_function_is_right_or_refused(f, order):
    """Those that only compute are right; of the others at least the numbers are. Twice, as the first run is
    compared with the plain function, and the next is not.
    """
    ask, by_differences = ORDERS[order]
    wanted = by_differences(f, 1.3, 0.7)
    for _ in range(2):
        try:
            found = ask(f)(1.3, 0.7)
        except rl.RuleLabError as error:
            assert f not in PURE and not isinstance(error, rl.WrongTransformError)
        else:
            np.testing.assert_allclose(np.array(found, float), wanted, rtol=1e-4, atol=1e-5)


FOLLOWED = [
    f for f in STATEFUL if "traced" not in f.__name__ and "within" not in f.__name__ and f is not cleared
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("f", FOLLOWED)
def test_what_changes_is_followed_if_no_argument_varies(f, order):
    """No refusal: each key has its answer, at each level of differentiation."""
    ask, by_differences = ORDERS[order]
    wanted = by_differences(f, 1.3, 0.7)
    np.testing.assert_allclose(np.array(ask(f)(1.3, 0.7), float), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_recursion_runs_once_for_each_key(order, capsys):
    """Each order runs the function a fixed number of times, so the calls grow like the number of keys."""

    def f(x, y, n):
        @functools.cache
        def g(k):
            print("g")
            return (x, y)[k] if k < 2 else g(k - 1) + g(k - 2) * x

        return g(n)

    runs = []
    for n in (5, 5, 10, 15):  # first, once, since the first run is compared with the plain function
        capsys.readouterr()
        ORDERS[order][0](lambda x, y, n=n: f(x, y, n))(1.3, 0.7)
        runs.append(len(capsys.readouterr().out))
    assert runs[3] - runs[2] == runs[2] - runs[1]


def test_functions_that_are_given_twice_have_two_cotangents():
    """A cached function from outside may be two arguments."""

    def made(c):
        return functools.cache(lambda n: c * n)

    f = made(2.0)
    first, second = rl.gradient(lambda f, g: f(2) * g(2) ** 2, f, f)
    (of_first,), (of_second,) = [rl.gradient(lambda h: 0.0 * h(1) + w * h(2), f) for w in (16.0, 32.0)]
    assert str(first) == str(of_first) and str(second) == str(of_second)


def test_printing_happens_once_for_each_key(capsys):
    """In either mode, as in a plain run, if nothing that varies is an argument."""

    def f(x):
        @functools.cache
        def g(n):
            print("g")
            return x * n

        return g(2) * g(2) * g(3)

    rl.gradient(f, 1.0)
    capsys.readouterr()
    rl.gradient(f, 1.0)
    assert capsys.readouterr().out == "g\n" * 2
    rl.pushforward(f, 1.0)(1.0)
    assert capsys.readouterr().out == "g\n" * 2
