"""Counters are filled as dicts are, as long as Python's own methods do it; an order of counts is no value."""

import collections
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import constructors

X = 0.7


def weighed(counter, x):
    """Every entry with a weight of its own, and one that is changed after the counter was made."""
    counter["a"] += x * x
    return sum([k * v for k, v in enumerate(counter.values(), 1)]) * counter["a"] + counter["nothing"]


def of_dict(x):
    given = {"b": x, "a": x * x}
    counter = Counter(given)
    given["a"] = 5.0 * x  # which the counter does not see
    return weighed(counter, x) + given["a"]


def of_nothing(x):
    counter = Counter()
    counter["a"] = x
    return weighed(counter, x)


def of_words(x):
    return weighed(Counter(b=x, a=x * x, c=2.0), x)


def of_text(x):
    return weighed(Counter("abca"), x)


def of_a_counter(x):
    first = Counter(a=x, b=2.0)
    return weighed(Counter(first), x) + first["a"]


def of_other_dicts(x):
    entries = defaultdict(float)
    entries["a"] += x
    return weighed(Counter(entries), x) * weighed(Counter(OrderedDict(a=x, c=x)), x)


def of_dict_and_words(x):
    return weighed(Counter({"a": x, "b": 1.0}, a=x * x, c=x), x)


def of_pairs_counted(x):
    return weighed(Counter(["a", "b", "a"]), x)


def of_a_comprehension(x):
    return weighed(Counter({k: v * x for k, v in Counter("abca").items()}), x)


def ranked(x):
    counter = Counter(a=x, b=x * x, c=3.0 - x, d=x)
    first, second = counter.most_common(2)
    both = counter.most_common()
    by_place = sum([k * ord(key) * v for k, (key, v) in enumerate(both)])
    return first[1] * second[1] + both[-1][1] ** 2 * len(both) + by_place + len(counter.most_common(0))


PROGRAMS = (
    *(of_dict, of_nothing, of_words, of_text, of_a_counter, of_other_dicts, of_dict_and_words),
    *(of_pairs_counted, of_a_comprehension, ranked),
)


def by_differences(f, x, step=1e-4):
    around = [f(x + k * step) for k in (-2, -1, 1, 2)]
    return (around[0] - 8 * around[1] + 8 * around[2] - around[3]) / (12 * step)


@pytest.mark.parametrize("program", PROGRAMS)
def test_counters_that_are_made_in_all_ways(program):
    wanted = by_differences(program, X)
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(program, X)[0], wanted, rtol=1e-8)
    np.testing.assert_allclose(rl.pushforward(program, X)(1.0), wanted, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives_of_counters(program):
    second = by_differences(lambda x: by_differences(program, x, 1e-3), X, 1e-3)
    found = rl.gradient(lambda x: rl.gradient(program, x)[0], X)[0]
    np.testing.assert_allclose(found, second, rtol=1e-5, atol=1e-5)


def made(x):
    return Counter(a=x, b=2.0 * x)["a"] * x


def test_no_method_of_a_counter_is_run(monkeypatch):
    """A Counter of a dict is a dict that is filled; one of a list is made by its own methods."""
    asked = []
    slow = constructors._make_object
    monkeypatch.setattr(constructors, "_make_object", lambda *x, **w: (asked.append(x), slow(*x, **w))[1])
    for program in (of_dict, of_nothing, of_words, of_text):
        rl.gradient(program, X)
    assert not asked
    rl.gradient(of_pairs_counted, X)
    assert asked


def doubling(self, iterable=None, /, **words):
    """With keywords, else it counts."""
    for key in words:
        self[key] = 2.0 * words[key]
    if iterable is not None:
        for key in iterable:
            self[key] = self.get(key, 0) + 1


def test_another_update_counts(monkeypatch):
    assert [rl.gradient(made, X)[0] for _ in range(2)] == pytest.approx([2 * X] * 2)
    monkeypatch.setattr(Counter, "update", doubling)
    assert rl.gradient(made, X)[0] == pytest.approx(4 * X)
    monkeypatch.undo()
    assert rl.gradient(made, X)[0] == pytest.approx(2 * X)


def test_another_init_counts(monkeypatch):
    assert [rl.gradient(made, X)[0] for _ in range(2)] == pytest.approx([2 * X] * 2)
    monkeypatch.setattr(Counter, "__init__", doubling)
    assert rl.gradient(made, X)[0] == pytest.approx(4 * X)


def test_another_answer_for_what_is_missing_counts(monkeypatch):
    def program(x):
        return Counter(a=x)["nothing"] * x + x

    assert [rl.gradient(program, X)[0] for _ in range(2)] == [1.0, 1.0]
    monkeypatch.setattr(Counter, "__missing__", lambda self, key: self["a"] * 3.0)
    with pytest.raises(rl.NotDifferentiableError, match="__missing__"):  # whose code no derivative follows
        rl.gradient(program, X)


@pytest.mark.parametrize("target", [Counter.update, Counter.__init__])
def test_a_rule_of_the_users_counts(target):
    def made(x):
        return Counter({"a": x, "b": 2.0 * x})["a"] * x

    assert [rl.gradient(made, X)[0] for _ in range(2)] == pytest.approx([2 * X] * 2)
    asked = []

    def rule(self, given=None):
        asked.append(given)
        raise KeyError("the rule was asked")

    rl.rrule_for(target)(rule)
    try:
        with pytest.raises(KeyError, match="the rule was asked"):
            rl.gradient(made, X)
    finally:
        rl.remove_rule(target)
    assert asked
    assert rl.gradient(made, X)[0] == pytest.approx(2 * X)


class Doubling(Counter):
    update = doubling


class Backwards(Counter):
    def items(self):
        return [(key, -self[key]) for key in self]


def test_a_class_of_counters_says_what_it_does():
    """Its own `update` fills it, and its own `items` are what is put in order."""

    def filled(x):
        return Doubling(a=x, b=x)["a"] * x

    assert rl.gradient(filled, X)[0] == pytest.approx(4 * X)

    def first_of(x):
        return Backwards(a=x, b=2.0 * x).most_common(1)[0][1] * x

    try:
        found = rl.gradient(first_of, X)[0]
    except rl.RuleLabError:
        return
    assert found == pytest.approx(by_differences(first_of, X))


def test_errors_are_pythons():
    with pytest.raises(TypeError):
        Counter(1, 2)
    with pytest.raises(TypeError):
        rl.gradient(lambda x: Counter(1, 2)["a"] * x, X)
    with pytest.raises(TypeError):
        rl.gradient(lambda x: collections.Counter(3)["a"] * x, X)
