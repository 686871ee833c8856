"""Tests of delayed cotangents."""

import copy
import pickle
import threading
import traceback

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleError, ThunkMutationError
from rulelab.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk


def test_computed_at_most_once_and_only_when_needed():
    """A thunk nobody uses costs nothing; one used by many threads at once is computed once."""
    calls = []

    def work():
        calls.append(1)
        return np.ones(3)

    t = thunk(work)
    assert not calls
    threads = [threading.Thread(target=unthunk, args=(t,)) for _ in range(8)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert unthunk(t) is unthunk(t) and calls == [1]


def test_a_thunk_that_raises_is_not_tried_again():
    """The error of a thunk comes with the name of its rule, each time, without running it again."""
    calls = []

    def my_pullback_thunk():
        calls.append(1)
        raise ValueError("bad")

    t = thunk(my_pullback_thunk)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad") as caught:
            unthunk(t)
    assert calls == [1] and "my_pullback_thunk" in caught.value.__notes__[0]


def test_arithmetic_uses_the_value():
    """A thunk works in sums, products and NumPy functions from both sides."""
    t = thunk(lambda: np.array([1.0, 4.0]))
    assert np.array_equal(2 * t + 1, [3, 9]) and np.array_equal(np.ones(2) - t, [0, -3])
    assert np.array_equal(np.sqrt(t), [1, 2]) and t[1] == 4 and t.shape == (2,) and np.sum(t) == 5
    assert np.array_equal(-t, [-1, -4]) and np.asarray(t).dtype == float


def test_writing_to_a_thunk_is_refused_in_words():
    """A write to a thunk says to unthunk it first."""
    t = thunk(lambda: np.zeros(2))
    with pytest.raises(
        ThunkMutationError, match="Tried to mutate a thunk, this is not supported. `unthunk` it first."
    ):
        t[0] = 1.0
    with pytest.raises(ThunkMutationError):
        np.add(1.0, 2.0, out=t)
    with pytest.raises(ThunkMutationError):
        t.value = 1


def test_nested_thunks_and_pickles():
    """A thunk of a thunk is one value, also after a trip through a worker process."""
    t = thunk(lambda: thunk(lambda: 3.0))
    assert unthunk(t) == 3.0 and unthunk(pickle.loads(pickle.dumps(t))) == 3.0


def test_inplaceable_thunk_is_a_thunk():
    """An InplaceableThunk has its value as any other."""
    t = InplaceableThunk(lambda acc: np.add(acc, 1, out=acc), lambda: np.ones(2))
    assert isinstance(t, Thunk) and np.array_equal(unthunk(t), [1, 1])


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.fill(3.0), lambda t: t.sort(), lambda t: np.put(t, [0], 1.0), lambda t: t.resize(3),
        lambda t: np.add.at(t, [0], 1.0), lambda t: t.setflags(write=False),
        lambda t: np.add(1.0, 2.0, out=t),
        lambda t: np.sum(np.ones((2, 2)), axis=0, out=t), lambda t: setattr(t, "shape", (2, 1)),
        lambda t: t.__delitem__(0),
    ],
)  # fmt: skip
def test_no_way_of_changing_a_thunk_is_quiet(change):
    """Methods of arrays and NumPy's writers say `unthunk` first, and leave the value as it was."""
    t = thunk(lambda: np.array([1.0, 4.0]))
    with pytest.raises(ThunkMutationError, match="`unthunk` it first"):
        change(t)
    assert np.array_equal(unthunk(t), [1.0, 4.0])


@pytest.mark.parametrize("value, change", [([1.0], "append"), ({"a": 1.0}, "update"), ({1.0}, "add")])
def test_containers_in_a_thunk_are_not_changed_either(value, change):
    """A list, a dict or a set that a thunk gives is not written to through the thunk."""
    with pytest.raises(ThunkMutationError):
        getattr(thunk(lambda: value), change)


def test_what_is_seen_through_a_thunk_is_read_only():
    """An array, a slice or a transpose got from a thunk cannot be used to change what others will get."""
    t = thunk(lambda: np.array([[1.0, 4.0]]))
    for seen in (np.asarray(t), t[0], t.T, next(iter(t)), t.flat):
        with pytest.raises(ValueError, match="read-only"):
            seen[0] = 9.0
    assert np.array_equal(t, [[1.0, 4.0]]) and np.array(t).flags.writeable


