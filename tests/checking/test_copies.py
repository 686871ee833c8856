"""Copies of arguments are those of `copy.deepcopy`."""

import copy
import enum
import operator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.calling.plain_calls import are_unshared, value_of
from rulelab.checking.measuring.copies import own_copies, share_nothing

from .rules import registry_with

ONCE = np.arange(3.0)


class Shaped(np.ndarray):
    """An array of a class of its own."""


@pytest.mark.parametrize(
    "args",
    [
        (),
        (2.0, 3, 1 + 2j, True, "word", None, np.float64(2.0)),
        (ONCE, np.asfortranarray(np.ones((2, 3))), np.arange(6.0)[::-2]),
        (ONCE, ONCE),
        (ONCE, [ONCE, {"a": ONCE}]),
        (np.array([1.0, [2.0]], dtype=object),),
        (ONCE.view(Shaped), np.float32(1.0)),
        (np.ma.masked_array(ONCE, ONCE > 1), 2.0),
    ],
    ids=["none", "numbers", "arrays", "one twice", "within others", "objects", "other classes", "masked"],
)
def test_own_copies_are_those_of_deepcopy(args):
    """Equal, of the same classes and layouts, none shared with the caller; what was one object still is."""
    found, wanted = own_copies(args), copy.deepcopy(args)
    assert repr(found) == repr(wanted) and [type(x) for x in found] == [type(x) for x in wanted]
    for x, given, other in zip(found, args, wanted):
        if isinstance(x, np.ndarray):
            assert not np.shares_memory(x, given)
            assert (x.strides, x.flags.owndata) == (other.strides, other.flags.owndata)
    assert _which_are_one(found) == _which_are_one(wanted)


def _which_are_one(args):
    """Of each array, in whatever it is held, the number of the first that is the same object."""
    held = [leaf for x in args for leaf in ([x[0], x[1]["a"]] if isinstance(x, list) else [x])]
    return [next(n for n, first in enumerate(held) if first is leaf) for leaf in held]


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray
    name: str = "layer"
    seen: list = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    at: np.ndarray


@dataclass(slots=True)
class Slotted:
    at: np.ndarray


class Pair(NamedTuple):
    low: np.ndarray
    high: float


class Counting(dict):
    """A dict with an attribute."""


class Minded:
    """A class that says itself what a copy is."""

    def __init__(self, at):
        self.at = at

    def __deepcopy__(self, memo):
        return Minded([*copy.deepcopy(self.at, memo), "copied"])


class Restored:
    def __init__(self, at):
        self.at = at

    def __setstate__(self, state):
        self.at = [*state["at"], "restored"]


class Colour(enum.Enum):
    RED = 1


def counting():
    made = Counting(a=np.ones(1))
    made.extra = np.zeros(2)
    return made


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: [np.ones(2), {"a": np.zeros(1)}, (np.ones(1),)], lambda x: [x[0], x[1]["a"], x[2][0]]),
        (lambda: Layer(np.ones((2, 2)), np.zeros(2), seen=[np.ones(1)]), lambda x: [x.W, x.b, *x.seen]),
        (lambda: [Layer(np.ones(1), np.zeros(2)), Frozen(np.ones(2))], lambda x: [x[0].W, x[0].b, x[1].at]),
        (lambda: Slotted(np.ones(2)), lambda x: [x.at]),
        (lambda: Pair(np.ones(2), 1.0), lambda x: [x.low]),
        (lambda: Minded([np.ones(2)]), lambda x: x.at),
        (lambda: Restored([np.ones(2)]), lambda x: x.at),
        (counting, lambda x: [x["a"], x.extra]),
        (lambda: {(1, 2): np.ones(2)}, lambda x: [x[1, 2]]),
    ],
    ids="containers dataclass list-of-them slots namedtuple deepcopy setstate subclass keys".split(),
)
def test_copies_of_what_holds_arrays_are_those_of_deepcopy(make, parts):
    """Dataclasses, named tuples, containers; a class that has ways of its own is asked for them."""
    x = make()
    (found,) = own_copies((x,))
    wanted = copy.deepcopy(x)
    assert type(found) is type(wanted) and repr(parts(found)) == repr(parts(wanted))
    assert vars(found).keys() == vars(wanted).keys() if hasattr(x, "__dict__") else True
    arrays = [part for part in parts(found) if isinstance(part, np.ndarray)]
    given = [part for part in parts(x) if isinstance(part, np.ndarray)]
    assert arrays and not any(np.shares_memory(one, other) for one in arrays for other in given)


