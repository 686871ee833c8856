"""Replaces calls of the author's small functions by their lowered bodies.

This applies to a global of the same namespace, to a captured function known by its source, to a function
made in the same function and only called, and to a method of an object whose attributes are parameters
(`opening`). A function stays a call if its body would mean something else in another place or needs a
frame of its own; so does a call whose arguments do not fit, so that it raises its own error.
"""

from __future__ import annotations

import inspect
import re
import types
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import Place, PlaceInlined, RuleLabError
from ..base import ir
from ..base.copying import Copying, duplicate
from ..base.libraries import IMMORTAL, is_authors_function
from ..base.liveness import all_names, drop, joins_of, prune, use_counts
from ..base.source import Source, find_source
from .forwarding import forward, without_copies
from .held import Held
from .lower import lower, parameters_of
from .lowering import Surroundings
from .opening import Structure, read_fields
from .readers import Inlined, is_plain

_SMALL = 60  # statements in a function that is inlined, including those inlined into it
_MOST = 600  # statements inlined into one function in total
_DEEPEST = 12  # levels of nested blocks: Python allows twenty loops
_ALWAYS = 3  # statements of a function that is inlined whatever its arguments
_TRIALS = 5
_ROUNDS = 6  # a function that captures another one is inlined before the other is
_NUMBERED = re.compile(r"_\d+$")  # the suffix that single assignment adds to a name
_OTHER_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# Operations that need their own frame, cell or owner.
_KEPT_APART = (ir.Write, ir.MakeFunction, ir.MakeCell, ir.ReadCell)
# Operations whose result is new, so that changing it in place changes no argument.
_NEW = (ir.Binary, ir.Unary, ir.Compare, ir.Build, ir.Append, ir.Format, ir.Augmented)


@dataclass(frozen=True)
class Callees:
    """What is asked about callees; `around` is as for the lowering of their callers.

    `look` gives the current value of a name without recording that it was read. `known_in` takes a function
    and returns a test of whether an atom in it, passed on unchanged, has a known type.
    """

    namespace: dict[str, Any]
    look: Callable[[str], Any]
    around: Surroundings
    has_rule: Callable[[types.FunctionType], bool]
    known_in: Callable[[ir.Function], Callable[[ir.Atom], bool]]
    _lowered: dict[types.CodeType, tuple[set[str], ir.Function | None]] = field(default_factory=dict)

    def lowered(self, code: types.CodeType) -> tuple[set[str], ir.Function | None]:
        """The names that lowering a function looked up, and the function itself; None if refused."""
        if code not in self._lowered:
            names: set[str] = set()

            def find_global(name: str) -> Any:
                names.add(name)
                return self.look(name)

            function = None
            with suppress(RuleLabError):
                around = replace(self.around, find_global=find_global, captured={})
                function = lower(find_source(code), code, around)
                prune(function)
            self._lowered[code] = names, function
        return self._lowered[code]


@dataclass
class _Body:
    """A lowered function that may replace calls of it."""

    function: ir.Function
    source: Source
    code: types.CodeType
    statements: int
    depth: int
    inlined: list[Inlined]
    looked_up: set[str]
    loads: set[str]


@dataclass
class _Callee:
    """The function that a call calls: its body, and atoms for its captured variables and defaults."""

    body: _Body
    captured: dict[str, ir.Atom] = field(default_factory=dict)
    defaults: tuple[ir.Atom, ...] = ()
    keyword_defaults: dict[str, ir.Atom] = field(default_factory=dict)
    held: Inlined | None = None


