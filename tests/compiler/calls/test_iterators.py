"""Iterators inside a pass: read once and lazily as Python reads them, differentiated item by item."""

import array
import collections
import contextlib
import functools
import itertools
import math
import operator

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.errors import (
    ForeignCallError,
    MutatedAfterCaptureError,
    MutationError,
    NotDifferentiableError,
    RuleLabError,
    UnsupportedSyntaxError,
    an,
)
from rulelab.rules.registry import DEFAULT

XS = [1.5, -0.5, 2.0]


def refusal(f, *args, kind=NotDifferentiableError):
    """The error that asking for the gradient gives."""
    with pytest.raises(kind) as caught:
        rl.gradient(f, *args)
    return caught.value


# --- as Python reads them ---


def test_what_map_gives_is_read_once():
    """Reading it again finds nothing, so the second sum adds no derivative."""

    def twice(xs):
        squares = map(lambda v: v * v, xs)
        return sum(squares) + 10.0 * sum(squares)

    assert rl.withgradient(twice, [1.0, 3.0]) == (10.0, ([2.0, 6.0],))


def test_items_are_taken_no_earlier_than_python_takes_them():
    """A function is called for an item when the item is asked for, not before and not if it never is."""
    seen = []

    def noted(v):
        rl.ignore_derivatives(lambda: seen.append(float(v)))
        return v * v

    def first_two(xs):
        squares = map(noted, xs)
        return next(squares) + next(squares)

    assert rl.gradient(first_two, [1.0, 2.0, 3.0]) == ([2.0, 4.0, 0.0],)
    assert seen == [1.0, 2.0]


def test_zip_takes_one_item_too_many_from_the_first_as_python_does():
    """zip asks its first iterator before it finds that the second has ended."""

    def rest(xs):
        it = iter(xs)
        pairs = list(zip(it, [1.0]))
        return pairs[0][0] + 5.0 * sum(it)

    assert rl.withgradient(rest, [1.0, 2.0, 4.0]) == (rest([1.0, 2.0, 4.0]), ([1.0, 0.0, 5.0],))


@pytest.mark.parametrize(
    "f",
    [
        lambda xs: len(map(abs, xs)),
        lambda xs: zip(xs, xs)[0],
        lambda xs: list(zip(xs, xs[1:], strict=True)),
        lambda xs: next(iter(xs[:0])),
        lambda xs: next(xs),
        lambda xs: sum(map(abs, xs[0])),
        lambda xs: sum(map(abs)),
        lambda xs: sum(map(3, xs)),
        lambda xs: functools.reduce(max, xs[:0]),
        lambda xs: functools.reduce(max, xs, 1.0, 2.0),
        lambda xs: functools.reduce(max, iterable=xs),
        lambda xs: sum(itertools.combinations(xs)),
        lambda xs: sum(itertools.accumulate(xs, step=2)),
        lambda xs: sum(filter(xs)),
        lambda xs: sum(reversed(map(abs, xs))),
        lambda xs: list(xs, xs),
        lambda xs: dict(xs),
        lambda xs: dict([(1, 2, xs)]),
        lambda xs: sum(itertools.takewhile(None, xs)),
        lambda xs: sum(enumerate(xs, 0.5)),
    ],
)
def test_a_wrong_call_has_pythons_own_error(f):
    """Type and words are those of the call without us."""
    with pytest.raises(Exception) as wanted:
        f(XS)
    with pytest.raises(wanted.type) as found:
        rl.gradient(f, XS)
    assert str(found.value) == str(wanted.value)


def test_constant_arguments_go_to_the_original():
    """Where nothing varies the author gets what Python makes: a real zip object, which has no `drawn`."""

    def scaled(x):
        pairs = zip([1.0, 2.0], [3.0, 4.0])
        return x * (2.0 if hasattr(pairs, "drawn") else 3.0)

    assert rl.gradient(scaled, 2.0) == (3.0,)


def test_what_filter_drops_has_a_derivative_of_zero():
    """Which items pass depends on their values, so there is a path from each: zeros, not None."""
    assert rl.gradient(lambda xs: sum(filter(None, xs)), [1.0, 0.0, 2.0]) == ([1.0, 0.0, 1.0],)
    assert rl.gradient(lambda xs: sum(filter(lambda v: v > 5, xs)), [1.0]) == ([0.0],)


def test_a_pullback_may_be_asked_again():
    """Nothing is used up by the first call of back."""
    _, back = rl.pullback(lambda xs: sum(map(lambda v: v**3, xs)), XS)
    assert back(1.0) == back(1.0) and back(2.0)[0] == [2 * v for v in back(1.0)[0]]


def test_a_list_that_is_appended_to_and_then_mapped():
    """A list made by a loop over a map is as good as any."""

    def grown(xs):
        out = []
        for v in map(lambda t: t * t, xs):
            out.append(v * len(out))
        return sum(map(lambda t: t * 2, out))

    assert rl.gradient(grown, [1.0, 2.0, 3.0]) == ([0.0, 8.0, 24.0],)


