"""The intermediate form: single assignment, one operation per statement, branches and loops kept as such."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, ClassVar

from ...errors import Place
from ...tangents.holding import UNBOUND as UNBOUND
from .source import Source


class Position(tuple):
    """(line, end line, column, end column) in the author's source."""

    def place_in(self, source: Source) -> Place:
        """The place shown in messages: in this source, unless the position has a place of its own."""
        return source.place_at(*self)


class PositionInlined(Position):
    """The position of emitted code for a statement of an inlined function, which also has its own place."""

    place: Place

    @classmethod
    def at(cls, position: Position, place: Place) -> PositionInlined:
        made = cls(position)
        made.place = place
        return made

    def place_in(self, source: Source) -> Place:
        return self.place


@dataclass(frozen=True, eq=False)
class Const:
    """A literal or an object known when the pass is compiled."""

    value: Any


Atom = str | Const  # a name that is assigned once, or a constant


def gives_pair(function: Any) -> bool:
    """Whether a callee is one of our functions that return a pair, as its attribute `gives_pair` declares.
    For an object its class is asked, since the object's own attributes may be anything.
    """
    says = function if isinstance(function, FunctionType) else type(function)
    return bool(getattr(says, "gives_pair", False))


# --- operations ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Op:
    source = False  # set if the result may vary although no operand does (`watching`)
    asks = False  # set if it may run methods of varying author's objects (`activity.mark_asking`)
    reads: ClassVar[Any]  # returns the fields that are atoms

    def __init_subclass__(cls) -> None:
        names = [name for name, kind in inspect.get_annotations(cls).items() if kind == "Atom"]
        read = operator.attrgetter(*names) if names else lambda _: ()
        cls.reads = staticmethod(read if len(names) != 1 else lambda op: (read(op),))

    def operands(self) -> tuple[Atom, ...]:
        """Every atom the operation reads, in evaluation order: by default the fields that are atoms."""
        return self.reads(self)


@dataclass(eq=False)
class Load(Op):
    """A global or builtin name."""

    name: str


@dataclass(eq=False)
class Move(Op):
    """The value itself under another name; `checked` names a variable that may be unbound."""

    value: Atom
    checked: str | None = None


@dataclass(eq=False)
class Binary(Op):
    operator: str  # name in the module `operator`
    left: Atom
    right: Atom
    # Of a power of Python's floats: it raises where `**` would turn complex.
    real: bool = field(default=False, kw_only=True)


@dataclass(eq=False)
class Augmented(Op):
    """`left op= right`; a rebinding if `owned`, since the difference cannot be seen. Otherwise this is known
    at run time: it is a rebinding if `left` was just read from an item (`of_item`) and is new, or if `left`
    is an array that comes from a checked copy (`of_copy`).
    """

    operator: str
    left: Atom
    right: Atom
    owned: bool
    of_item: bool = False
    of_copy: bool = False


@dataclass(eq=False)
class Unary(Op):
    operator: str
    value: Atom


@dataclass(eq=False)
class Compare(Op):
    """A comparison, identity or membership test: the result carries no cotangent."""

    symbol: str
    left: Atom
    right: Atom


