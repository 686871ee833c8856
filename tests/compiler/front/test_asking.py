"""What emitted code asks of values is answered as Python answers itself."""

import collections

import numpy as np
import pytest

from rulelab.compiler.front import asking
from rulelab.errors import MutationError


class Registered:
    def __len__(self):
        return 2


collections.abc.Sequence.register(Registered)


@pytest.mark.parametrize(
    "x",
    [
        [],
        (),
        "ab",
        b"ab",
        bytearray(),
        range(2),
        {},
        {1},
        collections.deque(),
        np.ones(1),
        Registered(),
        None,
    ],
    ids=lambda x: type(x).__name__,
)
def test_kinds(x):
    """Which values are sequences and mappings to a pattern."""
    match x:
        case [*_]:
            wanted = "sequence"
        case {}:
            wanted = "mapping"
        case _:
            wanted = None
    assert asking.is_sequence(x) is (wanted == "sequence")
    assert asking.is_mapping(x) is (wanted == "mapping")


@pytest.mark.parametrize(
    "cls", [bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple, complex, object]
)
def test_classes_whose_one_pattern_is_the_value(cls):
    """`float(x)` binds the number; of other classes it asks for `__match_args__`."""
    x = cls()
    try:
        match x:
            case cls(y):
                wanted = y is x
    except TypeError:
        wanted = False
    assert asking.matches_itself(cls) is wanted
    derived = type("Derived", (cls,), {}) if cls is not bool else cls
    assert asking.matches_itself(derived) is wanted
    assert not asking.matches_itself(type("Named", (object,), {"__match_args__": ("a",)}))


def test_keys_are_not_made_up():
    """A mapping that has an answer for every key is asked what it holds."""
    d = collections.defaultdict(int, a=1)
    assert asking.has_keys(d, "a") and not asking.has_keys(d, "b") and list(d) == ["a"]


@pytest.mark.parametrize(
    "swallowed, ours, goes_on", [(True, False, False), (None, False, True), (True, True, True)]
)
def test_who_may_swallow_what(swallowed, ours, goes_on):
    """`__exit__` may swallow any exception but a refusal of ours."""
    assert asking.goes_on(MutationError("no") if ours else KeyError(), swallowed) is goes_on