def inline(
    function: ir.Function,
    source: Source,
    code: types.CodeType,
    callees: Callees,
    containers: dict[str, Structure],
    texts: dict[str, Held],
) -> tuple[ir.Function, list[Inlined]]:
    """The function with calls replaced by bodies, and the globals and methods that were inlined.

    `containers` come from `opening`, `texts` from `held`. A call whose argument types are not known stays a
    call: it gets a separate pass for the types that it has at run time.
    """
    left: set[Place] = set()
    for _ in range(_TRIALS if _calls_functions(function, callees.namespace, containers, texts) else 0):
        made = duplicate(function)
        work = _Inlining(made, source, (code,), callees, left, containers, texts)
        work.run()
        if not work.inlined and not made.handed:
            return function, []
        known = callees.known_in(made)
        calls = [call for call in made.handed if call.call is not None]
        unknown = {call.call for call in calls if not all(map(known, call.atoms))}
        if not unknown:
            made.handed = [handed for handed in made.handed if handed.counts]
            for name in work.looked_up:
                callees.around.find_global(name)  # so that the look-up is recorded
            return made, list({(held.of_class, held.name): held for held in work.inlined}.values())
        left |= unknown
    return function, []


def _calls_functions(
    function: ir.Function,
    namespace: dict[str, Any],
    containers: dict[str, Structure],
    texts: dict[str, Held],
) -> bool:
    """Whether the function calls a global, captured or nested function, or a method of an opened object."""
    made = {let.target: let.op for let in function.lets()}
    calls = [op for op in made.values() if isinstance(op, ir.Call)]
    if any(_method(op, containers) is not None for op in calls):
        return True
    if any(op.function in texts for op in calls if op.method is None):
        return True
    called = [made.get(str(op.function)) for op in calls if op.method is None]
    return any(
        isinstance(namespace.get(op.name), types.FunctionType)
        if isinstance(op, ir.Load)
        else isinstance(op, ir.MakeFunction)
        for op in called
    )


def _method(op: ir.Call, containers: dict[str, Structure]) -> types.FunctionType | None:
    """The method of an opened object that a call calls; None if it calls something else."""
    structure = containers.get(str(op.function))
    found = None if structure is None else structure.method(op.method or "__call__")
    return found if isinstance(found, types.FunctionType) else None