@dataclass(frozen=True)
class Field:
    """The name of an attribute as the key of an object's part; it is not equal to any string."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Attribute(Op):
    value: Atom
    name: str


@dataclass(eq=False)
class Item(Op):
    """`value[index]`; `for_update` says that it is read for `value[index] op= ...` and has no other name.

    `by_moved_slice` says that a slice in the index may have a varying bound, which an author's class may
    read (`activity.mark_moved_slices`).
    """

    value: Atom
    index: Atom
    for_update: bool = False
    by_moved_slice: bool = False


@dataclass(eq=False)
class Slice(Op):
    """`lower:upper:step` in `owner[...]`; the owner determines whether objects among the bounds are used as
    positions.
    """

    lower: Atom
    upper: Atom
    step: Atom
    owner: Atom = Const(None)

    def ends(self) -> tuple[Atom, ...]:
        return (self.lower, self.upper, self.step)

    def operands(self) -> tuple[Atom, ...]:
        known = all(isinstance(end, Const) for end in self.ends())
        return self.ends() if known else (*self.ends(), self.owner)


@dataclass(eq=False)
class Build(Op):
    """A display: tuple, list, dict (keys and values alternate) or set. A `handed` one is a tuple of arguments
    that nothing else refers to; an `opened` one represents an argument whose parts are parameters.
    """

    kind: str
    items: tuple[Atom, ...]
    handed: bool = False
    opened: bool = False

    def operands(self) -> tuple[Atom, ...]:
        return self.items


@dataclass(eq=False)
class Unpack(Op):
    """The value as a sequence of exactly `count` items (or at least that many with `or_more`, for a starred
    target); otherwise Python's own error.
    """

    value: Atom
    count: int
    or_more: bool = False


@dataclass(eq=False)
class Call(Op):
    """`function(*args, **kwargs)`; with `method` set, a call of that method of the object `function`."""

    function: Atom
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...] = ()
    method: str | None = None
    starred: bool = False  # whether it comes from `function(*args)`

    def operands(self) -> tuple[Atom, ...]:
        return (self.function, *self.args, *(atom for _, atom in self.keywords))


@dataclass(eq=False)
class Apply(Op):
    """`function(*args, **keywords)` with a tuple and a dict; `method` is as in Call."""

    function: Atom
    args: Atom
    keywords: Atom
    method: str | None = None


@dataclass(eq=False)
class Collect(Op):
    """A container made from others; `kind` is a name in `collecting`, which has the function and its rule."""

    kind: str
    items: tuple[Atom, ...]

    def operands(self) -> tuple[Atom, ...]:
        return self.items


@dataclass(eq=False)
class Ask(Op):
    """A question of the compiler about values, whose answer carries no cotangent; the function's annotation
    gives its type.
    """

    function: Callable[..., Any]
    items: tuple[Atom, ...]

    def operands(self) -> tuple[Atom, ...]:
        return self.items


@dataclass(eq=False)
class Append(Op):
    """The list with one more item; the list belongs to this function and nothing else refers to it.

    The list of a comprehension is `hidden`: nothing can refer to it until it is complete.
    """

    value: Atom
    item: Atom
    hidden: bool = False


@dataclass(eq=False)
class Publish(Op):
    """Marks a list, dict or set as complete: from here on others may refer to it and change it."""

    value: Atom


@dataclass(eq=False)
class Indexable(Op):
    """The iterable of a loop as a sequence with positions: the value itself, or a tuple of its items."""

    value: Atom


@dataclass(eq=False)
class Elements(Op):
    """The numbers of a float64 array, each read as a Python float; with `of_number`, a scalar as a float."""

    value: Atom
    of_number: bool = False


@dataclass(eq=False)
class MakeCell(Op):
    """A variable that is rebound while nested functions see it, with its first value."""

    value: Atom


@dataclass(eq=False)
class ReadCell(Op):
    """The current value of a variable in a cell; `name` is the author's name for it, `free` says that it
    belongs to another function.
    """

    cell: Atom
    name: str
    free: bool

    def operands(self) -> tuple[Atom, ...]:
        return (self.cell, Const(self.name), Const(self.free))


@dataclass(eq=False)
class MakeFunction(Op):
    """A nested function or lambda: its code, default values and captured variables.

    `captured` has pairs (name in the nested function, value); the function's own name maps to Const(UNBOUND).
    For names in `cells` the value is the cell.
    """

    code: Any
    captured: tuple[tuple[str, Atom], ...]
    cells: frozenset[str]
    defaults: tuple[Atom, ...]
    keyword_defaults: tuple[tuple[str, Atom], ...]

    def operands(self) -> tuple[Atom, ...]:
        return (*(a for _, a in self.captured), *self.defaults, *(a for _, a in self.keyword_defaults))


@dataclass(eq=False)
class Format(Op):
    """An f-string: literal pieces and (value, conversion, format spec) triples."""

    parts: tuple[tuple[Atom, int, Atom], ...]

    def operands(self) -> tuple[Atom, ...]:
        return tuple(a for value, _, spec in self.parts for a in (value, spec))


@dataclass(eq=False)
class Write(Op):
    """An assignment to a part of an array, container or object: executed or refused at run time."""

    kind: str  # "item" | "attribute" | "cell" | "delete item" | "delete attribute"
    target: Atom
    key: Atom
    value: Atom
    owned: bool = False  # nothing else has or has read the target, so a constant may be written
    by_moved_slice: bool = False  # as in Item


# --- statements ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Statement:
    has_blocks: ClassVar[bool] = False  # whether it contains statements
    position: Position


@dataclass(eq=False)
class Let(Statement):
    target: str
    op: Op


@dataclass(eq=False)
class Phi:
    """A name that gets its value at a join, with one source for each incoming path."""

    target: str
    sources: list[Atom]


Block = list[Statement]


@dataclass(eq=False)
class If(Statement):
    has_blocks = True
    test: Atom
    then: Block
    orelse: Block
    outs: list[Phi]
    asks: bool = False  # as in Op, for the test


@dataclass(eq=False)
class Sequence:
    """The items of `value`, in order (from the last if `backwards`), bound to `item`. With `early`, it is the
    list of the items of a generator expression, which Python would compute one by one.
    """

    value: Atom
    item: str
    backwards: bool = False
    early: bool = False


@dataclass(eq=False)
class Count:
    """The items of range(*args), bound to `item`."""

    args: tuple[Atom, ...]
    item: str


@dataclass(eq=False)
class Positions(Count):
    """The positions in the only argument, a sequence that may grow or shrink during the loop."""

    backwards: bool = False


@dataclass(eq=False)
class Zipped:
    parts: list[Any]
    strict: bool = False


@dataclass(eq=False)
class Enumerated:
    counter: str
    start: Atom
    part: Any


Iteration = Sequence | Count | Zipped | Enumerated


def parts(iteration: Iteration) -> Iterator[Iteration]:
    """An iteration and all the iterations it consists of."""
    yield iteration
    inner = [iteration.part] if isinstance(iteration, Enumerated) else getattr(iteration, "parts", ())
    for part in inner:
        yield from parts(part)


def leaves(iteration: Iteration) -> list[Sequence | Count]:
    """The sequences and ranges that an iteration goes through."""
    return [part for part in parts(iteration) if isinstance(part, (Sequence, Count))]


def counters(iteration: Iteration) -> list[str]:
    """The counters in an iteration."""
    return [part.counter for part in parts(iteration) if isinstance(part, Enumerated)]


def with_leaves(iteration: Iteration, change: Callable[[Sequence | Count], Iteration]) -> Iteration:
    """The iteration with each leaf replaced by `change(leaf)`."""
    if isinstance(iteration, Zipped):
        return Zipped([with_leaves(part, change) for part in iteration.parts], iteration.strict)
    if isinstance(iteration, Enumerated):
        return Enumerated(iteration.counter, iteration.start, with_leaves(iteration.part, change))
    return change(iteration)


@dataclass(eq=False)
class For(Statement):
    """`carried` has (name, [value before, value after an iteration]); `stop` ends the loop after an
    iteration. With `generates`, the loop is a generator expression in which StopIteration may be raised,
    which Python turns into RuntimeError.
    """

    has_blocks = True
    iteration: Iteration
    body: Block
    carried: list[Phi]
    stop: Atom | None
    generates: bool = False


@dataclass(eq=False)
class While(Statement):
    has_blocks = True
    head: Block
    test: Atom
    body: Block
    carried: list[Phi]
    stop: Atom | None
    asks: bool = False  # as in Op, for the test


@dataclass(eq=False)
class Handler:
    """One `except` of emitted code. If the author's exception classes are computed, it represents several
    clauses, at the positions `clauses`, and `chosen` is the number of the one that ran, counted from one.
    """

    position: Position
    kinds: str | None  # source of the exception classes, None for a bare except
    name: str | None
    body: Block
    values: list[Atom]  # what each slot holds after this handler
    unwinds: bool = False  # runs code that must run however the block is left, even by our own refusals
    clauses: tuple[Position, ...] = ()
    chosen: Atom | None = None


@dataclass(eq=False)
class Try(Statement):
    """`slots` are variables whose latest value is kept throughout the block, so that a handler finds it."""

    has_blocks = True
    body: Block
    handlers: list[Handler]
    slots: list[Phi]  # sources: [value before, value after the body]


@dataclass(eq=False)
class Keep(Statement):
    """Inside a try block: stores the new value of a variable in its slot."""

    slot: str
    value: Atom


@dataclass(eq=False)
class Raise(Statement):
    error: Atom | None
    cause: Atom | None


@dataclass(frozen=True)
class Handed:
    """An inlined call: its result `value` and its arguments `atoms`. The arguments count as used if the
    result is, even if no cotangent flows to them. `call` is the place of the call, if it matters. `counts`
    is False for `f(*args)`: there the tuple counts as used, and its items only if a cotangent flows to them.
    With `held`, the value was an item of a container that held the atoms: these count whatever their kinds.
    """

    value: Atom
    atoms: tuple[Atom, ...]
    call: Any = None
    counts: bool = True
    held: bool = False


@dataclass(eq=False)
class Function:
    """A lowered function."""

    name: str
    parameters: list[str]  # single-assignment names, in the order of the code object's arguments
    positional: int
    keyword_only: int
    free: list[str]  # names of captured variables, in the order of co_freevars
    cells: frozenset[str]  # captured variables that are rebound while this function may run
    body: Block
    result: Atom
    fresh: Callable[[str], str]  # makes a name that no other value has
    reserved: set[str] = field(default_factory=set)  # names the emitted code must not take
    locals: frozenset[str] = frozenset()  # the author's variables, including captured ones
    assumed: dict[str, Any] = field(default_factory=dict)  # builtins whose meaning the lowering relied on
    readers: dict[str, Any] = field(default_factory=dict)  # functions whose source was relied on, by name
    handed: list[Handed] = field(default_factory=list)
    # For free names read from a captured function: that function's name, and the attribute it is read from.
    within: dict[str, tuple[str, str]] = field(default_factory=dict)
    # In a tangent: the values to which nothing is written that varies, and their tangents.
    resting: frozenset[str] = frozenset()
    _settled: list[Statement] | None = field(default=None, init=False)  # a copy is never settled
    _settled_lets: list[Let] | None = field(default=None, init=False)

    def statements(self) -> list[Statement]:
        """Every statement, outer before inner."""
        return walk(self.body) if self._settled is None else self._settled

    def lets(self) -> list[Let]:
        """Every operation, in source order."""
        if self._settled_lets is None:
            return [statement for statement in self.statements() if isinstance(statement, Let)]
        return self._settled_lets

    def settle(self) -> None:
        """Declare that no statement will be added or removed, so that the lists of all can be shared."""
        self._settled = walk(self.body)
        self._settled_lets = [statement for statement in self._settled if isinstance(statement, Let)]


def walk(block: Block) -> list[Statement]:
    """Every statement of a block, outer before inner."""
    found, start = [], 0
    for statement in [one for one in block if one.has_blocks]:
        end = block.index(statement, start) + 1
        found += block[start:end]
        for inner in blocks(statement):
            found += walk(inner)
        start = end
    return found + block[start:]


def lets(block: Block) -> list[Let]:
    """Every operation of a block, in source order."""
    return [statement for statement in walk(block) if isinstance(statement, Let)]


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks of a statement, in the order in which they may run."""
    find = _BLOCKS.get(type(statement))
    return () if find is None else find(statement)


_BLOCKS: dict[type, Callable[[Any], tuple[Block, ...]]] = {
    If: lambda s: (s.then, s.orelse),
    For: lambda s: (s.body,),
    While: lambda s: (s.head, s.body),
    Try: lambda s: (s.body, *(handler.body for handler in s.handlers)),
}
