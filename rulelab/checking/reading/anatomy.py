"""The parts of a rule as its author wrote them, found in its source: the pullback, and what that returns."""

from __future__ import annotations

import ast
import builtins
import itertools
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...compiler.base.source import Source, find_source
from ...parsing import cloned, nodes_of
from ...rules.rule import Rule
from ...tangents import oldnames
from ...tangents.holding import captured
from ...tangents.structural import Tangent
from ...tangents.thunks import InplaceableThunk, Thunk, thunk
from ...tangents.zeros import NoTangent, ZeroTangent

Pullback = ast.FunctionDef | ast.Lambda
UNKNOWN = object()
"""What a name stands for if only a run could tell."""

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OLD = {"NO_FIELDS": NoTangent(), "Zero": ZeroTangent, "DoesNotExist": NoTangent, "Composite": Tangent}


@dataclass(frozen=True)
class Answer:
    """One `return` of a pullback: the cotangent of the function, and those of the parameters.

    `cotangents` are pairs of a parameter's name and the expression that is returned for it.
    """

    node: ast.Tuple
    own: ast.expr
    cotangents: tuple[tuple[str, ast.expr], ...]


@dataclass(frozen=True)
class Anatomy:
    """The parts of a rule. Nothing is run: names are only looked up where they are stored.

    `target` is the object that the rule is attached to, or None.
    """

    rule: Rule
    target: Any
    source: Source

    @property
    def function(self) -> Any:
        """The function that states the rule."""
        return self.rule.function

    @property
    def name(self) -> str:
        """The name of the rule."""
        return self.source.name

    @property
    def node(self) -> Any:
        """The syntax tree of the rule."""
        return self.source.node

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the positional parameters of the function that the rule is for."""
        a = self.node.args
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        return tuple(names[(1 if self.rule.requires else 0) + (1 if self.rule.mode == "frule" else 0) :])

    @cached_property
    def returned(self) -> tuple[ast.expr, ...]:
        """What the rule itself returns."""
        return tuple(returns_of(self.node))

    @property
    def is_whole(self) -> bool:
        """Whether everything that the rule may return is in its source."""
        pairs = [v for v in self.returned if isinstance(v, ast.Tuple) and len(v.elts) == 2]
        return len(pairs) == len(self.returned) and all(self._functions(pair.elts[1]) for pair in pairs)

    @cached_property
    def pullbacks(self) -> tuple[Pullback, ...]:
        """The functions that the rule returns as its second value, if they are defined in its source."""
        found = []
        for value in self.returned if self.rule.mode == "rrule" else ():
            if isinstance(value, ast.Tuple) and len(value.elts) == 2:
                found += self._functions(value.elts[1])
        return tuple(dict.fromkeys(found))

    def _functions(self, node: ast.expr) -> list[Pullback]:
        if isinstance(node, ast.Lambda):
            return [node]
        if not isinstance(node, ast.Name):
            return []
        defined = [n for n in own_nodes(self.node) if isinstance(n, ast.FunctionDef) and n.name == node.id]
        assigned = [n for n in self.values.get(node.id, ()) if isinstance(n, ast.Lambda)]
        return [*defined, *assigned]

    @cached_property
    def values(self) -> dict[str, list[ast.expr | None]]:
        """What is assigned to each local name of the rule outside its pullbacks; None for what is not an
        expression.
        """
        return assignments(self.node)

    @cached_property
    def local_names(self) -> frozenset[str]:
        """Names that are bound anywhere within the rule, so that they do not mean a global."""
        nodes = list(ast.walk(self.node))
        bound = {n.id for n in nodes if isinstance(n, ast.Name) and _binds(n)}
        bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        return frozenset(bound | {n.name for n in nodes[1:] if isinstance(n, _NAMED)})

    def stands_for(self, node: ast.AST) -> Any:
        """The object that a dotted name means; UNKNOWN if it is local, computed, or missing."""
        if isinstance(node, ast.Name):
            return UNKNOWN if node.id in self.local_names else found_in(self.function, node.id)
        if isinstance(node, ast.Attribute):
            return part_of(self.stands_for(node.value), node.attr)
        return UNKNOWN

    def called(self, node: ast.AST) -> Any:
        """The object that a call calls; UNKNOWN for what is not a call."""
        return self.stands_for(node.func) if isinstance(node, ast.Call) else UNKNOWN

    def answers(self, pullback: Pullback) -> Iterator[Answer]:
        """What a pullback returns, where that is written as a tuple of cotangents."""
        for value in returns_of(pullback):
            if isinstance(value, ast.Tuple) and value.elts and not isinstance(value.elts[0], ast.Starred):
                own, *rest = value.elts
                yield Answer(value, own, tuple(zip((*self.parameters, *["the rest"] * len(rest)), rest)))

    def zero(self, node: ast.AST) -> type | None:
        """NoTangent or ZeroTangent if an expression makes one; None for any other expression."""
        if isinstance(node, ast.Starred):
            return self._zero_in(node.value)
        found = self.called(node) if isinstance(node, ast.Call) and not node.args else self.stands_for(node)
        for kind in (NoTangent, ZeroTangent):
            if found is kind or isinstance(found, kind):
                return kind
        return None

    def _zero_in(self, node: ast.expr) -> type | None:
        """The same for the items of what is unpacked: `*[NoTangent()] * n`."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self._zero_in(node.left) or self._zero_in(node.right)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.zero(node.elt)
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
            kinds = {self.zero(item) for item in node.elts}
            return kinds.pop() if len(kinds) == 1 else None
        return None

    def thunked(self, node: ast.expr, scope: Pullback) -> ast.expr | None:
        """The expression that a call of `thunk` delays; None if it is not such a call, or the expression is
        not in the source.
        """
        if self.called(node) not in (thunk, Thunk) or len(node.args) != 1:  # type: ignore[attr-defined]
            return None
        delayed = node.args[0]  # type: ignore[attr-defined]
        if isinstance(delayed, ast.Lambda):
            return delayed.body
        if isinstance(delayed, ast.Name):
            for made in ast.walk(scope):
                if isinstance(made, ast.FunctionDef) and made.name == delayed.id and len(made.body) == 1:
                    (only,) = made.body
                    return only.value if isinstance(only, ast.Return) else None
        return None

    def is_late(self, node: ast.expr) -> bool:
        """Whether an expression makes a thunk of any kind."""
        return self.called(node) in (thunk, Thunk, InplaceableThunk)


