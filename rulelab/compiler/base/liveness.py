"""Which names statements assign and read, where values join, and joins that are never read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import ir


def prune(function: ir.Function) -> None:
    """Drop the joins (and the kept slots) whose value is never read."""
    statements = function.statements()
    read = [function.result, *(atom for s in statements for atom in reads_of(s, joins=False))]
    _drop(function.body, led_to(read, [join for s in statements for join in joins_of(s)]))


def drop(block: ir.Block, names: set[str]) -> None:
    """Remove the statements that assign these names."""
    block[:] = [s for s in block if not (isinstance(s, ir.Let) and s.target in names)]
    for statement in block:
        for inner in ir.blocks(statement):
            drop(inner, names)


def led_to(start: Iterable[ir.Atom | None], steps: list[tuple[str, list[ir.Atom]]]) -> set[str]:
    """The names reachable from those in `start`; each step leads from a name to some atoms."""
    after: dict[str, list[str]] = {}
    for name, atoms in steps:
        after.setdefault(name, []).extend([atom for atom in atoms if isinstance(atom, str)])
    names = {atom for atom in start if isinstance(atom, str)}
    todo = list(names)
    while todo:
        for atom in after.get(todo.pop(), ()):
            if atom not in names:
                names.add(atom)
                todo.append(atom)
    return names


def phis_of(statement: ir.Statement) -> list[ir.Phi]:
    """The joins at the end of a statement."""
    find = _PHIS.get(type(statement))
    return [] if find is None else find(statement)


_PHIS: dict[type, Callable[[Any], list[ir.Phi]]] = {
    ir.If: lambda s: s.outs,
    ir.For: lambda s: s.carried,
    ir.While: lambda s: s.carried,
    ir.Try: lambda s: s.slots,
}


def joins_of(statement: ir.Statement) -> Sequence[tuple[str, list[ir.Atom]]]:
    """The names that a statement assigns at joins, each with every atom that may become its value, including
    those left by handlers or kept for them.
    """
    find = _JOINS.get(type(statement))
    return () if find is None else find(statement)


def _of_phis(phis: list[ir.Phi]) -> list[tuple[str, list[ir.Atom]]]:
    return [(phi.target, phi.sources) for phi in phis]


def _of_try(statement: ir.Try) -> list[tuple[str, list[ir.Atom]]]:
    slots = enumerate(statement.slots)
    return [(slot.target, [*slot.sources, *(h.values[n] for h in statement.handlers)]) for n, slot in slots]


_JOINS: dict[type, Callable[[Any], list[tuple[str, list[ir.Atom]]]]] = {
    ir.If: lambda s: _of_phis(s.outs),
    ir.For: lambda s: _of_phis(s.carried),
    ir.While: lambda s: _of_phis(s.carried),
    ir.Try: _of_try,
    ir.Keep: lambda s: [(s.slot, [s.value])],
}


def all_names(function: ir.Function) -> set[str]:
    """The names that the statements of a function assign."""
    return names_in(function.body)


def names_in(block: ir.Block) -> set[str]:
    """The names that the statements of a block assign."""
    statements = ir.walk(block)
    names = {statement.target for statement in statements if isinstance(statement, ir.Let)}
    for statement in [one for one in statements if one.has_blocks]:
        names |= {phi.target for phi in phis_of(statement)}
        if isinstance(statement, ir.For):
            names |= {leaf.item for leaf in ir.leaves(statement.iteration)}
            names.update(ir.counters(statement.iteration))
        if isinstance(statement, ir.Try):
            names |= {h.name for h in statement.handlers if h.name}
    return names


def use_counts(function: ir.Function) -> Counter[Any]:
    """How often each name is read."""
    return Counter([function.result, *(atom for s in function.statements() for atom in reads_of(s))])


def sequences_of(statement: ir.Statement) -> list[ir.Sequence]:
    """The sequences that a loop goes through."""
    if type(statement) is not ir.For:
        return []
    return [leaf for leaf in ir.leaves(statement.iteration) if isinstance(leaf, ir.Sequence)]


def reads_of(statement: ir.Statement, *, joins: bool = True) -> list[ir.Atom | None]:
    """The atoms that a statement itself reads, not counting those inside its blocks."""
    if type(statement) is ir.Let:
        return list(statement.op.operands())
    find = _READS.get(type(statement))
    found = [] if find is None else list(find(statement))
    return found + [atom for _, atoms in joins_of(statement) for atom in atoms] if joins else found


_READS: dict[type, Callable[[Any], Any]] = {
    ir.If: lambda s: (s.test,),
    ir.While: lambda s: (s.test, s.stop),
    ir.For: lambda s: (s.stop, *(atom for part in ir.parts(s.iteration) for atom in _reads_of_part(part))),
    ir.Raise: lambda s: (s.error, s.cause),
    ir.Try: lambda s: [handler.chosen for handler in s.handlers],
}


def _reads_of_part(part: ir.Iteration) -> tuple[ir.Atom, ...]:
    if isinstance(part, ir.Zipped):
        return ()
    if isinstance(part, ir.Count):
        return part.args
    return (part.start if isinstance(part, ir.Enumerated) else part.value,)


def _drop(block: ir.Block, live: set[str]) -> None:
    block[:] = [s for s in block if not (isinstance(s, ir.Keep) and s.slot not in live)]
    for statement in block:
        phis = phis_of(statement)
        for handler in statement.handlers if isinstance(statement, ir.Try) else ():
            handler.values = [x for x, slot in zip(handler.values, phis) if slot.target in live]
        phis[:] = [phi for phi in phis if phi.target in live]
        for inner in ir.blocks(statement):
            _drop(inner, live)
