"""Lists of numbers whose items are assigned to, and which nothing outside the function can see.

The cotangents of the items of such a list are in a second list, `items_bars`. In the reverse sweep a read
adds to the entry at its index, an assignment takes the entry at its index out, and an append takes the last
one. All names of the list share `items_bars`, so these names have no cotangents of their own
(`Activity.apart`).
"""

from __future__ import annotations

import functools

from ...rules.kinds import Array
from ..analysis.elements import changed_list
from ..analysis.types import is_copy
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
        self.displays = {
            name: found for name, found in self.types.displays().items() if name in self.item_bars
        }
        self.active.apart.update(self.item_bars, (display for display, _ in self.displays.values()))

    def do_let(self, statement: ir.Let) -> tuple[list[Node], list[str]]:
        op, target, position = statement.op, statement.target, statement.position
        if target in self.item_bars:
            if isinstance(op, (ir.Append, ir.Move)):
                self.go_by(target, self.text(op.value))
                return self.stored_append(op, position) if isinstance(op, ir.Append) else [], []
            self.define(target)
            return self.made(op, target, position), [target]
        if (changed := changed_list(op)) in self.item_bars:
            self.define(target)
            return self.change(op, str(changed), target, position), [target]
        if self.item_bars and self.active(target):
            if isinstance(op, ir.Item) and op.value in self.item_bars:
                self.define(target)
                return self.stored_item(op, target, position), [target]
            if isinstance(op, ir.Call) and op.args and op.args[0] in self.item_bars:
                self.define(target)
                return self.stored_whole(op, target, position), [target]
        return super().do_let(statement)

    def plain(self, op: ir.Op, target: str, position: ir.Position) -> None:
        if (changed := changed_list(op)) is not None and self.regions.stores(changed):
            self.store(op, target, position)
        else:
            super().plain(op, target, position)

    def store(self, op: ir.Op, target: str, position: ir.Position) -> None:
        """Add the line that changes a list."""
        if isinstance(op, ir.Write):
            owner, key, value = self.texts(op.operands(), named=(op.key,), tight=1)
            self.line(f"{owner}[{key}] = {value}", position)
        elif isinstance(op, ir.Call) and op.args:
            owner, item = self.texts(op.operands(), tight=1)
            if self.uses[target]:  # the None that it returns
                self.give(target, f"{target} = {owner}.append({item})", position)
            else:
                self.line(f"{owner}.append({item})", position)
        else:
            self.flush()
            self.give(target, f"{target} = {self.text(op.operands()[0])}.pop()", position)

    def buffer_of(self, name: str) -> list[Node]:
        if name not in self.item_bars:
            return super().buffer_of(name)
        bars = self.item_bars[name]
        return [Line(f"{bars} = [{self.zero_of(bars)}] * {self.builtin('len')}({self.need(name)})", None)]

    def made(self, op: ir.Op, target: str, position: ir.Position) -> list[Node]:
        """Write an operation that makes a list: from a display, which may be repeated, or from a sequence."""
        of_call = isinstance(op, ir.Call)
        text = self.call_text(op, position) if isinstance(op, ir.Call) else self.expression(op, position)
        self.assign(target, text, position)
        self.need(target)  # its length, which is known by this name
        bars = self.item_bars[target]
        if of_call:
            sequence = op.operands()[-1]
            if isinstance(self.types(sequence), Array):
                return self.add(sequence, self.asked(support.array_of, bars), position, exact=True)
            return self.add(sequence, f"{self.builtin('tuple')}({bars})", position)
        _, items = self.displays.get(target, ("", op.operands()))
        entries = [f"{bars}[{number}]" for number in range(len(items))]
        if target in self.displays:
            step = str(len(items))
            entries = [self.asked(support.sum_of_every, bars, str(n), step) for n in range(len(items))]
        return [
            node
            for item, entry in zip(items, entries, strict=True)
            for node in self.add(item, entry, position, exact=self.are_numbers(bars))
        ]

    def stored_append(self, op: ir.Append, position: ir.Position) -> list[Node]:
        value, item = self.texts((op.value, op.item), tight=1)
        self.line(f"{value}.append({item})", position)
        return self.taken_out(self.item_bars[str(op.value)], "", op.item, position)

    def change(self, op: ir.Op, changed: str, target: str, position: ir.Position) -> list[Node]:
        self.store(op, target, position)
        bars = self.item_bars[changed]
        if isinstance(op, ir.Write):
            return self.taken_out(bars, self.need(op.key), op.value, position)
        if len(op.operands()) > 1:
            return self.taken_out(bars, "", op.operands()[1], position)
        bar = self.flow(target)
        text = self.asked(support.real, bar) if self.are_numbers(bars) and target in self.vanishing else bar
        return [Line(f"{bars}.append({text})", position, changes=bars)]

    def taken_out(self, bars: str, key: str, item: ir.Atom, position: ir.Position) -> list[Node]:
        """Nodes that take the cotangent at `key` (the last one if `key` is empty) and add it to `item`."""
        entry = f"{bars}[{key}]" if key else f"{bars}.pop()"
        after: list[Node] = []
        if key:
            after.append(Line(f"{entry} = {self.zero_of(bars)}", position, changes=bars))
        if not self.active(item):
            return after or [Line(entry, position, changes=bars)]
        item_bar = self.fresh("item_bar")
        sums = self.add(item, flow(item_bar), position, exact=self.are_numbers(bars))
        return [Line(entry, position, (item_bar,), changes=bars), *after, *sums]

    def stored_item(self, op: ir.Item, target: str, position: ir.Position) -> list[Node]:
        value, index = self.texts(op.operands(), named=(op.index,), tight=1)
        self.assign(target, f"{value}[{index}]", position, may_wait=is_temporary(target))
        bars = self.item_bars[str(op.value)]
        text = f"{bars}[{self.need(op.index)}] += {self.flow(target)}"
        return [Line(text, position, changes=bars)]

    def stored_whole(self, op: ir.Call, target: str, position: ir.Position) -> list[Node]:
        """The sum of a list, or a copy of it."""
        bars, copies = self.item_bars[str(op.args[0])], is_copy(op)
        text = f"{self.text(op.args[0])}[:]" if copies else self.call_text(op, position)
        self.assign(target, text, position, may_wait=is_temporary(target))
        add = support.add_items if copies else support.add_to_each
        return [Line(self.asked(add, bars, self.flow(target)), position, changes=bars)]

    @functools.cached_property
    def after_steep(self) -> set[str]:
        return after_steep(self.function, self.types, self.active, self.stored_lists)

    def are_numbers(self, bars: str) -> bool:
        """Whether the cotangents of a list's items are numbers even if nothing flowed to them."""
        return self.after_steep.isdisjoint(name for name, its in self.item_bars.items() if its == bars)

    def zero_of(self, bars: str) -> str:
        return "0.0" if self.are_numbers(bars) else self.shared_constant(support.ZERO, "ZERO")


def _makes(let: ir.Let, names: list[str]) -> bool:
    return let.target in names and not isinstance(let.op, (ir.Append, ir.Move))
