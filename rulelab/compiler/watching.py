"""Implicit parameters: which values from outside of a function lead to them, and what flows back to each.

In the implicit style nothing that varies is handed in: the loss reaches its parameters through globals,
captured variables, defaults, attributes and containers. A pass of that style takes these for *sources* where
they hold a parameter, and so every call of a function that it cannot see through. What the reverse sweep finds
for a source is deposited: cotangent and value are walked together down to the arrays, and what belongs to a
parameter is added to a table of the running sweep, by the identity of the array.
"""

from __future__ import annotations

import builtins
import enum
import functools
import gc
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NotDifferentiableError, Place
from ..rules.targets import name_of
from ..tangents.structural import Tangent, class_of, parts
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero
from . import asking, heap, ir
from .handlers import NO, Handler, no_cotangents
from .holders import CACHED
from .libraries import is_library, is_of_library
from .operands import describe
from .outlines import contents, entries_in, held_by
from .protocols import is_of_c
from .support import add, settle
from .walks import ITERATORS
from .types import ANY, DICT, FUNCTION, LIST, NUMERIC, Array, Known, Tuple

if TYPE_CHECKING:
    from .sites import Sites

_LEAVES = (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype, range, slice, np.ufunc)
# Functions of Python that hand out what a name stands for.
_READERS: tuple[Any, ...] = (getattr, vars, eval, __import__)
# Modules whose objects hold nothing of the author's, or say it only in words.
_TAME = ("random", "numpy.random", "logging", "re", "pathlib", "datetime", "time", "decimal", "fractions", "io", "_io")
_HARMLESS: tuple[Any, ...] = (type, object, super, setattr, delattr)  # they call nothing that gives a value


class Sweep:
    """The parameters of one gradient, by identity, and what has been found for them so far."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = {id(x): x for x in arrays}
        self.found: dict[int, Any] = {}
        self._known: dict[int, tuple[Any, bool]] = {}

    def matters(self, x: Any) -> bool:
        """Whether a value from outside may hold a parameter, or hand one out.

        Functions do not: what they capture is looked at when they are called.
        """
        kind = type(x)
        if kind is np.ndarray:
            return id(x) in self.arrays or self.shares_memory(x) or (x.dtype.hasobject and self._holds(x))
        if isinstance(x, (*_LEAVES, type, types.ModuleType, types.FunctionType, enum.Enum)):
            return False
        return self._holds(x)

    def _holds(self, x: Any) -> bool:
        known = self._known.get(id(x))
        if known is not None:
            return known[1]
        self._known[id(x)] = (x, False)  # what leads back to itself adds nothing
        found = _runs_authors_code(x) or any(map(self.matters, _parts_of(x)))
        if heap.is_own(x):  # it may still be filled
            del self._known[id(x)]
        else:
            self._known[id(x)] = (x, found)
        return found

    def shares_memory(self, x: np.ndarray) -> bool:
        """Whether an array that is no parameter has elements in common with one, made as a view of it."""
        if id(x) in self.arrays:
            return False
        return any(
            (x.base is not None or p.base is not None) and np.may_share_memory(x, p) and np.shares_memory(x, p)
            for p in self.arrays.values()
        )

    def deposit(self, x: Any, x_bar: Any) -> None:
        """Add what a cotangent of the value `x` says of parameters in it to what was found for them."""
        if x_bar is None:
            return
        x_bar = settle(unthunk(x_bar))
        if isinstance(x_bar, AbstractZero):
            if x_bar is not NO and id(x) in self.arrays:
                self._add(x, x_bar)
            return
        if isinstance(x, np.ndarray) and not x.dtype.hasobject:
            self._deposit_array(x, x_bar)
        elif isinstance(x, (types.MethodType, types.BuiltinMethodType)):
            self.deposit(x.__self__, x_bar)
        elif isinstance(x, CACHED):
            self.deposit(x.__wrapped__, x_bar)
        elif isinstance(x, np.ndarray):
            for item, item_bar in zip(x.ravel().tolist(), np.asarray(x_bar).ravel().tolist(), strict=False):
                self.deposit(item, item_bar)
        elif not isinstance(x, _LEAVES):
            self._deposit_parts(x, x_bar)

    def _deposit_array(self, x: np.ndarray, x_bar: Any) -> None:
        if id(x) in self.arrays:
            self._add(x, x_bar)
        elif self.shares_memory(x) and np.any(x_bar):
            raise NotDifferentiableError(
                f"The loss depends on an array {describe(x)} that shares its memory with a parameter, "
                "and is another array",
                fixes=("take the view inside of the loss", "make the array itself a parameter"),
                read="limitations#implicit-parameters",
            )

    def _add(self, x: np.ndarray, x_bar: Any) -> None:
        self.found[id(x)] = add(self.found[id(x)], x_bar) if id(x) in self.found else x_bar

    def _deposit_parts(self, x: Any, x_bar: Any) -> None:
        structural = isinstance(x_bar, (Tangent, dict, list, tuple))
        fits = isinstance(x, types.FunctionType) == (
            isinstance(x_bar, Tangent) and class_of(x_bar) is types.FunctionType
        )
        if not structural or not fits:
            if self.matters(x):
                raise _lost(f"A cotangent of a {type(x).__name__} that holds a parameter")
            return
        held = _by_key(x)
        for key, bar in entries_in(x_bar).items():
            if key in held:
                self.deposit(held[key], bar)
            elif not isinstance(bar, AbstractZero) and bar is not None and self.matters(x):
                raise _lost(f"The part {key!r} of a {type(x).__name__}")


def _lost(what: str) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"{what} cannot be followed to the parameters",
        fixes=("the explicit style: give the parameters as arguments",),
        read="limitations#implicit-parameters",
    )


def _runs_authors_code(x: Any) -> bool:
    """Whether operators, attributes or items of a value may be code of an author's, which may read anything."""
    kind = type(x)
    if kind is _Code:
        return not is_of_c(x.function) or isinstance(x.function, types.GeneratorType)
    return bool(kind.__flags__ & (1 << 9)) and not is_of_library(kind)  # made by a class statement


