"""How much code a derivative of a derivative takes: the lines that are emitted for a function at each order.

    python tests/compiler/orders.py

prints the table of docs/explanation/orders.md.
"""

from dataclasses import dataclass

import numpy as np

import rulelab as rl
from rulelab.compiler.calls.cache import DEFAULT


def polynomial(x):
    total = 0.0
    for k in range(6):
        total = total * x + k
    return total


def vector(x):
    return np.sum(np.sin(x) * x**2) / np.dot(x, x)


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


@dataclass
class Line:
    slope: float
    height: float


def model(line):
    error = line.slope * 2.0 + line.height - 1.0
    return error * error


def branches(x):
    if x > 1.0:
        y = x * x
    else:
        y = 2.0 - x
    return y * y * x


POINTS = {
    polynomial: 1.5,
    vector: np.array([0.5, -1.0, 2.0]),
    logsumexp: np.array([0.5, -1.0, 2.0]),
    model: Line(0.5, 2.0),
    branches: 1.5,
}


def nested(f, order):
    """The sum of all derivatives of an order, as a function whose gradient is of the next."""
    if order == 1:
        return f
    inner = nested(f, order - 1)

    def summed(x):
        (x_bar,) = rl.gradient(inner, x)
        return x_bar.slope + x_bar.height if isinstance(x, Line) else np.sum(x_bar)

    return summed


def lines(f, order):
    """How many lines the passes of `f` itself have when a derivative of this order is taken."""
    rl.refresh()
    rl.gradient(nested(f, order), POINTS[f])
    passes = [made for held in DEFAULT.memory.passes.values() for made in held.by_key.values()]
    return sum(len(made.text.splitlines()) for made in passes if made.name == f.__name__)


def written(f):
    """How many lines the author wrote."""
    code = f.__code__
    return max(line for _, _, line in code.co_lines() if line) - code.co_firstlineno + 1


def table():
    """The rows: name, lines as written, then at orders 1, 2 and 3."""
    return [(f.__name__, written(f), *(lines(f, order) for order in (1, 2, 3))) for f in POINTS]


if __name__ == "__main__":
    for row in table():
        print("|", " | ".join(map(str, row)), "|")
