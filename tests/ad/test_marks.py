"""What an author marks as a constant is one, and everything else stays as it was."""

import threading
from collections import deque

import numpy as np
import pytest

import rulelab as rl


def test_plain_value():
    """Outside a derivative the mark does nothing; a function is called."""
    x = np.ones(3)
    assert rl.ignore_derivatives(x) is x
    assert rl.ignore_derivatives(lambda: 5.0) == 5.0


def test_constant_inside():
    """A marked factor is a constant, an unmarked one is not; the value stays."""
    assert rl.withgradient(lambda x: rl.ignore_derivatives(x) * x, 3.0) == (9.0, (3.0,))
    assert rl.withgradient(lambda x: x * x, 3.0) == (9.0, (6.0,))


def test_the_only_path():
    """Where every path is marked there is no gradient."""
    assert rl.gradient(lambda x: rl.ignore_derivatives(x) * 2.0, 3.0) == (None,)


def test_arrays_and_structures():
    """Arrays, lists and results of calls can be marked."""
    x = np.array([1.0, 2.0])
    assert rl.gradient(lambda x: (x / rl.ignore_derivatives(x.sum())).sum(), x)[0].tolist() == pytest.approx(
        [1 / 3, 1 / 3]
    )
    assert rl.gradient(lambda t: rl.ignore_derivatives(t)[0] * t[1], [2.0, 3.0]) == ([None, 2.0],)


def test_marked_computation():
    """A marked function runs and its value is used; what is inside may be what cannot be differentiated."""

    def lookup():
        table = {}
        exec("y = 4.0", table)
        return table["y"]

    assert rl.gradient(lambda x: x * rl.ignore_derivatives(lookup), 2.0) == (4.0,)


def test_what_captures_the_argument():
    """A marked closure may use the argument: its value counts, its derivative does not."""

    def f(x):
        scale = rl.ignore_derivatives(lambda: np.interp(x, [0.0, 4.0], [0.0, 8.0]))
        return scale * x

    assert rl.withgradient(f, 3.0) == (18.0, (6.0,))


def test_in_a_loop_and_a_helper():
    """The mark holds in loops and in functions that are called."""

    def helper(x):
        return rl.ignore_derivatives(x)

    def f(x):
        total = 0.0
        for k in range(3):
            total = total + helper(x * k) * x
        return total

    assert rl.gradient(f, 2.0) == (pytest.approx(0 + 2.0 + 4.0),)


def test_marked_argument_of_a_foreign_call():
    """A marked value may go where a differentiable one is refused."""
    with pytest.raises(rl.ForeignCallError):
        rl.gradient(lambda x: x * np.kaiser(1, x)[0], 1.5)
    assert rl.gradient(lambda x: x * np.kaiser(1, rl.ignore_derivatives(x))[0], 1.5) == (1.0,)


# --- the block of a with ------------------------------------------------------------------------------------


def test_a_block_is_a_constant():
    """What a block computes counts, and carries no gradient; what it records outside is recorded."""
    history = []

    def f(x):
        y = x * x
        with rl.ignore_derivatives():
            scale, total = y * 2.0, 0
            for k in range(4):
                total += k
            history.append(scale)
        return scale * x + total

    assert rl.withgradient(f, 3.0) == (60.0, (18.0,))
    assert rl.gradient(f, 3.0) == (18.0,)
    assert set(history) == {18.0}
    assert f(3.0) == 60.0


def test_a_block_in_a_loop_and_a_branch():
    """A name bound again in a block forgets its gradient there, as often as the block runs."""

    def f(x):
        total = 0.0
        for k in range(3):
            if k > 0:
                with rl.ignore_derivatives():
                    total = total + x
            total = total * 2.0 + k * x
        return total

    assert rl.gradient(f, 2.0) == (2.0,)


def test_a_block_with_functions_and_shared_variables():
    """Functions made in a block hold constants; variables that closures share are read as they are."""

    def f(x):
        count = x

        def more():
            nonlocal count
            count = count + x
            return count

        more()
        with rl.ignore_derivatives():
            held = count

            def times(v):
                return held * v

        return times(x) + more()

    assert rl.withgradient(f, 2.0) == (14.0, (4.0 + 3.0,))


def test_a_block_may_do_what_cannot_be_differentiated():
    """Foreign calls and generators are nothing to the AD inside a block."""

    def f(x):
        with rl.ignore_derivatives():

            def some():
                yield x
                yield 2 * x

            window = np.kaiser(3, x)[1] + sum(some())
        return window * x

    assert rl.gradient(f, 2.0) == (pytest.approx(7.0),)


def wrong_grads(x):
    y = [1.0, 1.0, 1.0]
    with rl.ignore_derivatives():
        y.append(x)
    return sum(y)


