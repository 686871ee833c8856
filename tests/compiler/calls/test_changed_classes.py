"""What was found for a class of the author's counts only as long as the class says the same: each program is
differentiated, the class is changed, and the same program, at the same lines, is differentiated again.
"""

import dataclasses
import functools
import gc
import operator
import weakref
from collections import namedtuple
from typing import ClassVar

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.memory import heap
from rulelab.compiler.memory.outlines import outline
from rulelab.tangents.structural import parts


def slope(f, x=1.5, forward=True):
    """The derivative, the same in both modes and by differences."""
    step = 1e-6
    found = rl.gradient(f, x)[0]
    found = 0.0 if found is None else found
    assert found == pytest.approx((f(x + step) - f(x - step)) / (2 * step), rel=1e-7, abs=1e-8)
    assert not forward or rl.pushforward(f, x)(1.0) == pytest.approx(found)
    return found


def warmed(f):
    """The program after the calls from which it is remembered what answers each of its calls."""
    for _ in range(4):
        slope(f)
    return f


def made_class():
    """A class, and a program that makes an object of it and calls its methods."""

    class Line:
        def __init__(self, a):
            self.a = a * a

        def at(self, y):
            return self.a * y

    def program(x):
        found = 0.0
        for k in range(2):
            line = Line(x)
            found = found + line.at(x + k)
        return found

    return Line, warmed(program)


def doubled_init(self, a):
    self.a = 2.0 * a


def other_at(self, y):
    return self.a + 3.0 * y


def test_another_init_is_run():
    Line, program = made_class()
    before = slope(program)
    Line.__init__ = doubled_init
    assert slope(program) != before


def test_an_init_that_only_a_base_has():
    class Base:
        def __init__(self, a):
            self.a = 5.0 * a

    class Line(Base):
        def __init__(self, a):
            self.a = a

    def program(x):
        return Line(x).a * x

    warmed(program)
    assert slope(program) == pytest.approx(3.0)
    del Line.__init__
    assert slope(program) == pytest.approx(15.0)


def test_other_bases():
    class One:
        def __init__(self, a):
            self.a = a

        def at(self, y):
            return self.a * y

    class Two:
        def __init__(self, a):
            self.a = a * a

        def at(self, y):
            return self.a + y

    class Line(One):
        pass

    def program(x):
        return Line(x).at(x)

    warmed(program)
    Line.__bases__ = (Two,)
    assert slope(program) == pytest.approx(4.0)


def test_a_new_that_makes_something_else():
    Line, program = made_class()

    def new(cls, a):
        made = object.__new__(cls)
        made.scale = 7.0
        return made

    Line.__new__ = new
    with pytest.raises(rl.RuleLabError):  # what it sets cannot be followed, so nothing is claimed
        rl.gradient(program, 1.5)


def test_a_class_that_became_a_dataclass():
    class Line:
        a: float

        def __init__(self, a):
            self.a = a * a

    def program(x):
        return Line(x).a * x

    warmed(program)
    del Line.__init__
    dataclasses.dataclass(Line)
    assert slope(program) == pytest.approx(3.0)


def test_another_class_by_the_same_name():
    holder = {}

    def program(x):
        return holder["Line"](x).at(x)

    for power in (1, 2, 3):

        class Line:
            def __init__(self, a):
                self.a = a

            def at(self, y, power=power):
                return self.a * y**power

        holder["Line"] = Line
        warmed(program)
        assert slope(program) == pytest.approx((1 + power) * 1.5**power)


def test_a_class_that_is_gone_is_not_kept():
    holder = {}

    def program(x):
        found = 0.0
        for k in range(2):
            found = (holder["Line"](x) + holder["Line"](k * x)).at(x + found)
        return found

    class Line:
        def __init__(self, a):
            self.a = a

        def __add__(self, other):
            return type(self)(self.a + other.a)

        def at(self, y):
            return self.a * y

    holder["Line"] = Line
    warmed(program)
    del Line
    gone = weakref.ref(holder.pop("Line"))
    gc.collect()
    assert gone() is None


def test_another_method_is_run():
    Line, program = made_class()
    Line.at = other_at
    slope(program)


@pytest.mark.parametrize(
    "method",
    [
        staticmethod(lambda y: y * y),
        classmethod(lambda cls, y: y * y * 2.0),
        property(lambda self: lambda y: self.a * y * y),
        functools.partialmethod(other_at),
        functools.cached_property(lambda self: lambda y: self.a + y),
    ],
    ids=lambda method: type(method).__name__,
)
def test_a_method_that_became_something_else(method):
    Line, program = made_class()
    Line.at = method
    if isinstance(method, functools.cached_property):
        method.__set_name__(Line, "at")
    slope(program)


