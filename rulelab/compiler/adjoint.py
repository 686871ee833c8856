"""The transform: the intermediate form to a forward sweep that keeps what is needed and a reverse sweep
that uses it.
"""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import heap, ir, outlines, specialise, support
from .activity import Activity
from .operands import decided
from .regions import Regions, makes_list, may_hold
from .tidy import Line, Node, Region, Sum, begin, phis_of, reads_of
from .types import (
    ANY,
    BOOL,
    F8,
    FLOAT,
    INT,
    LIST,
    NONE,
    REAL,
    STR,
    Array,
    Known,
    Tuple,
    Type,
    Types,
    is_real,
)


class Sites(Protocol):
    """What the transform asks of the machinery that finds pullbacks at run time."""

    def finder(self, op: ir.Op, position: ir.Position, active: tuple[bool, ...]) -> Callable[..., Any]: ...
    def plain(
        self, op: ir.Call, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any] | None: ...
    def plain_apply(
        self, op: ir.Apply, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any]: ...
    def bound_rule(self, op: ir.Op, active: tuple[bool, ...]) -> Callable[..., Any] | None: ...
    def indexer(self, position: ir.Position) -> Callable[..., Any]: ...
    def partials(self, op: ir.Op) -> Callable[..., Any] | None: ...
    def inline(self, op: ir.Op) -> bool: ...
    def writer(self, op: ir.Write, position: ir.Position) -> Callable[..., Any]: ...
    def caught(self, positions: list[ir.Position]) -> Callable[..., Any]: ...
    def entry(self, position: ir.Position) -> Callable[..., Any]: ...
    def iterate(self, position: ir.Position) -> Callable[..., Any]: ...
    def unpacker(self, op: ir.Unpack, position: ir.Position) -> Callable[..., Any]: ...
    def function_maker(self, op: ir.MakeFunction) -> Callable[..., Any]: ...


@dataclass(eq=False)
class Emitted:
    """The two sweeps, ready to be printed: lines, and the objects that the lines name."""

    name: str
    shown: str  # the author's name for the function
    parameters: list[str]
    forward: list[Node]
    result: str
    reverse: list[Node] | None
    result_bar: str
    returned: list[str]
    constants: dict[str, Any]
    back_name: str
    cells: frozenset[str]  # the captured variables that are taken as cells
    has_effects: bool  # whether the pullback must be called even where nothing flowed to the result
    hands_on: bool  # whether it must be if the result is a container, which a callee may have made
    helper: Callable[[Any, str], str]  # the name under which a helper can be used
    fresh: Callable[[str], str]  # a name that nothing else has


@dataclass(eq=False)
class _Scope:
    """A block whose names live for one activation or one iteration; `needed` are those the reverse sweep
    reads.
    """

    defined: dict[str, None] = field(default_factory=dict)
    needed: set[str] = field(default_factory=set)
    conditional: set[str] = field(default_factory=set)  # defined on a branch, so perhaps not at all
    depth: int = 0  # how many branches deep inside the block we are


def adjoint(
    function: ir.Function,
    types: Types,
    active: Activity,
    regions: Regions,
    parameters: list[str],
    wanted: set[str],
    sites: Sites,
    differentiate: bool,
) -> Emitted:
    """Both sweeps of a lowered function: the pullback gives a cotangent for each of `parameters`, free
    variables first, as far as it is `wanted`.
    """
    return _Adjoint(function, types, active, regions, sites).run(parameters, wanted, differentiate)


