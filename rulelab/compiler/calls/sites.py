"""The call sites of one function: what is certain about them when it is compiled, and their caches at run
time.
"""

from __future__ import annotations

import builtins
import copy
import functools
import operator
import sys
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import CatchBlockError, NotDifferentiableError, Place
from ...own_code import changes_nothing
from ...python_facts import CALLED
from ...rules import programs
from ...rules.kinds import (
    BOOL,
    ELLIPSIS,
    FUNCTION,
    I8,
    NONE,
    SLICE,
    STR,
    Array,
    Known,
    Tuple,
    is_real,
)
from ...rules.registry import Found
from ...rules.results import gives_arrays
from ...rules.rule import Rule
from ...rules.signatures import types_of
from ...tangents.algebra import is_number
from ..analysis.regions import MAKERS, Regions
from ..analysis.types import Types
from ..base import ir
from ..base.classes import hands_out_its_own, is_of_c
from ..base.libraries import is_of_rulelab
from ..base.purity import Named, seems_to_change, text_changes
from ..base.source import Source
from ..implicit import watching
from ..memory import containers, copies, crossings, heap, support, walks
from ..memory.collecting import COLLECTORS
from ..memory.handlers import (
    NO,
    ZERO,
    Handler,
    Uncached,
    constant,
)
from ..memory.operands import carries
from ..memory.reach import is_harmless
from ..memory.writes import METHODS, write_finder, write_plain
from ..transform import specialise
from . import questions
from .attributes import attribute_finder, of_namespace
from .borrowed import handed, lookout
from .constructors import is_opaque, set_finder
from .counting import Counting
from .in_place import augmented_finder
from .methods import apply_finder, method_finder
from .operators import operator_finder
from .own_errors import fits
from .remembered import call_finder, depends_on_items
from .samples import NO_SAMPLE, sample_of
from .writing import out_slot

if TYPE_CHECKING:
    from ..base.question import Question


# Classes that call their arguments, which may write, or whose objects others can write through.
_CALLING = (map, filter, memoryview)
_IMMUTABLE = (int, float, complex, str, bool, tuple)
_CHANGING = (
    setattr,
    delattr,
    exec,
    eval,
    next,
)  # the builtin functions that may change something


