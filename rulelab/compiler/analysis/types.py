"""What is known about each value before the pass runs: a real scalar, an array with its dtype and dimension,
a known object."""

from __future__ import annotations

import functools
import operator
import types as python_types
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...python_facts import JOINING
from ...rules.kinds import (
    ANY,
    BOOL,
    CELL,
    DICT,
    F8,
    FLOAT,
    FUNCTION,
    I8,
    INT,
    LIST,
    NONE,
    NUMERIC,
    SLICE,
    STR,
    Array,
    Elements,
    Given,
    Known,
    Tuple,
    Type,
    are_floats,
    is_real,
    join,
    join_all,
    may_hold_list,
    signature_of,
    type_of_signature,
)
from ...rules.operator_kinds import (
    element_of,
    in_place,
    of_attribute,
    of_comparison,
    of_item,
    of_operator,
    of_unary,
)
from ...rules.results import parts_of, result_of
from ...rules.targets import resolve
from ...tangents.ranks import RANKING
from ..base import ir
from ..base.libraries import IMMORTAL
from ..base.liveness import joins_of, use_counts
from .elements import changed_list, lists_read_back, private_lists, written_lists


def type_of(value: Any) -> Type:
    """The type of a value, as far as the pass may rely on it under a guard."""
    if isinstance(
        value, (python_types.ModuleType, np.ufunc, python_types.MethodDescriptorType, type(np.sum))
    ):
        return Known(value)
    if isinstance(value, python_types.BuiltinFunctionType) and isinstance(
        value.__self__, (python_types.ModuleType, type(None))
    ):
        return Known(value)
    if isinstance(value, (type, python_types.FunctionType)):
        # A pass may not keep the author's functions and classes alive, so it assumes nothing about them.
        return (
            Known(value)
            if str(value.__module__).partition(".")[0] in IMMORTAL
            else type_of_signature(type(value))
        )
    return type_of_signature(signature_of(value))