def test_a_value_of_the_object_hides_the_method():
    class Line:
        def __init__(self, a, hides):
            self.a = a
            if hides:
                self.at = lambda y: a * a * y

        def at(self, y):
            return self.a * y

    def program(x):
        return sum([Line(x, hides).at(x) for hides in (False, False, True)])

    warmed(program)
    assert slope(program) == pytest.approx(2 * 2 * 1.5 + 3 * 1.5**2)


def test_attributes_that_code_hands_out_from_now_on():
    Line, program = made_class()

    def hands_out(self, name):
        return (lambda y: 7.0 * y) if name == "at" else object.__getattribute__(self, name)

    Line.__getattribute__ = hands_out
    assert slope(program) == pytest.approx(14.0)


def test_a_field_that_became_a_property():
    class Line:
        def __init__(self, a):
            self.a = a

    def program(x):
        return Line(x).a * x

    warmed(program)
    Line.a = property(lambda self: self.kept * 4.0, lambda self, a: setattr(self, "kept", a * a))
    assert slope(program) == pytest.approx(4.0 * 3.0 * 1.5**2)


def test_an_attribute_is_written_by_a_method_from_now_on():
    class Line:
        def __init__(self, a):
            self.a = a

    def program(x):
        return Line(x).a * x

    def write(self, name, value):
        object.__setattr__(self, name, 2.0 * value)

    warmed(program)
    Line.__setattr__ = write
    assert slope(program) == pytest.approx(6.0)


def test_a_rule_for_the_class_its_init_or_its_method():
    Line, program = made_class()
    before = slope(program)

    def at_rule(self, y):
        return self.a * y, lambda bar: (rl.NoTangent(), rl.Tangent(Line, a=bar * y), 100.0 * bar)

    class Made(Line):
        def __init__(self, a):
            self.a = a

    def class_rule(a):
        return Made(a * a), lambda bar: (rl.NoTangent(), 200.0 * bar.a)

    def init_rule(self, a):
        self.a = a * a
        return None, lambda bar: (rl.NoTangent(), rl.ZeroTangent(), 300.0)

    for target, rule in ((Line.at, at_rule), (Line, class_rule)):
        rl.rrule_for(target)(rule)
        assert rl.gradient(program, 1.5)[0] > 100.0
        assert rl.pushforward(program, 1.5)(1.0) > 100.0
        rl.remove_rule(target)
        assert slope(program) == before
    rl.rrule_for(Line.__init__)(init_rule)
    with pytest.raises(rl.MutationError):  # it is asked, and may not write
        rl.gradient(program, 1.5)
    rl.remove_rule(Line.__init__)
    assert slope(program) == before


def test_the_class_of_an_object_is_assigned():
    class One:
        def __init__(self, a):
            self.a = a

        def at(self, y):
            return self.a * y

    class Two(One):
        def at(self, y):
            return self.a + y

    def program(x, lines):
        return sum([line.at(x) for line in lines])

    lines = [One(2.0), One(3.0)]
    for _ in range(4):
        assert rl.gradient(program, 1.5, lines)[0] == pytest.approx(5.0)
    lines[1].__class__ = Two
    assert rl.gradient(program, 1.5, lines)[0] == pytest.approx(3.0)


class Scope:
    """A manager whose `__exit__` takes what there is to take, as most do."""

    def __enter__(self):
        return 2.0

    def __exit__(self, *error):
        return len(error) == 2


def test_a_manager_that_changes():
    def program(x):
        with Scope() as factor:
            y = factor * x
        return y * x

    warmed(program)
    assert slope(program) == pytest.approx(6.0)
    before = Scope.__exit__
    try:
        Scope.__exit__ = lambda self, kind, error, trace: False
        assert slope(program) == pytest.approx(6.0)
        Scope.__enter__ = lambda self: 3.0
        assert slope(program) == pytest.approx(9.0)
    finally:
        Scope.__exit__, Scope.__enter__ = before, lambda self: 2.0


def largest(*items):
    found = items[0]
    for item in items[1:]:
        if item > found:
            found = item
    return found


def first_is_none(*items):
    return items[0] is None


def test_arguments_of_any_number_where_nothing_varies():
    def program(x, *items):
        return x * largest(*items) + x * x * largest(1.0, 3.0) + (0.0 if first_is_none(*items) else x)

    for items in ((1.0, 4.0), (5.0, 4.0, 2.0), (2,), (np.float64(7.0), 1), (1.0, 4.0)):
        for _ in range(3):
            found = rl.gradient(program, 1.5, *items)[0]
            assert found == pytest.approx(max(items) + 3.0 * 2 * 1.5 + 1.0)


