"""Arrays whose memory a forward sweep reuses: they are made in a block, read only by lines of that block
that keep no reference to them, and never read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...rules.kinds import Array
from ..base import ir
from ..memory import support
from .sweeps import Sweeps
from .tidy import Node

# The ufunc that computes each operator with `out=`. Powers are missing: only the operator `** 2` squares in
# NumPy, not the ufunc.
_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "neg": np.negative,
}


class Reuse(Sweeps):
    """The part of the transform that knows which arrays nothing else can see."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._made_in: dict[str, list[Node]] = {}  # the lines of the block in which an array was made
        self._quiet: Counter[ir.Atom] = Counter()  # how many readers so far keep no reference to it

    def note_new(self, op: ir.Op, target: str) -> None:
        """Note that the result of an operation is held by nothing else, if the operation makes new memory."""
        if self.makes_new(op):
            self._made_in[target] = self.out

    def makes_new(self, op: ir.Op) -> bool:
        """Whether an operation on arrays and numbers returns new memory, shared with no operand."""
        return isinstance(op, (ir.Binary, ir.Unary)) or (
            isinstance(op, ir.Call) and not op.keywords and isinstance(self.sites.target(op), np.ufunc)
        )

    def note_readers(self, operands: Iterable[ir.Atom]) -> None:
        """Note that an operation reads these operands and keeps no reference to them."""
        for atom in operands:
            if isinstance(atom, str):
                self._quiet[self.alias.get(atom, atom)] += 1

    def memory_for(
        self, op: ir.Op, operands: Iterable[ir.Atom], target: str, read_later: tuple[ir.Atom, ...]
    ) -> str:
        """The operand whose memory an elementwise result may take (an array that no sweep reads again, for a
        binary operator perhaps of another shape), or an empty text. Nested expressions are left to NumPy,
        which reuses their memory itself.
        """
        if not is_float_array(self.types(target)) or not self.makes_new(op):
            return ""
        if not isinstance(op, ir.Call) and op.operator not in _UFUNCS:  # type: ignore[attr-defined]
            return ""
        waiting = [atom for atom in op.operands() if atom in self.pending]
        nameless = waiting if self.go_in_place(waiting, read_later) and not isinstance(op, ir.Call) else []
        found = [
            atom
            for atom in dict.fromkeys(operands)
            if isinstance(atom, str)
            and atom not in read_later
            and atom not in nameless
            and self.types(atom) == self.types(target)
            and self._ends_here(atom)
        ]
        fitting = [atom for atom in found if self._fits(atom, target)]
        if fitting or not isinstance(op, ir.Binary):
            return fitting[0] if fitting else ""
        return op.left if op.left in found and isinstance(op.left, str) else ""

    def _fits(self, atom: ir.Atom, target: str) -> bool:
        """Whether an array certainly has the shape of the result `target`."""
        return self.shape_of(atom) == self.shape_of(target)

    def _ends_here(self, atom: str) -> bool:
        """Whether an array was made in this block and all its readers have run, none keeping a reference."""
        return (
            self._made_in.get(atom) is self.out
            and atom not in self.alias
            and self._quiet[atom] == self.uses[atom]
            and not any(atom in scope.needed for scope in self.scopes)
        )

    def lone_arrays(self, block: list[Node]) -> set[str]:
        """The arrays that a block makes and nothing else holds at its end: no reader kept a reference."""
        return {
            name
            for name, lines in self._made_in.items()
            if lines is block
            and is_float_array(self.types(name))
            and name not in self.alias
            and name not in self.inlined
            and self._quiet[name] == self.uses[name]
        }

    def written_into(self, op: ir.Op, parts: list[str], memory: str, target: str) -> str:
        """The text of an operation that writes its result to the memory of an array; `parts` are the texts of
        the operands, after that of the function if the operation is a call.
        """
        if isinstance(op, ir.Call):
            function, *given = parts
        else:
            ufunc, given = _UFUNCS[op.operator], parts  # type: ignore[attr-defined]
            if not self._fits(memory, target):
                return self.asked(support.over(ufunc), *given)
            function = self.shared_constant(ufunc, f"np_{ufunc.__name__}")
        return f"{function}({', '.join([*given, f'out={self.text(memory)}'])})"

    def shape_of(self, atom: ir.Atom) -> frozenset[ir.Atom]:
        """The arrays whose shapes, broadcast together, give the shape of this one."""
        return self.shapes.get(str(atom), frozenset({atom}))


def is_float_array(kind: Any) -> bool:
    """Whether values of this type are arrays of float64."""
    return isinstance(kind, Array) and kind.dtype == "f8"