class _Adjoint:
    def __init__(
        self, function: ir.Function, types: Types, active: Activity, regions: Regions, sites: Sites
    ) -> None:
        self.function = function
        self.regions = regions
        self.has_effects = False
        self.makes_unseen = False  # whether a list is complete whose changes are not recorded so far
        self.may_make = False  # whether a call may give a container whose cotangent goes by identity
        self.types = types
        self.active = active
        self.sites = sites
        self.taken = set(function.reserved) | {
            s.target for s in ir.walk(function.body) if isinstance(s, ir.Let)
        }
        self.taken |= _all_names(function)
        self.constants: dict[str, Any] = {}
        self.scopes: list[_Scope] = [_Scope()]
        self.bars: dict[str, str] = {}
        self.buffers: dict[str, str] = {}
        # The buffer of an array as a memoryview, which is quicker for single elements.
        self.views: dict[str, str] = {}
        self.walked: dict[str, str] = {}  # the items of loops over a walk, and the name of that
        self.shared: dict[int, str] = {}
        self.alias: dict[str, str] = {}
        self.pending: dict[str, tuple[str, ir.Position]] = {}
        self.carried = {
            phi.target
            for st in ir.walk(function.body)
            if isinstance(st, (ir.For, ir.While))
            for phi in st.carried
        }
        self.out: list[Node] = []
        self.uses = _use_counts(function)
        self.growing = {name for name in _growing(function) if not regions.shared(name)}

    # -- the whole -------------------------------------------------------------------------------------------

    def run(self, parameters: list[str], wanted: set[str], differentiate: bool) -> Emitted:
        function = self.function
        for name in (*function.parameters, *function.free):
            self.define(name)
        forward, reverse = self.block(function.body)
        self.out = forward
        result = self.text(function.result)
        bar = self.bar(function.result) if self.active(function.result) else self.fresh("y_bar")  # type: ignore[arg-type]
        if differentiate and isinstance(function.result, str):
            reverse[:0] = self.hand_over_result(function.result)
        if self.has_effects and self.active(function.result):
            reverse[:0] = self.begin_with_effects(bar)
        returned = []
        for name in parameters:
            if not self.active(name) or name not in wanted:
                returned.append(self.shared_constant(support.NO, "NO"))
                continue
            reverse += self.complete(name, None)
            returned.append(self.settled(name))
        for name in parameters:
            if self.active(name):
                self.open_bar(name, reverse, must=True)
        short = function.name if function.name.isidentifier() else "function"
        return Emitted(
            self.fresh(short),
            function.name,
            list(function.parameters),
            forward,
            result,
            reverse if differentiate else None,
            bar,
            returned,
            self.constants,
            self.fresh(f"{short}_pullback"),
            function.cells,
            self.has_effects and differentiate,
            self.may_make and isinstance(function.result, str) and may_hold(self.types(function.result)),
            self.shared_constant,
            self.fresh,
        )

    def hand_over_result(self, result: str) -> list[Node]:
        """A container that is constant here may be changed by whoever gets it: from now on it is followed."""
        if (self.active(result) and not self.makes_unseen) or not self.regions.makes(result):
            return []
        self.has_effects = True
        handed = self.fresh("handed_on")
        hand_on = self.shared_constant(outlines.hand_on, "hand_on")
        self.line(f"{handed} = {hand_on}({self.text(result)})", None)
        return [Line(f"{self.shared_constant(outlines.forget, 'forget')}({handed})", None)]

    def begin_with_effects(self, bar: str) -> list[Node]:
        """The seed may be a zero; what it says of containers that others may hold goes into the table."""
        result = self.function.result
        assert isinstance(result, str)
        if self.has_real_bar(result):
            return [
                Line(f"{bar} = {self.shared_constant(support.real, 'real')}({bar})", None, frozenset({bar}))
            ]
        if not may_hold(self.types(result)):
            return []
        outline = self.fresh("outline")
        self.line(
            f"{outline} = {self.shared_constant(outlines.outline, 'outline_of')}({self.text(result)})", None
        )
        hand_in = self.shared_constant(outlines.hand_in, "hand_in")
        return [Line(f"{bar} = {hand_in}({outline}, {bar})", None, frozenset({bar}))]

    def settled(self, name: str) -> str:
        """The cotangent of a parameter as others know it: running sums of items are the pass's own."""
        kind = self.types(name)
        if kind != LIST and not isinstance(kind, Tuple):
            return self.bar(name)
        return f"{self.shared_constant(support.settle, 'settle')}({self.bar(name)})"

    # -- names -----------------------------------------------------------------------------------------------

    def fresh(self, base: str) -> str:
        name, number = base, 1
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        return name

    def constant(self, value: Any, base: str) -> str:
        name = self.fresh(base)
        self.constants[name] = value
        return name

    def shared_constant(self, value: Any, base: str) -> str:
        """The name of a helper, the same at every use."""
        if id(value) not in self.shared:
            self.shared[id(value)] = self.constant(value, base)
        return self.shared[id(value)]

    def define(self, name: str) -> None:
        scope = self.scopes[-1]
        scope.defined[name] = None
        if scope.depth:
            scope.conditional.add(name)

    def need(self, atom: ir.Atom | str) -> str:
        """The text of a forward value in the reverse sweep; it will be kept for it."""
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
        if value is ir.UNBOUND:
            return self.shared_constant(ir.UNBOUND, "UNBOUND")
        if value is None or isinstance(value, (bool, str, bytes, int)):
            return f"({value!r})" if type(value) is int and value < 0 else repr(value)
        if type(value) is float and math.isfinite(value):
            return f"({value!r})" if math.copysign(1.0, value) < 0 else repr(value)
        if value is Ellipsis:
            return "..."
        return self.constant(value, "constant")

    def text(self, atom: ir.Atom) -> str:
        """The text of a forward value in the forward sweep, as a name."""
        if isinstance(atom, ir.Const):
            return self.literal(atom.value)
        if atom in self.pending:
            self.flush()
        return self.alias.get(atom, atom)

    # -- short expressions stay inside the line that uses them -----------------------------------------------

    def flush(self) -> None:
        pending, self.pending = self.pending, {}
        for name, (text, position) in pending.items():
            self.out.append(Line(f"{name} = {text}", position))

    def texts(
        self, atoms: tuple[ir.Atom, ...], named: tuple[ir.Atom, ...] = (), tight: int = 1 << 30
    ) -> list[str]:
        """The operands as texts: those computed just before, and used only here, as expressions in place.

        `named` are the operands that the reverse sweep reads, so they must keep a name; the first `tight`
        stand where an expression needs brackets.
        """
        here = [a for a in atoms if isinstance(a, str) and a in self.pending]
        if not here:
            return [self.text(a) for a in atoms]
        if list(self.pending)[-len(here) :] == here and not set(here) & {
            a for a in named if isinstance(a, str)
        }:
            loose = {a for a in atoms[tight:] if isinstance(a, str)} - {
                a for a in atoms[:tight] if isinstance(a, str)
            }
            found = {
                a: text if a in loose else _bracketed(text)
                for a in here
                for text in (self.pending.pop(a)[0],)
            }
            others = {a: self.text(a) for a in atoms if not (isinstance(a, str) and a in found)}
            return [found[a] if isinstance(a, str) and a in found else others[a] for a in atoms]
        self.flush()
        return [self.text(a) for a in atoms]

    def line(self, text: str, position: ir.Position | None) -> None:
        self.flush()
        self.out.append(Line(text, position))

    def assign(self, target: str, text: str, position: ir.Position, *, may_wait: bool = False) -> None:
        """`target = text`, now or (a value used once, just ahead) as a part of the line that uses it."""
        scope = self.scopes[-1]
        if may_wait and self.uses[target] == 1 and target not in scope.needed:
            self.pending[target] = (text, position)
            return
        self.line(f"{target} = {text}", position)

    # -- cotangents ------------------------------------------------------------------------------------------

    def bar(self, name: str) -> str:
        if name not in self.bars:
            self.bars[name] = self.fresh(f"{name}_bar")
        return self.bars[name]

    def has_real_bar(self, name: str) -> bool:
        return self.types(name) in (FLOAT, F8, REAL)

    def zero(self, name: str) -> str:
        return "0.0" if self.has_real_bar(name) else self.shared_constant(support.ZERO, "ZERO")

    def add(
        self,
        atom: ir.Atom,
        text: str,
        position: ir.Position,
        reads: tuple[str, ...] = (),
        *,
        exact: bool = False,
    ) -> list[Node]:
        """A contribution to the cotangent of `atom`; `exact` says that the text is a real number for a real
        bar.
        """
        if not self.active(atom):
            return []
        assert isinstance(atom, str)
        real = self.has_real_bar(atom)
        if real and not exact:
            text = f"{self.shared_constant(support.real, 'real')}({text})"
        delayed = "" if real or exact else self.shared_constant(support.value, "value")
        return [Sum(self.bar(atom), text, position, frozenset(reads), real, delayed)]

    def move(self, atom: ir.Atom, source: str, position: ir.Position) -> list[Node]:
        """The whole cotangent of `source` goes to `atom`."""
        if not self.active(atom):
            return []
        assert isinstance(atom, str)
        bar = self.bar(source)
        exact = self.has_real_bar(source) or not self.has_real_bar(atom)
        return self.add(atom, bar, position, (bar,), exact=exact)

    def open_bar(self, name: str, reverse: list[Node], must: bool = False) -> None:
        """Give the cotangent of `name` its start in the reverse sweep of the block that defines it."""
        if name != self.function.result:  # its cotangent starts as the seed
            if not begin(reverse, self.bar(name), self.zero(name)) and must:
                reverse.append(Line(f"{self.bar(name)} = {self.zero(name)}", None))
        if name in self.buffers:
            buffer, make = self.buffers[name], self.shared_constant(support.buffer, "buffer")
            if name in self.views:
                reverse.insert(
                    0, Line(f"{self.views[name]} = memoryview({buffer})", None, frozenset({self.views[name]}))
                )
            reverse.insert(0, Line(f"{buffer} = {make}({self.need(name)})", None, frozenset({buffer})))

    def complete(self, name: str, position: ir.Position | None) -> list[Node]:
        """Cotangents of single elements are collected apart; they join before the whole is read."""
        if name not in self.buffers:
            return []
        return [
            Sum(self.bar(name), self.buffers[name], position, frozenset({self.buffers[name]}), real=False)
        ]

    # -- blocks ----------------------------------------------------------------------------------------------

    def block(self, statements: ir.Block, first: list[Node] | None = None) -> tuple[list[Node], list[Node]]:
        """The forward lines of a block and its reverse lines, last statement first.

        `first` are reverse lines that come before all others.
        """
        outer, self.out, outer_pending, self.pending = self.out, [], self.pending, {}
        pieces = [(statement, *self.statement(statement)) for statement in statements]
        self.flush()
        forward, self.out, self.pending = self.out, outer, outer_pending
        reverse = list(first or ())
        for statement, nodes, names in reversed(pieces):
            for name in names:
                reverse += self.complete(name, statement.position)
            reverse += nodes
        for _, _, names in pieces:
            for name in names:
                self.open_bar(name, reverse)
        return forward, reverse

    def statement(self, statement: ir.Statement) -> tuple[list[Node], list[str]]:
        """Emit the forward lines; give the reverse lines and the active names that the statement defines."""
        return getattr(self, f"do_{type(statement).__name__.lower()}")(statement)

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

    # -- statements ------------------------------------------------------------------------------------------

    def do_let(self, statement: ir.Let) -> tuple[list[Node], list[str]]:
        op, target, position = statement.op, statement.target, statement.position
        if isinstance(op, ir.Publish):
            return self.site_publish(op, position), []
        if isinstance(op, ir.Append):
            self.alias[target] = self.text(op.value) if isinstance(op.value, str) else target
        elif isinstance(op, (ir.Load, ir.Attribute)) and isinstance(self.types(target), Known):
            self.alias[target] = self.call_path(op)  # the guard vouches for it: it needs no name of its own
            return [], []
        else:
            self.define(target)
        if self.active(target) and target in self.active.handled and target in self.regions.effects:
            self.in_handler(op, target, position)
            return [], []
        if not self.active(target) or target in self.active.handled:
            self.plain(op, target, position)
            return [], []
        if target in self.regions.effects:
            self.has_effects = True
        method = getattr(self, f"site_{type(op).__name__.lower()}", self.site_generic)
        nodes = method(op, target, position)
        return nodes, [target]

    def in_handler(self, op: ir.Op, target: str, position: ir.Position) -> None:
        """A change that a handler makes: done, and not differentiated (`caught` sees to that)."""
        self.has_effects = True
        self.site_generic(op, target, position)

    def site_publish(self, op: ir.Publish, position: ir.Position) -> list[Node]:
        if not self.active(op.value) or op.value in self.active.handled:
            self.makes_unseen = True
            self.line(
                f"{self.shared_constant(heap.publish_plain, 'publish')}({self.text(op.value)})", position
            )
            return []
        self.has_effects = True
        size = self.fresh("size")
        self.define(size)
        self.line(
            f"{size} = {self.shared_constant(heap.publish, 'publish')}({self.text(op.value)})", position
        )
        assert isinstance(op.value, str)
        bar, collect = self.bar(op.value), self.shared_constant(heap.collect, "collect")
        text = f"{collect}({self.need(op.value)}, {bar}, {self.need(size)})"
        return [Line(f"{bar} = {text}", position, frozenset({bar}))]

    def call_path(self, op: ir.Load | ir.Attribute) -> str:
        return op.name if isinstance(op, ir.Load) else f"{self.text(op.value)}.{op.name}"

    def plain(self, op: ir.Op, target: str, position: ir.Position) -> None:
        """The operation as the author wrote it."""
        if isinstance(op, ir.Append):
            value, item = self.texts((op.value, op.item), tight=1)
            self.line(f"{value}.append({item})", position)
            return
        if isinstance(op, ir.Augmented) and not (
            is_real(self.types(op.left)) and is_real(self.types(op.right))
        ):
            find = self.constant(self.sites.finder(op, position, (False, False)), "update")
            left, right = self.texts((op.left, op.right))
            self.assign(target, f"{find}({left}, {right})({left}, {right})[0]", position)
            return
        if isinstance(op, ir.Call):
            self.plain_call(op, target, position)
            return
        if isinstance(op, ir.Apply):
            self.plain_apply(op, target, position)
            return
        may_wait = not isinstance(op, (ir.Write, ir.MakeFunction, ir.Ask)) and (
            isinstance(op, ir.Load) or _is_temporary(target)
        )
        self.assign(
            target, self.made_here(op, target, self.expression(op, position)), position, may_wait=may_wait
        )

    def made_here(self, op: ir.Op, target: str, text: str) -> str:
        """The text of an operation; where it makes a list that may be changed, that is noted."""
        if not self.regions.shared(target) or not makes_list(op, self.types):
            return text
        return f"{self.shared_constant(heap.made_plain, 'made')}({text})"

    def plain_call(self, op: ir.Call, target: str, position: ir.Position) -> None:
        guard = self.sites.plain(op, position, tuple(atom in self.active.varied for atom in op.operands()))
        if guard is None:
            text = self.made_here(op, target, self.call_text(op))
            self.assign(target, text, position, may_wait=_is_temporary(target))
            return
        name = self.constant(guard, "call")
        self.flush()
        arguments = self.arguments(op)
        function = self.text(op.function)
        text = f"{name}({', '.join([function, *arguments])})"
        self.assign(target, self.made_here(op, target, text), position)

    def plain_apply(self, op: ir.Apply, target: str, position: ir.Position) -> None:
        varied = tuple(atom in self.active.varied for atom in op.operands())
        call = self.constant(self.sites.plain_apply(op, position, varied), "call")
        self.flush()
        function, args, keywords = map(self.text, op.operands())
        words = [] if keywords == "None" else [f"**{keywords}"]
        self.assign(target, f"{call}({', '.join([function, f'*{args}', *words])})", position)

    def call_text(self, op: ir.Call) -> str:
        texts = self.texts(op.operands(), tight=1)
        function = texts[0] if op.method is None else f"{texts[0]}.{op.method}"
        count = len(op.args)
        words = [f"{key}={value}" for (key, _), value in zip(op.keywords, texts[1 + count :], strict=True)]
        return f"{function}({', '.join([*texts[1 : 1 + count], *words])})"

    def arguments(self, op: ir.Call) -> list[str]:
        return [self.text(a) for a in op.args] + [f"{key}={self.text(a)}" for key, a in op.keywords]

    def expression(self, op: ir.Op, position: ir.Position) -> str:
        if isinstance(op, ir.Load):
            return op.name
        if isinstance(op, ir.MakeFunction):
            return self.make_function(op)
        if isinstance(op, ir.Write):
            if (
                op.owned
                and op.kind == "item"
                and not any(atom in self.active.varied for atom in op.operands())
            ):
                target, key, value = (self.text(atom) for atom in op.operands())
                return f"{target}.__setitem__({key}, {value})"
            write = self.constant(self.sites.writer(op, position), "write")
            return f"{write}({', '.join(self.texts(op.operands()))})"
        texts = self.texts(op.operands(), tight=_TIGHT.get(type(op), 1 << 30))
        if isinstance(op, ir.Item) and self.regions.shared(op.value) and self.types(op.value) == ANY:
            return f"{self.constant(self.sites.entry(position), 'entry')}({', '.join(texts)})"
        text = specialise.primal_text(op, texts, self.shared_constant)
        if isinstance(op, ir.Compare) and self.may_compare_objects(op):
            return f"{self.shared_constant(decided, 'decided')}({text})"
        return text

    def may_compare_objects(self, op: ir.Compare) -> bool:
        """Whether a class of the author's may answer a comparison, perhaps with a number that varies."""
        return op.symbol in ("<", "<=", ">", ">=", "==", "!=") and any(
            a in self.active.varied and self.types(a) == ANY for a in (op.left, op.right)
        )

    def make_function(self, op: ir.MakeFunction) -> str:
        maker = self.constant(self.sites.function_maker(op), "make_function")
        captured = [self.text(a) for _, a in op.captured]  # a cell, for those of op.cells
        defaults = [self.text(a) for a in op.defaults]
        words = [f"{name!r}: {self.text(a)}" for name, a in op.keyword_defaults]
        return f"{maker}([{', '.join(captured)}], [{', '.join(defaults)}], {{{', '.join(words)}}})"

    # -- sites: how one operation is differentiated ----------------------------------------------------------

    def site_move(self, op: ir.Move | ir.Unpack, target: str, position: ir.Position) -> list[Node]:
        self.assign(target, self.expression(op, position), position)
        return self.move(op.value, target, position)

    def site_unpack(self, op: ir.Unpack, target: str, position: ir.Position) -> list[Node]:
        kind = self.types(op.value)
        if kind == LIST or isinstance(kind, (Array, Tuple)):
            return self.site_move(op, target, position)
        back = self.fresh("back")
        self.define(back)
        take = self.constant(self.sites.unpacker(op, position), "unpack")
        self.line(f"{target}, {back} = {take}({self.texts((op.value,))[0]})", position)
        bar = self.bar(target)
        return self.add(op.value, f"{self.need(back)}({bar})", position, (bar,))

    def site_binary(
        self, op: ir.Binary | ir.Unary | ir.Augmented, target: str, position: ir.Position
    ) -> list[Node]:
        operands = op.operands()
        kinds = [self.types(a) for a in operands]
        if all(map(is_real, kinds)) and is_real(self.types(target)) and self.sites.inline(op):
            formula = specialise.formula(op)
            if formula is not None and specialise.divides_safely(op, kinds):
                needed = tuple(a for k, a in enumerate(operands) if formula.needs(k, self.active, operands))
                texts = self.texts(operands, named=needed)
                nodes = self.formula_nodes(formula, op, target, position)
                self.assign(
                    target,
                    specialise.primal_text(op, texts, self.shared_constant),
                    position,
                    may_wait=_is_temporary(target),
                )
                return nodes
        return self.site_generic(op, target, position)

    site_unary = site_binary
    site_augmented = site_binary

    def formula_nodes(
        self, formula: specialise.Formula, op: ir.Op, target: str, position: ir.Position
    ) -> list[Node]:
        nodes: list[Node] = []
        bar = self.bar(target)
        for number, atom in enumerate(op.operands()):
            if self.active(atom):
                keep = _Keeper(self, op.operands(), target)
                nodes += self.add(atom, formula.term(number, bar, keep), position, (bar,), exact=True)
        return nodes

    def site_item(self, op: ir.Item, target: str, position: ir.Position) -> list[Node]:
        owner = self.types(op.value)
        bar = self.bar(target)
        if (
            isinstance(owner, Array)
            and owner.dtype == "f8"
            and op.value not in self.carried
            and (self.types(target) == F8 or isinstance(self.types(target), Array))
            and isinstance(op.value, str)
            and self.sites.inline(op)
        ):
            value, index = self.texts(op.operands(), named=(op.value, op.index))
            self.assign(target, f"{value}[{index}]", position, may_wait=_is_temporary(target))
            return self.element_nodes(op, owner, target, position)
        if (isinstance(owner, Tuple) or owner == LIST) and not (
            owner == LIST and self.regions.shared(op.value)
        ):
            if not self.active(op.value):
                self.plain(op, target, position)
                return []
            value, index = self.texts(op.operands(), named=(op.value, op.index))
            self.assign(target, f"{value}[{index}]", position)
            size = self.fresh("size")
            self.define(size)
            self.line(f"{size} = len({value})", position)
            if not is_real(self.types(op.index)) and not isinstance(op.index, ir.Const):
                return self.site_slice_of_list(op, target, position, size)
            put = self.shared_constant(support.put_item, "put_item")
            owner_bar = self.bar(op.value)  # type: ignore[arg-type]
            kind = "list" if owner == LIST else "tuple"
            text = f"{put}({owner_bar}, {self.need(op.index)}, {self.need(size)}, {bar}, {kind})"
            return [Line(f"{owner_bar} = {text}", position, frozenset({owner_bar, bar}))]
        return self.site_generic(op, target, position)

    def site_slice_of_list(self, op: ir.Item, target: str, position: ir.Position, size: str) -> list[Node]:
        put = self.shared_constant(support.put_items, "put_items")
        owner_bar, bar = self.bar(op.value), self.bar(target)  # type: ignore[arg-type]
        kind = "list" if self.types(op.value) == LIST else "tuple"
        text = f"{put}({owner_bar}, {self.need(op.index)}, {self.need(size)}, {bar}, {kind})"
        return [Line(f"{owner_bar} = {text}", position, frozenset({owner_bar, bar}))]

    def element_nodes(self, op: ir.Item, owner: Array, target: str, position: ir.Position) -> list[Node]:
        """Cotangents of the items of one array go into one buffer."""
        name, bar = op.value, self.bar(target)
        assert isinstance(name, str)
        buffer = self.buffers.setdefault(name, self.fresh(f"{name}_sum"))
        index = self.need(op.index)
        self.bar(name)
        if self.types(target) != F8:
            text = f"{self.shared_constant(support.add_slice, 'add_slice')}({buffer}, {index}, {bar})"
            return [Line(text, position, frozenset({buffer, bar}))]
        view = self.views.setdefault(name, self.fresh(f"{name}_at"))
        return [Line(f"{view}[{index}] += {bar}", position, frozenset({view, bar}))]

    def site_append(self, op: ir.Append, target: str, position: ir.Position) -> list[Node]:
        size = self.fresh("size")
        self.define(size)
        value, item = self.texts((op.value, op.item))
        self.flush()
        self.line(f"{size} = len({value})", position)
        self.line(f"{value}.append({item})", position)
        bar = self.bar(target)
        nodes: list[Node] = []
        pop = self.shared_constant(support.pop_item, "pop_item")
        if self.active(op.item):
            item_bar = self.fresh("item_bar")
            nodes.append(
                Line(f"{bar}, {item_bar} = {pop}({bar}, {self.need(size)})", position, frozenset({bar}))
            )
            nodes += self.add(op.item, item_bar, position)
        else:
            nodes.append(Line(f"{bar} = {pop}({bar}, {self.need(size)})[0]", position, frozenset({bar})))
        return nodes + self.move(op.value, target, position)

    def site_build(self, op: ir.Build, target: str, position: ir.Position) -> list[Node]:
        if op.kind == "set":
            return self.site_generic(op, target, position)
        if op.kind == "dict":
            self.flush()  # the reverse sweep reads the keys by name
        self.assign(target, self.expression(op, position), position)
        bar = self.bar(target)
        part = self.shared_constant(support.part, "part")
        nodes: list[Node] = []
        items = (
            list(enumerate(op.items))
            if op.kind != "dict"
            else [(op.items[k], op.items[k + 1]) for k in range(0, len(op.items), 2)]
        )
        for number, (key, atom) in enumerate(items):
            index = str(key) if op.kind != "dict" else self.need(key)  # type: ignore[arg-type]
            text = f"{part}({bar}, {index})"
            later = [k for k, _ in items[number + 1 :] if _may_be_equal(k, key)] if op.kind == "dict" else []
            if later:  # of equal keys the last one counts
                zero = self.shared_constant(support.ZERO, "ZERO")
                text = f"{zero} if {index} in {self.tuple_of(later)} else {text}"  # type: ignore[arg-type]
            nodes += self.add(atom, text, position, (bar,))
        return nodes

    def tuple_of(self, atoms: list[ir.Atom]) -> str:
        return f"({', '.join(map(self.need, atoms))},)"

    def site_makefunction(self, op: ir.MakeFunction, target: str, position: ir.Position) -> list[Node]:
        self.flush()
        self.line(f"{target} = {self.make_function(op)}", position)
        bar = self.bar(target)
        part = self.shared_constant(support.part, "part")
        nodes: list[Node] = []
        code = (
            op.code
        )  # a function holds its defaults as it holds what it captures: by the name of the parameter
        defaults = zip(
            code.co_varnames[code.co_argcount - len(op.defaults) : code.co_argcount], op.defaults, strict=True
        )
        values = [(name, atom) for name, atom in op.captured if name not in op.cells]
        for name, atom in (*values, *defaults, *op.keyword_defaults):
            nodes += self.add(atom, f"{part}({bar}, {name!r})", position, (bar,))
        return nodes

    def site_attribute(self, op: ir.Attribute, target: str, position: ir.Position) -> list[Node]:
        return self.site_generic(op, target, position)

    def site_call(self, op: ir.Call, target: str, position: ir.Position) -> list[Node]:
        partials = self.sites.partials(op)
        kinds = [self.types(a) for a in op.args]
        if (
            partials is not None
            and not op.keywords
            and op.args
            and all(map(is_real, kinds))
            and is_real(self.types(target))
        ):
            return self.site_partials(op, partials, target, position)
        return self.site_generic(op, target, position)

    def site_partials(
        self, op: ir.Call, partials: Callable[..., Any], target: str, position: ir.Position
    ) -> list[Node]:
        """A scalar rule on real scalars: its partial derivatives are asked for in the reverse sweep only."""
        self.flush()
        self.line(f"{target} = {self.call_text(op)}", position)
        ask = self.constant(partials, "partials")
        bar = self.bar(target)
        asked = f"{ask}({', '.join([self.need(target), *map(self.need, op.args)])})"
        if len(op.args) == 1:
            return self.add(op.args[0], f"{bar} * {asked}", position, (bar,), exact=True)
        found = self.fresh("partial")
        nodes: list[Node] = [Line(f"{found} = {asked}", position)]
        for number, atom in enumerate(op.args):
            nodes += self.add(atom, f"{bar} * {found}[{number}]", position, (bar,), exact=True)
        return nodes

    def site_generic(self, op: ir.Op, target: str, position: ir.Position) -> list[Node]:
        """A call of the pullback that the operands have at run time."""
        flags = tuple(map(self.active, op.operands()))
        back = self.fresh("back")
        self.define(back)
        bound = (
            self.sites.bound_rule(op, flags)
            if not isinstance(op, ir.Indexable)
            else self.sites.indexer(position)
        )
        function, arguments = self.call_parts(op, bound is None)
        if bound is not None:
            rule = self.constant(bound, f"{getattr(bound, '__name__', 'rule')}")
            self.line(f"{target}, {back} = {rule}({', '.join(arguments)})", position)
        else:
            find = self.constant(self.sites.finder(op, position, flags), "find")
            asked = ", ".join(([function] if function is not None else []) + arguments)
            self.line(f"{target}, {back} = {find}({asked})({', '.join(arguments)})", position)
        bar = self.bar(target)
        got = self.fresh("parts")
        may_be_idle = bound is None or isinstance(op, (ir.MakeCell, ir.Indexable))
        pulled = self.pulled(back, bar, target, may_be_idle)
        nodes: list[Node] = [Line(f"{got} = {pulled}", position, frozenset({bar}))]
        for slot, atom in self.slots(op):
            nodes += self.add(atom, f"{got}[{slot}]", position)
        return nodes

    def pulled(self, back: str, bar: str, target: str, may_be_idle: bool) -> str:
        """What the pullback gives; where nothing flowed it is not asked, and a zero stands for every part
        of it.
        """
        back = self.need(back)
        if self.has_real_bar(target):
            return f"{back}({bar})"
        if may_be_idle and (target in self.regions.effects or may_hold(self.types(target))):
            self.may_make = True
            return (
                f"{bar} if {self.shared_constant(heap.is_idle, 'is_idle')}({back}, {bar}) else {back}({bar})"
            )
        zero, no = self.shared_constant(support.ZERO, "ZERO"), self.shared_constant(support.NO, "NO")
        return f"{bar} if {bar} is {zero} or {bar} is {no} else {back}({bar})"

    def call_parts(self, op: ir.Op, named: bool) -> tuple[str | None, list[str]]:
        """(what is called, the arguments) of a site; a method's object is its first argument."""
        self.flush()
        if isinstance(op, ir.Apply):
            given = [self.as_it_is(op.args), self.as_it_is(op.keywords)]
            if op.method is None:
                return None, [self.text(op.function), *given]
            return None, [self.as_it_is(op.function), *given]
        if isinstance(op, ir.Call):
            arguments = [self.as_it_is(a) for a in op.args] + [
                f"{key}={self.as_it_is(a)}" for key, a in op.keywords
            ]
            if op.method is not None and not isinstance(self.types(op.function), Known):
                return None, [self.as_it_is(op.function), *arguments]
            function = self.text(op.function) if named else ""
            return function if op.method is None else f"{function}.{op.method}", arguments
        return None, [self.as_it_is(a) for a in op.operands()]

    def as_it_is(self, atom: ir.Atom) -> str:
        """An operand that a pullback may keep: a list that grows later is handed over as it is now."""
        return f"{self.text(atom)}[:]" if isinstance(atom, str) and atom in self.growing else self.text(atom)

    def slots(self, op: ir.Op) -> list[tuple[int, ir.Atom]]:
        """Which entry of the pullback's answer belongs to which operand; entry 0 is the function's."""
        if isinstance(op, ir.Call):
            shift = 1 if op.method is None or isinstance(self.types(op.function), Known) else 2
            first = [(shift - 1, op.function)]
            values = [*op.args, *(a for _, a in op.keywords)]
            return first + [(shift + k, a) for k, a in enumerate(values)]
        if isinstance(op, ir.Apply):
            return list(enumerate(op.operands()))
        return [(1 + k, a) for k, a in enumerate(op.operands())]

    # -- branches and loops ----------------------------------------------------------------------------------

    def do_if(self, statement: ir.If) -> tuple[list[Node], list[str]]:
        position = statement.position
        matters = _has_active(statement, self.active)
        test = self.texts((statement.test,), (statement.test,) if matters else (), tight=0)[0]
        self.flush()
        kept: ir.Atom = statement.test
        if matters and isinstance(statement.test, str) and not _keeps_its_truth(self.types(statement.test)):
            kept = test = self.truth(test, position)
        arms = [self.arm(statement, number) for number in (0, 1)]
        for phi in statement.outs:
            self.define(phi.target)
        self.out += _branch(test, arms[0][0], arms[1][0], position)
        nodes: list[Node] = []
        if arms[0][1] or arms[1][1]:
            nodes = _branch(self.need(kept), arms[0][1], arms[1][1], position)
        return nodes, [phi.target for phi in statement.outs if self.active(phi.target)]

    def truth(self, test: str, position: ir.Position) -> str:
        """The truth of a value now: that of a container may be another when the reverse sweep asks."""
        taken = self.fresh("taken")
        self.define(taken)
        self.line(f"{taken} = {self.shared_constant(operator.truth, 'truth')}({test})", position)
        return taken

    def arm(self, statement: ir.If, number: int) -> tuple[list[Node], list[Node]]:
        moves = [
            node
            for phi in statement.outs
            if self.active(phi.target)
            for node in self.move(phi.sources[number], phi.target, statement.position)
        ]
        with self.branch():
            forward, reverse = self.block((statement.then, statement.orelse)[number], moves)
        forward += self.moves(
            [(phi.target, phi.sources[number]) for phi in statement.outs], statement.position
        )
        return forward, reverse

    def moves(self, pairs: list[tuple[str, ir.Atom]], position: ir.Position) -> list[Node]:
        """Values for the names of a join, given all at once where one is the source of another."""
        texts = [(target, self.text(source)) for target, source in pairs]
        texts = [(target, text) for target, text in texts if target != text]
        targets = {target for target, _ in texts}
        if len(texts) > 1 and any(text in targets for _, text in texts):
            left, right = (", ".join(part) for part in zip(*texts, strict=True))
            return [Line(f"{left} = {right}", position)]
        return [Line(f"{target} = {text}", position) for target, text in texts]

    def do_for(self, statement: ir.For) -> tuple[list[Node], list[str]]:
        self.flush()
        position = statement.position
        leaves = list(ir.leaves(statement.iteration))
        self.walks(leaves, position)
        header = f"for {_pattern(statement.iteration)} in {self.iterated(statement.iteration, position)}:"
        gathered = [
            (leaf, self.fresh("items_bar"))
            for leaf in leaves
            if isinstance(leaf, ir.Sequence) and self.active(leaf.item)
        ]
        names = [leaf.item for leaf in leaves] + _counters(statement.iteration)
        kept = {leaf.item: self.kept_sequence(leaf, position) for leaf, _ in gathered}
        nodes, defined = self.loop(statement, header, names, [(leaf.item, items) for leaf, items in gathered])
        if not gathered:
            return nodes, defined
        gather = self.shared_constant(support.gather, "gather")
        after = [
            node
            for leaf, items in gathered
            for node in self.add(
                leaf.value,
                f"{gather}({self.need(kept[leaf.item])}, {items}{', True' if leaf.backwards else ''})",
                position,
            )
        ]
        return [*(Line(f"{items} = []", position) for _, items in gathered), *nodes, *after], defined

    def walks(self, leaves: list[ir.Sequence | ir.Count], position: ir.Position) -> None:
        """A name for what a loop runs over in place of a value of unknown kind, which notes what it took."""
        for leaf in leaves:
            if not isinstance(leaf, ir.Sequence) or not self.active(leaf.item):
                continue
            kind = self.types(leaf.value)
            if kind == LIST or isinstance(kind, (Array, Tuple)):
                continue
            walk, iterate = self.fresh("walk"), self.constant(self.sites.iterate(position), "iterate")
            self.line(f"{walk} = {iterate}({self.as_it_is(leaf.value)})", position)
            self.define(walk)
            self.walked[leaf.item] = walk

    def kept_sequence(self, leaf: ir.Sequence, position: ir.Position) -> ir.Atom:
        """What a loop ran over, as the reverse sweep will ask for it: a list that grows later as it was."""
        if leaf.item in self.walked:
            return self.walked[leaf.item]
        if leaf.value not in self.growing:
            return leaf.value
        name = self.fresh("items")
        self.line(f"{name} = {self.text(leaf.value)}[:]", position)
        self.define(name)
        return name

    def iterated(self, iteration: ir.Iteration, position: ir.Position) -> str:
        if isinstance(iteration, ir.Count):
            texts = list(map(self.text, iteration.args))
            if isinstance(iteration, ir.Positions):
                texts += ["True"] if iteration.backwards else []
                return f"{self.shared_constant(support.positions, 'positions')}({', '.join(texts)})"
            return f"range({', '.join(texts)})"
        if isinstance(iteration, ir.Zipped):
            parts = [self.iterated(part, position) for part in iteration.parts]
            return f"zip({', '.join([*parts, *(['strict=True'] if iteration.strict else [])])})"
        if isinstance(iteration, ir.Enumerated):
            start = self.text(iteration.start)
            return (
                f"enumerate({self.iterated(iteration.part, position)}{'' if start == '0' else ', ' + start})"
            )
        value = self.text(self.walked.get(iteration.item, iteration.value))
        return f"reversed({value})" if iteration.backwards else value

    def do_while(self, statement: ir.While) -> tuple[list[Node], list[str]]:
        self.flush()
        return self.loop(statement, None, [], [])

    def loop(
        self, statement: ir.For | ir.While, header: str | None, names: list[str], items: list[tuple[str, str]]
    ) -> tuple[list[Node], list[str]]:
        """A loop and its reverse: what an iteration leaves for the reverse sweep goes on one list.

        `items` are the active items of the loop, each with the list that collects its cotangents.
        """
        position = statement.position
        phis = [phi for phi in statement.carried if self.active(phi.target)]
        before = self.moves([(phi.target, phi.sources[0]) for phi in statement.carried], position)
        reads, swaps = self.hand_over(phis, position)
        boundary = Line("", None)  # after it the cotangents of the carried names start anew
        with self.scope() as scope:
            for name in (*names, *(phi.target for phi in statement.carried)):
                self.define(name)
            head: list[Node] = []
            if isinstance(statement, ir.While):
                header, head = self.head(statement)
            forward, reverse = self.block(statement.body, [*reads, boundary, *swaps])
            for item, collected in items:
                reverse += self.complete(item, position)
                reverse.append(
                    Line(f"{collected}.append({self.bar(item)})", position, frozenset({self.bar(item)}))
                )
            for item, _ in items:
                self.open_bar(item, reverse)
            self.restart(phis, reverse, boundary)
            kept = [name for name in scope.defined if name in scope.needed]
            conditional = [name for name in kept if name in scope.conditional]
            stop = self.text(statement.stop) if statement.stop is not None else None
        reverse = [node for node in reverse if node is not boundary]
        differentiated = bool(phis or items or _has_active(statement, self.active))
        tape = self.fresh("tape") if differentiated else None
        if tape is not None:
            self.define(tape)
            before += [Line(f"{name} = None", position) for name in conditional] + [
                Line(f"{tape} = []", position)
            ]
            forward.append(Line(f"{tape}.append({_tuple(kept) or 'None'})", position))
        forward += self.moves([(phi.target, phi.sources[1]) for phi in statement.carried], position)
        if stop is not None:
            forward.append(Region([(f"if {stop}:", [Line("break", position)])], position))
        self.out += [*before, Region([(str(header), [*head, *forward])], position)]
        for phi in statement.carried:
            self.name_result(phi.target, kept, position)
        nodes: list[Node] = []
        if tape is not None:
            nodes.append(
                Region([(f"for {_tuple(kept) or '_'} in reversed({self.need(tape)}):", reverse)], position)
            )
        for phi in phis:
            nodes += self.move(phi.sources[0], phi.target, position)
        return nodes, [phi.target for phi in phis]

    def name_result(self, name: str, kept: list[str], position: ir.Position) -> None:
        """After a loop a carried name is its result; the reverse loop reuses the name for what it took off
        the tape.
        """
        if name not in kept:
            self.define(name)
            return
        after = self.fresh(f"{name}_end")
        self.out.append(Line(f"{after} = {name}", position))
        self.alias[name] = after
        self.define(after)

    def head(self, statement: ir.While) -> tuple[str, list[Node]]:
        """The test of a while loop: in its header if it is one expression, else computed at the top of the
        body.
        """
        outer, self.out = self.out, []
        for inner in statement.head:
            self.statement(inner)
        test = self.texts((statement.test,), tight=0)[0]
        self.flush()
        lines, self.out = self.out, outer
        if not lines:
            return f"while {test}:", []
        return "while True:", [
            *lines,
            Region(
                [(f"if not {_bracketed(test)}:", [Line("break", statement.position)])], statement.position
            ),
        ]

    def hand_over(self, phis: list[ir.Phi], position: ir.Position) -> tuple[list[Node], list[Node]]:
        """At the end of an iteration a carried name took its next value: there its cotangent goes.

        Where that value is another carried name, the two steps are kept apart, since both cotangents change.
        """
        reads: list[Node] = []
        swaps: list[Node] = []
        targets = {phi.target for phi in phis}
        for phi in phis:
            following = phi.sources[1]
            if following == phi.target:
                continue
            if following in targets:
                bar, held = self.bar(phi.target), self.fresh("held")
                reads.append(Line(f"{held} = {bar}", position, frozenset({bar})))
                swaps += self.add(following, held, position, exact=self.has_real_bar(phi.target))
            else:
                reads += self.move(following, phi.target, position)
        return reads, swaps

    def restart(self, phis: list[ir.Phi], reverse: list[Node], boundary: Line) -> None:
        """The cotangent of a carried name before an iteration is what the iteration itself contributes."""
        for phi in phis:
            if phi.sources[1] == phi.target:
                continue
            start = next(number for number, node in enumerate(reverse) if node is boundary) + 1
            rest = reverse[start:]
            bar = self.bar(phi.target)
            if not begin(rest, bar, self.zero(phi.target)):
                rest.insert(0, Line(f"{bar} = {self.zero(phi.target)}", None, frozenset({bar})))
            reverse[start:] = rest

    # -- exceptions ------------------------------------------------------------------------------------------

    def do_try(self, statement: ir.Try) -> tuple[list[Node], list[str]]:
        """The block is differentiated as if nothing were thrown; if a handler ran, only its value counts.

        A handler that raises at its end leaves nothing to tell apart.
        """
        self.flush()
        position = statement.position
        active = [slot for slot in statement.slots if self.active(slot.target)]
        stays = any(not _raises(handler.body) for handler in statement.handlers)
        caught = self.fresh("caught") if stays else ""
        if stays:
            self.define(caught)
        before = self.moves([(slot.target, slot.sources[0]) for slot in statement.slots], position)
        moves = [node for slot in active for node in self.move(slot.sources[1], slot.target, position)]
        with self.branch():
            forward, reverse = self.block(statement.body, moves)
            arms: list[tuple[str, list[Node]]] = [("try:", forward)]
            if not any(handler.unwinds for handler in statement.handlers):
                ours = self.shared_constant(support.RuleLabError, "RuleLabError")
                arms.append((f"except {ours}:", [Line("raise", position)]))
            for number, handler in enumerate(statement.handlers):
                body, _ = self.block(handler.body)
                if not _raises(handler.body):
                    body.insert(0, Line(f"{caught} = {number + 1}", position))
                    slots = zip(statement.slots, handler.values, strict=True)
                    body += self.moves([(slot.target, value) for slot, value in slots], position)
                kinds = "" if handler.kinds is None else f" {handler.kinds}"
                if handler.unwinds:
                    kinds = f" {self.shared_constant(BaseException, 'BaseException')}"
                name = f" as {handler.name}" if handler.name else ""
                arms.append((f"except{kinds}{name}:", body))
        start = [Line(f"{caught} = 0", position)] if stays else []
        self.out += [*before, *start, Region(arms, position)]
        for slot in statement.slots:
            self.define(slot.target)
        changed = any(
            s.target in self.regions.effects and self.active(s.target)
            for block in ir.blocks(statement)
            for s in ir.walk(block)
            if isinstance(s, ir.Let)
        )
        if not reverse and not active and not changed:
            return [], []
        if not stays:
            return reverse, [slot.target for slot in active]
        bars = frozenset(self.bar(slot.target) for slot in active)
        refuse = self.constant(
            self.sites.caught([handler.position for handler in statement.handlers]), "refuse_caught"
        )
        asked = [self.need(caught), *sorted(bars)]
        if changed:
            asked.append(f"{self.shared_constant(heap.any_cotangent, 'any_cotangent')}()")
        refusal = Line(f"{refuse}({', '.join(asked)})", position, bars)
        nodes: list[Node] = [Region([(f"if {self.need(caught)}:", [refusal]), ("else:", reverse)], position)]
        return nodes, [slot.target for slot in active]

    def do_keep(self, statement: ir.Keep) -> tuple[list[Node], list[str]]:
        self.line(f"{statement.slot} = {self.text(statement.value)}", statement.position)
        return [], []

    def do_raise(self, statement: ir.Raise) -> tuple[list[Node], list[str]]:
        parts = ["raise"]
        if statement.error is not None:
            parts.append(self.text(statement.error))
        if statement.cause is not None:
            parts += ["from", self.text(statement.cause)]
        self.line(" ".join(parts), statement.position)
        return [], []


