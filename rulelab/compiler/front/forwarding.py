"""Passes values straight to their readers: removes copies, tuples that are only taken apart again, and
branches whose condition is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from ...python_facts import CONSUMING
from ..base import ir
from ..base.copying import Copying
from ..base.liveness import drop, joins_of, use_counts
from .lowering import OF_CERTAIN_TRUTH


def forward(function: ir.Function, unstarred: Collection[str] = ()) -> None:
    """Rewrite the function in place, with no visible difference: the tuples removed were used nowhere else.
    Calls with stars of the functions in `unstarred` become calls without stars.
    """
    forwarding = _Forwarding(unstarred)
    function.body[:] = forwarding.block(function.body)
    function.result = forwarding.atom(function.result)
    function.handed = list(map(forwarding.handed, [*function.handed, *forwarding.taken_apart]))
    drop_unread(function, set(forwarding.tuples))


def drop_unread(function: ir.Function, tuples: set[str]) -> None:
    """Remove those of these tuples that are no longer read, and then those that only they contained."""
    while True:
        uses = use_counts(function)
        unread = {name for name in tuples if not uses[name]}
        if not unread:
            return
        tuples -= unread
        drop(function.body, unread)


def without_copies(function: ir.Function, meant: Callable[[ir.Atom], Any]) -> set[ir.Atom]:
    """Remove copies that `list` makes of a list built here for a single call that consumes them immediately:
    consuming the list itself makes no visible difference. `meant` returns the object that a callee refers
    to. Returns the callees, as operands, whose identity this relies on.
    """
    ops = {let.target: let.op for let in function.lets()}
    joins = dict(join for s in function.statements() for join in joins_of(s))
    uses: dict[Any, list[str]] = {}
    for target, op in ops.items():
        for atom in op.operands():
            uses.setdefault(atom, []).append(target)
    counts, copies, relied = use_counts(function), set[str](), set[ir.Atom]()
    for target, op in ops.items():
        if not _is_of_one(op) or meant(op.function) is not list or counts[target] != 1:  # type: ignore[attr-defined]
            continue
        reader = ops.get(uses.get(target, [""])[0])
        consumer = meant(reader.function) if _is_of_one(reader) else None  # type: ignore[union-attr]
        if not any(consumer is each for each in CONSUMING):
            continue
        copied = op.args[0]  # type: ignore[attr-defined]
        if _is_only_built(copied, target, ops, joins, uses, counts):
            reader.args = (copied,)  # type: ignore[union-attr]
            copies.add(target)
            relied |= {op.function, reader.function}  # type: ignore[attr-defined, union-attr]
    drop(function.body, copies)
    return relied


def _is_of_one(op: ir.Op | None) -> bool:
    """Whether an operation is a call of a function with one positional argument."""
    return isinstance(op, ir.Call) and op.method is None and not op.keywords and len(op.args) == 1


def _is_only_built(
    atom: ir.Atom,
    reader: str,
    ops: dict[str, ir.Op],
    joins: dict[str, list[ir.Atom]],
    uses: dict[Any, list[str]],
    counts: Counter[Any],
) -> bool:
    """Whether a value is a list that a comprehension builds and whose only other reader is `reader`."""
    names, joined = [atom], Counter[Any]()
    for name in names:  # which grows in the loop
        op, sources = ops.get(str(name)), joins.get(str(name), [])
        joined.update(sources)
        if isinstance(op, ir.Append) and op.hidden:
            sources = [op.value]
        elif not sources and not (isinstance(op, ir.Build) and op.kind == "list" and not op.items):
            return False
        names += [source for source in sources if source not in names]
    for name in names:
        readers = uses.get(name, [])
        building = [each for each in readers if isinstance(ops[each], ir.Publish) or each in names]
        besides = [each for each in readers if each not in building]
        if besides != ([reader] if name == atom else []) or counts[name] != len(readers) + joined[name]:
            return False
    return True


class _Forwarding(Copying):
    def __init__(self, unstarred: Collection[str]) -> None:
        super().__init__(lambda name: self.known.get(name, name))
        self.unstarred = unstarred
        self.known: dict[str, ir.Atom] = {}  # names that no longer exist -> what replaces them
        self.tuples: dict[str, tuple[ir.Atom, ...]] = {}
        self.dicts: dict[str, dict[Any, ir.Atom]] = {}  # those that represent arguments
        self.taken_apart: list[ir.Handed] = []  # an item counts as made from the tuple, that from all items

    def block(self, block: ir.Block) -> ir.Block:
        out: ir.Block = []
        for statement in block:
            if isinstance(statement, ir.Let):
                op = self._as_call(self.op(statement.op))
                value = self._value(op)
                if value is not None:
                    self.known[statement.target] = value
                    continue
                if isinstance(op, ir.Build) and op.kind == "tuple":
                    self.tuples[statement.target] = op.items
                elif isinstance(op, ir.Build) and op.kind == "dict" and op.opened:
                    keys = [key.value for key in op.items[::2] if isinstance(key, ir.Const)]
                    self.dicts[statement.target] = dict(zip(keys, op.items[1::2], strict=True))
                out.append(ir.Let(statement.position, statement.target, op))
            elif isinstance(statement, ir.If) and self._is_certain(statement):
                out += self._one_arm(statement)
            else:
                out.append(self.statement(statement))
        return out

    def _is_certain(self, statement: ir.If) -> bool:
        """Whether it is known which arm of a branch runs, and that arm does not raise."""
        test = self.atom(statement.test)
        if not (isinstance(test, ir.Const) and isinstance(test.value, OF_CERTAIN_TRUTH)):
            return False
        arm = statement.then if test.value else statement.orelse
        return not any(isinstance(inner, ir.Raise) for inner in arm)  # what follows would be unreachable

    def _one_arm(self, statement: ir.If) -> ir.Block:
        """The statements of the arm that runs, whose values replace the joined names."""
        test: Any = self.atom(statement.test)
        block = self.block(statement.then if test.value else statement.orelse)
        for phi in statement.outs:
            self.known[phi.target] = self.atom(phi.sources[0 if test.value else 1])
        return block

    def _value(self, op: ir.Op) -> ir.Atom | None:
        """The atom that replaces the result of an operation; None if it is not known."""
        if isinstance(op, ir.Move):
            return op.value if op.checked is None else None
        if isinstance(op, ir.Compare) and op.symbol in ("is", "is not"):
            return _identity(op)
        if isinstance(op, (ir.Call, ir.Collect)) and (found := self._copied(op)) is not None:
            return found
        if not isinstance(op, (ir.Item, ir.Unpack)) or not isinstance(op.value, str):
            return None
        items = self.tuples.get(op.value)
        if items is None:
            return self._by_key(op)
        if isinstance(op, ir.Unpack):
            return op.value if op.count == len(items) and not op.or_more else None
        index = op.index.value if isinstance(op.index, ir.Const) else None
        if type(index) is not int or not -len(items) <= index < len(items):
            return None
        self.taken_apart += [ir.Handed(items[index], (op.value,)), ir.Handed(op.value, items)]
        return items[index]

    def _is_empty(self, atom: ir.Atom) -> bool:
        """Whether an atom is the keyword dict of a call that passed no keywords."""
        if isinstance(atom, ir.Const):
            return atom.value is None
        return self.dicts.get(atom) == {}

    def _copied(self, op: ir.Call | ir.Collect) -> ir.Atom | None:
        """`t` for `tuple(t)` of a known tuple, or the empty dict that keywords are copied from; else None."""
        if isinstance(op, ir.Collect):
            alone = op.kind == "keywords" and len(op.items) == 1 and self._is_empty(op.items[0])
            return op.items[0] if alone else None
        of_one = _is_of_one(op) and isinstance(op.function, ir.Const) and op.function.value is tuple
        return op.args[0] if of_one and op.args[0] in self.tuples else None

    def _as_call(self, op: ir.Op) -> ir.Op:
        """A call with a star before a known tuple, rewritten to take its items as arguments."""
        if not isinstance(op, ir.Apply) or op.method is not None or not self._is_empty(op.keywords):
            return op
        items = self.tuples.get(str(op.args)) if op.function in self.unstarred else None
        return op if items is None else ir.Call(op.function, items, starred=True)

    def _by_key(self, op: ir.Item | ir.Unpack) -> ir.Atom | None:
        """The value under a constant key of a dict that represents an argument; None if it is not known."""
        parts = self.dicts.get(str(op.value))
        if parts is None or not isinstance(op, ir.Item) or not isinstance(op.index, ir.Const):
            return None
        part = parts.get(op.index.value) if type(op.index.value) in (str, int, ir.Field) else None
        if part is not None:
            self.taken_apart.append(ir.Handed(part, (op.value,)))
        return part


def _identity(op: ir.Compare) -> ir.Atom | None:
    """The result of `is` between two constants, at least one of them None, a bool or `...`; else None."""
    if not (isinstance(op.left, ir.Const) and isinstance(op.right, ir.Const)):
        return None
    left, right = op.left.value, op.right.value
    if not any(x is None or isinstance(x, bool) or x is Ellipsis for x in (left, right)):
        return None
    return ir.Const((left is right) == (op.symbol == "is"))
