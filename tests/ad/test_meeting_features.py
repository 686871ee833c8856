"""Features that meet in one function: each agrees with differences of the plain function, or is refused."""

import functools
import threading

import numpy as np
import pytest

import rulelab as rl

from ..differences import gradient_by_differences


def same(x):
    return x


# --- ways of calling a function that give its value: each brings a feature of its own -----------------------


def by_checkpointed(f):
    return lambda *xs: rl.checkpointed(f, *xs)


def by_checkpointed_in_a_loop(f):
    def g(*xs):
        def block():
            return f(*xs)

        total = 0.0
        for _ in range(2):
            total = total + rl.checkpointed(block) / 2
        return total

    return g


def by_forwarddiff(f):
    return lambda *xs: rl.forwarddiff(lambda ys: f(*ys), xs)


def by_hook(f):
    return lambda *xs: rl.hook(same, f(*[rl.hook(same, x) for x in xs]))


def by_ignored_factor(f):
    def g(*xs):
        with rl.ignore_derivatives():
            one = len(xs) / len(xs)
        return f(*xs) * one * rl.ignore_derivatives(lambda: 1.0) + rl.dropgrad(0.0)

    return g


def by_gradient(f):
    return lambda *xs: rl.gradient(lambda t: t * f(*xs), 1.0)[0]


def by_pushforward(f):
    return lambda *xs: rl.pushforward(lambda t: t * f(*xs), 1.0)(1.0)


def by_pullback(f):
    return lambda *xs: rl.pullback(f, *xs)[0]


def by_buffer(f):
    def g(*xs):
        b = rl.Buffer([0.0, 0.0])
        b[1] = f(*xs)
        return np.sum(b.copy())

    return g


def by_nonlocal(f):
    def g(*xs):
        y = 0.0

        def add():
            nonlocal y
            y = y + f(*xs)

        add()
        return y

    return g


def by_partial(f):
    return lambda *xs: functools.partial(f, *xs)()


WAYS = (
    by_checkpointed,
    by_checkpointed_in_a_loop,
    by_forwarddiff,
    by_hook,
    by_ignored_factor,
    by_gradient,
    by_pushforward,
    by_pullback,
    by_buffer,
    by_nonlocal,
    by_partial,
)


# --- functions ----------------------------------------------------------------------------------------------


def with_buffer(x, s):
    b = rl.Buffer(x)
    for i in range(len(x)):
        b[i] = x[i] ** 2 * s
    b[0] += x[1]
    return np.sum(b.copy() * x)


def with_checkpoints(x, s):
    def block(h):
        return np.tanh(h * s + x)

    h = x
    for _ in range(2):
        h = rl.checkpointed(block, h)
    return np.sum(h * h)


def with_forward_part(x, s):
    def filled(v):
        out = np.zeros(2)
        out[:] = v * s
        out[1] *= v[0]
        return out

    return np.sum(rl.forwarddiff(filled, x) * x)


def with_gradient(x, s):
    return np.sum(rl.gradient(lambda z: np.sum(z**3) * s, x)[0] * x)


def by_own_rule(x):
    return x * x


@rl.rrule_for(by_own_rule)
def by_own_rule_rrule(x):
    def by_own_rule_pullback(y_bar):
        return rl.NoTangent(), 2 * x * y_bar

    return x * x, by_own_rule_pullback


def with_rule(x, s):
    return np.sum(by_own_rule(x) * s) * s


def with_list(x, s):
    held = [x, s]
    held.append(held[0] * held[1])
    held[1] = held[2] * s
    return np.sum(held[1] * held[0])


FUNCTIONS = (with_buffer, with_checkpoints, with_forward_part, with_gradient, with_rule, with_list)


def by_differences(f, x, s):
    """∂f/∂x and ∂f/∂s of the plain function."""
    by_x = gradient_by_differences(lambda x: f(x, s), x)
    return np.append(by_x, gradient_by_differences(lambda s: f(x, s), s))


