"""Replaces arguments that are tuples, lists, dicts or objects by their parts, if the function only reads
them: each number or array in them becomes a parameter, with its own kind, derivative and cotangent.

A tuple cannot be told from another with the same items. The caller also refers to a list or dict, so the
function may not change it, keep it, or pass it on to code that is not followed. It may read it only by
constant keys, in loops, or by integer indices, where a tuple of the same items behaves alike. An object may
be read only by its attributes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...python_facts import CONSUMING, JOINING, OF_NUMBERS
from ...tangents.ranks import RANKING
from ..base import ir
from ..base.classes import in_class
from ..base.copying import duplicate
from ..base.liveness import drop, prune, reads_of, sequences_of, use_counts
from .forwarding import drop_unread, forward
from .unrolling import unroll

Callee = Callable[[ir.Call], Any]


class Object:
    """The kind of an object whose parts are its attributes."""


class Named:
    """The kind of a NamedTuple."""


@dataclass(frozen=True)
class Structure:
    """What an argument is: a container of `kind`, with keys for a dict, an object or a NamedTuple. A part
    that is not a container is None; `of_class` returns an object's class without keeping it alive.
    """

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Structure | None, ...]
    of_class: Callable[[], type | None] | None = None

    def method(self, name: str) -> Any:
        """The class attribute of this name, unless the object has one; None for anything but an object."""
        cls = None if self.of_class is None or self.kind is not Object else self.of_class()
        return None if cls is None or ir.Field(name) in self.keys else in_class(cls, name)


class NotOpened(Exception):
    """Raised if the function does more with an argument than read its parts."""


def open_arguments(
    function: ir.Function, structures: tuple[Structure | None, ...]
) -> tuple[ir.Function, dict[str, Structure]]:
    """The function with a parameter for each part that is not a container, in order, and the containers by
    name, which are built from the parts at the beginning of its body.

    Raises NotOpened for a function without statements. Call `settle` once all callees have been inlined.
    """
    if not function.body:
        raise NotOpened
    made = duplicate(function)
    opening = _Opening(made)
    parameters: list[str] = []
    for parameter, structure in zip(made.parameters, structures, strict=True):
        parameters += [parameter] if structure is None else opening.open(parameter, structure)
    made.parameters = parameters
    made.body[:0] = opening.lets
    _go_through(made, opening.names)
    return made, opening.names


def _go_through(function: ir.Function, names: dict[str, Structure]) -> None:
    """Replace reads of containers by their parts, including in loops over a container."""
    forward(function)
    changed = True
    while changed:
        changed = read_fields(function, names) | _spell_out(function, names) | _cut(function, names)
        changed |= unroll(function, _rows(names))
        changed |= _gather(function, names)
        if changed:
            forward(function)


def _rows(names: dict[str, Structure]) -> dict[str, list[ir.Op]]:
    """What a loop over each container yields in each iteration."""
    return {
        name: [ir.Move(ir.Const(key)) for key in structure.keys]
        if structure.kind is dict
        else [ir.Item(name, ir.Const(number)) for number in range(len(structure.parts))]
        for name, structure in names.items()
        if structure.kind is not Object
    }


def read_fields(function: ir.Function, names: dict[str, Structure]) -> bool:
    """Turn attributes of opened objects and NamedTuples, called or not, into items of them; returns whether
    there were any.
    """

    def read(let: ir.Let) -> list[ir.Statement] | None:
        op = let.op
        if isinstance(op, ir.Attribute):
            item = _field(names, op.value, op.name)
            return None if item is None else [ir.Let(let.position, let.target, item)]
        item = _field(names, op.function, op.method) if isinstance(op, ir.Call) and op.method else None
        if item is None or not isinstance(op, ir.Call) or op.method is None:
            return None
        called = ir.Let(let.position, function.fresh(op.method), item)
        return [called, ir.Let(let.position, let.target, replace(op, function=called.target, method=None))]

    return _replaced(function, read)


def _replaced(function: ir.Function, instead: Callable[[ir.Let], Sequence[ir.Statement] | None]) -> bool:
    """Replace each operation by what `instead` returns, unless None; returns whether any was replaced."""
    found = False

    def rewritten(block: ir.Block) -> Iterator[ir.Statement]:
        nonlocal found
        for statement in block:
            for inner in ir.blocks(statement):
                inner[:] = list(rewritten(inner))
            made = instead(statement) if isinstance(statement, ir.Let) else None
            found |= made is not None
            yield from [statement] if made is None else made

    function.body[:] = list(rewritten(function.body))
    return found


def _field(names: dict[str, Structure], owner: ir.Atom, name: str) -> ir.Item | None:
    """The read of an attribute of an opened object or NamedTuple, as an item; None for any other."""
    structure = names.get(str(owner))
    if structure is None or structure.kind not in (Object, Named):
        return None
    key: Any = ir.Field(name) if structure.kind is Object else name
    if key not in structure.keys:
        return None
    return ir.Item(owner, ir.Const(key if structure.kind is Object else structure.keys.index(key)))


def _spell_out(function: ir.Function, names: dict[str, Structure]) -> bool:
    """Replace `d.keys()`, `d.values()` and `d.items()` by tuples; returns whether there were any."""
    return _replaced(function, lambda let: _view(function, let, names))


def _view(function: ir.Function, statement: ir.Let, names: dict[str, Structure]) -> list[ir.Statement] | None:
    """The statements that build the tuple for a view of a dict; None for any other statement."""
    op = statement.op
    if not isinstance(op, ir.Call) or op.args or op.keywords:
        return None
    owner = str(op.function)
    structure = names.get(owner)
    if structure is None or structure.kind is not dict or op.method not in ("keys", "values", "items"):
        return None
    lets: list[ir.Statement] = []

    def made(base: str, op: ir.Op) -> str:
        lets.append(ir.Let(statement.position, function.fresh(base), op))
        return lets[-1].target  # type: ignore[attr-defined]

    items: list[ir.Atom] = []
    parts: list[Structure | None] = []
    for key, part in zip(structure.keys, structure.parts, strict=True):
        item: ir.Atom = ir.Const(key)
        if op.method != "keys":
            item = made(_name(owner, key), ir.Item(owner, ir.Const(key)))
        if op.method == "items":
            item = made("pair", ir.Build("tuple", (ir.Const(key), item), opened=True))
            names[item] = part = Structure(tuple, (), (None, part))
        items.append(item)
        parts.append(None if op.method == "keys" else part)
    names[statement.target] = Structure(list, (), tuple(parts))
    lets.append(ir.Let(statement.position, statement.target, ir.Build("tuple", tuple(items), opened=True)))
    return lets


def _cut(function: ir.Function, names: dict[str, Structure]) -> bool:
    """Turn slices of containers with constant bounds into containers; returns whether there were any."""
    lets = {let.target: let for let in function.lets()}
    changed = False
    for let in lets.values():
        op = let.op
        owner = names.get(str(op.value)) if isinstance(op, ir.Item) else None
        if owner is None or owner.kind in (dict, Object) or not isinstance(op, ir.Item):
            continue
        ends = _ends(lets.get(str(op.index)))
        built = lets[str(op.value)].op
        if ends is not None and isinstance(built, ir.Build):
            let.op = ir.Build("tuple", built.items[ends], opened=True)
            kind = list if owner.kind is list else tuple
            names[let.target] = Structure(kind, (), owner.parts[ends])
            changed = True
    return changed


def _ends(let: ir.Let | None) -> slice | None:
    """The slice that a statement makes of constant bounds; None if it makes none."""
    if let is None or not isinstance(let.op, ir.Slice):
        return None
    ends = [end.value if isinstance(end, ir.Const) else end for end in let.op.ends()]
    return slice(*ends) if all(end is None or type(end) is int for end in ends) and ends[2] != 0 else None


def _gather(function: ir.Function, names: dict[str, Structure]) -> bool:
    """Turn each list filled by a comprehension that was unrolled into the tuple of its items, which counts as
    a container that is only read; a list that may be changed stays. Returns whether there was any.
    """
    lets, uses = {let.target: let for let in function.lets()}, use_counts(function)
    changed = {_changed_by(let.op) for let in lets.values()}
    gone: set[str] = set()
    for let in lets.values():
        if not isinstance(let.op, ir.Publish) or let.op.value in changed:
            continue
        chain = _chain(lets, str(let.op.value))
        if chain and all(uses[link.target] == 1 for link in chain[1:]):
            last = chain[0]
            items = tuple(link.op.item for link in reversed(chain[:-1]))  # type: ignore[attr-defined]
            last.op = ir.Build("tuple", items, opened=True)
            names[last.target] = Structure(list, (), (None,) * len(items))
            gone |= {let.target, *(link.target for link in chain[1:])}
    drop(function.body, gone)
    return bool(gone)


def _changed_by(op: ir.Op) -> ir.Atom | None:
    """The value that an operation may change: the target of a write, or the owner of a method called."""
    if isinstance(op, ir.Write):
        return op.target
    return op.function if isinstance(op, ir.Call) and op.method is not None else None


def _chain(lets: dict[str, ir.Let], name: str) -> list[ir.Let]:
    """The statements that fill a list, from the last back to its construction; empty for other values."""
    chain: list[ir.Let] = []
    while name in lets:
        let = lets[name]
        chain.append(let)
        if isinstance(let.op, ir.Build):
            return chain if let.op.kind == "list" and not let.op.items and len(chain) > 1 else []
        if not (isinstance(let.op, ir.Append) and let.op.hidden):
            return []
        name = str(let.op.value)
    return []


class _Opening:
    """Builds the containers at the beginning of a function, inner ones first."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.position = function.body[0].position
        self.lets: list[ir.Statement] = []
        self.names: dict[str, Structure] = {}

    def open(self, name: str, structure: Structure) -> list[str]:
        """Build a container under a name; returns the parameters that it is made of."""
        leaves: list[str] = []
        items: list[ir.Atom] = []
        labels = structure.keys or range(len(structure.parts))
        for label, part in zip(labels, structure.parts, strict=True):
            inner = self.function.fresh(_name(name, label))
            leaves += [inner] if part is None else self.open(inner, part)
            items.append(inner)
        if structure.kind in (dict, Object):
            pairs = zip(map(ir.Const, structure.keys), items, strict=True)
            build = ir.Build("dict", tuple(atom for pair in pairs for atom in pair), opened=True)
        else:
            build = ir.Build("tuple", tuple(items), opened=True)
        self.lets.append(ir.Let(self.position, name, build))
        self.names[name] = structure
        return leaves


