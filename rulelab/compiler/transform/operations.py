"""One operation in both sweeps: as the author wrote it if it is constant, else with its pullback."""

from __future__ import annotations

import functools
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from ...rules.kinds import (
    ANY,
    LIST,
    Array,
    Known,
    Tuple,
    is_real,
    is_sequence_of_numbers,
    may_hold_list,
)
from ...rules.operator_kinds import is_basic_index
from ...rules.programs import slice_of
from ..analysis.regions import makes_list, may_hold
from ..base import ir
from ..memory import heap, support
from ..memory.collecting import COLLECTORS
from ..memory.operands import decided
from . import specialise
from .formulas import Formulas, parts_of_call
from .sweeps import NEAR, is_temporary
from .tidy import Line, Node, Pull, Put, Sum, flow

# Operations that may run the author's code, through methods of their operands.
_RUNNING = (ir.Attribute, ir.Item, ir.Binary, ir.Unary, ir.Compare, ir.Unpack, ir.Format, ir.Collect)
# How many of an operation's leading operands need brackets around an expression; by default, all of them.
_TIGHT = {ir.Item: 1, ir.Build: 0, ir.Unpack: 0, ir.Format: 0, ir.Move: 0}

# Functions that run no code of their arguments.
_NEVER_RUNNING = (isinstance, issubclass, type, callable, id, range, super)
# The function that evaluates each comparison.
_QUESTIONS: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "in": support.is_in,
    "not in": support.is_not_in,
}


def _op_of(statement: ir.Statement) -> ir.Op | None:
    return statement.op if isinstance(statement, ir.Let) else None


def _once_in_turn(block: ir.Block) -> Iterator[ir.Statement]:
    """The statements that run at most once each time a block runs."""
    for statement in block:
        yield statement
        if isinstance(statement, ir.If):
            yield from _once_in_turn(statement.then)
            yield from _once_in_turn(statement.orelse)


def _rising(iteration: ir.Iteration) -> set[str]:
    """The names to which a loop gives a different, non-negative number in each iteration."""
    enumerated = [part for part in ir.parts(iteration) if isinstance(part, ir.Enumerated)]
    found = {part.counter for part in enumerated if _is_count(part.start)}
    for leaf in ir.leaves(iteration):
        if isinstance(leaf, ir.Count) and not isinstance(leaf, ir.Positions):
            start, *step = (leaf.args[0], *leaf.args[2:]) if len(leaf.args) > 1 else (ir.Const(0),)
            if _is_count(start) and all(_is_count(atom) for atom in step):
                found.add(leaf.item)
    return found


def _is_count(atom: ir.Atom) -> bool:
    """Whether an atom is a literal whole number that is not negative; a step of zero raises anyway."""
    return isinstance(atom, ir.Const) and type(atom.value) is int and atom.value >= 0


def _question_of(op: ir.Op) -> Any:
    """The function that runs an operation on operands that vary; None if these are checked elsewhere."""
    if isinstance(op, ir.Compare):
        return _QUESTIONS[op.symbol]
    if isinstance(op, ir.Build):
        return {"dict": support.dict_of, "set": support.set_of}[op.kind]
    if isinstance(op, ir.Binary):
        return operator.mod
    if isinstance(op, ir.Collect):
        return COLLECTORS[op.kind][0]
    return _ASKING.get(type(op))


_ASKING = {ir.Unary: operator.not_, ir.Format: support.format_string, ir.Item: operator.getitem}


