"""What is told of a function from its text: whether it seems to change what it is handed."""

import ast
import math
import types

import numpy as np
import pytest

from rulelab.compiler.base.purity import is_as_it_was, seems_to_change

HELD = []


def reads(xs):
    total = 0.0
    for k, v in enumerate(xs):
        total += math.sin(v) * k
    return total + np.sum(np.array(xs)) + np.linalg.norm(xs) + len(xs)


def writes_an_item(xs):
    xs[0] = 1.0


def writes_an_attribute(o):
    o.a = 1.0


def augments_an_item(xs):
    xs[0] += 1.0


def augments_its_argument(xs):
    xs += [1.0]


def deletes(d):
    del d["a"]


def appends(xs):
    xs.append(1.0)


def puts(shelf):
    shelf.put(1.0)


def calls_a_dunder(xs):
    xs.__setitem__(0, 1.0)


def sets_by_name(o):
    setattr(o, "a", 1.0)


def calls_what_it_is_given(f, xs):
    return f(xs)


def calls_one_that_appends(xs):
    appends(xs)


def calls_one_that_reads(xs):
    return reads(xs) + abs(max(xs)) + float(min(xs))


def calls_itself(xs, n):
    return reads(xs) if n == 0 else calls_itself(xs, n - 1)


def augments_a_local(x):
    total = 0.0
    total += x
    return total


@pytest.mark.parametrize("f", [reads, calls_one_that_reads, calls_itself, augments_a_local])
def test_functions_that_only_read(f):
    """Reading, arithmetic, NumPy and helpers that read change nothing."""
    assert not seems_to_change(f)


@pytest.mark.parametrize(
    "f",
    [writes_an_item, writes_an_attribute, augments_an_item, augments_its_argument, deletes, appends, puts]
    + [calls_a_dunder, sets_by_name, calls_what_it_is_given, calls_one_that_appends],
)
def test_functions_that_may_write(f):
    """Every way of writing to an argument, also through a helper, is seen; the unknown counts as writing."""
    assert seems_to_change(f)


def test_without_source_it_may_write():
    """A function whose text cannot be found may do anything."""
    namespace = {}
    exec("def f(xs): return 1.0", namespace)
    assert seems_to_change(namespace["f"])


def test_a_nested_function_that_rebinds():
    """`nonlocal` changes a variable that others see."""
    n = 0

    def counts():
        nonlocal n
        n += 1

    assert seems_to_change(counts)


def test_what_the_answer_relies_on(monkeypatch):
    """The functions that were looked into are named, and a name that means another one is noticed."""
    relied = []
    assert not seems_to_change(calls_one_that_reads, relied=relied)
    assert [name for _, name, _ in relied] == ["reads"]
    assert all(is_as_it_was(named, {}) for named in relied)
    monkeypatch.setitem(globals(), "reads", appends)
    assert not any(is_as_it_was(named, {}) for named in relied)
    monkeypatch.delitem(globals(), "reads")
    assert not any(is_as_it_was(named, {}) for named in relied)


def test_a_text_is_walked_once(monkeypatch):
    """What a function asks is read off its text once; what its names mean is asked each time."""
    namespace = dict(globals())
    f = types.FunctionType(calls_one_that_reads.__code__, namespace)
    assert not seems_to_change(f)
    monkeypatch.setattr(ast, "walk", None)
    assert not seems_to_change(f)
    namespace["reads"] = lambda xs: None
    monkeypatch.undo()
    assert not seems_to_change(f)
    namespace["reads"] = appends
    assert seems_to_change(f)
