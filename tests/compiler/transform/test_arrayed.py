"""Arrays that are made of a list which nothing else reads: what flows to one has the items' cotangents."""

import numpy as np
import pytest

import rulelab as rl

from ...differences import gradient_by_differences

XS = np.array([0.7, -1.3, 2.1])
W = np.array([0.3, 1.1, -0.4])


def of_numbers(x):
    return np.sum(np.array([t * t for t in x]) * W)


def of_two_arrays(x):
    return np.sum(np.array([a * b for a, b in zip(x, np.sin(x))]) ** 3)


def as_it_is(x):
    return np.asarray([np.exp(t) for t in x])[1] ** 2


def with_a_condition(x):
    return np.array([t**3 for t in x if t > 0.0]).prod()


def built_in_a_loop(x):
    found = []
    for k in range(5):
        if k % 2:
            found.append(x[k % 3] * k)
        else:
            found.append(1.5)
    return np.cumsum(np.array(found))[3] * x[0]


def anew_in_each_turn(x):
    total = 0.0
    for k in range(3):
        row = [t * x[k] for t in x]
        total += np.sum(np.array(row) ** 2) * k
    return total


def of_rows(x):
    return np.sum(np.stack([x**k for k in range(1, 4)]) ** 2)


def of_rows_as_they_are(x):
    """The very array is each row, and is read beside them."""
    stacked = np.array([x for _ in range(3)])
    return np.sum(stacked * stacked[::-1] * x) + np.sum(x)


def of_tables(x):
    return np.sum(np.array([np.outer(x, x + k) for k in range(2)])[1, :, 0] ** 2)


def with_its_length(x):
    squares = [t * t for t in x]
    return np.sum(np.array(squares)) / len(squares)


def read_twice(x):
    """What flows to the array comes from several readers, one of them with memory of its own."""
    y = np.array([t * 2.0 for t in x])
    z = np.exp(y) * y
    return np.sum(z * y) + y[0] * y @ y


def of_which_nothing_flows(x):
    y = np.array([t * t for t in x])
    return np.sum(x) + np.sum(np.sign(y))


def of_constants_beside(x):
    return np.sum(np.array([1.0 * k for k in range(3)]) * x)


AT_ONCE = [
    of_numbers,
    of_two_arrays,
    as_it_is,
    with_a_condition,
    anew_in_each_turn,
    of_rows,
    with_its_length,
    read_twice,
    of_which_nothing_flows,
]


def read_item_by_item(x):
    squares = [t * t for t in x]
    return np.sum(np.array(squares)) * squares[1]


def changed_later(x):
    rows = [x * k for k in range(3)]
    stacked = np.array(rows)
    rows[0] = x * x
    return np.sum(stacked[1] * rows[0])


def captured(x):
    rows = [x[0] * x[1]]

    def more():
        rows.append(x[2])

    more()
    return np.sum(np.array(rows) ** 2)


def of_another_dtype(x):
    return np.sum(np.array([t * t for t in x], dtype=np.float32).astype(float))


def along_the_last_axis(x):
    return np.sum(np.stack([x * k for k in range(3)], axis=-1)[0] * x)


def written_to(x):
    y = np.array([t * t for t in x])
    y[0] = x[1]
    return np.sum(y * x)


def begun_with_items(x):
    found = [x[0], x[1] * x[2]]
    for k in range(2):
        found.append(x[k])
    return np.sum(np.array(found) ** 2)


OTHERWISE = [
    read_item_by_item,
    changed_later,
    captured,
    along_the_last_axis,
    begun_with_items,
    built_in_a_loop,
    of_rows_as_they_are,
    of_tables,
    of_constants_beside,
]


@pytest.mark.parametrize("f", AT_ONCE + OTHERWISE)
def test_gradients_are_right_in_every_mode(f):
    """By reverse and forward mode, of the first and second order, at the first call and at later ones."""
    wanted = gradient_by_differences(f, XS)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, XS)[0], wanted, rtol=1e-6, atol=1e-7)
    _, back = rl.pullback(f, XS)
    np.testing.assert_allclose(back(2.0)[0], 2.0 * wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(back(2.0)[0], back(2.0)[0])
    by_forward = [rl.pushforward(f, XS)(e) for e in np.eye(3)]
    np.testing.assert_allclose(by_forward, wanted, rtol=1e-6, atol=1e-7)
    second = gradient_by_differences(lambda x: rl.gradient(f, x)[0], XS, 1e-5)
    np.testing.assert_allclose(rl.hessian(f, XS), second, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", AT_ONCE)
def test_the_array_is_made_as_the_author_wrote_it(f):
    """No rule stands for the call, and no item is taken from a list of cotangents."""
    text = str(rl.adjoint_source(f, XS))
    assert "bar_of_item(" in text and "pop_item" not in text
    assert not any(name in text for name in ("array_rule", "asarray_rule", "stack_rule", "with_lists_copied"))


@pytest.mark.parametrize("f", [read_item_by_item, changed_later, captured])
def test_a_list_that_others_read_or_change_goes_the_long_way(f):
    assert "bar_of_item" not in str(rl.adjoint_source(f, XS))


def test_writes_to_the_array_are_refused_as_before():
    with pytest.raises(rl.MutationError):
        rl.gradient(written_to, XS)


def test_other_kinds_of_items():
    """Integers, single precision and lists of unequal arrays: as NumPy has them."""
    counts = lambda x: np.sum(np.array([k * k for k in range(3)]) * x)
    np.testing.assert_allclose(rl.gradient(counts, XS)[0], [0.0, 1.0, 4.0])
    np.testing.assert_allclose(rl.gradient(of_another_dtype, XS)[0], 2 * XS, rtol=1e-6)
    single = rl.gradient(of_numbers, XS.astype(np.float32))[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, 2 * XS * W, rtol=1e-5)
    uneven = lambda x: np.sum(np.stack([x[:k] for k in (2, 3)]))
    for _ in range(2):
        with pytest.raises(ValueError, match="same shape"):
            rl.gradient(uneven, XS)


def test_an_infinite_slope_beside_nothing():
    """Nothing flows to an item that is multiplied by nothing: no NaN comes of an infinite slope."""

    def f(x):
        roots = np.array([np.sqrt(t) for t in x])
        return np.sum(x) if x[0] == 0.0 else np.sum(roots)

    zeros = np.array([0.0, 1.0, 4.0])
    with np.errstate(divide="ignore"):
        for _ in range(3):
            np.testing.assert_array_equal(rl.gradient(f, zeros)[0], np.ones(3))


def test_the_gradient_is_no_view_of_a_value():
    """Each gradient is the caller's own."""
    first, second = (rl.gradient(of_rows_as_they_are, XS)[0] for _ in range(2))
    first[:] = 0.0
    np.testing.assert_allclose(second, gradient_by_differences(of_rows_as_they_are, XS), rtol=1e-6)


def test_a_rule_for_the_function_that_makes_the_array_counts():
    """A rule of the author's for `np.array` is asked from the moment it is there."""
    wanted = rl.gradient(of_numbers, XS)[0]

    try:

        @rl.rrule_for(np.array)
        def array_rrule(x):
            return np.array(x), lambda y_bar: (rl.NoTangent(), [10.0 * b for b in y_bar])

        np.testing.assert_allclose(rl.gradient(of_numbers, XS)[0], 10.0 * wanted)
    finally:
        rl.remove_rule(np.array)
    np.testing.assert_allclose(rl.gradient(of_numbers, XS)[0], wanted)
