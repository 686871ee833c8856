"""Sources: where parameters enter a function that does not have them as arguments."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...errors import NotDifferentiableError, Place
from ...rules.kinds import ANY, DICT, FUNCTION, LIST, NUMERIC, Array, Known, Tuple
from ...tangents.holding import captured
from ..analysis.types import Types
from ..base import ir
from ..base.libraries import is_of_library
from ..base.question import Question
from ..base.source import names_in
from ..front import asking
from .watching import LEAVES, matters

# Python functions that return what a name refers to.
_READERS: tuple[Any, ...] = (getattr, vars, eval, __import__)
# Modules whose objects hold nothing of the author's, or only as text.
_HIDE_NO_PARAMETER = (
    "random",
    "numpy.random",
    "logging",
    "re",
    "pathlib",
    "datetime",
    "time",
    "decimal",
    "fractions",
    "io",
    "_io",
)


def pattern(function: types.FunctionType) -> tuple[Any, ...]:
    """Which of the globals that a function may read hold parameters, and which are library objects: its pass
    is valid for one such pattern.
    """
    namespace = function.__globals__
    return tuple([_standing(namespace[name]) for name in names_in(function.__code__) if name in namespace])


def _standing(x: Any) -> Any:
    """2 for a value that may hold a parameter, 1 for a library object that hides none, 0 for any other."""
    if isinstance(x, (types.FunctionType, types.ModuleType, type)) or isinstance(x, LEAVES):
        return 0
    return 2 if matters(x) else 1 if hides_no_parameter(x) else 0


def hides_no_parameter(x: Any) -> bool:
    """Whether a value is a library object whose methods certainly return no parameter."""
    return type(x).__module__.startswith(_HIDE_NO_PARAMETER) and is_of_library(type(x))


def captured_parameters(function: types.FunctionType, free: tuple[Any, ...]) -> frozenset[str]:
    """The captured variables of a function that hold parameters."""
    parts, held = dict(zip(function.__code__.co_freevars, free, strict=True)), captured(function)
    return frozenset(name for name, x in held.items() if parts[name] not in ("own", "cell") and matters(x))


def held_defaults(function: types.FunctionType, values: tuple[Any, ...], given: set[int]) -> dict[int, str]:
    """The parameters of a function that were not passed and whose defaults hold parameters of the loss: slot
    to name.
    """
    names = function.__code__.co_varnames
    return {slot: names[slot] for slot, x in enumerate(values) if slot not in given and matters(x)}


def read_once(function: ir.Function, find_global: Callable[[str], Any]) -> None:
    """Move reads of parameters from global variables out of loops, so that their cotangents are summed once.
    Each read in a loop still checks the name, and refuses if it refers to a different array by then.
    """
    first: dict[str, ir.Let] = {}
    held_as: dict[ir.Atom, ir.Atom] = {}

    def block(statements: ir.Block, in_loop: bool) -> None:
        out: ir.Block = []
        for statement in statements:
            for inner in ir.blocks(statement):
                block(inner, in_loop or isinstance(statement, (ir.For, ir.While)))
            op = statement.op if isinstance(statement, ir.Let) else None
            found = find_global(op.name) if in_loop and isinstance(op, ir.Load) else None
            again = type(found) is np.ndarray and matters(found)
            out += read_again(statement, op) if again else [statement]  # type: ignore[arg-type]
        statements[:] = out

    def read_again(statement: ir.Let, op: ir.Load) -> list[ir.Statement]:
        position, name = statement.position, op.name
        if name not in first:
            first[name] = ir.Let(position, function.fresh(name), ir.Load(name))
        held_as[statement.target] = held = first[name].target
        read, same = function.fresh(name), function.fresh("same")
        return [
            ir.Let(position, read, op),
            ir.Let(position, same, ir.Ask(stays, (held, read))),
            ir.Let(position, statement.target, ir.Move(held)),
        ]

    block(function.body, False)
    for statement in function.lets():
        if isinstance(statement.op, ir.Item):
            statement.op.value = held_as.get(statement.op.value, statement.op.value)
    function.body[:0] = first.values()


def stays(before: Any, now: Any) -> bool:
    """Whether a name still refers to the same array; refused if it does not."""
    if now is not before:
        raise NotDifferentiableError(
            "A global variable that held a parameter was rebound while the loss ran",
            fixes=("read it before the loop: w = W",),
            read="limitations#implicit-parameters",
        )
    return True


class Sites(Protocol):
    """What is asked of the call sites of a function."""

    @property
    def types(self) -> Types: ...
    @property
    def pullbacks(self) -> Question: ...
    def place(self, position: ir.Position) -> Place: ...
    def target(self, op: ir.Op) -> Any: ...
    def relies_on_built_in(self, target: Any) -> Any: ...


def mark_sources(function: ir.Function, sites: Sites, find_global: Callable[[str], Any]) -> None:
    """Mark the operations whose result may vary with a parameter though no operand does."""
    tame: set[ir.Atom] = set()
    kinds = sites.types
    for statement in function.lets():
        op, kind = statement.op, kinds(statement.target)
        if (isinstance(op, ir.Ask) and op.function is globals) or (
            isinstance(op, (ir.Call, ir.Apply)) and kinds.callee(op) is globals
        ):
            raise NotDifferentiableError(
                "What globals() returns cannot be traced to the parameters",
                place=sites.place(statement.position),
                fixes=("read the variables by their names",),
                read="limitations#implicit-parameters",
            )
        if isinstance(op, ir.Load):
            value = find_global(op.name)
            varies = not isinstance(kind, Known)
            op.source = varies and (value is ir.UNBOUND or matters(value))
            if varies and not op.source and value is not ir.UNBOUND and hides_no_parameter(value):
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
    """Whether an attribute of a constant may be a parameter: of a module or class, or of an unknown value."""
    if isinstance(owner, Known):
        return isinstance(owner.value, (types.ModuleType, type)) and not is_library_module(owner.value)
    return owner in (ANY, FUNCTION)


def is_library_module(owner: Any) -> bool:
    if isinstance(owner, type):
        return is_of_library(owner)
    name = str(owner.__name__).partition(".")[0]
    return name in sys.stdlib_module_names or name in ("numpy", "scipy")


def _may_call(op: ir.Call | ir.Apply, sites: Sites, tame: set[ir.Atom]) -> bool:
    """Whether a call may run an author's function, or return a value that was not seen before."""
    kinds = sites.types
    target = kinds.callee(op) if isinstance(op, ir.Apply) else sites.target(op)
    if target is not ir.UNBOUND and not isinstance(target, types.FunctionType):
        if any(target is reader for reader in _READERS):
            return True
        stand_in = sites.pullbacks.cache.registry.stand_in(target)
        if stand_in is not None and stand_in.function is not None and not stand_in.reads_items:
            return any(_may_hold(kinds(a)) or kinds(a) == FUNCTION for a in op.operands())
        if sites.relies_on_built_in(target) is not None:
            return False
        return any(kinds(a) in (FUNCTION, ANY) for a in op.operands())
    if op.method is not None and not isinstance(kinds(op.function), Known):
        return kinds(op.function) == ANY and op.function not in tame
    if isinstance(op.function, ir.Const):
        return callable(op.function.value)
    return op.function not in tame
