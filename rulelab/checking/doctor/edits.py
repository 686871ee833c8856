"""Small changes of a rule's syntax tree, and of its text: what an author may have meant to write."""

from __future__ import annotations

import ast
import copy
import itertools
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...parsing import compiled, parse

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Edit:
    """One expression of a rule's text and what to write in its place; `+=` and `-=` are statements.

    `mistake` is what it puts right, by name, and `words` what is said of it; both empty where the numbers
    have to tell.
    """

    old: ast.expr | ast.stmt
    new: ast.expr | ast.stmt
    mistake: str = ""
    words: str = ""


def replaced(lines: list[str], old: ast.expr | ast.stmt, text: str) -> list[str]:
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before = lines[first].encode()[: old.col_offset].decode()
    after = lines[last].encode()[old.end_col_offset :].decode()
    return [*lines[:first], before + text + after, *lines[last + 1 :]]


def dump_of(lines: list[str], node: Any, fewer: int) -> str:
    """The tree of a function after its text was changed; empty where that is no Python any more."""
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
    """The same of a function that shares its lines with others, such as a lambda among arguments."""
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
    memo: dict[int, Any] = {id(edit.old): copy.deepcopy(edit.new) for edit in edits}
    return copy.deepcopy(tree, memo)


def code_of(tree: Any, like: types.CodeType) -> types.CodeType | None:
    """The code of a function or a lambda from its tree alone, its free names as cells of those that are.

    The tree is used up.
    """
    if isinstance(tree, ast.Lambda):
        inner: Any = ast.Expr(tree)
    else:
        tree.decorator_list, inner = [], tree
    binders = [ast.arg(name) for name in like.co_freevars]
    arguments = ast.arguments([], binders, None, [], [], None, [])
    outer = ast.FunctionDef("around", arguments, [inner], [], None)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compiled(module, f"<corrected rule {next(_numbers)}>")
    (around,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    inside = [c for c in around.co_consts if isinstance(c, types.CodeType) and c.co_name == like.co_name]
    return inside[0] if len(inside) == 1 else None


def left_out(within: ast.expr) -> Iterator[Edit]:
    """A sign or a factor left out, which reads better than another one to make up for it."""
    for node in ast.walk(within):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Edit(node, node.operand, "sign", _instead(node.operand, node))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            yield Edit(node, node.left, "factor", _instead(node.left, node))
            if isinstance(node.op, ast.Mult):
                yield Edit(node, node.right, "factor", _instead(node.right, node))


def conjugates_left_out(sites: Iterable[Any]) -> Iterator[Edit]:
    """Without one of its conjugates, which reads better than a second one around it."""
    for node in (n for site in sites for n in ast.walk(site) if isinstance(n, ast.Call) and len(n.args) == 1):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("conj", "conjugate"):
            yield Edit(node, node.args[0], "conjugate", _instead(node.args[0], node))


def is_stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.MatMult, ast.Add),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
}
OTHER_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OTHER_FUNCTIONS = {
    "sin": ("cos",), "cos": ("sin",), "sinh": ("cosh",), "cosh": ("sinh",), "sum": ("mean",),
    "mean": ("sum",), "max": ("min",), "min": ("max",), "argmax": ("argmin",), "argmin": ("argmax",),
    "log": ("exp",), "exp": ("log",), "cumsum": ("cumprod",), "floor": ("ceil",),
    "tril": ("triu",), "triu": ("tril",), "maximum": ("minimum",), "minimum": ("maximum",),
}  # fmt: skip
_OF_FUNCTIONS = {
    ("mean", "sum"): "mean_for_sum", ("sum", "mean"): "sum_for_mean", ("triu", "tril"): "triangle",
    ("tril", "triu"): "triangle", ("argmin", "argmax"): "wrong_element",
    ("argmax", "argmin"): "wrong_element",
}  # fmt: skip
_OF_OPERATORS: dict[tuple[type, type], str] = {
    (ast.Add, ast.Sub): "sign", (ast.Sub, ast.Add): "sign", (ast.Mult, ast.MatMult): "elementwise_product",
    (ast.MatMult, ast.Mult): "matrix_product",
}  # fmt: skip


