"""Changes to things with several parts: array literals, axes, einsum, transforms, pairs of statements."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...parsing import cloned, parse
from ..reading.editing import Edit, instead, is_stored
from .edits import of_numpy

MOST_ENTRIES = 4
"""Up to how many entries of a literal all orders and signs are tried."""
MOST_EXCHANGED = 6
"""How many names of a pullback are exchanged in pairs."""
MOST_LETTERS = 5
"""How many letters in an operand of einsum are exchanged in pairs."""
_BACK = {"fft": "ifft", "ifft": "fft", "rfft": "irfft", "irfft": "rfft", "fft2": "ifft2", "ifft2": "fft2"}


def other_entries(node: ast.List | ast.Tuple) -> Iterator[Edit]:
    """The entries of an array literal in another order, or with other signs."""
    rows = [row for row in node.elts if isinstance(row, (ast.List, ast.Tuple))]
    if len(rows) == len(node.elts) == 2 and {len(row.elts) for row in rows} == {2}:
        yield from _of_square(node, [row.elts for row in rows])
    elif not rows and 2 <= len(node.elts) <= MOST_ENTRIES:
        for new, is_order in _signed_orders(node.elts):
            made = type(node)(new, ast.Load())
            yield Edit(node, made, "wrong_element" if is_order else "sign", instead(made, node))


def _of_square(node: ast.List | ast.Tuple, rows: list[list[ast.expr]]) -> Iterator[Edit]:
    """A 2 × 2 matrix transposed, with its rows or columns exchanged, and with other signs."""
    (a, b), (c, d) = rows
    for at, (p, q, r, s) in enumerate([(a, b, c, d), (a, c, b, d), (c, d, a, b), (b, a, d, c)]):
        for signs in itertools.product((False, True), repeat=4):
            w, x, y, z = (negated(v) if sign else v for v, sign in zip((p, q, r, s), signs))
            made = type(node)([ast.List([w, x], ast.Load()), ast.List([y, z], ast.Load())], ast.Load())
            mistake = ("sign", "transposed", "wrong_element", "wrong_element")[at]
            yield Edit(node, made, mistake, instead(made, node))


def _signed_orders(parts: Sequence[ast.expr]) -> Iterator[tuple[list[ast.expr], bool]]:
    orders = list(itertools.permutations(range(len(parts))))
    whole = len(parts) < MOST_ENTRIES
    for order in orders:
        for signs in itertools.product((False, True) if whole else (False,), repeat=len(parts)):
            new = [negated(parts[i]) if sign else parts[i] for i, sign in zip(order, signs)]
            yield new, order != orders[0]


def negated(node: ast.expr) -> ast.expr:
    """An expression with its sign changed."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    return ast.UnaryOp(ast.USub(), node)


def wider_parts(node: ast.expr, wholes: Iterable[ast.expr]) -> Iterator[Edit]:
    """An expression that contains this one elsewhere: `q + 1e-3` for `q`, `n - 1` for `n`."""
    own = ast.dump(node)
    for whole in wholes:
        parts: list[ast.expr] = [whole.left, whole.right] if isinstance(whole, ast.BinOp) else []
        parts += whole.args if isinstance(whole, ast.Call) else []
        if own not in map(ast.dump, parts) or any(part is node for part in ast.walk(whole)):
            continue  # a term replaced by the sum that contains it is a missing factor
        yield Edit(node, whole, _of_whole(whole), instead(whole, node))


def parallel_expressions(
    node: ast.Name, wholes: Iterable[ast.expr], parameters: Iterable[str]
) -> Iterator[Edit]:
    """An expression in another parameter elsewhere, for this parameter: `2 * y - 1` for `y` beside
    `2 * p - 1`.
    """
    known = set(parameters)
    for whole in wholes:
        of = {n.id for n in ast.walk(whole) if isinstance(n, ast.Name)} & known
        if len(of) == 1 and node.id not in of and isinstance(whole, ast.BinOp):
            new = with_names(whole, dict.fromkeys(of, node.id))
            yield Edit(node, new, "lacks_term", instead(new, node))


