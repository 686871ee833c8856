"""Generator expressions that are handed on: what is worked out when, and what goes wrong as in Python.

What they compute is in the corpus (`ordinary.py`), in every mode.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import UnsupportedSyntaxError

SEEN = []


def seen(v):
    SEEN.append(v)
    return v


def test_an_item_is_made_when_it_is_read():
    """What is not read is not worked out, and cannot fail."""

    def program(x):
        g = (1 / v for v in [x, 2 * x, 0.0])
        return next(g) + 3 * next(g)

    assert rl.withgradient(program, 2.0) == (program(2.0), (-1 / 4 - 3 / 8,))


@pytest.mark.parametrize("run", [rl.withgradient, lambda f, x: rl.pushforward(f, x)(1.0)])
def test_the_first_iterable_is_asked_at_once(run):
    """Its error comes where the generator is made, before anything else happens."""

    def program(x):
        g = (v for v in x)
        raise AssertionError(g)

    with pytest.raises(TypeError, match="'float' object is not iterable"):
        run(program, 2.0)


@pytest.mark.parametrize("run", [rl.withgradient, lambda f, x: rl.pushforward(f, x)(1.0)])
def test_a_stop_inside_is_an_error(run):
    """StopIteration in an item or a test does not end it, as it would end `map`."""

    def handed_on(xs):
        return sum(list(xs))

    for program in (
        lambda x: handed_on(next(iter([])) * v for v in [x]),
        lambda x: handed_on(v for v in [x] if next(iter([]))),
    ):
        with pytest.raises(RuntimeError, match="generator raised StopIteration"):
            run(program, 2.0)


def test_a_variable_is_read_when_the_item_is_made():
    """A captured variable that is given another value meanwhile is that value, or the change is refused."""

    def late(x):
        k = 1.0
        g = (k * v for v in [x])
        k = 5.0
        return next(g) * x

    try:
        assert rl.withgradient(late, 2.0) == (20.0, (20.0,))
    except rl.RuleLabError as refusal:
        assert "changed while an iterator was reading it" in str(refusal)
    assert rl.pushforward(late, 2.0)(1.0) == 20.0


def test_a_loop_variable_is_that_of_its_turn():
    """Generators that are kept in a list share the variable of the loop that made them, as in Python."""

    def kept(x):
        generators = [(k * v for v in [x]) for k in (1.0, 2.0)]
        return sum([next(g) for g in generators])

    def read(x):
        return sum([next(k * v for v in [x]) for k in (1.0, 2.0)])

    assert rl.withgradient(read, 2.0) == (6.0, (3.0,))
    assert kept(2.0) == 8.0
    try:
        assert rl.withgradient(kept, 2.0) == (8.0, (4.0,))
    except rl.RuleLabError as refusal:
        assert "changed while an iterator was reading it" in str(refusal)


def test_where_nothing_varies_it_is_a_generator():
    """Constant code gets what Python makes, with its own errors."""

    def program(x):
        g = (v for v in [1.0, 2.0])
        return x * (3.0 if hasattr(g, "send") else 2.0)

    assert rl.gradient(program, 2.0) == (3.0,)


def test_an_assignment_inside_is_refused_under_the_caret():
    """Its variable would be the function's."""

    def program(x):
        g = ((w := v) for v in [x])
        return next(iter(g)) + w

    with pytest.raises(UnsupportedSyntaxError, match="generator expression with := that is passed on") as it:
        rl.gradient(program, 2.0)
    place = it.value.place
    assert place.text[place.column : place.end_column] == "((w := v) for v in [x])"


# -- what ends an iterator in a generator expression --------------------------------------------------------


def stopping(v):
    raise StopIteration(v)


def summed(xs):
    none = iter([])
    return sum(next(none) * v for v in xs)


def listed(xs):
    none = iter([])
    return list(next(none) * v for v in xs)[0]


def largest(xs):
    none = iter([])
    return max((next(none) * v for v in xs), default=0.0)


