"""Tools to write both sweeps with: names, nested short expressions, cotangents, and values to keep."""

from __future__ import annotations

import builtins
import functools
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...rules.kinds import F8, FLOAT, REAL, Array, Known
from ...rules.rule import Rule
from ...tangents.zeros import AbstractZero
from ..analysis.activity import Activity
from ..analysis.flowing import flowed_to
from ..analysis.regions import Regions
from ..analysis.types import Types
from ..analysis.usage import growing
from ..analysis.vanishing import vanishing
from ..base import ir
from ..base.liveness import all_names, use_counts
from ..memory import support
from .phrases import bracketed
from .tidy import Block, Line, Node, Region, Sum, flow, in_step

NEAR = 30  # how many lines back to look for one that can set another name instead
_LONG = 200  # characters: a longer expression gets a line of its own, since Python nests at most 200 brackets


# What emitted code calls operations, if not by the name of their class.
_CALLED: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((ir.Binary, ir.Unary), lambda op: op.operator),
    **dict.fromkeys((ir.Build, ir.Collect), lambda op: op.kind),
    **dict.fromkeys((ir.MakeCell, ir.ReadCell), lambda op: "cell"),
    ir.Augmented: lambda op: f"i{op.operator}",
    ir.Attribute: lambda op: op.name,
    ir.Write: lambda op: f"write_{op.kind.replace(' ', '_')}",
    ir.Indexable: lambda op: "items",
}
_NUMBERED = re.compile(r"_\d+$")  # what single assignment adds to a name
_OTHER_PRECISIONS = ("f4", "c16")  # dtypes of arguments whose entries in a gradient have the same dtype


class Sites(Protocol):
    """What the transform needs from the machinery that finds pullbacks at run time."""

    def find_global(self, name: str) -> Any: ...
    @property
    def deposit(self) -> Callable[[Any, Any], None]: ...
    def finder(self, op: ir.Op, position: ir.Position, active: tuple[bool, ...]) -> Callable[..., Any]: ...
    def plain(
        self, op: ir.Call, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any] | None: ...
    def plain_apply(
        self, op: ir.Apply, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any]: ...
    def is_known_function(self, op: ir.Call) -> bool: ...
    def bound_rule(self, op: ir.Op, active: tuple[bool, ...]) -> Callable[..., Any] | None: ...
    def indexer(self, position: ir.Position) -> Callable[..., Any]: ...
    def partials(self, op: ir.Op) -> Callable[..., Any] | None: ...
    def stated_rule(self, op: ir.Op) -> Rule | None: ...
    def certain_rule(self, op: ir.Op) -> Rule | None: ...
    def inline(self, op: ir.Op) -> bool: ...
    def relies_on_built_in(self, target: Any) -> Any: ...
    def target(self, op: ir.Op) -> Any: ...
    def asker(self, position: ir.Position) -> Callable[..., Any]: ...
    def handed(self, position: ir.Position) -> Callable[[Any], Any] | None: ...
    def lookout(self, attribute: str | None, position: ir.Position) -> Callable[[Any], Any] | None: ...
    def writer(self, op: ir.Write, position: ir.Position) -> Callable[..., Any]: ...
    def caught(self, positions: list[ir.Position]) -> Callable[..., Any]: ...
    def entry(self, op: ir.Item, position: ir.Position) -> Callable[..., Any]: ...
    def iterate(self, position: ir.Position) -> Callable[..., Any]: ...
    def unpacker(self, op: ir.Unpack, position: ir.Position) -> Callable[..., Any]: ...
    def function_maker(self, op: ir.MakeFunction) -> Callable[..., Any]: ...


@dataclass(eq=False)
class _Scope:
    """A block whose names live for one activation or one iteration; the reverse sweep reads those in
    `needed`.
    """

    defined: dict[str, bool] = field(default_factory=dict)  # True if on a branch, so perhaps not defined
    needed: set[str] = field(default_factory=set)
    depth: int = 0  # how many branches deep inside the block we are