class _Inlining:
    """Inlines the calls in one function; `path` holds the codes of the functions it is being lowered for."""

    def __init__(
        self,
        function: ir.Function,
        source: Source,
        path: tuple[types.CodeType, ...],
        callees: Callees,
        left: set[Place],
        containers: dict[str, Structure],
        texts: dict[str, Held],
    ) -> None:
        self.function = function
        self.texts = texts  # those of captured functions
        self.containers = containers  # those of `opening`, whose methods are known
        self.source = source
        self.path = path
        self.callees = callees
        self.left = left  # the places of calls that are not inlined
        self.inlined: list[Inlined] = []
        self.looked_up: set[str] = set()
        # Functions being lowered that this one calls, perhaps through others.
        self.recurring: set[types.CodeType] = set()
        self._bodies: dict[types.CodeType, _Body | None] = {}
        self._room = _MOST
        self._made: dict[str, ir.Let] = {}
        self._uses: Counter[Any] = Counter()
        self._calls: Counter[Any] = Counter()
        self._left: set[str] = set()  # functions with an inlined call
        self._given: set[str] = set()  # names in inlined bodies, perhaps not yet in the function

    def run(self) -> None:
        for _ in range(_ROUNDS):
            if not self._round():
                return

    def _round(self) -> bool:
        """Go through the function once; returns whether anything was replaced."""
        function = self.function
        lets = function.lets()
        self._made = {s.target: s for s in lets}
        self._uses = use_counts(function)
        self._calls = Counter(s.op.function for s in lets if isinstance(s.op, ir.Call) and not s.op.method)
        self._left = set()
        self._block(function.body, 0)
        if not self._left:
            return False
        self._let_go()
        forward(function)
        while read_fields(function, self.containers):
            forward(function)
        self._spare_copies()
        prune(function)
        return True

    def _spare_copies(self) -> None:
        """Remove copies of lists that are consumed immediately, recording the builtins this relies on."""
        loaded = {let.target: let.op.name for let in self.function.lets() if isinstance(let.op, ir.Load)}
        meant = {target: self.callees.look(name) for target, name in loaded.items()}
        for relied in without_copies(self.function, lambda atom: meant.get(str(atom))):
            self.function.assumed[loaded[str(relied)]] = meant[str(relied)]

    def _let_go(self) -> None:
        """Drop loads and definitions of functions that are no longer called."""
        uses = use_counts(self.function)
        drop(self.function.body, {name for name in self._left if not uses[name]})

    def _block(self, block: ir.Block, depth: int) -> None:
        out: ir.Block = []
        for statement in block:
            if isinstance(statement, ir.Let):
                out += self._in_place_of(statement, depth)
                continue
            if not isinstance(statement, ir.Try):
                for inner in ir.blocks(statement):
                    self._block(inner, depth + 1)
            out.append(statement)
        block[:] = out

    def _in_place_of(self, statement: ir.Let, depth: int) -> ir.Block:
        """The body of the callee if it can be inlined here; otherwise the statement itself."""
        op = statement.op
        if not isinstance(op, ir.Call) or not isinstance(op.function, str):
            return [statement]
        if self.left and self._call(statement) in self.left:
            return [statement]
        called, method = op.function, _method(op, self.containers)
        if method is not None:
            callee = self._method(method, op)
            op = replace(op, args=(called, *op.args), method=None)
        else:
            callee = self._callee(called) if op.method is None else None
        if callee is None or callee.body.statements > self._room or callee.body.depth + depth > _DEEPEST:
            return [statement]
        given = _bound(callee, op)
        if given is None or not self._free_for(callee.body):
            return [statement]
        self._left.add(called)
        return self._placed(statement, callee, given, not op.starred)

    def _call(self, statement: ir.Let) -> Place:
        """The place in the author's source of the call that a statement makes."""
        return statement.position.place_in(self.source)

    # -- what is called --------------------------------------------------------------------------------------

    def _callee(self, name: str) -> _Callee | None:
        made = self._made.get(name)
        if made is None:
            return self._captured(name)
        if isinstance(made.op, ir.Load):
            return self._global(made.op.name)
        return self._nested(name, made.op) if isinstance(made.op, ir.MakeFunction) else None

    def _captured(self, name: str) -> _Callee | None:
        """The callee for a captured function. Recursion needs no check here: the captured functions, and
        those that they capture, are part of the pass's signature, which ends.
        """
        held = self.texts.get(name)
        body = None if held is None else self._body_of(held.code)
        if held is None or body is None:
            return None
        return _Callee(body, held.captured, held.defaults, held.words)

    def _global(self, name: str) -> _Callee | None:
        names = self.callees.namespace
        function = names.get(name)
        return self._by_name(name, function) if isinstance(function, types.FunctionType) else None

    def _method(self, function: types.FunctionType, op: ir.Call) -> _Callee | None:
        of_class = self.containers[str(op.function)].of_class
        return self._by_name(op.method or "__call__", function, of_class)

    def _by_name(
        self, name: str, function: types.FunctionType, of_class: Callable[[], type | None] | None = None
    ) -> _Callee | None:
        """The callee for a function found under a name, in the namespace or in a class."""
        if not is_plain(function, self.callees.namespace, self.callees.has_rule):
            return None
        body = self._body(function.__code__)
        if body is None:
            return None
        defaults, words = function.__defaults__, function.__kwdefaults__
        held = Inlined.of(name, function, of_class)
        constants = {word: ir.Const(value) for word, value in (words or {}).items()}
        return _Callee(body, {}, tuple(map(ir.Const, defaults or ())), constants, held)  # type: ignore[arg-type]

    def _nested(self, name: str, op: ir.MakeFunction) -> _Callee | None:
        if op.cells or self._uses[name] != self._calls[name]:
            return None  # it may be used elsewhere, and be given a rule or other defaults
        if any(isinstance(atom, ir.Const) and atom.value is ir.UNBOUND for _, atom in op.captured):
            return None
        body = self._body(op.code)
        if body is None:
            return None
        return _Callee(body, dict(op.captured), op.defaults, dict(op.keyword_defaults))

    def _body(self, code: types.CodeType) -> _Body | None:
        """The body of a function; None if it may not be inlined, such as while it is being lowered itself."""
        if code in self.path:
            self.recurring.add(code)
            return None
        return self._body_of(code)

    def _body_of(self, code: types.CodeType) -> _Body | None:
        if code not in self._bodies:
            self._bodies[code] = self._lowered(code)
        return self._bodies[code]

    def _lowered(self, code: types.CodeType) -> _Body | None:
        """A function with the calls in it inlined, or None if it may not be inlined."""
        if code.co_flags & (_OTHER_KINDS | inspect.CO_VARKEYWORDS):
            return None
        names, function = self.callees.lowered(code)
        if function is None:
            return None  # the call itself will raise the error
        source, function = find_source(code), duplicate(function)
        inner = _Inlining(function, source, (*self.path, code), self.callees, self.left, {}, {})
        if len(function.statements()) <= 2 * _SMALL:
            inner.run()
        count = len(function.statements())
        self.recurring |= inner.recurring - {code}
        if inner.recurring or count > _SMALL or not self._may_stand_elsewhere(function):
            return None
        loads = {s.op.name for s in function.lets() if isinstance(s.op, ir.Load)}
        loads |= function.assumed.keys()
        looked_up = names | inner.looked_up
        return _Body(function, source, code, count, _depth(function.body), inner.inlined, looked_up, loads)

    def _may_stand_elsewhere(self, function: ir.Function) -> bool:
        """Whether a body means the same in another function, and certainly changes none of its arguments."""
        made = {s.target: s.op for s in function.lets()}
        joins = dict(join for s in function.statements() for join in joins_of(s))
        for statement in function.statements():
            if isinstance(statement, (ir.Try, ir.Keep)):
                return False
            if isinstance(statement, ir.Raise) and statement.error is None:
                return False
            op = statement.op if isinstance(statement, ir.Let) else None
            if isinstance(op, _KEPT_APART) or (isinstance(op, ir.Ask) and op.function is globals):
                return False
            if isinstance(op, ir.Augmented) and not op.owned and not _is_new(op.left, made, joins):
                return False
            if isinstance(op, ir.Load) and not _is_tame(self.callees.look(op.name)):
                return False
        return True

    def _free_for(self, body: _Body) -> bool:
        """Whether no global that a body reads is shadowed by a name in this function."""
        function = self.function
        own = {*function.locals, *function.parameters, *function.free, *self._given}
        return body.loads.isdisjoint(own) and body.loads.isdisjoint(all_names(function))

    def _fresh(self, base: str) -> str:
        name = self.function.fresh(base)
        self._given.add(name)
        return name

    # -- in its place ----------------------------------------------------------------------------------------

    def _placed(
        self, statement: ir.Let, callee: _Callee, given: dict[str, ir.Atom], counts: bool
    ) -> ir.Block:
        """The statements of a body, copied to replace a call."""
        body, function = callee.body, self.function
        function.reserved |= body.loads
        function.assumed.update(body.function.assumed)
        function.readers.update(body.function.readers)
        self.looked_up |= body.looked_up
        self.inlined += [*([callee.held] if callee.held is not None else []), *body.inlined]
        self._room -= body.statements
        out: ir.Block = []
        known = dict(callee.captured)
        for parameter in body.function.parameters:
            known[parameter] = self._argument(statement, parameter, given[parameter], out)
        result = body.function.result
        if isinstance(result, str) and result not in known:
            known[result] = statement.target
            last: ir.Block = []
        else:
            atom = known[result] if isinstance(result, str) else result
            last = [ir.Let(statement.position, statement.target, ir.Move(atom))]

        def named(name: str) -> ir.Atom:
            if name not in known:
                known[name] = self._fresh(_base(name, body.function))
            return known[name]

        copying = Copying(named, _placing(body.source, self.source, statement.position))
        out += copying.block(body.function.body)
        handed = [atom for part in given.values() for atom in (part if isinstance(part, tuple) else (part,))]
        atoms = (*handed, *callee.captured.values())
        call = None if body.statements <= _ALWAYS else self._call(statement)
        function.handed.append(ir.Handed(statement.target, atoms, call, counts))
        function.handed += map(copying.handed, body.function.handed)
        return [*out, *last]

    def _argument(self, call: ir.Let, parameter: str, given: Any, out: ir.Block) -> ir.Atom:
        """The atom for a parameter; the values of `*args` are packed into a tuple."""
        if not isinstance(given, tuple):
            return given
        name = self._fresh(parameter)
        out.append(ir.Let(call.position, name, ir.Build("tuple", given)))
        return name


