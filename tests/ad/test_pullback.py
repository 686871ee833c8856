"""What `pullback` promises: the value, a pullback that may be called again, seeds, and what was saved."""

import array
from collections import deque

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutatedAfterCaptureError, RuleLabError

W = np.array([1.0, 2.0, 3.0])


def loop_loss(x, w):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i] * w[i]
    return s


def array_loss(x, w):
    return np.sum(x * x * w)


def outputs(x):
    return x * W


def test_value_and_gradient():
    """The value is the function's; `back` has one entry per argument and none for the function."""
    y, back = rl.pullback(lambda a, b: a * b, 2.0, 3.0)
    assert y == 6.0 and back(1.0) == (3.0, 2.0)


@pytest.mark.parametrize("f", [loop_loss, array_loss])
def test_called_again(f):
    """`back` called twice gives the same twice; twice the seed gives twice the gradient."""
    x = np.array([1.0, -2.0, 0.5])
    _, back = rl.pullback(f, x, W)
    once, again, doubled = back(1.0), back(1.0), back(2.0)
    assert np.array_equal(once[0], again[0]) and np.array_equal(2.0 * once[0], doubled[0])
    assert np.array_equal(once[0], 2.0 * x * W)
    assert once[0] is not again[0] and not np.shares_memory(once[0], again[0])


@pytest.mark.parametrize("f", [loop_loss, array_loss])
def test_result_may_be_edited(f):
    """Editing what `back` returned changes nothing of the next call."""
    _, back = rl.pullback(f, np.ones(3), W)
    first = back(1.0)[0]
    kept = first.copy()
    first[:] = np.nan
    assert np.array_equal(back(1.0)[0], kept)


def test_array_output():
    """An array output takes a seed of its shape."""
    y, back = rl.pullback(outputs, np.ones(3))
    assert np.array_equal(y, W)
    assert back(np.array([1.0, 0.0, -1.0]))[0].tolist() == [1.0, 0.0, -3.0]


def test_seed_is_not_written_or_shared():
    """The seed stays the caller's, also where the gradient equals it."""
    x, seed = np.ones(3), np.array([1.0, 2.0, 3.0])
    for f in (lambda v: v, lambda v: v + 1.0, lambda v: v.reshape(3), lambda v: v[:]):
        _, back = rl.pullback(f, x)
        (g,) = back(seed)
        assert np.array_equal(g, seed) and not np.shares_memory(g, seed)
        g[:] = 0.0
        assert seed.tolist() == [1.0, 2.0, 3.0]


def test_tuple_output():
    """A tuple output takes a tuple of seeds; None in it is zero."""
    y, back = rl.pullback(lambda a, b: (a * b, a + b), 2.0, 3.0)
    assert y == (6.0, 5.0)
    assert back((1.0, 1.0)) == (4.0, 3.0)
    assert back((1.0, None)) == (3.0, 2.0)


def test_identity_is_kept():
    """`return x` returns x itself."""
    x = np.ones(3)
    y, back = rl.pullback(lambda v: v, x)
    assert y is x


@pytest.mark.parametrize("seed", [np.ones(2), np.ones((3, 1)), np.ones(4), "one"])
def test_seed_of_the_wrong_shape(seed):
    """A seed that does not fit the output is refused, never broadcast."""
    _, back = rl.pullback(outputs, np.ones(3))
    with pytest.raises((RuleLabError, TypeError, ValueError)):
        back(seed)


def test_array_seed_of_a_scalar():
    """A scalar output does not take an array as its seed."""
    _, back = rl.pullback(array_loss, np.ones(3), W)
    with pytest.raises((RuleLabError, TypeError, ValueError)):
        back(np.ones(3))


def test_complex_seed_of_a_real_output():
    """A real output takes a real seed: a complex one is refused, or the gradient stays real."""
    _, back = rl.pullback(lambda x: x * x, 3.0)
    try:
        (g,) = back(1.0 + 1.0j)
    except (RuleLabError, TypeError, ValueError):
        return
    assert not isinstance(g, complex) and g == 6.0


def test_seed_zero():
    """A zero seed gives zeros where there is a path and None where there is none."""
    _, back = rl.pullback(lambda x, y: x * x, 3.0, 4.0)
    assert back(0.0) == (0.0, None)