def anatomy_of(rule: Rule, target: Any) -> Anatomy:
    """The parts of a rule. SourceNotFoundError or SourceMismatchError if its source is not available."""
    return Anatomy(rule, target, find_source(rule.function.__code__))


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the body of a function in source order, without those of inner functions."""
    body = [function.body] if isinstance(function, ast.Lambda) else getattr(function, "body", [])
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not _is_definition(node):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def returns_of(function: ast.AST) -> list[ast.expr]:
    """The expressions that a function returns."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [n.value for n in own_nodes(function) if isinstance(n, ast.Return) and n.value is not None]


def assignments(function: ast.AST) -> dict[str, list[ast.expr | None]]:
    """What is assigned to each name in a function: an expression for `name = expression`, also in `a, b = x,
    y`, else None.
    """
    found: dict[str, list[ast.expr | None]] = {}
    plain = set()
    for node in own_nodes(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            pairs = (assigned_pairs(target, node.value) for target in targets)
            for target, value in itertools.chain.from_iterable(pairs):
                if isinstance(target, ast.Name):
                    plain.add(target)
                    found.setdefault(target.id, []).append(value)
        if isinstance(node, ast.Name) and _binds(node) and node not in plain:
            found.setdefault(node.id, []).append(None)
        if isinstance(node, _NAMED):
            found.setdefault(node.name, []).append(None)
    return found


def assigned_pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Pairs of a target and the value assigned to it, tuples item by item."""
    rows = (ast.Tuple, ast.List)
    if isinstance(target, rows) and isinstance(value, rows) and len(target.elts) == len(value.elts):
        if not any(isinstance(item, ast.Starred) for item in (*target.elts, *value.elts)):
            for pair in zip(target.elts, value.elts):
                yield from assigned_pairs(*pair)
            return
    yield target, value


def assigned_once(function: ast.AST) -> dict[str, ast.expr]:
    """The names that a single plain assignment and nothing else binds in a function, with their values."""
    parameters = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}  # type: ignore[attr-defined]
    return {
        name: values[0]
        for name, values in assignments(function).items()
        if len(values) == 1 and values[0] is not None and name not in parameters
    }


def uses(name: str, within: ast.AST) -> int:
    """How often a name is read in a tree."""
    return sum(isinstance(n, ast.Name) and n.id == name and not _binds(n) for n in ast.walk(within))


def gives_functions(node: ast.AST, space: dict[str, Any]) -> bool:
    """Whether some code passes a function of its module as an argument."""
    given = (
        arg
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        for arg in (*call.args, *(keyword.value for keyword in call.keywords))
    )
    names = (arg.id for arg in given if isinstance(arg, ast.Name))
    return any(isinstance(space.get(name), types.FunctionType) for name in names)


def names_in(node: ast.AST) -> set[str]:
    """The names in a tree."""
    return {n.id for n in nodes_of(node) if isinstance(n, ast.Name)}


def inlined(node: ast.expr, known: dict[str, ast.expr], depth: int = 8) -> ast.expr:
    """An expression with the names in `known` replaced by their values."""

    class Inline(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            value = known.get(name.id)
            return name if value is None or not depth else inlined(value, known, depth - 1)

    return Inline().visit(cloned(node))


def found_in(function: Any, name: str) -> Any:
    """What a name means in a function that does not bind it: a closure variable, a global or a builtin, or
    UNKNOWN.
    """
    if name in function.__code__.co_freevars:
        return captured(function).get(name, UNKNOWN)
    return function.__globals__.get(name, vars(builtins).get(name, UNKNOWN))


def part_of(owner: Any, name: str) -> Any:
    """The attribute of a module, found without running code of its owner.

    Names of `rulelab` itself may be fetched: some of them are imported on first access.
    """
    if not isinstance(owner, types.ModuleType):
        return UNKNOWN
    found = vars(owner).get(name, UNKNOWN)
    if found is UNKNOWN and owner is sys.modules["rulelab"]:
        if name in oldnames.OLD_NAMES:
            return _OLD.get(name, UNKNOWN)
        return getattr(owner, name) if name in dir(owner) else UNKNOWN
    return found


def _binds(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_definition(node: Any) -> bool:
    return isinstance(node, (*_NAMED, ast.Lambda))


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name, such as the name of what is called: `sum` for `np.sum` and for `sum`;
    empty for what is not a name.
    """
    return getattr(node, "attr", getattr(node, "id", ""))


def text_of(node: ast.AST) -> str:
    """A tree as source text on one line."""
    return ast.unparse(node)


def names(words: Sequence[str]) -> str:
    """Words as a list: `a`, `a and b`, `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
