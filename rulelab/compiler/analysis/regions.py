"""Which names may refer to the same mutable container, and where containers change: what activity needs to
know and single assignment hides.

Names that may refer to a container, or to something in it, are put together in regions (B. Steensgaard,
"Points-to analysis in almost linear time", 1996, with a container and its contents in one class). A region
is *shared* if something in it may be changed other than by this function's own unobservable appends: by a
write, a method, a callee that it is passed to, or a nested function. Containers in shared regions are read
and changed by identity (`heap`); all others are treated like any other value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ...rules.kinds import ANY, CELL, DICT, FUNCTION, INT, LIST, SLICE, Kind, Tuple, Type, any_part
from ..base import ir
from ..base.liveness import all_names, joins_of, phis_of, sequences_of
from .elements import changed_list
from .types import Types

_READING = frozenset({"copy", "index", "count", "get", "keys", "values", "items"})
_QUIET = _READING - {"items", "keys"}  # those that do not read the keys of a dict

_HOLDING_NOTHING = (ir.Load, ir.Compare, ir.Format, ir.Slice, ir.Publish, ir.Ask)


_CHANGING = frozenset({ANY, LIST, DICT, FUNCTION, CELL})


def may_hold(kind: Type) -> bool:
    """Whether values of this type may be, or contain, a mutable container."""
    if type(kind) is Kind:
        return kind in _CHANGING
    return isinstance(kind, Tuple) and any(map(may_hold, kind.items))


class Regions:
    """The regions of one function, and which of them are shared."""

    def __init__(
        self,
        function: ir.Function,
        types: Types,
        changes_nothing: Callable[[ir.Op], bool],
        holds_nothing: Callable[[ir.Op], bool],
    ) -> None:
        self._types = types
        self._changes_nothing = changes_nothing
        self._parent: dict[str, str] = {}
        self._empty = set(_holding_nothing(function, holds_nothing))
        self._touched: list[tuple[str, ir.Op, ir.Atom]] = []
        self._stored: list[tuple[str, ir.Op, ir.Atom]] = []  # the changes of private lists
        self._members: dict[str, list[str]] = defaultdict(list)
        given = [name for name in (*function.parameters, *function.free) if self.makes(name)]
        self.are_there = bool(given) or any(map(self.makes, all_names(function)))
        self.effects: dict[str, tuple[ir.Op, str]] = {}
        self._shared: set[str] = set()
        self._outside: set[str] = set()
        if not self.are_there:  # numbers and arrays only
            return
        self._join(*given)  # a caller may pass the same object twice
        for statement in function.statements():
            self._visit(statement)
            self._visit_iteration(statement)
        self._shared = {self._root(atom) for _, _, atom in self._touched}
        self._touched += [one for one in self._stored if self._root(one[2]) in self._shared]
        self._outside = set(map(self._root, given))
        self.effects = {target: (op, self._root(atom)) for target, op, atom in self._touched}
        passing = _unseen(function)
        for name in [name for name in self._parent if name not in passing]:
            self._members[self._root(name)].append(name)

    # -- answers ---------------------------------------------------------------------------------------------

    def shared(self, atom: ir.Atom) -> bool:
        """Whether the value of a name may be changed under another name."""
        return bool(self._shared) and self.makes(atom) and self._root(atom) in self._shared

    def from_outside(self, atom: ir.Atom) -> bool:
        """Whether a name may refer to a container that the caller also has, and may change after the call."""
        return bool(self._outside) and self.makes(atom) and self._root(atom) in self._outside

    def same(self, a: ir.Atom, b: ir.Atom) -> bool:
        """Whether two names may refer to the same container, or one to something in the other."""
        return self.makes(a) and self.makes(b) and self._root(a) == self._root(b)

    def make_shared(self, atom: ir.Atom) -> None:
        """Have the value of a name read and changed by identity."""
        if self.makes(atom):
            root = self._root(atom)
            self._shared.add(root)
            self.effects |= {
                target: (op, root) for target, op, owner in self._stored if self._root(owner) == root
            }

    def stores(self, name: ir.Atom) -> bool:
        """Whether a name refers to a private list of numbers that is changed in place."""
        return name in self._types.written and not self.shared(name)

    def names_of(self, name: ir.Atom) -> list[str]:
        """All names of a list for which `stores` is true."""
        root = self._types.written[str(name)]
        return [other for other, its in self._types.written.items() if its == root]

    def reached_by(self, name: ir.Atom) -> list[str]:
        """All names of a list for which `stores` is true, and those of what it is made of."""
        return [*self.names_of(name), *self.members(self._root(name))]

    def members(self, root: str) -> list[str]:
        return self._members.get(root, [])

    def visible(self) -> Iterator[str]:
        """The names in regions whose changes the caller can see."""
        for root in {root for _, root in self.effects.values()} & self._outside:
            yield from self.members(root)

    def add_effect(self, target: str, op: ir.Op, atom: ir.Atom) -> None:
        self.effects[target] = (op, self._root(atom))

    def add_alias(self, name: str, atom: ir.Atom) -> None:
        root = self._root(atom)
        self._parent[name] = root
        self._members[root].append(name)

    # -- building --------------------------------------------------------------------------------------------

    def makes(self, atom: ir.Atom | None) -> bool:
        """Whether a name may refer to a mutable container, or to something that contains one."""
        return isinstance(atom, str) and atom not in self._empty and may_hold(self._types(atom))

    def _root(self, atom: ir.Atom) -> str:
        assert isinstance(atom, str)
        self._parent.setdefault(atom, atom)
        while self._parent[atom] != atom:
            self._parent[atom] = self._parent[self._parent[atom]]
            atom = self._parent[atom]
        return atom

    def _join(self, *atoms: ir.Atom | None) -> None:
        members = [atom for atom in atoms if self.makes(atom)]
        for atom in members:
            self._parent[self._root(members[0])] = self._root(atom)  # type: ignore[arg-type]

    def _visit(self, statement: ir.Statement) -> None:
        if isinstance(statement, ir.Let):
            self._visit_op(statement.target, statement.op)
        for name, atoms in joins_of(statement):
            self._join(name, *atoms)
        for leaf in sequences_of(statement):
            self._join(leaf.item, leaf.value)

    def _visit_op(self, target: str, op: ir.Op) -> None:
        if isinstance(op, _HOLDING_NOTHING):
            return
        if (changed := changed_list(op)) is not None and changed in self._types.written:
            self._stored.append((target, op, changed))
            return
        if isinstance(op, ir.Write):
            self._join(op.target, op.value)
            if any_part(self._types(op.key), lambda part: part == ANY):
                self._join(op.target, op.key)  # an object that may be read back from the keys
            self._touch(target, op, op.target)
            return
        self._join(target, *op.operands())
        if isinstance(op, ir.MakeFunction):
            for _, atom in op.captured:
                self._touch(target, op, atom)
        elif isinstance(op, (ir.MakeCell, ir.ReadCell)):
            self._touch(target, op, target if isinstance(op, ir.MakeCell) else op.cell)
        elif isinstance(op, ir.Augmented) and not op.owned:
            self._touch(target, op, op.left)
        elif (
            isinstance(op, (ir.Call, ir.Apply))
            and any(map(self.makes, op.operands()))
            and not self._is_harmless(op)
        ):
            for atom in op.operands():
                self._touch(target, op, atom)

    def _visit_iteration(self, statement: ir.Statement) -> None:
        """Record operations that read the keys of a dict as touching it: numbers among the keys are noticed
        only if the dict is followed.
        """
        for leaf in sequences_of(statement):
            if self._types(leaf.value) == DICT:
                self._touch(leaf.item, ir.Move(leaf.value), leaf.value)
        op = statement.op if isinstance(statement, ir.Let) else None
        if isinstance(op, (ir.Apply, ir.Unpack)) or (isinstance(op, ir.Call) and op.method not in _QUIET):
            for atom in op.operands():
                if self._types(atom) == DICT:
                    self._touch(statement.target, op, atom)  # type: ignore[attr-defined]

    def _touch(self, target: str, op: ir.Op, atom: ir.Atom) -> None:
        """Record an operation that may change what a name refers to."""
        if self.makes(atom):
            self._touched.append((target, op, atom))

    def _is_harmless(self, op: ir.Call | ir.Apply) -> bool:
        reads = op.method in _READING and self._types(op.function) in (LIST, DICT)
        return reads or self._changes_nothing(op)


def _holding_nothing(function: ir.Function, holds_nothing: Callable[[ir.Op], bool]) -> Iterator[str]:
    """The names that hold no container made here: globals, functions that capture nothing, and so on."""
    for statement in function.lets():
        op = statement.op
        if (
            isinstance(op, _HOLDING_NOTHING)
            or (isinstance(op, ir.MakeFunction) and not op.operands())
            or (isinstance(op, (ir.Call, ir.Apply, ir.Attribute)) and holds_nothing(op))
        ):
            yield statement.target


def _unseen(function: ir.Function) -> set[str]:
    """The names of containers that nothing can change: tuples, and those that are never published."""
    published = {s.op.value for s in function.lets() if isinstance(s.op, ir.Publish)}
    made = {s.target for s in function.lets() if isinstance(s.op, (ir.Build, ir.Collect))}
    return made - published


def share(function: ir.Function, regions: Regions, types: Types) -> None:
    """Make changes of shared regions explicit: containers are published where they are made, appends become
    method calls, and loops over what may change go by position, reading each item when it is due. A list that
    is not shared is published when it is returned.
    """
    if regions.are_there or may_hold(types(function.result)):
        _Sharing(function, regions, types).run()


@dataclass(frozen=True)
class _Sharing:
    function: ir.Function
    regions: Regions
    types: Types

    def run(self) -> None:
        function, result = self.function, self.function.result
        complete: list[str] = []
        if isinstance(result, str):
            made = _Made(function, self.types)
            complete = made.held_by(result)
            others = made.others(complete, lambda name: self.regions.same(name, result))
            if others or (result not in complete and made.may_be(result)):
                self.regions.make_shared(result)
        self._block(function.body)
        if not self.regions.shared(result):
            for name in complete:
                last = function.body[-1].position
                function.body.append(ir.Let(last, function.fresh("published"), ir.Publish(name)))

    def _block(self, block: ir.Block) -> None:
        out: ir.Block = []
        for statement in block:
            for inner in ir.blocks(statement):
                self._block(inner)
            out += self._shared(statement)
        block[:] = out

    def _shared(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.For):
            return self._by_position(statement)
        op = statement.op if isinstance(statement, ir.Let) else None
        if isinstance(op, ir.Publish) and not self.regions.shared(op.value):
            return []
        if isinstance(op, ir.Append) and not op.hidden and self.regions.shared(op.value):
            call, made = ir.Call(op.value, (op.item,), (), "append"), self.function.fresh("appended")
            self.regions.add_effect(made, call, op.value)
            moved = ir.Let(statement.position, statement.target, ir.Move(op.value))  # type: ignore[attr-defined]
            return [ir.Let(statement.position, made, call), moved]
        if isinstance(op, ir.Call) and any(map(self.regions.stores, op.args)) and not self.types.sums(op):
            return self._of_copy(op, statement)  # type: ignore[arg-type]
        return [statement]

    def _of_copy(self, op: ir.Call, statement: ir.Let) -> list[ir.Statement]:
        """A call that goes through a list that is changed, after a copy of it, which the call may keep."""
        owner = str(op.args[0])
        copy = ir.Let(statement.position, self.function.fresh("items"), ir.Call(ir.Const(list), (owner,), ()))
        self.types.add_copy(copy, owner)
        statement.op = replace(op, args=(copy.target,))
        return [copy, statement]

    def _by_position(self, statement: ir.For) -> list[ir.Statement]:
        """A loop that reads the items of shared containers, and of lists that are written to, by position."""
        before: list[ir.Statement] = []
        items: list[ir.Statement] = []

        def known(name: str, op: ir.Op) -> str:
            let = ir.Let(statement.position, self.function.fresh(name), op)
            before.append(let)
            self.types.learn(let)
            return let.target

        def positions(leaf: ir.Sequence | ir.Count) -> ir.Sequence | ir.Count:
            if isinstance(leaf, ir.Sequence) and self.regions.stores(leaf.value):
                index = self.function.fresh("position")
                self.types.of[index] = INT
                size = known("size", ir.Call(ir.Const(len), (leaf.value,), ()))
                items.append(ir.Let(statement.position, leaf.item, ir.Item(leaf.value, index)))
                if not leaf.backwards:
                    return ir.Count((size,), index)
                last = known("last", ir.Binary("sub", size, ir.Const(1)))
                return ir.Count((last, ir.Const(-1), ir.Const(-1)), index)
            if isinstance(leaf, ir.Count) or not self.regions.shared(leaf.value):
                return leaf
            index, sequence = self.function.fresh("position"), self.function.fresh("items")
            kind = self.types(leaf.value)
            self.types.of[index] = INT
            self.types.of[sequence] = kind if kind == LIST or isinstance(kind, Tuple) else ANY
            self.regions.add_alias(sequence, leaf.value)
            before.append(ir.Let(statement.position, sequence, ir.Indexable(leaf.value)))
            items.append(ir.Let(statement.position, leaf.item, ir.Item(sequence, index)))
            return ir.Positions((sequence,), index, leaf.backwards)

        statement.iteration = ir.with_leaves(statement.iteration, positions)
        statement.body[:0] = items
        return [*before, statement]


class _Made:
    """The lists and dicts that a function certainly made itself."""

    def __init__(self, function: ir.Function, types: Types) -> None:
        self._types = types
        self._defined: dict[str, tuple[ir.Op | None, list[ir.Atom]]] = {}
        self._builds: list[ir.Build | ir.Append] = []
        for statement in function.statements():
            if isinstance(statement, ir.Let):
                self._defined[statement.target] = (statement.op, [])
                if isinstance(statement.op, (ir.Build, ir.Append)):
                    self._builds.append(statement.op)
            for phi in phis_of(statement):
                self._defined[phi.target] = (None, phi.sources)
        self._outermost = {s.target for s in function.body if isinstance(s, ir.Let)}
        self._outermost |= {phi.target for s in function.body for phi in phis_of(s)}

    def held_by(self, name: str) -> list[str]:
        """`name` and what it contains at any depth, restricted to containers certainly made by the function
        and assigned in its outermost block.
        """
        found = [name] if self._is_made(name) and name in self._outermost else []
        op, _ = self._defined.get(name, (None, []))
        while isinstance(op, (ir.Append, ir.Move)) and isinstance(op.value, str):
            op, _ = self._defined.get(op.value, (None, []))
        if isinstance(op, ir.Build) and op.kind != "set":
            for item in dict.fromkeys(op.items):
                if isinstance(item, str):
                    found += [inner for inner in self.held_by(item) if inner not in found]
        return found

    def may_be(self, name: ir.Atom) -> bool:
        """Whether, on some path, a name refers to a container that was made here."""
        return any(
            isinstance(origin, str) and origin in self._defined and self._is_made(origin)
            for origin in self._origins(name, (ir.Move,))
        )

    def others(self, complete: list[str], in_region: Callable[[str], bool]) -> bool:
        """Whether a container made here in the region is put into another, but is not among `complete`."""
        return any(
            isinstance(item, str) and item not in complete and self._is_made(item) and in_region(item)
            for op in self._builds
            for item in (op.items if isinstance(op, ir.Build) else (op.item,))
        )

    def _is_made(self, name: ir.Atom) -> bool:
        """Whether a name, if it has a value, certainly refers to a container made here."""
        if not isinstance(name, str) or name not in self._defined:
            return False
        return all(
            self._makes(origin) or (origin != name and _is_nothing(origin))
            for origin in self._origins(name, (ir.Append, ir.Move))
        )

    def _makes(self, origin: ir.Atom) -> bool:
        op = self._defined.get(origin, (None, []))[0] if isinstance(origin, str) else None
        if isinstance(op, ir.Build):
            return op.kind in ("list", "dict")
        return op is not None and _is_new_list(op, self._types)

    def _origins(self, name: ir.Atom, passing: tuple[type, ...]) -> Iterator[ir.Atom]:
        """Where the value of a name may come from, through joins and the operations `passing` it on."""
        waiting, seen = [name], {name}
        for atom in waiting:  # which grows in the loop
            op, sources = self._defined.get(atom, (None, []))  # type: ignore[arg-type]
            if isinstance(op, passing):
                sources = [op.value]  # type: ignore[union-attr]
            if not sources:
                yield atom
            waiting += [source for source in sources if source not in seen]
            seen.update(sources)


def makes_list(op: ir.Op, types: Types) -> bool:
    """Whether an operation returns a new list, dict or set, except displays, which `Publish` marks."""
    if isinstance(op, ir.Binary):
        return op.operator in ("add", "mul", "or_") and any(
            types(a) in (LIST, DICT, ANY) for a in op.operands()
        )
    if isinstance(op, ir.Item):
        return types(op.index) == SLICE and types(op.value) in (LIST, ANY)
    return isinstance(op, ir.Call) and (types.callee(op) in MAKERS or op.method in ("copy", "tolist"))


def _is_new_list(op: ir.Op, types: Types) -> bool:
    """Whether the result of an operation is certainly a new list, dict or set, or an array."""
    if isinstance(op, ir.Binary):
        return op.operator in ("add", "mul") and LIST in map(types, op.operands())
    if isinstance(op, ir.Item):
        return types(op.index) == SLICE and types(op.value) == LIST
    return isinstance(op, ir.Call) and types.callee(op) in MAKERS


MAKERS = (list, dict, set, sorted)


def _is_nothing(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and (atom.value is None or atom.value is ir.UNBOUND)
