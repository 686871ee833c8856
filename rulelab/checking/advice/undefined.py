"""Undefined names in a rule: it would raise a NameError, far from the missing line."""

from __future__ import annotations

import ast
import builtins
import dis
import sys
from collections.abc import Iterator
from typing import Any

from ...nearest import OF_MANY_WORDS, nearest
from ..calling.subjects import codes_of
from ..reading.anatomy import UNKNOWN, Anatomy, found_in
from .advices import Advice

_READS = ("LOAD_GLOBAL", "LOAD_NAME")
_BINDS = ("STORE_GLOBAL", "STORE_NAME")
_USUAL = {"rl": "rulelab", "np": "numpy", "sp": "scipy", "plt": "matplotlib.pyplot", "jnp": "jax.numpy"}
"""The usual short names of modules."""


def undefined_names(rule: Anatomy) -> Iterator[Advice]:
    """Advice for each name that the rule or its pullback reads and that is not defined yet."""
    undefined = _undefined(rule.function)
    for node in ast.walk(rule.node):
        if isinstance(node, ast.Name) and node.id in undefined:
            undefined.remove(node.id)
            better = _definition(node.id, rule.function)
            yield Advice(
                "undefined-name",
                rule.name,
                f"{node.id} is not defined" + (f": {better}" if better else "."),
                rule.source.place(node),
                f"Python looks for {node.id} when the line runs, and raises a NameError. "
                "A cell that defines it may follow; the rule need not be stated again.",
                better or f"{node.id} = ...",
            )


def _undefined(function: Any) -> set[str]:
    """The names that the code of a function reads from its module or builtins, and that do not exist."""
    steps = [step for code in codes_of(function) for step in dis.get_instructions(code)]
    bound = {step.argval for step in steps if step.opname in _BINDS}
    read = {step.argval for step in steps if step.opname in _READS}
    return {name for name in read - bound if found_in(function, name) is UNKNOWN}


def _definition(name: str, function: Any) -> str:
    """The line that is most likely missing, or the name that was probably intended; empty if neither is
    known.
    """
    if name in _USUAL:
        return f"import {_USUAL[name]} as {name}"
    if name in sys.stdlib_module_names:
        return f"import {name}"
    known = (*function.__code__.co_varnames, *function.__globals__, *vars(builtins))
    return next(iter(nearest(name, known, alike=OF_MANY_WORDS)), "")
