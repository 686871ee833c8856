"""Parameters that are labels by their use in a function: integers that it compares with each number up to a
count, or with another number, to select elements.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from .docstrings import words_about
from .kinds import Kind, Lengths
from .texts import calls_in, text_of
from .usage import index_parameters

_PICKS, _TABLE = "m", "n"
"""Lengths of labels, and of what they index, as letters."""


def label_kinds(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of labels that a function compares with each number below a count of groups, of the arrays it
    indexes by the comparison, and of that count.

    >>> def group_sums(x, label, groups):
    ...     return np.array([np.sum(x[label == g]) for g in range(groups)])
    >>> for name, kinds in label_kinds(group_sums).items():
    ...     print(name, *kinds, sep=", ")
    label, a vector of indices (m), below groups
    groups, an integer (groups)
    x, a vector (m), a matrix (m, p)

    So of labels of which each is counted once, and of what is added up by them:

    >>> def group_means(x, firm):
    ...     _, code = np.unique(firm, return_inverse=True)
    ...     return np.bincount(code, x) / np.bincount(code)
    >>> for name, kinds in label_kinds(group_means).items():
    ...     print(name, *kinds, sep=", ")
    firm, a vector of indices (m), below n
    x, a vector (m)
    """
    node, names = text_of(f)
    if node is None:
        return {}
    found = _told_apart(node, names)
    counts = dict(_counted_by(node))
    picking = index_parameters(f)
    labels = {}
    for label, counter in _compared(node):
        count = counts.get(counter)
        if label in names and count in names:
            labels[label] = count
            found[label] = (Kind("indices", dims=(_PICKS, count)),)
            found[count] = (Kind("integer", dims=(count,)),)
    if not labels:
        return found
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


def _told_apart(node: ast.AST, names: frozenset[str]) -> dict[str, tuple[Kind, ...]]:
    """The kinds of labels that `np.unique` numbers, and of what `np.bincount` adds up by these numbers."""
    numbered: dict[str, str] = {}
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Assign) or not isinstance(inner.value, ast.Call):
            continue
        call, target = inner.value, inner.targets[0]
        inverse = any(keyword.arg == "return_inverse" for keyword in call.keywords)
        label = call.args[0] if call.args else None
        if inverse and isinstance(label, ast.Name) and label.id in names and isinstance(target, ast.Tuple):
            numbered |= {part.id: label.id for part in target.elts[1:2] if isinstance(part, ast.Name)}
    found: dict[str, tuple[Kind, ...]] = dict.fromkeys(numbered.values(), _INDICES)
    for call in calls_in(node):
        if getattr(call.func, "attr", "") == "bincount" and len(call.args) == 2:
            by, added = (getattr(arg, "id", "") for arg in call.args)
            if by in numbered and added in names:
                found[added] = (Kind("vector", dims=(_PICKS,)),)
    return found


_INDICES = (Kind("indices", dims=(_PICKS, _TABLE)),)


def _beside(letter: str) -> tuple[Kind, ...]:
    return Kind("vector", dims=(letter,)), Kind("matrix", dims=(letter, "p"))


def _compared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The pairs of names compared by `==`, in both orders."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.Eq) and len(inner.ops) == 1:
            left, right = inner.left, inner.comparators[0]
            if isinstance(left, ast.Name) and isinstance(right, ast.Name):
                yield left.id, right.id
                yield right.id, left.id


def _counted_by(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The counter of a loop, and the name of its limit: `for g in range(groups)`."""
    for loop in ast.walk(node):
        if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.target, ast.Name):
            calls = [call for call in calls_in(loop.iter) if call is loop.iter]
            for call in calls:
                is_range = getattr(call.func, "id", "") == "range" and len(call.args) == 1
                if is_range and isinstance(call.args[0], ast.Name):
                    yield loop.target.id, call.args[0].id


def labels_in_words(f: Callable, said: Mapping[str, Lengths]) -> Mapping[str, Kind]:
    """The indices whose length and number of values a docstring gives by words that are lengths of other
    arrays, as given in `said`.

    >>> def share(utility, scale, nest, choice):
    ...     \"\"\"Shares.
    ...
    ...     nest: the nest of each alternative, an int from 0
    ...     choice: index (n,) of the chosen alternative\"\"\"
    ...     return utility[choice] / scale[nest]
    >>> said = {"utility": ("n", "alternatives"), "scale": ("nests",), "choice": ("n",)}
    >>> [str(kind) for kind in labels_in_words(share, said).values()]
    ['a vector of indices (alternatives), below nests', 'a vector of indices (n), below alternatives']
    """
    lengths = {word for dims in said.values() for word in dims if isinstance(word, str) and len(word) > 2}
    by_one = {re.sub("ies$", "y", word).removesuffix("s"): word for word in lengths}
    found = {}
    for name, about in words_about(f).items():
        if name not in index_parameters(f) or not _OF_INDICES.search(about):
            continue
        each = [by_one[word] for word in _EACH_ONE.findall(about) if word in by_one]
        own = said.get(name) or tuple(each[:1])
        values = [by_one[word] for word in re.findall(r"\w+", _EACH_ONE.sub("", about)) if word in by_one]
        if len(own) == 1 and len({*values} - {*own}) == 1:
            found[name] = Kind("indices", dims=(*own, *({*values} - {*own})))
    return found


_OF_INDICES = re.compile(r"\b(?:ints?|integers?|index|indices|indexes|numbered)\b")
_EACH_ONE = re.compile(r"\b(?:each|every) (\w+)")


def distinguished_from_numbers(f: Callable) -> frozenset[str]:
    """The parameters that a function compares by `==` or `!=` with a number or another parameter: booleans
    are not compared in this way.

    >>> def kept(x, token, padding):
    ...     return x[token] * (token != padding)
    >>> sorted(distinguished_from_numbers(kept))
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
