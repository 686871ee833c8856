"""Calls without a derivative are looked up once, and notice whatever changes what they mean."""

import collections
import functools
import random
import sys
import threading
import unicodedata
import zlib

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import borrowed, plain, pullbacks
from rulelab.compiler.memory import heap

pytestmark = pytest.mark.usefixtures("as_users_run_it")
X = np.array([1.0, -2.0, 3.0])


class Scale:
    """An object that counts how often it was asked."""

    def __init__(self, by):
        self.by = by
        self.asked = 0

    def factor(self, power=1, *, shift=0.0):
        self.asked += 1
        return self.by**power + shift


class Doubled(Scale):
    """One that answers otherwise."""

    def factor(self, power=1, *, shift=0.0):
        self.asked += 1
        return 2 * self.by**power + shift


def chosen(k):
    return 2.0 if k > 1 else 5.0


def by_constants(x, scale):
    return np.sum(x * x) * scale.factor() * chosen(3) + scale.factor(2, shift=1.0)


def asked_of(f, *args):
    """How many passes are looked for by signature in a gradient that has been taken before."""
    counted = []
    before = pullbacks.Pullbacks.pass_of

    def counting(self, *asked, **words):
        counted.append(asked[0])
        return before(self, *asked, **words)

    rl.gradient(f, *args)
    rl.gradient(f, *args)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pullbacks.Pullbacks, "pass_of", counting)
        rl.gradient(f, *args)
    return counted


def looped(x):
    total = 0.0
    for k in range(4):
        total += x * chosen(k)
    return total


def test_the_pass_is_not_looked_for_again():
    """A function of constants, and a constructor and a method of constants, are at hand the second time."""
    assert asked_of(looped, 2.0) == []
    assert rl.gradient(looped, 2.0) == (14.0,)


def made_inside(x):
    scale = Scale(3.0)
    return x * scale.factor() * scale.factor(2)


def test_methods_of_what_is_made_inside():
    """The object is a new one each time, with what its constructor gave it."""
    for _ in range(3):
        assert rl.gradient(made_inside, 2.0) == (27.0,)


def test_each_object_answers_for_itself():
    """Objects of several classes, in turns: what was found for one class answers for no other."""
    for scale in (Scale(3.0), Doubled(3.0), Scale(0.5), Doubled(2.0)) * 2:
        wanted = 2 * X * scale.factor() * 2.0
        asked = scale.asked
        np.testing.assert_allclose(rl.gradient(by_constants, X, scale)[0], wanted)
        assert scale.asked >= asked + 2


def test_another_function_by_the_same_name_counts(monkeypatch):
    """A global and a method that are defined again."""
    assert rl.gradient(looped, 2.0) == (14.0,)
    monkeypatch.setitem(globals(), "chosen", lambda k: 1.0 + k)
    assert rl.gradient(looped, 2.0) == (10.0,)
    monkeypatch.undo()
    assert rl.gradient(looped, 2.0) == (14.0,)
    assert rl.gradient(made_inside, 2.0) == (27.0,)
    monkeypatch.setattr(Scale, "factor", lambda self, power=1: 10.0)
    assert rl.gradient(made_inside, 2.0) == (100.0,)


def test_another_default_counts(monkeypatch):
    """A default that was changed is the one that is taken."""
    assert [rl.gradient(made_inside, 2.0) for _ in range(2)] == [(27.0,)] * 2
    monkeypatch.setattr(Scale.factor, "__defaults__", (3,))
    assert rl.gradient(made_inside, 2.0) == (27.0 * 9.0,)


class Point:
    """An object whose attributes are stored, made by code, or asked of `__getattr__`."""

    __match_args__ = ("x", "y")
    z = 5.0

    def __init__(self, x):
        self.x = x
        self.asked = []

    @property
    def y(self):
        return 10.0 * self.x

    def __getattr__(self, name):
        if name == "w":
            return 100.0 * self.x
        raise AttributeError(name)


def matched(t, point):
    match point:
        case Point(1.0, y):
            return t * y
        case Point(x, y=20.0, z=z, w=w):
            return t * x * z * w
    return t * getattr(point, "x", 0.0) * getattr(point, "nothing", 7.0)


def test_attributes_of_constants():
    """What is stored, computed, of the class, or asked for is what Python gives, in each order."""
    for x in (1.0, 2.0, 3.0, 1.0, 2.0):
        point = Point(x)
        assert rl.gradient(matched, 2.0, point)[0] == matched(1.0, point)
    point.__dict__["y"] = 20.0  # a property goes first
    assert rl.gradient(matched, 2.0, point)[0] == matched(1.0, point)
    point.z = 4.0
    assert rl.gradient(matched, 2.0, point)[0] == matched(1.0, point) == 2.0 * 4.0 * 200.0