class Sites:
    """Answers what the transform asks about a function being compiled, and records what it relied on."""

    def __init__(
        self,
        pullbacks: Question,
        source: Source,
        types_: Types,
        namespace: dict[str, Any],
        loaded: dict[str, tuple[str, Any]],
        nested: dict[str, types.CodeType],
    ) -> None:
        self.pullbacks = pullbacks
        self.source = source
        self.types = types_
        self._namespace = namespace
        self._loaded = {target: value for target, (_, value) in loaded.items()}
        self._names = {target: name for target, (name, _) in loaded.items()}
        self._nested = nested
        # rulelab's own code is not checked: it runs nothing unseen.
        self._trusted = is_of_rulelab(source.filename)
        self.relied: list[Named] = []  # functions that are assumed to change nothing
        self.trail: dict[int, tuple[Any, Any]] = {}
        self._built_in: dict[int, Any] = {}  # entries by the same keys, None for other targets

    deposit = staticmethod(watching.deposit)

    def lookout(self, attribute: str | None, position: ir.Position) -> Callable[[Any], Any] | None:
        """A function that returns a constant of unknown type after a check of the code behind it, which then
        runs without being followed; None if there is nothing to check.
        """
        if self._trusted or self.runs_forward:
            return None
        return lookout(self.pullbacks, attribute, self.place(position))

    def handed(self, position: ir.Position) -> Callable[[Any], Any] | None:
        """A function that returns an argument of a library function after a check like that of `lookout`, or
        None if there is nothing to check.
        """
        return None if self._trusted or self.runs_forward else handed(self.pullbacks, self.place(position))

    def asker(self, position: ir.Position) -> Callable[..., Any]:
        """The function that asks a question of a varying value: `ask(question, *xs)`."""
        return questions.asker(self.pullbacks, self.place(position), self._trusted or self.runs_forward)

    def changes_nothing(self, op: ir.Op) -> bool:
        """Whether a call certainly leaves its arguments, and what they hold, unchanged."""
        target = self.target(op)
        if isinstance(op, (ir.Call, ir.Apply)) and op.method is None and isinstance(op.function, str):
            called = self._loaded.get(op.function)
            if isinstance(called, types.FunctionType):
                return changes_nothing(called) or not self._seems_changing(op.function)
        if target is ir.UNBOUND or self.pullbacks.cache.registry.mutator(target) is not None:
            return False
        if any(map(self._seems_changing, self._called_in(op, target))):
            return False
        if self.relies_on_built_in(target) is not None:
            return not isinstance(op, ir.Call) or self._out_by_position(op, target) is None
        if isinstance(target, type):
            return target.__module__ in ("builtins", "itertools")
        return getattr(target, "__module__", None) == "builtins" and target not in _CHANGING

    def _out_by_position(self, op: ir.Call, target: Any) -> int | None:
        """Which argument is the array that the function writes to, as in `np.add(a, b, out)`."""
        owner = op.method is not None and self.types.callee(op) is ir.UNBOUND  # as the first argument
        return out_slot(self.pullbacks.cache.registry, target, owner + len(op.args))

    def _seems_changing(self, atom: ir.Atom) -> bool:
        """Whether a callee may change its arguments, or what it captures."""
        known = self._known(atom)
        if isinstance(known, types.FunctionType):
            relied: list[Named] = [(None, self._names[str(atom)], weakref.ref(known.__code__))]
            changing = seems_to_change(known, relied=relied)
        elif isinstance(atom, str) and atom in self._nested:
            relied = []
            changing = text_changes(self._nested[atom], self._namespace, relied=relied)
        else:
            return not _calls_nothing(atom, known)
        if not changing:
            own = self._namespace  # not held: it belongs to the function whose pass this is
            self.relied += [(None if names is own else names, *rest) for names, *rest in relied]
        return changing

    def _may_write(self, atom: ir.Atom) -> bool:
        """Whether a function that is called for each item may write to values that are held elsewhere."""
        known = self._known(atom)
        if isinstance(known, types.FunctionType):
            return not is_harmless(known.__code__)
        if isinstance(atom, str) and atom in self._nested:
            return not is_harmless(self._nested[atom])
        return not _calls_nothing(atom, known)

    def _known(self, atom: ir.Atom) -> Any:
        """The certain value of a constant, or the object that a name was loaded with; UNBOUND if unknown."""
        return self.types.known(atom) if isinstance(atom, ir.Const) else self._loaded.get(atom, ir.UNBOUND)

    def _called_in(self, op: ir.Op, target: Any) -> list[ir.Atom]:
        """The operands that a library function calls, as far as known."""
        if not isinstance(op, ir.Call):
            return []
        found = [atom for atom in op.operands()[1:] if self.types(atom) == FUNCTION]
        found += [atom for name, atom in op.keywords if name in ("key", "func", "function")]
        number = CALLED.get(target) if is_of_c(target) else None
        if number is not None and number < len(op.args):
            found.append(op.args[number])
        return found

    def holds_nothing(self, op: ir.Op) -> bool:
        """Whether the result of a call or an attribute certainly holds no container that may be changed."""
        if self.is_constant(op):
            return True
        target = self.target(op)
        if isinstance(op, (ir.Call, ir.Apply)) and isinstance(op.function, str) and op.method is None:
            target = self._loaded.get(op.function, target)
        if isinstance(target, type):
            return is_opaque(target)
        if target is ir.UNBOUND or not gives_arrays(target):
            return False
        return self.relies_on_built_in(target) is not None

    def place(self, position: ir.Position) -> Place:
        return position.place_in(self.source)

    def relies_on_built_in(self, target: Any) -> Any:
        """The entry of a target that has only built-in rules, else None; noted in the trail."""
        number = id(target)
        if number not in self.trail:  # the first answer: if it changes meanwhile, the pass is not kept
            cache = self.pullbacks.cache
            self.trail[number] = (target, cache.state_of(target))
            self._built_in[number] = cache.registry.built_in_entry(target)
        return self._built_in[number]

    def target(self, op: ir.Op) -> Any:
        """The target that a site certainly calls, or UNBOUND."""
        if isinstance(op, ir.Call):
            callee = self.types.callee(op)
            if callee is ir.UNBOUND and op.method is not None:
                return self.types.method(op)
            return callee
        if isinstance(op, ir.Attribute):
            found = getattr(np.ndarray, op.name, None) if isinstance(self.types(op.value), Array) else None
            is_value = isinstance(found, types.GetSetDescriptorType)  # a method is not called yet
            return found if is_value else ir.UNBOUND
        return specialise.operator_of(op) or ir.UNBOUND

    regions: Regions  # of the function, once they are known
    runs_forward = False  # whether it runs as a tangent, in which arrays may be written

    def find_global(self, name: str) -> Any:
        """The present value of a global or builtin name; UNBOUND if it has none."""
        return self._namespace.get(name, getattr(builtins, name, ir.UNBOUND))

    @property
    def push(self) -> Any:
        """The forward question."""
        return self.pullbacks.push

    def is_known_function(self, op: ir.Call) -> bool:
        """Whether a call certainly goes to a function with only built-in rules, and writes nowhere."""
        target, registry = self.target(op), self.pullbacks.cache.registry
        if target is ir.UNBOUND or self.relies_on_built_in(target) is None:
            return False
        writes = any(key == "out" for key, _ in op.keywords) or registry.mutator(target) is not None
        return not writes and out_slot(registry, target, len(op.args)) is None

    def is_constant(self, op: ir.Op) -> bool:
        target = self.target(op)
        return target is not ir.UNBOUND and self.is_declared_constant(target)

    def is_declared_constant(self, target: Any) -> bool:
        """Whether a function has only built-in rules, and these say that it has no derivative."""
        entry = self.relies_on_built_in(target)
        rules = entry.built_in_for("rrule") if entry is not None else []
        return bool(rules) and not any(r.differentiable for r in rules)

    def inline(self, op: ir.Op) -> bool:
        """Whether an operation may be written out instead of being called: its operator has only built-in
        rules.
        """
        if self.pullbacks.keeps and isinstance(op, ir.Item) and not _stays_as_it_is(self.types(op.index)):
            return False  # the index may be an array that is overwritten
        return self.relies_on_built_in(specialise.operator_of(op)) is not None

    def partials(self, op: ir.Op) -> Callable[..., Any] | None:
        """The partials of a call that certainly goes by a built-in rule, if that has partials; else None."""
        rule = self.scalar_rule(op)
        return rule.partials if rule is not None else None

    def scalar_rule(self, op: ir.Op, mode: Literal["rrule", "frule"] = "rrule") -> Rule | None:
        """The built-in rule of this mode that certainly answers a call, if it states partials; else None."""
        if not isinstance(op, ir.Call) or op.keywords:
            return None
        rule = self.certain_rule(op, mode)
        return rule if rule is not None and rule.partials is not None else None

    def has_slope(self, op: ir.Op) -> bool:
        """Whether a call certainly goes by a rule by partials that has a derivative."""
        rule = self.scalar_rule(op)
        return rule is not None and rule.differentiable

    def indexer(self, position: ir.Position) -> Callable[..., Any]:
        """A function that makes the items of a loop accessible by position, and returns the pullback to their
        owner.
        """
        place, iteration = self.place(position), self.pullbacks.iteration

        def indexed(x: Any) -> Any:
            y = x if type(x) in heap.KINDS else support.indexable(x)
            if y is x and not hands_out_its_own(x):
                return y, lambda y_bar: (NO, y_bar)
            walk = iteration.walk(x, place)
            taken = heap.own(support.LoopItems(walk), True)

            def back(_: Any) -> Any:
                found = heap.take_all(taken)
                bars = [found.get(number, ZERO) for number in range(len(taken.items))]
                return NO, (walks.gather(walk, bars[::-1]) if walk is x else walk.cotangent(bars))

            return taken, heap.effectful(back)

        return indexed

    def bound_rule(self, op: ir.Op, active: tuple[bool, ...]) -> Callable[..., Any] | None:
        """The built-in rule that certainly applies at a site, to be called without looking it up; None if
        none does.
        """
        if isinstance(op, (ir.MakeCell, ir.ReadCell)):
            return containers.make_cell if isinstance(op, ir.MakeCell) else containers.read_cell
        if isinstance(op, ir.Collect):
            collect, by_rule = COLLECTORS[op.kind]
            by_rule = questions.asking(by_rule, collect, None) if op.asks else by_rule
            return crossings.through_rule(by_rule, "parts", False)
        if isinstance(op, ir.Augmented) or (isinstance(op, ir.Call) and op.keywords):
            return None
        if self._may_change(op):
            return None
        if (
            isinstance(op, ir.Binary)
            and self.target(op) in specialise.OF_REALS
            and all(is_real(self.types(a)) for a in op.operands())
        ):
            return None  # the rule for real scalars, found at run time, also divides by NumPy's zeros
        rule = self.certain_rule(op)
        if rule is None or not rule.built_in or not rule.differentiable or rule.requires:
            return None
        if out_slot(self.pullbacks.cache.registry, self.target(op), len(op.operands())) is not None:
            return None  # whether it writes is known at run time
        method = isinstance(op, ir.Call) and op.method is not None and self.types.callee(op) is ir.UNBOUND
        flags = active if not isinstance(op, ir.Call) or method else active[1:]
        leading = rule.leading if rule.leading is not None else len(flags)
        if any(flags[leading:]):
            return None
        if self.pullbacks.keeps and not all(_stays_as_it_is(self.types(atom)) for atom in op.operands()):
            return None  # what it keeps has to be copied
        return rule.function

    def _may_change(self, op: ir.Op) -> bool:
        """Whether an operand may be a container that others change: its cotangent then goes by identity, or a
        rule may read it again after a change.
        """
        operands = op.operands()
        if any(map(self.regions.shared, operands)) or any(map(self.regions.from_outside, operands)):
            return True
        return self.target(op) in (*MAKERS, np.ndarray.tolist)

    def stated_rule(self, op: ir.Op) -> Rule | None:
        """The built-in rule that certainly answers an operation, if it states formulas; else None."""
        if self._may_change(op):
            return None
        if isinstance(op, ir.Augmented) and not is_real(self.types(op.left)):
            return None  # it writes to its left operand
        if self.pullbacks.keeps and not all(_stays_as_it_is(self.types(atom)) for atom in op.operands()):
            return None  # what the formulas refer to has to be copied
        rule = self.certain_rule(op)
        return rule if rule is not None and rule.built_in and (rule.partials or rule.cotangents) else None

    def certain_rule(self, op: ir.Op, mode: Literal["rrule", "frule"] = "rrule") -> Rule | None:
        """The built-in rule that answers an operation for all operands of these types; None if that is not
        certain.
        """
        target = self.target(op)
        if target is ir.UNBOUND or self.relies_on_built_in(target) is None:
            return None
        if depends_on_items(self.pullbacks.cache.registry.stand_in(target)):
            if not isinstance(op, ir.Call) or not all(map(self.types.are_numbers, op.args)):
                return None
        atoms, keywords = op.operands(), {}
        if isinstance(op, ir.Call):
            keywords = dict(op.keywords)
            atoms = op.args if self.types.callee(op) is not ir.UNBOUND else (op.function, *op.args)
        if not fits(target, atoms, keywords):
            return None  # no rule applies: the call will raise its own error
        samples = [sample_of(self.types(atom), atom) for atom in atoms]
        if any(sample is NO_SAMPLE for sample in samples):
            return None
        answer = self.pullbacks.cache.registry.ask(target, types_of(tuple(samples)), mode)
        return answer.rule if isinstance(answer, Found) else None

    def finder(self, op: ir.Op, position: ir.Position, active: tuple[bool, ...]) -> Handler:
        """The inline cache of a call site: the function that finds the handler for its operands."""
        place = self.place(position)
        if isinstance(op, ir.Write):
            found = write_finder(self.pullbacks, op.kind, place)
            if op.asks:
                return _asking_key(found, METHODS[op.kind], place)
            return _looking_at_slices(found, place, METHODS[op.kind]) if op.by_moved_slice else found
        if isinstance(op, ir.Augmented):
            rebinding = _operator_finder(
                self.pullbacks, getattr(operator, op.operator), (False, *active), place
            )
            return augmented_finder(self.pullbacks, op, active, place, rebinding)
        if isinstance(op, ir.Build):
            return set_finder(active, place)
        if isinstance(op, ir.Attribute):
            found = attribute_finder(self.pullbacks, op.name, place)
            return found if active[0] else _outside_finder(self.pullbacks, op.name, found, place)
        if isinstance(op, ir.Apply):
            return apply_finder(self.pullbacks, op.method, active, place)
        if isinstance(op, ir.Call):
            if op.method is None or isinstance(self.types(op.function), Known):
                return call_finder(self.pullbacks, active, place)
            return method_finder(self.pullbacks, op.method, active, place)
        if isinstance(op, ir.Item) and active[1]:
            found = _item_finder(self.pullbacks, active, place)
        else:
            found = _operator_finder(self.pullbacks, specialise.operator_of(op), (False, *active), place)
        if isinstance(op, ir.Item) and op.by_moved_slice:
            found = _looking_at_slices(found, place)
        return _for_update(found) if isinstance(op, ir.Item) and op.for_update else found

    def plain(
        self, op: ir.Call, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any] | None:
        """None if the call may be made as it is, else a function that checks the callee and calls it."""
        target = self.target(op)
        if target is globals or self.runs_forward:
            return None  # the globals of the pass are the author's
        if target is copy.copy or target is copy.deepcopy:
            return copies.made_plain(target)
        writes = any(name == "out" for name, _ in op.keywords) or (
            target is not ir.UNBOUND and self._out_by_position(op, target) is not None
        )
        runs = any(self.types(a) == FUNCTION for a in op.args)  # it may change values that are followed
        runs = runs or any(map(self._may_write, self._called_in(op, target)))
        if target is not ir.UNBOUND and not writes and not runs:
            mutator = self.pullbacks.cache.registry.mutator(target) is not None
            if not mutator and (
                self.relies_on_built_in(target) is not None
                or (isinstance(target, type) and target.__module__ == "builtins" and target not in _CALLING)
            ):
                return None
        place, pullbacks, method = self.place(position), self.pullbacks, op.method

        def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            return pullbacks.run_plain(
                function if method is None else getattr(function, method), args, kwargs, varied, place
            )

        return call

    def plain_apply(
        self, op: ir.Apply, position: ir.Position, varied: tuple[bool, ...]
    ) -> Callable[..., Any]:
        """A function that makes a call with stars after a check of the callee."""
        place, pullbacks, method = self.place(position), self.pullbacks, op.method
        if self.runs_forward:
            ask = self.asker(position)
            return lambda g, *args, **words: ask(g if method is None else getattr(g, method), *args, **words)

        def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            flags = (varied[0], *(varied[1],) * len(args), *(varied[2],) * len(kwargs))
            return pullbacks.run_plain(
                function if method is None else getattr(function, method), args, kwargs, flags, place
            )

        return call

    def writer(self, op: ir.Write, position: ir.Position) -> Callable[..., Any]:
        """The function that performs a write where no cotangent is wanted."""
        place = self.place(position)
        write = write_plain(self.pullbacks, op.kind, place)
        if op.asks:
            write = questions.asking(write, getattr(dict, METHODS[op.kind]), place)
        return _looking_at_slices(write, place, METHODS[op.kind]) if op.by_moved_slice else write

    def caught(self, positions: list[ir.Position]) -> Callable[..., Any]:
        """A function that refuses cotangents of what a handler computed: CatchBlockError at its line."""
        places = list(map(self.place, positions))

        def refuse_caught(number: int, *bars: Any) -> None:
            if any(_is_something(bar) for bar in bars):
                place = places[number - 1]
                raise CatchBlockError(
                    f"Can't differentiate code that ran in an except block at {place.label()}",
                    place=place,
                    fixes=(
                        "return a sentinel value instead of raising and catching",
                        f"write a rule for {place.function}",
                    ),
                    read="limitations#try-and-except",
                )

        return refuse_caught

    def entry(self, op: ir.Item, position: ir.Position) -> Callable[..., Any]:
        """The function that reads `x[key]` where no cotangent is wanted; an entry that a defaultdict creates
        for it may be changed later.
        """
        place = self.place(position)

        def entry(x: Any, key: Any) -> Any:
            if type(x) in heap.KINDS:
                return heap.fresh(x[key]) if op.for_update else x[key]
            if type(x) is not defaultdict or not heap.is_own(x) or key in x:
                return x[key]
            make = x.default_factory
            if heap.is_followed(x):
                if type(make) is types.FunctionType and carries(make):
                    raise NotDifferentiableError(
                        "A defaultdict creates an entry that may vary, and its value is not used here",
                        place=place,
                        fixes=("set the entry: d[key] = ...",),
                        read="limitations#iteration",
                    )
                return containers.read_item(x, key)[0]
            if type(make) is types.FunctionType or (type(make) is type and make not in _IMMUTABLE):
                x[key] = heap.made_plain(self.pullbacks.run_plain(make, (), {}, (False,), place))
            return x[key]

        return _looking_at_slices(entry, place) if op.by_moved_slice else entry

    def iterate(self, position: ir.Position) -> Callable[..., Any]:
        return functools.partial(self.pullbacks.iteration.walk, place=self.place(position))

    def unpacker(self, op: ir.Unpack, position: ir.Position) -> Callable[..., Any]:
        place, iteration = self.place(position), self.pullbacks.iteration
        return lambda value: iteration.unpacked(value, op.count, op.or_more, place)

    def function_maker(self, op: ir.MakeFunction) -> Callable[..., Any]:
        """A function that makes a nested function from its captured variables and defaults."""
        code, names = op.code, [name for name, _ in op.keyword_defaults]
        as_cells = [name in op.cells for name, _ in op.captured]
        implicit = self.pullbacks.implicit

        def make_function(
            captured: list[Any], defaults: list[Any], keyword_defaults: dict[str, Any]
        ) -> types.FunctionType:
            cells = tuple(
                x if is_cell else types.CellType() if x is ir.UNBOUND else types.CellType(x)
                for x, is_cell in zip(captured, as_cells, strict=True)
            )
            namespace = sys._getframe(1).f_globals  # those of the pass, which are the author's
            made = types.FunctionType(code, namespace, code.co_name, tuple(defaults) or None, cells)
            made.__kwdefaults__ = keyword_defaults if names else None
            for cell, x in zip(cells, captured, strict=True):
                if x is ir.UNBOUND:  # the function's own name
                    cell.cell_contents = made
            if implicit:
                watching.note_made(made)
            return made

        return make_function


