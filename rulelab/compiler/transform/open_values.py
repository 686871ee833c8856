"""Values that may be given something that varies later, and so need a tangent from the start."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...rules.kinds import ANY, NUMERIC, Array, Type, is_real
from ..analysis.types import Types
from ..base import ir
from ..base.liveness import joins_of, led_to, sequences_of


def may_be_written(function: ir.Function, types: Types, changes_nothing: Callable[[ir.Op], bool]) -> set[str]:
    """The names of arrays that this function makes and to which a value that varies might be written: they
    need a tangent from the start.
    """
    lets = function.lets()
    called = {s.target for s in lets if isinstance(s.op, (ir.Call, ir.Apply)) and _may_be_array(s, types)}
    others = (s for s in lets if isinstance(s.op, (ir.Binary, ir.Unary, ir.Item)))
    writes = any(_may_write(s.op, types, changes_nothing) for s in lets)
    if writes or (called and not called.isdisjoint(_given_to_others(function))):
        return called | {s.target for s in others if is_array(types(s.target))}
    return set()


_MAKING = (
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like,
    np.arange, np.linspace, np.eye, len, range,
)  # fmt: skip


@dataclass(eq=False)
class Resting:
    """The values that have tangents, but to which nothing is written that varies: their tangents are zero.
    To those that are `unchanged`, nothing is written at all.
    """

    callee: Callable[[ir.Op], Any]  # what an operation certainly calls
    names: set[str] = field(default_factory=set)
    unchanged: set[str] = field(default_factory=set)

    def computes(self, op: ir.Op) -> bool:
        """Whether the result of an operation, of numbers or arrays, certainly has memory of its own."""
        if isinstance(op, (ir.Binary, ir.Unary)):
            return True
        return isinstance(op, ir.Call) and _only_computes(self.callee(op), len(op.args), bool(op.keywords))


def _only_computes(callee: Any, count: int, by_name: bool) -> bool:
    """Whether a function does nothing but compute a number or a new array from this many arguments by
    position, and perhaps others by name.
    """
    if any(callee is each for each in _MAKING):
        return True
    if isinstance(callee, np.ufunc):
        return count == callee.nin and not by_name
    return getattr(callee, "__module__", None) == "math"


def touched(
    function: ir.Function,
    types: Types,
    changes_nothing: Callable[[ir.Op], bool],
    resting: Resting,
    varied: set[str] | None = None,
) -> set[str]:
    """The names of values that may be written to, or may share memory with one that is; what is given to
    others counts as written to. With `varied`, writes of what is not among these names do not count.
    """

    def kept(op: ir.Op) -> Iterable[ir.Atom]:
        if not isinstance(op, ir.Write):
            return op.operands()
        return () if is_array(types(op.target)) else (op.key, op.value)  # an array copies what is written

    written: set[ir.Atom] = {*_given_to_others(function, kept)}
    steps: list[tuple[str, list[ir.Atom]]] = []
    for statement in function.statements():
        steps += _handed_over(statement)
        if not isinstance(statement, ir.Let):
            continue
        op, target = statement.op, statement.target
        if resting.computes(op):
            continue
        if _may_write(op, types, changes_nothing) and not _writes_constants(op, varied):
            written.update(op.operands())
        if not is_real(types(target)):
            steps.append((target, list(op.operands())))
    for name, atoms in tuple(steps):
        steps += [(atom, [name]) for atom in atoms if isinstance(atom, str)]
    return led_to(written, steps)


def depending(function: ir.Function, types: Types, start: set[str]) -> set[str]:
    """The names of values in a tangent that may depend on those in `start`: computed from them, or changed by
    an operation that is given them. Those at rest (`ir.Function.resting`) are changed by none.
    """
    steps: list[tuple[str, list[ir.Atom]]] = []
    for statement in function.statements():
        found = _handed_over(statement)
        if isinstance(statement, ir.Let):
            found.append((statement.target, list(statement.op.operands())))
        for name, atoms in found:
            steps += [(atom, [name]) for atom in atoms if isinstance(atom, str)]
            if name not in function.resting:
                changed = [a for a in atoms if a not in function.resting and not is_real(types(a))]
                steps.append((name, changed))
    return led_to(start, steps)


def _handed_over(statement: ir.Statement) -> list[tuple[str, list[ir.Atom]]]:
    """The names that a statement assigns at joins and in loops, each with what may become its value, or holds
    it.
    """
    return [*joins_of(statement), *[(leaf.item, [leaf.value]) for leaf in sequences_of(statement)]]


def _may_be_array(statement: ir.Let, types: Types) -> bool:
    kind = types(statement.target)
    return kind == ANY or is_array(kind)


def _may_write(op: ir.Op, types: Types, changes_nothing: Callable[[ir.Op], bool]) -> bool:
    if isinstance(op, ir.Write):
        return op.kind == "item"
    if isinstance(op, ir.Augmented):
        return not is_real(types(op.left))
    if isinstance(op, ir.Call) and any(name == "out" for name, _ in op.keywords):
        return True
    return isinstance(op, (ir.Call, ir.Apply)) and not changes_nothing(op)


def _writes_constants(op: ir.Op, varied: set[str] | None) -> bool:
    if varied is None or not isinstance(op, (ir.Write, ir.Augmented)):
        return False
    return varied.isdisjoint(op.operands())


def _given_to_others(
    function: ir.Function, kept: Callable[[ir.Op], Iterable[ir.Atom]] | None = None
) -> set[str]:
    """The names of values that other code may get and write to: returned, captured, or put in a container,
    which is itself among them, unless `kept` says which operands of an operation are.
    """
    keeping = (ir.Build, ir.Append, ir.MakeFunction, ir.MakeCell, ir.Write)
    ops = (s.op for s in function.lets() if isinstance(s.op, keeping))
    joins = [join for s in function.statements() for join in _handed_over(s)]
    given = [atom for op in ops for atom in (op.operands() if kept is None else kept(op))]
    return led_to([function.result, *given], joins)


def kept_open(function: ir.Function) -> set[str]:
    """The names of lists and dicts that this function makes and appends to or passes on, and of variables
    that it shares with nested functions: a value that varies may be put in later.
    """
    lets = function.lets()
    appends = any(isinstance(s.op, ir.Append) for s in lets)
    lists = _built(function, ("list",)) if appends else set()
    given = _built(function, ("list", "dict"))
    if given:
        given &= _given_to_others(function)
    return lists | given | {s.target for s in lets if isinstance(s.op, ir.MakeCell)}


def handed_on(function: ir.Function, changes_nothing: Callable[[ir.Op], bool]) -> set[str]:
    """The names of lists and dicts that this function makes, if it calls functions that may write to them."""
    calls = [s.op for s in function.lets() if isinstance(s.op, (ir.Call, ir.Apply))]
    return set() if all(map(changes_nothing, calls)) else _built(function, ("list", "dict"))


def _built(function: ir.Function, kinds: tuple[str, ...]) -> set[str]:
    builds = ((s.target, s.op) for s in function.lets() if isinstance(s.op, ir.Build))
    return {target for target, op in builds if op.kind in kinds}


def is_array(kind: Type) -> bool:
    return isinstance(kind, Array) or kind == NUMERIC
