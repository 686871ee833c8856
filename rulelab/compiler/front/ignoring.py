"""`ignore_derivatives`: hides a value, a function or the block of a `with` from the AD."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from ...own_code import only_look, runs_out_of_sight
from ...parsing import compiled_within
from ...python_facts import jumps
from ..base import ir
from ..base.deriving import isderiving
from ..base.source import Source
from ..memory.fingerprints import Seen, arrays_in_reach
from ..memory.lending import CHECKS
from ..memory.snapshots import watched
from .bindings import assigned
from .fence import refusal

runs_out_of_sight(__name__)

_NOTHING = object()
_FIXES = ("keep records in a list outside: history.append(...)", "return the value, and use it afterwards")


class Ignored:
    """The context manager that `ignore_derivatives()` returns: the block of its `with` is constant."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def ignore_derivatives(value_or_function: Any = _NOTHING) -> Any:
    """The value itself, which the AD treats as a constant. A function is called without arguments, and its
    result is the value. Without an argument: a context manager for a `with` whose block is constant.

    The computation runs as always, but no cotangent flows back through it. If the result does depend on the
    value, the gradient is wrong: it leaves that dependence out, as requested.

    What is inside may do what cannot be differentiated. It may change what is outside the differentiated
    function, to keep a record; it raises MutationError if it changes a list, dict, object or array that the
    function itself may have used. The block of a `with` is a function of its own: no `return`, `break` or
    `continue` may leave it, and the names that it binds are constants after it.

    >>> ignore_derivatives(2.0), ignore_derivatives(lambda: 3.0)
    (2.0, 3.0)
    >>> with ignore_derivatives():
    ...     print("looked at")
    looked at
    """
    if value_or_function is _NOTHING:
        return Ignored()
    if not callable(value_or_function):
        return value_or_function
    return _unseen(value_or_function) if isderiving() else value_or_function()


def _unseen(function: Callable[[], Any]) -> Any:
    """The function's result; raises MutationError if the function changed an array that a pullback may have
    kept, or a part of an argument.
    """
    before = Seen(arrays_in_reach(function))
    y = function()
    before.check("inside ignore_derivatives", _FIXES)
    for check in CHECKS.running:
        check()
    return y


# --- the block of a `with` ----------------------------------------------------------------------------------


class Block(ast.expr):
    """The result of the block of a `with ignore_derivatives():`, the values of `bound` in a dict by name.

    `args` are the names that the block uses.
    """

    _fields = ("args",)

    def __init__(self, node: ast.With, bound: list[str]) -> None:
        super().__init__()
        self.node, self.bound = node, bound
        read = {n.id: n for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        self.args = [ast.copy_location(ast.Name(name, ast.Load()), n) for name, n in sorted(read.items())]


def bound_in(source: Source, node: ast.With) -> list[str]:
    """The names that a block binds for the code after it; refuses what the block cannot do as a function."""
    item = node.items[0]
    if len(node.items) > 1 or item.optional_vars is not None:
        raise refusal(
            source,
            node,
            "a with of ignore_derivatives() and more",
            ("give it a with of its own, without as",),
        )
    for statement in node.body:
        found = jumps(statement)
        if found:
            raise refusal(
                source,
                statement,
                f"a {min(found)} that leaves a with ignore_derivatives()",
                ("set a variable in the block, and jump after it",),
            )
        for inner in ast.walk(statement):
            if isinstance(inner, (ast.Nonlocal, ast.Global)) or (
                isinstance(inner, ast.Name)
                and (isinstance(inner.ctx, ast.Del) or inner.id in ("super", "__class__"))
            ):
                word = inner.id if isinstance(inner, ast.Name) else type(inner).__name__.lower()
                raise refusal(source, inner, f"{word} in a with ignore_derivatives()")
    inside = {id(n) for n in ast.walk(node)}
    read = {n.id for n in ast.walk(source.node) if isinstance(n, ast.Name) and id(n) not in inside}
    names = assigned(node.body, appends=False)
    return sorted(name for name in names if name in read or binds_surely(node, name))


def binds_surely(node: ast.With, name: str) -> bool:
    """Whether the block assigns a name unconditionally."""
    plain = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.FunctionDef)
    return any(
        name in assigned([statement], appends=False)
        for statement in node.body
        if isinstance(statement, plain) and not (isinstance(statement, ast.AnnAssign) and not statement.value)
    )


def code_of_block(node: ast.With, filename: str, enclosing: set[str], given: list[str]) -> types.CodeType:
    """The code of a block as a function with parameters `given`, which captures the names `enclosing`."""
    arguments = ast.arguments([], [ast.arg(name) for name in given], None, [], [], None, [])
    names = ast.Call(ast.Name("locals", ast.Load()), [], [])
    block = ast.FunctionDef("ignored", arguments, [*node.body, ast.Return(names)], [])
    for made in (block, *arguments.args, block.body[-1]):
        ast.copy_location(made, node)
    return compiled_within(block, filename, sorted(enclosing))


def run_block(block: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a block; returns the variables that it leaves, by name."""
    return watched(lambda: _unseen(block), None)()


def left_by(found: dict[str, Any], name: str) -> Any:
    """The value that a block left under a name; UNBOUND if it left none."""
    return found.get(name, ir.UNBOUND)


only_look(ignore_derivatives, run_block)