def printed(k):
    print(k)
    return float(k)


def with_effect(x):
    return x * printed(2) + printed(3)


def test_effects_happen_at_each_call(capsys):
    """What a function of constants does besides computing happens once in each gradient."""
    rl.gradient(with_effect, 3.0)  # which compares the value with that of the function
    for _ in range(3):
        capsys.readouterr()
        rl.gradient(with_effect, 3.0)
        assert capsys.readouterr().out == "2\n3\n"


TABLE = {"x": np.ones(3)}


def written(k):
    TABLE["x"][0] = k
    return TABLE["x"].sum()


def that_writes(x):
    return np.sum(x * TABLE["x"]) * written(2.0)


def test_writes_are_still_refused():
    """A write to an array that the sweep has read is refused before it happens, the second time as well."""
    for _ in range(3):
        with pytest.raises(rl.RuleLabError):
            rl.gradient(that_writes, X)
    assert TABLE["x"][0] == 1.0


def constant_of(k):
    return k * 2.0


def with_rule(x):
    return x * x * constant_of(3.0)


def test_a_rule_counts_from_the_moment_it_is_there():
    """A rule for a function of constants is asked from then on, and says what it gives."""
    assert [rl.gradient(with_rule, 2.0) for _ in range(2)] == [(24.0,)] * 2

    @rl.rrule_for(constant_of)
    def constant_of_rrule(k):
        return k * 5.0, lambda y_bar: (rl.NoTangent(), 5.0 * y_bar)

    assert rl.withgradient(lambda k: constant_of(k), 3.0) == (15.0, (5.0,))


def powered(x, k):
    return x**k


def test_a_derivative_as_a_function_of_constants():
    """A function that another one stands for is given what that takes, by name and by position."""
    slope = rl.grad(powered)

    def f(x):
        return x * slope(3.0, 2) + x * slope(3.0, k=2) + x * rl.grad(powered, (0,))(2.0, 3)[0]

    for _ in range(3):
        assert rl.gradient(f, 5.0) == (24.0,)
        assert rl.pushforward(f, 5.0)(1.0) == 24.0


# --- calls of C code ----------------------------------------------------------------------------------------


@pytest.fixture
def looks(monkeypatch):
    """The functions of C that are looked at the slow way."""
    seen = []

    def looking(pullbacks, target, *rest):
        seen.append(target)
        return borrowed.look_at_call(pullbacks, target, *rest)

    monkeypatch.setattr(plain, "look_at_call", looking)
    return seen


def with_checksum(x, text):
    return x * zlib.crc32(text) + x * unicodedata.numeric("2")


def test_a_call_of_c_is_looked_at_once_for_kinds_of_values(looks):
    """The second gradient asks nothing about what is given a text; bytes are looked at each time."""
    assert rl.gradient(with_checksum, 2.0, b"a b")[0] == zlib.crc32(b"a b") + 2
    looks.clear()
    assert rl.gradient(with_checksum, 2.0, b"a b")[0] == zlib.crc32(b"a b") + 2
    assert unicodedata.numeric not in looks
    assert zlib.crc32 in looks


def test_another_kind_of_argument_is_another_call(looks):
    """A generator that is given nothing is looked at once; one that is given an array to fill is refused."""
    rng = np.random.default_rng(3)
    read = np.ones(3)

    def filling(x, given):
        y = x * read
        rng.random(*given)
        return np.sum(y * x)

    for _ in range(2):
        assert rl.gradient(filling, 2.0, ())[0] == 12.0
    for _ in range(2):
        with pytest.raises(rl.MutationError):
            rl.gradient(filling, 2.0, (None, np.float64, read))
    assert np.all(read == 1.0)


def test_a_draw_is_noticed_at_each_call():
    """A call that is not looked at again still tells that it draws: nothing draws twice."""
    rng, same = random.Random(5), random.Random(5)
    f = lambda x: x * rng.random()
    found = [rl.gradient(f, 1.0)[0] for _ in range(4)]
    assert found == [same.random() for _ in range(4)]


def test_another_function_by_that_name_is_looked_at(monkeypatch, looks):
    f = lambda x: x * unicodedata.numeric("2")
    assert [rl.gradient(f, 1.0) for _ in range(2)] == [(2.0,)] * 2
    monkeypatch.setattr(unicodedata, "numeric", unicodedata.combining)
    assert [rl.gradient(f, 1.0) for _ in range(2)] == [(0.0,)] * 2
    assert unicodedata.combining in looks


