"""Which numbers certainly have a cotangent, possibly zero, whatever path a function takes.

Only code outside branches counts, and in it only arithmetic on numbers, functions of one number, and sums,
products and means of displays; and the initial value of a loop in which each iteration passes the cotangent
of its result back to its input.
"""

from __future__ import annotations

from collections.abc import Callable

from ...python_facts import OF_NUMBERS
from ...rules.kinds import is_real
from ..base import ir
from ..base.liveness import use_counts
from .types import Types


def gone_through(function: ir.Function, active: Callable[[ir.Atom], bool]) -> set[str]:
    """The parameters of which every item has a cotangent, possibly zero: a loop outside branches goes through
    all of them, and its item is `active`. A loop that may end early does so too, if nothing else reads them.
    """
    uses = use_counts(function)
    copies = {let.target: let.op.value for let in function.lets() if isinstance(let.op, ir.Move)}
    found: set[str] = set()
    for loop in function.body:
        if isinstance(loop, ir.For) and not loop.generates:
            for leaf in ir.leaves(loop.iteration):
                if not isinstance(leaf, ir.Sequence) or not active(leaf.item):
                    continue
                if loop.stop is None or uses[leaf.value] == 1:
                    name = str(leaf.value)
                    while name in copies:
                        name = str(copies[name])
                    found.add(name)
    return found.intersection(function.parameters)


_ARITHMETIC = ("add", "sub", "mul", "truediv", "neg", "pos")


def flowed_to(function: ir.Function, types: Types, has_slope: Callable[[ir.Op], bool]) -> set[str]:
    """The names of such numbers; `has_slope(call)` says whether a call has a formula for its slope."""
    found: set[ir.Atom] = {function.result} if is_real(types(function.result)) else set()
    _go_back(function.body, found, types, has_slope)
    return {atom for atom in found if isinstance(atom, str)}


def _go_back(block: ir.Block, found: set[ir.Atom], types: Types, has_slope: Callable[[ir.Op], bool]) -> None:
    """Add the numbers in a block that certainly have a cotangent, given those in `found` after it."""
    for statement in reversed(block):
        if isinstance(statement, ir.Let) and statement.target in found:
            found.update(_handed_back(statement.op, types, has_slope))
        elif isinstance(statement, (ir.For, ir.While)):
            for phi in statement.carried:
                turn: set[ir.Atom] = {phi.sources[1]}
                _go_back(statement.body, turn, types, has_slope)
                if phi.target in found and phi.target in turn and is_real(types(phi.sources[0])):
                    found.add(phi.sources[0])


def _handed_back(op: ir.Op, types: Types, has_slope: Callable[[ir.Op], bool]) -> tuple[ir.Atom, ...]:
    """The operands that certainly get a cotangent if the result has one."""
    if isinstance(op, ir.Move):
        return (op.value,)
    if isinstance(op, ir.Build):
        return op.items if op.kind == "tuple" else ()
    if isinstance(op, ir.Call):
        args = op.args if len(op.args) == 1 and not op.keywords else ()
        callee = types.callee(op)
        of_all = any(callee is one for one in OF_NUMBERS) and callee is not max and callee is not min
        of_all = of_all and all(map(types.are_numbers, args))
        return args if of_all or (all(is_real(types(atom)) for atom in args) and has_slope(op)) else ()
    if not isinstance(op, (ir.Binary, ir.Augmented, ir.Unary)) or not all(
        is_real(types(atom)) for atom in op.operands()
    ):
        return ()
    if op.operator == "pow":
        return op.operands()[:1] if isinstance(op.operands()[1], ir.Const) else ()
    return op.operands() if op.operator in _ARITHMETIC else ()
