"""Changes of source code: made in the tree, compiled with the function's closure, and shown in its lines."""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import itertools
import re
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...compiler.base.source import find_source, remember
from ...errors import RuleLabError
from ...parsing import cloned, compiled, nodes_of, parse
from ...tangents.holding import cells_of
from ..calling.subjects import with_inner

_numbers = itertools.count(1)
_CALLS = re.compile(r"[\w)\]]\s*\($")
"""The parenthesis of a call."""


@dataclass(frozen=True)
class Edit:
    """One expression of a rule's code and its replacement; `+=` and `-=` are statements.

    `mistake` is the name of the mistake it corrects, and `words` its description; both are empty where these
    follow from the numbers.
    """

    old: ast.expr | ast.stmt
    new: ast.expr | ast.stmt
    mistake: str = ""
    words: str = ""
    more: tuple[Edit, ...] = ()
    """Edits that belong to it: one mistake in several places."""

    @property
    def all(self) -> tuple[Edit, ...]:
        """The edit and those that belong to it."""
        return (self, *self.more)


def replaced(lines: list[str], old: ast.expr | ast.stmt, text: str, bare: bool = False) -> list[str]:
    """The lines with a text in place of a node; if `bare`, parentheses around the node are replaced, too."""
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before = lines[first].encode()[: old.col_offset].decode()
    after = lines[last].encode()[old.end_col_offset :].decode()
    if bare and before.endswith("(") and after.startswith(")") and not _CALLS.search(before):
        before, after = before[:-1], after[1:]
    return [*lines[:first], before + text + after, *lines[last + 1 :]]


def dump_of(lines: list[str], node: Any, fewer: int) -> str:
    """The dumped tree of a function after its text was changed; empty if that is not valid Python."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    last = (node.end_lineno or node.lineno) - fewer
    text = textwrap.dedent("\n".join(lines[first - 1 : last]))
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        try:
            tree = parse(f"({text.strip()})")
        except (SyntaxError, ValueError):
            return _dump_in_all("\n".join(lines), node)
    for found in ast.walk(tree):
        if type(found) is type(node) and getattr(found, "name", "") == getattr(node, "name", ""):
            return ast.dump(found)
    return ""


def _dump_in_all(text: str, node: Any) -> str:
    """The same for a function that shares its lines with others, such as a lambda among arguments."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        return ""
    place = (type(node), node.lineno, node.col_offset)
    for found in ast.walk(tree):
        if (type(found), getattr(found, "lineno", 0), getattr(found, "col_offset", 0)) == place:
            return ast.dump(found)
    return ""


def with_edits(tree: Any, edits: list[Edit]) -> Any:
    """A copy of a tree with the edits made in it."""
    memo: dict[int, Any] = {id(edit.old): cloned(edit.new) for edit in edits}
    return cloned(tree, memo)


def without_passes(tree: Any, edits: list[Edit]) -> Any:
    """A tree without the `pass` in place of each removed statement, where others are beside it, and with the
    two statements for which a block that always runs stands.
    """
    if any(isinstance(edit.new, ast.Pass) for edit in edits):
        for node in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if isinstance(body, list) and len(body) > 1:
                    setattr(node, name, [one for one in body if not isinstance(one, ast.Pass)])
    if any(is_block(edit.new) for edit in edits):
        for node in ast.walk(tree):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if isinstance(body, list) and not is_block(node):
                    rows = [one.body if is_block(one) else [one] for one in body]
                    setattr(node, name, [one for row in rows for one in row])
    return tree


def as_block(node: ast.stmt, more: ast.stmt) -> ast.If:
    """Two statements as one: a block that always runs."""
    return ast.copy_location(ast.If(ast.Constant(True), [node, more], []), node)


