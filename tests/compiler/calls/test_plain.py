"""Calls without a derivative are looked up once, and notice whatever changes what they mean."""

import random
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
