"""Unrolls loops over a few values that are known individually into one copy of the body for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base import ir
from ..base.copying import Copying
from ..base.liveness import names_in

MOST = 120  # statements added to one function: compiling takes time for each


def unroll(function: ir.Function, rows: dict[str, list[ir.Op]]) -> bool:
    """Replace each loop that runs only over these names by copies of its body; returns whether there was one.
    `rows` gives, for each name, the operation that reads the item of each iteration.
    """
    unrolling = _Unrolling(function, rows)
    function.body[:] = unrolling.block(function.body)
    function.result = unrolling.atom(function.result)
    function.handed = [*map(unrolling.handed, function.handed), *unrolling.in_copies]
    return unrolling.found


class _Unrolling(Copying):
    def __init__(self, function: ir.Function, rows: dict[str, list[ir.Op]]) -> None:
        super().__init__(lambda name: self.known.get(name, name))
        self.function = function
        self.rows = rows
        self.known: dict[str, ir.Atom] = {}  # name -> replacement, in this copy and after the loop
        self.room = MOST
        self.found = False
        self.in_copies: list[ir.Handed] = []

    def block(self, block: ir.Block) -> ir.Block:
        out: ir.Block = []
        for statement in block:
            turns = self._turns(statement) if isinstance(statement, ir.For) else None
            if turns is None:
                out.append(self.statement(statement))
            else:
                assert isinstance(statement, ir.For)
                out += self._copies(statement, turns)
        return out

    def _turns(self, loop: ir.For) -> int | None:
        """The number of copies that replace a loop; None if it stays a loop."""
        turns = self._length(loop.iteration)
        if turns is None or loop.stop is not None or loop.generates:
            return None
        size = turns * len(ir.walk(loop.body))
        if size > self.room or any(isinstance(s, (ir.Try, ir.Keep)) for s in ir.walk(loop.body)):
            return None
        self.room -= size
        return turns

    def _length(self, iteration: ir.Iteration) -> int | None:
        if isinstance(iteration, ir.Zipped):
            lengths = [self._length(part) for part in iteration.parts]
            known = [length for length in lengths if length is not None]
            fits = len(known) == len(lengths) > 0 and (len({*known}) == 1 or not iteration.strict)
            return min(known) if fits and self._asks_for_all(iteration.parts, known) else None
        if isinstance(iteration, ir.Enumerated):
            start = iteration.start
            counts = isinstance(start, ir.Const) and type(start.value) is int
            return self._length(iteration.part) if counts else None
        row = self._row(iteration) if isinstance(iteration, ir.Sequence) else None
        return None if row is None else len(row)

    def _asks_for_all(self, parts: list[ir.Iteration], lengths: list[int]) -> bool:
        """Whether Python also computes every item that was computed early. A part that comes before the one
        that ends first is asked for one item more.
        """
        turns = min(lengths)
        first = lengths.index(turns)
        for number, part in enumerate(parts):
            asked = turns + (number < first and not isinstance(part, ir.Zipped))
            early = (leaf for leaf in ir.parts(part) if isinstance(leaf, ir.Sequence) and leaf.early)
            if any((self._length(leaf) or 0) > asked for leaf in early):
                return False
        return True

    def _row(self, part: ir.Sequence) -> list[ir.Op] | None:
        return self.rows.get(str(self.atom(part.value)))

    def _copies(self, loop: ir.For, turns: int) -> ir.Block:
        """One copy of the body for each iteration, then reads of the items left over (`_left_over`)."""
        self.found = True
        out: ir.Block = []
        given = names_in([loop]) - {phi.target for phi in loop.carried}
        now = [self.atom(phi.sources[0]) for phi in loop.carried]
        for turn in range(turns):
            self.known.update((name, self.function.fresh(name)) for name in given)
            self.known.update((phi.target, atom) for phi, atom in zip(loop.carried, now, strict=True))
            out += self._handed_out(loop, loop.iteration, turn, turns)
            out += self.block(loop.body)
            self.in_copies += [self.handed(h) for h in self.function.handed if h.value in given]
            now = [self.atom(phi.sources[1]) for phi in loop.carried]
        self.known.update((phi.target, atom) for phi, atom in zip(loop.carried, now, strict=True))
        out += self._left_over(loop, loop.iteration, turns)
        return out

    def _left_over(self, loop: ir.For, iteration: ir.Iteration, turns: int) -> Iterator[ir.Statement]:
        """Reads of the items left over in the longer parts of a zip: they count as read, so that their
        gradient is zero and not None.
        """
        if isinstance(iteration, ir.Zipped):
            for part in iteration.parts:
                yield from self._left_over(loop, part, turns)
        elif isinstance(iteration, ir.Enumerated):
            yield from self._left_over(loop, iteration.part, turns)
        elif isinstance(iteration, ir.Sequence):
            row: Any = self._row(iteration)
            for op in row[: len(row) - turns] if iteration.backwards else row[turns:]:
                yield self._let(loop, self.function.fresh(iteration.item), op)

    def _handed_out(
        self, loop: ir.For, iteration: ir.Iteration, turn: int, turns: int
    ) -> Iterator[ir.Statement]:
        """The statements that give a loop's names their values in one iteration."""
        if isinstance(iteration, ir.Zipped):
            for part in iteration.parts:
                yield from self._handed_out(loop, part, turn, turns)
        elif isinstance(iteration, ir.Enumerated):
            start: Any = iteration.start
            yield self._let(loop, iteration.counter, ir.Move(ir.Const(start.value + turn)))
            yield from self._handed_out(loop, iteration.part, turn, turns)
        elif isinstance(iteration, ir.Sequence):
            row: Any = self._row(iteration)
            yield self._let(loop, iteration.item, row[len(row) - 1 - turn if iteration.backwards else turn])

    def _let(self, loop: ir.For, name: str, op: ir.Op) -> ir.Statement:
        return ir.Let(self.placed(loop.position), self.given(name), op)
