"""Lists and tuples of numbers beside arrays are read as the arrays that NumPy makes of them, numbers of
NumPy's that have an index as arrays of one number, and `x.item(i)` as `float(x[i])`.
"""

import warnings

import numpy as np
import pytest

import rulelab as rl

from ...differences import gradient_by_differences

V = np.array([0.3, 1.2, 0.7])


def times_a_list(v):
    return np.sum(v * [1.0, v[0], 3])


def a_tuple_less(v):
    return np.sum(((v[1], 1.0, v[2]) - v) ** 3)


def powers(v):
    return np.sum(v ** (2, v[0], 1.5) / [v[2], 2.0, 1.0])


def products(v):
    return v @ [[v[0], 1.0], [2.0, v[1]], (0.5, v[2])] @ (1.0, v[0])


def of_a_ufunc(v):
    return np.sum(np.hypot([v[0], 1.0], (2.0, v[1])) + np.exp([v[0], v[1]]) + np.arctan2(v[2], [1.0, v[0]]))


def broadcast(v):
    return np.sum([[v[0]], [2.0]] * v) + np.sum(np.outer(v, v) - [v[2], 1.0, 0.0])


def read_twice(v):
    row = (v[0], 2.0, v[1])
    return np.sum(v * row) * np.sum(row - v) + row[0]


def in_a_loop(v):
    total, row = 0.0, [v[0], 1.0, v[2]]
    for i in range(3):
        w = v * [1.0, i, v[0]]
        total += np.sum(w * w)
    return total + np.sum(v * row)


def numbers_with_an_index(v):
    s = np.sum(v * v)
    return s[()] * np.sum(s[None] ** 2) + np.sum(s[..., None] * v) + s[...] * s[None, None][0, 0]


def changed_before(v):
    row = [v[0], 1.0, v[2]]
    row[1] = v[1] * v[1]
    return np.sum(v * row)


def seen_by_others(v):
    row = [v[0], 1.0, v[2]]
    rows = [row]
    first = np.sum(v * row)
    rows[0][0] = v[1]
    return first * np.sum(v * row)


def items_of_arrays(v):
    found = v.item(0) * v.item(-1)
    for i in range(len(v)):
        found += v.item(i) ** 2 * v.item(0)
    rows = np.outer(v, v)
    for i in range(2):
        for j in range(3):
            found += rows.item(i, j) * v.item(j)
    return found + rows.item(4) + rows.item((1, 2)) + np.sum(v).item() * v[:1].item()


ALL = [times_a_list, a_tuple_less, powers, products, of_a_ufunc, broadcast, read_twice, in_a_loop]
ALL += [changed_before, seen_by_others, numbers_with_an_index, items_of_arrays]


@pytest.mark.parametrize("f", ALL)
def test_they_have_the_slopes_of_their_items(f):
    """In both modes, and again by the pass that a second call has."""
    wanted = gradient_by_differences(f, V)
    for _ in range(3):
        assert rl.gradient(f, V)[0] == pytest.approx(wanted, rel=1e-6)
    for v_dot in np.eye(3):
        assert rl.pushforward(f, V)(v_dot) == pytest.approx(v_dot @ wanted, rel=1e-6)
    curved = gradient_by_differences(lambda v: rl.gradient(f, v)[0], V)
    assert rl.hessian(f, V) == pytest.approx(curved, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    "f", [times_a_list, a_tuple_less, powers, products, of_a_ufunc, broadcast, read_twice]
)
def test_nothing_is_looked_up_for_them(f):
    """All that such a function does is written out, or a rule that is called by its name."""
    assert "_at(" not in rl.adjoint_source(f, V)


@pytest.mark.parametrize("dtype", ["f4", "i4", "c8", "?"])
def test_the_list_decides_of_the_dtype(dtype):
    """A list of floats is an array of doubles beside an array of any dtype."""
    given = np.array([1, 2, 3]).astype(dtype)

    def f(v):
        return np.sum(np.abs(v * [0.1, 2.0, 1.0] + (1, 2, 3)))

    for _ in range(3):
        value, (slope,) = rl.withgradient(f, given)
        assert value == f(given) and value.dtype == f(given).dtype
        assert slope is None or slope.dtype == (given.dtype if given.dtype.kind in "fc" else float)


