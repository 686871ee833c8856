"""What the sweeps are made of, and how the reverse sweep is written without superfluous lines."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..base import ir
from ..memory import support
from .holders import Holders
from .spending import Spending
from .terms import arguments, is_primary, signed, undoubled, without_brackets, without_first_minus


def flow(name: str) -> str:
    """The marked name of a cotangent in the text of a node, which may be replaced by its value.

    >>> f"{flow('y_bar')} * x".split(chr(0))
    ['', 'y_bar', ' * x']
    """
    return f"\0{name}\0"


@dataclass(eq=False)
class Line:
    """One line of emitted code, `sets = text`; cotangent variables are `flow(name)` in `text`."""

    text: str
    position: ir.Position | None
    sets: tuple[str, ...] = ()
    # A list of cotangents that changes: what is read from it before stays in a line of its own.
    changes: str = field(default="", kw_only=True)


@dataclass(eq=False)
class Put(Line):
    """A line that sets the cotangent of a tuple, adding the cotangent `item` of the item with this number.
    The variable `size` holds the tuple's length; `text` adds just this one item.
    """

    number: int = 0
    size: str = ""
    item: str = ""


@dataclass(eq=False, init=False)
class Sum:
    """Adds the value of `text` to the cotangent `bar`, as its first term or a further one."""

    bar: str
    text: str
    position: ir.Position | None
    real: bool
    delayed: str = ""  # the helper that unwraps a term that may be a thunk; a sum does so itself
    plain: bool = False  # whether the term is an array of the cotangent's shape, added with `+`
    of: str = ""  # the cotangent that the term is a part of: if nothing flowed to it, there is no term
    keeps: bool = False  # whether a real cotangent stays a zero object if nothing flows to it
    # Whether the term is a float64 array of the cotangent's shape that nothing else holds, or a zero.
    new: bool = False
    # Whether the term is the cotangent that the text reads, times real numbers: new if that one is.
    multiple: bool = False
    quiet: bool = False  # whether the term shares no memory with the cotangents that the text reads
    certain: bool = False  # whether the term is a zero object only if a cotangent that the text reads is one
    passes: bool = False  # whether the term is the cotangent that the text reads, or an array of its own
    # The factors and divisors applied in turn to the cotangent that the text reads, and the text that is then
    # the term: a way to compute it in the memory of that cotangent, if it is not read again.
    steps: tuple[str, ...] = ()
    then: str = ""
    thin: bool = False  # whether the term may be a number, or have axes of length one instead of full ones
    # The forward values that the text reads and that have the shape and dtype of the product to be summed.
    full: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()  # those that may have this shape and dtype, if the product is not larger
    onto: Callable[..., Any] | None = None  # adds a term `f(*args)` to an array: `onto(array, *args)`
    off: Callable[..., Any] | None = None  # subtracts `f(x, …)` from an array, where the term is `f(-x, …)`
    of_array: str = ""  # the text to use if the cotangent that it reads is certainly an array of full shape

    def __init__(
        self,
        bar: str,
        text: str,
        position: ir.Position | None,
        real: bool,
        delayed: str = "",
        **more: Any,
    ) -> None:
        self.bar, self.text, self.position, self.real, self.delayed = bar, text, position, real, delayed
        self.__dict__.update(more)  # the class has the defaults of the rest


@dataclass(eq=False)
class Pull:
    """Calls the pullback `back` of an operation with `bar`, and adds an entry of its answer, given by number,
    to each of `sums`, whose own texts are ignored.

    `runs_author` says that the pullback may be that of the author's function, which may be recursive: then
    no frame of ours may come between two of its frames.
    """

    back: str
    bar: str
    position: ir.Position | None
    sums: list[tuple[int, Sum]]
    runs_author: bool


@dataclass(eq=False)
class Restart:
    """Starts each of these cotangents again from its zero."""

    zeros: dict[str, str]


@dataclass(eq=False)
class Region:
    """A compound statement: each arm is a header and what is indented below it."""

    arms: list[tuple[str, list[Node]]]
    position: ir.Position | None
    sets: set[str] = field(default_factory=set)  # the cotangents that change in it; `Writer.count` fills it


Node = Line | Sum | Pull | Restart | Region


class Block(list[Node]):
    """The reverse lines of a block; `zeros` are the cotangents local to it, each with its initial text."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        super().__init__(nodes)
        self.zeros: dict[str, str] = {}