# --- what the functions do that are called ---


def test_a_write_in_a_function_that_is_mapped_is_refused():
    """At the author's line, with the call that leads there."""

    def fills(xs):
        kept = np.zeros(3)

        def put(i):
            kept[i] = 1.0
            return xs[i]

        return sum(map(put, range(3))) + kept[0]

    error = refusal(fills, XS, kind=MutationError)
    assert error.place.function == "put" and [spot.function for spot in error.chain] == ["fills"]


def test_values_that_vary_are_not_kept_out_of_sight():
    """`map(seen.append, xs)` is refused, used or not."""

    def keeps(xs):
        seen = []
        list(map(seen.append, xs))
        return sum(seen)

    error = refusal(keeps, XS, kind=MutationError)
    assert "for each item" in str(error) and error.place.function == "keeps"


def test_an_error_of_a_mapped_function_is_its_own():
    """A ValueError of math stays one."""
    with pytest.raises(ValueError, match="domain|expected a nonnegative"):
        rl.gradient(lambda xs: sum(map(math.sqrt, xs)), XS)


def test_a_foreign_call_in_a_mapped_function_names_the_authors_line():
    """The place is the call itself, the chain the map that leads there."""

    def interpolated(v):
        return np.apply_over_axes(np.sum, v, 0)

    def total(xs):
        return functools.reduce(lambda s, v: s + interpolated(v), xs, 0.0)

    error = refusal(total, XS, kind=ForeignCallError)
    assert error.place.function == "interpolated" and error.chain[0].function == "total"


def test_a_rule_of_the_users_goes_first():
    """A rule for functools.reduce is used instead of ours, and ours is back when it goes."""

    def total(xs):
        return functools.reduce(lambda a, b: a + b, xs)

    @rl.rrule_for(functools.reduce)
    def reduce_rrule(f, xs):
        return functools.reduce(f, xs), lambda y_bar: (
            rl.NoTangent(),
            rl.NoTangent(),
            [9.0 * y_bar] * len(xs),
        )

    try:
        assert rl.gradient(total, [1.0, 2.0]) == ([9.0, 9.0],)
    finally:
        DEFAULT.remove(functools.reduce)
    assert rl.gradient(total, [1.0, 2.0]) == ([1.0, 1.0],)


# --- what is refused ---


@pytest.mark.parametrize(
    ("f", "found", "fix"),
    [
        (lambda xs: sum(set(xs)), "The items of a set cannot be differentiated", "convert"),
        (lambda xs: [k for k, _ in itertools.groupby(xs)][0], "itertools.groupby", "dict of lists"),
        (lambda xs: next(itertools.count(xs[0])), "itertools.count", "enumerate"),
        (lambda xs: next(iter(lambda: xs[0], 0.0)), "a sentinel", "while loop"),
    ],
)
def test_what_is_not_taken_says_what_to_do(f, found, fix):
    """One line of what was found, at the author's line, and a way around."""
    error = refusal(f, XS)
    assert found in str(error) and any(fix in line for line in error.fixes)
    assert error.place.function == "<lambda>" and error.read == "limitations#iteration"


@pytest.mark.parametrize(
    "items", [iter(XS), itertools.chain(XS), set(XS), collections.deque(XS), array.array("d", XS)]
)
def test_items_that_cannot_be_followed_are_refused(items):
    """An iterator from outside, a set, a deque: their items would lose their gradient without a word."""
    found = refusal(lambda xs: sum(xs), items)
    assert f"The items of {an(type(items).__name__)} cannot be differentiated" in str(found)


def test_questions_about_such_items_are_not():
    """Length and membership are constants, and whole numbers in a set are indices."""
    assert rl.gradient(lambda s, x: x * len(s) if 2.0 in s else x, {1.0, 2.0}, 3.0) == (None, 2.0)
    found = rl.gradient(lambda s, x: sum([x[i] for i in sorted(s)]), {0, 2}, np.array(XS))
    assert found[0] is None and found[1].tolist() == [1.0, 0.0, 1.0]


class Generated:
    def __init__(self, xs):
        self.xs = xs

    def __iter__(self):
        for x in self.xs:
            yield 2 * x


class Counting:
    def __init__(self, xs):
        self.xs, self.at = xs, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        return self.xs[self.at]


def looped(items):
    total = 0.0
    for x in items:
        total += x
    return total


def test_a_generator_as_iter_is_refused_with_the_way_around():
    """The yield is shown, and that a list would do."""
    error = refusal(looped, Generated(XS), kind=UnsupportedSyntaxError)
    assert error.place.function == "__iter__" and error.chain[-1].function == "looped"
    assert error.fixes[0] == "return iter([...]) of a list instead of yield"


def test_an_iterator_class_that_changes_is_refused():
    """Its __next__ writes to itself."""
    error = refusal(looped, Counting(XS))
    assert "its iterator, a Counting, changes while it is read" in str(error)


class Doubled(list):
    def __iter__(self):
        return iter([2 * v for v in list.copy(self)])


