"""An `__init__` that only keeps its arguments runs as it is: beside differences, beside its own pass, and
only as long as the class, its attributes and the rules say nothing else.
"""

import gc
import weakref

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import filling

from ..agreeing import check_second_derivative, check_slope

X = 0.8


class Node:
    """A value, and what comes after it."""

    def __init__(self, value, rest=None):
        self.value = value
        self.rest = rest


class Pair:
    scale = 2.0

    def __init__(self, a, b: float = 3.0):
        "Two numbers at once."
        self.a, self.b = a, b
        self.scale = 1.5

    def __add__(self, other):
        return Pair(self.a + other.a, b=self.b * other.b)


class Log:
    def __init__(self, start):
        self.entries: list = []
        self.by_name = {}
        self.again = start
        self.start = start
        pass

    def add(self, x):
        self.entries.append(x)
        self.by_name[f"{len(self.entries)}"] = x * self.start
        return self


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


class Derived(Pair):
    pass


class Twice:
    def __init__(self, a, b):
        self.a = a
        self.a = b


def linked(x):
    head = None
    for k in range(4):
        head = Node(x**k, head)
    found = 0.0
    while head is not None:
        found = found * x + head.value
        head = head.rest
    return found


def planted(x, depth):
    tree = Node(x)
    if depth:
        tree.rest = (planted(x * 0.5, depth - 1), planted(x * x, depth - 1))
    return tree


def harvest(tree):
    if tree.rest is None:
        return tree.value**2
    left, right = tree.rest
    return tree.value * harvest(left) + harvest(right)


def a_tree(x):
    return harvest(planted(x, 3))


def pairs(x):
    one = Pair(x)
    for k in range(3):
        one = one + Pair(b=x, a=k * x)
    return one.a * one.b + one.scale * x + Derived(x, x * x).b


def logs(x):
    log = Log(x)
    for k in range(3):
        log.add(k * x).add(x)
    other = Log(start=2.0)
    other.add(log.entries[2])
    return (
        sum(log.entries) * log.by_name["4"] + log.again * log.start + other.by_name["1"] * len(other.entries)
    )


def slotted(x):
    one = Slotted(x, 2.0)
    one.b = one.a * one.b
    return one.b * Slotted(b=x, a=1.0).b


def set_twice(x):
    return Twice(x, x * x).a * Twice(x, 3.0).a + x


def containers_kept(x):
    items, table, both = [x, x * x], {"a": x}, (x, [x, 2.0])
    one, other = Node(items, table), Node(both, items)
    items.append(3.0 * x)
    table["b"] = x
    other.value[1].append(x)
    found = one.value[2] * one.rest["b"] + other.rest[0] * other.value[0] + sum(other.value[1])
    return found + sum(one.value) * one.value[-1]


def shared(x):
    inner = Node(x)
    one, other = Node(inner), Node(inner, inner)
    one.value.value = one.value.value * x
    return other.value.value * other.rest.value


def of_arrays(x):
    one = Node(np.array([x, 2.0]), x)
    return float(np.sum(one.value * one.rest)) + one.value[0]


def set_later(x):
    one = Pair(x)
    one.a = one.a * x
    one.other = one.b * x
    del one.b
    return one.a + one.other


PROGRAMS = (linked, a_tree, pairs, logs, slotted, set_twice, containers_kept, shared, of_arrays, set_later)


@pytest.mark.parametrize("program", PROGRAMS)
def test_slopes(program):
    check_slope(program, X)


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives(program):
    check_second_derivative(program, X)


@pytest.mark.parametrize("program", PROGRAMS)
def test_beside_the_pass_of_the_init(program, monkeypatch):
    for _ in range(3):
        found = rl.withgradient(program, X)
    monkeypatch.setattr(filling.Filled, "stands", lambda self, pullbacks, made: False)
    value, (slope,) = rl.withgradient(program, X)
    assert found[0] == value and found[1][0] == pytest.approx(slope, rel=1e-13)


@pytest.fixture
def filled(monkeypatch):
    """The classes whose objects were filled so far."""
    found = []
    fill = filling.fill
    monkeypatch.setattr(
        "rulelab.compiler.calls.constructors.fill", lambda *xs, **w: (found.append(xs[0]), fill(*xs, **w))[1]
    )
    return found


@pytest.mark.parametrize("kind", [Node, Pair, Slotted, Derived, Twice])
def test_these_are_filled(kind, filled):
    def program(x):
        return sum([getattr(kind(x, x), name) * x for name in ("a", "value") if hasattr(kind(x, x), name)])

    for _ in range(3):
        rl.gradient(program, X)
    assert kind in filled


def computed(self, a):
    self.a = a * a


def with_a_local(self, a):
    b = a
    self.a = b


def of_another(self, a):
    other = self
    other.a = a


def with_rest(self, *a):
    self.a = a[0]


def with_a_keyword(self, a, *, b=2.0):
    self.a = a
    self.b = b


def with_full_list(self, a):
    self.a = a
    self.items = [a]


def reading(self, a):
    self.b = a
    self.a = self.b


def with_a_mutable_default(self, a, items=[1.0]):  # noqa: B006
    self.a = a
    self.items = items


def mangled(self, a):
    self.__a = a
    self.a = a


def with_a_dict_of_its_own(self, a):
    self.a = a
    self.__dict__ = {"a": 2.0 * a}