def exchanged_names(one: str, other: str, made: Mapping[str, ast.expr]) -> dict[str, str]:
    """Which names replace which if two are exchanged, including names assigned alike from them."""
    names = {one: other, other: one}
    for name, value in made.items():
        image = ast.dump(with_names(value, names))
        twin = next((n for n, v in made.items() if ast.dump(v) == image), name)
        names[name] = twin
    return names


def with_names(node: ast.expr, names: Mapping[str, str]) -> ast.expr:
    """An expression with some names replaced."""
    new = cloned(node)
    for n in ast.walk(new):
        if isinstance(n, ast.Name):
            n.id = names.get(n.id, n.id)
    return new


def _of_whole(whole: ast.expr) -> str:
    if isinstance(whole, ast.BinOp) and isinstance(whole.op, (ast.Add, ast.Sub)):
        one = isinstance(whole.right, ast.Constant) and whole.right.value == 1
        return "off_by_one" if one else "lacks_term"
    name = getattr(getattr(whole, "func", None), "attr", "")
    return {"conj": "conjugate", "tril": "triangle", "triu": "triangle"}.get(name, "factor")


def other_axes(node: ast.Call, is_module: Callable[[ast.expr], bool]) -> Iterator[Edit]:
    """Another axis, with keepdims or without; also if the axis is given by position."""
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


_TURNING = frozenset(("transpose", "swapaxes", "moveaxis", "rollaxis"))
"""Functions that exchange the axes of an array."""