def _stays_as_it_is(kind: Any) -> bool:
    """Whether no value of this type can be changed."""
    if isinstance(kind, Tuple):
        return all(map(_stays_as_it_is, kind.items))
    return is_real(kind) or kind in (BOOL, I8, STR, NONE, SLICE, ELLIPSIS)


def _operator_finder(pullbacks: Question, target: Any, active: tuple[bool, ...], place: Place) -> Handler:
    """The function that finds the handlers of an operator at one site, cached by operand types."""
    registry, of_items = pullbacks.cache.registry, target is operator.getitem
    counting = Counting(pullbacks, active[1:])
    look_for = operator_finder(pullbacks, target, active, place)
    found: tuple[int, dict[Any, Handler]] = (-1, {})  # with its epoch: both change in one assignment

    def find(*args: Any) -> Handler:
        nonlocal found
        first = args[0]
        kind = type(first)
        if kind not in heap.NEVER_OWN and heap.is_own(first):
            if of_items and kind in _WITH_ITEMS and type(args[1]) in _KEYS and heap.is_followed(first):
                return containers.read_item
            counted = counting.of_operator(target, args) if kind is Counter else None
            return look_for(*args) if counted is None else counted
        kinds = (kind, type(args[1])) if len(args) == 2 else tuple(map(type, args))
        asked_at = registry.snapshot.epoch  # first: a rule that is added meanwhile makes the answer outdated
        of, known = found
        if of != asked_at:
            found = (asked_at, known := {})
        if (handler := known.get(kinds)) is not None:
            return handler
        handler = look_for(*args)
        if (
            pullbacks.cache.mode == "auto"
            and type(handler) is not Uncached
            and registry.built_in_entry(target) is not None
        ):
            handler = specialise.of_reals(target, args, active[1:]) or handler
            known[kinds] = handler
        return handler

    return find


