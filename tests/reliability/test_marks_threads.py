"""Marks, Buffers and checkpoints in many threads at once, and computations too deep for the stack."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import rulelab as rl

THREADS, ROUNDS = 8, 40


@pytest.fixture
def hurried():
    """Threads take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def filled(x):
    b = rl.Buffer(x)
    for i in range(len(x)):
        b[i] = x[i] * x[i - 1] * rl.nest_level()
    b[0] += b[1]
    b.append(b[0] * x[2])
    return np.sum(b.copy())


def marked(x):
    with rl.ignore_derivatives():
        scale = float(np.sum(x)) if rl.isderiving() else 0.0
    hooked = rl.hook(lambda g: 2 * g, x)
    return scale * np.sum(hooked * x)


def checkpointed(x):
    def block(y, c):
        b = rl.Buffer(y)
        for i in range(len(y)):
            b[i] = y[i] * c
        return b.copy()

    for k in range(3):
        x = rl.checkpointed(block, x, x[0] * 0.5 + k)
    return np.sum(x)


def ruled(x):
    """Its rule takes gradients of its own, with marks, on the way there and back."""
    return np.sum(x * x)


@rl.rrule_for(ruled)
def ruled_rrule(x):
    inner = rl.gradient(marked, x)[0]

    def ruled_pullback(y_bar):
        return rl.NoTangent(), y_bar * (inner + rl.gradient(filled, x)[0])

    return np.sum(x * x), ruled_pullback


def all_of_them(x):
    return filled(x) + checkpointed(x) * ruled(x)


@pytest.mark.every(5)
@pytest.mark.parametrize("f", [filled, marked, checkpointed, ruled, all_of_them], ids=lambda f: f.__name__)
def test_eight_threads(f, hurried):
    """Each thread gets the gradients of its own arguments, whatever the others are at."""
    points = [np.array([0.5, -1.5, 2.0]) + 0.1 * number for number in range(THREADS)]
    wanted = [rl.gradient(f, x)[0] for x in points]
    wrong, errors, gate = [], [], threading.Barrier(THREADS)

    def work(number):
        gate.wait()
        try:
            for _ in range(ROUNDS):
                if not np.array_equal(rl.gradient(f, points[number])[0], wanted[number]):
                    wrong.append(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    assert (wrong, errors) == ([], [])


DEEP = """
import sys, threading
import rulelab as rl
rl.debug_mode(compare=False)
sys.setrecursionlimit(1_000_000)
threading.stack_size(int(sys.argv[2]) * 1024 * 1024)

def plain(x, n):
    return x if n == 0 else plain(x, n - 1) * 1.00001

def through_checkpoints(x, n):
    return x if n == 0 else rl.checkpointed(through_checkpoints, x, n - 1) * 1.00001

def work():
    f, n = globals()[sys.argv[1]], 100_000
    try:
        found = rl.gradient(f, 2.0, n)[0]
        said.append("right" if abs(found / 1.00001**n - 1) < 1e-9 else "wrong")
    except RecursionError:
        said.append("RecursionError")

said = []
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(*said)
"""


@pytest.mark.every(3, slow=True)
@pytest.mark.parametrize(
    ("kind", "megabytes", "outcome"),
    [("plain", 8, "right"), ("plain", 512, "right"), ("through_checkpoints", 512, "RecursionError")],
)
def test_a_hundred_thousand_deep(kind, megabytes, outcome, tmp_path):
    """100,000 calls within calls: right, or RecursionError where C code lies between; no crash."""
    script = tmp_path / "deep.py"
    script.write_text(DEEP)
    command = [sys.executable, str(script), kind, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.strip() == outcome
