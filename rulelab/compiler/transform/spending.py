"""Values of the forward sweep whose memory the reverse sweep reuses, where both sweeps are one function that
runs once: the last product that reads an array is stored in that array, if nothing else holds it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...parsing import nodes_of, parse
from ...rules.formulas import makes_new_memory
from ...tangents.projection import unbroadcast, unbroadcast_to
from ..memory.support import over

_WORD = re.compile(r"\w+")
# Powers are missing: only the operator `** 2` squares in NumPy, not the ufunc.
_UFUNCS: dict[type[ast.AST], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.USub: np.negative,
}


class Spending:
    """The arrays of a forward sweep that may be overwritten after their last use.

    `arrays` are those that nothing else holds when the reverse sweep begins, `texts` all of its texts outside
    branches and loops, `inside` those inside them. `constants` maps names in these texts to objects.
    """

    def __init__(
        self, arrays: set[str], texts: list[str], inside: list[str], constants: dict[str, Any]
    ) -> None:
        self._left = Counter(word for text in texts for word in _WORD.findall(text) if word in arrays)
        for text in inside:
            arrays = arrays.difference(_WORD.findall(text))
        for text in texts:
            if not arrays.isdisjoint(_WORD.findall(text)):
                arrays = arrays - set(_handed_on(text, arrays, constants))
        self.arrays = arrays

    def reads(self, text: str) -> None:
        """Note that the reads in a text are done."""
        self._left.subtract(word for word in _WORD.findall(text) if word in self._left)

    def spent(
        self,
        text: str,
        full: Iterable[str],
        helper: Callable[[Any, str], str],
        alike: Iterable[str] = (),
    ) -> str:
        """The text of a product, changed to write its result to an array that it reads for the last time, if
        there is one. The arrays in `full` have the shape and dtype of the product; for those in `alike` this
        is checked at run time. `helper` gives the name of a function.
        """
        for name in full:
            if name in self.arrays and not self._left[name]:
                written = _written_to(name, text, helper)
                if written:
                    return written
        for name in alike:
            if name in self.arrays and not self._left[name]:
                written = _written_over(name, text, helper)
                if written:
                    return written
        return text


def _handed_on(text: str, arrays: set[str], constants: dict[str, Any]) -> Iterator[str]:
    """The arrays that the value of a text may refer to, beyond copies of their numbers and shape."""
    tree = _parsed(text)
    above = _parents(tree)
    for node in nodes_of(tree):
        if isinstance(node, ast.Name) and node.id in arrays and not _only_reads(node, above[node], constants):
            yield node.id


def _only_reads(node: ast.Name, parent: ast.AST, constants: dict[str, Any]) -> bool:
    """Whether the value of the parent node shares no memory with the array that the node names."""
    if isinstance(parent, ast.Attribute):
        return parent.attr == "shape"
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Name):
        return isinstance(parent, (ast.BinOp, ast.UnaryOp))
    function = constants.get(parent.func.id)
    if function in (unbroadcast, unbroadcast_to):
        return node is not parent.args[0]
    return isinstance(function, np.ufunc) or makes_new_memory(function)


def _written_to(name: str, text: str, helper: Callable[[Any, str], str]) -> str:
    """The text with the operation that reads an array, and those around it, writing to the array's memory;
    empty if several operations read it, or one that cannot write to given memory.
    """
    tree = _parsed(text)
    above = _parents(tree)
    read = [node for node in nodes_of(tree) if isinstance(node, ast.Name) and node.id == name]
    readers = {above[node] for node in read if not isinstance(above[node], ast.Attribute)}
    if len(readers) != 1:
        return ""
    (node,) = readers
    if not _ufunc_of(node):
        return ""
    while ufunc := _ufunc_of(node):
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]  # type: ignore[attr-defined]
        out = ast.keyword("out", ast.Name(name))
        call = ast.Call(ast.Name(helper(ufunc, f"np_{ufunc.__name__}")), operands, [out])
        parent = above[node]
        _put_in_place(parent, node, call)
        above[call] = parent
        node = parent
    return ast.unparse(tree)


def _written_over(name: str, text: str, helper: Callable[[Any, str], str]) -> str:
    """The text with the only product that reads an array writing to the array's memory, if the result turns
    out to fit at run time; empty if there is no such product.
    """
    tree = _parsed(text)
    above = _parents(tree)
    read = [node for node in nodes_of(tree) if isinstance(node, ast.Name) and node.id == name]
    if len(read) != 1:
        return ""
    node = above[read[0]]
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return ""
    other = node.left if node.right is read[0] else node.right
    call = ast.Call(ast.Name(helper(over(np.multiply), "multiply_over")), [read[0], other], [])
    _put_in_place(above[node], node, call)
    return ast.unparse(tree)


def _ufunc_of(node: ast.AST) -> np.ufunc | None:
    return _UFUNCS.get(type(node.op)) if isinstance(node, (ast.BinOp, ast.UnaryOp)) else None


def _put_in_place(parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for field, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, field, new)
        elif isinstance(value, list):
            value[:] = [new if each is old else each for each in value]


def _parsed(text: str) -> ast.Module:
    return parse(text.replace("\0", ""))


def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in nodes_of(tree) for child in ast.iter_child_nodes(node)}