def changes_last(*items):
    items[-1][0] = 5.0
    return 1.0


def test_what_is_among_any_number_of_arguments_is_not_written_to():
    kept = np.ones(2)

    def program(x):
        return x * changes_last(1.0, kept)

    for _ in range(3):
        with pytest.raises(rl.MutationError):
            rl.gradient(program, 1.5)
        assert kept[0] == 1.0


def test_other_operators():
    class Dual:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, other):
            return Dual(self.a + other.a, self.b * other.b)

        def __rmul__(self, factor):
            return Dual(factor * self.a, self.b)

        def value(self):
            return self.a * self.b

    def program(x):
        found = Dual(x, 1.0)
        for k in range(3):
            found = found + k * Dual(x * x, x)
        return found.value()

    warmed(program)
    before = slope(program)
    Dual.__add__ = lambda self, other: Dual(self.a * other.a, self.b + other.b)
    assert slope(program) != before
    Dual.__radd__ = lambda self, other: 100.0
    slope(program)

    class Below(Dual):
        def __radd__(self, other):
            return Dual(other.a * 7.0, self.b)

    def mixed(x, kinds):
        found = Dual(x, x)
        for kind in kinds:
            found = found + kind(x, x * x)
        return found.value()

    for kinds in ((Dual, Dual), (Below, Dual), (Dual, Below), (Dual, Dual)):
        warmed(lambda x, kinds=kinds: mixed(x, kinds))
    del Dual.__add__, Dual.__radd__
    with pytest.raises(TypeError, match="unsupported operand"):
        rl.gradient(program, 1.5)


def test_a_rule_for_an_operator_of_a_class():
    class Dual:
        def __init__(self, a):
            self.a = a

        def __add__(self, other):
            return self.a + other.a

    def program(x):
        return sum([Dual(x) + Dual(k * x) for k in range(3)])

    warmed(program)

    def add_rule(self, other):
        def back(bar):
            return rl.NoTangent(), rl.Tangent(Dual, a=50.0 * bar), rl.ZeroTangent()

        return self.a + other.a, back

    rl.rrule_for(Dual.__add__)(add_rule)
    assert rl.gradient(program, 1.5)[0] == pytest.approx(150.0)
    rl.remove_rule(Dual.__add__)
    assert slope(program) == pytest.approx(6.0)


# -- objects and their parts ---------------------------------------------------------------------------------


class Plain:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class SlotsAndMore:
    __slots__ = ("__dict__", "items")


class SlotsAlone:
    __slots__ = ("items",)


class Below(Plain):
    __slots__ = ("items",)


class WithoutRoom(Plain):
    __slots__ = ()


@dataclasses.dataclass
class Record:
    items: list
    kind: ClassVar = 3


Pair = namedtuple("Pair", "items other")


@pytest.mark.parametrize("kind", [Plain, SlotsAndMore, SlotsAlone, Below, WithoutRoom])
def test_all_parts_of_an_object_are_found(kind):
    x = kind.__new__(kind)
    x.items = [1.0]
    assert parts(x) == {"items": [1.0]}
    if hasattr(x, "__dict__"):
        x.more = 2.0
        assert parts(x) == {"items": [1.0], "more": 2.0}


def test_parts_that_are_not_the_attributes():
    assert parts(Record([1.0])) == {"items": [1.0]}
    assert parts(Pair([1.0], 2.0)) == {"items": [1.0], "other": 2.0}
    x = Record([1.0])
    x.more = 2.0
    assert parts(x) == {"items": [1.0]}


@pytest.mark.parametrize("kind", [Plain, SlotsAndMore, SlotsAlone, Below])
def test_a_list_is_found_wherever_an_object_holds_it(kind):
    outer = heap.enter()
    try:
        x = kind.__new__(kind)
        x.items = heap.own([1.0], True)
        where = outline(x)
        assert where is not None and where[1]["items"][0] is x.items
    finally:
        heap.leave(outer)


def test_a_class_that_is_made_a_dataclass_has_the_fields_for_parts():
    class Late:
        items: list

    x = Late()
    x.items, x.more = [1.0], 2.0
    assert parts(x) == {"items": [1.0], "more": 2.0}
    dataclasses.dataclass(Late)
    assert parts(x) == {"items": [1.0]}


# -- forward mode, second order ------------------------------------------------------------------------------


