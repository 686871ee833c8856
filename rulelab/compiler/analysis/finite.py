"""Where a non-finite number would not show in the result, and checks for such numbers there.

Python's floats overflow silently, where NumPy's scalars warn. Overflowed values stay infinite, or become
NaN, in sums and products, so most show in the result, which is checked anyway. They do not show as the
divisor of a quotient, in a comparison, in `exp`, or on a branch that was not taken.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from ..base import ir
from ..base.liveness import phis_of
from .types import Types

_MAKING = ("add", "sub", "mul", "truediv", "pow")
# For a non-finite argument these return a non-finite result, or raise.
_SHOWING = frozenset({math.sqrt, math.log, math.sin, math.cos, math.tan, math.sinh, math.fabs, abs})

_RESULT = ""  # represents the result itself, which is checked

Spot = tuple[int, str]


def look_at_hidden(function: ir.Function, types: Types, made_otherwise: set[str]) -> bool:
    """Insert checks that raise FloatingPointError where a non-finite number in `made_otherwise`, computed
    otherwise than NumPy would, does not show in the result. Returns whether there are any such places.
    """
    shown = _Shown(function, types)
    hidden: set[str] = set()
    for let in reversed(function.lets()):  # a value that is checked shows what it was made of
        is_making = isinstance(let.op, (ir.Binary, ir.Augmented)) and let.op.operator in _MAKING
        if is_making and let.target in made_otherwise and let.target not in shown.names:
            hidden.add(let.target)
            shown.show(let.target)
    if hidden:
        _look(function, function.body, hidden)
    return bool(hidden)


def _look(function: ir.Function, block: ir.Block, hidden: set[str]) -> None:
    """Insert the checks after the statements that assign the names in `hidden`."""
    out: ir.Block = []
    for statement in block:
        out.append(statement)
        for inner in ir.blocks(statement):
            _look(function, inner, hidden)
        if isinstance(statement, ir.Let) and statement.target in hidden:
            name, position = statement.target, statement.position
            difference = function.fresh("t")  # zero or NaN
            out.append(ir.Let(position, difference, ir.Binary("sub", name, name)))
            refusal = ir.Raise(position, ir.Const(FloatingPointError), None)
            out.append(ir.If(position, difference, [refusal], [], []))
    block[:] = out


class _Shown:
    """`names` holds the values that, if not finite, show in the result on every path that leads to it."""

    def __init__(self, function: ir.Function, types: Types) -> None:
        self._types = types
        self._home: dict[str, int] = {}  # the block that assigns a name
        self._shown_by: dict[str, list[Spot]] = defaultdict(list)  # by which names, if a block runs
        self._shows: dict[str, list[str]] = defaultdict(list)
        self._loops: dict[str, tuple[int, ...]] = {}  # for a value carried by a loop, the blocks of the loop
        self._arms: dict[int, list[tuple[int, int]]] = defaultdict(list)  # of each branch in a block
        self._note(function.body)
        for name in self._in_result(function):
            self._note_shown(name, id(function.body), _RESULT)
        self.names: set[str] = set()
        # What a loop carries is shown if its last value is shown, and if in each iteration the value passed
        # on shows the one received. That is assumed first, and withdrawn where an iteration does not do so.
        self._granted = set(self._loops)
        failed: set[str] | None = None
        while failed is None or failed:
            self.names = set()
            self.show(_RESULT)
            failed = {name for name in self._granted & self.names if not self._is_shown_in_turns(name)}
            self._granted -= failed
        self._granted &= self.names

    def show(self, name: str) -> None:
        """Add a name that is checked, and the names that it shows."""
        waiting = [name]
        self.names.add(name)
        for shown in waiting:  # which grows in the loop
            for other in self._shows[shown]:
                if other not in self.names and self._is_shown(other):
                    self.names.add(other)
                    waiting.append(other)

    def _in_result(self, function: ir.Function) -> Iterator[str]:
        made = {let.target: let.op for let in function.lets()}
        result = made.get(str(function.result))
        items = result.items if isinstance(result, ir.Build) else (function.result,)
        yield from (item for item in items if isinstance(item, str))

    def _note(self, block: ir.Block) -> None:
        """Record for the statements of a block which names show which others, and in which block."""
        here = id(block)
        for statement in block:
            if isinstance(statement, ir.Let):
                self._home[statement.target] = here
                for atom in self._showing(statement.op):
                    self._note_shown(atom, here, statement.target)
                continue
            blocks = ir.blocks(statement)
            for phi in phis_of(statement):
                self._home[phi.target] = here
                spots = map(id, blocks) if isinstance(statement, ir.If) else (here, id(blocks[-1]))
                for spot, source in zip(spots, phi.sources, strict=True):
                    self._note_shown(source, spot, phi.target)
                if not isinstance(statement, ir.If):
                    self._loops[phi.target] = tuple(map(id, blocks))
            if isinstance(statement, ir.If):
                self._arms[here].append((id(statement.then), id(statement.orelse)))
            for inner in blocks:
                self._note(inner)

    def _note_shown(self, atom: ir.Atom, block: int, by: str) -> None:
        if isinstance(atom, str):
            self._shown_by[atom].append((block, by))
            self._shows[by].append(atom)

    def _showing(self, op: ir.Op) -> tuple[ir.Atom, ...]:
        """The operands that, if not finite, make the result of an operation non-finite."""
        if isinstance(op, (ir.Binary, ir.Augmented)):
            if op.operator in ("add", "sub", "mul"):
                return op.operands()
            is_power = op.operator == "pow" and isinstance(op.right, ir.Const) and op.right.value > 0
            return (op.left,) if op.operator == "truediv" or is_power else ()  # of the accepted powers
        if isinstance(op, ir.Call):
            return op.args[:1] if self._types.callee(op) in _SHOWING and not op.keywords else ()
        is_signed = isinstance(op, ir.Unary) and op.operator in ("neg", "pos")
        return op.operands() if is_signed or isinstance(op, ir.Move) else ()

    def _is_shown(self, name: str) -> bool:
        if name not in self._home or not self._is_shown_in(self._home[name], name):
            return False
        return name not in self._loops or name in self._granted or self._is_shown_in_turns(name)

    def _is_shown_in_turns(self, name: str) -> bool:
        return any(self._is_shown_in(turn, name) for turn in self._loops[name])

    def _is_shown_in(self, block: int, name: str) -> bool:
        """Whether something shows the value of a name whenever a block runs."""
        if any(spot == block and by in self.names for spot, by in self._shown_by[name]):
            return True
        return any(all(self._is_shown_in(arm, name) for arm in arms) for arms in self._arms[block])
