"""Operators and attributes of objects: the method that Python calls is the one that is differentiated."""

import cmath
import dataclasses
import enum
import functools
import math
import operator  # noqa: F401  # for `WITH_KEYS`
import time

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import (
    ForeignCallError,
    MutationError,
    NotDifferentiableError,
    NotImplementedTangentError,
)


def assert_right(f, make, *numbers, h=1e-6):
    """Value and gradient of `f(make(*numbers))` as by central differences in the numbers, which are its
    fields in order.
    """
    value, (bar,) = rl.withgradient(f, make(*numbers))
    assert value == f(make(*numbers))
    for k, found in enumerate(list(bar)[: len(numbers)]):
        up, down = ([x + s * (i == k) for i, x in enumerate(numbers)] for s in (h, -h))
        wanted = (f(make(*up)) - f(make(*down))) / (2 * h)
        assert (found or 0.0) == pytest.approx(wanted, rel=1e-6, abs=1e-6), k


class Circle:
    unit = 2.0

    def __init__(self, radius, weight):
        self.radius, self.weight = radius, weight

    @property
    def area(self):
        return math.pi * self.radius**2

    @functools.cached_property
    def volume(self):
        return self.area * self.radius * self.weight

    @property
    def scaler(self):
        radius = self.radius
        return lambda x: x * radius

    def base(self, x):
        return self.radius * x

    bent = functools.partialmethod(lambda self, a, b: self.radius * a + b * self.weight, 3.0)


class Ring(Circle):
    @property
    def area(self):
        return super().area * self.weight

    def base(self, x):
        return super().base(x) * self.weight + super(Ring, self).base(2.0)

    def later(self):
        method = super().base
        return method(self.weight)

    def inner(self):
        def call(t):
            return self.base(t)

        return call(self.radius)


# --- attributes ---


@pytest.mark.parametrize(
    "f",
    [
        lambda c: c.area * c.radius,
        lambda c: c.volume**2,
        lambda c: c.unit * c.radius + c.weight,
        lambda c: c.scaler(c.weight),
        lambda c: c.bent(c.weight),
        lambda c: c.base(c.weight),
        lambda c: getattr(c, "area") * getattr(c, "nothing", c.weight),
    ],
)
@pytest.mark.parametrize("kind", [Circle, Ring])
def test_attributes(f, kind):
    """Properties, cached properties, class attributes, partial methods, of the class and of a subclass."""
    assert_right(f, kind, 1.5, 0.7)


@pytest.mark.parametrize("f", [lambda c: c.later() * c.area, lambda c: c.inner()])
def test_super(f):
    """`super()` without and with arguments, called and taken as a value, also for a property."""
    assert_right(f, Ring, 1.5, 0.7)


def test_a_rule_on_a_property_goes_by_its_function():
    """`rrule_for(Class.prop.fget)` counts where the property is read."""

    class Square:
        def __init__(self, side):
            self.side = side

        @property
        def area(self):
            return self.side**2

    @rl.rrule_for(Square.area.fget)
    def area_rrule(self):
        return self.side**2, lambda y_bar: (rl.NoTangent(), rl.Tangent(Square, side=100.0 * y_bar))

    assert rl.gradient(lambda s: s.area, Square(2.0))[0].side == 100.0


def test_a_cached_property_is_not_read_from_its_cache():
    """A value cached before leaves the gradient as it is; one that is out of date is refused."""
    circle = Circle(2.0, 1.0)
    fresh = rl.gradient(lambda c: c.volume, Circle(2.0, 1.0))[0]
    assert circle.volume and rl.gradient(lambda c: c.volume, circle)[0].radius == fresh.radius
    circle.radius = 3.0
    with pytest.raises(NotDifferentiableError, match="The cached volume of a Circle is not what"):
        rl.gradient(lambda c: c.volume, circle)


@dataclasses.dataclass(frozen=True)
class FrozenCircle:
    radius: float
    weight: float

    @functools.cached_property
    def volume(self):
        return math.pi * self.radius**3 * self.weight