@pytest.mark.parametrize(
    "init",
    [computed, with_a_local, of_another, with_rest, with_a_keyword, with_full_list, reading]
    + [with_a_mutable_default, mangled, with_a_dict_of_its_own],
)
def test_these_are_not_filled(init, filled):
    kind = type("Made", (), {"__init__": init})

    def program(x):
        return kind(x).a * x

    for _ in range(3):
        try:
            check_slope(program, X)
        except rl.RuleLabError:
            pass
    assert kind not in filled


def test_attributes_are_not_set_as_a_dict():
    kind = type("Made", (), {"__init__": with_a_dict_of_its_own})

    def program(x):
        return kind(x).a * x

    for derivative in (lambda: rl.gradient(program, X), lambda: rl.pushforward(program, X)(1.0)):
        with pytest.raises(rl.NotDifferentiableError, match="as a dict"):
            derivative()


class Items(dict):
    def __init__(self, **words):
        super().__init__(**words)
        self.__dict__ = self


class Sharing:
    state: dict = {}  # noqa: RUF012

    def __init__(self, a):
        self.__dict__ = self.state
        self.a = a


def test_a_dict_that_replaces_no_attribute():
    def items(x):
        one = Items(a=x, b=2.0 * x)
        one.c = x * x
        one["a"] = one.a * x
        return one.a * one["b"] + one["c"] + one.b

    for program in (items, lambda x: Sharing(x).a * x):
        for _ in range(3):
            found = rl.gradient(program, X)[0]
            assert found == pytest.approx((program(X + 1e-6) - program(X - 1e-6)) / 2e-6, rel=1e-6)


# -- what is changed later -----------------------------------------------------------------------------------


def warmed():
    """A class that is filled, and a program that makes objects of it, once that is remembered."""

    class Line:
        def __init__(self, a, b=1.0):
            self.a = a
            self.b = b

    def program(x):
        found = 0.0
        for k in range(2):
            line = Line(x * x, k)
            found = found + line.a * line.b * x + Line(x).b
        return found

    for _ in range(3):
        check_slope(program, X)
    return Line, program


def doubled(self, a, b=1.0):
    self.a = 2.0 * a
    self.b = b


def exchanged(self, b, a=1.0):
    self.a = a
    self.b = b


def other_default(self, a, b=7.0):
    self.a = a
    self.b = b


@pytest.mark.parametrize("init", [doubled, exchanged, other_default])
def test_another_init(init):
    Line, program = warmed()
    Line.__init__ = init
    check_slope(program, X)


@pytest.mark.parametrize("init", [doubled, exchanged])
def test_other_code(init):
    Line, program = warmed()
    Line.__init__.__code__ = init.__code__
    check_slope(program, X)


def test_other_defaults():
    Line, program = warmed()
    Line.__init__.__defaults__ = (5.0,)
    check_slope(program, X)


def test_a_setattr_that_does_more():
    Line, program = warmed()

    def set_half(self, name, value):
        object.__setattr__(self, name, 0.5 * value)

    Line.__setattr__ = set_half
    check_slope(program, X)


def test_a_property_by_the_name():
    Line, program = warmed()

    def get(self):
        return self.kept * 3.0

    def put(self, value):
        self.kept = value * value

    Line.a = property(get, put)
    check_slope(program, X)


def test_a_descriptor_of_a_base():
    class Cubed:
        def __get__(self, owner, kind=None):
            return owner.kept

        def __set__(self, owner, value):
            owner.kept = value**3

    class Base:
        pass

    class Line(Base):
        def __init__(self, a):
            self.a = a

    def program(x):
        return Line(x).a * x

    for _ in range(3):
        check_slope(program, X)
    Base.a = Cubed()
    try:
        check_slope(program, X)
    except rl.RuleLabError:
        pass


def test_a_getattribute():
    Line, program = warmed()

    def read(self, name):
        found = object.__getattribute__(self, name)
        return 2.0 * found if name in ("a", "b") else found

    Line.__getattribute__ = read
    with pytest.raises(rl.NotDifferentiableError):
        rl.gradient(program, X)


def test_a_rule_for_the_init():
    Line, program = warmed()

    def rule(self, a, b=1.0):
        raise KeyError("the rule was asked")

    rl.rrule_for(Line.__init__)(rule)
    try:
        with pytest.raises(KeyError, match="the rule was asked"):
            rl.gradient(program, X)
    finally:
        rl.remove_rule(Line.__init__)
    check_slope(program, X)


def test_wrong_arguments_raise_pythons_error():
    Line, _ = warmed()

    def program(x):
        return Line(x).a * Line(x, x, x).a

    for f in (program, lambda x: rl.gradient(program, x)):
        with pytest.raises(TypeError, match="positional argument"):
            f(X)


def test_a_class_that_is_gone_is_not_kept():
    holder = {}

    def program(x):
        return holder["Line"](x).a * x

    class Line:
        def __init__(self, a):
            self.a = a

    holder["Line"] = Line
    for _ in range(3):
        check_slope(program, X)
    gone = weakref.ref(Line)
    del Line
    holder.clear()
    gc.collect()
    assert gone() is None


def test_a_cotangent_of_the_whole_object():
    """That of an object which a function with a rule was given goes to the arguments of the class."""

    def weigh(node):
        return node.value * node.rest

    def rule(node):
        def back(y_bar):
            return rl.NoTangent(), rl.Tangent(Node, value=y_bar * node.rest, rest=y_bar * node.value)

        return node.value * node.rest, back

    def program(x):
        return weigh(Node(x, x * x)) * x

    rl.rrule_for(weigh)(rule)
    try:
        for _ in range(3):
            assert rl.gradient(program, X)[0] == pytest.approx(4 * X**3)
    finally:
        rl.remove_rule(weigh)
