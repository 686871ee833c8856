"""Rewrites statements that add several items to a list or dict: the new ones add one item at a time.

`xs.extend(v * v for v in ys)` becomes `for item in (v * v for v in ys): xs.append(item)`: Python does the
same, in the same order. Left as a call, it would be passed a generator, each of whose items is a call that is
resolved at run time. `xs += …` is rewritten likewise, and `d.update(…)` becomes `d[key] = value` for each
pair.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from typing import Any

from ..base.copying import shallow
from .bindings import named_by
from .consumers import is_side_effect_free
from .making import assign, made, variable

_MOST = 16  # items of a display; each becomes a statement
_KINDS: dict[type, type] = {ast.List: list, ast.ListComp: list, ast.Dict: dict, ast.DictComp: dict}
_STAYING = (ast.List, ast.ListComp, ast.Tuple, ast.GeneratorExp)  # `xs += …` of these leaves a list a list
_ACTING = (ast.Call, ast.NamedExpr, ast.Await)

_APPENDED = "for item in items: grown.append(item)"
_PUT_IN = "for key, value in items: grown[key] = value"


class Growing:
    """The variables of a function that certainly refer to lists or dicts that it has made.

    Such a variable is assigned only displays and comprehensions, the first time by a statement that every
    call runs.
    """

    def __init__(self, nodes: list[Any], body: Any, name: Callable[[str], str]) -> None:
        """`nodes` are all nodes of the function, `body` the statements that every call runs."""
        self._name = name
        self._since: dict[tuple[str, type], tuple[int, int]] = {}  # in the order of the source
        makers = {id(target): (target, kind) for target, kind in _made_by(nodes)}
        kinds: dict[str, set[type]] = {}
        for target, kind in makers.values():
            kinds.setdefault(target.id, set()).add(kind)
        others = set(_bound_otherwise(nodes, makers))
        for target, kind in _made_by(body):
            if kinds[target.id] == {kind} and target.id not in others:
                self._since.setdefault((target.id, kind), _place(target))

    def statements(self, node: ast.stmt) -> list[ast.stmt] | None:
        """The statements that add the items one by one, in place of a statement that adds several to such a
        variable; None for any other statement.
        """
        if isinstance(node, ast.Assign):
            return self._listed(node)
        target, items, words = _grown(node)
        if target is not None and self._is(list, target) and items is not None and not words:
            return self._appended(target.id, items, node)
        if target is not None and self._is(dict, target) and isinstance(node, ast.Expr):
            return self._put_in(target.id, items, words, node)
        return None

    def is_list(self, target: ast.Name) -> bool:
        """Whether a variable certainly refers to such a list where it stands."""
        return self._is(list, target)

    def _is(self, kind: type, target: ast.Name) -> bool:
        since = self._since.get((target.id, kind))
        return since is not None and since < _place(target)

    def _listed(self, node: ast.Assign) -> list[ast.stmt] | None:
        """`xs[a:b] = …` with a list in place of a generator: Python too makes a list before it writes."""
        (target,) = node.targets
        assert isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
        bounds = (target.slice.lower, target.slice.upper, target.slice.step)
        if not isinstance(target.value, ast.Name) or not self._is(list, target.value):
            return None
        if not all(bound is None or is_side_effect_free(bound) for bound in bounds) or _acts(node.value):
            return None
        new = shallow(node)
        new.value = ast.copy_location(ast.ListComp(node.value.elt, node.value.generators), node.value)  # type: ignore[attr-defined]
        return [new]

    def _appended(self, grown: str, items: ast.expr, node: ast.stmt) -> list[ast.stmt] | None:
        if isinstance(items, (ast.List, ast.Tuple)) and _is_short(items.elts):
            names = [self._name("item") for _ in items.elts]
            return [
                *map(assign, names, items.elts, items.elts),
                *(s for name in names for s in made("grown.append(item)", node, grown=grown, item=name)),
            ]
        if isinstance(items, ast.ListComp):  # which is complete before its first item is appended
            whole = self._name("items")
            parts = {"grown": grown, "item": self._name("item"), "items": variable(whole, items)}
            return [assign(whole, items, items), *made(_APPENDED, node, **parts)]
        if isinstance(items, ast.GeneratorExp):
            return _looped(_APPENDED, node, grown=grown, item=self._name("item"), items=items)
        return None

    def _put_in(
        self, grown: str, items: ast.expr | None, words: list[ast.keyword], node: ast.stmt
    ) -> list[ast.stmt] | None:
        if isinstance(items, ast.GeneratorExp) and not words:
            pair = items.elt.elts if isinstance(items.elt, ast.Tuple) else []
            if len(pair) != 2 or not _is_short(pair):
                return None
            names = {"key": self._name("key"), "value": self._name("value")}
            return _looped(_PUT_IN, node, grown=grown, items=items, **names)
        entries = _entries(items, words)
        if entries is None or not _is_short([value for _, value in entries]):
            return None
        named = [(self._name("item"), key, value) for key, value in entries]
        return [
            *(assign(name, value, value) for name, _, value in named),
            *(
                s
                for name, key, _ in named
                for s in made("grown[key] = item", node, grown=grown, key=key, item=name)
            ),
        ]


def _acts(items: Any) -> bool:
    """Whether making the items of a generator expression may end it, or change the list or the bounds, which
    Python looks at before the first of them.
    """
    first, *others = items.generators
    lazy = [items.elt, *first.ifs, *others]
    return any(isinstance(n, _ACTING) for part in lazy for n in ast.walk(part)) or any(
        isinstance(n, (ast.GeneratorExp, ast.Lambda, ast.NamedExpr)) for n in ast.walk(first.iter)
    )


def _looped(text: str, at: ast.stmt, **parts: Any) -> list[ast.stmt]:
    statements = made(text, at, **parts)
    for loop in statements:
        loop.generates = True  # type: ignore[attr-defined]
    return statements


def generates(loop: ast.For) -> bool:
    """Whether a loop was made here from a generator expression: its block has no code of the author's."""
    return getattr(loop, "generates", False)


