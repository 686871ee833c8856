"""The tangent of a lowered function: the same operations, with the tangent of each value that varies beside
it.

The result is a lowered function again. It takes the parameters, then the tangents of those that vary, and
gives `(y, y_dot)`. Nothing is kept and nothing accumulated, so it may be differentiated in reverse and taken
to its tangent like any other. The chain rule `ẏ = Σ ∂f/∂xᵢ ẋᵢ` is applied operation by operation (Griewank
and Walther, "Evaluating Derivatives", 2008, section 3.1).
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol

import numpy as np

from ...python_facts import IN_PLACE
from ...rules import programs
from ...rules.rule import Rule
from ...tangents.in_step import check_key, check_keys
from ...tangents.shadows import zero_of
from ...tangents.zeros import NoTangent
from ..analysis.types import (
    ANY,
    BOOL,
    FUNCTION,
    LIST,
    NONE,
    NUMERIC,
    SLICE,
    STR,
    Array,
    Known,
    Tuple,
    Type,
    Types,
    is_real,
)
from ..base import ir
from ..base.liveness import phis_of
from ..memory.heap import note_text
from ..memory.writes import METHODS

NO = ir.Const(NoTangent())
_NEVER = (BOOL, STR, NONE, SLICE)
_LINEAR = ("add", "sub")  # their tangent is the same operation on the tangents


class Steps(Protocol):
    """What the tangent asks of the machinery that answers calls."""

    @property
    def push(self) -> Any: ...  # push(g, g_dot, args, dots, names, method) -> (y, y_dot)

    def scalar_rule(self, op: ir.Op, mode: Literal["frule"]) -> Rule | None: ...
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
    texts: set[str],
) -> ir.Function:
    """The tangent of a lowered function, whose `parameters` vary, and what it captures if `captured`.

    `varied` are all names that may have a tangent. With `writes` it is to be run as it is, so that arrays may
    be written; without, it is to be differentiated. `texts` spell out what varies: they are noted where they
    are made, for they may be kept somewhere and read as numbers.
    """
    return _Tangent(function, types, varied, steps, writes, texts).run(parameters, captured, own)


class _Tangent:
    def __init__(
        self,
        function: ir.Function,
        types: Types,
        varied: set[str],
        steps: Steps,
        writes: bool,
        texts: set[str],
    ) -> None:
        self.function = function
        self.types = types
        self.varied = varied
        self.steps = steps
        self.writes = writes
        self.texts = texts
        self.dots: dict[str, ir.Atom] = {}
        self.out: ir.Block = []
        self.position = ir.Position((1, 1, 0, 0))

    def run(self, parameters: list[str], captured: bool, own: frozenset[str]) -> ir.Function:
        function = self.function
        if function.body:
            self.position = function.body[0].position
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
                    if name not in function.cells:  # taken as it is now, and so is its tangent
                        found = self.let(ir.Call(ir.Const(programs.content_of), (found,)), f"{name}_dot")
                    self.dots[name] = found
        self.block(function.body, self.out)
        pair = self.let(ir.Build("tuple", (function.result, self.full(function.result))), "pair")
        return ir.Function(
            function.name,
            [*function.parameters, *taken],
            len(function.parameters) + len(taken),
            0,
            function.free,
            function.cells,
            self.out,
            pair,
            function.fresh,
            function.reserved,
            function.locals,
            function.assumed,
        )

    # -- tangents of values ----------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        return self.function.fresh(f"{name}_dot")

    def dot(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of a value, or NoTangent where it does not vary."""
        return self.dots.get(atom, NO) if isinstance(atom, str) else NO

    def full(self, atom: ir.Atom) -> ir.Atom:
        """The same, with a zero that can be computed with where the value is a number."""
        found = self.dot(atom)
        if found is not NO:
            return found
        if isinstance(atom, ir.Const):
            return _zero_of_constant(atom.value)
        kind = self.types(atom)
        if is_real(kind):
            return ir.Const(0.0)
        if kind in (*_NEVER, FUNCTION) or isinstance(kind, Known) or self.writes:
            return NO  # what is written through another name must not be lost: such a write is refused
        return self.let(ir.Call(ir.Const(zero_of), (atom,)), "zero")

    def varies(self, atom: ir.Atom) -> bool:
        return self.dot(atom) is not NO

    # -- building --------------------------------------------------------------------------------------------

    def let(self, op: ir.Op, base: str) -> str:
        name = self.function.fresh(base)
        self.out.append(ir.Let(self.position, name, op))
        return name

    def define(self, target: str, op: ir.Op) -> None:
        """The tangent of `target` is the value of `op`."""
        name = self.dots.get(target)
        if name is None:
            name = self.dots[target] = self.fresh(target)
        assert isinstance(name, str)
        self.out.append(ir.Let(self.position, name, op))

    def keep(self, target: str, op: ir.Op) -> None:
        """The operation itself."""
        self.out.append(ir.Let(self.position, target, op))

    def call(self, program: Any, *args: ir.Atom) -> ir.Call:
        return ir.Call(ir.Const(program), (ir.Const(self.steps.push), *args))

    def packed(self, atoms: Iterable[ir.Atom]) -> str:
        return self.let(ir.Build("tuple", tuple(atoms)), "given")

    def push(
        self,
        target: str,
        function: ir.Atom,
        args: tuple[ir.Atom, ...],
        names: tuple[str, ...] = (),
        method: str | None = None,
    ) -> None:
        """A call whose tangent is found when it is made."""
        both = self.push_pair(function, args, names, method)
        self.keep(target, ir.Item(both, ir.Const(0)))
        if target in self.varied:
            self.define(target, ir.Item(both, ir.Const(1)))

    def push_pair(
        self,
        function: ir.Atom,
        args: tuple[ir.Atom, ...],
        names: tuple[str, ...] = (),
        method: str | None = None,
    ) -> str:
        dots = tuple(map(self.dot, args))
        still = all(d is NO for d in dots)
        given = (
            function,
            self.dot(function),
            self.packed(args),
            ir.Const((NO.value,) * len(args)) if still else self.packed(dots),
            ir.Const(names),
            ir.Const(method),
        )
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
        """The tangent of a value as it is at the end of a block."""
        outer, self.out = self.out, block
        found = self.full(atom)
        self.out = outer
        return found

    def announce(self, names: Iterable[str]) -> None:
        """Give names to tangents before what computes them is there."""
        for name in names:
            if name in self.varied and name not in self.dots:
                self.dots[name] = self.fresh(name)

    def do_if(self, statement: ir.If) -> None:
        then, orelse = self.inside(statement.then), self.inside(statement.orelse)
        outs = list(statement.outs)
        self.announce(phi.target for phi in statement.outs)
        for phi in statement.outs:
            if phi.target in self.varied:
                sources = [self.in_block(b, s) for b, s in zip((then, orelse), phi.sources, strict=True)]
                outs.append(ir.Phi(self.dots[phi.target], sources))  # type: ignore[arg-type]
        self.out.append(ir.If(statement.position, statement.test, then, orelse, outs))

    def do_for(self, statement: ir.For) -> None:
        before = self.before(statement.carried)
        iteration = self.iterated(statement.iteration)
        body = self.inside(statement.body)
        carried = self.carried(statement.carried, before, body)
        self.out.append(ir.For(statement.position, iteration, body, carried, statement.stop))

    def do_while(self, statement: ir.While) -> None:
        before = self.before(statement.carried)
        head, body = self.inside(statement.head), self.inside(statement.body)
        carried = self.carried(statement.carried, before, body)
        self.out.append(ir.While(statement.position, head, statement.test, body, carried, statement.stop))

    def before(self, carried: list[ir.Phi]) -> list[ir.Atom]:
        found = [self.full(phi.sources[0]) if phi.target in self.varied else NO for phi in carried]
        self.announce(phi.target for phi in carried)
        return found

    def carried(self, phis: list[ir.Phi], before: list[ir.Atom], body: ir.Block) -> list[ir.Phi]:
        made = list(phis)
        for phi, first in zip(phis, before, strict=True):
            if phi.target in self.varied:
                after = self.in_block(body, phi.sources[1])
                made.append(ir.Phi(self.dots[phi.target], [first, after]))  # type: ignore[arg-type]
        return made

    def iterated(self, iteration: ir.Iteration) -> ir.Iteration:
        if isinstance(iteration, ir.Zipped):
            return ir.Zipped([self.iterated(part) for part in iteration.parts], iteration.strict)
        if isinstance(iteration, ir.Enumerated):
            return ir.Enumerated(iteration.counter, iteration.start, self.iterated(iteration.part))
        if not isinstance(iteration, ir.Sequence) or not self.varies(iteration.value):
            return iteration
        value, value_dot = iteration.value, self.dot(iteration.value)
        if value not in self.function.parameters or not isinstance(self.types(value), (Tuple, Array)):
            backwards = ir.Const(iteration.backwards)
            given = (value, value_dot, ir.Const(self.writes), backwards)
            both = self.let(self.call(programs.sequence, *given), "both")
            value = self.let(ir.Item(both, ir.Const(0)), "items")
            value_dot = self.let(ir.Item(both, ir.Const(1)), "items_dot")
            iteration = ir.Sequence(value, iteration.item)  # already the other way round
        item_dot = self.dots.setdefault(iteration.item, self.fresh(iteration.item))
        assert isinstance(item_dot, str)
        dots = ir.Sequence(value_dot, item_dot, iteration.backwards)
        return ir.Zipped([ir.Sequence(value, iteration.item, iteration.backwards), dots])

    def do_try(self, statement: ir.Try) -> None:
        before = self.before(statement.slots)
        body = self.inside(statement.body)
        handlers = [
            ir.Handler(h.position, h.kinds, h.name, self.handled(h), list(h.values), h.unwinds)
            for h in statement.handlers
        ]
        slots = list(statement.slots)
        for number, (slot, first) in enumerate(zip(statement.slots, before, strict=True)):
            if slot.target not in self.varied:
                continue
            last = self.in_block(body, slot.sources[1])
            slots.append(ir.Phi(self.dots[slot.target], [first, last]))  # type: ignore[arg-type]
            for handler, old in zip(handlers, statement.handlers, strict=True):
                handler.values.append(self.in_block(handler.body, old.values[number]))
        self.out.append(ir.Try(statement.position, body, handlers, slots))

    def handled(self, handler: ir.Handler) -> ir.Block:
        """The body of a handler; what an exception carries has no tangent, so it may not be read."""
        body = self.inside(handler.body)
        name = handler.name
        read = (s for s in ir.walk(handler.body) if isinstance(s, ir.Let) and not isinstance(s.op, ir.Format))
        if name is not None and any(name in s.op.operands() for s in read):
            check = ir.Call(ir.Const(programs.check_caught), (name,))
            body.insert(0, ir.Let(handler.position, self.function.fresh("checked"), check))
        return body

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
        else:
            self.push(target, ir.Const(getattr(operator, op.operator)), (op.left, op.right))

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
        elif not self.writes and _is_array(self.types(op.left)):
            # nobody sees the change, so it is a rebinding; on both sides with the shape and dtype of the
            # left, and first as the author wrote it, whose errors are others than those of `left op right`
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
        else:
            self.push(target, ir.Const(getattr(operator, op.operator)), (op.value,))

    def of_attribute(self, op: ir.Attribute, target: str) -> None:
        if target in self.varied and self.varies(op.value):
            self.push(target, ir.Const(getattr), (op.value, ir.Const(op.name)))
        else:
            self.keep(target, op)

    def of_item(self, op: ir.Item, target: str) -> None:
        kind = self.types(op.value)
        if op.by_moved_slice:
            look = ir.Call(ir.Const(programs.refuse_moved_slice), (op.value, op.index))
            self.keep(self.function.fresh("looked"), look)
        if not self.varies(op.value) and not (kind == ANY and self.varies(op.index)):
            self.keep(target, op)
        elif isinstance(kind, (Array, Tuple)) or kind == LIST:
            index = op.index
            if self.types(index) == ANY and not isinstance(index, ir.Const):
                index = self.let(ir.Call(ir.Const(programs.key_asked_once), (index,)), "index")
            self.keep(target, op if index is op.index else dataclasses.replace(op, index=index))
            self.define(target, ir.Item(self.dot(op.value), index))
        else:
            self.push(target, ir.Const(operator.getitem), (op.value, op.index))

    def of_build(self, op: ir.Build, target: str) -> None:
        self.keep(target, op)
        if target not in self.varied:
            return
        for key in op.items if op.kind == "set" else op.items[::2] if op.kind == "dict" else ():
            if self.varies(key):
                self.let(ir.Call(ir.Const(check_key), (key, self.dot(key))), "checked")
        if op.kind == "set":
            return
        if op.kind == "dict":
            items = [a if n % 2 == 0 else self.full(a) for n, a in enumerate(op.items)]
        else:
            items = [self.full(a) for a in op.items]
        self.define(target, ir.Build(op.kind, tuple(items)))

    def of_unpack(self, op: ir.Unpack, target: str) -> None:
        if not self.varies(op.value):
            self.keep(target, op)
            return
        kind = self.types(op.value)
        value, dot = op.value, self.dot(op.value)
        if not isinstance(kind, (Array, Tuple)) and kind != LIST:
            both = self.let(self.call(programs.unpacked, value, dot), "both")
            value = self.let(ir.Item(both, ir.Const(0)), "items")
            dot = self.let(ir.Item(both, ir.Const(1)), "items_dot")
        self.keep(target, ir.Unpack(value, op.count, op.or_more))
        self.define(target, ir.Move(dot))

    def of_call(self, op: ir.Call, target: str) -> None:
        names = tuple(name for name, _ in op.keywords)
        args = (*op.args, *(atom for _, atom in op.keywords))
        if not any(map(self.varies, op.operands())) and target not in self.varied:
            self.keep(target, op)
            return
        if target not in self.varied and self.steps.is_constant(op):
            self.keep(target, op)
            return
        rule = self.steps.scalar_rule(op, "frule") if target in self.varied else None
        if rule is not None and all(is_real(self.types(a)) for a in op.args):
            self.keep(target, op)
            self.by_partials(rule, op.args, target)
            return
        self.push(target, op.function, args, names, op.method)

    def by_partials(self, rule: Rule, args: tuple[ir.Atom, ...], target: str) -> None:
        """The tangent of an elementwise function of real numbers: its partials times the tangents."""
        found = self.let(ir.Call(ir.Const(rule.partials), (target, *args)), "partials")
        total: ir.Atom = NO
        for number, x in enumerate(args):
            if not self.varies(x):
                continue
            part = found if len(args) == 1 else self.let(ir.Item(found, ir.Const(number)), "partial")
            term = self.let(ir.Binary("mul", part, self.dot(x)), "t")
            if rule.past is not None:
                term = self.let(ir.Call(ir.Const(rule.past), (term, target, x, self.dot(x))), "t")
            total = term if total is NO else self.let(ir.Binary("add", total, term), "t")
        self.define(target, ir.Move(total))

    def of_apply(self, op: ir.Apply, target: str) -> None:
        if not any(map(self.varies, op.operands())) and target not in self.varied:
            self.keep(target, op)
            return
        given = (
            op.function,
            self.dot(op.function),
            op.args,
            self.dot(op.args),
            op.keywords,
            self.dot(op.keywords),
            ir.Const(op.method),
        )
        both = self.let(self.call(programs.push_all, *given), "both")
        self.keep(target, ir.Item(both, ir.Const(0)))
        if target in self.varied:
            self.define(target, ir.Item(both, ir.Const(1)))

    def of_collect(self, op: ir.Collect, target: str) -> None:
        self.keep(target, op)
        if target in self.varied:
            items: tuple[ir.Atom, ...]
            if op.kind == "paired":
                if self.varies(op.items[0]):
                    keys = op.items[0], self.dot(op.items[0])
                    self.let(ir.Call(ir.Const(check_keys), keys), "checked")
                items = (op.items[0], self.entries(op.items[1]))
            elif op.kind == "left_over":
                items = (self.entries(op.items[0]), op.items[1])
            else:
                items = tuple(map(self.entries, op.items))
            self.define(target, ir.Collect(op.kind, items))

    def entries(self, atom: ir.Atom) -> ir.Atom:
        """The tangents of a container's entries, also where none of them varies."""
        return self.let(ir.Call(ir.Const(programs.entries), (atom, self.dot(atom))), "entries")

    def of_append(self, op: ir.Append, target: str) -> None:
        self.keep(target, op)
        if target in self.varied:
            self.define(target, ir.Append(self.full(op.value), self.full(op.item), op.hidden))

    def of_publish(self, op: ir.Publish, target: str) -> None:
        if self.writes:
            return  # nobody asks which containers were made here
        self.keep(target, op)
        if self.varies(op.value):
            self.keep(self.function.fresh("published"), ir.Publish(self.dot(op.value)))

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
        if op.kind == "cell":
            self.keep(target, op)
            if self.varies(op.target):
                value = self.full(op.value)
                self.keep(
                    self.function.fresh("written"), ir.Write("cell", self.dot(op.target), op.key, value)
                )
            elif self.varies(op.value):
                lost = ir.Call(ir.Const(programs.refuse_lost), (op.key, self.dot(op.value)))
                self.keep(self.function.fresh("kept"), lost)
            return
        if op.by_moved_slice:
            asked = (op.target, op.key, ir.Const(METHODS[op.kind]))
            look = ir.Call(ir.Const(programs.refuse_moved_slice), asked)
            self.keep(self.function.fresh("looked"), look)
        if not self.writes and not any(map(self.varies, op.operands())):
            self.keep(target, op)
            return
        if op.kind == "item":
            self.push(target, ir.Const(operator.setitem), (op.target, op.key, op.value))
        elif op.kind == "delete item":
            self.push(target, ir.Const(operator.delitem), (op.target, op.key))
        elif op.kind == "attribute":
            self.push(target, ir.Const(setattr), (op.target, op.key, op.value))
        else:
            self.push(target, ir.Const(delattr), (op.target, op.key))


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


