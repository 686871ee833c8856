"""Small changes of a rule's syntax tree: what an author may have intended to write."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...parsing import cloned, parse
from ..reading.anatomy import last_name
from ..reading.editing import Edit, instead, is_stored


def left_out(within: ast.expr) -> Iterator[Edit]:
    """A sign or a factor left out, which reads better than adding one to compensate for it."""
    for node in ast.walk(within):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Edit(node, node.operand, "sign", instead(node.operand, node))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            yield Edit(node, node.left, "factor", instead(node.left, node))
            if isinstance(node.op, ast.Mult):
                yield Edit(node, node.right, "factor", instead(node.right, node))


def casts_left_out(sites: Iterable[Any], names: Sequence[str]) -> Iterator[Edit]:
    """A cast to the dtype of an argument, which may be one of integers, left out."""
    for node in (n for site in sites for n in ast.walk(site) if isinstance(n, ast.Call)):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and len(node.args) == 1:
            if ast.unparse(node.args[0]) in [f"{name}.dtype" for name in names]:
                words = f"casts to the dtype of an argument: {instead(node.func.value, node)}"
                yield Edit(node, node.func.value, "dtype", words)


def conjugates_left_out(sites: Iterable[Any]) -> Iterator[Edit]:
    """A conjugate left out, which reads better than a second one around it."""
    for node in (n for site in sites for n in ast.walk(site) if isinstance(n, ast.Call) and len(n.args) < 2):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("conj", "conjugate"):
            plain = node.args[0] if node.args else node.func.value
            yield Edit(node, plain, "conjugate", instead(plain, node))


OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.MatMult, ast.Add),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
}
OTHER_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)
_OTHER_FUNCTIONS = {
    "sin": ("cos",), "cos": ("sin",), "sinh": ("cosh",), "cosh": ("sinh",), "sum": ("mean",),
    "mean": ("sum",), "max": ("min",), "min": ("max",), "argmax": ("argmin",), "argmin": ("argmax",),
    "log": ("exp", "log10", "log2", "log1p"), "exp": ("log", "expm1"), "log10": ("log", "log2"),
    "log2": ("log", "log10"), "log1p": ("log",), "expm1": ("exp",), "exp2": ("exp",),
    "tanh": ("tan",), "tan": ("tanh",), "std": ("var",), "var": ("std",), "cumsum": ("cumprod",),
    "floor": ("ceil",), "tile": ("repeat",), "repeat": ("tile",),
    "convolve": ("correlate",), "correlate": ("convolve",),
    "deg2rad": ("rad2deg",), "rad2deg": ("deg2rad",), "real": ("imag",), "imag": ("real",),
    "tril": ("triu",), "triu": ("tril",), "maximum": ("minimum",), "minimum": ("maximum",),
}  # fmt: skip
_OF_FUNCTIONS = {
    ("mean", "sum"): "mean_for_sum", ("sum", "mean"): "sum_for_mean", ("triu", "tril"): "triangle",
    ("tril", "triu"): "triangle", ("argmin", "argmax"): "wrong_element",
    ("exp", "expm1"): "lacks_term", ("expm1", "exp"): "extra_term",
    ("argmax", "argmin"): "wrong_element", ("real", "imag"): "conjugate", ("imag", "real"): "conjugate",
}  # fmt: skip
_OF_OPERATORS: dict[tuple[type, type], str] = {
    (ast.Add, ast.Sub): "sign", (ast.Sub, ast.Add): "sign", (ast.Mult, ast.MatMult): "elementwise_product",
    (ast.MatMult, ast.Mult): "matrix_product",
}  # fmt: skip


def other_operators(node: ast.BinOp) -> Iterator[Edit]:
    """Another operator, the operands exchanged, or one of them only."""

    def made(new: ast.expr, mistake: str) -> Edit:
        return Edit(node, new, mistake, instead(new, node))

    one_more = isinstance(node.right, ast.Constant) and node.right.value == 1
    if one_more and isinstance(node.op, (ast.Add, ast.Sub)):
        yield made(node.left, "off_by_one")
    if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        number: Any = node.right.value
        steps = (number + 1, number - 1, number + 2, number - 2) if isinstance(number, (int, float)) else ()
        for value in (step for step in steps if step > 0):  # for a root of a sum of squares it is off by two
            new = node.left if value == 1 else ast.BinOp(node.left, node.op, ast.Constant(value))
            yield made(new, "power")
    elif isinstance(node.op, ast.Pow):
        for step in (ast.Sub(), ast.Add()):
            exponent = ast.BinOp(node.right, step, ast.Constant(1))
            yield made(ast.BinOp(node.left, node.op, exponent), "power")
    for operator in OTHER_OPERATORS.get(type(node.op), ()):
        if operator in (ast.Mult, ast.Div) and _is_exp(node.right):
            continue  # the sign of the exponent is a better correction
        mistake = _OF_OPERATORS.get((type(node.op), operator), "factor")
        yield made(ast.BinOp(node.left, operator(), node.right), mistake)
    if isinstance(node.op, ast.MatMult):
        for side in (node.left, node.right):
            turned = isinstance(side, ast.Attribute) and side.attr == "T"
            new = side.value if turned else ast.Attribute(side, "T", ast.Load())  # type: ignore[attr-defined]
            yield Edit(side, new, "transposed", instead(new, side))
    if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult, ast.Pow)):
        mistake = {ast.Sub: "sign", ast.MatMult: "transposed"}.get(type(node.op), "factor")
        yield made(ast.BinOp(node.right, node.op, node.left), mistake)
    if isinstance(node.op, (ast.Mult, ast.Add, ast.Sub, ast.Div, ast.Pow)):
        added = isinstance(node.op, (ast.Add, ast.Sub))
        mistake = "extra_term" if added else "power" if isinstance(node.op, ast.Pow) else "factor"
        yield made(node.left, mistake)
        if not isinstance(node.op, ast.Pow):
            yield made(node.right, mistake)


def _is_exp(node: ast.expr) -> bool:
    """Whether an expression is the exponential of a difference, or of something with a minus."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "exp" or len(node.args) != 1:
        return False
    inner = node.args[0]
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Mult, ast.Div)):
        inner = chain(inner)[0][0]
    return isinstance(inner, ast.UnaryOp) or (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub))