def _parts_of(x: Any) -> Iterator[Any]:
    """The values that a container or an object holds, as far as they can be seen."""
    if isinstance(x, np.ndarray):
        yield from x.ravel().tolist()
    elif isinstance(x, (types.MethodType, types.BuiltinMethodType)):
        yield x.__self__
    elif isinstance(x, dict):
        yield from (*x.keys(), *x.values())
        if getattr(x, "default_factory", None) is not None:  # it makes what is missing, of anything
            yield _Code(x.default_factory)
    elif isinstance(x, (list, tuple, set, frozenset, deque)):
        yield from x
    elif isinstance(x, functools.partial):
        yield from (x.func, *x.args, *x.keywords.values())
    elif isinstance(x, ITERATORS):
        yield from (_Code(y) if callable(y) else y for y in gc.get_referents(x))
        if isinstance(x, types.GeneratorType):
            yield _Code(x)
    elif isinstance(x, weakref.ref):
        yield x()
    elif isinstance(x, (np.flatiter, memoryview)):
        yield x.base if isinstance(x, np.flatiter) else x.obj
    elif not isinstance(x, (CACHED, types.FunctionType)):
        held = [y for y in gc.get_referents(x) if not isinstance(y, (type, types.FunctionType))]
        yield from (*parts(x).values(), *(held if is_of_library(type(x)) else ()))


class _Code:
    """What a value holds to be run later, of which nobody knows what it reads."""

    def __init__(self, function: Any) -> None:
        self.function = function


def _by_key(x: Any) -> dict[Any, Any]:
    """The parts of a value by the keys that its cotangent has."""
    if isinstance(x, types.FunctionType):
        return {k: contents(v) if isinstance(v, types.CellType) else v for k, v in held_by(x)}
    if isinstance(x, functools.partial):
        return {"func": x.func, "args": x.args, "keywords": x.keywords}
    if isinstance(x, np.vectorize):
        return {"pyfunc": x.pyfunc}
    return dict(enumerate(x)) if isinstance(x, deque) else parts(x)


