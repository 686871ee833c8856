"""Derivatives of derivatives in eight threads at once: each gets its own numbers, whatever the others do."""

import math
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from sessions import Session

import rulelab as rl
from rulelab.rules.registry import DEFAULT

THREADS, ROUNDS = 8, 3


@pytest.fixture
def hurried():
    """Threads take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


# Each is a function of one number, worked out by derivatives of others; beside it, what it is.


def cube(x):
    return x * x * x


def reverse_over_reverse(x):
    return rl.gradient(lambda t: rl.gradient(cube, t)[0] * t, x)[0]


def forward_over_reverse(x):
    return rl.pushforward(lambda t: rl.gradient(cube, t)[0] * t, x)(1.0)


def reverse_over_forward(x):
    return rl.gradient(lambda t: rl.pushforward(cube, t)(t), x)[0]


def of_a_hessian(x):
    return float(rl.hessian(lambda v: v[0] ** 2 * v[1] ** 3, np.array([x, x]))[0, 1])


def of_the_third_order(x):
    return rl.derivative(lambda t: rl.derivative(lambda u: u**4 * t, 2)(t))(x)


def of_closures(x):
    def outer(t):
        def inner(u):
            return u * u * t * x

        return rl.gradient(inner, t)[0]  # 2 t² x

    return rl.pushforward(outer, x)(1.0)


def tripled(x):
    return x * x


@rl.rrule_for(tripled)
def tripled_rrule(x):
    """Not the derivative, so that it is seen that the rule is what counts; with a gradient of its own."""
    inner = rl.gradient(cube, x)[0] / (3.0 * x)

    def tripled_pullback(y_bar):
        return rl.NoTangent(), y_bar * inner * 3.0

    return x * x, tripled_pullback


def of_a_rule(x):
    return rl.gradient(lambda t: tripled(t) * 2.0, x)[0]


@dataclass
class Pair:
    a: float
    parts: list


def of_containers(x):
    def energy(pair):
        box = {"k": pair.a * pair.parts[0]}
        box["k"] = box["k"] * pair.parts[1]
        return sum([box["k"], pair.a])

    def slope(t):
        return rl.gradient(energy, Pair(t, [t, 2.0]))[0].parts[0]  # 2 t

    return rl.gradient(lambda t: slope(t) * t, x)[0]


def of_marks(x):
    def marked(t):
        with rl.ignore_derivatives():
            still = t * 1.0
        return still * t * t * rl.nest_level()

    return rl.gradient(marked, x)[0]


def of_a_buffer(x):
    def filled(t):
        b = rl.Buffer(np.zeros(3))
        for k in range(3):
            b[k] = t ** (k + 1)
        return np.sum(b.copy())

    return rl.gradient(filled, x)[0]


def of_checkpoints(x):
    return rl.gradient(lambda t: rl.gradient(lambda u: rl.checkpointed(cube, u) * t, t)[0], x)[0]


def of_forwarddiff(x):
    def writing(v):
        out = np.zeros(2)
        out[0] = v[0] * x
        out[1] += v[1] ** 2
        return out

    return float(np.sum(rl.gradient(lambda v: np.sum(rl.forwarddiff(writing, v)), np.array([x, x]))[0]))


WANTED = {
    reverse_over_reverse: lambda x: 9.0 * x**2,
    forward_over_reverse: lambda x: 9.0 * x**2,
    reverse_over_forward: lambda x: 9.0 * x**2,
    of_a_hessian: lambda x: 6.0 * x**3,
    of_the_third_order: lambda x: 36.0 * x**2,
    of_closures: lambda x: 4.0 * x**2,
    of_a_rule: lambda x: 6.0 * x,
    of_containers: lambda x: 4.0 * x,
    of_marks: lambda x: 2.0 * x**2,
    of_a_buffer: lambda x: 1.0 + 2.0 * x + 3.0 * x**2,
    of_checkpoints: lambda x: 9.0 * x**2,
    of_forwarddiff: lambda x: 3.0 * x,
}
FUNCTIONS = list(WANTED)


def together(works):
    """Run each in a thread of its own at once; raises what they raised."""
    errors, gate = [], threading.Barrier(len(works))

    def run(work):
        gate.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    if errors:
        raise errors[0]


def asking(functions, number, times, wrong):
    """Asks for all of these in turn, beginning elsewhere in each thread."""

    def work():
        for turn in range(times):
            x = 0.5 + 0.125 * number + 0.01 * (turn % 5)
            for k in range(len(functions)):
                f = functions[(k + number) % len(functions)]
                found, wanted = f(x), WANTED[f](x)
                if not abs(found - wanted) <= 1e-12 * max(1.0, abs(wanted)):
                    wrong.append((f.__name__, x, found, wanted))

    return work


def test_the_values_are_known():
    """One thread alone gets them, whichever is asked first."""
    wrong = []
    asking(FUNCTIONS, 0, 1, wrong)()
    assert not wrong and rl.nest_level() == 0


@pytest.mark.parametrize("rounds", [1, pytest.param(ROUNDS, marks=pytest.mark.campaign)])
def test_eight_threads_of_nested_derivatives(hurried, rounds):
    """None of a hundred numbers, or of some, is wrong."""
    wrong = []
    together([asking(FUNCTIONS, number, rounds, wrong) for number in range(THREADS)])
    assert not wrong


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(0, marks=pytest.mark.slow),
        *(pytest.param(k, marks=pytest.mark.campaign) for k in range(1, 6)),
    ],
)
def test_the_first_derivatives_are_asked_for_in_all_threads_at_once(hurried, run):
    """With nothing compiled yet, all compile the same functions at the same time."""
    wrong = []
    rl.refresh()
    together([asking(FUNCTIONS, number, 1, wrong) for number in range(THREADS)])
    assert not wrong


def test_new_functions_in_every_thread(hurried):
    """Cells of other notebooks, each with functions of its own under the same names."""
    wrong = []

    def notebook(number):
        def work():
            session = Session(f"nested threads {number}")
            for turn in range(4):
                k = float(number + turn)
                session.run(
                    f"def g(x):\n    return {k} * x * x * x\n"
                    "def f(x):\n    return rl.gradient(g, x)[0] * x\n"
                    "def h(v):\n    return np.sum(v * v) * g(v[0])\n"
                )
                found = rl.pushforward(session["f"], 2.0)(1.0), rl.gradient(session["f"], 2.0)[0]
                second = rl.hessian(session["h"], np.array([1.0, 1.0]))[0, 1]
                wanted = (36.0 * k, 36.0 * k, 6.0 * k)
                if not np.allclose((*found, second), wanted, rtol=1e-12):
                    wrong.append((number, turn, found, second))

        return work

    together([notebook(number) for number in range(THREADS)])
    assert not wrong


def changing(x):
    return x * x


def slope_rule(slope):
    def rule(x):
        return x * x, lambda y_bar: (rl.NoTangent(), slope * y_bar)

    return rule


def tangent_rule(slope):
    def rule(tangents, x):
        return x * x, slope * tangents[1]

    return rule


def through_changing(x):
    return changing(x) * 1.0


def threads_while_rules_change(times):
    wrong, slopes = [], (10.0, 20.0)

    def registering():
        for _ in range(times):
            for slope in slopes:
                rl.rrule_for(changing)(slope_rule(slope))
                rl.frule_for(changing)(tangent_rule(slope))
            rl.remove_rule(changing)

    def reading():
        for _ in range(times):
            found = (
                rl.pushforward(through_changing, 3.0)(1.0),
                rl.gradient(through_changing, 3.0)[0],
                rl.gradient(lambda t: rl.pushforward(changing, 3.0)(t), 3.0)[0],
            )
            wrong.extend(y for y in found if y not in (6.0, *slopes))

    try:
        asked = [asking(FUNCTIONS, number, times, wrong) for number in range(4)]
        together([*asked, reading, reading, reading, registering])
    finally:
        for _ in range(2):
            if DEFAULT.entry(changing) is not None and rl.has_rrule(changing, 1.0):
                rl.remove_rule(changing)
    assert not wrong
    assert rl.pushforward(through_changing, 3.0)(1.0) == 6.0 == rl.gradient(through_changing, 3.0)[0]


def test_rules_change_meanwhile(hurried):
    """Rules and forward rules come and go: each number is by one of those that there were, or by none."""
    threads_while_rules_change(3)


@pytest.mark.campaign
@pytest.mark.parametrize("run", range(5))
def test_rules_change_meanwhile_for_long(hurried, run):
    """The same, five runs of a hundred rounds."""
    threads_while_rules_change(100)


def test_second_derivatives_through_rules_that_others_share(hurried):
    """Threads share a forward rule that is differentiated again."""
    wrong = []

    def bent(x):
        return math.sin(x)

    @rl.frule_for(bent)
    def bent_frule(tangents, x):
        return math.sin(x), math.cos(x) * tangents[1]

    @rl.rrule_for(bent)
    def bent_rrule(x):
        return math.sin(x), lambda y_bar: (rl.NoTangent(), math.cos(x) * y_bar)

    def work(number):
        x = 0.3 + 0.1 * number

        def run():
            for _ in range(8):
                found = (
                    rl.gradient(lambda t: rl.gradient(bent, t)[0], x)[0],
                    rl.pushforward(lambda t: rl.gradient(bent, t)[0], x)(1.0),
                    rl.gradient(lambda t: rl.pushforward(bent, t)(1.0), x)[0],
                )
                wrong.extend(y for y in found if abs(y + math.sin(x)) > 1e-14)

        return run

    together([work(number) for number in range(THREADS)])
    assert not wrong
