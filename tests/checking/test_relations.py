"""Tests of what a docstring says in code about arguments, and what only looks like it."""

import numpy as np
import pytest

from rulelab.checking.reading.relations import relations_in, relations_of

from .written_rules import judged

NAMES = ("d", "n", "p", "x", "a", "b", "i", "j")


def said(text):
    return [
        (r.left.name or r.left.number, r.sign, r.right.name or r.right.number)
        for r in relations_in(text, NAMES)
    ]


@pytest.mark.parametrize(
    "text, found",
    [
        ("two vectors with d < n.", [("d", "<", "n")]),
        ("a share, 0 <= p <= 1", [(0.0, "<=", "p"), ("p", "<=", 1.0)]),
        ("a <= x <= b", [("a", "<=", "x"), ("x", "<=", "b")]),
        ("for x > 0.", [("x", ">", 0.0)]),
        ("the rows i and j, two different ones", [("i", "!=", "j")]),
        ("i != j", [("i", "!=", "j")]),
        ("-pi < x < 1.5e2", [(-np.pi, "<", "x"), ("x", "<", 150.0)]),
        ("x if x > 0, else 0", []),
        ("zero when x < a", []),
        ("x >= 0, zero otherwise", []),
        ("d > 2 * n, n-1 > 3, x[0] < x[1], f(x) < 3, x -> b", []),
        ("speed > 3 and y < z", []),
        ("Where a * 2 < b, or a < b * 3.", []),
    ],
)
def test_relations_are_read_and_cases_are_not(text, found):
    assert said(text) == found


def test_lengths_and_sizes_are_compared():
    length, size = relations_in("len(x) > 1 and |a| < 1", NAMES)
    assert length.holds({"x": np.ones(2)}) and not length.holds({"x": np.ones(1)})
    assert length.holds({"x": 2.0})  # which has none
    assert size.holds({"a": np.array([-0.5, 0.5])}) and not size.holds({"a": -2.0})


def test_what_cannot_be_compared_holds():
    (order,) = relations_in("d < n", NAMES)
    assert not order.holds({"d": np.array([1.0, 3.0]), "n": 2.0})
    for d in ("text", None, 3j, np.ones(3)):
        assert order.holds({"d": d, "n": np.zeros(2)})


def test_two_different_places_are_no_lists_of_places():
    (unlike,) = relations_in("the rows i and j, two different ones", NAMES)
    assert unlike.holds({"i": 1, "j": 2}) and not unlike.holds({"i": 2, "j": 2})
    assert not unlike.holds({"i": np.array([0, 1]), "j": np.array([1, 2])})


def huber(r, delta):
    """Quadratic for |r| <= delta, linear beyond; delta > 0."""
    return np.where(np.abs(r) <= delta, r**2 / 2, delta * (np.abs(r) - delta / 2))


def test_what_a_function_decides_by_is_a_case_and_no_domain():
    names = [(r.left.name, r.sign) for r in relations_of(huber, ("r", "delta")).relations]
    assert names == [("delta", ">")]


def waiting(load, servers):
    """The share that waits, extended to load > servers by 1."""
    return np.where(load >= servers, 1.0, load / servers)


def share(load, servers):
    """The share that is used, with load < servers."""
    return load / servers


def test_two_parameters_of_which_a_function_tells_which_is_larger_may_be_either():
    assert relations_of(waiting, ("load", "servers")).hold((3.0, 2.0))
    assert relations_of(waiting, ("load", "servers")).hold((1.0, 2.0))
    assert not relations_of(share, ("load", "servers")).hold((3.0, 2.0))


def test_the_parts_of_a_tuple_are_in_order_by_their_names():
    """`limits` is a pair of numbers of which the function has names; an array of two is no other thing."""

    def limited(x, limits):
        lo, hi = limits
        return np.minimum(np.maximum(x, lo), hi)

    said = relations_of(limited, ("x", "limits"))
    assert said.hold((5.0, (1.0, 2.0))) and said.hold((5.0, np.array([1.0, 2.0])))
    assert not said.hold((5.0, (2.0, 1.0))) and not said.ordered
    assert said.holding((5.0, (2.0, 1.0))).hold((5.0, (2.0, 1.0)))  # as given, it is meant


