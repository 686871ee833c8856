"""The parts of a rule's text: what it computes first, its pullback, and the cotangent of each argument."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
from collections.abc import Iterable, Sequence

from ..errors import ExportError
from ..parsing import cloned, nodes_of
from .pieces import Piece


class Text:
    """A function that was gathered: its tree, and refusals that name one of its lines."""

    def __init__(self, piece: Piece):
        self.piece, self.name = piece, piece.name
        tree = piece.tree
        if not isinstance(tree, ast.FunctionDef) or tree.decorator_list:
            what = "has a decorator" if isinstance(tree, ast.FunctionDef) else "is not a function"
            raise ExportError(f"{piece.name} {what}, which has no counterpart", place=piece.place())
        self.tree: ast.FunctionDef = tree

    def refusal(self, node: ast.AST, why: str, fixes: Sequence[str] = ()) -> ExportError:
        """The error that names the line of a node."""
        return ExportError(why, place=self.piece.place(node), fixes=fixes)


@dataclasses.dataclass(frozen=True)
class Parameters:
    """The parameters of a function: the positional ones and the keyword-only ones."""

    positional: tuple[str, ...]
    keyword: tuple[str, ...]
    defaults: dict[str, ast.expr]
    annotations: dict[str, str]

    @classmethod
    def of(cls, text: Text) -> Parameters:
        """The parameters of a text; ExportError if it takes any number of them."""
        given = text.tree.args
        for rest in (given.vararg, given.kwarg):
            if rest is not None:
                raise text.refusal(rest, f"{text.name} takes any number of arguments")
        plain = [*given.posonlyargs, *given.args]
        defaults = dict(zip([p.arg for p in plain][len(plain) - len(given.defaults) :], given.defaults))
        defaults |= {p.arg: d for p, d in zip(given.kwonlyargs, given.kw_defaults) if d is not None}
        annotations = {p.arg: ast.unparse(p.annotation) for p in [*plain, *given.kwonlyargs] if p.annotation}
        return cls(tuple(p.arg for p in plain), tuple(p.arg for p in given.kwonlyargs), defaults, annotations)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.positional, *self.keyword)


@dataclasses.dataclass(frozen=True)
class ReverseRule:
    """An rrule in its parts. `returned` has an entry for each positional parameter, None for no cotangent."""

    text: Text
    parameters: Parameters
    before: tuple[ast.stmt, ...]
    value: ast.expr
    pullback: ast.FunctionDef
    seed: str
    returned: tuple[ast.expr | None, ...]

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the pullback before it returns."""
        return self.pullback.body[:-1]


@dataclasses.dataclass(frozen=True)
class ForwardRule:
    """An frule in its parts: the names of the tangents, the value and its tangent."""

    text: Text
    parameters: Parameters
    tangents: tuple[str, ...]
    before: tuple[ast.stmt, ...]
    value: ast.expr
    tangent: ast.expr