def test_what_never_changes_is_no_copy():
    """Functions, members of an enumeration, and tuples of such."""
    x = (Colour.RED, len, np.sin, 2.0, (), ("a", 1))
    assert all(map(operator.is_, own_copies(x), x))


def shifted(x, by=ONCE):
    return x + by


def test_a_function_is_no_copy_and_may_hold_what_others_hold():
    """Its array may be that of another argument; what was measured at one function holds for no other."""
    (shift,) = own_copies((shifted,))
    assert shift.__defaults__[0] is ONCE
    assert are_unshared((ONCE, 2.0, "word")) and not are_unshared((ONCE, shift))


def test_what_can_be_changed_in_both_is_found():
    """However deep, behind views too; what is followed nowhere may be anything."""
    words, array = ["a"], np.ones(3)
    layer = Layer(np.ones((2, 2)), np.ones(2))
    assert share_nothing((layer, 2.0), own_copies((layer, 2.0)))
    assert not share_nothing((layer, 2.0), (Layer(np.ones((2, 2)), layer.b), 2.0))
    assert not share_nothing([{"a": words}], [{"a": words}]) and share_nothing([words], [["a"]])
    assert not share_nothing(array[1:], (array[:1],)) and share_nothing(array[1:], array.copy())
    assert not share_nothing([len], [len]) and not share_nothing(object(), object())


@pytest.mark.slow
def test_a_function_that_writes_into_what_an_object_holds_is_measured_at_what_was_given():
    """Each value is that of arguments of its own, also where no copies of them are made."""

    def writing(layer, x):
        layer.W *= 2.0
        layer.b += x
        return layer.W.sum() * x + layer.b.sum()

    def rule(layer, x):
        W, count = 2.0 * layer.W, layer.b.size

        def back(y_bar):
            bar = rl.Tangent(Layer, W=2 * x * y_bar * np.ones_like(W), b=np.full(count, y_bar))
            return rl.NoTangent(), bar, y_bar * (W.sum() + count)

        return W.sum() * x + layer.b.sum() + count * x, back

    layer = Layer(np.arange(4.0).reshape(2, 2), np.ones(2))
    report = rule_check(writing, layer, 0.5, registry=registry_with(writing, rule))
    assert not [finding for finding in report.findings if finding.check.startswith("cotangent")]
    assert np.array_equal(layer.W, np.arange(4.0).reshape(2, 2)) and layer.b.tolist() == [1.0, 1.0]


def test_what_leads_back_to_itself_is_copied_as_it_is():
    """A list in itself, and one array in two places of a structure."""
    loop = [1.0]
    loop.append(loop)
    (found,) = own_copies((loop,))
    assert found[1] is found and found is not loop
    one = np.ones(2)
    (layer,) = own_copies((Layer(one, one),))
    assert layer.W is layer.b is not one


def test_a_function_that_writes_leaves_its_arguments_alone():
    """Which is what the copies are for."""

    def writing(x, *, y):
        x += 1.0
        y[0] = 5.0
        return float(x.sum() + y.sum())

    x, y = np.zeros(2), np.zeros(2)
    assert value_of(writing, (x,), {"y": y}) == 7.0 == value_of(writing, (x,), {"y": y})
    assert not x.any() and not y.any()