@pytest.mark.parametrize("kind", [Circle, FrozenCircle])
def test_a_cached_property_moves_forwards_whether_it_was_read_before_or_not(kind):
    """Forward mode gives the same tangent for a fresh object, for one that has been read and for one that it
    has been through itself; frozen dataclasses keep the value as in a plain run. One that is out of date is
    refused.
    """
    read = kind(2.0, 1.0)
    assert read.volume
    fresh = kind(2.0, 1.0)
    wanted = rl.gradient(lambda c: c.volume**2, kind(2.0, 1.0))[0].radius
    for circle in (fresh, fresh, read):
        found = rl.pushforward(lambda c: c.volume * c.volume, circle)({"radius": 1.0})
        assert found == pytest.approx(wanted, rel=1e-12)
    assert rl.hessian(lambda r: kind(r, 1.0).volume, 2.0) == pytest.approx(12 * math.pi, rel=1e-12)
    object.__setattr__(read, "radius", 3.0)
    with pytest.raises(NotDifferentiableError, match="The cached volume of a .* is not what"):
        rl.pushforward(lambda c: c.volume, read)({"radius": 1.0})


@pytest.mark.usefixtures("run_once")
def test_nothing_is_cached_by_differentiating():
    """The object is the caller's."""
    circle = Circle(2.0, 1.0)
    rl.gradient(lambda c: c.volume, circle)
    assert "volume" not in vars(circle)


def test_a_property_that_cannot_be_followed_shows_its_line():
    """The refusal is inside the property, reached from where it is read."""

    class Opaque:
        def __init__(self, x):
            self.x = x

        @property
        def value(self):
            return np.apply_over_axes(np.sum, self.x, 0)

    def read(o):
        return o.value

    with pytest.raises(ForeignCallError) as caught:
        rl.gradient(read, Opaque(0.5))
    assert caught.value.place.function == "value" and caught.value.chain[-1].function == "read"


class Lazy:
    def __init__(self, a, b):
        self.parts = {"a": a, "b": b}

    def __getattr__(self, name):
        if name in ("a", "b"):
            return self.parts[name] * 2
        raise AttributeError(name)


def test_getattr_method():
    """`__getattr__` is followed, and its AttributeError is the caller's."""
    bar = rl.gradient(lambda o: o.a * o.b, Lazy(2.0, 3.0))[0]
    assert bar.parts == {"a": 12.0, "b": 8.0}
    with pytest.raises(AttributeError, match="^c$"):
        rl.gradient(lambda o: o.c, Lazy(2.0, 3.0))


class Squared:
    def __get__(self, owner, kind=None):
        return owner.p * owner.p

    def __set__(self, owner, value):
        owner.p = value


class Described:
    q = Squared()

    def __init__(self, p, r):
        self.p, self.r = p, r


class Slotted:
    __slots__ = ("a", "b", "act")  # noqa: RUF023 (the fields in the order of the numbers)

    def __init__(self, a, b):
        self.a, self.b, self.act = a, b, math.exp

    @property
    def product(self):
        return self.a * self.b


class Colour(enum.Enum):
    RED = 2.0
    BLUE = 3.0


def by_colour(c):
    colour = Colour.RED if c.radius > 0 else Colour.BLUE
    return colour.value * c.radius + (c.weight if colour is Colour.RED else 0.0)


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (lambda d: d.q * d.r, Described),
        (lambda s: s.product * s.a + s.act(s.b), Slotted),
        (by_colour, Circle),
    ],
)
def test_other_ways_to_a_value(f, make):
    """Descriptors, slots, functions in fields, members of an enumeration."""
    assert_right(f, make, 1.5, 0.7)


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x * x


class Net:
    def __init__(self, a, b):
        self.first, self.last, self.act = Layer(a), Layer(b), math.sin

    def __call__(self, x):
        return self.last(self.act(self.first(x)))


def test_objects_that_are_called_as_fields():
    """A layer in a field gets its own cotangent, in the place where the field is."""
    bar = rl.gradient(lambda net: net(2.0), Net(0.3, 0.4))[0]
    s, c = math.sin(1.2), math.cos(1.2)
    assert bar.first.w == pytest.approx(0.4 * 2 * s * c * 4.0) and bar.last.w == pytest.approx(s * s)


def test_getattribute_is_refused():
    """A class that answers for every attribute itself is not looked into."""

    class Everything:
        def __init__(self, x):
            self.x = x

        def __getattribute__(self, name):
            return object.__getattribute__(self, name)

    with pytest.raises(NotDifferentiableError, match="which has a __getattribute__") as caught:
        rl.gradient(lambda e: e.x, Everything(1.0))
    assert caught.value.read == "limitations#attributes"