def _name(container: str, label: Any) -> str:
    """The name of a part: `params_W` for `params["W"]`, `params_0` for `params[0]`."""
    return f"{container}_{label}" if f"_{label}".isidentifier() and str(label).isascii() else container


def settle(
    function: ir.Function, names: dict[str, Structure], callee_in: Callable[[ir.Function], Callee]
) -> set[str]:
    """Remove the containers that are not read, once all callees have been inlined; returns the parts that the
    function reads, even if its result does not depend on them. `callee_in` takes a function and returns a
    look-up of what its calls certainly call.

    Raises NotOpened if a list or dict is used in a way in which a tuple of its parts may behave differently,
    or a loop over items that were computed early (`ir.Sequence.early`) could not be unrolled.
    """
    _go_through(function, names)
    if any(leaf.early for s in function.statements() for leaf in sequences_of(s)):
        raise NotOpened  # Python might compute fewer items
    _Reads(function, names, callee_in).check()
    read = {str(handed.value) for handed in function.handed if not names.keys().isdisjoint(handed.atoms)}
    # A part that is not read is on no path to the result, though other parts of its container are.
    found = (
        replace(handed, atoms=tuple(atom for atom in handed.atoms if atom not in names), counts=True)
        for handed in function.handed
        if handed.value not in names
    )
    function.handed = [handed for handed in found if handed.atoms]
    drop_unread(function, set(names))
    prune(function)
    return read