_LOOSER: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult, ast.Div, ast.Pow), ast.Sub: (ast.Sub, ast.Mult, ast.Div, ast.Pow),
    ast.Mult: (ast.Div, ast.Pow, ast.Add, ast.Sub), ast.Div: (ast.Div, ast.Pow, ast.Add, ast.Sub),
}  # fmt: skip
"""For each operator, the operand's operators that need parentheses to come first."""


def regrouped(node: ast.BinOp) -> Iterator[Edit]:
    """The same with other parentheses: `a / (b - c)` for `a / b - c`, `(a + b) * c` for `a + b * c`."""
    first, last = node.left, node.right
    if isinstance(first, ast.BinOp) and isinstance(first.op, _LOOSER.get(type(node.op), ())):
        new = ast.BinOp(first.left, first.op, ast.BinOp(first.right, node.op, last))
        yield Edit(node, new, "parentheses", f"misplaces parentheses: {instead(new, node)}")
    if isinstance(last, ast.BinOp) and isinstance(last.op, _LOOSER.get(type(node.op), ())):
        new = ast.BinOp(ast.BinOp(first, node.op, last.left), last.op, last.right)
        yield Edit(node, new, "parentheses", f"misplaces parentheses: {instead(new, node)}")


def other_numbers(node: ast.Constant, marks: Iterable[float], sizes: Iterable[ast.expr]) -> Iterator[Edit]:
    """A number a little larger or smaller, a number in the function, or a length."""
    number: Any = node.value
    half = number // 2 if type(number) is int and number % 2 == 0 else number / 2
    for value in (number + 1, number - 1):
        new = _number(value)
        yield Edit(node, new, "off_by_one" if type(number) is int else "factor", instead(new, node))
    for value in dict.fromkeys((2 * number, -number, half, *marks)):
        new = _number(value)
        yield Edit(node, new, "sign" if value == -number else "factor", instead(new, node))
    for size in sizes:
        yield Edit(node, size, "size", f"made for one size: {instead(size, node)}")


