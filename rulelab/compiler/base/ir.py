"""The intermediate form: single assignment, one operation a statement, branches and loops kept as such."""

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
    """(line, end line, column, end column) in the author's text."""

    def place_in(self, source: Source) -> Place:
        """The spot that messages show: in this text, unless the position is one in another."""
        return source.place_at(*self)


class PositionInlined(Position):
    """Where emitted code stands for a statement of an inlined function, which has a place of its own."""

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


Atom = str | Const  # a name defined once, or a constant


def gives_pair(function: Any) -> bool:
    """Whether what is called is one of ours that gives a pair, as it says itself; a value is asked nothing,
    which may answer whatever it is asked for.
    """
    says = function if isinstance(function, FunctionType) else type(function)
    return bool(getattr(says, "gives_pair", False))


# --- operations ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Op:
    source = False  # set where the result may vary though no operand does (`watching`)
    asks = False  # set where it asks what varies and may be an author's object (`activity.mark_asking`)
    reads: ClassVar[Any]  # gives the atoms among the fields

    def __init_subclass__(cls) -> None:
        names = [name for name, kind in inspect.get_annotations(cls).items() if kind == "Atom"]
        read = operator.attrgetter(*names) if names else lambda _: ()
        cls.reads = staticmethod(read if len(names) != 1 else lambda op: (read(op),))

    def operands(self) -> tuple[Atom, ...]:
        """Every atom the operation reads, in the order of evaluation: the fields that are atoms, unless a
        class says more.
        """
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


@dataclass(eq=False)
class Augmented(Op):
    """`left op= right`: a rebinding where `owned` shows that nobody can see the difference. It may turn out
    to be one where `left` was read from an item just before (`of_item`), and is one for an array where
    `left` goes back to a copy that was looked at (`of_copy`).
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
    """Comparisons, identity and membership: their result carries no cotangent."""

    symbol: str
    left: Atom
    right: Atom


@dataclass(frozen=True)
class Field:
    """The name of an attribute as the key of an object's part: no text is equal to it."""

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

    `by_moved_slice`: a number that varies may bound a slice in the index, which a class of the author's may
    read (`activity.mark_moved_slices`).
    """

    value: Atom
    index: Atom
    for_update: bool = False
    by_moved_slice: bool = False


@dataclass(eq=False)
class Slice(Op):
    """`lower:upper:step` in `owner[...]`, which says whether objects among these ends stand for positions."""

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
    """A display: tuple, list, dict (keys and values alternate) or set; or what a call is `handed`, in a tuple
    that nobody else sees. An `opened` one stands for an argument whose parts are parameters.
    """

    kind: str
    items: tuple[Atom, ...]
    handed: bool = False
    opened: bool = False

    def operands(self) -> tuple[Atom, ...]:
        return self.items


@dataclass(eq=False)
class Unpack(Op):
    """The value as a sequence of exactly `count` items (`or_more` for a starred target), or Python's own
    error.
    """

    value: Atom
    count: int
    or_more: bool = False


@dataclass(eq=False)
class Call(Op):
    """`function(*args, **kwargs)`; with `method` set, `function` is the object and the call is a method's."""

    function: Atom
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...] = ()
    method: str | None = None
    starred: bool = False  # whether it was one of `function(*args)`

    def operands(self) -> tuple[Atom, ...]:
        return (self.function, *self.args, *(atom for _, atom in self.keywords))


@dataclass(eq=False)
class Apply(Op):
    """`function(*args, **keywords)` with a tuple and a dict; `method` as in Call."""

    function: Atom
    args: Atom
    keywords: Atom
    method: str | None = None


@dataclass(eq=False)
class Collect(Op):
    """A container made of others: the `kind` is a name in `collecting`, which holds function and rule."""

    kind: str
    items: tuple[Atom, ...]

    def operands(self) -> tuple[Atom, ...]:
        return self.items


@dataclass(eq=False)
class Ask(Op):
    """A question of ours about values, whose answer carries no cotangent; the function says of which type."""

    function: Callable[..., Any]
    items: tuple[Atom, ...]

    def operands(self) -> tuple[Atom, ...]:
        return self.items


@dataclass(eq=False)
class Append(Op):
    """The list, longer by one item; the list is this function's own and nobody else holds it.

    The list of a comprehension is `hidden`: nobody can hold it until it is complete.
    """

    value: Atom
    item: Atom
    hidden: bool = False


@dataclass(eq=False)
class Publish(Op):
    """A list, dict or set is complete: from here on others may hold it and change it."""

    value: Atom


@dataclass(eq=False)
class Indexable(Op):
    """What a loop runs over, as a sequence with positions: itself, or a tuple of what it hands out."""

    value: Atom


@dataclass(eq=False)
class Elements(Op):
    """The numbers of a float64 array, each read as a float of Python's own; of one number that float."""

    value: Atom
    of_number: bool = False


@dataclass(eq=False)
class MakeCell(Op):
    """A variable that is rebound while nested functions see it, with its first value."""

    value: Atom


@dataclass(eq=False)
class ReadCell(Op):
    """The value that such a variable has now; `name` is the author's name of it, `free` says that it is
    another function's.
    """

    cell: Atom
    name: str
    free: bool

    def operands(self) -> tuple[Atom, ...]:
        return (self.cell, Const(self.name), Const(self.free))