def wrong_grads_of_array(x):
    y = np.ones(3)
    with rl.ignore_derivatives():
        y[0] = x
    return np.sum(y * x)


def wrong_grads_of_closure(x):
    y = np.ones(3)

    def write():
        y[0] = x

    rl.ignore_derivatives(write)
    return np.sum(y * x)


TABLE = np.ones(3)


def wrong_grads_of_global(x):
    y = TABLE * x
    rl.ignore_derivatives(lambda: TABLE.__setitem__(0, TABLE[0] + 1.0))
    return np.sum(y)


def wrong_grads_of_buffer(x):
    b = rl.Buffer([0.0])
    b[0] = x
    with rl.ignore_derivatives():
        b[0] = 2.0
    return b[0]


def wrong_grads_of_item(x):
    y = [x * 2, x * 3]
    with rl.ignore_derivatives():
        y[0] = x * 7
    return y[0] * x + y[1]


def wrong_grads_of_item_set_twice(x):
    y = [x * 2.0, x * 3.0]
    with rl.ignore_derivatives():  # the second result gets the identity of what the first took the place of
        y[0] = y[0] * 3
        y[0] = y[0] * 5
    return y[0] + y[1]


def wrong_grads_of_dict(x):
    y = {"a": x * 2.0}
    with rl.ignore_derivatives():
        y["a"] = y["a"] * 3
        y["a"] = y["a"] * 5
    return y["a"]


class Field:
    def __init__(self, a):
        self.a = a


def wrong_grads_of_object(x):
    y = Field(x * 2.0)

    def write():
        y.a = y.a * 3
        y.b = y.a * 5

    rl.ignore_derivatives(write)
    return y.a * y.b


def wrong_grads_of_captured_list(x):
    y = [x, x * x]

    def swap():
        y[0], y[1] = y[1], y[0]

    rl.ignore_derivatives(swap)
    z = y[0] ** 2
    rl.ignore_derivatives(swap)
    return z


def wrong_grads_of_deque(x):
    y = deque([x, x * x])
    with rl.ignore_derivatives():
        y.rotate(1)
    z = y[0] * x
    with rl.ignore_derivatives():
        y.rotate(1)
    return z


def wrong_grads_of_nested_list(x):
    y = Field([x, x * x])
    rl.ignore_derivatives(lambda: y.a.reverse())
    return y.a[0] * 2


def wrong_grads_of_variable(x):
    n = x * 2.0

    def write():
        nonlocal n
        n = n * 3
        n = n * 5

    rl.ignore_derivatives(write)
    return n * x


WRONG = [
    wrong_grads,
    wrong_grads_of_array,
    wrong_grads_of_closure,
    wrong_grads_of_global,
    wrong_grads_of_buffer,
    wrong_grads_of_item,
    wrong_grads_of_item_set_twice,
    wrong_grads_of_dict,
    wrong_grads_of_object,
    wrong_grads_of_captured_list,
    wrong_grads_of_deque,
    wrong_grads_of_nested_list,
    wrong_grads_of_variable,
]


def derivative(f, x):
    return rl.gradient(f, x)[0]


def tangent(f, x):
    return rl.pushforward(f, x)(1.0)


@pytest.mark.parametrize("ask", [derivative, tangent, rl.hessian])
@pytest.mark.parametrize("f", WRONG)
def test_what_the_function_holds_is_not_changed_out_of_sight(f, ask):
    """`wrong_grads` of ChainRules and its like: refused, for the gradient would be that of other values."""
    with pytest.raises(rl.MutationError, match=r"changed|replaced"):
        ask(f, 2.0)


@pytest.mark.parametrize("f", [wrong_grads_of_captured_list, wrong_grads_of_item_set_twice])
def test_nothing_is_changed_out_of_sight_in_any_order_of_the_modes(f):
    """The same where derivatives stand in each other, and in a checkpointed call."""
    for ask in (
        lambda f, x: tangent(lambda t: derivative(f, t), x),
        lambda f, x: derivative(lambda t: tangent(f, t), x),
        lambda f, x: tangent(lambda t: tangent(f, t), x),
        lambda f, x: derivative(lambda t: rl.checkpointed(f, t), x),
    ):
        with pytest.raises(rl.MutationError, match=r"changed|replaced"):
            ask(f, 2.0)


def swap(xs):
    xs[0], xs[1] = xs[1], xs[0]


def squared_while_swapped(xs):
    rl.ignore_derivatives(lambda: swap(xs))
    y = xs[0] ** 2
    rl.ignore_derivatives(lambda: swap(xs))
    return y


