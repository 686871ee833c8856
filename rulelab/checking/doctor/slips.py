"""Changes to what has several parts: literals of arrays, axes, einsum, transforms, pairs of statements."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...parsing import parse
from .edits import Edit, instead, is_stored, of_numpy

MOST_ENTRIES = 4
"""Entries of a literal of which every order, with every sign, is tried."""
MOST_LETTERS = 5
"""Letters of an operand of einsum that are exchanged in pairs."""
_BACK = {"fft": "ifft", "ifft": "fft", "rfft": "irfft", "irfft": "rfft", "fft2": "ifft2", "ifft2": "fft2"}


def other_entries(node: ast.List | ast.Tuple) -> Iterator[Edit]:
    """The entries of the literal of an array in another order, or with other signs."""
    rows = [row for row in node.elts if isinstance(row, (ast.List, ast.Tuple))]
    if len(rows) == len(node.elts) == 2 and {len(row.elts) for row in rows} == {2}:
        yield from _of_square(node, [row.elts for row in rows])
    elif not rows and 2 <= len(node.elts) <= MOST_ENTRIES:
        for new, is_order in _signed_orders(node.elts):
            made = type(node)(new, ast.Load())
            yield Edit(node, made, "wrong_element" if is_order else "sign", instead(made, node))


def _of_square(node: ast.List | ast.Tuple, rows: list[list[ast.expr]]) -> Iterator[Edit]:
    """A matrix of two rows transposed, with the rows or columns exchanged, and with other signs."""
    (a, b), (c, d) = rows
    for at, (p, q, r, s) in enumerate([(a, b, c, d), (a, c, b, d), (c, d, a, b), (b, a, d, c)]):
        for signs in itertools.product((False, True), repeat=4):
            w, x, y, z = (_negated(v) if sign else v for v, sign in zip((p, q, r, s), signs))
            made = type(node)([ast.List([w, x], ast.Load()), ast.List([y, z], ast.Load())], ast.Load())
            mistake = ("sign", "transposed", "wrong_element", "wrong_element")[at]
            yield Edit(node, made, mistake, instead(made, node))


def _signed_orders(parts: Sequence[ast.expr]) -> Iterator[tuple[list[ast.expr], bool]]:
    orders = list(itertools.permutations(range(len(parts))))
    whole = len(parts) < MOST_ENTRIES
    for order in orders:
        for signs in itertools.product((False, True) if whole else (False,), repeat=len(parts)):
            new = [_negated(parts[i]) if sign else parts[i] for i, sign in zip(order, signs)]
            yield new, order != orders[0]


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    return ast.UnaryOp(ast.USub(), node)


def wider_parts(node: ast.expr, wholes: Iterable[ast.expr]) -> Iterator[Edit]:
    """What an expression is a part of elsewhere: `q + 1e-3` for `q`, `n - 1` for `n`."""
    own = ast.dump(node)
    for whole in wholes:
        parts: list[ast.expr] = [whole.left, whole.right] if isinstance(whole, ast.BinOp) else []
        parts += whole.args if isinstance(whole, ast.Call) else []
        if own not in map(ast.dump, parts):
            continue
        yield Edit(node, whole, _of_whole(whole), instead(whole, node))


def _of_whole(whole: ast.expr) -> str:
    if isinstance(whole, ast.BinOp) and isinstance(whole.op, (ast.Add, ast.Sub)):
        one = isinstance(whole.right, ast.Constant) and whole.right.value == 1
        return "off_by_one" if one else "lacks_term"
    name = getattr(getattr(whole, "func", None), "attr", "")
    return {"conj": "conjugate", "tril": "triangle", "triu": "triangle"}.get(name, "factor")


def other_axes(node: ast.Call, is_module: Callable[[ast.expr], bool]) -> Iterator[Edit]:
    """Another axis, with the axis kept or dropped at once; also where it is given by its place alone."""
    names = [keyword.arg for keyword in node.keywords]
    method = isinstance(node.func, ast.Attribute) and not is_module(node.func.value)
    place = 0 if method else 1
    by_place = "axis" not in names and len(node.args) == place + 1
    if not by_place and "axis" not in names:
        return
    rest = [k for k in node.keywords if k.arg not in ("axis", "keepdims")]
    args = node.args[:place] if by_place else node.args
    for axis, keep in itertools.product((0, 1, -1), (True, False)):
        more = [ast.keyword("keepdims", ast.Constant(True))] if keep else []
        new = ast.Call(node.func, args, [*rest, ast.keyword("axis", ast.Constant(axis)), *more])
        yield Edit(node, new, "wrong_axis", instead(new, node))
    of = node.func.value if method and isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
    if isinstance(of, ast.Call) and getattr(of.func, "attr", "") == "reshape" and len(of.args) == 2:
        inner = ast.Call(of.func, [of.args[1], of.args[0]], [])
        for axis in (0, 1):
            axes = [ast.keyword("axis", ast.Constant(axis))]
            func: ast.expr = node.func
            if method and isinstance(func, ast.Attribute):
                func = ast.Attribute(inner, func.attr, ast.Load())
            new = ast.Call(func, [] if method else [inner], axes)
            yield Edit(node, new, "order", f"takes numbers in the wrong order: {instead(new, node)}")


def turned_sums(node: ast.expr, numpy: str) -> Iterator[Edit]:
    """A running sum from the other end, along each axis."""
    call = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "cumsum" or not call.args:
        return
    of = call.args[0]
    base = ast.unparse(of.value if isinstance(of, ast.Subscript) else of)
    for turn, axis in (("::-1", 0), (":, ::-1", 1), ("..., ::-1", -1)):
        new = parse(f"{numpy}.cumsum({base}[{turn}], axis={axis})[{turn}]", mode="eval").body
        yield Edit(node, new, "wrong_axis", instead(new, node))


def other_letters(node: ast.Call) -> Iterator[Edit]:
    """Two letters of einsum exchanged in one operand, or in the result."""
    text = node.args[0] if node.args else None
    if getattr(node.func, "attr", "") != "einsum" or not isinstance(text, ast.Constant):
        return
    if not isinstance(text.value, str) or "->" not in text.value:
        return
    into, out = text.value.replace(" ", "").split("->")
    words = [*into.split(","), out]
    for at, word in enumerate(words):
        for i, j in itertools.combinations(range(min(len(word), MOST_LETTERS)), 2):
            letters = list(word)
            letters[i], letters[j] = letters[j], letters[i]
            new = [*words[:at], "".join(letters), *words[at + 1 :]]
            made = ast.Constant(f"{','.join(new[:-1])}->{new[-1]}")
            yield Edit(text, made, "transposed", f"exchanges two indices: {instead(made, text)}")


def other_modes(node: ast.Call | ast.Subscript) -> Iterator[Edit]:
    """Another part of a convolution: that which overlaps wholly, or all of it, in place of some slice."""
    call = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") not in ("convolve", "correlate"):
        return
    for mode in ("valid", "full", "same"):
        new = ast.Call(call.func, call.args[:2], [ast.keyword("mode", ast.Constant(mode))])
        yield Edit(node, new, "wrong_element", f"takes the wrong part: {instead(new, node)}")


def transforms_around(
    node: ast.expr, numpy: str, names: Iterable[str], lengths: Sequence[ast.expr]
) -> Iterator[Edit]:
    """A transform, or the one back, of what was left as it is."""
    for name in names:
        for which in (_BACK[name], name):
            door = ast.Attribute(_attribute(numpy, "fft"), which, ast.Load())
            made = ast.Call(door, [node], [])
            yield Edit(node, made, "other_function", f"lacks a transform: {instead(made, node)}")
            for length in lengths:
                new = ast.BinOp(made, ast.Mult(), length)
                yield Edit(node, new, "other_function", f"lacks a transform: {instead(new, node)}")


def all_transforms(scope: Any) -> Iterator[Edit]:
    """Every transform of a pullback by the one back."""
    calls = [n for n in ast.walk(scope) if isinstance(n, ast.Attribute) and n.attr in _BACK]
    if len(calls) > 1:
        yield _together(
            [Edit(n, _other_name(n), "other_function", instead(_other_name(n), n)) for n in calls]
        )


def _other_name(node: ast.Attribute) -> ast.Attribute:
    return ast.Attribute(node.value, _BACK[node.attr], ast.Load())


def _together(edits: list[Edit]) -> Edit:
    first, *more = edits
    words = f"{first.words}, and so on" if more else first.words
    return Edit(first.old, first.new, first.mistake, words, tuple(more))


def names_wherever(scope: Any, names: Iterable[str]) -> Iterator[Edit]:
    """Two parts of a cotangent of several, exchanged wherever they are read: `bar["a"]` and `bar["b"]`."""
    places: dict[str, list[ast.Constant]] = {}
    bars = set(names)
    for node in ast.walk(scope):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in bars:
            if isinstance(node.slice, ast.Constant):
                places.setdefault(repr(node.slice.value), []).append(node.slice)
    for one, other in itertools.combinations(places.values(), 2):
        words = f"exchanges `[{one[0].value!r}]` and `[{other[0].value!r}]`"
        edits = [Edit(node, other[0], "swapped_arguments", words) for node in one]
        edits += [Edit(node, one[0], "swapped_arguments", words) for node in other]
        yield Edit(edits[0].old, edits[0].new, edits[0].mistake, words, tuple(edits[1:]))


def other_targets(node: ast.Assign) -> Iterator[Edit]:
    """The names that a sequence is taken apart into, two of them exchanged."""
    target = node.targets[0]
    if not isinstance(target, ast.Tuple) or not 2 <= len(target.elts) <= MOST_ENTRIES:
        return
    for i, j in itertools.combinations(range(len(target.elts)), 2):
        parts = list(target.elts)
        parts[i], parts[j] = parts[j], parts[i]
        new = ast.copy_location(ast.Assign([ast.Tuple(parts, ast.Store())], node.value), node)
        yield Edit(node, new, "swapped_arguments", instead(new, node))


def other_statements(scope: Any) -> Iterator[Edit]:
    """Two statements that follow each other in the other order, or what they write to exchanged."""
    for holder in ast.walk(scope):
        body = getattr(holder, "body", None)
        if not isinstance(body, list):
            continue
        for one, other in itertools.pairwise(body):
            plain = (ast.Assign, ast.AugAssign)
            if not isinstance(one, plain) or not isinstance(other, plain):
                continue
            first, last = _target(one), _target(other)
            if isinstance(first, ast.Subscript) and isinstance(last, ast.Subscript):
                words = f"exchanges `{ast.unparse(first)}` and `{ast.unparse(last)}`"
                edits = [Edit(one, _writing(one, last), "swapped_arguments", words)]
                yield Edit(edits[0].old, edits[0].new, "swapped_arguments", words,
                           (Edit(other, _writing(other, first)),))  # fmt: skip
            if isinstance(first, ast.Name) and _reads(other.value, first.id):
                words = f"does `{ast.unparse(one)}` too early: `{ast.unparse(other)}` comes before it"
                yield Edit(one, other, "order", words, (Edit(other, one),))


def _target(node: ast.Assign | ast.AugAssign) -> ast.expr:
    return node.target if isinstance(node, ast.AugAssign) else node.targets[0]


def _writing(node: ast.Assign | ast.AugAssign, target: ast.expr) -> Any:
    new = copy.copy(node)
    if isinstance(new, ast.AugAssign):
        new.target = target  # type: ignore[assignment]
    else:
        new.targets = [target]
    return new


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def added_at(node: ast.AugAssign, numpy: str) -> Iterator[Edit]:
    """A sum over an index that may come twice: `np.add.at(a, i, b)` for `a[i] += b`."""
    target = node.target
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Name):
        owner = copy.copy(target.value)
        add = ast.Attribute(_attribute(numpy, "add"), "at", ast.Load())
        new = ast.Expr(ast.Call(add, [owner, target.slice, node.value], []))
        ast.copy_location(new, node)
        words = f"adds once where an index comes twice: {instead(new, node)}"
        yield Edit(node, new, "overwrites", words)


def _attribute(numpy: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(numpy, ast.Load()), name, ast.Load())


def other_buffers(node: ast.Call, numpy: str, names: Iterable[str]) -> Iterator[Edit]:
    """A buffer of another kind of numbers: of floats for one of ints, of those of an argument."""
    called = getattr(node.func, "attr", "")
    if called not in ("zeros", "empty", "ones", "zeros_like", "empty_like", "ones_like") or not node.args:
        return
    rest = [k for k in node.keywords if k.arg != "dtype"]
    made: list[ast.expr] = []
    if called.endswith("_like"):
        shape = ast.Attribute(node.args[0], "shape", ast.Load())
        made.append(of_numpy(numpy, called.removesuffix("_like"), shape))
    if len(rest) < len(node.keywords):
        made.append(ast.Call(node.func, node.args, rest))
    if len(node.args) == 2:
        made.append(ast.Call(node.func, node.args[:1], rest))
    for name in names:
        dtype = ast.keyword("dtype", ast.Attribute(ast.Name(name, ast.Load()), "dtype", ast.Load()))
        made.append(ast.Call(node.func, node.args[:1], [*rest, dtype]))
    for new in made:
        yield Edit(node, new, "dtype", f"has a buffer of the wrong dtype: {instead(new, node)}")


def other_lays(node: ast.expr) -> Iterator[Edit]:
    """A row or a column of what is laid along the wrong axis of a matrix."""
    if isinstance(node, ast.Name):
        for text in (f"{node.id}[:, None]", f"{node.id}[None, :]"):
            new = parse(text, mode="eval").body
            yield Edit(node, new, "wrong_axis", f"lies along the wrong axis: {instead(new, node)}")
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        if any(isinstance(e, ast.Constant) and e.value is None for e in node.slice.elts):
            new = ast.Subscript(node.value, ast.Tuple(node.slice.elts[::-1], ast.Load()), ast.Load())
            yield Edit(node, new, "wrong_axis", f"lies along the wrong axis: {instead(new, node)}")


def other_cuts(node: ast.expr, cuts: Iterable[ast.expr]) -> Iterator[Edit]:
    """Another part of an array, such as is taken elsewhere."""
    own = ast.dump(node)
    for cut in cuts:
        if ast.dump(cut) != own:
            words = f"takes the wrong part: has `[{ast.unparse(node)}]` where `[{ast.unparse(cut)}]` belongs"
            yield Edit(node, cut, "wrong_element", words)


def moved_cuts(node: ast.Slice) -> Iterator[Edit]:
    """A part of an array that begins, or ends, one element sooner or later."""
    for part, operator in itertools.product(("lower", "upper"), (ast.Add(), ast.Sub())):
        bound = getattr(node, part)
        if isinstance(bound, (ast.Name, ast.Call, ast.BinOp)):
            new = copy.copy(node)
            setattr(new, part, ast.BinOp(bound, operator, ast.Constant(1)))
            yield Edit(node, new, "off_by_one", f"is off by one: {instead(new, node)}")


def folded(node: ast.Subscript) -> Iterator[Edit]:
    """The sum of each run of elements where the first of each is taken."""
    cut = node.slice
    if isinstance(cut, ast.Slice) and cut.step is not None and cut.lower is None and cut.upper is None:
        text = f"{ast.unparse(node.value)}.reshape(-1, {ast.unparse(cut.step)}).sum(axis=1)"
        new = parse(text, mode="eval").body
        if not isinstance(cut.step, ast.UnaryOp):
            yield Edit(node, new, "lacks_sum", instead(new, node))


def everywhere(within: Any, edits: Callable[[Any], Iterable[Edit]], most: int = 40) -> Iterator[Edit]:
    """The same small change wherever an expression stands that a formula has several times."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(within):
        if isinstance(node, (ast.Subscript, ast.BinOp, ast.Call, ast.Slice)) and not is_stored(node):
            if sum(1 for _ in ast.walk(node)) <= 12:
                found.setdefault(ast.dump(node), []).append(node)
    for places in found.values():
        if len(places) < 2:
            continue
        for edit in itertools.islice(edits(places[0]), most):
            if edit.old is places[0]:
                more = tuple(Edit(other, edit.new) for other in places[1:])
                yield Edit(edit.old, edit.new, edit.mistake, edit.words, more)


def swapped_parts(node: ast.Call) -> Iterator[Edit]:
    """Two fields of a structured cotangent in the place of each other."""
    for i, j in itertools.combinations(range(len(node.args)), 2):
        parts = list(node.args)
        parts[i], parts[j] = parts[j], parts[i]
        new = ast.Call(node.func, parts, node.keywords)
        yield Edit(node, new, "swapped_arguments", instead(new, node))
    for i, j in itertools.combinations(range(len(node.keywords)), 2):
        keywords = list(node.keywords)
        one, other = keywords[i], keywords[j]
        keywords[i], keywords[j] = ast.keyword(one.arg, other.value), ast.keyword(other.arg, one.value)
        new = ast.Call(node.func, node.args, keywords)
        yield Edit(node, new, "swapped_arguments", instead(new, node))
