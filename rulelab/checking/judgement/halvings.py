"""Whether a function that halves an interval until nothing is left of it returns an end of the interval: then
there was nothing to find between the ends, and a rule for what lies there is not intended.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

from ..arguments.iterated import with_more_steps
from ..measuring.vectors import to_vec
from ..probing.perturb import landmarks
from ..reading.texts import decides_in_a_loop, text_of

AT_AN_END = 1e-9
"""How close, relatively, the value of a bisection has to be to an end."""


def is_bisection(f: Callable) -> bool:
    """Whether a function has a condition in a loop that runs until it converges or for a number of steps.

    >>> def root(c):
    ...     low, high = 0.0, 1.0
    ...     for _ in range(50):
    ...         middle = (low + high) / 2
    ...         if middle**3 < c:
    ...             low = middle
    ...         else:
    ...             high = middle
    ...     return low
    >>> is_bisection(root), [is_an_end(root(c), (c,), [root.__code__]) for c in (0.5, 2.0)]
    (True, [False, True])
    """
    return decides_in_a_loop(f) and (repeats_until(f) or with_more_steps(f) is not None)


def repeats_until(f: Callable) -> bool:
    """Whether the text of a function has a `while` loop."""
    node, _ = text_of(f)
    return node is not None and any(isinstance(step, ast.While) for step in ast.walk(node))


def is_an_end(y: Any, args: tuple, codes: Sequence[CodeType]) -> bool:
    """Whether each number of the value is one of the arguments, or a number in the code."""
    pairs = (pair for code in codes for pair in code.co_consts if isinstance(pair, tuple))
    in_pairs = (x for pair in pairs for x in pair if isinstance(x, (int, float)))  # `low, high = 0.0, 1.0`
    ends = np.concatenate([to_vec(args)[0], [*landmarks(codes), *in_pairs]])
    value = to_vec(y)[0]
    near = np.abs(value[:, None] - ends) <= AT_AN_END * np.maximum(np.abs(ends), 1.0)
    return bool(value.size) and bool(near.any(1).all())