def other_constants(node: ast.Constant, wholes: Iterable[ast.expr]) -> Iterator[Edit]:
    """A constant that function or rule write elsewhere with the same number: `np.sqrt(2)` for `2`."""
    for whole in wholes:
        if not any(part is node for part in ast.walk(whole)):
            yield Edit(node, whole, "factor", instead(whole, node))


def negated_tests(node: ast.If | ast.IfExp) -> Iterator[Edit]:
    """The negation of a test that is not a comparison."""
    test = node.test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield Edit(test, test.operand, "branch", instead(test.operand, test))
    elif not isinstance(test, ast.Compare):
        new = ast.UnaryOp(ast.Not(), test)
        yield Edit(test, new, "branch", instead(new, test))


def rolled(node: ast.expr, numpy: str) -> Iterator[Edit]:
    """All elements replaced by their neighbours, for functions that roll arrays."""
    for by in ("1", "-1"):
        new = parse(f"{numpy}.roll({ast.unparse(node)}, {by})", mode="eval").body
        yield Edit(node, new, "off_by_one", f"off by one: {instead(new, node)}")


def solved(node: ast.BinOp, numpy: str) -> Iterator[Edit]:
    """The solution of linear equations in place of a product with their matrix."""
    for matrix in (node.left, ast.Attribute(node.left, "T", ast.Load())):
        linalg = ast.Attribute(ast.Name(numpy, ast.Load()), "linalg", ast.Load())
        new = ast.Call(ast.Attribute(linalg, "solve", ast.Load()), [matrix, node.right], [])
        yield Edit(node, new, "lacks_inverse", instead(new, node))


def _number(value: float) -> ast.expr:
    """A number as it is written: a negative one with a minus before it."""
    plain = ast.Constant(abs(value) if isinstance(value, int) else float(f"{abs(value):.12g}"))
    return ast.UnaryOp(ast.USub(), plain) if value < 0 else plain


def other_comparisons(node: ast.Compare, marks: Iterable[float]) -> Iterator[Edit]:
    """Another operator of a comparison, or another number from the function."""
    (right,), (op,) = node.comparators, node.ops
    is_search = isinstance(op, (ast.In, ast.NotIn))
    for operator in (ast.In, ast.NotIn) if is_search else OTHER_COMPARISONS:
        if not isinstance(op, operator):
            new = ast.Compare(node.left, [operator()], [right])
            yield Edit(node, new, "branch", instead(new, node))
    for mark in marks if isinstance(right, ast.Constant) else (0,):
        new = ast.Compare(node.left, [op], [_number(mark)])
        yield Edit(node, new, "branch", instead(new, node))


def other_slices(node: ast.Slice) -> Iterator[Edit]:
    """The slice of an array that lies one element further or earlier."""
    one, minus = ast.Constant(1), ast.UnaryOp(ast.USub(), ast.Constant(1))
    two, less = ast.Constant(2), ast.UnaryOp(ast.USub(), ast.Constant(2))
    for lower, upper in ((one, None), (None, minus), (one, minus), (two, None), (None, less)):
        new = ast.Slice(lower, upper, None)
        if node.step is None and ast.dump(new) != ast.dump(node):
            yield Edit(node, new, "off_by_one", f"off by one: {instead(new, node)}")
    backwards = node.step is not None and ast.dump(node.step) == ast.dump(minus)
    ends: list[tuple[Any, Any]] = [(less, None), (None, ast.Constant(0)), (None, None)]
    for first, last in ends if backwards else []:
        new = ast.Slice(first, last, node.step)
        if ast.dump(new) != ast.dump(node):
            yield Edit(node, new, "off_by_one", f"off by one: {instead(new, node)}")