def squared_while_moved(xs):
    with rl.ignore_derivatives():
        kept, xs[0] = xs[0], xs[1]
    y = xs[0] ** 2
    with rl.ignore_derivatives():
        xs[0] = kept
    return y


@pytest.mark.parametrize("f", [squared_while_swapped, squared_while_moved])
def test_an_argument_is_as_it_was_after_each_block(f):
    """A part of an argument that one block replaces and another puts back is refused: it was read."""
    for ask in (rl.gradient, rl.pullback, lambda f, xs: rl.pushforward(f, xs)([1.0, 10.0])):
        xs = [2.0, 3.0]
        with pytest.raises(rl.MutationError, match=r"changed|replaced") as caught:
            ask(f, xs)
        assert caught.value.place is not None
    nested = lambda x: rl.gradient(f, [x, 2 * x])[0][0]  # noqa: E731
    with pytest.raises(rl.MutationError):
        rl.gradient(nested, 1.5)


def test_records_are_kept_in_forward_mode():
    """What a block records outside the function is no concern of forward mode either."""
    history, last = [], {}

    def f(x):
        for _ in range(2):
            x = x * x
            with rl.ignore_derivatives():
                history.append(x)
                last["x"] = x
        return x

    assert rl.pushforward(f, 2.0)(1.0) == 32.0
    assert history == [4.0, 16.0] and last == {"x": 16.0}


def leaves_by_return(x):
    with rl.ignore_derivatives():
        return x


def leaves_by_break(x):
    while True:
        with rl.ignore_derivatives():
            break
    return x


def perhaps_unbound(x):
    with rl.ignore_derivatives():
        if x > 0:
            y = x
    return x * y


def deletes(x):
    y = x
    with rl.ignore_derivatives():
        del y
    return x


def with_more(x):
    with rl.ignore_derivatives(), rl.without_rule(len):
        y = x
    return x * y


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (leaves_by_return, "a return that leaves"),
        (leaves_by_break, "a break that leaves"),
        (perhaps_unbound, "y, which the block may leave without a value"),
        (deletes, "y in a with"),
        (with_more, "ignore_derivatives.. and more"),
    ],
)
def test_a_block_that_is_no_function(f, said):
    """What a function of its own cannot do is refused at compile time, with its line."""
    with pytest.raises(rl.UnsupportedSyntaxError, match=said) as caught:
        rl.gradient(f, 2.0)
    assert caught.value.place is not None


def test_the_context_goes_by_its_name():
    """A context that was made elsewhere is refused, never run as if nothing were asked."""

    def f(x):
        context = rl.ignore_derivatives()
        with context:
            y = x * x
        return y

    assert f(3.0) == 9.0
    with pytest.raises(rl.NotDifferentiableError, match="in the with statement itself"):
        rl.gradient(f, 3.0)


def test_dropgrad():
    """The value is a constant, a function too."""
    assert rl.gradient(lambda x: rl.dropgrad(x) * x, 3.0) == (3.0,)
    assert rl.dropgrad(len) is len


# --- gradients on their way ---------------------------------------------------------------------------------


def test_hook_changes_the_gradient_of_one_use():
    """The gradient of this use goes through the function; other uses and the value stay."""
    assert rl.withgradient(lambda x: rl.hook(lambda g: 10 * g, x) * x, 3.0) == (9.0, (33.0,))


def test_hook_gets_an_array_of_its_own():
    """A hook may write to what it gets and keep it; the same cotangent elsewhere stays as it is."""
    kept = []

    def halve(g):
        kept.append(g)
        g *= 0.5
        return g

    x = np.array([1.0, 2.0])
    assert rl.gradient(lambda x: np.sum(rl.hook(halve, x) + x), x)[0].tolist() == [1.5, 1.5]
    assert kept[0].tolist() == [0.5, 0.5]


def test_hook_in_a_loop_and_on_structures():
    """It is called once for each use, the last first, and gets structures in their own form."""
    seen = []

    def f(x):
        y = x
        for k in range(3):
            y = rl.hook(lambda g: (seen.append(g), g)[1], y) * (k + 1.0)
        return y

    assert rl.gradient(f, 2.0) == (6.0,)
    assert seen == [3.0, 6.0, 6.0]

    def of_pair(t):
        return rl.hook(lambda g: (g[0] * 2, g[1]), t)[0] * t[1]

    assert rl.gradient(of_pair, (2.0, 3.0)) == ((6.0, 2.0),)


def test_what_a_hook_returns_is_checked():
    """None and another shape are errors; a complex answer for a real value is made real."""
    x = np.ones(3)
    with pytest.raises(rl.RuleError, match="returned None"):
        rl.gradient(lambda x: np.sum(rl.hook(lambda g: None, x)), x)
    with pytest.raises(rl.RuleShapeError):
        rl.gradient(lambda x: np.sum(rl.hook(lambda g: g[:2], x)), x)
    assert rl.gradient(lambda x: rl.hook(lambda g: g + 2j, x) * 2.0, 1.0) == (2.0,)