def other_transposes(node: ast.Call, is_module: Callable[[ast.expr], bool]) -> Iterator[Edit]:
    """An array without an exchange of axes, and the inverse permutation of axes."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr not in _TURNING or not node.args:
        return
    of, axes = (node.args[0], node.args[1:]) if is_module(called.value) else (called.value, node.args)
    if not axes or node.keywords:
        return
    yield Edit(node, of, "transposed", f"has its axes exchanged: {instead(of, node)}")
    order = axes[0].elts if isinstance(axes[0], (ast.Tuple, ast.List)) else axes
    numbers = [axis.value for axis in order if isinstance(axis, ast.Constant) and type(axis.value) is int]
    if called.attr != "transpose" or sorted(numbers) != list(range(len(order))):
        return
    back = [numbers.index(at) for at in range(len(numbers))]
    if back != numbers:
        inverse: list[ast.expr] = [ast.Constant(at) for at in back]
        inverse = inverse if order is axes else [ast.Tuple(inverse, ast.Load())]
        new = ast.Call(called, [*node.args[: len(node.args) - len(axes)], *inverse], [])
        yield Edit(node, new, "transposed", f"has its axes in the wrong order: {instead(new, node)}")


def transposed_sums(node: ast.expr, numpy: str) -> Iterator[Edit]:
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
    """Two letters of an einsum exchanged in one operand, or in the result."""
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
    """Another mode of a convolution: the fully overlapping part, or all of it, in place of a slice."""
    call = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") not in ("convolve", "correlate"):
        return
    for mode in ("valid", "full", "same"):
        new = ast.Call(call.func, call.args[:2], [ast.keyword("mode", ast.Constant(mode))])
        yield Edit(node, new, "wrong_element", f"takes the wrong part: {instead(new, node)}")


def transforms_around(
    node: ast.expr, numpy: str, names: Iterable[str], lengths: Sequence[ast.expr]
) -> Iterator[Edit]:
    """A Fourier transform, or its inverse, of an expression."""
    for name in names:
        for which in (_BACK[name], name):
            door = ast.Attribute(attribute_of(numpy, "fft"), which, ast.Load())
            made = ast.Call(door, [node], [])
            yield Edit(node, made, "other_function", f"lacks a transform: {instead(made, node)}")
            for length in lengths:
                new = ast.BinOp(made, ast.Mult(), length)
                yield Edit(node, new, "other_function", f"lacks a transform: {instead(new, node)}")


def all_transforms(scope: Any) -> Iterator[Edit]:
    """All transforms in a pullback replaced by their inverses."""
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


def kept_by_key(scope: Any) -> Iterator[Edit]:
    """A computed value in place of one that a dict may have kept for other arguments."""
    calls = (n for n in ast.walk(scope) if isinstance(n, ast.Call) and len(n.args) == 2)
    for node in (call for call in calls if getattr(call.func, "attr", "") == "setdefault"):
        key, new = node.args
        words = f"keeps state between calls, by the key `{ast.unparse(key)}`"
        yield Edit(node, new, "stateful", f"{words}: {instead(new, node)}")


def names_wherever(scope: Any, names: Iterable[str]) -> Iterator[Edit]:
    """Two parts of a structured cotangent exchanged wherever they are read: `bar["a"]` and `bar["b"]`."""
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


def names_exchanged(scope: Any, names: Sequence[str]) -> Iterator[Edit]:
    """Two names that are read in a pullback exchanged, in parts of it or throughout."""
    places: dict[str, list[ast.Name]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id in names and not is_stored(node):
            places.setdefault(node.id, []).append(node)
    minus = [n for n in ast.walk(scope) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)]
    signs = [{id(n.left), id(n.right)} for n in minus]
    turned = list(_beside_transposed(scope))
    for one, other in itertools.combinations(list(places)[:MOST_EXCHANGED], 2):
        pairs = [(n, other) for n in places[one]] + [(n, one) for n in places[other]]
        for some in _in_parts(scope, pairs):
            if {id(n) for n, _ in some} in signs:
                continue  # this is a wrong sign
            if {id(n) for n, _ in some} in turned:
                continue  # and this only a transposition, if one of them is a number
            words = f"exchanges `{one}` and `{other}`"
            edits = [Edit(n, ast.Name(name, ast.Load()), "wrong_variable", words) for n, name in some]
            yield Edit(edits[0].old, edits[0].new, "wrong_variable", words, tuple(edits[1:]))


def _beside_transposed(scope: Any) -> Iterator[set[int]]:
    """The ids of pairs of names that are multiplied elementwise, one of them transposed: `c * A.T`."""
    for node in ast.walk(scope):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(side, ast.Attribute) and side.attr == "T" and isinstance(other, ast.Name):
                    yield {id(side.value), id(other)}


def _in_parts(scope: Any, pairs: list[tuple[ast.Name, str]]) -> Iterator[list[tuple[ast.Name, str]]]:
    """The names to exchange in two consecutive statements, in one, and throughout."""
    body = getattr(scope, "body", None)
    holders = [list(ast.walk(n)) for n in body] if isinstance(body, list) else []
    both = [one + other for one, other in itertools.pairwise(holders)]
    done: set[tuple[int, ...]] = set()
    parts: list[list[ast.AST]] = [*both, *holders, [n for n, _ in pairs]]
    for nodes in parts:
        inside = {id(node) for node in nodes}
        some = [(n, name) for n, name in pairs if id(n) in inside]
        key = tuple(id(n) for n, _ in some)
        if len({name for _, name in some}) == 2 and key not in done:
            done.add(key)
            yield some


def inverted(node: ast.Subscript, sorting: Iterable[str], numpy: str) -> Iterator[Edit]:
    """A permutation in place of its inverse: `w[np.argsort(order)]` for `w[order]`, and back. `sorting` are
    the names of permutations.
    """
    inner = node.slice
    called = getattr(inner.func, "attr", "") if isinstance(inner, ast.Call) else ""
    if isinstance(inner, ast.Name) and inner.id in set(sorting):
        other: ast.expr = ast.Call(attribute_of(numpy, "argsort"), [inner], [])
    elif isinstance(inner, ast.Call) and called == "argsort" and isinstance(inner.args[0], ast.Name):
        other = inner.args[0]
    else:
        return
    new = ast.Subscript(node.value, other, node.ctx)
    words = f"uses a permutation where its inverse belongs: {instead(new, node)}"
    yield Edit(node, new, "wrong_element", words)


def attribute_of(numpy: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(numpy, ast.Load()), name, ast.Load())


_BUFFERS = frozenset(("zeros", "empty", "ones", "zeros_like", "empty_like", "ones_like"))


def is_buffer(node: ast.AST) -> bool:
    """Whether an expression makes an array that is to be written to."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _BUFFERS


