"""Arguments that the function changes: value, gradient and what it leaves behind are Python's, or it is
refused and all is as before.
"""

import copy
import functools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from corpus.structures import check, flattened  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.ad.agreement import agree  # noqa: E402
from rulelab.compiler.memory.heap import enter, leave  # noqa: E402
from rulelab.compiler.memory.lending import may_lend  # noqa: E402

PROGRAMS = []


def program(*args):
    """Put the decorated function into the table, to be differentiated at these arguments."""

    def register(f):
        PROGRAMS.append(pytest.param(f, args, id=f.__name__))
        return f

    return register


class Thing:
    registry: list = []

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def bump(self, k):
        self.a = self.a * k
        return self

    def step(self, x):
        self.b = self.b + 1
        self.a = self.a * x
        return self.a

    def __iadd__(self, k):
        self.a = self.a + k * self.b
        return self


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


@dataclass
class Model:
    w: Any
    calls: int = 0
    losses: list = field(default_factory=list)

    def loss(self, x):
        self.calls += 1
        self.losses.append(self.w * x)
        return self.losses[-1] ** 2

    __call__ = loss


@program(Thing(2.0, 3.0))
def attribute(o):
    o.a = o.a * 2
    return o.a + o.b


@program(Thing(2.0, 3.0))
def attributes_in_turn(o):
    o.a = o.a * o.b
    o.b = o.a * o.a
    return o.a * o.b


@program(Thing(2.0, 3.0))
def in_a_loop(o):
    for _ in range(4):
        o.a = o.a * o.b
    return o.a


@program(Thing(2.0, 3.0))
def deleted_and_made_again(o):
    del o.a
    o.a = o.b**2
    return o.a


@program(Thing(2.0, 3.0))
def by_setattr(o):
    setattr(o, "a", o.a * 3)  # noqa: B010 (the function is what is tested)
    return o.a * o.b


@program(Thing(2.0, 3.0))
def by_an_operator(o):
    o += 3.0
    return o.a


@program(Slotted(2.0, 3.0))
def in_slots(o):
    o.a = o.a**2
    o.b = o.a * o.b
    return o.b * o.a


@program(Thing(2.0, 3.0), 5.0)
def by_a_method(o, x):
    return o.step(x) * o.b * o.step(x)


@program(Thing([1.0, 2.0], Thing(3.0, 4.0)))
def exchanged(o):
    o.a, o.b.a = [o.b.a, o.a[1]], o.a[0] * o.b.b
    return o.a[0] * o.b.a + o.a[1]


@program([1.0, 2.0, 3.0])
def item(xs):
    xs[0] = xs[1] * xs[2]
    return xs[0] * xs[1]


@program([1.0, 2.0, 3.0])
def appended_and_popped(xs):
    xs.append(xs[0] * xs[1])
    v = xs.pop(0)
    return v * xs[-1] * xs[0]


@program([3.0, 1.0, 2.0])
def sorted_in_place(xs):
    xs.sort()
    return xs[0] + 2 * xs[1] + 3 * xs[2] * xs[0]


@program([3.0, 1.0, 2.0])
def rearranged(xs):
    xs.reverse()
    xs.insert(1, xs[0] * xs[2])
    del xs[0]
    return xs[0] * xs[1]


@program([1.0, 2.0])
def longer_by_augmenting(xs):
    xs += [xs[0] * xs[1]]
    return xs[2] * xs[0]


@program([[1.0, 2.0], [3.0, 4.0]])
def rows_exchanged(m):
    m[0], m[1] = m[1], m[0]
    m[0][0] = m[1][1] * 2
    return m[0][0] * m[0][1] * m[1][0]


@program({"a": 1.0, "b": 2.0})
def entries(d):
    d["c"] = d["a"] * d["b"]
    d["a"] = d["c"] ** 2
    return d["a"] * d["c"] * d["b"]


@program({"w": np.array([1.0, 2.0]), "b": 1.0})
def updated(p):
    for _ in range(3):
        p["w"] = p["w"] * p["b"]
        p.update(b=p["b"] + np.sum(p["w"]))
    return p["b"]


@program(2.0, [])
def empty_list(x, seen):
    seen.append(x * x)
    return seen[0] * x


@program(Model(np.array([1.0, 2.0])), np.array([0.5, 0.3]))
def a_model_that_counts(m, x):
    m.calls += 1
    m.losses.append(np.sum(m.w * x))
    m.w = m.w - 0.1 * x
    return np.sum(m.w * x) * m.losses[0]