class Operations(Formulas):
    """The part of the transform that writes single operations: a method for each kind that needs its own."""

    def do_let(self, statement: ir.Let) -> tuple[list[Node], list[str]]:
        op, target, position = statement.op, statement.target, statement.position
        if type(op) is ir.Binary:  # most often
            self.define(target)
        elif isinstance(op, ir.Publish):
            return self.site_publish(op, position), []
        elif isinstance(op, ir.Append):
            self.go_by(target, self.text(op.value) if isinstance(op.value, str) else target)
        elif isinstance(op, (ir.Load, ir.Attribute)) and isinstance(self.types(target), Known):
            self.alias[target] = self.call_path(op)  # the guard checks it: no name of its own is needed
            return [], []
        elif isinstance(op, ir.Move) and op.checked is None and isinstance(op.value, str):
            self.go_by(target, self.text(op.value))
        else:
            self.define(target)
        handled, changes = target in self.active.handled, target in self.regions.effects
        if not self.active(target) or (handled and not changes):
            self.plain(op, target, position)
            return [], []
        self.has_effects |= changes
        if handled:  # a change made in a handler: run, but not differentiated (`caught` sees to that)
            self.site_at_run_time(op, target, position)
            return [], []
        method = getattr(self, f"site_{type(op).__name__.lower()}", self.site_generic)
        return method(op, target, position), [target]

    # -- operations that are not differentiated --------------------------------------------------------------

    def plain(self, op: ir.Op, target: str, position: ir.Position) -> None:
        """Add an operation that is not differentiated, as the author wrote it."""
        if isinstance(op, ir.Append):
            value, item = self.texts((op.value, op.item), tight=1)
            self.line(f"{value}.append({item})", position)
        elif isinstance(op, ir.Augmented) and not all(is_real(self.types(a)) for a in op.operands()):
            find = self.constant(self.sites.finder(op, position, (False, False)), f"{self.called(op)}_at")
            left, right = self.texts((op.left, op.right))
            self.assign(target, f"{find}({left}, {right})({left}, {right})[0]", position)
        elif isinstance(op, ir.Call):
            self.plain_call(op, target, position)
        elif isinstance(op, ir.Apply):
            self.plain_apply(op, target, position)
        elif not isinstance(op, ir.Move) or target not in self.alias:
            text = self.made_here(op, target, self.expression(op, position))
            stays = isinstance(op, (ir.Write, ir.MakeFunction, ir.Ask))
            may_wait = not stays and (isinstance(op, ir.Load) or is_temporary(target))
            self.assign(target, text, position, may_wait=may_wait)

    def made_here(self, op: ir.Op, target: str, text: str) -> str:
        """The text of an operation, wrapped to record the list that it makes if that list may be changed."""
        if not self.regions.shared(target) or not makes_list(op, self.types):
            return text
        return self.asked(heap.made_plain, text, base="made")

    def plain_call(self, op: ir.Call, target: str, position: ir.Position) -> None:
        """Add a call that is not differentiated, by a guard if the callee must be checked at run time."""
        guard = self.sites.plain(op, position, tuple(atom in self.active.varied for atom in op.operands()))
        if guard is None:
            text = self.made_here(op, target, self.call_text(op, position))
            self.assign(target, text, position, may_wait=is_temporary(target))
            return
        name = self.constant(guard, f"call_{self.called(op)}")
        self.flush()
        arguments = self.arguments(op)
        function = self.text(op.function)
        text = f"{name}({', '.join([function, *arguments])})"
        self.assign(target, self.made_here(op, target, text), position)

    def plain_apply(self, op: ir.Apply, target: str, position: ir.Position) -> None:
        varied = tuple(atom in self.active.varied for atom in op.operands())
        call = self.constant(self.sites.plain_apply(op, position, varied), f"call_{self.called(op)}")
        self.flush()
        function, args, keywords = map(self.text, op.operands())
        words = [] if keywords == "None" else [f"**{keywords}"]
        self.assign(target, f"{call}({', '.join([function, f'*{args}', *words])})", position)

    def call_path(self, op: ir.Load | ir.Attribute) -> str:
        return op.name if isinstance(op, ir.Load) else f"{self.text(op.value)}.{op.name}"

    def call_text(self, op: ir.Call, position: ir.Position | None = None) -> str:
        """The text of a call that is not differentiated; its checks are left out without a `position`."""
        texts = self.texts(op.operands(), tight=1)
        asks = op.asks and (self.sites.target(op) is range or self.sites.target(op) not in _NEVER_RUNNING)
        if position is not None and not asks:
            texts = [texts[0], *self.handed(op, texts[1:], position)]
        if position is None or not asks:
            return self.call_as_written(op, texts)
        function, given = parts_of_call(op, texts)
        return self.ask_text(function, given, position)

    def arguments(self, op: ir.Call) -> list[str]:
        return [self.text(a) for a in op.args] + [f"{key}={self.text(a)}" for key, a in op.keywords]

    def expression(self, op: ir.Op, position: ir.Position) -> str:
        """The text of an operation as the author wrote it, with the checks that it needs."""
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
            write = self.constant(self.sites.writer(op, position), self.called(op))
            return f"{write}({', '.join(self.texts(op.operands()))})"
        if isinstance(op, ir.Slice):
            return self.slice_text(op, position)
        asking = self.asking(op, position) if op.asks else None
        if asking is not None:
            return asking
        texts = self.texts(op.operands(), tight=_TIGHT.get(type(op), 1 << 30))
        if isinstance(op, _RUNNING) and not (isinstance(op, ir.Compare) and op.symbol.startswith("is")):
            name = op.name if isinstance(op, ir.Attribute) else None
            texts = self.looked_at(op.operands(), texts, position, name)
        if isinstance(op, ir.Item) and (
            op.by_moved_slice or (self.regions.shared(op.value) and self.types(op.value) == ANY)
        ):
            return f"{self.constant(self.sites.entry(op, position), 'entry')}({', '.join(texts)})"
        text = specialise.primal_text(op, texts, self.asked)
        compares_objects = isinstance(op, ir.Compare) and self.may_compare_objects(op)
        return self.asked(decided, text) if compares_objects else text

    def asking(self, op: ir.Op, position: ir.Position) -> str | None:
        """The text of an operation that may run methods of operands that vary; None if they are checked
        elsewhere.
        """
        question = _question_of(op)
        if question is None:
            return None
        texts = self.texts(op.operands(), tight=0)
        if isinstance(op, ir.Format):
            texts = [specialise.primal_text(op, texts, lambda _, text: text)]
        text = self.ask_text(self.shared_constant(question), texts, position)
        compares_objects = isinstance(op, ir.Compare) and self.may_compare_objects(op)
        return self.asked(decided, text) if compares_objects else text

    def ask_text(self, question: str, texts: list[str], position: ir.Position) -> str:
        """The text of `ask(question, *texts)`, which checks that the code can be followed, then calls it."""
        return f"{self.constant(self.sites.asker(position), 'ask')}({', '.join([question, *texts])})"

    def slice_text(self, op: ir.Slice, position: ir.Position) -> str:
        """The text of a slice; an object among its ends is converted to an index here, only once, since the
        slice is used for the value and again for the derivative.
        """
        ends = op.ends()
        if not any(self.types(end) == ANY and not isinstance(end, ir.Const) for end in ends):
            return specialise.primal_text(op, self.texts(ends, tight=0), self.asked)
        texts = self.texts((*ends, op.owner), tight=0)
        if op.asks:
            return self.ask_text(self.shared_constant(slice_of), [texts[3], *texts[:3]], position)
        return self.asked(slice_of, texts[3], *self.looked_at(ends, texts[:3], position))

    def looked_at(
        self, atoms: Iterable[ir.Atom], texts: list[str], position: ir.Position, attribute: str | None = None
    ) -> list[str]:
        """The texts of operands, with a check around each that may run code that is not followed."""
        return [
            self.looked_at_one(text, position, attribute)
            if self.types(atom) == ANY and not isinstance(atom, ir.Const)
            else text
            for atom, text in zip(atoms, texts, strict=True)
        ]

    def handed(self, op: ir.Call, texts: list[str], position: ir.Position) -> list[str]:
        """The texts of a library call's arguments, with a check around each whose items may have operators
        that run code that is not followed.
        """
        if self.sites.target(op) in _NEVER_RUNNING:
            return texts
        found = []
        for atom, text in zip(op.operands()[1:], texts, strict=True):
            may_run = self.types(atom) in (ANY, LIST) and not isinstance(atom, ir.Const)
            may_run = may_run and atom not in self.lists_of_numbers
            look = self.sites.handed(position) if may_run else None
            found.append(text if look is None else f"{self.constant(look, 'handed')}({text})")
        return found

    def looked_at_one(self, text: str, position: ir.Position, attribute: str | None = None) -> str:
        look = self.sites.lookout(attribute, position)
        return text if look is None else f"{self.constant(look, 'outside')}({text})"

    def may_compare_objects(self, op: ir.Compare) -> bool:
        """Whether the author's class may answer a comparison, perhaps with a number that varies."""
        return op.symbol in ("<", "<=", ">", ">=", "==", "!=") and any(
            a in self.active.varied and self.types(a) == ANY for a in (op.left, op.right)
        )

    def make_function(self, op: ir.MakeFunction) -> str:
        made = op.code.co_name if op.code.co_name.isidentifier() else "function"
        maker = self.constant(self.sites.function_maker(op), f"make_{made}")
        captured = [self.text(a) for _, a in op.captured]  # a cell, for those of op.cells
        defaults = [self.text(a) for a in op.defaults]
        words = [f"{name!r}: {self.text(a)}" for name, a in op.keyword_defaults]
        return f"{maker}([{', '.join(captured)}], [{', '.join(defaults)}], {{{', '.join(words)}}})"

    # -- sites: how one operation is differentiated ----------------------------------------------------------

    def site_publish(self, op: ir.Publish, position: ir.Position) -> list[Node]:
        """Write the point where a container is complete: from here on the table has its cotangents."""
        if not self.active(op.value) or op.value in self.active.handled:
            self.makes_unseen = True
            text = self.asked(heap.publish_plain, "{}", base="publish")
            if not self.around(op.value, text):
                self.line(text.format(self.text(op.value)), position)
            return []
        self.has_effects = True
        size = self.defined("size")
        if not self.around(op.value, self.asked(heap.published, "{}"), size):
            self.line(f"{size} = {self.asked(heap.publish, self.text(op.value))}", position)
        assert isinstance(op.value, str)
        text = self.asked(heap.collect, self.need(op.value), self.flow(op.value), self.need(size))
        return [Line(text, position, (self.bar(op.value),))]

    def site_move(self, op: ir.Move | ir.Unpack, target: str, position: ir.Position) -> list[Node]:
        if target not in self.alias:
            self.assign(target, self.expression(op, position), position)
        return self.move(op.value, target, position)

    site_elements = site_move

    def site_unpack(self, op: ir.Unpack, target: str, position: ir.Position) -> list[Node]:
        kind = self.types(op.value)
        if kind == LIST or isinstance(kind, Tuple) or is_sequence_of_numbers(kind):
            return self.site_move(op, target, position)
        back = self.defined("unpack_back")
        take = self.constant(self.sites.unpacker(op, position), "unpack")
        self.give(target, f"{target}, {back} = {take}({self.texts((op.value,))[0]})", position)
        return self.add(op.value, f"{self.need(back)}({self.flow(target)})", position)

    def site_load(self, op: ir.Load | ir.Ask, target: str, position: ir.Position) -> list[Node]:
        """A global or an import that holds parameters: its cotangent is deposited with these parameters."""
        self.line(f"{target} = {self.expression(op, position)}", position)
        return [Line(self.asked(self.sites.deposit, self.need(target), self.flow(target)), position)]

    site_ask = site_load

    def site_binary(
        self, op: ir.Binary | ir.Unary | ir.Augmented, target: str, position: ir.Position
    ) -> list[Node]:
        operands = op.operands()
        kinds = [self.types(a) for a in operands]
        if all(map(is_real, kinds)) and is_real(self.types(target)) and self.sites.inline(op):
            terms = specialise.terms(op)
            if terms is not None and specialise.divides_safely(op, kinds):
                return self.by_terms(terms, op, target, position)
        if self.is_power_of_array(op) and self.sites.stated_rule(op) is not None:
            self.note_shape(operands, target)
            self.scaled.add(target)
            return self.by_terms(specialise.terms(op) or (), op, target, position)
        return self.site_generic(op, target, position)

    site_unary = site_binary

    def site_augmented(self, op: ir.Augmented, target: str, position: ir.Position) -> list[Node]:
        """An in-place operator: a formula if both operands are numbers, or if the right one is a number and
        nothing else holds the array on the left. A shared array changes for its other users too, and the sum
        of two arrays may not have the shape of the first.
        """
        if is_real(self.types(op.right)) and (op.owned or is_real(self.types(op.left))):
            return self.site_binary(op, target, position)
        return self.site_at_run_time(op, target, position)

    def site_item(self, op: ir.Item, target: str, position: ir.Position) -> list[Node]:
        owner, kind = self.types(op.value), self.types(target)
        of_floats = isinstance(owner, Array) and owner.dtype == "f8" and op.value not in self.carried
        of_floats = of_floats and is_basic_index(self.types(op.index))
        if of_floats and (is_real(kind) or isinstance(kind, Array)) and self.sites.inline(op):
            value, index = self.texts(op.operands(), named=(op.value, op.index))
            self.assign(target, f"{value}[{index}]", position, may_wait=is_temporary(target))
            return self.element_nodes(op, target, position)
        if (isinstance(owner, Tuple) or owner == LIST) and not (
            owner == LIST and self.regions.shared(op.value)
        ):
            if not self.active(op.value):
                self.plain(op, target, position)
                return []
            value, index = self.texts(op.operands(), named=(op.value, op.index))
            key, known = op.index, is_real(self.types(op.index)) or isinstance(op.index, ir.Const)
            if not known:
                asked = self.defined("key")
                if op.asks:
                    text = self.ask_text(self.shared_constant(support.key), [index], position)
                else:
                    text = self.asked(support.key, *self.looked_at([op.index], [index], position))
                self.line(f"{asked} = {text}", position)
                index = key = asked
            assert isinstance(op.value, str)
            of, size = self.lengths.get(op.value, (None, ""))
            if of is self.out:  # this block has already read the length of the tuple
                self.line(f"{target} = {value}[{index}]", position)
            else:
                size = self.defined("size")
                text = f"{target}, {size} = {value}[{index}], {self.builtin('len')}({value})"
                self.give(target, text, position)
                if isinstance(owner, Tuple):
                    self.lengths[op.value] = self.out, size
            given = [self.flow(op.value), self.need(key), self.need(size), self.flow(target)]
            given.append("list" if owner == LIST else "tuple")
            put = support.put_item if known else support.put_items
            text, sets = self.asked(put, *given), (self.bar(op.value),)
            number = key.value if isinstance(owner, Tuple) and isinstance(key, ir.Const) else None
            if type(number) is int and number >= 0:
                return [Put(text, position, sets, number, size, self.flow(target))]
            return [Line(text, position, sets)]
        return self.site_generic(op, target, position)

    def element_nodes(self, op: ir.Item, target: str, position: ir.Position) -> list[Node]:
        """Add the cotangent of an array's item or part to the buffer of that array."""
        name, bar = op.value, self.flow(target)
        assert isinstance(name, str)
        buffer = self.buffers.setdefault(name, self.fresh(f"{name}_sum"))
        index = self.need(op.index)
        self.bar(name)
        if not is_real(self.types(target)):
            return [Line(self.asked(support.add_slice, buffer, index, bar), position)]
        if name in self.read_once:
            # NumPy would take a missing cotangent for a sequence; `float` makes it say what is missing.
            text = f"{self.builtin('float')}({bar})" if self.asks_others else bar
            return [Line(f"{buffer}[{index}] = {text}", position)]
        view = self.views.setdefault(name, self.fresh(f"{name}_at"))
        sign = "=" if name in self.read_in_turn else "+="
        return [Line(f"{view}[{index}] {sign} {bar}", position)]

    @functools.cached_property
    def asks_others(self) -> bool:
        """Whether functions are called: their rules may lack a cotangent, which arithmetic never does."""
        ops = (s.op for s in self.function.statements() if isinstance(s, ir.Let))
        return any(isinstance(op, (ir.Call, ir.Apply)) for op in ops)

    @functools.cached_property
    def read_once(self) -> set[str]:
        """The arrays read only at literal indices, each once, outside branches and loops: the cotangents of
        the items are stored, not added.
        """
        found: dict[str, list[Any]] = defaultdict(list)
        for statement in self.function.body:
            if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Item):
                op = statement.op
                if (
                    isinstance(op.value, str)
                    and isinstance(op.index, ir.Const)
                    and type(op.index.value) is int
                ):
                    found[op.value].append(op.index.value)
        return {
            name
            for name, indices in found.items()
            if len(set(indices)) == len(indices) == self.uses[name]
            and (min(indices) >= 0 or max(indices) < 0)
        }

    @functools.cached_property
    def read_in_turn(self) -> set[str]:
        """The arrays read only in one loop, at most once per iteration, at an index that differs each time:
        the cotangents of the items are stored, not added.
        """
        read = Counter(op.value for op in map(_op_of, self.function.statements()) if isinstance(op, ir.Item))
        return {
            str(op.value)
            for loop in self.function.body
            if isinstance(loop, ir.For)
            for op in map(_op_of, _once_in_turn(loop.body))
            if isinstance(op, ir.Item) and read[op.value] == 1 and op.index in _rising(loop.iteration)
        }

    def site_append(self, op: ir.Append, target: str, position: ir.Position) -> list[Node]:
        if target in self.of_summed:
            self.plain(op, target, position)
            return [*self.move(op.item, target, position), *self.move(op.value, target, position)]
        size = self.defined("size")
        value, item = self.texts((op.value, op.item))
        self.flush()
        self.line(f"{size} = {self.builtin('len')}({value})", position)
        self.line(f"{value}.append({item})", position)
        bar, given = self.bar(target), (self.flow(target), self.need(size))
        if target in self.of_arrayed:
            exact = not self.has_real_bar(str(op.item))
            nodes = self.add(op.item, self.asked(support.bar_of_item, *given), position, exact=exact)
            return [*nodes, *self.move(op.value, target, position)]
        rest = self.move(op.value, target, position)  # right away: the same line can set the old list's bar
        if not self.active(op.item):
            return [Line(self.asked(support.drop_item, *given), position, (bar,)), *rest]
        item_bar = self.fresh("item_bar")
        exact = not self.has_real_bar(op.item)  # type: ignore[arg-type]  # what varies has a name
        nodes = [Line(self.asked(support.pop_item, *given), position, (bar, item_bar)), *rest]
        return nodes + self.add(op.item, flow(item_bar), position, exact=exact)

    def site_build(self, op: ir.Build, target: str, position: ir.Position) -> list[Node]:
        if op.kind == "set":
            return self.site_generic(op, target, position)
        if op.kind == "dict":
            self.flush()  # the reverse sweep reads the keys by name
        self.assign(target, self.expression(op, position), position)
        keys: list[ir.Atom] = [ir.Const(number) for number in range(len(op.items))]
        values = op.items
        if op.kind == "dict":
            keys, values = list(op.items[::2]), op.items[1::2]
        if self.takes_seeds(op, target):
            return self.seeds_of(op, target, position)
        nodes: list[Node] = []
        if target in self.of_summed:
            return [node for atom in values for node in self.move(atom, target, position)]
        for number, (key, atom) in enumerate(zip(keys, values, strict=True)):
            given = [self.flow(target), self.need(key)]
            later = [self.need(k) for k in keys[number + 1 :] if _may_be_equal(k, key)]
            part = support.part_of_last if later else support.part
            others = [f"({', '.join(later)},)"] if later else []
            nodes += self.add(atom, self.asked(part, *given, *others), position, of=self.bar(target))
        return nodes

    def takes_seeds(self, op: ir.Build, target: str) -> bool:
        """Whether a tuple of real numbers is the function's result and is used nowhere else: its cotangent is
        the seed, which is read all at once.
        """
        alone = target == self.function.result and self.uses[target] == 1
        return alone and op.kind == "tuple" and all(is_real(self.types(atom)) for atom in op.items)

    def seeds_of(self, op: ir.Build, target: str, position: ir.Position) -> list[Node]:
        """The cotangents of the items of a tuple of real numbers, as numbers."""
        self.takes_numbers = True
        own = [isinstance(atom, str) and self.active(atom) and self.uses[atom] == 1 for atom in op.items]
        bars = [
            self.bar(str(atom)) if alone else self.fresh("part")
            for atom, alone in zip(op.items, own, strict=True)
        ]
        text = self.asked(support.reals, self.flow(target), str(len(bars)))
        text += "[0]" if len(bars) == 1 else ""  # one name takes the item, not the items
        nodes: list[Node] = [Line(text, position, tuple(bars))]
        for atom, bar, alone in zip(op.items, bars, own, strict=True):
            nodes += [] if alone else self.add(atom, flow(bar), position, exact=True)
        return nodes

    def site_makefunction(self, op: ir.MakeFunction, target: str, position: ir.Position) -> list[Node]:
        self.flush()
        self.line(f"{target} = {self.make_function(op)}", position)
        code = op.code  # defaults count as captured values, by the name of the parameter
        defaults = zip(
            code.co_varnames[code.co_argcount - len(op.defaults) : code.co_argcount], op.defaults, strict=True
        )
        values = [(name, atom) for name, atom in op.captured if name not in op.cells]
        return [
            node
            for name, atom in (*values, *defaults, *op.keyword_defaults)
            for node in self.add(atom, self.asked(support.part, self.flow(target), repr(name)), position)
        ]

    def site_call(self, op: ir.Call, target: str, position: ir.Position) -> list[Node]:
        if target in self.summed:
            text = self.call_as_written(op, self.texts(op.operands(), tight=1))
            self.assign(target, text, position, may_wait=is_temporary(target))
            return self.move(op.args[0], target, position)
        if target in self.arrayed:
            text = self.call_as_written(op, self.texts(op.operands(), tight=1))
            self.assign(target, text, position, may_wait=is_temporary(target))
            of_numbers = self.types(target) == Array("f8", 1)
            bars = support.bars_of_numbers if of_numbers else support.bars_of_rows
            return self.add(op.args[0], self.asked(bars, self.flow(target)), position, exact=True)
        partials = self.sites.partials(op)
        reals = all(is_real(self.types(atom)) for atom in (*op.args, target))
        if partials is None or op.keywords or not op.args or not reals:
            return self.site_generic(op, target, position)
        nodes = self.by_slopes(op, partials, target, position)
        return self.site_generic(op, target, position) if nodes is None else nodes

    # -- sites that ask for the pullback at run time ---------------------------------------------------------

    def makes_two_of_one(self, op: ir.Op) -> bool:
        """Whether an operator with a built-in elementwise rule has the same operand twice, as in `x * x`."""
        if not isinstance(op, ir.Binary) or op.left != op.right:
            return False
        rule = self.sites.certain_rule(op)
        return rule is not None and rule.built_in and rule.partials is not None

    def site_generic(self, op: ir.Op, target: str, position: ir.Position) -> list[Node]:
        """Write an operation by its formula if the types of its operands are certain, else with a pullback
        found at run time.
        """
        nodes = self.by_formula(op, target, position)
        return self.site_at_run_time(op, target, position) if nodes is None else nodes

    def site_at_run_time(self, op: ir.Op, target: str, position: ir.Position) -> list[Node]:
        """Write an operation with the pullback of a rule that certainly applies, or found at run time."""
        flags = tuple(map(self.wanted if _is_push(op) else self.active, op.operands()))
        called = self.called(op)
        back = self.defined(f"{called}_back")
        positions = isinstance(op, ir.Indexable)
        bound = self.sites.indexer(position) if positions else self.sites.bound_rule(op, flags)
        function, arguments = self.call_parts(op, bound is None)
        if bound is not None:
            arguments = self.kept_lists(op, arguments)
            rule = self.constant(bound, f"{called}_rule")
            self.give(target, f"{target}, {back} = {rule}({', '.join(arguments)})", position)
        else:
            find = self.constant(self.sites.finder(op, position, flags), f"{called}_at")
            asked = ", ".join(([function] if function is not None else []) + arguments)
            self.give(target, f"{target}, {back} = {find}({asked})({', '.join(arguments)})", position)
        may_be_idle = bound is None or isinstance(op, (ir.MakeCell, ir.Indexable))
        if may_be_idle and not self.has_real_bar(target):
            self.may_make |= target in self.regions.effects or may_hold(self.types(target))
        if bound is not None and self.makes_two_of_one(op):
            bar = self.flow(target)
            answer = f"{self.asked(support.unless_zero, self.need(back), bar)}({bar})"
            return self.add(op.operands()[0], self.asked(support.twice, answer), position)
        sums = [
            (slot, node)
            for slot, atom in self.slots(op)
            for node in self.add(atom, "", position)
            if isinstance(node, Sum)
        ]
        runs_author = bound is None and self.may_run_author(op)
        return [Pull(self.need(back), self.bar(target), position, sums, runs_author)]

    def may_run_author(self, op: ir.Op) -> bool:
        """Whether an operation may call the author's function, which may be recursive."""
        if not isinstance(op, (ir.Call, ir.Apply)):
            return False
        target = self.sites.target(op) if isinstance(op, ir.Call) else ir.UNBOUND
        return target is ir.UNBOUND or isinstance(target, (type, FunctionType)) or _is_push(op)

    def kept_lists(self, op: ir.Op, arguments: list[str]) -> list[str]:
        """The arguments of a rule, with the lists among them copied."""
        if not isinstance(op, (ir.Binary, ir.Item, ir.Call)):
            return arguments  # an operation on a container gets the container itself
        atoms = op.operands()[-len(arguments) :]
        return [
            self.asked(support.with_lists_copied, text) if may_hold_list(self.types(atom)) else text
            for text, atom in zip(arguments, atoms, strict=True)
        ]

    def wanted(self, atom: ir.Atom) -> Any:
        """Whether an operand of a `push` needs a cotangent; for a tuple built by this function, one flag for
        each item, since a constant argument does not vary just because another one does.
        """
        if not self.active(atom) or atom not in self.tuples:
            return self.active(atom)
        return tuple(map(self.active, self.tuples[atom]))

    def call_parts(self, op: ir.Op, named: bool) -> tuple[str | None, list[str]]:
        """The texts of a site's callee and arguments; a method's object is its first argument."""
        if isinstance(op, ir.Call) and op.method is None and named and list(self.pending) == [op.function]:
            return self.pending.pop(str(op.function))[0], self.arguments_as_they_are(op)
        self.flush()
        if isinstance(op, ir.Apply):
            given = [self.as_it_is(op.args), self.as_it_is(op.keywords)]
            if op.method is None:
                return None, [self.text(op.function), *given]
            return None, [self.as_it_is(op.function), *given]
        if isinstance(op, ir.Call):
            arguments = self.arguments_as_they_are(op)
            if op.method is not None and not isinstance(self.types(op.function), Known):
                return None, [self.as_it_is(op.function), *arguments]
            function = self.taken_in(op.function) if named else ""
            return function if op.method is None else f"{function}.{op.method}", arguments
        return None, [self.as_it_is(a) for a in op.operands()]

    def taken_in(self, function: ir.Atom) -> str:
        """The text of the callee; a line that reads a global only for this call is replaced by its name."""
        name = self.text(function)
        line = self.set_at.get(name)
        if line is not None and self.uses[name] == 1 and line in self.out[-NEAR:]:
            read = line.text.removeprefix(f"{name} = ")
            if read.isidentifier():
                self.out.remove(line)
                return read
        return name

    def arguments_as_they_are(self, op: ir.Call) -> list[str]:
        words = [f"{key}={self.as_it_is(a)}" for key, a in op.keywords]
        return [*map(self.as_it_is, op.args), *words]

    def slots(self, op: ir.Op) -> list[tuple[int, ir.Atom]]:
        """Each operand with the index of its entry in the pullback's answer; entry 0 is the function's."""
        if isinstance(op, ir.Call):
            shift = 1 if op.method is None or isinstance(self.types(op.function), Known) else 2
            first = [(shift - 1, op.function)]
            values = [*op.args, *(a for _, a in op.keywords)]
            return first + [(shift + k, a) for k, a in enumerate(values)]
        if isinstance(op, ir.Apply):
            return list(enumerate(op.operands()))
        return [(1 + k, a) for k, a in enumerate(op.operands())]


def _is_push(op: ir.Op) -> bool:
    """Whether an operation is a `push` or a `vjp`, whose arguments come as a tuple."""
    if not isinstance(op, ir.Call) or not isinstance(op.function, ir.Const):
        return False
    return bool(getattr(type(op.function.value), "gives_pair", False))


def _may_be_equal(a: Any, b: Any) -> bool:
    """Whether two keys of a dict display may be equal."""
    return not (isinstance(a, ir.Const) and isinstance(b, ir.Const)) or a.value == b.value