class _State(threading.local):
    """The sweep of this thread; they nest, and none meets another thread's."""

    sweep: Sweep | None = None


_STATE = _State()


class Watched:
    """A block in which the passes deposit what they find in the given sweep."""

    __slots__ = ("_outer", "_sweep")

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def __enter__(self) -> Sweep:
        self._outer = _STATE.sweep
        _STATE.sweep = self._sweep
        return self._sweep

    def __exit__(self, *_: object) -> None:
        _STATE.sweep = self._outer


def matters(x: Any) -> bool:
    """Whether a value from outside may hold a parameter of the running sweep."""
    sweep = _STATE.sweep
    return sweep is not None and sweep.matters(x)


def deposit(x: Any, x_bar: Any) -> None:
    """What flows to a source goes to the parameters in it."""
    sweep = _STATE.sweep
    if sweep is not None:
        sweep.deposit(x, x_bar)


# --- what a pass depends on ---------------------------------------------------------------------------------


def pattern(function: types.FunctionType) -> tuple[Any, ...]:
    """Which of the globals that a function may read hold parameters, and which are a library's objects: what
    its pass was made for.
    """
    namespace = function.__globals__
    return tuple(
        [_standing(namespace[name]) for name in _names_in(function.__code__) if name in namespace]
    )


def _standing(x: Any) -> Any:
    if isinstance(x, (types.FunctionType, types.ModuleType, type)) or isinstance(x, _LEAVES):
        return 0
    return 2 if matters(x) else 1 if is_tame(x) else 0


def is_tame(x: Any) -> bool:
    """Whether a value is an object of a library's whose methods certainly hand out no parameter."""
    return type(x).__module__.startswith(_TAME) and is_of_library(type(x))