def other_buffers(
    node: ast.Call, numpy: str, names: Iterable[str], of_memory: bool = False
) -> Iterator[Edit]:
    """A buffer of another dtype: of floats instead of ints, or of the dtype of an argument. With `of_memory`,
    a buffer made like an array is wrong because of its memory layout, not its dtype.
    """
    called = getattr(node.func, "attr", "")
    if not is_buffer(node) or not node.args:
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
        if of_memory and called.endswith("_like") and new is made[0]:
            words = f"has a buffer with the memory layout of `{ast.unparse(node.args[0])}`"
            yield Edit(node, new, "layout", f"{words}: {instead(new, node)}")
        else:
            yield Edit(node, new, "dtype", f"has a buffer of the wrong dtype: {instead(new, node)}")


def other_lays(node: ast.expr) -> Iterator[Edit]:
    """A vector as a row or a column, if it has the wrong orientation."""
    if isinstance(node, ast.Name):
        for text in (f"{node.id}[:, None]", f"{node.id}[None, :]"):
            new = parse(text, mode="eval").body
            yield Edit(node, new, "wrong_axis", f"uses the wrong axis: {instead(new, node)}")
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        if any(isinstance(e, ast.Constant) and e.value is None for e in node.slice.elts):
            new = ast.Subscript(node.value, ast.Tuple(node.slice.elts[::-1], ast.Load()), ast.Load())
            yield Edit(node, new, "wrong_axis", f"uses the wrong axis: {instead(new, node)}")


def other_cuts(node: ast.expr, cuts: Iterable[ast.expr]) -> Iterator[Edit]:
    """Another index or slice that is used elsewhere."""
    own = ast.dump(node)
    for cut in cuts:
        if ast.dump(cut) != own:
            words = f"takes the wrong part: has `[{ast.unparse(node)}]` where `[{ast.unparse(cut)}]` belongs"
            yield Edit(node, cut, "wrong_element", words)


def of_elements(edits: Iterable[Edit], owner: ast.Subscript) -> Iterator[Edit]:
    """Other numbers as an index, described as the elements that they select, or as the axes of a shape."""
    does = "writes to" if is_stored(owner) else "takes"
    is_shape = isinstance(owner.value, ast.Attribute) and owner.value.attr == "shape"
    for edit in edits:
        if edit.mistake == "size":
            yield edit
        else:
            new = cloned(owner, {id(edit.old): edit.new})
            what = "the length of another axis" if is_shape else "another element"
            words = f"{does} {what}: {instead(new, owner)}"
            yield Edit(edit.old, edit.new, "wrong_axis" if is_shape else "wrong_element", words)


def slopes_of_powers(node: ast.BinOp, powers: Container[str]) -> Iterator[Edit]:
    """The factor of a power's derivative, if the texts have the power, `z**3`: `3 * z**2` for `z**2`."""
    exponent = getattr(node.right, "value", None)
    if isinstance(node.op, ast.Pow) and type(exponent) is int and exponent > 1:
        above = ast.BinOp(node.left, ast.Pow(), ast.Constant(exponent + 1))
        if ast.dump(above) in powers:
            new = ast.BinOp(ast.Constant(exponent + 1), ast.Mult(), node)
            yield Edit(node, new, "factor", f"lacks the factor of a power: {instead(new, node)}")


SHORT = 3
"""From how many elements on a slice is assumed to be made for one size, and not for an end."""


def not_cut(node: ast.Subscript) -> Iterator[Edit]:
    """An array without a slice of fixed length: `x` for `x[:5]`."""
    cut, last = node.slice, getattr(node.slice, "upper", None)
    if isinstance(cut, ast.Slice) and cut.step is None and isinstance(last, ast.Constant):
        begins = cut.lower is None or isinstance(cut.lower, ast.Constant) and cut.lower.value == 0
        if begins and type(last.value) is int and last.value >= SHORT and not is_stored(node):
            yield Edit(node, node.value, "size", f"made for one size: {instead(node.value, node)}")


