"""A function with some of its expressions watched: their values while it runs, and the effect of changing
them.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...parsing import cloned
from ..reading.editing import code_of, function_of

WATCH = "_rulelab_watch"


@dataclass
class Watch:
    """Wraps expressions of a function, by number: records their values, or changes them.

    `values` has the values of each expression in all its evaluations. `changes` are added to an expression: a
    vector of real numbers for all its evaluations. `instead` replaces its value.
    """

    values: dict[int, list[np.ndarray]] = field(default_factory=dict)
    changes: dict[int, np.ndarray] = field(default_factory=dict)
    instead: dict[int, np.ndarray] = field(default_factory=dict)
    keeps: bool = True
    _used: dict[int, int] = field(default_factory=dict)

    def start(self, keeps: bool = False) -> None:
        """Prepare a run in which values are recorded or not."""
        self.keeps = keeps
        self._used = {}
        if keeps:
            self.values = {}

    def __call__(self, number: int, value: Any) -> Any:
        if not is_moving(value):
            return value
        if self.keeps:
            self.values.setdefault(number, []).append(np.array(value))
        if number in self.instead:
            return _as_was(self.instead[number].reshape(np.shape(value)), value)
        if number not in self.changes:
            return value
        change = self.changes[number]
        start = self._used.get(number, 0)
        stop = self._used[number] = start + size_of(value)
        return value + _as_was(_of_real(change[start:stop], value), value)


def watched(
    tree: Any, nodes: Sequence[ast.expr], like: types.FunctionType, watch: Watch, more: dict[str, Any]
) -> types.FunctionType | None:
    """The function of a tree with these expressions watched, each by its index; None if it cannot be
    compiled.
    """
    memo: dict[int, Any] = {}
    new = cloned(tree, memo)
    numbers = {id(memo[id(node)]): number for number, node in enumerate(nodes) if id(node) in memo}

    class Around(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> Any:
            super().generic_visit(node)
            if id(node) not in numbers:
                return node
            given: list[Any] = [ast.Constant(numbers[id(node)]), node]
            asked = ast.Call(ast.Name(WATCH, ast.Load()), given, [])
            return ast.copy_location(asked, node)

    new = ast.fix_missing_locations(Around().visit(new))
    try:
        return function_of(code_of(new, like.__code__), like, {**more, WATCH: watch})
    except (SyntaxError, ValueError, TypeError):
        return None


def is_moving(value: Any) -> bool:
    """Whether a value consists of floating-point numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex))


def size_of(value: Any) -> int:
    """The number of real numbers in a value."""
    return int(np.size(value)) * (2 if np.iscomplexobj(value) else 1)


def real_vector(values: Iterable[np.ndarray]) -> np.ndarray:
    """Values as one vector of real numbers; of complex ones, both parts alternately."""
    return np.concatenate([np.zeros(0), *(_to_real(value) for value in values)])


def _to_real(value: np.ndarray) -> np.ndarray:
    flat = np.ravel(value)
    if flat.dtype.kind != "c":
        return flat.astype(float)
    return np.stack([flat.real, flat.imag], axis=-1).ravel()


def _of_real(vector: np.ndarray, like: Any) -> np.ndarray:
    numbers = vector[0::2] + 1j * vector[1::2] if np.iscomplexobj(like) else vector
    return numbers.reshape(np.shape(like))


def _as_was(array: np.ndarray, like: Any) -> Any:
    """An array, converted to a number if it takes the place of one."""
    return array if np.ndim(like) else array[()]
