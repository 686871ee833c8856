"""Generator expressions in a `zip` over the parts of an argument: their items are computed before they are
asked for, where that makes no difference.
"""

import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import DEFAULT, Cache
from rulelab.compiler.calls.opened import Way

pytestmark = pytest.mark.usefixtures("as_users_run_it")


def squares_beside(xs):
    return sum([a * b for a, b in zip((v * v for v in xs), xs)])


def two_beside(xs):
    total = xs[0]
    for a, b in zip((v * v for v in xs), (v + 1 for v in xs), strict=True):
        total = total + a * b
    return total


def one_more(xs):
    return sum(a * b for a, b in zip((v * v for v in xs), xs[1:]))


def of_two_loops(xs):
    return sum(a * b for a, b in zip((v * w for v in xs[:2] for w in xs[:2]), (*xs[:2], *xs[:2])))


def counted_early(xs):
    return sum([k * a * b for (k, a), b in zip(enumerate((v * v for v in xs), 1), xs)])


def helped(xs):
    return sum([a * b for a, b in zip((twice(v) for v in xs), xs)])


def twice(v):
    return 2.0 * v


EARLY = [squares_beside, two_beside, one_more, counted_early, helped]


def two_more(xs):
    return sum(a * b for a, b in zip((1.0 / v for v in xs), xs[2:]))


def one_more_of_zero(xs):
    return xs[0] * sum(a * b for a, b in zip((1.0 / (v - 3.0) for v in xs), xs[1:]))


def one_more_behind(xs):
    return sum(a * b for b, a, c in zip(xs[1:], (1.0 / (v - 3.0) for v in xs), xs, strict=False))


def one_more_warned(xs):
    return sum(a * b for a, b in zip((np.log(v - 3.0) ** 2 for v in xs), xs[:1]))


def left_early(xs):
    total = xs[0]
    for a, b in zip((1.0 / (v - 3.0) for v in xs), xs):
        total = total + a * b
        if b > 1.5:
            break
    return total


def rebound(xs):
    total = factor = xs[0]
    for a, b in zip((factor * v for v in xs), xs):
        total, factor = total + a * b, factor * 3.0
    return total


def rebound_by_the_items(xs):
    total, last = xs[0], 1.0
    for a, b in zip((last := v * v for v in xs), xs):
        total = total + a * b * last
    return total


def rebound_by_a_function(xs):
    total = factor = xs[0]

    def grow(v):
        nonlocal factor
        factor = factor * 2.0
        return v * factor

    for a, b in zip((factor * v for v in xs), xs):
        total = total + a * grow(b)
    return total


def a_list_written_to(xs):
    total, kept = xs[0], [1.0, 2.0]
    for a, b in zip((kept[0] * v for v in xs), xs):
        total = total + a * b
        kept[0] = kept[0] * 2.0
    return total


def a_list_appended_to(xs):
    total, kept = xs[0], [1.0]
    for a, b in zip((kept[-1] * v for v in xs), xs):
        total = total + a * b
        kept.append(b)
    return total


def an_alias_written_to(xs):
    total, kept = xs[0], [1.0, 2.0]
    same = kept
    for a, b in zip((kept[0] * v for v in xs), xs):
        total = total + a * b
        same[0] = b * 2.0
    return total


def the_item_of_the_turn_before(xs):
    a = b = xs[0]
    for a, b in zip((b * v for v in xs), xs):
        pass
    return a * b


def not_equally_many(xs):
    return sum(a * b for a, b in zip((v * v for v in xs), xs[1:], strict=True))


def stopped_by_next(xs):
    rest = iter(xs[1:])
    return sum([a * b for a, b in zip((v * next(rest) for v in xs), xs)])


ODD = [
    *(of_two_loops, two_more, one_more_of_zero, one_more_behind, one_more_warned, left_early, rebound),
    *(rebound_by_the_items, rebound_by_a_function, a_list_written_to, a_list_appended_to),
    *(an_alias_written_to, the_item_of_the_turn_before, not_equally_many, stopped_by_next),
]


def outcome(f, xs, **words):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(rl.gradient(f, xs, **words))
        except Exception as error:
            found = type(error), str(error).splitlines()[0]
    return found, {str(one.message) for one in caught}


@pytest.mark.parametrize("f", [*EARLY, *ODD])
@pytest.mark.parametrize("kind", [float, np.float64])
def test_items_of_a_list_are_computed_early_only_where_nobody_can_tell(f, kind):
    """The same numbers, errors and warnings as by the sweeps that ask for them one by one."""
    for xs in ([1.0, 2.0, 4.0], [1.0, 2.0, 3.0], [0.0, 2.0]):
        given = [kind(x) for x in xs]
        wanted = outcome(f, given, cache=Cache())
        assert all(outcome(f, given) == wanted for _ in range(4)), xs


@pytest.mark.parametrize("f", EARLY)
def test_a_loop_over_generators_of_a_list_is_written_out(f):
    """A pass takes the parts of the list, and no generator is made."""
    for _ in range(3):
        rl.gradient(f, [1.0, 2.0, 4.0])
    found = DEFAULT.memory.ways[id(f.__code__)].by_key.values()
    assert any(isinstance(way, Way) for way in found)


def test_a_function_that_gets_a_rule_is_not_run_early():
    """A rule that comes later is used."""
    for _ in range(3):
        assert rl.gradient(helped, [1.0, 2.0])[0] == pytest.approx([4.0, 8.0])
    rl.rrule_for(twice)(lambda v: (2.0 * v, lambda y_bar: (rl.NoTangent(), 5.0 * y_bar)))
    try:
        assert rl.gradient(helped, [1.0, 2.0])[0] == pytest.approx([7.0, 14.0])
    finally:
        rl.remove_rule(twice)
    assert rl.gradient(helped, [1.0, 2.0])[0] == pytest.approx([4.0, 8.0])
