"""Which numbers may not contribute to the result, though an operation they come from has no finite slope.

`r = math.sqrt(x)` has none at 0, where `if r > 0.0:` keeps it out of the result. Zero times infinity is NaN,
so the cotangent of `r` starts as a zero object, which absorbs every slope, and not as 0.0. If nothing flows
back, that costs more than a number, so in loops it is done only for values that lead to such an operation.
The slope of an operation that no cotangent reaches (`abs(x)` in the test of a loop) is not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from ...rules.kinds import FLOAT, INT, Array, Type, is_real
from ..base import ir
from ..base.liveness import joins_of, led_to, sequences_of
from .elements import changed_list

_GENTLE = ("add", "sub", "mul", "neg", "pos")


Lists = Mapping[str, Collection[str]]
_NONE: Lists = MappingProxyType({})


def vanishing(
    function: ir.Function,
    types: Callable[[ir.Atom], Type],
    active: Callable[[ir.Atom], bool],
    lists: Lists = _NONE,
) -> set[str]:
    """The names of numbers whose cotangent must start as a zero object; `active` says which have a cotangent.
    `lists` are the lists whose items' cotangents are collected in a list: each name, with all names of its
    list.
    """
    outside, inside = {*function.parameters, *function.free}, set[str]()
    _note_given(function.body, outside, inside)
    collected = {let.target for let in function.lets() if _is_of_array(let.op, types)}
    return after_steep(function, types, active, lists) | (outside - inside - collected)


def after_steep(
    function: ir.Function,
    types: Callable[[ir.Atom], Type],
    active: Callable[[ir.Atom], bool],
    lists: Lists = _NONE,
) -> set[str]:
    """The names of results of operations that may lack a finite slope, and of what is made from these."""
    lets = function.lets()
    collected = {let.target for let in lets if _is_of_array(let.op, types) or _list_of(let.op) in lists}
    reached = [let for let in lets if active(let.target) and let.target not in collected]
    steep = {let.target for let in reached if not _is_gentle(let.op, types)}
    for statement in function.statements():
        for leaf in sequences_of(statement):
            if active(leaf.item) and not isinstance(types(leaf.value), Array):
                steep.add(leaf.item)
    return led_to(sorted(steep), [*_steps(function), *_puts(lets, lists)]) if steep else set()


def _list_of(op: ir.Op) -> ir.Atom | None:
    """The list in which an operation reads, assigns, adds or removes an item."""
    return op.value if isinstance(op, ir.Item) else changed_list(op)


def _puts(lets: Sequence[ir.Let], lists: Lists) -> list[tuple[str, list[ir.Atom]]]:
    """Steps for `led_to`, from what is put into a list to all names of the list."""
    changes = [(let.op, name) for let in lets if (name := changed_list(let.op)) is not None and name in lists]
    return [(str(atom), list(lists[name])) for op, name in changes for atom in op.operands()[-1:]]


def _steps(function: ir.Function) -> list[tuple[str, list[ir.Atom]]]:
    """Steps for `led_to`, from each name to what is made from it."""
    made_of = [join for s in function.statements() for join in joins_of(s)]
    made_of += [(let.target, list(let.op.operands())) for let in function.lets()]
    return [(atom, [name]) for name, atoms in made_of for atom in atoms if isinstance(atom, str)]


def _note_given(block: ir.Block, outside: set[str], inside: set[str]) -> None:
    """Collect the names assigned outside loops and inside them, except for the items of loops."""
    for statement in block:
        if isinstance(statement, ir.Let):
            outside.add(statement.target)
            continue
        around = inside if isinstance(statement, (ir.For, ir.While)) else outside
        around.update([name for name, _ in joins_of(statement)])
        for inner in ir.blocks(statement):
            _note_given(inner, around, inside)


def _is_gentle(op: ir.Op, types: Callable[[ir.Atom], Type]) -> bool:
    """Whether the slopes of an operation are finite wherever its operands and its value are."""
    if isinstance(op, ir.Move):
        return True
    if not isinstance(op, (ir.Binary, ir.Augmented, ir.Unary)) or not all(
        is_real(types(atom)) for atom in op.operands()
    ):
        return False
    if op.operator == "truediv":  # for Python's own numbers it raises where there is no slope
        return all(types(atom) in (FLOAT, INT) for atom in op.operands())
    if op.operator == "pow":
        exponent = op.operands()[1]
        return isinstance(exponent, ir.Const) and type(exponent.value) is int and exponent.value >= 0
    return op.operator in _GENTLE


def _is_of_array(op: ir.Op, types: Callable[[ir.Atom], Type]) -> bool:
    """Whether the cotangent of an item is collected in an array of numbers anyway."""
    return isinstance(op, ir.Item) and isinstance(types(op.value), Array)