_WITH_ITEMS = frozenset({list, dict, deque, defaultdict, OrderedDict, Counter, support.LoopItems})
_KEYS = frozenset({int, str})  # which run no code of the author's


def _item_finder(pullbacks: Question, active: tuple[bool, ...], place: Place) -> Handler:
    """`x[key]` with a key that varies, which has a cotangent only if an author's method computes the item."""
    of_key = (False, *active)
    of_item = _operator_finder(pullbacks, operator.getitem, (False, active[0], False), place)

    def find(owner: Any, key: Any) -> Handler:
        if isinstance(getattr(type(owner), "__getitem__", None), types.FunctionType):
            return pullbacks.find_target(operator.getitem, (owner, key), {}, of_key, place)
        missing = getattr(type(owner), "__missing__", None)
        if isinstance(missing, types.FunctionType) and isinstance(owner, dict) and key not in owner:
            if missing is containers.NOT_COUNTED and pullbacks.cache.registry.has_nothing_for(missing):
                return constant(operator.getitem)
            return pullbacks.find_target(missing, (owner, key), {}, of_key, place)
        handler = of_item(owner, key)

        def call(owner: Any, key: Any) -> Any:
            y, back = handler(owner, key)
            return y, heap.like(back, lambda y_bar: (NO, back(y_bar)[1], NO))

        return call

    return find


