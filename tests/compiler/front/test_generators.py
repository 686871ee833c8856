"""Generator expressions that are handed on: what is worked out when, and what goes wrong as in Python.

What they compute is in the corpus (`ordinary.py`), in every mode.
"""

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
        return next(g) + w

    with pytest.raises(UnsupportedSyntaxError, match="generator expression with := that is passed on") as it:
        rl.gradient(program, 2.0)
    place = it.value.place
    assert place.text[place.column : place.end_column] == "((w := v) for v in [x])"