def may_grow(node: ast.stmt) -> bool:
    """Whether a statement may be one that `Growing` rewrites, judged by its form only."""
    if isinstance(node, ast.Assign):
        (first, *others) = node.targets
        sliced = isinstance(first, ast.Subscript) and isinstance(first.slice, ast.Slice)
        return sliced and not others and isinstance(node.value, ast.GeneratorExp)
    target, items, _ = _grown(node)
    return target is not None and (isinstance(node, ast.Expr) or isinstance(items, _STAYING))


def _entries(items: ast.expr | None, words: list[ast.keyword]) -> list[tuple[ast.expr, ast.expr]] | None:
    """The keys and values of an update by keywords, or by a display with constant keys; None for others."""
    if items is None:
        keys = [ast.copy_location(ast.Constant(word.arg), word) for word in words]
        return None if None in [word.arg for word in words] else list(zip(keys, [w.value for w in words]))
    if words or not isinstance(items, ast.Dict) or not all(isinstance(k, ast.Constant) for k in items.keys):
        return None
    return list(zip(items.keys, items.values))  # type: ignore[arg-type]


def _grown(node: ast.stmt) -> tuple[ast.Name | None, ast.expr | None, list[ast.keyword]]:
    """The variable to which a statement may add items, the items, and the entries passed as keywords."""
    if isinstance(node, ast.AugAssign):
        is_sum = isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add)
        return (node.target if is_sum else None), node.value, []  # type: ignore[return-value]
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) > 1:
        return None, None, []
    owner = call.func.value
    if not isinstance(owner, ast.Name) or call.func.attr not in ("extend", "update"):
        return None, None, []
    return owner, call.args[0] if call.args else None, call.keywords


def _made_by(nodes: list[ast.stmt]) -> Iterator[tuple[ast.Name, type]]:
    """The variables to which assignments among these nodes assign a new list or dict, and which it is."""
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from _pairs(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _pairs(node.target, node.value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, type]]:
    if isinstance(target, ast.Name) and type(value) in _KINDS:
        yield target, _KINDS[type(value)]
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        starred = any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts))
        if not starred and len(target.elts) == len(value.elts):
            for inner, part in zip(target.elts, value.elts, strict=True):
                yield from _pairs(inner, part)


def _bound_otherwise(nodes: list[Any], makers: Container[int]) -> Iterator[str]:
    """The names bound in a function, or in one inside it, other than by the targets whose ids are `makers`
    and by `+=` that leaves a list a list.
    """
    sums = [n for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add)]
    staying = {id(each.target) for each in sums if isinstance(each.value, _STAYING)}
    for part in nodes:
        if isinstance(part, ast.Name):
            if not isinstance(part.ctx, ast.Load) and id(part) not in makers and id(part) not in staying:
                yield part.id
        elif isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            yield from part.names
        elif (name := named_by(part)) is not None:
            yield name


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _is_short(items: list[ast.expr]) -> bool:
    return len(items) <= _MOST and not any(isinstance(item, ast.Starred) for item in items)