def other_updates(node: ast.AugAssign) -> Iterator[Edit]:
    """`-=` for `+=`, and the other way round; `=` for either."""
    other = {ast.Add: ast.Sub, ast.Sub: ast.Add}.get(type(node.op))
    if other is not None:
        new = ast.AugAssign(node.target, other(), node.value)
        yield Edit(node, new, "sign", instead(new, node))
        plain = ast.copy_location(ast.Assign([node.target], node.value), node)
        yield Edit(node, plain, "extra_term", instead(plain, node))


def added(node: ast.Assign) -> Iterator[Edit]:
    """`+=` for `=`, which overwrites what is there."""
    for operator in (ast.Add(), ast.Sub()):
        new = ast.AugAssign(node.targets[0], operator, node.value)  # type: ignore[arg-type]
        yield Edit(node, new, "overwrites", f"overwrites what is there: {instead(new, node)}")


def other_orders(node: ast.expr) -> Iterator[Edit]:
    """The sequence of a loop reversed."""
    words = "runs a loop in the wrong order: "
    called = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and called == "reversed":
        backwards: ast.expr = node.args[0]
    elif isinstance(node, ast.Call) and called == "zip":
        backwards = ast.Call(node.func, [_backwards(part) for part in node.args], [])
    else:
        backwards = ast.Call(ast.Name("reversed", ast.Load()), [node], [])
    yield Edit(node, backwards, "order", words + instead(backwards, node))


def _backwards(node: ast.expr) -> ast.expr:
    """A sequence reversed; if it is reversed already, the sequence itself."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "reversed":
        return node.args[0]
    return node.value if isinstance(node, ast.Subscript) and _is_turned(node) else _reversed(node)


def _is_turned(node: ast.AST | None) -> bool:
    """Whether an array is reversed by a slice."""
    return isinstance(node, ast.Subscript) and ast.dump(node.slice) == ast.dump(_reversed(node).slice)


def other_indices(node: ast.expr, names: Iterable[str]) -> Iterator[Edit]:
    """An index plus or minus one, or another available index."""
    one = ast.Constant(1)
    shifted = isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant)
    if isinstance(node, (ast.Name, ast.BinOp)) and not shifted:
        for operator in (ast.Sub(), ast.Add()):
            new = ast.BinOp(node, operator, one)
            yield Edit(node, new, "off_by_one", f"off by one: {instead(new, node)}")
    for name in names:
        if not (isinstance(node, ast.Name) and node.id == name):
            yield Edit(node, ast.Name(name, ast.Load()), "wrong_element", instead(ast.Name(name), node))


def rows_written(node: ast.Assign | ast.AugAssign, numpy: str | None) -> Iterator[Edit]:
    """One element of each row in place of whole columns: `a[rows, i]` for `a[:, i]`."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Subscript) or numpy is None:
        return
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [ast.Slice(), target.slice]
    if len(parts) != 2 or not isinstance(parts[0], ast.Slice) or not isinstance(parts[1], ast.Name):
        return
    rows = parse(f"{numpy}.arange(len({ast.unparse(target.value)}))", mode="eval").body
    new_target = ast.Subscript(target.value, ast.Tuple([rows, parts[1]], ast.Load()), ast.Store())
    values = [node.value]
    if isinstance(node.value, ast.Subscript):
        values.append(node.value.value)
    for value in values:
        new: Any = ast.Assign([new_target], value)
        if isinstance(node, ast.AugAssign):
            new = ast.AugAssign(new_target, node.op, value)
        ast.copy_location(new, node)
        yield Edit(node, new, "wrong_element", f"writes to whole rows or columns: {instead(new, node)}")


