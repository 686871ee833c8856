"""Parameters that are labels by the text of a function: whole numbers that it compares with each number that
it counts to, or with one that stands there, while it picks by what it finds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from .kinds import Kind
from .texts import calls_in, text_of
from .usage import indexing

_PICKS, _TABLE = "m", "n"
"""Letters of the lengths of labels, and of what is picked from."""


def grouped(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of labels that a function compares with each number below a count of groups, of what it picks
    by the comparison, and of that count.

    >>> def group_sums(x, label, groups):
    ...     return np.array([np.sum(x[label == g]) for g in range(groups)])
    >>> for name, kinds in grouped(group_sums).items():
    ...     print(name, *kinds, sep=", ")
    label, a vector of indices (m, groups)
    groups, an integer (groups)
    x, a vector (m), a matrix (m, p)
    """
    node, names = text_of(f)
    if node is None:
        return {}
    found: dict[str, tuple[Kind, ...]] = {}
    counts = dict(_counted_by(node))
    picking = indexing(f)
    labels = {}
    for label, counter in _compared(node):
        count = counts.get(counter)
        if label in names and count in names:
            labels[label] = count
            found[label] = (Kind("indices", dims=(_PICKS, count)),)
            found[count] = (Kind("integer", dims=(count,)),)
    if not labels:
        return {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            name = inner.value.id
            if name in names and any(label in labels for label, _ in _compared(inner.slice)):
                found[name] = _INDICES if name in picking else _beside(_PICKS)
    if any(kinds is _INDICES for kinds in found.values()):
        read = (n.value for n in ast.walk(node) if isinstance(n, ast.Subscript))
        tables = {of.id for of in read if isinstance(of, ast.Name)}
        found |= {name: _beside(_TABLE) for name in tables & names - found.keys()}
    return found


_INDICES = (Kind("indices", dims=(_PICKS, _TABLE)),)


def _beside(letter: str) -> tuple[Kind, ...]:
    return Kind("vector", dims=(letter,)), Kind("matrix", dims=(letter, "p"))


def _compared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The pairs of names that are compared by `==`, either first."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.Eq) and len(inner.ops) == 1:
            left, right = inner.left, inner.comparators[0]
            if isinstance(left, ast.Name) and isinstance(right, ast.Name):
                yield left.id, right.id
                yield right.id, left.id


def _counted_by(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What a loop counts in, and the name of how far: `for g in range(groups)`."""
    for loop in ast.walk(node):
        if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.target, ast.Name):
            calls = [call for call in calls_in(loop.iter) if call is loop.iter]
            for call in calls:
                is_range = getattr(call.func, "id", "") == "range" and len(call.args) == 1
                if is_range and isinstance(call.args[0], ast.Name):
                    yield loop.target.id, call.args[0].id


def told_from_numbers(f: Callable) -> frozenset[str]:
    """The parameters that a function compares by `==` or `!=` with a number or with another parameter: by
    booleans nothing is told so.

    >>> def kept(x, token, padding):
    ...     return x[token] * (token != padding)
    >>> sorted(told_from_numbers(kept))
    ['padding', 'token']
    """
    node, names = text_of(f)
    found: set[str] = set()
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], (ast.Eq, ast.NotEq)):
            sides = (inner.left, *inner.comparators)
            if not any(isinstance(getattr(side, "value", None), bool) for side in sides):
                found.update(side.id for side in sides if isinstance(side, ast.Name))
    return names & found
