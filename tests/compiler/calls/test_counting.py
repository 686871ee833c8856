"""Arithmetic on Counters runs as it is, and its pullback knows where each entry came from: beside
differences, beside the passes of the methods, and only as long as nothing else is said about these.
"""

import operator
from collections import Counter, OrderedDict

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import counting

from ..agreeing import check_second_derivative, check_slope

X = 0.7


def weighed(counter, x):
    """Every entry by a weight of its own; an entry is changed after the counter was made."""
    found = sum([(k + 2) * v * v for k, v in enumerate(counter.values())])
    counter["late"] = found * x
    return found + counter["late"] + 3.0 * counter["a"] + counter["nobody's"]


def pair(x):
    return Counter(a=x, b=2.0 * x, c=x - 1.0), Counter({"a": x * x, "c": 1.0, "d": x - 2.0, "e": 4.0 * x})


def sums(x):
    one, other = pair(x)
    return weighed(one + other, x) + weighed(one, x)


def differences(x):
    one, other = pair(x)
    return weighed(one - other, x) * weighed(other - one, x)


def unions(x):
    one, other = pair(x)
    return weighed(one | other, x) + weighed(one & other, x)


def of_itself(x):
    one, _ = pair(x)
    return weighed(one + one, x) + weighed(one - one, x) + weighed(one | one, x) * weighed(one & one, x)


def operands_changed_later(x):
    one, other = pair(x)
    both, less = one + other, one - other
    one["a"] = 5.0
    del other["c"]
    other["a"] = one["b"] * x
    return weighed(both, x) * less["b"] + weighed(one, x) + other["a"]


def totals(x):
    one, other = pair(x)
    before = one.total()
    one["a"] += other.total()
    return before * one.total()


def updated(x):
    one, other = pair(x)
    one.update(other)
    before = one["a"] * one["d"]
    other["a"] = 3.0
    one.update({"a": x, "new": x * x}, b=x, more=2.0 * x)
    one.update(OrderedDict(z=x))
    return weighed(one, x) + before + weighed(other, x)


def subtracted(x):
    one, other = pair(x)
    one.subtract(other)
    before = one["e"] * one["a"]
    one.subtract({"a": x, "new": x * x}, b=x, more=2.0 * x)
    one.subtract(c=x * x)
    return weighed(one, x) + before + weighed(other, x)


def updated_by_itself(x):
    one, _ = pair(x)
    one.update(one)
    before = one["a"] * x
    one.subtract(one)
    one["a"] += before
    return weighed(one, x)


def updated_when_empty(x):
    one = Counter()
    one.update({"a": x, "b": x * x})
    one.update(None, a=x)
    one.update()
    return weighed(one, x)


def ranked(x):
    one, other = pair(x)
    first, second = one.most_common(2)
    rows = other.most_common()
    one["b"] = 1.0
    by_place = sum([(k + 1) * v * len(key) for k, (key, v) in enumerate(rows)])
    return first[1] * second[1] ** 2 + by_place + len(other.most_common(0)) + one.most_common(1)[0][1]


def in_a_loop(x):
    counter, steps = Counter(a=x), Counter(a=0.5 * x, b=x)
    for k in range(4):
        counter = counter + steps if k % 2 else counter | steps
        counter.subtract(b=0.1 * x)
        steps = steps - Counter(b=0.2 * x)
    return weighed(counter, x)


def under_other_keys(x):
    one = Counter({("a", 1): x, 2: x * x, None: 1.0})
    return (one + one)["a", 1] * one.total() * x


def counts_of_numpys(x):
    y = np.sin(x)
    one = Counter(a=y, b=2.0)
    return (one + one)["a"] * (one - Counter(b=y))["b"]


def half_way(x):
    one = Counter(a=x)
    try:
        one.update({"a": x, "b": x}, c="text")
        one.update(a="text")
    except TypeError:
        pass
    return one["a"] * one["b"]


