"""forwarddiff in reverse mode: the gradient of code that writes to arrays, or a refusal."""

import dataclasses

import numpy as np
import pytest

import rulelab as rl
from rulelab import forwarddiff

from ..differences import gradient_by_differences

X = np.array([0.3, 1.0, 2.0])


def g_inner(z, y):
    for i in range(len(y)):
        z[i] = 2.0 * y[i] ** 2
    return z


def g_outer(y):
    z = np.empty_like(y)
    g_inner(z, y)
    return z


def scaled_in_place(x):
    y = x * 1.0
    y[1:] *= y[0]
    y[:] += y[::-1]
    return y


def by_out(x):
    y = np.empty(3)
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    return y


def in_complex(z):
    y = np.zeros(3, complex)
    y[:] = z * z
    y.imag[0] = z[1].real
    return y


@dataclasses.dataclass
class Body:
    a: object
    b: float


def of_body(body):
    y = body.a * 1.0
    y[0] = body.b**2
    return np.sum(y) * body.b


def captures(x):
    k, pair = x[0], (x * 2, {"a": x[1]})

    def f(q):
        y = np.zeros(3)
        y[0] = q * k
        y[1:] = pair[0][1:] * pair[1]["a"]
        return y

    return np.sum(forwarddiff(f, x[2]) ** 2)


def default(x):
    return np.sum(forwarddiff(lambda q, k=x[0]: q * k, x))


CASES = {
    "g_outer": lambda x: np.sum(forwarddiff(g_outer, x) ** 2),
    "in place": lambda x: np.sum(forwarddiff(scaled_in_place, x * x) ** 2),
    "out": lambda x: np.sum(forwarddiff(by_out, x) * x),
    "complex": lambda x: np.sum(np.abs(forwarddiff(in_complex, x * (1 + 0.5j))) ** 2),
    "number": lambda x: forwarddiff(lambda q: g_outer(np.array([q, q]))[1], x[1]) * x[0],
    "tuple": lambda x: forwarddiff(lambda t: t[0] * t[1][0] + t[0] ** 2, (x[0], [x[1], "a", 3])),
    "dict": lambda x: np.sum(forwarddiff(lambda d: g_outer(d["b"]) * d["a"], {"a": x[0], "b": x})),
    "dataclass": lambda x: forwarddiff(of_body, Body(x * 2, x[1])),
    "structured result": lambda x: np.sum(forwarddiff(lambda q: {"p": (q, g_outer(q), None)}, x)["p"][1]),
    "integers": lambda x: forwarddiff(lambda i: np.sum(i * x), np.arange(3)),
    "captures": captures,
    "default": default,
    "a built-in rule": lambda x: forwarddiff(np.sum, x) * forwarddiff(np.sin, x[0]),
    "nothing": lambda x: forwarddiff(lambda q: 3.0, x) + x[0],
    "nested": lambda x: np.sum(forwarddiff(lambda q: forwarddiff(g_outer, q * q) * q, x)),
    "a copy is changed": lambda x: np.sum(forwarddiff(lambda q: changed(q.copy()), x) ** 2),
}


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_finite_differences(name):
    """Values, captured ones among them, have their gradients; x is left alone."""
    x = X.copy()
    wanted = gradient_by_differences(CASES[name], X)
    np.testing.assert_allclose(rl.gradient(CASES[name], x)[0], wanted, atol=1e-6)
    np.testing.assert_array_equal(x, X)


def changed(a):
    a *= 3
    return a


def read_before(x):
    y = x * 1
    return np.sum(y * y) + np.sum(forwarddiff(changed, y))


def read_after(x):
    y = x * 1
    forwarddiff(changed, y)
    return np.sum(y * y)


def read_through_a_view(x):
    y = x * 1
    forwarddiff(changed, y[1:])
    return np.sum(y * y)


def in_a_dict(x):
    y = x * 1
    return np.sum(forwarddiff(lambda d: changed(d["y"]), {"y": y})) + np.sum(y)


def captured(x):
    y = x * 1

    def f(q):
        y[0] = 5.0
        return q * 2

    return forwarddiff(f, x[0]) + np.sum(y * y)


def kept_result(x):
    y = np.exp(x)
    z = np.sum(y)
    forwarddiff(changed, y)
    return z


@pytest.mark.parametrize(
    "f",
    [read_before, read_after, read_through_a_view, in_a_dict, captured, kept_result],
    ids=lambda f: f.__name__,
)
def test_a_function_that_changes_what_it_is_given_is_refused(f):
    """Reverse mode has read it before or reads it later, and would not see the change."""
    with pytest.raises(rl.MutationError, match="changes what may be used elsewhere"):
        rl.gradient(f, X.copy())


def test_the_argument_is_put_back_where_it_is_refused():
    """The refusal loses nothing of the caller's."""
    x = X.copy()
    with pytest.raises(rl.MutationError):
        rl.gradient(lambda x: np.sum(forwarddiff(changed, x)), x)
    np.testing.assert_array_equal(x, X)