def test_a_hook_that_nothing_reaches():
    """Where nothing depends on the value the hook is not called, and its value is a path no more."""
    calls = []
    assert rl.gradient(lambda x: (rl.hook(calls.append, x), x * 2.0)[1], 1.0) == (2.0,)
    assert calls == []


def test_clip_grad():
    """Each number of the gradient is put between the bounds; complex ones have no order."""
    weights = np.array([5.0, 0.5, -7.0])
    found = rl.gradient(lambda x: np.sum(rl.clip_grad(x, -1, 1) * weights), np.ones(3))
    assert found[0].tolist() == [1.0, 0.5, -1.0]
    with pytest.raises(rl.RuleError, match="no order"):
        rl.gradient(lambda z: abs(rl.clip_grad(z, -1, 1)), 1 + 1j)


def test_showgrad_says_what_it_shows(capsys):
    """The label, else the expression as the author wrote it; the gradient is the same."""

    def f(x):
        y = rl.showgrad(x * x + 1)
        return y * rl.showgrad(x, "x") + rl.showgrad(label=None, x=x)

    assert rl.gradient(f, 3.0) == (rl.gradient(lambda x: (x * x + 1) * x + x, 3.0)[0],)
    assert capsys.readouterr().out.splitlines() == ["∂(x) = 1.0", "∂(x) = 10.0", "∂(x * x + 1) = 3.0"]
    assert f(3.0) == 33.0
    assert capsys.readouterr().out == ""


# --- whether a derivative is being worked out ---------------------------------------------------------------


def depth(x):
    return x * (100.0 if rl.isderiving() else 1.0) * 10.0 ** rl.nest_level()


def test_isderiving_in_functions_and_callees():
    """True in the function and in what it calls, at the first and at every later call; false outside."""
    assert not rl.isderiving() and rl.nest_level() == 0
    for _ in range(3):
        assert rl.gradient(depth, 2.0) == (1000.0,)
        assert rl.gradient(lambda x: depth(x) + x, 2.0) == (1001.0,)
    y, back = rl.pullback(depth, 2.0)
    assert (y, back(1.0)) == (2000.0, (1000.0,))
    assert depth(2.0) == 2.0


def test_isderiving_in_rules():
    """A rule and its pullback are told the same; a gradient inside a rule is one level deeper."""
    levels = []

    def ruled(x):
        return x * x

    @rl.rrule_for(ruled)
    def ruled_rrule(x):
        levels.append(rl.nest_level())
        inner = rl.gradient(depth, x)[0]

        def ruled_pullback(y_bar):
            levels.append(rl.nest_level())
            return rl.NoTangent(), inner * y_bar

        return x * x, ruled_pullback

    for _ in range(3):
        assert rl.gradient(ruled, 3.0) == (10000.0,)
        assert rl.gradient(lambda x: ruled(x) + x, 3.0) == (10001.0,)
    assert set(levels) == {1}


def test_isderiving_is_of_this_thread():
    """Another thread that takes a gradient meanwhile does not count."""
    entered, leave = threading.Event(), threading.Event()

    def slow(x):
        rl.ignore_derivatives(lambda: (entered.set(), leave.wait(300)))
        return x

    thread = threading.Thread(target=rl.gradient, args=(slow, 1.0))
    thread.start()
    entered.wait(300)
    try:
        assert not rl.isderiving()
        assert rl.gradient(depth, 2.0) == (1000.0,)
    finally:
        leave.set()
        thread.join()


# --- forward rules ------------------------------------------------------------------------------------------


def test_forward_rules_of_the_marks():
    """An ignored value has no tangent; what changes a gradient on its way back refuses one."""
    no = rl.NoTangent()
    assert rl.frule((no, 5.0), rl.showgrad, 2.0) == (2.0, 5.0)
    assert rl.pushforward(lambda x: x * rl.hook(print, 3.0), 2.0)(1.0) == 3.0
    clipped = (no, 5.0, no, no), rl.clip_grad, 2.0, -1.0, 1.0
    for tangents, *call in ((no, no, 5.0), rl.hook, print, 2.0), clipped:
        with pytest.raises(rl.NotDifferentiableError, match="changes a gradient on its way back"):
            rl.frule(tangents, *call)
    for mark in (rl.ignore_derivatives, rl.dropgrad):
        assert rl.frule((rl.NoTangent(), 5.0), mark, 2.0) == (2.0, rl.NoTangent())
