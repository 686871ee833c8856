"""Gradients of what is in objects and NamedTuples, by a pass that takes their attributes one by one."""

import gc
import weakref
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import DEFAULT, Cache
from rulelab.compiler.calls.opened import Way
from rulelab.errors import RuleLabError

pytestmark = pytest.mark.usefixtures("as_users_run_it")

V = np.array([0.5, -1.0, 2.0])
X = np.arange(6.0).reshape(2, 3) / 5


@dataclass
class Layer:
    W: np.ndarray
    b: float = 0.25


class Pair(NamedTuple):
    W: np.ndarray
    b: float


class Model:
    rate = 0.5

    def __init__(self, W, b, name="model"):
        self.W = W
        self.b = b
        self.name = name
        self.layer = Layer(2 * W, 1.5)

    @property
    def slope(self):
        return self.W * 2

    def loss(self, v, k=2.0):
        return np.sum((self.W * v + self.b) ** 2) * k

    def counted(self, v):
        self.count = 1
        return np.sum(self.W * v)


def of_fields(p, v):
    return np.sum(np.tanh(p.W * v) ** 2) * p.b


def of_nested(m, v):
    return np.sum(m.layer.W * m.W * v) + m.layer.b * m.b


def unpacked(p, v):
    W, b = p
    return np.sum(W * v) * b + p[1] ** 2 + len(p)


def in_a_list(ps, v):
    total = 0.0
    for p in ps:
        total = total + np.sum(np.tanh(p.W * v)) * p.b
    return total


def in_a_dict(d, v):
    return np.sum(d["first"].W * v) * d["second"].b


def is_opened(f):
    held = DEFAULT.memory.ways.get(id(f.__code__))
    return held is not None and any(type(way) is Way for way in held.by_key.values())


def shown(x):
    """A gradient as text, with all digits: objects have no equality of their own."""
    with np.printoptions(precision=17):
        if hasattr(x, "_asdict"):
            return f"{type(x).__name__}({ {key: shown(part) for key, part in x._asdict().items()} })"
        return f"{type(x).__name__} {list(map(shown, x))}" if isinstance(x, (tuple, list)) else repr(x)


CASES = {
    "dataclass": (of_fields, (Layer(V, 0.7), V)),
    "dataclass with a default": (of_fields, (Layer(V), V)),
    "NamedTuple": (of_fields, (Pair(V, 0.7), V)),
    "object": (of_fields, (Model(V, 0.7), V)),
    "object in an object": (of_nested, (Model(V, 0.7), V)),
    "NamedTuple by position": (unpacked, (Pair(V, 0.7), V)),
    "objects in a list": (in_a_list, ([Layer(V, 0.7), Layer(2 * V, 0.1)], V)),
    "objects of two classes in a list": (in_a_list, ([Layer(V, 0.7), Pair(2 * V, 0.1)], V)),
    "objects in a dict": (in_a_dict, ({"first": Layer(V, 0.7), "second": Layer(2 * V, 0.1)}, V)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_gives_what_the_sweeps_on_objects_give(name):
    f, args = CASES[name]
    wanted = rl.gradient(f, *args, cache=Cache())
    for _ in range(4):
        assert shown(rl.gradient(f, *args)) == shown(wanted)
        assert shown(rl.gradient(f, *args, argnums=0)) == shown(wanted[:1])
        assert shown(rl.withgradient(f, *args).grad) == shown(wanted)
    assert is_opened(f)


def test_the_derivatives_are_those_of_differences():
    def at(W, b):
        return of_nested(Model(W, b), V)

    for _ in range(3):
        found = rl.gradient(of_nested, Model(V, 0.7), V)[0]
    eps = 1e-6
    assert found.b == pytest.approx((at(V, 0.7 + eps) - at(V, 0.7 - eps)) / (2 * eps))
    # The layer has an array of its own, which the constructor made from W.
    np.testing.assert_allclose(found.W, 2 * V * V)
    np.testing.assert_allclose(found.layer.W, V * V)
    assert found.name is None and found.layer.b == pytest.approx(0.7)


@pytest.mark.parametrize("others", ["numbers", "whole numbers", "another class", "one attribute more"])
def test_other_contents_have_a_pass_of_their_own(others):
    def f(p, v):
        return np.sum(p.W * v * p.b)

    for _ in range(4):
        rl.gradient(f, Layer(V, 0.7), V)
    layer = Layer(V, 0.7)
    if others == "numbers":
        layer = Layer(3.0, 0.7)
    elif others == "whole numbers":
        layer = Layer(np.array([1, 2, 3]), 2)
    elif others == "another class":
        layer = Model(V, 0.7)
    else:
        layer.more = V
    wanted = shown(rl.gradient(f, layer, V, cache=Cache()))
    for _ in range(4):
        assert shown(rl.gradient(f, layer, V)) == wanted


def answer(f, *args, **options):
    """The gradient as text, or the name of the error."""
    try:
        return shown(rl.gradient(f, *args, **options))
    except RuleLabError as error:
        return type(error).__name__


def with_property(cls):
    cls.W = property(lambda self: 10 * self.__dict__["W"])


def with_getattribute(cls):
    def getattribute(self, name):
        found = object.__getattribute__(self, name)
        return 10 * found if name == "W" else found

    cls.__getattribute__ = getattribute


@pytest.mark.parametrize("change", [with_property, with_getattribute])
def test_a_class_that_is_changed_is_asked_again(change):
    @dataclass
    class Own:
        W: np.ndarray
        b: float

    def f(p, v):
        return np.sum(p.W * v) * p.b

    own = Own(V, 2.0)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, own, V)[1], 2 * V)
    change(Own)
    assert f(own, V) == pytest.approx(20 * np.sum(V * V))
    wanted = answer(f, own, V, cache=Cache())
    assert [answer(f, own, V) for _ in range(4)] == [wanted] * 4