class Types:
    """The type of every name of a lowered function."""

    def __init__(
        self, function: ir.Function, given: dict[str, Type], find_global: Callable[[str], Any]
    ) -> None:
        self._find_global = find_global
        self._ops = {statement.target: statement.op for statement in function.lets()}
        self._reads = _reads(function)
        self._joins: dict[str, list[ir.Atom]] = {}
        for statement in function.statements():
            for name, atoms in joins_of(statement):
                self._joins.setdefault(name, []).extend(atoms)
        unfit: set[str] = set()
        while True:  # until what is written to each list, and the index, are of kinds that fit
            self.of: dict[str, Type] = dict(given)
            self._lists = private_lists(function, self._only_reads, self._measures, self.makes_list, unfit)
            self.written = written_lists(function, self._lists)
            self.written |= lists_read_back(function, self._lists, self._measures, unfit)
            self._infer(function)
            misjudged = set(self._misjudged(function))
            if not misjudged:
                return
            unfit |= misjudged

    def _infer(self, function: ir.Function) -> None:
        """Go through the function until nothing new is learnt."""
        self._items: dict[str, Type] = {}  # the kind of the items of a private list, as far as known
        self._read_items: set[str] = set()  # the private lists whose items were asked for
        self._missed: set[str] = set()  # the names that were read before they had a type
        for _ in range(12):
            before = dict(self.of), dict(self._items)
            self._again = False  # whether something learnt may affect the types found earlier
            self._block(function.body)
            if not self._again or before == (self.of, self._items):
                return
        self._lists, self.written = {}, {}  # no fixed point in sight: assume nothing about what loops carry
        for statement in function.statements():
            for phi in getattr(statement, "carried", ()):
                self.of[phi.target] = ANY
        self._block(function.body)

    def _misjudged(self, function: ir.Function) -> Iterator[str]:
        """The names of written lists that are indexed by anything but whole numbers, may contain anything but
        real numbers, or come from an operation that may not make such a list.
        """
        for let in function.lets() if self.written else ():
            op = let.op
            if let.target in self.written and self.makes_list(op) and not self._makes_known(op):
                yield from (name for name, root in self.written.items() if root == self.written[let.target])
            elif (name := changed_list(op)) in self.written and name is not None:
                places = (op.key,) if isinstance(op, ir.Write) else ()
                whole = all(self(place) in (INT, I8) for place in places)
                if not whole or not is_real(self._items_of(name) or ANY):
                    yield name
            elif isinstance(op, ir.Append) and op.value in self.written:
                if not is_real(self._items_of(let.target) or ANY):
                    yield let.target
            elif isinstance(op, ir.Item) and op.value in self.written and self(op.index) not in (INT, I8):
                yield from (name for name, root in self.written.items() if root == self.written[op.value])

    def __call__(self, atom: ir.Atom) -> Type:
        if type(atom) is str:
            return self.of.get(atom, ANY)
        assert isinstance(atom, ir.Const)
        return ANY if atom.value is ir.UNBOUND else type_of(atom.value)

    def learn(self, let: ir.Let) -> None:
        """Update the types for a statement that is new or changed, or about whose operands more is known."""
        self._ops[let.target] = let.op
        self._let(let)

    def known(self, atom: ir.Atom) -> Any:
        """The object that an atom certainly is, or UNBOUND."""
        kind = self(atom)
        return kind.value if isinstance(kind, Known) else ir.UNBOUND

    def callee(self, op: ir.Call | ir.Apply) -> Any:
        """The function that a call certainly calls, if there is no self to pass; otherwise UNBOUND."""
        value = self.known(op.function)
        if op.method is None:
            return value
        if isinstance(value, (python_types.ModuleType, type)):
            return getattr(value, op.method, ir.UNBOUND)
        if isinstance(value, np.ufunc):  # its methods are new objects each time
            return resolve(getattr(value, op.method))[0] if hasattr(value, op.method) else ir.UNBOUND
        return ir.UNBOUND

    def given(self, atom: ir.Atom, depth: int = 4) -> Given:
        """What is known about an argument of a call: its kind, and perhaps its literal value or, to some
        depth, the items of a display.
        """
        kind, name = self(atom), atom
        if type(atom) is str and kind is not LIST and type(self._ops.get(atom)) in _TOLD_BY_KIND:
            return Given(kind)
        atom = self._origin(atom, ir.Move)
        if isinstance(atom, ir.Const):
            return Given(kind) if atom.value is ir.UNBOUND else Given(kind, atom.value)
        op = self._ops.get(atom)
        if isinstance(op, ir.Slice) and all(isinstance(end, ir.Const) for end in op.ends()):
            return Given(kind, slice(*[end.value for end in op.ends() if isinstance(end, ir.Const)]))
        unseen = atom == name and self._reads[atom] == 1  # so nothing else changes such a list
        if isinstance(op, ir.Build) and depth and (op.kind == "tuple" or (op.kind == "list" and unseen)):
            items = [self.given(item, depth - 1) for item in op.items]
            if not unseen:  # a list in it may be changed through it
                items = [Given(item.kind) if may_hold_list(item.kind) else item for item in items]
            return Given(kind, items=tuple(items))
        if kind == LIST and atom == name:
            each = self._each_of_list(atom)
            if each is None and (found := self._items_of(atom)) != ANY:
                each = found
            return Given(kind, each=each)
        if isinstance(op, ir.Attribute) and op.name == "dtype":
            owner = self(op.value)
            return Given(kind, np.dtype(owner.dtype)) if isinstance(owner, Array) else Given(kind)
        return Given(kind)

    def _origin(self, atom: ir.Atom, *passing: type) -> ir.Atom:
        """The atom that a value comes from, through operations that pass it on unchanged."""
        while isinstance(atom, str) and isinstance(op := self._ops.get(atom), passing):
            atom = op.value  # type: ignore[union-attr]  # all operations in `passing` have a value
        return atom

    def _each_of_list(self, atom: str) -> Type | None:
        """The kind of the items of a list built item by item and read once when complete; None for others."""
        built = self._built(atom)
        if built is None:
            return None
        kinds = list(map(self._maybe, built[1]))
        self._again = self._again or None in kinds
        return join_all(kind for kind in kinds if kind is not None)

    def are_numbers(self, atom: ir.Atom) -> bool:
        """Whether a value is certainly a real number, or a tuple or private list of only such numbers."""
        kind = self(atom)
        if isinstance(kind, Tuple):
            return all(map(is_real, kind.items))
        return is_real(kind) or (kind == LIST and is_real(self._items_of(atom) or ANY))

    def summed(self) -> Iterator[tuple[str, set[str]]]:
        """For each sum of a list of real numbers that is built item by item and read nowhere else, or of a
        tuple of such numbers that is read nowhere else: the name of the sum, and the names of the list.
        """
        for target, op in self._ops.items():
            if not isinstance(op, ir.Call) or op.method is not None or self.callee(op) is not sum:
                continue
            if op.keywords or len(op.args) != 1:
                continue
            built = self._built(str(op.args[0])) if self(op.args[0]) == LIST else self._packed(op.args[0])
            if built is not None and all(is_real(self(item)) for item in built[1]):
                yield target, built[0]

    def _packed(self, atom: ir.Atom) -> tuple[set[str], tuple[ir.Atom, ...]] | None:
        """The name and the items of a tuple made by a display and read once; None for others."""
        op = self._ops.get(str(atom))
        alone = isinstance(op, ir.Build) and op.kind == "tuple" and self._reads[atom] == 1
        return ({str(atom)}, op.items) if alone else None  # type: ignore[union-attr]

    def arrayed(self) -> Iterator[tuple[str, set[str]]]:
        """For each float64 array made from a list of numbers, or of arrays stacked along the first axis, that
        is built item by item and read nowhere else: the name of the array, and the names of the list.
        """
        for target, op in self._ops.items():
            if not isinstance(op, ir.Call) or op.keywords or len(op.args) != 1 or self(op.args[0]) != LIST:
                continue
            kind = self(target)
            if not isinstance(kind, Array) or kind.dtype != "f8":
                continue
            if not any(self.callee(op) is known for known in _OF_ITEMS):
                continue
            built = self._built(str(op.args[0]))
            if built is None or any(getattr(self._ops.get(name), "items", ()) for name in built[0]):
                continue
            item = Array("f8", kind.ndim - 1)
            if all(is_real(self(x)) if kind.ndim == 1 else self(x) == item for x in built[1]):
                yield target, built[0]

    def lists_of_numbers(self) -> set[str]:
        """The names of private lists that contain only real numbers, or arrays of them."""
        private = {name for name in self._lists if is_real(self._items_of(name) or ANY)}
        return private.union(*(names for _, names in (*self.summed(), *self.arrayed())))

    def lists_of_texts(self) -> set[str]:
        """The names of private lists that contain only strings."""
        return {name for name in self._lists if self._items_of(name) == STR}

    def method(self, op: ir.Call) -> Any:
        """The method that a call certainly calls with its object: of an array, a NumPy scalar, or a literal
        string that joins the strings in a private list; else UNBOUND.
        """
        if _is_join(op) and self(op.args[0]) == LIST and self._items_of(op.args[0]) == STR:
            return str.join
        return method_of(self(op.function), op.method)

    def _built(self, atom: str) -> tuple[set[str], list[ir.Atom]] | None:
        """The names and items of a list built item by item and read once besides `len`; None for others."""
        names, found, items, inner = [atom], {atom}, list[ir.Atom](), 0
        for name in names:  # which grows in the loop
            op, sources = self._ops.get(name), self._joins.get(name, [])
            if isinstance(op, ir.Append):
                items.append(op.item)
                sources = [op.value]
            elif isinstance(op, ir.Build) and op.kind == "list":
                items += op.items
            elif not sources:
                return None
            inner += len(sources)
            if not all(isinstance(source, str) for source in sources):
                return None
            for source in sources:
                if source not in found:
                    names.append(str(source))
                    found.add(str(source))
        if sum(self._reads[name] - self._measured[name] for name in found) != inner + 1:
            return None  # something else may see it, and change it
        return found, items

    @functools.cached_property
    def _measured(self) -> Counter[Any]:
        """How often each name is passed to `len`."""
        calls = [op for op in self._ops.values() if isinstance(op, ir.Call) and op.method is None]
        plain = [op for op in calls if len(op.args) == 1 and not op.keywords]
        return Counter(op.args[0] for op in plain if self._loads(op.function, len))

    def _loads(self, atom: ir.Atom, function: object) -> bool:
        """Whether an atom is certainly this builtin function, read by its name."""
        return self._from_outside(atom) is function

    def _from_outside(self, atom: ir.Atom) -> Any:
        """The object that a global or captured variable refers to, or UNBOUND for any other atom."""
        if not isinstance(atom, str):
            return ir.UNBOUND
        load = self._ops.get(atom)
        return self._find_global(load.name) if isinstance(load, ir.Load) else self.known(atom)

    def _maybe(self, atom: ir.Atom) -> Type | None:
        """The type as far as known in this round; None for a name not reached yet, and for UNBOUND."""
        if isinstance(atom, ir.Const):
            return None if atom.value is ir.UNBOUND else type_of(atom.value)
        if atom not in self.of:
            self._missed.add(atom)
        return self.of.get(atom)

    def _block(self, block: ir.Block) -> None:
        for statement in block:
            if isinstance(statement, ir.Let):
                self._let(statement)
                continue
            news = self._join(statement)
            if isinstance(statement, ir.Keep):
                self._again |= news
            elif isinstance(statement, ir.For):
                self._iteration(statement.iteration)
            elif isinstance(statement, ir.Try):
                self.of.update((handler.name, ANY) for handler in statement.handlers if handler.name)
            for inner in ir.blocks(statement):
                self._block(inner)
            news = self._join(statement)
            self._again |= news and not isinstance(statement, ir.If)  # whose arms do not read its joins

    def _let(self, statement: ir.Let) -> None:
        atoms = statement.op.operands()
        if not all(isinstance(atom, ir.Const) or atom in self.of for atom in atoms):
            self._again = True
            return
        self._note_items(statement)
        kind = self._result(statement.op)
        if statement.target in self.written and self.makes_list(statement.op):
            kind = LIST
        if kind is not None:
            self.of[statement.target] = kind

    def _note_items(self, statement: ir.Let) -> None:
        """Record what is put into a private list as one of its items."""
        op = statement.op
        group = self._lists.get(changed_list(op) or statement.target)
        if group is None:
            return
        for kind in self._put_in(op):
            before = self._items.get(group)
            self._items[group] = join(before, kind)
            self._again |= group in self._read_items and self._items[group] != before

    def _put_in(self, op: ir.Op) -> Iterator[Type]:
        """The kinds of what an operation puts into the list that it makes or changes."""
        if isinstance(op, (ir.Append, ir.Write)):
            yield self(op.operands()[-1])
        elif isinstance(op, ir.Call) and op.method is not None:
            yield from map(self, op.args)
        elif isinstance(op, ir.Call):
            kind = self(op.args[0])
            yield from kind.items if isinstance(kind, Tuple) else (element_of(kind),)
        else:
            made = self._ops.get(self.repeated(op) or "") if isinstance(op, ir.Binary) else op
            yield from map(self, made.items if isinstance(made, ir.Build) else ())

    def makes_list(self, op: ir.Op) -> bool:
        """Whether an operation is `[a, b] * n`, where nothing else reads the display, or `list(xs)`."""
        if isinstance(op, ir.Binary):
            return op.operator == "mul" and self.repeated(op) is not None
        plain = isinstance(op, ir.Call) and op.method is None and len(op.args) == 1 and not op.keywords
        return plain and (is_copy(op) or self._loads(op.function, list))  # type: ignore[attr-defined]

    def repeated(self, op: ir.Binary) -> str | None:
        """The name of the display in `[a, b] * n`."""
        for atom in (op.left, op.right):
            build = self._ops.get(atom) if isinstance(atom, str) else None
            if isinstance(build, ir.Build) and build.kind == "list" and self._reads[atom] == 1:
                return str(atom)
        return None

    def displays(self) -> dict[str, tuple[str, tuple[ir.Atom, ...]]]:
        """For each list that is changed and begins as `[a, b] * n`: the display's name, and its items."""
        made = {name: self._ops[name] for name in self.written if name in self._ops}
        names = {name: self.repeated(op) for name, op in made.items() if isinstance(op, ir.Binary)}
        return {name: (its, self._ops[its].operands()) for name, its in names.items() if its is not None}

    def _makes_known(self, op: ir.Op) -> bool:
        """Whether an operation that `makes_list` certainly does: for `list(xs)`, a list of real numbers."""
        if isinstance(op, ir.Binary):
            return INT in (self(op.left), self(op.right))
        kind = self(op.operands()[-1])
        return kind == Array("f8", 1) or (isinstance(kind, Tuple) and all(map(is_real, kind.items)))

    def _items_of(self, atom: ir.Atom) -> Type | None:
        """The kind of the items of a list; None if none has been reached yet."""
        group = self._lists.get(atom) if isinstance(atom, str) else None
        if group is None:
            return ANY
        self._read_items.add(group)
        return self._items.get(group)

    def _only_reads(self, op: ir.Call) -> bool:
        """Whether a call is to a function that neither changes nor keeps a list passed to it."""
        called = self._from_outside(op.function) if isinstance(op.function, str) else self.known(op.function)
        if op.method is not None:
            if _is_join(op):
                return True
            called = getattr(called, op.method, None) if isinstance(called, python_types.ModuleType) else None
        return any(called is function for function in _GOING_THROUGH) or (
            isinstance(called, python_types.FunctionType | type(len)) and called in JOINING
        )

    def _measures(self, op: ir.Call) -> bool:
        """Whether a call has a list for its only argument, and goes through it: `len`, `sum`, `np.array`."""
        return len(op.args) == 1 and not op.keywords and self._only_reads(op)

    def sums(self, op: ir.Op) -> bool:
        """Whether an operation is `sum(xs)` or `len(xs)`."""
        plain = isinstance(op, ir.Call) and op.method is None and len(op.args) == 1 and not op.keywords
        return plain and (self._loads(op.function, len) or self._loads(op.function, sum))  # type: ignore[attr-defined]

    def add_copy(self, let: ir.Let, owner: str) -> None:
        """Record a copy of a private list, which contains the same items."""
        self.of[let.target], self._ops[let.target] = LIST, let.op
        self._lists[let.target] = self._lists[owner]

    def _join(self, statement: ir.Statement) -> bool:
        """Give each name at a join a type that covers all values known so far. Returns whether a type changed
        that had already been read.
        """
        news = False
        for name, atoms in joins_of(statement):
            before = self.of.get(name)
            for kind in map(self._maybe, atoms):
                if kind is not None:
                    self.of[name] = join(self.of.get(name), kind)
            told = before is not None or name in self._missed
            news = news or (told and self.of.get(name) != before)
        return news

    def _iteration(self, iteration: ir.Iteration) -> None:
        self.of.update(dict.fromkeys(ir.counters(iteration), INT))
        for leaf in ir.leaves(iteration):
            kind = INT if isinstance(leaf, ir.Count) else self._handed_out(leaf.value)
            if kind is not None:
                self.of[leaf.item] = kind
            else:
                self._again = True

    def _handed_out(self, atom: ir.Atom) -> Type | None:
        """The kind of the items of a sequence, as far as known in this round."""
        kind = self._maybe(atom)
        if isinstance(kind, Elements):
            return FLOAT
        return self._items_of(atom) if kind == LIST else None if kind is None else element_of(kind)

    # -- operations ------------------------------------------------------------------------------------------

    def _result(self, op: ir.Op) -> Type | None:
        method = getattr(self, f"_of_{type(op).__name__.lower()}", None)
        return _CERTAIN.get(type(op), ANY) if method is None else method(op)

    def _of_load(self, op: ir.Load) -> Type:
        value = self._find_global(op.name)
        return ANY if value is ir.UNBOUND else type_of(value)

    def _of_move(self, op: ir.Move | ir.Indexable) -> Type:
        return self(op.value)

    def _of_elements(self, op: ir.Elements) -> Type:
        kind = self(op.value)
        if op.of_number:
            return FLOAT
        assert isinstance(kind, Array)
        return Elements(kind.dtype, kind.ndim)

    def _of_binary(self, op: ir.Binary) -> Type:
        if op.real and are_floats(self(op.left), self(op.right)):
            return FLOAT
        return of_operator(getattr(operator, op.operator), self.given(op.left), self.given(op.right))

    def _of_augmented(self, op: ir.Augmented) -> Type:
        return in_place(getattr(operator, op.operator), self.given(op.left), self.given(op.right))

    def _of_unary(self, op: ir.Unary) -> Type:
        return of_unary(getattr(operator, op.operator), self(op.value))

    def _of_compare(self, op: ir.Compare) -> Type:
        compare = _COMPARISONS.get(op.symbol)
        return BOOL if compare is None else of_comparison(compare, self(op.left), self(op.right))

    def _of_attribute(self, op: ir.Attribute) -> Type:
        owner = self(op.value)
        if isinstance(owner, Known) and isinstance(owner.value, (python_types.ModuleType, type)):
            value = getattr(owner.value, op.name, ir.UNBOUND)
            return ANY if value is ir.UNBOUND else type_of(value)
        return of_attribute(owner, op.name)

    def _of_item(self, op: ir.Item) -> Type | None:
        if self(op.value) == LIST:
            return self._items_of(op.value) if self(op.index) in (INT, I8) else ANY
        if isinstance(self(op.value), Elements):
            return FLOAT
        return of_item(Given(self(op.value), items=self._parts(op.value)), self.given(op.index))

    def _parts(self, atom: ir.Atom) -> tuple[Given, ...] | None:
        """The items of a named tuple returned by a NumPy function, possibly through an unpacking."""
        atom = self._origin(atom, ir.Move, ir.Unpack)
        op = self._ops.get(atom) if isinstance(atom, str) else None
        callee = self.callee(op) if isinstance(op, ir.Call) else ir.UNBOUND
        if callee is ir.UNBOUND or not isinstance(op, ir.Call):
            return None
        words = {name: self.given(given) for name, given in op.keywords}
        kinds = parts_of(callee, [self.given(given) for given in op.args], words)
        return None if kinds is None else tuple(map(Given, kinds))

    def _of_build(self, op: ir.Build) -> Type:
        if op.kind == "tuple":
            return Tuple(tuple(map(self, op.items)))
        return {"list": LIST, "dict": DICT}.get(op.kind, ANY)

    def _of_unpack(self, op: ir.Unpack) -> Type:
        kind = self(op.value)
        if isinstance(kind, Array):
            return kind
        fits = isinstance(kind, Tuple) and (op.or_more or len(kind.items) == op.count)
        return kind if fits else ANY

    def _of_ask(self, op: ir.Ask) -> Type:
        answer = getattr(op.function, "__annotations__", {}).get("return", "")
        return {"bool": BOOL, "str": STR}.get(answer, ANY)

    _of_indexable = _of_move

    def _of_call(self, op: ir.Call) -> Type | None:
        if isinstance(op.function, ir.Const) and ir.gives_pair(op.function.value):
            return Tuple((ANY, ANY))
        if op.function in self.written and changed_list(op) is not None:
            return NONE if op.args else self._items_of(op.function)
        args, callee = [self.given(atom) for atom in op.args], self.callee(op)
        if callee is ir.UNBOUND:
            owner = self.given(op.function)
            callee = method_of(owner.kind, op.method)
            if callee is ir.UNBOUND and owner.kind != NUMERIC:
                return ANY
            if callee is ir.UNBOUND:
                callee = getattr(np.ndarray, op.method or "", None)
            args = [owner, *args]
        return result_of(callee, args, {name: self.given(atom) for name, atom in op.keywords})