@pytest.mark.parametrize(
    "f", [looped, sum, lambda x: list(x)[0] + x[1] + sum(map(abs, x)), lambda x: max(x) * min(x)]
)
def test_a_list_that_hands_out_other_items_than_it_holds(f):
    """Value and gradient follow its __iter__, not what is stored."""
    xs, h = [1.0, 3.0], 1e-6
    value, (gradient,) = rl.withgradient(f, Doubled(xs))
    assert value == f(Doubled(xs))
    wanted = [
        (f(Doubled([1.0 + h, 3.0])) - f(Doubled([1.0 - h, 3.0]))) / (2 * h),
        (f(Doubled([1.0, 3.0 + h])) - f(Doubled([1.0, 3.0 - h]))) / (2 * h),
    ]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7)


def test_a_list_with_items_of_its_own_is_not_given_to_numpy():
    """np.array reads the stored items of some and the handed out of others: refused."""
    refusal(lambda x: np.sum(np.array(x)), Doubled([1.0, 3.0]), kind=RuleLabError)


def test_an_array_changed_between_the_sweeps_is_noticed():
    """Also one that only the items of an iterator hold on to."""
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    _, back = rl.pullback(lambda m: sum(map(lambda row: row @ row, m)), x)
    x[0, 0] = 9.0
    with pytest.raises(MutatedAfterCaptureError):
        back(1.0)


@pytest.mark.parametrize(
    "change",
    [
        lambda xs: xs.append(1.0),
        lambda xs: xs.pop(),
        lambda xs: xs.insert(0, 1.0),
        lambda xs: xs.__setitem__(1, 7.5),
    ],
)
@pytest.mark.parametrize("read", [lambda it: next(it), lambda it: sum(it)])
def test_a_list_changed_while_it_is_read_is_refused(change, read):
    """A position would be one of another list then, and the cotangent would go to the wrong item."""

    def f(xs):
        it = iter(xs)
        first = next(it)
        rl.ignore_derivatives(lambda: change(xs))
        return first + read(it)

    error = refusal(f, [1.5, 2.5], kind=MutationError)
    told = ("was changed while an iterator was reading it", "Ignored code replaced a part of an argument")
    assert any(words in str(error) for words in told)


def kept_by(test):
    """A function that puts what it is asked about into a list, by a method of the list, and reads that."""

    def f(x):
        kept = [x]
        test(kept.append, x)
        return kept[-1] * x

    return f


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "ask",
    [
        lambda keep, x: list(filter(keep, [x * x, 3 * x])),
        lambda keep, x: list(itertools.filterfalse(keep, [x * x, 3 * x])),
        lambda keep, x: list(itertools.takewhile(keep, [x * x, 3 * x])),
        lambda keep, x: list(itertools.dropwhile(keep, [x * x, 3 * x])),
        lambda keep, x: np.vectorize(lambda value: keep(value) or value)(np.ones(2) * x * x),
    ],
    ids=["filter", "filterfalse", "takewhile", "dropwhile", "vectorize"],
)
def test_what_a_question_changes_is_followed_or_refused(ask):
    """A question that is a container's own method writes; its answers alone are no derivative."""
    f, x, h = kept_by(ask), 1.3, 1e-4
    slope, curvature = (f(x + h) - f(x - h)) / (2 * h), (f(x + h) - 2 * f(x) + f(x - h)) / h**2
    pushed = lambda x: rl.pushforward(f, x)(1.0)  # noqa: E731
    assert pushed(x) == pytest.approx(slope, rel=1e-6)
    assert rl.pushforward(pushed, x)(1.0) == pytest.approx(curvature, rel=1e-5)
    with contextlib.suppress(MutationError):
        assert rl.gradient(f, x) == pytest.approx((slope,), rel=1e-6)
    with contextlib.suppress(MutationError):
        assert rl.hessian(f, x) == pytest.approx(curvature, rel=1e-5)


def test_what_is_called_for_each_item_is_found_once(monkeypatch):
    """The handlers of functions of C are remembered from one gradient to the next."""

    def f(xs):
        return sum(itertools.accumulate(map(math.sin, xs)))

    wanted = [3 * math.cos(XS[0]), 2 * math.cos(XS[1]), math.cos(XS[2])]
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, XS)[0], wanted)
    asked, find = [], Pullbacks.find

    def finding(self, g, *rest):
        asked.append(g)
        return find(self, g, *rest)

    monkeypatch.setattr(Pullbacks, "find", finding)
    np.testing.assert_allclose(rl.gradient(f, XS)[0], wanted)
    assert not {math.sin, operator.add} & set(filter(callable, asked))


def test_a_rule_that_comes_counts_for_what_is_called_for_each_item():
    def f(xs):
        return sum(map(math.cosh, xs))

    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, XS)[0], np.sinh(XS))
    rl.rrule_for(math.cosh)(lambda x: (math.cosh(x), lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
    try:
        np.testing.assert_allclose(rl.gradient(f, XS)[0], 7.0)
    finally:
        rl.remove_rule(math.cosh)