def name_for(value: Any) -> str:
    """What emitted code calls one of its constants."""
    name = "UNBOUND" if value is ir.UNBOUND else getattr(value, "__name__", "")
    if isinstance(name, str) and name.isidentifier() and name != "<lambda>":
        return name
    if isinstance(value, AbstractZero):
        return "NO"
    return "push" if ir.gives_pair(value) else "constant"


def is_temporary(name: str) -> bool:
    """Whether a name is a temporary of ours, not one of the author's."""
    return name.startswith("t_")


def words(node: Node) -> Iterator[str]:
    """The words in a node of the forward sweep, its names among them."""
    if isinstance(node, Region):
        for header, body in node.arms:
            yield from _WORD.findall(header)
            for inner in body:
                yield from words(inner)
    elif isinstance(node, Line):
        yield from _WORD.findall(node.text)


_WORD = re.compile(r"\w+")


def _mentions(node: Node, name: str) -> bool:
    """Whether a name may occur in a node of the forward sweep."""
    if isinstance(node, Region):
        return any(
            name in header or any(_mentions(inner, name) for inner in body) for header, body in node.arms
        )
    return isinstance(node, Line) and name in node.text


class Sweeps:
    """Two sweeps under construction: the forward lines in `out`, and what the reverse lines need of them."""

    def __init__(
        self, function: ir.Function, types: Types, active: Activity, regions: Regions, sites: Sites
    ) -> None:
        self.function = function
        self.regions = regions
        self.has_effects = False
        self.makes_unseen = False  # whether it publishes a container whose changes are not recorded so far
        self.may_make = False  # whether a call may return a container whose cotangent goes by identity
        self.types = types
        self.active = active
        self.sites = sites
        self.taken = set(function.reserved) | all_names(function)
        self._numbers: dict[str, int] = {}  # the number to try next for each base of fresh names
        self.constants: dict[str, Any] = {}
        self.scopes: list[_Scope] = [_Scope()]
        self.bars: dict[str, str] = {}
        self._has_real_bar: dict[str, bool] = {}
        self.buffers: dict[str, str] = {}
        self.item_bars: dict[str, str] = {}  # by each name of a list that is written to (`stored`)
        # The buffer of an array as a memoryview, which is quicker for single elements.
        self.views: dict[str, str] = {}
        # The name of the length of a tuple, and the lines in which it is known.
        self.lengths: dict[str, tuple[list[Node], str]] = {}
        self.walked: dict[str, str] = {}  # the item of each loop over a walk, and the walk's name
        self.shared: dict[int, str] = {}
        self.alias: dict[str, str] = {}
        # For each array, the arrays whose broadcast shape is its shape (`fits_into`: to which it broadcasts).
        self.shapes: dict[str, frozenset[ir.Atom]] = {}
        self.scaled: set[str] = set()  # results whose cotangent is next combined with an array of their shape
        self.repeated: set[str] = set()  # results whose cotangent may be given as a single number
        self.fits_into: dict[str, frozenset[ir.Atom]] = {}
        self.along_last: dict[str, int] = {}  # arrays in `fits_into` made by reducing the last axis, kept
        self.with_shape: dict[frozenset[ir.Atom], str] = {}  # an array of each such shape
        self.shape_names: dict[frozenset[ir.Atom], str] = {}  # the shapes that the reverse sweep reads
        self.shaped: set[str] = set()  # names whose shape some line reads
        self.inlined: set[str] = set()  # values that have no name in emitted code
        self.pending: dict[str, tuple[str, ir.Position]] = {}
        self.carried = {
            phi.target
            for st in function.statements()
            if isinstance(st, (ir.For, ir.While))
            for phi in st.carried
        }
        self.runs_once = False  # whether both sweeps become one function, which is never shown
        self.takes_numbers = False  # whether the cotangent of the result may be a tuple of floats
        self.out: list[Node] = []
        self.set_at: dict[str, Line] = {}  # the line that sets a name
        self.uses = use_counts(function)
        self.growing = {name for name in growing(function) if not regions.shared(name)}

    # -- names -----------------------------------------------------------------------------------------------

    def fresh(self, base: str) -> str:
        name, number = base, self._numbers.get(base, 1)
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self._numbers[base] = number
        self.taken.add(name)
        return name

    def defined(self, base: str) -> str:
        """A new name for a value of the forward sweep."""
        name = self.fresh(base)
        self.define(name)
        return name

    def constant(self, value: Any, base: str) -> str:
        """A fresh name for an object that emitted code uses."""
        name = self.fresh(base)
        self.constants[name] = value
        return name

    def shared_constant(self, value: Any, base: str = "") -> str:
        """The name of a helper, the same at every use."""
        if id(value) not in self.shared:
            self.shared[id(value)] = self.constant(value, base or name_for(value))
        return self.shared[id(value)]

    def asked(self, helper: Callable[..., Any], *texts: str, base: str = "") -> str:
        """The text of a call of a helper."""
        return f"{self.shared_constant(helper, base)}({', '.join(texts)})"

    def builtin(self, name: str) -> str:
        """The text of a builtin function: its name, if that refers to it (the guard then checks that)."""
        function = self.function
        meant = getattr(builtins, name)
        if name in function.locals or self.sites.find_global(name) is not meant:
            return self.shared_constant(meant, name)
        function.assumed[name] = meant
        return name

    def called(self, op: ir.Op) -> str:
        """What emitted code calls an operation: the operator, the function, the method or attribute."""
        if isinstance(op, (ir.Call, ir.Apply)):
            name = op.method or self.name_of_function(op.function)
        else:
            name = _CALLED.get(type(op), lambda op: type(op).__name__.lower())(op)
        return name.strip("_") if name.strip("_").isidentifier() else "call"

    def name_of_function(self, atom: ir.Atom) -> str:
        kind = self.types(atom)
        if isinstance(kind, Known):
            return name_for(kind.value)
        if isinstance(atom, ir.Const):
            return name_for(atom.value)
        return "call" if is_temporary(atom) else _NUMBERED.sub("", atom)

    @functools.cached_property
    def tuples(self) -> dict[Any, tuple[ir.Atom, ...]]:
        """The parts of the tuples that the function builds."""
        builds = ((s.target, s.op) for s in self.function.lets() if isinstance(s.op, ir.Build))
        return {target: op.items for target, op in builds if op.kind == "tuple"}

    def define(self, name: str) -> None:
        scope = self.scopes[-1]
        scope.defined[name] = scope.depth > 0  # even if a branch defined it before

    def is_defined(self, name: str) -> bool:
        """Whether a name has a value here, whichever branch was taken."""
        return name not in self.inlined and any(scope.defined.get(name) is False for scope in self.scopes)

    def go_by(self, name: str, other: str) -> None:
        """Make emitted code read `other` in place of `name`."""
        self.alias[name] = other
        if name != other:
            self.uses[other] += self.uses[name] - 1

    def need(self, atom: ir.Atom | str) -> str:
        """The text of a forward value for use in the reverse sweep, for which it is kept."""
        if isinstance(atom, ir.Const):
            return self.literal(atom.value)
        if atom in self.pending:
            self.flush()
        name = self.alias.get(atom, atom)
        for scope in reversed(self.scopes):
            scope.needed.add(name)
            if name in scope.defined:
                break
        return name

    def literal(self, value: Any) -> str:
        if value is None or isinstance(value, (bool, str, bytes, int)):
            return f"({value!r})" if type(value) is int and value < 0 else repr(value)
        if type(value) is float and math.isfinite(value):
            return f"({value!r})" if math.copysign(1.0, value) < 0 else repr(value)
        if value is Ellipsis:
            return "..."
        if value is len:
            return self.builtin("len")
        return self.shared_constant(value)

    def text(self, atom: ir.Atom) -> str:
        """The text of a forward value for use in the forward sweep: a name or literal."""
        if isinstance(atom, ir.Const):
            return self.literal(atom.value)
        if atom in self.pending:
            self.flush()
        return self.alias.get(atom, atom)

    def as_it_is(self, atom: ir.Atom) -> str:
        """The text of an operand that a pullback may keep: of a list that grows later, a copy."""
        return f"{self.text(atom)}[:]" if isinstance(atom, str) and atom in self.growing else self.text(atom)

    # -- short expressions stay inside the line that uses them -----------------------------------------------

    def flush(self) -> None:
        """Write the pending expressions as lines of their own."""
        pending, self.pending = self.pending, {}
        for name, (text, position) in pending.items():
            self.set_at[name] = line = Line(f"{name} = {text}", position)
            self.out.append(line)

    def texts(
        self, atoms: tuple[ir.Atom, ...], named: tuple[ir.Atom, ...] = (), tight: int = 1 << 30
    ) -> list[str]:
        """The operands as texts: those computed just before, and used only here, are nested expressions.

        `named` are the operands that the reverse sweep reads, so they must keep a name; an expression among
        the first `tight` gets brackets.
        """
        here = [a for a in atoms if isinstance(a, str) and a in self.pending]
        if not here:
            return [self.text(a) for a in atoms]
        if self.go_in_place(here, named):
            loose = {a for a in atoms[tight:] if isinstance(a, str)} - {
                a for a in atoms[:tight] if isinstance(a, str)
            }
            found = {
                a: text if a in loose else bracketed(text) for a in here for text in (self.pending.pop(a)[0],)
            }
            self.inlined |= found.keys()
            others = {a: self.text(a) for a in atoms if not (isinstance(a, str) and a in found)}
            return [found[a] if isinstance(a, str) and a in found else others[a] for a in atoms]
        self.flush()
        return [self.text(a) for a in atoms]

    def go_in_place(self, here: list[str], named: tuple[ir.Atom, ...]) -> bool:
        """Whether pending operands can go into the line that uses them: they must be the last pending ones,
        in their order, and none of them may need a name.
        """
        names = {atom for atom in named if isinstance(atom, str)}
        return list(self.pending)[-len(here) :] == here and names.isdisjoint(here)

    def line(self, text: str, position: ir.Position | None) -> None:
        self.flush()
        self.out.append(Line(text, position))

    def assign(self, target: str, text: str, position: ir.Position, *, may_wait: bool = False) -> None:
        """Add `target = text` now, or, for a value used once just ahead, as part of the line that uses it."""
        scope = self.scopes[-1]
        if may_wait and self.uses[target] == 1 and target not in scope.needed and len(text) < _LONG:
            self.pending[target] = (text, position)
            return
        self.give(target, f"{target} = {text}", position)

    def give(self, target: str, text: str, position: ir.Position) -> None:
        """Add a line that sets `target`, its first name, and perhaps others."""
        self.line(text, position)
        self.set_at[target] = self.out[-1]  # type: ignore[assignment]

    def around(self, atom: ir.Atom, text: str, *more: str) -> bool:
        """If the last line set a name, wrap its value in a text that also sets the names in `more`; return
        whether that was done.
        """
        self.flush()
        line = self.set_at.get(str(atom))
        given = f"{atom} = "
        if line is None or line is not self.out[-1] or not line.text.startswith(given):
            return False
        line.text = f"{', '.join([str(atom), *more])} = {text.format(line.text[len(given) :])}"
        return True

    def moves(
        self,
        pairs: list[tuple[str, ir.Atom]],
        position: ir.Position,
        before: list[Node],
        others: list[tuple[str, str]] | None = None,
    ) -> list[Node]:
        """Lines that set the names of a join, all at once if one is the source of another.

        A line just before that sets a source read only here may set the name directly.
        """
        texts = [(target, self.text(source), source) for target, source in pairs]
        read = {text for _, text, _ in texts}
        moves = [
            (target, text)
            for target, text, source in texts
            if target != text and (target in read or not self.sets_instead(target, source, before))
        ]
        return [Line(f"{left} = {right}", position) for left, right in in_step(moves + (others or []), 3)]

    def sets_instead(self, target: str, source: ir.Atom, before: list[Node]) -> bool:
        """Let the line that sets `source`, which nothing else reads, set `target` directly, if it is one of
        the last lines and none after it reads the old `target`; return whether that was done.
        """
        if not isinstance(source, str) or self.uses[source] != 1:
            return False
        name = self.alias.get(source, source)
        line = self.set_at.get(name)
        if (
            line is None
            or self.uses[name] != 1
            or name in self.shaped
            or any({name, target} & scope.needed for scope in self.scopes)
        ):
            return False
        for node in before[: -NEAR - 1 : -1]:
            if node is line:
                line.text = target + line.text[len(name) :]
                self.inlined |= {source, name}
                return True
            if _mentions(node, target) or _mentions(node, name):  # an append goes by the name of its list
                return False
        return False

    # -- cotangents ------------------------------------------------------------------------------------------

    def bar(self, name: str) -> str:
        """The name of the cotangent of a value."""
        if name not in self.bars:
            self.bars[name] = self.fresh(f"{name}_bar")
        return self.bars[name]

    def bars_of_arrays(self) -> set[str]:
        """The names of the cotangents of arrays."""
        return {bar for name, bar in self.bars.items() if isinstance(self.types(name), Array)}

    def own_buffers(self) -> set[str]:
        """The names of the buffers that sum cotangents of array elements, each of its array's shape."""
        return set(self.buffers.values())

    def arrays_kept(self) -> set[str]:
        """The arrays that the reverse sweep reads and that are made outside branches and loops."""
        scope = self.scopes[0]
        known = {name for name in scope.needed if scope.defined.get(name) is False}
        arrays = {name for name in known if isinstance(self.types(name), Array)}
        return arrays - {*self.function.parameters, *self.function.free}

    def has_axes(self, name: str) -> bool:
        """False for an array without axes, whose cotangent may come as a number."""
        kind = self.types(name)
        return not isinstance(kind, Array) or kind.ndim > 0

    def has_double_entry(self, name: str) -> bool:
        """Whether an array of double precision can be a parameter's entry in a gradient. The entry of a float
        of another precision, or of a complex number, has the dtype of the argument.
        """
        kind = self.types(name)
        return not isinstance(kind, Array) or (kind.ndim > 0 and kind.dtype not in _OTHER_PRECISIONS)

    def has_real_bar(self, name: str) -> bool:
        """Whether the cotangent of a value is one real number."""
        found = self._has_real_bar.get(name)
        if found is None:
            found = self.types(name) in (FLOAT, F8, REAL) or name in self.of_summed
            self._has_real_bar[name] = found
        return found

    @functools.cached_property
    def summed(self) -> dict[str, set[str]]:
        """Each sum of real numbers whose list is read nowhere else, with the names of that list: a single
        number is the cotangent of every item.
        """
        return self._read_once(self.types.summed()) if self.sites.relies_on_built_in(sum) else {}

    @functools.cached_property
    def of_summed(self) -> set[str]:
        """The names of the lists that are only summed."""
        return set().union(*self.summed.values())

    @functools.cached_property
    def arrayed(self) -> dict[str, set[str]]:
        """Each array made from a list that is read nowhere else, with the names of that list: the array's
        cotangent contains those of the items.
        """
        found = self._read_once(self.types.arrayed())
        calls = {let.target: let.op for let in self.function.lets() if isinstance(let.op, ir.Call)}
        return {name: names for name, names in found.items() if self.sites.is_known_function(calls[name])}

    @functools.cached_property
    def of_arrayed(self) -> set[str]:
        """The names of the lists that are only made into arrays."""
        return set().union(*self.arrayed.values())

    def _read_once(self, found: Iterator[tuple[str, set[str]]]) -> dict[str, set[str]]:
        """The results whose lists nothing else holds, with the names of these lists."""
        out = self.active.handled
        return {
            result: names
            for result, names in found
            if not any(map(self.regions.shared, names)) and out.isdisjoint((result, *names))
        }

    @functools.cached_property
    def lists_of_numbers(self) -> set[str]:
        """The names of lists whose items cannot run the author's code."""
        return self.types.lists_of_numbers()

    def zero(self, name: str) -> str:
        """The text with which the cotangent of a value starts."""
        starts_as_number = self.has_real_bar(name) and name not in self.vanishing
        return "0.0" if starts_as_number else self.shared_constant(support.ZERO, "ZERO")

    @functools.cached_property
    def vanishing(self) -> set[str]:
        """The numbers whose cotangent starts as a zero object. In a gradient, whose seed is a number, the
        parameters that certainly get a cotangent are not among them.
        """
        found = vanishing(self.function, self.types, self.active, self.stored_lists)
        if not self.runs_once:
            return found
        certain = flowed_to(self.function, self.types, lambda op: False)
        return found.difference(certain.intersection(self.function.parameters))

    @functools.cached_property
    def stored_lists(self) -> dict[str, list[str]]:
        """Each name of a list whose items are assigned to, with all names of that list."""
        return {name: self.regions.names_of(name) for name in self.item_bars}

    def as_real(self, name: str) -> Callable[..., Any]:
        """The helper that converts a cotangent to that of a real number."""
        return support.real_or_zero if name in self.vanishing else support.real

    def flow(self, name: str) -> str:
        """The marked name of a value's cotangent, for the text of a node."""
        return flow(self.bar(name))

    def add(
        self,
        atom: ir.Atom,
        text: str,
        position: ir.Position,
        *,
        exact: bool = False,
        of: str = "",
        **more: Any,
    ) -> list[Node]:
        """Nodes that add a contribution to the cotangent of `atom`. `exact` says that the text needs no
        conversion for a real bar, `of` which cotangent it is a part of; `more` goes to the `Sum`.
        """
        if not self.active(atom):
            return []
        assert isinstance(atom, str)
        real = self.has_real_bar(atom)
        if real and not exact:
            text, more["certain"] = self.asked(self.as_real(atom), text), False
        delayed = "" if real or exact else self.shared_constant(support.value, "value")
        plain = exact and isinstance(self.types(atom), Array) and self.has_axes(atom)
        keeps = real and atom in self.vanishing
        return [Sum(self.bar(atom), text, position, real, delayed, plain=plain, of=of, keeps=keeps, **more)]

    def move(self, atom: ir.Atom, source: str, position: ir.Position) -> list[Node]:
        """Nodes that pass the whole cotangent of `source` on to `atom`."""
        if not self.active(atom):
            return []
        assert isinstance(atom, str)
        exact = self.has_real_bar(source) or not self.has_real_bar(atom)
        return self.add(atom, self.flow(source), position, exact=exact)

    def open_bars(self, names: list[str], reverse: Block) -> None:
        """Start the cotangents of `names` in the reverse lines of the block that defines them."""
        own = [name for name in names if name != self.function.result]  # the result's starts as the seed
        reverse.zeros.update((self.bar(name), self.zero(name)) for name in own)
        reverse[:0] = [line for name in reversed(names) for line in self.buffer_of(name)]

    def buffer_of(self, name: str) -> list[Node]:
        """Lines that make the buffer in which the cotangents of an array's elements are summed, if any."""
        if name not in self.buffers:
            return []
        buffer = self.buffers[name]
        if name not in self.views:
            kind = self.types(name)
            if not self.runs_once:
                return [Line(f"{buffer} = {self.asked(support.buffer, self.need(name))}", None)]
            is_vector = isinstance(kind, Array) and kind.ndim == 1  # a number is quicker than a tuple of one
            shape = self.asked(len, self.need(name)) if is_vector else f"{self.need(name)}.shape"
            return [Line(f"{buffer} = {self.asked(np.zeros, shape, base='np_zeros')}", None)]
        if self.runs_once:
            zeros = self.asked(np.zeros, f"{self.need(name)}.shape", base="np_zeros")
            view = self.asked(memoryview, buffer)
            return [Line(f"{buffer} = {zeros}", None), Line(f"{self.views[name]} = {view}", None)]
        both = self.asked(support.buffer_and_view, self.need(name))
        return [Line(f"{buffer}, {self.views[name]} = {both}", None)]

    def complete(self, name: str, position: ir.Position | None) -> list[Node]:
        """Nodes that add the buffer of element cotangents to the cotangent of the whole array, if any."""
        if name not in self.buffers:
            return []
        return [Sum(self.bar(name), flow(self.buffers[name]), position, real=False)]

    # -- where names live ------------------------------------------------------------------------------------

    @contextmanager
    def scope(self) -> Iterator[_Scope]:
        scope = _Scope()
        self.scopes.append(scope)
        yield scope
        self.scopes.pop()

    @contextmanager
    def branch(self) -> Iterator[None]:
        self.scopes[-1].depth += 1
        yield
        self.scopes[-1].depth -= 1
