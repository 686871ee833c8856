"""Missing paths of a cotangent through intermediate values of the forward part."""

from __future__ import annotations

import ast
from typing import Any

from ..reading.anatomy import Anatomy, assignments, names_in, own_nodes
from .suspects import called_after


def omitted_path(anatomy: Anatomy, argument: str | None) -> str:
    """The name of the cotangent of an intermediate value computed from an argument, if the pullback computes
    this cotangent but does not pass it on to that of the argument; empty if there is none.

    Examples are a forgotten quotient rule, or a normalisation treated as constant: `D_bar` exists, but for
    other arguments.
    """
    for pullback in anatomy.pullbacks:
        made = assignments(pullback)
        for answer in anatomy.answers(pullback):
            own = [node for name, node in answer.cotangents if name == argument]
            reached = _reached(set().union(*map(names_in, own)), _flows(pullback)) if own else set(made)
            for name, values in anatomy.values.items():
                of_it = any(value is not None and argument in names_in(value) for value in values)
                for bar in called_after(name) if of_it else ():
                    if bar in made and bar not in reached:
                        return bar
    return ""


def _flows(function: Any) -> dict[str, set[str]]:
    """For each name, the names that are read where it is assigned, or where its elements are written to."""
    found: dict[str, set[str]] = {}
    for node in own_nodes(function):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets, read = getattr(node, "targets", [getattr(node, "target", None)]), names_in(node)
        elif isinstance(node, (ast.For, ast.comprehension)):
            targets, read = [node.target], names_in(node.iter)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            targets, read = [node], names_in(node)  # `np.add.at(x_bar, i, g)`, `bars.append(g)`
        else:
            continue
        for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
            found.setdefault(name, set()).update(read)
    return found


def _reached(names: set[str], flows: dict[str, set[str]]) -> set[str]:
    """These names and all names from which they are computed."""
    waiting, found = list(names), set(names)
    while waiting:
        new = flows.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