def may_be_written(function: ir.Function, types: Types, changes_nothing: Callable[[ir.Op], bool]) -> set[str]:
    """The names of arrays that this function makes and that something varying might be written to: they need
    a tangent from the start.
    """
    writes = False
    made: set[str] = set()
    handed_on: set[str] | None = None
    for statement in ir.walk(function.body):
        if not isinstance(statement, ir.Let):
            continue
        op, kind = statement.op, types(statement.target)
        if isinstance(op, ir.Write):
            writes = writes or op.kind == "item"
        elif isinstance(op, ir.Augmented):
            writes = writes or not is_real(types(op.left))
        elif isinstance(op, (ir.Call, ir.Apply)):
            if kind == ANY or _is_array(kind):
                made.add(statement.target)
                if handed_on is None:
                    handed_on = _given_to_others(function)
                writes = writes or statement.target in handed_on
            words = op.keywords if isinstance(op, ir.Call) else ()
            writes = writes or any(name == "out" for name, _ in words) or not changes_nothing(op)
        elif isinstance(op, (ir.Binary, ir.Unary, ir.Item)) and _is_array(kind):
            made.add(statement.target)
    return made if writes else set()


def _given_to_others(function: ir.Function) -> set[str]:
    """The names of what others get: returned, captured, or put in a container. They may write to it."""
    found: set[ir.Atom | None] = {function.result}
    joins: list[ir.Phi] = []
    for statement in ir.walk(function.body):
        joins += phis_of(statement)
        if isinstance(statement, ir.Let) and isinstance(
            statement.op, (ir.Build, ir.Append, ir.MakeFunction, ir.MakeCell, ir.Write)
        ):
            found |= set(statement.op.operands())
    size = -1
    while size != len(found):
        size = len(found)
        found |= {source for phi in joins if phi.target in found for source in phi.sources}
    return {name for name in found if isinstance(name, str)}


