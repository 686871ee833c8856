"""Which values a cotangent can reach: those that depend on an active argument and affect the result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ...rules.kinds import (
    ANY,
    BOOL,
    DICT,
    F8,
    FLOAT,
    FUNCTION,
    I8,
    INT,
    LIST,
    NONE,
    NUMERIC,
    REAL,
    SLICE,
    STR,
    Array,
    Known,
    Tuple,
    Type,
    any_part,
)
from ..base import ir
from ..base.liveness import joins_of, sequences_of
from .elements import changed_list
from .regions import Regions
from .types import Types

_FLOATS = (ANY, FLOAT, F8, REAL)
_NEVER = frozenset({BOOL, STR, NONE, SLICE})  # no value of these types carries a cotangent


_STILL = frozenset({ir.Compare, ir.Slice, ir.Format, ir.Load, ir.Publish, ir.Ask})
_CHANGING = frozenset({ir.Write, ir.Call, ir.Apply, ir.Augmented})


def flowing(op: ir.Op) -> tuple[ir.Atom, ...]:
    """The operands through which a cotangent of the result may flow on."""
    kind = type(op)
    if kind in _STILL:
        return ()
    if kind is ir.Binary:  # the most frequent kind
        return op.operands()
    if isinstance(op, ir.Item):
        return (op.value,)
    if isinstance(op, ir.Write):
        return (op.target, op.value)
    return op.operands()


class Activity:
    """Answers whether a name is active, for one choice of active arguments.

    `is_constant(op)` says that a call or an attribute is declared to have no derivative. What is put into a
    container flows to every name that may refer to it (`regions`). Even if no cotangent is wanted, `varied`
    says what varies, so that no such value is passed to code that is not followed.
    """

    def __init__(
        self,
        function: ir.Function,
        types: Types,
        regions: Regions,
        start: set[str],
        is_constant: Callable[[ir.Op], bool],
        wanted: bool = True,
    ) -> None:
        self._types = types
        self._regions = regions
        self._is_constant = is_constant
        self.apart: set[str] = set()  # names without cotangents of their own: these are kept elsewhere
        self.varied: set[str] = {name for name in start if types(name) not in _NEVER}
        self.useful: set[str] = set()
        handlers = [h for s in function.statements() if isinstance(s, ir.Try) for h in s.handlers]
        # Names assigned in exception handlers: never differentiated.
        self.handled = {inner.target for handler in handlers for inner in ir.lets(handler.body)}
        self._again = False  # whether a name was added that an earlier statement may read
        self._until_stable(lambda: self._vary(function.body))
        if wanted:
            self._use_all([function.result, *regions.visible()])
        self._until_stable(lambda: self._use_in_turn(function))

    def __call__(self, atom: ir.Atom) -> bool:
        """Like `reaches`, but False for a name whose cotangent is kept elsewhere (`apart`)."""
        return self.reaches(atom) and atom not in self.apart

    def reaches(self, atom: ir.Atom) -> bool:
        """Whether a cotangent of this value is wanted and may be nonzero."""
        return isinstance(atom, str) and atom in self.varied and atom in self.useful

    def _until_stable(self, step: Callable[[], None]) -> None:
        self._again = True
        while self._again:
            self._again = False
            step()

    def _join(self, statement: ir.Statement) -> bool:
        """Propagate varying values through the joins of a statement; returns whether any name was new."""
        found = {name for name, atoms in joins_of(statement) if not self.varied.isdisjoint(atoms)}
        news = not found <= self.varied
        self.varied |= found
        return news

    def _vary(self, block: ir.Block) -> None:
        for statement in block:
            if isinstance(statement, ir.Let):
                if statement.target not in self.varied and self._result_varies(statement):
                    self.varied.add(statement.target)
                if changes(statement.op) and self._changed_by(statement):
                    self._vary_region(statement)
                continue
            for leaf in sequences_of(statement):
                if leaf.value in self.varied and self._types(leaf.item) not in _NEVER:
                    self.varied.add(leaf.item)
            is_branch = isinstance(statement, ir.If)  # whose arms do not read the names joined after them
            self._again |= not is_branch and self._join(statement) and isinstance(statement, ir.Keep)
            for inner in ir.blocks(statement):
                self._vary(inner)
            self._again |= self._join(statement) and not is_branch
            if isinstance(statement, ir.Try):
                self._vary_slots(statement)

    def _vary_region(self, statement: ir.Let) -> None:
        """If a change involves a varying value, everything that may refer to the changed container varies."""
        if statement.op.source or not self.varied.isdisjoint(self._flowing(statement.op)):
            self.varied.add(statement.target)
            self._vary_also(self._changed_by(statement))

    def _changed_by(self, statement: ir.Let) -> Collection[str]:
        """The names of what an operation may change, its own among them; empty if it changes nothing."""
        op, effects = statement.op, self._regions.effects
        if statement.target in effects:
            return [statement.target, *self._regions.members(effects[statement.target][1])]
        changed = changed_list(op)
        if changed is None or not self._regions.stores(changed):
            return ()
        return self._regions.reached_by(changed)

    def _vary_slots(self, statement: ir.Try) -> None:
        """Whether a handler runs may depend on the arguments, so every variable it may set varies."""
        if any(s.target in self.varied for block in ir.blocks(statement) for s in ir.lets(block)):
            self._vary_also(slot.target for slot in statement.slots)

    def _vary_also(self, names: Iterable[str]) -> None:
        """Add varying names that earlier statements may have read."""
        size = len(self.varied)
        self.varied.update(names)
        self._again |= len(self.varied) > size

    def _result_varies(self, statement: ir.Let) -> bool:
        op = statement.op
        kind = self._types(statement.target)
        if kind in _NEVER or isinstance(kind, Known):
            return False
        if isinstance(op, ir.Write) or (isinstance(op, (ir.Call, ir.Attribute)) and self._is_constant(op)):
            return False  # a write has no result; its effect on others is treated as a change
        return op.source or not self.varied.isdisjoint(self._flowing(op))

    def _flowing(self, op: ir.Op) -> tuple[ir.Atom, ...]:
        """The operands through which a cotangent of the result may flow, given the types. A key counts if an
        author's object may make an item from it, or if it is a number or object used as a dict key, which can
        be read back.
        """
        if isinstance(op, ir.Item):
            by_key = self._types(op.value) == ANY and self._may_tell(op.index, _may_be_computed_with)
        elif isinstance(op, ir.Write):
            of_unknown = self._types(op.target) == ANY
            by_key = self._may_tell(op.key, _may_be_computed_with if of_unknown else _may_be_read_back)
        else:
            by_key = False
        return op.operands() if by_key else flowing(op)

    def _may_tell(self, key: ir.Atom, how: Callable[[Type], bool]) -> bool:
        return any_part(self._types(key), how)

    def _use_in_turn(self, function: ir.Function) -> None:
        """Propagate usefulness backwards once; inlined calls and container changes may need another round."""
        size = len(self.useful)
        for call in function.handed:
            if call.value in self.useful:  # the derivative of a number that a callee ignores is zero
                self._use_all(a for a in call.atoms if call.held or _is_never_idle(self._types(a)))
        self._use(function.body)
        if function.handed or self._regions.effects or self._types.written:
            self._again |= len(self.useful) > size

    def _use(self, block: ir.Block) -> None:
        for statement in reversed(block):
            if isinstance(statement, ir.Let):
                self._use_let(statement)
                continue
            self._use_joins(statement)
            for inner in reversed(ir.blocks(statement)):
                self._use(inner)
            self._again |= not isinstance(statement, ir.If) and self._use_joins(statement)
            for leaf in sequences_of(statement):
                if leaf.item in self.useful:
                    self._use_all([leaf.value])

    def _use_joins(self, statement: ir.Statement) -> bool:
        """Propagate usefulness through the joins of a statement; returns whether any name was new."""
        size = len(self.useful)
        for name, atoms in joins_of(statement):
            if name in self.useful:
                self._use_all(atoms)
        return len(self.useful) > size

    def _use_all(self, atoms: Iterable[ir.Atom]) -> None:
        self.useful.update([atom for atom in atoms if isinstance(atom, str)])

    def _use_let(self, statement: ir.Let) -> None:
        target, op = statement.target, statement.op
        if changes(op) and target not in self.useful:
            if not self.useful.isdisjoint(self._changed_by(statement)):
                self.useful.add(target)
        if target in self.useful and target in self.varied:
            self._use_all(self._flowing(op))


def _may_be_computed_with(key: Type) -> bool:
    """Whether an author's method may compute an item from a key of this type, or from something in it."""
    whole = key in (INT, I8) or (isinstance(key, Array) and key.dtype == "i8")
    return whole or _may_be_read_back(key)