def test_a_thunk_wants_a_function():
    """`thunk(x_bar)` for `thunk(lambda: x_bar)` is noticed where it is written."""
    for bad in (3.0, None, np.ones(2)):
        with pytest.raises(RuleError, match="takes a function") as caught:
            thunk(bad)
        assert "lambda: x_bar" in str(caught.value)
    with pytest.raises(RuleError, match="adds to an array"):
        InplaceableThunk(None, lambda: 1.0)


def test_comparisons_are_of_values():
    """`==` and `<` on a thunk compare what it gives, not the thunk itself."""
    t = thunk(lambda: np.array([1.0, 4.0]))
    assert np.array_equal(t == 4.0, [False, True]) and np.array_equal(2.0 > t, [True, False])
    assert thunk(lambda: 2.0) == thunk(lambda: 2.0) and thunk(lambda: 2.0) != 3.0 and t in {t}


def test_to_be_shown_or_copied_is_not_to_be_needed():
    """Showing a thunk in a notebook, copying it and asking what it is do not compute it."""
    t = thunk(lambda: 1 / 0)
    names = (
        "_repr_html_",
        "_repr_mimebundle_",
        "_ipython_display_",
        "_ipython_canary_method_should_not_exist_",
    )
    assert not any(hasattr(t, name) for name in names)
    assert repr(t) == f"{t}" == "Thunk(…)" and copy.copy(t) is t and not copy.deepcopy(t).evaluated
    value = np.ones(2)
    deep = copy.deepcopy(thunk(lambda: value))
    assert np.array_equal(unthunk(deep), value) and unthunk(deep) is not value


def test_the_error_of_a_thunk_names_rule_and_place_once():
    """Of nested thunks the innermost is named; asking again adds neither notes nor frames."""

    def scaled_pullback(y_bar):
        return thunk(lambda: thunk(lambda: y_bar / 0))

    t = scaled_pullback(1.0)
    lengths = []
    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as caught:
            2.0 * t
        assert len(caught.value.__notes__) == 1
        assert "scaled_pullback at test_thunks.py, line" in caught.value.__notes__[0]
        lengths.append(len(list(traceback.walk_tb(caught.value.__traceback__))))
    assert lengths[1] == lengths[2]


def test_an_interrupted_thunk_is_tried_again():
    """Ctrl-C in a thunk loses nothing: who asks again gets the value."""
    answers = iter([KeyboardInterrupt, 5.0])

    def work():
        answer = next(answers)
        if answer is KeyboardInterrupt:
            raise answer
        return answer

    t = thunk(work)
    with pytest.raises(KeyboardInterrupt):
        unthunk(t)
    assert unthunk(t) == 5.0


def test_threads_that_ask_while_it_fails_all_hear_of_it():
    """A thunk that raises does so for each of the threads that waited, and ran once."""
    calls, heard, start = [], [], threading.Barrier(6)

    def work():
        calls.append(1)
        raise ValueError("bad")

    def ask(t):
        start.wait()
        try:
            unthunk(t)
        except ValueError as error:
            heard.append(str(error))

    t = thunk(work)
    threads = [threading.Thread(target=ask, args=(t,)) for _ in range(6)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert calls == [1] and heard == ["bad"] * 6


def product(a, x):
    return a * x


def test_a_thunk_that_nobody_needs_never_runs():
    """Of a rule's two thunks only that of the argument that varies runs."""
    ran = []

    def product_rrule(a, x):
        def product_pullback(y_bar):
            def a_bar():
                ran.append("a")
                return y_bar * x

            def x_bar():
                ran.append("x")
                return y_bar * a

            return rl.NoTangent(), thunk(a_bar), thunk(x_bar)

        return a * x, product_pullback

    rl.rrule_for(product)(product_rrule)
    try:
        assert rl.gradient(lambda x: product(2.0, x), 3.0) == (2.0,) and ran == ["x"]
        assert rl.gradient(product, 2.0, 3.0, argnums=0) == (3.0,) and ran == ["x", "a"]
        rl.rrule(product, 2.0, 3.0)[1](1.0)
        assert ran == ["x", "a"]
        assert rl.gradient(product, 2.0, 3.0) == (3.0, 2.0) and sorted(ran) == ["a", "a", "x", "x"]
    finally:
        rl.remove_rule(product)