# How many of an operation's operands need brackets around an expression; all of them where it is not said.
_TIGHT = {ir.Item: 1, ir.Build: 0, ir.Slice: 0, ir.Unpack: 0, ir.Format: 0, ir.Move: 0}


class _Keeper:
    """Texts of operands and result for a formula of the reverse sweep; what it asks for is kept."""

    def __init__(self, transform: _Adjoint, operands: tuple[ir.Atom, ...], target: str) -> None:
        self._transform = transform
        self._operands = operands
        self._target = target

    def operand(self, number: int) -> str:
        return self._transform.need(self._operands[number])

    def divisor(self, number: int) -> str:
        """The operand; where it may be a whole zero that NumPy divided by, one that divides so again."""
        types, divisor = self._transform.types, self._operands[number]
        by_numpy = types(self._operands[0]) in (F8, REAL)
        if types(divisor) != INT or not by_numpy or isinstance(divisor, ir.Const):
            return self.operand(number)
        return f"({self.operand(number)} or {self._transform.shared_constant(support.NUMPY_ZERO, 'zero')})"

    def result(self) -> str:
        return self._transform.need(self._target)


def _may_be_equal(a: Any, b: Any) -> bool:
    """Whether two keys of a dict display may be one."""
    return not (isinstance(a, ir.Const) and isinstance(b, ir.Const)) or a.value == b.value


