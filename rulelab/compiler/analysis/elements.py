"""Finds the lists that only the function itself can change, so that the kinds of their items are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from ..base import ir
from ..base.liveness import joins_of, reads_of, sequences_of

# The field whose list an operation only reads or passes on.
_GOING_ON = {ir.Append: "value", ir.Move: "value", ir.Publish: "value", ir.Item: "value"}


def private_lists(function: ir.Function, only_reads: Callable[[ir.Call], bool]) -> dict[str, str]:
    """The names of lists that are built and appended to here, and otherwise only read, each with a name that
    represents all names for the same list.

    A list that is captured, put into another, written to, or passed to a call that may change or keep it
    (unless `only_reads` says otherwise) is left out.
    """
    builds = [let for let in function.lets() if isinstance(let.op, ir.Build)]
    built = {let.target for let in builds if let.op.kind == "list"}  # type: ignore[attr-defined]
    if not built:
        return {}
    groups = _Groups()
    for statement in function.statements():
        if isinstance(statement, ir.Let) and isinstance(statement.op, (ir.Append, ir.Move)):
            groups.join(statement.target, statement.op.value)
        for name, atoms in joins_of(statement):
            groups.join(name, *atoms)
    others = {groups.root(name) for name in _otherwise(function, only_reads)}
    others |= {groups.root(name) for name in groups.names() if not groups.is_made_of(name, built)}
    return {name: groups.root(name) for name in {*groups.names(), *built} if groups.root(name) not in others}


class _Groups:
    """Sets of names that may refer to the same list."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._sources: dict[str, list[ir.Atom]] = defaultdict(list)

    def root(self, name: str) -> str:
        while self._parent.get(name, name) != name:
            name = self._parent[name]
        return name

    def names(self) -> list[str]:
        return list(self._sources)

    def join(self, target: str, *atoms: ir.Atom) -> None:
        self._sources[target] += atoms
        for atom in atoms:
            if isinstance(atom, str):
                self._parent[self.root(target)] = self.root(atom)

    def is_made_of(self, name: str, built: set[str]) -> bool:
        """Whether every source of a name is a list built here, another such name, or UNBOUND."""
        return all(
            atom in built or atom in self._sources if isinstance(atom, str) else atom.value is ir.UNBOUND
            for atom in self._sources[name]
        )


def _otherwise(function: ir.Function, only_reads: Callable[[ir.Call], bool]) -> Iterator[str]:
    """The names that are used in ways that may change a list, or let something else keep it."""
    yield from (*function.parameters, *function.free)
    for statement in function.statements():
        allowed: list[ir.Atom] = [leaf.value for leaf in sequences_of(statement)]
        if isinstance(statement, ir.Let):
            field = _GOING_ON.get(type(statement.op))
            if field is not None:
                allowed.append(getattr(statement.op, field))
            elif isinstance(statement.op, ir.Call) and only_reads(statement.op):
                allowed += statement.op.operands()
        for atom in reads_of(statement, joins=False):
            if isinstance(atom, str):
                if atom in allowed:
                    allowed.remove(atom)
                else:
                    yield atom