def moved_cuts(node: ast.Slice) -> Iterator[Edit]:
    """A slice that begins or ends one element earlier or later."""
    for part, operator in itertools.product(("lower", "upper"), (ast.Add(), ast.Sub())):
        bound = getattr(node, part)
        if isinstance(bound, (ast.Name, ast.Call, ast.BinOp)):
            new = copy.copy(node)
            setattr(new, part, ast.BinOp(bound, operator, ast.Constant(1)))
            yield Edit(node, new, "off_by_one", f"off by one: {instead(new, node)}")


def mirrored_cuts(node: Any) -> Iterator[Edit]:
    """All slices in a statement or a call mirrored: `a[:-1] += b[1:]` for `a[1:] += b[:-1]`, which shifts in
    the other direction.
    """
    cuts = [n for n in ast.walk(node) if isinstance(n, ast.Slice)]
    turned = [mirrored(cut) for cut in cuts]
    if len(cuts) >= 2 and None not in turned:
        new = cloned(node, {id(old): cut for old, cut in zip(cuts, turned)})
        yield Edit(node, new, "off_by_one", f"shifts the wrong way: {instead(new, node)}")


def mirrored(cut: ast.Slice) -> ast.Slice | None:
    """A slice without the last elements for one without the first, and the other way round; None for any
    other slice.
    """
    if cut.step is None and cut.upper is None and isinstance(cut.lower, ast.Constant):
        return ast.Slice(None, ast.UnaryOp(ast.USub(), cut.lower), None)
    end = cut.upper if cut.step is None and cut.lower is None else None
    if not isinstance(end, ast.UnaryOp) or not isinstance(end.op, ast.USub):
        return None
    return ast.Slice(end.operand, None, None) if isinstance(end.operand, ast.Constant) else None


_JOINING = frozenset(("append", "concatenate", "hstack", "pad"))


def filled_up(node: ast.Call) -> Iterator[Edit]:
    """The whole array, in place of a slice that is extended to its length with something else."""
    if getattr(node.func, "attr", "") in _JOINING:
        for part in ast.walk(node):
            if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice):
                new = ast.Call(ast.Attribute(part.value, "copy", ast.Load()), [], [])
                yield Edit(node, new, "lacks_term", f"leaves out elements: {instead(new, node)}")


def other_kernels(node: ast.expr, numpy: str) -> Iterator[Edit]:
    """Another divisor in derivatives of inverse functions: `sqrt(1 - u**2)` for `1 + u**2`."""
    inner = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node
    if inner is not node and getattr(getattr(node, "func", None), "attr", "") != "sqrt":
        return
    if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, (ast.Add, ast.Sub)):
        return
    sides = (inner.left, inner.right)
    square = next((side for side in sides if _is_square(side)), None)
    if square is None or not any(isinstance(side, ast.Constant) and side.value == 1 for side in sides):
        return
    one = ast.Constant(1)
    plain = [ast.BinOp(one, ast.Sub(), square), ast.BinOp(one, ast.Add(), square)]
    for new in (*(of_numpy(numpy, "sqrt", kernel) for kernel in plain), *plain):
        if ast.dump(new) != ast.dump(node):
            words = f"gives the slope of a different function: {instead(new, node)}"
            yield Edit(node, new, "other_function", words)


def _is_square(node: ast.expr) -> bool:
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Pow):
        return isinstance(node.right, ast.Constant) and node.right.value == 2
    return isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right)


def other_attributes(node: ast.Attribute, within: ast.AST) -> Iterator[Edit]:
    """Another attribute of the same object that is read elsewhere."""
    owner = ast.dump(node.value)
    read = (n for n in ast.walk(within) if isinstance(n, ast.Attribute) and ast.dump(n.value) == owner)
    for name in dict.fromkeys(n.attr for n in read):
        if name != node.attr:
            new = ast.Attribute(node.value, name, ast.Load())
            yield Edit(node, new, "wrong_variable", instead(new, node))


def folded(node: ast.Subscript) -> Iterator[Edit]:
    """The sum over each run of elements in place of the first of each."""
    cut = node.slice
    if isinstance(cut, ast.Slice) and cut.step is not None and cut.lower is None and cut.upper is None:
        text = f"{ast.unparse(node.value)}.reshape(-1, {ast.unparse(cut.step)}).sum(axis=1)"
        new = parse(text, mode="eval").body
        if not isinstance(cut.step, ast.UnaryOp):
            yield Edit(node, new, "lacks_sum", instead(new, node))


