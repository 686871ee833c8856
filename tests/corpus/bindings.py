"""Corpus: assignment, unpacking, rebinding."""

import numpy as np
from corpus.harness import case


@case((3.0,), (-1.5,))
def identity(x):
    return x


@case((2.0,), (np.float64(0.5),))
def straight_line(x):
    a = x * x
    b = a + x
    return a * b


@case((1.0, 2.0), (-3.0, 0.25))
def chain_assignment(x, y):
    a = b = x * y
    return a * a + 3.0 * b


@case((1.0, 2.0), (-3.0, 0.25))
def tuple_unpacking(x, y):
    a, b = x + y, x - y
    return a * b


@case((1.0, 2.0, 3.0))
def nested_unpacking(x, y, z):
    (a, b), c = (x * y, y * z), z * x
    return a + 2.0 * b + 3.0 * c


@case(([1.0, 2.0, 3.0],), ([0.5, -1.0, 4.0],))
def unpack_list_argument(xs):
    a, b, c = xs
    return a * b + b * c


@case((np.array([1.0, 2.0]),))
def unpack_array(x):
    a, b = x
    return a * a * b


@case(((2.0, 5.0),))
def unpack_tuple_argument(pair):
    a, b = pair
    return a / b


@case((1.0, 2.0), (0.3, -0.4))
def swap(a, b):
    a, b = b, a
    return a * a + 3.0 * b


@case((1.0, 1.0), (0.5, 2.0))
def fibonacci_step(a, b):
    for _ in range(6):
        a, b = b, a + b
    return a * b


@case((2.0,), (-0.5,))
def rebind_many_times(x):
    x = x * x
    x = x + 1.0
    x = x * x
    return x


@case((2.0,), (0.7,))
def augmented(x):
    s = x
    s += x * x
    s -= 0.5 * x
    s *= x
    s /= 1.0 + x * x
    return s


@case((1.5,))
def type_changing_rebinding(x):
    x = [x, x * x]
    x = np.array(x)
    x = x.sum()
    return x * 2.0


@case((2.0, 3.0))
def unused_names(x, y):
    unused = np.exp(y)
    also_unused = [unused, x]
    return x * y


@case((2.0, 3.0), inert=(1,))
def unread_argument(x, y):
    return x * x


@case((2.0,))
def overwritten_before_use(x):
    y = x**5
    y = 3.0 * x
    return y


@case((1.5, True), (1.5, False), wrt=(0,), inert=(1,))
def bound_on_one_path(x, flag):
    if flag:
        scale = x * x
    if flag:
        return scale * x
    return x


@case((3.0,), wrt=(0,))
def constant_times_zero(x):
    return 0.0 * x


@case((4.0,))
def annotated(x: float) -> float:
    y: float = x * x
    z: float
    z = y + x
    return z
