"""What each name in a rule's text belongs to: a library, a helper, a constant, or the function itself."""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from ..parsing import nodes_of, parse
from .anatomy import Text, read, written
from .gathering import Gathered
from .pieces import HELPER, PRIMAL
from .words import CONSTANTS, OF_MATH, OF_SHAPES, SAFE_BUILTINS, SHAPES

_IN_MATH = {dotted: name for name, dotted in OF_MATH.items() if dotted.startswith("numpy.")}
_ALSO_IN_MATH = {"numpy.abs": "fabs", "numpy.square": None}


@dataclasses.dataclass(frozen=True)
class Names:
    """The meanings of a module's names: `modules` by their aliases, functions that are exported along,
    numbers, arrays.
    """

    modules: Mapping[str, str]
    helpers: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()

    @classmethod
    def of(cls, found: Gathered, without: Iterable[str] = ()) -> Names:
        """The names of what was gathered; helpers `without` a translation are treated as unknown names."""
        numbers = {name for name, text in found.constants if _is_plain(text)}
        arrays = {name for name, text in found.constants if text.startswith(("np.array(", "np.float64("))}
        helpers = {p.name for p in found.of_kind(HELPER, PRIMAL)} - set(without)
        return cls(imported(found.imports), frozenset(helpers), frozenset(numbers), frozenset(arrays))

    def dotted(self, node: ast.AST, own: Iterable[str] = ()) -> str | None:
        """The full name of what an expression names in a library; None if it names nothing there.

        >>> names = Names(imported(["import numpy as np", "from math import exp"]))
        >>> names.dotted(ast.parse("np.linalg.inv", mode="eval").body)
        'numpy.linalg.inv'
        >>> names.dotted(ast.parse("exp", mode="eval").body)
        'numpy.exp'
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in own or node.id not in self.modules:
            return None
        full = ".".join([self.modules[node.id], *reversed(parts)])
        library, _, last = full.rpartition(".")
        if full.startswith("rulelab."):
            return f"rulelab.{last}"
        if library in ("math", "cmath"):
            return OF_MATH.get(last, full)
        return full


def imported(lines: Iterable[str]) -> dict[str, str]:
    """The names that import lines bind, with the full name of each.

    >>> imported(["import numpy as np", "from numpy.linalg import inv as inverse"])
    {'np': 'numpy', 'inverse': 'numpy.linalg.inv'}
    """
    found: dict[str, str] = {}
    for node in parse("\n".join(lines)).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _is_plain(text: str) -> bool:
    """Whether a literal is a number, a string, None, or a tuple or list."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return isinstance(value, (int, float, complex, str, tuple, list, type(None)))