def rechained(node: ast.BinOp) -> Iterator[Edit]:
    """A product with some of its factors left out or moved between numerator and denominator."""
    above, below = chain(node)
    if len(above) + len(below) < 3:
        return
    for count in (2, 3):
        for some in itertools.combinations(above, count):
            rest = [f for f in above if f not in some]
            new = product(rest, [*below, *some])
            if rest:
                yield Edit(node, new, "factor", f"multiplies where it should divide: {instead(new, node)}")
            if rest and count == 2:
                new = product(rest, below)
                yield Edit(node, new, "factor", f"has too many factors: {instead(new, node)}")
    for one, other in itertools.product(above, below):
        new = product([other if f is one else f for f in above], [one if f is other else f for f in below])
        words = f"exchanges `{ast.unparse(one)}` and `{ast.unparse(other)}`: {instead(new, node)}"
        yield Edit(node, new, "factor", words)
    for some in itertools.combinations(below, 2):
        rest = [f for f in below if f not in some]
        new = product([*above, *some], rest)
        yield Edit(node, new, "factor", f"divides where it should multiply: {instead(new, node)}")
        new = product(above, rest)
        yield Edit(node, new, "factor", f"has too many factors: {instead(new, node)}")


def halves(node: ast.BinOp, names: Sequence[str]) -> Iterator[Edit]:
    """A sum of two things in place of twice one of them, which would be right for something symmetric."""
    above, below = chain(node)
    two = next((f for f in above if isinstance(f, ast.Constant) and f.value == 2), None)
    for factor in above if two is not None else ():
        if not isinstance(factor, ast.Name):
            continue
        turned = ast.Attribute(factor, "T", ast.Load())
        for other in (turned, *(ast.Name(name, ast.Load()) for name in names if name != factor.id)):
            both = ast.BinOp(factor, ast.Add(), other)
            new = product([both if f is factor else f for f in above if f is not two], below)
            mistake = "transposed" if other is turned else "lacks_term"
            yield Edit(node, new, mistake, f"treats two different things as equal: {instead(new, node)}")


def chain(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """The factors in the numerator and in the denominator of a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        (above, below), (more, less) = chain(node.left), chain(node.right)
        return (above + more, below + less) if isinstance(node.op, ast.Mult) else (above + less, below + more)
    return [node], []


def without_one(node: ast.expr) -> Iterator[ast.expr]:
    """A product with one of its factors left out."""
    above, below = chain(node)
    for at in range(len(above)) if len(above) > 1 else ():
        yield product([*above[:at], *above[at + 1 :]], below)


def product(above: Sequence[ast.expr], below: Sequence[ast.expr]) -> ast.expr:
    """The product of some factors, divided by others."""
    made: ast.expr = above[0] if above else ast.Constant(1)
    for factor in above[1:]:
        made = ast.BinOp(made, ast.Mult(), factor)
    if not below:
        return made
    under = below[0]
    for factor in below[1:]:
        under = ast.BinOp(under, ast.Mult(), factor)
    return ast.BinOp(made, ast.Div(), under)


def masked(
    node: ast.expr, conditions: Iterable[ast.expr], numpy: str | None, chooses: bool
) -> Iterator[Edit]:
    """An expression where a condition holds, and zero elsewhere. It is written with `where` if the author
    `chooses` to do so, and for negated conditions, since `~` does not negate a bool.
    """
    zero = ast.Constant(0.0)
    for condition in conditions:
        turned = isinstance(condition, ast.UnaryOp)
        if numpy is None or not (chooses or turned):
            new: ast.expr = ast.BinOp(node, ast.Mult(), condition)
        elif isinstance(condition, ast.UnaryOp):
            new = of_numpy(numpy, "where", condition.operand, zero, node)
        else:
            new = of_numpy(numpy, "where", condition, node, zero)
        yield Edit(node, new, "branch", f"lacks a mask: {instead(new, node)}")


def other_conditions(node: ast.Compare, conditions: Iterable[ast.expr]) -> Iterator[Edit]:
    """An additional condition, or another one; first those that compare the same thing differently."""
    conditions = [one for one in conditions if ast.dump(one) != ast.dump(node)]
    for condition in conditions:
        if not isinstance(condition, ast.Compare):
            continue
        same = ast.Compare(node.left, condition.ops, condition.comparators)
        if ast.dump(same) == ast.dump(node):
            yield Edit(node, condition, "branch", instead(condition, node))
    for condition in conditions:
        for operator in (ast.BitAnd(), ast.BitOr()):
            new: ast.expr = ast.BinOp(node, operator, condition)
            yield Edit(node, new, "branch", f"lacks a condition: {instead(new, node)}")
        yield Edit(node, condition, "branch", instead(condition, node))


def conditions_of(function: Any, numpy: str) -> list[ast.expr]:
    """The conditions on which a function branches, as far as its text has them."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            found.append(node)
        name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
        args = node.args if isinstance(node, ast.Call) else []
        if name == "clip" and len(args) == 3:
            above = ast.Compare(args[0], [ast.Gt()], [args[1]])
            below = ast.Compare(args[0], [ast.Lt()], [args[2]])
            found += [above, below, ast.BinOp(above, ast.BitAnd(), below)]
        elif name in ("maximum", "minimum", "fmax", "fmin") and len(args) == 2:
            found += [ast.Compare(args[0], [op], [args[1]]) for op in (ast.Gt(), ast.Lt())]
        elif name in ("abs", "absolute", "fabs") and len(args) == 1:
            found.append(of_numpy(numpy, "sign", args[0]))
    return list({ast.dump(one): one for one in found}.values())


def of_numpy(numpy: str, name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), name, ast.Load()), list(args), [])


