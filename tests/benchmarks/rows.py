"""The rows of a comparison of two commits: functions with arguments, and the derivatives taken of them.

Programs that users write every day, of a size at which the cost of a call, of a loop, of an array operation
and of compiling can each be told from the others.
"""

import random
import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import special  # noqa: E402
import workloads  # noqa: E402

import rulelab as rl  # noqa: E402

DEFAULT = rl.refresh.__kwdefaults__["cache"]  # wherever the commit that is measured has it


def step(state, k):
    position, velocity = state
    return position + 0.1 * velocity, velocity - 0.1 * k * np.sin(position)


def pendulum(position, k):
    """Calls of one's own function in a loop, with a tuple for a state."""
    state = (position, 0.0)
    for _ in range(40):
        state = step(state, k)
    return state[0] ** 2


@dataclass
class Layer:
    weights: np.ndarray
    offsets: np.ndarray

    def __call__(self, x):
        return np.tanh(self.weights @ x + self.offsets)

    def norm(self, x):
        return np.sum(self(x) ** 2)


def network(layers, x):
    """Objects with methods, matrix products."""
    for layer in layers:
        x = layer(x)
    return np.sum(x * x)


class Total:
    def __init__(self):
        self.sum = 0.0

    def add(self, value):
        self.sum = self.sum + value


def collected(xs):
    """Lists, dicts and an accumulating object, made inside."""
    total, found, kept = Total(), [], {}
    for k, x in enumerate(xs):
        found.append(x * x)
        kept[k % 3] = x + kept.get(k % 3, 0.0)
        total.add(found[-1])
    return total.sum + sum(found) * kept[0]


def chained(x):
    """One array operation after the other."""
    return np.sum(np.exp(-((np.sin(x) * x + 1.0) ** 2)) / (1.0 + x * x))


def sliced(m):
    """Indices of several kinds."""
    return np.sum(m[1:] * m[:-1]) + np.sum(m[:, [0, 2]] ** 2) + m[0, 0]


def branching(x):
    while x > 1.5:
        x = x / 1.3 if x > 3.0 else x - 0.2
    return x * x


def loss_over(np, inputs, outputs):
    """A loss that captures its data, and NumPy, as code for several libraries does."""

    def loss(weights):
        return np.mean((np.tanh(inputs @ weights) - outputs) ** 2)

    return loss


def loss_of(squash, inputs, outputs):
    """A loss that captures a function, calls one that is defined beside it, and is wrapped."""

    def model(weights):
        return squash(inputs @ weights)

    def loss(weights):
        return np.mean((model(weights) - outputs) ** 2)

    @wraps(loss)
    def wrapper(*args, **words):
        return loss(*args, **words)

    return loss, wrapper


def of_data(weights, inputs, outputs):
    return np.mean((np.tanh(inputs @ weights) - outputs) ** 2)


def of_fields(layer, x):
    return np.sum(np.tanh(layer.weights @ x + layer.offsets) ** 2)


def unrolled():
    """A function of a few hundred statements, whose compiling is what counts."""
    import linecache

    lines = [f"    y = y * 0.99 + np.sin(x) * {k}.0" for k in range(200)]
    text = "\n".join(["def unrolled(x):", "    y = x", *lines, "    return y", ""])
    linecache.cache["<unrolled>"] = (len(text), None, text.splitlines(True), "<unrolled>")
    names = {"np": np}
    exec(compile(text, "<unrolled>", "exec"), names)
    return names["unrolled"]


class Node:
    """A node of a tree, or a link of a list; its sums are made by an operator."""

    def __init__(self, value, *below):
        self.value, self.below = value, below

    def __add__(self, other):
        return Node(self.value + other.value, self, other)

    def total(self):
        return self.value * self.value + sum([node.total() for node in self.below])


def planted(x, depth):
    """A tree that is built by recursion."""
    if depth == 0:
        return Node(x)
    return planted(0.5 * x, depth - 1) + planted(x * x, depth - 1)