def test_a_plain_call_and_a_pushforward_change_the_argument():
    """As the function does."""
    for run in (lambda x: forwarddiff(changed, x), lambda x: rl.pushforward(changed, x)(x * 0.1)):
        x = X.copy()
        run(x)
        np.testing.assert_array_equal(x, 3 * X)


def test_a_nested_function_that_captures():
    """What a captured function captures varies too, and so does what a recursive one captures."""

    def f(x):
        k = x[0]

        def inner(q):
            return q * k

        def power(n):
            return 1.0 if n <= 0 else k * power(n - 1)

        return forwarddiff(lambda q: inner(q) * power(2), x[1])

    slopes = [3 * X[0] ** 2 * X[1], X[0] ** 3, *np.zeros(X.size - 2)]
    np.testing.assert_allclose(rl.gradient(f, X)[0], slopes)


def test_functions_that_call_each_other():
    """Their captured numbers have no end of places."""

    def f(k):
        def even(n):
            return 1.0 if n <= 0 else k * odd(n - 1)

        def odd(n):
            return k * even(n - 1)

        return forwarddiff(even, 2.0)

    with pytest.raises(rl.NotDifferentiableError, match="contains itself"):
        rl.gradient(f, 1.3)


@pytest.mark.parametrize(
    "twice",
    [
        lambda k: (lambda c: forwarddiff(lambda t: t[0][0] * t[1][0], [c, c]))([k]),
        lambda k: (lambda c: forwarddiff(lambda t: np.sum(t[0] * t[1]), (c, c)))(np.array([k])),
        lambda k: (lambda c, d: forwarddiff(lambda t: t * c[0] * d[0], 1.0))(*[[k]] * 2),
        lambda k: (lambda c, d: forwarddiff(lambda t: t * c.k * d.__self__.k, 1.0))(*both(k)),
    ],
)
def test_what_has_two_places_counts_once_in_each(twice):
    """One list, array or object under two names: the two derivatives are those of the two places."""
    np.testing.assert_allclose(rl.gradient(twice, 1.3)[0], 2.6)
    np.testing.assert_allclose(rl.hessian(twice, 1.3), 2.0)


class Scale:
    def __init__(self, k):
        self.k = k

    def run(self, t):
        return self.k * t


def both(k):
    scale = Scale(k)
    return scale, scale.run


def test_a_captured_container_under_two_names_is_not_changed():
    """The other name's tangent would not hear of it."""

    def f(k):
        c = [k]
        d = c

        def add(t):
            c.append(t)
            return d[-1] * d[0]

        return forwarddiff(add, 1.0)

    with pytest.raises(rl.MutationError):
        rl.gradient(f, 1.3)


def test_random_numbers_are_refused():
    """The columns would not belong together."""
    with pytest.raises(rl.NotDifferentiableError, match="different value each time"):
        rl.gradient(lambda x: np.sum(forwarddiff(lambda q: q * np.random.rand(), x)), X)


def test_a_second_derivative_goes_through_it():
    """A Hessian of code that writes."""

    def f(x):
        return np.sum(forwarddiff(g_outer, x) * x)  # 2 Σ x³

    np.testing.assert_allclose(rl.hessian(f, X), np.diag(12 * X), atol=1e-9)


def test_a_rule_of_the_author():
    """forwarddiff of a function with an frule asks that."""

    def cubed(x):
        return x**3

    @rl.frule_for(cubed)
    def cubed_frule(tangents, x):
        return x**3, 100.0 * tangents[1]

    assert rl.gradient(lambda x: forwarddiff(cubed, x), 2.0) == (100.0,)


@pytest.mark.parametrize("chunk", [0, -1, True, 2.0, "a"])
def test_a_chunk_is_a_positive_int(chunk):
    """Anything else is refused in one line."""
    with pytest.raises(rl.RuleLabError, match="must be a positive integer"):
        rl.gradient(lambda x: np.sum(forwarddiff(g_outer, x, chunk=chunk)), X)
    with pytest.raises(rl.RuleLabError, match="must be a positive integer"):
        forwarddiff(g_outer, X, chunk=chunk)


def test_the_chunk_makes_no_difference():
    """One gradient for any chunk."""
    whole = rl.gradient(lambda x: np.sum(forwarddiff(g_outer, x) ** 2), X)[0]
    for chunk in (1, 2, 50):
        found = rl.gradient(lambda x: np.sum(forwarddiff(g_outer, x, chunk=chunk) ** 2), X)[0]
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("mode", ["forward", None])
def test_a_jacobian_of_a_function_that_writes(mode):
    """Asked for by columns; the default finds its own way or says what to do."""
    try:
        found = rl.jacobian(g_outer, X, mode=mode)[0]
    except rl.MutationError:
        assert mode is None
        return
    np.testing.assert_allclose(found, np.diag(4 * X))