@dataclass(eq=False)
class MakeFunction(Op):
    """A nested function or lambda: its code, default values and the variables it captures.

    `captured` are (name in the nested function, value); its own name maps to Const(UNBOUND). For the names
    in `cells` the value is the cell.
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
    """An assignment into an array, container or object: done or refused at run time, before it happens."""

    kind: str  # "item" | "attribute" | "cell" | "delete item" | "delete attribute"
    target: Atom
    key: Atom
    value: Atom
    owned: bool = False  # nobody holds the target or has read it, so a constant may be written
    by_moved_slice: bool = False  # as in Item


# --- statements ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Statement:
    has_blocks: ClassVar[bool] = False  # whether it holds statements
    position: Position


@dataclass(eq=False)
class Let(Statement):
    target: str
    op: Op


@dataclass(eq=False)
class Phi:
    """A name that gets its value at a join: one source for each way in."""

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
    asks: bool = False  # as in Op, of the test


@dataclass(eq=False)
class Sequence:
    """Items of `value`, one by one (from the last if `backwards`), bound to `item`."""

    value: Atom
    item: str
    backwards: bool = False


@dataclass(eq=False)
class Count:
    """The items of range(*args), bound to `item`."""

    args: tuple[Atom, ...]
    item: str


@dataclass(eq=False)
class Positions(Count):
    """The positions of the one argument, a sequence that may grow or shrink meanwhile."""

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
    """An iteration and what it is put together of."""
    yield iteration
    inner = [iteration.part] if isinstance(iteration, Enumerated) else getattr(iteration, "parts", ())
    for part in inner:
        yield from parts(part)


def leaves(iteration: Iteration) -> list[Sequence | Count]:
    """What an iteration goes through."""
    return [part for part in parts(iteration) if isinstance(part, (Sequence, Count))]


def counters(iteration: Iteration) -> list[str]:
    """The names that count in an iteration."""
    return [part.counter for part in parts(iteration) if isinstance(part, Enumerated)]


def with_leaves(iteration: Iteration, change: Callable[[Sequence | Count], Iteration]) -> Iteration:
    """The iteration with other leaves."""
    if isinstance(iteration, Zipped):
        return Zipped([with_leaves(part, change) for part in iteration.parts], iteration.strict)
    if isinstance(iteration, Enumerated):
        return Enumerated(iteration.counter, iteration.start, with_leaves(iteration.part, change))
    return change(iteration)


@dataclass(eq=False)
class For(Statement):
    """`carried` are (name, [value before, value after an iteration]); `stop` ends the loop after an
    iteration. One that `generates` is a generator expression in which StopIteration may be raised, which
    leaves it as the RuntimeError that Python makes of it.
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
    asks: bool = False  # as in Op, of the test


@dataclass(eq=False)
class Handler:
    """One `except` of emitted code. Where the author's classes are computed it stands for several clauses, at
    `clauses`, and `chosen` is the number of the one that ran, from one.
    """

    position: Position
    kinds: str | None  # text of the exception classes, None for a bare except
    name: str | None
    body: Block
    values: list[Atom]  # what each slot holds after this handler
    unwinds: bool = False  # runs what must run however the block is left, so also for a refusal of ours
    clauses: tuple[Position, ...] = ()
    chosen: Atom | None = None


@dataclass(eq=False)
class Try(Statement):
    """`slots` are variables that keep their latest value through the block, so that a handler finds it."""

    has_blocks = True
    body: Block
    handlers: list[Handler]
    slots: list[Phi]  # sources: [value before, value after the body]


@dataclass(eq=False)
class Keep(Statement):
    """Inside a try block: the slot takes the new value of its variable."""

    slot: str
    value: Atom


@dataclass(eq=False)
class Raise(Statement):
    error: Atom | None
    cause: Atom | None


@dataclass(frozen=True)
class Handed:
    """What an inlined call gave, and what it was given: that counts as used where the value is, though
    perhaps nothing flows to it. `call` tells which call it was; one of `f(*args)` does not count, as the
    tuple is used there, and what is in it only where something flows to it.
    """

    value: Atom
    atoms: tuple[Atom, ...]
    call: Any = None
    counts: bool = True


@dataclass(eq=False)
class Function:
    """A lowered function."""

    name: str
    parameters: list[str]  # single-assignment names, in the order of the code object's arguments
    positional: int
    keyword_only: int
    free: list[str]  # names of captured variables, in the order of co_freevars
    cells: frozenset[str]  # those of them that are rebound while this function may run
    body: Block
    result: Atom
    fresh: Callable[[str], str]  # a name that no other value has
    reserved: set[str] = field(default_factory=set)  # names the emitted code must not take
    locals: frozenset[str] = frozenset()  # the author's variables, captured ones among them
    assumed: dict[str, Any] = field(default_factory=dict)  # builtins whose meaning the lowering relied on
    readers: dict[str, Any] = field(default_factory=dict)  # functions that the text of was relied on, by name
    handed: list[Handed] = field(default_factory=list)
    # Of those free names that are read from a captured function: which one, and what its attribute is.
    within: dict[str, tuple[str, str]] = field(default_factory=dict)
    _settled: list[Statement] | None = field(default=None, init=False)  # no copy is settled
    _settled_lets: list[Let] | None = field(default=None, init=False)

    def statements(self) -> list[Statement]:
        """Every statement, outer before inner."""
        return walk(self.body) if self._settled is None else self._settled

    def lets(self) -> list[Let]:
        """Every operation, in textual order."""
        if self._settled_lets is None:
            return [statement for statement in self.statements() if isinstance(statement, Let)]
        return self._settled_lets

    def settle(self) -> None:
        """From here on no statement comes or goes: who asks for all of them is given the same list."""
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
    """Every operation of a block, in textual order."""
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