def _instead(new: ast.AST, old: ast.AST) -> str:
    return f"has `{ast.unparse(old)}` where `{ast.unparse(new)}` belongs"


def other_operators(node: ast.BinOp) -> Iterator[Edit]:
    """Another operator, the operands exchanged, or one of them alone."""

    def made(new: ast.expr, mistake: str) -> Edit:
        return Edit(node, new, mistake, _instead(new, node))

    one_more = isinstance(node.right, ast.Constant) and node.right.value == 1
    if one_more and isinstance(node.op, (ast.Add, ast.Sub)):
        yield made(node.left, "off_by_one")
    if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        number: Any = node.right.value
        for value in (number + 1, number - 1) if isinstance(number, (int, float)) else ():
            yield made(ast.BinOp(node.left, node.op, ast.Constant(value)), "power")
    elif isinstance(node.op, ast.Pow):
        for step in (ast.Sub(), ast.Add()):
            exponent = ast.BinOp(node.right, step, ast.Constant(1))
            yield made(ast.BinOp(node.left, node.op, exponent), "power")
    for operator in OTHER_OPERATORS.get(type(node.op), ()):
        mistake = _OF_OPERATORS.get((type(node.op), operator), "factor")
        yield made(ast.BinOp(node.left, operator(), node.right), mistake)
    if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult, ast.Pow)):
        mistake = {ast.Sub: "sign", ast.MatMult: "transposed"}.get(type(node.op), "factor")
        yield made(ast.BinOp(node.right, node.op, node.left), mistake)
    if isinstance(node.op, (ast.Mult, ast.Add, ast.Sub, ast.Div, ast.Pow)):
        added = isinstance(node.op, (ast.Add, ast.Sub))
        mistake = "extra_term" if added else "power" if isinstance(node.op, ast.Pow) else "factor"
        yield made(node.left, mistake)
        if not isinstance(node.op, ast.Pow):
            yield made(node.right, mistake)


_LOOSER: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult, ast.Div, ast.Pow), ast.Sub: (ast.Sub, ast.Mult, ast.Div, ast.Pow),
    ast.Mult: (ast.Div, ast.Pow, ast.Add, ast.Sub), ast.Div: (ast.Div, ast.Pow, ast.Add, ast.Sub),
}  # fmt: skip
"""Beside which operators parentheses are what makes an operator come first."""


def regrouped(node: ast.BinOp) -> Iterator[Edit]:
    """The same with other parentheses: `a / (b - c)` for `a / b - c`, `(a + b) * c` for `a + b * c`."""
    first, last = node.left, node.right
    if isinstance(first, ast.BinOp) and isinstance(first.op, _LOOSER.get(type(node.op), ())):
        new = ast.BinOp(first.left, first.op, ast.BinOp(first.right, node.op, last))
        yield Edit(node, new, "parentheses", f"has other parentheses: {_instead(new, node)}")
    if isinstance(last, ast.BinOp) and isinstance(last.op, _LOOSER.get(type(node.op), ())):
        new = ast.BinOp(ast.BinOp(first, node.op, last.left), last.op, last.right)
        yield Edit(node, new, "parentheses", f"has other parentheses: {_instead(new, node)}")


def other_numbers(node: ast.Constant, marks: Iterable[float], sizes: Iterable[ast.expr]) -> Iterator[Edit]:
    """A number a little larger or smaller, one that stands in the function, or a length."""
    number: Any = node.value
    for value in (number + 1, number - 1):
        new = ast.Constant(value)
        yield Edit(node, new, "off_by_one" if type(number) is int else "factor", _instead(new, node))
    for value in dict.fromkeys((2 * number, -number, number / 2, *marks)):
        new = ast.Constant(value)
        yield Edit(node, new, "sign" if value == -number else "factor", _instead(new, node))
    for size in sizes:
        yield Edit(node, size, "size", f"is made for one size: {_instead(size, node)}")