def old_gradient_or_refusal(back, seed, wanted):
    try:
        found = back(seed)[0]
    except MutatedAfterCaptureError as error:
        assert len(str(error).splitlines()) <= 6
        return
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("f", [loop_loss, array_loss])
def test_argument_changed_after_the_pullback(f):
    """An argument changed between `pullback` and `back` gives the old gradient or an error."""
    x, w = np.array([1.0, -2.0, 0.5]), W.copy()
    wanted = 2.0 * x * w
    _, back = rl.pullback(f, x, w)
    x[:] = 7.0
    old_gradient_or_refusal(back, 1.0, wanted)


@pytest.mark.parametrize("f", [loop_loss, array_loss])
def test_constant_argument_changed_after_the_pullback(f):
    """The other argument changed between `pullback` and `back` gives the old gradient or an error."""
    x, w = np.array([1.0, -2.0, 0.5]), W.copy()
    wanted = 2.0 * x * w
    _, back = rl.pullback(f, x, w)
    w[:] = 100.0
    old_gradient_or_refusal(back, 1.0, wanted)


def test_captured_array_changed_after_the_pullback():
    """A captured array changed between `pullback` and `back` gives the old gradient or an error."""
    w = W.copy()

    def f(x):
        return np.sum(w * x)

    _, back = rl.pullback(f, np.ones(3))
    w[:] = 100.0
    old_gradient_or_refusal(back, 1.0, W)


def test_view_changed_after_the_pullback():
    """A change through a view of the argument counts as a change of the argument."""
    base = np.array([1.0, -2.0, 0.5, 9.0])
    x = base[:3]
    wanted = 2.0 * x * W
    _, back = rl.pullback(array_loss, x, W)
    base[1] = 50.0
    old_gradient_or_refusal(back, 1.0, wanted)


def test_output_changed_after_the_pullback():
    """The output is the caller's to edit: a saved output gives the old gradient or an error."""
    y, back = rl.pullback(np.exp, np.array([0.0, 1.0]))
    kept = y.copy()
    y[:] = 0.0
    old_gradient_or_refusal(back, np.ones(2), kept)


def test_list_argument_changed_after_the_pullback():
    """A list changed between `pullback` and `back` gives the old gradient or an error."""
    xs = [2.0, 3.0]
    _, back = rl.pullback(lambda v: v[0] * v[1], xs)
    xs[1] = 50.0
    try:
        (g,) = back(1.0)
    except MutatedAfterCaptureError:
        return
    assert list(g) == [3.0, 2.0]


def test_two_pullbacks_of_one_function():
    """Two pullbacks alive at once keep their own values."""
    _, back_1 = rl.pullback(loop_loss, np.array([1.0, 1.0, 1.0]), W)
    _, back_2 = rl.pullback(loop_loss, np.array([2.0, 3.0, 4.0]), W)
    assert back_1(1.0)[0].tolist() == [2.0, 4.0, 6.0]
    assert back_2(1.0)[0].tolist() == [4.0, 12.0, 24.0]
    assert back_1(1.0)[0].tolist() == [2.0, 4.0, 6.0]


def test_arguments_that_a_built_in_rule_does_not_answer_for():
    """They have None, as everything that cannot vary has."""
    _, back = rl.pullback(np.convolve, np.array([1.0, 2.0]), np.array([3.0]), "full")
    x_bar, y_bar, mode_bar = back(np.array([1.0, 10.0]))
    np.testing.assert_allclose(x_bar, [3.0, 30.0])
    np.testing.assert_allclose(y_bar, [21.0])
    assert mode_bar is None


# --- containers that change between the two sweeps ---

X = np.array([0.7, -1.2, 2.1])


class Weights:
    def __init__(self):
        self.values = [1.0, 2.0, 3.0]
        self.index = [0, 1]
        self.rate = 2.0
        self.log = []


def summed(x, xs):
    s = 0.0
    for v in xs:
        s = s + v * x[0]
    return s


def case_of_captured_list():
    index = [0, 1]
    return lambda x: np.sum(x[index] ** 2), (X,), lambda y: index.__setitem__(0, 2)


def case_of_captured_list_in_a_tuple():
    key = ([0, 1],)
    return lambda x: np.sum(x[key] ** 2), (X,), lambda y: key[0].reverse()


def case_of_list_of_an_object():
    held = Weights()
    return lambda x: np.sum(x[held.index] ** 2), (X,), lambda y: held.index.append(2)


def case_of_weights():
    held = Weights()
    return lambda x: np.average(x, weights=held.values), (X,), lambda y: held.values.reverse()


