"""Dicts made of others: entries, order and errors as in Python, cotangents to whom they are due."""

import pytest

import rulelab as rl
from rulelab.compiler.memory.collecting import COLLECTORS
from rulelab.errors import NotDifferentiableError
from rulelab.tangents.structural import Tangent


class Shelf:
    """A mapping that is no dict."""

    def __init__(self, **entries):
        self.entries = entries

    def keys(self):
        return self.entries.keys()

    def __getitem__(self, key):
        return self.entries[key]


def test_merged_in_order():
    """Later parts win, the first place stays; any mapping may take part."""
    merged, _ = COLLECTORS["merged"]
    assert list(merged({"b": 1, "a": 2}, Shelf(a=3, c=4)).items()) == [("b", 1), ("a", 3), ("c", 4)]
    with pytest.raises(TypeError, match="'float' object is not a mapping"):
        merged({}, 2.0)


def test_an_entry_has_one_giver():
    """The cotangent of a key goes to the last part that has it, and to no other."""
    _, rule = COLLECTORS["merged"]
    _, back = rule({"a": 1.0, "b": 2.0}, {"a": 3.0})
    _, first, second = back(Tangent(dict, {"a": 5.0, "b": 7.0}))
    assert first == Tangent(dict, {"b": 7.0}) and second == Tangent(dict, {"a": 5.0})


def test_a_pair_that_was_replaced_gives_nothing():
    """Of equal keys in a dict comprehension the last one counts."""
    _, rule = COLLECTORS["paired"]
    y, back = rule(["a", "b", "a"], [1.0, 2.0, 3.0])
    assert y == {"a": 3.0, "b": 2.0}
    assert back({"a": 5.0})[2] == Tangent(list, rl.ZeroTangent(), rl.ZeroTangent(), 5.0)


@pytest.mark.parametrize(
    "parts, text",
    [
        (({"a": 1}, {"a": 2}), "got multiple values for keyword argument 'a'"),
        (({1: 1},), "keywords must be strings"),
        ((3,), "argument after \\*\\* must be a mapping, not int"),
    ],
)
def test_wrong_keywords(parts, text):
    """TypeError, as Python raises for a call with `**`."""
    with pytest.raises(TypeError, match=text):
        COLLECTORS["keywords"][0](*parts)


def test_keywords_do_not_overwrite_one_another():
    """In a call, too."""

    def g(a):
        return a

    with pytest.raises(TypeError, match="multiple values"), rl.debug_mode(compare=False):
        rl.gradient(lambda x: g(**{"a": x}, a=x), 1.0)  # CPython 3.11 lets a KeyError out here at times


def test_a_mapping_that_is_no_dict_is_not_followed():
    """collections.abc.Mapping has no cotangent of its own: refused, not lost."""
    import collections

    def program(x):
        return {**collections.ChainMap({"a": x})}["a"]

    def given(chain):
        return {**chain}["a"]

    with pytest.raises(NotDifferentiableError, match="ChainMap"):
        rl.gradient(given, collections.ChainMap({"a": 2.0}))
    with pytest.raises(rl.RuleLabError):
        rl.gradient(program, 2.0)
