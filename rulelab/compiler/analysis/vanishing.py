"""Which numbers may have no part in the result, though an operation that they come from has no finite slope.

`r = math.sqrt(x)` has none at 0, where `if r > 0.0:` keeps it out of the result. Zero times infinity is no
number, so the cotangent of `r` starts as nothing, which absorbs every slope, and not as 0.0. Where nothing
flowed that costs more than a number, so in loops it is done only for what comes from such an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...rules.kinds import FLOAT, INT, Array, Type, is_real
from ..base import ir
from ..base.liveness import joins_of, led_to

_GENTLE = ("add", "sub", "mul", "neg", "pos")


def vanishing(function: ir.Function, types: Callable[[ir.Atom], Type]) -> set[str]:
    """The names of numbers whose cotangent is to start as nothing."""
    lets = function.lets()
    made_of = [join for s in function.statements() for join in joins_of(s)]
    made_of += [(let.target, list(let.op.operands())) for let in lets]
    goes_into: list[tuple[str, list[ir.Atom]]]
    goes_into = [(atom, [name]) for name, atoms in made_of for atom in atoms if isinstance(atom, str)]
    steep = {let.target for let in lets if not _is_gentle(let.op, types)}
    for statement in function.statements():
        if isinstance(statement, ir.For):
            for leaf in ir.leaves(statement.iteration):
                if isinstance(leaf, ir.Sequence) and not isinstance(types(leaf.value), Array):
                    steep.add(leaf.item)
    inside = {
        name
        for loop in function.statements()
        if isinstance(loop, (ir.For, ir.While))
        for name in (*_given_in(ir.blocks(loop)), *(name for name, _ in joins_of(loop)))
    }
    collected = {let.target for let in lets if _is_of_array(let.op, types)}
    outside = {*_given_in([function.body]), *function.parameters, *function.free} - inside - collected
    return led_to(sorted(steep), goes_into) | outside


def _given_in(blocks: Iterable[ir.Block]) -> set[str]:
    """The names that statements in some blocks give, but those that loops go through."""
    inner = [s for block in blocks for s in ir.walk(block)]
    return {s.target for s in inner if isinstance(s, ir.Let)} | {n for s in inner for n, _ in joins_of(s)}


def _is_gentle(op: ir.Op, types: Callable[[ir.Atom], Type]) -> bool:
    """Whether the slopes of an operation are finite wherever its operands and its value are; what flows to
    items of an array is collected in an array of numbers anyway.
    """
    if isinstance(op, ir.Move) or _is_of_array(op, types):
        return True
    if not isinstance(op, (ir.Binary, ir.Augmented, ir.Unary)) or not all(
        is_real(types(atom)) for atom in op.operands()
    ):
        return False
    if op.operator == "truediv":  # of Python's own numbers it raises where there is no slope
        return all(types(atom) in (FLOAT, INT) for atom in op.operands())
    if op.operator == "pow":
        exponent = op.operands()[1]
        return isinstance(exponent, ir.Const) and type(exponent.value) is int and exponent.value >= 0
    return op.operator in _GENTLE


def _is_of_array(op: ir.Op, types: Callable[[ir.Atom], Type]) -> bool:
    return isinstance(op, ir.Item) and isinstance(types(op.value), Array)