def test_a_rule_for_it_counts_from_the_next_call_on():
    """That of the user's is asked, also where no derivative flows through the call."""

    def f(x):
        return x * unicodedata.combining("2") + 12.0 * x

    assert [rl.gradient(f, 1.0) for _ in range(2)] == [(12.0,)] * 2
    asked = []
    before = plain._looked_at

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "_looked_at", lambda *given: (asked.append(before(*given)), asked[-1])[1])

        @rl.rrule_for(unicodedata.combining)
        def combining_rrule(text):
            return 1, lambda y_bar: (rl.NoTangent(), rl.NoTangent())

        try:
            assert rl.gradient(f, 1.0) == (12.0,)
        finally:
            rl.remove_rule(unicodedata.combining)
    assert not any(asked)


def test_while_the_pullback_of_a_rule_waits_each_call_is_looked_at(monkeypatch, looks):
    """What that will read may be changed by any code."""
    f = lambda x: x * unicodedata.numeric("4")
    assert [rl.gradient(f, 1.0) for _ in range(2)] == [(4.0,)] * 2
    looks.clear()
    monkeypatch.setattr(heap, "asked_again", lambda: [(1, lambda y_bar: None)])
    assert rl.gradient(f, 1.0) == (4.0,)
    assert unicodedata.numeric in looks


# --- calls of a library's objects ---------------------------------------------------------------------------

LOCK = threading.Lock()


def under_a_lock(x):
    with LOCK:
        return x * x


def under_errstate(x):
    with np.errstate(divide="ignore", over="raise"):
        inside = np.geterr()
    return x * x * (inside["divide"] == "ignore") * (inside["over"] == "raise")


@pytest.mark.parametrize("f", [under_a_lock, lambda x: x * x * (not LOCK.locked())])
def test_a_method_of_a_library_s_object_is_looked_at_once(looks, f):
    """Its class says all that matters."""
    assert [rl.gradient(f, 3.0)[0] for _ in range(2)] == [6.0] * 2
    looks.clear()
    assert rl.gradient(f, 3.0)[0] == 6.0 and not looks and not LOCK.locked()


def test_what_a_lock_does_happens_at_each_call():
    """It is held while the body runs, released after an error, and an error of its own is Python's."""

    def f(x, fails):
        with LOCK:
            if fails:
                raise KeyError("no")
            return x * x * (1 + LOCK.locked())

    for fails in (False, True, False, True):
        if fails:
            with pytest.raises(KeyError):
                rl.gradient(f, 2.0, fails, argnums=0)
        else:
            assert rl.gradient(f, 2.0, fails, argnums=0)[0] == 8.0
        assert not LOCK.locked()
    for _ in range(3):
        with pytest.raises(RuntimeError, match="release unlocked lock"):
            rl.gradient(lambda x: (LOCK.release(), x * x)[1], 2.0)


def test_errstate_holds_only_inside():
    """With the words it is given, at each call; afterwards all is as before."""
    before = np.geterr()
    for _ in range(3):
        with np.errstate(divide="warn", over="ignore"):
            assert rl.gradient(under_errstate, 3.0)[0] == 6.0
            assert np.geterr() == before | {"divide": "warn", "over": "ignore"}
    assert np.geterr() == before
    for _ in range(2):
        with pytest.raises(ValueError, match="sometimes"):
            rl.gradient(lambda x: (np.errstate(over="sometimes").__enter__(), x * x)[1], 3.0)


class Holder:
    """An object of the author's, with a method that counts."""

    def __init__(self):
        self.count = 0

    def __call__(self, *_):
        self.count += 1
        return 2.0


@pytest.mark.parametrize("kind", [Holder, lambda: functools.partial(Holder()), lambda: [Holder()]])
def test_what_may_hold_the_author_s_is_looked_at_each_time(looks, kind):
    """An object that is called, that holds one, or that was given items."""
    given = kind()
    f = lambda x: x * sys.getsizeof(given) ** 0 * x
    assert [rl.gradient(f, 3.0)[0] for _ in range(3)] == [6.0] * 3
    looks.clear()
    assert rl.gradient(f, 3.0)[0] == 6.0
    assert sys.getsizeof in looks