def _may_be_read_back(key: Type) -> bool:
    """Whether the derivative of a dict key of this type, or of something in it, may be asked for."""
    if isinstance(key, Array):
        return key.dtype not in ("i8", "b1")
    return key in _FLOATS or key in (LIST, NUMERIC)


def mark_moved_slices(function: ir.Function, varied: set[str], types: Types) -> None:
    """Mark reads and writes of items by a slice with a varying bound. A slice carries no cotangent, so an
    owner of unknown type, perhaps an object of the author's, is checked at run time.
    """
    moved: set[ir.Atom] = set()
    for statement in function.lets():
        op = statement.op
        if type(op) is ir.Binary:  # the most frequent kind
            continue
        if isinstance(op, ir.Slice) or (isinstance(op, ir.Call) and types.callee(op) is slice):
            ends = op.ends() if isinstance(op, ir.Slice) else op.operands()
            if any(atom in varied and types(atom) in _FLOATS for atom in ends):
                moved.add(statement.target)
        elif isinstance(op, (ir.Build, ir.Move)):
            if not moved.isdisjoint(op.operands()):
                moved.add(statement.target)
        elif isinstance(op, ir.Item) and op.index in moved and types(op.value) == ANY:
            op.by_moved_slice = True
        elif isinstance(op, ir.Write) and op.key in moved and types(op.target) == ANY:
            op.by_moved_slice = True


