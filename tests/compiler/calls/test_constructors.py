"""Objects made inside a differentiated function: plain classes, dataclasses, NamedTuples, containers."""

import collections
import collections.abc
import dataclasses
import sys
import types
import typing
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import Case, check  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.base.classes import is_authors, is_generated  # noqa: E402

from ..agreeing import check_second_derivative, check_slope  # noqa: E402


class Plain:
    kind: ClassVar[float] = 2.0

    def __init__(self, a, b=1.0, *, c=0.5):
        self.a = a
        self.b = b * a
        self.c = c


class Derived(Plain):
    def __init__(self, a):
        Plain.__init__(self, a, a * a, c=a)
        self.c *= self.kind

    @classmethod
    def of(cls, a):
        return cls(a * 2)


class Bare:
    pass


class Slotted:
    __slots__ = ("a", "items")

    def __init__(self, a):
        self.a = a
        self.items = [a]


class Returns:
    def __init__(self, a):
        self.a = a
        return a


@dataclass
class Record:
    a: float
    b: float = 2.0
    items: list = field(default_factory=list)
    kind: ClassVar[int] = 3

    def push(self, v):
        self.items.append(v * self.a)


@dataclass
class Longer(Record):
    c: float = 1.0

    def __post_init__(self):
        self.c = self.a * self.b
        self.items.append(self.c)


@dataclass(kw_only=True, slots=True)
class Words:
    a: float
    b: float = 3.0
    items: list = field(default_factory=lambda: [1.0, 2.0])


@dataclass
class Scaled:
    a: float
    scale: InitVar[float] = 2.0
    product: float = field(init=False)

    def __post_init__(self, scale):
        self.product = self.a * scale


class Pair(NamedTuple):
    p: float
    q: float = 2.0
    items: list | None = None


def plain(x):
    o = Plain(x, c=x * x)
    o.b += o.c
    return o.a * o.b * o.kind + Plain(x, 3.0).b


def derived(x):
    o = Derived.of(x)
    return o.b * o.c


def bare(x):
    o = Bare()
    o.a = x
    o.a *= o.a
    return o.a * x


def slotted(x):
    o = Slotted(x)
    o.a *= 2
    o.items.append(o.a)
    return o.items[0] * o.items[1]


def record(x):
    one = Record(x)
    one.push(x)
    one.b = x * one.items[0]
    two = Record(one.a, items=one.items)
    two.push(x)
    return one.a * one.b + sum(one.items) * two.b * one.kind


def longer(x):
    o = Longer(x, x * x)
    o.items[0] *= 2
    o.c += x
    return o.c * o.items[0]


def words(x):
    o = Words(a=x)
    o.b *= x
    o.items[0] = o.a
    o.items.append(o.b)
    return sum(o.items) * o.b * Words(a=1.0, b=x).b


def scaled(x):
    return Scaled(x, x * x).product * Scaled(x, scale=x).product + Scaled(x).product


def pair(x):
    items = [x]
    one, two = Pair(x, items=items), Pair(x, q=x * x, items=items)
    one.items.append(x**3)
    two.items[0] = x * 7
    p, q, held = two
    return one.p * one.q + two.q * sum(two.items) + q * held[0] * p


def namespace(x):
    o = types.SimpleNamespace(a=x, items=[])
    o.b = x * 2
    o.items.append(o.b)
    o.a = o.a * o.items[0]
    return o.a * x


def containers(x):
    d = collections.deque([x, x * x])
    e = collections.defaultdict(float, {"a": x})
    f = collections.OrderedDict(a=x)
    d[0] *= 2
    e["b"] += e["a"] * d[0]
    f["b"] = e["b"] * f["a"]
    return f["b"] * d[1]


@pytest.mark.parametrize(
    "f", [plain, derived, bare, slotted, record, longer, words, scaled, pair, namespace, containers]
)
def test_objects_made_inside(f):
    """The gradient through an object made inside is that of finite differences, whatever its class."""
    check(Case(f, ((1.3,), (-0.6,))), rl.withgradient)


@pytest.mark.parametrize(
    "make", [lambda: Plain(), lambda: Record(), lambda: Words(1.0), lambda: Pair(1.0, 2.0, None, 4.0)]
)
def test_wrong_arguments_are_pythons_own_error(make):
    """A call that the class does not take is the TypeError that Python gives."""

    def f(x):
        make()
        return x

    with pytest.raises(TypeError):
        make()
    with pytest.raises(TypeError):
        rl.gradient(f, 1.0)


def test_init_that_returns():
    """`__init__` that returns something is Python's TypeError."""
    with pytest.raises(TypeError, match="should return None"):
        rl.gradient(lambda x: Returns(x).a, 1.0)


def test_whose_classes():
    """Classes of an author are those whose objects keep what they were made of in sight."""
    assert all(map(is_authors, (Plain, Record, Slotted, Pair, collections.deque, collections.OrderedDict)))
    assert not any(map(is_authors, (int, float, list, ValueError, type, 3.0, type("N", (float,), {}))))