def reverse_rule(text: Text, is_zero) -> ReverseRule:
    """The parts of an rrule; `is_zero` tells whether an expression means that there is no cotangent."""
    parameters = Parameters.of(text)
    *before, last = without_docstring(text.tree.body) or [ast.Pass()]
    inner = {s.name: s for s in before if isinstance(s, ast.FunctionDef)}
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple) and len(last.value.elts) == 2):
        raise text.refusal(last, f"{text.name} does not end with `return value, pullback`")
    value, named = last.value.elts
    if isinstance(named, ast.Lambda):
        pullback = ast.FunctionDef(
            f"{text.name}_pullback", named.args, [ast.copy_location(ast.Return(named.body), named.body)], []
        )
        ast.copy_location(pullback, named)
    elif isinstance(named, ast.Name) and named.id in inner:
        pullback = inner[named.id]
    else:
        raise text.refusal(named, f"the pullback that {text.name} returns is not a function written in it")
    others = [s for s in before if s is not pullback]
    for statement in others:
        for node in nodes_of(statement):
            if isinstance(node, (ast.Return, ast.FunctionDef, ast.Lambda)) and not _is_thunk(node):
                if not isinstance(node, ast.Lambda):
                    raise text.refusal(
                        node, f"{text.name} has a function or a `return` besides the last ones"
                    )
    seeds = [*pullback.args.posonlyargs, *pullback.args.args]
    if len(seeds) != 1 or pullback.args.vararg or pullback.args.kwonlyargs:
        raise text.refusal(pullback, f"{pullback.name} must take one argument, the cotangent of the value")
    body = without_docstring(pullback.body)
    for statement in body[:-1]:
        for node in nodes_of(statement):
            if isinstance(node, (ast.Return, ast.FunctionDef, ast.Nonlocal)):
                raise text.refusal(
                    node, f"{pullback.name} has a `return` or a `def` within, or rebinds names"
                )
    end = body[-1]
    if not (isinstance(end, ast.Return) and isinstance(end.value, ast.Tuple)):
        raise text.refusal(
            end, f"{pullback.name} does not end with `return` and a cotangent for each argument"
        )
    entries = end.value.elts
    if starred := next((e for e in entries if isinstance(e, ast.Starred)), None):
        raise text.refusal(starred, "cotangents are not written out one by one")
    if len(entries) != 1 + len(parameters.positional) or not is_zero(entries[0]):
        raise text.refusal(
            end,
            f"{pullback.name} must return NoTangent() for the function, then one cotangent for each argument",
        )
    pullback = ast.copy_location(ast.FunctionDef(pullback.name, pullback.args, body, [], None), pullback)
    returned = tuple(None if is_zero(e) else e for e in entries[1:])
    return ReverseRule(text, parameters, tuple(others), value, pullback, seeds[0].arg, returned)


def forward_rule(text: Text) -> ForwardRule:
    """The parts of an frule whose tangents are unpacked in one line, or read by constant index."""
    whole = Parameters.of(text)
    if not whole.positional:
        raise text.refusal(text.tree, f"{text.name} must take the tangents first")
    first = whole.positional[0]
    text = _unpacking(text, first, whole)
    parameters = dataclasses.replace(whole, positional=whole.positional[1:])
    *before, last = without_docstring(text.tree.body) or [ast.Pass()]
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple) and len(last.value.elts) == 2):
        raise text.refusal(last, f"{text.name} does not end with `return value, tangent`")
    unpacked = [s for s in before if _unpacks(s, first)]
    if len(unpacked) != 1:
        raise text.refusal(
            text.tree, f"{text.name} does not unpack {first} in one line: `_, x_dot = {first}`"
        )
    targets = unpacked[0].targets[0].elts  # type: ignore[attr-defined]  # checked by `_unpacks`
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    if not len(names) == len(targets) == 1 + len(parameters.positional):
        raise text.refusal(
            unpacked[0],
            f"{first} must be unpacked into the tangent of the function, then one for each argument",
        )
    others = tuple(s for s in before if s is not unpacked[0])
    for node in [n for part in (*others, last.value) for n in nodes_of(part)]:
        if isinstance(node, (ast.Return, ast.FunctionDef)) or (
            isinstance(node, ast.Name) and node.id == first
        ):
            raise text.refusal(node, f"{text.name} has a function, a `return` or {first} elsewhere")
    return ForwardRule(text, parameters, tuple(names[1:]), others, *last.value.elts)


def _unpacking(text: Text, first: str, parameters: Parameters) -> Text:
    """The text with the tangents unpacked in its first line, if it reads them only by constant index, as in
    `dots[1]`; else the text unchanged.
    """
    tree = cloned(text.tree)
    count = len(parameters.positional)
    reads = {
        id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and _numbered(n, first, count)
    }
    every = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == first]
    if not reads or {id(n) for n in every} != reads:
        return text
    taken = {*parameters.names, *(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))}
    dots: list[str] = []
    for name in parameters.positional:
        dots.append(f"{name}_dot")
        while dots[-1] in taken or dots[-1] in dots[:-1]:
            dots[-1] += "_"
    tree = _Named(first, dots).visit(tree)
    line = ast.Assign(
        [ast.Tuple([ast.Name(dot, ast.Store()) for dot in dots], ast.Store())], ast.Name(first, ast.Load())
    )
    tree.body.insert(
        len(tree.body) - len(without_docstring(tree.body)), ast.copy_location(line, tree.body[0])
    )
    named = copy.copy(text)
    named.tree = ast.fix_missing_locations(tree)
    return named


