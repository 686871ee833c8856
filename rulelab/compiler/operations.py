"""One operation in both sweeps: as the author wrote it where it is constant, else with its pullback."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ..rules.programs import slice_of
from . import heap, ir, specialise, support
from .operands import decided
from .regions import makes_list, may_hold
from .sweeps import Sweeps
from .tidy import Line, Node
from .types import ANY, F8, INT, LIST, REAL, Array, Known, Tuple, is_real, may_hold_list

# Operations that may run code of the author's, behind their operands.
_RUNNING = (ir.Attribute, ir.Item, ir.Binary, ir.Unary, ir.Compare, ir.Unpack, ir.Format, ir.Collect)
# How many of an operation's operands need brackets around an expression; all of them where it is not said.
_TIGHT = {ir.Item: 1, ir.Build: 0, ir.Unpack: 0, ir.Format: 0, ir.Move: 0}


# Functions that run nothing of what they are handed.
_NEVER_RUNNING = (isinstance, issubclass, type, callable, id, range, super)


class Operations(Sweeps):
    """The part of the transform that writes single operations: a method for each kind with its own way."""

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

    # -- operations that are not differentiated --------------------------------------------------------------

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
            text = self.made_here(op, target, self.call_text(op, position))
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

    def call_path(self, op: ir.Load | ir.Attribute) -> str:
        return op.name if isinstance(op, ir.Load) else f"{self.text(op.value)}.{op.name}"

    def call_text(self, op: ir.Call, position: ir.Position | None = None) -> str:
        texts = self.texts(op.operands(), tight=1)
        if position is not None:
            texts = [texts[0], *self.handed(op, texts[1:], position)]
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
        if isinstance(op, ir.Slice):
            return self.slice_text(op, position)
        texts = self.texts(op.operands(), tight=_TIGHT.get(type(op), 1 << 30))
        if isinstance(op, _RUNNING) and not (isinstance(op, ir.Compare) and op.symbol.startswith("is")):
            name = op.name if isinstance(op, ir.Attribute) else None
            texts = self.looked_at(op.operands(), texts, position, name)
        if isinstance(op, ir.Item) and (
            op.by_moved_slice or (self.regions.shared(op.value) and self.types(op.value) == ANY)
        ):
            return f"{self.constant(self.sites.entry(op, position), 'entry')}({', '.join(texts)})"
        text = specialise.primal_text(op, texts, self.shared_constant)
        if isinstance(op, ir.Compare) and self.may_compare_objects(op):
            return f"{self.shared_constant(decided, 'decided')}({text})"
        return text

    def slice_text(self, op: ir.Slice, position: ir.Position) -> str:
        """An object among the ends is asked here, once: the slice is used for the value, and again for the
        derivative.
        """
        ends = op.ends()
        if not any(self.types(end) == ANY and not isinstance(end, ir.Const) for end in ends):
            return specialise.primal_text(op, self.texts(ends, tight=0), self.shared_constant)
        texts = self.texts((*ends, op.owner), tight=0)
        looked = self.looked_at(ends, texts[:3], position)
        return f"{self.shared_constant(slice_of, 'slice_of')}({', '.join([texts[3], *looked])})"

    def looked_at(
        self, atoms: Iterable[ir.Atom], texts: list[str], position: ir.Position, attribute: str | None = None
    ) -> list[str]:
        """The texts of constants behind which code may run that is not followed: after a look at them."""
        return [
            self.looked_at_one(text, position, attribute)
            if self.types(atom) == ANY and not isinstance(atom, ir.Const)
            else text
            for atom, text in zip(atoms, texts, strict=True)
        ]

    def handed(self, op: ir.Call, texts: list[str], position: ir.Position) -> list[str]:
        """The same of what a function of a library is handed, which may run the operators of its items."""
        if self.sites.target(op) in _NEVER_RUNNING:
            return texts
        found = []
        for atom, text in zip(op.operands()[1:], texts, strict=True):
            look = None
            if self.types(atom) in (ANY, LIST) and not isinstance(atom, ir.Const):
                look = self.sites.handed(position)
            found.append(text if look is None else f"{self.constant(look, 'handed')}({text})")
        return found

    def looked_at_one(self, text: str, position: ir.Position, attribute: str | None = None) -> str:
        look = self.sites.lookout(attribute, position)
        return text if look is None else f"{self.constant(look, 'outside')}({text})"

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

    def site_load(self, op: ir.Load | ir.Ask, target: str, position: ir.Position) -> list[Node]:
        """A global, or an import, that holds parameters: what flows to it goes to them."""
        self.line(f"{target} = {self.expression(op, position)}", position)
        bar, deposit = self.bar(target), self.shared_constant(self.sites.deposit, "deposit")
        return [Line(f"{deposit}({self.need(target)}, {bar})", position, frozenset({bar}))]

    site_ask = site_load

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
            known = is_real(self.types(op.index)) or isinstance(op.index, ir.Const)
            if not known:
                asked = self.fresh("key")
                self.define(asked)
                [index] = self.looked_at([op.index], [index], position)
                self.line(f"{asked} = {self.shared_constant(support.key, 'key')}({index})", position)
                index = asked
            self.assign(target, f"{value}[{index}]", position)
            size = self.fresh("size")
            self.define(size)
            self.line(f"{size} = {self.builtin('len')}({value})", position)
            if not known:
                return self.site_slice_of_list(op, target, position, size, asked)
            put = self.shared_constant(support.put_item, "put_item")
            owner_bar = self.bar(op.value)  # type: ignore[arg-type]
            kind = "list" if owner == LIST else "tuple"
            text = f"{put}({owner_bar}, {self.need(op.index)}, {self.need(size)}, {bar}, {kind})"
            return [Line(f"{owner_bar} = {text}", position, frozenset({owner_bar, bar}))]
        return self.site_generic(op, target, position)

    def site_slice_of_list(
        self, op: ir.Item, target: str, position: ir.Position, size: str, key: str
    ) -> list[Node]:
        put = self.shared_constant(support.put_items, "put_items")
        owner_bar, bar = self.bar(op.value), self.bar(target)  # type: ignore[arg-type]
        kind = "list" if self.types(op.value) == LIST else "tuple"
        text = f"{put}({owner_bar}, {self.need(key)}, {self.need(size)}, {bar}, {kind})"
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
        self.line(f"{size} = {self.builtin('len')}({value})", position)
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

    # -- sites that ask for the pullback at run time ---------------------------------------------------------

    def makes_two_of_one(self, op: ir.Op) -> bool:
        """Whether both cotangents of an operator are made anew by its rule, and are of one value: `x * x`."""
        if not isinstance(op, ir.Binary) or op.left != op.right:
            return False
        rule = self.sites.certain_rule(op)
        return rule is not None and rule.house and rule.partials is not None

    def site_generic(self, op: ir.Op, target: str, position: ir.Position) -> list[Node]:
        """A call of the pullback that the operands have at run time."""
        flags = tuple(map(self.wanted if _is_push(op) else self.active, op.operands()))
        back = self.fresh("back")
        self.define(back)
        bound = (
            self.sites.bound_rule(op, flags)
            if not isinstance(op, ir.Indexable)
            else self.sites.indexer(position)
        )
        function, arguments = self.call_parts(op, bound is None)
        if bound is not None:
            arguments = self.kept_lists(op, arguments)
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
        if bound is not None and self.makes_two_of_one(op):
            both = self.shared_constant(support.both, "both")
            return nodes + self.add(op.operands()[0], f"{both}({got})", position)
        for slot, atom in self.slots(op):
            nodes += self.add(atom, f"{got}[{slot}]", position)
        return nodes

    def kept_lists(self, op: ir.Op, arguments: list[str]) -> list[str]:
        """The arguments of a rule with copies of the lists among them."""
        if not isinstance(op, (ir.Binary, ir.Item, ir.Call)):
            return arguments  # what stands for a container is handed on itself
        atoms = op.operands()[-len(arguments) :]
        if not any(may_hold_list(self.types(atom)) for atom in atoms):
            return arguments
        copied = self.shared_constant(support.with_lists_copied, "with_lists_copied")
        return [
            f"{copied}({text})" if may_hold_list(self.types(atom)) else text
            for text, atom in zip(arguments, atoms, strict=True)
        ]

    def wanted(self, atom: ir.Atom) -> Any:
        """Whether a cotangent is wanted of an operand of a `push`; of a tuple that is built here, of each
        part: a constant among its arguments does not vary because another one does.
        """
        if not self.active(atom) or atom not in self.tuples:
            return self.active(atom)
        return tuple(map(self.active, self.tuples[atom]))

    @functools.cached_property
    def tuples(self) -> dict[Any, tuple[ir.Atom, ...]]:
        """The parts of the tuples that the function builds."""
        lets = [s for s in ir.walk(self.function.body) if isinstance(s, ir.Let)]
        return {s.target: s.op.items for s in lets if isinstance(s.op, ir.Build) and s.op.kind == "tuple"}

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


class _Keeper:
    """Texts of operands and result for a formula of the reverse sweep; what it asks for is kept."""

    def __init__(self, transform: Sweeps, operands: tuple[ir.Atom, ...], target: str) -> None:
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


def _is_push(op: ir.Op) -> bool:
    """Whether an operation is a `push` or a `vjp`, whose arguments come as a tuple."""
    if not isinstance(op, ir.Call) or not isinstance(op.function, ir.Const):
        return False
    return bool(getattr(type(op.function.value), "gives_pair", False))


def _may_be_equal(a: Any, b: Any) -> bool:
    """Whether two keys of a dict display may be one."""
    return not (isinstance(a, ir.Const) and isinstance(b, ir.Const)) or a.value == b.value


def _is_temporary(name: str) -> bool:
    return name.startswith("t_")