def _looking_at_slices(access: Handler, place: Place, name: str = "__getitem__") -> Handler:
    """`access`, which reads or writes `x[key]` or finds how to, preceded by a check of slices in the key."""

    def access_looking(owner: Any, key: Any, *value: Any) -> Any:
        try:
            programs.refuse_moved_slice(owner, key, name)
        except NotDifferentiableError as error:
            raise NotDifferentiableError(
                error.found, place=place, fixes=error.fixes, read=error.read
            ) from None
        return access(owner, key, *value)

    return access_looking


def _asking_key(find: Handler, name: str, place: Place) -> Handler:
    """The finder of a write to `x[key]`, where a dict may ask an author's object that is the key for its
    hash.
    """

    def find_asking(owner: Any, key: Any, *value: Any) -> Handler:
        handler = find(owner, key, *value)
        return (
            handler if type(key) in questions.PLAIN else questions.asking(handler, getattr(dict, name), place)
        )

    return find_asking


def _for_update(find: Handler) -> Handler:
    """The finder of `x[key]` in `x[key] op= ...`: an array that a Buffer creates for it is held only here."""

    def find_noting(owner: Any, key: Any) -> Handler:
        handler = find(owner, key)
        if type(owner) not in heap.KINDS:
            return handler

        def read(owner: Any, key: Any) -> Any:
            y, back = handler(owner, key)
            return heap.fresh(y), back

        return read

    return find_noting


def _calls_nothing(atom: ir.Atom, known: Any) -> bool:
    """Whether an operand that is not a Python function calls none either: None, or a C function."""
    known = atom.value if isinstance(atom, ir.Const) else known
    return known is None or is_of_c(known)


def _outside_finder(pullbacks: Question, name: str, otherwise: Handler, place: Place | None) -> Handler:
    """The finder of `x.name` for a constant `x`, where it may be a parameter: of a module, class or library
    object.
    """

    look = lookout(pullbacks, name, place)

    def find(owner: Any) -> Handler:
        if isinstance(owner, (np.ndarray, np.generic)) or is_number(owner):
            return otherwise(owner)
        look(owner)
        return of_namespace(pullbacks, owner, name, None, place)

    return find


def _is_something(bar: Any) -> bool:
    bar = support.value(bar)
    if bar is NO or bar is ZERO:
        return False
    return not (isinstance(bar, (int, float, complex, np.ndarray, np.generic)) and not np.any(bar))
