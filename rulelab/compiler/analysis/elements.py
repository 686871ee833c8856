"""Finds the lists that only the function itself can change, so that the kinds of their items are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator

from ..base import ir
from ..base.liveness import joins_of, reads_of, sequences_of

# The field whose list an operation only reads or passes on.
_GOING_ON = {ir.Append: "value", ir.Move: "value", ir.Publish: "value", ir.Item: "value"}


def private_lists(
    function: ir.Function,
    only_reads: Callable[[ir.Call], bool],
    measures: Callable[[ir.Call], bool] = lambda call: False,
    makes: Callable[[ir.Op], bool] = lambda op: False,
    unfit: Collection[str] = (),
) -> dict[str, str]:
    """The names of lists that are built and appended to here, and otherwise only read, each with a name that
    represents all names for the same list.

    A list that is captured, put into another, or passed to a call that may change or keep it (unless
    `only_reads` says otherwise) is left out. So is a list that is changed in place, unless it is followed
    (`_is_followed`, which is passed `measures`) and the name by which it is changed is not in `unfit`. A list
    that is changed in place may also come from an operation for which `makes` is true.
    """
    made = {let.target for let in function.lets() if makes(let.op)}
    built = {let.target for let in function.lets() if _is_display(let.op)} | made
    if not built:
        return {}
    groups = _Groups()
    for statement in function.statements():
        if isinstance(statement, ir.Let) and isinstance(statement.op, (ir.Append, ir.Move)):
            groups.join(statement.target, statement.op.value)
        for name, atoms in joins_of(statement):
            groups.join(name, *atoms)
    others = {groups.root(name) for name in _otherwise(function, only_reads, unfit)}
    others |= {groups.root(name) for name in groups.names() if not groups.is_made_of(name, built)}
    found = {name: groups.root(name) for name in {*groups.names(), *built} if groups.root(name) not in others}
    written = set(written_lists(function, found).values())
    left_out = {found[name] for name in made if name in found} - written
    for root in written:
        names = {name for name, other in found.items() if other == root}
        left_out |= set() if _is_followed(function, names, measures) else {root}
    return {name: root for name, root in found.items() if root not in left_out}


def _is_display(op: ir.Op) -> bool:
    return isinstance(op, ir.Build) and op.kind == "list"


def written_lists(function: ir.Function, private: dict[str, str]) -> dict[str, str]:
    """The private lists that are changed in place, as in `private`."""
    changed = [name for let in function.lets() if (name := changed_list(let.op)) in private]
    written = {private[name] for name in changed if name is not None}
    return {name: root for name, root in private.items() if root in written}


def lists_read_back(
    function: ir.Function,
    private: dict[str, str],
    measures: Callable[[ir.Call], bool],
    unfit: Collection[str],
) -> dict[str, str]:
    """The private lists that are appended to, and read item by item, and that can be followed as those are
    that are changed in place; as in `private`, without the lists of which a name is in `unfit`.
    """
    ops = [let.op for let in function.lets()]
    appended = {private.get(str(op.value)) for op in ops if isinstance(op, ir.Append) and not op.hidden}
    read = {private.get(str(op.value)) for op in ops if isinstance(op, ir.Item)}
    found: dict[str, str] = {}
    for root in (appended & read) - {None, *(private.get(name) for name in unfit)}:
        names = {name for name, other in private.items() if other == root}
        if _is_followed(function, names, measures):
            found |= dict.fromkeys(names, str(root))
    return found


def changed_list(op: ir.Op) -> str | None:
    """The name of what an operation changes, if that is a list: `xs[k] = v`, `xs.append(v)` or `xs.pop()`."""
    if isinstance(op, ir.Write):
        return str(op.target) if op.kind == "item" else None
    plain = isinstance(op, ir.Call) and not op.keywords and not op.starred
    if not plain or _CHANGING.get(op.method or "") != len(op.args):  # type: ignore[attr-defined]
        return None
    return str(op.function)  # type: ignore[attr-defined]


_CHANGING = {"append": 1, "pop": 0}  # method -> the number of its arguments


def _is_followed(function: ir.Function, names: set[str], measures: Callable[[ir.Call], bool]) -> bool:
    """Whether the cotangents of a list that is written to can be kept in one list beside it.

    For that it must be made in one place, and used only in the block of that place. It may be read only item
    by item, in loops that do not append to it, and by calls that only need all items (`measures`). It must
    not be the result, and no handler may find it half changed.
    """
    homes = [block for block in _blocks_of(function) if any(_builds(s, names) for s in block)]
    if len(homes) != 1 or sum(_builds(s, names) for s in homes[0]) != 1 or function.result in names:
        return False
    inside = {id(statement) for statement in ir.walk(homes[0])}
    return all(
        _is_fit(statement, names, measures) if id(statement) in inside else not _mentions(statement, names)
        for statement in function.statements()
    )


def _is_fit(statement: ir.Statement, names: set[str], measures: Callable[[ir.Call], bool]) -> bool:
    """Whether a statement uses the list only in ways that `_is_followed` allows."""
    within = [inner for block in ir.blocks(statement) for inner in ir.walk(block)]
    if isinstance(statement, ir.Try):
        return not any(_mentions(s, names) for s in (statement, *within))
    if any(leaf.value in names for leaf in sequences_of(statement)):
        ops = [s.op for s in within if isinstance(s, ir.Let)]
        appended = [str(op.value) for op in ops if isinstance(op, ir.Append)]
        appended += [name for op in ops if isinstance(op, ir.Call) and (name := changed_list(op))]
        return names.isdisjoint(appended)
    op = statement.op if isinstance(statement, ir.Let) else None
    if isinstance(op, ir.Call) and not measures(op) and changed_list(op) not in names:
        return names.isdisjoint(map(str, op.operands()))
    return True


def _blocks_of(function: ir.Function) -> Iterator[ir.Block]:
    """All blocks of a function."""
    yield function.body
    for statement in function.statements():
        yield from ir.blocks(statement)


def _builds(statement: ir.Statement, names: set[str]) -> bool:
    """Whether a statement makes the list."""
    is_name = isinstance(statement, ir.Let) and statement.target in names
    return is_name and not isinstance(statement.op, (ir.Append, ir.Move))  # type: ignore[attr-defined]


def _mentions(statement: ir.Statement, names: set[str]) -> bool:
    """Whether a statement itself reads or assigns one of these names."""
    given = [name for name, _ in joins_of(statement)]
    given += [statement.target] if isinstance(statement, ir.Let) else []
    return not names.isdisjoint([*given, *map(str, reads_of(statement))])


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


def _otherwise(
    function: ir.Function, only_reads: Callable[[ir.Call], bool], unfit: Collection[str]
) -> Iterator[str]:
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
            elif (changed := changed_list(statement.op)) is not None and changed not in unfit:
                allowed.append(changed)
        for atom in reads_of(statement, joins=False):
            if isinstance(atom, str):
                if atom in allowed:
                    allowed.remove(atom)
                else:
                    yield atom