def _keeps_its_truth(kind: Type) -> bool:
    return is_real(kind) or kind in (BOOL, STR, NONE)


def _branch(test: str, then: list[Node], orelse: list[Node], position: ir.Position) -> list[Node]:
    if not then and orelse:
        return [Region([(f"if not {_bracketed(test)}:", orelse)], position)]
    arms = [(f"if {test}:", then)]
    if orelse:
        arms.append(("else:", orelse))
    return [Region(arms, position)]


def _has_active(statement: ir.Statement, active: Activity) -> bool:
    return any(
        (isinstance(s, ir.Let) and active(s.target)) or any(active(phi.target) for phi in phis_of(s))
        for block in ir.blocks(statement)
        for s in ir.walk(block)
    ) or any(active(phi.target) for phi in phis_of(statement))


def _raises(block: ir.Block) -> bool:
    return bool(block) and isinstance(block[-1], ir.Raise)


def _tuple(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})" if names else ""


def _pattern(iteration: ir.Iteration) -> str:
    if isinstance(iteration, ir.Zipped):
        return f"({', '.join(map(_pattern, iteration.parts))},)"
    if isinstance(iteration, ir.Enumerated):
        return f"({iteration.counter}, {_pattern(iteration.part)})"
    return iteration.item


def _counters(iteration: ir.Iteration) -> list[str]:
    if isinstance(iteration, ir.Enumerated):
        return [iteration.counter, *_counters(iteration.part)]
    return (
        [name for part in iteration.parts for name in _counters(part)]
        if isinstance(iteration, ir.Zipped)
        else []
    )