class _Reads:
    """Checks what is done with the containers that are still read, and with values read from them."""

    def __init__(
        self,
        function: ir.Function,
        names: dict[str, Structure],
        callee_in: Callable[[ir.Function], Callee],
    ) -> None:
        self.function = function
        self._callee_in = callee_in
        self.statements = [
            s
            for s in function.statements()
            if not (isinstance(s, ir.Let) and isinstance(s.op, ir.Build) and s.op.opened)
        ]
        lets = [s for s in self.statements if isinstance(s, ir.Let)]
        self.slices = {s.target for s in lets if isinstance(s.op, ir.Slice)}
        self.names = names

    @functools.cached_property
    def _callee(self) -> Callee:
        return self._callee_in(self.function)

    def _is_read(self, op: ir.Op | None, name: str, structure: Structure) -> bool:
        """Whether an operation only reads the numbers and arrays in a container, or asks for its length."""
        if not isinstance(op, ir.Call) or op.args[:1] != (name,):
            return False
        callee, alone = self._callee(op), len(op.args) == 1 and not op.keywords
        if alone and (callee is len or callee is sum):
            return True
        of_numbers = (*CONSUMING, *RANKING, *(OF_NUMBERS if alone else ()), *(() if op.keywords else JOINING))
        # The `max` of containers is one of them, and so may be used further.
        return any(callee is one for one in of_numbers) and not any(structure.parts)

    def check(self) -> None:
        """Raise NotOpened unless all containers are only read. Tuples may be used in any way except for
        comparison by identity, since they are made again.
        """
        if any(isinstance(s, ir.Let) and _asks_which(s.op) for s in self.statements):
            raise NotOpened
        waiting = [(name, structure) for name, structure in self.names.items() if _has_others(structure)]
        seen: set[str] = set()
        while waiting:
            name, structure = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name == self.function.result:
                raise NotOpened
            for statement in self.statements:
                waiting += self._given_by(statement, name, structure)

    def _given_by(
        self, statement: ir.Statement, name: str, structure: Structure
    ) -> Iterator[tuple[str, Structure]]:
        """The other names that a statement gives to a container it reads, or to containers in it."""
        reads = [atom for atom in reads_of(statement) if atom == name]
        if not reads:
            return
        if structure.kind in (dict, Object):
            raise NotOpened  # reads by its keys or attributes have been replaced
        for leaf in sequences_of(statement):
            if leaf.value == name:
                reads.pop()
                yield from self._part(leaf.item, structure)
        if not reads:
            return
        op = statement.op if isinstance(statement, ir.Let) else None
        if len(reads) > 1 or not isinstance(statement, ir.Let):
            raise NotOpened
        if isinstance(op, ir.Item) and op.value == name and not op.for_update:
            if op.index in self.slices:
                yield statement.target, structure
            else:
                yield from self._part(statement.target, structure)
        elif isinstance(op, (ir.Unpack, ir.Move)):
            yield statement.target, structure
        elif not self._is_read(op, name, structure):
            raise NotOpened

    def _part(self, name: str, structure: Structure) -> Iterator[tuple[str, Structure]]:
        """The name for a part of a container, if its parts are containers; NotOpened unless all are alike."""
        inner = {part for part in structure.parts if part is not None}
        if not inner:
            return
        if len(inner) > 1 or None in structure.parts:
            raise NotOpened
        yield from ((name, part) for part in inner)


def _asks_which(op: ir.Op) -> bool:
    """Whether an operation asks whether two values, neither a constant, are the same object."""
    is_asked = isinstance(op, ir.Compare) and op.symbol in ("is", "is not")
    return is_asked and not any(isinstance(atom, ir.Const) for atom in op.operands())


def _has_others(structure: Structure) -> bool:
    """Whether a structure is, or contains, anything but tuples."""
    inner = (part for part in structure.parts if part is not None)
    return structure.kind is not tuple or any(map(_has_others, inner))
