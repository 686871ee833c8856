"""Corpus: user functions, lambdas, closures, recursion, defaults and keyword arguments."""

import numpy as np
from corpus.harness import case

SCALE = 2.5
WEIGHTS = np.array([0.5, -1.0, 2.0])


def helper_square(x):
    return x * x


def helper_pair(x, y=2.0):
    return x * y, x + y


def helper_loop(x, n):
    s = 0.0
    for i in range(n):
        s += x**i
    return s


@case((3.0,), (-2.0,))
def call_helper(x):
    return helper_square(x) + helper_square(helper_square(x))


@case((3.0, 4.0))
def helper_returns_tuple(x, y):
    p, s = helper_pair(x, y)
    q, t = helper_pair(s)
    return p * t + q


@case((1.5,))
def helper_in_loop(x):
    s = 0.0
    for i in range(3):
        s += helper_loop(x, i + 1)
    return s


@case((1.5,))
def lambda_inside(x):
    double = lambda v: 2.0 * v * v  # noqa: E731
    return double(x) + double(double(x))


@case((1.5, 0.5))
def closure_over_argument(x, y):
    def inner(v):
        return v * y + x

    return inner(x) * inner(2.0)


@case((1.5,))
def closure_factory(x):
    def make(k):
        def multiply(v):
            return k * v * x

        return multiply

    return make(2.0)(x) + make(x)(3.0)


def made_adder(a):
    def add(x):
        return x * x + a

    return add


add_three = case((2.0,))(made_adder(3.0))


@case((2.0,))
def reads_global_number(x):
    return SCALE * x * x


@case((np.array([1.0, 2.0, 3.0]),))
def reads_global_array(x):
    return (WEIGHTS * x * x).sum()


def factorial_like(x, n):
    if n == 0:
        return 1.0
    return x * factorial_like(x + 0.1, n - 1)


@case((1.2, 5), (1.2, 0), wrt=(0,))
def recursion(x, n):
    return factorial_like(x, n) + x


def doubled_leaves(xs):
    return [doubled_leaves(x) for x in xs] if isinstance(xs, list) else 2.0 * xs


@case((0.7, 1.3))
def recursion_in_a_comprehension(x, y):
    (first, (second, third)) = doubled_leaves([x, [y, x * y]])
    return first * second + third


def fibonacci(x, n):
    return x if n < 2 else fibonacci(x, n - 1) * 0.5 + fibonacci(x * x, n - 2)


@case((0.9,))
def double_recursion(x):
    return fibonacci(x, 5)


def ping(x, n):
    return x if n == 0 else pong(x * 1.1, n - 1) + x


def pong(x, n):
    return x * x if n == 0 else ping(x * x, n - 1)


@case((0.8, 4), (0.8, 3), wrt=(0,))
def mutual_recursion(x, n):
    return ping(x, n)


@case((2.0,), (2.0, 3.0), (2.0, 3.0, 4.0))
def defaults(x, a=1.5, b=-1.0):
    return a * x * x + b * x


@case((2.0,), scale=3.0, shift=np.array([1.0, 2.0]))
def keyword_only(x, *, scale, shift):
    return scale * x * x + (shift * x).sum()


@case((2.0,), a=3.0)
def positional_given_by_name(x, a=1.0):
    return a * x * x


@case((2.0, 3.0))
def keywords_at_the_call(x, y):
    p, s = helper_pair(y=x, x=y)
    return p * s * helper_loop(n=3, x=x)


@case((2.0, 3.0))
def function_as_argument(x, y):
    def apply(g, v):
        return g(v) * 2.0

    return apply(helper_square, x) + apply(lambda v: v * x, y)


@case((2.0,), (-2.0,))
def function_chosen_by_branch(x):
    g = helper_square if x > 0 else (lambda v: 3.0 * v)
    return g(x) + x


@case((0.5,))
def functions_in_a_list(x):
    s = 0.0
    for g in [np.sin, np.cos, helper_square]:
        s += g(x) * x
    return s


@case((0.5,))
def loop_variable_as_default(x):
    scaled = [lambda v, i=i: v * i for i in range(3)]
    return sum([g(x) for g in scaled]) + scaled[1](x)


@case((1.5,))
def inner_recursion(x):
    def go(v, n):
        if n == 0:
            return v
        return go(v * x, n - 1)

    return go(1.0, 4)


@case((1.0, 2.0, 3.0))
def argument_used_many_times(x, y, z):
    return helper_square(x) * x + helper_square(x + y) * y + helper_pair(z, z)[0]


@case((2.0,))
def returns_argument_of_callee(x):
    def same(v):
        return v

    return same(x) * same(same(x))


def no_dependence(x):
    return 4.0


@case((2.0,))
def constant_callee(x):
    return no_dependence(x) * x


class Gain:
    """A callable with a method, as user code has them."""

    def __init__(self, k):
        self.k = k

    def apply(self, x):
        return self.k * x * x

    def __call__(self, x):
        return self.apply(x) + x


GAIN = Gain(3.0)


@case((2.0,))
def method_of_global_object(x):
    return GAIN.apply(x) * x


@case((2.0,))
def call_global_object(x):
    return GAIN(x) * 2.0