def mark_asking(function: ir.Function, varied: set[str], types: Types) -> None:
    """Mark operations that may call a method of a varying value, if that may be, or contain, an object of the
    author's: tests, comparisons, formatting, indexing, dict and set keys, and calls that are not
    differentiated.
    """

    of_numbers = types.lists_of_numbers()

    def may_run(atom: ir.Atom) -> bool:
        return atom in varied and atom not in of_numbers and any_part(types(atom), _may_be_object)

    for statement in function.statements():
        if isinstance(statement, (ir.If, ir.While)):
            statement.asks |= statement.test in varied and types(statement.test) == ANY
        elif isinstance(statement, ir.Let):
            op = statement.op
            op.asks = op.asks or any(map(may_run, _asked(op)))


def _asked(op: ir.Op) -> Iterable[ir.Atom]:
    """The operands of an operation whose methods Python may call implicitly."""
    if type(op) is ir.Binary:  # the most frequent kind
        return op.operands() if op.operator == "mod" else ()  # `%` may format
    if isinstance(op, ir.Compare):
        return () if op.symbol.startswith("is") else op.operands()
    if isinstance(op, ir.Unary):
        return op.operands() if op.operator == "not_" else ()
    if isinstance(op, (ir.Format, ir.Collect)):
        return op.operands()
    if isinstance(op, ir.Write):
        return (op.key,)
    if isinstance(op, ir.Item):
        return (op.index,)
    if isinstance(op, ir.Slice):
        return op.ends()
    if isinstance(op, ir.Build):
        return {"dict": op.items[::2], "set": op.items}.get(op.kind, ())
    return op.operands()[1:] if isinstance(op, ir.Call) else ()


def _may_be_object(kind: Type) -> bool:
    return kind in (ANY, LIST, DICT, FUNCTION)


def changes(op: ir.Op) -> bool:
    """Whether an operation may change the objects that its operands refer to."""
    return type(op) in _CHANGING


def _is_never_idle(kind: Type) -> bool:
    """Whether the cotangent of a value of this kind is a number even if nothing flowed back to it. A tuple
    may contain such a value, and a value of unknown kind may be a tuple that was removed.
    """
    return kind in (FLOAT, F8, REAL, ANY) or isinstance(kind, Tuple)
