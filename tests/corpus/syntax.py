"""Corpus: the rarer statements and expressions of Python."""

import contextlib
import functools
import io
import math
import threading
import warnings
from dataclasses import dataclass

import numpy as np
from corpus.harness import case

GAIN = 1.5


@dataclass
class Point:
    x: float
    y: float


class Ball:
    __match_args__ = ("radius",)

    def __init__(self, radius):
        self.radius = radius


class Scope:
    """A context manager of the author's own; it swallows what it is told to."""

    def __init__(self, swallowed=()):
        self.swallowed = swallowed

    def __enter__(self):
        return self

    def scaled(self, x):
        return 3.0 * x

    def __exit__(self, kind, error, trace):
        return kind is not None and issubclass(kind, self.swallowed)


# --- walrus ---


@case((2.0,))
def walrus_in_an_expression(x):
    return (y := x * x) * y + (x := y + x) * x


@case((2.1,), (0.7,))
def walrus_in_a_while_head(x):
    n, total = 0, 0.0
    while (n := n + 1) < 7 and (term := x / n) > 0.4:
        if n == 2:
            continue
        total = total + term * term
    return total + term


@case(([1.0, 2.0, -3.0],))
def walrus_in_a_comprehension(xs):
    total = 0.0
    sums = [total := total + v * v for v in xs if (last := v) > -9]
    return total * sums[1] + last


@case((2.0,), (0.3,))
def walrus_in_conditions(x):
    if (y := x * x) > 1 and (z := y * x) > 2:
        return y * z
    elif (w := y + 1) or x:
        return w * (w if w < 1 else (v := w * w))
    return v


# --- stars ---


@case(([1.0, 2.0, 3.0, 4.0],), ((1.0, 2.0, 3.0),), (np.array([1.0, 2.0, 3.0]),))
def starred_assignment(xs):
    first, *middle, last = xs
    (a, *b), *c = [first, *middle], last, first
    return first * last * len(middle) + sum(m * m for m in middle) * a * c[0] * c[1] + len(b)


@case(([(1.0, 2.0), (3.0, 0.5)],))
def starred_loop_target(pairs):
    total = 1.0
    for a, *rest in pairs:
        total = total * a + sum(rest)
    return total


@case(([1.0, 2.0], 3.0), ((1.0, 2.0), 0.5))
def starred_displays(xs, y):
    values = [*xs, y, *xs[1:], *(v * y for v in xs)]
    pair = (*xs, y * y)
    return sum(v * k for k, v in enumerate(values)) * pair[-1] * pair[0] + len({*xs, y})


@case(({"a": 2.0, "z": 5.0}, 3.0))
def starred_dict_display(d, y):
    merged = {"a": y, **d, "k": y * y, **{"z": y}}
    return merged["a"] * merged["k"] * merged["z"] + len({**d})


def product(a, b=2.0, *, c=1.0):
    return a * b * c


@case((2.0, 3.0))
def starred_call(x, y):
    words = {"c": y}
    return product(*(x,), **words) + product(x, *[y], c=x) * product(**{"b": x, "a": y}, c=y)


@case(([3.0, 4.0],), ((0.3, 0.2),))
def starred_call_of_library_functions(p):
    return math.hypot(*p) + np.hypot(*p) * max(*p) + min(*p, *[1.0]) + np.power(*p, **{})


def spread(a, *more, scale=1.0, **words):
    total = a * scale
    for number, value in enumerate(more):
        total = total + value * value * number
    if "shift" in words:
        total = total * words["shift"]
    return total + len(words)


@case((2.0, 3.0))
def star_parameters(x, y):
    return spread(x) * spread(x, y, x, scale=y) + spread(x, *[y, y * x], shift=x, other=None)


@case((1.0, 2.0), (1.0, 2.0, 3.0))
def star_parameters_at_the_door(*xs):
    total = 1.0
    for x in xs:
        total = total * x + x
    return total


@case((1.0, np.array([1.0, 2.0]), 2.0), wrt=(0, 1), inert=(2,))
def star_parameter_without_a_path(a, *rest):
    return a * rest[0].sum()


class Lens:
    def __init__(self, power):
        self.power = power

    def through(self, *lights, **filters):
        return self.power * lights[0] * lights[-1] * filters["tint"]


LENS = Lens(3.0)


@case((2.0,))
def starred_method_call(x):
    lights, filters = [x, 2.0], {"tint": x}
    return LENS.through(*lights, **filters) + Lens.through(LENS, *lights, tint=x)


# --- else, finally, with ---


@case(([1.0, 20.0],), ([3.0, 2.0],), ([30.0, 2.0],))
def loop_else(xs):
    for v in xs:
        if v > 10:
            found = v * 2
            break
    else:
        found = xs[0] ** 2
    return found * xs[1]


@case((2.0,), (0.5,))
def nested_loop_else(x):
    y = x
    for i in range(4):
        for j in range(3):
            if j == i:
                break
            y = y * x
        else:
            continue
        y = y + 1
    else:
        y = y * 2
    return y