# --- operators ---


class Plain:
    def __init__(self, x):
        self.x = x


@dataclasses.dataclass
class Both:
    x: float
    y: float

    def __add__(self, other):
        return self.x + other.x * self.y if isinstance(other, Both) else self.x + other

    def __radd__(self, other):
        return other * self.y + self.x

    def __rtruediv__(self, other):
        return other / self.x

    def __rmul__(self, other):
        return other * self.x - self.y

    def __iadd__(self, other):
        self.x += other
        return self

    def __round__(self, digits=None):
        return self.x * self.y

    def __divmod__(self, other):
        return self.x * other, self.y / other


@pytest.mark.parametrize(
    "f",
    [
        lambda p: p + p,
        lambda p: sum([p, 1.0]) * p.x,
        lambda p: 2.0 + p,
        lambda p: np.float64(3.0) * p,
        lambda p: np.float64(3.0) / p,
        lambda p: round(p) + round(p, 2),
        lambda p: divmod(p, 2.0)[0] * divmod(p, 3.0)[1],
    ],
)
def test_operators(f):
    """The forward method, the reflected one, and those behind builtin functions."""
    assert_right(f, Both, 1.5, 0.7)


@pytest.mark.parametrize(
    "f",
    [
        lambda p: p + 1.0,
        lambda p: 1.0 * p,
        lambda p: -p,
        lambda p: p[0],
        lambda p: p @ p,
        lambda p: abs(p),
        lambda p: p(1.0),
        lambda p: float(p),
        lambda p: p.y,
        lambda p: sum(p),
    ],
)
def test_an_operator_that_no_class_answers(f):
    """Python's own error, with its words."""
    with pytest.raises((TypeError, AttributeError)) as wanted:
        f(Plain(1.0))
    with pytest.raises((wanted.type, NotDifferentiableError, ForeignCallError)) as found:
        rl.gradient(f, Plain(1.0))
    if isinstance(found.value, (TypeError, AttributeError)):
        assert str(found.value) == str(wanted.value)


def test_not_implemented_on_both_sides():
    """Both decline, so the error is Python's."""

    class Shy:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return NotImplemented

        __radd__ = __add__

    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Shy' and 'float'"):
        rl.gradient(lambda s: s + 1.0, Shy(1.0))


def test_a_conversion_must_give_its_kind():
    """`__float__` that gives something else fails as in Python."""

    class Odd:
        def __init__(self, x):
            self.x = x

        def __float__(self):
            return [self.x]

    with pytest.raises(TypeError, match=r"Odd.__float__ returned non-float \(type list\)"):
        rl.gradient(lambda o: float(o), Odd(1.0))


def test_an_array_on_the_left_that_takes_the_object_apart_is_refused():
    """NumPy would multiply item by item with the object: no rule for that."""

    class Scaled:
        def __init__(self, x):
            self.x = x

        def __rmul__(self, other):
            return other * self.x

    with pytest.raises(NotDifferentiableError, match=r"no rule for float64\[2\] \* Scaled"):
        rl.gradient(lambda s: np.sum(np.array([1.0, 2.0]) * s), Scaled(2.0))


def test_an_operator_in_place_is_a_write():
    """`__iadd__` changes the object, which is refused where others may hold it."""
    held = Both(1.0, 2.0)

    def shifted(x):
        q = held
        q += x
        return q.x

    with pytest.raises(MutationError, match="Both.__iadd__"):
        rl.gradient(shifted, 1.0)


def test_a_method_changed_after_the_first_call_counts():
    """What the class has now is what is differentiated."""

    class Changing:
        def __init__(self, x):
            self.x = x

        def __neg__(self):
            return -self.x

    def f(c):
        return -c

    assert rl.gradient(f, Changing(2.0))[0].x == -1.0
    Changing.__neg__ = lambda self: self.x**3
    assert rl.gradient(f, Changing(2.0))[0].x == 12.0


class Tens(float):
    def __mul__(self, other):
        return float(self) * other * 10.0


class Tripled(list):
    def __getitem__(self, key):
        return super().__getitem__(key) * 3.0


