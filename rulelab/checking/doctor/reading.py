"""Where in a text a mistake is: the expression that computes a wrong cotangent, for any kind of rule."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from ...compiler.base.source import Source, find_source
from ...errors import Place, RuleLabError
from ..calling.subjects import Subject, Written
from ..reading.anatomy import assigned_once, names_in, own_nodes, returns_of
from .evidence import Explanation

OF_ANSWER = (
    "ignores_cotangent", "none", "zero_class", "shape", "kind", "dropped_argument", "nonlinear",
    "additive_constant", "thunk",
)  # fmt: skip
"""Mistakes in what a pullback returns, wherever its parts come from."""
_PARTS = (ast.Compare, ast.IfExp)


class Reading:
    """A text that computes cotangents. `scopes` are its functions, the inner ones first; `function` is the
    last of them as an object.
    """

    def __init__(self, source: Source, scopes: Sequence[Any], function: Any) -> None:
        self.source, self.scopes, self.function = source, scopes, function

    def cotangents_of(self, argument: str | None) -> list[ast.expr]:
        """The expressions that compute the cotangent of an argument (None: of all arguments), the returned
        ones first.
        """
        raise NotImplementedError

    def returned(self) -> list[ast.expr]:
        """The expressions returned as cotangents, of all arguments together."""
        raise NotImplementedError

    def values(self) -> list[ast.expr]:
        """The expressions returned as the value of the function."""
        return []

    def bars(self) -> list[str]:
        """The names of the cotangent of the value."""
        raise NotImplementedError

    def is_module(self, node: ast.expr) -> bool:
        """Whether an expression is the name of a module."""
        space = getattr(self.function, "__globals__", {})
        return isinstance(node, ast.Name) and isinstance(space.get(node.id), types.ModuleType)

    def of_the_module(self, node: ast.expr) -> Any:
        """The object that a global name, or an attribute path from one, refers to; None for anything else."""
        if isinstance(node, ast.Attribute):
            return getattr(self.of_the_module(node.value), node.attr, None)
        if not isinstance(node, ast.Name):
            return None
        return self.function.__globals__.get(node.id, getattr(builtins, node.id, None))

    def place_of(self, seen: list[Explanation]) -> Place | None:
        """The place of the mistake in the author's text; that of the whole answer if the number or the order
        of the cotangents is wrong.
        """
        if seen[0].mistake in ("count", "swapped_arguments"):
            returned = self.returned()
            return self.source.place(returned[0]) if returned else None
        sites = next(self.sites(seen), None)
        return self.source.place(sites) if sites is not None else None

    def sites(self, seen: list[Explanation]) -> Iterator[ast.expr]:
        """The expressions in which the mistake may be, the likeliest first: those that several wrong
        cotangents have in common, the single variable in a cotangent that is just a product, the cotangents
        themselves, and whatever else they are computed from.
        """
        names = list(dict.fromkeys(one.argument for one in seen))
        targets = [node for name in names for node in self.cotangents_of(name)]
        if not targets or seen[0].mistake in OF_ANSWER:
            for name in names:
                made = [self._own(node, name) for node in self.cotangents_of(name)]
                yield from map(self._begun, made) if seen[0].mistake == "shape" else made
            return
        fine = self._beside(targets)
        elsewhere = self._feeding([*fine, *self.values()])
        own = [name for name in self._feeding(targets) if name not in elsewhere]
        found = {id(node): node for node in self.shared_by(names)}
        if seen[0].mistake == "branch":
            parted = [self.made[n] for n in own if any(isinstance(c, _PARTS) for c in ast.walk(self.made[n]))]
            found |= {id(node): node for node in parted}
        signed = seen[0].mistake == "sign"
        for node in targets:
            inner = node
            while (name := self._only_name(inner)) in own and not (_has_sign(inner) and signed):
                inner = self.made[name]
            found.setdefault(id(inner), inner)
        for node in (*targets, *(self.made[n] for n in own)):
            found.setdefault(id(node), node)
        written = [node for name in self._feeding(targets) for node in self._written_to(name)]
        looped = self._looped(names, fine)
        first = (*self.of_these_alone(names), *looped, *written)
        found = {**{id(node): node for node in first}, **found}
        yield from found.values()

    def of_these_alone(self, names: list[str | None]) -> list[ast.expr]:
        """The expressions in a forward rule that use the tangents of these arguments and of no others."""
        return []

    def shared_by(self, names: list[str | None]) -> list[ast.expr]:
        """The expressions that the cotangents of several arguments have in common, and no others."""
        if len(names) < 2:
            return []
        targets = [node for name in names for node in self.cotangents_of(name)]
        elsewhere = self._feeding([*self._beside(targets), *self.values()])
        feeding = [self._feeding(self.cotangents_of(name)) for name in names]
        own = [name for name in self._feeding(targets) if name not in elsewhere]
        return [self.made[n] for n in reversed(own) if all(n in row for row in feeding)]

    def _beside(self, targets: list[ast.expr]) -> list[ast.expr]:
        """The judged cotangents other than these."""
        wrong = {id(node) for node in targets}
        return [n for n in self.judged_cotangents() if wrong.isdisjoint(map(id, ast.walk(n)))]

    def judged_cotangents(self) -> list[ast.expr]:
        """The cotangents known to be right or wrong."""
        return self.cotangents_of(None)

    def _own(self, node: ast.expr, argument: str | None) -> ast.expr:
        """The value of the variable for an argument's cotangent, if it is named like one: `dk` or `k_bar` for
        `k`.
        """
        while isinstance(node, ast.Name) and node.id in self.made and _is_called_after(node.id, argument):
            node = self.made[node.id]
        return node

    def _begun(self, node: ast.expr) -> ast.expr:
        """The first value of a variable of which only the elements change later: it determines the shape."""
        changes = self.updates.get(node.id, []) if isinstance(node, ast.Name) else []
        begun = [one for one in changes if isinstance(one, ast.Assign)]
        return begun[0].value if len(begun) == 1 else node

    def _looped(self, names: list[str | None], fine: list[ast.expr]) -> list[Any]:
        """The statements that repeatedly change a variable from which wrong cotangents are computed, those
        that all of them have in common first.
        """
        feeding = [self._updating(self.cotangents_of(name)) for name in names]
        others = self._updating([*fine, *self.values()])
        found = list(dict.fromkeys(name for row in feeding for name in row))
        shared = [name for name in found if all(name in row for row in feeding)]
        known = [name for name in (*shared, *found) if name not in others or name in shared]
        own = [name for name in known if name not in others]
        return [node for name in dict.fromkeys((*own, *known)) for node in self.updates[name]]

    @cached_property
    def updates(self) -> dict[str, list[Any]]:
        """The local names that are assigned more than once, with these statements, starting values last."""
        found: dict[str, list[Any]] = {}
        for scope in self.scopes:
            for node in own_nodes(scope):
                targets = getattr(node, "targets", [getattr(node, "target", None)])
                if isinstance(node, (ast.Assign, ast.AugAssign)):
                    for target in targets:
                        if isinstance(target, ast.Name) and target.id not in self.made:
                            found.setdefault(target.id, []).append(node)
        return {name: sorted(nodes, key=_starts) for name, nodes in found.items()}

    def _updating(self, nodes: list[ast.expr]) -> list[str]:
        """The names in `updates` from which some expressions are computed, directly or indirectly."""
        found: dict[str, None] = {}
        waiting: list[Any] = list(nodes)
        while waiting:
            for name in sorted(names_in(waiting.pop(0))):
                if name not in found and (name in self.updates or name in self.made):
                    found[name] = None
                    waiting += [one.value for one in self.updates.get(name, ())]
                    waiting += [self.made[name]] if name in self.made else []
                    waiting += [one.value for one in self._written_to(name)]
        return [name for name in found if name in self.updates]

    @cached_property
    def made(self) -> dict[str, ast.expr]:
        """The local names that are assigned once, with their values."""
        found: dict[str, ast.expr] = {}
        for scope in self.scopes:
            if not isinstance(scope, ast.Lambda):
                found = {**assigned_once(scope), **found}
        return found

    def _written_to(self, name: str) -> list[Any]:
        """The statements that write to elements of a local variable."""
        return self._writes.get(name, [])

    @cached_property
    def _writes(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for node in ast.walk(self.scopes[-1]):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):  # `np.add.at(x_bar, i, …)`
                root = node.value.func
                while isinstance(root, ast.Attribute):
                    root = root.value
                for first in node.value.args[:1]:
                    if isinstance(first, ast.Name) and self.is_module(root):  # not `xs.append(x)`
                        found.setdefault(first.id, []).append(node)
            elif isinstance(node, (ast.Assign, ast.AugAssign)):
                target = getattr(node, "targets", [getattr(node, "target", None)])[0]
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    found.setdefault(target.value.id, []).append(node)
        return found

    def _feeding(self, nodes: list[ast.expr]) -> list[str]:
        """The names from which some expressions are computed, directly or indirectly, the nearest first."""
        found: dict[str, None] = {}
        waiting = list(nodes)
        while waiting:
            for name in sorted(names_in(waiting.pop(0))):
                if name in self.made and name not in found:
                    found[name] = None
                    waiting.append(self.made[name])
                    waiting += self._written_to(name)
        return list(found)

    def _only_name(self, node: ast.expr) -> str | None:
        """The only name, besides the cotangent, in an expression that is a product; None for other
        expressions.
        """
        known = {*self.bars(), *(n for n in names_in(node) if self.is_module(ast.Name(n)))}
        names = names_in(node) - known
        only = next(iter(names)) if len(names) == 1 else ""
        plain = (ast.BinOp, ast.Name, ast.Mult, ast.MatMult, ast.Load, ast.UnaryOp, ast.USub)
        return only if only in self.made and all(isinstance(n, plain) for n in ast.walk(node)) else None


class Foreign(Reading):
    """The text in which a rule of another framework, or a vjp, computes the cotangents of some arguments."""

    def __init__(self, written: Written) -> None:
        source = find_source(written.function.__code__)
        inner = [] if written.depth == 0 else _inner(source.node, written.depth)
        super().__init__(source, (*inner, source.node), written.function)
        self.written, self.answering = written, inner or [source.node]

    def returned(self) -> list[ast.expr]:
        return [node for scope in self.answering for node in returns_of(scope)]

    def values(self) -> list[ast.expr]:
        pairs = [v for v in returns_of(self.source.node) if isinstance(v, ast.Tuple) and len(v.elts) == 2]
        return [pair.elts[0] for pair in pairs] if self.written.depth == 2 else []

    def bars(self) -> list[str]:
        names = [[a.arg for a in scope.args.args] for scope in self.answering]
        return list(dict.fromkeys(row[-1] for row in names if row)) or [""]

    def cotangents_of(self, argument: str | None) -> list[ast.expr]:
        root = argument.split(".")[0].split("[")[0] if argument else None
        positions = [at for name, at in self.written.positions if root in (None, name)]
        found: list[ast.expr] = []
        for node in self.returned():
            whole = isinstance(node, (ast.Tuple, ast.List)) and len(self.written.positions) >= 1
            if whole and not self.written.alone:
                found += [node.elts[at] for at in positions if at < len(node.elts)]  # type: ignore[attr-defined]
            elif positions:
                found.append(node)
        return found


def _is_called_after(name: str, argument: str | None) -> bool:
    """Whether a variable is named like the cotangent of an argument."""
    root = (argument or "").split(".")[0].split("[")[0]
    return bool(root) and root in name


def _starts(node: Any) -> bool:
    """Whether a statement assigns a starting value."""
    return isinstance(node.value, ast.Constant)


def _has_sign(node: ast.expr) -> bool:
    """Whether an expression has a minus, which may then be the mistake."""
    return any(isinstance(part, ast.USub) for part in ast.walk(node))


def _inner(node: Any, depth: int) -> list[Any]:
    """The functions that a function returns, alone (depth 1) or as the second of two values (depth 2)."""
    found: list[Any] = []
    for value in returns_of(node):
        if depth == 2 and isinstance(value, ast.Tuple) and len(value.elts) == 2:
            value = value.elts[1]
        if isinstance(value, ast.Lambda):
            found.append(value)
        elif isinstance(value, ast.Name):
            named = (n for n in own_nodes(node) if isinstance(n, (ast.FunctionDef, ast.Assign)))
            for made in named:
                if isinstance(made, ast.FunctionDef) and made.name == value.id:
                    found.append(made)
                elif isinstance(made, ast.Assign) and isinstance(made.value, ast.Lambda):
                    if any(isinstance(t, ast.Name) and t.id == value.id for t in made.targets):
                        found.append(made.value)
    return found


def readings(subject: Subject) -> Iterator[Foreign]:
    """The texts of a subject whose rule is not one of rulelab's, as far as they can be read."""
    for written in subject.written:
        try:
            yield Foreign(written)
        except (RuleLabError, AttributeError, TypeError):
            continue


def place_elsewhere(subject: Subject, seen: list[Explanation]) -> Place | None:
    """The line of a mistake in the text of another framework's rule."""
    roots = {(one.argument or "").split(".")[0].split("[")[0] for one in seen}
    for reading in readings(subject):
        if roots == {""} or roots & {name for name, _ in reading.written.positions}:
            place = reading.place_of(seen)
            if place is not None:
                return place
    return None
