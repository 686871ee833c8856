"""The tangent of a lowered function: the same operations, and beside each value that varies, its tangent.

The result is again a lowered function. It takes the parameters, then the tangents of those that vary, and
returns `(y, y_dot)`. It keeps and accumulates nothing, so reverse or forward mode can be applied to it like
to any other function. The chain rule `ẏ = Σ ∂f/∂xᵢ ẋᵢ` is applied operation by operation (Griewank
and Walther, "Evaluating Derivatives", 2008, section 3.1).
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from ...python_facts import IN_PLACE
from ...rules import programs
from ...rules.formulas import Formula, lacks_slope
from ...rules.kinds import (
    ANY,
    BOOL,
    FUNCTION,
    LIST,
    NONE,
    SLICE,
    STR,
    Known,
    Tuple,
    Type,
    any_part,
    is_real,
    is_sequence_of_numbers,
)
from ...rules.rule import Rule
from ...tangents.paired_iteration import check_key, check_keys
from ...tangents.shadows import zero_of
from ...tangents.zeros import NoTangent
from ..analysis.types import Types
from ..base import ir
from ..memory.heap import note_text
from ..memory.writes import METHODS
from .open_values import Resting, is_array
from .typed_tangents import TypedTangents

NO = ir.Const(NoTangent())
_NEVER = (BOOL, STR, NONE, SLICE)
_LINEAR = ("add", "sub")  # their tangent is the same operation on the tangents


class Steps(Protocol):
    """What the tangent needs from the machinery that answers calls."""

    @property
    def push(self) -> Any: ...  # push(g, g_dot, args, dots, names, method) -> (y, y_dot)

    def scalar_rule(self, op: ir.Op, mode: Literal["frule"]) -> Rule | None: ...
    def certain_rule(self, op: ir.Op, mode: Literal["frule"]) -> Rule | None: ...
    def is_constant(self, op: ir.Op) -> bool: ...


def tangent(
    function: ir.Function,
    types: Types,
    varied: set[str],
    parameters: list[str],
    captured: bool,
    own: frozenset[str],
    steps: Steps,
    writes: bool,
    resting: Resting,
    texts: set[str],
    typed: bool,
) -> tuple[ir.Function, list[ir.Atom]]:
    """The tangent of a lowered function with respect to `parameters`, and to what it captures if `captured`;
    returned with the tangents that it assumes to be arrays or numbers.

    `varied` are all names that may have a tangent. With `writes` the result is only run, so arrays may be
    written to; without, it will be differentiated. Those `resting` have tangents, but nothing is written to
    them (`open_values.touched`). The strings named in `texts` may spell out values that vary: they are noted
    where they are made, since they may be stored and parsed as numbers. If `typed`, the tangents of array
    operations are written out where possible.
    """
    made = _Tangent(function, types, varied, steps, writes, resting, texts, typed)
    return made.run(parameters, captured, own), made.assumed


@dataclass(eq=False)
class _Tangent(TypedTangents):
    function: ir.Function
    types: Types
    varied: set[str]
    steps: Steps
    writes: bool
    resting: Resting
    texts: set[str]
    typed: bool
    assumed: list[ir.Atom] = field(default_factory=list)
    builds: dict[str, ir.Build] = field(init=False)
    dots: dict[str, ir.Atom] = field(default_factory=dict)
    packs: set[str] = field(default_factory=set)  # tuples of operands that are only computed with
    out: ir.Block = field(default_factory=list)
    position: ir.Position = field(init=False)

    def run(self, parameters: list[str], captured: bool, own: frozenset[str]) -> ir.Function:
        """The tangent of the whole function; the captured variables in `own` hold the function itself."""
        function = self.function
        builds = ((s.target, s.op) for s in function.lets() if isinstance(s.op, ir.Build))
        self.builds = {target: op for target, op in builds if op.kind == "tuple"}
        self.position = function.body[0].position if function.body else ir.Position((1, 1, 0, 0))
        taken = [self.fresh(name) for name in parameters]
        self.dots.update(zip(parameters, taken, strict=True))
        if captured:
            own_dot = function.fresh("function_dot")
            taken.append(own_dot)
            held = self.let(ir.Item(own_dot, ir.Const(0)), "captured_dot")
            for number, name in enumerate(function.free):
                if name in own:
                    self.dots[name] = own_dot
                elif name in self.varied:
                    found = self.let(ir.Item(held, ir.Const(number)), f"{name}_dot")
                    if name not in function.cells:  # its current value is used, so is its current tangent
                        found = self.let(ir.Call(ir.Const(programs.content_of), (found,)), f"{name}_dot")
                    self.dots[name] = found
        self.block(function.body, self.out)
        pair = self.let(ir.Build("tuple", (function.result, self.dot(function.result)), handed=True), "pair")
        given = [*function.parameters, *taken]
        still = {*self.resting.unchanged, *self.packs}
        still |= {dot for name in still if isinstance(dot := self.dot(name), str)}
        return dataclasses.replace(
            function,
            parameters=given,
            positional=len(given),
            keyword_only=0,
            body=self.out,
            result=pair,
            resting=frozenset(still),
        )

    # -- tangents of values ----------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        return self.function.fresh(f"{name}_dot")

    def dot(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of a value, or NoTangent if it does not vary."""
        return self.dots.get(atom, NO) if isinstance(atom, str) else NO

    def full(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of a value, or a zero that supports arithmetic if it may be a number or an array."""
        found = self.dot(atom)
        if found is not NO:
            return found
        if isinstance(atom, ir.Const):
            return _zero_of_constant(atom.value)
        kind = self.types(atom)
        if is_real(kind):
            return ir.Const(0.0)
        if kind in (*_NEVER, FUNCTION) or isinstance(kind, Known) or self.writes:
            return NO  # a tangent written into a zero here would be lost; with NO, that write is refused
        return self.let(ir.Call(ir.Const(zero_of), (atom,)), "zero")

    def moved(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of a value that is given to an operation, whose slope may be infinite, or not exist: of
        a value at rest NoTangent, since zero times an infinite slope is NaN.
        """
        dot = self.dot(atom)
        if atom not in self.resting.names or dot is NO:
            return dot
        found = self.let(ir.Call(ir.Const(programs.unless_zero), (dot,)), "moved")
        self.packs.add(found)
        return found

    def varies(self, atom: ir.Atom) -> bool:
        return self.dot(atom) is not NO

    # -- building --------------------------------------------------------------------------------------------

    def let(self, op: ir.Op, base: str) -> str:
        name = self.function.fresh(base)
        self.out.append(ir.Let(self.position, name, op))
        return name

    def define(self, target: str, op: ir.Op) -> None:
        """Define the tangent of `target` as the value of `op`."""
        name = self.dots.get(target)
        if name is None:
            name = self.dots[target] = self.fresh(target)
        assert isinstance(name, str)
        self.out.append(ir.Let(self.position, name, op))

    def keep(self, target: str, op: ir.Op) -> None:
        """Add the operation itself, as it was."""
        self.out.append(ir.Let(self.position, target, op))

    def packed(self, atoms: Iterable[ir.Atom], handed: bool = False) -> str:
        return self.let(ir.Build("tuple", tuple(atoms), handed), "given")

    def push(
        self,
        target: str,
        function: ir.Atom,
        args: tuple[ir.Atom, ...],
        names: tuple[str, ...] = (),
        method: str | None = None,
        computes: bool = False,
    ) -> None:
        """Add a call whose tangent is found at run time."""
        self.halves(target, self.push_pair(function, args, names, method, computes))

    def halves(self, target: str, both: str) -> None:
        """Define `target`, and its tangent if it varies, as the two parts of a pair."""
        self.keep(target, ir.Item(both, ir.Const(0)))
        if target in self.varied:
            self.define(target, ir.Item(both, ir.Const(1)))

    def items_of(self, program: Any, *args: ir.Atom) -> tuple[str, str]:
        """The items that a program returns, and their tangent."""
        both = self.let(ir.Call(ir.Const(program), (ir.Const(self.steps.push), *args)), "both")
        items = self.let(ir.Item(both, ir.Const(0)), "items")
        return items, self.let(ir.Item(both, ir.Const(1)), "items_dot")

    def push_pair(
        self,
        function: ir.Atom,
        args: tuple[ir.Atom, ...],
        names: tuple[str, ...] = (),
        method: str | None = None,
        computes: bool = False,
    ) -> str:
        """Add a call that returns a pair, the value and its tangent; return the pair's name."""
        dots = tuple(map(self.moved, args))
        still = all(d is NO for d in dots)
        values = self.packed(args, handed=True)
        beside = ir.Const((NO.value,) * len(args)) if still else self.packed(dots, handed=True)
        if computes:
            self.packs.update(each for each in (values, beside) if isinstance(each, str))
        given = (function, self.dot(function), values, beside, ir.Const(names), ir.Const(method))
        return self.let(ir.Call(ir.Const(self.steps.push), given), "both")

    # -- blocks ----------------------------------------------------------------------------------------------

    def block(self, statements: ir.Block, out: ir.Block) -> None:
        outer, self.out = self.out, out
        for statement in statements:
            self.position = statement.position
            getattr(self, f"do_{type(statement).__name__.lower()}")(statement)
        self.out = outer

    def inside(self, statements: ir.Block) -> ir.Block:
        made: ir.Block = []
        self.block(statements, made)
        return made

    def in_block(self, block: ir.Block, atom: ir.Atom) -> ir.Atom:
        """The tangent of a value at the end of a block, where any zero that it needs is added."""
        outer, self.out = self.out, block
        found = self.full(atom)
        self.out = outer
        return found

    def announce(self, joins: list[ir.Phi]) -> None:
        """Name the tangents of joins before the code that computes them exists."""
        for phi in joins:
            if phi.target in self.varied and phi.target not in self.dots:
                self.dots[phi.target] = self.fresh(phi.target)

    def joined(self, joins: list[ir.Phi], *ends: ir.Block) -> list[ir.Phi]:
        """The joins and the joins of their tangents, whose sources are taken at the ends of these blocks."""
        made = list(joins)
        for phi in joins:
            if phi.target in self.varied:
                sources = [self.in_block(end, atom) for end, atom in zip(ends, phi.sources, strict=True)]
                made.append(ir.Phi(self.dots[phi.target], sources))  # type: ignore[arg-type]
        return made

    def do_if(self, statement: ir.If) -> None:
        self.announce(statement.outs)
        then, orelse = self.inside(statement.then), self.inside(statement.orelse)
        outs = self.joined(statement.outs, then, orelse)
        self.out.append(dataclasses.replace(statement, then=then, orelse=orelse, outs=outs))

    def do_for(self, statement: ir.For) -> None:
        iteration = self.iterated(statement.iteration)
        self.announce(statement.carried)
        body = self.inside(statement.body)
        carried = self.joined(statement.carried, self.out, body)
        self.out.append(dataclasses.replace(statement, iteration=iteration, body=body, carried=carried))

    def do_while(self, statement: ir.While) -> None:
        self.announce(statement.carried)
        head, body = self.inside(statement.head), self.inside(statement.body)
        carried = self.joined(statement.carried, self.out, body)
        self.out.append(dataclasses.replace(statement, head=head, body=body, carried=carried))

    def do_try(self, statement: ir.Try) -> None:
        self.announce(statement.slots)
        body = self.inside(statement.body)
        slots = self.joined(statement.slots, self.out, body)
        handlers = [self.handled(handler, statement.slots) for handler in statement.handlers]
        self.out.append(dataclasses.replace(statement, body=body, handlers=handlers, slots=slots))

    def handled(self, handler: ir.Handler, slots: list[ir.Phi]) -> ir.Handler:
        """The handler with tangents; if it reads its exception, with a check that this carries no numbers."""
        body, name = self.inside(handler.body), handler.name
        read = (s.op.operands() for s in ir.lets(handler.body) if not isinstance(s.op, ir.Format))
        if name is not None and any(name in operands for operands in read):
            check = ir.Call(ir.Const(programs.check_caught), (name,))
            body.insert(0, ir.Let(handler.position, self.function.fresh("checked"), check))
        varied = [atom for slot, atom in zip(slots, handler.values) if slot.target in self.varied]
        left = [self.in_block(body, atom) for atom in varied]
        return dataclasses.replace(handler, body=body, values=[*handler.values, *left])

    def iterated(self, iteration: ir.Iteration) -> ir.Iteration:
        return ir.with_leaves(iteration, self.beside)

    def beside(self, leaf: ir.Sequence | ir.Count) -> ir.Iteration:
        """What a loop runs over, zipped with its tangent if it varies."""
        if isinstance(leaf, ir.Count) or not self.varies(leaf.value):
            return leaf
        value, value_dot, backwards = leaf.value, self.dot(leaf.value), leaf.backwards
        if value not in self.function.parameters or not _is_plain_sequence(self.types(value)):
            given = (ir.Const(self.writes), ir.Const(backwards))
            value, value_dot = self.items_of(programs.sequence, value, value_dot, *given)
            backwards = False  # the items are reversed already
        item_dot = self.dots.setdefault(leaf.item, self.fresh(leaf.item))
        assert isinstance(item_dot, str)
        parts = [ir.Sequence(value, leaf.item, backwards), ir.Sequence(value_dot, item_dot, backwards)]
        return ir.Zipped(parts)

    def do_keep(self, statement: ir.Keep) -> None:
        self.out.append(statement)
        if statement.slot in self.varied:
            dot = self.full(statement.value)
            self.out.append(ir.Keep(statement.position, self.dots[statement.slot], dot))  # type: ignore[arg-type]

    def do_raise(self, statement: ir.Raise) -> None:
        self.out.append(statement)

    # -- operations ------------------------------------------------------------------------------------------

    def do_let(self, statement: ir.Let) -> None:
        op, target = statement.op, statement.target
        method = getattr(self, f"of_{type(op).__name__.lower()}", None)
        if method is None:
            self.keep(target, op)
        else:
            method(op, target)
        if self.writes and target in self.texts:
            self.let(ir.Call(ir.Const(note_text), (target,)), "noted")

    def of_move(self, op: ir.Move, target: str) -> None:
        self.keep(target, op)
        if self.varies(op.value):
            self.define(target, ir.Move(self.dot(op.value)))

    def of_binary(self, op: ir.Binary, target: str) -> None:
        if not (self.varies(op.left) or self.varies(op.right)):
            self.keep(target, op)
        elif is_real(self.types(op.left)) and is_real(self.types(op.right)) and op.operator in _OF_REALS:
            self.keep(target, op)
            self.of_reals(op, target)
        elif not (self.typed and self.of_arrays(op, target)):
            called = ir.Const(getattr(operator, op.operator))
            self.push(target, called, (op.left, op.right), computes=True)

    def of_reals(self, op: ir.Binary | ir.Augmented, target: str) -> None:
        """The tangent of a sum, difference, product or quotient of real numbers, written out."""
        left, right = self.dot(op.left), self.dot(op.right)
        if op.operator in _LINEAR:
            if right is NO:
                self.define(target, ir.Move(left))
            elif left is NO:
                negative = op.operator == "sub"
                self.define(target, ir.Unary("neg", right) if negative else ir.Move(right))
            else:
                self.define(target, ir.Binary(op.operator, left, right))
            return
        if op.operator == "mul":
            terms = [self.let(ir.Binary("mul", left, op.right), "t")] if left is not NO else []
            terms += [self.let(ir.Binary("mul", op.left, right), "t")] if right is not NO else []
            self.define(target, ir.Move(terms[0]) if len(terms) == 1 else ir.Binary("add", *terms))
            return
        # a quotient: (a / b)˙ = (ȧ - y ḃ) / b
        above = left
        if right is not NO:
            part = self.let(ir.Binary("mul", target, right), "t")
            above = self.let(ir.Unary("neg", part) if left is NO else ir.Binary("sub", left, part), "t")
        self.define(target, ir.Binary("truediv", above, op.right))

    def of_augmented(self, op: ir.Augmented, target: str) -> None:
        reals = is_real(self.types(op.left)) and is_real(self.types(op.right))
        varies = self.varies(op.left) or self.varies(op.right)
        operands = (op.left, op.right)
        if reals and (not varies or op.operator in _OF_REALS):
            self.keep(target, op)
            if varies:
                self.of_reals(op, target)
        elif reals:
            self.push(target, ir.Const(getattr(operator, op.operator)), operands)
        elif not varies and not self.writes:
            self.keep(target, op)
        elif not self.writes and is_array(self.types(op.left)):
            # Nothing else sees the change, so it is a rebinding; both sides have the left's shape and dtype.
            # The author's own operator comes first, since its errors differ from those of `left op right`.
            self.keep(target, op)
            both = self.push_pair(ir.Const(getattr(operator, op.operator)), operands)
            self.define(target, ir.Item(both, ir.Const(1)))
        else:
            self.push(target, ir.Const(getattr(operator, IN_PLACE[op.operator])), operands)

    def of_unary(self, op: ir.Unary, target: str) -> None:
        if not self.varies(op.value) or op.operator == "not_":
            self.keep(target, op)
        elif is_real(self.types(op.value)) and op.operator in ("neg", "pos"):
            self.keep(target, op)
            self.define(target, ir.Unary(op.operator, self.dot(op.value)))
        elif not (self.typed and self.of_arrays(op, target)):
            self.push(target, ir.Const(getattr(operator, op.operator)), (op.value,), computes=True)

    def of_compare(self, op: ir.Compare, target: str) -> None:
        """`x in xs` takes items from an iterator, and their tangents have to go with them."""
        is_asked = op.symbol in ("in", "not in") and self.varies(op.right)
        kind = self.types(op.right)
        if not is_asked or _is_plain_sequence(kind) or kind == LIST:
            self.keep(target, op)
            return
        both = self.push_pair(ir.Const(operator.contains), (op.right, op.left), (), None)
        found = self.let(ir.Item(both, ir.Const(0)), "found")
        negated = ir.Call(ir.Const(operator.not_), (found,))
        self.keep(target, ir.Move(found) if op.symbol == "in" else negated)

    def of_attribute(self, op: ir.Attribute, target: str) -> None:
        if self.typed and target in self.varied and self.varies(op.value) and self.of_arrays(op, target):
            return
        if target in self.varied and self.varies(op.value):
            self.push(target, ir.Const(getattr), (op.value, ir.Const(op.name)))
        else:
            self.keep(target, op)

    def of_item(self, op: ir.Item, target: str) -> None:
        kind = self.types(op.value)
        if op.by_moved_slice:
            look = ir.Call(ir.Const(programs.refuse_moved_slice), (op.value, op.index))
            self.let(look, "looked")
        if not self.varies(op.value) and not (kind == ANY and self.varies(op.index)):
            self.keep(target, op)
        elif _is_plain_sequence(kind) or kind == LIST:
            index = op.index
            asks = any_part(self.types(index), lambda part: part == ANY)
            if asks and not isinstance(index, ir.Const):
                key = ir.Call(ir.Const(programs.key_asked_once), (index,))
                key.asks = op.asks
                index = self.let(key, "index")
            self.keep(target, op if index is op.index else dataclasses.replace(op, index=index))
            self.define(target, ir.Item(self.dot(op.value), index))
        else:
            self.push(target, ir.Const(operator.getitem), (op.value, op.index))

    def of_build(self, op: ir.Build, target: str) -> None:
        self.keep(target, op)
        if target not in self.varied:
            return
        keys = {"set": op.items, "dict": op.items[::2]}.get(op.kind, ())
        for key in filter(self.varies, keys):
            self.let(ir.Call(ir.Const(check_key), (key, self.dot(key))), "checked")
        if op.kind != "set":
            is_key = [op.kind == "dict" and number % 2 == 0 for number in range(len(op.items))]
            # For a constant passed to a call the zero stays NoTangent: 0.0 times the NaN of a log is NaN.
            dot = self.moved if op.handed else self.full
            items = [a if key else dot(a) for a, key in zip(op.items, is_key, strict=True)]
            self.define(target, ir.Build(op.kind, tuple(items), op.handed))

    def of_unpack(self, op: ir.Unpack, target: str) -> None:
        if not self.varies(op.value):
            self.keep(target, op)
            return
        kind = self.types(op.value)
        value, dot = op.value, self.dot(op.value)
        if not _is_plain_sequence(kind) and kind != LIST:
            value, dot = self.items_of(programs.unpacked, value, dot)
        self.keep(target, dataclasses.replace(op, value=value))
        self.define(target, ir.Move(dot))

    def of_call(self, op: ir.Call, target: str) -> None:
        names = tuple(name for name, _ in op.keywords)
        args = (*op.args, *(atom for _, atom in op.keywords))
        moved = target in self.varied
        if not moved and (not any(map(self.varies, op.operands())) or self.steps.is_constant(op)):
            self.keep(target, op)
            return
        rule = self.steps.scalar_rule(op, "frule") if moved else None
        if rule is not None and all(is_real(self.types(a)) for a in op.args):
            slopes, moved_by = self.slopes_of(rule, op.args), map(self.varies, op.args)
            if not lacks_slope(rule.partials, slopes, [k for k, moves in enumerate(moved_by) if moves]):
                self.keep(target, op)
                self.by_partials(rule, slopes if self.typed else (), op.args, target)
                return
        if moved and self.typed and self.of_arrays(op, target):
            return
        self.push(target, op.function, args, names, op.method, self.resting.computes(op))

    def by_partials(
        self, rule: Rule, slopes: tuple[Formula, ...], args: tuple[ir.Atom, ...], target: str
    ) -> None:
        """Define the tangent of an elementwise function of real numbers: its partials times the tangents."""
        found = NO if slopes else self.let(ir.Call(ir.Const(rule.partials), (target, *args)), "partials")
        total: ir.Atom = NO
        for number, x in enumerate(args):
            if not self.varies(x):
                continue
            if slopes:
                part = self.written(slopes[number], target, args)
            else:
                part = found if len(args) == 1 else self.let(ir.Item(found, ir.Const(number)), "partial")
            term = self.let(ir.Binary("mul", part, self.moved(x)), "t")
            if rule.past is not None:
                term = self.let(ir.Call(ir.Const(rule.past), (term, target, x, self.dot(x))), "t")
            total = term if total is NO else self.let(ir.Binary("add", total, term), "t")
        self.define(target, ir.Move(total))

    def of_apply(self, op: ir.Apply, target: str) -> None:
        if not any(map(self.varies, op.operands())) and target not in self.varied:
            self.keep(target, op)
            return
        dots = [part for atom in op.operands() for part in (atom, self.dot(atom))]
        given = (ir.Const(self.steps.push), *dots, ir.Const(op.method))
        self.halves(target, self.let(ir.Call(ir.Const(programs.push_all), given), "both"))

    def of_collect(self, op: ir.Collect, target: str) -> None:
        self.keep(target, op)
        if target not in self.varied:
            return
        items = list(op.items)
        if op.kind == "paired" and self.varies(items[0]):
            self.let(ir.Call(ir.Const(check_keys), (items[0], self.dot(items[0]))), "checked")
        constant = {"paired": 0, "left_over": 1}.get(op.kind)
        items = [a if number == constant else self.entries(a) for number, a in enumerate(items)]
        self.define(target, ir.Collect(op.kind, tuple(items)))

    def entries(self, atom: ir.Atom) -> ir.Atom:
        """The tangents of a container's entries, even if none of them varies."""
        return self.let(ir.Call(ir.Const(programs.entries), (atom, self.dot(atom))), "entries")

    def of_append(self, op: ir.Append, target: str) -> None:
        self.keep(target, op)
        if target in self.varied:
            self.define(target, ir.Append(self.full(op.value), self.full(op.item), op.hidden))

    def of_publish(self, op: ir.Publish, target: str) -> None:
        if self.writes:
            return  # without a further transform it does not matter which containers were made here
        self.keep(target, op)
        if self.varies(op.value):
            self.let(ir.Publish(self.dot(op.value)), "published")

    def of_makecell(self, op: ir.MakeCell, target: str) -> None:
        self.keep(target, op)
        if target in self.varied:
            self.define(target, ir.MakeCell(self.full(op.value)))

    def of_readcell(self, op: ir.ReadCell, target: str) -> None:
        self.keep(target, op)
        if self.varies(op.cell):
            self.define(target, ir.ReadCell(self.dot(op.cell), op.name, op.free))

    def of_makefunction(self, op: ir.MakeFunction, target: str) -> None:
        self.keep(target, op)
        if target not in self.varied:
            return
        captured = self.packed(self.full(a) if a is not _UNBOUND else NO for _, a in op.captured)
        defaults = self.packed(map(self.full, op.defaults))
        words = self.packed(self.full(x) for _, x in op.keyword_defaults)
        self.define(target, ir.Build("tuple", (captured, defaults, words)))

    def of_write(self, op: ir.Write, target: str) -> None:
        """A write, done to a value and its tangent together if either may vary."""
        if op.kind == "cell":
            self.of_cell(op, target)
            return
        if op.by_moved_slice:
            asked = (op.target, op.key, ir.Const(METHODS[op.kind]))
            self.let(ir.Call(ir.Const(programs.refuse_moved_slice), asked), "looked")
        if not self.writes and not any(map(self.varies, op.operands())):
            self.keep(target, op)
            return
        function, count = _WRITING[op.kind]
        self.push(target, ir.Const(function), op.operands()[:count])

    def of_cell(self, op: ir.Write, target: str) -> None:
        self.keep(target, op)
        if self.varies(op.target):
            self.let(ir.Write("cell", self.dot(op.target), op.key, self.full(op.value)), "written")
        elif self.varies(op.value):
            self.let(ir.Call(ir.Const(programs.refuse_lost), (op.key, self.dot(op.value))), "kept")


# The function that does each kind of write, and how many operands it takes.
_WRITING: dict[str, tuple[Any, int]] = {
    "item": (operator.setitem, 3),
    "delete item": (operator.delitem, 2),
    "attribute": (setattr, 3),
    "delete attribute": (delattr, 2),
}
_OF_REALS = frozenset({"add", "sub", "mul", "truediv"})
_UNBOUND = ir.Const(ir.UNBOUND)


def _zero_of_constant(value: Any) -> ir.Const:
    if isinstance(value, (bool, np.bool_)):
        return NO
    if isinstance(value, (int, float, np.integer, np.floating)):
        return ir.Const(0.0)
    if isinstance(value, (complex, np.complexfloating)):
        return ir.Const(0j)
    return NO


def _is_plain_sequence(kind: Type) -> bool:
    """Whether the tangent of a value of this type has the items' tangents at the same positions."""
    return isinstance(kind, Tuple) or is_sequence_of_numbers(kind)