class _Named(ast.NodeTransformer):
    """Writes the name of a tangent where the tangent is read by its index."""

    def __init__(self, first: str, dots: Sequence[str]):
        self.first, self.dots = first, dots

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if _numbered(node, self.first, len(self.dots)):
            return ast.copy_location(ast.Name(self.dots[_number(node.slice)], ast.Load()), node)  # type: ignore[index]
        return self.generic_visit(node)


def _numbered(node: ast.Subscript, first: str, count: int) -> bool:
    """Whether a subscript reads the tangent of an argument by a constant index."""
    if not (isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == first):
        return False
    number = _number(node.slice)
    return number is not None and (0 < number < count or -count < number < 0)


def _number(node: ast.expr) -> int | None:
    """The integer that an index is written as; None for any other index."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    digits = node.operand if negative else node  # type: ignore[attr-defined]
    if not (isinstance(digits, ast.Constant) and type(digits.value) is int):
        return None
    return -digits.value if negative else digits.value


def _unpacks(statement: ast.stmt, name: str) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Name)
        and statement.value.id == name
        and isinstance(statement.targets[0], ast.Tuple)
    )


def _is_thunk(node: ast.AST) -> bool:
    return isinstance(node, ast.Lambda) and not node.args.args


def without_docstring(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function without its docstring."""
    first = body[0] if body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return list(body[1:] if is_text else body)


# --- what statements read and write -------------------------------------------------------------------------


def read(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are read in the given trees."""
    return {
        n.id
        for tree in nodes
        for n in nodes_of(tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def written(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are bound or mutated: by assignments, loops, element writes, and calls for their
    effect.
    """
    found: set[str] = set()
    for tree in nodes:
        for node in nodes_of(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                found |= {base.id for base in [root(node)] if base is not None}
            elif isinstance(node, ast.AugAssign):
                found |= {base.id for base in [root(node.target)] if base is not None}
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                base = root(_changed_by(node.value))
                found |= {base.id} if base is not None else set()
    return found


def _changed_by(call: ast.Call) -> ast.AST:
    """What a call statement changes: its object, as in `out.append(x)`, or else its first argument."""
    func = call.func
    if isinstance(func, ast.Attribute) and (func.attr in _CHANGING or not call.args):
        return func.value
    return call.args[0] if call.args else func


def _sharing(statements: Sequence[ast.stmt]) -> dict[str, set[str]]:
    """For each name, the other names whose array it may be or may be a part of: all names it is made from."""
    found: dict[str, set[str]] = {}
    for node in [n for s in statements for n in nodes_of(s)]:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            if not isinstance(node.value, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant)):
                for name in written([node]):
                    found.setdefault(name, set()).update(read([node.value]))
        elif isinstance(node, ast.For):
            for name in written([node.target]):
                found.setdefault(name, set()).update(read([node.iter]))
    return found


def _may_change(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a call in a statement may write into an array that it receives under one of these names."""
    for node in nodes_of(statement):
        if not isinstance(node, ast.Call):
            continue
        handed = [*node.args, *[k.value for k in node.keywords]]
        if not any(isinstance(x, ast.Name) and x.id in names for x in handed):
            continue
        of_author = isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id)
        if of_author or isinstance(statement, ast.Expr) or any(k.arg == "out" for k in node.keywords):
            return True
    return False


_CHANGING = {
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "update",
    "setdefault",
    "clear",
    "sort",
    "reverse",
    "fill",
    "put",
}


def root(node: ast.AST) -> ast.Name | None:
    """The name that an element, an attribute or a method belongs to; None if there is no such name."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def needed(statements: Sequence[ast.stmt], wanted: set[str], given: Iterable[str] = ()) -> list[ast.stmt]:
    """The statements that the names in `wanted` depend on, in order; what is `given` is known without
    them.
    """
    given = set(given)
    open_names, kept = wanted - given, []
    own, sharing = written(statements), _sharing(statements)
    for statement in reversed(statements):
        changed = set(written([statement]))
        # Only names bound in these statements count: an argument, for instance, is not written into.
        while more := {other for name in changed for other in sharing.get(name, ())} & own - changed:
            changed |= more
        if changed & open_names or _may_change(statement, open_names & own):
            kept.append(statement)
            open_names |= read([statement]) - given
    return kept[::-1]
