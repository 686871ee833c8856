"""Lists of numbers to whose items something is assigned, and which nothing but the function sees.

The cotangents of the items of such a list are in a list beside it, `items_bars`: a read adds to the entry of
its index, an assignment takes the entry out, and an append takes the last one. All names of the list share
it, so these names have no cotangents of their own (`Activity.apart`).
"""

from __future__ import annotations

import functools

from ..analysis.vanishing import after_steep
from ..base import ir
from ..memory import support
from .operations import Operations
from .sweeps import is_temporary
from .tidy import Line, Node, flow


class Stored(Operations):
    """The part of the transform that writes operations on such lists."""

    def set_apart(self) -> None:
        """Name the lists of cotangents, one for each list whose items have any."""
        lists = dict.fromkeys(self.types.written.values())
        for names in [self.regions.names_of(root) for root in lists if self.regions.stores(root)]:
            if any(map(self.active, names)):
                made = next(let.target for let in self.function.lets() if _makes(let, names))
                self.item_bars |= dict.fromkeys(names, self.fresh(f"{made}_bars"))
        self.active.apart.update(self.item_bars)

    def do_let(self, statement: ir.Let) -> tuple[list[Node], list[str]]:
        op, target, position = statement.op, statement.target, statement.position
        if target in self.item_bars:
            if isinstance(op, ir.Build):
                self.define(target)
                return self.stored_build(op, target, position), [target]
            assert isinstance(op, (ir.Append, ir.Move))
            self.go_by(target, self.text(op.value))
            return self.stored_append(op, position) if isinstance(op, ir.Append) else [], []
        if isinstance(op, ir.Write) and op.target in self.item_bars:
            return self.stored_write(op, position), []
        if self.item_bars and self.active(target):
            if isinstance(op, ir.Item) and op.value in self.item_bars:
                self.define(target)
                return self.stored_item(op, target, position), [target]
            if isinstance(op, ir.Call) and op.args and op.args[0] in self.item_bars:
                self.define(target)
                return self.stored_sum(op, target, position), [target]
        return super().do_let(statement)

    def plain(self, op: ir.Op, target: str, position: ir.Position) -> None:
        if isinstance(op, ir.Write) and self.regions.stores(op.target):
            self.store(op, position)
        else:
            super().plain(op, target, position)

    def store(self, op: ir.Write, position: ir.Position) -> None:
        """Add the line that assigns to an item."""
        owner, key, value = self.texts(op.operands(), named=(op.key,), tight=1)
        self.line(f"{owner}[{key}] = {value}", position)

    def buffer_of(self, name: str) -> list[Node]:
        if name not in self.item_bars:
            return super().buffer_of(name)
        bars = self.item_bars[name]
        return [Line(f"{bars} = [{self.zero_of(bars)}] * {self.builtin('len')}({self.need(name)})", None)]

    def stored_build(self, op: ir.Build, target: str, position: ir.Position) -> list[Node]:
        self.assign(target, self.expression(op, position), position)
        self.need(target)  # its length, which is known by this name
        bars = self.item_bars[target]
        return [
            node
            for number, item in enumerate(op.items)
            for node in self.add(item, f"{bars}[{number}]", position, exact=self.are_numbers(bars))
        ]

    def stored_append(self, op: ir.Append, position: ir.Position) -> list[Node]:
        value, item = self.texts((op.value, op.item), tight=1)
        self.line(f"{value}.append({item})", position)
        return self.taken_out(self.item_bars[str(op.value)], "", op.item, position)

    def stored_write(self, op: ir.Write, position: ir.Position) -> list[Node]:
        self.store(op, position)
        return self.taken_out(self.item_bars[str(op.target)], self.need(op.key), op.value, position)

    def taken_out(self, bars: str, key: str, item: ir.Atom, position: ir.Position) -> list[Node]:
        """Nodes that take out the cotangent of an item, by its key or, without one, of the last item."""
        entry = f"{bars}[{key}]" if key else f"{bars}.pop()"
        after: list[Node] = [Line(f"{entry} = {self.zero_of(bars)}", position)] if key else []
        if not self.active(item):
            return after or [Line(entry, position)]
        item_bar = self.fresh("item_bar")
        sums = self.add(item, flow(item_bar), position, exact=self.are_numbers(bars))
        return [Line(entry, position, (item_bar,)), *after, *sums]

    def stored_item(self, op: ir.Item, target: str, position: ir.Position) -> list[Node]:
        value, index = self.texts(op.operands(), named=(op.index,), tight=1)
        self.assign(target, f"{value}[{index}]", position, may_wait=is_temporary(target))
        entry = f"{self.item_bars[str(op.value)]}[{self.need(op.index)}]"
        return [Line(f"{entry} += {self.flow(target)}", position)]

    def stored_sum(self, op: ir.Call, target: str, position: ir.Position) -> list[Node]:
        self.assign(target, self.call_text(op, position), position, may_wait=is_temporary(target))
        bars = self.item_bars[str(op.args[0])]
        return [Line(self.asked(support.add_to_each, bars, self.flow(target)), position)]

    @functools.cached_property
    def after_steep(self) -> set[str]:
        return after_steep(self.function, self.types, self.active, self.stored_lists)

    def are_numbers(self, bars: str) -> bool:
        """Whether the cotangents of a list's items are numbers even if nothing flowed to them."""
        return self.after_steep.isdisjoint(name for name, its in self.item_bars.items() if its == bars)

    def zero_of(self, bars: str) -> str:
        return "0.0" if self.are_numbers(bars) else self.shared_constant(support.ZERO, "ZERO")


def _makes(let: ir.Let, names: list[str]) -> bool:
    return isinstance(let.op, ir.Build) and let.target in names