def test_what_was_generated():
    """Methods that `dataclass` writes have no text of the author's; his own have."""
    assert is_generated(Record.__init__)
    assert not is_generated(Longer.__post_init__)
    assert not is_generated(Plain.__init__)
    assert dataclasses.is_dataclass(Record)


# --- what a field is given by, and exceptions, in both modes ---


@dataclasses.dataclass
class Weighed:
    """Its parameters stand in another order than its fields, of which one goes by keyword alone."""

    value: float
    offset: float = dataclasses.field(default=1.0, kw_only=True)
    weight: dataclasses.InitVar[float] = 1.0

    def __post_init__(self, weight):
        self.total = self.value * weight + self.offset**3


class Carrying(Exception):
    def __init__(self, x):
        self.x = x


def raised_and_caught(x):
    try:
        raise Carrying(x * x)
    except Carrying:
        return x * 3.0


@pytest.mark.parametrize(
    "f, slope",
    [
        (lambda x: Weighed(x, x).total, 4.0),
        (lambda x: Weighed(x, x, offset=x).total, 16.0),
        (lambda x: Weighed(weight=x * x, value=x).total, 12.0),
    ],
)
def test_parameters_of_a_dataclass_are_those_of_its_init(f, slope):
    """Those by keyword alone are not counted, and those that only `__post_init__` gets are."""
    assert rl.gradient(f, 2.0) == (slope,)
    assert rl.pushforward(f, 2.0)(1.0) == slope


def test_a_number_is_not_read_from_an_exception():
    """One that was made of what varies is refused, in both modes; to raise it is no reading."""
    for ask in (lambda f: rl.gradient(f, 2.0), lambda f: rl.pushforward(f, 2.0)(1.0)):
        with pytest.raises(rl.RuleLabError):
            ask(lambda x: Carrying(x).x)
        with pytest.raises(rl.RuleLabError):
            ask(lambda x: Carrying(x).args[0])
    assert rl.pushforward(raised_and_caught, 2.0)(1.0) == 3.0
    assert rl.pushforward(lambda x: Carrying(3.0).x * x, 2.0)(1.0) == 3.0


class Triple(NamedTuple):
    first: float
    second: float
    third: float = 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda x: Triple._make([x, x * x, 2.0]),
        lambda x: Triple._make(v * x for v in (1.0, x, 2.0)),
        lambda x: Triple(x, third=2.0, second=x * x),
    ],
)
def test_a_namedtuple_is_made_of_items_in_both_modes(make):
    """`_make` takes anything with items, and the tangents go where the values do."""
    assert rl.gradient(lambda x: make(x).second * make(x).first, 2.0) == (12.0,)
    assert rl.pushforward(lambda x: make(x).second * make(x).first, 2.0)(1.0) == 12.0
    assert rl.hessian(lambda x: make(x).second * make(x).first, 2.0) == 12.0


# --- a new object from an old one ---


@dataclass
class Noting:
    """Its `__post_init__` adds to a list that the copies share, and prints."""

    a: float
    b: float = 2.0
    seen: list = field(default_factory=list)

    def __post_init__(self):
        self.seen.append(self.a)
        print(len(self.seen))


@dataclass
class Kept:
    """The parameter `scale` is also an attribute, from which `replace` reads it."""

    a: float
    scale: InitVar[float] = 3.0

    def __post_init__(self, scale):
        self.scale = scale * self.a


@dataclass
class Needing:
    a: float
    scale: InitVar[float]

    def __post_init__(self, scale):
        self.product = scale * self.a


@dataclass
class Ruled:
    a: float
    b: float = 2.0


@rl.rrule_for(Ruled)
def ruled_rrule(a, b=2.0):
    return Ruled(a, b), lambda y_bar: (rl.NoTangent(), 10.0 * y_bar.a, y_bar.b)


def noted(x):
    first = Noting(x, 2 * x)
    second = dataclasses.replace(first, a=x**3)
    return first.seen[0] * first.seen[1] * second.b * len(second.seen)


@pytest.mark.parametrize("f", [noted, lambda x: dataclasses.replace(Kept(x), a=x * x).scale])
def test_replace_makes_one_object_of_what_it_reads(f):
    """`__post_init__` runs once, and gets the parameters that only it gets from the old object."""
    check_slope(f, 1.3)


def test_replace_prints_what_a_plain_call_prints(capsys):
    """What `__post_init__` does happens once for each object."""
    noted(1.3)
    plain = capsys.readouterr().out
    rl.gradient(noted, 1.3)
    rl.refresh()
    rl.gradient(noted, 1.3)
    assert capsys.readouterr().out == 2 * plain


def test_replace_makes_by_the_rule_of_the_class():
    """An author's rule for the class counts there as in a call of the class, in both modes."""

    def f(x):
        made = dataclasses.replace(Ruled(1.0, 3.0), a=x)
        return made.a * made.b

    assert rl.gradient(f, 2.0) == (30.0,)
    assert rl.pushforward(f, 2.0)(1.0) == 30.0