def flat(found):
    return np.array([*found[0], found[1]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.every(11)
def test_features_that_meet(f, way):
    """Gradient, pullback (twice) and pushforward agree with differences, or are refused, typed."""
    x, s = np.array([0.6, -0.4]), 1.5
    wanted, g = by_differences(f, x, s), way(f)
    assert g(x, s) == pytest.approx(f(x, s))
    direction = np.array([0.3, -0.7]), 0.2

    def twice():
        back = rl.pullback(g, x, s)[1]
        back(1.0)
        return flat(back(2.0)) / 2

    right = 0
    for ask, expected in (
        (lambda: flat(rl.gradient(g, x, s)), wanted),
        (twice, wanted),
        (lambda: rl.pushforward(g, x, s)(*direction), wanted @ flat(direction)),
    ):
        try:
            assert ask() == pytest.approx(expected, rel=1e-5, abs=1e-7)
            right += 1
        except rl.RuleLabError:
            continue
    assert right
    assert x.tolist() == [0.6, -0.4]


# --- forwarddiff and what others hold -----------------------------------------------------------------------


def doubled_in_place(v):
    v *= 2
    return v


def entry_squared(d):
    d["a"] = d["a"] ** 2
    return d["a"] * 3


def two_names(x):
    y = x * 1.0
    return np.sum(rl.forwarddiff(doubled_in_place, y) * y)


def read_before(x):
    y = x * x
    z = y * y
    return np.sum(rl.forwarddiff(doubled_in_place, y) + z)


def captured_array(x):
    w = np.ones(2)
    y = x * w

    def f(v):
        w[0] = 5.0
        return v * w

    return np.sum(rl.forwarddiff(f, x) + y)


@pytest.mark.parametrize("f", [two_names, read_before, captured_array])
def test_forwarddiff_leaves_alone_what_others_hold(f):
    """An array that the function was handed, or captures, is read elsewhere too: a write to it is refused."""
    with pytest.raises(rl.MutationError, match="changes what may be used elsewhere, float64"):
        rl.gradient(f, np.array([1.0, 2.0]))


def test_forwarddiff_restores_what_it_refuses():
    """Arrays, dicts and captured records of the caller are as they were after a refusal."""
    x, d, log = np.array([1.0, 2.0]), {"a": 2.0}, []

    def recorded(v):
        log.append(len(log))
        return doubled_in_place(v)

    with pytest.raises(rl.MutationError):
        rl.gradient(lambda x: np.sum(rl.forwarddiff(recorded, x)), x)
    with pytest.raises(rl.MutationError, match="dict"):
        rl.gradient(lambda d: rl.forwarddiff(entry_squared, d) + d["a"], d)
    assert (x.tolist(), d, log) == ([1.0, 2.0], {"a": 2.0}, [])


# --- Params -------------------------------------------------------------------------------------------------

W, V = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def loss():
    return np.sum(W * W * V)


def helper(a):
    return a * loss()


class Layer:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, a):
        return self.weights * a


LAYER = Layer(W)


def loss_in_a_buffer():
    b = rl.Buffer(W)
    for i in range(2):
        b[i] = W[i] ** 2 * V[i]
    return np.sum(b.copy())


def loss_in_blocks():
    total = 0.0
    for k in range(3):
        total = total + rl.checkpointed(lambda k: k * loss(), k)
    return total / 3


@pytest.mark.parametrize(
    "f",
    [
        loss,
        loss_in_a_buffer,
        loss_in_blocks,
        lambda: rl.checkpointed(loss),
        lambda: rl.checkpointed(lambda a: np.sum(a * W * V), W),
        lambda: np.sum(rl.checkpointed(LAYER, W) * V),
        lambda: np.sum(rl.checkpointed(functools.partial(LAYER, W)) * V),
        lambda: rl.hook(same, loss()),
        lambda: np.sum(rl.hook(same, W) * W * V),
        lambda: rl.clip_grad(loss(), -10.0, 10.0) + rl.ignore_derivatives(loss),
        lambda: rl.forwarddiff(np.sum, W * W * V),
        lambda: rl.forwarddiff(lambda q: np.sum(q[0] * q[0] * q[1]), (W, V)),
    ],
)
@pytest.mark.parametrize("ask", [rl.gradient, rl.jacobian])
def test_params_through_features(f, ask):
    """Parameters get their gradients through Buffers, checkpointed calls, marks and forwarddiff."""
    found = ask(f, rl.Params([W, V]))
    assert np.ravel(found[W]) == pytest.approx(2 * W * V)
    assert np.ravel(found[V]) == pytest.approx(W * W)


@pytest.mark.every(11)
@pytest.mark.parametrize(
    "f",
    [
        lambda: rl.forwarddiff(lambda a: np.sum(a * a * V), W),
        lambda: rl.forwarddiff(helper, 1.0),
        lambda: np.sum(rl.forwarddiff(LAYER.__call__, V)),
        lambda: rl.forwarddiff(lambda q: np.sum(q[0] * W), [V]),
        lambda: rl.forwarddiff(lambda q: rl.forwarddiff(lambda r: np.sum(r * W), q), V),
        lambda: rl.gradient(helper, 1.0)[0],
        lambda: rl.pushforward(helper, 1.0)(1.0),
        lambda: rl.jacobian(helper, 1.0)[0][0],
        lambda: rl.pullback(loss)[0],
    ],
)
def test_params_that_would_be_lost(f):
    """Where a function reads a parameter out of sight of the reverse sweep, it is refused."""
    with pytest.raises(rl.NotDifferentiableError):
        rl.gradient(f, rl.Params([W, V]))


# --- the middle of a sweep ----------------------------------------------------------------------------------


class Stop(BaseException):
    """As an interrupt that comes at a place of our choice."""


@pytest.mark.parametrize("way", WAYS)
def test_stopped_in_the_middle(way):
    """After an interrupt in a callee the same question has its right answer, and nothing is left behind."""
    stopping = [True]

    def f(x, s):
        if stopping[0]:
            raise Stop
        return np.sum(x * x) * s

    x = np.array([0.6, -0.4])
    for ask in (rl.gradient, rl.withgradient, rl.pullback):
        stopping[0] = True
        with pytest.raises(Stop):
            ask(way(f), x, 1.5)
        stopping[0] = False
        assert flat(rl.gradient(lambda x, s: np.sum(x * x) * s, x, 1.5)) == pytest.approx([1.8, -1.2, 0.52])
    try:
        assert flat(rl.gradient(way(f), x, 1.5)) == pytest.approx([1.8, -1.2, 0.52])
    except rl.RuleLabError:
        pass


def test_two_threads_with_different_features():
    """Params and checkpointed calls in one thread, Buffers and nested gradients in another: each its own."""
    failed = []

    def implicit():
        for _ in range(30):
            if not np.allclose(rl.gradient(loss_in_blocks, rl.Params([W, V]))[W], 2 * W * V):
                failed.append("implicit")

    def nested():
        x, s = np.array([0.6, -0.4]), 1.5
        wanted = by_differences(with_buffer, x, s)
        for _ in range(30):
            if not np.allclose(flat(rl.gradient(by_gradient(with_buffer), x, s)), wanted, 1e-5):
                failed.append("nested")

    threads = [threading.Thread(target=run) for run in (implicit, nested)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