def case_of_list_that_a_loop_ran_over():
    xs = [1.0, 2.0]
    return summed, (X, xs), lambda y: xs.clear()


def case_of_dict_argument():
    state = {"k": X.copy(), "n": 2.0}
    return (lambda x, d: np.sum(x * d["k"]) * d["n"]), (X, state), lambda y: state.update(n=5.0, y=y)


def case_of_list_argument():
    xs = [1.0, 2.0, 3.0]
    return (lambda x, xs: x[0] * xs[0] * xs[1]), (X, xs), lambda y: xs.clear()


def case_of_object_argument():
    held = Weights()
    return (lambda x, w: x[0] * w.rate * w.values[1]), (X, held), lambda y: setattr(held, "rate", 5.0)


def case_of_nested_result():
    return lambda x: [x * 2, [x, x]], (X,), lambda y: (y[1].clear(), y.append(3.0))


@pytest.mark.parametrize(
    "case",
    [
        case_of_captured_list,
        case_of_captured_list_in_a_tuple,
        case_of_list_of_an_object,
        case_of_weights,
        case_of_list_that_a_loop_ran_over,
        case_of_dict_argument,
        case_of_list_argument,
        case_of_object_argument,
        case_of_nested_result,
    ],
)
def test_container_changed_between_the_sweeps(case):
    """A list, dict or object that is changed between the sweeps: the old gradient, or an error."""
    f, args, change = case()
    seed = [X, [X, None]] if case is case_of_nested_result else 1.0
    y, back = rl.pullback(f, *args)
    wanted = repr(back(seed))
    change(y)
    try:
        assert repr(back(seed)) == wanted
    except MutatedAfterCaptureError as error:
        assert "was changed after pullback" in error.found


def doubled_by(read, held):
    """A function whose rule reads `held` in its pullback, and keeps a record of its calls."""
    seen = []

    def double(x):
        return 2.0 * x

    @rl.rrule_for(double)
    def double_rrule(x):
        def double_pullback(y_bar):
            seen.append(y_bar)
            return rl.NoTangent(), read(held) * y_bar

        return 2.0 * x, double_pullback

    return double


@pytest.mark.parametrize(
    "held, read, change",
    [
        ({"n": 2.0}, lambda h: h["n"], lambda h: h.update(n=5.0)),
        ([2.0], lambda h: h[0], lambda h: h.insert(0, 5.0)),
        (([2.0],), lambda h: h[0][0], lambda h: h[0].insert(0, 5.0)),
        ({2.0}, max, lambda h: h.add(5.0)),
        (deque([2.0]), lambda h: h[0], lambda h: h.appendleft(5.0)),
        (bytearray([2]), lambda h: float(h[0]), lambda h: h.__setitem__(0, 5)),
        (array.array("d", [2.0]), lambda h: h[0], lambda h: h.__setitem__(0, 5.0)),
        (Weights(), lambda h: h.rate, lambda h: setattr(h, "rate", 5.0)),
        (np.array([[2.0], None], object), lambda h: h[0][0], lambda h: h[0].insert(0, 5.0)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_a_rule_keeps_is_watched(held, read, change):
    """What a rule of the user's captures may not change between the sweeps; a record that it writes may."""
    f = doubled_by(read, held)
    (_, first), (_, second) = rl.pullback(f, 3.0), rl.pullback(f, 3.0)
    assert first(1.0) == second(1.0) == first(1.0) == (2.0,)
    change(held)
    with pytest.raises(MutatedAfterCaptureError, match="that the pullback of .*double needs was changed"):
        first(1.0)


def test_a_new_attribute_is_no_change():
    """An object that a rule keeps may get an attribute that it did not have."""
    held = Weights()
    _, back = rl.pullback(doubled_by(lambda h: h.rate, held), 3.0)
    held.last = 1.0
    assert back(1.0) == (2.0,)


def test_captured_variable_of_a_rule():
    """A variable that a rule's pullback reads may not be rebound between the sweeps."""
    rate = 2.0

    def double(x):
        return 2.0 * x

    @rl.rrule_for(double)
    def double_rrule(x):
        return 2.0 * x, lambda y_bar: (rl.NoTangent(), rate * y_bar)

    _, back = rl.pullback(double, 3.0)
    rate = 5.0
    with pytest.raises(MutatedAfterCaptureError, match="A captured variable"):
        back(1.0)