@pytest.mark.parametrize(
    "make",
    [
        lambda x: dataclasses.replace(Scaled(x), product=x),
        lambda x: dataclasses.replace(Needing(x, 2.0), a=x),
        lambda x: dataclasses.replace(Noting(x), c=x),
        lambda x: dataclasses.replace(3.0, a=x),
    ],
)
def test_what_replace_cannot_do_is_pythons_own_error(make):
    """Each has Python's class and words, perhaps without the name of the constructor."""
    with pytest.raises((TypeError, ValueError)) as plain:
        make(1.0)
    for ask in (rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0)):
        with pytest.raises(type(plain.value)) as caught:
            ask(lambda x: make(x).a, 1.0)
        assert str(plain.value).endswith(str(caught.value))


class Doubling:
    """A descriptor whose setter changes the value."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, x, owner=None):
        return 1.0 if x is None else getattr(x, self.name)

    def __set__(self, x, value):
        setattr(x, self.name, 2 * value)


@dataclass
class SetByHand:
    a: float

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value)


@dataclass
class SetByDescriptor:
    _a = 0.0
    a: float = Doubling()


@dataclass
class SetByProperty:
    a: float
    _a = 0.0

    @property
    def a(self):
        return self._a

    @a.setter
    def a(self, value):
        self._a = 2 * value


@pytest.mark.parametrize("kind", [SetByHand, SetByDescriptor, SetByProperty])
def test_fields_that_code_of_the_authors_sets_are_refused(kind):
    """The `__init__` that `dataclass` wrote has no text to follow, and sets these fields by other code."""
    for ask in (rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0)):
        with pytest.raises(rl.ForeignCallError):
            ask(lambda x: kind(x).a * x, 1.3)


class Labelled(typing.Generic[typing.TypeVar("T")]):
    def __init__(self, a):
        self.a = a


class WithSlot:
    __slots__ = ("a",)


@dataclass(frozen=True)
class Frozen:
    a: float


def by_its_own_init(x):
    p = Plain.__new__(Plain)
    p.__init__(x, c=x * x)
    return p.a * p.b * p.c


class Ratio:
    @classmethod
    def of(cls, x):
        made = cls.__new__(cls)
        made.a, made.b = x, x * x
        return made


def by_another_constructor(x):
    return Ratio.of(x).a * Ratio.of(x * 2).b


def of_an_object(x):
    p = object.__new__(Bare)
    p.a = x
    q = p.__class__.__new__(p.__class__)
    q.a = p.a * x
    return q.a * p.a


def of_a_generic_class(x):
    p = Labelled.__new__(Labelled)
    p.__init__(x)
    return p.a**3


def with_a_slot(x):
    p = WithSlot.__new__(WithSlot)
    p.a = x
    return p.a**3


def with_fields(x):
    p, q = Frozen.__new__(Frozen), Both.__new__(Both)
    object.__setattr__(p, "a", x)
    q.a = q.b = x
    return p.a * q.a * q.b


def of_a_super(x):
    p = super(Plain, Plain).__new__(Plain)
    p.a = x
    return p.a**3 * p.kind


@dataclass
class Both:
    a: float
    b: float = 2.0


@pytest.mark.parametrize(
    "f",
    [
        *(by_its_own_init, by_another_constructor, of_an_object, of_a_generic_class),
        *(with_a_slot, with_fields, of_a_super),
    ],
)
def test_objects_that_new_makes_are_followed(f):
    check_slope(f, 1.3)
    check_second_derivative(f, 1.3)


class ByNew:
    def __new__(cls, a):
        made = super().__new__(cls)
        made.a = a
        return made


class Twice(tuple):
    def __new__(cls, a):
        return tuple.__new__(cls, (a, a * a))


class Stack(list):
    pass


def stacked(x):
    items = Stack.__new__(Stack)
    items.append(x)
    return items[0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ByNew(x).a,
        lambda x: Twice(x)[1],
        lambda x: tuple.__new__(tuple, (x, x))[0],
        lambda x: float.__new__(float, x) * x,
        lambda x: setattr(object.__new__(ByNew), "a", x),
        stacked,
    ],
)
@pytest.mark.parametrize("ask", [rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0), rl.hessian])
def test_what_another_new_makes_is_refused(f, ask):
    with pytest.raises((rl.ForeignCallError, rl.MutationError)):
        ask(f, 1.3)


@pytest.mark.parametrize("ask", [rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0), rl.hessian])
def test_new_without_a_class_is_pythons_own_error(ask):
    with pytest.raises(TypeError, match="not a type object|not enough arguments|takes exactly one argument"):
        ask(lambda x: x * object.__new__(), 1.3)
    with pytest.raises(TypeError, match="abstract class"):
        ask(lambda x: setattr(object.__new__(collections.abc.Sized), "a", x), 1.3)