def other_comparisons(node: ast.Compare, marks: Iterable[float]) -> Iterator[Edit]:
    """The comparison the other way round, or with another number of the function."""
    (right,), (op,) = node.comparators, node.ops
    for operator in OTHER_COMPARISONS:
        if not isinstance(op, operator):
            new = ast.Compare(node.left, [operator()], [right])
            yield Edit(node, new, "branch", _instead(new, node))
    for mark in marks if isinstance(right, ast.Constant) else ():
        new = ast.Compare(node.left, [op], [ast.Constant(mark)])
        yield Edit(node, new, "branch", _instead(new, node))


def other_slices(node: ast.Slice) -> Iterator[Edit]:
    """The part of an array that lies one further on, or one before."""
    one, minus = ast.Constant(1), ast.UnaryOp(ast.USub(), ast.Constant(1))
    two, less = ast.Constant(2), ast.UnaryOp(ast.USub(), ast.Constant(2))
    for lower, upper in ((one, None), (None, minus), (one, minus), (two, None), (None, less)):
        new = ast.Slice(lower, upper, None)
        if node.step is None and ast.dump(new) != ast.dump(node):
            yield Edit(node, new, "off_by_one", f"is off by one: {_instead(new, node)}")


def other_updates(node: ast.AugAssign) -> Iterator[Edit]:
    """`-=` for `+=`, and the other way round."""
    other = {ast.Add: ast.Sub, ast.Sub: ast.Add}.get(type(node.op))
    if other is not None:
        new = ast.AugAssign(node.target, other(), node.value)
        yield Edit(node, new, "sign", _instead(new, node))


def other_calls(node: ast.Call) -> Iterator[Edit]:
    """Another function of the same owner, another axis, the arguments exchanged, or one alone."""
    called = node.func

    def made(new: ast.expr, mistake: str) -> Edit:
        return Edit(node, new, mistake, _instead(new, node))

    if isinstance(called, ast.Attribute):
        for name in _OTHER_FUNCTIONS.get(called.attr, ()):
            new = ast.Call(ast.Attribute(called.value, name, ast.Load()), node.args, node.keywords)
            yield made(new, _OF_FUNCTIONS.get((called.attr, name), "other_function"))
        if called.attr in ("conj", "conjugate") and not node.args:
            yield made(called.value, "conjugate")
        if called.attr in ("cumsum", "cumprod") and len(node.args) == 1:
            backwards = ast.Call(called, [_reversed(node.args[0])], node.keywords)
            yield made(_reversed(backwards), "off_by_one")
    for keyword in node.keywords:
        if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant):
            for axis in {0, 1, -1} - {keyword.value.value}:
                others = [k for k in node.keywords if k is not keyword]
                new = ast.Call(called, node.args, [*others, ast.keyword("axis", ast.Constant(axis))])
                yield made(new, "wrong_axis")
    if isinstance(called, ast.Attribute) and called.attr in _REDUCING:
        yield from (made(new, "wrong_axis") for new in _along(node))
    if len(node.args) == 1 and not node.keywords:
        conj = isinstance(called, ast.Attribute) and called.attr in ("conj", "conjugate")
        yield made(node.args[0], "conjugate" if conj else "other_function")
    if len(node.args) >= 2:
        first, second, *rest = node.args
        branch = isinstance(called, ast.Attribute) and called.attr == "where" and len(rest) == 1
        args = [first, rest[0], second] if branch else [second, first, *rest]
        yield made(ast.Call(called, args, node.keywords), "branch" if branch else "transposed")


def _reversed(node: ast.expr) -> ast.expr:
    step = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
    return ast.Subscript(node, step, ast.Load())


_REDUCING = frozenset(("sum", "mean", "max", "min", "prod", "amax", "amin", "norm"))


def _along(node: ast.Call) -> Iterator[ast.expr]:
    """A sum over one axis where it goes over all; with its axis kept, or dropped."""
    names = [keyword.arg for keyword in node.keywords]
    keep = ast.keyword("keepdims", ast.Constant(True))
    if "axis" not in names and not names:
        for axis in (-1, 0, 1):
            along = ast.keyword("axis", ast.Constant(axis))
            yield ast.Call(node.func, node.args, [along, keep])
            yield ast.Call(node.func, node.args, [along])
    elif "axis" in names:
        others = [keyword for keyword in node.keywords if keyword.arg != "keepdims"]
        yield ast.Call(node.func, node.args, others if "keepdims" in names else [*others, keep])