def test_subclasses_of_builtins_go_by_their_own_methods():
    """A float, a list of the author's own class with an operator or items of its own."""
    assert rl.withgradient(lambda t: t * 2.0, Tens(3.0)) == (60.0, (20.0,))
    assert rl.withgradient(lambda x: x[0] * x[1], Tripled([1.0, 2.0])) == (18.0, ([18.0, 9.0],))


# --- items ---


class Basket:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __iter__(self):
        return iter([self.a * self.b, self.b])

    def __len__(self):
        return 2


class Indexed:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __getitem__(self, k):
        return [self.a * self.b, self.b**2][k]


def loop(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


def unpacked(x):
    first, second = x
    return first * second


@pytest.mark.parametrize(
    "f",
    [
        loop,
        unpacked,
        lambda x: sum(x) * max(x),
        lambda x: list(x)[0] * tuple(x)[1] + sorted(x)[0],
        lambda x: sum([p * q for p, q in zip(x, [3.0, 4.0])]),
        lambda x: sum(map(lambda v: v * v, x)),
        lambda x: sum([v**3 for v in x]),
    ],
)
@pytest.mark.parametrize("kind", [Basket, Indexed])
def test_objects_with_items(f, kind):
    """`__iter__`, or `__getitem__` by number, wherever an iterable goes."""
    assert_right(f, kind, 1.5, 0.7)


def test_the_key_of_an_item_can_vary():
    """An object that makes its items from a float key gives the key its cotangent."""

    class Table:
        def __init__(self, k):
            self.k = k

        def __getitem__(self, x):
            return self.k * x**3

    table = Table(2.0)
    assert rl.gradient(lambda x: table[x], 1.5) == (13.5,)
    assert rl.gradient(lambda t, x: t[x], table, 1.5)[1] == 13.5
    assert rl.gradient(lambda x: {2: 5.0}[round(x)] * x, 1.8) == (5.0,)


class Relaxed:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return self.x * other

    def __eq__(self, other):
        return self.x == other

    __hash__ = None


def test_a_comparison_that_gives_a_number_is_refused():
    """Comparisons are constants, so a number from one would lose its derivative."""
    with pytest.raises(NotDifferentiableError, match="that vary gives a float") as caught:
        rl.gradient(lambda r: (r < 3.0) * 1.0, Relaxed(2.0))
    assert caught.value.place.text is None or "r < 3.0" in caught.value.place.source()
    assert rl.gradient(lambda r: r.x * 2 if r == 2.0 else r.x, Relaxed(2.0))[0].x == 2.0


class Table:
    """Items computed from the key, whatever its form."""

    def __getitem__(self, key):
        if isinstance(key, slice):
            return 3.0 * key.stop
        x, y = key
        return x * y * y


TABLE_MADE = Table()


@pytest.mark.parametrize(
    ("f", "gradient"),
    [
        (lambda x: TABLE_MADE[x, 3.0], 9.0),
        (lambda x: TABLE_MADE[3.0, x], 12.0),
        (lambda x: TABLE_MADE[x, x], 12.0),
        (lambda x: TABLE_MADE[[x, 1.0]], 1.0),
        (lambda x: TABLE_MADE[np.array([x, 1.0])], 1.0),
    ],
    ids=["first", "second", "both", "list", "array"],
)
def test_keys_of_several_numbers_reach_the_class_that_makes_the_item(f, gradient):
    """`table[x, y]` on a class of the author's depends on x and y, in reverse and in forward mode."""
    assert rl.gradient(f, 2.0) == (gradient,)
    assert rl.pushforward(f, 2.0)(1.0) == gradient
    assert rl.gradient(f, 2) == (gradient,)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: TABLE_MADE[0:x],
        lambda x: TABLE_MADE[slice(0, x)],
        lambda x: np.mgrid[0:x:3j].sum(),
        lambda x: np.ogrid[0:x:3j, 0:2].sum() if x < 0 else np.r_[0:x:3j, 1.0].sum(),
    ],
    ids=["slice", "made", "mgrid", "r_"],
)
def test_a_slice_bounded_by_what_varies_is_no_key_for_a_class(f):
    """A slice carries no derivative: where Python code reads the number back out of it, there is an error
    instead of no gradient.
    """
    with pytest.raises(NotDifferentiableError, match="bounds a slice that .* reads"):
        rl.gradient(f, 2.0)
    with pytest.raises(NotDifferentiableError, match="bounds a slice that .* reads"):
        rl.pushforward(f, 2.0)(1.0)


