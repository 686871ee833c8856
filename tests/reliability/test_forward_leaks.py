"""Endurance of forward mode and of second derivatives: asked again and again, they leave nothing behind."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest
from sessions import Session

import rulelab as rl
from rulelab.compiler.base import source
from rulelab.compiler.calls import cache
from rulelab.rules.registry import DEFAULT

# Each defines f with f'' = 6 K at 1, and holds 800 kB.
CELLS = {
    "global": "big = ones()\ndef f(x):\n    return x * x * x * K * big[0]\n",
    "closure": (
        "def make():\n    big = ones()\n    def f(x):\n        return x * x * x * K * big[0]\n    return f\n"
        "f = make()\n"
    ),
    "frule": (
        "big = ones()\ndef g(x):\n    return x * x * x * K\n"
        "@rl.frule_for(g)\ndef g_frule(tangents, x):\n"
        "    return x * x * x * K, 3.0 * x * x * K * big[0] * tangents[1]\n"
        "@rl.rrule_for(g)\ndef g_rrule(x):\n"
        "    return x * x * x * K, lambda y_bar: (rl.NoTangent(), 3.0 * x * x * K * big[0] * y_bar)\n"
        "def f(x):\n    return g(x) + 0.0\n"
    ),
    "rrule": (
        "big = ones()\ndef g(x):\n    return x * x * x * K\n@rl.rrule_for(g)\ndef g_rrule(x):\n"
        "    def g_pullback(y_bar):\n        return rl.NoTangent(), 3.0 * x * x * K * y_bar\n"
        "    return x * x * x * K, g_pullback\ndef f(x):\n    return g(x) * big[0]\n"
    ),
    "object": (
        "class Model:\n    def __init__(self, k):\n        self.k, self.big = k, ones()\n"
        "    def act(self, x):\n        return x * x * x * self.k\n"
        "model = Model(K)\ndef f(x):\n    return model.act(x)\n"
    ),
    "forwarddiff": (
        "big = ones()\ndef g(x):\n    out = np.zeros(2)\n    out[0] = x * x * x * K\n    return out\n"
        "def f(x):\n    return np.sum(rl.forwarddiff(g, x)) * big[0]\n"
    ),
    "refused": (
        "big = ones()\ndef f(x):\n    return x * x * x * K * big[0]\n"
        "def bad(x):\n    big[0] = x\n    return x\n"
        "try:\n    rl.pushforward(bad, 1.0)(1.0)\nexcept rl.RuleLabError:\n    pass\n"
    ),
}


def second_derivatives(f):
    """f'' at 1, in each of the ways."""
    return (
        rl.pushforward(lambda t: rl.pushforward(f, t)(1.0), 1.0)(1.0),
        rl.gradient(lambda t: rl.pushforward(f, t)(1.0), 1.0)[0],
        rl.pushforward(lambda t: rl.gradient(f, t)[0], 1.0)(1.0),
        rl.gradient(lambda t: rl.gradient(f, t)[0], 1.0)[0],
        rl.hessian(f, 1.0),
    )


def sizes():
    """How much is remembered, in places that grow with use."""
    memory = cache.DEFAULT.memory
    return len(memory.passes), len(memory.answers), len(source._FOUND), len(DEFAULT.entries())


def rounds(kind, times):
    """Run the cell so often; gives the last function, weakly."""
    session = Session("forward leak")
    session["ones"] = lambda: np.ones(100_000)
    for number in range(times):
        session.run(CELLS[kind].replace("K", str(float(number + 1))), f"{kind} {number % 5}")
        assert second_derivatives(session["f"]) == pytest.approx((6.0 * (number + 1),) * 5)
    return weakref.ref(session["f"])


def grown(work):
    """What a piece of work leaves, in bytes, and the sizes before and after."""
    gc.collect()
    before = sizes()
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        last = work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - start, before, sizes(), last
    finally:
        tracemalloc.stop()


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", list(CELLS)[::3])
def test_redefinitions_leave_nothing(kind):
    """Five rounds of 800 kB each, at the second order, keep less than 1 MB, and nothing remembered."""
    rounds(kind, 2)
    found = grown(lambda: rounds(kind, 5))
    if found[0] >= 1e6:  # CPython renews its table of interned strings once in a while, 2 MB at once
        found = grown(lambda: rounds(kind, 5))
    kept, before, after, last = found
    assert kept < 1e6 and last() is None
    assert all(now <= then + 3 for now, then in zip(after, before)), (before, after)


def energy(v):
    return np.sum(v * v * v)


def repeated(times):
    v = np.linspace(0.5, 1.5, 4)
    for _ in range(times):
        rl.pushforward(energy, v)(v)
        rl.hvp(energy, v, v)
        rl.gradient(lambda u: np.sum(rl.gradient(energy, u)[0] * v), v)
        rl.gradient(lambda u: rl.pushforward(energy, u)(v), v)
        rl.derivative(lambda t: energy(v * t), 2)(1.0)
        rl.jacobian(lambda u: u * energy(u), v, mode="forward")


def test_the_same_again_and_again():
    """Three rounds of forward mode and second derivatives, of functions made anew in each, keep nothing."""
    repeated(2)
    kept, before, after, _ = grown(lambda: repeated(3))
    assert kept < 6e4
    assert all(now <= then + 3 for now, then in zip(after, before)), (before, after)


def test_arguments_and_tangents_are_let_go():
    """Neither an argument nor a tangent is held by what was made of them, once that is gone."""
    gone = []
    for _ in range(3):
        v, v_dot = np.ones(1000), np.ones(1000)
        push = rl.pushforward(energy, v)
        push(v_dot)
        rl.hvp(energy, v, v_dot)
        gone += [weakref.ref(v), weakref.ref(v_dot)]
        del push
    del v, v_dot
    gc.collect()
    assert all(one() is None for one in gone)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", list(CELLS))
def test_five_hundred_redefinitions_leave_nothing(kind):
    """The same five hundred times."""
    rounds(kind, 2)
    kept, before, after, last = grown(lambda: rounds(kind, 500))
    assert kept < 1e6 and last() is None
    assert all(now <= then + 3 for now, then in zip(after, before))