@program({"things": [Thing(1.0, 2.0), Thing(3.0, 4.0)]}, 2.0)
def nested(d, x):
    for o in d["things"]:
        o.bump(x).b = o.a * x
    return d["things"][0].b * d["things"][1].a


@program((Thing(1.0, 2.0), [3.0]))
def inside_a_tuple(t):
    t[0].a = t[1][0] * t[0].a
    t[1][0] = t[0].a
    return t[1][0] * t[0].b


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_the_gradient_is_that_of_the_arguments_as_they_were(f, args):
    """Finite differences over fresh arguments give the same, also the second time."""
    for _ in range(2):
        check(rl.gradient, f, *args)


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_the_caller_sees_the_change(f, args):
    """Value and arguments are as after a plain call."""
    mine, plain = copy.deepcopy(args), copy.deepcopy(args)
    value = rl.withgradient(f, *mine).val
    assert agree((value, mine), (f(*plain), plain), exact=False)
    assert not agree(mine, args, exact=False)


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_back_may_be_called_twice(f, args):
    """It answers for the arguments as they were, whatever has become of them since."""
    given = copy.deepcopy(args)
    wanted = rl.gradient(f, *copy.deepcopy(args))
    _, back = rl.pullback(f, *given)
    for x in given:
        if isinstance(x, (list, dict)):
            x.clear()
    for scale in (1.0, 2.0):
        for found, one, x in zip(back(scale), wanted, args, strict=True):
            np.testing.assert_allclose(flattened(found, x), scale * np.array(flattened(one, x)))


def test_the_value_may_be_the_argument():
    """The cotangent of what is given back goes to where it was when the function was entered."""

    def longer(xs):
        xs.append(xs[0] * xs[1])
        return xs

    xs = [2.0, 3.0]
    y, back = rl.pullback(longer, xs)
    assert y is xs and xs == [2.0, 3.0, 6.0]
    assert back([1.0, 1.0, 1.0]) == ([4.0, 3.0],)
    assert back([0.0, 0.0, 1.0]) == ([3.0, 2.0],)

    def doubled(o):
        o.a = o.a * 2
        o.c = o.a * o.b
        return o

    y, back = rl.pullback(doubled, Thing(2.0, 3.0))
    (found,) = back({"a": 1.0, "b": 0.0, "c": 1.0})
    assert (found.a, found.b) == (8.0, 4.0)


def test_the_object_of_a_method_counts_its_calls():
    """`gradient(model.loss, x)` runs the method once; the model itself is a constant, and is changed."""
    for through in ("loss", "__call__"):
        model = Model(3.0)
        f = model.loss if through == "loss" else model
        assert rl.gradient(f, 2.0) == (36.0,)
        assert (model.calls, model.losses) == (1, [6.0])
        assert rl.gradient(f, 2.0) == (36.0,)
        assert (model.calls, model.losses) == (2, [6.0, 6.0])


def test_keywords_may_be_changed_too():
    """A keyword is a constant, and a list all the same."""

    def f(x, *, log):
        log.append(x)
        return log[-1] * x

    log = []
    assert rl.gradient(f, 3.0, log=log) == (6.0,) and log == [3.0]


def test_argnums_choose_among_changed_arguments():
    """What is not asked for has no entry, and is changed all the same."""

    def f(x, o):
        o.a = o.a * x
        return o.a

    o = Thing(3.0, 4.0)
    assert rl.gradient(f, 2.0, o, argnums=0) == (3.0,) and o.a == 6.0
    (found,) = rl.gradient(f, 2.0, o, argnums=1)
    assert (found.a, found.b) == (2.0, None)


def test_an_error_leaves_what_python_leaves():
    """What was written before the author's own error stays written."""

    def f(o):
        o.a = o.a * 2
        raise ValueError("no more")

    o = Thing(1.0, 2.0)
    with pytest.raises(ValueError, match="no more"):
        rl.gradient(f, o)
    assert o.a == 2.0


def writes_an_array_later(o, v):
    o.a = o.a * 2
    o.c = 1.0
    v[0] = 1.0
    return o.a


def gives_a_list(o):
    o.a = o.a * 2
    return [o.a]


def goes_through_a_handler(o):
    o.a = o.a * 2
    try:
        raise ValueError
    except ValueError:
        o.b = o.a
    return o.b


@pytest.mark.parametrize(
    "f, more", [(writes_an_array_later, (np.zeros(2),)), (gives_a_list, ()), (goes_through_a_handler, ())]
)
@pytest.mark.parametrize("kind", [Thing, Slotted])
def test_a_refusal_leaves_all_as_it_was(f, more, kind):
    """A refusal of ours in the middle takes back what was written before."""
    if kind is Slotted and f is writes_an_array_later:
        pytest.skip("has no slot for it")
    o = kind(1.0, 2.0)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(f, o, *more)
    assert (o.a, o.b) == (1.0, 2.0) and not hasattr(o, "c")
    assert not any(np.any(x) for x in more)