def _names_in(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and its comprehensions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def captured_parameters(function: types.FunctionType, free: tuple[Any, ...]) -> frozenset[str]:
    """The captured variables of a function that hold parameters."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), free, strict=True)
    return frozenset(
        name for name, cell, part in cells if part not in ("own", "cell") and matters(contents(cell))
    )


def held_defaults(function: types.FunctionType, values: tuple[Any, ...], given: set[int]) -> dict[int, str]:
    """The arguments of a function that nobody gave and whose defaults hold parameters: slot to name."""
    names = function.__code__.co_varnames
    return {slot: names[slot] for slot, x in enumerate(values) if slot not in given and matters(x)}


# --- sources ------------------------------------------------------------------------------------------------


def read_once(function: ir.Function, find_global: Callable[[str], Any]) -> None:
    """Have globals that are parameters and read in loops read before them, so that what flows to them is summed
    once. Each read in a loop still looks, and refuses where the name stands for another array by then.
    """
    first: dict[str, ir.Let] = {}
    held_as: dict[ir.Atom, str] = {}

    def block(statements: ir.Block, in_loop: bool) -> None:
        out: ir.Block = []
        for statement in statements:
            for inner in ir.blocks(statement):
                block(inner, in_loop or isinstance(statement, (ir.For, ir.While)))
            op = statement.op if isinstance(statement, ir.Let) else None
            if in_loop and isinstance(op, ir.Load) and type(find_global(op.name)) is np.ndarray:
                if matters(find_global(op.name)):
                    out += again(statement)  # type: ignore[arg-type]
                    continue
            out.append(statement)
        statements[:] = out

    def again(statement: ir.Let) -> list[ir.Statement]:
        position, op = statement.position, statement.op
        assert isinstance(op, ir.Load)
        if op.name not in first:
            first[op.name] = ir.Let(position, function.fresh(op.name), ir.Load(op.name))
        held_as[statement.target] = first[op.name].target
        held, read, same = first[op.name].target, function.fresh(op.name), function.fresh("same")
        return [
            ir.Let(position, read, op),
            ir.Let(position, same, ir.Ask(stays, (held, read), "bool")),
            ir.Let(position, statement.target, ir.Move(held)),
        ]

    block(function.body, False)
    for statement in ir.walk(function.body):
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Item):
            statement.op.value = held_as.get(statement.op.value, statement.op.value)
    function.body[:0] = first.values()


def stays(before: Any, now: Any) -> bool:
    """Whether a name still stands for the same array; refused where it does not."""
    if now is not before:
        raise NotDifferentiableError(
            "A global that stood for a parameter was bound to another value while the loss ran",
            fixes=("read it before the loop: w = W",),
            read="limitations#implicit-parameters",
        )
    return True


def mark_sources(function: ir.Function, sites: Sites, find_global: Callable[[str], Any]) -> None:
    """Mark the operations whose result may vary with a parameter though no operand does."""
    tame: set[ir.Atom] = set()
    kinds = sites.types
    for statement in ir.walk(function.body):
        if not isinstance(statement, ir.Let):
            continue
        op, kind = statement.op, kinds(statement.target)
        if isinstance(op, (ir.Call, ir.Apply)) and kinds.callee(op) is globals:
            raise NotDifferentiableError(
                "What globals() hands out cannot be followed to the parameters",
                place=sites.place(statement.position),
                fixes=("read the variables by their names",),
                read="limitations#implicit-parameters",
            )
        if isinstance(op, ir.Load):
            value = find_global(op.name)
            op.source = not isinstance(kind, Known) and (value is ir.UNBOUND or matters(value))
            if not op.source and not isinstance(kind, Known) and value is not ir.UNBOUND and is_tame(value):
                tame.add(statement.target)
        elif isinstance(op, ir.Attribute):
            op.source = _may_hold(kind) and op.value not in tame and _hands_out(kinds(op.value))
        elif isinstance(op, (ir.Call, ir.Apply)):
            op.source = _may_call(op, sites, tame)
        elif isinstance(op, ir.Ask):
            op.source = op.function is asking.from_module
        if isinstance(op, (ir.Call, ir.Attribute)) and op.operands() and set(op.operands()) <= tame:
            tame.add(statement.target)


def _may_hold(kind: Any) -> bool:
    return kind in (ANY, LIST, DICT, NUMERIC) or isinstance(kind, (Array, Tuple))


def _hands_out(owner: Any) -> bool:
    """Whether an attribute of a value that does not vary may be a parameter: of a module or a class."""
    if isinstance(owner, Known):
        return isinstance(owner.value, (types.ModuleType, type)) and not _is_library(owner.value)
    return owner in (ANY, FUNCTION)


def _is_library(owner: Any) -> bool:
    if isinstance(owner, type):
        return is_of_library(owner)
    name = str(owner.__name__).partition(".")[0]
    return name in sys.stdlib_module_names or name in ("numpy", "scipy")


def _may_call(op: ir.Call | ir.Apply, sites: Sites, tame: set[ir.Atom]) -> bool:
    """Whether a call may run an author's function, or hand out what was seen nowhere."""
    kinds = sites.types
    if isinstance(op, ir.Apply):
        target = kinds.callee(op)
    else:
        target = sites.target(op)
    if target is not ir.UNBOUND and not isinstance(target, types.FunctionType):
        if any(target is reader for reader in _READERS):
            return True
        stand_in = sites.pullbacks.cache.registry.stand_in(target)
        if stand_in is not None and stand_in.function is not None and not stand_in.reads_items:
            return any(_may_hold(kinds(a)) or kinds(a) == FUNCTION for a in op.operands())
        if sites.relies_on_house(target) is not None:
            return False
        return any(kinds(a) in (FUNCTION, ANY) for a in op.operands())
    if op.method is not None and not isinstance(kinds(op.function), Known):
        return kinds(op.function) == ANY and op.function not in tame
    if isinstance(op.function, ir.Const):
        return callable(op.function.value)
    return op.function not in tame


def unseen(target: Any) -> Handler:
    """The handler of code that nobody looks into: what it hands out may be a parameter."""

    def call(*args: Any, **kwargs: Any) -> Any:
        y = target(*args, **kwargs)
        if not matters(y):
            return y, no_cotangents

        def back(y_bar: Any) -> Any:
            deposit(y, y_bar)
            return NO

        return y, back

    return call


def depositing(handler: Handler, function: Any) -> Handler:
    """The handler of a function from outside: what flows to what it holds goes to the parameters there."""

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        y, pullback = handler(*args, **kwargs)

        def back(y_bar: Any) -> Any:
            got = pullback(y_bar)
            if got is NO:
                return NO
            deposit(function, got[0])
            return (NO, *tuple(got)[1:])

        return y, heap.like(pullback, back)

    return call


# --- what would be lost -------------------------------------------------------------------------------------


def refuse_reading(target: Any, xs: tuple[Any, ...], place: Place | None) -> None:
    """NotDifferentiableError where code out of sight is handed what leads to a parameter, as a function does
    that reads one.
    """
    __tracebackhide__ = True
    if any(target is known for known in _HARMLESS):
        return
    name = target if isinstance(target, str) else name_of(target)
    for x in xs:
        if x is target and isinstance(x, weakref.ref):
            continue  # a call of it hands out what it refers to, which is seen
        if not isinstance(x, (*_LEAVES, np.ndarray)) and reads(x):
            raise NotDifferentiableError(
                f"A {type(x).__name__} that leads to a parameter goes into {name}, where nobody sees what it does",
                place=place,
                fixes=(
                    "call the function in the loss itself",
                    "the explicit style: give the parameters as arguments",
                    "rl.ignore_derivatives(lambda: ...) around the call, if its derivative is zero",
                ),
                read="limitations#implicit-parameters",
            )


def functions_in(xs: Any) -> Iterator[Any]:
    """The functions and callable objects of an author's among these values, and in lists, tuples and dicts."""
    for x in xs:
        if isinstance(x, (list, tuple)):
            yield from functions_in(x)
        elif isinstance(x, dict):
            yield from functions_in(x.values())
        elif callable(x) and not is_of_c(x) and not isinstance(x, (type, np.ufunc)):
            yield x


def reads(x: Any) -> bool:
    """Whether a value leads to a parameter: by what it holds, or by the names that its code mentions."""
    sweep = _STATE.sweep
    return sweep is not None and _Search(sweep).leads(x)


class _Search:
    """One search through values and code, by names; a name that is computed counts as any."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._seen: dict[int, Any] = {}
        self._names: set[str] = set()
        self._modules: list[types.ModuleType] = []

    def leads(self, x: Any) -> bool:
        waiting = [x]
        while True:
            while waiting:
                y = waiting.pop()
                if isinstance(y, _LEAVES) or id(y) in self._seen:
                    continue
                self._seen[id(y)] = y
                if isinstance(y, np.ndarray) and (id(y) in self._sweep.arrays or self._sweep.shares_memory(y)):
                    return True
                waiting.extend(self._behind(y))
                if not self._names.isdisjoint(("globals", "vars", "locals", "eval", "exec", "__import__")):
                    return True
            waiting = [
                vars(module)[name]
                for module in self._modules
                for name in self._names & vars(module).keys()
                if id(vars(module)[name]) not in self._seen
            ]
            waiting = [y for y in waiting if not isinstance(y, _LEAVES)]
            if not waiting:
                return False

    def _behind(self, x: Any) -> list[Any]:
        if isinstance(x, types.ModuleType):
            if not _is_library(x):
                self._modules.append(x)
            return []
        if isinstance(x, types.FunctionType):
            held = [contents(v) if isinstance(v, types.CellType) else v for _, v in held_by(x)]
            return held if is_library(x) else [*held, *vars(x).values(), *self._globals_of(x)]
        if isinstance(x, type):
            return [] if is_of_library(x) else [y for cls in x.__mro__ for y in vars(cls).values()]
        if isinstance(x, CACHED):
            return [x.__wrapped__]
        if isinstance(x, property):
            return [x.fget]
        if isinstance(x, (staticmethod, classmethod)):
            return [x.__func__]
        if isinstance(x, types.MethodType):
            return [x.__func__, x.__self__]
        return [type(x), *_parts_of(x)]

    def _globals_of(self, function: types.FunctionType) -> list[Any]:
        names = list(_names_in(function.__code__))
        self._names.update(names)
        namespace = function.__globals__
        return [namespace.get(name, vars(builtins).get(name)) for name in names]