def test_slices_of_arrays_and_lists_stay_free():
    """Counted slices of what is no such class are taken as before, and constant ones of such a class."""
    assert rl.gradient(lambda x: np.arange(4.0)[int(x) :].sum() * x, 2.0) == (5.0,)
    assert rl.gradient(lambda x, n: sum([x, 2 * x, 3 * x][:n]), 2.0, 2) == (3.0, None)
    assert rl.gradient(lambda x: TABLE_MADE[0:2.0] * x, 2.0) == (6.0,)


class Written:
    """What is written depends on where it is written."""

    def __init__(self):
        self.total = 1.0

    def __setitem__(self, key, value):
        if isinstance(key, slice):
            self.total += key.stop * value
        elif isinstance(key, float):
            self.total *= key * value
        else:
            self.total += key[0] * key[1] * value

    def __delitem__(self, key):
        self.total /= key


class Computed(dict):
    def __missing__(self, key):
        return key * key


def written_at(x):
    made = Written()
    made[x] = 2.0
    return made.total


def written_at_two(x):
    made = Written()
    made[x, x] = 2.0
    made[[3.0, x]] = x
    return made.total


def deleted_at(x):
    made = Written()
    del made[x]
    return made.total


def computed_when_missing(x):
    return Computed(a=1.0)[x] + Computed(a=1.0)["a"]


@pytest.mark.parametrize(
    "f", [written_at, written_at_two, deleted_at, computed_when_missing], ids=lambda f: f.__name__
)
def test_keys_that_vary_reach_the_methods_that_write_and_make_up_items(f):
    """`made[x] = 2.0`, `del made[x]` and a dict that makes up an entry from its key: reverse mode follows the
    key, forward mode does or refuses.
    """
    wanted = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
    assert rl.gradient(f, 2.0)[0] == pytest.approx(wanted, rel=1e-8)
    try:
        found = rl.pushforward(f, 2.0)(1.0)
    except rl.RuleLabError:
        return
    assert found == pytest.approx(wanted, rel=1e-8)


class Cubes:
    """Items, changes and what is missing, computed with the key whatever number it is."""

    def __init__(self):
        self.total, self.held = 1.0, {}

    def __getitem__(self, key):
        return 0.5 * key**3

    def __setitem__(self, key, value):
        self.total = self.total * key * value

    def __delitem__(self, key):
        self.total = self.total * key

    def get(self, key):
        return self[key]


class Shelf:
    def __init__(self, x):
        self.cubes, self.x = Cubes(), x


CUBES = Cubes()
WITH_KEYS = {
    "item of a global": "return CUBES[x] * 2.0",
    "item of an object made": "return Cubes()[x + 1]",
    "item of an attribute": "return Shelf(x).cubes[x]",
    "item at an attribute": "s = Shelf(x)\n    return CUBES[s.x] * s.x",
    "item in a loop": "s = 0.0\n    for k in range(3): s = s + CUBES[x + k] * k\n    return s",
    "item through a method": "return CUBES.get(x) + 1.0",
    "item of several": "return [CUBES, Cubes()][0][x]",
    "item of an argument": "return c[x] * x",
    "item through getitem": "return operator.getitem(CUBES, x)",
    "written": "c = Cubes()\n    c[x] = 3.0\n    return c.total",
    "deleted": "c = Cubes()\n    del c[x * x]\n    return c.total",
    "augmented": "c = Cubes()\n    c[x] += 1.0\n    return c.total",
    "made up": "return Computed(a=1.0)[x]",
}


@pytest.mark.parametrize("kind", [int, np.int64, float, np.float32])
@pytest.mark.parametrize("name", WITH_KEYS)
def test_a_key_has_the_same_slope_whatever_number_it_is(name, kind, tmp_path):
    """A whole number is an index for Python's own containers, and a number for a class of the author's."""
    f = written_as(f"def f(x, c=None):\n    {WITH_KEYS[name]}\n", tmp_path)
    more = (Cubes(),) if "c[x] * x" in WITH_KEYS[name] else ()
    wanted = (f(2.0 + 1e-6, *more) - f(2.0 - 1e-6, *more)) / 2e-6
    for _ in range(3):
        assert rl.gradient(f, kind(2), *more)[0] == pytest.approx(wanted, rel=1e-6)