def test_a_rule_for_a_library_s_function_counts_from_the_next_call_on():
    asked = []

    def f(x):
        with LOCK:
            return x * x

    assert [rl.gradient(f, 3.0)[0] for _ in range(3)] == [6.0] * 3

    @rl.rrule_for(type(LOCK).__enter__)
    def enter_rrule(lock):
        asked.append(lock)
        return lock.acquire(), lambda y_bar: (rl.NoTangent(), rl.NoTangent())

    try:
        assert rl.gradient(f, 3.0)[0] == 6.0
    finally:
        rl.remove_rule(type(LOCK).__enter__)
    assert not LOCK.locked()


# --- objects made of constants ------------------------------------------------------------------------------


class Pair:
    def __init__(self, first, second=2.0):
        self.first = first
        self.second = second
        self.more = []


def of_a_pair(x, cls):
    pair = cls(3.0)
    pair.more.append(pair.second)
    return x * pair.first * pair.more[0]


def test_a_constructor_that_keeps_its_arguments_runs_as_it_is():
    """No pass is made of it; a class that is changed between two calls does what it does then."""

    class Changing(Pair):
        pass

    assert not asked_of(of_a_pair, 2.0, Pair) or rl.gradient(of_a_pair, 2.0, Pair, argnums=0)[0] == 6.0
    wanted = rl.gradient(of_a_pair, 2.0, Changing, argnums=0)[0]
    assert wanted == 6.0
    Changing.__setattr__ = lambda self, name, value: object.__setattr__(self, name, value * 2)
    assert [rl.gradient(of_a_pair, 2.0, Changing, argnums=0)[0] for _ in range(2)] == [24.0] * 2
    del Changing.__setattr__

    def other(self, first):
        self.first, self.second, self.more = 2 * first, 1.0, []

    Changing.__init__ = other
    assert [rl.gradient(of_a_pair, 2.0, Changing, argnums=0)[0] for _ in range(2)] == [6.0] * 2
    Changing.first = property(lambda self: 5.0, lambda self, value: None)
    assert [rl.gradient(of_a_pair, 2.0, Changing, argnums=0)[0] for _ in range(2)] == [5.0] * 2
    for _ in range(2):
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            rl.gradient(lambda x: x * Pair().first, 2.0)


def test_what_is_put_into_an_object_of_constants_is_still_refused():
    """A value that varies may not be put where nothing records it."""

    def f(x):
        pair = Pair(1.0)
        pair.first = x * x
        pair.more.append(x)
        return pair.first * pair.more[0]

    for _ in range(3):
        assert rl.gradient(f, 2.0)[0] == pytest.approx(12.0)


# --- views of dicts -----------------------------------------------------------------------------------------


def of_items(x, kind):
    d = kind()
    d["a"] = x
    d["b"] = x * x
    total = 0.0
    for key, v in d.items():
        total = total + v * len(key)
    return total + sum(d.values()) * len(list(d.keys()))


class Doubling(dict):
    def items(self):
        return [(key, 2.0 * v) for key, v in super().items()]


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, collections.Counter, Doubling])
def test_views_of_dicts(kind):
    """In whatever order the classes come to one site, each answers for itself."""
    slope = 15.0 + 5.0 * (kind is Doubling)
    for _ in range(2):
        assert rl.gradient(of_items, 2.0, kind, argnums=0)[0] == slope
        assert rl.gradient(of_items, 2.0, dict, argnums=0)[0] == 15.0
    assert rl.pushforward(lambda x: of_items(x, kind), 2.0)(1.0) == slope


def test_a_view_that_an_object_has_itself():
    """An attribute of that name goes first, at a site that has met the method."""

    def f(x, own):
        d = collections.OrderedDict(a=x)
        if own:
            d.values = lambda: [3.0 * x]
        return sum(d.values())

    for own in (False, True, False, True):
        assert rl.gradient(f, 2.0, own, argnums=0)[0] == (3.0 if own else 1.0)


def of_both(x, given):
    made = {"a": x}
    made["b"] = x * x
    total = 0.0
    for d in (made, given, made):
        for _, v in d.items():
            total = total + v * x
        total = total + sum(d.values())
    made["b"] = 3.0 * x
    return total + sum(made.values())


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, collections.Counter])
def test_one_site_for_what_is_made_and_what_is_given(kind):
    """The views of a dict that is made and changed here, and of one that is an argument."""
    for _ in range(3):
        slope, of_given = rl.gradient(of_both, 1.5, kind({"a": 2.0, "c": 3.0}))
        assert slope == pytest.approx(36.5) and dict(of_given) == {"a": 2.5, "c": 2.5}