class Weight:
    def __init__(self, a, below=None):
        self.a, self.below = a, below

    def total(self, k=1.0):
        return k * self.a**2 + (0.0 if self.below is None else self.below.total(self.a))


def weighed(x):
    weight = None
    for k in range(1, 4):
        weight = Weight(k * x, weight)
    weight.a = weight.a * x
    return weight.total(x)


def test_objects_at_every_order():
    warmed(weighed)
    step = 1e-4
    second = (weighed(1.5 + step) - 2 * weighed(1.5) + weighed(1.5 - step)) / step**2
    assert rl.hessian(weighed, 1.5) == pytest.approx(second, rel=1e-5)
    by_forward = rl.pushforward(lambda x: rl.pushforward(weighed, x)(1.0), 1.5)(1.0)
    by_both = rl.gradient(lambda x: rl.pushforward(weighed, x)(1.0), 1.5)[0]
    assert by_forward == pytest.approx(second, rel=1e-5)
    assert by_both == pytest.approx(second, rel=1e-5)


# -- functions with **words, and methods with super() --------------------------------------------------------


def kept_in_words(a, b=2.0, **words):
    words["a"] = a * b
    words["b"] = a * words["a"]
    return words


def test_words_that_a_function_fills():
    def program(x):
        first, other = kept_in_words(x), kept_in_words(x * x, x)
        first["a"] = first["a"] * x
        return first["a"] * first["b"] + other["a"] + other["b"]

    of = functools.partial(slope, program, forward=False)  # which refuses what varies in a constant dict
    before = [of() for _ in range(4)][0]
    kept_in_words.__defaults__ = (3.0,)
    try:
        assert of() != before
    finally:
        kept_in_words.__defaults__ = (2.0,)
    assert of() == before


def test_words_that_hold_what_is_given():
    def found(items, k=1.0, /, **words):
        items.append(k * items[0])
        return items

    def program(x):
        items = [x]
        for k in range(3):
            found(items, x + k)
        return sum(items) + len(found(items, k=x, a=x))

    warmed(program)


def test_methods_that_ask_those_of_a_base():
    class Base:
        def __init__(self, a):
            self.a = a

        def at(self, y):
            return self.a * y

    class Line(Base):
        def __init__(self, a):
            super().__init__(a * a)

        def at(self, y):
            return super().at(y) * y

    def program(x):
        return sum([Line(x).at(x + k) for k in range(3)])

    warmed(program)
    before = slope(program)
    Base.at = lambda self, y: self.a + y
    assert slope(program) != before
    Base.__init__ = lambda self, a: setattr(self, "a", 3.0 * a)
    slope(program)


class Counted:
    """Compares by a method that changes a list, which no derivative follows."""

    def __init__(self, a, log):
        self.a, self.log = a, log

    def __lt__(self, other):
        self.log.append(self.a)
        return self.a < other.a


def test_rows_put_in_order_by_an_item():
    def program(x):
        rows = [("b", x), ("a", x * x), ("c", 0.5)]
        first = sorted(rows, key=operator.itemgetter(1))[0]
        pairs = sorted({"u": x, "v": 2.0}.items(), key=operator.itemgetter(1), reverse=True)
        return first[1] * x + pairs[0][1]

    warmed(program)

    def unseen(x):
        log = [x]
        rows = [(k, Counted(k * x, log)) for k in (2, 1)]
        return sorted(rows, key=operator.itemgetter(1))[0][1].a * log[-1]

    for _ in range(3):
        with pytest.raises(rl.MutationError):
            rl.gradient(unseen, 1.5)


@functools.singledispatch
def size(shape, k):
    return shape * k


@size.register
def _(shape: list, k):
    return shape[0] * shape[1] * k


def test_another_function_for_a_class():
    def program(x):
        return size(x, x) + size([x, 2.0], x) + size((x, x), 2) * x + size(2, 3.0)

    def of_tuple(shape, k):
        return shape[0] ** k

    with pytest.raises(TypeError):
        rl.gradient(program, 1.5)
    size.register(tuple, of_tuple)
    warmed(program)
    before = slope(program)
    size.register(list, lambda shape, k: shape[0] + k * k)
    assert slope(program) != before

    def size_rule(shape, k):
        return 2.0, lambda bar: (rl.NoTangent(), rl.NoTangent(), 500.0 * bar)

    rl.rrule_for(size)(size_rule)
    assert rl.gradient(program, 1.5)[0] > 100.0
    assert rl.pushforward(program, 1.5)(1.0) > 100.0
    rl.remove_rule(size)
    slope(program)
