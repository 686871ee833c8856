"""Which in-place changes of a local list or array cannot be seen elsewhere, so that they may be lowered as
rebinding."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...python_facts import READS, names_with

# Reading these attributes of an array or list gives nothing that shares its memory.
_READING = {name for name in names_with(READS, np.ndarray, list) if not name.startswith("__")}
_SAFE_ATTRIBUTES = frozenset(name for name in _READING if not callable(getattr(np.ndarray, name, len)))
SAFE_METHODS = frozenset({*_READING, "copy", "dot", "append"} - _SAFE_ATTRIBUTES)


@dataclass(eq=False)
class _Event:
    """Something that happens to a variable: when, in source order, and in which nested blocks."""

    order: int
    path: tuple[tuple[str, ast.AST], ...]

    def loops(self) -> list[ast.AST]:
        return [node for kind, node in self.path if kind == "loop"]

    def precedes(self, other: _Event) -> bool:
        """Whether it always happens before `other` does."""
        return self.order < other.order and self.path == other.path[: len(self.path)]


class Ownership:
    """Where each local variable of a function is made, changed, read and passed on.

    `reads_only(call)` says that a call neither keeps its arguments nor returns anything that shares memory
    with them; `makes_fresh(expression)` says that the value is a new object.
    """

    def __init__(
        self,
        node: ast.FunctionDef | ast.Lambda,
        reads_only: Callable[[ast.Call], bool],
        makes_fresh: Callable[[ast.expr], bool],
    ) -> None:
        self._reads_only = reads_only
        self._makes_fresh = makes_fresh
        self._order = 0
        self._path: tuple[tuple[str, ast.AST], ...] = ()
        self._lists: set[str] = set()
        self._arrays: set[str] = set()
        self._made: dict[str, list[_Event]] = defaultdict(list)
        self._copied: set[str] = set()
        # The caller has the objects of parameters until these are rebound.
        self._given = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        self._other: set[str] = set()
        self._handed_on: dict[str, list[_Event]] = defaultdict(list)
        self._reads: dict[str, list[_Event]] = defaultdict(list)
        self._captured: set[str] = set()
        self._changes: dict[ast.AST, tuple[str, _Event]] = {}
        for statement in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            self._visit(statement)

    def owns(self, change: ast.AST) -> bool:
        """Whether a change (an append call or `op=`) can be seen only through the variable itself."""
        return self._unseen(change, self._handed_on) and self._changes[change][0] not in self._copied

    def owns_copy(self, change: ast.AST) -> bool:
        """Like `owns`, provided that each `x.copy()` assigned to the variable made a new array."""
        return self._unseen(change, self._handed_on)

    def owns_unread(self, write: ast.AST) -> bool:
        """Whether a write is owned and nothing read the object before, so its old items need not be kept."""
        return self.owns(write) and self._unseen(write, self._reads)

    def is_changed_copy(self, target: ast.expr) -> bool:
        """Whether `target = value.copy()` assigns to a variable that is changed in place somewhere."""
        return isinstance(target, ast.Name) and any(
            isinstance(node, ast.AugAssign) and self.owns_copy(node) for node in self._of(target.id)
        )

    def _of(self, name: str) -> list[ast.AST]:
        return [node for node, (changed, _) in self._changes.items() if changed == name]

    def _unseen(self, change: ast.AST, events: dict[str, list[_Event]]) -> bool:
        """Whether a change is of an object made here, and none of these events may have shown it before."""
        if change not in self._changes:
            return False
        name, event = self._changes[change]
        if name in self._other or name in self._captured or not self._made[name]:
            return False
        if name in self._given and not any(made.precedes(event) for made in self._made[name]):
            return False
        if any(_runs_over(loop, name) for loop in event.loops()):
            return False
        return not any(self._may_precede(name, other, event) for other in events[name])

    def _may_precede(self, name: str, handing: _Event, change: _Event) -> bool:
        """Whether the object passed on may be the one changed, because none was made in between."""
        made = [event for event in self._made[name] if event.precedes(change)]
        if handing.order < change.order and not any(event.order > handing.order for event in made):
            return True
        common = [loop for loop in handing.loops() if loop in change.loops()]
        return any(not any(loop in event.loops() for event in made) for loop in common)

    def _now(self) -> _Event:
        self._order += 1
        return _Event(self._order, self._path)

    def _within(self, kind: str, node: ast.AST, body: Any) -> None:
        """Visit a block of statements or an expression that may run any number of times."""
        outer, self._path = self._path, (*self._path, (kind, node))
        for inner in body if isinstance(body, list) else [body]:
            self._visit(inner)
        self._path = outer

    def _visit(self, node: ast.AST) -> None:
        method = getattr(self, f"_visit_{type(node).__name__}", None)
        if method is not None:
            method(node)
        elif type(node) in _OPERANDS:
            for operand in _OPERANDS[type(node)](node):
                self._harmless(operand)
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child)

    def _harmless(self, node: ast.expr) -> None:
        """Visit an operand; a plain name is read without its object being passed on."""
        if isinstance(node, ast.Name):
            self._reads[node.id].append(self._now())
        else:
            self._visit(node)

    def _visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._handed_on[node.id].append(self._now())

    def _visit_Assign(self, node: ast.Assign) -> None:
        self._visit(node.value)
        for target in node.targets:
            self._bind(target, node.value if len(node.targets) == 1 else None)

    def _visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._visit(node.value)
            self._bind(node.target, node.value)

    def _visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._visit(node.value)
        self._other.add(node.target.id)  # the value is also passed on immediately

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            if value is not None and self._makes_fresh(value):
                self._made[target.id].append(self._now())
                makes_list = isinstance(value, (ast.List, ast.ListComp)) or _calls(value, "list")
                (self._lists if makes_list else self._arrays).add(target.id)
            elif value is not None and is_copy(value):
                self._made[target.id].append(self._now())
                self._arrays.add(target.id)
                self._copied.add(target.id)
            else:
                self._other.add(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = (
                value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            )
            for number, inner in enumerate(target.elts):
                self._bind(inner, values[number] if values else None)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._visit(target.slice)
            self._changes[target] = (target.value.id, self._now())
        else:
            self._visit(target)

    def _visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._harmless(node.value)
        if isinstance(node.target, ast.Name):
            self._changes[node] = (node.target.id, self._now())
        else:
            self._bind(node.target, None)

    def _visit_For(self, node: ast.For) -> None:
        self._iterate(node.iter)
        self._bind(node.target, None)
        self._within("loop", node, node.body)

    def _iterate(self, iterable: ast.expr) -> None:
        """The items of a list are not part of it, but the rows of an array are views."""
        if isinstance(iterable, ast.Name):
            self._read_item(iterable)
        else:
            self._visit(iterable)

    def _visit_While(self, node: ast.While) -> None:
        self._within("loop", node, [node.test, *node.body])

    def _visit_Try(self, node: ast.Try) -> None:
        self._within("try", node, node.body)
        for handler in node.handlers:
            self._within("handler", handler, handler.body)

    def _visit_If(self, node: ast.If | ast.IfExp) -> None:
        self._harmless(node.test)
        self._within("then", node, node.body)
        self._within("else", node, node.orelse)

    _visit_IfExp = _visit_If

    def _visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        for generator in node.generators:
            self._iterate(generator.iter)
        self._within("loop", node, [*(test for g in node.generators for test in g.ifs), node.elt])

    _visit_GeneratorExp = _visit_ListComp

    def _visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _SAFE_ATTRIBUTES:
            self._harmless(node.value)
        else:
            self._visit(node.value)

    def _visit_Call(self, node: ast.Call) -> None:
        keeps_nothing = self._reads_only(node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            keeps_nothing = keeps_nothing or node.func.attr in SAFE_METHODS
            if node.func.attr not in SAFE_METHODS:
                self._visit(node.func)
            elif node.func.attr != "append":
                self._harmless(node.func.value)
        else:
            self._visit(node.func)
        appends = is_append(node)
        for argument in (*node.args, *(k.value for k in node.keywords)):
            if keeps_nothing and not appends:
                self._harmless(argument)
            else:
                self._visit(argument)
        if appends:
            self._changes[node] = (node.func.value.id, self._now())  # type: ignore[attr-defined]

    def _visit_Subscript(self, node: ast.Subscript) -> None:
        self._visit(node.slice)
        if isinstance(node.slice, (ast.Slice, ast.Tuple)) or not isinstance(node.value, ast.Name):
            self._visit(node.value)
        else:
            self._read_item(node.value)

    def _read_item(self, name: ast.Name) -> None:
        """An item of a list is not part of it; a row of an array is a view, in which `op=` would show."""
        if name.id not in self._lists or name.id in self._arrays:
            self._visit(name)
        else:
            self._harmless(name)

    def _visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        self._captured |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if isinstance(node, ast.FunctionDef):
            self._other.add(node.name)

    _visit_Lambda = _visit_FunctionDef


# Nodes that compute with their operands and keep none of them.
_OPERANDS: dict[type, Callable[[Any], Iterable[ast.expr]]] = {
    ast.BinOp: lambda node: (node.left, node.right),
    ast.Compare: lambda node: (node.left, *node.comparators),
    ast.Return: lambda node: (node.value,) if node.value is not None else (),
    ast.UnaryOp: lambda node: (node.operand,),
}


def _runs_over(loop: ast.AST, name: str) -> bool:
    """Whether a loop is over the variable itself, perhaps by way of a generator expression, so that changing
    it affects later iterations.
    """
    if not isinstance(loop, ast.For):
        return False
    inside = [g.iter for n in ast.walk(loop.iter) if isinstance(n, ast.GeneratorExp) for g in n.generators]
    return any(isinstance(each, ast.Name) and each.id == name for each in (loop.iter, *inside))


def is_append(node: ast.AST) -> bool:
    """Whether the node is `name.append(value)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
        and len(node.args) == 1
        and not node.keywords
    )


def is_copy(node: ast.expr) -> bool:
    """Whether the node is `value.copy()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "copy"
        and not (node.args or node.keywords)
    )


def _calls(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == name
