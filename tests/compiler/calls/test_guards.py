"""The quick test of a guard says yes only where each name and attribute is the very object that it was."""

import builtins
import math
import types

import numpy as np
import pytest

from rulelab.compiler.calls.cache import at_a_glance, guard_of
from rulelab.compiler.calls.guards import WORTH_IT, quick_test


@pytest.fixture
def module():
    return types.SimpleNamespace(f=len, rate=2.0, nothing=None)


def warmed(guard, namespace):
    for _ in range(WORTH_IT + 2):
        assert guard(namespace)
    return guard


@pytest.mark.parametrize("changed", [{"np": math}, {"rate": 2.5}, {"none": 0}, {"len": max}, {"len": None}])
def test_a_name_that_changes_or_hides_a_builtin_is_seen(changed):
    names = {"np": np, "rate": 1.5, "none": None}
    guard = warmed(guard_of({**names, "len": len}, {}, []), names)
    assert not guard(names | changed)
    assert guard(names)
    for gone in names:
        assert not guard({name: value for name, value in names.items() if name != gone})


def test_a_builtin_that_is_replaced_is_seen(monkeypatch):
    guard = warmed(guard_of({"len": len}, {}, []), {})
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "len", lambda x: 0)
        assert not guard({})
    with monkeypatch.context() as patch:
        patch.delattr(builtins, "len")
        found = guard({})
    assert not found and guard({})


@pytest.mark.parametrize("attribute", ["f", "rate", "nothing"])
def test_an_attribute_that_changes_or_goes_is_seen(module, attribute):
    attributes = [(module, name, value) for name, value in vars(module).items()]
    guard = warmed(guard_of({}, {}, attributes), {})
    before = getattr(module, attribute)
    setattr(module, attribute, "another")
    assert not guard({})
    delattr(module, attribute)
    assert not guard({})
    setattr(module, attribute, before)
    assert guard({})


def test_what_is_new_at_each_access_has_no_quick_test():
    attributes = ((np.add, "reduce", np.add.reduce), (np, "sum", np.sum))
    assert not quick_test({}, attributes, {})({})
    warmed(guard_of({}, {}, list(attributes)), {})


def test_equal_is_not_the_same(module):
    class Equal:
        def __eq__(self, other):
            return True

        __hash__ = object.__hash__

    guard = warmed(guard_of({"np": np}, {}, [(module, "f", len)]), {"np": np})
    module.f = Equal()
    assert not guard({"np": np})
    module.f = len
    assert not guard({"np": Equal()})


def test_at_a_glance_nothing_is_seen_that_the_guard_does_not_see(module):
    """The quick answer is yes only where the guard's is, whatever changes after it was made."""
    names = {"np": np, "rate": 1.5}
    attributes = [(module, "f", module.f), (module, "rate", module.rate)]
    guard = guard_of({**names, "len": len}, {}, attributes)
    quick = at_a_glance(guard, names)
    assert quick is not guard and quick(names)
    for changed in ({"np": math}, {"rate": 2.5}, {"len": max}):
        assert not quick(names | changed) and not guard(names | changed)
    module.rate = 3.0
    assert not quick(names) and not guard(names)
    del module.f
    assert not quick(names) and not guard(names)


def test_what_takes_more_than_a_glance_goes_by_the_guard():
    """Kinds of globals, and what is new at each access, have no quick answer."""
    for guard in (
        guard_of({}, {"rate": float}, []),
        guard_of({}, {}, [(np.add, "reduce", np.add.reduce)]),
        guard_of({"gone": 1.0}, {}, []),
    ):
        assert at_a_glance(guard, {"rate": 1.5}) is guard