def _use_counts(function: ir.Function) -> Counter[Any]:
    counts: Counter[Any] = Counter([function.result])
    for statement in ir.walk(function.body):
        counts.update(reads_of(statement))
    return counts


def _growing(function: ir.Function) -> set[str]:
    """The names under which a list goes that something is appended to, before and after."""
    names: set[str] = set()
    pairs: list[tuple[str, ir.Atom]] = []
    for statement in ir.walk(function.body):
        pairs += [(phi.target, source) for phi in phis_of(statement) for source in phi.sources]
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Append):
            names |= (
                {statement.target, statement.op.value}
                if isinstance(statement.op.value, str)
                else {statement.target}
            )
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Move):
            pairs.append((statement.target, statement.op.value))
    size = -1
    while size != len(names):
        size = len(names)
        for target, source in pairs:
            if isinstance(source, str) and (target in names or source in names):
                names |= {target, source}
    return names


def _all_names(function: ir.Function) -> set[str]:
    names: set[str] = set()
    for statement in ir.walk(function.body):
        names |= {phi.target for phi in phis_of(statement)}
        if isinstance(statement, ir.For):
            names |= {leaf.item for leaf in ir.leaves(statement.iteration)} | set(
                _counters(statement.iteration)
            )
        if isinstance(statement, ir.Try):
            names |= {h.name for h in statement.handlers if h.name}
    return names


def _is_temporary(name: str) -> bool:
    return name.startswith("t_")


def _bracketed(text: str) -> str:
    """The text as an operand: in brackets unless it is one primary."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:  # pragma: no cover - emitted text always parses
        return f"({text})"
    return (
        text
        if isinstance(
            node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict)
        )
        else f"({text})"
    )
