"""Replaces tuples and lists that a function makes by their items, if it reads them only by constant
positions, also where branches and loops pass them on. Each item then has its own kind and its own cotangent.

Nothing else sees such a container, so it need not exist. Which arguments have a gradient stays as it was: if
one of its items is used, all of them count as used (`ir.Handed`).
"""

from __future__ import annotations

from ..base import ir
from ..base.liveness import drop, phis_of, prune, reads_of

_ROUNDS = 4  # levels of nested containers
_MOST = 16  # items of one container


def take_apart(function: ir.Function) -> None:
    """Replace such containers, in place."""
    for _ in range(_ROUNDS):
        sizes = _Containers(function).sizes()
        if not sizes:
            return
        _replace(function, sizes)
        prune(function)


class _Containers:
    """The names that may refer to the same container, and how each is read."""

    def __init__(self, function: ir.Function) -> None:
        self._parents: dict[str, str] = {}
        self._displays: dict[str, int] = {}  # how many items each display has
        self._counts: list[tuple[str, int]] = []  # how many items an unpacking needs
        self._positions: list[tuple[str, int]] = []  # those that are read
        self._given: set[str] = set()  # names that copies and joins assign
        self._unfit: set[str] = {*function.parameters, *function.free}
        lets = function.lets()
        self._displays = {let.target: len(let.op.items) for let in lets if _is_display(let.op)}  # type: ignore[attr-defined]
        if self._displays:
            self._use(function.result)
            for statement in function.statements():
                self._look(statement)

    def sizes(self) -> dict[str, int]:
        """The number of items under each name of a container that can be replaced by them."""
        names = {*self._displays, *self._given, *self._parents}
        bad = {self._root(name) for name in self._unfit}
        bad |= {self._root(name) for name in names if name not in self._displays and name not in self._given}
        found: dict[str, int] = {}
        for name, count in self._displays.items():
            if found.setdefault(self._root(name), count) != count:
                bad.add(self._root(name))
        for name, count in self._counts:
            if found.get(self._root(name)) != count:
                bad.add(self._root(name))
        for name, place in self._positions:
            count = found.get(self._root(name), 0)
            if not -count <= place < count:
                bad.add(self._root(name))
        good = found.keys() - bad
        return {name: found[root] for name in names if (root := self._root(name)) in good}

    def _look(self, statement: ir.Statement) -> None:
        if isinstance(statement, ir.Let):
            self._look_at(statement)
            return
        if isinstance(statement, (ir.If, ir.For, ir.While)):
            for phi in phis_of(statement):
                self._given.add(phi.target)
                for atom in phi.sources:
                    self._join(phi.target, atom)
            self._use(*reads_of(statement, joins=False))
        else:  # handlers find whatever a block has left
            self._use(*reads_of(statement), *[phi.target for phi in phis_of(statement)])

    def _look_at(self, let: ir.Let) -> None:
        op = let.op
        source = _passed_on(op)
        if source is not None:
            self._given.add(let.target)
            self._join(let.target, source)
            if isinstance(op, ir.Unpack):
                self._counts.append((source, op.count))
        elif _is_read(op):
            self._positions.append((op.value, op.index.value))  # type: ignore[attr-defined]
        elif not isinstance(op, ir.Publish):
            self._use(*op.operands())

    def _use(self, *atoms: ir.Atom | None) -> None:
        """Note that values are used in other ways than item by item."""
        self._unfit.update(atom for atom in atoms if isinstance(atom, str))

    def _root(self, name: str) -> str:
        while self._parents.get(name, name) != name:
            name = self._parents[name]
        return name

    def _join(self, name: str, atom: ir.Atom) -> None:
        if isinstance(atom, str):
            self._parents.setdefault(name, name)
            self._parents.setdefault(atom, atom)
            self._parents[self._root(name)] = self._root(atom)
        else:
            self._unfit.add(name)


def _replace(function: ir.Function, sizes: dict[str, int]) -> None:
    """Replace containers, whose names and numbers of items are given, by their items."""
    items: dict[str, tuple[ir.Atom, ...]] = {}
    statements, gone = function.statements(), set[str]()
    for phi in (phi for statement in statements for phi in phis_of(statement) if phi.target in sizes):
        items[phi.target] = tuple(
            function.fresh(f"{phi.target}_{number}") for number in range(sizes[phi.target])
        )
    for statement in statements:  # a copy comes after what it copies
        if isinstance(statement, ir.Let):
            op, target = statement.op, statement.target
            if target in sizes:
                source = _passed_on(op)
                items[target] = op.items if source is None else items[source]  # type: ignore[attr-defined]
                gone.add(target)
            elif isinstance(op, ir.Publish) and op.value in sizes:
                gone.add(target)
            elif _is_read(op) and op.value in sizes:  # type: ignore[attr-defined]
                found = items[op.value]  # type: ignore[attr-defined]
                statement.op = ir.Move(found[op.index.value])  # type: ignore[attr-defined]
                function.handed.append(ir.Handed(target, found))
    for statement in statements:
        phis = phis_of(statement)
        phis[:] = [made for phi in phis for made in _apart(phi, items, sizes)]
    drop(function.body, gone)


def _apart(phi: ir.Phi, items: dict[str, tuple[ir.Atom, ...]], sizes: dict[str, int]) -> list[ir.Phi]:
    """The joins of the items, for the join of a container."""
    if phi.target not in sizes:
        return [phi]
    sources = [items[str(atom)] for atom in phi.sources]
    return [ir.Phi(str(name), list(each)) for name, *each in zip(items[phi.target], *sources, strict=True)]


def _is_display(op: ir.Op) -> bool:
    display = isinstance(op, ir.Build) and op.kind in ("tuple", "list") and not op.opened
    return display and 0 < len(op.items) <= _MOST  # type: ignore[attr-defined]


def _passed_on(op: ir.Op) -> str | None:
    """The name of what an operation gives another name, unchanged and with nothing checked but its length."""
    plain = (isinstance(op, ir.Move) and op.checked is None) or (isinstance(op, ir.Unpack) and not op.or_more)
    return op.value if plain and isinstance(op.value, str) else None  # type: ignore[attr-defined]


def _is_read(op: ir.Op) -> bool:
    """Whether an operation reads the item at a constant position."""
    plain = isinstance(op, ir.Item) and isinstance(op.value, str) and isinstance(op.index, ir.Const)
    return plain and type(op.index.value) is int and not (op.for_update or op.by_moved_slice)  # type: ignore[attr-defined]
