"""The parts of a call in the line of a magic, and a note about its arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from .names import computed_arguments, free_names, may_vary


class Invocation(NamedTuple):
    """The parts of a call: the function and its arguments, all evaluated, the name of the function in the
    line, and a note about the arguments.
    """

    function: Any
    args: tuple
    kwargs: dict
    name: str = ""
    note: str = ""


def note_of_arguments(magic: str, call: ast.Call, text: str, called: str, names: Mapping) -> str:
    """A note that says with respect to what a derivative of a call is, if its arguments are computed from
    names that may vary, and how to get the derivative with respect to these names.
    """
    computed = computed_arguments(call, names)
    varying = [name for name in free_names(text) if may_vary(names.get(name))]
    if not computed or not varying:
        return ""
    part = "an argument" if len(call.args) > 1 else "the argument"
    parts = f"{computed[0]}, {part}" if len(computed) == 1 else f"{' and '.join(computed)}, the arguments"
    listed = ", ".join(varying[:1] if magic == "%hessian" else varying)
    return (
        f"this is with respect to {parts} of {called}; with respect to {listed}: "
        f"{magic} (lambda {listed}: {text})({listed})"
    )
