"""Calls that are given tuples are found again by the kinds of the items, and by no less."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.pullbacks import Pullbacks

X = 0.7


@pytest.fixture
def passes(monkeypatch):
    """The functions whose passes are looked for by signature."""
    seen, before = [], Pullbacks.pass_of

    def looking(self, f, *more):
        seen.append(f)
        return before(self, f, *more)

    monkeypatch.setattr(Pullbacks, "pass_of", looking)
    return seen


def blended(pair, k=2.0):
    total = 0.0
    for v in pair:
        total += np.sum(v * v) * k
    return total


CALLED = {"blended": blended}  # by a name that is looked up, so that it is not inlined


def by_position(x):
    return sum([CALLED["blended"]((x, j * x)) for j in range(3)]) * x


def by_keyword(x):
    return sum([CALLED["blended"]((x, j * x), k=x) for j in range(3)]) * x


def of_constants(x):
    return sum([CALLED["blended"]((1.0, 2.0)) * x for _ in range(3)])


def by_differences(f, x, step=1e-4):
    around = [f(x + k * step) for k in (-2, -1, 1, 2)]
    return (around[0] - 8 * around[1] + 8 * around[2] - around[3]) / (12 * step)


@pytest.mark.parametrize("program", [by_position, by_keyword, of_constants])
def test_the_pass_is_not_looked_for_again(passes, program):
    for _ in range(3):
        assert rl.gradient(program, X)[0] == pytest.approx(by_differences(program, X))
    passes.clear()
    assert rl.gradient(program, X)[0] == pytest.approx(by_differences(program, X))
    assert blended not in passes
    assert rl.pushforward(program, X)(1.0) == pytest.approx(by_differences(program, X))
    second = by_differences(lambda x: by_differences(program, x, 1e-3), X, 1e-3)
    assert rl.gradient(lambda x: rl.gradient(program, x)[0], X)[0] == pytest.approx(second, abs=1e-5)


class Number(float):
    """An author's number, of which no pass for floats may be taken."""

    def __mul__(self, other):
        return 10.0 + float(self) * 0.0


ITEMS = {
    "numbers": lambda x: (x, 2.0),
    "an integer": lambda x: (x, 2),
    "a flag": lambda x: (x, True),
    "NumPy's number": lambda x: (np.float64(x), x),
    "an array": lambda x: (x * np.ones(3), x),
    "a matrix": lambda x: (x * np.ones((2, 3)), x),
    "single precision": lambda x: (x, np.float32([1.5])),
    "one": lambda x: (x,),
    "three": lambda x: (x, x * x, 1.0),
    "none": lambda x: (),
    "a tuple": lambda x: (np.array([x, x]), (1.0 + 0j).real),
    "the author's": lambda x: (x, Number(3.0)),
    "many": lambda x: tuple([x * k for k in range(20)]),
}


def test_other_items_are_another_call():
    """One function in turns with tuples of all kinds, twice, so that each is asked for after each other."""
    programs = {name: lambda x, make=make: CALLED["blended"](make(x)) * x for name, make in ITEMS.items()}
    for _ in range(2):
        for name, program in programs.items():
            wanted = by_differences(program, X)
            assert rl.gradient(program, X)[0] == pytest.approx(wanted, rel=1e-6), name


def nested(pair):
    (a, b), c = pair
    for _ in range(2):
        a = a * b
    return a * c


def test_tuples_in_tuples():
    CALLED["nested"] = nested
    first = lambda x: CALLED["nested"](((x, 2.0), x)) * x
    second = lambda x: CALLED["nested"](((x, x * np.ones(2)), x))[1] * x
    for _ in range(3):
        for program in (first, second):
            assert rl.gradient(program, X)[0] == pytest.approx(by_differences(program, X))


def test_a_list_in_a_tuple_is_looked_at(passes):
    """What a list holds may be of any kind the next time, and it may be changed."""

    def grown(pair):
        items, k = pair
        for v in list(items):
            items.append(v * k)
        return sum(items)

    def program(x):
        items = [x]
        called = {"grown": grown}["grown"]
        return called((items, 2.0)) + called((items, x)) * items[-1]

    for _ in range(3):
        assert rl.gradient(program, X)[0] == pytest.approx(by_differences(program, X))


def doubled(pair, k=2.0):
    total = 0.0
    for v in pair:
        total += v * k
    return total


def test_defaults_rules_and_texts_that_change(monkeypatch):
    CALLED["doubled"] = doubled
    program = lambda x: CALLED["doubled"]((x, x * x))
    assert [rl.gradient(program, X)[0] for _ in range(3)] == pytest.approx([2 + 4 * X] * 3)
    monkeypatch.setattr(doubled, "__defaults__", (3.0,))
    assert rl.gradient(program, X)[0] == pytest.approx(3 + 6 * X)
    monkeypatch.undo()

    @rl.rrule_for(doubled)
    def doubled_rrule(pair, k=2.0):
        return doubled(pair, k), lambda y_bar: (rl.NoTangent(), (100.0 * y_bar, 0.0), rl.NoTangent())

    try:
        assert [rl.gradient(program, X)[0] for _ in range(2)] == [100.0] * 2
    finally:
        rl.remove_rule(doubled)
    assert rl.gradient(program, X)[0] == pytest.approx(2 + 4 * X)
    monkeypatch.setattr(doubled, "__code__", (lambda pair, k=2.0: pair[0] * pair[1]).__code__)
    assert rl.gradient(program, X)[0] == pytest.approx(3 * X * X)


def test_a_tuple_of_the_outermost_call():
    """Its gradient is a tuple, by `argnums` and by keyword as well, and after a call inside of another."""
    by_position(X)
    rl.gradient(by_position, X)
    for _ in range(3):
        assert rl.gradient(blended, (1.0, 2.0)) == ((4.0, 8.0),)
        assert rl.gradient(blended, (1.0, 2.0), argnums=0) == ((4.0, 8.0),)
        assert rl.gradient(blended, (1.0, 2.0), k=3.0)[0] == (6.0, 12.0)
        assert rl.gradient(blended, (1.0, 0.0))[0] == (4.0, 0.0)