def written_as(text, folder):
    """The function `f` of a module with this text, which has the names of this file."""
    path = folder / "written.py"
    path.write_text(text)
    names = dict(globals())
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


def test_a_write_to_a_slice_bounded_by_what_varies():
    """A slice carries no derivative, also where it is written to."""

    def f(x):
        made = Written()
        made[0:x] = 3.0
        return made.total

    for differentiate in (lambda: rl.gradient(f, 2.0), lambda: rl.pushforward(f, 2.0)(1.0)):
        with pytest.raises(NotDifferentiableError, match="bounds a slice that Written.__setitem__ reads"):
            differentiate()


class ByFloat:
    def __init__(self, k):
        self.k = k

    def __float__(self):
        return float(self.k)


class ByComplex(ByFloat):
    __float__ = None

    def __complex__(self):
        return complex(self.k)


class ByIndex:
    def __init__(self, k):
        self.k = k

    def __index__(self):
        return 3


class ByArray(ByFloat):
    __float__ = None

    def __array__(self, dtype=None, copy=None):
        return np.array([self.k, 2.0 * self.k])


CONVERTED = {
    "hypot": (lambda x: math.hypot(ByFloat(x), 1.0), "math.hypot reads a ByFloat through its __float__"),
    "sqrt": (lambda x: math.sqrt(ByFloat(x)), "__float__"),
    "atan2": (lambda x: math.atan2(1.0, ByFloat(x)), "__float__"),
    "float64": (lambda x: np.sin(np.float64(ByFloat(x))), "__float__"),
    "cmath": (lambda x: cmath.sqrt(ByComplex(x)).real, "__complex__"),
    "index": (lambda x: math.sqrt(ByIndex(x)) * x, "__index__"),
    "sum": (lambda x: np.sum(ByArray(x)), "np.sum reads a ByArray through its __array__"),
    "dot": (lambda x: np.dot(ByArray(x), np.ones(2)), "__array__"),
    "asarray": (lambda x: np.sum(np.asarray(ByArray(x))), "__array__"),
    "concatenate": (lambda x: np.sum(np.concatenate([ByArray(x), np.ones(1)])), "__array__"),
}


@pytest.mark.parametrize("f, said", CONVERTED.values(), ids=CONVERTED)
def test_objects_that_c_turns_into_numbers(f, said):
    """A function of C that reads an object by a method of its class says which one, in both modes."""
    f(1.3)
    for ask in (lambda: rl.gradient(f, 1.3), lambda: rl.pushforward(f, 1.3)(1.0)):
        with pytest.raises(NotDifferentiableError, match=said):
            ask()


def test_a_conversion_that_the_author_calls():
    """`float(x)` and `x.__array__()` are followed, so that what is advised works."""
    assert rl.gradient(lambda x: math.hypot(float(ByFloat(x)), 1.0), 1.3)[0] == pytest.approx(
        1.3 / math.hypot(1.3, 1.0)
    )
    assert rl.gradient(lambda x: np.sum(ByArray(x).__array__()), 1.3)[0] == pytest.approx(3.0)


class Labelled(tuple):
    """A tuple with an attribute beside its parts."""


def by_words(f, **words):
    return f(**words)


def test_an_attribute_of_a_tuple_that_goes_by_position():
    """A whole number of a date stands still, and so does the tuple itself unless one asks by it."""
    date = time.struct_time((2018, 4, 15, 1, 2, 3, 4, 105, 0))
    labelled = Labelled((1.0, 2.0))
    labelled.scale = 3.0

    def of_day(t, x):
        return t.tm_yday * x

    def scaled(t, x):
        return t.scale * x + t[0] * x

    assert rl.gradient(lambda x: by_words(of_day, t=date, x=x), 2.0) == (105.0,)
    assert rl.gradient(lambda x: by_words(scaled, t=labelled, x=x), 2.0) == (4.0,)
    with pytest.raises(NotImplementedTangentError, match="by the attribute scale of a Labelled"):
        rl.gradient(scaled, labelled, 2.0)