def test_what_becomes_no_array_of_numbers_is_refused():
    """Whole numbers that fit in none of NumPy's become objects."""
    for _ in range(2):
        with pytest.raises(rl.NotDifferentiableError, match="dtype object"):
            rl.gradient(lambda v: np.sum(v * [10**30, 1, 2]), V)


def test_the_warnings_and_errors_are_those_of_the_operation():
    """Each once, as without a derivative."""

    def divided(v):
        return np.sum(v / [0.0, 1.0, 2.0])

    def too_long(v):
        return np.sum(v * [1.0, 2.0])

    def uneven(v):
        return np.sum(v * [[1.0], [1.0, 2.0]])

    for _ in range(3):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with np.errstate(over="ignore", invalid="ignore"):
                rl.gradient(divided, V)
        assert [str(w.message) for w in found][:1] == ["divide by zero encountered in divide"]
        for f in (too_long, uneven):
            with pytest.raises(ValueError) as wanted:
                f(V)
            with pytest.raises(ValueError) as error:
                rl.gradient(f, V)
            assert str(error.value).splitlines()[0] == str(wanted.value)


def test_an_index_that_a_number_does_not_take():
    """It fails as one of an array without dimensions does."""
    for _ in range(3):
        with pytest.raises(IndexError):
            rl.gradient(lambda v: np.sum(v)[0], V)


@pytest.mark.parametrize("place", [3, -4, True, 1.0, None, "a"])
def test_places_of_items(place):
    """Their items are Python's floats, and a place that is none raises what NumPy raises."""
    given = {1: V, 2: np.outer(V, V)}
    for f in (lambda v: v.item(place), lambda v: np.outer(v, v).item(0, place)):
        for _ in range(2):
            with pytest.raises((IndexError, TypeError, OverflowError)) as wanted:
                f(V)
            with pytest.raises((IndexError, TypeError, OverflowError)) as error:
                rl.gradient(f, V)
            assert str(error.value).splitlines()[0] == str(wanted.value)
    assert all(type(rl.withgradient(lambda v: v.item(0), x.ravel())[0]) is float for x in given.values())


def test_a_place_that_no_array_has():
    """NumPy says something else of it when it is an index."""
    for _ in range(2):
        with pytest.raises(OverflowError):
            rl.gradient(lambda v: v.item(1000000000000000000000000000000), V)


def test_items_of_other_arrays():
    """Of complex numbers, of one number alone and of short floats."""
    for _ in range(2):
        assert rl.gradient(lambda v: abs(v.item(1)) ** 2, V + 1j)[0][1] == pytest.approx(2 * (V[1] + 1j))
        assert rl.gradient(lambda v: v.item(0) ** 2, np.float32([3.0, 1.0]))[0].tolist() == [6.0, 0.0]
        assert rl.gradient(lambda v: v.item() ** 2, np.array(3.0))[0] == 6.0


def test_a_rule_for_items_comes_first():
    def f(v):
        return v.item(1) * 2.0

    def rule(v, place):
        return 7.0, lambda y_bar: (rl.NoTangent(), np.ones(3) * y_bar, rl.NoTangent())

    before = [rl.gradient(f, V)[0].tolist() for _ in range(3)]
    rl.rrule_for(np.ndarray.item)(rule)
    try:
        with rl.debug_mode(compare=False):
            assert rl.gradient(f, V)[0].tolist() == [2.0, 2.0, 2.0]
    finally:
        rl.remove_rule(np.ndarray.item)
    assert rl.gradient(f, V)[0].tolist() == before[0] == [0.0, 2.0, 0.0]


def test_a_rule_of_the_authors_comes_first():
    """What the author says of a function of lists holds, also when it is said later."""

    def f(v):
        return np.sum(np.cbrt([v[0], v[1]]))

    def rule(x: list):
        return np.cbrt(x), lambda y_bar: (rl.NoTangent(), [7.0, 5.0])

    before = [rl.gradient(f, V)[0] for _ in range(3)]
    rl.rrule_for(np.cbrt)(rule)
    try:
        assert rl.gradient(f, V)[0].tolist() == [7.0, 5.0, 0.0]
    finally:
        rl.remove_rule(np.cbrt)
    assert (rl.gradient(f, V)[0] == before[0]).all()
