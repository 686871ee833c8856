"""E1, E2: threads and re-entrance. Right, or a typed refusal; no deadlock."""

import gc
import math
import signal
import sys
import threading
import time

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.registry import DEFAULT

SECONDS = 60.0


@pytest.fixture
def hurried():
    """Threads take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*works):
    """Run each in a thread of its own at once; gives what they returned, and raises what they raised."""
    results, errors, gate = [None] * len(works), [], threading.Barrier(len(works))

    def run(number, work):
        gate.wait()
        try:
            results[number] = work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    if errors:
        raise errors[0]
    return results


def inner(x):
    return x * x * x


def within(x):
    return math.sin(inner(x))


def outer(x):
    return nested(x) + inner(x) * 2.0


def nested(x):
    """Its rule takes gradients: one on the way forward, one on the way back."""
    return within(x)


@rl.rrule_for(nested)
def nested_rrule(x):
    y, back = rl.pullback(within, x)
    slope = rl.gradient(inner, x)[0]

    def nested_pullback(y_bar):
        again = rl.gradient(within, x)[0]
        assert again == back(1.0)[0] and slope == pytest.approx(3.0 * x * x)
        return rl.NoTangent(), y_bar * again

    return y, nested_pullback


def wanted_of_outer(x):
    return math.cos(x**3) * 3.0 * x * x + 6.0 * x * x


def at_work(times, wrong):
    """Nested gradients of shared functions, of functions of this thread's own, and of arrays."""

    def work():
        for number in range(times):
            x = 0.5 + 0.01 * (number % 7)
            own = lambda v, k=float(number % 3): outer(v) * k + nested(v)
            checks = (
                (rl.gradient(outer, x)[0], wanted_of_outer(x)),
                (rl.gradient(nested, x)[0], math.cos(x**3) * 3.0 * x * x),
                (
                    rl.gradient(own, x)[0],
                    wanted_of_outer(x) * (number % 3) + math.cos(x**3) * 3.0 * x * x,
                ),
                (rl.gradient(lambda v: np.sum(v * v), np.full(3, x))[0][1], 2.0 * x),
            )
            wrong.extend((x, found, wanted) for found, wanted in checks if abs(found - wanted) > 1e-12)

    return work


def unrelated(x):
    return x


def changing(x):
    return x * x


def through_changing(x):
    return changing(x) * 1.0 + np.sinh(x) * 0.0


def constant_rule(slope):
    def rule(x):
        return x * x, lambda y_bar: (rl.NoTangent(), slope * y_bar)

    return rule


SLOPES = (10.0, 20.0, 30.0)


def registering(target, times):
    """States, restates, sets aside and removes rules of a target, over and over."""

    def work():
        for number in range(times):
            for slope in SLOPES:
                rl.rrule_for(target)(constant_rule(slope))
            with rl.without_rule(target):
                pass
            rl.remove_rule(target)

    return work


def reading(times, wrong):
    """Gradients of a function whose rules come and go are those of one of its rules, or its own."""

    def work():
        for _ in range(times):
            for f in (changing, through_changing):
                found = rl.gradient(f, 3.0)[0]
                if found not in (6.0, *SLOPES):
                    wrong.append(found)

    return work


def threads_and_rules(times):
    wrong = []
    together(
        *[at_work(times, wrong) for _ in range(6)],
        reading(times, wrong),
        reading(times, wrong),
        registering(unrelated, times),
        registering(changing, times),
    )
    assert not wrong
    assert rl.gradient(changing, 3.0) == (6.0,) and rl.gradient(through_changing, 3.0) == (6.0,)


def test_e1_threads_while_rules_change(hurried):
    """Threads with nested gradients, while others change rules of the same and of other functions."""
    threads_and_rules(12)


@pytest.mark.campaign
@pytest.mark.parametrize("run", range(10))
def test_e1_threads_while_rules_change_for_long(hurried, run):
    """The same, ten runs of three hundred rounds."""
    threads_and_rules(300)


def test_e1_last_rule_counts_after_the_threads(hurried):
    """Whatever threads remembered while rules changed, the rule that is there at the end is the one used."""

    def f(x):
        return target(x) + 0.0

    def target(x):
        return x * x

    for slope in np.arange(1.0, 9.0):
        rl.rrule_for(target)(constant_rule(0.5))
        stop = threading.Event()

        def read():
            while not stop.is_set():
                rl.gradient(f, 3.0), rl.gradient(target, 3.0)

        def write():
            for k in range(15):
                rl.rrule_for(target)(constant_rule(100.0 + k))
            rl.rrule_for(target)(constant_rule(slope))
            stop.set()

        together(read, read, write)
        assert rl.gradient(f, 3.0) == (slope,) and rl.gradient(target, 3.0) == (slope,)


def test_e1_function_with_a_built_in_rule_gets_a_rule_meanwhile(hurried):
    """A rule on a NumPy function that calls were just written out for counts once it is there."""

    def f(x):
        return np.sinh(x) * 2.0

    try:
        for _ in range(6):
            stop = threading.Event()

            def read():
                while not stop.is_set():
                    rl.gradient(f, 1.0)
                    rl.gradient(lambda v: np.sinh(v) + v, 1.0)

            def write():
                rl.rrule_for(np.sinh)(constant_rule(50.0))
                stop.set()

            together(read, read, read, write)
            assert rl.gradient(f, 1.0) == (100.0,)
            rl.remove_rule(np.sinh)
            assert rl.gradient(f, 1.0)[0] == pytest.approx(2.0 * math.cosh(1.0))
    finally:
        if DEFAULT.entry(np.sinh).user:
            rl.remove_rule(np.sinh)