_ADJOINT = {"fft": "ifft", "ifft": "fft", "fft2": "ifft2", "ifft2": "fft2", "fftn": "ifftn", "ifftn": "fftn"}


def other_transforms(node: ast.Call, lengths: Sequence[ast.expr]) -> Iterator[Edit]:
    """The inverse transform, which is the adjoint up to a length."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr not in _ADJOINT:
        return
    back = ast.Call(ast.Attribute(called.value, _ADJOINT[called.attr], ast.Load()), node.args, node.keywords)
    yield Edit(node, back, "other_function", instead(back, node))
    for length in lengths:
        for operator in (ast.Mult(), ast.Div()):
            new = ast.BinOp(back, operator, length)
            yield Edit(node, new, "other_function", instead(new, node))


_FROM_THE_WRONG_END = "sums from the wrong end"


def reversed_operands(node: ast.Call | ast.Subscript) -> Iterator[Edit]:
    """The result of a call reversed; an array that is reversed, without that; and a running sum from the
    first element if it runs from the last.
    """
    if isinstance(node, ast.Subscript) and _is_turned(node) and isinstance(node.value, ast.Call):
        call = node.value
        of = call.args[0] if len(call.args) == 1 else None
        if getattr(call.func, "attr", "") in ("cumsum", "cumprod") and _is_turned(of):
            new: ast.expr = ast.Call(call.func, [of.value], call.keywords)  # type: ignore[union-attr]
            yield Edit(node, new, "order", f"{_FROM_THE_WRONG_END}: {instead(new, node)}")
    if isinstance(node, ast.Call):
        new = _reversed(node)
        yield Edit(node, new, "order", f"not reversed back: {instead(new, node)}")
    elif _is_turned(node):
        yield Edit(node, node.value, "order", f"reversed where it should not be: {instead(node.value, node)}")


def other_calls(node: ast.Call) -> Iterator[Edit]:
    """Another function of the same module or object, another axis, the arguments exchanged, or one of them
    only.
    """
    called = node.func

    def made(new: ast.expr, mistake: str) -> Edit:
        return Edit(node, new, mistake, instead(new, node))

    if isinstance(called, ast.Attribute):
        for name in _OTHER_FUNCTIONS.get(called.attr, ()):
            new = ast.Call(ast.Attribute(called.value, name, ast.Load()), node.args, node.keywords)
            yield made(new, _OF_FUNCTIONS.get((called.attr, name), "other_function"))
        if called.attr in ("conj", "conjugate") and not node.args:
            yield made(called.value, "conjugate")
        if called.attr in ("cumsum", "cumprod") and len(node.args) == 1:
            back = _reversed(ast.Call(called, [_reversed(node.args[0])], node.keywords))
            yield Edit(node, back, "order", f"{_FROM_THE_WRONG_END}: {instead(back, node)}")
    for keyword in node.keywords:
        if keyword.arg == "order":
            new = ast.Call(called, node.args, [k for k in node.keywords if k is not keyword])
            yield made(new, "order")
        if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant):
            for axis in {0, 1, -1} - {keyword.value.value}:
                others = [k for k in node.keywords if k is not keyword]
                new = ast.Call(called, node.args, [*others, ast.keyword("axis", ast.Constant(axis))])
                yield made(new, "wrong_axis")
    if isinstance(called, ast.Attribute) and called.attr in _REDUCING:
        yield from (made(new, "wrong_axis") for new in _along(node))
    if last_name(called) in ("range", "arange") and not node.keywords:
        yield from (made(new, "off_by_one") for new in _other_ranges(node))
    if len(node.args) == 1 and not node.keywords:
        conj = isinstance(called, ast.Attribute) and called.attr in ("conj", "conjugate")
        name = last_name(called)
        mistake = "conjugate" if conj else "power" if name in _POWERS else "other_function"
        yield made(node.args[0], mistake)
    if getattr(called, "attr", "") in _BOUNDING and len(node.args) >= 2:
        words = f"has a mask that does not belong there: {instead(node.args[0], node)}"
        yield Edit(node, node.args[0], "branch", words)
    if len(node.args) >= 2:
        first, second, *rest = node.args
        branch = isinstance(called, ast.Attribute) and called.attr == "where" and len(rest) == 1
        args = [first, rest[0], second] if branch else [second, first, *rest]
        yield made(ast.Call(called, args, node.keywords), "branch" if branch else "transposed")


_POWERS = frozenset(("sqrt", "square", "cbrt", "reciprocal"))
_BOUNDING = frozenset(("maximum", "minimum", "fmax", "fmin", "clip"))


def _other_ranges(node: ast.Call) -> Iterator[ast.expr]:
    """Numbers from one to n in place of those from zero to n - 1, and the other way round."""
    one = ast.Constant(1)
    first, last = (ast.Constant(0), node.args[0]) if len(node.args) == 1 else node.args[:2]
    if len(node.args) > 2 or not isinstance(first, ast.Constant):
        return
    sums = isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add)
    if isinstance(last, (ast.Name, ast.Call, ast.Attribute)):
        for operator in (ast.Add(), ast.Sub()):
            yield ast.Call(node.func, [*node.args[:-1], ast.BinOp(last, operator, one)], [])
    if first.value == 1 and sums and ast.dump(last.right) == ast.dump(one):  # type: ignore[attr-defined]
        yield ast.Call(node.func, [last.left], [])  # type: ignore[attr-defined]
    elif first.value == 1:
        yield ast.Call(node.func, [ast.BinOp(last, ast.Sub(), one)], [])
    elif first.value == 0:
        yield ast.Call(node.func, [one, ast.BinOp(last, ast.Add(), one)], [])


def _reversed(node: ast.expr) -> ast.Subscript:
    step = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
    return ast.Subscript(node, step, ast.Load())


_REDUCING = frozenset(("sum", "mean", "max", "min", "prod", "amax", "amin", "norm"))


def _along(node: ast.Call) -> Iterator[ast.expr]:
    """A sum over one axis in place of all; with its axis kept, or dropped."""
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


def unread_names(function: Any) -> list[str]:
    """The names that a function, or one inside it, assigns and never reads, except `_`."""
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and is_stored(n)]
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not is_stored(n)}
    return [name for name in dict.fromkeys(stored) if name not in read and name.strip("_")]


def with_one_more(node: ast.expr, name: str, others: Iterable[str]) -> Iterator[Edit]:
    """An expression minus, plus, times or divided by something that was computed and never used."""
    alone = ast.Name(name, ast.Load())
    terms = [alone, *(ast.BinOp(alone, ast.Mult(), ast.Name(n, ast.Load())) for n in others)]
    for term in terms:
        for operator in (ast.Sub(), ast.Add(), ast.Mult(), ast.Div()):
            if term is not alone and isinstance(operator, (ast.Mult, ast.Div)):
                continue
            new = ast.BinOp(node, operator, term)
            mistake = "factor" if isinstance(operator, (ast.Mult, ast.Div)) else "lacks_term"
            yield Edit(node, new, mistake, f"never uses {name}: {instead(new, node)}")


def with_term(node: ast.expr, names: Sequence[str]) -> Iterator[Edit]:
    """An expression plus or minus the product of some names."""
    term: ast.expr = ast.Name(names[0], ast.Load())
    for name in names[1:]:
        term = ast.BinOp(term, ast.Mult(), ast.Name(name, ast.Load()))
    for operator in (ast.Add(), ast.Sub()):
        new = joined(node, operator, term)
        yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")


def joined(node: ast.expr, operator: ast.operator, term: ast.expr) -> ast.expr:
    """An expression plus or minus one more term; just the term if the expression is a zero of rulelab's."""
    if not is_zero(node):
        return ast.BinOp(node, operator, term)
    return term if isinstance(operator, ast.Add) else ast.UnaryOp(ast.USub(), term)