def _is_join(op: ir.Call) -> bool:
    """Whether a call is `"...".join(items)`."""
    on_text = isinstance(op.function, ir.Const) and type(op.function.value) is str
    return on_text and op.method == "join" and len(op.args) == 1 and not op.keywords


def method_of(owner: Type, name: str | None) -> Any:
    """The method of that name that an array or a NumPy scalar certainly has; else UNBOUND."""
    if owner == F8 and name == "item":
        return np.generic.item
    return getattr(np.ndarray, name or "", ir.UNBOUND) if isinstance(owner, Array) else ir.UNBOUND


# Builtin functions that read a list from end to end, and neither change nor keep it.
_GOING_THROUGH = (len, sum, max, min, *RANKING)


def is_copy(op: ir.Op) -> bool:
    """Whether an operation copies a list for a function that may keep it (`Types.add_copy`)."""
    return isinstance(op, ir.Call) and isinstance(op.function, ir.Const) and op.function.value is list


def _reads(function: ir.Function) -> Counter[Any]:
    """How often each name is read; a `Publish` does not count."""
    published = [let.op.value for let in function.lets() if isinstance(let.op, ir.Publish)]
    counts = use_counts(function)
    counts.subtract(published)
    return counts


_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_OF_ITEMS = (np.array, np.asarray, np.stack)  # making an array with a row, or a number, for each item
# Operations whose results are known by kind only; None represents parameters and joins.
_TOLD_BY_KIND = {type(None), ir.Binary, ir.Unary, ir.Augmented, ir.Compare, ir.Call, ir.Item}
_CERTAIN: dict[type, Type] = {
    ir.Append: LIST,
    ir.Collect: DICT,
    ir.Format: STR,
    ir.MakeCell: CELL,
    ir.MakeFunction: FUNCTION,
    ir.Publish: NONE,
    ir.Slice: SLICE,
}