def kept_open(function: ir.Function) -> set[str]:
    """The names of lists and dicts that this function makes and appends to or gives to others, and of
    variables that it shares: something that varies may come later.
    """
    lets = [s for s in ir.walk(function.body) if isinstance(s, ir.Let)]
    appends = any(isinstance(s.op, ir.Append) for s in lets)
    lists = _built(function, ("list",)) if appends else set()
    given = _built(function, ("list", "dict"))
    if given:
        given &= _given_to_others(function)
    return lists | given | {s.target for s in lets if isinstance(s.op, ir.MakeCell)}


def handed_on(function: ir.Function, changes_nothing: Callable[[ir.Op], bool]) -> set[str]:
    """The names of lists and dicts that this function makes, if it calls others that may write to them."""
    lets = (s for s in ir.walk(function.body) if isinstance(s, ir.Let))
    calls = [s.op for s in lets if isinstance(s.op, (ir.Call, ir.Apply))]
    return set() if all(map(changes_nothing, calls)) else _built(function, ("list", "dict"))


def _built(function: ir.Function, kinds: tuple[str, ...]) -> set[str]:
    lets = (s for s in ir.walk(function.body) if isinstance(s, ir.Let))
    return {s.target for s in lets if isinstance(s.op, ir.Build) and s.op.kind in kinds}


def _is_array(kind: Type) -> bool:
    return isinstance(kind, Array) or kind == NUMERIC