def renamed(within: Any, others: Callable[[ast.Name], Iterable[ast.expr]]) -> Iterator[Edit]:
    """Another name for one that an expression has several times, replaced throughout: whoever confuses the
    value with the argument does so throughout a formula.
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
            new = cloned(holder, dict.fromkeys(wanted, other))
            words = f"has `{places[0].id}` where `{ast.unparse(other)}` belongs"
            yield Edit(holder, new, "wrong_variable", words)


def _several(within: Any) -> list[list[ast.Name]]:
    """The names that are read more than once in an expression, each with all its nodes."""
    found: dict[str, list[ast.Name]] = {}
    for node in ast.walk(within):
        if isinstance(node, ast.Name) and not is_stored(node):
            found.setdefault(node.id, []).append(node)
    return [places for places in found.values() if len(places) > 1]


def products_with(node: ast.expr, factors: Iterable[ast.expr]) -> Iterator[Edit]:
    """An expression multiplied or divided by a factor."""
    for factor in factors:
        for operator in (ast.Mult(), ast.Div()):
            new = ast.BinOp(node, operator, factor)
            yield Edit(node, new, "factor", instead(new, node))


def matrix_times(node: ast.expr, names: Iterable[str]) -> Iterator[Edit]:
    """An expression multiplied by a matrix or its transpose, from the left or from the right."""
    for name in names:
        plain = ast.Name(name, ast.Load())
        for matrix in (ast.Attribute(plain, "T", ast.Load()), plain):
            for new in (ast.BinOp(node, ast.MatMult(), matrix), ast.BinOp(matrix, ast.MatMult(), node)):
                yield Edit(node, new, "factor", instead(new, node))


def exchanged(node: ast.Tuple) -> Iterator[Edit]:
    """Two cotangents in a pullback's answer exchanged; the first entry, which is for the function itself,
    stays.
    """
    for i, j in itertools.combinations(range(1, len(node.elts)), 2):
        parts = list(node.elts)
        parts[i], parts[j] = parts[j], parts[i]
        words = instead(ast.Tuple(parts, ast.Load()), node)
        other = Edit(node.elts[j], cloned(node.elts[i]), "swapped_arguments", words)
        yield Edit(node.elts[i], cloned(node.elts[j]), "swapped_arguments", words, (other,))


def addends(node: ast.expr, is_minus: bool = False) -> Iterator[tuple[bool, ast.expr]]:
    """The terms of a sum, each with whether it is subtracted."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from addends(node.operand, not is_minus)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from addends(node.left, is_minus)
        yield from addends(node.right, is_minus != isinstance(node.op, ast.Sub))
    else:
        yield is_minus, node


def is_zero(node: ast.expr) -> bool:
    """Whether an expression is a zero of rulelab's: `rl.ZeroTangent()`, `NoTangent()`."""
    called = node.func if isinstance(node, ast.Call) and not node.args else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ("ZeroTangent", "NoTangent")