# --- whether a body may stand elsewhere ---------------------------------------------------------------------


def _is_tame(value: Any) -> bool:
    """Whether the value of a global never inspects its caller's frame; `warnings` and `logging` do."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in IMMORTAL - {"rulelab"}
    if is_authors_function(value) or not callable(value):
        return True
    if isinstance(value, type):
        return True
    return str(getattr(value, "__module__", None)).partition(".")[0] in IMMORTAL - {"rulelab"}


def _is_new(atom: ir.Atom, made: dict[str, ir.Op], joins: dict[str, list[ir.Atom]]) -> bool:
    """Whether a value was created in the function on every path, and is not one of its arguments."""
    seen: set[ir.Atom] = set()
    waiting = [atom]
    while waiting:
        found = waiting.pop()
        if found in seen or isinstance(found, ir.Const):
            continue
        seen.add(found)
        op = made.get(found)
        if found in joins:
            waiting += joins[found]
        elif isinstance(op, ir.Move):
            waiting.append(op.value)
        elif not isinstance(op, _NEW):
            return False
    return True


def _depth(block: ir.Block) -> int:
    return max((1 + _depth(inner) for statement in block for inner in ir.blocks(statement)), default=0)


def _base(name: str, function: ir.Function) -> str:
    """The name that a copied value is named after: its variable in the inlined function."""
    return name if name in function.locals else _NUMBERED.sub("", name)


# --- arguments ----------------------------------------------------------------------------------------------


def _bound(callee: _Callee, call: ir.Call) -> dict[str, Any] | None:
    """The argument for each parameter, a tuple for `*args`; None if the arguments do not fit."""
    code = callee.body.code
    names = parameters_of(code)
    count, every = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    found: dict[str, Any] = dict(zip(names[:count], call.args))
    if code.co_flags & inspect.CO_VARARGS:
        found[names[every]] = call.args[count:]
    elif len(call.args) > count:
        return None
    for word, atom in call.keywords:
        if word in found or word not in names[code.co_posonlyargcount : every]:
            return None
        found[word] = atom
    first = count - len(callee.defaults)
    defaults = {**dict(zip(names[first:count], callee.defaults, strict=True)), **callee.keyword_defaults}
    found = {**defaults, **found}
    return found if all(name in found for name in names) else None


# --- positions ----------------------------------------------------------------------------------------------


def _placing(body: Source, around: Source, call: ir.Position) -> Callable[[ir.Position], ir.Position]:
    """Maps positions in a body to positions in the caller: unchanged if both are in the same text, otherwise
    the position of the call. Messages give the original place either way.
    """
    same = body.filename == around.filename and body.lines == around.lines
    at = call.place_in(around)
    calls = (*at.calls, at)

    def placed(position: ir.Position) -> ir.Position:
        own = position.place_in(body)
        reached = PlaceInlined.reached(own, (*calls, *own.calls))
        return ir.PositionInlined.at(position if same else call, reached)

    return placed
