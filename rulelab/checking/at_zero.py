"""Where a function is smooth at zero although its text takes a special way there, as `v * abs(v)` is: a rule
that divides by zero has no number then, and the derivative is one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from .anatomy import last_name
from .plain_calls import plainly
from .probes import Point
from .texts import text_nodes
from .vectors import to_vec

_PARTING = frozenset(
    "abs fabs absolute sign copysign maximum minimum fmax fmin clip where heaviside norm hypot sinc prod "
    "cumprod".split()
)
"""Functions that do something special about zero, or in whose arguments it is as usual as any number."""
STEPS = (1e-3, 1e-4, 1e-5)
"""Of differences to either side."""
AGREE = 1e-3
"""How far the slopes on both sides may be apart, relative to those of the function close by."""


def special_at_zero(f: Callable) -> frozenset[str]:
    """The parameters that a function compares with zero or hands to functions that do something special
    there, also under another name: it is meant for zero, and what only divides by it may not be.

    >>> def drag(rho, v, area):
    ...     speed = abs(v)
    ...     return rho * v * speed / area
    >>> sorted(special_at_zero(drag)), sorted(special_at_zero(lambda x, c: np.sqrt(x**2 + c)))
    (['v'], ['x'])
    """
    nodes, names, made = text_nodes(f)
    found: set[str] = set()
    for inner in nodes:
        if isinstance(inner, ast.Call):
            word = last_name(inner.func)
            if word in _PARTING:
                given = [*inner.args, *([inner.func.value] if isinstance(inner.func, ast.Attribute) else [])]
                found.update(name for arg in given for name in _names_in(arg, made))
            elif word == "sqrt":
                found.update(name for arg in inner.args for name in _squared(arg, made))
    return names & found | told_at(f, 0.0)


def told_at(f: Callable, mark: float) -> frozenset[str]:
    """The parameters that a function compares with a number, also under another name: there it says what it
    is.

    >>> sorted(told_at(lambda x, c: np.where(x == -2.0, 1.0, np.expm1(x + 2.0) / (x + 2.0)) / c, -2.0))
    ['x']
    """
    nodes, names, made = text_nodes(f)
    found: set[str] = set()
    for inner in nodes:
        sides = [inner.left, *inner.comparators] if isinstance(inner, ast.Compare) else []
        if any(_is_number(side, mark) for side in sides):
            found.update(name for side in sides for name in _names_in(side, made))
    return names & found


def _is_number(node: ast.expr, mark: float) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_number(node.operand, -mark)
    return isinstance(node, ast.Constant) and node.value == mark


def _names_in(node: ast.AST, made: Mapping[str, ast.expr], depth: int = 3) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
            if inner.id in made and depth:
                yield from _names_in(made[inner.id], made, depth - 1)


def _squared(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[str]:
    """The names of which an even power is taken within something."""
    for inner in ast.walk(node):
        power = inner.right if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow) else None
        if isinstance(power, ast.Constant) and isinstance(power.value, int) and power.value % 2 == 0:
            yield from _names_in(inner.left, made)  # type: ignore[attr-defined]


def slopes_at(f: Callable, point: Point, position: int) -> Iterator[tuple[int, np.ndarray]]:
    """The derivative of the value by each zero of an input, with its place, where the differences to both
    sides agree that there is one.
    """
    vector, make = to_vec(point.inputs[position])

    def value(at: int, step: float) -> np.ndarray:
        moved = vector.copy()
        moved[at] += step
        inputs = (*point.inputs[:position], make(moved), *point.inputs[position + 1 :])
        return to_vec(plainly(f, inputs, point.kwargs))[0]

    for at in np.flatnonzero(vector == 0.0).tolist():
        here = value(at, 0.0)
        sides = [[(value(at, sign * h) - here) / (sign * h) for h in STEPS] for sign in (1.0, -1.0)]
        # What differs by as much as the step is taken away: of `v * abs(v)` the slope is the step.
        above, below = ((10 * slopes[2] - slopes[1]) / 9 for slopes in sides)
        near = max(float(np.abs(slopes[0]).max(initial=0.0)) for slopes in sides)
        limit = AGREE * max(near, STEPS[0])
        changes = [np.abs(slopes[2] - slopes[1]).max(initial=0.0) for slopes in sides]
        is_steady = max(changes) <= 10 * STEPS[1] * max(near, 1.0)
        if np.all(np.isfinite(above + below)) and np.all(np.abs(above - below) <= limit) and is_steady:
            slope = (above + below) / 2
            yield at, np.where(np.abs(slope) <= 1e-9 * max(near, 1.0), 0.0, slope)