GLOBAL = Thing(2.0, 3.0)


def reads_a_global(o):
    o.a = o.a * 2
    return o.a + GLOBAL.a


def helper():
    return GLOBAL.a


def reads_by_a_helper(o):
    o.a = o.a * 2
    return o.a + helper()


def reads_a_default(o, other=GLOBAL):
    o.a = o.a * 2
    return o.a + other.a


def reads_a_class(o):
    o.a = o.a * 2
    return o.a + o.registry[0].a


def reads_by_a_callback(o, read):
    o.a = o.a * 2
    return o.a + read()


def reads_both(o, p):
    o.a = o.a * 2
    return o.a + p.a


def captured(other):
    def reads_what_it_captures(o):
        o.a = o.a * 2
        return o.a + other.a

    return reads_what_it_captures


@pytest.mark.parametrize(
    "f, args",
    [
        (reads_a_global, (GLOBAL,)),
        (reads_by_a_helper, (GLOBAL,)),
        (reads_a_default, (GLOBAL,)),
        (reads_a_class, (GLOBAL,)),
        (captured(GLOBAL), (GLOBAL,)),
        (reads_by_a_callback, (GLOBAL, lambda: GLOBAL.a)),
        (reads_by_a_callback, (GLOBAL, functools.partial(getattr, GLOBAL, "a"))),
        (reads_both, (GLOBAL, GLOBAL)),
        (reads_both, (GLOBAL, Thing(GLOBAL, 1.0))),
    ],
)
def test_an_object_with_another_name_is_not_changed(f, args, monkeypatch):
    """What the code can get hold of under a second name is refused before the write."""
    monkeypatch.setattr(Thing, "registry", [GLOBAL])
    with pytest.raises(rl.MutationError):
        rl.gradient(f, *args)
    assert GLOBAL.a == 2.0


def test_an_object_that_no_name_of_the_code_means_is_changed():
    """The same functions at another object."""
    for f in (reads_a_global, reads_by_a_helper, captured(GLOBAL)):
        assert rl.gradient(f, Thing(2.0, 3.0))[0].a == 2.0


def test_what_is_written_out_of_sight_stays_allowed():
    """`ignore_derivatives` keeps a record in an argument, as it always could."""

    def f(x, log):
        rl.ignore_derivatives(lambda: log.append(x))
        return x * x

    log = []
    assert rl.gradient(f, 3.0, log) == (6.0, None)
    assert 3.0 in log


def test_functions_that_write_nothing_are_lent_nothing():
    """They keep the quick way."""
    outer = enter()
    try:
        assert may_lend(lambda o: o.a * 2, (GLOBAL,), {}) is None
        assert may_lend(attribute, (2.0,), {}) is None
        assert may_lend(attribute, (Thing(1.0, 2.0),), {}) is not None
    finally:
        leave(outer)


def test_a_gradient_inside_of_another_lends_nothing():
    """The outer one would not see the change: refused, and nothing is changed."""

    def outer(x):
        return x * x

    o = Thing(1.0, 2.0)

    @rl.rrule_for(outer)
    def outer_rrule(x):
        rl.gradient(attribute, o)
        return x * x, lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)

    with pytest.raises(rl.MutationError):
        rl.gradient(lambda x: outer(x) + 0.0, 2.0)
    assert o.a == 1.0


def test_an_object_with_a_cycle_is_not_changed():
    """It is there twice: under its own name, and inside of itself."""
    o = Thing(2.0, None)
    o.b = o

    def f(o):
        o.a = o.a * o.b.a
        return o.b.b.a

    with pytest.raises(rl.MutationError):
        rl.gradient(f, o)
    assert o.a == 2.0


@pytest.mark.parametrize(
    "change",
    [lambda xs: xs.__setitem__(0, xs[0] * 2.0), lambda xs: xs.pop(), lambda xs: xs.insert(0, 5.0)],
)
def test_ignored_code_may_not_replace_what_came_in(change):
    """It would be read as the entry of the argument, whose derivative it has not; the list is as before."""

    def f(xs, x):
        rl.ignore_derivatives(lambda: change(xs))
        return xs[0] * x

    xs = [2.0, 7.0]
    for _ in range(2):  # also where a quick way to the pass is known
        with pytest.raises(rl.MutationError, match="Ignored code replaced a part of an argument"):
            rl.gradient(f, xs, 3.0)
        assert xs == [2.0, 7.0]
