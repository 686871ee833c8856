"""What may be grafted into a rule: parts of both texts, and expressions that are easily made from them."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ...compiler.analysis.unfollowed import is_pure_call, is_pure_function
from ...compiler.base.libraries import is_authors_function
from ...parsing import cloned, parse
from ..measuring.vectors import shape_of
from ..reading.anatomy import names_in
from .edits import addends, unread_names
from .grafts import Part
from .materials import Materials
from .slips import exchanged_names, with_names
from .slopes import slopes

MOST_TEXTS, MOST_MADE, LARGEST = 120, 60, 60
"""How many parts of the texts, and how many of each kind made from them, are used, and the longest text."""
MOST_RENAMED = 7
"""How many names are tried in place of two names of an expression."""
_KINDS = (ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.UnaryOp, ast.Name)
_HARMLESS = frozenset(
    "sum mean dot copy conj conjugate max min prod cumsum ravel transpose trace std var T".split()
)
"""Methods without side effects."""
_ELEMENTWISE = (
    *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "expm1", "log1p", "square", "abs"),
    *("arcsin", "arccos", "arctan", "asin", "acos", "atan", "sign"),
)
"""Functions of one number that are easily confused."""
_AROUND = ("exp", "log", "sqrt", "sin", "cos", "tanh", "conj", "tril", "triu", "sum")
"""Functions that are easily left out."""
_RUNNING = ("{0}.cumsum({1})", "{0}.cumsum(({1})[::-1])[::-1]")
"""Running sums from either end, each of which is the adjoint of the other."""
_FAMILIES = (("sin", "cos", "tan"), ("sinh", "cosh", "tanh"), ("exp", "expm1"), ("log", "log1p", "log2"))
"""Functions whose derivatives involve each other."""


class Stock(Materials):
    """A rule's text with what may be grafted into it."""

    @cached_property
    def _parts(self) -> list[Part]:
        """The parts of both texts, the short ones first, then what is made from them."""
        texts = sorted(self._harmless_texts, key=lambda node: len(ast.unparse(node)))[:MOST_TEXTS]
        made = (
            list(itertools.islice(kind, MOST_MADE))
            for kind in (
                self._columns(texts),
                self._of_numbers(),
                self._slopes(texts),
                _of_families(texts),
                self._handed_others(texts),
                self._of_other_names(texts),
                self._of_twins(texts),
                self._summed(texts),
            )
        )
        forgotten: list[ast.expr] = [ast.Name(n, ast.Load()) for n in unread_names(self.anatomy.node)]
        return _parts_of_nodes([*forgotten, *texts, *itertools.chain.from_iterable(made)])

    @cached_property
    def _harmless_texts(self) -> list[ast.expr]:
        """The expressions in both texts that use names of the rule and have no side effects."""
        known = {*self._at_hand, *self._looping}
        space = self.function.__globals__
        numbers = (int, float, complex)
        known |= {"len"} | {
            name for name, x in space.items() if callable(x) or inspect.ismodule(x) or isinstance(x, numbers)
        }
        roots = [root for root in (self.anatomy.node, self._primal_node) if root is not None]
        found: dict[str, ast.expr] = {}
        for node in (n for root in roots for n in ast.walk(root) if isinstance(n, _KINDS)):
            if isinstance(getattr(node, "ctx", None), ast.Store) or not names_in(node) <= known:
                continue
            if not self.is_module(node) and all(map(self._is_harmless, ast.walk(node))):
                text = ast.unparse(node)
                if len(text) <= LARGEST and not text.startswith("rl."):
                    found.setdefault(text, node)
        return list(found.values())

    def _is_harmless(self, node: ast.AST) -> bool:
        """Whether a node, evaluated on its own at any time, only returns a value."""
        if isinstance(node, (ast.Lambda, ast.NamedExpr, ast.Starred, ast.Yield, ast.YieldFrom, ast.Await)):
            return False
        if not isinstance(node, ast.Call):
            return True
        called = node.func
        if any(keyword.arg == "out" for keyword in node.keywords):
            return False
        if isinstance(called, ast.Attribute) and not inspect.ismodule(self._of_the_module(called.value)):
            return called.attr in _HARMLESS
        function = self._of_the_module(called)
        if is_authors_function(function):
            return is_pure_function(function)
        return function is not None and is_pure_call(function, len(node.args))

    def _of_the_module(self, node: ast.expr) -> Any:
        """As `of_the_module`, but None for expressions with local names."""
        return self.of_the_module(node) if names_in(node).isdisjoint(self._at_hand) else None

    def _of_numbers(self) -> Iterator[ast.expr]:
        """Constants, lengths, and simple functions of the names."""
        one, two = ast.Constant(1), ast.Constant(2)
        yield one
        marks = dict.fromkeys(abs(mark) for mark in self.marks)
        yield from (ast.Constant(mark) for mark in marks if mark not in (0, 1, 2))
        yield from self._lengths(("{}.size", "len({})"))
        names = [n for n in self._at_hand if n not in (*self.bars(), *self._loops)]
        for name in (ast.Name(n, ast.Load()) for n in names):
            yield ast.BinOp(one, ast.Sub(), name)
            if name.id not in self._flags:  # a flag equals its square
                yield ast.BinOp(name, ast.Pow(), two)

    def _columns(self, texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """The vectors and their squares as columns beside matrices, with one number for each row."""
        if not self._is_array:
            return
        inputs = zip(self.subject.names, self.probes[0].point.inputs)
        vectors = {name for name, x in inputs if len(shape_of(x)) == 1}
        two = ast.Constant(2)
        for name in [n for n in texts if isinstance(n, ast.Name) and (n.id in vectors or n.id in self.made)]:
            for node in (name, ast.BinOp(name, ast.Pow(), two)):
                yield parse(f"({ast.unparse(node)})[:, None]", mode="eval").body

    @cached_property
    def _flags(self) -> frozenset[str]:
        """The names of booleans: parameters, and masks."""
        inputs = zip(self.subject.names, self.probes[0].point.inputs)
        return frozenset((*(name for name, x in inputs if np.asarray(x).dtype.kind == "b"), *self._masks))

    def _slopes(self, texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """The derivatives of parts of the texts, such as inner derivatives in the chain rule, and each of
        their terms, such as those of the product rule.
        """
        numpy = self._numpy()
        for node in texts if numpy is not None else ():
            if isinstance(node, (ast.Call, ast.BinOp)) and names_in(node).isdisjoint(self._moving):
                for slope in slopes(node, numpy or ""):
                    yield slope
                    yield from (term for _, term in addends(slope) if term is not slope)

    def _handed_others(self, texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """The functions of one argument in the texts, applied to other arguments."""
        calls = [n for n in texts if isinstance(n, ast.Call) and len(n.args) == 1 and not n.keywords]
        functions = list({ast.dump(call.func): call.func for call in calls}.values())
        pieces: list[ast.expr] = [ast.Name(n, ast.Load()) for n in self._at_hand if n not in self.bars()]
        inner = {ast.unparse(call.args[0]): call.args[0] for call in calls}
        for piece, function in itertools.product([*inner.values(), *pieces], functions):
            yield ast.Call(function, [piece], [])

    def _of_other_names(self, texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """The parts with two parameters exchanged: what is for one may be for the other."""
        texts = [node for node in texts if isinstance(node, (ast.Call, ast.BinOp))]
        for one, other in itertools.combinations(self.anatomy.parameters, 2):
            names = exchanged_names(one, other, self.made)
            for node in texts:
                if not names_in(node).isdisjoint(names):
                    yield with_names(node, names)

    def _of_twins(self, texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """The parts with a name replaced by one that is assigned alike: `np.sqrt(y)` beside `np.sqrt(x)`."""
        forms: dict[str, list[str]] = {}
        for name, value in self.made.items():
            if isinstance(value, (ast.Call, ast.BinOp)):
                forms.setdefault(_form(value), []).append(name)
        pairs = [pair for some in forms.values() for pair in itertools.permutations(some[:4], 2)]
        for (one, other), node in itertools.product(pairs, texts):
            if one in names_in(node) and not isinstance(node, ast.Name):
                yield with_names(node, {one: other})

    def _summed(self, texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
        """Expressions with several axes, and their squares, summed along one axis."""
        numpy = self._numpy()
        if numpy is None or not self._is_array:
            return
        two = ast.Constant(2)
        named = [n for n in texts if isinstance(n, (ast.Name, ast.BinOp)) and not self.is_module(n)]
        squares = [ast.BinOp(n, ast.Pow(), two) for n in named if isinstance(n, ast.Name)]
        for node, axis in itertools.product([*named, *squares], (0, 1)):
            along = [ast.keyword("axis", ast.Constant(axis))]
            yield ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), "sum", ast.Load()), [node], along)

    def _parts_of(self, node: ast.expr) -> list[Part]:
        """What may replace an expression: functions of it, and other combinations of its parts."""
        numpy = self._numpy()
        found: list[ast.expr] = []
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            called, inside = node.func, node.args[0]
            minus = ast.UnaryOp(ast.USub(), inside)
            found += [ast.Call(called, [minus], []), ast.Call(called, [ast.Call(called, [inside], [])], [])]
            if isinstance(called, ast.Attribute) and called.attr in _ELEMENTWISE:
                others = (ast.Attribute(called.value, name, ast.Load()) for name in _ELEMENTWISE)
                found += [ast.Call(other, [inside], []) for other in others]
        if numpy is not None and self._is_value(node) and isinstance(node, (ast.Name, ast.Call, ast.BinOp)):
            functions = (ast.Attribute(ast.Name(numpy, ast.Load()), name, ast.Load()) for name in _AROUND)
            found += [ast.Call(function, [node], []) for function in functions]
            if {"cumsum", "accumulate"} & (self._called | self._attributes):
                found += [parse(t.format(numpy, ast.unparse(node)), mode="eval").body for t in _RUNNING]
        if isinstance(node, ast.BinOp):
            for part in (node.left, node.right):
                found += [ast.BinOp(node, operator, part) for operator in (ast.Add(), ast.Sub())]
            found += self._with_two_renamed(node)
        if isinstance(node, (ast.Name, ast.BinOp, ast.Call)):
            found += [ast.Call(ast.Name(name, ast.Load()), [node], []) for name in self._helpers]
        return _parts_of_nodes([n for n in found if all(map(self._is_harmless, ast.walk(n)))])

    @cached_property
    def _helpers(self) -> list[str]:
        """The functions of one argument in the file of the rule, except rule and function."""
        found = []
        for name, value in self.function.__globals__.items():
            if not is_authors_function(value) or value is self.function or value is self.subject.primal:
                continue
            code = getattr(value, "__code__", None)
            if code is not None and code.co_argcount - len(value.__defaults__ or ()) == 1:
                if code.co_filename == self.function.__code__.co_filename:
                    found.append(name)
        return found[:4]

    def _with_two_renamed(self, node: ast.BinOp) -> Iterator[ast.expr]:
        """A sum or difference with two of its names replaced at once."""
        if not isinstance(node.op, (ast.Add, ast.Sub)) or sum(1 for _ in ast.walk(node)) > LARGEST:
            return
        still = [n for n in self._at_hand if n not in self._moving]
        mine = [n for n in still if n in names_in(node)]
        if len(mine) == 2:
            others = [n for n in still if n not in mine][:MOST_RENAMED]
            for one, other in itertools.permutations(others, 2):
                yield with_names(node, {mine[0]: one, mine[1]: other})


def _form(node: ast.expr) -> str:
    """An expression without its names and numbers, except the names of attributes."""
    plain = cloned(node)
    for part in ast.walk(plain):
        if isinstance(part, ast.Name):
            part.id = "_"
        elif isinstance(part, ast.Constant):
            part.value = 0
    return ast.dump(plain)


def _of_families(texts: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The related functions of those in the texts, of the same arguments."""
    for node in texts:
        called = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
        for family in _FAMILIES:
            if isinstance(node, ast.Call) and isinstance(called, ast.Attribute) and called.attr in family:
                for name in family:
                    yield ast.Call(ast.Attribute(called.value, name, ast.Load()), node.args, [])


def _parts_of_nodes(nodes: Iterable[ast.expr]) -> list[Part]:
    found = {ast.unparse(node): node for node in nodes}
    return [part for part in map(Part.of, found.values()) if part is not None]