@case((2.0,), (0.1,))
def while_else(x):
    k, y = 0, x
    while y < 30 and k < 4:
        k += 1
        if y > 20:
            return y
        y = y * x + 1
    else:
        y = y * y
    return y


@case((4.0,), (9.0,))
def try_else(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = 0.0
    else:
        y = y * x
    return y


@case((4.0,), (9.0,))
def except_star(x):
    try:
        y = math.sqrt(x)
    except* ValueError as group:
        y = float(len(group.exceptions))
    except* (KeyError, OSError):
        raise
    else:
        y = y * x
    return y


@case((2.0,), (-2.0,))
def except_star_with_every_jump(x):
    y, kind = x, KeyError
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            if y > 7.0:
                return y * x
            y = y * x
        except* kind as k:
            y = y + 5.0
        except* Exception:
            raise ValueError(y) from None
        finally:
            y = y + 1.0
    return y


@case((4.0, (ValueError, KeyError)), (4.0, KeyError), inert=(1,))
def except_computed(x, kinds):
    y = x
    try:
        y = math.sqrt(x) * y
    except kinds as error:
        y = y * len(error.args)
    except type(LENS):
        y = 0.0
    else:
        y = y * x
    return y


@case((2.0,), (-2.0,))
def except_computed_with_every_jump(x):
    y, kind = x, KeyError
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            if y > 7.0:
                return y * x
            y = y * x
        except kind as k:
            y = y + 5.0
            if k.args:
                break
            continue
        except (ValueError, *[OSError]):
            return y
        except:  # noqa: E722
            raise ValueError(y) from None
        finally:
            y = y + 1.0
    return y


@case((2.0,), (-2.0,))
def finally_after_a_return(x):
    y = x
    try:
        if x > 0:
            return y * y
        y = y * 3
    finally:
        y = y * x
    return y * y


@case((2.0,))
def finally_after_every_jump(x):
    y = x
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            y = y * x
        finally:
            y = y + 1.0
    return y


@case((2.0,))
def finally_that_returns(x):
    try:
        return x * x
    finally:
        return x * 3.0  # noqa: B012


@case((2.0,))
def finally_that_stops_a_return(x):
    y = x
    for _ in range(5):
        try:
            return x
        finally:
            y = y * x
            break  # noqa: B012
    return y * x


@case((2.0,))
def return_lost_to_an_exception(x):
    try:
        try:
            return x
        finally:
            raise KeyError(1)
    except KeyError:
        pass
    return x * x


@case((2.0,))
def with_managers(x):
    with Scope() as scope, np.errstate(all="ignore"):
        y = scope.scaled(x) * np.log(x)
    with threading.Lock():
        y = y * x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = y * x
    with contextlib.nullcontext(2.0) as factor:
        return y * factor


@case((2.0,))
def with_in_a_loop(x):
    y = x
    for i in range(5):
        with Scope():
            if i == 1:
                continue
            if i == 4:
                break
            with Scope(KeyError):
                y = y * x
                if i == 3:
                    return y
        y = y + x
    return 0.0


@case((2.0,))
def suppressed_exception_that_does_not_matter(x):
    y = x * x
    with contextlib.suppress(KeyError):
        {}["missing"]
    return y * x


# --- match ---


@case(
    (2.0, 0),
    (2.0, 3.5),
    (2.0, [1.5, 2.0, 3.0]),
    (2.0, [-1.0, 2.0, 3.0]),
    (2.0, (4.0,)),
    (2.0, {"k": 2.0, "q": 4.0}),
    (2.0, ["one", 3.0]),
)
def match_shapes(x, c):
    match c:
        case 0:
            return x
        case float(f):
            return f * x
        case [float(a), *middle, b] if a > 1.0:
            return a * b * x + sum(middle)
        case ["one", y] | [y, "one"]:
            return y * x * x
        case [a, *_, b] | (a, b):
            return a * x + b
        case (only,):
            return only * only * x
        case {"k": v, **rest}:
            return v * x * rest["q"]
    return x


@case((2.0, "square"), (2.0, "cube"), (2.0, 7), (2.0, None), (2.0, b"x"), wrt=(0,))
def match_values(x, kind):
    match kind:
        case "square":
            return x**2
        case "cube" | "third":
            return x**3
        case None:
            return x**4
        case int() as n if n > 5:
            return n * x
        case _:
            return x


def volume(shape, x):
    match shape:
        case Point(0.0, y):
            return y * x
        case Point(x=a, y=b) if a > b:
            return a * b * x
        case Point(a):
            return a * x * x
        case Ball(Point(a, y=b)) | Ball((a, b)):
            return a * b * x
        case Ball(radius=r):
            return r**3 * x


@case((2.0,))
def match_classes(x):
    points = (Point(0.0, 2.0), Point(3.0, 1.0), Point(1.0, 3.0))
    shapes = (*points, Ball(points[1]), Ball([1.0, 4.0]), Ball(2.0))
    total = 0.0
    for number, shape in enumerate(shapes):
        total = total + volume(shape, x) * (number + x)
    return total


@case((2.0,))
def match_in_a_loop(x):
    y = x
    for i in range(6):
        match i, y:
            case 0, _:
                continue
            case 1 | 2, v:
                y = v * x
            case 3, v if v > 100:
                return v
            case 4, _:
                break
    return y * y


# --- comprehensions and generator expressions ---


@case((2.0,))
def dict_comprehension(x):
    d = {key: x**number for number, key in enumerate("abca", start=1) if number != 2}
    e = dict((str(i), x * i) for i in range(3))
    return d["a"] * d["c"] + e["1"] * e["2"] + len(d)


@case(([1.0, 2.0, 3.0],))
def set_comprehension_that_is_counted(xs):
    return xs[0] * len({2 * v for v in xs}) + (xs[1] in {v for v in xs}) * xs[2]


@case(([1.0, 2.0, 4.0],))
def generators_consumed_at_once(xs):
    a, b = (v * v for v in xs[:2])
    largest = max((v * xs[0] for v in xs), key=lambda v: -v, default=0.0)
    total = math.fsum(v * a for v in xs) + math.prod(v + b for v in xs) + sum((v * v for v in xs), 2.0)
    some = sorted((v * a for v in xs), reverse=True)[0] + tuple(v for v in xs)[1] + [*(v * v for v in xs)][2]
    return total + some * largest + len("".join(str(i) for i in range(3)))


@case(([1.0, 2.0, 4.0],), ([1.0, 0.5, 0.0],))
def any_and_all(xs):
    if any(1 / v > 1.5 for v in xs if v < 3):
        return xs[0] * xs[1]
    return xs[2] ** 2 if all(v > w for v in xs for w in (0.1, 0.2)) else xs[0]


@case(([1.0, 2.0, 4.0, 8.0],))
def loops_over_generators(xs):
    total = xs[0]
    for v in (u * u for u in xs if not 1.5 < u < 3):
        if v > 60:
            break
        total = total + v
    else:
        total = 0.0
    for k, v in enumerate((u * w for u in xs for w in xs[:2]), 1):
        if k == 3:
            continue
        if k == 6:
            break
        total = total + k * v
    for u, v in zip((w * w for w in xs), xs[1:], strict=False):
        total = total + u * v
    for u, v in zip((w * w for w in xs), (w + 1 for w in xs)):  # noqa: B905
        total = total + u * v
    return total


# --- functions ---


@case((2.0,))
def decorated_functions(x):
    def times(factor):
        return lambda f: lambda *args: factor * f(*args)

    def twice(f):
        @functools.wraps(f)
        def wrapper(*args, **words):
            return f(*args, **words) * 2

        return wrapper

    @times(3.0)
    @twice
    def h(v, w=x, *, q=x):
        return v * v * w * q

    return h(x) + h(x, 2.0)


@case((2.0,))
def held_defaults(x):
    def h(v, w=x):
        return v * w

    def g(v):
        return h(v)

    return g(3.0)


@case((2.0,))
def lambdas_of_one_line(x):
    f, g, h, k = lambda v: v * x, lambda v: v * x, lambda *a, c=x: a[0] * c, lambda **q: q["u"] * x
    return f(x) * g(3.0) + h(x) * k(u=x)


@case((0.5,))
def imports_inside(x):
    import math as m
    import os.path

    import numpy.linalg
    from numpy import sin as s

    return m.exp(x) * s(x) * len(os.path.sep) + numpy.linalg.norm(np.array([x, 1.0]))


@case((2.0,))
def global_that_is_read(x):
    global GAIN
    y: float
    y = GAIN * x
    z: float = y * x
    return z


@case((2.0,))
def deleted_names(x):
    y = x * x
    z = y * x
    del y, x
    y = z * 2
    for k in range(3):
        w = z * k
        if k < 2:
            del w
    return y * w


# --- the small ones ---


@case((2.0,))
def constants_of_all_kinds(x):
    text, nothing, imaginary = b"ab", ..., 2j
    assert nothing is ... and x > 0, f"{x=}"
    print(text, nothing, sep="-", end="", file=io.StringIO())
    width = 3
    label = f"{width=} {width!r:>{width + 2}}|{width:{'0'}{4}d}"
    return x * x * imaginary.imag * len(text) + len(label) * x


@case((np.array([[1.0, 2.0], [3.0, 4.0]]),))
def ellipsis_index(a):
    return (a[..., 0] * a[..., 1]).sum()


@case((2.0,), (5.0,))
def chained_comparisons(x):
    if 1 < (y := x * x) < 10 < (z := y * 5):
        return z
    return y


@case(
    ([[1.0, 2.0, 3.0], (0.5, 0.25)],),
    (np.array([[1.0, 2.0], [3.0, 4.0]]),),
    ([np.array([1.0, 2.0]), [0.5, 2.0]],),
)
def columns_of_rows(rows):
    total = 0.0
    for a, b in zip(*rows):
        total = total + a * b
    (p, q), *_ = zip(*rows)
    xs, ys = zip(*zip(*rows))
    columns = list(zip(*rows))
    return total * p * q + xs[0] * ys[1] + sum(a * b * b for a, b in zip(*rows)) * columns[1][0]