class Slotted:
    __slots__ = ("W", "b")

    def __init__(self, W, b):
        self.W, self.b = W, b


class Computed(Model):
    def __getattr__(self, name):
        if name == "missing":
            return 3.0
        raise AttributeError(name)


class Indexed(Model):
    def __getitem__(self, key):
        return 5 * getattr(self, key)


class Shifted(NamedTuple):
    W: np.ndarray
    b: float

    def __getitem__(self, key):
        return 100.0 + tuple.__getitem__(self, key)


def of_property(m, v):
    return np.sum(m.slope * v) * m.rate


def of_missing(m, v):
    return np.sum(m.W * v) * m.missing


def of_item(m, v):
    return np.sum(m["W"] * v) * m.b


def written(m, v):
    m.b = m.b * 2
    return np.sum(m.W * v) * m.b


def by_method(m, v):
    return m.loss(v)


def by_position(p, v):
    return np.sum(p[0] * v) * p.b


def is_the_same(m, v, other=None):
    return np.sum(m.W * v) * (2.0 if m.layer is m.layer else 3.0)


@pytest.mark.parametrize(
    "f, kind",
    [
        (of_fields, Slotted),
        (of_property, Model),
        (of_missing, Computed),
        (of_item, Indexed),
        (written, Model),
        (by_method, Model),
        (by_position, Shifted),
        (is_the_same, Model),
    ],
    ids=lambda x: x.__name__,
)
def test_what_does_more_than_read_goes_its_way(f, kind):
    """With the same gradient, or refused as before; what it writes is written once."""
    wanted = answer(f, kind(V, 0.7), V, cache=Cache())
    for _ in range(4):
        p = kind(V, 0.7)
        assert answer(f, p, V) == wanted
        assert p.b == (1.4 if f is written else 0.7)


def test_a_method_has_a_gradient_for_its_arguments():
    m = Model(V, 0.7)
    for _ in range(4):
        (of_v,) = rl.gradient(m.loss, V)
        np.testing.assert_allclose(of_v, 4 * (V * V + 0.7) * V)
        of_v, of_k = rl.gradient(m.loss, V, 3.0)
        np.testing.assert_allclose(of_v, 6 * (V * V + 0.7) * V)
        assert of_k == pytest.approx(np.sum((V * V + 0.7) ** 2))
        np.testing.assert_allclose(rl.gradient(m.counted, V)[0], V)
    m.b = 1.7
    np.testing.assert_allclose(rl.gradient(m.loss, V)[0], 4 * (V * V + 1.7) * V)
    assert is_opened(Model.loss)


