"""Find the cotangents that a rule certainly returns as new float64 arrays of the shape of its arguments,
because its source computes them by arithmetic only.

The array arguments are float64, of one shape with at least one axis; the others are floats. Sums,
differences, products and quotients of such arrays with each other and with Python numbers are again such
arrays: new, writable and without a base, so they need no check at each call. A variable counts only if it is
assigned exactly once, on the path that is always taken, and is combined only with NumPy arrays and numbers,
in arithmetic: then nothing else refers to it, and nothing changes its shape.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from ..parsing import nodes_of

_ARRAY = "an array of float64, of the shape of the arguments"
_FLOAT = "a float"
_INT = "a whole number of Python's"
_OTHER = "an array of NumPy's or a number"  # no class with operators of its own
_LARGEST = 2**53  # the largest int that converts to float64 exactly
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_SIGNS = (ast.USub, ast.UAdd)
_COUNTS = ("size", "ndim")


class FreshCotangents:
    """What the source of a rule shows about its `cotangents`, from the statements of the rule and of its
    pullback, in order, and the `value`. `arrays` and `floats` are the names of the arguments and of the seed,
    by type.

    `of` has a flag for each cotangent: whether it is certainly a new array. `asks_lengths` says whether this
    relies on `len` being Python's built-in.
    """

    def __init__(
        self,
        statements: Sequence[ast.stmt],
        value: ast.expr,
        cotangents: Sequence[ast.expr],
        arrays: Collection[str],
        floats: Collection[str],
    ) -> None:
        self._given = dict.fromkeys(arrays, _ARRAY) | dict.fromkeys(floats, _FLOAT)
        self._statements = statements
        self._whole = [node for tree in (*statements, value, *cotangents) for node in nodes_of(tree)]
        names = [node for node in self._whole if type(node) is ast.Name]
        self._stored = Counter(node.id for node in names if type(node.ctx) is not ast.Load)
        self._read = Counter(node.id for node in names if type(node.ctx) is ast.Load)
        self._returned = Counter(node.id for node in cotangents if type(node) is ast.Name)
        self._len_is_theirs = "len" in self._stored or "len" in self._given
        self.asks_lengths = False
        self._of: dict[str, str] = {}
        met: set[str] = set()  # variables that are used otherwise
        while True:
            self._note_kinds(met)
            more = self._meeting_others()
            if not more:
                break
            met |= more
        self.of = [self._is_fresh(node) for node in cotangents]

    def _is_fresh(self, node: ast.expr) -> bool:
        if type(node) is ast.Name and (node.id in self._given or self._returned[node.id] > 1):
            return False
        return self._kind(node) is _ARRAY

    def _note_kinds(self, met: set[str]) -> None:
        """Record the kinds of variables, except those in `met`, which are used otherwise."""
        self._of = {name: kind for name, kind in self._given.items() if not self._stored[name]}
        self._of = {name: kind for name, kind in self._of.items() if name not in met}
        for one in self._statements:
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=made):
                    kind = None if type(made) is ast.Name else self._kind(made)
                    if kind is not None and self._stored[name] == 1 and name not in met:
                        self._of[name] = kind

    def _meeting_others(self) -> set[str]:
        """The names of arrays with a use other than arithmetic on operands of known kinds."""
        used = Counter(name for node in self._whole for name in self._in_arithmetic(node)) + self._returned
        arrays = [name for name, kind in self._of.items() if kind is _ARRAY]
        return {name for name in arrays if used[name] != self._read[name]}

    def _in_arithmetic(self, node: Any) -> list[str]:
        match node:
            case ast.BinOp(left=left, right=right) if self._kind(left) and self._kind(right):
                return [one.id for one in (left, right) if type(one) is ast.Name]
            case ast.UnaryOp(op=op, operand=ast.Name(id=name)) if isinstance(op, _SIGNS):
                return [name]
        counted = self._counted(node)
        return [] if counted is None else [counted]

    def _counted(self, node: Any) -> str | None:
        """The variable in `len(x)`, `x.size` or `x.ndim`; None for any other node."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                return None if self._len_is_theirs else name
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _COUNTS:
                return name if type(node.ctx) is ast.Load else None
        return None

    def _kind(self, node: ast.expr) -> str | None:
        match node:
            case ast.Name(id=name):
                return self._of.get(name)
            case ast.Constant(value=value):
                if type(value) is float:
                    return _FLOAT
                return _INT if type(value) is int and abs(value) < _LARGEST else None
            case ast.UnaryOp(op=op, operand=operand) if isinstance(op, _SIGNS):
                return self._kind(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return _of_operation(op, self._kind(left), self._kind(right))
            case ast.Call() | ast.Attribute():
                counted = self._counted(node)
                if counted is not None and self._of.get(counted) is _ARRAY:
                    self.asks_lengths |= isinstance(node, ast.Call)
                    return _INT
        return None


def _of_operation(op: ast.operator, left: str | None, right: str | None) -> str | None:
    kinds = {left, right}
    if None in kinds:
        return None
    if _OTHER in kinds or not isinstance(op, _OPERATORS):
        return _OTHER
    if _ARRAY in kinds:
        return _ARRAY
    if isinstance(op, ast.Pow):  # a power of floats may be complex
        return _OTHER
    if _FLOAT in kinds or isinstance(op, ast.Div):
        return _FLOAT
    return _OTHER  # an int may be too large for a float