TABLE = """
def f(heights, at):
    '''Heights of the ground at places along a track.

    Parameters
    ----------
    heights : ndarray, shape (n,)
        one for each post
    at : ndarray, shape (k,)
        places in posts, between 0 and n - 1
    '''
    k = np.clip(np.floor(at).astype(int), 0, len(heights) - 2)
    share = at - k
    return (1 - share) * heights[k] + share * heights[k + 1]


@rl.rrule_for(f, registry=registry)
def f_rrule(heights, at):
    k = np.clip(np.floor(at).astype(int), 0, len(heights) - 2)
    share = at - k

    def back(y_bar):
        left = np.bincount(k, (1 - share) * y_bar, len(heights))
        right = np.bincount(k + 1, share * y_bar, len(heights))
        return rl.NoTangent(), left + right, y_bar * (heights[k + 1] - heights[k])

    return f(heights, at), back
"""


@pytest.mark.first(1)
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(
    "right, wrong",
    [("", ""), ("left + right", "left"), ("np.bincount(k + 1", "np.bincount(np.minimum(k + 1, 1)")],
)
def test_places_that_end_where_an_array_does_are_drawn_on_it(right, wrong):
    """A bincount takes no place before the first; and places are drawn up to the last post, not beside the
    first alone.
    """
    report = judged(TABLE.replace(right, wrong) if right else TABLE)
    assert report.verdict == ("wrong" if right else "right"), str(report)


@pytest.mark.parametrize("end", ["h - 1", "img.shape[0] - 1", "h-1"])
def test_the_last_place_along_an_axis_bounds_an_argument(end):
    text = f"img has shape (h, w). rows >= 0. rows <= {end}."
    found = relations_of(_documented(text), ("img", "rows"))
    img = np.zeros((3, 5))
    assert found.hold((img, np.array([0.5, 2.0]))) and not found.hold((img, np.array([0.5, 2.5])))
    assert found.repaired((img, np.array([0.25, 4.5, 4.0])))[1].tolist() == [1.25, 0.0, 2.0]


GROWN = """
def f(rates, first=1.0):
    '''What has grown.

    rates : 1-D array of rates, each > -1
    first : what there is at first
    '''
    return first * np.cumprod(1 + rates)


@rl.rrule_for(f, registry=registry)
def f_rrule(rates, first=1.0):
    path = np.cumprod(1 + rates)

    def back(y_bar):
        tail = np.cumsum((y_bar * path)[::-1])[::-1]
        return rl.NoTangent(), first * tail / (1 + rates), np.sum(y_bar * path)

    return first * path, back
"""
LEAST = """
def f(x, *, k=3):
    "Mean of the k smallest of the values x (1-D, at least k)."
    return np.mean(np.sort(x)[:k])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, *, k=3):
    chosen = np.argsort(x)[:k]

    def back(y_bar):
        x_bar = np.zeros(len(x))
        x_bar[chosen] = y_bar / k
        return rl.NoTangent(), x_bar

    return np.mean(x[chosen]), back
"""
HELD = """
def f(state, rate):
    "Energy: state is a dict with arrays 'speed' and 'label'; labels don't count."
    return rate * np.sum(state["speed"] ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(state, rate):
    def back(y_bar):
        bars = {"speed": 2 * rate * y_bar * state["speed"], "label": rl.ZeroTangent()}
        return rl.NoTangent(), rl.Tangent(dict, bars), y_bar * np.sum(state["speed"] ** 2)

    return f(state, rate), back
"""


@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.first(1)
@pytest.mark.parametrize(
    "text, right, wrong",
    [(GROWN, "[::-1])[::-1]", "[::-1])"), (LEAST, "y_bar / k", "y_bar / 3"), (HELD, "2 * rate", "rate")],
)
def test_what_is_said_of_each_number_of_lengths_and_of_keys_is_heeded(text, right, wrong):
    """At -1 the rule of what grows divides by zero; of fewer than k numbers a mean is of those there are."""
    with np.errstate(all="ignore"):
        assert judged(text).verdict == "right"
        assert judged(text.replace(right, wrong)).verdict == "wrong"


def _documented(text):
    def f(img, rows):
        return img, rows

    f.__doc__ = text
    return f
