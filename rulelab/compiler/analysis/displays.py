"""Reads lists and tuples of numbers that are combined with arrays as the arrays that NumPy makes of them.

`v * [1.0, 2.0, x]` is `v * np.asarray([1.0, 2.0, x])`: NumPy converts it, and the kind of an array is known.
Likewise, for a NumPy scalar `s`, `s[None]` is `np.atleast_1d(s)` and `s[()]` is `s`, and for an array
`x.item(i)` is `float(x[i])`: the cotangents of items that are read in a loop go to one array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from ...rules.kinds import F8, I8, INT, Array, Given, is_numeric
from ...rules.operator_kinds import BINARY, of_item
from ...rules.results import result_of
from ..base import ir
from ..base.liveness import drop
from .types import Types

_SYMBOLS = frozenset(function.__name__.strip("_") for function in BINARY)


def read_as_arrays(
    function: ir.Function, types_of: Callable[[ir.Function], Types], is_built_in: Callable[[Any], bool]
) -> list[Any]:
    """Turn displays in a function into arrays; `is_built_in` tells if all rules for a callee are built in.

    Returns the callees that are no longer called.
    """
    lets = function.lets()
    displays = {let.target: let.op for let in lets if isinstance(let.op, ir.Build) and _is_display(let.op)}
    indices = {let.target for let in lets if isinstance(let.op, ir.Build) and _is_index(let.op.items)}
    if not any(
        (_takes(let.op) and not displays.keys().isdisjoint(let.op.operands()))
        or (isinstance(let.op, ir.Item) and (let.op.index in indices or _is_index((let.op.index,))))
        or _reads_item(let.op)
        for let in lets
    ):
        return []
    reading = _Reading(function, types_of(function), displays, is_built_in)
    function.body[:] = reading.block(function.body)
    drop(function.body, reading.complete)
    return reading.replaced


def _is_index(parts: tuple[ir.Atom, ...]) -> bool:
    """Whether these parts can index a scalar, which has no elements to select."""
    known = [part.value for part in parts if isinstance(part, ir.Const)]
    return len(known) == len(parts) and all(value is None or value is Ellipsis for value in known)


def _reads_item(op: ir.Op) -> bool:
    """Whether an operation may be `x.item(i)` or `x.item(i, j)`."""
    return isinstance(op, ir.Call) and op.method == "item" and bool(op.args) and not op.keywords


def _is_display(op: ir.Build) -> bool:
    return op.kind in ("tuple", "list") and bool(op.items) and not op.opened


def _takes(op: ir.Op) -> bool:
    """Whether an operation may be one that converts a list to an array."""
    if isinstance(op, ir.Binary):
        return op.operator.strip("_") in _SYMBOLS
    return isinstance(op, ir.Call) and not op.keywords


class _Reading:
    def __init__(
        self,
        function: ir.Function,
        types: Types,
        displays: dict[str, ir.Build],
        is_built_in: Callable[[Any], bool],
    ) -> None:
        self.function, self.types, self.displays, self.is_built_in = function, types, displays, is_built_in
        published = [(let.op.value, let.target) for let in function.lets() if isinstance(let.op, ir.Publish)]
        self.published = {str(value): target for value, target in published}
        self.complete: set[str] = set()  # the `Publish` of each list that became a tuple
        self.replaced: list[Any] = []  # the callees in place of which other code stands

    def block(self, block: ir.Block) -> ir.Block:
        return [made for statement in block for made in self._statement(statement)]

    def _statement(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        for inner in ir.blocks(statement):
            inner[:] = self.block(inner)
        if isinstance(statement, ir.Let) and _reads_item(statement.op):
            yield from self._item(statement)
        elif isinstance(statement, ir.Let) and _takes(statement.op) and self._takes_arrays(statement.op):
            op = statement.op
            if isinstance(op, ir.Binary):
                op.left = yield from self._read(op.left, statement)
                op.right = yield from self._read(op.right, statement)
            elif isinstance(op, ir.Call):
                args = []
                for atom in op.args:
                    args.append((yield from self._read(atom, statement)))
                op.args = tuple(args)
        elif isinstance(statement, ir.Let) and isinstance(statement.op, ir.Item):
            statement.op = self._of_number(statement.op) or statement.op
        yield statement
        if isinstance(statement, ir.Let):
            self.types.learn(statement)

    def _item(self, let: ir.Let) -> Iterator[ir.Statement]:
        """Turn `x.item(i)` of an array of floats into `float(x[i])`, if `i` is the place of one element."""
        op, called = let.op, (np.ndarray.item, operator.getitem, float)
        assert isinstance(op, ir.Call)
        if self.types(op.function) != Array("f8", len(op.args)) or not all(map(self.is_built_in, called)):
            return
        if not all(map(self._is_place, op.args)):
            return
        self.replaced = [np.ndarray.item]
        index = op.args[0]
        if len(op.args) > 1:
            index = self.function.fresh("t")
            yield self._learnt(ir.Let(let.position, index, ir.Build("tuple", op.args)))
        item = self.function.fresh("t")
        yield self._learnt(ir.Let(let.position, item, ir.Item(op.function, index)))
        let.op = ir.Call(ir.Const(float), (item,))

    def _is_place(self, atom: ir.Atom) -> bool:
        """Whether an argument may be the number of an element."""
        large = isinstance(atom, ir.Const) and isinstance(atom.value, int) and abs(atom.value) >= 2**63
        return self.types(atom) in (INT, I8) and not large

    def _learnt(self, let: ir.Let) -> ir.Let:
        self.types.learn(let)
        return let

    def _takes_arrays(self, op: ir.Op) -> bool:
        """Whether an operation certainly converts each of its displays to an array, and does no more."""
        atoms = op.args if isinstance(op, ir.Call) else op.operands()
        found = [atom for atom in atoms if atom in self.displays]
        others = [self.types(atom) for atom in atoms if atom not in self.displays]
        if not found or not all(map(self._is_of_numbers, found)) or not all(map(is_numeric, others)):
            return False
        if isinstance(op, ir.Binary):
            called: Any = getattr(operator, op.operator)
            fits = all(isinstance(kind, Array) and kind.ndim > 0 for kind in others) and len(found) == 1
        else:
            called = self.types.callee(op)  # type: ignore[arg-type]  # no other operations get here
            fits = isinstance(called, np.ufunc) and called.nin == len(atoms)
        return fits and self.is_built_in(called) and self.is_built_in(np.asarray)

    def _of_number(self, op: ir.Item) -> ir.Op | None:
        """The result of indexing a NumPy scalar, computed without an index; None for any other item."""
        if self.types(op.value) != F8 or op.for_update or not self.is_built_in(operator.getitem):
            return None
        kind = of_item(Given(F8), self.types.given(op.index))
        if kind == Array("f8", 1) and self.is_built_in(np.atleast_1d):
            return ir.Call(ir.Const(np.atleast_1d), (op.value,))
        return ir.Move(op.value) if kind == F8 else None

    def _is_of_numbers(self, atom: ir.Atom) -> bool:
        """Whether a display certainly becomes an array of numbers, and cannot be changed before that."""
        return isinstance(result_of(np.asarray, [self.types.given(atom)]), Array)

    def _read(self, atom: ir.Atom, at: ir.Let) -> Generator[ir.Statement, None, ir.Atom]:
        """The operand itself, or if it is a display, an array made from it just before it is read."""
        if atom not in self.displays:
            return atom
        self._have_tuple(str(atom))
        made = self.function.fresh("t")
        yield self._learnt(ir.Let(at.position, made, ir.Call(ir.Const(np.asarray), (atom,))))
        return made

    def _have_tuple(self, name: str) -> None:
        """Turn a list from which only an array is made into a tuple, which cannot change."""
        op = self.displays[name]
        if op.kind == "list":
            op.kind, op.handed = "tuple", True
            self.complete |= {self.published[name]} if name in self.published else set()
            for item in op.items:
                if item in self.displays:
                    self._have_tuple(str(item))