def chosen(xs):
    none = iter([])
    return xs[0] if any(next(none) > v for v in xs) else xs[1]


def asked_for(xs):
    none = iter([])
    return sum(v for v in xs if next(none))


def of_two(xs):
    none = iter([])
    return sum(v * w for v in xs for w in next(none))


def unpacked(xs):
    none = iter([])
    first, _ = (next(none) * v for v in xs)
    return first


def spread_out(xs):
    none = iter([])
    return [*(next(none) * v for v in xs)][0]


def gone_through(xs):
    none, total = iter([]), 0.0
    for item in (next(none) * v for v in xs):
        total = total + item
    return total


def numbered(xs):
    none, total = iter([]), 0.0
    for number, item in enumerate(next(none) * v for v in xs):
        total = total + number * item
    return total


def of_an_author(xs):
    return sum(stopping(v) for v in xs)


def of_a_few(xs):
    none = iter([])
    return sum(next(none) * v for v in (xs[0], xs[1]))


def after_one(xs):
    one = iter([2.0])
    return sum(next(one) * v for v in xs)


STOPPED = [
    summed, listed, largest, chosen, asked_for, of_two, unpacked, spread_out, gone_through, numbered,
    of_an_author, of_a_few, after_one,
]  # fmt: skip


def in_a_list(xs):
    none = iter([])
    return [next(none) * v for v in xs][0]


def of_the_first(xs):
    return sum(v for v in next(iter([])) if v > 0) * xs[0]


def in_the_body(xs):
    none, total = iter([]), 0.0
    for item in (stopping(v) if v > 9 else v for v in xs):
        total = total + item * next(none)
    return total


PASSED_ON = [in_a_list, of_the_first, in_the_body]


@pytest.mark.parametrize("f", [*STOPPED, *PASSED_ON], ids=lambda f: f.__name__)
def test_what_ends_an_iterator_does_not_leave_a_generator(f):
    """Python makes a RuntimeError of it in a generator expression, and in nothing else."""
    kind = RuntimeError if f in STOPPED else StopIteration
    for run in (f, lambda xs: rl.gradient(f, xs), lambda xs: rl.pushforward(f, xs)([1.0, 0.0])):
        with pytest.raises(kind) as caught:
            run([1.0, 2.0])
        if kind is RuntimeError:
            assert str(caught.value) == "generator raised StopIteration"
            assert type(caught.value.__cause__) is StopIteration


def caught_by_kind(xs):
    none = iter([])
    try:
        return sum(next(none) * v for v in xs)
    except StopIteration:
        return 7.0 * xs[0]
    except RuntimeError:
        return 5.0 * xs[0]


def test_the_handler_is_the_one_that_python_runs():
    """Forwards, where handlers are differentiated."""
    assert caught_by_kind([1.0, 2.0]) == 5.0
    assert rl.pushforward(caught_by_kind, [1.0, 2.0])([1.0, 0.0]) == 5.0


def by_turns(xs):
    weights = iter([2.0, 3.0])
    return sum(next(weights) * v * v for v in xs)


def test_a_generator_that_ends_well_is_differentiated():
    """The same loop, where each item is there."""
    assert rl.gradient(by_turns, [1.0, 2.0])[0] == [4.0, 12.0]
    assert rl.pushforward(by_turns, [1.0, 2.0])([1.0, 1.0]) == 16.0


def of_methods(xs):
    return sum((x * x).sum() for x in xs)


def of_unknown_functions(xs, f):
    return sum(f(x) for x in xs)


def test_only_what_may_end_an_iterator_is_caught():
    """The loop of a sum of squares stays one that is unrolled, or whose items are parameters."""
    xs = [np.ones(2), np.ones(3)]
    assert "StopIteration" not in rl.adjoint_source(of_methods, xs)
    assert "StopIteration" in rl.adjoint_source(of_unknown_functions, [1.0, 2.0], lambda x: x * x)