PROGRAMS = (
    *(sums, differences, unions, of_itself, operands_changed_later, totals, updated, subtracted),
    *(updated_by_itself, updated_when_empty, ranked, in_a_loop, under_other_keys, counts_of_numpys),
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_slopes(program):
    check_slope(program, X)


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives(program):
    check_second_derivative(program, X)


@pytest.mark.parametrize("program", PROGRAMS)
def test_beside_the_passes_of_the_methods(program, monkeypatch):
    found = rl.withgradient(program, X)
    monkeypatch.setattr(counting.Counting, "_runs_as_it_does", lambda self: False)
    value, (slope,) = rl.withgradient(program, X)
    assert found[0] == value and found[1][0] == pytest.approx(slope, rel=1e-12)


def test_no_method_is_run_step_by_step(monkeypatch):
    """A pass of `Counter.__add__` would read its operands' entries by `items`."""
    asked = []
    quick = counting.Counting._runs_as_it_does
    monkeypatch.setattr(
        counting.Counting, "_runs_as_it_does", lambda self: (asked.append(quick(self)), asked[-1])[1]
    )
    for program in (sums, differences, unions, totals, updated, subtracted, ranked):
        asked.clear()
        rl.gradient(program, X)
        assert asked and all(asked)


def test_an_error_half_way():
    """What was counted before the error counts, by whichever way."""
    try:
        found = rl.gradient(half_way, X)[0]
    except rl.RuleLabError:
        return
    step = 1e-6
    assert found == pytest.approx((half_way(X + step) - half_way(X - step)) / (2 * step), rel=1e-6)


def test_an_overflow_half_way():
    """An entry was counted before it."""

    def program(x):
        one = Counter(a=x, b=x)
        try:
            one.update({"a": x, "b": 10**400})
        except OverflowError:
            pass
        return one["a"] * x

    with pytest.raises(rl.NotDifferentiableError, match="half-way"):
        rl.gradient(program, X)


@pytest.mark.parametrize("name", ["__add__", "__init__", "update", "__missing__", "items"])
def test_another_method(name, monkeypatch):
    """The program is differentiated again, at the same lines, after Counter was changed."""

    def program(x):
        one = Counter({"a": x, "b": 2.0 * x})
        one.update({"c": x})
        return (one + Counter({"a": x * x}))["a"] * one["b"]

    for _ in range(3):
        check_slope(program, X)
    plain = getattr(Counter, name)

    def other(self, *args):
        return plain(self, *args)

    asked = []
    quick = counting.Counting._runs_as_it_does
    monkeypatch.setattr(
        counting.Counting, "_runs_as_it_does", lambda self: (asked.append(quick(self)), asked[-1])[1]
    )
    with monkeypatch.context() as changed:
        changed.setattr(Counter, name, other, raising=False)
        try:
            rl.gradient(program, X)
        except rl.RuleLabError:
            pass
        assert not any(asked)
    asked.clear()
    check_slope(program, X)
    assert any(asked)


def test_another_sum_of_counters(monkeypatch):
    def program(x):
        return (Counter(a=x) + Counter(a=x * x))["a"] * x

    check_slope(program, X)
    monkeypatch.setattr(Counter, "__add__", lambda self, other: Counter(a=self["a"] * other["a"]))
    check_slope(program, X)


@pytest.mark.parametrize("target", [Counter.__add__, operator.add, Counter.total])
def test_a_rule_given_later(target):
    def program(x):
        one = Counter(a=x, b=1.0) + Counter(a=x * x)
        return one.total() * x

    for _ in range(3):
        check_slope(program, X)

    def rule(*args):
        raise KeyError("the rule was asked")

    rl.rrule_for(target)(rule)
    try:
        with pytest.raises(KeyError, match="the rule was asked"):
            rl.gradient(program, X)
    finally:
        rl.remove_rule(target)
    check_slope(program, X)


class Other(Counter):
    def __add__(self, other):
        return Counter(a=self["a"] * other["a"] * 3.0)


def test_a_class_of_its_own():
    check_slope(lambda x: (Other(a=x) + Counter(a=x * x))["a"], X)
    check_slope(lambda x: (Counter(a=x) + Other(a=x * x))["a"] * x, X)


def test_counters_given_and_global():
    """An argument has cotangents of its own, and a global Counter none."""
    kept = Counter(a=2.0, b=3.0)

    def given(counter, x):
        made = Counter(a=x) + kept
        return (made + counter)["a"] * made["b"] * counter["a"]

    def of_one(t):
        return given(Counter(a=float(t)), X)

    found = rl.gradient(given, Counter(a=1.5), X)
    step = 1e-6
    assert found[0]["a"] == pytest.approx((of_one(1.5 + step) - of_one(1.5 - step)) / (2 * step))
    check_slope(lambda x: given(Counter(a=1.5), x), X)
    assert kept == Counter(a=2.0, b=3.0)


def test_counts_that_are_no_numbers():
    def arrays(x):
        both = Counter(a=np.array([x, 1.0])) | Counter()
        return both["a"][0] * x

    with pytest.raises(ValueError):  # NumPy's, of the comparison
        arrays(X)
    with pytest.raises((ValueError, rl.RuleLabError)):
        rl.gradient(arrays, X)