class Scope:
    """A manager that takes whatever there is."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def through_objects(x):
    return planted(x, 3).total()


def harvested(tree):
    """A recursion that takes the parts of each node apart."""
    if not tree.below:
        return tree.value**2
    left, right = tree.below
    return tree.value * harvested(left) + harvested(right)


def of_a_tree(x, depth):
    return harvested(planted(x, depth))


def counted(x):
    """Counters that are made, changed and put in order."""
    weights = Counter({key: n * x for key, n in Counter("abca").items()})
    weights["d"] += x * x
    return weights.most_common(1)[0][1] * (weights + Counter(a=x))["a"]


def drawn(x):
    """Draws of Python's own generator."""
    rng = random.Random(3)
    return rng.gauss(x, x * x) * rng.uniform(x, 2 * x) + rng.expovariate(x) * rng.random()


STEPS = {"step": step}


def stepped(position, k):
    """A function that is looked up, with a tuple for a state."""
    state = (position, 0.0)
    for _ in range(10):
        state = STEPS["step"](state, k)
    return state[0] ** 2


def within_scopes(x):
    for _ in range(5):
        with Scope():
            x = x * x
    return x


def programs():
    """{name: (function, arguments)}."""
    rng = np.random.default_rng(0)
    y, yh = rng.random((2, 30))
    layers = [Layer(rng.standard_normal((8, 8)) / 3.0, np.zeros(8)) for _ in range(3)]
    inputs = np.linspace(-1.0, 1.0, 240).reshape(30, 8)
    captures, wrapper = loss_of(lambda t: np.tanh(t), inputs, y)
    return {
        "mse 30": (workloads.mse, (y, yh)),
        "mse 30 by rule": (special.mse_ruled, (y, yh)),
        "one float by rule": (special.square, (1.5,)),
        "sum3 30": (workloads.sum3, (y,)),
        "logistic 100": (workloads.logistic, (3.2, 0.3, 100)),
        "trapezoid 1000": (workloads.trapezoid, (0.0, 1.0, 0.7)),
        "log-sum-exp 100": (workloads.logsumexp, (rng.standard_normal(100),)),
        "chain 1000": (chained, (rng.standard_normal(1000),)),
        "slices 5 x 4": (sliced, (rng.standard_normal((5, 4)),)),
        "pendulum 40": (pendulum, (0.7, 1.1)),
        "network": (network, (layers, rng.standard_normal(8))),
        "collections 20": (collected, ([float(v) for v in rng.random(20)],)),
        "branches": (branching, (9.7,)),
        "captured data 30 x 8": (loss_over(np, rng.random((30, 8)), y), (rng.random(8),)),
        "captured functions": (captures, (rng.random(8),)),
        "a wrapper": (wrapper, (rng.random(8),)),
        "a partial": (partial(of_data, inputs=inputs, outputs=y), (rng.random(8),)),
        "fields of an object": (of_fields, (layers[0], rng.random(8))),
        "a method": (layers[0].norm, (rng.random(8),)),
        "a tree of objects": (through_objects, (0.7,)),
        "a tree that is taken apart": (partial(of_a_tree, depth=5), (0.7,)),
        "counters": (counted, (0.7,)),
        "draws": (drawn, (0.7,)),
        "steps that are looked up": (stepped, (0.7, 1.1)),
        "scopes": (within_scopes, (0.9,)),
        "unrolled 200": (unrolled(), (0.7,)),
    }


def forward(f, *args):
    """The slope along the first argument."""
    still = [np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0 * x for x in args[1:]]
    first = np.ones_like(args[0]) if isinstance(args[0], np.ndarray) else 1.0
    return rl.pushforward(f, *args)(first, *still)


def first(derivative, *args):
    """The derivative with everything compiled anew."""
    DEFAULT.drop_passes()
    return derivative(*args)


def rows():
    """{name: a call without arguments that gives a derivative}."""
    found = {}
    for name, (f, args) in programs().items():
        numbers = all(isinstance(x, (float, np.ndarray)) for x in args)
        found[f"{name}: gradient"] = partial(rl.gradient, f, *args)
        found[f"{name}: first gradient"] = partial(first, rl.gradient, f, *args)
        if numbers:
            found[f"{name}: forward"] = partial(forward, f, *args)
        if numbers and len(args) == 1 and np.size(args[0]) < 31:
            found[f"{name}: hessian"] = partial(rl.hessian, f, *args)
    return found