class Facts:
    """What is known about the names of one function before it runs: which are its own, and which are static.

    Static is what depends only on shapes, constants and static parameters: a framework that traces knows its
    value at trace time, and a loop or a branch may depend on it.
    """

    def __init__(self, text: Text, names: Names, static: Iterable[str], traced: Iterable[str]):
        self.text, self.names = text, names
        nodes = nodes_of(text.tree)
        self.own = written(text.tree.body) | set(static) | set(traced)
        self.own |= {s.name for s in nodes if isinstance(s, ast.FunctionDef) and s is not text.tree}
        self.own |= {
            a.arg
            for n in nodes
            if isinstance(n, ast.arguments)
            for a in [*n.posonlyargs, *n.args, *n.kwonlyargs]
        }
        self.static = self.own - set(traced) - {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        inner = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not text.tree]
        self.static -= {a.arg for n in inner for a in n.args.args}
        bindings = [binding for node in nodes for binding in _bindings(node)]
        while gone := {
            name for name, value in bindings if name in self.static and not self._all_static(value)
        }:
            self.static -= gone
        self.masks = {name for name, value in bindings if isinstance(value, ast.AST) and self.is_mask(value)}

    def _all_static(self, value: Any) -> bool:
        return value is _INDEX or (isinstance(value, ast.AST) and self.is_static(value))

    def dotted(self, node: ast.AST) -> str | None:
        """The full name of what an expression names in a library."""
        return self.names.dotted(node, self.own)

    def is_static(self, node: ast.AST) -> bool:
        """Whether an expression depends only on shapes and constants."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.static or (node.id in self.names.numbers and node.id not in self.own)
        if isinstance(node, ast.Attribute):
            return node.attr in SHAPES or self.dotted(node) in CONSTANTS
        if isinstance(node, ast.Call):
            return self._is_static_call(node)
        if isinstance(node, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return True
        plain = (
            ast.BinOp,
            ast.UnaryOp,
            ast.Compare,
            ast.BoolOp,
            ast.IfExp,
            ast.Tuple,
            ast.List,
            ast.Subscript,
            ast.Slice,
        )
        if isinstance(node, plain):
            parts = [p for p in ast.iter_child_nodes(node) if isinstance(p, (ast.expr, ast.Slice))]
            return all(map(self.is_static, parts))
        return isinstance(node, (ast.JoinedStr, ast.FormattedValue))

    def _is_static_call(self, node: ast.Call) -> bool:
        dotted = self.dotted(node.func)
        if dotted in OF_SHAPES:
            return True
        builtin = self.builtin(node.func)
        if builtin in ("len", "isinstance"):
            return True
        known = builtin in SAFE_BUILTINS | {"int", "float", "max", "min", "bool", "round"} or math_name(
            dotted
        )
        return bool(known) and all(map(self.is_static, node.args)) and not node.keywords

    def builtin(self, node: ast.AST) -> str | None:
        """The name of the builtin that an expression refers to."""
        if not isinstance(node, ast.Name) or node.id in self.own or node.id in self.names.modules:
            return None
        if node.id in self.names.helpers or node.id in self.names.numbers | self.names.arrays:
            return None
        return node.id if hasattr(builtins, node.id) else None

    def is_mask(self, node: ast.AST) -> bool:
        """Whether an expression is a comparison of values that vary, so that it selects elements when used as
        an index.
        """
        if isinstance(node, ast.Compare):
            return not self.is_static(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
            return self.is_mask(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return self.is_mask(node.left) or self.is_mask(node.right)
        if isinstance(node, ast.Call):
            name = (self.dotted(node.func) or "").rpartition(".")[2]
            return name.startswith(("is", "logical_"))
        return isinstance(node, ast.Name) and node.id in getattr(self, "masks", ())

    def is_whole(self, node: ast.AST) -> bool:
        """Whether an expression is certainly an integer: a length, an index, or made from these."""
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Call):
            return self.builtin(node.func) in ("len", "int") or self.dotted(node.func) in (
                "numpy.ndim",
                "numpy.size",
            )
        if isinstance(node, ast.Attribute):
            return node.attr in ("ndim", "size")
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if isinstance(node, ast.UnaryOp):
            return self.is_whole(node.operand)
        if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Div, ast.Pow)):
            return self.is_whole(node.left) and self.is_whole(node.right)
        if isinstance(node, ast.Name) and node.id in self.static:
            values = [v for n in nodes_of(self.text.tree) for name, v in _bindings(n) if name == node.id]
            return bool(values) and all(v is _INDEX or (v is not node and self.is_whole(v)) for v in values)
        return False


_INDEX = object()  # the counter of a loop over a range, or of `enumerate`
_VARIES = ast.Name("<varies>", ast.Load())


def _bindings(node: ast.AST) -> list[tuple[str, Any]]:
    """The names that a statement binds, each with the expression that determines its value."""
    if isinstance(node, ast.Assign):
        return [pair for target in node.targets for pair in _bound(target, node.value)]
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        return _bound(node.target, node.value)
    if isinstance(node, ast.AugAssign):
        return _bound(node.target, ast.BinOp(_as_read(node.target), node.op, node.value))
    if isinstance(node, (ast.For, ast.comprehension)):
        return _looped(node.target, node.iter)
    return []


def _as_read(target: ast.expr) -> ast.expr:
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else _VARIES


def _bound(target: ast.AST, value: Any) -> list[tuple[str, Any]]:
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
        return [pair for t, v in zip(target.elts, parts) for pair in _bound(t, v)]
    if isinstance(target, ast.Subscript):  # an element: the container then holds something that varies
        base = target.value
        return [(base.id, _VARIES)] if isinstance(base, ast.Name) else []
    return _bound(target.value, value) if isinstance(target, ast.Starred) else []


def _looped(target: ast.AST, over: ast.expr) -> list[tuple[str, Any]]:
    """What a loop binds: an index, or elements."""
    name = over.func.id if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) else None
    if name == "range" and isinstance(target, ast.Name):
        return [(target.id, over)]
    if name == "enumerate" and isinstance(target, ast.Tuple) and isinstance(over, ast.Call):
        if len(target.elts) == 2 and over.args:
            return [*_bound(target.elts[0], _INDEX), *_bound(target.elts[1], over.args[0])]
    return [(name, over) for name, _ in _bound(target, over)]


def math_name(dotted: str | None) -> str | None:
    """The function of `math` that does for a number what a NumPy function does; None if there is none."""
    return _IN_MATH.get(dotted or "") or _ALSO_IN_MATH.get(dotted or "")


def free_names(statements: Iterable[ast.AST], bound: Iterable[str] = ()) -> set[str]:
    """The names that statements read and that are not in `bound`."""
    trees = list(statements)
    return read(trees) - set(bound)