@pytest.mark.parametrize("x", [np.array([1.0, -2.0, 0.5]), [1.0, -2.0, 0.5]])
def test_e1_two_threads_share_one_back(hurried, x):
    """One `back` called by several threads at once gives each its own right answer."""

    def f(v):
        s = 0.0
        for i in range(len(v)):
            s = s + v[i] * v[i] * (i + 1.0)
        return s

    _, back = rl.pullback(f, x)

    def call(seed):
        def work():
            return [np.array(back(seed)[0]) for _ in range(60)]

        return work

    for seed, found in zip((1.0, 2.0, -3.0), together(call(1.0), call(2.0), call(-3.0))):
        for entry in found:
            np.testing.assert_allclose(entry, seed * np.array([2.0, -8.0, 3.0]))


def test_e1_refresh_and_modes_meanwhile(hurried):
    """Threads that refresh and switch the mode disturb no gradient of functions whose rules do not change."""
    wrong = []

    def refreshing():
        for _ in range(20):
            rl.refresh()
            rl.refresh("manual")
            rl.refresh("auto")

    try:
        together(*[at_work(8, wrong) for _ in range(4)], refreshing, refreshing)
    finally:
        rl.refresh("auto")
    assert not wrong


# --- E2: re-entrance ---


def square(x):
    return x * x


class Curious:
    """An object that takes gradients whenever Python asks it something."""

    seen: list[float] = []

    def __init__(self, w=2.0):
        self.w = w

    def __repr__(self):
        self.seen.append(rl.gradient(square, 4.0)[0])
        return "curious"

    def __del__(self):
        Curious.seen.append(rl.gradient(lambda v: square(v) * 3.0, 4.0)[0])


@pytest.fixture
def seen():
    """What was found on the way; Curious objects of earlier tests are gone."""
    gc.collect()
    Curious.seen.clear()
    yield Curious.seen
    Curious.seen.clear()


def test_e2_gradient_in_a_rule():
    """A rule may take gradients, of its own function too if it sets itself aside."""

    def f(x):
        return x * x * x

    @rl.rrule_for(f)
    def f_rrule(x):
        with rl.without_rule(f):
            y, back = rl.pullback(f, x)
        return y, lambda y_bar: (rl.NoTangent(), 10.0 * back(y_bar)[0])

    assert rl.gradient(f, 2.0) == (120.0,) and rl.gradient(lambda v: f(v) + v, 2.0) == (121.0,)


def test_e2_gradient_in_a_repr(seen):
    """An error message that shows an object whose repr takes a gradient."""
    thing = Curious()
    assert repr(thing) == "curious" and seen == [8.0]
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda c, x: np.interp(x, [c.w, x], [x, x]), thing, 2.0)
    assert rl.gradient(square, 4.0) == (8.0,)


def test_e2_gradient_in_del(seen):
    """A finaliser that takes gradients, in the middle of gradients and registrations."""

    def f(x):
        Curious()
        return square(x)

    def g(x):
        return x

    for _ in range(3):
        try:
            assert rl.gradient(f, 3.0) == (6.0,)
        except rl.RuleLabError:
            pass
        held = Curious()
        rl.rrule_for(g)(lambda x, held=held: (x, lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
        assert rl.gradient(g, 1.0) == (7.0,)
        del held
        rl.remove_rule(g)
        gc.collect()
    assert seen and set(seen) == {24.0}


def test_e2_gradient_and_rules_in_gc_callbacks(seen):
    """A callback of the collector that takes gradients and states rules, wherever the collector runs."""

    def target(x):
        return x

    def other(x):
        return x * 2.0

    busy = False

    def collected(phase, info):
        nonlocal busy
        if phase == "stop" and not busy:
            busy = True
            rl.rrule_for(other)(constant_rule(11.0))
            seen.append(rl.gradient(other, 2.0)[0])
            busy = False

    thresholds = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(40)
    try:
        for slope in (1.0, 2.0, 3.0):
            rl.rrule_for(target)(constant_rule(slope))
            assert rl.gradient(lambda v: target(v) * square(v), 2.0)[0] == slope * 4.0 + 4.0 * 4.0
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collected)
    assert seen and set(seen) == {11.0}
    assert rl.gradient(target, 2.0) == (3.0,) and rl.gradient(other, 2.0) == (11.0,)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_e2_gradient_and_rules_in_a_signal_handler(seen):
    """A signal handler that takes gradients and states rules, whatever it interrupts: nothing is lost."""

    def target(x):
        return x

    def other(x):
        return x * 2.0

    handled = 0

    def handler(number, frame):
        nonlocal handled
        handled += 1
        rl.rrule_for(other)(constant_rule(float(handled)))
        rl.rrule_for(target)(constant_rule(5.0)) if handled % 2 else None
        seen.append(rl.gradient(other, 2.0)[0] - handled)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        deadline = time.process_time() + 3.0
        slope = 0.0
        while handled < 40 and time.process_time() < deadline:
            slope += 1.0
            signal.setitimer(signal.ITIMER_REAL, 0.0002 * (1 + handled % 5))
            rl.rrule_for(target)(constant_rule(slope))
            found = rl.gradient(lambda v: target(v) + square(v), 2.0)[0]
            assert found in (slope + 4.0, 9.0)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert rl.gradient(other, 2.0)[0] == handled or not handled
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert handled and set(seen) == {0.0}