def edits_at_every_occurrence(
    within: Any, edits: Callable[[Any], Iterable[Edit]], most: int = 40
) -> Iterator[Edit]:
    """The same small change at each occurrence of an expression that a formula contains several times."""
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


def transposed_throughout(within: Any) -> Iterator[Edit]:
    """A factor of several matrix products, transposed in all of them, or in none."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(within):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            for side in (node.left, node.right):
                is_turned = isinstance(side, ast.Attribute) and side.attr == "T"
                if is_turned or isinstance(side, ast.Name):
                    found.setdefault(ast.dump(side), []).append(side)
    for first, *others in found.values():
        turned = isinstance(first, ast.Attribute)
        new = first.value if turned else ast.Attribute(first, "T", ast.Load())  # type: ignore[attr-defined]
        if others:
            more = tuple(Edit(other, new) for other in others)
            yield Edit(first, new, "transposed", instead(new, first), more)


def swapped_parts(node: ast.Call | ast.Dict) -> Iterator[Edit]:
    """Two fields of a structured cotangent exchanged."""
    if isinstance(node, ast.Dict):
        for i, j in itertools.combinations(range(len(node.values)), 2):
            held = list(node.values)
            held[i], held[j] = held[j], held[i]
            new = ast.Dict(node.keys, held)
            yield Edit(node, new, "swapped_arguments", instead(new, node))
        return
    for i, j in itertools.combinations(range(len(node.args)), 2):
        parts = list(node.args)
        parts[i], parts[j] = parts[j], parts[i]
        call = ast.Call(node.func, parts, node.keywords)
        yield Edit(node, call, "swapped_arguments", instead(call, node))
    for i, j in itertools.combinations(range(len(node.keywords)), 2):
        keywords = list(node.keywords)
        one, other = keywords[i], keywords[j]
        keywords[i], keywords[j] = ast.keyword(one.arg, other.value), ast.keyword(other.arg, one.value)
        call = ast.Call(node.func, node.args, keywords)
        yield Edit(node, call, "swapped_arguments", instead(call, node))


def cuts_of_reading(scope: Any, read: Sequence[ast.expr]) -> Iterator[Edit]:
    """The slices that the function reads, in their order, in place of others that the pullback writes:
    `a[0::2]` and `a[1::2]` for the halves.
    """
    written: dict[str, list[ast.expr]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Subscript) and is_stored(node) and isinstance(node.value, ast.Name):
            written.setdefault(node.value.id, []).append(node.slice)
    for cuts in written.values():
        if len(cuts) != len(read) or len(cuts) < 2 or list(map(ast.dump, cuts)) == list(map(ast.dump, read)):
            continue
        for order in (list(read), list(reversed(read))):
            edits = [
                Edit(old, new, "wrong_element", f"writes the wrong part: {_cut_instead(new, old)}")
                for old, new in zip(cuts, order)
                if ast.dump(old) != ast.dump(new)
            ]
            if edits:
                yield Edit(edits[0].old, edits[0].new, "wrong_element", edits[0].words, tuple(edits[1:]))


def _cut_instead(new: ast.expr, old: ast.expr) -> str:
    return f"has `[{ast.unparse(old)}]` where `[{ast.unparse(new)}]` belongs"


def rows_for_columns(node: ast.Subscript) -> Iterator[Edit]:
    """A column of a matrix in place of a row, and the other way round."""
    of_columns = isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2
    if of_columns:
        first, at = node.slice.elts  # type: ignore[attr-defined]
        if isinstance(first, ast.Slice) and not (first.lower or first.upper or first.step):
            new = ast.Subscript(node.value, at, ast.Load())
            yield Edit(node, new, "wrong_axis", f"uses columns where rows belong: {instead(new, node)}")
    elif isinstance(node.slice, ast.Name):
        both = ast.Tuple([ast.Slice(), node.slice], ast.Load())
        new = ast.Subscript(node.value, both, ast.Load())
        yield Edit(node, new, "wrong_axis", f"uses rows where columns belong: {instead(new, node)}")