def unread(function: Any) -> list[str]:
    """The names that a function, or one within it, gives a value and never reads."""
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and is_stored(n)]
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not is_stored(n)}
    return [name for name in dict.fromkeys(stored) if name not in read]


def with_one_more(node: ast.expr, name: str, others: Iterable[str]) -> Iterator[Edit]:
    """An expression and what was computed and never used: less it, and it, times it, divided by it."""
    alone = ast.Name(name, ast.Load())
    terms = [alone, *(ast.BinOp(alone, ast.Mult(), ast.Name(n, ast.Load())) for n in others)]
    for term in terms:
        for operator in (ast.Sub(), ast.Add(), ast.Mult(), ast.Div()):
            if term is not alone and isinstance(operator, (ast.Mult, ast.Div)):
                continue
            new = ast.BinOp(node, operator, term)
            mistake = "factor" if isinstance(operator, (ast.Mult, ast.Div)) else "lacks_term"
            yield Edit(node, new, mistake, f"never uses {name}: {_instead(new, node)}")

def with_term(node: ast.expr, names: Sequence[str]) -> Iterator[Edit]:
    """An expression and the product of some names, or less it."""
    term: ast.expr = ast.Name(names[0], ast.Load())
    for name in names[1:]:
        term = ast.BinOp(term, ast.Mult(), ast.Name(name, ast.Load()))
    for operator in (ast.Add(), ast.Sub()):
        new = ast.BinOp(node, operator, term)
        yield Edit(node, new, "lacks_term", f"lacks a term: {_instead(new, node)}")


def renamed(within: Any, others: Callable[[ast.Name], Iterable[ast.expr]]) -> Iterator[Edit]:
    """Another name for one that an expression has several times, wherever it stands there: who takes the
    value for the argument does so throughout a formula.
    """
    for places in _several(within):
        wanted = set(map(id, places))
        holder = min(
            (n for n in ast.walk(within) if isinstance(n, ast.expr) and wanted <= set(map(id, ast.walk(n)))),
            key=lambda n: sum(1 for _ in ast.walk(n)),
            default=None,
        )
        if holder is None:
            continue
        for other in others(places[0]):
            new = copy.deepcopy(holder, dict.fromkeys(wanted, other))
            words = f"has `{places[0].id}` where `{ast.unparse(other)}` belongs"
            yield Edit(holder, new, "wrong_variable", words)


def _several(within: Any) -> list[list[ast.Name]]:
    """The names that are read more than once in an expression, each with all its places."""
    found: dict[str, list[ast.Name]] = {}
    for node in ast.walk(within):
        if isinstance(node, ast.Name) and not is_stored(node):
            found.setdefault(node.id, []).append(node)
    return [places for places in found.values() if len(places) > 1]


def times(node: ast.expr, factors: Iterable[ast.expr]) -> Iterator[Edit]:
    """An expression with one factor more, or divided by it."""
    for factor in factors:
        for operator in (ast.Mult(), ast.Div()):
            new = ast.BinOp(node, operator, factor)
            yield Edit(node, new, "factor", _instead(new, node))


def matrix_times(node: ast.expr, names: Iterable[str]) -> Iterator[Edit]:
    """An expression times a matrix, from the left or from the right, or its transpose."""
    for name in names:
        plain = ast.Name(name, ast.Load())
        for matrix in (ast.Attribute(plain, "T", ast.Load()), plain):
            for new in (ast.BinOp(node, ast.MatMult(), matrix), ast.BinOp(matrix, ast.MatMult(), node)):
                yield Edit(node, new, "factor", _instead(new, node))


def exchanged(node: ast.Tuple) -> Iterator[Edit]:
    """Two cotangents of a pullback's answer in the place of each other; the first is the function's own."""
    for i, j in itertools.combinations(range(1, len(node.elts)), 2):
        parts = list(node.elts)
        parts[i], parts[j] = parts[j], parts[i]
        new = ast.Tuple(parts, ast.Load())
        yield Edit(node, new, "swapped_arguments", _instead(new, node))