class Net:
    """Objects in an object, whose methods call each other's."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def __call__(self, v):
        return self.last(self.first(v))

    def penalty(self, k=0.1):
        return k * (self.first.size() + self.last.size())


class Dense:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def __call__(self, v):
        return np.tanh(self.W @ v + self.b)

    def size(self):
        return np.sum(self.W**2)


NET = Net(Dense(np.arange(9.0).reshape(3, 3) / 10, V), Dense(X, V[:2]))


def of_net(net, v):
    return np.sum(net(v) ** 2) + net.penalty() + net.penalty(k=2.0)


def same_by_hand(first_W, first_b, last_W, last_b, v):
    h = np.tanh(first_W @ v + first_b)
    y = np.tanh(last_W @ h + last_b)
    return np.sum(y**2) + 2.1 * (np.sum(first_W**2) + np.sum(last_W**2))


def test_methods_of_objects_stand_in_place_of_their_calls():
    wanted = rl.gradient(same_by_hand, NET.first.W, NET.first.b, NET.last.W, NET.last.b, V)
    for _ in range(5):
        net, of_v = rl.gradient(of_net, NET, V)
        found = (net.first.W, net.first.b, net.last.W, net.last.b, of_v)
        for one, other in zip(found, wanted):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    assert is_opened(of_net)


def test_another_method_counts():
    def f(net, v):
        return np.sum(net(v))

    class Other(Dense):
        def __call__(self, v):
            return 2 * super().__call__(v)

    def by_hand(net, v):
        return net.W.T @ (1 - np.tanh(net.W @ v + net.b) ** 2)

    layer, other = Dense(X, V[:2]), Other(X, V[:2])
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, layer, V)[1], by_hand(layer, V))
        np.testing.assert_allclose(rl.gradient(f, other, V)[1], 2 * by_hand(layer, V))
    before = Dense.__call__
    try:
        Dense.__call__ = lambda self, v: 3 * before(self, v)
        for _ in range(4):
            np.testing.assert_allclose(rl.gradient(f, layer, V)[1], 3 * by_hand(layer, V))
            np.testing.assert_allclose(rl.gradient(f, other, V)[1], 6 * by_hand(layer, V))
    finally:
        Dense.__call__ = before
    layer.size = lambda: 5.0  # one of its own, which is no method

    def sized(net, v):
        return net.size() * np.sum(net.W @ v)

    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(sized, layer, V)[1], 5 * X.sum(0))


def test_a_rule_for_a_method_counts_where_it_is_called():
    def f(net, v):
        return net.loss(v) * 2.0

    m = Model(V, 0.7)
    wanted = rl.gradient(f, m, V)[1]
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, m, V)[1], wanted)

    @rl.rrule_for(Model.loss)
    def loss_rrule(self, v, k=2.0):
        return self.loss(v, k), lambda y_bar: (rl.NoTangent(),) * 2 + (y_bar * np.full(3, 7.0), 0.0)

    try:
        for _ in range(3):
            np.testing.assert_allclose(rl.gradient(f, m, V)[1], [14.0] * 3)
    finally:
        rl.remove_rule(Model.loss)
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, m, V)[1], wanted)


def test_when_its_rule_is_removed_a_function_goes_the_quick_way_again():
    def f(p, v):
        return np.sum(p.W * v) * p.b

    @rl.rrule_for(f)
    def f_rrule(p, v):
        return f(p, v), lambda y_bar: (rl.NoTangent(), rl.NoTangent(), np.full(3, 7.0))

    p = Layer(V, 0.7)
    assert rl.gradient(f, p, V)[1].tolist() == [7.0] * 3 and not is_opened(f)
    rl.remove_rule(f)
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, p, V)[1], 0.7 * V)
    assert is_opened(f)


def test_a_rule_for_a_method_counts():
    class Ruled:
        def __init__(self, k):
            self.k = k

        def loss(self, v):
            return self.k * np.sum(v)

    m = Ruled(2.0)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(m.loss, V)[0], [2.0] * 3)

    @rl.rrule_for(Ruled.loss)
    def loss_rrule(self, v):
        return self.loss(v), lambda y_bar: (rl.NoTangent(), rl.NoTangent(), y_bar * np.full(3, 7.0))

    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(m.loss, V)[0], [7.0] * 3)
    rl.remove_rule(Ruled.loss)
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(m.loss, V)[0], [2.0] * 3)


def test_neither_object_nor_class_is_kept():
    """By what is remembered of the text of a function, which others have, too."""

    def make():
        return lambda p: np.sum(p.W**2) * p.b

    @dataclass
    class Own:
        W: np.ndarray
        b: float = field(default=2.0)

    own = Own(V.copy())
    for _ in range(4):
        rl.gradient(make(), own)
    assert is_opened(make())
    of_object, of_class = weakref.ref(own), weakref.ref(Own)
    del own, Own
    gc.collect()
    assert of_object() is None and of_class() is None