def is_block(node: ast.AST) -> bool:
    """Whether a statement stands for two."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Constant) and len(node.body) == 2


def code_of(tree: Any, like: types.CodeType) -> types.CodeType | None:
    """The code of a function or a lambda compiled from its tree alone, with the free variables of `like` as
    cells.
    """
    if isinstance(tree, ast.Lambda):
        inner: Any = ast.copy_location(ast.Expr(tree), tree)
    else:
        inner = copy.copy(tree)
        inner.decorator_list = []
    binders = [ast.copy_location(ast.arg(name), tree) for name in like.co_freevars]
    arguments = ast.arguments([], binders, None, [], [], None, [])
    outer = ast.copy_location(ast.FunctionDef("around", arguments, [inner], [], None), tree)
    code = compiled(ast.Module([outer], []), f"<corrected rule {next(_numbers)}>")
    (around,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    inside = [c for c in around.co_consts if isinstance(c, types.CodeType) and c.co_name == like.co_name]
    if len(inside) != 1:
        return None
    _share_sources(inside[0], like)
    return inside[0]


def _share_sources(code: types.CodeType, like: types.CodeType) -> None:
    """Give the functions within a changed function, if they are those of the old one, its text: a rule may
    differentiate them, and the changed one has no text.
    """
    known = {old: old for old in with_inner(like)}
    for made in with_inner(code):
        if made in known:
            with contextlib.suppress(RuleLabError):
                remember(made, find_source(known[made]))


def _placed(made: Any, like: Any) -> Any:
    """A node and its children, with the location of another where they have none."""
    for node in nodes_of(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, like)
    return made


def function_of(
    code: types.CodeType | None, old: types.FunctionType, more: dict[str, Any]
) -> types.FunctionType | None:
    """A function with other code, with the globals and closure of the old one and some `more` globals."""
    cells = cells_of(old)
    if code is None or not set(code.co_freevars) <= set(cells):
        return None
    closure = tuple(cells[name] for name in code.co_freevars)
    space = {**old.__globals__, **more} if more else old.__globals__
    made = types.FunctionType(code, space, old.__name__, old.__defaults__, closure)
    made.__kwdefaults__ = old.__kwdefaults__
    return made


class Slots:
    """The parent of each node of a tree, so that a node can be replaced temporarily while the tree is
    compiled.

    To copy the tree for each of a thousand edits would take most of the time of a diagnosis.
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self._of: dict[int, tuple[Any, str, int | None]] = {}
        for node in ast.walk(tree):
            for name, value in ast.iter_fields(node):
                for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                    if isinstance(child, ast.AST):
                        self._of[id(child)] = node, name, at

    def owner(self, node: Any) -> Any:
        """The parent of a node; None for the tree itself."""
        return self._of.get(id(node), (None,))[0]

    @contextlib.contextmanager
    def edited(self, edit: Edit) -> Iterator[Any]:
        """The tree with an edit made in it, until the end of the block."""
        owner, name, at = self._of[id(edit.old)]
        new = _placed(cloned(edit.new), edit.old)  # the new node may contain the parent of the old
        try:
            self._hang(owner, name, at, new)
            yield self.tree
        finally:
            self._hang(owner, name, at, edit.old)

    @staticmethod
    def _hang(owner: Any, name: str, at: int | None, node: Any) -> None:
        if at is None:
            setattr(owner, name, node)
        else:
            getattr(owner, name)[at] = node


def is_stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def instead(new: ast.AST, old: ast.AST) -> str:
    return f"has `{_text_of(old)}` where `{ast.unparse(new)}` belongs"


@functools.lru_cache(maxsize=64)
def _text_of(node: ast.AST) -> str:
    """The source text of a node of a rule; cached, since there may be a hundred changes of it."""
    return ast.unparse(node)


def narrowed(old: ast.AST, new: ast.AST) -> tuple[ast.AST, ast.AST]:
    """The only part in which two expressions differ, in each of them; both unchanged if there are several.

    >>> old, new = (ast.parse(text, mode="eval").body for text in ("a * f(n, b)", "a * f(x.size - 1, b)"))
    >>> [ast.unparse(part) for part in narrowed(old, new)]
    ['n', 'x.size - 1']
    """
    while type(old) is type(new) and isinstance(old, ast.expr):
        parts = [list(ast.iter_child_nodes(node)) for node in (old, new)]
        pairs = [pair for pair in zip(*parts) if ast.dump(pair[0]) != ast.dump(pair[1])]
        if len(parts[0]) != len(parts[1]) or len(pairs) != 1 or not isinstance(pairs[0][0], ast.expr):
            break
        old, new = pairs[0]
    return old, new
