"""Replaces tuples, lists and dicts that a function makes by their items, if it reads them only by constant
positions or keys, also where branches and loops pass them on. Each item then has its own kind and its own
cotangent.

Nothing else sees such a container, so it need not exist. Which arguments have a gradient stays as it was: if
one of its items is used, all of them count as used (`ir.Handed`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base import ir
from ..base.liveness import drop, phis_of, prune, reads_of

_ROUNDS = 4  # levels of nested containers
_MOST = 16  # items of one container
Keys = tuple[Any, ...]  # those of the items of a container: of a tuple or list, the positions


def take_apart(function: ir.Function) -> None:
    """Replace such containers, in place."""
    for _ in range(_ROUNDS):
        found = _Containers(function).found()
        if not found:
            return
        _replace(function, found)
        prune(function)


class _Containers:
    """The names that may refer to the same container, and how each is read."""

    def __init__(self, function: ir.Function) -> None:
        self._parents: dict[str, str] = {}
        self._counts: list[tuple[str, int]] = []  # how many items an unpacking needs
        self._read: list[tuple[str, Any]] = []  # the keys of the items that are read
        self._given: set[str] = set()  # names that copies and joins assign
        self._unfit: set[str] = {*function.parameters, *function.free}
        keys = {let.target: _keys(let.op) for let in function.lets()}
        self._displays = {name: found for name, found in keys.items() if found}
        if self._displays:
            self._use(function.result)
            for statement in function.statements():
                self._look(statement)

    def found(self) -> dict[str, Keys]:
        """The names of the containers that can be replaced by their items, with the keys of these."""
        names = {*self._displays, *self._given, *self._parents}
        bad = {self._root(name) for name in self._unfit}
        bad |= {self._root(name) for name in names if name not in self._displays and name not in self._given}
        found: dict[str, Keys] = {}
        for name, keys in self._displays.items():
            if found.setdefault(self._root(name), keys) != keys:
                bad.add(self._root(name))
        for name, count in self._counts:
            if found.get(self._root(name)) != tuple(range(count)):
                bad.add(self._root(name))
        for name, key in self._read:
            if _place(found.get(self._root(name), ()), key) is None:
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
            self._read.append((op.value, op.index.value))  # type: ignore[attr-defined]
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


def _replace(function: ir.Function, found: dict[str, Keys]) -> None:
    """Replace containers, whose names and keys are given, by their items."""
    items: dict[str, tuple[ir.Atom, ...]] = {}
    statements, gone = function.statements(), set[str]()
    used = _Used(function, found)
    for phi in (phi for statement in statements for phi in phis_of(statement) if phi.target in found):
        items[phi.target] = tuple(function.fresh(f"{phi.target}_{_label(key)}") for key in found[phi.target])
    for statement in statements:  # a copy comes after what it copies
        if isinstance(statement, ir.Let):
            op, target = statement.op, statement.target
            if target in found:
                source = _passed_on(op)
                items[target] = _values(op) if source is None else items[source]
                gone.add(target)
            elif isinstance(op, ir.Publish) and op.value in found:
                gone.add(target)
            elif isinstance(op, ir.Item) and op.value in found and isinstance(op.index, ir.Const):
                owner = str(op.value)
                place = _place(found[owner], op.index.value)
                statement.op = ir.Move(items[owner][place or 0])
                used.note(target, owner)
    for statement in statements:
        phis = phis_of(statement)
        phis[:] = [made for phi in phis for made in _apart(phi, items)]
    function.handed = used.handed
    drop(function.body, gone)


class _Used:
    """What counts as used if an item of a container is used: all that may have been put into it."""

    def __init__(self, function: ir.Function, found: dict[str, Keys]) -> None:
        self._put: dict[str, list[ir.Atom]] = {name: [] for name in found}
        for let in function.lets():
            if let.target in found:
                source = _passed_on(let.op)
                self._put[let.target] += _values(let.op) if source is None else [source]
        for phi in (phi for statement in function.statements() for phi in phis_of(statement)):
            if phi.target in found:
                self._put[phi.target] += phi.sources
        for handed in function.handed:  # what a call was given, or what an outer container holds
            if handed.value in found and handed.counts:
                self._put[str(handed.value)] += handed.atoms
        kept = [handed for handed in function.handed if handed.value not in found]
        self.handed = [replace(handed, atoms=self._all(handed.atoms)) for handed in kept]

    def note(self, target: str, owner: str) -> None:
        """Note that an item of a container is read under a name."""
        self.handed.append(ir.Handed(target, self._all((owner,)), held=True))

    def _all(self, atoms: tuple[ir.Atom, ...]) -> tuple[ir.Atom, ...]:
        """The atoms, with all that is in the containers among them in place of these."""
        names, found = list(atoms), dict.fromkeys(atoms)
        for name in names:  # which grows in the loop
            for atom in self._put.get(str(name), ()):
                if atom not in found:
                    found[atom] = None
                    names.append(atom)
        return tuple([atom for atom in found if str(atom) not in self._put])


def _apart(phi: ir.Phi, items: dict[str, tuple[ir.Atom, ...]]) -> list[ir.Phi]:
    """The joins of the items, for the join of a container."""
    if phi.target not in items:
        return [phi]
    sources = [items[str(atom)] for atom in phi.sources]
    return [ir.Phi(str(name), list(each)) for name, *each in zip(items[phi.target], *sources, strict=True)]


def _keys(op: ir.Op) -> Keys:
    """The keys of the items of a display, if it can be replaced by them: equal keys are of the same class."""
    if not isinstance(op, ir.Build) or op.opened or len(op.items) > _MOST:
        return ()
    if op.kind != "dict":
        return tuple(range(len(op.items))) if op.kind in ("tuple", "list") else ()
    keys = tuple([atom.value if isinstance(atom, ir.Const) else None for atom in op.items[::2]])
    return keys if {*map(type, keys)} == {str} and len({*keys}) == len(keys) else ()


def _values(op: ir.Op) -> tuple[ir.Atom, ...]:
    """The items of a display."""
    assert isinstance(op, ir.Build)
    return op.items[1::2] if op.kind == "dict" else op.items


def _place(keys: Keys, key: Any) -> int | None:
    """The number of the item that a key or a position reads; None if there is no such item."""
    if type(key) is int and keys == tuple(range(len(keys))) and -len(keys) <= key < 0:
        return key + len(keys)
    return keys.index(key) if type(key) in (int, str) and key in keys else None


def _label(key: Any) -> str:
    """The end of the name of an item."""
    text = str(key)
    return text if text.isascii() and f"_{text}".isidentifier() else "item"


def _passed_on(op: ir.Op) -> str | None:
    """The name of what an operation gives another name, unchanged and with nothing checked but its length."""
    plain = (isinstance(op, ir.Move) and op.checked is None) or (isinstance(op, ir.Unpack) and not op.or_more)
    return op.value if plain and isinstance(op.value, str) else None  # type: ignore[attr-defined]


def _is_read(op: ir.Op) -> bool:
    """Whether an operation reads the item at a constant position or key."""
    plain = isinstance(op, ir.Item) and isinstance(op.value, str) and isinstance(op.index, ir.Const)
    return plain and type(op.index.value) in (int, str) and not (op.for_update or op.by_moved_slice)  # type: ignore[attr-defined]
