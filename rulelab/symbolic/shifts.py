"""Maxima that a result does not depend on, such as the one that keeps the exponentials of a softmax small.
Shown by following a shift step by step, and therefore for arrays of any length.
"""

from __future__ import annotations

import ast

from .cotangents import is_literal_power, over_axis
from .statements import Reading, Step, Value

EXTREMES = ("max", "min", "amax", "amin")
ADDS, SCALES = "adds", "scales"


def idle_shifts(reading: Reading) -> set[str]:
    """The names of the maxima and minima whose value does not affect the result."""
    steps = reading.steps
    found = set()
    for i, step in enumerate(steps):
        if (
            step.kind in EXTREMES
            and step.value.dims is not None
            and _is_idle(step, steps[i + 1 :], reading.results)
        ):
            found.add(step.target)
    return found


def _is_idle(extreme: Step, later: list[Step], results: tuple[Value, ...]) -> bool:
    """Whether a shift of `extreme` by d leaves the results unchanged.

    A changed value is described as one to which c * d is added, or which is multiplied by exp(c * d).
    """
    changed: dict[str, tuple[str, float]] = {extreme.target: (ADDS, 1)}
    for step in later:
        changes = [changed.get(v.text) for v in step.operands]
        if not any(changes):
            continue
        found = _change(step, changes) if _is_aligned(step, changes, extreme.value) else None
        if found is None:
            return False
        if found[1]:
            changed[step.target] = found
    return changed.keys().isdisjoint(result.text for result in results)


def _is_aligned(step: Step, changes, shift: Value) -> bool:
    """Whether a shift with one entry per row, say, still has one entry for each row of the result."""
    if not shift.dims:
        return True
    changing = [v for v, change in zip(step.operands, changes, strict=True) if change]
    if any(v.dims is None or v.rank != shift.rank for v in (*changing, step.value)):
        return False
    if step.kind not in ("sum", "mean"):
        return step.kind != "item"
    axis, kept = over_axis(step) or (None, False)
    return axis is not None and kept and shift.dims[axis] == 1


def _change(step: Step, changes):
    """The change of the result of a step; None if it has neither of the two forms."""
    kind, first = step.kind, changes[0]
    if kind in ("add", "subtract", "multiply", "divide"):
        return _of_two(kind, *changes)
    how, c = first or (None, 0)
    if kind == "negative":
        return (ADDS, -c) if how is ADDS else first
    if kind == "exp" and how is ADDS:
        return SCALES, c
    if kind == "log" and how is SCALES:
        return ADDS, c
    if kind == "power" and how is SCALES and is_literal_power(step.operands[1]):
        return SCALES, c * ast.literal_eval(step.operands[1].tree)
    if kind in ("sum", "mean") and len(changes) == 1 and (how is SCALES or kind == "mean"):
        return first
    return first if kind == "item" else None


def _of_two(kind, left, right):
    """The change of a sum, a difference, a product or a quotient; None for an operand means unchanged."""
    how = (left or right)[0]
    if left and right and left[0] is not right[0]:
        return None
    a, b = (left or (how, 0))[1], (right or (how, 0))[1]
    if kind in ("add", "subtract"):
        if how is SCALES:
            return left if a == b else None
        return ADDS, a + b if kind == "add" else a - b
    return (SCALES, a + b if kind == "multiply" else a - b) if how is SCALES else None
