"""Elements of a buffer that a rule never writes: `np.empty` contains what was in memory before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..calling.subjects import Subject
from ..probing.perturb import fresh
from ..probing.probes import Probe, reverse_answer, without_warnings
from ..reading.editing import Edit

FILLED = (3.0, 7.0)
"""Numbers put into a buffer: if the answers differ, some of them are left."""
LOOKED_AT = 6
"""At how many points a rule is called."""
_BARE = {"empty": "full", "empty_like": "full_like"}


def unwritten_elements(
    rule: Any, make: Callable[[list[Edit]], Subject | None], probes: Sequence[Probe]
) -> ast.Call | None:
    """The first buffer in a rule with elements that are never written and get into an answer."""
    for node in (n for n in ast.walk(rule) if isinstance(n, ast.Call) and n.args):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in _BARE:
            filled = [make([_filled(node, called, number)]) for number in FILLED]
            if None not in filled and any(_is_told_apart(filled, probe) for probe in probes[:LOOKED_AT]):
                return node
    return None


def _filled(node: ast.Call, called: ast.Attribute, number: float) -> Edit:
    door = ast.Attribute(called.value, _BARE[called.attr], ast.Load())
    new = ast.Call(door, [node.args[0], ast.Constant(number), *node.args[1:]], node.keywords)
    return Edit(node, new)


def _is_told_apart(subjects: Sequence[Subject | None], probe: Probe) -> bool:
    """Whether the answers of two rules to one cotangent differ."""
    found = []
    with without_warnings():
        try:
            for subject in subjects:
                assert subject is not None and subject.reverse is not None
                _, back = subject.reverse(*fresh(probe.point.inputs), **dict(probe.point.kwargs))
                found.append(reverse_answer(back, probe.truth.y, probe.seeds[-1], probe.point))
        except Exception:
            return False
    return not np.array_equal(found[0], found[1], equal_nan=True)