_WIDE = 100  # characters: joining never makes a line longer than this
# The helper that calls a pullback and takes these entries from its answer.
_PULLS: dict[tuple[int, ...], Callable[..., Any]] = {
    (1,): support.pull,
    (2,): support.pull_second,
    (1, 2): support.pull_both,
}


@dataclass(eq=False)
class _Waiting:
    """A line `name = text` that is not written yet, since its text may fit into the next one."""

    name: str
    text: str
    alone: tuple[str, ...]  # better lines to write if it does not go into another
    position: ir.Position | None
    names: tuple[str, ...] = ()  # if the line sets several names; `name` is empty then


class Writer:
    """Writes the nodes of a reverse sweep, in the order in which they run.

    A cotangent that is still zero, or equals another variable, gets no line until it needs one: when that
    variable changes, or a branch or loop may change either. A value read only by the next step, on the same
    line of the author's, goes into the line of that step.
    """

    def __init__(
        self,
        put: Callable[[str, ir.Position | None], None],
        inside: Callable[[str, ir.Position | None, Callable[[], None]], None],
        helper: Callable[[Any, str], str],
        fresh: Callable[[str], str],
    ) -> None:
        self.put = put
        self.inside = inside  # inside(header, position, function that writes the lines below it)
        self.helper = helper
        self.fresh = fresh
        self.zeros: dict[str, str] = {}  # the cotangents to which nothing has flowed, and their zeros
        self.held_by: dict[str, str] = {}  # those whose value another variable holds
        self.copies: dict[str, list[str]] = {}  # for each variable, the cotangents that it was copied to
        self.waiting: _Waiting | None = None
        self.holders = Holders(self.held_by)
        self.left: Counter[str] = Counter()  # how often each is mentioned from here on
        self.home: dict[str, int] = {}  # the nesting depth of the block that a cotangent belongs to
        self.depth = 0
        self.spending: Spending | None = None  # the forward values that may be overwritten, if any may

    def write(self, nodes: Block, seed: str, returned: str) -> str:
        """Write all nodes, starting from the cotangent `seed`; return the text of what the sweep returns."""
        mentioned = returned.split("\0")[1::2]
        self.count(nodes, set(), mentioned)
        self.left.update(mentioned)
        self.home[seed] = 0
        self.holders.note([seed], True)
        self.block(nodes)
        return self.filled(returned.split("\0"), None, True)

    def are_own(self, returned: list[str], buffers: set[str], no: str) -> bool:
        """Whether all that a sweep returns, except `no`, are float64 arrays held by nothing else, each of the
        shape of its primal. The `buffers` are known to be such.
        """
        held: list[str] = []
        for text in returned:
            pieces = text.split("\0")
            if text == no:
                continue
            if not _is_name(pieces) or pieces[1] in self.zeros:
                return False
            name, others = self.holders.variable(pieces[1]), self.holders.of(pieces[1])
            is_array = self.holders.are_sure([name]) and pieces[1] not in self.holders.thin
            is_own = name in buffers or (others is not None and is_array)
            if not is_own or name in held or not (others or set()).isdisjoint(held):
                return False
            held.append(name)
        return True

    def count(self, nodes: list[Node], sets: set[str], mentioned: list[str]) -> None:
        """Note every mention of a cotangent, and the cotangents that change in each compound statement."""
        for node in nodes:
            if type(node) is Sum:  # most often
                mentioned.append(node.bar)
                mentioned += node.text.split("\0")[1::2]
                sets.add(node.bar)
                if node.thin:
                    self.holders.thin.add(node.bar)
            elif isinstance(node, Region):
                for _, body in node.arms:
                    self.count(body, node.sets, mentioned)
                sets |= node.sets
            elif isinstance(node, Restart):
                sets.update(node.zeros)
            elif isinstance(node, Pull):
                given = [term.bar for _, term in node.sums]
                mentioned += (node.bar, node.bar, *given)
                sets.update(given)
            else:
                assert isinstance(node, Line)
                mentioned += node.sets
                mentioned += node.text.split("\0")[1::2]
                sets.update(node.sets)

    # -- nodes -----------------------------------------------------------------------------------------------

    def block(self, nodes: list[Node]) -> None:
        if isinstance(nodes, Block):
            self.zeros.update(nodes.zeros)
            self.home.update(dict.fromkeys(nodes.zeros, self.depth))
        for node in nodes:
            if self.spending is not None and isinstance(node, (Line, Sum)):
                self.spending.reads(node.text)
            if isinstance(node, Line):
                self.line(node)
            elif isinstance(node, Sum):
                self.sum(node)
            elif isinstance(node, Pull):
                self.pull(node)
            elif isinstance(node, Region):
                self.region(node)
            else:
                self.flush()
                for bar, zero in node.zeros.items():
                    self.held_by.pop(bar, None)
                    self.holders.replace(bar)
                    self.zeros[bar] = zero
        self.flush()

    def region(self, node: Region) -> None:
        """Write a compound statement; afterwards, less is known of the cotangents that change in it."""
        self.flush()
        zeros = self.zeros_of_arms(node)
        self.spell_out([*(node.sets - zeros.keys()), *self.kept_in(node.sets)], node.position)
        self.holders.note(node.sets, False)
        arms = node.arms if len(node.arms) > 1 or not zeros else [*node.arms, ("else:", [])]
        for header, body in arms:
            self.zeros.update(zeros)  # each arm sets these, if only to a zero
            self.holders.drop_all()  # an arm may run many times, or not at all
            self.inside(header, node.position, lambda body=body: self.arm(body, node))  # type: ignore[misc]
        self.holders.drop_all()
        self.holders.note(node.sets, False)

    def zeros_of_arms(self, node: Region) -> dict[str, str]:
        """The cotangents that get their first value in a branch, with their zeros: each arm sets them."""
        if not node.arms[0][0].startswith("if ") or node.arms[-1][0].startswith("elif "):
            return {}
        return {name: self.zeros[name] for name in sorted(node.sets) if name in self.zeros}

    def arm(self, body: list[Node], node: Region) -> None:
        self.depth += 1
        self.block(body)
        self.depth -= 1
        self.spell_out([bar for bar in node.sets if self.home.get(bar, self.depth + 1) <= self.depth], None)

    def line(self, node: Line) -> None:
        pieces = node.text.split("\0")
        if node.changes and self.waiting is not None and node.changes in self.waiting.text:
            self.flush()
        if len(node.sets) == 1 and _is_name(pieces):
            self.copy(node.sets[0], pieces[1], node.position)
            return
        held = self.before(pieces[1::2], node.sets, node.position, len(node.text))
        text = self.filled(pieces, held, True)
        self.holders.give_away(pieces[1::2])
        self.give(node.sets, text, node.position)

    def sum(self, node: Sum) -> None:
        """Write a sum: as a copy, as a scaling in place, or as a line with the term and any old value."""
        pieces, bar = node.text.split("\0"), node.bar
        if node.of in self.zeros:
            self.left.subtract((bar, *pieces[1::2]))
            return
        if bar in self.zeros and not node.delayed and _is_name(pieces):
            self.copy(bar, pieces[1], node.position)
            return
        if node.steps and self.scale(node):
            return
        if node.of_array and self.spending is not None and self.are_whole(pieces[1::2]):
            pieces = node.of_array.split("\0")
        begun = self.so_far(bar, pieces[1::2], node.position, len(node.text))
        if bar in pieces:  # it is read twice
            self.flush()
        held = self.before(pieces[1::2], (bar,), node.position, len(node.text))
        alone = bar in self.zeros or not (node.real or node.plain)
        term = undoubled(self.filled(pieces, held, alone))
        if self.spending is not None and self.holders.are_sure(pieces[1::2]):
            sign, part = ("+", term) if alone or node.onto is not None else signed(term)
            part = self.spending.spent(part, node.full, self.helper, node.alike)
            term = part if sign == "+" else f"-{part}"
        lone = len(pieces) == 3 and pieces[1] not in self.holders.thin
        having = self.holders.of(pieces[1]) if lone else None
        passed = having if node.passes and held is None and bar in self.zeros else None
        unnamed = held is not None and node.passes  # the value never had a variable of its own
        new = node.new or (having is not None and (node.multiple or unnamed))
        if passed is None and not node.quiet and not new and not node.real:
            self.holders.give_away(pieces[1::2])
        self.grow(node, term, begun, new)
        if passed is not None:
            self.holders.add(bar, passed)

    def are_whole(self, names: list[str]) -> bool:
        """Whether these cotangents are certainly arrays of full shape, unless the seed is a zero object."""
        thin = self.holders.thin
        whole = not any(name in thin or self.holders.variable(name) in thin for name in names)
        return whole and self.holders.are_sure(names)

    def scale(self, node: Sum) -> bool:
        """Write a term in the memory of the cotangent it is a multiple of; return whether that was done."""
        bar, source = node.bar, node.text.split("\0")[1]
        if not self.may_scale(node, source):
            return False
        self.flush()
        self.left.subtract((bar, source))
        held = self.holders.variable(source)
        self.holders.drop(held)
        steps = [(step[0], self.slope(without_brackets(step[2:]), node.full)) for step in node.steps]
        if bar in self.zeros and not node.then:
            text, sure = held, self.holders.are_sure([held])
            for step in node.steps:
                text = f"{text} {step}" if text == held else f"({text}) {step}"
            text = self.slope(text, node.full) if sure else text
            renamed = [f"{bar} = {held}"] if bar != held else []
            in_place = [f"{bar} {sign}= {slope}" for sign, slope in steps]
            self.give((bar,), text, node.position, (*renamed, *in_place))
            self.holders.note([bar], sure)
            self.holders.add(bar)
            return True
        for sign, slope in steps:
            self.put(f"{held} {sign}= {slope}", node.position)
        term = self.filled((node.then or flow(source)).split("\0"), None, bar in self.zeros)
        self.grow(node, term, new=True)
        return True

    def slope(self, text: str, full: tuple[str, ...]) -> str:
        """The text of a slope, which may reuse the memory of an array that it reads for the last time."""
        return text if self.spending is None else self.spending.spent(text, full, self.helper)

    def may_scale(self, node: Sum, source: str) -> bool:
        """Whether the cotangent that a term is a multiple of has a name, and memory for the term to take."""
        bar, waits, held = node.bar, self.waiting, self.holders.variable(source)
        so_far = set() if bar in self.zeros else {bar, self.holders.variable(bar)}
        if not so_far.isdisjoint({held, *(self.holders.of(held) or ())}):
            return False
        self.left.subtract((bar, source))  # as if it were written
        nameless = waits and self.goes_into(waits, [source], (bar,), node.position, len(node.text))
        takes = not nameless and self.may_take(source, bar) and not self.kept_in((bar,))
        self.left.update((bar, source))
        return takes

    def may_take(self, name: str, by: str) -> bool:
        """Whether the memory of the cotangent `name` may go to `by`, which the present node sets: it is an
        array that nothing else holds or reads after this node.
        """
        group = self.holders.of(name)
        if group is None:
            return False
        having = {name, *group}
        others = [copy for copy in self.kept_in(having) if copy not in (name, by)]
        unread = all(self.ends(each, (by,)) for each in having - {by})
        return unread and not others and not {*having, by} & self.holders.thin

    def so_far(self, bar: str, reads: list[str], position: ir.Position | None, width: int) -> str:
        """Take the waiting text of a cotangent, if there is one and a line of this width has room for it."""
        held = self.waiting
        if held is None or held.name != bar or bar in reads or not self.fits(held, position, width):
            return ""
        self.waiting = None
        return held.text

    def grow(self, node: Sum, term: str, begun: str = "", new: bool = False) -> None:
        """Write a sum, given the text of its term and whether that is `new`; `begun` is the cotangent's text
        so far, if that is not written yet.
        """
        bar, own = node.bar, new
        alone: tuple[str, ...] = ()
        reads = node.text.split("\0")[1::2]
        sure = node.certain and self.holders.are_sure(reads)
        if bar in self.zeros:
            text = f"{node.delayed}({term})" if node.delayed else term
        else:
            onto = begun or self.held_by.get(bar, bar)
            takes = not node.real and node.plain and self.may_take(bar, bar)
            array = self.holders.are_sure([bar])  # even if nothing is added
            both, sure = sure and array, sure or array
            own = takes and (own or both)
            given = () if onto == bar else (f"{bar} = {onto}",)
            if takes and not begun and node.onto is not None:
                text, own = self.added_onto(node, onto, arguments(term)), True
            elif node.real or node.plain:
                sign, term = signed(term)
                text = f"{onto} {sign} {term}"
                if takes and both and not begun:  # NumPy cannot add a zero object to an array in place
                    alone = (*given, f"{bar} {sign}= {without_brackets(term)}")
                elif node.real and onto == bar:
                    alone = (f"{bar} {sign}= {term}",)
            else:
                text = f"{self.helper(support.add, 'add')}({onto}, {term})"
            if takes:
                self.holders.drop(onto)
        self.give((bar,), text, node.position, alone)
        self.holders.note([bar], sure)
        if own:
            self.holders.add(bar)

    def added_onto(self, node: Sum, array: str, given: str) -> str:
        """The text of a call that adds the term of these arguments to an array, in the array's memory."""
        adding, less = node.onto, without_first_minus(given) if node.off is not None else ""
        if less:
            adding, given = node.off, less
        assert adding is not None
        return f"{self.helper(adding, adding.__name__)}({array}, {given})"

    def pull(self, node: Pull) -> None:
        """Write the call of a pullback, with a helper that adds the entries of its answer if there is one."""
        slots = tuple(slot for slot, _ in node.sums)
        pulled = None if node.runs_author else _PULLS.get(slots)
        reads = [node.bar] * (2 if pulled is None else 1)
        self.left[node.bar] -= 2 - len(reads)
        begun = ""
        if len(slots) == 1 and (pulled or node.sums[0][1].real):  # else it would be computed too late
            begun = self.so_far(node.sums[0][1].bar, reads, node.position, 60)
        bars = tuple(term.bar for _, term in node.sums)
        if node.bar in bars:
            self.flush()
        self.holders.give_away((node.bar, *bars))
        held = self.before(reads, bars, node.position, 60)
        bar = self.filled(["", node.bar, ""], held, True)
        given = f"{node.back}, {bar}"
        if pulled is None:
            given = f"{self.helper(support.unless_zero, 'unless_zero')}({given})({bar})"
            if not 0 < len(slots) < 4:
                self.take_apart(node, given)
                return
            pulled = support.taking(*slots)
        asked = self.helper(pulled, pulled.__name__)
        first = node.sums[0][1]
        if len(slots) == 1:
            onto = (
                ""
                if first.real or first.bar in self.zeros
                else begun or self.held_by.get(first.bar, first.bar)
            )
            text = f"{asked}({given}, {onto})" if onto else f"{asked}({given})"
            if first.real:
                self.grow(first, self.as_real(text, first), begun)
            else:
                self.give((first.bar,), text, node.position)
            return
        self.pull_some(node, asked, given)

    def pull_some(self, node: Pull, asked: str, given: str) -> None:
        """Take several entries at once; one that becomes a real number, or whose cotangent occurs twice, is
        added in a line of its own.
        """
        names: list[str] = []
        onto: list[str] = []
        later: list[tuple[Sum, str]] = []
        zero = self.helper(support.ZERO, "ZERO")
        for _, term in node.sums:
            begins = term.bar in self.zeros
            apart = term.bar in names or (term.real and not begins)
            name = self.fresh("part") if apart else term.bar
            onto.append(zero if apart or begins else self.held_by.get(name, name))
            names.append(name)
            if apart or term.real:
                later.append((term, name))
        while onto and onto[-1] == zero:
            onto.pop()
        self.give(tuple(names), f"{asked}({', '.join([given, *onto])})", node.position)
        for term, name in later:
            self.entry(term, name)

    def take_apart(self, node: Pull, given: str) -> None:
        """Write a pull line by line: first the pullback's answer, then each entry that is added."""
        name = self.fresh("parts") if node.sums else ""
        self.put(f"{name} = {given}" if name else given, node.position)
        for slot, term in node.sums:
            self.entry(term, f"{name}[{slot}]")

    def entry(self, term: Sum, text: str) -> None:
        """Add one entry of a pullback's answer to its sum."""
        begun = self.so_far(term.bar, [], term.position, 0)
        self.flush()
        if text == term.bar:  # its value so far is that entry
            self.give((text,), self.as_real(text, term), term.position)
        else:
            self.grow(term, self.as_real(text, term) if term.real else text, begun)

    def as_real(self, text: str, term: Sum) -> str:
        helper = support.real_or_zero if term.keeps else support.real
        return f"{self.helper(helper, helper.__name__)}({text})"

    def copy(self, bar: str, source: str, position: ir.Position | None) -> None:
        """Make a cotangent equal to another one."""
        self.left[bar] -= 1
        self.left[source] -= 1
        held = self.waiting
        names = () if held is None or bar in held.names else held.names or (held.name,)
        if held is not None and source in names and self.ends(source, ()) and not self.kept_in((bar,)):
            group, sure = self.holders.of(source), self.holders.are_sure([source])
            self.give_instead(source, bar, held)
            self.holders.note([bar], sure)
            self.holders.drop(source)
            if group is not None and bar not in self.holders.thin:
                self.holders.add(bar, group)
            return
        self.flush()
        found = self.zeros.get(source) or self.held_by.get(source, source)
        if found == self.zeros.pop(bar, ""):  # nothing flowed to either
            self.zeros[bar] = found
            return
        self.held_by.pop(bar, None)
        if found != bar:
            self.held_by[bar] = found
            self.copies.setdefault(found, []).append(bar)

    # -- what is not written yet -----------------------------------------------------------------------------

    def before(
        self, reads: list[str], sets: tuple[str, ...], position: ir.Position | None, width: int
    ) -> _Waiting | None:
        """Prepare for a node that reads and sets cotangents; return the waiting line that goes into its own,
        if one does.
        """
        for name in (*reads, *sets):
            self.left[name] -= 1
        kept, held = self.kept_in(sets), self.waiting
        if held is not None and not kept and self.goes_into(held, reads, sets, position, width):
            self.waiting = None
            return held
        self.flush()
        if kept:
            self.left.update(reads)  # they are read after these lines
            self.spell_out(kept, position)
            self.left.subtract(reads)
        return None

    def goes_into(
        self,
        held: _Waiting,
        reads: list[str],
        sets: tuple[str, ...],
        position: ir.Position | None,
        width: int,
    ) -> bool:
        """Whether the text of a waiting line goes into a node that reads and sets these cotangents."""
        read_here = reads.count(held.name) == 1 and self.ends(held.name, sets)
        return read_here and self.fits(held, position, width)

    def fits(self, held: _Waiting, position: ir.Position | None, width: int) -> bool:
        """Whether a waiting line may go into another: from the same author's line, and not too long."""
        on_one_line = position is not None and held.position is not None and held.position[0] == position[0]
        return (on_one_line or held.position is None) and len(held.text) + width <= _WIDE

    def ends(self, name: str, sets: tuple[str, ...]) -> bool:
        """Whether nothing reads a cotangent's value after the present node, which may be one that sets it."""
        return name in sets or (not self.left[name] and self.home.get(name, self.depth) == self.depth)

    def kept_in(self, names: Iterable[str]) -> list[str]:
        """The cotangents whose values these variables hold, and which are still to be read."""
        return [
            copy
            for name in names
            for copy in self.copies.get(name, ())
            if self.held_by.get(copy) == name
            and (self.left[copy] > 0 or self.home.get(copy, self.depth) < self.depth)
        ]

    def spell_out(self, names: Iterable[str], position: ir.Position | None) -> None:
        """Write the assignments left out so far, all at once if one takes another's value."""
        moves: dict[str, str] = {}
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in moves and (name in self.zeros or name in self.held_by):
                moves[name] = self.zeros.pop(name, "") or self.held_by.pop(name)
                self.holders.give_away((moves[name],))
                self.holders.note([name], self.holders.are_sure([moves[name]]))
                todo += self.kept_in((name,))
        for targets, sources in in_step(sorted(moves.items(), key=lambda move: move[::-1]), 3):
            self.put(f"{targets} = {sources}", position)

    def give(
        self,
        names: tuple[str, ...],
        text: str,
        position: ir.Position | None,
        alone: tuple[str, ...] = (),
    ) -> None:
        """Add a line that sets names; it waits, since it may go into the line that reads it."""
        for name in names:
            self.zeros.pop(name, None)
            self.held_by.pop(name, None)
            self.holders.replace(name)
        if not names:
            self.put(text, position)
        elif len(names) == 1:
            self.waiting = _Waiting(names[0], text, alone, position)
        else:
            self.waiting = _Waiting("", text, alone, position, names)

    def give_instead(self, source: str, bar: str, held: _Waiting) -> None:
        """Let the waiting line set one cotangent instead of another, which is not read again."""
        self.zeros.pop(bar, None)
        self.held_by.pop(bar, None)
        self.holders.replace(bar)
        names = tuple(bar if name == source else name for name in held.names)
        self.waiting = _Waiting("" if names else bar, held.text, (), held.position, names)

    def flush(self) -> None:
        held, self.waiting = self.waiting, None
        if held is not None:
            for line in held.alone or (f"{', '.join(held.names) or held.name} = {held.text}",):
                self.put(line, held.position)

    def filled(self, pieces: list[str], held: _Waiting | None, alone: bool) -> str:
        """A text with its cotangents filled in; `alone` says that a whole text needs no brackets."""
        made = pieces[:]
        for number in range(1, len(pieces), 2):
            name = pieces[number]
            if held is None or name != held.name:
                made[number] = self.zeros.get(name) or self.held_by.get(name, name)
                continue
            before, after = pieces[number - 1], pieces[number + 1]
            is_argument = before.endswith(("(", ", ")) and after.startswith((")", ", "))
            whole = alone and len(pieces) == 3 and not before and not after
            made[number] = held.text if is_argument or whole or is_primary(held.text) else f"({held.text})"
        return "".join(made)


def texts_of(nodes: list[Node], returned: list[str]) -> tuple[list[str], list[str]]:
    """The texts outside branches and loops (of nodes and of what is returned), and the texts inside."""
    outside, inside = list(returned), []
    for node in nodes:
        if isinstance(node, Region):
            for header, body in node.arms:
                inside += [header, *itertools.chain(*texts_of(body, []))]
        elif isinstance(node, (Line, Sum)):
            outside.append(node.text)
    return outside, inside


def in_step(moves: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Copies grouped into lines, each with its targets and sources: up to `most` on a line, or all on one if
    a target is a source of another.

    >>> in_step([("a", "b"), ("c", "d")], 1), in_step([("a", "b"), ("b", "a")], 1)
    ([('a', 'b'), ('c', 'd')], [('a, b', 'b, a')])
    """
    targets = {target for target, _ in moves}
    if any(source in targets for _, source in moves):
        most = len(moves)
    return [
        (", ".join(target for target, _ in part), ", ".join(source for _, source in part))
        for part in (moves[start : start + most] for start in range(0, len(moves), most))
    ]


def _is_name(pieces: list[str]) -> bool:
    """Whether a text is just one cotangent."""
    return len(pieces) == 3 and not pieces[0] and not pieces[2]
